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
    float x = (float)half.x, y = (float)half.y, z = (float)half.z; // the last two are below everything
    box->planes[0] =
        (ss_hull_planes){.normal = {{-1.0f, 1.0f}, {0.0f, 0.0f, -1.0f, 1.0f}}, .offset = {x, x, y, y}};
    box->planes[1] = (ss_hull_planes){.normal = {[2] = {-1.0f, 1.0f}}, .offset = {z, z, FLT_MAX, FLT_MAX}};
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

static inline four four_heights(const ss_hull_planes *planes, float x, float y, float z)
{
    four height, part;
    memcpy(&height, planes->normal[0], sizeof height);
    height *= (four){x, x, x, x};
    memcpy(&part, planes->normal[1], sizeof part);
    height += part * (four){y, y, y, y};
    memcpy(&part, planes->normal[2], sizeof part);
    height += part * (four){z, z, z, z};
    memcpy(&part, planes->offset, sizeof part);
    return height - part;
}

static inline uint64_t bits_of(four_bits is)
{
    uint64_t halves[2];
    is &= (four_bits){1, 2, 4, 8};
    memcpy(halves, &is, sizeof halves);
    halves[0] |= halves[1];
    return (halves[0] | halves[0] >> 32) & 15;
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
    uint64_t found = 0;
    for (int k = 0; k < count; k += 4) {
        four height = four_heights(planes++, at[0], at[1], at[2]);
        found |= bits_of(~(height < (four){least, least, least, least})) << k; // also what is not a number
    }
    return count < SS_HULL_BLOCK ? found & ((UINT64_C(1) << count) - 1) : found;
}

uint64_t ss_hull_faces_farthest(const ss_hull *hull, int first, ss_vec3 x)
{
    const ss_hull_planes *planes = hull->planes + first / 4;
    float at[3] = {(float)x.x, (float)x.y, (float)x.z};
    four most = four_heights(planes, at[0], at[1], at[2]);
    for (int k = 4; k < faces_from(hull, first); k += 4) {
        four height = four_heights(++planes, at[0], at[1], at[2]);
        four_bits higher = height > most;
        most = (four)(((four_bits)height & higher) | ((four_bits)most & ~higher));
    }
    float half = most[0] > most[1] ? most[0] : most[1], other = most[2] > most[3] ? most[2] : most[3];
    double largest = (double)(half > other ? half : other);
    return ss_hull_faces_below(hull, first, x, largest - slack_of(hull, x));
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
    int begin = vertex < 0 ? 0 : hull->neighbour_start[vertex];
    int end = vertex < 0 ? hull->face_count : hull->neighbour_start[vertex + 1];
    for (int i = begin; i < end; i++) {
        int f = vertex < 0 ? i : hull->around[i];
        double along = ss_vec3_dot(direction, hull->face[f].normal);
        if (along > most) {
            most = along;
            best = f;
        }
    }
    return best;
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
