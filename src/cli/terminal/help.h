/* cli/terminal/help.h - help pages, made from the tables of the verbs. */
#ifndef SS_CLI_TERMINAL_HELP_H
#define SS_CLI_TERMINAL_HELP_H

#include "cli/verb.h"

extern const char ss_program_summary[];
/* {"0", "done"} and so on; ends with name = NULL */
typedef struct ss_meaning {
    const char *name, *meaning;
} ss_meaning;
extern const ss_meaning ss_exit_meanings[];
extern const ss_meaning ss_environment_meanings[]; /* the same for environment variables */

void ss_help_program(ss_out *out);
void ss_help_verb(ss_out *out, const ss_verb *verb);
/* The list of verbs, where none was given. */
void ss_help_verbs_on_stderr(void);

/* One paragraph, indented, in lines that fit a terminal. */
void ss_help_wrap(ss_text *text, const char *words, size_t indent);
/* "  name      words words words" with the words in a column of their own. */
void ss_help_entry(ss_text *text, const char *name, size_t name_columns, const char *words);

/* "-q, --quiet" or "--frame PATH|N", as help, man page and documentation show an option. */
void ss_help_option_head(ss_text *text, const ss_option *option);
/* What it does, and its default. */
void ss_help_option_words(ss_text *text, const ss_option *option);

#endif
