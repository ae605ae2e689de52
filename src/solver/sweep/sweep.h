/* solver/sweep/sweep.h - Gauss-Seidel over the blocks of a problem, for every solver that sweeps.
 *
 * The unknowns are cut into cells: a cone is one cell, bounded rows are cells of one, free blocks one cell or
 * one per row. A sweep visits the cells; each visit computes the cell's load from the current x and hands it
 * to the cell's step, which moves the cell's unknowns:
 *
 *     whole load     w_c = b_c + sum over all cells j    A_cj x_j
 *     outer load     q_c = b_c + sum over the others     A_cj x_j  =  w_c - A_cc x_c
 *
 * from block rows of A, or matrix-free from the velocities v = M^-1 J' x, which each visit keeps up to date.
 * Everything lives in an arena.
 *
 *     ss_sweep *sweep = ss_sweep_create(problem, SS_OUTER_CONES, arena);
 *     for each cell: cell->step = ..., cell->data = ...;
 *     ss_sweep_refresh(sweep, x);                       whenever x was changed by others
 *     change = ss_sweep_pass(sweep, SS_SWEEP_FORWARD, x);
 */
#ifndef SS_SOLVER_SWEEP_SWEEP_H
#define SS_SOLVER_SWEEP_SWEEP_H

#include <stickslip/solver.h>

/* r: the cell's unknowns (r[partner - first] is another one), load as agreed. */
typedef void ss_cell_step(void *data, const double *load, double *r);

typedef struct ss_cell {
    ss_cell_step *step; /* for the solver to set */
    void *data;
    int first, size;
    int block;  /* of the problem */
    bool outer; /* the step wants the outer load */
    /* Rows of A: first the columns of cells of three, size x 3 each, then single columns of `size`. Bodies
     * form: per body touched the Jacobian, size x 6, and M^-1 J', size x 6. For the sweep's eyes only. */
    const double *values;
    const int *places; /* first column of each triple, each single; or the bodies */
    int triples, singles, bodies;
    const double *own; /* A_cc, row by row; of cones only */
} ss_cell;

typedef struct ss_sweep {
    const ss_problem *problem;
    ss_cell *cells;
    int cell_count;
    double (*velocity)[6]; /* M^-1 J' x; NULL when A is used */
    double *load, *change; /* of the cell at hand */
    double *last_good;     /* x before the pass */
    int *order;            /* shuffled; not set before it is asked for */
    uint64_t seed;
    ss_random random;
    bool is_shuffled;
    int passes;
} ss_sweep;

enum { SS_CELL_CONE = 5 }; /* unknowns of a cell that is a cone, at most */

enum ss_cell_kinds {
    SS_OUTER_CONES = 1, /* cones get the outer load */
    SS_FREE_BLOCKS = 2, /* a free block is one cell, not one per row */
};

typedef enum ss_sweep_order {
    SS_SWEEP_AUTO, /* batched where that pays; forward; when that runs in circles backward, then shuffled */
    SS_SWEEP_FORWARD,
    SS_SWEEP_BACKWARD,
    SS_SWEEP_SYMMETRIC, /* forward, then backward: two visits of every cell */
    SS_SWEEP_ALTERNATE, /* forward and backward in turn */
    SS_SWEEP_SHUFFLE,   /* a new random order every time */
    SS_SWEEP_BATCHED,   /* coloured.h, where that pays; not by ss_sweep_pass */
} ss_sweep_order;
#define SS_SWEEP_ORDER_OPTION(options, field)                                                       \
    {                                                                                               \
        .name = "sweep", .type = SS_OPTION_CHOICE, .offset = offsetof(options, field),              \
        .default_value = "auto", .choices = "auto|forward|backward|symmetric|alternate|shuffle",    \
        .help = "order in which contacts and rows are visited: auto is forward until that cycles, " \
                "symmetric visits each twice per iteration, shuffle draws a new order every time"   \
    }
/* For solvers that call ss_sweep_batched first. */
#define SS_BATCHED_ORDER_OPTION(options, field)                                                           \
    {                                                                                                     \
        .name = "sweep", .type = SS_OPTION_CHOICE, .offset = offsetof(options, field),                    \
        .default_value = "auto", .choices = "auto|forward|backward|symmetric|alternate|shuffle|batched",  \
        .help = "order in which contacts and rows are visited: batched handles four contacts without a "  \
                "common body at a time, on all threads, if the problem has bodies and enough contacts, "  \
                "and is forward otherwise; auto starts with it and tries others if it cycles; symmetric " \
                "visits each twice per iteration, shuffle draws a new order every time"                   \
    }

/* Steps are left for the caller to set. NULL when out of memory. */
ss_sweep *ss_sweep_create(const ss_problem *problem, unsigned kinds, uint64_t seed, ss_arena *arena);
/* Of a problem with a matrix and without bodies: what the cells read of A, and A_cc of those with the outer
 * load, which is zero and lies in `own` so far. False when out of memory. */
bool ss_sweep_build_rows(ss_sweep *sweep, double *own, ss_arena *arena);
/* A_cc of any cell, size x size, row by row. */
void ss_sweep_own(const ss_sweep *sweep, const ss_cell *cell, double *A);
/* Tells the sweep that x is not what it left behind. */
void ss_sweep_refresh(ss_sweep *sweep, const double *x);
/* One pass. Returns the sum of a_ii dx_i^2, twice an energy: 0 exactly when nothing moved. */
double ss_sweep_pass(ss_sweep *sweep, ss_sweep_order order, double *x);

/* Passes until the run says stop, nothing moves any more (converged), nothing has improved for long (stalled)
 * or numbers overflow (failed, with the last finite x). */
/* passes without progress: for another order, for none */
enum { SS_SWEEP_CIRCLING = 500, SS_SWEEP_STUCK = 5000 };
ss_status ss_sweep_iterate(ss_sweep *sweep, ss_sweep_order order, ss_run *run, double *x);

/* ---- stagnation ------------------------------------------------------------------------------------- */

/* Zeroed at the start. */
typedef struct ss_watch {
    double best;
    int count, best_at;
} ss_watch;
/* True when `measure` has not come below its best by 0.1 % for `patience` calls and for half of all calls:
 * sweeps may crawl, or wander before they settle, and are given the time. */
bool ss_watch_stalled(ss_watch *watch, double measure, int patience);

#endif
