#include "campaign/campaign.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

#define ARENA_BYTES ((size_t)16 * 1024)

#define FIELD(member) .offset = offsetof(ss_campaign_options, member)
const ss_option ss_campaign_option_table[] = {
    {.name = "stop",
     .type = SS_OPTION_TEXT,
     FIELD(stop),
     .default_value = SS_CAMPAIGN_STOP,
     .value_name = "RULE",
     .help = "A run has converged if METRIC<VALUE holds, as in solve; none = stop only at the limits of "
             "iterations and time."},
    SS_TOLERANCE_OPTION(FIELD(tolerance)),
    {.name = "iterations",
     .type = SS_OPTION_INT,
     FIELD(iterations),
     .default_value = "1000",
     .min = 0,
     .max = 1e9,
     .value_name = "N",
     .help = "Stop a run after this many iterations."},
    {.name = "time_limit",
     .type = SS_OPTION_REAL,
     FIELD(time_limit),
     .default_value = "10",
     .min = 0,
     .max = 1e9,
     .value_name = "seconds",
     .help = "Stop a run after this many seconds, measuring included; a solver that does not respond is "
             "killed. 0 = no limit: a solver that hangs is not stopped."},
    {.name = "keep",
     .type = SS_OPTION_TEXT,
     FIELD(keep),
     .default_value = "answer",
     .value_name = "WHICH",
     .help = "Iterate to judge: the solver's own answer, last, or best:GAUGE."},
    {.name = "seed",
     .type = SS_OPTION_INT,
     FIELD(seed),
     .default_value = "1",
     .min = 0,
     .max = 2147483647,
     .help = "Seed for methods that use random numbers."},
    {.name = "peg",
     .type = SS_OPTION_TEXT,
     FIELD(peg),
     .default_value = "select",
     .value_name = SS_PEG_MODES,
     .help =
         "BPMD, frames with alternatives (docs/peg.md): select one alternative per group; find it by trying "
         "all; contacts only; all alternatives as contacts."},
    {.name = "reference",
     .type = SS_OPTION_TEXT,
     FIELD(reference),
     .value_name = "SOLVER",
     .help = "Compute a reference answer for every frame with this solver, and measure the distance to it."},
    {.name = "repeats",
     .type = SS_OPTION_INT,
     FIELD(repeats),
     .default_value = "0",
     .min = 0,
     .max = 10000,
     .value_name = "N",
     .help = "Afterwards repeat every run this many times for timing, alone on one core."},
    {.name = "max_memory",
     .type = SS_OPTION_REAL,
     FIELD(max_memory),
     .default_value = "4000",
     .min = 0,
     .max = 1e9,
     .value_name = "MB",
     .help = "Memory limit of one run, in MB; exceeding it is recorded as an outcome. 0 = no limit."},
    {.name = "recorded",
     .type = SS_OPTION_BOOL,
     FIELD(recorded),
     .help = "BPMD: also judge the answers stored in the files, by the rules they were made with; they "
             "appear in the report as recorded. With --solvers none, only these."},
    {0}};

/* ---- memory -------------------------------------------------------------------------------------- */

bool ss_campaign_create(ss_campaign *campaign, ss_error *err)
{
    *campaign = (ss_campaign){.shard = 1, .shards = 1, .text = ""};
    campaign->arena = ss_arena_create(ARENA_BYTES, err);
    ss_options_defaults(ss_campaign_option_table, &campaign->options);
    ss_options_defaults(ss_read_option_table, &campaign->read);
    ss_options_defaults(ss_limits_table, &campaign->limits);
    return campaign->arena != NULL;
}

void ss_campaign_free(ss_campaign *campaign)
{
    ss_plugin_set_close(&campaign->loaded);
    ss_arena_destroy(campaign->arena);
    *campaign = (ss_campaign){0};
}

void *ss_campaign_room(ss_campaign *campaign, size_t count, size_t size, ss_error *err)
{
    void *room = ss_arena_take(campaign->arena, count, size, "campaign");
    if (!room) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the campaign");
    return room;
}

const char *ss_campaign_copy(ss_campaign *campaign, const char *text, size_t length, ss_error *err)
{
    char *copy = ss_campaign_room(campaign, length + 1, 1, err);
    if (copy) memcpy(copy, text, length);
    return copy;
}

/* ---- words of flags ------------------------------------------------------------------------------ */

const char **ss_campaign_words(ss_campaign *campaign, const char *list, int *count, ss_error *err)
{
    size_t most = 1;
    for (const char *at = list; *at; at++) most += *at == ',';
    const char **words = ss_campaign_room(campaign, most, sizeof *words, err);
    *count = 0;
    for (const char *at = list; words && *at;) {
        size_t blanks = strspn(at, " "), length = strcspn(at, ","), end = length;
        while (end > blanks && at[end - 1] == ' ') end--;
        if (end > blanks) {
            words[*count] = ss_campaign_copy(campaign, at + blanks, end - blanks, err);
            if (!words[(*count)++]) return NULL;
        }
        at += length + (at[length] == ',');
    }
    return words;
}

bool ss_campaign_read_shard(const char *text, int *shard, int *shards, ss_error *err)
{
    char first[16];
    size_t length = strcspn(text, "/");
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : 0), text);
    if (text[length] == '/' && ss_integer_read(first, shard) && ss_integer_read(text + length + 1, shards) &&
        *shard >= 1 && *shard <= *shards)
        return true;
    return ss_fail(err, SS_ERROR_USAGE,
                   "invalid value \"%s\" for --shard: expected I/N with I from 1 to "
                   "N, for instance 2/4",
                   text);
}

const char *ss_tolerance_rule(double tolerance, char rule[SS_TOLERANCE_RULE])
{
    char number[SS_NUMBER_TEXT];
    int length = ss_number_write(tolerance, number);
    snprintf(rule, SS_TOLERANCE_RULE, "relative_energy<%.*s", length, number);
    return rule;
}

const char *ss_campaign_stop(ss_campaign *campaign, ss_error *err)
{
    char rule[SS_TOLERANCE_RULE];
    if (campaign->options.tolerance <= 0) return campaign->options.stop;
    ss_tolerance_rule(campaign->options.tolerance, rule);
    return ss_campaign_copy(campaign, rule, strlen(rule), err);
}
