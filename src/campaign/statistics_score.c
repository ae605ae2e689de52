/* What was solved and what it cost: scores, profiles, pairs.
 *
 * Edge cases: a judged run without a time (NaN, infinite, negative) is not solved, since it cannot be
 * compared; "not applicable" never is. Times below FLOOR are set to it: clocks may say 0. A tolerance between
 * two decades takes the crossing of the stricter decade; where that was not recorded, although the answer is
 * good enough, the whole run counts. */
#include "campaign/statistics_internal.h"

#include <math.h>
#include <string.h>

#define FLOOR 1e-9 /* s */

/* ---- one run ----------------------------------------------------------------------------------------- */

bool ss_run_is_true(const ss_results *results, const ss_run_entry *run)
{
    return strcmp(results->methods[run->method].formulation, "cone") == 0 ||
           strcmp(results->problems[run->problem].format, "fclib") == 0;
}

/* A run may converge to the answer of a formulation that is not the true one. */
const char *ss_failure_name(ss_outcome outcome)
{
    return outcome == (ss_outcome)SS_CONVERGED ? "inaccurate" : ss_outcome_name(outcome);
}

static double least_sample(const ss_run_entry *run)
{
    double least = INFINITY;
    for (int i = 0; i < run->sample_count; i++) least = fmin(least, run->samples[i].seconds);
    return least;
}

double ss_run_time_scale(const ss_run_entry *run)
{
    double least = least_sample(run);
    return isfinite(least) && run->seconds > 0.0 ? fmax(least, 0.0) / run->seconds : 1.0;
}

ss_gauge ss_statistics_gauge(int measure)
{
    int gauge = 0;
    while (gauge < SS_GAUGE_COUNT && strcmp(ss_gauge_name((ss_gauge)gauge), ss_metric_at(measure)->name) != 0)
        gauge++;
    return (ss_gauge)gauge;
}

bool ss_statistics_has_crossings(int measure)
{
    ss_gauge gauge = ss_statistics_gauge(measure);
    return gauge == SS_GAUGE_RELATIVE_ENERGY || gauge == SS_GAUGE_NATURAL_MAP;
}

ss_cost_rule ss_cost_rule_of(const ss_results *results, int measure, bool whole_call)
{
    ss_cost_rule rule = {.measure = measure,
                         .until_solved = !whole_call && ss_statistics_has_crossings(measure),
                         .whole_call = whole_call};
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        bool counts = run->metrics && !results->problems[run->problem].fault &&
                      !ss_method_is_recorded(&results->methods[run->method]);
        if (counts && !ss_run_is_true(results, run)) rule.until_solved = false;
    }
    return rule;
}

const char *ss_statistics_clock(const ss_results *results)
{
    int counted = 0, by_processor = 0;
    for (int m = 0; m < results->method_count; m++) {
        if (ss_method_is_recorded(&results->methods[m])) continue;
        counted++;
        by_processor += ss_method_counts_processor(&results->methods[m]);
    }
    return by_processor == 0         ? "wall times"
           : by_processor == counted ? "processor times"
                                     : "wall times of some methods and processor times of others";
}

const char *ss_cost_rule_name(const ss_cost_rule *rule)
{
    return rule->whole_call ? "whole call" : rule->until_solved ? "until solved" : "whole run";
}

bool ss_run_is_refused(const ss_run_entry *run, int measure)
{
    bool converged = run->outcome == (ss_outcome)SS_CONVERGED && run->metrics;
    return run->outcome == (ss_outcome)SS_NOT_APPLICABLE || (converged && !run->metrics[measure].applies);
}

/* The crossing that tells when the tolerance was reached; NULL: the whole run. */
static const ss_crossing *crossing_of(const ss_run_entry *run, const ss_cost_rule *rule, double tolerance)
{
    int decade = (int)fmax(0.0, ceil(-log10(tolerance) - 1e-9)); // 1e-9: log10 may round
    ss_gauge gauge = ss_statistics_gauge(rule->measure);
    for (int i = 0; rule->until_solved && i < run->crossing_count; i++)
        if (run->crossings[i].gauge == gauge && run->crossings[i].decade == decade) return &run->crossings[i];
    return NULL;
}

double ss_run_cost(const ss_run_entry *run, const ss_cost_rule *rule, double tolerance)
{
    bool is_solved = run->outcome != (ss_outcome)SS_NOT_APPLICABLE && run->outcome != SS_OUTCOME_RECORDED &&
                     run->metrics && run->metrics[rule->measure].applies &&
                     fabs(run->metrics[rule->measure].value) <= tolerance && isfinite(run->seconds) &&
                     run->seconds >= 0.0;
    if (!is_solved) return NAN;

    if (rule->whole_call) {
        double least_call = INFINITY;
        for (int i = 0; i < run->sample_count; i++) least_call = fmin(least_call, run->samples[i].elapsed);
        // that of the run itself, whose every iterate was measured, only where there is nothing better
        if (isinf(least_call)) least_call = run->elapsed;
        if (isfinite(least_call)) return fmax(least_call, FLOOR);
    }

    const ss_crossing *crossing = crossing_of(run, rule, tolerance);
    double seconds = crossing ? crossing->seconds : run->seconds, least = least_sample(run);
    if (run->seconds > 0.0)
        seconds *= ss_run_time_scale(run);
    else if (isfinite(least))
        seconds = least; // the clock saw nothing of the first run
    return fmax(seconds, FLOOR);
}

/* ---- step functions ---------------------------------------------------------------------------------- */

typedef double measure(const ss_statistics_work *work, int tolerance, int row, int slot);

static double ratio_to_best(const ss_statistics_work *work, int tolerance, int row, int slot)
{
    int machine = ss_statistics_run(work, row, slot)->machine;
    return ss_statistics_costs(work, tolerance, row)[slot] /
           ss_statistics_best(work, tolerance, machine)[slot];
}

double ss_statistics_iterations(const ss_statistics_work *work, int tolerance, int row, int slot)
{
    const ss_run_entry *run = ss_statistics_run(work, row, slot);
    const ss_crossing *crossing = crossing_of(run, &work->rule, work->options->tolerances[tolerance]);
    return crossing ? crossing->iteration : run->iterations;
}

/* s; a problem without unknowns counts as one with one */
static double cost_per_unknown(const ss_statistics_work *work, int tolerance, int row, int slot)
{
    return ss_statistics_costs(work, tolerance, row)[slot] /
           fmax(1.0, ss_statistics_run(work, row, slot)->unknowns);
}

/* Share of all problems with a value of at most x, at every x where it grows. */
static bool make_curve(const ss_statistics_work *work, int tolerance, int row, measure *of, ss_curve *curve)
{
    const double *cost = ss_statistics_costs(work, tolerance, row);
    double *values = work->values;
    int count = 0;
    for (int s = 0; s < work->slots; s++)
        if (!isnan(cost[s])) values[count++] = of(work, tolerance, row, s);
    curve->x = ss_arena_take(work->arena, (size_t)count, sizeof *curve->x, "curve");
    curve->y = ss_arena_take(work->arena, (size_t)count, sizeof *curve->y, "curve");
    if (!curve->x || !curve->y) return false;

    ss_statistics_sort(values, count);
    for (int i = 0; i < count; i++) {
        if (i + 1 < count && values[i + 1] == values[i]) continue;
        curve->x[curve->count] = values[i];
        curve->y[curve->count++] = (i + 1) / (double)work->slots;
    }
    return true;
}

/* ---- scores ------------------------------------------------------------------------------------------ */

int ss_statistics_penalised(const ss_statistics_work *work, int tolerance, int row, int machine, int begin,
                            int end, double *values)
{
    const double *cost = ss_statistics_costs(work, tolerance, row);
    const double *best = ss_statistics_best(work, tolerance, machine);
    int count = 0;
    for (int s = begin; s < end; s++)
        if (!isnan(best[s]))
            values[count++] = isnan(cost[s]) ? ss_statistics_penalty(work, tolerance, machine) : cost[s];
    return count;
}

static void sum_costs(const ss_statistics_work *work, int tolerance, int row, int machine, ss_score *score)
{
    const double *cost = ss_statistics_costs(work, tolerance, row);
    double *values = work->values, shift = work->options->shift;
    int solved = 0;
    for (int s = 0; s < work->slots; s++)
        if (!isnan(cost[s])) values[solved++] = cost[s];
    ss_statistics_sort(values, solved);
    score->cost_solved = ss_shifted_geometric_mean(values, solved, shift);
    score->cost_most = ss_quantile(values, solved, 1.0);

    score->common = ss_statistics_penalised(work, tolerance, row, machine, 0, work->slots, values);
    score->cost = solved ? ss_shifted_geometric_mean(values, score->common, shift) : NAN;
    // sorted, the unsolved ones are the last
    ss_statistics_sort(values, score->common);
    for (int i = solved; i < score->common; i++) values[i] = INFINITY;
    double median = ss_quantile(values, score->common, 0.5);
    score->cost_median = isfinite(median) ? median : NAN;
}

bool ss_statistics_scores(const ss_statistics_work *work, ss_series *series)
{
    int row = ss_statistics_row(work, series);
    size_t tolerances = (size_t)work->options->tolerance_count;
    series->scores = ss_arena_take(work->arena, tolerances, sizeof *series->scores, "scores");
    if (!series->scores) return false;
    for (int t = 0; t < work->options->tolerance_count; t++) {
        ss_score *score = &series->scores[t];
        const double *cost = ss_statistics_costs(work, t, row);
        for (int s = 0; s < work->slots; s++) {
            const ss_run_entry *run = ss_statistics_run(work, row, s);
            score->missing += !run;
            score->refused += run && ss_run_is_refused(run, work->rule.measure);
            score->solved += !isnan(cost[s]);
        }
        score->failed = work->slots - score->missing - score->refused - score->solved;
        int tried = score->solved + score->failed;
        score->rate = tried ? score->solved / (double)tried : NAN;
        ss_wilson_interval(score->solved, tried, &score->low, &score->high);

        sum_costs(work, t, row, series->machine, score);
        if (!make_curve(work, t, row, ratio_to_best, &score->profile) ||
            !make_curve(work, t, row, ss_statistics_iterations, &score->iterations) ||
            !make_curve(work, t, row, cost_per_unknown, &score->per_unknown))
            return false;
    }
    return true;
}

/* ---- beside the leader --------------------------------------------------------------------------------- */

bool ss_statistics_is_before(int solved, double cost, int other_solved, double other_cost)
{
    return solved > other_solved || (solved > 0 && solved == other_solved && cost < other_cost);
}

bool ss_statistics_may_recommend(const ss_statistics_work *work, const ss_statistics *made, int tolerance,
                                 int series)
{
    const ss_method_entry *methods = work->results->methods;
    bool others = false;
    if (ss_method_start(&methods[made->series[series].method]) != SS_START_SHIFTED) return true;
    for (int i = 0; i < made->series_count && !others; i++)
        others = made->series[i].scores[tolerance].solved > 0 &&
                 ss_method_start(&methods[made->series[i].method]) != SS_START_SHIFTED;
    return !others;
}

ss_versus ss_statistics_versus(const ss_statistics_work *work, const ss_statistics *made, int tolerance,
                               int series, int leader)
{
    ss_versus versus = {.leader = leader, .factor = NAN};
    if (leader < 0) return versus;
    int row = ss_statistics_row(work, &made->series[series]);
    const double *own = ss_statistics_costs(work, tolerance, row);
    const double *other =
        ss_statistics_costs(work, tolerance, ss_statistics_row(work, &made->series[leader]));
    double sum = 0.0;
    for (int s = 0; s < work->slots; s++) {
        if (isnan(own[s]) || isnan(other[s])) continue;
        versus.shared++;
        versus.faster += own[s] < other[s];
        sum += log(own[s] / other[s]);
    }
    if (versus.shared) versus.factor = exp(sum / versus.shared);
    return versus;
}

void ss_statistics_compare(const ss_statistics_work *work, ss_statistics *made)
{
    for (int t = 0; t < work->options->tolerance_count; t++) {
        for (int m = 0; m < work->results->machine_count; m++) {
            int leader = -1;
            for (int i = 0; i < made->series_count; i++) {
                const ss_score *score = &made->series[i].scores[t];
                const ss_score *before = leader < 0 ? NULL : &made->series[leader].scores[t];
                if (made->series[i].machine != m || score->solved == 0) continue;
                if (!before ||
                    ss_statistics_is_before(score->solved, score->cost, before->solved, before->cost))
                    leader = i;
            }
            for (int i = 0; i < made->series_count; i++)
                if (made->series[i].machine == m)
                    made->series[i].scores[t].versus = ss_statistics_versus(work, made, t, i, leader);
        }
    }
}

/* ---- pairs ------------------------------------------------------------------------------------------- */

bool ss_statistics_pairs(const ss_statistics_work *work, ss_statistics *made)
{
    int paired = made->series_count < SS_PAIRED ? made->series_count : SS_PAIRED;
    int tolerances = work->options->tolerance_count;
    made->pair_count = paired * (paired - 1) / 2;
    made->pairs = ss_arena_take(work->arena, (size_t)tolerances, sizeof *made->pairs, "pairs");

    for (int t = 0; made->pairs && t < tolerances; t++) {
        ss_pair *pair = made->pairs[t] =
            ss_arena_take(work->arena, (size_t)made->pair_count, sizeof **made->pairs, "pairs");
        if (!pair) return false;
        for (int first = 0; first < paired; first++) {
            for (int second = first + 1; second < paired; second++, pair++) {
                const double *a = ss_statistics_costs(work, t, ss_statistics_row(work, &made->series[first]));
                const double *b =
                    ss_statistics_costs(work, t, ss_statistics_row(work, &made->series[second]));
                *pair = (ss_pair){.a = first, .b = second};
                for (int s = 0; s < work->slots; s++) {
                    bool by_a = !isnan(a[s]), by_b = !isnan(b[s]);
                    if (by_a && by_b) work->values[pair->both++] = log2(a[s] / b[s]);
                    pair->only_a += by_a && !by_b;
                    pair->only_b += by_b && !by_a;
                    pair->neither += !by_a && !by_b;
                }

                ss_statistics_sort(work->values, pair->both);
                pair->ratio = ss_arena_take(work->arena, (size_t)pair->both, sizeof *pair->ratio, "ratios");
                if (!pair->ratio) return false;
                if (pair->both) memcpy(pair->ratio, work->values, (size_t)pair->both * sizeof *pair->ratio);
            }
        }
    }
    return made->pairs != NULL;
}
