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
    {0}};

double ss_input_max_memory(const ss_command *command)
{
    const char *options = command->options;
    for (const ss_option_group *group = command->verb->groups; group->table; group++)
        if (group->table == ss_input_option_table)
            return ((const ss_input_options *)(const void *)(options + group->offset))->max_memory;
    return 0;
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

/* ---- progress ------------------------------------------------------------------------------------ */

ss_progress_line ss_progress_line_begin(const ss_command *command)
{
    return (ss_progress_line){.on = isatty(STDERR_FILENO) && !ss_command_is_quiet(command),
                              .next = ss_clock_seconds() + 1.0};
}

static void show(const char *line)
{
    if (write(STDERR_FILENO, line, strlen(line)) < 0) return; // nobody is looking
}

void ss_progress_line_show(ss_progress_line *progress, const char *what, int done, int total)
{
    if (!progress->on || ss_clock_seconds() < progress->next) return;
    char line[120];
    snprintf(line, sizeof line, "\r\033[K%s %d of %d", what, done, total);
    show(line);
    progress->shown = true;
    progress->next = ss_clock_seconds() + 0.1;
}

void ss_progress_line_end(ss_progress_line *progress)
{
    if (progress->shown) show("\r\033[K");
}
