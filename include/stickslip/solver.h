/* stickslip/solver.h - solvers: one function each, behind one contract.
 *
 * A solver is a pure function of problem, options, start and seed. It reads the problem, improves x, calls
 * ss_run_iteration once per iteration and stops when that returns false. No globals, no files, no
 * printing; memory from run->arena. Its own claims are not trusted: measures are computed from x afterwards.
 *
 * Adding one: a file src/solver/NAME.c ending in `const ss_solver ss_solver_NAME = {...};` and a line
 * SS_SOLVER(NAME) in src/solver/solvers.def; or from outside the library, by plugin.h.
 *
 * Read after problem.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_SOLVER_H
#define STICKSLIP_SOLVER_H

#include <stickslip/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* code, name in results */
#define SS_STATUS_LIST(X)                                                                         \
    X(SS_CONVERGED, "converged")           /* the stop rule holds, or the method ended exactly */ \
    X(SS_MAX_ITERATIONS, "max iterations") /* the best so far is in x */                          \
    X(SS_TIME_LIMIT, "time limit")                                                                \
    X(SS_STALLED, "stalled") /* no further progress, the rule does not hold */                    \
    X(SS_RAY, "ray")         /* impulses can grow without bound: no solution, or none found */    \
    X(SS_CANCELLED, "cancelled")                                                                  \
    X(SS_NOT_APPLICABLE, "not applicable") /* the solver does not accept this kind of problem */  \
    X(SS_FAILED, "failed")                 /* singular matrix, not a number, out of memory */
typedef enum ss_status {
#define SS_STATUS_ENUM(code, name) code,
    SS_STATUS_LIST(SS_STATUS_ENUM)
#undef SS_STATUS_ENUM
} ss_status;
SS_API const char *ss_status_name(ss_status status);

/* ---- rules of a run --------------------------------------------------------------------------------- */

/* A run has converged if the gauge is below the value. natural_map covers contacts only: if there are other
 * rows, relative_energy must also be below the value. */
typedef struct ss_stop_rule {
    ss_gauge gauge;
    double below;  /* 0: no rule, only limits end the run */
    bool of_scene; /* with energy: `below` is a fraction of the scene's energy, ss_run_options.scene_energy */
} ss_stop_rule;

/* The iterate that is returned. */
typedef enum ss_keep {
    SS_KEEP_ANSWER, /* whatever the method gives: its last one, or the best by its own measure */
    SS_KEEP_LAST,   /* that of the last iteration */
    SS_KEEP_BEST,   /* the best by a gauge */
} ss_keep;
typedef struct ss_keep_rule {
    ss_keep which;
    ss_gauge gauge; /* SS_KEEP_BEST: which one */
} ss_keep_rule;

/* Rules as text: "energy<1e-6", "energy<1e-6*scene", "none"; "answer", "last", "best:energy". */
SS_API bool ss_stop_rule_parse(const char *text, ss_stop_rule *rule, ss_error *err);
SS_API bool ss_keep_rule_parse(const char *text, ss_keep_rule *rule, ss_error *err);

typedef struct ss_run_options {
    int max_iterations;
    double time_limit; /* s of wall time from the start of the run, measuring included; 0 = none. See below */
    ss_stop_rule stop;
    ss_keep_rule keep;
    int seed;
    bool history;        /* record every gauge at every iteration */
    bool explain;        /* keep what the solver notes about its decisions */
    double scene_energy; /* J: what a stop rule `of_scene` refers to; 0 = energy error of x = 0 */
} ss_run_options;
/* The time limit: the run ends with SS_TIME_LIMIT and the iterate that the keep rule names among those made
 * in time; ss_solve_result.elapsed is the time taken. The matrix of the problem and the scales of the gauges
 * are made before the clock starts, and the answer is judged after it has stopped. Methods check the clock
 * inside their iterations (ss_run_late); the aim is to exceed limits of 2 ms or more by less than 20 % on
 * 2,000 contacts and an idle machine (bench_deadline). Without a limit nothing depends on the clock. */
/* 10000 iterations, relative_energy<1e-8, the last iterate, seed 1. */
SS_API ss_run_options ss_run_defaults(void);

/* ---- one run of a solver ---------------------------------------------------------------------------- */

typedef struct ss_history {
    int count;
    double *seconds; /* since the start, measuring excluded */
    double *gauge[SS_GAUGE_COUNT];
} ss_history;

typedef struct ss_run {
    ss_arena *arena;    /* scratch for the solver, emptied by the driver */
    ss_team *team;      /* NULL = one thread */
    int max_iterations; /* for methods that plan ahead; ss_run_iteration enforces it anyway */
    uint64_t seed;
    const struct ss_solver *solver; /* the one that runs: its `context`, and what it is embedded in */
    double time_limit;              /* s; 0 = none. ss_run_late and ss_run_iteration enforce it */
    struct ss_run_state *state;     /* the driver's: clocks, best iterate, history */
} ss_run;

/* To be called once per iteration with the current x and, if available, w = A x + b (else NULL: computing it
 * costs one product, only if the iteration is measured). True: continue. False: return ss_run_status(run).
 * x = NULL: an iteration that need not be measured, according to ss_run_due; limits still apply. */
SS_API bool ss_run_iteration(ss_run *run, const double *x, const double *w);
/* For methods whose iterations cost less than measuring them: should this one be measured? `energy` is their
 * own estimate of the error (J, sum of 1/2 a dx^2 over the changes of a sweep): the driver measures when
 * the stop rule may hold, and always if the history or the best iterate is requested. To be called before
 * ss_run_iteration. */
SS_API bool ss_run_due(ss_run *run, double energy);
/* Is the time up, or does the caller want to stop? For methods whose iterations take long: to be asked in the
 * middle, between sweeps, columns, trials. Once true it stays so; return then, at once, with the best x so
 * far and ss_run_status(run). Costs a look at the clock where there is a time limit, nothing otherwise. */
SS_API bool ss_run_late(ss_run *run);
SS_API ss_status ss_run_status(const ss_run *run);
/* The stop rule of the run, for methods that stop by a measure of their own: .below is 0 if there is none, or
 * if it is one of the caller (ss_stop_test). Rules of the scene are in joules already. */
SS_API ss_stop_rule ss_run_stop(const ss_run *run);
/* This many seconds by ss_clock_seconds do not count, neither as time of the run nor towards its limit: for
 * what is not solving, such as starting another program or turning the problem into its matrices. Not for
 * time in which ss_run_iteration was called: measuring is not counted anyway. */
SS_API void ss_run_forgive(ss_run *run, double seconds);
/* For methods that make decisions: a line of text in printf style, kept if ss_run_options.explain is set. */
SS_API void ss_run_note(ss_run *run, const char *format, ...) SS_PRINTF(2, 3);
/* The same for what went wrong, and kept in any case: `return ss_run_fail(run, "singular at row %d", i)`.
 * Returns SS_FAILED. */
SS_API ss_status ss_run_fail(ss_run *run, const char *format, ...) SS_PRINTF(2, 3);
/* For methods whose impulses grow along y without bound: true if y is a ray (ss_ray), judged from the problem
 * alone. The method should then return SS_RAY. */
SS_API bool ss_run_ray(ss_run *run, const double *y);
/* True if an iteration will be measured anyway, so that a method may provide w. */
SS_API bool ss_run_measures(const ss_run *run);

/* ---- one block -------------------------------------------------------------------------------------- */

/* The problem of one block, with all other unknowns held fixed: the step of every block method. Cones are
 * solved to `tolerance` (relative, of the slip; 1e-14 is usual) in closed form or by a safeguarded Newton
 * method, free blocks by a factorisation in which redundant rows do no harm, bounded rows one after the
 * other. problem->A must be there. Lives in the arena; NULL when memory is short. */
typedef struct ss_local ss_local;
SS_API ss_local *ss_local_create(const ss_problem *problem, const ss_block *block, double tolerance,
                                 ss_arena *arena);
/* Replaces the block's part of x by that solution; w = A x + b at the x given. Nothing else is changed: what
 * the step does to w is A times the change of x. */
SS_API void ss_local_step(ss_local *local, const double *w, double *x);

/* ---- the solver ------------------------------------------------------------------------------------- */

enum ss_solver_traits {
    SS_MATRIX_FREE = 1,      /* works on the bodies form if there is one; otherwise needs A */
    SS_NEEDS_SYMMETRIC = 2,  /* A = A' (positive semidefinite) */
    SS_NEEDS_DIAGONAL = 4,   /* a_ii > 0 for every unknown */
    SS_EXACT = 8,            /* ends on its own at a solution, up to rounding */
    SS_WARM_STARTS = 16,     /* uses x on entry */
    SS_ONE_THREAD = 32,      /* never called by two threads at once: simulations solve islands one by one */
    SS_MANY_BODIES = 64,     /* follows further blocks of the bodies form (ss_bodies_form.further_start) */
    SS_SPINNING_CONES = 128, /* accepts cones of four and six: sliding and spinning in one ball */
};

typedef struct ss_solver {
    int abi;               /* SS_ABI */
    const char *name;      /* "pgs": file, key, argument, HDF5 group, label */
    const char *summary;   /* one line */
    const char *reference; /* paper or book */
    const char *weakness;  /* one line: when it fails */
    unsigned laws;         /* ss_law, or-ed */
    unsigned traits;
    const ss_option *options; /* NULL = none */
    size_t options_size;
    /* x: start on entry (zero when cold), the last iterate on return, always finite. */
    ss_status (*solve)(const ss_problem *problem, const void *options, ss_run *run, double *x);
    /* Reason to reject a problem beyond laws and traits ("accepts at most 60 unknowns"); NULL: accepted. The
     * pointer may be NULL: no further restrictions. */
    const char *(*refusal)(const ss_problem *problem);
    void *context; /* the author's, reached through run->solver */
} ss_solver;

/* Those of the library first, then those that were registered (plugin.h), in that order. */
SS_API int ss_solver_count(void);
SS_API const ss_solver *ss_solver_at(int index);          /* NULL beyond the last */
SS_API const ss_solver *ss_solver_find(const char *name); /* by its name or an alias */
/* The name of the solver that `name` is an alias of, for instance one it had before; otherwise `name`. */
SS_API const char *ss_solver_name(const char *name);
SS_API const char *ss_solver_alias(const char *name,
                                   int index); /* of the solver `name`; NULL beyond the last */
/* Why the solver does not accept the problem; NULL if it does. */
SS_API const char *ss_solver_refusal(const ss_solver *solver, const ss_problem *problem);

/* Why there is no solution: impulses that the laws allow in any amount, that move nothing (A y = 0) and that
 * oppose b (b . y < 0). Bodies are wedged, or joints and contacts are contradictory. */
typedef struct ss_ray {
    double *impulse; /* y, of the energy 1 J counted by the diagonal of A; NULL: none known */
    /* No solution exists. False if y relies on the friction of Coulomb's law: contacts are wedged, and no
     * solution was found. */
    bool is_proof;
} ss_ray;

typedef struct ss_solve_result {
    ss_status status;
    int iterations;
    double seconds;               /* of the solve alone: measuring excluded */
    double gauge[SS_GAUGE_COUNT]; /* of the returned x, recomputed from the problem */
    int kept_iteration;           /* that made what was returned; 0: the start. SS_KEEP_ANSWER: all */
    size_t memory;                /* largest number of bytes of the arena in use by the solver */
    ss_history history;
    ss_ray ray; /* with status SS_RAY, except for pivoting methods that have none */
    /* With `explain`, and always about an x that is not finite and from ss_run_fail: lines, without a final
     * line break; NULL if there are none. */
    char *notes;
    double elapsed; /* s: from the start to the kept iterate, measuring included; what time_limit limits */
} ss_solve_result;
SS_API void ss_solve_result_free(ss_solve_result *result);

/* A stop rule of the caller, for what cannot be measured from the problem alone (metrics). It is evaluated at
 * growing intervals, 2 % of the iterations so far; the time it takes is not counted. */
typedef struct ss_stop_test {
    bool (*holds)(const double *x, void *context);
    void *context;
} ss_stop_test;

/* Sees the iterations of a run as they are made, to plot or to print them, or to end the run: iteration (from
 * 1), x, and every gauge of x. False ends the run with SS_CANCELLED. Every iteration is then measured; the
 * time all this takes is not counted, except by a time limit. Called by the thread that called ss_solve. */
typedef struct ss_watcher {
    bool (*see)(int iteration, const double *x, const double gauge[SS_GAUGE_COUNT], void *context);
    void *context;
} ss_watcher;

/* The request of ss_solve; everything except solver and problem may be omitted. */
typedef struct ss_solve_request {
    const ss_solver *solver;
    const void *solver_options; /* the solver's own struct; NULL: its defaults */
    ss_problem *problem;        /* its matrix is built if the solver needs it */
    const ss_run_options *run;  /* NULL: ss_run_defaults */
    const ss_stop_test *test;   /* instead of run->stop */
    ss_team *team;              /* NULL: one thread */
    const volatile int *cancel; /* non-zero stops soon */
    ss_arena *arena;            /* memory of the solver, restored afterwards; NULL: allocated internally */
    unsigned gauges; /* bits 1u << gauge of those to measure the answer by; 0: all. Others are NaN */
    const ss_watcher *watcher; /* NULL: none */
    /* What ss_run_forgive is given is added here as well, for an observer of the time that the run takes;
     * NULL: not wanted */
    volatile double *forgiven;
} ss_solve_request;

/* Runs a solver on a problem. x: start on entry, the kept iterate on return. A claim of convergence that the
 * stop rule does not confirm becomes "stalled"; an x that is not finite is replaced by the best iterate that
 * was kept, or the start, and the status is SS_FAILED. False only for bad options or when out of memory. */
SS_API bool ss_solve(const ss_solve_request *request, double *x, ss_solve_result *result, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
