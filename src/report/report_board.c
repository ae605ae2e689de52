#include "report/report_board.h"

#include "report/report_figures_internal.h"
#include "report/report_json.h"

#include <string.h>

bool ss_unsolved_next(const ss_results *results, const ss_statistics *statistics, double tolerance,
                      int *cursor, ss_unsolved *found)
{
    const char *measure = ss_metric_at(statistics->rule.measure)->name;
    while (*cursor < results->run_count) {
        // Runs are sorted by problem.
        bool solved = false;
        double least = NAN;
        *found = (ss_unsolved){.problem = results->runs[*cursor].problem, .nearest = -1};
        for (; *cursor < results->run_count && results->runs[*cursor].problem == found->problem; ++*cursor) {
            const ss_run_entry *run = &results->runs[*cursor];
            if (ss_report_series_of(statistics, run) < 0 || ss_run_is_refused(run, statistics->rule.measure))
                continue;
            found->tried++;
            solved |= isfinite(ss_run_cost(run, &statistics->rule, tolerance));
            double error = ss_report_metric(run, measure);
            if (!isfinite(error) || error >= least) continue;
            least = error;
            found->nearest = *cursor;
        }
        if (!solved && found->tried > 0) return true;
    }
    return false;
}

bool ss_repeated_next(const ss_results *results, int *cursor, ss_repeated *found)
{
    for (; *cursor < results->run_count; ++*cursor) {
        const ss_run_entry *runs = results->runs, *run = &runs[*cursor];
        const char *version = results->machines[run->machine].version;
        int first = -1;
        for (int k = *cursor - 1; k >= 0 && runs[k].problem == run->problem; k--)
            if (runs[k].method == run->method &&
                strcmp(results->machines[runs[k].machine].version, version) == 0 &&
                strcmp(runs[k].source, run->source) == 0)
                first = k;
        if (first < 0) continue;
        bool same = runs[first].outcome == run->outcome && strcmp(runs[first].answer, run->answer) == 0;
        *found = (ss_repeated){.first = first, .run = *cursor, .same = same};
        ++*cursor;
        return true;
    }
    return false;
}

int ss_source_machine(const ss_results *results, const ss_source *source)
{
    int machine = results->machine_count - 1;
    while (machine >= 0 && strcmp(results->machines[machine].key, source->machine) != 0) machine--;
    return machine;
}

void ss_report_board(ss_json *json, const ss_results *results, const ss_statistics *statistics,
                     const ss_sources *sources)
{
    ss_json_key(json, "ledgers");
    ss_json_begin_array(json);
    for (int i = 0; sources && i < sources->count; i++) {
        const ss_source *source = &sources->items[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "file", source->file);
        ss_json_member_integer(json, "machine", ss_source_machine(results, source));
        ss_json_member_integer(json, "runs", source->runs);
        ss_json_member_text(json, "first", source->first);
        ss_json_member_text(json, "last", source->last);
        ss_json_member_text(json, "collections", source->collections);
        ss_json_member_text(json, "builds", source->builds);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);

    ss_json_key(json, "unsolved");
    ss_json_begin_array(json);
    for (int t = 0; t < statistics->options.tolerance_count; t++) {
        ss_unsolved found;
        ss_json_begin_array(json);
        for (int cursor = 0;
             ss_unsolved_next(results, statistics, statistics->options.tolerances[t], &cursor, &found);) {
            ss_json_begin_object(json);
            ss_json_member_integer(json, "problem", found.problem);
            ss_json_member_integer(json, "tried", found.tried);
            ss_json_key(json, "nearest");
            if (found.nearest < 0)
                ss_json_null(json);
            else
                ss_json_integer(json, found.nearest);
            ss_json_end_object(json);
        }
        ss_json_end_array(json);
    }
    ss_json_end_array(json);

    int compared = 0;
    ss_repeated pair;
    ss_json_key(json, "reproduction");
    ss_json_begin_object(json);
    ss_json_key(json, "differing");
    ss_json_begin_array(json);
    for (int cursor = 0; ss_repeated_next(results, &cursor, &pair);) {
        compared++;
        if (pair.same) continue;
        ss_json_begin_object(json);
        ss_json_member_integer(json, "first", pair.first);
        ss_json_member_integer(json, "run", pair.run);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_member_integer(json, "compared", compared);
    ss_json_end_object(json);
}
