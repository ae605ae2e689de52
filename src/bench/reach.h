/* bench/reach.h - which solver takes the problems of which formulation, found out by asking: small frames are assembled
 * and shown to the solvers. */
#ifndef SS_BENCH_REACH_H
#define SS_BENCH_REACH_H

#include <stickslip/formulation.h>
#include <stickslip/solver.h>

/* Frames with contacts; with bilateral joints as well; with limits, motors and joint friction as well. */
typedef enum ss_reach { SS_REACH_NONE, SS_REACH_CONTACTS, SS_REACH_JOINTS, SS_REACH_ALL } ss_reach;
const char *ss_reach_name(ss_reach reach); /* "-", "contacts", "joints", "all" */

#define SS_REACH_PROBES 3
typedef struct ss_probes {
    ss_problem *(*problems)[SS_REACH_PROBES]; /* of each formulation, in the order of their list */
} ss_probes;
bool ss_probes_make(ss_probes *probes, ss_error *err);
void ss_probes_free(ss_probes *probes);

/* *why is what the solver says about the first frame that it does not take, NULL when it takes all. */
ss_reach ss_reach_of(const ss_probes *probes, const ss_solver *solver, int formulation, const char **why);

#endif
