#include "conformance/frames.h"

#include <math.h>
#include <string.h>

static void set_vector(double *to, double x, double y, double z)
{
    to[0] = x, to[1] = y, to[2] = z;
}

void ss_mechanics_ball(ss_frame *frame, int body, double mass, double moment)
{
    frame->bodies.mass[body] = mass;
    for (int i = 0; i < 3; i++) frame->bodies.inertia[body][4 * i] = moment;
}

/* ---- one body --------------------------------------------------------------------------------------- */

ss_frame *ss_mechanics_block(double slope, double mu, double speed, ss_error *err)
{
    const double weight = 2.0 * SS_MECHANICS_GRAVITY;
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, err);
    if (!frame) return NULL;
    frame->h = 0.01;
    ss_mechanics_ball(frame, 0, 2.0, 0.5);
    set_vector(frame->bodies.force[0], weight * sin(slope), 0.0, -weight * cos(slope));
    frame->bodies.velocity[0][0] = speed;
    frame->contacts.pair[0][1] = 0;
    set_vector(frame->contacts.normal[0], 0.0, 0.0, 1.0);
    frame->contacts.mu[0][0] = frame->contacts.mu[0][1] = mu;
    return frame;
}

ss_frame *ss_mechanics_rod(double mu, ss_error *err)
{
    double c = 1.0 / sqrt(5.0), s = 2.0 / sqrt(5.0);
    ss_frame *frame = ss_mechanics_block(0.0, mu, -1.0, err);
    if (!frame) return NULL;
    ss_mechanics_ball(frame, 0, 1.0, 1.0 / 3.0);
    set_vector(frame->bodies.force[0], 0.0, 0.0, -SS_MECHANICS_GRAVITY);
    set_vector(frame->contacts.point[0], -c, 0.0, -s);
    return frame;
}

/* ---- towers ----------------------------------------------------------------------------------------- */

ss_frame *ss_mechanics_towers(const ss_tower_recipe *from, ss_error *err)
{
    static const double corners[2][4][2] = {{{-1, -1}, {1, -1}, {0, 1}},
                                            {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}}};
    ss_random random = ss_random_start(from->seed, 11);
    int boxes = from->towers * from->height, feet = from->feet;
    ss_frame *frame = ss_frame_create(boxes, 0, 0, feet * boxes, err);
    if (!frame) return NULL;
    frame->h = 0.01;
    for (int t = 0, body = 0; t < from->towers; t++) {
        double z = 0.0, mu = from->mu_least + ss_random_between(&random, 0, 0.3);
        for (int level = 0; level < from->height; level++, body++) {
            double half[3], *velocity = frame->bodies.velocity[body], *centre = frame->bodies.position[body];
            for (int i = 0; i < 3; i++) half[i] = ss_random_between(&random, 0.2, 0.4);
            double mass = frame->bodies.mass[body] = ss_random_between(&random, 0.5, 2);
            set_vector(centre, 3.0 * t, 0.0, z + half[2]);
            set_vector(frame->bodies.force[body], 0.0, 0.0, -mass * SS_MECHANICS_GRAVITY);
            for (int i = 0; i < 3; i++) {
                double p = half[(i + 1) % 3], q = half[(i + 2) % 3];
                frame->bodies.inertia[body][4 * i] = mass / 3.0 * (p * p + q * q);
            }
            for (int i = 0; i < 2; i++) velocity[i] = from->push * ss_random_between(&random, -1, 1);

            // Its feet, at its corners or, of three, one in the middle of an edge; a bit inside.
            for (int k = 0; k < feet; k++) {
                const double *corner = corners[feet - 3][k];
                int c = feet * body + k;
                frame->contacts.pair[c][0] = level == 0 ? SS_WORLD : body - 1;
                frame->contacts.pair[c][1] = body;
                set_vector(frame->contacts.point[c], centre[0] + 0.9 * half[0] * corner[0],
                           centre[1] + 0.9 * half[1] * corner[1], centre[2] - half[2]);
                set_vector(frame->contacts.normal[c], 0.0, 0.0, 1.0);
                frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = mu;
            }
            z += 2.0 * half[2];
        }
    }
    return frame;
}

/* ---- another observer ------------------------------------------------------------------------------- */

void ss_mechanics_turn_vector(const double R[3][3], double v[3])
{
    double old[3] = {v[0], v[1], v[2]};
    for (int i = 0; i < 3; i++) v[i] = R[i][0] * old[0] + R[i][1] * old[1] + R[i][2] * old[2];
}

bool ss_mechanics_turn(ss_frame *frame, const double R[3][3], ss_error *err)
{
    if (!ss_frame_enable(frame, "contacts/t_u", err)) return false;
    for (int b = 0; b < frame->bodies.count; b++) {
        ss_mechanics_turn_vector(R, frame->bodies.position[b]);
        for (int k = 0; k < 6; k += 3) {
            ss_mechanics_turn_vector(R, frame->bodies.velocity[b] + k);
            ss_mechanics_turn_vector(R, frame->bodies.force[b] + k);
        }

        // The inertia is a tensor: R I R'.
        double old[9], *tensor = frame->bodies.inertia[b];
        memcpy(old, tensor, sizeof old);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double sum = 0.0;
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 3; l++) sum += R[i][k] * old[3 * k + l] * R[j][l];
                tensor[3 * i + j] = sum;
            }
        }
    }

    for (int i = 0; i < frame->constraints.row_count; i++) {
        for (int k = 0; k < 12; k += 3) ss_mechanics_turn_vector(R, frame->constraints.jacobian[i] + k);
    }
    for (int i = 0; i < frame->constraints.further_count; i++) {
        for (int k = 0; k < 6; k += 3)
            ss_mechanics_turn_vector(R, frame->constraints.further_jacobian[i] + k);
    }
    for (int c = 0; c < frame->contacts.count; c++) {
        ss_mechanics_turn_vector(R, frame->contacts.point[c]);
        ss_mechanics_turn_vector(R, frame->contacts.normal[c]);
        ss_mechanics_turn_vector(R, frame->contacts.tangent[c]);
        if (frame->contacts.surface_velocity)
            ss_mechanics_turn_vector(R, frame->contacts.surface_velocity[c]);
        for (int k = 0; frame->contacts.lever_arm && k < 6; k += 3)
            ss_mechanics_turn_vector(R, frame->contacts.lever_arm[c] + k);
    }
    return true;
}
