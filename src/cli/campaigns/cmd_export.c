#include "cli/extensions.h"
#include "cli/verb.h"

#include "base/file.h"
#include "campaign/ledger.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

typedef struct export_options {
    ss_common_options common;
    const char *table, *output;
    bool json;
    ss_extension_options extensions;
} export_options;

static bool to_stdout(const char *bytes, size_t size, void *context)
{
    ss_out *out = context;
    ss_text_append_bytes(&out->text, bytes, size);
    return ss_out_drain(out);
}

static bool to_text(const char *bytes, size_t size, void *context)
{
    ss_text_append_bytes(context, bytes, size);
    return !((ss_text *)context)->out_of_memory;
}

/* One table, or all of them. */
static bool write_tables(const ss_command *command, ss_ledger *ledger, ss_error *err)
{
    const export_options *options = command->options;
    const char *directory = options->output;
    struct stat status;
    if (mkdir(directory, 0777) != 0) {
        int reason = errno;
        bool there = reason == EEXIST && stat(directory, &status) == 0 && S_ISDIR(status.st_mode);
        if (reason == EEXIST) reason = ENOTDIR;
        if (!there)
            return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be created: %s", directory, strerror(reason));
    }

    // A table is whole or not there.
    int written = 0;
    for (const char *const *table = ss_ledger_tables(); *table; table++) {
        if (options->table && strcmp(options->table, *table) != 0) continue;
        ss_text contents = {0}, path = {0};
        ss_text_appendf(&path, "%s/%s.csv", directory, *table);
        bool good = ss_ledger_csv(ledger, *table, to_text, &contents, err);
        if (good && path.out_of_memory) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        good = good && ss_file_replace(ss_text_get(&path), ss_text_get(&contents), contents.length, err);
        ss_text_free(&path);
        ss_text_free(&contents);
        if (!good) return false;
        written++;
    }
    ss_command_say(command, "%s: %d table%s written", directory, written, written == 1 ? "" : "s");
    return true;
}

static bool ignore(const char *bytes, size_t size, void *context)
{
    (void)bytes, (void)size, (void)context;
    return false;
}

static int run_export(const ss_command *command)
{
    const export_options *options = command->options;
    ss_error err = {0};
    bool good = true;
    if (options->json && (options->table || options->output))
        good = ss_fail(&err, SS_ERROR_USAGE,
                       "export: --json prints all tables and cannot be combined with "
                       "--table or --output");
    else if (!options->json && !options->table && !options->output)
        good = ss_fail(&err, SS_ERROR_USAGE, "export: no --table NAME, -o DIR or --json given");
    ss_ledger *ledger = good ? ss_ledger_read(command->arguments[0], &err) : NULL;
    good = ledger != NULL;

    // A wrong name is reported before anything is made.
    bool known = !options->table;
    for (const char *const *table = ss_ledger_tables(); !known && *table; table++)
        known = strcmp(*table, options->table) == 0;
    if (good && !known) {
        ss_ledger_csv(ledger, options->table, ignore, NULL, &err);
        good = ss_fail_in(&err, "export: --table");
    }

    if (good && options->output)
        good = write_tables(command, ledger, &err);
    else if (good)
        good = options->json ? ss_ledger_json(ledger, to_stdout, command->out, &err)
                             : ss_ledger_csv(ledger, options->table, to_stdout, command->out, &err);
    ss_ledger_close(ledger);
    if (good) return SS_EXIT_DONE;
    return command->out->error ? SS_EXIT_RESOURCES : ss_report(&err); // main tells what became of the output
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, export_options, table), .value_name = "NAME",
     .help = "Only this table: machines, problems, methods, runs, metrics, samples, history, crossings or "
             "contact_errors. Printed as CSV unless --output is given.",
     .letter = 't'},
    {SS_FLAG(TEXT, export_options, output), .value_name = "DIR",
     .help = "Write the tables as DIR/NAME.csv. The directory is created if necessary.", .letter = 'o'},
    {SS_FLAG(BOOL, export_options, json), .help = "Print all tables as one JSON object."},
    {0}};

static const ss_option_group groups[] = {
    {"Options", table, 0}, SS_EXTENSION_GROUP(export_options, extensions), SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"export results.db --table runs", "one line per run, with file, method and outcome"},
    {"export results.db -o tables", "every table, as one CSV file each"},
    {"export results.db --json", "everything, machine-readable"},
    {0}};

const ss_verb ss_verb_export = {
    .name = "export",
    .summary = "print a ledger as CSV or JSON",
    .arguments = "LEDGER",
    .description =
        "Prints what stickslip bench has stored in LEDGER. Tables are CSV (RFC 4180) with a header line; "
        "numbers are printed with enough digits to be read back exactly, and unknown values are empty "
        "fields.\n\n"
        "The order of rows depends only on the contents: two ledgers with the same contents give the same "
        "bytes, times aside, in whatever order the runs were made. The column run in metrics, samples, "
        "history, crossings and contact_errors refers to the table runs. docs/ledger.md explains every "
        "column.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(export_options),
    .reads_files = true,
    .run = run_export,
};
