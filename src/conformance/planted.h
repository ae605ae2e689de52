/* conformance/planted.h - problems with a known answer: planted solutions over every law. A planted problem
 * is built backwards: choose x and w that obey the laws, then b = w - A x. */
#ifndef SS_CONFORMANCE_PLANTED_H
#define SS_CONFORMANCE_PLANTED_H

#include <stickslip/problem.h>

typedef enum ss_recipe_matrix {
    SS_RECIPE_DEFINITE, /* B B' + 0.1 */
    SS_RECIPE_ILL,      /* eigenvalues from 1 down to 1e-6 */
    SS_RECIPE_SKEWED,   /* positive definite, not symmetric */
    SS_RECIPE_BODIES,   /* J M^-1 J' of random bodies, in the bodies form */
    SS_RECIPE_MATRICES
} ss_recipe_matrix;

/* Letters, one for each block or group of blocks:
 *   f free   l LCP row   b box   c contact with coupled friction
 *   C the same on a two-sided partner with bounds of its own
 *   k cone   p planar cone   r rolling cone   v q s: the same three under the convex law
 *   e cone of sliding and spinning   g the same under the convex law   h the same with rolling */
typedef struct ss_recipe {
    const char *name, *letters;
    uint64_t seed;
    ss_recipe_matrix matrix;
    int bodies;        /* SS_RECIPE_BODIES: fewer than rows / 6 makes the rows redundant */
    double mass_ratio; /* SS_RECIPE_BODIES: heaviest over lightest body, 0 = 1 */
    double mu;         /* of the cones; 0 = random */
    bool frictionless; /* mu = 0 */
    bool degenerate;   /* every second bound is touched without force and speed */
    double agreement;  /* how near w must come to the planted one, relative; 0 = it is not unique */
} ss_recipe;

typedef struct ss_known {
    const char *name;
    ss_problem *problem;
    double *x, *w;    /* a solution; NULL when none is known */
    bool unsolvable;  /* there is no solution: no solver may claim one */
    bool any_end;     /* solutions need not be found: Painleve */
    double agreement; /* as in the recipe */
    const char *stop; /* rule that sees all rows */
} ss_known;
#define SS_KNOWN_STOP "relative_energy<1e-8"

/* On failure (out of memory) nothing is left to free. */
bool ss_known_from_recipe(const ss_recipe *from, ss_known *made, ss_error *err);
/* n rows x >= 0, w >= 0 with a given dense matrix; no solution yet. */
bool ss_known_from_matrix(const char *name, int n, const double *A, const double *b, ss_known *made,
                          ss_error *err);
void ss_known_free(ss_known *known);

/* ---- its parts -------------------------------------------------------------------------------------- */

ss_problem *ss_recipe_problem(const ss_recipe *from, ss_random *random, ss_error *err); /* laws, no matrix */
/* Chooses bounds, x and w that obey the laws. */
void ss_recipe_plant(const ss_recipe *from, ss_random *random, ss_problem *problem, double *x, double *w);
/* b = w - A x; in the bodies form through the offset, b = J v* + c, and A is dropped: it can be made. */
bool ss_planted_load(ss_problem *problem, const double *x, const double *w, ss_error *err);

ss_block ss_planted_block(ss_law law, int first, int size); /* of no contact and no joint */
/* Row by row; zeros are left out. */
ss_sparse *ss_planted_sparse(int n, const double *dense, ss_error *err);
/* Entries in -1 .. 1, and B B' + 0.1, exactly symmetric. */
ss_sparse *ss_planted_matrix(ss_random *random, int rows, int columns, double density, ss_error *err);
ss_sparse *ss_planted_definite(ss_random *random, int n, ss_error *err);
void ss_planted_direction(ss_random *random, int count, double *t); /* of length 1 */

typedef enum ss_planted_mode {
    SS_PLANTED_OPEN,
    SS_PLANTED_STICK,
    SS_PLANTED_SLIP,
    SS_PLANTED_TOUCH, /* without force: u = r = 0 */
    SS_PLANTED_MODES
} ss_planted_mode;
/* One contact of 2 to 6 rows that obeys Coulomb's law: velocity u and impulse r. Sliding and rolling are
 * chosen apart: a wheel rolls without sliding. */
void ss_planted_contact(ss_random *random, ss_planted_mode mode, int dimension, double mu, double mu_rolling,
                        double *u, double *r);

#endif
