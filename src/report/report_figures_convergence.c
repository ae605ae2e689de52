/* How the error falls from iteration to iteration, and how cost grows with the problem. */
#include "report/report_figures_internal.h"

#include "base/words.h"

#include <string.h>

/* Where there are several scenes, the first bands are those of all together. -1 with an error. */
static int find_place(const ss_report_request *request, const char *scene, ss_error *err)
{
    const ss_series *series = request->statistics->series;
    if (request->statistics->series_count == 0 || series->band_count == 0) return 0;
    if (!scene) return series->bands[0].scene < 0 && series->band_count > 1 ? 1 : 0;
    ss_unknown unknown = ss_unknown_start("scene", scene);
    for (int i = 0; i < series->band_count; i++) {
        int number = series->bands[i].scene;
        const char *name = number < 0 ? "all" : request->statistics->scenes[number].name;
        if (strcmp(name, scene) == 0) return i;
        ss_unknown_offer(&unknown, name);
    }
    ss_unknown_fail(&unknown, err);
    return -1;
}

static int find_gauge(const char *name, ss_error *err)
{
    ss_unknown unknown = ss_unknown_start("gauge", name);
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        if (strcmp(ss_gauge_name((ss_gauge)g), name) == 0) return g;
        ss_unknown_offer(&unknown, ss_gauge_name((ss_gauge)g));
    }
    ss_unknown_fail(&unknown, err);
    return -1;
}

/* A band around the line of a series; of one alone also its largest values. A lower edge that is not
 * positive goes down to the axis. Widens least and most by what is drawn. */
static void add_spread(ss_report_exhibit *to, const ss_band *band, int series, bool mean, bool alone,
                       double *least, double *most)
{
    double *x = ss_report_numbers(to, band->points), *low = ss_report_numbers(to, band->points),
           *high = ss_report_numbers(to, band->points);
    if (!x || !low || !high) return;
    for (int i = 0; i < band->points; i++) {
        double spread = isfinite(band->deviation[i]) ? band->deviation[i] : 0.0;
        x[i] = band->iteration[i];
        low[i] = mean ? band->mean[i] - spread : band->low[i];
        high[i] = mean ? band->mean[i] + spread : band->high[i];
        const double seen[] = {mean ? band->mean[i] : band->median[i], high[i], alone ? band->most[i] : NAN,
                               mean ? NAN : low[i]};
        for (size_t k = 0; k < sizeof seen / sizeof *seen; k++)
            if (isfinite(seen[k]) && seen[k] > 0.0)
                *least = fmin(*least, seen[k]), *most = fmax(*most, seen[k]);
    }

    const char *name = mean ? "mean \xc2\xb1 one standard deviation" : "5 % to 95 % of the problems";
    ss_plot_series *area = ss_figure_band(&to->figure, alone ? name : NULL, band->points, x, low, high);
    area->tint = series % 8;
    area->opacity = 0.16;
    if (!alone) return;
    ss_plot_series *largest = ss_figure_line(&to->figure, "largest", band->points, x, band->most);
    largest->tint = series % 8;
    largest->faint = true;
}

bool ss_report_convergence(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"series",       "iteration",          "runs",
                                          "mean",         "standard deviation", "median",
                                          "5 % quantile", "95 % quantile",      "largest"};
    const ss_statistics *statistics = request->statistics;
    const char *who = ss_report_setting(request, "method", request->method_count > 0 ? "shown" : NULL);
    const bool mean = strcmp(ss_report_setting(request, "over", "median"), "mean") == 0;
    const bool lines = who && strcmp(who, "shown") == 0,
               several = lines || (who && strcmp(who, "bands") == 0);
    int place = find_place(request, ss_report_setting(request, "scene", NULL), err);
    int gauge = find_gauge(ss_report_setting(request, "error", "energy"), err), count = 1, one = 0;
    if (place < 0 || gauge < 0) return false;
    if (who && !several && (one = ss_report_series_named(request, who, err)) < 0) return false;
    const int *shown = &one;
    if (several && !(shown = ss_report_shown(request, to, false, &count, err))) return false;

    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);
    if (statistics->series_count == 0) return true;

    // spreads first, so that lines are on top of them
    int scene = -1;
    double least = INFINITY, most = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            const ss_series *series = &statistics->series[shown[k]];
            if (place >= series->band_count) continue;
            scene = series->bands[place].scene;
            if (scene < 0)
                gauge = SS_GAUGE_RELATIVE_ENERGY; // all scenes together have an error without a unit only
            const ss_band *band = &series->bands[place].gauge[gauge];
            if (pass == 0) {
                for (int i = 0; i < band->points; i++) {
                    const double values[] = {band->iteration[i], band->count[i],  band->mean[i],
                                             band->deviation[i], band->median[i], band->low[i],
                                             band->high[i],      band->most[i]};
                    ss_data_text(&to->table, series->label);
                    for (size_t c = 0; c < sizeof values / sizeof *values; c++)
                        ss_data_number(&to->table, ss_report_known(values[c]));
                }
                if (!lines) add_spread(to, band, shown[k], mean, count == 1, &least, &most);
                continue;
            }
            double *x = ss_report_numbers(to, band->points);
            const double *y = mean ? band->mean : band->median;
            bool any = false;
            for (int i = 0; x && i < band->points; i++) {
                x[i] = band->iteration[i];
                any = any || (isfinite(y[i]) && y[i] > 0.0);
            }
            if (!x || !any) continue;
            ss_plot_series *line = ss_figure_line(&to->figure, series->label, band->points, x, y);
            ss_report_look(line, shown[k]);
            line->marks = 6;
            to->has_drawing = true;
        }

    // Only spreads need room of their own: a figure of lines alone finds its range.
    if (!lines && most > 0.0) to->figure.y.from = least / 3.0, to->figure.y.to = 1.3 * most;
    const char *name = ss_report_with_unit(to, ss_gauge_name((ss_gauge)gauge));
    to->figure.title =
        ss_report_words(to, "Convergence: %s", scene < 0 ? "all scenes" : statistics->scenes[scene].name);
    to->figure.x.label = "iteration", to->figure.x.log = true;
    to->figure.y.label = ss_report_words(to, "%s, %s", name, mean ? "mean" : "median");
    to->figure.y.log = true, to->figure.y.words = SS_TICK_POWER;
    if (several && !lines)
        to->figure.note =
            mean ? "Bands: mean \xc2\xb1 one standard deviation." : "Bands: 5 % to 95 % of the problems.";
    return true;
}

/* ---- size and difficulty ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *words;
    int scaling; /* -1: no line is fitted */
} features[] = {{"unknowns", "unknowns", SS_BY_UNKNOWNS},
                {"contacts", "contacts", SS_BY_CONTACTS},
                {"bodies", "bodies", -1},
                {"massRatio", "mass ratio", SS_BY_MASS_RATIO},
                {"density", "contact density", SS_BY_DENSITY},
                {"rankRatio", "rank ratio", SS_BY_RANK_RATIO}};

static double feature_of(int feature, const ss_problem_entry *problem, const ss_run_entry *run)
{
    const double values[] = {run->unknowns,       problem->contacts, problem->bodies,
                             problem->mass_ratio, problem->density,  problem->rank_ratio};
    return values[feature];
}

static double measured(const ss_report_request *request, const char *what, const ss_run_entry *run)
{
    if (strcmp(what, "cost") == 0)
        return ss_run_cost(run, &request->statistics->rule, ss_report_tolerance(request));
    if (strcmp(what, "iterations") == 0) return run->iterations;
    if (strcmp(what, "memory") == 0) return run->memory;
    if (strcmp(what, "seconds") != 0) return ss_report_metric(run, what);
    double least = NAN;
    for (int i = 0; i < run->sample_count; i++) least = fmin(least, run->samples[i].seconds);
    return isfinite(least) ? least : run->seconds;
}

bool ss_report_scaling(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    enum { LEAST_SIZES = 5 };
    const ss_results *results = request->results;
    const char *across = ss_report_setting(request, "x", "unknowns"),
               *up = ss_report_setting(request, "y", "cost");
    int feature = 0, count;
    while (strcmp(features[feature].name, across) != 0) feature++; // the setting was checked
    bool time = strcmp(up, "cost") == 0 || strcmp(up, "seconds") == 0;
    if (!time && strcmp(up, "iterations") != 0 && strcmp(up, "memory") != 0 && ss_metric_index(up) < 0) {
        ss_unknown unknown = ss_unknown_start("metric", up);
        for (int m = 0; m < ss_metric_count(); m++) ss_unknown_offer(&unknown, ss_metric_at(m)->name);
        return ss_unknown_fail(&unknown, err);
    }

    const char *name = strcmp(up, "cost") == 0      ? "cost [s]"
                       : strcmp(up, "seconds") == 0 ? "time of the whole run [s]"
                       : strcmp(up, "memory") == 0  ? "memory [B]"
                                                    : ss_report_with_unit(to, up);
    const int *shown = ss_report_shown(request, to, false, &count, err);
    double *x = ss_report_numbers(to, results->problem_count),
           *y = ss_report_numbers(to, results->problem_count);
    if (!shown) return false;

    const char *columns[] = {"series", "scene", "file", "place", features[feature].words, name};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);

    for (int k = 0; k < count && x && y; k++) {
        const ss_series *series = &request->statistics->series[shown[k]];
        int points = 0;
        double mean_x = 0.0, mean_y = 0.0, low = INFINITY, high = 0.0;
        for (int p = 0; p < results->problem_count; p++) {
            const ss_run_entry *run = ss_report_run(request, shown[k], p);
            const ss_problem_entry *problem = &results->problems[p];
            double size = run ? feature_of(feature, problem, run) : NAN,
                   value = run ? measured(request, up, run) : NAN;
            if (!(isfinite(size) && isfinite(value) && size > 0.0 && value > 0.0)) continue;
            ss_data_text(&to->table, series->label);
            ss_data_text(&to->table, problem->scene);
            ss_data_text(&to->table, problem->file);
            ss_data_text(&to->table, problem->place);
            ss_data_number(&to->table, size);
            ss_data_number(&to->table, value);
            x[points] = size, y[points++] = value;
            mean_x += log(size), mean_y += log(value);
            low = fmin(low, size), high = fmax(high, size);
        }
        if (points == 0) continue;
        to->has_drawing = true;

        // A least squares line goes through the centre of its points. Few sizes are few clusters, and any
        // line goes through those.
        int sizes = 0;
        for (int i = 0; i < points; i++) {
            bool seen = false;
            for (int j = 0; j < i && !seen; j++) seen = x[j] == x[i];
            sizes += !seen;
        }
        double slope = sizes >= LEAST_SIZES && strcmp(up, "cost") == 0 && features[feature].scaling >= 0
                           ? series->scaling[features[feature].scaling].slope
                           : NAN;
        const char *label =
            isfinite(slope) ? ss_report_words(to, "%s: slope %.3g", series->label, slope) : series->label;
        ss_plot_series *marks = ss_figure_points(&to->figure, isfinite(slope) ? NULL : label, points, x, y);
        ss_report_look(marks, shown[k]);
        marks->hollow = true;
        if (!isfinite(slope)) continue;
        const double ends[2] = {low, high};
        double fitted[2];
        for (int i = 0; i < 2; i++)
            fitted[i] = exp(mean_y / points + slope * (log(ends[i]) - mean_x / points));
        ss_plot_series *line = ss_figure_line(&to->figure, label, 2, ends, fitted);
        ss_report_look(line, shown[k]);
        line->width = 1.4;
        line->marks = 2;
    }

    to->figure.x = (ss_plot_axis){.label = features[feature].words, .log = true};
    to->figure.y =
        (ss_plot_axis){.label = time ? strcmp(up, "cost") == 0 ? "cost" : "time of the whole run" : name,
                       .log = true,
                       .words = time ? SS_TICK_SECONDS : SS_TICK_POWER};
    return true;
}
