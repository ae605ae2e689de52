/* stickslip/session.h - solve a frame with a given formulation, solver and rules, and judge the answer, in
 * one call.
 *
 *     ss_session *session = ss_session_create(&(ss_request){.solver = "nsgs", .stop = "energy<1e-6"}, &err);
 *     const ss_result *result = ss_session_solve(session, frame, NULL, &err);
 *
 * A request is text and numbers, as on the command line; it is read once, when the session is created. A
 * session keeps its memory from frame to frame: with skip_exact, frames of one size are solved and judged
 * without touching the heap, unless the solver does. One thread uses a session at a time.
 *
 * Read after formulation.h, solver.h and metrics.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_SESSION_H
#define STICKSLIP_SESSION_H

#include <stickslip/certificate.h>
#include <stickslip/formulation.h>
#include <stickslip/metrics.h>
#include <stickslip/peg.h>
#include <stickslip/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to do; a zeroed request is Coulomb's law on cones, solved by `auto` to natural_map<1e-8. */
typedef struct ss_request {
    const char *formulation;     /* NULL: "cone" */
    const char *with;            /* its options, separated by blanks: "gap_term=zero mu_max=1" */
    const char *solver;          /* NULL: "auto" */
    const ss_solver *own_solver; /* instead of a name: your own, or of a plug-in */
    const char *set;             /* its options: "omega=1.3 sweep=symmetric" */
    /* solver that finds the true answer, for distances; "certified": one that is proved; NULL: none */
    const char *reference;
    const ss_solver *own_reference; /* instead of its name */
    int iterations;                 /* at most; 0: 10000, negative: none at all, the start is judged */
    double time_limit;              /* s of wall time, see ss_run_options; 0: none. Of a whole selection */
    /* "GAUGE<VALUE", "energy<1e-6*scene", "METRIC<VALUE" or "none". Gauges are measured at every iteration,
     * other metrics, which need the physical answer, at intervals. NULL: "natural_map<1e-8" */
    const char *stop;
    const char *keep; /* "answer" (NULL), "last" or "best:GAUGE" */
    int seed;
    bool history; /* record every gauge at every iteration */
    bool explain; /* keep what the solver notes about its decisions */
    /* Leave out the metric energy_exact, which costs a matrix and a dense inverse for every frame. */
    bool skip_exact;
    ss_team *team; /* NULL: one thread */
    /* frames with alternatives: "select" (NULL), "enumerate", "off" (contacts only) or "all" (every
     * alternative as an ordinary contact); see ss_peg_mode */
    const char *peg;
} ss_request;

/* The result of one frame or problem. Owned by the session, valid until the next one. */
typedef struct ss_result {
    const char *refusal; /* why the solver does not accept the problem, which is then not solved; else NULL */
    ss_solve_result run; /* status, iterations, seconds, gauges, history, ray, notes */
    const ss_answer *answer;        /* velocities and impulses; NULL for a problem without bodies */
    const ss_metric_value *metrics; /* [ss_metric_count()], each with unit (ss_metric_at) and worst contact */
    int contact_count;              /* of the frame or file */
    const ss_contact_report *contacts; /* state of each one, and its energy error */
    const ss_findings *losses;         /* what the formulation does not model */
    const ss_problem *problem;         /* as given to the solver */
    const double *x;                   /* its solution */
    const ss_solve_result *reference;  /* of the reference solver; NULL without one */
    /* with reference "certified": what is proved about it (ss_certificate), its bound in m/s; and the
     * largest difference, in m/s, between contact velocities of answer and reference; NaN: not known */
    ss_certificate_level reference_level;
    double reference_bound, reference_distance;
    /* frames with alternatives: how they were selected. run, problem and x are those of the ordinary frame
     * that was solved last, but run.iterations, run.seconds and run.elapsed the sums of all, from which its
     * kept iteration and the seconds of its history count on; answer, metrics and contacts are those of the
     * frame. Else NULL */
    const ss_peg_result *peg;
} ss_result;

typedef struct ss_session ss_session;
/* Reads names, options and rules. Messages state what is wrong and what is expected. */
SS_API ss_session *ss_session_create(const ss_request *request, ss_error *err);
SS_API void ss_session_destroy(ss_session *session);

/* Solves and judges a checked frame (ss_frame_check). guess (may be NULL): an answer to start from. If the
 * solver fails, the result has its status; NULL only if out of memory, or if the frame cannot be
 * assembled. */
SS_API const ss_result *ss_session_solve(ss_session *session, const ss_frame *frame, const ss_answer *guess,
                                         ss_error *err);
/* The same for a problem without bodies, as in FCLIB: x[problem->size] is the start (may be NULL). */
SS_API const ss_result *ss_session_solve_problem(ss_session *session, ss_problem *problem, const double *x,
                                                 ss_error *err);
/* A non-zero value at `cancel` stops a run soon; NULL: no cancelling. */
SS_API void ss_session_watch(ss_session *session, const volatile int *cancel);
/* The watcher sees the iterations of later runs, but not those of the reference solver; it must live as long
 * as they take. NULL: none any more. */
SS_API void ss_session_follow(ss_session *session, const ss_watcher *watcher);

/* The assembly, with the frame solved last: for FCLIB's form of the problem, and for
 * judging other answers to the same frame. */
SS_API ss_assembly *ss_session_assembly(ss_session *session);
SS_API const ss_solver *ss_session_solver(const ss_session *session);
/* The current options, "omega=1.3 sweep=symmetric": only those that differ from their defaults, or
 * all. As snprintf counts. */
SS_API int ss_session_with(const ss_session *session, bool all, char *text, size_t size);
SS_API int ss_session_set(const ss_session *session, bool all, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
