#include "cli/campaigns/ranking.h"

#include "cli/terminal/table.h"

#include <math.h>
#include <string.h>

#define NARROW_COLUMNS ((size_t)80) /* tables are not cut below */
#define SCENES_TOLD 20

/* ---- failures by kind -------------------------------------------------------------------------------- */

typedef struct kind {
    int count;
    const char *name;
} kind;

/* Runs that did not solve their problem, by outcome; what happened most comes first. */
static int find_kinds(const ss_results *results, const ss_series *series, const ss_statistics *statistics,
                      kind kinds[SS_OUTCOME_COUNT + 1])
{
    int counts[SS_OUTCOME_COUNT] = {0}, found = 0, main = statistics->options.main_tolerance;
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        if (run->method != series->method || run->machine != series->machine) continue;
        if (results->problems[run->problem].fault) continue;
        if (!isnan(ss_run_cost(run, &statistics->rule, statistics->options.tolerances[main]))) continue;
        bool refused = ss_run_is_refused(run, statistics->rule.measure);
        counts[refused ? SS_NOT_APPLICABLE : (int)run->outcome]++;
    }

    // Insertion, in decreasing order; runs that are missing are a kind of their own.
    for (int o = 0; o <= SS_OUTCOME_COUNT; o++) {
        kind one = {series->scores[main].missing, "missing"};
        if (o < SS_OUTCOME_COUNT) one = (kind){counts[o], ss_failure_name((ss_outcome)o)};
        if (one.count == 0) continue;
        int place = found++;
        for (; place > 0 && kinds[place - 1].count < one.count; place--) kinds[place] = kinds[place - 1];
        kinds[place] = one;
    }
    return found;
}

/* "25 max iterations, 1 stalled"; with less room "25 max iterations +1", or "26". */
static void write_kinds(const kind *kinds, int count, size_t room, ss_text *text)
{
    for (int told = count; told >= 0; told--) {
        int rest = 0;
        ss_text_clear(text);
        for (int i = 0; i < told; i++)
            ss_text_appendf(text, "%s%d %s", i ? ", " : "", kinds[i].count, kinds[i].name);
        for (int i = told; i < count; i++) rest += kinds[i].count;
        if (rest) ss_text_appendf(text, told ? " +%d" : "%d", rest);
        if (text->length <= room) return;
    }
}

/* ---- the table --------------------------------------------------------------------------------------- */

/* columns of a line of the table beside the label and what is not solved */
#define WITHOUT_LABEL ((size_t)64)
#define INTERVAL_COLUMNS ((size_t)10) /* of them, those of the interval */

#define FACTOR_COLUMNS ((size_t)8) /* ... and of the factor */

/* ---- by scene ---------------------------------------------------------------------------------------- */

/* The best method of each scene, and how #1 does there. */
static void print_scenes(ss_out *out, const ss_statistics *statistics)
{
    ss_table table = {.columns = 6, .left = 6};
    int told = statistics->scene_count < SCENES_TOLD ? statistics->scene_count : SCENES_TOLD;
    ss_table_add(&table, "scene");
    ss_table_add(&table, "best method");
    ss_table_add(&table, "%7s", "solved");
    ss_table_add(&table, "%8s", "cost");
    ss_table_add(&table, "%9s", "#1 solved");
    ss_table_add(&table, "%8s", "its cost");

    // The best method of the scene, then the first of the ranking.
    for (int i = 0; i < told; i++) {
        const ss_scene_standing *scene = &statistics->scenes[i];
        int main = statistics->options.main_tolerance;
        const ss_scene_score *scores[2] = {&scene->best[main], &scene->first[main]};
        ss_table_add(&table, "%s", scene->name);
        ss_table_add(&table, "%s",
                     scores[0]->series < 0 ? "none" : statistics->series[scores[0]->series].label);
        for (int of = 0; of < 2; of++) {
            char text[64];
            snprintf(text, sizeof text, "%d/%d", scores[of]->solved, scene->problems);
            ss_table_add(&table, "%*s", of == 0 ? 7 : 9, text);
            ss_seconds_text(scores[of]->cost_solved, text, sizeof text);
            ss_table_add(&table, "%8s", text);
        }
    }

    ss_table_print(&table, out);
    if (told < statistics->scene_count)
        ss_text_appendf(&out->text, "  ... and %d more scenes\n", statistics->scene_count - told);
    ss_text_append(&out->text, "\n");
}

/* ---- words ------------------------------------------------------------------------------------------- */

/* One line for each method. Interval and factor are left out where labels are long; tables in files are not
 * cut, nor are those on narrow terminals below NARROW_COLUMNS. */
static void print_series(ss_out *out, const ss_results *results, const ss_statistics *statistics)
{
    size_t columns = out->columns == 0 || out->columns > NARROW_COLUMNS ? out->columns : NARROW_COLUMNS;
    size_t used = strlen("method"), least = strlen("unsolved");
    for (int i = 0; i < statistics->series_count; i++) {
        size_t length = ss_text_columns(statistics->series[i].label);
        if (length > used) used = length;
    }
    used += WITHOUT_LABEL;
    bool with_interval = !columns || used + least <= columns;
    if (!with_interval) used -= INTERVAL_COLUMNS;
    bool with_factor = !columns || used + least <= columns;
    if (!with_factor) used -= FACTOR_COLUMNS;
    size_t room = !columns                  ? SIZE_MAX
                  : used + least <= columns ? columns - used
                                            : least; // for what is not solved

    ss_table table = {.columns = 6 + with_interval + with_factor, .left = 8};
    ss_table_add(&table, "%2s", "#");
    ss_table_add(&table, "method");
    ss_table_add(&table, "%7s", "solved");
    if (with_interval) ss_table_add(&table, "%8s", "95 %");
    ss_table_add(&table, "%8s", "cost");
    if (with_factor) ss_table_add(&table, "%6s", "factor");
    ss_table_add(&table, "%9s", "error");
    ss_table_add(&table, "unsolved");

    for (int i = 0; i < statistics->series_count; i++) {
        const ss_series *series = &statistics->series[i];
        const ss_score *score = &series->scores[statistics->options.main_tolerance];
        double energy = series->metric_median[ss_metric_index("energy")];
        char text[64];
        ss_table_add(&table, "%2d", i + 1);
        ss_table_add(&table, "%s", series->label);
        snprintf(text, sizeof text, "%d/%d", score->solved,
                 score->solved + score->failed + score->refused + score->missing);
        ss_table_add(&table, "%7s", text);
        snprintf(text, sizeof text, "%.0f-%.0f %%", 100.0 * score->low, 100.0 * score->high);
        if (with_interval) ss_table_add(&table, "%8s", isnan(score->rate) ? "-" : text);
        ss_seconds_text(score->cost_solved, text, sizeof text);
        ss_table_add(&table, "%8s", text);
        snprintf(text, sizeof text, score->versus.factor < 999.5 ? "%.3g" : "%.0f", score->versus.factor);
        if (with_factor) ss_table_add(&table, "%6s", isnan(score->versus.factor) ? "-" : text);
        snprintf(text, sizeof text, "%.2g J", energy);
        ss_table_add(&table, "%9s", isnan(energy) ? "-" : text);

        ss_text failures = {0};
        kind kinds[SS_OUTCOME_COUNT + 1];
        write_kinds(kinds, find_kinds(results, series, statistics, kinds), room, &failures);
        ss_table_add(&table, "%s", ss_text_get(&failures));
        ss_text_free(&failures);
    }
    ss_table_print(&table, out);
    ss_text_append(&out->text, "\n");
}

static void print_words(ss_out *out, const char *words)
{
    ss_text clean = {0};
    ss_text_append_clean(&clean, words);
    ss_text_append(&out->text, "  ");
    ss_text_wrap(&out->text, ss_text_get(&clean), clean.length, 2, 2, ss_out_line(out));
    out->text.out_of_memory |= clean.out_of_memory;
    ss_text_free(&clean);
}

/* ---- answers as recorded ------------------------------------------------------------------------------- */

/* Beside the methods, in a table of its own: it has errors like they, but no time that compares. */
static void print_recorded(ss_out *out, const ss_results *results, const ss_statistics *statistics)
{
    const ss_statistics_options *by = &statistics->options;
    ss_table table = {.columns = 5, .left = 5};
    ss_table_add(&table, "answers as recorded");
    ss_table_add(&table, "%7s", "solved");
    ss_table_add(&table, "%8s", "95 %");
    ss_table_add(&table, "%9s", "error");
    ss_table_add(&table, "%9s", "largest");

    // Solved is what is within the tolerance, with Wilson's interval.
    for (int i = 0; i < statistics->recorded_count; i++) {
        const ss_recorded *recorded = &statistics->recorded[i];
        const ss_method_entry *method = &results->methods[recorded->method];
        int energy = ss_metric_index("energy"), within = recorded->within[by->main_tolerance];
        double low, high;
        char text[64];
        ss_table_add(&table, "%s", method->label);
        snprintf(text, sizeof text, "%d/%d", within, recorded->tried);
        ss_table_add(&table, "%7s", text);
        ss_wilson_interval(within, recorded->tried, &low, &high);
        snprintf(text, sizeof text, "%.0f-%.0f %%", 100.0 * low, 100.0 * high);
        ss_table_add(&table, "%8s", recorded->tried ? text : "-");
        snprintf(text, sizeof text, "%.2g J", recorded->metric_median[energy]);
        ss_table_add(&table, "%9s", isnan(recorded->metric_median[energy]) ? "-" : text);
        snprintf(text, sizeof text, "%.2g J", recorded->metric_most[energy]);
        ss_table_add(&table, "%9s", isnan(recorded->metric_most[energy]) ? "-" : text);
    }

    ss_table_print(&table, out);
    ss_text_append(&out->text, "\n");
    for (int i = 0; i < statistics->recorded_count; i++) {
        const ss_recorded *recorded = &statistics->recorded[i];
        const ss_method_entry *method = &results->methods[recorded->method];
        ss_text words = {0};
        ss_text_appendf(&words, "%s is judged by the rules %s (%s)", method->label, method->with,
                        method->formulation);
        if (recorded->assumed)
            ss_text_appendf(&words,
                            ", which are assumed for %d of its %d answers: their files do not say; stickslip "
                            "judge shows what other treatments would give",
                            recorded->assumed, recorded->answers);
        if (recorded->incomplete)
            ss_text_appendf(&words, "; %d incomplete answer%s not judged", recorded->incomplete,
                            recorded->incomplete == 1 ? " was" : "s were");
        print_words(out, ss_text_get(&words));
        out->text.out_of_memory |= words.out_of_memory;
        ss_text_free(&words);
    }
    ss_text_append(&out->text, "\n");
}

void ss_ranking_print(ss_out *out, const ss_results *results, const ss_statistics *statistics)
{
    const ss_statistics_options *by = &statistics->options;
    bool ranked = statistics->series_count > 0, several = results->machine_count > 1;
    if (ranked) print_series(out, results, statistics);
    if (statistics->recorded_count > 0) print_recorded(out, results, statistics);
    if (ranked && statistics->scene_count > 1) print_scenes(out, statistics);

    // What the tables are about.
    ss_text words = {0};
    if (ranked) {
        int good = 0;
        for (int p = 0; p < results->problem_count; p++) good += !results->problems[p].fault;
        int faulty = results->problem_count - good;
        ss_text_appendf(&words, "%d problem%s", good, good == 1 ? "" : "s");
        if (faulty) ss_text_appendf(&words, " (%d more ha%s faults)", faulty, faulty == 1 ? "s" : "ve");
        ss_text_appendf(
            &words,
            "; solved: %s at most %g; cost: mean %s over what it solved; factor: cost over that of %s, "
            "on the problems that both solve; error: median energy error of the answers",
            ss_metric_at(by->measure)->name, by->tolerances[by->main_tolerance],
            statistics->rule.whole_call     ? "time of the whole call"
            : statistics->rule.until_solved ? "time until then"
                                            : "time of the whole run",
            several ? "the best of its machine" : "#1");
        print_words(out, ss_text_get(&words));
        ss_text_append(&out->text, "\n");
    }

    // "@ EPYC 7763" in labels stands for a machine.
    for (int i = 0; ranked && several && i < results->machine_count; i++) {
        const ss_machine *machine = &results->machines[i];
        out->text.out_of_memory |= words.out_of_memory;
        ss_text_clear(&words);
        ss_text_appendf(&words, "@ %s: %s, %d core%s, %s, %s, %s, key %.8s", statistics->machines[i].text,
                        machine->cpu, machine->cores, machine->cores == 1 ? "" : "s", machine->system,
                        machine->compiler, machine->build, machine->key);
        print_words(out, ss_text_get(&words));
    }
    if (ranked && several) ss_text_append(&out->text, "\n");
    out->text.out_of_memory |= words.out_of_memory;
    ss_text_free(&words);
    print_words(out, statistics->advice[by->main_tolerance].text);
}
