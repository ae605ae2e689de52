#include "problem/mcp.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/sparse_search.h"

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

/* [A, E; F, 0]: the rows of multipliers below A, their columns beside it. */
static bool make_matrix(ss_mcp *mcp, ss_arena *arena)
{
    const ss_scaled *s = &mcp->scaled;
    int n = s->size, entry = 0;
    size_t size = (size_t)mcp->size, pairs = (size_t)mcp->pairs;
    size_t entries = (size_t)ss_sparse_nonzeros(&s->A) + 8 * pairs; // rows 2 x 2, columns 2, diagonal 2
    mcp->A = (ss_sparse){.rows = mcp->size, .cols = mcp->size};
    mcp->A.start = ss_arena_take_unset(arena, size + 1, sizeof *mcp->A.start, "its matrix");
    mcp->A.row = ss_arena_take_unset(arena, entries, sizeof *mcp->A.row, "its matrix");
    mcp->A.value = ss_arena_take_unset(arena, entries, sizeof *mcp->A.value, "its matrix");
    int *lists = ss_arena_take_unset(arena, 2 * (size_t)n + 2 * pairs, sizeof *lists, "followers");
    if (!mcp->A.start || !mcp->A.row || !mcp->A.value || !lists) return false;

    // The pairs that unknown j has a part in, ascending: as follower in one list, as partner in another.
    int *first_of[2] = {lists, lists + n}, *next[2] = {lists + 2 * n, lists + 2 * n + pairs};
    for (int i = 0; i < 2 * n; i++) lists[i] = -1;
    for (int k = mcp->pairs - 1; k >= 0; k--) {
        int member[2] = {mcp->follower[k], s->problem->partner[mcp->follower[k]]};
        for (int list = 0; list < 2; list++) {
            next[list][k] = first_of[list][member[list]];
            first_of[list][member[list]] = k;
        }
    }

    mcp->A.start[0] = 0;
    for (int j = 0; j < n; j++) {
        for (int k = s->A.start[j]; k < s->A.start[j + 1]; k++)
            ss_sparse_append(&mcp->A, &entry, s->A.row[k], s->A.value[k]);
        for (int list = 0; list < 2; list++) {
            for (int k = first_of[list][j]; k >= 0; k = next[list][k]) {
                int i = mcp->follower[k];
                ss_sparse_append(&mcp->A, &entry, n + 2 * k, i == j ? -1.0 : s->factor[i]);
                ss_sparse_append(&mcp->A, &entry, n + 2 * k + 1, i == j ? 1.0 : s->factor[i]);
            }
        }
        mcp->A.start[j + 1] = entry;
    }
    for (int k = 0; k < 2 * mcp->pairs; k++) {
        ss_sparse_append(&mcp->A, &entry, mcp->follower[k / 2], k % 2 ? -1.0 : 1.0);
        ss_sparse_append(&mcp->A, &entry, n + k, 0.0);
        mcp->A.start[n + k + 1] = entry;
    }
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
    mcp->follower = ss_arena_take_unset(arena, (size_t)mcp->pairs, sizeof *mcp->follower, "followers");
    if (!mcp->follower || !ss_arena_take_vectors(arena, (size_t)mcp->size, "complementarity problem",
                                                 (double **[]){&mcp->b, &mcp->lower, &mcp->upper, NULL}))
        return false;

    for (int i = 0, k = 0; i < s->size; i++) {
        bool is_nothing = problem->partner[i] >= 0 && s->factor[i] == 0.0;
        if (follows(s, i)) mcp->follower[k++] = i;
        mcp->b[i] = s->b[i];
        mcp->lower[i] = is_nothing ? 0.0 : s->lower[i];
        mcp->upper[i] = is_nothing ? 0.0 : s->upper[i];
    }
    for (int i = s->size; i < mcp->size; i++) mcp->upper[i] = INFINITY; // multipliers
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

/* 0 <= y . w = (A'y) . z + b . y <= sum of the largest each z_i can make of it, where that is finite; what
 * is not must vanish. */
bool ss_mcp_proves_none(const ss_mcp *mcp, double *y, double *scratch)
{
    double largest = 0.0, along = 0.0, growth = 0.0;

    // Of the sign that w has there in every solution, so that y . w >= 0: w >= 0 where z cannot meet an upper
    // bound.
    for (int i = 0; i < mcp->size; i++) {
        if (isfinite(mcp->upper[i])) y[i] = fmin(y[i], 0.0);
        if (isfinite(mcp->lower[i])) y[i] = fmax(y[i], 0.0);
        largest = fmax(largest, fabs(y[i]));
    }
    if (!(largest > 0.0) || !isfinite(largest)) return false;
    for (int i = 0; i < mcp->size; i++) {
        y[i] /= largest;
        along += mcp->b[i] * y[i];
    }

    // What A'y gives away at the best of the bounds; beyond all bounds it must be nothing.
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
