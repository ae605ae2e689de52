/* The ledger: what goes in comes out, in an order of its own, and nothing is lost. Ledgers of others are in
 * test_ledger_strangers.c.
 *
 *     test_ledger --make FILE SEED PART PARTS PACE   writes a made-up ledger, for test_ledger.py
 *     test_ledger --forever FILE                     writes runs until it is killed, and prints how
 *                                                    many there are
 *     test_ledger --time FILE                        prints the time of one ss_ledger_add, ms */
#define _GNU_SOURCE
#include "kit.h"
#include "faults.h"
#include "ledger_kit.h"
#include "scratch.h"
#include "without_shared_memory.h"

#include "base/text.h"
#include "campaign/ledger_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define CARELESS(text) ((char *)(uintptr_t)(text))

static bool gather(const char *bytes, size_t size, void *context)
{
    ss_text_append_bytes(context, bytes, size);
    return true;
}

/* All tables as CSV, then everything as JSON. */
static ss_text export_all(const char *path)
{
    ss_text text = {0};
    ss_error err = {0};
    ss_ledger *ledger = ss_ledger_read(path, &err);
    bool good = ledger != NULL;
    for (const char *const *table = ss_ledger_tables(); good && *table; table++)
        good = ss_ledger_csv(ledger, *table, gather, &text, &err);
    good = good && ss_ledger_json(ledger, gather, &text, &err);
    if (!good) fprintf(stderr, "%s\n", err.message);
    ss_ledger_close(ledger);
    return text;
}

static bool same_real(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_reals(const double *a, const double *b, int count)
{
    for (int i = 0; i < count; i++)
        if (!same_real(a[i], b[i])) return false;
    return true;
}

/* ---- what goes in comes out --------------------------------------------------------------------------- */

static bool same_metrics(const ss_metric_value *a, const ss_metric_value *b)
{
    if (!a || !b) return a == b;
    for (int i = 0; i < ss_metric_count(); i++) {
        if (a[i].applies != b[i].applies || !same_real(a[i].value, b[i].value) ||
            a[i].worst_contact != b[i].worst_contact || a[i].worst_constraint != b[i].worst_constraint ||
            !same_text(a[i].why, b[i].why))
            return false;
    }
    return true;
}

static bool same_history(const ss_run_entry *a, const ss_run_entry *b)
{
    if (a->history_count != b->history_count || a->crossing_count != b->crossing_count ||
        a->bin_count != b->bin_count)
        return false;
    for (int i = 0; i < a->history_count; i++) {
        const ss_history_point *p = &a->history[i], *q = &b->history[i];
        if (p->iteration != q->iteration || p->seconds != q->seconds ||
            !same_reals(p->gauge, q->gauge, SS_GAUGE_COUNT))
            return false;
    }
    for (int i = 0; i < a->crossing_count; i++) {
        const ss_crossing *p = &a->crossings[i], *q = &b->crossings[i];
        if (p->gauge != q->gauge || p->decade != q->decade || p->iteration != q->iteration ||
            p->seconds != q->seconds)
            return false;
    }
    for (int i = 0; i < a->bin_count; i++)
        if (a->bins[i].bin != b->bins[i].bin || a->bins[i].count != b->bins[i].count) return false;
    return true;
}

static bool same_samples(const ss_sample *a, const ss_sample *b, int count)
{
    for (int i = 0; i < count; i++)
        if (!same_reals(&a[i].seconds, &b[i].seconds, 1) || !same_reals(&a[i].elapsed, &b[i].elapsed, 1))
            return false;
    return true;
}

static bool same_run(const ss_run_entry *a, const ss_run_entry *b)
{
    return a->outcome == b->outcome && same_text(a->message, b->message) &&
           same_text(a->started, b->started) && a->unknowns == b->unknowns &&
           a->iterations == b->iterations && a->kept_iteration == b->kept_iteration &&
           same_real(a->seconds, b->seconds) && same_real(a->memory, b->memory) &&
           same_reals(a->gauge, b->gauge, SS_GAUGE_COUNT) && strcmp(a->answer, b->answer) == 0 &&
           same_metrics(a->metrics, b->metrics) && same_history(a, b) && a->sample_count == b->sample_count &&
           same_samples(a->samples, b->samples, a->sample_count) && a->steady == b->steady &&
           same_reals(&a->elapsed, &b->elapsed, 1) && same_reals(&a->time_limit, &b->time_limit, 1);
}

static bool same_problem(const ss_problem_entry *a, const ss_problem_entry *b)
{
    return strcmp(a->hash, b->hash) == 0 && same_text(a->place, b->place) && same_text(a->file, b->file) &&
           same_text(a->format, b->format) && a->index == b->index && same_text(a->scene, b->scene) &&
           same_real(a->time, b->time) && same_real(a->h, b->h) && a->bodies == b->bodies &&
           a->joints == b->joints && a->rows == b->rows && a->contacts == b->contacts &&
           same_real(a->mass_ratio, b->mass_ratio) && same_real(a->density, b->density) &&
           same_real(a->rank_ratio, b->rank_ratio) && same_real(a->mu_least, b->mu_least) &&
           same_real(a->mu_most, b->mu_most) && same_text(a->fault, b->fault);
}

static bool same_method(const ss_method_entry *a, const ss_method_entry *b)
{
    return same_text(a->formulation, b->formulation) && same_text(a->with, b->with) &&
           same_text(a->solver, b->solver) && same_text(a->set, b->set) && same_text(a->plugin, b->plugin) &&
           same_text(a->stop, b->stop) && same_text(a->keep, b->keep) && a->iterations == b->iterations &&
           a->time_limit == b->time_limit && a->seed == b->seed && same_text(a->reference, b->reference) &&
           same_text(a->plugin_file, b->plugin_file);
}

TEST(every_field_comes_back_and_nothing_is_sorted_by_time)
{
    static made_run made;
    scratch s = scratch_open();
    ss_results results;
    ENSURE(write_ledger(in(&s, "l.db"), 5, 0, 1, 0.5, NULL) && load(in(&s, "l.db"), &results));
    ENSURE_INT(scratch_files(&s, false), 1);
    ENSURE_INT(results.machine_count, MADE_MACHINES);
    ENSURE_INT(results.problem_count, MADE_PROBLEMS);
    ENSURE_INT(results.method_count, MADE_METHODS);
    ENSURE_INT(results.run_count, MADE_RUNS);
    /* by scene: ' < = < a < c < w; by formulation, solver, options; machines by key */
    static const int problem_order[] = {2, 4, 1, 3, 0}, method_order[] = {5, 4, 3, 0, 1, 2};
    int machine_of[MADE_MACHINES];
    for (int k = 0; k < MADE_MACHINES; k++)
        machine_of[k] = strcmp(results.machines[k].cpu, made_machine(0).cpu) == 0 ? 0 : 1;
    ENSURE(strcmp(results.machines[0].key, results.machines[1].key) < 0 && machine_of[0] != machine_of[1]);
    for (int p = 0; p < MADE_PROBLEMS; p++) {
        ss_problem_entry expected = made_problem(problem_order[p]);
        ENSURE(same_problem(&results.problems[p], &expected));
    }
    for (int m = 0; m < MADE_METHODS; m++) {
        ss_method_entry expected = made_method(method_order[m]);
        ENSURE(same_method(&results.methods[m], &expected));
        ENSURE_INT(strlen(results.methods[m].key), 32);
    }
    for (int i = 0; i < MADE_RUNS; i++) {
        const ss_run_entry *run = &results.runs[i];
        ENSURE_INT(run->problem, i / (MADE_METHODS * MADE_MACHINES));
        ENSURE_INT(run->method, i / MADE_MACHINES % MADE_METHODS);
        ENSURE_INT(run->machine, i % MADE_MACHINES);
        make_run(&made, problem_order[run->problem], method_order[run->method], machine_of[run->machine],
                 0.5);
        ENSURE(same_run(run, &made.run));
    }
    ss_results_free(&results);
    scratch_close(&s);
}

TEST(the_order_of_work_changes_no_byte_of_an_export)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "a.db"), 0, 0, 1, 0.5, NULL) &&
           write_ledger(in(&s, "b.db"), 7, 0, 1, 0.5, NULL));
    ss_text a = export_all(in(&s, "a.db")), b = export_all(in(&s, "b.db"));
    ENSURE(a.length > 100000);
    ENSURE_TEXT(a.data, b.data);
    ss_text_free(&a);
    ss_text_free(&b);
    scratch_close(&s);
}

TEST(the_grid_of_history_has_eight_points_in_every_octave)
{
    int expected[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 18,
                      20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72};
    int iteration = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        iteration = ss_history_grid(iteration);
        ENSURE_INT(iteration, expected[i]);
    }
    ENSURE_INT(ss_history_grid(17), 18); // also between its points
    ENSURE_INT(ss_history_grid(1 << 20), (1 << 20) + (1 << 17));
    ENSURE_INT(ss_history_grid(2147483646), 2147483647);
    ENSURE_INT(ss_history_grid(2147483647), 2147483647);
}

TEST(outcomes_have_names_that_lead_back_to_them)
{
    for (int i = 0; i < SS_OUTCOME_COUNT; i++)
        ENSURE_INT(ss_outcome_named(ss_outcome_name((ss_outcome)i)), i);
    ENSURE_TEXT(ss_outcome_name(SS_OUTCOME_OUT_OF_MEMORY), "out of memory");
    ENSURE_TEXT(ss_outcome_name((ss_outcome)SS_STALLED), "stalled");
    ENSURE_INT(ss_outcome_named("bored"), SS_OUTCOME_COUNT);
}

/* ---- keys --------------------------------------------------------------------------------------------- */

TEST(the_same_thing_is_one_row_and_a_run_that_is_there_stays)
{
    scratch s = scratch_open();
    ss_ledger *ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger && write_run(ledger, 0, 1, NULL) && write_run(ledger, 0, 2, NULL));
    ss_problem_entry moved = made_problem(0), other = made_problem(0);
    moved.file = CARELESS("elsewhere.h5");
    other.place = CARELESS("/simulation_000001/mbs_frame000004");
    ENSURE(ss_ledger_problem(ledger, &moved, NULL) && ss_ledger_problem(ledger, &other, NULL));
    ENSURE_INT(moved.id, 1);
    ENSURE_INT(other.id, 2);
    ss_method_entry method = made_method(0), seeded = made_method(0);
    seeded.seed = 2;
    ENSURE(ss_ledger_method(ledger, &method, NULL) && ss_ledger_method(ledger, &seeded, NULL));
    ENSURE_INT(method.id, 1);
    ENSURE_INT(seeded.id, 2);
    ss_ledger_close(ledger);
    ss_results results;
    ENSURE(load(in(&s, "l.db"), &results));
    ENSURE_INT(results.run_count, 1);
    ENSURE(results.runs[0].history[0].seconds == 1); // of the first one
    ENSURE_TEXT(results.problems[0].file, "b.h5");
    ss_results_free(&results);
    scratch_close(&s);
}

TEST(samples_are_added_to_a_run_and_one_that_differs_is_enough)
{
    scratch s = scratch_open();
    ss_ledger *ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger && write_run(ledger, 1, 1, NULL)); // without samples
    ss_known_run known;
    ENSURE(ss_ledger_know(ledger, 1, 1, 1, &known, NULL) && known.samples == 0);
    ENSURE_INT(known.outcome, SS_CONVERGED);
    ENSURE(known.seconds >= 1.0 && known.seconds <= 2.0);
    ENSURE(ss_ledger_know(ledger, 1, 2, 1, &known, NULL) && known.samples == -1);
    ss_sample first[] = {{3, 4}, {2, NAN}}, more[] = {{1, 2}};
    ENSURE(ss_ledger_add_samples(ledger, 1, 1, 1, first, 2, false, NULL));
    ENSURE(ss_ledger_add_samples(ledger, 1, 1, 1, more, 1, true, NULL));
    ENSURE(ss_ledger_know(ledger, 1, 1, 1, &known, NULL) && known.samples == 3);
    ss_error err = {0};
    ENSURE(!ss_ledger_add_samples(ledger, 1, 2, 1, more, 1, true, &err));
    ENSURE_CONTAINS(err.message, "does not exist");
    ENSURE(ss_ledger_note_campaign(ledger, "first", 1, NULL));
    ss_ledger_close(ledger);
    ENSURE(tamper(in(&s, "l.db"), "UPDATE campaigns SET started = '2001-01-01T00:00:00Z'"));
    ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger && ss_ledger_note_campaign(ledger, "second", 1, NULL));
    ss_ledger_close(ledger);
    ss_results results;
    ENSURE(load(in(&s, "l.db"), &results));
    ENSURE_INT(results.runs[0].sample_count, 3);
    ENSURE(same_samples(results.runs[0].samples, (ss_sample[]){{3, 4}, {2, NAN}, {1, 2}}, 3));
    ENSURE(!results.runs[0].steady);
    ENSURE_TEXT(results.campaign, "second");
    ss_results_free(&results);
    scratch_close(&s);
}

TEST(a_method_by_another_clock_or_limit_is_another_method_and_one_by_the_wall_is_what_it_always_was)
{
    scratch s = scratch_open();
    ss_ledger *ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger);
    ss_method_entry unsaid = made_method(0), wall = made_method(0), cpu = made_method(0), by = made_method(0);
    unsaid.clock = NULL;
    cpu.clock = CARELESS("cpu");
    by.limit_by = CARELESS("auto:3:0.1:1");
    ss_method_entry *methods[] = {&unsaid, &wall, &cpu, &by};
    for (int i = 0; i < 4; i++) ENSURE(ss_ledger_method(ledger, methods[i], NULL));
    ENSURE_TEXT(unsaid.key, "b271fa17bc58c53d761183d5a5df031c"); // by the version before
    ENSURE_INT(wall.id, unsaid.id);
    ENSURE(cpu.id != wall.id && by.id != wall.id && by.id != cpu.id);
    ss_ledger_close(ledger);
    scratch_close(&s);
}

/* Adds methods and compares their labels, in the order of the ledger. */
static void check_labels(ss_method_entry *methods, int count, const char *const *labels)
{
    scratch s = scratch_open();
    ss_ledger *ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger);
    for (int i = count - 1; i >= 0; i--) ENSURE(ss_ledger_method(ledger, &methods[i], NULL));
    ss_ledger_close(ledger);
    ss_results results;
    ENSURE(load(in(&s, "l.db"), &results));
    ENSURE_INT(results.method_count, count);
    for (int i = 0; i < count; i++) ENSURE_TEXT(results.methods[i].label, labels[i]);
    ss_results_free(&results);
    scratch_close(&s);
}

TEST(labels_say_only_what_tells_methods_apart)
{
    ss_method_entry methods[MADE_METHODS];
    for (int i = 0; i < MADE_METHODS; i++) methods[i] = made_method(i);
    check_labels(methods, MADE_METHODS,
                 (const char *[]){"box/lemke", "box/pgs (200 iterations)", "box/pgs (1000 iterations)",
                                  "cone/nsgs", "cone/nsgs (local=newton)",
                                  "cone/nsgs (local=newton, with gamma=0.5)"});
    if (kit_failures) return;
    ss_method_entry several[9];
    for (int i = 0; i < 9; i++) several[i] = made_method(3);
    several[1].set = CARELESS("omega=1.3");
    for (int i = 2; i < 9; i++) several[i].solver = CARELESS("psor");
    several[3].time_limit = 0;
    several[4].seed = 7;
    several[5].plugin = CARELESS("0123456789abcdef");
    several[6].keep = CARELESS("best:energy");
    several[7].stop = CARELESS("none");
    several[8].reference = CARELESS("nsgs");
    check_labels(several, 9,
                 (const char *[]){"pgs", "pgs (omega=1.3)", "psor (stop none)",
                                  "psor (tol 1e-8, keep best:energy)",
                                  "psor (tol 1e-8, keep last, no time limit)",
                                  "psor (tol 1e-8, keep last, 2.5 s, seed 1, built in, no reference)",
                                  "psor (tol 1e-8, keep last, 2.5 s, seed 1, plug-in 01234567)",
                                  "psor (tol 1e-8, keep last, 2.5 s, seed 7)",
                                  "psor (tol 1e-8, keep last, 2.5 s, seed 1, built in, reference nsgs)"});
}

/* ---- merging ------------------------------------------------------------------------------------------ */

TEST(parts_merged_in_any_order_are_the_whole)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "whole.db"), 0, 0, 1, 1, NULL));
    ENSURE(write_ledger(in(&s, "1.db"), 0, 0, 3, 1, NULL) && write_ledger(in(&s, "2.db"), 3, 1, 3, 1, NULL) &&
           write_ledger(in(&s, "3.db"), 4, 2, 3, 1, NULL));
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"3.db", "1.db", "2.db"};
        ENSURE_INT(merge(in(&s, "all.db"), in(&s, names[i]), NULL, 0, NULL), 1000000 * (MADE_RUNS / 3));
    }
    ENSURE_INT(merge(in(&s, "all.db"), in(&s, "whole.db"), NULL, 0, NULL), 1000 * MADE_RUNS);
    ss_text whole = export_all(in(&s, "whole.db")), all = export_all(in(&s, "all.db"));
    ENSURE_TEXT(all.data, whole.data);
    ss_text_free(&whole);
    ss_text_free(&all);
    scratch_close(&s);
}

TEST(a_run_with_another_answer_is_told_and_its_first_answer_stays)
{
    scratch s = scratch_open();
    char which[400];
    ENSURE(write_ledger(in(&s, "a.db"), 0, 0, 1, 1, NULL) && write_ledger(in(&s, "b.db"), 0, 0, 1, 2, NULL));
    ENSURE(tamper(in(&s, "b.db"), "UPDATE runs SET answer = 'ffff' WHERE id IN (1, 5)"));
    ENSURE_INT(merge(in(&s, "a.db"), in(&s, "b.db"), which, sizeof which, NULL), 1000 * (MADE_RUNS - 2) + 2);
    ENSURE_CONTAINS(which, "b.h5 /simulation_000001/mbs_frame000003, cone/nsgs");
    ENSURE_CONTAINS(which, "ffff in ");
    ss_results results;
    ENSURE(load(in(&s, "a.db"), &results));
    for (int i = 0; i < results.run_count; i++) {
        ENSURE(strcmp(results.runs[i].answer, "ffff") != 0);
        ENSURE(results.runs[i].sample_count == 0 || results.runs[i].samples[0].seconds == 1);
    }
    ss_results_free(&results);
    scratch_close(&s);
}

TEST(samples_are_taken_over_where_there_are_none)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "a.db"), 0, 0, 1, 1, NULL) && write_ledger(in(&s, "b.db"), 0, 0, 1, 2, NULL));
    ENSURE(
        tamper(in(&s, "a.db"), "DELETE FROM samples WHERE run = 1; UPDATE runs SET steady = 0 WHERE id = 1"));
    ENSURE_INT(merge(in(&s, "a.db"), in(&s, "b.db"), NULL, 0, NULL), 1000 * MADE_RUNS);
    ss_ledger *ledger = ss_ledger_read(in(&s, "a.db"), NULL);
    ss_results results;
    ENSURE(ledger && ss_ledger_load(ledger, &results, NULL));
    for (int i = 0; i < results.run_count; i++) {
        const ss_run_entry *run = &results.runs[i];
        if (run->sample_count == 0 && run->id != 1) continue;
        ENSURE(run->steady && run->sample_count == 3);
        ENSURE_NEAR(run->samples[0].seconds, run->id == 1 ? 2 : 1, 0);
    }
    ss_results_free(&results);
    ss_ledger_close(ledger);
    scratch_close(&s);
}

TEST(what_later_programs_measure_is_not_lost_in_a_merge)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "a.db"), 0, 0, 1, 1, NULL));
    ENSURE(tamper(in(&s, "a.db"), "INSERT INTO metrics(run, name, value) VALUES(1, 'zest', 0.5)"));
    ENSURE_INT(merge(in(&s, "b.db"), in(&s, "a.db"), NULL, 0, NULL), 1000000 * MADE_RUNS);
    ss_text text = export_all(in(&s, "b.db"));
    ENSURE_CONTAINS(text.data, ",zest,0.5,,,,\r\n");
    ss_text_free(&text);
    scratch_close(&s);
}

TEST(a_merge_that_fails_changes_nothing)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ENSURE(write_ledger(in(&s, "a.db"), 0, 0, 2, 1, NULL) && write_ledger(in(&s, "b.db"), 0, 1, 2, 1, NULL));
    ss_text before = export_all(in(&s, "a.db"));
    ENSURE_INT(merge(in(&s, "a.db"), in(&s, "a.db"), NULL, 0, &err), -1);
    ENSURE_CONTAINS(err.message, "the same ledger");
    ENSURE_INT(merge(in(&s, "a.db"), in(&s, "missing.db"), NULL, 0, &err), -1);
    ENSURE_CONTAINS(err.message, "missing.db");
    /* The last run of b is not of this world; the others are good. */
    ENSURE(tamper(in(&s, "b.db"), "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
                                  "'value REAL', 'value ANY') WHERE name = 'metrics'"));
    ENSURE(tamper(in(&s, "b.db"),
                  "UPDATE metrics SET value = 'much' WHERE run = (SELECT max(run) FROM metrics)"));
    ENSURE_INT(merge(in(&s, "a.db"), in(&s, "b.db"), NULL, 0, &err), -1);
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE_CONTAINS(err.message, in(&s, "b.db"));
    ss_text after = export_all(in(&s, "a.db"));
    ENSURE_TEXT(after.data, before.data);
    ss_text_free(&before);
    ss_text_free(&after);
    scratch_close(&s);
}

/* ---- others ------------------------------------------------------------------------------------------- */

/* Exit code of a child: 0 opened, 1 refused because of the other writer, 2 anything else. */
static int try_to_write(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        ss_error err = {0};
        ss_ledger *ledger = ss_ledger_open(path, &err);
        ss_ledger_close(ledger);
        bool refused = err.code == SS_ERROR_RESOURCES && strstr(err.message, "another process is writing");
        _exit(ledger ? 0 : refused ? 1 : 2);
    }
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(there_is_one_writer_and_readers_beside_it)
{
    scratch s = scratch_open();
    ss_ledger *ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger && write_run(ledger, 0, 1, NULL));
    ENSURE_INT(try_to_write(in(&s, "l.db")), 1);
    pid_t reader = fork();
    if (reader == 0) {
        ss_results results;
        _exit(load(in(&s, "l.db"), &results) && results.run_count == 1 ? 0 : 1);
    }
    int status;
    ENSURE(waitpid(reader, &status, 0) == reader && status == 0);
    ENSURE(write_run(ledger, 1, 1, NULL));
    /* A forked child that lives longer has the descriptor of the lock, too. */
    int pipes[2];
    ENSURE(pipe(pipes) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(pipes[1]);
        char byte;
        _exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
    }
    ss_ledger_close(ledger);
    ENSURE_INT(try_to_write(in(&s, "l.db")), 0);
    close(pipes[0]);
    close(pipes[1]);
    ENSURE(waitpid(child, &status, 0) == child && status == 0);
    ENSURE_INT(scratch_files(&s, false), 1);
    scratch_close(&s);
}

/* Exit code of a child: 0 read `runs` runs, 1 refused with the name of the writer, 2 anything else. */
static int try_to_read(const char *path, int runs)
{
    pid_t child = fork();
    if (child == 0) {
        ss_error err = {0};
        ss_results results = {0};
        ss_ledger *ledger = ss_ledger_read(path, &err);
        char writer[60];
        snprintf(writer, sizeof writer, "cannot be read while process %d on ", (int)getppid());
        if (!ledger) _exit(err.code == SS_ERROR_RESOURCES && strstr(err.message, writer) ? 1 : 2);
        _exit(ss_ledger_load(ledger, &results, &err) && results.run_count == runs ? 0 : 2);
    }
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(without_shared_memory_the_writer_is_alone_and_says_so_and_the_file_is_the_same)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "usual.db"), 0, 0, 1, 1, NULL));
    use_files_without_shared_memory();
    ss_ledger *ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger);
    for (int i = 0; i < MADE_RUNS / 2; i++) ENSURE(write_run(ledger, i, 1, NULL));

    // The WAL is there all the same, in the memory of one: no second writer, no reader.
    ENSURE_INT(access(in(&s, "l.db-wal"), F_OK), 0);
    ENSURE(access(in(&s, "l.db-shm"), F_OK) != 0);
    ENSURE_INT(try_to_write(in(&s, "l.db")), 1);
    ENSURE_INT(try_to_read(in(&s, "l.db"), 0), 1);
    ss_ledger_close(ledger);
    ENSURE_INT(try_to_read(in(&s, "l.db"), MADE_RUNS / 2), 0);

    // One that is killed leaves a WAL: it is read, and another writer goes on.
    pid_t child = fork();
    if (child == 0) {
        ledger = ss_ledger_open(in(&s, "l.db"), NULL);
        for (int i = MADE_RUNS / 2; ledger && i < MADE_RUNS - 1; i++)
            if (!write_run(ledger, i, 1, NULL)) _exit(1);
        raise(SIGKILL);
    }
    int status;
    ENSURE(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    ENSURE_INT(access(in(&s, "l.db-wal"), F_OK), 0);
    ENSURE_INT(try_to_read(in(&s, "l.db"), MADE_RUNS - 1), 0);
    ledger = ss_ledger_open(in(&s, "l.db"), NULL);
    ENSURE(ledger && write_run(ledger, MADE_RUNS - 1, 1, NULL));
    ss_ledger_close(ledger);
    use_the_usual_files();

    ss_text usual = export_all(in(&s, "usual.db")), alone = export_all(in(&s, "l.db"));
    ENSURE(usual.length > 0 && strcmp(ss_text_get(&usual), ss_text_get(&alone)) == 0);
    ss_text_free(&usual);
    ss_text_free(&alone);
    ENSURE_INT(scratch_files(&s, false), 2);
    scratch_close(&s);
}

TEST(a_full_disk_is_told_and_costs_nothing_that_was_there)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "l.db"), 0, 0, 6, 1, NULL));
    int pipes[2];
    ENSURE(pipe(pipes) == 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {200000, 200000}; // the WAL grows to it
        setrlimit(RLIMIT_FSIZE, &limit);
        ss_error err = {0};
        ss_ledger *ledger = ss_ledger_open(in(&s, "l.db"), &err);
        int written = 0;
        while (ledger && written < MADE_RUNS && write_run(ledger, written, 1, &err)) written++;
        if (write(pipes[1], &written, sizeof written) < 0) _exit(3);
        ss_ledger_close(ledger);
        _exit(written < MADE_RUNS && err.code == SS_ERROR_RESOURCES && strstr(err.message, "l.db") ? 0 : 1);
    }
    int status, written = -1;
    ENSURE(waitpid(child, &status, 0) == child);
    ENSURE(read(pipes[0], &written, sizeof written) == sizeof written && written > 0);
    close(pipes[0]);
    close(pipes[1]);
    ENSURE_INT(status, 0);
    ss_results results;
    ENSURE(load(in(&s, "l.db"), &results));
    int there = 0;
    for (int i = 0; i < results.run_count; i++) there += results.runs[i].history_count > 0;
    ENSURE(results.run_count >= written); // and those of before
    ENSURE(there > 0);
    ss_results_free(&results);
    scratch_close(&s);
}

/* ---- lack of memory ----------------------------------------------------------------------------------- */

static bool do_everything(const scratch *s, bool *told)
{
    ss_error err = {0};
    ss_results results;
    ss_text text = {0};
    int added, there, differing;
    ss_ledger *ledger = ss_ledger_open(in(s, "new.db"), &err);
    bool good = ledger && write_run(ledger, 0, 1, &err) && write_run(ledger, 20, 1, &err) &&
                ss_ledger_note_campaign(ledger, "campaign", 1, &err) &&
                ss_ledger_merge(ledger, in(s, "old.db"), &added, &there, &differing, NULL, 0, &err);
    bool loaded = good && ss_ledger_load(ledger, &results, &err);
    if (loaded) ss_results_free(&results);
    good = loaded && ss_ledger_csv(ledger, "metrics", gather, &text, &err) &&
           ss_ledger_json(ledger, gather, &text, &err) && !text.out_of_memory;
    *told = err.code == SS_ERROR_RESOURCES || text.out_of_memory;
    ss_text_free(&text);
    ss_ledger_close(ledger);
    return good;
}

TEST(lack_of_memory_at_any_point_is_told_and_leaks_nothing)
{
    scratch s = scratch_open();
    ENSURE(write_ledger(in(&s, "old.db"), 0, 1, 20, 1, NULL));
    int failures = 0;
    for (long n = 1;; n++) {
        bool told;
        remove(in(&s, "new.db"));
        faults_start(n);
        bool good = do_everything(&s, &told);
        bool reached = faults_stop();
        ENSURE_INT(faults.live, 0);
        if (!reached) {
            ENSURE(good);
            break;
        }
        ENSURE(!good && told);
        failures++;
    }
    ENSURE(failures > 100);
    scratch_close(&s);
}

/* ---- for test_ledger.py ------------------------------------------------------------------------------- */

static int complain(const ss_error *err)
{
    fprintf(stderr, "%s\n", err->message);
    return 1;
}

static bool write_new_run(ss_ledger *ledger, int number, ss_error *err)
{
    static made_run made;
    ss_machine machine = made_machine(0);
    ss_method_entry method = made_method(0);
    ss_problem_entry problem = made_problem(0);
    snprintf(problem.hash, sizeof problem.hash, "%032x", number);
    make_run(&made, 0, 0, 0, 1);
    if (!ss_ledger_machine(ledger, &machine, err) || !ss_ledger_method(ledger, &method, err) ||
        !ss_ledger_problem(ledger, &problem, err))
        return false;
    made.run.machine_id = machine.id;
    made.run.method_id = method.id;
    made.run.problem_id = problem.id;
    return ss_ledger_add(ledger, &made.run, err);
}

static int write_forever(const char *path)
{
    ss_error err = {0};
    ss_results results;
    ss_ledger *ledger = ss_ledger_open(path, &err);
    if (!ledger || !ss_ledger_load(ledger, &results, &err)) return complain(&err);
    int number = results.run_count;
    ss_results_free(&results);
    for (;; number++) {
        if (!write_new_run(ledger, number, &err)) return complain(&err);
        printf("%d\n", number + 1);
        fflush(stdout);
    }
}

static int measure(const char *path)
{
    enum { RUNS = 3000 };
    ss_error err = {0};
    ss_ledger *ledger = ss_ledger_open(path, &err);
    double start = ss_clock_seconds(), cpu = (double)clock() / CLOCKS_PER_SEC;
    for (int i = 0; ledger && i < RUNS; i++)
        if (!write_new_run(ledger, i, &err)) return complain(&err);
    double added = ss_clock_seconds(), cpu_added = (double)clock() / CLOCKS_PER_SEC;
    ss_ledger_close(ledger);
    double closed = ss_clock_seconds();
    ss_results results;
    if (!load(path, &results)) return 1;
    double loaded = ss_clock_seconds();
    ss_results_free(&results);
    printf("add %.3f ms, of it CPU %.3f ms, load %.3f ms per run; close %.1f ms\n",
           (added - start) / RUNS * 1e3, (cpu_added - cpu) / RUNS * 1e3, (loaded - closed) / RUNS * 1e3,
           (closed - added) * 1e3);
    return 0;
}

int main(int argc, char **argv)
{
    ss_error err = {0};
    if (argc == 7 && strcmp(argv[1], "--make") == 0)
        return write_ledger(argv[2], (uint64_t)atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), atof(argv[6]),
                            &err)
                   ? 0
                   : complain(&err);
    if (argc == 3 && strcmp(argv[1], "--forever") == 0) return write_forever(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--time") == 0) return measure(argv[2]);
    /* Every ledger that is made waits for the disk several times, which shows nothing here. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    return kit_main(argc, argv);
}
