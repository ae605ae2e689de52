/* base/parallel_any.h - is it so anywhere in a range? */
#ifndef SS_BASE_PARALLEL_ANY_H
#define SS_BASE_PARALLEL_ANY_H

#include <stickslip/base.h>

/* The bits that any of begin .. end - 1 has. */
typedef unsigned ss_parallel_bits(int64_t begin, int64_t end, const void *context);
/* Those of all chunks of 0 .. count - 1, as ss_parallel_for cuts them. */
unsigned ss_parallel_any(ss_team *team, int64_t count, int64_t grain, ss_parallel_bits *bits,
                         const void *context);

#endif
