/* split and convex-newton: what is particular to each; what they share with all solvers is in
 * test_conformance. */
#include "kit.h"
#include "rules.h"

#include <stickslip/solver.h>

#include "problems.h"
#include "solver/local/local_cone.h"
#include "solver/newton/maps.h"
#include "solver/pivot/pivoting.h"
#include "solver/core/run_state.h"

/* ---- running ---------------------------------------------------------------------------------------- */

typedef struct outcome {
    ss_status status;
    int iterations, factorizations;
    double error; // relative energy
} outcome;

/* From x; settings are separated by spaces. */
static outcome run(const char *name, const char *settings, const char *stop, int iterations,
                   ss_problem *problem, double *x)
{
    const ss_solver *solver = ss_solver_find(name);
    ss_error err = {0};
    ss_solve_result result = {.status = SS_FAILED};
    double options[16]; // any option struct of these solvers, well aligned
    char copy[100];
    ss_options_defaults(solver->options, options);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *one = strtok(copy, " "); one; one = strtok(NULL, " ")) {
        if (!ss_options_assign(solver->options, options, one, &err)) KIT_FAIL("%s", err.message);
    }
    ss_run_options set = {.max_iterations = iterations, .stop = stop_rule(stop), .explain = true};
    if (!ss_solve(
            &(ss_solve_request){.solver = solver, .solver_options = options, .problem = problem, .run = &set},
            x, &result, &err))
        KIT_FAIL("%s: %s", name, err.message);
    outcome got = {result.status, result.iterations, -1, result.gauge[SS_GAUGE_RELATIVE_ENERGY]};
    if (result.notes) sscanf(result.notes, "%d", &got.factorizations);
    ss_solve_result_free(&result);
    return got;
}

/* Cold and to 1e-10; NULL when it is not solved. The caller destroys the answer. */
static ss_answer *answer_from(const char *solver, const char *words, const ss_frame *frame, outcome *got)
{
    method m = method_of(words);
    ss_problem *problem = known(assemble(&m, frame), NULL);
    ss_answer *answer = known(ss_answer_create(frame, false, NULL), NULL);
    double *x = numbers(problem->size);
    outcome end = run(solver, "", "relative_energy<1e-10", 1000, problem, x);
    bool good = end.status == SS_CONVERGED && recover_by(&m, frame, x, answer);
    if (got) *got = end;
    free(x);
    ss_problem_destroy(problem);
    if (good) return answer;
    ss_answer_destroy(answer);
    return NULL;
}

static const char *const with_cone[][2] = {
    {"normal-friction-splitting", "cone"}, {"normal-friction-splitting", "box"}, {"convex-newton", "convex"}};
enum { WAYS = 3 };

/* ---- elementary mechanics --------------------------------------------------------------------------- */

TEST(a_block_holds_on_a_gentle_slope)
{
    for (int k = 0; k < WAYS; k++) {
        double slope = 0.3, load = 2.0 * GRAVITY * 0.01; // tan 0.3 = 0.31
        ss_frame *frame = sliding_block(slope, 0.5, 0.0);
        ss_answer *answer = answer_from(with_cone[k][0], with_cone[k][1], frame, NULL);
        ENSURE(answer != NULL);
        ENSURE_NEAR(answer->normal_impulse[0], load * cos(slope), 1e-9);
        ENSURE_NEAR(answer->friction_impulse[0][0], -load * sin(slope), 1e-9);
        ENSURE_NEAR(answer->velocity[0][0], 0.0, 1e-9);
        ss_answer_destroy(answer);
        ss_frame_destroy(frame);
    }
}

TEST(a_block_slides_down_a_steep_slope)
{
    for (int k = 0; k < 2; k++) { // under the convex law it would take off
        double slope = 0.6, mu = 0.3, push = GRAVITY * 0.01;
        ss_frame *frame = sliding_block(slope, mu, 0.0);
        ss_answer *answer = answer_from(with_cone[k][0], with_cone[k][1], frame, NULL);
        ENSURE(answer != NULL);
        ENSURE_NEAR(answer->friction_impulse[0][0], -mu * 2.0 * push * cos(slope), 1e-9);
        ENSURE_NEAR(answer->velocity[0][0], push * (sin(slope) - mu * cos(slope)), 1e-9);
        ss_answer_destroy(answer);
        ss_frame_destroy(frame);
    }
}

TEST(under_the_convex_law_a_sliding_block_takes_off)
{
    double mu = 0.5;
    ss_frame *frame = sliding_block(0.0, mu, 2.0);
    ss_answer *answer = answer_from("convex-newton", "convex", frame, NULL);
    ENSURE(answer != NULL);
    const double *v = answer->velocity[0];
    // r_N = m (g h + mu v) / (1 + mu^2), and the speed of lifting is mu times that of sliding
    ENSURE_NEAR(answer->normal_impulse[0], 2.0 * (GRAVITY * 0.01 + mu * 2.0) / (1.0 + mu * mu), 1e-9);
    ENSURE_NEAR(v[2], mu * v[0], 1e-9);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

TEST(the_ground_carries_a_tall_tower)
{
    scene_recipe scene = {.seed = 5, .towers = 1, .height = 30, .feet = 4, .mu_least = 0.5};
    for (int k = 0; k < WAYS; k++) {
        ss_frame *frame = towers(&scene);
        double weight = 0.0, carried = 0.0;
        outcome got;
        ss_answer *answer = answer_from(with_cone[k][0], with_cone[k][1], frame, &got);
        ENSURE(answer != NULL);
        for (int b = 0; b < 30; b++) weight += frame->bodies.mass[b] * GRAVITY * frame->h;
        for (int c = 0; c < 4; c++) carried += answer->normal_impulse[c];
        ENSURE_NEAR(carried, weight, 1e-8 * weight); // 1e-10 of the energy, times the height
        if (k < 2 && got.iterations > 15) KIT_FAIL("%d turns for a tower at rest", got.iterations);
        if (k == 2 && got.iterations > 40) KIT_FAIL("%d Newton steps for a tower at rest", got.iterations);
        ss_answer_destroy(answer);
        ss_frame_destroy(frame);
    }
}

/* Bodies of 2 kg, one below the other, each held at its top end by the one above. */
static ss_frame *hanging_chain(int links)
{
    ss_frame *frame = known(ss_frame_create(links, links, 3 * links, 0, NULL), NULL);
    ss_constraints *joints = &frame->constraints;
    frame->h = 0.01;
    for (int b = 0; b < links; b++) {
        set_ball(frame, b, 2.0, 0.5);
        set_vector(frame->bodies.position[b], 0.0, 0.0, -(b + 0.5));
        set_vector(frame->bodies.force[b], 0.0, 0.0, -2.0 * GRAVITY);
        joints->pair[b][0] = b == 0 ? SS_WORLD : b - 1;
        joints->pair[b][1] = b;
        joints->rows[b] = 3;
        for (int i = 0; i < 3; i++) { // velocity of the common point: arms of half a metre, below and above
            double *J = joints->jacobian[3 * b + i];
            for (int side = b == 0 ? 1 : 0; side < 2; side++) {
                double sign = side ? 1.0 : -1.0, arm = side ? 0.5 : -0.5;
                J[6 * side + i] = sign;
                if (i == 0) J[6 * side + 4] = sign * arm;
                if (i == 1) J[6 * side + 3] = -sign * arm;
            }
            joints->bounds[3 * b + i][0] = -INFINITY;
            joints->bounds[3 * b + i][1] = INFINITY;
        }
    }
    return frame;
}

TEST(every_joint_carries_what_hangs_below_it)
{
    enum { LINKS = 40 };
    for (int k = 0; k < WAYS; k++) {
        ss_frame *frame = hanging_chain(LINKS);
        outcome got;
        ss_answer *answer = answer_from(with_cone[k][0], with_cone[k][1], frame, &got);
        ENSURE(answer != NULL);
        for (int b = 0; b < LINKS; b++) {
            double below = (LINKS - b) * 2.0 * GRAVITY * frame->h;
            ENSURE_NEAR(fabs(answer->row_impulse[3 * b + 2]), below, 1e-7 * below);
        }
        if (got.iterations > 12) KIT_FAIL("%s: %d iterations for equations", with_cone[k][0], got.iterations);
        ss_answer_destroy(answer);
        ss_frame_destroy(frame);
    }
}

/* ---- split ------------------------------------------------------------------------------------------ */

/* Pushed, on three feet, some sliding. */
static ss_problem *pushed_towers(const char *words)
{
    scene_recipe scene = {.seed = 52, .towers = 3, .height = 3, .feet = 3, .push = 0.5, .mu_least = 0.2};
    return formulated("towers", words, towers(&scene)).problem;
}

TEST(mixing_saves_turns)
{
    ss_problem *problem = pushed_towers("cone");
    double *x = numbers(problem->size), *y = numbers(problem->size);
    outcome plain = run("normal-friction-splitting", "mixing=0", "relative_energy<1e-8", 10000, problem, x);
    outcome mixed = run("normal-friction-splitting", "", "relative_energy<1e-8", 10000, problem, y);
    ENSURE_INT(plain.status, SS_CONVERGED);
    ENSURE_INT(mixed.status, SS_CONVERGED);
    if (!(2 * mixed.iterations < plain.iterations))
        KIT_FAIL("%d turns with mixing, %d without", mixed.iterations, plain.iterations);
    free(x);
    free(y);
    ss_problem_destroy(problem);
}

TEST(factors_are_kept_while_contacts_stay_open_or_closed)
{
    ss_problem *problem = pushed_towers("cone");
    double *x = numbers(problem->size);
    outcome got = run("normal-friction-splitting", "mixing=0", "relative_energy<1e-10", 10000, problem, x);
    ENSURE_INT(got.status, SS_CONVERGED);
    ENSURE(got.factorizations > 0);
    if (!(3 * got.factorizations < got.iterations))
        KIT_FAIL("%d factorisations in %d turns", got.factorizations, got.iterations);
    free(x);
    ss_problem_destroy(problem);
}

/* Cut short anywhere, it returns the best of its turns: more of them never make it worse. */
TEST(a_short_run_returns_its_best_turn)
{
    ss_problem *problem = pushed_towers("cone");
    double last = INFINITY;
    for (int turns = 1; turns < 30; turns++) {
        double *x = numbers(problem->size);
        outcome got = run("normal-friction-splitting", "", "none", turns, problem, x);
        ENSURE(got.error <= last * (1.0 + 1e-9)); // measured again
        last = got.error;
        free(x);
    }
    ss_problem_destroy(problem);
}

TEST(the_convex_law_is_no_law_of_halves)
{
    ss_problem *convex = pushed_towers("convex"), *cone = pushed_towers("cone");
    ENSURE(ss_solver_refusal(ss_solver_find("normal-friction-splitting"), convex) != NULL);
    ENSURE(ss_solver_refusal(ss_solver_find("normal-friction-splitting"), cone) == NULL);
    ENSURE(ss_solver_refusal(ss_solver_find("convex-newton"), cone) != NULL);
    ENSURE(ss_solver_refusal(ss_solver_find("convex-newton"), convex) == NULL);
    ss_problem_destroy(convex);
    ss_problem_destroy(cone);
}

/* B y + c = -lambda y with lambda >= 0, and lambda = 0 inside. */
TEST(friction_of_one_contact_obeys_its_law)
{
    ss_random random = ss_random_start(3, 0);
    for (int k = 0; k < 2000; k++) {
        double a = ss_random_between(&random, -3, 3), b = ss_random_between(&random, -3, 3),
               skew = k % 4 == 3 ? ss_random_between(&random, -0.5, 0.5) : 0.0, y[2];
        // 0: flat in one direction
        double soft = k % 5 == 0 ? 0.0 : pow(10.0, ss_random_between(&random, -6, 1));
        double B[4] = {a * a + soft, a * b + skew, a * b - skew, b * b + soft};
        double c[2] = {ss_random_between(&random, -1, 1), ss_random_between(&random, -1, 1)};
        double radius = k % 7 == 0 ? 0.0 : pow(10.0, ss_random_between(&random, -4, 1));
        ss_disc_solve(B, c, radius, y);
        double w[2] = {B[0] * y[0] + B[1] * y[1] + c[0], B[2] * y[0] + B[3] * y[1] + c[1]};
        double length = hypot(y[0], y[1]), speed = hypot(w[0], w[1]), load = hypot(c[0], c[1]);
        ENSURE(length <= radius * (1.0 + 1e-14));
        if (length < radius * (1.0 - 1e-12)) ENSURE_NEAR(speed, 0.0, 1e-8 * load); // condition 1e7
        // on the edge: friction is against the slip
        ENSURE_NEAR(w[0] * y[0] + w[1] * y[1], -length * speed, 1e-9 * load * (radius + 1e-9));
    }
}

/* A flat friction disc between a wheel and the ground, and no friction at all, and friction without limit. */
TEST(limits_of_friction_are_taken)
{
    static const double mus[] = {0.0, 1e-9, INFINITY};
    for (int k = 0; k < 3; k++) {
        ss_frame *frame = sliding_block(0.4, mus[k], 0.0);
        ss_answer *answer = answer_from("normal-friction-splitting", "cone", frame, NULL);
        double push = GRAVITY * 0.01;
        ENSURE(answer != NULL);
        ENSURE_NEAR(answer->velocity[0][0], k == 2 ? 0.0 : push * sin(0.4), 1e-9);
        ss_answer_destroy(answer);
        ss_frame_destroy(frame);
    }
}

/* ---- pivoting --------------------------------------------------------------------------------------- */

static void pivot_to_the_end(ss_pivoting *p)
{
    int last = -1, wrong;
    ss_pivoting_begin(p);
    do {
        if (!ss_pivoting_solve(p)) KIT_FAIL("singular");
        wrong = ss_pivoting_wrong(p, &last);
    } while (wrong > 0 && ss_pivoting_exchange(p, wrong, last));
    if (wrong != 0) KIT_FAIL("%d on the wrong side at the end", wrong);
}

TEST(a_new_load_on_the_same_sides_needs_no_new_factor)
{
    double A[] = {4, 1, 0, 1, 4, 1, 0, 1, 4}, b[] = {-1, -2, 3};
    ss_error err;
    ss_problem *problem = known(ss_problem_create(3, 1, -1, &err), &err);
    problem->A = sparse_of_dense(3, A);
    problem->blocks[0] = ss_planted_block(SS_LAW_BOX, 0, 3);
    memcpy(problem->b, b, sizeof b);
    for (int i = 0; i < 3; i++) problem->lower[i] = 0.0;
    ss_problem_matrix_changed(problem);
    ss_arena *arena = known(ss_arena_create(0, &err), &err);
    ss_pivoting p;
    struct ss_run_state state = {.deadline = INFINITY};
    ss_run run = {.arena = arena, .state = &state};
    ENSURE(ss_pivoting_create(problem, 0.0, &run, &p));
    for (int i = 0; i < 3; i++) p.lower[i] = p.s.lower[i], p.upper[i] = p.s.upper[i];
    ss_pivoting_start(&p);
    pivot_to_the_end(&p);
    int before = p.factorizations;
    double load[] = {1.5 * p.s.b[0], 1.2 * p.s.b[1], 0.9 * p.s.b[2]}, x[2];
    ss_pivoting_set_load(&p, load);
    pivot_to_the_end(&p);
    ENSURE_INT(p.factorizations, before);
    // 4 x + y = 1.5 and x + 4 y = 2.4, the third is open
    for (int i = 0; i < 2; i++) x[i] = p.s.unit[i] * p.x[i];
    ENSURE_NEAR(x[0], (4.0 * 1.5 - 2.4) / 15.0, 1e-12);
    ENSURE_NEAR(x[1], (4.0 * 2.4 - 1.5) / 15.0, 1e-12);
    ENSURE_NEAR(p.w[2] * p.s.load_unit[2], x[1] + 2.7, 1e-12);
    ss_pivoting_free(&p);
    ss_arena_destroy(arena);
    ss_problem_destroy(problem);
}

/* ---- convex-newton ---------------------------------------------------------------------------------- */

/* The largest difference in w, relative to the largest b. */
static double difference(const ss_problem *problem, const double *x, const double *other)
{
    double *w = numbers(problem->size), *w2 = numbers(problem->size);
    double *scratch = numbers(ss_problem_scratch(problem)), scale = 0.0;
    ss_problem_apply(problem, x, scratch, w);
    ss_problem_apply(problem, other, scratch, w2);
    for (int i = 0; i < problem->size; i++) scale = fmax(scale, fabs(problem->b[i]));
    double worst = largest_difference(w, w2, problem->size) / scale;
    free(w);
    free(w2);
    free(scratch);
    return worst;
}

TEST(it_agrees_with_methods_that_have_nothing_in_common_with_it)
{
    static const char *const others[] = {"qp", "interior-point", "admm"};
    ss_problem *problem = pushed_towers("convex");
    double *x = numbers(problem->size);
    ENSURE_INT(run("convex-newton", "", "relative_energy<1e-12", 300, problem, x).status, SS_CONVERGED);
    for (int k = 0; k < 3; k++) {
        double *y = numbers(problem->size);
        ENSURE_INT(run(others[k], "", "relative_energy<1e-12", 20000, problem, y).status, SS_CONVERGED);
        double off = difference(problem, x, y);
        // the condition of a tower of three
        if (!(off <= 1e-7)) KIT_FAIL("%s: w differs by %g of the load", others[k], off);
        free(y);
    }
    free(x);
    ss_problem_destroy(problem);
}

TEST(bodies_and_their_matrix_have_the_same_solution)
{
    scene_recipe scene = {.seed = 9, .towers = 2, .height = 5, .feet = 3, .push = 0.3, .mu_least = 0.3};
    ss_problem *problem = formulated("towers", "convex", towers(&scene)).problem;
    double *x = numbers(problem->size), *y = numbers(problem->size);
    ss_error err;
    ENSURE(problem->bodies != NULL && problem->size > 48); // beyond what is treated as a full matrix
    ENSURE_INT(run("convex-newton", "", "relative_energy<1e-12", 300, problem, x).status, SS_CONVERGED);
    ENSURE(ss_problem_need_matrix(problem, &err));
    ss_bodies_form *kept = problem->bodies;
    problem->bodies = NULL;
    ENSURE_INT(run("convex-newton", "", "relative_energy<1e-12", 300, problem, y).status, SS_CONVERGED);
    problem->bodies = kept;
    ENSURE(difference(problem, x, y) <= 1e-7);
    free(x);
    free(y);
    ss_problem_destroy(problem);
}

TEST(a_start_at_the_solution_saves_all_steps)
{
    ss_problem *problem = pushed_towers("convex");
    double *x = numbers(problem->size);
    ENSURE_INT(run("convex-newton", "", "relative_energy<1e-12", 300, problem, x).status, SS_CONVERGED);
    outcome again = run("convex-newton", "", "relative_energy<1e-10", 300, problem, x);
    ENSURE_INT(again.status, SS_CONVERGED);
    ENSURE(again.iterations <= 1 && again.factorizations <= 0);
    free(x);
    ss_problem_destroy(problem);
}

/* ---- the compliant model ---------------------------------------------------------------------------- */

TEST(a_compliant_ground_gives_way_under_a_block)
{
    static const char *const settings[] = {"compliance=0.25", "compliance=1e-4"};
    static const double compliance[] = {0.25, 1e-4};
    for (int k = 0; k < 2; k++) {
        ss_problem *problem = formulated("block", "convex", sliding_block(0.0, 0.5, 0.0)).problem;
        double *x = numbers(problem->size), rigid = 2.0 * GRAVITY * 0.01;
        outcome got = run("convex-newton", settings[k], "none", 100, problem, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        ENSURE_NEAR(x[0], rigid / (1.0 + compliance[k]), 1e-12); // x = -w / (c a) with w = b + a x
        got = run("convex-newton", settings[k], "relative_energy<1e-8", 100, problem, x);
        ENSURE_INT(got.status, SS_STALLED); // it is not the rigid problem that was solved
        free(x);
        ss_problem_destroy(problem);
    }
}

/* p = P(-k u), whatever slides, sticks and lifts. */
TEST(impulses_of_the_compliant_model_are_those_of_springs)
{
    scene_recipe scene = {.seed = 9, .towers = 2, .height = 5, .feet = 4, .push = 0.3, .mu_least = 0.3};
    ss_problem *problem = formulated("towers", "convex", towers(&scene)).problem;
    double *x = numbers(problem->size), *r = numbers(problem->size), *u = numbers(problem->size), k = 1e3;
    ss_error err;
    ENSURE_INT(run("convex-newton", "compliance=1e-3", "none", 200, problem, x).status, SS_CONVERGED);
    ss_arena *arena = known(ss_arena_create(0, &err), &err);
    ss_space *space = known(ss_space_create(problem, arena), NULL);
    ss_space_enter(space, x, r);
    ss_space_velocity(space, r, u);
    for (int n = 0; n < space->node_count; n++) {
        const ss_node *node = &space->nodes[n];
        double y[SS_NODE_MAX] = {0}, p[SS_NODE_MAX];
        for (int i = 0; i < node->size; i++) y[i] = -k * u[node->first + i];
        ss_newton_project(space, node, y, r, p, NULL);
        for (int i = 0; i < node->size; i++) ENSURE_NEAR(p[i], r[node->first + i], 1e-9); // k times rounding
    }
    ss_arena_destroy(arena);
    free(x);
    free(r);
    free(u);
    ss_problem_destroy(problem);
}

TEST_MAIN
