/* Alternatives of two polyhedra: the best one is the true depth by brute force where they overlap, and has
 * the right sign where they do not; the points of each say neither more nor less than its own separation. */
#include "kit.h"
#include "polyhedra.h"

#include "collision/alternatives.h"

static const ss_contact_group near = {
    .body = {0, 1}, .radius = {1, 1}, .size = 0.2, .cut = 0.01, .reach = 0.05, .margin = 0.02};

/* The number of alternatives; -1 when something is wrong with them. */
static int check_pair(const ss_placed_shape *a, const ss_placed_shape *b)
{
    ss_group_list list = {0};
    ss_error err = {0};
    solid of_a, of_b;
    solid_place(a, &of_a);
    solid_place(b, &of_b);
    double truth = true_separation(&of_a, &of_b), rounding = 1e-9; // sizes are about 1 m
    // apart, directions that are no facet of the difference may see more; the sign is the same
    double separation = ss_polyhedra_separation(a, b);
    bool good = ss_group_find(a, b, &near, 4, &list, &err) &&
                (truth > rounding ? separation > 0.0 : fabs(separation - truth) < rounding);
    int count = good && list.count ? list.groups[0].count : 0;
    if (separation < near.reach + near.margin - rounding) good = good && count > 0;
    double best = -INFINITY;
    for (int k = 0; good && k < count; k++) {
        const ss_alternative *of = &list.alternatives[list.groups[0].first + k];
        double along = separation_along(&of_a, &of_b, ss_vec3_load(of->normal)), least = INFINITY;
        int forces = 0;
        for (int i = of->first; i < of->first + of->count; i++) {
            least = fmin(least, list.points[i].gap);
            forces += !list.points[i].test;
        }
        best = fmax(best, of->separation);
        good = fabs(along - of->separation) < rounding && forces > 0 && forces <= 4 &&
               fabs(least - of->separation) < 1e-7; // where points of edges are merged
        if (!good)
            fprintf(stderr,
                    "alternative %d, kind %d: %.12g, by brute force %.12g, least gap %.12g, %d forces\n", k,
                    (int)of->kind, of->separation, along, least, forces);
    }
    if (count > 0 && truth > rounding) good = good && best > 0.0 && best < separation + rounding;
    if (count > 0 && truth <= rounding) good = good && fabs(best - separation) < rounding;
    if (!good)
        fprintf(stderr, "best of %d: %.12g, largest %.12g, by brute force %.12g\n", count, best, separation,
                truth);
    ss_group_list_free(&list);
    solid_free(&of_a);
    solid_free(&of_b);
    return good ? count : -1;
}

TEST(alternatives_of_boxes_in_random_poses_are_the_true_ones)
{
    ss_random random = ss_random_start(21, 0);
    int total = several(1000), sum = 0;
    for (int i = 0; i < total; i++) {
        double s[6];
        for (int k = 0; k < 6; k++) s[k] = ss_random_between(&random, 0.2, 1.0);
        ss_shape one = box_shape(s[0], s[1], s[2]), other = box_shape(s[3], s[4], s[5]);
        ss_quat turn = random_turn(&random), small = turned(i % 2 ? 1e-9 : 0.01, 1, 2, 3);
        ss_placed_shape a = placed(&one, 0.1, 0.2, 0.3, turn);
        // every third pair with parallel axes, every third nearly so
        ss_placed_shape b = placed(&other, 0, 0, 0,
                                   i % 3 == 0   ? random_turn(&random)
                                   : i % 3 == 1 ? turn
                                                : ss_quat_multiply(turn, small));
        bring_to_gap(&a, &b, ss_random_between(&random, -0.2, 0.1), &random);
        int count = check_pair(&a, &b);
        ENSURE(count >= 0);
        sum += count;
    }
    ENSURE(sum > total); // several each
}

TEST(alternatives_of_hulls_in_random_poses_are_the_true_ones)
{
    ss_random random = ss_random_start(22, 0);
    int total = several(300), sum = 0;
    for (int i = 0; i < total; i++) {
        test_hull one, other;
        ENSURE(test_hull_random(&random, 8 + i % 20, 0.5, &one) &&
               test_hull_random(&random, 12, 0.4, &other));
        ss_placed_shape a = {.shape = &one.shape, .geometry = one.geometry};
        ss_placed_shape b = {.shape = &other.shape, .geometry = other.geometry, .number = 1};
        place_at(&a, (ss_vec3){0.1, 0.2, 0.3}, random_turn(&random));
        place_at(&b, (ss_vec3){0, 0, 0}, random_turn(&random));
        bring_to_gap(&a, &b, ss_random_between(&random, -0.2, 0.1), &random);
        int count = check_pair(&a, &b);
        test_hull_free(&one);
        test_hull_free(&other);
        ENSURE(count >= 0);
        sum += count;
    }
    ENSURE(sum > total);
}

TEST_MAIN
