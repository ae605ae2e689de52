/* Fischer-Burmeister, natural residual, energy error and natural map of the true Coulomb problem: sums over
 * its blocks, each with the block that contributes most. */
#include "metrics/judgement.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "problem/laws.h"

enum { EXACT_LIMIT = 600 }; // rows; a dense inverse of more takes seconds

typedef struct worst {
    double value;
    int block;
} worst;

static void offer(worst *so_far, double value, int block)
{
    if (value > so_far->value) *so_far = (worst){value, block};
}

static void set_sum(ss_judgement *judgement, enum ss_metric_id id, double sum, worst most)
{
    const ss_block *block = most.block >= 0 ? &judgement->problem->blocks[most.block] : NULL;
    ss_metric_set(judgement, id, sum, block ? block->contact : -1, block ? block->constraint : -1);
}

static void sum_up(ss_judgement *judgement)
{
    const ss_gauge_scale *scale = &judgement->scale;
    const ss_problem *problem = judgement->problem;
    ss_gauge_part sum = {0};
    worst energy = {0, -1}, fischer = {0, -1}, natural = {0, -1}, map = {0, -1};
    for (int k = 0; k < problem->block_count; k++) {
        ss_gauge_part part =
            ss_gauge_of_block(problem, scale->inverse_mass, k, judgement->x, judgement->w, SS_WANT_ALL);
        sum.energy += part.energy;
        sum.fischer_burmeister += part.fischer_burmeister;
        sum.natural_residual += part.natural_residual;
        sum.natural_map_squared += part.natural_map_squared;
        offer(&energy, part.energy, k);
        offer(&fischer, part.fischer_burmeister, k);
        offer(&natural, part.natural_residual, k);
        offer(&map, part.natural_map_squared, k);
        int contact = problem->blocks[k].contact;
        if (judgement->reports && contact >= 0) judgement->reports[contact].energy += part.energy;
    }

    set_sum(judgement, SS_METRIC_energy, sum.energy, energy);
    set_sum(judgement, SS_METRIC_fischer_burmeister, sum.fischer_burmeister, fischer);
    set_sum(judgement, SS_METRIC_natural_residual, sum.natural_residual, natural);
    if (!(ss_problem_laws(problem) & (SS_LAW_CONE | SS_LAW_CONVEX))) {
        ss_metric_refuse(judgement, SS_METRIC_natural_map, "no contacts");
        ss_metric_refuse(judgement, SS_METRIC_natural_map_absolute, "no contacts");
        return;
    }
    double length = sqrt(sum.natural_map_squared);
    set_sum(judgement, SS_METRIC_natural_map, length / (scale->load > 0.0 ? scale->load : 1.0), map);
    set_sum(judgement, SS_METRIC_natural_map_absolute, length, map);
}

/* 1 / (A^-1)_ii; all 0 where A is singular, of which rounding may know nothing: see exact_energy. */
static bool exact_masses(ss_judgement *judgement, double *diagonal, ss_error *err)
{
    ss_problem *problem = judgement->problem;
    size_t n = (size_t)problem->size;
    if (!ss_problem_need_matrix(problem, err)) return false;
    double *inverse = ss_arena_take(judgement->arena, n * n, sizeof *inverse, "inverse");
    double *matrix = ss_arena_take(judgement->arena, n * n, sizeof *matrix, "matrix");
    int *pivot = ss_arena_take(judgement->arena, n, sizeof *pivot, "pivots");
    bool *absent = ss_arena_take(judgement->arena, n, sizeof *absent, "unknowns that are zero by law");
    if (!inverse || !matrix || !pivot || !absent)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the inverse of a %zu x %zu matrix", n, n);

    /* An unknown may be zero by law: a contact without friction has tangents all the same. */
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = 1; ss_block_is_cone(block) && i < block->size; i++)
            absent[block->first + i] = ss_block_friction(block, i) == 0.0;
    }
    for (size_t j = 0; j < n; j++) {
        for (int k = problem->A->start[j]; k < problem->A->start[j + 1]; k++) {
            size_t i = (size_t)problem->A->row[k];
            if (i == j || (!absent[i] && !absent[j])) matrix[i * n + j] = problem->A->value[k];
        }
        inverse[j * n + j] = 1.0;
    }

    if (ss_dense_lu((int)n, matrix, pivot) != SS_LINALG_OK) return true; // the diagonal stays 0
    ss_dense_lu_solve((int)n, matrix, pivot, SS_AS_IS, inverse, (int)n);
    for (size_t i = 0; i < n; i++) diagonal[i] = 1.0 / inverse[i * n + i];
    return true;
}

static bool exact_energy(ss_judgement *judgement, ss_error *err)
{
    ss_problem *problem = judgement->problem;
    if (judgement->what->skip_exact) {
        ss_metric_refuse(judgement, SS_METRIC_energy_exact, "left out");
        return true;
    }
    if (problem->size > EXACT_LIMIT) {
        ss_metric_refuse(judgement, SS_METRIC_energy_exact, "more than 600 rows");
        return true;
    }
    double *diagonal =
        ss_arena_take(judgement->arena, (size_t)problem->size, sizeof *diagonal, "effective masses");
    if (!diagonal) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for effective masses");
    bool good = exact_masses(judgement, diagonal, err);

    // an exact mass so far above the diagonal one is the inverse of a rounding error: the rows are redundant
    static const double rounding = 1e-8;
    double sum = 0.0;
    worst most = {0, -1};
    bool redundant = false;
    for (int i = 0; good && i < problem->size; i++)
        redundant = redundant || !(diagonal[i] > rounding * problem->diagonal[i]);
    for (int k = 0; good && k < problem->block_count; k++) {
        ss_gauge_part part =
            ss_gauge_of_block(problem, diagonal, k, judgement->x, judgement->w, SS_WANT_ENERGY);
        sum += part.energy;
        offer(&most, part.energy, k);
    }
    if (good && redundant)
        ss_metric_refuse(judgement, SS_METRIC_energy_exact,
                         "redundant rows: exact effective masses are not defined");
    else if (good)
        set_sum(judgement, SS_METRIC_energy_exact, sum, most);
    return good;
}

bool ss_metrics_rows(ss_judgement *judgement, ss_error *err)
{
    ss_problem *problem = judgement->problem;
    size_t n = (size_t)problem->size;
    double *start = ss_arena_take(judgement->arena, n, sizeof *start, "start");
    double *w = ss_arena_take(judgement->arena, n, sizeof *w, "w of the start");
    double *inverse_mass = ss_arena_take(judgement->arena, n, sizeof *inverse_mass, "inverse masses");
    if (!start || !w || !inverse_mass)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for measuring %d rows", problem->size);
    judgement->scale = ss_gauge_scale_of(problem, NULL, start, w, judgement->scratch, inverse_mass);
    sum_up(judgement);
    const ss_metric_value *energy = &judgement->values[SS_METRIC_energy];
    ss_metric_set(judgement, SS_METRIC_relative_energy,
                  ss_gauge_relative_energy(&judgement->scale, energy->value), energy->worst_contact,
                  energy->worst_constraint);
    return exact_energy(judgement, err);
}
