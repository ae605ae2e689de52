/* A campaign whose runs are handed out (campaign/claim.h): the first rank looks at all problems and starts
 * the process that serves; every rank takes what it gets, solves it stage by stage, and asks again. */
#include "campaign/execute_internal.h"

#include "base/digest.h"
#include "campaign/inspect.h"
#include "campaign/ledger_internal.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is there already ---------------------------------------------------------------------------- */

bool ss_ledger_words(ss_ledger *ledger, uint64_t **words, int *count, int *outdated, ss_error *err)
{
    ss_results results = {0};
    bool good = ss_ledger_do(ledger, SS_SQL_SNAPSHOT, err) && ss_ledger_load_index(ledger, &results, err);
    ss_ledger_rollback(ledger);
    *count = *outdated = 0;
    *words = good ? ss_allocate((size_t)results.run_count, sizeof **words) : NULL;
    if (good && !*words) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the runs of a ledger");
    for (int i = 0; good && i < results.run_count; i++) {
        const ss_run_entry *run = &results.runs[i];
        (*words)[(*count)++] = ss_run_word(&results.problems[run->problem], &results.methods[run->method]);
        *outdated += strncmp(run->source, ss_source_digest(), SS_SOURCE_DIGITS) != 0;
    }
    ss_results_free(&results);
    return good;
}

/* Runs of all other ledgers of the campaign, of these ranks and of earlier ones. One that cannot be read now
 * is open at its rank, which says what it has, as we do of ours. */
static bool gather_words(ss_execution *e, ss_text *words, ss_error *err)
{
    const char *pattern = ss_campaign_ledger_name(e->campaign, e->campaign->claim, "*", err);
    const char *own = pattern ? ss_campaign_ledger_name(e->campaign, e->campaign->claim, NULL, err) : NULL;
    struct stat ours, other;
    glob_t found = {0};
    if (!own || stat(own, &ours) != 0) return own != NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            bool is_ours = stat(found.gl_pathv[i], &other) != 0 ||
                           (other.st_dev == ours.st_dev && other.st_ino == ours.st_ino);
            ss_ledger *ledger = is_ours ? NULL : ss_ledger_read(found.gl_pathv[i], NULL);
            uint64_t *some = NULL;
            int count = 0, outdated; // its own rank warns of those
            if (ledger && ss_ledger_words(ledger, &some, &count, &outdated, NULL))
                ss_text_append_bytes(words, (const char *)some, (size_t)count * sizeof *some);
            ss_release(some);
            ss_ledger_close(ledger);
        }
        globfree(&found);
    }
    return !words->out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the runs of ledgers");
}

/* What all ranks must have in common. */
static void describe_campaign(const ss_execution *e, char text[33])
{
    ss_digest digest = ss_digest_start();
    for (int i = 0; i < e->plan.method_count; i++) ss_digest_add_text(&digest, e->plan.methods[i].entry.key);
    for (int i = 0; i < e->campaign->source_count; i++) {
        const ss_campaign_source *source = &e->campaign->sources[i];
        ss_digest_add_text(&digest, source->path);
        ss_digest_add_text(&digest, source->frames ? source->frames : "");
        ss_digest_add(&digest, (uint64_t)source->every);
    }
    ss_digest_print(&digest, text);
}

/* ---- work --------------------------------------------------------------------------------------------- */

static void clear_plan(ss_execution *e)
{
    for (int i = 0; i < e->plan.problem_count; i++) ss_problem_entry_clear(&e->plan.problems[i].entry);
    ss_release(e->plan.problems);
    ss_release(e->handed);
    e->plan.problems = NULL;
    e->plan.problem_count = 0;
    e->handed = NULL;
}

/* The message becomes the plan. */
static bool plan_work(ss_execution *e, const ss_text *work, ss_error *err)
{
    size_t width = (size_t)e->plan.method_count, room = work->length / 64 + 1; // an entry has more bytes
    ss_unpacker from = {work->data + sizeof(ss_claim_head), work->data + work->length, false};
    e->plan.problems = ss_allocate(room, sizeof *e->plan.problems);
    e->handed = ss_allocate(room * width, sizeof *e->handed);
    if (!e->plan.problems || !e->handed) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for work");
    while (from.at < from.end && !from.bad && (size_t)e->plan.problem_count < room) {
        ss_planned_problem *planned = &e->plan.problems[e->plan.problem_count];
        int64_t *handed = e->handed + (size_t)e->plan.problem_count * width;
        planned->source = ss_unpack_within(&from, 0, e->campaign->source_count - 1);
        planned->index = planned->entry.index = ss_unpack_within(&from, -1, INT32_MAX);
        planned->kind = (ss_fclib_kind)ss_unpack_within(&from, 0, INT32_MAX);
        planned->has_before = ss_unpack_within(&from, 0, 1);
        int64_t size = ss_unpack_int(&from);
        if (from.bad || size < 0 || size > from.end - from.at) break;
        ss_unpacker entry = {from.at, from.at + size, false};
        e->plan.problem_count++; // what was unpacked is cleared with the plan
        from.bad = !ss_problem_entry_unpack(&entry, &planned->entry);
        from.at += size;
        planned->entry.file = (char *)(uintptr_t)e->campaign->sources[planned->source].path;
        planned->entry.format = (char *)(planned->index >= 0 ? "bpmd" : "fclib");
        for (size_t m = 0; m < width; m++) handed[m] = -1;
        int runs = ss_unpack_within(&from, 1, e->plan.method_count);
        for (int i = 0; i < runs && !from.bad; i++) {
            int method = ss_unpack_within(&from, 0, e->plan.method_count - 1);
            handed[method] = ss_unpack_int(&from);
        }
    }
    return (!from.bad && from.at == from.end) ||
           ss_fail(err, SS_ERROR_RESOURCES, "--claim: an invalid message from rank 1");
}

static bool do_work(ss_execution *e, const ss_text *work, ss_text *seen, ss_error *err)
{
    bool good = plan_work(e, work, err);
    for (int i = 0; good && i < e->plan.problem_count; i++) {
        ss_problem_entry *entry = &e->plan.problems[i].entry;
        good = ss_ledger_problem(e->ledger, entry, err);
        bool twice = false;
        good = good && ss_execution_see(seen, entry->id, &twice, err);
        if (good) e->summary->problems += !twice;
    }
    good = good && ss_execution_solve_planned(e, err);

    // Whatever came of them: those that could not be run are not handed out again.
    int64_t count = (int64_t)e->plan.problem_count * e->plan.method_count;
    for (int64_t i = 0; good && !ss_execution_interrupted(e) && i < count; i++)
        if (e->handed[i] >= 0) ss_claim_done(e->claim, e->handed[i]);
    clear_plan(e);
    return good;
}

bool ss_execution_claim(ss_execution *e, ss_error *err)
{
    ss_campaign *campaign = e->campaign;
    ss_claim_server server = {0};
    ss_claim claim = {.socket = -1, .stop = e->hooks->stop};
    char digest[33];
    if (ss_execution_interrupted(e)) return true;
    for (int m = 0; m < e->plan.method_count; m++)
        if (e->plan.methods[m].start == SS_START_OWN)
            return ss_fail(err, SS_ERROR_USAGE,
                           "--claim hands out runs one by one; runs with --start own need each other: use "
                           "--shard alone");
    char names[PATH_MAX];
    snprintf(names, sizeof names, "%s.address", campaign->claim);
    const char *file = ss_campaign_ledger_name(campaign, names, "claim", err);
    if (!file) return false;
    describe_campaign(e, digest);

    // The first rank looks at everything, and serves.
    bool good = true;
    if (campaign->shard == 1) {
        ss_text words = {0};
        unlink(file); // of a server that was killed
        good = ss_execution_find_problems(e, err);
        if (good && !ss_execution_interrupted(e))
            good = gather_words(e, &words, err) &&
                   ss_claim_serve(&server, &e->plan, file, digest, campaign->shards,
                                  (const uint64_t *)(const void *)words.data,
                                  (int)(words.length / sizeof(uint64_t)), err);
        ss_text_free(&words);
        clear_plan(e);
        e->summary->problems = e->summary->faulty;
    }

    uint64_t *words = NULL;
    int word_count = 0;
    good = good && !ss_execution_interrupted(e) &&
           ss_ledger_words(e->ledger, &words, &word_count, &e->summary->outdated, err);
    if (good) ss_execution_warn_of_builds(e, e->summary->outdated);
    good = good && ss_claim_connect(&claim, file, digest, campaign->shard, campaign->shards, campaign->jobs,
                                    words, word_count, err);
    ss_release(words);
    e->claim = &claim;
    bool finished = false;
    ss_text seen = {0};
    while (good && !finished && !ss_execution_interrupted(e)) {
        ss_text work = {0};
        ss_error why = {0};
        ss_claim_kind kind = ss_claim_ask(&claim, &work, &why);
        finished = kind == SS_CLAIM_FINISHED;
        if (kind == SS_CLAIM_WORK)
            good = do_work(e, &work, &seen, err);
        else if (!finished && !ss_execution_interrupted(e))
            good = ss_fail(err, why.code, "%s; what is done is stored: repeat the command to continue",
                           why.message);
        ss_text_free(&work);
    }
    ss_text_free(&seen);
    ss_claim_close(&claim);
    ss_claim_server_end(&server, finished, e->hooks->stop);
    e->claim = NULL;
    return good || ss_execution_interrupted(e);
}
