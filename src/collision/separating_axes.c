#include "collision/separating_axes.h"

/* ---- faces ------------------------------------------------------------------------------------------ */

/* Radius of the largest ball around the centre that is inside the hull: a lower bound of how far it
 * reaches in every direction, which rules out most directions without looking for the vertex that is
 * nearest in them. */
static double inner_radius(const ss_hull *hull)
{
    double radius = hull->face_count > 0 ? INFINITY : 0.0;
    for (int f = 0; f < hull->face_count; f++) {
        double distance = hull->face[f].offset - ss_vec3_dot(hull->face[f].normal, hull->centre);
        if (distance < radius) radius = distance;
    }
    return radius > 0.0 ? radius : 0.0;
}

/* The face of `hull` that is farthest from `other`, whose frame goes to the hull's by turn and
 * shift. */
static ss_axis farthest_face(const ss_hull *hull, const ss_hull *other, ss_mat3 turn, ss_vec3 shift,
                             double other_radius, double enough)
{
    ss_axis best = {.separation = -INFINITY};
    ss_vec3 centre = ss_vec3_add(shift, ss_mat3_apply(turn, other->centre));

    /* Begins with the face whose plane is farthest below the other's centre, after which most others are
     * ruled out. */
    int first = 0;
    double most = -INFINITY;
    for (int f = 0; f < hull->face_count; f++) {
        double height = ss_vec3_dot(hull->face[f].normal, centre) - hull->face[f].offset;
        if (height > most) {
            most = height;
            first = f;
        }
    }
    for (int i = -1; i < hull->face_count && best.separation <= enough; i++) {
        int f = i < 0 ? first : i;
        if (i == first || f >= hull->face_count) continue;
        const ss_hull_face *face = &hull->face[f];
        double bound = ss_vec3_dot(face->normal, centre) - other_radius - face->offset;
        if (bound <= best.separation) continue;
        ss_vec3 inwards = ss_mat3_apply_transposed(turn, ss_vec3_negate(face->normal));
        int vertex = ss_hull_support(other, inwards, best.vertex);
        double separation =
            ss_vec3_dot(face->normal, shift) - face->offset - ss_vec3_dot(inwards, other->vertex[vertex]);
        if (separation > best.separation) best = (ss_axis){separation, face->normal, f, vertex, {0, 0}};
    }
    return best;
}

/* ---- pairs of edges --------------------------------------------------------------------------------- */

/* One edge of a, in b's frame. Its arc on the Gauss sphere goes from the normal of one of its faces
 * to the other's. */
typedef struct arc {
    int edge;
    ss_vec3 along, point; /* the edge, and its first vertex */
    ss_vec3 from, to;     /* normals */
} arc;

static arc place_arc(const ss_hull_pair *pair, int e)
{
    const ss_hull *a = pair->a;
    const ss_hull_edge *edge = &a->edge[e];
    ss_vec3 tail = a->vertex[edge->vertex[0]], head = a->vertex[edge->vertex[1]];
    return (arc){
        .edge = e,
        .along = ss_pair_turn_to_b(pair, ss_vec3_subtract(head, tail)),
        .point = ss_pair_turn_to_b(pair, ss_vec3_subtract(tail, pair->shift)),
        .from = ss_pair_turn_to_b(pair, a->face[edge->face[0]].normal),
        .to = ss_pair_turn_to_b(pair, a->face[edge->face[1]].normal),
    };
}

/* The direction on the arc that is at right angles to an edge of b: their cross product; when they are almost
 * parallel, where rounding would turn it off the arc, by interpolation. */
static ss_vec3 crossing_normal(const arc *from_a, ss_vec3 along_b, double t)
{
    ss_vec3 cross = ss_vec3_cross(from_a->along, along_b);
    ss_vec3 middle = ss_vec3_add(from_a->from, from_a->to);
    double square = ss_vec3_dot(cross, cross);
    double lengths = ss_vec3_dot(from_a->along, from_a->along) * ss_vec3_dot(along_b, along_b);
    if (square > 1e-12 * lengths) {
        double sign = ss_vec3_dot(cross, middle) < 0.0 ? -1.0 : 1.0;
        return ss_vec3_scale(sign / sqrt(square), cross);
    }
    ss_vec3 between = ss_vec3_add_scaled(from_a->from, t, ss_vec3_subtract(from_a->to, from_a->from));
    return ss_vec3_normalise(between, NULL);
}

/* What to do with a crossing: of the arc with that of b's edge from v to w, at t of the way along the arc. */
typedef void crossing_function(const arc *from_a, const ss_hull *b, int v, int w, double t, void *context);

static void try_edges(const arc *from_a, const ss_hull *b, int v, int w, double t, void *context)
{
    ss_axis *best = context;
    ss_vec3 along_b = ss_vec3_subtract(b->vertex[w], b->vertex[v]);
    ss_vec3 normal = crossing_normal(from_a, along_b, t);
    double separation = ss_vec3_dot(normal, ss_vec3_subtract(b->vertex[v], from_a->point));
    if (separation > best->separation) *best = (ss_axis){separation, normal, from_a->edge, 0, {v, w}};
}

/* Follows the vertex of b that is nearest in direction n while n moves along the arc: every change from one
 * vertex to the next is a crossing of the arc with that of an edge of b. With every change n2.x gets smaller,
 * n2 the arc's last direction, so no vertex is met twice (the count is for those that rounding makes equal),
 * and the walk ends at the nearest vertex in direction n2, which is returned. */
static inline int walk_arc(const arc *from_a, const ss_hull *b, int start, crossing_function *visit,
                           void *context)
{
    int v = ss_hull_support(b, ss_vec3_negate(from_a->from), start);
    double now = 0.0;
    for (int steps = 0; steps < b->vertex_count; steps++) {
        int next = -1;
        double first = INFINITY, slope = 0.0;
        for (int i = b->neighbour_start[v]; i < b->neighbour_start[v + 1]; i++) {
            ss_vec3 along = ss_vec3_subtract(b->vertex[b->neighbour[i]], b->vertex[v]);
            double at_end = ss_vec3_dot(from_a->to, along);
            if (!(at_end < 0.0)) continue;
            double at_start = ss_vec3_dot(from_a->from, along);
            double t = at_start / (at_start - at_end);
            if (t < now) t = now;
            if (t < first || (t == first && at_end < slope)) {
                first = t;
                slope = at_end;
                next = b->neighbour[i];
            }
        }
        if (next < 0 || first > 1.0) break;
        visit(from_a, b, v, next, first, context);
        v = next;
        now = first;
    }
    return v;
}

static ss_axis farthest_edges(const ss_hull_pair *pair, double radii, double known, double enough)
{
    const ss_hull *a = pair->a;
    ss_axis best = {.separation = known, .feature = -1};
    ss_vec3 centre = ss_vec3_add(pair->shift, ss_mat3_apply(pair->turn, pair->b->centre));
    ss_vec3 between = ss_vec3_subtract(centre, a->centre);
    int start = 0;
    for (int e = 0; e < a->edge_count && best.separation <= enough; e++) {
        /* n.c for a direction n of the arc from n1 to n2, c between the centres, is at most the larger one of
         * the ends, divided by the cosine of half the arc. */
        ss_vec3 n1 = a->face[a->edge[e].face[0]].normal, n2 = a->face[a->edge[e].face[1]].normal;
        double at_1 = ss_vec3_dot(n1, between), at_2 = ss_vec3_dot(n2, between);
        double most = at_1 > at_2 ? at_1 : at_2, limit = best.separation + radii;
        bool reaches =
            limit < 0.0 || (most > 0.0 && most * most > limit * limit * 0.5 * (1.0 + ss_vec3_dot(n1, n2)));
        if (!reaches) continue;
        arc from_a = place_arc(pair, e);
        start = walk_arc(&from_a, pair->b, start, try_edges, &best);
    }
    if (best.feature < 0) best.separation = -INFINITY;
    best.normal = ss_mat3_apply(pair->turn, best.normal);
    return best;
}

bool ss_separating_axes_find(const ss_hull_pair *pair, double enough, ss_separating_axes *best)
{
    double radius_a = inner_radius(pair->a), radius_b = inner_radius(pair->b);
    best->face_a = farthest_face(pair->a, pair->b, pair->turn, pair->shift, radius_b, enough);
    if (best->face_a.separation > enough) return false;

    ss_mat3 turn = ss_mat3_transpose(pair->turn);
    ss_vec3 shift = ss_vec3_negate(ss_mat3_apply(turn, pair->shift));
    best->face_b = farthest_face(pair->b, pair->a, turn, shift, radius_a, enough);
    best->face_b.normal = ss_vec3_negate(ss_mat3_apply(pair->turn, best->face_b.normal));
    if (best->face_b.separation > enough) return false;

    double known = fmax(best->face_a.separation, best->face_b.separation);
    best->edges = farthest_edges(pair, radius_a + radius_b, known, enough);
    return best->edges.separation <= enough;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

typedef struct visitor {
    ss_axis_function *function;
    void *context;
    const ss_hull_pair *pair;
} visitor;

/* Edges whose cross product is lost in rounding have no direction of their own. */
static const double least_sine = 1e-7;

static void visit_edges(const arc *from_a, const ss_hull *b, int v, int w, double t, void *context)
{
    const visitor *to = context;
    ss_vec3 along_b = ss_vec3_subtract(b->vertex[w], b->vertex[v]);
    ss_vec3 cross = ss_vec3_cross(from_a->along, along_b);
    double lengths = ss_vec3_norm(from_a->along) * ss_vec3_norm(along_b);
    if (!(ss_vec3_norm(cross) > least_sine * lengths)) return;
    ss_vec3 normal = crossing_normal(from_a, along_b, t);
    ss_axis axis = {
        .normal = ss_mat3_apply(to->pair->turn, normal), .feature = from_a->edge, .edge_b = {v, w}};
    // by supports: of a badly conditioned cross product that is still right
    const ss_hull *a = to->pair->a;
    int top = ss_hull_support(a, axis.normal, a->edge[axis.feature].vertex[0]);
    int bottom = ss_hull_support(b, ss_vec3_negate(normal), v);
    axis.separation =
        ss_vec3_dot(axis.normal, ss_vec3_subtract(ss_pair_vertex_b(to->pair, bottom), a->vertex[top]));
    to->function(&axis, SS_AXIS_EDGES, to->context);
}

static ss_axis face_axis(const ss_hull *hull, int face, const ss_hull *other, ss_mat3 turn, ss_vec3 shift)
{
    ss_vec3 normal = hull->face[face].normal;
    ss_vec3 inwards = ss_mat3_apply_transposed(turn, ss_vec3_negate(normal));
    int vertex = ss_hull_support(other, inwards, 0);
    ss_vec3 x = ss_vec3_add(shift, ss_mat3_apply(turn, other->vertex[vertex]));
    return (ss_axis){ss_vec3_dot(normal, x) - hull->face[face].offset, normal, face, vertex, {0, 0}};
}

void ss_separating_axes_visit(const ss_hull_pair *pair, ss_axis_function *function, void *context)
{
    visitor to = {function, context, pair};
    for (int f = 0; f < pair->a->face_count; f++) {
        ss_axis axis = face_axis(pair->a, f, pair->b, pair->turn, pair->shift);
        function(&axis, SS_AXIS_FACE_A, context);
    }
    ss_mat3 turn = ss_mat3_transpose(pair->turn);
    ss_vec3 shift = ss_vec3_negate(ss_mat3_apply(turn, pair->shift));
    for (int f = 0; f < pair->b->face_count; f++) {
        ss_axis axis = face_axis(pair->b, f, pair->a, turn, shift);
        axis.normal = ss_vec3_negate(ss_mat3_apply(pair->turn, axis.normal));
        function(&axis, SS_AXIS_FACE_B, context);
    }
    for (int e = 0, start = 0; e < pair->a->edge_count; e++) {
        arc from_a = place_arc(pair, e);
        start = walk_arc(&from_a, pair->b, start, visit_edges, &to);
    }
}
