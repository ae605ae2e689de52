/* Which part of a convex body faces a direction: what contact patches are cut from. */
#include "collision/convex.h"

static void add(ss_support_feature *feature, ss_vec3 point, int id)
{
    if (feature->count == SS_SUPPORT_FEATURE_MOST) return;
    feature->id[feature->count] = (uint32_t)id & 4095u;
    feature->point[feature->count++] = point;
}

/* Corners of a box have three bits, set where the coordinate is positive. */
static ss_vec3 box_corner(ss_vec3 half, int bits)
{
    return (ss_vec3){bits & 1 ? half.x : -half.x, bits & 2 ? half.y : -half.y, bits & 4 ? half.z : -half.z};
}

static void box_feature(ss_vec3 half, ss_vec3 d, ss_support_feature *feature)
{
    int bits = (d.x > 0.0 ? 1 : 0) | (d.y > 0.0 ? 2 : 0) | (d.z > 0.0 ? 4 : 0);
    int along[3], flat = 0; // axes across the direction
    if (fabs(d.x) <= SS_FACING) along[flat++] = 1;
    if (fabs(d.y) <= SS_FACING) along[flat++] = 2;
    if (fabs(d.z) <= SS_FACING) along[flat++] = 4;
    add(feature, box_corner(half, bits), bits);
    if (flat == 0) return;
    add(feature, box_corner(half, bits ^ along[0]), bits ^ along[0]);
    if (flat == 1) return;
    add(feature, box_corner(half, bits ^ along[0] ^ along[1]), bits ^ along[0] ^ along[1]);
    add(feature, box_corner(half, bits ^ along[1]), bits ^ along[1]);
}

static void cylinder_feature(ss_vec3 half, ss_vec3 d, ss_support_feature *feature)
{
    double rho = sqrt(d.x * d.x + d.y * d.y);

    /* A cap, as an octagon that starts at the rim's farthest point. */
    if (rho <= SS_FACING) {
        static const double cosine[8] = {1.0, M_SQRT1_2, 0.0, -M_SQRT1_2, -1.0, -M_SQRT1_2, 0.0, M_SQRT1_2};
        ss_vec3 x = rho > 1e-6 ? (ss_vec3){d.x / rho, d.y / rho, 0.0} : (ss_vec3){1.0, 0.0, 0.0};
        double z = copysign(half.z, d.z);
        for (int k = 0; k < 8; k++) {
            double c = half.x * cosine[k], s = half.x * cosine[(k + 6) % 8];
            add(feature, (ss_vec3){c * x.x - s * x.y, c * x.y + s * x.x, z}, (d.z > 0.0 ? 8 : 0) + k);
        }
        return;
    }

    /* A point of a rim, or a line of the side. */
    double x = half.x * d.x / rho, y = half.x * d.y / rho;
    if (fabs(d.z) > SS_FACING) {
        add(feature, (ss_vec3){x, y, copysign(half.z, d.z)}, 16 + (d.z > 0.0));
        return;
    }
    add(feature, (ss_vec3){x, y, -half.z}, 16);
    add(feature, (ss_vec3){x, y, half.z}, 17);
}

static void hull_feature(const ss_hull *hull, ss_vec3 d, ss_support_feature *feature)
{
    int facing = 0;
    double most = -2.0;
    for (int f = 0; f < hull->face_count; f++) {
        double cosine = ss_vec3_dot(hull->face[f].normal, d);
        if (cosine > most) {
            most = cosine;
            facing = f;
        }
    }
    const ss_hull_face *face = &hull->face[facing];
    if (ss_vec3_dot(face->normal, d) >= 1.0 - 0.5 * SS_FACING * SS_FACING) {
        // A face with more corners than fit keeps every second, third, ... of them.
        int stride = (face->size + SS_SUPPORT_FEATURE_MOST - 1) / SS_SUPPORT_FEATURE_MOST;
        for (int k = 0; k < face->size; k += stride)
            add(feature, hull->vertex[hull->loop[face->first + k]], hull->loop[face->first + k]);
        return;
    }

    /* The highest corner, and of its edges the one most nearly across the direction, if it is. */
    int corner = 0, end = -1;
    for (int v = 1; v < hull->vertex_count; v++)
        if (ss_vec3_dot(hull->vertex[v], d) > ss_vec3_dot(hull->vertex[corner], d)) corner = v;
    double least = SS_FACING;
    for (int k = hull->neighbour_start[corner]; k < hull->neighbour_start[corner + 1]; k++) {
        int other = hull->neighbour[k];
        ss_vec3 edge = ss_vec3_normalise(ss_vec3_subtract(hull->vertex[other], hull->vertex[corner]), NULL);
        double sine = fabs(ss_vec3_dot(edge, d));
        if (sine < least) {
            least = sine;
            end = other;
        }
    }
    add(feature, hull->vertex[corner], corner);
    if (end >= 0) add(feature, hull->vertex[end], end);
}

/* Only the triangle itself and its edges can be touched, not the walls of the prism. */
static void triangle_feature(const ss_convex *convex, ss_vec3 d, ss_support_feature *feature)
{
    const ss_vec3 *corner = convex->corner;
    if (fabs(ss_vec3_dot(convex->face_normal, d)) >= 1.0 - 0.5 * SS_FACING * SS_FACING) {
        for (int k = 0; k < 3; k++) add(feature, corner[k], k);
        return;
    }
    int top = 0;
    for (int k = 1; k < 3; k++)
        if (ss_vec3_dot(corner[k], d) > ss_vec3_dot(corner[top], d)) top = k;
    double least = SS_FACING;
    int other = -1;
    for (int k = 0; k < 3; k++) {
        ss_vec3 edge = ss_vec3_normalise(ss_vec3_subtract(corner[k], corner[top]), NULL);
        double sine = fabs(ss_vec3_dot(edge, d));
        if (k == top || sine >= least) continue;
        least = sine;
        other = k;
    }
    add(feature, corner[top], top);
    if (other >= 0) add(feature, corner[other], other);
}

void ss_convex_facing(const ss_convex *convex, ss_vec3 direction, ss_support_feature *feature)
{
    ss_vec3 d = ss_mat3_apply_transposed(convex->rotation, direction);
    feature->count = 0;
    switch (convex->core) {
    case SS_CORE_SEGMENT: {
        ss_vec3 lift = ss_vec3_scale(convex->radius, d);
        bool lies = fabs(d.z) <= SS_FACING;
        if (lies || d.z < 0.0) add(feature, ss_vec3_add(lift, (ss_vec3){0.0, 0.0, -convex->half.z}), 0);
        if (lies || d.z >= 0.0) add(feature, ss_vec3_add(lift, (ss_vec3){0.0, 0.0, convex->half.z}), 1);
        break;
    }
    case SS_CORE_BOX:
        box_feature(convex->half, d, feature);
        break;
    case SS_CORE_CYLINDER:
        cylinder_feature(convex->half, d, feature);
        break;
    case SS_CORE_HULL:
        hull_feature(convex->hull, d, feature);
        break;
    case SS_CORE_CORNERS:
        triangle_feature(convex, d, feature);
        break;
    default: // round all over: one point
        add(feature, ss_vec3_add_scaled(ss_convex_support(convex, direction), convex->radius, direction), 0);
        return;
    }
    for (int k = 0; k < feature->count; k++)
        feature->point[k] = ss_vec3_add(convex->centre, ss_mat3_apply(convex->rotation, feature->point[k]));
}
