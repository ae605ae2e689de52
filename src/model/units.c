/* A change of units: every number of the world times the powers of the three factors that its
 * dimension has. */
#include "model/geometry_parts.h"
#include "model/joint_geometry.h"
#include "model/world.h"

typedef struct units {
    double length, mass, time;
    double speed, turning, acceleration; /* m/s, rad/s, m/s^2 */
    double force, torque, inertia, density;
} units;

static void multiply(double *values, int count, double factor)
{
    for (int i = 0; i < count; i++) values[i] *= factor;
}

/* ---- joints ----------------------------------------------------------------------------------------- */

/* Along a slide or about an axis: the coordinate's own unit, and that of the force that works along it. */
static void convert_law(ss_axis_law *law, bool slide, const units *u)
{
    double coordinate = slide ? u->length : 1.0, force = slide ? u->force : u->torque;
    double *const coordinates[] = {&law->lower, &law->upper, &law->target, &law->rest};
    double *const forces[] = {&law->max_force, &law->force, &law->friction};
    for (int i = 0; i < 4; i++) *coordinates[i] *= coordinate;
    for (int i = 0; i < 3; i++) *forces[i] *= force;
    law->target_speed *= coordinate / u->time;
    law->stiffness *= force / coordinate;
    law->damping *= force / coordinate * u->time;
    law->motor_stiffness *= force / coordinate;
    law->motor_damping *= force / coordinate * u->time;
    law->armature *= slide ? u->mass : u->inertia;
    if (!slide) law->load_friction *= u->length;
}

static void convert_joint(const ss_world *world, ss_joint *joint, const units *u)
{
    bool has_terms = ss_joint_has_terms(joint);
    bool of_length = ss_joint_coordinate_is_length(world, joint, 0);
    bool of_angles = joint->kind == SS_JOINT_GEAR || (has_terms && !of_length);

    /* A sum of coordinates is of the kind of the first term, whose factor is a pure number. */
    for (int t = 0; has_terms && t < joint->terms; t++) {
        const ss_joint *other = ss_world_joint(world, joint->term[t].joint);
        bool length = ss_joint_coordinate_is_length(world, other, joint->term[t].index);
        joint->term[t].factor *= (of_length ? u->length : 1.0) / (length ? u->length : 1.0);
    }
    if (has_terms && !of_length) joint->start_length /= u->length; // which is multiplied as a length below

    for (int k = 0; k < 2; k++) {
        multiply(joint->sheave[k], 3, u->length);
        multiply(joint->local_sheave[k], 3, u->length);
        multiply(joint->local_anchor[k], 3, u->length);
    }
    multiply(joint->anchor, 3, u->length);
    multiply(joint->anchor_b, 3, u->length);
    joint->start_length *= u->length;
    if (joint->kind == SS_JOINT_SCREW) joint->ratio *= u->length;
    joint->capacity *= u->inertia; // N m s^2
    joint->compliance *= of_angles ? 1.0 / u->torque : u->length / u->force;
    for (int k = 0; k < 2; k++)
        convert_law(&joint->law[k], !of_angles && ss_joint_coordinate_is_length(world, joint, k), u);
}

/* ---- the world -------------------------------------------------------------------------------------- */

/* Everything is checked before anything is changed. */
static bool check_change(const ss_world *world, const units *u, ss_error *err)
{
    const double all[] = {u->length,       u->mass,  u->time,   u->speed,   u->turning,
                          u->acceleration, u->force, u->torque, u->inertia, u->density};
    for (int i = 0; i < 10; i++)
        if (!(all[i] > 0.0 && isfinite(all[i])))
            return ss_fail(err, SS_ERROR_USAGE,
                           "units: length %g, mass %g, time %g: must be positive, and so must their products",
                           u->length, u->mass, u->time);

    for (int i = 0; i < world->body_count; i++)
        if (world->bodies[i].motion)
            return ss_fail(err, SS_ERROR_USAGE,
                           "units: body %d is moved by a function, whose units cannot be changed", i);

    /* One number stands for m/N and rad/(N m): they change alike only if the unit of length stays, or if the
     * joint has equations of one sort only. */
    for (int i = 0; i < world->joint_count; i++) {
        const ss_joint *joint = &world->joints[i];
        bool one_sort =
            joint->kind == SS_JOINT_BALL || joint->kind == SS_JOINT_GEAR || ss_joint_keeps_coordinate(joint);
        if (joint->compliance != 0.0 && !one_sort && u->length != 1.0)
            return ss_fail(err, SS_ERROR_USAGE,
                           "units: joint %d (%s): its compliance mixes lengths and angles", i,
                           ss_joint_kind_name(joint->kind));
    }
    return true;
}

bool ss_world_change_units(ss_world *world, double length, double mass, double time, ss_error *err)
{
    units u = {.length = length, .mass = mass, .time = time};
    u.turning = 1.0 / time;
    u.speed = length / time;
    u.acceleration = u.speed / time;
    u.force = mass * u.acceleration;
    u.torque = u.force * length;
    u.inertia = mass * length * length;
    u.density = mass / (length * length * length);
    if (!check_change(world, &u, err)) return false;

    for (int i = 0; i < world->body_count; i++) {
        ss_body *body = &world->bodies[i];
        ss_body_record *record = &world->body_records[i];
        multiply(body->position, 3, u.length);
        multiply(body->centre, 3, u.length);
        multiply(body->velocity, 3, u.speed);
        multiply(body->velocity + 3, 3, u.turning);
        multiply(body->force, 3, u.force);
        multiply(body->force + 3, 3, u.torque);
        body->mass *= u.mass;
        record->mass *= u.mass;
        multiply(body->inertia, 9, u.inertia);
        multiply(record->inertia, 9, u.inertia);
        body->linear_damping *= u.turning;
        body->angular_damping *= u.turning;
    }

    for (int i = 0; i < world->shape_count; i++) {
        ss_shape *shape = &world->shapes[i];
        ss_shape_record *record = &world->shape_records[i];
        multiply(shape->size, 3, u.length);
        multiply(shape->position, 3, u.length);
        multiply(shape->surface_velocity, 3, u.speed);
        shape->density *= u.density;
        if (record->mesh) multiply(record->mesh->vertex[0], 3 * record->mesh->vertex_count, u.length);
        if (record->heights) multiply(record->heights, shape->nx * shape->ny, u.length);
        ss_geometry_scale(record->geometry, u.length);
    }

    for (int i = 0; i < world->joint_count; i++) convert_joint(world, &world->joints[i], &u);

    for (int i = 0; i < world->material_count; i++) {
        world->materials[i].mu_rolling *= length;
        world->materials[i].mu_torsion *= length;
    }
    for (int i = 0; i < world->pair_count; i++) {
        ss_material_pair *pair = &world->pairs[i].pair;
        pair->mu_rolling *= length;
        pair->mu_torsion *= length;
        pair->stiffness *= mass / (time * time);
        pair->damping *= mass / time;
        pair->adhesion *= mass * length / (time * time);
    }
    multiply(world->gravity, 3, u.acceleration);
    return true;
}
