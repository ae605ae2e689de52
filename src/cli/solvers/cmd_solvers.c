#include "campaign/compatibility.h"
#include "cli/terminal/describe.h"
#include "cli/solvers/solvers.h"
#include "cli/terminal/table.h"
#include "session/named.h"

typedef struct view {
    ss_out *out;
    ss_probes probes;
} view;

/* ---- one solver ---------------------------------------------------------------------------------- */

static const struct {
    unsigned trait;
    const char *name, *words;
} traits_known[] = {{SS_MATRIX_FREE, "matrix_free", "works without the matrix if bodies are known"},
                    {SS_NEEDS_SYMMETRIC, "needs_symmetric", "needs a symmetric matrix"},
                    {SS_NEEDS_DIAGONAL, "needs_diagonal", "needs a positive diagonal"},
                    {SS_EXACT, "exact", "ends on its own at a solution"},
                    {SS_WARM_STARTS, "warm_starts", "can start from a guess"},
                    {SS_SPINNING_CONES, "spinning_cones", "accepts sliding and spinning in one cone"}};
#define TRAIT_COUNT (sizeof traits_known / sizeof *traits_known)

static void append_traits(const ss_solver *solver, ss_text *words)
{
    for (size_t i = 0; i < TRAIT_COUNT; i++) {
        if (solver->traits & traits_known[i].trait)
            ss_text_appendf(words, "%s%s", words->length ? "; " : "", traits_known[i].words);
    }
}

static void append_formulations(const view *v, const ss_solver *solver, ss_text *words)
{
    for (int f = 0; f < ss_formulation_count(); f++) {
        const char *why;
        ss_compatibility compatible = ss_compatibility_of(&v->probes, solver, f, &why);
        if (compatible == SS_COMPATIBLE_NONE) continue;
        ss_text_appendf(words, "%s%s", words->length ? ", " : "", ss_formulation_at(f)->name);
        if (why)
            ss_text_appendf(words, " (%s)",
                            compatible == SS_COMPATIBLE_CONTACTS ? "without joints" : "no joint friction");
    }
    if (!words->length) ss_text_append(words, "none");
}

static void append_aliases(const ss_solver *solver, ss_text *words)
{
    const char *alias;
    for (int i = 0; (alias = ss_solver_alias(solver->name, i)); i++)
        ss_text_appendf(words, "%s%s", i ? ", " : "", alias);
}

static void print_one(const view *v, const ss_solver *solver)
{
    ss_text laws = {0}, formulations = {0}, traits = {0}, aliases = {0};
    ss_describe_laws(&laws, solver->laws);
    append_formulations(v, solver, &formulations);
    append_traits(solver, &traits);
    append_aliases(solver, &aliases);
    ss_describe_title(v->out, solver->name, solver->summary);
    ss_describe_item(v->out, "weakness", solver->weakness);
    ss_describe_item(v->out, "laws", ss_text_get(&laws));
    ss_describe_item(v->out, "formulations", ss_text_get(&formulations));
    ss_describe_item(v->out, "traits", traits.length ? ss_text_get(&traits) : NULL);
    ss_describe_item(v->out, "reference", solver->reference);
    ss_describe_item(v->out, "aliases", aliases.length ? ss_text_get(&aliases) : NULL);
    ss_describe_options(v->out, "Options (--set NAME=VALUE)", solver->options);
    ss_text_free(&laws);
    ss_text_free(&formulations);
    ss_text_free(&traits);
    ss_text_free(&aliases);
}

/* A cell of a table in Markdown, where a bar would end it. */
static void put_cell(ss_text *text, const char *words)
{
    for (; *words; words++) ss_text_appendf(text, *words == '|' ? "\\|" : "%c", *words);
}

static void put_row(ss_text *text, const char *name, const char *words)
{
    if (!words || !*words) return;
    ss_text_appendf(text, "| %s | ", name);
    put_cell(text, words);
    ss_text_append(text, " |\n");
}

/* The head of the solver's page in docs/solvers. */
static void print_markdown(const view *v, const ss_solver *solver)
{
    ss_text *text = &v->out->text, laws = {0}, formulations = {0}, traits = {0}, aliases = {0};
    ss_describe_laws(&laws, solver->laws);
    append_formulations(v, solver, &formulations);
    append_traits(solver, &traits);
    append_aliases(solver, &aliases);

    ss_text_appendf(text, "# %s\n\n*%s.*\n\n| | |\n| --- | --- |\n", solver->name, solver->summary);
    put_row(text, "laws", ss_text_get(&laws));
    put_row(text, "formulations", ss_text_get(&formulations));
    put_row(text, "traits", ss_text_get(&traits));
    put_row(text, "weakness", solver->weakness);
    put_row(text, "reference", solver->reference);
    put_row(text, "aliases", ss_text_get(&aliases));

    if (solver->options && solver->options->name)
        ss_text_append(text, "\n| option | default | range | |\n| --- | --- | --- | --- |\n");
    for (const ss_option *option = solver->options; option && option->name; option++) {
        ss_text_appendf(text, "| `%s` | %s | ", option->name,
                        option->default_value ? option->default_value : "");

        // "0.01 to 1.99", "a|b|c"; nothing where any value will do.
        if (option->type == SS_OPTION_CHOICE)
            put_cell(text, option->choices);
        else if (option->type == SS_OPTION_BOOL)
            ss_text_append(text, "true, false");
        else if (option->min != 0.0 || option->max != 0.0)
            ss_text_appendf(text, "%g to %g", option->min, option->max);
        ss_text_append(text, " | ");
        put_cell(text, option->help);
        ss_text_append(text, " |\n");
    }

    ss_text_free(&laws);
    ss_text_free(&formulations);
    ss_text_free(&traits);
    ss_text_free(&aliases);
}

/* ---- all solvers --------------------------------------------------------------------------------- */

static void print_list(const view *v)
{
    static const unsigned char expendable[] = {1, 0}; // laws
    ss_table table = {.columns = 3, .left = 3, .expendable = expendable};
    ss_table_add(&table, "solver"), ss_table_add(&table, "laws"), ss_table_add(&table, "summary");
    for (int i = 0; i < ss_solver_count(); i++) {
        const ss_solver *solver = ss_solver_at(i);
        ss_text laws = {0};
        ss_describe_laws(&laws, solver->laws);
        ss_table_add(&table, "%s", solver->name);
        ss_table_add(&table, "%s", ss_text_get(&laws));
        ss_table_add(&table, "%s", solver->summary);
        ss_text_free(&laws);
    }
    ss_table_print(&table, v->out);
    ss_text_append(&v->out->text, "\nMore (when it fails, options, reference): stickslip solvers NAME.\n");
}

static void print_matrix(const view *v)
{
    static const unsigned char expendable[] = {8, 7, 6, 5, 0}; // from the last formulation on
    ss_table table = {
        .columns = 1 + ss_formulation_count(), .left = 1 + ss_formulation_count(), .expendable = expendable};
    ss_table_add(&table, "solver");
    for (int f = 0; f < ss_formulation_count(); f++) ss_table_add(&table, "%s", ss_formulation_at(f)->name);
    for (int i = 0; i < ss_solver_count(); i++) {
        const ss_solver *solver = ss_solver_at(i);
        ss_table_add(&table, "%s", solver->name);
        for (int f = 0; f < ss_formulation_count(); f++) {
            const char *why;
            ss_table_add(&table, "%s",
                         ss_compatibility_name(ss_compatibility_of(&v->probes, solver, f, &why)));
        }
    }
    ss_table_print(&table, v->out);
    ss_text_append(&v->out->text,
                   "\ncontacts: frames with contacts only; joints: also with bilateral joints;\n"
                   "all: also with limits, motors and joint friction; -: none.\n");
}

static void put_list(const view *v, const ss_solver *only)
{
    ss_json json = {.text = &v->out->text};
    ss_json_begin_object(&json);
    ss_json_key(&json, "solvers");
    ss_json_begin_array(&json);
    for (int i = 0; i < ss_solver_count(); i++) {
        const ss_solver *solver = ss_solver_at(i);
        if (only && solver != only) continue;
        ss_json_begin_object(&json);
        ss_json_member_text(&json, "name", solver->name);
        ss_json_key(&json, "aliases");
        ss_json_begin_array(&json);
        const char *alias;
        for (int a = 0; (alias = ss_solver_alias(solver->name, a)); a++) ss_json_string(&json, alias);
        ss_json_end_array(&json);
        ss_json_member_text(&json, "summary", solver->summary);
        ss_json_member_text(&json, "weakness", solver->weakness);
        ss_json_member_text(&json, "reference", solver->reference);
        ss_describe_laws_json(&json, "laws", solver->laws);
        ss_json_key(&json, "traits");
        ss_json_begin_array(&json);
        for (size_t t = 0; t < TRAIT_COUNT; t++)
            if (solver->traits & traits_known[t].trait) ss_json_string(&json, traits_known[t].name);
        ss_json_end_array(&json);

        // Which problems of which formulations it accepts.
        ss_json_key(&json, "formulations");
        ss_json_begin_object(&json);
        for (int f = 0; f < ss_formulation_count(); f++) {
            const char *why;
            ss_compatibility compatible = ss_compatibility_of(&v->probes, solver, f, &why);
            ss_json_key(&json, ss_formulation_at(f)->name);
            ss_json_begin_object(&json);
            ss_json_key(&json, "contacts"), ss_json_bool(&json, compatible >= SS_COMPATIBLE_CONTACTS);
            ss_json_key(&json, "joints"), ss_json_bool(&json, compatible >= SS_COMPATIBLE_JOINTS);
            ss_json_key(&json, "limits"), ss_json_bool(&json, compatible >= SS_COMPATIBLE_ALL);
            ss_json_member_text(&json, "why", why);
            ss_json_end_object(&json);
        }
        ss_json_end_object(&json);
        ss_describe_options_json(&json, "options", solver->options);
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static int run_solvers(const ss_command *command)
{
    const ss_solvers_options *options = command->options;
    view v = {.out = command->out};
    ss_error err = {0};
    const ss_solver *only = NULL;
    bool good = ss_solvers_test_fits(command, &err) && ss_probes_make(&v.probes, &err);
    if (good && command->argument_count > 0) {
        only = ss_solver_named(command->arguments[0], &err);
        good = only != NULL || ss_fail_in(&err, "solvers");
    }

    // What is about one solver needs its name.
    if (good && !only && (options->markdown || options->convergence))
        good = ss_fail(&err, SS_ERROR_USAGE, "solvers: --%s needs SOLVER",
                       options->markdown ? "markdown" : "convergence");

    bool shown = good && !options->convergence && !options->test.test;
    if (good && options->convergence)
        good = ss_solvers_convergence(only, options->convergence, &err);
    else if (shown && options->json)
        put_list(&v, only);
    else if (shown && only && options->markdown)
        print_markdown(&v, only);
    else if (shown && only)
        print_one(&v, only);
    else if (shown && options->table)
        print_matrix(&v);
    else if (shown)
        print_list(&v);
    ss_probes_free(&v.probes);
    if (good && options->test.test) return ss_solvers_test(command, only);
    return good ? SS_EXIT_DONE : ss_report(&err);
}

static const ss_option table[] = {{SS_FLAG(BOOL, ss_solvers_options, table),
                                   .help = "Show which solvers accept the problems of which formulations."},
                                  {SS_FLAG(BOOL, ss_solvers_options, json),
                                   .help =
                                       "Print all properties of every solver, or the results of --test, as "
                                       "one JSON object."},
                                  {SS_FLAG(BOOL, ss_solvers_options, markdown),
                                   .help = "Print the properties of SOLVER as Markdown, as on its page in "
                                           "docs/solvers."},
                                  {SS_FLAG(TEXT, ss_solvers_options, convergence), .value_name = "FILE.svg",
                                   .help = "Draw how the error of SOLVER falls on three small problems."},
                                  {0}};
static const ss_option_group groups[] = {
    {"Options", table, 0},
    {"Testing a solver", ss_solvers_test_option_table, offsetof(ss_solvers_options, test)},
    SS_SOLVER_EXTENSION_GROUP(ss_solvers_options, extensions),
    SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"solvers", "list all solvers"},
    {"solvers nsgs", "explain one of them and its options"},
    {"solvers --table", "which solver fits which formulation"},
    {"solvers nsgs --test --quick", "check one on 58 small problems; with --plugin, one of your own"},
    {0}};

const ss_verb ss_verb_solvers = {
    .name = "solvers",
    .summary = "list the solvers, explain or test one",
    .arguments = "[SOLVER]",
    .description = "Without SOLVER, lists all of them with the laws they accept: free (a bilateral "
                   "equation), box (bounds), coupled (bounds that follow another unknown), cone "
                   "(Coulomb's law) and convex (its convex relaxation).\n\n"
                   "With SOLVER, explains one: when it fails, which formulations it fits, its options "
                   "with ranges and defaults, and where it was published.\n\n"
                   "With --test, a solver, yours or one of the library, is asked what every solver has to "
                   "hold: answers that an independent residual confirms, honest words about failures, limits "
                   "that are kept, the same bits twice and on several threads, other units and observers. It "
                   "runs in worker processes, so that a crash costs one problem. docs/plugins.md shows the "
                   "way from a first file to a solver that passes.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_solvers_options),
    .run = run_solvers,
};
