/* collision/patch.h - contacts of any two convex bodies: nearest points or least overlap, and from what faces
 * each other there a patch of several points. */
#ifndef SS_COLLISION_PATCH_H
#define SS_COLLISION_PATCH_H

#include "collision/gjk.h"

/* Where two bodies are nearest, or how they come apart. */
typedef struct ss_nearest_points {
    double gap;     /* signed distance */
    ss_vec3 normal; /* unit, from a to b */
    ss_vec3 point;  /* halfway between the surfaces */
} ss_nearest_points;

/* False when the gap is larger than margin. */
bool ss_convex_nearest_points(const ss_convex *a, const ss_convex *b, double margin,
                              ss_nearest_points *approach);

/* All points of gap <= margin that the faces, edges or corners opposite each other along approach->normal
 * share; at least the one of `approach`. Points are moved by `origin` and added to the manifold. */
void ss_convex_patch(const ss_convex *a, const ss_convex *b, const ss_nearest_points *approach, double margin,
                     ss_vec3 origin, ss_manifold *manifold);

/* The same, but only what lies above each other along the normal: false, and nothing added, when
 * that is nothing. */
bool ss_convex_overlay(const ss_convex *a, const ss_convex *b, const ss_nearest_points *approach,
                       double margin, ss_vec3 origin, ss_manifold *manifold);

/* Features of patch points: the id of a corner, or where two lines cross. A line is named by the id of the
 * first corner of its edge, those of b in the upper half. */
#define SS_PATCH_CROSSING 0x40000000u
#define SS_PATCH_LINE_BITS 14
#define SS_PATCH_LINE_OF_B 4096u

/* When b is a triangle: the set of its edges that a patch point lies on, bit k for the edge from corner k. */
static inline unsigned ss_patch_edges_of_b(uint32_t feature)
{
    if (!(feature & SS_PATCH_CROSSING)) return 0;
    uint32_t first = feature >> SS_PATCH_LINE_BITS, second = feature;
    unsigned edges = 0;
    if (first & SS_PATCH_LINE_OF_B) edges |= 1u << (first & 3u);
    if (second & SS_PATCH_LINE_OF_B) edges |= 1u << (second & 3u);
    return edges;
}

#endif
