/* stickslip/diagnosis.h - what is wrong with a problem, in words.
 *
 * The status of a failed run says how it ended, not why. Often the reason lies in the problem: contradictory
 * equations, wedged bodies, a matrix that no mechanical system can have, units in which rounding errors
 * dominate. A diagnosis checks for all of these without running a solver.
 *
 * Read after solver.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_DIAGNOSIS_H
#define STICKSLIP_DIAGNOSIS_H

#include <stickslip/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ss_severity {
    SS_SEVERITY_NOTE,    /* for information: answers are not unique, or take longer */
    SS_SEVERITY_WARNING, /* some methods will fail, or their measures are misleading */
    SS_SEVERITY_FATAL,   /* there is no solution, or the problem is invalid */
} ss_severity;
SS_API const char *ss_severity_name(ss_severity severity);

/* code, name in results */
#define SS_DEFECT_LIST(X)                                                                                   \
    X(SS_DEFECT_NUMBER, "number")             /* not a number, or infinite where that is invalid */         \
    X(SS_DEFECT_BOUNDS, "bounds")             /* lower above upper */                                       \
    X(SS_DEFECT_LAW, "law")                   /* negative friction, invalid partners */                     \
    X(SS_DEFECT_UNITS, "units")               /* numbers so large or small that measures fail */            \
    X(SS_DEFECT_IMMOVABLE, "immovable")       /* contacts or equations on which no impulse has an effect */ \
    X(SS_DEFECT_DIAGONAL, "diagonal")         /* a_ii not positive */                                       \
    X(SS_DEFECT_UNSYMMETRIC, "unsymmetric")   /* A is not A' */                                             \
    X(SS_DEFECT_INDEFINITE, "indefinite")     /* impulses that create energy */                             \
    X(SS_DEFECT_RANK, "rank")                 /* more unknowns than independent motions */                  \
    X(SS_DEFECT_REDUNDANT, "redundant")       /* equations that depend on others */                         \
    X(SS_DEFECT_INCONSISTENT, "inconsistent") /* contradictory equations */                                 \
    X(SS_DEFECT_WEDGED, "wedged")             /* impulses that can grow without moving anything */          \
    X(SS_DEFECT_MASSES, "masses")             /* very heavy and very light bodies */                        \
    X(SS_DEFECT_FRICTION, "friction")         /* coefficients above 1 */                                    \
    X(SS_DEFECT_GLUE, "glue")                 /* infinite friction */                                       \
    X(SS_DEFECT_PAINLEVE, "painleve")         /* pressing harder pushes the bodies together, not apart */   \
    X(SS_DEFECT_DUPLICATES, "duplicates")     /* contacts that occur more than once */
typedef enum ss_defect {
#define SS_DEFECT_ENUM(code, name) code,
    SS_DEFECT_LIST(SS_DEFECT_ENUM)
#undef SS_DEFECT_ENUM
        SS_DEFECT_COUNT,
} ss_defect;
SS_API const char *ss_defect_name(ss_defect defect);

typedef struct ss_complaint {
    ss_severity severity;
    ss_defect defect;
    int count;               /* contacts, equations or unknowns it is about */
    double value;            /* how much: the number that the message is about; NAN = none */
    int contact, constraint; /* the worst of them, of the frame; -1 = none */
    int unknown;             /* of the problem, -1 = all of it */
    char *message;           /* what is wrong and where: one or two sentences without a final full stop */
    char *advice;            /* what to do about it, the same way */
} ss_complaint;

typedef struct ss_diagnosis {
    ss_complaint *items; /* in the order of the list above, at most one of each defect */
    int count, capacity;
    int unknowns;
    int rank; /* of A, to nine digits; -1 = unknown: too costly to compute, or prevented by faults */
    bool out_of_memory;
} ss_diagnosis;

typedef struct ss_diagnosis_options {
    const ss_ray *ray; /* of a run that ended with one; NULL = none known */
    int ray_search;    /* without a ray: search for one by this many iterations of a Newton method; 0 = no */
    const int *body;   /* number of each body in messages; NULL = its number in the problem */
} ss_diagnosis_options;

/* Diagnoses a problem. Deterministic; costs a sparse factorisation or two, and the search for a ray, of 300
 * iterations if options is NULL. False only if out of memory. `diagnosis` is overwritten, and must be freed
 * in any case. */
SS_API bool ss_problem_diagnose(const ss_problem *problem, const ss_diagnosis_options *options,
                                ss_diagnosis *diagnosis, ss_error *err);
SS_API void ss_diagnosis_free(ss_diagnosis *diagnosis);
/* The complaint about a defect, NULL if there is none. */
SS_API const ss_complaint *ss_diagnosis_find(const ss_diagnosis *diagnosis, ss_defect defect);
/* The worst severity; SS_SEVERITY_NOTE if there are no complaints. */
SS_API ss_severity ss_diagnosis_worst(const ss_diagnosis *diagnosis);

#ifdef __cplusplus
}
#endif
#endif
