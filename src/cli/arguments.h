/* cli/arguments.h - from argv to the options struct of a verb. */
#ifndef SS_CLI_ARGUMENTS_H
#define SS_CLI_ARGUMENTS_H

#include "cli/verb.h"

/* Understands --name value, --name=value, -l value, --flag, --no-flag and --. Fills command->options and
 * ->arguments (both to be released with ss_arguments_free); the number of arguments is checked unless
 * --help is among the options. The message of a failure names what was typed and, where one is near, what
 * was meant. */
bool ss_arguments_parse(const ss_verb *verb, int count, char *const *words, ss_command *command,
                        ss_error *err);
void ss_arguments_free(ss_command *command);

#endif
