/* The choice among the other solvers, made anew for every problem.
 *
 * No method wins everywhere: sweeps are best on packings of spheres and on all that is small or loose, splitting (admm) on
 * structures at rest, Newton's methods on small problems with a matrix, the interior point method where contacts are
 * redundant and slide. So: begin with sweeps, fit the rate at which the error falls, and go on with them as long as the
 * rest is predicted to cost less than whoever comes next in the plan (auto_plan.h); then ask that one, from the best
 * iterate so far, under the same eyes; and so on. What comes out is the best iterate of all, with an honest status.
 *
 * Decisions depend on counts of iterations, on measured errors and on predicted numbers of operations, never on the
 * clock: a run is repeated to the bit on any machine. docs/solving.md tells from which problems the constants are.
 */
#include <stickslip/solver.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "solver/auto_plan.h"
#include "solver/stage.h"

enum { FIRST_LOOK = 5, LOOK_FOR_STEPS = 3, LOOKS = 64 };

typedef struct automatic {
    ss_run *run;
    ss_problem problem; // a copy of the struct: it may get a matrix
    ss_auto_features features;
    ss_auto_plan plan;
    bool is_planned; // beyond the sweeps
    double *x, *start, *best;
    double best_excess;
    bool ray; // some method saw impulses that grow for ever
} automatic;

/* Most problems are solved by the first sweeps: who comes then is asked only when that is needed. */
static const ss_auto_choice *choice_at(automatic *a, int index)
{
    if (index >= a->plan.count && !a->is_planned) {
        ss_auto_plan_others(&a->problem, &a->features, &a->plan);
        a->is_planned = true;
    }
    return index < a->plan.count ? &a->plan.at[index] : NULL;
}

/* ---- watching a stage ------------------------------------------------------------------------------- */

typedef struct watch {
    automatic *a;
    int index; // of the choice
    const ss_auto_choice *choice;
    int looks;
    int iteration[LOOKS];
    double log_excess[LOOKS]; // the least so far: errors of accelerated methods go up and down
    double rate;              // factor per iteration
    double left;              // iterations predicted; NAN while nothing is
    bool gave_up;
} watch;

/* The slope of the later half: at first errors fall faster than in the end. */
static void fit(watch *w)
{
    int last = w->looks - 1, from = 0;
    if (last == 0) return;
    while (from < last - 1 && 2 * w->iteration[from] < w->iteration[last]) from++;
    double slope = (w->log_excess[last] - w->log_excess[from]) / (w->iteration[last] - w->iteration[from]);
    w->rate = exp(slope);
    w->left = slope < 0.0 ? w->log_excess[last] / -slope : INFINITY;
}

/* Measured so seldom, at about every fourth of what is done already, that looking costs next to nothing. */
static int next_look(const watch *w, int iteration)
{
    if (w->choice->watch == SS_WATCH_STEPS) return iteration + LOOK_FOR_STEPS;
    return iteration + (iteration < 2 * FIRST_LOOK ? FIRST_LOOK
                        : iteration < 40           ? 2 * FIRST_LOOK
                                                   : iteration / 4);
}

static bool steps_pay(const watch *w)
{
    int last = w->looks - 1;
    return last < 2 || w->log_excess[last] < w->log_excess[last - 2] - log(w->choice->fall);
}

/* Predictions from a few iterations are poor: at first only what looks hopeless is given up, and nothing where errors
 * fall late, all at once. Who is close goes on. */
static bool rate_pays(watch *w, int iteration)
{
    static const double patience = 1.5, hopeless = 2.5, close = 10.0;
    int last = w->looks - 1, early = 20;
    fit(w);
    const ss_auto_choice *next = choice_at(w->a, w->index + 1);
    if (last == 0 || !next || iteration < w->choice->least) return true;
    double per = w->choice->per_iteration, rest = per * w->left, spent = per * iteration;
    bool lenient = iteration < early || w->log_excess[last] < log(close);
    double most = next->cost * (lenient ? hopeless : 1.0);
    return rest <= most && spent <= patience * next->cost;
}

static bool pays(watch *w, int iteration)
{
    return w->choice->watch == SS_WATCH_STEPS ? steps_pay(w) : rate_pays(w, iteration);
}

static int look(void *context, int iteration, double excess)
{
    watch *w = context;
    if (w->looks == LOOKS) { // far out the old ones are of no use
        memmove(w->iteration, w->iteration + LOOKS / 2, LOOKS / 2 * sizeof *w->iteration);
        memmove(w->log_excess, w->log_excess + LOOKS / 2, LOOKS / 2 * sizeof *w->log_excess);
        w->looks = LOOKS / 2;
    }
    w->iteration[w->looks] = iteration;
    w->log_excess[w->looks] = w->looks ? fmin(log(excess), w->log_excess[w->looks - 1]) : log(excess);
    w->looks++;
    w->gave_up = !pays(w, iteration);
    return w->gave_up ? 0 : next_look(w, iteration);
}

/* ---- notes ------------------------------------------------------------------------------------------ */

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void note_problem(const automatic *a)
{
    if (!ss_run_explains(a->run)) return;
    static const struct {
        ss_law law;
        const char *name;
    } laws[] = {{SS_LAW_FREE, "free"},
                {SS_LAW_BOX, "box"},
                {SS_LAW_COUPLED, "coupled"},
                {SS_LAW_CONE, "cone"},
                {SS_LAW_CONVEX, "convex"}};
    const ss_auto_features *f = &a->features;
    char names[64] = "", bodies[64] = "a matrix";
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        if (!(f->laws & laws[i].law)) continue;
        if (names[0]) strcat(names, ", ");
        strcat(names, laws[i].name);
    }
    if (f->bodies) snprintf(bodies, sizeof bodies, "%d bod%s", f->bodies, f->bodies == 1 ? "y" : "ies");
    ss_run_note(a->run, "%d unknown%s, %d contact%s, %s%s; laws: %s", f->unknowns, plural(f->unknowns),
                f->contacts, plural(f->contacts), bodies,
                a->problem.symmetric || f->bodies ? "" : ", not symmetric", names);
}

static void note_stage(automatic *a, const watch *w, const ss_stage_end *end)
{
    if (!ss_run_explains(a->run)) return;
    bool ends = end->excess < 1.0 || end->is_over;
    const ss_auto_choice *choice = w->choice, *next = ends ? NULL : choice_at(a, w->index + 1);
    const char *name = choice->solver->name, *then = next ? next->solver->name : "the best so far";
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
                    plural(end->iterations), name,
                    w->gave_up ? "not worth more" : ss_status_name(end->status), end->excess, rate, then);
}

/* ---- stages ----------------------------------------------------------------------------------------- */

static void keep_best(automatic *a, double excess)
{
    size_t bytes = (size_t)a->problem.size * sizeof *a->x;
    if (excess < a->best_excess) {
        a->best_excess = excess;
        memcpy(a->best, a->x, bytes);
    } else {
        memcpy(a->x, a->best, bytes);
    }
}

/* True: that was the end, *status says how. */
static bool run_choice(automatic *a, int index, ss_status *status)
{
    const ss_auto_choice *choice = choice_at(a, index);
    watch w = {.a = a, .index = index, .choice = choice, .left = NAN};
    if (choice->watch == SS_WATCH_STEPS &&
        isfinite(a->best_excess)) // steps are compared with where they began
        w.log_excess[w.looks++] = log(a->best_excess);
    ss_stage stage = {.solver = choice->solver,
                      .options = choice->options,
                      .budget = choice->budget,
                      .look = choice->watch == SS_WATCH_NOTHING ? NULL : look,
                      .context = &w,
                      .first_look = choice->watch == SS_WATCH_STEPS ? LOOK_FOR_STEPS : FIRST_LOOK};
    ss_stage_end end;
    if (choice->from_start) memcpy(a->x, a->start, (size_t)a->problem.size * sizeof *a->x);
    if (!ss_run_stage(a->run, &a->problem, &stage, a->x, &end)) return *status = SS_FAILED, true;
    note_stage(a, &w, &end);
    if (end.is_over && ss_run_status(a->run) == SS_CONVERGED) return *status = SS_CONVERGED, true;
    keep_best(a, end.excess);
    if (end.is_over) return *status = ss_run_status(a->run), true;
    a->ray |= end.status == SS_RAY;
    *status = a->best_excess < 1.0 ? SS_CONVERGED : end.status == SS_RAY ? SS_RAY : SS_STALLED;
    return a->best_excess < 1.0 || (choice->is_judge && end.status == SS_RAY);
}

/* ---- before all stages ------------------------------------------------------------------------------ */

static bool is_zero(const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (x[i] != 0.0) return false;
    }
    return true;
}

/* A start at the solution, or contacts that all part by themselves: then nothing has to be set up. */
static bool start_may_do(const ss_problem *problem, const double *x)
{
    if (!is_zero(x, problem->size)) return true;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; i < block->first + block->size; i++) {
            bool is_normal = ss_block_is_cone(block) ? i == block->first : problem->partner[i] < 0;
            if (is_normal && (problem->b[i] < 0.0 || block->law == SS_LAW_FREE)) return false;
        }
    }
    return true;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    if (problem->size == 0) return ss_run_iteration(run, x, NULL) ? SS_CONVERGED : ss_run_status(run);
    size_t n = (size_t)problem->size;
    automatic a = {
        .run = run, .problem = *problem, .features = ss_auto_look(problem), .x = x, .best_excess = INFINITY};
    ss_status status = SS_STALLED;
    a.start = ss_arena_take_unset(run->arena, 2 * n, sizeof *a.start, "start and best x");
    if (!a.start) return SS_FAILED;
    a.best = a.start + n;
    memcpy(a.start, x, n * sizeof *x);
    memcpy(a.best, x, n * sizeof *x);
    note_problem(&a);
    if (start_may_do(problem, x)) {
        if (!ss_run_iteration(run, x, NULL)) {
            ss_run_note(run, "the start: %s", ss_status_name(ss_run_status(run)));
            return ss_run_status(run);
        }
    }
    ss_auto_plan_sweeps(problem, &a.plan);
    bool done = false;
    for (int i = 0; !done && choice_at(&a, i); i++) done = run_choice(&a, i, &status);
    if (a.problem.A != problem->A) ss_sparse_destroy(a.problem.A);
    if (!done && a.ray) status = SS_RAY;
    return status;
}

const ss_solver ss_solver_auto = {
    .abi = SS_ABI,
    .name = "auto",
    .summary = "sweeps first, then whoever is predicted to be the cheapest: takes everything, and tells why",
    .reference = "Rice, The algorithm selection problem 1976",
    .weakness = "as slow as the methods it tries before the right one",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS,
    .solve = solve,
};
