/* session/method.h - how to solve: the names and words of a request become a solver, a formulation, their
 * options and rules. */
#ifndef SS_SESSION_METHOD_H
#define SS_SESSION_METHOD_H

#include <stickslip/session.h>

#include "base/inner.h"
#include "base/text.h"

/* "creep<1e-3": a metric instead of a gauge. */
typedef struct ss_metric_rule {
    int metric; /* -1 = none */
    double below;
} ss_metric_rule;

typedef struct ss_method {
    const ss_solver *solver, *reference;
    bool certified; /* the reference is an answer that is proved, found by `reference` first */
    const ss_formulation *formulation;
    void *solver_options, *formulation_options;
    ss_run_options run;
    ss_metric_rule rule; /* in the place of run.stop */
    ss_peg_mode peg;
} ss_method;

/* Which part of a request was wrong, so that a caller can name it in the user's own terms. */
typedef struct ss_request_fault {
    const char *member; /* "with", "set", "stop" ...; NULL: the message says it all */
    char item[128];     /* "omega=3": the option of the list, or the text of the rule */
} ss_request_fault;

/* Finds everything by name and reads the rules. On failure there is nothing to free. fault may be NULL. */
SS_INNER bool ss_method_prepare(const ss_request *request, ss_method *method, ss_request_fault *fault,
                                ss_error *err);
SS_INNER void ss_method_free(ss_method *method);

/* "omega=1.3 sweep=symmetric" of a list of options, as requests have it. */
SS_INNER void ss_option_list_join(const ss_option_list *list, ss_text *text);
/* Checks a stop rule, on a gauge or on a metric. */
bool ss_method_check_stop(const char *text, ss_error *err);

/* The options of a step that matter, for people: "gap_term=stabilised gamma=0.2 joint_term=zero". */
SS_INNER void ss_step_words(const ss_step_options *step, ss_text *text);

/* Appends the options that differ from their defaults, in the order of the table: "omega=1.3
 * sweep=symmetric". */
SS_INNER void ss_options_differences(const ss_option *table, const void *options, ss_text *text);

#endif
