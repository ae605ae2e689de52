#include "solver/splitting/splitting.h"

#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "solver/newton/newton_natural.h"

/* Rows that know no inequality: the smaller the better, but for rounding. */
static const double free_shift = 1e-6;
static const double least_rho = 1e-7, largest_rho = 1e4;

/* ---- life ------------------------------------------------------------------------------------------- */

static bool take_memory(ss_splitting *s)
{
    size_t n = (size_t)s->space->size;
    double **all[] = {&s->shift, &s->z, &s->lambda, &s->u, &s->gap, &s->step, &s->y, &s->image, &s->trial};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k] = ss_arena_take_unset(s->arena, n, sizeof **all[k], "splitting");
        if (!*all[k]) return false;
    }
    s->is_free = ss_arena_take(s->arena, n, sizeof *s->is_free, "free rows");
    return s->is_free && ss_safeguarded_anderson_create(s->space->size, s->set.mixing, s->arena, &s->mixing);
}

static void find_free_rows(ss_splitting *s)
{
    const ss_newton_space *space = s->space;
    for (int k = 0; k < space->node_count; k++) {
        const ss_newton_node *node = &space->nodes[k];
        for (int i = node->first; node->law == SS_LAW_BOX && i < node->first + node->size; i++)
            s->is_free[i] = isinf(space->lower[i]) && isinf(space->upper[i]) && space->partner[i] < 0;
    }
}

/* z = p(y) */
static void project(const ss_splitting *s, const double *y, double *z)
{
    for (int k = 0; k < s->space->node_count; k++) {
        const ss_newton_node *node = &s->space->nodes[k];
        double p[SS_NODE_MAX];
        ss_newton_project(s->space, node, y + node->first, s->z, p, NULL);
        memcpy(z + node->first, p, (size_t)node->size * sizeof *p);
    }
}

/* What z still lacks. */
static void look(ss_splitting *s)
{
    double sum = 0.0;
    ss_row_groups_velocity(&s->groups, s->z, s->u);
    for (int i = 0; i < s->space->size; i++) {
        s->gap[i] = -(s->u[i] + s->lambda[i]);
        sum += s->gap[i] * s->gap[i];
    }
    s->error = sqrt(sum);
}

static void forget(ss_splitting *s)
{
    ss_safeguarded_anderson_forget(&s->mixing);
    s->has_y = false;
}

/* At a solution u = -lambda, and anywhere lambda = z - u - p(z - u) is of the right kind. */
bool ss_splitting_create(const ss_newton_space *space, const ss_splitting_options *set, const double *r,
                         ss_arena *arena, ss_splitting *s)
{
    int n = space->size;
    *s = (ss_splitting){.set = *set,
                        .space = space,
                        .arena = arena,
                        .rho = set->rho,
                        .checked = INFINITY,
                        .deadline = INFINITY};
    if (!take_memory(s) || !ss_row_groups_create(space, arena, &s->groups)) return false;
    find_free_rows(s);
    memcpy(s->z, r, (size_t)n * sizeof *r);
    project(s, s->z, s->z);
    ss_row_groups_velocity(&s->groups, s->z, s->u);
    for (int i = 0; i < n; i++) s->y[i] = s->z[i] - s->u[i];
    project(s, s->y, s->trial);
    for (int i = 0; i < n; i++) s->lambda[i] = s->is_free[i] ? 0.0 : s->y[i] - s->trial[i];
    forget(s);
    look(s);
    return true;
}

void ss_splitting_free(ss_splitting *s)
{
    ss_shifted_system_free(s->shifted);
    s->shifted = NULL;
}

/* ---- rho -------------------------------------------------------------------------------------------- */

static bool factor(ss_splitting *s)
{
    // s per group until the first front of the first matrix, measured on pyramids of cubes: not begun in vain
    static const double per_group = 8e-7;
    s->is_late = !s->shifted && ss_deadline_misses(s->deadline, per_group * s->groups.count);
    if (s->is_late) return false;
    if (!s->shifted) s->shifted = ss_shifted_system_create(&s->groups, s->arena);
    if (!s->shifted) return false;
    ss_shifted_system_set_deadline(s->shifted, s->deadline);
    for (int i = 0; i < s->space->size; i++) s->shift[i] = s->is_free[i] ? fmin(free_shift, s->rho) : s->rho;
    s->factorizations++;
    forget(s);
    s->is_factored = ss_shifted_system_factor(s->shifted, s->shift);
    s->is_late = ss_shifted_system_is_late(s->shifted);
    return s->is_factored;
}

/* By how much rho should change: x - z and S (z - z_before) of a plain step, in between relative to the sizes
 * of z and lambda and not relative at all. */
static double imbalance(const ss_splitting *s)
{
    double primal = 0.0, dual = 0.0, size = 0.0, load = 0.0;
    for (int i = 0; i < s->space->size; i++) {
        if (s->is_free[i]) continue;
        double apart = s->z[i] + s->step[i] - s->trial[i], moved = s->rho * (s->trial[i] - s->z[i]);
        double lambda = s->rho * (s->image[i] - s->trial[i]);
        primal += apart * apart;
        dual += moved * moved;
        size += s->trial[i] * s->trial[i];
        load += lambda * lambda;
    }
    if (!(dual > 0.0) || !(size > 0.0)) return 1.0;
    return sqrt(sqrt(primal / dual * sqrt(load / size)));
}

/* After a factorisation it takes some steps to see whether it was a good one, and more when there were
 * many. Where the error hardly falls, rho goes further, and for less. True when rho has changed; the plain
 * step is made then. */
static bool adapt(ss_splitting *s)
{
    enum { SOON = 10, LATER = 25, MANY = 3 };
    static const double band = 3.0, narrow = 1.2, jump = 20.0, slowly = 0.5;
    if (!s->set.adaptive || ++s->since < (s->factorizations > MANY ? LATER : SOON)) return false;
    s->since = 0;
    project(s, s->image, s->trial);
    double change = imbalance(s), width = band;
    if (s->error > slowly * s->checked) {
        change *= change;
        width = narrow;
    }
    s->checked = s->error;
    if (!(change > width || change < 1.0 / width)) return false;
    double rho = s->rho * fmin(fmax(change, 1.0 / jump), jump);
    rho = fmin(fmax(rho, least_rho), largest_rho);
    if (rho == s->rho) return false;
    for (int i = 0; i < s->space->size; i++) s->lambda[i] = s->shift[i] * (s->image[i] - s->trial[i]);
    memcpy(s->z, s->trial, (size_t)s->space->size * sizeof *s->z);
    s->rho = rho;
    s->is_factored = false;
    return true;
}

/* ---- a step ----------------------------------------------------------------------------------------- */

bool ss_splitting_step(ss_splitting *s)
{
    int n = s->space->size;
    if (!s->is_factored && !factor(s)) return false;
    ss_shifted_system_solve(s->shifted, s->gap, s->step);
    for (int i = 0; i < n; i++) {
        double stride = s->is_free[i] ? 1.0 : s->set.relaxation;
        s->image[i] = s->z[i] + stride * s->step[i] + s->lambda[i] / s->shift[i];
    }
    if (!adapt(s)) {
        if (s->has_y) ss_safeguarded_anderson_next(&s->mixing, s->y, s->image);
        memcpy(s->y, s->image, (size_t)n * sizeof *s->y);
        s->has_y = true;
        project(s, s->y, s->z);
        for (int i = 0; i < n; i++) s->lambda[i] = s->shift[i] * (s->y[i] - s->z[i]);
    }
    look(s);
    return true;
}
