#include "cli/arguments.h"

#include "base/words.h"

#include <stdio.h>
#include <string.h>

typedef struct place { /* of an option: its table entry, and the struct it describes */
    const ss_option *option;
    void *part;
} place;

typedef struct parser {
    const ss_verb *verb;
    char *options;
    char *const *words;
    int count, next;
    ss_given *given;
    int given_count;
    ss_error *err;
} parser;

/* Finds an option by its name, or by its letter when flag is NULL. The command line spells underscores as
 * hyphens. */
static place find(const parser *p, const char *flag, size_t length, char letter)
{
    for (const ss_option_group *group = p->verb->groups; group->table; group++)
        for (const ss_option *option = group->table; option->name; option++) {
            bool is_meant = flag ? strlen(option->name) == length : option->letter == letter;
            for (size_t i = 0; flag && is_meant && i < length; i++)
                is_meant =
                    (option->name[i] == '_' ? '-' : option->name[i]) == (flag[i] == '_' ? '-' : flag[i]);
            if (is_meant) return (place){option, p->options + group->offset};
        }
    return (place){NULL, NULL};
}

/* The entry is renamed to what the user sees, so that messages speak of --max-bodies. */
static bool set(parser *p, place found, const char *value)
{
    p->given[p->given_count++] = (ss_given){found.option, value};
    char flag[64] = "--";
    ss_option_flag(found.option, flag + 2, sizeof flag - 2);
    ss_option seen[2] = {*found.option, {0}};
    seen[0].name = flag;
    return ss_options_set(seen, found.part, flag, value, p->err) || ss_fail_in(p->err, "%s", p->verb->name);
}

/* One option, by its letter or its name: sets it to what follows "=", or to the next word. */
static bool parse_option(parser *p, const char *word)
{
    bool is_long = word[1] == '-';
    const char *name = word + 2, *equals = is_long ? strchr(name, '=') : NULL;
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    place found = is_long ? find(p, name, length, 0) : find(p, NULL, 0, word[1]);
    if (!is_long && word[2]) found.option = NULL;

    // --no-flag switches a flag off.
    if (!found.option && is_long && length > 3 && strncmp(name, "no-", 3) == 0 && !equals) {
        found = find(p, name + 3, length - 3, 0);
        if (found.option && found.option->type == SS_OPTION_BOOL) return set(p, found, "false");
        found.option = NULL;
    }
    if (!found.option) {
        char typed[64], meant[64];
        int shown = (int)length + 2; // without "=VALUE"
        name = word + strspn(word, "-");
        snprintf(typed, sizeof typed, "%.*s", shown - (int)(name - word), name);
        ss_nearest nearest = ss_nearest_start(typed);
        for (const ss_option_group *group = p->verb->groups; group->table; group++)
            for (const ss_option *option = group->table; option->name; option++)
                ss_nearest_offer(&nearest, option->name);
        if (!nearest.best)
            return ss_fail(p->err, SS_ERROR_USAGE, "%s: unknown option '%.*s'", p->verb->name, shown, word);
        ss_option_flag(&(ss_option){.name = nearest.best}, meant, sizeof meant);
        return ss_fail(p->err, SS_ERROR_USAGE, "%s: unknown option '%.*s'; did you mean --%s?", p->verb->name,
                       shown, word, meant);
    }

    if (equals) return set(p, found, equals + 1);
    if (found.option->type == SS_OPTION_BOOL) return set(p, found, "true");
    if (p->next == p->count)
        return ss_fail(p->err, SS_ERROR_USAGE, "%s: %s needs a value, %s", p->verb->name, word,
                       ss_option_value_name(found.option));
    return set(p, found, p->words[p->next++]);
}

bool ss_arguments_parse(const ss_verb *verb, int count, char *const *words, ss_command *command,
                        ss_error *err)
{
    char *options = ss_allocate(1, verb->options_size);
    const char **arguments = ss_allocate((size_t)count + 1, sizeof *arguments);
    ss_given *given = ss_allocate((size_t)count + 1, sizeof *given);
    command->verb = verb;
    command->options = options;
    command->arguments = arguments;
    command->given = given;
    if (!options || !arguments || !given) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    for (const ss_option_group *group = verb->groups; group->table; group++)
        ss_options_defaults(group->table, options + group->offset);

    // Options and arguments may be mixed; "-" alone is an argument, and so is everything after "--".
    parser p = {.verb = verb, .options = options, .words = words, .count = count, .given = given, .err = err};
    bool only_arguments = false;
    while (p.next < count) {
        const char *word = words[p.next++];
        if (only_arguments || word[0] != '-' || word[1] == '\0')
            arguments[command->argument_count++] = word;
        else if (strcmp(word, "--") == 0)
            only_arguments = true;
        else if (!parse_option(&p, word))
            return false;
    }
    command->given_count = p.given_count;
    if (((const ss_common_options *)command->options)->help) return true;

    // "[VERB]" is optional, "FILE" is not; "FILE..." is one or more, and comes last.
    int allowed = 0;
    for (const char *word = verb->arguments; *word; allowed++) {
        size_t length = strcspn(word, " ");
        if (allowed >= command->argument_count && *word != '[')
            return ss_fail(err, SS_ERROR_USAGE, "%s: no %.*s given", verb->name, (int)length, word);
        word += length + strspn(word + length, " ");
    }
    if (command->argument_count > allowed && !strstr(verb->arguments, "..."))
        return ss_fail(err, SS_ERROR_USAGE, "%s: unexpected argument '%s'", verb->name, arguments[allowed]);
    return true;
}

void ss_arguments_free(ss_command *command)
{
    ss_release((void *)command->options);
    ss_release((void *)command->arguments);
    ss_release((void *)command->given);
    command->options = NULL;
    command->given = NULL;
    command->arguments = NULL;
}
