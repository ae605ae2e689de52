#include "solver/core/law.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "problem/laws.h"

/* ---- stiffness of a contact ------------------------------------------------------------------------- */

static double largest_of_two(const double *A, int size, int first)
{
    double a = A[size * first + first], d = A[size * (first + 1) + first + 1];
    double b = 0.5 * (A[size * first + first + 1] + A[size * (first + 1) + first]);
    return 0.5 * (a + d) + hypot(0.5 * (a - d), b);
}

/* By the formula of Cardano, in its trigonometric form (Smith, Eigenvalues of a symmetric 3 x 3 matrix,
 * 1961): to half of the digits where the two largest are equal, which is enough for the length of a step,
 * and in a twentieth of the instructions of LAPACK. */
static double largest_of_three(const double *A, int size, int first)
{
    const double *a = A + (size + 1) * first, *b = a + size, *c = b + size;
    double mean = (a[0] + b[1] + c[2]) / 3.0, x = a[0] - mean, y = b[1] - mean, z = c[2] - mean;
    double u = 0.5 * (a[1] + b[0]), v = 0.5 * (a[2] + c[0]), w = 0.5 * (b[2] + c[1]);
    double spread = sqrt((x * x + y * y + z * z + 2.0 * (u * u + v * v + w * w)) / 6.0);
    if (!(spread > 0.0)) return mean;
    x /= spread, y /= spread, z /= spread, u /= spread, v /= spread, w /= spread; // its cube may underflow
    double cosine = 0.5 * (x * (y * z - w * w) - u * (u * z - v * w) + v * (u * w - v * y));
    return mean + 2.0 * spread * cos(acos(fmin(fmax(cosine, -1.0), 1.0)) / 3.0);
}

void ss_cone_stiffness(int size, const double *A, double part[SS_PARTS])
{
    int tangents = ss_cone_tangents(size);
    part[SS_NORMAL] = A[0];
    part[SS_TANGENTIAL] = tangents == 1   ? A[3]
                          : tangents == 2 ? largest_of_two(A, size, 1)
                                          : largest_of_three(A, size, 1);
    part[SS_ROLLING] = ss_cone_rolls(size) ? largest_of_two(A, size, ss_cone_rolling(size)) : 0.0;
}

bool ss_cone_coupling(int size, const double *A, const double part[SS_PARTS], ss_arena *scratch,
                      double *lambda)
{
    double scaled[SS_CELL_CONE * SS_CELL_CONE] = {0}, values[SS_CELL_CONE];
    for (int i = 0; i < size; i++) values[i] = 1.0;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j <= i; j++) {
            double product = part[ss_part_of(size, i)] * part[ss_part_of(size, j)];
            double mean = 0.5 * (A[size * i + j] + A[size * j + i]);
            if (product > 0.0) scaled[size * i + j] = mean / sqrt(product);
            scaled[size * j + i] = scaled[size * i + j];
        }
    }
    if (size <= 3) { // the usual contact
        *lambda = fmax(1.0, size == 3 ? largest_of_three(scaled, 3, 0) : largest_of_two(scaled, 2, 0));
        return true;
    }
    ss_linalg_status status = ss_dense_symmetric_eigen(size, scaled, values, NULL, scratch);
    *lambda = fmax(1.0, values[size - 1]);
    return status != SS_LINALG_NO_MEMORY;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

typedef struct row {
    double step;
    const double *factor;
    double lower, upper;
    int partner; // from this unknown to the one its bounds follow
    double friction;
} row;

static void step_free(void *data, const double *w, double *r)
{
    const row *at = data;
    *r -= *at->factor * at->step * *w;
}

static void step_box(void *data, const double *w, double *r)
{
    const row *at = data;
    *r = fmin(fmax(*r - *at->factor * at->step * *w, at->lower), at->upper);
}

static void step_coupled(void *data, const double *w, double *r)
{
    const row *at = data;
    double limit = at->friction * fabs(r[at->partner]);
    double lower = fmax(at->lower, -limit), upper = fmin(at->upper, limit);
    *r = fmin(fmax(*r - *at->factor * at->step * *w, lower), upper);
}

bool ss_row_step_set(const ss_problem *problem, ss_cell *cell, double step, const double *factor,
                     ss_arena *arena)
{
    int i = cell->first, partner = problem->partner[i];
    ss_law law = problem->blocks[cell->block].law;
    row *at = ss_arena_take(arena, 1, sizeof *at, "rows");
    if (!at) return false;
    *at = (row){.step = step,
                .factor = factor,
                .lower = problem->lower[i],
                .upper = problem->upper[i],
                .partner = partner < 0 ? 0 : partner - i,
                .friction = problem->factor[i]};
    cell->data = at;
    cell->step = law == SS_LAW_FREE ? step_free : partner < 0 ? step_box : step_coupled;
    return true;
}

/* ---- cones ------------------------------------------------------------------------------------------ */

typedef struct cone {
    int size;
    bool sequential;
    const double *A, *factor;
    double step[SS_PARTS], mu[SS_PARTS];
    double scale[SS_CELL_CONE]; // convex law: the cone is projected on in these units
    ss_friction_cone scaled;
} cone;

/* Part after part: the normal, the tangents on the disc mu r_N, the rolling part likewise. */
static void step_coulomb(void *data, const double *w, double *r)
{
    const cone *at = data;
    double change[SS_CELL_CONE], factor = *at->factor;
    for (int first = 0, part = SS_NORMAL, count; first < at->size; first += count, part++) {
        count = part == SS_NORMAL ? 1 : part == SS_TANGENTIAL ? ss_cone_tangents(at->size) : 2;
        for (int i = first; i < first + count; i++) {
            double felt = 0.0; // what the parts before changed since the load was taken
            for (int j = 0; at->sequential && j < first; j++) felt += at->A[at->size * i + j] * change[j];
            change[i] = -r[i];
            r[i] -= factor * at->step[part] * (w[i] + felt);
        }

        double limit = at->mu[part] * r[0];
        double square = 0.0;
        for (int i = first; i < first + count; i++) square += r[i] * r[i];
        double length = count == 1 ? fabs(r[first]) : sqrt(square);
        if (part == SS_NORMAL)
            r[0] = fmax(0.0, r[0]);
        else if (!isinf(at->mu[part]) && length > limit)
            for (int i = first; i < first + count; i++) r[i] *= limit / length;
        for (int i = first; i < first + count; i++) change[i] += r[i];
    }
}

/* The same for the common size, without the loops. */
static void step_coulomb_three(void *data, const double *w, double *r)
{
    const cone *at = data;
    double factor = *at->factor, step = factor * at->step[SS_TANGENTIAL];
    double normal = fmax(0.0, r[0] - factor * at->step[SS_NORMAL] * w[0]);
    double change = at->sequential ? normal - r[0] : 0.0;
    double y1 = r[1] - step * (w[1] + at->A[3] * change), y2 = r[2] - step * (w[2] + at->A[6] * change);
    double limit = at->mu[SS_TANGENTIAL] * normal, square = y1 * y1 + y2 * y2;
    double share = square > limit * limit ? limit / sqrt(square) : 1.0;
    r[0] = normal;
    r[1] = share * y1;
    r[2] = share * y2;
}

static void step_convex(void *data, const double *w, double *r)
{
    const cone *at = data;
    for (int i = 0; i < at->size; i++)
        r[i] = (r[i] - *at->factor * at->step[ss_part_of(at->size, i)] * w[i]) * at->scale[i];
    ss_friction_cone_project(at->scaled, r);
    for (int i = 0; i < at->size; i++) r[i] /= at->scale[i];
}

bool ss_cone_step_set(const ss_problem *problem, ss_cell *cell, const double step[SS_PARTS], bool sequential,
                      const double *factor, ss_arena *arena)
{
    const ss_block *block = &problem->blocks[cell->block];
    cone *at = ss_arena_take(arena, 1, sizeof *at, "contacts");
    if (!at) return false;
    *at = (cone){.size = block->size,
                 .sequential = sequential,
                 .A = cell->own,
                 .factor = factor,
                 .mu = {0.0, block->mu, block->mu_rolling}};
    memcpy(at->step, step, sizeof at->step);

    // r_i / sqrt(step_i) has the energy norm of the step, and the cone stays a cone with other friction
    double mu[SS_PARTS] = {0};
    for (int i = 0; i < at->size; i++) {
        int part = ss_part_of(at->size, i);
        double own = step[part];
        at->scale[i] = own > 0.0 ? sqrt(step[SS_NORMAL] / own) : 1.0;
        mu[part] = at->mu[part] * at->scale[i];
    }
    at->scaled = (ss_friction_cone){block->size, mu[SS_TANGENTIAL], mu[SS_ROLLING]};
    cell->data = at;
    cell->step = block->law == SS_LAW_CONVEX             ? step_convex
                 : block->size == 3 && !isinf(block->mu) ? step_coulomb_three
                                                         : step_coulomb;
    return true;
}

/* ---- how long a step may be ---------------------------------------------------------------------------- */

double ss_largest_eigenvalue(const ss_problem *problem, const double *step, int iterations, ss_run *run)
{
    ss_arena *arena = run->arena;
    int n = problem->size;
    double lambda = 1.0, energy = 0.0;
    ss_arena_mark mark = ss_arena_get_mark(arena);
    double *y = ss_arena_take(arena, (size_t)n, sizeof *y, "power iteration");
    double *w = ss_arena_take(arena, (size_t)n, sizeof *w, "power iteration");
    double *scratch =
        ss_arena_take(arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "velocities");
    if (!y || !w || !scratch) return -1.0;

    // The energy of the load gives y the size of an impulse of this problem, so that A y, which is
    // (A y + b) - b, is rounded the same in every unit.
    for (int i = 0; i < n; i++) energy += step[i] * problem->b[i] * problem->b[i];
    if (!(energy > 0.0)) energy = 1.0;
    for (int i = 0; i < n; i++) y[i] = (i % 2 ? -1.0 : 1.0 + 0.5 * (i % 3)) * sqrt(energy * step[i]);
    for (int pass = 0; pass < iterations && !ss_run_late(run); pass++) {
        double before = 0.0, after = 0.0;
        ss_problem_apply(problem, y, scratch, w);
        for (int i = 0; i < n; i++) {
            if (!(step[i] > 0.0)) continue;
            double image = step[i] * (w[i] - problem->b[i]);
            before += y[i] * y[i] / step[i];
            after += image * image / step[i];
            y[i] = image;
        }
        if (!(after > 0.0)) break;
        lambda = sqrt(after / before);
        double size = sqrt(energy / after);
        for (int i = 0; i < n; i++) y[i] *= size;
    }
    ss_arena_reset(arena, mark);
    return 1.05 * lambda;
}

/* ---- all cells at once -------------------------------------------------------------------------------- */

bool ss_law_local_steps(const ss_operator *A, bool relaxed, ss_run *run, double *step)
{
    enum { PER_LOOK = 64 }; // at the clock, which takes as long as a contact or two
    for (int c = 0; c < A->cell_count; c++) {
        const ss_cell *cell = &A->cells[c];
        double part[SS_PARTS] = {0}, coupling = 1.0;
        if (!cell->own) {
            step[cell->first] = 1.0 / A->problem->diagonal[cell->first];
            continue;
        }
        if (c % PER_LOOK == 0 && ss_run_late(run)) return false;
        ss_cone_stiffness(cell->size, cell->own, part);
        if (relaxed && !ss_cone_coupling(cell->size, cell->own, part, run->arena, &coupling)) return false;
        for (int i = 0; i < cell->size; i++) {
            double stiffness = part[ss_part_of(cell->size, i)];
            step[cell->first + i] = stiffness > 0.0 ? 1.0 / (coupling * stiffness) : 0.0;
        }
    }
    return true;
}

bool ss_law_use_steps(ss_operator *A, const double *step, const double *factor, ss_arena *arena)
{
    bool good = true;
    for (int c = 0; good && c < A->cell_count; c++) {
        ss_cell *cell = &A->cells[c];
        double part[SS_PARTS] = {0};
        for (int i = 0; i < cell->size; i++) part[ss_part_of(cell->size, i)] = step[cell->first + i];
        good = cell->own ? ss_cone_step_set(A->problem, cell, part, false, factor, arena)
                         : ss_row_step_set(A->problem, cell, part[0], factor, arena);
    }
    return good;
}

void ss_law_step_all(const ss_operator *A, const double *w, double *x)
{
    for (int c = 0; c < A->cell_count; c++) {
        const ss_cell *cell = &A->cells[c];
        cell->step(cell->data, w + cell->first, x + cell->first);
    }
}
