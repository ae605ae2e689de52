/* Contacts into batches, and what is done with all of them. */
#include "solver/sweep/coloured.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- M^-1 = L L' ------------------------------------------------------------------------------------ */

/* Cholesky of the inverse inertia; a direction without any (a body that cannot turn) gets a
 * column of zeros. */
static void set_root(const ss_bodies_form *form, int body, ss_mass_root *root)
{
    static const double rounding = 1e-14;
    const double *A = form->inverse_inertia[body];
    double l[3][3] = {{0}};
    for (int j = 0; j < 3; j++) {
        double pivot = A[4 * j] - (l[j][0] * l[j][0] + l[j][1] * l[j][1]);
        if (!(pivot > rounding * A[4 * j])) continue;
        l[j][j] = sqrt(pivot);
        for (int i = j + 1; i < 3; i++)
            l[i][j] = (A[3 * i + j] - (l[i][0] * l[j][0] + l[i][1] * l[j][1])) / l[j][j];
    }
    double part[8] = {
        sqrt(form->inverse_mass[body]), l[0][0], l[1][0], l[1][1], l[2][0], l[2][1], l[2][2], 0.0};
    memcpy(root->part, part, sizeof part);
}

/* ---- filling ---------------------------------------------------------------------------------------- */

static void fill_lane(const ss_coloured *coloured, const double *x, int k, int lane, int world_row,
                      ss_batch_source *from)
{
    static const double nothing[36];
    const ss_batches *batches = &coloured->batches;
    ss_batch *batch = &batches->items[k];
    const ss_bodies_form *form = coloured->problem->bodies;
    int world = form->bodies, pair[2] = {SS_WORLD, SS_WORLD};
    const ss_block *block =
        batches->block[k][lane] < 0 ? NULL : &coloured->problem->blocks[batches->block[k][lane]];
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
        batch->load[i][lane] = block ? coloured->problem->b[at] : 0.0;
        batches->r[k][i][lane] = acts ? x[at] : 0.0;
        from->compliance[i][lane] = block ? form->compliance[at] : 0.0;
    }
    for (int side = 0; side < 2; side++) {
        batch->body[side][lane] = pair[side] < 0 ? world_row : ss_coloured_row(coloured, pair[side]);
        from->root[side][lane] = coloured->roots[pair[side] < 0 ? world : pair[side]].part;
    }
}

/* Returns the lanes whose contacts the batch cannot take. */
static unsigned fill_batch(const ss_coloured *coloured, const double *x, int k, int world_row)
{
    const ss_batches *batches = &coloured->batches;
    ss_batch_source from;
    from.method = coloured->method.contact;
    from.relaxation = coloured->method.relaxation;
    for (int lane = 0; lane < SS_LANES; lane++) fill_lane(coloured, x, k, lane, world_row, &from);
    if (batches->compliance) memcpy(batches->compliance[k], from.compliance, sizeof from.compliance);
    unsigned odd = coloured->kernel->fill(&from, &batches->items[k]);
    for (int lane = 0; lane < SS_LANES; lane++) {
        if (batches->block[k][lane] < 0) odd &= ~(1u << lane);
    }
    return odd;
}

/* The lane becomes an empty one, its contact a cell. */
static void send_back(ss_coloured *coloured, int k, int lane)
{
    ss_batches *batches = &coloured->batches;
    coloured->is_batched[batches->block[k][lane]] = false;
    batches->block[k][lane] = -1;
}

void ss_coloured_fill_batch(ss_coloured *coloured, const double *x, int k, int world_row)
{
    unsigned odd = fill_batch(coloured, x, k, world_row);
    for (int lane = 0; odd && lane < SS_LANES; lane++) {
        if (odd & 1u << lane) send_back(coloured, k, lane);
    }
    if (odd) fill_batch(coloured, x, k, world_row);
}

typedef struct filling {
    ss_coloured *coloured;
    const double *x;
} filling;

static void fill_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const filling *with = context;
    ss_coloured *coloured = with->coloured;
    for (int64_t t = begin; t < end; t++) {
        const ss_batch_task *task = &coloured->plan.tasks[t];
        // its own, or tasks would write to the same
        int world_row = coloured->problem->bodies->bodies + (int)t;
        for (int k = task->begin; k < task->end; k++) ss_coloured_fill_batch(coloured, with->x, k, world_row);
    }
}

bool ss_coloured_any_compliance(const ss_problem *problem)
{
    const double *compliance = problem->bodies->compliance;
    for (int i = 0; i < problem->size; i++) {
        if (compliance[i] != 0.0) return true;
    }
    return false;
}

static bool create_batches(ss_coloured *coloured, const double *x, ss_arena *arena)
{
    ss_batches *batches = &coloured->batches;
    size_t count = (size_t)batches->count;
    batches->items = ss_arena_take_unset(arena, count, sizeof *batches->items, "batches");
    batches->r = ss_arena_take_unset(arena, count, sizeof *batches->r, "impulses");
    batches->is_long = count * sizeof *batches->items > (size_t)16 << 20; // half of a large cache
    if (!batches->items || !batches->r) return false;
    if (ss_coloured_any_compliance(coloured->problem)) {
        batches->compliance = ss_arena_take(arena, count, sizeof *batches->compliance, "compliance");
        if (!batches->compliance) return false;
    }
    size_t rows = (size_t)coloured->problem->bodies->bodies + (size_t)coloured->plan.task_count;
    batches->y = coloured->y = ss_arena_take(arena, rows, sizeof *coloured->y, "velocities");
    if (!coloured->y) return false;
    ss_parallel_for(coloured->team, coloured->plan.task_count, 1, fill_tasks, &(filling){coloured, x});
    return true;
}

static const ss_batch_kernel *fastest_kernel(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return &ss_batch_kernel_avx2;
#endif
    return &ss_batch_kernel_portable;
}

bool ss_coloured_create(const ss_problem *problem, const ss_coloured_method *method, const double *x,
                        ss_team *team, ss_arena *arena, ss_coloured *coloured)
{
    *coloured = (ss_coloured){.problem = problem, .method = *method, .team = team};
    coloured->kernel = method->kernel ? method->kernel : fastest_kernel();
    size_t bodies = (size_t)problem->bodies->bodies;
    coloured->roots = ss_arena_take(arena, bodies + 1, sizeof *coloured->roots, "roots of masses");
    coloured->is_batched =
        ss_arena_take(arena, (size_t)problem->block_count, sizeof *coloured->is_batched, "kinds of blocks");
    if (!coloured->roots || !coloured->is_batched) return false;
    for (size_t body = 0; body < bodies; body++) set_root(problem->bodies, (int)body, &coloured->roots[body]);
    if (!ss_coloured_assign(coloured, arena)) return false;
    if (!(method->single ? ss_single_create : create_batches)(coloured, x, arena) ||
        !ss_coloured_cells_create(coloured, arena))
        return false;
    ss_coloured_refresh(coloured, x);
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

typedef struct pass {
    ss_coloured *coloured;
    ss_batch_task *tasks; // of a phase
    bool backward;
} pass;

static void push_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const pass *with = context;
    ss_coloured *coloured = with->coloured;
    for (int64_t t = begin; t < end; t++) {
        const ss_batch_task *task = &with->tasks[t];
        if (coloured->single)
            coloured->single_kernel->push(coloured->single, task->begin, task->end);
        else
            coloured->kernel->push(&coloured->batches, task->begin, task->end);
    }
}

static void sweep_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const pass *with = context;
    const ss_batch_kernel *kernel = with->coloured->kernel;
    bool exact = with->coloured->method.contact == SS_BATCH_EXACT;
    double (*sweep)(ss_batches *, int, int, bool) = exact ? kernel->sweep : kernel->sweep_projected;
    for (int64_t t = begin; t < end; t++) {
        ss_batch_task *task = &with->tasks[t];
        task->change = sweep(&with->coloured->batches, task->begin, task->end, with->backward);
    }
}

static void sweep_single_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const pass *with = context;
    ss_single_batches *single = with->coloured->single;
    double energy = (single->velocity / single->root) * (single->velocity / single->root);
    for (int64_t t = begin; t < end; t++) {
        ss_batch_task *task = &with->tasks[t];
        task->change =
            energy * with->coloured->single_kernel->sweep(single, task->begin, task->end, with->backward);
    }
}

static void each_phase(ss_coloured *coloured, ss_team *team, bool backward, ss_parallel_body *body)
{
    const ss_contact_plan *plan = &coloured->plan;
    for (int i = 0; i < plan->phase_count; i++) {
        int phase = backward ? plan->phase_count - 1 - i : i, first = plan->phase_start[phase];
        pass with = {coloured, plan->tasks + first, backward};
        ss_parallel_for(team, plan->phase_start[phase + 1] - first, 1, body, &with);
    }
}

void ss_coloured_refresh(ss_coloured *coloured, const double *x)
{
    size_t bodies = (size_t)coloured->problem->bodies->bodies;
    if (coloured->single) {
        memset(coloured->single->y, 0, bodies * sizeof *coloured->single->y); // and no cells
    } else {
        memset(coloured->y, 0, bodies * sizeof *coloured->y);
        ss_coloured_cells_push(coloured, x);
    }
    each_phase(coloured, coloured->team, false, push_tasks);
}

/* The team, unless it was slower than one thread lately. */
static void sweep_at_pace(ss_coloured *coloured, bool backward)
{
    enum { LONGEST = 1023 };
    ss_pace *pace = &coloured->pace;
    ss_parallel_body *sweep = coloured->single ? sweep_single_tasks : sweep_tasks;
    if (ss_team_size(coloured->team) == 1 || coloured->plan.task_count == 1) {
        each_phase(coloured, NULL, backward, sweep);
        return;
    }
    bool together = pace->alone > 0.0 && pace->resting == 0;
    double start = ss_clock_seconds();
    each_phase(coloured, together ? coloured->team : NULL, backward, sweep);
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

double ss_coloured_sweep(ss_coloured *coloured, bool backward, double *x)
{
    // a good start must not be spoiled by a slip that has not been looked at; later visits
    // continue earlier ones
    static const double first = 1e-7, later = 0.3, first_single = 1e-4;
    double tolerance = coloured->sweeps++ == 0 ? first : later;
    coloured->batches.slip_tolerance = tolerance;
    if (coloured->single) coloured->single->slip_tolerance = fmax(tolerance, first_single);
    double sum = backward ? 0.0 : ss_coloured_cells_sweep(coloured, false, x);
    sweep_at_pace(coloured, backward);
    for (int t = 0; t < coloured->plan.task_count; t++) sum += coloured->plan.tasks[t].change;
    return backward ? sum + ss_coloured_cells_sweep(coloured, true, x) : sum;
}

void ss_coloured_store(const ss_coloured *coloured, double *x)
{
    const ss_batches *batches = &coloured->batches;
    if (coloured->single) {
        ss_single_store(coloured, x);
        return;
    }
    for (int k = 0; k < batches->count; k++) {
        for (int lane = 0; lane < SS_LANES; lane++) {
            int block = batches->block[k][lane];
            double *r = block < 0 ? NULL : x + coloured->problem->blocks[block].first;
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

bool ss_coloured_is_finite(const ss_coloured *coloured)
{
    size_t numbers = sizeof *coloured->y / sizeof(double);
    if (coloured->single) return ss_single_is_finite(coloured);
    return all_finite(coloured->y[0], numbers * (size_t)coloured->problem->bodies->bodies);
}

bool ss_coloured_velocities(const ss_coloured *coloured, const double *x, double *w)
{
    const ss_batches *batches = &coloured->batches;
    ss_coloured_cells_velocities(coloured, x, w);
    for (int k = 0; k < batches->count; k++) {
        double of[3][SS_LANES];
        coloured->kernel->velocities(batches, k, of);
        for (int lane = 0; lane < SS_LANES; lane++) {
            int block = batches->block[k][lane];
            double *u = block < 0 ? NULL : w + coloured->problem->blocks[block].first;
            for (int i = 0; u && i < 3; i++) u[i] = of[i][lane];
        }
    }
    return all_finite(w, (size_t)coloured->problem->size);
}
