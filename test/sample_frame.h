/* Frames to play with: four bodies, one of them asleep, a ball joint, a motor and five contacts. */
#ifndef STICKSLIP_TEST_SAMPLE_FRAME_H
#define STICKSLIP_TEST_SAMPLE_FRAME_H

#include "frame/fields.h"
#include "linalg/quat.h"

#include <stdio.h>
#include <string.h>

enum { BODIES = 4, JOINTS = 2, ROWS = 4, CONTACTS = 5, DEAD = 3 };

static inline void set_inertia(ss_frame *frame, int body, ss_quat rotation, double x, double y, double z)
{
    ss_mat3 turned = ss_mat3_rotate_tensor(ss_quat_to_matrix(rotation), ss_mat3_diagonal(x, y, z));
    ss_mat3_store(turned, frame->bodies.inertia[body]);
}

static inline ss_vec3 random_direction(ss_random *random)
{
    ss_vec3 v = {ss_random_normal(random), ss_random_normal(random), ss_random_normal(random)};
    return ss_vec3_normalise(v, NULL);
}

static inline ss_quat random_rotation(ss_random *random)
{
    return ss_quat_normalise((ss_quat){ss_random_normal(random), ss_random_normal(random),
                                       ss_random_normal(random), ss_random_normal(random)});
}

static inline void fill_bodies(ss_frame *frame, ss_random *random)
{
    for (int b = 0; b < BODIES; b++) {
        ss_quat q = random_rotation(random);
        frame->bodies.mass[b] = ss_random_between(random, 1, 3);
        ss_quat_store(q, frame->bodies.quaternion[b]);
        set_inertia(frame, b, q, 2, 3, 4);
        for (int i = 0; i < 3; i++) frame->bodies.position[b][i] = ss_random_between(random, -1, 1);
        for (int i = 0; i < 6; i++) frame->bodies.velocity[b][i] = ss_random_between(random, -2, 2);
        for (int i = 0; i < 6; i++) frame->bodies.force[b][i] = ss_random_between(random, -9, 9);
    }
    frame->bodies.state[DEAD] = -1;
}

/* A ball joint between the world and body 0, and a hinge motor of one row between 1 and 2. */
static inline void fill_joints(ss_frame *frame, ss_random *random)
{
    ss_constraints *joints = &frame->constraints;
    joints->rows[0] = 3, joints->rows[1] = 1;
    joints->pair[0][1] = 0;
    joints->pair[1][0] = 1, joints->pair[1][1] = 2;
    for (int i = 0; i < ROWS; i++) {
        for (int k = i < 3 ? 6 : 0; k < 12; k++) joints->jacobian[i][k] = ss_random_between(random, -1, 1);
        joints->violation[i] = ss_random_between(random, -0.1, 0.1);
        joints->time_derivative[i] = ss_random_between(random, -0.1, 0.1);
    }
    joints->bounds[3][0] = -5, joints->bounds[3][1] = 7;
}

static inline void fill_contacts(ss_frame *frame, ss_random *random)
{
    static const int pairs[CONTACTS][2] = {{SS_WORLD, 0}, {0, 1}, {1, 2}, {2, SS_WORLD}, {0, DEAD}};
    for (int c = 0; c < CONTACTS; c++) {
        memcpy(frame->contacts.pair[c], pairs[c], sizeof pairs[c]);
        ss_vec3_store(random_direction(random), frame->contacts.normal[c]);
        for (int i = 0; i < 3; i++) frame->contacts.point[c][i] = ss_random_between(random, -1, 1);
        frame->contacts.gap[c] = ss_random_between(random, -0.01, 0.01);
        for (int i = 0; i < 2; i++) frame->contacts.mu[c][i] = ss_random_between(random, 0.1, 0.5);
    }
    frame->contacts.mu[1][0] = INFINITY;
}

/* Without optional arrays; nothing about it is worth a word. */
static inline ss_frame *plain_frame(void)
{
    ss_frame *frame = ss_frame_create(BODIES, JOINTS, ROWS, CONTACTS, NULL);
    if (!frame) return NULL;
    ss_random random = ss_random_start(2026, 1);
    frame->h = 0.01;
    frame->time = 1.5;
    fill_bodies(frame, &random);
    fill_joints(frame, &random);
    fill_contacts(frame, &random);
    return frame;
}

static inline bool enable_all(ss_frame *frame, ss_error *err)
{
    for (int f = 0; f < ss_field_count; f++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", ss_fields[f].group, ss_fields[f].name);
        if (ss_fields[f].optional && !ss_frame_enable(frame, path, err)) return false;
    }
    return true;
}

/* Contacts 0 and 3 have an alternative each, the first one a test point besides. */
static inline void fill_alternatives(ss_frame *frame, ss_random *random)
{
    ss_subcontacts *sub = &frame->subcontacts;
    sub->contact_group[0] = 0;
    sub->contact_group[3] = 1;
    for (int r = 0; r < 3; r++) {
        sub->group[r] = r == 1;
        sub->alternative[r] = r < 2;
        sub->role[r] = r < 2 ? SS_ROW_FORCE : SS_ROW_TEST;
        sub->gap[r] = ss_random_between(random, -0.01, 0.01);
        ss_vec3_store(random_direction(random), sub->normal[r]);
        for (int i = 0; i < 3; i++) {
            sub->point[r][i] = ss_random_between(random, -1, 1);
            sub->surface_velocity[r][i] = ss_random_between(random, -1, 1);
        }
    }
    memcpy(sub->normal[2], frame->contacts.normal[0], sizeof sub->normal[2]);
    sub->cut[0] = 0.01, sub->cut[1] = 0.02;
}

/* The live bodies' own velocities as coordinates: T is the identity, M the mass of the bodies. */
static inline void fill_coordinates(ss_frame *frame)
{
    ss_generalized *g = &frame->generalized;
    int next = 0, entry = 0, count = 0;
    for (int b = 0; b < BODIES; b++) {
        bool live = ss_frame_is_live(frame, b);
        for (int i = 0; i < 6; i++) {
            g->map_start[6 * b + i] = count;
            if (!live) continue;
            g->map_column[count] = count;
            g->map[count] = 1.0;
            g->velocity[count] = frame->bodies.velocity[b][i];
            g->force[count] = frame->bodies.force[b][i];
            g->mass_start[count] = entry;
            for (int j = i < 3 ? i : 3; j <= i; j++, entry++) {
                g->mass_column[entry] = count - i + j;
                g->mass[entry] =
                    i < 3 ? frame->bodies.mass[b] : frame->bodies.inertia[b][3 * (i - 3) + j - 3];
            }
            count++;
        }
        if (live) g->tree[next][0] = count - 6, g->tree[next++][1] = 6;
    }
    g->map_start[6 * BODIES] = g->mass_start[count] = count;
    g->mass_start[count] = entry;
}

/* With all optional arrays, none of which says what its absence would, but that no joint is implied. */
static inline ss_frame *full_frame(void)
{
    ss_frame *frame = plain_frame();
    if (!frame || !ss_frame_add_alternatives(frame, 2, 3, NULL) || !ss_frame_add_further(frame, 2, NULL) ||
        !ss_frame_add_generalized(frame, 3, 18, 18, 27, NULL) || !enable_all(frame, NULL))
        return NULL;
    ss_random random = ss_random_start(2026, 2);
    for (int i = 0; i < ROWS; i++) frame->constraints.regularization[i] = ss_random_between(&random, 0.1, 1);
    frame->constraints.friction[3] = 0.3;
    frame->constraints.friction_row[3] = 1;
    frame->constraints.holonomic[1] = 0;
    frame->constraints.violation[3] = 0;
    for (int k = 0; k < 2; k++) { // the motor acts on two more bodies, one of them asleep
        frame->constraints.further_row[k] = 3;
        frame->constraints.further_body[k] = k ? DEAD : 0;
        for (int i = 0; i < 6; i++)
            frame->constraints.further_jacobian[k][i] = ss_random_between(&random, 0.1, 1);
    }
    for (int c = 0; c < CONTACTS; c++) {
        double u[3], v[3];
        ss_contact_tangents(frame, c, u, v);
        memcpy(frame->contacts.tangent[c], v, sizeof v); // a quarter turn away from the default
        for (int i = 0; i < 2; i++) frame->contacts.mu_static[c][i] += 0.25;
        frame->contacts.restitution[c] = ss_random_between(&random, 0.1, 0.9);
        frame->contacts.compliance[c] = ss_random_between(&random, 0.1, 1);
        frame->contacts.damping[c] = ss_random_between(&random, 1, 100);
        frame->contacts.adhesion[c] = ss_random_between(&random, 0, 5);
        frame->contacts.mu_rolling[c] = ss_random_between(&random, 0.001, 0.01);
        frame->contacts.mu_torsion[c] = ss_random_between(&random, 0.001, 0.01);
        frame->contacts.spin_coupling[c] = (uint8_t)(c % 2);
        for (int i = 0; i < 6; i++) frame->contacts.lever_arm[c][i] += 0.125;
    }
    fill_alternatives(frame, &random);
    fill_coordinates(frame);
    return frame;
}

static inline size_t length_of(const ss_field *field, const ss_frame *frame)
{
    return (size_t)ss_field_items(field, frame) * (size_t)field->width;
}

#endif
