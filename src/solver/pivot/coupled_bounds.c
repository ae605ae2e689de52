#include "solver/pivot/coupled_bounds.h"

#include <math.h>
#include <string.h>

#include "linalg/active_set_factor.h"
#include "linalg/anderson.h"
#include "solver/core/run_state.h"

enum { MEMORY = 6, MIXING_PATIENCE = 3, NEWTON_PATIENCE = 6 };

struct ss_coupled_bounds {
    const ss_scaled *s;
    ss_run *run;
    ss_anderson *anderson;
    double *followed; // x that the bounds of the last pass followed
    double last_error;
    int slow; // passes in a row that did not help much
    bool uses_newton;
};

ss_coupled_bounds *ss_coupled_bounds_create(const ss_scaled *scaled, ss_run *run)
{
    ss_arena *arena = run->arena;
    ss_coupled_bounds *f = ss_arena_take(arena, 1, sizeof *f, "coupled bounds");
    if (!f) return NULL;
    *f = (ss_coupled_bounds){.s = scaled, .run = run};
    f->anderson = ss_anderson_create(scaled->size, MEMORY, arena);
    f->followed = ss_arena_take(arena, (size_t)scaled->size, sizeof *f->followed, "followed x");
    return f->anderson && f->followed ? f : NULL;
}

void ss_coupled_bounds_start(ss_coupled_bounds *f, const double *x)
{
    memcpy(f->followed, x, (size_t)f->s->size * sizeof *x);
    ss_anderson_forget(f->anderson);
    f->last_error = INFINITY;
    f->slow = 0;
}

/* ---- Newton's step ---------------------------------------------------------------------------------- */

/* x_i / x_partner of an unknown whose bound follows its partner at the moment; 0 for all others. */
static double slope_of(const ss_scaled *s, const ss_pass *pass, const double *x, int i)
{
    int partner = s->problem->partner[i];
    if (partner < 0 || pass->side[i] == 0) return 0.0;
    double limit = s->factor[i] * fabs(x[partner]);
    double fixed = pass->side[i] > 0 ? s->upper[i] : -s->lower[i];
    return limit <= fixed ? pass->side[i] * s->factor[i] * (x[partner] < 0.0 ? -1.0 : 1.0) : 0.0;
}

/* Solves for the change of x: what moves it is that followers are not where their partners are now, and the
 * new centre. So rounding goes with the change, and does not move redundant normals about. */
static bool newton(const ss_coupled_bounds *f, const ss_pass *pass, double *x)
{
    const ss_scaled *s = f->s;
    ss_arena *arena = f->run->arena;
    ss_arena_mark mark = ss_arena_get_mark(arena);
    size_t n = (size_t)s->size, entries = (size_t)ss_sparse_nonzeros(&s->A) + n;
    int *place = ss_arena_take(arena, n, sizeof *place, "places"); // among the unknowns inside; -1
    int *row = ss_arena_take(arena, entries, sizeof *row, "triplets");
    int *column = ss_arena_take(arena, entries, sizeof *column, "triplets");
    double *value = ss_arena_take(arena, entries, sizeof *value, "triplets");
    double *right = ss_arena_take(arena, n, sizeof *right, "right-hand side");
    bool *all = ss_arena_take(arena, n, sizeof *all, "face");
    int size = 0, count = 0;
    if (!place || !row || !column || !value || !right || !all) {
        ss_arena_reset(arena, mark);
        return false;
    }
    for (int i = 0; i < s->size; i++) {
        place[i] = pass->side[i] == 0 ? size++ : -1;
        if (place[i] < 0) continue;
        right[place[i]] =
            pass->next_shift * (pass->next_centre[i] - x[i]) - pass->shift * (pass->centre[i] - x[i]);
        all[place[i]] = true;
    }

    // Column k of A is its own column inside; that of a follower goes to its partner's, times the slope.
    for (int k = 0; k < s->size; k++) {
        double slope = slope_of(s, pass, x, k), factor = slope == 0.0 ? 1.0 : slope;
        int partner = s->problem->partner[k], to = slope == 0.0 ? place[k] : place[partner];
        double change = slope == 0.0 ? 0.0 : slope * x[partner] - x[k];
        for (int e = s->A.start[k]; e < s->A.start[k + 1]; e++) {
            int at = place[s->A.row[e]];
            if (at < 0) continue;
            if (slope != 0.0) right[at] -= s->A.value[e] * change;
            if (to < 0) continue;
            row[count] = at;
            column[count] = to;
            value[count++] = s->A.value[e] * factor;
        }
    }

    ss_active_set_factor face = {0};
    ss_sparse *matrix = ss_sparse_from_triplets(size, size, count, row, column, value, NULL);
    bool good = matrix && ss_active_set_factor_create(matrix, false, pass->next_shift, arena, &face) &&
                ss_run_factorise(f->run, &face, all);
    if (good) ss_active_set_solve(&face, right, right);
    for (int i = 0; i < size && good; i++) good = isfinite(right[i]);
    for (int i = 0; i < s->size && good; i++) {
        if (place[i] >= 0) x[i] += right[place[i]];
    }
    ss_active_set_factor_destroy(&face);
    ss_sparse_destroy(matrix);
    ss_arena_reset(arena, mark);
    return good;
}

void ss_coupled_bounds_next(ss_coupled_bounds *f, const ss_pass *pass, double *x)
{
    // Mixing and Newton's method: each goes on until it does not help any more.
    f->slow = pass->error > 0.3 * f->last_error ? f->slow + 1 : 0;
    f->last_error = pass->error;
    if (f->slow >= (f->uses_newton ? NEWTON_PATIENCE : MIXING_PATIENCE)) {
        f->slow = f->uses_newton ? -MIXING_PATIENCE : 0; // mixing needs time to learn
        f->uses_newton = !f->uses_newton;
        ss_anderson_forget(f->anderson);
    }
    if (!f->uses_newton || !newton(f, pass, x)) ss_anderson_next(f->anderson, f->followed, x);
    memcpy(f->followed, x, (size_t)f->s->size * sizeof *x);
}
