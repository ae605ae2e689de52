/* Contacts into batches, and what is done with all of them. */
#include "solver/sweep/batches.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- filling ---------------------------------------------------------------------------------------- */

static void fill_lane(const ss_batched *batched, const double *x, int k, int lane, int world_row,
                      ss_batch_source *from)
{
    static const double nothing[36];
    const ss_batches *batches = &batched->batches;
    ss_batch *batch = &batches->items[k];
    const ss_bodies_form *form = batched->problem->bodies;
    int world = form->bodies, pair[2] = {SS_WORLD, SS_WORLD};
    const ss_block *block =
        batches->block[k][lane] < 0 ? NULL : &batched->problem->blocks[batches->block[k][lane]];
    from->row[lane] = nothing;
    batch->mu[lane] = 0.0;
    if (block) {
        memcpy(pair, form->pair[block->first], sizeof pair);
        from->row[lane] = form->jacobian[block->first];
        batch->mu[lane] = block->mu;
    }
    for (int i = 0; i < 3; i++) {
        int at = block ? block->first + i : 0;
        bool acts = block && (i == 0 || block->mu >= SS_NO_FRICTION);
        batch->load[i][lane] = block ? batched->problem->b[at] : 0.0;
        batches->r[k][i][lane] = acts ? x[at] : 0.0;
        from->compliance[i][lane] = block ? form->compliance[at] : 0.0;
    }
    for (int side = 0; side < 2; side++) {
        batch->body[side][lane] = pair[side] < 0 ? world_row : ss_batched_row(batched, pair[side]);
        from->root[side][lane] = batched->roots[pair[side] < 0 ? world : pair[side]].part;
    }
}

/* Returns the lanes whose contacts the batch cannot take. */
static unsigned fill_batch(const ss_batched *batched, const double *x, int k, int world_row)
{
    const ss_batches *batches = &batched->batches;
    ss_batch_source from;
    from.method = batched->method.contact;
    from.relaxation = batched->method.relaxation;
    for (int lane = 0; lane < SS_LANES; lane++) fill_lane(batched, x, k, lane, world_row, &from);
    if (batches->compliance) memcpy(batches->compliance[k], from.compliance, sizeof from.compliance);
    unsigned odd = batched->kernel->fill(&from, &batches->items[k]);
    for (int lane = 0; lane < SS_LANES; lane++) {
        if (batches->block[k][lane] < 0) odd &= ~(1u << lane);
    }
    return odd;
}

/* The lane becomes an empty one, its contact a cell. */
static void send_back(ss_batched *batched, int k, int lane)
{
    ss_batches *batches = &batched->batches;
    batched->is_batched[batches->block[k][lane]] = false;
    batches->block[k][lane] = -1;
}

void ss_batched_fill_batch(ss_batched *batched, const double *x, int k, int world_row)
{
    unsigned odd = fill_batch(batched, x, k, world_row);
    for (int lane = 0; odd && lane < SS_LANES; lane++) {
        if (odd & 1u << lane) send_back(batched, k, lane);
    }
    if (odd) fill_batch(batched, x, k, world_row);
}

typedef struct filling {
    ss_batched *batched;
    const double *x;
} filling;

static void fill_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const filling *with = context;
    ss_batched *batched = with->batched;
    for (int64_t t = begin; t < end; t++) {
        const ss_batch_task *task = &batched->plan.tasks[t];
        // its own, or tasks would write to the same
        int world_row = batched->problem->bodies->bodies + (int)t;
        for (int k = task->begin; k < task->end; k++) ss_batched_fill_batch(batched, with->x, k, world_row);
    }
}

bool ss_batched_any_compliance(const ss_problem *problem)
{
    const double *compliance = problem->bodies->compliance;
    for (int i = 0; i < problem->size; i++) {
        if (compliance[i] != 0.0) return true;
    }
    return false;
}

static bool create_batches(ss_batched *batched, const double *x, ss_arena *arena)
{
    ss_batches *batches = &batched->batches;
    size_t count = (size_t)batches->count;
    batches->items = ss_arena_take_unset(arena, count, sizeof *batches->items, "batches");
    batches->r = ss_arena_take_unset(arena, count, sizeof *batches->r, "impulses");
    batches->is_long = count * sizeof *batches->items > (size_t)16 << 20; // half of a large cache
    if (!batches->items || !batches->r) return false;
    if (ss_batched_any_compliance(batched->problem)) {
        batches->compliance = ss_arena_take(arena, count, sizeof *batches->compliance, "compliance");
        if (!batches->compliance) return false;
    }
    size_t rows = (size_t)batched->problem->bodies->bodies + (size_t)batched->plan.task_count;
    batches->y = batched->y = ss_arena_take(arena, rows, sizeof *batched->y, "velocities");
    if (!batched->y) return false;
    ss_parallel_for(batched->team, batched->plan.task_count, 1, fill_tasks, &(filling){batched, x});
    return true;
}

static const ss_batch_kernel *fastest_kernel(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return &ss_batch_kernel_avx2;
#endif
    return &ss_batch_kernel_portable;
}

bool ss_batched_create(const ss_problem *problem, const ss_batched_method *method, const double *x,
                       ss_team *team, ss_arena *arena, ss_batched *batched)
{
    *batched = (ss_batched){.problem = problem, .method = *method, .team = team};
    batched->kernel = method->kernel ? method->kernel : fastest_kernel();
    size_t bodies = (size_t)problem->bodies->bodies;
    batched->roots = ss_arena_take(arena, bodies + 1, sizeof *batched->roots, "roots of masses");
    batched->is_batched =
        ss_arena_take(arena, (size_t)problem->block_count, sizeof *batched->is_batched, "kinds of blocks");
    if (!batched->roots || !batched->is_batched) return false;
    for (int body = 0; body < problem->bodies->bodies; body++)
        batched->roots[body] = ss_mass_root_of(problem->bodies, body);
    if (!ss_batched_assign(batched, arena)) return false;
    if (!(method->single ? ss_single_create : create_batches)(batched, x, arena) ||
        !ss_batch_cells_create(batched, arena))
        return false;
    ss_batched_refresh(batched, x);
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

typedef struct pass {
    ss_batched *batched;
    ss_batch_task *tasks; // of a phase
    bool backward;
} pass;

static void push_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const pass *with = context;
    ss_batched *batched = with->batched;
    for (int64_t t = begin; t < end; t++) {
        const ss_batch_task *task = &with->tasks[t];
        if (batched->single)
            batched->single_kernel->push(batched->single, task->begin, task->end);
        else
            batched->kernel->push(&batched->batches, task->begin, task->end);
    }
}

static void sweep_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const pass *with = context;
    const ss_batch_kernel *kernel = with->batched->kernel;
    bool exact = with->batched->method.contact == SS_BATCH_EXACT;
    double (*sweep)(ss_batches *, int, int, bool) = exact ? kernel->sweep : kernel->sweep_projected;
    for (int64_t t = begin; t < end; t++) {
        ss_batch_task *task = &with->tasks[t];
        task->change = sweep(&with->batched->batches, task->begin, task->end, with->backward);
    }
}

static void sweep_single_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const pass *with = context;
    ss_single_batches *single = with->batched->single;
    double energy = (single->velocity / single->root) * (single->velocity / single->root);
    for (int64_t t = begin; t < end; t++) {
        ss_batch_task *task = &with->tasks[t];
        task->change =
            energy * with->batched->single_kernel->sweep(single, task->begin, task->end, with->backward);
    }
}

static void each_phase(ss_batched *batched, ss_team *team, bool backward, ss_parallel_body *body)
{
    const ss_contact_plan *plan = &batched->plan;
    for (int i = 0; i < plan->phase_count; i++) {
        int phase = backward ? plan->phase_count - 1 - i : i, first = plan->phase_start[phase];
        pass with = {batched, plan->tasks + first, backward};
        ss_parallel_for(team, plan->phase_start[phase + 1] - first, 1, body, &with);
    }
}

void ss_batched_refresh(ss_batched *batched, const double *x)
{
    size_t bodies = (size_t)batched->problem->bodies->bodies;
    if (batched->single) {
        memset(batched->single->y, 0, bodies * sizeof *batched->single->y); // and no cells
    } else {
        memset(batched->y, 0, bodies * sizeof *batched->y);
        ss_batch_cells_push(batched, x);
    }
    each_phase(batched, batched->team, false, push_tasks);
}

/* The team, unless it was slower than one thread lately. */
static void sweep_at_pace(ss_batched *batched, bool backward)
{
    enum { LONGEST = 1023 };
    ss_pace *pace = &batched->pace;
    ss_parallel_body *sweep = batched->single ? sweep_single_tasks : sweep_tasks;
    if (ss_team_size(batched->team) == 1 || batched->plan.task_count == 1) {
        each_phase(batched, NULL, backward, sweep);
        return;
    }
    bool together = pace->alone > 0.0 && pace->resting == 0;
    double start = ss_clock_seconds();
    each_phase(batched, together ? batched->team : NULL, backward, sweep);
    double seconds = ss_clock_seconds() - start;
    if (!together) {
        pace->alone = seconds;
        if (pace->resting > 0) pace->resting--;
    } else if (seconds < pace->alone) {
        pace->rest = 0;
    } else {
        pace->rest = pace->rest < LONGEST ? 4 * pace->rest + 3 : LONGEST;
        pace->resting = pace->rest;
    }
}

double ss_batched_sweep(ss_batched *batched, bool backward, double *x)
{
    // a good start must not be spoiled by a slip that has not been looked at; later visits
    // continue earlier ones
    static const double first = 1e-7, later = 0.3, first_single = 1e-4;
    double tolerance = batched->sweeps++ == 0 ? first : later;
    batched->batches.slip_tolerance = tolerance;
    if (batched->single) batched->single->slip_tolerance = fmax(tolerance, first_single);
    double sum = backward ? 0.0 : ss_batch_cells_sweep(batched, false, x);
    sweep_at_pace(batched, backward);
    for (int t = 0; t < batched->plan.task_count; t++) sum += batched->plan.tasks[t].change;
    return backward ? sum + ss_batch_cells_sweep(batched, true, x) : sum;
}

void ss_batched_store(const ss_batched *batched, double *x)
{
    const ss_batches *batches = &batched->batches;
    if (batched->single) {
        ss_single_store(batched, x);
        return;
    }
    for (int k = 0; k < batches->count; k++) {
        for (int lane = 0; lane < SS_LANES; lane++) {
            int block = batches->block[k][lane];
            double *r = block < 0 ? NULL : x + batched->problem->blocks[block].first;
            for (int i = 0; r && i < 3; i++) r[i] = batches->r[k][i][lane];
        }
    }
}

static bool all_finite(const double *values, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += fabs(values[i]);
    return isfinite(sum);
}

bool ss_batched_is_finite(const ss_batched *batched)
{
    size_t numbers = sizeof *batched->y / sizeof(double);
    if (batched->single) return ss_single_is_finite(batched);
    return all_finite(batched->y[0], numbers * (size_t)batched->problem->bodies->bodies);
}

bool ss_batched_velocities(const ss_batched *batched, const double *x, double *w)
{
    const ss_batches *batches = &batched->batches;
    ss_batch_cells_velocities(batched, x, w);
    for (int k = 0; k < batches->count; k++) {
        double of[3][SS_LANES];
        batched->kernel->velocities(batches, k, of);
        for (int lane = 0; lane < SS_LANES; lane++) {
            int block = batches->block[k][lane];
            double *u = block < 0 ? NULL : w + batched->problem->blocks[block].first;
            for (int i = 0; u && i < 3; i++) u[i] = of[i][lane];
        }
    }
    return all_finite(w, (size_t)batched->problem->size);
}
