/* The one call: a frame, a formulation, a solver and rules in; velocities, impulses, metrics
 * and status out. */
#include <stickslip/stickslip.h>

#include "faults.h"
#include "kit.h"
#include "mechanics.h"
#include "known_cone.h"
#include "formulation/rows.h"

#include <math.h>

/* ---- rows are made once ----------------------------------------------------------------------------- */

/* The linker sends every call of ss_rows_make here (test/CMakeLists.txt). */
static int rows_made;
bool __real_ss_rows_make(const ss_frame *frame, const ss_step_options *step, ss_rows *rows, ss_error *err);
bool __wrap_ss_rows_make(const ss_frame *frame, const ss_step_options *step, ss_rows *rows, ss_error *err);
bool __wrap_ss_rows_make(const ss_frame *frame, const ss_step_options *step, ss_rows *rows, ss_error *err)
{
    rows_made++;
    return __real_ss_rows_make(frame, step, rows, err);
}

/* A block on a slope that is steeper than its friction, so that it slides. */
static ss_frame *sliding_block(void)
{
    return known(block_on_ground(0.6, 0.3), NULL);
}

static ss_session *open_session(ss_request request)
{
    ss_error err;
    return known(ss_session_create(&request, &err), &err);
}

static const ss_result *solve(ss_session *session, const ss_frame *frame, const ss_answer *guess)
{
    ss_error err;
    return known((void *)(uintptr_t)ss_session_solve(session, frame, guess, &err), &err);
}

static double metric(const ss_result *result, const char *name)
{
    return result->metrics[ss_metric_index(name)].value;
}

TEST(rows_are_made_once_for_assembling_solving_recovering_and_judging)
{
    ss_frame *frame = sliding_block();
    for (int f = 0; f < ss_formulation_count(); f++) {
        ss_session *session = open_session((ss_request){
            .formulation = ss_formulation_at(f)->name, .reference = "nsgs", .stop = "relative_energy<1e-10"});
        rows_made = 0;
        const ss_result *result = solve(session, frame, NULL);
        ENSURE(result->metrics[ss_metric_index("distance")].applies);
        ENSURE_INT(rows_made, 1);
        ss_answer *guess = known(ss_answer_create(frame, false, NULL), NULL);
        memcpy(guess->velocity, result->answer->velocity, sizeof *guess->velocity);
        guess->normal_impulse[0] = result->answer->normal_impulse[0];
        solve(session, frame, guess);
        ENSURE_INT(rows_made, 2); // a warm start makes no others
        ss_answer_destroy(guess);
        ss_session_destroy(session);
    }
    ss_frame_destroy(frame);
}

TEST(a_stop_rule_on_a_metric_makes_no_rows_either)
{
    ss_frame *frame = sliding_block();
    ss_session *session =
        open_session((ss_request){.solver = "pgs", .formulation = "box", .stop = "creep<1e-9"});
    rows_made = 0;
    solve(session, frame, NULL);
    ENSURE_INT(rows_made, 1);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

/* ---- what comes out --------------------------------------------------------------------------------- */

/* m g cos presses, mu times that brakes; the rest of m g sin accelerates. */
TEST(a_sliding_block_obeys_newton_and_coulomb)
{
    const double slope = 0.6, mu = 0.3, h = 0.01, mass = 2.0;
    ss_frame *frame = sliding_block();
    ss_session *session = open_session((ss_request){0});
    const ss_result *result = solve(session, frame, NULL);
    double load = mass * GRAVITY * h * cos(slope);
    ENSURE(result->run.status == SS_CONVERGED && !result->refusal && !result->reference);
    ENSURE_NEAR(result->answer->normal_impulse[0], load, 1e-9 * load);
    double friction = 0.0, speed = 0.0;
    for (int i = 0; i < 3; i++) {
        friction += result->answer->friction_impulse[0][i] * result->answer->friction_impulse[0][i];
        speed += result->answer->velocity[0][i] * result->answer->velocity[0][i];
    }
    ENSURE_NEAR(sqrt(friction), mu * load, 1e-9 * load);
    ENSURE_NEAR(sqrt(speed), h * GRAVITY * (sin(slope) - mu * cos(slope)), 1e-10);
    ENSURE_INT(result->contact_count, 1);
    ENSURE_INT(result->contacts[0].status, SS_CONTACT_SLIP);
    ENSURE_NEAR(metric(result, "sliding"), 1.0, 0.0);
    ENSURE(metric(result, "energy") < 1e-15);
    ENSURE(result->problem == ss_assembly_problem(ss_session_assembly(session)));
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

TEST(a_solver_that_does_not_take_the_problem_says_why_and_nothing_is_judged)
{
    ss_frame *frame = sliding_block();
    ss_session *session = open_session((ss_request){.solver = "lemke"}); // knows no cones
    const ss_result *result = solve(session, frame, NULL);
    ENSURE(result->refusal != NULL);
    ENSURE_INT(result->run.status, SS_NOT_APPLICABLE);
    ENSURE(!result->metrics[0].applies && result->metrics[0].why == result->refusal);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

TEST(a_negative_number_of_iterations_judges_the_start)
{
    ss_frame *frame = sliding_block();
    for (int s = 0; s < ss_solver_count(); s++) {
        ss_session *session =
            open_session((ss_request){.solver = ss_solver_at(s)->name, .iterations = -1, .stop = "none"});
        const ss_result *result = solve(session, frame, NULL);
        ENSURE_INT(result->run.iterations, 0);
        ENSURE(result->refusal || result->run.status == SS_MAX_ITERATIONS);
        for (int i = 0; !result->refusal && i < result->problem->size; i++) ENSURE(result->x[i] == 0.0);
        ss_session_destroy(session);
    }
    ss_frame_destroy(frame);
}

TEST(the_best_iterate_is_kept_when_it_is_asked_for)
{
    ss_frame *frame = sliding_block();
    ss_session *session = open_session((ss_request){
        .solver = "jacobi", .iterations = 7, .stop = "none", .keep = "best:energy", .history = true});
    const ss_result *result = solve(session, frame, NULL);
    double best = INFINITY;
    for (int i = 0; i < result->run.history.count; i++)
        best = fmin(best, result->run.history.gauge[SS_GAUGE_ENERGY][i]);
    ENSURE_INT(result->run.history.count, 7);
    ENSURE(result->run.gauge[SS_GAUGE_ENERGY] <= best);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

/* What FCLIB has: a problem without bodies. */
TEST(a_problem_without_bodies_is_solved_and_judged_as_far_as_it_can_be)
{
    ss_error err;
    ss_frame *frame = sliding_block();
    ss_session *session = open_session((ss_request){.solver = "nsgs"});
    solve(session, frame, NULL);
    ss_cone *cone = known(ss_assembly_cone(ss_session_assembly(session),
                                           &(ss_cone_wish){.form = SS_CONE_LOCAL}, "", NULL, &err),
                          &err);
    ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
    const ss_result *result = ss_session_solve_problem(session, problem, NULL, &err);
    ENSURE(result && result->run.status == SS_CONVERGED && !result->answer);
    ENSURE(metric(result, "natural_map") < 1e-8);
    ENSURE(!result->metrics[ss_metric_index("momentum")].applies);
    result = solve(session, frame, NULL); // and a frame again
    ENSURE(result->answer && result->metrics[ss_metric_index("momentum")].applies);
    ss_problem_destroy(problem);
    ss_cone_destroy(cone);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

TEST(a_session_that_is_cancelled_ends_soon)
{
    volatile int cancel = 1;
    ss_frame *frame = sliding_block();
    ss_session *session = open_session((ss_request){.solver = "pgs", .formulation = "box", .stop = "none"});
    ss_session_watch(session, &cancel);
    ENSURE_INT(solve(session, frame, NULL)->run.status, SS_CANCELLED);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

typedef struct audience {
    int seen, last, leave_after;
    double energy[3]; /* of the first iterations */
    bool is_odd;      /* an iteration was left out, or showed no numbers */
} audience;

static bool see(int iteration, const double *x, const double gauge[SS_GAUGE_COUNT], void *context)
{
    audience *a = context;
    if (iteration != a->last + 1 || !x || !isfinite(x[0]) || !(gauge[SS_GAUGE_ENERGY] >= 0.0))
        a->is_odd = true;
    if (a->seen < 3) a->energy[a->seen] = gauge[SS_GAUGE_ENERGY];
    a->last = iteration;
    return ++a->seen != a->leave_after;
}

TEST(a_watcher_sees_every_iteration_and_may_leave_early)
{
    ss_frame *frame = sliding_block();
    ss_session *session = open_session((ss_request){.solver = "psor",
                                                    .set = "omega=0.5",
                                                    .formulation = "box",
                                                    .stop = "none",
                                                    .iterations = 7,
                                                    .history = true});
    audience whole = {0}, early = {.leave_after = 3};
    ss_session_follow(session, &(ss_watcher){see, &whole});
    const ss_result *result = solve(session, frame, NULL);
    ENSURE_INT(whole.seen, result->run.iterations);
    ENSURE(whole.seen > 3);
    ENSURE(!whole.is_odd);
    for (int i = 0; i < 3; i++) // what the watcher sees is what the history holds
        ENSURE_NEAR(whole.energy[i], result->run.history.gauge[SS_GAUGE_ENERGY][i], 0.0);

    ss_session_follow(session, &(ss_watcher){see, &early});
    result = solve(session, frame, NULL);
    ENSURE_INT(result->run.status, SS_CANCELLED);
    ENSURE_INT(result->run.iterations, 3);

    ss_session_follow(session, NULL);
    solve(session, frame, NULL);
    ENSURE_INT(early.seen, 3);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

TEST(auto_shows_the_whole_problem_to_a_watcher)
{
    ss_frame *frame = sliding_block();
    ss_session *session = open_session((ss_request){.solver = "auto"});
    audience all = {0};
    ss_session_follow(session, &(ss_watcher){see, &all});
    ENSURE_INT(solve(session, frame, NULL)->run.status, SS_CONVERGED);
    ENSURE(all.seen > 0 && !all.is_odd);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

/* ---- frame after frame ------------------------------------------------------------------------------ */

/* The same bits for a session that has solved other frames before: nothing of them is left. */
TEST(a_session_has_no_memory_of_other_frames)
{
    ss_frame *first = sliding_block(), *second = known(block_on_ground(0.1, 0.5), NULL);
    for (int f = 0; f < ss_formulation_count(); f++) {
        ss_request request = {.formulation = ss_formulation_at(f)->name, .stop = "relative_energy<1e-9"};
        ss_session *used = open_session(request), *fresh = open_session(request);
        solve(used, first, NULL);
        const ss_result *after = solve(used, second, NULL), *alone = solve(fresh, second, NULL);
        ENSURE(memcmp(after->answer->velocity, alone->answer->velocity, sizeof *alone->answer->velocity) ==
               0);
        for (int i = 0; i < ss_metric_count(); i++) {
            ENSURE_INT(after->metrics[i].applies, alone->metrics[i].applies);
            if (alone->metrics[i].applies) ENSURE_NEAR(after->metrics[i].value, alone->metrics[i].value, 0.0);
        }
        ss_session_destroy(used);
        ss_session_destroy(fresh);
    }
    ss_frame_destroy(first);
    ss_frame_destroy(second);
}

TEST(frames_of_one_size_are_solved_and_judged_without_touching_the_heap)
{
    static const ss_request requests[] = {
        {.skip_exact = true, .solver = "nsgs"},
        {.skip_exact = true, .time_limit = 10.0, .keep = "best:energy"}, // auto, which finds this one easy
        {.skip_exact = true, .solver = "batched-nncg", .stop = "relative_energy<1e-6"},
        {.skip_exact = true, .solver = "pgs", .formulation = "box", .stop = "relative_energy<1e-6"},
        {.skip_exact = true, .solver = "nsgs", .formulation = "convex", .stop = "energy<1e-9*scene"},
    };
    ss_frame *frame = known(block_on_ground(0.6, 0.3), NULL);
    frame->contacts.gap[0] = 0.0; // nothing is left out, so that there is nothing to say
    for (size_t k = 0; k < sizeof requests / sizeof *requests; k++) {
        faults_start(0);
        ss_session *session = open_session(requests[k]);
        for (int i = 0; i < 3; i++) solve(session, frame, NULL);
        long before = faults.requests;
        for (int i = 0; i < 10; i++) solve(session, frame, NULL);
        ENSURE_INT(faults.requests - before, 0);
        ss_session_destroy(session);
        ENSURE_INT(faults.live, 0);
        faults_stop();
    }
    ss_frame_destroy(frame);
}

TEST(lack_of_memory_is_an_error_and_nothing_leaks)
{
    ss_frame *frame = sliding_block();
    for (long n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        ss_request request = {.formulation = "stewart-trinkle",
                              .with = "directions=4",
                              .solver = "lemke",
                              .reference = "nsgs",
                              .history = true};
        ss_session *session = ss_session_create(&request, &err);
        bool good = session && ss_session_solve(session, frame, NULL, &err);
        ss_session_destroy(session);
        long alive = faults.live;
        bool failed = faults_stop();
        ENSURE_INT(alive, 0);
        if (!failed) {
            ENSURE(good);
            break;
        }
        // a solver that gets no memory fails, which is a result; everything else is an error
        if (!good) ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    }
    ss_frame_destroy(frame);
}

/* ---- requests --------------------------------------------------------------------------------------- */

TEST(a_wrong_request_is_refused_with_what_would_be_right)
{
    static const struct {
        ss_request request;
        const char *said[3];
    } wrong[] = {
        {{.solver = "nsg"}, {"nsg", "nsgs"}},
        {{.formulation = "con"}, {"con", "cone"}},
        {{.with = "gap_term=never"}, {"with \"gap_term=never\"", "cone", "preventive"}},
        {{.with = "gamma=3"}, {"with \"gamma=3\"", "gamma", "1"}},
        {{.solver = "psor", .set = "omega=1 omga=2"}, {"set \"omga=2\"", "psor", "omega"}},
        {{.stop = "creep<fast"}, {"stop", "creep<fast", "positive number"}},
        {{.stop = "crepe<1e-3"}, {"stop", "crepe", "creep"}},
        {{.stop = "natural_map"}, {"stop", "natural_map"}},
        {{.stop = "natural_map<1e-3*scene"}, {"stop", "only energy"}},
        {{.keep = "worst"}, {"keep", "worst", "best:GAUGE"}},
        {{.reference = "truth"}, {"reference", "truth"}},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        ss_error err = {0};
        ENSURE(ss_session_create(&wrong[k].request, &err) == NULL);
        ENSURE_INT(err.code, SS_ERROR_USAGE);
        for (int i = 0; i < 3 && wrong[k].said[i]; i++) ENSURE_CONTAINS(err.message, wrong[k].said[i]);
    }
}

TEST(options_are_printed_as_they_are_set)
{
    char text[1024];
    ss_session *session =
        open_session((ss_request){.with = " mu_max=1  gap_term=zero ", .solver = "psor", .set = "omega=1.4"});
    ENSURE_INT(ss_session_with(session, false, text, sizeof text), (int)strlen("gap_term=zero mu_max=1"));
    ENSURE_TEXT(text, "gap_term=zero mu_max=1");
    ss_session_set(session, false, text, sizeof text);
    ENSURE_TEXT(text, "omega=1.4");
    ss_session_with(session, true, text, sizeof text);
    ENSURE_CONTAINS(text, "joint_gamma=1");
    ss_session_destroy(session);
}

TEST_MAIN
