/* What auto solves without another method. */
#include <string.h>

#include "base/memory.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"
#include "solver/auto/auto.h"
#include "solver/local/local_cone.h"

/* ---- one contact or row ----------------------------------------------------------------------------- */

bool ss_auto_is_single(const ss_problem *problem)
{
    if (problem->block_count != 1) return false;
    const ss_block *block = &problem->blocks[0];
    if (!(problem->diagonal[0] > 0.0)) return false; // nothing there moves
    return ss_law_is_cone(block->law) ? block->size <= SS_CONE_MAX : block->size == 1;
}

bool ss_auto_solve_single(const ss_problem *problem, ss_arena *arena, double *x)
{
    static const double tolerance = 1e-14;
    const ss_block *block = &problem->blocks[0];
    const ss_bodies_form *form = problem->bodies;
    double own[SS_CONE_MAX * SS_CONE_MAX], lower, upper;
    int n = problem->size;
    if (!ss_law_is_cone(block->law)) {
        x[0] = -problem->b[0] / problem->diagonal[0];
        ss_row_bounds(problem, x, 0, &lower, &upper);
        x[0] = x[0] < lower ? lower : x[0] > upper ? upper : x[0];
        return true;
    }

    // A = J M^-1 J' + C. Rows of one block act on the same two bodies as a rule, but need not.
    for (int i = 0; i < n * n; i++) own[i] = 0.0;
    if (!form) ss_block_matrix(problem, block, own);
    bool one_pair = form && !form->further_start;
    for (int j = 1; one_pair && j < n; j++)
        one_pair = form->pair[j][0] == form->pair[0][0] && form->pair[j][1] == form->pair[0][1];
    one_pair = one_pair && form->pair[0][0] != form->pair[0][1];
    for (int side = 0; one_pair && side < 2; side++) {
        int body = form->pair[0][side];
        for (int j = 0; body >= 0 && j < n; j++) {
            double push[6];
            ss_bodies_push_one(form, body, form->jacobian[j] + 6 * side, push);
            for (int i = 0; i < n; i++)
                own[n * i + j] += ss_bodies_product(form->jacobian[i] + 6 * side, push);
        }
    }
    for (int j = 0; one_pair && j < n; j++) own[n * j + j] += form->compliance[j];
    for (int j = 0; form && !one_pair && j < n; j++) {
        const double *row;
        for (int side = 0, body; ss_bodies_block(form, j, side, &body, &row); side++) {
            double push[6];
            if (body < 0) continue;
            ss_bodies_push_one(form, body, row, push);
            for (int i = 0; i < n; i++) own[n * i + j] += ss_bodies_dot(form, i, body, push);
        }
        own[n * j + j] += form->compliance[j];
    }

    ss_local_cone cone;
    ss_arena_mark mark = ss_arena_get_mark(arena);
    bool good = ss_local_cone_create(block, own, tolerance, arena, &cone);
    if (good) cone.solve(cone.data, problem->b, x);
    ss_arena_reset(arena, mark);
    return good;
}

/* ---- nothing to do ---------------------------------------------------------------------------------- */

static bool is_zero(const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (x[i] != 0.0) return false;
    }
    return true;
}

bool ss_auto_start_may_do(const ss_problem *problem, const double *x)
{
    if (!is_zero(x, problem->size)) return true;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; i < block->first + block->size; i++) {
            bool is_normal = ss_law_is_cone(block->law) ? i == block->first : problem->partner[i] < 0;
            if (is_normal && (problem->b[i] < 0.0 || block->law == SS_LAW_FREE)) return false;
        }
    }
    return true;
}

/* ---- one sweep --------------------------------------------------------------------------------------- */

bool ss_auto_can_sweep(const ss_problem *problem, const double *x)
{
    if (problem->bodies || !problem->A || !is_zero(x, problem->size)) return false;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_law_is_cone(block->law) || block->size > SS_CONE_MAX) return false;
        for (int i = 0; i < block->size; i++) {
            if (!(problem->diagonal[block->first + i] > 0.0)) return false;
        }
    }
    return true;
}

bool ss_auto_sweep(const ss_problem *problem, ss_arena *arena, double *x)
{
    static const double tolerance = 1e-14;
    const ss_sparse *A = problem->A;
    ss_arena_mark mark = ss_arena_get_mark(arena);
    size_t n = (size_t)problem->size;
    double *w = ss_arena_take_unset(arena, n, sizeof *w, "velocities"), own[SS_CONE_MAX * SS_CONE_MAX];
    if (!w) return false;
    memcpy(w, problem->b, n * sizeof *w);
    bool good = true;
    for (int k = 0; good && k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        ss_local_cone cone;
        if (block->law == SS_LAW_CONE && w[block->first] >= 0.0) continue; // it parts by itself
        ss_arena_mark before = ss_arena_get_mark(arena);
        ss_block_matrix(problem, block, own);
        good = ss_local_cone_create(block, own, tolerance, arena, &cone);
        if (good) cone.solve(cone.data, w + block->first, x + block->first);
        ss_arena_reset(arena, before);

        // One sweep will not do when that pushes a contact that has been visited and holds.
        for (int j = block->first; good && j < block->first + block->size; j++) {
            for (int e = A->start[j]; x[j] != 0.0 && e < A->start[j + 1]; e++) {
                int i = A->row[e];
                if (i < block->first && x[i] != 0.0) good = false;
                w[i] += A->value[e] * x[j];
            }
        }
    }
    ss_arena_reset(arena, mark);
    return good;
}
