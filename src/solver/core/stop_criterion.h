/* solver/core/stop_criterion.h - a stop rule applied to one problem: when a run may end. */
#ifndef SS_SOLVER_CORE_STOP_CRITERION_H
#define SS_SOLVER_CORE_STOP_CRITERION_H

#include <stickslip/solver.h>

typedef struct ss_stop_criterion {
    int gauge; /* SS_GAUGE_NONE: no rule */
    double below;
    bool cones, other_rows;   /* of the problem */
    const ss_stop_test *test; /* of the caller, in the place of a gauge */
} ss_stop_criterion;

/* scene_energy: J, for rules of the scene. */
ss_stop_criterion ss_stop_criterion_of(const ss_stop_rule *rule, const ss_stop_test *test,
                                       double scene_energy, const ss_problem *problem);
bool ss_stop_criterion_is_set(const ss_stop_criterion *stop);
/* Bits (1u << gauge) of the gauges that decide whether it holds. */
unsigned ss_stop_criterion_gauges(const ss_stop_criterion *stop);
/* values: of all gauges. Above 1: the criterion does not hold, and the value has to fall by that factor. NaN
 * when a gauge is. */
double ss_stop_criterion_excess(const ss_stop_criterion *stop, const double *values);
/* The criterion for a part of the problem that may have this share of the error of the whole (of its
 * energy), measured on the scale of the whole: when it holds in all parts, and the shares add up to one, it
 * holds in the whole. */
ss_stop_criterion ss_stop_criterion_share(const ss_stop_criterion *whole, const ss_problem *part,
                                          double share);

#endif
