#include "cli/terminal/describe.h"

static const char *name_of(int index)
{
    return ss_formulation_at(index)->name;
}

static void explain(ss_out *out, int index)
{
    const ss_formulation *formulation = ss_formulation_at(index);
    ss_text laws = {0};
    ss_describe_laws(&laws, formulation->laws);
    ss_describe_title(out, formulation->name, formulation->summary);
    ss_describe_item(out, "laws", ss_text_get(&laws));
    ss_describe_item(out, "reference", formulation->reference);
    ss_describe_options(out, "Options (--with NAME=VALUE)", formulation->options);
    ss_text_free(&laws);
}

static void add_row(ss_table *table, int index)
{
    const ss_formulation *formulation = ss_formulation_at(index);
    ss_text laws = {0};
    ss_describe_laws(&laws, formulation->laws);
    ss_table_add(table, "%s", formulation->name);
    ss_table_add(table, "%s", ss_text_get(&laws));
    ss_table_add(table, "%s", formulation->summary);
    ss_text_free(&laws);
}

static void put(ss_json *json, int index)
{
    const ss_formulation *formulation = ss_formulation_at(index);
    ss_json_member_text(json, "name", formulation->name);
    ss_json_member_text(json, "summary", formulation->summary);
    ss_json_member_text(json, "reference", formulation->reference);
    ss_describe_laws_json(json, "laws", formulation->laws);
    ss_describe_options_json(json, "options", formulation->options);
}

static int run_formulations(const ss_command *command)
{
    static const char *const headings[] = {"formulation", "laws", "summary"};
    static const unsigned char expendable[] = {1, 0}; // laws
    static const ss_listing listing = {
        .kind = "formulation",
        .plural = "formulations",
        .count = ss_formulation_count,
        .name = name_of,
        .headings = headings,
        .expendable = expendable,
        .columns = 3,
        .row = add_row,
        .explain = explain,
        .put = put,
        .more = "More: stickslip formulations NAME. Which solver fits: stickslip solvers --table."};
    return ss_listing_run(&listing, command);
}

static const ss_option table[] = {SS_LISTING_JSON_OPTION("formulation"), {0}};
static const ss_option_group groups[] = {
    {"Options", table, 0}, SS_EXTENSION_GROUP(ss_listing_options, extensions), SS_COMMON_GROUP};
static const ss_example examples[] = {{"formulations", "list all formulations"},
                                      {"formulations stewart-trinkle", "explain one of them and its options"},
                                      {0}};

const ss_verb ss_verb_formulations = {
    .name = "formulations",
    .summary = "list the formulations, or explain one",
    .arguments = "[FORMULATION]",
    .description = "A formulation turns a frame into a problem for a solver, and the solution back into "
                   "velocities and impulses. It determines the friction law and the treatment of gaps and "
                   "joint errors.\n\n"
                   "Without FORMULATION, lists all of them with the laws that occur in their problems; "
                   "with it, explains one with its options, ranges and defaults.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_listing_options),
    .run = run_formulations,
};
