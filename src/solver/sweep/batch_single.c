/* Batches in single precision: made as doubles, so that who suits a batch does not depend on the precision,
 * and rounded then. */
#include "solver/sweep/batches.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- units ------------------------------------------------------------------------------------------ */

static double power_of_two(double value)
{
    int exponent;
    if (!(value > 0.0) || !isfinite(value)) return 1.0;
    frexp(value, &exponent);
    return ldexp(1.0, exponent);
}

static void set_units(const ss_batched *batched, ss_single_batches *single)
{
    const ss_problem *problem = batched->problem;
    double velocity = 0.0, root = 0.0;
    for (int i = 0; i < problem->size; i++) velocity = fmax(velocity, fabs(problem->b[i]));
    for (int k = 0; k < problem->bodies->bodies; k++) root = fmax(root, batched->roots[k].part[0]);
    single->velocity = power_of_two(velocity);
    single->root = power_of_two(root);
}

/* ---- filling ---------------------------------------------------------------------------------------- */

/* Half of a batch, in doubles. */
typedef struct half {
    ss_batch batch;
    double r[3][SS_LANES], compliance[3][SS_LANES];
} half;

static void copy(int rows, double by, const double (*from)[SS_LANES], int at, float (*to)[SS_SINGLE_LANES])
{
    for (int i = 0; i < rows; i++) {
        for (int lane = 0; lane < SS_LANES; lane++) to[i][at + lane] = (float)(by * from[i][lane]);
    }
}

static void copy_by(int rows, const double by[SS_LANES], const double (*from)[SS_LANES], int at,
                    float (*to)[SS_SINGLE_LANES])
{
    for (int i = 0; i < rows; i++) {
        for (int lane = 0; lane < SS_LANES; lane++) to[i][at + lane] = (float)(by[lane] * from[i][lane]);
    }
}

/* Lanes at .. at + 3 of batch k. */
static void narrow(ss_single_batches *single, const half *from, int k, int at)
{
    ss_single_batch *to = &single->items[k];
    const ss_batch *of = &from->batch;
    double a[SS_LANES], inverse[SS_LANES], square[SS_LANES], impulse[SS_LANES];
    double empty = single->root * single->root; // whatever is harmless
    for (int lane = 0; lane < SS_LANES; lane++) {
        a[lane] = of->normal[lane] > 0.0 ? 1.0 / power_of_two(of->normal[lane]) : empty;
        inverse[lane] = 1.0 / a[lane];
        square[lane] = a[lane] * a[lane];
        impulse[lane] = a[lane] / single->velocity;
        to->unit[at + lane] = (float)(single->root * single->root / a[lane]);
        for (int side = 0; side < 2; side++) to->body[side][at + lane] = of->body[side][lane];
    }
    copy(9, 1.0, of->direction[0], at, to->direction[0]);
    copy(18, 1.0 / single->root, of->turn[0][0], at, to->turn[0][0]);
    copy(2, 1.0 / single->root, of->root, at, to->root);
    copy(3, 1.0 / single->velocity, of->load, at, to->load);
    copy_by(1, a, &of->normal, at, &to->normal);
    copy(2, 1.0, of->skew, at, to->skew);
    copy_by(3, inverse, of->tangent, at, to->tangent);
    copy_by(1, square, &of->inverse, at, &to->inverse);
    copy(1, 1.0, &of->mu, at, &to->mu);
    copy_by(1, inverse, &of->slip, at, &to->slip);
    copy_by(3, impulse, from->r, at, single->r[k]);
    if (single->compliance) copy_by(3, inverse, from->compliance, at, single->compliance[k]);
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
    half lanes;
    ss_batched part = *batched;
    part.batches.items = &lanes.batch;
    part.batches.r = &lanes.r;
    part.batches.compliance = batched->single->compliance ? &lanes.compliance : NULL;
    for (int64_t t = begin; t < end; t++) {
        const ss_batch_task *task = &batched->plan.tasks[t];
        int world_row = batched->problem->bodies->bodies + (int)t;
        for (int k = 2 * task->begin; k < 2 * task->end; k++) {
            part.batches.block = &batched->batches.block[k];
            ss_batched_fill_batch(&part, with->x, 0, world_row);
            narrow(batched->single, &lanes, k / 2, k % 2 * SS_LANES);
        }
    }
}

static const ss_single_kernel *kernel_like(const ss_batch_kernel *kernel)
{
#ifdef __x86_64__
    if (kernel == &ss_batch_kernel_avx2) return &ss_single_kernel_avx2;
#endif
    (void)kernel;
    return &ss_single_kernel_portable;
}

bool ss_single_create(ss_batched *batched, const double *x, ss_arena *arena)
{
    ss_single_batches *single = ss_arena_take(arena, 1, sizeof *single, "single batches");
    if (!single) return false;
    size_t count = (size_t)batched->batches.count;
    batched->single = single;
    batched->single_kernel = kernel_like(batched->kernel);
    single->count = batched->batches.count;
    single->items = ss_arena_take_unset(arena, count, sizeof *single->items, "single batches");
    single->r = ss_arena_take_unset(arena, count, sizeof *single->r, "impulses");
    single->is_long = count * sizeof *single->items > (size_t)16 << 20; // half of a large cache
    size_t rows = (size_t)batched->problem->bodies->bodies + (size_t)batched->plan.task_count;
    single->y = ss_arena_take(arena, rows, sizeof *single->y, "velocities");
    if (!single->items || !single->r || !single->y) return false;
    if (ss_batched_any_compliance(batched->problem)) {
        single->compliance = ss_arena_take(arena, count, sizeof *single->compliance, "compliance");
        if (!single->compliance) return false;
    }
    set_units(batched, single);
    ss_parallel_for(batched->team, batched->plan.task_count, 1, fill_tasks, &(filling){batched, x});
    return true;
}

bool ss_single_suits(const ss_batched *batched)
{
    static const float least_unit = 1e-24f, largest_unit = 1e24f, least_friction = 1e-4f;
    const ss_single_batches *single = batched->single;
    if (batched->cell_count > 0 || !ss_single_is_finite(batched)) return false;
    for (int k = 0; k < single->count; k++) {
        const ss_single_batch *batch = &single->items[k];
        for (int lane = 0; lane < SS_SINGLE_LANES; lane++) {
            if (!(batch->unit[lane] > least_unit && batch->unit[lane] < largest_unit)) return false;
            if (batch->mu[lane] > 0.0f && batch->mu[lane] < least_friction) return false;
        }
    }
    return true;
}

/* ---- looking ---------------------------------------------------------------------------------------- */

void ss_single_store(const ss_batched *batched, double *x)
{
    const ss_single_batches *single = batched->single;
    double impulse = single->velocity / single->root / single->root;
    for (int k = 0; k < single->count; k++) {
        for (int lane = 0; lane < SS_SINGLE_LANES; lane++) {
            int block = batched->batches.block[2 * k + lane / SS_LANES][lane % SS_LANES];
            double unit = impulse * single->items[k].unit[lane];
            double *r = block < 0 ? NULL : x + batched->problem->blocks[block].first;
            for (int i = 0; r && i < 3; i++) r[i] = unit * single->r[k][i][lane];
        }
    }
}

bool ss_single_is_finite(const ss_batched *batched)
{
    const ss_single_batches *single = batched->single;
    size_t numbers = sizeof *single->y / sizeof(float) * (size_t)batched->problem->bodies->bodies;
    const float *y = single->y[0];
    double sum = 0.0;
    for (size_t i = 0; i < numbers; i++) sum += fabsf(y[i]);
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
