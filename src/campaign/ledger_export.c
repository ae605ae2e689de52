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
    ss_row_writer_text(&e->rows, p->collection);
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
    ss_row_writer_text(&e->rows, run->source[0] ? run->source : NULL);
    return end_row(e, err);
}

/* ---- what hangs on runs ------------------------------------------------------------------------------- */

/* What hangs on a run, as it is stored; metrics with their units. */
static bool put_details(exporter *e, ss_sql sql, int index, ss_error *err)
{
    sqlite3_stmt *statement = ss_ledger_statement(e->ledger, sql, err);
    if (!statement) return false;
    sqlite3_bind_int64(statement, 1, e->results.runs[index].id);
    ss_step step;
    while ((step = ss_ledger_step(e->ledger, statement, err)) == SS_STEP_ROW) {
        ss_row_writer_begin(&e->rows);
        ss_row_writer_integer(&e->rows, index);

        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            int type = sqlite3_column_type(statement, i);
            const char *text = type == SQLITE_TEXT || type == SQLITE_BLOB
                                   ? (const char *)sqlite3_column_text(statement, i)
                                   : NULL;
            if (type == SQLITE_NULL) {
                ss_row_writer_null(&e->rows);
            } else if (type == SQLITE_INTEGER) {
                ss_row_writer_integer(&e->rows, sqlite3_column_int64(statement, i));
            } else if (type == SQLITE_FLOAT) {
                ss_row_writer_real(&e->rows, sqlite3_column_double(statement, i));
            } else {
                e->rows.text.out_of_memory |= !text;
                ss_row_writer_text(&e->rows, text);
            }
        }

        if (sql == SS_SQL_METRICS) {
            const char *name = (const char *)sqlite3_column_text(statement, 0);
            int metric = name ? ss_metric_index(name) : -1;
            ss_row_writer_text(&e->rows, metric < 0 ? NULL : ss_metric_at(metric)->unit);
        }
        if (!end_row(e, err)) return false;
    }
    return step == SS_STEP_DONE;
}

/* ---- tables ------------------------------------------------------------------------------------------- */

#define GAUGE_NAME(code, name) name,
#define MOST_COLUMNS 32

typedef struct table {
    const char *name;
    size_t count; /* where in ss_results the number of rows is, or that of the runs they hang on */
    bool (*put)(exporter *e, int index, ss_error *err); /* NULL: it hangs on runs, and */
    ss_sql sql;                                         /* ... this finds the rows of one */
    const char *columns[MOST_COLUMNS];                  /* NULL ends */
} table;
#define OF_RUNS offsetof(ss_results, run_count), NULL

static const table tables[] = {
    {"machines",
     offsetof(ss_results, machine_count),
     put_machine,
     0,
     {"machine", "key", "cpu", "cores", "system", "version", "compiler", "build"}},
    {"problems",
     offsetof(ss_results, problem_count),
     put_problem,
     0,
     {"problem", "hash",       "place",    "file",    "format", "frame",     "scene",
      "time",    "h",          "bodies",   "joints",  "rows",   "contacts",  "mass_ratio",
      "density", "rank_ratio", "mu_least", "mu_most", "fault",  "collection"}},
    {"methods",
     offsetof(ss_results, method_count),
     put_method,
     0,
     {"method", "key", "label", "formulation", "formulation_options", "solver", "solver_options", "plugin",
      "stop", "keep", "iterations", "time_limit", "seed", "reference", "plugin_file", "clock", "limit_by"}},
    {"runs",
     offsetof(ss_results, run_count),
     put_run,
     0,
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
      "time_limit",
      "source"}},
    {"metrics",
     OF_RUNS,
     SS_SQL_METRICS,
     {"run", "name", "value", "worst_contact", "worst_constraint", "why", "unit"}},
    {"samples", OF_RUNS, SS_SQL_SAMPLES, {"run", "number", "seconds", "elapsed"}},
    {"history", OF_RUNS, SS_SQL_HISTORY, {"run", "iteration", "seconds", SS_GAUGE_LIST(GAUGE_NAME)}},
    {"crossings", OF_RUNS, SS_SQL_CROSSINGS, {"run", "gauge", "decade", "iteration", "seconds"}},
    {"contact_errors", OF_RUNS, SS_SQL_CONTACT_ERRORS, {"run", "bin", "count"}},
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
        if (!(t->put ? t->put(e, i, err) : put_details(e, t->sql, i, err))) return false;
    return true;
}

/* only = NULL: all tables, as JSON. */
static bool export(exporter *e, const table *only, ss_error *err)
{
    ss_json *json = &e->rows.json;
    json->text = &e->rows.text;
    e->rows.is_json = !only;
    bool good =
        ss_ledger_do(e->ledger, SS_SQL_SNAPSHOT, err) && ss_ledger_load_index(e->ledger, &e->results, err);

    if (good && only) good = put_table(e, only, err);
    if (good && !only) {
        ss_json_begin_object(json);
        ss_json_key(json, "schema"), ss_json_integer(json, SS_LEDGER_SCHEMA);
        for (size_t i = 0; i < TABLE_COUNT && good; i++) {
            ss_json_key(json, tables[i].name);
            ss_json_begin_array(json);
            good = put_table(e, &tables[i], err);
            ss_json_end_array(json);
        }
        ss_json_end_object(json);
        ss_text_append(&e->rows.text, "\n");
    }

    good = good && ss_row_writer_flush(&e->rows, e->ledger->path, err);
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
