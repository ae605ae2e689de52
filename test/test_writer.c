/* BPMD files: what is in them, and that frames come back. */
#define _GNU_SOURCE
#include "kit.h"
#include "random_frame.h"
#include "scratch.h"
#include "shared_data.h"
#include "write_frames.h"

#include "base/text.h"
#include "dataset/writer.h"

/* ---- helpers --------------------------------------------------------------------------------------- */

/* A file to be looked at with the inner HDF5 functions. */
typedef struct inside {
    ss_h5_session session;
    hid_t id;
    ss_h5_group root;
} inside;

static bool inside_open(const char *path, inside *in)
{
    ss_h5_enter(&in->session);
    if (ss_h5_open(path, 1e9, &in->id, &in->root, NULL)) return true;
    ss_h5_leave(&in->session);
    return false;
}

static void inside_close(inside *in)
{
    ss_h5_leave_group(&in->root);
    ss_h5_close(in->id);
    ss_h5_leave(&in->session);
}

/* Goes down a path like "simulation_000001/mbs_frame000001/bodies". */
static bool inside_go(const inside *in, const char *path, ss_h5_group *group)
{
    char names[256];
    snprintf(names, sizeof names, "%s", path);
    ss_h5_group here = in->root;
    for (char *name = strtok(names, "/"); name; name = strtok(NULL, "/")) {
        bool entered = ss_h5_enter_group(&here, name, group, NULL);
        if (here.id != in->root.id) ss_h5_leave_group(&here);
        if (!entered) return false;
        here = *group;
    }
    return true;
}

/* The names of a group's members, each followed by a blank. "?" when there is no such group. */
static void list(const char *file, const char *path, char text[1000])
{
    inside in;
    ss_h5_group group;
    ss_h5_names names;
    strcpy(text, "?");
    if (!inside_open(file, &in)) return;
    bool found = *path ? inside_go(&in, path, &group) : (group = in.root, true);
    if (found && ss_h5_list(&group, 1000, &names, NULL)) {
        text[0] = '\0';
        for (int i = 0; i < names.count; i++) {
            strncat(text, names.names[i], 100);
            strcat(text, " ");
        }
        ss_h5_names_free(&names);
    }
    if (found && *path) ss_h5_leave_group(&group);
    inside_close(&in);
}

static bool has_mark(const char *file, const char *path)
{
    inside in;
    ss_h5_group group;
    char text[64] = "";
    if (!inside_open(file, &in)) return false;
    bool found = *path ? inside_go(&in, path, &group) : (group = in.root, true);
    bool marked = found && ss_h5_text_attribute(&group, "bpmd_format", text, sizeof text);
    if (found && *path) ss_h5_leave_group(&group);
    inside_close(&in);
    return marked && strcmp(text, "BPMD-2015") == 0;
}

/* Rank of a data set, -1 if it is not there. */
static int rank_of(const char *file, const char *path, const char *name)
{
    inside in;
    ss_h5_group group;
    ss_h5_array array = {.rank = -1};
    if (!inside_open(file, &in)) return -1;
    if (inside_go(&in, path, &group)) {
        int rank = ss_h5_read(&group, name, &array, NULL) ? array.rank : -1;
        ss_h5_array_free(&array);
        array.rank = rank;
        ss_h5_leave_group(&group);
    }
    inside_close(&in);
    return array.rank;
}

/* ---- what is in a file ----------------------------------------------------------------------------- */

TEST(simulations_and_frames_are_numbered_from_one)
{
    scratch s = scratch_open();
    char names[1000];
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, false, 3, NULL));
    list(s.file, "", names);
    ENSURE_TEXT(names, "simulation_000001 ");
    list(s.file, "simulation_000001", names);
    ENSURE_TEXT(names, "manifest mbs_frame000001 mbs_frame000002 mbs_frame000003 ");
    ENSURE(has_mark(s.file, "") && has_mark(s.file, "simulation_000001"));
    ENSURE(!has_mark(s.file, "simulation_000001/mbs_frame000001")); // the one of the simulation is enough
    scratch_close(&s);
}

TEST(appending_begins_the_next_simulation)
{
    scratch s = scratch_open();
    char names[1000];
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, true, 1, NULL)); // a missing file is created
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, true, 2, NULL));
    list(s.file, "", names);
    ENSURE_TEXT(names, "simulation_000001 simulation_000002 ");
    list(s.file, "simulation_000002", names);
    ENSURE_TEXT(names, "manifest mbs_frame000001 mbs_frame000002 ");
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, false, 1, NULL)); // without append it is replaced
    list(s.file, "", names);
    ENSURE_TEXT(names, "simulation_000001 ");
    scratch_close(&s);
}

TEST(flat_frames_are_numbered_on)
{
    scratch s = scratch_open();
    char names[1000];
    ENSURE(write_frames(s.file, SS_LAYOUT_FLAT, false, 2, NULL));
    ENSURE(write_frames(s.file, SS_LAYOUT_FLAT, true, 1, NULL));
    list(s.file, "", names);
    ENSURE_TEXT(names, "mbs_frame000001 mbs_frame000002 mbs_frame000003 ");
    ENSURE(has_mark(s.file, "mbs_frame000003"));
    scratch_close(&s);
}

TEST(flat_frames_hold_only_the_names_of_the_authors)
{
    scratch s = scratch_open();
    char names[1000];
    ss_random random = ss_random_start(11, 0);
    ss_frame *frame = random_frame_create(&random, 2, 2, 3, ~0u);
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_FLAT, false, NULL);
    ENSURE(frame && writer);
    ss_manifest manifest = {.toolkit = "left out"};
    ENSURE(ss_writer_simulation(writer, &manifest, NULL) && ss_writer_frame(writer, frame, NULL));
    ENSURE(ss_writer_close(writer, NULL));
    list(s.file, "", names);
    ENSURE_TEXT(names, "mbs_frame000001 ");
    list(s.file, "mbs_frame000001", names);
    ENSURE_TEXT(names, "bodies constraints contacts timestep ");
    list(s.file, "mbs_frame000001/constraints", names);
    ENSURE_TEXT(names, "Jacobian bounds pairs rows time_derivative violations ");
    list(s.file, "mbs_frame000001/contacts", names);
    ENSURE_TEXT(names, "gaps mu_k mu_s normals pairs points ");
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST(flat_frames_always_have_both_friction_coefficients)
{
    scratch s = scratch_open();
    ENSURE(write_frames(s.file, SS_LAYOUT_FLAT, false, 1, NULL)); // a frame without static friction
    ENSURE_INT(rank_of(s.file, "mbs_frame000001/contacts", "mu_s"), 2);
    ENSURE_INT(rank_of(s.file, "mbs_frame000001/contacts", "mu_k"), 2);
    scratch_close(&s);
}

TEST(a_single_number_is_a_scalar_and_everything_else_a_table)
{
    scratch s = scratch_open();
    const char *bodies = "simulation_000001/mbs_frame000001/bodies";
    const char *contacts = "simulation_000001/mbs_frame000001/contacts";
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, NULL);
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    ENSURE(frame && writer && ss_writer_frame(writer, frame, NULL) && ss_writer_close(writer, NULL));
    ENSURE_INT(rank_of(s.file, bodies, "masses"), 0);
    ENSURE_INT(rank_of(s.file, bodies, "ids"), 0);
    ENSURE_INT(rank_of(s.file, bodies, "positions"), 2);
    ENSURE_INT(rank_of(s.file, bodies, "velocities"), 2);
    ENSURE_INT(rank_of(s.file, contacts, "gaps"), 0);
    ENSURE_INT(rank_of(s.file, contacts, "pairs"), 2);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST(empty_groups_are_not_written)
{
    scratch s = scratch_open();
    char names[1000];
    ss_frame *frame = ss_frame_create(1, 0, 0, 0, NULL);
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    ENSURE(frame && writer && ss_writer_frame(writer, frame, NULL) && ss_writer_close(writer, NULL));
    list(s.file, "simulation_000001/mbs_frame000001", names);
    ENSURE_TEXT(names, "bodies timestep "); // and no time, since it is not known
    ss_frame_destroy(frame);
    scratch_close(&s);
}

/* A flat file as another program would have left it: no mark anywhere. */
static bool write_foreign(const char *path)
{
    ss_h5_session session;
    ss_h5_output output;
    ss_h5_group frame;
    double h = 0.01;
    ss_h5_enter(&session);
    bool ok = ss_h5_output_open(path, false, 1e9, &output, NULL);
    if (ok) {
        ok = ss_h5_make_group(&output.root, "mbs_frame000000", &frame, NULL) &&
             ss_h5_write(&frame, "timestep", SS_H5_F64, 0, NULL, &h, NULL);
        ss_h5_leave_group(&frame);
        ok = ss_h5_output_commit(&output, NULL) && ok;
    }
    ss_h5_leave(&session);
    return ok;
}

TEST(frames_of_others_do_not_become_ours)
{
    scratch s = scratch_open();
    char names[1000];
    ENSURE(write_foreign(s.file));
    ENSURE(write_frames(s.file, SS_LAYOUT_FLAT, true, 1, NULL));
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, true, 1, NULL));
    list(s.file, "", names);
    ENSURE_TEXT(names, "mbs_frame000000 mbs_frame000001 simulation_000001 ");
    ENSURE(!has_mark(s.file, "") && !has_mark(s.file, "mbs_frame000000"));
    ENSURE(has_mark(s.file, "mbs_frame000001") && has_mark(s.file, "simulation_000001"));
    scratch_close(&s);
}

/* Hashes and dialects of the first frames of a file, in two lines of text per frame. */
static bool describe(const char *path, int frames, ss_text *text)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, NULL);
    bool ok = file && ss_bpmd_frame_count(file) >= frames;
    for (int f = 0; ok && f < frames; f++) {
        char hash[33];
        ss_frame *frame = ss_bpmd_read(file, f, NULL, NULL);
        ok = frame != NULL;
        if (ok) ss_frame_hash(frame, hash);
        if (ok) ss_text_appendf(text, "%s %s\n", hash, ss_dialect_name(ss_bpmd_dialect(file, f, NULL)));
        ss_frame_destroy(frame);
    }
    ss_bpmd_close(file);
    return ok;
}

static bool copy_file(const char *from, const char *to)
{
    scratch_bytes bytes = scratch_read(from);
    FILE *file = bytes.data ? fopen(to, "wb") : NULL;
    bool ok = file && fwrite(bytes.data, 1, bytes.size, file) == bytes.size;
    if (file) ok = fclose(file) == 0 && ok;
    free(bytes.data);
    return ok;
}

TEST(a_genuine_file_reads_the_same_after_frames_were_added)
{
    char genuine[1000];
    NEED_SHARED(genuine, "bpmd", "chain10_gazebo6", ".h5");
    scratch s = scratch_open();
    ENSURE(copy_file(genuine, s.file));
    ss_text before = {0}, after = {0};
    ENSURE(describe(s.file, 30, &before));
    ENSURE_CONTAINS(ss_text_get(&before), "gazebo");
    ENSURE(write_frames(s.file, SS_LAYOUT_FLAT, true, 1, NULL));
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, true, 1, NULL));
    ENSURE(describe(s.file, 30, &after));
    ENSURE_TEXT(ss_text_get(&after), ss_text_get(&before));
    ENSURE(describe(s.file, 32, &after));
    ENSURE_CONTAINS(ss_text_get(&after), "canonical"); // ours, which were not there before
    ss_text_free(&before);
    ss_text_free(&after);
    scratch_close(&s);
}

/* ---- misuse ---------------------------------------------------------------------------------------- */

TEST(a_pair_without_a_body_is_refused_and_the_next_frame_is_written)
{
    scratch s = scratch_open();
    char names[1000];
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(2, 0, 0, 4, NULL);
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_FLAT, false, NULL);
    ENSURE(frame && writer);
    frame->contacts.pair[3][1] = 2;
    ENSURE(!ss_writer_frame(writer, frame, &err));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE_CONTAINS(err.message, "contacts/pairs[3]");
    frame->contacts.pair[3][1] = 1;
    ENSURE(ss_writer_frame(writer, frame, NULL) && ss_writer_close(writer, NULL));
    list(s.file, "", names);
    ENSURE_TEXT(names, "mbs_frame000001 ");
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST(a_result_that_does_not_fit_its_frame_is_refused)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(2, 0, 0, 4, NULL), *smaller = ss_frame_create(2, 0, 0, 3, NULL);
    ss_answer *answer = ss_answer_create(smaller, false, NULL);
    ss_stored_result result = {.solver = "pgs", .answer = answer, .iterations = -1};
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    ENSURE(frame && smaller && answer && writer);
    ENSURE(!ss_writer_result(writer, &result, &err));
    ENSURE_CONTAINS(err.message, "needs a frame");
    ENSURE(ss_writer_frame(writer, frame, NULL));
    ENSURE(!ss_writer_result(writer, &result, &err));
    ENSURE_CONTAINS(err.message, "mbs_frame000001/solver_data/pgs");
    result.solver = "../pgs";
    ENSURE(!ss_writer_result(writer, &result, &err));
    ENSURE_INT(err.code, SS_ERROR_USAGE);
    ENSURE(ss_writer_close(writer, NULL)); // none of it reached the file
    ss_answer_destroy(answer);
    ss_frame_destroy(smaller);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

/* ---- round trips ----------------------------------------------------------------------------------- */

/* None of the optional arrays, all of them, then choices at random: enough for every three of them to occur
 * together, and to be absent together. */
static unsigned choice_of(int f)
{
    unsigned all = (1u << random_frame_optional_count()) - 1;
    ss_random random = ss_random_start(15, (uint64_t)f);
    return f == 0 ? 0 : f == 1 ? all : (unsigned)ss_random_below(&random, (uint64_t)all + 1);
}

TEST(frames_with_many_choices_of_optional_arrays_come_back_bit_for_bit)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_random making = ss_random_start(13, 0), comparing = making;
    enum { choices = 2048 };
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    // sizes 0..4 hold all that is special: nothing, one, squares of 2, 3, 4
    for (int f = 0; f < choices; f++) {
        ss_frame *frame = random_frame_create(&making, f % 5, f / 5 % 4, f / 20 % 5, choice_of(f));
        ENSURE(frame && ss_writer_frame(writer, frame, NULL));
        ss_frame_destroy(frame);
    }
    ENSURE(ss_writer_close(writer, NULL));
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, NULL);
    ENSURE(file);
    ENSURE_INT(ss_bpmd_frame_count(file), choices);
    for (int f = 0; f < choices; f++) {
        ss_frame *expected = random_frame_create(&comparing, f % 5, f / 5 % 4, f / 20 % 5, choice_of(f));
        ss_findings findings = {0};
        ss_frame *frame = ss_bpmd_read(file, f, &findings, &err);
        if (!frame || !ss_frame_equal(frame, expected)) {
            KIT_FAIL("frame %d %s", f, frame ? "came back changed" : err.message);
            return;
        }
        ENSURE_INT(findings.count_of[SS_FINDING_REPAIR], 0);
        ss_findings_free(&findings);
        ss_frame_destroy(frame);
        ss_frame_destroy(expected);
    }
    ss_bpmd_close(file);
    scratch_close(&s);
}

/* What a flat file keeps of a frame. */
static ss_frame *flattened(const ss_frame *frame)
{
    ss_frame *flat = ss_frame_create(frame->bodies.count, frame->constraints.count,
                                     frame->constraints.row_count, frame->contacts.count, NULL);
    if (!flat || !ss_frame_enable(flat, "contacts/mu_s", NULL)) return flat;
    flat->h = frame->h;
    for (int f = 0; f < ss_field_count; f++) {
        size_t bytes = (size_t)ss_field_items(&ss_fields[f], frame) * (size_t)ss_fields[f].width *
                       ss_field_element_size(&ss_fields[f]);
        void *to = ss_field_data(&ss_fields[f], flat), *from = ss_field_data(&ss_fields[f], frame);
        if (to && from) memcpy(to, from, bytes);
    }
    if (!frame->contacts.mu_static)
        memcpy(flat->contacts.mu_static, frame->contacts.mu,
               (size_t)frame->contacts.count * sizeof(double[2]));
    return flat;
}

TEST(flat_frames_of_ours_are_taken_literally)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_random making = ss_random_start(14, 0), comparing = making;
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_FLAT, false, NULL);
    for (int f = 0; f < 200; f++) {
        ss_frame *frame = random_frame_create(&making, 1 + f % 5, f / 5 % 4, 1 + f / 20 % 5, (unsigned)f * 5);
        ENSURE(frame && ss_writer_frame(writer, frame, NULL));
        ss_frame_destroy(frame);
    }
    ENSURE(ss_writer_close(writer, NULL));
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, NULL);
    ENSURE(file);
    for (int f = 0; f < 200; f++) {
        ss_frame *made =
            random_frame_create(&comparing, 1 + f % 5, f / 5 % 4, 1 + f / 20 % 5, (unsigned)f * 5);
        ss_frame *expected = flattened(made), *frame = ss_bpmd_read(file, f, NULL, &err);
        ENSURE(made && expected);
        if (!frame || !ss_frame_equal(frame, expected)) {
            KIT_FAIL("frame %d %s", f, frame ? "came back changed" : err.message);
            return;
        }
        ss_frame_destroy(frame);
        ss_frame_destroy(expected);
        ss_frame_destroy(made);
    }
    ss_bpmd_close(file);
    scratch_close(&s);
}

TEST(a_manifest_comes_back)
{
    scratch s = scratch_open();
    uint8_t pixels[2 * 3 * 3];
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * 13);
    ss_manifest told = {"engine 1.0",
                        "Stack",
                        "Six boxes, \xc3\xa9talés",
                        "A. Author",
                        "2024-02-29",
                        "https://example.org",
                        "stack, box",
                        {0, -9.81, 0},
                        2,
                        3,
                        pixels};
    ss_manifest heard = {0};
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    ENSURE(writer && ss_writer_simulation(writer, &told, NULL) && ss_writer_close(writer, NULL));
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, NULL);
    ENSURE(file && ss_bpmd_manifest(file, 0, &heard, NULL));
    ENSURE_TEXT(heard.toolkit, told.toolkit);
    ENSURE_TEXT(heard.title, told.title);
    ENSURE_TEXT(heard.description, told.description);
    ENSURE_TEXT(heard.author, told.author);
    ENSURE_TEXT(heard.date, told.date);
    ENSURE_TEXT(heard.url, told.url);
    ENSURE_TEXT(heard.keywords, told.keywords);
    ENSURE(memcmp(heard.gravity, told.gravity, sizeof told.gravity) == 0);
    ENSURE(heard.image_width == 2 && heard.image_height == 3);
    ENSURE(memcmp(heard.image, pixels, sizeof pixels) == 0);
    ss_manifest_free(&heard);
    ss_bpmd_close(file);
    scratch_close(&s);
}

TEST(a_result_comes_back)
{
    scratch s = scratch_open();
    ss_frame *frame = ss_frame_create(2, 1, 3, 2, NULL);
    ss_answer *answer = ss_answer_create(frame, true, NULL);
    double errors[] = {1, 0.5, 0.25}, worst[] = {0.1, 0.2}, energy[] = {1e-9};
    ss_measure measures[] = {{"energy", energy, 1}, {"per_contact", worst, 2}};
    ss_stored_result told = {.solver = "pgs",
                             .formulation = "cone",
                             .with = "gap_term=stabilised gamma=0.2",
                             .answer = answer,
                             .errors = errors,
                             .error_count = 3,
                             .iterations = 3,
                             .error = 0.25,
                             .seconds = 1e-4,
                             .measures = measures,
                             .measure_count = 2};
    ss_stored_result heard = {0};
    for (int i = 0; i < 12; i++) (&answer->velocity[0][0])[i] = i;
    for (int i = 0; i < 3; i++) answer->row_impulse[i] = -i;
    for (int i = 0; i < 2; i++)
        answer->normal_impulse[i] = answer->friction_impulse[i][1] = answer->rolling_impulse[i][2] = 0.5 + i;
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    ENSURE(writer && ss_writer_frame(writer, frame, NULL) && ss_writer_result(writer, &told, NULL));
    ENSURE(ss_writer_close(writer, NULL));
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, NULL);
    ENSURE(file);
    ENSURE_INT(ss_bpmd_result_count(file, 0, NULL), 1);
    ENSURE(ss_bpmd_result(file, 0, 0, &heard, NULL));
    ENSURE_TEXT(heard.solver, "pgs");
    ENSURE_TEXT(heard.formulation, "cone");
    ENSURE_TEXT(heard.with, "gap_term=stabilised gamma=0.2");
    ss_step_options step;
    ENSURE(ss_stored_result_step(&heard, &step, NULL));
    ENSURE(step.gap_term == SS_GAP_STABILISED && step.gamma == 0.2 && step.joint_gamma == 1.0);
    ENSURE(heard.iterations == 3 && heard.error == 0.25 && heard.seconds == 1e-4 && heard.error_count == 3);
    ENSURE(memcmp(heard.errors, errors, sizeof errors) == 0);
    ENSURE(memcmp(heard.answer->velocity, answer->velocity, 12 * sizeof(double)) == 0);
    ENSURE(memcmp(heard.answer->row_impulse, answer->row_impulse, 3 * sizeof(double)) == 0);
    ENSURE(memcmp(heard.answer->normal_impulse, answer->normal_impulse, 2 * sizeof(double)) == 0);
    ENSURE(memcmp(heard.answer->friction_impulse, answer->friction_impulse, 6 * sizeof(double)) == 0);
    ENSURE(memcmp(heard.answer->rolling_impulse, answer->rolling_impulse, 6 * sizeof(double)) == 0);
    ENSURE_INT(heard.measure_count, 2);
    ENSURE_TEXT(heard.measures[0].name, "energy");
    ENSURE(heard.measures[0].count == 1 && heard.measures[0].values[0] == 1e-9);
    ENSURE(heard.measures[1].count == 2 && memcmp(heard.measures[1].values, worst, sizeof worst) == 0);
    ss_stored_result_free(&heard);
    ss_bpmd_close(file);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST_MAIN
