/* Polyhedra on a plane: every vertex within the margin of it is a contact. */
#include "collision/pairs.h"
#include "collision/polyhedron.h"

/* The centre and the radius are those of a ball around the vertices. */
static void collide_plane(const ss_placed_shape *plane, const ss_placed_shape *shape, const ss_vec3 *vertex,
                          int count, ss_vec3 centre, double radius, double margin, ss_manifold *manifold)
{
    // in the shape's frame, as all that follows
    ss_vec3 up = ss_placed_turn_back(shape, ss_placed_axis(plane, 2));
    ss_vec3 origin = ss_placed_to_local(shape, ss_placed_position(plane));
    double height = ss_vec3_dot(up, ss_vec3_subtract(centre, origin));
    ss_manifold_builder builder = ss_manifold_builder_start(manifold, shape, margin, true);
    if (height - radius > margin) return;
    for (int v = 0; v < count; v++) {
        double gap = ss_vec3_dot(up, ss_vec3_subtract(vertex[v], origin));
        if (gap > margin) continue;
        ss_manifold_builder_add(&builder, ss_vec3_add_scaled(vertex[v], -0.5 * gap, up), ss_vec3_negate(up),
                                gap, (ss_feature){SS_VERTEX, v}, (ss_feature){SS_FACE, 0});
    }
    ss_manifold_builder_finish(&builder);
}

void ss_collide_plane_box(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                          ss_manifold *manifold)
{
    ss_vec3 vertex[8];
    ss_box_vertices(b->shape->size, vertex);
    collide_plane(a, b, vertex, 8, (ss_vec3){0.0, 0.0, 0.0}, ss_vec3_norm(vertex[7]), margin, manifold);
}

void ss_collide_plane_hull(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                           ss_manifold *manifold)
{
    const ss_hull *hull = b->geometry->hull;
    collide_plane(a, b, hull->vertex, hull->vertex_count, hull->centre, hull->radius, margin, manifold);
}
