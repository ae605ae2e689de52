/* The choice among the other solvers, made again for every problem.
 *
 * No method wins everywhere: sweeps are best on packings of spheres and on all that is small or loose,
 * splitting (admm) on structures at rest, Newton's methods on small problems with a matrix, the interior
 * point method where contacts are redundant and slide. So: begin with sweeps, fit the rate at which the error
 * falls, and go on with them as long as the rest is predicted to cost less than the method that comes
 * next in the plan (auto/auto.h); then run that one from the best iterate so far, watched the same way;
 * and so on. What comes out is the best iterate of all, with an honest status.
 *
 * Decisions depend on counts of iterations, on measured errors and on predicted numbers of operations, never
 * on the clock: a run is repeated to the bit on any machine. docs/solving.md says from which problems the
 * constants are.
 */
#include <stickslip/solver.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/vector.h"
#include "solver/auto/auto.h"
#include "solver/core/run_state.h"
#include "solver/core/nested_run.h"
#include "solver/core/watch.h"

/* Iterations: the first look costs nothing, because the run measures the third iterate anyway. */
enum { FIRST_LOOK = 3, FIRST_DECISION = 10, LOOK_FOR_STEPS = 3, LOOKS = 64 };
/* Islands up to SMALL unknowns are swept together, BUNDLE of them at a time: four contacts of different
 * bodies take as long as one, and that many stay in the cache. */
enum { SMALL = 200, BUNDLE = 6000 };

typedef struct automatic {
    ss_run *run;
    ss_problem *problem; // it may get a matrix
    ss_auto_trail *trail;
    ss_auto_features features;
    ss_auto_plan plan;
    bool is_planned; // beyond the sweeps
    bool is_polished;
    double *x, *start;
    const double *seen; // the iterate at the last look, while a stage is watched; NULL: that is x
    ss_best best;       // x, by its excess
    double nothing;     // excess of no impulses at all; 0: not measured yet
    bool ray;           // some method saw impulses that grow without bound
} automatic;

/* Most problems are solved by the first sweeps: what comes then is planned only when it is needed. */
static const ss_auto_choice *choice_at(automatic *a, int index)
{
    if (index >= a->plan.count && !a->is_planned) {
        ss_auto_look_at(a->problem, a->seen ? a->seen : a->x, &a->features);
        ss_auto_plan_others(a->problem, &a->features, &a->plan);
        a->is_planned = true;
    }
    return index < a->plan.count ? &a->plan.at[index] : NULL;
}

/* ---- watching a stage ------------------------------------------------------------------------------- */

typedef struct watch {
    automatic *a;
    int next; // in the plan, after this one
    const ss_auto_choice *choice;
    int looks;
    int iteration[LOOKS];
    double log_excess[LOOKS]; // the least so far: errors of accelerated methods go up and down
    double rate;              // factor per iteration
    double left;              // iterations predicted; NAN while nothing is
    bool gave_up;
} watch;

/* Are sweeps of one sort followed by those of another at this place of the plan? Both are planned at once. */
static bool sweeps_follow(const automatic *a, const ss_auto_choice *choice, int next)
{
    const ss_auto_choice *other = next < a->plan.count ? &a->plan.at[next] : NULL;
    return other && other->solver == choice->solver && choice->watch == SS_WATCH_RATE;
}

static double excess_of_nothing(automatic *a)
{
    if (a->nothing > 0.0) return a->nothing;
    ss_arena_mark mark = ss_arena_get_mark(a->run->arena);
    const double *zero = ss_arena_take(a->run->arena, (size_t)a->problem->size, sizeof *zero, "no impulses");
    a->nothing = zero ? ss_run_excess(a->run, zero) : NAN;
    ss_arena_reset(a->run->arena, mark);
    return a->nothing;
}

/* Is it worth to go on? */
static bool pays(watch *w, int iteration)
{
    static const double close = 100.0, leave_to_the_close = 3.0, little = 0.4;
    static const double disagreement = 1e-3; // of the error without impulses, at most
    int last = w->looks - 1, from = 0;
    if (w->choice->watch == SS_WATCH_STEPS)
        return last < 2 || w->log_excess[last] < w->log_excess[last - 2] - log(w->choice->fall);

    // The slope of the later half: at first errors fall faster than in the end.
    if (last > 0) {
        while (from < last - 1 && 2 * w->iteration[from] < w->iteration[last]) from++;
        double slope =
            (w->log_excess[last] - w->log_excess[from]) / (w->iteration[last] - w->iteration[from]);
        // On a plateau, which accelerated sweeps have, the slope since the first look has to do.
        if (!(slope < 0.0))
            slope = (w->log_excess[last] - w->log_excess[0]) / (w->iteration[last] - w->iteration[0]);
        w->rate = exp(slope);
        w->left = slope < 0.0 ? w->log_excess[last] / -slope : INFINITY;
    }

    // The less was spent the more hopeless it must look: predictions from a few iterations are poor, and
    // errors often fall late, all at once. What is close goes on for a while.
    if (last == 0 || iteration < w->choice->least) return true;
    const ss_auto_choice *rival = choice_at(w->a, w->next + w->choice->rival);
    if (!rival) return true;
    double per = w->choice->per_iteration / rival->cost, rest = per * w->left, spent = per * iteration;
    // A good outlook counts for less the more was spent: what creeps just above the goal seems to be nearly
    // there again and again.
    bool is_early = spent < 1.0, is_close = w->log_excess[last] < log(close);
    if (rest < little / fmax(spent, 1.0)) return true;
    // Wheels that stick where they stand, and axles that want them elsewhere: what joints and contacts
    // disagree by is left after a few iterations and stays until impulses have grown to the limits of
    // friction. No rate foresees when.
    bool has_turn = w->choice->per_iteration * iteration < w->choice->turn;
    if (has_turn && exp(w->log_excess[last]) < disagreement * excess_of_nothing(w->a)) return true;
    double patience = w->choice->patience * (is_early && is_close ? leave_to_the_close : 1.0);
    return fmin(rest, w->choice->gloom) * spent <= patience;
}

static int look(void *context, int iteration, const double *x, double excess)
{
    watch *w = context;
    w->a->seen = x;
    if (w->looks == LOOKS) { // far out the old ones are of no use
        memmove(w->iteration, w->iteration + LOOKS / 2, LOOKS / 2 * sizeof *w->iteration);
        memmove(w->log_excess, w->log_excess + LOOKS / 2, LOOKS / 2 * sizeof *w->log_excess);
        w->looks = LOOKS / 2;
    }
    w->iteration[w->looks] = iteration;
    w->log_excess[w->looks] = w->looks ? fmin(log(excess), w->log_excess[w->looks - 1]) : log(excess);
    w->looks++;
    w->gave_up = !pays(w, iteration);
    if (w->gave_up) return 0;

    // Measured so seldom, at about every fourth of what is done already, that looking costs next to nothing.
    if (w->choice->watch == SS_WATCH_STEPS) return iteration + LOOK_FOR_STEPS;
    const ss_auto_features *f = &w->a->features;
    if (iteration == FIRST_LOOK && f->kind == SS_AUTO_STRUCTURE && f->bodies) return 2 * FIRST_LOOK;
    if (iteration < FIRST_DECISION) return FIRST_DECISION;
    // Sweeps over spheres are so short that a look costs two or three.
    if (f->smooth) return iteration + (iteration < 40 ? iteration : iteration / 2);
    return iteration + (iteration < 40 ? 10 : iteration / 4);
}

/* ---- notes ------------------------------------------------------------------------------------------ */

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void note_problem(const ss_problem *problem, ss_run *run)
{
    if (!ss_run_explains(run)) return;
    ss_auto_features f = ss_auto_look(problem);
    char names[64] = "", bodies[64] = "a matrix";
    for (unsigned law = 1; ss_law_name((ss_law)law); law *= 2) {
        if (!(f.laws & law)) continue;
        if (names[0]) strcat(names, ", ");
        strcat(names, ss_law_name((ss_law)law));
    }
    if (f.bodies) snprintf(bodies, sizeof bodies, "%d bod%s", f.bodies, f.bodies == 1 ? "y" : "ies");
    ss_run_note(run, "%d unknown%s, %d contact%s, %s%s; laws: %s", f.unknowns, plural(f.unknowns), f.contacts,
                plural(f.contacts), bodies, problem->symmetric || f.bodies ? "" : ", not symmetric", names);
}

/* So close that a few Newton steps are worth a try, in multiples of the goal. */
static const double close_to_goal = 100.0;

static void note_stage(automatic *a, const watch *w, const ss_nested_run_end *end)
{
    if (!ss_run_explains(a->run)) return;
    bool ends = end->excess < 1.0 || end->is_over;
    bool is_close = !a->is_polished && fmin(a->best.error, end->excess) < close_to_goal;
    const ss_auto_choice *choice = w->choice;
    bool resweeps = !ends && sweeps_follow(a, choice, w->next);
    const ss_auto_choice *next = ends ? NULL : choice_at(a, w->next);
    bool projects = choice->settings[0][0] && strcmp(choice->settings[0][0], "contact") == 0;
    char name[64];
    snprintf(name, sizeof name, "%s%s", choice->solver->name, projects ? " (projected)" : "");
    const char *then = resweeps   ? "the same, contacts solved exactly"
                       : is_close ? "Newton steps, if cheaper than the next method"
                       : next     ? next->solver->name
                                  : "the best so far";
    // a method that claims to have converged, and has not, went as far as it could
    const char *ending = w->gave_up                    ? "not worth continuing"
                         : end->status == SS_CONVERGED ? "makes no progress"
                                                       : ss_status_name(end->status);
    char rate[120] = "";
    if (choice->watch == SS_WATCH_RATE && !isnan(w->left)) {
        int used = snprintf(rate, sizeof rate, "; error x %.3g per iteration", w->rate);
        double ms = 1e3 * a->features.sweep * choice->per_iteration * w->left;
        if (end->excess > 1.0 && isfinite(w->left))
            snprintf(rate + used, sizeof rate - (size_t)used, ", %.0f more needed (%.2g ms)", w->left, ms);
    }
    if (ends)
        ss_run_note(a->run, "%d iteration%s of %s: %s%s", end->iterations, plural(end->iterations), name,
                    end->excess < 1.0 ? "solved" : ss_status_name(ss_run_status(a->run)), rate);
    else
        ss_run_note(a->run, "%d iteration%s of %s: %s, error %.2g times the goal%s -> %s", end->iterations,
                    plural(end->iterations), name, ending, end->excess, rate, then);
}

/* ---- stages ----------------------------------------------------------------------------------------- */

static void keep_best(automatic *a, double excess)
{
    int n = a->problem->size;
    if (!ss_best_keep(&a->best, n, a->x, excess)) memcpy(a->x, a->best.x, (size_t)n * sizeof *a->x);
}

/* `next`: the place in the plan after it. True: that was the end, *status says how. */
static bool run_choice(automatic *a, const ss_auto_choice *choice, int next, ss_status *status)
{
    watch w = {.a = a, .next = next, .choice = choice, .left = NAN};
    // steps are compared with where they began
    if (choice->watch == SS_WATCH_STEPS && isfinite(a->best.error))
        w.log_excess[w.looks++] = log(a->best.error);
    void *options = NULL; // defaults; also when out of memory, which will show again
    const char *const(*set)[2] = choice->settings;
    if (set[0][0]) options = ss_run_default_options(choice->solver, a->run->arena, NULL);
    for (int i = 0; options && i < 2 && set[i][0]; i++)
        ss_options_set(choice->solver->options, options, set[i][0], set[i][1], NULL);
    ss_nested_run stage = {.solver = choice->solver,
                           .options = options,
                           .budget = choice->budget,
                           .look = choice->watch == SS_WATCH_NOTHING ? NULL : look,
                           .context = &w,
                           // what is not left so soon need not be looked at so soon
                           .first_look = choice->least ? FIRST_DECISION : FIRST_LOOK};
    ss_nested_run_end end;
    if (a->trail->count < SS_AUTO_CHOICES) a->trail->solver[a->trail->count++] = choice->solver;
    if (choice->from_start) memcpy(a->x, a->start, (size_t)a->problem->size * sizeof *a->x);
    bool good = ss_run_nested(a->run, a->problem, &stage, a->x, &end);
    a->seen = NULL;
    if (!good) return *status = SS_FAILED, true;
    if (!(end.excess < 1.0 || end.is_over)) choice_at(a, next); // planned from here, with notes or without
    note_stage(a, &w, &end);
    if (end.is_over && ss_run_status(a->run) == SS_CONVERGED) return *status = SS_CONVERGED, true;
    // at the deadline the last look has to do; the first stage has none before it to be compared with
    double latest = w.looks ? exp(w.log_excess[w.looks - 1]) : INFINITY;
    bool is_unknown = isnan(end.excess);
    if (!is_unknown || isfinite(a->best.error)) keep_best(a, is_unknown ? latest : end.excess);
    if (end.is_over) return *status = ss_run_status(a->run), true;
    a->ray |= end.status == SS_RAY;
    *status = a->best.error < 1.0 ? SS_CONVERGED : end.status == SS_RAY ? SS_RAY : SS_STALLED;
    return a->best.error < 1.0 || (choice->is_judge && end.status == SS_RAY);
}

/* ---- one problem ------------------------------------------------------------------------------------ */

/* Many small ones were swept together: those that are left over go their own way. */
static bool run_islands(automatic *a, ss_status *status)
{
    if (!a->problem->bodies || !ss_run_can_decompose(a->run)) return false;
    ss_arena_mark mark = ss_arena_get_mark(a->run->arena);
    ss_islands islands;
    ss_problem bodies = *a->problem;
    bodies.A = NULL; // what others made of the bodies
    bool split = ss_islands_split(&bodies, a->run->team, a->run->arena, &islands, NULL) && islands.problems;
    bool is_end = split && ss_auto_solve_islands(&islands, a->run, a->x, status);
    double excess = split ? ss_run_excess(a->run, a->x) : NAN;
    if (!isnan(excess)) keep_best(a, excess); // what began from the best is no worse, as a rule
    if (split) ss_islands_release(&islands);
    ss_arena_reset(a->run->arena, mark);
    return is_end;
}

/* Some come close and creep: contacts that hold each other disagree by a little. A few Newton steps from
 * there cost less than another beginning. */
static bool polish(automatic *a, int next, ss_status *status)
{
    ss_auto_plan steps = {.without_factors = a->plan.without_factors};
    if (a->is_polished || !(a->best.error < close_to_goal)) return false;
    a->is_polished = true;
    ss_auto_plan_polish(a->problem, &a->features, &steps);
    const ss_auto_choice *other = choice_at(a, next);
    for (int i = 0; i < steps.count; i++) {
        if (other && (steps.at[i].cost > other->cost || steps.at[i].solver == other->solver)) continue;
        if (run_choice(a, &steps.at[i], next, status)) return true;
    }
    return false;
}

/* Unknowns from which the work of a factorisation is found out, and the most multiplications in one that are
 * planned with: some 20 s at 5e9 in a second. */
enum { LARGE = 30000 };
static const double longest_work = 1e11;

ss_status ss_auto_solve_one(ss_problem *problem, ss_run *run, double *x, ss_auto_trail *trail)
{
    size_t n = (size_t)problem->size, bytes = n * sizeof *x;
    trail->count = 0;

    // What needs no method: a single contact or row, or a start that is the solution already.
    bool single = ss_auto_is_single(problem) && ss_auto_solve_single(problem, run->arena, x);
    trail->is_easy = (single || ss_auto_start_may_do(problem, x)) && !ss_run_iteration(run, x, NULL);
    if (trail->is_easy) {
        ss_run_note(run, "%s: %s", single ? "a single contact or row" : "the start",
                    ss_status_name(ss_run_status(run)));
        return ss_run_status(run);
    }
    automatic a = {.run = run, .problem = problem, .trail = trail, .x = x, .best.error = INFINITY};
    a.start = ss_arena_take_unset(run->arena, 2 * n, sizeof *a.start, "start and best x");
    if (!a.start) return SS_FAILED;
    a.best.x = a.start + n;
    memcpy(a.start, x, bytes);
    memcpy(a.best.x, x, bytes);

    // Planar contacts by sweeps of their own; of others one sweep, for what hardly touches.
    ss_status status = SS_STALLED;
    if (ss_auto_is_planar(problem)) {
        ss_arena_mark mark = ss_arena_get_mark(run->arena);
        ss_auto_planar_end end = ss_auto_solve_planar(problem, run, x, &status);
        ss_arena_reset(run->arena, mark);
        trail->is_easy = end.is_over;
        ss_run_note(run, "%d planar sweep%s%s: %s", end.sweeps, plural(end.sweeps),
                    end.is_exact ? " and the states of the contacts they found, solved exactly" : "",
                    end.is_over ? ss_status_name(status) : "creeping");
        if (end.is_over) return status;
    } else if (ss_auto_can_sweep(problem, x)) {
        if (!ss_auto_sweep(problem, run->arena, x)) {
            memcpy(x, a.start, bytes);
        } else if (!ss_run_iteration(run, x, NULL)) {
            trail->is_easy = true;
            ss_run_note(run, "one sweep: %s", ss_status_name(ss_run_status(run)));
            return ss_run_status(run);
        }
    }

    // One method after the other, by the plan.
    bool done = false;
    a.features = ss_auto_look(problem);
    a.features.fresh = ss_dot(problem->size, a.start, a.start) == 0.0;
    // In a large heap a factorisation may take more time and memory than there is: sweeps have to do.
    if (a.features.unknowns > LARGE) {
        double work = ss_auto_factor_work(problem, run->arena);
        a.plan.without_factors = work > longest_work;
        if (a.plan.without_factors)
            ss_run_note(run, "a factorisation would take %.1g multiplications: sweeps alone", work);
    }
    ss_auto_plan_first(problem, &a.features, &a.plan);
    for (int i = 0; !done && choice_at(&a, i); i++) {
        const ss_auto_choice *choice = choice_at(&a, i);
        done = run_choice(&a, choice, i + 1, &status);
        if (i == 0 && !done) done = run_islands(&a, &status);
        bool steps = choice->watch == SS_WATCH_STEPS || sweeps_follow(&a, choice, i + 1);
        if (!done && !steps) done = polish(&a, i + 1, &status);
    }
    return !done && a.ray ? SS_RAY : status;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    note_problem(problem, run);
    ss_status status;
    if (problem->bodies && problem->size > SMALL && ss_run_can_decompose(run)) {
        ss_islands islands;
        ss_problem bodies = *problem;
        bodies.A = NULL; // what others made of the bodies
        if (!ss_islands_split_large(&bodies, SMALL, BUNDLE, run->team, run->arena, &islands, NULL))
            return SS_FAILED;
        bool is_end = islands.problems && ss_auto_solve_islands(&islands, run, x, &status);
        ss_islands_release(&islands);
        if (is_end) return status;
    }

    // As a whole: a copy, which may get a matrix.
    ss_problem copy = *problem;
    ss_auto_trail trail = {0};
    status = ss_auto_solve_one(&copy, run, x, &trail);
    if (copy.A != problem->A) ss_sparse_destroy(copy.A);
    return status;
}

const ss_solver ss_solver_auto = {
    .abi = SS_ABI,
    .name = "auto",
    .summary = "tries sweeps first, then the method with the lowest predicted cost; accepts every problem "
               "and explains its choice",
    .reference = "Rice, The algorithm selection problem 1976",
    .weakness = "loses the time of the methods tried before the right one",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_WARM_STARTS | SS_SPINNING_CONES,
    .solve = solve,
};
