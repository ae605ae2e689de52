/* Spheres against polyhedra: one contact. */
#include "collision/pairs.h"
#include "collision/polyhedron.h"
#include "collision/segment.h"

#include <stdlib.h>

/* The box's feature that the nearest point lies on, numbered as in ss_box_hull: `side` -1, 0 or 1
 * along each axis. */
static ss_feature box_feature(const int side[3])
{
    int sides = abs(side[0]) + abs(side[1]) + abs(side[2]);
    if (sides == 3) return (ss_feature){SS_VERTEX, (side[0] > 0) | (side[1] > 0) << 1 | (side[2] > 0) << 2};
    for (int k = 0; k < 3; k++) {
        if (sides == 1 && side[k]) return (ss_feature){SS_FACE, 2 * k + (side[k] > 0)};
        if (sides == 2 && !side[k])
            return (ss_feature){SS_EDGE, 4 * k + ((side[(k + 1) % 3] > 0) | (side[(k + 2) % 3] > 0) << 1)};
    }
    return (ss_feature){SS_FACE, 0};
}

/* Outwards from the box to the centre, which is at `centre` in the box's frame; the distance is
 * negative inside. */
static double towards_centre(const double centre[3], const double half[3], double normal[3],
                             ss_feature *feature)
{
    int side[3];
    ss_vec3 nearest = {ss_clamp(centre[0], -half[0], half[0]), ss_clamp(centre[1], -half[1], half[1]),
                       ss_clamp(centre[2], -half[2], half[2])};
    double distance;
    ss_vec3 out = ss_vec3_normalise(ss_vec3_subtract(ss_vec3_load(centre), nearest), &distance);
    ss_vec3_store(out, normal);
    for (int k = 0; k < 3; k++) side[k] = (centre[k] > half[k]) - (centre[k] < -half[k]);
    *feature = box_feature(side);
    if (distance > 0.0) return distance;

    /* Inside: out through the nearest face. */
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (half[k] - fabs(centre[k]) < half[axis] - fabs(centre[axis])) axis = k;
    bool positive = centre[axis] >= 0.0;
    normal[axis] = positive ? 1.0 : -1.0;
    *feature = (ss_feature){SS_FACE, 2 * axis + positive};
    return fabs(centre[axis]) - half[axis];
}

void ss_collide_sphere_box(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                           ss_manifold *manifold)
{
    manifold->count = 0;
    double radius = a->shape->size[0], centre[3], half[3], outwards[3];
    ss_vec3_store(ss_placed_to_local(b, ss_placed_position(a)), centre);
    for (int k = 0; k < 3; k++) half[k] = 0.5 * b->shape->size[k];
    ss_feature feature;
    double distance = towards_centre(centre, half, outwards, &feature), gap = distance - radius;
    if (!(gap <= margin)) return;
    ss_vec3 normal = ss_vec3_negate(ss_placed_turn(b, ss_vec3_load(outwards)));
    ss_vec3 point = ss_vec3_add_scaled(ss_placed_position(a), radius + 0.5 * gap, normal);
    ss_manifold_add(manifold, point, normal, gap, ss_feature_pair((ss_feature){SS_VERTEX, 0}, feature));
}

void ss_collide_sphere_hull(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                            ss_manifold *manifold)
{
    ss_collide_rounded(b, a, 0.0, margin, true, manifold);
}
