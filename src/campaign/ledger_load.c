/* Rows out of the ledger. Nothing in the file is believed: it may be a stranger's. */
#include "campaign/ledger_internal.h"
#include "campaign/machine.h"

#include <stickslip/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BIN 1000 // far beyond the largest double

/* ---- arrays that grow --------------------------------------------------------------------------------- */

/* Room for one more item behind `count` of them; the capacity is the next power of two. */
static bool grow(void **items, int count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0) return true;
    void *more = count > INT32_MAX / 2 ? NULL : ss_allocate(count ? 2 * (size_t)count : 1, size);
    if (!more) return false;
    if (count) memcpy(more, *items, (size_t)count * size);
    ss_release(*items);
    *items = more;
    return true;
}

/* ---- texts -------------------------------------------------------------------------------------------- */

/* Remembers the first thing that went wrong in a row. */
typedef struct row {
    sqlite3_stmt *statement;
    bool out_of_memory, damaged;
} row;

static char *maybe_text(row *r, int column)
{
    if (sqlite3_column_type(r->statement, column) == SQLITE_NULL) return NULL;
    const char *text = (const char *)sqlite3_column_text(r->statement, column);
    char *copy = ss_text_copy(text);
    r->out_of_memory |= !copy;
    return copy;
}

static char *some_text(row *r, int column)
{
    r->damaged |= sqlite3_column_type(r->statement, column) == SQLITE_NULL;
    return maybe_text(r, column);
}

/* A key or digest, of fewer characters than `size`. */
static void short_text(row *r, int column, char *text, size_t size)
{
    const char *stored = (const char *)sqlite3_column_text(r->statement, column);
    r->damaged |= !stored || strlen(stored) >= size;
    snprintf(text, size, "%s", stored ? stored : "");
}

static int whole(row *r, int column, int least)
{
    sqlite3_int64 value = sqlite3_column_int64(r->statement, column);
    r->damaged |= value < least || value > INT32_MAX;
    return (int)value;
}

static bool check(ss_ledger *ledger, const row *r, const char *what, ss_error *err)
{
    if (r->out_of_memory) return ss_ledger_fail_memory(ledger, err);
    return !r->damaged || ss_ledger_fail_row(ledger, what, err);
}

/* ---- machines, problems, methods, bare runs ----------------------------------------------------------- */

static bool read_machine(ss_ledger *ledger, row *r, ss_results *results, ss_error *err)
{
    if (!grow((void **)&results->machines, results->machine_count, sizeof *results->machines))
        return ss_ledger_fail_memory(ledger, err);
    ss_machine *m = &results->machines[results->machine_count++];
    *m = (ss_machine){.id = sqlite3_column_int64(r->statement, 0)};
    short_text(r, 1, m->key, sizeof m->key);
    m->cpu = some_text(r, 2);
    m->cores = whole(r, 3, 0);
    m->system = some_text(r, 4);
    m->version = some_text(r, 5);
    m->compiler = some_text(r, 6);
    m->build = some_text(r, 7);
    return check(ledger, r, "invalid row in table machines", err);
}

static bool read_problem(ss_ledger *ledger, row *r, ss_results *results, ss_error *err)
{
    if (!grow((void **)&results->problems, results->problem_count, sizeof *results->problems))
        return ss_ledger_fail_memory(ledger, err);
    ss_problem_entry *p = &results->problems[results->problem_count++];
    *p = (ss_problem_entry){.id = sqlite3_column_int64(r->statement, 0)};
    short_text(r, 1, p->hash, sizeof p->hash);
    p->place = some_text(r, 2);
    p->file = some_text(r, 3);
    p->format = some_text(r, 4);
    p->index = whole(r, 5, -1);
    p->scene = some_text(r, 6);
    p->time = ss_column_real(r->statement, 7);
    p->h = ss_column_real(r->statement, 8);
    p->bodies = whole(r, 9, 0);
    p->joints = whole(r, 10, 0);
    p->rows = whole(r, 11, 0);
    p->contacts = whole(r, 12, 0);
    p->mass_ratio = ss_column_real(r->statement, 13);
    p->density = ss_column_real(r->statement, 14);
    p->rank_ratio = ss_column_real(r->statement, 15);
    p->mu_least = ss_column_real(r->statement, 16);
    p->mu_most = ss_column_real(r->statement, 17);
    p->fault = maybe_text(r, 18);
    p->collection = maybe_text(r, 19);
    return check(ledger, r, "invalid row in table problems", err);
}

static bool read_method(ss_ledger *ledger, row *r, ss_results *results, ss_error *err)
{
    if (!grow((void **)&results->methods, results->method_count, sizeof *results->methods))
        return ss_ledger_fail_memory(ledger, err);
    ss_method_entry *m = &results->methods[results->method_count++];
    *m = (ss_method_entry){.id = sqlite3_column_int64(r->statement, 0)};
    short_text(r, 1, m->key, sizeof m->key);
    m->formulation = some_text(r, 2);
    m->with = some_text(r, 3);
    m->solver = some_text(r, 4);
    m->set = some_text(r, 5);
    m->plugin = some_text(r, 6);
    m->stop = some_text(r, 7);
    m->keep = some_text(r, 8);
    m->iterations = whole(r, 9, INT32_MIN);
    m->time_limit = ss_column_real(r->statement, 10);
    m->seed = whole(r, 11, INT32_MIN);
    m->reference = some_text(r, 12);
    m->plugin_file = some_text(r, 13);
    m->clock = maybe_text(r, 14);
    m->limit_by = maybe_text(r, 15);
    if (!check(ledger, r, "invalid row in table methods", err)) return false;

    // Renamed since; what was recorded keeps the name of its group in the file.
    const char *name = ss_method_is_recorded(m) ? m->solver : ss_solver_name(m->solver);
    if (name != m->solver) {
        ss_release(m->solver);
        m->solver = ss_text_copy(name);
    }
    return m->solver || ss_ledger_fail_memory(ledger, err);
}

static void read_gauges(row *r, int first, double gauge[SS_GAUGE_COUNT])
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) gauge[g] = ss_column_real(r->statement, first + g);
}

static bool read_run(ss_ledger *ledger, row *r, ss_results *results, ss_error *err)
{
    if (!grow((void **)&results->runs, results->run_count, sizeof *results->runs))
        return ss_ledger_fail_memory(ledger, err);
    ss_run_entry *run = &results->runs[results->run_count++];
    *run = (ss_run_entry){.id = sqlite3_column_int64(r->statement, 0)};
    run->problem_id = sqlite3_column_int64(r->statement, 1);
    run->method_id = sqlite3_column_int64(r->statement, 2);
    run->machine_id = sqlite3_column_int64(r->statement, 3);
    const char *outcome = (const char *)sqlite3_column_text(r->statement, 4);
    run->outcome = ss_outcome_named(outcome ? outcome : "");
    r->damaged |= run->outcome == SS_OUTCOME_COUNT;
    run->message = maybe_text(r, 5);
    run->started = maybe_text(r, 6);
    run->unknowns = whole(r, 7, 0);
    run->iterations = whole(r, 8, 0);
    run->kept_iteration = whole(r, 9, INT32_MIN);
    run->seconds = ss_column_real(r->statement, 10);
    run->memory = ss_column_real(r->statement, 11);
    short_text(r, 12, run->answer, sizeof run->answer);
    run->steady = sqlite3_column_int(r->statement, 13) != 0;
    read_gauges(r, 14, run->gauge);
    run->elapsed = ss_column_real(r->statement, 14 + SS_GAUGE_COUNT);
    run->time_limit = ss_column_real(r->statement, 15 + SS_GAUGE_COUNT);
    if (sqlite3_column_type(r->statement, 16 + SS_GAUGE_COUNT) != SQLITE_NULL)
        short_text(r, 16 + SS_GAUGE_COUNT, run->source, sizeof run->source);
    r->damaged |= strspn(run->source, "0123456789abcdef") != strlen(run->source);
    return check(ledger, r, "invalid row in table runs", err);
}

typedef bool reader(ss_ledger *ledger, row *r, ss_results *results, ss_error *err);

static bool read_table(ss_ledger *ledger, ss_sql sql, reader *read, ss_results *results, ss_error *err)
{
    sqlite3_stmt *statement = ss_ledger_statement(ledger, sql, err);
    if (!statement) return false;
    ss_step step;
    while ((step = ss_ledger_step(ledger, statement, err)) == SS_STEP_ROW) {
        row r = {.statement = statement};
        if (read(ledger, &r, results, err)) continue;
        sqlite3_reset(statement);
        return false;
    }
    return step == SS_STEP_DONE;
}

bool ss_ledger_load_index(ss_ledger *ledger, ss_results *results, ss_error *err)
{
    if (!read_table(ledger, SS_SQL_MACHINES, read_machine, results, err) ||
        !read_table(ledger, SS_SQL_PROBLEMS, read_problem, results, err) ||
        !read_table(ledger, SS_SQL_METHODS, read_method, results, err) ||
        !read_table(ledger, SS_SQL_RUNS, read_run, results, err))
        return false;

    // The latest campaign comes first.
    sqlite3_stmt *statement = ss_ledger_statement(ledger, SS_SQL_CAMPAIGNS, err);
    if (!statement) return false;
    ss_step step = ss_ledger_step(ledger, statement, err);
    row r = {.statement = statement};
    if (step == SS_STEP_ROW) results->campaign = some_text(&r, 2);
    sqlite3_reset(statement);
    if (step == SS_STEP_FAILED || !check(ledger, &r, "invalid row in table campaigns", err)) return false;

    return ss_results_sort(ledger, results, err) &&
           (ss_results_label(results) || ss_ledger_fail_memory(ledger, err));
}

/* ---- what hangs on a run ------------------------------------------------------------------------------ */

static bool read_samples(ss_ledger *ledger, row *r, ss_run_entry *run, ss_error *err)
{
    if (!grow((void **)&run->samples, run->sample_count, sizeof *run->samples))
        return ss_ledger_fail_memory(ledger, err);
    run->samples[run->sample_count++] =
        (ss_sample){ss_column_real(r->statement, 1), ss_column_real(r->statement, 2)};
    return true;
}

static bool read_history(ss_ledger *ledger, row *r, ss_run_entry *run, ss_error *err)
{
    if (!grow((void **)&run->history, run->history_count, sizeof *run->history))
        return ss_ledger_fail_memory(ledger, err);
    ss_history_point *point = &run->history[run->history_count++];
    point->iteration = whole(r, 0, 0);
    point->seconds = ss_column_real(r->statement, 1);
    read_gauges(r, 2, point->gauge);
    return check(ledger, r, "invalid row in table history", err);
}

static bool read_crossing(ss_ledger *ledger, row *r, ss_run_entry *run, ss_error *err)
{
    if (!grow((void **)&run->crossings, run->crossing_count, sizeof *run->crossings))
        return ss_ledger_fail_memory(ledger, err);
    ss_crossing *crossing = &run->crossings[run->crossing_count++];
    const char *name = (const char *)sqlite3_column_text(r->statement, 0);
    crossing->gauge = SS_GAUGE_NONE;
    for (int g = 0; name && g < SS_GAUGE_COUNT; g++)
        if (strcmp(ss_gauge_name((ss_gauge)g), name) == 0) crossing->gauge = (ss_gauge)g;
    crossing->decade = whole(r, 1, 0);
    crossing->iteration = whole(r, 2, 0);
    crossing->seconds = ss_column_real(r->statement, 3);
    r->damaged |= crossing->gauge == SS_GAUGE_NONE || crossing->decade >= SS_DECADES;
    return check(ledger, r, "invalid row in table crossings", err);
}

static bool read_bin(ss_ledger *ledger, row *r, ss_run_entry *run, ss_error *err)
{
    if (!grow((void **)&run->bins, run->bin_count, sizeof *run->bins))
        return ss_ledger_fail_memory(ledger, err);
    ss_bin *bin = &run->bins[run->bin_count++];
    *bin = (ss_bin){whole(r, 0, SS_LEAST_BIN), whole(r, 1, 0)};
    r->damaged |= bin->bin > MOST_BIN;
    return check(ledger, r, "invalid row in table contact_errors", err);
}

typedef bool detail_reader(ss_ledger *ledger, row *r, ss_run_entry *run, ss_error *err);

static bool read_details(ss_ledger *ledger, ss_sql sql, detail_reader *read, ss_run_entry *run, ss_error *err)
{
    sqlite3_stmt *statement = ss_ledger_statement(ledger, sql, err);
    if (!statement) return false;
    sqlite3_bind_int64(statement, 1, run->id);
    ss_step step;
    while ((step = ss_ledger_step(ledger, statement, err)) == SS_STEP_ROW) {
        row r = {.statement = statement};
        if (read(ledger, &r, run, err)) continue;
        sqlite3_reset(statement);
        return false;
    }
    return step == SS_STEP_DONE;
}

static int by_gauge(const void *left, const void *right)
{
    const ss_crossing *a = left, *b = right;
    if (a->gauge != b->gauge) return a->gauge < b->gauge ? -1 : 1;
    return (a->decade > b->decade) - (a->decade < b->decade);
}

/* ---- metrics ------------------------------------------------------------------------------------------ */

static int column_index(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? -1 : sqlite3_column_int(statement, column);
}

/* One block holds the values and the reasons behind them, so that releasing the values is enough. */
static bool load_metrics(ss_ledger *ledger, ss_run_entry *run, ss_error *err)
{
    size_t bytes = 0, count = (size_t)ss_metric_count();
    int rows = 0;
    ss_step step;
    sqlite3_stmt *statement = ss_ledger_statement(ledger, SS_SQL_METRICS, err);
    if (!statement) return false;
    sqlite3_bind_int64(statement, 1, run->id);
    while ((step = ss_ledger_step(ledger, statement, err)) == SS_STEP_ROW) {
        bytes += (size_t)sqlite3_column_bytes(statement, 4) + 1;
        rows++;
    }
    if (step != SS_STEP_DONE) return false;
    if (rows == 0) return true; // nothing was judged
    run->metrics = ss_allocate(count * sizeof *run->metrics + bytes, 1);
    if (!run->metrics) return ss_ledger_fail_memory(ledger, err);
    for (size_t i = 0; i < count; i++)
        run->metrics[i] = (ss_metric_value){.value = NAN,
                                            .worst_contact = -1,
                                            .worst_constraint = -1,
                                            .why = "unknown to the version that made the run"};

    // The same rows again. Metrics that this program does not know are passed over.
    char *texts = (char *)(run->metrics + count);
    while ((step = ss_ledger_step(ledger, statement, err)) == SS_STEP_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        int index = name ? ss_metric_index(name) : -1;
        if (index < 0) continue;
        ss_metric_value *value = &run->metrics[index];
        value->applies = sqlite3_column_type(statement, 4) == SQLITE_NULL;
        value->value = ss_column_real(statement, 1);
        value->worst_contact = column_index(statement, 2);
        value->worst_constraint = column_index(statement, 3);
        value->why = NULL;
        if (value->applies) continue;
        const char *why = (const char *)sqlite3_column_text(statement, 4);
        size_t length = why ? strlen(why) : 0;
        value->why = texts;
        memcpy(texts, why ? why : "", length + 1);
        texts += length + 1;
    }
    return step == SS_STEP_DONE;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

bool ss_ledger_load(ss_ledger *ledger, ss_results *results, ss_error *err)
{
    *results = (ss_results){0};
    bool good = ss_ledger_do(ledger, SS_SQL_SNAPSHOT, err) && ss_ledger_load_index(ledger, results, err);
    for (int i = 0; good && i < results->run_count; i++) {
        ss_run_entry *run = &results->runs[i];
        good = load_metrics(ledger, run, err) &&
               read_details(ledger, SS_SQL_SAMPLES, read_samples, run, err) &&
               read_details(ledger, SS_SQL_HISTORY, read_history, run, err) &&
               read_details(ledger, SS_SQL_CROSSINGS, read_crossing, run, err) &&
               read_details(ledger, SS_SQL_CONTACT_ERRORS, read_bin, run, err);
        if (good && run->crossing_count)
            qsort(run->crossings, (size_t)run->crossing_count, sizeof *run->crossings, by_gauge);
    }
    ss_ledger_rollback(ledger); // ends the snapshot
    if (!good) ss_results_free(results);
    return good;
}

void ss_results_free(ss_results *results)
{
    for (int i = 0; i < results->machine_count; i++) ss_machine_clear(&results->machines[i]);
    for (int i = 0; i < results->problem_count; i++) {
        const ss_problem_entry *p = &results->problems[i];
        char *texts[] = {p->place, p->file, p->format, p->scene, p->fault, p->collection};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) ss_release(texts[k]);
    }
    for (int i = 0; i < results->method_count; i++) {
        const ss_method_entry *m = &results->methods[i];
        char *texts[] = {m->label, m->formulation, m->with,      m->solver,      m->set,   m->plugin,
                         m->stop,  m->keep,        m->reference, m->plugin_file, m->clock, m->limit_by};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) ss_release(texts[k]);
    }
    for (int i = 0; i < results->run_count; i++) {
        const ss_run_entry *run = &results->runs[i];
        void *blocks[] = {run->message,   run->started, run->metrics, run->history,
                          run->crossings, run->bins,    run->samples};
        for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) ss_release(blocks[k]);
    }
    ss_release(results->machines);
    ss_release(results->problems);
    ss_release(results->methods);
    ss_release(results->runs);
    ss_release(results->campaign);
    *results = (ss_results){0};
}
