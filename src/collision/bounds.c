#include "collision/bounds.h"
#include "collision/pairs.h"
#include "model/geometry.h"

static ss_box around(ss_vec3 centre, ss_vec3 half)
{
    return (ss_box){ss_vec3_subtract(centre, half), ss_vec3_add(centre, half)};
}

/* Half extents along the world's axes of a box with these half extents along its own. */
static ss_vec3 turned_half(const double r[9], ss_vec3 h)
{
    return (ss_vec3){fabs(r[0]) * h.x + fabs(r[1]) * h.y + fabs(r[2]) * h.z,
                     fabs(r[3]) * h.x + fabs(r[4]) * h.y + fabs(r[5]) * h.z,
                     fabs(r[6]) * h.x + fabs(r[7]) * h.y + fabs(r[8]) * h.z};
}

/* A disc with unit normal u reaches r sqrt(1 - u_k^2) along axis k. */
static double disc(double radius, double u)
{
    return radius * sqrt(fmax(0.0, 1.0 - u * u));
}

ss_box ss_placed_box(const ss_placed_shape *shape)
{
    const double *size = shape->shape->size;
    ss_vec3 position = ss_placed_position(shape), axis = ss_placed_axis(shape, 2);
    switch (shape->shape->kind) {
    case SS_SPHERE:
        return around(position, (ss_vec3){size[0], size[0], size[0]});
    case SS_PLANE:
        return around(position, (ss_vec3){INFINITY, INFINITY, INFINITY});
    case SS_BOX:
        return around(position,
                      turned_half(shape->rotation, (ss_vec3){0.5 * size[0], 0.5 * size[1], 0.5 * size[2]}));
    case SS_CAPSULE: {
        double half = 0.5 * size[1];
        return around(position, (ss_vec3){half * fabs(axis.x) + size[0], half * fabs(axis.y) + size[0],
                                          half * fabs(axis.z) + size[0]});
    }
    case SS_CYLINDER: {
        double half = 0.5 * size[1];
        return around(position, (ss_vec3){half * fabs(axis.x) + disc(size[0], axis.x),
                                          half * fabs(axis.y) + disc(size[0], axis.y),
                                          half * fabs(axis.z) + disc(size[0], axis.z)});
    }
    case SS_ELLIPSOID: {
        const double *r = shape->rotation;
        ss_vec3 rows[3];
        for (int i = 0; i < 3; i++)
            rows[i] = (ss_vec3){r[3 * i] * size[0], r[3 * i + 1] * size[1], r[3 * i + 2] * size[2]};
        return around(position,
                      (ss_vec3){ss_vec3_norm(rows[0]), ss_vec3_norm(rows[1]), ss_vec3_norm(rows[2])});
    }
    default: {
        ss_vec3 low = ss_vec3_load(shape->geometry->low), high = ss_vec3_load(shape->geometry->high);
        ss_vec3 middle = ss_vec3_scale(0.5, ss_vec3_add(low, high));
        ss_vec3 half = ss_vec3_scale(0.5, ss_vec3_subtract(high, low));
        return around(ss_placed_to_world(shape, middle), turned_half(shape->rotation, half));
    }
    }
}

static double smallest(const double size[3])
{
    return fmin(size[0], fmin(size[1], size[2]));
}

double ss_shape_radius(const ss_placed_shape *shape)
{
    const double *size = shape->shape->size;
    switch (shape->shape->kind) {
    case SS_SPHERE:
        return size[0];
    case SS_PLANE:
        return INFINITY;
    case SS_BOX:
        return 0.5 * ss_vec3_norm(ss_vec3_load(size));
    case SS_CAPSULE:
        return size[0] + 0.5 * size[1];
    case SS_CYLINDER:
        return hypot(size[0], 0.5 * size[1]);
    case SS_ELLIPSOID:
        return fmax(size[0], fmax(size[1], size[2]));
    default: { // to the farthest corner of its box
        double square = 0.0;
        for (int k = 0; k < 3; k++) {
            double most = fmax(fabs(shape->geometry->low[k]), fabs(shape->geometry->high[k]));
            square += most * most;
        }
        return sqrt(square);
    }
    }
}

double ss_shape_smallest(const ss_placed_shape *shape)
{
    const double *size = shape->shape->size;
    switch (shape->shape->kind) {
    case SS_SPHERE:
    case SS_CAPSULE:
        return 2.0 * size[0];
    case SS_BOX:
        return smallest(size);
    case SS_CYLINDER:
        return fmin(2.0 * size[0], size[1]);
    case SS_ELLIPSOID:
        return 2.0 * smallest(size);
    case SS_HULL: {
        const double *low = shape->geometry->low, *high = shape->geometry->high;
        return smallest((double[]){high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    }
    default:
        return INFINITY;
    }
}
