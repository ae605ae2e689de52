#include "solver/newton/newton_system.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/add_scaled.h"
#include "linalg/dense.h"
#include "linalg/factor.h"
#include "linalg/front_lu.h"
#include "solver/core/run_state.h"

/* ---- life ------------------------------------------------------------------------------------------- */

size_t ss_newton_system_squares(const ss_space *space)
{
    size_t count = 0;
    for (int k = 0; k < space->node_count; k++)
        count += (size_t)(space->nodes[k].size * space->nodes[k].size);
    return count;
}

bool ss_newton_system_create(const ss_space *space, ss_run *run, ss_newton_system *system)
{
    ss_arena *arena = run->arena;
    size_t n = (size_t)space->size, nodes = (size_t)space->node_count,
           squares = ss_newton_system_squares(space);
    *system = (ss_newton_system){
        .space = space, .run = run, .alpha_min = space->levers ? 1e-9 : 1e-11, .fine = SS_NEWTON_FINE};
    system->square = ss_arena_take(arena, nodes, sizeof *system->square, "Newton blocks");
    system->active = ss_arena_take(arena, nodes, sizeof *system->active, "active nodes");
    system->F = ss_arena_take(arena, squares, sizeof *system->F, "Newton blocks");
    system->B = ss_arena_take(arena, squares, sizeof *system->B, "Newton blocks");
    system->R = ss_arena_take(arena, squares, sizeof *system->R, "Newton blocks");
    if (!system->square || !system->active || !system->F || !system->B || !system->R ||
        !ss_arena_take_vectors(arena, n, "Newton vectors",
                               (double **[]){&system->y, &system->residual, &system->correction, NULL}))
        return false;
    for (size_t k = 0, at = 0; k < nodes; k++) {
        system->square[k] = at;
        at += (size_t)(space->nodes[k].size * space->nodes[k].size);
    }
    return true;
}

void ss_newton_system_free(ss_newton_system *system)
{
    ss_newton_matrix_free(system->matrix);
    ss_newton_bodies_free(system->bodies);
    system->matrix = NULL;
    system->bodies = NULL;
}

/* ---- factor ----------------------------------------------------------------------------------------- */

void ss_newton_multiply(int rows, int inner, int cols, const double *left, const double *right,
                        double *product)
{
    if (inner == 3) { // most nodes are contacts; the sum is the same to the bit
        for (int i = 0; i < rows; i++, product += cols, left += 3) {
            for (int j = 0; j < cols; j++)
                product[j] = left[0] * right[j] + left[1] * right[cols + j] + left[2] * right[2 * cols + j];
        }
        return;
    }
    for (int i = 0; i < rows; i++, product += cols, left += inner) {
        for (int j = 0; j < cols; j++) {
            double sum = left[0] * right[j];
            for (int k = 1; k < inner; k++) sum += left[k] * right[k * cols + j];
            product[j] = sum;
        }
    }
}

bool ss_newton_system_factor(ss_newton_system *system, double alpha)
{
    const ss_space *space = system->space;
    if (ss_run_late(system->run)) return false;

    // The way, at the first time: often the sweeps at the start are enough, and nothing is ever factorised.
    if (space->full && !system->full) system->full = ss_newton_full_create(space, system->run->arena);
    if (space->levers && !system->bodies) system->bodies = ss_newton_bodies_create(space, system->run);
    if (space->W && !system->matrix) system->matrix = ss_newton_matrix_create(space, system->run);
    if ((!system->full && !system->bodies && !system->matrix) || ss_run_late(system->run)) return false;

    system->alpha = alpha;
    system->factorizations++;
    for (int k = 0; k < space->node_count; k++) {
        const double *F = system->F + system->square[k], *B = system->B + system->square[k];
        int n = space->nodes[k].size, i = 0;
        while (i < n * n && B[i] == 0.0 && F[i] == (i % (n + 1) == 0 ? 1.0 : 0.0)) i++;
        system->active[k] = i < n * n; // unless F = 1 and B = 0
    }
    if (system->full) return ss_newton_full_factor(system->full, system);
    return system->bodies ? ss_newton_bodies_factor(system->bodies, system)
                          : ss_newton_matrix_factor(system->matrix, system);
}

/* ---- solve ------------------------------------------------------------------------------------------ */

/* dr, du, and the residual rhs - F y - B du; returns its norm. */
static double find_residual(ss_newton_system *system, const double *rhs, double *dr, double *du)
{
    const ss_space *space = system->space;
    if (!system->uses_right) memcpy(dr, system->y, (size_t)space->size * sizeof *dr);
    for (int k = 0; k < space->node_count && system->uses_right; k++) { // dr = R y
        const ss_node *node = &space->nodes[k];
        ss_newton_multiply(node->size, node->size, 1, system->R + system->square[k], system->y + node->first,
                           dr + node->first);
    }
    ss_space_apply(space, dr, du);
    for (int i = 0; i < space->size; i++) du[i] += system->alpha * dr[i];
    double sum = 0.0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        const double *F = system->F + system->square[k], *B = system->B + system->square[k];
        for (int i = 0; i < node->size; i++, F += node->size, B += node->size) {
            double rest = rhs[node->first + i];
            for (int j = 0; j < node->size; j++) {
                rest -= F[j] * system->y[node->first + j] + B[j] * du[node->first + j];
            }
            system->residual[node->first + i] = rest;
            sum += rest * rest;
        }
    }
    return sqrt(sum);
}

static double refine(ss_newton_system *system, const double *rhs, double *dr, double *du)
{
    int n = system->space->size;
    memset(system->correction, 0, (size_t)n * sizeof *system->correction);
    if (system->full)
        ss_newton_full_solve(system->full, system->residual, system->correction);
    else if (system->bodies)
        ss_newton_bodies_solve(system->bodies, system, system->residual, system->correction);
    else
        ss_newton_matrix_solve(system->matrix, system->residual, system->correction);
    for (int i = 0; i < n; i++) system->y[i] += system->correction[i];
    return find_residual(system, rhs, dr, du);
}

/* Returns the residual relative to |rhs|. Nodes that are not active have y = rhs; what this does to the
 * others goes to their right-hand side first. */
static double attempt(ss_newton_system *system, const double *rhs, double *dr, double *du)
{
    enum { REFINEMENTS = 2 };
    const ss_space *space = system->space;
    double size = 0.0, fixed = 0.0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        for (int i = node->first; i < node->first + node->size; i++) {
            system->y[i] = system->active[k] ? 0.0 : rhs[i];
            size += rhs[i] * rhs[i];
            fixed += system->y[i] * system->y[i];
        }
    }
    size = size > 0.0 ? sqrt(size) : 1.0;
    if (fixed > 0.0)
        find_residual(system, rhs, dr, du);
    else
        memcpy(system->residual, rhs, (size_t)space->size * sizeof *rhs);
    double rest = refine(system, rhs, dr, du);
    for (int k = 0; k < REFINEMENTS && rest > system->fine * size && !ss_run_late(system->run); k++)
        rest = refine(system, rhs, dr, du);
    return rest / size;
}

bool ss_newton_system_solve(ss_newton_system *system, const double *rhs, double *dr, double *du)
{
    // a rough direction serves as well: what is left is seen in the next step
    static const double useless = 0.1;
    if (attempt(system, rhs, dr, du) <= useless) return true;
    if (!system->matrix || ss_run_late(system->run) || !ss_newton_matrix_rescue(system->matrix, system))
        return false;
    return attempt(system, rhs, dr, du) <= useless;
}

/* ---- a small problem: one full matrix, K = F + B (W + alpha) R, and its LU ------------------------ */

struct ss_newton_full {
    const ss_space *space;
    double *K;      // of the active unknowns, column by column; then its factors
    double *column; // of (W + alpha) R, all unknowns
    double *part;   // a vector of the active ones
    int *exchange;  // of rows
    int *unknowns;  // the active ones, in order
    int count;
    int *active; // nodes
    int active_count;
};

struct ss_newton_full *ss_newton_full_create(const ss_space *space, ss_arena *arena)
{
    size_t n = (size_t)space->size;
    struct ss_newton_full *full = ss_arena_take(arena, 1, sizeof *full, "Newton matrix");
    if (!full) return NULL;
    full->space = space;
    full->K = ss_arena_take_unset(arena, n * n, sizeof *full->K, "Newton matrix");
    full->column = ss_arena_take_unset(arena, n, sizeof *full->column, "Newton matrix");
    full->part = ss_arena_take_unset(arena, n, sizeof *full->part, "Newton matrix");
    full->exchange = ss_arena_take_unset(arena, n, sizeof *full->exchange, "Newton matrix");
    full->unknowns = ss_arena_take_unset(arena, n, sizeof *full->unknowns, "Newton matrix");
    full->active = ss_arena_take_unset(arena, n, sizeof *full->active, "Newton matrix");
    bool good = full->K && full->column && full->part && full->exchange && full->unknowns && full->active;
    return good ? full : NULL;
}

bool ss_newton_full_factor(struct ss_newton_full *full, const ss_newton_system *system)
{
    const ss_space *space = full->space;
    full->count = full->active_count = 0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        if (!system->active[k]) continue;
        full->active[full->active_count++] = k;
        for (int i = 0; i < node->size; i++) full->unknowns[full->count++] = node->first + i;
    }

    // Column by column, B (W + alpha) R, and F where a node meets itself.
    int n = space->size;
    bool is_rows_only = space->node_count == n;
    double *K = full->K, *column = full->column;
    for (int a = 0, place = 0; a < full->active_count; place += space->nodes[full->active[a]].size, a++) {
        int k = full->active[a], first = space->nodes[k].first, size = space->nodes[k].size;
        const double *F = system->F + system->square[k], *B = system->B + system->square[k];
        const double *R = system->R + system->square[k], *W = space->full + first * n;
        for (int j = 0; j < size; j++, K += full->count) {
            // Of (W + alpha) R; without R that is one of W, and alpha comes with F.
            const double *of = W + j * n;
            if (system->uses_right) {
                memset(column, 0, (size_t)n * sizeof *column);
                for (int m = 0; m < size; m++) {
                    ss_add_scaled(n, R[m * size + j], W + m * n, column);
                    column[first + m] += system->alpha * R[m * size + j];
                }
                of = column;
            }

            // B times that, node by node; most are rows or contacts.
            double *to = K;
            for (int c = 0; is_rows_only && c < full->count; c++)
                K[c] = system->B[full->active[c]] * of[full->active[c]];
            for (int c = 0; !is_rows_only && c < full->active_count; c++) {
                const ss_node *node = &space->nodes[full->active[c]];
                const double *b = system->B + system->square[full->active[c]], *v = of + node->first;
                if (node->size == 1) {
                    to[0] = b[0] * v[0];
                } else if (node->size == 3) {
                    to[0] = b[0] * v[0] + b[1] * v[1] + b[2] * v[2];
                    to[1] = b[3] * v[0] + b[4] * v[1] + b[5] * v[2];
                    to[2] = b[6] * v[0] + b[7] * v[1] + b[8] * v[2];
                } else {
                    ss_newton_multiply(node->size, node->size, 1, b, v, to);
                }
                to += node->size;
            }
            for (int i = 0; i < size; i++) {
                if (!system->uses_right) K[place + i] += system->alpha * B[i * size + j];
                K[place + i] += F[i * size + j];
            }
        }
    }
    return full->count == 0 || ss_dense_lu_columns(full->count, full->K, full->count, full->exchange);
}

void ss_newton_full_solve(const struct ss_newton_full *full, const double *b, double *y)
{
    for (int c = 0; c < full->count; c++) full->part[c] = b[full->unknowns[c]];
    ss_dense_lu_solve(full->count, full->K, full->exchange, SS_TRANSPOSED, full->part, 1);
    for (int c = 0; c < full->count; c++) y[full->unknowns[c]] = full->part[c];
}

/* ---- a matrix of blocks, F + B (W + alpha) R, and its LU ------------------------------------------ */

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
    ss_front_lu_set_team(matrix->fronts, run->team);
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

/* ---- blocks: factor ------------------------------------------------------------------------------- */

/* Blocks B W R, and on the diagonal F + B (W + alpha) R. */
bool ss_newton_matrix_factor(struct ss_newton_matrix *matrix, const ss_newton_system *system)
{
    const ss_space *space = matrix->space;
    const ss_block_rows *W = space->W;
    end_rescue(matrix);
    for (int node = 0; node < space->node_count; node++) {
        int n = space->nodes[node].size;
        const double *F = system->F + system->square[node], *B = system->B + system->square[node];
        for (int k = W->start[node]; system->active[node] && k < W->start[node + 1]; k++) {
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
            if (system->uses_right)
                ss_newton_multiply(n, cols, cols, half, system->R + system->square[j], to);
            for (int i = 0; j == node && i < n * n; i++) to[i] += F[i];
        }
    }
    ss_linalg_status outcome = ss_front_lu_factor(matrix->fronts, matrix->values, system->active);
    if (outcome == SS_LINALG_LATE) ss_run_give_up(system->run);
    return outcome == SS_LINALG_OK || (!ss_run_late(system->run) && ss_newton_matrix_rescue(matrix, system));
}

/* ---- blocks: rescue ------------------------------------------------------------------------------- */

bool ss_newton_matrix_rescue(struct ss_newton_matrix *matrix, const ss_newton_system *system)
{
    const ss_space *space = matrix->space;
    const ss_block_rows *W = space->W;
    const bool *active = system->active;
    int64_t count = 0;
    if (matrix->lu) return false;
    matrix->active_size = 0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        for (int i = node->first; i < node->first + node->size; i++)
            matrix->place[i] = active[k] ? matrix->active_size++ : -1;
        for (int e = W->start[k]; active[k] && e < W->start[k + 1]; e++) {
            if (active[W->column[e]]) count += (int64_t)(W->place[e + 1] - W->place[e]);
        }
    }

    // The matrix of the active nodes by columns; the pattern is symmetric.
    ss_sparse *sparse = ss_sparse_create(matrix->active_size, matrix->active_size, count, NULL);
    for (int j = 0, entry = 0, at = 0; sparse && j < W->nodes; j++) {
        int cols = ss_block_rows_size(W, j);
        for (int c = 0; active[j] && c < cols; c++) {
            for (int e = W->start[j]; e < W->start[j + 1]; e++) {
                int i = W->column[e];
                const double *block = matrix->values + W->place[W->mirror[e]];
                for (int row = 0; active[i] && row < ss_block_rows_size(W, i); row++) {
                    sparse->row[entry] = matrix->place[W->first[i] + row];
                    sparse->value[entry++] = block[row * cols + c];
                }
            }
            sparse->start[++at] = entry;
        }
    }
    if (sparse) matrix->lu = ss_lu_create(sparse, NULL);
    bool good = matrix->lu && ss_lu_factor(matrix->lu, sparse) == SS_LINALG_OK;
    ss_sparse_destroy(sparse);
    if (!good) end_rescue(matrix);
    return good;
}

/* ---- blocks: solve -------------------------------------------------------------------------------- */

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
