/* solver/stop_rule.h - when a run may end and which iterate it keeps, as typed: "energy<1e-6*scene", "best:energy". */
#ifndef SS_SOLVER_STOP_RULE_H
#define SS_SOLVER_STOP_RULE_H

#include <stickslip/solver.h>

typedef struct ss_stop_rule {
    int gauge; /* SS_GAUGE_NONE: no rule */
    double below;
    bool cones, other_rows;   /* of the problem */
    const ss_stop_test *test; /* of the caller, in the place of a gauge */
} ss_stop_rule;

/* scene_energy: J, what "scene" means. */
bool ss_stop_rule_parse(const char *text, double scene_energy, ss_stop_rule *stop, ss_error *err);
/* Which kinds of rows the rule is about. */
void ss_stop_rule_look(ss_stop_rule *stop, const ss_problem *problem);
bool ss_stop_rule_is_set(const ss_stop_rule *stop);
/* Bits (1u << gauge) of the gauges that tell whether it holds. */
unsigned ss_stop_rule_gauges(const ss_stop_rule *stop);
/* values: of all gauges. Above 1: the rule does not hold, and the value has to fall by so much. NaN when a gauge is. */
double ss_stop_rule_excess(const ss_stop_rule *stop, const double *values);
/* The rule for a part of the problem that may have this share of the error of the whole (of its energy), measured on the
 * scale of the whole: when it holds in all parts, and the shares add up to one, it holds in the whole. */
ss_stop_rule ss_stop_rule_share(const ss_stop_rule *whole, const ss_problem *part, double share);
/* "last" or "best:GAUGE"; *keep: the gauge, SS_GAUGE_NONE for the last iterate. */
bool ss_keep_parse(const char *text, int *keep, ss_error *err);

#endif
