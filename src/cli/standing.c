#include "cli/standing.h"

#include "cli/table.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LEAST_COLUMNS ((size_t)40)
#define MOST_COLUMNS ((size_t)120)
#define USUAL_COLUMNS ((size_t)79) /* where nobody knows, as help has it */

/* ---- failures by kind -------------------------------------------------------------------------------- */

static bool belongs(const ss_results *results, const ss_series *series, const ss_run_entry *run)
{
    return run->method == series->method && run->machine == series->machine &&
           !results->problems[run->problem].fault;
}

/* Runs that did not solve their problem, by outcome. */
static void count_failures(const ss_results *results, const ss_series *series, double tolerance,
                           int counts[SS_OUTCOME_COUNT])
{
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        if (belongs(results, series, run) && isnan(ss_run_cost(results, run, tolerance)))
            counts[run->outcome]++;
    }
}

static void append_count(ss_text *text, int count, const char *what)
{
    if (count > 0) ss_text_appendf(text, "%s%d %s", text->length ? ", " : "", count, what);
}

static void append_failures(const ss_results *results, const ss_series *series,
                            const ss_statistics_options *by, ss_text *text)
{
    int counts[SS_OUTCOME_COUNT] = {0};
    count_failures(results, series, by->tolerances[by->main_tolerance], counts);
    for (int o = 0; o < SS_OUTCOME_COUNT; o++) append_count(text, counts[o], ss_failure_name((ss_outcome)o));
    append_count(text, series->scores[by->main_tolerance].missing, "missing");
}

/* ---- the table --------------------------------------------------------------------------------------- */

static void add_heading(ss_table *table)
{
    ss_table_add(table, "%2s", "#");
    ss_table_add(table, "method");
    ss_table_add(table, "%9s", "solved");
    ss_table_add(table, "%9s", "95 %");
    ss_table_add(table, "%8s", "cost");
    ss_table_add(table, "%12s", "energy error");
    ss_table_add(table, "not solved");
}

static void add_series(ss_table *table, const ss_results *results, const ss_statistics *statistics, int index)
{
    const ss_series *series = &statistics->series[index];
    const ss_score *score = &series->scores[statistics->options.main_tolerance];
    double energy = series->metric_median[ss_metric_index("energy")];
    char text[64];
    ss_table_add(table, "%2d", index + 1);
    ss_table_add(table, "%s", series->label);
    snprintf(text, sizeof text, "%d/%d", score->solved,
             score->solved + score->failed + score->refused + score->missing);
    ss_table_add(table, "%9s", text);
    snprintf(text, sizeof text, "%.0f-%.0f %%", 100.0 * score->low, 100.0 * score->high);
    ss_table_add(table, "%9s", isnan(score->rate) ? "-" : text);
    ss_seconds_text(score->cost, text, sizeof text);
    ss_table_add(table, "%8s", text);
    snprintf(text, sizeof text, "%.2g J", energy);
    ss_table_add(table, "%12s", isnan(energy) ? "-" : text);
    ss_text failures = {0};
    append_failures(results, series, &statistics->options, &failures);
    ss_table_add(table, "%s", ss_text_get(&failures));
    ss_text_free(&failures);
}

/* ---- words ------------------------------------------------------------------------------------------- */

static size_t columns_of(int fd)
{
    struct winsize size;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return USUAL_COLUMNS;
    size_t columns = size.ws_col;
    return columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
}

/* Words in lines of at most so many columns, indented by two. */
static void wrap(ss_text *text, const char *words, size_t columns)
{
    size_t column = 0;
    while (*words) {
        size_t bytes = strcspn(words, " "), width = 0;
        for (size_t i = 0; i < bytes; i++) width += (words[i] & 0xC0) != 0x80;
        bool breaks = column == 0 || column + 1 + width > columns;
        if (breaks) ss_text_append(text, column ? "\n  " : "  ");
        if (!breaks) ss_text_append(text, " ");
        ss_text_append_bytes(text, words, bytes);
        column = (breaks ? 2 : column + 1) + width;
        words += bytes + (words[bytes] == ' ');
    }
    ss_text_append(text, "\n");
}

static int count_good(const ss_results *results)
{
    int count = 0;
    for (int p = 0; p < results->problem_count; p++) count += !results->problems[p].fault;
    return count;
}

void ss_standing_print(ss_out *out, const ss_results *results, const ss_statistics *statistics)
{
    const ss_statistics_options *by = &statistics->options;
    int good = count_good(results), faulty = results->problem_count - good;
    ss_text clean = {0};
    if (statistics->series_count > 0) {
        ss_table table = {.columns = 7, .left = 7};
        add_heading(&table);
        for (int i = 0; i < statistics->series_count; i++) add_series(&table, results, statistics, i);
        ss_table_print(&table, out);
        ss_text_appendf(&out->text, "\n  %d problem%s", good, good == 1 ? "" : "s");
        if (faulty) ss_text_appendf(&out->text, " (%d more ha%s faults)", faulty, faulty == 1 ? "s" : "ve");
        ss_text_appendf(&out->text, "; solved: relative_energy at most %g; cost: seconds until then\n\n",
                        by->tolerances[by->main_tolerance]);
    }
    ss_text_append_clean(&clean, statistics->advice.text);
    wrap(&out->text, ss_text_get(&clean), columns_of(out->fd));
    out->text.out_of_memory |= clean.out_of_memory;
    ss_text_free(&clean);
}
