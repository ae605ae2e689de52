#include "collision/surface.h"

ss_surface ss_surface_of(const ss_placed_shape *shape)
{
    return (ss_surface){shape->geometry->triangles, shape->geometry->heights};
}

/* ---- heightfields ----------------------------------------------------------------------------------- */

/* Triangle 2 c is the half of cell c on the side of x, 2 c + 1 the one on the side of y. */
typedef struct cell {
    int i, j;
    bool y_side;
} cell;

static cell cell_of(const ss_heightfield *field, int triangle)
{
    int c = triangle / 2, columns = field->nx - 1;
    return (cell){c % columns, c / columns, triangle % 2 != 0};
}

static int triangle_of(const ss_heightfield *field, cell c)
{
    if (c.i < 0 || c.j < 0 || c.i >= field->nx - 1 || c.j >= field->ny - 1) return -1;
    return 2 * (c.j * (field->nx - 1) + c.i) + c.y_side;
}

/* ---- both ------------------------------------------------------------------------------------------- */

ss_vec3 ss_surface_vertex(const ss_surface *surface, int vertex)
{
    if (surface->triangles) return surface->triangles->vertex[vertex];
    const ss_heightfield *field = surface->heights;
    int i = vertex % field->nx, j = vertex / field->nx;
    return (ss_vec3){(i - 0.5 * (field->nx - 1)) * field->dx, (j - 0.5 * (field->ny - 1)) * field->dy,
                     field->height[vertex]};
}

static void get_corners(const ss_surface *surface, int triangle, int vertex[3])
{
    if (surface->triangles) {
        for (int k = 0; k < 3; k++) vertex[k] = surface->triangles->corner[triangle][k];
        return;
    }
    cell c = cell_of(surface->heights, triangle);
    int columns = surface->heights->nx, first = c.j * columns + c.i, opposite = first + columns + 1;
    vertex[0] = first;
    vertex[1] = c.y_side ? opposite : first + 1;
    vertex[2] = c.y_side ? first + columns : opposite;
}

ss_surface_triangle ss_surface_get(const ss_surface *surface, int triangle)
{
    ss_surface_triangle made;
    made.number = triangle;
    get_corners(surface, triangle, made.vertex);
    for (int k = 0; k < 3; k++) made.corner[k] = ss_surface_vertex(surface, made.vertex[k]);
    if (surface->triangles)
        made.normal = surface->triangles->normal[triangle];
    else
        made.normal = ss_vec3_normalise(ss_vec3_cross(ss_vec3_subtract(made.corner[1], made.corner[0]),
                                                      ss_vec3_subtract(made.corner[2], made.corner[0])),
                                        NULL);
    return made;
}

int ss_surface_neighbour(const ss_surface *surface, int triangle, int k)
{
    static const int step_i[2][3] = {{0, 1, 0}, {0, 0, -1}}, step_j[2][3] = {{-1, 0, 0}, {0, 1, 0}};
    if (surface->triangles) return surface->triangles->neighbour[triangle][k];
    cell c = cell_of(surface->heights, triangle);
    cell next = {c.i + step_i[c.y_side][k], c.j + step_j[c.y_side][k], !c.y_side};
    return triangle_of(surface->heights, next);
}

/* ---- visits ----------------------------------------------------------------------------------------- */

static void visit_triangles(const ss_surface *surface, ss_vec3 low, ss_vec3 high, ss_surface_visitor *visit,
                            void *context)
{
    const ss_triangles *mesh = surface->triangles;
    int stack[SS_SURFACE_STACK], depth = 0;
    if (mesh->node_count > 0) stack[depth++] = 0;
    while (depth > 0) {
        const ss_tree_node *node = &mesh->node[stack[--depth]];
        bool meets = low.x <= node->high[0] && high.x >= node->low[0] && low.y <= node->high[1] &&
                     high.y >= node->low[1] && low.z <= node->high[2] && high.z >= node->low[2];
        if (!meets) continue;
        for (int k = 0; k < node->count; k++) visit(surface, mesh->order[node->first + k], context);
        if (node->count > 0 || depth + 2 > SS_SURFACE_STACK) continue;
        stack[depth++] = node->first + 1;
        stack[depth++] = node->first;
    }
}

static int cell_at(double x, double spacing, int points)
{
    double index = floor(x / spacing + 0.5 * (points - 1));
    return !(index > 0.0) ? 0 : index > points - 2 ? points - 2 : (int)index; // NaN: 0
}

static void visit_cells(const ss_surface *surface, ss_vec3 low, ss_vec3 high, ss_surface_visitor *visit,
                        void *context)
{
    const ss_heightfield *field = surface->heights;
    double half_x = 0.5 * (field->nx - 1) * field->dx, half_y = 0.5 * (field->ny - 1) * field->dy;
    if (high.x < -half_x || low.x > half_x || high.y < -half_y || low.y > half_y || low.z > field->high)
        return;
    for (int j = cell_at(low.y, field->dy, field->ny); j <= cell_at(high.y, field->dy, field->ny); j++)
        for (int i = cell_at(low.x, field->dx, field->nx); i <= cell_at(high.x, field->dx, field->nx); i++) {
            const double *h = &field->height[j * field->nx + i];
            if (low.z > fmax(fmax(h[0], h[1]), fmax(h[field->nx], h[field->nx + 1]))) continue;
            visit(surface, triangle_of(field, (cell){i, j, false}), context);
            visit(surface, triangle_of(field, (cell){i, j, true}), context);
        }
}

void ss_surface_visit(const ss_surface *surface, ss_vec3 low, ss_vec3 high, ss_surface_visitor *visit,
                      void *context)
{
    (surface->triangles ? visit_triangles : visit_cells)(surface, low, high, visit, context);
}

/* ---- normals that are allowed ----------------------------------------------------------------------- */

/* Sine below which a direction counts as across an edge: more than nearest points of round
 * bodies are wrong by. */
#define ACROSS 1e-4
#define RING_MOST 64

static bool is_behind(const ss_surface *surface, int vertex, ss_vec3 from, ss_vec3 outward)
{
    ss_vec3 away = ss_vec3_subtract(ss_surface_vertex(surface, vertex), from);
    return ss_vec3_dot(away, outward) <= ACROSS * ss_vec3_norm(away);
}

/* Walks around a vertex from one triangle to the next across the edges that leave it (or, other way round,
 * that arrive); true when the ring was closed or ended with all of it behind. */
static bool ring_is_behind(const ss_surface *surface, int start, int vertex, ss_vec3 outward, bool leaving,
                           bool *closed)
{
    ss_vec3 from = ss_surface_vertex(surface, vertex);
    int at = start, corner[3];
    *closed = false;
    for (int step = 0; step < RING_MOST; step++) {
        get_corners(surface, at, corner);
        int k = corner[0] == vertex ? 0 : corner[1] == vertex ? 1 : 2;
        at = ss_surface_neighbour(surface, at, leaving ? k : (k + 2) % 3);
        if (at < 0) return true;
        if (at == start) break;
        get_corners(surface, at, corner);
        for (int c = 0; c < 3; c++)
            if (corner[c] != vertex && !is_behind(surface, corner[c], from, outward)) return false;
    }
    *closed = true;
    return true;
}

/* The corner of the triangle across edge k that is not on it; -1 where the surface ends. */
static int vertex_across(const ss_surface *surface, const ss_surface_triangle *triangle, int k)
{
    int next = ss_surface_neighbour(surface, triangle->number, k), corner[3];
    if (next < 0) return -1;
    get_corners(surface, next, corner);
    for (int c = 0; c < 2; c++)
        if (corner[c] != triangle->vertex[k] && corner[c] != triangle->vertex[(k + 1) % 3]) return corner[c];
    return corner[2];
}

ss_surface_edge ss_surface_look_across(const ss_surface *surface, const ss_surface_triangle *triangle, int k)
{
    int across = vertex_across(surface, triangle, k);
    if (across < 0) return SS_EDGE_OUTWARD;
    ss_vec3 away = ss_vec3_subtract(ss_surface_vertex(surface, across), triangle->corner[k]);
    double rise = ss_vec3_dot(triangle->normal, away), level = ACROSS * ss_vec3_norm(away);
    return rise > level ? SS_EDGE_HOLLOW : rise < -level ? SS_EDGE_OUTWARD : SS_EDGE_FLAT;
}

bool ss_surface_supports(const ss_surface *surface, const ss_surface_triangle *triangle, ss_vec3 outward)
{
    if (ss_vec3_dot(outward, triangle->normal) < 0.0) return false;
    int top = 0;
    for (int k = 1; k < 3; k++)
        if (ss_vec3_dot(triangle->corner[k], outward) > ss_vec3_dot(triangle->corner[top], outward)) top = k;
    bool level[3]; // corners as far out as the top one
    for (int k = 0; k < 3; k++) {
        ss_vec3 away = ss_vec3_subtract(triangle->corner[k], triangle->corner[top]);
        level[k] = -ss_vec3_dot(away, outward) <= ACROSS * ss_vec3_norm(away);
    }
    if (level[0] && level[1] && level[2]) return true;

    /* An edge is out, or a corner: what is across the edge, or all around the corner, must be behind. */
    for (int k = 0; k < 3; k++) {
        if (!level[k] || !level[(k + 1) % 3]) continue;
        int across = vertex_across(surface, triangle, k);
        return across < 0 || is_behind(surface, across, triangle->corner[k], outward);
    }
    bool closed, open;
    if (!ring_is_behind(surface, triangle->number, triangle->vertex[top], outward, true, &closed))
        return false;
    return closed || ring_is_behind(surface, triangle->number, triangle->vertex[top], outward, false, &open);
}
