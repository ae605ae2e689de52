#include "collision/convex.h"
#include "collision/pairs.h"

/* Most of the smallest radius of curvature goes into the radius; a rest stays so that the core
 * keeps an inside. */
#define ELLIPSOID_SHARE 0.9

ss_convex ss_convex_of(const ss_placed_shape *shape, ss_vec3 origin)
{
    const double *size = shape->shape->size;
    ss_convex convex;
    convex.centre = ss_vec3_subtract(ss_placed_position(shape), origin);
    convex.rotation = ss_mat3_load(shape->rotation);
    convex.radius = 0.0;
    convex.corner_count = 0;
    switch (shape->shape->kind) {
    case SS_CAPSULE:
        convex.core = SS_CORE_SEGMENT;
        convex.half = (ss_vec3){0.0, 0.0, 0.5 * size[1]};
        convex.radius = size[0];
        convex.size = size[1] + 2.0 * size[0];
        break;
    case SS_BOX:
        convex.core = SS_CORE_BOX;
        convex.half = (ss_vec3){0.5 * size[0], 0.5 * size[1], 0.5 * size[2]};
        convex.size = 2.0 * ss_vec3_norm(convex.half);
        break;
    case SS_CYLINDER:
        convex.core = SS_CORE_CYLINDER;
        convex.half = (ss_vec3){size[0], size[0], 0.5 * size[1]};
        convex.size = hypot(2.0 * size[0], size[1]);
        break;
    case SS_ELLIPSOID: {
        double least = fmin(size[0], fmin(size[1], size[2])), most = fmax(size[0], fmax(size[1], size[2]));
        convex.core = SS_CORE_ELLIPSOID;
        convex.half = ss_vec3_load(size);
        convex.radius = ELLIPSOID_SHARE * least * least / most;
        convex.size = 2.0 * most;
        break;
    }
    case SS_HULL:
        convex.core = SS_CORE_HULL;
        convex.hull = shape->geometry->hull;
        convex.size = 2.0 * convex.hull->radius;
        break;
    default:
        convex.core = SS_CORE_POINT;
        convex.radius = size[0];
        convex.size = 2.0 * size[0];
    }
    return convex;
}

ss_convex ss_convex_of_triangle(const ss_vec3 corner[3], ss_vec3 normal, double depth)
{
    ss_convex convex;
    convex.core = SS_CORE_CORNERS;
    convex.radius = 0.0;
    convex.rotation = ss_mat3_identity();
    convex.centre = ss_vec3_scale(1.0 / 3.0, ss_vec3_add(corner[0], ss_vec3_add(corner[1], corner[2])));
    convex.corner_count = depth > 0.0 ? 6 : 3;
    convex.face_normal = normal;
    convex.size = depth;
    for (int k = 0; k < 3; k++) {
        convex.corner[k] = ss_vec3_subtract(corner[k], convex.centre);
        convex.corner[k + 3] = ss_vec3_add_scaled(convex.corner[k], -depth, normal);
        convex.size = fmax(convex.size, 2.0 * ss_vec3_norm(convex.corner[k]));
    }
    return convex;
}

/* ---- support ---------------------------------------------------------------------------------------- */

/* Of the inner parallel body: p(d) - r d/|d| with p = D^2 d / |D d|. */
static ss_vec3 ellipsoid_support(ss_vec3 half, double radius, ss_vec3 d)
{
    ss_vec3 unit = ss_vec3_normalise(d, NULL);
    ss_vec3 scaled = {half.x * unit.x, half.y * unit.y, half.z * unit.z};
    double norm = ss_vec3_norm(scaled);
    if (!(norm > 0.0)) return (ss_vec3){0.0, 0.0, half.z - radius};
    ss_vec3 p = {half.x * scaled.x / norm, half.y * scaled.y / norm, half.z * scaled.z / norm};
    return ss_vec3_add_scaled(p, -radius, unit);
}

static int farthest(const ss_vec3 *points, int count, ss_vec3 d)
{
    int best = 0;
    double most = ss_vec3_dot(points[0], d);
    for (int i = 1; i < count; i++) {
        double here = ss_vec3_dot(points[i], d);
        if (here > most) {
            most = here;
            best = i;
        }
    }
    return best;
}

/* Uphill from corner to corner: on a convex body a corner without a higher neighbour is the highest. */
static int climb(const ss_hull *hull, ss_vec3 d)
{
    int best = 0, before = -1;
    double most = ss_vec3_dot(hull->vertex[0], d);
    while (best != before) {
        before = best;
        for (int k = hull->neighbour_start[before]; k < hull->neighbour_start[before + 1]; k++) {
            double here = ss_vec3_dot(hull->vertex[hull->neighbour[k]], d);
            if (here > most) {
                most = here;
                best = hull->neighbour[k];
            }
        }
    }
    return best;
}

#define CLIMB_FROM 48 /* corners: below, looking at all of them is faster */

static ss_vec3 local_support(const ss_convex *convex, ss_vec3 d)
{
    ss_vec3 half = convex->half;
    switch (convex->core) {
    case SS_CORE_SEGMENT:
        return (ss_vec3){0.0, 0.0, copysign(half.z, d.z)};
    case SS_CORE_BOX:
        return (ss_vec3){copysign(half.x, d.x), copysign(half.y, d.y), copysign(half.z, d.z)};
    case SS_CORE_CYLINDER: {
        double rho = sqrt(d.x * d.x + d.y * d.y), share = rho > 0.0 ? half.x / rho : 0.0;
        return (ss_vec3){share * d.x, share * d.y, copysign(half.z, d.z)};
    }
    case SS_CORE_ELLIPSOID:
        return ellipsoid_support(half, convex->radius, d);
    case SS_CORE_HULL: {
        const ss_hull *hull = convex->hull;
        bool few = hull->vertex_count < CLIMB_FROM;
        return hull->vertex[few ? farthest(hull->vertex, hull->vertex_count, d) : climb(hull, d)];
    }
    default:
        return (ss_vec3){0.0, 0.0, 0.0};
    }
}

ss_vec3 ss_convex_support(const ss_convex *convex, ss_vec3 direction)
{
    if (convex->core == SS_CORE_POINT) return convex->centre;
    if (convex->core == SS_CORE_CORNERS)
        return ss_vec3_add(convex->centre,
                           convex->corner[farthest(convex->corner, convex->corner_count, direction)]);
    ss_vec3 local = local_support(convex, ss_mat3_apply_transposed(convex->rotation, direction));
    return ss_vec3_add(convex->centre, ss_mat3_apply(convex->rotation, local));
}
