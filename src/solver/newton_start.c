#include "solver/newton_start.h"

const ss_option ss_newton_start_table[] = {
    {.name = "sweeps",
     .type = SS_OPTION_INT,
     .offset = offsetof(ss_newton_start, sweeps),
     .default_value = "30",
     .min = 0,
     .max = 1e6,
     .help = "projected Gauss-Seidel sweeps before the first Newton step; 4 at most when there are no more "
             "than 48 unknowns"},
    {.name = "regularization",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_newton_start, regularization),
     .default_value = "0.01",
     .min = 0,
     .max = 10,
     .help = "proximal term of the first step, relative to the diagonal of the matrix"},
    {0},
};

ss_status ss_newton_from_start(const ss_problem *problem, ss_newton_map map, const ss_newton_start *options,
                               ss_run *run, double *x)
{
    size_t n = (size_t)problem->size;
    double *r = ss_arena_take(run->arena, n, sizeof *r, "r"),
           *u = ss_arena_take(run->arena, n, sizeof *u, "u");
    ss_newton_walk walk;
    if (!ss_newton_walk_start(problem, run, map, x, &walk) || !r || !u) {
        ss_newton_walk_end(&walk);
        return SS_FAILED;
    }
    ss_newton_space_enter(walk.space, x, r);
    ss_newton_space_velocity(walk.space, r, u);
    ss_newton_sweeps(&walk, options->sweeps, r, u);
    ss_newton_plan plan = {
        .steps = run->max_iterations, .alpha = options->regularization, .shrink = 0.2, .shrink_fast = 0.03};
    if (ss_newton_walk_report(&walk, r) && !ss_newton_walk_exact(&walk)) ss_newton_steps(&walk, &plan, r, u);
    return ss_newton_walk_end(&walk);
}
