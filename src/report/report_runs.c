/* Runs as columns: one array per quantity, row k of each is run k. */
#include "report/report_json.h"

#include <math.h>

typedef struct columns {
    ss_json *json;
    const ss_results *results;
    const ss_statistics *statistics;
} columns;

typedef void cell(const columns *c, const ss_run_entry *run);

static void put_array(const columns *c, cell *put)
{
    ss_json_begin_array(c->json);
    for (int r = 0; r < c->results->run_count; r++) put(c, &c->results->runs[r]);
    ss_json_end_array(c->json);
}

static void put_column(const columns *c, const char *key, cell *put)
{
    ss_json_key(c->json, key);
    put_array(c, put);
}

static void put_problem(const columns *c, const ss_run_entry *run)
{
    ss_json_integer(c->json, run->problem);
}

static void put_method(const columns *c, const ss_run_entry *run)
{
    ss_json_integer(c->json, run->method);
}

static void put_machine(const columns *c, const ss_run_entry *run)
{
    ss_json_integer(c->json, run->machine);
}

/* -1 for runs that statistics leave out: of problems with a fault, when the series has no others */
static void put_series(const columns *c, const ss_run_entry *run)
{
    int found = -1;
    for (int i = 0; i < c->statistics->series_count && found < 0; i++) {
        const ss_series *series = &c->statistics->series[i];
        if (series->method == run->method && series->machine == run->machine) found = i;
    }
    ss_json_integer(c->json, found);
}

static void put_outcome(const columns *c, const ss_run_entry *run)
{
    ss_json_integer(c->json, run->outcome);
}

static void put_message(const columns *c, const ss_run_entry *run)
{
    ss_json_string(c->json, run->message);
}

static void put_started(const columns *c, const ss_run_entry *run)
{
    ss_json_string(c->json, run->started ? run->started : "");
}

static void put_unknowns(const columns *c, const ss_run_entry *run)
{
    ss_json_integer(c->json, run->unknowns);
}

static void put_iterations(const columns *c, const ss_run_entry *run)
{
    ss_json_integer(c->json, run->iterations);
}

static void put_kept_iteration(const columns *c, const ss_run_entry *run)
{
    ss_json_integer(c->json, run->kept_iteration);
}

static void put_seconds(const columns *c, const ss_run_entry *run)
{
    ss_report_real(c->json, run->seconds);
}

static void put_best(const columns *c, const ss_run_entry *run)
{
    double least = NAN;
    for (int i = 0; i < run->sample_count; i++) least = fmin(least, run->samples[i].seconds);
    ss_report_real(c->json, least);
}

static void put_samples(const columns *c, const ss_run_entry *run)
{
    ss_json_begin_array(c->json);
    for (int i = 0; i < run->sample_count; i++) ss_report_real(c->json, run->samples[i].seconds);
    ss_json_end_array(c->json);
}

static void put_memory(const columns *c, const ss_run_entry *run)
{
    ss_report_real(c->json, run->memory);
}

static void put_costs(const columns *c)
{
    const ss_statistics_options *by = &c->statistics->options;
    ss_json_key(c->json, "cost");
    ss_json_begin_array(c->json);
    for (int t = 0; t < by->tolerance_count; t++) {
        ss_json_begin_array(c->json);
        for (int r = 0; r < c->results->run_count; r++)
            ss_report_real(c->json,
                           ss_run_cost(&c->results->runs[r], &c->statistics->rule, by->tolerances[t]));
        ss_json_end_array(c->json);
    }
    ss_json_end_array(c->json);
}

static void put_metric(const columns *c, int metric)
{
    ss_json_key(c->json, ss_metric_at(metric)->name);
    ss_json_begin_array(c->json);
    for (int r = 0; r < c->results->run_count; r++) {
        const ss_metric_value *values = c->results->runs[r].metrics;
        ss_report_real(c->json, values && values[metric].applies ? values[metric].value : NAN);
    }
    ss_json_end_array(c->json);
}

static void put_worst(const columns *c, int metric)
{
    ss_json_key(c->json, ss_metric_at(metric)->name);
    ss_json_begin_array(c->json);
    for (int r = 0; r < c->results->run_count; r++) {
        const ss_metric_value *values = c->results->runs[r].metrics;
        bool known = values && values[metric].applies && values[metric].worst_contact >= 0;
        if (known)
            ss_json_integer(c->json, values[metric].worst_contact);
        else
            ss_json_null(c->json);
    }
    ss_json_end_array(c->json);
}

static void put_by_metric(const columns *c, const char *key, void (*put)(const columns *, int))
{
    ss_json_key(c->json, key);
    ss_json_begin_object(c->json);
    for (int m = 0; m < ss_metric_count(); m++) put(c, m);
    ss_json_end_object(c->json);
}

void ss_report_runs(ss_json *json, const ss_results *results, const ss_statistics *statistics)
{
    const columns c = {.json = json, .results = results, .statistics = statistics};
    ss_json_key(json, "runs");
    ss_json_begin_object(json);
    put_column(&c, "problem", put_problem);
    put_column(&c, "method", put_method);
    put_column(&c, "machine", put_machine);
    put_column(&c, "series", put_series);
    put_column(&c, "outcome", put_outcome);
    put_column(&c, "message", put_message);
    put_column(&c, "started", put_started);
    put_column(&c, "unknowns", put_unknowns);
    put_column(&c, "iterations", put_iterations);
    put_column(&c, "keptIteration", put_kept_iteration);
    put_column(&c, "seconds", put_seconds);
    put_column(&c, "best", put_best);
    put_column(&c, "samples", put_samples);
    put_column(&c, "memory", put_memory);
    put_costs(&c);
    put_by_metric(&c, "metrics", put_metric);
    put_by_metric(&c, "worst", put_worst);
    ss_json_end_object(json);
}
