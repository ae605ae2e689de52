/* cli/describe.h - what there is: pieces of `stickslip solvers`, `formulations` and `metrics`. */
#ifndef SS_CLI_DESCRIBE_H
#define SS_CLI_DESCRIBE_H

#include "cli/verb.h"

/* "free, box, cone" */
void ss_describe_laws(ss_text *text, unsigned laws);
void ss_describe_laws_json(ss_json *json, const char *key, unsigned laws);

/* A heading and a line for each option with default, range and purpose; nothing when there are none. */
void ss_describe_options(ss_out *out, const char *title, const ss_option *table);
/* Key and array of {"name", "type", "default", "min", "max", "choices", "help"}. */
void ss_describe_options_json(ss_json *json, const char *key, const ss_option *table);

/* "  label      words", wrapped; nothing when words is NULL. */
void ss_describe_item(ss_out *out, const char *label, const char *words);
void ss_describe_title(ss_out *out, const char *name, const char *summary);

#endif
