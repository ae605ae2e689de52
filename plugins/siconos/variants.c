/* Problems of ours as problems of Siconos Numerics, and one call of its drivers. */
#include "variants.h"
#include "matrices.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <CSparseMatrix_internal.h>
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <GlobalFrictionContactProblem.h>
#include <GlobalRollingFrictionContactProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <NumericsVerbose.h>
#include <RollingFrictionContactProblem.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

enum { MOST_DENSE_ROWS = 900 };

struct ss_siconos_run {
    const ss_siconos_variant *variant;
    const ss_problem *problem;
    const ss_cone *global;
    int dimension, contacts;
    NumericsMatrix *M, *H;
    double *mu, *mu_rolling, *r, *u, *v;
    SolverOptions *options;
};

int ss_siconos_count(void)
{
    return ss_siconos_variant_count;
}

const char *ss_siconos_name(int variant)
{
    return ss_siconos_variants[variant].name;
}

/* ---- what it takes -------------------------------------------------------------------------------- */

static bool is_global(const ss_siconos_variant *variant)
{
    return variant->kind == SS_SICONOS_GLOBAL || variant->kind == SS_SICONOS_GLOBAL_ROLLING;
}

/* Components of a contact, when all are cones of one size; else 0. */
static int common_dimension(const ss_problem *problem)
{
    int dimension = problem->block_count > 0 ? problem->blocks[0].size : 0;
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->blocks[k].law != SS_LAW_CONE || problem->blocks[k].size != dimension) return 0;
    }
    return dimension;
}

const char *ss_siconos_refusal(int variant, const ss_problem *problem, const ss_cone *global)
{
    static const int dimension_of[] = {3, 2, 5, 3, 5};
    const ss_siconos_variant *which = &ss_siconos_variants[variant];
    int dimension = common_dimension(problem);
    if (dimension == 0) return "takes contacts of one kind and nothing else";
    if (dimension != dimension_of[which->kind]) return "takes contacts of another dimension";
    for (int k = 0; k < problem->block_count; k++) {
        if (isinf(problem->blocks[k].mu)) return "takes no infinite friction";
    }
    if (is_global(which) && !global) return "takes the global form";
    if (which->most_contacts > 0 && problem->block_count > which->most_contacts)
        return "takes a few contacts only";
    return NULL;
}

/* ---- the global form ------------------------------------------------------------------------------ */

/* M of one body, 6 x 6: from the inverse inertia, which is symmetric. */
static void invert_inertia(const double a[9], double inverse[9])
{
    double c00 = a[4] * a[8] - a[5] * a[7], c01 = a[5] * a[6] - a[3] * a[8], c02 = a[3] * a[7] - a[4] * a[6];
    double determinant = a[0] * c00 + a[1] * c01 + a[2] * c02;
    const double adjugate[9] = {c00, a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4],
                                c01, a[0] * a[8] - a[2] * a[6], a[2] * a[3] - a[0] * a[5],
                                c02, a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3]};
    for (int i = 0; i < 9; i++) inverse[i] = adjugate[i] / determinant;
}

typedef struct triplets {
    int *i, *j;
    double *x;
    int64_t count;
} triplets;

static bool make_triplets(triplets *t, size_t room)
{
    *t = (triplets){malloc(room * sizeof *t->i), malloc(room * sizeof *t->j), malloc(room * sizeof *t->x), 0};
    return t->i && t->j && t->x;
}

static void add(triplets *t, int i, int j, double x)
{
    if (x == 0.0) return;
    t->i[t->count] = i, t->j[t->count] = j, t->x[t->count++] = x;
}

static void free_triplets(triplets *t)
{
    free(t->i), free(t->j), free(t->x);
}

static void fill_mass(const ss_bodies_form *bodies, triplets *mass, double *f)
{
    for (int b = 0; b < bodies->bodies; b++) {
        double inertia[9];
        invert_inertia(bodies->inverse_inertia[b], inertia);
        for (int i = 0; i < 3; i++) {
            add(mass, 6 * b + i, 6 * b + i, 1.0 / bodies->inverse_mass[b]);
            f[6 * b + i] = bodies->free_velocity[b][i] / bodies->inverse_mass[b];
            for (int j = 0; j < 3; j++) {
                add(mass, 6 * b + 3 + i, 6 * b + 3 + j, inertia[3 * i + j]);
                f[6 * b + 3 + i] += inertia[3 * i + j] * bodies->free_velocity[b][3 + j];
            }
        }
    }
}

static void fill_jacobian(const ss_bodies_form *bodies, int size, triplets *transposed)
{
    for (int row = 0; row < size; row++) {
        for (int side = 0; side < 2; side++) {
            int body = bodies->pair[row][side];
            for (int i = 0; body >= 0 && i < 6; i++)
                add(transposed, 6 * body + i, row, bodies->jacobian[row][6 * side + i]);
        }
    }
}

ss_cone *ss_siconos_global(const ss_problem *problem, ss_error *err)
{
    const ss_bodies_form *bodies = problem->bodies;
    int dimension = common_dimension(problem);
    if (!bodies || (dimension != 3 && dimension != 5)) return NULL;
    for (int i = 0; i < problem->size; i++) {
        if (bodies->compliance[i] != 0.0) return NULL; // W would not be H' M^-1 H
    }
    ss_cone *cone =
        ss_cone_create(SS_CONE_GLOBAL, dimension, problem->block_count, 6 * bodies->bodies, 0, err);
    triplets mass, jacobian;
    bool good = make_triplets(&mass, 12 * (size_t)bodies->bodies + 1);
    good = make_triplets(&jacobian, 12 * (size_t)problem->size + 1) && good && cone;
    if (good) {
        fill_mass(bodies, &mass, cone->f);
        fill_jacobian(bodies, problem->size, &jacobian);
        memcpy(cone->w, bodies->offset, (size_t)problem->size * sizeof *cone->w);
        for (int k = 0; k < problem->block_count; k++) cone->mu[k] = problem->blocks[k].mu;
        for (int k = 0; dimension == 5 && k < problem->block_count; k++)
            cone->mu_rolling[k] = problem->blocks[k].mu_rolling;
        cone->M = ss_sparse_from_triplets(cone->dofs, cone->dofs, mass.count, mass.i, mass.j, mass.x, err);
        cone->H = ss_sparse_from_triplets(cone->dofs, problem->size, jacobian.count, jacobian.i, jacobian.j,
                                          jacobian.x, err);
        good = cone->M && cone->H;
    }
    free_triplets(&mass);
    free_triplets(&jacobian);
    if (!good) ss_cone_destroy(cone), cone = NULL;
    return cone;
}

/* ---- which matrix --------------------------------------------------------------------------------- */

static bool sweeps(const ss_siconos_variant *variant)
{
    return variant->id == SICONOS_FRICTION_3D_NSGS || variant->id == SICONOS_FRICTION_2D_NSGS ||
           variant->inner == SICONOS_FRICTION_3D_NSGS || variant->id == SICONOS_FRICTION_3D_TFP;
}

/* It has no other way to get at the blocks on the diagonal. */
static bool needs_dense(const ss_siconos_variant *variant)
{
    return variant->id == SICONOS_FRICTION_3D_NSGSV || variant->id == SICONOS_ROLLING_FRICTION_3D_NSGS;
}

static NumericsMatrix *delassus(const ss_siconos_run *run, ss_siconos_storage storage)
{
    const ss_sparse *A = run->problem->A;
    bool dense = needs_dense(run->variant) || (!sweeps(run->variant) && A->rows <= MOST_DENSE_ROWS);
    if (storage == SS_SICONOS_USUAL) storage = dense ? SS_SICONOS_DENSE : SS_SICONOS_BLOCKS;
    return storage == SS_SICONOS_DENSE    ? ss_siconos_dense(A)
           : storage == SS_SICONOS_BLOCKS ? ss_siconos_block(A, run->dimension)
                                          : ss_siconos_sparse(A);
}

/* ---- a run ---------------------------------------------------------------------------------------- */

ss_siconos_run *ss_siconos_prepare(int variant, ss_siconos_storage storage, const ss_problem *problem,
                                   const ss_cone *global)
{
    ss_siconos_run *run = calloc(1, sizeof *run);
    if (!run) return NULL;
    run->variant = &ss_siconos_variants[variant];
    run->problem = problem;
    run->global = global;
    run->dimension = problem->blocks[0].size;
    run->contacts = problem->block_count;
    run->mu = calloc((size_t)run->contacts, sizeof *run->mu);
    run->mu_rolling = calloc((size_t)run->contacts, sizeof *run->mu);
    run->r = calloc((size_t)problem->size, sizeof *run->r);
    run->u = calloc((size_t)problem->size, sizeof *run->u);
    run->v = calloc((size_t)(global ? global->dofs : 0) + 1, sizeof *run->v);
    numerics_set_verbose(0);
    if (!is_global(run->variant)) run->M = delassus(run, storage);
    bool good = run->mu && run->mu_rolling && run->r && run->u && run->v;
    for (int c = 0; good && c < run->contacts; c++) {
        run->mu[c] = problem->blocks[c].mu;
        run->mu_rolling[c] = problem->blocks[c].mu_rolling;
    }
    if (!good) ss_siconos_release(run), run = NULL;
    return run;
}

static void drop(NumericsMatrix **matrix)
{
    if (!*matrix) return;
    NM_clear(*matrix);
    free(*matrix);
    *matrix = NULL;
}

static void drop_options(ss_siconos_run *run)
{
    if (!run->options) return;
    solver_options_delete(run->options);
    free(run->options);
    run->options = NULL;
}

static void apply(const ss_siconos_setting *settings, SolverOptions *options)
{
    for (int k = 0; k < 3 && settings[k].index > 0; k++)
        options->iparam[settings[k].index] = settings[k].value;
}

static SolverOptions *make_options(const ss_siconos_variant *variant, double own_tolerance,
                                   int most_iterations)
{
    SolverOptions *options = solver_options_create(variant->id);
    if (variant->inner > 0) solver_options_update_internal(options, 0, variant->inner);
    options->dparam[SICONOS_DPARAM_TOL] = own_tolerance;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = most_iterations;
    apply(variant->set, options);
    if (options->numberOfInternalSolvers > 0) apply(variant->inner_set, options->internalSolvers[0]);
    return options;
}

bool ss_siconos_reset(ss_siconos_run *run, double own_tolerance, int most_iterations)
{
    drop_options(run);
    run->options = make_options(run->variant, own_tolerance, most_iterations);
    memset(run->r, 0, (size_t)run->problem->size * sizeof *run->r);
    memset(run->u, 0, (size_t)run->problem->size * sizeof *run->u);
    if (is_global(run->variant)) { // its solvers factorise in place
        drop(&run->M);
        drop(&run->H);
        run->M = ss_siconos_sparse(run->global->M);
        run->H = ss_siconos_sparse(run->global->H);
        memset(run->v, 0, (size_t)run->global->dofs * sizeof *run->v);
    }
    return run->options != NULL;
}

void ss_siconos_solve(ss_siconos_run *run)
{
    int d = run->dimension, n = run->contacts;
    double *b = run->problem->b;
    FrictionContactProblem local = {d, n, run->M, b, run->mu};
    RollingFrictionContactProblem rolling = {d, n, run->M, b, run->mu, run->mu_rolling};
    GlobalFrictionContactProblem wide = {.dimension = d, .numberOfContacts = n, .M = run->M, .H = run->H};
    GlobalRollingFrictionContactProblem wide_rolling = {
        .dimension = d, .numberOfContacts = n, .M = run->M, .H = run->H};
    wide.mu = wide_rolling.mu = run->mu;
    wide_rolling.mu_r = run->mu_rolling;
    if (is_global(run->variant)) {
        wide.q = wide_rolling.q = run->global->f;
        wide.b = wide_rolling.b = run->global->w;
    }
    switch (run->variant->kind) {
    case SS_SICONOS_SPATIAL:
        fc3d_driver(&local, run->r, run->u, run->options);
        break;
    case SS_SICONOS_PLANAR:
        fc2d_driver(&local, run->r, run->u, run->options);
        break;
    case SS_SICONOS_ROLLING:
        rolling_fc3d_driver(&rolling, run->r, run->u, run->options);
        break;
    case SS_SICONOS_GLOBAL:
        gfc3d_driver(&wide, run->r, run->u, run->v, run->options);
        break;
    case SS_SICONOS_GLOBAL_ROLLING:
        g_rolling_fc3d_driver(&wide_rolling, run->r, run->u, run->v, run->options);
        break;
    }
}

const double *ss_siconos_answer(const ss_siconos_run *run)
{
    return run->r;
}

int ss_siconos_iterations(const ss_siconos_run *run)
{
    return run->options->iparam[SICONOS_IPARAM_ITER_DONE];
}

void ss_siconos_release(ss_siconos_run *run)
{
    if (!run) return;
    drop_options(run);
    drop(&run->M);
    drop(&run->H);
    free(run->mu), free(run->mu_rolling), free(run->r), free(run->u), free(run->v);
    free(run);
}
