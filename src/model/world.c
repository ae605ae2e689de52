/* Life of a world, and looking into it. */
#define SS_LOOKUP // the lookups are functions of the library
#include "model/world.h"

#include <string.h>

ss_world *ss_world_create(ss_error *err)
{
    ss_world *world = ss_allocate(1, sizeof *world);
    if (!world) {
        ss_fail(err, SS_ERROR_RESOURCES, "world: out of memory");
        return NULL;
    }
    world->gravity[2] = -9.81;
    if (ss_world_add_material(world, &(ss_material){.name = "default", .mu = 0.5}, err) < 0) {
        ss_world_destroy(world);
        return NULL;
    }
    return world;
}

void ss_world_destroy(ss_world *world)
{
    if (!world) return;
    for (int i = 0; i < world->body_count; i++) ss_release(world->body_records[i].name);
    for (int i = 0; i < world->shape_count; i++) {
        ss_geometry_destroy(world->shape_records[i].geometry);
        ss_mesh_destroy(world->shape_records[i].mesh);
        ss_release(world->shape_records[i].heights);
    }
    for (int i = 0; i < world->joint_count; i++) ss_release(world->joint_names[i]);
    for (int i = 0; i < world->material_count; i++) ss_release((void *)world->materials[i].name);
    ss_release(world->bodies);
    ss_release(world->body_records);
    ss_release(world->shapes);
    ss_release(world->shape_records);
    ss_release(world->joints);
    ss_release(world->joint_names);
    ss_release(world->materials);
    ss_release(world->pairs);
    ss_release(world->separations);
    ss_release(world);
}

/* ---- access ----------------------------------------------------------------------------------------- */

int ss_world_material_count(const ss_world *world)
{
    return world->material_count;
}

const ss_material *ss_world_material(const ss_world *world, int material)
{
    return material >= 0 && material < world->material_count ? &world->materials[material] : NULL;
}

const ss_geometry *ss_world_geometry(const ss_world *world, int shape)
{
    return shape >= 0 && shape < world->shape_count ? world->shape_records[shape].geometry : NULL;
}

double *ss_world_gravity(ss_world *world)
{
    return world->gravity;
}

int ss_world_find_body(const ss_world *world, const char *name)
{
    for (int i = 0; name && i < world->body_count; i++) {
        const char *known = world->body_records[i].name;
        if (known && strcmp(known, name) == 0) return i;
    }
    return -1;
}

int ss_world_find_joint(const ss_world *world, const char *name)
{
    for (int i = 0; name && i < world->joint_count; i++)
        if (world->joint_names[i] && strcmp(world->joint_names[i], name) == 0) return i;
    return -1;
}

/* ---- energy and momentum ---------------------------------------------------------------------------- */

ss_world_energy ss_world_measure(const ss_world *world)
{
    ss_world_energy sum = {0};
    ss_vec3 g = ss_vec3_load(world->gravity);
    for (int i = 0; i < world->body_count; i++) {
        const ss_body *body = &world->bodies[i];
        if (body->kind != SS_DYNAMIC || body->disabled) continue;

        /* The inertia is that of the body frame. */
        ss_vec3 x = ss_vec3_load(body->position), v = ss_vec3_load(body->velocity);
        ss_vec3 w = ss_vec3_load(body->velocity + 3);
        ss_quat q = ss_quat_load(body->quaternion);
        ss_vec3 turning = ss_quat_rotate_back(q, w);
        ss_vec3 spin = ss_quat_rotate(q, ss_mat3_apply(ss_mat3_load(body->inertia), turning));

        ss_vec3 momentum = ss_vec3_scale(body->mass, v);
        ss_vec3 angular = ss_vec3_add(spin, ss_vec3_cross(x, momentum));
        sum.kinetic += 0.5 * (ss_vec3_dot(v, momentum) + ss_vec3_dot(w, spin));
        sum.potential -= ss_body_gravity_scale(body) * body->mass * ss_vec3_dot(g, x);
        ss_vec3_store(ss_vec3_add(ss_vec3_load(sum.momentum), momentum), sum.momentum);
        ss_vec3_store(ss_vec3_add(ss_vec3_load(sum.angular_momentum), angular), sum.angular_momentum);
    }
    return sum;
}
