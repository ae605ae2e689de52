/* The flight recorder: what its ring holds, what trips it, and what is left of it when its program dies. */
#define _GNU_SOURCE
#include "kit.h"
#include "random_frame.h"
#include "scratch.h"

#include "dataset/packet.h"
#include "dataset/ring.h"
#include "dataset/shape_list.h"

#include <stickslip/recorder.h>

#include <signal.h>
#include <sys/wait.h>

/* ---- packets and rings ------------------------------------------------------------------------------- */

TEST(a_step_comes_out_of_a_packet_bit_for_bit_and_a_damaged_one_is_refused)
{
    ss_random random = ss_random_start(5, 0);
    for (unsigned optional = 0; optional < 64; optional++) {
        ss_frame *frame = random_frame_create(&random, 3, 2, 4, optional * 2654435761u);
        ss_answer *answer = ss_answer_create(frame, optional & 1, NULL);
        double errors[2] = {1, 0.5}, value = 7;
        ss_measure measure = {"energy", &value, 1};
        ss_stored_result result = {.solver = "pgs",
                                   .with = optional & 2 ? "gamma=0.2" : NULL,
                                   .answer = answer,
                                   .errors = errors,
                                   .error_count = 2,
                                   .iterations = -1,
                                   .error = NAN,
                                   .measures = &measure,
                                   .measure_count = 1};
        answer->velocity[1][2] = 3.25;
        ss_packet packet = {0};
        ss_packet_add_frame(&packet, frame);
        ss_packet_add_result(&packet, &result);
        ss_packet_add_note(&packet, "why");

        ss_packet_part part;
        size_t at = 0;
        ss_error err = {0};
        ENSURE(ss_packet_next(packet.bytes, packet.size, &at, NULL, &part, &err) && part.frame);
        ENSURE(ss_frame_equal(part.frame, frame));
        ss_packet_part_free(&part);
        ENSURE(ss_packet_next(packet.bytes, packet.size, &at, frame, &part, &err) && part.result);
        ENSURE_TEXT(part.result->solver, "pgs");
        ENSURE(!part.result->formulation && !part.result->with == !result.with);
        ENSURE(part.result->error_count == 2 && part.result->errors[1] == 0.5 &&
               part.result->iterations == -1);
        ENSURE(part.result->measure_count == 1 && part.result->measures[0].values[0] == 7);
        ENSURE(part.result->answer->velocity[1][2] == 3.25);
        ENSURE(!part.result->answer->rolling_impulse == !answer->rolling_impulse);
        ss_packet_part_free(&part);
        ENSURE(ss_packet_next(packet.bytes, packet.size, &at, frame, &part, &err) && part.note);
        ENSURE_TEXT(part.note, "why");
        ss_packet_part_free(&part);
        ENSURE(!ss_packet_next(packet.bytes, packet.size, &at, frame, &part, &err) && err.code == SS_OK);

        // cut off, or with a wrong word: an error or other numbers, but never memory of others
        for (int trial = 0; trial < 40; trial++) {
            size_t size = packet.size, word = 8 * (size_t)ss_random_below(&random, (int)(packet.size / 8));
            unsigned char *bytes = malloc(size);
            memcpy(bytes, packet.bytes, size);
            if (trial % 2)
                size = (size_t)ss_random_below(&random, (int)size);
            else
                memset(bytes + word, trial % 4 ? 255 : ss_random_below(&random, 200), 8);
            at = 0;
            while (ss_packet_next(bytes, size, &at, frame, &part, &err)) ss_packet_part_free(&part);
            free(bytes);
        }
        ss_packet_free(&packet);
        ss_answer_destroy(answer);
        ss_frame_destroy(frame);
    }
}

TEST(a_ring_keeps_the_last_records_also_when_they_grow_and_in_its_file)
{
    scratch s = scratch_open();
    for (int in_file = 0; in_file < 2; in_file++) {
        ss_ring ring = {.path = in_file ? s.file : NULL, .wanted = 7, .most_bytes = 1e6, .word = 42};
        char record[3000];
        for (int r = 1; r <= 100; r++) {
            memset(record, r, sizeof record);
            ENSURE(ss_ring_push(&ring, record, (size_t)(20 * r), NULL));
        }
        ENSURE_INT(ring.count, 7);
        ss_ring left = ring;
        if (in_file) ENSURE(ss_ring_read(s.file, &left, NULL) && left.word == 42);
        ENSURE_INT(left.count, 7);
        for (int i = 0; i < 7; i++) {
            size_t size;
            const unsigned char *bytes = ss_ring_at(&left, i, &size);
            ENSURE(size == (size_t)(20 * (94 + i)) && bytes[0] == 94 + i && bytes[size - 1] == 94 + i);
        }
        if (in_file) {
            // a record that was being written, or that a wild pointer has hit, ends what can be believed
            size_t size;
            ((unsigned char *)(uintptr_t)ss_ring_at(&ring, 2, &size))[5] ^= 1;
            ss_ring_free(&left);
            ENSURE(ss_ring_read(s.file, &left, NULL));
            ENSURE_INT(left.count, 4);
            ss_ring_free(&left);
        }
        ss_ring_free(&ring);
        ENSURE_INT(scratch_files(&s, false), 0);
    }
    // too large for the limit: fewer
    ss_ring small = {.wanted = 100, .most_bytes = 10000};
    char record[1000] = "";
    for (int r = 0; r < 50; r++) ENSURE(ss_ring_push(&small, record, sizeof record, NULL));
    ENSURE(small.count >= 5 && small.count <= 8);
    ss_ring_free(&small);
    scratch_close(&s);
}

/* ---- recordings -------------------------------------------------------------------------------------- */

static const double upright[4] = {1, 0, 0, 0}, inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* A ball on the ground with the answer of an engine: the impulse that stops it, or a wrong one. */
static bool record_step(ss_recorder *recorder, int step, double overlap, double impulse, ss_error *err)
{
    double position[3] = {0, 0, 0.5}, velocity[6] = {0}, force[6] = {0, 0, -10},
           after[6] = {0, 0, impulse - 0.1};
    double friction[3] = {0};
    ss_recorder_begin(recorder, step, 0.01);
    int ball = ss_recorder_body(recorder, 1, position, upright, inertia, velocity, force);
    ss_recorder_contact(recorder, SS_WORLD, ball, (double[3]){0}, (double[3]){0, 0, 1}, -overlap, 0.5);
    ss_recorder_result(recorder, "engine", after, NULL, &impulse, friction);
    return ss_recorder_end(recorder, err);
}

/* Times (the numbers of the steps) of all frames, and the notes: "3 4 5! 6"; NULL: cannot be read. */
static const char *steps_in(const char *path)
{
    static char text[2000];
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, NULL);
    if (!file) return NULL;
    text[0] = '\0';
    for (int f = 0; f < ss_bpmd_frame_count(file); f++) {
        ss_frame *frame = ss_bpmd_read(file, f, NULL, NULL);
        char note[300];
        bool noted = ss_bpmd_note(file, f, note, sizeof note),
             answered = ss_bpmd_result_count(file, f, NULL) == 1;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%g%s%s", f ? " " : "", frame ? frame->time : -1,
                 noted ? "!" : "", answered ? "" : "?");
        ss_frame_destroy(frame);
    }
    ss_bpmd_close(file);
    return text;
}

static ss_recorder *start(const scratch *s, const char *settings)
{
    ss_error err = {0};
    ss_recorder *recorder = ss_recorder_open(s->file, "test", NULL);
    if (recorder && ss_recorder_configure(recorder, settings, &err)) return recorder;
    fprintf(stderr, "%s\n", err.message);
    ss_recorder_close(recorder, NULL);
    return NULL;
}

TEST(nothing_is_written_while_nothing_happens)
{
    scratch s = scratch_open();
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        ss_recorder *recorder =
            start(&s, in_memory ? "ring=5 trip=overlap>0.01 no_ring_file=true" : "ring=5 trip=overlap>0.01");
        ENSURE(recorder);
        for (int step = 0; step < 50; step++) ENSURE(record_step(recorder, step, 0, 0.1, NULL));
        ENSURE_INT(scratch_files(&s, false), in_memory ? 0 : 2);
        ENSURE_INT(ss_recorder_trips(recorder), 0);
        ENSURE(ss_recorder_close(recorder, NULL));
        ENSURE_INT(scratch_files(&s, false), 0);
    }
    scratch_close(&s);
}

TEST(what_trips_is_there_at_once_with_the_steps_before_and_after_it)
{
    scratch s = scratch_open();
    ss_recorder *recorder = start(&s, "ring=5 trip=overlap>0.01 after=2 trips=2");
    ENSURE(recorder);
    for (int step = 0; step < 20; step++)
        ENSURE(record_step(recorder, step, step == 17 ? 0.02 : 0, 0.1, NULL));
    ENSURE_TEXT(steps_in(s.file), "15 16 17! 18 19"); // the recorder is still running
    // a cause that lasts trips again when the ring is full of later steps, and not more often than asked for
    for (int step = 20; step < 60; step++) ENSURE(record_step(recorder, step, 0.02, 0.1, NULL));
    ENSURE_INT(ss_recorder_trips(recorder), 2);
    ENSURE(ss_recorder_close(recorder, NULL));
    ENSURE_TEXT(steps_in(s.file), "15 16 17! 18 19 23 24 25! 26 27");
    ENSURE_INT(scratch_files(&s, false), 1);
    scratch_close(&s);
}

TEST(the_answers_of_the_engine_trip_by_any_metric)
{
    static const char *const settings[] = {"ring=3 trip=energy>1e-4", "ring=3 trip=momentum>1e-4 trip=nan",
                                           "ring=3 trip=complementarity>1e-4"};
    for (int i = 0; i < 3; i++) {
        scratch s = scratch_open();
        ss_recorder *recorder = start(&s, settings[i]);
        ENSURE(recorder && ss_recorder_rules(recorder, "cone", "gap_term=zero", NULL));
        for (int step = 0; step < 9; step++) {
            double wrong = step == 7 ? 0.3 : 0.1; // pushes the ball off the ground
            // momentum: the velocity does not follow from the impulse
            if (i == 1 && step == 7) {
                ss_recorder_begin(recorder, step, 0.01);
                int ball = ss_recorder_body(recorder, 1, (double[3]){0, 0, 0.5}, upright, inertia,
                                            (double[6]){0}, (double[6]){0, 0, -10});
                ss_recorder_contact(recorder, SS_WORLD, ball, (double[3]){0}, (double[3]){0, 0, 1}, 0, 0.5);
                ss_recorder_result(recorder, "engine", (double[6]){1}, NULL, &(double){0.1}, (double[3]){0});
                ENSURE(ss_recorder_end(recorder, NULL));
            } else {
                ENSURE(record_step(recorder, step, 0, wrong, NULL));
            }
        }
        ENSURE(ss_recorder_close(recorder, NULL));
        ENSURE_TEXT(steps_in(s.file), "5 6 7!");
        scratch_close(&s);
    }
}

TEST(a_frame_that_is_rejected_trips)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_recorder *recorder = start(&s, "ring=3");
    ENSURE(recorder);
    for (int step = 0; step < 5; step++) ENSURE(record_step(recorder, step, 0, 0.1, NULL));
    ENSURE(!record_step(recorder, 5, NAN, 0.1, &err));
    ENSURE_CONTAINS(err.message, "gap");
    ENSURE_TEXT(steps_in(s.file), "2 3 4!");
    ENSURE(ss_recorder_close(recorder, NULL));
    scratch_close(&s);
}

TEST(a_signal_and_the_program_itself_trip)
{
    scratch s = scratch_open();
    ss_recorder *recorder = start(&s, "ring=2 trip_signal=usr1");
    ENSURE(recorder);
    for (int step = 0; step < 5; step++) {
        if (step == 3) raise(SIGUSR1);
        ENSURE(record_step(recorder, step, 0, 0.1, NULL));
    }
    ENSURE_TEXT(steps_in(s.file), "2 3!");
    ENSURE(ss_recorder_trip(recorder, "the robot fell over", NULL));
    ENSURE_TEXT(steps_in(s.file), "2 3! 4!");
    ENSURE(ss_recorder_close(recorder, NULL));
    struct sigaction action;
    ENSURE(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    scratch_close(&s);
}

/* What belongs to a frame beside its arrays goes through the ring, too. */
TEST(moving_scenery_and_shapes_that_become_known_late_are_there_after_a_trip)
{
    scratch s = scratch_open();
    ss_recorder *recorder = start(&s, "ring=3 trip=overlap>0.01");
    ENSURE(recorder);
    ss_recorder_begin(recorder, 0, 0.01);
    ss_recorder_body(recorder, 1, (double[3]){0, 0, 0.5}, upright, inertia, (double[6]){0}, (double[6]){0});
    ss_recorder_scenery(recorder, (double[3]){1, 2, 3}, upright);
    ENSURE(ss_recorder_end(recorder, NULL));
    ENSURE(record_step(recorder, 1, 0.02, 0.1, NULL));
    ENSURE(ss_recorder_close(recorder, NULL));
    ENSURE_TEXT(steps_in(s.file), "0? 1!");
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, NULL);
    ss_scenery scenery = {0};
    ENSURE(file && ss_bpmd_scenery(file, 0, &scenery, NULL));
    ENSURE(scenery.count == 1 && scenery.position[0][1] == 2.0);
    ss_scenery_free(&scenery);
    ss_bpmd_close(file);

    // Shapes as a recorder of another engine finds them: one, then two; the step trips as soon as it ends.
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    ss_shape_list shapes = {0};
    ss_random random = ss_random_start(1, 0);
    ss_frame *frame = random_frame_create(&random, 2, 0, 3, 0);
    ENSURE(writer && ss_writer_configure_text(writer, "ring=3 trip=contacts>2 trips=2", NULL));
    for (int step = 0; step < 2; step++) {
        ss_stored_shape ball = {.shape = {.kind = SS_SPHERE, .size = {0.5}}, .id = step + 1, .scenery = -1};
        ENSURE(ss_shape_list_add(&shapes, &ball, NULL, NULL));
        ENSURE(ss_shape_list_store(&shapes, writer, true, NULL));
        for (int k = 0; k < 3; k++) {
            frame->time = 10 * step + k;
            ENSURE(ss_writer_frame(writer, frame, NULL) && ss_writer_end_frame(writer, NULL));
        }
        ENSURE_INT(ss_writer_trips(writer), step + 1);
    }
    ENSURE(ss_writer_close(writer, NULL));
    ss_shape_list_clear(&shapes);
    ss_frame_destroy(frame);
    ENSURE_TEXT(steps_in(s.file), "0!? 2? 10? 11!?");
    ss_shapes stored = {0};
    file = ss_bpmd_open(s.file, NULL, NULL, NULL);
    ENSURE(file && ss_bpmd_shapes(file, 0, &stored, NULL, NULL));
    ENSURE_INT(stored.count, 2);
    ss_shapes_free(&stored);
    ss_bpmd_close(file);
    scratch_close(&s);
}

TEST(settings_that_make_no_sense_are_named)
{
    static const char *const wrong[][2] = {{"ring=5 trip=enegry>1", "did you mean energy"},
                                           {"ring=5 trip=energy>much", "expected nan, NAME>VALUE"},
                                           {"ring=5 trip=nan>1", "expected nan"},
                                           {"trip=energy>1", "no ring"},
                                           {"rings=5", "unknown"},
                                           {"ring", "NAME=VALUE"}};
    scratch s = scratch_open();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ss_error err = {0};
        ss_recorder *recorder = ss_recorder_open(s.file, "test", NULL);
        ENSURE(!ss_recorder_configure(recorder, wrong[i][0], &err));
        ENSURE_CONTAINS(err.message, wrong[i][1]);
        ss_recorder_close(recorder, NULL);
        scratch_files(&s, true);
    }
    scratch_close(&s);
}

/* ---- crashes ------------------------------------------------------------------------------------------ */

static void crash_after(const scratch *s, int steps, int cause)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        ss_recorder *recorder = start(s, "ring=4 trip=overlap>0.01");
        for (int step = 0; step < steps; step++) record_step(recorder, step, step == 6 ? 0.02 : 0, 0.1, NULL);
        signal(cause, SIG_DFL);
        raise(cause);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

static void copy_file(const char *from, const char *to)
{
    scratch_bytes bytes = scratch_read(from);
    FILE *file = fopen(to, "wb");
    if (file) {
        fwrite(bytes.data, 1, bytes.size, file);
        fclose(file);
    }
    free(bytes.data);
}

TEST(a_crash_leaves_the_last_steps)
{
    static const int causes[] = {SIGKILL, SIGSEGV, SIGABRT};
    for (int i = 0; i < 3; i++) {
        scratch s = scratch_open();
        ss_leftovers left;
        char *name = NULL;
        int frames = 0;
        crash_after(&s, 5, causes[i]); // before anything trips
        ENSURE(ss_leftovers_find(s.file, &left, NULL));
        ENSURE_INT(left.count, 1);
        ENSURE(ss_leftover_recover(left.paths[0], NULL, &name, &frames, NULL));
        ENSURE_TEXT(steps_in(s.file), "1 2 3 4!");
        ENSURE_INT(frames, 4);
        ENSURE_INT(scratch_files(&s, false), 1);
        ss_release(name);
        ss_leftovers_free(&left);
        scratch_close(&s);
    }
}

TEST(a_crash_after_a_trip_leaves_both_and_a_repeated_recovery_adds_nothing_twice)
{
    scratch s = scratch_open();
    ss_leftovers left;
    char *name = NULL, ring[700], kept[700];
    int frames = 0;
    crash_after(&s, 9, SIGKILL);
    ENSURE_TEXT(steps_in(s.file), "3 4 5 6!");
    ENSURE(ss_leftovers_find(s.file, &left, NULL) && left.count == 1);
    snprintf(ring, sizeof ring, "%.*s.ring", (int)(strlen(left.paths[0]) - strlen(".partial")),
             left.paths[0]);
    snprintf(kept, sizeof kept, "%s/kept", s.directory);
    copy_file(ring, kept);
    ENSURE(ss_leftover_recover(left.paths[0], NULL, &name, &frames, NULL));
    ENSURE_CONTAINS(name, "recovered-1");
    ENSURE_TEXT(steps_in(name), "3 4 5 6! 7 8!");
    // as it would be had the recovery been killed before it removed the ring
    ENSURE(rename(name, left.paths[0]) == 0 && rename(kept, ring) == 0);
    ss_release(name);
    ENSURE(ss_leftover_recover(left.paths[0], NULL, &name, &frames, NULL));
    ENSURE_TEXT(steps_in(name), "3 4 5 6! 7 8!");
    ENSURE_INT(scratch_files(&s, false), 2);
    ss_release(name);
    ss_leftovers_free(&left);
    scratch_close(&s);
}

TEST_MAIN
