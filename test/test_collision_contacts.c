/* Contacts of polyhedra do not depend on what they must not depend on, and fewer of them
 * still hold a body. */
#include "kit.h"
#include "polyhedra.h"

#include "collision/reduce.h"

/* ---- what must not matter --------------------------------------------------------------------------- */

typedef struct random_pair {
    ss_shape box[2];
    test_hull hull[2];
    ss_placed_shape a, b;
    ss_collide_function *function;
} random_pair;

static bool random_pair_make(ss_random *random, int i, random_pair *pair)
{
    for (int k = 0; k < 2; k++) {
        double s[3];
        for (int j = 0; j < 3; j++) s[j] = ss_random_between(random, 0.3, 1.0);
        pair->box[k] = box_shape(s[0], s[1], s[2]);
        if (!test_hull_random(random, 12, 0.6, &pair->hull[k])) return false;
    }
    bool boxes = i % 2;
    pair->function = boxes ? ss_collide_box_box : ss_collide_hull_hull;
    ss_quat turn = random_turn(random), other = random_turn(random);
    // Half of the boxes lie almost flat on each other.
    if (boxes && i % 4 == 1) other = ss_quat_multiply(turn, turned(1e-3, 1, 2, 300));
    pair->a = placed(boxes ? &pair->box[0] : &pair->hull[0].shape, 0.1, 0.2, 0.3, turn);
    pair->b = placed(boxes ? &pair->box[1] : &pair->hull[1].shape, 0.0, 0.0, 0.0, other);
    pair->a.geometry = pair->hull[0].geometry, pair->b.geometry = pair->hull[1].geometry;
    pair->b.number = 1;
    bring_to_gap(&pair->a, &pair->b, ss_random_between(random, -0.02, 0.01), random);
    return true;
}

static void random_pair_free(random_pair *pair)
{
    test_hull_free(&pair->hull[0]);
    test_hull_free(&pair->hull[1]);
}

static const ss_contact_point *find_feature(const ss_manifold *m, uint32_t feature)
{
    for (int i = 0; i < m->count; i++)
        if (m->points[i].feature == feature) return &m->points[i];
    return NULL;
}

TEST(the_order_of_the_bodies_does_not_matter)
{
    ss_random random = ss_random_start(10, 0);
    for (int i = 0; i < several(1000); i++) {
        random_pair pair;
        ENSURE(random_pair_make(&random, i, &pair));
        ss_manifold m, n;
        pair.function(&pair.a, &pair.b, 0.02, &m);
        pair.function(&pair.b, &pair.a, 0.02, &n);
        ENSURE_INT(n.count, m.count);
        for (int k = 0; k < m.count; k++) {
            const ss_contact_point *p = &m.points[k];
            const ss_contact_point *q = find_feature(&n, p->feature >> 16 | p->feature << 16);
            ENSURE(q != NULL);
            ENSURE_NEAR(q->gap, p->gap, 1e-12);
            for (int j = 0; j < 3; j++) {
                ENSURE_NEAR(q->normal[j], -p->normal[j], 1e-9); // of bodies 1e-6 apart: 1e-15 / 1e-6
                ENSURE_NEAR(q->point[j], p->point[j], 1e-9);
            }
        }
        random_pair_free(&pair);
    }
}

TEST(where_in_the_world_the_bodies_are_does_not_matter)
{
    ss_random random = ss_random_start(11, 0);
    for (int i = 0; i < several(1000); i++) {
        random_pair pair;
        ENSURE(random_pair_make(&random, i, &pair));
        ss_manifold m, n;
        pair.function(&pair.a, &pair.b, 0.02, &m);
        ss_mat3 turn = ss_quat_to_matrix(random_turn(&random));
        ss_vec3 shift = ss_vec3_scale(10.0, random_vector(&random));
        ss_placed_shape *moved[2] = {&pair.a, &pair.b};
        for (int k = 0; k < 2; k++) {
            ss_vec3 x = ss_mat3_apply(turn, ss_vec3_load(moved[k]->position));
            ss_vec3_store(ss_vec3_add(x, shift), moved[k]->position);
            ss_mat3_store(ss_mat3_multiply(turn, ss_mat3_load(moved[k]->rotation)), moved[k]->rotation);
        }
        pair.function(&pair.a, &pair.b, 0.02, &n);
        ENSURE_INT(n.count, m.count);
        for (int k = 0; k < m.count; k++) {
            const ss_contact_point *p = &m.points[k], *q = find_feature(&n, p->feature);
            ENSURE(q != NULL);
            ENSURE_NEAR(q->gap, p->gap, 1e-13); // positions around 10 are known to 1e-15
            ss_vec3 normal = ss_mat3_apply(turn, ss_vec3_load(p->normal));
            ENSURE_NEAR(ss_vec3_dot(normal, ss_vec3_load(q->normal)), 1.0, 1e-12);
        }
        random_pair_free(&pair);
    }
}

/* All lengths times a power of two, so that nothing is rounded differently. */
static bool random_pair_scale(random_pair *pair, double unit)
{
    for (int k = 0; k < 3; k++) {
        pair->box[0].size[k] *= unit, pair->box[1].size[k] *= unit;
        pair->a.position[k] *= unit, pair->b.position[k] *= unit;
    }
    for (int k = 0; k < 2; k++) {
        test_hull scaled;
        if (!test_hull_scaled(&pair->hull[k], unit, &scaled)) return false;
        test_hull_free(&pair->hull[k]);
        pair->hull[k] = scaled;
    }
    pair->a.geometry = pair->hull[0].geometry, pair->b.geometry = pair->hull[1].geometry;
    return true;
}

TEST(the_unit_of_length_does_not_matter)
{
    ss_random random = ss_random_start(12, 0);
    for (int i = 0; i < several(1000); i++) {
        random_pair pair;
        ENSURE(random_pair_make(&random, i, &pair));
        ss_manifold m, n;
        pair.function(&pair.a, &pair.b, 0.02, &m);
        double unit = i % 4 < 2 ? 1024.0 : 1.0 / 1024.0;
        ENSURE(random_pair_scale(&pair, unit));
        pair.function(&pair.a, &pair.b, 0.02 * unit, &n);
        ENSURE_INT(n.count, m.count);
        for (int k = 0; k < m.count; k++) {
            ENSURE_INT(n.points[k].feature, m.points[k].feature);
            // of hulls, one rounding of a normal
            ENSURE_NEAR(n.points[k].gap, unit * m.points[k].gap, 1e-15 * unit);
            ENSURE_NEAR(n.points[k].point[0], unit * m.points[k].point[0], 1e-14 * unit);
            ENSURE_NEAR(n.points[k].normal[0], m.points[k].normal[0], 1e-12);
        }
        random_pair_free(&pair);
    }
}

TEST(a_small_motion_changes_gaps_little_and_names_hardly_ever)
{
    ss_random random = ss_random_start(13, 0);
    int points = 0, renamed = 0;
    for (int i = 0; i < several(1000); i++) {
        random_pair pair;
        ENSURE(random_pair_make(&random, i, &pair));
        ss_manifold m, n;
        double step = 1e-7;
        pair.function(&pair.a, &pair.b, 0.02, &m);
        ss_vec3 motion = ss_vec3_normalise(random_vector(&random), NULL);
        for (int k = 0; k < 3; k++) pair.b.position[k] += step * (&motion.x)[k];
        pair.function(&pair.a, &pair.b, 0.02, &n);
        if (m.count > 0 && n.count > 0) {
            // 2e-6: where edges and faces are equally good, faces are preferred up to 1e-6 of the size
            ENSURE_NEAR(deepest_point(&n)->gap, deepest_point(&m)->gap, step + 2e-6);
        }
        for (int k = 0; k < m.count; k++) {
            const ss_contact_point *q = find_feature(&n, m.points[k].feature);
            points++;
            renamed += q == NULL;
            if (q && m.points[k].gap < 0.0) ENSURE_NEAR(q->gap, m.points[k].gap, 30.0 * step);
        }
        random_pair_free(&pair);
    }
    ENSURE(points > several(1000));
    ENSURE(renamed < points / 200);
}

TEST(a_box_sliding_off_another_keeps_the_names_of_its_contacts)
{
    ss_shape cube = box_shape(1.0, 1.0, 1.0);
    ss_placed_shape a = placed(&cube, 0, 0, 0, UPRIGHT);
    ss_manifold first;
    for (int i = 0; i <= 400; i++) {
        ss_placed_shape b = placed(&cube, 0.05 + 0.002 * i, 0.07, 1.0, turned(0.02, 0, 0, 1));
        ss_manifold m;
        ss_collide_box_box(&a, &b, 0.01, &m);
        ENSURE_INT(m.count, 4);
        if (i == 0) first = m;
        for (int k = 0; k < 4; k++) {
            ENSURE(find_feature(&m, first.points[k].feature) != NULL);
            ENSURE_NEAR(m.points[k].gap, 0.0, 1e-15);
        }
    }
}

/* ---- many corners, and few -------------------------------------------------------------------------- */

static double area_of(const ss_contact_point *const *point, int count)
{
    // Convex hull by the sum over all pairs that have everything on their left.
    double area = 0.0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            const double *p = point[i]->point, *q = point[k]->point;
            bool side = i != k && (p[0] != q[0] || p[1] != q[1]);
            for (int j = 0; side && j < count; j++) {
                const double *r = point[j]->point;
                double left = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
                double beyond = (q[0] - p[0]) * (r[0] - q[0]) + (q[1] - p[1]) * (r[1] - q[1]);
                double before = (q[0] - p[0]) * (r[0] - p[0]) + (q[1] - p[1]) * (r[1] - p[1]);
                side = left > 0.0 || (left == 0.0 && beyond <= 0.0 && before >= 0.0);
            }
            if (side) area += 0.5 * (p[0] * q[1] - p[1] * q[0]);
        }
    return area;
}

static double manifold_area(const ss_manifold *m)
{
    const ss_contact_point *point[SS_MANIFOLD_MOST];
    for (int i = 0; i < m->count; i++) point[i] = &m->points[i];
    return area_of(point, m->count);
}

TEST(round_prisms_on_each_other_are_held_over_their_whole_face)
{
    test_hull hull;
    ENSURE(test_hull_of_mesh(ss_mesh_cylinder(300, 1.0, 1.0, NULL), &hull));
    ss_placed_shape a = placed(&hull.shape, 0, 0, 0, UPRIGHT),
                    b = placed(&hull.shape, 0.1, 0, 0.999, turned(0.01, 0, 0, 1));
    a.geometry = b.geometry = hull.geometry;
    ss_manifold m;
    ss_collide_hull_hull(&a, &b, 0.01, &m);
    ENSURE(is_sound(&m, 0.01));
    ENSURE(m.count >= 16);
    for (int k = 0; k < m.count; k++) ENSURE_NEAR(m.points[k].gap, -1e-3, 1e-12);
    // two unit discs 0.1 apart: 2 acos(0.05) - 0.05 sqrt(3.99)
    double lens = 2.0 * acos(0.05) - 0.05 * sqrt(3.99);
    ENSURE(manifold_area(&m) > 0.95 * lens);
    test_hull_free(&hull);
}

static double best_area_of_four(const ss_manifold *m, int deepest)
{
    double best = 0.0;
    for (int i = 0; i < m->count; i++)
        for (int k = 0; k < i; k++)
            for (int j = 0; j < k; j++) {
                const ss_contact_point *four[4] = {&m->points[deepest], &m->points[i], &m->points[k],
                                                   &m->points[j]};
                if (i != deepest && k != deepest && j != deepest) best = fmax(best, area_of(four, 4));
            }
    return best;
}

TEST(reduction_to_four_keeps_the_deepest_and_almost_all_of_the_area_that_four_can_hold)
{
    ss_random random = ss_random_start(17, 0);
    for (int i = 0; i < several(500); i++) {
        ss_manifold m = {.count = 5 + ss_random_below(&random, 14)};
        double stretch = ss_random_between(&random, 0.1, 1.0);
        for (int k = 0; k < m.count; k++) {
            double angle = ss_random_between(&random, 0.0, 2.0 * M_PI),
                   r = i % 2 ? 1.0 : ss_random_real(&random);
            m.points[k] = (ss_contact_point){
                .point = {r * cos(angle), stretch * r * sin(angle), 0.0},
                .normal = {0.0, 0.0, 1.0},
                .gap = ss_random_normal(&random),
                .feature = (uint32_t)k,
            };
        }
        int deepest = (int)(deepest_point(&m) - m.points);
        double best = best_area_of_four(&m, deepest);
        ss_manifold reduced = m;
        ss_manifold_reduce(&reduced, 4);
        ENSURE_INT(reduced.count, 4);
        ENSURE_NEAR(deepest_point(&reduced)->gap, m.points[deepest].gap, 0.0);
        ENSURE(manifold_area(&reduced) >= 0.9 * best);
        for (int k = 1; k < 4; k++) ENSURE(reduced.points[k].feature > reduced.points[k - 1].feature);
    }
}

TEST(reduction_leaves_rectangles_whole_and_counts_each_normal_by_itself)
{
    ss_shape wide = box_shape(3.0, 3.0, 1.0), cube = box_shape(1.0, 1.0, 1.0);
    ss_placed_shape a = placed(&wide, 0, 0, 0, UPRIGHT),
                    b = placed(&cube, 1.2, 0.1, 1.0, turned(0.4, 0, 0, 1));
    ss_manifold m;
    ss_collide_box_box(&a, &b, 0.01, &m);
    ENSURE_INT(m.count, 5); // one corner is cut off
    double area = manifold_area(&m);
    ss_manifold_reduce(&m, 4);
    ENSURE_INT(m.count, 4);
    ENSURE(manifold_area(&m) > 0.9 * area);

    ss_manifold corner = {.count = 6};
    for (int k = 0; k < 6; k++)
        corner.points[k] = (ss_contact_point){
            .point = {k % 3, k % 2, k}, .normal = {k < 3, 0.0, k >= 3}, .feature = (uint32_t)k};
    ss_manifold_reduce(&corner, 3);
    ENSURE_INT(corner.count, 6);
    ss_manifold_reduce(&corner, 1);
    ENSURE_INT(corner.count, 2);
}

TEST_MAIN
