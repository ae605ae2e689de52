#include "cli/terminal/describe.h"

#include <string.h>

static bool is_gauge(const char *name)
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        if (strcmp(ss_gauge_name((ss_gauge)g), name) == 0) return true;
    }
    return false;
}

static const char *name_of(int index)
{
    return ss_metric_at(index)->name;
}

static void explain(ss_out *out, int index)
{
    const ss_metric *metric = ss_metric_at(index);
    ss_describe_title(out, metric->name, metric->summary);
    ss_describe_item(out, "unit", metric->unit);
    ss_describe_item(out, "definition", metric->definition);
    if (is_gauge(metric->name))
        ss_describe_item(out, "gauge",
                         "yes: cheap, measured at every iteration on the problem of the formulation");
}

static void add_row(ss_table *table, int index)
{
    const ss_metric *metric = ss_metric_at(index);
    ss_table_add(table, "%s", metric->name);
    ss_table_add(table, "%s", metric->unit);
    ss_table_add(table, "%s", metric->summary);
}

static void put(ss_json *json, int index)
{
    const ss_metric *metric = ss_metric_at(index);
    ss_json_member_text(json, "name", metric->name);
    ss_json_member_text(json, "unit", metric->unit);
    ss_json_member_text(json, "summary", metric->summary);
    ss_json_member_text(json, "definition", metric->definition);
    ss_json_key(json, "gauge"), ss_json_bool(json, is_gauge(metric->name));
}

static int run_metrics(const ss_command *command)
{
    static const char *const headings[] = {"metric", "unit", "summary"};
    static const ss_listing listing = {
        .kind = "metric",
        .plural = "metrics",
        .count = ss_metric_count,
        .name = name_of,
        .headings = headings,
        .columns = 3,
        .row = add_row,
        .explain = explain,
        .put = put,
        .more = "Definition: stickslip metrics NAME. How to read them: docs/metrics.md."};
    return ss_listing_run(&listing, command);
}

static const ss_option table[] = {SS_LISTING_JSON_OPTION("metric"), {0}};
static const ss_option_group groups[] = {
    {"Options", table, 0}, SS_EXTENSION_GROUP(ss_listing_options, extensions), SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"metrics", "list all metrics with their units"}, {"metrics creep", "the definition of one"}, {0}};

const ss_verb ss_verb_metrics = {
    .name = "metrics",
    .summary = "list the metrics, or explain one",
    .arguments = "[METRIC]",
    .description = "Metrics judge the answer of a solver. They are computed from the frame and the answer "
                   "alone, by Coulomb's and Newton's laws, whatever the formulation. Each metric names "
                   "its worst contact, or states why it does not apply.\n\n"
                   "Any of them can be used in a stop rule of stickslip solve.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_listing_options),
    .run = run_metrics,
};
