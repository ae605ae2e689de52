#include "solver/newton/newton_system.h"

#include <math.h>
#include <string.h>

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
    system->y = ss_arena_take(arena, n, sizeof *system->y, "y");
    system->residual = ss_arena_take(arena, n, sizeof *system->residual, "residual");
    system->correction = ss_arena_take(arena, n, sizeof *system->correction, "correction");
    if (!system->square || !system->active || !system->F || !system->B || !system->R || !system->y ||
        !system->residual || !system->correction) {
        return false;
    }
    for (size_t k = 0, at = 0; k < nodes; k++) {
        system->square[k] = at;
        at += (size_t)(space->nodes[k].size * space->nodes[k].size);
    }
    return true;
}

/* Often the sweeps at the start are enough: then nothing is ever factorised. */
static bool choose_way(ss_newton_system *system)
{
    const ss_space *space = system->space;
    if (system->full || system->bodies || system->matrix) return true;
    if (space->full) return (system->full = ss_newton_full_create(space, system->run->arena)) != NULL;
    if (space->levers) return (system->bodies = ss_newton_bodies_create(space, system->run)) != NULL;
    return (system->matrix = ss_newton_matrix_create(space, system->run)) != NULL;
}

void ss_newton_system_free(ss_newton_system *system)
{
    ss_newton_matrix_free(system->matrix);
    ss_newton_bodies_free(system->bodies);
    system->matrix = NULL;
    system->bodies = NULL;
}

/* ---- factor ----------------------------------------------------------------------------------------- */

/* Most nodes are contacts; the sum is the same to the bit. */
static void multiply_threes(int rows, int cols, const double *left, const double *right, double *product)
{
    for (int i = 0; i < rows; i++, product += cols, left += 3) {
        for (int j = 0; j < cols; j++)
            product[j] = left[0] * right[j] + left[1] * right[cols + j] + left[2] * right[2 * cols + j];
    }
}

void ss_newton_multiply(int rows, int inner, int cols, const double *left, const double *right,
                        double *product)
{
    if (inner == 3) {
        multiply_threes(rows, cols, left, right, product);
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

static bool is_trivial(int n, const double *F, const double *B)
{
    for (int i = 0; i < n * n; i++) {
        if (B[i] != 0.0 || F[i] != (i % (n + 1) == 0 ? 1.0 : 0.0)) return false;
    }
    return true;
}

bool ss_newton_system_factor(ss_newton_system *system, double alpha)
{
    const ss_space *space = system->space;
    if (ss_run_late(system->run) || !choose_way(system) || ss_run_late(system->run)) return false;
    system->alpha = alpha;
    system->factorizations++;
    for (int k = 0; k < space->node_count; k++) {
        size_t at = system->square[k];
        system->active[k] = !is_trivial(space->nodes[k].size, system->F + at, system->B + at);
    }
    if (system->full) return ss_newton_full_factor(system->full, system);
    return system->bodies ? ss_newton_bodies_factor(system->bodies, system)
                          : ss_newton_matrix_factor(system->matrix, system);
}

/* ---- solve ------------------------------------------------------------------------------------------ */

/* dr = R y */
static void unscale(const ss_newton_system *system, const double *y, double *dr)
{
    const ss_space *space = system->space;
    if (!system->uses_right) {
        memcpy(dr, y, (size_t)space->size * sizeof *dr);
        return;
    }
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        ss_newton_multiply(node->size, node->size, 1, system->R + system->square[k], y + node->first,
                           dr + node->first);
    }
}

/* dr, du, and the residual rhs - F y - B du; returns its norm. */
static double find_residual(ss_newton_system *system, const double *rhs, double *dr, double *du)
{
    const ss_space *space = system->space;
    unscale(system, system->y, dr);
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
