/* `stickslip bench`: where it stands while it runs, and what came of it. */
#include "cli/bench.h"

#include "campaign/statistics.h"
#include "cli/ranking.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- progress ------------------------------------------------------------------------------------ */

void ss_bench_progress_show(void *context, const ss_campaign_state *state)
{
    ss_bench_progress *progress = context;
    char failed[48] = "", facts[96];
    if (!ss_progress_line_is_due(&progress->line, state->done)) return;
    double rate = state->seconds > 0 ? state->done / state->seconds : 0.0;
    if (state->failures > 0) snprintf(failed, sizeof failed, "%d failed, ", state->failures);
    snprintf(facts, sizeof facts, rate < 100 ? "%s%.3g/s" : "%s%.0f/s", failed, rate);
    ss_progress_line_tell(&progress->line, state->doing, state->done, state->total, facts);
}

void ss_bench_say(void *context, const char *line)
{
    ss_bench_progress *progress = context;
    ss_progress_line_end(&progress->line);
    ss_command_say(progress->command, "%s", line);
}

void ss_bench_complain(void *context, const char *line)
{
    ss_bench_progress *progress = context;
    ss_progress_line_end(&progress->line);
    ss_complain("stickslip: %s", line);
}

/* ---- the end ------------------------------------------------------------------------------------- */

static void print_json(const ss_command *command, const ss_campaign_summary *summary)
{
    const ss_bench_options *options = command->options;
    ss_json json = {.text = &command->out->text};
    ss_json_begin_object(&json);
    ss_json_key(&json, "ledger"), ss_json_string(&json, options->output);
    const struct {
        const char *name;
        int count;
    } counts[] = {{"problems", summary->problems},
                  {"faulty", summary->faulty},
                  {"methods", summary->methods},
                  {"runs", summary->runs},
                  {"before", summary->before},
                  {"done", summary->done},
                  {"missing", summary->runs - summary->before - summary->done},
                  {"timed", summary->samples},
                  {"recorded", summary->recorded},
                  {"assumed", summary->assumed}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ss_json_key(&json, counts[i].name), ss_json_integer(&json, counts[i].count);
    ss_json_key(&json, "outcomes");
    ss_json_begin_object(&json);
    for (int i = 0; i < SS_OUTCOME_COUNT; i++) {
        if (summary->outcomes[i] == 0) continue;
        ss_json_key(&json, ss_outcome_name((ss_outcome)i)), ss_json_integer(&json, summary->outcomes[i]);
    }
    ss_json_end_object(&json);
    ss_json_end_object(&json);
    ss_text_append(&command->out->text, "\n");
}

static bool print_standing(const ss_command *command, ss_ledger *ledger, ss_error *err)
{
    ss_results results = {0};
    ss_statistics statistics = {0};
    ss_statistics_options by = ss_statistics_defaults();
    bool good = ss_ledger_load(ledger, &results, err);
    if (good) ss_statistics_ask(&by, &results);
    good = good && ss_statistics_make(&results, &by, &statistics, err);
    if (good) ss_ranking_print(command->out, &results, &statistics);
    ss_statistics_free(&statistics);
    ss_results_free(&results);
    return good;
}

bool ss_bench_print(const ss_command *command, ss_ledger *ledger, const ss_campaign_summary *summary,
                    ss_error *err)
{
    const ss_bench_options *options = command->options;
    int missing = summary->runs - summary->before - summary->done;
    if (options->json)
        print_json(command, summary);
    else if (summary->problems > summary->faulty && !print_standing(command, ledger, err))
        return false;
    if (summary->problems == summary->faulty)
        ss_command_say(command, "nothing to solve: no file or frame can be used");
    else
        ss_command_say(command, "%s: %d of %d runs done (%d new, %d reused)%s", options->output,
                       summary->before + summary->done, summary->runs, summary->done, summary->before,
                       missing ? "; some runs could not be started" : "");
    return true;
}
