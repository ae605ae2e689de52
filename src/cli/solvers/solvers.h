/* cli/solvers/solvers.h - the parts of `stickslip solvers`. */
#ifndef SS_CLI_SOLVERS_SOLVERS_H
#define SS_CLI_SOLVERS_SOLVERS_H

#include "cli/extensions.h"

/* --test and what belongs to it. */
typedef struct ss_solvers_test_options {
    bool test, quick;
    const char *checks, *expect, *output;
    int seed, iterations, jobs;
    double time_limit;
} ss_solvers_test_options;

typedef struct ss_solvers_options {
    ss_common_options common;
    bool json, table, markdown;
    const char *convergence;
    ss_solvers_test_options test;
    ss_extension_options extensions;
} ss_solvers_options;

extern const ss_option ss_solvers_test_option_table[];

/* Runs the conformance suite on a solver; NULL: on those of plug-ins and commands, or else on all. Returns
 * the exit code. */
int ss_solvers_test(const ss_command *command, const ss_solver *only);
/* False with err if options of --test are given without it. */
bool ss_solvers_test_fits(const ss_command *command, ss_error *err);

/* Writes a picture: how the error falls on three problems. */
bool ss_solvers_convergence(const ss_solver *solver, const char *path, ss_error *err);

#endif
