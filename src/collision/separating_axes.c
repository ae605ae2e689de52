#include "collision/separating_axes.h"

/* ---- faces ------------------------------------------------------------------------------------------ */

/* No direction is looked at in which some point of the other body that is known is not farther away than what
 * was found already. Heights of the same point may differ by rounding: what is that close is looked at. */
#define ROUNDING 1e-12 /* of the smaller body's radius and the distance of the two */

static double height_over(const ss_hull_face *face, ss_vec3 x)
{
    return ss_vec3_dot(face->normal, x) - face->offset;
}

/* A hull, and another whose frame goes to the hull's by turn and shift. */
typedef struct placed_pair {
    const ss_hull *hull, *other;
    ss_mat3 turn;
    ss_vec3 shift;
    double slack; /* m, of rounding */
    int first;    /* the face that is tried first */
    int start;    /* a vertex of the other, where the first climb begins */
    double least; /* m: faces that are no farther away are of no use */
    ss_approach approach;
} placed_pair;

/* The face whose plane is farthest below the other's centre. */
static int face_towards(const ss_hull *hull, const ss_hull *other, ss_mat3 turn, ss_vec3 shift)
{
    return ss_hull_farthest_face(hull, ss_vec3_add(shift, ss_mat3_apply(turn, other->centre)));
}

static bool is_enough(const ss_axis *axis, const ss_approach *approach)
{
    return axis->separation > approach->rest + approach->turning &&
           axis->separation > ss_approach_along(approach, axis->normal);
}

/* Is this face farther from the other hull than the best so far? If not, *low is a vertex that shows it, in
 * the frame of the hull; else the one that is nearest. */
static bool try_face(const placed_pair *p, int f, ss_axis *best, ss_vec3 *low)
{
    const ss_hull_face *face = &p->hull->face[f];
    ss_vec3 inwards = ss_mat3_apply_transposed(p->turn, ss_vec3_negate(face->normal));
    double apart = ss_vec3_dot(face->normal, p->shift) - face->offset;
    int vertex = ss_hull_climb(p->other, inwards, best->vertex, apart - (best->separation - p->slack));
    double separation = apart - ss_vec3_dot(inwards, p->other->vertex[vertex]);
    *low = ss_vec3_add(p->shift, ss_mat3_apply(p->turn, p->other->vertex[vertex]));
    if (!(separation > best->separation)) return false;
    *best = (ss_axis){separation, face->normal, f, vertex, {0, 0}};
    return true;
}

static ss_axis farthest_face(const placed_pair *p)
{
    const ss_hull *hull = p->hull;
    ss_axis best = {.separation = p->least, .feature = p->first, .vertex = p->start};
    if (hull->face_count == 0) return (ss_axis){.separation = -INFINITY};

    /* After the first face most others are ruled out by the vertex that is nearest to it, or by the last one
     * that ruled out another. */
    ss_vec3 low, nearest;
    try_face(p, p->first, &best, &low);
    nearest = low;
    double limit = best.separation - p->slack;
    for (int block = 0; block < hull->face_count && !is_enough(&best, &p->approach); block += SS_HULL_BLOCK) {
        uint64_t left = ss_hull_faces_below(hull, block, nearest, limit);
        while (left) {
            int bit = __builtin_ctzll(left), f = block + bit;
            const ss_hull_face *face = &hull->face[f];
            left &= left - 1;
            if (height_over(face, nearest) < limit || height_over(face, low) < limit || f == p->first)
                continue;
            if (!try_face(p, f, &best, &low)) continue;
            if (is_enough(&best, &p->approach)) break;
            nearest = low;
            limit = best.separation - p->slack;
            left = ss_hull_faces_below(hull, block, nearest, limit) & ~((UINT64_C(2) << bit) - 1);
        }
    }
    if (!(best.separation > p->least)) best.separation = -INFINITY;
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

/* The height of a point over an edge of a, in a direction of its arc, is at most the larger one of those over
 * the two faces where both are below, else that divided by the cosine of half the arc. So one vertex of b
 * that is below `limit` over both faces rules the arc out. It is looked for by climbing down from `start`;
 * -1: not found. */
static int find_below(const arc *from_a, const ss_hull *b, int start, double limit)
{
    double least = INFINITY;
    for (int v = start, from = -1; v != from;) {
        from = v;
        for (int i = b->neighbour_start[from] - 1; i < b->neighbour_start[from + 1]; i++) {
            int w = i < b->neighbour_start[from] ? from : b->neighbour[i];
            ss_vec3 x = ss_vec3_subtract(b->vertex[w], from_a->point);
            double at_1 = ss_vec3_dot(from_a->from, x), at_2 = ss_vec3_dot(from_a->to, x);
            double most = at_1 > at_2 ? at_1 : at_2;
            if (most < limit) return w;
            if (most < least) {
                least = most;
                v = w;
            }
        }
    }
    return -1;
}

/* The first edge from e on that is among these; NULL: all are. */
static int next_edge(const ss_hull *hull, const uint64_t *among, int e)
{
    if (!among) return e;
    for (int word = e / 64; 64 * word < hull->edge_count; word++) {
        uint64_t left = among[word] >> (word == e / 64 ? e % 64 : 0);
        if (left) return (word == e / 64 ? e : 64 * word) + __builtin_ctzll(left);
    }
    return hull->edge_count;
}

/* `near`: the vertex of b that is nearest to the farthest face of a. */
static ss_axis farthest_edges(const ss_hull_pair *pair, int near, double known, double slack,
                              const ss_approach *approach)
{
    enum { EDGES = 3 * SS_HULL_BLOCK }; // no more for a block of faces: three meet at each vertex at least
    const ss_hull *a = pair->a;
    ss_axis best = {.separation = known, .feature = -1};
    ss_vec3 nearest = ss_pair_vertex_b(pair, near), low = nearest; // low: the last that ruled out an arc

    /* The sides of faces that are not below the limit at the nearest vertex. */
    uint64_t sides[EDGES / 64] = {0};
    bool all = a->face_count > SS_HULL_BLOCK;
    if (!all) {
        double limit = known + slack;
        if (limit > 0.0) limit *= a->bend;
        for (uint64_t left = ss_hull_faces_below(a, 0, nearest, limit); left; left &= left - 1) {
            const ss_hull_face *face = &a->face[__builtin_ctzll(left)];
            for (int i = face->first; i < face->first + face->size; i++)
                sides[a->loop_edge[i] / 64] |= UINT64_C(1) << a->loop_edge[i] % 64;
        }
    }

    int start = near;
    ss_approach of_b = *approach;
    of_b.way = ss_pair_turn_to_b(pair, approach->way);
    for (int e = 0; (e = next_edge(a, all ? NULL : sides, e)) < a->edge_count; e++) {
        if (best.feature >= 0 && is_enough(&best, &of_b)) break;
        int f = a->edge[e].face[0], g = a->edge[e].face[1];
        const ss_hull_face *face_f = &a->face[f], *face_g = &a->face[g];
        double limit = best.separation + slack; // an edge that is no better than its face is of no use
        if (limit > 0.0) limit *= sqrt(0.5 * (1.0 + ss_vec3_dot(face_f->normal, face_g->normal)));
        if (height_over(face_f, nearest) < limit && height_over(face_g, nearest) < limit) continue;
        if (height_over(face_f, low) < limit && height_over(face_g, low) < limit) continue;
        arc from_a = place_arc(pair, e);
        int below = find_below(&from_a, pair->b, start, limit);
        if (below >= 0)
            low = ss_pair_vertex_b(pair, below);
        else
            start = walk_arc(&from_a, pair->b, start, try_edges, &best);
    }
    if (best.feature < 0) best.separation = -INFINITY;
    best.normal = ss_mat3_apply(pair->turn, best.normal);
    return best;
}

bool ss_separating_axes_find(const ss_hull_pair *pair, const ss_approach *approach, ss_separating_axes *best)
{
    const ss_hull *a = pair->a, *b = pair->b;
    ss_mat3 to_b = ss_mat3_transpose(pair->turn);
    ss_vec3 shift_b = ss_vec3_negate(ss_mat3_apply(to_b, pair->shift));
    double slack = ROUNDING * (pair->size + ss_vec3_norm(pair->shift));

    // Vertices that are nearest to the other are most likely those of the face towards it.
    int first_a = face_towards(a, b, pair->turn, pair->shift), first_b = 0, start = 0;
    if (b->face_count > 0) {
        first_b = face_towards(b, a, to_b, shift_b);
        start = b->loop[b->face[first_b].first];
    }
    placed_pair from_a = {a, b, pair->turn, pair->shift, slack, first_a, start, -INFINITY, *approach};
    best->face_a = farthest_face(&from_a);
    best->last = &best->face_a;
    if (is_enough(best->last, approach)) return false;

    // A face of b that is less far away than one of a by more than the bias is of no use, nor is it enough.
    double least = best->face_a.separation - 2.0 * SS_FACE_BIAS * pair->size;
    least = fmin(least, approach->rest + approach->turning);
    start = a->loop[a->face[best->face_a.feature].first];
    placed_pair from_b = {b, a, to_b, shift_b, slack, first_b, start, least, *approach};
    from_b.approach.way = ss_vec3_negate(ss_mat3_apply(to_b, approach->way));
    best->face_b = farthest_face(&from_b);
    best->face_b.normal = ss_vec3_negate(ss_mat3_apply(pair->turn, best->face_b.normal));
    best->last = &best->face_b;
    if (is_enough(best->last, approach)) return false;

    double known = fmax(best->face_a.separation, best->face_b.separation);
    best->edges = farthest_edges(pair, best->face_a.vertex, known, slack, approach);
    best->last = &best->edges;
    return !is_enough(best->last, approach);
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
