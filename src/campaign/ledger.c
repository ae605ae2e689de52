/* The file of the ledger: opening, locking, checking, closing. Statements: ledger_statement.c. */
#include "campaign/ledger_internal.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MILLISECONDS 10000 // for another process that holds a lock for a moment
#define SHORT_WAIT 200          // ms: for one that is known to hold it as long as it runs

#define OPERATIONS_BETWEEN_CALLS 10000
#define LONGEST_VALUE 100000000 // bytes of one text, row or statement

#define GAUGE_TYPE(code, name) ", " name " REAL"
#define GAUGE_TYPES SS_GAUGE_LIST(GAUGE_TYPE)

/* Every run with its names, for people. */
#define RESULTS_VIEW                                                                                   \
    "CREATE VIEW results AS SELECT runs.id AS run, scene, file, place, frame, contacts, formulation, " \
    "formulation_options, solver, solver_options, cpu, build, outcome, message, runs.iterations, "     \
    "seconds" SS_GAUGE_COLUMNS ", collection, source FROM runs JOIN problems ON problems.id = "        \
    "runs.problem JOIN methods ON methods.id = runs.method JOIN machines ON machines.id = runs.machine;"

/* docs/ledger.md says what it all means. STRICT: a column holds what it says, whichever program writes. */
static const char schema[] =
    "CREATE TABLE machines(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, cpu TEXT NOT NULL, cores "
    "INTEGER NOT NULL, system TEXT NOT NULL, version TEXT NOT NULL, compiler TEXT NOT NULL, build TEXT NOT "
    "NULL) STRICT;CREATE TABLE problems(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, place TEXT NOT NULL, "
    "file TEXT NOT NULL, format TEXT NOT NULL, frame INTEGER NOT NULL, scene TEXT NOT NULL, time REAL, h "
    "REAL, bodies INTEGER NOT NULL, joints INTEGER NOT NULL, rows INTEGER NOT NULL, contacts INTEGER NOT "
    "NULL, mass_ratio REAL, density REAL, rank_ratio REAL, mu_least REAL, mu_most REAL, fault TEXT, "
    "collection TEXT, UNIQUE(hash, place)) STRICT;CREATE TABLE methods(id INTEGER PRIMARY KEY, key TEXT "
    "NOT NULL UNIQUE, formulation TEXT NOT NULL, formulation_options TEXT NOT NULL, solver TEXT NOT NULL, "
    "solver_options TEXT NOT NULL, plugin TEXT NOT NULL, stop TEXT NOT NULL, keep TEXT NOT NULL, "
    "iterations INTEGER NOT "
    "NULL, time_limit REAL NOT NULL, seed INTEGER NOT NULL, reference TEXT NOT NULL, plugin_file TEXT NOT "
    "NULL, clock TEXT, limit_by TEXT) STRICT;CREATE TABLE runs(id INTEGER PRIMARY KEY, problem INTEGER NOT "
    "NULL REFERENCES problems, method INTEGER NOT NULL REFERENCES methods, machine INTEGER NOT NULL "
    "REFERENCES machines, outcome TEXT NOT NULL, message TEXT, started TEXT, unknowns INTEGER NOT NULL, "
    "iterations INTEGER NOT NULL, kept_iteration INTEGER NOT NULL, seconds REAL, memory REAL, answer TEXT "
    "NOT NULL, steady INTEGER NOT NULL" GAUGE_TYPES
    ", elapsed REAL, time_limit REAL, source TEXT, UNIQUE(problem, method, machine)) STRICT;CREATE TABLE "
    "metrics(run "
    "INTEGER NOT NULL REFERENCES runs, name TEXT NOT NULL, value REAL, worst_contact INTEGER, "
    "worst_constraint INTEGER, why TEXT, PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;CREATE TABLE "
    "samples(run INTEGER NOT NULL REFERENCES runs, number INTEGER NOT NULL, seconds REAL, elapsed REAL, "
    "PRIMARY KEY(run, number)) STRICT, WITHOUT ROWID;CREATE TABLE history(run INTEGER NOT NULL REFERENCES "
    "runs, iteration INTEGER NOT NULL, seconds REAL" GAUGE_TYPES
    ", PRIMARY KEY(run, iteration)) STRICT, WITHOUT ROWID;CREATE TABLE crossings(run INTEGER NOT NULL "
    "REFERENCES runs, gauge TEXT NOT NULL, decade INTEGER NOT NULL, iteration INTEGER NOT NULL, seconds "
    "REAL, PRIMARY KEY(run, gauge, decade)) STRICT, WITHOUT ROWID;CREATE TABLE contact_errors(run INTEGER "
    "NOT NULL REFERENCES runs, bin INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(run, bin)) "
    "STRICT, WITHOUT ROWID;CREATE TABLE campaigns(id INTEGER PRIMARY KEY, machine INTEGER NOT NULL "
    "REFERENCES machines, started TEXT NOT NULL, text TEXT NOT NULL, UNIQUE(machine, started, text)) "
    "STRICT;" RESULTS_VIEW;
#define TABLES_IN_SCHEMA 10
#define TABLE_NAMES                                                                              \
    "('machines', 'problems', 'methods', 'runs', 'metrics', 'samples', 'history', 'crossings', " \
    "'contact_errors', 'campaigns')"

/* ---- opening ------------------------------------------------------------------------------------------ */

static ss_ledger *create(const char *path, ss_error *err)
{
    ss_ledger *ledger = ss_allocate(1, sizeof *ledger);
    ss_text name = {0};
    ss_text_appendf(&name, "%s%s", path[0] == '/' ? "" : "./", path);
    if (ledger) {
        ledger->lock.file = -1;
        ledger->path = ss_text_copy(path);
        ledger->name = ss_text_copy(ss_text_get(&name));
    }
    bool good = ledger && ledger->path && ledger->name && !name.out_of_memory;
    ss_text_free(&name);
    if (good) return ledger;
    ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    ss_ledger_close(ledger);
    return NULL;
}

static bool check_regular(const ss_ledger *ledger, const struct stat *status, ss_error *err)
{
    if (S_ISREG(status->st_mode)) return true;
    return ss_fail(err, SS_ERROR_INPUT, "%s: not a ledger: %s", ledger->path,
                   S_ISDIR(status->st_mode) ? "a directory" : "not a regular file");
}

/* Locks, and makes the file if it is not there. Nothing has been read yet. */
static bool take_lock(ss_ledger *ledger, ss_error *err)
{
    struct stat status;
    if (stat(ledger->name, &status) == 0 && !check_regular(ledger, &status, err)) return false;
    if (!ss_ledger_lock_take(&ledger->lock, ledger->path, err)) return false;
    int file = open(ledger->name, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_CREAT | O_EXCL, 0666);
    ledger->made = file >= 0;
    if (file < 0 && errno == EEXIST) file = open(ledger->name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s", ledger->path, strerror(errno));
    bool regular = fstat(file, &status) == 0 && check_regular(ledger, &status, err);
    close(file); // before SQLite opens it: its locks of this process end with any descriptor of the file
    return regular;
}

static bool execute(ss_ledger *ledger, const char *sql, ss_error *err)
{
    ledger->operations = 0;
    return sqlite3_exec(ledger->db, sql, NULL, NULL, NULL) == SQLITE_OK || ss_ledger_fail(ledger, err);
}

/* Called by SQLite every few thousand operations. Our statements need few: one that does not end is the
 * work of the file. Not zero: give up. */
static int count_operations(void *context)
{
    ss_ledger *ledger = context;
    ledger->operations += OPERATIONS_BETWEEN_CALLS;
    return ledger->operations > SS_LEDGER_OPERATIONS;
}

/* `alone`: the connection keeps the lock of the file as long as it lives, and the index of the WAL in its own
 * memory, where others would map it from a file. */
static bool open_database(ss_ledger *ledger, int flags, bool alone, ss_error *err)
{
    sqlite3_close(ledger->db); // of an attempt before
    const char *system = ledger->lock.has_none ? "unix-none" : NULL;
    int code = sqlite3_open_v2(ledger->name, &ledger->db, flags | SQLITE_OPEN_NOMUTEX, system);
    if (!ledger->db) return ss_ledger_fail_memory(ledger, err);
    sqlite3_extended_result_codes(ledger->db, 1);
    if (code != SQLITE_OK) return ss_ledger_fail(ledger, err);
    sqlite3_busy_timeout(ledger->db, ledger->is_held ? SHORT_WAIT : WAIT_MILLISECONDS);
    sqlite3_db_config(ledger->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL); // the file may be a stranger's
    sqlite3_db_config(ledger->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(ledger->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(ledger->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(ledger->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_limit(ledger->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_progress_handler(ledger->db, OPERATIONS_BETWEEN_CALLS, count_operations, ledger);
    return execute(ledger, "PRAGMA cell_size_check = ON", err) &&
           (!alone || execute(ledger, "PRAGMA locking_mode = EXCLUSIVE", err));
}

/* Did the last call fail because processes cannot share memory by way of this file system? */
static bool lacks_shared_memory(const ss_ledger *ledger)
{
    int code = ledger->db ? sqlite3_extended_errcode(ledger->db) : SQLITE_OK;
    return code == SQLITE_CANTOPEN || code == SQLITE_PROTOCOL || code == SQLITE_IOERR_SHMOPEN ||
           code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_SHMMAP || code == SQLITE_IOERR_SHMLOCK;
}

static bool ask(ss_ledger *ledger, const char *sql, int *answer, ss_error *err)
{
    sqlite3_stmt *statement = NULL;
    ledger->operations = 0;
    bool good = sqlite3_prepare_v2(ledger->db, sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    if (good) *answer = sqlite3_column_int(statement, 0);
    if (!good) ss_ledger_fail(ledger, err);
    sqlite3_finalize(statement);
    return good;
}

/* The journal that SQLite agrees to, by its name. */
static bool set_journal(ss_ledger *ledger, bool *is_wal, ss_error *err)
{
    sqlite3_stmt *statement = NULL;
    ledger->operations = 0;
    bool good =
        sqlite3_prepare_v2(ledger->db, "PRAGMA journal_mode = WAL", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW;
    if (good) *is_wal = strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    if (!good) ss_ledger_fail(ledger, err);
    sqlite3_finalize(statement);
    return good;
}

/* Is there a WAL with something in it? */
static bool has_wal(const ss_ledger *ledger)
{
    char wal[PATH_MAX + 8];
    struct stat status;
    snprintf(wal, sizeof wal, "%s-wal", ledger->name);
    return stat(wal, &status) == 0 && status.st_size > 0;
}

/* SQLite reads zeros where a part of the last page is missing. Who was killed while writing leaves a WAL,
 * which then holds what is missing. */
static bool check_length(ss_ledger *ledger, ss_error *err)
{
    struct stat status;
    int page_size = 0;
    bool killed = has_wal(ledger);
    if (!ask(ledger, "PRAGMA page_size", &page_size, err)) return false;
    if (killed || stat(ledger->name, &status) != 0 || page_size <= 0 || status.st_size % page_size == 0)
        return true;
    return ss_fail(err, SS_ERROR_INPUT, "%s: a damaged ledger: its end is missing", ledger->path);
}

/* What would make SQLite compute what the file says while we read or write our tables: none of it is in a
 * ledger. Plain indices, and tables that were added, do no harm; the view `results` is never
 * asked. */
static const char intruders[] =
    "SELECT 'the trigger ' || name FROM sqlite_schema WHERE type = 'trigger' UNION ALL SELECT 'the view ' || "
    "name FROM sqlite_schema WHERE type = 'view' AND name <> 'results' UNION ALL SELECT 'the virtual table ' "
    "|| name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%' UNION ALL SELECT 'the "
    "generated column ' || t.name || '.' || c.name FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE "
    "t.type = 'table' AND c.hidden > 1 UNION ALL SELECT 'the CHECK or DEFAULT of the table ' || name FROM "
    "sqlite_schema WHERE type = 'table' AND name IN " TABLE_NAMES
    " AND (sql LIKE '%CHECK%(%' OR sql LIKE '%DEFAULT%') UNION ALL SELECT 'the index ' || i.name || ' on an "
    "expression' FROM sqlite_schema t, pragma_index_list(t.name) i WHERE t.type = 'table' AND (i.partial OR "
    "EXISTS (SELECT 1 FROM pragma_index_xinfo(i.name) x WHERE x.cid = -2)) LIMIT 1";

/* Is it a ledger, or nothing yet? */
static bool look(ss_ledger *ledger, bool *empty, ss_error *err)
{
    int application = 0, version = 0, things = 0, tables = 0;
    if (!ask(ledger, "PRAGMA application_id", &application, err) ||
        !ask(ledger, "PRAGMA user_version", &version, err) ||
        !ask(ledger, "SELECT count(*) FROM sqlite_schema", &things, err))
        return false;
    *empty = application == 0 && version == 0 && things == 0;
    if (*empty) return check_length(ledger, err);
    if (application != SS_LEDGER_APPLICATION)
        return ss_fail(err, SS_ERROR_INPUT, "%s: not a ledger: a database of another program", ledger->path);
    if (version > SS_LEDGER_SCHEMA)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: written by a later version of stickslip: schema %d, this version supports %d",
                       ledger->path, version, SS_LEDGER_SCHEMA);
    ledger->schema = version;

    // The first intruder, if there is one, is named.
    sqlite3_stmt *statement = NULL;
    ledger->operations = 0;
    if (sqlite3_prepare_v2(ledger->db, intruders, -1, &statement, NULL) != SQLITE_OK)
        return ss_ledger_fail(ledger, err);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        ss_fail(err, SS_ERROR_INPUT, "%s: refused: %s does not belong in a ledger", ledger->path,
                (const char *)sqlite3_column_text(statement, 0));
    else if (code != SQLITE_DONE)
        ss_ledger_fail(ledger, err);
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) return false;

    if (!ask(ledger, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN " TABLE_NAMES,
             &tables, err))
        return false;
    if (version < 1 || tables < TABLES_IN_SCHEMA)
        return ss_fail(err, SS_ERROR_INPUT, "%s: a damaged ledger: tables are missing", ledger->path);
    return check_length(ledger, err);
}

/* Nothing is changed before it is known to be ours. A crash of the program loses nothing that was committed;
 * one of the machine may lose the last runs, but not the file. The disk is waited for only when the WAL has
 * grown to 40 MB, about once in a thousand runs. */
static bool prepare_writing(ss_ledger *ledger, bool alone, bool *wants_to_be_alone, ss_error *err)
{
    // From each schema to the next: only columns that may be NULL, so that rows stay as they are.
    static const char *const columns[SS_LEDGER_SCHEMA] = {
        [1] = "ALTER TABLE methods ADD COLUMN clock TEXT; ALTER TABLE methods ADD COLUMN limit_by TEXT; "
              "ALTER TABLE runs ADD COLUMN elapsed REAL; ALTER TABLE runs ADD COLUMN time_limit REAL; ALTER "
              "TABLE samples ADD COLUMN elapsed REAL",
        [2] = "ALTER TABLE problems ADD COLUMN collection TEXT",
        [3] = "ALTER TABLE runs ADD COLUMN source TEXT"};
    bool empty, is_wal = false;
    bool good = open_database(ledger, SQLITE_OPEN_READWRITE, alone, err) && look(ledger, &empty, err) &&
                set_journal(ledger, &is_wal, err);
    *wants_to_be_alone = good ? !is_wal : lacks_shared_memory(ledger);
    if (!good || (*wants_to_be_alone && !alone)) return false;
    if (!execute(ledger,
                 "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;PRAGMA wal_autocheckpoint = 10000",
                 err))
        return false;
    if (!empty && ledger->schema >= SS_LEDGER_SCHEMA) return true;

    // A new file gets all tables, an old one the columns that it lacks: all or nothing.
    char numbers[100];
    snprintf(numbers, sizeof numbers, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             SS_LEDGER_APPLICATION, SS_LEDGER_SCHEMA);
    good = execute(ledger, "BEGIN IMMEDIATE", err);
    for (int i = ledger->schema; good && !empty && i < SS_LEDGER_SCHEMA; i++)
        good = execute(ledger, columns[i], err);
    good = good && execute(ledger, empty ? schema : "DROP VIEW IF EXISTS results; " RESULTS_VIEW, err) &&
           execute(ledger, numbers, err) && execute(ledger, "COMMIT", err);
    if (good) ledger->schema = SS_LEDGER_SCHEMA;
    if (!good) ss_ledger_rollback(ledger);
    return good;
}

ss_ledger *ss_ledger_open(const char *path, ss_error *err)
{
    ss_ledger *ledger = create(path, err);
    bool good = ledger && take_lock(ledger, err), again = good;
    bool alone = good && (ledger->lock.has_none || ss_is_on_network(ledger->name));
    while (again) {
        ledger->lock.holder.is_alone = alone;
        ss_ledger_lock_tell(&ledger->lock);
        good = prepare_writing(ledger, alone, &again, err);
        again = !good && again && !alone; // once more, alone
        alone = true;
    }
    if (good) return ledger;
    if (ledger && ledger->made) unlink(ledger->name); // while it is still locked
    ss_ledger_close(ledger);
    return NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static bool prepare_reading(ss_ledger *ledger, int flags, bool alone, ss_error *err)
{
    bool empty;
    /* In one snapshot: a writer may be making the tables at this moment. */
    if (!open_database(ledger, flags, alone, err) || !execute(ledger, "PRAGMA query_only = ON; BEGIN", err) ||
        !look(ledger, &empty, err))
        return false;
    ss_ledger_rollback(ledger);
    return !empty || ss_fail(err, SS_ERROR_INPUT, "%s: not a ledger: it is empty", ledger->path);
}

/* Reads, by and by in all the ways there are. */
static bool read_any(ss_ledger *ledger, ss_error *err)
{
    // A writer that was killed left a WAL; where memory is not shared by all machines it is read alone.
    bool alone = has_wal(ledger) && (ledger->lock.has_none || ss_is_on_network(ledger->name));
    if (prepare_reading(ledger, alone ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, alone, err))
        return true;

    // What a writer left that was killed while it changed the journal has to be undone first, which needs
    // writing.
    int code = ledger->db ? sqlite3_extended_errcode(ledger->db) : SQLITE_OK;
    if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)
        return prepare_reading(ledger, SQLITE_OPEN_READWRITE, alone, err);
    if (!ledger->is_held && lacks_shared_memory(ledger) && has_wal(ledger))
        return prepare_reading(ledger, SQLITE_OPEN_READWRITE, true, err);
    return false;
}

ss_ledger *ss_ledger_read_beside(const char *path, ss_lock_holder *holder, ss_error *err)
{
    struct stat status;
    ss_ledger *ledger = create(path, err);
    *holder = (ss_lock_holder){0};
    if (!ledger) return NULL;
    if (stat(ledger->name, &status) != 0 || (S_ISREG(status.st_mode) && access(ledger->name, R_OK) != 0)) {
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read: %s", ledger->path, strerror(errno));
    } else if (check_regular(ledger, &status, err)) {
        ss_lock_holder other;
        ledger->is_held = ss_ledger_lock_read(path, &other) && other.is_alone;
        ledger->lock.has_none = ss_lacks_locks(ledger->name);
        bool open_to_us = !ledger->is_held || !ledger->lock.has_none;
        if (open_to_us && read_any(ledger, err)) return ledger;

        // One that is alone holds it to its end; SQLite says the same of it in several ways.
        int code = ledger->db ? sqlite3_extended_errcode(ledger->db) : SQLITE_OK;
        if (ledger->is_held &&
            ((code & 0xff) == SQLITE_BUSY || ledger->lock.has_none || lacks_shared_memory(ledger))) {
            *holder = other;
            ss_fail(
                err, SS_ERROR_RESOURCES,
                "%s: cannot be read while process %d on %s writes to it: this file system lets one process "
                "in at a time%s",
                ledger->path, other.process, other.host,
                ledger->lock.has_none ? "; if it is dead, delete the file that ends in .lock" : "");
        }
    }
    ss_ledger_close(ledger);
    return NULL;
}

ss_ledger *ss_ledger_read(const char *path, ss_error *err)
{
    ss_lock_holder holder;
    return ss_ledger_read_beside(path, &holder, err);
}

/* ---- closing ------------------------------------------------------------------------------------------ */

/* From WAL back to one plain file. A reader that is still there keeps us from it: then the next
 * writer does it. */
static void settle(ss_ledger *ledger)
{
    sqlite3_busy_timeout(ledger->db, 200);
    if (sqlite3_exec(ledger->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
        sqlite3_wal_checkpoint_v2(ledger->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void ss_ledger_tell(ss_ledger *ledger, int done, int total)
{
    ss_lock_holder *holder = &ledger->lock.holder;
    time_t now = time(NULL);
    struct tm utc;
    if (now == ledger->told && done < total) return;
    ledger->told = now;
    holder->done = done;
    holder->total = total;
    strftime(holder->when, sizeof holder->when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    ss_ledger_lock_tell(&ledger->lock);
}

void ss_ledger_abandon(ss_ledger *ledger)
{
    int problems = 1;
    if (ledger && ledger->made &&
        ask(ledger, "SELECT count(*) FROM problems WHERE fault IS NULL", &problems, NULL) && problems == 0) {
        settle(ledger);
        unlink(ledger->name); // while it is still locked
    }
    ss_ledger_close(ledger);
}

void ss_ledger_close(ss_ledger *ledger)
{
    if (!ledger) return;
    for (int i = 0; i < SS_SQL_COUNT; i++) sqlite3_finalize(ledger->statements[i]);
    if (ledger->db && ledger->lock.file >= 0) settle(ledger);
    sqlite3_close(ledger->db);
    ss_ledger_lock_release(&ledger->lock);
    ss_release(ledger->path);
    ss_release(ledger->name);
    ss_release(ledger);
}
