/* How the runs of a campaign are dealt to shards: all of them, each once, about the same for all, and the
 * same for whoever deals. */
#include "kit.h"

#include "campaign/deal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS = 300, SOLVERS = 6, METHODS = 2 * SOLVERS };

typedef struct campaign {
    ss_problem_entry problems[PROBLEMS];
    ss_method_entry methods[METHODS];
    const ss_problem_entry *p[PROBLEMS];
    const ss_method_entry *m[METHODS];
} campaign;

/* Sizes from one contact to thousands, most of them small, as in collections. */
static campaign *make_campaign(char *limit_by)
{
    static char solvers[SOLVERS][8];
    campaign *c = calloc(1, sizeof *c);
    ss_random random = ss_random_start(7, 0);
    for (int i = 0; c && i < PROBLEMS; i++) {
        double size = ss_random_real(&random);
        c->problems[i] = (ss_problem_entry){.place = (char *)(uintptr_t) "/frame",
                                            .contacts = (int)(1 + 3000 * size * size * size * size)};
        snprintf(c->problems[i].hash, sizeof c->problems[i].hash, "%032d", i);
        c->p[i] = &c->problems[i];
    }
    for (int i = 0; c && i < METHODS; i++) {
        snprintf(solvers[i % SOLVERS], sizeof solvers[0], "s%d", i % SOLVERS);
        c->methods[i] =
            (ss_method_entry){.solver = solvers[i % SOLVERS],
                              .stop = (char *)(uintptr_t)(i < SOLVERS ? "energy<1e-4" : "energy<1e-8"),
                              .time_limit = 10.0,
                              .limit_by = limit_by};
        c->m[i] = &c->methods[i];
    }
    return c;
}

static void hands(const campaign *c, const ss_deal *deal, int shards, int64_t *cost)
{
    memset(cost, 0, (size_t)shards * sizeof *cost);
    for (int p = 0; p < PROBLEMS; p++) {
        for (int m = 0; m < METHODS; m++) {
            int shard = ss_deal_shard(deal, p, m);
            ENSURE(shard >= 0 && shard < shards);
            cost[shard] += ss_predicted_cost(c->p[p], c->m[m]);
        }
    }
}

TEST(every_run_belongs_to_one_shard_and_no_shard_has_much_more_than_another)
{
    campaign *c = make_campaign(NULL);
    for (int shards = 1; shards <= 256; shards *= 4) {
        ss_deal deal;
        int64_t cost[256], most = 0, total = 0;
        ENSURE(ss_deal_make(&deal, c->p, PROBLEMS, c->m, METHODS, shards, NULL));
        hands(c, &deal, shards, cost);
        for (int i = 0; i < shards; i++) total += cost[i], most = cost[i] > most ? cost[i] : most;
        // The last part to be dealt is at most 1/64 of a share, or the runs of a solver on a problem.
        int64_t dearest = 2 * ss_predicted_cost(&(ss_problem_entry){.contacts = 3001}, c->m[0]);
        int64_t slack = total / shards / 64 > dearest ? total / shards / 64 : dearest;
        ENSURE(most <= total / shards + slack);
        ss_deal_free(&deal);
    }
    free(c);
}

TEST(the_order_in_which_problems_and_methods_come_does_not_matter)
{
    campaign *c = make_campaign(NULL);
    const ss_problem_entry *p[PROBLEMS];
    const ss_method_entry *m[METHODS];
    for (int i = 0; i < PROBLEMS; i++) p[i] = c->p[(i * 7 + 11) % PROBLEMS];
    for (int i = 0; i < METHODS; i++) m[i] = c->m[METHODS - 1 - i];
    ss_deal deal, other;
    ENSURE(ss_deal_make(&deal, c->p, PROBLEMS, c->m, METHODS, 24, NULL));
    ENSURE(ss_deal_make(&other, p, PROBLEMS, m, METHODS, 24, NULL));
    for (int i = 0; i < PROBLEMS; i++)
        for (int k = 0; k < METHODS; k++)
            ENSURE_INT(ss_deal_shard(&other, i, k),
                       ss_deal_shard(&deal, (i * 7 + 11) % PROBLEMS, METHODS - 1 - k));
    ss_deal_free(&deal);
    ss_deal_free(&other);
    free(c);
}

TEST(what_belongs_together_stays_together)
{
    campaign *c = make_campaign(NULL);
    ss_deal deal;
    int divided = 0;
    ENSURE(ss_deal_make(&deal, c->p, PROBLEMS, c->m, METHODS, 4, NULL));
    for (int p = 0; p < PROBLEMS; p++) {
        divided += deal.is_divided[p];
        for (int m = 0; m < SOLVERS; m++) { // both rungs of a ladder; and a whole problem, if it is not dear
            ENSURE_INT(ss_deal_shard(&deal, p, m), ss_deal_shard(&deal, p, m + SOLVERS));
            if (!deal.is_divided[p]) ENSURE_INT(ss_deal_shard(&deal, p, m), ss_deal_shard(&deal, p, 0));
        }
    }
    ENSURE(divided > 0 && divided < PROBLEMS / 2);
    ss_deal_free(&deal);
    free(c);

    // A limit that follows another solver needs that solver's run in the same ledger.
    char rule[] = "auto:30:0.1:1";
    c = make_campaign(rule);
    ENSURE(ss_deal_make(&deal, c->p, PROBLEMS, c->m, METHODS, 32, NULL));
    for (int p = 0; p < PROBLEMS; p++) ENSURE(!deal.is_divided[p]);
    ss_deal_free(&deal);
    free(c);
}

static void count_divided(const campaign *c, int shards, int *divided, int64_t *cheapest)
{
    ss_deal deal;
    *divided = 0;
    *cheapest = INT64_MAX;
    ENSURE(ss_deal_make(&deal, c->p, PROBLEMS, c->m, METHODS, shards, NULL));
    for (int p = 0; p < PROBLEMS; p++) {
        int64_t cost = METHODS * ss_predicted_cost(c->p[p], c->m[0]);
        *divided += deal.is_divided[p];
        if (deal.is_divided[p] && cost < *cheapest) *cheapest = cost;
    }
    ss_deal_free(&deal);
}

/* An accurate answer, to start from or to judge by, takes longer than many runs, and every shard that has a
 * part of the problem finds it for itself. */
TEST(a_problem_whose_methods_share_an_accurate_answer_is_rarely_divided)
{
    for (int i = 0; i < 4; i++) {
        char starts[4][16] = {"start=warm", "start=shifted", "start=own", ""}, certified[] = "certified";
        campaign *c = make_campaign(NULL);
        int64_t total = 0, cheapest;
        int usual, divided;
        for (int p = 0; p < PROBLEMS; p++) total += METHODS * ss_predicted_cost(c->p[p], c->m[0]);
        count_divided(c, 4, &usual, &cheapest);
        ENSURE(usual > 0 && cheapest > total / 4 / 64 && cheapest < total / 4 / 4);

        c->methods[METHODS - 1].set = starts[i];
        c->methods[METHODS - 1].reference = i == 3 ? certified : NULL;
        count_divided(c, 4, &divided, &cheapest);
        if (i == 2) { // the answers of the method itself, that is
            ENSURE_INT(divided, usual);
        } else {
            ENSURE(divided < usual && cheapest > total / 4 / 4);
            count_divided(c, 256, &divided, &cheapest);
            ENSURE(divided > 0 && cheapest > total / 256 / 4);
        }
        free(c);
    }
}

TEST(what_cannot_be_run_is_nobodys)
{
    campaign *c = make_campaign(NULL);
    char fault[] = "a mass of -1 kg", recorded[] = SS_METHOD_RECORDED;
    c->problems[3].fault = fault;
    c->methods[2].stop = recorded;
    ss_deal deal;
    ENSURE(ss_deal_make(&deal, c->p, PROBLEMS, c->m, METHODS, 5, NULL));
    ENSURE_INT(ss_deal_shard(&deal, 3, 0), -1);
    ENSURE_INT(ss_deal_shard(&deal, 0, 2), -1);
    ENSURE(ss_deal_shard(&deal, 0, 2 + SOLVERS) >= 0);
    ss_deal_free(&deal);
    ENSURE(ss_deal_make(&deal, c->p, 0, c->m, METHODS, 5, NULL));
    ENSURE_INT(deal.part_count, 0);
    ss_deal_free(&deal);
    free(c);
}

TEST_MAIN
