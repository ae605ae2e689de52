#include "collision/pairs.h"
#include "collision/patch.h"

/* Pairs without a formula of their own. */
void ss_collide_convex_convex(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                              ss_manifold *manifold)
{
    manifold->count = 0;
    ss_vec3 origin = ss_placed_position(a); // small numbers near the bodies, wherever they are in the world
    ss_convex convex_a = ss_convex_of(a, origin), convex_b = ss_convex_of(b, origin);
    ss_nearest_points approach;
    if (ss_convex_nearest_points(&convex_a, &convex_b, margin, &approach))
        ss_convex_patch(&convex_a, &convex_b, &approach, margin, origin, manifold);
}
