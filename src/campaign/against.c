#include "campaign/against.h"

#include <stickslip/solver.h>

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- which methods ------------------------------------------------------------------------------------ */

/* One pattern, `length` characters of a list; one that is too long for a name matches nothing. */
static bool matches(const ss_method_entry *method, const char *pattern, size_t length)
{
    char text[1024];
    if (length >= sizeof text) return false;
    snprintf(text, sizeof text, "%.*s", (int)length, pattern);
    return fnmatch(text, method->solver, 0) == 0 || strcmp(ss_solver_name(text), method->solver) == 0 ||
           (method->label && fnmatch(text, method->label, 0) == 0);
}

bool ss_method_matches(const ss_method_entry *method, const char *patterns)
{
    bool any = false, chosen = false;
    for (const char *at = patterns; *at;) {
        size_t length = strcspn(at, ",");
        bool taken_out = *at == '!';
        if (taken_out && matches(method, at + 1, length - 1)) return false;
        any |= !taken_out && length > 0;
        chosen |= !taken_out && matches(method, at, length);
        at += length + (at[length] == ',');
    }
    return chosen || !any;
}

/* 1 = of the ones, 2 = of the others, 0 = of neither side, for every method. */
static bool choose_sides(const ss_results *results, const char *methods, const char *best_of, int *side,
                         ss_error *err)
{
    int ones = 0, others = 0;
    for (int m = 0; m < results->method_count; m++) {
        const ss_method_entry *method = &results->methods[m];
        bool counts = !ss_method_is_recorded(method), is_one = ss_method_matches(method, methods);
        bool is_other = best_of ? ss_method_matches(method, best_of) : !is_one;
        if (counts && is_one && is_other)
            return ss_fail(err, SS_ERROR_USAGE, "%s is on both sides: of '%s' and of '%s'", method->label,
                           methods, best_of);
        side[m] = !counts ? 0 : is_one ? 1 : is_other ? 2 : 0;
        ones += side[m] == 1;
        others += side[m] == 2;
    }

    if (ones > 0 && others > 0) return true;
    if (ones > 0 && !best_of)
        return ss_fail(err, SS_ERROR_USAGE, "every method of the ledger matches '%s': no other is left",
                       methods);
    return ss_fail(err, SS_ERROR_USAGE, "no method of the ledger matches '%s'",
                   ones == 0 ? methods : best_of);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* The cheapest answer of either side to one problem on one machine, of the runs from `begin` to `end`. */
static ss_against_row compare(const ss_results *results, const ss_cost_rule *rule, const int *side, int begin,
                              int end, int machine, double tolerance)
{
    ss_against_row row = {.problem = results->runs[begin].problem,
                          .machine = machine,
                          .method = -1,
                          .best_method = -1,
                          .cost = NAN,
                          .best_cost = NAN};

    for (int r = begin; r < end; r++) {
        const ss_run_entry *run = &results->runs[r];
        double cost = run->machine == machine ? ss_run_cost(run, rule, tolerance) : NAN;
        if (side[run->method] == 1 && (cost < row.cost || (isnan(row.cost) && !isnan(cost))))
            row.cost = cost, row.method = run->method;
        if (side[run->method] == 2 && (cost < row.best_cost || (isnan(row.best_cost) && !isnan(cost))))
            row.best_cost = cost, row.best_method = run->method;
    }
    row.ratio = row.cost / row.best_cost; // NaN if either is
    return row;
}

bool ss_against_make(const ss_results *results, const ss_statistics *statistics, const char *methods,
                     const char *best_of, ss_against *made, ss_error *err)
{
    const ss_statistics_options *by = &statistics->options;
    ss_arena *arena = statistics->arena;
    size_t most = (size_t)results->problem_count * (size_t)results->machine_count;
    *made = (ss_against){.methods = methods, .best_of = best_of, .score_count = by->tolerance_count};
    int *side = ss_arena_take(arena, (size_t)results->method_count, sizeof *side, "sides");
    made->scores = ss_arena_take(arena, (size_t)by->tolerance_count, sizeof *made->scores, "scores");
    bool good = side && made->scores;
    for (int t = 0; good && t < by->tolerance_count; t++) {
        made->scores[t].tolerance = by->tolerances[t];
        made->scores[t].rows = ss_arena_take(arena, most, sizeof *made->scores[t].rows, "rows");
        good = made->scores[t].rows != NULL;
    }
    if (!good) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a comparison");
    if (!choose_sides(results, methods, best_of, side, err)) return false;

    // A row for every problem that both sides accept, in the order of problems: runs are sorted by problem
    // and method, so that those of one problem are next to each other.
    for (int begin = 0, end; begin < results->run_count; begin = end) {
        int problem = results->runs[begin].problem;
        for (end = begin; end < results->run_count && results->runs[end].problem == problem;) end++;
        if (results->problems[problem].fault) continue;

        for (int machine = 0; machine < results->machine_count; machine++) {
            bool any = false, tried[3] = {false}; // by side
            for (int r = begin; r < end; r++) {
                const ss_run_entry *run = &results->runs[r];
                if (run->machine != machine) continue;
                any |= side[run->method] != 0;
                if (!ss_run_is_refused(run, statistics->rule.measure)) tried[side[run->method]] = true;
            }
            if (any && !(tried[1] && tried[2])) made->refused++;
            if (!tried[1] || !tried[2]) continue;

            for (int t = 0; t < by->tolerance_count; t++)
                made->scores[t].rows[made->count] =
                    compare(results, &statistics->rule, side, begin, end, machine, by->tolerances[t]);
            made->count++;
        }
    }

    // What the rows come to: who solved how many, and the geometric mean of the ratios.
    for (int t = 0; t < by->tolerance_count; t++) {
        ss_against_score *score = &made->scores[t];
        double logs = 0.0;
        score->worst = -1;
        for (int i = 0; i < made->count; i++) {
            const ss_against_row *row = &score->rows[i];
            score->only += row->method >= 0 && row->best_method < 0;
            score->only_best += row->method < 0 && row->best_method >= 0;
            score->neither += row->method < 0 && row->best_method < 0;
            if (isnan(row->ratio)) continue;
            score->both++;
            score->slower += row->ratio > 1.0;
            score->twice += row->ratio > 2.0;
            logs += log(row->ratio);
            if (score->worst < 0 || row->ratio > score->rows[score->worst].ratio) score->worst = i;
        }
        score->mean = score->both ? exp(logs / score->both) : NAN;
    }
    return true;
}
