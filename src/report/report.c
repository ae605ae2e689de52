/* The object of web/src/report/data.ts: what the ledger is about. Runs and series are in
 * files of their own. */
#include "report/report_board.h"
#include "report/report_json.h"

#include <string.h>

static void append_option(ss_text *text, const char *flag, const char *value)
{
    if (!value || !*value) return;
    ss_text_appendf(text, "%s%s", text->length ? " " : "", flag);
    ss_text_append_word(text, value, strlen(value));
}

/* "a=1 b=2" gives "--set a=1 --set b=2" */
static void append_assignments(ss_text *text, const char *flag, const char *values)
{
    while (values && *values) {
        size_t length = strcspn(values, " ");
        if (length) {
            ss_text_appendf(text, " %s", flag);
            ss_text_append_word(text, values, length);
        }
        values += length + (values[length] == ' ');
    }
}

/* Words for `solve` that choose the method; of a stored answer those for `judge`, which uses the rules in the
 * file. measured: with what belongs to the campaign rather than to the method: its time limit, its reference,
 * and measuring at every iteration, which decides where some methods stop. */
static void append_method(ss_text *text, const ss_method_entry *method, bool measured)
{
    if (ss_method_is_recorded(method)) {
        append_option(text, "--result", method->solver);
        return;
    }
    append_option(text, "-f", method->formulation);
    static const char peg[] = "peg=";
    const char *with = method->with;
    if (strncmp(with, peg, sizeof peg - 1) == 0) { // an option of `solve`, not of the formulation
        size_t length = strcspn(with, " ");
        ss_text_append(text, " --peg");
        ss_text_append_word(text, with + sizeof peg - 1, length - (sizeof peg - 1));
        with += length;
    }
    append_assignments(text, "--with", with);
    append_option(text, "-s", method->solver);
    append_assignments(text, "--set", ss_method_solver_options(method));
    append_option(text, "--stop", method->stop);
    append_option(text, "--keep", method->keep);
    ss_text_appendf(text, " --iterations %d", method->iterations);
    if (measured && method->time_limit > 0.0) { // as short as it reads back the same
        ss_text_append(text, " --time-limit ");
        ss_json_real(&(ss_json){.text = text}, method->time_limit);
    }
    ss_text_appendf(text, " --seed %d", method->seed);
    if (measured) append_option(text, "--reference", method->reference);
    ss_start start = ss_method_start(method);
    if (!measured && (start == SS_START_WARM || start == SS_START_OWN)) ss_text_append(text, " --warm");

    // Plug-ins: one file, or command, in each line.
    static const char command[] = "command:";
    for (const char *files = method->plugin_file; files && *files;) {
        size_t length = strcspn(files, "\n"), mark = sizeof command - 1;
        bool is_command = strncmp(files, command, mark) == 0;
        if (!is_command) mark = 0;
        ss_text_append(text, is_command ? " --solver-command" : " --plugin");
        ss_text_append_word(text, files + mark, length - mark);
        files += length + (files[length] == '\n');
    }
    if (measured) ss_text_append(text, " --every-iteration");
}

static void put_method(ss_json *json, const ss_method_entry *method, const ss_report_links *links, int index)
{
    ss_text options = {0}, use = {0};
    append_method(&options, method, true);
    append_method(&use, method, false);
    ss_json_begin_object(json);
    ss_json_member_text(json, "label", method->label);
    ss_json_member_text(json, "formulation", method->formulation);
    ss_json_member_text(json, "with", method->with);
    ss_json_member_text(json, "solver", method->solver);
    ss_json_member_text(json, "set", method->set);
    ss_json_member_text(json, "start", ss_start_name(ss_method_start(method)));
    ss_json_member_text(json, "plugin", method->plugin);
    ss_json_member_text(json, "pluginFile", method->plugin_file);
    ss_json_member_text(json, "stop", method->stop);
    ss_json_member_text(json, "keep", method->keep);
    ss_json_member_integer(json, "iterations", method->iterations);
    ss_report_key_real(json, "timeLimit", method->time_limit);
    ss_json_member_text(json, "clock", method->clock ? method->clock : SS_CLOCK_WALL);
    ss_json_member_text(json, "limitBy", method->limit_by);
    ss_json_member_integer(json, "seed", method->seed);
    ss_json_member_text(json, "reference", method->reference);
    ss_json_member_text(json, "options", ss_text_get(&options));
    ss_json_member_text(json, "use", ss_text_get(&use));
    ss_json_key(json, "recorded"), ss_json_bool(json, ss_method_is_recorded(method));
    if (links) ss_json_member_text(json, "replay", links->answers[index]); // null: its answers are not there
    ss_json_end_object(json);
    json->text->out_of_memory |= options.out_of_memory || use.out_of_memory;
    ss_text_free(&options);
    ss_text_free(&use);
}

void ss_report_json(const ss_results *results, const ss_statistics *statistics,
                    const ss_report_options *options, ss_text *text)
{
    const ss_statistics_options *by = &statistics->options;
    ss_json *json = &(ss_json){.text = text, .inside_html = options->inside_html};
    ss_json_begin_object(json);
    ss_json_member_text(json, "stickslip", ss_version());
    ss_json_member_text(json, "title", options->title);
    ss_json_member_text(json, "ledger", options->ledger);
    ss_json_member_text(json, "created", options->created);
    ss_json_member_text(json, "campaign", results->campaign);
    ss_json_member_text(json, "measure", ss_metric_at(statistics->rule.measure)->name);
    ss_json_member_text(json, "clock", ss_cost_rule_name(&statistics->rule));
    ss_json_member_integer(json, "penalty", SS_PENALTY);
    ss_json_key(json, "tolerances");
    ss_json_reals(json, by->tolerances, (size_t)by->tolerance_count);
    ss_json_member_integer(json, "mainTolerance", by->main_tolerance);
    ss_report_key_real(json, "shift", by->shift);
    ss_json_key(json, "budgets");
    ss_json_reals(json, by->budgets, (size_t)by->budget_count);

    // What numbers in the arrays below mean.
    ss_json_key(json, "metrics");
    ss_json_begin_array(json);
    for (int m = 0; m < ss_metric_count(); m++) {
        const ss_metric *metric = ss_metric_at(m);
        ss_json_begin_object(json);
        ss_json_member_text(json, "name", metric->name);
        ss_json_member_text(json, "unit", metric->unit);
        ss_json_member_text(json, "summary", metric->summary);
        ss_json_member_text(json, "definition", metric->definition);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_key(json, "gauges");
    ss_json_begin_array(json);
    for (int g = 0; g < SS_GAUGE_COUNT; g++) ss_json_string(json, ss_gauge_name((ss_gauge)g));
    ss_json_end_array(json);
    ss_json_key(json, "outcomes");
    ss_json_begin_array(json);
    for (int o = 0; o < SS_OUTCOME_COUNT; o++) ss_json_string(json, ss_outcome_name((ss_outcome)o));
    ss_json_end_array(json);

    ss_json_key(json, "machines");
    ss_json_begin_array(json);
    for (int i = 0; i < results->machine_count; i++) {
        const ss_machine *machine = &results->machines[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "name", statistics->machines[i].text);
        ss_json_member_text(json, "key", machine->key);
        ss_json_member_text(json, "cpu", machine->cpu);
        ss_json_member_integer(json, "cores", machine->cores);
        ss_json_member_text(json, "system", machine->system);
        ss_json_member_text(json, "version", machine->version);
        ss_json_member_text(json, "compiler", machine->compiler);
        ss_json_member_text(json, "build", machine->build);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);

    ss_json_key(json, "problems");
    ss_json_begin_array(json);
    for (int i = 0; i < results->problem_count; i++) {
        const ss_problem_entry *problem = &results->problems[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "hash", problem->hash);
        ss_json_member_text(json, "place", problem->place);
        ss_json_member_text(json, "file", problem->file);
        ss_json_member_text(json, "format", problem->format);
        ss_json_member_integer(json, "index", problem->index);
        ss_json_member_text(json, "scene", problem->scene);
        ss_report_key_real(json, "time", problem->time);
        ss_report_key_real(json, "h", problem->h);
        ss_json_member_integer(json, "bodies", problem->bodies);
        ss_json_member_integer(json, "joints", problem->joints);
        ss_json_member_integer(json, "rows", problem->rows);
        ss_json_member_integer(json, "contacts", problem->contacts);
        ss_report_key_real(json, "massRatio", problem->mass_ratio);
        ss_report_key_real(json, "density", problem->density);
        ss_report_key_real(json, "rankRatio", problem->rank_ratio);
        ss_report_key_real(json, "muLeast", problem->mu_least);
        ss_report_key_real(json, "muMost", problem->mu_most);
        ss_json_member_text(json, "fault", problem->fault);
        ss_json_member_text(json, "collection", problem->collection);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);

    // Methods, and replays: from the file of a problem to the page that shows it.
    ss_json_key(json, "methods");
    ss_json_begin_array(json);
    for (int i = 0; i < results->method_count; i++) put_method(json, &results->methods[i], options->links, i);
    ss_json_end_array(json);
    if (options->links) {
        ss_json_key(json, "replays");
        ss_json_begin_object(json);
        for (int i = 0; i < options->links->count; i++)
            ss_json_member_text(json, options->links->replays[i].file, options->links->replays[i].address);
        ss_json_end_object(json);
    }

    ss_report_runs(json, results, statistics);
    ss_report_series(json, statistics);
    ss_report_board(json, results, statistics, options->sources);
    if (options->against) ss_report_against(json, results, options->against);
    ss_json_end_object(json);
}
