/* Round shapes among themselves, against planes and against everything convex. */
#include "collision_kit.h"

#ifdef SS_HAVE_CCD
#include <ccd/ccd.h>
#endif

static ss_shape sphere(double radius)
{
    return (ss_shape){.kind = SS_SPHERE, .size = {radius}};
}

static ss_shape capsule(double radius, double length)
{
    return (ss_shape){.kind = SS_CAPSULE, .size = {radius, length}};
}

static ss_shape cylinder(double radius, double length)
{
    return (ss_shape){.kind = SS_CYLINDER, .size = {radius, length}};
}

static ss_shape ellipsoid(double x, double y, double z)
{
    return (ss_shape){.kind = SS_ELLIPSOID, .size = {x, y, z}};
}

static ss_shape box(double x, double y, double z)
{
    return (ss_shape){.kind = SS_BOX, .size = {x, y, z}};
}

static const ss_shape floor_shape = {.kind = SS_PLANE};

/* Places the two, collides them and lifts them again. */
static ss_manifold meet(ss_shape a, ss_vec3 at_a, ss_quat turn_a, ss_shape b, ss_vec3 at_b, ss_quat turn_b,
                        double margin)
{
    placed first, second;
    put(&first, a, at_a, turn_a);
    put(&second, b, at_b, turn_b);
    ss_manifold manifold;
    ss_collide(&first.at, &second.at, margin, &manifold);
    lift(&first);
    lift(&second);
    return manifold;
}

static bool is_sound(const ss_manifold *m, double margin)
{
    for (int i = 0; i < m->count; i++) {
        const ss_contact_point *p = &m->points[i];
        if (!(p->gap <= margin) || !(fabs(ss_vec3_norm(ss_vec3_load(p->normal)) - 1.0) < 1e-12)) return false;
        if (!isfinite(p->point[0] + p->point[1] + p->point[2])) return false;
        for (int k = 0; k < i; k++)
            if (m->points[k].feature == p->feature) return false;
    }
    return true;
}

/* ---- balls and capsules ----------------------------------------------------------------------------- */

TEST(two_balls_meet_halfway_between_their_surfaces)
{
    ss_manifold m = meet(sphere(1.0), vec(0, 0, 0), upright(), sphere(2.0), vec(0, 3.5, 0), upright(), 1.0);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, 0.5, 1e-15); // one rounding of a number below 4
    ENSURE_NEAR(m.points[0].normal[1], 1.0, 0.0);
    ENSURE_NEAR(m.points[0].point[1], 1.25, 1e-15);
    m = meet(sphere(1.0), vec(0, 0, 0), upright(), sphere(2.0), vec(0, 3.5, 0), upright(), 0.4);
    ENSURE_INT(m.count, 0);
}

TEST(balls_that_touch_exactly_have_gap_zero)
{
    ss_manifold m = meet(sphere(1.0), vec(0, 0, 0), upright(), sphere(2.0), vec(0, 0, 3), upright(), 0.0);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, 0.0, 0.0);
}

TEST(balls_with_one_centre_are_still_pushed_apart)
{
    ss_manifold m = meet(sphere(1.0), vec(1, 2, 3), upright(), sphere(0.5), vec(1, 2, 3), upright(), 0.0);
    ENSURE_INT(m.count, 1);
    ENSURE(is_sound(&m, 0.0));
    ENSURE_NEAR(m.points[0].gap, -1.5, 1e-15);
}

TEST(a_ball_in_a_plane_is_pushed_up_however_deep)
{
    for (double z = 2.0; z > -5.0; z -= 0.5) {
        ss_manifold m =
            meet(sphere(0.5), vec(3, 4, z), upright(), floor_shape, vec(0, 0, 0), upright(), 10.0);
        ENSURE_INT(m.count, 1);
        ENSURE_NEAR(m.points[0].gap, z - 0.5, 1e-15);
        ENSURE_NEAR(m.points[0].normal[2], -1.0, 0.0); // from the ball to the plane
        ENSURE_NEAR(m.points[0].point[2], 0.5 * (z - 0.5), 1e-15);
    }
}

TEST(a_capsule_lies_on_two_points_and_stands_on_one)
{
    ss_quat lying = about(vec(1, 0, 0), M_PI / 2);
    ss_manifold m =
        meet(capsule(0.1, 1.0), vec(0, 0, 0.09), lying, floor_shape, vec(0, 0, 0), upright(), 0.01);
    ENSURE_INT(m.count, 2);
    for (int i = 0; i < 2; i++) ENSURE_NEAR(m.points[i].gap, -0.01, 1e-15);
    ENSURE_NEAR(fabs(m.points[0].point[1] - m.points[1].point[1]), 1.0, 1e-15);
    m = meet(capsule(0.1, 1.0), vec(0, 0, 0.6), upright(), floor_shape, vec(0, 0, 0), upright(), 0.01);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, 0.0, 1e-15);
}

TEST(parallel_capsules_touch_at_both_ends_of_their_common_length)
{
    ss_manifold m = meet(capsule(0.1, 1.0), vec(0, 0, 0), upright(), capsule(0.2, 2.0), vec(0.31, 0, 0.8),
                         upright(), 0.02);
    ENSURE_INT(m.count, 2);
    for (int i = 0; i < 2; i++) {
        ENSURE_NEAR(m.points[i].gap, 0.01, 1e-15);
        ENSURE_NEAR(m.points[i].normal[0], 1.0, 1e-15);
    }
    ENSURE_NEAR(fmin(m.points[0].point[2], m.points[1].point[2]), -0.2, 1e-15); // lower end of the second
    ENSURE_NEAR(fmax(m.points[0].point[2], m.points[1].point[2]), 0.5, 1e-15);  // upper end of the first
}

TEST(capsules_on_one_line_touch_with_their_caps)
{
    ss_manifold m =
        meet(capsule(0.1, 1.0), vec(0, 0, 0), upright(), capsule(0.1, 1.0), vec(0, 0, 1.15), upright(), 0.1);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, -0.05, 1e-15);
    ENSURE_NEAR(m.points[0].normal[2], 1.0, 1e-15);
}

TEST(capsules_whose_axes_cross_are_pushed_apart_across_both)
{
    ss_quat turned = about(vec(1, 0, 0), M_PI / 2);
    ss_manifold m =
        meet(capsule(0.1, 1.0), vec(0, 0, 0), upright(), capsule(0.1, 1.0), vec(0, 0, 0), turned, 0.0);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(fabs(m.points[0].normal[0]), 1.0, 1e-12);
    ENSURE_NEAR(m.points[0].gap, -0.2, 1e-15);
}

/* ---- cylinders -------------------------------------------------------------------------------------- */

TEST(a_cylinder_stands_on_four_points_of_its_rim)
{
    ss_manifold m =
        meet(cylinder(0.5, 2.0), vec(1, 2, 0.99), upright(), floor_shape, vec(0, 0, 0), upright(), 0.1);
    ENSURE_INT(m.count, 4);
    ss_vec3 middle = vec(0, 0, 0);
    for (int i = 0; i < 4; i++) {
        ENSURE_NEAR(m.points[i].gap, -0.01, 1e-15);
        ENSURE_NEAR(hypot(m.points[i].point[0] - 1.0, m.points[i].point[1] - 2.0), 0.5, 1e-15);
        middle = ss_vec3_add_scaled(middle, 0.25, ss_vec3_load(m.points[i].point));
    }
    ENSURE_NEAR(hypot(middle.x - 1.0, middle.y - 2.0), 0.0, 1e-15);
}

TEST(a_cylinder_lies_on_the_two_ends_of_a_line)
{
    ss_quat lying = about(vec(1, 0, 0), M_PI / 2);
    ss_manifold m =
        meet(cylinder(0.5, 2.0), vec(0, 0, 0.5), lying, floor_shape, vec(0, 0, 0), upright(), 0.01);
    ENSURE_INT(m.count, 2);
    for (int i = 0; i < 2; i++) ENSURE_NEAR(m.points[i].gap, 0.0, 1e-15);
    ENSURE_NEAR(fabs(m.points[0].point[1] - m.points[1].point[1]), 2.0, 1e-15);
}

TEST(a_tilted_cylinder_touches_with_the_lowest_point_of_its_rim)
{
    double angle = 0.4, lowest = -cos(angle) - 0.5 * sin(angle); // half length 1, radius 0.5
    ss_quat tilted = about(vec(0, 1, 0), angle);
    ss_manifold m =
        meet(cylinder(0.5, 2.0), vec(0, 0, 1.1), tilted, floor_shape, vec(0, 0, 0), upright(), 0.05);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, 1.1 + lowest, 1e-14);
}

TEST(a_cylinder_stands_on_a_box_and_on_a_cylinder_with_at_least_four_points)
{
    ss_shape under[2] = {box(3, 3, 1), cylinder(1.0, 1.0)};
    for (int k = 0; k < 2; k++)
        for (int g = -1; g <= 1; g++) {
            double gap = 0.01 * g;
            ss_manifold m = meet(under[k], vec(0, 0, -0.5), upright(), cylinder(0.5, 2.0),
                                 vec(0.1, 0, 1 + gap), about(vec(0, 0, 1), 0.3), 0.02);
            ENSURE(m.count >= 4);
            ENSURE(is_sound(&m, 0.02));
            ss_vec3 middle = vec(0, 0, 0);
            for (int i = 0; i < m.count; i++) {
                ENSURE_NEAR(m.points[i].gap, gap, 1e-12); // GJK's normal to 1e-12, times a length of 1
                ENSURE_NEAR(m.points[i].normal[2], 1.0, 1e-12);
                // slack of the patch
                ENSURE_NEAR(hypot(m.points[i].point[0] - 0.1, m.points[i].point[1]), 0.5, 1e-8);
                middle = ss_vec3_add_scaled(middle, 1.0 / m.count, ss_vec3_load(m.points[i].point));
            }
            ENSURE_NEAR(hypot(middle.x - 0.1, middle.y), 0.0, 1e-8); // they hold the centre between them
        }
}

TEST(a_cylinder_lies_on_a_box_with_two_points)
{
    ss_quat lying = about(vec(1, 0, 0), M_PI / 2);
    for (int g = -1; g <= 1; g++) {
        double gap = 0.01 * g;
        ss_manifold m = meet(box(3, 1, 1), vec(0, 0, -0.5), upright(), cylinder(0.2, 2.0),
                             vec(0, 0, 0.2 + gap), lying, 0.02);
        ENSURE_INT(m.count, 2);
        for (int i = 0; i < 2; i++) {
            ENSURE_NEAR(m.points[i].gap, gap, 1e-12);
            ENSURE_NEAR(fabs(m.points[i].point[1]), 0.5, 1e-8); // the box is shorter
        }
    }
}

TEST(logs_touch_along_their_common_length)
{
    for (int g = -1; g <= 1; g++) {
        double gap = 0.01 * g;
        ss_manifold m = meet(cylinder(0.2, 2.0), vec(0, 0, 0), upright(), cylinder(0.3, 2.0),
                             vec(0.5 + gap, 0, 0.4), about(vec(0, 0, 1), 1.0), 0.02);
        ENSURE_INT(m.count, 2);
        for (int i = 0; i < 2; i++) {
            ENSURE_NEAR(m.points[i].gap, gap, 1e-14);
            ENSURE_NEAR(m.points[i].normal[0], 1.0, 1e-14);
        }
        ENSURE_NEAR(fabs(m.points[0].point[2] - m.points[1].point[2]), 1.6, 1e-14);
    }
}

TEST(crossed_logs_touch_in_one_point)
{
    ss_manifold m = meet(cylinder(0.2, 2.0), vec(0, 0, 0), upright(), cylinder(0.3, 2.0), vec(0.49, 0, 0),
                         about(vec(1, 0, 0), 1.0), 0.02);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, -0.01, 1e-14);
    ENSURE_NEAR(m.points[0].normal[0], 1.0, 1e-14);
}

TEST(a_ball_inside_a_cylinder_takes_the_shortest_way_out)
{
    ss_manifold m =
        meet(sphere(0.1), vec(0.7, 0, 0.3), upright(), cylinder(1.0, 2.0), vec(0, 0, 0), upright(), 0.0);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, -0.4, 1e-14); // 0.3 to the side, and the ball's radius
    ENSURE_NEAR(m.points[0].normal[0], -1.0, 1e-14);
    m = meet(sphere(0.1), vec(0, 0, 0), upright(), cylinder(1.0, 1.0), vec(0, 0, 0), upright(), 0.0);
    ENSURE_NEAR(m.points[0].gap, -0.6, 1e-14);
    ENSURE(is_sound(&m, 0.0));
}

/* ---- ellipsoids ------------------------------------------------------------------------------------- */

TEST(a_tilted_ellipsoid_over_a_plane_is_as_high_as_its_support_function_says)
{
    double angle = 0.7, half = sqrt(pow(2.0 * sin(angle), 2) + pow(0.5 * cos(angle), 2));
    ss_manifold m = meet(ellipsoid(2.0, 1.0, 0.5), vec(0, 0, 1.5), about(vec(0, 1, 0), angle), floor_shape,
                         vec(0, 0, 0), upright(), 1.0);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, 1.5 - half, 1e-15);
}

TEST(an_ellipsoid_with_equal_axes_is_a_ball)
{
    ss_random random = ss_random_start(4, 0);
    for (int i = 0; i < 200; i++) {
        ss_vec3 at = ss_vec3_scale(ss_random_between(&random, 0.5, 2.5), any_direction(&random));
        ss_quat turn = any_turn(&random);
        ss_manifold ball = meet(box(1, 2, 0.5), vec(0, 0, 0), turn, sphere(0.4), at, upright(), 3.0);
        ss_manifold same =
            meet(box(1, 2, 0.5), vec(0, 0, 0), turn, ellipsoid(0.4, 0.4, 0.4), at, any_turn(&random), 3.0);
        ENSURE_INT(ball.count, same.count);
        ENSURE_NEAR(ball.points[0].gap, same.points[0].gap, 1e-8); // GJK on a round core
    }
}

/* ---- any two convex shapes -------------------------------------------------------------------------- */

static const ss_shape_kind convex_kinds[] = {SS_SPHERE,   SS_BOX,       SS_CAPSULE,
                                             SS_CYLINDER, SS_ELLIPSOID, SS_HULL};
enum { CONVEX_KINDS = 6 };

static bool is_polyhedron(ss_shape_kind kind)
{
    return kind == SS_BOX || kind == SS_HULL;
}

/* Pairs that are made of flat faces, or have formulas of their own with them, are looked at in
 * test_collision_polyhedra. */
static bool is_ours(ss_shape_kind a, ss_shape_kind b)
{
    if (is_polyhedron(a) && is_polyhedron(b)) return false;
    ss_shape_kind round = is_polyhedron(a) ? b : a;
    return !(is_polyhedron(a) || is_polyhedron(b)) || (round != SS_SPHERE && round != SS_CAPSULE);
}

static ss_shape random_shape(ss_shape_kind kind, const ss_mesh *mesh, ss_random *random)
{
    ss_shape shape = {.kind = kind, .mesh = kind == SS_HULL ? mesh : NULL};
    for (int k = 0; k < 3; k++) shape.size[k] = ss_random_between(random, 0.3, 1.5);
    return shape;
}

/* One pair of each two kinds, in random poses up to `reach` apart. */
typedef void pair_story(placed *a, placed *b, ss_random *random);
static void tell_of_pairs(pair_story *story, int rounds, double reach, uint64_t seed)
{
    ss_random random = ss_random_start(seed, 0);
    ss_mesh *mesh = ss_mesh_solid(SS_ICOSAHEDRON, NULL);
    for (int round = 0; round < rounds && !kit_failures; round++)
        for (int i = 0; i < CONVEX_KINDS * CONVEX_KINDS; i++) {
            ss_shape_kind kind_a = convex_kinds[i % CONVEX_KINDS], kind_b = convex_kinds[i / CONVEX_KINDS];
            if (!is_ours(kind_a, kind_b)) continue;
            placed a, b;
            ss_vec3 at = any_direction(&random);
            put(&a, random_shape(kind_a, mesh, &random), at, any_turn(&random));
            ss_vec3 away = ss_vec3_scale(ss_random_between(&random, 0.0, reach), any_direction(&random));
            put(&b, random_shape(kind_b, mesh, &random), ss_vec3_add(at, away), any_turn(&random));
            story(&a, &b, &random);
            if (kit_failures)
                fprintf(stderr, "  %s and %s, round %d\n", ss_shape_kind_name(kind_a),
                        ss_shape_kind_name(kind_b), round);
            lift(&a);
            lift(&b);
        }
    ss_mesh_destroy(mesh);
}

static void has_the_true_gap(placed *a, placed *b, ss_random *random)
{
    ss_manifold m;
    ss_collide(&a->at, &b->at, 10.0, &m);
    const ss_contact_point *nearest = deepest(&m);
    ENSURE(nearest && is_sound(&m, 10.0));
    // The gap is the separation along the normal, and no direction separates them more.
    double along = oracle_separation(a, b, ss_vec3_load(nearest->normal));
    ENSURE_NEAR(nearest->gap, along, 3e-7); // GJK on two round cores; bodies of size 1
    ENSURE(nearest->gap >= oracle_distance(a, b, random) - 3e-8);
}

TEST(convex_pairs_in_random_poses_have_the_true_gap)
{
    tell_of_pairs(has_the_true_gap, 12, 3.0, 11);
}

TEST(convex_pairs_with_almost_one_centre_have_the_true_gap)
{
    tell_of_pairs(has_the_true_gap, 5, 1e-3, 12);
}

static void does_not_depend_on_order(placed *a, placed *b, ss_random *random)
{
    (void)random;
    ss_manifold m, swapped;
    ss_collide(&a->at, &b->at, 0.3, &m);
    ss_collide(&b->at, &a->at, 0.3, &swapped);
    ENSURE_INT(m.count > 0, swapped.count > 0);
    if (m.count == 0) return;
    const ss_contact_point *one = deepest(&m), *two = deepest(&swapped);
    ENSURE_NEAR(one->gap, two->gap, 3e-7);
    // Two ways out may be equally long; then the normals need not agree.
    double along = oracle_separation(b, a, ss_vec3_load(two->normal));
    ENSURE_NEAR(along, one->gap, 3e-7);
}

TEST(the_order_of_round_bodies_does_not_matter)
{
    tell_of_pairs(does_not_depend_on_order, 60, 2.0, 13);
}

static void rescale(placed *p, double factor)
{
    for (int k = 0; k < 3; k++) {
        p->shape.size[k] *= factor;
        p->at.position[k] *= factor;
    }
}

static void has_no_unit_of_length(placed *a, placed *b, ss_random *random)
{
    (void)random;
    if (a->shape.kind == SS_HULL || b->shape.kind == SS_HULL) return; // their size is in the mesh
    ss_manifold m, scaled;
    ss_collide(&a->at, &b->at, 0.3, &m);
    for (int k = -10; k <= 10; k += 20) {
        double factor = ldexp(1.0, k); // a power of two: not even rounding may differ
        placed small_a = *a, small_b = *b;
        rescale(&small_a, factor);
        rescale(&small_b, factor);
        small_a.at.shape = &small_a.shape;
        small_b.at.shape = &small_b.shape;
        ss_collide(&small_a.at, &small_b.at, 0.3 * factor, &scaled);
        ENSURE_INT(scaled.count, m.count);
        for (int i = 0; i < m.count; i++) {
            ENSURE_NEAR(scaled.points[i].gap, factor * m.points[i].gap, 0.0);
            ENSURE_INT(scaled.points[i].feature, m.points[i].feature);
        }
    }
}

TEST(the_unit_of_length_of_round_bodies_does_not_matter)
{
    tell_of_pairs(has_no_unit_of_length, 60, 2.0, 14);
}

static void turn_world(placed *p, ss_quat turn, ss_vec3 shift)
{
    ss_mat3 r = ss_quat_to_matrix(turn);
    ss_vec3_store(ss_vec3_add(shift, ss_mat3_apply(r, ss_vec3_load(p->at.position))), p->at.position);
    ss_mat3_store(ss_mat3_multiply(r, ss_mat3_load(p->at.rotation)), p->at.rotation);
}

static void moves_with_the_world(placed *a, placed *b, ss_random *random)
{
    ss_manifold m, moved;
    ss_collide(&a->at, &b->at, 0.3, &m);
    ss_quat turn = any_turn(random);
    turn_world(a, turn, vec(10, -20, 30));
    turn_world(b, turn, vec(10, -20, 30));
    ss_collide(&a->at, &b->at, 0.3, &moved);
    ENSURE_INT(m.count > 0, moved.count > 0);
    if (m.count > 0) ENSURE_NEAR(deepest(&m)->gap, deepest(&moved)->gap, 3e-7);
}

TEST(where_in_the_world_round_bodies_are_does_not_matter)
{
    tell_of_pairs(moves_with_the_world, 60, 2.0, 15);
}

/* ---- libccd ----------------------------------------------------------------------------------------- */

#ifdef SS_HAVE_CCD
static void support_for_ccd(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *to)
{
    ss_vec3 p = oracle_support(object, ss_vec3_load(direction->v));
    ccdVec3Set(to, p.x, p.y, p.z);
}

static int ccd_found;

static void agrees_with_ccd(placed *a, placed *b, ss_random *random)
{
    (void)random;
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = support_for_ccd;
    ccd.max_iterations = 300;
    ccd.epa_tolerance = 1e-7;
    ss_manifold m;
    ss_collide(&a->at, &b->at, 10.0, &m);
    ENSURE(m.count > 0);
    double gap = deepest(&m)->gap;
    if (fabs(gap) > 1e-3) ENSURE_INT(ccdGJKIntersect(a, b, &ccd) != 0, gap < 0.0); // its own tolerance
    ccd_real_t depth;
    ccd_vec3_t direction, position;
    if (gap > -1e-3 || ccdGJKPenetration(a, b, &ccd, &depth, &direction, &position) != 0) return;
    // On curved bodies its polytope often ends inside them, at too small a depth: then moving b by it does
    // not separate them, and the claim does not count.
    ss_vec3 n = ss_vec3_load(direction.v);
    if (!(oracle_separation(a, b, n) > -depth - 1e-4)) return;
    ccd_found++;
    ENSURE_NEAR(-gap, depth, 1e-4);
}
#endif

TEST(overlap_of_round_bodies_agrees_with_libccd)
{
#ifdef SS_HAVE_CCD
    ccd_found = 0;
    tell_of_pairs(agrees_with_ccd, 60, 1.5, 16);
    ENSURE(ccd_found > 200);
#else
    SKIP("built without libccd");
#endif
}

/* ---- what stays from step to step ------------------------------------------------------------------- */

TEST(a_rolling_cylinder_keeps_the_names_of_its_contacts)
{
    ss_manifold before = {.count = 0};
    for (int step = 0; step < 300; step++) {
        double angle = 0.01 * step, noise = 1e-9 * sin(step);
        ss_quat turn = ss_quat_multiply(about(vec(1, 0, 0), M_PI / 2 + noise), about(vec(0, 0, 1), angle));
        ss_manifold m = meet(cylinder(0.5, 2.0), vec(0.5 * angle, 0, 0.5), turn, floor_shape, vec(0, 0, 0),
                             upright(), 0.01);
        ENSURE_INT(m.count, 2);
        for (int i = 0; i < 2 && step > 0; i++) ENSURE_INT(m.points[i].feature, before.points[i].feature);
        before = m;
    }
}

TEST_MAIN
