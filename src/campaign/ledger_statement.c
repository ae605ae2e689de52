/* Statements of the ledger: prepared once, kept until the file is closed; and what SQLite says
 * when one fails. */
#include "campaign/ledger_internal.h"

#include <math.h>

/* What schema 1 has of a run. */
#define FIRST_RUN_COLUMNS                                                                    \
    "SELECT id, problem, method, machine, outcome, message, started, unknowns, iterations, " \
    "kept_iteration, seconds, memory, answer, steady" SS_GAUGE_COLUMNS

static const char *const texts[] = {
#define SQL_TEXT(code, text) [code] = text,
    SS_SQL_LIST(SQL_TEXT)
#undef SQL_TEXT
};

/* ---- failures ----------------------------------------------------------------------------------------- */

bool ss_ledger_fail(ss_ledger *ledger, ss_error *err)
{
    const char *text = sqlite3_errmsg(ledger->db);
    int primary = sqlite3_extended_errcode(ledger->db) & 0xff;
    if (primary == SQLITE_NOTADB || primary == SQLITE_FORMAT)
        return ss_fail(err, SS_ERROR_INPUT, "%s: not a ledger: %s", ledger->path, text);
    if (primary == SQLITE_CORRUPT)
        return ss_fail(err, SS_ERROR_INPUT, "%s: a damaged ledger: %s", ledger->path, text);
    if (primary == SQLITE_INTERRUPT)
        return ss_fail(
            err, SS_ERROR_INPUT,
            "%s: given up: a query took more than %d million operations; the file is damaged or hostile",
            ledger->path, SS_LEDGER_OPERATIONS / 1000000);
    if (primary == SQLITE_BUSY)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: locked by another program", ledger->path);
    if (ledger->lock.file >= 0 && (primary == SQLITE_FULL || primary == SQLITE_IOERR))
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written, is the disk full? %s", ledger->path,
                       text);

    // What is in the file, rather than the disk, the memory or other users.
    bool of_contents = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN
                           ? ledger->lock.file < 0
                           : primary == SQLITE_ERROR || primary == SQLITE_CONSTRAINT ||
                                 primary == SQLITE_TOOBIG || primary == SQLITE_MISMATCH;
    return ss_fail(err, of_contents ? SS_ERROR_INPUT : SS_ERROR_RESOURCES, "%s: %s", ledger->path, text);
}

bool ss_ledger_fail_row(ss_ledger *ledger, const char *what, ss_error *err)
{
    return ss_fail(err, SS_ERROR_INPUT, "%s: a damaged ledger: %s", ledger->path, what);
}

bool ss_ledger_fail_memory(ss_ledger *ledger, ss_error *err)
{
    return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", ledger->path);
}

/* ---- running ------------------------------------------------------------------------------------------ */

sqlite3_stmt *ss_ledger_statement(ss_ledger *ledger, ss_sql sql, ss_error *err)
{
    sqlite3_stmt **statement = &ledger->statements[sql];
    if (*statement) {
        sqlite3_reset(*statement);
        sqlite3_clear_bindings(*statement);
        return *statement;
    }

    // Ledgers of earlier schemas do not have all columns: NULL stands for them.
    const char *text = texts[sql];
    if (ledger->schema < 3 && sql == SS_SQL_PROBLEMS)
        text = "SELECT id, hash, place, file, format, frame, scene, time, h, bodies, joints, rows, contacts, "
               "mass_ratio, density, rank_ratio, mu_least, mu_most, fault, NULL FROM problems";
    if (ledger->schema < 2 && sql == SS_SQL_METHODS)
        text = "SELECT id, key, formulation, formulation_options, solver, solver_options, plugin, stop, "
               "keep, iterations, time_limit, seed, reference, plugin_file, NULL, NULL FROM methods";
    if (ledger->schema < 4 && sql == SS_SQL_RUNS)
        text = ledger->schema < 2 ? FIRST_RUN_COLUMNS ", NULL, NULL, NULL FROM runs"
                                  : FIRST_RUN_COLUMNS ", elapsed, time_limit, NULL FROM runs";
    if (ledger->schema < 2 && sql == SS_SQL_SAMPLES)
        text = "SELECT number, seconds, NULL FROM samples WHERE run = ? ORDER BY number";
    if (sqlite3_prepare_v3(ledger->db, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK)
        ss_ledger_fail(ledger, err);
    return *statement;
}

ss_step ss_ledger_step(ss_ledger *ledger, sqlite3_stmt *statement, ss_error *err)
{
    ledger->operations = 0;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) return SS_STEP_ROW;
    if (code != SQLITE_DONE) ss_ledger_fail(ledger, err);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SS_STEP_DONE : SS_STEP_FAILED;
}

bool ss_ledger_finish(ss_ledger *ledger, sqlite3_stmt *statement, ss_error *err)
{
    return ss_ledger_step(ledger, statement, err) == SS_STEP_DONE;
}

bool ss_ledger_do(ss_ledger *ledger, ss_sql sql, ss_error *err)
{
    sqlite3_stmt *statement = ss_ledger_statement(ledger, sql, err);
    return statement && ss_ledger_finish(ledger, statement, err);
}

void ss_ledger_rollback(ss_ledger *ledger)
{
    for (int i = 0; i < SS_SQL_COUNT; i++)
        if (ledger->statements[i]) sqlite3_reset(ledger->statements[i]); // given up halfway
    if (!sqlite3_get_autocommit(ledger->db)) sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- values ------------------------------------------------------------------------------------------- */

void ss_bind_real(sqlite3_stmt *statement, int place, double value)
{
    if (isnan(value))
        sqlite3_bind_null(statement, place);
    else
        sqlite3_bind_double(statement, place, value);
}

void ss_bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    sqlite3_bind_text(statement, place, text ? text : "", -1, SQLITE_STATIC);
}

void ss_bind_maybe(sqlite3_stmt *statement, int place, const char *text)
{
    sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC); // NULL is bound as NULL
}

double ss_column_real(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN
                                                                 : sqlite3_column_double(statement, column);
}
