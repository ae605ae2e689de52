#include "campaign/ledger_source.h"

#include "base/text.h"
#include "campaign/ledger_internal.h"

#include <stdio.h>
#include <string.h>

/* Runs are sorted by problem and problems by file, so that a collection mostly follows itself; it is looked
 * for among those before only when it does not. */
static bool describe(const ss_results *results, int machine, ss_source *source)
{
    ss_text names = {0};
    const char *before = NULL;
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        if (run->machine != machine) continue;
        source->runs++;

        // ISO 8601 sorts as text does.
        const char *started = run->started ? run->started : "";
        if (*started && (!source->first[0] || strcmp(started, source->first) < 0))
            snprintf(source->first, sizeof source->first, "%s", started);
        if (strcmp(started, source->last) > 0) snprintf(source->last, sizeof source->last, "%s", started);

        const char *collection = results->problems[run->problem].collection;
        if (!collection || (before && strcmp(before, collection) == 0)) continue;
        before = collection;
        bool known = false;
        for (int k = 0; k < r && !known; k++) {
            const char *other = results->problems[results->runs[k].problem].collection;
            known = results->runs[k].machine == machine && other && strcmp(other, collection) == 0;
        }
        if (!known) ss_text_appendf(&names, "%s%s", names.length ? ", " : "", collection);
    }
    ss_text builds = {0};
    ss_results_print_builds(results, machine, &builds);
    source->collections = names.out_of_memory ? NULL : ss_text_copy(ss_text_get(&names));
    source->builds = builds.out_of_memory ? NULL : ss_text_copy(ss_text_get(&builds));
    ss_text_free(&names);
    ss_text_free(&builds);
    return source->collections && source->builds;
}

bool ss_sources_add(ss_sources *sources, const char *file, ss_error *err)
{
    ss_results results = {0};
    ss_ledger *ledger = ss_ledger_read(file, err);
    bool good =
        ledger && ss_ledger_do(ledger, SS_SQL_SNAPSHOT, err) && ss_ledger_load_index(ledger, &results, err);
    size_t room = (size_t)(sources->count + results.machine_count);
    ss_source *all = good ? ss_allocate(room, sizeof *all) : NULL;
    if (all) {
        if (sources->count > 0) memcpy(all, sources->items, (size_t)sources->count * sizeof *all);
        ss_release(sources->items);
        sources->items = all;
    }
    bool enough = all != NULL;
    for (int m = 0; enough && m < results.machine_count; m++) {
        ss_source *source = &sources->items[sources->count++];
        source->file = file;
        memcpy(source->machine, results.machines[m].key, sizeof source->machine);
        enough = describe(&results, m, source);
    }
    if (good && !enough) good = ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", file);
    ss_results_free(&results);
    ss_ledger_close(ledger);
    return good;
}

void ss_sources_free(ss_sources *sources)
{
    for (int i = 0; i < sources->count; i++) {
        ss_release(sources->items[i].collections);
        ss_release(sources->items[i].builds);
    }
    ss_release(sources->items);
    *sources = (ss_sources){0};
}
