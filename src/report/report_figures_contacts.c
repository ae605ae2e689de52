/* What answers do at contacts. */
#include "report/report_figures_internal.h"

#include "base/words.h"

#include <string.h>

/* From bad to good, as the page has them (web/src/common/palette.ts). */
enum { DRIVING, SLIDING, STICKING, OPEN, STATES };
static const struct {
    const char *name, *colour;
} states[STATES] = {
    {"driving friction", "c-bad"}, {"sliding", "c-slip"}, {"sticking", "c-stick"}, {"open", "c-open"}};

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

    // Boxes of a state begin where those of the one before end.
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
    bool cumulative = strcmp(ss_report_setting(request, "show", "above"), "above") == 0;
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

        // From its first bin to behind its last.
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

enum { CURVES = 3, MOST_METHODS = 2 };
static const char *const curves[CURVES] = {"alignment", "creep", "cone"};

/* The series with most contacts with driving friction in a scene, of equal ones that with the earliest run;
 * -1: none has any. seen: room for a mark for every series. */
static int most_driven(const ss_report_request *request, const char *scene, bool *seen, double *most)
{
    const ss_results *results = request->results;
    int found = -1;
    *most = 0.0;
    memset(seen, 0, (size_t)request->statistics->series_count * sizeof *seen);
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        const ss_problem_entry *problem = &results->problems[run->problem];
        if (strcmp(problem->scene, scene) != 0 || strcmp(problem->format, "bpmd") != 0) continue;
        int series = ss_report_series_of(request->statistics, run);
        if (series < 0 || seen[series]) continue;
        seen[series] = true;

        double sum = 0.0;
        for (int p = 0; p < results->problem_count; p++) {
            const ss_problem_entry *other = &results->problems[p];
            if (strcmp(other->scene, scene) != 0 || strcmp(other->format, "bpmd") != 0) continue;
            const ss_run_entry *own = ss_report_run(request, series, p);
            double driven = own ? ss_report_metric(own, "anomalous_contacts") : NAN;
            if (isfinite(driven)) sum += driven;
        }
        if (sum > *most) *most = sum, found = series;
    }
    return found;
}

/* Where friction drives the motion most; of equal ones that with most frames, then the first. NULL: no
 * frame of a BPMD file. */
static const char *scene_to_show(const ss_report_request *request, bool *seen)
{
    const ss_results *results = request->results;
    const char *best = NULL, *before = NULL;
    double best_driven = -1.0;
    int best_frames = -1;
    for (int p = 0; p < results->problem_count; p++) { // sorted by scene
        const char *scene = results->problems[p].scene;
        if (strcmp(results->problems[p].format, "bpmd") != 0 || (before && strcmp(before, scene) == 0))
            continue;
        before = scene;
        int frames = 0;
        for (int q = 0; q < results->problem_count; q++)
            frames += strcmp(results->problems[q].scene, scene) == 0 && !results->problems[q].fault;
        double driven;
        most_driven(request, scene, seen, &driven);
        if (driven > best_driven || (driven == best_driven && frames > best_frames))
            best = scene, best_driven = driven, best_frames = frames;
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

/* Where the frames of a scene are: at their times, if these are known and differ, at their numbers, or in
 * order. */
static const char *place_frames(const ss_report_request *request, const char *scene, double *x)
{
    const ss_results *results = request->results;
    bool timed = strcmp(ss_report_setting(request, "x", "time"), "time") == 0, counted = true;
    int order = 0;

    for (int p = 0; p < results->problem_count; p++) {
        const ss_problem_entry *one = &results->problems[p];
        x[p] = NAN;
        if (strcmp(one->scene, scene) != 0 || strcmp(one->format, "bpmd") != 0) continue;
        x[p] = ++order;
        timed = timed && isfinite(one->time);
        for (int q = 0; q < p; q++) {
            const ss_problem_entry *other = &results->problems[q];
            if (!isfinite(x[q])) continue;
            timed = timed && one->time != other->time;
            counted = counted && one->index != other->index;
        }
    }
    for (int p = 0; p < results->problem_count; p++)
        if (isfinite(x[p]) && (timed || counted))
            x[p] = timed ? results->problems[p].time : results->problems[p].index;
    return timed ? "time [s]" : counted ? "recorded frame, from 0" : "frame of the scene, in order";
}

bool ss_report_bpmd(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"series", "frame", "place", "time [s]"};
    const ss_results *results = request->results;
    const ss_statistics *statistics = request->statistics;
    const char *scene = ss_report_setting(request, "scene", NULL),
               *who = ss_report_setting(request, "method", NULL),
               *beside = ss_report_setting(request, "beside", NULL), *units[CURVES];
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);
    for (int s = 0; s < OPEN; s++) ss_data_add_column(&to->table, states[s].name, SS_CELL_NUMBER);
    for (int c = 0; c < CURVES; c++) {
        units[c] = ss_metric_at(ss_metric_index(curves[c]))->unit;
        ss_data_add_column(&to->table, ss_report_words(to, "%s [%s]", curves[c], units[c]), SS_CELL_NUMBER);
    }

    // the method to use, and beside it the one with most driving friction
    int series[MOST_METHODS] = {statistics->advice[statistics->options.main_tolerance].series, -1},
        methods = 1;
    if (series[0] < 0) series[0] = 0;
    if (who && (series[0] = ss_report_series_named(request, who, err)) < 0) return false;
    if (scene && !check_scene(results, scene, err)) return false;
    bool *seen = ss_report_take(to, (size_t)statistics->series_count, sizeof *seen);
    if (!seen) return true;
    if (!scene) scene = scene_to_show(request, seen);
    if (!scene || statistics->series_count == 0) return true;
    double driven;
    if (!beside && !who)
        series[1] = most_driven(request, scene, seen, &driven);
    else if (beside && strcmp(beside, "none") != 0 &&
             (series[1] = ss_report_series_named(request, beside, err)) < 0)
        return false;
    if (series[1] >= 0 && series[1] != series[0]) methods = 2;

    double *at = ss_report_numbers(to, results->problem_count),
           *x = ss_report_numbers(to, results->problem_count), *counts[OPEN], *wrong[MOST_METHODS][CURVES],
           *places[MOST_METHODS];
    for (int s = 0; s < OPEN; s++) counts[s] = ss_report_numbers(to, results->problem_count);
    for (int m = 0; m < MOST_METHODS; m++) {
        places[m] = ss_report_numbers(to, results->problem_count);
        for (int c = 0; c < CURVES; c++) wrong[m][c] = ss_report_numbers(to, results->problem_count);
    }
    ss_figure *strips = ss_report_take(to, CURVES, sizeof *strips);
    if (to->out_of_memory) return true;
    const char *label = place_frames(request, scene, at);

    // bars of each method in a panel, and the errors of both in a strip each
    double first = INFINITY, last = -INFINITY, gap = INFINITY, least[CURVES] = {INFINITY, INFINITY, INFINITY};
    int found[MOST_METHODS] = {0};
    for (int m = 0; m < methods; m++) {
        int count = 0;
        for (int p = 0; p < results->problem_count; p++) {
            const ss_problem_entry *problem = &results->problems[p];
            const ss_run_entry *run = isfinite(at[p]) ? ss_report_run(request, series[m], p) : NULL;
            if (isfinite(at[p])) first = fmin(first, at[p]), last = fmax(last, at[p]);
            if (!run) continue;
            double sliding = ss_report_metric(run, "sliding"),
                   bad = ss_report_metric(run, "anomalous_contacts");
            if (!isfinite(bad)) bad = 0.0;
            x[count] = places[m][count] = at[p];
            counts[DRIVING][count] = isfinite(sliding) ? bad : NAN;
            counts[SLIDING][count] = sliding - bad;
            counts[STICKING][count] = ss_report_metric(run, "sticking");
            ss_data_text(&to->table, statistics->series[series[m]].label);
            ss_data_number(&to->table, problem->index);
            ss_data_text(&to->table, problem->place);
            ss_data_number(&to->table, ss_report_known(problem->time));
            for (int s = 0; s < OPEN; s++) ss_data_number(&to->table, counts[s][count]);
            for (int c = 0; c < CURVES; c++) {
                double value = wrong[m][c][count] = ss_report_metric(run, curves[c]);
                ss_data_number(&to->table, value);
                if (value > 0.0) least[c] = fmin(least[c], value);
                to->has_drawing = to->has_drawing || isfinite(value);
            }
            for (int s = 0; s < OPEN; s++) to->has_drawing = to->has_drawing || isfinite(counts[s][count]);
            if (count > 0) gap = fmin(gap, fabs(x[count] - x[count - 1]));
            count++;
        }
        ss_figure *panel = m == 0 ? &to->figure : &to->below;
        for (int s = 0; s < OPEN; s++)
            ss_figure_stack(panel, m == 0 ? states[s].name : NULL, count, x, counts[s])->colour =
                states[s].colour;
        panel->heading = statistics->series[series[m]].label;
        panel->y.label = "contacts";
        found[m] = count;
    }

    if (!isfinite(gap) || gap == 0.0) gap = 1.0;
    ss_figure *before = methods == 2 ? &to->below : &to->figure;
    if (methods == 2) to->figure.below = &to->below;
    for (int c = 0; c < CURVES; c++) {
        ss_figure *strip = &strips[c];
        const double foot = isfinite(least[c]) ? least[c] / 10.0 : 1e-12;
        *strip = (ss_figure){.name = curves[c],
                             .title = "",
                             .low = true,
                             .y = {.label = strcmp(units[c], "1") == 0
                                                ? curves[c]
                                                : ss_report_words(to, "%s [%s]", curves[c], units[c]),
                                   .log = true,
                                   .words = SS_TICK_POWER},
                             .arena = to->arena,
                             .out_of_memory = &to->out_of_memory};
        for (int m = 0; m < methods; m++) {
            for (int i = 0; i < found[m]; i++)
                if (wrong[m][c][i] <= 0.0) wrong[m][c][i] = foot; // zero sits on the bottom line
            const char *name = c == 0 && methods == 2 ? statistics->series[series[m]].label : NULL;
            ss_plot_series *line = ss_figure_line(strip, name, found[m], places[m], wrong[m][c]);
            line->colour = m == 0 ? "s0" : "s1";
            line->look = m + 1;
            line->marks = found[m] <= 60 ? found[m] : 12;
        }
        before->below = strip;
        before = strip;
    }

    // All panels share the time, and leave half a bar free on either side.
    for (ss_figure *panel = &to->figure; panel; panel = panel->below) {
        panel->x.from = first - 0.6 * gap, panel->x.to = last + 0.6 * gap;
        if (!panel->low) panel->low = methods == 2;
    }
    before->x.label = label;
    to->figure.title = ss_report_words(to, "Friction, frame by frame: %s", scene);
    to->figure.note =
        "Bars: resting contacts. Errors of friction: in direction (alignment), at contacts that should stick "
        "(creep), beyond the limit (cone); the lowest line includes zero.";
    return true;
}
