/* Materials, bodies and shapes: checked, copied, numbered. */
#include "model/world.h"

#include <stdio.h>
#include <string.h>

/* ---- what numbers must be --------------------------------------------------------------------------- */

bool ss_require_finite(const double *values, int count, const char *field, ss_error *err)
{
    for (int i = 0; i < count; i++) {
        if (isfinite(values[i])) continue;
        if (count == 1) return ss_fail(err, SS_ERROR_USAGE, "%s: %g, must be finite", field, values[i]);
        return ss_fail(err, SS_ERROR_USAGE, "%s[%d]: %g, must be finite", field, i, values[i]);
    }
    return true;
}

bool ss_require_not_negative(double value, const char *field, ss_error *err)
{
    if (value >= 0.0 && isfinite(value)) return true;
    return ss_fail(err, SS_ERROR_USAGE, "%s: %g, must be finite and not negative", field, value);
}

bool ss_require_rotation(double quaternion[4], const char *field, ss_error *err)
{
    if (!ss_require_finite(quaternion, 4, field, err)) return false;
    double norm = ss_quat_norm(ss_quat_load(quaternion));
    // |norm - 1| within rounding: a unit quaternion keeps its bits
    if (fabs(norm - 1.0) > 4e-16) ss_quat_store(ss_quat_normalise(ss_quat_load(quaternion)), quaternion);
    return true;
}

/* NULL stays NULL. */
static bool copy_name(const char *name, char **copy, ss_error *err)
{
    *copy = name ? ss_text_copy(name) : NULL;
    return !name || *copy || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
}

/* Puts the thing that an error is about before it. Returns -1, the number of what was not added. */
static int refuse(const char *what, int number, const char *name, ss_error *err)
{
    char quoted[80] = "";
    if (name) snprintf(quoted, sizeof quoted, " \"%.70s\"", name);
    ss_fail_in(err, "%s %d%s", what, number, quoted);
    return -1;
}

/* ---- materials -------------------------------------------------------------------------------------- */

static int find_material(const ss_world *world, const char *name)
{
    for (int i = 0; i < world->material_count; i++)
        if (strcmp(world->materials[i].name, name) == 0) return i;
    return -1;
}

static bool check_material(const ss_world *world, const ss_material *material, ss_error *err)
{
    if (!material->name || !*material->name) return ss_fail(err, SS_ERROR_USAGE, "name: not given");
    if (find_material(world, material->name) >= 0)
        return ss_fail(err, SS_ERROR_USAGE, "name: already used by material %d",
                       find_material(world, material->name));
    if (!(material->restitution >= 0.0 && material->restitution <= 1.0))
        return ss_fail(err, SS_ERROR_USAGE, "restitution: %g, must be from 0 to 1", material->restitution);
    if ((unsigned)material->spin_coupling > SS_SPIN_ELLIPSOID)
        return ss_fail(err, SS_ERROR_USAGE, "spin_coupling: unknown coupling %d",
                       (int)material->spin_coupling);
    if (material->mu_across > 0.0 && !ss_material_has_grain(material))
        return ss_fail(err, SS_ERROR_USAGE, "mu_across: needs a grain to be across of");
    return ss_require_finite(material->grain, 3, "grain", err) &&
           ss_require_not_negative(material->mu, "mu", err) &&
           ss_require_not_negative(material->mu_across, "mu_across", err) &&
           ss_require_not_negative(material->mu_rolling, "mu_rolling", err) &&
           ss_require_not_negative(material->mu_torsion, "mu_torsion", err);
}

int ss_world_add_material(ss_world *world, const ss_material *material, ss_error *err)
{
    int n = world->material_count;
    char *name;
    if (!check_material(world, material, err)) return refuse("material", n, material->name, err);

    ss_material *items = ss_array_grow(world->materials, n, &world->material_capacity, sizeof *items);
    if (!items) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        return refuse("material", n, material->name, err);
    }
    world->materials = items;
    if (!copy_name(material->name, &name, err)) return refuse("material", n, material->name, err);

    items[n] = *material;
    items[n].name = name;
    ss_vec3_store(ss_vec3_normalise(ss_vec3_load(material->grain), NULL), items[n].grain);
    return world->material_count++;
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

static bool check_inertia(double inertia[9], ss_error *err)
{
    if (!ss_require_finite(inertia, 9, "inertia", err)) return false;
    ss_mat3 given = ss_mat3_load(inertia), symmetric = ss_mat3_symmetric_part(given);
    double size = ss_mat3_max_abs(given);
    if (size == 0.0) return true;
    // 1e-9: what is left when a tensor was written with ten digits
    if (ss_mat3_max_abs(ss_mat3_add_scaled(given, -1.0, symmetric)) > 1e-9 * size)
        return ss_fail(err, SS_ERROR_USAGE, "inertia: is not symmetric");
    if (!ss_mat3_is_positive(symmetric))
        return ss_fail(err, SS_ERROR_USAGE, "inertia: is not positive definite");
    ss_mat3_store(symmetric, inertia);
    return true;
}

static bool check_body(ss_body *body, ss_error *err)
{
    if ((unsigned)body->kind > SS_DYNAMIC)
        return ss_fail(err, SS_ERROR_USAGE, "kind: unknown kind of body %d", (int)body->kind);
    if (body->motion && body->kind != SS_KINEMATIC)
        return ss_fail(err, SS_ERROR_USAGE, "motion: only a kinematic body has a prescribed motion");
    if (isinf(body->gravity_scale))
        return ss_fail(err, SS_ERROR_USAGE, "gravity_scale: must not be infinite");
    return ss_require_finite(body->position, 3, "position", err) &&
           ss_require_rotation(body->quaternion, "quaternion", err) &&
           ss_require_finite(body->velocity, 6, "velocity", err) &&
           ss_require_finite(body->force, 6, "force", err) &&
           ss_require_not_negative(body->mass, "mass", err) && check_inertia(body->inertia, err) &&
           ss_require_not_negative(body->linear_damping, "linear_damping", err) &&
           ss_require_not_negative(body->angular_damping, "angular_damping", err);
}

int ss_world_add_body(ss_world *world, const ss_body *body, ss_error *err)
{
    int n = world->body_count;
    ss_body copy = *body;
    memset(copy.centre, 0, sizeof copy.centre);
    if (!check_body(&copy, err)) return refuse("body", n, body->name, err);

    ss_body *bodies = ss_array_grow(world->bodies, n, &world->body_capacity, sizeof *bodies);
    if (bodies) world->bodies = bodies;
    ss_body_record *records =
        ss_array_grow(world->body_records, n, &world->body_record_capacity, sizeof *records);
    if (records) world->body_records = records;
    if (!bodies || !records) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        return refuse("body", n, body->name, err);
    }

    records[n] = (ss_body_record){0};
    if (!copy_name(body->name, &records[n].name, err)) return refuse("body", n, body->name, err);
    copy.name = records[n].name;
    bodies[n] = copy;
    return world->body_count++;
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

bool ss_shape_fits_body(ss_shape_kind shape, const ss_body *body, ss_error *err)
{
    bool solid = shape != SS_PLANE && shape != SS_MESH && shape != SS_HEIGHTFIELD;
    if (!body || body->kind == SS_STATIC || solid || (body->kind == SS_KINEMATIC && shape == SS_MESH))
        return true;
    return ss_fail(err, SS_ERROR_USAGE, "a %s cannot be a shape of a %s body", ss_shape_kind_name(shape),
                   body->kind == SS_DYNAMIC ? "dynamic" : "kinematic");
}

static bool check_shape(const ss_world *world, int body, ss_shape *shape, ss_error *err)
{
    if ((unsigned)shape->kind >= SS_SHAPE_KINDS)
        return ss_fail(err, SS_ERROR_USAGE, "kind: unknown kind of shape %d", (int)shape->kind);
    if (body != SS_WORLD && (body < 0 || body >= world->body_count))
        return ss_fail(err, SS_ERROR_USAGE, "body: unknown body %d", body);
    if (!ss_world_material(world, shape->material))
        return ss_fail(err, SS_ERROR_USAGE, "material: unknown material %d", shape->material);
    return ss_shape_fits_body(shape->kind, ss_world_body(world, body), err) &&
           ss_require_finite(shape->position, 3, "position", err) &&
           ss_require_rotation(shape->quaternion, "quaternion", err) &&
           ss_require_not_negative(shape->density, "density", err) &&
           ss_require_finite(shape->surface_velocity, 3, "surface_velocity", err);
}

/* The world's own copies of what a shape points to. Geometry comes first: it checks all sizes. */
static bool copy_parts(ss_shape *shape, ss_shape_record *record, ss_error *err)
{
    record->geometry = ss_geometry_create(shape, err);
    if (!record->geometry) return false;
    if (shape->kind == SS_HULL || shape->kind == SS_MESH) {
        shape->mesh = record->mesh = ss_mesh_copy(shape->mesh, err);
        if (!record->mesh) return false;
    }
    if (shape->kind == SS_HEIGHTFIELD) {
        size_t count = (size_t)shape->nx * (size_t)shape->ny;
        record->heights = ss_allocate(count, sizeof *record->heights);
        if (!record->heights) return ss_fail(err, SS_ERROR_RESOURCES, "heights: out of memory");
        memcpy(record->heights, shape->heights, count * sizeof *record->heights);
        shape->heights = record->heights;
    }
    return true;
}

static bool append_shape(ss_world *world, ss_shape *shape, ss_error *err)
{
    int n = world->shape_count;
    ss_shape *shapes = ss_array_grow(world->shapes, n, &world->shape_capacity, sizeof *shapes);
    if (shapes) world->shapes = shapes;
    ss_shape_record *records =
        ss_array_grow(world->shape_records, n, &world->shape_record_capacity, sizeof *records);
    if (records) world->shape_records = records;
    if (!shapes || !records) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");

    ss_shape_record *record = &records[n];
    *record = (ss_shape_record){0};
    if (!copy_parts(shape, record, err)) {
        ss_geometry_destroy(record->geometry);
        ss_mesh_destroy(record->mesh);
        ss_release(record->heights);
        return false;
    }
    shapes[n] = *shape;
    world->shape_count++;
    return true;
}

int ss_world_add_shape(ss_world *world, int body, const ss_shape *shape, ss_error *err)
{
    ss_shape copy = *shape;
    copy.body = body;
    if (copy.kind != SS_HULL && copy.kind != SS_MESH) copy.mesh = NULL;
    if (copy.kind != SS_HEIGHTFIELD) copy.heights = NULL;
    if (check_shape(world, body, &copy, err)) {
        // The body's frame may have moved to its centre of mass since it was made; shapes are given in
        // the first one.
        const ss_body *carrier = ss_world_body(world, body);
        for (int k = 0; carrier && k < 3; k++) copy.position[k] -= carrier->centre[k];
        if (append_shape(world, &copy, err)) return world->shape_count - 1;
    }
    const char *kind = (unsigned)copy.kind < SS_SHAPE_KINDS ? ss_shape_kind_name(copy.kind) : "shape";
    ss_fail_in(err, "shape %d (%s of body %d)", world->shape_count, kind, body);
    return -1;
}

const char *ss_shape_kind_name(ss_shape_kind kind)
{
    static const char *const names[SS_SHAPE_KINDS] = {
        [SS_SPHERE] = "sphere",   [SS_PLANE] = "plane",       [SS_BOX] = "box",
        [SS_CAPSULE] = "capsule", [SS_CYLINDER] = "cylinder", [SS_ELLIPSOID] = "ellipsoid",
        [SS_HULL] = "hull",       [SS_MESH] = "mesh",         [SS_HEIGHTFIELD] = "heightfield"};
    return (unsigned)kind < SS_SHAPE_KINDS ? names[kind] : "unknown";
}
