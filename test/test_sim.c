/* The simulator as a machine: frames, islands, warm starts, the finisher, substeps, controllers, joints. */
#include "fair.h"
#include "kit.h"

#include "problem/islands.h"

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

/* Its sweeps begin where those of the solver have ended, not with nothing: 25 more make the tower stand
 * better than 25 alone. */
TEST(finisher_starts_from_what_the_solver_has_found)
{
    double error[2];
    for (int k = 0; k < 2; k++) {
        ss_sim_options options = default_options();
        options.solver = "nsgs";
        options.finisher = k ? "nsgs" : "none";
        options.max_iterations = 25;
        options.warm_start = false;
        ss_world *world = empty_world(0, 0, -g);
        add_floor(world);
        for (int i = 0; i < 8; i++) add_box(world, 0, 0, 0.25 + 0.5 * i, 1, 1, 0.5);
        ss_sim *sim = start(world, &options);
        run(sim, 1);
        error[k] = ss_sim_last(sim).relative_energy;
        ENSURE_INT(ss_sim_last(sim).finished, k);
        end(sim);
    }
    ENSURE(error[1] < 0.9 * error[0]);
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
    ss_sim_hash(sim, alone);
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
    ss_sim_hash(sim, seen);
    ENSURE_TEXT(seen, alone);
    end(sim);

    /* User functions that change nothing. */
    sim = start_mobile();
    must(ss_sim_call_at(sim, SS_AFTER_STEP, look_at_frame, NULL, &err), &err);
    run(sim, 150);
    ss_sim_hash(sim, hooked);
    ENSURE_TEXT(hooked, alone);
    end(sim);
    sim = start_mobile();
    must(ss_sim_call_at(sim, SS_BEFORE_COLLISION, do_nothing, NULL, &err), &err);
    must(ss_sim_call_at(sim, SS_AFTER_STEP, look_at_frame, NULL, &err), &err);
    run(sim, 150);
    ss_sim_hash(sim, called);
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
    ss_sim_hash(sim, resumed);
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
