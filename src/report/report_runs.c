/* Runs as columns: one array per quantity, row k of each is run k. */
#include "report/report_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS(X)              \
    X(PROBLEM, "problem")       \
    X(METHOD, "method")         \
    X(MACHINE, "machine")       \
    X(SERIES, "series")         \
    X(OUTCOME, "outcome")       \
    X(MESSAGE, "message")       \
    X(STARTED, "started")       \
    X(UNKNOWNS, "unknowns")     \
    X(ITERATIONS, "iterations") \
    X(KEPT, "keptIteration")    \
    X(SECONDS, "seconds")       \
    X(BEST, "best")             \
    X(SAMPLES, "samples")       \
    X(MEMORY, "memory")
#define CODE(code, key) code,
#define KEY(code, key) key,
typedef enum column { COLUMNS(CODE) COLUMN_COUNT } column;
static const char *const keys[] = {COLUMNS(KEY)};

/* Metrics of single runs are most of a page. In one of very many runs they have five digits; whatever is
 * computed from them was computed before, and --json has all digits. */
enum { MANY_RUNS = 20000 };
static void put_metric(ss_json *json, double value, bool brief)
{
    char text[32];
    if (brief && value - value == 0.0) {
        snprintf(text, sizeof text, "%.5g", value);
        value = strtod(text, NULL);
    }
    ss_report_real(json, value);
}

static void put_cell(ss_json *json, const ss_statistics *statistics, const ss_run_entry *run, column which)
{
    int series = -1; // for runs that statistics leave out: of problems with a fault, when it has no others
    double least = NAN;
    switch (which) {
    case PROBLEM:
        ss_json_integer(json, run->problem);
        break;
    case METHOD:
        ss_json_integer(json, run->method);
        break;
    case MACHINE:
        ss_json_integer(json, run->machine);
        break;
    case SERIES:
        for (int i = 0; i < statistics->series_count && series < 0; i++)
            if (statistics->series[i].method == run->method && statistics->series[i].machine == run->machine)
                series = i;
        ss_json_integer(json, series);
        break;
    case OUTCOME:
        ss_json_integer(json, run->outcome);
        break;
    case MESSAGE:
        ss_json_string(json, run->message);
        break;
    case STARTED:
        ss_json_string(json, run->started ? run->started : "");
        break;
    case UNKNOWNS:
        ss_json_integer(json, run->unknowns);
        break;
    case ITERATIONS:
        ss_json_integer(json, run->iterations);
        break;
    case KEPT:
        ss_json_integer(json, run->kept_iteration);
        break;
    case SECONDS:
        ss_report_real(json, run->seconds);
        break;
    case BEST:
        for (int i = 0; i < run->sample_count; i++) least = fmin(least, run->samples[i].seconds);
        ss_report_real(json, least);
        break;
    case SAMPLES:
        ss_json_begin_array(json);
        for (int i = 0; i < run->sample_count; i++) ss_report_real(json, run->samples[i].seconds);
        ss_json_end_array(json);
        break;
    case MEMORY:
    case COLUMN_COUNT:
        ss_report_real(json, run->memory);
    }
}

void ss_report_runs(ss_json *json, const ss_results *results, const ss_statistics *statistics)
{
    const ss_statistics_options *by = &statistics->options;
    bool brief = json->inside_html && results->run_count > MANY_RUNS;
    ss_json_key(json, "runs");
    ss_json_begin_object(json);
    for (int c = 0; c < COLUMN_COUNT; c++) {
        ss_json_key(json, keys[c]);
        ss_json_begin_array(json);
        for (int r = 0; r < results->run_count; r++) put_cell(json, statistics, &results->runs[r], (column)c);
        ss_json_end_array(json);
    }

    // A column for each tolerance, and for each metric: its value, and its worst contact.
    ss_json_key(json, "cost");
    ss_json_begin_array(json);
    for (int t = 0; t < by->tolerance_count; t++) {
        ss_json_begin_array(json);
        for (int r = 0; r < results->run_count; r++)
            ss_report_real(json, ss_run_cost(&results->runs[r], &statistics->rule, by->tolerances[t]));
        ss_json_end_array(json);
    }
    ss_json_end_array(json);
    for (int worst = 0; worst < 2; worst++) {
        ss_json_key(json, worst ? "worst" : "metrics");
        ss_json_begin_object(json);
        for (int m = 0; m < ss_metric_count(); m++) {
            ss_json_key(json, ss_metric_at(m)->name);
            ss_json_begin_array(json);
            for (int r = 0; r < results->run_count; r++) {
                const ss_metric_value *values = results->runs[r].metrics;
                bool applies = values && values[m].applies;
                if (!worst)
                    put_metric(json, applies ? values[m].value : NAN, brief);
                else if (applies && values[m].worst_contact >= 0)
                    ss_json_integer(json, values[m].worst_contact);
                else
                    ss_json_null(json);
            }
            ss_json_end_array(json);
        }
        ss_json_end_object(json);
    }
    ss_json_end_object(json);
}
