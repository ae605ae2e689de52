/* Rays against meshes and heightfields. */
#include "collision/ray_cast.h"
#include "collision/surface.h"

/* Moeller and Trumbore 1997; the edges belong to the triangle. Only from the front. */
static bool hits_triangle(const ss_ray_segment *ray, const ss_surface_triangle *triangle, double *distance)
{
    ss_vec3 a = ss_vec3_subtract(triangle->corner[1], triangle->corner[0]);
    ss_vec3 b = ss_vec3_subtract(triangle->corner[2], triangle->corner[0]);
    ss_vec3 across = ss_vec3_cross(ray->direction, b);
    double determinant = ss_vec3_dot(a, across);
    if (!(determinant > 0.0)) return false; // from behind, or along it
    ss_vec3 from = ss_vec3_subtract(ray->origin, triangle->corner[0]), turned = ss_vec3_cross(from, a);
    double u = ss_vec3_dot(from, across), v = ss_vec3_dot(ray->direction, turned);
    if (u < 0.0 || v < 0.0 || u + v > determinant) return false;
    *distance = ss_vec3_dot(b, turned) / determinant;
    return *distance >= 0.0 && *distance <= ray->most;
}

/* Shortens the ray to the hit. */
static bool try_triangle(const ss_surface *surface, int number, ss_ray_segment *ray, ss_vec3 *normal)
{
    ss_surface_triangle triangle = ss_surface_get(surface, number);
    double distance;
    if (!hits_triangle(ray, &triangle, &distance)) return false;
    ray->most = distance;
    *normal = triangle.normal;
    return true;
}

static bool hits_mesh(const ss_surface *surface, ss_ray_segment *ray, ss_vec3 *normal)
{
    const ss_triangles *mesh = surface->triangles;
    int stack[SS_SURFACE_STACK], depth = 0;
    bool found = false;
    if (mesh->node_count > 0) stack[depth++] = 0;
    while (depth > 0) {
        const ss_tree_node *node = &mesh->node[stack[--depth]];
        ss_vec3 low = {node->low[0], node->low[1], node->low[2]};
        ss_vec3 high = {node->high[0], node->high[1], node->high[2]};
        if (!ss_ray_segment_meets_box(ray, low, high)) continue;
        for (int k = 0; k < node->count; k++)
            found |= try_triangle(surface, mesh->order[node->first + k], ray, normal);
        if (node->count > 0 || depth + 2 > SS_SURFACE_STACK) continue;
        stack[depth++] = node->first + 1;
        stack[depth++] = node->first;
    }
    return found;
}

/* ---- heightfields ----------------------------------------------------------------------------------- */

/* A walk along one axis of the grid. */
typedef struct walk {
    int cell, step, cells;
    double next, each; // where the ray leaves the cell, and how much farther the next one is
} walk;

static walk start_walk(double origin, double direction, double at, double spacing, int points)
{
    double place = (origin + at * direction) / spacing + 0.5 * (points - 1);
    walk w = {.cells = points - 1, .next = INFINITY, .each = INFINITY};
    w.cell = !(place > 0.0) ? 0 : place >= w.cells ? w.cells - 1 : (int)place;
    if (direction == 0.0) return w;
    w.step = direction > 0.0 ? 1 : -1;
    double border = (w.cell + (w.step > 0) - 0.5 * (points - 1)) * spacing;
    w.next = (border - origin) / direction;
    w.each = spacing / fabs(direction);
    return w;
}

static bool hits_heights(const ss_surface *surface, ss_ray_segment *ray, ss_vec3 *normal)
{
    const ss_heightfield *field = surface->heights;

    /* Where the ray comes over the grid, if it does. */
    double half[2] = {0.5 * (field->nx - 1) * field->dx, 0.5 * (field->ny - 1) * field->dy};
    double origin[2] = {ray->origin.x, ray->origin.y}, direction[2] = {ray->direction.x, ray->direction.y};
    double at = 0.0, leave = ray->most;
    for (int k = 0; k < 2; k++) {
        if (direction[k] == 0.0 && fabs(origin[k]) > half[k]) return false;
        if (direction[k] == 0.0) continue;
        double one = (-half[k] - origin[k]) / direction[k], two = (half[k] - origin[k]) / direction[k];
        at = fmax(at, fmin(one, two));
        leave = fmin(leave, fmax(one, two));
    }
    if (!(at <= leave)) return false;
    walk x = start_walk(ray->origin.x, ray->direction.x, at, field->dx, field->nx);
    walk y = start_walk(ray->origin.y, ray->direction.y, at, field->dy, field->ny);

    /* Solid below: it may be under the ground already, which a look straight down shows. */
    ss_vec3 p = ss_vec3_add_scaled(ray->origin, at, ray->direction);
    ss_ray_segment down = {{p.x, p.y, field->high}, {0.0, 0.0, -1.0}, INFINITY};
    for (int k = 0; k < 2; k++) {
        ss_surface_triangle triangle = ss_surface_get(surface, 2 * (y.cell * x.cells + x.cell) + k);
        double distance;
        if (!hits_triangle(&down, &triangle, &distance)) continue;
        if (!(p.z < field->high - distance)) break;
        ray->most = at;
        *normal = ss_vec3_negate(ray->direction);
        return true;
    }

    while (x.cell >= 0 && x.cell < x.cells && y.cell >= 0 && y.cell < y.cells) {
        int cell = y.cell * x.cells + x.cell;
        bool found = try_triangle(surface, 2 * cell, ray, normal);
        found |= try_triangle(surface, 2 * cell + 1, ray, normal);
        walk *nearer = x.next <= y.next ? &x : &y;
        if (found || nearer->next > ray->most || nearer->step == 0) return found;
        nearer->cell += nearer->step;
        nearer->next += nearer->each;
    }
    return false;
}

bool ss_ray_segment_hits_surface(const ss_ray_segment *ray, const ss_placed_shape *shape, double *distance,
                                 ss_vec3 *normal)
{
    ss_surface surface = ss_surface_of(shape);
    ss_ray_segment shortened = *ray;
    if (!(surface.triangles ? hits_mesh : hits_heights)(&surface, &shortened, normal)) return false;
    *distance = shortened.most;
    return true;
}
