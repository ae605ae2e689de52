/* Cone problems built backwards from a solution that obeys Coulomb's law, so that every right
 * answer is known. */
#ifndef STICKSLIP_TEST_KNOWN_CONE_H
#define STICKSLIP_TEST_KNOWN_CONE_H

#include <stickslip/problem.h>

#include "conformance/planted.h"
#include "linalg/triplets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Aborts the test program: nothing here may fail. */
static inline void *known(void *pointer, const ss_error *err)
{
    if (!pointer) {
        fprintf(stderr, "cannot build a test problem: %s\n", err ? err->message : "");
        exit(1);
    }
    return pointer;
}

static inline void random_unit(ss_random *random, int count, double *t)
{
    ss_planted_direction(random, count, t);
}

static inline void known_contact(ss_random *random, ss_planted_mode mode, int dimension, double mu,
                                 double mu_rolling, double *u, double *r)
{
    ss_planted_contact(random, mode, dimension, mu, mu_rolling, u, r);
}

static inline void known_contacts(ss_random *random, ss_cone *cone, ss_cone_point *point)
{
    for (int c = 0; c < cone->contacts; c++) {
        int first = c * cone->dimension;
        cone->mu[c] = ss_random_below(random, 5) ? ss_random_between(random, 0.1, 1.2) : 0.0;
        if (cone->mu_rolling) cone->mu_rolling[c] = ss_random_between(random, 0.0, 0.2);
        known_contact(random, (ss_planted_mode)ss_random_below(random, SS_PLANTED_MODES), cone->dimension,
                      cone->mu[c], cone->mu_rolling ? cone->mu_rolling[c] : 0.0, point->u + first,
                      point->r + first);
    }
}

static inline ss_sparse *random_matrix(ss_random *random, int rows, int cols, double density)
{
    ss_error err;
    return known(ss_planted_matrix(random, rows, cols, density, &err), &err);
}

static inline ss_sparse *random_definite(ss_random *random, int n)
{
    ss_error err;
    return known(ss_planted_definite(random, n, &err), &err);
}

/* u = W r + V l + q, 0 = V' r + R l + s */
static inline ss_cone *known_local(uint64_t seed, int dimension, int contacts, int equations,
                                   ss_cone_point *point)
{
    ss_error err;
    ss_random random = ss_random_start(seed, 0);
    ss_cone *cone = known(ss_cone_create(SS_CONE_LOCAL, dimension, contacts, 0, equations, &err), &err);
    if (!ss_cone_point_create(cone, point, &err)) known(NULL, &err);
    known_contacts(&random, cone, point);
    int m = dimension * contacts;
    cone->W = random_definite(&random, m);
    for (int i = 0; i < m; i++) cone->q[i] = point->u[i];
    ss_sparse_apply(cone->W, point->r, -1.0, cone->q);
    if (equations == 0) return cone;
    for (int k = 0; k < equations; k++) point->l[k] = ss_random_between(&random, -1, 1);
    cone->V = random_matrix(&random, m, equations, 0.3);
    cone->R = random_definite(&random, equations);
    ss_sparse_apply(cone->V, point->l, -1.0, cone->q);
    ss_sparse_apply_transposed(cone->V, point->r, -1.0, cone->s);
    ss_sparse_apply(cone->R, point->l, -1.0, cone->s);
    return cone;
}

/* m 1 and a full inertia for each body of six dofs */
static inline ss_sparse *random_mass(ss_random *random, int bodies)
{
    ss_error err;
    ss_triplets M;
    if (!ss_triplets_start(&M, 12 * (size_t)bodies, &err)) known(NULL, &err);
    for (int b = 0; b < bodies; b++) {
        double mass = ss_random_between(random, 1, 4);
        ss_sparse *inertia = random_definite(random, 3);
        for (int i = 0; i < 3; i++) {
            ss_triplets_add(&M, 6 * b + i, 6 * b + i, mass);
            for (int j = 0; j < 3; j++)
                ss_triplets_add(&M, 6 * b + 3 + i, 6 * b + 3 + j,
                                ss_sparse_get(inertia, i, j) + (i == j ? 1.0 : 0.0));
        }
        ss_sparse_destroy(inertia);
    }
    return known(ss_triplets_finish(&M, 6 * bodies, 6 * bodies, &err), &err);
}

/* `group` columns at a time act on two bodies, or on one */
static inline ss_sparse *random_columns(ss_random *random, int bodies, int groups, int group)
{
    ss_error err;
    ss_triplets H;
    if (!ss_triplets_start(&H, 12 * (size_t)groups * (size_t)group, &err)) known(NULL, &err);
    for (int g = 0; g < groups; g++) {
        int a = ss_random_below(random, bodies), b = ss_random_below(random, bodies);
        for (int j = g * group; j < (g + 1) * group; j++) {
            for (int i = 0; i < 6; i++) {
                ss_triplets_add(&H, 6 * a + i, j, ss_random_between(random, -1, 1));
                if (a != b) ss_triplets_add(&H, 6 * b + i, j, ss_random_between(random, -1, 1));
            }
        }
    }
    return known(ss_triplets_finish(&H, 6 * bodies, groups * group, &err), &err);
}

/* M v = H r + G l + f, 0 = G' v + b, u = H' v + w */
static inline ss_cone *known_global(uint64_t seed, int dimension, int bodies, int contacts, int equations,
                                    ss_cone_point *point)
{
    ss_error err;
    ss_random random = ss_random_start(seed, 1);
    ss_cone *cone =
        known(ss_cone_create(SS_CONE_GLOBAL, dimension, contacts, 6 * bodies, equations, &err), &err);
    if (!ss_cone_point_create(cone, point, &err)) known(NULL, &err);
    known_contacts(&random, cone, point);
    cone->M = random_mass(&random, bodies);
    cone->H = random_columns(&random, bodies, contacts, dimension);
    for (int i = 0; i < 6 * bodies; i++) point->v[i] = ss_random_between(&random, -1, 1);
    ss_sparse_apply(cone->M, point->v, 1.0, cone->f);
    ss_sparse_apply(cone->H, point->r, -1.0, cone->f);
    for (int i = 0; i < dimension * contacts; i++) cone->w[i] = point->u[i];
    ss_sparse_apply_transposed(cone->H, point->v, -1.0, cone->w);
    if (equations == 0) return cone;
    cone->G = random_columns(&random, bodies, equations, 1);
    for (int k = 0; k < equations; k++) point->l[k] = ss_random_between(&random, -1, 1);
    ss_sparse_apply(cone->G, point->l, -1.0, cone->f);
    ss_sparse_apply_transposed(cone->G, point->v, -1.0, cone->b);
    return cone;
}

static inline double norm_of(const double *values, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += values[i] * values[i];
    return sqrt(sum);
}

static inline double largest_difference(const double *a, const double *b, int count)
{
    double largest = 0.0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* max |A - B| / max |A|; infinite when the sizes differ */
static inline double matrix_difference(const ss_sparse *A, const ss_sparse *B)
{
    double largest = 0.0, size = 0.0;
    if (A->rows != B->rows || A->cols != B->cols) return INFINITY;
    for (int j = 0; j < A->cols; j++) {
        for (int at = A->start[j]; at < A->start[j + 1]; at++) {
            size = fmax(size, fabs(A->value[at]));
            largest = fmax(largest, fabs(A->value[at] - ss_sparse_get(B, A->row[at], j)));
        }
        for (int at = B->start[j]; at < B->start[j + 1]; at++)
            largest = fmax(largest, fabs(B->value[at] - ss_sparse_get(A, B->row[at], j)));
    }
    return size > 0.0 ? largest / size : largest;
}

#endif
