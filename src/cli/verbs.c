#include "cli/verb.h"

#include "base/text.h"
#include "base/words.h"

#include <string.h>

#define SS_VERB(name) extern const ss_verb ss_verb_##name;
#include "cli/verbs.def"
#undef SS_VERB

const ss_verb *const ss_verbs[] = {
#define SS_VERB(name) &ss_verb_##name,
#include "cli/verbs.def"
#undef SS_VERB
    NULL};

const ss_option ss_common_option_table[] = {
    {SS_FLAG(BOOL, ss_common_options, quiet),
     .help = "Print only errors to standard error: no progress, no notes.", .letter = 'q'},
    {SS_FLAG(BOOL, ss_common_options, help), .help = "Explain the verb and its options, then exit.",
     .letter = 'h'},
    {0}};

const ss_verb *ss_verb_find(const char *name)
{
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++)
        if (strcmp((*verb)->name, name) == 0) return *verb;
    return NULL;
}

const ss_verb *ss_verb_nearest(const char *name)
{
    ss_nearest nearest = ss_nearest_start(name);
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++) ss_nearest_offer(&nearest, (*verb)->name);
    return nearest.best ? ss_verb_find(nearest.best) : NULL;
}

void ss_option_flag(const ss_option *option, char *flag, size_t size)
{
    size_t i = 0;
    for (; option->name[i] && i + 1 < size; i++) flag[i] = option->name[i] == '_' ? '-' : option->name[i];
    flag[i] = '\0';
}

const char *ss_option_value_name(const ss_option *option)
{
    if (option->type == SS_OPTION_BOOL) return NULL;
    if (option->type == SS_OPTION_CHOICE) return option->choices;
    if (option->value_name) return option->value_name;
    if (option->type == SS_OPTION_LIST) return "NAME=VALUE";
    return option->type == SS_OPTION_TEXT ? "TEXT" : option->type == SS_OPTION_INT ? "N" : "X";
}

bool ss_command_is_quiet(const ss_command *command)
{
    return ((const ss_common_options *)command->options)->quiet;
}

void ss_command_say(const ss_command *command, const char *format, ...)
{
    if (ss_command_is_quiet(command)) return;
    va_list arguments;
    va_start(arguments, format);
    ss_talk(format, arguments);
    va_end(arguments);
}
