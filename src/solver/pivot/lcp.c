#include "solver/pivot/lcp.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* What one unknown becomes. */
typedef enum kind { FIXED, FREE, FROM_BELOW, FROM_ABOVE, TWO_BOUNDS } kind;

static kind kind_of(const ss_scaled *s, int i)
{
    if (ss_scaled_is_fixed(s, i)) return FIXED;
    bool below = isfinite(s->lower[i]), above = isfinite(s->upper[i]);
    return below ? (above ? TWO_BOUNDS : FROM_BELOW) : (above ? FROM_ABOVE : FREE);
}

/* Where each unknown counts from. Returns the number of those with a second bound. */
static int choose_origins(ss_lcp *lcp)
{
    const ss_scaled *s = &lcp->scaled;
    int slacks = 0;
    lcp->size = 0;
    for (int i = 0; i < s->size; i++) {
        kind what = kind_of(s, i);
        lcp->place[i] = what == FIXED ? -1 : lcp->size++;
        lcp->sign[i] = what == FROM_ABOVE ? -1.0 : 1.0;
        lcp->origin[i] = what == FREE ? 0.0 : what == FROM_ABOVE ? s->upper[i] : s->lower[i];
        slacks += what == TWO_BOUNDS;
    }
    lcp->size += slacks;
    return slacks;
}

static void add_entry(ss_sparse *matrix, int *entry, int row, double value)
{
    matrix->row[*entry] = row;
    matrix->value[(*entry)++] = value;
}

/* Column j of S A S, without the rows of fixed unknowns */
static void fill_column(ss_lcp *lcp, int j, int *entry)
{
    const ss_sparse *from = &lcp->scaled.A;
    for (int k = from->start[j]; k < from->start[j + 1]; k++) {
        int i = from->row[k];
        if (lcp->place[i] >= 0)
            add_entry(&lcp->A, entry, lcp->place[i], lcp->sign[i] * lcp->sign[j] * from->value[k]);
    }
}

/* [S A S, I; -I, 0] with S the signs */
static void fill_matrix(ss_lcp *lcp, int slacks)
{
    const ss_scaled *s = &lcp->scaled;
    int entry = 0, col = 0, slack = lcp->size - slacks;
    for (int j = 0; j < s->size; j++) {
        if (lcp->place[j] < 0) continue;
        fill_column(lcp, j, &entry);
        if (kind_of(s, j) == TWO_BOUNDS) add_entry(&lcp->A, &entry, slack++, -1.0);
        lcp->A.start[++col] = entry;
    }
    for (int j = 0; j < s->size; j++) {
        if (kind_of(s, j) != TWO_BOUNDS) continue;
        add_entry(&lcp->A, &entry, lcp->place[j], 1.0);
        add_entry(&lcp->A, &entry, col, 0.0);
        lcp->A.start[++col] = entry;
    }
}

static void fill_load(ss_lcp *lcp, int slacks)
{
    const ss_scaled *s = &lcp->scaled;
    int slack = lcp->size - slacks;
    ss_scaled_apply(s, lcp->origin, lcp->x);
    for (int i = 0; i < s->size; i++) {
        int place = lcp->place[i];
        if (place < 0) continue;
        kind what = kind_of(s, i);
        lcp->is_free[place] = what == FREE;
        lcp->b[place] = lcp->sign[i] * lcp->x[i];
        if (what == TWO_BOUNDS) lcp->b[slack++] = s->upper[i] - s->lower[i];
    }
}

/* Every unknown counts from below and stays where it is: the usual case. */
static bool is_same_matrix(const ss_lcp *lcp)
{
    for (int i = 0; i < lcp->scaled.size; i++) {
        if (lcp->place[i] != i || lcp->sign[i] < 0.0) return false;
    }
    return lcp->size == lcp->scaled.size;
}

static bool take_matrix(ss_lcp *lcp, int slacks, ss_arena *arena)
{
    size_t size = (size_t)lcp->size;
    size_t nonzeros = (size_t)ss_sparse_nonzeros(&lcp->scaled.A) + 3 * (size_t)slacks;
    lcp->A = (ss_sparse){.rows = lcp->size, .cols = lcp->size};
    lcp->A.start = ss_arena_take(arena, size + 1, sizeof *lcp->A.start, "LCP matrix");
    lcp->A.row = ss_arena_take_unset(arena, nonzeros, sizeof *lcp->A.row, "LCP matrix");
    lcp->A.value = ss_arena_take_unset(arena, nonzeros, sizeof *lcp->A.value, "LCP matrix");
    return lcp->A.start && lcp->A.row && lcp->A.value;
}

bool ss_lcp_create(const ss_problem *problem, ss_arena *arena, ss_lcp *lcp)
{
    *lcp = (ss_lcp){0};
    size_t n = (size_t)problem->size;
    lcp->place = ss_arena_take_unset(arena, n, sizeof *lcp->place, "places");
    lcp->sign = ss_arena_take_unset(arena, 3 * n, sizeof *lcp->sign, "signs, origins and x");
    if (!lcp->place || !lcp->sign || !ss_scaled_create(problem, arena, &lcp->scaled)) return false;
    lcp->origin = lcp->sign + n;
    lcp->x = lcp->sign + 2 * n;
    int slacks = choose_origins(lcp);
    size_t size = (size_t)lcp->size;
    lcp->b = ss_arena_take_unset(arena, size, sizeof *lcp->b, "LCP load");
    lcp->is_free = ss_arena_take(arena, size, sizeof *lcp->is_free, "free unknowns");
    if (!lcp->b || !lcp->is_free) return false;
    if (is_same_matrix(lcp)) {
        lcp->A = lcp->scaled.A;
    } else {
        if (!take_matrix(lcp, slacks, arena)) return false;
        fill_matrix(lcp, slacks);
    }
    fill_load(lcp, slacks);
    return true;
}

void ss_lcp_restore(const ss_lcp *lcp, const double *z, double *x)
{
    for (int i = 0; i < lcp->scaled.size; i++) {
        int place = lcp->place[i];
        double step = place < 0 ? 0.0 : lcp->is_free[place] ? z[place] : fmax(z[place], 0.0);
        lcp->x[i] = lcp->origin[i] + lcp->sign[i] * step;
    }
    ss_scaled_restore(&lcp->scaled, lcp->x, x);
}
