/* Frames of bodies in contact, made without a file: what slides, what stands, and towers of boxes. */
#ifndef STICKSLIP_TEST_SCENES_H
#define STICKSLIP_TEST_SCENES_H

#include "known_cone.h"
#include "mechanics.h"

/* ---- one body --------------------------------------------------------------------------------------- */

static inline ss_frame *sliding_block(double slope, double mu, double speed)
{
    ss_frame *frame = known(block_on_ground(slope, mu), NULL);
    frame->bodies.velocity[0][0] = speed;
    return frame;
}

/* A rod of length 2 on its tip under angle a, tan a = 2, sliding; the tip's normal inverse mass is that of
 * 1 + 3 cos a (cos a - mu sin a) over m, negative for mu > 4/3: Painleve. */
static inline ss_frame *sliding_rod(double mu)
{
    ss_frame *frame = sliding_block(0.0, mu, 0.0);
    double c = 1.0 / sqrt(5.0), s = 2.0 / sqrt(5.0);
    set_ball(frame, 0, 1.0, 1.0 / 3.0);
    set_vector(frame->bodies.force[0], 0.0, 0.0, -GRAVITY);
    set_vector(frame->contacts.point[0], -c, 0.0, -s);
    frame->bodies.velocity[0][0] = -1.0;
    return frame;
}

/* ---- towers ----------------------------------------------------------------------------------------- */

/* Towers of boxes on the floor z = 0. Sizes, masses, friction and pushes are random; boxes are pushed
 * sideways so that some slide. On four feet the load can be shared in many ways, and with it the torque of
 * friction: velocities are not unique then. On three feet they are. */
typedef struct scene_recipe {
    uint64_t seed;
    int towers, height;
    int feet;        /* of each box: 3 or 4 */
    double push;     /* m/s, sideways */
    double mu_least; /* and up to 0.3 more */
} scene_recipe;

static inline void place_box(ss_frame *frame, int body, double mass, const double half[3], double x, double z)
{
    frame->bodies.mass[body] = mass;
    set_vector(frame->bodies.position[body], x, 0.0, z);
    set_vector(frame->bodies.force[body], 0.0, 0.0, -mass * GRAVITY);
    for (int i = 0; i < 3; i++) {
        double p = half[(i + 1) % 3], q = half[(i + 2) % 3];
        frame->bodies.inertia[body][4 * i] = mass / 3.0 * (p * p + q * q);
    }
}

/* Feet of the box above, at its corners or, of three, one in the middle of an edge; a bit inside. */
static inline void put_feet(ss_frame *frame, int feet, int above, bool on_floor, const double half[3],
                            double mu)
{
    static const double corners[2][4][2] = {{{-1, -1}, {1, -1}, {0, 1}},
                                            {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}}};
    const double *centre = frame->bodies.position[above];
    for (int k = 0; k < feet; k++) {
        const double *corner = corners[feet - 3][k];
        int c = feet * above + k;
        frame->contacts.pair[c][0] = on_floor ? SS_WORLD : above - 1;
        frame->contacts.pair[c][1] = above;
        set_vector(frame->contacts.point[c], centre[0] + 0.9 * half[0] * corner[0],
                   centre[1] + 0.9 * half[1] * corner[1], centre[2] - half[2]);
        set_vector(frame->contacts.normal[c], 0.0, 0.0, 1.0);
        frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = mu;
    }
}

static inline ss_frame *towers(const scene_recipe *from)
{
    ss_random random = ss_random_start(from->seed, 11);
    int boxes = from->towers * from->height;
    ss_frame *frame = known(ss_frame_create(boxes, 0, 0, from->feet * boxes, NULL), NULL);
    frame->h = 0.01;
    for (int t = 0, body = 0; t < from->towers; t++) {
        double z = 0.0, mu = from->mu_least + ss_random_between(&random, 0, 0.3);
        for (int level = 0; level < from->height; level++, body++) {
            double half[3], *velocity = frame->bodies.velocity[body];
            for (int i = 0; i < 3; i++) half[i] = ss_random_between(&random, 0.2, 0.4);
            place_box(frame, body, ss_random_between(&random, 0.5, 2), half, 3.0 * t, z + half[2]);
            for (int i = 0; i < 2; i++) velocity[i] = from->push * ss_random_between(&random, -1, 1);
            put_feet(frame, from->feet, body, level == 0, half, mu);
            z += 2.0 * half[2];
        }
    }
    return frame;
}

#endif
