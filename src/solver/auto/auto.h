/* solver/auto/auto.h - the parts of `auto`: what it knows before it begins (features of a problem, what
 * methods cost, which to try), what needs no method, one problem by its plan, many islands. */
#ifndef SS_SOLVER_AUTO_AUTO_H
#define SS_SOLVER_AUTO_AUTO_H

#include "problem/islands.h"

#include <stickslip/solver.h>

/* ---- the plan (auto_plan.c) ------------------------------------------------------------------------- */

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
    int faces, inner_faces;         /* runs of contacts between the same two bodies; if both of them move */
    unsigned laws;
    double meets;  /* how many faces act on one, itself counted; exact where all are of one size */
    bool slippery; /* bodies, and next to no friction anywhere */
    bool rough;    /* bodies, and much friction everywhere */
    bool crowded;  /* bodies, and many contacts on each: redundant ones */
    bool smooth;   /* bodies, which touch in single points: spheres, capsules */
    bool round;    /* bodies, and no normal impulse turns one: spheres */
    bool planar;   /* bodies, and no contact of three rows: none that fits into a batch */
    bool fresh;    /* the start is zero; known when something is planned */
    bool chained;  /* a row between two bodies that both move */
    bool parting;  /* some contacts do not press; known when the others are planned, from an iterate */
    bool slipping; /* all contacts that press slide; known when parting is */
    double sweep;  /* s, predicted for one sweep: for notes only */
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
    /* Watched by its rate it is left when what was spent times what is left, both over the cost of its rival,
     * is more than `patience`; what is left counts as `gloom` at most. `rival`: places in the plan from the
     * one that comes next to the one it is compared with. */
    double patience, gloom;
    int rival;
    /* Cost up to which it is not left where its error has become small and stays, as it does when joints and
     * contacts disagree: there errors fall late, all at once. 0: it is left by its rate. */
    double turn;
    double per_iteration;       /* cost */
    double cost;                /* of solving the problem with it, as a rule */
    bool from_start;            /* it does better from the start than from what others have left */
    const char *settings[2][2]; /* option and value, where that is not the default; NULL: none */
    bool is_judge;              /* a ray it finds is the end */
} ss_auto_choice;

enum { SS_AUTO_CHOICES = 14 };

typedef struct ss_auto_plan {
    bool without_factors; /* those of the bodies' matrix would take too long */
    int count;
    ss_auto_choice at[SS_AUTO_CHOICES]; /* in the order in which they are tried */
} ss_auto_plan;

ss_auto_features ss_auto_look(const ss_problem *problem);
/* What an iterate shows: parting, if more than a twentieth of the contacts do not press, and slipping. */
void ss_auto_look_at(const ss_problem *problem, const double *x, ss_auto_features *features);
/* Multiplications in one factorisation of the bodies' matrix, by its order of elimination; 0 where there are
 * no bodies, or no memory to find out. */
double ss_auto_factor_work(const ss_problem *problem, ss_arena *arena);
/* Both add only solvers that accept the problem: first what needs no plan, as a rule one that sweeps, then
 * the others. */
void ss_auto_plan_first(const ss_problem *problem, const ss_auto_features *features, ss_auto_plan *plan);
void ss_auto_plan_others(const ss_problem *problem, const ss_auto_features *features, ss_auto_plan *plan);
/* A few steps for a problem that is close to the goal already. */
void ss_auto_plan_polish(const ss_problem *problem, const ss_auto_features *features, ss_auto_plan *plan);

/* ---- one problem (auto.c) --------------------------------------------------------------------------- */

/* How a problem was solved, for notes about many of them. */
typedef struct ss_auto_trail {
    bool is_easy; /* the start did, or it was solved at once */
    int count;    /* stages after that */
    const ss_solver *solver[SS_AUTO_CHOICES];
} ss_auto_trail;

/* By its plan. `problem` is that of the run, or a copy of its struct, which may get a matrix here. */
ss_status ss_auto_solve_one(ss_problem *problem, ss_run *run, double *x, ss_auto_trail *trail);

/* ---- without a method (auto_easy.c) --------------------------------------------------------------- */

/* A problem of one contact, or of one row: it has a formula. */
bool ss_auto_is_single(const ss_problem *problem);
/* Its solution; x: a guess on entry. False when out of memory, x as it was. */
bool ss_auto_solve_single(const ss_problem *problem, ss_arena *arena, double *x);
/* May x be the solution? So it is with a start that is not zero, and zero when all contacts part
 * by themselves. */
bool ss_auto_start_may_do(const ss_problem *problem, const double *x);
/* One sweep over contacts with a matrix, from zero, by columns, so that nothing has to be set up. It
 * solves what hardly touches: false as soon as a contact disturbs one before it, or when out of memory;
 * then x is of no use. */
bool ss_auto_can_sweep(const ss_problem *problem, const double *x);
bool ss_auto_sweep(const ss_problem *problem, ss_arena *arena, double *x);

/* ---- planar contacts (auto_planar.c) --------------------------------------------------------------- */

/* Cones of two components with friction, a matrix and no bodies. */
bool ss_auto_is_planar(const ss_problem *problem);
typedef struct ss_auto_planar_end {
    int sweeps;
    bool is_over;  /* the whole run, *status says how; else x is where others go on */
    bool is_exact; /* by the states of its contacts */
} ss_auto_planar_end;
ss_auto_planar_end ss_auto_solve_planar(const ss_problem *problem, ss_run *run, double *x, ss_status *status);

/* ---- many (auto_islands.c) ------------------------------------------------------------------------ */

/* True: that was the end, *status says how. Otherwise x is where the whole has to go on. */
bool ss_auto_solve_islands(const ss_islands *islands, ss_run *run, double *x, ss_status *status);

#endif
