/* A convex shape against a mesh or heightfield: triangle by triangle, in the surface's frame with the convex
 * shape at the origin.
 *
 * For each triangle that is near:
 *   1. the shape's lowest part over the triangle: contact along the triangle's own normal;
 *   2. else, if it has an edge that sticks out, nearest points, or least overlap with a prism behind the
 *      triangle; their normal counts when the surface around allows it (ss_surface_supports);
 *   3. else whatever of the shape's underside lies over the triangle, along the triangle's normal.
 * So a shape that slides over a flat floor sees one normal, and one that is deep inside is pushed
 * out of the face. */
#include "collision/bounds.h"
#include "collision/pairs.h"
#include "collision/patch.h"
#include "collision/reduce.h"
#include "collision/segment.h"
#include "collision/surface.h"

#define KEPT_WHEN_FULL 4 /* points of one normal */
#define SAME_NORMAL 2e-4 /* rad: normals that are nearer to the triangle's own become it */

typedef struct sweep {
    ss_convex convex;
    ss_vec3 centre; // of the convex shape, in the surface's frame
    double reach;   // all of the shape is within, about its centre
    double margin;
    bool solid_below;  // a heightfield pushes out what is entirely under it
    ss_manifold front; // normals from the convex shape to the surface, points relative to its centre
    ss_manifold deep;  // where its centre is behind the triangle: counts only when nothing is in front
} sweep;

/* ---- collecting ------------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* Neighbours find what lies on their common edge or corner both. */
static void collect(const sweep *s, const ss_manifold *found, int triangle, ss_manifold *into)
{
    for (int i = 0; i < found->count; i++) {
        ss_contact_point point = found->points[i];
        bool known = false;
        for (int k = 0; k < into->count && !known; k++) {
            const ss_contact_point *other = &into->points[k];
            ss_vec3 between = ss_vec3_subtract(ss_vec3_load(point.point), ss_vec3_load(other->point));
            double cosine = ss_vec3_dot(ss_vec3_load(point.normal), ss_vec3_load(other->normal));
            known = ss_vec3_max_abs(between) <= 1e-4 * s->convex.size && cosine > 0.999;
        }
        if (known) continue;
        point.feature = mix((uint32_t)triangle * 0x9e3779b9u + point.feature);
        if (into->count == SS_MANIFOLD_MOST) ss_manifold_reduce(into, KEPT_WHEN_FULL);
        if (into->count < SS_MANIFOLD_MOST) into->points[into->count++] = point;
    }
}

/* ---- one triangle ----------------------------------------------------------------------------------- */

typedef struct encounter {
    ss_surface_triangle triangle; // corners relative to the convex shape's centre
    ss_convex flat;
    ss_nearest_points face; // along the triangle's normal
} encounter;

/* Nearest points, or, when the convex shape cuts the triangle, the way out of a prism behind it. */
static bool come_near(const sweep *s, const encounter *e, ss_nearest_points *near)
{
    ss_gjk nearest;
    double radius = s->convex.radius;
    ss_gjk_distance(&s->convex, &e->flat, s->margin + radius, &nearest);
    if (nearest.distance - radius > s->margin) return false;
    if (nearest.distance <= 1e-8 * (s->convex.size + e->flat.size)) {
        ss_convex prism = ss_convex_of_triangle(e->triangle.corner, e->triangle.normal, s->convex.size);
        return ss_convex_nearest_points(&s->convex, &prism, s->margin, near);
    }
    near->gap = nearest.distance - radius;
    near->normal = nearest.normal;
    near->point = ss_vec3_add_scaled(nearest.on_a, radius + 0.5 * near->gap, nearest.normal);
    return true;
}

static void meet(const ss_surface *surface, int triangle, void *context)
{
    sweep *s = context;
    ss_surface_triangle whole = ss_surface_get(surface, triangle);
    encounter e = {.triangle = whole};
    const ss_vec3 *corner = e.triangle.corner, nowhere = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++) e.triangle.corner[k] = ss_vec3_subtract(whole.corner[k], s->centre);

    // Beyond the ball around the shape: but what is under a heightfield is far from it, and inside.
    double reach = s->reach + s->margin;
    ss_vec3 nearest = ss_triangle_nearest(corner, nowhere);
    if (!s->solid_below && ss_vec3_dot(nearest, nearest) > reach * reach) return;

    // The shape seen along the triangle's normal: from its bottom, the first point to touch, to its top.
    ss_vec3 up = whole.normal, down = ss_vec3_negate(up);
    ss_vec3 lowest = ss_convex_support(&s->convex, down), highest = ss_convex_support(&s->convex, up);
    double radius = s->convex.radius;
    double bottom = ss_vec3_dot(up, lowest) - radius, top = ss_vec3_dot(up, highest) + radius;
    double height = top - bottom, gap = bottom - ss_vec3_dot(up, corner[0]);
    e.face.gap = gap;
    e.face.normal = down;
    e.face.point = ss_vec3_add_scaled(lowest, -(radius + 0.5 * gap), up);
    bool behind = gap + height < 0.0;
    if (gap > s->margin || (behind && !s->solid_below)) return;

    // 1. What of the underside lies over the triangle; enough when the lowest part does.
    ss_manifold found;
    found.count = 0;
    e.flat = ss_convex_of_triangle(corner, up, 0.0);
    ss_convex_overlay(&s->convex, &e.flat, &e.face, s->margin, nowhere, &found);
    bool along_face = false;
    for (int i = 0; i < found.count && -gap <= 0.5 * height; i++)
        along_face |= found.points[i].gap <= gap + 1e-6 * s->convex.size;

    // 2. Nearest points, where an edge that sticks out lets the triangle be touched otherwise than along its
    // normal. Between triangles of one plane a normal that is allowed may still be off by the tolerance.
    unsigned flat = 0, outward = 0;
    for (int k = 0; k < 3; k++) {
        ss_surface_edge look = ss_surface_look_across(surface, &whole, k);
        flat |= (unsigned)(look == SS_EDGE_FLAT) << k;
        outward |= (unsigned)(look == SS_EDGE_OUTWARD) << k;
    }
    ss_nearest_points near;
    if (!along_face && outward) {
        if (!come_near(s, &e, &near)) return;
        if (ss_surface_supports(surface, &whole, ss_vec3_negate(near.normal))) {
            ss_vec3 off = ss_vec3_subtract(near.normal, down);
            if (ss_vec3_dot(off, off) < SAME_NORMAL * SAME_NORMAL) near.normal = down;
            found.count = 0;
            ss_convex_patch(&s->convex, &e.flat, &near, s->margin, nowhere, &found);
            collect(s, &found, triangle, &s->front);
            return;
        }
    }

    // 3. The underside. Where the surface goes on in the same plane, the border of a triangle is no border of
    // the contact.
    int kept = 0;
    for (int i = 0; i < found.count; i++)
        if (!(ss_patch_edges_of_b(found.points[i].feature) & flat)) found.points[kept++] = found.points[i];
    found.count = kept;
    bool centre_behind = ss_vec3_dot(up, corner[0]) > 0.0;
    collect(s, &found, triangle, centre_behind && !along_face ? &s->deep : &s->front);
}

/* ---- the pair --------------------------------------------------------------------------------------- */

static double reach(const ss_convex *convex, ss_vec3 direction)
{
    return ss_vec3_dot(direction, ss_convex_support(convex, direction)) + convex->radius;
}

void ss_collide_convex_surface(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                               ss_manifold *manifold)
{
    ss_mat3 turn = ss_mat3_multiply(ss_mat3_transpose(ss_mat3_load(b->rotation)), ss_mat3_load(a->rotation));
    ss_placed_shape local = *a;
    ss_mat3_store(turn, local.rotation);
    ss_surface surface = ss_surface_of(b);
    sweep s;
    s.convex = ss_convex_of(&local, ss_placed_position(a));
    s.centre = ss_placed_to_local(b, ss_placed_position(a));
    s.reach = ss_shape_radius(a);
    s.margin = margin;
    s.solid_below = surface.heights != NULL;
    s.front.count = s.deep.count = 0;
    ss_vec3 x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0}, z = {0.0, 0.0, 1.0};
    ss_vec3 high = {reach(&s.convex, x) + margin, reach(&s.convex, y) + margin, reach(&s.convex, z) + margin};
    ss_vec3 low = {-reach(&s.convex, ss_vec3_negate(x)) - margin,
                   -reach(&s.convex, ss_vec3_negate(y)) - margin,
                   -reach(&s.convex, ss_vec3_negate(z)) - margin};
    ss_surface_visit(&surface, ss_vec3_add(low, s.centre), ss_vec3_add(high, s.centre), meet, &s);
    *manifold = s.front.count > 0 ? s.front : s.deep;

    // From the surface's frame to the world.
    for (int i = 0; i < manifold->count; i++) {
        ss_contact_point *p = &manifold->points[i];
        ss_vec3 from_centre = ss_placed_turn(b, ss_vec3_load(p->point));
        ss_vec3_store(ss_vec3_add(ss_placed_position(a), from_centre), p->point);
        ss_vec3_store(ss_placed_turn(b, ss_vec3_load(p->normal)), p->normal);
    }
}
