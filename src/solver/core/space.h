/* solver/core/space.h - a problem in the variables that Newton methods work in.
 *
 *     x = unit r,  w = weight u,  unit_i = sqrt(E / a_i),  weight_i = sqrt(E a_i)
 *
 * with a_i the diagonal of A, in a contact one number for normal and tangents and one for the rolling part,
 * and E = sum b_i^2 / 2 a_i, an energy. Then u = W r + q has pure numbers only, the diagonal of W is about
 * 1, and the laws keep their form: cones stay cones (rolling friction is rescaled), boxes boxes. Thresholds
 * are pure numbers.
 *
 * The unknowns are renumbered by nodes, the blocks that are linearised and eliminated together: a contact,
 * a row, or a row with the rows whose bounds follow it.
 *
 * W is a matrix of blocks or, when the problem has bodies, W = H H' + C with one row of H per unknown:
 * the Jacobian times the roots of the inverse mass matrices, scaled; H' r are the velocities of the
 * bodies, in roots of energy. Of small problems it is a full matrix in either case: looking for zeros
 * costs more than they save.
 */
#ifndef SS_SOLVER_CORE_SPACE_H
#define SS_SOLVER_CORE_SPACE_H

#include <stickslip/solver.h>

#include "linalg/block_rows.h"

enum { SS_NODE_MAX = 8 };    /* unknowns of a node, at most */
enum { SS_FULL_SPACE = 48 }; /* unknowns of a problem whose W is full, at most */

typedef struct ss_node {
    ss_law law; /* SS_LAW_CONE, SS_LAW_CONVEX; SS_LAW_BOX for one or more rows of any other law */
    int first, size;
    double mu, mu_rolling;
} ss_node;

typedef struct ss_levers {
    int bodies;
    int (*pair)[2];        /* per number; -1 = none */
    double (*lever)[12];   /* per number: the row of H, six columns for each of its two bodies */
    double *compliance;    /* per number: the diagonal of C */
    double (*velocity)[6]; /* scratch */
} ss_levers;

typedef struct ss_space {
    const ss_problem *problem;
    int size, node_count;
    ss_node *nodes;
    int *number;           /* per unknown of the problem: its number here */
    double *unit;          /* per unknown of the problem */
    double *lower, *upper; /* per number; rows only */
    int *partner;          /* per number: a number, -1 = none */
    double *factor;        /* per number */
    double *q;
    /* one of the three is there, the others are NULL */
    double *full; /* column by column */
    ss_block_rows *W;
    ss_levers *levers;
    double *kept; /* scratch, of a full W */
} ss_space;

/* NULL when out of memory. */
ss_space *ss_space_create(const ss_problem *problem, ss_arena *arena);
/* r = x / unit */
void ss_space_enter(const ss_space *space, const double *x, double *r);
/* x = unit r, projected on what the laws allow */
void ss_space_leave(const ss_space *space, const double *r, double *x);
/* W_kk of a node, row by row */
void ss_space_own(const ss_space *space, int k, double *own);
/* u = W r */
void ss_space_apply(const ss_space *space, const double *r, double *u);
/* u = W r + q */
void ss_space_velocity(const ss_space *space, const double *r, double *u);

/* v += H_i' amount, and H_i v */
static inline void ss_space_push(const ss_levers *levers, int i, double amount, double (*v)[6])
{
    for (int side = 0; side < 2; side++) {
        int body = levers->pair[i][side];
        if (body < 0) continue;
        const double *lever = levers->lever[i] + 6 * side;
        for (int k = 0; k < 6; k++) v[body][k] += lever[k] * amount;
    }
}

static inline double ss_space_pull(const ss_levers *levers, int i, double (*v)[6])
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

/* The same of the three rows of a contact at once, which most nodes are: all act between the same bodies. */
static inline bool ss_space_is_contact(const ss_levers *levers, const ss_node *node)
{
    int(*pair)[2] = levers->pair + node->first;
    return node->size == 3 && pair[0][0] == pair[1][0] && pair[0][0] == pair[2][0] &&
           pair[0][1] == pair[1][1] && pair[0][1] == pair[2][1];
}

static inline void ss_space_push_contact(const ss_levers *levers, int first, const double amount[3],
                                         double (*v)[6])
{
    for (int side = 0; side < 2; side++) {
        int body = levers->pair[first][side];
        if (body < 0) continue;
        const double *row = levers->lever[first] + 6 * side;
        for (int k = 0; k < 6; k++) {
            v[body][k] += row[k] * amount[0] + row[12 + k] * amount[1] + row[24 + k] * amount[2];
        }
    }
}

static inline void ss_space_pull_contact(const ss_levers *levers, int first, double (*v)[6], double value[3])
{
    value[0] = value[1] = value[2] = 0.0;
    for (int side = 0; side < 2; side++) {
        int body = levers->pair[first][side];
        if (body < 0) continue;
        const double *row = levers->lever[first] + 6 * side;
        for (int k = 0; k < 6; k++) {
            value[0] += row[k] * v[body][k];
            value[1] += row[12 + k] * v[body][k];
            value[2] += row[24 + k] * v[body][k];
        }
    }
}

/* ---- fast products ---------------------------------------------------------------------------------- */

/* Rows one after the other that act on the same two bodies, nearly always those of a contact, are done
 * together. */
typedef struct ss_row_group {
    int first, count; /* numbers */
    int body[2];      /* -1: the world */
} ss_row_group;

/* Without levers there are none. */
typedef struct ss_row_groups {
    const ss_space *space;
    ss_row_group *items;
    int count;
} ss_row_groups;

/* False when out of memory. */
bool ss_row_groups_create(const ss_space *space, ss_arena *arena, ss_row_groups *groups);
/* v += H' amount, and speed = H v */
void ss_row_groups_push(const ss_row_groups *groups, const double *amount, double (*v)[6]);
void ss_row_groups_pull(const ss_row_groups *groups, double (*v)[6], double *speed);
/* u = W r and u = W r + q, as ss_space_apply and ss_space_velocity have it, whatever W is. */
void ss_row_groups_apply(const ss_row_groups *groups, const double *r, double *u);
void ss_row_groups_velocity(const ss_row_groups *groups, const double *r, double *u);

/* block += sum over the rows of a group of T_k lever_a' lever_b, 6 x 6 row by row; a and b are sides. T
 * begins with the group. */
void ss_row_group_square(const ss_row_group *group, const ss_levers *levers, const double *T, int a, int b,
                         double *block);

#endif
