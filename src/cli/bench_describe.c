/* `stickslip bench` before anything is read: the command line becomes a campaign. */
#include "cli/bench.h"

#include <string.h>
#include <sys/stat.h>

/* ---- flags --------------------------------------------------------------------------------------- */

static bool was_given(const ss_command *command, const char *name)
{
    for (int i = 0; i < command->given_count; i++)
        if (strcmp(command->given[i].option->name, name) == 0) return true;
    return false;
}

static bool choose(ss_campaign *campaign, const char *list, const char ***names, int *count, bool *all,
                   ss_error *err)
{
    *all = false;
    *names = ss_campaign_words(campaign, list, count, err);
    for (int i = 0; *names && i < *count; i++) *all |= strcmp((*names)[i], "all") == 0;
    return *names != NULL;
}

/* "psor.omega=1.3" */
static bool read_sweep(ss_campaign *campaign, const char *flag, const char *text, ss_option_sweep *sweep,
                       ss_error *err)
{
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
    char where[300];
    if (!dot || !equals || dot > equals || dot == text || equals == dot + 1)
        return ss_fail(err, SS_ERROR_USAGE, "invalid value \"%s\" for %s: expected %s.NAME=VALUE", text, flag,
                       strcmp(flag, "--set") == 0 ? "SOLVER" : "FORMULATION");
    snprintf(where, sizeof where, "%s %s", flag, text);
    sweep->values = ss_campaign_room(campaign, 1, sizeof *sweep->values, err);
    if (!sweep->values) return false;
    sweep->count = 1;
    sweep->values[0] = equals + 1;
    sweep->owner = ss_campaign_copy(campaign, text, (size_t)(dot - text), err);
    sweep->name = ss_campaign_copy(campaign, dot + 1, (size_t)(equals - dot - 1), err);
    sweep->where = ss_campaign_copy(campaign, where, strlen(where), err);
    return sweep->owner && sweep->name && sweep->where;
}

static bool read_sweeps(ss_campaign *campaign, const char *flag, const ss_option_list *list,
                        ss_option_sweep **sweeps, int *count, ss_error *err)
{
    *sweeps = ss_campaign_room(campaign, (size_t)list->count, sizeof **sweeps, err);
    *count = list->count;
    for (int i = 0; *sweeps && i < list->count; i++)
        if (!read_sweep(campaign, flag, list->items[i], &(*sweeps)[i], err)) return false;
    return *sweeps != NULL;
}

static bool read_methods(const ss_bench_options *options, ss_campaign *campaign, ss_error *err)
{
    ss_selection *selection = ss_campaign_room(campaign, 1, sizeof *selection, err);
    if (!selection) return false;
    selection->where = "";
    campaign->selections = selection;
    campaign->selection_count = !(options->run.recorded && strcmp(options->solvers, "none") == 0);
    return choose(campaign, options->solvers, &selection->solvers, &selection->solver_count,
                  &selection->all_solvers, err) &&
           choose(campaign, options->formulations, &selection->formulations, &selection->formulation_count,
                  &selection->all_formulations, err) &&
           read_sweeps(campaign, "--set", &options->set, &selection->set, &selection->set_count, err) &&
           read_sweeps(campaign, "--with", &options->with, &selection->with, &selection->with_count, err);
}

static bool read_files(const ss_command *command, ss_campaign *campaign, ss_error *err)
{
    const ss_bench_options *options = command->options;
    if (command->argument_count == 0)
        return ss_fail(err, SS_ERROR_USAGE, "no FILE given, and no --campaign FILE.json");
    campaign->sources =
        ss_campaign_room(campaign, (size_t)command->argument_count, sizeof *campaign->sources, err);
    for (int i = 0; campaign->sources && i < command->argument_count; i++)
        campaign->sources[campaign->source_count++] =
            (ss_campaign_source){command->arguments[i], options->frame, options->every};
    return campaign->sources != NULL;
}

/* The command as it could be typed again, but for quotes. */
static bool note_words(const ss_command *command, ss_campaign *campaign, ss_error *err)
{
    ss_text text = {0};
    ss_text_append(&text, "bench");
    for (int i = 0; i < command->argument_count; i++) ss_text_appendf(&text, " %s", command->arguments[i]);
    for (int i = 0; i < command->given_count; i++) {
        char flag[64];
        ss_option_flag(command->given[i].option, flag, sizeof flag);
        ss_text_appendf(&text, " --%s %s", flag, command->given[i].value);
    }
    campaign->text =
        text.out_of_memory ? NULL : ss_campaign_copy(campaign, ss_text_get(&text), text.length, err);
    ss_text_free(&text);
    return campaign->text || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the campaign");
}

/* ---- a file -------------------------------------------------------------------------------------- */

static bool refuse_beside_file(const ss_command *command, ss_error *err)
{
    static const char *const flags[] = {"solvers", "formulations", "set", "with", "plugin", "frame", "every"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (was_given(command, flags[i]))
            return ss_fail(err, SS_ERROR_USAGE,
                           "--%s cannot be combined with --campaign; set it in the "
                           "campaign file",
                           flags[i]);
    return command->argument_count == 0 ||
           ss_fail(err, SS_ERROR_USAGE,
                   "%s: FILE cannot be combined with --campaign; name it in the "
                   "campaign file",
                   command->arguments[0]);
}

/* Limits on the command line come before those of the file. */
static bool apply_flags(const ss_command *command, ss_campaign *campaign, ss_error *err)
{
    for (int i = 0; i < command->given_count; i++) {
        const ss_option *option = command->given[i].option;
        if (ss_options_find(ss_campaign_option_table, option->name) == option &&
            !ss_options_set(ss_campaign_option_table, &campaign->options, option->name,
                            command->given[i].value, err))
            return false;
    }
    return true;
}

/* ---- both ---------------------------------------------------------------------------------------- */

static bool check_output(const ss_bench_options *options, const ss_campaign *campaign, ss_error *err)
{
    struct stat in, out;
    if (!options->output) return ss_fail(err, SS_ERROR_USAGE, "no -o RESULTS.db given");
    if (stat(options->output, &out) != 0) return true;
    for (int i = 0; i < campaign->source_count; i++) {
        if (stat(campaign->sources[i].path, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return ss_fail(err, SS_ERROR_USAGE, "%s is an input file; choose another name for the output",
                           options->output);
    }
    return true;
}

static bool describe(const ss_command *command, ss_campaign *campaign, ss_error *err)
{
    const ss_bench_options *options = command->options;
    campaign->jobs = options->jobs;
    campaign->read = options->read;
    campaign->limits = options->limits;
    if (options->shard && !ss_campaign_read_shard(options->shard, &campaign->shard, &campaign->shards, err))
        return false;
    if (options->campaign)
        return refuse_beside_file(command, err) && ss_campaign_read(campaign, options->campaign, err) &&
               apply_flags(command, campaign, err);
    campaign->options = options->run;
    campaign->plugins = options->extensions.plugins;
    return read_files(command, campaign, err) && read_methods(options, campaign, err) &&
           note_words(command, campaign, err);
}

bool ss_bench_describe(const ss_command *command, ss_campaign *campaign, ss_error *err)
{
    const ss_bench_options *options = command->options;
    if (!ss_campaign_create(campaign, err)) return false;
    if (describe(command, campaign, err) && check_output(options, campaign, err)) return true;
    ss_campaign_free(campaign);
    return false;
}
