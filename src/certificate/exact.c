/* The exact solution of a small problem, in rational numbers.
 *
 * Once it is known which unknowns are at a bound, what is left of a problem is a linear system, and A, b,
 * the bounds and the coefficients are rational: doubles are. Solved without any rounding, and put back into
 * all laws without any rounding, its solution is exact or it is none. States come from the backward
 * certificate, which may have guessed them wrong: then there is no exact certificate, and nothing else
 * happens.
 *
 * Friction that slides in space is |x_T| = mu x_N, a square root, which no rational number is. Contacts that
 * stick, part, slide along one of their axes (all planar ones), or have no friction are within reach. */
#include "certificate/exact.h"

#include <gmp.h>

typedef struct rational_system {
    const ss_problem *problem;
    int *representative; /* of each unknown: the active one it is a multiple of, -1: it is a constant */
    mpq_t *multiple;     /* that multiple, or the constant */
    int *active;         /* unknowns, in order */
    int *place;          /* of each unknown among the active ones, -1 */
    int count;
    mpq_t *x, *w; /* of all unknowns */
    mpq_t *rows;  /* count x (count + 1) */
} rational_system;

static mpq_t *make_numbers(size_t count)
{
    mpq_t *numbers = ss_allocate(count, sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++) mpq_init(numbers[i]);
    return numbers;
}

static void release_numbers(mpq_t *numbers, size_t count)
{
    for (size_t i = 0; numbers && i < count; i++) mpq_clear(numbers[i]);
    ss_release(numbers);
}

/* ---- which unknowns are left ------------------------------------------------------------------------- */

static void make_active(rational_system *s, int i)
{
    s->place[i] = s->count;
    s->active[s->count++] = i;
    s->representative[i] = i;
    mpq_set_si(s->multiple[i], 1, 1);
}

static void make_constant(rational_system *s, int i, double value)
{
    s->representative[i] = -1;
    mpq_set_d(s->multiple[i], value);
}

/* x_i = factor x_of */
static void make_multiple(rational_system *s, int i, int of, double factor)
{
    s->representative[i] = s->representative[of];
    mpq_set_d(s->multiple[i], factor);
    mpq_mul(s->multiple[i], s->multiple[i], s->multiple[of]);
}

static bool sort_cone(rational_system *s, const ss_block *block, const ss_block_case *state)
{
    int normal = block->first;
    bool presses = state->state != SS_CERTIFIED_OPEN, sticks = state->state == SS_CERTIFIED_STICK;
    if (presses)
        make_active(s, normal);
    else
        make_constant(s, normal, 0.0);

    // a contact slides along the one axis that has an impulse
    int slides = 0;
    for (int k = 1; k < block->size; k++) {
        int i = normal + k;
        double x = state->x[k].high;
        if (isinf(block->mu) || (presses && sticks && block->mu > 0.0)) {
            make_active(s, i);
        } else if (!presses || block->mu == 0.0 || x == 0.0) {
            make_constant(s, i, 0.0);
        } else {
            make_multiple(s, i, normal, x > 0.0 ? block->mu : -block->mu);
            slides++;
        }
    }
    return slides <= 1;
}

static bool sort_row(rational_system *s, int i, int at)
{
    const ss_problem *problem = s->problem;
    int partner = problem->partner[i];
    double bound = at < 0 ? problem->lower[i] : problem->upper[i];
    if (at == 0) {
        make_active(s, i);
    } else if (partner < 0) {
        make_constant(s, i, bound);
    } else {
        // a coupled row at the bound that follows its partner, whose sign is that of its own solution
        make_multiple(s, i, partner, at * problem->factor[i]);
        return true;
    }
    return isfinite(bound) || at == 0;
}

/* False: the problem is not one that rational numbers can answer. */
static bool sort_unknowns(rational_system *s, const ss_block_case *cases, const int *at)
{
    const ss_problem *problem = s->problem;
    for (int i = 0; i < problem->size; i++) s->place[i] = -1;
    for (int follows = 0; follows < 2; follows++) {
        for (int b = 0; b < problem->block_count; b++) {
            const ss_block *block = &problem->blocks[b];
            if ((block->law == SS_LAW_COUPLED) != follows) continue;
            if (block->law == SS_LAW_CONVEX || (block->law == SS_LAW_CONE && block->size > 3)) return false;
            if (block->law == SS_LAW_CONE && !sort_cone(s, block, &cases[b])) return false;
            for (int i = block->first; block->law != SS_LAW_CONE && i < block->first + block->size; i++)
                if (!sort_row(s, i, at[i])) return false;
        }
    }
    return true;
}

/* ---- the linear system ------------------------------------------------------------------------------ */

/* Row for row w = 0 of the active unknowns: the matrix, and minus what constants and b add. */
static void fill_rows(rational_system *s)
{
    const ss_problem *problem = s->problem;
    const ss_sparse *A = problem->A;
    int width = s->count + 1;
    mpq_t entry;
    mpq_init(entry);
    for (int r = 0; r < s->count; r++) {
        mpq_set_d(entry, problem->b[s->active[r]]);
        mpq_neg(s->rows[r * width + s->count], entry);
    }
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            int r = s->place[A->row[k]];
            if (r < 0) continue;
            mpq_set_d(entry, A->value[k]);
            mpq_mul(entry, entry, s->multiple[j]);
            mpq_t *to = &s->rows[r * width + s->count];
            if (s->representative[j] >= 0) {
                to = &s->rows[r * width + s->place[s->representative[j]]];
                mpq_add(*to, *to, entry);
            } else {
                mpq_sub(*to, *to, entry);
            }
        }
    }
    mpq_clear(entry);
}

/* Gauss and Jordan. Unknowns that the system leaves open, as in redundant stacks, keep their value x. False:
 * the system contradicts itself. */
static bool solve_rows(rational_system *s, const double *x)
{
    int n = s->count, width = n + 1, row = 0;
    mpq_t factor, product;
    mpq_inits(factor, product, NULL);
    int *pivot_row = ss_allocate((size_t)n, sizeof *pivot_row);
    bool good = pivot_row != NULL;
    for (int c = 0; good && c < n; c++) {
        int pivot = row;
        while (pivot < n && mpq_sgn(s->rows[pivot * width + c]) == 0) pivot++;
        pivot_row[c] = pivot < n ? row : -1;
        if (pivot == n) continue;
        for (int k = c; k < width; k++) mpq_swap(s->rows[pivot * width + k], s->rows[row * width + k]);
        mpq_inv(factor, s->rows[row * width + c]);
        for (int k = c; k < width; k++) mpq_mul(s->rows[row * width + k], s->rows[row * width + k], factor);
        for (int r = 0; r < n; r++) {
            if (r == row || mpq_sgn(s->rows[r * width + c]) == 0) continue;
            mpq_set(factor, s->rows[r * width + c]);
            for (int k = c; k < width; k++) {
                mpq_mul(product, factor, s->rows[row * width + k]);
                mpq_sub(s->rows[r * width + k], s->rows[r * width + k], product);
            }
        }
        row++;
    }
    for (int r = row; good && r < n; r++) good = mpq_sgn(s->rows[r * width + n]) == 0;

    // open unknowns first, then those that have a row
    for (int c = 0; good && c < n; c++)
        if (pivot_row[c] < 0) mpq_set_d(s->x[s->active[c]], x[s->active[c]]);
    for (int c = 0; good && c < n; c++) {
        if (pivot_row[c] < 0) continue;
        mpq_t *own = &s->rows[pivot_row[c] * width];
        mpq_t *to = &s->x[s->active[c]];
        mpq_set(*to, own[n]);
        for (int k = c + 1; k < n; k++) {
            if (pivot_row[k] >= 0) continue;
            mpq_mul(product, own[k], s->x[s->active[k]]);
            mpq_sub(*to, *to, product);
        }
    }
    ss_release(pivot_row);
    mpq_clears(factor, product, NULL);
    return good;
}

/* w = w + A x */
static void add_product(rational_system *s)
{
    const ss_sparse *A = s->problem->A;
    mpq_t part;
    mpq_init(part);
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            mpq_set_d(part, A->value[k]);
            mpq_mul(part, part, s->x[j]);
            mpq_add(s->w[A->row[k]], s->w[A->row[k]], part);
        }
    }
    mpq_clear(part);
}

/* x of all unknowns from the active ones, and w = A x + b */
static void complete(rational_system *s)
{
    const ss_problem *problem = s->problem;
    for (int i = 0; i < problem->size; i++) {
        int of = s->representative[i];
        if (of < 0)
            mpq_set(s->x[i], s->multiple[i]);
        else if (of != i)
            mpq_mul(s->x[i], s->multiple[i], s->x[of]);
        mpq_set_d(s->w[i], problem->b[i]);
    }
    add_product(s);
}

/* ---- the laws, without rounding ---------------------------------------------------------------------- */

/* Coulomb: x_N >= 0, w_N >= 0, one of them zero; friction within mu x_N; where it presses, w_T = 0 inside,
 * and against x_T on the boundary: w_1 x_2 = w_2 x_1, w_T . x_T <= 0. */
static bool obeys_coulomb(const rational_system *s, const ss_block *block)
{
    const mpq_t *x = (const mpq_t *)&s->x[block->first], *w = (const mpq_t *)&s->w[block->first];
    bool presses = mpq_sgn(x[0]) > 0, moves = false;
    if (mpq_sgn(x[0]) < 0 || mpq_sgn(w[0]) < 0 || (presses && mpq_sgn(w[0]) != 0)) return false;
    for (int k = 1; k < block->size; k++) moves |= mpq_sgn(w[k]) != 0;
    if (isinf(block->mu)) return !moves;

    mpq_t reach, used, along, part, other;
    mpq_inits(reach, used, along, part, other, NULL);
    mpq_set_d(reach, block->mu);
    mpq_mul(reach, reach, x[0]);
    mpq_mul(reach, reach, reach);
    for (int k = 1; k < block->size; k++) {
        mpq_mul(part, x[k], x[k]);
        mpq_add(used, used, part);
        mpq_mul(part, x[k], w[k]);
        mpq_add(along, along, part);
    }
    int left = mpq_cmp(reach, used);
    bool aligned = mpq_sgn(along) <= 0;
    if (block->size == 3) {
        mpq_mul(part, w[1], x[2]);
        mpq_mul(other, w[2], x[1]);
        aligned = aligned && mpq_equal(part, other);
    }
    mpq_clears(reach, used, along, part, other, NULL);
    if (left < 0) return false;
    if (!presses || block->mu == 0.0) return true;
    return left > 0 ? !moves : aligned;
}

static bool obeys_bounds(const rational_system *s, int i)
{
    const ss_problem *problem = s->problem;
    double ends[2] = {problem->lower[i], problem->upper[i]};
    bool at[2] = {false, false}, inside = true;
    mpq_t bound, follow;
    mpq_inits(bound, follow, NULL);
    for (int end = 0; end < 2; end++) {
        int sign = end ? 1 : -1;
        bool finite = isfinite(ends[end]);
        if (finite) mpq_set_d(bound, ends[end]);
        if (problem->partner[i] >= 0) {
            mpq_set_d(follow, problem->factor[i]);
            mpq_mul(follow, follow, s->x[problem->partner[i]]);
            mpq_abs(follow, follow);
            if (end == 0) mpq_neg(follow, follow);
            if (!finite || sign * mpq_cmp(follow, bound) < 0) mpq_set(bound, follow);
            finite = true;
        }
        if (!finite) continue;
        int beyond = sign * mpq_cmp(s->x[i], bound);
        inside &= beyond <= 0;
        at[end] = beyond == 0;
    }
    mpq_clears(bound, follow, NULL);
    int w = mpq_sgn(s->w[i]);
    return inside && (w <= 0 || at[0]) && (w >= 0 || at[1]);
}

static bool obeys_all(const rational_system *s)
{
    for (int b = 0; b < s->problem->block_count; b++) {
        const ss_block *block = &s->problem->blocks[b];
        if (block->law == SS_LAW_CONE && !obeys_coulomb(s, block)) return false;
        for (int i = block->first; block->law != SS_LAW_CONE && i < block->first + block->size; i++)
            if (!obeys_bounds(s, i)) return false;
    }
    return true;
}

/* The largest component of A (x - exact), which w is off by; the exact x and w are lost. */
static double distance_from(rational_system *s, const double *x)
{
    mpq_t part;
    mpq_init(part);
    for (int i = 0; i < s->problem->size; i++) {
        mpq_set_d(part, x[i]);
        mpq_sub(s->x[i], part, s->x[i]);
        mpq_set_ui(s->w[i], 0, 1);
    }
    add_product(s);
    double largest = 0.0;
    for (int i = 0; i < s->problem->size; i++) {
        mpq_abs(s->w[i], s->w[i]);
        double size = mpq_get_d(s->w[i]); // rounded towards zero
        mpq_set_d(part, size);
        largest = fmax(largest, mpq_equal(part, s->w[i]) ? size : nextafter(size, INFINITY));
    }
    mpq_clear(part);
    return largest;
}

/* ---- together --------------------------------------------------------------------------------------- */

bool ss_solve_exactly(const ss_problem *problem, const double *x, const ss_block_case *cases, const int *at,
                      int most, double *distance)
{
    size_t size = (size_t)problem->size;
    rational_system s = {.problem = problem};
    s.representative = ss_allocate(size, sizeof *s.representative);
    s.active = ss_allocate(size, sizeof *s.active);
    s.place = ss_allocate(size, sizeof *s.place);
    s.multiple = make_numbers(size);
    s.x = make_numbers(size);
    s.w = make_numbers(size);

    bool good = s.representative && s.active && s.place && s.multiple && s.x && s.w &&
                sort_unknowns(&s, cases, at) && s.count <= most;
    size_t cells = (size_t)s.count * ((size_t)s.count + 1);
    if (good) s.rows = make_numbers(cells);
    good = good && s.rows;
    if (good) {
        fill_rows(&s);
        good = solve_rows(&s, x);
    }
    if (good) {
        complete(&s);
        good = obeys_all(&s);
    }
    if (good) *distance = distance_from(&s, x);

    ss_release(s.representative);
    ss_release(s.active);
    ss_release(s.place);
    release_numbers(s.multiple, size);
    release_numbers(s.x, size);
    release_numbers(s.w, size);
    release_numbers(s.rows, cells);
    return good;
}
