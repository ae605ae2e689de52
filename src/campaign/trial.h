/* campaign/trial.h - one solve, and what its answer is worth: what `stickslip solve` and campaigns share. */
#ifndef SS_CAMPAIGN_TRIAL_H
#define SS_CAMPAIGN_TRIAL_H

#include "campaign/method.h"

/* What came out for one frame or problem. Problem and start are the caller's to fill in, the rest comes about here. */
typedef struct ss_trial {
    const char *place; /* "/simulation_000001/mbs_frame000003", "/fclib_local" */
    int index;         /* of the frame; -1 for a problem of FCLIB */
    const char *formulation;
    const char *refusal; /* why the solver does not take it, else NULL */
    ss_problem *problem;
    double *x;         /* start on entry */
    ss_answer *answer; /* NULL for a problem of FCLIB */
    ss_solve_result result;
    ss_metric_value *metrics;
    double *contact_energy; /* J, energy error of each contact */
    int contacts;
    bool has_reference;
    ss_solve_result reference; /* how the reference run went, without a history */
} ss_trial;

/* The true answer of a frame. answer is NULL when the reference solver does not get there. */
typedef struct ss_truth {
    ss_answer *answer;
    ss_solve_result result;
} ss_truth;

/* Solves the true Coulomb problem of the method's step with its reference solver. cancel may be NULL. */
bool ss_truth_find(const ss_method *method, const ss_frame *frame, const volatile int *cancel,
                   ss_truth *truth, ss_error *err);
void ss_truth_free(ss_truth *truth);

/* Runs the solver from trial->x. The stop rule may be a metric. frame is NULL for a problem of FCLIB. */
bool ss_trial_solve(const ss_method *method, const ss_frame *frame, const volatile int *cancel,
                    ss_trial *trial, ss_error *err);
/* Judges the answer, which `frame` makes physical. truth is NULL without a reference. */
bool ss_trial_judge(const ss_method *method, const ss_frame *frame, const ss_truth *truth, ss_trial *trial,
                    ss_error *err);
void ss_trial_free(ss_trial *trial);

#endif
