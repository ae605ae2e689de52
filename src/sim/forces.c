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
    ss_mat3 turned = ss_mat3_from_columns(ss_vec3_cross(w, ss_mat3_column(&inertia, 0)),
                                          ss_vec3_cross(w, ss_mat3_column(&inertia, 1)),
                                          ss_vec3_cross(w, ss_mat3_column(&inertia, 2)));
    return ss_mat3_add_scaled(turned, -1.0, ss_mat3_skew(ss_mat3_apply(inertia, w)));
}

/* The midpoint rule I (w1 - w0) + h w x I w = 0, w = (w0 + w1) / 2, keeps energy and momentum of a free body,
 * because both are quadratic in w. Newton's method for w; what a step d of it leaves of this quadratic
 * equation is h d x I d / 2. *change = w1 - w0; false when it does not converge, which takes about a radian
 * per step. */
static bool turn_midway(ss_mat3 inertia, ss_vec3 before, double h, ss_vec3 *change)
{
    static const double rounding = 5e-15;
    inertia = ss_mat3_scale(1.0 / ss_mat3_trace(inertia), inertia); // of any unit
    ss_vec3 momentum = ss_mat3_apply(inertia, before), half = {0.0, 0.0, 0.0};
    ss_vec3 residual = ss_vec3_scale(0.5 * h, ss_vec3_cross(before, momentum));
    double enough = rounding * ss_vec3_norm(momentum);
    for (int i = 0; i < 8; i++) {
        if (ss_vec3_norm(residual) <= enough) {
            *change = ss_vec3_scale(2.0, half);
            return true;
        }
        ss_mat3 slope = ss_mat3_add_scaled(inertia, 0.5 * h, slope_of(inertia, ss_vec3_add(before, half)));
        ss_vec3 step;
        if (!ss_mat3_solve(slope, residual, &step)) return false;
        half = ss_vec3_subtract(half, step);
        residual = ss_vec3_scale(0.5 * h, ss_vec3_cross(step, ss_mat3_apply(inertia, step)));
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
    ss_vec3 w = ss_quat_rotate_back(q, ss_vec3_load(body->velocity + 3)), change = {0.0, 0.0, 0.0};
    bool is_slow = sim->h * ss_vec3_norm(w) < slow;
    if (sim->options.gyro != SS_GYRO_IMPLICIT || is_slow) {
        *midway = sim->options.gyro == SS_GYRO_IMPLICIT;
        return ss_quat_rotate(q, ss_vec3_cross(ss_mat3_apply(inertia, w), w));
    }

    /* Too fast for the midpoint rule: one Newton step for I (w1 - w0) + h w1 x I w1 = 0, which loses
     * energy, but cannot blow up. */
    *midway = turn_midway(inertia, w, sim->h, &change);
    if (!*midway) {
        ss_mat3 slope = ss_mat3_add_scaled(inertia, sim->h, slope_of(inertia, w)), inverse;
        ss_vec3 residual = ss_vec3_scale(-sim->h, ss_vec3_cross(w, ss_mat3_apply(inertia, w)));
        if (ss_mat3_inverse(slope, &inverse)) change = ss_mat3_apply(inverse, residual);
    }
    return ss_quat_rotate(q, ss_vec3_scale(1.0 / sim->h, ss_mat3_apply(inertia, change)));
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
