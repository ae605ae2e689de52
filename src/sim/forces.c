/* The force and torque on a body that do not depend on the solution of the step. */
#include "sim/state.h"

#include "linalg/quat.h"
#include "model/joint_rows.h"

static void add(double *to, double factor, ss_vec3 v)
{
    to[0] += factor * v.x;
    to[1] += factor * v.y;
    to[2] += factor * v.z;
}

/* Derivative of w x I w. */
static ss_mat3 slope_of(ss_mat3 inertia, ss_vec3 w)
{
    return ss_mat3_add_scaled(ss_mat3_multiply(ss_mat3_skew(w), inertia), -1.0,
                              ss_mat3_skew(ss_mat3_apply(inertia, w)));
}

/* The midpoint rule I (w1 - w0) + h w x I w = 0, w = (w0 + w1) / 2, keeps energy and momentum of a free body,
 * because both are quadratic in w. Newton's method; false when it does not converge, which takes about a
 * radian per step. */
static bool turn_midway(ss_mat3 inertia, ss_vec3 before, double h, ss_vec3 *after)
{
    static const double rounding = 1e-14;
    double enough = rounding * ss_vec3_norm(ss_mat3_apply(inertia, before));
    *after = before;
    for (int i = 0; i < 8; i++) {
        ss_vec3 middle = ss_vec3_scale(0.5, ss_vec3_add(before, *after));
        ss_vec3 residual = ss_vec3_add_scaled(ss_mat3_apply(inertia, ss_vec3_subtract(*after, before)), h,
                                              ss_vec3_cross(middle, ss_mat3_apply(inertia, middle)));
        if (ss_vec3_norm(residual) <= enough) return true;
        ss_mat3 inverse;
        if (!ss_mat3_inverse(ss_mat3_add_scaled(inertia, 0.5 * h, slope_of(inertia, middle)), &inverse))
            return false;
        *after = ss_vec3_subtract(*after, ss_mat3_apply(inverse, residual));
    }
    return false;
}

/* Implicitly, it is the torque that changes w within the step as free rotation does. What the midpoint rule
 * adds to the explicit torque is a share h |w| of it, and the torque itself changes w by such a share. */
ss_vec3 ss_sim_gyroscopic_torque(const ss_sim *sim, const ss_body *body, bool *midway)
{
    static const double slow = 1e-7; // rad per step: its square is rounding
    ss_mat3 inertia = ss_mat3_load(body->inertia);
    bool isotropic = inertia.m[0][0] == inertia.m[1][1] && inertia.m[1][1] == inertia.m[2][2] &&
                     inertia.m[0][1] == 0.0 && inertia.m[0][2] == 0.0 && inertia.m[1][2] == 0.0;
    *midway = false;
    if (sim->options.gyro == SS_GYRO_OFF || isotropic) return (ss_vec3){0.0, 0.0, 0.0};
    if (ss_vec3_max_abs(ss_vec3_load(body->velocity + 3)) == 0.0) { // as much of a heap does before it lands
        *midway = sim->options.gyro == SS_GYRO_IMPLICIT;
        return (ss_vec3){0.0, 0.0, 0.0};
    }

    ss_quat q = ss_quat_load(body->quaternion);
    ss_vec3 w = ss_quat_rotate_back(q, ss_vec3_load(body->velocity + 3)), after = w;
    ss_vec3 explicit = ss_vec3_cross(ss_mat3_apply(inertia, w), w);
    if (sim->options.gyro != SS_GYRO_IMPLICIT) return ss_quat_rotate(q, explicit);
    bool is_slow = sim->h * ss_vec3_norm(w) < slow;
    *midway = is_slow || turn_midway(inertia, w, sim->h, &after);
    if (is_slow) return ss_quat_rotate(q, explicit);

    /* Too fast for the midpoint rule: one Newton step for I (w1 - w0) + h w1 x I w1 = 0, which loses
     * energy, but cannot blow up. */
    if (!*midway) {
        ss_mat3 slope = ss_mat3_add_scaled(inertia, sim->h, slope_of(inertia, w)), inverse;
        after = w;
        if (ss_mat3_inverse(slope, &inverse)) {
            ss_vec3 residual = ss_vec3_scale(sim->h, ss_vec3_cross(w, ss_mat3_apply(inertia, w)));
            after = ss_vec3_subtract(w, ss_mat3_apply(inverse, residual));
        }
    }
    ss_vec3 torque = ss_vec3_scale(1.0 / sim->h, ss_mat3_apply(inertia, ss_vec3_subtract(after, w)));
    return ss_quat_rotate(q, torque);
}

void ss_sim_plain_force(const ss_sim *sim, const ss_body *body, double wrench[6])
{
    memcpy(wrench, body->force, 6 * sizeof *wrench);
    add(wrench, body->mass * ss_body_gravity_scale(body), ss_vec3_load(ss_world_gravity(sim->world)));
    if (body->linear_damping != 0.0)
        add(wrench, -body->linear_damping * body->mass, ss_vec3_load(body->velocity));
    if (body->angular_damping != 0.0) {
        ss_quat q = ss_quat_load(body->quaternion);
        ss_vec3 w = ss_quat_rotate_back(q, ss_vec3_load(body->velocity + 3));
        ss_vec3 momentum = ss_quat_rotate(q, ss_mat3_apply(ss_mat3_load(body->inertia), w));
        add(wrench + 3, -body->angular_damping, momentum);
    }
}

void ss_sim_force(const ss_sim *sim, const ss_body *body, double wrench[6])
{
    bool midway;
    ss_sim_plain_force(sim, body, wrench);
    add(wrench + 3, 1.0, ss_sim_gyroscopic_torque(sim, body, &midway));
}

void ss_sim_link_force(const ss_sim *sim, const ss_body *body, const ss_link *link,
                       const double world_inertia[9], double wrench[6])
{
    ss_sim_plain_force(sim, body, wrench);
    if (link->has_force) {
        add(wrench, 1.0, link->force);
        add(wrench + 3, 1.0, link->torque);
        return;
    }
    ss_mat3 inertia = ss_mat3_load(world_inertia);
    if (sim->options.gyro != SS_GYRO_OFF)
        add(wrench + 3, -1.0, ss_vec3_cross(link->spin, ss_mat3_apply(inertia, link->spin)));
    add(wrench, -body->mass, link->acceleration);
    add(wrench + 3, -1.0, ss_mat3_apply(inertia, link->angular));
}

void ss_sim_add_joint_forces(const ss_sim *sim, const int *place, double (*wrench)[6])
{
    for (int j = 0; j < ss_world_joint_count(sim->world); j++) {
        const ss_joint *joint = ss_world_joint(sim->world, j);
        if (joint->law[0].force == 0.0 && joint->law[1].force == 0.0) continue;
        if (!ss_joint_is_active(sim->world, joint)) continue;
        double force[SS_JOINT_BODIES][6] = {{0}};
        ss_joint_user_force(sim->world, j, force);
        for (int k = 0; k < joint->body_count; k++) {
            int body = ss_joint_body(joint, k), to = body != SS_WORLD && place ? place[body] : body;
            for (int i = 0; to >= 0 && i < 6; i++) wrench[to][i] += force[k][i];
        }
    }
}
