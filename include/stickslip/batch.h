/* stickslip/batch.h - many small frames in one call, over all cores.
 *
 *     ss_batch_session *batch = ss_batch_create(&(ss_request){.stop = "natural_map<1e-6"}, 0, &err);
 *     bool good = ss_batch_solve(batch, items, count, &err);
 *
 * For thousands of environments at once, or samples of contact problems: each item is a frame, with a start
 * and an answer of its own. Items are independent of each other, and the answers are the same bits for any
 * number of threads. A batch keeps its memory from call to call: frames of the sizes seen before are solved
 * without touching the heap, unless the solver does. Answers are measured by the stop rule only; ss_session
 * judges them.
 *
 * Read after session.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_BATCH_H
#define STICKSLIP_BATCH_H

#include <stickslip/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_batch_item {
    const ss_frame *frame;  /* checked (ss_frame_check), and not changed while it is solved */
    const ss_answer *guess; /* an answer to start from; NULL: from zero */
    /* made by ss_answer_create for this frame, and filled, unless the solver does not accept the problem;
     * NULL: not wanted. May be `guess` */
    ss_answer *answer;
    /* how it went */
    ss_status status;
    int iterations;
    double error;   /* by the gauge of the stop rule; by relative_energy if the rule has none */
    double seconds; /* of the solver alone */
} ss_batch_item;

typedef struct ss_batch_session ss_batch_session;
/* What to do with each frame; `team`, `history`, `explain` and `reference` of the request are not used.
 * threads = 0: one per available core. */
SS_API ss_batch_session *ss_batch_create(const ss_request *request, int threads, ss_error *err);
SS_API void ss_batch_destroy(ss_batch_session *batch);
SS_API int ss_batch_threads(const ss_batch_session *batch);
/* A non-zero value at `cancel` stops soon; items not begun by then are SS_CANCELLED. NULL: no cancelling. */
SS_API void ss_batch_watch(ss_batch_session *batch, const volatile int *cancel);
/* Solves all items. A solver that fails is a status of its item; false only if out of memory, or if a frame
 * cannot be assembled: the message is that of the first such item, whose status is SS_FAILED, and the others
 * are solved. */
SS_API bool ss_batch_solve(ss_batch_session *batch, ss_batch_item *items, int count, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
