/* Which part of a campaign this process does: as the user says it, or as the program that started it does. */
#include "campaign/campaign.h"

#include "base/digest.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a launcher or a scheduler puts the number of a process, and how many there are. */
typedef struct numbering {
    const char *number, *count;
    const char *first;  /* variable with the least number; NULL: it is `origin` */
    const char *step;   /* variable with the distance of two numbers; NULL: it is 1 */
    const char *inside; /* only where this one is set do they number this process; NULL: always */
    int origin;
} numbering;

/* Launchers of ranks. A rank that mpirun has started under Slurm sees variables of Slurm that belong to
 * mpirun's own daemons, so that Slurm is asked last. A batch script has the number of tasks of its job and
 * the rank 0, although it is not one of these tasks: only srun sets SLURM_STEP_ID. */
static const numbering ranks[] = {
    {.number = "OMPI_COMM_WORLD_RANK", .count = "OMPI_COMM_WORLD_SIZE"},
    {.number = "PMI_RANK", .count = "PMI_SIZE"},
    {.number = "SLURM_PROCID", .count = "SLURM_NTASKS", .inside = "SLURM_STEP_ID"},
    {0}};

/* Arrays of jobs. PBS and GNU parallel do not tell how many there are. */
static const numbering arrays[] = {{.number = "SLURM_ARRAY_TASK_ID",
                                    .count = "SLURM_ARRAY_TASK_COUNT",
                                    .first = "SLURM_ARRAY_TASK_MIN",
                                    .step = "SLURM_ARRAY_TASK_STEP"},
                                   {.number = "PBS_ARRAY_INDEX", .count = "SS_SHARDS", .origin = 1},
                                   {.number = "PARALLEL_SEQ", .count = "SS_SHARDS", .origin = 1},
                                   {0}};

bool ss_campaign_read_shard(const char *text, int *shard, int *shards, ss_error *err)
{
    char first[16];
    size_t length = strcspn(text, "/");
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : 0), text);
    if (text[length] == '/' && ss_integer_read(first, shard) && ss_integer_read(text + length + 1, shards) &&
        *shard >= 1 && *shard <= *shards)
        return true;
    return ss_fail(err, SS_ERROR_USAGE,
                   "invalid value \"%s\" for --shard: expected auto, or I/N with I from 1 to "
                   "N, for instance 2/4",
                   text);
}

static bool read_variable(const char *name, int *value, ss_error *err)
{
    const char *text = getenv(name);
    return ss_integer_read(text, value) ||
           ss_fail(err, SS_ERROR_USAGE, "--shard auto: %s is \"%s\", not a whole number", name, text);
}

/* The first numbering whose variables are set: index from 0 and count; count 0 = there is none. Half of a
 * pair is an error: what is left undone because of it would not be noticed. */
static bool find_numbering(const numbering *list, int *index, int *count, ss_error *err)
{
    *index = *count = 0;
    for (const numbering *n = list; n->number; n++) {
        bool has_count = getenv(n->count) != NULL, shared = strcmp(n->count, "SS_SHARDS") == 0;
        if (n->inside && !getenv(n->inside)) continue;
        if (!getenv(n->number) && (!has_count || shared)) continue;
        if (!getenv(n->number) || !has_count)
            return ss_fail(err, SS_ERROR_USAGE, "--shard auto: %s is set, but %s is not%s",
                           has_count ? n->count : n->number, has_count ? n->number : n->count,
                           shared ? "; set it to the number of jobs" : "");

        int number, first = n->origin, step = 1;
        if (!read_variable(n->number, &number, err) || !read_variable(n->count, count, err) ||
            (n->first && getenv(n->first) && !read_variable(n->first, &first, err)) ||
            (n->step && getenv(n->step) && !read_variable(n->step, &step, err)))
            return false;

        // Numbers with gaps, 1,2,7, end here: each has to be one of `count` neighbours.
        long long offset = (long long)number - first;
        *index = step >= 1 && offset >= 0 && offset % step == 0 && offset / step < *count
                     ? (int)(offset / step)
                     : -1;
        if (*index >= 0) return true;
        return ss_fail(err, SS_ERROR_USAGE,
                       "--shard auto: %s is %d, which is not one of the %d numbers from %d on (%s) in steps "
                       "of %d",
                       n->number, number, *count, first, n->count, step);
    }
    return true;
}

bool ss_campaign_find_shard(int *shard, int *shards, ss_error *err)
{
    int rank, rank_count, job, job_count;
    if (!find_numbering(ranks, &rank, &rank_count, err) || !find_numbering(arrays, &job, &job_count, err))
        return false;
    if (rank_count == 0 && job_count == 0)
        return ss_fail(err, SS_ERROR_USAGE,
                       "--shard auto: none of these is set: SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT; "
                       "SLURM_PROCID, SLURM_NTASKS and SLURM_STEP_ID (by srun); OMPI_COMM_WORLD_RANK and "
                       "OMPI_COMM_WORLD_SIZE; PMI_RANK and PMI_SIZE; PBS_ARRAY_INDEX and SS_SHARDS; "
                       "PARALLEL_SEQ and SS_SHARDS");

    // Every job of an array may have ranks.
    long long ranks_each = rank_count > 0 ? rank_count : 1, jobs = job_count > 0 ? job_count : 1;
    if (ranks_each * jobs > INT32_MAX)
        return ss_fail(err, SS_ERROR_USAGE, "--shard auto: %lld jobs of %lld ranks are too many", jobs,
                       ranks_each);
    *shards = (int)(ranks_each * jobs);
    *shard = (int)(job * ranks_each + rank + 1);
    return true;
}

void ss_shard_of_text(const char *text, int *shard, int *shards)
{
    static const char flag[] = "--shard ", claim[] = "--claim";
    *shard = *shards = 1;
    for (const char *at = text; (at = strstr(at, claim)); at++) {
        bool begins = at == text || at[-1] == ' ' || at[-1] == '\n';
        if (begins && strchr(" \n", at[sizeof claim - 1])) *shard = *shards = 0;
    }
    if (*shards == 0) return;
    for (const char *at = text; (at = strstr(at, flag)); at++) {
        char word[32];
        const char *value = at + strlen(flag);
        size_t length = strcspn(value, " \n");
        int i, n;
        if ((at > text && at[-1] != ' ' && at[-1] != '\n') || length >= sizeof word) continue;
        snprintf(word, sizeof word, "%.*s", (int)length, value);
        if (ss_campaign_read_shard(word, &i, &n, NULL)) *shard = i, *shards = n;
    }
}

uint64_t ss_run_word(const ss_problem_entry *problem, const ss_method_entry *method)
{
    ss_digest digest = ss_digest_start();
    ss_digest_add_text(&digest, problem->hash);
    ss_digest_add_text(&digest, problem->place);
    ss_digest_add_text(&digest, method->key);
    return ss_digest_scramble(digest.a ^ digest.b, SS_ROOT_2, SS_ROOT_3);
}

bool ss_shard_has(int shard, int shards, const ss_problem_entry *problem, const ss_method_entry *method)
{
    return ss_run_word(problem, method) % (uint64_t)shards == (uint64_t)(shard - 1);
}

const char *ss_campaign_ledger_name(ss_campaign *campaign, const char *pattern, const char *word,
                                    ss_error *err)
{
    static const char mark[] = "%s";
    ss_text name = {0};
    char shard[32];
    snprintf(shard, sizeof shard, "%d-of-%d", campaign->shard, campaign->shards);
    for (const char *at; (at = strstr(pattern, mark)); pattern = at + strlen(mark))
        ss_text_appendf(&name, "%.*s%s", (int)(at - pattern), pattern, word ? word : shard);
    ss_text_append(&name, pattern);
    const char *copy =
        name.out_of_memory ? NULL : ss_campaign_copy(campaign, ss_text_get(&name), name.length, err);
    if (name.out_of_memory) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the campaign");
    ss_text_free(&name);
    return copy;
}
