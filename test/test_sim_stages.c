/* The stages of a step: user functions that replace or watch them, and what happens when one fails. */
#include "fair.h"
#include "faults.h"
#include "kit.h"

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

/* ---- a step within a step --------------------------------------------------------------------------- */

typedef struct meddler {
    ss_snapshot kept;
    enum { MAKES_A_STEP, LOOKS_AHEAD, PUTS_BACK } does;
    bool fails, insists; // then it stops the step, with the error it got or with one of its own
    int refused;
} meddler;

static bool meddle(ss_sim *sim, void *context, ss_error *err)
{
    meddler *self = context;
    ss_error own = {0};
    bool good = self->does == MAKES_A_STEP  ? ss_sim_step(sim, &own)
                : self->does == LOOKS_AHEAD ? ss_sim_prepare(sim, &own)
                                            : ss_sim_restore(sim, &self->kept, &own);
    self->refused += own.code == SS_ERROR_USAGE && strstr(own.message, "a step is under way");
    if (self->fails) return ss_fail(err, SS_ERROR_USAGE, "no more of this");
    if (!good && self->insists) *err = own;
    return good || !self->insists;
}

static bool is_same_state(const ss_sim *one, const ss_sim *other)
{
    char hash[2][33];
    ss_sim_hash(one, hash[0]);
    ss_sim_hash(other, hash[1]);
    return strcmp(hash[0], hash[1]) == 0;
}

/* All but the state after the step, which is whole again, would change the ground under the step's feet. */
TEST(a_step_within_a_step_is_refused_and_does_no_harm)
{
    ss_error err = {0};
    for (int fast = 0; fast < 2; fast++) {
        for (int stage = 0; stage < SS_STAGE_COUNT; stage++) {
            for (int does = MAKES_A_STEP; does <= PUTS_BACK; does++) {
                bool is_frame = stage == SS_BEFORE_SOLVE, is_end = stage == SS_AFTER_STEP;
                if ((fast && is_frame) || (is_end && does == PUTS_BACK)) continue;
                ss_sim_options options = default_options();
                options.fast = fast;
                ss_sim *sim = start(fair(), &options), *left_alone = start(fair(), &options);
                run(sim, 2);
                run(left_alone, 5);
                meddler hands = {0};
                hands.does = does;
                must(ss_sim_save(sim, &hands.kept, &err), &err);
                must(ss_sim_call_at(sim, (ss_stage)stage, meddle, &hands, &err), &err);
                run(sim, 3);
                ENSURE(hands.refused == 3 && ss_sim_steps(sim) == 5);
                ENSURE(is_same_state(sim, left_alone));
                hands.insists = true;
                ENSURE(!ss_sim_step(sim, &err));
                ENSURE_CONTAINS(err.message, "a step is under way");
                ENSURE(is_same_state(sim, left_alone));
                ss_snapshot_free(&hands.kept);
                end(sim);
                end(left_alone);
            }
        }
    }
}

TEST(a_state_put_back_after_a_step_is_undone_with_it)
{
    ss_error err = {0};
    for (int fast = 0; fast < 2; fast++) {
        ss_sim_options options = default_options();
        options.fast = fast;
        ss_sim *sim = start(fair(), &options), *left_alone = start(fair(), &options);
        meddler hands = {.does = PUTS_BACK, .fails = true};
        run(sim, 2);
        must(ss_sim_save(sim, &hands.kept, &err), &err);
        run(sim, 3);
        run(left_alone, 5);
        must(ss_sim_call_at(sim, SS_AFTER_STEP, meddle, &hands, &err), &err);
        ENSURE(!ss_sim_step(sim, &err));
        ENSURE(ss_sim_steps(sim) == 5 && ss_sim_time(sim) == ss_sim_time(left_alone));
        ENSURE(is_same_state(sim, left_alone));

        hands.fails = false; // now it is where it was after two steps
        run(sim, 1);
        ENSURE(ss_sim_steps(sim) == 2 && hands.refused == 0);
        ss_snapshot_free(&hands.kept);
        end(sim);
        end(left_alone);
    }
}

typedef struct examiner {
    int answers;
    bool stops;
} examiner;

static bool ask_for_an_answer(ss_sim *sim, void *context, ss_error *err)
{
    examiner *self = context;
    self->answers += ss_sim_frame(sim) && ss_sim_answer(sim);
    return !self->stops || ss_fail(err, SS_ERROR_USAGE, "enough");
}

/* The answer of the step before has other contacts, and its frame is gone. */
TEST(a_frame_that_is_not_solved_has_no_answer)
{
    ss_error err = {0};
    ss_sim *sim = start(fair(), NULL);
    examiner early = {0}, late = {0};
    must(ss_sim_call_at(sim, SS_BEFORE_SOLVE, ask_for_an_answer, &early, &err), &err);
    must(ss_sim_call_at(sim, SS_AFTER_STEP, ask_for_an_answer, &late, &err), &err);
    run(sim, 2);
    ENSURE(early.answers == 0 && late.answers == 2);
    early.stops = true;
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE(early.answers == 0 && !ss_sim_answer(sim));
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
    ss_sim_hash(sim, before);
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "step 5");
    ENSURE_CONTAINS(err.message, "body 3");
    ss_sim_hash(sim, after);
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
    ss_sim_hash(sim, before);
    must(ss_sim_call_at(sim, SS_AFTER_STEP, stop_here, NULL, &err), &err);
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "enough");
    ss_sim_hash(sim, after);
    ENSURE_TEXT(after, before);
    end(sim);
}

static bool add_and_stop(ss_sim *sim, void *context, ss_error *err)
{
    (void)context;
    for (int k = 0; k < 20; k++) add_box(ss_sim_world(sim), k, 5, 1, 0.2, 0.2, 0.2);
    return ss_world_finish(ss_sim_world(sim), err) && ss_fail(err, SS_ERROR_USAGE, "enough");
}

TEST(what_a_user_function_added_outlives_its_step_as_it_was_added)
{
    for (int fast = 0; fast < 2; fast++) {
        ss_error err = {0};
        ss_sim_options options = default_options();
        options.fast = fast;
        ss_world *world = fair();
        int link = add_box(world, 3, 0, 1, 0.2, 0.1, 0.1); // the state of joints follows that of bodies
        add_joint(world,
                  (ss_joint){.kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = link, .anchor = {2.9, 0, 1}});
        ss_sim *sim = start(world, &options);
        run(sim, 20);
        int bodies = ss_world_body_count(world);
        must(ss_sim_call_at(sim, SS_AFTER_STEP, add_and_stop, NULL, &err), &err);
        double speed = body_of(sim, link)->velocity[2];
        ENSURE(!ss_sim_step(sim, &err));
        ENSURE_INT(ss_world_body_count(world), bodies + 20);
        ENSURE_NEAR(body_of(sim, link)->velocity[2], speed, 0.0);
        for (int k = 0; k < 20; k++) ENSURE_NEAR(body_of(sim, bodies + k)->position[2], 1.0, 0.0);
        end(sim);
    }
}

/* What a user function may see of the step before: what anyone saw after it, or nothing at all. */
typedef struct sight {
    bool there;
    int contacts;
    double time, impulses, gaps;
} sight;

static sight look_at(const ss_sim *sim)
{
    const ss_frame *frame = ss_sim_frame(sim);
    const ss_answer *answer = ss_sim_answer(sim);
    sight seen = {.there = frame && answer};
    if (!seen.there) return seen;
    seen.contacts = frame->contacts.count;
    seen.time = frame->time;
    for (int c = 0; c < frame->contacts.count; c++) {
        seen.impulses += (c + 1) * answer->normal_impulse[c];
        seen.gaps += (c + 1) * frame->contacts.gap[c];
    }
    return seen;
}

static bool look(ss_sim *sim, void *context, ss_error *err)
{
    (void)err;
    *(sight *)context = look_at(sim);
    return true;
}

/* A cart, whose steps in minimal coordinates need no frame, and a box. */
static ss_sim *start_cart(int kind, bool box)
{
    static const double height = 0.2;
    ss_world *world = empty_world(0, 0, -9.81);
    add_floor(world);
    int body = add_box(world, 0, 0, 0.25, 1, 0.5, 0.1);
    for (int k = 0; k < 4; k++) {
        double x = k % 2 ? 0.4 : -0.4, y = k / 2 ? 0.35 : -0.35;
        int wheel = add_ball(world, x, y, height, height);
        add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE,
                                    .a = body,
                                    .b = wheel,
                                    .anchor = {x, y, height},
                                    .axis = {0, 1, 0}});
    }
    ss_world_body(world, body)->velocity[0] = 1.0;
    if (box) add_box(world, 0, 2, 0.15, 0.2, 0.2, 0.2);
    ss_sim_options options = default_options();
    options.threads = 1;
    options.fast = kind == 1;
    if (kind == 2) options.coordinates = SS_MINIMAL;
    return start(world, &options);
}

TEST(a_user_function_sees_the_frame_of_the_step_before_or_none)
{
    for (int kind = 0; kind < 3; kind++)
        for (int stage = SS_BEFORE_COLLISION; stage <= SS_AFTER_CONTACTS; stage++)
            for (int late = 0; late < 2; late++) { // the function is there from the start, or comes later
                ss_error err = {0};
                sight seen = {0}, expected = {0};
                ss_sim *sim = start_cart(kind, kind < 2), *twin = start_cart(kind, kind < 2);
                run(sim, late ? 20 : 0);
                must(ss_sim_call_at(sim, (ss_stage)stage, look, &seen, &err), &err);
                run(twin, late ? 20 : 0);
                for (int n = 0; n < 30; n++) {
                    expected = look_at(twin);
                    run(sim, 1);
                    run(twin, 1);
                    bool has_one = expected.there && (kind == 0 || stage == SS_BEFORE_COLLISION);
                    if (late && n == 0 && stage == SS_AFTER_CONTACTS) continue;
                    ENSURE_INT(seen.there, has_one);
                    if (!has_one) continue;
                    ENSURE_INT(seen.contacts, expected.contacts);
                    ENSURE_NEAR(seen.time, expected.time, 0.0);
                    ENSURE_NEAR(seen.impulses, expected.impulses, 0.0);
                    ENSURE_NEAR(seen.gaps, expected.gaps, 0.0);
                }
                end(sim);
                end(twin);
            }
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

TEST_MAIN
