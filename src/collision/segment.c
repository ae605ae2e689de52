#include "collision/segment.h"

void ss_segments_beside(ss_segment a, ss_segment b, double *low, double *high)
{
    double middle = ss_segment_foot(a, b.centre), reach = b.half * fabs(ss_vec3_dot(a.axis, b.axis));
    *low = fmax(-a.half, middle - reach);
    *high = fmin(a.half, middle + reach);
}

void ss_segments_nearest(ss_segment a, ss_segment b, double *on_a, double *on_b)
{
    ss_vec3 between = ss_vec3_subtract(b.centre, a.centre);
    ss_vec3 across = ss_vec3_cross(a.axis, b.axis);
    double sine2 = ss_vec3_dot(across, across);
    double t;
    if (sine2 > 1e-14) {
        t = ss_vec3_dot(ss_vec3_cross(between, b.axis), across) / sine2;
    } else {
        // Below 1e-7 rad the crossing point is no longer determined by the data.
        double low, high;
        ss_segments_beside(a, b, &low, &high);
        t = 0.5 * (low + high);
    }
    t = ss_clamp(t, -a.half, a.half);
    double s = ss_clamp(ss_segment_foot(b, ss_segment_at(a, t)), -b.half, b.half);
    // One more turn is exact: after s was clamped, the best t is the foot of that point, clamped.
    t = ss_clamp(ss_segment_foot(a, ss_segment_at(b, s)), -a.half, a.half);
    *on_a = t;
    *on_b = ss_clamp(ss_segment_foot(b, ss_segment_at(a, t)), -b.half, b.half);
}

static ss_vec3 blend(ss_vec3 from, ss_vec3 to, double share)
{
    return ss_vec3_add_scaled(from, share, ss_vec3_subtract(to, from));
}

/* By the Voronoi regions of corners, edges and the face (Ericson 2005, section 5.1.5). */
ss_vec3 ss_triangle_nearest(const ss_vec3 corner[3], ss_vec3 p)
{
    ss_vec3 a = corner[0], b = corner[1], c = corner[2];
    ss_vec3 ab = ss_vec3_subtract(b, a), ac = ss_vec3_subtract(c, a);
    ss_vec3 ap = ss_vec3_subtract(p, a), bp = ss_vec3_subtract(p, b), cp = ss_vec3_subtract(p, c);
    double ab_a = ss_vec3_dot(ab, ap), ac_a = ss_vec3_dot(ac, ap);
    double ab_b = ss_vec3_dot(ab, bp), ac_b = ss_vec3_dot(ac, bp);
    double ab_c = ss_vec3_dot(ab, cp), ac_c = ss_vec3_dot(ac, cp);
    if (ab_a <= 0.0 && ac_a <= 0.0) return a;
    if (ab_b >= 0.0 && ac_b <= ab_b) return b;
    if (ac_c >= 0.0 && ab_c <= ac_c) return c;
    double of_c = ab_a * ac_b - ab_b * ac_a;
    if (of_c <= 0.0 && ab_a >= 0.0 && ab_b <= 0.0) return blend(a, b, ab_a / (ab_a - ab_b));
    double of_b = ab_c * ac_a - ab_a * ac_c;
    if (of_b <= 0.0 && ac_a >= 0.0 && ac_c <= 0.0) return blend(a, c, ac_a / (ac_a - ac_c));
    double of_a = ab_b * ac_c - ab_c * ac_b;
    double to_b = ac_b - ab_b, to_c = ab_c - ac_c;
    if (of_a <= 0.0 && to_b >= 0.0 && to_c >= 0.0) return blend(b, c, to_b / (to_b + to_c));
    double sum = of_a + of_b + of_c;
    return ss_vec3_add_scaled(ss_vec3_add_scaled(a, of_b / sum, ab), of_c / sum, ac);
}
