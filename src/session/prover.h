/* session/prover.h - from a frame or problem to a certified answer: solves it as accurately as it gets, by
 * one method after the other until a certificate is given, and compares with a second family of methods. */
#ifndef SS_SESSION_PROVER_H
#define SS_SESSION_PROVER_H

#include <stickslip/certificate.h>
#include <stickslip/session.h>

#include "base/inner.h"

typedef struct ss_prover ss_prover;

typedef struct ss_prover_options {
    const char *formulation; /* NULL: "cone" */
    const char *with;        /* its options */
    const char *solver;      /* the first method; NULL: "auto" */
    double tolerance;        /* of ss_certify_options; 0: its default */
    int exact_unknowns;      /* of ss_certify_options; 0: level exact is not tried */
    bool alone;              /* no second family, so that level agreed is never given */
    bool thorough;           /* large ones with the effort of small ones */
    double time_limit;       /* s of wall time for each frame or problem; 0: none */
    /* called before each method, with its name and the number of contacts; may be NULL */
    void (*begin)(const char *solver, int contacts, void *context);
    void *context;
} ss_prover_options;

/* What a proof may cost, by the number of contacts: counts and not seconds, so that every machine proves the
 * same. */
typedef struct ss_effort {
    int methods;       /* that are tried, one after the other */
    bool compared;     /* with a second family */
    ss_stop_rule stop; /* of each method */
    int iterations;
} ss_effort;

ss_effort ss_effort_for(int contacts);

#define SS_AGREED_SHARE 1e-6   /* level agreed: of the scale, by which velocities differ at most */
#define SS_MEASURED_ERROR 1e-6 /* level measured: the relative energy error is below it */

/* The best that was found for one frame or problem. Owned by the prover, valid until the next one. */
typedef struct ss_proof {
    const ss_result *result;           /* of the session that found the answer; NULL: no method accepts it */
    const ss_certificate *certificate; /* with solver, second and agreed */
    ss_assembly *assembly;             /* with the frame; NULL for problems */
    bool late;                         /* the time limit came before everything was tried */
} ss_proof;

/* Messages name what is wrong with formulation, options or solver. */
SS_INNER ss_prover *ss_prover_create(const ss_prover_options *options, ss_error *err);
SS_INNER void ss_prover_destroy(ss_prover *prover);
SS_INNER void ss_prover_watch(ss_prover *prover, const volatile int *cancel);
/* NULL only when out of memory, or when the frame cannot be assembled. */
SS_INNER const ss_proof *ss_prove_frame(ss_prover *prover, const ss_frame *frame, ss_error *err);
SS_INNER const ss_proof *ss_prove_problem(ss_prover *prover, ss_problem *problem, ss_error *err);

/* For an answer from elsewhere, by formulation and options (its other members are not used, but for the
 * tolerance): what can be proved about it, up to `level`, under the law of formulation cone or convex. Level
 * forward takes a solve, level exact rational numbers. */
SS_INNER ss_certificate *ss_prove_answer(const ss_prover_options *options, const ss_frame *frame,
                                         const ss_answer *answer, ss_certificate_level level, ss_error *err);
/* The largest difference of velocities between the answer and what `solver` finds now with the effort of a
 * small frame, as `agreed` of certificates; NaN: the solver refuses the frame. */
SS_INNER bool ss_prover_compare(const ss_prover_options *options, const char *solver, const ss_frame *frame,
                                const ss_answer *answer, double *agreed, ss_error *err);

#endif
