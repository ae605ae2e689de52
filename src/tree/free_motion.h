/* tree/free_motion.h - trees under smooth forces alone, integrated to a tolerance: what a mechanism does
 * between two moments at which nothing touches it. */
#ifndef SS_TREE_FREE_MOTION_H
#define SS_TREE_FREE_MOTION_H

#include "tree/tree.h"

typedef struct ss_free_motion ss_free_motion;

typedef struct ss_free_motion_request {
    double h;         /* s */
    double tolerance; /* of the rates, as a share of them, in each piece of the step */
    bool gyroscopic;  /* with the torque of the bodies' own spin */
} ss_free_motion_request;

void ss_free_motion_destroy(ss_free_motion *motion); /* NULL is fine */
/* Where the bodies of a world will be after h, and how fast, if nothing but gravity, the user's forces on
 * bodies and their damping acts beside the joints; nothing of the world changes. *motion is made if it is
 * NULL, and may be kept for the next step. *done is false where there is no such motion: nothing moves,
 * joints close loops or are of kinds that hold no trees or are planar, or no piece of the step was short
 * enough. */
bool ss_free_motion_run(ss_free_motion **motion, const ss_world *world, const ss_free_motion_request *request,
                        bool *done, ss_error *err);
/* The links that it moves, and the velocities of one after it, about its centre of mass. */
int ss_free_motion_count(const ss_free_motion *motion);
void ss_free_motion_velocity(const ss_free_motion *motion, int link, double velocity[6]);
/* Poses and velocities become those of the bodies, and the next step begins with pieces as long as the last
 * ones were. */
void ss_free_motion_write(ss_free_motion *motion, ss_world *world);
/* How long the pieces (s) are that the next step begins with, at the first link of each tree; a state, as it
 * decides the bits of that step. *motion is made if it is NULL; false when out of memory. */
const double *ss_free_motion_paces(const ss_free_motion *motion, int *count);
bool ss_free_motion_take_paces(ss_free_motion **motion, const double *paces, int count);

#endif
