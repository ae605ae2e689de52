/* conformance/suite.h - the checks of checks.h on one solver or several, in worker processes: a solver that
 * crashes or hangs costs the case at hand, and the suite continues. */
#ifndef SS_CONFORMANCE_SUITE_H
#define SS_CONFORMANCE_SUITE_H

#include "base/text.h"
#include "conformance/checks.h"
#include "conformance/expected.h"

#define SS_SUITE_SEED 1000
#define SS_SUITE_MOST_CHECKS 32

/* One solver, one check, one problem. */
typedef struct ss_suite_case {
    int solver, check, index;
    enum { SS_CASE_WAITING, SS_CASE_RUNNING, SS_CASE_DONE, SS_CASE_SKIPPED } state;
    bool alone; /* it crashed beside others, and is tried once more in a process of its own */
    ss_check_result result;
    const ss_expected *expected; /* why it may fail; NULL: it may not */
} ss_suite_case;

/* Per solver and check. */
typedef struct ss_suite_tally {
    int passed, failed, expected, not_applicable, skipped;
} ss_suite_tally;

typedef struct ss_suite {
    /* What to do. */
    const ss_solver *const *solvers;
    int solver_count;
    bool wanted[SS_SUITE_MOST_CHECKS]; /* which checks */
    ss_check_setup setup;              /* without the solver */
    double time_limit;                 /* s, of one case: then it is cancelled, and soon killed */
    int jobs;                          /* worker processes */
    const ss_expected_list *expected;  /* and their number */
    int expected_count;
    const volatile int *stop; /* not zero: end now, with what was done; may be NULL */
    void (*progress)(void *context, int done, int total, const char *solver, const char *check);
    void *context;

    /* What came of it. */
    ss_suite_case *cases;
    int case_count, done;
    int waiting; /* no case before this one waits */
    int hung;    /* cases that had to be killed; after several the rest is skipped */
    bool interrupted;
} ss_suite;

/* False with err only when it cannot be done at all. The caller must have one thread only. */
bool ss_suite_run(ss_suite *suite, ss_error *err);
void ss_suite_free(ss_suite *suite);

/* solver, check: -1 = all. */
ss_suite_tally ss_suite_count(const ss_suite *suite, int solver, int check);
/* The expected failures that did not fail, one after the other; NULL: no more. *at begins with 0. */
const ss_expected *ss_suite_surprise(const ss_suite *suite, int *at);
/* Problems found: failures that were not expected, expected ones that did not happen, what was skipped. */
int ss_suite_findings(const ss_suite *suite);

/* A page in Markdown: what the solvers accept, what they pass, what they solve, what failed and why.
 * `command` is what printed it. */
void ss_suite_page(const ss_suite *suite, const char *command, ss_text *page);

#endif
