/* Balls and capsules among themselves and against cylinders: closed formulas. */
#include "collision/pairs.h"
#include "collision/round.h"
#include "collision/segment.h"

/* Balls around p and q. Balls with one centre have no direction between them: they get `fallback`. */
static void collide_balls(ss_vec3 p, double radius_a, ss_vec3 q, double radius_b, ss_vec3 fallback,
                          double margin, uint32_t feature, ss_manifold *manifold)
{
    ss_vec3 between = ss_vec3_subtract(q, p);
    double distance = ss_vec3_norm(between), gap = distance - (radius_a + radius_b);
    if (gap > margin) return;
    ss_vec3 normal = distance > 0.0 ? ss_vec3_scale(1.0 / distance, between) : fallback;
    ss_manifold_add(manifold, ss_vec3_add_scaled(p, radius_a + 0.5 * gap, normal), normal, gap, feature);
}

void ss_collide_sphere_sphere(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                              ss_manifold *manifold)
{
    manifold->count = 0;
    collide_balls(ss_placed_position(a), a->shape->size[0], ss_placed_position(b), b->shape->size[0],
                  ss_placed_axis(a, 2), margin, 0, manifold);
}

ss_segment ss_placed_segment(const ss_placed_shape *shape)
{
    return (ss_segment){ss_placed_position(shape), ss_placed_axis(shape, 2), 0.5 * shape->shape->size[1]};
}

void ss_collide_sphere_capsule(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                               ss_manifold *manifold)
{
    manifold->count = 0;
    ss_segment core = ss_placed_segment(b);
    ss_vec3 centre = ss_placed_position(a);
    double t = ss_clamp(ss_segment_foot(core, centre), -core.half, core.half);
    collide_balls(centre, a->shape->size[0], ss_segment_at(core, t), b->shape->size[0], ss_placed_axis(b, 0),
                  margin, 0, manifold);
}

/* ---- capsule and capsule ---------------------------------------------------------------------------- */

enum { NEAREST, LOW_END, HIGH_END };

typedef struct capsules {
    ss_segment a, b;
    double radius_a, radius_b;
    ss_vec3 fallback;
    double margin;
} capsules;

/* The ball of a at t against all of b. */
static void collide_at(const capsules *pair, double t, uint32_t feature, ss_manifold *manifold)
{
    ss_vec3 p = ss_segment_at(pair->a, t);
    double s = ss_clamp(ss_segment_foot(pair->b, p), -pair->b.half, pair->b.half);
    collide_balls(p, pair->radius_a, ss_segment_at(pair->b, s), pair->radius_b, pair->fallback, pair->margin,
                  feature, manifold);
}

/* Both ends of where two nearly parallel capsules lie side by side; false when they do not. */
static bool collide_side_by_side(const capsules *pair, ss_manifold *manifold)
{
    double cosine = ss_vec3_dot(pair->a.axis, pair->b.axis);
    if (1.0 - cosine * cosine > SS_NEARLY_PARALLEL * SS_NEARLY_PARALLEL) return false;
    double low, high;
    ss_segments_beside(pair->a, pair->b, &low, &high);
    if (!(high > low)) return false;
    collide_at(pair, low, LOW_END, manifold);
    collide_at(pair, high, HIGH_END, manifold);
    return true;
}

void ss_collide_capsule_capsule(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                                ss_manifold *manifold)
{
    manifold->count = 0;
    double sine, t, s;
    ss_vec3 across = ss_vec3_normalise(ss_vec3_cross(ss_placed_axis(a, 2), ss_placed_axis(b, 2)), &sine);
    capsules pair = {.a = ss_placed_segment(a),
                     .b = ss_placed_segment(b),
                     .radius_a = a->shape->size[0],
                     .radius_b = b->shape->size[0],
                     .fallback = sine > 1e-7 ? across : ss_placed_axis(a, 0),
                     .margin = margin};
    ss_segments_nearest(pair.a, pair.b, &t, &s);
    collide_at(&pair, t, NEAREST, manifold);
    if (manifold->count == 0) return;

    ss_contact_point nearest = manifold->points[0];
    manifold->count = 0;
    if (collide_side_by_side(&pair, manifold)) {
        // Capsules that cross at a small angle are nearest somewhere between the ends: keep that point too.
        double end_gap = INFINITY, slack = 1e-3 * (pair.radius_a + pair.radius_b);
        for (int i = 0; i < manifold->count; i++) end_gap = fmin(end_gap, manifold->points[i].gap);
        if (end_gap <= nearest.gap + slack) return;
    }
    manifold->points[manifold->count++] = nearest;
}

/* ---- sphere and cylinder ---------------------------------------------------------------------------- */

/* The point of the cylinder's surface nearest to p, and the outward normal there; returns the signed
 * distance. All in the cylinder's frame. */
static double cylinder_nearest(double radius, double half, ss_vec3 p, ss_vec3 *surface, ss_vec3 *normal)
{
    double rho = hypot(p.x, p.y);
    ss_vec3 outward = rho > 0.0 ? (ss_vec3){p.x / rho, p.y / rho, 0.0} : (ss_vec3){1.0, 0.0, 0.0};
    ss_vec3 up = {0.0, 0.0, p.z < 0.0 ? -1.0 : 1.0};
    double side = rho - radius, cap = fabs(p.z) - half;
    if (side > 0.0 && cap > 0.0) {
        ss_vec3 rim = ss_vec3_add_scaled(ss_vec3_scale(radius, outward), half, up);
        double distance;
        *surface = rim;
        *normal = ss_vec3_normalise(ss_vec3_subtract(p, rim), &distance);
        return distance;
    }
    *normal = side > cap ? outward : up;
    double distance = fmax(side, cap);
    *surface = ss_vec3_add_scaled(p, -distance, *normal);
    return distance;
}

void ss_collide_sphere_cylinder(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                                ss_manifold *manifold)
{
    manifold->count = 0;
    ss_vec3 surface, outward;
    double distance = cylinder_nearest(b->shape->size[0], 0.5 * b->shape->size[1],
                                       ss_placed_to_local(b, ss_placed_position(a)), &surface, &outward);
    double gap = distance - a->shape->size[0];
    if (gap > margin) return;
    ss_vec3 point = ss_vec3_add_scaled(surface, 0.5 * gap, outward);
    ss_manifold_add(manifold, ss_placed_to_world(b, point), ss_vec3_negate(ss_placed_turn(b, outward)), gap,
                    0);
}
