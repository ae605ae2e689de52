/* metrics/judgement.h - what the families of metrics share while one answer is judged. */
#ifndef SS_METRICS_JUDGEMENT_H
#define SS_METRICS_JUDGEMENT_H

#include <stickslip/metrics.h>

#include "base/inner.h"
#include "problem/gauge.h"

enum ss_metric_id {
#define SS_METRIC(id, name, unit, summary, definition) SS_METRIC_##id,
#include "metrics/metrics.def"
#undef SS_METRIC
    SS_METRIC_COUNT
};

enum { SS_SLIDING = 3 }; /* ways to slide: two tangents and spinning */

/* One contact, from a frame or from a problem: enough for everything Coulomb says. */
typedef struct ss_contact_state {
    int contact;         /* of the frame or file */
    double normal;       /* nu, N s */
    double speed;        /* u_N with its gap term, m/s */
    double inverse_mass; /* of the normal row, 1/kg */
    double sliding[3];   /* v_t, m/s, at the end of the step: world, or along the tangents of the problem */
    /* along the two tangents: coefficients of the law that was solved, f in N s, v_t in m/s; then spinning,
     * where it is in one ellipsoid with sliding, at the lever mu_t / mu. Zero where there is none */
    double mu[SS_SLIDING], friction[SS_SLIDING], slip[SS_SLIDING];
} ss_contact_state;

typedef struct ss_judgement {
    const ss_case *what;
    const ss_frame *frame; /* NULL: only the problem is there */
    const ss_answer *answer;
    ss_arena *arena;
    ss_problem *problem; /* the true Coulomb problem: of the frame, or the one given */
    double *x, *w;       /* of that problem; w from the answer's velocities */
    double *scratch;
    ss_gauge_scale scale; /* of that problem */
    ss_contact_state *contacts;
    int contact_count;
    double slow; /* v_tol, m/s: slower counts as standing */
    ss_metric_value *values;
    ss_contact_report *reports; /* may be NULL */
} ss_judgement;

/* Sets a value that applies. */
void ss_metric_set(ss_judgement *judgement, enum ss_metric_id id, double value, int contact, int constraint);
/* Says why it does not. */
void ss_metric_refuse(ss_judgement *judgement, enum ss_metric_id id, const char *why);

/* gap + h n . (v_b - v_a) at the end of the step, m. Needs a frame. */
double ss_contact_gap_after(const ss_judgement *judgement, int contact);
/* Velocity of the frame's body: of the answer, or zero where it does not move. */
void ss_velocity_after(const ss_judgement *judgement, int body, double velocity[6]);

/* Open, stick, slip or negative friction. */
ss_contact_status ss_contact_status_of(const ss_judgement *judgement, const ss_contact_state *state);

/* x and w of the problem from an answer: w = J v+ + C x + c with its velocities, so that impulses are judged
 * by what the bodies do. False when out of memory. */
bool ss_judgement_point(const ss_judgement *judgement, const ss_answer *answer, double *x, double *w);

/* ss_judge_frame with energy_exact, which takes a dense inverse. */
SS_INNER bool ss_judge_frame_exactly(const ss_frame *frame, const ss_step_options *step,
                                     const ss_answer *answer, ss_metric_value *values,
                                     ss_contact_report *contacts, ss_error *err);

bool ss_metrics_rows(ss_judgement *judgement, ss_error *err);
void ss_metrics_coulomb(ss_judgement *judgement);
bool ss_metrics_balance(ss_judgement *judgement, ss_error *err);
bool ss_metrics_distance(ss_judgement *judgement, ss_error *err);
/* Of an ordinary frame. */
void ss_metrics_no_alternatives(ss_judgement *judgement);
/* As ss_judge_frame or, unless skip_exact, ss_judge_frame_exactly, of a frame with alternatives. */
bool ss_judge_alternatives(const ss_frame *frame, const ss_step_options *step, const ss_answer *answer,
                           bool skip_exact, ss_metric_value *values, ss_contact_report *contacts,
                           ss_error *err);

#endif
