/* campaign/ledger_internal.h - what the files of the ledger share: the connection, and every SQL text that is
 * used again and again. Values are always bound, never pasted into a text. */
#ifndef SS_CAMPAIGN_LEDGER_INTERNAL_H
#define SS_CAMPAIGN_LEDGER_INTERNAL_H

#include "campaign/ledger.h"
#include "campaign/ledger_lock.h"

#include <sqlite3.h>
#include <time.h>

/* 2: methods.clock, methods.limit_by, runs.elapsed, runs.time_limit, samples.elapsed. 3: problems.collection.
 * 4: runs.source. Older ledgers are read as they are, with NULL in their place, and get these columns when
 * they are written to. */
#define SS_LEDGER_SCHEMA 4
#define SS_LEDGER_APPLICATION 0x736c6970 /* "slip" */
/* Operations of SQLite's machine for one row or one statement: some seconds. Ours take about ten for every
 * problem or run of the ledger. */
#define SS_LEDGER_OPERATIONS 100000000

/* ", energy, relative_energy ..." */
#define SS_GAUGE_COLUMN(code, name) ", " name
#define SS_GAUGE_COLUMNS SS_GAUGE_LIST(SS_GAUGE_COLUMN)

/* Columns in the order in which they are bound and read, without ids of other tables. */
#define SS_MACHINE_COLUMNS "key, cpu, cores, system, version, compiler, build"
#define SS_PROBLEM_COLUMNS                                                                          \
    "hash, place, file, format, frame, scene, time, h, bodies, joints, rows, contacts, mass_ratio," \
    " density, rank_ratio, mu_least, mu_most, fault, collection"
#define SS_METHOD_COLUMNS                                                                             \
    "key, formulation, formulation_options, solver, solver_options, plugin, stop, keep, iterations, " \
    "time_limit, seed, reference, plugin_file, clock, limit_by"
#define SS_RUN_COLUMNS                                                                           \
    "outcome, message, started, unknowns, iterations, kept_iteration, seconds, memory, answer, " \
    "steady" SS_GAUGE_COLUMNS ", elapsed, time_limit, source"
#define SS_METRIC_COLUMNS "name, value, worst_contact, worst_constraint, why"
#define SS_SAMPLE_COLUMNS "number, seconds, elapsed"
#define SS_HISTORY_COLUMNS "iteration, seconds" SS_GAUGE_COLUMNS
#define SS_CROSSING_COLUMNS "gauge, decade, iteration, seconds"
#define SS_CONTACT_ERROR_COLUMNS "bin, count"
#define SS_CAMPAIGN_COLUMNS "started, text"

#define SS_QUESTION_MARK(code, name) ", ?"
#define SS_QUESTION_MARKS SS_GAUGE_LIST(SS_QUESTION_MARK)

#define SS_SQL_LIST(X)                                                                                       \
    X(SS_SQL_BEGIN, "BEGIN IMMEDIATE")                                                                       \
    X(SS_SQL_SNAPSHOT, "BEGIN")                                                                              \
    X(SS_SQL_COMMIT, "COMMIT")                                                                               \
    X(SS_SQL_FIND_MACHINE, "SELECT id FROM machines WHERE key = ?")                                          \
    X(SS_SQL_FIND_PROBLEM, "SELECT id FROM problems WHERE hash = ? AND place = ?")                           \
    X(SS_SQL_FIND_METHOD, "SELECT id FROM methods WHERE key = ?")                                            \
    X(SS_SQL_FIND_RUN, "SELECT id, outcome, (SELECT count(*) FROM samples WHERE run = runs.id), answer, "    \
                       "steady, seconds, source FROM runs WHERE problem = ? AND method = ? AND machine = ?") \
    X(SS_SQL_ADD_MACHINE, "INSERT INTO machines(" SS_MACHINE_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?)")        \
    X(SS_SQL_ADD_PROBLEM, "INSERT INTO problems(" SS_PROBLEM_COLUMNS                                         \
                          ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")               \
    X(SS_SQL_ADD_METHOD,                                                                                     \
      "INSERT INTO methods(" SS_METHOD_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")      \
    X(SS_SQL_ADD_CAMPAIGN,                                                                                   \
      "INSERT OR IGNORE INTO campaigns(machine, " SS_CAMPAIGN_COLUMNS ") VALUES(?, ?, ?)")                   \
    X(SS_SQL_ADD_RUN, "INSERT INTO runs(problem, method, machine, " SS_RUN_COLUMNS                           \
                      ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?" SS_QUESTION_MARKS ", ?, ?, ?)"        \
                      " ON CONFLICT(problem, method, machine) DO NOTHING")                                   \
    X(SS_SQL_ADD_METRIC, "INSERT INTO metrics(run, " SS_METRIC_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?)")         \
    X(SS_SQL_ADD_SAMPLE, "INSERT INTO samples(run, " SS_SAMPLE_COLUMNS ") VALUES(?, ?, ?, ?)")               \
    X(SS_SQL_ADD_HISTORY,                                                                                    \
      "INSERT INTO history(run, " SS_HISTORY_COLUMNS ") VALUES(?, ?, ?" SS_QUESTION_MARKS ")")               \
    X(SS_SQL_ADD_CROSSING, "INSERT INTO crossings(run, " SS_CROSSING_COLUMNS ") VALUES(?, ?, ?, ?, ?)")      \
    X(SS_SQL_ADD_CONTACT_ERROR,                                                                              \
      "INSERT INTO contact_errors(run, " SS_CONTACT_ERROR_COLUMNS ") VALUES(?, ?, ?)")                       \
    X(SS_SQL_FORGET_FILE, "DELETE FROM problems WHERE file = ? AND place = '/' AND fault IS NOT NULL"        \
                          " AND id NOT IN (SELECT problem FROM runs)")                                       \
    X(SS_SQL_FORGET_METRICS, "DELETE FROM metrics WHERE run = ?")                                            \
    X(SS_SQL_FORGET_SAMPLES, "DELETE FROM samples WHERE run = ?")                                            \
    X(SS_SQL_FORGET_HISTORY, "DELETE FROM history WHERE run = ?")                                            \
    X(SS_SQL_FORGET_CROSSINGS, "DELETE FROM crossings WHERE run = ?")                                        \
    X(SS_SQL_FORGET_CONTACT_ERRORS, "DELETE FROM contact_errors WHERE run = ?")                              \
    X(SS_SQL_FORGET_RUN, "DELETE FROM runs WHERE id = ?")                                                    \
    X(SS_SQL_SET_STEADY, "UPDATE runs SET steady = ? WHERE id = ?")                                          \
    X(SS_SQL_MACHINES, "SELECT id, " SS_MACHINE_COLUMNS " FROM machines")                                    \
    X(SS_SQL_PROBLEMS, "SELECT id, " SS_PROBLEM_COLUMNS " FROM problems")                                    \
    X(SS_SQL_METHODS, "SELECT id, " SS_METHOD_COLUMNS " FROM methods")                                       \
    X(SS_SQL_CAMPAIGNS,                                                                                      \
      "SELECT machine, " SS_CAMPAIGN_COLUMNS " FROM campaigns ORDER BY started DESC, text, machine")         \
    X(SS_SQL_RUNS, "SELECT id, problem, method, machine, " SS_RUN_COLUMNS " FROM runs")                      \
    X(SS_SQL_METRICS, "SELECT " SS_METRIC_COLUMNS " FROM metrics WHERE run = ? ORDER BY name")               \
    X(SS_SQL_SAMPLES, "SELECT " SS_SAMPLE_COLUMNS " FROM samples WHERE run = ? ORDER BY number")             \
    X(SS_SQL_HISTORY, "SELECT " SS_HISTORY_COLUMNS " FROM history WHERE run = ? ORDER BY iteration")         \
    X(SS_SQL_CROSSINGS,                                                                                      \
      "SELECT " SS_CROSSING_COLUMNS " FROM crossings WHERE run = ? ORDER BY gauge, decade")                  \
    X(SS_SQL_CONTACT_ERRORS,                                                                                 \
      "SELECT " SS_CONTACT_ERROR_COLUMNS " FROM contact_errors WHERE run = ? ORDER BY bin")

typedef enum ss_sql {
#define SS_SQL_ENUM(code, text) code,
    SS_SQL_LIST(SS_SQL_ENUM)
#undef SS_SQL_ENUM
        SS_SQL_COUNT
} ss_sql;

struct ss_ledger {
    char *path; /* as messages name it */
    char *name; /* the same for SQLite, which takes ":memory:" and "" for something else than files */
    sqlite3 *db;
    int schema;                             /* of the file */
    long operations;                        /* since the last row or statement was asked for */
    bool made;                              /* by this opening */
    ss_ledger_lock lock;                    /* keeps other writers out; nothing is locked when reading */
    time_t told;                            /* when the lock was last written to */
    bool is_held;                           /* when reading: by a writer that lets no other process in */
    sqlite3_stmt *statements[SS_SQL_COUNT]; /* NULL: not used yet */
};

/* ss_ledger_read, which also names the writer because of which it failed; holder->process 0: none. */
ss_ledger *ss_ledger_read_beside(const char *path, ss_lock_holder *holder, ss_error *err);

/* ---- statements --------------------------------------------------------------------------------------- */

/* The statement, ready to be bound; NULL on failure. It may be used again only when it is
 * done or given up. */
sqlite3_stmt *ss_ledger_statement(ss_ledger *ledger, ss_sql sql, ss_error *err);
typedef enum ss_step { SS_STEP_FAILED = -1, SS_STEP_DONE, SS_STEP_ROW } ss_step;
/* Next row. DONE and FAILED leave the statement reset, so that it holds no lock. */
ss_step ss_ledger_step(ss_ledger *ledger, sqlite3_stmt *statement, ss_error *err);
/* One step of a statement that gives no row. */
bool ss_ledger_finish(ss_ledger *ledger, sqlite3_stmt *statement, ss_error *err);
bool ss_ledger_do(ss_ledger *ledger, ss_sql sql, ss_error *err);
/* Gives up the open transaction, if there is one. */
void ss_ledger_rollback(ss_ledger *ledger);
/* Tells what SQLite says about the last call; returns false. */
bool ss_ledger_fail(ss_ledger *ledger, ss_error *err);
/* A row that no program of ours has written. */
bool ss_ledger_fail_row(ss_ledger *ledger, const char *what, ss_error *err);
bool ss_ledger_fail_memory(ss_ledger *ledger, ss_error *err);

/* NULL is bound for NaN; "" for NULL where a text must be (ss_bind_text), NULL where none may be
 * (ss_bind_maybe). */
void ss_bind_real(sqlite3_stmt *statement, int place, double value);
void ss_bind_text(sqlite3_stmt *statement, int place, const char *text);
void ss_bind_maybe(sqlite3_stmt *statement, int place, const char *text);
double ss_column_real(sqlite3_stmt *statement, int column); /* NaN for NULL */

/* ---- parts of the work -------------------------------------------------------------------------------- */

/* Machines, problems, methods and the bare runs, sorted and labelled; nothing that hangs on a run. The caller
 * holds a snapshot and frees the results, also after a failure. */
bool ss_ledger_load_index(ss_ledger *ledger, ss_results *results, ss_error *err);
/* Sorts everything, and turns the ids of runs into indices. */
bool ss_results_sort(ss_ledger *ledger, ss_results *results, ss_error *err);
/* Makes the labels of sorted methods. */
bool ss_results_label(ss_results *results);

/* In an open transaction: adds the row of the run, and its id. false in *added: it was there. */
bool ss_ledger_add_row(ss_ledger *ledger, const ss_run_entry *run, int64_t *id, bool *added, ss_error *err);
typedef struct ss_found_run {
    int64_t id; /* 0 = there is none */
    int samples;
    bool steady;
    ss_outcome outcome;
    double seconds;
    char answer[33];
    char source[SS_SOURCE_DIGITS + 1];
} ss_found_run;
bool ss_ledger_find_run(ss_ledger *ledger, int64_t problem_id, int64_t method_id, int64_t machine_id,
                        ss_found_run *found, ss_error *err);
bool ss_ledger_set_steady(ss_ledger *ledger, int64_t run, bool steady, ss_error *err);

#endif
