/* What the conformance suites share: one solve and its judgement, every solver on every problem, and the
 * failures that are known. */
#ifndef STICKSLIP_TEST_CONFORMANCE_H
#define STICKSLIP_TEST_CONFORMANCE_H

#include "catalogue.h"
#include "rules.h"
#include "independent.h"
#include "kit.h"

/* Converged means a natural map of 1e-8 in energy, relative to doing nothing. Single conditions and
 * other scales differ from it by the friction coefficient, the number of rows and the spread of inverse
 * masses: two digits. */
static const double honest = 1e-6;
enum { ITERATIONS = 20000 };

typedef enum outcome { REFUSED, SOLVED, GAVE_UP, LIED, BROKEN } outcome;

typedef struct attempt {
    outcome outcome;
    ss_solve_result result;
    verdict verdict;
} attempt;

/* ---- what is known to fail -------------------------------------------------------------------------- */

typedef struct expected_failure {
    const char *solver, *problem, *reason;
} expected_failure;

static const char heavy_on_light[] = "heavy on light: the error shrinks by 1 - 1/ratio in an iteration";
static const char slow_convex[] = "four feet and lift-off: slow, 1e-5 is reached";

static const expected_failure expected_failures[] = {
    {"jacobi", "cone, joints redundant", "slow on redundant joints, 2e-6 is reached"},
    {"jacobi", "column, mass ratio 1.6e4", heavy_on_light},
    {"pgs", "column, mass ratio 1.6e4", heavy_on_light},
    {"psor", "column, mass ratio 1.6e4", heavy_on_light},
    {"nsgs", "column, mass ratio 1.6e4", heavy_on_light},
    {"jacobi", "column, mass ratio 1e6", heavy_on_light},
    {"pgs", "column, mass ratio 1e6", heavy_on_light},
    {"psor", "column, mass ratio 1e6", heavy_on_light},
    {"nsgs", "column, mass ratio 1e6", heavy_on_light},
    {"nncg", "column, mass ratio 1e6", heavy_on_light},
    {"heavy-ball", "column, mass ratio 1.6e4", heavy_on_light},
    {"heavy-ball", "column, mass ratio 1e6", heavy_on_light},
    {"heavy-ball", "towers, convex law", slow_convex},
    {"barzilai-borwein", "column, mass ratio 1e6", heavy_on_light},
    {"jacobi", "towers, convex law", slow_convex},
    {"pgs", "towers, convex law", slow_convex},
    {"psor", "towers, convex law", slow_convex},
    {"nsgs", "towers, convex law", slow_convex},
    {"barzilai-borwein", "towers, convex law", slow_convex},
    {NULL, NULL, NULL},
};

static inline const char *find_expected(const expected_failure *at, const ss_solver *solver,
                                        const known_problem *of)
{
    for (; at->solver; at++) {
        if (strcmp(at->solver, solver->name) == 0 && strcmp(at->problem, of->name) == 0) return at->reason;
    }
    return NULL;
}

static inline const char *why_expected(const ss_solver *solver, const known_problem *of)
{
    return find_expected(expected_failures, solver, of);
}

/* ---- one solve -------------------------------------------------------------------------------------- */

static inline bool all_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

static inline ss_run_options usual_run(const known_problem *of)
{
    return (ss_run_options){.max_iterations = ITERATIONS, .stop = stop_rule(of->stop), .seed = 1};
}

/* From x, which may be NULL: cold. */
static inline attempt try_from(const ss_solver *solver, known_problem *of, const ss_run_options *run,
                               double *x)
{
    attempt a = {.outcome = REFUSED};
    double *own = numbers(of->problem->size), *at = x ? x : own;
    ss_error err;
    if (!ss_solver_refusal(solver, of->problem)) {
        bool good = ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = run}, at,
                             &a.result, &err);
        a.verdict = judge_exactly(of->problem, at);
        bool fine = a.verdict.worst <= honest;
        a.outcome = !good || !all_finite(at, of->problem->size) ? BROKEN
                    : a.result.status != SS_CONVERGED           ? GAVE_UP
                    : fine && !of->unsolvable                   ? SOLVED
                                                                : LIED;
        ss_solve_result_free(&a.result);
    }
    free(own);
    return a;
}

static inline attempt try_cold(const ss_solver *solver, known_problem *of)
{
    ss_run_options run = usual_run(of);
    return try_from(solver, of, &run, NULL);
}

typedef void visit(const ss_solver *solver, known_problem *of);

/* Every solver on every problem it takes. */
static inline void for_all(visit *look)
{
    for (int p = 0; p < PROBLEMS; p++) {
        known_problem of = problem_at(p);
        for (int s = 0; s < ss_solver_count(); s++) {
            if (!ss_solver_refusal(ss_solver_at(s), of.problem)) look(ss_solver_at(s), &of);
        }
        known_problem_free(&of);
    }
}

#define BLAME(solver, of, ...) \
    (fprintf(stderr, "%s on \"%s\": ", (solver)->name, (of)->name), KIT_FAIL(__VA_ARGS__))

#endif
