/* Frames with alternatives: the law, its solution by selection, and what is stored of it. */
#include "kit.h"
#include "peg_kit.h"
#include "scratch.h"

#include "frame/alternatives.h"

#include <stickslip/recorder.h>

typedef struct outcome {
    double top, side; /* N s, on the two faces */
    ss_peg_status status;
    double penetration, open_push, inactive_push;
    int solves, consistent, selection;
    double velocity[6];
} outcome;

static double metric(const ss_result *result, const char *name)
{
    return result->metrics[ss_metric_index(name)].value;
}

static outcome solve(const ss_frame *frame, const char *formulation, const char *with, const char *solver,
                     const char *peg)
{
    ss_error err = {0};
    ss_request request = {
        .formulation = formulation, .with = with, .solver = solver, .peg = peg, .skip_exact = true};
    ss_session *session = ss_session_create(&request, &err);
    must(session != NULL, &err);
    const ss_result *result = ss_session_solve(session, frame, NULL, &err);
    must(result != NULL, &err);
    const ss_answer *answer = result->answer;
    outcome out = {.top = answer->normal_impulse[0],
                   .side = answer->subcontacts ? answer->sub_normal_impulse[0] : 0,
                   .penetration = metric(result, "penetration"),
                   .open_push = metric(result, "open_push"),
                   .inactive_push = metric(result, "inactive_push"),
                   .selection = answer->selection ? answer->selection[0] : -1};
    if (result->peg) {
        out.status = result->peg->status;
        out.solves = result->peg->solves;
        out.consistent = result->peg->consistent;
    }
    memcpy(out.velocity, answer->velocity[0], sizeof out.velocity);
    ss_session_destroy(session);
    return out;
}

/* ---- the vertex at the corner ----------------------------------------------------------------------- */

/* Impulses by hand: A = [2.5 -1.5; -1.5 2.5], b = (y/h - 3.0981, x/h); the oracle of the design has 5
 * digits. */
static const double digits = 5e-6;

static const struct {
    double x, y, both_top, both_side, peg;
} corner[] = {{0.005, 0.02, 0.49881, 0.09929, 0},
              {0.005, -0.01, 2.37381, 1.22429, 0},
              {-0.005, 0.02, 0.87381, 0.72429, 0.43924}};

TEST(half_spaces_of_both_faces_stop_a_vertex_that_passes)
{
    for (int i = 0; i < 3; i++) {
        ss_frame *frame = vertex_at_corner(corner[i].x, corner[i].y);
        outcome st = solve(frame, "stewart-trinkle", NULL, "lemke", "all");
        ENSURE_NEAR(st.top, corner[i].both_top, digits);
        ENSURE_NEAR(st.side, corner[i].both_side, digits);
        outcome ap = solve(frame, "anitescu-potra", "contact_margin=inf", "lemke", "all");
        ENSURE_NEAR(ap.top, 1.93631, digits);
        ENSURE_NEAR(ap.side, 1.16179, digits);
        ss_frame_destroy(frame);
    }
}

TEST(the_top_face_alone_stops_it_as_published)
{
    ss_frame *passing = vertex_at_corner(0.005, 0.02), *below = vertex_at_corner(0.005, -0.01);
    ENSURE_NEAR(solve(passing, "stewart-trinkle", NULL, "lemke", "off").top, 0.43924, digits);
    ENSURE_NEAR(solve(below, "stewart-trinkle", NULL, "lemke", "off").top, 1.63924, digits);
    ENSURE_NEAR(solve(passing, "anitescu-potra", "contact_margin=inf", "lemke", "off").top, 1.23924, digits);
    ss_frame_destroy(passing);
    ss_frame_destroy(below);
}

TEST(a_vertex_that_passes_a_corner_feels_nothing)
{
    static const char *const methods[][2] = {
        {"stewart-trinkle", "lemke"}, {"cone", "interior-point"}, {"cone", "nsgs"}, {"box", "pgs"}};
    for (int m = 0; m < 4; m++) {
        for (int i = 0; i < 3; i++) {
            ss_frame *frame = vertex_at_corner(corner[i].x, corner[i].y);
            outcome peg = solve(frame, methods[m][0], NULL, methods[m][1], NULL);
            ENSURE_NEAR(peg.top, corner[i].peg, digits);
            ENSURE_NEAR(peg.side, 0.0, 0.0);
            ENSURE_INT(peg.status, SS_PEG_CONSISTENT);
            ENSURE_NEAR(peg.penetration, 0.0, 1e-10); // solved to 1e-8 of 3 m/s, times h
            ENSURE_NEAR(peg.open_push, 0.0, 1e-9);
            ENSURE_NEAR(peg.inactive_push, 0.0, 0.0);
            ss_frame_destroy(frame);
        }
    }
}

TEST(trying_all_selections_finds_the_least_push_which_may_be_on_the_wrong_face)
{
    // the law has several solutions; the one nearest to the free motion climbs a step in the third case
    static const double side[3] = {0, 0, 0.2};
    for (int i = 0; i < 3; i++) {
        ss_frame *frame = vertex_at_corner(corner[i].x, corner[i].y);
        outcome all = solve(frame, "stewart-trinkle", NULL, "lemke", "enumerate");
        ENSURE_NEAR(all.top, 0.0, 0.0);
        ENSURE_NEAR(all.side, side[i], 1e-12);
        ENSURE_INT(all.status, SS_PEG_CONSISTENT);
        ENSURE_INT(all.consistent, 2);
        ss_frame_destroy(frame);
    }
}

TEST(metrics_see_a_push_between_bodies_that_end_apart)
{
    // the answer of the top face alone, claimed to be one of exact geometry
    ss_error err = {0};
    ss_frame *frame = vertex_at_corner(0.02, 0.02);
    ss_request request = {.formulation = "stewart-trinkle", .solver = "lemke", .peg = "off"};
    ss_session *session = ss_session_create(&request, &err);
    must(session != NULL, &err);
    const ss_result *result = ss_session_solve(session, frame, NULL, &err);
    must(result != NULL, &err);
    ss_answer *claimed = (ss_answer *)(uintptr_t)result->answer;
    ENSURE_INT(claimed->selection[0], -1); // ordinary contacts are judged as such
    ENSURE(!result->metrics[ss_metric_index("open_push")].applies);
    claimed->selection[0] = 0;
    ss_metric_value values[64];
    ENSURE(ss_metric_count() <= 64);
    must(ss_judge_frame(frame, NULL, claimed, values, NULL, &err), &err);
    // it ends on the top's plane, but beside the body: Phi = 0.02 + 0.01 * 0.1 * spin
    double phi = 0.02 + 0.01 * (claimed->velocity[0][0] + 0.1 * claimed->velocity[0][5]);
    ENSURE(phi > 1e-3);
    ENSURE_NEAR(values[ss_metric_index("open_push")].value, 0.43924 * phi / 0.01, 1e-5);
    ENSURE_NEAR(values[ss_metric_index("inactive_push")].value, 1.0, 0.0);
    ENSURE_NEAR(values[ss_metric_index("penetration")].value, 0.0, 1e-12);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

TEST(energy_exact_is_left_out_only_where_that_is_asked_for)
{
    ss_error err = {0};
    int exact = ss_metric_index("energy_exact");
    ss_frame *frame = vertex_at_corner(-0.005, 0.02);
    for (int skip = 0; skip < 2; skip++) {
        ss_request request = {.formulation = "stewart-trinkle", .solver = "lemke", .skip_exact = skip};
        ss_session *session = ss_session_create(&request, &err);
        must(session != NULL, &err);
        const ss_result *result = ss_session_solve(session, frame, NULL, &err);
        must(result && result->peg, &err);
        ENSURE(result->metrics[exact].applies == !skip);
        if (!skip) ENSURE_NEAR(result->metrics[exact].value, 0.0, 1e-12); // J; lemke is direct
        ss_session_destroy(session);
    }
    ss_frame_destroy(frame);
}

/* Two corners, of which the first is not looked at: what is judged does not depend on their order. */
TEST(a_group_without_a_selection_does_not_hide_the_others_from_the_metrics)
{
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(2, 0, 0, 2, &err);
    must(frame && ss_frame_add_alternatives(frame, 2, 2, &err), &err);
    ss_answer *answer = NULL;
    frame->h = 0.01;
    for (int i = 0; i < 2; i++) {
        ss_frame_set_planar_body(frame, i, 1, 1, (double[3]){2 * i, 1, 0}, (double[3]){0}, (double[3]){0});
        frame->contacts.pair[i][0] = SS_WORLD;
        frame->contacts.pair[i][1] = i;
        frame->contacts.normal[i][1] = 1;
        frame->subcontacts.contact_group[i] = frame->subcontacts.group[i] = i;
        frame->subcontacts.cut[i] = 0.01;
        frame->subcontacts.alternative[i] = 1;
        frame->subcontacts.normal[i][0] = 1;
        frame->subcontacts.gap[i] = 0.02; // the bodies are apart, by the side
    }
    must((answer = ss_answer_create(frame, false, &err)) != NULL, &err);
    ss_metric_value values[64];
    for (int pushed = 0; pushed < 2; pushed++) {
        for (int i = 0; i < 2; i++) {
            answer->selection[i] = i == pushed ? 0 : -1;
            answer->normal_impulse[i] = i == pushed;
        }
        must(ss_judge_frame(frame, NULL, answer, values, NULL, &err), &err);
        const ss_metric_value *open = &values[ss_metric_index("open_push")];
        ENSURE(open->applies);
        ENSURE_NEAR(open->value, 1 * 0.02 / 0.01, 1e-12); // N s by m/s, exact up to rounding
        ENSURE_INT(open->worst_contact, pushed);
    }
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* The same group with its alternatives in the other order. */
static ss_frame *swapped(const ss_frame *from)
{
    ss_frame *frame = ss_frame_copy(from, NULL);
    memcpy(frame->contacts.normal[0], from->subcontacts.normal[0], sizeof frame->contacts.normal[0]);
    memcpy(frame->subcontacts.normal[0], from->contacts.normal[0], sizeof frame->contacts.normal[0]);
    frame->contacts.gap[0] = from->subcontacts.gap[0];
    frame->subcontacts.gap[0] = from->contacts.gap[0];
    return frame;
}

/* ---- the published problem -------------------------------------------------------------------------- */

/* Eq. 6 has up to three solutions, because the normals are more than 90 degrees apart in the metric of the
 * masses: free, balanced and blocked. All are listed; a solver may find any of them. */
TEST(the_published_mlcp_has_the_solutions_that_were_found_by_hand)
{
    static const double top[3][3] = {
        {0, 1.0 / 3, 0.43924}, {0, 1.0 / 3, 1.63924}, {0.43924, 0.43924, 0.43924}};
    static const double side[3] = {0, 0, 0.2};
    static const char *const solvers[] = {"lemke", "path", "enumerate"};
    for (int i = 0; i < 3; i++) {
        ss_frame *frame = vertex_at_corner(corner[i].x, corner[i].y), *other = swapped(frame);
        for (int s = 0; s < 3; s++) {
            outcome first = solve(frame, "peg-mlcp", "primary=first", solvers[s], NULL);
            double nearest = INFINITY;
            for (int k = 0; k < 3; k++) nearest = fmin(nearest, fabs(first.top - top[i][k]));
            ENSURE(nearest < digits);
            ENSURE_NEAR(first.side, 0.0, 0.0);
            outcome second = solve(other, "peg-mlcp", "primary=first", solvers[s], NULL);
            ENSURE_NEAR(second.top, side[i], digits);
        }
        ss_frame_destroy(frame);
        ss_frame_destroy(other);
    }
}

TEST(the_published_choice_of_the_primary_is_right_at_one_corner)
{
    for (int i = 0; i < 3; i++) {
        ss_frame *frame = vertex_at_corner(corner[i].x, corner[i].y);
        outcome mixed = solve(frame, "peg-mlcp", "form=mixed", "lemke", NULL);
        outcome out = solve(frame, "peg-mlcp", NULL, "lemke", NULL);
        ENSURE_NEAR(out.top, corner[i].peg, digits);
        ENSURE_NEAR(out.side, 0.0, 0.0);
        ENSURE_NEAR(mixed.top, out.top, 1e-12);
        ENSURE_NEAR(out.penetration, 0.0, 1e-12);
        ENSURE_INT(out.selection, i == 2 ? 0 : 1); // with the smallest gap that is not negative
        ss_frame_destroy(frame);
    }
}

TEST(without_alternatives_the_published_mlcp_is_stewart_and_trinkles)
{
    ss_error err = {0};
    ss_frame *frame = vertex_at_corner(0.005, 0.02), *plain;
    int32_t selection[1] = {0};
    frame->contacts.mu[0][0] = frame->contacts.mu[0][1] = 0.3;
    plain = ss_frame_select(frame, selection, NULL, NULL, &err);
    must(plain != NULL, &err);
    outcome a = solve(plain, "stewart-trinkle", NULL, "lemke", NULL);
    outcome b = solve(plain, "peg-mlcp", NULL, "lemke", NULL);
    ENSURE(memcmp(a.velocity, b.velocity, sizeof a.velocity) == 0);
    ss_frame_destroy(frame);
    ss_frame_destroy(plain);
}

/* ---- what must make no difference ------------------------------------------------------------------- */

TEST(the_order_of_alternatives_makes_no_difference)
{
    for (int i = 0; i < 3; i++) {
        ss_frame *one = vertex_at_corner(corner[i].x, corner[i].y), *two = swapped(one);
        outcome a = solve(one, "stewart-trinkle", NULL, "lemke", NULL);
        outcome b = solve(two, "stewart-trinkle", NULL, "lemke", NULL);
        ENSURE_NEAR(a.top, b.side, 0.0);
        ENSURE_NEAR(a.side, b.top, 0.0);
        ENSURE(memcmp(a.velocity, b.velocity, sizeof a.velocity) == 0);
        ss_frame_destroy(one);
        ss_frame_destroy(two);
    }
}

TEST(one_alternative_per_group_is_the_plain_formulation_bit_for_bit)
{
    static const char *const methods[][2] = {{"stewart-trinkle", "lemke"}, {"cone", "nsgs"}, {"box", "pgs"}};
    ss_error err = {0};
    ss_random random = ss_random_start(15, 0);
    for (int trial = 0; trial < 20; trial++) {
        ss_frame *plain = ss_frame_create(3, 0, 0, 8, &err);
        must(plain != NULL, &err);
        plain->h = 0.01;
        for (int b = 0; b < 3; b++) {
            plain->bodies.mass[b] = 1.0 + ss_random_real(&random);
            for (int k = 0; k < 3; k++) {
                plain->bodies.inertia[b][4 * k] = 0.1 + 0.02 * ss_random_real(&random);
                plain->bodies.velocity[b][k] = ss_random_between(&random, -1, 1);
            }
            plain->bodies.force[b][2] = -9.81 * plain->bodies.mass[b];
            plain->bodies.position[b][2] = b;
        }
        for (int c = 0; c < 8; c++) {
            plain->contacts.pair[c][0] = c / 4 - 1;
            plain->contacts.pair[c][1] = c / 4;
            plain->contacts.normal[c][2] = 1;
            plain->contacts.point[c][0] = (c & 1) - 0.5;
            plain->contacts.point[c][1] = (c & 2) / 2 - 0.5;
            plain->contacts.point[c][2] = c / 4 - 0.5;
            plain->contacts.mu[c][0] = plain->contacts.mu[c][1] = 0.4;
            plain->contacts.gap[c] = ss_random_between(&random, 0, 1e-3);
        }
        ss_frame *grouped = ss_frame_copy(plain, &err);
        must(grouped && ss_frame_add_alternatives(grouped, 2, 0, &err), &err);
        for (int c = 0; c < 8; c++) grouped->subcontacts.contact_group[c] = c / 4;
        for (int m = 0; m < 3; m++) {
            ss_request request = {.formulation = methods[m][0], .solver = methods[m][1], .skip_exact = true};
            ss_session *one = ss_session_create(&request, &err), *two = ss_session_create(&request, &err);
            must(one && two, &err);
            const ss_result *a = ss_session_solve(one, plain, NULL, &err);
            const ss_result *b = ss_session_solve(two, grouped, NULL, &err);
            must(a && b, &err);
            ENSURE_INT(b->peg->solves, 1);
            ENSURE(memcmp(a->answer->velocity, b->answer->velocity, 3 * sizeof *a->answer->velocity) == 0);
            ENSURE(memcmp(a->answer->normal_impulse, b->answer->normal_impulse, 8 * sizeof(double)) == 0);
            ENSURE(memcmp(a->answer->friction_impulse, b->answer->friction_impulse, 24 * sizeof(double)) ==
                   0);
            ss_session_destroy(one);
            ss_session_destroy(two);
        }
        ss_frame_destroy(plain);
        ss_frame_destroy(grouped);
    }
}

TEST(selecting_the_contacts_gives_back_the_frame_bit_for_bit)
{
    ss_error err = {0};
    ss_frame *frame = vertex_at_corner(0.005, 0.02), *bare = ss_frame_copy(frame, &err);
    must(bare && ss_frame_enable(frame, "contacts/t_u", &err) &&
             ss_frame_enable(bare, "contacts/t_u", &err) &&
             ss_frame_enable(frame, "contacts/lever_arms", &err) &&
             ss_frame_enable(bare, "contacts/lever_arms", &err),
         &err);
    int origin[2];
    int32_t first[1] = {0}, second[1] = {1};
    ss_frame *zero = ss_frame_select(frame, first, NULL, origin, &err);
    must(zero != NULL, &err);
    ENSURE_INT(zero->contacts.count, 1);
    ENSURE_INT(origin[0], 0);
    ENSURE_INT(zero->subcontacts.groups, 0);
    ENSURE(memcmp(zero->contacts.tangent, bare->contacts.tangent, sizeof *zero->contacts.tangent) == 0);
    ENSURE(memcmp(zero->contacts.lever_arm, bare->contacts.lever_arm, sizeof *zero->contacts.lever_arm) == 0);
    ss_frame *one = ss_frame_select(frame, second, NULL, origin, &err);
    must(one != NULL, &err);
    ENSURE_INT(origin[0], 1);
    ENSURE_NEAR(one->contacts.gap[0], 0.005, 0.0);
    ENSURE_NEAR(one->contacts.normal[0][0], 1.0, 0.0);
    ENSURE_NEAR(one->contacts.tangent[0][0], 0.0, 1e-15); // across the new normal
    ENSURE_NEAR(one->contacts.lever_arm[0][3], -0.1, 1e-15);
    ss_frame *all = ss_frame_select(frame, NULL, NULL, origin, &err);
    must(all != NULL, &err);
    ENSURE_INT(all->contacts.count, 2);
    ss_frame_destroy(zero);
    ss_frame_destroy(one);
    ss_frame_destroy(all);
    ss_frame_destroy(frame);
    ss_frame_destroy(bare);
}

/* ---- the path of a step ----------------------------------------------------------------------------- */

/* A cube of 5 cm above a plate of 2 cm, moving down: faces below and above, one contact point each, straight
 * under the centre. Without rotation the law is one-dimensional. */
static ss_frame *plate(double gap, double speed, double cut)
{
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, &err);
    must(frame && ss_frame_add_alternatives(frame, 1, 1, &err), &err);
    frame->h = 0.01;
    frame->bodies.mass[0] = 1;
    for (int k = 0; k < 3; k++) frame->bodies.inertia[0][4 * k] = 1;
    frame->bodies.velocity[0][2] = -speed;
    frame->contacts.pair[0][1] = 0;
    frame->contacts.normal[0][2] = 1;
    frame->contacts.gap[0] = gap;
    frame->subcontacts.contact_group[0] = 0;
    frame->subcontacts.cut[0] = cut;
    frame->subcontacts.alternative[0] = 1;
    frame->subcontacts.normal[0][2] = -1;
    frame->subcontacts.gap[0] = -gap - 0.07; // from below: through plate and cube
    return frame;
}

TEST(a_fast_cube_does_not_pass_a_thin_plate_within_a_step)
{
    ss_frame *frame = plate(0.05, 20, 0.001); // ends 0.15 m lower: apart, on the other side
    outcome out = solve(frame, "stewart-trinkle", NULL, "lemke", NULL);
    ENSURE_NEAR(out.top, 15.0, 1e-12);
    ENSURE_NEAR(out.side, 0.0, 0.0);
    frame->subcontacts.cut[0] = INFINITY; // may cut as deep as it likes: the end of the step is apart
    outcome through = solve(frame, "stewart-trinkle", NULL, "lemke", NULL);
    ENSURE_NEAR(through.top, 0.0, 0.0);
    ss_frame_destroy(frame);
}

TEST(contradictory_walls_are_reported_as_jammed_and_do_not_explode)
{
    // between two walls that are nearer than the body is wide
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(1, 0, 0, 2, &err);
    must(frame && ss_frame_add_alternatives(frame, 2, 0, &err), &err);
    frame->h = 0.01;
    frame->bodies.mass[0] = 1;
    for (int k = 0; k < 3; k++) frame->bodies.inertia[0][4 * k] = 1;
    frame->bodies.velocity[0][0] = 1;
    for (int c = 0; c < 2; c++) {
        frame->contacts.pair[c][1] = 0;
        frame->contacts.normal[c][0] = c ? 1 : -1;
        frame->contacts.gap[c] = -1e-3;
        frame->subcontacts.contact_group[c] = c;
        frame->subcontacts.cut[c] = 0.05;
    }
    outcome out = solve(frame, "stewart-trinkle", NULL, "lemke", NULL);
    ENSURE_INT(out.status, SS_PEG_JAMMED);
    ENSURE_NEAR(out.velocity[0], 0.0, 1e-9);
    ENSURE(out.top < 10.0);
    ss_frame_destroy(frame);
}

/* A body between walls that are nearer than it is wide, and, far away, a square that lands on a corner or
 * passes it: the one is jammed, the other does not notice. */
TEST(a_jam_does_not_change_what_happens_elsewhere)
{
    ss_error err = {0};
    for (int i = 0; i < 3; i++) {
        ss_frame *alone = vertex_at_corner(corner[i].x, corner[i].y);
        ss_frame *frame = ss_frame_create(2, 0, 0, 3, &err);
        must(frame && ss_frame_add_alternatives(frame, 3, 1, &err), &err);
        frame->h = 0.01;
        ss_frame_set_planar_body(frame, 0, 1, 0.08 / 12, alone->bodies.position[0], alone->bodies.velocity[0],
                                 alone->bodies.force[0]);
        ss_frame_set_planar_body(frame, 1, 1, 1, (double[3]){5, 5, 0}, (double[3]){1, 0, 0}, (double[3]){0});
        for (int c = 0; c < 3; c++) {
            const double *point = c ? frame->bodies.position[1] : alone->contacts.point[0];
            memcpy(frame->contacts.point[c], point, sizeof frame->contacts.point[c]);
            frame->contacts.pair[c][0] = SS_WORLD;
            frame->contacts.pair[c][1] = c > 0;
            frame->contacts.normal[c][c > 0 ? 0 : 1] = c == 2 ? -1 : 1;
            frame->contacts.gap[c] = c ? -1e-3 : alone->contacts.gap[0];
            frame->subcontacts.contact_group[c] = c;
            frame->subcontacts.cut[c] = alone->subcontacts.cut[0];
        }
        frame->subcontacts.alternative[0] = 1;
        memcpy(frame->subcontacts.point[0], alone->subcontacts.point[0], sizeof(double[3]));
        memcpy(frame->subcontacts.normal[0], alone->subcontacts.normal[0], sizeof(double[3]));
        frame->subcontacts.gap[0] = alone->subcontacts.gap[0];

        outcome by_itself = solve(alone, "stewart-trinkle", NULL, "lemke", NULL);
        outcome both = solve(frame, "stewart-trinkle", NULL, "lemke", NULL);
        ENSURE_INT(by_itself.status, SS_PEG_CONSISTENT);
        ENSURE_INT(both.status, SS_PEG_JAMMED);
        ENSURE_NEAR(both.top, by_itself.top, 1e-12); // N s: a direct solver, rounding
        ENSURE_NEAR(both.side, by_itself.side, 1e-12);
        ss_frame_destroy(alone);
        ss_frame_destroy(frame);
    }
}

/* Three bodies on corners of their own. A joint of one with the world, and of another by a further block:
 * these two are one island. */
TEST(islands_are_connected_by_joints_and_their_further_blocks)
{
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(3, 1, 1, 3, &err);
    must(frame && ss_frame_add_alternatives(frame, 3, 0, &err), &err);
    for (int c = 0; c < 3; c++) {
        frame->contacts.pair[c][1] = c;
        frame->subcontacts.contact_group[c] = c;
    }
    frame->constraints.pair[0][1] = 0;
    ss_groups groups;
    must(ss_groups_make(frame, &groups, &err), &err);
    ENSURE_INT(groups.island_count, 3);
    ss_groups_free(&groups);

    must(ss_frame_add_further(frame, 1, &err), &err);
    frame->constraints.further_body[0] = 2;
    must(ss_groups_make(frame, &groups, &err), &err);
    ENSURE_INT(groups.island_count, 2);
    ENSURE(groups.island[0] == groups.island[2] && groups.island[1] != groups.island[0]);
    ENSURE(groups.body_island[2] == groups.island[0]);
    ss_groups_free(&groups);
    ss_frame_destroy(frame);
}

/* ---- warm starts ------------------------------------------------------------------------------------ */

/* A wheel without a hub that rolls on two points: its rolling friction is part of a start, too. */
TEST(a_start_from_the_answer_itself_has_the_moments_of_rolling_friction)
{
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(1, 0, 0, 2, &err);
    must(frame && ss_frame_add_alternatives(frame, 1, 0, &err) &&
             ss_frame_enable(frame, "contacts/mu_r", &err),
         &err);
    frame->h = 0.01;
    frame->bodies.mass[0] = 1;
    frame->bodies.velocity[0][0] = 1;
    frame->bodies.velocity[0][4] = 10;
    frame->bodies.force[0][2] = -9.81;
    frame->bodies.position[0][2] = 0.1;
    for (int k = 0; k < 3; k++) frame->bodies.inertia[0][4 * k] = 0.004;
    for (int c = 0; c < 2; c++) {
        frame->contacts.pair[c][0] = SS_WORLD;
        frame->contacts.pair[c][1] = 0;
        frame->contacts.point[c][1] = c ? 0.02 : -0.03;
        frame->contacts.normal[c][2] = 1;
        frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.5;
        frame->contacts.mu_rolling[c] = 0.01;
        frame->subcontacts.contact_group[c] = 0;
    }
    ss_session *session = ss_session_create(
        &(ss_request){.solver = "nsgs", .skip_exact = true, .stop = "relative_energy<1e-10"}, &err);
    must(session != NULL, &err);
    const ss_result *cold = ss_session_solve(session, frame, NULL, &err);
    must(cold && cold->peg && cold->answer->rolling_impulse, &err);
    int iterations = cold->run.iterations;
    ENSURE(iterations > 2 && fabs(cold->answer->rolling_impulse[0][1]) > 1e-6);
    ss_answer *guess = ss_answer_create(frame, true, &err);
    must(guess != NULL, &err);
    for (int c = 0; c < 2; c++) {
        guess->normal_impulse[c] = cold->answer->normal_impulse[c];
        memcpy(guess->friction_impulse[c], cold->answer->friction_impulse[c], sizeof(double[3]));
        memcpy(guess->rolling_impulse[c], cold->answer->rolling_impulse[c], sizeof(double[3]));
    }
    const ss_result *warm = ss_session_solve(session, frame, guess, &err);
    must(warm != NULL, &err);
    ENSURE_INT(warm->run.iterations, 1); // which sees that there is nothing to do
    ss_answer_destroy(guess);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

/* The same wheel on its other alternative, beside a wall that it is behind: the moments of rolling friction
 * are those of the plain frame, are judged, and are in the file. */
TEST(rolling_friction_of_another_alternative_is_answered_judged_and_stored)
{
    ss_error err = {0};
    scratch s = scratch_open();
    ss_frame *plain = ss_frame_create(1, 0, 0, 2, &err), *frame = ss_frame_create(1, 0, 0, 1, &err);
    must(plain && frame && ss_frame_add_alternatives(frame, 1, 2, &err), &err);
    ss_frame *both[2] = {plain, frame};
    for (int i = 0; i < 2; i++) {
        must(ss_frame_enable(both[i], "contacts/mu_r", &err), &err);
        both[i]->h = 0.01;
        both[i]->bodies.mass[0] = 1;
        both[i]->bodies.velocity[0][0] = 1;
        both[i]->bodies.velocity[0][4] = 10;
        both[i]->bodies.force[0][2] = -9.81;
        both[i]->bodies.position[0][2] = 0.1;
        for (int k = 0; k < 3; k++) both[i]->bodies.inertia[0][4 * k] = 0.004;
        for (int c = 0; c < both[i]->contacts.count; c++) {
            both[i]->contacts.pair[c][0] = SS_WORLD;
            both[i]->contacts.pair[c][1] = 0;
            both[i]->contacts.normal[c][2] = 1;
            both[i]->contacts.mu[c][0] = both[i]->contacts.mu[c][1] = 0.5;
            both[i]->contacts.mu_rolling[c] = 0.01;
        }
    }
    frame->contacts.normal[0][0] = -1; // the wall
    frame->contacts.normal[0][2] = 0;
    frame->contacts.gap[0] = -0.5;
    frame->subcontacts.contact_group[0] = 0;
    frame->subcontacts.cut[0] = 0.005;
    for (int c = 0; c < 2; c++) {
        plain->contacts.point[c][1] = frame->subcontacts.point[c][1] = c ? 0.02 : -0.03;
        frame->subcontacts.alternative[c] = 1;
        frame->subcontacts.normal[c][2] = 1;
    }
    ss_request request = {.solver = "nsgs", .skip_exact = true, .stop = "relative_energy<1e-12"};
    ss_session *one = ss_session_create(&request, &err), *two = ss_session_create(&request, &err);
    must(one && two, &err);
    const ss_result *expected = ss_session_solve(one, plain, NULL, &err);
    const ss_result *found = ss_session_solve(two, frame, NULL, &err);
    must(expected && found && found->peg, &err);
    ENSURE_INT(found->answer->selection[0], 1);
    ENSURE(fabs(expected->answer->rolling_impulse[0][1]) > 1e-6);
    for (int c = 0; c < 2; c++) // the same problem, to the bit
        ENSURE(memcmp(found->answer->sub_rolling_impulse[c], expected->answer->rolling_impulse[c],
                      sizeof(double[3])) == 0);
    ENSURE_NEAR(metric(found, "momentum"), 0.0, 1e-12);

    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, &err);
    ss_stored_result result = {.solver = (char *)(uintptr_t) "nsgs",
                               .answer = (ss_answer *)(uintptr_t)found->answer,
                               .iterations = -1,
                               .error = NAN,
                               .seconds = NAN},
                     back;
    must(writer && ss_writer_simulation(writer, NULL, &err) && ss_writer_frame(writer, frame, &err) &&
             ss_writer_result(writer, &result, &err) && ss_writer_close(writer, &err),
         &err);
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, &err);
    must(file && ss_bpmd_result(file, 0, 0, &back, &err), &err);
    ENSURE(memcmp(back.answer->sub_rolling_impulse, found->answer->sub_rolling_impulse,
                  2 * sizeof(double[3])) == 0);
    ss_stored_result_free(&back);
    ss_bpmd_close(file);
    ss_session_destroy(one);
    ss_session_destroy(two);
    ss_frame_destroy(plain);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

/* ---- storing ---------------------------------------------------------------------------------------- */

TEST(frames_with_alternatives_are_copied_compared_and_hashed)
{
    ss_error err = {0};
    ss_frame *frame = vertex_at_corner(0.005, 0.02), *copy = ss_frame_copy(frame, &err);
    must(copy != NULL, &err);
    ENSURE(ss_frame_equal(frame, copy));
    char a[33], b[33];
    ss_frame_hash(frame, a);
    ss_frame_hash(copy, b);
    ENSURE_TEXT(a, b);
    copy->subcontacts.gap[0] = 0.006;
    ss_frame_hash(copy, b);
    ENSURE(!ss_frame_equal(frame, copy));
    ENSURE(strcmp(a, b) != 0);
    ss_frame_destroy(frame);
    ss_frame_destroy(copy);
}

static void spoil(ss_frame *frame, int how)
{
    ss_subcontacts *sub = &frame->subcontacts;
    if (how == 0) sub->contact_group[0] = 1;
    if (how == 1) sub->contact_group[0] = -1;
    if (how == 2) sub->group[0] = -1;
    if (how == 3) sub->alternative[0] = -1;
    if (how == 4) sub->alternative[0] = 7;
    if (how == 5) sub->role[0] = 2;
    if (how == 6) sub->role[0] = SS_ROW_TEST;
    if (how == 7) sub->alternative[0] = 0;
    if (how == 8) sub->normal[0][0] = 0.9;
    if (how == 9) sub->gap[0] = NAN;
    if (how == 10) sub->cut[0] = -1;
    if (how == 11) {
        ss_release(sub->cut);
        sub->cut = NULL;
    }
}

TEST(faults_of_alternatives_are_found_with_their_place)
{
    static const char *const places[] = {
        "contact_groups[0]", "contact_groups", "groups[0]", "alternatives[0]",
        "alternatives[0]",   "roles[0]",       "roles",     "roles[0]",
        "normals[0]",        "gaps[0]",        "cut[0]",    "cut"};
    for (int how = 0; how < 12; how++) {
        ss_frame *frame = vertex_at_corner(0.005, 0.02);
        ss_findings findings = {0};
        ENSURE(ss_frame_check(frame, "F", &findings));
        ENSURE_INT(findings.count, 0);
        spoil(frame, how);
        ENSURE(!ss_frame_check(frame, "F", &findings));
        ENSURE(findings.count >= 1);
        ENSURE_CONTAINS(findings.items[0].place, places[how]);
        ss_findings_free(&findings);
        ss_frame_destroy(frame);
    }
}

TEST(contacts_cannot_be_in_groups_that_do_not_exist)
{
    ss_error err = {0};
    ss_frame *frame = vertex_at_corner(0.005, 0.02);
    ss_frame *bare = ss_frame_select(frame, NULL, NULL, NULL, &err);
    must(bare && ss_frame_add_alternatives(bare, 0, 0, &err), &err);
    ss_findings findings = {0};
    ENSURE(ss_frame_check(bare, "F", &findings));
    ENSURE_INT(findings.count, 0);
    bare->subcontacts.contact_group[0] = 0;
    ENSURE(!ss_frame_check(bare, "F", &findings));
    ENSURE_CONTAINS(findings.items[0].place, "subcontacts/contact_groups[0]");
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
    ss_frame_destroy(bare);
}

TEST(normals_of_one_alternative_must_agree)
{
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(1, 0, 0, 2, &err);
    must(frame && ss_frame_add_alternatives(frame, 1, 0, &err), &err);
    frame->bodies.mass[0] = 1;
    for (int k = 0; k < 3; k++) frame->bodies.inertia[0][4 * k] = 1;
    for (int c = 0; c < 2; c++) {
        frame->contacts.pair[c][1] = 0;
        frame->contacts.normal[c][c] = 1;
        frame->subcontacts.contact_group[c] = 0;
    }
    ss_findings findings = {0};
    ENSURE(!ss_frame_check(frame, "F", &findings));
    ENSURE_CONTAINS(findings.items[0].place, "contacts/normals[1]");
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
}

TEST_MAIN
