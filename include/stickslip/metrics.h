/* stickslip/metrics.h - judging an answer, from frame and physical answer alone.
 *
 * Every formulation and solver is measured by the same yardstick: the true Coulomb problem of the frame. Each metric has a
 * unit, names its worst contact, and says "not applicable" instead of returning a flattering zero.
 */
#ifndef STICKSLIP_METRICS_H
#define STICKSLIP_METRICS_H

#include <stickslip/formulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is judged. A frame with its answer; or an FCLIB problem (frame = NULL) with x. */
typedef struct ss_case {
    const ss_frame *frame; /* NULL: problem and x must be there; metrics that need bodies are n/a */
    const ss_answer *answer;
    const ss_step_options *step; /* how the gap was treated; NULL = defaults */
    ss_problem *problem;         /* without frame: the cone problem; with frame: made from it by ss_judge */
    const double *x;             /* without frame: the solution of problem */
    const ss_answer *reference;  /* NULL, or the true answer, for distances */
    bool skip_exact;             /* leave out energy_exact, which costs a dense inverse */
} ss_case;

typedef struct ss_metric_value {
    bool applies; /* false: n/a, and `why` says why */
    double value;
    int worst_contact;    /* -1 if none */
    int worst_constraint; /* -1 if none: joint rows can be the worst, too */
    const char *why;
} ss_metric_value;

typedef struct ss_metric ss_metric; /* name, unit, summary, definition: ss_metric_at */
struct ss_metric {
    const char *name; /* "energy_error": key in JSON, HDF5 and the command line */
    const char *unit; /* "J" */
    const char *summary;
    const char *definition; /* formula in ASCII with the equation it comes from */
};

SS_API int ss_metric_count(void);
SS_API const ss_metric *ss_metric_at(int index);
SS_API int ss_metric_index(const char *name); /* -1 if there is none */

/* Measures everything: values[ss_metric_count()]. per_contact (may be NULL): the energy error of each contact, J. */
SS_API bool ss_judge(const ss_case *what, ss_metric_value *values, double *per_contact, ss_error *err);

/* What a contact does in an answer, by the rules of the metrics resting, sliding, sticking and anomalous_contacts. */
typedef enum ss_contact_status {
    SS_CONTACT_OPEN,              /* carries no impulse, or takes no part */
    SS_CONTACT_STICK,             /* its friction is not saturated */
    SS_CONTACT_SLIP,              /* it is */
    SS_CONTACT_NEGATIVE_FRICTION, /* it is, and drives a motion faster than v_tol instead of braking it */
    SS_CONTACT_STATUS_COUNT
} ss_contact_status;
SS_API const char *ss_contact_status_name(ss_contact_status status); /* "negative friction" */

typedef struct ss_contact_report {
    ss_contact_status status;
    double sliding
        [3]; /* m/s: tangential velocity of b against a at the end of the step, world; without a frame along the
                          tangents of the problem */
    double energy; /* J: energy error */
} ss_contact_report;
/* ss_judge, and what each contact does: contacts[contacts of the frame or file]. */
SS_API bool ss_judge_contacts(const ss_case *what, ss_metric_value *values, ss_contact_report *contacts,
                              ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
