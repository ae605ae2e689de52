/* plugins/siconos/variants.h - the friction solvers of Siconos Numerics behind one small face: a problem of
 * ours is turned into theirs once, and solved by any of their variants. */
#ifndef SS_SICONOS_VARIANTS_H
#define SS_SICONOS_VARIANTS_H

#include <stickslip/problem.h>

int ss_siconos_count(void); /* of variants */
/* "NSGS-AC-GP": the method, what solves one contact or the inner problem, what differs from the defaults. */
const char *ss_siconos_name(int variant);

/* How the matrix of contact space is stored; the global form is sparse always. */
typedef enum ss_siconos_storage {
    SS_SICONOS_USUAL, /* blocks for sweeps; else dense up to 900 rows, beyond that blocks */
    SS_SICONOS_DENSE,
    SS_SICONOS_BLOCKS,
    SS_SICONOS_SPARSE,
} ss_siconos_storage;

/* The global form M v = H r + f, u = H' v + w of a problem that comes from bodies and has nothing but
 * contacts. NULL when there is no such form, or for lack of memory. */
ss_cone *ss_siconos_global(const ss_problem *problem, ss_error *err);

/* Why the variant cannot take the problem; NULL when it can. global may be NULL. */
const char *ss_siconos_refusal(int variant, const ss_problem *problem, const ss_cone *global);

/* One solve, ready to run: their problem, their options, vectors of zeros. The matrix of contact space must
 * be there (ss_problem_need_matrix). NULL for lack of memory. */
typedef struct ss_siconos_run ss_siconos_run;
ss_siconos_run *ss_siconos_prepare(int variant, ss_siconos_storage storage, const ss_problem *problem,
                                   const ss_cone *global);
/* The same once more: new options with this tolerance, in Siconos' own words, and this number of iterations;
 * vectors zeroed. Solvers inside others keep their own number. */
bool ss_siconos_reset(ss_siconos_run *run, double own_tolerance, int most_iterations);
void ss_siconos_solve(ss_siconos_run *run); /* what is to be timed; may end the process */
const double *ss_siconos_answer(const ss_siconos_run *run);
int ss_siconos_iterations(const ss_siconos_run *run);
void ss_siconos_release(ss_siconos_run *run);

#endif
