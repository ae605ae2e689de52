/* campaign/ledger.h - the ledger: one SQLite file that holds what campaigns found (docs/ledger.md
 * has the schema).
 *
 *     machine, problem, method  ->  run: outcome, metrics, samples, history
 *
 * One row per run = problem x method x machine, in one transaction each: a process that is killed loses
 * the runs in flight and nothing else. Rows are never changed, but for samples of time that are added to
 * a run. Only this file knows SQL. */
#ifndef SS_CAMPAIGN_LEDGER_H
#define SS_CAMPAIGN_LEDGER_H

#include "base/source.h"
#include "base/text.h"

#include <stickslip/metrics.h>
#include <stickslip/solver.h>

#include <stdio.h>

/* ---- rows ------------------------------------------------------------------------------------------- */

/* What a run was made on. Times of different machines are not compared. key: digest of all the rest. */
typedef struct ss_machine {
    int64_t id;
    char key[33];
    char *cpu; /* "Intel(R) Xeon(R) ...", as the kernel says */
    int cores;
    char *system;   /* "Linux 6.1 x86_64" */
    char *version;  /* of stickslip */
    char *compiler; /* "gcc 12.2.0" */
    char *build;    /* "release", "asan" */
} ss_machine;

/* One frame of a BPMD file, or the problem of an FCLIB file. Known by hash and place: the same file under
 * another path is the same problem. */
typedef struct ss_problem_entry {
    int64_t id;
    char hash[33];  /* of every number a solver sees */
    char *place;    /* "/simulation_000001/mbs_frame000003", "/fclib_local" */
    char *file;     /* path as it was given first */
    char *format;   /* "bpmd", "fclib" */
    int index;      /* of the frame in its file, 0-based; -1: FCLIB */
    char *scene;    /* what it is a frame of: the manifest's keywords or title, else the file's name */
    double time, h; /* s; NaN = unknown */
    int bodies, joints, rows, contacts;
    double mass_ratio; /* largest over smallest mass of live bodies; NaN where there are none */
    double density;    /* contact rows over degrees of freedom, 3 nc / 6 nb; NaN without bodies */
    double rank_ratio; /* rank of the contact and joint rows over their number; NaN = too large to tell */
    double mu_least, mu_most; /* NaN without contacts */
    char *fault;              /* why it cannot be solved; NULL = it can */
    char *collection;         /* name and version of the collection that its file is of; NULL = none */
} ss_problem_entry;

/* How to solve: everything but the problem. key: digest of all the rest but paths. Texts of options hold what
 * differs from the defaults, in the order of their tables: "omega=1.3 sweep=symmetric", "" = nothing does.
 * `with` begins with "peg=off" or the like where alternatives are not selected, `set` with "start=warm" or
 * the like where runs do not start from zero. */
typedef struct ss_method_entry {
    int64_t id;
    char key[33];
    char *label; /* short, unique in its ledger: made by ss_ledger_load, not stored */
    char *formulation, *with;
    char *solver, *set;
    char *plugin;      /* "" or the digest of the plug-in's file */
    char *plugin_file; /* its path as it was given first; not in the key */
    char *stop, *keep;
    int iterations;
    double time_limit; /* s, 0 = none */
    int seed;
    char *reference; /* solver of the reference, "" = none */
    char *clock;     /* that its seconds and its limit are counted by: "wall" (also NULL), "cpu" */
    char *limit_by;  /* "auto:30:0.1:1": limits follow another solver (ss_limit_rule); NULL or "" = none */
} ss_method_entry;
#define SS_CLOCK_WALL "wall"
#define SS_CLOCK_PROCESSOR "cpu" /* processor time of the thread */
bool ss_method_counts_processor(const ss_method_entry *method);

/* Where the runs of a method start from. */
#define SS_START_LIST(X)                                                                               \
    X(SS_START_COLD, "cold")       /* from zero */                                                     \
    X(SS_START_WARM, "warm")       /* an accurate answer to the frame before, contacts matched */      \
    X(SS_START_OWN, "own")         /* the method's own answer to the frame before, contacts matched */ \
    X(SS_START_SHIFTED, "shifted") /* as warm, but contact by contact in the order of the lists */
typedef enum ss_start {
#define SS_START_ENUM(code, name) code,
    SS_START_LIST(SS_START_ENUM)
#undef SS_START_ENUM
        SS_START_COUNT
} ss_start;
const char *ss_start_name(ss_start start);
/* ... of a method, and the options of its solver alone, without its start. */
ss_start ss_method_start(const ss_method_entry *method);
const char *ss_method_solver_options(const ss_method_entry *method);
/* Texts of entries: one that is not there is an empty one. */
bool ss_same_text(const char *a, const char *b);
/* The same in everything but the start and the build of a plug-in. */
bool ss_method_is_alike(const ss_method_entry *a, const ss_method_entry *b);
/* Its first frames have no frame before, and others may follow one without an answer: the message of such a
 * run begins with this. */
#define SS_STARTED_COLD "started from zero: "

/* Answers that were stored in the files, by an engine for instance, are judged and not solved again. Their
 * method has the name of the stored result as its solver, the rules it was made with as its formulation, and
 * this as its stop rule. */
#define SS_METHOD_RECORDED "as recorded"
/* The message of such a row whose file does not say by which rules the answer was made. */
#define SS_RULES_ASSUMED "rules assumed: the file does not say how gaps and joint errors were treated"
bool ss_method_is_recorded(const ss_method_entry *method);

/* How a run ended: the statuses of solvers, and what only an observer can tell. */
#define SS_OUTCOME_LIST(X)                                                                   \
    X(SS_OUTCOME_CRASHED, "crashed")             /* died of a signal */                      \
    X(SS_OUTCOME_HUNG, "hung")                   /* did not stop when its time was over */   \
    X(SS_OUTCOME_OUT_OF_MEMORY, "out of memory") /* of the limit */                          \
    X(SS_OUTCOME_BROKEN, "broken")               /* the library refused: message says why */ \
    X(SS_OUTCOME_RECORDED, "as recorded")        /* not run: the answer was in the file */
typedef enum ss_outcome {
    SS_OUTCOME_LAST_STATUS = SS_FAILED, /* up to here: ss_status */
#define SS_OUTCOME_ENUM(code, name) code,
    SS_OUTCOME_LIST(SS_OUTCOME_ENUM)
#undef SS_OUTCOME_ENUM
        SS_OUTCOME_COUNT
} ss_outcome;
const char *ss_outcome_name(ss_outcome outcome); /* "converged", "crashed" */
ss_outcome ss_outcome_named(const char *name);   /* SS_OUTCOME_COUNT if there is none */

/* Gauges of one iterate. The grid of iterations is the same for all runs (ss_history_grid), so that means
 * over runs exist; the last iteration is always there. */
typedef struct ss_history_point {
    int iteration;  /* from 1 */
    double seconds; /* of solving, measuring excluded */
    double gauge[SS_GAUGE_COUNT];
} ss_history_point;
/* The first iteration after `iteration` that is kept: 1, 2 ... 16, then 8 in every octave. */
int ss_history_grid(int iteration);

/* The first time a gauge was below 10^-decade. Exact: from every iteration, not from the grid. */
typedef struct ss_crossing {
    ss_gauge gauge; /* SS_GAUGE_RELATIVE_ENERGY or SS_GAUGE_NATURAL_MAP */
    int decade;     /* 0 .. SS_DECADES - 1 */
    int iteration;
    double seconds;
} ss_crossing;
#define SS_DECADES 15

/* How many contacts have an energy error in [10^(bin/2), 10^((bin+1)/2)) J. */
typedef struct ss_bin {
    int bin; /* SS_LEAST_BIN: that, less, or exactly 0 */
    int count;
} ss_bin;
#define SS_LEAST_BIN (-48)

/* A repeat without history, as a user would run it. */
typedef struct ss_sample {
    double seconds; /* of solving alone */
    double elapsed; /* ... with what the stop rule measures on the way; NaN = not known */
} ss_sample;

typedef struct ss_run_entry {
    int64_t id;
    int problem, method, machine; /* indices into the arrays of ss_results; when written: ids below */
    int64_t problem_id, method_id, machine_id;
    ss_outcome outcome;
    char *message; /* why not, or NULL: "signal 11 (Segmentation fault)" */
    char *started; /* UTC, ISO 8601 */
    int unknowns;
    int iterations, kept_iteration;
    /* of the solve alone, in the run for accuracy: other runs may have been going on beside it */
    double seconds;
    double elapsed;               /* s: the same with measuring; NaN = not known */
    double time_limit;            /* s that it was given; 0 = none, NaN = not known: that of its method */
    double memory;                /* bytes of arena */
    double gauge[SS_GAUGE_COUNT]; /* on the problem of the formulation; NaN = n/a */
    char answer[33];              /* digest of x: the same bits everywhere; "" = none */
    char source[SS_SOURCE_DIGITS + 1]; /* of the program that made it (ss_source_digest); "" = not known */
    /* ss_metric_count() of them, on the true problem; NULL when nothing was judged */
    ss_metric_value *metrics;
    ss_history_point *history;
    int history_count;
    ss_crossing *crossings;
    int crossing_count;
    ss_bin *bins;
    int bin_count;
    ss_sample *samples; /* repeats alone on a pinned core; the warm-up is not among them */
    int sample_count;
    bool steady; /* every repeat gave the same bits as the first run */
} ss_run_entry;
/* Did it start from zero although its method does not: is the message SS_STARTED_COLD? */
bool ss_run_started_cold(const ss_run_entry *run);

/* ---- the file --------------------------------------------------------------------------------------- */

typedef struct ss_ledger ss_ledger;
/* To write: makes the file when it is not there, and keeps others from writing. Fails, naming the file, when
 * it is no ledger, of a later schema, or being written by another process. One process has one ledger of
 * a file open: the locks of a process on a file end when it closes it anywhere. */
ss_ledger *ss_ledger_open(const char *path, ss_error *err);
/* To read: nothing is changed; another process may be writing. */
ss_ledger *ss_ledger_read(const char *path, ss_error *err);
/* How far its writer has got, for others to see where they cannot read; written at most once a second. */
void ss_ledger_tell(ss_ledger *ledger, int done, int total);
/* Leaves one file. */
void ss_ledger_close(ss_ledger *ledger);
/* Closes, and takes the file away again if this opening made it and no problem without a
 * fault came into it. */
void ss_ledger_abandon(ss_ledger *ledger);

/* Each finds the row by its key or adds it, and sets id. An empty key is made first. */
bool ss_ledger_machine(ss_ledger *ledger, ss_machine *machine, ss_error *err);
bool ss_ledger_problem(ss_ledger *ledger, ss_problem_entry *problem, ss_error *err);
bool ss_ledger_method(ss_ledger *ledger, ss_method_entry *method, ss_error *err);
/* A file that could not be used is a problem with the place "/" and a fault. This takes it
 * out: now it can. */
bool ss_ledger_forget_file(ss_ledger *ledger, const char *path, ss_error *err);

/* The text of the campaign file or flags that was run, with time and machine: provenance. */
bool ss_ledger_note_campaign(ss_ledger *ledger, const char *campaign, int64_t machine_id, ss_error *err);

/* One transaction with everything that belongs to the run (ids, not indices, tell whose it is). A run that is
 * there already is left as it is. */
bool ss_ledger_add(ss_ledger *ledger, const ss_run_entry *run, ss_error *err);
/* The same, but one that is there and was made by another build goes, with everything that belongs to it. */
bool ss_ledger_replace(ss_ledger *ledger, const ss_run_entry *run, ss_error *err);
/* Samples for a run that is there. One transaction. */
bool ss_ledger_add_samples(ss_ledger *ledger, int64_t problem_id, int64_t method_id, int64_t machine_id,
                           const ss_sample *samples, int count, bool steady, ss_error *err);
/* What is there of a run. */
typedef struct ss_known_run {
    int samples; /* -1 = there is no such run, and the rest says nothing */
    ss_outcome outcome;
    double seconds; /* NaN = not known */
    bool outdated;  /* made by another build of the program than this one, or it is not known by which */
} ss_known_run;
bool ss_ledger_know(ss_ledger *ledger, int64_t problem_id, int64_t method_id, int64_t machine_id,
                    ss_known_run *known, ss_error *err);

/* Everything of `from` that is not in `into` yet. Runs that are in both are counted in *there, or in
 * *differing when their answers are not the same; the first such is described in `which` (size bytes; may be
 * NULL). Samples of time are taken over where `into` has none. All or nothing. */
bool ss_ledger_merge(ss_ledger *into, const char *from, int *added, int *there, int *differing, char *which,
                     size_t size, ss_error *err);

/* ---- all of it, in memory --------------------------------------------------------------------------- */

typedef struct ss_results {
    ss_machine *machines;
    ss_problem_entry *problems; /* sorted by scene, file, index */
    ss_method_entry *methods;   /* sorted by formulation, solver, options */
    ss_run_entry *runs;         /* sorted by problem, method, machine */
    int machine_count, problem_count, method_count, run_count;
    char *campaign; /* the latest */
} ss_results;
bool ss_ledger_load(ss_ledger *ledger, ss_results *results, ss_error *err);
void ss_results_free(ss_results *results);

/* The builds that runs were made by (ss_run_entry.source), in alphabetical order: that after `before`, which
 * is NULL at first, and the number of its runs; NULL = no more. Of one machine, or of all: -1. */
const char *ss_results_next_build(const ss_results *results, int machine, const char *before, int *runs);
/* The same for people: "720b2b48dcdf", or "not known (120 runs), 720b2b48dcdf (240 runs)". */
void ss_results_print_builds(const ss_results *results, int machine, ss_text *text);
/* ... and for programs: the member {"720b2b48dcdf": 240}, in which "" is not known. */
void ss_json_builds(ss_json *json, const char *key, const ss_results *results);

/* ---- export ----------------------------------------------------------------------------------------- */

/* The tables of the ledger that can be exported, in order; NULL ends: "machines", "problems", "methods",
 * "runs", "metrics", "samples", "history", "crossings", "contact_errors". */
const char *const *ss_ledger_tables(void);
/* One table as RFC 4180 CSV with a line of names; n/a is an empty field. Rows in an order that does not
 * depend on the order of work. Written to `out` piece by piece. */
typedef bool ss_sink(const char *bytes, size_t size, void *context);
bool ss_ledger_csv(ss_ledger *ledger, const char *table, ss_sink *sink, void *context, ss_error *err);
/* All tables as one JSON object {"schema", "machines": [{...}], ...}. */
bool ss_ledger_json(ss_ledger *ledger, ss_sink *sink, void *context, ss_error *err);

#endif
