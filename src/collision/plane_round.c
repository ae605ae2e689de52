/* Half-spaces against round shapes. */
#include "collision/pairs.h"
#include "collision/round.h"

/* A point of a shape above or below the plane: contact there when it is within the margin. */
static void touch_plane(const ss_placed_shape *plane, ss_vec3 p, double margin, uint32_t feature,
                        ss_manifold *manifold)
{
    ss_vec3 up = ss_placed_axis(plane, 2);
    double gap = ss_vec3_dot(up, ss_vec3_subtract(p, ss_placed_position(plane)));
    if (gap <= margin) ss_manifold_add(manifold, ss_vec3_add_scaled(p, -0.5 * gap, up), up, gap, feature);
}

void ss_collide_sphere_plane(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                             ss_manifold *manifold)
{
    manifold->count = 0;
    ss_vec3 lowest = ss_vec3_add_scaled(ss_placed_position(a), -a->shape->size[0], ss_placed_axis(b, 2));
    touch_plane(b, lowest, margin, 0, manifold);
    ss_manifold_flip(manifold);
}

void ss_collide_plane_capsule(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                              ss_manifold *manifold)
{
    manifold->count = 0;
    ss_segment core = ss_placed_segment(b);
    for (int end = 0; end < 2; end++) {
        ss_vec3 centre = ss_segment_at(core, end ? core.half : -core.half);
        touch_plane(a, ss_vec3_add_scaled(centre, -b->shape->size[0], ss_placed_axis(a, 2)), margin,
                    (uint32_t)end, manifold);
    }
}

void ss_collide_plane_ellipsoid(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                                ss_manifold *manifold)
{
    manifold->count = 0;
    const double *half = b->shape->size;
    ss_vec3 down = ss_placed_turn_back(b, ss_vec3_negate(ss_placed_axis(a, 2)));
    ss_vec3 scaled = {half[0] * down.x, half[1] * down.y, half[2] * down.z};
    ss_vec3 unit = ss_vec3_normalise(scaled, NULL);
    ss_vec3 lowest = {half[0] * unit.x, half[1] * unit.y, half[2] * unit.z};
    touch_plane(a, ss_placed_to_world(b, lowest), margin, 0, manifold);
}

/* ---- plane and cylinder ----------------------------------------------------------------------------- */

/* The lowest point of either rim, and of the lower rim three more, a right angle apart. */
void ss_collide_plane_cylinder(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                               ss_manifold *manifold)
{
    manifold->count = 0;
    ss_segment core = ss_placed_segment(b);
    double radius = b->shape->size[0];

    /* The direction from the axis to the lowest line of the side. A cylinder that stands within 1e-6 rad of
     * upright has none that means anything: its own x axis, so that the points do not wander. */
    ss_vec3 up = ss_placed_axis(a, 2);
    ss_vec3 tilt = ss_vec3_add_scaled(up, -ss_vec3_dot(up, core.axis), core.axis);
    double sine;
    ss_vec3 lowest = ss_vec3_normalise(ss_vec3_negate(tilt), &sine);
    ss_vec3 down = sine > 1e-6 ? lowest : ss_placed_axis(b, 0), across = ss_vec3_cross(core.axis, down);
    bool top_is_lower = ss_vec3_dot(core.axis, up) < 0.0;
    for (int top = 0; top < 2; top++) {
        ss_vec3 cap = ss_segment_at(core, top ? core.half : -core.half);
        uint32_t feature = top ? 4 : 0;
        touch_plane(a, ss_vec3_add_scaled(cap, radius, down), margin, feature, manifold);
        if ((top != 0) != top_is_lower) continue;
        touch_plane(a, ss_vec3_add_scaled(cap, radius, across), margin, feature + 1, manifold);
        touch_plane(a, ss_vec3_add_scaled(cap, -radius, down), margin, feature + 2, manifold);
        touch_plane(a, ss_vec3_add_scaled(cap, -radius, across), margin, feature + 3, manifold);
    }

    /* Four points are enough to stand on: the highest of five goes. */
    if (manifold->count <= 4) return;
    int highest = 0;
    for (int i = 1; i < manifold->count; i++)
        if (manifold->points[i].gap > manifold->points[highest].gap) highest = i;
    manifold->points[highest] = manifold->points[--manifold->count];
}
