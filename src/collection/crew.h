/* collection/crew.h - independent tasks in worker processes (campaign/pool.h): each has a text as its result,
 * or an error. A task whose process dies has an error as well, and the others continue. */
#ifndef SS_COLLECTION_CREW_H
#define SS_COLLECTION_CREW_H

#include "base/text.h"

typedef struct ss_crew {
    int tasks;
    int jobs;                 /* 0 = one per core */
    const volatile int *stop; /* not zero: drop everything soon; may be NULL */
    void *context;
    /* In a worker. `cancel` is for long work. */
    bool (*work)(void *context, int task, const volatile int *cancel, ss_text *result, ss_error *err);
    /* In the caller, one at a time; `fault` is NULL when the task succeeded. False with err: the end. */
    bool (*done)(void *context, int task, const char *result, size_t size, const ss_error *fault,
                 ss_error *err);
} ss_crew;
/* True as well when it was stopped. */
bool ss_crew_run(const ss_crew *crew, ss_error *err);

#endif
