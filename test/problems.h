/* Problems with a known answer, for the suites that every solver has to pass: planted solutions over every
 * law, elementary mechanics, and problems without a solution.
 *
 * A planted problem is built backwards: choose x and w that obey the laws, then b = w - A x. */
#ifndef STICKSLIP_TEST_PROBLEMS_H
#define STICKSLIP_TEST_PROBLEMS_H

#include <stickslip/solver.h>

#include "known_cone.h"
#include "problem/laws.h"
#include "scenes.h"

#include <string.h>

typedef enum matrix_kind {
    DEFINITE, /* B B' + 0.1 */
    ILL,      /* eigenvalues from 1 down to 1e-6 */
    SKEWED,   /* positive definite, not symmetric */
    SCENE,    /* J M^-1 J' of random bodies, in the bodies form */
} matrix_kind;

/* Letters, one for each block or group of blocks:
 *   f free   l LCP row   b box   c contact with coupled friction
 *   C the same on a two-sided partner with bounds of its own
 *   k cone   p planar cone   r rolling cone   v q s: the same three under the convex law */
typedef struct recipe {
    const char *name, *letters;
    uint64_t seed;
    matrix_kind matrix;
    int bodies;        /* SCENE: fewer than rows / 6 makes the rows redundant */
    double mass_ratio; /* SCENE: heaviest over lightest body, 0 = 1 */
    double mu;         /* of the cones; 0 = random */
    bool frictionless; /* mu = 0 */
    bool degenerate;   /* every second bound is touched without force and speed */
    double agreement;  /* how near w must come to the planted one, relative; 0 = it is not unique */
} recipe;

typedef struct known_problem {
    const char *name;
    ss_problem *problem;
    double *x, *w;    /* a solution; NULL when none is known */
    bool unsolvable;  /* there is no solution: nobody may claim one */
    bool any_end;     /* solutions need not be found: Painleve */
    double agreement; /* as in the recipe */
    const char *stop; /* rule that sees all rows */
} known_problem;

static const char *const usual_stop = "relative_energy<1e-8";

static inline void known_problem_free(known_problem *known_one)
{
    ss_problem_destroy(known_one->problem);
    free(known_one->x);
    free(known_one->w);
}

static inline double *numbers(int count)
{
    return known(calloc((size_t)count + 1, sizeof(double)), NULL);
}

/* ---- laws from letters ------------------------------------------------------------------------------ */

static inline int rows_of_letter(char letter)
{
    switch (letter) {
    case 'c':
    case 'C':
    case 'k':
    case 'v':
        return 3;
    case 'p':
    case 'q':
        return 2;
    case 'r':
    case 's':
        return 5;
    default:
        return 1;
    }
}

static inline double recipe_mu(const recipe *from, ss_random *random)
{
    if (from->frictionless) return 0.0;
    return from->mu > 0.0 ? from->mu : ss_random_between(random, 0.1, 0.7);
}

static inline ss_block plain_block(ss_law law, int first, int size)
{
    return (ss_block){.law = law, .first = first, .size = size, .contact = -1, .constraint = -1};
}

/* A coupled contact: its normal row, and two tangents whose bounds follow it. */
static inline void add_coupled(ss_problem *problem, int *blocks, int first, bool own_bounds, double mu)
{
    problem->blocks[(*blocks)++] = plain_block(SS_LAW_BOX, first, 1);
    problem->blocks[(*blocks)++] = plain_block(SS_LAW_COUPLED, first + 1, 2);
    problem->lower[first] = own_bounds ? -2.0 : 0.0;
    problem->upper[first] = own_bounds ? 2.0 : INFINITY;
    for (int i = first + 1; i < first + 3; i++) {
        problem->partner[i] = first;
        problem->factor[i] = mu;
        problem->lower[i] = own_bounds ? -0.2 : -INFINITY;
        problem->upper[i] = own_bounds ? 0.1 : INFINITY;
    }
}

static inline ss_problem *problem_of_letters(const recipe *from, ss_random *random)
{
    int size = 0, count = 0;
    for (const char *at = from->letters; *at; at++) {
        size += rows_of_letter(*at);
        count += *at == 'c' || *at == 'C' ? 2 : 1;
    }
    ss_error err;
    ss_problem *problem =
        known(ss_problem_create(size, count, from->matrix == SCENE ? from->bodies : -1, &err), &err);
    int first = 0, blocks = 0;
    for (const char *at = from->letters; *at; first += rows_of_letter(*at++)) {
        if (*at == 'c' || *at == 'C') {
            add_coupled(problem, &blocks, first, *at == 'C', recipe_mu(from, random));
            continue;
        }
        ss_law law = *at == 'f'                 ? SS_LAW_FREE
                     : *at == 'l' || *at == 'b' ? SS_LAW_BOX
                     : strchr("vqs", *at)       ? SS_LAW_CONVEX
                                                : SS_LAW_CONE;
        ss_block *block = &problem->blocks[blocks++];
        *block = plain_block(law, first, rows_of_letter(*at));
        if (ss_block_is_cone(block)) block->mu = recipe_mu(from, random);
        if (block->size == 5) block->mu_rolling = ss_random_between(random, 0.02, 0.2);
        if (*at == 'l') problem->lower[first] = 0.0;
    }
    return problem;
}

/* ---- solutions -------------------------------------------------------------------------------------- */

/* Chooses a place in [l, u] and the w that belongs to it. */
static inline void plant_row(ss_random *random, bool degenerate, double l, double u, double *x, double *w)
{
    double force = degenerate && ss_random_below(random, 2) ? 0.0 : ss_random_between(random, 0.1, 1);
    int place = ss_random_below(random, 3);
    *w = 0.0;
    if (l == u) {
        *x = l, *w = ss_random_between(random, -1, 1);
    } else if (place == 1 && isfinite(l)) {
        *x = l, *w = force;
    } else if (place == 2 && isfinite(u)) {
        *x = u, *w = -force;
    } else {
        double from = isfinite(l) ? l : isfinite(u) ? u - 1.0 : -1.0;
        double to = isfinite(u) ? u : from + 1.0;
        *x = from + (to - from) * ss_random_between(random, 0.1, 0.9);
    }
}

static inline void choose_box(ss_random *random, double *l, double *u)
{
    int kind = ss_random_below(random, 5);
    *l = ss_random_between(random, -1, 0.5);
    *u = *l + ss_random_between(random, 0.2, 1);
    if (kind == 1) *l = -INFINITY;
    if (kind == 2) *u = INFINITY;
    if (kind == 3) *u = *l;
}

/* Under the convex law a contact that slips lifts off: w_N = mu |w_T| + mu_r |w_M|. */
static inline void plant_cone(ss_random *random, const recipe *from, const ss_block *block, double *x,
                              double *w)
{
    contact_mode mode = (contact_mode)ss_random_below(random, from->degenerate ? CONTACT_MODES : TOUCH);
    bool endless = isinf(block->mu);
    if (endless && mode == SLIP) mode = STICK;
    known_contact(random, mode, block->size, endless ? 2.0 : block->mu, block->mu_rolling, w, x);
    if (endless && mode == OPEN) {
        for (int i = 1; i < block->size && i < 3; i++) {
            x[i] = ss_random_between(random, -1, 1); // glued sideways, free to lift
            w[i] = 0.0;
        }
    }
    if (from->degenerate && mode == SLIP && ss_random_below(random, 2)) {
        for (int i = 1; i < block->size; i++) w[i] = 0.0; // on the edge of the cone, and not moving
    }
    if (block->law != SS_LAW_CONVEX || endless) return;
    double roll = block->size == 5 ? block->mu_rolling * norm_of(w + 3, 2) : 0.0;
    w[0] += block->mu * norm_of(w + 1, block->size == 2 ? 1 : 2) + roll;
}

static inline void plant(ss_random *random, const recipe *from, ss_problem *problem, double *x, double *w)
{
    int first = 0;
    for (const char *at = from->letters; *at; first += rows_of_letter(*at++)) {
        if (*at == 'b') choose_box(random, problem->lower + first, problem->upper + first);
    }
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_block_is_cone(block)) {
            plant_cone(random, from, block, x + block->first, w + block->first);
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++) {
            double l, u;
            ss_problem_bounds(problem, x, i, &l, &u); // partners come first
            plant_row(random, from->degenerate, l, u, x + i, w + i);
        }
    }
}

/* ---- matrices --------------------------------------------------------------------------------------- */

static inline ss_sparse *sparse_of_dense(int n, const double *dense)
{
    ss_error err;
    ss_triplets triplets;
    if (!ss_triplets_start(&triplets, (size_t)n * (size_t)n, &err)) known(NULL, &err);
    for (int i = 0; i < n * n; i++) {
        if (dense[i] != 0.0) ss_triplets_add(&triplets, i / n, i % n, dense[i]);
    }
    return known(ss_triplets_finish(&triplets, n, n, &err), &err);
}

/* H D H with a random reflection H: eigenvalues 1 .. 1e-6, evenly in the logarithm. */
static inline ss_sparse *ill_conditioned(ss_random *random, int n)
{
    double *h = numbers(n), *A = numbers(n * n);
    random_unit(random, n, h);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) {
                double eigenvalue = n > 1 ? pow(10.0, -6.0 * k / (n - 1)) : 1.0;
                sum += ((i == k) - 2.0 * h[i] * h[k]) * eigenvalue * ((j == k) - 2.0 * h[j] * h[k]);
            }
            A[n * i + j] = A[n * j + i] = sum;
        }
    }
    ss_sparse *matrix = sparse_of_dense(n, A);
    free(h);
    free(A);
    return matrix;
}

static inline ss_sparse *skewed(ss_random *random, int n)
{
    ss_sparse *definite = random_definite(random, n);
    double *A = numbers(n * n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) A[n * i + j] += ss_sparse_get(definite, i, j);
        for (int j = 0; j < i; j++) {
            double skew = ss_random_between(random, -0.3, 0.3);
            A[n * i + j] += skew;
            A[n * j + i] -= skew;
        }
    }
    ss_sparse *matrix = sparse_of_dense(n, A);
    ss_sparse_destroy(definite);
    free(A);
    return matrix;
}

/* Rows on random bodies: contacts have a frame and lever arms of their own, other rows are anything. Masses
 * grow from 1 to mass_ratio, inertias with them. */
static inline void fill_scene(ss_random *random, const recipe *from, ss_problem *problem)
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

/* b = w - A x; in the bodies form through the offset, b = J v* + c. */
static inline void aim(ss_problem *problem, const double *x, const double *w)
{
    ss_error err;
    memset(problem->b, 0, (size_t)problem->size * sizeof *problem->b);
    if (!ss_problem_need_matrix(problem, &err)) known(NULL, &err);
    for (int i = 0; i < problem->size; i++) problem->b[i] = w[i];
    ss_sparse_apply(problem->A, x, -1.0, problem->b);
    ss_problem_matrix_changed(problem);
    ss_bodies_form *form = problem->bodies;
    if (!form) return;
    for (int i = 0; i < problem->size; i++) {
        form->offset[i] = problem->b[i];
        for (int k = 0; k < 12; k++) {
            int body = form->pair[i][k / 6];
            if (body >= 0) form->offset[i] -= form->jacobian[i][k] * form->free_velocity[body][k % 6];
        }
    }
    ss_sparse_destroy(problem->A); // whoever wants it makes it
    problem->A = NULL;
}

static inline known_problem cook(const recipe *from)
{
    ss_random random = ss_random_start(from->seed, 7);
    ss_problem *problem = problem_of_letters(from, &random);
    known_problem made = {
        .name = from->name, .problem = problem, .agreement = from->agreement, .stop = usual_stop};
    made.x = numbers(problem->size);
    made.w = numbers(problem->size);
    plant(&random, from, problem, made.x, made.w);
    int n = problem->size;
    if (from->matrix == SCENE) {
        fill_scene(&random, from, problem);
    } else {
        problem->A = from->matrix == ILL      ? ill_conditioned(&random, n)
                     : from->matrix == SKEWED ? skewed(&random, n)
                                              : random_definite(&random, n);
    }
    aim(problem, made.x, made.w);
    return made;
}

/* ---- by hand ---------------------------------------------------------------------------------------- */

/* LCP rows with a given matrix. */
static inline known_problem lcp_of(const char *name, int n, const double *A, const double *b)
{
    ss_error err;
    known_problem made = {.name = name, .stop = usual_stop};
    made.problem = known(ss_problem_create(n, 1, -1, &err), &err);
    made.problem->blocks[0] = plain_block(SS_LAW_BOX, 0, n);
    made.problem->A = sparse_of_dense(n, A);
    for (int i = 0; i < n; i++) made.problem->b[i] = b[i], made.problem->lower[i] = 0.0;
    ss_problem_matrix_changed(made.problem);
    return made;
}

static inline known_problem nothing(void)
{
    known_problem made = lcp_of("no unknowns", 0, (double[]){0}, (double[]){0});
    made.x = numbers(0);
    made.w = numbers(0);
    return made;
}

static inline known_problem one_row(void)
{
    known_problem made = lcp_of("one row", 1, (double[]){4.0}, (double[]){-2.0});
    made.x = numbers(1);
    made.w = numbers(1);
    made.x[0] = 0.5;
    made.agreement = 1e-6;
    return made;
}

/* Two rows that pull at each other: w_1 + w_2 = -2 whatever x is. */
static inline known_problem contradiction(void)
{
    known_problem made = lcp_of("contradiction", 2, (double[]){1, -1, -1, 1}, (double[]){-1, -1});
    made.unsolvable = true;
    return made;
}

/* The same with equations: 2 x = 1 and 2 x = 3. */
static inline known_problem contradicting_equations(void)
{
    known_problem made = lcp_of("contradicting equations", 2, (double[]){1, 1, 1, 1}, (double[]){-1, -3});
    made.problem->blocks[0].law = SS_LAW_FREE;
    for (int i = 0; i < 2; i++) made.problem->lower[i] = -INFINITY;
    made.unsolvable = true;
    return made;
}

/* Nothing that x does can be felt, and the bodies part anyway: contacts between immovable bodies. */
static inline known_problem immovable(void)
{
    known_problem made = lcp_of("immovable bodies", 3, (double[9]){0}, (double[]){1, 0, 2});
    made.x = numbers(3);
    made.w = numbers(3);
    memcpy(made.w, made.problem->b, 3 * sizeof *made.w);
    made.stop = "natural_residual<1e-8";
    return made;
}

/* n balls on top of each other, each `growth` times as heavy as the one below; h g = 1. The impulse below a
 * ball is the weight above. */
static inline known_problem column(const char *name, int n, double growth)
{
    double *A = numbers(n * n), *b = numbers(n);
    for (int i = 0; i < n; i++) {
        double here = pow(growth, -i), below = i > 0 ? pow(growth, 1 - i) : 0.0;
        A[n * i + i] = here + below;
        if (i > 0) A[n * i + i - 1] = A[n * (i - 1) + i] = -below;
    }
    b[0] = -1.0; // all balls fall at the same speed: only the lowest row sees it
    known_problem made = lcp_of(name, n, A, b);
    made.x = numbers(n);
    made.w = numbers(n);
    for (int i = n - 1; i >= 0; i--) made.x[i] = pow(growth, i) + (i + 1 < n ? made.x[i + 1] : 0.0);
    free(A);
    free(b);
    return made;
}

static inline known_problem column_equal(void)
{
    known_problem made = column("column of equal balls", 6, 1.0);
    made.agreement = 1e-5;
    return made;
}
static inline known_problem column_100(void)
{
    return column("column, mass ratio 64", 3, 8.0);
}
static inline known_problem column_10000(void)
{
    return column("column, mass ratio 1.6e4", 3, 128.0);
}
static inline known_problem column_million(void)
{
    return column("column, mass ratio 1e6", 3, 1024.0);
}

/* ---- from frames ------------------------------------------------------------------------------------ */

/* The frame is used up. */
static inline known_problem formulated(const char *name, const char *words, ss_frame *frame)
{
    method m = method_of(words);
    known_problem made = {.name = name, .problem = known(assemble(&m, frame), NULL), .stop = usual_stop};
    for (int i = 0; i < made.problem->size; i++) {
        // the energy does not see rows without inverse mass, such as those of the sliding speed
        if (!(made.problem->diagonal[i] > 0.0)) made.stop = "natural_residual<1e-9";
    }
    ss_frame_destroy(frame);
    return made;
}

#endif
