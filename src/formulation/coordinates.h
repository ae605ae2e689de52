/* formulation/coordinates.h - the generalised coordinates of a frame at work: T, and the factor of M.
 *
 * With M = L' D L, the matrix of a problem is
 *
 *     A = J T M^-1 T' J' + C = Z Z' + C,    Z = J T L^-1 D^-1/2,
 *
 * and w = Z z + C x + c for z = D^1/2 L v. So z is the velocity of particles of unit mass, six of which make
 * a body as far as solvers are concerned: a problem in minimal coordinates is an ordinary bodies form with
 * unit masses, whose rows have as many blocks as a tree is deep. A row of Z has entries between its bodies
 * and the roots of their trees only. */
#ifndef FORMULATION_COORDINATES_H
#define FORMULATION_COORDINATES_H

#include <stickslip/problem.h>

#include "linalg/reverse_ldl.h"

typedef struct ss_coordinates {
    const ss_generalized *of;
    int count;
    ss_reverse_ldl factor;
    double *root;     /* D^1/2 */
    double *velocity; /* v, with whatever was pushed on top of v* */
    double *free;     /* v* = v + h M^-1 f */
    double *work;     /* zero between calls */
    int *tree;        /* of each coordinate */
    int *first_body;  /* of each tree: the first of the problem's bodies that it makes, and the end */
    int room, tree_room;
} ss_coordinates;

/* Factors M; `to` is zeroed, or of another frame. Fails when M is not positive definite. */
bool ss_coordinates_make(const ss_frame *frame, ss_coordinates *to, ss_error *err);
void ss_coordinates_free(ss_coordinates *coordinates);
int ss_coordinates_bodies(const ss_coordinates *coordinates); /* that a problem has */

/* Does anything move this body of the frame? */
bool ss_coordinates_move(const ss_coordinates *coordinates, int body);
/* Velocity of a body of the frame, from ss_coordinates.velocity. */
void ss_coordinates_velocity(const ss_coordinates *coordinates, int body, double velocity[6]);
/* work += T' momentum of a body of the frame; then velocity += M^-1 work, and work is zero again. */
void ss_coordinates_push(ss_coordinates *coordinates, int body, const double momentum[6]);
void ss_coordinates_go(ss_coordinates *coordinates);
/* J T M^-1 T' J' of one row between two bodies of the frame; SS_WORLD: none. */
double ss_coordinates_inverse_mass(ss_coordinates *coordinates, const int body[2], const double jacobian[12]);

/* Does a row between two bodies of the frame move at all? Its largest entry of J T against those of J and T:
 * a loop of hinges with parallel axes has rows of which rounding alone is left. */
bool ss_coordinates_see(ss_coordinates *coordinates, const int body[2], const double jacobian[12]);

/* The problem's rows, from bodies of the frame (frame_body of each of its bodies) to unit masses. */
bool ss_coordinates_transform(ss_coordinates *coordinates, const int *frame_body, ss_problem *problem,
                              ss_error *err);
/* The row J T of an unknown of a transformed problem, into `row`, all coordinates. */
void ss_coordinates_row(const ss_coordinates *coordinates, const ss_bodies_form *form, int i, double *row);

#endif
