/* solver/core/run_state.h - what the driver knows about a run; for run.c and who runs parts of a problem
 * (nested_run.c). */
#ifndef SS_SOLVER_CORE_RUN_STATE_H
#define SS_SOLVER_CORE_RUN_STATE_H

#include <math.h>

#include "base/text.h"
#include "linalg/active_set_factor.h"
#include "problem/gauge.h"
#include "solver/core/nested_run.h"
#include "solver/core/stop_criterion.h"

/* When is it worth to measure? Measuring an iterate may cost more than making it, so a method that can say
 * for next to nothing how much it still changes is measured only when the stop rule may hold. Zeroed at the
 * start. Ratios are squared values of a gauge over the squared value of the rule, as energies are. */
typedef struct ss_measuring_schedule {
    double ratio, estimate; /* at the last measurement; estimate 0: none yet */
    double offered;         /* what the method said last */
    int measured, forced;   /* iterations: of the last measurement, of the next whatever the method says */
} ss_measuring_schedule;

struct ss_run_state {
    const ss_problem *problem;
    ss_gauge_scale scale;
    ss_stop_criterion stop;
    ss_stop_criterion keep; /* by its excess the best iterate is kept; without a gauge none is */
    bool keep_last;         /* `best` is the last iterate then */
    unsigned mask;          /* gauges measured at every iteration */
    int iterations, max_iterations, next_test;
    int next_look;             /* iteration at which the clock is looked at, measured or not */
    double started, measuring; /* s */
    double deadline;           /* s of the clock, see base/deadline.h */
    double measuring_cost;     /* s of the last measurement; of the start's, before the first */
    double seen, lasted; /* s: the clock at the last look, and an iteration before that; 0 = not known */
    int seen_iteration;  /* at that look */
    /* s: the clock when it was looked at last, for whatever reason, and the time since the look before that;
     * the shorter one of the last two such times */
    double looked, gap, piece;
    bool is_late; /* the method knows, in the middle of an iteration */
    const volatile int *cancel;
    volatile double *forgiven; /* of the caller, s; NULL = none */
    const ss_watcher *watcher; /* of the caller; NULL = none */
    bool is_dismissed;         /* by the watcher */
    ss_status status;
    double *inverse_mass; /* of every unknown, for the energy */
    double *w, *scratch;  /* for methods that do not have w at hand */
    double *measured;     /* the last x whose w was ours, and */
    double measures[SS_GAUGE_COUNT];
    bool has_measured;
    double latest[SS_GAUGE_COUNT]; /* of the last iteration that was measured, with whatever w it came */
    int latest_iteration;
    double *best, *start; /* the best iterate so far, and where it began */
    double best_value;
    int best_iteration;
    ss_measuring_schedule schedule; /* of methods that say how much they change */
    bool record;
    ss_history history;
    int history_capacity;
    bool out_of_memory;
    ss_ray ray;
    bool explain;
    ss_text notes;
    bool is_over; /* by a rule or limit of the run, not of a stage */
    const ss_nested_run *stage;
    int stage_start, stage_end, stage_look; /* iterations of the run */
};

static inline bool ss_run_keeps_best(const struct ss_run_state *state)
{
    return ss_stop_criterion_is_set(&state->keep);
}

/* In the arena; NULL when out of memory. */
void *ss_run_default_options(const ss_solver *solver, ss_arena *arena, ss_error *err);
/* Vectors of the run, not set; false when out of memory. */
bool ss_run_take_memory(struct ss_run_state *state, ss_arena *arena, const ss_problem *problem);
/* Gauges of x, from the problem alone; those that are not in the mask are NaN. */
void ss_run_measure(struct ss_run_state *state, const double *x, unsigned mask, double *values);
/* Adds a row to the history; without memory for it there is none any more. */
void ss_run_record(struct ss_run_state *state, const double *values, double seconds);
/* x is that of the last iteration so far; only where the last one is kept. */
void ss_run_keep_last(struct ss_run_state *state, const double *x);
/* Puts the last or the best iterate into x where that is wanted; returns the iteration it is from. After the
 * deadline nothing is measured any more: then it is the best of those that were. */
int ss_run_keep(struct ss_run_state *state, double *x);
/* How the run ended when the method says so: one that knows that it is late need not say why its
 * factorisation failed. */
ss_status ss_run_outcome(const struct ss_run_state *state, ss_status said);
/* Ends the run as late though some time is left: too little for what comes next. */
void ss_run_give_up(ss_run *run);
/* Is that so for what takes this long? Libraries cannot be interrupted: what will not end in time is not
 * begun. */
bool ss_run_lacks(ss_run *run, double seconds);
/* Is a factorisation there? One that was not begun for lack of time ends the run. */
static inline bool ss_run_has_factor(ss_run *run, ss_linalg_status status)
{
    if (status == SS_LINALG_LATE) ss_run_give_up(run);
    return status == SS_LINALG_OK;
}
/* s that ss_problem_need_matrix takes, about: measured on pyramids of cubes. 0 when there is a matrix. */
static inline double ss_run_matrix_cost(const ss_problem *problem)
{
    return problem->A ? 0.0 : 2e-6 * problem->size;
}
/* The same of ss_scaled_create, which copies the matrix and divides every entry. */
static inline double ss_run_scaling_cost(const ss_problem *problem)
{
    return problem->A ? 4e-9 * ss_sparse_nonzeros(problem->A) : 0.0;
}
/* Of the run: what takes long and is not a solver (factorisations) looks at it. */
double ss_run_deadline(const ss_run *run);
/* A_FF of an active set, if there is time for it. */
static inline bool ss_run_factorise(ss_run *run, ss_active_set_factor *face, const bool *in_face)
{
    return !ss_run_late(run) &&
           ss_run_has_factor(run, ss_active_set_factorise(face, in_face, ss_run_deadline(run)));
}

#endif
