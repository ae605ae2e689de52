/* Cone problems back to frames: round trips, the plane, and what is refused with which reason. */
#include "kit.h"
#include "rigid_frame.h"

#include "problem/cone.h"

/* ---- back to a frame ------------------------------------------------------------------------------ */

static void compare_globals(const ss_cone *a, const ss_cone *b)
{
    ENSURE_INT(a->contacts, b->contacts);
    ENSURE_INT(a->equations, b->equations);
    ENSURE_INT(a->dimension, b->dimension);
    // tolerance: rounding of lever arms, M^-1 f and h w / h
    ENSURE_NEAR(matrix_difference(a->M, b->M), 0.0, 1e-15);
    ENSURE_NEAR(matrix_difference(a->H, b->H), 0.0, 1e-13);
    ENSURE_NEAR(largest_difference(a->f, b->f, a->dofs), 0.0, 1e-13);
    ENSURE_NEAR(largest_difference(a->w, b->w, a->contacts * a->dimension), 0.0, 1e-14);
    ENSURE_NEAR(largest_difference(a->mu, b->mu, a->contacts), 0.0, 0.0);
    if (a->mu_rolling) ENSURE_NEAR(largest_difference(a->mu_rolling, b->mu_rolling, a->contacts), 0.0, 0.0);
    if (!a->equations) return;
    ENSURE_NEAR(matrix_difference(a->G, b->G), 0.0, 0.0);
    ENSURE_NEAR(largest_difference(a->b, b->b, a->equations), 0.0, 1e-14);
}

TEST(frame_to_problem_to_frame_to_problem_is_the_same_problem)
{
    conversion options = defaults();
    for (uint64_t seed = 0; seed < 20; seed++) {
        ss_error err = {0};
        ss_findings findings = {0};
        ss_frame *frame = rigid_frame(seed, 5, 9, 2);
        if (seed % 2) {
            ENSURE(ss_frame_enable(frame, "contacts/mu_r", NULL));
            for (int c = 0; c < 9; c++) frame->contacts.mu_rolling[c] = 0.01 * (c + 1);
        }
        ss_cone *first = global_of(frame, &options);
        ss_frame *back = ss_frame_from_cone(first, frame->h, &findings, &err);
        ENSURE(back);
        ENSURE(ss_frame_check(back, "", NULL));
        ss_cone *second = global_of(back, &options);
        compare_globals(first, second);
        ENSURE(tells(&findings, SS_FINDING_WARNING, "/fclib_global/vectors/f", "only the sum"));
        ss_findings_free(&findings);
        ss_cone_destroy(first);
        ss_cone_destroy(second);
        ss_frame_destroy(frame);
        ss_frame_destroy(back);
    }
}

TEST(limits_survive_the_way_there_and_back)
{
    conversion options = defaults();
    ss_frame *frame = rigid_frame(15, 4, 3, 2);
    frame->constraints.bounds[2][0] = 0.0;
    frame->constraints.bounds[4][1] = 0.0;
    ss_cone *first = global_of(frame, &options);
    ss_frame *back = ss_frame_from_cone(first, frame->h, NULL, NULL);
    ENSURE(back);
    ENSURE(ss_frame_check(back, "", NULL));
    ENSURE_INT(back->constraints.row_count, 6);
    ENSURE_INT(back->contacts.count, 3);
    ss_cone *second = global_of(back, &options);
    compare_globals(first, second);
    ss_cone_destroy(first);
    ss_cone_destroy(second);
    ss_frame_destroy(frame);
    ss_frame_destroy(back);
}

TEST(lever_arms_that_do_not_meet_are_stored)
{
    conversion options = defaults();
    ss_frame *frame = rigid_frame(16, 2, 3, 0);
    static const int pairs[3][2] = {{0, 1}, {0, 1}, {1, 0}};
    memcpy(frame->contacts.pair, pairs, sizeof pairs);
    ENSURE(ss_frame_enable(frame, "contacts/lever_arms", NULL));
    frame->contacts.lever_arm[1][0] += 0.125; // the two bodies see different points
    ss_cone *first = global_of(frame, &options);
    ss_frame *back = ss_frame_from_cone(first, frame->h, NULL, NULL);
    ENSURE(back && back->contacts.lever_arm);
    ss_cone *second = global_of(back, &options);
    compare_globals(first, second);
    ss_cone_destroy(first);
    ss_cone_destroy(second);
    ss_frame_destroy(frame);
    ss_frame_destroy(back);
}

TEST(tangential_terms_are_lost_aloud)
{
    conversion options = defaults();
    ss_findings findings = {0};
    ss_frame *frame = rigid_frame(17, 3, 3, 0);
    ss_cone *cone = global_of(frame, &options);
    cone->w[4] = 0.5;
    ss_frame *back = ss_frame_from_cone(cone, 0.01, &findings, NULL);
    ENSURE(back);
    ENSURE_NEAR(back->contacts.gap[0], 0.01 * cone->w[0], 0.0);
    ENSURE(tells(&findings, SS_FINDING_LOSS, "/fclib_global/vectors/w", "1 tangential terms (up to 0.5)"));
    ss_findings_free(&findings);
    ss_frame_destroy(back);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

/* ---- in the plane --------------------------------------------------------------------------------- */

/* Discs (m, m, J) with contacts (n, t), lever arms r: columns (d, r x d). Built from a solution. */
static ss_cone *planar_problem(uint64_t seed, int bodies, int contacts, ss_cone_point *point)
{
    ss_error err;
    ss_random random = ss_random_start(seed, 3);
    ss_cone *cone = known(ss_cone_create(SS_CONE_GLOBAL, 2, contacts, 3 * bodies, 0, &err), &err);
    if (!ss_cone_point_create(cone, point, &err)) known(NULL, &err);
    ss_triplets M, H;
    if (!ss_triplets_start(&M, 3 * (size_t)bodies, &err) ||
        !ss_triplets_start(&H, 12 * (size_t)contacts, &err))
        known(NULL, &err);
    for (int i = 0; i < 3 * bodies; i++) ss_triplets_add(&M, i, i, i % 3 == 2 ? 0.5 : 2.0 + i / 3);
    known_contacts(&random, cone, point);
    for (int c = 0; c < contacts; c++) {
        int pair[2];
        pick_pair(&random, bodies, pair);
        double angle = ss_random_between(&random, 0, 6), handed = ss_random_below(&random, 2) ? 1.0 : -1.0;
        double d[2][2] = {{cos(angle), sin(angle)}, {-handed * sin(angle), handed * cos(angle)}};
        for (int side = 0; side < 2; side++) {
            double sign = side ? 1.0 : -1.0, r[2] = {ss_random_normal(&random), ss_random_normal(&random)};
            for (int k = 0; pair[side] >= 0 && k < 2; k++) {
                ss_triplets_add(&H, 3 * pair[side], 2 * c + k, sign * d[k][0]);
                ss_triplets_add(&H, 3 * pair[side] + 1, 2 * c + k, sign * d[k][1]);
                ss_triplets_add(&H, 3 * pair[side] + 2, 2 * c + k, sign * (r[0] * d[k][1] - r[1] * d[k][0]));
            }
        }
    }
    cone->M = known(ss_triplets_finish(&M, 3 * bodies, 3 * bodies, &err), &err);
    cone->H = known(ss_triplets_finish(&H, 3 * bodies, 2 * contacts, &err), &err);
    // v = 0, so that u is all in w; a frame has no place for a tangential w, so nothing slides
    for (int c = 0; c < contacts; c++) {
        point->u[2 * c + 1] = 0.0;
        cone->w[2 * c] = point->u[2 * c];
    }
    ss_sparse_apply(cone->H, point->r, -1.0, cone->f);
    return cone;
}

TEST(planar_problem_becomes_a_spatial_frame_with_the_same_solution)
{
    conversion options = defaults();
    for (uint64_t seed = 0; seed < 20; seed++) {
        ss_error err = {0};
        ss_cone_point point;
        ss_cone_residual residual;
        ss_findings findings = {0};
        ss_cone *planar = planar_problem(seed, 4, 6, &point);
        ENSURE(ss_cone_residual_of(planar, &point, &residual, &err));
        ENSURE_NEAR(residual.natural_map, 0.0, 1e-12); // the planar problem is right to begin with
        ss_frame *frame = ss_frame_from_cone(planar, 0.01, &findings, &err);
        ENSURE(frame);
        ENSURE(ss_frame_check(frame, "", NULL));
        ENSURE(ss_frame_is_planar(frame));
        ENSURE(tells(&findings, SS_FINDING_WARNING, "/fclib_global", "planar"));
        ss_cone *spatial = global_of(frame, &options);
        ss_cone_point in_space;
        ENSURE(ss_cone_point_create(spatial, &in_space, &err));
        for (int c = 0; c < 6; c++) {
            in_space.r[3 * c] = point.r[2 * c];
            in_space.r[3 * c + 1] = point.r[2 * c + 1];
        }
        ENSURE(ss_cone_point_complete(spatial, &in_space, &err));
        ENSURE(ss_cone_residual_of(spatial, &in_space, &residual, &err));
        ENSURE_NEAR(residual.natural_map, 0.0, 1e-12); // rounding
        // nothing leaves the plane
        for (int c = 0; c < 6; c++) ENSURE_NEAR(in_space.u[3 * c + 2], 0.0, 1e-12);
        ss_findings_free(&findings);
        ss_cone_point_free(&in_space);
        ss_cone_point_free(&point);
        ss_cone_destroy(spatial);
        ss_cone_destroy(planar);
        ss_frame_destroy(frame);
    }
}

/* ---- refusals ------------------------------------------------------------------------------------- */

static void expect_refusal(const ss_cone *cone, const char *why)
{
    ss_error err = {0};
    ENSURE(!ss_frame_from_cone(cone, 0.01, NULL, &err));
    ENSURE(err.code == SS_ERROR_INPUT);
    ENSURE_CONTAINS(err.message, why);
}

static ss_cone *rigid_problem(void)
{
    conversion options = defaults();
    ss_frame *frame = rigid_frame(18, 3, 4, 1);
    ss_cone *cone = global_of(frame, &options);
    ss_frame_destroy(frame);
    return cone;
}

TEST(what_is_no_rigid_mechanism_is_refused_with_the_reason)
{
    ss_cone *cone = rigid_problem();
    ss_cone *local = ss_cone_to_local(cone, false, NULL);
    expect_refusal(local, "local problem has no bodies");
    ss_cone_destroy(local);

    int last = cone->M->start[6] - 1; // the last entry of column 5, moved to another body
    cone->M->row[last] = 11;
    expect_refusal(cone, "outside the 6 x 6 blocks");
    cone->M->row[last] = 5;
    cone->M->value[0] *= 1.001;
    expect_refusal(cone, "not m times 1");
    ss_cone_destroy(cone);

    cone = rigid_problem();
    for (int at = cone->H->start[1]; at < cone->H->start[2]; at++) // t1 of contact 0 leans towards n
        cone->H->value[at] += 0.1 * ss_sparse_get(cone->H, cone->H->row[at], 0);
    expect_refusal(cone, "contact frames of 1 of 4 contacts are not orthonormal");
    ss_cone_destroy(cone);

    cone = rigid_problem();
    for (int at = cone->H->start[3]; at < cone->H->start[4]; at++) // a lever arm that is not perpendicular
        if (cone->H->row[at] % 6 == 3) cone->H->value[at] += 0.5;
    expect_refusal(cone, "lever arms of 1 of 4 contacts are not those of a rigid body in the world frame");
    ss_cone_destroy(cone);

    cone = rigid_problem();
    ss_sparse *all =
        ss_sparse_from_triplets(18, 12, 3, (int[]){0, 6, 12}, (int[]){0, 0, 0}, (double[]){9, 9, 9}, NULL);
    ss_sparse *H = ss_cone_combine(1.0, cone->H, 1.0, all, NULL); // contact 0 acts on all three bodies
    ss_sparse_destroy(cone->H);
    ss_sparse_destroy(all);
    cone->H = H;
    expect_refusal(cone, "contact 0 acts on 3 bodies");
    ss_cone_destroy(cone);
}

TEST(rolling_directions_off_the_tangents_are_refused)
{
    conversion options = defaults();
    ss_frame *frame = rigid_frame(19, 3, 4, 0);
    ENSURE(ss_frame_enable(frame, "contacts/mu_r", NULL));
    for (int c = 0; c < 4; c++) frame->contacts.mu_rolling[c] = 0.1;
    ss_cone *cone = global_of(frame, &options);
    cone->H->value[cone->H->start[3]] += 0.01;
    expect_refusal(cone, "rolling directions are not the tangents");
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

TEST(a_step_that_is_none_is_refused)
{
    ss_error err;
    ss_cone *cone = rigid_problem();
    ENSURE(!ss_frame_from_cone(cone, 0.0, NULL, &err));
    ENSURE(!ss_frame_from_cone(cone, NAN, NULL, &err));
    ENSURE_INT(err.code, SS_ERROR_USAGE);
    ss_cone_destroy(cone);
}

TEST_MAIN
