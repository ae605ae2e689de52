/* problem/levers.h - the matrix of bodies as a product, A = H H' + C.
 *
 *     M^-1 = L L'      H = J L, one row per unknown, divided by a scale of its own where that is wanted
 *
 * H' x are the velocities that impulses x cause, in roots of energy. L of a body is a number and a triangle,
 * so that a row of H costs no more than one of J and serves twice, to push and to pull.
 */
#ifndef SS_PROBLEM_LEVERS_H
#define SS_PROBLEM_LEVERS_H

#include "problem/bodies_form.h"

/* ---- the root of a mass ----------------------------------------------------------------------------- */

/* L of a body: sqrt(1/m), then the lower triangle of the angular part: 00, 10, 11, 20, 21, 22 */
typedef struct ss_mass_root {
    double part[8];
} ss_mass_root;

/* A direction in which the body cannot turn gets a column of zeros. */
ss_mass_root ss_mass_root_of(const ss_bodies_form *form, int body);

/* scaled = block L, for a 6-wide block of J */
static inline void ss_mass_root_scale(const ss_mass_root *root, const double block[6], double scaled[6])
{
    const double *L = root->part + 1;
    for (int k = 0; k < 3; k++) scaled[k] = block[k] * root->part[0];
    scaled[3] = block[3] * L[0] + block[4] * L[1] + block[5] * L[3];
    scaled[4] = block[4] * L[2] + block[5] * L[4];
    scaled[5] = block[5] * L[5];
}

/* ---- rows of H -------------------------------------------------------------------------------------- */

/* Rows one after the other that act on the same two bodies, nearly always those of a contact, are done
 * together. */
typedef struct ss_row_group {
    int first, count;
    int body[2]; /* -1: the world */
} ss_row_group;

typedef struct ss_levers {
    int size, bodies;
    int (*pair)[2];        /* per row; -1 = none */
    double (*lever)[12];   /* per row: six columns for each of its two bodies */
    double *compliance;    /* per row: the diagonal of C */
    double (*velocity)[6]; /* scratch */
    ss_row_group *groups;
    int group_count;
} ss_levers;

/* Row number[i] is that of unknown i, divided by scale[i]; its compliance is divided by the square. No row
 * acts on more than two bodies. NULL when out of memory. */
ss_levers *ss_levers_create(const ss_problem *problem, const int *number, const double *scale,
                            ss_arena *arena);
/* v += H' amount, and speed = H v */
void ss_levers_push(const ss_levers *levers, const double *amount, double (*v)[6]);
void ss_levers_pull(const ss_levers *levers, double (*v)[6], double *speed);
/* (H H')_ij */
double ss_levers_product(const ss_levers *levers, int i, int j);
/* block += sum over the rows of a group of T_k lever_a' lever_b, 6 x 6 row by row; a and b are sides. T
 * begins with the group. */
void ss_levers_add_square(const ss_levers *levers, const ss_row_group *group, const double *T, int a, int b,
                          double *block);

/* The same of one row: v += H_i' amount, and H_i v */
static inline void ss_levers_push_row(const ss_levers *levers, int i, double amount, double (*v)[6])
{
    for (int side = 0; side < 2; side++) {
        int body = levers->pair[i][side];
        if (body < 0) continue;
        const double *lever = levers->lever[i] + 6 * side;
        for (int k = 0; k < 6; k++) v[body][k] += lever[k] * amount;
    }
}

static inline double ss_levers_pull_row(const ss_levers *levers, int i, double (*v)[6])
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        int body = levers->pair[i][side];
        if (body < 0) continue;
        const double *lever = levers->lever[i] + 6 * side;
        for (int k = 0; k < 6; k++) sum += lever[k] * v[body][k];
    }
    return sum;
}

#endif
