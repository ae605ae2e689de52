/* `stickslip bench`: where it stands while it runs, and what came of it. */
#include "cli/bench.h"

#include "campaign/statistics.h"
#include "cli/ranking.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_COLUMNS 24
#define SECONDS_BETWEEN_BARS 0.1
#define SECONDS_BETWEEN_LINES 10.0

/* ---- progress ------------------------------------------------------------------------------------ */

ss_bench_progress ss_bench_progress_begin(const ss_command *command)
{
    bool terminal = isatty(STDERR_FILENO);
    return (ss_bench_progress){.command = command,
                               .on = !ss_command_is_quiet(command),
                               .terminal = terminal,
                               .next = ss_clock_seconds() + (terminal ? 0.5 : SECONDS_BETWEEN_LINES)};
}

static void put(const char *line)
{
    if (write(STDERR_FILENO, line, strlen(line)) < 0) return; // nobody is looking
}

static void wipe(ss_bench_progress *progress)
{
    if (progress->shown) put("\r\033[K");
    progress->shown = false;
}

static void write_duration(double seconds, char *text, size_t size)
{
    if (seconds < 100)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

static void write_counts(const ss_campaign_state *state, char *text, size_t size)
{
    char left[32] = "";
    double rate = state->seconds > 0 ? state->done / state->seconds : 0.0;
    int length = snprintf(text, size, "%d/%d", state->done, state->total);
    if (state->failures > 0 && length > 0 && (size_t)length < size)
        length += snprintf(text + length, size - (size_t)length, ", %d failed", state->failures);
    if (rate > 0 && length > 0 && (size_t)length < size) {
        write_duration((state->total - state->done) / rate, left, sizeof left);
        snprintf(text + length, size - (size_t)length, rate < 100 ? ", %.3g/s, %s left" : ", %.0f/s, %s left",
                 rate, left);
    }
}

static void draw_bar(const ss_campaign_state *state, const char *counts)
{
    char bar[BAR_COLUMNS + 1], line[240];
    int full = state->total > 0 ? (int)((double)BAR_COLUMNS * state->done / state->total) : 0;
    for (int i = 0; i < BAR_COLUMNS; i++) bar[i] = i < full ? '#' : '.';
    bar[BAR_COLUMNS] = '\0';
    snprintf(line, sizeof line, "\r\033[K%s [%s] %s", state->doing, bar, counts);
    put(line);
}

void ss_bench_progress_show(void *context, const ss_campaign_state *state)
{
    ss_bench_progress *progress = context;
    char counts[120];
    if (!progress->on || ss_clock_seconds() < progress->next) return;
    progress->next = ss_clock_seconds() + (progress->terminal ? SECONDS_BETWEEN_BARS : SECONDS_BETWEEN_LINES);
    write_counts(state, counts, sizeof counts);
    if (progress->terminal)
        draw_bar(state, counts);
    else
        ss_complain("%s: %s", state->doing, counts);
    progress->shown = progress->terminal;
}

void ss_bench_say(void *context, const char *line)
{
    ss_bench_progress *progress = context;
    wipe(progress);
    ss_command_say(progress->command, "%s", line);
}

void ss_bench_complain(void *context, const char *line)
{
    wipe(context);
    ss_complain("stickslip: %s", line);
}

void ss_bench_progress_end(ss_bench_progress *progress)
{
    wipe(progress);
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
