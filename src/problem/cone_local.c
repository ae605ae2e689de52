/* From the global form to the local one, and the elimination of the bilateral equations. */
#include "problem/cone.h"
#include "linalg/triplets.h"

#include <string.h>

/* A pivot of M that rounding alone could have left behind. */
static const double singular_mass = 1e-15;

ss_block_lu *ss_cone_factor_mass(const ss_cone *global, ss_error *err)
{
    int dof;
    ss_block_lu *lu = ss_block_lu_factor(global->M, singular_mass, &dof, err);
    if (!lu && dof >= 0) ss_fail(err, SS_ERROR_INPUT, "M is singular: its column %d depends on others", dof);
    return lu;
}

ss_block_lu *ss_cone_factor_equations(const ss_sparse *R, double tolerance, ss_error *err)
{
    int equation;
    ss_block_lu *lu = ss_block_lu_factor(R, tolerance, &equation, err);
    if (!lu && equation >= 0)
        ss_fail(err, SS_ERROR_INPUT,
                "equation %d depends on others (redundant joints), so R cannot be inverted; keep the "
                "equations or regularise them",
                equation);
    return lu;
}

/* ---- small matrix algebra --------------------------------------------------------------------------- */

ss_sparse *ss_cone_combine(double alpha, const ss_sparse *A, double beta, const ss_sparse *B, ss_error *err)
{
    ss_triplets sum;
    size_t count = (size_t)ss_sparse_nonzeros(A) + (size_t)ss_sparse_nonzeros(B);
    if (!ss_triplets_start(&sum, count, err)) return NULL;
    ss_triplets_add_matrix(&sum, A, alpha);
    ss_triplets_add_matrix(&sum, B, beta);
    return ss_triplets_finish(&sum, A->rows, A->cols, err);
}

ss_sparse *ss_cone_add_diagonal(const ss_sparse *A, const double *diagonal, ss_error *err)
{
    ss_triplets sum;
    if (!ss_triplets_start(&sum, (size_t)ss_sparse_nonzeros(A) + (size_t)A->cols, err)) return NULL;
    ss_triplets_add_matrix(&sum, A, 1.0);
    for (int k = 0; k < A->cols; k++) {
        if (diagonal[k] != 0.0) ss_triplets_add(&sum, k, k, diagonal[k]);
    }
    return ss_triplets_finish(&sum, A->rows, A->cols, err);
}

/* left' right */
static ss_sparse *multiply_transposed(const ss_sparse *left, const ss_sparse *right, ss_error *err)
{
    ss_sparse *transposed = ss_sparse_transpose(left, err);
    ss_sparse *product = transposed ? ss_sparse_multiply(transposed, right, err) : NULL;
    ss_sparse_destroy(transposed);
    return product;
}

/* (A + A') / 2 in place of A: rounding is no reason for a matrix to be unsymmetric. */
static bool make_symmetric(ss_sparse **A, ss_error *err)
{
    ss_sparse *transposed = ss_sparse_transpose(*A, err);
    ss_sparse *average = transposed ? ss_cone_combine(0.5, *A, 0.5, transposed, err) : NULL;
    ss_sparse_destroy(transposed);
    if (!average) return false;
    ss_sparse_destroy(*A);
    *A = average;
    return true;
}

static bool is_symmetric(const ss_sparse *A)
{
    return ss_sparse_symmetry_error(A) == 0.0;
}

/* ---- global to local -------------------------------------------------------------------------------- */

static void copy_reals(double *to, const double *from, int count)
{
    if (count) memcpy(to, from, (size_t)count * sizeof *to);
}

static void copy_friction(ss_cone *to, const ss_cone *from)
{
    copy_reals(to->mu, from->mu, from->contacts);
    if (to->mu_rolling) copy_reals(to->mu_rolling, from->mu_rolling, from->contacts);
}

static ss_cone *reduce(const ss_cone *global, ss_error *err)
{
    int dofs = global->dofs, equations = global->equations;
    ss_block_lu *mass = ss_cone_factor_mass(global, err);
    if (!mass) return NULL;
    ss_cone *local = ss_cone_create(SS_CONE_LOCAL, global->dimension, global->contacts, 0, equations, err);
    bool good = local != NULL, symmetric = is_symmetric(global->M);

    /* W = H' M^-1 H; V = H' M^-1 G, R = G' M^-1 G */
    if (good) {
        ss_sparse *X = ss_block_lu_solve_sparse(mass, global->H, err);
        local->W = X ? multiply_transposed(global->H, X, err) : NULL;
        ss_sparse_destroy(X);
        good = local->W && (!symmetric || make_symmetric(&local->W, err));
    }
    if (good && equations) {
        ss_sparse *Y = ss_block_lu_solve_sparse(mass, global->G, err);
        local->V = Y ? multiply_transposed(global->H, Y, err) : NULL;
        local->R = local->V ? multiply_transposed(global->G, Y, err) : NULL;
        ss_sparse_destroy(Y);
        good = local->R && (!symmetric || make_symmetric(&local->R, err));
    }

    /* q = H' M^-1 f + w, s = G' M^-1 f + b */
    double *v = good ? ss_allocate((size_t)dofs, sizeof *v) : NULL;
    if (good && !v) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d dofs", dofs);
    if (good) {
        copy_reals(v, global->f, dofs);
        good = ss_block_lu_solve(mass, v, err);
    }
    if (good) {
        copy_reals(local->q, global->w, ss_cone_size(global));
        ss_sparse_apply_transposed(global->H, v, 1.0, local->q);
        copy_reals(local->s, global->b, equations);
        if (equations) ss_sparse_apply_transposed(global->G, v, 1.0, local->s);
        copy_friction(local, global);
    }
    ss_release(v);
    ss_block_lu_destroy(mass);
    if (good) return local;
    ss_cone_destroy(local);
    return NULL;
}

static ss_cone *copy_local(const ss_cone *cone, ss_error *err)
{
    ss_cone *copy = ss_cone_create(SS_CONE_LOCAL, cone->dimension, cone->contacts, 0, cone->equations, err);
    if (!copy) return NULL;
    copy_friction(copy, cone);
    copy_reals(copy->q, cone->q, ss_cone_size(cone));
    copy_reals(copy->s, cone->s, cone->equations);
    copy->W = ss_sparse_copy(cone->W, err);
    bool good = copy->W != NULL;
    if (good && cone->equations) {
        copy->V = ss_sparse_copy(cone->V, err);
        copy->R = copy->V ? ss_sparse_copy(cone->R, err) : NULL;
        good = copy->R != NULL;
    }
    if (good) return copy;
    ss_cone_destroy(copy);
    return NULL;
}

/* ---- elimination ------------------------------------------------------------------------------------ */

/* W - V R^-1 V' */
static ss_sparse *reduced_delassus(const ss_cone *local, const ss_block_lu *factor, ss_error *err)
{
    ss_sparse *transposed = ss_sparse_transpose(local->V, err);
    ss_sparse *X = transposed ? ss_block_lu_solve_sparse(factor, transposed, err) : NULL;
    ss_sparse *correction = X ? ss_sparse_multiply(local->V, X, err) : NULL;
    ss_sparse *W = correction ? ss_cone_combine(1.0, local->W, -1.0, correction, err) : NULL;
    ss_sparse_destroy(transposed);
    ss_sparse_destroy(X);
    ss_sparse_destroy(correction);
    if (W && is_symmetric(local->W) && is_symmetric(local->R) && !make_symmetric(&W, err)) {
        ss_sparse_destroy(W);
        return NULL;
    }
    return W;
}

ss_cone *ss_cone_eliminate(const ss_cone *local, double tolerance, ss_error *err)
{
    int equations = local->equations;
    if (equations == 0) return copy_local(local, err);
    ss_block_lu *factor = ss_cone_factor_equations(local->R, tolerance, err);
    if (!factor) return NULL;
    ss_cone *reduced = ss_cone_create(SS_CONE_LOCAL, local->dimension, local->contacts, 0, 0, err);
    double *l = NULL;
    bool good = reduced != NULL;
    if (good) {
        copy_friction(reduced, local);
        reduced->W = reduced_delassus(local, factor, err);
        good = reduced->W != NULL;
    }

    /* q - V R^-1 s */
    if (good) {
        l = ss_allocate((size_t)equations, sizeof *l);
        good = l || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d equations", equations);
    }
    if (good) {
        copy_reals(l, local->s, equations);
        good = ss_block_lu_solve(factor, l, err);
    }
    if (good) {
        copy_reals(reduced->q, local->q, ss_cone_size(local));
        ss_sparse_apply(local->V, l, -1.0, reduced->q);
    }
    ss_release(l);
    ss_block_lu_destroy(factor);
    if (good) return reduced;
    ss_cone_destroy(reduced);
    return NULL;
}

ss_cone *ss_cone_to_local(const ss_cone *cone, bool eliminate, ss_error *err)
{
    ss_cone *local = cone->form == SS_CONE_GLOBAL ? reduce(cone, err) : copy_local(cone, err);
    if (!local || !eliminate || local->equations == 0) return local;
    ss_cone *reduced = ss_cone_eliminate(local, SS_REDUNDANT, err);
    ss_cone_destroy(local);
    return reduced;
}
