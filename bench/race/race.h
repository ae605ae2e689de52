/* bench/race/race.h - among the files of race_solvers. */
#ifndef SS_BENCH_RACE_H
#define SS_BENCH_RACE_H

#include "base/text.h"
#include "siconos/variants.h"

#include <stickslip/solver.h>
#include <stickslip/stickslip.h>

/* ---- problems ------------------------------------------------------------------------------------- */

/* A cone problem of a file: of FCLIB, or a frame of BPMD by the formulation "cone". */
typedef struct ss_contest {
    char name[64];
    int contacts, size;
    ss_frame *frame; /* BPMD */
    ss_fclib *fclib; /* FCLIB */
} ss_contest;

typedef struct ss_contest_list {
    ss_contest *items;
    int count;
} ss_contest_list;

/* Adds every problem of a file; frames without contacts are left out, and what cannot be raced is said on
 * standard error. False when the file cannot be read. */
bool ss_contests_add(ss_contest_list *list, const char *path, ss_error *err);
void ss_contest_clear(ss_contest *contest);
void ss_contests_free(ss_contest_list *list);
/* A new one every time: what a solver adds to a problem, its matrix for instance, is part of its work. */
ss_problem *ss_contest_problem(const ss_contest *contest, ss_error *err);

/* ---- one heat: an entrant on a problem ------------------------------------------------------------ */

enum { SS_TARGETS = 2, SS_RUNGS = 3 };
extern const double ss_targets[SS_TARGETS]; /* relative natural map */
extern const char *const ss_target_names[SS_TARGETS];

typedef struct ss_entrant {
    const ss_solver *ours; /* NULL: a variant of Siconos */
    int variant;
    char name[40];
} ss_entrant;

/* Why it cannot race here; NULL when it can. */
const char *ss_entrant_refusal(const ss_entrant *entrant, const ss_problem *problem, const ss_cone *global);

typedef struct ss_heat {
    const ss_contest *contest;
    const ss_entrant *entrant;
    ss_siconos_storage storage;
    double limit;  /* s of processor time of one solve */
    double enough; /* s of repeats, after which there are no more */
    int least_repeats;
} ss_heat;

/* What is known after some solves to one tolerance. */
typedef struct ss_rung {
    int target;             /* index: who ran for it; it counts for every target it satisfies */
    double own;             /* tolerance as the entrant was told */
    double error;           /* relative natural map of the answer, by our function */
    double processor, wall; /* s: least of the repeats */
    int iterations, repeats;
} ss_rung;

/* Runs it in this process and writes rungs to a pipe. May crash, hang or be ended by SIGPROF. */
bool ss_heat_run(const ss_heat *heat, int pipe);

/* ---- all heats ------------------------------------------------------------------------------------ */

/* What became of an entrant on a problem for one target. */
typedef struct ss_place {
    double processor, wall; /* s; infinite = not solved */
    double error;           /* of that answer; where there is none, the best that was seen */
    double own;
    int iterations;
    char end; /* 0 = not run, 's'olved, 'i'naccurate, 't'ime limit, 'c'rashed, 'r'efused */
} ss_place;

typedef struct ss_race {
    ss_contest_list contests;
    ss_entrant *entrants; /* auto first, then our other solvers, then Siconos */
    int entrant_count, our_count;
    ss_place *places;               /* [contest][entrant][target] */
    double *limits;                 /* s, per contest */
    double patience;                /* limit of a contest: this many times what auto takes, */
    double least_limit, most_limit; /* s: within these two, but never less than 3 times */
    double final_seconds;           /* of repeats in the final */
    int jobs;
} ss_race;

ss_place *ss_race_place(const ss_race *race, int contest, int entrant, int target);
/* First all entrants on all problems, side by side; then the best of each side once more, alone
 * and with repeats. */
bool ss_race_run(ss_race *race, ss_error *err);

/* The fastest that solved, among entrants [first, last); -1 = none. */
int ss_race_best(const ss_race *race, int contest, int target, int first, int last);
int ss_race_solved(const ss_race *race, int entrant, int target);

/* ---- what comes out ------------------------------------------------------------------------------- */

void ss_race_markdown(const ss_race *race, ss_text *text);
void ss_race_csv(const ss_race *race, ss_text *text);
/* One HTML file; `more` is text that is shown as it is at the end, "" = none. */
bool ss_race_page(const ss_race *race, const char *more, const char *path, ss_error *err);

#endif
