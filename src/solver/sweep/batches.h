/* solver/sweep/batches.h - Gauss-Seidel on batches of four contacts that share no body (eight in single
 * precision), for the solver `batched-nncg` and for nsgs, pgs and psor in their order `batched`.
 *
 * Everything happens in velocities scaled by the square root of the mass: with M^-1 = L L' and v = L y the
 * scaled Jacobian J L serves twice,
 *
 *     w = J v + C x + b = (J L) y + C x + b          y += (J L)' dx
 *
 * so that a contact is 29 numbers (its directions, two angular parts, two masses) instead of 72. Four
 * contacts lie side by side in a batch, one per lane. A batch is complete in itself but for the bodies' y.
 *
 *     contacts under Coulomb's law   -> batches      batch_plan.c, batches.c, kernel.h
 *     many of them                   -> tasks that may run at the same time, batch_plan.c
 *     everything else                -> cells        batch_cells.c
 */
#ifndef SS_SOLVER_SWEEP_BATCHES_H
#define SS_SOLVER_SWEEP_BATCHES_H

#include <math.h>

#include "base/task_graph.h"
#include "base/team.h"
#include "linalg/conjugate.h"
#include "problem/levers.h"
#include "solver/sweep/batched.h"

/* y of a body, linear and angular, in a cache line of its own */
typedef double ss_scaled_twist[8];

/* ---- batches ---------------------------------------------------------------------------------------- */

enum { SS_LANES = 4 };
#define SS_NO_FRICTION 1e-30 /* a force of so little of the normal one is none */

typedef struct ss_batch {
    _Alignas(64) int body[2][SS_LANES]; /* rows of y; the world has one of zeros, which no impulse changes */
    double direction[3][3][SS_LANES];   /* linear part of J */
    double turn[2][3][3][SS_LANES];     /* angular part of J L, of both bodies */
    double root[2][SS_LANES];           /* sqrt(1/m) */
    double load[3][SS_LANES];           /* b */
    /* Exact: A_cc by elimination of the normal row: 1 / A_NN, A_TN / A_NN, A~ = A_TT - A_TN A_NT / A_NN.
     * Projected: steps of the normal row and of the tangents, A_TN and A_TT. */
    double normal[SS_LANES], skew[2][SS_LANES];
    double tangent[3][SS_LANES], inverse[SS_LANES]; /* A~ as 11, 12, 22; 1 / det A~ or the step */
    double mu[SS_LANES];
    double slip[SS_LANES]; /* s of the last slip, velocity per impulse */
} ss_batch;

typedef struct ss_batches {
    ss_batch *items;
    int count;
    int (*block)[SS_LANES];            /* of the problem; -1: an empty lane; two for a batch of eight */
    double (*r)[3][SS_LANES];          /* impulses */
    double (*compliance)[3][SS_LANES]; /* NULL: none anywhere */
    /* For a sweep that begins every visit with a step along a direction: impulses before the sweep that made
     * r, the direction, and its weight. NULL: visits begin with r. */
    double (*last)[3][SS_LANES], (*direction)[3][SS_LANES], beta;
    ss_scaled_twist *y;
    double slip_tolerance; /* relative */
    bool is_long;          /* more than a cache holds: what comes next is asked for in time */
} ss_batches;

/* Where the numbers of a batch come from; empty lanes point to zeros. */
typedef struct ss_batch_source {
    const double *row[SS_LANES];     /* Jacobian, 3 x 12 */
    const double *root[2][SS_LANES]; /* ss_mass_root of both bodies */
    double compliance[3][SS_LANES];
    ss_batch_method method;
    double relaxation; /* of projected steps */
} ss_batch_source;

/* The same source for every machine, so that all give the same bits. */
typedef struct ss_batch_kernel {
    /* Rows and A_cc; mu is there already. Returns the lanes that a batch cannot take, as bits. */
    unsigned (*fill)(const ss_batch_source *from, ss_batch *batch);
    /* y += (J L)' r */
    void (*push)(ss_batches *batches, int begin, int end);
    /* Returns an estimate of the energy that the changes carry: sum of 1/2 a dr^2. */
    double (*sweep)(ss_batches *batches, int begin, int end, bool backward);
    double (*sweep_projected)(ss_batches *batches, int begin, int end, bool backward);
    /* w = A x + b of one batch */
    void (*velocities)(const ss_batches *batches, int k, double w[3][SS_LANES]);
    /* (point - last) . direction; count is a multiple of SS_LANES */
    double (*overlap)(size_t count, const double *point, const double *last, const double *direction);
    /* direction <- beta direction + (point - last),  point <- last <- point + beta direction (as it was) */
    void (*extrapolate)(double beta, size_t count, double *point, double *last, double *direction);
} ss_batch_kernel;
extern const ss_batch_kernel ss_batch_kernel_portable;
#ifdef __x86_64__
extern const ss_batch_kernel ss_batch_kernel_avx2;
#endif

/* ---- batches in single precision ---------------------------------------------------------------------- */

/* Eight contacts, in numbers without units, none of which is near the ends of the range of a float:
 * velocities by the largest b, V; J L by the largest sqrt(1/m), R; and every contact's impulses by V / a,
 * with a (a power of two) near its A_NN, so that A_cc / a is near one. */
enum { SS_SINGLE_LANES = 8 };
#define SS_SINGLE_LEAST 1e-9f /* a contact that would be pushed by less than this is open */
typedef float ss_single_twist[8];

typedef struct ss_single_batch { /* as ss_batch */
    _Alignas(64) int body[2][SS_SINGLE_LANES];
    float direction[3][3][SS_SINGLE_LANES];
    float turn[2][3][3][SS_SINGLE_LANES];
    float root[2][SS_SINGLE_LANES];
    float load[3][SS_SINGLE_LANES];
    float normal[SS_SINGLE_LANES], skew[2][SS_SINGLE_LANES];
    float tangent[3][SS_SINGLE_LANES], inverse[SS_SINGLE_LANES];
    float mu[SS_SINGLE_LANES];
    float slip[SS_SINGLE_LANES];
    float unit[SS_SINGLE_LANES]; /* R^2 / a */
} ss_single_batch;

typedef struct ss_single_batches {
    ss_single_batch *items;
    int count;
    float (*r)[3][SS_SINGLE_LANES];
    float (*compliance)[3][SS_SINGLE_LANES]; /* NULL: none anywhere */
    float (*last)[3][SS_SINGLE_LANES], (*direction)[3][SS_SINGLE_LANES];
    double beta;
    ss_single_twist *y;
    double slip_tolerance;
    bool is_long;
    double velocity, root; /* V, R */
} ss_single_batches;

typedef struct ss_single_kernel { /* as ss_batch_kernel */
    void (*push)(ss_single_batches *batches, int begin, int end);
    double (*sweep)(ss_single_batches *batches, int begin, int end, bool backward);
    double (*overlap)(size_t count, const float *point, const float *last, const float *direction);
    /* count doubles, each of two floats */
    void (*extrapolate)(double beta, size_t count, double *point, double *last, double *direction);
} ss_single_kernel;
extern const ss_single_kernel ss_single_kernel_portable;
#ifdef __x86_64__
extern const ss_single_kernel ss_single_kernel_avx2;
#endif

/* ---- tasks ------------------------------------------------------------------------------------------ */

/* Contacts that one worker sweeps in order, as batches; in a cache line of its own. */
typedef struct ss_batch_task {
    _Alignas(64) int contact_begin, contact_end;
    int begin, end;          /* batches */
    int opens[2], closes[2]; /* parts whose bodies it touches first, and last; -1: none */
    double change, overlap;  /* in the last sweep */
    double speed;            /* sum of |w| that was found last */
} ss_batch_task;

typedef struct ss_contact_plan {
    int *contact, contact_count; /* blocks of the problem, task by task */
    ss_batch_task *tasks;        /* first the parts, then what lies between two of them, then ends of parts */
    int task_count, part_count;
    ss_task_graph graph; /* tasks that share a body, one after the other */
    int *place;          /* row of y of every body, so that neighbours are near; NULL: as they are */
    int *part_row;       /* the first row of y of every part, and the end of the last */
    int crossings;       /* contacts between the parts of one half of the work and of the other */
} ss_contact_plan;

/* Contacts are there; the rest is made. False when out of memory. */
bool ss_contact_plan_make(const ss_problem *problem, ss_arena *arena, ss_contact_plan *plan);

/* ---- the whole problem ------------------------------------------------------------------------------ */

typedef struct ss_batched_method {
    const ss_batch_kernel *kernel; /* NULL: the fastest this machine has */
    ss_batch_method contact;
    double relaxation; /* of projected steps; rows of their own then, too */
    bool single;       /* sweeps in single precision; not with projected steps */
} ss_batched_method;

typedef struct ss_batch_cell ss_batch_cell;

/* What the sweeps work on, as parts of ss_conjugate: impulses of batches and of cells, and the velocities y
 * they make. */
enum { SS_BATCHED_IMPULSES, SS_BATCHED_CELLS, SS_BATCHED_VELOCITIES };

typedef struct ss_batched {
    const ss_problem *problem;
    const ss_batch_kernel *kernel;
    ss_batched_method method;
    ss_team *team;
    ss_mass_root *roots; /* of the bodies, then zeros for the world */
    ss_scaled_twist *y;  /* of the bodies, then zeros for the world as every task sees it */
    ss_contact_plan plan;
    ss_batches batches;
    ss_single_batches *single; /* NULL: numbers are doubles */
    const ss_single_kernel *single_kernel;
    bool *is_batched; /* per block */
    ss_batch_cell *cells;
    int cell_count;
    int sweeps; /* so far */
    /* Directions that a sweep follows by itself, where the numbers are in a cache: a batch extrapolates its
     * impulses when it is visited, the first task of a part the velocities of its bodies, and the last one
     * finds their overlap. NULL: none, or all at once between sweeps, as cells need it. */
    ss_conjugate *conjugate;
} ss_batched;

/* ns of a contact in the tasks, about. */
enum { SS_BATCH_STORE = 3, SS_BATCH_PUSH = 5, SS_BATCH_SWEEP = 14, SS_BATCH_ASSIGN = 30, SS_BATCH_FILL = 60 };
/* Who does them. One task is for one thread: no one has to wake for it. The bodies of contacts between two
 * halves change cores; with more threads there are more such borders. */
static inline ss_team *ss_batched_helpers(const ss_batched *batched, int each)
{
    const ss_contact_plan *plan = &batched->plan;
    if (plan->task_count < 2) return NULL;
    double borders = ss_team_size(batched->team) - 1.0;
    return ss_team_for(batched->team, (double)plan->contact_count * each, 0.0, borders * plan->crossings);
}

/* The shorter one of a length and of distance / speed, which is divided only where it is that, or all but
 * that: rounded, a product may be the distance where the quotient is shorter by a last digit. So the least of
 * many is the same in any order. speed > 0. */
static inline double ss_batched_shorter(double length, double distance, double speed)
{
    return distance <= length * speed ? fmin(length, distance / speed) : length;
}

/* Can all of it be said in floats, and are there no cells? */
bool ss_single_suits(const ss_batched *batched);
/* The energy in the rounding of the impulses, as a sweep counts it. */
double ss_single_rounding(const ss_batched *batched);
/* Contacts to batches: tasks, and blocks of batches; nothing is in them yet. False when out of memory. */
bool ss_batched_assign(ss_batched *batched, ss_arena *arena);
/* Batches and cells from the problem, impulses and y from x. False when out of memory. */
bool ss_batched_create(const ss_problem *problem, const ss_batched_method *method, const double *x,
                       ss_team *team, ss_arena *arena, ss_batched *batched);
/* Why a problem cannot be swept like this; NULL when it can. */
const char *ss_batched_refusal(const ss_problem *problem);
/* y from the impulses, without what rounding has added. */
void ss_batched_refresh(ss_batched *batched, const double *x);
/* Makes projected steps longer by this factor. */
void ss_batched_relax(ss_batched *batched, double factor);
/* One pass; x is read and written for cells only. Returns the kernel's estimate. */
double ss_batched_sweep(ss_batched *batched, bool backward, double *x);
/* The impulses of the batches to x. */
void ss_batched_store(const ss_batched *batched, double *x);
/* Is y? Then so is w. */
bool ss_batched_is_finite(const ss_batched *batched);
/* w = A x + b from y; false when it is not finite. */
bool ss_batched_velocities(const ss_batched *batched, const double *x, double *w);

/* Sweeps until the run says stop, nothing moves any more (converged), nothing has improved for `patience`
 * sweeps and half of them all (stalled), or numbers overflow (failed, with the last finite x). */
typedef enum ss_batched_order {
    SS_BATCHED_FORWARD,
    SS_BATCHED_ALTERNATE,
    SS_BATCHED_SYMMETRIC
} ss_batched_order;
typedef struct ss_batched_loop {
    ss_batched_order order;
    bool accelerate;
    int patience;
    double relaxation; /* further factor of projected steps after the first sweeps; 0: none */
} ss_batched_loop;
ss_status ss_batched_iterate(ss_batched *batched, const ss_batched_loop *how, ss_run *run, double *x);

/* Row of y of a body that is not the world. */
static inline int ss_batched_row(const ss_batched *batched, int body)
{
    return batched->plan.place ? batched->plan.place[body] : body;
}

/* ---- cells ------------------------------------------------------------------------------------------ */

bool ss_batch_cells_create(ss_batched *batched, ss_arena *arena);
void ss_batch_cells_push(ss_batched *batched, const double *x);
double ss_batch_cells_sweep(ss_batched *batched, bool backward, double *x);
void ss_batch_cells_velocities(const ss_batched *batched, const double *x, double *w);

#endif
