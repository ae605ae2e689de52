/* Which series to use, in words: what it solves and costs, what else there is, and how far to trust that. */
#include "campaign/statistics_internal.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define NAMED 3 /* problems or series that are named before "and N more" */
#define FEW_PROBLEMS 10

typedef struct adviser {
    const ss_statistics_work *work;
    const ss_statistics *made;
    int tolerance;
    ss_advice *advice;
    ss_text text;
} adviser;

static const ss_score *score_of(const adviser *a, int series)
{
    return &a->made->series[series].scores[a->tolerance];
}

static double median_error(const adviser *a, int series)
{
    return a->made->series[series].metric_median[a->work->rule.measure];
}

/* Of the method: all that is compared here is on one machine. */
static const char *label_of(const adviser *a, int series)
{
    return a->work->results->methods[a->made->series[series].method].label;
}

static bool has_several_machines(const adviser *a)
{
    for (int i = 1; i < a->made->series_count; i++)
        if (a->made->series[i].machine != a->made->series[0].machine) return true;
    return false;
}

/* ---- choosing ---------------------------------------------------------------------------------------- */

/* Most solved, then cheapest, then first; -1 when nothing solves anything. The answer is a method, on all its
 * machines: what it solves on the best of them, and the geometric mean of its relative costs. Of its series
 * the one that solves most. */
static int choose(const adviser *a)
{
    const ss_series *series = a->made->series;
    int best = -1, most = 0;
    double least = NAN;
    for (int i = 0; i < a->made->series_count; i++) {
        int solved = 0, count = 0;
        double sum = 0.0;
        if (!ss_statistics_may_recommend(a->work, a->made, a->tolerance, i)) continue;
        for (int k = 0; k < a->made->series_count; k++) {
            const ss_score *score = score_of(a, k);
            if (series[k].method != series[i].method || score->solved == 0) continue;
            if (score->solved > solved) solved = score->solved;
            sum += log(score->relative);
            count++;
        }
        double cost = exp(sum / count);
        if (score_of(a, i)->solved < solved || !ss_statistics_is_before(solved, cost, most, least)) continue;
        best = i, most = solved, least = cost;
    }
    return best;
}

/* Half of what the chosen one solves is the least that a series must solve to be worth a word. Times of other
 * machines do not compare, and the same method there is no alternative. */
static bool is_eligible(const adviser *a, int series)
{
    return a->made->series[series].machine == a->made->series[a->advice->series].machine &&
           ss_statistics_may_recommend(a->work, a->made, a->tolerance, series) &&
           score_of(a, series)->solved > 0 &&
           2 * score_of(a, series)->solved >= score_of(a, a->advice->series)->solved;
}

static ss_versus beside_choice(const adviser *a, int series)
{
    return ss_statistics_versus(a->work, a->made, a->tolerance, series, a->advice->series);
}

/* ---- telling ----------------------------------------------------------------------------------------- */

static void tell_time(adviser *a, double seconds)
{
    char text[32];
    ss_seconds_text(seconds, text, sizeof text);
    ss_text_append(&a->text, text);
}

/* "a relative energy error of 0.0001", "natural_map 1e-06" */
static void tell_tolerance(adviser *a)
{
    const char *name = ss_metric_at(a->work->rule.measure)->name;
    bool usual = strcmp(name, "relative_energy") == 0;
    ss_text_appendf(&a->text, "%s %g", usual ? "a relative energy error of" : name,
                    a->work->options->tolerances[a->tolerance]);
}

/* "28 of 30 problems", "20 of the 22 problems that it accepts" */
static void tell_solved(adviser *a, int series)
{
    const ss_score *score = score_of(a, series);
    int tried = score->solved + score->failed;
    if (score->refused > 0)
        ss_text_appendf(&a->text, "%d of the %d problems that it accepts", score->solved, tried);
    else
        ss_text_appendf(&a->text, "%d of %d problem%s", score->solved, tried, tried == 1 ? "" : "s");
}

/* The choice, what it solves and what that takes, and the same for its other machines: "On Ryzen 9 7950X it
 * solves 18 of 18 problems, in 168 us each." */
static void tell_choice(adviser *a)
{
    const ss_score *score = score_of(a, a->advice->series);
    const ss_series *chosen = &a->made->series[a->advice->series];
    if (a->advice->is_reliable) {
        ss_text_appendf(&a->text, "Use %s: ", label_of(a, a->advice->series));
        if (has_several_machines(a))
            ss_text_appendf(&a->text, "on %s ", a->made->machines[chosen->machine].text);
        ss_text_append(&a->text, "it solves ");
        tell_solved(a, a->advice->series);
        ss_text_append(&a->text, " to ");
        tell_tolerance(a);
    } else {
        ss_text_append(&a->text, "No method is reliable at ");
        tell_tolerance(a);
        ss_text_appendf(&a->text, ": the best, %s, solves ", label_of(a, a->advice->series));
        tell_solved(a, a->advice->series);
    }
    ss_text_appendf(&a->text, " (%.0f %%; 95 %% interval %.0f to %.0f %%), in ", 100.0 * score->rate,
                    100.0 * score->low, 100.0 * score->high);
    tell_time(a, score->cost_solved);
    ss_text_append(&a->text, " each (shifted geometric mean; at most ");
    tell_time(a, score->cost_most);
    ss_text_append(&a->text, ").");

    for (int i = 0; i < a->made->series_count; i++) {
        const ss_series *series = &a->made->series[i];
        if (series == chosen || series->method != chosen->method) continue;
        ss_text_appendf(&a->text, " On %s it solves ", a->made->machines[series->machine].text);
        tell_solved(a, i);
        ss_text_append(&a->text, ", in ");
        tell_time(a, score_of(a, i)->cost_solved);
        ss_text_append(&a->text, " each.");
    }
}

/* First what the choice is good at beside solving, then which methods are better at the rest. */
static void tell_others(adviser *a)
{
    int chosen = a->advice->series, fastest = a->advice->fastest, precise = a->advice->most_accurate;
    if (fastest == chosen || precise == chosen) {
        ss_text_appendf(&a->text, " It is also the %s%s%s", fastest == chosen ? "fastest" : "",
                        fastest == precise ? " and the " : "", precise == chosen ? "most accurate" : "");
        if (precise == chosen) ss_text_appendf(&a->text, " (median error %.2g)", median_error(a, chosen));
        ss_text_append(&a->text, ".");
    }

    if (fastest != chosen) {
        ss_versus versus = beside_choice(a, fastest);
        int unsolved = a->work->slots - score_of(a, fastest)->solved;
        ss_text_appendf(
            &a->text,
            " Faster where it works is %s, %.3g times as fast on the %d problem%s that both solve "
            "(faster on %d)",
            label_of(a, fastest), 1.0 / versus.factor, versus.shared, versus.shared == 1 ? "" : "s",
            versus.faster);
        if (unsolved) ss_text_appendf(&a->text, "; it leaves %d unsolved", unsolved);
        ss_text_append(&a->text, ".");
    }

    if (precise != chosen) {
        ss_text_appendf(&a->text, " Most accurate is %s with a median error of %.2g (that of %s: %.2g), in ",
                        label_of(a, precise), median_error(a, precise), label_of(a, chosen),
                        median_error(a, chosen));
        tell_time(a, score_of(a, precise)->cost_solved);
        ss_text_append(&a->text, ".");
    }
}

/* Scenes where another method solves more: "On log-pile use nsgs, which solves 9 of 10 there, not 2." */
static void tell_scenes(adviser *a)
{
    int count = 0;
    for (int i = 0; i < a->made->scene_count; i++) {
        const ss_scene_standing *scene = &a->made->scenes[i];
        const ss_scene_score *best = &scene->best[a->tolerance];
        int solved = scene->first[a->tolerance].solved;
        if (best->solved <= solved || count++ >= NAMED) continue;
        ss_text_appendf(&a->text, " On %s use %s, which solves %d of %d there, not %d.", scene->name,
                        label_of(a, best->series), best->solved, scene->problems, solved);
    }
    if (count > NAMED)
        ss_text_appendf(&a->text, " There are %d more scenes where another one solves more.", count - NAMED);
}

/* ---- what fails -------------------------------------------------------------------------------------- */

static bool is_failure(const adviser *a, int slot)
{
    int row = ss_statistics_row(a->work, &a->made->series[a->advice->series]);
    const ss_run_entry *run = ss_statistics_run(a->work, row, slot);
    return run && !ss_run_is_refused(run, a->work->rule.measure) &&
           isnan(ss_statistics_costs(a->work, a->tolerance, row)[slot]);
}

/* Tried by some method and solved by none. */
static bool is_unsolved(const adviser *a, int slot)
{
    bool tried = false;
    for (int row = 0; row < a->work->rows; row++) {
        const ss_run_entry *run = ss_statistics_run(a->work, row, slot);
        tried |= run && !ss_run_is_refused(run, a->work->rule.measure);
        if (!isnan(ss_statistics_costs(a->work, a->tolerance, row)[slot])) return false;
    }
    return tried;
}

/* "a frame 1 (stalled), b and 3 more" */
static void tell_problems(adviser *a, bool (*belongs)(const adviser *, int), int total, bool with_outcome)
{
    int row = ss_statistics_row(a->work, &a->made->series[a->advice->series]), told = 0;
    for (int p = 0; p < a->work->results->problem_count && told < NAMED; p++) {
        const ss_problem_entry *problem = &a->work->results->problems[p];
        int slot = a->work->slot[p];
        if (slot < 0 || !belongs(a, slot)) continue;
        const char *name = strrchr(problem->file, '/');
        ss_text_appendf(&a->text, "%s%s", told++ ? ", " : "", name ? name + 1 : problem->file);
        if (problem->index >= 0) ss_text_appendf(&a->text, " frame %d", problem->index);
        if (with_outcome)
            ss_text_appendf(&a->text, " (%s)",
                            ss_failure_name(ss_statistics_run(a->work, row, slot)->outcome));
    }
    if (total > told) ss_text_appendf(&a->text, " and %d more", total - told);
}

/* Where the choice fails, where all fail, and what goes together with it: "nsgs fails where the mass ratio
 * exceeds 100 (...)", for the choice and the others that were named. */
static void tell_failures(adviser *a)
{
    const ss_score *score = score_of(a, a->advice->series);
    int unsolved = 0;
    for (int s = 0; s < a->work->slots; s++) unsolved += is_unsolved(a, s);
    if (score->failed > 0 || unsolved > 0) {
        ss_text_append(&a->text, " No method solves everything");
        if (score->failed > 0) {
            ss_text_appendf(&a->text, ": %s fails at ", label_of(a, a->advice->series));
            tell_problems(a, is_failure, score->failed, true);
        }
        ss_text_append(&a->text, ".");
    }
    if (unsolved > 0) {
        ss_text_append(&a->text, " No method solves ");
        tell_problems(a, is_unsolved, unsolved, false);
        ss_text_append(&a->text, ".");
    }

    int picks[] = {a->advice->series, a->advice->fastest, a->advice->most_accurate};
    for (int i = 0; i < 3; i++) {
        bool repeated = false;
        for (int k = 0; k < i; k++) repeated |= picks[k] == picks[i];
        const char *why = score_of(a, picks[i])->why;
        if (why && !repeated) ss_text_appendf(&a->text, " %s %s.", label_of(a, picks[i]), why);
    }
}

/* ---- how far to trust it ----------------------------------------------------------------------------- */

/* Series whose rate the data cannot tell from that of the choice. */
static void tell_overlap(adviser *a)
{
    const ss_score *chosen = score_of(a, a->advice->series);
    int count = 0, next = -1;
    for (int i = 0; i < a->made->series_count; i++) {
        const ss_score *score = score_of(a, i);
        if (i == a->advice->series || !is_eligible(a, i) || score->high < chosen->low) continue;
        count++;
        if (next < 0 || score->solved > score_of(a, next)->solved) next = i;
    }
    if (count == 0) return;
    ss_text_appendf(&a->text, " %d other method%s the same success rate within the 95 %% interval", count,
                    count == 1 ? " has" : "s have");
    ss_text_appendf(&a->text, count == 1 ? ": %s (" : ", %s first (", label_of(a, next));
    tell_solved(a, next);
    ss_text_append(&a->text, ").");
}

/* Times of the accuracy pass are longer than those of repeats. Where a machine has both kinds, they are
 * compared, and should not be. */
static void tell_times(adviser *a)
{
    int mixed = 0, of = 0, any = 0;
    for (int m = 0; m < a->work->results->machine_count; m++) {
        int alone = 0, beside = 0;
        for (int i = 0; i < a->made->series_count; i++) {
            int row = ss_statistics_row(a->work, &a->made->series[i]);
            const double *cost = ss_statistics_costs(a->work, a->tolerance, row);
            for (int s = 0; s < a->work->slots && a->made->series[i].machine == m; s++) {
                if (isnan(cost[s])) continue;
                bool sampled = ss_statistics_run(a->work, row, s)->sample_count > 0;
                alone += sampled, beside += !sampled;
            }
        }
        any += beside;
        if (alone > 0 && beside > 0) mixed += beside, of += alone + beside;
    }
    if (mixed > 0)
        ss_text_appendf(&a->text,
                        " %d of %d times %s measured once, without --repeats, and %s not comparable with "
                        "the other%s.",
                        mixed, of, mixed == 1 ? "was" : "were", mixed == 1 ? "is" : "are",
                        of - mixed == 1 ? "" : "s");
    else if (any > 0)
        ss_text_append(&a->text, " Times were measured once, without --repeats: ignore small differences.");
}

static void tell_caveats(adviser *a)
{
    int missing = 0;
    for (int i = 0; i < a->made->series_count; i++) missing += score_of(a, i)->missing;
    tell_times(a);
    if (has_several_machines(a)) ss_text_append(&a->text, " Times of different machines are not comparable.");
    if (a->work->slots < FEW_PROBLEMS)
        ss_text_appendf(&a->text, " There %s only %d problem%s: too few for more than a hint.",
                        a->work->slots == 1 ? "is" : "are", a->work->slots, a->work->slots == 1 ? "" : "s");
    if (missing > 0)
        ss_text_appendf(&a->text, " The campaign is not finished: %d run%s missing.", missing,
                        missing == 1 ? " is" : "s are");
}

/* ---- all of it --------------------------------------------------------------------------------------- */

/* When nothing solves anything: what comes nearest, and how runs ended. */
static void tell_nothing(adviser *a)
{
    if (a->made->series_count == 0) {
        ss_text_append(&a->text, a->made->recorded_count ? "No method was run: there are stored answers only."
                                                         : "There are no runs yet.");
        return;
    }
    ss_text_append(&a->text, "No method solves any problem to ");
    tell_tolerance(a);
    ss_text_append(&a->text, ".");

    int nearest = -1;
    for (int i = 0; i < a->made->series_count; i++) {
        if (isnan(median_error(a, i))) continue; // nothing was judged
        if (nearest < 0 || median_error(a, i) < median_error(a, nearest)) nearest = i;
    }
    if (nearest >= 0)
        ss_text_appendf(&a->text, " %s comes nearest, with a median error of %.2g.", label_of(a, nearest),
                        median_error(a, nearest));

    bool any = false;
    for (int o = 0; o < SS_OUTCOME_COUNT; o++) {
        int count = 0;
        for (int i = 0; i < a->made->series_count; i++) count += a->made->series[i].outcomes[o];
        if (count == 0) continue;
        ss_text_appendf(&a->text, "%s%d %s", any ? ", " : " Outcomes: ", count,
                        ss_outcome_name((ss_outcome)o));
        any = true;
    }
    if (any) ss_text_append(&a->text, ".");
    tell_caveats(a);
}

bool ss_statistics_choose(const ss_statistics_work *work, ss_statistics *made)
{
    size_t count = (size_t)work->options->tolerance_count;
    made->advice = ss_arena_take(work->arena, count, sizeof *made->advice, "advice");
    for (int t = 0; made->advice && t < work->options->tolerance_count; t++) {
        ss_advice *advice = &made->advice[t];
        const adviser a = {.work = work, .made = made, .tolerance = t, .advice = advice};
        *advice = (ss_advice){.series = choose(&a), .fastest = -1, .most_accurate = -1};
        if (advice->series < 0) continue;
        int least = score_of(&a, advice->series)->solved;
        advice->is_reliable = 2 * least >= work->slots;

        // The fastest. The mean over what each solved would make a series fast that fails at everything hard:
        // what counts is how it compares with the chosen one on the problems that both solve, in the mean and
        // on most of them.
        double factor = 1.0, rate = 0.0;
        advice->fastest = advice->series;
        for (int i = 0; i < made->series_count; i++) {
            ss_versus versus = beside_choice(&a, i);
            bool on_most = 2 * versus.faster > versus.shared && 2 * versus.shared >= least;
            if (!is_eligible(&a, i)) continue;
            rate = fmax(rate, score_of(&a, i)->rate);
            if (!on_most || !(versus.factor < factor)) continue;
            factor = versus.factor;
            advice->fastest = i;
        }

        // The most accurate of those that solve most.
        for (int i = 0; i < made->series_count; i++) {
            int best = advice->most_accurate;
            if (!is_eligible(&a, i) || score_of(&a, i)->rate < rate) continue;
            if (best < 0 || median_error(&a, i) < median_error(&a, best)) advice->most_accurate = i;
        }
    }
    return made->advice != NULL;
}

bool ss_statistics_advise(const ss_statistics_work *work, ss_statistics *made)
{
    for (int t = 0; t < work->options->tolerance_count; t++) {
        ss_advice *advice = &made->advice[t];
        adviser a = {.work = work, .made = made, .tolerance = t, .advice = advice};
        if (advice->series < 0) {
            tell_nothing(&a);
        } else {
            tell_choice(&a);
            tell_scenes(&a);
            tell_others(&a);
            tell_failures(&a);
            tell_overlap(&a);
            tell_caveats(&a);
        }

        advice->text =
            a.text.out_of_memory ? NULL : ss_arena_take(work->arena, a.text.length + 1, 1, "advice");
        if (advice->text) memcpy(advice->text, ss_text_get(&a.text), a.text.length + 1);
        ss_text_free(&a.text);
        if (!advice->text) return false;
    }
    return true;
}
