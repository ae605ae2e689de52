#include "paper/paper.h"

#include "cli/terminal/describe.h"
#include "cli/input.h"
#include "cli/terminal/table.h"

#include "base/words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct paper_options {
    ss_common_options common;
    const char *output;
    bool json, quick;
} paper_options;

/* ---- text ---------------------------------------------------------------------------------------- */

/* Different notes in the order they come; values with the same note share its number. `first` is the value
 * that brought it. */
static int number_of(const ss_paper_report *report, int value)
{
    int number = 0;
    for (int i = 0; i <= value; i++) {
        const char *note = report->values[i].note;
        bool seen = !note;
        for (int k = 0; k < i && !seen; k++)
            seen = report->values[k].note && strcmp(report->values[k].note, note) == 0;
        number += !seen;
        if (note && strcmp(note, report->values[value].note) == 0) return number;
    }
    return number;
}

static void print_report(ss_out *out, const ss_paper *paper, const ss_paper_report *report)
{
    ss_describe_title(out, paper->id, paper->title);
    ss_describe_item(out, "from", paper->reference);
    ss_describe_item(out, "what", paper->about);
    ss_text_append(&out->text, "\n");

    ss_table table = {.columns = 6, .left = 1};
    static const char *const heads[] = {"", "printed", "ours", "unit", "verdict", "note"};
    for (int i = 0; i < table.columns; i++) ss_table_add(&table, "%s", heads[i]);
    for (int i = 0; i < report->value_count; i++) {
        const ss_paper_value *value = &report->values[i];
        ss_table_add(&table, "%s", value->name);
        ss_table_add(&table, "%s", value->printed ? value->printed : "-");
        ss_table_add(&table, "%.6g", value->ours);
        ss_table_add(&table, "%s", value->unit);
        ss_table_add(&table, "%s", ss_verdict_name(value->verdict));
        if (value->note)
            ss_table_add(&table, "%d", number_of(report, i));
        else
            ss_table_add(&table, "%s", "");
    }
    ss_table_print(&table, out);
    ss_text_append(&out->text, "\n");

    // Each note once, under its number.
    for (int i = 0, last = 0; i < report->value_count; i++) {
        const char *note = report->values[i].note;
        int number = note ? number_of(report, i) : 0;
        if (number <= last) continue;
        ss_text_appendf(&out->text, "  %2d  ", number);
        ss_text_wrap(&out->text, note, strlen(note), 6, 6, ss_out_line(out));
        last = number;
    }
    for (int i = 0; i < report->file_count; i++)
        ss_text_appendf(&out->text, "%s  %s/%s\n", i == 0 ? "\n" : "", report->directory, report->files[i]);
    ss_text_appendf(&out->text, "\n%s%s%s\n\n",
                    ss_out_style(out, ss_paper_is_reproduced(report) ? SS_STYLE_GOOD : SS_STYLE_BAD),
                    ss_paper_is_reproduced(report) ? "reproduced" : "not reproduced",
                    ss_out_style(out, SS_STYLE_PLAIN));
}

static void print_list(ss_out *out)
{
    static const unsigned char expendable[] = {2, 0}; // from
    ss_table table = {.columns = 3, .left = 3, .expendable = expendable};
    ss_table_add(&table, "id"), ss_table_add(&table, "experiment"), ss_table_add(&table, "from");
    for (const ss_paper *const *paper = ss_papers; *paper; paper++) {
        ss_table_add(&table, "%s", (*paper)->id);
        ss_table_add(&table, "%s", (*paper)->title);
        ss_table_add(&table, "%s", (*paper)->reference);
    }
    ss_table_print(&table, out);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void put_report(ss_json *json, const ss_paper *paper, const ss_paper_report *report,
                       const char *message)
{
    ss_json_begin_object(json);
    ss_json_member_text(json, "id", paper->id);
    ss_json_member_text(json, "title", paper->title);
    ss_json_member_text(json, "reference", paper->reference);
    ss_json_key(json, "reproduced"), ss_json_bool(json, report && ss_paper_is_reproduced(report));

    // A study that did not run has a reason instead of values.
    if (!report) {
        ss_json_member_text(json, "error", message);
        ss_json_end_object(json);
        return;
    }

    ss_json_key(json, "quick"), ss_json_bool(json, report->quick);
    ss_json_member_real(json, "seconds", report->seconds);
    ss_json_key(json, "verdicts");
    ss_json_begin_object(json);
    for (int v = 0; v < SS_VERDICT_COUNT; v++)
        ss_json_member_integer(json, ss_verdict_name((ss_verdict)v), ss_paper_count(report, (ss_verdict)v));
    ss_json_end_object(json);

    ss_json_key(json, "values");
    ss_json_begin_array(json);
    for (int i = 0; i < report->value_count; i++) {
        const ss_paper_value *value = &report->values[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "name", value->name);
        ss_json_member_text(json, "unit", value->unit);
        ss_json_member_text(json, "printed", value->printed);
        ss_json_key(json, "ours"), ss_json_real(json, value->ours);
        ss_json_member_text(json, "verdict", ss_verdict_name(value->verdict));
        ss_json_member_text(json, "note", value->note);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);

    ss_json_key(json, "files");
    ss_json_begin_array(json);
    for (int i = 0; i < report->file_count; i++) ss_json_string(json, report->files[i]);
    ss_json_end_array(json);
    ss_json_end_object(json);
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static bool is_wanted(const ss_command *command, const ss_paper *paper)
{
    return strcmp(command->arguments[0], "all") == 0 || strcmp(command->arguments[0], paper->id) == 0;
}

typedef struct study_line {
    const char *id;
    ss_progress_line line;
} study_line;

static void show_progress(const char *what, int done, int total, void *context)
{
    study_line *study = context;
    char words[100];
    snprintf(words, sizeof words, "%s: %s", study->id, what);
    ss_progress_line_show(&study->line, words, done, total);
}

/* Every study is run, whatever became of those before it; the index shows them all. */
static int run_paper(const ss_command *command)
{
    const paper_options *options = command->options;
    ss_json json = {.text = &command->out->text};
    ss_error err = {0};
    int code = SS_EXIT_DONE, count = 0;
    if (command->argument_count == 0) {
        print_list(command->out);
        return code;
    }

    // A wrong name is reported before anything is made.
    bool known = false;
    ss_unknown unknown = ss_unknown_start("experiment", command->arguments[0]);
    for (; ss_papers[count]; count++) {
        known |= is_wanted(command, ss_papers[count]);
        ss_unknown_offer(&unknown, ss_papers[count]->id);
    }
    if (!known) {
        ss_unknown_fail(&unknown, &err);
        ss_fail_in(&err, "paper");
        return ss_report(&err);
    }
    if (options->output && mkdir(options->output, 0777) != 0 && errno != EEXIST) {
        ss_fail(&err, SS_ERROR_RESOURCES, "%s: cannot make the directory: %s", options->output,
                strerror(errno));
        return ss_report(&err);
    }
    ss_paper_report **reports = ss_allocate((size_t)count, sizeof *reports);
    char(*messages)[sizeof err.message] = ss_allocate((size_t)count, sizeof *messages);
    const char **reasons = ss_allocate((size_t)count, sizeof *reasons);
    bool good = (reports && messages && reasons) || ss_fail(&err, SS_ERROR_RESOURCES, "out of memory");

    if (good && options->json) {
        ss_json_begin_object(&json);
        ss_json_key(&json, "experiments");
        ss_json_begin_array(&json);
    }

    // A study that cannot run leaves its reason for the index.
    for (int i = 0; good && i < count; i++) {
        if (!is_wanted(command, ss_papers[i])) continue;
        study_line line = {ss_papers[i]->id, ss_progress_line_begin(command)};
        ss_paper_options how = {.directory = options->output,
                                .quick = options->quick,
                                .in_index = strcmp(command->arguments[0], "all") == 0,
                                .progress = show_progress,
                                .context = &line};
        ss_error failure = {0};
        reports[i] = ss_paper_run(ss_papers[i], &how, &failure);
        ss_progress_line_end(&line.line);
        if (!reports[i]) {
            snprintf(messages[i], sizeof messages[i], "%s", failure.message);
            reasons[i] = messages[i];
            code = ss_report(&failure);
        } else if (!ss_paper_is_reproduced(reports[i]) && code == SS_EXIT_DONE) {
            code = SS_EXIT_FOUND;
        }
        if (options->json)
            put_report(&json, ss_papers[i], reports[i], messages[i]);
        else if (reports[i])
            print_report(command->out, ss_papers[i], reports[i]);
        ss_out_flush(command->out);
    }
    if (good && options->json) {
        ss_json_end_array(&json);
        ss_json_end_object(&json);
        ss_text_append(json.text, "\n");
    }

    // Only all of them make an index.
    if (good && options->output && strcmp(command->arguments[0], "all") == 0)
        good = ss_paper_write_index(options->output, options->quick, reports, reasons, &err);
    for (int i = 0; reports && i < count; i++) ss_paper_report_free(reports[i]);
    ss_release(reports);
    ss_release(messages);
    ss_release(reasons);
    return good ? code : ss_report(&err);
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, paper_options, output), .value_name = "DIR",
     .help = "Write to this directory, which is created if necessary: a page, figures (SVG) and their "
             "numbers (CSV), recorded frames (HDF5) and replays; with all, an index page.",
     .letter = 'o'},
    {SS_FLAG(BOOL, paper_options, quick),
     .help = "Reduced size: the same claims on fewer steps, frames or bodies."},
    {SS_FLAG(BOOL, paper_options, json), .help = "Print values and verdicts as one JSON object."},
    {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"paper", "list the experiments"},
    {"paper rod", "printed values next to ours, with misprints explained"},
    {"paper isolines -o study", "a page with six figures, and their numbers"},
    {"paper all -o studies --quick", "every study at reduced size, with an index page"},
    {0}};

const ss_verb ss_verb_paper = {
    .name = "paper",
    .summary = "reproduce a published experiment and compare the numbers",
    .arguments = "[ID]",
    .description = "Runs the study ID with the formulations, solvers and metrics of this library and "
                   "shows our value next to the printed one, each with a verdict: agrees (to the last "
                   "printed digit), reproduced (a claim of the paper), holds (ours, not in print), misprint "
                   "(with the reason), differs (for a reason that was found by experiment), or fails. all "
                   "runs every study; without ID, they are listed.\n\n"
                   "The exit code is 1 if a value fails. A study that cannot run is reported, and the others "
                   "follow.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(paper_options),
    .run = run_paper,
};
