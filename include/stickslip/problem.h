/* stickslip/problem.h - the input of a solver: a mathematical problem, without shapes, files or a world.
 *
 *     frame -> formulation: assemble -> PROBLEM -> solver -> formulation: recover -> answer -> metrics
 *
 * LCP, MLCP and cone problems are one struct under different laws. A problem owns its arrays. All impulses
 * are N s or N m s, all velocities m/s or rad/s.
 *
 * Read after answer.h and cone.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_PROBLEM_H
#define STICKSLIP_PROBLEM_H

#include <stickslip/answer.h>
#include <stickslip/base.h>
#include <stickslip/cone.h>
#include <stickslip/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the problem of every solver -------------------------------------------------------------------- */

/* w = A x + b, and for every unknown a law between x and w:
 *
 *   free     w = 0, x anything                                   a bilateral constraint; a velocity
 *   box      l <= x <= u;  x = l: w >= 0,  x = u: w <= 0,  else w = 0    an LCP row is l = 0, u = inf
 *   coupled  a box whose bounds follow another unknown: u = -l = factor |x_partner|, within lower and upper
 *   cone     (x_N, x_T) in K, w~ in K*, w~ . x = 0 with w~ = w + (mu |w_T| + mu_r |w_M|) e_N: Coulomb
 *   convex   the same with w~ = w: the convex relaxation
 *
 * mu = inf: K = { x_N >= 0 }, any tangents; then w_T = 0, and w~ = w. A partner is never free, because free
 * unknowns may be eliminated; one without bounds is an infinite box.
 *
 * The tangents of a cone are in one ball, |x_T| <= mu x_N: one of them, two, or three, of which the third may
 * be a moment about the normal whose row is scaled to m/s (the ellipsoid of sliding and spinning). Rolling
 * friction is a second disc of two more, |x_M| <= mu_r x_N, of any two directions. Torsional friction that
 * does not depend on sliding is a coupled row whose partner is the normal of a cone: |x_S| <= factor x_N,
 * Coulomb's law of spinning.
 *
 * One run of unknowns under one law is a block. LCP, MLCP and cone problems are the same struct with other
 * laws: a solver declares which laws it accepts. */
typedef enum ss_law {
    SS_LAW_FREE = 1,
    SS_LAW_BOX = 2,
    SS_LAW_COUPLED = 4,
    SS_LAW_CONE = 8,
    SS_LAW_CONVEX = 16,
} ss_law;
SS_API const char *ss_law_name(ss_law law); /* "free", "box", ...; NULL if it is not one law */

typedef struct ss_block {
    ss_law law;
    /* cones: the first unknown is the normal one; size = 2, 3 or 4, with rolling 5 or 6. Sizes 4 and 6 have
     * three tangents, and only solvers with the trait SS_SPINNING_CONES see them */
    int first, size;
    double mu, mu_rolling;
    int contact;    /* of the frame (or of the FCLIB file), -1 if none: named in reports */
    int constraint; /* of the frame, -1 if none */
} ss_block;

/* The origin of the rows: A = J M^-1 J' + C and b = J v* + c. Sufficient for sweeps that never build A. */
typedef struct ss_bodies_form {
    int bodies;           /* live bodies only */
    double *inverse_mass; /* 1/kg */
    double (*inverse_inertia)[9];
    double (*free_velocity)[6]; /* v* = v + h M^-1 f: without any constraint */
    int (*pair)[2];             /* per unknown; -1 = world */
    double (*jacobian)[12];     /* per unknown */
    double *compliance;         /* per unknown: C */
    double *offset;             /* per unknown: c */
    /* Rows on more than two bodies: further blocks of J. Unknown i has those from further_start[i] to
     * further_start[i + 1] - 1; NULL: there are none. A solver without the trait SS_MANY_BODIES never
     * sees them: it is given A instead of the bodies. */
    int *further_start;            /* one more than there are unknowns */
    int *further_body;             /* per block from here on: a body, never -1 */
    double (*further_jacobian)[6]; /* linear, angular */
} ss_bodies_form;

typedef struct ss_problem {
    int size;
    double *b;
    double *lower, *upper; /* per unknown; free: -inf, inf; cone blocks: not used */
    int *partner;          /* coupled: the unknown the bound follows, else -1 */
    double *factor;        /* coupled: mu, finite */
    ss_block *blocks;      /* cover 0..size-1 in order */
    int block_count;
    double *diagonal;       /* a_ii */
    bool symmetric;         /* A = A' by construction */
    ss_sparse *A;           /* NULL if only `bodies` is given: ss_problem_need_matrix builds it */
    ss_bodies_form *bodies; /* NULL when the problem does not come from bodies */
} ss_problem;

/* All arrays, no laws yet: one free block over everything. With `bodies` >= 0 also a zeroed bodies form. */
SS_API ss_problem *ss_problem_create(int size, int blocks, int bodies, ss_error *err);
SS_API void ss_problem_destroy(ss_problem *problem);
SS_API unsigned ss_problem_laws(const ss_problem *problem); /* which laws occur, or-ed */
/* Builds A from the bodies form, unless it exists. */
SS_API bool ss_problem_need_matrix(ss_problem *problem, ss_error *err);
/* w = A x + b by whichever form exists; scratch: ss_problem_scratch numbers. */
SS_API int ss_problem_scratch(const ss_problem *problem);
SS_API void ss_problem_apply(const ss_problem *problem, const double *x, double *scratch, double *w);
/* The bounds of a scalar unknown at x: fixed, or those that follow its partner. */
SS_API void ss_problem_bounds(const ss_problem *problem, const double *x, int i, double *lower,
                              double *upper);
SS_API bool ss_block_is_cone(const ss_block *block);
/* w~ of a cone block, from its own w: De Saxce's velocity, or w itself under the convex law.
 * dual may be w. */
SS_API void ss_block_dual(const ss_block *block, const double *w, double *dual);
/* An FCLIB problem as a problem for solvers: local form as it is, [W V; V' R]; global through
 * ss_cone_to_local. */
SS_API ss_problem *ss_problem_from_cone(const ss_cone *cone, ss_error *err);
/* Drops the free unknowns: x_F = -A_FF^-1 (b_F + A_FN x_N). For methods that know boxes or cones only;
 * redundant equations are regularised by 1e-10 of their diagonal. `restore` gives the full x back. */
typedef struct ss_elimination ss_elimination;
SS_API ss_elimination *ss_problem_eliminate_free(const ss_problem *problem, ss_error *err);
SS_API const ss_problem *ss_elimination_problem(const ss_elimination *elimination);
SS_API void ss_elimination_reduce(const ss_elimination *elimination, const double *x, double *reduced);
SS_API void ss_elimination_restore(const ss_elimination *elimination, const double *reduced, double *x);
SS_API void ss_elimination_destroy(ss_elimination *elimination);
/* Projection of x onto the sets of its laws (boxes clamped with current coupled bounds, cones projected). */
SS_API void ss_problem_project(const ss_problem *problem, double *x);
/* The same for one block, whose part of x is replaced; partners of coupled rows are read from x. */
SS_API void ss_block_project(const ss_problem *problem, const ss_block *block, double *x);
/* The block's own part of A, row by row: size x size numbers. A must be there (ss_problem_need_matrix). */
SS_API void ss_block_matrix(const ss_problem *problem, const ss_block *block, double *own);

/* ---- gauges ----------------------------------------------------------------------------------------- */

/* Measures of an iterate, O(n) from (x, w). The first name of each is the one on the command line. */
#define SS_GAUGE_LIST(X)                                                                           \
    X(SS_GAUGE_ENERGY, "energy")                         /* J: sum of 1/2 a (x - P(x - w/a))^2 */  \
    X(SS_GAUGE_RELATIVE_ENERGY, "relative_energy")       /* 1: sqrt(e / e at x = 0) */             \
    X(SS_GAUGE_NATURAL_RESIDUAL, "natural_residual")     /* mixed units: sum |min(x-l, w+)| ... */ \
    X(SS_GAUGE_FISCHER_BURMEISTER, "fischer_burmeister") /* mixed units */                         \
    X(SS_GAUGE_NATURAL_MAP, "natural_map")               /* 1: |r - P_K(r - u~)| / |q|, step 1 */
typedef enum ss_gauge {
#define SS_GAUGE_ENUM(code, name) code,
    SS_GAUGE_LIST(SS_GAUGE_ENUM)
#undef SS_GAUGE_ENUM
        SS_GAUGE_COUNT,
    SS_GAUGE_NONE = -1,
} ss_gauge;
SS_API const char *ss_gauge_name(ss_gauge gauge);

/* Gauges of x, computed from the problem alone; NaN where one does not apply (natural_map without cones). */
SS_API bool ss_problem_measure(const ss_problem *problem, const double *x, double values[SS_GAUGE_COUNT],
                               ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
