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

bool ss_statistics_recorded(const ss_statistics_work *work, ss_statistics *made)
{
    const ss_results *results = work->results;
    size_t most = 0, metrics = (size_t)ss_metric_count();
    size_t tolerances = (size_t)work->options->tolerance_count;
    for (int i = 0; i < results->method_count; i++) most += ss_method_is_recorded(&results->methods[i]);
    made->recorded = ss_arena_take(work->arena, most, sizeof *made->recorded, "stored answers");
    if (!made->recorded) return false;

    for (int method = 0; method < results->method_count; method++) {
        if (!ss_method_is_recorded(&results->methods[method])) continue;
        ss_recorded all = {.method = method, .answers = find_answers(work, method, NULL)};
        if (all.answers == 0) continue;
        all.run = ss_arena_take(work->arena, (size_t)all.answers, sizeof *all.run, "answers");
        all.within = ss_arena_take(work->arena, tolerances, sizeof *all.within, "answers");
        all.metric_median = ss_arena_take(work->arena, metrics, sizeof *all.metric_median, "metrics");
        all.metric_most = ss_arena_take(work->arena, metrics, sizeof *all.metric_most, "metrics");
        all.metric_worst = ss_arena_take(work->arena, metrics, sizeof *all.metric_worst, "metrics");
        if (!all.run || !all.within || !all.metric_median || !all.metric_most || !all.metric_worst)
            return false;
        find_answers(work, method, all.run);

        for (int i = 0; i < all.answers; i++) {
            const ss_run_entry *run = &results->runs[all.run[i]];
            all.incomplete += !run->metrics;
            all.assumed += run->message && strcmp(run->message, SS_RULES_ASSUMED) == 0;
            if (!run->metrics || !run->metrics[work->rule.measure].applies) continue;
            all.tried++;
            for (int t = 0; t < work->options->tolerance_count; t++)
                all.within[t] += fabs(run->metrics[work->rule.measure].value) <= work->options->tolerances[t];
        }
        for (int m = 0; m < ss_metric_count(); m++)
            ss_statistics_sum_metric(work, m, all.run, all.answers, &all.metric_median[m],
                                     &all.metric_most[m], &all.metric_worst[m]);
        made->recorded[made->recorded_count++] = all;
    }
    return true;
}
