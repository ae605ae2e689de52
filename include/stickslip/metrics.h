/* stickslip/metrics.h - judging an answer, from frame and physical answer alone.
 *
 * Every formulation and solver is judged by the same measure: the true Coulomb problem of the frame.
 * Each metric has a unit, names its worst contact, and says "not applicable" instead of returning a
 * flattering zero.
 *
 * Read after formulation.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_METRICS_H
#define STICKSLIP_METRICS_H

#include <stickslip/formulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is judged: the answer to an assembled frame, by any formulation; or a point of a problem without
 * bodies, as in FCLIB. */
typedef struct ss_case {
    ss_assembly *assembly; /* NULL: problem and x must be given; metrics that need bodies are n/a */
    const ss_answer *answer;
    ss_problem *problem;        /* without assembly: a cone problem */
    const double *x;            /* without assembly: its solution */
    const ss_answer *reference; /* NULL, or the true answer, for distances */
    bool skip_exact;            /* skip energy_exact, which needs a dense inverse */
    ss_arena *arena;            /* scratch memory, restored afterwards; NULL: allocated internally */
    /* with alternatives: the one that `answer` belongs to, judged as ss_judge_frame does (except for
     * skip_exact) by the rules of the assembly; NULL: the assembly's */
    const ss_frame *frame;
} ss_case;

typedef struct ss_metric_value {
    bool applies; /* false: n/a, for the reason `why` */
    double value;
    int worst_contact;    /* -1 if none */
    int worst_constraint; /* -1 if none: joint rows can be the worst too */
    const char *why;
} ss_metric_value;

typedef struct ss_metric ss_metric;
struct ss_metric {
    const char *name; /* "energy": key in JSON, HDF5 and the command line */
    const char *unit; /* "J" */
    const char *summary;
    const char *definition; /* formula in ASCII with the equation it comes from */

    /* For a metric of your own (plugin.h); NULL in those of the library. Smaller is better, and zero is
     * perfect. `what` is as for ss_judge: the frame is ss_assembly_frame(what->assembly). On entry the value
     * is "not applicable"; set `applies`, `value` and what was worst, or `why` (a text that stays). False
     * with err ends the judging: only for what should not happen. */
    bool (*measure)(const ss_metric *metric, const ss_case *what, ss_metric_value *value, ss_error *err);
    bool without_bodies; /* may be called with what->assembly NULL; otherwise n/a there, without a call */
    void *context;       /* the author's */
};

/* Those of the library first, then those that were registered. The number changes only when something is
 * registered or unregistered (plugin.h). */
SS_API int ss_metric_count(void);
SS_API const ss_metric *ss_metric_at(int index); /* NULL beyond the last */
SS_API int ss_metric_index(const char *name);    /* -1 if unknown */

/* State of a contact in an answer, by the rules of the metrics resting, sliding, sticking and
 * anomalous_contacts. */
typedef enum ss_contact_status {
    SS_CONTACT_OPEN,              /* carries no impulse, or is inactive */
    SS_CONTACT_STICK,             /* its friction is not saturated */
    SS_CONTACT_SLIP,              /* it is */
    SS_CONTACT_NEGATIVE_FRICTION, /* it is, and drives a motion faster than v_tol instead of braking it */
    SS_CONTACT_STATUS_COUNT
} ss_contact_status;
SS_API const char *ss_contact_status_name(ss_contact_status status); /* "negative friction" */

typedef struct ss_contact_report {
    ss_contact_status status;
    /* m/s: tangential velocity of b against a at the end of the step, world; without a frame along the
     * tangents of the problem */
    double sliding[3];
    double energy; /* J: energy error */
} ss_contact_report;

/* Computes all metrics, values[ss_metric_count()], and the state of each contact,
 * contacts[ss_case_contacts()], which may be NULL. */
SS_API bool ss_judge(const ss_case *what, ss_metric_value *values, ss_contact_report *contacts,
                     ss_error *err);
/* Contacts of the frame, or of the file. */
SS_API int ss_case_contacts(const ss_case *what);
/* The same for a frame that is not assembled yet, as from a file. step: the treatment of gaps and joints that
 * the answer was made with; NULL: that of formulation "cone" by default. Without energy_exact. */
SS_API bool ss_judge_frame(const ss_frame *frame, const ss_step_options *step, const ss_answer *answer,
                           ss_metric_value *values, ss_contact_report *contacts, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
