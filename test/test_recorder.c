/* Recording from another program: what arrives in the file, what is refused, and how it is told. */
#define _GNU_SOURCE
#include "kit.h"
#include "faults.h"
#include "scratch.h"

#include <stickslip/recorder.h>

#include <pthread.h>

/* ---- a box on the ground, as an engine would hand it over ------------------------------------------ */

static const double origin[3] = {0, 0, 0}, upright[4] = {1, 0, 0, 0}, still[6] = {0};
static const double weight[6] = {0, 0, -9.81, 0, 0, 0}, up[3] = {0, 0, 1};
static const double box_inertia[9] = {0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.25};

static int add_box(ss_recorder *recorder)
{
    return ss_recorder_body(recorder, 1.0, origin, upright, box_inertia, still, weight);
}

static void add_contacts(ss_recorder *recorder, int box, int count)
{
    for (int c = 0; c < count; c++)
        ss_recorder_contact(recorder, SS_WORLD, box, (double[3]){c, 0, -0.5}, up, -1e-4 * c, 0.5);
}

static bool record_good_frame(ss_recorder *recorder, ss_error *err)
{
    ss_recorder_begin(recorder, 0, 0.01);
    add_contacts(recorder, add_box(recorder), 2);
    return ss_recorder_end(recorder, err);
}

/* Frame number f of a file; NULL when it cannot be read. */
static ss_frame *read_back(const char *path, int f, ss_stored_result *result)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, NULL);
    if (!file) return NULL;
    ss_frame *frame = f < ss_bpmd_frame_count(file) ? ss_bpmd_read(file, f, NULL, NULL) : NULL;
    if (frame && result && !ss_bpmd_result(file, f, 0, result, NULL)) result->solver = NULL;
    ss_bpmd_close(file);
    return frame;
}

static int frames_in(const char *path)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, NULL);
    int count = file ? ss_bpmd_frame_count(file) : -1;
    ss_bpmd_close(file);
    return count;
}

/* ---- what arrives ---------------------------------------------------------------------------------- */

TEST(what_was_recorded_is_in_the_file)
{
    scratch s = scratch_open();
    const double other[3] = {3, 0, 0}, jacobian[2][12] = {{1, [6] = -1}, {[1] = 1, [7] = -1}};
    const double violation[2] = {0.1, 0.2}, speed[2] = {0, -3}, bounds[4] = {-1, 1, -INFINITY, INFINITY};
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    ss_recorder_begin(recorder, 1.5, 0.01);
    int a = add_box(recorder), b = ss_recorder_body(recorder, 2, other, upright, box_inertia, still, weight);
    ENSURE(a == 0 && b == 1);
    ENSURE_INT(ss_recorder_joint(recorder, a, b, 2, &jacobian[0][0], violation, speed, bounds), 0);
    ENSURE_INT(ss_recorder_joint(recorder, SS_WORLD, b, 1, (double[12]){[6] = 1}, violation, NULL, NULL), 1);
    ENSURE_INT(ss_recorder_contact(recorder, a, b, other, (double[3]){1, 0, 0}, -0.25, 0.5), 0);
    ENSURE(ss_recorder_end(recorder, NULL) && ss_recorder_close(recorder, NULL));

    ss_frame *frame = read_back(s.file, 0, NULL);
    ENSURE(frame);
    ENSURE(frame->h == 0.01 && frame->time == 1.5);
    ENSURE(frame->bodies.count == 2 && frame->bodies.mass[1] == 2 && frame->bodies.position[1][0] == 3);
    ENSURE(frame->bodies.id[0] == 1 && frame->bodies.id[1] == 2 && frame->bodies.state[1] > 0);
    ENSURE(frame->bodies.force[0][2] == weight[2] && frame->bodies.inertia[1][4] == 0.2);
    ENSURE(frame->constraints.count == 2 && frame->constraints.row_count == 3);
    ENSURE(frame->constraints.pair[0][0] == 0 && frame->constraints.pair[1][0] == SS_WORLD);
    ENSURE(memcmp(frame->constraints.jacobian, jacobian, sizeof jacobian) == 0);
    ENSURE(frame->constraints.violation[1] == 0.2 && frame->constraints.time_derivative[1] == -3);
    ENSURE(frame->constraints.bounds[0][1] == 1 && frame->constraints.time_derivative[2] == 0);
    ENSURE(frame->constraints.bounds[2][0] == -INFINITY && frame->constraints.bounds[2][1] == INFINITY);
    ENSURE(frame->contacts.gap[0] == -0.25 && frame->contacts.normal[0][0] == 1);
    ENSURE(frame->contacts.mu[0][0] == 0.5 && frame->contacts.mu[0][1] == 0.5);
    ENSURE(!frame->contacts.tangent && !frame->contacts.restitution && !frame->contacts.mu_rolling);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST(inertia_in_the_body_frame_turns_with_the_body)
{
    scratch s = scratch_open();
    const double quarter_turn_about_z[4] = {sqrt(0.5), 0, 0, sqrt(0.5)};
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    ss_recorder_begin(recorder, 0, 0.01);
    ss_recorder_body_local(recorder, 1, origin, quarter_turn_about_z, box_inertia, still, weight);
    ENSURE(ss_recorder_end(recorder, NULL) && ss_recorder_close(recorder, NULL));
    ss_frame *frame = read_back(s.file, 0, NULL);
    ENSURE(frame);
    const double expected[9] = {0.2, 0, 0, 0, 0.1, 0, 0, 0, 0.25}; // x and y change places
    // rounding of R I R'
    for (int i = 0; i < 9; i++) ENSURE_NEAR(frame->bodies.inertia[0][i], expected[i], 1e-15);
    ENSURE(frame->bodies.inertia[0][1] == frame->bodies.inertia[0][3]); // symmetric to the last bit
    ss_frame_destroy(frame);
    scratch_close(&s);
}

/* Two faces of a corner, one with a point that only tells whether it holds, beside an ordinary contact; the
 * next frame has none of it. */
TEST(alternatives_that_were_recorded_are_in_the_file)
{
    scratch s = scratch_open();
    const double side[3] = {1, 0, 0}, at[3] = {-0.5, 0, -0.5}, below[3] = {-0.5, 0, -0.7};
    const double normal[2] = {0, 0.25}, friction[2][3] = {{0}, {0, 0.1, 0}};
    const int32_t selection[1] = {1};
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    ss_recorder_begin(recorder, 0, 0.01);
    int box = add_box(recorder);
    add_contacts(recorder, box, 2);
    int group = ss_recorder_group(recorder, 0.05);
    ss_recorder_contact_group(recorder, group);
    ENSURE_INT(ss_recorder_alternative(recorder, group, 1, SS_ROW_TEST, below, side, 2e-3), 0);
    ENSURE_INT(ss_recorder_alternative(recorder, group, 1, SS_ROW_FORCE, at, side, 1e-3), 1);
    ss_recorder_result(recorder, "mine", still, NULL, (double[2]){0}, (double[6]){0});
    ss_recorder_result_alternatives(recorder, selection, normal, friction[0]);
    ENSURE(ss_recorder_end(recorder, NULL));
    ENSURE(record_good_frame(recorder, NULL));
    ENSURE(ss_recorder_close(recorder, NULL));

    ss_stored_result result;
    ss_frame *frame = read_back(s.file, 0, &result), *plain = read_back(s.file, 1, NULL);
    ENSURE(frame && plain && result.solver);
    const ss_subcontacts *sub = &frame->subcontacts;
    ENSURE_INT(sub->groups, 1);
    ENSURE_INT(sub->count, 2);
    ENSURE_INT(sub->contact_group[0], -1);
    ENSURE_INT(sub->contact_group[1], 0);
    ENSURE(sub->cut[0] == 0.05 && sub->gap[0] == 2e-3 && sub->gap[1] == 1e-3);
    ENSURE(sub->role[0] == SS_ROW_TEST && sub->role[1] == SS_ROW_FORCE);
    ENSURE(sub->alternative[0] == 1 && sub->alternative[1] == 1);
    ENSURE(memcmp(sub->point[0], below, sizeof below) == 0 && memcmp(sub->normal[1], side, sizeof side) == 0);
    ENSURE_INT(result.answer->selection[0], 1);
    ENSURE(memcmp(result.answer->sub_normal_impulse, normal, sizeof normal) == 0);
    ENSURE(memcmp(result.answer->sub_friction_impulse, friction, sizeof friction) == 0);
    ENSURE_INT(plain->subcontacts.groups, 0);
    ss_stored_result_free(&result);
    ss_frame_destroy(frame);
    ss_frame_destroy(plain);
    scratch_close(&s);
}

TEST(a_tangent_given_to_one_contact_gives_the_others_the_usual_one)
{
    scratch s = scratch_open();
    const double diagonal[3] = {sqrt(0.5), sqrt(0.5), 0};
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    ss_recorder_begin(recorder, 0, 0.01);
    int box = add_box(recorder);
    add_contacts(recorder, box, 2);
    ss_recorder_contact_extras(recorder, diagonal, 0.25, 0.75, -1);
    ss_recorder_contact_spin(recorder, 0.02, SS_SPIN_ELLIPSOID);
    add_contacts(recorder, box, 1);
    ENSURE(ss_recorder_end(recorder, NULL));
    ENSURE(record_good_frame(recorder, NULL)); // extras end with their frame
    ENSURE(ss_recorder_close(recorder, NULL));

    ss_frame *frame = read_back(s.file, 0, NULL), *plain = read_back(s.file, 1, NULL);
    ENSURE(frame && plain && frame->contacts.tangent && frame->contacts.restitution);
    ENSURE(memcmp(frame->contacts.tangent[1], diagonal, sizeof diagonal) == 0);
    double t_u[3], t_v[3];
    ss_contact_tangents(plain, 0, t_u, t_v);
    ENSURE(memcmp(frame->contacts.tangent[0], t_u, sizeof t_u) == 0);
    ENSURE(memcmp(frame->contacts.tangent[2], t_u, sizeof t_u) == 0);
    ENSURE(frame->contacts.mu[0][1] == 0.5 && frame->contacts.mu[1][1] == 0.25 &&
           frame->contacts.mu[1][0] == 0.5);
    ENSURE(frame->contacts.restitution[0] == 0 && frame->contacts.restitution[1] == 0.75);
    ENSURE(!frame->contacts.mu_rolling && !plain->contacts.tangent && !plain->contacts.restitution);
    ENSURE(frame->contacts.mu_torsion[0] == 0 && frame->contacts.mu_torsion[1] == 0.02);
    ENSURE(frame->contacts.spin_coupling[0] == 0 && frame->contacts.spin_coupling[1] == SS_SPIN_ELLIPSOID);
    ENSURE(!plain->contacts.mu_torsion && !plain->contacts.spin_coupling);
    ss_frame_destroy(frame);
    ss_frame_destroy(plain);
    scratch_close(&s);
}

TEST(the_answer_of_the_engine_stands_beside_the_frame)
{
    scratch s = scratch_open();
    const double after[6] = {1, 2, 3, 4, 5, 6}, normal[2] = {0.1, 0.2}, tangent[2][3] = {{0.01}, {0.02}};
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    ss_recorder_begin(recorder, 0, 0.01);
    add_contacts(recorder, add_box(recorder), 2);
    ss_recorder_result(recorder, "my_solver", after, NULL, normal, &tangent[0][0]);
    ENSURE(ss_recorder_end(recorder, NULL) && ss_recorder_close(recorder, NULL));
    ss_stored_result result = {0};
    ss_frame *frame = read_back(s.file, 0, &result);
    ENSURE(frame && result.answer);
    ENSURE_TEXT(result.solver, "my_solver");
    ENSURE(memcmp(result.answer->velocity, after, sizeof after) == 0);
    ENSURE(memcmp(result.answer->normal_impulse, normal, sizeof normal) == 0);
    ENSURE(memcmp(result.answer->friction_impulse, tangent, sizeof tangent) == 0);
    ENSURE(result.iterations == -1 && isnan(result.error) && isnan(result.seconds));
    ss_stored_result_free(&result);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST(the_engine_says_by_which_rules_its_answers_were_made)
{
    scratch s = scratch_open();
    const double after[6] = {0}, normal[1] = {0.1}, tangent[3] = {0};
    ss_error err = {0};
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    ENSURE(ss_recorder_rules(recorder, "cone", "gap_term=stabilised gamma=0.2 joint_gamma=0.2", NULL));
    // a name that is not known is refused, and what was said before stays
    ENSURE(!ss_recorder_rules(recorder, "cone", "erp=0.2", &err) && strstr(err.message, "erp"));
    ENSURE(!ss_recorder_rules(recorder, "ode", NULL, &err) && strstr(err.message, "ode"));
    ss_recorder_begin(recorder, 0, 0.01);
    add_contacts(recorder, add_box(recorder), 1);
    ss_recorder_result(recorder, "engine", after, NULL, normal, tangent);
    ENSURE(ss_recorder_end(recorder, NULL) && ss_recorder_close(recorder, NULL));
    ss_stored_result result = {0};
    ss_frame *frame = read_back(s.file, 0, &result);
    ENSURE(frame);
    ENSURE_TEXT(result.formulation, "cone");
    ENSURE_TEXT(result.with, "gap_term=stabilised gamma=0.2 joint_gamma=0.2");
    ss_step_options step;
    ENSURE(ss_stored_result_step(&result, &step, NULL));
    ENSURE(step.gap_term == SS_GAP_STABILISED && step.gamma == 0.2 && step.joint_gamma == 0.2);
    ss_stored_result_free(&result);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST(frames_may_be_large_and_then_small_again)
{
    scratch s = scratch_open();
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    ss_recorder_begin(recorder, 0, 0.01);
    for (int b = 0; b < 1000; b++) {
        ENSURE_INT(add_box(recorder), b);
        add_contacts(recorder, b, 3);
        ss_recorder_joint(recorder, SS_WORLD, b, 1, (double[12]){[6] = b}, (double[1]){0}, NULL, NULL);
    }
    ENSURE(ss_recorder_end(recorder, NULL) && record_good_frame(recorder, NULL) &&
           ss_recorder_close(recorder, NULL));
    ss_frame *large = read_back(s.file, 0, NULL), *small = read_back(s.file, 1, NULL);
    ENSURE(large && small);
    ENSURE(large->bodies.count == 1000 && large->contacts.count == 3000 &&
           large->constraints.row_count == 1000);
    ENSURE(large->contacts.pair[2999][1] == 999 && large->constraints.jacobian[999][6] == 999);
    ENSURE(small->bodies.count == 1 && small->contacts.count == 2 && small->constraints.count == 0);
    ss_frame_destroy(large);
    ss_frame_destroy(small);
    scratch_close(&s);
}

TEST(recording_goes_on_in_an_old_file)
{
    scratch s = scratch_open();
    for (int round = 0; round < 2; round++) {
        ss_recorder *recorder = ss_recorder_open_as(s.file, NULL, SS_LAYOUT_FLAT, true, NULL);
        ENSURE(recorder && record_good_frame(recorder, NULL) && ss_recorder_close(recorder, NULL));
    }
    ENSURE_INT(frames_in(s.file), 2);
    scratch_close(&s);
}

TEST(a_frame_that_was_begun_but_not_ended_is_left_out)
{
    scratch s = scratch_open();
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder && record_good_frame(recorder, NULL));
    ss_recorder_begin(recorder, 0.01, 0.01);
    add_box(recorder);
    ENSURE(ss_recorder_close(recorder, NULL));
    ENSURE_INT(frames_in(s.file), 1);
    scratch_close(&s);
}

/* ---- what is refused ------------------------------------------------------------------------------- */

static void short_normal(ss_recorder *r)
{
    add_contacts(r, add_box(r), 1);
    ss_recorder_contact(r, SS_WORLD, 0, origin, (double[3]){0, 0, 0.5}, 0, 0.5);
}
static void no_such_body(ss_recorder *r)
{
    add_contacts(r, add_box(r) + 7, 1);
}
static void negative_mass(ss_recorder *r)
{
    ss_recorder_body(r, -1, origin, upright, box_inertia, still, weight);
}
static void not_a_number(ss_recorder *r)
{
    ss_recorder_body(r, 1, (double[3]){0, NAN, 0}, upright, box_inertia, still, weight);
}
static void skewed_inertia(ss_recorder *r)
{
    ss_recorder_body_local(r, 1, origin, upright, (double[9]){1, 0.5, 0, 0, 1, 0, 0, 0, 1}, still, weight);
}
static void nan_restitution(ss_recorder *r)
{
    add_contacts(r, add_box(r), 1);
    ss_recorder_contact_extras(r, NULL, -1, NAN, -1);
}
static void no_position(ss_recorder *r)
{
    add_box(r);
    ss_recorder_body(r, 1, NULL, upright, box_inertia, still, weight);
}
static void no_inertia(ss_recorder *r)
{
    ss_recorder_body_local(r, 1, origin, upright, NULL, still, weight);
}
static void no_normal(ss_recorder *r)
{
    ss_recorder_contact(r, SS_WORLD, add_box(r), origin, NULL, 0, 0.5);
}
static void no_rows(ss_recorder *r)
{
    ss_recorder_joint(r, SS_WORLD, add_box(r), 0, origin, origin, NULL, NULL);
}
static void no_jacobian(ss_recorder *r)
{
    ss_recorder_joint(r, SS_WORLD, add_box(r), 1, NULL, origin, NULL, NULL);
}
static void extras_of_nothing(ss_recorder *r)
{
    add_box(r);
    ss_recorder_contact_extras(r, NULL, 0.5, -1, -1);
}
static void begun_twice(ss_recorder *r)
{
    add_box(r);
    ss_recorder_begin(r, 0, 0.01);
}
static void result_before_the_contacts(ss_recorder *r)
{
    int box = add_box(r);
    ss_recorder_result(r, "early", still, NULL, NULL, NULL);
    add_contacts(r, box, 1);
}
static void two_results_of_one_solver(ss_recorder *r)
{
    add_box(r);
    ss_recorder_result(r, "same", still, NULL, NULL, NULL);
    ss_recorder_result(r, "same", still, NULL, NULL, NULL);
}
static void solver_named_like_a_path(ss_recorder *r)
{
    add_box(r);
    ss_recorder_result(r, "a/b", still, NULL, NULL, NULL);
}

static void contact_of_no_group(ss_recorder *r)
{
    add_contacts(r, add_box(r), 1);
    ss_recorder_contact_group(r, 0);
}
static void point_of_no_group(ss_recorder *r)
{
    add_contacts(r, add_box(r), 1);
    ss_recorder_alternative(r, ss_recorder_group(r, 0.01) + 1, 1, SS_ROW_FORCE, origin, up, 0);
}
static void group_without_a_contact(ss_recorder *r)
{
    add_contacts(r, add_box(r), 1);
    ss_recorder_alternative(r, ss_recorder_group(r, 0.01), 1, SS_ROW_FORCE, origin, up, 0);
}
static void alternative_that_is_left_out(ss_recorder *r)
{
    add_contacts(r, add_box(r), 1);
    ss_recorder_contact_group(r, ss_recorder_group(r, 0.01));
    ss_recorder_alternative(r, 0, 2, SS_ROW_FORCE, origin, up, 0);
}
static void alternatives_of_no_result(ss_recorder *r)
{
    add_contacts(r, add_box(r), 1);
    ss_recorder_contact_group(r, ss_recorder_group(r, 0.01));
    ss_recorder_result_alternatives(r, NULL, NULL, NULL);
}

TEST(a_faulty_frame_is_refused_with_its_place_and_the_next_is_fine)
{
    static const struct {
        void (*add)(ss_recorder *);
        ss_error_code code;
        const char *told;
    } faulty[] = {
        {short_normal, SS_ERROR_INPUT, "contacts/normals[1]"},
        {no_such_body, SS_ERROR_INPUT, "contacts/pairs[0]"},
        {negative_mass, SS_ERROR_INPUT, "bodies/masses[0]"},
        {not_a_number, SS_ERROR_INPUT, "bodies/positions[0]"},
        {skewed_inertia, SS_ERROR_INPUT, "bodies/world_inertia_tensors[0]"},
        {nan_restitution, SS_ERROR_INPUT, "contacts/restitution[0]"},
        {no_position, SS_ERROR_USAGE, "body 1"},
        {no_inertia, SS_ERROR_USAGE, "body 0"},
        {no_normal, SS_ERROR_USAGE, "contact 0"},
        {no_rows, SS_ERROR_USAGE, "joint 0"},
        {no_jacobian, SS_ERROR_USAGE, "joint 0"},
        {extras_of_nothing, SS_ERROR_USAGE, "extras"},
        {begun_twice, SS_ERROR_USAGE, "begun"},
        {result_before_the_contacts, SS_ERROR_USAGE, "early"},
        {two_results_of_one_solver, SS_ERROR_USAGE, "result"},
        {solver_named_like_a_path, SS_ERROR_USAGE, "result"},
        {contact_of_no_group, SS_ERROR_USAGE, "group 0: there are 0"},
        {point_of_no_group, SS_ERROR_USAGE, "group 1: there are 1"},
        {group_without_a_contact, SS_ERROR_INPUT, "subcontacts/"},
        {alternative_that_is_left_out, SS_ERROR_INPUT, "subcontacts/"},
        {alternatives_of_no_result, SS_ERROR_USAGE, "result"},
    };
    const int count = sizeof faulty / sizeof faulty[0];
    scratch s = scratch_open();
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    for (int i = 0; i < count; i++) {
        ss_error err = {0};
        ss_recorder_begin(recorder, 0, 0.01);
        faulty[i].add(recorder);
        ENSURE(!ss_recorder_end(recorder, &err));
        ENSURE_INT(err.code, faulty[i].code);
        ENSURE_CONTAINS(err.message, faulty[i].told);
        ENSURE_CONTAINS(err.message, s.file);
        ENSURE(record_good_frame(recorder, NULL));
    }
    ENSURE(ss_recorder_close(recorder, NULL));
    ENSURE_INT(frames_in(s.file), count); // the good ones, and only they
    scratch_close(&s);
}

TEST(calls_outside_of_a_frame_are_told_at_its_end)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
    ENSURE(recorder);
    ENSURE(!ss_recorder_end(recorder, &err)); // nothing was begun
    ENSURE_INT(err.code, SS_ERROR_USAGE);
    add_box(recorder);
    ENSURE(!record_good_frame(recorder, &err)); // reports what came before it
    ENSURE_CONTAINS(err.message, "outside");
    ENSURE(record_good_frame(recorder, NULL) && ss_recorder_close(recorder, NULL));
    scratch_close(&s);
}

TEST(lack_of_memory_costs_at_most_one_frame)
{
    scratch s = scratch_open();
    int refused = 0;
    for (long n = 1; n < 1000; n++) {
        faults_start(n);
        bool all = false;
        ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
        if (recorder) {
            ss_recorder_begin(recorder, 0, 0.01);
            add_contacts(recorder, add_box(recorder), 100);
            ss_recorder_result(recorder, "mine", still, NULL, NULL, NULL);
            bool first = ss_recorder_end(recorder, NULL);
            bool second = record_good_frame(recorder, NULL);
            all = ss_recorder_close(recorder, NULL) && first && second;
            refused += !first;
            if (!first && !second) KIT_FAIL("request %ld: both frames are lost", n);
        }
        bool failed_one = faults_stop();
        ENSURE_INT(faults.live, 0);
        ENSURE(scratch_files(&s, true) <= 1);
        if (!failed_one) {
            ENSURE(all);
            break;
        }
    }
    ENSURE(refused >= 20); // each array of bodies and contacts was refused once
    scratch_close(&s);
}

/* ---- threads --------------------------------------------------------------------------------------- */

typedef struct engine {
    char path[600];
    pthread_t thread;
    bool ok;
} engine;

static void *run_engine(void *context)
{
    engine *e = context;
    ss_recorder *recorder = ss_recorder_open(e->path, "engine", NULL);
    e->ok = recorder != NULL;
    for (int f = 0; f < 50 && e->ok; f++) e->ok = record_good_frame(recorder, NULL);
    e->ok = ss_recorder_close(recorder, NULL) && e->ok;
    return NULL;
}

TEST(two_engines_record_side_by_side)
{
    scratch s = scratch_open();
    engine engines[2] = {0};
    for (int i = 0; i < 2; i++) {
        snprintf(engines[i].path, sizeof engines[i].path, "%s/engine%d.h5", s.directory, i);
        ENSURE(pthread_create(&engines[i].thread, NULL, run_engine, &engines[i]) == 0);
    }
    for (int i = 0; i < 2; i++) pthread_join(engines[i].thread, NULL);
    for (int i = 0; i < 2; i++) {
        ENSURE(engines[i].ok);
        ENSURE_INT(frames_in(engines[i].path), 50);
    }
    scratch_close(&s);
}

TEST_MAIN
