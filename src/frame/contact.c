/* Geometry of contacts, and what optional arrays mean when they are absent. */
#include "frame/fields.h"

#include "linalg/vec3.h"

static bool is_body(const ss_frame *frame, int body)
{
    return body >= 0 && body < frame->bodies.count;
}

bool ss_frame_is_live(const ss_frame *frame, int body)
{
    return is_body(frame, body) && frame->bodies.state[body] > 0;
}

void ss_contact_tangents(const ss_frame *frame, int contact, double t_u[3], double t_v[3])
{
    ss_vec3 normal = ss_vec3_load(frame->contacts.normal[contact]), u, v;
    if (frame->contacts.tangent) {
        u = ss_vec3_load(frame->contacts.tangent[contact]);
        v = ss_vec3_cross(normal, u);
    } else {
        ss_vec3_tangents(normal, &u, &v);
    }
    ss_vec3_store(u, t_u);
    ss_vec3_store(v, t_v);
}

static ss_vec3 arm_to_point(const ss_frame *frame, int contact, int side)
{
    int body = frame->contacts.pair[contact][side];
    if (!is_body(frame, body)) return (ss_vec3){0};
    return ss_vec3_subtract(ss_vec3_load(frame->contacts.point[contact]),
                            ss_vec3_load(frame->bodies.position[body]));
}

static ss_vec3 lever_arm(const ss_frame *frame, int contact, int side)
{
    if (frame->contacts.lever_arm && is_body(frame, frame->contacts.pair[contact][side]))
        return ss_vec3_load(frame->contacts.lever_arm[contact] + 3 * side);
    return arm_to_point(frame, contact, side);
}

void ss_contact_lever_arms(const ss_frame *frame, int contact, double r_a[3], double r_b[3])
{
    ss_vec3_store(lever_arm(frame, contact, 0), r_a);
    ss_vec3_store(lever_arm(frame, contact, 1), r_b);
}

bool ss_field_default(const ss_field *field, const ss_frame *frame, int item, double values[SS_FIELD_WIDTH])
{
    for (int k = 0; k < field->width; k++) values[k] = field->fallback;
    switch (field->offset) {
    case offsetof(ss_frame, bodies.quaternion):
        values[0] = 1;
        return false;
    case offsetof(ss_frame, bodies.id):
        values[0] = item + 1.0;
        return true;
    case offsetof(ss_frame, constraints.rows): {
        /* One row for each joint and the rest for the last, so that they add up; with fewer rows than joints,
         * which is a fault, the last joints get none. */
        int rows = frame->constraints.row_count, joints = frame->constraints.count;
        values[0] = rows < joints ? item < rows : item == joints - 1 ? rows - joints + 1 : 1;
        return true;
    }
    case offsetof(ss_frame, constraints.bounds):
        values[0] = -INFINITY;
        values[1] = INFINITY;
        return false;
    case offsetof(ss_frame, contacts.mu_static):
        values[0] = frame->contacts.mu[item][0];
        values[1] = frame->contacts.mu[item][1];
        return true;
    case offsetof(ss_frame, contacts.tangent): {
        ss_vec3 u, v;
        ss_vec3_tangents(ss_vec3_load(frame->contacts.normal[item]), &u, &v);
        ss_vec3_store(u, values);
        return true;
    }
    case offsetof(ss_frame, contacts.lever_arm):
        ss_vec3_store(arm_to_point(frame, item, 0), values);
        ss_vec3_store(arm_to_point(frame, item, 1), values + 3);
        return true;
    default:
        return false;
    }
}
