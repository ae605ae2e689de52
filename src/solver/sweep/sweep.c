#include "solver/sweep/sweep.h"

#include <math.h>
#include <string.h>

/* ---- loads ------------------------------------------------------------------------------------------ */

/* Two numbers at a time; for three unknowns that is written out, because nearly all contacts have three. */
typedef double pair __attribute__((vector_size(16)));

static inline pair load_pair(const double *from)
{
    pair two;
    memcpy(&two, from, sizeof two);
    return two;
}

/* Four partial sums: a row of scalars would otherwise wait for one addition after the other. */
static double gather_one(const ss_cell *cell, const double *x)
{
    const double *a = cell->values;
    const int *place = cell->places;
    double sum[4] = {0};
    for (int k = 0; k < cell->triples; k++, a += 3, place++) {
        sum[0] += a[0] * x[*place] + a[1] * x[*place + 1] + a[2] * x[*place + 2];
    }
    int k = 0;
    for (; k + 4 <= cell->singles; k += 4) {
        for (int lane = 0; lane < 4; lane++) sum[lane] += a[k + lane] * x[place[k + lane]];
    }
    for (; k < cell->singles; k++) sum[0] += a[k] * x[place[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static inline void gather_three(const ss_cell *cell, const double *x, const double *b, double *load)
{
    const double *a = cell->values;
    const int *place = cell->places;
    pair row0 = {0}, row1 = {0}, row2 = {0}, last01 = {0};
    double last2 = 0.0;
    for (int k = 0; k < cell->triples; k++, a += 9) {
        const double *y = x + place[k];
        pair y01 = {y[0], y[1]};
        row0 += load_pair(a) * y01;
        row1 += load_pair(a + 2) * y01;
        row2 += load_pair(a + 4) * y01;
        last01 += load_pair(a + 6) * y[2];
        last2 += a[8] * y[2];
    }
    load[0] = b[0] + (row0[0] + row0[1] + last01[0]);
    load[1] = b[1] + (row1[0] + row1[1] + last01[1]);
    load[2] = b[2] + (row2[0] + row2[1] + last2);
    place += cell->triples;
    for (int k = 0; k < cell->singles; k++, a += 3) {
        for (int i = 0; i < 3; i++) load[i] += a[i] * x[place[k]];
    }
}

static void gather_many(const ss_cell *cell, const double *x, double *load)
{
    const double *a = cell->values;
    const int *place = cell->places;
    for (int k = 0; k < cell->triples; k++, place++) {
        const double *y = x + *place;
        for (int i = 0; i < cell->size; i++, a += 3) load[i] += a[0] * y[0] + a[1] * y[1] + a[2] * y[2];
    }
    for (int k = 0; k < cell->singles; k++) {
        for (int i = 0; i < cell->size; i++) load[i] += *a++ * x[place[k]];
    }
}

static void gather_rows(const ss_problem *problem, const ss_cell *cell, const double *x, double *load)
{
    memcpy(load, problem->b + cell->first, (size_t)cell->size * sizeof *load);
    gather_many(cell, x, load);
}

/* J v of one row and one body */
static inline double dot_pairs(const double *J, pair v0, pair v1, pair v2)
{
    pair sum = load_pair(J) * v0 + load_pair(J + 2) * v1 + load_pair(J + 4) * v2;
    return sum[0] + sum[1];
}

static void gather_bodies(const ss_sweep *sweep, const ss_cell *cell, const double *r, double *load)
{
    int size = cell->size;
    const double *J = cell->values;
    for (int k = 0; k < cell->bodies; k++, J += 12 * size) {
        const double *v = sweep->velocity[cell->places[k]];
        for (int i = 0; i < size; i++)
            load[i] += dot_pairs(J + 6 * i, load_pair(v), load_pair(v + 2), load_pair(v + 4));
    }
    if (!cell->outer) return;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) load[i] -= cell->own[size * i + j] * r[j];
    }
}

static void push_bodies(ss_sweep *sweep, const ss_cell *cell, const double *change)
{
    int size = cell->size;
    const double *push = cell->values + 6 * size;
    for (int k = 0; k < cell->bodies; k++, push += 12 * size) {
        double *v = sweep->velocity[cell->places[k]];
        for (int i = 0; i < size; i++) {
            for (int d = 0; d < 6; d++) v[d] += push[6 * i + d] * change[i];
        }
    }
}

/* The same for one row. */
static double gather_bodies_one(const ss_sweep *sweep, const ss_cell *cell, double load)
{
    const double *J = cell->values;
    for (int k = 0; k < cell->bodies; k++, J += 12) {
        const double *v = sweep->velocity[cell->places[k]];
        load += dot_pairs(J, load_pair(v), load_pair(v + 2), load_pair(v + 4));
    }
    return load;
}

static void push_bodies_one(ss_sweep *sweep, const ss_cell *cell, double change)
{
    const double *push = cell->values + 6;
    for (int k = 0; k < cell->bodies; k++, push += 12) {
        double *v = sweep->velocity[cell->places[k]];
        for (int d = 0; d < 6; d += 2) {
            pair sum = load_pair(v + d) + load_pair(push + d) * change;
            memcpy(v + d, &sum, sizeof sum);
        }
    }
}

/* The same for three: a twist is three pairs. */
static void gather_bodies_three(const ss_sweep *sweep, const ss_cell *cell, const double *r, double *load)
{
    const double *J = cell->values, *own = cell->own;
    for (int k = 0; k < cell->bodies; k++, J += 36) {
        const double *v = sweep->velocity[cell->places[k]];
        pair v0 = load_pair(v), v1 = load_pair(v + 2), v2 = load_pair(v + 4);
        load[0] += dot_pairs(J, v0, v1, v2);
        load[1] += dot_pairs(J + 6, v0, v1, v2);
        load[2] += dot_pairs(J + 12, v0, v1, v2);
    }
    if (!cell->outer) return;
    load[0] -= own[0] * r[0] + own[1] * r[1] + own[2] * r[2];
    load[1] -= own[3] * r[0] + own[4] * r[1] + own[5] * r[2];
    load[2] -= own[6] * r[0] + own[7] * r[1] + own[8] * r[2];
}

static inline void push_pair(const double *push, const double *change, double *v)
{
    pair sum =
        load_pair(push) * change[0] + load_pair(push + 6) * change[1] + load_pair(push + 12) * change[2];
    sum += load_pair(v);
    memcpy(v, &sum, sizeof sum);
}

static void push_bodies_three(ss_sweep *sweep, const ss_cell *cell, const double *change)
{
    const double *push = cell->values + 18;
    for (int k = 0; k < cell->bodies; k++, push += 36) {
        double *v = sweep->velocity[cell->places[k]];
        push_pair(push, change, v);
        push_pair(push + 2, change, v + 2);
        push_pair(push + 4, change, v + 4);
    }
}

/* What does not come through the bodies. */
static inline void start_load(const ss_problem *problem, const ss_cell *cell, const double *r, double *load)
{
    const double *b = problem->b + cell->first, *compliance = problem->bodies->compliance + cell->first;
    for (int i = 0; i < cell->size; i++) load[i] = b[i] + compliance[i] * r[i];
}

/* ---- passes ----------------------------------------------------------------------------------------- */

/* The common case, a contact of three, without the loops. */
static double visit_three(ss_sweep *sweep, const ss_cell *cell, double *x)
{
    const ss_problem *problem = sweep->problem;
    double *r = x + cell->first, before[3] = {r[0], r[1], r[2]}, load[3];
    if (sweep->velocity) {
        start_load(problem, cell, r, load);
        gather_bodies_three(sweep, cell, r, load);
    } else {
        gather_three(cell, x, problem->b + cell->first, load);
    }
    cell->step(cell->data, load, r);
    const double *a = problem->diagonal + cell->first;
    double change[3] = {r[0] - before[0], r[1] - before[1], r[2] - before[2]};
    double sum = a[0] * change[0] * change[0] + a[1] * change[1] * change[1] + a[2] * change[2] * change[2];
    if (sweep->velocity && sum != 0.0) push_bodies_three(sweep, cell, change);
    return sum;
}

/* The other one, a row. */
static double visit_one(ss_sweep *sweep, const ss_cell *cell, double *x)
{
    const ss_problem *problem = sweep->problem;
    int i = cell->first;
    double before = x[i], load = problem->b[i];
    if (sweep->velocity)
        load = gather_bodies_one(sweep, cell, load + problem->bodies->compliance[i] * before);
    else
        load += gather_one(cell, x);
    cell->step(cell->data, &load, x + i);
    double change = x[i] - before, sum = problem->diagonal[i] * change * change;
    if (sweep->velocity && sum != 0.0) push_bodies_one(sweep, cell, change);
    return sum;
}

static double visit_any(ss_sweep *sweep, const ss_cell *cell, double *x)
{
    const ss_problem *problem = sweep->problem;
    double *load = sweep->load, *change = sweep->change, *r = x + cell->first, sum = 0.0;
    for (int i = 0; i < cell->size; i++) change[i] = -r[i];
    if (sweep->velocity) {
        start_load(problem, cell, r, load);
        gather_bodies(sweep, cell, r, load);
    } else {
        gather_rows(problem, cell, x, load);
    }
    cell->step(cell->data, load, r);
    const double *a = problem->diagonal + cell->first;
    for (int i = 0; i < cell->size; i++) {
        change[i] += r[i];
        sum += a[i] * change[i] * change[i];
    }
    if (sweep->velocity && sum != 0.0) push_bodies(sweep, cell, change);
    return sum;
}

static inline double visit(ss_sweep *sweep, const ss_cell *cell, double *x)
{
    if (cell->size == 3) return visit_three(sweep, cell, x);
    return cell->size == 1 ? visit_one(sweep, cell, x) : visit_any(sweep, cell, x);
}

static double pass_forward(ss_sweep *sweep, double *x)
{
    double sum = 0.0;
    for (int c = 0; c < sweep->cell_count; c++) sum += visit(sweep, &sweep->cells[c], x);
    return sum;
}

static double pass_backward(ss_sweep *sweep, double *x)
{
    double sum = 0.0;
    for (int c = sweep->cell_count - 1; c >= 0; c--) sum += visit(sweep, &sweep->cells[c], x);
    return sum;
}

static void start_shuffling(ss_sweep *sweep)
{
    sweep->random = ss_random_start(sweep->seed, 0);
    for (int c = 0; c < sweep->cell_count; c++) sweep->order[c] = c;
    sweep->is_shuffled = true;
}

static double pass_shuffled(ss_sweep *sweep, double *x)
{
    double sum = 0.0;
    if (!sweep->is_shuffled) start_shuffling(sweep);
    for (int c = sweep->cell_count - 1; c > 0; c--) {
        int other = ss_random_below(&sweep->random, c + 1), kept = sweep->order[c];
        sweep->order[c] = sweep->order[other];
        sweep->order[other] = kept;
    }
    for (int c = 0; c < sweep->cell_count; c++) sum += visit(sweep, &sweep->cells[sweep->order[c]], x);
    return sum;
}

void ss_sweep_refresh(ss_sweep *sweep, const double *x)
{
    if (!sweep->velocity) return;
    memset(sweep->velocity, 0, (size_t)sweep->problem->bodies->bodies * sizeof *sweep->velocity);
    for (int c = 0; c < sweep->cell_count; c++) {
        const ss_cell *cell = &sweep->cells[c];
        push_bodies(sweep, cell, x + cell->first);
    }
}

double ss_sweep_pass(ss_sweep *sweep, ss_sweep_order order, double *x)
{
    enum { REFRESH = 64 }; // velocities collect rounding with every push
    if (sweep->passes++ % REFRESH == 0) ss_sweep_refresh(sweep, x);
    switch (order) {
    case SS_SWEEP_BACKWARD:
        return pass_backward(sweep, x);
    case SS_SWEEP_SYMMETRIC: {
        double sum = pass_forward(sweep, x);
        return sum + pass_backward(sweep, x);
    }
    case SS_SWEEP_ALTERNATE:
        return sweep->passes % 2 ? pass_forward(sweep, x) : pass_backward(sweep, x);
    case SS_SWEEP_SHUFFLE:
        return pass_shuffled(sweep, x);
    default:
        return pass_forward(sweep, x);
    }
}

/* ---- a whole run ------------------------------------------------------------------------------------ */

bool ss_watch_stalled(ss_watch *watch, double measure, int patience)
{
    static const double improvement = 0.999;
    int at = watch->count++;
    if (at == 0 || measure < improvement * watch->best) {
        watch->best = measure;
        watch->best_at = at;
    }
    return at - watch->best_at >= patience && at - watch->best_at > at / 2;
}

/* Sweeps of one order can run in circles that another order breaks: auto goes through three of them. */
ss_status ss_sweep_iterate(ss_sweep *sweep, ss_sweep_order order, ss_run *run, double *x)
{
    size_t bytes = (size_t)sweep->problem->size * sizeof *x;
    ss_sweep_order current = order == SS_SWEEP_AUTO ? SS_SWEEP_FORWARD : order;
    ss_watch watch = {0};
    for (;;) {
        memcpy(sweep->last_good, x, bytes);
        double change = ss_sweep_pass(sweep, current, x);
        if (!isfinite(change)) {
            memcpy(x, sweep->last_good, bytes);
            return SS_FAILED;
        }
        bool due = ss_run_due(run, 0.5 * change);
        if (!ss_run_iteration(run, due ? x : NULL, NULL)) return ss_run_status(run);
        if (change == 0.0) return SS_CONVERGED;
        bool last_order = order != SS_SWEEP_AUTO || current == SS_SWEEP_SHUFFLE;
        if (!ss_watch_stalled(&watch, change, last_order ? SS_SWEEP_STUCK : SS_SWEEP_CIRCLING)) continue;
        if (last_order) return SS_STALLED;
        current = current == SS_SWEEP_FORWARD ? SS_SWEEP_BACKWARD : SS_SWEEP_SHUFFLE;
        watch = (ss_watch){0};
    }
}
