/* Cylinders that touch with their sides, as logs do, by formulas; all other ways through
 * ss_collide_convex_convex. */
#include "collision/pairs.h"
#include "collision/round.h"

enum { NEAREST, LOW_END, HIGH_END };

/* Overlap in parts of the smaller radius up to which sides are trusted to be the shortest way out. */
#define SHALLOW 0.5

typedef struct cylinder {
    ss_segment axis;
    double radius;
} cylinder;

/* The point of the side of `first`, at t along it, that is nearest to the axis of `second`. */
static ss_vec3 side_towards(const cylinder *first, const cylinder *second, double t)
{
    ss_vec3 centre = ss_segment_at(first->axis, t), axis = first->axis.axis;
    ss_vec3 foot = ss_segment_at(second->axis, ss_segment_foot(second->axis, centre));
    ss_vec3 towards = ss_vec3_subtract(foot, centre);
    ss_vec3 across = ss_vec3_add_scaled(towards, -ss_vec3_dot(towards, axis), axis);
    return ss_vec3_add_scaled(centre, first->radius, ss_vec3_normalise(across, NULL));
}

/* The rim of `first` at its end t against the side of `second`. Where that is just past the end of `second`,
 * the point is drawn back to lie over it; false when there is no such point. */
static bool touch_rim(const cylinder *first, const cylinder *second, double t, double margin, bool flip,
                      uint32_t feature, ss_manifold *manifold)
{
    ss_vec3 p = side_towards(first, second, t);
    double s = ss_segment_foot(second->axis, p), inside = ss_clamp(s, -second->axis.half, second->axis.half);
    if (s != inside) {
        t += (inside - s) * ss_vec3_dot(first->axis.axis, second->axis.axis);
        p = side_towards(first, second, t);
        s = ss_segment_foot(second->axis, p);
    }
    if (fabs(t) > first->axis.half) return false;
    double distance;
    ss_vec3 normal = ss_vec3_normalise(ss_vec3_subtract(ss_segment_at(second->axis, s), p), &distance);
    double gap = distance - second->radius;
    ss_vec3 point = ss_vec3_add_scaled(p, 0.5 * gap, normal);
    if (gap <= margin) ss_manifold_add(manifold, point, flip ? ss_vec3_negate(normal) : normal, gap, feature);
    return true;
}

/* Both ends of the common length of two nearly parallel cylinders. */
static bool touch_ends(const cylinder *a, const cylinder *b, double depth, double margin,
                       ss_manifold *manifold)
{
    double cosine = ss_vec3_dot(a->axis.axis, b->axis.axis);
    double middle = ss_segment_foot(a->axis, b->axis.centre), reach = b->axis.half * fabs(cosine);
    double low = fmax(-a->axis.half, middle - reach), high = fmin(a->axis.half, middle + reach);
    if (high - low <= fmax(depth, 0.0)) return false; // along the axis is a shorter way out
    double low_b = cosine > 0.0 ? -b->axis.half : b->axis.half;
    bool low_of_a = low > middle - reach, high_of_a = high < middle + reach;
    return touch_rim(low_of_a ? a : b, low_of_a ? b : a, low_of_a ? low : low_b, margin, !low_of_a, LOW_END,
                     manifold) &&
           touch_rim(high_of_a ? a : b, high_of_a ? b : a, high_of_a ? high : -low_b, margin, !high_of_a,
                     HIGH_END, manifold);
}

/* False: it takes more than the sides to tell. */
static bool collide_sides(const cylinder *a, const cylinder *b, double margin, ss_manifold *manifold)
{
    double t, s, distance;
    ss_segments_nearest(a->axis, b->axis, &t, &s);
    ss_vec3 p = ss_segment_at(a->axis, t);
    ss_vec3 normal = ss_vec3_normalise(ss_vec3_subtract(ss_segment_at(b->axis, s), p), &distance);
    double radii = a->radius + b->radius, gap = distance - radii,
           cosine = ss_vec3_dot(a->axis.axis, b->axis.axis);
    if (gap > margin) return true; // capsules around the cylinders are farther apart
    if (-gap > SHALLOW * fmin(a->radius, b->radius)) return false;
    bool interior = fabs(t) < a->axis.half && fabs(s) < b->axis.half;
    double sine2 = 1.0 - cosine * cosine;
    // Ends are nearest where they lie beside each other but for terms of this order.
    bool parallel = fabs(gap) * sine2 <= 1e-7 * radii && sine2 <= SS_NEARLY_PARALLEL * SS_NEARLY_PARALLEL;
    if (parallel && !touch_ends(a, b, -gap, margin, manifold)) return false;
    if (!parallel && !interior) return false;
    double end_gap = INFINITY, slack = 1e-7 * radii;
    for (int i = 0; i < manifold->count; i++) end_gap = fmin(end_gap, manifold->points[i].gap);
    if (!interior || end_gap <= gap + slack) return true;
    ss_manifold_add(manifold, ss_vec3_add_scaled(p, a->radius + 0.5 * gap, normal), normal, gap, NEAREST);
    return true;
}

void ss_collide_cylinder_cylinder(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                                  ss_manifold *manifold)
{
    manifold->count = 0;
    cylinder first = {ss_placed_segment(a), a->shape->size[0]};
    cylinder second = {ss_placed_segment(b), b->shape->size[0]};
    if (!collide_sides(&first, &second, margin, manifold)) ss_collide_convex_convex(a, b, margin, manifold);
}
