/* The loop around the sweeps of batches.h: when to look, when to stop, and conjugate
 * directions in between. */
#include "solver/sweep/batches.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/team.h"
#include "problem/laws.h"
#include "linalg/conjugate.h"

/* ---- acceleration ----------------------------------------------------------------------------------- */

static double overlap_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const ss_conjugate *cg = context;
    const ss_batched *batched = cg->context;
    const ss_conjugate_part *y = &cg->part[SS_BATCHED_VELOCITIES];
    return batched->kernel->overlap((size_t)(end - begin), y->at + begin, y->last + begin,
                                    y->direction + begin);
}

/* Found by the tasks of the sweep, or after it where there are cells, which are not part of any task. */
static double overlap(ss_conjugate *cg)
{
    const ss_batched *batched = cg->context;
    double sum = 0.0;
    if (!batched->conjugate) {
        int64_t size = (int64_t)cg->part[SS_BATCHED_VELOCITIES].size;
        return ss_parallel_sum(ss_team_for_loop(cg->team, size, 1), size, SS_CONJUGATE_GRAIN, overlap_range,
                               cg);
    }
    for (int t = 0; t < batched->plan.task_count; t++) sum += batched->plan.tasks[t].overlap;
    return sum;
}

/* The change of a sweep may grow by a fifth before the directions start again: rounding makes it grow in
 * single precision, and contacts that open and close do everywhere. In doubles only a few times: heaps of
 * logs and rocks would need half the sweeps without an end to it, but other problems would go round in
 * circles. */
static const double slack = 0.2;
enum { GROWTHS = 30 };

static ss_conjugate acceleration_of(ss_batched *batched, double *x)
{
    const ss_problem *problem = batched->problem;
    const ss_single_batches *single = batched->single;
    size_t bodies = (size_t)problem->bodies->bodies;
    if (single) {
        size_t impulses = 3 * SS_SINGLE_LANES / 2 * (size_t)single->count;
        size_t twists = (sizeof(ss_single_twist) / sizeof(float)) / 2 * bodies;
        return (ss_conjugate){.part = {[SS_BATCHED_IMPULSES] = {.size = impulses, .at = (double *)single->r},
                                       [SS_BATCHED_VELOCITIES] = {.size = twists, .at = (double *)single->y}},
                              .overlap = overlap,
                              .context = batched,
                              .extrapolate = batched->single_kernel->extrapolate,
                              .slack = slack,
                              .growths = INT_MAX};
    }
    size_t impulses = 3 * SS_LANES * (size_t)batched->batches.count;
    size_t twists = sizeof(ss_scaled_twist) / sizeof(double) * bodies;
    return (ss_conjugate){
        .part = {[SS_BATCHED_IMPULSES] = {.size = impulses, .at = (double *)batched->batches.r},
                 [SS_BATCHED_CELLS] = {.size = batched->cell_count ? (size_t)problem->size : 0, .at = x},
                 [SS_BATCHED_VELOCITIES] = {.size = twists, .at = (double *)batched->y}},
        .overlap = overlap,
        .context = batched,
        .extrapolate = batched->kernel->extrapolate,
        .slack = slack,
        .growths = GROWTHS};
}

/* ---- drifting --------------------------------------------------------------------------------------- */

/* How far the batches of a chunk let all go on, in changes of the last sweep. */
typedef struct way_search {
    const ss_batched *batched;
    const ss_conjugate_part *part;
    _Atomic double *way; // the shortest so far; the least of all is the same in any order
} way_search;

static const double least_way = 3.0;

/* What batch k changed, and its impulses. */
static void read_lane(const ss_conjugate_part *part, int k, int lane, double r[3], double d[3])
{
    for (int i = 0; i < 3; i++) {
        size_t at = (size_t)(3 * k + i) * SS_LANES + (size_t)lane;
        r[i] = part->at[at];
        d[i] = r[i] - part->last[at];
    }
}

static void find_way(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    static const double almost = 2e-9; // of a square
    const way_search *with = context;
    double way = *with->way;
    for (int k = (int)begin; k < end && way >= least_way; k++) {
        for (int lane = 0; lane < SS_LANES; lane++) {
            double r[3], d[3], mu = with->batched->batches.items[k].mu[lane];
            read_lane(with->part, k, lane, r, d);
            if (d[0] < 0.0) way = fmin(way, -r[0] / d[0]);
            double limit = mu * r[0], more = mu * d[0];
            double a = d[1] * d[1] + d[2] * d[2] - more * more;
            double b = r[1] * d[1] + r[2] * d[2] - limit * more;
            double c = r[1] * r[1] + r[2] * r[2] - limit * limit, root = b * b - a * c;
            bool sticks = c < -almost * limit * limit;
            double to_end = sticks && root > 0.0 ? b + sqrt(root) : 0.0;
            if (to_end > 0.0) way = ss_batched_shorter(way, -c, to_end);
        }
    }
    double before = *with->way;
    while (way < before && !atomic_compare_exchange_weak(with->way, &before, way)) continue;
}

/* Where contacts are redundant and what they require differs by a little (the two ends of a capsule that
 * lies on the floor, along its axis), sweeps move impulses from one to the other by the same amount every
 * time, which moves no body, until one of them begins to slide: hundreds of sweeps that are known beforehand.
 * Returns how many times the change of the last sweep to go on at once, 0: not at all. The way ends where the
 * first contact gets to the end of its cone, |t + s dt| = mu (n + s dn), a quadratic equation in s; where
 * changes get smaller by a factor q, at their sum, q / (1 - q); and where it is as long as the impulses are,
 * because joints that contradict each other have no cone to get to. */
static double way_ahead(const ss_batched *batched, const ss_conjugate *cg, double change)
{
    enum { AT_ONCE = 128, BATCH = 40 }; // batches; ns
    const ss_conjugate_part *part = &cg->part[SS_BATCHED_IMPULSES], *cells = &cg->part[SS_BATCHED_CELLS];
    const ss_problem *problem = batched->problem;
    double q = sqrt(change / cg->last_square);
    _Atomic double shortest = q < 1.0 ? q / (1.0 - q) : INFINITY;
    way_search with = {.batched = batched, .part = part, .way = &shortest};
    ss_parallel_for(ss_team_for_loop(cg->team, batched->batches.count, BATCH), batched->batches.count,
                    AT_ONCE, find_way, &with);
    double way = shortest, length = 0.0, step = 0.0;
    if (!(way >= least_way)) return 0.0;

    // The length of all impulses and of all changes.
    for (int k = 0; k < batched->batches.count; k++) {
        for (int lane = 0; lane < SS_LANES; lane++) {
            double r[3], d[3];
            read_lane(part, k, lane, r, d);
            for (int i = 0; i < 3; i++) {
                length += r[i] * r[i];
                step += d[i] * d[i];
            }
        }
    }
    for (int k = 0; k < problem->block_count && cells->size; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; !batched->is_batched[k] && i < block->first + block->size; i++) {
            double d = cells->at[i] - cells->last[i];
            length += cells->at[i] * cells->at[i];
            step += d * d;
        }
    }
    way = fmin(way, sqrt(length / step));
    return way >= least_way ? way : 0.0;
}

/* Bounds of rows are not looked at. */
static bool may_leap(const ss_batched *batched)
{
    const ss_problem *problem = batched->problem;
    if (batched->single) return false;
    for (int k = 0; k < problem->block_count; k++) {
        if (!batched->is_batched[k] && problem->blocks[k].law != SS_LAW_FREE) return false;
    }
    return true;
}

/* ---- the loop --------------------------------------------------------------------------------------- */

ss_status ss_batched_iterate(ss_batched *batched, const ss_batched_loop *how, ss_run *run, double *x)
{
    enum { REFRESH = 64, SELDOM = 16, EASY = 3 };
    static const double least = 300.0; // times the rounding; found by trial: brick walls
    size_t size = (size_t)batched->problem->size, bytes = size * sizeof *x;
    double *w = ss_arena_take_unset(run->arena, size, sizeof *w, "w");
    // sweeps change x itself where there are cells
    double *last_good =
        batched->cell_count ? ss_arena_take_unset(run->arena, size, sizeof *last_good, "last good x") : x;
    ss_conjugate cg = acceleration_of(batched, x);
    cg.team = batched->plan.task_count > 1 ? batched->team : NULL; // few are done sooner than another wakes
    if (!w || !last_good || (how->accelerate && !ss_conjugate_start(&cg, run->arena))) return SS_FAILED;
    batched->conjugate = how->accelerate && batched->cell_count == 0 ? &cg : NULL;

    ss_watch watch = {0};
    bool leaps = how->accelerate && may_leap(batched);
    bool has_leapt = false; // then the rounding of long ways is in y
    double rounding = 0.0;  // of single precision
    bool refreshed = true;  // y has no rounding in it but that of the last sweep
    if (last_good != x) memcpy(last_good, x, bytes);
    for (int iteration = 0;; iteration++) {
        bool backward = how->order == SS_BATCHED_ALTERNATE && iteration % 2;
        double change = ss_batched_sweep(batched, backward, x);
        if (how->order == SS_BATCHED_SYMMETRIC) change += ss_batched_sweep(batched, true, x);

        // x and w as they are now, if they are looked at; a good start needs one sweep: then the driver's own
        // product is the only one.
        bool due = ss_run_due(run, change), good = isfinite(change);
        double *velocities = iteration > 0 && !batched->single && !has_leapt ? w : NULL;
        if (good && due)
            good = velocities ? ss_batched_velocities(batched, x, w) : ss_batched_is_finite(batched);
        if (!good) {
            if (last_good != x) memcpy(x, last_good, bytes);
            return SS_FAILED;
        }
        if (due) ss_batched_store(batched, x);
        if (due && last_good != x) memcpy(last_good, x, bytes);
        bool go_on = ss_run_iteration(run, due ? x : NULL, due ? velocities : NULL);

        // In single precision a sweep may change so little that rounding hides where it leads; sweeps that
        // converge slowly come there early.
        bool still = change == 0.0 && refreshed, stuck = ss_watch_stalled(&watch, change, how->patience);
        if (batched->single) {
            if (iteration % SELDOM == 0) rounding = ss_single_rounding(batched);
            stuck |= change <= least * rounding;
        }
        if (!go_on || still || stuck) {
            ss_batched_store(batched, x);
            return !go_on ? ss_run_status(run) : still && !batched->single ? SS_CONVERGED : SS_STALLED;
        }
        // What hardly touches is solved by now: longer steps are for the rest.
        if (iteration + 1 == EASY && how->relaxation > 0.0) ss_batched_relax(batched, how->relaxation);
        double way = leaps && ss_conjugate_drifts(&cg, change) ? way_ahead(batched, &cg, change) : 0.0;
        has_leapt |= way > 0.0;
        if (way > 0.0)
            ss_conjugate_leap(&cg, change, way);
        else if (how->accelerate)
            ss_conjugate_choose(&cg, change);
        refreshed = iteration % REFRESH == REFRESH - 1 || change == 0.0 || way > 0.0;
        if (refreshed || !batched->conjugate) ss_conjugate_catch_up(&cg);
        if (refreshed) ss_batched_refresh(batched, x);
    }
}

/* ---- for other solvers ------------------------------------------------------------------------------ */

const char *ss_batched_refusal(const ss_problem *problem)
{
    const ss_bodies_form *form = problem->bodies;
    if (!form) return "needs the bodies, not only a matrix";
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first + 1; ss_law_is_cone(block->law) && i < block->first + block->size; i++) {
            if (form->pair[i][0] != form->pair[i - 1][0] || form->pair[i][1] != form->pair[i - 1][1])
                return "needs all rows of a contact to act on the same two bodies";
        }
    }
    return NULL;
}

/* Enough contacts, with enough of them that share no body, and little else. The cones outside of batches are
 * solved exactly, which is not what a method of projected steps does. */
static bool is_worth_it(const ss_batched *batched)
{
    enum { FEW = 16 };
    const ss_problem *problem = batched->problem;
    int batches = batched->batches.count, contacts = 0;
    bool is_cone_apart = false;
    for (int k = 0; k < problem->block_count; k++) {
        contacts += batched->is_batched[k];
        is_cone_apart |= !batched->is_batched[k] && ss_block_is_cone(&problem->blocks[k]);
    }
    if (batched->method.contact == SS_BATCH_PROJECTED && is_cone_apart) return false;
    return contacts >= FEW && contacts >= batches * SS_LANES / 2 && contacts >= batched->cell_count;
}

bool ss_sweep_batched(const ss_problem *problem, ss_sweep_order order, ss_batch_method contact,
                      double relaxation, bool accelerate, ss_run *run, double *x, ss_status *status)
{
    ss_batched_method method = {.contact = contact, .relaxation = relaxation};
    ss_batched_loop how = {.accelerate = accelerate,
                           .patience = order == SS_SWEEP_AUTO ? SS_SWEEP_CIRCLING : SS_SWEEP_STUCK};
    ss_batched batched;
    bool asked = order == SS_SWEEP_AUTO || order == SS_SWEEP_BATCHED;
    if (!asked || ss_batched_refusal(problem)) return false;
    *status = SS_FAILED;
    if (!ss_batched_create(problem, &method, x, run->team, run->arena, &batched)) return true;
    if (!is_worth_it(&batched)) return false;
    *status = ss_batched_iterate(&batched, &how, run, x);
    return *status != SS_STALLED || order == SS_SWEEP_BATCHED;
}
