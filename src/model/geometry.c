/* What is precomputed of a shape: bounds of all kinds, boxes as hulls, heightfields. */
#include "model/geometry_parts.h"

#include "base/assert.h"

#include <string.h>

/* ---- sizes ------------------------------------------------------------------------------------------ */

static bool check_size(const ss_shape *shape, ss_error *err)
{
    /* How many entries of `size` a kind has; only a capsule may have a length of zero. */
    static const int counts[SS_SHAPE_KINDS] = {[SS_SPHERE] = 1,   [SS_BOX] = 3,       [SS_CAPSULE] = 2,
                                               [SS_CYLINDER] = 2, [SS_ELLIPSOID] = 3, [SS_HEIGHTFIELD] = 2};
    for (int k = 0; k < counts[shape->kind]; k++) {
        bool may_be_zero = shape->kind == SS_CAPSULE && k == 1;
        double size = shape->size[k];
        if (isfinite(size) && (size > 0.0 || (may_be_zero && size == 0.0))) continue;
        return ss_fail(err, SS_ERROR_USAGE, "size[%d]: %g, must be finite and positive", k, size);
    }

    if ((shape->kind == SS_HULL || shape->kind == SS_MESH) && !shape->mesh)
        return ss_fail(err, SS_ERROR_USAGE, "mesh: not given");
    return true;
}

static void set_bounds(ss_geometry *geometry, double x, double y, double z)
{
    const double half[3] = {x, y, z};
    for (int k = 0; k < 3; k++) {
        geometry->low[k] = -half[k];
        geometry->high[k] = half[k];
    }
}

static void bound_points(ss_geometry *geometry, const ss_vec3 *points, int count)
{
    set_bounds(geometry, -INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < count; i++) {
        const double x[3] = {points[i].x, points[i].y, points[i].z};
        for (int k = 0; k < 3; k++) {
            geometry->low[k] = fmin(geometry->low[k], x[k]);
            geometry->high[k] = fmax(geometry->high[k], x[k]);
        }
    }
}

/* ---- heightfields ----------------------------------------------------------------------------------- */

static ss_heightfield *create_heights(const ss_shape *shape, ss_error *err)
{
    /* The number of heights must fit an int, and each of them must be a number. */
    if (shape->nx < 2 || shape->ny < 2 || shape->nx > INT32_MAX / shape->ny) {
        ss_fail(err, SS_ERROR_USAGE, "nx, ny: %d x %d, must be at least 2 x 2 and below 2^31 in all",
                shape->nx, shape->ny);
        return NULL;
    }
    if (!shape->heights) {
        ss_fail(err, SS_ERROR_USAGE, "heights: not given");
        return NULL;
    }
    for (int i = 0; i < shape->nx * shape->ny; i++)
        if (!isfinite(shape->heights[i])) {
            ss_fail(err, SS_ERROR_USAGE, "heights[%d]: %g, must be finite", i, shape->heights[i]);
            return NULL;
        }

    size_t count = (size_t)shape->nx * (size_t)shape->ny;
    ss_heightfield *field = ss_allocate(1, sizeof *field);
    double *height = ss_allocate(count, sizeof *height);
    if (!field || !height) {
        ss_release(field);
        ss_release(height);
        ss_fail(err, SS_ERROR_RESOURCES, "heights: out of memory for %d x %d", shape->nx, shape->ny);
        return NULL;
    }

    /* The user's heights are copied; the lowest and the highest bound the field. */
    memcpy(height, shape->heights, count * sizeof *height);
    *field =
        (ss_heightfield){shape->nx, shape->ny, shape->size[0], shape->size[1], height, height[0], height[0]};
    for (size_t i = 1; i < count; i++) {
        field->low = fmin(field->low, height[i]);
        field->high = fmax(field->high, height[i]);
    }
    return field;
}

/* ---- any shape -------------------------------------------------------------------------------------- */

/* The part of the geometry that a kind has, and the box around it. */
static bool fill(ss_geometry *geometry, const ss_shape *shape, ss_error *err)
{
    const double *size = shape->size;
    switch (shape->kind) {
    case SS_SPHERE:
        set_bounds(geometry, size[0], size[0], size[0]);
        return true;
    case SS_PLANE:
        set_bounds(geometry, INFINITY, INFINITY, INFINITY);
        geometry->high[2] = 0.0;
        return true;
    case SS_BOX:
        set_bounds(geometry, 0.5 * size[0], 0.5 * size[1], 0.5 * size[2]);
        geometry->hull = ss_hull_of_box(size, err);
        return geometry->hull != NULL;
    case SS_CAPSULE:
        set_bounds(geometry, size[0], size[0], size[0] + 0.5 * size[1]);
        return true;
    case SS_CYLINDER:
        set_bounds(geometry, size[0], size[0], 0.5 * size[1]);
        return true;
    case SS_ELLIPSOID:
        set_bounds(geometry, size[0], size[1], size[2]);
        return true;
    case SS_HULL:
        geometry->hull = ss_hull_of_mesh(shape->mesh, err);
        if (geometry->hull) bound_points(geometry, geometry->hull->vertex, geometry->hull->vertex_count);
        return geometry->hull != NULL;
    case SS_MESH:
        geometry->triangles = ss_triangles_of_mesh(shape->mesh, err);
        if (geometry->triangles)
            bound_points(geometry, geometry->triangles->vertex, geometry->triangles->vertex_count);
        return geometry->triangles != NULL;
    case SS_HEIGHTFIELD: {
        const ss_heightfield *field = geometry->heights = create_heights(shape, err);
        if (!field) return false;

        /* There is ground below the surface too: the box reaches as far down as the field is wide, so that
         * what has sunk in is found. */
        double x = 0.5 * (field->nx - 1) * field->dx, y = 0.5 * (field->ny - 1) * field->dy;
        set_bounds(geometry, x, y, 0.0);
        geometry->low[2] = field->low - 2.0 * fmax(x, y);
        geometry->high[2] = field->high;
        return true;
    }
    case SS_SHAPE_KINDS:
        break;
    }
    return ss_fail(err, SS_ERROR_USAGE, "kind: unknown kind of shape %d", (int)shape->kind);
}

ss_geometry *ss_geometry_create(const ss_shape *shape, ss_error *err)
{
    SS_ASSERT((unsigned)shape->kind < SS_SHAPE_KINDS);
    if (!check_size(shape, err)) return NULL;
    ss_geometry *geometry = ss_allocate(1, sizeof *geometry);
    if (!geometry) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        return NULL;
    }
    if (fill(geometry, shape, err)) return geometry;
    ss_geometry_destroy(geometry);
    return NULL;
}

void ss_geometry_destroy(ss_geometry *geometry)
{
    if (!geometry) return;
    ss_hull_destroy(geometry->hull);
    ss_triangles_destroy(geometry->triangles);
    if (geometry->heights) ss_release(geometry->heights->height);
    ss_release(geometry->heights);
    ss_release(geometry);
}

void ss_geometry_scale(ss_geometry *geometry, double length)
{
    for (int k = 0; k < 3; k++) {
        geometry->low[k] *= length;
        geometry->high[k] *= length;
    }
    if (geometry->hull) ss_hull_scale(geometry->hull, length);
    if (geometry->triangles) ss_triangles_scale(geometry->triangles, length);

    ss_heightfield *field = geometry->heights;
    if (!field) return;
    for (int i = 0; i < field->nx * field->ny; i++) field->height[i] *= length;
    field->dx *= length;
    field->dy *= length;
    field->low *= length;
    field->high *= length;
}
