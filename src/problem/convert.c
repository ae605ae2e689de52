/* From FCLIB's problem to the one solvers get, and the elimination of free unknowns. */
#include <stickslip/problem.h>

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "problem/cone.h"
#include "problem/laws.h"

/* ---- from a cone problem ---------------------------------------------------------------------------- */

typedef struct place {
    const ss_sparse *matrix;
    int row, col;
    bool transposed;
} place;

/* One matrix made of several, each put at (row, col). */
static ss_sparse *compose(int size, const place *places, int count, ss_error *err)
{
    size_t total = 0;
    for (int k = 0; k < count; k++) total += (size_t)ss_sparse_nonzeros(places[k].matrix);
    int *i = ss_allocate(total, sizeof *i), *j = ss_allocate(total, sizeof *j);
    double *x = ss_allocate(total, sizeof *x);
    ss_sparse *matrix = NULL;
    if (!i || !j || !x) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a matrix of %zu entries", total);
    } else {
        int64_t entry = 0;
        for (int k = 0; k < count; k++) {
            const ss_sparse *part = places[k].matrix;
            for (int col = 0; col < part->cols; col++) {
                for (int e = part->start[col]; e < part->start[col + 1]; e++, entry++) {
                    int row = part->row[e];
                    i[entry] = places[k].row + (places[k].transposed ? col : row);
                    j[entry] = places[k].col + (places[k].transposed ? row : col);
                    x[entry] = part->value[e];
                }
            }
        }
        matrix = ss_sparse_from_triplets(size, size, entry, i, j, x, err);
    }
    ss_release(i);
    ss_release(j);
    ss_release(x);
    return matrix;
}

static ss_problem *from_local(const ss_cone *cone, ss_error *err)
{
    int rows = ss_cone_size(cone), size = rows + cone->equations, p = cone->equations;
    ss_problem *problem = ss_problem_create(size, cone->contacts + (p > 0), -1, err);
    if (!problem) return NULL;
    place places[] = {{cone->W, 0, 0, false},
                      {cone->V, 0, rows, false},
                      {cone->V, rows, 0, true},
                      {cone->R, rows, rows, false}};
    problem->A = compose(size, places, p ? 4 : 1, err);
    if (!problem->A) {
        ss_problem_destroy(problem);
        return NULL;
    }

    memcpy(problem->b, cone->q, (size_t)rows * sizeof *problem->b);
    if (p) memcpy(problem->b + rows, cone->s, (size_t)p * sizeof *problem->b);
    for (int c = 0; c < cone->contacts; c++) {
        problem->blocks[c] = (ss_block){.law = SS_LAW_CONE,
                                        .first = c * cone->dimension,
                                        .size = cone->dimension,
                                        .mu = cone->mu[c],
                                        .mu_rolling = cone->mu_rolling ? cone->mu_rolling[c] : 0.0,
                                        .contact = c,
                                        .constraint = -1};
    }
    if (p) {
        problem->blocks[cone->contacts] =
            (ss_block){.law = SS_LAW_FREE, .first = rows, .size = p, .contact = -1, .constraint = -1};
    }
    ss_problem_matrix_changed(problem);
    return problem;
}

ss_problem *ss_problem_from_cone(const ss_cone *cone, ss_error *err)
{
    if (cone->form == SS_CONE_LOCAL) return from_local(cone, err);
    ss_cone *local = ss_cone_to_local(cone, false, err);
    ss_problem *problem = local ? from_local(local, err) : NULL;
    ss_cone_destroy(local);
    return problem;
}
