/* paper/peg_run.h - runs of scenes about polyhedral exact geometry, for the studies that compare
 * formulations. */
#ifndef SS_PAPER_PEG_RUN_H
#define SS_PAPER_PEG_RUN_H

#include "paper/paper.h"

typedef struct ss_peg_run {
    const char *scene;
    const char *parameters[4]; /* "size=1.00001"; NULL ends */
    const char *formulation;   /* NULL: the scene's */
    const char *with[3];       /* of the formulation; NULL ends */
    ss_peg_mode peg;
    double h, time;     /* s */
    double margin;      /* m: of contacts; 0 = by speed */
    bool linear;        /* without refinement: the rows of the frame are the law */
    bool near_only;     /* faces that a body is below by more than the margin are no contacts */
    const char *record; /* name of the recording; NULL: none */
    const char *title;  /* of the recording */
} ss_peg_run;

typedef struct ss_peg_outcome {
    double z, speed; /* m, m/s: of the first body at the end, along z and x */
    double impulse;  /* N s: of all steps */
    double first;    /* N s: of the first step that has one */
    double at;       /* s: the end of that step */
    bool broke;      /* it diverged or could not be solved */
} ss_peg_outcome;

/* False only for lack of memory and wrong names. */
bool ss_peg_run_scene(ss_paper_report *report, const ss_peg_run *run, ss_peg_outcome *outcome, ss_error *err);

#endif
