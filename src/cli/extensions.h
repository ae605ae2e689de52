/* cli/extensions.h - --plugin, for the verbs that take it. A verb has an ss_extension_options in its options
 * and SS_EXTENSION_GROUP in its groups; main loads what is named there before the verb runs, in the process
 * in which it runs, and unloads it afterwards. */
#ifndef SS_CLI_EXTENSIONS_H
#define SS_CLI_EXTENSIONS_H

#include "cli/verb.h"

typedef struct ss_extension_options {
    ss_option_list plugins, solver_commands;
} ss_extension_options;

extern const ss_option ss_extension_option_table[];
#define SS_EXTENSION_GROUP(owner, member)                                                  \
    {                                                                                      \
        "Solvers and more of your own", ss_extension_option_table, offsetof(owner, member) \
    }

/* The same with --solver-command, for verbs that solve. */
extern const ss_option ss_solver_extension_option_table[];
#define SS_SOLVER_EXTENSION_GROUP(owner, member)                                                  \
    {                                                                                             \
        "Solvers and more of your own", ss_solver_extension_option_table, offsetof(owner, member) \
    }
/* The name of the first --solver-command, if --solver itself was not given: it is meant. Else NULL. */
const char *ss_extension_solver(const ss_command *command);

/* NULL where a verb does not take any. */
const ss_extension_options *ss_extension_options_of(const ss_command *command);
/* The verb, with its plug-ins loaded; bench leaves that to its workers. */
int ss_run_extended(const ss_command *command);

#endif
