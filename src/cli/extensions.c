#include "cli/extensions.h"

#include "plugin/plugin_set.h"

const ss_option ss_extension_option_table[] = {
    {.name = "plugin",
     .type = SS_OPTION_LIST,
     .offset = offsetof(ss_extension_options, plugins),
     .value_name = "FILE.so",
     .help = "Also load the solvers, formulations, metrics, scenes and user functions of this plug-in "
             "(docs/plugins.md); repeatable. Its code runs inside the program."},
    {0}};

const ss_extension_options *ss_extension_options_of(const ss_command *command)
{
    for (const ss_option_group *group = command->verb->groups; group->table; group++) {
        if (group->table == ss_extension_option_table)
            return (const ss_extension_options *)((const char *)command->options + group->offset);
    }
    return NULL;
}

int ss_run_extended(const ss_command *command)
{
    const ss_extension_options *options = ss_extension_options_of(command);
    ss_plugin_set set = {0};
    ss_error err = {0};
    bool here = options && !command->verb->workers_load_plugins;
    if (here && !ss_plugin_set_open(&options->plugins, &set, &err)) return ss_report(&err);
    int code = command->verb->run(command);
    ss_plugin_set_close(&set);
    return code;
}
