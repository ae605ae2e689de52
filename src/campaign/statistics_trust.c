/* How far metrics can be trusted: each over the true error that it estimates, where runs were measured
 * against a reference. */
#include "campaign/statistics_internal.h"
#include "metrics/truth.h"

#include <math.h>

static double value_of(const ss_run_entry *run, int metric)
{
    return run->metrics && run->metrics[metric].applies ? run->metrics[metric].value : NAN;
}

/* One metric over all runs with a true error that is not zero. */
static ss_trust trust_of(const ss_statistics_work *work, int metric, double *ratios)
{
    ss_trust trust = {.metric = metric, .truth = ss_metric_truth(metric)};
    int below = 0;
    for (int r = 0; trust.truth >= 0 && r < work->results->run_count; r++) {
        const ss_run_entry *run = &work->results->runs[r];
        double ratio = value_of(run, metric) / value_of(run, trust.truth);
        if (!isfinite(ratio)) continue;
        below += ratio < 1.0;
        ratios[trust.runs++] = ratio;
    }
    if (trust.runs == 0) return trust;

    ss_statistics_sort(ratios, trust.runs);
    trust.median = ss_quantile(ratios, trust.runs, 0.5);
    trust.low = ss_quantile(ratios, trust.runs, 0.05);
    trust.high = ss_quantile(ratios, trust.runs, 0.95);
    trust.below = (double)below / trust.runs;
    return trust;
}

bool ss_statistics_trust(const ss_statistics_work *work, ss_statistics *made)
{
    double *ratios = ss_arena_take(work->scratch, (size_t)work->results->run_count, sizeof *ratios, "trust");
    made->trust = ss_arena_take(work->arena, (size_t)ss_metric_count(), sizeof *made->trust, "trust");
    if (!ratios || !made->trust) return false;

    for (int metric = 0; metric < ss_metric_count(); metric++) {
        ss_trust trust = trust_of(work, metric, ratios);
        if (trust.runs) made->trust[made->trust_count++] = trust;
    }
    return true;
}
