/* What the suites over all solvers share. The checks themselves are in src/conformance, where
 * `stickslip solvers NAME --test` runs them, too. */
#ifndef STICKSLIP_TEST_CONFORMANCE_H
#define STICKSLIP_TEST_CONFORMANCE_H

#include "conformance/checks.h"
#include "conformance/expected.h"
#include "kit.h"
#include "problems.h"
#include "rules.h"

static inline bool all_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

/* One check of every solver on every case. Failures and the list of expected ones have to be the same. */
static inline void for_all_solvers(const char *name)
{
    ss_expected_list expected;
    ss_error err;
    int check = ss_check_find(name), passed = 0;
    if (check < 0 || !ss_expected_parse(ss_expected_built_in(), "built in", &expected, &err)) {
        KIT_FAIL("no check %s, or a bad list: %s", name, check < 0 ? "" : err.message);
        return;
    }
    bool *failed = known(calloc((size_t)expected.count + 1, sizeof *failed), NULL);
    for (int s = 0; s < ss_solver_count(); s++) {
        ss_check_setup setup = {.solver = ss_solver_at(s), .iterations = SS_CHECK_ITERATIONS, .seed = 1000};
        for (int k = 0; k < ss_check_cases(check, &setup); k++) {
            char problem[SS_CHECK_CASE_NAME];
            ss_check_result result;
            ss_check_case_name(check, &setup, k, problem);
            ss_check_run(check, &setup, k, &result);
            passed += result.outcome == SS_CHECK_PASSED;
            if (result.outcome != SS_CHECK_FAILED) continue;
            int known_failure = ss_expected_find(&expected, setup.solver->name, name, problem);
            if (known_failure < 0)
                KIT_FAIL("%s on \"%s\": %s", setup.solver->name, problem, result.message);
            else
                failed[known_failure] = true;
        }
    }
    for (int i = 0; i < expected.count; i++) {
        const ss_expected *item = &expected.items[i];
        if (strcmp(item->check, name) == 0 && !failed[i])
            KIT_FAIL("%s on \"%s\" passes, though it is expected to fail: %s", item->solver, item->problem,
                     item->reason);
    }
    if (passed == 0) KIT_FAIL("nothing passed: the check asks nothing");
    free(failed);
    ss_expected_free(&expected);
}

#define BLAME(solver, of, ...) \
    (fprintf(stderr, "%s on \"%s\": ", (solver)->name, (of)->name), KIT_FAIL(__VA_ARGS__))

#endif
