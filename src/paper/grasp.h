/* paper/grasp.h - studies of a grasp: a scene in which a hand lifts something, run with one solver after
 * another, and how long and how well each of them holds it. */
#ifndef SS_PAPER_GRASP_H
#define SS_PAPER_GRASP_H

#include "paper/paper.h"

/* One way to solve the steps. */
typedef struct ss_grasp_method {
    const char *name;        /* "pgs, 100 iterations" */
    const char *settings[8]; /* of the simulation; ends with NULL */
    bool accurate;           /* every step is solved to a tolerance; else it is stopped early */
    bool quick;              /* also at reduced size */
    const char *record;      /* part of a file name: the run is recorded; NULL: not */
} ss_grasp_method;

/* Settings: a number of iterations in every step, or as many as a rule needs. */
#define SS_GRASP_STOPPED(solver, formulation, count)                                                    \
    {                                                                                                   \
        "solver=" solver, "formulation=" formulation, "finisher=none", "iterations=" count, "stop=none" \
    }
#define SS_GRASP_SOLVED(solver, formulation, rule)                                                     \
    {                                                                                                  \
        "solver=" solver, "formulation=" formulation, "finisher=none", "iterations=1000", "stop=" rule \
    }

/* A scene with the figures lift, in_hand_x, in_hand_y, in_hand_z (m) and joint_gap. */
typedef struct ss_grasp {
    const char *scene;
    const char *parameters[4]; /* ends with NULL */
    double h;                  /* s: step of the scene */
    double gripped;            /* s: from here on the object must not move in the hand */
    double still;              /* s: from here on the hand is at rest, and creep is measured */
    double end;                /* s */
} ss_grasp;

typedef struct ss_grasp_outcome {
    bool broke;        /* a step could not be made: bodies flew apart */
    double hold;       /* s after `gripped` until the object has moved by ss_grasp_lost; else until the end */
    bool held;         /* until the end */
    double creep;      /* m/s: speed in the hand while it is at rest; NaN when it was lost before */
    double slip;       /* m: moved in the hand since `gripped`, at the end or when a step failed */
    double joint_gap;  /* m or rad, largest error of a joint in the run */
    double joint_rest; /* the same while the hand is at rest; NaN when it did not come to that */
    double energy;     /* worst relative energy error of a step */
    double seconds;    /* in solvers, per step */
} ss_grasp_outcome;

extern const double ss_grasp_lost; /* m */

/* Steps the scene to the end, records it if the method says so, and adds a line of the slip to `slips` and
 * one of the joint error to `joints` (either may be NULL). */
bool ss_grasp_run(ss_paper_report *report, const ss_grasp *grasp, const ss_grasp_method *method,
                  ss_figure *slips, ss_figure *joints, ss_grasp_outcome *outcome, ss_error *err);
/* Axes of the two figures: time; slip in um and joint error, logarithmic. */
void ss_grasp_axes(ss_figure *slips, ss_figure *joints);
/* One row: name, outcome, hold time, creep, slip, joint errors, energy error, time. */
ss_paper_table *ss_grasp_table(ss_paper_report *report, const char *title);
void ss_grasp_row(ss_paper_table *table, const ss_grasp *grasp, const char *name,
                  const ss_grasp_outcome *outcome);

#endif
