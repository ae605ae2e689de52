/* sim/stabilise.h - passes that keep joints together beside the frame's own rows (docs/joints.md):
 *
 *     projection   solve, move, then ss_stabilise_positions: poses are put right, velocities are left alone
 *     impulse      solve, then ss_stabilise_before_move: velocities such that the joints hold after the move;
 *                  move, then ss_stabilise_after_move: velocities such that the joints hold at the new poses
 *                  (Bender and Schmitt 2006, all joints at once)
 *
 * Each solves S y = -g with S = G M^-1 G' of all joints, sparse over the joint graph; the symbolic
 * factorisation is kept while the graph stays. Rigid joints of enabled dynamic bodies take part: static and
 * kinematic bodies are not moved, a joint with compliance gives way by itself. A pass that meets its
 * tolerance at the start changes nothing.
 */
#ifndef SS_SIM_STABILISE_H
#define SS_SIM_STABILISE_H

#include <stickslip/model.h>

typedef struct ss_stabiliser ss_stabiliser;

ss_stabiliser *ss_stabiliser_create(ss_error *err);
void ss_stabiliser_destroy(ss_stabiliser *stabiliser);
/* The joints that it holds. */
struct ss_joint_system *ss_stabiliser_system(ss_stabiliser *stabiliser);

typedef struct ss_stabilise_report {
    int rows, iterations;
    double before, after; /* largest error: m and rad, after the move m/s and rad/s */
    bool converged;       /* after <= tolerance */
    bool diverged;        /* the error grew: all was put back */
} ss_stabilise_report;

/* False when out of memory or when a pose is not finite, with the world as it was; a pass that did not reach
 * the tolerance says so in the report. Full turns are not counted here: ss_joint_follow comes after. */
bool ss_stabilise_positions(ss_stabiliser *stabiliser, ss_world *world, double tolerance,
                            ss_stabilise_report *report, ss_error *err);
/* Poses of the step's start, velocities of its end; the move of h that follows must be x + h v, exp(h w / 2)
 * q, for kinematic bodies too. */
bool ss_stabilise_before_move(ss_stabiliser *stabiliser, ss_world *world, double h, double tolerance,
                              ss_stabilise_report *report, ss_error *err);
bool ss_stabilise_after_move(ss_stabiliser *stabiliser, ss_world *world, double tolerance,
                             ss_stabilise_report *report, ss_error *err);
/* Both, and between them the move of the members; the joints have been gathered and factored at the present
 * poses (joint_system.h). */
bool ss_stabilise_move(ss_stabiliser *stabiliser, ss_world *world, double h, double tolerance,
                       ss_stabilise_report *report, ss_error *err);

#endif
