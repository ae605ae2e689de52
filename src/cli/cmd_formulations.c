#include "cli/describe.h"
#include "cli/solver_set.h"
#include "cli/table.h"

typedef struct formulations_options {
    ss_common_options common;
    bool json;
} formulations_options;

static void print_one(ss_out *out, const ss_formulation *formulation)
{
    ss_text laws = {0};
    ss_describe_laws(&laws, formulation->laws);
    ss_describe_title(out, formulation->name, formulation->summary);
    ss_describe_item(out, "laws", ss_text_get(&laws));
    ss_describe_item(out, "warm start", formulation->guess ? "from the answer of another step" : "none");
    ss_describe_item(out, "reference", formulation->reference);
    ss_describe_options(out, "Options (--with NAME=VALUE)", formulation->options);
    ss_text_free(&laws);
}

static void print_list(ss_out *out)
{
    ss_table table = {.columns = 3, .left = 3};
    ss_table_add(&table, "formulation"), ss_table_add(&table, "laws"), ss_table_add(&table, "summary");
    for (int i = 0; i < ss_formulation_count(); i++) {
        const ss_formulation *formulation = ss_formulation_at(i);
        ss_text laws = {0};
        ss_describe_laws(&laws, formulation->laws);
        ss_table_add(&table, "%s", formulation->name);
        ss_table_add(&table, "%s", ss_text_get(&laws));
        ss_table_add(&table, "%s", formulation->summary);
        ss_text_free(&laws);
    }
    ss_table_print(&table, out);
    ss_text_append(
        &out->text,
        "\nstickslip formulations NAME tells more; stickslip solvers --table: which solver fits.\n");
}

static void put_list(ss_out *out, const ss_formulation *only)
{
    ss_json json = {.text = &out->text};
    ss_json_begin_object(&json);
    ss_json_key(&json, "formulations");
    ss_json_begin_array(&json);
    for (int i = 0; i < ss_formulation_count(); i++) {
        const ss_formulation *formulation = ss_formulation_at(i);
        if (only && formulation != only) continue;
        ss_json_begin_object(&json);
        ss_describe_text_json(&json, "name", formulation->name);
        ss_describe_text_json(&json, "summary", formulation->summary);
        ss_describe_text_json(&json, "reference", formulation->reference);
        ss_describe_laws_json(&json, "laws", formulation->laws);
        ss_json_key(&json, "warm_starts"), ss_json_bool(&json, formulation->guess != NULL);
        ss_describe_options_json(&json, "options", formulation->options);
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

static int run_formulations(const ss_command *command)
{
    const formulations_options *options = command->options;
    const ss_formulation *only = NULL;
    ss_error err = {0};
    if (command->argument_count > 0) {
        only = ss_formulation_named(command->arguments[0], &err);
        if (!only) {
            ss_fail_in(&err, "formulations");
            return ss_report(&err);
        }
    }
    if (options->json)
        put_list(command->out, only);
    else if (only)
        print_one(command->out, only);
    else
        print_list(command->out);
    return SS_EXIT_DONE;
}

static const ss_option table[] = {{.name = "json",
                                   .type = SS_OPTION_BOOL,
                                   .offset = offsetof(formulations_options, json),
                                   .help = "Print everything about every formulation as one JSON object."},
                                  {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {{"formulations", "what there is"},
                                      {"formulations stewart-trinkle", "one of them, with its options"},
                                      {0}};

const ss_verb ss_verb_formulations = {
    .name = "formulations",
    .summary = "list the formulations, or explain one",
    .arguments = "[FORMULATION]",
    .description =
        "A formulation turns a frame into a problem for a solver, and the solver's numbers back into "
        "velocities and "
        "impulses: it says which law of friction is meant, and what becomes of gaps and joint errors.\n\n"
        "Without FORMULATION all of them are listed with the laws that occur in their problems; with it, one "
        "is "
        "explained with its options, ranges and defaults.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(formulations_options),
    .run = run_formulations,
};
