/* conformance/faults.h - an allocator that counts, and fails the n-th request: for loops that show that lack
 * of memory is reported, and that nothing leaks on the way out.
 *
 *     for (int n = 1;; n++) {
 *         faults_start(n);
 *         ... do it ...
 *         if (!faults_stop()) break;  // it went through without reaching the n-th request
 *     }
 */
#ifndef SS_CONFORMANCE_FAULTS_H
#define SS_CONFORMANCE_FAULTS_H

#include <stickslip/base.h>

#include <stdlib.h>

static struct {
    long requests, fail_at, live;
} faults;

static inline void *faults_allocate(size_t bytes, void *context)
{
    (void)context;
    if (++faults.requests == faults.fail_at) return NULL;
    void *block = malloc(bytes);
    if (block) faults.live++;
    return block;
}

static inline void faults_release(void *block, void *context)
{
    (void)context;
    faults.live -= block != NULL;
    free(block);
}

/* fail_at = 0 only counts. Not for more than one thread. */
static inline void faults_start(long fail_at)
{
    faults.requests = faults.live = 0;
    faults.fail_at = fail_at;
    ss_set_allocator((ss_allocator){faults_allocate, faults_release, NULL});
}

/* Was the request reached that had to fail? Blocks that are still alive must not be released after this. */
static inline bool faults_stop(void)
{
    ss_set_allocator((ss_allocator){0});
    return faults.fail_at > 0 && faults.requests >= faults.fail_at;
}

#endif
