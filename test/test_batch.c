/* Many frames in one call: the answers of a session, whatever the number of threads. */
#include "kit.h"

#include <stickslip/batch.h>

#include <math.h>
#include <string.h>

#include "problems.h"

enum { COUNT = 23 };

typedef struct crowd {
    ss_frame *frames[COUNT];
    ss_answer *answers[COUNT];
    ss_batch_item items[COUNT];
} crowd;

/* Towers of different heights, some pushed so that they slide. */
static crowd make_crowd(void)
{
    crowd of = {0};
    ss_error err;
    for (int i = 0; i < COUNT; i++) {
        scene_recipe scene = {.seed = (uint64_t)(60 + i),
                              .towers = 1 + i % 3,
                              .height = 1 + i % 4,
                              .feet = 3 + i % 2,
                              .push = i % 2 ? 0.5 : 0.0,
                              .mu_least = 0.3};
        of.frames[i] = towers(&scene);
        of.answers[i] = known(ss_answer_create(of.frames[i], false, &err), &err);
        of.items[i] = (ss_batch_item){.frame = of.frames[i], .answer = of.answers[i]};
    }
    return of;
}

static void free_crowd(crowd *of)
{
    for (int i = 0; i < COUNT; i++) {
        ss_frame_destroy(of->frames[i]);
        ss_answer_destroy(of->answers[i]);
    }
}

static void solve_crowd(crowd *of, int threads)
{
    ss_error err = {0};
    ss_batch_session *batch = known(ss_batch_create(&(ss_request){0}, threads, &err), &err);
    ENSURE(threads == 0 || ss_batch_threads(batch) == threads);
    for (int call = 0; call < 2; call++) { // the second one has all its memory
        if (!ss_batch_solve(batch, of->items, COUNT, &err)) KIT_FAIL("%s", err.message);
    }
    ss_batch_destroy(batch);
}

static bool same(const ss_answer *a, const ss_answer *b)
{
    return memcmp(a->velocity, b->velocity, (size_t)a->bodies * sizeof *a->velocity) == 0 &&
           memcmp(a->normal_impulse, b->normal_impulse, (size_t)a->contacts * sizeof(double)) == 0 &&
           memcmp(a->friction_impulse, b->friction_impulse, (size_t)a->contacts * 3 * sizeof(double)) == 0;
}

TEST(a_batch_is_what_a_session_does_one_by_one)
{
    crowd of = make_crowd();
    ss_error err = {0};
    solve_crowd(&of, 1);
    ss_session *session = known(ss_session_create(&(ss_request){.skip_exact = true}, &err), &err);
    for (int i = 0; i < COUNT; i++) {
        const ss_result *result = known((void *)ss_session_solve(session, of.frames[i], NULL, &err), &err);
        ENSURE(of.items[i].status == SS_CONVERGED && of.items[i].iterations == result->run.iterations);
        ENSURE(of.items[i].error < 1e-8 && of.items[i].seconds > 0.0);
        ENSURE(same(of.answers[i], result->answer));
    }
    ss_session_destroy(session);
    free_crowd(&of);
}

TEST(threads_do_not_change_a_bit)
{
    crowd alone = make_crowd();
    solve_crowd(&alone, 1);
    for (int threads = 0; threads <= 4; threads++) {
        crowd of = make_crowd();
        solve_crowd(&of, threads);
        for (int i = 0; i < COUNT; i++) ENSURE(same(of.answers[i], alone.answers[i]));
        free_crowd(&of);
    }
    free_crowd(&alone);
}

/* An answer may be replaced by the one that starts from it, and that is there already. */
TEST(a_solution_is_where_the_next_call_starts)
{
    crowd of = make_crowd();
    solve_crowd(&of, 2);
    for (int i = 0; i < COUNT; i++) of.items[i].guess = of.answers[i];
    solve_crowd(&of, 2);
    for (int i = 0; i < COUNT; i++) ENSURE(of.items[i].status == SS_CONVERGED && of.items[i].iterations <= 1);
    free_crowd(&of);
}

/* Without a rule nothing can hold; what was asked for and how it ended is said of every item. */
TEST(each_item_has_its_own_end)
{
    crowd of = make_crowd();
    ss_error err = {0};
    volatile int cancel = 0;
    ss_batch_session *batch =
        known(ss_batch_create(&(ss_request){.solver = "pgs", .iterations = 3, .stop = "natural_map<1e-12"}, 2,
                              &err),
              &err);
    ENSURE(ss_batch_solve(batch, of.items, COUNT, &err));
    int limited = 0;
    for (int i = 0; i < COUNT; i++) {
        limited += of.items[i].status == SS_MAX_ITERATIONS;
        ENSURE(of.items[i].iterations <= 3 && of.items[i].error >= 0.0);
    }
    ENSURE(limited > COUNT / 2); // three sweeps solve no tower of several boxes to 1e-12

    cancel = 1;
    ss_batch_watch(batch, &cancel);
    ENSURE(ss_batch_solve(batch, of.items, COUNT, &err));
    for (int i = 0; i < COUNT; i++) ENSURE(of.items[i].status == SS_CANCELLED);
    ss_batch_destroy(batch);

    ENSURE(!ss_batch_create(&(ss_request){.solver = "nsgz"}, 1, &err));
    ENSURE(strstr(err.message, "nsgz"));
    free_crowd(&of);
}

TEST_MAIN
