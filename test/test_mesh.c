/* Solids, their mass, hulls, checks and transformations of triangle meshes. */
#include <stickslip/model.h>

#include "faults.h"
#include "kit.h"
#include "meshes.h"

static const double pi = 3.14159265358979323846;

/* ---- solids and their mass -------------------------------------------------------------------------- */

TEST(the_regular_solids_have_their_exact_volume_and_inertia)
{
    const double root5 = sqrt(5.0), phi = 0.5 * (1.0 + root5);
    const double edge[5] = {4.0 / sqrt(6.0), 1.0, sqrt(2.0), 4.0 / (sqrt(3.0) * (1.0 + root5)),
                            1.0 / sin(0.4 * pi)};
    const double volume[5] = {1.0 / (6.0 * sqrt(2.0)), 1.0, sqrt(2.0) / 3.0, (15.0 + 7.0 * root5) / 4.0,
                              5.0 * (3.0 + root5) / 12.0}; // of edge 1
    const double inertia[5] = {1.0 / 20.0, 1.0 / 6.0, 1.0 / 10.0, (39.0 * phi + 28.0) / 150.0,
                               phi * phi / 10.0}; // of edge 1 and mass 1, about any axis
    for (int solid = SS_TETRAHEDRON; solid <= SS_ICOSAHEDRON; solid++) {
        ss_mesh *mesh = ss_mesh_solid(solid, NULL);
        ss_mass_properties mass = ss_mesh_mass(mesh, 2.0);
        double a = edge[solid], m = 2.0 * volume[solid] * a * a * a;
        // tolerance: some dozen sums of numbers of size 1
        ENSURE_NEAR(mass.mass, m, 2e-14 * m);
        for (int k = 0; k < 3; k++) ENSURE_NEAR(mass.centre[k], 0.0, 1e-15);
        for (int k = 0; k < 9; k++)
            ENSURE_NEAR(mass.inertia[k], k % 4 ? 0.0 : inertia[solid] * m * a * a, 2e-14 * m * a * a);
        ENSURE(mesh_is_clean(mesh));
        ENSURE(ss_mesh_is_convex(mesh, 1e-12));
        ss_mesh_destroy(mesh);
    }
}

TEST(the_regular_solids_have_circumradius_1_but_the_cube_edge_1)
{
    for (int solid = SS_TETRAHEDRON; solid <= SS_ICOSAHEDRON; solid++) {
        ss_mesh *mesh = ss_mesh_solid(solid, NULL);
        for (int i = 0; i < mesh->vertex_count; i++) {
            double x = mesh->vertex[i][0], y = mesh->vertex[i][1], z = mesh->vertex[i][2];
            ENSURE_NEAR(sqrt(x * x + y * y + z * z), solid == SS_CUBE ? sqrt(0.75) : 1.0, 4e-16);
        }
        ss_mesh_destroy(mesh);
    }
}

TEST(a_block_weighs_what_its_edges_say)
{
    const double size[3] = {0.2, 0.1, 0.05};
    ss_mesh *mesh = ss_mesh_block(size, NULL);
    ss_mass_properties mass = ss_mesh_mass(mesh, 1800.0);
    ENSURE_NEAR(mass.mass, 1.8, 1e-15 * 1.8 * 8); // twelve faces
    for (int k = 0; k < 3; k++) {
        double b = size[(k + 1) % 3], c = size[(k + 2) % 3], expected = 1.8 / 12.0 * (b * b + c * c);
        ENSURE_NEAR(mass.inertia[4 * k], expected, 1e-14 * expected);
    }
    ENSURE(mesh_is_clean(mesh) && ss_mesh_is_convex(mesh, 0.0));
    ss_mesh_destroy(mesh);
}

TEST(a_prism_is_its_polygon_times_its_length_and_tends_to_the_cylinder)
{
    const double r = 0.3, length = 2.0;
    double last = 0.0;
    for (int sides = 3; sides <= 768; sides *= 2) {
        ss_mesh *mesh = ss_mesh_cylinder(sides, r, length, NULL);
        ss_mass_properties mass = ss_mesh_mass(mesh, 1.0);
        double angle = 2.0 * pi / sides, area = 0.5 * sides * sin(angle) * r * r;
        // second moment of a regular polygon about its centre: area r^2 (2 + cos(angle)) / 6
        double along = area * length * r * r * (2.0 + cos(angle)) / 6.0;
        ENSURE_NEAR(mass.mass, area * length, 1e-13 * area * length); // 3000 faces at most
        ENSURE_NEAR(mass.inertia[8], along, 1e-13 * along);
        double error = 1.0 - mass.inertia[8] / (0.5 * pi * r * r * length * r * r);
        // the error falls with the square of the number of sides; from 12 sides on the next term is below 5 %
        if (sides > 12) ENSURE_NEAR(last / error, 4.0, 0.2);
        last = error;
        ENSURE(mesh_is_clean(mesh) && ss_mesh_is_convex(mesh, 1e-12));
        ss_mesh_destroy(mesh);
    }
}

TEST(a_ball_of_triangles_tends_to_the_ball)
{
    double last = 0.0;
    for (int n = 0; n <= 5; n++) {
        ss_mesh *mesh = ss_mesh_ball(n, 2.0, NULL);
        ENSURE_INT(mesh->face_count, 20 << 2 * n);
        ss_mass_properties mass = ss_mesh_mass(mesh, 1.0);
        double error = 1.0 - mass.mass / (32.0 / 3.0 * pi);
        if (n > 2) ENSURE_NEAR(last / error, 4.0, 0.1); // second order; the fourth is below 3 %
        last = error;
        ENSURE_NEAR(mass.inertia[1] / mass.inertia[0], 0.0, 1e-14); // icosahedral symmetry
        ENSURE(mesh_is_clean(mesh) && ss_mesh_is_convex(mesh, 1e-12));
        ss_mesh_destroy(mesh);
    }
}

TEST(a_dented_solid_is_weighed_exactly_too)
{
    ss_mesh *mesh = mesh_corner_piece();
    ss_mass_properties mass = ss_mesh_mass(mesh, 1.0);
    ENSURE_NEAR(mass.mass, 3.0, 1e-14); // three cubes; 20 faces
    ENSURE_NEAR(mass.centre[0], 2.5 / 3.0, 1e-15);
    ENSURE_NEAR(mass.centre[2], 0.5, 1e-15);
    // about z: three times 1/6, and the distances of the cubes' centres from the common one
    double d = 2.0 / 3.0, near = 1.0 / 3.0;
    ENSURE_NEAR(mass.inertia[8], 3.0 / 6.0 + 2.0 * near * near + 2.0 * (near * near + d * d), 1e-14);
    ENSURE(mesh_is_clean(mesh));
    ENSURE(!ss_mesh_is_convex(mesh, 0.01));
    ss_mesh_destroy(mesh);
}

/* ---- how mass changes with place and size ----------------------------------------------------------- */

static const double some_rotation[4] = {0.5, -0.1, 0.7, 0.5}; // length 1

static void rotation_matrix(const double q[4], double r[9])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double entries[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                               2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                               2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(r, entries, sizeof entries);
}

static void rotate_vector(const double q[4], const double from[3], double to[3])
{
    double r[9];
    rotation_matrix(q, r);
    for (int i = 0; i < 3; i++) to[i] = r[3 * i] * from[0] + r[3 * i + 1] * from[1] + r[3 * i + 2] * from[2];
}

/* R I R', spelled out. */
static void rotate_tensor(const double q[4], const double from[9], double to[9])
{
    double r[9];
    rotation_matrix(q, r);
    for (int i = 0; i < 9; i++) {
        to[i] = 0.0;
        for (int k = 0; k < 9; k++) to[i] += r[i / 3 * 3 + k / 3] * from[k] * r[i % 3 * 3 + k % 3];
    }
}

TEST(turning_a_solid_turns_its_inertia_and_moving_it_moves_its_centre)
{
    const double shift[3] = {10.0, -20.0, 5.0};
    ss_mesh *mesh = mesh_corner_piece();
    ss_mass_properties before = ss_mesh_mass(mesh, 7.0);
    ss_mesh_transform(mesh, NULL, some_rotation, shift);
    ss_mass_properties after = ss_mesh_mass(mesh, 7.0);
    double expected[9], centre[3];
    rotate_tensor(some_rotation, before.inertia, expected);
    // tolerance: coordinates of size 20 are rounded by 4e-15, lever arms are of size 1
    ENSURE_NEAR(after.mass, before.mass, 1e-13 * before.mass);
    for (int k = 0; k < 9; k++) ENSURE_NEAR(after.inertia[k], expected[k], 1e-13 * before.mass);
    rotate_vector(some_rotation, before.centre, centre);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(after.centre[k], centre[k] + shift[k], 1e-13);
    ss_mesh_destroy(mesh);
}

TEST(a_solid_twice_as_large_has_8_times_the_mass_and_32_times_the_inertia)
{
    const double twice[3] = {2.0, 2.0, 2.0}, third[3] = {0.3, 0.3, 0.3};
    ss_mesh *mesh = mesh_corner_piece();
    ss_mass_properties before = ss_mesh_mass(mesh, 1.0);
    ss_mesh_transform(mesh, twice, NULL, NULL);
    ss_mass_properties after = ss_mesh_mass(mesh, 1.0);
    ENSURE(after.mass == 8.0 * before.mass); // powers of two: bit for bit
    for (int k = 0; k < 9; k++) ENSURE(after.inertia[k] == 32.0 * before.inertia[k]);
    ss_mesh_transform(mesh, third, NULL, NULL);
    after = ss_mesh_mass(mesh, 1.0);
    ENSURE_NEAR(after.mass, 0.216 * before.mass, 1e-14 * before.mass);
    for (int k = 0; k < 9; k++) ENSURE_NEAR(after.inertia[k], 0.07776 * before.inertia[k], 1e-14);
    ss_mesh_destroy(mesh);
}

TEST(a_solid_far_from_its_origin_is_weighed_as_well_as_its_coordinates_allow)
{
    const double far[3] = {1e6, -1e6, 1e6};
    ss_mesh *mesh = ss_mesh_solid(SS_CUBE, NULL);
    ss_mesh_transform(mesh, NULL, NULL, far);
    ss_mass_properties mass = ss_mesh_mass(mesh, 1.0);
    // the coordinates themselves are exact here (halves); integrals about the origin would be off
    // by 1e12 * 1e-16
    ENSURE_NEAR(mass.inertia[0], 1.0 / 6.0, 1e-9);
    ENSURE_NEAR(mass.centre[0], 1e6, 1e-9);
    ss_mesh_destroy(mesh);
}

TEST(a_mirrored_solid_still_turns_its_faces_outwards)
{
    const double mirror[3] = {-1.0, 1.0, 3.0}, twice[3] = {-1.0, -1.0, 1.0};
    ss_mesh *mesh = mesh_corner_piece();
    ss_mesh_transform(mesh, mirror, NULL, NULL);
    ENSURE_NEAR(ss_mesh_mass(mesh, 1.0).mass, 9.0, 1e-13);
    ss_mesh_transform(mesh, twice, NULL, NULL);
    ENSURE_NEAR(ss_mesh_mass(mesh, 1.0).mass, 9.0, 1e-13);
    ENSURE(mesh_is_clean(mesh));
    ss_mesh_destroy(mesh);
}

TEST(rotation_comes_before_scale_and_translation_last)
{
    const double scale[3] = {1.0, 10.0, 1.0}, shift[3] = {0.0, 0.0, 5.0};
    const double quarter[4] = {sqrt(0.5), 0.0, 0.0, sqrt(0.5)}; // about z
    ss_mesh *mesh = mesh_of((const double[1][3]){{1, 0, 0}}, 1, NULL, 0);
    ss_mesh_transform(mesh, scale, quarter, shift);
    ENSURE_NEAR(mesh->vertex[0][0], 0.0, 1e-15);
    ENSURE_NEAR(mesh->vertex[0][1], 10.0, 1e-14);
    ENSURE_NEAR(mesh->vertex[0][2], 5.0, 0.0);
    ss_mesh_destroy(mesh);
}

/* ---- hulls ------------------------------------------------------------------------------------------ */

TEST(random_hulls_are_closed_and_convex_and_hold_all_points)
{
    enum { MOST = 300 };
    ss_random random = ss_random_start(7, 0);
    for (int round = 0; round < 60; round++) {
        double points[MOST][3];
        int count = 4 + ss_random_below(&random, MOST - 4);
        double size = pow(10.0, ss_random_between(&random, -6.0, 6.0)), flat = round % 3 == 0 ? 0.01 : 1.0;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                points[i][k] = size * (k == 2 ? flat : 1.0) * ss_random_normal(&random);
        ss_error err = {0};
        ss_mesh *hull = ss_mesh_hull((const double(*)[3])points, count, &err);
        ENSURE(hull != NULL);
        ENSURE(mesh_is_clean(hull));
        ENSURE(ss_mesh_is_convex(hull, 1e-13 * size));
        // tolerance: qhull's own, some roundings of coordinates of up to four sizes
        for (int i = 0; i < count; i++) ENSURE(mesh_outside(hull, points[i]) <= 1e-13 * size);
        ss_mesh_destroy(hull);
    }
}

TEST(the_hull_of_a_grid_of_points_is_a_cube_of_eight_corners)
{
    double points[125][3];
    for (int i = 0; i < 125; i++) {
        points[i][0] = i % 5;
        points[i][1] = i / 5 % 5;
        points[i][2] = i / 25;
    }
    ss_mesh *hull = ss_mesh_hull((const double(*)[3])points, 125, NULL);
    ENSURE(hull != NULL);
    ENSURE_INT(hull->vertex_count, 8);
    ENSURE_INT(hull->face_count, 12);
    ENSURE_NEAR(ss_mesh_mass(hull, 1.0).mass, 64.0, 1e-12);
    ENSURE(mesh_is_clean(hull));
    ss_mesh_destroy(hull);
}

TEST(the_hull_of_points_on_a_sphere_keeps_them_all)
{
    ss_mesh *ball = ss_mesh_ball(4, 1e-3, NULL);
    ss_mesh *hull = ss_mesh_hull((const double(*)[3])ball->vertex, ball->vertex_count, NULL);
    ENSURE(hull != NULL);
    ENSURE_INT(hull->vertex_count, ball->vertex_count);
    ENSURE_INT(hull->face_count, ball->face_count);
    ENSURE_NEAR(ss_mesh_mass(hull, 1.0).mass, ss_mesh_mass(ball, 1.0).mass, 1e-13 * 4e-9);
    ss_mesh_destroy(hull);
    ss_mesh_destroy(ball);
}

TEST(a_hull_does_not_depend_on_the_unit_of_length)
{
    ss_random random = ss_random_start(3, 0);
    double points[50][3], small[50][3];
    for (int i = 0; i < 150; i++) {
        points[i / 3][i % 3] = ss_random_normal(&random);
        small[i / 3][i % 3] = ldexp(points[i / 3][i % 3], -60);
    }
    ss_mesh *a = ss_mesh_hull((const double(*)[3])points, 50, NULL);
    ss_mesh *b = ss_mesh_hull((const double(*)[3])small, 50, NULL);
    ENSURE(a && b && a->face_count == b->face_count);
    ENSURE(memcmp(a->face, b->face, (size_t)a->face_count * sizeof *a->face) == 0);
    ss_mesh_destroy(a);
    ss_mesh_destroy(b);
}

TEST(points_without_a_hull_are_refused_quietly)
{
    ss_error err = {0};
    const double flat[5][3] = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}, {0.3, 0.4, 1}};
    const double same[4][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    const double line[6][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {-1, -1, -1}, {0.1, 0.1, 0.1}};
    double bad[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, NAN}};
    ENSURE(!ss_mesh_hull(flat, 5, &err));
    ENSURE_CONTAINS(err.message, "in one plane");
    ENSURE(!ss_mesh_hull(same, 4, &err));
    ENSURE_CONTAINS(err.message, "in one plane");
    ENSURE(!ss_mesh_hull(line, 6, &err));
    ENSURE_CONTAINS(err.message, "in one plane");
    ENSURE(!ss_mesh_hull((const double(*)[3])bad, 4, &err));
    ENSURE_CONTAINS(err.message, "point 3: z is nan");
    ENSURE(!ss_mesh_hull(flat, 3, &err));
    ENSURE_CONTAINS(err.message, "3 points");
}

/* ---- checks ----------------------------------------------------------------------------------------- */

/* There is a finding of this kind with this text, and only faults make the mesh a bad one. */
static bool says(const ss_mesh *mesh, ss_finding_kind kind, const char *text)
{
    ss_findings findings = {0};
    bool good = ss_mesh_check(mesh, "part.obj", &findings), found = false;
    for (size_t i = 0; i < findings.count; i++)
        found |= findings.items[i].kind == kind && strstr(findings.items[i].message, text) &&
                 strcmp(findings.items[i].place, "part.obj") == 0;
    if (!found)
        for (size_t i = 0; i < findings.count; i++) fprintf(stderr, "%s\n", findings.items[i].message);
    ss_findings_free(&findings);
    return found && good == (kind != SS_FINDING_FAULT);
}

TEST(every_fault_of_a_mesh_is_named)
{
    static const struct {
        /* what is changed in the cube; face -1 = its face count, -2 = a coordinate */
        int face, corner, vertex;
        const char *message;
    } faults_of_cube[] = {
        {3, 1, 8, "face 3: corner 1 is vertex 8; there are 8 vertices"},
        {3, 1, -1, "corner 1 is vertex -1"},
        {0, 1, 1, "face 0: uses a vertex twice"},
        {-1, 0, 11, "edge 0-3: is open, only face 10 uses it"},
        {-2, 0, 5, "vertex 5: (nan"},
        {1, 1, 3, "has the corners of face 0"},
        {-1, 0, 0, "has no faces"},
    };
    for (size_t i = 0; i < sizeof faults_of_cube / sizeof *faults_of_cube; i++) {
        ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
        int f = faults_of_cube[i].face;
        if (f >= 0) cube->face[f][faults_of_cube[i].corner] = faults_of_cube[i].vertex;
        if (f == -1) cube->face_count = faults_of_cube[i].vertex;
        if (f == -2) cube->vertex[faults_of_cube[i].vertex][0] = NAN;
        if (i == 5) memcpy(cube->face[1], (int[3]){7, 1, 3}, sizeof *cube->face);
        ENSURE(says(cube, SS_FINDING_FAULT, faults_of_cube[i].message));
        ss_mesh_destroy(cube);
    }
}

TEST(a_turned_face_is_found_at_its_edges)
{
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
    int kept = cube->face[4][1];
    cube->face[4][1] = cube->face[4][2];
    cube->face[4][2] = kept;
    ENSURE(says(cube, SS_FINDING_FAULT, "faces 4 and 5 have opposite orientations"));
    ss_mesh_destroy(cube);
}

TEST(a_triangle_without_area_and_an_edge_of_three_faces_are_faults)
{
    const double line[4][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 1, 0}};
    ss_mesh *mesh = mesh_of(line, 4, (const int[3][3]){{0, 1, 2}, {0, 1, 3}, {3, 1, 0}}, 3);
    ENSURE(says(mesh, SS_FINDING_FAULT, "face 0: has no area"));
    ENSURE(says(mesh, SS_FINDING_FAULT, "edge 0-1: belongs to 3 faces"));
    ss_mesh_destroy(mesh);
}

TEST(what_is_odd_but_usable_is_a_warning)
{
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL), *other = ss_mesh_copy(cube, NULL);
    ss_mesh_transform(other, NULL, NULL, (const double[3]){5.0, 0.0, 0.0});
    ss_mesh *two = mesh_union(cube, other);
    ENSURE(says(two, SS_FINDING_WARNING, "is in 2 parts"));
    two->face_count = 12;
    ENSURE(says(two, SS_FINDING_WARNING, "8 of 16 vertices are in no face, vertex 8 is the first"));
    for (int f = 0; f < 12; f++) {
        int kept = cube->face[f][1];
        cube->face[f][1] = cube->face[f][2];
        cube->face[f][2] = kept;
    }
    ENSURE(says(cube, SS_FINDING_WARNING, "is inside out"));
    ENSURE(!ss_mesh_is_convex(cube, 0.1));
    ss_mesh_destroy(two);
    ss_mesh_destroy(other);
    ss_mesh_destroy(cube);
}

TEST(a_small_dent_is_convex_only_within_a_tolerance_above_its_depth)
{
    ss_mesh *ball = ss_mesh_ball(1, 1.0, NULL);
    ENSURE(ss_mesh_is_convex(ball, 0.0));
    for (int k = 0; k < 3; k++) ball->vertex[20][k] *= 0.75; // its edge's ends are 0.85 high: a dent of 0.1
    ENSURE(!ss_mesh_is_convex(ball, 0.01));
    ENSURE(ss_mesh_is_convex(ball, 0.3));
    ss_mesh_destroy(ball);
}

TEST(a_pentagram_bipyramid_is_convex_at_each_edge_but_not_convex)
{
    double vertex[7][3] = {{0, 0, 1}, {0, 0, -1}};
    int face[10][3];
    for (int i = 0; i < 5; i++) {
        vertex[2 + i][0] = cos(0.8 * pi * i);
        vertex[2 + i][1] = sin(0.8 * pi * i);
        memcpy(face[i], (int[3]){0, 2 + i, 2 + (i + 1) % 5}, sizeof face[i]);
        memcpy(face[5 + i], (int[3]){1, 2 + (i + 1) % 5, 2 + i}, sizeof face[i]);
    }
    ss_mesh *mesh = mesh_of((const double(*)[3])vertex, 7, (const int(*)[3])face, 10);
    ENSURE(mesh_is_clean(mesh));
    ENSURE(!ss_mesh_is_convex(mesh, 1e-3));
    ss_mesh_destroy(mesh);
}

TEST(a_third_of_a_million_faces_are_checked_in_seconds)
{
    ss_mesh *ball = ss_mesh_ball(7, 1.0, NULL);
    double start = ss_clock_seconds();
    ENSURE(mesh_is_clean(ball));
    ENSURE(ss_clock_seconds() - start < 60.0); // about 0.2; a check of all pairs would take hours
    ss_mesh_destroy(ball);
}

/* ---- bad arguments and lack of memory --------------------------------------------------------------- */

TEST(solids_that_cannot_be_are_refused)
{
    ss_error err = {0};
    ENSURE(!ss_mesh_block((const double[3]){1.0, 0.0, 1.0}, &err));
    ENSURE_CONTAINS(err.message, "block: size 0");
    ENSURE(!ss_mesh_cylinder(2, 1.0, 1.0, &err));
    ENSURE_CONTAINS(err.message, "2 sides");
    ENSURE(!ss_mesh_cylinder(8, INFINITY, 1.0, &err));
    ENSURE(!ss_mesh_ball(50, 1.0, &err));
    ENSURE_CONTAINS(err.message, "50 subdivisions");
    ENSURE(!ss_mesh_solid((ss_solid)9, &err));
    ENSURE(!ss_mesh_create(-1, 5, &err));
}

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
    for (int n = 1;; n++) {
        faults_start(n);
        ss_error err = {0};
        ss_mesh *ball = ss_mesh_ball(2, 1.0, &err);
        ss_mesh *hull =
            ball ? ss_mesh_hull((const double(*)[3])ball->vertex, ball->vertex_count, &err) : NULL;
        bool good = hull && ss_mesh_check(hull, "hull", NULL) && ss_mesh_is_convex(hull, 1e-9);
        ss_mesh_destroy(hull);
        ss_mesh_destroy(ball);
        bool failed = faults_stop();
        ENSURE_INT(faults.live, 0);
        ENSURE(good == !failed);
        if (!failed) break;
        ENSURE(hull || err.code == SS_ERROR_RESOURCES);
    }
}

TEST_MAIN
