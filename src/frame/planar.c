/* Planar problems live in space, in a plane z = const: bodies move along x and y and turn about z. */
#include <stickslip/frame.h>

#include "linalg/mat3.h"

void ss_frame_set_planar_body(ss_frame *frame, int body, double mass, double inertia, const double pose[3],
                              const double velocity[3], const double force[3])
{
    ss_bodies *bodies = &frame->bodies;
    double *position = bodies->position[body], *q = bodies->quaternion[body];
    double *v = bodies->velocity[body], *f = bodies->force[body];
    bodies->mass[body] = mass;
    position[0] = pose[0], position[1] = pose[1], position[2] = 0;
    q[0] = cos(0.5 * pose[2]), q[1] = 0, q[2] = 0, q[3] = sin(0.5 * pose[2]);
    v[0] = velocity[0], v[1] = velocity[1], v[2] = v[3] = v[4] = 0, v[5] = velocity[2];
    f[0] = force[0], f[1] = force[1], f[2] = f[3] = f[4] = 0, f[5] = force[2];
    ss_mat3_store(ss_mat3_diagonal(inertia, inertia, inertia), bodies->inertia[body]);
}

/* Components of a twist, a wrench or a Jacobian block that leave the plane: linear z, angular x and y. */
static double twist_out_of_plane(const double twist[6])
{
    return ss_vec3_max_abs(ss_vec3_load(twist + 2));
}

static double twist_in_plane(const double twist[6])
{
    return fmax(fabs(twist[0]), fmax(fabs(twist[1]), fabs(twist[5])));
}

/* Rounding of data that was rotated or subtracted on the way, but no real motion. */
#define ROUNDING 1e-12

/* The largest part in the plane and out of it, over all vectors of one kind: the first is the yardstick for
 * the second. */
typedef struct extent {
    double in, out;
} extent;

static void widen(extent *e, double in, double out)
{
    e->in = fmax(e->in, in);
    e->out = fmax(e->out, out);
}

static bool is_flat(extent e)
{
    return e.out <= ROUNDING * e.in;
}

bool ss_frame_is_planar(const ss_frame *frame)
{
    // Forces first: in space, gravity alone tells mostly.
    const ss_bodies *bodies = &frame->bodies;
    extent velocity = {0}, force = {0}, inertia = {0};
    for (int b = 0; b < bodies->count; b++) {
        const double *f = bodies->force[b];
        if (ss_frame_is_live(frame, b)) widen(&force, twist_in_plane(f), twist_out_of_plane(f));
    }
    if (!is_flat(force)) return false;
    for (int b = 0; b < bodies->count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        const double *v = bodies->velocity[b], *I = bodies->inertia[b];
        widen(&velocity, twist_in_plane(v), twist_out_of_plane(v));
        // I_xz and I_yz would turn a spin about z into a torque about x and y
        widen(&inertia, fabs(I[8]), fmax(fmax(fabs(I[2]), fabs(I[5])), fmax(fabs(I[6]), fabs(I[7]))));
    }
    if (!is_flat(velocity) || !is_flat(inertia)) return false;

    const ss_constraints *joints = &frame->constraints;
    extent rows = {0};
    for (int k = 0, i = 0; k < joints->count; k++)
        for (int n = 0; n < joints->rows[k] && i < joints->row_count; n++, i++)
            for (int side = 0; side < 2; side++) {
                const double *block = joints->jacobian[i] + 6 * side;
                if (ss_frame_is_live(frame, joints->pair[k][side]))
                    widen(&rows, twist_in_plane(block), twist_out_of_plane(block));
            }
    for (int i = 0; i < joints->further_count; i++) {
        const double *block = joints->further_jacobian[i];
        if (ss_frame_is_live(frame, joints->further_body[i]))
            widen(&rows, twist_in_plane(block), twist_out_of_plane(block));
    }
    if (!is_flat(rows)) return false;

    const ss_contacts *contacts = &frame->contacts;
    extent normal = {0}, arm = {0}, surface = {0};
    for (int c = 0; c < contacts->count; c++) {
        const double *n = contacts->normal[c], *t = contacts->tangent ? contacts->tangent[c] : NULL;
        double r[2][3];
        ss_contact_lever_arms(frame, c, r[0], r[1]);
        widen(&normal, fmax(fabs(n[0]), fabs(n[1])), fabs(n[2]));
        for (int side = 0; side < 2; side++)
            if (ss_frame_is_live(frame, contacts->pair[c][side]))
                widen(&arm, fmax(fabs(r[side][0]), fabs(r[side][1])), fabs(r[side][2]));
        // a tangent between the plane and the upright would mix the two friction coefficients
        if (t && !(fabs(t[2]) <= ROUNDING || fmax(fabs(t[0]), fabs(t[1])) <= ROUNDING)) return false;
        const double *moves = contacts->surface_velocity ? contacts->surface_velocity[c] : NULL;
        if (moves) widen(&surface, fmax(fabs(moves[0]), fabs(moves[1])), fabs(moves[2]));
    }
    return is_flat(normal) && is_flat(arm) && is_flat(surface);
}
