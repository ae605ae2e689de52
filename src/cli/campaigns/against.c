#include "cli/campaigns/against.h"

#include "base/file.h"
#include "cli/terminal/table.h"

#include <math.h>
#include <string.h>

/* Solver and options: at one tolerance the stop rule is not what tells methods apart. */
static void add_method(ss_table *table, const ss_results *results, int method)
{
    const ss_method_entry *entry = method < 0 ? NULL : &results->methods[method];
    if (entry)
        ss_table_add(table, "%s%s%s", entry->solver, entry->set[0] ? " " : "", entry->set);
    else
        ss_table_add(table, "-");
}

static void add_row(ss_table *table, const ss_results *results, const ss_statistics *statistics,
                    const ss_against_row *row, bool with_method)
{
    // "brick-wall 2": the file without folder and ending, and which of its frames.
    const ss_problem_entry *problem = &results->problems[row->problem];
    const char *name = ss_path_name(problem->file), *dot = strrchr(name, '.');
    int length = (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name));
    ss_text text = {0};
    ss_text_appendf(&text, "%.*s", length, name);
    if (problem->index >= 0) ss_text_appendf(&text, " %d", problem->index);
    if (results->machine_count > 1) ss_text_appendf(&text, " @ %s", statistics->machines[row->machine].text);
    ss_table_add(table, "%s", ss_text_get(&text));
    ss_text_free(&text);

    char seconds[32], ratio[32];
    if (with_method) add_method(table, results, row->method);
    add_method(table, results, row->best_method);
    ss_table_add(table, "%d", problem->contacts);
    ss_seconds_text(row->best_cost, seconds, sizeof seconds);
    ss_table_add(table, "%s", seconds);
    ss_seconds_text(row->cost, seconds, sizeof seconds);
    ss_table_add(table, "%s", seconds);

    snprintf(ratio, sizeof ratio, row->ratio < 1.0 ? "%.2g" : "%.2f", row->ratio);
    bool only = row->method >= 0 && row->best_method < 0, lost = row->method < 0 && row->best_method >= 0;
    table->style = row->ratio > 1.0 || lost ? SS_STYLE_BAD : SS_STYLE_PLAIN;
    ss_table_add(table, "%s", only ? "only" : lost ? "not solved" : isnan(row->ratio) ? "-" : ratio);
    table->style = SS_STYLE_PLAIN;
}

void ss_against_print(ss_out *out, const ss_results *results, const ss_statistics *statistics,
                      const ss_against *against)
{
    const char *others = against->best_of ? against->best_of : "the others";

    // A column for the method, if the ones are more than a solver with one set of options.
    const ss_method_entry *first = NULL;
    bool with_method = false;
    for (int m = 0; m < results->method_count; m++) {
        const ss_method_entry *method = &results->methods[m];
        if (ss_method_is_recorded(method) || !ss_method_matches(method, against->methods)) continue;
        if (!first) first = method;
        if (strcmp(method->solver, first->solver) != 0 || strcmp(method->set, first->set) != 0)
            with_method = true;
    }

    const unsigned char expendable[] = {with_method ? 3 : 2, 0};
    ss_text words = {0};
    for (int t = 0; t < against->score_count; t++) {
        const ss_against_score *score = &against->scores[t];
        ss_table table = {.columns = 6 + with_method, .left = 2 + with_method, .expendable = expendable};
        ss_text_appendf(&out->text, "%s at most %g\n\n", ss_metric_at(statistics->rule.measure)->name,
                        score->tolerance);
        ss_table_add(&table, "problem");
        if (with_method) ss_table_add(&table, "best of %s", against->methods);
        ss_table_add(&table, "best of %s", others);
        ss_table_add(&table, "contacts");
        ss_table_add(&table, "best time");
        ss_table_add(&table, "%s", with_method ? "time" : against->methods);
        ss_table_add(&table, "ratio");
        for (int i = 0; i < against->count; i++)
            add_row(&table, results, statistics, &score->rows[i], with_method);
        ss_table_print(&table, out);

        // What the table comes to.
        ss_text_clear(&words);
        ss_text_appendf(
            &words, "Of %d problem%s, %s solves %d, at least one of %s %d; only %s %d, only %s %d. ",
            against->count, against->count == 1 ? "" : "s", against->methods, score->both + score->only,
            others, score->both + score->only_best, against->methods, score->only, others, score->only_best);
        if (score->both > 0) {
            const ss_against_row *worst = &score->rows[score->worst];
            ss_text_appendf(
                &words,
                "%s over the best of %s in hindsight, on the %d that both solve: geometric mean %.3f, "
                "slower on %d, more than twice as slow on %d; worst %.2f (%s).",
                against->methods, others, score->both, score->mean, score->slower, score->twice, worst->ratio,
                results->problems[worst->problem].scene);
        }
        ss_text_append(&out->text, "\n  ");
        ss_text_wrap(&out->text, ss_text_get(&words), words.length, 2, 2, ss_out_line(out));
        ss_text_append(&out->text, "\n");
    }

    // What was left out, and which time was measured.
    ss_text_clear(&words);
    if (against->refused)
        ss_text_appendf(&words, "%d problem%s left out: no method of one side accepts %s. ", against->refused,
                        against->refused == 1 ? " is" : "s are", against->refused == 1 ? "it" : "them");
    ss_text_appendf(&words, "Times are %s, %s.", ss_statistics_clock(results),
                    statistics->rule.whole_call     ? "of the whole call of the solver"
                    : statistics->rule.until_solved ? "until the tolerance was reached, measuring excluded"
                                                    : "of the whole run, measuring excluded");
    ss_text_append(&out->text, "  ");
    ss_text_wrap(&out->text, ss_text_get(&words), words.length, 2, 2, ss_out_line(out));
    out->text.out_of_memory |= words.out_of_memory;
    ss_text_free(&words);
}
