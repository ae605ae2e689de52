#include "solver/core/spectrum.h"

#include <math.h>

/* Energy of the load, sum of step b^2: gives y the size of an impulse of this problem, so that A y, got as
 * (A y + b) - b, is rounded the same in every unit. */
static double load_energy(const ss_problem *problem, const double *step)
{
    double sum = 0.0;
    for (int i = 0; i < problem->size; i++) sum += step[i] * problem->b[i] * problem->b[i];
    return sum > 0.0 ? sum : 1.0;
}

static void normalise(int n, double factor, double *y)
{
    for (int i = 0; i < n; i++) y[i] *= factor;
}

double ss_largest_eigenvalue(const ss_problem *problem, const double *step, int iterations, ss_run *run)
{
    ss_arena *arena = run->arena;
    int n = problem->size;
    double lambda = 1.0, energy = load_energy(problem, step);
    ss_arena_mark mark = ss_arena_get_mark(arena);
    double *y = ss_arena_take(arena, (size_t)n, sizeof *y, "power iteration");
    double *w = ss_arena_take(arena, (size_t)n, sizeof *w, "power iteration");
    double *scratch =
        ss_arena_take(arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "velocities");
    if (!y || !w || !scratch) return -1.0;
    for (int i = 0; i < n; i++) y[i] = (i % 2 ? -1.0 : 1.0 + 0.5 * (i % 3)) * sqrt(energy * step[i]);
    for (int pass = 0; pass < iterations && !ss_run_late(run); pass++) {
        double before = 0.0, after = 0.0;
        ss_problem_apply(problem, y, scratch, w);
        for (int i = 0; i < n; i++) {
            if (!(step[i] > 0.0)) continue;
            double image = step[i] * (w[i] - problem->b[i]);
            before += y[i] * y[i] / step[i];
            after += image * image / step[i];
            y[i] = image;
        }
        if (!(after > 0.0)) break;
        lambda = sqrt(after / before);
        normalise(n, sqrt(energy / after), y);
    }
    ss_arena_reset(arena, mark);
    return 1.05 * lambda;
}
