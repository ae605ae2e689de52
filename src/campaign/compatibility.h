/* campaign/compatibility.h - which solver accepts the problems of which formulation. Solvers are asked: each
 * is shown the problems that the formulation assembles from three small frames. Formulations that are not the
 * library's are not called for that: the laws that they declare decide. */
#ifndef SS_CAMPAIGN_COMPATIBILITY_H
#define SS_CAMPAIGN_COMPATIBILITY_H

#include <stickslip/formulation.h>
#include <stickslip/solver.h>

/* Frames with contacts; with bilateral joints as well; with limits, motors and joint friction as well. */
typedef enum ss_compatibility {
    SS_COMPATIBLE_NONE,
    SS_COMPATIBLE_CONTACTS,
    SS_COMPATIBLE_JOINTS,
    SS_COMPATIBLE_ALL
} ss_compatibility;
const char *ss_compatibility_name(ss_compatibility compatible); /* "-", "contacts", "joints", "all" */

#define SS_COMPATIBILITY_PROBES 3
typedef struct ss_probes {
    ss_problem *(*problems)[SS_COMPATIBILITY_PROBES]; /* of each formulation, in the order of their list */
    int count;                                        /* of formulations that were asked */
} ss_probes;
bool ss_probes_make(ss_probes *probes, ss_error *err);
void ss_probes_free(ss_probes *probes);

/* *why is what the solver says about the first frame that it does not take, NULL when it takes all. */
ss_compatibility ss_compatibility_of(const ss_probes *probes, const ss_solver *solver, int formulation,
                                     const char **why);

#endif
