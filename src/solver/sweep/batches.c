/* Contacts into batches, of doubles or of floats, and what is done with all of them. */
#include "solver/sweep/batches.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "problem/islands.h"

/* ---- filling ---------------------------------------------------------------------------------------- */

/* Four contacts in doubles, from the problem and x; blocks of -1 are empty lanes. Returns the lanes whose
 * contacts a batch cannot take. */
static unsigned fill_batch(const ss_batched *batched, const double *x, const int block_of[SS_LANES],
                           int world_row, ss_batch *batch, double r[3][SS_LANES],
                           double compliance[3][SS_LANES])
{
    static const double nothing[36];
    const ss_problem *problem = batched->problem;
    const ss_bodies_form *form = problem->bodies;
    ss_batch_source from = {.method = batched->method.contact, .relaxation = batched->method.relaxation};
    unsigned taken = 0;
    for (int lane = 0; lane < SS_LANES; lane++) {
        const ss_block *block = block_of[lane] < 0 ? NULL : &problem->blocks[block_of[lane]];
        taken |= block ? 1u << lane : 0;
        from.row[lane] = block ? form->jacobian[block->first] : nothing;
        batch->mu[lane] = block ? block->mu : 0.0;
        for (int i = 0; i < 3; i++) {
            int at = block ? block->first + i : 0;
            bool acts = block && (i == 0 || block->mu >= SS_NO_FRICTION);
            batch->load[i][lane] = block ? problem->b[at] : 0.0;
            r[i][lane] = acts ? x[at] : 0.0;
            compliance[i][lane] = from.compliance[i][lane] = block ? form->compliance[at] : 0.0;
        }
        for (int side = 0; side < 2; side++) {
            int body = block ? form->pair[block->first][side] : SS_WORLD;
            batch->body[side][lane] = body < 0 ? world_row : ss_batched_row(batched, body);
            from.root[side][lane] = batched->roots[body < 0 ? form->bodies : body].part;
        }
    }
    return batched->kernel->fill(&from, batch) & taken;
}

static double power_of_two(double value)
{
    int exponent;
    if (!(value > 0.0) || !isfinite(value)) return 1.0;
    frexp(value, &exponent);
    return ldexp(1.0, exponent);
}

/* Rows of four doubles, each lane times a number of its own, to floats. */
static void copy(int rows, const double by[SS_LANES], const double (*from)[SS_LANES], int at,
                 float (*to)[SS_SINGLE_LANES])
{
    for (int i = 0; i < rows; i++) {
        for (int lane = 0; lane < SS_LANES; lane++) to[i][at + lane] = (float)(by[lane] * from[i][lane]);
    }
}

/* Four contacts in doubles become lanes at .. at + 3 of batch k in single precision, in its units. */
static void narrow(ss_single_batches *single, const ss_batch *of, const double r[3][SS_LANES],
                   const double compliance[3][SS_LANES], int k, int at)
{
    ss_single_batch *to = &single->items[k];
    double one[SS_LANES], a[SS_LANES], inverse[SS_LANES], square[SS_LANES], impulse[SS_LANES];
    double per_root[SS_LANES], per_velocity[SS_LANES];
    double empty = single->root * single->root; // whatever is harmless
    for (int lane = 0; lane < SS_LANES; lane++) {
        a[lane] = of->normal[lane] > 0.0 ? 1.0 / power_of_two(of->normal[lane]) : empty;
        one[lane] = 1.0;
        inverse[lane] = 1.0 / a[lane];
        square[lane] = a[lane] * a[lane];
        impulse[lane] = a[lane] / single->velocity;
        per_root[lane] = 1.0 / single->root;
        per_velocity[lane] = 1.0 / single->velocity;
        to->unit[at + lane] = (float)(single->root * single->root / a[lane]);
        for (int side = 0; side < 2; side++) to->body[side][at + lane] = of->body[side][lane];
    }
    copy(9, one, of->direction[0], at, to->direction[0]);
    copy(18, per_root, of->turn[0][0], at, to->turn[0][0]);
    copy(2, per_root, of->root, at, to->root);
    copy(3, per_velocity, of->load, at, to->load);
    copy(1, a, &of->normal, at, &to->normal);
    copy(2, one, of->skew, at, to->skew);
    copy(3, inverse, of->tangent, at, to->tangent);
    copy(1, square, &of->inverse, at, &to->inverse);
    copy(1, one, &of->mu, at, &to->mu);
    copy(1, inverse, &of->slip, at, &to->slip);
    copy(3, impulse, r, at, single->r[k]);
    if (single->compliance) copy(3, inverse, compliance, at, single->compliance[k]);
}

/* What the tasks of a team are given. */
typedef struct work {
    ss_batched *batched;
    ss_batch_task *tasks;
    const double *x; // for filling
    double *to;      // impulses or velocities, of all unknowns
    bool backward;   // for sweeps
} work;

/* Made as doubles in either precision, so that who suits a batch does not depend on it. Contacts that do not
 * suit become cells, and their lanes empty ones. */
static void fill_task(int t, int worker, void *context)
{
    (void)worker;
    const work *with = context;
    ss_batched *batched = with->batched;
    ss_batches *batches = &batched->batches;
    int fours = batched->single ? 2 : 1; // of a batch
    const ss_batch_task *task = &with->tasks[t];
    int world_row = batched->problem->bodies->bodies + t; // its own, or tasks would write to the same
    for (int k = fours * task->begin; k < fours * task->end; k++) {
        ss_batch wide, *batch = batched->single ? &wide : &batches->items[k];
        double wide_r[3][SS_LANES], compliance[3][SS_LANES];
        double(*r)[SS_LANES] = batched->single ? wide_r : batches->r[k];
        int *block = batches->block[k];
        unsigned odd = fill_batch(batched, with->x, block, world_row, batch, r, compliance);
        for (int lane = 0; odd && lane < SS_LANES; lane++) {
            if (!(odd & 1u << lane)) continue;
            batched->is_batched[block[lane]] = false;
            block[lane] = -1;
        }
        if (odd) fill_batch(batched, with->x, block, world_row, batch, r, compliance);
        if (batched->single)
            narrow(batched->single, batch, r, compliance, k / 2, k % 2 * SS_LANES);
        else if (batches->compliance)
            memcpy(batches->compliance[k], compliance, sizeof compliance);
    }
}

static void find_roots(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_batched *batched = context;
    for (int body = (int)begin; body < end; body++)
        batched->roots[body] = ss_mass_root_of(batched->problem->bodies, body);
}

bool ss_batched_create(const ss_problem *problem, const ss_batched_method *method, const double *x,
                       ss_team *team, ss_arena *arena, ss_batched *batched)
{
    const ss_bodies_form *form = problem->bodies;
    *batched = (ss_batched){.problem = problem, .method = *method, .team = team};

    // The backend: the fastest this machine has, unless one is asked for; of floats as of doubles.
    batched->kernel = &ss_batch_kernel_portable;
    batched->single_kernel = &ss_single_kernel_portable;
#ifdef __x86_64__
    if (method->kernel ? method->kernel == &ss_batch_kernel_avx2 : __builtin_cpu_supports("avx2")) {
        batched->kernel = &ss_batch_kernel_avx2;
        batched->single_kernel = &ss_single_kernel_avx2;
    }
#endif

    // Contacts to batches.
    size_t bodies = (size_t)form->bodies;
    batched->roots = ss_arena_take(arena, bodies + 1, sizeof *batched->roots, "roots of masses");
    batched->is_batched =
        ss_arena_take(arena, (size_t)problem->block_count, sizeof *batched->is_batched, "kinds of blocks");
    if (!batched->roots || !batched->is_batched) return false;
    enum { AT_ONCE = 256, ROOT = 50 }; // bodies; ns
    ss_parallel_for(ss_team_for_loop(team, form->bodies, ROOT), form->bodies, AT_ONCE, find_roots, batched);
    if (!ss_batched_assign(batched, arena)) return false;

    // Memory for their numbers.
    ss_batches *batches = &batched->batches;
    size_t count = (size_t)batches->count, rows = bodies + (size_t)batched->plan.task_count;
    size_t largest = (size_t)16 << 20; // bytes: half of a large cache
    bool is_compliant = false;
    for (int i = 0; i < problem->size; i++) is_compliant |= form->compliance[i] != 0.0;
    if (method->single) {
        ss_single_batches *single = batched->single =
            ss_arena_take(arena, 1, sizeof *single, "single batches");
        if (!single) return false;
        single->count = batches->count;
        single->items = ss_arena_take_unset(arena, count, sizeof *single->items, "single batches");
        single->r = ss_arena_take_unset(arena, count, sizeof *single->r, "impulses");
        single->is_long = count * sizeof *single->items > largest;
        single->y = ss_arena_take(arena, rows, sizeof *single->y, "velocities");
        if (is_compliant)
            single->compliance = ss_arena_take(arena, count, sizeof *single->compliance, "compliance");
        if (!single->items || !single->r || !single->y || (is_compliant && !single->compliance)) return false;

        // units: powers of two above the largest velocity and the largest root of a mass
        for (int i = 0; i < problem->size; i++)
            single->velocity = fmax(single->velocity, fabs(problem->b[i]));
        for (size_t k = 0; k < bodies; k++) single->root = fmax(single->root, batched->roots[k].part[0]);
        single->velocity = power_of_two(single->velocity);
        single->root = power_of_two(single->root);
    } else {
        batches->items = ss_arena_take_unset(arena, count, sizeof *batches->items, "batches");
        batches->r = ss_arena_take_unset(arena, count, sizeof *batches->r, "impulses");
        batches->is_long = count * sizeof *batches->items > largest;
        batches->y = batched->y = ss_arena_take(arena, rows, sizeof *batched->y, "velocities");
        if (is_compliant)
            batches->compliance = ss_arena_take(arena, count, sizeof *batches->compliance, "compliance");
        if (!batches->items || !batches->r || !batches->y || (is_compliant && !batches->compliance))
            return false;
    }

    ss_parallel_tasks(ss_batched_helpers(batched, SS_BATCH_FILL), &batched->plan.graph, false, fill_task,
                      &(work){.batched = batched, .tasks = batched->plan.tasks, .x = x});
    if (!ss_batch_cells_create(batched, arena)) return false;
    ss_batched_refresh(batched, x);
    return true;
}

bool ss_single_suits(const ss_batched *batched)
{
    static const float least_unit = 1e-24f, largest_unit = 1e24f, least_friction = 1e-4f;
    const ss_single_batches *single = batched->single;
    if (batched->cell_count > 0 || !ss_batched_is_finite(batched)) return false;
    for (int k = 0; k < single->count; k++) {
        const ss_single_batch *batch = &single->items[k];
        for (int lane = 0; lane < SS_SINGLE_LANES; lane++) {
            if (!(batch->unit[lane] > least_unit && batch->unit[lane] < largest_unit)) return false;
            if (batch->mu[lane] > 0.0f && batch->mu[lane] < least_friction) return false;
        }
    }
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

static void push_task(int t, int worker, void *context)
{
    (void)worker;
    const work *with = context;
    ss_batched *batched = with->batched;
    const ss_batch_task *task = &with->tasks[t];
    if (batched->single)
        batched->single_kernel->push(batched->single, task->begin, task->end);
    else
        batched->kernel->push(&batched->batches, task->begin, task->end);
}

/* The velocities of the bodies of a part. */
static ss_conjugate_part rows_of_part(const ss_batched *batched, int part)
{
    const ss_conjugate_part *y = &batched->conjugate->part[SS_BATCHED_VELOCITIES];
    const int *row = batched->plan.part_row + part;
    size_t numbers = (batched->single ? sizeof(ss_single_twist) : sizeof(ss_scaled_twist)) / sizeof(double);
    return ss_conjugate_range(y, numbers * (size_t)row[0], numbers * (size_t)(row[1] - row[0]));
}

static void extrapolate_part(const ss_batched *batched, int part)
{
    const ss_conjugate *cg = batched->conjugate;
    ss_conjugate_part y = rows_of_part(batched, part);
    cg->extrapolate(cg->weight, y.size, y.at, y.last, y.direction);
}

/* Does the sweep go on where the direction points? Judged in velocities, where all have one unit, when a part
 * is done. In single precision judged in impulses, which all have one unit there: what slow motions change in
 * y is soon less than its rounding. That disturbs beta, too. */
static double overlap_of(const ss_batched *batched, const ss_batch_task *task, const int closes[2])
{
    double sum = 0.0;
    if (batched->single) {
        enum { NUMBERS = 3 * SS_SINGLE_LANES / 2 }; // doubles, each of two floats
        ss_conjugate_part r =
            ss_conjugate_range(&batched->conjugate->part[SS_BATCHED_IMPULSES], NUMBERS * (size_t)task->begin,
                               NUMBERS * (size_t)(task->end - task->begin));
        return batched->single_kernel->overlap(2 * r.size, (float *)r.at, (float *)r.last,
                                               (float *)r.direction);
    }
    for (int k = 0; k < 2; k++) {
        if (closes[k] < 0) continue;
        ss_conjugate_part y = rows_of_part(batched, closes[k]);
        sum += batched->kernel->overlap(y.size, y.at, y.last, y.direction);
    }
    return sum;
}

static void sweep_task(int t, int worker, void *context)
{
    (void)worker;
    const work *with = context;
    ss_batched *batched = with->batched;
    const ss_batch_kernel *kernel = batched->kernel;
    const ss_conjugate *cg = batched->conjugate;
    ss_single_batches *single = batched->single;
    ss_batch_task *task = &with->tasks[t];
    const int *opens = with->backward ? task->closes : task->opens;
    for (int k = 0; k < 2 && cg && cg->is_due; k++) {
        if (opens[k] >= 0) extrapolate_part(batched, opens[k]);
    }
    double (*sweep)(ss_batches *, int, int, bool) =
        batched->method.contact == SS_BATCH_EXACT ? kernel->sweep : kernel->sweep_projected;
    double speed = single ? single->velocity / single->root : 1.0;
    task->change = single ? (speed * speed) *
                                batched->single_kernel->sweep(single, task->begin, task->end, with->backward)
                          : sweep(&batched->batches, task->begin, task->end, with->backward);
    if (cg) task->overlap = overlap_of(batched, task, with->backward ? task->opens : task->closes);
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
    work with = {.batched = batched, .tasks = batched->plan.tasks};
    ss_parallel_tasks(ss_batched_helpers(batched, SS_BATCH_PUSH), &batched->plan.graph, false, push_task,
                      &with);
}

void ss_batched_relax(ss_batched *batched, double factor)
{
    for (int k = 0; k < batched->batches.count; k++) {
        ss_batch *batch = &batched->batches.items[k];
        for (int lane = 0; lane < SS_LANES; lane++) {
            batch->normal[lane] *= factor;
            batch->inverse[lane] *= factor;
        }
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

    // Impulses and velocities begin one step further on, if that has not been done before.
    ss_conjugate *cg = batched->conjugate;
    const ss_conjugate_part *r = cg && cg->is_due ? &cg->part[SS_BATCHED_IMPULSES] : NULL;
    if (batched->single) {
        batched->single->last = r ? (void *)r->last : NULL;
        batched->single->direction = r ? (void *)r->direction : NULL;
        batched->single->beta = cg ? cg->weight : 0.0;
    } else {
        batched->batches.last = r ? (void *)r->last : NULL;
        batched->batches.direction = r ? (void *)r->direction : NULL;
        batched->batches.beta = cg ? cg->weight : 0.0;
    }
    work with = {.batched = batched, .tasks = batched->plan.tasks, .backward = backward};
    ss_parallel_tasks(ss_batched_helpers(batched, SS_BATCH_SWEEP), &batched->plan.graph, backward, sweep_task,
                      &with);
    if (cg) cg->is_due = false;
    for (int t = 0; t < batched->plan.task_count; t++) sum += batched->plan.tasks[t].change;
    return backward ? sum + ss_batch_cells_sweep(batched, true, x) : sum;
}

static void store_task(int t, int worker, void *context)
{
    (void)worker;
    const work *with = context;
    const ss_batched *batched = with->batched;
    const ss_batches *batches = &batched->batches;
    const ss_single_batches *single = batched->single;
    int fours = single ? 2 : 1; // of a batch
    for (int k = fours * with->tasks[t].begin; k < fours * with->tasks[t].end; k++) {
        for (int lane = 0; lane < SS_LANES; lane++) {
            int block = batches->block[k][lane], at = k % 2 * SS_LANES + lane; // in a batch of eight
            if (block < 0) continue;
            double *r = with->to + batched->problem->blocks[block].first;
            double unit =
                single ? single->velocity / single->root / single->root * single->items[k / 2].unit[at] : 1.0;
            for (int i = 0; i < 3; i++)
                r[i] = single ? unit * single->r[k / 2][i][at] : batches->r[k][i][lane];
        }
    }
}

void ss_batched_store(const ss_batched *batched, double *x)
{
    work with = {.batched = (ss_batched *)(uintptr_t)batched, .tasks = batched->plan.tasks, .to = x};
    ss_parallel_tasks(ss_batched_helpers(batched, SS_BATCH_STORE), &with.batched->plan.graph, false,
                      store_task, &with);
}

bool ss_batched_is_finite(const ss_batched *batched)
{
    enum { TWIST = sizeof(ss_scaled_twist) / sizeof(double) }; // numbers in either precision
    size_t count = TWIST * (size_t)batched->problem->bodies->bodies;
    const float *narrow_y = batched->single ? batched->single->y[0] : NULL;
    const double *y = batched->single ? NULL : batched->y[0];
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += y ? fabs(y[i]) : fabsf(narrow_y[i]);
    return isfinite(sum);
}

static void find_velocities(int t, int worker, void *context)
{
    (void)worker;
    const work *with = context;
    const ss_batched *batched = with->batched;
    const ss_batches *batches = &batched->batches;
    double sum[3] = {0.0};
    for (int k = with->tasks[t].begin; k < with->tasks[t].end; k++) {
        double of[3][SS_LANES];
        batched->kernel->velocities(batches, k, of);
        for (int i = 0; i < 3; i++)
            sum[i] += (fabs(of[i][0]) + fabs(of[i][1])) + (fabs(of[i][2]) + fabs(of[i][3]));
        for (int lane = 0; lane < SS_LANES; lane++) {
            int block = batches->block[k][lane];
            double *u = block < 0 ? NULL : with->to + batched->problem->blocks[block].first;
            for (int i = 0; u && i < 3; i++) u[i] = of[i][lane];
        }
    }
    with->tasks[t].speed = sum[0] + sum[1] + sum[2];
}

bool ss_batched_velocities(const ss_batched *batched, const double *x, double *w)
{
    work with = {.batched = (ss_batched *)(uintptr_t)batched, .tasks = batched->plan.tasks, .to = w};
    ss_batch_cells_velocities(batched, x, w);
    ss_parallel_tasks(ss_batched_helpers(batched, SS_BATCH_PUSH), &with.batched->plan.graph, false,
                      find_velocities, &with);
    double sum = 0.0;
    for (int t = 0; t < batched->plan.task_count; t++) sum += batched->plan.tasks[t].speed;
    for (int i = 0; batched->cell_count && i < batched->problem->size; i++) sum += fabs(w[i]);
    return isfinite(sum);
}

double ss_single_rounding(const ss_batched *batched)
{
    const ss_single_batches *single = batched->single;
    double sum = 0.0, energy = single->velocity / single->root;
    for (int k = 0; k < single->count; k++) {
        const ss_single_batch *batch = &single->items[k];
        for (int lane = 0; lane < SS_SINGLE_LANES; lane++) {
            float square = 0.0f, diagonal = batch->tangent[0][lane] + batch->tangent[2][lane];
            for (int i = 0; i < 3; i++) square += single->r[k][i][lane] * single->r[k][i][lane];
            sum += 0.25 * diagonal * square * batch->unit[lane];
        }
    }
    return sum * energy * energy * 0x1p-48;
}
