#include "cli/describe.h"
#include "cli/table.h"

#include "base/words.h"

#include <string.h>

typedef struct metrics_options {
    ss_common_options common;
    bool json;
} metrics_options;

static bool is_gauge(const char *name)
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        if (strcmp(ss_gauge_name((ss_gauge)g), name) == 0) return true;
    }
    return false;
}

static void print_one(ss_out *out, const ss_metric *metric)
{
    ss_describe_title(out, metric->name, metric->summary);
    ss_describe_item(out, "unit", metric->unit);
    ss_describe_item(out, "definition", metric->definition);
    if (is_gauge(metric->name))
        ss_describe_item(out, "gauge",
                         "yes: cheap, measured on the problem of the formulation at every iteration");
}

static void print_list(ss_out *out)
{
    ss_table table = {.columns = 3, .left = 3};
    ss_table_add(&table, "metric"), ss_table_add(&table, "unit"), ss_table_add(&table, "summary");
    for (int i = 0; i < ss_metric_count(); i++) {
        const ss_metric *metric = ss_metric_at(i);
        ss_table_add(&table, "%s", metric->name);
        ss_table_add(&table, "%s", metric->unit);
        ss_table_add(&table, "%s", metric->summary);
    }
    ss_table_print(&table, out);
    ss_text_append(
        &out->text,
        "\nstickslip metrics NAME gives the definition; docs/metrics.md explains how to read them.\n");
}

static void put_list(ss_out *out, const ss_metric *only)
{
    ss_json json = {.text = &out->text};
    ss_json_begin_object(&json);
    ss_json_key(&json, "metrics");
    ss_json_begin_array(&json);
    for (int i = 0; i < ss_metric_count(); i++) {
        const ss_metric *metric = ss_metric_at(i);
        if (only && metric != only) continue;
        ss_json_begin_object(&json);
        ss_describe_text_json(&json, "name", metric->name);
        ss_describe_text_json(&json, "unit", metric->unit);
        ss_describe_text_json(&json, "summary", metric->summary);
        ss_describe_text_json(&json, "definition", metric->definition);
        ss_json_key(&json, "gauge"), ss_json_bool(&json, is_gauge(metric->name));
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

static const ss_metric *find(const char *name)
{
    int index = ss_metric_index(name);
    if (index >= 0) return ss_metric_at(index);
    ss_nearest nearest = ss_nearest_start(name);
    for (int i = 0; i < ss_metric_count(); i++) ss_nearest_offer(&nearest, ss_metric_at(i)->name);
    if (nearest.best)
        ss_complain("stickslip: metrics: there is no metric '%s'; did you mean %s?", name, nearest.best);
    else
        ss_complain("stickslip: metrics: there is no metric '%s'; stickslip metrics lists them", name);
    return NULL;
}

static int run_metrics(const ss_command *command)
{
    const metrics_options *options = command->options;
    const ss_metric *only = command->argument_count > 0 ? find(command->arguments[0]) : NULL;
    if (command->argument_count > 0 && !only) return SS_EXIT_USAGE;
    if (options->json)
        put_list(command->out, only);
    else if (only)
        print_one(command->out, only);
    else
        print_list(command->out);
    return SS_EXIT_DONE;
}

static const ss_option table[] = {{.name = "json",
                                   .type = SS_OPTION_BOOL,
                                   .offset = offsetof(metrics_options, json),
                                   .help = "Print everything about every metric as one JSON object."},
                                  {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"metrics", "what there is, with units"}, {"metrics creep", "the definition of one"}, {0}};

const ss_verb ss_verb_metrics = {
    .name = "metrics",
    .summary = "list the metrics, or explain one",
    .arguments = "[METRIC]",
    .description = "Metrics judge the answer of a solver. They are computed from the frame and the answer "
                   "alone, against "
                   "Coulomb's law and Newton's, whatever the formulation was; each names its worst contact, "
                   "and says so when it "
                   "does not apply.\n\n"
                   "Any of them can be a stop rule of stickslip solve.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(metrics_options),
    .run = run_metrics,
};
