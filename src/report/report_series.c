/* Series: scores with their curves, bands, and what else was found; pairs; advice. */
#include "report/report_json.h"

#define CURVE_POINTS 300 /* of a step function that are kept */

static void put_reals(ss_json *json, const char *key, const double *values, int count)
{
    ss_json_key(json, key);
    ss_json_begin_array(json);
    for (int i = 0; i < count; i++) ss_report_real(json, values[i]);
    ss_json_end_array(json);
}

/* Of a long curve some points are kept: first and last are always there, and each is as exact as it was. */
static void put_axis(ss_json *json, const char *key, const double *values, int count)
{
    int kept = count < CURVE_POINTS ? count : CURVE_POINTS;
    ss_json_key(json, key);
    ss_json_begin_array(json);
    for (int k = 0; k < kept; k++)
        ss_report_real(json, values[kept == count ? k : (int)((long long)k * (count - 1) / (kept - 1))]);
    ss_json_end_array(json);
}

static void put_curve(ss_json *json, const char *key, const ss_curve *curve)
{
    ss_json_key(json, key);
    ss_json_begin_object(json);
    put_axis(json, "x", curve->x, curve->count);
    put_axis(json, "y", curve->y, curve->count);
    ss_json_end_object(json);
}

static void put_score(ss_json *json, const ss_score *score)
{
    ss_json_begin_object(json);
    ss_json_member_integer(json, "solved", score->solved);
    ss_json_member_integer(json, "failed", score->failed);
    ss_json_member_integer(json, "refused", score->refused);
    ss_json_member_integer(json, "missing", score->missing);
    ss_report_key_real(json, "rate", score->rate);
    ss_report_key_real(json, "low", score->low);
    ss_report_key_real(json, "high", score->high);
    ss_json_member_integer(json, "common", score->common);
    ss_report_key_real(json, "cost", score->cost);
    ss_report_key_real(json, "relative", score->relative);
    ss_report_key_real(json, "costSolved", score->cost_solved);
    ss_report_key_real(json, "costMedian", score->cost_median);
    ss_report_key_real(json, "costMost", score->cost_most);

    ss_json_key(json, "versus");
    ss_json_begin_object(json);
    ss_json_member_index(json, "leader", score->versus.leader);
    ss_json_member_integer(json, "shared", score->versus.shared);
    ss_json_member_integer(json, "faster", score->versus.faster);
    ss_report_key_real(json, "factor", score->versus.factor);
    ss_json_end_object(json);

    ss_json_member_text(json, "why", score->why);
    ss_json_key(json, "work");
    ss_json_begin_object(json);
    ss_json_member_integer(json, "problems", score->work.problems);
    ss_report_key_real(json, "mean", score->work.mean);
    ss_report_key_real(json, "median", score->work.median);
    ss_json_end_object(json);

    put_curve(json, "profile", &score->profile);
    put_curve(json, "iterations", &score->iterations);
    put_curve(json, "perUnknown", &score->per_unknown);
    ss_json_end_object(json);
}

static void put_band(ss_json *json, const ss_band *band)
{
    size_t points = (size_t)band->points;
    ss_json_begin_object(json);
    ss_json_key(json, "iteration"), ss_json_integers(json, band->iteration, points);
    ss_json_key(json, "count"), ss_json_integers(json, band->count, points);
    put_reals(json, "mean", band->mean, band->points);
    put_reals(json, "deviation", band->deviation, band->points);
    put_reals(json, "median", band->median, band->points);
    put_reals(json, "low", band->low, band->points);
    put_reals(json, "high", band->high, band->points);
    put_reals(json, "most", band->most, band->points);
    ss_json_end_object(json);
}

static void put_metrics(ss_json *json, const double *median, const double *most, const int *worst)
{
    ss_json_key(json, "metricMedian");
    ss_json_begin_object(json);
    for (int m = 0; m < ss_metric_count(); m++) ss_report_key_real(json, ss_metric_at(m)->name, median[m]);
    ss_json_end_object(json);
    ss_json_key(json, "metricMost");
    ss_json_begin_object(json);
    for (int m = 0; m < ss_metric_count(); m++) ss_report_key_real(json, ss_metric_at(m)->name, most[m]);
    ss_json_end_object(json);
    ss_json_key(json, "metricWorst");
    ss_json_begin_object(json);
    for (int m = 0; m < ss_metric_count(); m++) ss_json_member_index(json, ss_metric_at(m)->name, worst[m]);
    ss_json_end_object(json);
}

static void put_series(ss_json *json, const ss_series *series, const ss_statistics_options *by)
{
    ss_json_begin_object(json);
    ss_json_member_text(json, "label", series->label);
    ss_json_member_integer(json, "method", series->method);
    ss_json_member_integer(json, "machine", series->machine);
    ss_json_key(json, "outcomes"), ss_json_integers(json, series->outcomes, SS_OUTCOME_COUNT);
    ss_json_key(json, "scores");
    ss_json_begin_array(json);
    for (int t = 0; t < by->tolerance_count; t++) put_score(json, &series->scores[t]);
    ss_json_end_array(json);
    ss_json_key(json, "followed"), ss_json_bool(json, series->followed);

    // All scenes together have an error without a unit only.
    ss_json_key(json, "bands");
    ss_json_begin_array(json);
    for (int i = 0; i < series->band_count; i++) {
        const ss_scene_bands *bands = &series->bands[i];
        ss_json_begin_object(json);
        ss_json_member_index(json, "scene", bands->scene);
        ss_json_key(json, "gauges");
        ss_json_begin_object(json);
        for (int g = 0; g < SS_GAUGE_COUNT; g++) {
            if (bands->scene < 0 && g != SS_GAUGE_RELATIVE_ENERGY) continue;
            ss_json_key(json, ss_gauge_name((ss_gauge)g));
            put_band(json, &bands->gauge[g]);
        }
        ss_json_end_object(json);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);

    ss_json_key(json, "budgets");
    ss_json_begin_array(json);
    for (int b = 0; b < by->budget_count; b++) {
        ss_json_begin_object(json);
        ss_report_key_real(json, "median", series->budgets[b].median);
        ss_report_key_real(json, "high", series->budgets[b].high);
        ss_json_member_integer(json, "count", series->budgets[b].count);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_key(json, "scaling");
    ss_json_begin_object(json);
    for (int f = 0; f < SS_FEATURES; f++) {
        ss_json_key(json, ss_feature_name(f));
        ss_json_begin_object(json);
        ss_report_key_real(json, "slope", series->scaling[f].slope);
        ss_report_key_real(json, "rSquared", series->scaling[f].r_squared);
        ss_json_end_object(json);
    }
    ss_json_end_object(json);

    // Contacts: how many stick, slide and are open, their metrics, and their errors by bins.
    ss_json_key(json, "contacts");
    ss_json_begin_object(json);
    ss_report_key_real(json, "sticking", series->sticking);
    ss_report_key_real(json, "slidingGood", series->sliding_good);
    ss_report_key_real(json, "slidingBad", series->sliding_bad);
    ss_report_key_real(json, "open", series->open);
    ss_json_end_object(json);
    put_metrics(json, series->metric_median, series->metric_most, series->metric_worst);
    ss_json_key(json, "bins");
    ss_json_begin_array(json);
    for (int i = 0; i < series->bin_count; i++) {
        ss_json_begin_object(json);
        ss_json_member_integer(json, "bin", series->bins[i].bin);
        ss_json_member_integer(json, "count", series->bins[i].count);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_member_integer(json, "leastBin", SS_LEAST_BIN);
    ss_json_key(json, "drift"); // every point of it, as its figure has them
    ss_json_begin_object(json);
    put_reals(json, "x", series->drift.x, series->drift.count);
    put_reals(json, "y", series->drift.y, series->drift.count);
    ss_json_end_object(json);
    ss_json_key(json, "timed"), ss_json_bool(json, series->timed);
    ss_json_member_integer(json, "unsteady", series->unsteady);
    ss_json_end_object(json);
}

static void put_scene_scores(ss_json *json, const char *key, const ss_scene_score *scores, int count)
{
    ss_json_key(json, key);
    ss_json_begin_array(json);
    for (int t = 0; t < count; t++) {
        ss_json_begin_object(json);
        ss_json_member_index(json, "series", scores[t].series);
        ss_json_member_integer(json, "solved", scores[t].solved);
        ss_report_key_real(json, "cost", scores[t].cost);
        ss_report_key_real(json, "costSolved", scores[t].cost_solved);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}

void ss_report_series(ss_json *json, const ss_statistics *statistics)
{
    int tolerances = statistics->options.tolerance_count;
    ss_json_key(json, "series");
    ss_json_begin_array(json);
    for (int i = 0; i < statistics->series_count; i++)
        put_series(json, &statistics->series[i], &statistics->options);
    ss_json_end_array(json);

    // Answers as recorded.
    ss_json_key(json, "recorded");
    ss_json_begin_array(json);
    for (int i = 0; i < statistics->recorded_count; i++) {
        const ss_recorded *recorded = &statistics->recorded[i];
        ss_json_begin_object(json);
        ss_json_member_integer(json, "method", recorded->method);
        ss_json_member_integer(json, "answers", recorded->answers);
        ss_json_member_integer(json, "incomplete", recorded->incomplete);
        ss_json_member_integer(json, "assumed", recorded->assumed);
        ss_json_member_integer(json, "tried", recorded->tried);
        ss_json_key(json, "within"), ss_json_integers(json, recorded->within, (size_t)tolerances);
        put_metrics(json, recorded->metric_median, recorded->metric_most, recorded->metric_worst);
        ss_json_key(json, "runs"), ss_json_integers(json, recorded->run, (size_t)recorded->answers);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);

    // Two by two, scene by scene, and what to use, at each tolerance.
    ss_json_key(json, "pairs");
    ss_json_begin_array(json);
    for (int t = 0; t < tolerances; t++) {
        ss_json_begin_array(json);
        for (int p = 0; p < statistics->pair_count; p++) {
            const ss_pair *pair = &statistics->pairs[t][p];
            ss_json_begin_object(json);
            ss_json_member_integer(json, "a", pair->a);
            ss_json_member_integer(json, "b", pair->b);
            put_reals(json, "ratio", pair->ratio, pair->both);
            ss_json_member_integer(json, "both", pair->both);
            ss_json_member_integer(json, "onlyA", pair->only_a);
            ss_json_member_integer(json, "onlyB", pair->only_b);
            ss_json_member_integer(json, "neither", pair->neither);
            ss_json_end_object(json);
        }
        ss_json_end_array(json);
    }
    ss_json_end_array(json);
    ss_json_key(json, "scenes");
    ss_json_begin_array(json);
    for (int i = 0; i < statistics->scene_count; i++) {
        const ss_scene_standing *scene = &statistics->scenes[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "name", scene->name);
        ss_json_member_integer(json, "problems", scene->problems);
        put_scene_scores(json, "best", scene->best, tolerances);
        put_scene_scores(json, "first", scene->first, tolerances);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_key(json, "starts");
    ss_json_begin_array(json);
    for (int i = 0; i < statistics->start_count; i++) {
        const ss_start_standing *standing = &statistics->starts[i];
        ss_json_begin_object(json);
        ss_json_member_integer(json, "series", standing->series);
        ss_json_member_integer(json, "cold", standing->cold);
        ss_json_member_text(json, "start", ss_start_name(standing->start));
        ss_json_key(json, "scores");
        ss_json_begin_array(json);
        for (int t = 0; t < tolerances; t++) {
            const ss_start_score *score = &standing->scores[t];
            ss_json_begin_object(json);
            ss_json_member_integer(json, "frames", score->frames);
            ss_json_member_integer(json, "solved", score->solved);
            ss_json_member_integer(json, "coldSolved", score->cold_solved);
            ss_json_member_integer(json, "both", score->both);
            ss_json_member_integer(json, "better", score->better);
            ss_json_member_integer(json, "worse", score->worse);
            ss_report_key_real(json, "iterations", score->iterations);
            ss_report_key_real(json, "cost", score->cost);
            ss_json_end_object(json);
        }
        ss_json_end_array(json);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_key(json, "trust");
    ss_json_begin_array(json);
    for (int i = 0; i < statistics->trust_count; i++) {
        const ss_trust *trust = &statistics->trust[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "metric", ss_metric_at(trust->metric)->name);
        ss_json_member_text(json, "over", ss_metric_at(trust->truth)->name);
        ss_json_member_integer(json, "runs", trust->runs);
        ss_report_key_real(json, "median", trust->median);
        ss_report_key_real(json, "low", trust->low);
        ss_report_key_real(json, "high", trust->high);
        ss_report_key_real(json, "below", trust->below);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_key(json, "advice");
    ss_json_begin_array(json);
    for (int t = 0; t < tolerances; t++) {
        const ss_advice *advice = &statistics->advice[t];
        ss_json_begin_object(json);
        ss_json_member_index(json, "series", advice->series);
        ss_json_key(json, "reliable"), ss_json_bool(json, advice->is_reliable);
        ss_json_member_index(json, "fastest", advice->fastest);
        ss_json_member_index(json, "mostAccurate", advice->most_accurate);
        ss_json_member_text(json, "text", advice->text);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}
