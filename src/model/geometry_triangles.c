/* Triangle meshes as the narrow phase wants them: normals, neighbours, which edges stick out. */
#include "model/geometry_parts.h"
#include "model/mesh.h"

#include <string.h>

void ss_triangles_destroy(ss_triangles *triangles)
{
    if (!triangles) return;
    ss_release(triangles->vertex);
    ss_release(triangles->corner);
    ss_release(triangles->normal);
    ss_release(triangles->neighbour);
    ss_release(triangles->convex);
    ss_release(triangles->node);
    ss_release(triangles->order);
    ss_release(triangles);
}

void ss_triangles_scale(ss_triangles *triangles, double length)
{
    for (int i = 0; i < triangles->vertex_count; i++)
        triangles->vertex[i] = ss_vec3_scale(length, triangles->vertex[i]);
    ss_triangles_refit(triangles);
}

static ss_triangles *allocate_triangles(const ss_mesh *mesh, int count)
{
    size_t n = (size_t)count;
    ss_triangles *t = ss_allocate(1, sizeof *t);
    if (!t) return NULL;
    t->vertex_count = mesh->vertex_count;
    t->vertex = ss_allocate((size_t)mesh->vertex_count, sizeof *t->vertex);
    t->corner = ss_allocate(n, sizeof *t->corner);
    t->normal = ss_allocate(n, sizeof *t->normal);
    t->neighbour = ss_allocate(n, sizeof *t->neighbour);
    t->convex = ss_allocate(n, sizeof *t->convex);
    if (t->vertex && t->corner && t->normal && t->neighbour && t->convex) return t;
    ss_triangles_destroy(t);
    return NULL;
}

static bool find_neighbours(ss_triangles *t, ss_error *err)
{
    int count = 3 * t->count;
    ss_mesh kept = {.vertex_count = t->vertex_count, .face_count = t->count, .face = t->corner};
    ss_mesh_side *sides = ss_mesh_sides(&kept);
    if (!sides) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d triangles", t->count);

    for (int i = 0, run; i < count; i += run) {
        run = ss_mesh_side_run(sides, count, i);
        bool meet = ss_mesh_sides_meet(sides + i, run);
        for (int k = i; k < i + run; k++) {
            const ss_mesh_side *side = &sides[k], *other = meet ? &sides[k == i ? i + 1 : i] : NULL;
            t->neighbour[side->face][side->corner] = other ? other->face : -1;
            t->convex[side->face][side->corner] = true;
            if (!other) continue;

            /* The edge sticks out unless the far corner of the neighbour is above this triangle's plane. Flat
             * edges do not stick out: the angle is compared to the rounding of single precision, in which
             * most mesh files are written. */
            ss_vec3 near = t->vertex[t->corner[side->face][side->corner]];
            ss_vec3 far = t->vertex[t->corner[other->face][(other->corner + 2) % 3]];
            ss_vec3 arm = ss_vec3_subtract(far, near);
            t->convex[side->face][side->corner] =
                ss_vec3_dot(t->normal[side->face], arm) < -1e-6 * ss_vec3_norm(arm);
        }
    }
    ss_release(sides);
    return true;
}

ss_triangles *ss_triangles_of_mesh(const ss_mesh *mesh, ss_error *err)
{
    if (!ss_mesh_indices_are_good(mesh, err)) return NULL;
    ss_triangles *t = allocate_triangles(mesh, mesh->face_count);
    if (!t) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d triangles", mesh->face_count);
        return NULL;
    }

    /* Triangles without an area have no normal and touch nothing: they are left out. */
    for (int i = 0; i < mesh->vertex_count; i++) t->vertex[i] = ss_vec3_load(mesh->vertex[i]);
    for (int f = 0; f < mesh->face_count; f++) {
        if (!ss_mesh_has_area(mesh, f)) continue;
        memcpy(t->corner[t->count], mesh->face[f], sizeof *t->corner);
        t->normal[t->count++] = ss_vec3_normalise(ss_mesh_area2(mesh, f), NULL);
    }

    bool good = t->count > 0 || ss_fail(err, SS_ERROR_INPUT, "no triangle has an area");
    if (good && find_neighbours(t, err) && ss_triangles_plant(t, err)) return t;
    ss_triangles_destroy(t);
    return NULL;
}
