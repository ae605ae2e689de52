/* What solving costs: profiles, work against precision, error at a budget. */
#include "report/report_figures_internal.h"

#include <string.h>

/* A step function between `from` and `to`, with a corner at either end. */
static void add_steps(ss_report_exhibit *to, const char *label, int series, const ss_curve *curve,
                      double from, double end)
{
    double *x = ss_report_numbers(to, curve->count + 3), *y = ss_report_numbers(to, curve->count + 3);
    if (!x || !y) return;
    int count = 0;
    if (curve->count == 0 || curve->x[0] > from) x[count] = from, y[count++] = 0.0;
    for (int i = 0; i < curve->count; i++) x[count] = fmax(curve->x[i], from), y[count++] = curve->y[i];
    x[count] = fmax(end, x[count - 1]), y[count] = y[count - 1], count++;
    ss_plot_series *line = ss_figure_line(&to->figure, label, count, x, y);
    ss_report_look(line, series);
    line->steps = true;
    line->marks = 6;
}

static void add_curve_rows(ss_report_exhibit *to, const char *label, const ss_curve *curve)
{
    for (int i = 0; i < curve->count; i++) {
        ss_data_text(&to->table, label);
        ss_data_number(&to->table, curve->x[i]);
        ss_data_number(&to->table, curve->y[i]);
    }
}

static void share_axis(ss_plot_axis *axis, const char *label)
{
    *axis = (ss_plot_axis){.label = label, .words = SS_TICK_PERCENT, .from = 0.0, .to = 1.0};
}

/* Curves of the series to show. `doubling`: ratios, from 1 to a power of two. */
static bool draw_curves(const ss_report_request *request, ss_report_exhibit *to, size_t which,
                        const char *column, bool doubling, ss_error *err)
{
    int count;
    const int *shown = ss_report_shown(request, to, false, &count, err);
    if (!shown) return false;
    double least = INFINITY, most = 0.0;
    ss_data_add_column(&to->table, "series", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, column, SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "fraction of problems", SS_CELL_NUMBER);

    // All ranges first: curves end where the longest does.
    for (int k = 0; k < count; k++) {
        const ss_curve *curve = (const ss_curve *)((const char *)ss_report_score(request, shown[k]) + which);
        add_curve_rows(to, request->statistics->series[shown[k]].label, curve);
        if (curve->count > 0) least = fmin(least, curve->x[0]), most = fmax(most, curve->x[curve->count - 1]);
    }
    if (!(most > 0.0)) return true;

    double from = doubling ? 1.0 : least, end = doubling ? exp2(fmax(1.0, ceil(log2(most) + 0.05))) : most;
    for (int k = 0; k < count; k++) {
        const ss_curve *curve = (const ss_curve *)((const char *)ss_report_score(request, shown[k]) + which);
        add_steps(to, request->statistics->series[shown[k]].label, shown[k], curve, from, end);
    }

    share_axis(&to->figure.y, "fraction of all problems");
    to->figure.x.log = true;
    to->figure.x.doubling = doubling;
    if (doubling) to->figure.x.from = 1.0, to->figure.x.to = end;
    to->has_drawing = true;
    return true;
}

bool ss_report_performance_profile(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    to->figure.x.label = "cost, as a multiple of the best method\xe2\x80\x99s";
    return draw_curves(request, to, offsetof(ss_score, profile), "cost over best", true, err);
}

bool ss_report_data_profile(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    bool iterations = strcmp(ss_report_setting(request, "effort", "perUnknown"), "iterations") == 0;
    to->figure.x.label = iterations ? "iterations" : "time per unknown";
    if (!iterations) to->figure.x.words = SS_TICK_SECONDS;
    return draw_curves(request, to,
                       iterations ? offsetof(ss_score, iterations) : offsetof(ss_score, per_unknown),
                       iterations ? "iterations" : "seconds per unknown", false, err);
}

/* ---- two of them ------------------------------------------------------------------------------------ */

/* Share of `total` problems within a multiple of the better cost: those that it alone solves count from
 * the start. sign: 1 for the first of the pair, -1 for the second. */
static ss_curve pair_curve(ss_report_exhibit *to, const ss_pair *pair, int alone, int total, double sign)
{
    ss_curve curve = {ss_report_numbers(to, pair->both + 1), ss_report_numbers(to, pair->both + 1), 0};
    if (!curve.x || !curve.y) return curve;
    curve.x[0] = 1.0, curve.y[0] = (double)alone / total, curve.count = 1;
    for (int i = 0; i < pair->both; i++) {
        double log_ratio =
            sign > 0.0 ? pair->ratio[i] : -pair->ratio[pair->both - 1 - i]; // ascending either way
        double ratio = exp2(fmax(0.0, log_ratio)), share = (double)(alone + i + 1) / total;
        if (ratio != curve.x[curve.count - 1]) curve.x[curve.count++] = ratio;
        curve.y[curve.count - 1] = share;
    }
    return curve;
}

bool ss_report_pairwise_profile(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    const ss_statistics *statistics = request->statistics;
    const char *names[2] = {ss_report_setting(request, "first", NULL),
                            ss_report_setting(request, "second", NULL)};
    int series[2] = {0, 1};
    for (int k = 0; k < 2; k++)
        if (names[k] && (series[k] = ss_report_series_named(request, names[k], err)) < 0) return false;
    if (names[0] && !names[1] && series[0] == 1) series[1] = 0;
    if (names[1] && !names[0] && series[1] == 0) series[0] = 1;
    ss_data_add_column(&to->table, "series", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "cost over the better one", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "fraction of problems", SS_CELL_NUMBER);

    // pairs are stored one way round
    const ss_pair *pair = NULL;
    bool swapped = false;
    for (int p = 0; p < statistics->pair_count && !pair; p++) {
        const ss_pair *one = &statistics->pairs[statistics->options.main_tolerance][p];
        swapped = one->a == series[1] && one->b == series[0];
        if (swapped || (one->a == series[0] && one->b == series[1])) pair = one;
    }
    if (!pair && (names[0] || names[1]))
        return ss_fail(err, SS_ERROR_USAGE, "pairwise-profile: expected two different methods of the best %d",
                       SS_PAIRED);

    int total = pair ? pair->both + pair->only_a + pair->only_b + pair->neither : 0;
    if (total == 0) return true;
    double most = 2.0;
    ss_curve curve[2];
    for (int k = 0; k < 2; k++) {
        bool is_a = (k == 0) != swapped;
        curve[k] = pair_curve(to, pair, is_a ? pair->only_a : pair->only_b, total, is_a ? 1.0 : -1.0);
        if (curve[k].count > 0) most = fmax(most, curve[k].x[curve[k].count - 1]);
    }
    for (int k = 0; k < 2; k++) {
        const char *label = statistics->series[series[k]].label;
        add_curve_rows(to, label, &curve[k]);
        add_steps(to, label, series[k], &curve[k], 1.0, 1.05 * most);
    }

    // Where both solve: which is cheaper how often.
    int faster = 0, slower = 0;
    for (int i = 0; i < pair->both; i++) faster += pair->ratio[i]<0.0, slower += pair->ratio[i]> 0.0;
    to->figure.x = (ss_plot_axis){.label = "cost, as a multiple of the better one\xe2\x80\x99s",
                                  .log = true,
                                  .doubling = true,
                                  .from = 1.0,
                                  .to = 1.05 * most};
    share_axis(&to->figure.y, "fraction of all problems");
    to->figure.note = ss_report_words(
        to,
        "Both solve %d, only the first %d, only the second %d, neither %d. Where both do, the first is "
        "cheaper on %d and the second on %d.",
        pair->both, swapped ? pair->only_b : pair->only_a, swapped ? pair->only_a : pair->only_b,
        pair->neither, swapped ? slower : faster, swapped ? faster : slower);
    to->has_drawing = true;
    return true;
}

/* ---- precision ------------------------------------------------------------------------------------- */

bool ss_report_work_precision(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    const ss_statistics_options *by = &request->statistics->options;
    bool median = strcmp(ss_report_setting(request, "time", "mean"), "median") == 0;
    const char *over = median ? "median, unsolved infinite" : "shifted geometric mean, unsolved penalised";
    int count;
    const int *shown = ss_report_shown(request, to, false, &count, err);
    double *x = ss_report_numbers(to, by->tolerance_count), *y = ss_report_numbers(to, by->tolerance_count);
    if (!shown) return false;
    ss_data_add_column(&to->table, "series", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "tolerance", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, ss_report_words(to, "time [s], %s", over), SS_CELL_SECONDS);
    ss_data_add_column(&to->table, "solved", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "of", SS_CELL_NUMBER);

    for (int k = 0; k < count && x && y; k++) {
        const ss_series *series = &request->statistics->series[shown[k]];
        int points = 0;
        for (int t = 0; t < by->tolerance_count; t++) {
            const ss_score *score = &series->scores[t];
            double time = ss_report_known(median ? score->work.median : score->work.mean);
            ss_data_text(&to->table, series->label);
            ss_data_number(&to->table, by->tolerances[t]);
            ss_data_number(&to->table, time);
            ss_data_number(&to->table, score->solved);
            ss_data_number(&to->table, score->work.problems);
            if (time > 0.0) x[points] = by->tolerances[t], y[points++] = time;
        }
        if (points == 0) continue;
        ss_plot_series *line = ss_figure_line(&to->figure, series->label, points, x, y);
        ss_report_look(line, shown[k]);
        line->marks = points;
        to->has_drawing = true;
    }

    to->figure.x = (ss_plot_axis){
        .label = ss_report_measure(request, to), .log = true, .words = SS_TICK_POWER, .reversed = true};
    to->figure.y = (ss_plot_axis){.label = median ? "time until solved (median)" : "time until solved (mean)",
                                  .log = true,
                                  .words = SS_TICK_SECONDS};
    to->figure.note =
        ss_report_words(to, "Over the problems that any method solves at the loosest tolerance; %s.", over);
    return true;
}

bool ss_report_budget_error(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    const ss_statistics_options *by = &request->statistics->options;
    bool high = strcmp(ss_report_setting(request, "over", "median"), "high") == 0;
    const char *over = high ? "90 % quantile" : "median", *measure = ss_report_measure(request, to);
    int count;
    const int *shown = ss_report_shown(request, to, false, &count, err);
    double *x = ss_report_numbers(to, by->budget_count), *y = ss_report_numbers(to, by->budget_count);
    if (!shown) return false;
    ss_data_add_column(&to->table, "series", SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "budget [s]", SS_CELL_SECONDS);
    ss_data_add_column(&to->table, ss_report_words(to, "%s, %s", measure, over), SS_CELL_NUMBER);
    ss_data_add_column(&to->table, "problems with something to show", SS_CELL_NUMBER);

    for (int k = 0; k < count && x && y; k++) {
        const ss_series *series = &request->statistics->series[shown[k]];
        int points = 0;
        for (int b = 0; b < by->budget_count; b++) {
            double error = ss_report_known(high ? series->budgets[b].high : series->budgets[b].median);
            ss_data_text(&to->table, series->label);
            ss_data_number(&to->table, by->budgets[b]);
            ss_data_number(&to->table, error);
            ss_data_number(&to->table, series->budgets[b].count);
            if (error > 0.0) x[points] = by->budgets[b], y[points++] = error;
        }
        if (points == 0) continue;
        ss_plot_series *line = ss_figure_line(&to->figure, series->label, points, x, y);
        ss_report_look(line, shown[k]);
        line->marks = points;
        to->has_drawing = true;
    }

    to->figure.x = (ss_plot_axis){.label = "budget of time", .log = true, .words = SS_TICK_SECONDS};
    to->figure.y = (ss_plot_axis){
        .label = ss_report_words(to, "%s (%s)", measure, over), .log = true, .words = SS_TICK_POWER};
    to->figure.note = "The best iterate by then, over all problems; one without any counts as doing nothing.";
    return true;
}
