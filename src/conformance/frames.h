/* conformance/frames.h - frames of elementary mechanics, made without a file: what slides, what stands, and
 * towers of boxes. NULL with err when out of memory. */
#ifndef SS_CONFORMANCE_FRAMES_H
#define SS_CONFORMANCE_FRAMES_H

#include <stickslip/frame.h>

#define SS_MECHANICS_GRAVITY 9.81 /* m/s^2 */

/* A block of 2 kg on the ground z = 0, one contact below its centre of mass and no lever arm, so that it does
 * not turn. Gravity is tilted by `slope` (rad) towards +x, where it moves with `speed` (m/s). */
ss_frame *ss_mechanics_block(double slope, double mu, double speed, ss_error *err);
/* A rod of length 2 on its tip under the angle a, tan a = 2, sliding; the tip's normal inverse mass is that
 * of 1 + 3 cos a (cos a - mu sin a) over m, negative for mu > 4/3: Painleve. */
ss_frame *ss_mechanics_rod(double mu, ss_error *err);

/* Towers of boxes on the floor z = 0. Sizes, masses, friction and pushes are random; boxes are pushed
 * sideways so that some slide. On four feet the load can be shared in many ways, and with it the torque of
 * friction: velocities are not unique then. On three feet they are. */
typedef struct ss_tower_recipe {
    uint64_t seed;
    int towers, height;
    int feet;        /* of each box: 3 or 4 */
    double push;     /* m/s, sideways */
    double mu_least; /* and up to 0.3 more */
} ss_tower_recipe;
ss_frame *ss_mechanics_towers(const ss_tower_recipe *from, ss_error *err);

/* A body of a mass (kg) with the same moment of inertia (kg m^2) about all axes. */
void ss_mechanics_ball(ss_frame *frame, int body, double mass, double moment);

/* Turns everything that has a direction by the rotation R. Stored tangents are needed and switched on: chosen
 * ones do not turn with the frame. */
bool ss_mechanics_turn(ss_frame *frame, const double R[3][3], ss_error *err);
void ss_mechanics_turn_vector(const double R[3][3], double v[3]);

#endif
