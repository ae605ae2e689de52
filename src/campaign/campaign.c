#include "campaign/campaign.h"

#include "base/number.h"
#include "base/option_rows.h"
#include "base/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ARENA_BYTES ((size_t)16 * 1024)

/* By the name of the field. */
#define ROW(kind, field, value) SS_ROW_OF(kind, ss_campaign_options, field, value)
const ss_option ss_campaign_option_table[] = {
    {ROW(SS_OPTION_TEXT, stop, SS_CAMPAIGN_STOP), .value_name = "RULE,...",
     .help = "A run has converged if METRIC<VALUE holds, as in solve; none = stop only at the limits of "
             "iterations and time. Several rules are a ladder: every method is run with each of them."},
    {SS_ROW_AS("tol", SS_OPTION_TEXT, ss_campaign_options, tolerances, NULL), .value_name = "T,...",
     .help = "Short for --stop relative_energy<T; several are a ladder, 0 = off."},
    {ROW(SS_OPTION_INT, iterations, "1000"), .min = 0, .max = 1e9, .value_name = "N",
     .help = "Stop a run after this many iterations."},
    {ROW(SS_OPTION_REAL, time_limit, "10"), .min = 0, .max = 1e9, .value_name = "seconds",
     .help = "Stop a run after this many seconds, measuring included; a solver that does not respond is "
             "killed. 0 = no limit: a solver that hangs is not stopped."},
    {ROW(SS_OPTION_TEXT, limit_by, NULL), .value_name = "SOLVER:FACTOR:LEAST:MOST",
     .help = "Limit all other solvers to FACTOR times the longest run of SOLVER on the same problem, but at "
             "least LEAST and at most MOST seconds; --time-limit then holds for SOLVER, which runs first."},
    {ROW(SS_OPTION_REAL, grace, "0"), .min = 0, .max = 1e9, .value_name = "seconds",
     .help = "Kill a solver that has not stopped this long after its time limit. 0 = twice the limit and "
             "3 s."},
    {ROW(SS_OPTION_CHOICE, clock, SS_CLOCK_WALL), .choices = SS_CLOCK_WALL "|" SS_CLOCK_PROCESSOR,
     .help = "Clock for times and time limits: wall time, or processor time, which other programs on the "
             "machine disturb less."},
    {ROW(SS_OPTION_TEXT, keep, "answer"), .value_name = "WHICH",
     .help = "Iterate to judge: the solver's own answer, last, or best:GAUGE."},
    {ROW(SS_OPTION_INT, seed, "1"), .min = 0, .max = 2147483647,
     .help = "Seed for methods that use random numbers."},
    {ROW(SS_OPTION_TEXT, peg, "select"), .value_name = SS_PEG_MODES,
     .help =
         "BPMD, frames with alternatives (docs/peg.md): select one alternative per group; find it by trying "
         "all; contacts only; all alternatives as contacts."},
    {ROW(SS_OPTION_TEXT, start, "cold"), .value_name = "cold|warm|own|shifted,...",
     .help =
         "BPMD: start every run from zero; from an accurate answer to the frame before, contacts matched; "
         "from the method's own answer to it; or from the accurate one without matching. Several: every "
         "method is run with each of them."},
    {ROW(SS_OPTION_TEXT, reference, NULL), .value_name = "SOLVER|certified",
     .help = "Compute a reference answer for every frame with this solver, and measure the distance to it. "
             "certified: an answer that is proved, as by certify."},
    {ROW(SS_OPTION_INT, repeats, "0"), .min = 0, .max = 10000, .value_name = "N",
     .help = "Afterwards repeat every run this many times for timing, alone on one core."},
    {ROW(SS_OPTION_INT, repeat_best, "0"), .min = 0, .max = 1e9, .value_name = "N",
     .help = "Of the methods of one solver that converged, repeat only the N fastest for each problem and "
             "stop rule. 0 = all."},
    {ROW(SS_OPTION_REAL, max_memory, "4000"), .min = 0, .max = 1e9, .value_name = "MB",
     .help = "Memory limit of one run, in MB; exceeding it is recorded as an outcome. 0 = no limit."},
    {ROW(SS_OPTION_BOOL, recorded, NULL),
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

const char *ss_tolerance_rule(double tolerance, char rule[SS_TOLERANCE_RULE])
{
    char number[SS_NUMBER_TEXT];
    int length = ss_number_write(tolerance, number);
    snprintf(rule, SS_TOLERANCE_RULE, "relative_energy<%.*s", length, number);
    return rule;
}

bool ss_campaign_starts(ss_campaign *campaign, ss_start starts[SS_START_COUNT], int *count, ss_error *err)
{
    int given = 0;
    const char **words = ss_campaign_words(campaign, campaign->options.start, &given, err);
    if (!words) return false;
    *count = 0;
    for (int i = 0; i < given; i++) {
        ss_unknown unknown = ss_unknown_start("start", words[i]);
        int start = 0, before = 0;
        for (; start < SS_START_COUNT && strcmp(ss_start_name((ss_start)start), words[i]) != 0; start++)
            ss_unknown_offer(&unknown, ss_start_name((ss_start)start));
        if (start == SS_START_COUNT) return ss_unknown_fail(&unknown, err);
        while (before < *count && starts[before] != (ss_start)start) before++;
        if (before == *count) starts[(*count)++] = (ss_start)start;
    }
    return *count > 0 || ss_fail(err, SS_ERROR_USAGE, "--start: expected cold, warm, own or shifted");
}

const char **ss_campaign_stops(ss_campaign *campaign, int *count, ss_error *err)
{
    const char *tolerances = campaign->options.tolerances;
    int given = 0;
    const char **words = tolerances ? ss_campaign_words(campaign, tolerances, &given, err) : NULL;
    if (tolerances && !words) return NULL;
    bool off = given == 1 && strcmp(words[0], "0") == 0;
    for (int i = 0; i < given && !off; i++) {
        char rule[SS_TOLERANCE_RULE];
        double tolerance;
        if (!ss_number_read(words[i], &tolerance) || !(tolerance > 0.0) || tolerance > 1.0) {
            ss_fail(
                err, SS_ERROR_USAGE,
                "invalid value \"%s\" for --tol: expected a number above 0 and at most 1, for instance 1e-4",
                words[i]);
            return NULL;
        }
        ss_tolerance_rule(tolerance, rule);
        words[i] = ss_campaign_copy(campaign, rule, strlen(rule), err);
        if (!words[i]) return NULL;
    }

    // Without tolerances, the stop rules.
    if (given == 0 || off) words = ss_campaign_words(campaign, campaign->options.stop, &given, err);
    if (words && given == 0) {
        ss_fail(err, SS_ERROR_USAGE, "invalid value \"%s\" for --stop: expected a rule, for instance %s",
                campaign->options.stop, SS_CAMPAIGN_STOP);
        return NULL;
    }

    *count = 0;
    for (int i = 0; words && i < given; i++) {
        bool twice = false;
        for (int k = 0; k < *count && !twice; k++) twice = strcmp(words[k], words[i]) == 0;
        if (!twice) words[(*count)++] = words[i];
    }
    return words;
}

bool ss_campaign_limit_rule(ss_campaign *campaign, ss_limit_rule *rule, ss_error *err)
{
    const char *text = campaign->options.limit_by;
    double numbers[3];
    *rule = (ss_limit_rule){0};
    if (!text || !*text) return true;
    size_t length = strcspn(text, ":");
    const char *at = text + length;
    bool good = length > 0;
    for (int i = 0; i < 3 && good; i++) {
        char number[SS_NUMBER_TEXT];
        size_t digits = *at == ':' ? strcspn(at + 1, ":") : 0;
        snprintf(number, sizeof number, "%.*s", (int)(digits < sizeof number ? digits : 0), at + 1);
        good = digits > 0 && ss_number_read(number, &numbers[i]) && numbers[i] > 0.0 && numbers[i] <= 1e9;
        at += digits + 1;
    }

    if (!good || *at || numbers[1] > numbers[2])
        return ss_fail(
            err, SS_ERROR_USAGE,
            "invalid value \"%s\" for --limit-by: expected SOLVER:FACTOR:LEAST:MOST with LEAST up to "
            "MOST in seconds, for instance auto:30:0.1:1",
            text);
    *rule =
        (ss_limit_rule){ss_campaign_copy(campaign, text, length, err), numbers[0], numbers[1], numbers[2]};
    return rule->solver != NULL;
}

double ss_limit_rule_apply(const ss_limit_rule *rule, double longest)
{
    if (!(longest >= 0.0)) return rule->most;
    return fmin(rule->most, fmax(rule->least, rule->factor * longest));
}
