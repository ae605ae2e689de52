#include "collision/bounds.h"
#include "collision/pairs.h"
#include "model/geometry.h"

#include <float.h>
#include <string.h>

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

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_bits __attribute__((vector_size(16)));

static inline four choose(four_bits which, four yes, four no)
{
    return (four)((which & (four_bits)yes) | (~which & (four_bits)no));
}

static inline double smallest_of_four(four a)
{
    float b = a[0] < a[1] ? a[0] : a[1], c = a[2] < a[3] ? a[2] : a[3];
    return (double)(b < c ? b : c);
}

/* Around all vertices. The turned box of the hull's own frame would be much larger, and most rocks of a heap
 * near others that they cannot reach. Single precision may be wrong by some 2^-22 of what is added up. */
static ss_box hull_box(const ss_placed_shape *shape)
{
    const ss_hull *hull = shape->geometry->hull;
    float turn[9];
    for (int i = 0; i < 9; i++) turn[i] = (float)shape->rotation[i];
    const four far = {FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX};
    four low[3] = {far, far, far}, high[3] = {-far, -far, -far};
    for (int k = 0; k < (hull->vertex_count + 3) / 4; k++) {
        four corner[3];
        memcpy(corner, hull->corners[k].x, sizeof corner);
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++) {
            four along = turn[3 * i] * corner[0] + turn[3 * i + 1] * corner[1] + turn[3 * i + 2] * corner[2];
            low[i] = choose(along < low[i], along, low[i]);
            high[i] = choose(along > high[i], along, high[i]);
        }
    }

    double slack = 1e-6 * hull->extent;
    ss_vec3 all = {slack, slack, slack};
    ss_vec3 least = {smallest_of_four(low[0]), smallest_of_four(low[1]), smallest_of_four(low[2])};
    ss_vec3 most = {-smallest_of_four(-high[0]), -smallest_of_four(-high[1]), -smallest_of_four(-high[2])};
    return (ss_box){ss_vec3_subtract(least, all), ss_vec3_add(most, all)};
}

ss_box ss_turned_box(const ss_placed_shape *shape)
{
    const double *size = shape->shape->size;
    ss_vec3 origin = {0.0, 0.0, 0.0}, axis = ss_placed_axis(shape, 2);
    switch (shape->shape->kind) {
    case SS_SPHERE:
        return around(origin, (ss_vec3){size[0], size[0], size[0]});
    case SS_PLANE:
        return around(origin, (ss_vec3){INFINITY, INFINITY, INFINITY});
    case SS_BOX:
        return around(origin,
                      turned_half(shape->rotation, (ss_vec3){0.5 * size[0], 0.5 * size[1], 0.5 * size[2]}));
    case SS_CAPSULE: {
        double half = 0.5 * size[1];
        return around(origin, (ss_vec3){half * fabs(axis.x) + size[0], half * fabs(axis.y) + size[0],
                                        half * fabs(axis.z) + size[0]});
    }
    case SS_CYLINDER: {
        double half = 0.5 * size[1];
        return around(origin, (ss_vec3){half * fabs(axis.x) + disc(size[0], axis.x),
                                        half * fabs(axis.y) + disc(size[0], axis.y),
                                        half * fabs(axis.z) + disc(size[0], axis.z)});
    }
    case SS_ELLIPSOID: {
        const double *r = shape->rotation;
        ss_vec3 rows[3];
        for (int i = 0; i < 3; i++)
            rows[i] = (ss_vec3){r[3 * i] * size[0], r[3 * i + 1] * size[1], r[3 * i + 2] * size[2]};
        return around(origin, (ss_vec3){ss_vec3_norm(rows[0]), ss_vec3_norm(rows[1]), ss_vec3_norm(rows[2])});
    }
    case SS_HULL:
        return hull_box(shape);
    default: {
        ss_vec3 low = ss_vec3_load(shape->geometry->low), high = ss_vec3_load(shape->geometry->high);
        ss_vec3 middle = ss_vec3_scale(0.5, ss_vec3_add(low, high));
        ss_vec3 half = ss_vec3_scale(0.5, ss_vec3_subtract(high, low));
        return around(ss_placed_turn(shape, middle), turned_half(shape->rotation, half));
    }
    }
}

ss_box ss_placed_box(const ss_placed_shape *shape)
{
    ss_vec3 position = ss_placed_position(shape);
    ss_box box = ss_turned_box(shape);
    return (ss_box){ss_vec3_add(position, box.low), ss_vec3_add(position, box.high)};
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
