/* One ledger into another: things are the same when their keys are, whatever their ids. What hangs on a run
 * is copied row by row as it is stored, so that nothing is lost that this program does not know, such as
 * metrics of a later one. */
#include "campaign/ledger_internal.h"

#include <string.h>
#include <sys/stat.h>

typedef struct merge {
    ss_ledger *into, *from;
    ss_results results; /* of `from`, without what hangs on runs */
    int added, there, differing;
    char *which; /* the first that differs; NULL = not asked for */
    size_t size;
} merge;

/* ---- rows as they are --------------------------------------------------------------------------------- */

/* Copies what `get` finds for one run, column by column, behind the id of the other. */
static bool copy_rows(merge *m, ss_sql get, int64_t from_run, ss_sql add, int64_t into_run, ss_error *err)
{
    sqlite3_stmt *source = ss_ledger_statement(m->from, get, err);
    if (!source) return false;
    sqlite3_bind_int64(source, 1, from_run);
    ss_step step;
    while ((step = ss_ledger_step(m->from, source, err)) == SS_STEP_ROW) {
        sqlite3_stmt *target = ss_ledger_statement(m->into, add, err);
        if (!target) return false;
        sqlite3_bind_int64(target, 1, into_run);
        for (int i = 0; i < sqlite3_column_count(source); i++)
            sqlite3_bind_value(target, 2 + i, sqlite3_column_value(source, i));
        if (!ss_ledger_finish(m->into, target, err)) return false;
    }
    return step == SS_STEP_DONE;
}

static bool copy_details(merge *m, int64_t from_run, int64_t into_run, ss_error *err)
{
    static const struct {
        ss_sql get, add;
    } tables[] = {{SS_SQL_METRICS, SS_SQL_ADD_METRIC},
                  {SS_SQL_SAMPLES, SS_SQL_ADD_SAMPLE},
                  {SS_SQL_HISTORY, SS_SQL_ADD_HISTORY},
                  {SS_SQL_CROSSINGS, SS_SQL_ADD_CROSSING},
                  {SS_SQL_CONTACT_ERRORS, SS_SQL_ADD_CONTACT_ERROR}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!copy_rows(m, tables[i].get, from_run, tables[i].add, into_run, err)) return false;
    return true;
}

/* ---- things ------------------------------------------------------------------------------------------- */

/* Campaigns of the other file, on the machine that `from_id` was there and `into_id` is here. */
static bool copy_campaigns(merge *m, int64_t from_id, int64_t into_id, ss_error *err)
{
    sqlite3_stmt *source = ss_ledger_statement(m->from, SS_SQL_CAMPAIGNS, err);
    if (!source) return false;
    ss_step step;
    while ((step = ss_ledger_step(m->from, source, err)) == SS_STEP_ROW) {
        if (sqlite3_column_int64(source, 0) != from_id) continue;
        sqlite3_stmt *target = ss_ledger_statement(m->into, SS_SQL_ADD_CAMPAIGN, err);
        if (!target) return false;
        sqlite3_bind_int64(target, 1, into_id);
        sqlite3_bind_value(target, 2, sqlite3_column_value(source, 1));
        sqlite3_bind_value(target, 3, sqlite3_column_value(source, 2));
        if (!ss_ledger_finish(m->into, target, err)) return false;
    }
    return step == SS_STEP_DONE;
}

/* From here on the things in m->results have the ids of the target. */
static bool unite_things(merge *m, ss_error *err)
{
    ss_results *results = &m->results;
    for (int i = 0; i < results->machine_count; i++) {
        int64_t from_id = results->machines[i].id;
        if (!ss_ledger_machine(m->into, &results->machines[i], err) ||
            !copy_campaigns(m, from_id, results->machines[i].id, err))
            return false;
    }
    for (int i = 0; i < results->problem_count; i++)
        if (!ss_ledger_problem(m->into, &results->problems[i], err)) return false;
    for (int i = 0; i < results->method_count; i++)
        if (!ss_ledger_method(m->into, &results->methods[i], err)) return false;
    return true;
}

/* ---- runs --------------------------------------------------------------------------------------------- */

static void note_difference(merge *m, const ss_run_entry *run, const char *here)
{
    if (m->differing++ > 0 || !m->which || m->size == 0) return;
    const ss_problem_entry *problem = &m->results.problems[run->problem];
    snprintf(m->which, m->size, "%s %s, %s: answer %s, but %s in %s", problem->file, problem->place,
             m->results.methods[run->method].label, here[0] ? here : "none",
             run->answer[0] ? run->answer : "none", m->from->path);
}

/* A run that both have: the samples of the target count; if it has none, those of the source do. */
static bool compare(merge *m, const ss_run_entry *run, const ss_found_run *found, ss_error *err)
{
    if (strcmp(found->answer, run->answer) != 0) {
        note_difference(m, run, found->answer);
        return true; // times of another answer tell nothing about ours
    }
    m->there++;
    if (found->samples > 0) return true;
    int before = sqlite3_total_changes(m->into->db);
    if (!copy_rows(m, SS_SQL_SAMPLES, run->id, SS_SQL_ADD_SAMPLE, found->id, err)) return false;
    return sqlite3_total_changes(m->into->db) == before ||
           ss_ledger_set_steady(m->into, found->id, run->steady, err);
}

static bool unite_run(merge *m, const ss_run_entry *run, ss_error *err)
{
    ss_run_entry mine = *run;
    mine.problem_id = m->results.problems[run->problem].id;
    mine.method_id = m->results.methods[run->method].id;
    mine.machine_id = m->results.machines[run->machine].id;
    ss_found_run found;
    if (!ss_ledger_find_run(m->into, mine.problem_id, mine.method_id, mine.machine_id, &found, err))
        return false;
    if (found.id) return compare(m, run, &found, err);
    int64_t id = 0;
    bool added = false;
    if (!ss_ledger_add_row(m->into, &mine, &id, &added, err)) return false;
    m->added++;
    return copy_details(m, run->id, id, err);
}

static bool unite(merge *m, ss_error *err)
{
    if (!ss_ledger_do(m->from, SS_SQL_SNAPSHOT, err) || !ss_ledger_load_index(m->from, &m->results, err) ||
        !ss_ledger_do(m->into, SS_SQL_BEGIN, err) || !unite_things(m, err))
        return false;
    for (int i = 0; i < m->results.run_count; i++)
        if (!unite_run(m, &m->results.runs[i], err)) return false;
    return ss_ledger_do(m->into, SS_SQL_COMMIT, err);
}

static bool is_same_file(const ss_ledger *into, const char *from)
{
    struct stat a, b;
    return stat(into->name, &a) == 0 && stat(from, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool ss_ledger_merge(ss_ledger *into, const char *from, int *added, int *there, int *differing, char *which,
                     size_t size, ss_error *err)
{
    /* Not even opened: closing it would drop SQLite's locks on it. */
    if (is_same_file(into, from))
        return ss_fail(err, SS_ERROR_USAGE, "%s: the same ledger as %s", from, into->path);
    merge m = {.into = into, .from = ss_ledger_read(from, err), .which = which, .size = size};
    if (!m.from) return false;
    if (which && size) which[0] = '\0';
    bool good = unite(&m, err);
    if (!good) ss_ledger_rollback(into);
    if (!good && err && !strstr(err->message, from)) ss_fail_in(err, "merging %s", from);
    *added = good ? m.added : 0;
    *there = good ? m.there : 0;
    *differing = good ? m.differing : 0;
    ss_results_free(&m.results);
    ss_ledger_close(m.from);
    return good;
}
