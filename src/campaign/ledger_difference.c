#include "campaign/ledger_difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ss_change_name(ss_change change)
{
    static const char *const names[SS_CHANGE_COUNT] = {"fails",  "breaks",       "solved", "slower",
                                                       "faster", "other answer", "same"};
    return names[change];
}

/* ---- what is the same in both ledgers ---------------------------------------------------------------- */

static bool same_method(const ss_method_entry *a, const ss_method_entry *b)
{
    return ss_method_is_alike(a, b) && ss_method_start(a) == ss_method_start(b);
}

/* Times of these can be compared: version and compiler are what may have changed. */
static bool same_processor(const ss_machine *a, const ss_machine *b)
{
    return ss_same_text(a->cpu, b->cpu) && a->cores == b->cores && ss_same_text(a->build, b->build);
}

typedef struct keyed {
    const ss_problem_entry *problem;
    int index;
} keyed;

static int compare_keys(const void *left, const void *right)
{
    const ss_problem_entry *a = ((const keyed *)left)->problem, *b = ((const keyed *)right)->problem;
    int order = strcmp(a->hash, b->hash);
    return order ? order : strcmp(a->place, b->place);
}

/* For each problem of `after` that of `before`, -1 = none. */
static bool match_problems(const ss_results *before, const ss_results *after, int *match)
{
    keyed *sorted = ss_allocate((size_t)before->problem_count, sizeof *sorted);
    if (!sorted) return false;
    for (int p = 0; p < before->problem_count; p++) sorted[p] = (keyed){&before->problems[p], p};
    if (before->problem_count) qsort(sorted, (size_t)before->problem_count, sizeof *sorted, compare_keys);
    for (int p = 0; p < after->problem_count; p++) {
        keyed wanted = {&after->problems[p], p};
        keyed *found = before->problem_count ? bsearch(&wanted, sorted, (size_t)before->problem_count,
                                                       sizeof *sorted, compare_keys)
                                             : NULL;
        match[p] = found ? found->index : -1;
    }
    ss_release(sorted);
    return true;
}

/* ---- one run ------------------------------------------------------------------------------------------ */

static double least_time(const ss_run_entry *run)
{
    double least = NAN;
    for (int s = 0; s < run->sample_count; s++) least = fmin(least, run->samples[s].seconds);
    return least;
}

static double longest_time(const ss_run_entry *run)
{
    double longest = NAN;
    for (int s = 0; s < run->sample_count; s++) longest = fmax(longest, run->samples[s].seconds);
    return longest;
}

static bool is_solved(const ss_run_entry *run, const ss_ledger_difference_options *options)
{
    const ss_metric_value *value = run->metrics ? &run->metrics[options->measure] : NULL;
    return value && value->applies && value->value <= options->tolerance;
}

/* Ended from outside, not by the solver's own decision. */
static bool is_broken(const ss_run_entry *run)
{
    return run->outcome == SS_OUTCOME_CRASHED || run->outcome == SS_OUTCOME_HUNG ||
           run->outcome == SS_OUTCOME_OUT_OF_MEMORY || run->outcome == SS_OUTCOME_BROKEN;
}

/* Least times are compared. Beyond the noise: the least of one is longer than every repeat of the other. */
static ss_ledger_difference_row compare(const ss_run_entry *before, const ss_run_entry *after,
                                        bool comparable, const ss_ledger_difference_options *options)
{
    ss_ledger_difference_row row = {.change = SS_CHANGE_NONE, .ratio = NAN};
    bool was = is_solved(before, options), is = is_solved(after, options);
    if (comparable && was && is) row.ratio = least_time(after) / least_time(before);
    if (was != is)
        row.change = is ? SS_CHANGE_SOLVED : SS_CHANGE_FAILS;
    else if (!is && is_broken(after) && !is_broken(before))
        row.change = SS_CHANGE_BREAKS;
    else if (row.ratio > options->slower && least_time(after) > longest_time(before))
        row.change = SS_CHANGE_SLOWER;
    else if (row.ratio < 1.0 / options->slower && longest_time(after) < least_time(before))
        row.change = SS_CHANGE_FASTER;
    else if (!ss_same_text(before->answer, after->answer))
        row.change = SS_CHANGE_ANSWER;
    return row;
}

/* By what has changed, then the largest ratio, then as in the ledger. */
static int compare_rows(const void *left, const void *right)
{
    const ss_ledger_difference_row *a = left, *b = right;
    static const int rank[SS_CHANGE_COUNT] = {
        [SS_CHANGE_FAILS] = 0,  [SS_CHANGE_BREAKS] = 1, [SS_CHANGE_SLOWER] = 2, [SS_CHANGE_SOLVED] = 3,
        [SS_CHANGE_FASTER] = 4, [SS_CHANGE_ANSWER] = 5, [SS_CHANGE_NONE] = 6};
    if (a->change != b->change) return rank[a->change] - rank[b->change];
    double by = isnan(a->ratio) ? -1.0 : a->ratio, other = isnan(b->ratio) ? -1.0 : b->ratio;
    if (by != other) return by > other ? -1 : 1;
    return (a->after > b->after) - (a->after < b->after);
}

/* ---- together ----------------------------------------------------------------------------------------- */

/* Runs of one problem are next to each other. Of several machines, one with the same processor is taken
 * first. */
static int find_run(const ss_results *before, int begin, int method, const ss_machine *machine,
                    bool *comparable)
{
    int found = -1;
    *comparable = false;
    for (int r = begin; r < before->run_count && before->runs[r].problem == before->runs[begin].problem;
         r++) {
        if (before->runs[r].method != method) continue;
        bool same = same_processor(&before->machines[before->runs[r].machine], machine);
        if (found < 0 || (same && !*comparable)) found = r;
        *comparable |= same;
    }
    return found;
}

bool ss_ledger_difference_make(const ss_results *before, const ss_results *after,
                               const ss_ledger_difference_options *options, ss_ledger_difference *made,
                               ss_error *err)
{
    *made = (ss_ledger_difference){.mean = NAN};
    int *problem = ss_allocate((size_t)after->problem_count, sizeof *problem);
    int *method = ss_allocate((size_t)after->method_count, sizeof *method);
    int *first = ss_allocate((size_t)before->problem_count, sizeof *first);
    bool *taken = ss_allocate((size_t)before->run_count, sizeof *taken);
    made->rows = ss_allocate((size_t)after->run_count, sizeof *made->rows);
    bool good = problem && method && first && taken && made->rows && match_problems(before, after, problem);
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for comparing %d runs", after->run_count);

    // where the runs of each problem begin, and the methods of either side
    for (int r = before->run_count - 1; good && r >= 0; r--) first[before->runs[r].problem] = r + 1;
    for (int m = 0; good && m < after->method_count; m++) {
        method[m] = -1;
        for (int k = 0; k < before->method_count; k++)
            if (same_method(&before->methods[k], &after->methods[m])) method[m] = k;
    }

    double sum = 0.0;
    for (int r = 0; good && r < after->run_count; r++) {
        const ss_run_entry *run = &after->runs[r];
        int p = problem[run->problem], m = method[run->method];
        bool comparable = false;
        int old = p >= 0 && m >= 0 && first[p]
                      ? find_run(before, first[p] - 1, m, &after->machines[run->machine], &comparable)
                      : -1;
        if (old < 0) {
            made->only_after++;
            continue;
        }
        taken[old] = true;
        ss_ledger_difference_row row = compare(&before->runs[old], run, comparable, options);
        row.before = old;
        row.after = r;
        made->rows[made->row_count++] = row;
        made->count[row.change]++;
        made->elsewhere += !comparable;
        if (isnan(row.ratio)) continue;
        made->timed++;
        sum += log(row.ratio);
    }
    for (int r = 0; good && r < before->run_count; r++) made->only_before += !taken[r];
    if (made->timed) made->mean = exp(sum / made->timed);
    if (good && made->row_count) qsort(made->rows, (size_t)made->row_count, sizeof *made->rows, compare_rows);

    ss_release(problem);
    ss_release(method);
    ss_release(first);
    ss_release(taken);
    if (!good) ss_ledger_difference_free(made);
    return good;
}

void ss_ledger_difference_free(ss_ledger_difference *difference)
{
    ss_release(difference->rows);
    *difference = (ss_ledger_difference){0};
}
