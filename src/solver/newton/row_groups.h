/* solver/newton/row_groups.h - products with the levers of a Newton space, fast: rows one after the other
 * that act on the same two bodies, nearly always those of a contact, are done together.
 */
#ifndef SS_SOLVER_NEWTON_ROW_GROUPS_H
#define SS_SOLVER_NEWTON_ROW_GROUPS_H

#include "solver/newton/newton_space.h"

typedef struct ss_row_group {
    int first, count; /* numbers */
    int body[2];      /* -1: the world */
} ss_row_group;

/* Without levers there are none. */
typedef struct ss_row_groups {
    const ss_newton_space *space;
    ss_row_group *items;
    int count;
} ss_row_groups;

/* False when out of memory. */
bool ss_row_groups_create(const ss_newton_space *space, ss_arena *arena, ss_row_groups *groups);
/* v += H' amount, and speed = H v */
void ss_row_groups_push(const ss_row_groups *groups, const double *amount, double (*v)[6]);
void ss_row_groups_pull(const ss_row_groups *groups, double (*v)[6], double *speed);
/* u = W r and u = W r + q, as ss_newton_space_apply and ss_newton_space_velocity have it, whatever W is. */
void ss_row_groups_apply(const ss_row_groups *groups, const double *r, double *u);
void ss_row_groups_velocity(const ss_row_groups *groups, const double *r, double *u);

/* block += sum over the rows of a group of T_k lever_a' lever_b, 6 x 6 row by row; a and b are sides. T
 * begins with the group. */
void ss_row_group_square(const ss_row_group *group, const ss_newton_levers *levers, const double *T, int a,
                         int b, double *block);

#endif
