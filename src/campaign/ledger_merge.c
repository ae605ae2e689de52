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

/* From here on the things in m->results have the ids of the target. Campaigns go with their machines. */
static bool unite_things(merge *m, ss_error *err)
{
    ss_results *results = &m->results;
    for (int i = 0; i < results->machine_count; i++) {
        int64_t from_id = results->machines[i].id;
        if (!ss_ledger_machine(m->into, &results->machines[i], err)) return false;
        sqlite3_stmt *source = ss_ledger_statement(m->from, SS_SQL_CAMPAIGNS, err);
        if (!source) return false;
        ss_step step;
        while ((step = ss_ledger_step(m->from, source, err)) == SS_STEP_ROW) {
            if (sqlite3_column_int64(source, 0) != from_id) continue;
            sqlite3_stmt *target = ss_ledger_statement(m->into, SS_SQL_ADD_CAMPAIGN, err);
            if (!target) return false;
            sqlite3_bind_int64(target, 1, results->machines[i].id);
            sqlite3_bind_value(target, 2, sqlite3_column_value(source, 1));
            sqlite3_bind_value(target, 3, sqlite3_column_value(source, 2));
            if (!ss_ledger_finish(m->into, target, err)) return false;
        }
        if (step != SS_STEP_DONE) return false;
    }

    for (int i = 0; i < results->problem_count; i++)
        if (!ss_ledger_problem(m->into, &results->problems[i], err)) return false;
    for (int i = 0; i < results->method_count; i++)
        if (!ss_ledger_method(m->into, &results->methods[i], err)) return false;
    return true;
}

static bool unite_run(merge *m, const ss_run_entry *run, ss_error *err)
{
    static const struct {
        ss_sql get, add;
    } tables[] = {{SS_SQL_METRICS, SS_SQL_ADD_METRIC},
                  {SS_SQL_SAMPLES, SS_SQL_ADD_SAMPLE},
                  {SS_SQL_HISTORY, SS_SQL_ADD_HISTORY},
                  {SS_SQL_CROSSINGS, SS_SQL_ADD_CROSSING},
                  {SS_SQL_CONTACT_ERRORS, SS_SQL_ADD_CONTACT_ERROR}};
    const ss_problem_entry *problem = &m->results.problems[run->problem];
    const ss_method_entry *method = &m->results.methods[run->method];
    ss_run_entry mine = *run;
    mine.problem_id = problem->id;
    mine.method_id = method->id;
    mine.machine_id = m->results.machines[run->machine].id;
    ss_found_run found;
    if (!ss_ledger_find_run(m->into, mine.problem_id, mine.method_id, mine.machine_id, &found, err))
        return false;

    // A new one comes with all that hangs on it.
    if (!found.id) {
        int64_t id = 0;
        bool added = false;
        if (!ss_ledger_add_row(m->into, &mine, &id, &added, err)) return false;
        m->added++;
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            if (!copy_rows(m, tables[i].get, run->id, tables[i].add, id, err)) return false;
        return true;
    }

    // One that both have, with two answers: times of another answer say nothing about ours.
    if (strcmp(found.answer, run->answer) != 0) {
        if (m->differing++ == 0 && m->which && m->size > 0)
            snprintf(m->which, m->size, "%s %s, %s: answer %s, but %s in %s%s", problem->file, problem->place,
                     method->label, found.answer[0] ? found.answer : "none",
                     run->answer[0] ? run->answer : "none", m->from->path,
                     strcmp(found.source, run->source) != 0 ? ", made by another build" : "");
        return true;
    }

    // The same answer: the samples of the target count; if it has none, those of the source do.
    m->there++;
    if (found.samples > 0) return true;
    int before = sqlite3_total_changes(m->into->db);
    if (!copy_rows(m, SS_SQL_SAMPLES, run->id, SS_SQL_ADD_SAMPLE, found.id, err)) return false;
    return sqlite3_total_changes(m->into->db) == before ||
           ss_ledger_set_steady(m->into, found.id, run->steady, err);
}

bool ss_ledger_merge(ss_ledger *into, const char *from, int *added, int *there, int *differing, char *which,
                     size_t size, ss_error *err)
{
    // The same file is not even opened: closing it would drop SQLite's locks on it.
    struct stat a, b;
    if (stat(into->name, &a) == 0 && stat(from, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return ss_fail(err, SS_ERROR_USAGE, "%s: the same ledger as %s", from, into->path);
    merge m = {.into = into, .from = ss_ledger_read(from, err), .which = which, .size = size};
    if (!m.from) return false;
    if (which && size) which[0] = '\0';

    bool good = ss_ledger_do(m.from, SS_SQL_SNAPSHOT, err) && ss_ledger_load_index(m.from, &m.results, err) &&
                ss_ledger_do(into, SS_SQL_BEGIN, err) && unite_things(&m, err);
    for (int i = 0; good && i < m.results.run_count; i++) good = unite_run(&m, &m.results.runs[i], err);
    good = good && ss_ledger_do(into, SS_SQL_COMMIT, err);

    if (!good) ss_ledger_rollback(into);
    if (!good && err && !strstr(err->message, from)) ss_fail_in(err, "merging %s", from);
    *added = good ? m.added : 0;
    *there = good ? m.there : 0;
    *differing = good ? m.differing : 0;
    ss_results_free(&m.results);
    ss_ledger_close(m.from);
    return good;
}
