#include "campaign/deal.h"

#include "base/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From a campaign of all solvers on all scenes (docs/cluster.md): reading, assembling, judging and storing;
 * and solving, by the number of rows. */
#define RUN_MICROSECONDS 3000.0
#define SOLVE_MICROSECONDS 6.0 /* times n^(5/4) */
/* A problem is divided when it is more than this part of the share of a shard; and where all methods need one
 * accurate answer, which every shard with a part of the problem finds for itself. */
#define DEAR_PART 64
#define DEAR_PART_OF_ONE_ANSWER 4

int64_t ss_predicted_cost(const ss_problem_entry *problem, const ss_method_entry *method)
{
    double n = 3.0 * problem->contacts + problem->rows, limit = 1e6 * method->time_limit;
    double solving = SOLVE_MICROSECONDS * n * sqrt(sqrt(n));
    if (limit > 0.0 && solving > limit) solving = limit;
    return (int64_t)RUN_MICROSECONDS + (int64_t)solving;
}

/* Does the run start from, or is it judged by, an accurate answer that it has in common with those of other
 * methods on the problem? That takes longer than most runs. */
static bool needs_accurate_answer(const ss_method_entry *method)
{
    ss_start start = ss_method_start(method);
    return start == SS_START_WARM || start == SS_START_SHIFTED || (method->reference && method->reference[0]);
}

/* What parts are sorted by: the dearest first, equal ones by what they are rather than by their place. */
typedef struct sorted_part {
    ss_deal_part part;
    const ss_problem_entry *problem;
    const char *solver; /* "" = all */
} sorted_part;

static int by_cost(const void *left, const void *right)
{
    const sorted_part *a = left, *b = right;
    if (a->part.cost != b->part.cost) return a->part.cost > b->part.cost ? -1 : 1;
    int order = strcmp(a->problem->hash, b->problem->hash);
    if (order == 0) order = strcmp(a->problem->place, b->problem->place);
    return order ? order : strcmp(a->solver, b->solver);
}

/* ---- the shard with the least ------------------------------------------------------------------------- */

typedef struct hand {
    int64_t cost;
    int shard;
} hand;

static bool is_before(const hand *a, const hand *b)
{
    return a->cost != b->cost ? a->cost < b->cost : a->shard < b->shard;
}

/* The first hand of the heap has grown: it sinks to its place. */
static void sink(hand *hands, int count)
{
    for (int at = 0;;) {
        int least = at;
        for (int child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (is_before(&hands[child], &hands[least])) least = child;
        if (least == at) return;
        hand kept = hands[at];
        hands[at] = hands[least];
        hands[least] = kept;
        at = least;
    }
}

/* ---- the deal ----------------------------------------------------------------------------------------- */

bool ss_deal_make(ss_deal *deal, const ss_problem_entry *const *problems, int problem_count,
                  const ss_method_entry *const *methods, int method_count, int shards, ss_error *err)
{
    size_t height = (size_t)problem_count, width = (size_t)method_count;
    *deal = (ss_deal){.group = ss_allocate(width, sizeof *deal->group),
                      .place = ss_allocate(height, sizeof *deal->place),
                      .is_divided = ss_allocate(height, sizeof *deal->is_divided),
                      .simulation = ss_allocate(height, sizeof *deal->simulation),
                      .own = ss_allocate(width, sizeof *deal->own),
                      .shard_count = shards};
    int64_t *costs = ss_allocate(height, sizeof *costs);
    hand *hands = ss_allocate((size_t)shards, sizeof *hands);
    bool good =
        deal->group && deal->place && deal->is_divided && deal->simulation && deal->own && costs && hands;

    // What the frames of a simulation have in common: the group they are in, and the scene.
    for (int p = 0; good && p < problem_count; p++) {
        ss_digest digest = ss_digest_start();
        const char *frame = strrchr(problems[p]->place, '/');
        for (const char *at = problems[p]->place; at < frame; at++) ss_digest_add(&digest, (uint64_t)*at);
        ss_digest_add_text(&digest, problems[p]->scene ? problems[p]->scene : "");
        deal->simulation[p] = digest.a ^ digest.b;
    }
    for (int m = 0; good && m < method_count; m++) {
        ss_digest digest = ss_digest_start();
        ss_digest_add_text(&digest, methods[m]->key);
        if (ss_method_start(methods[m]) == SS_START_OWN) deal->own[m] = (digest.a ^ digest.b) | 1;
    }

    // Methods of one solver are a group. A limit that follows another solver needs that one's times, so that
    // nothing is divided then.
    bool may_divide = true;
    int dear_part = DEAR_PART;
    for (int m = 0; good && m < method_count; m++) {
        bool is_run = !ss_method_is_recorded(methods[m]);
        if (is_run && methods[m]->limit_by && methods[m]->limit_by[0]) may_divide = false;
        if (is_run && needs_accurate_answer(methods[m])) dear_part = DEAR_PART_OF_ONE_ANSWER;
        deal->group[m] = is_run ? m : -1;
        for (int k = 0; k < m && is_run; k++) {
            if (deal->group[k] != k || strcmp(methods[k]->solver, methods[m]->solver) != 0) continue;
            deal->group[m] = k;
            break;
        }
    }

    // What problems cost, and with it which of them are divided.
    int64_t total = 0;
    for (int p = 0; good && p < problem_count; p++) {
        for (int m = 0; m < method_count && !problems[p]->fault; m++)
            if (deal->group[m] >= 0) costs[p] += ss_predicted_cost(problems[p], methods[m]);
        total += costs[p];
    }
    size_t places = 0;
    for (int p = 0; good && p < problem_count; p++) {
        deal->is_divided[p] = may_divide && shards > 1 && costs[p] > total / shards / dear_part;
        deal->place[p] = costs[p] > 0 ? (int)places : -1;
        if (costs[p] == 0) continue;
        places += deal->is_divided[p] ? width : 1;
    }
    sorted_part *sorted = good ? ss_allocate(places, sizeof *sorted) : NULL;
    deal->shards = good ? ss_allocate(places, sizeof *deal->shards) : NULL;
    deal->parts = good ? ss_allocate(places, sizeof *deal->parts) : NULL;
    good = good && places <= INT32_MAX && sorted && deal->shards && deal->parts;

    int count = 0;
    for (int p = 0; good && p < problem_count; p++) {
        if (costs[p] == 0) continue;
        if (!deal->is_divided[p]) {
            sorted[count++] = (sorted_part){{p, -1, costs[p]}, problems[p], ""};
            continue;
        }
        for (int g = 0; g < method_count; g++) {
            if (deal->group[g] != g) continue;
            sorted[count] = (sorted_part){{p, g, 0}, problems[p], methods[g]->solver};
            for (int m = g; m < method_count; m++)
                if (deal->group[m] == g)
                    sorted[count].part.cost += ss_predicted_cost(problems[p], methods[m]);
            count++;
        }
    }

    // Dearest first, to the shard that has the least.
    if (good && count > 0) qsort(sorted, (size_t)count, sizeof *sorted, by_cost);
    for (int i = 0; good && i < shards; i++) hands[i].shard = i;
    for (int i = 0; good && i < count; i++) {
        const ss_deal_part *part = &sorted[i].part;
        deal->parts[i] = *part;
        deal->shards[deal->place[part->problem] + (part->group < 0 ? 0 : part->group)] = hands[0].shard;
        hands[0].cost += part->cost;
        sink(hands, shards);
    }
    deal->part_count = good ? count : 0;
    ss_release(sorted);
    ss_release(costs);
    ss_release(hands);
    if (good) return true;
    ss_deal_free(deal);
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the shards of %d problems", problem_count);
}

int ss_deal_shard(const ss_deal *deal, int problem, int method)
{
    int place = deal->place[problem], group = deal->group[method];
    if (place < 0 || group < 0) return -1;
    if (deal->own[method])
        return (int)(ss_digest_scramble(deal->simulation[problem] ^ deal->own[method], SS_ROOT_2, SS_ROOT_3) %
                     (uint64_t)deal->shard_count);
    return deal->shards[place + (deal->is_divided[problem] ? group : 0)];
}

void ss_deal_free(ss_deal *deal)
{
    ss_release(deal->parts);
    ss_release(deal->group);
    ss_release(deal->place);
    ss_release(deal->shards);
    ss_release(deal->is_divided);
    ss_release(deal->simulation);
    ss_release(deal->own);
    *deal = (ss_deal){0};
}
