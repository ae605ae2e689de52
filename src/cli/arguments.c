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

/* Is `flag` (of `length` characters) the command line's spelling of the option's name? */
static bool is_spelled(const ss_option *option, const char *flag, size_t length)
{
    if (strlen(option->name) != length) return false;
    for (size_t i = 0; i < length; i++)
        if ((option->name[i] == '_' ? '-' : option->name[i]) != (flag[i] == '_' ? '-' : flag[i]))
            return false;
    return true;
}

/* Finds an option by its name, or by its letter when flag is NULL. */
static place find(const parser *p, const char *flag, size_t length, char letter)
{
    for (const ss_option_group *group = p->verb->groups; group->table; group++)
        for (const ss_option *option = group->table; option->name; option++)
            if (flag ? is_spelled(option, flag, length) : option->letter == letter)
                return (place){option, p->options + group->offset};
    return (place){NULL, NULL};
}

static bool fail_unknown(const parser *p, const char *word, size_t length)
{
    const char *name = word + strspn(word, "-");
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)(length - (size_t)(name - word)), name);
    ss_nearest nearest = ss_nearest_start(typed);
    for (const ss_option_group *group = p->verb->groups; group->table; group++)
        for (const ss_option *option = group->table; option->name; option++)
            ss_nearest_offer(&nearest, option->name);
    if (!nearest.best)
        return ss_fail(p->err, SS_ERROR_USAGE, "%s: unknown option '%.*s'", p->verb->name, (int)length, word);
    char meant[64];
    ss_option_flag(&(ss_option){.name = nearest.best}, meant, sizeof meant);
    return ss_fail(p->err, SS_ERROR_USAGE, "%s: unknown option '%.*s'; did you mean --%s?", p->verb->name,
                   (int)length, word, meant);
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

/* Sets the option to what follows "=", or to the next word. */
static bool set_from_words(parser *p, place found, const char *word, const char *attached)
{
    if (attached) return set(p, found, attached);
    if (found.option->type == SS_OPTION_BOOL) return set(p, found, "true");
    if (p->next == p->count)
        return ss_fail(p->err, SS_ERROR_USAGE, "%s: %s needs a value, %s", p->verb->name, word,
                       ss_option_value_name(found.option));
    return set(p, found, p->words[p->next++]);
}

static bool parse_long(parser *p, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    place found = find(p, name, length, 0);
    if (found.option) return set_from_words(p, found, word, equals ? equals + 1 : NULL);
    if (length > 3 && strncmp(name, "no-", 3) == 0 && !equals) {
        found = find(p, name + 3, length - 3, 0);
        if (found.option && found.option->type == SS_OPTION_BOOL) return set(p, found, "false");
    }
    return fail_unknown(p, word, length + 2);
}

static bool parse_letter(parser *p, const char *word)
{
    place found = find(p, NULL, 0, word[1]);
    if (!found.option || word[2]) return fail_unknown(p, word, strlen(word));
    return set_from_words(p, found, word, NULL);
}

/* "[VERB]" is optional, "FILE" is not; "FILE..." is one or more, and comes last. */
static bool check_count(const ss_command *command, ss_error *err)
{
    const char *verb = command->verb->name;
    bool any = strstr(command->verb->arguments, "...") != NULL;
    int allowed = 0;
    for (const char *word = command->verb->arguments; *word; allowed++) {
        size_t length = strcspn(word, " ");
        if (allowed >= command->argument_count && *word != '[')
            return ss_fail(err, SS_ERROR_USAGE, "%s: no %.*s given", verb, (int)length, word);
        word += length + strspn(word + length, " ");
    }
    if (command->argument_count > allowed && !any)
        return ss_fail(err, SS_ERROR_USAGE, "%s: unexpected argument '%s'", verb,
                       command->arguments[allowed]);
    return true;
}

static bool parse_words(parser *p, const char **arguments, int *argument_count)
{
    bool only_arguments = false;
    while (p->next < p->count) {
        const char *word = p->words[p->next++];
        if (only_arguments || word[0] != '-' || word[1] == '\0') {
            arguments[(*argument_count)++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (!(word[1] == '-' ? parse_long(p, word) : parse_letter(p, word))) {
            return false;
        }
    }
    return true;
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

    parser p = {.verb = verb, .options = options, .words = words, .count = count, .given = given, .err = err};
    if (!parse_words(&p, arguments, &command->argument_count)) return false;
    command->given_count = p.given_count;
    if (((const ss_common_options *)command->options)->help) return true;
    return check_count(command, err);
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
