#include "solver/newton_proximal.h"

#include <math.h>
#include <string.h>

#include "solver/newton_step.h"

/* shifted = u + alpha (r - centre); returns alpha |r - centre| */
static double shift(ss_newton_walk *walk, double alpha, const double *r, const double *u)
{
    double sum = 0.0;
    for (int i = 0; i < walk->space->size; i++) {
        double push = alpha * (r[i] - walk->centre[i]);
        walk->shifted[i] = u[i] + push;
        sum += push * push;
    }
    return sqrt(sum);
}

typedef enum outcome { ARRIVED, LOST, ENDED } outcome;

/* One proximal problem, from its centre r on. The first step goes off the cones and is taken as it is: the others
 * come back. Solved is it when its map is a few times alpha |r - centre|, by which the next problem differs anyway. */
static outcome stride(ss_newton_walk *walk, double alpha, double *r, double *u, int *steps)
{
    static const double solved = 8.0, rounding = 1e-14;
    enum { STEPS = 10 };
    size_t bytes = (size_t)walk->space->size * sizeof *r;
    memcpy(walk->centre, r, bytes);
    for (*steps = 1; *steps <= STEPS; ++*steps) {
        shift(walk, alpha, r, u);
        double before = ss_newton_linearize(walk, alpha, r, walk->shifted), ratio;
        if (!ss_newton_system_factor(&walk->system, alpha) ||
            !ss_newton_system_solve(&walk->system, walk->phi, walk->dr, walk->du)) {
            return LOST;
        }
        if (*steps == 1)
            ratio = ss_newton_try(walk, alpha, 1.0, r, walk->shifted) / before;
        else
            ss_newton_search(walk, alpha, before, r, walk->shifted, &ratio);
        if (!isfinite(ratio) || (ratio > 1.0 && *steps > 1)) return LOST;
        memcpy(r, walk->trial, bytes);
        ss_newton_space_velocity(walk->space, r, u);
        ss_newton_walk_note(walk, r, u);
        if (!ss_newton_walk_report(walk, r) || ss_newton_walk_exact(walk)) return ENDED;
        double rest = ratio * before, drift = shift(walk, alpha, r, u);
        if (rest <= fmax(solved * drift, rounding)) return ARRIVED;
    }
    return LOST;
}

/* Impulses that grow for ever along a direction W does not see, against which q works: then there is no solution
 * (or none of a size that means anything). The driver judges whether it is so. */
static bool is_ray(ss_newton_walk *walk, const double *r)
{
    static const double far = 1e6;
    const ss_newton_space *space = walk->space;
    double square = 0.0;
    for (int i = 0; i < space->size; i++) {
        walk->trial[i] = r[i] - walk->centre[i];
        square += walk->trial[i] * walk->trial[i];
    }
    if (!(square > far * far)) return false;
    for (int i = 0; i < space->size; i++) walk->trial_u[i] = walk->trial[space->number[i]] * space->unit[i];
    return ss_run_ray(walk->run, walk->trial_u);
}

/* Back to the centre, unless the point is not much worse than the best so far: then the steps were not in vain. */
static void turn_back(ss_newton_walk *walk, double best, double *r, double *u)
{
    static const double not_much = 1.2;
    if (ss_newton_walk_note(walk, r, u) < not_much * best) return;
    memcpy(r, walk->centre, (size_t)walk->space->size * sizeof *r);
    ss_newton_space_velocity(walk->space, r, u);
}

bool ss_newton_proximal(ss_newton_walk *walk, const ss_proximal_plan *plan, double *r, double *u)
{
    static const double grow = 3.0, shrink = 0.3, shrink_less = 0.5; // after one or two steps, after three
    size_t bytes = (size_t)walk->space->size * sizeof *r;
    double alpha = plan->alpha, best = walk->best_error, near = best;
    memcpy(walk->near, walk->best, bytes);
    for (int idle = 0, failures = 0, taken = 0;
         idle <= plan->patience && failures < plan->attempts && alpha <= plan->largest;) {
        int steps;
        outcome how = stride(walk, alpha, r, u, &steps);
        if (how == ENDED) return true;
        taken += steps;
        if (walk->best_error <= plan->enough || (plan->steps > 0 && taken >= plan->steps)) return false;
        idle = walk->best_error < 0.99 * best ? 0 : idle + steps;
        if (how == LOST) {
            failures++;
            alpha *= grow;
            turn_back(walk, best, r, u);
            best = fmin(best, walk->best_error);
            continue;
        }
        best = fmin(best, walk->best_error);
        failures = 0;
        if (is_ray(walk, r)) {
            memcpy(walk->best, walk->near, bytes); // what is out there is better by a hair at most
            return walk->has_ray = true;
        }
        if (best < 0.5 * near) {
            near = best;
            memcpy(walk->near, walk->best, bytes);
        }
        if (steps <= 3) alpha = fmax(alpha * (steps <= 2 ? shrink : shrink_less), walk->system.alpha_min);
    }
    return false;
}
