/* Equations alone are linear: A = H H' + C with a unit diagonal (levers.h), factorised row by row between the
 * first row that shares a body and the diagonal, the envelope, outside of which L is zero. Joints in the
 * order in which a chain was built have an envelope of two joints, so that its cost is linear. */
#include "problem/equations.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "problem/levers.h"

static const double most_work = 5e5;     // multiplications: more is for sparse factors
static const double least_pivot = 1e-10; // of 1: below, rows depend on each other
enum { REFINEMENTS = 1 };

bool ss_equations_solve(const ss_problem *problem, ss_arena *arena, double *x)
{
    const ss_bodies_form *form = problem->bodies;
    size_t n = (size_t)problem->size;
    if (!form || form->further_start) return false;
    for (int k = 0; k < problem->block_count; k++)
        if (problem->blocks[k].law != SS_LAW_FREE) return false;

    // The envelope: row i begins with the first row on one of its bodies.
    int *number = ss_arena_take_unset(arena, n, sizeof *number, "numbers");
    int *begin = ss_arena_take_unset(arena, n, sizeof *begin, "envelope");
    int *first_of =
        ss_arena_take_unset(arena, (size_t)form->bodies, sizeof *first_of, "first rows of bodies");
    size_t *row = ss_arena_take_unset(arena, n, sizeof *row, "rows of factors"), entries = 0;
    double *scale = ss_arena_take_unset(arena, n, sizeof *scale, "scales"), work = 0.0;
    if (!number || !begin || !first_of || !row || !scale) return false;
    for (int body = 0; body < form->bodies; body++) first_of[body] = problem->size;
    for (int i = 0; i < problem->size; i++) {
        number[i] = begin[i] = i;
        for (int side = 0; side < 2; side++) {
            int body = form->pair[i][side];
            if (body < 0) continue;
            if (first_of[body] > i) first_of[body] = i;
            if (first_of[body] < begin[i]) begin[i] = first_of[body];
        }
        double width = i - begin[i] + 1;
        work += width * width;
        row[i] = entries - (size_t)begin[i]; // entry j of row i is at row[i] + j
        entries += (size_t)(i - begin[i] + 1);
        scale[i] = sqrt(problem->diagonal[i]);
        if (!(scale[i] > 0.0) || !(work < most_work)) return false;
    }

    // Cholesky's factors.
    const ss_levers *levers = ss_levers_create(problem, number, scale, arena);
    double *L = ss_arena_take_unset(arena, entries, sizeof *L, "factors");
    if (!levers || !L) return false;
    for (int i = 0; i < problem->size; i++) {
        double *at = L + row[i];
        for (int j = begin[i]; j <= i; j++) {
            const double *other = L + row[j];
            double sum = ss_levers_product(levers, i, j) + (i == j ? levers->compliance[i] : 0.0);
            for (int k = begin[i] > begin[j] ? begin[i] : begin[j]; k < j; k++) sum -= at[k] * other[k];
            at[j] = i == j ? sqrt(sum) : sum / other[j];
            if (i == j && !(sum > least_pivot)) return false;
        }
    }

    // Forwards, backwards, and once more with what is left.
    double *w = ss_arena_take_unset(arena, n, sizeof *w, "w");
    double *y = ss_arena_take_unset(arena, n, sizeof *y, "y");
    double *sum = ss_arena_take(arena, n, sizeof *sum, "x");
    double *scratch =
        ss_arena_take_unset(arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "velocities");
    if (!w || !y || !sum || !scratch) return false;
    for (int turn = 0; turn <= REFINEMENTS; turn++) {
        ss_problem_apply(problem, sum, scratch, w);
        for (int i = 0; i < problem->size; i++) {
            y[i] = -w[i] / scale[i];
            for (int k = begin[i]; k < i; k++) y[i] -= L[row[i] + (size_t)k] * y[k];
            y[i] /= L[row[i] + (size_t)i];
        }
        for (int i = problem->size - 1; i >= 0; i--) {
            y[i] /= L[row[i] + (size_t)i];
            for (int k = begin[i]; k < i; k++) y[k] -= L[row[i] + (size_t)k] * y[i];
            sum[i] += y[i] / scale[i];
        }
    }
    for (int i = 0; i < problem->size; i++)
        if (!isfinite(sum[i])) return false;
    memcpy(x, sum, n * sizeof *x);
    return true;
}
