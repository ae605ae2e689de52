/* What answers do at contacts. */
#include "report/report_figures_internal.h"

#include "base/words.h"

#include <string.h>

/* From bad to good, in the colours of the page (common.css). */
enum { BAD, GOOD, STICKING, OPEN, STATES };
static const struct {
    const char *name, *colour;
} states[STATES] = {
    {"bad sliding", "#26262b"}, {"good sliding", "#ee9d92"}, {"sticking", "#8c1c2b"}, {"open", "#d9dbd6"}};

bool ss_report_contact_states(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    int count;
    const int *shown = ss_report_shown(request, to, false, &count, err);
    if (!shown) return false;
    const char **names = ss_report_take(to, (size_t)count, sizeof *names);
    double *from = ss_report_numbers(to, count), *end = ss_report_numbers(to, count),
           *row = ss_report_numbers(to, count);
    if (!names || !from || !end || !row) return true;
    ss_data_add_column(&to->table, "series", SS_CELL_NUMBER);
    for (int s = 0; s < STATES; s++) ss_data_add_column(&to->table, states[s].name, SS_CELL_PERCENT);
    for (int k = 0; k < count; k++) {
        const ss_series *series = &request->statistics->series[shown[k]];
        const double shares[STATES] = {series->sliding_bad, series->sliding_good, series->sticking,
                                       series->open};
        names[k] = series->label;
        row[k] = k;
        end[k] = 0.0;
        ss_data_text(&to->table, series->label);
        for (int s = 0; s < STATES; s++) ss_data_number(&to->table, ss_report_known(shares[s]));
    }
    for (int s = 0; s < STATES; s++) {
        for (int k = 0; k < count; k++) {
            const ss_series *series = &request->statistics->series[shown[k]];
            const double shares[STATES] = {series->sliding_bad, series->sliding_good, series->sticking,
                                           series->open};
            from[k] = end[k];
            end[k] += shares[s];
            to->has_drawing = to->has_drawing || isfinite(shares[s]);
        }
        ss_plot_series *boxes = ss_figure_boxes(&to->figure, states[s].name, count, from, end, row);
        boxes->colour = states[s].colour;
        boxes->share = 0.7;
    }
    to->figure.row_names = names;
    to->figure.row_count = count;
    to->figure.x =
        (ss_plot_axis){.label = "fraction of contacts", .words = SS_TICK_PERCENT, .from = 0.0, .to = 1.0};
    return true;
}

/* Lower edge of a bin, J. */
static double edge(int bin)
{
    return pow(10.0, bin / 2.0);
}

bool ss_report_contact_errors(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"series", "energy error from [J]", "to [J]", "contacts",
                                          "share",  "cumulative fraction"};
    bool cumulative = strcmp(ss_report_setting(request, "show", "cumulative"), "cumulative") == 0;
    int count;
    const int *shown = ss_report_shown(request, to, false, &count, err);
    if (!shown) return false;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);
    for (int k = 0; k < count; k++) {
        const ss_series *series = &request->statistics->series[shown[k]];
        double total = 0.0;
        for (int i = 0; i < series->bin_count; i++) total += series->bins[i].count;
        if (!(total > 0.0)) continue;
        int first = series->bins[0].bin, last = first;
        for (int i = 0; i < series->bin_count; i++) {
            if (series->bins[i].bin < first) first = series->bins[i].bin;
            if (series->bins[i].bin > last) last = series->bins[i].bin;
        }
        int points = last - first + 2;
        double *x = ss_report_numbers(to, points), *y = ss_report_numbers(to, points), above = total;
        if (!x || !y) return true;
        for (int i = 0; i < points; i++) {
            double contacts = 0.0;
            for (int b = 0; b < series->bin_count; b++)
                if (series->bins[b].bin == first + i) contacts = series->bins[b].count;
            x[i] = edge(first + i);
            y[i] = (cumulative ? above : contacts) / total;
            if (contacts > 0.0) {
                const double values[] = {first + i == SS_LEAST_BIN ? 0.0 : x[i], edge(first + i + 1),
                                         contacts, contacts / total, above / total};
                ss_data_text(&to->table, series->label);
                for (size_t c = 0; c < sizeof values / sizeof *values; c++)
                    ss_data_number(&to->table, values[c]);
            }
            above -= contacts;
        }
        ss_plot_series *line = ss_figure_line(&to->figure, series->label, points, x, y);
        ss_report_look(line, shown[k]);
        line->steps = !cumulative;
        line->marks = 7;
        to->has_drawing = true;
    }
    to->figure.x =
        (ss_plot_axis){.label = "energy error of a contact [J]", .log = true, .words = SS_TICK_POWER};
    to->figure.y = (ss_plot_axis){.label = cumulative ? "fraction of contacts with at least this"
                                                      : "fraction of contacts",
                                  .words = SS_TICK_PERCENT};
    if (cumulative) to->figure.y.to = 1.0;
    to->figure.note = "The leftmost bin also holds all smaller errors and exact zeros.";
    return true;
}

/* ---- frame by frame -------------------------------------------------------------------------------- */

/* The scene with most frames, the first of equal ones; NULL: no frame of a BPMD file. */
static const char *busiest_scene(const ss_results *results)
{
    const char *best = NULL;
    int most = -1;
    for (int p = 0; p < results->problem_count; p++) {
        const char *scene = results->problems[p].scene;
        int frames = 0;
        bool seen = false;
        if (strcmp(results->problems[p].format, "bpmd") != 0) continue;
        for (int q = 0; q < results->problem_count; q++) {
            if (strcmp(results->problems[q].scene, scene) != 0) continue;
            seen = seen || (q < p && strcmp(results->problems[q].format, "bpmd") == 0);
            frames += results->problems[q].fault == NULL;
        }
        if (!seen && frames > most) most = frames, best = scene;
    }
    return best;
}

static bool check_scene(const ss_results *results, const char *scene, ss_error *err)
{
    ss_unknown unknown = ss_unknown_start("scene", scene);
    for (int p = 0; p < results->problem_count; p++) {
        if (strcmp(results->problems[p].format, "bpmd") != 0) continue;
        if (strcmp(results->problems[p].scene, scene) == 0) return true;
        if (p == 0 || strcmp(results->problems[p].scene, results->problems[p - 1].scene) != 0)
            ss_unknown_offer(&unknown, results->problems[p].scene);
    }
    return ss_unknown_fail(&unknown, err);
}

bool ss_report_bpmd(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    enum { CURVES = 3 };
    static const char *const curves[CURVES] = {"alignment", "creep", "cone"};
    static const int tints[CURVES] = {0, 4, 2};
    const ss_results *results = request->results;
    const ss_statistics *statistics = request->statistics;
    const char *scene = ss_report_setting(request, "scene", NULL),
               *who = ss_report_setting(request, "method", NULL);
    int series = statistics->advice[statistics->options.main_tolerance].series;
    if (series < 0) series = 0;
    if (who && (series = ss_report_series_named(request, who, err)) < 0) return false;
    if (scene && !check_scene(results, scene, err)) return false;
    if (!scene) scene = busiest_scene(results);

    static const char *const columns[] = {"frame", "place", "time [s]"};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);
    for (int s = 0; s < OPEN; s++) ss_data_add_column(&to->table, states[s].name, SS_CELL_NUMBER);
    for (int c = 0; c < CURVES; c++) {
        int metric = ss_metric_index(curves[c]);
        ss_data_add_column(&to->table, ss_report_words(to, "%s [%s]", curves[c], ss_metric_at(metric)->unit),
                           SS_CELL_NUMBER);
    }
    if (!scene || statistics->series_count == 0) return true;

    double *x = ss_report_numbers(to, results->problem_count), *counts[OPEN], *wrong[CURVES];
    for (int s = 0; s < OPEN; s++) counts[s] = ss_report_numbers(to, results->problem_count);
    for (int c = 0; c < CURVES; c++) wrong[c] = ss_report_numbers(to, results->problem_count);
    if (to->out_of_memory) return true;
    int column = 0, count = 0;
    double least = INFINITY;
    for (int p = 0; p < results->problem_count; p++) {
        const ss_problem_entry *problem = &results->problems[p];
        if (strcmp(problem->scene, scene) != 0 || strcmp(problem->format, "bpmd") != 0) continue;
        column++;
        const ss_run_entry *run = ss_report_run(request, series, p);
        if (!run) continue;
        double sliding = ss_report_metric(run, "sliding"), bad = ss_report_metric(run, "anomalous_contacts");
        if (!isfinite(bad)) bad = 0.0;
        x[count] = column;
        counts[BAD][count] = isfinite(sliding) ? bad : NAN;
        counts[GOOD][count] = sliding - bad;
        counts[STICKING][count] = ss_report_metric(run, "sticking");
        ss_data_number(&to->table, problem->index);
        ss_data_text(&to->table, problem->place);
        ss_data_number(&to->table, ss_report_known(problem->time));
        for (int s = 0; s < OPEN; s++) ss_data_number(&to->table, counts[s][count]);
        for (int c = 0; c < CURVES; c++) {
            wrong[c][count] = ss_report_metric(run, curves[c]);
            ss_data_number(&to->table, wrong[c][count]);
            if (wrong[c][count] > 0.0) least = fmin(least, wrong[c][count]);
        }
        count++;
    }
    if (count == 0) return true;
    for (int s = 0; s < OPEN; s++)
        ss_figure_stack(&to->figure, states[s].name, count, x, counts[s])->colour = states[s].colour;
    const double foot = isfinite(least) ? least / 10.0 : 1e-12;
    for (int c = 0; c < CURVES; c++) {
        for (int i = 0; i < count; i++)
            if (wrong[c][i] <= 0.0) wrong[c][i] = foot; // zero sits on the bottom line
        const char *unit = ss_metric_at(ss_metric_index(curves[c]))->unit;
        ss_plot_series *line = ss_figure_line(
            &to->below, strcmp(unit, "1") == 0 ? curves[c] : ss_report_words(to, "%s [%s]", curves[c], unit),
            count, x, wrong[c]);
        line->tint = tints[c];
        line->look = c + 1;
        line->marks = count <= 60 ? count : 12;
    }
    to->figure.title =
        ss_report_words(to, "Friction, frame by frame: %s, %s", scene, statistics->series[series].label);
    to->figure.y.label = "resting contacts";
    to->figure.x.from = to->below.x.from = 0.4, to->figure.x.to = to->below.x.to = column + 0.6;
    to->below.x.label = "frame of the scene, in order";
    to->below.y = (ss_plot_axis){.label = "errors of friction", .log = true, .words = SS_TICK_POWER};
    to->figure.below = &to->below;
    to->figure.note =
        "Errors: in direction (alignment), at contacts that should stick (creep), beyond the limit (cone); "
        "the lowest line includes zero.";
    to->has_drawing = true;
    return true;
}
