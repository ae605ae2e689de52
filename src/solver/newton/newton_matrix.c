/* The Newton system as a matrix of blocks, F + B (W + alpha) R, and its LU. */
#include "solver/newton/newton_system.h"

#include "linalg/factor.h"
#include "linalg/front_lu.h"
#include "solver/core/run_state.h"

struct ss_newton_matrix {
    const ss_space *space;
    ss_front_lu *fronts;
    double *values; // laid out as those of W
    /* free choice of pivots, when the fronts fail: */
    ss_lu *lu;    // NULL: the fronts are in use
    int *place;   // per number: its row in the active matrix, -1 = not active
    double *part; // a vector of the active
    int active_size;
};

struct ss_newton_matrix *ss_newton_matrix_create(const ss_space *space, ss_run *run)
{
    ss_arena *arena = run->arena;
    const ss_block_rows *W = space->W;
    size_t n = (size_t)space->size;
    struct ss_newton_matrix *matrix = ss_arena_take(arena, 1, sizeof *matrix, "Newton matrix");
    if (!matrix) return NULL;
    matrix->space = space;
    matrix->values =
        ss_arena_take(arena, W->place[W->start[W->nodes]], sizeof *matrix->values, "Newton matrix");
    matrix->place = ss_arena_take(arena, n, sizeof *matrix->place, "Newton matrix");
    matrix->part = ss_arena_take(arena, n, sizeof *matrix->part, "Newton matrix");
    if (!matrix->values || !matrix->place || !matrix->part) return NULL;
    matrix->fronts = ss_front_lu_create(W, NULL);
    if (!matrix->fronts) return NULL;
    ss_front_lu_set_deadline(matrix->fronts, ss_run_deadline(run));
    return matrix;
}

static void end_rescue(struct ss_newton_matrix *matrix)
{
    ss_lu_destroy(matrix->lu);
    matrix->lu = NULL;
}

void ss_newton_matrix_free(struct ss_newton_matrix *matrix)
{
    if (!matrix) return;
    end_rescue(matrix);
    ss_front_lu_destroy(matrix->fronts);
}

/* ---- factor ----------------------------------------------------------------------------------------- */

/* The blocks B W R of one row, and on the diagonal F + B (W + alpha) R. */
static void assemble_row(struct ss_newton_matrix *matrix, const ss_newton_system *system, int node)
{
    const ss_space *space = matrix->space;
    const ss_block_rows *W = space->W;
    int n = space->nodes[node].size;
    const double *F = system->F + system->square[node], *B = system->B + system->square[node];
    for (int k = W->start[node]; k < W->start[node + 1]; k++) {
        int j = W->column[k], cols = space->nodes[j].size;
        if (!system->active[j]) continue;
        double own[SS_NODE_MAX * SS_NODE_MAX], half[SS_NODE_MAX * SS_NODE_MAX];
        const double *from = W->value + W->place[k];
        double *to = matrix->values + W->place[k];
        if (j == node) {
            for (int i = 0; i < n * n; i++) own[i] = from[i] + (i % (n + 1) == 0 ? system->alpha : 0.0);
            from = own;
        }
        ss_newton_multiply(n, n, cols, B, from, system->uses_right ? half : to);
        if (system->uses_right) ss_newton_multiply(n, cols, cols, half, system->R + system->square[j], to);
        for (int i = 0; j == node && i < n * n; i++) to[i] += F[i];
    }
}

bool ss_newton_matrix_factor(struct ss_newton_matrix *matrix, const ss_newton_system *system)
{
    end_rescue(matrix);
    for (int k = 0; k < matrix->space->node_count; k++) {
        if (system->active[k]) assemble_row(matrix, system, k);
    }
    ss_linalg_status outcome = ss_front_lu_factor(matrix->fronts, matrix->values, system->active);
    if (outcome == SS_LINALG_LATE) ss_run_give_up(system->run);
    return outcome == SS_LINALG_OK || (!ss_run_late(system->run) && ss_newton_matrix_rescue(matrix, system));
}

/* ---- rescue ----------------------------------------------------------------------------------------- */

static int64_t active_entries(const ss_block_rows *W, const bool *active)
{
    int64_t count = 0;
    for (int i = 0; i < W->nodes; i++) {
        for (int k = W->start[i]; active[i] && k < W->start[i + 1]; k++) {
            if (active[W->column[k]]) count += (int64_t)(W->place[k + 1] - W->place[k]);
        }
    }
    return count;
}

static void fill_column(const struct ss_newton_matrix *matrix, const bool *active, int node, int column,
                        ss_sparse *sparse, int *entry)
{
    const ss_block_rows *W = matrix->space->W;
    int cols = ss_block_rows_size(W, node);
    for (int k = W->start[node]; k < W->start[node + 1]; k++) { // the pattern is symmetric
        int i = W->column[k];
        if (!active[i]) continue;
        const double *block = matrix->values + W->place[W->mirror[k]];
        for (int row = 0; row < ss_block_rows_size(W, i); row++) {
            sparse->row[*entry] = matrix->place[W->first[i] + row];
            sparse->value[(*entry)++] = block[row * cols + column];
        }
    }
}

static ss_sparse *active_matrix(const struct ss_newton_matrix *matrix, const bool *active)
{
    const ss_block_rows *W = matrix->space->W;
    int size = matrix->active_size, entry = 0, at = 0;
    ss_sparse *sparse = ss_sparse_create(size, size, active_entries(W, active), NULL);
    for (int j = 0; sparse && j < W->nodes; j++) {
        for (int c = 0; active[j] && c < ss_block_rows_size(W, j); c++) {
            fill_column(matrix, active, j, c, sparse, &entry);
            sparse->start[++at] = entry;
        }
    }
    return sparse;
}

bool ss_newton_matrix_rescue(struct ss_newton_matrix *matrix, const ss_newton_system *system)
{
    const ss_space *space = matrix->space;
    if (matrix->lu) return false;
    matrix->active_size = 0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        for (int i = node->first; i < node->first + node->size; i++) {
            matrix->place[i] = system->active[k] ? matrix->active_size++ : -1;
        }
    }
    ss_sparse *sparse = active_matrix(matrix, system->active);
    if (sparse) matrix->lu = ss_lu_create(sparse, NULL);
    bool good = matrix->lu && ss_lu_factor(matrix->lu, sparse) == SS_LINALG_OK;
    ss_sparse_destroy(sparse);
    if (!good) end_rescue(matrix);
    return good;
}

/* ---- solve ------------------------------------------------------------------------------------------ */

void ss_newton_matrix_solve(struct ss_newton_matrix *matrix, const double *b, double *y)
{
    if (!matrix->lu) {
        ss_front_lu_solve(matrix->fronts, b, y);
        return;
    }
    for (int i = 0; i < matrix->space->size; i++) {
        if (matrix->place[i] >= 0) matrix->part[matrix->place[i]] = b[i];
    }
    ss_lu_solve(matrix->lu, matrix->part, matrix->part, SS_REFINE_NEVER);
    for (int i = 0; i < matrix->space->size; i++) {
        if (matrix->place[i] >= 0) y[i] = matrix->part[matrix->place[i]];
    }
}
