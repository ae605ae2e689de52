/* `stickslip status`: how far the campaigns of ledgers have got, which other processes may be writing. */
#include "cli/verb.h"

#include "campaign/ledger_standing.h"

#include <stdio.h>
#include <string.h>

#define CAMPAIGN_SHOWN 90 // characters of its text

typedef struct status_options {
    ss_common_options common;
    bool json;
} status_options;

static void json_counts(ss_json *json, const ss_standing *standing, bool known)
{
    ss_json_member_integer(json, "done", standing->done);
    ss_json_key(json, "missing");
    if (known)
        ss_json_integer(json, standing->missing);
    else
        ss_json_null(json);
    ss_json_member_integer(json, "failed", standing->failed);
}

static void json_ledger(ss_json *json, const char *path, const ss_ledger_standing *ledger)
{
    char shard[32];
    const ss_results *results = &ledger->results;
    snprintf(shard, sizeof shard, ledger->shards > 0 ? "%d/%d" : "claim", ledger->shard, ledger->shards);
    ss_json_begin_object(json);
    ss_json_member_text(json, "ledger", path);
    ss_json_member_text(json, "campaign", results->campaign);
    ss_json_member_text(json, "shard", shard);
    ss_json_key(json, "machines");
    ss_json_begin_array(json);
    for (int i = 0; i < results->machine_count; i++) {
        const ss_machine *machine = &results->machines[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "key", machine->key);
        ss_json_member_text(json, "cpu", machine->cpu);
        ss_json_member_integer(json, "cores", machine->cores);
        ss_json_member_text(json, "system", machine->system);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_key(json, "writer");
    if (ledger->holder.process > 0) {
        ss_json_begin_object(json);
        ss_json_member_text(json, "host", ledger->holder.host);
        ss_json_member_integer(json, "process", ledger->holder.process);
        ss_json_end_object(json);
    } else {
        ss_json_null(json);
    }
    ss_json_builds(json, "builds", results);
    json_counts(json, &ledger->standing, ledger->begun || ledger->holder.total > 0);
    ss_json_member_text(json, "last", ledger->last[0] ? ledger->last : NULL);
    ss_json_end_object(json);
}

static void print_counts(ss_text *text, const ss_standing *standing, bool known)
{
    if (known)
        ss_text_appendf(text, "%lld of %lld runs done, %lld missing, %lld failed", standing->done,
                        standing->done + standing->missing, standing->missing, standing->failed);
    else
        ss_text_append(text, "no problems yet");
}

static void print_ledger(ss_text *text, const char *path, const ss_ledger_standing *ledger)
{
    const ss_results *results = &ledger->results;
    ss_text_append_clean(text, path);
    ss_text_append(text, ": ");
    if (ledger->holder.process > 0) {
        ss_text_appendf(text, "cannot be read while process %d on ", ledger->holder.process);
        ss_text_append_clean(text, ledger->holder.host);
        ss_text_append(text, " writes to it (a file system without shared memory); by its word ");
        if (ledger->holder.total > 0)
            ss_text_appendf(text, "%lld of %d runs done; last activity ", ledger->standing.done,
                            ledger->holder.total);
        ss_text_append_clean(text, ledger->holder.total > 0 ? ledger->last : "it has just begun");
        ss_text_append(text, "\n");
        return;
    }
    if (ledger->shards > 0)
        print_counts(text, &ledger->standing, ledger->begun);
    else
        ss_text_appendf(text, "%lld of the runs that are handed out (--claim), %lld failed",
                        ledger->standing.done, ledger->standing.failed);
    if (ledger->shards > 1) ss_text_appendf(text, "; shard %d/%d", ledger->shard, ledger->shards);
    if (ledger->last[0]) {
        ss_text_append(text, "; last activity ");
        ss_text_append_clean(text, ledger->last);
    }

    // The text of a campaign may be a whole file: its beginning, in one line.
    char line[CAMPAIGN_SHOWN + 4];
    size_t length = 0;
    const char *from = results->campaign ? results->campaign : "";
    for (; *from && length < CAMPAIGN_SHOWN; from++) {
        bool blank = strchr(" \t\r\n", *from) != NULL;
        if (!blank || (length > 0 && line[length - 1] != ' ')) line[length++] = blank ? ' ' : *from;
    }
    snprintf(line + length, sizeof line - length, "%s", *from ? "..." : "");
    ss_text_append(text, "\n  campaign: ");
    ss_text_append_clean(text, line);
    for (int i = 0; i < results->machine_count; i++) {
        ss_text_append(text, "\n  machine: ");
        ss_text_append_clean(text, results->machines[i].cpu);
        ss_text_appendf(text, ", %d core%s, ", results->machines[i].cores,
                        results->machines[i].cores == 1 ? "" : "s");
        ss_text_append_clean(text, results->machines[i].system);
    }
    if (results->run_count > 0) {
        ss_text_append(text, "\n  source: ");
        ss_results_print_builds(results, -1, text);
    }
    ss_text_append(text, "\n");
}

static int run_status(const ss_command *command)
{
    const status_options *options = command->options;
    ss_text *text = &command->out->text;
    ss_json json = {.text = text};
    ss_error err = {0};
    int count = command->argument_count, read = 0;
    ss_ledger_standing *ledgers = ss_allocate((size_t)count, sizeof *ledgers);
    ss_standing all = {0};
    bool good = ledgers || ss_fail(&err, SS_ERROR_RESOURCES, "out of memory for the ledgers");
    for (; good && read < count; read++)
        good = ss_ledger_standing_read(command->arguments[read], &ledgers[read], &err);
    good = good && ss_ledger_standing_unite(ledgers, count, &all, &err);

    // Nothing is printed before all of them could be read.
    bool complete = good && all.missing == 0;
    int unread = 0;
    for (int i = 0; good && i < count; i++) {
        complete &= ledgers[i].begun;
        unread += ledgers[i].holder.process > 0;
    }
    if (good && options->json) {
        ss_json_begin_object(&json);
        ss_json_key(&json, "ledgers");
        ss_json_begin_array(&json);
        for (int i = 0; i < count; i++) json_ledger(&json, command->arguments[i], &ledgers[i]);
        ss_json_end_array(&json);
        json_counts(&json, &all, true);
        ss_json_key(&json, "complete"), ss_json_bool(&json, complete);
        ss_json_end_object(&json);
        ss_text_append(text, "\n");
    } else if (good) {
        for (int i = 0; i < count; i++) print_ledger(text, command->arguments[i], &ledgers[i]);
        ss_text_append(text, "in all");
        if (unread > 0) ss_text_appendf(text, ", without the %d that cannot be read", unread);
        ss_text_append(text, ": ");
        print_counts(text, &all, true);
        ss_text_append(text, "\n");
    }

    for (int i = 0; i < read; i++) ss_ledger_standing_free(&ledgers[i]);
    ss_release(ledgers);
    if (!good) return ss_report(&err);
    return complete ? SS_EXIT_DONE : SS_EXIT_FOUND;
}

static const ss_option table[] = {
    {SS_FLAG(BOOL, status_options, json), .help = "Print everything as one JSON object."}, {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {{"status results.db", "how far a campaign has got, while it runs"},
                                      {"status runs/*.db", "the shards of a campaign, each and together"},
                                      {0}};

const ss_verb ss_verb_status = {
    .name = "status",
    .summary = "show how far a campaign has got",
    .arguments = "LEDGER...",
    .description =
        "Shows for each ledger, and for all together, how many runs are done, how many are missing, how "
        "many of those done crashed, hung, ran out of memory or were broken, and when the latest was "
        "started. Ledgers are only read; bench may be writing to them. On a network file system a ledger can "
        "be read only when no process writes to it; until then the last word of its writer is shown.\n\n"
        "Every method of a ledger is expected on every problem of it, as far as they belong to its shard. "
        "In all, every run that a ledger names without regard to shards is expected in one of them, so "
        "that a shard without a ledger counts as missing.\n\n"
        "The exit code is 1 if runs are missing, or a ledger has no problems yet.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(status_options),
    .reads_files = true,
    .run = run_status,
};
