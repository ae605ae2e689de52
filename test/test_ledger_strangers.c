/* Ledgers that this program did not write, or not to the end: those of earlier versions are read and
 * extended; files that are damaged, cut off, or made by strangers are refused by name and left alone. */
#define _GNU_SOURCE
#include "kit.h"
#include "ledger_kit.h"

#include "campaign/ledger_internal.h"

/* ---- ledgers of earlier versions ---------------------------------------------------------------------- */

#define BACK_TO_SCHEMA_3 "DROP VIEW results; ALTER TABLE runs DROP COLUMN source; "
#define BACK_TO_SCHEMA_2 BACK_TO_SCHEMA_3 "ALTER TABLE problems DROP COLUMN collection; "
static const char back_to_schema_3[] = BACK_TO_SCHEMA_3 "PRAGMA user_version = 3";
static const char back_to_schema_2[] = BACK_TO_SCHEMA_2 "PRAGMA user_version = 2";
static const char back_to_schema_1[] = BACK_TO_SCHEMA_2
    "ALTER TABLE methods DROP COLUMN clock; ALTER TABLE methods DROP COLUMN limit_by; ALTER TABLE runs DROP "
    "COLUMN elapsed; ALTER TABLE runs DROP COLUMN time_limit; ALTER TABLE samples DROP COLUMN elapsed; "
    "PRAGMA user_version = 1";

TEST(a_ledger_from_before_there_was_a_choice_of_clocks_is_read_as_it_is_and_extended_when_written)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "old.db"), 0, 0, 2, 1, NULL) && tamper(in(&s, "old.db"), back_to_schema_1));
    scratch_bytes before = scratch_read(in(&s, "old.db"));
    ss_results results, extended;
    ENSURE(load(in(&s, "old.db"), &results));
    ENSURE(scratch_unchanged(in(&s, "old.db"), before));
    ENSURE_INT(results.run_count, MADE_RUNS / 2);
    int timed = 0;
    for (int r = 0; r < results.run_count; r++) {
        const ss_run_entry *run = &results.runs[r];
        ENSURE(isnan(run->elapsed) && isnan(run->time_limit));
        ENSURE(run->sample_count == 0 || (run->samples[0].seconds == 1 && isnan(run->samples[0].elapsed)));
        timed += run->sample_count > 0;
    }
    ENSURE(timed > 0);
    for (int m = 0; m < results.method_count; m++)
        ENSURE(!results.methods[m].clock && !ss_method_counts_processor(&results.methods[m]));

    // the other half comes as it is today; a method that counts wall time is the same as before
    ENSURE(write_ledger(in(&s, "old.db"), 0, 1, 2, 1, NULL));
    ENSURE(load(in(&s, "old.db"), &extended));
    ENSURE_INT(extended.run_count, MADE_RUNS);
    ENSURE_INT(extended.method_count, MADE_METHODS);
    int known = 0;
    for (int r = 0; r < extended.run_count; r++) known += !isnan(extended.runs[r].elapsed);
    ENSURE(known > 0 && known <= MADE_RUNS / 2);
    ss_results_free(&results);
    ss_results_free(&extended);
    free(before.data);

    // and one that is merged keeps its rows
    ENSURE(write_ledger(in(&s, "older.db"), 0, 0, 2, 1, NULL) &&
           tamper(in(&s, "older.db"), back_to_schema_1));
    ss_error err = {0};
    ENSURE_INT(merge(in(&s, "new.db"), in(&s, "older.db"), NULL, 0, &err), 1000000 * (MADE_RUNS / 2));
    scratch_close(&s);
}

TEST(a_ledger_from_before_builds_were_known_is_read_and_extended_and_what_another_build_made_can_be_replaced)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "old.db"), 0, 0, 2, 1, NULL) && tamper(in(&s, "old.db"), back_to_schema_3));
    ss_results results;
    int runs;
    ENSURE(load(in(&s, "old.db"), &results));
    ENSURE_TEXT(ss_results_next_build(&results, -1, NULL, &runs), "");
    ENSURE_INT(runs, MADE_RUNS / 2);
    ENSURE(!ss_results_next_build(&results, -1, "", &runs));
    double elapsed = NAN;
    for (int r = 0; r < results.run_count; r++) elapsed = fmax(elapsed, results.runs[r].elapsed);
    ENSURE(isfinite(elapsed)); // what schema 3 has is still read
    ss_results_free(&results);

    // A run of a known build takes the place of one that it is not known of, once.
    ss_ledger *ledger = ss_ledger_open(in(&s, "old.db"), NULL);
    ENSURE(ledger);
    ss_known_run known;
    ENSURE(ss_ledger_know(ledger, 1, 1, 1, &known, NULL) && known.samples >= 0 && known.outdated);
    ss_run_entry run = {.problem_id = 1, .method_id = 1, .machine_id = 1, .seconds = 7.0, .source = "abc"};
    ENSURE(ss_ledger_add(ledger, &run, NULL)); // leaves it
    ENSURE(ss_ledger_know(ledger, 1, 1, 1, &known, NULL) && known.seconds != 7.0);
    ENSURE(ss_ledger_replace(ledger, &run, NULL));
    run.seconds = 8.0;
    ENSURE(ss_ledger_replace(ledger, &run, NULL)); // of the same build: stays
    ENSURE(ss_ledger_know(ledger, 1, 1, 1, &known, NULL) && known.seconds == 7.0 && known.samples == 0);
    ss_ledger_close(ledger);
    ENSURE(load(in(&s, "old.db"), &results));
    ENSURE_INT(results.run_count, MADE_RUNS / 2);
    ENSURE_TEXT(ss_results_next_build(&results, -1, "", &runs), "abc");
    ENSURE_INT(runs, 1);
    ss_results_free(&results);
    ENSURE(tamper(in(&s, "old.db"), "UPDATE runs SET source = 'x' || char(27) || '[31m'"));
    ENSURE(
        !load(in(&s, "old.db"), &results)); // a digest has hexadecimal digits, and nothing for the terminal
    scratch_close(&s);
}

TEST(a_ledger_from_before_there_were_collections_gets_the_column_when_it_is_written)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "old.db"), 0, 0, 2, 1, NULL) && tamper(in(&s, "old.db"), back_to_schema_2));
    ss_results results;
    ENSURE(load(in(&s, "old.db"), &results));
    ENSURE_INT(results.problem_count, MADE_PROBLEMS);
    for (int p = 0; p < results.problem_count; p++) ENSURE(!results.problems[p].collection);
    ss_results_free(&results);

    ss_ledger *ledger = ss_ledger_open(in(&s, "old.db"), NULL);
    ENSURE(ledger);
    ss_problem_entry problem = {.hash = "0123456789abcdef0123456789abcdef",
                                .place = (char[]){"/"},
                                .file = (char[]){"wall.h5"},
                                .format = (char[]){"bpmd"},
                                .scene = (char[]){"walls"},
                                .collection = (char[]){"stickslip 0.1.0"}};
    ENSURE(ss_ledger_problem(ledger, &problem, NULL));
    ss_ledger_close(ledger);
    ENSURE(load(in(&s, "old.db"), &results));
    int known = 0;
    for (int p = 0; p < results.problem_count; p++)
        known += same_text(results.problems[p].collection, "stickslip 0.1.0");
    ENSURE_INT(known, 1);
    ss_results_free(&results);
    scratch_close(&s);
}

/* ---- what is refused ---------------------------------------------------------------------------------- */

static void ensure_refused(const char *path, bool to_write, ss_error_code code, const char *part)
{
    ss_error err = {0};
    ss_ledger *ledger = to_write ? ss_ledger_open(path, &err) : ss_ledger_read(path, &err);
    ss_ledger_close(ledger);
    if (ledger) KIT_FAIL("%s was opened", path);
    if (err.code != code || !strstr(err.message, path) || !strstr(err.message, part))
        KIT_FAIL("error %d \"%s\", expected %d with \"%s\" and the path", err.code, err.message, code, part);
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size) KIT_FAIL("%s: cannot be written", path);
    if (file) fclose(file);
}

TEST(files_that_are_no_ledger_are_refused_by_name_and_left_alone)
{
    scratch s = scratch_open();
    const char *text =
        "this is a text and no database, although it is longer than a header of one would be.......\n";
    write_bytes(in(&s, "text"), text, strlen(text));
    write_bytes(in(&s, "empty"), "", 0);
    ENSURE(tamper(in(&s, "other"), "CREATE TABLE recipes(cake TEXT)"));
    ENSURE(write_ledger(in(&s, "later"), 0, 0, 30, 1, NULL) &&
           tamper(in(&s, "later"), "PRAGMA user_version = 5"));
    ENSURE(write_ledger(in(&s, "torn"), 0, 0, 30, 1, NULL) && tamper(in(&s, "torn"), "DROP TABLE samples"));
    ENSURE(mkfifo(in(&s, "pipe"), 0600) == 0);
    scratch_bytes other = scratch_read(in(&s, "other"));
    for (int to_write = 0; to_write < 2; to_write++) {
        ensure_refused(in(&s, "text"), to_write, SS_ERROR_INPUT, "not a ledger");
        ensure_refused(in(&s, "other"), to_write, SS_ERROR_INPUT, "of another program");
        ensure_refused(in(&s, "later"), to_write, SS_ERROR_INPUT, "later version of stickslip: schema 5");
        ensure_refused(in(&s, "torn"), to_write, SS_ERROR_INPUT, "tables are missing");
        ensure_refused(in(&s, "pipe"), to_write, SS_ERROR_INPUT, "not a regular file");
        ensure_refused(s.directory, to_write, SS_ERROR_INPUT, "a directory");
        ensure_refused(in(&s, "text/x.db"), to_write, to_write ? SS_ERROR_RESOURCES : SS_ERROR_INPUT,
                       "cannot be");
    }
    ensure_refused(in(&s, "missing"), false, SS_ERROR_INPUT, "No such file");
    ensure_refused(in(&s, "empty"), false, SS_ERROR_INPUT, "it is empty");
    ensure_refused("/proc/ledger.db", true, SS_ERROR_RESOURCES, "cannot be written");
    ENSURE(scratch_unchanged(in(&s, "other"), other));
    ENSURE_INT(scratch_files(&s, false), 6);
    ENSURE(write_ledger(in(&s, "empty"), 0, 0, 30, 1, NULL)); // nothing yet: may become one
    free(other.data);
    scratch_close(&s);
}

/* Definitions that SQLite would follow while our tables are read or written. */
TEST(what_a_stranger_has_defined_in_a_ledger_is_refused_by_name)
{
    static const char forever[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    const struct {
        const char *sql, *named;
    } cases[] = {
        {"CREATE TRIGGER endless AFTER INSERT ON machines BEGIN DELETE FROM runs WHERE id IN "
         "(%s SELECT i FROM n); END",
         "the trigger endless"},
        {"ALTER TABLE samples RENAME TO moved; CREATE VIEW samples AS %s SELECT i AS run, i AS number, i AS "
         "seconds FROM n",
         "the view samples"},
        {"ALTER TABLE runs ADD COLUMN slow TEXT AS (hex(zeroblob(100000000)))",
         "the generated column runs.slow"},
        {"CREATE INDEX slow ON runs(length(hex(zeroblob(1000 + id))))", "the index slow"},
        {"CREATE INDEX some ON runs(id) WHERE length(answer) > 3", "the index some"},
        {"ALTER TABLE machines ADD COLUMN more TEXT DEFAULT 'x' CHECK(length(more) > 0)",
         "of the table machines"},
    };
    scratch s = scratch_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[400];
        snprintf(sql, sizeof sql, cases[i].sql, forever);
        ENSURE(write_ledger(in(&s, "l.db"), 0, 0, 6, 1, NULL) && tamper(in(&s, "l.db"), sql));
        for (int to_write = 0; to_write < 2; to_write++)
            ensure_refused(in(&s, "l.db"), to_write, SS_ERROR_INPUT, cases[i].named);
        remove(in(&s, "l.db"));
    }
    ENSURE(write_ledger(in(&s, "l.db"), 0, 0, 6, 1, NULL) &&
           tamper(in(&s, "l.db"),
                  "CREATE INDEX by_outcome ON runs(outcome); CREATE TABLE mine(x DEFAULT 1); ANALYZE"));
    ss_ledger *ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger); // somebody's own index and table
    ss_ledger_close(ledger);
    scratch_close(&s);
}

TEST(a_query_that_does_not_end_is_given_up)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ENSURE(write_ledger(in(&s, "l.db"), 0, 0, 6, 1, NULL));
    ss_ledger *ledger = ss_ledger_read(in(&s, "l.db"), &err);
    sqlite3_stmt *statement = NULL;
    ENSURE(ledger && sqlite3_prepare_v2(ledger->db,
                                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                        "SELECT count(*) FROM n",
                                        -1, &statement, NULL) == SQLITE_OK);
    ENSURE(ss_ledger_step(ledger, statement, &err) == SS_STEP_FAILED);
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE_CONTAINS(err.message, "l.db: given up: a query took more than 100 million operations");
    sqlite3_finalize(statement);
    ss_results results;
    ENSURE(ss_ledger_load(ledger, &results, NULL)); // the next is none the worse
    ss_results_free(&results);
    ss_ledger_close(ledger);
    scratch_close(&s);
}

TEST(a_file_cut_off_anywhere_is_told_and_not_crashed_on)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "l.db"), 0, 0, 6, 1, NULL));
    scratch_bytes whole = scratch_read(in(&s, "l.db"));
    ENSURE(whole.size > 40000);
    for (size_t size = 1; size < whole.size; size += size < 4096 ? 511 : 8191) {
        write_bytes(in(&s, "cut.db"), whole.data, size);
        ensure_refused(in(&s, "cut.db"), false, SS_ERROR_INPUT, "ledger");
        ensure_refused(in(&s, "cut.db"), true, SS_ERROR_INPUT, "ledger");
    }
    /* Bytes that are wrong: anything but a crash. */
    ss_random random = ss_random_start(3, 0);
    int told = 0;
    for (int round = 0; round < 100; round++) {
        write_bytes(in(&s, "cut.db"), whole.data, whole.size);
        FILE *file = fopen(in(&s, "cut.db"), "r+b");
        ENSURE(file);
        for (int i = 0; i < 30; i++) {
            fseek(file, ss_random_below(&random, (int)whole.size), SEEK_SET);
            fputc(ss_random_below(&random, 256), file);
        }
        fclose(file);
        ss_error err = {0};
        ss_results results;
        ss_ledger *ledger = ss_ledger_read(in(&s, "cut.db"), &err);
        bool good = ledger && ss_ledger_load(ledger, &results, &err);
        ENSURE(good || strstr(err.message, "cut.db"));
        if (good) ss_results_free(&results);
        ss_ledger_close(ledger);
        told += !good;
    }
    ENSURE(told > 20); // most, but an error bit of a number cannot be told
    free(whole.data);
    scratch_close(&s);
}

TEST(rows_that_no_program_of_ours_writes_are_told)
{
    static const char *const damages[] = {
        "UPDATE runs SET outcome = 'bored' WHERE id = 3",
        "UPDATE crossings SET decade = 1000 WHERE decade = 3",
        "UPDATE crossings SET gauge = 'mood' WHERE gauge = 'natural_map'",
        "UPDATE contact_errors SET bin = -1000 WHERE bin = -48",
        "UPDATE problems SET bodies = -1",
        "UPDATE problems SET rows = 99999999999",
        "UPDATE methods SET key = printf('%040d', id)",
        "PRAGMA foreign_keys = OFF; DELETE FROM methods WHERE id = 1",
    };
    scratch s = scratch_open();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        ENSURE(write_ledger(in(&s, "l.db"), 0, 0, 6, 1, NULL) && tamper(in(&s, "l.db"), damages[i]));
        ss_error err = {0};
        ss_results results;
        ss_ledger *ledger = ss_ledger_read(in(&s, "l.db"), &err);
        ENSURE(ledger && !ss_ledger_load(ledger, &results, &err));
        ss_ledger_close(ledger);
        ENSURE_INT(err.code, SS_ERROR_INPUT);
        ENSURE_CONTAINS(err.message, "l.db: a damaged ledger");
        remove(in(&s, "l.db"));
    }
    scratch_close(&s);
}

int main(int argc, char **argv)
{
    /* Every ledger that is made waits for the disk several times, which shows nothing here. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    return kit_main(argc, argv);
}
