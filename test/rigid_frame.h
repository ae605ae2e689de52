/* Frames of rigid bodies at random places, with contacts and joints, and the cone problems they make. */
#ifndef STICKSLIP_TEST_RIGID_FRAME_H
#define STICKSLIP_TEST_RIGID_FRAME_H

#include "known_cone.h"

#include <stickslip/formulation.h>

#include "linalg/quat.h"

#include <string.h>

/* How a frame becomes a cone problem. */
typedef struct conversion {
    int gap_term;
    double gamma; /* share of overlaps and of joint errors */
    double mu_max;
    bool refuse_bounds;
} conversion;

static inline conversion defaults(void)
{
    return (conversion){.gap_term = SS_GAP_PREVENTIVE, .gamma = 1.0};
}

/* The frame assembled; NULL when that fails. */
static inline ss_assembly *assembly_of(const ss_frame *frame, const conversion *how, ss_error *err)
{
    ss_assembly *assembly = ss_assembly_create(ss_formulation_find("cone"), NULL, err);
    if (!assembly) return NULL;
    ss_step_options *step = ss_assembly_options(assembly);
    step->gap_term = how->gap_term;
    step->gamma = step->joint_gamma = how->gamma;
    step->mu_max = how->mu_max;
    if (ss_assemble(assembly, frame, NULL, err)) return assembly;
    ss_assembly_destroy(assembly);
    return NULL;
}

static inline ss_cone *cone_from_frame(const ss_frame *frame, const conversion *how, const char *place,
                                       ss_findings *losses, ss_error *err)
{
    ss_assembly *assembly = assembly_of(frame, how, err);
    ss_cone_wish wish = {.form = SS_CONE_GLOBAL, .refuse_bounds = how->refuse_bounds};
    ss_cone *cone = assembly ? ss_assembly_cone(assembly, &wish, place, losses, err) : NULL;
    ss_assembly_destroy(assembly);
    return cone;
}

static inline ss_cone *cone_local_from_frame(const ss_frame *frame, const conversion *how, bool eliminate,
                                             const char *place, ss_findings *losses, ss_error *err)
{
    ss_assembly *assembly = assembly_of(frame, how, err);
    ss_cone_wish wish = {.form = SS_CONE_LOCAL, .eliminate = eliminate, .refuse_bounds = how->refuse_bounds};
    ss_cone *cone = assembly ? ss_assembly_cone(assembly, &wish, place, losses, err) : NULL;
    ss_assembly_destroy(assembly);
    return cone;
}

static inline ss_answer *cone_recover(const ss_frame *frame, const conversion *how,
                                      const ss_cone_point *point, ss_error *err)
{
    ss_assembly *assembly = assembly_of(frame, how, err);
    ss_answer *answer = assembly ? ss_answer_create(frame, ss_frame_has_moments(frame), err) : NULL;
    if (answer && !ss_assembly_recover_cone(assembly, point, answer, err)) {
        ss_answer_destroy(answer);
        answer = NULL;
    }
    ss_assembly_destroy(assembly);
    return answer;
}

static inline bool cone_point_from_answer(const ss_frame *frame, const conversion *how, const ss_cone *cone,
                                          const ss_answer *answer, ss_cone_point *point, ss_error *err)
{
    ss_assembly *assembly = assembly_of(frame, how, err);
    bool good = assembly && ss_assembly_cone_point(assembly, cone, answer, point, err);
    ss_assembly_destroy(assembly);
    return good;
}

static inline ss_vec3 random_vector(ss_random *random, double size)
{
    return (ss_vec3){size * ss_random_between(random, -1, 1), size * ss_random_between(random, -1, 1),
                     size * ss_random_between(random, -1, 1)};
}

static inline ss_vec3 random_direction(ss_random *random)
{
    double t[3];
    random_unit(random, 3, t);
    return ss_vec3_load(t);
}

static inline ss_mat3 random_rotation(ss_random *random)
{
    return ss_quat_to_matrix(ss_quat_exponential(random_vector(random, 3.0)));
}

static inline void fill_body(ss_random *random, ss_frame *frame, int b)
{
    ss_bodies *bodies = &frame->bodies;
    bodies->mass[b] = ss_random_between(random, 1, 4);
    ss_mat3 inertia = ss_mat3_rotate_tensor(random_rotation(random), ss_mat3_diagonal(1.0, 1.5, 2.0));
    ss_mat3_store(inertia, bodies->inertia[b]);
    ss_vec3_store(random_vector(random, 2.0), bodies->position[b]);
    for (int i = 0; i < 6; i++) {
        bodies->velocity[b][i] = ss_random_between(random, -1, 1);
        bodies->force[b][i] = ss_random_between(random, -10, 10);
    }
}

static inline void pick_pair(ss_random *random, int bodies, int pair[2])
{
    pair[0] = ss_random_below(random, bodies + 1) - 1;
    do pair[1] = ss_random_below(random, bodies + 1) - 1;
    while (pair[1] == pair[0]);
}

static inline void fill_contact(ss_random *random, ss_frame *frame, int c)
{
    ss_contacts *contacts = &frame->contacts;
    ss_vec3 n = random_direction(random), t1, t2;
    double turn = ss_random_between(random, 0, 6), side[3];
    pick_pair(random, frame->bodies.count, contacts->pair[c]);
    ss_vec3_tangents(n, &t1, &t2);
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_scale(cos(turn), t1), sin(turn), t2), side);
    ss_vec3_store(n, contacts->normal[c]);
    memcpy(contacts->tangent[c], side, sizeof side);
    ss_vec3_store(random_vector(random, 3.0), contacts->point[c]);
    contacts->gap[c] = ss_random_between(random, -0.01, 0.01);
    contacts->mu[c][0] = contacts->mu[c][1] = ss_random_between(random, 0.1, 1);
}

static inline void fill_joint(ss_random *random, ss_frame *frame, int joint, int first, int rows)
{
    ss_constraints *constraints = &frame->constraints;
    pick_pair(random, frame->bodies.count, constraints->pair[joint]);
    constraints->rows[joint] = rows;
    for (int row = first; row < first + rows; row++) {
        constraints->violation[row] = ss_random_between(random, -0.01, 0.01);
        constraints->time_derivative[row] = ss_random_between(random, -0.1, 0.1);
        for (int k = 0; k < 12; k++) {
            bool moves = constraints->pair[joint][k / 6] != SS_WORLD;
            constraints->jacobian[row][k] = moves ? ss_random_between(random, -1, 1) : 0.0;
        }
    }
}

/* Rigid bodies at random places with random contacts (and tangents) and joints of three rows. */
static inline ss_frame *rigid_frame(uint64_t seed, int bodies, int contacts, int joints)
{
    ss_error err;
    ss_random random = ss_random_start(seed, 2);
    ss_frame *frame = known(ss_frame_create(bodies, joints, 3 * joints, contacts, &err), &err);
    if (!ss_frame_enable(frame, "contacts/t_u", &err)) known(NULL, &err);
    frame->h = 1.0 / 128;
    for (int b = 0; b < bodies; b++) fill_body(&random, frame, b);
    for (int c = 0; c < contacts; c++) fill_contact(&random, frame, c);
    for (int j = 0; j < joints; j++) fill_joint(&random, frame, j, 3 * j, 3);
    return frame;
}

static inline ss_cone *global_of(const ss_frame *frame, const conversion *options)
{
    ss_error err;
    return known(cone_from_frame(frame, options, "", NULL, &err), &err);
}

static inline bool tells(const ss_findings *findings, ss_finding_kind kind, const char *place,
                         const char *part)
{
    for (size_t k = 0; k < findings->count; k++) {
        const ss_finding *item = &findings->items[k];
        if (item->kind == kind && strcmp(item->place, place) == 0 && strstr(item->message, part)) return true;
    }
    return false;
}

#endif
