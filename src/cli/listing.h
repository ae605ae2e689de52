/* cli/listing.h - verbs that list what there is, or explain one of them: `metrics`,
 * `formulations`, `scenes`. */
#ifndef SS_CLI_LISTING_H
#define SS_CLI_LISTING_H

#include "cli/extensions.h"
#include "cli/table.h"
#include "cli/verb.h"

/* The options of such a verb. */
typedef struct ss_listing_options {
    ss_common_options common;
    bool json;
    ss_extension_options extensions;
} ss_listing_options;
#define SS_LISTING_JSON_OPTION(of_all)                                                        \
    {                                                                                         \
        .name = "json", .type = SS_OPTION_BOOL, .offset = offsetof(ss_listing_options, json), \
        .help = "Print all properties of every " of_all " as one JSON object."                \
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
