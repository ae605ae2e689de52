/* Two boxes: the separating axis test over 3 + 3 faces and 9 pairs of edges in closed form. Resting contact,
 * a face against a face, an edge or a vertex, is finished here, and so is an edge across an edge; where
 * corners are nearest, boxes are hulls like others. */
#include "collision/pairs.h"
#include "collision/polyhedron.h"

/* Box b in the frame of a. */
typedef struct box_pair {
    double half_a[3], half_b[3];
    double turn[3][3]; /* column j: axis j of b */
    double turn_abs[3][3];
    double shift[3];   /* of the centres */
    double shift_b[3]; /* the same in b's frame */
} box_pair;

/* The axis of a box along which the other box is farthest from it. `apart`: square of the distance to the box
 * around the other with these axes, 0 if they overlap. */
typedef struct box_axis {
    double separation, apart;
    int axis;
} box_axis;

/* The edges along axis_a and axis_b. */
typedef struct box_edges {
    double separation;
    int axis_a, axis_b;
} box_edges;

static void place(const ss_placed_shape *a, const ss_placed_shape *b, box_pair *pair)
{
    const double *ra = a->rotation, *rb = b->rotation;
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = b->position[k] - a->position[k];
        pair->half_a[k] = 0.5 * a->shape->size[k];
        pair->half_b[k] = 0.5 * b->shape->size[k];
    }
    for (int i = 0; i < 3; i++) {
        pair->shift[i] = ra[i] * d[0] + ra[3 + i] * d[1] + ra[6 + i] * d[2];
        pair->shift_b[i] = rb[i] * d[0] + rb[3 + i] * d[1] + rb[6 + i] * d[2];
        for (int j = 0; j < 3; j++) {
            pair->turn[i][j] = ra[i] * rb[j] + ra[3 + i] * rb[3 + j] + ra[6 + i] * rb[6 + j];
            pair->turn_abs[i][j] = fabs(pair->turn[i][j]);
        }
    }
}

static void note_axis(box_axis *best, double separation, int axis)
{
    if (separation > 0.0) best->apart += separation * separation;
    if (separation <= best->separation) return;
    best->separation = separation;
    best->axis = axis;
}

static box_axis farthest_face_of_a(const box_pair *p)
{
    box_axis best = {-INFINITY, 0.0, 0};
    for (int i = 0; i < 3; i++) {
        double reach_b = p->turn_abs[i][0] * p->half_b[0] + p->turn_abs[i][1] * p->half_b[1] +
                         p->turn_abs[i][2] * p->half_b[2];
        double separation = fabs(p->shift[i]) - p->half_a[i] - reach_b;
        note_axis(&best, separation, i);
    }
    return best;
}

static box_axis farthest_face_of_b(const box_pair *p)
{
    box_axis best = {-INFINITY, 0.0, 0};
    for (int j = 0; j < 3; j++) {
        double reach_a = p->turn_abs[0][j] * p->half_a[0] + p->turn_abs[1][j] * p->half_a[1] +
                         p->turn_abs[2][j] * p->half_a[2];
        double separation = fabs(p->shift_b[j]) - p->half_b[j] - reach_a;
        note_axis(&best, separation, j);
    }
    return best;
}

/* Edges farther apart than `known`, if there are. Those that are parallel to 1e-6 have no direction of their
 * own; their distance is that of a vertex and an edge. */
static box_edges farthest_edges(const box_pair *p, double known)
{
    box_edges best = {known, 0, 0};
    for (int i = 0; i < 3; i++) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double square = p->turn[i1][j] * p->turn[i1][j] + p->turn[i2][j] * p->turn[i2][j];
            double centres = fabs(p->shift[i2] * p->turn[i1][j] - p->shift[i1] * p->turn[i2][j]);
            double reach_a = p->half_a[i1] * p->turn_abs[i2][j] + p->half_a[i2] * p->turn_abs[i1][j];
            double reach_b = p->half_b[j1] * p->turn_abs[i][j2] + p->half_b[j2] * p->turn_abs[i][j1];
            // by the sine of the edges' angle, which is at most 1
            double scaled = centres - reach_a - reach_b;
            if ((scaled < 0.0 && scaled <= best.separation) || square < 1e-12) continue;
            double separation = scaled / sqrt(square);
            if (separation > best.separation) best = (box_edges){separation, i, j};
        }
    }
    return best;
}

/* ---- the contacts of faces -------------------------------------------------------------------------- */

/* Face f of a box at `centre` whose axes are the columns of `axes`. */
static void box_polygon(int f, const double half[3], const double axes[3][3], const double centre[3],
                        ss_polygon *polygon)
{
    const int *vertex = ss_box_face_vertices(f), *edge = ss_box_face_edges(f);
    int axis = f / 2;
    double sign = f & 1 ? 1.0 : -1.0;
    polygon->size = 4;
    polygon->face = f;
    polygon->normal = (ss_vec3){sign * axes[0][axis], sign * axes[1][axis], sign * axes[2][axis]};
    polygon->offset = ss_vec3_dot(polygon->normal, ss_vec3_load(centre)) + half[axis];
    for (int k = 0; k < 4; k++) {
        double local[3], corner[3];
        for (int i = 0; i < 3; i++) local[i] = vertex[k] >> i & 1 ? half[i] : -half[i];
        for (int i = 0; i < 3; i++)
            corner[i] = centre[i] + axes[i][0] * local[0] + axes[i][1] * local[1] + axes[i][2] * local[2];
        polygon->corner[k] = ss_vec3_load(corner);
        polygon->vertex[k] = vertex[k];
        polygon->edge[k] = edge[k];
    }
}

/* The face that looks most along a direction. */
static int face_along(const double direction[3])
{
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(direction[k]) > fabs(direction[axis])) axis = k;
    return 2 * axis + (direction[axis] > 0.0);
}

/* Reference: the face of the axis, on the side that looks from a to b along `sign` times the axis. */
static void clip_on_face(const box_pair *p, bool of_a, int axis, double sign, double size,
                         ss_manifold_builder *builder)
{
    static const double own_axes[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    static const double own_centre[3] = {0.0, 0.0, 0.0};
    ss_polygon of[2]; // of a, of b
    if (!of_a) sign = -sign;
    double inwards[3];
    for (int k = 0; k < 3; k++) inwards[k] = -sign * (of_a ? p->turn[axis][k] : p->turn[k][axis]);
    int reference = 2 * axis + (sign > 0.0), incident = face_along(inwards);
    box_polygon(of_a ? reference : incident, p->half_a, own_axes, own_centre, &of[0]);
    box_polygon(of_a ? incident : reference, p->half_b, p->turn, p->shift, &of[1]);
    ss_clip_faces(&of[!of_a], &of[of_a], of_a, SS_CLIP_SLACK * size, builder);
}

/* ---- the contact of edges --------------------------------------------------------------------------- */

/* Middle and number of the edge along `axis` that is farthest along `direction`. */
static int support_edge(const double half[3], int axis, const double direction[3], double middle[3])
{
    int k1 = (axis + 1) % 3, k2 = (axis + 2) % 3;
    middle[axis] = 0.0;
    middle[k1] = direction[k1] > 0.0 ? half[k1] : -half[k1];
    middle[k2] = direction[k2] > 0.0 ? half[k2] : -half[k2];
    return 4 * axis + ((direction[k1] > 0.0) | (direction[k2] > 0.0) << 1);
}

/* False if the edges' lines are not nearest within the edges, or too nearly parallel to say where. */
static bool touch_by_edges(const box_pair *p, const box_edges *edges, bool favour_a, double size,
                           ss_manifold_builder *builder)
{
    /* The normal of the two edges, from a to b, in both frames. */
    int axis_a = edges->axis_a, axis_b = edges->axis_b;
    ss_mat3 turn = ss_mat3_load(&p->turn[0][0]);
    double unit[3] = {0.0, 0.0, 0.0}, in_a[3], in_b[3];
    unit[axis_a] = 1.0;
    ss_vec3 along_edge_b = ss_mat3_column(&turn, axis_b);
    ss_vec3 normal = ss_vec3_cross(ss_vec3_load(unit), along_edge_b);
    double side = ss_vec3_dot(normal, ss_vec3_load(p->shift));
    normal = ss_vec3_scale((side < 0.0 ? -1.0 : 1.0) / ss_vec3_norm(normal), normal);
    ss_vec3_store(normal, in_a);
    ss_vec3_store(ss_mat3_apply_transposed(turn, normal), in_b);

    /* Where their lines are nearest, from the middles of the edges. */
    double middle_a[3], middle_b[3], opposite[3] = {-in_b[0], -in_b[1], -in_b[2]}, between[3];
    int edge_a = support_edge(p->half_a, axis_a, in_a, middle_a);
    int edge_b = support_edge(p->half_b, axis_b, opposite, middle_b);
    ss_vec3 b = ss_vec3_add(ss_vec3_load(p->shift), ss_mat3_apply(turn, ss_vec3_load(middle_b)));
    ss_vec3_store(ss_vec3_subtract(b, ss_vec3_load(middle_a)), between);
    double cosine = p->turn[axis_a][axis_b], square = 1.0 - cosine * cosine;
    if (square < SS_ALMOST_ACROSS * SS_ALMOST_ACROSS) return false;
    double along = between[axis_a], back = ss_vec3_dot(along_edge_b, ss_vec3_load(between));
    double on_a = (along - cosine * back) / square, on_b = (cosine * along - back) / square;
    if (fabs(on_a) > p->half_a[axis_a] || fabs(on_b) > p->half_b[axis_b]) return false;
    middle_a[axis_a] = on_a;
    ss_vec3 point = ss_vec3_add_scaled(ss_vec3_load(middle_a), 0.5 * edges->separation, normal);
    ss_manifold_builder_add(builder, point, normal, edges->separation, (ss_feature){SS_EDGE, edge_a},
                            (ss_feature){SS_EDGE, edge_b});

    /* Besides, a face that is almost along the normal. */
    int face_a = face_along(in_a) / 2, face_b = face_along(in_b) / 2;
    double along_a = fabs(in_a[face_a]), along_b = fabs(in_b[face_b]);
    if (along_a < SS_ALMOST_ALONG && along_b < SS_ALMOST_ALONG) return true;
    builder->apart = SS_BESIDES * size;
    if (ss_prefers_a(favour_a, along_a, along_b, SS_FACE_BIAS))
        clip_on_face(p, true, face_a, in_a[face_a], size, builder);
    else
        clip_on_face(p, false, face_b, in_b[face_b], size, builder);
    return true;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

/* The same choices as for hulls (hull_hull.c). False if they were not enough: corners are nearest, or
 * rounding decides.
 */
static bool touch(const box_pair *p, bool favour_a, double size, ss_manifold_builder *builder)
{
    double margin_square = builder->margin * builder->margin;
    box_axis a = farthest_face_of_a(p);
    if (a.apart > margin_square) return true;
    box_axis b = farthest_face_of_b(p);
    if (b.apart > margin_square) return true;
    double bias = SS_FACE_BIAS * size, faces = a.separation > b.separation ? a.separation : b.separation;
    box_edges edges = farthest_edges(p, faces);
    double largest = edges.separation;
    if (largest > builder->margin) return true;
    if (faces < largest - bias) return touch_by_edges(p, &edges, favour_a, size, builder);
    if (ss_prefers_a(favour_a, a.separation, b.separation, bias))
        clip_on_face(p, true, a.axis, p->shift[a.axis], size, builder);
    else
        clip_on_face(p, false, b.axis, p->shift_b[b.axis], size, builder);
    return builder->deepest <= largest + (largest > 0.0 ? SS_DISTANCE_EXACT * size : 2.0 * bias);
}

void ss_collide_box_box(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                        ss_manifold *manifold)
{
    box_pair pair;
    place(a, b, &pair);
    ss_vec3 half_a = ss_vec3_load(pair.half_a), half_b = ss_vec3_load(pair.half_b);
    double square_a = ss_vec3_dot(half_a, half_a), square_b = ss_vec3_dot(half_b, half_b);
    double size = sqrt(square_a < square_b ? square_a : square_b);
    ss_manifold_builder builder = ss_manifold_builder_start(manifold, a, margin, false);
    if (!touch(&pair, a->number <= b->number, size, &builder)) ss_collide_hull_hull(a, b, margin, manifold);
}
