#include "cli/paper.h"

#include "cli/describe.h"
#include "cli/table.h"

#include "base/words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct paper_options {
    ss_common_options common;
    const char *output;
    bool json;
} paper_options;

static bool is_reproduced(const ss_paper_report *report)
{
    for (int i = 0; i < report->value_count; i++) {
        if (report->values[i].verdict == SS_VERDICT_DIFFERS) return false;
    }
    return true;
}

/* ---- text ---------------------------------------------------------------------------------------- */

/* Different notes in the order they come; values with the same note share its number. */
typedef struct notes {
    const char *text[SS_PAPER_MOST_VALUES];
    int count;
} notes;

static int number_of(notes *list, const char *note)
{
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->text[i], note) == 0) return i + 1;
    }
    list->text[list->count++] = note;
    return list->count;
}

static void print_values(ss_out *out, const ss_paper_report *report)
{
    ss_table table = {.columns = 6, .left = 1};
    static const char *const heads[] = {"", "printed", "ours", "unit", "verdict", "note"};
    notes list = {0};
    for (int i = 0; i < table.columns; i++) ss_table_add(&table, "%s", heads[i]);
    for (int i = 0; i < report->value_count; i++) {
        const ss_paper_value *value = &report->values[i];
        ss_table_add(&table, "%s", value->name);
        ss_table_add(&table, "%s", value->printed ? value->printed : "-");
        ss_table_add(&table, "%.6g", value->ours);
        ss_table_add(&table, "%s", value->unit);
        ss_table_add(&table, "%s", ss_verdict_name(value->verdict));
        if (value->note)
            ss_table_add(&table, "%d", number_of(&list, value->note));
        else
            ss_table_add(&table, "%s", "");
    }
    ss_table_print(&table, out);
    ss_text_append(&out->text, "\n");
    for (int i = 0; i < list.count; i++) ss_text_appendf(&out->text, "  %2d  %s\n", i + 1, list.text[i]);
}

static void print_report(ss_out *out, const ss_paper *paper, const ss_paper_report *report)
{
    ss_describe_title(out, paper->id, paper->title);
    ss_describe_item(out, "from", paper->reference);
    ss_describe_item(out, "what", paper->about);
    ss_text_append(&out->text, "\n");
    print_values(out, report);
    for (int i = 0; i < report->file_count; i++)
        ss_text_appendf(&out->text, "%s  %s/%s\n", i == 0 ? "\n" : "", report->directory, report->files[i]);
    ss_text_appendf(
        &out->text, "\n%s%s%s\n\n", ss_out_style(out, is_reproduced(report) ? SS_STYLE_GOOD : SS_STYLE_BAD),
        is_reproduced(report) ? "reproduced" : "not reproduced", ss_out_style(out, SS_STYLE_PLAIN));
}

static void print_list(ss_out *out)
{
    ss_table table = {.columns = 3, .left = 3};
    ss_table_add(&table, "id"), ss_table_add(&table, "experiment"), ss_table_add(&table, "from");
    for (const ss_paper *const *paper = ss_papers; *paper; paper++) {
        ss_table_add(&table, "%s", (*paper)->id);
        ss_table_add(&table, "%s", (*paper)->title);
        ss_table_add(&table, "%s", (*paper)->reference);
    }
    ss_table_print(&table, out);
}

/* ---- JSON and CSV -------------------------------------------------------------------------------- */

static void put_value(ss_json *json, const ss_paper_value *value)
{
    ss_json_begin_object(json);
    ss_json_member_text(json, "name", value->name);
    ss_json_member_text(json, "unit", value->unit);
    ss_json_member_text(json, "printed", value->printed);
    ss_json_key(json, "ours"), ss_json_real(json, value->ours);
    ss_json_member_text(json, "verdict", ss_verdict_name(value->verdict));
    ss_json_member_text(json, "note", value->note);
    ss_json_end_object(json);
}

static void put_report(ss_json *json, const ss_paper *paper, const ss_paper_report *report)
{
    ss_json_begin_object(json);
    ss_json_member_text(json, "id", paper->id);
    ss_json_member_text(json, "title", paper->title);
    ss_json_member_text(json, "reference", paper->reference);
    ss_json_key(json, "reproduced"), ss_json_bool(json, is_reproduced(report));
    ss_json_key(json, "values");
    ss_json_begin_array(json);
    for (int i = 0; i < report->value_count; i++) put_value(json, &report->values[i]);
    ss_json_end_array(json);
    ss_json_key(json, "files");
    ss_json_begin_array(json);
    for (int i = 0; i < report->file_count; i++) ss_json_string(json, report->files[i]);
    ss_json_end_array(json);
    ss_json_end_object(json);
}

/* Texts are ours and hold no quotation marks. */
static bool write_values(const ss_paper *paper, ss_paper_report *report, ss_error *err)
{
    ss_text csv = {0};
    char name[64];
    snprintf(name, sizeof name, "%s.csv", paper->id);
    ss_text_append(&csv, "name,unit,printed,ours,verdict,note\n");
    for (int i = 0; i < report->value_count; i++) {
        const ss_paper_value *value = &report->values[i];
        ss_text_appendf(&csv, "\"%s\",%s,%s,%.17g,%s,\"%s\"\n", value->name, value->unit,
                        value->printed ? value->printed : "", value->ours, ss_verdict_name(value->verdict),
                        value->note ? value->note : "");
    }
    bool good = ss_paper_write(report, name, &csv, err);
    ss_text_free(&csv);
    return good;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static bool is_wanted(const ss_command *command, const ss_paper *paper)
{
    return strcmp(command->arguments[0], "all") == 0 || strcmp(command->arguments[0], paper->id) == 0;
}

static bool check_id(const ss_command *command, ss_error *err)
{
    ss_unknown unknown = ss_unknown_start("experiment", command->arguments[0]);
    for (const ss_paper *const *paper = ss_papers; *paper; paper++) {
        if (is_wanted(command, *paper)) return true;
        ss_unknown_offer(&unknown, (*paper)->id);
    }
    return ss_unknown_fail(&unknown, err) || ss_fail_in(err, "paper");
}

static bool make_directory(const char *path, ss_error *err)
{
    if (!path || mkdir(path, 0777) == 0 || errno == EEXIST) return true;
    return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot make the directory: %s", path, strerror(errno));
}

static bool run_one(const ss_command *command, const ss_paper *paper, ss_json *json, int *code, ss_error *err)
{
    const paper_options *options = command->options;
    ss_paper_report *report = ss_allocate(1, sizeof *report);
    if (!report) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    report->directory = options->output;
    bool good = paper->run(report, err) && write_values(paper, report, err);
    if (good && options->json) put_report(json, paper, report);
    if (good && !options->json) print_report(command->out, paper, report);
    if (good && !is_reproduced(report)) *code = SS_EXIT_FOUND;
    ss_release(report);
    return good;
}

static int run_paper(const ss_command *command)
{
    const paper_options *options = command->options;
    ss_json json = {.text = &command->out->text};
    ss_error err = {0};
    int code = SS_EXIT_DONE;
    if (command->argument_count == 0) {
        print_list(command->out);
        return code;
    }
    if (!check_id(command, &err) || !make_directory(options->output, &err)) return ss_report(&err);
    if (options->json) {
        ss_json_begin_object(&json);
        ss_json_key(&json, "experiments");
        ss_json_begin_array(&json);
    }
    bool good = true;
    for (const ss_paper *const *paper = ss_papers; good && *paper; paper++) {
        if (is_wanted(command, *paper)) good = run_one(command, *paper, &json, &code, &err);
    }
    if (!good) return ss_report(&err);
    if (options->json) {
        ss_json_end_array(&json);
        ss_json_end_object(&json);
        ss_text_append(json.text, "\n");
    }
    return code;
}

static const ss_option table[] = {
    {.name = "output",
     .type = SS_OPTION_TEXT,
     .offset = offsetof(paper_options, output),
     .value_name = "DIR",
     .help = "Write figures (SVG) and tables (CSV) to this directory, which is created if necessary.",
     .letter = 'o'},
    {.name = "json",
     .type = SS_OPTION_BOOL,
     .offset = offsetof(paper_options, json),
     .help = "Print values and verdicts as one JSON object."},
    {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"paper", "list the experiments"},
    {"paper rod", "printed values next to ours, with misprints explained"},
    {"paper isolines -o figures", "six figures as SVG, their numbers as CSV"},
    {0}};

const ss_verb ss_verb_paper = {
    .name = "paper",
    .summary = "reproduce a published experiment and compare the numbers",
    .arguments = "[ID]",
    .description = "Runs the experiment ID with the formulations, solvers and metrics of this library and "
                   "shows our value next to the printed one. The verdict is agrees (to the last printed "
                   "digit), holds (a claim, or a number that the paper does not print), misprint (with "
                   "the reason), or differs. all runs every experiment; without ID, the experiments are "
                   "listed.\n\n"
                   "The exit code is 1 if a value differs without an explanation.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(paper_options),
    .run = run_paper,
};
