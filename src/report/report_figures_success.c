/* What is solved and what is not. */
#include "report/report_figures_internal.h"

#include "base/words.h"

#include <stdlib.h>
#include <string.h>

/* The best methods at a glance: cost, and what they leave unsolved. */
bool ss_report_overview(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    enum { MOST = 12 };
    int all, count = 0;
    const int *shown = ss_report_shown(request, to, true, &all, err);
    const char **names = ss_report_take(to, MOST, sizeof *names);
    if (!shown) return false;
    ss_data_add_column(&to->table, "series", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "solved", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "of", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "cost of what it solved [s]", SS_CELL_SECONDS);

    for (int k = 0; k < all && count < MOST && names; k++) {
        const ss_score *score = ss_report_score(request, shown[k]);
        const double row = count;
        int total = score->solved + score->failed + score->refused + score->missing;
        if (!isfinite(score->cost_solved)) continue;
        const char *label = request->statistics->series[shown[k]].label;
        names[count++] = ss_report_words(to, "%s  %d/%d", label, score->solved, total);
        ss_data_text(&to->table, label);
        ss_data_number(&to->table, score->solved);
        ss_data_number(&to->table, total);
        ss_data_number(&to->table, score->cost_solved);

        ss_plot_series *mark = ss_figure_points(&to->figure, NULL, 1, &score->cost_solved, &row);
        ss_report_look(mark, shown[k]);
        mark->width = 4.0;
        mark->hollow = score->solved < score->common;
        to->has_drawing = true;
    }

    to->figure.row_names = names;
    to->figure.row_count = count;
    to->figure.x =
        (ss_plot_axis){.label = "cost per problem that it solves", .log = true, .words = SS_TICK_SECONDS};
    to->figure.note = "Hollow: it leaves problems unsolved that another method solves.";
    return true;
}

bool ss_report_success_rates(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"series",  "solved", "not solved", "not applicable",
                                          "missing", "rate",   "low",        "high"};
    int count;
    const int *shown = ss_report_shown(request, to, false, &count, err);
    const char **names = ss_report_take(to, (size_t)request->statistics->series_count, sizeof *names);
    if (!shown) return false;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], c < 5 ? SS_CELL_NUMBER : SS_CELL_PERCENT);

    for (int k = 0; k < count && names; k++) {
        const ss_score *score = ss_report_score(request, shown[k]);
        const double row = k;
        names[k] = request->statistics->series[shown[k]].label;
        ss_data_text(&to->table, names[k]);
        const double values[] = {
            score->solved, score->failed, score->refused, score->missing, ss_report_known(score->rate),
            score->low,    score->high};
        for (size_t c = 0; c < sizeof values / sizeof *values; c++) ss_data_number(&to->table, values[c]);

        // The interval as a bar, the rate as a mark on it.
        if (!isfinite(score->rate)) continue;
        ss_plot_series *interval = ss_figure_boxes(&to->figure, NULL, 1, &score->low, &score->high, &row);
        ss_report_look(interval, shown[k]);
        interval->share = 0.24;
        interval->opacity = 0.35;
        ss_plot_series *mark = ss_figure_points(&to->figure, NULL, 1, &score->rate, &row);
        ss_report_look(mark, shown[k]);
        mark->width = 4.0;
        to->has_drawing = true;
    }

    to->figure.row_names = names;
    to->figure.row_count = count;
    to->figure.x = (ss_plot_axis){
        .label = "fraction of problems solved", .words = SS_TICK_PERCENT, .from = -0.02, .to = 1.02};
    to->figure.note =
        "Mark: fraction of the problems that the method accepts. Bar: 95 % confidence interval (Wilson).";
    return true;
}

/* ---- every run ------------------------------------------------------------------------------------- */

/* How runs end at a tolerance, from good to bad, as the page has them (web/src/report/model.ts). Limits
 * are hatched: a run that was cut off may have been right. */
static const struct {
    const char *name, *colour;
    int hatch;
} verdicts[] = {{"solved", "o-solved", 0},
                {"too inaccurate", "o-inaccurate", 0},
                {"max iterations", "o-limit", 1},
                {"time limit", "o-time", -1},
                {"stalled", "o-stalled", 0},
                {"ray", "o-ray", 0},
                {"cancelled", "s7", 0},
                {"failed", "o-failed", 0},
                {"crashed", "o-crashed", 0},
                {"hung", "o-hung", 0},
                {"out of memory", "o-memory", 0},
                {"broken", "o-broken", 0},
                {"not applicable", "o-refused", 0},
                {"no run", "o-missing", 0}};
enum { SOLVED = 0, INACCURATE = 1, FAILED = 7, REFUSED = 12, NO_RUN = 13, VERDICTS = 14 };

static int verdict_of(const ss_report_request *request, const ss_run_entry *run)
{
    if (!run) return NO_RUN;
    if (isfinite(ss_run_cost(run, &request->statistics->rule, ss_report_tolerance(request)))) return SOLVED;
    if (ss_run_is_refused(run, request->statistics->rule.measure)) return REFUSED;
    if (run->outcome == (ss_outcome)SS_CONVERGED) return INACCURATE;
    for (int v = 0; v < VERDICTS; v++)
        if (strcmp(verdicts[v].name, ss_outcome_name(run->outcome)) == 0) return v;
    return FAILED;
}

/* Names of scenes over the columns of their problems. */
static void add_spans(const ss_report_request *request, ss_report_exhibit *to, const int *problems, int count)
{
    ss_plot_span *spans = ss_report_take(to, (size_t)count, sizeof *spans);
    int found = 0;
    for (int k = 0; spans && k < count; k++) {
        const char *scene = request->results->problems[problems[k]].scene;
        if (found > 0 && strcmp(spans[found - 1].name, scene) == 0)
            spans[found - 1].to = k + 1;
        else
            spans[found++] = (ss_plot_span){scene, k, k + 1};
    }
    to->figure.spans = spans;
    to->figure.span_count = found;
}

bool ss_report_outcomes(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    const ss_results *results = request->results;
    const char *scene = ss_report_setting(request, "scene", "all");
    const char *measure = ss_metric_at(request->statistics->rule.measure)->name;
    const char *columns[] = {"series",   "scene",      "file",
                             "place",    "outcome",    ss_report_measure(request, to),
                             "cost [s]", "iterations", "message"};
    int count, width = 0;
    const int *shown = ss_report_shown(request, to, true, &count, err);
    int *problems = ss_report_take(to, (size_t)results->problem_count, sizeof *problems);
    if (!shown) return false;

    // The columns: problems of the scene.
    ss_unknown unknown = ss_unknown_start("scene", scene);
    for (int p = 0; problems && p < results->problem_count; p++) {
        ss_unknown_offer(&unknown, results->problems[p].scene);
        if (strcmp(scene, "all") == 0 || strcmp(scene, results->problems[p].scene) == 0)
            problems[width++] = p;
    }
    if (width == 0 && strcmp(scene, "all") != 0) return ss_unknown_fail(&unknown, err);

    size_t cells = (size_t)count * (size_t)width;
    const char **names = ss_report_take(to, (size_t)count, sizeof *names);
    uint8_t *verdict = ss_report_take(to, cells, 1);
    double *from = ss_report_take(to, cells, sizeof *from), *end = ss_report_take(to, cells, sizeof *end),
           *row = ss_report_take(to, cells, sizeof *row);
    if (!problems || !names || !verdict || !from || !end || !row) return true;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], c == 6 ? SS_CELL_SECONDS : SS_CELL_NUMBER);

    // What came of each run, and a row of the table for it.
    for (int k = 0; k < count; k++) {
        names[k] = request->statistics->series[shown[k]].label;
        for (int c = 0; c < width; c++) {
            const ss_problem_entry *problem = &results->problems[problems[c]];
            const ss_run_entry *run = ss_report_run(request, shown[k], problems[c]);
            int found = verdict_of(request, run);
            verdict[(size_t)k * (size_t)width + (size_t)c] = (uint8_t)found;
            if (!run) continue;
            ss_data_text(&to->table, names[k]);
            ss_data_text(&to->table, problem->scene);
            ss_data_text(&to->table, problem->file);
            ss_data_text(&to->table, problem->place);
            ss_data_text(&to->table, verdicts[found].name);
            ss_data_number(&to->table, ss_report_metric(run, measure));
            ss_data_number(&to->table, ss_report_known(ss_run_cost(run, &request->statistics->rule,
                                                                   ss_report_tolerance(request))));
            ss_data_number(&to->table, run->iterations);
            ss_data_text(&to->table, run->message);
        }
    }

    // The cells of one verdict are one series of boxes.
    for (int v = 0; v < VERDICTS; v++) {
        int boxes = 0;
        for (size_t i = 0; i < cells; i++) {
            if (verdict[i] != v) continue;
            from[boxes] = (double)(i % (size_t)width);
            end[boxes] = from[boxes] + 1.0;
            row[boxes++] = (double)(i / (size_t)width);
        }
        if (boxes == 0) continue;
        ss_plot_series *series = ss_figure_boxes(&to->figure, verdicts[v].name, boxes, from, end, row);
        series->colour = verdicts[v].colour;
        series->hatch = verdicts[v].hatch;
        to->has_drawing = true;
    }

    to->figure.row_names = names;
    to->figure.row_count = count;
    to->figure.x.from = 0.0, to->figure.x.to = width;
    to->figure.x.label = "problems, by scene";
    add_spans(request, to, problems, width);
    return true;
}

/* ---- failures -------------------------------------------------------------------------------------- */

typedef struct failure {
    int verdict, series, runs;
    const char *message;
    int order; /* in which it was found: with equal ones the earlier comes first */
} failure;

static int worst_first(const void *a, const void *b)
{
    const failure *first = a, *second = b;
    if (first->verdict != second->verdict) return second->verdict - first->verdict;
    if (first->runs != second->runs) return second->runs - first->runs;
    return first->order - second->order;
}

bool ss_report_failures(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    const ss_results *results = request->results;
    int count, groups = 0;
    const int *shown = ss_report_shown(request, to, true, &count, err);
    if (!shown) return false;
    failure *list = ss_report_take(to, (size_t)results->run_count, sizeof *list);
    if (!list) return true;

    // Runs that failed in the same way, with the same message, are one group.
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        int series = ss_report_series_of(request->statistics, run), found = verdict_of(request, run), g = 0;
        bool wanted = false;
        for (int k = 0; k < count; k++) wanted = wanted || shown[k] == series;
        if (!wanted || found == SOLVED || found == REFUSED) continue;
        const char *message = run->message ? run->message : "";
        while (g < groups && (list[g].verdict != found || list[g].series != series ||
                              strcmp(list[g].message, message) != 0))
            g++;
        if (g == groups) {
            list[g] = (failure){found, series, 0, message, g};
            groups++;
        }
        list[g].runs++;
    }

    if (groups > 1) qsort(list, (size_t)groups, sizeof *list, worst_first);
    static const char *const columns[] = {"kind", "solver", "runs", "message"};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);
    for (int g = 0; g < groups; g++) {
        ss_data_text(&to->table, verdicts[list[g].verdict].name);
        ss_data_text(&to->table, request->statistics->series[list[g].series].label);
        ss_data_number(&to->table, list[g].runs);
        ss_data_text(&to->table, list[g].message);
    }
    return true;
}

bool ss_report_why(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    int count;
    const int *shown = ss_report_shown(request, to, true, &count, err);
    if (!shown) return false;
    ss_data_add_column(&to->table, "series", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "it", SS_CELL_NUMBER);
    for (int k = 0; k < count; k++) {
        const char *why = ss_report_score(request, shown[k])->why;
        if (!why) continue;
        ss_data_text(&to->table, request->statistics->series[shown[k]].label);
        ss_data_text(&to->table, why);
    }
    return true;
}
