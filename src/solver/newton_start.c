#include "solver/newton_start.h"

typedef struct plain_options {
    ss_newton_start start;
} plain_options;
const ss_option ss_newton_start_table[] = {SS_NEWTON_START_OPTIONS(plain_options, start), {0}};

ss_status ss_newton_run(ss_newton_walk *walk, const ss_newton_start *options)
{
    size_t n = (size_t)walk->space->size;
    ss_run *run = walk->run;
    double *r = ss_arena_take(run->arena, n, sizeof *r, "r"),
           *u = ss_arena_take(run->arena, n, sizeof *u, "u");
    if (!r || !u) {
        ss_newton_walk_end(walk);
        return SS_FAILED;
    }
    ss_newton_space_enter(walk->space, walk->x, r);
    ss_newton_space_velocity(walk->space, r, u);
    ss_newton_sweeps(walk, options->sweeps, r, u);
    ss_newton_plan plan = {
        .steps = run->max_iterations, .alpha = options->regularization, .shrink = 0.2, .shrink_fast = 0.03};
    if (ss_newton_walk_report(walk, r) && !ss_newton_walk_exact(walk)) ss_newton_steps(walk, &plan, r, u);
    return ss_newton_walk_end(walk);
}

ss_status ss_newton_from_start(const ss_problem *problem, ss_newton_map map, const ss_newton_start *options,
                               ss_run *run, double *x)
{
    ss_newton_walk walk;
    if (ss_newton_walk_start(problem, run, map, x, &walk)) return ss_newton_run(&walk, options);
    ss_newton_walk_end(&walk);
    return SS_FAILED;
}
