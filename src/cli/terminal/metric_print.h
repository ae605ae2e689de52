/* cli/terminal/metric_print.h - metrics of an answer, as JSON and in tables. */
#ifndef SS_CLI_TERMINAL_METRIC_PRINT_H
#define SS_CLI_TERMINAL_METRIC_PRINT_H

#include "cli/terminal/table.h"

#include <stickslip/metrics.h>

/* Key and object: "metrics": {"energy": {"value", "worst", ...}, ...}; values[ss_metric_count()]. */
void ss_metrics_json(ss_json *json, const ss_metric_value *values);

/* A cell with the value, and one with its worst contact or joint. "-": there is none. */
void ss_metric_add(ss_table *table, const ss_metric_value *value);
void ss_metric_add_worst(ss_table *table, const ss_metric_value *value);
/* A line for every metric. */
void ss_metrics_tabulate(ss_table *table, const ss_metric_value *values);

#endif
