#include "solver/auto/auto.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/front_tree.h"
#include "problem/laws.h"
#include "solver/auto/auto_learned.h"

extern const ss_solver ss_solver_admm, ss_solver_alart_curnier, ss_solver_block_pivot, ss_solver_batched_nncg,
    ss_solver_dantzig, ss_solver_enumerate, ss_solver_fischer_newton, ss_solver_interior_point,
    ss_solver_lemke, ss_solver_minmap_newton, ss_solver_nncg, ss_solver_projected_fixed_point,
    ss_solver_proximal_point;

/* ---- what is learned -------------------------------------------------------------------------------- */

/* Costs are from tools/learn (auto_learned.h; those without bodies and the needs from an earlier campaign),
 * patience was set by hand on times of whole runs; docs/solving.md says from which problems. */

/* An iteration in sweeps: factor * unknowns^power * (unknowns per body)^shape, and without bodies. A campaign
 * measures every sweep, which makes sweeps slower and all else look cheaper: `in_calls` is what iterations of
 * whole calls with bodies cost over that. */
typedef struct iteration_cost {
    double factor, power, shape, matrix_factor, matrix_power, in_calls;
} iteration_cost;

static const iteration_cost cost_of_admm = {SS_LEARNED_ADMM, 1.3, 0.30, 1.2},
                            cost_of_newton = {SS_LEARNED_NEWTON, 3.58, 0.39, 1.5},
                            cost_of_interior = {SS_LEARNED_INTERIOR, 3.57, 0.53, 1.75};

static const double patience_with[SS_AUTO_BOUNDS] = {
    [SS_AUTO_FEW] = 0.2,        [SS_AUTO_MATRIX] = 0.35, [SS_AUTO_JOINTS] = 0.1,
    [SS_AUTO_STRUCTURE] = 0.03, [SS_AUTO_LOOSE] = 0.35,
};
static const double patience_with_admm = 0.35;

/* Iterations that are usually enough, where the method converges. */
enum {
    SWEEPS_NEED = 200,
    ADMM_NEEDS = 19,
    ADMM_NEEDS_LOOSE = 60,
    NEWTON_NEEDS = 7,
    NEWTON_NEEDS_ROUGH = 20,
    NEWTON_NEEDS_MATRIX = 20, // what sweeps leave behind there are the piles that creep
    INTERIOR_NEEDS = 20,
    PIVOTS_NEED = 5
};

/* In multiples of what the interior point method usually costs: how long splitting is not left though its
 * error stays where it is, because joints and contacts disagree. */
enum { TURN_OF_SPLITTING = 2 };

static double per_iteration(const iteration_cost *of, const ss_auto_features *f)
{
    double n = fmax(f->unknowns, 1.0);
    if (!f->bodies) return of->matrix_factor * pow(n, of->matrix_power);
    return of->in_calls * of->factor * pow(n, of->power) * pow(n / f->bodies, of->shape);
}

/* ---- features --------------------------------------------------------------------------------------- */

/* Walls, arches, houses of cards; else most bodies stand on their own. A matrix does not say which bodies
 * there are; faces of dominoes and pucks act on few others. */
static bool is_joined(const ss_auto_features *f)
{
    static const double few = 2.5;
    if (!f->bodies) return f->faces == 1 || f->meets >= few;
    bool arched = f->faces > f->bodies && 2 * f->inner_faces >= f->bodies;
    return 2 * f->faces >= 3 * f->bodies || arched;
}

static bool is_structure(const ss_auto_features *f)
{
    enum { PER_FACE = 3 };
    return f->crowded || (is_joined(f) && f->contacts >= PER_FACE * f->faces);
}

/* Equations of joints and a few contacts, which splitting solves by one factorisation. */
static bool is_machine(const ss_auto_features *f)
{
    enum { ROWS_PER_CONTACT = 5 };
    return f->laws & SS_LAW_FREE && ROWS_PER_CONTACT * f->contacts <= f->unknowns;
}

/* One body on one face: contacts that are redundant, as in a structure, and none of different bodies to be
 * swept side by side. Not what is left of many islands that were: a rock whose contacts sweeps have not
 * settled is not settled by splitting. */
static bool lies_flat(const ss_auto_features *f)
{
    bool no_rows = !(f->laws & ~(unsigned)(SS_LAW_CONE | SS_LAW_CONVEX));
    return f->fresh && no_rows && f->bodies == 1 && f->faces == 1 && f->contacts >= 3;
}

/* Contacts of the same two bodies come one after the other, and meet the same others: their columns have
 * the same rows. */
static inline bool same_face(const ss_problem *problem, int k)
{
    int i = problem->blocks[k].first, last = problem->blocks[k - 1].first;
    if (problem->bodies) {
        const int *pair = problem->bodies->pair[i], *before = problem->bodies->pair[last];
        return pair[0] == before[0] && pair[1] == before[1];
    }
    if (!problem->A) return false;
    const int *start = problem->A->start, *row = problem->A->row;
    int entries = start[i + 1] - start[i];
    return entries == start[last + 1] - start[last] &&
           memcmp(row + start[i], row + start[last], (size_t)entries * sizeof *row) == 0;
}

/* Does the normal row leave the angular velocities of both bodies alone, compared with its first tangent? */
static bool is_round(const ss_problem *problem, const ss_block *block)
{
    static const double rounding = 1e-20; // of squares
    if (block->size < 2) return false;
    const double *normal = problem->bodies->jacobian[block->first];
    const double *tangent = problem->bodies->jacobian[block->first + 1];
    double turn = 0.0, scale = 0.0;
    for (int i = 3; i < 6; i++) {
        turn += normal[i] * normal[i] + normal[6 + i] * normal[6 + i];
        scale += tangent[i] * tangent[i] + tangent[6 + i] * tangent[6 + i];
    }
    return turn <= rounding * scale;
}

/* Two contacts of one face: do their normals turn each body about the same direction, compared with the
 * levers of a tangent? Those along a line of a cylinder do, whose normals meet its axis; those along an edge
 * also turn about the edge. */
static bool rolls(const ss_problem *problem, const ss_block *first, const ss_block *second)
{
    static const double slant = 1e-4;                      // the square of an angle
    if (first->size < 3 || second->size < 3) return false; // in a plane there is one direction only
    for (int side = 3; side < 12; side += 6) {
        const double *a = problem->bodies->jacobian[first->first] + side;
        const double *b = problem->bodies->jacobian[second->first] + side;
        const double *tangent = problem->bodies->jacobian[first->first + 1] + side;
        double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
        double lever = tangent[0] * tangent[0] + tangent[1] * tangent[1] + tangent[2] * tangent[2];
        if (x * x + y * y + z * z > slant * lever * lever) return false;
    }
    return true;
}

/* Of the contacts of a face after its first, do a third or more lie along lines of cylinders? */
static bool is_rolling(const ss_problem *problem)
{
    int doubles = 0, rolling = 0;
    for (int k = 1; problem->bodies && k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_law_is_cone(block->law) || !same_face(problem, k)) continue;
        doubles++;
        rolling += rolls(problem, block - 1, block);
    }
    return problem->bodies && 3 * rolling >= doubles;
}

/* Spheres touch in points, rocks and logs in one or two: little is redundant there, and in
 * space factors fill. */
static bool is_pile(const ss_problem *problem, const ss_auto_features *f)
{
    enum { LARGE = 300 };
    if (f->kind != SS_AUTO_LOOSE || f->contacts >= 3 * f->faces) return false;
    return f->contacts < 2 * f->faces || f->unknowns > LARGE || is_rolling(problem);
}

ss_auto_features ss_auto_look(const ss_problem *problem)
{
    enum { FEW = 48, PER_BODY = 5 };
    static const double per_entry = 0.7e-9, per_call = 0.3e-6; // s
    static const double slippery = 0.005, rough = 0.9;         // coefficients of friction
    const ss_bodies_form *form = problem->bodies && problem->bodies->bodies > 0 ? problem->bodies : NULL;
    ss_auto_features f = {.unknowns = problem->size,
                          .contacts = ss_problem_contacts(problem),
                          .bodies = form ? form->bodies : 0,
                          .laws = ss_problem_laws(problem)};
    f.round = f.planar = form;
    double least = INFINITY, most = 0.0; // coefficients of friction
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool is_new = k == 0 || !same_face(problem, k);
        f.faces += is_new;
        if (form && form->pair[block->first][0] >= 0 && form->pair[block->first][1] >= 0) {
            f.chained = true;
            f.inner_faces += is_new;
        }
        if (!ss_law_is_cone(block->law)) continue;
        if (block->mu < least) least = block->mu;
        if (block->mu > most) most = block->mu;
        f.round = f.round && is_round(problem, block);
        f.planar = f.planar && block->size == 2;
    }
    f.slippery = form && most <= slippery;
    f.rough = form && least >= rough;
    double entries = problem->bodies ? 12.0 * problem->size
                     : problem->A    ? (double)problem->A->start[problem->size]
                                     : 0.0;
    f.sweep = per_call + per_entry * entries;
    f.meets = entries * f.faces / ((double)problem->size * problem->size);

    f.crowded = f.bodies && f.contacts >= PER_BODY * f.bodies;
    f.smooth = f.bodies && 2 * f.contacts < 3 * f.faces;
    bool has_cones = f.laws & (SS_LAW_CONE | SS_LAW_CONVEX);
    f.kind = !has_cones                           ? SS_AUTO_BOUNDS
             : f.unknowns <= FEW                  ? SS_AUTO_FEW
             : (f.laws & SS_LAW_FREE && f.bodies) ? SS_AUTO_JOINTS
             : is_structure(&f)                   ? SS_AUTO_STRUCTURE
             : f.bodies                           ? SS_AUTO_LOOSE
                                                  : SS_AUTO_MATRIX;
    return f;
}

void ss_auto_look_at(const ss_problem *problem, const double *x, ss_auto_features *f)
{
    enum { SHARE = 20 };                   // one contact in this many
    static const double edge = 1.0 - 1e-6; // of the limit of friction
    int cones = 0, open = 0, slipping = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        const double *impulse = x + block->first;
        if (!ss_law_is_cone(block->law)) continue;
        double limit = edge * block->mu * impulse[0], square = 0.0;
        for (int i = 1; i < block->size && i < 3; i++) square += impulse[i] * impulse[i];
        cones++;
        open += !(impulse[0] > 0.0);
        slipping += impulse[0] > 0.0 && square >= limit * limit;
    }
    f->parting = SHARE * open > cones;
    f->slipping = slipping + open == cones;
}

double ss_auto_factor_work(const ss_problem *problem, ss_arena *arena)
{
    enum { WIDTH = 6 };
    if (!problem->bodies) return 0.0;
    ss_arena_mark mark = ss_arena_get_mark(arena);
    int rows = problem->size, members = 0;
    int *start = ss_arena_take_unset(arena, (size_t)rows + 1, sizeof *start, "bodies that meet");
    int *member = ss_arena_take_unset(arena, 2 * (size_t)rows, sizeof *member, "bodies that meet");
    ss_block_rows *pattern = NULL;
    if (start && member) {
        for (int i = 0; i < rows; i++) {
            const int *pair = problem->bodies->pair[i];
            start[i] = members;
            if (pair[0] >= 0) member[members++] = pair[0];
            if (pair[1] >= 0 && pair[1] != pair[0]) member[members++] = pair[1];
        }
        start[rows] = members;
        pattern = ss_block_rows_of_groups(problem->bodies->bodies, WIDTH, rows, start, member, arena);
    }

    double work = 0.0;
    ss_front_tree tree = {0};
    if (pattern && ss_front_tree_create(pattern, &tree, NULL)) {
        if (ss_front_tree_analyse(&tree, NULL))
            for (int k = 0; k < tree.front_count; k++) work += ss_front_work(&tree.fronts[k]);
        ss_front_tree_free(&tree);
    }
    ss_arena_reset(arena, mark);
    return work;
}

/* ---- the plan --------------------------------------------------------------------------------------- */

static bool add(const ss_problem *problem, ss_auto_plan *plan, ss_auto_choice choice)
{
    bool sweeps = choice.solver == &ss_solver_batched_nncg || choice.solver == &ss_solver_nncg;
    if (plan->without_factors && !sweeps) return false;
    if (plan->count == SS_AUTO_CHOICES) return false;
    bool is_known = false; // that it accepts the problem
    for (int i = 0; i < plan->count; i++) is_known |= plan->at[i].solver == choice.solver;
    if (!is_known && ss_solver_refusal(choice.solver, problem)) return false;
    plan->at[plan->count++] = choice;
    return true;
}

enum { SPHERES = 3 }; // contacts per body, or fewer

/* In packings errors stay where they are for long and then fall: however poor the outlook, a tenth of the
 * rival's cost is spent, and more than half of it where bodies touch in single points. */
static double gloom(const ss_auto_features *f)
{
    static const double of_smooth = 0.6, of_others = 3.5;
    if (f->kind != SS_AUTO_LOOSE) return INFINITY;
    return f->smooth ? of_smooth : of_others;
}

static ss_auto_choice sweeps(const ss_solver *solver, const ss_auto_features *f)
{
    static const double with_slippery = 0.1;
    static const double one_by_one = 2.0; // planar contacts do not fit into batches
    ss_auto_kind kind = f->kind;
    if (kind == SS_AUTO_BOUNDS) kind = is_structure(f) ? SS_AUTO_STRUCTURE : SS_AUTO_LOOSE; // as cones
    double patience = patience_with[kind];
    if (f->slippery && f->kind != SS_AUTO_BOUNDS) patience = with_slippery;
    return (ss_auto_choice){.solver = solver,
                            .watch = SS_WATCH_RATE,
                            .patience = patience,
                            .gloom = gloom(f),
                            .budget = INT_MAX,
                            .per_iteration = f->planar ? one_by_one : 1.0,
                            .cost = SWEEPS_NEED};
}

/* A contact that slides is projected in half the time that its solution takes, and over-relaxed that needs
 * fewer sweeps where bodies touch in single points. Spheres lose nothing: their normals and tangents do not
 * act on each other. Others need more in the long run: after LONG_RUN sweeps they are solved. */
static ss_auto_choice projected_sweeps(const ss_auto_features *f)
{
    enum { LONG_RUN = 150 };
    ss_auto_choice choice = sweeps(&ss_solver_batched_nncg, f);
    choice.settings[0][0] = "contact", choice.settings[0][1] = "projected";
    if (!f->rough) choice.settings[1][0] = "omega", choice.settings[1][1] = "1.2";
    choice.per_iteration = 0.65;
    if (!f->round) choice.budget = LONG_RUN;
    return choice;
}

static ss_auto_choice splitting(const ss_auto_features *f)
{
    // The fitted power is that of problems up to some thousand unknowns, and too steep beyond: factors of the
    // bodies' matrix fill with the number of bodies, and agree with the fit where there is one.
    double per = per_iteration(&cost_of_admm, f);
    double filled = 6.0 + 24.0 * f->bodies * cbrt(f->bodies) / fmax(f->unknowns, 1.0);
    if (f->bodies) per = fmin(per, cost_of_admm.in_calls * filled);
    int needs = f->kind == SS_AUTO_LOOSE && !is_joined(f) ? ADMM_NEEDS_LOOSE : ADMM_NEEDS;
    // Where there are no joints it takes up to 40 iterations, the last five for half of the digits, or
    // hundreds: the rate of the first 20 does not tell which. They have to do on a matrix: dominoes and box
    // stacks lose more by waiting there than arches by leaving.
    int least = f->bodies && !(f->laws & SS_LAW_FREE) ? 30 : 20;
    ss_auto_choice choice = {.solver = &ss_solver_admm,
                             .watch = SS_WATCH_RATE,
                             .patience = patience_with_admm,
                             .gloom = gloom(f),
                             .budget = 400,
                             .least = least,
                             .per_iteration = per,
                             .cost = needs * per,
                             .from_start = true};
    // Where joints and contacts disagree it needs a few hundred iterations, and the interior point method a
    // few times as many steps as usual. A longer memory saves a quarter of the iterations, each of which
    // takes 7 % longer.
    if (f->laws & SS_LAW_FREE) {
        choice.settings[0][0] = "mixing", choice.settings[0][1] = "10";
        choice.turn = TURN_OF_SPLITTING * INTERIOR_NEEDS * per_iteration(&cost_of_interior, f);
    }
    return choice;
}

static ss_auto_choice newton(const ss_solver *solver, ss_auto_watch watch, const ss_auto_features *f)
{
    double per = per_iteration(&cost_of_newton, f), needs = NEWTON_NEEDS;
    if (f->rough && f->round) needs = NEWTON_NEEDS_ROUGH;
    if (f->kind == SS_AUTO_MATRIX) needs = NEWTON_NEEDS_MATRIX;
    return (ss_auto_choice){.solver = solver,
                            .watch = watch,
                            .settings = {{"sweeps", "0"}}, // of its own: it goes on from where others ended
                            .budget = watch == SS_WATCH_STEPS ? 30 : INT_MAX,
                            .fall = 4.0,
                            .per_iteration = per,
                            .cost = needs * per,
                            .is_judge = true};
}

static ss_auto_choice proximal(const ss_auto_features *f)
{
    ss_auto_choice choice = newton(&ss_solver_proximal_point, SS_WATCH_NOTHING, f);
    choice.budget = f->laws & SS_LAW_FREE ? 100 : 60;
    return choice;
}

static ss_auto_choice interior(const ss_auto_features *f)
{
    double per = per_iteration(&cost_of_interior, f);
    return (ss_auto_choice){.solver = &ss_solver_interior_point,
                            .watch = SS_WATCH_NOTHING,
                            .budget = 200,
                            .per_iteration = per,
                            .cost = INTERIOR_NEEDS * per,
                            .is_judge = true};
}

/* Exchanges factorise as Newton steps do. */
static ss_auto_choice pivots(const ss_solver *solver, const ss_auto_features *f)
{
    double per = per_iteration(&cost_of_newton, f);
    return (ss_auto_choice){.solver = solver,
                            .watch = SS_WATCH_NOTHING,
                            .budget = INT_MAX,
                            .per_iteration = per,
                            .cost = PIVOTS_NEED * per};
}

/* Unknowns: that few are exchanged one by one in no time; contacts of fewer are not worth projecting. */
enum { VERY_FEW = 150, FEW_PROJECTED = 300 };

/* What is tried before anything is planned. */
void ss_auto_plan_first(const ss_problem *problem, const ss_auto_features *f, ss_auto_plan *plan)
{
    enum { ROWS_PER_BODY = 5 };
    // Joints alone are equations: nothing solves them faster than a factorisation, unless they have nothing
    // to do with each other and need one or two sweeps. Nor the normals of a stack, when they are few: a
    // handful of exchanges does. Exchanges factorise the matrix of all rows, splitting that of the bodies, in
    // which the five rows of a hinge cost no more than the three of a ball joint.
    bool equations = f->laws & SS_LAW_FREE && !(f->laws & ~(unsigned)(SS_LAW_FREE | SS_LAW_BOX));
    bool few_normals =
        f->laws == SS_LAW_BOX && f->unknowns <= VERY_FEW && problem->symmetric && is_structure(f);
    bool joints_alone = equations && f->contacts == 0;
    if (joints_alone && !f->chained && add(problem, plan, sweeps(&ss_solver_batched_nncg, f)))
        plan->at[0].budget = 3;
    if (joints_alone && f->bodies && ROWS_PER_BODY * f->bodies <= f->unknowns &&
        add(problem, plan, splitting(f)))
        plan->at[plan->count - 1].budget = 12;
    if ((joints_alone || few_normals) && add(problem, plan, pivots(&ss_solver_block_pivot, f))) {
        plan->at[plan->count - 1].budget = 12; // where rows repeat each other it may go back and forth
        return;
    }

    // Loads pass through structures and machines at once when they are split; most need no more than ten or
    // twenty iterations, sweeps hundreds. Nor is anything gained by sweeps where a single body lies flat; of
    // a matrix with a single face that cannot be said, it may be a mechanism.
    bool has_cones = f->laws & (SS_LAW_CONE | SS_LAW_CONVEX);
    bool structure = f->kind == SS_AUTO_STRUCTURE && (f->bodies || f->faces > 1);
    bool is_split = has_cones && !f->slippery && (structure || is_machine(f) || lies_flat(f));
    if (is_split) {
        ss_auto_choice split = splitting(f);
        // For arches sweeps are no rival, those would need many more than they usually do: what follows them.
        split.rival = f->kind == SS_AUTO_STRUCTURE && !f->crowded;
        is_split = add(problem, plan, split);
    }
    // Heaps of discs: all contacts at once, extrapolated, are there in some hundred iterations, in which
    // errors stay for a while again and again, or creep from the start.
    if (f->planar && !f->slippery && is_pile(problem, f)) {
        ss_auto_choice all_at_once = sweeps(&ss_solver_projected_fixed_point, f);
        all_at_once.budget = 800, all_at_once.patience *= 2.5, all_at_once.gloom = INFINITY;
        if (add(problem, plan, all_at_once)) return;
    }
    const ss_solver *by_one = &ss_solver_nncg, *in_batches = &ss_solver_batched_nncg;
    if (f->laws == SS_LAW_CONE && f->smooth && (f->round || f->unknowns > FEW_PROJECTED) && !f->planar &&
        !f->slippery && add(problem, plan, projected_sweeps(f)) && f->round)
        return;
    const ss_solver *sweeper = has_cones && f->planar ? by_one : in_batches;
    // On a matrix a sweep of projections takes three quarters of the time of one that solves the contacts,
    // and with inertia as many of them do, or a fraction where piles creep. Joints are a block, which sweeps
    // solve as a whole.
    bool many = f->kind == SS_AUTO_MATRIX || f->kind == SS_AUTO_STRUCTURE;
    if (many && !f->bodies && !(f->laws & SS_LAW_FREE)) sweeper = &ss_solver_projected_fixed_point;
    ss_auto_choice swept = sweeps(sweeper, f);
    // Machines that splitting has left are rarely swept to the end: no longer than what follows would take.
    if (is_split && is_machine(f)) swept.budget = (int)interior(f).cost;
    if (add(problem, plan, swept)) return;
    swept.solver = by_one;
    add(problem, plan, swept);
}

/* Linear complementarity: a few exchanges of many unknowns at once, or one by one where that has no proof. */
static void plan_boxes(const ss_problem *problem, const ss_auto_features *f, ss_auto_plan *plan)
{
    enum { FEW = 4000 };
    bool few = f->unknowns <= FEW;
    if (f->laws & SS_LAW_COUPLED) {
        if (f->bodies) add(problem, plan, splitting(f));
        add(problem, plan, newton(&ss_solver_minmap_newton, SS_WATCH_STEPS, f));
        if (f->unknowns <= VERY_FEW) add(problem, plan, pivots(&ss_solver_dantzig, f));
        return;
    }
    bool one_by_one = problem->symmetric ? f->unknowns <= VERY_FEW : few;
    ss_auto_choice blocks = pivots(&ss_solver_block_pivot, f);
    if (one_by_one) blocks.budget = 12; // a few exchanges do, or it goes back and forth
    if (problem->symmetric && f->bodies && is_structure(f) && !one_by_one) add(problem, plan, splitting(f));
    if (problem->symmetric) add(problem, plan, blocks);
    if (one_by_one) add(problem, plan, pivots(&ss_solver_lemke, f));
    add(problem, plan, newton(&ss_solver_minmap_newton, SS_WATCH_STEPS, f));
    add(problem, plan, interior(f));
    if (!one_by_one) add(problem, plan, pivots(&ss_solver_lemke, f));
}

/* Splitting and steps with a proximal term do well where impulses go round in rings, of bricks, cards or
 * joints; in piles and between joints the interior point method needs fewer steps. */
static void plan_cones(const ss_problem *problem, const ss_auto_features *f, ss_auto_plan *plan)
{
    enum { COUNTED = 8, FEW_BODIES = 12 };
    static const double end_in_heaps = 0.5; // share of heaps that a few Newton steps end
    bool pile = is_pile(problem, f);
    // Without friction it is a quadratic programme, which takes a few Newton steps and hundreds of splitting.
    if (f->slippery) add(problem, plan, newton(&ss_solver_alart_curnier, SS_WATCH_STEPS, f));
    bool few_with_joints = f->kind == SS_AUTO_FEW && f->laws & SS_LAW_FREE;
    bool was_split = plan->count && plan->at[0].solver == &ss_solver_admm;
    // Newton steps need states that are settled, which they are where all contacts slide, and not where
    // joints and contacts that stick disagree.
    if (few_with_joints && f->bodies && !was_split) {
        ss_auto_choice settled = proximal(f);
        settled.budget = 60, settled.from_start = true, settled.settings[0][0] = NULL;
        add(problem, plan, f->slipping ? settled : splitting(f));
    }
    if (f->kind == SS_AUTO_FEW && !few_with_joints)
        add(problem, plan, newton(&ss_solver_minmap_newton, SS_WATCH_STEPS, f));
    // States of two contacts in space, or four in the plane, are counted in less time than the others take
    // to find out that they get nowhere: wedges, and matrices that no mechanical system has.
    if (f->unknowns <= COUNTED) add(problem, plan, pivots(&ss_solver_enumerate, f));
    // What stands is split in a few dozen iterations, cards or towers; where contacts part it takes hundreds.
    bool stands = f->kind == SS_AUTO_LOOSE && !pile && !f->parting;
    if (!was_split && (f->kind == SS_AUTO_STRUCTURE || stands)) add(problem, plan, splitting(f));

    // Newton steps and the interior point method in turn, each with more the second time: where one needs
    // hundreds of steps the other often needs twenty, and which it is cannot be seen beforehand. Newton steps
    // go on from the best iterate of both, from which the second turn needs few where the first came close.
    // They come first, and with much friction, where everything locks and the path inside leads round many
    // corners, they are tried with and without a proximal term; but in crowds of redundant contacts and in
    // machines the interior point method needs fewer steps, and so it does in heaps, unless a few Newton
    // steps from where the sweeps are end it, which six of them show; they never do among logs. There, and
    // among discs, the way inside is shorter from the start. Crowds on a few bodies take as many of both, and
    // a Newton step costs less: they come first there, at most for what the interior point method costs.
    bool crowd_on_many = f->crowded && f->bodies > FEW_BODIES, heap = pile && !f->rough;
    bool ends_soon = heap && (f->smooth || !is_rolling(problem));
    bool inside_first = heap || crowd_on_many || is_machine(f);
    ss_auto_choice steps = proximal(f), inside = interior(f), again = proximal(f);
    inside.budget = inside_first ? 150 : 40;
    inside.from_start = heap && (f->planar || !ends_soon);
    again.budget = f->laws & SS_LAW_FREE ? 150 : 350;
    if (ends_soon) {
        steps.watch = SS_WATCH_STEPS, steps.budget = 30;
        steps.cost = end_in_heaps * inside.cost;
    }
    if (f->crowded) steps.budget = (int)(inside.cost / steps.per_iteration);
    bool rough_spheres = pile && f->rough && f->contacts <= SPHERES * f->bodies;
    if (rough_spheres) steps.budget = 35;
    if (!inside_first || ends_soon) add(problem, plan, steps);
    if (rough_spheres) {
        steps = newton(&ss_solver_alart_curnier, SS_WATCH_NOTHING, f);
        steps.budget = 100, steps.from_start = true, steps.settings[0][0] = NULL;
        add(problem, plan, steps);
    }
    add(problem, plan, inside);
    add(problem, plan, again);
    inside = interior(f), inside.from_start = true;
    add(problem, plan, inside);
}

void ss_auto_plan_others(const ss_problem *problem, const ss_auto_features *f, ss_auto_plan *plan)
{
    if (f->laws & (SS_LAW_CONE | SS_LAW_CONVEX))
        plan_cones(problem, f, plan);
    else
        plan_boxes(problem, f, plan);
    // What went on from the best iterate so far has come to nothing: from the start, with all its terms.
    ss_auto_choice last = newton(&ss_solver_proximal_point, SS_WATCH_NOTHING, f);
    last.from_start = true, last.settings[0][0] = NULL;
    add(problem, plan, last);
    add(problem, plan, newton(&ss_solver_fischer_newton, SS_WATCH_NOTHING, f));
    ss_auto_choice patient = splitting(f);
    patient.watch = SS_WATCH_NOTHING, patient.budget = INT_MAX;
    add(problem, plan, patient);
}

void ss_auto_plan_polish(const ss_problem *problem, const ss_auto_features *f, ss_auto_plan *plan)
{
    if (!f->bodies) return;                                 // Newton steps come next there anyway
    if (f->kind == SS_AUTO_STRUCTURE && f->crowded) return; // splitting leaves it where steps do not help
    ss_auto_choice steps = newton(&ss_solver_minmap_newton, SS_WATCH_STEPS, f);
    steps.budget = f->laws & SS_LAW_FREE ? 3 : 8; // where joints and contacts disagree more do not help
    add(problem, plan, steps);
}
