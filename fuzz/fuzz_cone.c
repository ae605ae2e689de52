/* The matrices and vectors of FCLIB problems, in memory. Indices may be out of range and in any order,
 * values anything. What ss_cone_check accepts must become a problem and a local form, or be refused with
 * a reason. */
#include "fuzz.h"

#include <stickslip/problem.h>

static void fill(program *p, double *values, int count)
{
    for (int i = 0; values && i < count; i++) values[i] = any_number(p);
}

/* Compressed columns as a file may claim them, nothing sorted or checked. */
static ss_sparse *raw_matrix(program *p, int rows, int cols)
{
    int nonzeros = (int)below(p, 16);
    ss_sparse *matrix = ss_sparse_create(rows, cols, nonzeros, NULL);
    if (!matrix) return NULL;
    for (int j = 1; j <= cols; j++) matrix->start[j] = (int)below(p, (unsigned)nonzeros + 1);
    if (below(p, 8)) matrix->start[cols] = nonzeros;
    if (matrix->start[cols] < 0 || matrix->start[cols] > nonzeros) matrix->start[cols] = nonzeros;
    for (int k = 0; k < nonzeros; k++) matrix->row[k] = (int)below(p, (unsigned)rows + 2) - 1;
    fill(p, matrix->value, nonzeros);
    return matrix;
}

/* Triplets, with a diagonal where the matrix is square and the input says so. */
static ss_sparse *any_matrix(program *p, int rows, int cols)
{
    if (rows == 0 || cols == 0) return NULL;
    if (below(p, 4) == 0) return raw_matrix(p, rows, cols);
    int i[64], j[64], count = 0;
    double x[64];
    for (int k = 0; rows == cols && below(p, 4) && k < rows && count < 40; k++, count++)
        i[count] = j[count] = k, x[count] = 1 + below(p, 8);
    for (int k = (int)below(p, 20); k > 0; k--, count++) {
        i[count] = (int)below(p, (unsigned)rows);
        j[count] = (int)below(p, (unsigned)cols);
        x[count] = any_number(p);
    }
    return ss_sparse_from_triplets(rows, cols, count, i, j, x, NULL);
}

static void look_at(const ss_cone *cone)
{
    ss_error err = {0};
    ss_findings findings = {.limit = 50};
    bool good = ss_cone_check(cone, "fuzz", &findings);
    must(good == (findings.count_of[SS_FINDING_FAULT] == 0), "a problem is bad if and only if it has faults");
    ss_findings_free(&findings);
    if (!good) return;
    ss_problem *problem = ss_problem_from_cone(cone, &err);
    must(problem || err.message[0], "a problem that is refused has a reason");
    ss_problem_destroy(problem);
    ss_cone_point point;
    ss_cone_residual residual;
    if (ss_cone_point_create(cone, &point, &err)) {
        if (ss_cone_point_complete(cone, &point, &err)) ss_cone_residual_of(cone, &point, &residual, &err);
        ss_cone_point_free(&point);
    }
    for (int eliminate = 0; eliminate < 2; eliminate++) {
        err = (ss_error){0};
        ss_cone *local = ss_cone_to_local(cone, eliminate, &err);
        must(local || err.message[0], "a form that cannot be made has a reason");
        ss_cone_destroy(local);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int dimensions[] = {2, 3, 5};
    program p = {data, size};
    ss_cone_form form = below(&p, 2) ? SS_CONE_GLOBAL : SS_CONE_LOCAL;
    int dimension = dimensions[below(&p, 3)], contacts = (int)below(&p, 5), equations = (int)below(&p, 4);
    int dofs = form == SS_CONE_GLOBAL ? 1 + (int)below(&p, 8) : 0, m = contacts * dimension;
    ss_cone *cone = ss_cone_create(form, dimension, contacts, dofs, equations, NULL);
    if (!cone) return 0;
    if (form == SS_CONE_LOCAL) {
        cone->W = any_matrix(&p, m, m);
        cone->V = any_matrix(&p, m, equations);
        cone->R = any_matrix(&p, equations, equations);
    } else {
        cone->M = any_matrix(&p, dofs, dofs);
        cone->H = any_matrix(&p, dofs, m);
        cone->G = any_matrix(&p, dofs, equations);
    }
    for (int c = 0; c < contacts; c++) cone->mu[c] = below(&p, 8) ? 0.1 * below(&p, 10) : any_number(&p);
    fill(&p, cone->mu_rolling, contacts);
    fill(&p, cone->q, form == SS_CONE_LOCAL ? m : 0);
    fill(&p, cone->s, form == SS_CONE_LOCAL ? equations : 0);
    fill(&p, cone->f, dofs);
    fill(&p, cone->w, form == SS_CONE_GLOBAL ? m : 0);
    fill(&p, cone->b, form == SS_CONE_GLOBAL ? equations : 0);
    look_at(cone);
    ss_cone_destroy(cone);
    return 0;
}
