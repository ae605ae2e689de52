/* solver/stretches.h - products with the levers of a Newton space, fast: rows one after the other that act on the same two
 * bodies, nearly always those of a contact, are done together.
 */
#ifndef SS_SOLVER_STRETCHES_H
#define SS_SOLVER_STRETCHES_H

#include "solver/newton_space.h"

typedef struct ss_stretch {
    int first, count; /* numbers */
    int body[2];      /* -1: the world */
} ss_stretch;

/* Without levers there are none. */
typedef struct ss_stretches {
    const ss_newton_space *space;
    ss_stretch *items;
    int count;
} ss_stretches;

/* False when out of memory. */
bool ss_stretches_create(const ss_newton_space *space, ss_arena *arena, ss_stretches *stretches);
/* v += H' amount, and speed = H v */
void ss_stretches_push(const ss_stretches *stretches, const double *amount, double (*v)[6]);
void ss_stretches_pull(const ss_stretches *stretches, double (*v)[6], double *speed);
/* u = W r and u = W r + q, as ss_newton_space_apply and ss_newton_space_velocity have it, whatever W is. */
void ss_stretches_apply(const ss_stretches *stretches, const double *r, double *u);
void ss_stretches_velocity(const ss_stretches *stretches, const double *r, double *u);

/* block += sum over the rows of a stretch of T_k lever_a' lever_b, 6 x 6 row by row; a and b are sides. T begins with the
 * stretch. */
void ss_stretch_square(const ss_stretch *stretch, const ss_newton_levers *levers, const double *T, int a,
                       int b, double *block);

#endif
