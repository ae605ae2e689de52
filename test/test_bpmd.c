/* Reading BPMD files: the index, evidence of dialects, ODE's misplaced bounds, results, and lack of memory.
 * Dialects as a whole are told in test_bpmd_dialects.py, hostile files in test_malformed.py. */
#include "kit.h"
#include "faults.h"
#include "sample_frame.h"
#include "scratch.h"

#include "dataset/bpmd.h"
#include "dataset/writer.h"

/* ---- files made by hand ------------------------------------------------------------------------------- */

typedef struct hand {
    scratch place;
    ss_h5_session session;
    ss_h5_output output;
} hand;

static hand hand_open(void)
{
    hand h = {.place = scratch_open()};
    ss_h5_enter(&h.session);
    if (!ss_h5_output_open(h.place.file, false, 1e9, &h.output, NULL)) exit(1);
    return h;
}

/* Writes what was made; the file stays until hand_end. */
static bool hand_write(hand *h)
{
    bool good = ss_h5_output_commit(&h->output, NULL);
    ss_h5_leave(&h->session);
    return good;
}

static void hand_end(const hand *h)
{
    scratch_close(&h->place);
}

static ss_h5_group group_in(const ss_h5_group *parent, const char *name)
{
    ss_h5_group group = {.id = -1};
    if (!ss_h5_make_group(parent, name, &group, NULL)) exit(1);
    return group;
}

static void put(const ss_h5_group *group, const char *name, uint64_t rows, uint64_t columns,
                const double *values)
{
    if (!ss_h5_write_table(group, name, SS_H5_F64, rows, columns, values, NULL)) exit(1);
}

/* Two spheres on a plane, in the layout of the paper: enough for a frame. */
static void put_frame(const ss_h5_group *parent, const char *name, const double *timestep)
{
    static const double two[2] = {1, 2}, six[6] = {0, 0, 1, 0, 0, 3}, eight[8] = {1, 0, 0, 0, 1, 0, 0, 0};
    static const double rest[12], pairs[4] = {-1, 1, -1, 2}, up[6] = {0, 0, 1, 0, 0, 1};
    static const double tensors[18] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0, 0, 2, 0, 0, 0, 2};
    ss_h5_group frame = group_in(parent, name);
    if (timestep) put(&frame, "timestep", 1, 1, timestep);
    ss_h5_group bodies = group_in(&frame, "bodies"), contacts = group_in(&frame, "contacts");
    put(&bodies, "masses", 2, 1, two);
    put(&bodies, "positions", 2, 3, six);
    put(&bodies, "quaternions", 2, 4, eight);
    put(&bodies, "velocities", 12, 1, rest);
    put(&bodies, "forces", 12, 1, rest);
    put(&bodies, "world_inertia_tensors", 6, 3, tensors);
    put(&contacts, "pairs", 2, 2, pairs);
    put(&contacts, "points", 2, 3, rest);
    put(&contacts, "normals", 2, 3, up);
    put(&contacts, "gaps", 2, 1, rest);
    put(&contacts, "mu_k", 2, 2, (double[]){0.5, 0.25, 0.5, 0.25});
    ss_h5_leave_group(&contacts);
    ss_h5_leave_group(&bodies);
    ss_h5_leave_group(&frame);
}

/* ---- the index ----------------------------------------------------------------------------------------- */

TEST(ten_thousand_frames_open_at_once_and_take_little_memory)
{
    hand h = hand_open();
    ss_h5_group simulation = group_in(&h.output.root, "simulation_000001");
    for (int i = 0; i < 10000; i++) {
        char name[32];
        snprintf(name, sizeof name, "mbs_frame%06d", i);
        ss_h5_group frame = group_in(&simulation, name);
        ss_h5_leave_group(&frame);
    }
    ss_h5_leave_group(&simulation);
    ENSURE(hand_write(&h));
    double start = ss_clock_seconds();
    ss_bpmd *file = ss_bpmd_open(h.place.file, NULL, NULL, NULL);
    double seconds = ss_clock_seconds() - start;
    ENSURE(file != NULL);
    ENSURE_INT(ss_bpmd_frame_count(file), 10000);
    ENSURE(seconds < 0.5);
    ENSURE(sizeof(ss_bpmd_entry) <= 16); // 160 kB for all of them, up to twice that in a growing array
    ss_bpmd_close(file);
    hand_end(&h);
}

TEST(frames_are_found_by_path_and_by_number)
{
    static const char *const names[] = {"mbs_frame000010", "mbs_frame2", "mbs_frame000002",
                                        "mbs_framework",   "mbs_frame",  "mbs_frame12345678901234567890"};
    hand h = hand_open();
    ss_h5_group simulation = group_in(&h.output.root, "simulation_7");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ss_h5_group flat = group_in(&h.output.root, names[i]), deep = group_in(&simulation, names[i]);
        ss_h5_leave_group(&flat);
        ss_h5_leave_group(&deep);
    }
    ss_h5_leave_group(&simulation);
    ENSURE(hand_write(&h));
    ss_bpmd *file = ss_bpmd_open(h.place.file, NULL, NULL, NULL);
    ENSURE(file != NULL);
    ENSURE_INT(ss_bpmd_simulation_count(file), 2);
    ENSURE_TEXT(ss_bpmd_simulation_path(file, 0), "/");
    ENSURE_TEXT(ss_bpmd_simulation_path(file, 1), "/simulation_7");
    ENSURE(ss_bpmd_simulation_path(file, 2) == NULL);
    ENSURE_INT(ss_bpmd_frame_count(file), 6);
    static const char *const paths[] = {"/mbs_frame2",
                                        "/mbs_frame000002",
                                        "/mbs_frame000010",
                                        "/simulation_7/mbs_frame2",
                                        "/simulation_7/mbs_frame000002",
                                        "/simulation_7/mbs_frame000010"};
    for (int f = 0; f < 6; f++) {
        char path[64], number[16];
        ENSURE(ss_bpmd_frame_path(file, f, path, sizeof path));
        ENSURE_TEXT(path, paths[f]);
        ENSURE_INT(ss_bpmd_find_frame(file, path), f);
        ENSURE_INT(ss_bpmd_find_frame(file, path + 1), f);
        snprintf(number, sizeof number, "%d", f);
        ENSURE_INT(ss_bpmd_find_frame(file, number), f);
        ENSURE_INT(ss_bpmd_frame_simulation(file, f), f >= 3);
        ENSURE(!ss_bpmd_frame_path(file, f, path, 5));
    }
    static const char *const absent[] = {
        "6", "-1", "/mbs_frame3", "/mbs_frame02",  "/simulation_07/mbs_frame2",
        "",  "/",  "nonsense",    "/simulation_7", "/simulation_7/mbs_frame2/x"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        ENSURE_INT(ss_bpmd_find_frame(file, absent[i]), -1);
    ss_bpmd_close(file);
    hand_end(&h);
}

TEST(more_frames_than_the_limit_are_refused)
{
    hand h = hand_open();
    put_frame(&h.output.root, "mbs_frame1", NULL);
    put_frame(&h.output.root, "mbs_frame2", NULL);
    ENSURE(hand_write(&h));
    ss_limits limits;
    ss_error err = {0};
    ss_options_defaults(ss_limits_table, &limits);
    limits.max_frames = 1;
    ENSURE(ss_bpmd_open(h.place.file, &limits, NULL, &err) == NULL);
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    ENSURE_CONTAINS(err.message, "max_frames");
    hand_end(&h);
}

TEST(asking_for_a_frame_that_is_not_there_is_told)
{
    hand h = hand_open();
    put_frame(&h.output.root, "mbs_frame1", NULL);
    ENSURE(hand_write(&h));
    ss_bpmd *file = ss_bpmd_open(h.place.file, NULL, NULL, NULL);
    ss_error err = {0};
    ss_stored_result result;
    ENSURE(file && ss_bpmd_read(file, 1, NULL, &err) == NULL);
    ENSURE_INT(err.code, SS_ERROR_USAGE);
    ENSURE(ss_bpmd_read(file, -1, NULL, NULL) == NULL);
    ENSURE_INT(ss_bpmd_result_count(file, 7, NULL), -1);
    ENSURE_INT(ss_bpmd_result_count(file, 0, NULL), 0);
    ENSURE(!ss_bpmd_result(file, 0, 0, &result, &err) && err.code == SS_ERROR_USAGE);
    ENSURE_INT(ss_bpmd_dialect(file, 3, NULL), SS_DIALECT_AUTO);
    ss_bpmd_close(file);
    hand_end(&h);
}

/* ---- time steps ----------------------------------------------------------------------------------- */

TEST(a_file_in_which_no_frame_has_a_time_step_is_refused_quickly)
{
    hand h = hand_open();
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "mbs_frame%06d", i);
        put_frame(&h.output.root, name, NULL);
    }
    ENSURE(hand_write(&h));
    ss_bpmd *file = ss_bpmd_open(h.place.file, NULL, NULL, NULL);
    ENSURE(file != NULL);
    for (int f = 0; f < 300; f++) {
        ss_error err = {0};
        ENSURE(ss_bpmd_read(file, f, NULL, &err) == NULL);
        ENSURE_INT(err.code, SS_ERROR_INPUT);
        ENSURE_CONTAINS(err.message, "timestep");
    }
    ss_bpmd_close(file);
    hand_end(&h);
}

/* ---- marks ---------------------------------------------------------------------------------------- */

TEST(frames_that_another_program_added_to_our_file_are_not_taken_for_ours)
{
    scratch s = scratch_open();
    ss_frame *ours = plain_frame();
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    ENSURE(ours && writer && ss_writer_frame(writer, ours, NULL) && ss_writer_close(writer, NULL));
    hand h = {.place = s};
    ss_h5_enter(&h.session);
    ENSURE(ss_h5_output_open(s.file, true, 1e9, &h.output, NULL));
    put_frame(&h.output.root, "mbs_frame000001", &(double){0.125});
    ENSURE(hand_write(&h));
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, NULL);
    ENSURE(file != NULL);
    ss_findings findings = {0};
    ss_frame *theirs = ss_bpmd_read(file, 0, &findings, NULL), *back = ss_bpmd_read(file, 1, &findings, NULL);
    ENSURE(theirs && back);
    ENSURE_NEAR(theirs->h, 0.125, 0);
    ENSURE(ss_frame_equal(back, ours));
    ENSURE_INT(findings.count_of[SS_FINDING_REPAIR], 0);
    ss_findings_free(&findings);
    ss_frame_destroy(theirs);
    ss_frame_destroy(back);
    ss_frame_destroy(ours);
    ss_bpmd_close(file);
    scratch_close(&s);
}

/* ---- bounds --------------------------------------------------------------------------------------- */

typedef enum row_kind { EQUATION, LOW, HIGH, MOTOR, KINDS } row_kind;

static void set_kind(row_kind kind, double force, double bounds[2])
{
    bounds[0] = kind == LOW ? 0 : kind == MOTOR ? -force : -INFINITY;
    bounds[1] = kind == HIGH ? 0 : kind == MOTOR ? force : INFINITY;
}

/* As Gazebo's writer does it: two pointers into one list, each used as an array. */
static void misplace(const double (*truth)[2], int rows, double (*stored)[2])
{
    double *list = stored[0], *lower = list, *upper = list + 1;
    for (int r = 0; r < rows; r++) set_kind(EQUATION, 0, stored[r]);
    for (int r = 0; r < rows; r++)
        if (truth[r][0] != -INFINITY || truth[r][1] != INFINITY) {
            lower[r] = truth[r][0];
            upper[r] = truth[r][1];
        }
}

static bool same_bounds(const double a[2], const double b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

TEST(the_bound_of_the_last_row_is_always_put_back)
{
    for (int rows = 1; rows <= 6; rows++)
        for (int kind = EQUATION; kind < KINDS; kind++) {
            double truth[6][2], found[6][2];
            ss_bounds_story story = {0};
            for (int r = 0; r < rows; r++) set_kind(r == rows - 1 ? (row_kind)kind : EQUATION, 3.5, truth[r]);
            misplace((const double(*)[2])truth, rows, found);
            ss_bpmd_sort_bounds(found, rows, &story);
            ENSURE(memcmp(found, truth, (size_t)rows * sizeof truth[0]) == 0);
            ENSURE_INT(story.moved, rows > 1 && kind != EQUATION);
            ENSURE_INT(story.doubtful + story.deduced, 0);
        }
}

/* ODE writes equations first and bounded rows after them. The upper bound of all but the last is overwritten.
 * What comes out is the truth, or no bound; never another bound. */
TEST(several_misplaced_bounds_give_no_wrong_bound)
{
    const double unbounded[2] = {-INFINITY, INFINITY};
    int lost = 0, tried = 0;
    for (int equations = 0; equations <= 5; equations++)
        for (int code = 0; code < 27; code++) {
            double truth[8][2], found[8][2];
            int rows = equations + 3, kinds[3] = {code / 9, code / 3 % 3, code % 3};
            ss_bounds_story story = {0};
            for (int r = 0; r < rows; r++)
                set_kind(r < equations ? EQUATION : (row_kind)(kinds[r - equations] + LOW), r + 1.5,
                         truth[r]);
            misplace((const double(*)[2])truth, rows, found);
            ss_bpmd_sort_bounds(found, rows, &story);
            for (int r = 0; r < rows; r++) {
                tried++;
                if (same_bounds(found[r], truth[r])) continue;
                lost++;
                ENSURE(same_bounds(found[r], unbounded));
                ENSURE(truth[r][1] == 0 && r < rows - 1); // a high limit shows only in its upper bound
                ENSURE(story.doubtful > 0 || (r == equations && r % 2 == 0));
            }
            ENSURE(story.deduced > 0 || story.doubtful > 0 || lost > 0);
        }
    ENSURE(lost > 0 && lost * 5 < tried);
}

TEST(bounds_that_are_in_place_stay_there)
{
    double bounds[3][2] = {{-INFINITY, INFINITY}, {-2, 5}, {-1, 4}}, kept[3][2];
    ss_bounds_story story = {0};
    memcpy(kept, bounds, sizeof bounds);
    ss_bpmd_sort_bounds(bounds, 3, &story);
    ENSURE(memcmp(bounds, kept, sizeof bounds) == 0);
    ENSURE_INT(story.moved + story.doubtful + story.deduced, 0);
}

TEST(bounds_that_make_no_sense_are_dropped)
{
    double bounds[2][2] = {{1, 2}, {3, 4}};
    ss_bounds_story story = {0};
    ss_bpmd_sort_bounds(bounds, 2, &story);
    for (int r = 0; r < 2; r++) ENSURE(bounds[r][0] == -INFINITY && bounds[r][1] == INFINITY);
    ENSURE_INT(story.doubtful, 2);
    double many[20][2] = {{0}};
    many[3][0] = 1; // more rows than any joint of ODE has
    ss_bpmd_sort_bounds(many, 20, &story);
    ENSURE_INT(story.doubtful, 22);
}

/* ---- order of blocks ------------------------------------------------------------------------------ */

/* Two bodies held together by a ball joint in the middle, turning about it like a rigid bar. */
static ss_frame *bar(double omega)
{
    ss_frame *frame = ss_frame_create(2, 1, 3, 0, NULL);
    if (!frame) return NULL;
    frame->constraints.pair[0][0] = 0, frame->constraints.pair[0][1] = 1;
    for (int b = 0; b < 2; b++) {
        double x = b ? 1 : -1;
        frame->bodies.position[b][0] = x;
        frame->bodies.velocity[b][1] = omega * x;
        frame->bodies.velocity[b][5] = omega;
    }
    // row i: [-e_i, -(r_a x e_i)] [e_i, r_b x e_i], r_a = (1, 0, 0), r_b = (-1, 0, 0)
    for (int i = 0; i < 3; i++) {
        double *row = frame->constraints.jacobian[i];
        row[i] = -1, row[6 + i] = 1;
        ss_vec3 e = {i == 0, i == 1, i == 2};
        ss_vec3_store(ss_vec3_negate(ss_vec3_cross((ss_vec3){1, 0, 0}, e)), row + 3);
        ss_vec3_store(ss_vec3_cross((ss_vec3){-1, 0, 0}, e), row + 9);
    }
    return frame;
}

static void reverse(ss_frame *frame)
{
    for (int i = 0; i < frame->constraints.row_count; i++) {
        double *row = frame->constraints.jacobian[i], kept[6];
        memcpy(kept, row, sizeof kept);
        memmove(row, row + 6, sizeof kept);
        memcpy(row + 6, kept, sizeof kept);
    }
}

TEST(speeds_tell_which_body_a_block_belongs_to)
{
    const char *how;
    ss_frame *frame = bar(2.0);
    ENSURE(frame != NULL);
    ENSURE_INT(ss_bpmd_block_order(frame, &how), SS_BLOCKS_STRAIGHT);
    reverse(frame);
    ENSURE_INT(ss_bpmd_block_order(frame, &how), SS_BLOCKS_REVERSED);
    ENSURE_CONTAINS(how, "speeds");
    ss_frame_destroy(frame);
}

TEST(a_bar_at_rest_does_not_tell)
{
    const char *how;
    ss_frame *frame = bar(0.0);
    ENSURE(frame && ss_bpmd_block_order(frame, &how) == SS_BLOCKS_UNKNOWN);
    ss_frame_destroy(frame);
}

TEST(a_joint_with_the_world_tells_even_at_rest)
{
    const char *how;
    for (int side = 0; side < 2; side++) {
        ss_frame *frame = bar(0.0);
        ENSURE(frame != NULL);
        frame->constraints.pair[0][side] = SS_WORLD;
        for (int i = 0; i < 3; i++) memset(frame->constraints.jacobian[i] + 6 * side, 0, sizeof(double[6]));
        ENSURE_INT(ss_bpmd_block_order(frame, &how), SS_BLOCKS_STRAIGHT);
        reverse(frame);
        ENSURE_INT(ss_bpmd_block_order(frame, &how), SS_BLOCKS_REVERSED);
        ENSURE_CONTAINS(how, "world");
        ss_frame_destroy(frame);
    }
}

/* ---- results -------------------------------------------------------------------------------------- */

TEST(forces_become_impulses_and_what_is_missing_is_not_known)
{
    hand h = hand_open();
    put_frame(&h.output.root, "mbs_frame000001", &(double){0.25});
    ss_h5_group frame, data, solver;
    ENSURE(ss_h5_enter_group(&h.output.root, "mbs_frame000001", &frame, NULL));
    data = group_in(&frame, "solver_data");
    solver = group_in(&data, "other");
    put(&solver, "normal", 2, 1, (double[]){4, 8});
    put(&solver, "tangent", 2, 3, (double[]){1, 2, 3, 4, 5, 6});
    ENSURE(ss_h5_mark(&solver, "normal", "unit", "force", NULL));
    put(&solver, "errors", 3, 1, (double[]){3, 2, 1});
    ss_h5_leave_group(&solver);
    ss_h5_leave_group(&data);
    ss_h5_leave_group(&frame);
    ENSURE(hand_write(&h));
    ss_bpmd *file = ss_bpmd_open(h.place.file, NULL, NULL, NULL);
    ss_stored_result result;
    ENSURE(file && ss_bpmd_result_count(file, 0, NULL) == 1 && ss_bpmd_result(file, 0, 0, &result, NULL));
    ENSURE_TEXT(result.solver, "other");
    ENSURE(result.answer && result.answer->normal_impulse[0] == 1 && result.answer->normal_impulse[1] == 2);
    ENSURE(result.answer->friction_impulse[1][2] == 6 && isnan(result.answer->velocity[1][5]));
    ENSURE(result.error_count == 3 && result.errors[2] == 1);
    ENSURE(result.iterations == -1 && isnan(result.error) && isnan(result.seconds));
    ss_stored_result_free(&result);
    ss_bpmd_close(file);
    hand_end(&h);
}

/* With h = 1 s a force is the same number as an impulse; that excuses no other unit. */
TEST(a_second_is_no_excuse_for_pounds)
{
    hand h = hand_open();
    put_frame(&h.output.root, "mbs_frame000001", &(double){1.0});
    ss_h5_group frame, data, solver;
    ENSURE(ss_h5_enter_group(&h.output.root, "mbs_frame000001", &frame, NULL));
    data = group_in(&frame, "solver_data");
    solver = group_in(&data, "other");
    put(&solver, "normal", 2, 1, (double[]){4, 8});
    ENSURE(ss_h5_mark(&solver, "normal", "unit", "pound", NULL));
    ss_h5_leave_group(&solver);
    ss_h5_leave_group(&data);
    ss_h5_leave_group(&frame);
    ENSURE(hand_write(&h));
    ss_bpmd *file = ss_bpmd_open(h.place.file, NULL, NULL, NULL);
    ss_stored_result result;
    ss_error err = {0};
    ENSURE(file && !ss_bpmd_result(file, 0, 0, &result, &err));
    ENSURE_CONTAINS(err.message, "must be impulse or force");
    ss_bpmd_close(file);
    hand_end(&h);
}

/* ---- lack of memory ------------------------------------------------------------------------------- */

/* A file of every kind of frame: ours with all arrays, the paper's, and flat ones that are judged
 * by each other. */
static bool write_mixture(const scratch *s)
{
    ss_frame *ours = full_frame();
    ss_answer *answer = ours ? ss_answer_create(ours, true, NULL) : NULL;
    ss_writer *writer = ss_writer_open(s->file, SS_LAYOUT_CANONICAL, false, NULL);
    ss_manifest manifest = {.toolkit = (char[]){"test"}, .gravity = {0, 0, -9.81}};
    ss_measure measure = {(char[]){"energy"}, &(double){1}, 1};
    ss_stored_result result = {.solver = (char[]){"pgs"},
                               .answer = answer,
                               .errors = &(double){1},
                               .error_count = 1,
                               .iterations = 1,
                               .error = 0.5,
                               .seconds = 0.25,
                               .measures = &measure,
                               .measure_count = 1};
    bool good = writer && ss_writer_simulation(writer, &manifest, NULL) &&
                ss_writer_frame(writer, ours, NULL) && ss_writer_result(writer, &result, NULL) &&
                ss_writer_close(writer, NULL);
    ss_answer_destroy(answer);
    ss_frame_destroy(ours);
    hand h = {.place = *s};
    ss_h5_enter(&h.session);
    good = good && ss_h5_output_open(s->file, true, 1e9, &h.output, NULL);
    if (good) {
        ss_h5_group simulation = group_in(&h.output.root, "simulation_9");
        put_frame(&simulation, "mbs_frame0", &(double){0.5});
        put_frame(&simulation, "mbs_frame1", NULL);
        put_frame(&h.output.root, "mbs_frame0", &(double){0.5});
        ss_h5_leave_group(&simulation);
    }
    return hand_write(&h) && good;
}

/* Everything a reader can be asked for. True when all of it went well. */
static bool read_everything(const char *path, ss_error *err)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, err);
    bool good = file != NULL;
    for (int i = 0; good && i < ss_bpmd_simulation_count(file); i++) {
        ss_manifest manifest;
        good = ss_bpmd_manifest(file, i, &manifest, err);
        ss_manifest_free(&manifest);
    }
    for (int f = 0; good && f < ss_bpmd_frame_count(file); f++) {
        ss_findings findings = {0};
        ss_frame *frame = ss_bpmd_read(file, f, &findings, err);
        good = frame != NULL && ss_bpmd_dialect(file, f, err) == SS_DIALECT_CANONICAL;
        int count = good ? ss_bpmd_result_count(file, f, err) : 0;
        good = good && count >= 0;
        for (int r = 0; good && r < count; r++) {
            ss_stored_result result;
            good = ss_bpmd_result(file, f, r, &result, err);
            ss_stored_result_free(&result);
        }
        ss_findings_free(&findings);
        ss_frame_destroy(frame);
    }
    ss_bpmd_close(file);
    return good;
}

/* Handles of HDF5 that are open, of every kind. */
static long open_handles(void)
{
    static const H5I_type_t kinds[] = {H5I_FILE,    H5I_GROUP, H5I_DATATYPE,   H5I_DATASPACE,
                                       H5I_DATASET, H5I_ATTR,  H5I_GENPROP_LST};
    long sum = 0;
    ss_h5_session session;
    ss_h5_enter(&session);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        hsize_t count = 0;
        H5Inmembers(kinds[i], &count);
        sum += (long)count;
    }
    ss_h5_leave(&session);
    return sum;
}

TEST(lack_of_memory_is_told_and_nothing_leaks)
{
    scratch s = scratch_open();
    ENSURE(write_mixture(&s) && read_everything(s.file, NULL));
    long handles = open_handles();
    int failures = 0;
    for (int n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        bool good = read_everything(s.file, &err);
        long live = faults.live;
        bool reached = faults_stop();
        ENSURE_INT(live, 0);
        ENSURE_INT(open_handles(), handles);
        if (!reached) {
            if (!good) KIT_FAIL("%s", err.message);
            break;
        }
        if (!good) ENSURE_INT(err.code, SS_ERROR_RESOURCES);
        failures += !good;
        ENSURE(n < 100000);
    }
    ENSURE(failures > 100);
    scratch_close(&s);
}

TEST_MAIN
