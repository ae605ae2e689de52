#include "collision/gjk.h"

#include <string.h>

#define ITERATIONS 100

/* ---- the point of a simplex nearest to the origin --------------------------------------------------- */

static void keep(ss_simplex *simplex, const int *kept, const double *weight, int count)
{
    ss_difference point[4];
    for (int k = 0; k < count; k++) point[k] = simplex->point[kept[k]];
    for (int k = 0; k < count; k++) {
        simplex->point[k] = point[k];
        simplex->weight[k] = weight[k];
    }
    simplex->count = count;
}

static ss_vec3 combine(const ss_simplex *simplex)
{
    ss_vec3 v = {0.0, 0.0, 0.0};
    for (int k = 0; k < simplex->count; k++)
        v = ss_vec3_add_scaled(v, simplex->weight[k], simplex->point[k].w);
    return v;
}

/* The triangle's normal, as long as twice its area, from its two shorter edges: needles, as round bodies make
 * them, keep an accurate one. */
static ss_vec3 area_normal(ss_vec3 a, ss_vec3 b, ss_vec3 c)
{
    ss_vec3 ab = ss_vec3_subtract(b, a), bc = ss_vec3_subtract(c, b), ca = ss_vec3_subtract(a, c);
    double ab2 = ss_vec3_dot(ab, ab), bc2 = ss_vec3_dot(bc, bc), ca2 = ss_vec3_dot(ca, ca);
    if (ab2 >= bc2 && ab2 >= ca2) return ss_vec3_cross(bc, ca);
    return bc2 >= ca2 ? ss_vec3_cross(ca, ab) : ss_vec3_cross(ab, bc);
}

/* By Voronoi regions, as ss_triangle_nearest with p = 0, but with weights. */
static void nearest_of_triangle(ss_simplex *simplex)
{
    ss_vec3 a = simplex->point[0].w, b = simplex->point[1].w, c = simplex->point[2].w;
    ss_vec3 ab = ss_vec3_subtract(b, a), ac = ss_vec3_subtract(c, a);
    double ab_a = -ss_vec3_dot(ab, a), ac_a = -ss_vec3_dot(ac, a);
    double ab_b = -ss_vec3_dot(ab, b), ac_b = -ss_vec3_dot(ac, b);
    double ab_c = -ss_vec3_dot(ab, c), ac_c = -ss_vec3_dot(ac, c);
    ss_vec3 normal = area_normal(a, b, c);
    double of_a = ss_vec3_dot(normal, ss_vec3_cross(b, c)), of_b = ss_vec3_dot(normal, ss_vec3_cross(c, a)),
           of_c = ss_vec3_dot(normal, ss_vec3_cross(a, b));
    double to_b = ac_b - ab_b, to_c = ab_c - ac_c, sum = of_a + of_b + of_c;

    if (ab_a <= 0.0 && ac_a <= 0.0)
        keep(simplex, (int[]){0}, (double[]){1.0}, 1);
    else if (ab_b >= 0.0 && ac_b <= ab_b)
        keep(simplex, (int[]){1}, (double[]){1.0}, 1);
    else if (ac_c >= 0.0 && ab_c <= ac_c)
        keep(simplex, (int[]){2}, (double[]){1.0}, 1);
    else if (of_c <= 0.0 && ab_a >= 0.0 && ab_b <= 0.0)
        keep(simplex, (int[]){0, 1}, (double[]){-ab_b / (ab_a - ab_b), ab_a / (ab_a - ab_b)}, 2);
    else if (of_b <= 0.0 && ac_a >= 0.0 && ac_c <= 0.0)
        keep(simplex, (int[]){0, 2}, (double[]){-ac_c / (ac_a - ac_c), ac_a / (ac_a - ac_c)}, 2);
    else if (of_a <= 0.0 && to_b >= 0.0 && to_c >= 0.0)
        keep(simplex, (int[]){1, 2}, (double[]){to_c / (to_b + to_c), to_b / (to_b + to_c)}, 2);
    else
        keep(simplex, (int[]){0, 1, 2}, (double[]){of_a / sum, of_b / sum, of_c / sum}, 3);
}

/* Which faces the origin is beyond is not reliable in a flat tetrahedron, as round bodies make them. So all
 * of them are tried, unless the origin seems to be inside and is not known to be outside. */
static void nearest_of_tetrahedron(ss_simplex *simplex, bool outside)
{
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 1, 3, 2}, {1, 2, 3, 0}};

    // Beyond a face: on the other side of it than the fourth corner. A flat tetrahedron has no sides: yes.
    for (int f = 0; f < 4 && !outside; f++) {
        ss_vec3 i = simplex->point[face[f][0]].w, j = simplex->point[face[f][1]].w,
                k = simplex->point[face[f][2]].w, l = simplex->point[face[f][3]].w;
        ss_vec3 normal = ss_vec3_cross(ss_vec3_subtract(j, i), ss_vec3_subtract(k, i));
        double origin = -ss_vec3_dot(normal, i), corner = ss_vec3_dot(normal, ss_vec3_subtract(l, i));
        outside = origin * corner <= 0.0;
    }
    if (!outside) return;

    ss_simplex best = *simplex;
    double least = INFINITY;
    for (int f = 0; f < 4; f++) {
        ss_simplex side = *simplex;
        keep(&side, face[f], (double[]){0.0, 0.0, 0.0}, 3);
        nearest_of_triangle(&side);
        ss_vec3 v = combine(&side);
        double distance2 = ss_vec3_dot(v, v);
        if (distance2 >= least) continue;
        least = distance2;
        best = side;
    }
    *simplex = best;
}

static ss_vec3 nearest(ss_simplex *simplex, bool outside)
{
    switch (simplex->count) {
    case 1:
        simplex->weight[0] = 1.0;
        break;
    case 2: {
        ss_vec3 a = simplex->point[0].w, ab = ss_vec3_subtract(simplex->point[1].w, a);
        double length2 = ss_vec3_dot(ab, ab);
        double t = length2 > 0.0 ? -ss_vec3_dot(a, ab) / length2 : 0.0;
        if (t <= 0.0)
            keep(simplex, (int[]){0}, (double[]){1.0}, 1);
        else if (t >= 1.0)
            keep(simplex, (int[]){1}, (double[]){1.0}, 1);
        else
            keep(simplex, (int[]){0, 1}, (double[]){1.0 - t, t}, 2);
        break;
    }
    case 3:
        nearest_of_triangle(simplex);
        break;
    default:
        nearest_of_tetrahedron(simplex, outside);
    }
    return simplex->count == 4 ? (ss_vec3){0.0, 0.0, 0.0} : combine(simplex);
}

ss_vec3 ss_simplex_nearest(ss_simplex *simplex)
{
    return nearest(simplex, false);
}

/* ---- the iteration ---------------------------------------------------------------------------------- */

void ss_gjk_distance(const ss_convex *a, const ss_convex *b, double most, ss_gjk *result)
{
    ss_simplex *simplex = &result->simplex;
    ss_vec3 start = ss_vec3_subtract(b->centre, a->centre);
    if (ss_vec3_max_abs(start) == 0.0) start.z = 1.0;
    simplex->count = 1;
    simplex->point[0] = ss_difference_support(a, b, start);
    ss_vec3 v = nearest(simplex, false);
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        double v2 = ss_vec3_dot(v, v), scale2 = 0.0;
        for (int k = 0; k < simplex->count; k++)
            scale2 = fmax(scale2, ss_vec3_dot(simplex->point[k].w, simplex->point[k].w));
        if (v2 <= 1e-28 * scale2) { // what is left is rounding
            v = (ss_vec3){0.0, 0.0, 0.0};
            break;
        }

        // A new support point, unless it is too far off, brings nothing but rounding, or is known.
        ss_difference next = ss_difference_support(a, b, ss_vec3_negate(v));
        double along = ss_vec3_dot(v, next.w); // along / |v| is a lower bound of the distance
        if (along > 0.0 && along * along > most * most * v2) break;
        double rounding = 1e-15 * sqrt(scale2 * v2);
        bool known = false;
        for (int k = 0; k < simplex->count; k++)
            known |= memcmp(&simplex->point[k].w, &next.w, sizeof next.w) == 0;
        if (v2 - along <= 1e-13 * v2 + rounding || known) break;

        ss_simplex before = *simplex;
        simplex->point[simplex->count++] = next;
        // the plane across v has the origin on one side and a - b on the other
        bool separated = along > rounding;
        ss_vec3 closer = nearest(simplex, separated);
        if (!(ss_vec3_dot(closer, closer) < v2)) { // no progress but rounding
            *simplex = before;
            break;
        }
        v = closer;
        if (simplex->count == 4) break;
    }

    // The points on both bodies, with the weights that make v of the simplex; inside there are none.
    result->on_a = result->on_b = (ss_vec3){0.0, 0.0, 0.0};
    for (int k = 0; k < simplex->count && simplex->count < 4; k++) {
        result->on_a = ss_vec3_add_scaled(result->on_a, simplex->weight[k], simplex->point[k].a);
        result->on_b = ss_vec3_add_scaled(result->on_b, simplex->weight[k], simplex->point[k].b);
    }
    result->normal = ss_vec3_normalise(ss_vec3_negate(v), &result->distance);
}
