/* cli/terminal/describe.h - what there is: lists of solvers, formulations, metrics and scenes, and
 * explanations of one of them. */
#ifndef SS_CLI_TERMINAL_DESCRIBE_H
#define SS_CLI_TERMINAL_DESCRIBE_H

#include "cli/extensions.h"
#include "cli/terminal/table.h"

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

/* ---- verbs that list what there is, or explain one: `metrics`, `formulations`, `scenes` ----------- */

/* The options of such a verb. */
typedef struct ss_listing_options {
    ss_common_options common;
    bool json;
    ss_extension_options extensions;
} ss_listing_options;
#define SS_LISTING_JSON_OPTION(of_all)                                             \
    {                                                                              \
        SS_FLAG(BOOL, ss_listing_options, json),                                   \
            .help = "Print all properties of every " of_all " as one JSON object." \
    }

/* Things by number, 0 .. count() - 1. */
typedef struct ss_listing {
    const char *kind; /* "metric"; the verb and the key of the array are its plural */
    const char *plural;
    int (*count)(void);
    const char *(*name)(int index);
    const char *const *headings; /* of the table, columns of them */
    int columns;
    const unsigned char *expendable; /* of them, see ss_table */
    void (*row)(ss_table *table, int index);
    void (*explain)(ss_out *out, int index);
    void (*put)(ss_json *json, int index); /* the members of its object */
    const char *more;                      /* a line below the table */
} ss_listing;

/* The number of the thing; fails with what was probably meant. */
int ss_listing_find(const ss_listing *listing, const char *name, ss_error *err);
/* The whole verb; its options are ss_listing_options. */
int ss_listing_run(const ss_listing *listing, const ss_command *command);

#endif
