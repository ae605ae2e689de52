/* Ledgers for tests: a made-up campaign whose every number follows from its place in the matrix of
 * problems, methods and machines, whatever the order in which it is written. Texts are hostile, numbers are
 * not all finite. */
#ifndef STICKSLIP_TEST_LEDGER_KIT_H
#define STICKSLIP_TEST_LEDGER_KIT_H

#include "scratch.h"

#include "campaign/ledger_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_MOST 60

enum {
    MADE_PROBLEMS = 5,
    MADE_METHODS = 6,
    MADE_MACHINES = 2,
    MADE_RUNS = MADE_PROBLEMS * MADE_METHODS * MADE_MACHINES
};

static inline ss_machine made_machine(int index)
{
    static const char *const cpus[] = {"Calculator 3000 \"turbo\"", "Abacus, 7 wires"};
    return (ss_machine){.cpu = (char *)(uintptr_t)cpus[index % 2],
                        .cores = 2 + index,
                        .system = "Linux 6.1 x86_64",
                        .version = "0.1.0",
                        .compiler = "gcc 12.2.0",
                        .build = "release"};
}

static inline ss_problem_entry made_problem(int index)
{
    static const char *const scenes[] = {"wall", "arch, \"small\"", "'); DROP TABLE runs; --",
                                         "caf\xc3\xa9\nin two lines", "=1+1"};
    static const char *const files[] = {"b.h5", "a.h5", "data/'quoted'.h5", "dir with blanks/\xe6\xbc\xa2.h5",
                                        " c.hdf5 "};
    ss_problem_entry problem = {.place = index == 4 ? "/fclib_local" : "/simulation_000001/mbs_frame000003",
                                .file = (char *)(uintptr_t)files[index],
                                .format = index == 4 ? "fclib" : "bpmd",
                                .index = index == 4 ? -1 : 2,
                                .scene = (char *)(uintptr_t)scenes[index],
                                .time = index == 4 ? NAN : 0.02,
                                .h = 0.01 / (index + 1),
                                .bodies = 10 * index,
                                .joints = index,
                                .rows = 3 * index,
                                .contacts = 7 + index,
                                .mass_ratio = index ? 100.0 / 3 * index : NAN,
                                .density = 0.5 + index,
                                .rank_ratio = index == 2 ? NAN : 1 - 0.1 * index,
                                .mu_least = 0.1,
                                .mu_most = index == 3 ? INFINITY : 0.7,
                                .fault = index == 1 ? "a mass of -1 kg, \"must be positive\"" : NULL};
    snprintf(problem.hash, sizeof problem.hash, "%032x", 0xabc0 + index);
    return problem;
}

static inline ss_method_entry made_method(int index)
{
    static const struct {
        const char *formulation, *with, *solver, *set;
        int iterations;
    } methods[] = {{"cone", "", "nsgs", "", 1000},
                   {"cone", "", "nsgs", "local=newton", 1000},
                   {"cone", "gamma=0.5", "nsgs", "local=newton", 1000},
                   {"box", "", "pgs", "", 1000},
                   {"box", "", "pgs", "", 200},
                   {"box", "", "lemke", "", 1000}};
    return (ss_method_entry){.formulation = (char *)(uintptr_t)methods[index].formulation,
                             .with = (char *)(uintptr_t)methods[index].with,
                             .solver = (char *)(uintptr_t)methods[index].solver,
                             .set = (char *)(uintptr_t)methods[index].set,
                             .plugin = index == 5 ? "0123456789abcdef0123456789abcdef" : "",
                             .plugin_file = index == 5 ? "my solvers/lemke.so" : "",
                             .stop = "relative_energy<1e-8",
                             .keep = "last",
                             .iterations = methods[index].iterations,
                             .time_limit = 2.5,
                             .seed = 1,
                             .reference = "",
                             .clock = index == 4 ? "cpu" : "wall",
                             .limit_by = index == 4 ? "auto:30:0.1:1" : NULL};
}

typedef struct made_run {
    ss_run_entry run; /* points into the rest */
    ss_metric_value metrics[64];
    ss_history_point history[MADE_MOST];
    ss_crossing crossings[2 * SS_DECADES];
    ss_bin bins[20];
    ss_sample samples[3];
} made_run;

static inline void made_judge(made_run *made, ss_random *random)
{
    for (int i = 0; i < ss_metric_count(); i++) {
        ss_metric_value *value = &made->metrics[i];
        *value = (ss_metric_value){.applies = i % 5 != 3,
                                   .value = exp(10 * ss_random_normal(random)),
                                   .worst_contact = i % 3 == 0 ? i : -1,
                                   .worst_constraint = i % 3 == 1 ? i : -1};
        if (i == 6) value->value = INFINITY;
        if (i == 7) value->value = NAN;
        if (!value->applies)
            *value = (ss_metric_value){false, NAN, -1, -1, "needs bodies: the file has none"};
    }
    made->run.metrics = made->metrics;
}

/* Times are scaled by `pace`; nothing else depends on it. */
static inline void made_history(made_run *made, ss_random *random, double pace)
{
    for (int i = 0, iteration = 1; i < MADE_MOST; i++, iteration = ss_history_grid(iteration)) {
        made->history[i].iteration = iteration;
        made->history[i].seconds = pace * iteration;
        for (int g = 0; g < SS_GAUGE_COUNT; g++)
            made->history[i].gauge[g] = g == 4 ? NAN : exp(-0.1 * iteration) * ss_random_real(random);
    }
    for (int i = 0; i < 2 * SS_DECADES; i++)
        made->crossings[i] = (ss_crossing){i < SS_DECADES ? SS_GAUGE_RELATIVE_ENERGY : SS_GAUGE_NATURAL_MAP,
                                           i % SS_DECADES, 3 * i + 1, pace * i};
    for (int i = 0; i < 20; i++) made->bins[i] = (ss_bin){SS_LEAST_BIN + 2 * i, 1 + i};
    made->run.history = made->history;
    made->run.history_count = MADE_MOST;
    made->run.crossings = made->crossings;
    made->run.crossing_count = 2 * SS_DECADES;
    made->run.bins = made->bins;
    made->run.bin_count = 20;
}

/* Everything of a run but its ids. Every seventh one crashed. */
static inline void make_run(made_run *made, int problem, int method, int machine, double pace)
{
    int number = (problem * MADE_METHODS + method) * MADE_MACHINES + machine;
    ss_random random = ss_random_start(99, (uint64_t)number);
    memset(made, 0, sizeof *made);
    made->run = (ss_run_entry){.outcome = number % 7 == 6 ? SS_OUTCOME_CRASHED : (ss_outcome)SS_CONVERGED,
                               .started = "2026-11-16T03:08:19Z",
                               .unknowns = 3 * (7 + problem),
                               .iterations = 10 + number,
                               .kept_iteration = 9 + number,
                               .seconds = pace * (1 + ss_random_real(&random)),
                               .memory = 4096.0 * number};
    made->run.elapsed = number % 3 ? 2.0 * made->run.seconds : NAN;
    made->run.time_limit = number % 4 ? 0.5 * number : NAN;
    for (int g = 0; g < SS_GAUGE_COUNT; g++)
        made->run.gauge[g] = g == 4 && method >= 3 ? NAN : exp(5 * ss_random_normal(&random));
    if (made->run.outcome == SS_OUTCOME_CRASHED) {
        made->run.message = "signal 11 (Segmentation fault), \"pgs\", caf\xc3\xa9";
        return;
    }
    snprintf(made->run.answer, sizeof made->run.answer, "%032x", 0x1000 + number);
    made_judge(made, &random);
    made_history(made, &random, pace);
    if (number % 2) return;
    for (int i = 0; i < 3; i++) made->samples[i] = (ss_sample){pace * (1 + 0.1 * i), pace * (2 + 0.1 * i)};
    made->run.samples = made->samples;
    made->run.sample_count = 3;
    made->run.steady = true;
}

/* Adds the things and the run; false after telling why. */
static inline bool write_run(ss_ledger *ledger, int number, double pace, ss_error *err)
{
    static made_run made;
    int machine = number % MADE_MACHINES, method = number / MADE_MACHINES % MADE_METHODS;
    int problem = number / (MADE_MACHINES * MADE_METHODS) % MADE_PROBLEMS;
    ss_machine on = made_machine(machine);
    ss_problem_entry what = made_problem(problem);
    ss_method_entry how = made_method(method);
    make_run(&made, problem, method, machine, pace);
    if (!ss_ledger_machine(ledger, &on, err) || !ss_ledger_problem(ledger, &what, err) ||
        !ss_ledger_method(ledger, &how, err))
        return false;
    made.run.problem_id = what.id;
    made.run.method_id = how.id;
    made.run.machine_id = on.id;
    return ss_ledger_add(ledger, &made.run, err);
}

/* The runs whose number is `part` modulo `parts`, in an order made from the seed (0: as they come). */
static inline bool write_ledger(const char *path, uint64_t seed, int part, int parts, double pace,
                                ss_error *err)
{
    int order[MADE_RUNS];
    ss_random random = ss_random_start(seed, 0);
    for (int i = 0; i < MADE_RUNS; i++) order[i] = i;
    for (int i = MADE_RUNS - 1; i > 0 && seed; i--) {
        int j = ss_random_below(&random, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    ss_ledger *ledger = ss_ledger_open(path, err);
    bool good = ledger != NULL;
    for (int i = 0; good && i < MADE_RUNS; i++)
        if (order[i] % parts == part) good = write_run(ledger, order[i], pace, err);
    ss_ledger_close(ledger);
    return good;
}

/* ---- files -------------------------------------------------------------------------------------------- */

static inline const char *in(const scratch *s, const char *name)
{
    static char paths[4][600];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", s->directory, name);
    return path;
}

static inline bool load(const char *path, ss_results *results)
{
    ss_error err = {0};
    ss_ledger *ledger = ss_ledger_read(path, &err);
    bool good = ledger && ss_ledger_load(ledger, results, &err);
    if (!good) fprintf(stderr, "%s\n", err.message);
    ss_ledger_close(ledger);
    return good;
}

/* Merges; -1 when that fails, else 1000000 added + 1000 there + differing. */
static inline int merge(const char *into, const char *from, char *which, size_t size, ss_error *err)
{
    int added, there, differing;
    ss_ledger *ledger = ss_ledger_open(into, err);
    bool good = ledger && ss_ledger_merge(ledger, from, &added, &there, &differing, which, size, err);
    ss_ledger_close(ledger);
    return good ? 1000000 * added + 1000 * there + differing : -1;
}

/* Runs SQL on a file behind the ledger's back. */
static inline bool tamper(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    bool good = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    if (!good) fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
    return good;
}

static inline bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

#endif
