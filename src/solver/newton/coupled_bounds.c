#include "solver/newton/coupled_bounds.h"

#include <math.h>
#include <string.h>

#include "linalg/anderson.h"
#include "solver/newton/active_set_factor.h"

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

typedef struct system {
    int *place; // among the unknowns inside; -1
    int size;
    int *i, *j; // triplets
    double *value, *right;
    int count;
} system;

static bool take_system(const ss_scaled *s, ss_arena *arena, system *sys)
{
    size_t n = (size_t)s->size, entries = (size_t)ss_sparse_nonzeros(&s->A) + n;
    *sys = (system){0};
    sys->place = ss_arena_take(arena, n, sizeof *sys->place, "places");
    sys->i = ss_arena_take(arena, entries, sizeof *sys->i, "triplets");
    sys->j = ss_arena_take(arena, entries, sizeof *sys->j, "triplets");
    sys->value = ss_arena_take(arena, entries, sizeof *sys->value, "triplets");
    sys->right = ss_arena_take(arena, n, sizeof *sys->right, "right-hand side");
    return sys->place && sys->i && sys->j && sys->value && sys->right;
}

/* Column k of A, times `factor`, as a part of column `to`. */
static void add_column(const ss_scaled *s, system *sys, int k, int to, double factor)
{
    for (int e = s->A.start[k]; e < s->A.start[k + 1]; e++) {
        int row = sys->place[s->A.row[e]];
        if (row < 0) continue;
        sys->i[sys->count] = row;
        sys->j[sys->count] = to;
        sys->value[sys->count++] = s->A.value[e] * factor;
    }
}

static void add_load(const ss_scaled *s, system *sys, int k, double change)
{
    for (int e = s->A.start[k]; e < s->A.start[k + 1]; e++) {
        int row = sys->place[s->A.row[e]];
        if (row >= 0) sys->right[row] -= s->A.value[e] * change;
    }
}

/* For the change of x: what moves it is that followers are not where their partners are now, and the new
 * centre. So rounding goes with the change, and does not move redundant normals about. */
static void fill_system(const ss_scaled *s, const ss_pass *pass, const double *x, system *sys)
{
    for (int i = 0; i < s->size; i++) {
        sys->place[i] = pass->side[i] == 0 ? sys->size++ : -1;
        if (pass->side[i] == 0)
            sys->right[sys->place[i]] =
                pass->next_shift * (pass->next_centre[i] - x[i]) - pass->shift * (pass->centre[i] - x[i]);
    }
    for (int k = 0; k < s->size; k++) {
        double slope = slope_of(s, pass, x, k);
        int partner = s->problem->partner[k];
        if (sys->place[k] >= 0) add_column(s, sys, k, sys->place[k], 1.0);
        if (slope == 0.0) continue;
        add_load(s, sys, k, slope * x[partner] - x[k]);
        if (sys->place[partner] >= 0) add_column(s, sys, k, sys->place[partner], slope);
    }
}

static bool solve_system(const ss_coupled_bounds *f, const ss_pass *pass, system *sys, double *x)
{
    const ss_scaled *s = f->s;
    ss_sparse *matrix =
        ss_sparse_from_triplets(sys->size, sys->size, sys->count, sys->i, sys->j, sys->value, NULL);
    bool *all = ss_arena_take(f->run->arena, (size_t)sys->size, sizeof *all, "face");
    ss_active_set_factor face = {0};
    bool good = matrix && all && ss_active_set_factor_create(matrix, false, pass->next_shift, f->run, &face);
    for (int i = 0; i < sys->size && good; i++) all[i] = true;
    good = good && ss_active_set_factorise(&face, all);
    if (good) ss_active_set_solve(&face, sys->right, sys->right);
    for (int i = 0; i < sys->size && good; i++) good = isfinite(sys->right[i]);
    for (int i = 0; i < s->size && good; i++) {
        if (sys->place[i] >= 0) x[i] += sys->right[sys->place[i]];
    }
    ss_active_set_factor_destroy(&face);
    ss_sparse_destroy(matrix);
    return good;
}

static bool newton(const ss_coupled_bounds *f, const ss_pass *pass, double *x)
{
    ss_arena_mark mark = ss_arena_get_mark(f->run->arena);
    system sys;
    bool good = take_system(f->s, f->run->arena, &sys);
    if (good) {
        fill_system(f->s, pass, x, &sys);
        good = solve_system(f, pass, &sys, x);
    }
    ss_arena_reset(f->run->arena, mark);
    return good;
}

/* Each of the two goes on until it does not help any more. */
static void choose(ss_coupled_bounds *f, double error)
{
    f->slow = error > 0.3 * f->last_error ? f->slow + 1 : 0;
    f->last_error = error;
    if (f->slow < (f->uses_newton ? NEWTON_PATIENCE : MIXING_PATIENCE)) return;
    f->slow = f->uses_newton ? -MIXING_PATIENCE : 0; // mixing needs time to learn
    f->uses_newton = !f->uses_newton;
    ss_anderson_forget(f->anderson);
}

void ss_coupled_bounds_next(ss_coupled_bounds *f, const ss_pass *pass, double *x)
{
    choose(f, pass->error);
    if (!f->uses_newton || !newton(f, pass, x)) ss_anderson_next(f->anderson, f->followed, x);
    memcpy(f->followed, x, (size_t)f->s->size * sizeof *x);
}
