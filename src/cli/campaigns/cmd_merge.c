#include "cli/verb.h"

#include "campaign/ledger.h"

#include <string.h>

typedef struct merge_options {
    ss_common_options common;
    bool json;
} merge_options;

static int run_merge(const ss_command *command)
{
    const merge_options *options = command->options;
    ss_text *text = &command->out->text;
    ss_json json = {.text = text};
    ss_error err = {0};
    if (options->json) {
        ss_json_begin_object(&json);
        ss_json_key(&json, "ledger"), ss_json_string(&json, command->arguments[0]);
        ss_json_key(&json, "files");
        ss_json_begin_array(&json);
    }

    // Nothing is made before every file is known to be a ledger.
    bool good = true;
    for (int i = 1; good && i < command->argument_count; i++) {
        ss_ledger *ledger = ss_ledger_read(command->arguments[i], &err);
        good = ledger != NULL;
        ss_ledger_close(ledger);
    }
    ss_ledger *into = good ? ss_ledger_open(command->arguments[0], &err) : NULL;
    good = into != NULL;

    // Each is merged completely or not at all.
    int all_differing = 0;
    for (int i = 1; good && i < command->argument_count; i++) {
        const char *file = command->arguments[i];
        int added, there, differing;
        char which[1000];
        good = ss_ledger_merge(into, file, &added, &there, &differing, which, sizeof which, &err);
        if (!good) break;
        all_differing += differing;
        if (options->json) {
            ss_json_begin_object(&json);
            ss_json_key(&json, "file"), ss_json_string(&json, file);
            ss_json_key(&json, "added"), ss_json_integer(&json, added);
            ss_json_key(&json, "already_there"), ss_json_integer(&json, there);
            ss_json_key(&json, "differing"), ss_json_integer(&json, differing);
            ss_json_key(&json, "first_differing"), ss_json_string(&json, differing ? which : NULL);
            ss_json_end_object(&json);
            continue;
        }
        ss_text_append_clean(text, file);
        ss_text_appendf(text, ": %d added, %d already present, %d differing\n", added, there, differing);
        if (!differing) continue;
        ss_text_append(text, "  first: ");
        ss_text_append_clean(text, which);
        ss_text_append(text, "\n");
    }
    ss_ledger_close(into);

    if (options->json) {
        ss_json_end_array(&json);
        ss_json_end_object(&json);
        ss_text_append(text, "\n");
    }
    if (!good) return ss_report(&err);
    return all_differing ? SS_EXIT_FOUND : SS_EXIT_DONE;
}

static const ss_option table[] = {
    {SS_FLAG(BOOL, merge_options, json), .help = "Print the counts as one JSON object."}, {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"merge all.db node1.db node2.db", "combine the results of two machines"},
    {"merge results.db shard-1.db shard-2.db shard-3.db", "combine the shards of one campaign"},
    {0}};

const ss_verb ss_verb_merge = {
    .name = "merge",
    .summary = "combine the ledgers of several machines or shards",
    .arguments = "OUT IN...",
    .description =
        "Copies everything that is in the ledgers IN but not in OUT into OUT, which is created if "
        "necessary. Machines and methods are the same if all their properties agree, problems if all "
        "their numbers agree; a run is identified by machine, method and problem. Each IN is merged "
        "completely or not at all.\n\n"
        "A run that both ledgers hold is left unchanged; time samples are copied where OUT has none. If "
        "the two runs gave different answers on the same machine with the same seed, they are listed, and "
        "the exit code is 1.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(merge_options),
    .reads_files = true,
    .run = run_merge,
};
