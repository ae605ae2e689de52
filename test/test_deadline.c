/* Deadlines: runs that are told to end in the middle of what they do, by a clock that the test moves. */
#include <stickslip/stickslip.h>

#include "kit.h"
#include "base/deadline.h"

#include <math.h>

enum { SIDE = 4, BOXES = 30, CORNERS = 4 }; // layers of 16, 9, 4 and 1

/* A pyramid of cubes, each on four: one island, with more contacts than its weight needs. */
static ss_frame *pyramid(void)
{
    ss_frame *frame = ss_frame_create(BOXES, 0, 0, CORNERS * BOXES, NULL);
    int body = 0, contact = 0, below = 0;
    frame->h = 0.01;
    for (int side = SIDE; side > 0; side--) {
        int first = body;
        double shift = 0.5 * (SIDE - side), height = SIDE - side;
        for (int i = 0; i < side * side; i++, body++) {
            double x = i % side + shift, y = i / side + shift;
            frame->bodies.mass[body] = 1.0;
            for (int k = 0; k < 3; k++) frame->bodies.inertia[body][4 * k] = 1.0 / 6.0;
            memcpy(frame->bodies.position[body], (double[3]){x, y, height + 0.5}, 3 * sizeof(double));
            frame->bodies.velocity[body][0] = 0.1 * height;
            frame->bodies.force[body][2] = -9.81;
            for (int corner = 0; corner < CORNERS; corner++, contact++) {
                int dx = corner % 2, dy = corner / 2,
                    under = below + (i / side + dy) * (side + 1) + i % side + dx;
                frame->contacts.pair[contact][0] = side == SIDE ? SS_WORLD : under;
                frame->contacts.pair[contact][1] = body;
                memcpy(frame->contacts.point[contact],
                       (double[3]){x + 0.5 * dx - 0.25, y + 0.5 * dy - 0.25, height}, 3 * sizeof(double));
                frame->contacts.normal[contact][2] = 1.0;
                frame->contacts.mu[contact][0] = frame->contacts.mu[contact][1] = 0.5;
            }
        }
        below = first;
    }
    return frame;
}

static ss_problem *problem_for(const ss_solver *solver, const ss_frame *frame)
{
    static const char *const names[] = {"cone", "convex", "box", "stewart-trinkle"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const ss_formulation *by = ss_formulation_find(names[k]);
        void *options = ss_allocate(1, by->options_size);
        ss_options_defaults(by->options, options);
        ss_problem *problem = ss_problem_from_frame(frame, by, options, NULL);
        ss_release(options);
        if (!ss_solver_refusal(solver, problem)) return problem;
        ss_problem_destroy(problem);
    }
    return NULL;
}

static bool is_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

/* The deadline passes at the n-th look at the clock, whatever the method is doing then: there is an answer,
 * it is finite and obeys the laws, and the run says that the time was up, unless it was faster. */
TEST(whenever_the_time_is_up_there_is_an_answer)
{
    ss_frame *frame = pyramid();
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        ss_problem *problem = problem_for(solver, frame);
        if (!problem) continue;
        size_t n = (size_t)problem->size;
        double *x = ss_allocate(n, sizeof *x), *projected = ss_allocate(n, sizeof *x);
        bool was_late = false;
        for (int looks = 1; looks < 400; looks += 1 + looks / 8) {
            for (int best = 0; best < 2; best++) {
                ss_run_options run = ss_run_defaults();
                run.time_limit = looks;
                run.keep = (ss_keep_rule){best ? SS_KEEP_BEST : SS_KEEP_LAST, SS_GAUGE_ENERGY};
                memset(x, 0, n * sizeof *x);
                ss_solve_result result;
                ss_clock_pretend(1.0);
                bool good = ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &run},
                                     x, &result, NULL);
                ss_clock_pretend(0.0);
                ENSURE(good && is_finite(x, problem->size));
                bool converged = result.status == SS_CONVERGED, late = result.status == SS_TIME_LIMIT;
                if (!converged && !late && result.elapsed > looks)
                    KIT_FAIL("%s after %d looks: %s", solver->name, looks, ss_status_name(result.status));
                memcpy(projected, x, n * sizeof *x);
                ss_problem_project(problem, projected);
                for (size_t i = 0; i < n; i++) ENSURE_NEAR(projected[i], x[i], 1e-12 * (1.0 + fabs(x[i])));
                was_late |= late;
                ss_solve_result_free(&result);
            }
        }
        if (!was_late) KIT_FAIL("%s was never late", solver->name);
        ss_release(x);
        ss_release(projected);
        ss_problem_destroy(problem);
    }
    ss_frame_destroy(frame);
}

/* An endless loop that asks. */
static ss_status ask_only(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)x;
    while (!ss_run_late(run)) continue;
    return SS_FAILED; // what it says then does not matter
}

TEST(a_loop_that_asks_ends_at_the_deadline_and_when_it_is_cancelled)
{
    static const ss_solver asks = {.abi = SS_ABI, .name = "asks", .laws = ~0u, .solve = ask_only};
    ss_frame *frame = pyramid();
    ss_problem *problem = problem_for(ss_solver_find("pgs"), frame);
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    ss_run_options run = ss_run_defaults();
    ss_solve_result result;
    run.time_limit = 100.0;
    ss_clock_pretend(1.0);
    ENSURE(ss_solve(&(ss_solve_request){.solver = &asks, .problem = problem, .run = &run}, x, &result, NULL));
    ss_clock_pretend(0.0);
    ENSURE_INT(result.status, SS_TIME_LIMIT);
    ENSURE(result.elapsed >= 100.0 && result.elapsed < 105.0);
    ss_solve_result_free(&result);
    run.time_limit = 0.0;
    volatile int cancel = 1;
    ENSURE(ss_solve(&(ss_solve_request){.solver = &asks, .problem = problem, .run = &run, .cancel = &cancel},
                    x, &result, NULL));
    ENSURE_INT(result.status, SS_CANCELLED);
    ss_solve_result_free(&result);
    ss_release(x);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

/* Every iteration measured, and every look at the clock a second: two for each. Once the last measurement is
 * known, none is begun that would end too late. */
TEST(measuring_counts_and_is_not_begun_too_late)
{
    ss_frame *frame = pyramid();
    ss_problem *problem = problem_for(ss_solver_find("pgs"), frame);
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    ss_run_options run = ss_run_defaults();
    run.stop.below = 0.0;
    run.keep = (ss_keep_rule){SS_KEEP_BEST, SS_GAUGE_ENERGY};
    run.time_limit = 20.0;
    ss_solve_result result;
    ss_clock_pretend(1.0);
    ENSURE(ss_solve(&(ss_solve_request){.solver = ss_solver_find("jacobi"), .problem = problem, .run = &run},
                    x, &result, NULL));
    ss_clock_pretend(0.0);
    ENSURE_INT(result.status, SS_TIME_LIMIT);
    ENSURE(result.elapsed <= 20.0 + 3.0); // who ends it looks as well
    ENSURE(result.seconds < result.elapsed);
    ss_solve_result_free(&result);
    ss_release(x);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

/* Iterations of 30 s and a little, in which the clock is not asked. */
static ss_status take_long(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options;
    do {
        for (int k = 0; k < 30; k++) ss_clock_seconds();
    } while (ss_run_iteration(run, x, NULL));
    return ss_run_status(run);
}

/* After two of them it is known how long they take: three end before 110 s, the fourth would not. */
TEST(an_iteration_that_cannot_end_in_time_is_not_begun)
{
    static const ss_solver slow = {.abi = SS_ABI, .name = "slow", .laws = ~0u, .solve = take_long};
    ss_frame *frame = pyramid();
    ss_problem *problem = problem_for(ss_solver_find("pgs"), frame);
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    for (int best = 0; best < 2; best++) {
        ss_run_options run = ss_run_defaults();
        run.keep = (ss_keep_rule){best ? SS_KEEP_BEST : SS_KEEP_LAST, SS_GAUGE_ENERGY};
        run.time_limit = 110.0;
        ss_solve_result result;
        memset(x, 0, (size_t)problem->size * sizeof *x);
        ss_clock_pretend(1.0);
        ENSURE(ss_solve(&(ss_solve_request){.solver = &slow, .problem = problem, .run = &run}, x, &result,
                        NULL));
        ss_clock_pretend(0.0);
        ENSURE_INT(result.status, SS_TIME_LIMIT);
        ENSURE_INT(result.iterations, 3);
        ENSURE(result.elapsed < 110.0);
        ss_solve_result_free(&result);
    }
    ss_release(x);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

/* The clock may say what it likes. */
TEST(without_a_limit_nothing_depends_on_the_clock)
{
    ss_frame *frame = pyramid();
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        ss_problem *problem = problem_for(solver, frame);
        if (!problem) continue;
        size_t bytes = (size_t)problem->size * sizeof(double);
        double *x[3];
        int iterations[3];
        for (int k = 0; k < 3; k++) {
            ss_run_options run = ss_run_defaults();
            run.max_iterations = 200;
            run.time_limit = k == 2 ? 1e9 : 0.0; // a limit that is far away changes nothing either
            x[k] = ss_allocate((size_t)problem->size, sizeof *x[k]);
            ss_solve_result result;
            ss_clock_pretend(k ? 1e-3 : 0.0);
            ENSURE(ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &run}, x[k],
                            &result, NULL));
            ss_clock_pretend(0.0);
            iterations[k] = result.iterations;
            ss_solve_result_free(&result);
        }
        for (int k = 1; k < 3; k++) ENSURE(iterations[k] == iterations[0] && memcmp(x[k], x[0], bytes) == 0);
        for (int k = 0; k < 3; k++) ss_release(x[k]);
        ss_problem_destroy(problem);
    }
    ss_frame_destroy(frame);
}

static ss_status diverge(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options;
    ss_run_iteration(run, x, NULL);
    x[2] = INFINITY;
    return SS_MAX_ITERATIONS;
}

TEST(an_iterate_that_is_not_finite_is_named)
{
    static const ss_solver diverges = {.abi = SS_ABI, .name = "diverges", .laws = ~0u, .solve = diverge};
    ss_frame *frame = pyramid();
    ss_problem *problem = problem_for(ss_solver_find("pgs"), frame);
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    ss_solve_result result;
    ENSURE(ss_solve(&(ss_solve_request){.solver = &diverges, .problem = problem}, x, &result, NULL));
    ENSURE_INT(result.status, SS_FAILED);
    ENSURE_TEXT(result.notes, "x[2] is inf after 1 iterations: the start is returned");
    ENSURE(is_finite(x, problem->size));
    ss_solve_result_free(&result);
    ss_release(x);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

TEST_MAIN
