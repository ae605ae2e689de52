/* The Newton system of a small problem as one full matrix, K = F + B (W + alpha) R, and its LU. */
#include "solver/newton/newton_system.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/add_scaled.h"
#include "linalg/dense.h"

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

static void list_active(struct ss_newton_full *full, const bool *active)
{
    const ss_space *space = full->space;
    full->count = full->active_count = 0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        if (!active[k]) continue;
        full->active[full->active_count++] = k;
        for (int i = 0; i < node->size; i++) full->unknowns[full->count++] = node->first + i;
    }
}

/* Column j of a node's (W + alpha) R; without R that is one of W, and alpha is left to the caller. */
static const double *column_of(struct ss_newton_full *full, const ss_newton_system *system, int k, int j)
{
    int n = full->space->size, first = full->space->nodes[k].first, size = full->space->nodes[k].size;
    const double *W = full->space->full + first * n, *R = system->R + system->square[k] + j;
    if (!system->uses_right) return W + j * n;
    memset(full->column, 0, (size_t)n * sizeof *full->column);
    for (int m = 0; m < size; m++) {
        double share = R[m * size];
        ss_add_scaled(n, share, W + m * n, full->column);
        full->column[first + m] += system->alpha * share;
    }
    return full->column;
}

/* Most nodes are rows or contacts. */
static inline void apply_block(int n, const double *B, const double *v, double *product)
{
    if (n == 1) {
        product[0] = B[0] * v[0];
    } else if (n == 3) {
        product[0] = B[0] * v[0] + B[1] * v[1] + B[2] * v[2];
        product[1] = B[3] * v[0] + B[4] * v[1] + B[5] * v[2];
        product[2] = B[6] * v[0] + B[7] * v[1] + B[8] * v[2];
    } else {
        ss_newton_multiply(n, n, 1, B, v, product);
    }
}

/* B times that column */
static void fill_column(const struct ss_newton_full *full, const ss_newton_system *system,
                        const double *column, double *K)
{
    const ss_node *nodes = full->space->nodes;
    if (full->space->node_count == full->space->size) { // rows and nothing else
        for (int a = 0; a < full->count; a++) K[a] = system->B[full->active[a]] * column[full->active[a]];
        return;
    }
    for (int a = 0; a < full->active_count; a++) {
        const ss_node *node = &nodes[full->active[a]];
        apply_block(node->size, system->B + system->square[full->active[a]], column + node->first, K);
        K += node->size;
    }
}

/* F where the node meets itself, and B alpha unless R has it already. */
static void add_own(const ss_newton_system *system, int k, int n, int j, double *K)
{
    const double *F = system->F + system->square[k], *B = system->B + system->square[k];
    for (int i = 0; i < n; i++) {
        if (!system->uses_right) K[i] += system->alpha * B[i * n + j];
        K[i] += F[i * n + j];
    }
}

bool ss_newton_full_factor(struct ss_newton_full *full, const ss_newton_system *system)
{
    list_active(full, system->active);
    double *K = full->K;
    for (int a = 0, place = 0; a < full->active_count; a++) {
        int k = full->active[a], size = full->space->nodes[k].size;
        for (int j = 0; j < size; j++, K += full->count) {
            fill_column(full, system, column_of(full, system, k, j), K);
            add_own(system, k, size, j, K + place);
        }
        place += size;
    }
    return full->count == 0 || ss_dense_lu_columns(full->count, full->K, full->count, full->exchange);
}

void ss_newton_full_solve(const struct ss_newton_full *full, const double *b, double *y)
{
    for (int c = 0; c < full->count; c++) full->part[c] = b[full->unknowns[c]];
    ss_dense_lu_solve(full->count, full->K, full->exchange, SS_TRANSPOSED, full->part, 1);
    for (int c = 0; c < full->count; c++) y[full->unknowns[c]] = full->part[c];
}
