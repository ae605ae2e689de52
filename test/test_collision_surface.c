/* Convex shapes against triangle meshes and heightfields. */
#include "collision_kit.h"

enum { CELLS = 12 };
#define SPACING 0.25

/* A square floor of triangles through z = height(x, y); diagonals run both ways in turn. */
typedef double height_function(double x, double y);

static ss_mesh *make_floor(height_function *height)
{
    int points = CELLS + 1;
    ss_mesh *mesh = ss_mesh_create(points * points, 2 * CELLS * CELLS, NULL);
    for (int j = 0; j < points; j++)
        for (int i = 0; i < points; i++) {
            double x = (i - 0.5 * CELLS) * SPACING, y = (j - 0.5 * CELLS) * SPACING;
            ss_vec3_store(vec(x, y, height(x, y)), mesh->vertex[j * points + i]);
        }
    int faces = 0;
    for (int j = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++) {
            int a = j * points + i, b = a + 1, c = b + points, d = a + points;
            bool turned = (i + j) % 2;
            int corners[2][3] = {{a, b, turned ? d : c}, {turned ? b : a, c, d}};
            memcpy(mesh->face[faces], corners, sizeof corners);
            faces += 2;
        }
    return mesh;
}

static double level(double x, double y)
{
    (void)x, (void)y;
    return 0.0;
}

static double ridge(double x, double y)
{
    (void)y;
    return -fabs(x);
}

static double valley(double x, double y)
{
    (void)y;
    return fabs(x);
}

/* The same ground as a mesh and as a heightfield. */
typedef struct ground {
    ss_mesh *mesh;
    double heights[(CELLS + 1) * (CELLS + 1)];
    placed at;
} ground;

static void make_ground(ground *g, height_function *height, bool as_mesh)
{
    g->mesh = make_floor(height);
    for (int v = 0; v < g->mesh->vertex_count; v++) g->heights[v] = g->mesh->vertex[v][2];
    ss_shape shape = {.kind = SS_MESH, .mesh = g->mesh};
    if (!as_mesh)
        shape = (ss_shape){.kind = SS_HEIGHTFIELD,
                           .size = {SPACING, SPACING},
                           .heights = g->heights,
                           .nx = CELLS + 1,
                           .ny = CELLS + 1};
    put(&g->at, shape, vec(0, 0, 0), upright());
}

static void remove_ground(ground *g)
{
    lift(&g->at);
    ss_mesh_destroy(g->mesh);
}

static ss_manifold meet_ground(const ground *g, ss_shape shape, ss_vec3 at, ss_quat turn, double margin)
{
    placed p;
    put(&p, shape, at, turn);
    ss_manifold m;
    ss_collide(&p.at, &g->at.at, margin, &m);
    lift(&p);
    return m;
}

/* ---- flat ground ------------------------------------------------------------------------------------ */

typedef struct rider {
    ss_shape shape;
    double half_height;
    ss_quat turn;
    int points; // that hold it, at least
} rider;

static int make_riders(rider riders[6], const ss_mesh *cube)
{
    riders[0] = (rider){{.kind = SS_SPHERE, .size = {0.1}}, 0.1, upright(), 1};
    riders[1] = (rider){{.kind = SS_BOX, .size = {0.6, 0.4, 0.2}}, 0.1, upright(), 4};
    riders[2] = (rider){{.kind = SS_CAPSULE, .size = {0.1, 0.5}}, 0.1, about(vec(0, 1, 0), M_PI / 2), 2};
    riders[3] = (rider){{.kind = SS_CYLINDER, .size = {0.3, 0.2}}, 0.1, upright(), 4};
    riders[4] = (rider){{.kind = SS_ELLIPSOID, .size = {0.3, 0.2, 0.1}}, 0.1, upright(), 1};
    riders[5] = (rider){{.kind = SS_HULL, .mesh = cube}, 0.5, upright(), 4};
    return 6;
}

/* Slides and turns across the edges of many triangles. */
static void slide(const ground *g, const rider *r, double gap)
{
    for (int step = 0; step < 200; step++) {
        ss_vec3 at = vec(-0.6 + 0.006 * step, 0.3 - 0.0031 * step, r->half_height + gap);
        ss_quat turn = ss_quat_multiply(about(vec(0, 0, 1), 0.01 * step), r->turn);
        ss_manifold m = meet_ground(g, r->shape, at, turn, 0.01);
        ENSURE(m.count >= r->points);
        ss_vec3 low = vec(INFINITY, INFINITY, 0), high = vec(-INFINITY, -INFINITY, 0);
        for (int i = 0; i < m.count; i++) {
            const double *n = m.points[i].normal, *p = m.points[i].point;
            ENSURE_NEAR(n[2], -1.0, 1e-12); // from the rider to the ground, and nowhere else
            ENSURE_NEAR(hypot(n[0], n[1]), 0.0, 1e-7);
            ENSURE_NEAR(m.points[i].gap, gap, 1e-9);
            low = vec(fmin(low.x, p[0]), fmin(low.y, p[1]), 0);
            high = vec(fmax(high.x, p[0]), fmax(high.y, p[1]), 0);
        }
        ENSURE(low.x <= at.x + 1e-9 && at.x <= high.x + 1e-9 && low.y <= at.y + 1e-9 &&
               at.y <= high.y + 1e-9);
    }
}

TEST(nothing_that_slides_over_a_flat_floor_feels_its_triangles)
{
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
    rider riders[6];
    int count = make_riders(riders, cube);
    for (int kind = 0; kind < 2; kind++) {
        ground g;
        make_ground(&g, level, kind == 0);
        for (int i = 0; i < count; i++)
            for (int k = -1; k <= 1; k++) {
                slide(&g, &riders[i], 0.002 * k);
                if (kit_failures) fprintf(stderr, "  rider %d, gap %g, ground %d\n", i, 0.002 * k, kind);
            }
        remove_ground(&g);
    }
    ss_mesh_destroy(cube);
}

TEST(what_is_deep_in_the_ground_is_pushed_up)
{
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
    rider riders[6];
    int count = make_riders(riders, cube);
    for (int kind = 0; kind < 2; kind++) {
        ground g;
        make_ground(&g, level, kind == 0);
        for (int i = 0; i < count; i++)
            for (double depth = 0.1; depth < 1.9; depth += 0.2) {
                const rider *r = &riders[i];
                ss_vec3 at = vec(0.03, 0.07, r->half_height * (1.0 - depth));
                ss_manifold m = meet_ground(&g, r->shape, at, r->turn, 0.0);
                ENSURE(m.count > 0);
                for (int k = 0; k < m.count; k++) ENSURE_NEAR(m.points[k].normal[2], -1.0, 1e-9);
                ENSURE_NEAR(deepest(&m)->gap, -depth * r->half_height, 1e-9);
            }
        remove_ground(&g);
    }
    ss_mesh_destroy(cube);
}

TEST(a_sheet_is_not_touched_from_behind_but_a_heightfield_is_solid)
{
    ss_shape ball = {.kind = SS_SPHERE, .size = {0.1}};
    for (int kind = 0; kind < 2; kind++) {
        ground g;
        make_ground(&g, level, kind == 0);
        ss_manifold m = meet_ground(&g, ball, vec(0.03, 0.07, -0.25), upright(), 0.5);
        ENSURE_INT(m.count, kind == 0 ? 0 : 1);
        if (kind == 1) ENSURE_NEAR(m.points[0].gap, -0.35, 1e-12);
        remove_ground(&g);
    }
}

/* ---- edges ------------------------------------------------------------------------------------------ */

TEST(a_box_on_a_ridge_is_held_along_the_ridge)
{
    ss_shape brick = {.kind = SS_BOX, .size = {0.6, 0.4, 0.2}};
    for (int kind = 0; kind < 2; kind++)
        for (int k = -1; k <= 1; k++) {
            ground g;
            make_ground(&g, ridge, kind == 0);
            ss_manifold m = meet_ground(&g, brick, vec(0.05, 0.03, 0.1 + 0.002 * k), upright(), 0.01);
            ENSURE(m.count >= 2);
            double low = INFINITY, high = -INFINITY;
            for (int i = 0; i < m.count; i++) {
                ENSURE_NEAR(m.points[i].normal[2], -1.0, 1e-9);
                ENSURE_NEAR(m.points[i].gap, 0.002 * k, 1e-9);
                ENSURE_NEAR(m.points[i].point[0], 0.0, 1e-9);
                low = fmin(low, m.points[i].point[1]);
                high = fmax(high, m.points[i].point[1]);
            }
            ENSURE_NEAR(low, -0.17, 1e-6); // both ends of the brick
            ENSURE_NEAR(high, 0.23, 1e-6);
            remove_ground(&g);
        }
}

TEST(a_ball_in_a_valley_touches_both_sides_and_not_the_edge_between)
{
    ss_shape ball = {.kind = SS_SPHERE, .size = {0.3}};
    for (int kind = 0; kind < 2; kind++) {
        ground g;
        make_ground(&g, valley, kind == 0);
        ss_manifold m = meet_ground(&g, ball, vec(0.0, 0.03, 0.3 * sqrt(2.0) - 0.01), upright(), 0.005);
        ENSURE_INT(m.count, 2);
        for (int i = 0; i < 2; i++) {
            ENSURE_NEAR(m.points[i].gap, -0.01 / sqrt(2.0), 1e-12);
            ENSURE_NEAR(fabs(m.points[i].normal[0]), sqrt(0.5), 1e-12);
        }
        remove_ground(&g);
    }
}

/* ---- a closed mesh is the solid it encloses --------------------------------------------------------- */

TEST(a_mesh_of_a_block_is_as_far_away_as_the_block)
{
    ss_mesh *block = ss_mesh_block((double[]){1.0, 0.8, 0.6}, NULL),
            *solid = ss_mesh_solid(SS_OCTAHEDRON, NULL);
    ss_mesh_transform(solid, (double[]){0.3, 0.3, 0.3}, NULL, NULL);
    ss_shape as_mesh = {.kind = SS_MESH, .mesh = block}, as_box = {.kind = SS_BOX, .size = {1.0, 0.8, 0.6}};
    ss_random random = ss_random_start(21, 0);
    static const ss_shape_kind kinds[] = {SS_SPHERE, SS_BOX, SS_CAPSULE, SS_CYLINDER, SS_ELLIPSOID, SS_HULL};
    int compared = 0;
    for (int i = 0; i < 1200; i++) {
        ss_shape shape = {.kind = kinds[i % 6], .mesh = solid};
        for (int k = 0; k < 3; k++) shape.size[k] = ss_random_between(&random, 0.1, 0.4);
        placed a, mesh, box;
        ss_vec3 at = ss_vec3_scale(ss_random_between(&random, 0.3, 1.2), any_direction(&random));
        ss_quat turn = any_turn(&random);
        put(&a, shape, at, any_turn(&random));
        put(&mesh, as_mesh, vec(0.1, 0.2, 0.3), turn);
        put(&box, as_box, vec(0.1, 0.2, 0.3), turn);
        ss_manifold with_mesh, with_box;
        ss_collide(&a.at, &mesh.at, 0.5, &with_mesh);
        ss_collide(&a.at, &box.at, 0.5, &with_box);
        double gap = with_box.count ? deepest(&with_box)->gap : INFINITY;
        if (gap > -0.01 && gap < 0.49) { // deeper, several ways out are alike
            ENSURE(with_mesh.count > 0);
            ENSURE_NEAR(deepest(&with_mesh)->gap, gap, 1e-6);
            compared++;
        }
        lift(&a);
        lift(&mesh);
        lift(&box);
    }
    ENSURE(compared > 500);
    ss_mesh_destroy(block);
    ss_mesh_destroy(solid);
}

TEST(a_mesh_with_ten_thousand_triangles_is_touched_where_the_ball_is)
{
    ss_mesh *mesh = ss_mesh_ball(5, 10.0, NULL);
    ENSURE(mesh->face_count > 10000);
    placed planet, ball;
    put(&planet, (ss_shape){.kind = SS_MESH, .mesh = mesh}, vec(0, 0, 0), upright());
    ss_random random = ss_random_start(22, 0);
    for (int i = 0; i < 200; i++) {
        ss_vec3 up = any_direction(&random);
        put(&ball, (ss_shape){.kind = SS_SPHERE, .size = {0.5}}, ss_vec3_scale(10.5, up), upright());
        ss_manifold m;
        ss_collide(&ball.at, &planet.at, 0.1, &m);
        ENSURE(m.count > 0);
        // The mesh lies within 10 of the centre, but by no more than the sagitta of its edges: (0.4)^2 / 80.
        ENSURE(deepest(&m)->gap >= -1e-9 && deepest(&m)->gap < 3e-3);
        ENSURE(ss_vec3_dot(ss_vec3_load(deepest(&m)->normal), up) < -0.99);
        lift(&ball);
    }
    lift(&planet);
    ss_mesh_destroy(mesh);
}

TEST_MAIN
