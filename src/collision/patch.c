/* Contact patches: the two facing features are seen along the normal, as outlines in the plane
 * across it. Where the outlines cover each other, the corners of the common part are the contacts,
 * each with its own gap. */
#include "collision/patch.h"
#include "collision/pairs.h"

/* Edges count as parallel below this sine: rounder partners than boxes part quickly to the sides
 * of their line. */
#define PARALLEL 0.01
#define OUTLINE_MOST (2 * SS_SUPPORT_FEATURE_MOST)

#define NEAREST 0x3fffffffu

typedef struct corner {
    double x, y;
    uint32_t id;   // of the corner
    uint32_t line; // of the edge to the next one
} corner;

/* A convex polygon, or a segment. */
typedef struct loop {
    int count;
    corner corners[OUTLINE_MOST];
} loop;

typedef struct outline {
    loop loop;
    double height, slope_x, slope_y; // height + slope . (x, y): along the normal
} outline;

typedef struct view {
    ss_vec3 origin, x, y, normal;
    double slack; // lengths below do not count
} view;

static ss_vec3 in_view(const view *v, ss_vec3 p)
{
    ss_vec3 r = ss_vec3_subtract(p, v->origin);
    return (ss_vec3){ss_vec3_dot(r, v->x), ss_vec3_dot(r, v->y), ss_vec3_dot(r, v->normal)};
}

static double cross2(double ax, double ay, double bx, double by)
{
    return ax * by - ay * bx;
}

/* ---- outlines --------------------------------------------------------------------------------------- */

/* Counter-clockwise in the view. */
static void draw(const view *v, const ss_support_feature *facing, uint32_t line_offset, outline *shape)
{
    ss_vec3 p[SS_SUPPORT_FEATURE_MOST];
    int count = facing->count;
    corner *c = shape->loop.corners;
    shape->loop.count = count;
    for (int i = 0; i < count; i++) {
        p[i] = in_view(v, facing->point[i]);
        c[i] = (corner){p[i].x, p[i].y, facing->id[i], 0};
    }

    /* Its plane: of a polygon by Newell's formula, which takes all corners into account; of a segment level
     * across it. */
    if (count > 2) {
        ss_vec3 n = {0.0, 0.0, 0.0}, mean = {0.0, 0.0, 0.0};
        for (int i = 0; i < count; i++) {
            n = ss_vec3_add(
                n, ss_vec3_cross(ss_vec3_subtract(p[i], p[0]), ss_vec3_subtract(p[(i + 1) % count], p[0])));
            mean = ss_vec3_add_scaled(mean, 1.0 / count, p[i]);
        }
        shape->slope_x = n.z != 0.0 ? -n.x / n.z : 0.0;
        shape->slope_y = n.z != 0.0 ? -n.y / n.z : 0.0;
        shape->height = mean.z - shape->slope_x * mean.x - shape->slope_y * mean.y;
    } else {
        double dx = p[1].x - p[0].x, dy = p[1].y - p[0].y, length2 = dx * dx + dy * dy;
        double rise = length2 > 0.0 ? (p[1].z - p[0].z) / length2 : 0.0;
        shape->slope_x = rise * dx;
        shape->slope_y = rise * dy;
        shape->height = p[0].z - shape->slope_x * p[0].x - shape->slope_y * p[0].y;
    }

    double area = 0.0;
    for (int i = 1; i + 1 < count; i++)
        area += cross2(c[i].x - c[0].x, c[i].y - c[0].y, c[i + 1].x - c[0].x, c[i + 1].y - c[0].y);
    bool reversed = count > 2 && area < 0.0;
    for (int i = 0, j = count - 1; reversed && i < j; i++, j--) {
        corner held = c[i];
        c[i] = c[j];
        c[j] = held;
    }

    /* An edge has the id of its first corner, in the order of the feature. */
    for (int i = 0; i < count; i++) c[i].line = c[reversed ? (i + 1) % count : i].id + line_offset;
}

static double height_at(const outline *shape, double x, double y)
{
    return shape->height + shape->slope_x * x + shape->slope_y * y;
}

/* ---- common part ------------------------------------------------------------------------------------ */

/* A line with its left side: a x + b y + c is the distance to the left. */
typedef struct border {
    double a, b, c;
} border;

static border border_through(const corner *p, const corner *q, double slack)
{
    double dx = q->x - p->x, dy = q->y - p->y, length = sqrt(dx * dx + dy * dy);
    if (!(length > 0.0)) return (border){0.0, 0.0, 0.0};
    return (border){-dy / length, dx / length, (dy * p->x - dx * p->y) / length + slack};
}

static double left_of(const border *l, const corner *c)
{
    return l->a * c->x + l->b * c->y + l->c;
}

/* What is left of the edge from p to q. Two corners are a segment, not a polygon of two edges. */
static void cut_off(const loop *in, const corner *p, const corner *q, double slack, loop *out)
{
    int edges = in->count == 2 ? 1 : in->count;
    border side = border_through(p, q, slack);
    out->count = 0;
    for (int i = 0; i < in->count && out->count + 2 <= OUTLINE_MOST; i++) {
        const corner *here = &in->corners[i], *next = &in->corners[(i + 1) % in->count];
        double left_here = left_of(&side, here), left_next = left_of(&side, next);
        if (left_here >= 0.0) out->corners[out->count++] = *here;
        if (i >= edges || (left_here >= 0.0) == (left_next >= 0.0)) continue;
        double t = left_here / (left_here - left_next);
        out->corners[out->count++] =
            (corner){.x = here->x + t * (next->x - here->x),
                     .y = here->y + t * (next->y - here->y),
                     .id = SS_PATCH_CROSSING | here->line << SS_PATCH_LINE_BITS | p->line,
                     .line = left_here >= 0.0 ? p->line : here->line};
    }
}

/* What of `shape` (segment or polygon) lies over the polygon `cover`: in one of the two buffers, or
 * `shape` itself. */
static const loop *cover_with(const view *v, const loop *cover, const loop *shape, loop buffer[2])
{
    for (int i = 0; i < cover->count && shape->count > 0; i++) {
        loop *out = &buffer[i % 2];
        cut_off(shape, &cover->corners[i], &cover->corners[(i + 1) % cover->count], v->slack, out);
        shape = out;
    }
    return shape;
}

/* The stretch of segment a beside which segment b runs; nothing unless they are parallel. */
static const loop *lie_along(const view *v, const loop *a, const loop *b, loop buffer[2])
{
    const corner *p = &b->corners[0], *q = &b->corners[1];
    double ax = a->corners[1].x - a->corners[0].x, ay = a->corners[1].y - a->corners[0].y;
    double bx = q->x - p->x, by = q->y - p->y;
    buffer[1].count = 0;
    if (fabs(cross2(ax, ay, bx, by)) > PARALLEL * hypot(ax, ay) * hypot(bx, by)) return &buffer[1];
    // Ends of b, each as a line across it, with b on its left.
    corner beyond_p = {p->x + by, p->y - bx, 0, p->line}, beyond_q = {q->x - by, q->y + bx, 0, q->line};
    cut_off(a, p, &beyond_p, v->slack, &buffer[0]);
    cut_off(&buffer[0], q, &beyond_q, v->slack, &buffer[1]);
    return &buffer[1];
}

/* ---- contacts --------------------------------------------------------------------------------------- */

/* A corner over a face needs no outline: it is its own contact. */
static bool over_corner(const view *v, const ss_support_feature *corner_of, const ss_support_feature *face_of,
                        double sign, double margin, ss_vec3 origin, ss_manifold *manifold)
{
    if (face_of->count < 3) return false;
    outline face;
    draw(v, face_of, 0, &face);
    ss_vec3 p = in_view(v, corner_of->point[0]);
    const corner tip = {p.x, p.y, corner_of->id[0], 0};
    const loop *around = &face.loop;
    for (int i = 0; i < around->count; i++) {
        border side =
            border_through(&around->corners[i], &around->corners[(i + 1) % around->count], v->slack);
        if (left_of(&side, &tip) < 0.0) return false;
    }
    double other = height_at(&face, p.x, p.y), gap = sign * (other - p.z);
    if (gap > margin) return false;
    ss_vec3 halfway = ss_vec3_add_scaled(corner_of->point[0], 0.5 * (other - p.z), v->normal);
    ss_manifold_add(manifold, ss_vec3_add(origin, halfway), v->normal, gap, corner_of->id[0]);
    return true;
}

bool ss_convex_overlay(const ss_convex *a, const ss_convex *b, const ss_nearest_points *approach,
                       double margin, ss_vec3 origin, ss_manifold *manifold)
{
    view v = {.origin = approach->point, .normal = approach->normal, .slack = 1e-9 * fmin(a->size, b->size)};
    ss_vec3_tangents(v.normal, &v.x, &v.y);
    ss_support_feature facing_a, facing_b;
    ss_convex_facing(a, v.normal, &facing_a);
    ss_convex_facing(b, ss_vec3_negate(v.normal), &facing_b);
    if (facing_a.count == 1) return over_corner(&v, &facing_a, &facing_b, 1.0, margin, origin, manifold);
    if (facing_b.count == 1) return over_corner(&v, &facing_b, &facing_a, -1.0, margin, origin, manifold);

    /* What the outlines have in common. */
    outline shape_a, shape_b;
    loop buffer[2];
    draw(&v, &facing_a, 0, &shape_a);
    draw(&v, &facing_b, SS_PATCH_LINE_OF_B, &shape_b);
    const loop *common;
    if (facing_b.count > 2)
        common = cover_with(&v, &shape_b.loop, &shape_a.loop, buffer);
    else if (facing_a.count > 2)
        common = cover_with(&v, &shape_a.loop, &shape_b.loop, buffer);
    else
        common = lie_along(&v, &shape_a.loop, &shape_b.loop, buffer);

    /* Its corners are the contacts, halfway between the two. */
    int before = manifold->count;
    for (int i = 0; i < common->count; i++) {
        const corner *c = &common->corners[i];
        double on_a = height_at(&shape_a, c->x, c->y), on_b = height_at(&shape_b, c->x, c->y),
               gap = on_b - on_a;
        if (gap > margin) continue;
        ss_vec3 p = ss_vec3_add_scaled(v.origin, c->x, v.x);
        p = ss_vec3_add_scaled(p, c->y, v.y);
        p = ss_vec3_add_scaled(p, 0.5 * (on_a + on_b), v.normal);
        ss_manifold_add(manifold, ss_vec3_add(origin, p), v.normal, gap, c->id);
    }
    return manifold->count > before;
}

void ss_convex_patch(const ss_convex *a, const ss_convex *b, const ss_nearest_points *approach, double margin,
                     ss_vec3 origin, ss_manifold *manifold)
{
    int before = manifold->count;
    ss_convex_overlay(a, b, approach, margin, origin, manifold);
    // Round parts and corners past an edge: the nearest point is not among the corners of the patch.
    double slack = 1e-7 * fmin(a->size, b->size);
    for (int i = before; i < manifold->count; i++)
        if (manifold->points[i].gap <= approach->gap + slack) return;
    if (manifold->count == before + 1) manifold->count = before; // the same contact, less exactly
    ss_manifold_add(manifold, ss_vec3_add(origin, approach->point), approach->normal, approach->gap, NEAREST);
}
