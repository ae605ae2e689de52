#include "campaign/ledger_standing.h"

#include "campaign/campaign.h"
#include "campaign/deal.h"
#include "campaign/ledger_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECTED = 1, DONE = 2, FAILED = 4 };

/* ---- what several ledgers have in common -------------------------------------------------------------- */

/* A problem or a method of one of the ledgers, and its number among the different ones of all. */
typedef struct thing {
    const char *key, *place;
    int *number;
} thing;

static int by_key(const void *left, const void *right)
{
    const thing *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order ? order : strcmp(a->place, b->place);
}

/* The same things get the same number, from 0; returns how many different ones there are. */
static int number_things(thing *things, size_t count)
{
    int different = 0;
    if (count > 0) qsort(things, count, sizeof *things, by_key);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_key(&things[i - 1], &things[i]) != 0) different++;
        *things[i].number = different;
    }
    return count > 0 ? different + 1 : 0;
}

/* What the ledger expects and has, into the table of all pairs. Runs that were handed out are expected of no
 * ledger alone. */
static bool mark(const ss_ledger_standing *ledger, bool whole, const int *problems, const int *methods,
                 size_t width, unsigned char *pairs, ss_error *err)
{
    const ss_results *results = &ledger->results;
    int shard = whole ? 1 : ledger->shard, shards = whole ? 1 : ledger->shards;
    ss_deal deal = {0};
    if (shards > 1) {
        const ss_problem_entry **all = ss_allocate((size_t)results->problem_count, sizeof *all);
        const ss_method_entry **ways = ss_allocate((size_t)results->method_count, sizeof *ways);
        for (int p = 0; all && p < results->problem_count; p++) all[p] = &results->problems[p];
        for (int m = 0; ways && m < results->method_count; m++) ways[m] = &results->methods[m];
        bool dealt =
            all && ways
                ? ss_deal_make(&deal, all, results->problem_count, ways, results->method_count, shards, err)
                : ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the runs of the ledgers");
        ss_release(all);
        ss_release(ways);
        if (!dealt) return false;
    }
    for (int p = 0; p < results->problem_count && shards > 0; p++) {
        for (int m = 0; m < results->method_count; m++) {
            if (results->problems[p].fault || ss_method_is_recorded(&results->methods[m])) continue;
            if (shards == 1 || ss_deal_shard(&deal, p, m) == shard - 1)
                pairs[(size_t)problems[p] * width + (size_t)methods[m]] |= EXPECTED;
        }
    }
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        bool failed = run->outcome > SS_OUTCOME_LAST_STATUS && run->outcome != SS_OUTCOME_RECORDED;
        pairs[(size_t)problems[run->problem] * width + (size_t)methods[run->method]] |=
            (unsigned char)(DONE | (failed ? FAILED : 0));
    }
    ss_deal_free(&deal);
    return true;
}

/* whole: shards do not matter. */
static bool count_pairs(const ss_ledger_standing *ledgers, int count, bool whole, ss_standing *standing,
                        ss_error *err)
{
    size_t problem_total = 0, method_total = 0;
    for (int i = 0; i < count; i++) {
        problem_total += (size_t)ledgers[i].results.problem_count;
        method_total += (size_t)ledgers[i].results.method_count;
    }
    thing *things = ss_allocate(problem_total + method_total, sizeof *things);
    int *numbers = ss_allocate(problem_total + method_total, sizeof *numbers);
    unsigned char *pairs = NULL;
    size_t height = 0, width = 0;

    // Problems first, then methods, ledger by ledger.
    if (things && numbers) {
        size_t p = 0, m = problem_total;
        for (int i = 0; i < count; i++) {
            const ss_results *results = &ledgers[i].results;
            for (int k = 0; k < results->problem_count; k++, p++)
                things[p] = (thing){results->problems[k].hash, results->problems[k].place, &numbers[p]};
            for (int k = 0; k < results->method_count; k++, m++)
                things[m] = (thing){results->methods[k].key, "", &numbers[m]};
        }
        height = (size_t)number_things(things, problem_total);
        width = (size_t)number_things(things + problem_total, method_total);
        pairs = width && height > SIZE_MAX / width ? NULL : ss_allocate(height * width, 1);
    }
    bool good = pairs || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the runs of the ledgers");
    if (good) {
        const int *problems = numbers, *methods = numbers + problem_total;
        for (int i = 0; i < count && good; i++) {
            good = mark(&ledgers[i], whole, problems, methods, width, pairs, err);
            problems += ledgers[i].results.problem_count;
            methods += ledgers[i].results.method_count;
        }
    }

    *standing = (ss_standing){0};
    for (size_t i = 0; pairs && i < height * width; i++) {
        standing->done += (pairs[i] & DONE) != 0;
        standing->failed += (pairs[i] & FAILED) != 0;
        standing->missing += pairs[i] == EXPECTED;
    }
    ss_release(pairs);
    ss_release(numbers);
    ss_release(things);
    return good;
}

bool ss_ledger_standing_unite(const ss_ledger_standing *ledgers, int count, ss_standing *standing,
                              ss_error *err)
{
    return count_pairs(ledgers, count, true, standing, err);
}

/* ---- one ledger --------------------------------------------------------------------------------------- */

/* Campaigns have whole seconds, "...:05Z", runs also milliseconds, "...:05.123Z", which are later. */
static void note_time(ss_ledger_standing *ledger, const char *time)
{
    if (!time) return;
    int order = strncmp(time, ledger->last, strlen("2026-01-01T00:00:00"));
    size_t length = strlen(time), before = strlen(ledger->last);
    if (order == 0) order = length == before ? strcmp(time, ledger->last) : length > before ? 1 : -1;
    if (order > 0) snprintf(ledger->last, sizeof ledger->last, "%.32s", time);
}

/* The shard that all campaigns name; when they do not agree, as after a merge, it is the whole. */
static bool read_campaigns(ss_ledger *file, ss_ledger_standing *ledger, ss_error *err)
{
    sqlite3_stmt *statement = ss_ledger_statement(file, SS_SQL_CAMPAIGNS, err);
    if (!statement) return false;
    ss_step step;
    bool first = true;
    while ((step = ss_ledger_step(file, statement, err)) == SS_STEP_ROW) {
        int shard, shards;
        const char *text = (const char *)sqlite3_column_text(statement, 2);
        note_time(ledger, (const char *)sqlite3_column_text(statement, 1));
        ss_shard_of_text(text ? text : "", &shard, &shards);
        if (!first && (shard != ledger->shard || shards != ledger->shards)) shard = shards = 1;
        ledger->shard = shard;
        ledger->shards = shards;
        first = false;
    }
    return step == SS_STEP_DONE;
}

bool ss_ledger_standing_read(const char *path, ss_ledger_standing *ledger, ss_error *err)
{
    *ledger = (ss_ledger_standing){.shard = 1, .shards = 1};
    ss_ledger *file = ss_ledger_read_beside(path, &ledger->holder, err);
    if (ledger->holder.process > 0) {
        ledger->standing.done = ledger->holder.done;
        ledger->standing.missing = ledger->holder.total - ledger->holder.done;
        snprintf(ledger->last, sizeof ledger->last, "%s", ledger->holder.when);
        return true;
    }
    bool good = file && ss_ledger_do(file, SS_SQL_SNAPSHOT, err) &&
                ss_ledger_load_index(file, &ledger->results, err) && read_campaigns(file, ledger, err);
    ss_ledger_close(file);
    if (!good) return false;

    const ss_results *results = &ledger->results;
    bool sound = false;
    for (int i = 0; i < results->problem_count; i++) sound |= !results->problems[i].fault;
    ledger->begun = sound && results->method_count > 0;
    for (int i = 0; i < results->run_count; i++) note_time(ledger, results->runs[i].started);
    return count_pairs(ledger, 1, false, &ledger->standing, err);
}

void ss_ledger_standing_free(ss_ledger_standing *ledger)
{
    ss_results_free(&ledger->results);
}
