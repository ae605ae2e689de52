/* What warm starts are worth, and how errors grow or shrink along a sequence. */
#include "report/report_figures_internal.h"

#include <string.h>

bool ss_report_warm_starts(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    const ss_statistics *statistics = request->statistics;
    static const char *const columns[] = {"series",         "start",  "from zero",        "tolerance",
                                          "frames",         "solved", "solved from zero", "fewer iterations",
                                          "more iterations"};
    static const char *const shown_columns[] = {"Method", "Frames", "Solved", "from zero", "Better", "Worse"};
    int count;
    const int *shown = ss_report_shown(request, to, true, &count, err);
    if (!shown) return false;
    ss_data_table *table = &to->table;
    size_t width = request->for_readers ? sizeof shown_columns / sizeof *shown_columns
                                        : sizeof columns / sizeof *columns;
    for (size_t c = 0; c < width; c++)
        ss_data_add_column(table, request->for_readers ? shown_columns[c] : columns[c], SS_CELL_NUMBER);
    ss_data_add_column(table, request->for_readers ? "Iterations" : "iterations over those from zero",
                       SS_CELL_NUMBER);
    ss_data_add_column(table, request->for_readers ? "Cost" : "cost over that from zero", SS_CELL_NUMBER);
    table->note =
        "Iterations and cost: over those from zero, where both solve; below 1 is saved. Worse: more "
        "iterations, or not solved where zero is a start that solves.";

    for (int i = 0; i < statistics->start_count; i++) {
        const ss_start_standing *standing = &statistics->starts[i];
        const ss_start_score *score = &standing->scores[statistics->options.main_tolerance];
        bool wanted = false;
        for (int k = 0; k < count; k++) wanted |= shown[k] == standing->series;
        if (!wanted) continue;
        ss_data_text(table, statistics->series[standing->series].label);
        if (!request->for_readers) {
            ss_data_text(table, ss_start_name(standing->start));
            ss_data_text(table, statistics->series[standing->cold].label);
            ss_data_number(table, ss_report_tolerance(request));
        }
        ss_data_number(table, score->frames);
        ss_data_number(table, score->solved);
        ss_data_number(table, score->cold_solved);
        ss_data_number(table, score->better);
        ss_data_number(table, score->worse);
        ss_data_number(table, ss_report_known(score->iterations));
        ss_data_number(table, ss_report_known(score->cost));
    }
    return true;
}

bool ss_report_drift(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    const ss_statistics *statistics = request->statistics;
    const char *measure = ss_report_measure(request, to),
               *wanted = ss_report_setting(request, "method", NULL);
    ss_data_add_column(&to->table, "series", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "frame of the simulation", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, ss_report_words(to, "%s, median", measure), SS_CELL_NUMBER);
    to->figure.x = (ss_plot_axis){.label = "frame of the simulation", .whole = true};
    to->figure.y = (ss_plot_axis){
        .label = ss_report_words(to, "%s (median)", measure), .log = true, .words = SS_TICK_POWER};
    if (statistics->start_count == 0) return true;

    // One method with all its starts: the one that is named, or the best.
    int cold = statistics->starts[0].cold;
    if (wanted) {
        int named = ss_report_series_named(request, wanted, err);
        if (named < 0) return false;
        cold = named;
        for (int i = 0; i < statistics->start_count; i++)
            if (statistics->starts[i].series == named) cold = statistics->starts[i].cold;
    }

    for (int i = -1; i < statistics->start_count; i++) {
        if (i >= 0 && statistics->starts[i].cold != cold) continue;
        int own = i < 0 ? cold : statistics->starts[i].series;
        const ss_series *series = &statistics->series[own];
        double *x = ss_report_numbers(to, series->drift.count),
               *y = ss_report_numbers(to, series->drift.count);
        int points = 0;
        for (int k = 0; k < series->drift.count && x && y; k++) {
            double error = ss_report_known(series->drift.y[k]);
            ss_data_text(&to->table, series->label);
            ss_data_number(&to->table, series->drift.x[k]);
            ss_data_number(&to->table, error);
            if (error > 0.0) x[points] = series->drift.x[k], y[points++] = error;
        }
        if (points == 0) continue;
        ss_plot_series *line = ss_figure_line(&to->figure, series->label, points, x, y);
        ss_report_look(line, own);
        line->marks = points;
        to->has_drawing = true;
    }
    to->figure.note = "The error of the answers, from frame to frame; the median where there are several "
                      "simulations.";
    return true;
}
