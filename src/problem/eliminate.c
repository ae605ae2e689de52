/* Free unknowns (joints, velocities of the descriptor form) solved for, so that methods which know only boxes
 * or cones can be used: with F free and N the rest, A~ = A_NN - A_NF A_FF^-1 A_FN,   b~ = b_N - A_NF A_FF^-1
 * b_F,   x_F = -A_FF^-1 (b_F + A_FN x_N). Redundant joints make A_FF singular. A compliance of 1e-10 of each
 * row's own 1/m_eff removes that without being seen: it is the same in every unit, and far below the
 * tolerance of any solver. */
#include <stickslip/problem.h>

#include <math.h>
#include <string.h>

#include "linalg/factor.h"
#include "problem/cone.h"
#include "problem/laws.h"

struct ss_elimination {
    ss_problem *problem; // the reduced one
    int free_count, kept_count;
    int *place; // per unknown of the original: index among the free or among the kept
    bool *is_free;
    ss_sparse *free_free, *free_kept, *kept_free;
    ss_ldl *ldl;         // symmetric
    ss_lu *lu;           // otherwise
    double *load, *work; // b_F; scratch of free_count
};

static const double redundancy = 1e-10;

void ss_elimination_destroy(ss_elimination *elimination)
{
    if (!elimination) return;
    ss_problem_destroy(elimination->problem);
    ss_release(elimination->place);
    ss_release(elimination->is_free);
    ss_sparse_destroy(elimination->free_free);
    ss_sparse_destroy(elimination->free_kept);
    ss_sparse_destroy(elimination->kept_free);
    ss_ldl_destroy(elimination->ldl);
    ss_lu_destroy(elimination->lu);
    ss_release(elimination->load);
    ss_release(elimination->work);
    ss_release(elimination);
}

static bool split(const ss_problem *problem, ss_elimination *e)
{
    size_t n = (size_t)problem->size;
    e->place = ss_allocate(n, sizeof *e->place);
    e->is_free = ss_allocate(n, sizeof *e->is_free);
    if (!e->place || !e->is_free) return false;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; i < block->first + block->size; i++) {
            e->is_free[i] = block->law == SS_LAW_FREE;
            e->place[i] = e->is_free[i] ? e->free_count++ : e->kept_count++;
        }
    }
    e->load = ss_allocate((size_t)e->free_count, sizeof *e->load);
    e->work = ss_allocate((size_t)e->free_count, sizeof *e->work);
    if (!e->load || !e->work) return false;
    for (int i = 0; i < problem->size; i++) {
        if (e->is_free[i]) e->load[e->place[i]] = problem->b[i];
    }
    return true;
}

/* The part of A whose rows and columns are free or kept as asked. */
static ss_sparse *part_of(const ss_problem *problem, const ss_elimination *e, bool free_rows, bool free_cols,
                          ss_error *err)
{
    const ss_sparse *A = problem->A;
    int rows = free_rows ? e->free_count : e->kept_count, cols = free_cols ? e->free_count : e->kept_count;
    ss_sparse *part = ss_sparse_create(rows, cols, ss_sparse_nonzeros(A), err);
    if (!part) return NULL;
    int entry = 0;
    for (int j = 0; j < problem->size; j++) {
        if (e->is_free[j] != free_cols) continue;
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            if (e->is_free[A->row[k]] != free_rows) continue;
            part->row[entry] = e->place[A->row[k]];
            part->value[entry++] = A->value[k];
        }
        part->start[e->place[j] + 1] = entry;
    }
    return part;
}

static bool factor(const ss_problem *problem, ss_elimination *e, ss_error *err)
{
    double *extra = ss_allocate((size_t)e->free_count, sizeof *extra);
    if (!extra) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for eliminating free unknowns");
    for (int i = 0; i < problem->size; i++) {
        if (e->is_free[i]) extra[e->place[i]] = redundancy * fabs(problem->diagonal[i]);
    }
    ss_sparse *regular = ss_cone_add_diagonal(e->free_free, extra, err);
    ss_release(extra);
    if (!regular) return false;
    bool good = false;
    if (problem->symmetric) {
        e->ldl = ss_ldl_create(regular, err);
        good = e->ldl && ss_ldl_factor(e->ldl, regular) == SS_LINALG_OK;
    } else {
        e->lu = ss_lu_create(regular, err);
        good = e->lu && ss_lu_factor(e->lu, regular) == SS_LINALG_OK;
    }
    ss_sparse_destroy(regular);
    return good || ss_fail(err, SS_ERROR_INPUT, "the bilateral equations are singular");
}

static void solve_free(const ss_elimination *e, double *x)
{
    if (e->ldl)
        ss_ldl_solve(e->ldl, x, x, SS_REFINE_ONCE);
    else
        ss_lu_solve(e->lu, x, x, SS_REFINE_ONCE);
}

/* Two passes over the columns would solve twice; so the columns are kept as they come and
 * joined at the end. */
static ss_sparse *reduced_matrix(const ss_elimination *e, const ss_sparse *kept_kept, ss_error *err)
{
    int n = e->kept_count;
    double *dense = ss_allocate((size_t)n, sizeof *dense);
    int64_t capacity = ss_sparse_nonzeros(kept_kept) + n;
    ss_sparse *matrix = ss_sparse_create(n, n, capacity, err);
    bool good = dense && matrix;
    int entry = 0;
    for (int j = 0; good && j < n; j++) {
        /* Column j of A_NN less A_NF A_FF^-1 A_FN, where that is not zero anyway. */
        const ss_sparse *part = e->free_kept;
        memset(dense, 0, (size_t)n * sizeof *dense);
        if (part->start[j] < part->start[j + 1]) {
            memset(e->work, 0, (size_t)e->free_count * sizeof *e->work);
            for (int k = part->start[j]; k < part->start[j + 1]; k++) e->work[part->row[k]] = part->value[k];
            solve_free(e, e->work);
            ss_sparse_apply(e->kept_free, e->work, 1.0, dense);
        }
        for (int i = 0; i < n; i++) dense[i] = -dense[i];
        for (int k = kept_kept->start[j]; k < kept_kept->start[j + 1]; k++) {
            dense[kept_kept->row[k]] += kept_kept->value[k];
        }

        if (entry + (int64_t)n > capacity) {
            capacity = 2 * capacity + n;
            ss_sparse *larger = ss_sparse_create(n, n, capacity, err);
            good = larger != NULL;
            if (!good) break;
            memcpy(larger->start, matrix->start, ((size_t)n + 1) * sizeof *matrix->start);
            memcpy(larger->row, matrix->row, (size_t)entry * sizeof *matrix->row);
            memcpy(larger->value, matrix->value, (size_t)entry * sizeof *matrix->value);
            ss_sparse_destroy(matrix);
            matrix = larger;
        }
        for (int i = 0; i < n; i++) {
            if (dense[i] == 0.0 && i != j) continue;
            matrix->row[entry] = i;
            matrix->value[entry++] = dense[i];
        }
        matrix->start[j + 1] = entry;
    }
    ss_release(dense);
    if (good) return matrix;
    ss_sparse_destroy(matrix);
    ss_fail(err, SS_ERROR_RESOURCES, "out of memory for eliminating free unknowns");
    return NULL;
}

static bool reduce(const ss_problem *problem, ss_elimination *e, ss_error *err)
{
    e->free_free = part_of(problem, e, true, true, err);
    e->free_kept = part_of(problem, e, true, false, err);
    e->kept_free = part_of(problem, e, false, true, err);
    ss_sparse *kept_kept = part_of(problem, e, false, false, err);
    bool good = e->free_free && e->free_kept && e->kept_free && kept_kept && factor(problem, e, err);
    if (good) {
        e->problem = ss_problem_create(e->kept_count, problem->block_count, -1, err);
        good = e->problem && (e->problem->A = reduced_matrix(e, kept_kept, err)) != NULL;
    }
    ss_sparse_destroy(kept_kept);
    if (!good) return false;

    /* Laws of what is kept, and b~. */
    ss_problem *reduced = e->problem;
    int k = 0;
    for (int old = 0; old < problem->block_count; old++) {
        ss_block block = problem->blocks[old];
        if (block.law == SS_LAW_FREE || block.size == 0) continue;
        block.first = e->place[block.first];
        reduced->blocks[k++] = block;
    }
    reduced->block_count = k;
    for (int i = 0; i < problem->size; i++) {
        if (e->is_free[i]) continue;
        int to = e->place[i];
        reduced->lower[to] = problem->lower[i];
        reduced->upper[to] = problem->upper[i];
        reduced->factor[to] = problem->factor[i];
        reduced->partner[to] = problem->partner[i] >= 0 ? e->place[problem->partner[i]] : -1;
        reduced->b[to] = problem->b[i];
    }
    memcpy(e->work, e->load, (size_t)e->free_count * sizeof *e->work);
    solve_free(e, e->work);
    ss_sparse_apply(e->kept_free, e->work, -1.0, reduced->b);
    ss_problem_matrix_changed(reduced);
    reduced->symmetric = problem->symmetric;
    return true;
}

ss_elimination *ss_problem_eliminate_free(const ss_problem *problem, ss_error *err)
{
    ss_elimination *e = ss_allocate(1, sizeof *e);
    bool good = e && split(problem, e);
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for eliminating free unknowns");
    if (good) good = reduce(problem, e, err);
    if (good) return e;
    ss_elimination_destroy(e);
    return NULL;
}

const ss_problem *ss_elimination_problem(const ss_elimination *elimination)
{
    return elimination->problem;
}

void ss_elimination_reduce(const ss_elimination *e, const double *x, double *reduced)
{
    for (int i = 0, n = e->free_count + e->kept_count; i < n; i++) {
        if (!e->is_free[i]) reduced[e->place[i]] = x[i];
    }
}

void ss_elimination_restore(const ss_elimination *e, const double *reduced, double *x)
{
    memcpy(e->work, e->load, (size_t)e->free_count * sizeof *e->work);
    ss_sparse_apply(e->free_kept, reduced, 1.0, e->work);
    solve_free(e, e->work);
    for (int i = 0, n = e->free_count + e->kept_count; i < n; i++) {
        x[i] = e->is_free[i] ? -e->work[e->place[i]] : reduced[e->place[i]];
    }
}
