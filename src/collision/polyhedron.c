#include "collision/polyhedron.h"

#include <float.h>
#include <string.h>

/* ---- boxes and segments as hulls -------------------------------------------------------------------- */

static const int box_loop[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
static const int box_loop_edge[24] = {8,  5, 10, 4, 6, 11, 7, 9, 0, 9, 2, 8,
                                      10, 3, 11, 1, 4, 1,  6, 0, 2, 7, 3, 5};
static const ss_hull_edge box_edge[12] = {
    {{0, 1}, {2, 4}}, {{2, 3}, {4, 3}}, {{4, 5}, {5, 2}}, {{6, 7}, {3, 5}},
    {{0, 2}, {4, 0}}, {{4, 6}, {0, 5}}, {{1, 3}, {1, 4}}, {{5, 7}, {5, 1}},
    {{0, 4}, {0, 2}}, {{1, 5}, {2, 1}}, {{2, 6}, {3, 0}}, {{3, 7}, {1, 3}},
};
static const int box_neighbour_start[9] = {0, 3, 6, 9, 12, 15, 18, 21, 24};
static const int box_around[24] = {0, 2, 4, 1, 2, 4, 0, 3, 4, 1, 3, 4, 0, 2, 5, 1, 2, 5, 0, 3, 5, 1, 3, 5};
static const int box_neighbour[24] = {1, 2, 4, 0, 3, 5, 3, 0, 6, 2, 1, 7, 5, 6, 0, 4, 7, 1, 7, 4, 2, 6, 5, 3};

const int *ss_box_face_vertices(int face)
{
    return box_loop + 4 * face;
}

const int *ss_box_face_edges(int face)
{
    return box_loop_edge + 4 * face;
}

void ss_box_vertices(const double size[3], ss_vec3 vertex[8])
{
    ss_vec3 half = ss_vec3_scale(0.5, ss_vec3_load(size));
    for (int v = 0; v < 8; v++)
        vertex[v] = (ss_vec3){v & 1 ? half.x : -half.x, v & 2 ? half.y : -half.y, v & 4 ? half.z : -half.z};
}

/* A hull's arrays are only ever read here; the tables they point to are constant. */
const ss_hull *ss_box_hull_fill(ss_box_hull *box, const double size[3])
{
    ss_vec3 half = ss_vec3_scale(0.5, ss_vec3_load(size));
    ss_box_vertices(size, box->vertex);
    for (int f = 0; f < 6; f++) {
        double sign = f & 1 ? 1.0 : -1.0, normal[3] = {0.0, 0.0, 0.0};
        normal[f / 2] = sign;
        box->face[f] = (ss_hull_face){ss_vec3_load(normal), 0.5 * size[f / 2], 4 * f, 4};
    }
    for (int side = 0; side < 2; side++) { // a lane for each axis, the last one is below everything
        float n = side ? 1.0f : -1.0f;
        box->planes[side] =
            (ss_hull_planes){.normal = {{n}, {0.0f, n}, {0.0f, 0.0f, n}},
                             .offset = {(float)half.x, (float)half.y, (float)half.z, FLT_MAX}};
    }
    box->hull = (ss_hull){
        .vertex_count = 8,
        .face_count = 6,
        .edge_count = 12,
        .vertex = box->vertex,
        .face = box->face,
        .planes = box->planes,
        .loop = (int *)box_loop,
        .loop_edge = (int *)box_loop_edge,
        .edge = (ss_hull_edge *)box_edge,
        .neighbour_start = (int *)box_neighbour_start,
        .neighbour = (int *)box_neighbour,
        .around = (int *)box_around,
        .radius = ss_vec3_norm(half),
        .extent = ss_vec3_norm(half),
        .bend = 0.70710678118654752, // of a right angle
    };
    return &box->hull;
}

const ss_hull *ss_core_hull_fill(ss_core_hull *core, double length)
{
    static const ss_hull_edge edge = {{0, 1}, {-1, -1}};
    static const int neighbour_start[3] = {0, 1, 2}, alone[2] = {0, 0}, neighbour[2] = {1, 0};
    bool point = !(length > 0.0);
    core->vertex[0] = (ss_vec3){0.0, 0.0, -0.5 * length};
    core->vertex[1] = (ss_vec3){0.0, 0.0, 0.5 * length};
    core->hull = (ss_hull){
        .vertex_count = point ? 1 : 2,
        .edge_count = point ? 0 : 1,
        .vertex = core->vertex,
        .edge = (ss_hull_edge *)&edge,
        .neighbour_start = (int *)(point ? alone : neighbour_start),
        .neighbour = (int *)neighbour,
        .radius = 0.5 * length,
    };
    return &core->hull;
}

const ss_hull *ss_placed_hull(const ss_placed_shape *shape, ss_box_hull *box)
{
    return shape->shape->kind == SS_BOX ? ss_box_hull_fill(box, shape->shape->size) : shape->geometry->hull;
}

/* ---- features --------------------------------------------------------------------------------------- */

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_bits __attribute__((vector_size(16)));

/* What single precision may do to a height: some 2^-22 of what is added up for it, the distance of the point
 * and the offset of the plane, which is less than the size of the hull. */
static double slack_of(const ss_hull *hull, ss_vec3 x)
{
    return 1e-6 * (fabs(x.x) + fabs(x.y) + fabs(x.z) + hull->extent) + (double)FLT_MIN;
}

/* n.x of four faces, and their heights n.x - offset. */
static inline four four_products(const ss_hull_planes *planes, const float x[3])
{
    four column[3];
    memcpy(column, __builtin_assume_aligned(planes, 16), sizeof column);
    return column[0] * x[0] + column[1] * x[1] + column[2] * x[2];
}

static inline four four_heights(const ss_hull_planes *planes, const float x[3])
{
    four offset;
    memcpy(&offset, __builtin_assume_aligned(planes->offset, 16), sizeof offset);
    return four_products(planes, x) - offset;
}

/* A bit for each face of a block, from one for each of its quads in the lanes. */
static inline uint64_t bits_of(four_bits found, int count)
{
    int quads = (count + 3) / 4;
    uint64_t bits = 0;
    for (int lane = 0; lane < 4; lane++) bits |= (uint64_t)(uint32_t)found[lane] << lane * quads;
    return count < SS_HULL_BLOCK ? bits & ((UINT64_C(1) << count) - 1) : bits;
}

static int faces_from(const ss_hull *hull, int first)
{
    return hull->face_count - first < SS_HULL_BLOCK ? hull->face_count - first : SS_HULL_BLOCK;
}

uint64_t ss_hull_faces_below(const ss_hull *hull, int first, ss_vec3 x, double limit)
{
    int count = faces_from(hull, first);
    const ss_hull_planes *planes = hull->planes + first / 4;
    float least = (float)(limit - slack_of(hull, x) - 1e-6 * fabs(limit));
    float at[3] = {(float)x.x, (float)x.y, (float)x.z};
    four lowest = {least, least, least, least};
    four_bits found = {0}, bit = {1, 1, 1, 1};
    for (int k = 0; k < (count + 3) / 4; k++, bit += bit)
        found |= ~(four_heights(&planes[k], at) < lowest) & bit; // also what is not a number
    return bits_of(found, count);
}

int ss_hull_farthest_face(const ss_hull *hull, ss_vec3 x)
{
    const float at[3] = {(float)x.x, (float)x.y, (float)x.z};
    float largest = -INFINITY;
    int best = 0;
    for (int first = 0; first < hull->face_count; first += SS_HULL_BLOCK) {
        const ss_hull_planes *planes = hull->planes + first / 4;
        int quads = (faces_from(hull, first) + 3) / 4;
        four most = four_heights(planes, at);
        four_bits quad = {0}, next = {0};
        for (int k = 1; k < quads; k++) {
            four height = four_heights(&planes[k], at);
            four_bits higher = height > most;
            next += (four_bits){1, 1, 1, 1};
            most = (four)(((four_bits)height & higher) | ((four_bits)most & ~higher));
            quad = (next & higher) | (quad & ~higher);
        }
        for (int lane = 0; lane < 4; lane++) {
            int f = first + lane * quads + quad[lane];
            if (!(most[lane] > largest) || f >= hull->face_count) continue;
            largest = most[lane];
            best = f;
        }
    }
    return best;
}

/* On a convex polyhedron a vertex without a better neighbour is the best of all. */
int ss_hull_climb(const ss_hull *hull, ss_vec3 direction, int start, double enough)
{
    int best = start;
    double reach = ss_vec3_dot(direction, hull->vertex[best]);
    for (int from = -1; from != best && reach <= enough;) {
        from = best;
        for (int i = hull->neighbour_start[from]; i < hull->neighbour_start[from + 1]; i++) {
            double candidate = ss_vec3_dot(direction, hull->vertex[hull->neighbour[i]]);
            if (candidate > reach) {
                reach = candidate;
                best = hull->neighbour[i];
            }
        }
    }
    return best;
}

int ss_hull_support(const ss_hull *hull, ss_vec3 direction, int start)
{
    return ss_hull_climb(hull, direction, start, INFINITY);
}

int ss_hull_find_edge(const ss_hull *hull, int v, int w)
{
    for (int e = 0; e < hull->edge_count; e++) {
        const int *end = hull->edge[e].vertex;
        if ((end[0] == v && end[1] == w) || (end[0] == w && end[1] == v)) return e;
    }
    return -1;
}

static bool face_has(const ss_hull *hull, int face, int vertex)
{
    const ss_hull_face *f = &hull->face[face];
    for (int i = 0; i < f->size; i++)
        if (hull->loop[f->first + i] == vertex) return true;
    return false;
}

int ss_hull_find_face(const ss_hull *hull, ss_vec3 direction, int vertex)
{
    int best = -1;
    double most = -INFINITY;
    if (hull->face_count == 0) return best;
    for (int i = hull->neighbour_start[vertex]; i < hull->neighbour_start[vertex + 1]; i++) {
        double along = ss_vec3_dot(direction, hull->face[hull->around[i]].normal);
        if (along > most) {
            most = along;
            best = hull->around[i];
        }
    }
    return best;
}

int ss_hull_face_along(const ss_hull *hull, ss_vec3 d, double least)
{
    int best = -1;
    double most = -INFINITY;
    float lower = (float)(least - 1e-5), at[3] = {(float)d.x, (float)d.y, (float)d.z};
    four lowest = {lower, lower, lower, lower};
    for (int first = 0; first < hull->face_count; first += SS_HULL_BLOCK) {
        int count = faces_from(hull, first);
        four_bits found = {0}, bit = {1, 1, 1, 1};
        for (int k = 0; k < (count + 3) / 4; k++, bit += bit)
            found |= (four_products(&hull->planes[first / 4 + k], at) > lowest) & bit;
        for (uint64_t left = bits_of(found, count); left; left &= left - 1) {
            int f = first + __builtin_ctzll(left);
            double along = ss_vec3_dot(d, hull->face[f].normal);
            if (along > most) {
                most = along;
                best = f;
            }
        }
    }
    return most < least ? -1 : best;
}

ss_feature ss_hull_find_feature(const ss_hull *hull, const int *vertex, int count)
{
    if (count == 1) return (ss_feature){SS_VERTEX, vertex[0]};
    int edge = count == 2 ? ss_hull_find_edge(hull, vertex[0], vertex[1]) : -1;
    if (edge >= 0) return (ss_feature){SS_EDGE, edge};
    for (int f = 0; f < hull->face_count; f++) {
        bool all = true;
        for (int i = 0; i < count; i++) all = all && face_has(hull, f, vertex[i]);
        if (all) return (ss_feature){SS_FACE, f};
    }
    return (ss_feature){SS_VERTEX, vertex[0]};
}

/* ---- pairs ------------------------------------------------------------------------------------------ */

ss_hull_pair ss_hull_pair_place(const ss_placed_shape *a, const ss_hull *hull_a, const ss_placed_shape *b,
                                const ss_hull *hull_b, double round)
{
    ss_mat3 to_a = ss_mat3_transpose(ss_mat3_load(a->rotation));
    ss_vec3 between = ss_vec3_subtract(ss_vec3_load(b->position), ss_vec3_load(a->position));
    return (ss_hull_pair){
        .a = hull_a,
        .b = hull_b,
        .turn = ss_mat3_multiply(to_a, ss_mat3_load(b->rotation)),
        .shift = ss_mat3_apply(to_a, between),
        .size = fmin(hull_a->radius, hull_b->radius + round),
        .favour_a = a->number <= b->number,
    };
}

static void add_corner(const ss_hull_pair *pair, bool of_a, int vertex, int edge, ss_polygon *polygon)
{
    int k = polygon->size++;
    polygon->vertex[k] = vertex;
    polygon->edge[k] = edge;
    polygon->corner[k] = of_a ? pair->a->vertex[vertex] : ss_pair_vertex_b(pair, vertex);
}

/* Faces with more corners than a polygon holds lose some of them, evenly: what is cut off is thinner than
 * 1/3000 of the face. */
void ss_pair_polygon(const ss_hull_pair *pair, bool of_a, int face, ss_polygon *polygon)
{
    const ss_hull *hull = of_a ? pair->a : pair->b;
    polygon->face = face;
    polygon->size = 0;
    if (hull->face_count == 0) {
        for (int v = 0; v < hull->vertex_count; v++) add_corner(pair, of_a, v, 0, polygon);
        return;
    }
    const ss_hull_face *f = &hull->face[face];
    int stride = (f->size + SS_POLYGON_MOST - 1) / SS_POLYGON_MOST;
    for (int i = f->first; i < f->first + f->size; i += stride)
        add_corner(pair, of_a, hull->loop[i], hull->loop_edge[i], polygon);
    polygon->normal = of_a ? f->normal : ss_mat3_apply(pair->turn, f->normal);
    polygon->offset = of_a ? f->offset : f->offset + ss_vec3_dot(polygon->normal, pair->shift);
}
