/* The simulator gives the same bits with any number of threads, after a snapshot, and beside a look ahead. */
#include "base/team.h"
#include "fair.h"
#include "kit.h"
#include "scratch.h"

#include <unistd.h>

/* ---- the same bits ---------------------------------------------------------------------------------- */

static void run_fair(int threads, int steps, char hash[33])
{
    ss_sim_options options = default_options();
    ss_team_fix_round_trip(0.0); // all that can be shared is
    options.threads = threads;
    ss_sim *sim = start(fair(), &options);
    run(sim, steps);
    ss_sim_hash(sim, hash);
    end(sim);
}

TEST(number_of_threads_does_not_change_a_bit)
{
    char one[33], two[33], five[33];
    run_fair(1, 80, one);
    run_fair(2, 80, two);
    run_fair(5, 80, five);
    ENSURE_TEXT(two, one);
    ENSURE_TEXT(five, one);
}

/* A heap of so many balls in a row of columns that all threads solve it together, and three
 * balls beside it. */
static ss_world *heap_and_balls(void)
{
    enum { EDGE = 12 };
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    for (int k = 0; k < EDGE * EDGE * EDGE + 3; k++) {
        int layer = k / (EDGE * EDGE);
        ss_body ball = {.kind = SS_DYNAMIC,
                        .position = {0.2 * (k % EDGE), 0.2 * (k / EDGE % EDGE), 0.1 + 0.2 * layer}};
        if (layer == EDGE) ball.position[0] = 10.0 + k % EDGE, ball.position[2] = 0.1;
        ball.velocity[k % 3] = 0.01 * (k % 7);
        add_body(world, ball, (ss_shape){.kind = SS_SPHERE, .size = {0.1}, .density = 1000});
    }
    return world;
}

static ss_sim_report run_heap(int threads, char hash[33])
{
    ss_sim_options options = default_options();
    ss_team_fix_round_trip(0.0); // all that can be shared is
    options.threads = threads;
    ss_sim *sim = start(heap_and_balls(), &options);
    run(sim, 2);
    ss_sim_hash(sim, hash);
    ss_sim_report report = ss_sim_last(sim);
    end(sim);
    return report;
}

TEST(number_of_threads_does_not_change_a_bit_of_a_large_island_beside_small_ones)
{
    char one[33], two[33], three[33];
    ss_sim_report report = run_heap(1, one);
    ENSURE_INT(report.islands, 4);
    ENSURE(report.largest_island > 4096); // enough for the sweeps to be shared
    run_heap(2, two);
    run_heap(3, three);
    ENSURE_TEXT(two, one);
    ENSURE_TEXT(three, one);
}

/* Stacks of three boxes with static friction, each an island, the upper ones pushed, and one of them falling:
 * so many that every stage of a step is shared, from the boxes of shapes to the impulses that are kept. */
static ss_world *town_of_stacks(void)
{
    enum { STACKS = 700, EDGE = 28 };
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.4, .mu_static = 0.5, .restitution = 0.1});
    add_floor(world);
    for (int k = 0; k < 3 * STACKS; k++) {
        int stack = k / 3;
        ss_body box = {.kind = SS_DYNAMIC,
                       .position = {1.0 * (stack % EDGE), 1.0 * (stack / EDGE), 0.1 + 0.2 * (k % 3)}};
        if (k % 3 == 2) box.velocity[0] = 0.01 * (stack % 30), box.position[2] += stack % 5 ? 0.0 : 0.02;
        add_body(world, box, (ss_shape){.kind = SS_BOX, .size = {0.2, 0.2, 0.2}, .density = 1000});
    }
    return world;
}

static const int numbers_of_threads[] = {1, 2, 3, 8};

TEST(number_of_threads_does_not_change_a_bit_of_any_stage_of_a_step)
{
    char hash[4][33];
    for (int k = 0; k < 4; k++) {
        ss_sim_options options = default_options();
        ss_team_fix_round_trip(0.0); // all that can be shared is
        options.threads = numbers_of_threads[k];
        ss_sim *sim = start(town_of_stacks(), &options);
        run(sim, 3);
        ss_sim_report report = ss_sim_last(sim);
        ENSURE(report.contacts > 4000 && report.islands > 100); // enough for all of it to be shared
        ss_sim_hash(sim, hash[k]);
        end(sim);
    }
    for (int k = 1; k < 4; k++) ENSURE_TEXT(hash[k], hash[0]);
}

static bool same_pair(const ss_contact *a, const ss_contact *b)
{
    return a->shape_a == b->shape_a && a->shape_b == b->shape_b;
}

/* The list begins with another pair each time. */
static bool begin_elsewhere(ss_sim *sim, void *context, ss_error *err)
{
    (void)err;
    enum { PLACES = 5 };
    ss_contact_list *list = ss_sim_contacts_edit(sim);
    int *calls = context, count = list->count, cut = count * (++*calls % PLACES) / PLACES;
    while (cut > 0 && cut < count && same_pair(&list->items[cut - 1], &list->items[cut])) cut++;
    ss_contact *all = ss_allocate((size_t)count, sizeof *all);
    for (int c = 0; c < count; c++) all[c] = list->items[(c + cut) % count];
    memcpy(list->items, all, (size_t)count * sizeof *all);
    ss_release(all);
    return true;
}

static int run_elsewhere(int threads, bool warm_start, char hash[33])
{
    ss_sim_options options = default_options();
    ss_team_fix_round_trip(0.0); // all that can be shared is
    options.threads = threads;
    options.warm_start = warm_start;
    int calls = 0;
    ss_error err = {0};
    ss_sim *sim = start(town_of_stacks(), &options);
    must(ss_sim_call_at(sim, SS_AFTER_CONTACTS, begin_elsewhere, &calls, &err), &err);
    run(sim, 4);
    int iterations = ss_sim_last(sim).iterations;
    ss_sim_hash(sim, hash);
    end(sim);
    return iterations;
}

/* Impulses of the step before are found again wherever their pair is, by each thread for itself. */
TEST(number_of_threads_does_not_change_a_bit_of_contacts_in_another_order)
{
    char hash[4][33], cold[33];
    int iterations = run_elsewhere(1, true, hash[0]);
    ENSURE(iterations < run_elsewhere(1, false, cold)); // they are found
    for (int k = 1; k < 4; k++) {
        ENSURE_INT(run_elsewhere(numbers_of_threads[k], true, hash[k]), iterations);
        ENSURE_TEXT(hash[k], hash[0]);
    }
}

/* Redundant contacts: sweeps drift along a line, and leap ahead on it. */
TEST(number_of_threads_does_not_change_a_bit_of_a_large_wall)
{
    char hash[4][33];
    for (int k = 0; k < 4; k++) {
        ss_sim_options options = default_options();
        ss_team_fix_round_trip(0.0); // all that can be shared is
        options.threads = numbers_of_threads[k];
        ss_world *world = empty_world(0, 0, -g);
        add_floor(world);
        for (int brick = 0; brick < 24 * 24; brick++) {
            int row = brick / 24;
            add_box(world, 0.24 * (brick % 24) + 0.12 * (row % 2), 0, 0.05 + 0.1 * row, 0.24, 0.12, 0.1);
        }
        ss_sim *sim = start(world, &options);
        run(sim, 3);
        ENSURE(ss_sim_last(sim).largest_island > 4096); // enough for the sweeps to be shared
        ss_sim_hash(sim, hash[k]);
        end(sim);
    }
    for (int k = 1; k < 4; k++) ENSURE_TEXT(hash[k], hash[0]);
}

TEST(restored_snapshot_continues_bit_for_bit)
{
    char straight[33], resumed[33], other_sim[33];
    ss_snapshot snapshot;
    ss_error err = {0};
    ss_sim *sim = start(fair(), NULL);
    run(sim, 40);
    must(ss_sim_save(sim, &snapshot, &err), &err);
    run(sim, 60);
    ss_sim_hash(sim, straight);
    must(ss_sim_restore(sim, &snapshot, &err), &err);
    ENSURE_INT(ss_sim_steps(sim), 40);
    ENSURE(ss_sim_frame(sim) == NULL);
    run(sim, 60);
    ss_sim_hash(sim, resumed);
    ENSURE_TEXT(resumed, straight);
    ss_sim *fresh = start(fair(), NULL); // of the same make, never stepped
    must(ss_sim_restore(fresh, &snapshot, &err), &err);
    run(fresh, 60);
    ss_sim_hash(fresh, other_sim);
    ENSURE_TEXT(other_sim, straight);
    ss_snapshot_free(&snapshot);
    end(sim);
    end(fresh);
}

TEST(snapshot_file_is_checked)
{
    ss_error err = {0};
    ss_snapshot snapshot, read;
    scratch place = scratch_open();
    const char *path = place.file;
    ss_sim *sim = start(fair(), NULL);
    run(sim, 10);
    must(ss_sim_save(sim, &snapshot, &err), &err);
    must(ss_snapshot_write(&snapshot, path, &err), &err);
    must(ss_snapshot_read(path, &read, &err), &err);
    ENSURE(read.size == snapshot.size && memcmp(read.bytes, snapshot.bytes, read.size) == 0);
    read.bytes[read.size / 2] ^= 1;
    ENSURE(!ss_sim_restore(sim, &read, &err));
    ENSURE_CONTAINS(err.message, "damaged");
    must(ss_snapshot_write(&read, path, &err), &err);
    ss_snapshot_free(&read);
    ENSURE(!ss_snapshot_read(path, &read, &err));
    ENSURE_CONTAINS(err.message, path);
    for (size_t size = 0; size < snapshot.size; size += 1 + size / 7) { // cut off anywhere
        ss_snapshot part = {size, snapshot.bytes};
        ENSURE(!ss_sim_restore(sim, &part, &err));
    }
    ss_world *world = empty_world(0, 0, -g);
    add_ball(world, 0, 0, 1, 0.5);
    ss_sim *other = start(world, NULL);
    ENSURE(!ss_sim_restore(other, &snapshot, &err));
    ENSURE_CONTAINS(err.message, "bodies");
    ss_snapshot_free(&snapshot);
    scratch_close(&place);
    end(sim);
    end(other);
}

TEST(looking_ahead_changes_nothing)
{
    char before[33], after[33], straight[33], peeked[33];
    ss_error err = {0};
    ss_sim *sim = start(fair(), NULL), *peeking = start(fair(), NULL);
    run(sim, 20);
    run(peeking, 20);
    ss_sim_hash(peeking, before);
    must(ss_sim_prepare(peeking, &err), &err);
    ss_sim_hash(peeking, after);
    ENSURE_TEXT(after, before);
    ENSURE(ss_sim_answer(peeking) != NULL);
    run(sim, 20);
    run(peeking, 20);
    ss_sim_hash(sim, straight);
    ss_sim_hash(peeking, peeked);
    ENSURE_TEXT(peeked, straight);
    end(sim);
    end(peeking);
}

TEST_MAIN
