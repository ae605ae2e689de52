/* Answers as recorded: how many are within each tolerance, and how large their errors are. */
#include "campaign/statistics_internal.h"

#include <math.h>
#include <string.h>

/* The answers of a method, each problem once: runs are sorted by problem, method and machine, and what two
 * machines have judged is the same answer. NULL: only counts. */
static int find_answers(const ss_statistics_work *work, int method, int *runs)
{
    const ss_results *results = work->results;
    int count = 0, last = -1;
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        if (run->method != method || work->slot[run->problem] < 0 || run->problem == last) continue;
        last = run->problem;
        if (runs) runs[count] = r;
        count++;
    }
    return count;
}

static void sum_metric(const ss_statistics_work *work, int metric, ss_recorded *recorded)
{
    int count = 0;
    recorded->metric_most[metric] = NAN;
    recorded->metric_worst[metric] = -1;
    for (int i = 0; i < recorded->answers; i++) {
        const ss_run_entry *run = &work->results->runs[recorded->run[i]];
        if (!run->metrics || !run->metrics[metric].applies || isnan(run->metrics[metric].value)) continue;
        double value = run->metrics[metric].value;
        work->values[count++] = value;
        if (recorded->metric_worst[metric] >= 0 && value <= recorded->metric_most[metric]) continue;
        recorded->metric_most[metric] = value;
        recorded->metric_worst[metric] = recorded->run[i];
    }
    ss_statistics_sort(work->values, count);
    recorded->metric_median[metric] = ss_quantile(work->values, count, 0.5);
}

static void count_answers(const ss_statistics_work *work, ss_recorded *recorded)
{
    for (int i = 0; i < recorded->answers; i++) {
        const ss_run_entry *run = &work->results->runs[recorded->run[i]];
        recorded->incomplete += !run->metrics;
        recorded->assumed += run->message && strcmp(run->message, SS_RULES_ASSUMED) == 0;
        if (!run->metrics || !run->metrics[work->rule.measure].applies) continue;
        recorded->tried++;
        for (int t = 0; t < work->options->tolerance_count; t++)
            recorded->within[t] +=
                fabs(run->metrics[work->rule.measure].value) <= work->options->tolerances[t];
    }
}

static bool describe(const ss_statistics_work *work, ss_recorded *recorded)
{
    size_t metrics = (size_t)ss_metric_count();
    recorded->run = ss_arena_take(work->arena, (size_t)recorded->answers, sizeof *recorded->run, "answers");
    recorded->within = ss_arena_take(work->arena, (size_t)work->options->tolerance_count,
                                     sizeof *recorded->within, "answers");
    recorded->metric_median = ss_arena_take(work->arena, metrics, sizeof *recorded->metric_median, "metrics");
    recorded->metric_most = ss_arena_take(work->arena, metrics, sizeof *recorded->metric_most, "metrics");
    recorded->metric_worst = ss_arena_take(work->arena, metrics, sizeof *recorded->metric_worst, "metrics");
    if (!recorded->run || !recorded->within || !recorded->metric_median || !recorded->metric_most ||
        !recorded->metric_worst)
        return false;
    find_answers(work, recorded->method, recorded->run);
    count_answers(work, recorded);
    for (int m = 0; m < ss_metric_count(); m++) sum_metric(work, m, recorded);
    return true;
}

bool ss_statistics_recorded(const ss_statistics_work *work, ss_statistics *made)
{
    const ss_results *results = work->results;
    size_t most = 0;
    for (int i = 0; i < results->method_count; i++) most += ss_method_is_recorded(&results->methods[i]);
    made->recorded = ss_arena_take(work->arena, most, sizeof *made->recorded, "stored answers");
    if (!made->recorded) return false;
    for (int i = 0; i < results->method_count; i++) {
        if (!ss_method_is_recorded(&results->methods[i])) continue;
        ss_recorded recorded = {.method = i, .answers = find_answers(work, i, NULL)};
        if (recorded.answers == 0) continue;
        if (!describe(work, &recorded)) return false;
        made->recorded[made->recorded_count++] = recorded;
    }
    return true;
}
