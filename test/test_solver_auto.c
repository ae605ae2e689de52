/* auto: which method it asks when, what it says about it, and how it ends; that its answers are right is in
 * test_conformance, as for all solvers. */
#include "base/team.h"
#include "kit.h"
#include "rules.h"

#include <stickslip/solver.h>

#include <math.h>

#include "known_cone.h"
#include "mechanics.h"
#include "problems.h"
#include "solver/auto/auto.h"
#include "solver/core/nested_run.h"
#include "tree_worlds.h"

typedef struct told {
    ss_status status;
    int iterations, kept;
    double relative_energy;
    char notes[4000];
    double *x;
} told;

static void told_free(told *of)
{
    free(of->x);
}

static told solve_with(const char *solver, ss_problem *problem, const ss_run_options *run)
{
    ss_error err = {0};
    ss_solve_result result;
    told to = {.x = numbers(problem->size)};
    if (!ss_solve(&(ss_solve_request){.solver = ss_solver_find(solver), .problem = problem, .run = run}, to.x,
                  &result, &err))
        KIT_FAIL("%s", err.message);
    to.status = result.status;
    to.iterations = result.iterations;
    to.kept = result.kept_iteration;
    to.relative_energy = result.gauge[SS_GAUGE_RELATIVE_ENERGY];
    snprintf(to.notes, sizeof to.notes, "%s", result.notes ? result.notes : "(none)");
    ss_solve_result_free(&result);
    return to;
}

static told solve(ss_problem *problem, int iterations)
{
    ss_run_options run = {.max_iterations = iterations, .stop = stop_rule(usual_stop), .explain = true};
    return solve_with("auto", problem, &run);
}

/* The notes must contain the words in this order. */
static void check_notes(const told *of, const char *const *words)
{
    const char *at = of->notes;
    for (; *words; words++) {
        at = strstr(at, *words);
        if (!at) {
            KIT_FAIL("\"%s\" is missing or too early in:\n%s", *words, of->notes);
            return;
        }
    }
}

static void expect(known_problem known_one, ss_status status, const char *const *words)
{
    told of = solve(known_one.problem, 20000);
    if (of.status != status)
        KIT_FAIL("%s: %s, not %s\n%s", known_one.name, ss_status_name(of.status), ss_status_name(status),
                 of.notes);
    check_notes(&of, words);
    told_free(&of);
    known_problem_free(&known_one);
}

static known_problem tower(const char *words, int height, int feet)
{
    scene_recipe scene = {.seed = 5, .towers = 1, .height = height, .feet = feet, .mu_least = 0.5};
    return formulated("tower", words, towers(&scene));
}

/* ---- decisions -------------------------------------------------------------------------------------- */

TEST(what_is_easy_is_left_to_the_sweeps)
{
    scene_recipe scene = {.seed = 52, .towers = 3, .height = 1, .feet = 3, .push = 0.5, .mu_least = 0.2};
    expect(
        formulated("boxes", "cone", towers(&scene)), SS_CONVERGED,
        (const char *const[]){"27 unknowns, 9 contacts, 3 bodies; laws: cone", "batched-nncg: solved", NULL});
}

/* The frame of a scene as it is after some steps. */
static known_problem of_scene(const char *name, int steps)
{
    ss_world *world;
    void *state;
    ss_error err = {0};
    ss_sim *sim = scene_sim(name, SS_MAXIMAL, 0.0, &world, &state);
    run(sim, steps);
    known_problem made = formulated(name, "cone", known(ss_frame_copy(ss_sim_frame(sim), &err), &err));
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
    return made;
}

/* Looks at the sweeps must not change when the stop rule is seen to hold. */
TEST(looking_at_sweeps_costs_none)
{
    known_problem draughts = of_scene("checkers", 43);
    ss_run_options run = {.max_iterations = 1000, .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-4}};
    told watched = solve_with("auto", draughts.problem, &run),
         alone = solve_with("batched-nncg", draughts.problem, &run);
    ENSURE(watched.status == SS_CONVERGED && alone.status == SS_CONVERGED);
    ENSURE(watched.iterations == alone.iterations);
    told_free(&watched);
    told_free(&alone);
    known_problem_free(&draughts);
}

TEST(what_touches_in_points_is_projected)
{
    expect(of_scene("spheres125", 22), SS_CONVERGED,
           (const char *const[]){"125 bodies", "of batched-nncg (projected)", "solved", NULL});
}

/* Capsules touch in points, too, but not all their normals pass through their centres: projecting them pays
 * only where there are many. */
TEST(a_few_capsules_are_solved_exactly_and_many_are_projected)
{
    known_problem few = of_scene("capsule-pile", 60);
    told of = solve(few.problem, 20000);
    ENSURE(of.status == SS_CONVERGED && few.problem->size < 300);
    check_notes(&of, (const char *const[]){"of batched-nncg: solved", NULL});
    ENSURE(!strstr(of.notes, "(projected)"));
    told_free(&of);
    known_problem_free(&few);
    expect(of_scene("capsule-pile", 100), SS_CONVERGED,
           (const char *const[]){"100 bodies", "of batched-nncg (projected)", NULL});
}

typedef struct planned {
    ss_auto_features features;
    ss_auto_plan plan;
    int first; // choices before the others are planned
} planned;

/* `unknowns`: as if there were that many; 0: as it is. */
static planned plan_of(known_problem of, int unknowns)
{
    planned to = {.features = ss_auto_look(of.problem)};
    if (unknowns) to.features.unknowns = unknowns;
    ss_auto_plan_first(of.problem, &to.features, &to.plan);
    to.first = to.plan.count;
    ss_auto_plan_others(of.problem, &to.features, &to.plan);
    known_problem_free(&of);
    return to;
}

static bool is_choice(const planned *of, int index, const char *solver)
{
    return index < of->plan.count && strcmp(of->plan.at[index].solver->name, solver) == 0;
}

/* Both touch in two points as a rule. Normals of logs meet their axes, so that nothing but friction keeps
 * them from rolling; those of cards do not. */
TEST(logs_roll_and_cards_do_not)
{
    planned logs = plan_of(of_scene("log-pile", 40), 200), cards = plan_of(of_scene("card-house", 1), 0);
    ENSURE(logs.features.kind == SS_AUTO_LOOSE && cards.features.kind == SS_AUTO_LOOSE);
    ENSURE(is_choice(&logs, logs.first, "interior-point"));
    ENSURE(is_choice(&cards, cards.first, "admm"));
}

/* A house of cards stands: all its contacts press. While it falls some part, and splitting would go on for
 * hundreds of iterations. */
TEST(what_stands_is_split_and_what_parts_is_not)
{
    known_problem cards = of_scene("card-house", 1);
    told of = solve(cards.problem, 20000);
    planned falling = {.features = ss_auto_look(cards.problem)};
    ss_auto_look_at(cards.problem, of.x, &falling.features);
    ENSURE(of.status == SS_CONVERGED && !falling.features.parting);
    for (int k = 0; k < cards.problem->block_count; k += 10) of.x[cards.problem->blocks[k].first] = 0.0;
    ss_auto_look_at(cards.problem, of.x, &falling.features);
    ENSURE(falling.features.parting);
    ss_auto_plan_first(cards.problem, &falling.features, &falling.plan);
    falling.first = falling.plan.count;
    ss_auto_plan_others(cards.problem, &falling.features, &falling.plan);
    ENSURE(is_choice(&falling, falling.first, "proximal-point"));
    told_free(&of);
    known_problem_free(&cards);
}

/* Many contacts on a few bodies: a Newton step takes half the time of one inside. */
TEST(crowds_on_few_bodies_take_newton_steps_first)
{
    planned few = plan_of(of_scene("l-stack", 5), 0), many = plan_of(of_scene("box-pyramid", 1), 0);
    ENSURE(few.features.crowded && is_choice(&few, few.first, "proximal-point"));
    ENSURE(many.features.crowded && is_choice(&many, many.first, "interior-point"));
}

/* Normals of two opposite feet turn a box about the same direction, as those along a log do. */
TEST(a_tower_does_not_roll)
{
    planned of = plan_of(tower("cone", 20, 4), 0);
    ENSURE(is_choice(&of, 0, "batched-nncg") && is_choice(&of, of.first, "admm"));
}

/* Splitting is compared with the sweeps that come next, but for an arch with what follows those. */
TEST(sweeps_are_no_rival_for_an_arch)
{
    planned arch = plan_of(of_scene("masonry-arch", 1), 0), pyramid = plan_of(of_scene("box-pyramid", 1), 0);
    ENSURE(is_choice(&arch, 0, "admm") && is_choice(&arch, 1, "batched-nncg"));
    ENSURE(arch.plan.at[0].rival == 1);
    ENSURE(is_choice(&pyramid, 0, "admm") && pyramid.plan.at[0].rival == 0);
}

/* Stones in a row carry each other, though each touches only two: sweeps would pass the thrust on from stone
 * to stone. */
TEST(an_arch_is_split_from_the_start)
{
    known_problem arch = of_scene("masonry-arch", 1);
    told of = solve(arch.problem, 20000);
    ENSURE(of.status == SS_CONVERGED);
    check_notes(&of, (const char *const[]){"64 contacts, 15 bodies", "admm: solved", NULL});
    ENSURE(!strstr(of.notes, "nncg"));
    told_free(&of);
    known_problem_free(&arch);
}

/* Half of them have settled. */
TEST(a_heap_of_discs_begins_with_all_contacts_at_once)
{
    known_problem heap = of_scene("disc-pile", 151);
    told of = solve(heap.problem, 20000);
    ENSURE(of.status == SS_CONVERGED);
    check_notes(&of, (const char *const[]){"60 bodies", "projected-fixed-point: solved", NULL});
    ENSURE(!strstr(of.notes, "nncg"));
    told_free(&of);
    known_problem_free(&heap);
}

/* The wheels stick sideways, and the axles want them elsewhere by some 1e-8 m: after four iterations the
 * error is what they disagree by, and stays there for dozens more. */
TEST(a_cart_whose_wheels_disagree_with_its_axles_is_split_to_the_end)
{
    known_problem cart = of_scene("cart", 61);
    told of = solve(cart.problem, 20000);
    ENSURE(of.status == SS_CONVERGED);
    ENSURE(of.iterations > 60);
    check_notes(&of, (const char *const[]){"44 unknowns, 8 contacts, 5 bodies", "admm: solved", NULL});
    ENSURE(!strstr(of.notes, "->"));
    told_free(&of);
    known_problem_free(&cart);
}

TEST(a_held_block_that_sweeps_leave_is_split_before_newton_steps)
{
    known_problem block = of_scene("grasped-block", 21);
    told of = solve(block.problem, 20000);
    ENSURE(of.status == SS_CONVERGED);
    check_notes(&of, (const char *const[]){"34 unknowns, 8 contacts, 3 bodies",
                                           "batched-nncg: not worth continuing", "admm: solved", NULL});
    ENSURE(!strstr(of.notes, "newton"));
    told_free(&of);
    known_problem_free(&block);
}

/* Where it sticks splitting waits for impulses to grow; where it slides they are at their limits. */
TEST(a_block_that_slides_out_of_its_grasp_takes_newton_steps)
{
    known_problem block = of_scene("grasped-block", 21);
    planned out = {.features = ss_auto_look(block.problem)};
    double *x = numbers(block.problem->size);
    for (int slides = 0; slides < 2; slides++) {
        for (int k = 0; k < block.problem->block_count; k++) {
            const ss_block *at = &block.problem->blocks[k];
            x[at->first] = 1.0;
            if (at->law == SS_LAW_CONE) x[at->first + 2] = (slides ? 1.0 : 0.9) * at->mu;
        }
        ss_auto_look_at(block.problem, x, &out.features);
        ENSURE(out.features.slipping == slides);
    }
    ss_auto_plan_first(block.problem, &out.features, &out.plan);
    out.first = out.plan.count;
    ss_auto_plan_others(block.problem, &out.features, &out.plan);
    ENSURE(is_choice(&out, out.first, "proximal-point"));
    free(x);
    known_problem_free(&block);
}

/* The look at its tenth iteration shows an error far from the goal, which is no reason to measure late. */
TEST(a_stage_that_is_looked_at_ends_no_later_than_its_method_alone)
{
    known_problem pyramid = of_scene("box-pyramid", 1);
    ss_run_options run = {.max_iterations = 1000, .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-6}};
    told alone = solve_with("admm", pyramid.problem, &run), of = solve_with("auto", pyramid.problem, &run);
    ENSURE(alone.status == SS_CONVERGED && of.status == SS_CONVERGED);
    ENSURE(of.iterations <= alone.iterations);
    told_free(&alone);
    told_free(&of);
    known_problem_free(&pyramid);
}

/* Extrapolation moves impulses to and fro between contacts that repeat each other, and starts again every two
 * sweeps: 192 iterations where that is seen, 868 where it was not. */
TEST(capsules_that_settle_are_not_swept_in_circles)
{
    known_problem capsules = of_scene("capsule-pile", 55);
    ss_run_options run = {.max_iterations = 400, .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-8}};
    told of = solve_with("batched-nncg", capsules.problem, &run);
    ENSURE(of.status == SS_CONVERGED);
    told_free(&of);
    known_problem_free(&capsules);
}

/* Splitting is no help where links of a gram move an arm of ten kilograms: its error stays large. */
TEST(a_hand_of_light_links_takes_the_way_inside)
{
    expect(of_scene("mass-ratio-grasp", 51), SS_CONVERGED,
           (const char *const[]){"laws: free, box, cone", "admm: not worth continuing", "-> interior-point",
                                 "interior-point: solved", NULL});
}

/* Six rows on every link against three: those between bodies cost as much, those of the matrix four times. */
TEST(hinges_alone_are_split_and_ball_joints_are_exchanged)
{
    expect(of_scene("arm", 1), SS_CONVERGED, (const char *const[]){"0 contacts", "admm: solved", NULL});
    expect(of_scene("chain", 1), SS_CONVERGED,
           (const char *const[]){"0 contacts", "block-pivot: solved", NULL});
}

TEST(a_tall_tower_goes_to_the_splitting_method)
{
    expect(tower("cone", 20, 4), SS_CONVERGED,
           (const char *const[]){"20 bodies", "batched-nncg: not worth continuing", "more needed", "-> admm",
                                 "admm: solved", NULL});
}

/* The same tower on ice is a quadratic programme: splitting would take hundreds of iterations. */
TEST(a_tower_on_ice_takes_newton_steps)
{
    known_problem of = tower("cone", 20, 4);
    for (int k = 0; k < of.problem->block_count; k++) of.problem->blocks[k].mu = 0.0;
    expect(of, SS_CONVERGED,
           (const char *const[]){"batched-nncg: not worth continuing", "-> alart-curnier",
                                 "alart-curnier: solved", NULL});
}

TEST(a_tower_without_friction_goes_to_the_pivots)
{
    expect(tower("frictionless", 20, 4), SS_CONVERGED,
           (const char *const[]){"laws: box", "batched-nncg: not worth continuing", "-> block-pivot",
                                 "block-pivot: solved", NULL});
}

TEST(friction_polygons_cannot_be_swept_and_go_to_lemke)
{
    known_problem of = tower("stewart-trinkle", 3, 4);
    ss_run_options run = {.max_iterations = 20000,
                          .stop = {.gauge = SS_GAUGE_NATURAL_RESIDUAL, .below = 1e-9},
                          .explain = true};
    told got = solve_with("auto", of.problem, &run);
    if (got.status != SS_CONVERGED || strstr(got.notes, "nncg"))
        KIT_FAIL("%s\n%s", ss_status_name(got.status), got.notes);
    check_notes(&got, (const char *const[]){"iterations of lemke: solved", NULL});
    told_free(&got);
    known_problem_free(&of);
}

TEST(bounds_that_follow_others_are_taken)
{
    expect(tower("box", 12, 4), SS_CONVERGED, (const char *const[]){"coupled", "solved", NULL});
}

/* A matrix of a million to one: sweeps are hopeless, Newton is not. */
TEST(a_matrix_that_is_hard_to_sweep_goes_to_newton)
{
    recipe hard = {.name = "hard", .letters = "kkkkkkkk", .seed = 7, .matrix = SS_RECIPE_ILL, .mu = 0.5};
    expect(
        cook(&hard), SS_CONVERGED,
        (const char *const[]){"a matrix", "nncg: not worth continuing", "-> minmap-newton", "solved", NULL});
}

/* Contacts with a matrix: every second one parts, the others hold. `by` couples the first
 * one with `other`. */
static known_problem separate_contacts(int other, double by)
{
    enum { CONTACTS = 12, SIZE = 3 * CONTACTS };
    ss_error err;
    known_problem made = {.name = "contacts", .stop = usual_stop};
    double *A = numbers(SIZE * SIZE);
    made.problem = known(ss_problem_create(SIZE, CONTACTS, -1, &err), &err);
    for (int k = 0; k < CONTACTS; k++) {
        made.problem->blocks[k] = ss_planted_block(SS_LAW_CONE, 3 * k, 3);
        made.problem->blocks[k].mu = 0.5;
        made.problem->b[3 * k] = k % 2 ? 5.0 : -1.0;
        made.problem->b[3 * k + 1] = 0.8; // slides
    }
    for (int i = 0; i < SIZE; i++) A[SIZE * i + i] = 2.0;
    A[SIZE * 3 * other] = A[3 * other] = by;
    made.problem->A = sparse_of_dense(SIZE, A);
    ss_problem_matrix_changed(made.problem);
    free(A);
    return made;
}

TEST(contacts_that_hold_alone_take_one_sweep_and_others_do_not)
{
    expect(separate_contacts(1, -0.4), SS_CONVERGED, (const char *const[]){"one sweep: converged", NULL});
    expect(separate_contacts(2, -0.4), SS_CONVERGED, (const char *const[]){"nncg: solved", NULL});
    // held by the first one after all, when the sweep has gone by
    known_problem late = separate_contacts(1, -0.4);
    late.problem->b[0] = 5.0, late.problem->b[3] = -40.0;
    expect(late, SS_CONVERGED, (const char *const[]){"nncg: solved", NULL});
}

/* The same problem as a file of FCLIB holds it: its matrix, and no word about bodies. */
static known_problem without_bodies(known_problem of)
{
    ss_error err;
    known_problem alone = {.name = of.name, .stop = usual_stop};
    ss_problem *from = of.problem;
    if (!ss_problem_need_matrix(from, &err)) KIT_FAIL("%s", err.message);
    alone.problem = known(ss_problem_create(from->size, from->block_count, -1, &err), &err);
    memcpy(alone.problem->blocks, from->blocks, (size_t)from->block_count * sizeof *from->blocks);
    memcpy(alone.problem->b, from->b, (size_t)from->size * sizeof *from->b);
    alone.problem->A = from->A;
    from->A = NULL;
    ss_problem_matrix_changed(alone.problem);
    known_problem_free(&of);
    return alone;
}

/* Solved by the method that comes first. */
static void expect_at_once(known_problem of, const char *what, const char *solver)
{
    told got = solve(of.problem, 20000);
    ENSURE(got.status == SS_CONVERGED);
    check_notes(&got, (const char *const[]){what, "iterations of ", solver, ": solved", NULL});
    if (strstr(got.notes, "->")) KIT_FAIL("%s\n%s", of.name, got.notes);
    told_free(&got);
    known_problem_free(&of);
}

/* A structure is seen in its matrix: contacts of one face meet the same others, and faces meet each other. */
TEST(a_structure_without_bodies_is_split_from_the_start)
{
    expect_at_once(without_bodies(tower("cone", 12, 4)), "48 contacts, a matrix", "admm");
}

TEST(pucks_without_bodies_are_no_structure)
{
    expect_at_once(without_bodies(of_scene("isotropy", 5)), "a matrix", "projected-fixed-point");
}

TEST(a_machine_without_bodies_is_split_from_the_start)
{
    expect_at_once(without_bodies(of_scene("walker", 67)), "a matrix; laws: free, cone", "admm");
}

TEST(a_pile_without_bodies_is_swept_with_inertia)
{
    expect_at_once(without_bodies(of_scene("spheres-on-cube", 150)), "a matrix", "projected-fixed-point");
}

TEST(nothing_to_do_is_seen_before_anything_is_set_up)
{
    known_problem of = problem_named("one row"), none = problem_named("no unknowns");
    of.problem->b[0] = 1.0; // parts by itself
    told open = solve(of.problem, 100), empty = solve(none.problem, 100);
    ENSURE(open.status == SS_CONVERGED && open.iterations == 1);
    ENSURE(empty.status == SS_CONVERGED);
    check_notes(&open, (const char *const[]){"a single contact or row: converged", NULL});
    told_free(&open);
    told_free(&empty);
    known_problem_free(&of);
    known_problem_free(&none);
}

/* ---- planar contacts -------------------------------------------------------------------------------- */

/* Random planar problems: what is solved exactly is right to rounding, however coarse the rule. */
TEST(planar_mechanisms_are_solved_by_the_states_of_their_contacts)
{
    ss_run_options coarse = {
        .max_iterations = 20000, .stop = {.gauge = SS_GAUGE_NATURAL_MAP, .below = 1e-4}, .explain = true};
    int exact = 0;
    for (int contacts = 2; contacts <= 24; contacts++) {
        ss_cone_point point;
        ss_cone *cone = known_local((uint64_t)contacts, 2, contacts, 0, &point);
        for (int k = 0; k < contacts; k++) cone->mu[k] = fmax(cone->mu[k], 0.01);
        ss_problem *problem = known(ss_problem_from_cone(cone, NULL), NULL);
        told got = solve_with("auto", problem, &coarse);
        if (got.status != SS_CONVERGED) KIT_FAIL("%d contacts: %s", contacts, got.notes);
        bool is_exact = strstr(got.notes, "solved exactly") != NULL;
        if (is_exact && got.relative_energy > 1e-12) KIT_FAIL("%d contacts: not exact", contacts);
        exact += is_exact;
        told_free(&got);
        ss_problem_destroy(problem);
        ss_cone_point_free(&point);
        ss_cone_destroy(cone);
    }
    ENSURE(exact > 15); // most of 23; where states go round, or one sweep is good enough, sweeps do it
}

/* A plank on three supports in a line: their impulses are not unique, so that the states do not determine
 * them, and the answer must come from the sweeps. */
TEST(a_plank_on_three_supports_needs_no_unique_impulses)
{
    static const double at[3] = {-1.0, 0.0, 1.0}, inverse_inertia = 3.0;
    ss_cone *cone = known(ss_cone_create(SS_CONE_LOCAL, 2, 3, 0, 0, NULL), NULL);
    int rows[36], cols[36], count = 0;
    double values[36];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            bool normal = i % 2 == 0, same = i % 2 == j % 2; // tangents pass through the centre of mass
            rows[count] = i, cols[count] = j;
            values[count++] = !same ? 0.0 : normal ? 1.0 + inverse_inertia * at[i / 2] * at[j / 2] : 1.0;
        }
    }
    cone->W = known(ss_sparse_from_triplets(6, 6, count, rows, cols, values, NULL), NULL);
    for (int k = 0; k < 3; k++) {
        cone->mu[k] = 0.5;
        cone->q[2 * k] = -1.0 - 0.3 * at[k];
        cone->q[2 * k + 1] = 0.8; // more than friction can hold
    }
    ss_problem *problem = known(ss_problem_from_cone(cone, NULL), NULL);
    told got = solve(problem, 1000);
    if (got.status != SS_CONVERGED) KIT_FAIL("%s", got.notes);
    // All of the momentum is carried, and everything slides. The rule is 1e-8 of energy, a root.
    ENSURE(fabs(got.x[0] + got.x[2] + got.x[4] - 1.0) < 1e-7);
    ENSURE(fabs(got.x[1] + got.x[3] + got.x[5] + 0.5) < 1e-7);
    told_free(&got);
    ss_problem_destroy(problem);
    ss_cone_destroy(cone);
}

static ss_problem *planar_problem(int contacts, const double *A, const double *b, const double *mu)
{
    ss_error err;
    int size = 2 * contacts;
    ss_problem *problem = known(ss_problem_create(size, contacts, -1, &err), &err);
    for (int k = 0; k < contacts; k++) {
        problem->blocks[k] = ss_planted_block(SS_LAW_CONE, 2 * k, 2);
        problem->blocks[k].mu = mu[k];
    }
    memcpy(problem->b, b, (size_t)size * sizeof *b);
    problem->A = sparse_of_dense(size, A);
    ss_problem_matrix_changed(problem);
    return problem;
}

/* Slender rods and high friction: sweeps, Newton steps and the way inside all end elsewhere, or on a ray, and
 * only one combination of the contacts' states obeys the laws. */
TEST(a_few_planar_contacts_are_solved_whenever_some_of_their_states_do)
{
    static const double wedged[] = {4, 2, 2, 4, 2, 1, 1, 2, 2, 1, 1, 2, 4, 2, 2, 4}, load[] = {-2, -3, -1, 0};
    static const double indefinite[] = {1,  2,  -1, 1,  0, 1,  0,  1,  2, 3, -2, 1,  2,  2, -2, 0,
                                        -1, -2, 2,  -1, 2, -2, -1, -2, 1, 1, -1, 2,  -2, 1, -1, -1,
                                        0,  2,  2,  -2, 3, 1,  2,  0,  1, 2, -2, 1,  1,  1, -1, 2,
                                        0,  -2, -1, -1, 2, -1, 3,  -2, 1, 0, -2, -1, 0,  2, -2, 1};
    ss_problem *problems[] = {
        planar_problem(2, wedged, load, (const double[]){0.1, 1000.0}),
        planar_problem(4, indefinite, (const double[]){0, 0, -3, -2, -1, 1, 0, -2},
                       (const double[]){0.0, 10.0, 0.5, 5.0}),
    };
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        told got = solve(problems[k], 20000);
        if (got.status != SS_CONVERGED) KIT_FAIL("%s\n%s", ss_status_name(got.status), got.notes);
        check_notes(&got, (const char *const[]){"-> enumerate", "enumerate: solved", NULL});
        told_free(&got);
        ss_problem_destroy(problems[k]);
    }
}

/* Sweeps double the impulses of this matrix, which no mechanical system has, until its loads are lost in the
 * rounding of A x + b: what is left of the error then is nothing, and nothing is solved. */
TEST(impulses_in_which_the_load_is_lost_are_not_a_solution)
{
    static const double A[] = {1, 1,  -2, 2, -1, 2, 1,  2, -2, -1, 0, -2, -2, -2, 3, 2, 0,  0,
                               2, -1, 2,  3, 2,  2, -1, 0, 0,  2,  2, -2, 2,  -2, 0, 2, -2, 1};
    ss_problem *problem =
        planar_problem(3, A, (const double[]){-1, 0, -2, 1, 0, -1}, (const double[]){1000.0, 100.0, 1.0});
    told got = solve(problem, 20000);
    double gauge[SS_GAUGE_COUNT], lost[6] = {[4] = 0x1p60, [5] = 0x1p60};
    ENSURE(ss_problem_measure(problem, got.x, gauge, NULL));
    if (got.status == SS_CONVERGED) KIT_FAIL("solved by impulses of %.2g\n%s", got.x[4], got.notes);
    // the last contact slides, and the others part as they are shaken: -2 m/s of approach disappear in 2^62
    ENSURE(ss_problem_measure(problem, lost, gauge, NULL));
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        if (!isinf(gauge[g])) KIT_FAIL("%s is %g", ss_gauge_name((ss_gauge)g), gauge[g]);
    }
    told_free(&got);
    ss_problem_destroy(problem);

    // Normal and tangent share one row of a body: a wedge, in which -0.18 m/s disappear in 1e15.
    static const double wedge[] = {3.819406667422229e-08, 4.6422237909897475e-05, 4.6422237909897475e-05,
                                   0.056423009127163151};
    static const double squeeze[] = {2869075037696934.0, -2360542020752.8921};
    problem = planar_problem(1, wedge, (const double[]){-0.18207853501399812, 0.67765623654411056},
                             (const double[]){100.0});
    ss_run_options run = {.max_iterations = 20000, .stop = stop_rule("natural_map<1e-8"), .explain = true};
    got = solve_with("auto", problem, &run);
    if (got.status == SS_CONVERGED) KIT_FAIL("solved by impulses of %.2g\n%s", got.x[0], got.notes);
    ENSURE(ss_problem_measure(problem, squeeze, gauge, NULL));
    ENSURE(gauge[SS_GAUGE_RELATIVE_ENERGY] > 1.0 && isfinite(gauge[SS_GAUGE_RELATIVE_ENERGY]));
    ENSURE(isinf(gauge[SS_GAUGE_NATURAL_MAP]));
    told_free(&got);
    ss_problem_destroy(problem);
}

/* ---- how it ends ------------------------------------------------------------------------------------ */

TEST(what_has_no_solution_is_called_a_ray_and_not_solved)
{
    known_problem of = problem_named("contradicting equations");
    told got = solve(of.problem, 20000);
    if (got.status == SS_CONVERGED) KIT_FAIL("solved what has no solution\n%s", got.notes);
    told_free(&got);
    known_problem_free(&of);
    of = problem_named("contradiction");
    got = solve(of.problem, 20000);
    if (got.status != SS_RAY) KIT_FAIL("%s\n%s", ss_status_name(got.status), got.notes);
    told_free(&got);
    known_problem_free(&of);
}

/* The limit holds over all stages together, wherever it falls. The iterate at the limit is measured in any
 * case, those on the way when they may be good enough: so one just before the end may hold already. */
TEST(the_limit_of_iterations_holds_over_all_stages)
{
    known_problem of = tower("cone", 20, 4);
    told whole = solve(of.problem, 20000);
    for (int limit = 1; limit <= whole.iterations; limit++) {
        told part = solve(of.problem, limit);
        bool near = limit >= whole.iterations - 2, held = near && part.status == SS_CONVERGED;
        if (part.iterations > limit || (part.status != SS_MAX_ITERATIONS && !held))
            KIT_FAIL("limit %d: %s after %d", limit, ss_status_name(part.status), part.iterations);
        if (!held) check_notes(&part, (const char *const[]){"max iterations", NULL});
        told_free(&part);
    }
    told_free(&whole);
    known_problem_free(&of);
}

/* A stage that begins badly, as a cold one after good sweeps does, must not cost what was there. */
TEST(a_limit_amid_the_second_stage_leaves_the_best_of_the_first)
{
    known_problem of = tower("cone", 20, 4);
    told whole = solve(of.problem, 20000);
    int sweeps = 0;
    const char *line = strchr(whole.notes, '\n');
    ENSURE(line && sscanf(line, "%d iterations of batched-nncg", &sweeps) == 1 && sweeps < whole.iterations);
    told before = solve(of.problem, sweeps), after = solve(of.problem, sweeps + 1);
    if (!(after.relative_energy <= before.relative_energy * (1.0 + 1e-9)))
        KIT_FAIL("%g after %d, %g one later", before.relative_energy, sweeps, after.relative_energy);
    told_free(&whole);
    told_free(&before);
    told_free(&after);
    known_problem_free(&of);
}

TEST(a_run_is_repeated_to_the_bit_whether_it_is_explained_or_not)
{
    known_problem of = tower("cone", 20, 4);
    ss_run_options quiet = {.max_iterations = 20000, .stop = stop_rule(usual_stop)};
    told first = solve(of.problem, 20000), second = solve(of.problem, 20000);
    told silent = solve_with("auto", of.problem, &quiet);
    size_t bytes = (size_t)of.problem->size * sizeof *first.x;
    ENSURE(first.iterations == second.iterations && first.iterations == silent.iterations);
    ENSURE(memcmp(first.x, second.x, bytes) == 0 && memcmp(first.x, silent.x, bytes) == 0);
    ENSURE(strcmp(first.notes, second.notes) == 0);
    ENSURE(strcmp(silent.notes, "(none)") == 0);
    told_free(&first);
    told_free(&second);
    told_free(&silent);
    known_problem_free(&of);
}

TEST(who_decides_nothing_has_no_notes)
{
    known_problem of = tower("cone", 2, 4);
    ss_run_options run = {.max_iterations = 50, .explain = true};
    told got = solve_with("pgs", of.problem, &run);
    ENSURE(strcmp(got.notes, "(none)") == 0);
    told_free(&got);
    known_problem_free(&of);
}

/* Balls that touch others at random, near and far, as no heap can: every order of elimination fills their
 * matrix. A factorisation of it would take minutes, and gigabytes in larger ones. */
static ss_frame *tangled_balls(int balls, int contacts)
{
    ss_error err;
    ss_random random = ss_random_start(5, 0);
    ss_frame *frame = known(ss_frame_create(balls, 0, 0, contacts, &err), &err);
    frame->h = 0.01;
    for (int b = 0; b < balls; b++) set_ball(frame, b, 1.0, 0.4);
    for (int c = 0; c < contacts; c++) {
        int a = c % balls, b = (a + 1 + ss_random_below(&random, balls - 1)) % balls;
        frame->contacts.pair[c][0] = a;
        frame->contacts.pair[c][1] = b;
        random_unit(&random, 3, frame->contacts.normal[c]);
        frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.3;
        frame->contacts.gap[c] = -1e-3;
    }
    return frame;
}

TEST(what_would_take_minutes_to_factorise_is_left_to_the_sweeps)
{
    known_problem of = formulated("tangled balls", "cone", tangled_balls(4200, 10500));
    told got = solve(of.problem, 300);
    check_notes(&got, (const char *const[]){"31500 unknowns", "multiplications: sweeps alone", NULL});
    ENSURE(!strstr(got.notes, "-> interior-point") && !strstr(got.notes, "-> admm"));
    told_free(&got);
    known_problem_free(&of);
}

/* ---- islands ---------------------------------------------------------------------------------------- */

static known_problem many_towers(int count, int height, int feet)
{
    scene_recipe scene = {
        .seed = 9, .towers = count, .height = height, .feet = feet, .push = 0.2, .mu_least = 0.3};
    return formulated("towers", "cone", towers(&scene));
}

static int count_lines(const char *text)
{
    int lines = 1;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

TEST(large_islands_are_solved_one_by_one)
{
    expect(many_towers(3, 20, 4), SS_CONVERGED,
           (const char *const[]){"720 unknowns", "3 islands, the largest of 240 unknowns",
                                 "of them:", "the longest:", "solved", NULL});
}

/* Whatever the rule measures, the whole obeys it, measured again by the driver. */
TEST(shares_of_islands_add_up_to_the_rule)
{
    static const char *const rules[] = {"energy<1e-12", "relative_energy<1e-8", "natural_map<1e-8",
                                        "natural_residual<1e-6", "fischer_burmeister<1e-6"};
    known_problem of = many_towers(4, 20, 3);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        ss_run_options run = {.max_iterations = 20000, .stop = stop_rule(rules[i]), .explain = true};
        told got = solve_with("auto", of.problem, &run);
        if (got.status != SS_CONVERGED || !strstr(got.notes, "4 islands") || strstr(got.notes, "once more"))
            KIT_FAIL("%s: %s\n%s", rules[i], ss_status_name(got.status), got.notes);
        told_free(&got);
    }
    known_problem_free(&of);
}

TEST(a_thousand_islands_are_explained_in_a_few_lines)
{
    known_problem of = many_towers(1000, 1, 3);
    told got = solve(of.problem, 20000);
    if (got.status != SS_CONVERGED || count_lines(got.notes) > 20)
        KIT_FAIL("%s, %d lines:\n%s", ss_status_name(got.status), count_lines(got.notes), got.notes);
    told_free(&got);
    known_problem_free(&of);
}

TEST(threads_do_not_change_a_bit_of_islands)
{
    known_problem of = many_towers(10, 20, 4);
    size_t bytes = (size_t)of.problem->size * sizeof(double);
    ss_run_options run = {.max_iterations = 20000, .stop = stop_rule(usual_stop)};
    told alone = solve_with("auto", of.problem, &run);
    for (int workers = 2; workers <= 5; workers++) {
        ss_team_fix_round_trip(0.0); // all that can be shared is
        ss_team *team = ss_team_create(workers, NULL);
        ss_solve_result result;
        double *x = numbers(of.problem->size);
        ENSURE(team);
        ENSURE(ss_solve(
            &(ss_solve_request){
                .solver = ss_solver_find("auto"), .problem = of.problem, .run = &run, .team = team},
            x, &result, NULL));
        ENSURE(result.status == SS_CONVERGED && result.iterations == alone.iterations);
        ENSURE(memcmp(x, alone.x, bytes) == 0);
        ss_solve_result_free(&result);
        ss_team_destroy(team);
        free(x);
    }
    told_free(&alone);
    known_problem_free(&of);
}

TEST(limits_hold_for_islands)
{
    known_problem of = many_towers(3, 20, 4);
    for (int limit = 1; limit < 40; limit += 3) {
        told part = solve(of.problem, limit);
        if (part.iterations > limit || (part.status != SS_MAX_ITERATIONS && part.status != SS_CONVERGED))
            KIT_FAIL("limit %d: %s after %d", limit, ss_status_name(part.status), part.iterations);
        told_free(&part);
    }
    volatile int cancel = 1;
    ss_solve_result result;
    double *x = numbers(of.problem->size);
    ENSURE(ss_solve(
        &(ss_solve_request){.solver = ss_solver_find("auto"), .problem = of.problem, .cancel = &cancel}, x,
        &result, NULL));
    ENSURE(result.status == SS_CANCELLED);
    ss_solve_result_free(&result);
    free(x);
    known_problem_free(&of);
}

/* The history of the whole is put together from those of the islands: a row for every iteration, the last one
 * that of the answer; and the best iterate is no worse than any of them. */
TEST(islands_have_one_history)
{
    known_problem of = many_towers(3, 20, 4);
    ss_run_options run = {.max_iterations = 20000,
                          .stop = stop_rule(usual_stop),
                          .keep = {SS_KEEP_BEST, SS_GAUGE_ENERGY},
                          .history = true};
    ss_solve_result result;
    double *x = numbers(of.problem->size), values[SS_GAUGE_COUNT];
    ENSURE(ss_solve(&(ss_solve_request){.solver = ss_solver_find("auto"), .problem = of.problem, .run = &run},
                    x, &result, NULL));
    ENSURE(result.status == SS_CONVERGED && result.history.count == result.iterations);
    ENSURE(ss_problem_measure(of.problem, x, values, NULL));
    double best = INFINITY;
    for (int i = 0; i < result.history.count; i++) {
        best = fmin(best, result.history.gauge[SS_GAUGE_ENERGY][i]);
        ENSURE(i == 0 || result.history.seconds[i] >= result.history.seconds[i - 1]);
    }
    ENSURE(values[SS_GAUGE_ENERGY] <= best * (1.0 + 1e-6) + 1e-30);
    double first = result.history.gauge[SS_GAUGE_RELATIVE_ENERGY][0];
    ENSURE(first > 1e-3 && first < 1e3);
    ss_solve_result_free(&result);
    free(x);
    known_problem_free(&of);
}

/* A contact between two things that do not move: it may be there, and changes nothing. */
TEST(contacts_of_nobody_do_not_disturb)
{
    known_problem of = many_towers(3, 4, 4);
    ss_problem *problem = of.problem;
    const ss_block *block = &problem->blocks[0];
    for (int i = block->first; i < block->first + block->size; i++) {
        problem->bodies->pair[i][0] = problem->bodies->pair[i][1] = -1;
        memset(problem->bodies->jacobian[i], 0, sizeof problem->bodies->jacobian[i]);
        problem->bodies->offset[i] = problem->b[i] = i == block->first ? 0.1 : 0.0;
        problem->diagonal[i] = 0.0;
    }
    ss_run_options run = {
        .max_iterations = 20000, .stop = {.gauge = SS_GAUGE_NATURAL_MAP, .below = 1e-8}, .explain = true};
    told got = solve_with("auto", problem, &run);
    if (got.status != SS_CONVERGED) KIT_FAIL("%s\n%s", ss_status_name(got.status), got.notes);
    told_free(&got);
    known_problem_free(&of);
}

TEST_MAIN
