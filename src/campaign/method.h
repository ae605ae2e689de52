/* campaign/method.h - how to solve: names and words of a user become a solver, a formulation, their options and rules. */
#ifndef SS_CAMPAIGN_METHOD_H
#define SS_CAMPAIGN_METHOD_H

#include "base/text.h"
#include "campaign/solver_set.h"

#include <stickslip/metrics.h>

/* "creep<1e-3": a metric instead of a gauge. */
typedef struct ss_metric_rule {
    int metric; /* -1 = none */
    double below;
} ss_metric_rule;

/* What a user says. */
typedef struct ss_method_words {
    const char *formulation, *solver;
    const char *reference;            /* solver of the true answer; NULL = none */
    const ss_option_list *with, *set; /* "name=value", of the formulation and of the solver */
    const ss_run_options *run;
} ss_method_words;

/* What it means. */
typedef struct ss_method {
    const ss_solver *solver, *reference;
    const ss_formulation *formulation;
    void *solver_options, *formulation_options;
    void *cone_options; /* of the formulation "cone", with the same step: for the reference */
    ss_run_options run; /* its texts are those of the words */
    ss_metric_rule rule;
} ss_method;

/* Finds everything and tries the rules out, before any file is touched. Messages name the flag: "--set omega=3: psor:
 * ...". On failure there is nothing to free. */
bool ss_method_prepare(const ss_method_words *words, const ss_solver_set *solvers, ss_method *method,
                       ss_error *err);
void ss_method_free(ss_method *method);

/* Appends the options that differ from their defaults, in the order of the table: "omega=1.3 sweep=symmetric". */
void ss_options_differences(const ss_option *table, const void *options, ss_text *text);

#endif
