/* The simulator as a machine: stages, user functions, islands, warm starts, snapshots, failures. */
#include <stickslip/stickslip.h>

#include "faults.h"
#include "kit.h"
#include "scratch.h"
#include "worlds.h"

#include "problem/islands.h"

#include <unistd.h>

static const double g = 9.81;

/* Two towers, a pendulum of two links with a limit and a spring, a ball that bounces and one that rolls. */
static ss_world *fair(void)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    int rubber =
        ss_world_add_material(world, &(ss_material){.name = "rubber", .mu = 0.8, .restitution = 0.6}, &err);
    int felt =
        ss_world_add_material(world, &(ss_material){.name = "felt", .mu = 0.6, .mu_rolling = 0.002}, &err);
    must(rubber > 0 && felt > 0, &err);
    add_floor(world);
    for (int i = 0; i < 4; i++) {
        add_box(world, 0.02 * i, 0, 0.26 + 0.5 * i, 1, 0.6, 0.5);
        add_box(world, 3, 0.01 * i, 0.26 + 0.5 * i, 0.8, 0.8, 0.5);
    }
    int upper = add_box(world, -2, 0, 3, 0.2, 0.2, 1), lower = add_box(world, -2, 0, 2, 0.2, 0.2, 1);
    add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE,
                                .a = SS_WORLD,
                                .b = upper,
                                .anchor = {-2, 0, 3.5},
                                .axis = {0, 1, 0},
                                .law = {{.stiffness = 20, .friction = 3}}});
    add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE,
                                .a = upper,
                                .b = lower,
                                .anchor = {-2, 0, 2.5},
                                .axis = {0, 1, 0},
                                .law = {{.limited = true, .lower = -0.3, .upper = 0.3}}});
    ss_world_body(world, lower)->velocity[0] = 2;
    add_body(world, (ss_body){.kind = SS_DYNAMIC, .position = {1.5, 0, 1}, .velocity = {0.3}},
             (ss_shape){.kind = SS_SPHERE, .size = {0.2}, .density = 500, .material = rubber});
    add_body(world, (ss_body){.kind = SS_DYNAMIC, .position = {1.5, 2, 0.2}, .velocity = {0, 1}},
             (ss_shape){.kind = SS_SPHERE, .size = {0.2}, .density = 500, .material = felt});
    return world;
}

static void hash_of(const ss_sim *sim, char text[33])
{
    ss_sim_hash(sim, text);
}

/* ---- frames ----------------------------------------------------------------------------------------- */

TEST(every_step_is_a_frame_without_faults)
{
    ss_sim *sim = start(fair(), NULL);
    ENSURE(ss_sim_frame(sim) == NULL);
    int contacts = 0;
    for (int i = 0; i < 100; i++) {
        run(sim, 1);
        ss_findings findings = {0};
        bool good = ss_frame_check(ss_sim_frame(sim), "frame", &findings);
        if (!good) fprintf(stderr, "step %d: %s %s\n", i, findings.items[0].place, findings.items[0].message);
        ss_findings_free(&findings);
        ENSURE(good);
        contacts += ss_sim_frame(sim)->contacts.count;
    }
    ENSURE(contacts > 1000);
    ENSURE_INT(ss_sim_frame(sim)->constraints.count > 2, 1); // equations, spring, friction
    ENSURE_INT(ss_sim_frame_body(sim, 0), 0);
    ENSURE_INT(ss_sim_frame_body(sim, 99), SS_WORLD);
    end(sim);
}

TEST(report_counts_islands_and_adds_up)
{
    ss_sim *sim = start(fair(), NULL);
    run(sim, 30);
    ss_sim_report report = ss_sim_last(sim);
    ENSURE(report.islands >= 4);
    ENSURE(report.largest_island < report.contacts);
    ENSURE(report.touching > 0 && report.touching <= report.contacts);
    ENSURE(report.kinetic > 0.0 && report.potential > 0.0);
    ENSURE(report.joint_error < 1e-3);
    double sum = report.broad + report.narrow + report.assembly + report.solve + report.integration;
    ENSURE_NEAR(sum, report.seconds, 1e-12);
    end(sim);
}

/* ---- the same bits ---------------------------------------------------------------------------------- */

static void run_fair(int threads, int steps, char hash[33])
{
    ss_sim_options options = default_options();
    options.threads = threads;
    ss_sim *sim = start(fair(), &options);
    run(sim, steps);
    hash_of(sim, hash);
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
    options.threads = threads;
    ss_sim *sim = start(heap_and_balls(), &options);
    run(sim, 2);
    hash_of(sim, hash);
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
        options.threads = numbers_of_threads[k];
        ss_sim *sim = start(town_of_stacks(), &options);
        run(sim, 3);
        ss_sim_report report = ss_sim_last(sim);
        ENSURE(report.contacts > 4000 && report.islands > 100); // enough for all of it to be shared
        hash_of(sim, hash[k]);
        end(sim);
    }
    for (int k = 1; k < 4; k++) ENSURE_TEXT(hash[k], hash[0]);
}

/* Redundant contacts: sweeps drift along a line, and leap ahead on it. */
TEST(number_of_threads_does_not_change_a_bit_of_a_large_wall)
{
    char hash[4][33];
    for (int k = 0; k < 4; k++) {
        ss_sim_options options = default_options();
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
        hash_of(sim, hash[k]);
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
    hash_of(sim, straight);
    must(ss_sim_restore(sim, &snapshot, &err), &err);
    ENSURE_INT(ss_sim_steps(sim), 40);
    ENSURE(ss_sim_frame(sim) == NULL);
    run(sim, 60);
    hash_of(sim, resumed);
    ENSURE_TEXT(resumed, straight);
    ss_sim *fresh = start(fair(), NULL); // of the same make, never stepped
    must(ss_sim_restore(fresh, &snapshot, &err), &err);
    run(fresh, 60);
    hash_of(fresh, other_sim);
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
    hash_of(peeking, before);
    must(ss_sim_prepare(peeking, &err), &err);
    hash_of(peeking, after);
    ENSURE_TEXT(after, before);
    ENSURE(ss_sim_answer(peeking) != NULL);
    run(sim, 20);
    run(peeking, 20);
    hash_of(sim, straight);
    hash_of(peeking, peeked);
    ENSURE_TEXT(peeked, straight);
    end(sim);
    end(peeking);
}

/* ---- islands, warm starts, finisher ----------------------------------------------------------------- */

TEST(islands_solve_the_same_problem)
{
    ss_sim_options split = exact_options(0.01), whole = exact_options(0.01);
    whole.islands = false;
    split.finisher = whole.finisher = "none";
    ss_sim *one = start(fair(), &split), *two = start(fair(), &whole);
    run(one, 10); // few: piles are chaotic
    run(two, 10);
    ENSURE_INT(ss_sim_last(two).islands, 1);
    ENSURE(ss_sim_last(one).islands > 1);
    for (int b = 0; b < ss_world_body_count(ss_sim_world(one)); b++)
        for (int i = 0; i < 6; i++)
            // stop rule and conditioning
            ENSURE_NEAR(body_of(one, b)->velocity[i], body_of(two, b)->velocity[i], 1e-6);
    end(one);
    end(two);
}

TEST(island_problems_are_the_problem)
{
    ss_sim *sim = start(fair(), NULL);
    ss_error err = {0};
    run(sim, 20);
    const ss_formulation *box = ss_formulation_find("box"); // friction rows follow their normal rows
    ss_problem *problem = ss_problem_from_frame(ss_sim_frame(sim), box, NULL, &err);
    must(problem != NULL, &err);
    ss_arena *arena = ss_arena_create(0, &err);
    ss_islands islands;
    must(ss_islands_split(problem, NULL, arena, &islands, &err), &err);
    ENSURE(islands.count > 2);
    ENSURE_INT(islands.first[islands.count], problem->size);
    double *x = ss_allocate((size_t)problem->size, sizeof *x),
           *w = ss_allocate((size_t)problem->size, sizeof *w);
    double *ordered = ss_allocate((size_t)problem->size, sizeof *x),
           *own = ss_allocate((size_t)problem->size, sizeof *x);
    double *scratch_numbers = ss_allocate((size_t)ss_problem_scratch(problem), sizeof *x);
    ss_random random = ss_random_start(3, 0);
    for (int i = 0; i < problem->size; i++) x[i] = ss_random_between(&random, -1, 1);
    ss_problem_apply(problem, x, scratch_numbers, w);
    ss_islands_gather(&islands, x, ordered);
    for (int k = 0; k < islands.count; k++) {
        ss_problem *island = &islands.problems[k];
        ss_problem_apply(island, ordered + islands.first[k], scratch_numbers, own + islands.first[k]);
        for (int i = 0; i < island->size; i++) {
            int at = islands.order[islands.first[k] + i], partner = island->partner[i];
            if (partner < 0) ENSURE_INT(problem->partner[at], -1);
            if (partner >= 0) ENSURE_INT(islands.order[islands.first[k] + partner], problem->partner[at]);
        }
    }
    memset(x, 0, (size_t)problem->size * sizeof *x);
    ss_islands_scatter(&islands, own, x);
    for (int i = 0; i < problem->size; i++) ENSURE_NEAR(x[i], w[i], 0.0); // the same sums in the same order
    ss_islands_release(&islands);
    ss_arena_destroy(arena);
    ss_release(x), ss_release(w), ss_release(ordered), ss_release(own), ss_release(scratch_numbers);
    ss_problem_destroy(problem);
    end(sim);
}

/* Of a tower at rest in half a second. */
static int iterations_at_rest(bool warm)
{
    ss_sim_options options = default_options();
    options.warm_start = warm;
    options.finisher = "none";
    options.max_iterations = 5000;
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    for (int i = 0; i < 6; i++) add_box(world, 0, 0, 0.25 + 0.5 * i, 1, 1, 0.5);
    ss_sim *sim = start(world, &options);
    int iterations = 0;
    for (int i = 0; i < 50; i++) {
        run(sim, 1);
        iterations += ss_sim_last(sim).iterations;
    }
    end(sim);
    return iterations;
}

TEST(warm_start_saves_iterations)
{
    ENSURE(iterations_at_rest(false) > 10 * iterations_at_rest(true));
}

/* 10 kg on 1 kg, which is pulled by 0.4 of the weight of both: friction of 0.5 holds it. The bound must be
 * that of the load that the contact carried, not of the lower box alone. */
TEST(friction_bounded_by_the_previous_step_carries_the_load_above)
{
    for (int warm = 0; warm < 2; warm++) {
        ss_world *world = empty_world(0, 0, -g);
        add_floor(world);
        int low = add_box(world, 0, 0, 0.1, 0.4, 0.4, 0.2), high = add_box(world, 0, 0, 0.3, 0.4, 0.4, 0.2);
        ss_world_body(world, low)->mass = 1.0;
        ss_world_body(world, high)->mass = 10.0;
        ss_sim_options options;
        ss_options_defaults(ss_sim_option_table, &options);
        ss_options_defaults(ss_collision_option_table, &options.collision);
        options.formulation = "box";
        options.with = (ss_option_list){.count = 1, .items = {"bound=previous"}};
        options.solver = "block-pivot";
        options.warm_start = warm;
        ss_error err = {0};
        ss_sim *sim = ss_sim_create(world, &options, &err);
        must(sim != NULL, &err);
        for (int i = 0; i < 60; i++) {
            if (i == 10) ss_world_body(world, low)->force[0] = 0.4 * 11.0 * g;
            must(ss_sim_step(sim, &err), &err);
        }
        ENSURE_NEAR(ss_world_body(world, low)->velocity[0], 0.0, 1e-6);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
}

TEST(finisher_goes_on_where_the_solver_stops)
{
    ss_sim_options options = default_options();
    options.max_iterations = 25; // far too few for a tower of eight from zero
    options.warm_start = false;
    options.stop = "relative_energy<1e-8";
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    for (int i = 0; i < 8; i++) add_box(world, 0, 0, 0.25 + 0.5 * i, 1, 1, 0.5);
    ss_sim *sim = start(world, &options);
    run(sim, 3);
    ss_sim_report report = ss_sim_last(sim);
    ENSURE_INT(report.finished, 1);
    ENSURE_TEXT(ss_status_name(report.status), "converged");
    ENSURE(report.relative_energy < 1e-8);
    end(sim);
}

/* Logs that settle creep below the speed of rest for most of a second, and what holds them in one step does
 * not in the next ones: with a rest of constant length the finisher, which costs a hundred sweeps, came 18
 * times. */
TEST(a_heap_of_logs_that_creeps_calls_the_finisher_seldom)
{
    const ss_scene *scene = ss_scene_find("log-pile");
    double parameters[64];
    ss_sim_options options = default_options();
    ss_world *world = ss_world_create(NULL);
    ss_options_defaults(scene->parameters, parameters);
    ENSURE(scene->build(parameters, 0, world, NULL));
    ss_sim *sim = start(world, &options);
    int times = 0;
    for (int n = 0; n < 100; n++) {
        run(sim, 1);
        times += ss_sim_last(sim).finished;
    }
    ENSURE(times >= 2 && times <= 8);
    end(sim);
}

/* ---- user functions --------------------------------------------------------------------------------- */

typedef struct diary {
    char text[64];
    bool fits;
} diary;

#define STAGE(name, letter, contacts, frame)                                                              \
    static bool name(ss_sim *sim, void *context, ss_error *err)                                           \
    {                                                                                                     \
        diary *to = context;                                                                              \
        (void)err;                                                                                        \
        strcat(to->text, letter);                                                                         \
        to->fits &=                                                                                       \
            (ss_sim_contacts_edit(sim) != NULL) == contacts && (ss_sim_frame_edit(sim) != NULL) == frame; \
        return true;                                                                                      \
    }
STAGE(before_collision, "1", false, false)
STAGE(after_contacts, "2", true, false)
STAGE(before_solve, "3", false, true)
STAGE(after_step, "4", false, false)

TEST(user_functions_are_called_at_their_stages)
{
    ss_error err = {0};
    ss_sim_options options = default_options();
    options.substeps = 2;
    ss_sim *sim = start(fair(), &options);
    diary notes = {.fits = true};
    must(ss_sim_call_at(sim, SS_AFTER_STEP, after_step, &notes, &err), &err);
    must(ss_sim_call_at(sim, SS_BEFORE_SOLVE, before_solve, &notes, &err), &err);
    must(ss_sim_call_at(sim, SS_AFTER_CONTACTS, after_contacts, &notes, &err), &err);
    must(ss_sim_call_at(sim, SS_BEFORE_COLLISION, before_collision, &notes, &err), &err);
    run(sim, 1);
    ENSURE_TEXT(notes.text, "1231234"); // twice in two substeps, the last once a step
    ENSURE(notes.fits);
    ENSURE(!ss_sim_call_at(sim, SS_STAGE_COUNT, after_step, NULL, &err));
    end(sim);
}

static bool drop_all(ss_sim *sim, void *context, ss_error *err)
{
    (void)context, (void)err;
    ss_sim_contacts_edit(sim)->count = 0;
    return true;
}

TEST(dropped_contacts_do_not_hold)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    int ball = add_ball(world, 0, 0, 0.5, 0.5);
    ss_sim *sim = start(world, NULL);
    must(ss_sim_call_at(sim, SS_AFTER_CONTACTS, drop_all, NULL, &err), &err);
    run(sim, 100);
    ENSURE(body_of(sim, ball)->position[2] < -4.0);
    end(sim);
}

static bool push_up(ss_sim *sim, void *context, ss_error *err)
{
    (void)context, (void)err;
    ss_frame *frame = ss_sim_frame_edit(sim);
    for (int b = 0; b < frame->bodies.count; b++) frame->bodies.force[b][2] = 0.0;
    return true;
}

TEST(edited_frame_is_what_is_solved)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    int ball = add_ball(world, 0, 0, 0.5, 0.5);
    ss_sim *sim = start(world, NULL);
    must(ss_sim_call_at(sim, SS_BEFORE_SOLVE, push_up, NULL, &err), &err);
    run(sim, 10);
    ENSURE_NEAR(body_of(sim, ball)->position[2], 0.5, 0.0); // no weight
    end(sim);
}

/* A floor of our own at z = 0.1 for spheres of radius 0.5. */
static bool own_floor(ss_sim *sim, ss_arena *arena, ss_contact_list *contacts, void *context, ss_error *err)
{
    (void)context, (void)err;
    ss_contact *contact = contacts->items = ss_arena_take(arena, 1, sizeof *contact, "contact");
    contacts->count = 1;
    const double *x = body_of(sim, 0)->position;
    *contact = (ss_contact){.body_a = SS_WORLD,
                            .normal = {0, 0, 1},
                            .point = {x[0], x[1], 0.1},
                            .gap = x[2] - 0.6,
                            .material = {.mu = 0.5},
                            .key = 1};
    return true;
}

TEST(replaced_collision_is_asked_instead)
{
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    int ball = add_ball(world, 0, 0, 1, 0.5);
    ss_sim *sim = start(world, NULL);
    ss_sim_replace_collision(sim, own_floor, NULL);
    run(sim, 100);
    ENSURE_NEAR(body_of(sim, ball)->position[2], 0.6, 1e-9);
    end(sim);
}

/* One sweep of nothing: every unknown stays at zero, so nothing is held up. */
static ss_status idle(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    for (int i = 0; i < problem->size; i++) x[i] = 0.0;
    ss_run_iteration(run, x, NULL);
    return ss_run_status(run);
}

TEST(replaced_solver_is_run_instead)
{
    static const ss_solver lazy = {.abi = SS_ABI,
                                   .name = "lazy",
                                   .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE,
                                   .solve = idle};
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    int ball = add_ball(world, 0, 0, 0.5, 0.5);
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.finisher = "none";
    ss_sim *sim = start(world, &options);
    ENSURE(ss_sim_replace_solver(sim, &lazy, NULL, &err));
    ENSURE(ss_sim_step(sim, &err));
    ENSURE_NEAR(body_of(sim, ball)->velocity[2], -g * options.h, 1e-12); // one step of free fall, rounded
    ENSURE(!ss_sim_replace_solver(sim, &(ss_solver){.abi = SS_ABI + 1, .solve = idle}, NULL, &err));
    ENSURE_CONTAINS(err.message, "another version");
    end(sim);
}

/* Every body flies on as if alone, but upwards. */
static bool lift(ss_sim *sim, const ss_frame *frame, ss_answer *answer, void *context, ss_error *err)
{
    (void)sim, (void)err;
    ++*(int *)context;
    for (int b = 0; b < frame->bodies.count; b++) answer->velocity[b][2] = 1.0;
    return true;
}

static bool strike(ss_sim *sim, const ss_frame *frame, ss_answer *answer, void *context, ss_error *err)
{
    (void)sim, (void)frame, (void)answer, (void)context, (void)err;
    return false;
}

TEST(replaced_dynamics_moves_the_world_and_can_be_judged)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    int ball = add_ball(world, 0, 0, 0.5, 0.5), calls = 0;
    ss_sim *sim = start(world, NULL);
    ss_sim_replace_dynamics(sim, lift, &calls);
    run(sim, 10);
    ENSURE_INT(calls, 10);
    ENSURE_NEAR(body_of(sim, ball)->position[2], 0.5 + ss_sim_time(sim), 1e-12); // ten roundings
    ss_metric_value *metrics = ss_allocate((size_t)ss_metric_count(), sizeof *metrics);
    ss_case what = {.assembly = ss_sim_assembly(sim), .answer = ss_sim_answer(sim), .skip_exact = true};
    ENSURE(ss_judge(&what, metrics, NULL, &err));
    ss_release(metrics);

    ss_sim_replace_dynamics(sim, strike, NULL);
    double before = body_of(sim, ball)->position[2];
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "the user's dynamics stopped the step");
    ENSURE(body_of(sim, ball)->position[2] == before);
    ss_sim_replace_dynamics(sim, NULL, NULL);
    ENSURE(ss_sim_step(sim, &err));
    end(sim);
}

static bool empty_promise(ss_sim *sim, ss_arena *arena, ss_contact_list *contacts, void *context,
                          ss_error *err)
{
    (void)sim, (void)arena, (void)context, (void)err;
    *contacts = (ss_contact_list){.count = 3};
    return true;
}

TEST(contacts_counted_but_not_listed_are_refused)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    add_ball(world, 0, 0, 1, 0.5);
    ss_sim *sim = start(world, NULL);
    ss_sim_replace_collision(sim, empty_promise, NULL);
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "the list is NULL");
    end(sim);
}

static bool flatten_normals(ss_sim *sim, void *context, ss_error *err)
{
    (void)context, (void)err;
    ss_contact_list *contacts = ss_sim_contacts_edit(sim);
    for (int c = 0; c < contacts->count; c++) contacts->items[c].normal[2] = 0.0;
    return true;
}

TEST(contact_without_a_direction_is_refused)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    add_ball(world, 0, 0, 0.5, 0.5);
    ss_sim *sim = start(world, NULL);
    must(ss_sim_call_at(sim, SS_AFTER_CONTACTS, flatten_normals, NULL, &err), &err);
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "normal");
    end(sim);
}

/* ---- failures --------------------------------------------------------------------------------------- */

static bool plant_nan(ss_sim *sim, void *context, ss_error *err)
{
    (void)err;
    if (ss_sim_steps(sim) == 5) ss_world_body(ss_sim_world(sim), *(int *)context)->force[1] = NAN;
    return true;
}

TEST(planted_nan_is_found_and_undone)
{
    ss_error err = {0};
    char before[33], after[33];
    ss_sim *sim = start(fair(), NULL);
    int body = 3;
    must(ss_sim_call_at(sim, SS_BEFORE_COLLISION, plant_nan, &body, &err), &err);
    run(sim, 5);
    hash_of(sim, before);
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "step 5");
    ENSURE_CONTAINS(err.message, "body 3");
    hash_of(sim, after);
    ENSURE_TEXT(after, before);
    ENSURE_INT(ss_sim_steps(sim), 5);
    ENSURE(body_of(sim, body)->force[1] == 0.0); // what the user function did is undone, too
    end(sim);
}

TEST(absurd_speed_counts_as_divergence)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    int ball = add_ball(world, 0, 0, 1, 0.5);
    ss_world_body(world, ball)->name = NULL;
    ss_sim *sim = start(world, NULL);
    ss_world_body(world, ball)->velocity[0] = 1e9; // m/s, in a world of about 2 m
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "diverged");
    ENSURE_NEAR(body_of(sim, ball)->position[0], 0.0, 0.0);
    ss_world_body(world, ball)->velocity[0] = 1.0;
    run(sim, 1); // and goes on
    end(sim);
}

static bool stop_here(ss_sim *sim, void *context, ss_error *err)
{
    (void)sim, (void)context;
    return ss_fail(err, SS_ERROR_USAGE, "enough");
}

TEST(user_function_stops_the_step_after_all)
{
    ss_error err = {0};
    char before[33], after[33];
    ss_sim_options options = default_options();
    options.substeps = 3;
    ss_sim *sim = start(fair(), &options);
    run(sim, 20);
    hash_of(sim, before);
    must(ss_sim_call_at(sim, SS_AFTER_STEP, stop_here, NULL, &err), &err);
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "enough");
    hash_of(sim, after);
    ENSURE_TEXT(after, before);
    end(sim);
}

static void refuse(const char *part, void (*change)(ss_sim_options *))
{
    ss_error err = {0};
    ss_sim_options options = default_options();
    change(&options);
    ss_world *world = fair();
    ss_sim *sim = ss_sim_create(world, &options, &err);
    if (sim) KIT_FAIL("must be refused: %s", part);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ENSURE_CONTAINS(err.message, part);
}

static void wrong_solver(ss_sim_options *options)
{
    options->solver = "nsgz";
}
static void wrong_finisher(ss_sim_options *options)
{
    options->finisher = "no such solver";
}
static void wrong_formulation(ss_sim_options *options)
{
    options->formulation = "cones";
}
static void wrong_stop(ss_sim_options *options)
{
    options->stop = "relative_energie<1";
}
static void wrong_step(ss_sim_options *options)
{
    options->h = -0.01;
}
static void wrong_with(ss_sim_options *options)
{
    options->with.items[options->with.count++] = "gap_term=sometimes";
}
static void wrong_set(ss_sim_options *options)
{
    options->set.items[options->set.count++] = "no_such=1";
}

TEST(options_that_make_no_sense_are_refused)
{
    refuse("did you mean nsgs", wrong_solver);
    refuse("finisher", wrong_finisher);
    refuse("cones", wrong_formulation);
    refuse("relative_energie", wrong_stop);
    refuse("for dt", wrong_step);
    refuse("gap_term", wrong_with);
    refuse("no_such", wrong_set);
}

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
    // every 7th request is enough to meet all of them, and takes a seventh of the time
    for (int n = 1;; n += 7) {
        faults_start(n);
        ss_error err = {0};
        ss_world *world = ss_world_create(&err);
        ss_sim *sim = NULL;
        if (world) {
            ss_sim_options options = default_options();
            options.threads = 1;
            options.islands = n % 2;
            int body =
                ss_world_add_body(world, &(ss_body){.kind = SS_DYNAMIC, .position = {0, 0, 0.5}}, &err);
            bool good =
                body >= 0 &&
                ss_world_add_shape(world, body, &(ss_shape){.kind = SS_BOX, .size = {1, 1, 1}, .density = 1},
                                   &err) >= 0 &&
                ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, &err) >= 0 &&
                ss_world_add_joint(world,
                                   &(ss_joint){.kind = SS_JOINT_DISTANCE,
                                               .a = SS_WORLD,
                                               .b = body,
                                               .anchor = {0, 0, 3},
                                               .anchor_b = {0, 0, 0.5}},
                                   &err) >= 0;
            sim = good ? ss_sim_create(world, &options, &err) : NULL;
            for (int i = 0; sim && i < 3; i++) ss_sim_step(sim, &err);
        }
        ss_sim_destroy(sim);
        ss_world_destroy(world);
        long left = faults.live;
        bool reached = faults_stop();
        ENSURE_INT(left, 0);
        if (reached) ENSURE(err.code != SS_OK);
        if (!reached) break;
    }
}

/* ---- substeps and controllers ----------------------------------------------------------------------- */

TEST(substeps_are_small_steps)
{
    ss_sim_options large = default_options(), small = default_options();
    large.h = 0.02;
    large.substeps = 4;
    small.h = 0.005;
    ss_sim *one = start(fair(), &large), *two = start(fair(), &small);
    run(one, 20);
    run(two, 80);
    for (int b = 0; b < ss_world_body_count(ss_sim_world(one)); b++)
        for (int i = 0; i < 3; i++)
            ENSURE_NEAR(body_of(one, b)->position[i], body_of(two, b)->position[i], 0.0);
    ENSURE_NEAR(ss_sim_time(one), 0.4, 1e-15);
    end(one);
    end(two);
}

TEST(trajectory_is_smooth_and_starts_and_ends_at_rest)
{
    double time[] = {0, 1, 3}, knots[] = {0, 2, 1}, value, speed;
    ss_controller controller = {.knots = 3, .time = time, .value = knots};
    for (int k = 0; k < 3; k++) {
        ss_trajectory_at(&controller, time[k], &value, &speed);
        ENSURE_NEAR(value, knots[k], 1e-15);
        if (k != 1) ENSURE_NEAR(speed, 0.0, 0.0);
    }
    double before, after, h = 1e-6;
    ss_trajectory_at(&controller, 1 - h, &value, &before);
    ss_trajectory_at(&controller, 1 + h, &value, &after);
    ENSURE_NEAR(before, after, 1e-4); // no jump: twice h times the acceleration
    double left, right;
    ss_trajectory_at(&controller, 0.5 - h, &left, &before);
    ss_trajectory_at(&controller, 0.5 + h, &right, &after);
    ss_trajectory_at(&controller, 0.5, &value, &speed);
    ENSURE_NEAR((right - left) / (2 * h), speed, 1e-8); // speed is the derivative
    ss_trajectory_at(&controller, 99, &value, &speed);
    ENSURE_NEAR(value, 1.0, 0.0);
}

TEST(controller_brings_a_joint_to_its_place)
{
    ss_error err = {0};
    double time[] = {0, 1.5}, value[] = {0, 1.0};
    ss_world *world = empty_world(0, 0, -g);
    int arm = add_box(world, 0.5, 0, 1, 1, 0.1, 0.1);
    int joint = add_joint(
        world,
        (ss_joint){
            .kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = arm, .anchor = {0, 0, 1}, .axis = {0, 1, 0}});
    ss_sim_options options = default_options();
    options.h = 2e-3;
    ss_sim *sim = start(world, &options);
    ss_controller controller = {.joint = joint,
                                .proportional = 4000,
                                .integral = 8000,
                                .derivative = 200,
                                .knots = 2,
                                .time = time,
                                .value = value};
    must(ss_sim_add_controller(sim, &controller, &err), &err);
    run(sim, 2000);
    double angle, speed;
    ENSURE(ss_joint_coordinate(world, joint, 0, &angle, &speed));
    ENSURE_NEAR(angle, 1.0, 2e-3); // the integral has taken over the weight
    ENSURE_NEAR(speed, 0.0, 2e-3);
    controller.coordinate = 1;
    ENSURE(!ss_sim_add_controller(sim, &controller, &err));
    controller.coordinate = 0;
    end(sim);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

TEST(every_stabilisation_holds_a_chain_together)
{
    static const double bound[] = {5e-3, 0.2, 5e-3, 2e-5, 2e-5}; // none: it drifts
    for (int kind = SS_STABILISE_BAUMGARTE; kind <= SS_STABILISE_IMPULSE; kind++) {
        ss_world *world = empty_world(0, 0, -g);
        int last = SS_WORLD;
        for (int i = 0; i < 5; i++) {
            int link = add_box(world, 0.5 + i, 0, 0, 1, 0.1, 0.1);
            add_joint(
                world,
                (ss_joint){
                    .kind = SS_JOINT_REVOLUTE, .a = last, .b = link, .anchor = {i, 0, 0}, .axis = {0, 1, 0}});
            last = link;
        }
        ss_sim_options options = exact_options(0.005);
        options.joints = kind;
        ss_sim *sim = start(world, &options);
        run(sim, 300);
        double error = ss_sim_last(sim).joint_error;
        if (!(error < bound[kind])) fprintf(stderr, "stabilisation %d: error %g\n", kind, error);
        ENSURE(error < bound[kind]);
        ENSURE(kind != SS_STABILISE_NONE || error > 1e-4);
        end(sim);
    }
}

TEST(kinematic_body_drives_through_a_joint)
{
    ss_world *world = empty_world(0, 0, 0);
    int motor = add_body(world, (ss_body){.kind = SS_KINEMATIC, .velocity = {0, 0, 0, 0, 0, 2}},
                         (ss_shape){.kind = SS_BOX, .size = {0.2, 0.2, 0.2}});
    int arm = add_box(world, 1, 0, 0, 0.5, 0.1, 0.1);
    add_joint(world, (ss_joint){.kind = SS_JOINT_FIXED, .a = motor, .b = arm, .anchor = {0, 0, 0}});
    ss_sim_options options = exact_options(1e-3);
    ss_sim *sim = start(world, &options);
    run(sim, 1000);
    const double *x = body_of(sim, arm)->position;
    ENSURE_NEAR(body_of(sim, arm)->velocity[5], 2.0, 1e-3);
    ENSURE_NEAR(hypot(x[0], x[1]), 1.0, 5e-3);
    ENSURE_NEAR(atan2(x[1], x[0]), 2.0, 5e-3);
    end(sim);
}

/* A chain of balls that branches, a loop of hinges whose equations depend on each other, and a box that flies
 * by: nothing touches. */
static ss_world *mobile(void)
{
    ss_world *world = empty_world(0, 0, -g);
    int last = SS_WORLD, middle = SS_WORLD;
    for (int i = 0; i < 6; i++) {
        int link = add_box(world, 0.5 + i, 0, 0, 0.9, 0.1, 0.2);
        add_joint(world, (ss_joint){.kind = SS_JOINT_BALL, .a = last, .b = link, .anchor = {i, 0, 0}});
        last = link;
        if (i == 2) middle = link;
    }
    int branch = add_box(world, 2.5, 0.5, 0, 0.1, 0.9, 0.2);
    add_joint(world, (ss_joint){.kind = SS_JOINT_BALL, .a = middle, .b = branch, .anchor = {2.5, 0.06, 0}});
    int bars[3] = {add_box(world, 0, 5, 0.5, 0.1, 0.1, 0.9), add_box(world, 0.5, 5, 1, 0.9, 0.1, 0.1),
                   add_box(world, 1, 5, 0.5, 0.1, 0.1, 0.9)};
    const double at[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    for (int i = 0; i < 4; i++)
        add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE,
                                    .a = i > 0 ? bars[i - 1] : SS_WORLD,
                                    .b = i < 3 ? bars[i] : SS_WORLD,
                                    .anchor = {at[i][0], 5, at[i][1]},
                                    .axis = {0, 1, 0}});
    ss_world_body(world, bars[0])->velocity[0] = 0.3;
    int flying = add_box(world, 0, -5, 0, 1, 0.5, 0.3);
    ss_world_body(world, flying)->velocity[4] = 3;
    ss_world_body(world, flying)->velocity[5] = 1;
    for (int i = 0; i < ss_world_shape_count(world); i++)
        ss_world_shape(world, i)->collides_with = 2; // a group that none of them is in
    return world;
}

static ss_sim *start_mobile(void)
{
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.h = 0.01;
    options.joints = SS_STABILISE_IMPULSE;
    return start(mobile(), &options);
}

/* Of the frame: largest of M (v+ - v) - h f - J' x, in N s and N m s, and of J v+, in m/s and rad/s. */
static void faults_of_answer(const ss_sim *sim, double *momentum, double *speed)
{
    const ss_frame *frame = ss_sim_frame(sim);
    const ss_answer *answer = ss_sim_answer(sim);
    const ss_bodies *bodies = &frame->bodies;
    const ss_constraints *joints = &frame->constraints;
    double left[16][6] = {{0}};
    for (int b = 0; b < bodies->count; b++) {
        double change[6];
        for (int i = 0; i < 6; i++) {
            change[i] = answer->velocity[b][i] - bodies->velocity[b][i];
            left[b][i] = -frame->h * bodies->force[b][i];
        }
        for (int i = 0; i < 3; i++) {
            left[b][i] += bodies->mass[b] * change[i];
            for (int k = 0; k < 3; k++) left[b][3 + i] += bodies->inertia[b][3 * i + k] * change[3 + k];
        }
    }
    *momentum = *speed = 0;
    for (int k = 0, r = 0; k < joints->count; k++)
        for (int end = r + joints->rows[k]; r < end; r++) {
            double sum = 0;
            for (int side = 0; side < 2; side++) {
                int b = joints->pair[k][side];
                for (int i = 0; i < 6 && b >= 0; i++) {
                    left[b][i] -= joints->jacobian[r][6 * side + i] * answer->row_impulse[r];
                    sum += joints->jacobian[r][6 * side + i] * answer->velocity[b][i];
                }
            }
            *speed = fmax(*speed, fabs(sum));
        }
    for (int b = 0; b < bodies->count; b++)
        for (int i = 0; i < 6; i++) *momentum = fmax(*momentum, fabs(left[b][i]));
}

static bool look_at_frame(ss_sim *sim, void *context, ss_error *err)
{
    (void)context, (void)err;
    return ss_sim_frame(sim) != NULL;
}

static bool do_nothing(ss_sim *sim, void *context, ss_error *err)
{
    (void)sim, (void)context, (void)err;
    return true;
}

TEST(a_mechanism_that_touches_nothing_moves_the_same_whether_or_not_someone_looks)
{
    char alone[33], seen[33], hooked[33], called[33], resumed[33];
    ss_error err = {0};
    ss_sim *sim = start_mobile();
    run(sim, 150);
    hash_of(sim, alone);
    ENSURE(ss_sim_last(sim).joint_error < 1e-5);
    end(sim);

    /* Frames made afterwards are those of the step, and the answer is theirs. */
    sim = start_mobile();
    for (int k = 0; k < 150; k++) {
        double momentum, speed;
        run(sim, 1);
        faults_of_answer(sim, &momentum, &speed);
        ENSURE_NEAR(ss_sim_frame(sim)->time, 0.01 * k, 1e-12);
        ENSURE_INT(ss_sim_frame(sim)->constraints.row_count, 7 * 3 + 4 * 5);
        ENSURE(momentum <
               1e-6); // of some 10 N s; x of a loop is as large as 1e-10 of the diagonal lets it be
        ENSURE(speed < 1e-8);
    }
    hash_of(sim, seen);
    ENSURE_TEXT(seen, alone);
    end(sim);

    /* User functions that change nothing. */
    sim = start_mobile();
    must(ss_sim_call_at(sim, SS_AFTER_STEP, look_at_frame, NULL, &err), &err);
    run(sim, 150);
    hash_of(sim, hooked);
    ENSURE_TEXT(hooked, alone);
    end(sim);
    sim = start_mobile();
    must(ss_sim_call_at(sim, SS_BEFORE_COLLISION, do_nothing, NULL, &err), &err);
    must(ss_sim_call_at(sim, SS_AFTER_STEP, look_at_frame, NULL, &err), &err);
    run(sim, 150);
    hash_of(sim, called);
    ENSURE_TEXT(called, alone);
    end(sim);

    /* A snapshot has no factors, and needs none. */
    ss_snapshot snapshot;
    sim = start_mobile();
    run(sim, 70);
    must(ss_sim_save(sim, &snapshot, &err), &err);
    end(sim);
    sim = start_mobile();
    must(ss_sim_restore(sim, &snapshot, &err), &err);
    run(sim, 80);
    hash_of(sim, resumed);
    ENSURE_TEXT(resumed, alone);
    ss_snapshot_free(&snapshot);
    end(sim);
}

TEST(a_mechanism_that_touches_nothing_moves_as_the_ordinary_step_moves_it)
{
    ss_error err = {0};
    ss_sim *alone = start_mobile(), *ordinary = start_mobile();
    must(ss_sim_call_at(ordinary, SS_BEFORE_SOLVE, do_nothing, NULL, &err),
         &err); // it could change the frame
    run(alone, 50);
    run(ordinary, 50);
    for (int b = 0; b < ss_world_body_count(ss_sim_world(alone)); b++)
        for (int i = 0; i < 3; i++)
            ENSURE_NEAR(body_of(alone, b)->position[i], body_of(ordinary, b)->position[i],
                        2e-5); // the tolerance
    end(alone);
    end(ordinary);
}

TEST_MAIN
