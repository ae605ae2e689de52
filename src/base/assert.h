/* base/assert.h - SS_ASSERT: our own bugs stop a checked build at once. Elsewhere it compiles to nothing, so
 * it must never guard against the outside world: bad files, options and lack of memory go through ss_fail. */
#ifndef SS_BASE_ASSERT_H
#define SS_BASE_ASSERT_H

#ifdef SS_CHECKED

#include <stdio.h>
#include <stdlib.h>

_Noreturn static inline void ss_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: stickslip bug: not true: %s\n", file, line, condition);
    abort();
}
#define SS_ASSERT(condition) ((condition) ? (void)0 : ss_assert_failed(#condition, __FILE__, __LINE__))

#else

/* Not evaluated, but its variables count as used. */
#define SS_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))

#endif
#endif
