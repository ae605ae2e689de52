/* cli/solve/solve.h - the parts of `stickslip solve`. */
#ifndef SS_CLI_SOLVE_SOLVE_H
#define SS_CLI_SOLVE_SOLVE_H

#include "campaign/campaign.h"
#include "cli/terminal/diagnose.h"
#include "cli/extensions.h"
#include "cli/input.h"
#include "cli/terminal/table.h"
#include "session/stages.h"

#include <stdio.h>

enum { SS_DIAGNOSED_AT_MOST = 5 }; /* problems, where they are told one after the other as text */

typedef struct ss_solve_options {
    ss_common_options common;
    const char *frame; /* path, number, range or "all"; NULL = all */
    const char *trace, *output;
    ss_option_list set, with;
    ss_extension_options extensions;
    bool warm, every_iteration, diagnose, json;
    int problem; /* 0 = the only one, else 1 + ss_fclib_kind */
    double tolerance;
    ss_request request;
    ss_input_options source;
} ss_solve_options;

/* What came out for one frame or problem. */
typedef struct ss_solved {
    const char *place; /* "/simulation_000001/mbs_frame000003", "/fclib_local" */
    int index;         /* of the frame; -1 for a problem of FCLIB */
    const char *formulation;
    const ss_result *result; /* of the session */
} ss_solved;

typedef struct ss_solving {
    const ss_command *command;
    const ss_solve_options *options;
    const char *in;
    const char *stop; /* the rule of --stop, or of --tol */
    char tolerance_rule[SS_TOLERANCE_RULE];
    ss_session *session;
    FILE *trace;
    bool begun;          /* something has been printed, so the end must be, too */
    const char *thing;   /* "frame" or "problem" */
    const char *refusal; /* of the first one that the solver does not take */
    ss_json json;        /* used with --json: the result, written as it comes about */
    ss_table table;      /* otherwise */
    ss_table details;    /* every metric of the first result: shown when it is the only one */
    ss_tally tally;      /* losses, repairs, warnings over all frames */
    ss_refused refused;
    int count, count_of[SS_FAILED + 1]; /* solved, by status */
    long long iterations;               /* of all */
    double seconds;
    double worst_map; /* largest natural map, and where */
    char worst_place[256];
    ss_text rays;       /* why some have no solution: a line each */
    int wedged, proved; /* of them, without and with a proof */
    ss_text wrong;      /* what is wrong with problems that were not solved: for standard error */
    int diagnosed;      /* how many of them were looked at */
    bool is_diagnosed;
    ss_diagnosis diagnosis; /* of the last one, when is_diagnosed */
    ss_text notes;          /* what the solver decided */
} ss_solving;

/* ---- one run: solve_run.c, solve_fence.c --------------------------------------------------------- */

/* Solves and judges: the frame, from the guess if there is one; or the problem of FCLIB, from x
 * if it is there. */
bool ss_solving_run_frame(ss_solving *solving, const ss_frame *frame, const ss_answer *guess,
                          ss_solved *solved, ss_error *err);
bool ss_solving_run_problem(ss_solving *solving, ss_problem *problem, const double *x, ss_solved *solved,
                            ss_error *err);
/* The run of a session that has its frame or problem, in a process of its own, which is ended when it has not
 * stopped after ss_solving_patience: then the answer is the start, and the status "time limit". */
bool ss_solving_run_fenced(ss_session *session, bool *is_ended, ss_error *err);
double ss_solving_patience(double time_limit); /* s */
/* Is there a rule that a run has to reach, besides its limits? */
bool ss_solving_has_rule(const ss_solving *solving);

/* What is wrong with a problem that was not solved, as far as the user wants to know. */
bool ss_solving_diagnose(ss_solving *solving, const ss_frame *frame, const ss_solved *solved, ss_error *err);

/* ---- a file: solve_frames.c, solve_problem.c ----------------------------------------------------- */

/* False with err when the run has to stop; what is wrong with one frame only is refused, and
 * the run goes on. */
bool ss_solve_frames(ss_solving *solving, ss_error *err);
bool ss_solve_problem(ss_solving *solving, ss_error *err);

/* ---- after: solve_print.c ------------------------------------------------------------------------ */

/* format: "bpmd" or "fclib" */
void ss_solving_begin(ss_solving *solving, const char *format);
/* Counts, prints and traces one result. */
void ss_solving_tell(ss_solving *solving, const ss_solved *solved);
void ss_solving_end(ss_solving *solving);
/* 0, 1 when something was not solved to the stop rule, or that of what was refused. */
int ss_solving_exit_code(const ss_solving *solving);

#endif
