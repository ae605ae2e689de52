#include "cli/input.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const ss_option ss_input_option_table[] = {
    {.name = "max_memory",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_input_options, max_memory),
     .default_value = "0",
     .max = 1e9,
     .value_name = "MB",
     .help = "Memory limit of the process that reads the file, in MB of address space; 0 = no limit."},
    {.name = "max_time",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_input_options, max_time),
     .default_value = "0",
     .max = 1e9,
     .value_name = "seconds",
     .help = "Time limit of the whole run, for files that are not trusted; 0 = no limit."},
    {0}};

const ss_input_options *ss_input_options_of(const ss_command *command)
{
    const char *options = command->options;
    for (const ss_option_group *group = command->verb->groups; group->table; group++)
        if (group->table == ss_input_option_table) return (const void *)(options + group->offset);
    return NULL;
}

const char *ss_input_split(const char *message, const char *path, char *place, size_t size)
{
    size_t length = strlen(path);
    if (strncmp(message, path, length) == 0 && strncmp(message + length, ": ", 2) == 0) message += length + 2;
    const char *colon = message[0] == '/' ? strstr(message, ": ") : NULL;
    if (!colon) return message;
    snprintf(place, size, "%.*s", (int)(colon - message), message);
    return colon + 2;
}
