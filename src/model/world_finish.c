/* Mass properties of bodies from their shapes, and the move of each body's frame to its centre of mass.
 *
 * Finishing twice changes nothing: a centre of mass that is at the origin but for rounding stays there, and
 * inertia is always computed after the move. */
#include "model/world.h"

#include <float.h>
#include <string.h>

typedef struct weight {
    double mass;     /* of the shapes */
    ss_vec3 moment;  /* mass times centre, in the body frame */
    double reach;    /* how far from the origin there is mass, roughly */
    ss_mat3 inertia; /* about the origin */
} weight;

/* Sums over the shapes of each dynamic body, in the order of the shapes. Shapes weigh by their densities; a
 * body whose mass is given but no density counts them all alike. */
static void weigh(const ss_world *world, const bool *alike, weight *weights)
{
    memset(weights, 0, (size_t)world->body_count * sizeof *weights);
    for (int i = 0; i < world->shape_count; i++) {
        const ss_shape *shape = &world->shapes[i];
        if (shape->body == SS_WORLD || world->bodies[shape->body].kind != SS_DYNAMIC) continue;
        ss_mass_properties mass = ss_shape_mass(shape, alike[shape->body] ? 1.0 : shape->density);
        if (!(mass.mass > 0.0)) continue;

        /* From the frame of the shape to that of the body. */
        ss_quat q = ss_quat_load(shape->quaternion);
        ss_vec3 centre = ss_quat_rotate(q, ss_vec3_load(mass.centre));
        centre = ss_vec3_add(ss_vec3_load(shape->position), centre);
        ss_mat3 inertia = ss_mat3_rotate_tensor(ss_quat_to_matrix(q), ss_mat3_load(mass.inertia));
        double gyration = sqrt(ss_mat3_trace(inertia) / mass.mass);

        /* I about a point d away from the centre: I + m (|d|^2 - d d') */
        ss_mat3 spread = ss_mat3_scale(ss_vec3_dot(centre, centre), ss_mat3_identity());
        spread = ss_mat3_add_scaled(spread, -1.0, ss_mat3_outer(centre, centre));
        ss_mat3 about_origin = ss_mat3_add_scaled(inertia, mass.mass, spread);

        weight *sum = &weights[shape->body];
        sum->mass += mass.mass;
        sum->moment = ss_vec3_add_scaled(sum->moment, mass.mass, centre);
        sum->reach = fmax(sum->reach, ss_vec3_norm(centre) + gyration);
        sum->inertia = ss_mat3_add_scaled(sum->inertia, 1.0, about_origin);
    }
}

/* Zero, or still what ss_world_finish wrote last time: to be computed again. */
static bool mass_is_ours(const ss_world *world, int body)
{
    double mass = world->bodies[body].mass;
    return mass == 0.0 || mass == world->body_records[body].mass;
}

static bool inertia_is_ours(const ss_world *world, int body)
{
    const double *inertia = world->bodies[body].inertia;
    const double *computed = world->body_records[body].inertia;
    bool is_zero = true;
    for (int i = 0; i < 9; i++) is_zero &= inertia[i] == 0.0;
    return is_zero || memcmp(inertia, computed, 9 * sizeof *inertia) == 0;
}

/* ---- the move --------------------------------------------------------------------------------------- */

static void move_back(double point[3], ss_vec3 shift)
{
    ss_vec3_store(ss_vec3_subtract(ss_vec3_load(point), shift), point);
}

static void move_frames(ss_world *world, const weight *weights, ss_vec3 *shift)
{
    for (int i = 0; i < world->body_count; i++) {
        ss_body *body = &world->bodies[i];
        const weight *w = &weights[i];

        /* How far the centre of mass is from the body's origin; zero where it is fixed or there but for
         * rounding. Each of some shapes adds a rounding error of its own size; 16 leaves room for a dozen of
         * them. */
        shift[i] = (ss_vec3){0.0, 0.0, 0.0};
        if (!(w->mass > 0.0) || !inertia_is_ours(world, i)) continue;
        ss_vec3 centre = {w->moment.x / w->mass, w->moment.y / w->mass, w->moment.z / w->mass};
        if (ss_vec3_norm(centre) <= 16.0 * DBL_EPSILON * w->reach) continue;
        shift[i] = centre;

        /* The velocity a user gives is that of the centre of mass, wherever it is; only when the centre moves
         * later, by a shape that was added, is there an old velocity of another point: v + w x (R c). */
        ss_vec3 arm = ss_quat_rotate(ss_quat_load(body->quaternion), centre);
        ss_vec3 turning = ss_vec3_cross(ss_vec3_load(body->velocity + 3), arm);
        ss_vec3_store(ss_vec3_add(ss_vec3_load(body->position), arm), body->position);
        ss_vec3_store(ss_vec3_add(ss_vec3_load(body->centre), centre), body->centre);
        if (world->body_records[i].finished)
            ss_vec3_store(ss_vec3_add(ss_vec3_load(body->velocity), turning), body->velocity);
    }

    /* Shapes, anchors and sheaves stay where they are in the world. */
    for (int i = 0; i < world->shape_count; i++) {
        ss_shape *shape = &world->shapes[i];
        if (shape->body != SS_WORLD) move_back(shape->position, shift[shape->body]);
    }
    for (int i = 0; i < world->joint_count; i++) {
        ss_joint *joint = &world->joints[i];
        const int bodies[2] = {joint->a, joint->b};
        for (int k = 0; k < 2; k++)
            if (bodies[k] != SS_WORLD) move_back(joint->local_anchor[k], shift[bodies[k]]);
        for (int k = 0; joint->kind == SS_JOINT_PULLEY && joint->c != SS_WORLD && k < 2; k++)
            move_back(joint->local_sheave[k], shift[joint->c]);
    }
}

/* ---- mass and inertia ------------------------------------------------------------------------------- */

static bool check_weight(const ss_world *world, int body, const weight *w, ss_error *err)
{
    bool needs_mass = mass_is_ours(world, body), needs_inertia = inertia_is_ours(world, body);
    if (needs_mass && !(w->mass > 0.0))
        return ss_fail(err, SS_ERROR_USAGE,
                       "mass: a dynamic body needs a mass, or a solid shape with a density");
    if (needs_inertia && !(w->mass > 0.0))
        return ss_fail(err, SS_ERROR_USAGE, "inertia: a dynamic body needs an inertia, or a solid shape");
    if (!isfinite(w->mass) || (needs_inertia && !ss_mat3_is_positive(w->inertia)))
        return ss_fail(err, SS_ERROR_USAGE, "inertia: that of its shapes is not positive definite");
    return true;
}

static bool fail_at_body(const ss_world *world, int body, ss_error *err)
{
    const char *name = world->body_records[body].name;
    return name ? ss_fail_in(err, "body %d \"%s\"", body, name) : ss_fail_in(err, "body %d", body);
}

static bool finish(ss_world *world, bool *alike, weight *weights, ss_vec3 *shift, ss_error *err)
{
    /* Kinds may have been changed since the shapes were added. */
    for (int i = 0; i < world->shape_count; i++) {
        const ss_shape *shape = &world->shapes[i];
        if (!ss_shape_fits_body(shape->kind, ss_world_body(world, shape->body), err)) {
            ss_fail_in(err, "shape %d", i);
            return fail_at_body(world, shape->body, err);
        }
    }

    for (int i = 0; i < world->body_count; i++) alike[i] = !mass_is_ours(world, i);
    for (int i = 0; i < world->shape_count; i++) {
        const ss_shape *shape = &world->shapes[i];
        if (shape->body != SS_WORLD && shape->density > 0.0) alike[shape->body] = false;
    }

    weigh(world, alike, weights);
    for (int i = 0; i < world->body_count; i++)
        if (world->bodies[i].kind == SS_DYNAMIC && !check_weight(world, i, &weights[i], err))
            return fail_at_body(world, i, err);

    /* What is about the origin now is about the centre of mass. A mass that the user gave scales it. */
    move_frames(world, weights, shift);
    weigh(world, alike, weights);
    for (int i = 0; i < world->body_count; i++) {
        ss_body *body = &world->bodies[i];
        ss_body_record *record = &world->body_records[i];
        const weight *w = &weights[i];
        if (body->kind != SS_DYNAMIC) continue;
        bool new_inertia = inertia_is_ours(world, i);
        if (mass_is_ours(world, i)) body->mass = record->mass = w->mass;
        if (new_inertia) {
            double scale = body->mass == w->mass ? 1.0 : body->mass / w->mass;
            ss_mat3_store(ss_mat3_scale(scale, w->inertia), record->inertia);
            memcpy(body->inertia, record->inertia, sizeof body->inertia);
        }
        record->finished = true;
    }
    return true;
}

bool ss_world_finish(ss_world *world, ss_error *err)
{
    size_t count = (size_t)world->body_count;
    bool *alike = ss_allocate(count, sizeof *alike);
    weight *weights = ss_allocate(count, sizeof *weights);
    ss_vec3 *shift = ss_allocate(count, sizeof *shift);
    bool good = alike && weights && shift;
    if (good)
        good = finish(world, alike, weights, shift, err);
    else
        ss_fail(err, SS_ERROR_RESOURCES, "world: out of memory for the masses of %d bodies",
                world->body_count);
    ss_release(alike);
    ss_release(weights);
    ss_release(shift);
    return good;
}
