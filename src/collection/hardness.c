#include "collection/hardness.h"

#include "campaign/ledger.h"
#include "campaign/statistics.h"

#include <math.h>
#include <string.h>

/* Of all solvers on one problem; runs of a problem stand together, those of a solver need not. */
static void rate(const ss_results *results, int problem, int first, int measure, ss_collection_row *row)
{
    enum { MOST = 256 };
    const char *names[MOST];
    bool solved[MOST];
    int count = 0, good = 0;
    for (int r = first; r < results->run_count && results->runs[r].problem == problem; r++) {
        const ss_run_entry *run = &results->runs[r];
        const ss_method_entry *method = &results->methods[run->method];
        if (run->outcome == (ss_outcome)SS_NOT_APPLICABLE || ss_method_is_recorded(method)) continue;
        int k = 0;
        while (k < count && strcmp(names[k], method->solver) != 0) k++;
        if (k == MOST) continue;
        if (k == count) names[count] = method->solver, solved[count++] = false;
        const ss_metric_value *error = run->metrics ? &run->metrics[measure] : NULL;
        solved[k] |= error && error->applies && error->value <= SS_HARDNESS_TOLERANCE;
    }
    for (int k = 0; k < count; k++) good += solved[k];
    row->tried = count;
    row->hardness = count ? 1.0 - (double)good / count : NAN;
}

bool ss_hardness_read(const char *path, ss_collection_index *index, ss_error *err)
{
    ss_results results = {0};
    int measure = ss_statistics_defaults().measure; // relative_energy
    ss_ledger *ledger = ss_ledger_read(path, err);
    bool good = ledger && ss_ledger_load(ledger, &results, err);
    for (int r = 0; good && r < results.run_count; r++) {
        int problem = results.runs[r].problem;
        if (r > 0 && results.runs[r - 1].problem == problem) continue;
        for (int i = 0; i < index->count; i++)
            if (strcmp(index->rows[i].hash, results.problems[problem].hash) == 0)
                rate(&results, problem, r, measure, &index->rows[i]);
    }
    ss_results_free(&results);
    ss_ledger_close(ledger);
    return good;
}
