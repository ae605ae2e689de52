/* Boxes and hulls against each other, planes, spheres and capsules. */
#include "collision/bounds.h"
#include "collision/state.h"
#include "kit.h"
#include "polyhedra.h"

#ifdef SS_HAVE_CCD
#include <ccd/ccd.h>
#endif

/* ---- boxes, by hand --------------------------------------------------------------------------------- */

TEST(a_box_on_an_equal_box_touches_at_its_four_corners_at_any_gap)
{
    static const double gaps[] = {-0.01, -1e-12, 0.0, 1e-12, 1e-4, 1e-3, 0.01};
    ss_shape cube = box_shape(1.0, 1.0, 1.0);
    for (int i = 0; i < 7; i++) {
        ss_placed_shape a = placed(&cube, 0, 0, 0, UPRIGHT), b = placed(&cube, 0, 0, 1.0 + gaps[i], UPRIGHT);
        ss_manifold m;
        ss_collide_box_box(&a, &b, 0.02, &m);
        ENSURE_INT(m.count, 4);
        ENSURE(is_sound(&m, 0.02));
        for (int k = 0; k < 4; k++) {
            ENSURE_NEAR(m.points[k].gap, gaps[i], 1e-15); // one rounding of 1 + gap
            ENSURE_NEAR(m.points[k].normal[2], 1.0, 0.0);
            ENSURE_NEAR(fabs(m.points[k].point[0]), 0.5, 2e-9); // the slack of the reference face
            ENSURE_NEAR(fabs(m.points[k].point[1]), 0.5, 2e-9);
            ENSURE_NEAR(m.points[k].point[2], 0.5 + 0.5 * gaps[i], 1e-15);
        }
    }
}

TEST(rounding_does_not_change_which_corners_of_stacked_equal_boxes_touch)
{
    ss_shape cube = box_shape(1.0, 1.0, 1.0);
    ss_random random = ss_random_start(1, 0);
    ss_manifold first;
    for (int i = 0; i < several(1000); i++) {
        ss_vec3 noise = ss_vec3_scale(1e-13, random_vector(&random));
        ss_placed_shape a = placed(&cube, 0, 0, 0, UPRIGHT);
        ss_placed_shape b =
            placed(&cube, noise.x, noise.y, 1.0 + noise.z, turned(1e-13, noise.y, noise.x, noise.z));
        a.number = 3, b.number = 4;
        ss_manifold m;
        ss_collide_box_box(&a, &b, 0.01, &m);
        ENSURE_INT(m.count, 4);
        if (i == 0) first = m;
        for (int k = 0; k < 4; k++) ENSURE_INT(m.points[k].feature, first.points[k].feature);
    }
}

TEST(a_box_turned_by_45_degrees_on_another_has_eight_contacts)
{
    ss_shape cube = box_shape(1.0, 1.0, 1.0);
    ss_placed_shape a = placed(&cube, 0, 0, 0, UPRIGHT),
                    b = placed(&cube, 0, 0, 0.999, turned(0.7853981634, 0, 0, 1));
    ss_manifold m;
    ss_collide_box_box(&a, &b, 0.01, &m);
    ENSURE_INT(m.count, 8);
    ENSURE(is_sound(&m, 0.01));
    for (int k = 0; k < 8; k++) {
        ENSURE_NEAR(m.points[k].gap, -1e-3, 1e-15);
        double x = fabs(m.points[k].point[0]), y = fabs(m.points[k].point[1]);
        ENSURE_NEAR(fmax(x, y), 0.5, 1e-8); // corners of a regular octagon
        ENSURE_NEAR(fmin(x, y), sqrt(0.5) - 0.5, 1e-8);
    }
}

TEST(crossed_edges_touch_where_they_cross)
{
    // Each box stands on an edge; the edges cross at right angles, 1 mm apart.
    ss_shape cube = box_shape(1.0, 1.0, 1.0);
    double top = sqrt(0.5);
    ss_placed_shape a = placed(&cube, 0, 0, 0, turned(0.25 * M_PI, 1, 0, 0));
    ss_placed_shape b = placed(&cube, 0.1, 0.2, 2 * top + 1e-3, turned(0.25 * M_PI, 0, 1, 0));
    ss_manifold m;
    ss_collide_box_box(&a, &b, 0.01, &m);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, 1e-3, 1e-14); // some roundings of numbers around 1
    ENSURE_NEAR(m.points[0].normal[2], 1.0, 1e-14);
    ENSURE_NEAR(m.points[0].point[0], 0.1, 1e-14);
    ENSURE_NEAR(m.points[0].point[1], 0.0, 1e-14);
    b.position[2] = 2 * top - 1e-3;
    ss_collide_box_box(&a, &b, 0.01, &m);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, -1e-3, 1e-14);
}

TEST(corner_to_corner_the_gap_is_the_distance_of_the_corners)
{
    ss_shape cube = box_shape(1.0, 1.0, 1.0);
    ss_placed_shape a = placed(&cube, 0, 0, 0, UPRIGHT), b = placed(&cube, 1.003, 1.004, 1.012, UPRIGHT);
    ss_manifold m;
    ss_collide_box_box(&a, &b, 0.02, &m);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, 0.013, 1e-14); // 3, 4, 12 mm
    ENSURE_NEAR(m.points[0].normal[0], 3.0 / 13.0, 1e-12);
    ENSURE_NEAR(m.points[0].normal[2], 12.0 / 13.0, 1e-12);
    ss_collide_box_box(&a, &b, 0.0125, &m); // no face is farther than 12 mm, but the corner is
    ENSURE_INT(m.count, 0);
}

TEST(parallel_edges_side_by_side_touch_at_both_ends)
{
    ss_shape cube = box_shape(1.0, 1.0, 1.0);
    ss_placed_shape a = placed(&cube, 0, 0, 0, UPRIGHT), b = placed(&cube, 0.25, 1.003, 1.004, UPRIGHT);
    ss_manifold m;
    ss_collide_box_box(&a, &b, 0.02, &m);
    ENSURE(is_sound(&m, 0.02));
    ENSURE_INT(m.count, 2);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 2; k++) {
        ENSURE_NEAR(m.points[k].gap, 0.005, 1e-14); // 3, 4 mm
        ENSURE_NEAR(m.points[k].normal[1], 0.6, 1e-12);
        low = fmin(low, m.points[k].point[0]);
        high = fmax(high, m.points[k].point[0]);
    }
    ENSURE_NEAR(low, -0.25, 1e-14);
    ENSURE_NEAR(high, 0.5, 1e-14);
}

TEST(edges_crossed_at_a_small_angle_touch_only_where_they_cross)
{
    // Parallel edges as above, 0.1 mm apart, then turned by 8 mrad about the normal: 4 mm apart
    // at their ends.
    ss_shape cube = box_shape(1.0, 1.0, 1.0);
    ss_placed_shape a = placed(&cube, 0, 0, 0, UPRIGHT),
                    b = placed(&cube, 0, 0, 0, turned(8e-3, 0, 0.6, 0.8));
    ss_vec3 own = ss_placed_turn(&b, (ss_vec3){0.0, -0.5, -0.5}); // middle of b's edge
    ss_vec3_store(ss_vec3_subtract((ss_vec3){0.0, 0.5 + 0.6e-4, 0.5 + 0.8e-4}, own), b.position);
    ss_manifold m;
    ss_collide_box_box(&a, &b, 0.01, &m);
    ENSURE_INT(m.count, 1);
    ENSURE_NEAR(m.points[0].gap, 1e-4, 1e-14); // roundings of numbers around 1
    ENSURE_NEAR(m.points[0].point[0], 0.0, 1e-12);
}

TEST(a_plank_hanging_over_a_table_edge_rests_on_more_than_one_point)
{
    // Tilted by a hundredth about both horizontal axes: its lowest corner is beside the table.
    ss_shape table = box_shape(1.0, 1.0, 1.0), plank = box_shape(4.0, 0.4, 0.1);
    ss_quat tilt = ss_quat_multiply(turned(0.01, 0, 1, 0), turned(0.005, 1, 0, 0));
    ss_placed_shape a = placed(&table, 0, 0, 0, UPRIGHT), b = placed(&plank, 0.0, 0.4, 0.555, tilt);
    double gap = true_gap(&a, &b);
    ss_manifold m, n;
    ss_collide_box_box(&a, &b, 0.03, &m);
    ss_collide_hull_hull(&a, &b, 0.03, &n);
    ENSURE(is_sound(&m, 0.03));
    ENSURE(m.count >= 3);
    ENSURE_NEAR(deepest_point(&m)->gap, gap, 1e-14);
    ENSURE_INT(n.count, m.count); // boxes are hulls
    for (int k = 0; k < m.count; k++) {
        ENSURE_INT(n.points[k].feature, m.points[k].feature);
        ENSURE_NEAR(n.points[k].gap, m.points[k].gap, 1e-14);
    }
}

TEST(a_box_deep_inside_another_is_pushed_out_the_shortest_way)
{
    ss_shape big = box_shape(4.0, 4.0, 4.0), small = box_shape(0.2, 0.4, 0.6);
    ss_placed_shape a = placed(&big, 0, 0, 0, UPRIGHT), b = placed(&small, 0.3, 1.2, -0.5, UPRIGHT);
    ss_manifold m;
    ss_collide_box_box(&a, &b, 0.01, &m);
    ENSURE(is_sound(&m, 0.01));
    ENSURE_INT(m.count, 4);
    ENSURE_NEAR(m.points[0].normal[1], 1.0, 0.0);
    ENSURE_NEAR(deepest_point(&m)->gap, -(2.0 - 1.2 + 0.2), 1e-14);
    // The same place: one of the shortest ways out, and no NaN.
    b = a;
    ss_collide_box_box(&a, &b, 0.01, &m);
    ENSURE(is_sound(&m, 0.01));
    ENSURE(m.count >= 4);
    ENSURE_NEAR(deepest_point(&m)->gap, -4.0, 1e-14);
}

TEST(thin_plates_lie_on_each_other)
{
    ss_shape plate = box_shape(1.0, 1.0, 1e-3);
    ss_placed_shape a = placed(&plate, 0, 0, 0, UPRIGHT),
                    b = placed(&plate, 0.3, 0.1, 0.9e-3, turned(0.3, 0, 0, 1));
    ss_manifold m;
    ss_collide_box_box(&a, &b, 1e-4, &m);
    ENSURE(is_sound(&m, 1e-4));
    ENSURE(m.count >= 4);
    for (int k = 0; k < m.count; k++) {
        ENSURE_NEAR(m.points[k].gap, -1e-4, 1e-15);
        ENSURE_NEAR(fabs(m.points[k].normal[2]), 1.0, 1e-15);
    }
}

/* ---- any pose --------------------------------------------------------------------------------------- */

/* The deepest contact has the true gap. A penetration may be reported up to 1 % deeper besides, where
 * contacts on a face are added to that of edges with a normal 8 degrees from the face's. Of the contacts this
 * deep, one has the normal of least distance; that of a face is taken where it makes no more difference than
 * 1e-6. Contacts lie on or between both bodies, at the features they are named by. */
static int check_pose(ss_collide_function *function, const ss_placed_shape *a, const ss_placed_shape *b,
                      double margin)
{
    ss_manifold m;
    double gap = true_gap(a, b), tolerance = 2e-9 * kit_tolerance_scale();
    function(a, b, margin, &m);
    if (!is_sound(&m, margin)) return KIT_FAIL("unsound manifold"), -1;
    if (gap > margin + tolerance && m.count > 0) return KIT_FAIL("contact at %g beyond the margin", gap), -1;
    if (gap > margin - tolerance) return 0;
    if (m.count == 0) return KIT_FAIL("no contact at %g", gap), -1;
    double deepest = deepest_point(&m)->gap, deeper = gap < 0.0 ? 0.0102 * -gap + 3e-6 : 0.0;
    if (deepest > gap + tolerance || deepest < gap - tolerance - deeper)
        return KIT_FAIL("gap %.12g, true %.12g", deepest, gap), -1;
    double along = -INFINITY;
    for (int i = 0; i < m.count; i++)
        if (m.points[i].gap <= gap + tolerance) along = fmax(along, gap_along(a, b, m.points[i].normal));
    if (along < gap - 2e-6) return KIT_FAIL("best normal of %g, true gap %g", along, gap), -1;
    for (int i = 0; i < m.count; i++) {
        double reach = 0.5 * fabs(m.points[i].gap) + 1e-8;
        if (outside_by(a, m.points[i].point) > reach || outside_by(b, m.points[i].point) > reach)
            return KIT_FAIL("contact %d of gap %g is %g and %g away from the bodies", i, m.points[i].gap,
                            outside_by(a, m.points[i].point), outside_by(b, m.points[i].point)),
                   -1;
        double allowed = 1e-8 + 0.0051 * fabs(m.points[i].gap); // half the gap / 0.99: see SS_ALMOST_ALONG
        if (name_error(a, b, &m.points[i]) > allowed)
            return KIT_FAIL("contact %d of gap %g is %g away from what it is named by (%08x)", i,
                            m.points[i].gap, name_error(a, b, &m.points[i]), m.points[i].feature),
                   -1;
    }
    return m.count;
}

TEST(boxes_in_random_poses_have_the_true_gap)
{
    ss_random random = ss_random_start(2, 0);
    int touching = 0, total = several(4000);
    for (int i = 0; i < total; i++) {
        double s[6];
        for (int k = 0; k < 6; k++) s[k] = ss_random_between(&random, 0.2, 1.0);
        ss_shape one = box_shape(s[0], s[1], s[2]), other = box_shape(s[3], s[4], s[5]);
        ss_placed_shape a = placed(&one, 0.1, 0.2, 0.3, random_turn(&random)),
                        b = placed(&other, 0, 0, 0, random_turn(&random));
        bring_to_gap(&a, &b, ss_random_between(&random, -0.2, 0.1), &random);
        int count = check_pose(ss_collide_box_box, &a, &b, 0.1);
        if (count < 0) fprintf(stderr, "pose %d\n", i);
        ENSURE(count >= 0);
        touching += count > 0;
    }
    ENSURE(touching > total / 2);
}

TEST(boxes_with_almost_parallel_axes_have_the_true_gap)
{
    ss_random random = ss_random_start(3, 0);
    int total = several(4000), touching = 0;
    for (int i = 0; i < total; i++) {
        double angle = pow(10.0, ss_random_between(&random, -14.0, -0.5));
        double s[6];
        for (int k = 0; k < 6; k++) s[k] = ss_random_below(&random, 2) ? 1.0 : 0.5;
        ss_shape one = box_shape(s[0], s[1], s[2]), other = box_shape(s[3], s[4], s[5]);
        ss_quat base = random_turn(&random);
        ss_vec3 v = random_vector(&random);
        ss_quat relative =
            ss_random_below(&random, 2) ? turned(angle, v.x, v.y, v.z) : turned(angle, 0, 0, 1);
        ss_placed_shape a = placed(&one, 0, 0, 0, base);
        ss_placed_shape b = placed(&other, 0, 0, 0, ss_quat_multiply(base, relative));
        bring_to_gap(&a, &b, ss_random_between(&random, -0.05, 0.05), &random);
        int count = check_pose(ss_collide_box_box, &a, &b, 0.05);
        if (count < 0) fprintf(stderr, "pose %d angle %g\n", i, angle);
        ENSURE(count >= 0);
        touching += count > 0;
    }
    ENSURE(touching > total / 2);
}

TEST(hulls_in_random_poses_have_the_true_gap)
{
    ss_random random = ss_random_start(4, 0);
    int touching = 0, total = 0;
    for (int pair = 0; pair < several(60); pair++) {
        test_hull one, other;
        ENSURE(test_hull_random(&random, 4 + ss_random_below(&random, 24), 1.0, &one));
        ENSURE(test_hull_random(&random, 4 + ss_random_below(&random, 24), 1.0, &other));
        for (int i = 0; i < 25; i++, total++) {
            ss_placed_shape a = placed(&one.shape, 0.1, 0.2, 0.3, random_turn(&random));
            ss_placed_shape b = placed(&other.shape, 0, 0, 0, random_turn(&random));
            a.geometry = one.geometry, b.geometry = other.geometry;
            bring_to_gap(&a, &b, ss_random_between(&random, -0.2, 0.1), &random);
            int count = check_pose(ss_collide_hull_hull, &a, &b, 0.1);
            if (count < 0) fprintf(stderr, "pair %d pose %d\n", pair, i);
            ENSURE(count >= 0);
            touching += count > 0;
        }
        test_hull_free(&one);
        test_hull_free(&other);
    }
    ENSURE(touching > total / 2);
}

TEST(slivers_in_random_poses_have_the_true_gap)
{
    ss_random random = ss_random_start(18, 0);
    for (int i = 0; i < several(600); i++) {
        test_hull one, other;
        ENSURE(test_hull_thin(&random, 5 + i % 11, 1.0, 0.01, &one));
        ENSURE(test_hull_thin(&random, 5 + i % 13, 1.0, 0.01, &other));
        for (int k = 0; k < 3; k++) {
            ss_placed_shape a = placed(&one.shape, 0, 0, 0, random_turn(&random));
            ss_placed_shape b = placed(&other.shape, 0, 0, 0, random_turn(&random));
            a.geometry = one.geometry, b.geometry = other.geometry;
            bring_to_gap(&a, &b, ss_random_between(&random, -0.02, 0.01), &random);
            ENSURE(check_pose(ss_collide_hull_hull, &a, &b, 0.02) >= 0);
        }
        test_hull_free(&one);
        test_hull_free(&other);
    }
}

TEST(solids_with_parallel_faces_have_the_true_gap)
{
    ss_random random = ss_random_start(5, 0);
    for (int kind = 0; kind < 25; kind++) {
        test_hull one, other;
        ENSURE(test_hull_of_mesh(ss_mesh_solid((ss_solid)(kind % 5), NULL), &one));
        ENSURE(test_hull_of_mesh(kind / 5 == 4 ? ss_mesh_cylinder(40, 0.5, 1.0, NULL)
                                               : ss_mesh_solid((ss_solid)(kind / 5), NULL),
                                 &other));
        for (int i = 0; i < 20; i++) {
            double angle = i % 3 ? pow(10.0, ss_random_between(&random, -14.0, -1.0)) : 0.0;
            ss_vec3 v = random_vector(&random);
            ss_placed_shape a = placed(&one.shape, 0, 0, 0, UPRIGHT);
            ss_placed_shape b = placed(&other.shape, 0, 0, 0, turned(angle, v.x, v.y, v.z));
            a.geometry = one.geometry, b.geometry = other.geometry;
            bring_to_gap(&a, &b, ss_random_between(&random, -0.1, 0.05), &random);
            int count = check_pose(ss_collide_hull_hull, &a, &b, 0.05);
            if (count < 0) fprintf(stderr, "kind %d pose %d angle %g\n", kind, i, angle);
            ENSURE(count >= 0);
        }
        test_hull_free(&one);
        test_hull_free(&other);
    }
}

TEST(hulls_and_boxes_in_random_poses_have_the_true_gap)
{
    ss_random random = ss_random_start(6, 0);
    test_hull hull;
    ENSURE(test_hull_random(&random, 20, 1.0, &hull));
    ss_shape box = box_shape(0.7, 0.9, 0.4);
    for (int i = 0; i < several(500); i++) {
        ss_placed_shape a = placed(&box, 0.1, 0.2, 0.3, random_turn(&random));
        ss_placed_shape b = placed(&hull.shape, 0, 0, 0, random_turn(&random));
        b.geometry = hull.geometry;
        bring_to_gap(&a, &b, ss_random_between(&random, -0.2, 0.1), &random);
        ENSURE(check_pose(ss_collide_box_hull, &a, &b, 0.1) >= 0);
    }
    test_hull_free(&hull);
}

TEST(bodies_that_hardly_touch_have_the_normal_of_what_touches)
{
    ss_random random = ss_random_start(7, 0);
    for (int i = 0; i < several(600); i++) {
        test_hull one, other;
        ENSURE(test_hull_random(&random, 6 + i % 10, 1.0, &one));
        ENSURE(test_hull_random(&random, 6 + i % 7, 1.0, &other));
        ss_placed_shape a = placed(&one.shape, 0.1, 0.2, 0.3, random_turn(&random));
        ss_placed_shape b = placed(&other.shape, 0, 0, 0, random_turn(&random));
        a.geometry = one.geometry, b.geometry = other.geometry;
        bring_to_gap(&a, &b, 0.0, &random);
        ss_manifold m;
        ss_collide_hull_hull(&a, &b, 1e-3, &m);
        ENSURE(m.count > 0);
        // To within a hair of contact, from both sides.
        double target = (i % 2 ? 1.0 : -1.0) * pow(10.0, -3.0 - i % 13);
        const ss_contact_point *p = deepest_point(&m);
        for (int k = 0; k < 3; k++) b.position[k] += (target - p->gap) * p->normal[k];
        ENSURE(check_pose(ss_collide_hull_hull, &a, &b, 1e-2) > 0);
        test_hull_free(&one);
        test_hull_free(&other);
    }
}

TEST(thin_plates_and_needles_have_the_true_gap)
{
    ss_random random = ss_random_start(8, 0);
    for (int i = 0; i < several(2000); i++) {
        double s[6];
        for (int k = 0; k < 6; k++) s[k] = pow(10.0, ss_random_between(&random, -3.0, 0.0));
        s[i % 3] = s[3 + i % 2] = 1.0;
        ss_shape one = box_shape(s[0], s[1], s[2]), other = box_shape(s[3], s[4], s[5]);
        ss_quat turn = i % 4 ? random_turn(&random) : turned(1e-3, 1, 2, 3);
        ss_placed_shape a = placed(&one, 0, 0, 0, UPRIGHT), b = placed(&other, 0, 0, 0, turn);
        bring_to_gap(&a, &b, ss_random_between(&random, -1e-3, 1e-3), &random);
        ENSURE(check_pose(ss_collide_box_box, &a, &b, 1e-3) >= 0);
    }
}

#ifdef SS_HAVE_CCD
static void ccd_support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *to)
{
    const solid *s = object;
    ss_vec3 d = ss_vec3_load(direction->v), best = s->vertex[0];
    for (int v = 1; v < s->vertex_count; v++)
        if (ss_vec3_dot(d, s->vertex[v]) > ss_vec3_dot(d, best)) best = s->vertex[v];
    ccdVec3Set(to, best.x, best.y, best.z);
}

/* libccd's depth of penetration; 0 where it finds none or fails. */
static double ccd_depth(const ss_placed_shape *pa, const ss_placed_shape *pb)
{
    solid a, b;
    solid_place(pa, &a);
    solid_place(pb, &b);
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = ccd_support;
    ccd.max_iterations = 200;
    ccd.epa_tolerance = 1e-8;
    ccd_real_t depth = 0.0;
    ccd_vec3_t direction, position;
    bool found = ccdGJKPenetration(&a, &b, &ccd, &depth, &direction, &position) == 0;
    solid_free(&a);
    solid_free(&b);
    return found && isfinite(depth) ? depth : 0.0;
}
#endif

TEST(depth_of_penetration_agrees_with_libccd)
{
#ifdef SS_HAVE_CCD
    ss_random random = ss_random_start(9, 0);
    int compared = 0, agreed = 0, total = several(600);
    for (int i = 0; i < total; i++) {
        test_hull one, other;
        ENSURE(test_hull_random(&random, 8 + i % 20, 1.0, &one));
        ENSURE(test_hull_random(&random, 8 + i % 13, 1.0, &other));
        ss_placed_shape a = placed(&one.shape, 0, 0, 0, random_turn(&random));
        ss_placed_shape b = placed(&other.shape, 0, 0, 0, random_turn(&random));
        a.geometry = one.geometry, b.geometry = other.geometry;
        bring_to_gap(&a, &b, ss_random_between(&random, -0.3, -0.01), &random);
        ss_manifold m;
        ss_collide_hull_hull(&a, &b, 0.0, &m);
        ENSURE(m.count > 0);
        double depth = ccd_depth(&a, &b), ours = -deepest_point(&m)->gap;
        test_hull_free(&one);
        test_hull_free(&other);
        if (depth == 0.0) continue;
        compared++;
        // An expanding polytope may stop too early and then says too much; never too little. Ours
        // adds 1 % at most.
        ENSURE(ours <= 1.011 * depth + 1e-6);
        agreed += ours >= 0.999999 * depth;
    }
    ENSURE(compared > total * 9 / 10);
    ENSURE(agreed > compared * 9 / 10);
#else
    SKIP("built without libccd");
#endif
}

/* ---- sorted out in single precision ----------------------------------------------------------------- */

TEST(faces_sorted_out_in_single_precision_are_those_that_do_not_matter)
{
    static const int corners[] = {4, 5, 8, 20, 34, 35, 60, 100}; // up to 196 faces: four blocks
    ss_random random = ss_random_start(61, 0);
    for (int i = 0; i < several(400); i++) {
        test_hull one = {.geometry = NULL};
        ss_box_hull box;
        bool is_box = i % 9 == 8;
        double size = pow(10.0, ss_random_between(&random, -6.0, 6.0));
        if (!is_box) ENSURE(test_hull_random(&random, corners[i % 8], size, &one));
        const ss_hull *hull =
            is_box ? ss_box_hull_fill(&box, (double[3]){size, 0.1 * size, 2.0 * size}) : one.geometry->hull;
        for (int k = 0; k < 20; k++) {
            ss_vec3 x = ss_vec3_scale(k % 2 ? size : 100.0 * size, random_vector(&random));
            ss_vec3 direction = ss_vec3_normalise(x, NULL);
            double limit = ss_random_between(&random, -size, size), largest = -INFINITY, most = -INFINITY;
            int along = -1, left_over = 0, farthest = ss_hull_farthest_face(hull, x);
            for (int f = 0; f < hull->face_count; f++) {
                double height = ss_vec3_dot(hull->face[f].normal, x) - hull->face[f].offset;
                double cosine = ss_vec3_dot(hull->face[f].normal, direction);
                uint64_t found = ss_hull_faces_below(hull, f / SS_HULL_BLOCK * SS_HULL_BLOCK, x, limit);
                bool is_found = found >> f % SS_HULL_BLOCK & 1;
                ENSURE(is_found || height < limit);
                // with single precision of what is added up, not more
                left_over += is_found && height < limit - 1e-5 * (size + ss_vec3_norm(x));
                if (height > largest) largest = height;
                if (cosine > most) {
                    most = cosine;
                    along = f;
                }
            }
            ENSURE_INT(left_over, 0);
            ENSURE(farthest >= 0 && farthest < hull->face_count);
            double height = ss_vec3_dot(hull->face[farthest].normal, x) - hull->face[farthest].offset;
            ENSURE(height >= largest - 1e-6 * (size + ss_vec3_norm(x)));
            ENSURE_INT(ss_hull_face_along(hull, direction, most - 1e-3), along);
            ENSURE_INT(ss_hull_face_along(hull, direction, most + 1e-12), -1);
        }
        if (!is_box) test_hull_free(&one);
    }
}

/* ---- what approaches, and what does not ------------------------------------------------------------- */

/* A shape after a share of the step: turned about the centre of its hull, which has moved along. */
static ss_placed_shape after(const ss_placed_shape *from, ss_vec3 way, ss_vec3 turn, double share)
{
    ss_placed_shape to = *from;
    ss_vec3 centre = from->geometry->hull->centre, at = ss_placed_to_world(from, centre);
    ss_mat3 rotation = ss_quat_to_matrix(ss_quat_exponential(ss_vec3_scale(share, turn)));
    rotation = ss_mat3_multiply(rotation, ss_mat3_load(from->rotation));
    ss_mat3_store(rotation, to.rotation);
    at = ss_vec3_add_scaled(at, share, way);
    ss_vec3_store(ss_vec3_subtract(at, ss_mat3_apply(rotation, centre)), to.position);
    return to;
}

/* The least gap on the way, as far as a few looks see it. */
static double least_gap(const ss_placed_shape *a, const ss_placed_shape *b, const ss_approach *approach)
{
    double least = INFINITY;
    for (int k = 0; k <= 4; k++) {
        ss_placed_shape later_a = after(a, (ss_vec3){0.0, 0.0, 0.0}, approach->turn[0], 0.25 * k);
        ss_placed_shape later_b = after(b, approach->way, approach->turn[1], 0.25 * k);
        least = fmin(least, true_gap(&later_a, &later_b));
    }
    return least;
}

static ss_approach random_approach(const ss_placed_shape *a, const ss_placed_shape *b, ss_random *random)
{
    ss_approach approach = {.rest = 0.01, .way = ss_vec3_scale(0.1, random_vector(random))};
    for (int k = 0; k < 2; k++) {
        approach.turn[k] = ss_vec3_scale(0.1, random_vector(random));
        approach.turning += ss_vec3_norm(approach.turn[k]) * (k ? b : a)->geometry->hull->radius;
    }
    return approach;
}

TEST(hulls_that_part_along_an_axis_do_not_meet_within_the_step)
{
    ss_random random = ss_random_start(62, 0);
    int parted = 0, kept_apart = 0, only_by_turning = 0, total = several(800);
    for (int i = 0; i < total; i++) {
        test_hull one, other;
        ENSURE(test_hull_random(&random, 4 + ss_random_below(&random, 16), 1.0, &one));
        ENSURE(test_hull_random(&random, 4 + ss_random_below(&random, 16), 1.0, &other));
        ss_proxy a = {.placed = placed(&one.shape, 0.1, 0.2, 0.3, random_turn(&random)), .radius = 1.0};
        ss_proxy b = {.placed = placed(&other.shape, 0, 0, 0, random_turn(&random)), .radius = 1.0};
        a.placed.geometry = one.geometry, b.placed.geometry = other.geometry;
        bring_to_gap(&a.placed, &b.placed, ss_random_between(&random, 0.0, 0.3), &random);

        // Found to be apart: they are, all the way.
        ss_approach approach = random_approach(&a.placed, &b.placed, &random);
        ss_manifold m;
        ss_vec3 axis;
        double margin = approach.rest + approach.turning + ss_vec3_norm(approach.way);
        double separation = ss_collide_hulls_or_part(&a.placed, &b.placed, margin, approach, &m, &axis);
        if (separation > 0.0) {
            parted++;
            ENSURE_INT(m.count, 0);
            ENSURE_NEAR(gap_along(&a.placed, &b.placed, (double[3]){axis.x, axis.y, axis.z}), separation,
                        1e-12);
            ENSURE(separation > ss_approach_along(&approach, axis));
            ENSURE(least_gap(&a.placed, &b.placed, &approach) > approach.rest - 1e-12);
        } else {
            ENSURE(true_gap(&a.placed, &b.placed) <= margin + 1e-12);
        }

        // The same with an axis that is kept, here that of the gap, after another step.
        ss_collide_hull_hull(&a.placed, &b.placed, 10.0, &m);
        ss_kept_manifold kept, next;
        ss_kept_part(&a, &b, 0.0, ss_vec3_load(deepest_point(&m)->normal), &kept);
        approach = random_approach(&a.placed, &b.placed, &random);
        if (ss_kept_are_apart(&kept, &a, &b, &approach, &next)) {
            kept_apart++;
            ss_vec3 own = ss_vec3_load(next.normal);
            only_by_turning +=
                next.margin <
                ss_approach_along(&approach, ss_placed_turn(next.base ? &b.placed : &a.placed, own));
            ENSURE(least_gap(&a.placed, &b.placed, &approach) > approach.rest - 1e-12);
        }
        test_hull_free(&one);
        test_hull_free(&other);
    }
    ENSURE(parted > total / 20 && parted < total - total / 20);
    ENSURE(kept_apart > total / 20 && kept_apart < total - total / 20);
    ENSURE(only_by_turning > 0);
}

/* ---- boxes around hulls ----------------------------------------------------------------------------- */

TEST(the_box_around_a_turned_hull_holds_all_corners_and_not_much_else)
{
    ss_random random = ss_random_start(63, 0);
    for (int i = 0; i < several(400); i++) {
        double size = pow(10.0, ss_random_between(&random, -4.0, 4.0)); // any unit
        test_hull hull;
        ENSURE(test_hull_random(&random, 4 + ss_random_below(&random, 40), size, &hull));
        ss_placed_shape at = placed(&hull.shape, 0.1, 0.2, 0.3, random_turn(&random));
        at.geometry = hull.geometry;
        ss_box box = ss_placed_box(&at);
        ss_vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
        const ss_hull *of = at.geometry->hull;
        for (int v = 0; v < of->vertex_count; v++) {
            ss_vec3 x = ss_placed_to_world(&at, of->vertex[v]);
            low = (ss_vec3){fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z)};
            high = (ss_vec3){fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z)};
        }
        // single precision, and as much again that is added for it: 1e-6 of the size on each side
        ss_box corners = {low, high};
        ENSURE(ss_box_holds(&box, &corners));
        ENSURE(ss_vec3_norm(ss_vec3_subtract(low, box.low)) < 4e-6 * of->extent);
        ENSURE(ss_vec3_norm(ss_vec3_subtract(box.high, high)) < 4e-6 * of->extent);
        test_hull_free(&hull);
    }
}

/* ---- planes, spheres, capsules ---------------------------------------------------------------------- */

TEST(a_box_on_a_plane_rests_on_four_corners)
{
    ss_shape plane = {.kind = SS_PLANE}, box = box_shape(1.0, 2.0, 3.0);
    ss_placed_shape a = placed(&plane, 5, 6, 1, turned(0.3, 1, 2, 3));
    ss_vec3 up = ss_placed_axis(&a, 2), at = ss_vec3_add_scaled(ss_placed_position(&a), 1.499, up);
    ss_placed_shape b = placed(&box, at.x, at.y, at.z, turned(0.3, 1, 2, 3));
    ss_manifold m;
    ss_collide_plane_box(&a, &b, 0.01, &m);
    ENSURE_INT(m.count, 4);
    ENSURE(is_sound(&m, 0.01));
    for (int k = 0; k < 4; k++) {
        ENSURE_NEAR(m.points[k].gap, -1e-3, 1e-14);
        ENSURE_NEAR(ss_vec3_dot(ss_vec3_load(m.points[k].normal), up), 1.0, 1e-14);
        // halfway between the corner, 1 mm below, and the plane
        ss_vec3 over = ss_vec3_subtract(ss_vec3_load(m.points[k].point), ss_placed_position(&a));
        ENSURE_NEAR(ss_vec3_dot(over, up), -0.5e-3, 1e-14);
    }
}

TEST(a_hull_with_many_corners_in_a_plane_keeps_the_deepest_and_the_outermost)
{
    ss_random random = ss_random_start(14, 0);
    test_hull hull;
    ENSURE(test_hull_random(&random, 300, 1.0, &hull));
    ss_shape plane = {.kind = SS_PLANE};
    ss_placed_shape a = placed(&plane, 0, 0, 0, UPRIGHT), b = placed(&hull.shape, 0, 0, 0, UPRIGHT);
    b.geometry = hull.geometry;
    ss_manifold m;
    ss_collide_plane_hull(&a, &b, 0.01, &m);
    ENSURE(m.count > 16 && is_sound(&m, 0.01));
    double lowest = 0.0, low_x = 0.0, high_x = 0.0, seen_low = 0.0, seen_high = 0.0;
    for (int v = 0; v < hull.geometry->hull->vertex_count; v++) {
        ss_vec3 x = hull.geometry->hull->vertex[v];
        lowest = fmin(lowest, x.z);
        if (x.z <= 0.01) low_x = fmin(low_x, x.x), high_x = fmax(high_x, x.x);
    }
    for (int k = 0; k < m.count; k++) {
        seen_low = fmin(seen_low, m.points[k].point[0]);
        seen_high = fmax(seen_high, m.points[k].point[0]);
    }
    ENSURE_NEAR(deepest_point(&m)->gap, lowest, 1e-15);
    ENSURE_NEAR(seen_low, low_x, 0.01 * (high_x - low_x)); // 31 directions: 1 - cos(pi / 31) = 0.005
    ENSURE_NEAR(seen_high, high_x, 0.01 * (high_x - low_x));
    test_hull_free(&hull);
}

/* Random poses of a round shape and a polyhedron. Those about as deep as the radius, where the core
 * just touches, too. */
static void check_round(const ss_shape *round, ss_collide_function *function, const ss_shape *shape,
                        const ss_geometry *geometry, bool round_first)
{
    ss_random random = ss_random_start(15, 0);
    for (int i = 0; i < several(600); i++) {
        ss_placed_shape poly = placed(shape, 0.1, 0.2, 0.3, random_turn(&random));
        ss_vec3 at = ss_vec3_scale(i % 3 ? 0.5 : 0.2, random_vector(&random));
        ss_placed_shape other = placed(round, at.x, at.y, at.z, random_turn(&random));
        poly.geometry = geometry;
        int count =
            round_first ? check_pose(function, &other, &poly, 0.1) : check_pose(function, &poly, &other, 0.1);
        ENSURE(count >= 0);
    }
}

TEST(spheres_and_capsules_have_the_true_gap_from_boxes_and_hulls)
{
    ss_random random = ss_random_start(16, 0);
    test_hull hull;
    ENSURE(test_hull_random(&random, 20, 0.6, &hull));
    ss_shape box = box_shape(0.5, 0.7, 0.9), sphere = {.kind = SS_SPHERE, .size = {0.3}};
    ss_shape capsule = {.kind = SS_CAPSULE, .size = {0.2, 0.6}},
             thin = {.kind = SS_CAPSULE, .size = {1e-3, 1.0}};
    check_round(&sphere, ss_collide_sphere_box, &box, NULL, true);
    check_round(&sphere, ss_collide_sphere_hull, &hull.shape, hull.geometry, true);
    check_round(&capsule, ss_collide_box_capsule, &box, NULL, false);
    check_round(&capsule, ss_collide_capsule_hull, &hull.shape, hull.geometry, true);
    check_round(&thin, ss_collide_capsule_hull, &hull.shape, hull.geometry, true);
    test_hull_free(&hull);
}

TEST(a_capsule_lying_on_a_box_touches_at_both_ends_of_what_is_on_it)
{
    ss_shape box = box_shape(1.0, 1.0, 1.0), capsule = {.kind = SS_CAPSULE, .size = {0.1, 1.0}};
    ss_placed_shape a = placed(&box, 0, 0, 0, UPRIGHT);
    ss_placed_shape b = placed(&capsule, 0.3, 0.0, 0.599, turned(0.5 * M_PI, 0, 1, 0));
    ss_manifold m;
    ss_collide_box_capsule(&a, &b, 0.01, &m);
    ENSURE(is_sound(&m, 0.01));
    ENSURE_INT(m.count, 2);
    double low = fmin(m.points[0].point[0], m.points[1].point[0]);
    double high = fmax(m.points[0].point[0], m.points[1].point[0]);
    ENSURE_NEAR(low, -0.2, 1e-9);
    ENSURE_NEAR(high, 0.5, 2e-9); // the slack of the reference face
    for (int k = 0; k < 2; k++) {
        ENSURE_NEAR(m.points[k].gap, -1e-3, 1e-15);
        ENSURE_NEAR(m.points[k].point[2], 0.4995, 1e-15);
        ENSURE_NEAR(m.points[k].normal[2], 1.0, 1e-15);
    }
}

TEST_MAIN
