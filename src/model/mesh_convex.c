/* Is a closed mesh convex? No edge may be dented by more than the tolerance, and its volume must be that of
 * its convex hull: the first says where, the second finds what is locally convex but winds around twice. */
#include "model/mesh.h"

#include <float.h>

static bool require_closed(const ss_mesh *mesh, const ss_mesh_side *sides, ss_error *err)
{
    int count = 3 * mesh->face_count;
    for (int i = 0; i < count; i += 2) {
        int run = ss_mesh_side_run(sides, count, i);
        if (ss_mesh_sides_meet(sides + i, run)) continue;
        if (run == 2)
            return ss_fail(err, SS_ERROR_INPUT, "faces %d and %d have opposite orientations", sides[i].face,
                           sides[i + 1].face);
        return ss_fail(err, SS_ERROR_INPUT, "not closed: the edge of vertices %d and %d belongs to %d face%s",
                       sides[i].low, sides[i].high, run, run == 1 ? "" : "s");
    }
    return true;
}

/* Six times the volume of a tetrahedron with one corner at the origin of the three vectors. */
static double volume6(ss_vec3 a, ss_vec3 b, ss_vec3 c)
{
    return ss_vec3_dot(a, ss_vec3_cross(b, c));
}

/* Distance between two parallel planes that just hold the tetrahedron (0, a, b, c): least of its heights over
 * a face and of the distances of opposite edges. It stays as small as the errors of the corners even when the
 * faces are slivers whose normals are lost. */
static double width(ss_vec3 a, ss_vec3 b, ss_vec3 c)
{
    ss_vec3 ab = ss_vec3_subtract(b, a), ac = ss_vec3_subtract(c, a), bc = ss_vec3_subtract(c, b);
    const ss_vec3 areas[7] = {ss_vec3_cross(a, b),   ss_vec3_cross(b, c),  ss_vec3_cross(c, a),
                              ss_vec3_cross(ab, ac), ss_vec3_cross(a, bc), ss_vec3_cross(b, ac),
                              ss_vec3_cross(c, ab)};
    double largest = 0.0;
    for (int k = 0; k < 7; k++) largest = fmax(largest, ss_vec3_norm(areas[k]));
    return largest > 0.0 ? fabs(volume6(a, b, c)) / largest : 0.0;
}

static bool require_edges_out(const ss_mesh *mesh, const ss_mesh_side *sides, double tolerance, ss_error *err)
{
    for (int i = 0; i < 3 * mesh->face_count; i += 2) {
        /* The tetrahedron of a face and of the corner of its neighbour that it does not have: dented edges
         * give it a positive volume. */
        int face = sides[i].face, far = mesh->face[sides[i + 1].face][(sides[i + 1].corner + 2) % 3];
        ss_vec3 origin = ss_mesh_corner(mesh, face, 0);
        ss_vec3 a = ss_vec3_subtract(ss_mesh_corner(mesh, face, 1), origin);
        ss_vec3 b = ss_vec3_subtract(ss_mesh_corner(mesh, face, 2), origin);
        ss_vec3 c = ss_vec3_subtract(ss_vec3_load(mesh->vertex[far]), origin);

        // A needle's volume is nothing but the rounding of the products of its long sides.
        double rounding = 8.0 * DBL_EPSILON * ss_vec3_norm(a) * ss_vec3_norm(b) * ss_vec3_norm(c);
        if (volume6(a, b, c) <= rounding || width(a, b, c) <= tolerance) continue;

        double height = ss_vec3_dot(ss_vec3_normalise(ss_mesh_area2(mesh, face), NULL), c);
        return ss_fail(err, SS_ERROR_INPUT,
                       "not convex: vertex %d lies %.3g outside face %d (ss_mesh_hull makes a convex one)",
                       far, height, face);
    }
    return true;
}

bool ss_mesh_require_convex(const ss_mesh *mesh, double tolerance, ss_error *err)
{
    if (!ss_mesh_indices_are_good(mesh, err)) return false;
    if (mesh->face_count < 4)
        return ss_fail(err, SS_ERROR_INPUT, "not closed: %d faces, must be at least 4", mesh->face_count);
    ss_mesh_side *sides = ss_mesh_sides(mesh);
    if (!sides) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d faces", mesh->face_count);

    double volume = ss_mesh_mass(mesh, 1.0).mass;
    bool good =
        require_closed(mesh, sides, err) &&
        (!(volume < 0.0) || ss_fail(err, SS_ERROR_INPUT, "inside out: its faces must point outwards")) &&
        require_edges_out(mesh, sides, tolerance, err);
    ss_release(sides);
    if (!good) return false;

    /* Volumes may differ by the tolerance all over the surface, and by the rounding of the two where the
     * tolerance is 0: 1e-12. */
    ss_mesh *hull = ss_mesh_hull((const double(*)[3])mesh->vertex, mesh->vertex_count, err);
    if (!hull) return false;
    double of_hull = ss_mesh_mass(hull, 1.0).mass, area2 = 0.0;
    for (int f = 0; f < hull->face_count; f++) area2 += ss_vec3_norm(ss_mesh_area2(hull, f));
    ss_mesh_destroy(hull);
    if (fabs(volume - of_hull) <= tolerance * (0.5 * area2) + 1e-12 * of_hull) return true;
    return ss_fail(err, SS_ERROR_INPUT, "not convex: its volume is %.6g, that of its convex hull %.6g",
                   volume, of_hull);
}

bool ss_mesh_is_convex(const ss_mesh *mesh, double tolerance)
{
    return ss_mesh_require_convex(mesh, tolerance, NULL);
}
