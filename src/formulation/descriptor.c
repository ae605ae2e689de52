/* Problems with an explicit matrix: the velocities kept as unknowns, or just without the bodies form. */
#include "formulation/problem_builder.h"

#include "linalg/mat6.h"
#include "problem/bodies_form.h"
#include "linalg/triplets.h"

#include <string.h>

/* Laws and origins of all unknowns, `shift` places and `blocks` blocks later. */
static void copy_laws(const ss_problem *from, int shift, int blocks, ss_problem *to)
{
    for (int i = 0; i < from->size; i++) {
        to->lower[shift + i] = from->lower[i];
        to->upper[shift + i] = from->upper[i];
        to->factor[shift + i] = from->factor[i];
        to->partner[shift + i] = from->partner[i] < 0 ? -1 : shift + from->partner[i];
    }
    for (int k = 0; k < from->block_count; k++) {
        to->blocks[blocks + k] = from->blocks[k];
        to->blocks[blocks + k].first += shift;
    }
}

/* ---- velocities as unknowns ------------------------------------------------------------------------- */

ss_problem *ss_problem_to_descriptor(const ss_frame *frame, const ss_problem *problem, ss_error *err)
{
    const ss_bodies_form *form = problem->bodies;
    int bodies = form->bodies, size = 6 * bodies + problem->size;
    ss_problem *descriptor = ss_problem_create(size, bodies + problem->block_count, -1, err);
    ss_triplets A;
    size_t entries = 12 * (size_t)bodies + 25 * (size_t)problem->size +
                     12 * (size_t)ss_bodies_further(form, 0, problem->size);
    if (!descriptor || !ss_triplets_start(&A, entries, err)) {
        ss_problem_destroy(descriptor);
        return NULL;
    }
    copy_laws(problem, 6 * bodies, bodies, descriptor);

    /* 0 = M v - J' x - M v*, a free block for each body */
    double *b = descriptor->b, *diagonal = descriptor->diagonal;
    for (int body = 0, live = 0; body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        int dof = 6 * live;
        ss_mass mass = ss_frame_mass(frame, body);
        ss_mass_apply(&mass, form->free_velocity[live], b + dof);
        for (int i = 0; i < 6; i++) b[dof + i] = -b[dof + i];
        for (int i = 0; i < 3; i++) {
            diagonal[dof + i] = mass.linear;
            diagonal[dof + 3 + i] = mass.angular.m[i][i];
            ss_triplets_add(&A, dof + i, dof + i, mass.linear);
            for (int j = 0; j < 3; j++) ss_triplets_add(&A, dof + 3 + i, dof + 3 + j, mass.angular.m[i][j]);
        }
        descriptor->blocks[live++] =
            (ss_block){.law = SS_LAW_FREE, .first = dof, .size = 6, .contact = -1, .constraint = -1};
    }

    /* w = J v + C x + c */
    for (int i = 0; i < problem->size; i++) {
        int row = 6 * bodies + i;
        b[row] = form->offset[i];
        diagonal[row] = form->compliance[i];
        ss_triplets_add(&A, row, row, form->compliance[i]);
        const double *block;
        for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
            for (int k = 0; k < 6; k++) {
                if (body < 0 || block[k] == 0.0) continue;
                ss_triplets_add(&A, row, 6 * body + k, block[k]);
                ss_triplets_add(&A, 6 * body + k, row, -block[k]);
            }
        }
    }
    descriptor->A = ss_triplets_finish(&A, size, size, err);
    if (!descriptor->A) {
        ss_problem_destroy(descriptor);
        return NULL;
    }
    descriptor->symmetric = problem->size == 0; // J and -J'
    return descriptor;
}

/* ---- generalised velocities as unknowns --------------------------------------------------------------- */

ss_problem *ss_problem_to_generalized(const ss_frame *frame, const ss_problem *problem, ss_error *err)
{
    const ss_generalized *g = &frame->generalized;
    ss_coordinates coordinates = {0};
    ss_problem *made = NULL;
    ss_triplets A = {0};
    if (!ss_coordinates_make(frame, &coordinates, err)) {
        ss_coordinates_free(&coordinates);
        return NULL;
    }
    int n = g->count, size = n + problem->size;
    size_t entries = 2 * (size_t)g->mass_count + (size_t)problem->size * (2 * (size_t)n + 1);
    double *row = ss_allocate((size_t)n, sizeof *row);
    if (!row)
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d coordinates", n);
    else
        made = ss_problem_create(size, g->trees + problem->block_count, -1, err);
    bool good = made && ss_triplets_start(&A, entries, err);

    // 0 = M v - (J T)' x - M v*, a free block for each tree
    if (good) copy_laws(problem, n, g->trees, made);
    for (int t = 0; good && t < g->trees; t++)
        made->blocks[t] = (ss_block){.law = SS_LAW_FREE,
                                     .first = g->tree[t][0],
                                     .size = g->tree[t][1],
                                     .contact = -1,
                                     .constraint = -1};
    for (int i = 0; good && i < n; i++) {
        for (int e = g->mass_start[i]; e < g->mass_start[i + 1]; e++) {
            int j = g->mass_column[e];
            ss_triplets_add(&A, i, j, g->mass[e]);
            made->b[i] -= g->mass[e] * coordinates.free[j];
            if (j == i) made->diagonal[i] = g->mass[e];
            if (j == i) continue;
            ss_triplets_add(&A, j, i, g->mass[e]);
            made->b[j] -= g->mass[e] * coordinates.free[i];
        }
    }

    // w = J T v + C x + c
    for (int i = 0; good && i < problem->size; i++) {
        made->b[n + i] = problem->bodies->offset[i];
        made->diagonal[n + i] = problem->bodies->compliance[i];
        ss_triplets_add(&A, n + i, n + i, problem->bodies->compliance[i]);
        ss_coordinates_row(&coordinates, problem->bodies, i, row);
        for (int j = 0; j < n; j++) {
            if (row[j] == 0.0) continue;
            ss_triplets_add(&A, n + i, j, row[j]);
            ss_triplets_add(&A, j, n + i, -row[j]);
        }
    }
    if (good) good = (made->A = ss_triplets_finish(&A, size, size, err)) != NULL;
    if (good) made->symmetric = problem->size == 0;
    ss_release(row);
    ss_coordinates_free(&coordinates);
    if (good) return made;
    ss_problem_destroy(made);
    return NULL;
}

/* ---- without bodies --------------------------------------------------------------------------------- */

ss_problem *ss_problem_to_explicit(ss_problem *problem, ss_error *err)
{
    if (!ss_problem_need_matrix(problem, err)) return NULL;
    ss_problem *plain = ss_problem_create(problem->size, problem->block_count, -1, err);
    if (!plain) return NULL;
    copy_laws(problem, 0, 0, plain);
    if (problem->size) {
        memcpy(plain->b, problem->b, (size_t)problem->size * sizeof *plain->b);
        memcpy(plain->diagonal, problem->diagonal, (size_t)problem->size * sizeof *plain->diagonal);
    }
    plain->symmetric = problem->symmetric;
    plain->A = problem->A;
    problem->A = NULL;
    return plain;
}
