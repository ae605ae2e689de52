/* cli/verb.h - what a verb of the command line is. A verb is one constant: its texts, its option tables and
 * its run function. Parsing, help, man page and shell completion all come from it. A new verb is a file
 * cmd_<verb>.c that ends with `const ss_verb ss_verb_<verb>` and a line in verbs.def. */
#ifndef SS_CLI_VERB_H
#define SS_CLI_VERB_H

#include <stickslip/stickslip.h>

#include "cli/terminal/output.h"

/* Exit codes beside those of ss_error_exit_code. */
#define SS_EXIT_DONE 0
#define SS_EXIT_FOUND 1
#define SS_EXIT_USAGE 2
#define SS_EXIT_INPUT 3
#define SS_EXIT_RESOURCES 4

/* What every verb understands; the struct of a verb's options starts with it. */
typedef struct ss_common_options {
    bool help, quiet;
} ss_common_options;

/* One table of options that describes a part of the verb's struct. */
typedef struct ss_option_group {
    const char *title;      /* heading in the help; NULL = goes on under the heading before */
    const ss_option *table; /* NULL ends the list of groups */
    size_t offset;          /* of the part, in the verb's struct */
} ss_option_group;

/* How a row of such a table begins: {SS_FLAG(TEXT, judge_options, frame), .help = ...} is --frame, stored in
 * the field of that name; SS_FLAG_AS names it otherwise. */
#define SS_FLAG(kind, holder, field) SS_FLAG_AS(#field, kind, holder, field)
#define SS_FLAG_AS(title, kind, holder, field) \
    .name = title, .type = SS_OPTION_##kind, .offset = offsetof(holder, field)

extern const ss_option ss_common_option_table[];
/* Ends every list of groups. */
#define SS_COMMON_GROUP                            \
    {"Common options", ss_common_option_table, 0}, \
    {                                              \
        0                                          \
    }

typedef struct ss_example {
    const char *command; /* without the leading "stickslip " */
    const char *purpose; /* half a sentence */
} ss_example;

typedef struct ss_command ss_command;

typedef struct ss_verb {
    const char *name;
    const char *summary;        /* one line, for the list of verbs */
    const char *arguments;      /* "FILE", "IN OUT", "[VERB]": the words in brackets may be left out */
    const char *description;    /* plain paragraphs, a blank line between them */
    const ss_example *examples; /* ends with command = NULL */
    const ss_option_group *groups;
    size_t options_size;
    bool reads_files;                      /* runs in a process of its own (sandbox.h) */
    bool workers_load_plugins;             /* main does not (extensions.h) */
    int (*run)(const ss_command *command); /* returns the exit code */
} ss_verb;

/* One option as it was typed. */
typedef struct ss_given {
    const ss_option *option; /* of the verb's tables */
    const char *value;
} ss_given;

/* One call of the program, parsed. */
struct ss_command {
    const ss_verb *verb;
    const void *options; /* the verb's struct */
    const char *const *arguments;
    int argument_count;
    const ss_given *given; /* in the order of the command line */
    int given_count;
    ss_out *out; /* standard output; finished by main */
};

extern const ss_verb *const ss_verbs[]; /* in the order of verbs.def; ends with NULL */
const ss_verb *ss_verb_find(const char *name);
/* The verb whose name is meant by a mistyped one, or NULL. */
const ss_verb *ss_verb_nearest(const char *name);

/* "max_bodies" of a table is "max-bodies" on the command line. Writes at most size bytes. */
void ss_option_flag(const ss_option *option, char *flag, size_t size);
/* What help shows for the value: "N", "seconds", "a|b|c"; NULL for a flag without one. */
const char *ss_option_value_name(const ss_option *option);

/* Talk of one command: silent with --quiet. */
void ss_command_say(const ss_command *command, const char *format, ...) SS_PRINTF(2, 3);
bool ss_command_is_quiet(const ss_command *command);

#endif
