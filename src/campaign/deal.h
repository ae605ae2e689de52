/* campaign/deal.h - the runs of a campaign, divided among shards so that all take about the same time.
 *
 * A problem goes to one shard with all its methods, so that a file is read once, and what one run says about
 * another (limits, ladders, the fastest) is known where it is needed. A problem that is dear compared with a
 * shard's share is divided by solvers, more reluctantly where each part would need the same accurate answer.
 * Parts are dealt dearest first, each to the shard with the least so far. Only whole numbers and square roots
 * are used: every rank, on every machine, finds the same. */
#ifndef SS_CAMPAIGN_DEAL_H
#define SS_CAMPAIGN_DEAL_H

#include "campaign/ledger.h"

/* What one shard gets in one piece. */
typedef struct ss_deal_part {
    int problem;
    int group;    /* the methods of a solver: the first of them; -1 = all methods */
    int64_t cost; /* us, predicted */
} ss_deal_part;

typedef struct ss_deal {
    ss_deal_part *parts; /* dearest first */
    int part_count;
    int *group;       /* of a method: the first one with the same solver */
    bool *is_divided; /* of a problem */
    /* The shard of a part, from 0, is shards[place[problem]], + group if the problem is divided. */
    int *place, *shards;
    /* Runs that start from each other stay together, whatever they cost: their shard follows from digests of
     * simulation and method; 0 = the method does not start from its own answers. */
    uint64_t *simulation, *own;
    int shard_count;
} ss_deal;

/* us that a run may take, with all that goes with it, as a rule over all solvers: docs/cluster.md. */
int64_t ss_predicted_cost(const ss_problem_entry *problem, const ss_method_entry *method);

/* Problems with a fault, and methods of stored answers, have no runs. The order of both does not matter. */
bool ss_deal_make(ss_deal *deal, const ss_problem_entry *const *problems, int problem_count,
                  const ss_method_entry *const *methods, int method_count, int shards, ss_error *err);
/* From 0; -1: there is no such run. */
int ss_deal_shard(const ss_deal *deal, int problem, int method);
void ss_deal_free(ss_deal *deal);

#endif
