#include "solver/splitting/gradient.h"

#include <math.h>
#include <string.h>

#include "solver/newton/maps.h"

double ss_dot(int n, const double *a, const double *b)
{
    double sum[2] = {0.0, 0.0}; // two chains of additions
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        sum[0] += a[i] * b[i];
        sum[1] += a[i + 1] * b[i + 1];
    }
    if (i < n) sum[0] += a[i] * b[i];
    return sum[0] + sum[1];
}

void ss_gradient_project(const ss_space *space, const double *y, const double *r, double *z)
{
    for (int k = 0; k < space->node_count; k++) {
        ss_node node = space->nodes[k];
        double p[SS_NODE_MAX];
        if (node.law == SS_LAW_CONE) node.law = SS_LAW_CONVEX; // the cone is the same
        ss_newton_project(space, &node, y + node.first, r, p, NULL);
        memcpy(z + node.first, p, (size_t)node.size * sizeof *p);
    }
}

void ss_gradient_saxce(const ss_space *space, const double *u, double *term)
{
    memset(term, 0, (size_t)space->size * sizeof *term);
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        if (node->law != SS_LAW_CONE) continue;
        const double *own = u + node->first;
        int size = ss_node_cone(node), tangents = ss_cone_tangents(size), at = ss_cone_rolling(size);
        bool rolls = ss_cone_rolls(size) && !isinf(node->mu_rolling);
        double square = 0.0;
        for (int i = 1; i <= tangents; i++) square += own[i] * own[i];
        double slip = tangents == 1 ? fabs(own[1]) : sqrt(square);
        double roll = rolls ? sqrt(own[at] * own[at] + own[at + 1] * own[at + 1]) : 0.0;
        term[node->first] =
            (isinf(node->mu) ? 0.0 : node->mu * slip) + (rolls ? node->mu_rolling * roll : 0.0);
    }
}

double ss_gradient_slope(const ss_space *space, int count, ss_run *run, double *y, double *image)
{
    int n = space->size;
    double slope = 1.0;
    for (int i = 0; i < n; i++) y[i] = i % 2 ? -1.0 : 1.0 + 0.5 * (i % 3);
    for (int pass = 0; pass < count && !ss_run_late(run); pass++) {
        ss_space_apply(space, y, image);
        double before = ss_dot(n, y, y), after = ss_dot(n, image, image);
        if (!(after > 0.0) || !isfinite(after)) break;
        slope = sqrt(after / before);
        for (int i = 0; i < n; i++) y[i] = image[i] / sqrt(after);
    }
    return slope;
}

/* Gyroscopic terms and the digits of files leave matrices that are nearly symmetric, and that
 * does not matter. */
const char *ss_gradient_refusal(const ss_problem *problem)
{
    static const double nearly = 0.01;
    const ss_sparse *A = problem->A;
    if (problem->symmetric || !A) return NULL;
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            int i = A->row[k];
            double mean = sqrt(fabs(problem->diagonal[i] * problem->diagonal[j]));
            if (fabs(A->value[k] - ss_sparse_get(A, j, i)) > nearly * mean)
                return "needs a symmetric or nearly symmetric matrix, because it minimises a function";
        }
    }
    return NULL;
}
