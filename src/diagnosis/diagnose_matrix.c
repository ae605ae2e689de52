/* What kind of matrix A is. Mechanics gives symmetric ones, positive semidefinite, and rows of zeros only
 * where nothing can move. */
#include "diagnosis/diagnose.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "problem/laws.h"

/* ---- rows that nothing moves ------------------------------------------------------------------------ */

/* m/s by which the law of an empty block is violated whatever the impulse is: w = b. */
static double violation(const ss_problem *problem, const ss_block *block)
{
    const double *b = problem->b + block->first;
    double most = 0.0;
    if (ss_law_is_cone(block->law)) return fmax(0.0, -b[0]);
    for (int i = 0; i < block->size; i++) {
        double l = problem->lower[block->first + i], u = problem->upper[block->first + i];
        if (block->law == SS_LAW_COUPLED) continue; // its bounds are finite whenever they matter
        if (isinf(u)) most = fmax(most, -b[i]);
        if (isinf(l)) most = fmax(most, b[i]);
    }
    return most;
}

static bool diagnose_immovable(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    bool *marked = ss_allocate((size_t)problem->size, sizeof *marked);
    if (!marked) return false;
    int count = 0, worst = -1;
    double most = -1.0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool is_empty = block->size > 0;
        for (int i = block->first; i < block->first + block->size; i++) is_empty &= d->is_empty[i];
        if (!is_empty) continue;
        double here = violation(problem, block);
        marked[block->first] = true;
        count++;
        if (here > most) most = here, worst = block->first;
    }

    if (count) {
        ss_name_marked(problem, marked, &d->text);
        ss_text_appendf(&d->text, " act%s on no body that can move", count == 1 ? "s" : "");
        if (most > 0.0) {
            ss_text_append(&d->text, ", and ");
            ss_name_unknown(problem, worst, &d->text);
            ss_text_appendf(&d->text, " requires a change of %.3g m/s nevertheless: there is no solution",
                            most);
        }
        ss_diagnosing_tell(d, most > 0.0 ? SS_SEVERITY_FATAL : SS_SEVERITY_NOTE, SS_DEFECT_IMMOVABLE, count,
                           most > 0.0 ? most : NAN, worst,
                           "remove contacts and joints between bodies that are fixed, asleep or massless");
    }
    ss_release(marked);
    return true;
}

/* ---- the diagonal ----------------------------------------------------------------------------------- */

static void diagnose_diagonal(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    int zeros = 0, negative = 0, first = -1, worst = -1;
    for (int i = 0; i < problem->size; i++) {
        double a = problem->diagonal[i];
        if (d->is_empty[i] || a > 0.0) continue;
        if (zeros + negative == 0) first = i;
        negative += a < 0.0;
        zeros += a == 0.0;
        if (a < 0.0 && (worst < 0 || a < problem->diagonal[worst])) worst = i;
    }
    d->has_massless = zeros + negative > 0;
    if (!d->has_massless) return;

    if (negative) {
        ss_text_appendf(&d->text, "a_ii is negative for ");
        ss_name_count(&d->text, negative, "unknown");
        ss_text_append(&d->text, ", the worst is ");
        ss_name_unknown(problem, worst, &d->text);
        ss_text_appendf(&d->text, " with %.3g: an impulse there moves the bodies in the opposite direction",
                        problem->diagonal[worst]);
        ss_diagnosing_tell(d, SS_SEVERITY_FATAL, SS_DEFECT_DIAGONAL, negative, problem->diagonal[worst],
                           worst, "look for a negative mass, or a sign error in the assembly of the matrix");
        return;
    }
    ss_name_count(&d->text, zeros, "unknown");
    ss_text_append(&d->text, " with a_ii = 0, the first is ");
    ss_name_unknown(problem, first, &d->text);
    ss_text_append(&d->text, ": row-by-row sweeps cannot handle them");
    ss_diagnosing_tell(d, d->is_symmetric ? SS_SEVERITY_WARNING : SS_SEVERITY_NOTE, SS_DEFECT_DIAGONAL, zeros,
                       0.0, first,
                       "use lemke, path or auto; or the formulations cone and box, which have no such rows");
}

/* ---- symmetry --------------------------------------------------------------------------------------- */

static void diagnose_symmetry(ss_diagnosing *d)
{
    static const double rounding = 1e-9;
    const ss_problem *problem = d->problem;
    d->is_symmetric = problem->bodies || problem->symmetric;
    if (d->is_symmetric) return;
    double most = 0.0, scale = 0.0;
    int row = -1, column = -1;
    const ss_sparse *A = problem->A;
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            scale = fmax(scale, fabs(A->value[k]));
            double other = ss_sparse_get(A, j, A->row[k]), off = fabs(A->value[k] - other);
            if (off > most) most = off, row = A->row[k], column = j;
        }
    }
    d->is_symmetric = !(most > rounding * scale);
    if (row < 0) return;

    bool has_cones = ss_problem_laws(problem) & (SS_LAW_CONE | SS_LAW_CONVEX);
    ss_text_appendf(&d->text,
                    "A is not symmetric: a_ij and a_ji differ by %.3g of the largest entry, for i = %d (",
                    most / scale, row);
    ss_name_unknown(problem, row, &d->text);
    ss_text_appendf(&d->text, ") and j = %d (", column);
    ss_name_unknown(problem, column, &d->text);
    ss_text_append(&d->text, d->is_symmetric ? "), which is rounding" : ")");
    bool harmless = d->is_symmetric || !has_cones;
    ss_diagnosing_tell(
        d, harmless ? SS_SEVERITY_NOTE : SS_SEVERITY_WARNING, SS_DEFECT_UNSYMMETRIC, 1, most / scale, row,
        d->is_symmetric
            ? "replace A by (A + A') / 2 to make all methods applicable"
            : "methods that minimise energy are not applicable; nsgs, the Newton methods, lemke and auto "
              "are");
}

bool ss_diagnose_rows(ss_diagnosing *d)
{
    // Rows that nothing moves. Of bodies, a_ii = 0 is enough: A is semidefinite.
    const ss_problem *problem = d->problem;
    const ss_sparse *A = problem->A;
    for (int i = 0; i < problem->size; i++)
        d->is_empty[i] = problem->bodies ? problem->diagonal[i] == 0.0 : true;
    for (int j = 0; !problem->bodies && j < problem->size; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            if (A->value[k] != 0.0) d->is_empty[A->row[k]] = d->is_empty[j] = false;
        }
    }

    diagnose_symmetry(d); // decides how bad a zero on the diagonal is
    diagnose_diagonal(d);
    return diagnose_immovable(d);
}

/* ---- definiteness ----------------------------------------------------------------------------------- */

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

enum { STEPS = 40 };

/* Lanczos' method with everything kept: T = Q' S Q, S = D^-1/2 (A + A') / 2 D^-1/2 with D = 1 where a_ii is
 * not positive. Returns the steps that were made. */
static int lanczos(const ss_problem *problem, const double *root, double *basis, double *work, double *T,
                   int steps)
{
    int n = problem->size;
    ss_random random = ss_random_start(1, 0);
    double length = 0.0, *scaled = work, *y = work + n;
    for (int i = 0; i < n; i++) basis[i] = ss_random_normal(&random), length += basis[i] * basis[i];
    for (int i = 0; i < n; i++) basis[i] /= sqrt(length);
    for (int k = 0; k < steps; k++) {
        double *q = basis + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) scaled[i] = q[i] * root[i], y[i] = 0.0;
        ss_sparse_apply(problem->A, scaled, 0.5, y);
        ss_sparse_apply_transposed(problem->A, scaled, 0.5, y);
        for (int i = 0; i < n; i++) y[i] *= root[i];
        T[k * steps + k] = dot(n, q, y);
        double size = sqrt(dot(n, y, y));

        // Orthogonal to all vectors before: twice, which is enough.
        for (int pass = 0; pass < 2; pass++) {
            for (int j = 0; j <= k; j++) {
                const double *before = basis + (size_t)j * (size_t)n;
                double share = dot(n, before, y);
                for (int i = 0; i < n; i++) y[i] -= share * before[i];
            }
        }
        double rest = sqrt(dot(n, y, y));
        if (k + 1 == steps || !(rest > 1e-12 * size)) return k + 1;
        T[k * steps + k + 1] = T[(k + 1) * steps + k] = rest;
        for (int i = 0; i < n; i++) q[n + i] = y[i] / rest;
    }
    return steps;
}

/* The smallest and largest eigenvalue that a few steps show, of A scaled to a unit diagonal. A
 * negative one is proof. */
static bool extreme_eigenvalues(const ss_problem *problem, double *smallest, double *largest)
{
    int n = problem->size, steps = n < STEPS ? n : STEPS;
    size_t room = (size_t)n;
    double *root = ss_allocate(room, sizeof *root), *work = ss_allocate(2 * room, sizeof *work);
    double *basis = ss_allocate(room * (size_t)steps, sizeof *basis);
    double T[STEPS * STEPS] = {0}, values[STEPS];
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    bool good = root && work && basis && arena;

    if (good) {
        for (int i = 0; i < n; i++)
            root[i] = problem->diagonal[i] > 0.0 ? 1.0 / sqrt(problem->diagonal[i]) : 1.0;
        int made = lanczos(problem, root, basis, work, T, steps);
        double square[STEPS * STEPS];
        for (int i = 0; i < made * made; i++) square[i] = T[i / made * steps + i % made];
        good = ss_dense_symmetric_eigen(made, square, values, NULL, arena) == SS_LINALG_OK;
        if (good) *smallest = values[0], *largest = values[made - 1];
    }

    ss_arena_destroy(arena);
    ss_release(root);
    ss_release(work);
    ss_release(basis);
    return good;
}

bool ss_diagnose_definite(ss_diagnosing *d)
{
    static const double rounding = 1e-9;
    const ss_problem *problem = d->problem;
    const ss_bodies_form *form = problem->bodies;
    if (form) {
        // Of bodies, by the minors of their inertias; the first is named.
        int body = -1;
        for (int b = 0; b < form->bodies && body < 0; b++) {
            const double *I = form->inverse_inertia[b];
            double minors = I[0] * I[4] - I[1] * I[3], size = fabs(I[0]) + fabs(I[4]) + fabs(I[8]);
            double determinant = I[0] * (I[4] * I[8] - I[5] * I[7]) - I[1] * (I[3] * I[8] - I[5] * I[6]) +
                                 I[2] * (I[3] * I[7] - I[4] * I[6]);
            bool bad = form->inverse_mass[b] < 0.0 || I[0] < 0.0 || I[4] < 0.0 || I[8] < 0.0 ||
                       minors < -1e-9 * size * size || determinant < -1e-9 * size * size * size;
            if (bad) body = b;
        }
        if (body < 0) return true;
        ss_text_appendf(&d->text,
                        "the mass or the inertia of body %d is negative: impulses on it create energy",
                        d->options->body ? d->options->body[body] : body);
        ss_diagnosing_tell(d, SS_SEVERITY_FATAL, SS_DEFECT_INDEFINITE, 1, NAN, -1,
                           "masses must be positive, and inertias positive definite");
        return true;
    }

    // rows of sliding speeds make the symmetric part indefinite, and that is as it should be
    if (problem->size == 0 || (d->has_massless && !d->is_symmetric)) return true;
    double smallest = 0.0, largest = 0.0;
    if (!extreme_eigenvalues(problem, &smallest, &largest)) return false;
    bool is_negative = smallest < -rounding * fmax(largest, -smallest);
    if (!is_negative && d->negative_pivots == 0) return true;
    ss_text_append(&d->text, "A is not positive semidefinite: ");
    if (d->negative_pivots) {
        ss_name_count(&d->text, d->negative_pivots, "negative eigenvalue");
        ss_text_append(&d->text, is_negative
                                     ? ", "
                                     : ", all of them small, as if entries had been rounded to few digits");
    }
    if (is_negative)
        ss_text_appendf(&d->text,
                        "the smallest is at most %.3g where the largest is about %.3g, with rows scaled to "
                        "a_ii = 1",
                        smallest, largest);
    ss_text_append(&d->text, "; some impulses create energy");
    ss_diagnosing_tell(d, SS_SEVERITY_WARNING, SS_DEFECT_INDEFINITE,
                       d->negative_pivots ? d->negative_pivots : 1, is_negative ? smallest : NAN, -1,
                       "no mechanical system with positive masses has such a matrix: look for a sign "
                       "error or rounded entries; there may be several solutions or none");
    return true;
}
