#include "solver/splitting/shifted_system.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "linalg/front_lu.h"

enum { WIDTH = 6 };

struct ss_shifted_system {
    bool is_late;
    const ss_space *space;
    ss_front_lu *fronts; // NULL: a full matrix
    double *values;      // laid out as the pattern is, or the full matrix
    int *pivot;          // of the full matrix
    /* bodies */
    ss_block_rows *pattern;
    int (*entry)[3]; // per group: blocks aa, ab, bb of the pattern; -1 = the world
    double *inverse; // T
    double *weighted;
    double (*velocity)[WIDTH];
};

/* ---- life ------------------------------------------------------------------------------------------- */

enum { AA, AB, BB, BLOCKS };
static const int side_of[BLOCKS][2] = {{0, 0}, {0, 1}, {1, 1}};

static bool create_bodies(ss_shifted_system *shifted, ss_arena *arena)
{
    const ss_levers *levers = shifted->space->levers;
    size_t n = (size_t)levers->size, count = (size_t)levers->group_count;
    int bodies = levers->bodies, members = 0;
    int *start = ss_arena_take_unset(arena, count + 1, sizeof *start, "bodies that meet");
    int *member = ss_arena_take_unset(arena, 2 * count, sizeof *member, "bodies that meet");
    shifted->entry = ss_arena_take_unset(arena, count, sizeof *shifted->entry, "bodies that meet");
    shifted->inverse = ss_arena_take_unset(arena, n, sizeof *shifted->inverse, "inverse of the shift");
    shifted->weighted = ss_arena_take_unset(arena, n, sizeof *shifted->weighted, "weighted impulses");
    shifted->velocity = ss_arena_take_unset(arena, (size_t)bodies, sizeof *shifted->velocity, "velocities");
    if (!start || !member || !shifted->entry || !shifted->inverse || !shifted->weighted || !shifted->velocity)
        return false;

    // Which bodies meet in a row.
    for (int k = 0; k < levers->group_count; k++) {
        const int *body = levers->groups[k].body;
        start[k] = members;
        for (int side = 0; side < 2; side++) {
            if (body[side] >= 0 && (side == 0 || body[1] != body[0])) member[members++] = body[side];
        }
    }
    start[count] = members;
    shifted->pattern = ss_block_rows_of_groups(bodies, WIDTH, levers->group_count, start, member, arena);
    if (!shifted->pattern) return false;
    for (int k = 0; k < levers->group_count; k++) {
        const int *body = levers->groups[k].body;
        for (int e = 0; e < BLOCKS; e++) {
            int row = body[side_of[e][0]], col = body[side_of[e][1]];
            shifted->entry[k][e] = row >= 0 && col >= 0 ? ss_block_rows_find(shifted->pattern, row, col) : -1;
        }
    }

    shifted->values = shifted->pattern->value;
    shifted->fronts = ss_front_lu_create(shifted->pattern, NULL);
    if (shifted->fronts) ss_front_lu_use_symmetry(shifted->fronts);
    return shifted->fronts != NULL;
}

ss_shifted_system *ss_shifted_system_create(const ss_space *space, ss_arena *arena)
{
    const ss_block_rows *W = space->W;
    size_t n = (size_t)space->size;
    ss_shifted_system *shifted = ss_arena_take(arena, 1, sizeof *shifted, "shifted matrix");
    if (!shifted) return NULL;
    shifted->space = space;
    if (space->levers) return create_bodies(shifted, arena) ? shifted : NULL;
    size_t numbers = space->full ? n * n : W->place[W->start[W->nodes]];
    shifted->values = ss_arena_take_unset(arena, numbers, sizeof *shifted->values, "shifted matrix");
    if (space->full) {
        shifted->pivot = ss_arena_take_unset(arena, n, sizeof *shifted->pivot, "pivots");
        return shifted->values && shifted->pivot ? shifted : NULL;
    }
    shifted->fronts = shifted->values ? ss_front_lu_create(W, NULL) : NULL;
    return shifted->fronts ? shifted : NULL;
}

void ss_shifted_system_set_deadline(ss_shifted_system *shifted, double deadline)
{
    if (shifted->fronts) ss_front_lu_set_deadline(shifted->fronts, deadline);
}

void ss_shifted_system_set_team(ss_shifted_system *shifted, ss_team *team)
{
    if (shifted->fronts) ss_front_lu_set_team(shifted->fronts, team);
}

bool ss_shifted_system_is_late(const ss_shifted_system *shifted)
{
    return shifted->is_late;
}

void ss_shifted_system_free(ss_shifted_system *shifted)
{
    if (shifted) ss_front_lu_destroy(shifted->fronts);
}

/* ---- factor ----------------------------------------------------------------------------------------- */

/* 1 + H' T H. A block ab is added to once, be a before b or after; then those on one side of the diagonal go
 * to the other. */
static void assemble_bodies(ss_shifted_system *shifted, const double *shift)
{
    const ss_levers *levers = shifted->space->levers;
    ss_block_rows *pattern = shifted->pattern;
    memset(pattern->value, 0, pattern->place[pattern->start[pattern->nodes]] * sizeof *pattern->value);
    for (int body = 0; body < pattern->nodes; body++) {
        double *block = pattern->value + pattern->place[pattern->diagonal[body]];
        for (int i = 0; i < WIDTH; i++) block[i * WIDTH + i] = 1.0;
    }
    for (int i = 0; i < shifted->space->size; i++)
        shifted->inverse[i] = 1.0 / (levers->compliance[i] + shift[i]);
    for (int k = 0; k < levers->group_count; k++) {
        const ss_row_group *at = &levers->groups[k];
        const double *T = shifted->inverse + at->first;
        for (int e = 0; e < BLOCKS; e++) {
            if (shifted->entry[k][e] < 0) continue;
            double *block = pattern->value + pattern->place[shifted->entry[k][e]];
            ss_levers_add_square(levers, at, T, side_of[e][0], side_of[e][1], block);
            if (e == AB && at->body[0] == at->body[1]) ss_levers_add_square(levers, at, T, 1, 0, block);
        }
    }
    for (int row = 0; row < pattern->nodes; row++) {
        for (int k = pattern->diagonal[row] + 1; k < pattern->start[row + 1]; k++) {
            double *upper = pattern->value + pattern->place[k];
            double *lower = pattern->value + pattern->place[pattern->mirror[k]];
            for (int i = 0; i < WIDTH; i++) {
                for (int j = 0; j < WIDTH; j++) {
                    upper[WIDTH * i + j] += lower[WIDTH * j + i];
                    lower[WIDTH * j + i] = upper[WIDTH * i + j];
                }
            }
        }
    }
}

bool ss_shifted_system_factor(ss_shifted_system *shifted, const double *shift)
{
    const ss_space *space = shifted->space;
    const ss_block_rows *W = space->W;
    int n = space->size;
    if (space->full) {
        memcpy(shifted->values, space->full, (size_t)n * (size_t)n * sizeof *shifted->values);
        for (int i = 0; i < n; i++) shifted->values[i * n + i] += shift[i];
        return ss_dense_lu(n, shifted->values, shifted->pivot) == SS_LINALG_OK;
    }
    if (space->levers) {
        assemble_bodies(shifted, shift);
    } else {
        memcpy(shifted->values, W->value, W->place[W->start[W->nodes]] * sizeof *shifted->values);
        for (int node = 0; node < W->nodes; node++) {
            int first = W->first[node], size = W->first[node + 1] - first;
            double *block = shifted->values + W->place[W->diagonal[node]];
            for (int i = 0; i < size; i++) block[i * size + i] += shift[first + i];
        }
    }
    ss_linalg_status outcome = ss_front_lu_factor(shifted->fronts, shifted->values, NULL);
    shifted->is_late = outcome == SS_LINALG_LATE;
    return outcome == SS_LINALG_OK;
}

/* ---- solve ------------------------------------------------------------------------------------------ */

void ss_shifted_system_solve(ss_shifted_system *shifted, const double *right, double *x)
{
    const ss_space *space = shifted->space;
    int n = space->size;
    if (space->full) {
        if (x != right) memcpy(x, right, (size_t)n * sizeof *x);
        // the matrix is by columns: row by row it is the transpose
        ss_dense_lu_solve(n, shifted->values, shifted->pivot, SS_TRANSPOSED, x, 1);
        return;
    }
    if (!space->levers) {
        ss_front_lu_solve(shifted->fronts, right, x);
        return;
    }
    double *v = (double *)shifted->velocity, *weighted = shifted->weighted;
    memset(v, 0, (size_t)space->levers->bodies * sizeof *shifted->velocity);
    for (int i = 0; i < n; i++) weighted[i] = shifted->inverse[i] * right[i];
    ss_levers_push(space->levers, weighted, shifted->velocity);
    ss_front_lu_solve(shifted->fronts, v, v);
    ss_levers_pull(space->levers, shifted->velocity, weighted);
    for (int i = 0; i < n; i++) x[i] = shifted->inverse[i] * (right[i] - weighted[i]);
}
