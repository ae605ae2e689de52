/* Limits, motors, springs and friction along the coordinates of a joint, each a row of its own. */
#include "model/joint_internal.h"
#include "model/world.h"

#include <math.h>
#include <string.h>

/* One coordinate, and where its rows go. */
typedef struct coordinate {
    const ss_joint_pose *pose;
    const ss_joint *joint;
    const ss_axis_law *law;
    ss_joint_quantity now;
    double speed;
    double margin; /* m or rad: how near a limit must be to have a row even at rest */
    double h;
    ss_joint_equation *rows;
    int *count;
    int *block;
} coordinate;

static ss_joint_equation *add_row(const coordinate *along, double sign)
{
    ss_joint_equation *row = &along->rows[(*along->count)++];
    ss_joint_fill_equation(along->pose, &along->now, sign, row);
    row->block = (*along->block)++;
    return row;
}

/* ---- limits ----------------------------------------------------------------------------------------- */

static void add_limit(const coordinate *along, double distance, double sign)
{
    if (!(distance <= 2.0 * along->h * fabs(along->speed) + along->margin)) return;
    ss_joint_equation *row = add_row(along, sign);
    row->violation = distance;
    row->holonomic = true;
    row->bounds[0] = 0.0;
}

/* ---- springs and motors ----------------------------------------------------------------------------- */

/* x = -h (k (error + h u) + d u), u relative to the wanted speed: u + x/(h (h k + d)) + k
 * error/(h k + d) = 0 */
static ss_joint_equation *add_spring(const coordinate *along, double k, double d, double rest,
                                     double rest_speed)
{
    double resistance = along->h * k + d;
    ss_joint_equation *row = add_row(along, 1.0);
    row->regularization = 1.0 / (along->h * resistance);
    row->time_derivative = k * (along->now.value - rest) / resistance - rest_speed;
    return row;
}

static void bound(ss_joint_equation *row, double force)
{
    if (!(force > 0.0)) return;
    row->bounds[0] = -force;
    row->bounds[1] = force;
}

static void add_motor(const coordinate *along)
{
    const ss_axis_law *law = along->law;
    bool springs = law->stiffness > 0.0 || law->damping > 0.0;
    bool own_gains = law->motor_stiffness > 0.0 || law->motor_damping > 0.0;
    double length =
        ss_joint_keeps_coordinate(along->joint) && law->rest == 0.0 ? along->joint->start_length : law->rest;

    /* The spring, which SS_MOTOR_POSITION takes over unless it has gains of its own. */
    if (law->motor == SS_MOTOR_POSITION && !own_gains) {
        if (springs)
            bound(add_spring(along, law->stiffness, law->damping, law->target, law->target_speed),
                  law->max_force);
        return;
    }
    if (springs) add_spring(along, law->stiffness, law->damping, length, 0.0);

    if (law->motor == SS_MOTOR_POSITION)
        bound(add_spring(along, law->motor_stiffness, law->motor_damping, law->target, law->target_speed),
              law->max_force);
    if (law->motor == SS_MOTOR_OFF || law->motor == SS_MOTOR_POSITION) return;

    /* A drive arrives at target + h target_speed by the end of the step, whatever it was off at its start. */
    ss_joint_equation *row = add_row(along, 1.0);
    bound(row, law->max_force);
    row->time_derivative = law->motor == SS_MOTOR_VELOCITY
                               ? -law->target_speed
                               : (along->now.value - law->target) / along->h - law->target_speed;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

static bool has_law(const ss_axis_law *law)
{
    return law->limited || law->motor != SS_MOTOR_OFF || law->stiffness > 0.0 || law->damping > 0.0 ||
           law->friction > 0.0 || law->load_friction > 0.0 || law->armature > 0.0;
}

int ss_joint_law_rows(const ss_world *world, int joint, double h,
                      ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST])
{
    const ss_joint *item = ss_world_joint(world, joint);
    if (!has_law(&item->law[0]) && !has_law(&item->law[1])) return 0;
    if (!ss_joint_is_active(world, item)) return 0;
    ss_joint_pose pose = ss_joint_pose_now(world, item);
    return ss_joint_add_laws(world, &pose, h, rows, 0);
}

int ss_joint_add_laws(const ss_world *world, const ss_joint_pose *pose, double h,
                      ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST], int count)
{
    const ss_joint *joint = pose->joint;
    int block = count > 0;
    for (int i = 0; i < ss_joint_coordinate_count(joint); i++) {
        const ss_axis_law *law = &joint->law[i];
        if (!has_law(law)) continue;
        coordinate along = {.pose = pose, .joint = joint, .law = law, .h = h, .rows = rows};
        along.count = &count;
        along.block = &block;
        along.now = ss_joint_coordinate_now(pose, i);
        along.speed = ss_joint_speed(world, joint, along.now.jacobian);

        /* What a coordinate may do within a step from rest: fall, or a twentieth of its range. Angles have a
         * scale of their own. */
        double range = law->upper - law->lower;
        double fall = 2.0 * h * h * ss_vec3_norm(ss_vec3_load(world->gravity));
        along.margin =
            ss_joint_coordinate_is_angle(joint, i) ? 0.1 : (isfinite(range) ? 0.05 * range : 0.0) + fall;

        /* Limits that leave no room lock the coordinate, with one equation instead of two bounds. */
        if (law->limited && law->lower < law->upper) {
            add_limit(&along, along.now.value - law->lower, 1.0);
            add_limit(&along, law->upper - along.now.value, -1.0);
        } else if (law->limited) {
            ss_joint_equation *locked = add_row(&along, 1.0);
            locked->violation = along.now.value - law->lower;
            locked->holonomic = true;
        }

        add_motor(&along);

        /* A rotor's inertia a resists a change of the coordinate's rate alone: x = -a (u - speed), a row of
         * its own with u + x/a - speed = 0. */
        if (law->armature > 0.0) {
            ss_joint_equation *row = add_row(&along, 1.0);
            row->regularization = 1.0 / law->armature;
            row->time_derivative = -along.speed;
            row->rotor = i;
        }

        /* Friction with a bound of its own, and friction whose bound is the load of another row. */
        if (law->friction > 0.0) bound(add_row(&along, 1.0), law->friction);
        if (law->load_friction > 0.0 && !ss_joint_keeps_coordinate(joint)) {
            ss_joint_equation *row = add_row(&along, 1.0);
            row->friction = law->load_friction;
            row->load = ss_joint_load_row(joint);
        }
    }
    return count;
}

int ss_joint_rotor_count(const ss_joint *joint)
{
    int count = 0;
    for (int i = 0; i < ss_joint_coordinate_count(joint); i++) count += joint->law[i].armature > 0.0;
    return count;
}

int ss_joint_rotors(const ss_world *world, int joint, ss_joint_equation rows[2])
{
    const ss_joint *item = ss_world_joint(world, joint);
    int count = 0;
    if (item->disabled || ss_joint_rotor_count(item) == 0) return 0;
    ss_joint_pose pose = ss_joint_pose_now(world, item);
    for (int i = 0; i < ss_joint_coordinate_count(item); i++) {
        if (!(item->law[i].armature > 0.0)) continue;
        ss_joint_quantity now = ss_joint_coordinate_now(&pose, i);
        ss_joint_fill_equation(&pose, &now, 1.0, &rows[count]);
        rows[count++].regularization = 1.0 / item->law[i].armature;
    }
    return count;
}

double ss_joint_rate_before(ss_world *world, int joint, int index, double h)
{
    const ss_joint *item = ss_world_joint(world, joint);
    double position[SS_JOINT_BODIES][3], quaternion[SS_JOINT_BODIES][4], rate = 0.0;
    for (int k = 0; k < item->body_count; k++) {
        ss_body *body = ss_world_body(world, ss_joint_body(item, k));
        if (!body) continue;
        memcpy(position[k], body->position, sizeof position[k]);
        memcpy(quaternion[k], body->quaternion, sizeof quaternion[k]);
        for (int i = 0; i < 3; i++) body->position[i] -= h * body->velocity[i];
        ss_quat turned =
            ss_quat_integrate(ss_quat_load(body->quaternion), ss_vec3_load(body->velocity + 3), -h);
        ss_quat_store(turned, body->quaternion);
    }
    ss_joint_coordinate(world, joint, index, NULL, &rate);
    for (int k = 0; k < item->body_count; k++) {
        ss_body *body = ss_world_body(world, ss_joint_body(item, k));
        if (!body) continue;
        memcpy(body->position, position[k], sizeof position[k]);
        memcpy(body->quaternion, quaternion[k], sizeof quaternion[k]);
    }
    return rate;
}

void ss_joint_user_force(const ss_world *world, int joint, double wrench[SS_JOINT_BODIES][6])
{
    const ss_joint *item = ss_world_joint(world, joint);
    if (item->disabled) return;
    for (int i = 0; i < ss_joint_coordinate_count(item); i++) {
        double force = item->law[i].force;
        if (force == 0.0) continue;
        ss_joint_pose pose = ss_joint_pose_now(world, item);
        ss_joint_quantity now = ss_joint_coordinate_now(&pose, i);
        for (int k = 0; k < item->body_count; k++)
            for (int d = 0; d < 6; d++) wrench[k][d] += force * now.jacobian[6 * k + d];
    }
}

/* ---- torque converter ------------------------------------------------------------------------------- */

/* The pump's torque is T = k w (w_p - R w_t) with w = max(|w_p|, |w_t|), the turbine's R T; the case takes
 * the difference, (R - 1) T. The torque ratio R falls linearly from `ratio` at stall to 1 at the coupling
 * point, w_t = 0.85 w_p, and is 1 beyond it and where the turbine drives. R and w are those before the step,
 * the speeds in the bracket those after it: a damper d = k w along R w_t - w_p, implicit, which only takes
 * energy away. With R = 1 it is the fluid coupling, k w_p (w_p - w_t). */
int ss_joint_add_converter(const ss_joint_pose *pose, double h, ss_joint_equation *row)
{
    static const double coupling_point = 0.85;
    const ss_joint *joint = pose->joint;
    double speed[2];
    for (int t = 0; t < 2; t++)
        if (!ss_joint_coordinate(pose->world, joint->term[t].joint, joint->term[t].index, NULL, &speed[t]))
            return 0;
    double share = speed[0] != 0.0 ? fmin(fmax(speed[1] / speed[0], 0.0), coupling_point) : coupling_point;
    double ratio = joint->ratio - (joint->ratio - 1.0) * share / coupling_point;
    double damping = joint->capacity * fmax(fabs(speed[0]), fabs(speed[1]));
    if (!(damping > 0.0)) return 0;
    ss_joint_quantity slip = ss_joint_sum(pose, (const double[2]){-1.0, ratio});
    ss_joint_fill_equation(pose, &slip, 1.0, row);
    row->regularization = 1.0 / (h * damping);
    return 1;
}
