/* Polyhedra on a plane: every vertex within the margin of it is a contact. */
#include "collision/pairs.h"
#include "collision/polyhedron.h"

static void collide_plane(const ss_placed_shape *plane, const ss_placed_shape *shape, double margin,
                          ss_manifold *manifold)
{
    ss_box_hull box;
    const ss_hull *hull = ss_placed_hull(shape, &box);
    // in the shape's frame, as all that follows
    ss_vec3 up = ss_placed_turn_back(shape, ss_placed_axis(plane, 2));
    ss_vec3 origin = ss_placed_to_local(shape, ss_placed_position(plane));
    double height = ss_vec3_dot(up, ss_vec3_subtract(hull->centre, origin));
    ss_manifold_builder builder = ss_manifold_builder_start(manifold, shape, margin, true);
    if (height - hull->radius > margin) return;
    for (int v = 0; v < hull->vertex_count; v++) {
        double gap = ss_vec3_dot(up, ss_vec3_subtract(hull->vertex[v], origin));
        ss_manifold_builder_add(&builder, ss_vec3_add_scaled(hull->vertex[v], -0.5 * gap, up),
                                ss_vec3_negate(up), gap, (ss_feature){SS_VERTEX, v},
                                (ss_feature){SS_FACE, 0});
    }
    ss_manifold_builder_finish(&builder);
}

void ss_collide_plane_box(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                          ss_manifold *manifold)
{
    collide_plane(a, b, margin, manifold);
}

void ss_collide_plane_hull(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                           ss_manifold *manifold)
{
    collide_plane(a, b, margin, manifold);
}
