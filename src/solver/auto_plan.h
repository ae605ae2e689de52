/* solver/auto_plan.h - what `auto` knows before it begins: features of a problem, what methods cost, whom to ask. */
#ifndef SS_SOLVER_AUTO_PLAN_H
#define SS_SOLVER_AUTO_PLAN_H

#include "solver/newton_start.h"

/* Costs are counted in sweeps over all contacts. */
typedef struct ss_auto_features {
    int unknowns, contacts, bodies; /* bodies: 0 when there is a matrix only */
    unsigned laws;
    double sweep;     /* s, predicted for one sweep: for notes only */
    double factorise; /* one step of a Newton or interior point method */
    double split;     /* one iteration of admm, its matrix being factorised */
} ss_auto_features;

/* How a stage is watched. */
typedef enum ss_auto_watch {
    SS_WATCH_RATE,   /* by its rate of convergence: the rest must be cheaper than whoever comes next */
    SS_WATCH_STEPS,  /* Newton steps: six in a row must make the error smaller by `fall` */
    SS_WATCH_NOTHING /* to the end */
} ss_auto_watch;

typedef struct ss_auto_choice {
    const ss_solver *solver;
    const void *options; /* NULL: its defaults */
    ss_auto_watch watch;
    int budget, least; /* iterations: at most, and before it is given up by its rate */
    double fall;
    double per_iteration; /* cost */
    double cost;          /* of solving the problem with it, as a rule */
    bool from_start;      /* it does better from the start than from what others have left */
    bool is_judge;        /* a ray it finds is the end */
} ss_auto_choice;

enum { SS_AUTO_CHOICES = 12 };

typedef struct ss_auto_plan {
    int count;
    ss_auto_choice at[SS_AUTO_CHOICES]; /* in the order in which they are asked */
} ss_auto_plan;

ss_auto_features ss_auto_look(const ss_problem *problem);
/* Both add only solvers that take the problem: first who sweeps, if anybody can here, then the others. */
void ss_auto_plan_sweeps(const ss_problem *problem, ss_auto_plan *plan);
void ss_auto_plan_others(const ss_problem *problem, const ss_auto_features *features, ss_auto_plan *plan);

#endif
