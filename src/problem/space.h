/* problem/space.h - a problem in the variables that Newton and splitting methods work in.
 *
 *     x = unit r,  w = weight u,  unit_i = sqrt(E / a_i),  weight_i = sqrt(E a_i)
 *
 * with a_i the diagonal of A, in a contact one number for normal and tangents and one for the rolling part,
 * and E = sum b_i^2 / 2 a_i, an energy. Then u = W r + q has pure numbers only, the diagonal of W is about
 * 1, and the laws keep their form: cones stay cones (rolling friction is rescaled), boxes boxes. Thresholds
 * are pure numbers.
 *
 * The unknowns are renumbered by nodes, the blocks that are linearised and eliminated together: a contact,
 * a contact with its torsional friction, a row, or a row with the rows whose bounds follow it.
 *
 * W is a matrix of blocks or, when the problem has bodies, W = H H' + C (problem/levers.h). Of small problems
 * it is a full matrix in either case: looking for zeros costs more than they save.
 */
#ifndef SS_PROBLEM_SPACE_H
#define SS_PROBLEM_SPACE_H

#include <stickslip/problem.h>

#include "linalg/block_rows.h"
#include "problem/cone.h"
#include "problem/levers.h"

enum { SS_NODE_MAX = 8 };    /* unknowns of a node, at most */
enum { SS_FULL_SPACE = 48 }; /* unknowns of a problem whose W is full, at most */

typedef struct ss_node {
    ss_law law; /* SS_LAW_CONE, SS_LAW_CONVEX; SS_LAW_BOX for one or more rows of any other law */
    int first, size;
    double mu, mu_rolling;
    /* a contact whose last number is a coupled row, torsional friction beside the cone: |r| <= mu_spin r_N */
    bool spins;
    double mu_spin;
} ss_node;

/* Numbers of a cone without its spin row. */
static inline int ss_node_cone(const ss_node *node)
{
    return node->size - node->spins;
}

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

/* Is unknown i of block k torsional friction that a contact's node contains? */
bool ss_space_is_spin(const ss_problem *problem, int k, int i);

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

#endif
