/* The ledger as CSV and JSON. Both are written by the same walk over the tables, row by row: what hangs on
 * runs is never in memory at once. Things are counted by their place in the sorted order, so that two ledgers
 * of the same contents give the same bytes, whatever was written first. */
#include "campaign/ledger_internal.h"
#include "campaign/ledger_rows.h"

#include "base/words.h"

#include <string.h>

typedef struct exporter {
    ss_ledger *ledger;
    ss_results results; /* without what hangs on runs */
    ss_row_writer rows;
} exporter;

static bool end_row(exporter *e, ss_error *err)
{
    return ss_row_writer_end(&e->rows, e->ledger->path, err);
}

/* ---- machines, problems, methods, runs ---------------------------------------------------------------- */

static bool put_machine(exporter *e, int index, ss_error *err)
{
    const ss_machine *m = &e->results.machines[index];
    ss_row_writer_begin(&e->rows);
    ss_row_writer_integer(&e->rows, index);
    ss_row_writer_text(&e->rows, m->key);
    ss_row_writer_text(&e->rows, m->cpu);
    ss_row_writer_integer(&e->rows, m->cores);
    ss_row_writer_texts(&e->rows, (const char *[]){m->system, m->version, m->compiler, m->build}, 4);
    return end_row(e, err);
}

static bool put_problem(exporter *e, int index, ss_error *err)
{
    const ss_problem_entry *p = &e->results.problems[index];
    ss_row_writer_begin(&e->rows);
    ss_row_writer_integer(&e->rows, index);
    ss_row_writer_texts(&e->rows, (const char *[]){p->hash, p->place, p->file, p->format}, 4);
    ss_row_writer_integer(&e->rows, p->index);
    ss_row_writer_text(&e->rows, p->scene);
    ss_row_writer_reals(&e->rows, (const double[]){p->time, p->h}, 2);
    ss_row_writer_integer(&e->rows, p->bodies);
    ss_row_writer_integer(&e->rows, p->joints);
    ss_row_writer_integer(&e->rows, p->rows);
    ss_row_writer_integer(&e->rows, p->contacts);
    ss_row_writer_reals(
        &e->rows, (const double[]){p->mass_ratio, p->density, p->rank_ratio, p->mu_least, p->mu_most}, 5);
    ss_row_writer_text(&e->rows, p->fault);
    return end_row(e, err);
}

static bool put_method(exporter *e, int index, ss_error *err)
{
    const ss_method_entry *m = &e->results.methods[index];
    ss_row_writer_begin(&e->rows);
    ss_row_writer_integer(&e->rows, index);
    ss_row_writer_texts(&e->rows,
                        (const char *[]){m->key, m->label, m->formulation, m->with, m->solver, m->set,
                                         m->plugin, m->stop, m->keep},
                        9);
    ss_row_writer_integer(&e->rows, m->iterations);
    ss_row_writer_real(&e->rows, m->time_limit);
    ss_row_writer_integer(&e->rows, m->seed);
    ss_row_writer_text(&e->rows, m->reference);
    ss_row_writer_text(&e->rows, m->plugin_file);
    ss_row_writer_text(&e->rows, m->clock ? m->clock : SS_CLOCK_WALL);
    ss_row_writer_text(&e->rows, m->limit_by);
    return end_row(e, err);
}

static bool put_run(exporter *e, int index, ss_error *err)
{
    const ss_run_entry *run = &e->results.runs[index];
    const ss_problem_entry *p = &e->results.problems[run->problem];
    const ss_method_entry *m = &e->results.methods[run->method];
    ss_row_writer_begin(&e->rows);
    ss_row_writer_integer(&e->rows, index);
    ss_row_writer_texts(&e->rows, (const char *[]){p->hash, p->place, p->file}, 3);
    ss_row_writer_integer(&e->rows, p->index);
    ss_row_writer_text(&e->rows, p->scene);
    ss_row_writer_texts(&e->rows,
                        (const char *[]){m->key, m->label, m->formulation, m->with, m->solver, m->set}, 6);
    ss_row_writer_text(&e->rows, e->results.machines[run->machine].key);
    ss_row_writer_texts(&e->rows, (const char *[]){ss_outcome_name(run->outcome), run->message, run->started},
                        3);
    ss_row_writer_integer(&e->rows, run->unknowns);
    ss_row_writer_integer(&e->rows, run->iterations);
    ss_row_writer_integer(&e->rows, run->kept_iteration);
    ss_row_writer_reals(&e->rows, (const double[]){run->seconds, run->memory}, 2);
    ss_row_writer_text(&e->rows, run->answer);
    ss_row_writer_integer(&e->rows, run->steady);
    ss_row_writer_reals(&e->rows, run->gauge, SS_GAUGE_COUNT);
    ss_row_writer_reals(&e->rows, (const double[]){run->elapsed, run->time_limit}, 2);
    return end_row(e, err);
}

/* ---- what hangs on runs ------------------------------------------------------------------------------- */

/* One column as it is stored. */
static void put_column(exporter *e, sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        ss_row_writer_null(&e->rows);
        break;
    case SQLITE_INTEGER:
        ss_row_writer_integer(&e->rows, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        ss_row_writer_real(&e->rows, sqlite3_column_double(statement, column));
        break;
    default: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        e->rows.text.out_of_memory |= !text;
        ss_row_writer_text(&e->rows, text);
    }
    }
}

static const char *unit_of(const char *metric)
{
    int index = metric ? ss_metric_index(metric) : -1;
    return index < 0 ? NULL : ss_metric_at(index)->unit;
}

static bool put_details(exporter *e, ss_sql sql, int index, ss_error *err)
{
    sqlite3_stmt *statement = ss_ledger_statement(e->ledger, sql, err);
    if (!statement) return false;
    sqlite3_bind_int64(statement, 1, e->results.runs[index].id);
    ss_step step;
    while ((step = ss_ledger_step(e->ledger, statement, err)) == SS_STEP_ROW) {
        ss_row_writer_begin(&e->rows);
        ss_row_writer_integer(&e->rows, index);
        for (int i = 0; i < sqlite3_column_count(statement); i++) put_column(e, statement, i);
        if (sql == SS_SQL_METRICS)
            ss_row_writer_text(&e->rows, unit_of((const char *)sqlite3_column_text(statement, 0)));
        if (!end_row(e, err)) return false;
    }
    return step == SS_STEP_DONE;
}

static bool put_metrics(exporter *e, int index, ss_error *err)
{
    return put_details(e, SS_SQL_METRICS, index, err);
}

static bool put_samples(exporter *e, int index, ss_error *err)
{
    return put_details(e, SS_SQL_SAMPLES, index, err);
}

static bool put_history(exporter *e, int index, ss_error *err)
{
    return put_details(e, SS_SQL_HISTORY, index, err);
}

static bool put_crossings(exporter *e, int index, ss_error *err)
{
    return put_details(e, SS_SQL_CROSSINGS, index, err);
}

static bool put_contact_errors(exporter *e, int index, ss_error *err)
{
    return put_details(e, SS_SQL_CONTACT_ERRORS, index, err);
}

/* ---- tables ------------------------------------------------------------------------------------------- */

#define GAUGE_NAME(code, name) name,
#define MOST_COLUMNS 32

typedef struct table {
    const char *name;
    size_t count; /* where in ss_results the number of rows is, or that of the runs they hang on */
    bool (*put)(exporter *e, int index, ss_error *err);
    const char *columns[MOST_COLUMNS]; /* NULL ends */
} table;

static const table tables[] = {
    {"machines",
     offsetof(ss_results, machine_count),
     put_machine,
     {"machine", "key", "cpu", "cores", "system", "version", "compiler", "build"}},
    {"problems",
     offsetof(ss_results, problem_count),
     put_problem,
     {"problem", "hash", "place", "file", "format", "frame", "scene", "time", "h", "bodies", "joints", "rows",
      "contacts", "mass_ratio", "density", "rank_ratio", "mu_least", "mu_most", "fault"}},
    {"methods",
     offsetof(ss_results, method_count),
     put_method,
     {"method", "key", "label", "formulation", "formulation_options", "solver", "solver_options", "plugin",
      "stop", "keep", "iterations", "time_limit", "seed", "reference", "plugin_file", "clock", "limit_by"}},
    {"runs",
     offsetof(ss_results, run_count),
     put_run,
     {"run",
      "problem_hash",
      "place",
      "file",
      "frame",
      "scene",
      "method_key",
      "label",
      "formulation",
      "formulation_options",
      "solver",
      "solver_options",
      "machine_key",
      "outcome",
      "message",
      "started",
      "unknowns",
      "iterations",
      "kept_iteration",
      "seconds",
      "memory",
      "answer",
      "steady",
      SS_GAUGE_LIST(GAUGE_NAME) "elapsed",
      "time_limit"}},
    {"metrics",
     offsetof(ss_results, run_count),
     put_metrics,
     {"run", "name", "value", "worst_contact", "worst_constraint", "why", "unit"}},
    {"samples", offsetof(ss_results, run_count), put_samples, {"run", "number", "seconds", "elapsed"}},
    {"history",
     offsetof(ss_results, run_count),
     put_history,
     {"run", "iteration", "seconds", SS_GAUGE_LIST(GAUGE_NAME)}},
    {"crossings",
     offsetof(ss_results, run_count),
     put_crossings,
     {"run", "gauge", "decade", "iteration", "seconds"}},
    {"contact_errors", offsetof(ss_results, run_count), put_contact_errors, {"run", "bin", "count"}},
};
#define TABLE_COUNT (sizeof tables / sizeof *tables)

const char *const *ss_ledger_tables(void)
{
    static const char *const names[] = {"machines", "problems", "methods",   "runs",           "metrics",
                                        "samples",  "history",  "crossings", "contact_errors", NULL};
    _Static_assert(sizeof names / sizeof *names == TABLE_COUNT + 1, "every table has its name");
    return names;
}

static bool put_table(exporter *e, const table *t, ss_error *err)
{
    int count;
    memcpy(&count, (const char *)&e->results + t->count, sizeof count);
    ss_row_writer_columns(&e->rows, t->columns);
    for (int i = 0; i < count; i++)
        if (!t->put(e, i, err)) return false;
    return true;
}

static bool put_all(exporter *e, ss_error *err)
{
    ss_json *json = &e->rows.json;
    ss_json_begin_object(json);
    ss_json_key(json, "schema"), ss_json_integer(json, SS_LEDGER_SCHEMA);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        ss_json_key(json, tables[i].name);
        ss_json_begin_array(json);
        if (!put_table(e, &tables[i], err)) return false;
        ss_json_end_array(json);
    }
    ss_json_end_object(json);
    ss_text_append(&e->rows.text, "\n");
    return true;
}

/* only = NULL: all tables, as JSON. */
static bool export(exporter *e, const table *only, ss_error *err)
{
    e->rows.json.text = &e->rows.text;
    e->rows.is_json = !only;
    bool good = ss_ledger_do(e->ledger, SS_SQL_SNAPSHOT, err) &&
                ss_ledger_load_index(e->ledger, &e->results, err) &&
                (only ? put_table(e, only, err) : put_all(e, err)) &&
                ss_row_writer_flush(&e->rows, e->ledger->path, err);
    ss_ledger_rollback(e->ledger); // ends the snapshot
    ss_results_free(&e->results);
    ss_text_free(&e->rows.text);
    return good;
}

bool ss_ledger_csv(ss_ledger *ledger, const char *name, ss_sink *sink, void *context, ss_error *err)
{
    ss_unknown unknown = ss_unknown_start("table", name);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        exporter e = {.ledger = ledger, .rows = {.sink = sink, .context = context}};
        if (strcmp(tables[i].name, name) == 0) return export(&e, &tables[i], err);
        ss_unknown_offer(&unknown, tables[i].name);
    }
    return ss_unknown_fail(&unknown, err);
}

bool ss_ledger_json(ss_ledger *ledger, ss_sink *sink, void *context, ss_error *err)
{
    exporter e = {.ledger = ledger, .rows = {.sink = sink, .context = context}};
    return export(&e, NULL, err);
}
