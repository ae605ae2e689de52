/* What is solved and what is not. */
#include "report/report_figures_internal.h"

#include <stdlib.h>
#include <string.h>

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

/* How runs end at a tolerance, from good to bad, as the page has them: web/src/report/model.ts and
 * common.css. */
static const struct {
    const char *name, *colour;
} verdicts[] = {{"solved", "#b9dcc9"},         {"too inaccurate", "#f1d58a"}, {"max iterations", "#e9a75c"},
                {"time limit", "#c99a2e"},     {"stalled", "#d47f52"},        {"ray", "#a8659c"},
                {"cancelled", "#5f6670"},      {"failed", "#b4463c"},         {"crashed", "#6d1520"},
                {"hung", "#8a2f5e"},           {"out of memory", "#4a2a6b"},  {"broken", "#33363b"},
                {"not applicable", "#e4e4df"}, {"no run", "#f7f7f4"}};
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
static void add_spans(const ss_report_request *request, ss_report_exhibit *to)
{
    const ss_results *results = request->results;
    ss_plot_span *spans = ss_report_take(to, (size_t)results->problem_count, sizeof *spans);
    int count = 0;
    for (int p = 0; spans && p < results->problem_count; p++) {
        if (count > 0 && strcmp(spans[count - 1].name, results->problems[p].scene) == 0)
            spans[count - 1].to = p + 1;
        else
            spans[count++] = (ss_plot_span){results->problems[p].scene, p, p + 1};
    }
    to->figure.spans = spans;
    to->figure.span_count = count;
}

bool ss_report_outcomes(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"series", "scene", "file", "place", "outcome", "message"};
    const ss_results *results = request->results;
    int count;
    const int *shown = ss_report_shown(request, to, true, &count, err);
    if (!shown) return false;
    size_t cells = (size_t)count * (size_t)results->problem_count;
    const char **names = ss_report_take(to, (size_t)count, sizeof *names);
    uint8_t *verdict = ss_report_take(to, cells, 1);
    double *from = ss_report_take(to, cells, sizeof *from), *end = ss_report_take(to, cells, sizeof *end),
           *row = ss_report_take(to, cells, sizeof *row);
    if (!names || !verdict || !from || !end || !row) return true;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);
    for (int k = 0; k < count; k++) {
        names[k] = request->statistics->series[shown[k]].label;
        for (int p = 0; p < results->problem_count; p++) {
            const ss_run_entry *run = ss_report_run(request, shown[k], p);
            int found = verdict_of(request, run);
            verdict[(size_t)k * (size_t)results->problem_count + (size_t)p] = (uint8_t)found;
            if (!run) continue;
            ss_data_text(&to->table, names[k]);
            ss_data_text(&to->table, results->problems[p].scene);
            ss_data_text(&to->table, results->problems[p].file);
            ss_data_text(&to->table, results->problems[p].place);
            ss_data_text(&to->table, verdicts[found].name);
            ss_data_text(&to->table, run->message);
        }
    }
    for (int v = 0; v < VERDICTS; v++) {
        int boxes = 0;
        for (size_t i = 0; i < cells; i++) {
            if (verdict[i] != v) continue;
            from[boxes] = (double)(i % (size_t)results->problem_count);
            end[boxes] = from[boxes] + 1.0;
            row[boxes++] = (double)(i / (size_t)results->problem_count);
        }
        if (boxes == 0) continue;
        ss_figure_boxes(&to->figure, verdicts[v].name, boxes, from, end, row)->colour = verdicts[v].colour;
        to->has_drawing = true;
    }
    to->figure.row_names = names;
    to->figure.row_count = count;
    to->figure.x.from = 0.0, to->figure.x.to = results->problem_count;
    to->figure.x.label = "problems, by scene";
    add_spans(request, to);
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
        if (g == groups) list[groups++] = (failure){found, series, 0, message, groups};
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
