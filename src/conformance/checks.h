/* conformance/checks.h - what a solver is asked, one question each, on one problem at a time. A check needs
 * no other process; suite.h runs all of them where they may crash. The library's tests call these too. */
#ifndef SS_CONFORMANCE_CHECKS_H
#define SS_CONFORMANCE_CHECKS_H

#include "conformance/independent.h"
#include "conformance/planted.h"

#include <stickslip/solver.h>

/* Converged means a natural map of 1e-8 in energy, relative to doing nothing. Single conditions and
 * other scales differ from it by the friction coefficient, the number of rows and the spread of inverse
 * masses: two digits. */
#define SS_CHECK_HONEST 1e-6
#define SS_CHECK_ITERATIONS 20000

typedef struct ss_check_setup {
    const ss_solver *solver;
    int iterations;             /* limit of a run that has to solve its problem; SS_CHECK_ITERATIONS */
    uint64_t seed;              /* the first of the other seeds */
    bool quick;                 /* a tenth of the other seeds */
    const volatile int *cancel; /* not zero: time is up; may be NULL */
} ss_check_setup;

typedef enum ss_check_outcome {
    SS_CHECK_PASSED,
    SS_CHECK_FAILED,
    SS_CHECK_NOT_APPLICABLE, /* the solver does not accept the problem */
    SS_CHECK_NOTHING,        /* the check has no question about this problem */
    SS_CHECK_OUTCOMES
} ss_check_outcome;

typedef struct ss_check_result {
    ss_check_outcome outcome;
    bool late;         /* it was cancelled: too slow */
    ss_status status;  /* of the run that was judged */
    int iterations;    /* of that run; -1: none was made */
    double error;      /* by how much it is wrong, in units of the load; NaN: that was not measured */
    char message[240]; /* what is wrong, or why it does not apply */
} ss_check_result;

typedef struct ss_check {
    const char *name;   /* "solves": on the command line and in lists of expected failures */
    const char *asks;   /* half a sentence: what has to hold */
    const char *lesson; /* what a failure tells the author of a solver, and where to look */
} ss_check;

int ss_check_count(void);
const ss_check *ss_check_at(int index);
int ss_check_find(const char *name); /* -1: none */

/* The cases of a check: problems of the catalogue, other seeds of them, or one. */
int ss_check_cases(int check, const ss_check_setup *setup);
/* The problem of the catalogue that a case is about or derived from; -1: none. */
int ss_check_case_problem(int check, const ss_check_setup *setup, int index);
#define SS_CHECK_CASE_NAME 80
/* "cone redundant", "cone redundant, seed 1003", "mixture 17 (kkpf)". */
void ss_check_case_name(int check, const ss_check_setup *setup, int index, char name[SS_CHECK_CASE_NAME]);
void ss_check_run(int check, const ss_check_setup *setup, int index, ss_check_result *result);

/* ---- one run, for tests ----------------------------------------------------------------------------- */

typedef enum ss_attempt_end {
    SS_ATTEMPT_REFUSED,
    SS_ATTEMPT_SOLVED,
    SS_ATTEMPT_GAVE_UP, /* and says so */
    SS_ATTEMPT_LIED,    /* says converged, and is not */
    SS_ATTEMPT_BROKEN,  /* the call failed, or x is not finite */
} ss_attempt_end;

typedef struct ss_attempt {
    ss_attempt_end end;
    ss_solve_result result; /* its arrays are freed */
    ss_violation verdict;
    ss_status said;     /* by the solver itself, before the driver looked */
    int outside;        /* numbers before or after x that were written to */
    bool touched;       /* the problem was changed */
    const char *no_ray; /* says ray: why it is not; NULL: it is, or none was shown */
    char note[120];     /* the solver's own words about a failure, or why it refused; "" = none */
} ss_attempt;

/* 20000 iterations, the problem's own stop rule, seed 1. */
ss_run_options ss_attempt_run(const ss_known *of);
/* From x, which may be NULL: from zero. x holds the answer afterwards. */
ss_attempt ss_attempt_make(const ss_check_setup *setup, ss_known *of, const ss_run_options *run,
                           const void *options, double *x);

#endif
