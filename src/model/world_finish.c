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

/* Shapes weigh by their densities; a body whose mass is given but no density counts them all alike. */
static double density_of(const ss_shape *shape, bool alike)
{
    return alike ? 1.0 : shape->density;
}

static ss_mass_properties placed_mass(const ss_shape *shape, double density)
{
    ss_mass_properties mass = ss_shape_mass(shape, density);
    ss_quat q = ss_quat_load(shape->quaternion);
    ss_vec3 centre = ss_quat_rotate(q, ss_vec3_load(mass.centre));
    ss_vec3_store(ss_vec3_add(ss_vec3_load(shape->position), centre), mass.centre);
    ss_mat3_store(ss_mat3_rotate_tensor(ss_quat_to_matrix(q), ss_mat3_load(mass.inertia)), mass.inertia);
    return mass;
}

/* I about a point d away from the centre: I + m (|d|^2 - d d') */
static ss_mat3 about_point(const ss_mass_properties *mass, ss_vec3 d)
{
    ss_mat3 spread = ss_mat3_scale(ss_vec3_dot(d, d), ss_mat3_identity());
    spread = ss_mat3_add_scaled(spread, -1.0, ss_mat3_outer(d, d));
    return ss_mat3_add_scaled(ss_mat3_load(mass->inertia), mass->mass, spread);
}

static void add_mass(weight *sum, const ss_mass_properties *mass)
{
    if (!(mass->mass > 0.0)) return;
    ss_vec3 centre = ss_vec3_load(mass->centre);
    ss_mat3 inertia = ss_mat3_load(mass->inertia);
    double gyration = sqrt(ss_mat3_trace(inertia) / mass->mass);
    sum->mass += mass->mass;
    sum->moment = ss_vec3_add_scaled(sum->moment, mass->mass, centre);
    sum->reach = fmax(sum->reach, ss_vec3_norm(centre) + gyration);
    sum->inertia = ss_mat3_add_scaled(sum->inertia, 1.0, about_point(mass, centre));
}

/* Sums over the shapes of each dynamic body, in the order of the shapes. */
static void weigh(const ss_world *world, const bool *alike, weight *weights)
{
    memset(weights, 0, (size_t)world->body_count * sizeof *weights);
    for (int i = 0; i < world->shape_count; i++) {
        const ss_shape *shape = &world->shapes[i];
        if (shape->body == SS_WORLD || world->bodies[shape->body].kind != SS_DYNAMIC) continue;
        ss_mass_properties mass = placed_mass(shape, density_of(shape, alike[shape->body]));
        add_mass(&weights[shape->body], &mass);
    }
}

static bool is_zero(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] != 0.0) return false;
    return true;
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
    return is_zero(inertia, 9) || memcmp(inertia, computed, 9 * sizeof *inertia) == 0;
}

/* ---- the move --------------------------------------------------------------------------------------- */

static void move_shapes(ss_world *world, const ss_vec3 *shift)
{
    for (int i = 0; i < world->shape_count; i++) {
        ss_shape *shape = &world->shapes[i];
        if (shape->body == SS_WORLD) continue;
        ss_vec3_store(ss_vec3_subtract(ss_vec3_load(shape->position), shift[shape->body]), shape->position);
    }
}

static void move_joints(ss_world *world, const ss_vec3 *shift)
{
    for (int i = 0; i < world->joint_count; i++) {
        ss_joint *joint = &world->joints[i];
        const int bodies[2] = {joint->a, joint->b};
        for (int k = 0; k < 2; k++) {
            if (bodies[k] == SS_WORLD) continue;
            double *anchor = joint->local_anchor[k];
            ss_vec3_store(ss_vec3_subtract(ss_vec3_load(anchor), shift[bodies[k]]), anchor);
        }
        for (int k = 0; joint->kind == SS_JOINT_PULLEY && joint->c != SS_WORLD && k < 2; k++) {
            double *sheave = joint->local_sheave[k];
            ss_vec3_store(ss_vec3_subtract(ss_vec3_load(sheave), shift[joint->c]), sheave);
        }
    }
}

/* The velocity a user gives is that of the centre of mass, wherever it is; only when the centre moves later,
 * by a shape that was added, is there an old velocity of another point: v + w x (R c). */
static void move_body(ss_body *body, ss_vec3 shift, bool had_mass)
{
    ss_vec3 arm = ss_quat_rotate(ss_quat_load(body->quaternion), shift);
    ss_vec3 turning = ss_vec3_cross(ss_vec3_load(body->velocity + 3), arm);
    ss_vec3_store(ss_vec3_add(ss_vec3_load(body->position), arm), body->position);
    ss_vec3_store(ss_vec3_add(ss_vec3_load(body->centre), shift), body->centre);
    if (had_mass) ss_vec3_store(ss_vec3_add(ss_vec3_load(body->velocity), turning), body->velocity);
}

/* How far the centre of mass is from the body's origin; zero where it is fixed or there but for rounding. */
static ss_vec3 shift_of(const ss_world *world, int body, const weight *w)
{
    const ss_vec3 none = {0.0, 0.0, 0.0};
    if (!(w->mass > 0.0) || !inertia_is_ours(world, body)) return none;
    ss_vec3 centre = {w->moment.x / w->mass, w->moment.y / w->mass, w->moment.z / w->mass};
    // Each of some shapes adds a rounding error of its own size; 16 leaves room for a dozen of them.
    return ss_vec3_norm(centre) <= 16.0 * DBL_EPSILON * w->reach ? none : centre;
}

static void move_frames(ss_world *world, const weight *weights, ss_vec3 *shift)
{
    for (int i = 0; i < world->body_count; i++) {
        shift[i] = shift_of(world, i, &weights[i]);
        if (ss_vec3_max_abs(shift[i]) > 0.0)
            move_body(&world->bodies[i], shift[i], world->body_records[i].finished);
    }
    move_shapes(world, shift);
    move_joints(world, shift);
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

static void set_mass(ss_world *world, int i, const weight *w)
{
    ss_body *body = &world->bodies[i];
    ss_body_record *record = &world->body_records[i];
    bool new_inertia = inertia_is_ours(world, i);
    if (mass_is_ours(world, i)) body->mass = record->mass = w->mass;
    if (new_inertia) {
        double scale = body->mass == w->mass ? 1.0 : body->mass / w->mass;
        ss_mat3_store(ss_mat3_scale(scale, w->inertia), record->inertia);
        memcpy(body->inertia, record->inertia, sizeof body->inertia);
    }
    record->finished = true;
}

static bool fail_at_body(const ss_world *world, int body, ss_error *err)
{
    const char *name = world->body_records[body].name;
    return name ? ss_fail_in(err, "body %d \"%s\"", body, name) : ss_fail_in(err, "body %d", body);
}

/* Kinds may have been changed since the shapes were added. */
static bool check_kinds(const ss_world *world, ss_error *err)
{
    for (int i = 0; i < world->shape_count; i++) {
        const ss_shape *shape = &world->shapes[i];
        if (!ss_shape_fits_body(shape->kind, ss_world_body(world, shape->body), err)) {
            ss_fail_in(err, "shape %d", i);
            return fail_at_body(world, shape->body, err);
        }
    }
    return true;
}

static void find_alike(const ss_world *world, bool *alike)
{
    for (int i = 0; i < world->body_count; i++) alike[i] = !mass_is_ours(world, i);
    for (int i = 0; i < world->shape_count; i++) {
        const ss_shape *shape = &world->shapes[i];
        if (shape->body != SS_WORLD && shape->density > 0.0) alike[shape->body] = false;
    }
}

static bool finish(ss_world *world, bool *alike, weight *weights, ss_vec3 *shift, ss_error *err)
{
    if (!check_kinds(world, err)) return false;
    find_alike(world, alike);
    weigh(world, alike, weights);
    for (int i = 0; i < world->body_count; i++)
        if (world->bodies[i].kind == SS_DYNAMIC && !check_weight(world, i, &weights[i], err))
            return fail_at_body(world, i, err);
    move_frames(world, weights, shift);
    weigh(world, alike, weights);
    for (int i = 0; i < world->body_count; i++)
        if (world->bodies[i].kind == SS_DYNAMIC) set_mass(world, i, &weights[i]);
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
