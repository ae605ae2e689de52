/* session/stages.h - a session step by step, for campaigns, which measure, cancel and share reference answers
 * between the steps. ss_session_solve is all of them in this order. */
#ifndef SS_SESSION_STAGES_H
#define SS_SESSION_STAGES_H

#include <stickslip/session.h>

#include "base/inner.h"
#include "session/method.h"

/* The true answer of a frame. answer is NULL when the reference solver does not get there, or when no answer
 * is proved where that is asked for. */
typedef struct ss_truth {
    ss_answer *answer;
    ss_solve_result result;
    ss_certificate_level level; /* none unless a proof was asked for */
    double bound;               /* m/s, of the proof */
} ss_truth;

/* As ss_session_create; fault (may be NULL) says which part of the request is wrong, and the message
 * leaves it out. */
SS_INNER ss_session *ss_session_open(const ss_request *request, ss_request_fault *fault, ss_error *err);
SS_INNER const ss_method *ss_session_method(const ss_session *session);

/* Seconds that a solver has forgiven (ss_run_forgive) are added up there; NULL: nowhere. */
SS_INNER void ss_session_count_forgiven(ss_session *session, volatile double *seconds);

/* Answers are measured by these gauges only, bits 1u << gauge; others are NaN. 0: by all. */
void ss_session_measure_only(ss_session *session, unsigned gauges);

/* Later runs stop by this rule, and after that many seconds of wall time; 0: whenever they like. */
void ss_session_limit(ss_session *session, ss_stop_rule stop, double seconds);

/* 1. The frame is assembled, and x is zero or the guess; or the problem is taken as it is. */
SS_INNER bool ss_session_take_frame(ss_session *session, const ss_frame *frame, const ss_answer *guess,
                                    ss_error *err);
SS_INNER bool ss_session_take_problem(ss_session *session, ss_problem *problem, const double *x,
                                      ss_error *err);
/* 2. The solver runs. */
SS_INNER bool ss_session_run(ss_session *session, ss_error *err);
/* Or it has run in another process, and this came out; the arrays of `run` become those of the session. */
SS_INNER void ss_session_take_run(ss_session *session, const ss_solve_result *run, const double *x);
/* 3. The true Coulomb problem of the same rows, solved by the reference solver. */
SS_INNER bool ss_session_find_truth(ss_session *session, ss_truth *truth, ss_error *err);
SS_INNER void ss_truth_free(ss_truth *truth);
/* 4. The answer is judged. truth is NULL without a reference. */
SS_INNER bool ss_session_judge(ss_session *session, const ss_truth *truth, ss_error *err);
/* The frame has alternatives, and the method selects among them: then this is steps 1 and 2, for as many
 * ordinary frames as it takes. There is no step 3, and the frame must live until it is judged. */
SS_INNER bool ss_session_selects(const ss_session *session, const ss_frame *frame);
SS_INNER bool ss_session_select(ss_session *session, const ss_frame *frame, const ss_answer *guess,
                                ss_error *err);
/* The physical answer after step 2, to an answer made for the frame. */
void ss_session_recover(ss_session *session, ss_answer *answer);
SS_INNER const ss_result *ss_session_result(const ss_session *session);

/* Steps 3 and 4 as ss_session_solve has them. */
SS_INNER bool ss_session_finish(ss_session *session, ss_error *err);

#endif
