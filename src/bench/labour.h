/* bench/labour.h - what workers of a campaign do. Everything that touches files of strangers, plug-ins or solvers is
 * done here, behind the wall of bench/pool.h. */
#ifndef SS_BENCH_LABOUR_H
#define SS_BENCH_LABOUR_H

#include "bench/campaign.h"
#include "bench/packing.h"
#include "bench/pool.h"
#include "bench/trial.h"

/* A frame or problem of a source. */
typedef struct ss_planned_problem {
    int source;
    int index;              /* of the frame; -1: FCLIB */
    ss_fclib_kind kind;     /* FCLIB */
    ss_problem_entry entry; /* filled in by the survey */
} ss_planned_problem;

/* What caller and workers both know. */
typedef struct ss_plan {
    ss_campaign *campaign;
    ss_run_options run;
    ss_planned_method *methods;
    ss_planned_problem *problems;
    int method_count, problem_count;
} ss_plan;

typedef enum ss_task_kind {
    SS_TASK_LIST,     /* -> solvers there are */
    SS_TASK_DESCRIBE, /* method -> its options as they are written in the ledger */
    SS_TASK_OPEN,     /* source (in `problem`) -> what is in it */
    SS_TASK_SURVEY,   /* problem -> its entry */
    SS_TASK_RUN,      /* problem, method -> record; plain: without the reference */
    SS_TASK_TIME,     /* problem, method, count -> samples */
} ss_task_kind;

/* The pool's `begin` and `work`; the context is the plan. */
void *ss_labour_begin(void *plan, ss_worker *worker);
void ss_labour_work(void *state, const ss_task *task, ss_text *reply);

/* Every reply begins with this: true, or false with an error. */
bool ss_labour_unpack(ss_unpacker *from, ss_error *err);

/* ---- among the files of it ----------------------------------------------------------------------- */

typedef struct ss_labour {
    const ss_plan *plan;
    ss_worker *worker;
    ss_solver_set solvers;
    ss_error broken; /* plug-ins that cannot be loaded */

    int source; /* of the open file; -1 = none */
    ss_bpmd *file;

    int problem; /* the one in memory; -1 = none */
    char hash[33];
    ss_frame *frame;    /* BPMD */
    ss_fclib *fclib;    /* FCLIB, and */
    ss_problem *lawful; /* what solvers get of it: it never changes */

    ss_method *methods; /* prepared when they are needed: solver NULL before that */

    bool has_truth; /* of the problem in memory, for */
    ss_step_options truth_step;
    ss_truth truth;
} ss_labour;

bool ss_labour_list(ss_labour *labour, ss_text *reply, ss_error *err);
bool ss_labour_describe(ss_labour *labour, int method, ss_text *reply, ss_error *err);
bool ss_labour_open(ss_labour *labour, int source, ss_text *reply, ss_error *err);
bool ss_labour_survey(ss_labour *labour, int problem, ss_text *reply, ss_error *err);
bool ss_labour_run(ss_labour *labour, const ss_task *task, ss_text *reply, ss_error *err);
bool ss_labour_time(ss_labour *labour, const ss_task *task, ss_text *reply, ss_error *err);

/* Reads the problem, unless it is the one in memory. The message begins with the place of what is wrong. */
bool ss_labour_load(ss_labour *labour, int problem, ss_error *err);
const ss_method *ss_labour_method(ss_labour *labour, int method, ss_error *err);
/* The file of a source, open. */
ss_bpmd *ss_labour_file(ss_labour *labour, int source, ss_error *err);
/* "/simulation_000001/mbs_frame000003", "/fclib_local" */
void ss_labour_place(ss_labour *labour, int problem, char *place, size_t size);

#endif
