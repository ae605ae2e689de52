#include "cli/terminal/describe.h"

#include "base/words.h"
#include "cli/terminal/help.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_COLUMNS ((size_t)14)

/* ---- laws ---------------------------------------------------------------------------------------- */

void ss_describe_laws(ss_text *text, unsigned laws)
{
    const char *separator = "";
    for (unsigned law = 1; ss_law_name((ss_law)law); law *= 2) {
        if (!(laws & law)) continue;
        ss_text_appendf(text, "%s%s", separator, ss_law_name((ss_law)law));
        separator = ", ";
    }
}

void ss_describe_laws_json(ss_json *json, const char *key, unsigned laws)
{
    ss_json_key(json, key);
    ss_json_begin_array(json);
    for (unsigned law = 1; ss_law_name((ss_law)law); law *= 2) {
        if (laws & law) ss_json_string(json, ss_law_name((ss_law)law));
    }
    ss_json_end_array(json);
}

/* ---- options ------------------------------------------------------------------------------------- */

static const char *type_name(ss_option_type type)
{
    static const char *const names[] = {"bool", "int", "real", "choice", "text", "list"};
    return names[type];
}

static bool has_range(const ss_option *option)
{
    bool is_number = option->type == SS_OPTION_INT || option->type == SS_OPTION_REAL;
    return is_number && (option->min != 0.0 || option->max != 0.0);
}

void ss_describe_options(ss_out *out, const char *title, const ss_option *table)
{
    if (!table || !table->name) return;
    ss_text_appendf(&out->text, "\n%s%s%s\n", ss_out_style(out, SS_STYLE_HEADING), title,
                    ss_out_style(out, SS_STYLE_PLAIN));
    for (const ss_option *option = table; option->name; option++) {
        ss_text words = {0};
        ss_text_appendf(&out->text, "  %s\n", option->name);
        ss_help_option_words(&words, option);

        // What it may be set to.
        ss_text_append(&words, " Allowed: ");
        if (option->type == SS_OPTION_BOOL)
            ss_text_append(&words, "true or false");
        else if (option->type == SS_OPTION_CHOICE)
            ss_text_append(&words, option->choices);
        else if (has_range(option) && isinf(option->max))
            ss_text_appendf(&words, "%g or more", option->min);
        else if (has_range(option))
            ss_text_appendf(&words, "%g to %g", option->min, option->max);
        else
            ss_text_append(&words, type_name(option->type));
        ss_text_append(&words, ".");
        ss_help_wrap(&out->text, ss_text_get(&words), 6);
        ss_text_free(&words);
    }
}

void ss_describe_options_json(ss_json *json, const char *key, const ss_option *table)
{
    ss_json_key(json, key);
    ss_json_begin_array(json);
    for (const ss_option *option = table; option && option->name; option++) {
        bool limited = has_range(option);
        ss_json_begin_object(json);
        ss_json_member_text(json, "name", option->name);
        ss_json_member_text(json, "type", type_name(option->type));
        ss_json_member_text(json, "default", option->default_value);
        ss_json_key(json, "min"), limited ? ss_json_real(json, option->min) : ss_json_null(json);
        ss_json_key(json, "max"), limited ? ss_json_real(json, option->max) : ss_json_null(json);

        // "a|b|c" becomes ["a", "b", "c"].
        ss_json_key(json, "choices");
        if (option->type != SS_OPTION_CHOICE) {
            ss_json_null(json);
        } else {
            ss_json_begin_array(json);
            for (const char *choices = option->choices; *choices;) {
                char choice[64];
                size_t length = strcspn(choices, "|");
                snprintf(choice, sizeof choice, "%.*s", (int)length, choices);
                ss_json_string(json, choice);
                choices += length + (choices[length] == '|');
            }
            ss_json_end_array(json);
        }
        ss_json_member_text(json, "help", option->help);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}

/* ---- lines --------------------------------------------------------------------------------------- */

void ss_describe_title(ss_out *out, const char *name, const char *summary)
{
    ss_text clean = {0};
    ss_text_append_clean(&clean, summary);
    ss_text_appendf(&out->text, "%s%s%s - ", ss_out_style(out, SS_STYLE_HEADING), name,
                    ss_out_style(out, SS_STYLE_PLAIN));
    ss_text_wrap(&out->text, ss_text_get(&clean), clean.length, 0, ss_text_columns(name) + 3,
                 out->columns ? ss_out_line(out) : SIZE_MAX);
    ss_text_append(&out->text, "\n");
    out->text.out_of_memory |= clean.out_of_memory;
    ss_text_free(&clean);
}

void ss_describe_item(ss_out *out, const char *label, const char *words)
{
    if (!words) return;
    ss_text clean = {0};
    ss_text_append_clean(&clean, words);
    ss_text_appendf(&out->text, "  %-*s  ", (int)LABEL_COLUMNS, label);
    ss_text_wrap(&out->text, ss_text_get(&clean), clean.length, LABEL_COLUMNS + 4, LABEL_COLUMNS + 4,
                 ss_out_line(out));
    ss_text_free(&clean);
}

/* ---- verbs that list ------------------------------------------------------------------------------ */

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
