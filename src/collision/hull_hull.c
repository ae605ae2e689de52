/* Two convex polyhedra. The direction of contact is that of the largest separation (separating_axes.h); where
 * a face has it, the faces that lie against each other are clipped. Where edges or vertices are nearest, the
 * nearest points themselves are a contact, and what else is within the margin of it comes from the faces or
 * edges that are almost at right angles to its normal: a plank that hangs over the edge of a table rests on
 * two points, not on one. */
#include "collision/closest.h"
#include "collision/pairs.h"
#include "collision/segment.h"
#include "collision/separating_axes.h"

/* The nearest points, or the deepest ones. */
typedef struct witness {
    ss_vec3 on_a, on_b, normal;
    double gap;
    ss_feature a, b;
    int count_a, count_b, vertex_a[4], vertex_b[4]; /* of the features */
} witness;

/* ---- faces ------------------------------------------------------------------------------------------ */

/* `vertex`: of the other body, nearest to the reference face; -1 if not known. */
static void clip_on_face(const ss_hull_pair *pair, bool of_a, int face, int vertex,
                         ss_manifold_builder *builder)
{
    ss_polygon reference, incident;
    ss_pair_polygon(pair, of_a, face, &reference);
    ss_vec3 inwards = ss_vec3_negate(reference.normal);
    const ss_hull *other = of_a ? pair->b : pair->a;
    if (of_a) inwards = ss_pair_turn_to_b(pair, inwards);
    if (vertex < 0) vertex = ss_hull_support(other, inwards, 0);
    ss_pair_polygon(pair, !of_a, ss_hull_find_face(other, inwards, vertex), &incident);
    ss_clip_faces(&reference, &incident, of_a, SS_CLIP_SLACK * pair->size, builder);
}

/* Contacts on the face that has the largest separation; false if the largest of all separations is
 * not among them. */
static bool touch_by_faces(const ss_hull_pair *pair, const ss_separating_axes *best, double largest,
                           ss_manifold_builder *builder)
{
    double a = best->face_a.separation, b = best->face_b.separation, bias = SS_FACE_BIAS * pair->size;
    double enough = largest + (largest > 0.0 ? SS_DISTANCE_EXACT * pair->size : 2.0 * bias);
    if (fmax(a, b) < best->edges.separation - bias) return false;
    bool of_a = ss_prefers_a(pair->favour_a, a, b, bias);
    for (int turn = 0; turn < 2; turn++, of_a = !of_a) {
        const ss_axis *axis = of_a ? &best->face_a : &best->face_b;
        if (axis->separation < largest - bias) continue;
        ss_manifold_builder_restart(builder);
        clip_on_face(pair, of_a, axis->feature, axis->vertex, builder);
        if (builder->deepest <= enough) return true;
    }
    ss_manifold_builder_restart(builder);
    return false;
}

/* ---- nearest points --------------------------------------------------------------------------------- */

static ss_segment segment_between(ss_vec3 p, ss_vec3 q)
{
    ss_segment segment;
    double length;
    segment.axis = ss_vec3_normalise(ss_vec3_subtract(q, p), &length);
    segment.centre = ss_vec3_scale(0.5, ss_vec3_add(p, q));
    segment.half = 0.5 * length;
    return segment;
}

/* The points of the two features whose separation is largest. */
static witness axis_witness(const ss_hull_pair *pair, const ss_separating_axes *best)
{
    double a = best->face_a.separation, b = best->face_b.separation;

    // Two edges: the nearest points of the segments.
    if (best->edges.separation > fmax(a, b)) {
        const ss_axis *axis = &best->edges;
        const int *end_a = pair->a->edge[axis->feature].vertex, *end_b = axis->edge_b;
        ss_segment of_a = segment_between(pair->a->vertex[end_a[0]], pair->a->vertex[end_a[1]]);
        ss_segment of_b = segment_between(ss_pair_vertex_b(pair, end_b[0]), ss_pair_vertex_b(pair, end_b[1]));
        double on_a, on_b;
        ss_segments_nearest(of_a, of_b, &on_a, &on_b);
        return (witness){
            .on_a = ss_segment_at(of_a, on_a),
            .on_b = ss_segment_at(of_b, on_b),
            .normal = axis->normal,
            .gap = axis->separation,
            .a = {SS_EDGE, axis->feature},
            .b = {SS_EDGE, ss_hull_find_edge(pair->b, end_b[0], end_b[1])},
            .count_a = 2,
            .count_b = 2,
            .vertex_a = {end_a[0], end_a[1]},
            .vertex_b = {end_b[0], end_b[1]},
        };
    }

    // A face and a vertex: the vertex and its foot on the face.
    bool of_a = ss_prefers_a(pair->favour_a, a, b, 0.0);
    const ss_axis *axis = of_a ? &best->face_a : &best->face_b;
    ss_vec3 vertex = of_a ? ss_pair_vertex_b(pair, axis->vertex) : pair->a->vertex[axis->vertex];
    ss_feature face = {SS_FACE, axis->feature}, corner = {SS_VERTEX, axis->vertex};
    ss_vec3 foot = ss_vec3_add_scaled(vertex, of_a ? -axis->separation : axis->separation, axis->normal);
    return (witness){
        .on_a = of_a ? foot : vertex,
        .on_b = of_a ? vertex : foot,
        .normal = axis->normal,
        .gap = axis->separation,
        .a = of_a ? face : corner,
        .b = of_a ? corner : face,
    };
}

static witness find_witness(const ss_hull_pair *pair, const ss_separating_axes *best)
{
    witness along_axis = axis_witness(pair, best);
    double apart = ss_vec3_norm(ss_vec3_subtract(along_axis.on_b, along_axis.on_a));
    double exact = SS_DISTANCE_EXACT * pair->size;
    bool of_edges = along_axis.a.kind == SS_EDGE && along_axis.b.kind == SS_EDGE;
    if (along_axis.gap <= 0.0 || (of_edges && apart - along_axis.gap <= exact)) return along_axis;
    ss_closest closest;
    if (!ss_hulls_closest(pair, along_axis.normal, &closest)) return along_axis;

    witness found = {
        .on_a = closest.on_a,
        .on_b = closest.on_b,
        .normal = along_axis.normal,
        .gap = along_axis.gap,
        .a = ss_hull_find_feature(pair->a, closest.vertex_a, closest.count_a),
        .b = ss_hull_find_feature(pair->b, closest.vertex_b, closest.count_b),
        .count_a = closest.count_a,
        .count_b = closest.count_b,
    };
    for (int i = 0; i < 4; i++) {
        found.vertex_a[i] = closest.vertex_a[i];
        found.vertex_b[i] = closest.vertex_b[i];
    }

    // When the nearest points are hardly farther from each other than the largest separation, its direction
    // is the better known one: nearest points tell none when bodies touch.
    if (closest.distance - along_axis.gap > exact)
        found.normal = ss_vec3_normalise(ss_vec3_subtract(closest.on_b, closest.on_a), &found.gap);
    return found;
}

static void gather_witness(const witness *found, ss_manifold_builder *builder)
{
    ss_vec3 halfway = ss_vec3_scale(0.5, ss_vec3_add(found->on_a, found->on_b));
    ss_manifold_builder_add(builder, halfway, found->normal, found->gap, found->a, found->b);
}

/* ---- besides the nearest points --------------------------------------------------------------------- */

/* The nearest points, and the face of either body that is most along their normal; false if
 * none is almost. */
static bool gather_with_face(const ss_hull_pair *pair, const witness *found, ss_manifold_builder *builder)
{
    ss_vec3 normal = found->normal, opposite = ss_vec3_negate(ss_pair_turn_to_b(pair, normal));
    int a = ss_hull_face_along(pair->a, normal, SS_ALMOST_ALONG);
    int b = ss_hull_face_along(pair->b, opposite, SS_ALMOST_ALONG);
    if (a < 0 && b < 0) return false;
    double along_a = a < 0 ? -1.0 : ss_vec3_dot(pair->a->face[a].normal, normal);
    double along_b = b < 0 ? -1.0 : ss_vec3_dot(pair->b->face[b].normal, opposite);
    gather_witness(found, builder);
    bool of_a = ss_prefers_a(pair->favour_a, along_a, along_b, SS_FACE_BIAS);
    clip_on_face(pair, of_a, of_a ? a : b, -1, builder);
    return true;
}

/* The edge at one of these vertices that is most across the normal, if it is almost; else -1. */
static int edge_across(const ss_hull *hull, const int *vertex, int count, ss_vec3 normal)
{
    int best = -1;
    double least = SS_ALMOST_ACROSS;
    uint64_t some = 0; // of the vertices' numbers, six bits: most edges have none of them
    for (int i = 0; i < count; i++) some |= UINT64_C(1) << (vertex[i] & 63);
    for (int e = 0; e < hull->edge_count; e++) {
        const int *end = hull->edge[e].vertex;
        if (!((some >> (end[0] & 63) | some >> (end[1] & 63)) & 1)) continue;
        bool meets = false;
        for (int i = 0; i < count; i++) meets |= end[0] == vertex[i] || end[1] == vertex[i];
        if (!meets) continue;
        ss_vec3 edge = ss_vec3_subtract(hull->vertex[end[1]], hull->vertex[end[0]]);
        double across = ss_vec3_dot(edge, normal);
        if (across * across > 1.01 * least * least * ss_vec3_dot(edge, edge)) continue; // most are not
        double sine = fabs(ss_vec3_dot(ss_vec3_normalise(edge, NULL), normal));
        if (sine < least) {
            least = sine;
            best = e;
        }
    }
    return best;
}

/* The contact where an end of one of two almost parallel edges lies beside the other edge, almost
 * along the normal. */
static void gather_end(const ss_segment *own, double t, const ss_segment *other, const witness *found,
                       bool own_is_a, int vertex, int edge, ss_manifold_builder *builder)
{
    double foot = ss_segment_foot(*other, ss_segment_at(*own, t));
    if (fabs(foot) > other->half) return;
    ss_vec3 end = ss_segment_at(*own, t), beside = ss_segment_at(*other, foot);
    ss_vec3 between = ss_vec3_subtract(own_is_a ? beside : end, own_is_a ? end : beside);
    double gap = ss_vec3_dot(found->normal, between);
    if (fabs(gap) < SS_ALMOST_ALONG * ss_vec3_norm(between)) return;
    ss_feature corner = {SS_VERTEX, vertex}, line = {SS_EDGE, edge};
    ss_manifold_builder_add(builder, ss_vec3_scale(0.5, ss_vec3_add(end, beside)), found->normal, gap,
                            own_is_a ? corner : line, own_is_a ? line : corner);
}

/* Edges that lie side by side touch at both ends of what they have in common: those of the witness that are
 * across its normal, -1 if there are none. */
static void gather_ends(const ss_hull_pair *pair, const witness *found, int a, int b,
                        ss_manifold_builder *builder)
{
    if (a < 0 || b < 0) return;
    const int *end_a = pair->a->edge[a].vertex, *end_b = pair->b->edge[b].vertex;
    ss_segment of_a = segment_between(pair->a->vertex[end_a[0]], pair->a->vertex[end_a[1]]);
    ss_segment of_b = segment_between(ss_pair_vertex_b(pair, end_b[0]), ss_pair_vertex_b(pair, end_b[1]));
    if (ss_vec3_norm(ss_vec3_cross(of_a.axis, of_b.axis)) > SS_ALMOST_ACROSS) return;
    for (int k = 0; k < 2; k++) {
        double sign = k ? 1.0 : -1.0;
        gather_end(&of_a, sign * of_a.half, &of_b, found, true, end_a[k], b, builder);
        gather_end(&of_b, sign * of_b.half, &of_a, found, false, end_b[k], a, builder);
    }
}

/* ---- all of it -------------------------------------------------------------------------------------- */

void ss_collide_hulls(const ss_hull_pair *pair, const ss_approach *approach, ss_manifold_builder *builder)
{
    // Balls around both that do not meet, or an axis along which they are too far apart: no contact.
    double margin = builder->margin + builder->round;
    ss_vec3 centre_b = ss_vec3_add(pair->shift, ss_mat3_apply(pair->turn, pair->b->centre));
    double distance = ss_vec3_norm(ss_vec3_subtract(centre_b, pair->a->centre));
    ss_separating_axes best;
    if (distance > pair->a->radius + pair->b->radius + margin) {
        builder->separation = distance - pair->a->radius - pair->b->radius;
        builder->axis = ss_vec3_scale(1.0 / distance, ss_vec3_subtract(centre_b, pair->a->centre));
        return;
    }
    if (!ss_separating_axes_find(pair, approach, &best)) {
        builder->separation = best.last->separation;
        builder->axis = best.last->normal;
        return;
    }

    double largest = fmax(best.edges.separation, fmax(best.face_a.separation, best.face_b.separation));
    builder->apart = pair->b->face_count == 0 ? SS_CLIP_SLACK * pair->size : 0.0;
    if (!touch_by_faces(pair, &best, largest, builder)) {
        witness found = find_witness(pair, &best);
        builder->apart = SS_BESIDES * pair->size;
        if (found.gap <= margin && !gather_with_face(pair, &found, builder)) {
            // The ends of parallel edges are all there is to say; of almost parallel ones, the nearest points
            // come first.
            ss_vec3 normal_b = ss_pair_turn_to_b(pair, found.normal);
            int a = edge_across(pair->a, found.vertex_a, found.count_a, found.normal);
            int b = edge_across(pair->b, found.vertex_b, found.count_b, normal_b);
            gather_ends(pair, &found, a, b, builder);
            if (builder->deepest > found.gap + SS_DISTANCE_EXACT * pair->size) {
                ss_manifold_builder_restart(builder);
                gather_witness(&found, builder);
                gather_ends(pair, &found, a, b, builder);
            }
        }
    }
    ss_manifold_builder_finish(builder);
}

double ss_collide_hulls_or_part(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                                ss_approach approach, ss_manifold *manifold, ss_vec3 *axis)
{
    ss_box_hull box_a, box_b;
    ss_hull_pair pair = ss_hull_pair_place(a, ss_placed_hull(a, &box_a), b, ss_placed_hull(b, &box_b), 0.0);
    ss_manifold_builder builder = ss_manifold_builder_start(manifold, a, margin, false);
    approach.way = ss_placed_turn_back(a, approach.way);
    ss_collide_hulls(&pair, &approach, &builder);
    *axis = ss_placed_turn(a, builder.axis);
    return builder.separation;
}

void ss_collide_hull_hull(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                          ss_manifold *manifold)
{
    ss_vec3 axis;
    ss_collide_hulls_or_part(a, b, margin, (ss_approach){.rest = margin}, manifold, &axis);
}

void ss_collide_box_hull(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                         ss_manifold *manifold)
{
    ss_collide_hull_hull(a, b, margin, manifold);
}
