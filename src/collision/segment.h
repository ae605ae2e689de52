/* collision/segment.h - nearest points of segments and triangles. */
#ifndef SS_COLLISION_SEGMENT_H
#define SS_COLLISION_SEGMENT_H

#include "linalg/vec3.h"

/* centre + t axis with |t| <= half; the axis is a unit vector. */
typedef struct ss_segment {
    ss_vec3 centre, axis;
    double half;
} ss_segment;

static inline double ss_clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static inline ss_vec3 ss_segment_at(ss_segment segment, double t)
{
    return ss_vec3_add_scaled(segment.centre, t, segment.axis);
}

/* Where along the segment's line p is nearest. */
static inline double ss_segment_foot(ss_segment segment, ss_vec3 p)
{
    return ss_vec3_dot(segment.axis, ss_vec3_subtract(p, segment.centre));
}

/* The part of a beside which b lies, as parameters on a; low > high when there is none. */
void ss_segments_beside(ss_segment a, ss_segment b, double *low, double *high);

/* Parameters of the nearest points of two segments. Parallel ones get the middle of where they
 * lie side by side. */
void ss_segments_nearest(ss_segment a, ss_segment b, double *on_a, double *on_b);

/* The point of the triangle that is nearest to p. */
ss_vec3 ss_triangle_nearest(const ss_vec3 corner[3], ss_vec3 p);

#endif
