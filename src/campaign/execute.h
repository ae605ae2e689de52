/* campaign/execute.h - a campaign from files to ledger: what is there already is not done again. */
#ifndef SS_CAMPAIGN_EXECUTE_H
#define SS_CAMPAIGN_EXECUTE_H

#include "campaign/campaign.h"
#include "campaign/ledger.h"

/* Where it stands. */
typedef struct ss_campaign_state {
    const char *doing; /* "looking at problems", "solving", "timing" */
    int done, total;   /* of that */
    int failures;      /* runs of today that crashed, hung, ran out of memory or were broken */
    double seconds;    /* since `doing` began */
} ss_campaign_state;

/* What the caller wants to hear. All but stop may be NULL. */
typedef struct ss_campaign_hooks {
    void *context;
    void (*say)(void *context, const char *line); /* news, a line each */
    /* files that cannot be used, runs that cannot be made */
    void (*complain)(void *context, const char *line);
    void (*progress)(void *context, const ss_campaign_state *state);
    const volatile int *stop; /* not zero: come to an end; may be NULL */
} ss_campaign_hooks;

typedef struct ss_campaign_summary {
    int problems, faulty; /* those that cannot be solved are among them */
    int methods;
    int runs;                       /* of the matrix, or of its shard */
    int before, done;               /* in the ledger before; added to it */
    int outdated;                   /* made by another build: kept, or with redo_outdated made again */
    int samples;                    /* runs that were timed today */
    int recorded, assumed;          /* stored answers among the runs; of them, judged by rules assumed */
    int outcomes[SS_OUTCOME_COUNT]; /* of all runs that are there now */
    bool interrupted;
    int exit_code;       /* 0; of bad files or lack of resources: the worst */
    double solving_time; /* s of wall time in the parallel part */
} ss_campaign_summary;

/* False with err when it cannot be begun, or the ledger cannot be written. The process must
 * have one thread. */
bool ss_campaign_execute(ss_campaign *campaign, ss_ledger *ledger, const ss_campaign_hooks *hooks,
                         ss_campaign_summary *summary, ss_error *err);

#endif
