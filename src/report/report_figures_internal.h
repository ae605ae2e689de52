/* report/report_figures_internal.h - what the files of figures share. */
#ifndef SS_REPORT_REPORT_FIGURES_INTERNAL_H
#define SS_REPORT_REPORT_FIGURES_INTERNAL_H

#include "report/report_figures.h"

#include <math.h>

typedef bool ss_report_make(const ss_report_request *request, ss_report_exhibit *to, ss_error *err);
ss_report_make ss_report_overview, ss_report_success_rates, ss_report_outcomes, ss_report_performance_profile,
    ss_report_pairwise_profile, ss_report_data_profile, ss_report_work_precision, ss_report_budget_error,
    ss_report_convergence, ss_report_contact_states, ss_report_contact_errors, ss_report_bpmd,
    ss_report_scaling, ss_report_solvers, ss_report_recorded, ss_report_scenes, ss_report_failures,
    ss_report_why, ss_report_problems, ss_report_warm_starts, ss_report_drift, ss_report_unsolved,
    ss_report_reproduction, ss_report_ledgers, ss_report_trust;

/* The value of a setting, or the fallback. */
const char *ss_report_setting(const ss_report_request *request, const char *key, const char *fallback);
/* A series by its label, or by a part of it that only one has. -1 with an error. */
int ss_report_series_named(const ss_report_request *request, const char *label, ss_error *err);
/* Indices of the series to show, rising: `shown` has room for all. -1 with an error. */
int ss_report_chosen(const ss_report_request *request, bool in_table, int *shown, ss_error *err);
/* The same in the arena; NULL with an error. */
int *ss_report_shown(const ss_report_request *request, ss_report_exhibit *to, bool in_table, int *count,
                     ss_error *err);

/* Room in the arena; NULL, and noted, when there is none. */
void *ss_report_take(ss_report_exhibit *to, size_t count, size_t size);
double *ss_report_numbers(ss_report_exhibit *to, int count);
const char *ss_report_words(ss_report_exhibit *to, const char *format, ...) SS_PRINTF(2, 3);

/* The series of a run; -1: of none. */
int ss_report_series_of(const ss_statistics *statistics, const ss_run_entry *run);
/* Of the run of a series on a problem; NULL: missing. */
const ss_run_entry *ss_report_run(const ss_report_request *request, int series, int problem);
/* NaN: does not apply, or not finite. */
double ss_report_metric(const ss_run_entry *run, const char *name);
/* "relative energy error", or the name of another metric. */
const char *ss_report_measure(const ss_report_request *request, ss_report_exhibit *to);
/* "creep [m/s]", in words; without a unit where it has none. */
const char *ss_report_with_unit(ss_report_exhibit *to, const char *metric);

/* A line that looks like the series on the page. */
void ss_report_look(ss_plot_series *line, int series);

static inline double ss_report_tolerance(const ss_report_request *request)
{
    const ss_statistics_options *by = &request->statistics->options;
    return by->tolerances[by->main_tolerance];
}
static inline const ss_score *ss_report_score(const ss_report_request *request, int series)
{
    return &request->statistics->series[series].scores[request->statistics->options.main_tolerance];
}
static inline double ss_report_known(double value)
{
    return isfinite(value) ? value : NAN;
}

#endif
