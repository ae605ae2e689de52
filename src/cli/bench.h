/* cli/bench.h - the parts of `stickslip bench`. */
#ifndef SS_CLI_BENCH_H
#define SS_CLI_BENCH_H

#include "campaign/execute.h"
#include "cli/extensions.h"
#include "cli/progress.h"

typedef struct ss_bench_options {
    ss_common_options common;
    const char *campaign, *solvers, *formulations, *frame, *shard, *output;
    ss_option_list set, with;
    ss_extension_options extensions;
    int every, jobs;
    bool json;
    ss_campaign_options run;
    ss_read_options read;
    ss_limits limits;
} ss_bench_options;

/* What the command line means: a campaign file, or flags. */
bool ss_bench_describe(const ss_command *command, ss_campaign *campaign, ss_error *err);

typedef struct ss_bench_progress {
    const ss_command *command;
    ss_progress_line line;
} ss_bench_progress;
/* The hooks of a campaign; the context is the progress. */
void ss_bench_progress_show(void *progress, const ss_campaign_state *state);
void ss_bench_say(void *progress, const char *line);
void ss_bench_complain(void *progress, const char *line);

/* What came of it: counts as JSON, or the standing of the methods. */
bool ss_bench_print(const ss_command *command, ss_ledger *ledger, const ss_campaign_summary *summary,
                    ss_error *err);

#endif
