#include "problem/levers.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/pairs.h"

/* Cholesky's factor of the inverse inertia. */
ss_mass_root ss_mass_root_of(const ss_bodies_form *form, int body)
{
    static const double rounding = 1e-14;
    const double *A = form->inverse_inertia[body];
    double l[3][3] = {{0}};
    for (int j = 0; j < 3; j++) {
        double pivot = A[4 * j] - (l[j][0] * l[j][0] + l[j][1] * l[j][1]);
        if (!(pivot > rounding * A[4 * j])) continue;
        l[j][j] = sqrt(pivot);
        for (int i = j + 1; i < 3; i++)
            l[i][j] = (A[3 * i + j] - (l[i][0] * l[j][0] + l[i][1] * l[j][1])) / l[j][j];
    }
    return (ss_mass_root){
        {sqrt(form->inverse_mass[body]), l[0][0], l[1][0], l[1][1], l[2][0], l[2][1], l[2][2], 0.0}};
}

ss_levers *ss_levers_create(const ss_problem *problem, const int *number, const double *scale,
                            ss_arena *arena)
{
    const ss_bodies_form *form = problem->bodies;
    size_t n = (size_t)problem->size, bodies = (size_t)form->bodies;
    ss_levers *levers = ss_arena_take(arena, 1, sizeof *levers, "levers");
    ss_mass_root *roots = ss_arena_take(arena, bodies, sizeof *roots, "roots of masses");
    if (!levers || !roots) return NULL;
    *levers = (ss_levers){.size = problem->size,
                          .bodies = form->bodies,
                          .pair = ss_arena_take(arena, n, sizeof *levers->pair, "levers"),
                          .lever = ss_arena_take(arena, n, sizeof *levers->lever, "levers"),
                          .compliance = ss_arena_take(arena, n, sizeof *levers->compliance, "levers"),
                          .velocity = ss_arena_take(arena, bodies, sizeof *levers->velocity, "velocities"),
                          .groups = ss_arena_take_unset(arena, n, sizeof *levers->groups, "bodies of rows")};
    if (!levers->pair || !levers->lever || !levers->compliance || !levers->velocity || !levers->groups)
        return NULL;

    // H = J L, row by row.
    for (int body = 0; body < form->bodies; body++) roots[body] = ss_mass_root_of(form, body);
    for (int i = 0; i < problem->size; i++) {
        int to = number[i];
        levers->compliance[to] = form->compliance[i] / (scale[i] * scale[i]);
        for (int side = 0; side < 2; side++) {
            int body = levers->pair[to][side] = form->pair[i][side];
            double *lever = levers->lever[to] + 6 * side;
            if (body < 0) continue;
            ss_mass_root_scale(&roots[body], form->jacobian[i] + 6 * side, lever);
            for (int k = 0; k < 6; k++) lever[k] /= scale[i];
        }
    }

    // Rows on the same two bodies.
    for (int i = 0; i < problem->size; i++) {
        const int *body = levers->pair[i];
        ss_row_group *last = i > 0 ? &levers->groups[levers->group_count - 1] : NULL;
        if (last && body[0] == last->body[0] && body[1] == last->body[1])
            last->count++;
        else
            levers->groups[levers->group_count++] = (ss_row_group){i, 1, {body[0], body[1]}};
    }
    return levers;
}

double ss_levers_product(const ss_levers *levers, int i, int j)
{
    double sum = 0.0;
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            if (levers->pair[i][a] < 0 || levers->pair[i][a] != levers->pair[j][b]) continue;
            const double *left = levers->lever[i] + 6 * a, *right = levers->lever[j] + 6 * b;
            for (int k = 0; k < 6; k++) sum += left[k] * right[k];
        }
    }
    return sum;
}

/* ---- two numbers at a time -------------------------------------------------------------------------- */

void ss_levers_push(const ss_levers *levers, const double *amount, double (*v)[6])
{
    for (int s = 0; s < levers->group_count; s++) {
        const ss_row_group *at = &levers->groups[s];
        for (int side = 0; side < 2; side++) {
            if (at->body[side] < 0) continue;
            const double *lever = levers->lever[at->first] + 6 * side;
            ss_three_pairs sum = ss_three_pairs_load(v[at->body[side]]);
            for (int k = at->first; k < at->first + at->count; k++, lever += 12) {
                for (int d = 0; d < 3; d++) sum.part[d] += ss_pair_load(lever + 2 * d) * amount[k];
            }
            memcpy(v[at->body[side]], &sum, sizeof sum);
        }
    }
}

void ss_levers_pull(const ss_levers *levers, double (*v)[6], double *speed)
{
    static const double still[6];
    for (int s = 0; s < levers->group_count; s++) {
        const ss_row_group *at = &levers->groups[s];
        ss_three_pairs a = ss_three_pairs_load(at->body[0] < 0 ? still : v[at->body[0]]);
        ss_three_pairs b = ss_three_pairs_load(at->body[1] < 0 ? still : v[at->body[1]]);
        for (int i = at->first; i < at->first + at->count; i++) {
            ss_pair sum = ss_three_pairs_product(levers->lever[i], &a) +
                          ss_three_pairs_product(levers->lever[i] + 6, &b);
            speed[i] = sum[0] + sum[1];
        }
    }
}

void ss_levers_add_square(const ss_levers *levers, const ss_row_group *group, const double *T, int a, int b,
                          double *block)
{
    const double *left = levers->lever[group->first] + 6 * a;
    const double *right = levers->lever[group->first] + 6 * b;
    for (int i = 0; i < 6; i++) {
        ss_three_pairs sum = ss_three_pairs_load(block + 6 * i);
        for (int k = 0; k < group->count; k++) {
            double factor = T[k] * left[12 * k + i];
            for (int d = 0; d < 3; d++) sum.part[d] += factor * ss_pair_load(right + 12 * k + 2 * d);
        }
        memcpy(block + 6 * i, &sum, sizeof sum);
    }
}
