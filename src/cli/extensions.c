#include "cli/extensions.h"

#include "plugin/plugin_set.h"

#include <string.h>

#define PLUGIN_OPTION                                                                                      \
    {                                                                                                      \
        SS_FLAG_AS("plugin", LIST, ss_extension_options, plugins),                                         \
            .value_name = "FILE.so",                                                                       \
            .help =                                                                                        \
                "Also load the solvers, formulations, metrics, scenes and user functions of this plug-in " \
                "(docs/plugins.md); repeatable. Its code runs inside the program."                         \
    }

const ss_option ss_extension_option_table[] = {PLUGIN_OPTION, {0}};

const ss_option ss_solver_extension_option_table[] = {
    PLUGIN_OPTION,
    {SS_FLAG_AS("solver_command", LIST, ss_extension_options, solver_commands),
     .value_name = "[NAME=]COMMAND",
     .help = "Also use this program as a solver: problems go to its standard input, iterates come from its "
             "standard output (docs/pipe.md); repeatable. Its name is that of the program unless NAME is "
             "given."},
    {0}};

/* Processes that solve, of one command. */
static ss_solver_command *commands[SS_OPTION_LIST_MOST];
static int command_count;

const char *ss_extension_solver(const ss_command *command)
{
    for (int i = 0; i < command->given_count; i++)
        if (strcmp(command->given[i].option->name, "solver") == 0) return NULL;
    return command_count > 0 ? ss_solver_command_solver(commands[0])->name : NULL;
}

const ss_extension_options *ss_extension_options_of(const ss_command *command)
{
    for (const ss_option_group *group = command->verb->groups; group->table; group++) {
        if (group->table == ss_extension_option_table || group->table == ss_solver_extension_option_table)
            return (const ss_extension_options *)((const char *)command->options + group->offset);
    }
    return NULL;
}

int ss_run_extended(const ss_command *command)
{
    static const ss_extension_options none = {0};
    const ss_extension_options *options = ss_extension_options_of(command);
    ss_plugin_set set = {0};
    ss_error err = {0};
    if (!options) options = &none;
    if (!command->verb->workers_load_plugins && !ss_plugin_set_open(&options->plugins, &set, &err))
        return ss_report(&err);

    // A command that does not start ends the run before it begins; those before it are closed.
    bool good = true;
    for (int i = 0; good && i < options->solver_commands.count; i++) {
        commands[i] = ss_solver_command_open(options->solver_commands.items[i], &err);
        good = commands[i] != NULL;
        command_count += good;
    }
    if (!good) ss_fail_in(&err, "--solver-command");

    int code = good ? command->verb->run(command) : ss_report(&err);
    while (command_count > 0) ss_solver_command_close(commands[--command_count]);
    ss_plugin_set_close(&set);
    return code;
}
