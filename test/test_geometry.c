/* What is precomputed of shapes: hulls with whole faces, triangles with neighbours and a
 * tree, heightfields. */
#include <stickslip/model.h>

#include "faults.h"
#include "kit.h"
#include "meshes.h"
#include "model/geometry.h"

static ss_geometry *hull_of(const ss_mesh *mesh, ss_error *err)
{
    return ss_geometry_create(&(ss_shape){.kind = SS_HULL, .mesh = mesh}, err);
}

/* ---- hulls ------------------------------------------------------------------------------------------ */

static bool face_is_good(const ss_hull *hull, int f, double tolerance)
{
    const ss_hull_face *face = &hull->face[f];
    if (face->size < 3 || fabs(ss_vec3_norm(face->normal) - 1.0) > 1e-14) return false;
    for (int i = 0; i < hull->vertex_count; i++)
        if (ss_vec3_dot(face->normal, hull->vertex[i]) - face->offset > tolerance) return false;
    for (int k = 0; k < face->size; k++) {
        int place = face->first + k, from = hull->loop[place];
        int to = hull->loop[face->first + (k + 1) % face->size];
        const ss_hull_edge *edge = &hull->edge[hull->loop_edge[place]];
        bool along = edge->vertex[0] == from && edge->vertex[1] == to && edge->face[0] == f;
        bool against = edge->vertex[1] == from && edge->vertex[0] == to && edge->face[1] == f;
        double height = ss_vec3_dot(face->normal, hull->vertex[from]) - face->offset;
        if (!(along ^ against) || fabs(height) > tolerance) return false;
    }
    return true;
}

static bool has_neighbour(const ss_hull *hull, int from, int to)
{
    for (int i = hull->neighbour_start[from]; i < hull->neighbour_start[from + 1]; i++)
        if (hull->neighbour[i] == to) return true;
    return false;
}

/* Faces, loops, edges and neighbours agree, all vertices are behind all faces. */
static bool hull_is_good(const ss_hull *hull, double tolerance)
{
    if (hull->vertex_count - hull->edge_count + hull->face_count != 2) return false;
    for (int f = 0; f < hull->face_count; f++)
        if (!face_is_good(hull, f, tolerance)) return false;
    for (int e = 0; e < hull->edge_count; e++) {
        const int *v = hull->edge[e].vertex;
        if (!has_neighbour(hull, v[0], v[1]) || !has_neighbour(hull, v[1], v[0])) return false;
    }
    for (int i = 0; i < hull->vertex_count; i++) {
        double distance = ss_vec3_norm(ss_vec3_subtract(hull->vertex[i], hull->centre));
        if (distance > hull->radius) return false;
    }
    return hull->neighbour_start[hull->vertex_count] == 2 * hull->edge_count;
}

TEST(a_box_is_a_hull_of_6_faces_12_edges_and_8_corners)
{
    ss_geometry *box = ss_geometry_create(&(ss_shape){.kind = SS_BOX, .size = {2.0, 4.0, 6.0}}, NULL);
    ENSURE(box && box->hull && hull_is_good(box->hull, 0.0)); // halves of whole numbers: exact
    ENSURE_INT(box->hull->face_count, 6);
    ENSURE_INT(box->hull->edge_count, 12);
    ENSURE_INT(box->hull->vertex_count, 8);
    ENSURE_NEAR(box->hull->radius, sqrt(14.0), 1e-15);
    ENSURE(box->low[0] == -1.0 && box->high[1] == 2.0 && box->high[2] == 3.0);
    ss_geometry_destroy(box);
}

TEST(triangles_of_one_plane_are_one_face)
{
    static const int faces[5] = {4, 6, 8, 12, 20}, edges[5] = {6, 12, 12, 30, 30};
    for (int solid = SS_TETRAHEDRON; solid <= SS_ICOSAHEDRON; solid++) {
        ss_mesh *mesh = ss_mesh_solid(solid, NULL);
        ss_geometry *geometry = hull_of(mesh, NULL);
        ENSURE(geometry && hull_is_good(geometry->hull, 4e-16));
        ENSURE_INT(geometry->hull->face_count, faces[solid]);
        ENSURE_INT(geometry->hull->edge_count, edges[solid]);
        ss_geometry_destroy(geometry);
        ss_mesh_destroy(mesh);
    }
    for (int sides = 3; sides < 200; sides += 14) {
        ss_mesh *mesh = ss_mesh_cylinder(sides, 1e-3, 2e-3, NULL);
        ss_geometry *geometry = hull_of(mesh, NULL);
        ENSURE(geometry && hull_is_good(geometry->hull, 1e-17)); // rounding of 1e-3
        ENSURE_INT(geometry->hull->face_count, sides + 2);
        ss_geometry_destroy(geometry);
        ss_mesh_destroy(mesh);
    }
}

/* Each triangle into four flat ones: corners in the middle of faces and of edges. */
static ss_mesh *refine_flat(const ss_mesh *mesh)
{
    ss_mesh *finer = ss_mesh_create(6 * mesh->face_count, 4 * mesh->face_count, NULL);
    for (int f = 0; f < mesh->face_count; f++) {
        const int b = 6 * f,
                  quarters[4][3] = {
                      {b, b + 3, b + 5}, {b + 3, b + 1, b + 4}, {b + 5, b + 4, b + 2}, {b + 3, b + 4, b + 5}};
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 3; k++) {
                double from = mesh->vertex[mesh->face[f][i % 3]][k],
                       to = mesh->vertex[mesh->face[f][(i + 1) % 3]][k];
                finer->vertex[b + i][k] = i < 3 ? from : 0.5 * (from + to);
            }
        memcpy(finer->face[4 * f], quarters, sizeof quarters);
    }
    return finer;
}

/* Equal vertices become one, as when an STL file is read. */
static void weld(ss_mesh *mesh)
{
    for (int f = 0; f < mesh->face_count; f++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < mesh->vertex_count; i++)
                if (memcmp(mesh->vertex[i], mesh->vertex[mesh->face[f][k]], sizeof *mesh->vertex) == 0) {
                    mesh->face[f][k] = i;
                    break;
                }
}

TEST(vertices_in_the_middle_of_faces_and_edges_are_no_corners)
{
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL), *fine = refine_flat(cube);
    weld(fine);
    ss_mesh *finer = refine_flat(fine);
    weld(finer);
    ss_geometry *geometry = hull_of(finer, NULL);
    ENSURE(geometry && hull_is_good(geometry->hull, 0.0));
    ENSURE_INT(geometry->hull->vertex_count, 8);
    ENSURE_INT(geometry->hull->face_count, 6);
    ss_geometry_destroy(geometry);
    ss_mesh_destroy(finer);
    ss_mesh_destroy(fine);
    ss_mesh_destroy(cube);
}

TEST(a_turned_prism_of_single_precision_still_has_flat_faces)
{
    ss_random random = ss_random_start(11, 0);
    for (int round = 0; round < 20; round++) {
        double q[4], size = pow(10.0, ss_random_between(&random, -4.0, 4.0));
        for (int k = 0; k < 4; k++) q[k] = ss_random_normal(&random);
        ss_mesh *mesh = ss_mesh_cylinder(48, size, 2.0 * size, NULL);
        ss_mesh_transform(mesh, NULL, q, NULL);
        for (int i = 0; i < mesh->vertex_count; i++)
            for (int k = 0; k < 3; k++) mesh->vertex[i][k] = (float)mesh->vertex[i][k];
        ss_error err = {0};
        ss_geometry *geometry = hull_of(mesh, &err);
        ENSURE_TEXT(err.message, "");
        ENSURE_INT(geometry->hull->face_count, 50);
        ENSURE(hull_is_good(geometry->hull, 2e-6 * size)); // the flatness that is allowed
        ss_geometry_destroy(geometry);
        ss_mesh_destroy(mesh);
    }
}

TEST(random_hulls_of_all_sizes_become_good_hulls)
{
    ss_random random = ss_random_start(13, 0);
    for (int round = 0; round < 40; round++) {
        double points[200][3], size = pow(10.0, ss_random_between(&random, -5.0, 5.0));
        int count = 4 + ss_random_below(&random, 196);
        for (int i = 0; i < 3 * count; i++) points[i / 3][i % 3] = size * ss_random_normal(&random);
        ss_mesh *mesh = ss_mesh_hull((const double(*)[3])points, count, NULL);
        ss_error err = {0};
        ss_geometry *geometry = hull_of(mesh, &err);
        ENSURE_TEXT(err.message, "");
        ENSURE(hull_is_good(geometry->hull, 2e-6 * 8.0 * size)); // extents reach 8 sizes
        for (int k = 0; k < 3; k++) ENSURE(geometry->low[k] < geometry->high[k]);
        ss_geometry_destroy(geometry);
        ss_mesh_destroy(mesh);
    }
}

TEST(a_cloud_of_nearly_equal_points_is_still_a_cube)
{
    ss_random random = ss_random_start(17, 0);
    for (int round = 0; round < 40; round++) {
        double points[300][3];
        for (int i = 0; i < 300; i++) // the corners are there for sure, each several times but for rounding
            for (int k = 0; k < 3; k++)
                points[i][k] = (i < 32 ? 2 * (i >> k & 1) : ss_random_below(&random, 3)) +
                               1e-13 * ss_random_normal(&random);
        ss_mesh *mesh = ss_mesh_hull((const double(*)[3])points, 300, NULL);
        ss_error err = {0};
        ss_geometry *geometry = hull_of(mesh, &err);
        ENSURE_TEXT(err.message, "");
        ENSURE_INT(geometry->hull->face_count, 6);
        ss_geometry_destroy(geometry);
        ss_mesh_destroy(mesh);
    }
}

TEST(a_mesh_that_is_no_hull_is_refused_with_the_reason)
{
    ss_error err = {0};
    ss_mesh *dented = mesh_corner_piece(), *open = ss_mesh_solid(SS_CUBE, NULL);
    ENSURE(!hull_of(dented, &err));
    ENSURE_CONTAINS(err.message, "not convex: vertex ");
    ENSURE_CONTAINS(err.message, "outside face ");
    open->face_count = 11;
    ENSURE(!hull_of(open, &err));
    ENSURE_CONTAINS(err.message, "not closed: the edge of vertices 0 and 1 belongs to 1 face");
    open->face_count = 12;
    open->face[3][0] = 77;
    ENSURE(!hull_of(open, &err));
    ENSURE_CONTAINS(err.message, "face 3: corner 0 is vertex 77 of 8");
    ENSURE(!hull_of(NULL, &err));
    ENSURE_CONTAINS(err.message, "mesh: not given");
    ss_mesh_destroy(dented);
    ss_mesh_destroy(open);
}

TEST(a_plate_as_thin_as_the_tolerance_is_refused)
{
    ss_error err = {0};
    ss_mesh *plate = ss_mesh_block((const double[3]){1.0, 1.0, 1e-8}, NULL);
    ENSURE(!hull_of(plate, &err));
    ENSURE_CONTAINS(err.message, "too flat");
    ss_mesh_destroy(plate);
}

/* ---- triangles -------------------------------------------------------------------------------------- */

static ss_geometry *triangles_of(const ss_mesh *mesh, ss_error *err)
{
    return ss_geometry_create(&(ss_shape){.kind = SS_MESH, .mesh = mesh}, err);
}

TEST(of_the_18_edges_of_a_cubes_triangles_12_stick_out)
{
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
    ss_geometry *geometry = triangles_of(cube, NULL);
    const ss_triangles *t = geometry->triangles;
    int out = 0;
    for (int i = 0; i < t->count; i++)
        for (int k = 0; k < 3; k++) {
            int next = t->neighbour[i][k];
            ENSURE(next >= 0 && next != i);
            ENSURE(t->convex[i][k] == (ss_vec3_dot(t->normal[i], t->normal[next]) < 0.5));
            out += t->convex[i][k];
        }
    ENSURE_INT(out, 24);
    ss_geometry_destroy(geometry);
    ss_mesh_destroy(cube);
}

TEST(the_inner_edges_of_a_dent_do_not_stick_out)
{
    ss_mesh *mesh = mesh_corner_piece();
    ss_geometry *geometry = triangles_of(mesh, NULL);
    const ss_triangles *t = geometry->triangles;
    for (int i = 0; i < t->count; i++)
        for (int k = 0; k < 3; k++) {
            ss_vec3 a = t->vertex[t->corner[i][k]], b = t->vertex[t->corner[i][(k + 1) % 3]];
            bool inner = a.x == 1 && a.y == 1 && b.x == 1 && b.y == 1; // the reflex edge
            if (inner) ENSURE(!t->convex[i][k]);
        }
    ss_geometry_destroy(geometry);
    ss_mesh_destroy(mesh);
}

TEST(open_edges_have_no_neighbour_and_empty_triangles_are_left_out)
{
    const double square[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0, 0}};
    ss_mesh *mesh = mesh_of(square, 5, (const int[3][3]){{0, 1, 2}, {0, 4, 1}, {0, 2, 3}}, 3);
    ss_geometry *geometry = triangles_of(mesh, NULL);
    const ss_triangles *t = geometry->triangles;
    ENSURE_INT(t->count, 2);
    ENSURE_INT(t->neighbour[0][0], -1);
    ENSURE(t->convex[0][0]);
    ENSURE_INT(t->neighbour[0][2], 1);
    ENSURE(!t->convex[0][2]); // flat
    ss_geometry_destroy(geometry);
    mesh->face_count = 0;
    ss_error err = {0};
    ENSURE(!triangles_of(mesh, &err));
    ENSURE_CONTAINS(err.message, "no triangle");
    ss_mesh_destroy(mesh);
}

/* Every triangle below a node lies in its box; counts them. */
static bool walk(const ss_triangles *t, int node, int depth, int *seen, int *deepest)
{
    const ss_tree_node *n = &t->node[node];
    *deepest = depth > *deepest ? depth : *deepest;
    if (n->count == 0) {
        for (int c = 0; c < 2; c++) {
            const ss_tree_node *child = &t->node[n->first + c];
            for (int k = 0; k < 3; k++)
                if (child->low[k] < n->low[k] || child->high[k] > n->high[k]) return false;
            if (!walk(t, n->first + c, depth + 1, seen, deepest)) return false;
        }
        return true;
    }
    for (int i = n->first; i < n->first + n->count; i++) {
        seen[t->order[i]]++;
        for (int c = 0; c < 3; c++) {
            ss_vec3 v = t->vertex[t->corner[t->order[i]][c]];
            if (v.x < n->low[0] || v.y < n->low[1] || v.z < n->low[2]) return false;
            if (v.x > n->high[0] || v.y > n->high[1] || v.z > n->high[2]) return false;
        }
    }
    return true;
}

TEST(the_tree_holds_every_triangle_once_and_is_balanced)
{
    for (int n = 0; n <= 5; n++) {
        ss_mesh *ball = ss_mesh_ball(n, 1e-3, NULL);
        ss_geometry *geometry = triangles_of(ball, NULL);
        const ss_triangles *t = geometry->triangles;
        int *seen = calloc((size_t)t->count, sizeof *seen), deepest = 0;
        ENSURE(walk(t, 0, 0, seen, &deepest));
        for (int i = 0; i < t->count; i++) ENSURE_INT(seen[i], 1);
        ENSURE(deepest <= (int)ceil(log2(t->count / 4.0)) + 1);
        free(seen);
        ss_geometry_destroy(geometry);
        ss_mesh_destroy(ball);
    }
}

/* ---- the others ------------------------------------------------------------------------------------- */

TEST(a_heightfield_is_centred_and_reaches_below_its_lowest_point)
{
    const double heights[6] = {1, 2, 3, 4, 5, -6};
    ss_shape shape = {.kind = SS_HEIGHTFIELD, .size = {2.0, 3.0}, .nx = 3, .ny = 2, .heights = heights};
    ss_geometry *geometry = ss_geometry_create(&shape, NULL);
    ENSURE(geometry && geometry->heights);
    ENSURE(geometry->low[0] == -2.0 && geometry->high[0] == 2.0 && geometry->high[1] == 1.5);
    ENSURE(geometry->heights->low == -6.0 && geometry->heights->high == 5.0 && geometry->high[2] == 5.0);
    ENSURE(geometry->low[2] < -6.0 && isfinite(geometry->low[2]));
    ss_geometry_destroy(geometry);
    ss_error err = {0};
    shape.ny = 1;
    ENSURE(!ss_geometry_create(&shape, &err));
    ENSURE_CONTAINS(err.message, "3 x 1");
    shape.nx = shape.ny = 1 << 17;
    ENSURE(!ss_geometry_create(&shape, &err));
}

TEST(bounds_of_round_shapes)
{
    static const struct {
        ss_shape_kind kind;
        double size[3], high[3];
    } shapes[] = {{SS_SPHERE, {2, 0, 0}, {2, 2, 2}},
                  {SS_CAPSULE, {1, 6, 0}, {1, 1, 4}},
                  {SS_CYLINDER, {1, 6, 0}, {1, 1, 3}},
                  {SS_ELLIPSOID, {1, 2, 3}, {1, 2, 3}},
                  {SS_PLANE, {0, 0, 0}, {INFINITY, INFINITY, 0}}};
    for (int i = 0; i < 5; i++) {
        ss_shape shape = {.kind = shapes[i].kind};
        memcpy(shape.size, shapes[i].size, sizeof shape.size);
        ss_geometry *geometry = ss_geometry_create(&shape, NULL);
        for (int k = 0; k < 3; k++) {
            ENSURE(geometry->high[k] == shapes[i].high[k]);
            ENSURE(geometry->low[k] == (shape.kind == SS_PLANE ? -INFINITY : -shapes[i].high[k]));
        }
        ss_geometry_destroy(geometry);
    }
}

TEST(lack_of_memory_leaves_no_half_made_geometry)
{
    const double heights[4] = {0};
    ss_mesh *ball = ss_mesh_ball(1, 1.0, NULL);
    const ss_shape shapes[] = {
        {.kind = SS_HULL, .mesh = ball},
        {.kind = SS_MESH, .mesh = ball},
        {.kind = SS_BOX, .size = {1, 1, 1}},
        {.kind = SS_HEIGHTFIELD, .size = {1, 1}, .nx = 2, .ny = 2, .heights = heights}};
    for (int i = 0; i < 4; i++)
        for (int n = 1;; n++) {
            ss_error err = {0};
            faults_start(n);
            ss_geometry *geometry = ss_geometry_create(&shapes[i], &err);
            ss_geometry_destroy(geometry);
            bool failed = faults_stop();
            ENSURE_INT(faults.live, 0);
            ENSURE(!geometry == failed);
            if (!failed) break;
            ENSURE_INT(err.code, SS_ERROR_RESOURCES);
        }
    ss_mesh_destroy(ball);
}

TEST_MAIN
