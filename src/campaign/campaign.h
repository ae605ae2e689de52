/* campaign/campaign.h - what to run: problems x methods, said by flags or by a JSON file
 * (docs/campaigns.md). */
#ifndef SS_CAMPAIGN_CAMPAIGN_H
#define SS_CAMPAIGN_CAMPAIGN_H

#include "base/text.h"
#include "campaign/ledger.h"

#include "plugin/plugin_set.h"

#include <stickslip/dataset.h>

/* What all runs share. The table gives the flags of `bench` and the keys of campaign files alike. */
typedef struct ss_campaign_options {
    /* One stop rule, or several separated by commas: a ladder, every method with each. `tolerances`: of
     * relative_energy, another way to say the same; NULL or "0" = not said */
    const char *stop, *tolerances;
    int iterations;
    double time_limit;    /* s */
    const char *limit_by; /* "SOLVER:FACTOR:LEAST:MOST", see ss_limit_rule; NULL = all have the same limit */
    double grace;         /* s beyond its limit after which a solver is killed; 0 = the usual */
    int clock;            /* SS_COUNT_WALL_TIME, SS_COUNT_PROCESSOR_TIME */
    const char *keep;
    int seed;
    const char *peg;       /* what is done about alternatives, as in ss_request */
    const char *start;     /* one ss_start, or several separated by commas: every method with each */
    const char *reference; /* solver of the true answer; NULL = none */
    int repeats;           /* timed alone, on a pinned core */
    int repeat_best;       /* only this many of the methods of one solver; 0 = all */
    double max_memory;     /* MB that one run may take; 0 = any */
    bool recorded;         /* judge the answers that are stored in the files as well */
} ss_campaign_options;
enum { SS_COUNT_WALL_TIME, SS_COUNT_PROCESSOR_TIME };
extern const ss_option ss_campaign_option_table[];

/* A file and which of its frames: those `frames` means (ss_choose_frames), of them every `every`-th. */
typedef struct ss_campaign_source {
    const char *path, *frames;
    int every;
} ss_campaign_source;

/* An option and the values it takes in turn. */
typedef struct ss_option_sweep {
    const char *owner; /* solver or formulation it is for; NULL = all of the selection */
    const char *name;
    const char **values;
    int count;
    const char *where; /* "study.json: methods[2].set.omega", "--set psor.omega=1.3" */
    bool used;
} ss_option_sweep;

/* formulations x solvers x values of options. */
typedef struct ss_selection {
    const char **formulations, **solvers;
    int formulation_count, solver_count;
    bool all_formulations, all_solvers;
    ss_option_sweep *with, *set;
    int with_count, set_count;
    const char *where; /* "study.json: methods[2]"; "" for flags */
} ss_selection;

typedef struct ss_campaign {
    ss_arena *arena; /* has all texts and arrays */
    ss_campaign_options options;
    ss_campaign_source *sources;
    int source_count;
    ss_selection *selections;
    int selection_count;
    ss_option_list plugins;
    /* Loaded here, too, once a worker has survived them, if they bring names that a campaign deals with:
     * formulations or metrics. Otherwise only workers load them. */
    ss_plugin_set loaded;
    ss_read_options read;
    ss_limits limits;
    const char *text;   /* what the user said: provenance */
    int jobs;           /* 0 = one per core */
    int shard, shards;  /* 1 of 1 */
    bool redo_outdated; /* runs of the ledger that another build of the program made are made again */
    /* Runs are handed out by the first shard (campaign/claim.h): the names of all ledgers, with %s; NULL =
     * runs are dealt beforehand */
    const char *claim;
} ss_campaign;

/* Empty, with defaults. */
bool ss_campaign_create(ss_campaign *campaign, ss_error *err);
void ss_campaign_free(ss_campaign *campaign);
/* Text and arrays in the campaign's arena; NULL with err when there is no memory. */
const char *ss_campaign_copy(ss_campaign *campaign, const char *text, size_t length, ss_error *err);
void *ss_campaign_room(ss_campaign *campaign, size_t count, size_t size, ss_error *err);
/* "a, b,c" to an array of texts; empty ones are left out. */
const char **ss_campaign_words(ss_campaign *campaign, const char *list, int *count, ss_error *err);
/* "1/4" */
bool ss_campaign_read_shard(const char *text, int *shard, int *shards, ss_error *err);
/* What mpirun, srun, the array of a scheduler or GNU parallel says in the environment (docs/campaigns.md).
 * The ranks of every job of an array are shards of their own. An error names the variables. */
bool ss_campaign_find_shard(int *shard, int *shards, ss_error *err);
/* The shard that the text of a campaign in a ledger names, "... --shard 2/8 ..."; 1 of 1 if it names none,
 * 0 of 0 if its runs were handed out one by one ("--claim"). */
void ss_shard_of_text(const char *text, int *shard, int *shards);
/* A run by what it is, in 64 bits. */
uint64_t ss_run_word(const ss_problem_entry *problem, const ss_method_entry *method);
/* Is the run part of the shard, by its name alone? For stored answers, whose methods are not known
 * beforehand; runs are dealt by what they cost (campaign/deal.h). */
bool ss_shard_has(int shard, int shards, const ss_problem_entry *problem, const ss_method_entry *method);
/* The pattern with the word, or the shard of the campaign, "2-of-8", wherever it has %s; in its arena. */
const char *ss_campaign_ledger_name(ss_campaign *campaign, const char *pattern, const char *word,
                                    ss_error *err);
/* Stricter than most need, so that a report can show several tolerances. */
#define SS_CAMPAIGN_STOP "relative_energy<1e-8"
/* The option --tol of bench, solve and run; `place` is the offset of its number. */
#define SS_TOLERANCE_OPTION(place)                                                              \
    {                                                                                           \
        .name = "tol", .type = SS_OPTION_REAL, place, .default_value = "0", .min = 0, .max = 1, \
        .value_name = "T", .help = "Short for --stop relative_energy<T; 0 = off."               \
    }
#define SS_TOLERANCE_RULE 64
/* The stop rule that --tol T is short for, "relative_energy<T". */
const char *ss_tolerance_rule(double tolerance, char rule[SS_TOLERANCE_RULE]);
/* The stop rules that are meant, one or more, each once; NULL with err when a tolerance is not a number. */
const char **ss_campaign_stops(ss_campaign *campaign, int *count, ss_error *err);

/* The starts that are meant, one or more, each once. False with err when a word is none. */
bool ss_campaign_starts(ss_campaign *campaign, ss_start starts[SS_START_COUNT], int *count, ss_error *err);

/* Runs of other solvers may take `factor` times the longest run of `solver` on the same problem, but at least
 * `least` and at most `most` seconds. `solver` itself has the time limit of the campaign. */
typedef struct ss_limit_rule {
    const char *solver; /* NULL: there is no such rule */
    double factor, least, most;
} ss_limit_rule;
bool ss_campaign_limit_rule(ss_campaign *campaign, ss_limit_rule *rule, ss_error *err);
/* s; `longest`: of the runs of rule->solver, NaN = it has none that ended. */
double ss_limit_rule_apply(const ss_limit_rule *rule, double longest);

/* Reads a campaign file. Messages name line and column, or the key: "c.json: methods[2].set.omega: ...". */
bool ss_campaign_read(ss_campaign *campaign, const char *path, ss_error *err);
/* The same of a text; `path` is for messages, and for the folder of the files that it names. */
bool ss_campaign_read_text(ss_campaign *campaign, const char *text, size_t length, const char *path,
                           ss_error *err);

/* ---- selections to methods ----------------------------------------------------------------------- */

/* The solvers there are, plug-ins included, as a worker tells. */
typedef struct ss_catalogue_entry {
    char *name;
    int plugin;    /* index of its file; -1 = of the library, or registered beforehand */
    char *accepts; /* of each formulation, in the order of their list: '1' some of its problems, '0' none */
    bool starts;   /* it uses where it starts from */
} ss_catalogue_entry;
typedef struct ss_catalogue {
    ss_catalogue_entry *entries;
    int count;
} ss_catalogue;
const ss_catalogue_entry *ss_catalogue_find(const ss_catalogue *catalogue, const char *solver);

typedef struct ss_planned_method {
    const char *formulation, *solver, *stop;
    ss_start start;
    ss_option_list with, set;      /* "name=value" */
    const ss_selection *selection; /* that it is of: says where in the campaign names and options stand */
    ss_method_entry entry;         /* filled in by the worker that tries it out */
} ss_planned_method;

/* Every method that is meant. Pairs whose laws never fit are left out and listed in `left_out`. Names are not
 * checked here: ss_method_prepare does so. */
bool ss_campaign_expand(ss_campaign *campaign, const ss_catalogue *catalogue, ss_planned_method **methods,
                        int *count, ss_text *left_out, ss_error *err);

#endif
