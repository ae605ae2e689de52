/* campaign/worker_tasks.h - the tasks of worker processes: list solvers, open files, inspect problems,
 * solve, time. Whatever touches input files, plug-ins or solvers happens here, in a process of
 * campaign/pool.h that may crash. */
#ifndef SS_CAMPAIGN_WORKER_TASKS_H
#define SS_CAMPAIGN_WORKER_TASKS_H

#include "campaign/campaign.h"
#include "campaign/pool.h"
#include "campaign/wire.h"
#include "session/prover.h"
#include "session/stages.h"

/* A frame or problem of a source. */
typedef struct ss_planned_problem {
    int source;
    int index;              /* of the frame; -1: FCLIB */
    ss_fclib_kind kind;     /* FCLIB */
    bool has_before;        /* its file has a frame before it, of the same simulation */
    bool follows;           /* ... which is the planned problem before it, and can be solved */
    ss_problem_entry entry; /* filled in by its inspection */
} ss_planned_problem;

/* What caller and workers both know. */
typedef struct ss_plan {
    ss_campaign *campaign;
    ss_request request; /* what all methods have in common: rules */
    ss_planned_method *methods;
    ss_planned_problem *problems;
    int method_count, problem_count;
} ss_plan;

typedef enum ss_task_kind {
    SS_TASK_LIST,     /* -> solvers there are */
    SS_TASK_DESCRIBE, /* method -> its options as they are written in the ledger */
    SS_TASK_OPEN,     /* source (in `problem`) -> what is in it */
    SS_TASK_INSPECT,  /* problem -> its entry */
    SS_TASK_RUN,      /* problem, method -> record; plain: without the reference */
    SS_TASK_TIME,     /* problem, method, count -> samples */
    SS_TASK_RECORDED, /* problem, number of a stored answer in `count` -> how many there are; record */
} ss_task_kind;

/* The pool's `begin` and `work`; the context is the plan. */
void *ss_worker_tasks_begin(void *plan, ss_worker *worker);
void ss_worker_tasks_do(void *state, const ss_task *task, ss_text *reply);

/* Every reply begins with this: true, or false with the error that `err` gets. */
bool ss_reply_unpack(ss_unpacker *from, ss_error *err);

/* ---- among the files of it ----------------------------------------------------------------------- */

/* A method's own answer to the last problem of a chain that it has solved. */
typedef struct ss_own_link {
    int problem;       /* counted from 1; 0 = none */
    ss_answer *answer; /* NULL: that run left nothing to start from */
} ss_own_link;

typedef struct ss_worker_state {
    const ss_plan *plan;
    ss_worker *worker;
    ss_plugin_set plugins; /* those that the parent has not loaded */
    ss_error broken;       /* plug-ins that cannot be loaded */

    int source; /* of the open file; -1 = none */
    ss_bpmd *file;

    int problem; /* the one in memory; -1 = none */
    char hash[33];
    ss_frame *frame;    /* BPMD */
    ss_fclib *fclib;    /* FCLIB, and */
    ss_problem *lawful; /* what solvers get of it: it never changes */

    ss_session *session; /* of the method at work; NULL = none */
    int session_method;
    double session_limit;
    bool session_history;

    ss_frame *before;    /* the frame before the one in memory, if a start was asked for; else NULL */
    ss_answer *accurate; /* to it, by the laws of a method; NULL: not looked for, or none */
    int accurate_method; /* -1 = not looked for */
    ss_prover *prover;   /* that finds such answers, for the laws of a method */
    int prover_method;
    ss_own_link *links; /* [methods] with start own; NULL: not used yet */

    bool has_truth; /* of the problem in memory, for */
    ss_step_options truth_step;
    ss_truth truth;
} ss_worker_state;

bool ss_task_list(ss_worker_state *state, ss_text *reply, ss_error *err);
bool ss_task_describe(ss_worker_state *state, int method, ss_text *reply, ss_error *err);
bool ss_task_open(ss_worker_state *state, int source, ss_text *reply, ss_error *err);
bool ss_task_inspect(ss_worker_state *state, int problem, ss_text *reply, ss_error *err);
bool ss_task_run(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err);
bool ss_task_time(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err);
bool ss_task_recorded(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err);

/* Reads the problem, unless it is the one in memory. The message begins with the place of what is wrong. */
bool ss_worker_state_load(ss_worker_state *state, int problem, ss_error *err);
/* The same, and fails when it is not the one that was inspected: the file changed meanwhile. */
bool ss_worker_state_load_again(ss_worker_state *state, int problem, ss_error *err);
/* The session of a method, made when it is not the one at work. history: with the gauges of
 * every iteration. */
ss_session *ss_worker_state_session(ss_worker_state *state, int method, double limit, bool history,
                                    ss_error *err);
/* What the run of a task starts from, for the frame in memory: *guess NULL = from zero, then *why says why
 * where the method does not want that. Runs of the chain that this process has not made are made again. */
bool ss_worker_state_start(ss_worker_state *state, const ss_task *task, ss_answer **guess, const char **why,
                           ss_error *err);
/* With start own, the next run starts from the answer of this one, which the session has run; NULL: that
 * failed. */
bool ss_worker_state_link(ss_worker_state *state, const ss_task *task, ss_session *session, ss_error *err);
/* Forgets what is about the frame before the one in memory. */
void ss_worker_state_forget_before(ss_worker_state *state);
/* Assembles and solves the problem in memory. by_processor: the clock. */
bool ss_worker_state_solve(ss_worker_state *state, ss_session *session, const ss_answer *guess,
                           bool by_processor, ss_error *err);
/* The file of a source, open. */
ss_bpmd *ss_worker_state_file(ss_worker_state *state, int source, ss_error *err);
/* "/simulation_000001/mbs_frame000003", "/fclib_local" */
void ss_worker_state_place(ss_worker_state *state, int problem, char *place, size_t size);

#endif
