/* How many unknowns the motion tells apart. Of bodies, the Gram matrix is the sum of s s' over the rows s =
 * M^-1/2 J', 6 columns for each body, however many contacts there are; otherwise it is A itself, or A'A. */
#include "diagnosis/diagnose.h"

#include <math.h>
#include <string.h>

#include "diagnosis/diagnose_gram.h"
#include "linalg/triplets.h"
#include "problem/levers.h"

/* ---- rank of bodies --------------------------------------------------------------------------------- */

/* A row with a compliance of its own depends on no other. */
static bool is_stiff(const ss_problem *problem, int i)
{
    return problem->bodies->compliance[i] <= ss_gram_dependent * problem->diagonal[i];
}

static bool is_live_side(const ss_bodies_form *form, int i, int side)
{
    return form->pair[i][side] >= 0 && (side == 0 || form->pair[i][1] != form->pair[i][0]);
}

/* Sums of rows over one pair of bodies are made before they become entries: 36 for each pair,
 * not for each row. */
static void add_products(const double *a, const double *b, double sum[36])
{
    for (int k = 0; k < 36; k++) sum[k] += a[k / 6] * b[k % 6];
}

typedef struct half_rows {
    double a[6], b[6]; /* of the lower and of the higher body; that of a missing one is zero */
    int low, high;     /* bodies, -1 = none */
} half_rows;

static half_rows halves_of(const ss_problem *problem, const ss_mass_root *roots, int i)
{
    const ss_bodies_form *form = problem->bodies;
    half_rows of = {.low = -1, .high = -1};
    double factor = 1.0 / sqrt(problem->diagonal[i]);
    int first = form->pair[i][0], second = form->pair[i][1];
    int side_low = first >= 0 && (second < 0 || first < second) ? 0 : 1;
    if (is_live_side(form, i, side_low)) {
        of.low = form->pair[i][side_low];
        ss_mass_root_scale(&roots[of.low], form->jacobian[i] + 6 * side_low, of.a);
    }
    if (is_live_side(form, i, 1 - side_low) && of.low >= 0) {
        of.high = form->pair[i][1 - side_low];
        ss_mass_root_scale(&roots[of.high], form->jacobian[i] + 6 * (1 - side_low), of.b);
    }
    for (int k = 0; k < 6; k++) of.a[k] *= factor, of.b[k] *= factor;
    return of;
}

static void add_block(ss_triplets *entries, int low, int high, const double sum[36])
{
    for (int k = 0; k < 36; k++) {
        ss_triplets_add(entries, 6 * low + k / 6, 6 * high + k % 6, sum[k]);
        if (low != high) ss_triplets_add(entries, 6 * high + k % 6, 6 * low + k / 6, sum[k]);
    }
}

/* G = sum of s s' over rows without compliance; counts these rows. Rows of a contact stand side by side, so
 * that runs of rows on the same bodies are summed up first. */
static ss_sparse *sum_of_rows(const ss_problem *problem, const bool *is_empty, const ss_mass_root *roots,
                              int *rows)
{
    int runs = 0, low = -2, high = -2;
    for (int i = 0; i < problem->size; i++) {
        if (is_empty[i] || !is_stiff(problem, i)) continue;
        half_rows of = halves_of(problem, roots, i);
        runs += of.low != low || of.high != high;
        low = of.low, high = of.high;
    }

    ss_triplets entries;
    if (!ss_triplets_start(&entries, (size_t)runs * 144, NULL)) return NULL;

    // Each run ends where the bodies change; one more step ends the last.
    double own[2][36] = {{0}}, between[36] = {0};
    low = high = -2;
    *rows = 0;
    for (int i = 0; i <= problem->size; i++) {
        bool is_end = i == problem->size;
        if (!is_end && (is_empty[i] || !is_stiff(problem, i))) continue;
        half_rows of = is_end ? (half_rows){.low = -2, .high = -2} : halves_of(problem, roots, i);
        if (of.low != low || of.high != high) {
            if (low >= 0) add_block(&entries, low, low, own[0]);
            if (high >= 0) add_block(&entries, high, high, own[1]);
            if (low >= 0 && high >= 0) add_block(&entries, low, high, between);
            memset(own, 0, sizeof own);
            memset(between, 0, sizeof between);
            low = of.low, high = of.high;
        }
        add_products(of.a, of.a, own[0]);
        add_products(of.b, of.b, own[1]);
        add_products(of.a, of.b, between);
        *rows += !is_end;
    }
    int n = 6 * problem->bodies->bodies;
    return ss_triplets_finish(&entries, n, n, NULL);
}

static bool rank_of_sum(const ss_sparse *sum, int *rank)
{
    double *diagonal = ss_allocate((size_t)sum->cols, sizeof *diagonal);
    ss_gram of = {0};
    bool good = diagonal != NULL;
    for (int j = 0; good && j < sum->cols; j++) diagonal[j] = ss_sparse_get(sum, j, j);
    good = good && ss_gram_make(sum, diagonal, &of);
    *rank = good && of.is_known ? of.matrix->cols - of.dependent : -1;
    ss_gram_free(&of);
    ss_release(diagonal);
    return good;
}

/* Rows with compliance count as they are, the others by their Gram matrix. */
static bool rank_of_bodies(const ss_problem *problem, const bool *is_empty, int *rank)
{
    const ss_bodies_form *form = problem->bodies;
    ss_mass_root *roots = ss_allocate((size_t)form->bodies, sizeof *roots);
    if (!roots) return false;
    for (int b = 0; b < form->bodies; b++) roots[b] = ss_mass_root_of(form, b);
    int stiff = 0, all = 0;
    ss_sparse *sum = sum_of_rows(problem, is_empty, roots, &stiff);
    for (int i = 0; i < problem->size; i++) all += !is_empty[i];
    bool good = sum && rank_of_sum(sum, rank);
    if (*rank > stiff) *rank = stiff;
    if (good && *rank >= 0) *rank += all - stiff;
    ss_sparse_destroy(sum);
    ss_release(roots);
    return good;
}

/* ---- rank of matrices ------------------------------------------------------------------------------- */

/* By the columns of A, scaled to unit length: G = A'A. */
static bool rank_of_any(const ss_problem *problem, int *rank)
{
    static const double most = 5e7; // entries before they are joined
    ss_error err = {0};
    ss_sparse *transposed = ss_sparse_transpose(problem->A, &err), *sum = NULL;
    bool good = transposed != NULL;
    double products = 0.0; // that A'A takes
    for (int j = 0; good && j < transposed->cols; j++) {
        double entries = transposed->start[j + 1] - transposed->start[j];
        products += entries * entries;
    }
    if (good && products <= most) {
        sum = ss_sparse_multiply(transposed, problem->A, &err);
        good = sum && rank_of_sum(sum, rank);
    }
    ss_sparse_destroy(sum);
    ss_sparse_destroy(transposed);
    return good;
}

bool ss_diagnose_rank(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    int rank = -1, size = problem->size;
    bool good = true;
    if (size == 0) {
        rank = 0;
    } else if (problem->bodies) {
        good = rank_of_bodies(problem, d->is_empty, &rank);
    } else if (d->is_symmetric && !d->has_massless) {
        ss_gram of;
        good = ss_gram_make(problem->A, problem->diagonal, &of);
        if (good && of.is_known) {
            rank = of.matrix->cols - of.dependent;
            d->negative_pivots = of.negative;
        }
        ss_gram_free(&of);
    } else {
        good = rank_of_any(problem, &rank);
    }

    d->diagnosis->rank = rank;
    int missing = size - rank;
    if (!good || rank < 0 || missing == 0) return good;
    ss_text_appendf(&d->text, "%d unknowns, but A has rank %d", size, rank);
    int bodies = problem->bodies ? problem->bodies->bodies : 0;
    if (bodies == 1 && size > 6) ss_text_append(&d->text, " (one body has 6 directions of motion)");
    if (bodies > 1 && size > 6 * bodies)
        ss_text_appendf(&d->text, " (%d bodies have %d directions of motion)", bodies, 6 * bodies);
    ss_text_appendf(&d->text, ", redundant by %d", missing);
    ss_diagnosing_tell(
        d, SS_SEVERITY_NOTE, SS_DEFECT_RANK, missing, rank, -1,
        "impulses are not unique, velocities may still be; compare answers by velocities, and expect slow "
        "sweeps");
    return true;
}
