/* batched-nncg: known answers, agreement with nsgs, the same bits for any kernel and team, and what does not
 * fit into a batch. */
#include "base/team.h"
#include "batched_kit.h"
#include "scenes.h"

#include "solver/sweep/batches.h"

/* ---- known answers ---------------------------------------------------------------------------------- */

static bool gives(double mu, const double b[3], const double r[3])
{
    ss_problem *problem = one_contact(mu, b);
    double *x = solved((way){.solver = "batched-nncg"}, problem);
    bool right = true;
    for (int i = 0; i < 3; i++) right &= fabs(x[i] - r[i]) <= 1e-13; // rounding of numbers near 1
    if (!right) fprintf(stderr, "r = %.17g %.17g %.17g\n", x[0], x[1], x[2]);
    ss_release(x);
    ss_problem_destroy(problem);
    return right;
}

TEST(ball_sticks_when_friction_is_enough)
{
    ENSURE(gives(0.5, (double[3]){-1.0, 0.3, -0.4}, (double[3]){2.0, -0.3, 0.4}));
}

TEST(ball_slides_against_its_velocity)
{
    ENSURE(gives(0.1, (double[3]){-1.0, 0.3, -0.4}, (double[3]){2.0, -0.2 * 0.6, 0.2 * 0.8}));
}

TEST(ball_that_leaves_is_not_pushed)
{
    ENSURE(gives(0.5, (double[3]){0.1, 0.3, -0.4}, (double[3]){0.0, 0.0, 0.0}));
}

TEST(no_friction_and_endless_friction)
{
    ENSURE(gives(0.0, (double[3]){-1.0, 0.3, -0.4}, (double[3]){2.0, 0.0, 0.0}));
    ENSURE(gives(INFINITY, (double[3]){-1.0, 3.0, -4.0}, (double[3]){2.0, -3.0, 4.0}));
    // then friction does not need a normal force
    ENSURE(gives(INFINITY, (double[3]){1.0, 3.0, -4.0}, (double[3]){0.0, -3.0, 4.0}));
}

/* (a + C) r = -b */
TEST(compliance_softens_a_contact)
{
    ss_problem *problem = one_contact(0.5, (double[3]){-1.0, 0.1, 0.0});
    for (int i = 0; i < 3; i++) {
        problem->bodies->compliance[i] = 0.5;
        problem->diagonal[i] += 0.5;
    }
    double *x = solved((way){.solver = "batched-nncg"}, problem);
    ENSURE_NEAR(x[0], 1.0, 1e-14); // rounding
    ENSURE_NEAR(x[1], -0.1 / 1.5, 1e-14);
    ss_release(x);
    ss_problem_destroy(problem);
}

TEST(nothing_is_solved_at_once)
{
    ss_error err;
    double x[1] = {0.0};
    ss_problem *empty = known(ss_problem_create(0, 0, 0, &err), &err);
    ss_solve_result result = run((way){.solver = "batched-nncg"}, empty, x);
    ENSURE_INT(result.status, SS_CONVERGED);
    ENSURE_INT(result.iterations, 1);
    ss_problem_destroy(empty);
}

TEST(problems_without_bodies_are_refused)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(1, 1, -1, &err), &err);
    problem->blocks[0] = (ss_block){.law = SS_LAW_BOX, .size = 1};
    problem->diagonal[0] = 1.0;
    ENSURE_CONTAINS(ss_solver_refusal(ss_solver_find("batched-nncg"), problem), "bodies");
    ss_problem_destroy(problem);
}

TEST(contacts_between_immovable_bodies_are_refused)
{
    ss_problem *problem = one_contact(0.5, (double[3]){-1.0, 0.0, 0.0});
    problem->bodies->inverse_mass[0] = 0.0;
    memset(problem->bodies->inverse_inertia[0], 0, sizeof problem->bodies->inverse_inertia[0]);
    memset(problem->diagonal, 0, 3 * sizeof(double));
    ENSURE_CONTAINS(ss_solver_refusal(ss_solver_find("batched-nncg"), problem), "diagonal");
    ss_problem_destroy(problem);
}

/* ---- agreement -------------------------------------------------------------------------------------- */

static bool packing_agrees(packing from)
{
    ss_problem *problem = pack(from);
    bool good = agrees_with_nsgs(problem, NULL);
    ss_problem_destroy(problem);
    return good;
}

TEST(contacts_agree_with_nsgs)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        packing from = usual;
        from.seed = seed;
        ENSURE(packing_agrees(from));
    }
}

TEST(settings_change_the_way_not_the_answer)
{
    static const char *const settings[] = {"accelerate=false",
                                           "sweep=alternate",
                                           "sweep=symmetric",
                                           "accelerate=false sweep=symmetric kernel=portable",
                                           "contact=projected",
                                           "contact=projected omega=1.2",
                                           "contact=projected precision=single accelerate=false"};
    ss_problem *problem = pack(usual);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        ENSURE(agrees_with_nsgs(problem, settings[k]));
    ss_problem_destroy(problem);
}

TEST(joints_motors_and_contacts_agree_with_nsgs)
{
    packing from = usual;
    from.joints = 15;
    ENSURE(packing_agrees(from));
    // with seed 1 no sweeping method converges; joints and contacts may contradict each other there
    from.seed = 2;
    from.motors = true;
    ENSURE(packing_agrees(from));
}

/* Friction in a joint that follows the load of a contact. */
TEST(bounds_that_follow_a_contact_agree_with_nsgs)
{
    packing from = usual;
    from.seed = 2;
    from.joints = 5;
    from.motors = true;
    ss_problem *problem = pack(from);
    problem->partner[rows_before_contacts(&from) - 1] =
        problem->blocks[blocks_before_contacts(&from) + 8].first;
    ENSURE(agrees_with_nsgs(problem, NULL));
    ss_problem_destroy(problem);
}

TEST(compliance_agrees_with_nsgs)
{
    packing from = usual;
    from.compliance = 0.3;
    ENSURE(packing_agrees(from));
    from.joints = 5;
    ENSURE(packing_agrees(from));
}

TEST(planar_rolling_and_convex_contacts_agree_with_nsgs)
{
    packing from = usual;
    from.size = 2;
    ENSURE(packing_agrees(from));
    from.size = 5;
    from.contacts = 20; // rolling ties bodies closely: few contacts, or velocities are not unique
    ENSURE(packing_agrees(from));
    from = usual;
    from.law = SS_LAW_CONVEX;
    ENSURE(packing_agrees(from));
}

TEST(contacts_that_suit_no_batch_agree_with_nsgs)
{
    packing from = usual;
    from.twisted = true;
    ENSURE(packing_agrees(from));
    from = usual;
    from.mu = 1.5; // friction that may lift the normal row: 1 + mu n.t is not always positive
    from.contacts = 30;
    ENSURE(packing_agrees(from));
}

/* More contacts of one body than the window of batches is long. */
TEST(plate_under_many_balls_agrees_with_nsgs)
{
    packing from = usual;
    from.bodies = 300;
    from.contacts = 300;
    ss_problem *problem = pack(from);
    for (int k = 1; k < problem->block_count; k++) {
        for (int i = problem->blocks[k].first; i < problem->blocks[k].first + 3; i++) {
            problem->bodies->pair[i][0] = 0;
            double v[300][6] = {{0}};
            ss_bodies_push(problem->bodies, i, 1.0, v);
            problem->diagonal[i] = ss_bodies_row(problem->bodies, i, v);
        }
    }
    ENSURE(agrees_with_nsgs(problem, NULL));
    ss_problem_destroy(problem);
}

TEST(large_problems_in_parts_agree_with_nsgs)
{
    ENSURE(packing_agrees(large));
}

TEST(towers_of_boxes_agree_with_nsgs)
{
    method cone = method_of("cone");
    ss_frame *frame =
        towers(&(scene_recipe){.seed = 3, .towers = 4, .height = 3, .feet = 3, .push = 0.5, .mu_least = 0.2});
    ss_problem *problem = known(assemble(&cone, frame), NULL);
    ENSURE(agrees_with_nsgs(problem, NULL));
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

/* ---- the same bits ---------------------------------------------------------------------------------- */

TEST(kernels_give_the_same_bits)
{
    packing soft = usual;
    soft.compliance = 0.1;
    const packing all[] = {usual, soft, large};
    for (int k = 0; k < 3; k++) {
        ss_problem *problem = pack(all[k]);
        for (int iterations = 1; iterations <= 64; iterations *= 4) {
            way one = {.solver = "batched-nncg", .iterations = iterations}, other = one;
            other.settings = "kernel=portable";
            ENSURE(same_bits(problem, one, other));
        }
        ss_problem_destroy(problem);
    }
}

/* Sweeps of projected steps by one kernel; y and impulses are compared through x and w. */
static void sweep_projected(ss_problem *problem, const ss_batch_kernel *kernel, double *x, double *w)
{
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    ss_batched_method by = {.kernel = kernel, .contact = SS_BATCH_PROJECTED, .relaxation = 1.3};
    ss_batched batched;
    ENSURE(ss_batched_create(problem, &by, x, NULL, arena, &batched));
    for (int k = 0; k < 20; k++) ss_batched_sweep(&batched, k % 3 == 2, x);
    ss_batched_store(&batched, x);
    ENSURE(ss_batched_velocities(&batched, x, w));
    ss_arena_destroy(arena);
}

TEST(projected_steps_give_the_same_bits_with_any_kernel)
{
    const packing all[] = {usual, large};
    for (int k = 0; k < 2; k++) {
        ss_problem *problem = pack(all[k]);
        size_t n = (size_t)problem->size;
        double *x = ss_allocate(4 * n, sizeof *x);
        sweep_projected(problem, NULL, x, x + n);
        sweep_projected(problem, &ss_batch_kernel_portable, x + 2 * n, x + 3 * n);
        ENSURE(memcmp(x, x + 2 * n, 2 * n * sizeof *x) == 0);
        ss_release(x);
        ss_problem_destroy(problem);
    }
}

TEST(pgs_and_nsgs_in_batches_give_the_same_bits_with_any_team)
{
    static const char *const names[] = {"nsgs", "pgs", "psor"};
    ss_problem *problem = pack(large);
    for (int k = 0; k < 3; k++) {
        way alone = {.solver = names[k], .settings = "sweep=batched", .iterations = 20};
        way together = alone;
        ss_team_fix_round_trip(0.0); // all that can be shared is
        together.team = known(ss_team_create(3, NULL), NULL);
        ENSURE(same_bits(problem, alone, together));
        ss_team_destroy(together.team);
    }
    ss_problem_destroy(problem);
}

TEST(teams_give_the_same_bits)
{
    packing jointed = large;
    jointed.joints = 100;
    ss_problem *problem = pack(jointed);
    way alone = {.solver = "batched-nncg", .iterations = 30};
    for (int workers = 1; workers <= 5; workers += 2) {
        ss_error err;
        way together = alone;
        ss_team_fix_round_trip(0.0); // all that can be shared is
        together.team = known(ss_team_create(workers, &err), &err);
        ENSURE(same_bits(problem, alone, together));
        ss_team_destroy(together.team);
    }
    ss_problem_destroy(problem);
}

/* ---- batches in other solvers ----------------------------------------------------------------------- */

TEST(order_of_the_sweep_does_not_change_what_pgs_and_nsgs_find)
{
    static const char *const names[] = {"nsgs", "pgs", "psor"};
    ss_problem *problem = pack(usual);
    for (int k = 0; k < 3; k++) {
        double *batched = solved((way){.solver = names[k], .settings = "sweep=batched"}, problem);
        double *forward = solved((way){.solver = names[k], .settings = "sweep=forward"}, problem);
        ENSURE(difference(problem, batched, forward) <= 1e-8);
        ss_release(batched);
        ss_release(forward);
    }
    ss_problem_destroy(problem);
}

/* Where no two contacts share a body there is only one order: a sweep in batches is the sweep one by one. */
TEST(batched_sweep_over_contacts_apart_is_the_sweep_one_by_one)
{
    static const char *const names[] = {"nsgs", "pgs", "psor"};
    packing on_the_floor = {
        .seed = 3, .bodies = 37, .contacts = 37, .size = 3, .law = SS_LAW_CONE, .alone = true};
    ss_problem *problem = pack(on_the_floor);
    for (int k = 0; k < 3; k++) {
        way batched = {.solver = names[k], .settings = "sweep=batched", .iterations = 2};
        way forward = batched;
        forward.settings = "sweep=forward";
        double *x = solved(batched, problem), *y = solved(forward, problem);
        // Newton's method for the slip of a contact ends near 1e-14
        ENSURE(difference(problem, x, y) <= 1e-12);
        ENSURE(count_sliding(problem, x) > 5);
        ss_release(x);
        ss_release(y);
    }
    ss_problem_destroy(problem);
}

/* ---- starting and stopping -------------------------------------------------------------------------- */

TEST(solution_as_start_is_seen_at_once)
{
    ss_problem *problem = pack(usual);
    double *x = solved((way){.solver = "batched-nncg"}, problem);
    ss_solve_result result =
        run((way){.solver = "batched-nncg", .stop = "relative_energy<1e-10"}, problem, x);
    ENSURE_INT(result.status, SS_CONVERGED);
    ENSURE_INT(result.iterations, 1);
    ss_solve_result_free(&result);
    ss_release(x);
    ss_problem_destroy(problem);
}

static int first_below(const ss_history *history, ss_gauge gauge, double value)
{
    int at = 0;
    while (at < history->count && !(history->gauge[gauge][at] < value)) at++;
    return at + 1;
}

/* Looking rarely must not cost many sweeps: a tenth of them and a few, for a rule in energies
 * and for another. */
TEST(stop_rule_is_seen_soon_after_it_holds)
{
    static const char *const rules[] = {"relative_energy<1e-6", "energy<1e-12", "natural_map<1e-6",
                                        "natural_residual<1e-5"};
    static const ss_gauge gauges[] = {SS_GAUGE_RELATIVE_ENERGY, SS_GAUGE_ENERGY, SS_GAUGE_NATURAL_MAP,
                                      SS_GAUGE_NATURAL_RESIDUAL};
    static const double values[] = {1e-6, 1e-12, 1e-6, 1e-5};
    ss_problem *problem = pack(usual);
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    ss_solve_result all =
        run((way){.solver = "batched-nncg", .iterations = 1000, .history = true}, problem, x);
    for (int k = 0; k < 4; k++) {
        memset(x, 0, (size_t)problem->size * sizeof *x);
        ss_solve_result result = run((way){.solver = "batched-nncg", .stop = rules[k]}, problem, x);
        int earliest = first_below(&all.history, gauges[k], values[k]);
        ENSURE_INT(result.status, SS_CONVERGED);
        ENSURE(result.iterations >= earliest && result.iterations <= 5 + 1.1 * earliest);
        ss_solve_result_free(&result);
    }
    ss_solve_result_free(&all);
    ss_release(x);
    ss_problem_destroy(problem);
}

TEST(last_iterate_is_handed_over_when_sweeps_are_used_up)
{
    ss_problem *problem = pack(usual);
    double *few = solved((way){.solver = "batched-nncg", .iterations = 2}, problem);
    double *more = solved((way){.solver = "batched-nncg", .iterations = 40}, problem);
    double *end = solved((way){.solver = "batched-nncg"}, problem);
    ENSURE(difference(problem, more, end) < 0.1 * difference(problem, few, end));
    ss_release(few);
    ss_release(more);
    ss_release(end);
    ss_problem_destroy(problem);
}

/* A rod (mass 2) lies on its two ends, which are 1 apart and to move along it by velocities that differ by a
 * little: no motion is right for both, so one end has to slide. Every sweep takes the same small impulse from
 * one end to the other, which moves nothing, until friction there is at its limit. */
TEST(impulses_that_drift_between_two_ends_of_a_rod_get_there_at_once)
{
    static const double differ = 1e-4, mu = 0.5;
    ss_error err;
    ss_problem *problem = known(ss_problem_create(6, 2, 1, &err), &err);
    ss_bodies_form *form = problem->bodies;
    form->inverse_mass[0] = 0.5;
    for (int i = 0; i < 3; i++) form->inverse_inertia[0][4 * i] = 2.0;
    for (int end = 0; end < 2; end++) {
        double arm = end ? 0.5 : -0.5;
        problem->blocks[end] = (ss_block){.law = SS_LAW_CONE, .first = 3 * end, .size = 3, .mu = mu};
        for (int k = 0; k < 3; k++) { // N = z, T1 = x along the rod, T2 = y
            int i = 3 * end + k;
            double v[1][6] = {{0}};
            form->pair[i][0] = SS_WORLD;
            form->pair[i][1] = 0;
            form->jacobian[i][6 + (k + 2) % 3] = 1.0;
            if (k == 0) form->jacobian[i][10] = -arm;
            if (k == 2) form->jacobian[i][11] = arm;
            problem->b[i] = form->offset[i] = k == 0 ? -1.0 : k == 1 ? (end ? differ : -differ) : 0.0;
            ss_bodies_push(form, i, 1.0, v);
            problem->diagonal[i] = ss_bodies_row(form, i, v);
        }
    }
    problem->symmetric = true;

    way by = {.solver = "batched-nncg", .stop = "relative_energy<1e-8"}, plain = by;
    plain.settings = "accelerate=false";
    double x[6] = {0}, slow[6] = {0};
    ss_solve_result result = run(by, problem, x), reference = run(plain, problem, slow);
    if (result.status != SS_CONVERGED || reference.status != SS_CONVERGED || result.iterations > 40 ||
        reference.iterations < 500)
        KIT_FAIL("%s after %d; without acceleration %s after %d", ss_status_name(result.status),
                 result.iterations, ss_status_name(reference.status), reference.iterations);
    double slides = fmax(fabs(x[1]) / x[0], fabs(x[4]) / x[3]);
    if (!(fabs(slides - mu) <= 1e-6)) KIT_FAIL("friction is at %g of the normal impulse", slides);
    ss_solve_result_free(&result);
    ss_solve_result_free(&reference);
    ss_problem_destroy(problem);
}

/* Threads look at contacts in any order, and ways that differ by a last digit are common: contacts of a wall
 * are alike. */
TEST(the_shortest_way_is_the_same_in_any_order)
{
    ss_random random = ss_random_start(71, 0);
    int ties = 0;
    for (int trial = 0; trial < 1000000; trial++) {
        double speed[2], distance[2], least[2];
        for (int k = 0; k < 2; k++) speed[k] = ss_random_between(&random, 0.5, 2.0);
        distance[0] = ss_random_between(&random, 0.5, 2.0);
        distance[1] = distance[0] / speed[0] * speed[1];
        ties += distance[1] / speed[1] != distance[0] / speed[0];
        for (int k = 0; k < 2; k++) {
            double first = ss_batched_shorter(INFINITY, distance[k], speed[k]);
            least[k] = ss_batched_shorter(first, distance[1 - k], speed[1 - k]);
        }
        ENSURE(least[0] == least[1]);
        ENSURE(least[0] == fmin(distance[0] / speed[0], distance[1] / speed[1]));
    }
    ENSURE(ties > 1000);
}

TEST_MAIN
