#include "conformance/planted.h"

#include "problem/laws.h"

#include <math.h>
#include <string.h>

/* ---- contacts --------------------------------------------------------------------------------------- */

void ss_planted_direction(ss_random *random, int count, double *t)
{
    double norm = 0.0;
    for (int i = 0; i < count; i++) {
        t[i] = ss_random_normal(random);
        norm += t[i] * t[i];
    }
    for (int i = 0; i < count; i++) t[i] /= sqrt(norm);
}

/* u_T = speed t, r_T = -limit t when it slides, something inside the limit when it sticks. */
static void plant_friction(ss_random *random, bool slides, int count, double limit, double *u, double *r)
{
    double t[3], speed = ss_random_between(random, 0.1, 1), share = ss_random_between(random, 0, 0.9);
    ss_planted_direction(random, count, t);
    for (int i = 0; i < count; i++) {
        u[i] = slides ? speed * t[i] : 0.0;
        r[i] = -(slides ? 1.0 : share) * limit * t[i];
    }
}

void ss_planted_contact(ss_random *random, ss_planted_mode mode, int dimension, double mu, double mu_rolling,
                        double *u, double *r)
{
    for (int i = 0; i < dimension; i++) u[i] = r[i] = 0.0;
    if (mode == SS_PLANTED_OPEN) {
        for (int i = 0; i < dimension; i++) u[i] = ss_random_between(random, -1, 1);
        u[0] = ss_random_between(random, 0.1, 1);
    } else if (mode != SS_PLANTED_TOUCH) {
        r[0] = ss_random_between(random, 0.1, 1);
        int tangents = ss_cone_tangents(dimension), at = ss_cone_rolling(dimension);
        plant_friction(random, mode == SS_PLANTED_SLIP, tangents, mu * r[0], u + 1, r + 1);
        bool rolls = ss_random_below(random, 2);
        if (ss_cone_rolls(dimension)) plant_friction(random, rolls, 2, mu_rolling * r[0], u + at, r + at);
    }
}

/* ---- laws from letters ------------------------------------------------------------------------------ */

static int rows_of_letter(char letter)
{
    return strchr("cCkv", letter) ? 3
           : strchr("pq", letter) ? 2
           : strchr("rs", letter) ? 5
           : strchr("eg", letter) ? 4
           : letter == 'h'        ? 6
                                  : 1;
}

static double recipe_mu(const ss_recipe *from, ss_random *random)
{
    if (from->frictionless) return 0.0;
    return from->mu > 0.0 ? from->mu : ss_random_between(random, 0.1, 0.7);
}

ss_block ss_planted_block(ss_law law, int first, int size)
{
    return (ss_block){.law = law, .first = first, .size = size, .contact = -1, .constraint = -1};
}

ss_problem *ss_recipe_problem(const ss_recipe *from, ss_random *random, ss_error *err)
{
    int size = 0, count = 0;
    for (const char *at = from->letters; *at; at++) {
        size += rows_of_letter(*at);
        count += *at == 'c' || *at == 'C' ? 2 : 1;
    }
    ss_problem *problem =
        ss_problem_create(size, count, from->matrix == SS_RECIPE_BODIES ? from->bodies : -1, err);
    int first = 0, blocks = 0;
    for (const char *at = from->letters; problem && *at; first += rows_of_letter(*at++)) {
        // A coupled contact: its normal row, and two tangents whose bounds follow it.
        if (*at == 'c' || *at == 'C') {
            bool own_bounds = *at == 'C';
            double mu = recipe_mu(from, random);
            problem->blocks[blocks++] = ss_planted_block(SS_LAW_BOX, first, 1);
            problem->blocks[blocks++] = ss_planted_block(SS_LAW_COUPLED, first + 1, 2);
            problem->lower[first] = own_bounds ? -2.0 : 0.0;
            problem->upper[first] = own_bounds ? 2.0 : INFINITY;
            for (int i = first + 1; i < first + 3; i++) {
                problem->partner[i] = first;
                problem->factor[i] = mu;
                problem->lower[i] = own_bounds ? -0.2 : -INFINITY;
                problem->upper[i] = own_bounds ? 0.1 : INFINITY;
            }
            continue;
        }

        ss_law law = *at == 'f'                 ? SS_LAW_FREE
                     : *at == 'l' || *at == 'b' ? SS_LAW_BOX
                     : strchr("vqsg", *at)      ? SS_LAW_CONVEX
                                                : SS_LAW_CONE;
        ss_block *block = &problem->blocks[blocks++];
        *block = ss_planted_block(law, first, rows_of_letter(*at));
        if (ss_block_is_cone(block)) block->mu = recipe_mu(from, random);
        if (ss_block_is_cone(block) && ss_cone_rolls(block->size))
            block->mu_rolling = ss_random_between(random, 0.02, 0.2);
        if (*at == 'l') problem->lower[first] = 0.0;
    }
    return problem;
}

/* ---- solutions -------------------------------------------------------------------------------------- */

/* Under the convex law a contact that slips lifts off: w_N = mu |w_T| + mu_r |w_M|. */
static void plant_cone(ss_random *random, const ss_recipe *from, const ss_block *block, double *x, double *w)
{
    int modes = from->degenerate ? SS_PLANTED_MODES : SS_PLANTED_TOUCH;
    ss_planted_mode mode = (ss_planted_mode)ss_random_below(random, modes);
    bool endless = isinf(block->mu);
    if (endless && mode == SS_PLANTED_SLIP) mode = SS_PLANTED_STICK;
    ss_planted_contact(random, mode, block->size, endless ? 2.0 : block->mu, block->mu_rolling, w, x);

    if (endless && mode == SS_PLANTED_OPEN) {
        for (int i = 1; i <= ss_cone_tangents(block->size); i++) {
            x[i] = ss_random_between(random, -1, 1); // glued sideways, free to lift
            w[i] = 0.0;
        }
    }
    if (from->degenerate && mode == SS_PLANTED_SLIP && ss_random_below(random, 2)) {
        for (int i = 1; i < block->size; i++) w[i] = 0.0; // on the edge of the cone, and not moving
    }
    if (block->law != SS_LAW_CONVEX || endless) return;
    int tangents = ss_cone_tangents(block->size), at = ss_cone_rolling(block->size);
    double square = 0.0;
    for (int i = 1; i <= tangents; i++) square += w[i] * w[i];
    double slide = tangents == 1 ? fabs(w[1]) : sqrt(square);
    double roll =
        ss_cone_rolls(block->size) ? block->mu_rolling * sqrt(w[at] * w[at] + w[at + 1] * w[at + 1]) : 0.0;
    w[0] += block->mu * slide + roll;
}

void ss_recipe_plant(const ss_recipe *from, ss_random *random, ss_problem *problem, double *x, double *w)
{
    // Boxes: with two bounds, with one, or with equal ones.
    int first = 0;
    for (const char *at = from->letters; *at; first += rows_of_letter(*at++)) {
        if (*at != 'b') continue;
        int kind = ss_random_below(random, 5);
        double *l = &problem->lower[first], *u = &problem->upper[first];
        *l = ss_random_between(random, -1, 0.5);
        *u = *l + ss_random_between(random, 0.2, 1);
        if (kind == 1) *l = -INFINITY;
        if (kind == 2) *u = INFINITY;
        if (kind == 3) *u = *l;
    }

    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_block_is_cone(block)) {
            plant_cone(random, from, block, x + block->first, w + block->first);
            continue;
        }

        // A place in [l, u], and the w that belongs to it.
        for (int i = block->first; i < block->first + block->size; i++) {
            double l, u;
            ss_problem_bounds(problem, x, i, &l, &u); // partners come first
            bool weak = from->degenerate && ss_random_below(random, 2);
            double force = weak ? 0.0 : ss_random_between(random, 0.1, 1);
            int place = ss_random_below(random, 3);
            w[i] = 0.0;
            if (l == u) {
                x[i] = l, w[i] = ss_random_between(random, -1, 1);
            } else if (place == 1 && isfinite(l)) {
                x[i] = l, w[i] = force;
            } else if (place == 2 && isfinite(u)) {
                x[i] = u, w[i] = -force;
            } else {
                double low = isfinite(l) ? l : isfinite(u) ? u - 1.0 : -1.0;
                double high = isfinite(u) ? u : low + 1.0;
                x[i] = low + (high - low) * ss_random_between(random, 0.1, 0.9);
            }
        }
    }
}

/* ---- matrices --------------------------------------------------------------------------------------- */

static double *reals(int count, ss_error *err)
{
    double *made = ss_allocate((size_t)count, sizeof *made);
    if (!made) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a problem");
    return made;
}

ss_sparse *ss_planted_sparse(int n, const double *dense, ss_error *err)
{
    int64_t count = 0;
    for (int k = 0; k < n * n; k++) count += dense[k] != 0.0;
    ss_sparse *made = ss_sparse_create(n, n, count, err);
    for (int j = 0, at = 0; made && j < n; j++) {
        for (int i = 0; i < n; i++) {
            if (dense[n * i + j] == 0.0) continue;
            made->row[at] = i;
            made->value[at++] = dense[n * i + j];
        }
        made->start[j + 1] = at;
    }
    return made;
}

ss_sparse *ss_planted_matrix(ss_random *random, int rows, int columns, double density, ss_error *err)
{
    double *dense = reals(rows * columns, err);
    bool *there = dense ? ss_allocate((size_t)rows * (size_t)columns, sizeof *there) : NULL;
    int64_t count = 0;
    for (int k = 0; there && k < rows * columns; k++) {
        there[k] = ss_random_real(random) < density;
        if (there[k]) dense[k] = ss_random_between(random, -1, 1);
        count += there[k];
    }

    ss_sparse *made = there ? ss_sparse_create(rows, columns, count, err) : NULL;
    for (int j = 0, at = 0; made && j < columns; j++) {
        for (int i = 0; i < rows; i++) {
            if (!there[columns * i + j]) continue;
            made->row[at] = i;
            made->value[at++] = dense[columns * i + j];
        }
        made->start[j + 1] = at;
    }

    ss_release(dense);
    ss_release(there);
    return made;
}

ss_sparse *ss_planted_definite(ss_random *random, int n, ss_error *err)
{
    ss_sparse *B = ss_planted_matrix(random, n, n, 0.5, err);
    ss_sparse *turned = B ? ss_sparse_transpose(B, err) : NULL;
    ss_sparse *product = turned ? ss_sparse_multiply(B, turned, err) : NULL;
    double *dense = product ? reals(n * n, err) : NULL;
    for (int k = 0; dense && k < n * n; k++) {
        int i = k / n, j = k % n;
        dense[k] = 0.5 * ss_sparse_get(product, i, j) + 0.5 * ss_sparse_get(product, j, i);
        if (i == j) dense[k] += 0.1;
    }
    ss_sparse *made = dense ? ss_planted_sparse(n, dense, err) : NULL;
    ss_sparse_destroy(B);
    ss_sparse_destroy(turned);
    ss_sparse_destroy(product);
    ss_release(dense);
    return made;
}

/* H D H with a random reflection H: eigenvalues 1 .. 1e-6, evenly in the logarithm. */
static ss_sparse *ill_conditioned(ss_random *random, int n, ss_error *err)
{
    double *h = reals(n, err), *A = h ? reals(n * n, err) : NULL;
    if (A) ss_planted_direction(random, n, h);
    for (int i = 0; A && i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) {
                double eigenvalue = n > 1 ? pow(10.0, -6.0 * k / (n - 1)) : 1.0;
                sum += ((i == k) - 2.0 * h[i] * h[k]) * eigenvalue * ((j == k) - 2.0 * h[j] * h[k]);
            }
            A[n * i + j] = A[n * j + i] = sum;
        }
    }
    ss_sparse *matrix = A ? ss_planted_sparse(n, A, err) : NULL;
    ss_release(h);
    ss_release(A);
    return matrix;
}

static ss_sparse *skewed(ss_random *random, int n, ss_error *err)
{
    ss_sparse *definite = ss_planted_definite(random, n, err);
    double *A = definite ? reals(n * n, err) : NULL;
    for (int i = 0; A && i < n; i++) {
        for (int j = 0; j < n; j++) A[n * i + j] += ss_sparse_get(definite, i, j);
        for (int j = 0; j < i; j++) {
            double skew = ss_random_between(random, -0.3, 0.3);
            A[n * i + j] += skew;
            A[n * j + i] -= skew;
        }
    }
    ss_sparse *matrix = A ? ss_planted_sparse(n, A, err) : NULL;
    ss_sparse_destroy(definite);
    ss_release(A);
    return matrix;
}

/* Rows on random bodies: contacts have a frame and lever arms of their own, other rows are anything. Masses
 * grow from 1 to mass_ratio, inertias with them. */
static void fill_bodies(ss_random *random, const ss_recipe *from, ss_problem *problem)
{
    ss_bodies_form *form = problem->bodies;
    double ratio = from->mass_ratio > 0.0 ? from->mass_ratio : 1.0;
    for (int b = 0; b < form->bodies; b++) {
        double mass = pow(ratio, form->bodies > 1 ? (double)b / (form->bodies - 1) : 0.0);
        form->inverse_mass[b] = 1.0 / mass;
        for (int i = 0; i < 3; i++) form->inverse_inertia[b][4 * i] = (2.0 + i) / mass;
        for (int i = 0; i < 6; i++) form->free_velocity[b][i] = ss_random_between(random, -1, 1);
    }

    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        int a = ss_random_below(random, form->bodies + 1) - 1, b = ss_random_below(random, form->bodies);
        if (a == b) a = -1;
        for (int i = block->first; i < block->first + block->size; i++) {
            form->pair[i][0] = a, form->pair[i][1] = b;
            for (int j = 0; j < 6; j++) {
                form->jacobian[i][6 + j] = ss_random_between(random, -1, 1);
                if (a >= 0)
                    form->jacobian[i][j] = -form->jacobian[i][6 + j] + ss_random_between(random, -.3, .3);
            }
        }
    }
}

bool ss_planted_load(ss_problem *problem, const double *x, const double *w, ss_error *err)
{
    memset(problem->b, 0, (size_t)problem->size * sizeof *problem->b);
    if (!ss_problem_need_matrix(problem, err)) return false;
    for (int i = 0; i < problem->size; i++) problem->b[i] = w[i];
    ss_sparse_apply(problem->A, x, -1.0, problem->b);
    ss_problem_matrix_changed(problem);

    // Of bodies, b is made of free velocities: offsets make up the difference.
    ss_bodies_form *form = problem->bodies;
    if (!form) return true;
    for (int i = 0; i < problem->size; i++) {
        form->offset[i] = problem->b[i];
        for (int k = 0; k < 12; k++) {
            int body = form->pair[i][k / 6];
            if (body >= 0) form->offset[i] -= form->jacobian[i][k] * form->free_velocity[body][k % 6];
        }
    }
    ss_sparse_destroy(problem->A);
    problem->A = NULL;
    return true;
}

/* ---- problems --------------------------------------------------------------------------------------- */

void ss_known_free(ss_known *known)
{
    ss_problem_destroy(known->problem);
    ss_release(known->x);
    ss_release(known->w);
    *known = (ss_known){0};
}

bool ss_known_from_recipe(const ss_recipe *from, ss_known *made, ss_error *err)
{
    ss_random random = ss_random_start(from->seed, 7);
    *made = (ss_known){.name = from->name, .agreement = from->agreement, .stop = SS_KNOWN_STOP};
    ss_problem *problem = made->problem = ss_recipe_problem(from, &random, err);
    if (problem) made->x = reals(problem->size, err);
    if (made->x) made->w = reals(problem->size, err);

    bool good = made->w != NULL;
    if (good) {
        ss_recipe_plant(from, &random, problem, made->x, made->w);
        int n = problem->size;
        if (from->matrix == SS_RECIPE_BODIES)
            fill_bodies(&random, from, problem);
        else
            problem->A = from->matrix == SS_RECIPE_ILL      ? ill_conditioned(&random, n, err)
                         : from->matrix == SS_RECIPE_SKEWED ? skewed(&random, n, err)
                                                            : ss_planted_definite(&random, n, err);
        good = (problem->bodies || problem->A) && ss_planted_load(problem, made->x, made->w, err);
    }

    if (!good) ss_known_free(made);
    return good;
}

bool ss_known_from_matrix(const char *name, int n, const double *A, const double *b, ss_known *made,
                          ss_error *err)
{
    *made = (ss_known){.name = name, .stop = SS_KNOWN_STOP};
    made->problem = ss_problem_create(n, 1, -1, err);
    if (made->problem) made->problem->A = ss_planted_sparse(n, A, err);
    if (!made->problem || !made->problem->A) {
        ss_known_free(made);
        return false;
    }
    made->problem->blocks[0] = ss_planted_block(SS_LAW_BOX, 0, n);
    for (int i = 0; i < n; i++) made->problem->b[i] = b[i], made->problem->lower[i] = 0.0;
    ss_problem_matrix_changed(made->problem);
    return true;
}
