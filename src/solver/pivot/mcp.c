#include "solver/pivot/mcp.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const double absurd = 1e6; // no answer, next to the load: proof against smaller ones is enough
static const double rounding = 1e-15;

const char *ss_mcp_refusal(const ss_problem *problem)
{
    for (int i = 0; i < problem->size; i++) {
        if (problem->partner[i] >= 0 && !(problem->lower[problem->partner[i]] >= 0.0))
            return "needs coupled bounds to follow impulses that cannot be negative";
    }
    return NULL;
}

/* ---- making it -------------------------------------------------------------------------------------- */

static bool follows(const ss_scaled *s, int i)
{
    return s->problem->partner[i] >= 0 && s->factor[i] > 0.0 && !ss_scaled_is_fixed(s, i);
}

static int count_entries(const ss_mcp *mcp)
{
    return ss_sparse_nonzeros(&mcp->scaled.A) + 8 * mcp->pairs; // rows 2 x 2, columns 2, diagonal 2
}

static bool take_memory(ss_mcp *mcp, ss_arena *arena)
{
    size_t n = (size_t)mcp->size, entries = (size_t)count_entries(mcp);
    double *numbers = ss_arena_take_unset(arena, 3 * n, sizeof *numbers, "complementarity problem");
    mcp->follower = ss_arena_take_unset(arena, (size_t)mcp->pairs, sizeof *mcp->follower, "followers");
    if (!numbers || !mcp->follower) return false;
    mcp->b = numbers;
    mcp->lower = numbers + n;
    mcp->upper = numbers + 2 * n;
    if (mcp->pairs == 0) return true;
    mcp->A = (ss_sparse){.rows = mcp->size, .cols = mcp->size};
    mcp->A.start = ss_arena_take_unset(arena, n + 1, sizeof *mcp->A.start, "its matrix");
    mcp->A.row = ss_arena_take_unset(arena, entries, sizeof *mcp->A.row, "its matrix");
    mcp->A.value = ss_arena_take_unset(arena, entries, sizeof *mcp->A.value, "its matrix");
    return mcp->A.start && mcp->A.row && mcp->A.value;
}

static void add_entry(ss_sparse *matrix, int *entry, int row, double value)
{
    matrix->row[*entry] = row;
    matrix->value[(*entry)++] = value;
}

/* Below column j of A: what it is to the rows of multipliers. */
static void add_multiplier_rows(ss_mcp *mcp, const int *first_of, const int *next, int j, int *entry)
{
    const ss_scaled *s = &mcp->scaled;
    int n = s->size;
    for (int k = first_of[j]; k >= 0; k = next[k]) { // ascending
        int i = mcp->follower[k];
        add_entry(&mcp->A, entry, n + 2 * k, i == j ? -1.0 : s->factor[i]);
        add_entry(&mcp->A, entry, n + 2 * k + 1, i == j ? 1.0 : s->factor[i]);
    }
}

/* [A, E; F, 0]. Lists: the pairs that unknown j has a part in, as follower or as partner. A pair
 * is in two lists. */
static void fill_matrix(ss_mcp *mcp, int *first_of, int *next_own, int *next_partner)
{
    const ss_scaled *s = &mcp->scaled;
    int n = s->size, entry = 0;
    mcp->A.start[0] = 0;
    for (int j = 0; j < n; j++) {
        for (int k = s->A.start[j]; k < s->A.start[j + 1]; k++)
            add_entry(&mcp->A, &entry, s->A.row[k], s->A.value[k]);
        add_multiplier_rows(mcp, first_of, next_own, j, &entry);
        add_multiplier_rows(mcp, first_of + n, next_partner, j, &entry);
        mcp->A.start[j + 1] = entry;
    }
    for (int k = 0; k < 2 * mcp->pairs; k++) {
        add_entry(&mcp->A, &entry, mcp->follower[k / 2], k % 2 ? -1.0 : 1.0);
        add_entry(&mcp->A, &entry, n + k, 0.0);
        mcp->A.start[n + k + 1] = entry;
    }
}

static bool make_matrix(ss_mcp *mcp, ss_arena *arena)
{
    const ss_scaled *s = &mcp->scaled;
    size_t n = (size_t)s->size, pairs = (size_t)mcp->pairs;
    int *lists = ss_arena_take_unset(arena, 2 * n + 2 * pairs, sizeof *lists, "followers");
    if (!lists) return false;
    int *first_of = lists, *next_own = lists + 2 * n, *next_partner = next_own + pairs;
    for (size_t i = 0; i < 2 * n; i++) first_of[i] = -1;
    for (int k = mcp->pairs - 1; k >= 0; k--) {
        int i = mcp->follower[k], partner = s->problem->partner[i];
        next_own[k] = first_of[i];
        first_of[i] = k;
        next_partner[k] = first_of[s->size + partner];
        first_of[s->size + partner] = k;
    }
    fill_matrix(mcp, first_of, next_own, next_partner);
    return true;
}

bool ss_mcp_create(const ss_problem *problem, ss_arena *arena, ss_mcp *mcp)
{
    *mcp = (ss_mcp){0};
    if (!ss_scaled_create(problem, arena, &mcp->scaled)) return false;
    const ss_scaled *s = &mcp->scaled;
    for (int i = 0; i < s->size; i++) mcp->pairs += follows(s, i);
    mcp->size = s->size + 2 * mcp->pairs;
    mcp->symmetric = problem->symmetric && mcp->pairs == 0;
    if (!take_memory(mcp, arena)) return false;
    for (int i = 0, k = 0; i < s->size; i++) {
        bool is_nothing = problem->partner[i] >= 0 && s->factor[i] == 0.0;
        if (follows(s, i)) mcp->follower[k++] = i;
        mcp->b[i] = s->b[i];
        mcp->lower[i] = is_nothing ? 0.0 : s->lower[i];
        mcp->upper[i] = is_nothing ? 0.0 : s->upper[i];
    }
    for (int i = s->size; i < mcp->size; i++) {
        mcp->b[i] = mcp->lower[i] = 0.0;
        mcp->upper[i] = INFINITY;
    }
    if (mcp->pairs > 0) return make_matrix(mcp, arena);
    mcp->A = s->A;
    return true;
}

/* ---- points ----------------------------------------------------------------------------------------- */

void ss_mcp_start(const ss_mcp *mcp, const double *x, double *scratch, double *z)
{
    const ss_scaled *s = &mcp->scaled;
    ss_scaled_start(s, x, z);
    for (int i = 0; i < s->size; i++) z[i] = fmin(fmax(z[i], mcp->lower[i]), mcp->upper[i]);
    for (int i = s->size; i < mcp->size; i++) z[i] = 0.0;
    if (mcp->pairs == 0) return;
    ss_scaled_apply(s, z, scratch);
    for (int k = 0; k < mcp->pairs; k++) {
        int i = mcp->follower[k];
        double limit = s->factor[i] * z[s->problem->partner[i]];
        z[i] = fmin(fmax(z[i], -limit), limit);
        z[s->size + 2 * k] = z[i] - scratch[i] > limit ? fmax(-scratch[i], 0.0) : 0.0;
        z[s->size + 2 * k + 1] = z[i] - scratch[i] < -limit ? fmax(scratch[i], 0.0) : 0.0;
    }
}

void ss_mcp_restore(const ss_mcp *mcp, const double *z, double *x)
{
    ss_scaled_restore(&mcp->scaled, z, x);
}

void ss_mcp_apply(const ss_mcp *mcp, const double *z, double *w)
{
    memcpy(w, mcp->b, (size_t)mcp->size * sizeof *w);
    ss_sparse_apply(&mcp->A, z, 1.0, w);
}

double ss_mcp_error(const ss_mcp *mcp, const double *z, double *w)
{
    ss_mcp_apply(mcp, z, w);
    return ss_scaled_error(mcp->size, mcp->lower, mcp->upper, z, w);
}

/* ---- no solution ------------------------------------------------------------------------------------ */

/* Of the sign that w has there in every solution, so that y . w >= 0: w >= 0 where z cannot meet
 * an upper bound. */
static double allowed(const ss_mcp *mcp, int i, double y)
{
    if (isfinite(mcp->upper[i])) y = fmin(y, 0.0);
    if (isfinite(mcp->lower[i])) y = fmax(y, 0.0);
    return y;
}

/* 0 <= y . w = (A'y) . z + b . y <= sum of the largest each z_i can make of it, where that is finite; what
 * is not must vanish. */
bool ss_mcp_proves_none(const ss_mcp *mcp, double *y, double *scratch)
{
    double largest = 0.0, along = 0.0, growth = 0.0;
    for (int i = 0; i < mcp->size; i++) {
        y[i] = allowed(mcp, i, y[i]);
        largest = fmax(largest, fabs(y[i]));
    }
    if (!(largest > 0.0) || !isfinite(largest)) return false;
    for (int i = 0; i < mcp->size; i++) {
        y[i] /= largest;
        along += mcp->b[i] * y[i];
    }
    memset(scratch, 0, (size_t)mcp->size * sizeof *scratch);
    ss_sparse_apply_transposed(&mcp->A, y, 1.0, scratch);
    for (int i = 0; i < mcp->size; i++) {
        double best = scratch[i] > 0.0 ? mcp->upper[i] : mcp->lower[i];
        if (!isfinite(best))
            growth = fmax(growth, fabs(scratch[i]));
        else
            along += scratch[i] * best;
    }
    return -along > absurd * fmax(growth, rounding);
}
