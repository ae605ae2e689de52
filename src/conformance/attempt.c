#include "conformance/checks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GUARD 64 /* numbers on either side of x */

/* ---- between the driver and the solver -------------------------------------------------------------- */

/* Stands in the solver's place, so that its own word is heard before the driver corrects it. */
typedef struct spy {
    ss_solver shown; /* first: what run->solver points to */
    const ss_solver *inner;
    ss_status said;
    bool touched;
} spy;

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT64_C(1099511628211); // FNV-1a
    return hash;
}

static uint64_t hash_of(const ss_problem *problem)
{
    size_t n = (size_t)problem->size;
    uint64_t hash = mix(UINT64_C(14695981039346656037), problem->b, n * sizeof *problem->b);
    hash = mix(hash, problem->lower, n * sizeof *problem->lower);
    hash = mix(hash, problem->upper, n * sizeof *problem->upper);
    hash = mix(hash, problem->partner, n * sizeof *problem->partner);
    hash = mix(hash, problem->factor, n * sizeof *problem->factor);
    hash = mix(hash, problem->diagonal, n * sizeof *problem->diagonal);

    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        const int numbers[] = {(int)block->law, block->first, block->size, block->contact, block->constraint};
        const double frictions[] = {block->mu, block->mu_rolling};
        hash = mix(mix(hash, numbers, sizeof numbers), frictions, sizeof frictions);
    }

    if (problem->A) hash = mix(hash, problem->A->value, (size_t)problem->A->start[n] * sizeof(double));
    if (problem->bodies) {
        hash = mix(hash, problem->bodies->jacobian, n * sizeof *problem->bodies->jacobian);
        hash = mix(hash, problem->bodies->inverse_mass, (size_t)problem->bodies->bodies * sizeof(double));
    }
    return hash;
}

static ss_status solve_watched(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    spy *watching = (spy *)(uintptr_t)run->solver;
    ss_run inner = *run;
    inner.solver = watching->inner;
    uint64_t before = hash_of(problem);
    watching->said = watching->inner->solve(problem, options, &inner, x);
    watching->touched |= hash_of(problem) != before;
    bool exists = (unsigned)watching->said <= SS_FAILED;
    return exists ? watching->said : SS_FAILED;
}

/* ---- one run ---------------------------------------------------------------------------------------- */

static double guard_value(int index)
{
    return 1e9 + index;
}

ss_run_options ss_attempt_run(const ss_known *of)
{
    ss_run_options run = {.max_iterations = SS_CHECK_ITERATIONS, .seed = 1};
    ss_stop_rule_parse(of->stop, &run.stop, NULL);
    return run;
}

ss_attempt ss_attempt_make(const ss_check_setup *setup, ss_known *of, const ss_run_options *run,
                           const void *options, double *x)
{
    ss_attempt a = {.end = SS_ATTEMPT_REFUSED, .result.status = SS_NOT_APPLICABLE};
    const char *refusal = ss_solver_refusal(setup->solver, of->problem);
    int n = of->problem->size;
    double *room = refusal ? NULL : ss_allocate((size_t)(n + 2 * GUARD), sizeof *room);
    if (!room) {
        if (!refusal) a.end = SS_ATTEMPT_BROKEN;
        snprintf(a.note, sizeof a.note, "%s", refusal ? refusal : "out of memory");
        return a;
    }
    double *at = room + GUARD;
    for (int i = 0; i < GUARD; i++) room[i] = guard_value(i), at[n + i] = guard_value(GUARD + i);
    if (x && n > 0) memcpy(at, x, (size_t)n * sizeof *x);

    spy watching = {.shown = *setup->solver, .inner = setup->solver, .said = SS_NOT_APPLICABLE};
    watching.shown.solve = solve_watched;
    ss_error err = {0};
    bool good = ss_solve(&(ss_solve_request){.solver = &watching.shown,
                                             .solver_options = options,
                                             .problem = of->problem,
                                             .run = run,
                                             .cancel = setup->cancel},
                         at, &a.result, &err);
    a.said = watching.said;
    a.touched = watching.touched;
    for (int i = 0; i < GUARD; i++) {
        const double below = guard_value(i), above = guard_value(GUARD + i);
        a.outside += memcmp(&room[i], &below, sizeof below) != 0;
        a.outside += memcmp(&at[n + i], &above, sizeof above) != 0;
    }

    // What it claims, against a residual that shares no code with it.
    a.verdict = ss_independent_judge(of->problem, at);
    bool claims = a.result.status == SS_CONVERGED;
    bool right = a.verdict.worst <= SS_CHECK_HONEST && !of->unsolvable;
    for (int i = 0; i < n; i++) good = good && isfinite(at[i]);
    a.end = !good                                  ? SS_ATTEMPT_BROKEN
            : a.result.status == SS_NOT_APPLICABLE ? SS_ATTEMPT_REFUSED
            : !claims                              ? SS_ATTEMPT_GAVE_UP
            : right                                ? SS_ATTEMPT_SOLVED
                                                   : SS_ATTEMPT_LIED;
    if (a.result.status == SS_RAY && a.result.ray.impulse)
        a.no_ray = ss_independent_ray(of->problem, a.result.ray.impulse);
    snprintf(a.note, sizeof a.note, "%.*s", a.result.notes ? (int)strcspn(a.result.notes, "\n") : 100,
             a.result.notes ? a.result.notes : err.message);
    if (x && n > 0) memcpy(x, at, (size_t)n * sizeof *x);
    ss_solve_result_free(&a.result);
    ss_release(room);
    return a;
}
