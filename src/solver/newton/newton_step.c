#include "solver/newton/newton_step.h"

#include <math.h>

#include "solver/newton/newton_alart.h"
#include "solver/newton/newton_fischer.h"
#include "solver/newton/newton_natural.h"

/* phi of a node at (r, u) and, unless F is NULL, its derivative F dr + B du. */
static void evaluate(const ss_newton *newton, int k, double alpha, const double *r, const double *u,
                     double *phi, double *F, double *B)
{
    const ss_newton_node *node = &newton->space->nodes[k];
    if (newton->map == SS_NATURAL_MAP)
        ss_newton_natural(newton->space, node, 1.0 / (1.0 + alpha), r, u, phi, F, B);
    else if (newton->map == SS_FISCHER_MAP)
        ss_newton_fischer(newton->space, node, r, u, phi, F, B);
    else
        ss_newton_alart(&newton->alart, newton->space, k, alpha, r, u, phi, F, B);
}

double ss_newton_linearize(ss_newton *newton, double alpha, const double *r, const double *u)
{
    ss_newton_system *system = &newton->system;
    double sum = 0.0;
    system->uses_right = false;
    for (int k = 0; k < newton->space->node_count; k++) {
        const ss_newton_node *node = &newton->space->nodes[k];
        double *phi = newton->phi + node->first;
        evaluate(newton, k, alpha, r, u, phi, system->F + system->square[k], system->B + system->square[k]);
        for (int i = 0; i < node->size; i++) {
            sum += phi[i] * phi[i];
            phi[i] = -phi[i];
        }
    }
    return sqrt(sum);
}

static double map_size(const ss_newton *newton, double alpha, const double *r, const double *u)
{
    double sum = 0.0;
    for (int k = 0; k < newton->space->node_count; k++) {
        double phi[SS_NODE_MAX];
        evaluate(newton, k, alpha, r, u, phi, NULL, NULL);
        for (int i = 0; i < newton->space->nodes[k].size; i++) sum += phi[i] * phi[i];
    }
    return sqrt(sum);
}

double ss_newton_try(ss_newton *newton, double alpha, double t, const double *r, const double *u)
{
    for (int i = 0; i < newton->space->size; i++) {
        newton->trial[i] = r[i] + t * newton->dr[i];
        newton->trial_u[i] = u[i] + t * newton->du[i];
    }
    return map_size(newton, alpha, newton->trial, newton->trial_u);
}

double ss_newton_search(ss_newton *newton, double alpha, double before, const double *r, const double *u,
                        double *ratio)
{
    double t = 1.0, after = ss_newton_try(newton, alpha, t, r, u);
    while (!(after <= before) && t > 0.125) {
        t *= 0.5;
        after = ss_newton_try(newton, alpha, t, r, u);
    }
    *ratio = before > 0.0 ? after / before : 0.0;
    return t;
}
