#include "solver/newton/newton_proximal.h"

#include <math.h>
#include <string.h>

#include "solver/newton/newton_step.h"

/* shifted = u + alpha (r - centre); returns alpha |r - centre| */
static double shift(ss_newton *newton, double alpha, const double *r, const double *u)
{
    double sum = 0.0;
    for (int i = 0; i < newton->space->size; i++) {
        double push = alpha * (r[i] - newton->centre[i]);
        newton->shifted[i] = u[i] + push;
        sum += push * push;
    }
    return sqrt(sum);
}

typedef enum outcome { ARRIVED, LOST, ENDED } outcome;

/* One proximal problem, from its centre r on. The first step goes off the cones and is taken as it is: the
 * others come back. Solved is it when its map is a few times alpha |r - centre|, by which the next problem
 * differs anyway. */
static outcome stride(ss_newton *newton, double alpha, double *r, double *u, int *steps)
{
    static const double solved = 8.0, rounding = 1e-14;
    enum { STEPS = 10 };
    size_t bytes = (size_t)newton->space->size * sizeof *r;
    memcpy(newton->centre, r, bytes);
    for (*steps = 1; *steps <= STEPS; ++*steps) {
        shift(newton, alpha, r, u);
        double before = ss_newton_linearize(newton, alpha, r, newton->shifted), ratio;
        if (!ss_newton_system_factor(&newton->system, alpha) ||
            !ss_newton_system_solve(&newton->system, newton->phi, newton->dr, newton->du)) {
            return ss_newton_is_late(newton) ? ENDED : LOST;
        }
        if (*steps == 1)
            ratio = ss_newton_try(newton, alpha, 1.0, r, newton->shifted) / before;
        else
            ss_newton_search(newton, alpha, before, r, newton->shifted, &ratio);
        if (!isfinite(ratio) || (ratio > 1.0 && *steps > 1)) return LOST;
        memcpy(r, newton->trial, bytes);
        ss_newton_space_velocity(newton->space, r, u);
        ss_newton_note(newton, r, u);
        if (!ss_newton_report(newton, r) || ss_newton_exact(newton)) return ENDED;
        double rest = ratio * before, drift = shift(newton, alpha, r, u);
        if (rest <= fmax(solved * drift, rounding)) return ARRIVED;
    }
    return LOST;
}

/* Impulses that grow without bound along a direction W does not see, against which q works: then there is no
 * solution (or none of a size that means anything). The driver judges whether it is so. */
static bool is_ray(ss_newton *newton, const double *r)
{
    static const double far = 1e6;
    const ss_newton_space *space = newton->space;
    double square = 0.0;
    for (int i = 0; i < space->size; i++) {
        newton->trial[i] = r[i] - newton->centre[i];
        square += newton->trial[i] * newton->trial[i];
    }
    if (!(square > far * far)) return false;
    for (int i = 0; i < space->size; i++)
        newton->trial_u[i] = newton->trial[space->number[i]] * space->unit[i];
    return ss_run_ray(newton->run, newton->trial_u);
}

/* Back to the centre, unless the point is not much worse than the best so far: then the steps
 * were not in vain. */
static void turn_back(ss_newton *newton, double best, double *r, double *u)
{
    static const double not_much = 1.2;
    if (ss_newton_note(newton, r, u) < not_much * best) return;
    memcpy(r, newton->centre, (size_t)newton->space->size * sizeof *r);
    ss_newton_space_velocity(newton->space, r, u);
}

bool ss_newton_proximal(ss_newton *newton, const ss_proximal_plan *plan, double *r, double *u)
{
    static const double grow = 3.0, shrink = 0.3, shrink_less = 0.5; // after one or two steps, after three
    size_t bytes = (size_t)newton->space->size * sizeof *r;
    double alpha = plan->alpha, best = newton->best_error, near = best;
    memcpy(newton->near, newton->best, bytes);
    for (int idle = 0, failures = 0, taken = 0;
         idle <= plan->patience && failures < plan->attempts && alpha <= plan->largest;) {
        int steps;
        outcome how = stride(newton, alpha, r, u, &steps);
        if (how == ENDED) return true;
        taken += steps;
        if (newton->best_error <= plan->enough || (plan->steps > 0 && taken >= plan->steps)) return false;
        idle = newton->best_error < 0.99 * best ? 0 : idle + steps;
        if (how == LOST) {
            failures++;
            alpha *= grow;
            turn_back(newton, best, r, u);
            best = fmin(best, newton->best_error);
            continue;
        }
        best = fmin(best, newton->best_error);
        failures = 0;
        if (is_ray(newton, r)) {
            memcpy(newton->best, newton->near, bytes); // what is out there is better by a hair at most
            return newton->has_ray = true;
        }
        if (best < 0.5 * near) {
            near = best;
            memcpy(newton->near, newton->best, bytes);
        }
        if (steps <= 3) alpha = fmax(alpha * (steps <= 2 ? shrink : shrink_less), newton->system.alpha_min);
    }
    return false;
}
