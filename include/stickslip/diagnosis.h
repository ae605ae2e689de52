/* stickslip/diagnosis.h - what is wrong with a problem, in words.
 *
 * A solver that does not get there says how it ended, not why. Often the reason is in the problem: equations
 * that contradict each other, bodies that are wedged in, a matrix that is none of mechanics, units that drown
 * everything in rounding. A diagnosis looks for all of that and needs no run of a solver.
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
    SS_SEVERITY_NOTE,    /* good to know: answers are not unique, or take longer */
    SS_SEVERITY_WARNING, /* some methods will fail, or their numbers mean less than they seem to */
    SS_SEVERITY_FATAL,   /* there is no solution, or the problem makes no sense */
} ss_severity;
SS_API const char *ss_severity_name(ss_severity severity);

/* code, name in results */
#define SS_DEFECT_LIST(X)                                                                                 \
    X(SS_DEFECT_NUMBER, "number")             /* not a number, or infinite where that makes no sense */   \
    X(SS_DEFECT_BOUNDS, "bounds")             /* lower above upper */                                     \
    X(SS_DEFECT_LAW, "law")                   /* friction below zero, partners that cannot be */          \
    X(SS_DEFECT_UNITS, "units")               /* numbers so large or small that measures fail */          \
    X(SS_DEFECT_IMMOVABLE, "immovable")       /* contacts or equations that no impulse moves */           \
    X(SS_DEFECT_DIAGONAL, "diagonal")         /* a_ii not positive */                                     \
    X(SS_DEFECT_UNSYMMETRIC, "unsymmetric")   /* A is not A' */                                           \
    X(SS_DEFECT_INDEFINITE, "indefinite")     /* impulses that gain energy */                             \
    X(SS_DEFECT_RANK, "rank")                 /* more unknowns than the motion tells apart */             \
    X(SS_DEFECT_REDUNDANT, "redundant")       /* equations that follow from others */                     \
    X(SS_DEFECT_INCONSISTENT, "inconsistent") /* equations that cannot hold together */                   \
    X(SS_DEFECT_WEDGED, "wedged")             /* impulses that grow for ever and move nothing */          \
    X(SS_DEFECT_MASSES, "masses")             /* very heavy and very light bodies */                      \
    X(SS_DEFECT_FRICTION, "friction")         /* coefficients above 1 */                                  \
    X(SS_DEFECT_GLUE, "glue")                 /* infinite friction */                                     \
    X(SS_DEFECT_PAINLEVE, "painleve")         /* pressing harder pushes the bodies together, not apart */ \
    X(SS_DEFECT_DUPLICATES, "duplicates")     /* contacts that are there more than once */
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
    int rank; /* of A, to nine digits; -1 = not found out: too costly, or there are faults in the way */
    bool out_of_memory;
} ss_diagnosis;

typedef struct ss_diagnosis_options {
    const ss_ray *ray; /* of a run that ended with one; NULL = none is known */
    int ray_search;    /* without a ray: look for one by so many iterations of a Newton method; 0 = do not */
    const int *body;   /* what messages call a body, per body of the problem; NULL = its number there */
} ss_diagnosis_options;

/* Everything that can be told from the problem. Deterministic; the cost is that of a sparse factorisation or
 * two, and of the search for a ray, for which options = NULL stands for 300 iterations. False only when out
 * of memory. Starts from anything: `diagnosis` is overwritten, and to be freed in any case. */
SS_API bool ss_problem_diagnose(const ss_problem *problem, const ss_diagnosis_options *options,
                                ss_diagnosis *diagnosis, ss_error *err);
SS_API void ss_diagnosis_free(ss_diagnosis *diagnosis);
/* The complaint about a defect, NULL when there is none. */
SS_API const ss_complaint *ss_diagnosis_find(const ss_diagnosis *diagnosis, ss_defect defect);
/* The worst severity there is; SS_SEVERITY_NOTE when there is nothing at all. */
SS_API ss_severity ss_diagnosis_worst(const ss_diagnosis *diagnosis);

#ifdef __cplusplus
}
#endif
#endif
