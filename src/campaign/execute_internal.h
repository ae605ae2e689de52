/* campaign/execute_internal.h - what the files execute*.c share: the state of a campaign and its stages. */
#ifndef SS_CAMPAIGN_EXECUTE_INTERNAL_H
#define SS_CAMPAIGN_EXECUTE_INTERNAL_H

#include "campaign/claim.h"
#include "campaign/deal.h"
#include "campaign/execute.h"
#include "campaign/queue.h"
#include "campaign/worker_tasks.h"

typedef struct ss_execution {
    ss_plan plan;
    ss_campaign *campaign;
    ss_ledger *ledger;
    const ss_campaign_hooks *hooks;
    ss_campaign_summary *summary;
    ss_machine machine;
    ss_catalogue catalogue;
    char (*plugin_digests)[33];
    ss_limit_rule limit_rule;
    bool sets_limits;       /* while solving: those runs are made that set the limits of the others, */
    const char *rung;       /* ... and those with this stop rule */
    bool more_than_solvers; /* plug-ins bring formulations or metrics, too */
    ss_deal deal;           /* of the runs among the shards; not made when there is one */
    ss_claim *claim;        /* has runs handed out instead; NULL = does not */
    int64_t *handed;        /* numbers of these runs, problem by problem; -1 = not handed to us */
    ss_queue queue;         /* of the stage that is going on */
    /* While solving, per chain of runs that start from each other: the first problem whose answer leads to
     * the next one. Chain i is the group problem_count + i of the queue. */
    int *chain_begin;
    int chain_count;
    int complaints; /* told so far */

    const char *doing;
    int done, total, failures;
    double began;

    struct ss_source_contents *contents; /* per source, while they are opened */
    bool *opened;
} ss_execution;

/* One stage: everything in the queue, by this number of workers. */
typedef struct ss_campaign_stage {
    const char *doing;
    int workers, core;

    bool (*done)(void *execution, const ss_task *task, const ss_ending *ending, const char *reply,
                 size_t size, ss_error *err);
    bool is_part; /* of several, for which the caller has set done, total and began */
} ss_campaign_stage;
bool ss_execution_stage(ss_execution *execution, const ss_campaign_stage *stage, ss_error *err);

/* With a solver whose limit this is, s; none without a limit. */
ss_patience ss_execution_patience(const ss_execution *execution, double limit);
/* A task of a chain, as it goes out: where the chain begins is known only now. */
void ss_execution_begin_chain(const ss_execution *execution, ss_task *task);
/* Is the method one of those that set the limits of the others? */
bool ss_execution_sets_limits(const ss_execution *execution, const ss_planned_method *method);

/* What the ledger has of a run on this machine; with redo_outdated, one of another build is as good as none,
 * and only `outdated` says that it is there. */
bool ss_execution_know(const ss_execution *execution, int64_t problem_id, int64_t method_id,
                       ss_known_run *known, ss_error *err);
/* The run into the ledger, with machine and build; with redo_outdated it replaces one of another build. */
bool ss_execution_add(const ss_execution *execution, ss_run_entry *run, ss_error *err);
/* Warns of this number of runs that another build made, if there are any. */
void ss_execution_warn_of_builds(const ss_execution *execution, int count);

/* Has the problem of the ledger with this id been seen before? `seen` has a byte for each. */
bool ss_execution_see(ss_text *seen, int64_t id, bool *twice, ss_error *err);

bool ss_execution_interrupted(const ss_execution *execution);
void ss_execution_say(const ss_execution *execution, const char *format, ...) SS_PRINTF(2, 3);
/* Notes the worst exit code; says no more than ten of them. */
void ss_execution_complain(ss_execution *execution, ss_error_code code, const char *format, ...)
    SS_PRINTF(3, 4);

/* The stages. */
bool ss_execution_find_methods(ss_execution *execution, ss_error *err);
bool ss_execution_find_problems(ss_execution *execution, ss_error *err);
bool ss_execution_solve(ss_execution *execution, ss_error *err);
/* ... by having runs handed out; the first rank does so. */
bool ss_execution_claim(ss_execution *execution, ss_error *err);
/* Solves what is planned and belongs to this shard. */
bool ss_execution_solve_planned(ss_execution *execution, ss_error *err);
bool ss_execution_judge_recorded(ss_execution *execution, ss_error *err);
bool ss_execution_time(ss_execution *execution, ss_error *err);

#endif
