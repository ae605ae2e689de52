/* solver/auto/auto_plan.h - what `auto` knows before it begins: features of a problem, what methods
 * cost, whom to ask. */
#ifndef SS_SOLVER_AUTO_AUTO_PLAN_H
#define SS_SOLVER_AUTO_AUTO_PLAN_H

#include "solver/newton/newton.h"

/* Kinds of problems that want different plans; those with cones first. */
typedef enum ss_auto_kind {
    SS_AUTO_FEW,    /* unknowns: matrices are full, and Newton steps cost next to nothing */
    SS_AUTO_MATRIX, /* without bodies */
    SS_AUTO_JOINTS, /* cones and free rows */
    /* boxes on boxes: several contacts in every face, or many per body; with a matrix or bodies */
    SS_AUTO_STRUCTURE,
    SS_AUTO_LOOSE,
    SS_AUTO_BOUNDS, /* no cones */
    SS_AUTO_KINDS
} ss_auto_kind;

/* Costs are counted in sweeps over all contacts. */
typedef struct ss_auto_features {
    ss_auto_kind kind;
    int unknowns, contacts, bodies; /* bodies: 0 when there is a matrix only */
    int faces;                      /* runs of contacts between the same two bodies */
    unsigned laws;
    double sweep; /* s, predicted for one sweep: for notes only */
} ss_auto_features;

/* How a stage is watched. */
typedef enum ss_auto_watch {
    SS_WATCH_RATE,  /* by its rate of convergence: the rest must be cheaper than the method that comes next */
    SS_WATCH_STEPS, /* Newton steps: six in a row must make the error smaller by `fall` */
    SS_WATCH_NOTHING /* to the end */
} ss_auto_watch;

typedef struct ss_auto_choice {
    const ss_solver *solver;
    ss_auto_watch watch;
    int budget, least; /* iterations: at most, and before it is given up by its rate */
    double fall;
    /* Watched by its rate it is left when what was spent times what is left, both over the cost of the
     * one that comes next, is more than this. */
    double patience;
    double per_iteration; /* cost */
    double cost;          /* of solving the problem with it, as a rule */
    bool from_start;      /* it does better from the start than from what others have left */
    /* of its own: it has an option for their number, and goes on from where sweeps ended */
    bool without_sweeps;
    bool is_judge; /* a ray it finds is the end */
} ss_auto_choice;

enum { SS_AUTO_CHOICES = 12 };

typedef struct ss_auto_plan {
    int count;
    ss_auto_choice at[SS_AUTO_CHOICES]; /* in the order in which they are asked */
} ss_auto_plan;

ss_auto_features ss_auto_look(const ss_problem *problem);
/* Both add only solvers that take the problem: first who sweeps, if anybody can here and it may pay,
 * then the others. */
void ss_auto_plan_sweeps(const ss_problem *problem, const ss_auto_features *features, ss_auto_plan *plan);
void ss_auto_plan_others(const ss_problem *problem, const ss_auto_features *features, ss_auto_plan *plan);
/* A few steps for who is close to the goal already. */
void ss_auto_plan_polish(const ss_problem *problem, const ss_auto_features *features, ss_auto_plan *plan);

#endif
