/* Frames to cone problems and answers back: hand-computed numbers, what is lost, invariances. */
#include "faults.h"
#include "kit.h"
#include "rigid_frame.h"

#include "linalg/mat6.h"
#include "problem/cone.h"

/* ---- numbers by hand ------------------------------------------------------------------------------ */

/* 2 kg at the origin falls at 3 m/s under 5 N on a floor 0.5 m below, hit 0.25 m beside the centre. */
static ss_frame *falling_body(void)
{
    ss_error err;
    ss_frame *frame = known(ss_frame_create(1, 0, 0, 1, &err), &err);
    if (!ss_frame_enable(frame, "contacts/t_u", &err)) known(NULL, &err);
    frame->h = 0.5;
    frame->bodies.mass[0] = 2.0;
    for (int i = 0; i < 3; i++) frame->bodies.inertia[0][4 * i] = 4.0;
    frame->bodies.velocity[0][2] = -3.0;
    frame->bodies.velocity[0][4] = 1.0;
    frame->bodies.force[0][2] = -5.0;
    frame->bodies.force[0][3] = 7.0;
    frame->contacts.pair[0][0] = SS_WORLD;
    frame->contacts.pair[0][1] = 0;
    memcpy(frame->contacts.point[0], (double[]){0.25, 0.0, -0.5}, sizeof(double[3]));
    memcpy(frame->contacts.normal[0], (double[]){0.0, 0.0, 1.0}, sizeof(double[3]));
    memcpy(frame->contacts.tangent[0], (double[]){1.0, 0.0, 0.0}, sizeof(double[3]));
    frame->contacts.gap[0] = -0.02;
    frame->contacts.mu[0][0] = frame->contacts.mu[0][1] = 0.6;
    return frame;
}

TEST(falling_body_gives_the_matrices_one_writes_down_by_hand)
{
    conversion options = defaults();
    ss_frame *frame = falling_body();
    ss_cone *cone = global_of(frame, &options);
    ENSURE(ss_cone_check(cone, "", NULL));
    ENSURE_INT(cone->dofs, 6);
    ENSURE_INT(cone->dimension, 3);
    static const double f[6] = {0, 0, 2 * -3 + 0.5 * -5, 0.5 * 7, 4 * 1, 0};
    // columns (d, r x d) with r = (1/4, 0, -1/2) and d = z, x, y
    static const double H[3][6] = {{0, 0, 1, 0, -0.25, 0}, {1, 0, 0, 0, -0.5, 0}, {0, 1, 0, 0.5, 0, 0.25}};
    for (int i = 0; i < 6; i++) {
        ENSURE_NEAR(cone->f[i], f[i], 0.0);
        ENSURE_NEAR(ss_sparse_get(cone->M, i, i), i < 3 ? 2.0 : 4.0, 0.0);
        for (int j = 0; j < 3; j++) ENSURE_NEAR(ss_sparse_get(cone->H, i, j), H[j][i], 0.0);
    }
    ENSURE_NEAR(cone->w[0], -0.04, 0.0);
    ENSURE_NEAR(cone->w[1] + cone->w[2], 0.0, 0.0);
    ENSURE_NEAR(cone->mu[0], 0.6, 0.0);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

static double normal_term(const ss_frame *frame, int gap_term, double gamma)
{
    conversion options = defaults();
    options.gap_term = gap_term;
    options.gamma = gamma;
    ss_cone *cone = global_of(frame, &options);
    double w = cone->w[0];
    ss_cone_destroy(cone);
    return w;
}

TEST(gap_terms_are_what_their_names_say)
{
    ss_frame *frame = falling_body();
    ENSURE(ss_frame_enable(frame, "contacts/restitution", NULL));
    frame->contacts.restitution[0] = 0.5;
    double approach = -3.0 + 1.0 * -0.25; // v_z + (w x r)_z at the point: w_y = 1, r_x = 1/4
    ENSURE_NEAR(normal_term(frame, SS_GAP_PREVENTIVE, 0.1), -0.04, 0.0);
    ENSURE_NEAR(normal_term(frame, SS_GAP_ZERO, 0.1), 0.0, 0.0);
    ENSURE_NEAR(normal_term(frame, SS_GAP_STABILISED, 0.25), -0.01, 0.0);
    ENSURE_NEAR(normal_term(frame, SS_GAP_RESTITUTION, 1.0), 0.5 * approach, 0.0);
    frame->contacts.gap[0] = 0.02; // apart: nothing to stabilise; reached within the step, so that it bounces
    ENSURE_NEAR(normal_term(frame, SS_GAP_STABILISED, 0.25), 0.04, 0.0);
    ENSURE_NEAR(normal_term(frame, SS_GAP_RESTITUTION, 1.0), 0.5 * approach, 0.0);
    frame->contacts.gap[0] = 2.0; // h = 1/2: 1.625 m in a step, so that it is not reached
    ENSURE_NEAR(normal_term(frame, SS_GAP_RESTITUTION, 1.0), 4.0, 0.0);
    ss_frame_destroy(frame);
}

/* ---- bodies that do not move ---------------------------------------------------------------------- */

TEST(sleeping_bodies_count_as_the_world)
{
    conversion options = defaults();
    ss_findings losses = {0};
    ss_frame *frame = rigid_frame(1, 4, 3, 0);
    static const int pairs[3][2] = {{0, 1}, {1, 2}, {2, 3}};
    memcpy(frame->contacts.pair, pairs, sizeof pairs);
    frame->bodies.state[1] = -1;
    frame->bodies.state[2] = 0;
    ss_cone *cone = cone_from_frame(frame, &options, "/here", &losses, NULL);
    ENSURE(cone);
    ENSURE_INT(cone->dofs, 12);    // bodies 0 and 3
    ENSURE_INT(cone->contacts, 2); // (0, sleeping) and (sleeping, 3); two sleepers touch in vain
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 6; i++) {
            ENSURE_NEAR(ss_sparse_get(cone->H, 6 + i, j), 0.0, 0.0);
            ENSURE_NEAR(ss_sparse_get(cone->H, i, 3 + j), 0.0, 0.0);
        }
    }
    ENSURE(tells(&losses, SS_FINDING_LOSS, "/here/bodies/states", "2 bodies"));
    ENSURE(tells(&losses, SS_FINDING_LOSS, "/here/contacts/pairs",
                 "1 contacts between bodies that do not move"));
    ss_findings_free(&losses);

    ss_cone_point point;
    ENSURE(ss_cone_point_create(cone, &point, NULL));
    for (int i = 0; i < 6; i++) point.r[i] = 0.25 * (i + 1);
    ss_cone_point r_only = {.r = point.r};
    ss_answer *answer = cone_recover(frame, &options, &r_only, NULL);
    ENSURE(answer);
    ENSURE_NEAR(answer->normal_impulse[0], 0.25, 0.0);
    ENSURE_NEAR(answer->normal_impulse[1], 0.0, 0.0);
    ENSURE_NEAR(answer->normal_impulse[2], 1.0, 0.0);
    for (int i = 0; i < 6; i++) ENSURE_NEAR(answer->velocity[1][i], frame->bodies.velocity[1][i], 0.0);
    ss_answer_destroy(answer);
    ss_cone_point_free(&point);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

/* ---- joints, limits, motors ----------------------------------------------------------------------- */

TEST(joint_errors_enter_with_gamma_and_motors_with_their_speed)
{
    conversion options = defaults();
    options.gamma = 0.25;
    ss_frame *frame = rigid_frame(2, 3, 0, 2);
    ss_cone *cone = global_of(frame, &options);
    ENSURE_INT(cone->equations, 6);
    for (int row = 0; row < 6; row++) {
        const ss_constraints *constraints = &frame->constraints;
        double b = 0.25 * constraints->violation[row] / frame->h + constraints->time_derivative[row];
        ENSURE_NEAR(cone->b[row], b, 1e-16); // rounding
        for (int side = 0; side < 2; side++) {
            int body = constraints->pair[row / 3][side];
            for (int i = 0; body >= 0 && i < 6; i++)
                ENSURE_NEAR(ss_sparse_get(cone->G, 6 * body + i, row),
                            constraints->jacobian[row][6 * side + i], 0.0);
        }
    }
    ss_cone_destroy(cone);
    ENSURE(ss_frame_enable(frame, "constraints/holonomic", NULL));
    frame->constraints.holonomic[1] = 0; // a rolling wheel: no position error to speak of
    cone = global_of(frame, &options);
    for (int row = 3; row < 6; row++) ENSURE_NEAR(cone->b[row], frame->constraints.time_derivative[row], 0.0);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

TEST(limits_become_contacts_without_friction_and_come_back_as_multipliers)
{
    conversion options = defaults();
    options.gamma = 0.25;
    ss_findings losses = {0};
    ss_frame *frame = rigid_frame(3, 3, 1, 1);
    frame->constraints.violation[1] = 0.01; // open: its distance counts in full
    frame->constraints.violation[2] = 0.02; // crossed: a share gamma is removed
    double(*bounds)[2] = frame->constraints.bounds;
    bounds[1][0] = 0.0; // pushes only
    bounds[2][1] = 0.0; // pulls only
    ss_cone *cone = cone_from_frame(frame, &options, "", &losses, NULL);
    ENSURE(cone);
    ENSURE_INT(cone->contacts, 3);
    ENSURE_INT(cone->equations, 1);
    ENSURE_NEAR(cone->mu[1] + cone->mu[2], 0.0, 0.0);
    const ss_constraints *constraints = &frame->constraints;
    ENSURE_NEAR(cone->w[3], 0.01 / frame->h + constraints->time_derivative[1], 1e-15);
    ENSURE_NEAR(cone->w[6], -0.25 * 0.02 / frame->h - constraints->time_derivative[2], 1e-15);
    for (int i = 0; i < 18; i++) { // no tangents
        for (int j = 1; j < 3; j++) ENSURE_NEAR(ss_sparse_get(cone->H, i, 3 + j), 0.0, 0.0);
    }
    ENSURE(tells(&losses, SS_FINDING_LOSS, "/constraints/bounds",
                 "limits become contacts without friction (2)"));
    ss_findings_free(&losses);

    double r[9] = {0, 0, 0, 0.5, 0, 0, 0.75, 0, 0};
    ss_answer *answer = cone_recover(frame, &options, &(ss_cone_point){.r = r, .l = (double[]){0.125}}, NULL);
    ENSURE(answer);
    ENSURE_NEAR(answer->row_impulse[0], 0.125, 0.0);
    ENSURE_NEAR(answer->row_impulse[1], 0.5, 0.0);
    ENSURE_NEAR(answer->row_impulse[2], -0.75, 0.0);
    ss_cone_point back;
    ENSURE(cone_point_from_answer(frame, &options, cone, answer, &back, NULL));
    ENSURE_NEAR(largest_difference(back.r, r, 9), 0.0, 0.0);
    ss_cone_point_free(&back);
    ss_answer_destroy(answer);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

TEST(motors_and_joint_friction_are_dropped_aloud_or_refused)
{
    ss_error err;
    conversion options = defaults();
    ss_findings losses = {0};
    ss_frame *frame = rigid_frame(4, 3, 1, 2);
    frame->constraints.bounds[4][0] = -5.0;
    frame->constraints.bounds[4][1] = 7.0;
    ENSURE(ss_frame_enable(frame, "constraints/friction", &err));
    ENSURE(ss_frame_enable(frame, "constraints/friction_row", &err));
    frame->constraints.friction[5] = 0.1;
    frame->constraints.friction_row[5] = 3;
    ss_cone *cone = cone_from_frame(frame, &options, "/f", &losses, &err);
    ENSURE(cone);
    ENSURE_INT(cone->equations, 4);
    ENSURE(tells(&losses, SS_FINDING_LOSS, "/f/constraints/bounds",
                 "rows with other bounds (motors, joint friction) are omitted (2)"));
    ss_cone_destroy(cone);
    ss_findings_free(&losses);
    options.refuse_bounds = true;
    ENSURE(!cone_from_frame(frame, &options, "/f", NULL, &err));
    ENSURE_CONTAINS(err.message, "/f/constraints/bounds[4]");
    ss_frame_destroy(frame);
}

/* ---- friction ------------------------------------------------------------------------------------- */

/* An ellipse is a circle in scaled directions: the column of the weaker tangent is shorter, and
 * nothing is lost. */
TEST(anisotropic_friction_is_a_circle_along_scaled_tangents)
{
    conversion options = defaults();
    ss_findings losses = {0};
    ss_frame *frame = rigid_frame(5, 2, 3, 0);
    ss_cone *round = global_of(frame, &options);
    frame->contacts.mu[1][0] = 0.25;
    frame->contacts.mu[1][1] = 0.75;
    ss_cone *cone = cone_from_frame(frame, &options, "", &losses, NULL);
    ENSURE(cone);
    ENSURE_NEAR(cone->mu[1], 0.75, 0.0);
    ENSURE(!tells(&losses, SS_FINDING_LOSS, "/contacts/mu_k", ""));
    for (int row = 0; row < cone->dofs; row++) {
        for (int column = 0; column < 9; column++) {
            double share = column == 4 ? 0.25 / 0.75 : 1.0; // t_u of contact 1
            ENSURE_NEAR(ss_sparse_get(cone->H, row, column), share * ss_sparse_get(round->H, row, column),
                        1e-15);
        }
    }
    ss_findings_free(&losses);
    ss_cone_destroy(cone);
    ss_cone_destroy(round);
    ss_frame_destroy(frame);
}

TEST(infinite_friction_is_refused_by_name_or_replaced_on_request)
{
    ss_error err;
    conversion options = defaults();
    ss_frame *frame = rigid_frame(6, 2, 3, 0);
    frame->contacts.mu[2][0] = frame->contacts.mu[2][1] = INFINITY;
    ENSURE(!cone_from_frame(frame, &options, "/f", NULL, &err));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE_CONTAINS(err.message, "/f/contacts/mu_k[2]");
    options.mu_max = 100.0;
    ss_findings losses = {0};
    ss_cone *cone = cone_from_frame(frame, &options, "/f", &losses, &err);
    ENSURE(cone);
    ENSURE_NEAR(cone->mu[2], 100.0, 0.0);
    ENSURE(tells(&losses, SS_FINDING_LOSS, "/f/contacts/mu_k",
                 "1 friction coefficients above mu_max were reduced to 100"));
    ss_findings_free(&losses);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

TEST(rolling_friction_adds_two_moments_about_the_tangents)
{
    conversion options = defaults();
    ss_frame *frame = falling_body();
    ENSURE(ss_frame_enable(frame, "contacts/mu_r", NULL));
    ss_cone *cone = global_of(frame, &options);
    ENSURE_INT(cone->dimension, 3); // all zero is as good as absent
    ss_cone_destroy(cone);
    frame->contacts.mu_rolling[0] = 0.01;
    cone = global_of(frame, &options);
    ENSURE_INT(cone->dimension, 5);
    ENSURE_NEAR(cone->mu_rolling[0], 0.01, 0.0);
    for (int i = 0; i < 6; i++) {
        ENSURE_NEAR(ss_sparse_get(cone->H, i, 3), i == 3 ? 1.0 : 0.0, 0.0); // about x = t_u
        ENSURE_NEAR(ss_sparse_get(cone->H, i, 4), i == 4 ? 1.0 : 0.0, 0.0); // about y = t_v
    }
    double r[5] = {1, 0.5, 0.25, 0.125, 0.0625};
    ss_answer *answer = cone_recover(frame, &options, &(ss_cone_point){.r = r}, NULL);
    ENSURE(answer && answer->rolling_impulse);
    ENSURE_NEAR(answer->rolling_impulse[0][0], 0.125, 0.0);
    ENSURE_NEAR(answer->rolling_impulse[0][1], 0.0625, 0.0);
    ENSURE_NEAR(answer->friction_impulse[0][0], 0.5, 0.0);
    ss_cone_point back;
    ENSURE(cone_point_from_answer(frame, &options, cone, answer, &back, NULL));
    ENSURE_NEAR(largest_difference(back.r, r, 5), 0.0, 0.0);
    ss_cone_point_free(&back);
    ss_answer_destroy(answer);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

/* ---- losses --------------------------------------------------------------------------------------- */

TEST(what_a_cone_problem_cannot_hold_is_told_once_each)
{
    static const char *const optional[] = {"contacts/mu_s", "contacts/restitution", "contacts/compliance",
                                           "contacts/lever_arms", "constraints/regularization"};
    static const char *const places[] = {"/bodies/positions",
                                         "/bodies/forces",
                                         "/bodies/ids",
                                         "/time",
                                         "/contacts/points",
                                         "/contacts/gaps",
                                         "/contacts/mu_s",
                                         "/contacts/restitution",
                                         "/contacts/compliance",
                                         "/contacts/lever_arms",
                                         "/constraints/violations",
                                         "/constraints/regularization"};
    conversion options = defaults();
    ss_findings losses = {0};
    ss_frame *frame = rigid_frame(7, 3, 4, 1);
    for (size_t k = 0; k < sizeof optional / sizeof *optional; k++)
        ENSURE(ss_frame_enable(frame, optional[k], NULL));
    frame->time = 2.0;
    frame->bodies.id[2] = 17;
    frame->contacts.restitution[1] = 0.5;
    frame->contacts.compliance[2] = 0.1;
    frame->constraints.regularization[0] = 0.1;
    ss_cone *cone = cone_from_frame(frame, &options, "", &losses, NULL);
    ENSURE(cone);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        if (!tells(&losses, SS_FINDING_LOSS, places[k], "")) KIT_FAIL("no word about %s", places[k]);
    }
    ENSURE_INT(losses.count, sizeof places / sizeof *places);
    ss_findings_free(&losses);
    ss_cone_destroy(cone);

    cone = cone_local_from_frame(frame, &options, false, "", &losses, NULL);
    ENSURE(cone);
    ENSURE(!tells(&losses, SS_FINDING_LOSS, "/contacts/compliance", ""));
    ENSURE(!tells(&losses, SS_FINDING_LOSS, "/constraints/regularization", ""));
    ENSURE(tells(&losses, SS_FINDING_LOSS, "/bodies/masses", ""));
    ENSURE(tells(&losses, SS_FINDING_LOSS, "/constraints/Jacobian", ""));
    ss_findings_free(&losses);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

/* ---- compliance ----------------------------------------------------------------------------------- */

TEST(compliance_and_regularisation_sit_on_the_diagonals_of_the_local_form)
{
    conversion options = defaults();
    ss_frame *hard = rigid_frame(8, 3, 3, 2), *soft = rigid_frame(8, 3, 3, 2);
    hard->constraints.bounds[5][0] = soft->constraints.bounds[5][0] = 0.0;
    ENSURE(ss_frame_enable(soft, "contacts/compliance", NULL));
    ENSURE(ss_frame_enable(soft, "constraints/regularization", NULL));
    soft->contacts.compliance[1] = 0.25;
    for (int row = 0; row < 6; row++) soft->constraints.regularization[row] = 0.5 + row;
    ss_cone *stiff = cone_local_from_frame(hard, &options, false, "", NULL, NULL);
    ss_cone *local = cone_local_from_frame(soft, &options, false, "", NULL, NULL);
    ENSURE(stiff && local);
    ENSURE_INT(local->equations, 5);
    for (int i = 0; i < 12; i++) {
        double added = i == 3 ? 0.25 : i == 9 ? 5.5 : 0.0; // contact 1; the limit is cone 3
        for (int j = 0; j < 12; j++)
            ENSURE_NEAR(ss_sparse_get(local->W, i, j), ss_sparse_get(stiff->W, i, j) + (i == j ? added : 0.0),
                        0.0);
    }
    for (int k = 0; k < 5; k++)
        ENSURE_NEAR(ss_sparse_get(local->R, k, k), ss_sparse_get(stiff->R, k, k) + 0.5 + k, 0.0);
    ss_cone_destroy(stiff);
    ss_cone_destroy(local);
    ss_frame_destroy(hard);
    ss_frame_destroy(soft);
}

TEST(redundant_joints_can_be_eliminated_once_they_are_regularised)
{
    ss_error err;
    conversion options = defaults();
    ss_frame *frame = rigid_frame(9, 3, 3, 2);
    memcpy(frame->constraints.pair[1], frame->constraints.pair[0], sizeof frame->constraints.pair[0]);
    memcpy(frame->constraints.jacobian[3], frame->constraints.jacobian[0],
           3 * sizeof frame->constraints.jacobian[0]);
    ENSURE(!cone_local_from_frame(frame, &options, true, "", NULL, &err));
    ENSURE_CONTAINS(err.message, "redundant joints");
    ENSURE(ss_frame_enable(frame, "constraints/regularization", &err));
    for (int row = 0; row < 6; row++) frame->constraints.regularization[row] = 1e-6;
    ss_cone *cone = cone_local_from_frame(frame, &options, true, "", NULL, &err);
    ENSURE(cone);
    ENSURE_INT(cone->equations, 0);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

/* ---- the answer ----------------------------------------------------------------------------------- */

static void add_impulse(double momentum[6], const double position[3], ss_vec3 point, ss_vec3 impulse,
                        double sign)
{
    ss_vec3 moment = ss_vec3_cross(ss_vec3_subtract(point, ss_vec3_load(position)), impulse);
    double p[6];
    ss_vec3_store(impulse, p);
    ss_vec3_store(moment, p + 3);
    for (int i = 0; i < 6; i++) momentum[i] += sign * p[i];
}

/* M v+ - M v - h f - (impulses of contacts and joints), body by body, straight from frame and answer */
static double momentum_defect(const ss_frame *frame, const ss_answer *answer)
{
    double worst = 0.0;
    for (int b = 0; b < frame->bodies.count; b++) {
        ss_mass mass = {frame->bodies.mass[b], ss_mat3_load(frame->bodies.inertia[b])};
        double change[6], defect[6], sum[6] = {0};
        for (int i = 0; i < 6; i++) change[i] = answer->velocity[b][i] - frame->bodies.velocity[b][i];
        ss_mass_apply(&mass, change, defect);
        for (int c = 0; c < frame->contacts.count; c++) {
            const int *pair = frame->contacts.pair[c];
            ss_vec3 impulse =
                ss_vec3_add_scaled(ss_vec3_load(answer->friction_impulse[c]), answer->normal_impulse[c],
                                   ss_vec3_load(frame->contacts.normal[c]));
            double sign = pair[1] == b ? 1.0 : pair[0] == b ? -1.0 : 0.0;
            add_impulse(sum, frame->bodies.position[b], ss_vec3_load(frame->contacts.point[c]), impulse,
                        sign);
        }
        for (int row = 0; row < frame->constraints.row_count; row++) {
            const int *pair = frame->constraints.pair[row / 3];
            for (int i = 0; i < 12; i++)
                if (pair[i / 6] == b)
                    sum[i % 6] += frame->constraints.jacobian[row][i] * answer->row_impulse[row];
        }
        for (int i = 0; i < 6; i++)
            worst = fmax(worst, fabs(defect[i] - frame->h * frame->bodies.force[b][i] - sum[i]));
    }
    return worst;
}

TEST(recovered_answer_balances_momentum_and_obeys_the_joints)
{
    conversion options = defaults();
    ss_random random = ss_random_start(10, 0);
    for (uint64_t seed = 0; seed < 10; seed++) {
        ss_frame *frame = rigid_frame(seed, 6, 8, 2);
        ss_cone *global = global_of(frame, &options);
        double r[24];
        for (int i = 0; i < 24; i++) r[i] = ss_random_between(&random, -1, 1);
        ss_answer *answer = cone_recover(frame, &options, &(ss_cone_point){.r = r}, NULL);
        ENSURE(answer);
        ENSURE_NEAR(momentum_defect(frame, answer), 0.0, 1e-12); // rounding of sums of some ten terms
        ss_cone_point point;
        ENSURE(cone_point_from_answer(frame, &options, global, answer, &point, NULL));
        ss_cone_residual residual;
        ENSURE(ss_cone_residual_of(global, &point, &residual, NULL));
        // tolerance: rounding, and the condition number of R, below 1e4
        ENSURE_NEAR(largest_difference(point.r, r, 24), 0.0, 1e-14);
        ENSURE_NEAR(residual.bilateral, 0.0, 1e-10);
        ENSURE_NEAR(residual.balance, 0.0, 1e-12);
        ENSURE_NEAR(residual.velocity, 0.0, 1e-12);
        ss_cone_point_free(&point);
        ss_answer_destroy(answer);
        ss_cone_destroy(global);
        ss_frame_destroy(frame);
    }
}

TEST(local_and_eliminated_problems_recover_to_the_same_answer)
{
    conversion options = defaults();
    ss_frame *frame = rigid_frame(11, 6, 8, 2);
    ss_cone *forms[3] = {global_of(frame, &options),
                         cone_local_from_frame(frame, &options, false, "", NULL, NULL),
                         cone_local_from_frame(frame, &options, true, "", NULL, NULL)};
    ss_answer *first = NULL;
    for (int k = 0; k < 3; k++) {
        ss_cone_point point;
        ENSURE(forms[k] && ss_cone_point_create(forms[k], &point, NULL));
        for (int i = 0; i < 24; i++) point.r[i] = 0.1 * (i % 5);
        ENSURE(ss_cone_point_complete(forms[k], &point, NULL));
        ss_answer *answer = cone_recover(frame, &options, &point, NULL);
        ENSURE(answer);
        if (!first) first = answer;
        // tolerance: rounding, and the condition number of R, below 1e4
        ENSURE_NEAR(largest_difference(answer->velocity[0], first->velocity[0], 36), 0.0, 1e-11);
        ENSURE_NEAR(largest_difference(answer->row_impulse, first->row_impulse, 6), 0.0, 1e-11);
        if (answer != first) ss_answer_destroy(answer);
        ss_cone_point_free(&point);
        ss_cone_destroy(forms[k]);
    }
    ss_answer_destroy(first);
    ss_frame_destroy(frame);
}

TEST(point_of_another_frame_is_refused)
{
    ss_error err;
    conversion options = defaults();
    ss_frame *frame = rigid_frame(12, 3, 4, 0), *other = rigid_frame(12, 3, 5, 0);
    ss_cone *cone = global_of(other, &options);
    ss_answer *answer = ss_answer_create(frame, false, &err);
    ss_cone_point point;
    ENSURE(!cone_point_from_answer(frame, &options, cone, answer, &point, &err));
    ENSURE_CONTAINS(err.message, "not made from this frame");
    ss_answer_destroy(answer);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
    ss_frame_destroy(other);
}

/* ---- invariances ---------------------------------------------------------------------------------- */

static void rotate_vector(ss_mat3 R, double *v)
{
    ss_vec3_store(ss_mat3_apply(R, ss_vec3_load(v)), v);
}

static void rotate_world(ss_frame *frame, ss_mat3 R)
{
    for (int b = 0; b < frame->bodies.count; b++) {
        double *six[2] = {frame->bodies.velocity[b], frame->bodies.force[b]};
        rotate_vector(R, frame->bodies.position[b]);
        for (int k = 0; k < 4; k++) rotate_vector(R, six[k / 2] + 3 * (k % 2));
        ss_mat3_store(ss_mat3_rotate_tensor(R, ss_mat3_load(frame->bodies.inertia[b])),
                      frame->bodies.inertia[b]);
    }
    for (int c = 0; c < frame->contacts.count; c++) {
        rotate_vector(R, frame->contacts.point[c]);
        rotate_vector(R, frame->contacts.normal[c]);
        rotate_vector(R, frame->contacts.tangent[c]);
    }
    for (int row = 0; row < frame->constraints.row_count; row++) {
        for (int k = 0; k < 4; k++) rotate_vector(R, frame->constraints.jacobian[row] + 3 * k);
    }
}

TEST(turning_the_world_leaves_the_local_problem_alone)
{
    conversion options = defaults();
    ss_random random = ss_random_start(13, 0);
    for (uint64_t seed = 0; seed < 5; seed++) {
        ss_frame *frame = rigid_frame(seed, 6, 8, 2);
        ss_cone *before = cone_local_from_frame(frame, &options, false, "", NULL, NULL);
        rotate_world(frame, random_rotation(&random));
        ss_cone *after = cone_local_from_frame(frame, &options, false, "", NULL, NULL);
        ENSURE(before && after);
        // tolerance: rounding of the rotation
        ENSURE_NEAR(matrix_difference(before->W, after->W), 0.0, 1e-14);
        ENSURE_NEAR(matrix_difference(before->V, after->V), 0.0, 1e-14);
        ENSURE_NEAR(matrix_difference(before->R, after->R), 0.0, 1e-14);
        ENSURE_NEAR(largest_difference(before->q, after->q, 24), 0.0, 1e-13);
        ENSURE_NEAR(largest_difference(before->s, after->s, 6), 0.0, 1e-13);
        ss_cone_destroy(before);
        ss_cone_destroy(after);
        ss_frame_destroy(frame);
    }
}

static void scale_all(double *values, int count, double factor)
{
    for (int i = 0; i < count; i++) values[i] *= factor;
}

/* The same frame in other units: lengths times `length`, masses times `mass`, seconds stay. */
static void change_units(ss_frame *frame, double length, double mass)
{
    for (int b = 0; b < frame->bodies.count; b++) {
        frame->bodies.mass[b] *= mass;
        scale_all(frame->bodies.inertia[b], 9, mass * length * length);
        scale_all(frame->bodies.position[b], 3, length);
        scale_all(frame->bodies.velocity[b], 3, length);
        scale_all(frame->bodies.force[b], 3, mass * length);
        scale_all(frame->bodies.force[b] + 3, 3, mass * length * length);
    }
    for (int c = 0; c < frame->contacts.count; c++) {
        scale_all(frame->contacts.point[c], 3, length);
        frame->contacts.gap[c] *= length;
    }
}

/* kg to g and m to mm: velocities are 1000 times as large, W = velocity / impulse 1000 / (1000 * 1000). */
TEST(grams_and_millimetres_scale_the_problem_as_they_must)
{
    static const double units[2][2] = {{1024.0, 256.0}, {1000.0, 1000.0}}; // length, mass
    for (int k = 0; k < 2; k++) {
        double length = units[k][0], mass = units[k][1];
        double tolerance = k == 0 ? 0.0 : 1e-13; // powers of two do not round
        conversion options = defaults();
        ss_frame *frame = rigid_frame(14, 6, 8, 0);
        ss_cone *before = cone_local_from_frame(frame, &options, false, "", NULL, NULL);
        change_units(frame, length, mass);
        ss_cone *after = cone_local_from_frame(frame, &options, false, "", NULL, NULL);
        ENSURE(before && after);
        scale_all(after->q, 24, 1.0 / length);
        scale_all(after->W->value, ss_sparse_nonzeros(after->W), mass);
        ENSURE_NEAR(largest_difference(before->q, after->q, 24), 0.0, tolerance);
        ENSURE_NEAR(matrix_difference(before->W, after->W), 0.0, tolerance);
        ss_cone_destroy(before);
        ss_cone_destroy(after);
        ss_frame_destroy(frame);
    }
}

/* ---- options and memory --------------------------------------------------------------------------- */

TEST(options_have_names_defaults_and_ranges)
{
    ss_error err;
    const ss_formulation *cone = ss_formulation_find("cone");
    ss_assembly *assembly = ss_assembly_create(cone, NULL, &err);
    ss_step_options *step = ss_assembly_options(assembly);
    ENSURE_INT(step->gap_term, SS_GAP_PREVENTIVE);
    ENSURE_NEAR(step->gamma, 1.0, 0.0);
    ENSURE(ss_options_assign(cone->options, step, "gap_term=restitution", &err));
    ENSURE_INT(step->gap_term, SS_GAP_RESTITUTION);
    ENSURE(!ss_options_assign(cone->options, step, "gamma=2", &err));
    step->gamma = -1.0;
    ENSURE(!ss_assembly_create(cone, step, &err));
    ENSURE_CONTAINS(err.message, "gamma");
    ss_assembly_destroy(assembly);
}

static bool there_and_back(const ss_frame *frame, ss_error *err)
{
    conversion options = defaults();
    ss_cone_point point = {0};
    ss_answer *answer = NULL;
    ss_cone *cone = cone_from_frame(frame, &options, "", NULL, err);
    ss_cone *local = cone ? cone_local_from_frame(frame, &options, true, "", NULL, err) : NULL;
    ss_frame *back = local ? ss_frame_from_cone(cone, 0.01, NULL, err) : NULL;
    bool good = back && ss_cone_point_create(local, &point, err);
    if (good) answer = cone_recover(frame, &options, &point, err);
    ss_cone_point_free(&point);
    good = good && answer && cone_point_from_answer(frame, &options, cone, answer, &point, err);
    ss_cone_point_free(&point);
    ss_answer_destroy(answer);
    ss_frame_destroy(back);
    ss_cone_destroy(local);
    ss_cone_destroy(cone);
    return good;
}

TEST(lack_of_memory_anywhere_is_told_and_nothing_leaks)
{
    ss_frame *frame = rigid_frame(20, 3, 3, 1);
    for (long n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        bool good = there_and_back(frame, &err);
        ENSURE_INT(faults.live, 0);
        if (!faults_stop()) {
            ENSURE(good);
            break;
        }
        ENSURE(!good);
        ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    }
    ss_frame_destroy(frame);
}

TEST_MAIN
