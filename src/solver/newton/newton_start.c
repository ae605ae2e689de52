#include "solver/newton/newton_start.h"

typedef struct plain_options {
    ss_newton_start start;
} plain_options;
const ss_option ss_newton_start_table[] = {SS_NEWTON_START_OPTIONS(plain_options, start), {0}};

ss_status ss_newton_run(ss_newton *newton, const ss_newton_start *options)
{
    size_t n = (size_t)newton->space->size;
    ss_run *run = newton->run;
    double *r = ss_arena_take(run->arena, n, sizeof *r, "r"),
           *u = ss_arena_take(run->arena, n, sizeof *u, "u");
    if (!r || !u) {
        ss_newton_end(newton);
        return SS_FAILED;
    }
    ss_newton_space_enter(newton->space, newton->x, r);
    ss_newton_space_velocity(newton->space, r, u);
    ss_newton_sweeps(newton, options->sweeps, r, u);
    ss_newton_plan plan = {
        .steps = run->max_iterations, .alpha = options->regularization, .shrink = 0.2, .shrink_fast = 0.03};
    if (ss_newton_report(newton, r) && !ss_newton_exact(newton)) ss_newton_steps(newton, &plan, r, u);
    return ss_newton_end(newton);
}

ss_status ss_newton_from_start(const ss_problem *problem, ss_newton_map map, const ss_newton_start *options,
                               ss_run *run, double *x)
{
    ss_newton newton;
    if (ss_newton_begin(problem, run, map, x, &newton)) return ss_newton_run(&newton, options);
    ss_newton_end(&newton);
    return SS_FAILED;
}
