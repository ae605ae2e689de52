#include "cli/listing.h"

#include "base/words.h"

#include <string.h>

int ss_listing_find(const ss_listing *listing, const char *name, ss_error *err)
{
    ss_unknown unknown = ss_unknown_start(listing->kind, name);
    for (int i = 0; i < listing->count(); i++) {
        if (strcmp(listing->name(i), name) == 0) return i;
        ss_unknown_offer(&unknown, listing->name(i));
    }
    ss_unknown_fail(&unknown, err);
    return -1;
}

int ss_listing_run(const ss_listing *listing, const ss_command *command)
{
    const ss_listing_options *options = command->options;
    ss_text *text = &command->out->text;
    ss_error err = {0};
    int only = -1; // all of them
    if (command->argument_count > 0) {
        only = ss_listing_find(listing, command->arguments[0], &err);
        if (only < 0) {
            ss_fail_in(&err, "%s", listing->plural);
            return ss_report(&err);
        }
    }

    if (options->json) {
        ss_json json = {.text = text};
        ss_json_begin_object(&json);
        ss_json_key(&json, listing->plural);
        ss_json_begin_array(&json);
        for (int i = 0; i < listing->count(); i++) {
            if (only >= 0 && i != only) continue;
            ss_json_begin_object(&json);
            listing->put(&json, i);
            ss_json_end_object(&json);
        }
        ss_json_end_array(&json);
        ss_json_end_object(&json);
        ss_text_append(text, "\n");
    } else if (only >= 0) {
        listing->explain(command->out, only);
    } else {
        ss_table table = {
            .columns = listing->columns, .left = listing->columns, .expendable = listing->expendable};
        for (int c = 0; c < listing->columns; c++) ss_table_add(&table, "%s", listing->headings[c]);
        for (int i = 0; i < listing->count(); i++) listing->row(&table, i);
        ss_table_print(&table, command->out);
        ss_text_appendf(text, "\n%s\n", listing->more);
    }
    return SS_EXIT_DONE;
}
