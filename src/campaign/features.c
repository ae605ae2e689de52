#include "campaign/features.h"

#include "base/digest.h"
#include "linalg/dense.h"

#include <stickslip/formulation.h>

#include <lapacke.h>
#include <math.h>

#define RANK_TOLERANCE 1e-10 /* of a pivot against 1: rounding of the matrix is some 1e-15 per entry */

/* ---- digest -------------------------------------------------------------------------------------- */

static void add_vector(ss_digest *digest, const double *values, int count)
{
    ss_digest_add(digest, values ? (uint64_t)count : 0);
    if (values) ss_digest_add_reals(digest, values, (size_t)count);
}

void ss_cone_hash(const ss_cone *cone, char text[33])
{
    int m = cone->contacts * cone->dimension, p = cone->equations, n = cone->dofs;
    ss_digest digest = ss_digest_start();
    ss_digest_add_text(&digest, cone->form == SS_CONE_LOCAL ? "local" : "global");
    const int sizes[] = {cone->dimension, cone->contacts, n, p};
    for (int i = 0; i < 4; i++) ss_digest_add(&digest, (uint64_t)sizes[i]);

    // Zeros that are stored say nothing; a place that no matrix has ends each.
    const ss_sparse *const matrices[] = {cone->W, cone->V, cone->R, cone->M, cone->H, cone->G};
    for (int i = 0; i < 6; i++) {
        const ss_sparse *matrix = matrices[i];
        for (int j = 0; matrix && j < matrix->cols; j++) {
            for (int k = matrix->start[j]; k < matrix->start[j + 1]; k++) {
                if (matrix->value[k] == 0) continue;
                ss_digest_add(&digest, (uint64_t)j << 32 | (uint64_t)matrix->row[k]);
                ss_digest_add(&digest, ss_digest_word(matrix->value[k]));
            }
        }
        ss_digest_add(&digest, UINT64_MAX);
    }

    add_vector(&digest, cone->mu, cone->contacts);
    add_vector(&digest, cone->mu_rolling, cone->contacts);
    add_vector(&digest, cone->q, m);
    add_vector(&digest, cone->s, p);
    add_vector(&digest, cone->f, n);
    add_vector(&digest, cone->w, m);
    add_vector(&digest, cone->b, p);
    ss_digest_print(&digest, text);
}

/* ---- rank ---------------------------------------------------------------------------------------- */

bool ss_rank_ratio(const ss_sparse *matrix, double *ratio, ss_error *err)
{
    int rows = matrix->rows;
    size_t n = (size_t)rows;
    *ratio = NAN;
    if (rows == 0 || rows > SS_MOST_RANK_ROWS) return true;
    double *dense = ss_allocate(n * n, sizeof *dense), *work = ss_allocate(2 * n, sizeof *work);
    int *pivot = ss_allocate(n, sizeof *pivot), rank = 0;
    bool good = dense && work && pivot;
    if (good) {
        for (int j = 0; j < matrix->cols; j++)
            for (int k = matrix->start[j]; k < matrix->start[j + 1]; k++)
                dense[(size_t)j * n + (size_t)matrix->row[k]] = matrix->value[k];

        // Rows are measured in metres or radians: each is divided by the root of its diagonal. An empty one
        // stays empty.
        for (size_t i = 0; i < n; i++) work[i] = dense[i * n + i] > 0 ? sqrt(dense[i * n + i]) : INFINITY;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) dense[j * n + i] /= work[i] * work[j];

        ss_blas_use_one_thread();
        LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'L', rows, dense, rows, pivot, &rank, RANK_TOLERANCE, work);
        *ratio = (double)rank / rows;
    }
    ss_release(dense);
    ss_release(work);
    ss_release(pivot);
    return good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a matrix of %d rows", rows);
}

/* ---- features ------------------------------------------------------------------------------------ */

static void stretch(double value, double *least, double *most)
{
    if (!(value >= *least)) *least = value;
    if (!(value <= *most)) *most = value;
}

bool ss_features_of_frame(const ss_frame *frame, ss_problem_entry *entry, ss_error *err)
{
    ss_frame_summary summary = ss_frame_summarise(frame);
    double lightest = NAN, heaviest = NAN;
    for (int i = 0; i < frame->bodies.count; i++)
        if (ss_frame_is_live(frame, i)) stretch(frame->bodies.mass[i], &lightest, &heaviest);
    entry->time = frame->time;
    entry->h = frame->h;
    entry->bodies = summary.bodies;
    entry->joints = summary.constraints;
    entry->rows = summary.rows;
    entry->contacts = summary.contacts;
    entry->mass_ratio = heaviest / lightest;
    entry->density = summary.bodies > 0 ? 3.0 * summary.contacts / (6.0 * summary.bodies) : NAN;
    entry->mu_least = entry->mu_most = NAN;
    for (int i = 0; i < frame->contacts.count; i++)
        for (int k = 0; k < 2; k++) stretch(frame->contacts.mu[i][k], &entry->mu_least, &entry->mu_most);

    // The rank of contact and joint rows alone: what compliance adds to the diagonal is taken out.
    entry->rank_ratio = NAN;
    if (3 * (int64_t)frame->contacts.count + frame->constraints.row_count > SS_MOST_RANK_ROWS) return true;
    ss_problem *problem = ss_problem_from_frame(frame, ss_formulation_find("cone"), NULL, err);
    for (int i = 0; problem && problem->bodies && i < problem->size; i++)
        problem->bodies->compliance[i] = 0.0;
    bool good =
        problem && ss_problem_need_matrix(problem, err) && ss_rank_ratio(problem->A, &entry->rank_ratio, err);
    ss_problem_destroy(problem);
    return good;
}

bool ss_features_of_cone(const ss_cone *cone, const ss_problem *problem, ss_problem_entry *entry,
                         ss_error *err)
{
    entry->time = entry->h = entry->mass_ratio = entry->density = entry->rank_ratio = NAN;
    entry->rows = cone->equations;
    entry->contacts = cone->contacts;
    entry->mu_least = entry->mu_most = NAN;
    for (int i = 0; i < cone->contacts; i++) stretch(cone->mu[i], &entry->mu_least, &entry->mu_most);
    if (!problem->A || ss_sparse_symmetry_error(problem->A) > 1e-8) return true;
    return ss_rank_ratio(problem->A, &entry->rank_ratio, err);
}
