/* `stickslip collection`: the certified collection of problems, built, listed, verified, cut down. */
#include "cli/interrupt.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/table.h"
#include "base/words.h"
#include "collection/copy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct collection_options {
    ss_common_options common;
    const char *output, *recipes, *where, *import, *ledger, *from;
    int subset, jobs;
    bool csv, json, replays, rerun;
} collection_options;
enum { SUBSET_FULL, SUBSET_SMALL };

typedef struct collecting {
    const ss_command *command;
    const collection_options *options;
    const char *word; /* the argument after the action: a folder, an id; NULL: none */
    ss_progress_line progress;
} collecting;

/* ---- while it goes on ------------------------------------------------------------------------------- */

static void show_progress(void *context, const char *what, int done, int total)
{
    collecting *c = context;
    ss_progress_line_show(&c->progress, what, done, total);
}

static void complain(void *context, const char *line)
{
    collecting *c = context;
    ss_progress_line_end(&c->progress);
    ss_complain("stickslip: %s", line);
}

static ss_collection_hooks listen(collecting *c)
{
    ss_interrupt_listen();
    c->progress = ss_progress_line_begin(c->command);
    return (ss_collection_hooks){
        .context = c, .progress = show_progress, .complain = complain, .stop = ss_interrupt_flag()};
}

static bool read_recipes(const collecting *c, ss_recipes *recipes, ss_error *err)
{
    if (!ss_recipes_read(recipes, c->options->recipes, err)) return false;
    if (!c->options->import || ss_recipes_import(recipes, c->options->import, err)) return true;
    ss_recipes_free(recipes);
    return false;
}

/* ---- build ------------------------------------------------------------------------------------------ */

static int build(collecting *c, ss_error *err)
{
    const collection_options *options = c->options;
    ss_recipes recipes;
    if (!options->output) {
        ss_fail(err, SS_ERROR_USAGE, "build: no -o FOLDER given");
        return ss_report(err);
    }
    if (!read_recipes(c, &recipes, err)) return ss_report(err);
    ss_build_summary summary;
    ss_build_options wish = {.folder = options->output,
                             .small = options->subset == SUBSET_SMALL,
                             .ledger = options->ledger,
                             .replays = options->replays,
                             .jobs = options->jobs};
    ss_collection_hooks hooks = listen(c);
    bool good = ss_collection_build(&recipes, &wish, &hooks, &summary, err);
    ss_progress_line_end(&c->progress);
    ss_recipes_free(&recipes);
    if (good && summary.interrupted) {
        ss_complain("stickslip: interrupted: %d problems are in %s; repeat the command to continue",
                    summary.problems, options->output);
        ss_interrupt_die();
    }
    if (!good) return ss_report(err);
    if (options->json) {
        ss_json json = {.text = &c->command->out->text};
        ss_json_begin_object(&json);
        ss_json_member_text(&json, "folder", options->output);
        ss_json_member_integer(&json, "sequences", summary.sequences);
        ss_json_member_integer(&json, "reused", summary.reused);
        ss_json_member_integer(&json, "outdated", summary.outdated);
        ss_json_member_integer(&json, "failed", summary.failed);
        ss_json_member_integer(&json, "problems", summary.problems);
        ss_json_member_integer(&json, "solvable", summary.solvable);
        ss_json_member_integer(&json, "proved", summary.proved);
        ss_json_end_object(&json);
        ss_text_append(&c->command->out->text, "\n");
    } else {
        ss_text_appendf(&c->command->out->text,
                        "%s: %d problems in %d sequences (%d reused); %d of %d solvable ones are certified "
                        "backward or better; %.1f MB of problems\n",
                        options->output, summary.problems, summary.sequences - summary.failed, summary.reused,
                        summary.proved, summary.solvable, summary.megabytes);
        if (summary.outdated)
            ss_command_say(c->command,
                           "%d sequences were made again: their recipe, or the program, has changed",
                           summary.outdated);
    }
    return summary.failed ? SS_EXIT_INPUT : SS_EXIT_DONE;
}

/* ---- list ------------------------------------------------------------------------------------------- */

/* What the recipes would make. */
static int list_recipes(const collecting *c, ss_error *err)
{
    ss_recipes recipes;
    if (c->options->where) {
        ss_fail(err, SS_ERROR_USAGE, "list: --where needs the FOLDER of a collection that was built");
        return ss_report(err);
    }
    if (!read_recipes(c, &recipes, err)) return ss_report(err);
    int sequences = 0, frames = 0;
    ss_table table = {.columns = 4, .left = 1};
    static const char *const heads[] = {"family", "sequences", "problems", "small"};
    for (int i = 0; i < 4; i++) ss_table_add(&table, "%s", heads[i]);
    for (int f = 0; f < recipes.family_count; f++) {
        int own = 0, problems = 0, small = 0;
        for (int s = 0; s < recipes.sequence_count; s++) {
            const ss_sequence *sequence = &recipes.sequences[s];
            if (strcmp(sequence->family, recipes.families[f].name) != 0) continue;
            own++;
            problems += sequence->frames;
            small += sequence->small ? sequence->frames : 0;
        }
        ss_table_add(&table, "%s", recipes.families[f].name);
        ss_table_add(&table, "%d", own), ss_table_add(&table, "%d", problems),
            ss_table_add(&table, "%d", small);
        sequences += own;
        frames += problems;
    }
    ss_text_appendf(&c->command->out->text, "recipes of %s %s:\n", recipes.name, recipes.version);
    ss_table_print(&table, c->command->out);
    ss_text_appendf(&c->command->out->text, "\n%d problems in %d sequences of %d families\n", frames,
                    sequences, recipes.family_count);
    ss_recipes_free(&recipes);
    return SS_EXIT_DONE;
}

static void print_rows(const collecting *c, const ss_collection_index *index, const ss_where *where)
{
    ss_text *text = &c->command->out->text;
    ss_json json = {.text = text};
    ss_table table = {.columns = 8, .left = 1, .expendable = (const unsigned char[]){6, 5, 3, 0}};
    static const char *const heads[] = {"problem", "contacts", "bodies", "rows",
                                        "sliding", "mu",       "rank",   "certificate"};
    int shown = 0;
    if (c->options->csv) ss_index_csv_head(text);
    if (c->options->json) {
        ss_json_begin_object(&json);
        ss_json_key(&json, "problems");
        ss_json_begin_array(&json);
    }
    for (int i = 0; i < table.columns; i++) ss_table_add(&table, "%s", heads[i]);
    for (int i = 0; i < index->count; i++) {
        const ss_collection_row *row = &index->rows[i];
        if (!ss_where_holds(where, row)) continue;
        shown++;
        if (c->options->csv) {
            ss_index_csv_row(text, row);
        } else if (c->options->json) {
            ss_index_json_row(&json, row);
        } else {
            ss_table_add(&table, "%s", row->id);
            ss_table_add(&table, "%d", row->contacts), ss_table_add(&table, "%d", row->bodies);
            ss_table_add(&table, "%d", row->rows);
            ss_table_add(&table, isnan(row->sliding) ? "-" : "%.2f", row->sliding);
            ss_table_add(&table, isnan(row->mu_most) ? "-" : "%.3g", row->mu_most);
            ss_table_add(&table, isnan(row->rank) ? "-" : "%.2f", row->rank);
            bool proved = ss_column_number(ss_column_find("level"), row) >= SS_CERTIFIED_BACKWARD;
            ss_table_add_styled(&table,
                                proved          ? SS_STYLE_GOOD
                                : row->solvable ? SS_STYLE_BAD
                                                : SS_STYLE_PLAIN,
                                row->solvable ? row->level : "no solution");
        }
        ss_out_drain(c->command->out);
    }
    if (c->options->json) {
        ss_json_end_array(&json);
        ss_json_end_object(&json);
        ss_text_append(text, "\n");
    }
    if (c->options->csv || c->options->json) {
        ss_text_free(&table.cells);
        return;
    }
    ss_table_print(&table, c->command->out);
    ss_text_appendf(text, "\n%d of %d problems\n", shown, index->count);
}

static int list(collecting *c, ss_error *err)
{
    if (!c->word) return list_recipes(c, err);
    ss_collection_index index = {0};
    ss_where *where = c->options->where ? ss_where_read(c->options->where, err) : NULL;
    bool good = (where || !c->options->where || ss_fail_in(err, "list: --where")) &&
                ss_collection_open(c->word, &index, err);
    if (good) print_rows(c, &index, where);
    ss_where_free(where);
    ss_index_free(&index);
    return good ? SS_EXIT_DONE : ss_report(err);
}

/* ---- verify ----------------------------------------------------------------------------------------- */

static int verify(collecting *c, ss_error *err)
{
    ss_verify_summary summary;
    if (!c->word) {
        ss_fail(err, SS_ERROR_USAGE, "verify: no FOLDER given");
        return ss_report(err);
    }
    ss_collection_hooks hooks = listen(c);
    bool good = ss_collection_verify(c->word, c->options->jobs, c->options->rerun, &hooks, &summary, err);
    ss_progress_line_end(&c->progress);
    if (!good) return ss_report(err);
    if (summary.interrupted) ss_interrupt_die();
    if (c->options->json) {
        ss_json json = {.text = &c->command->out->text};
        ss_json_begin_object(&json);
        ss_json_member_integer(&json, "files", summary.files);
        ss_json_member_integer(&json, "problems", summary.problems);
        ss_json_member_integer(&json, "faults", summary.faults);
        ss_json_end_object(&json);
        ss_text_append(&c->command->out->text, "\n");
        return summary.faults ? SS_EXIT_INPUT : SS_EXIT_DONE;
    }
    ss_text_appendf(&c->command->out->text, "%s: %d files, %d problems: %s", c->word, summary.files,
                    summary.problems, summary.faults ? "" : "all as built\n");
    if (summary.faults)
        ss_text_appendf(&c->command->out->text, "%d fault%s\n", summary.faults,
                        summary.faults == 1 ? "" : "s");
    return summary.faults ? SS_EXIT_INPUT : SS_EXIT_DONE;
}

/* ---- get, subset ------------------------------------------------------------------------------------ */

static int get(collecting *c, ss_error *err)
{
    const collection_options *options = c->options;
    ss_get_options wish = {.id = c->word, .folder = options->from, .output = options->output};
    ss_recipes recipes = {0};
    int count = 0;
    bool good = (c->word || ss_fail(err, SS_ERROR_USAGE, "get: no id given: expected FAMILY/SEQUENCE")) &&
                (options->output || ss_fail(err, SS_ERROR_USAGE, "get: no -o FILE given")) &&
                read_recipes(c, &recipes, err);
    if (!good) return ss_report(err);
    ss_collection_hooks hooks = listen(c);
    good = ss_collection_get(&recipes, &wish, &hooks, &count, err);
    ss_recipes_free(&recipes);
    if (*ss_interrupt_flag()) ss_interrupt_die();
    if (!good) {
        if (err->code == SS_ERROR_USAGE) ss_fail_in(err, "get");
        return ss_report(err);
    }
    ss_command_say(c->command, "wrote %s", options->output);
    return SS_EXIT_DONE;
}

static int subset(collecting *c, ss_error *err)
{
    const collection_options *options = c->options;
    ss_recipes recipes = {0};
    int count = 0;
    bool good = (c->word || ss_fail(err, SS_ERROR_USAGE, "subset: no FOLDER given")) &&
                (options->where || ss_fail(err, SS_ERROR_USAGE, "subset: no --where TEXT given")) &&
                (options->output || ss_fail(err, SS_ERROR_USAGE, "subset: no -o FOLDER given"));
    ss_where *where = good ? ss_where_read(options->where, err) : NULL;
    if (good && !where) good = ss_fail_in(err, "subset: --where");
    good = good && read_recipes(c, &recipes, err);
    if (good) {
        ss_subset_options wish = {
            .folder = c->word, .output = options->output, .where = where, .jobs = options->jobs};
        ss_collection_hooks hooks = listen(c);
        good = ss_collection_subset(&recipes, &wish, &hooks, &count, err);
        ss_progress_line_end(&c->progress);
        ss_recipes_free(&recipes);
    }
    ss_where_free(where);
    if (good && *ss_interrupt_flag()) ss_interrupt_die();
    if (!good) return ss_report(err);
    ss_text_appendf(&c->command->out->text, "%s: %d problems\n", options->output, count);
    return SS_EXIT_DONE;
}

/* ---- the verb --------------------------------------------------------------------------------------- */

static int run_collection(const ss_command *command)
{
    static const struct {
        const char *name;
        int (*run)(collecting *c, ss_error *err);
        const char *flags[8]; /* that it understands, beside --recipes and the common ones */
    } actions[] = {{"build", build, {"output", "subset", "import", "ledger", "jobs", "json", "replays"}},
                   {"list", list, {"where", "csv", "json", "import"}},
                   {"get", get, {"output", "from"}},
                   {"verify", verify, {"jobs", "json", "rerun"}},
                   {"subset", subset, {"where", "output", "jobs"}}};
    enum { ACTIONS = sizeof actions / sizeof *actions };
    collecting c = {.command = command,
                    .options = command->options,
                    .word = command->argument_count > 1 ? command->arguments[1] : NULL};
    ss_error err = {0};
    int action = 0;
    ss_unknown unknown = ss_unknown_start("action", command->arguments[0]);
    for (; action < ACTIONS && strcmp(command->arguments[0], actions[action].name) != 0; action++)
        ss_unknown_offer(&unknown, actions[action].name);
    if (action == ACTIONS) {
        ss_unknown_fail(&unknown, &err);
        ss_fail_in(&err, "collection");
        return ss_report(&err);
    }

    // A flag that another action understands would be ignored: better said.
    for (int i = 0; i < command->given_count; i++) {
        const ss_option *option = command->given[i].option;
        bool known =
            strcmp(option->name, "recipes") == 0 || ss_options_find(ss_common_option_table, option->name);
        for (int k = 0; actions[action].flags[k] && !known; k++)
            known = strcmp(actions[action].flags[k], option->name) == 0;
        if (known) continue;
        ss_fail(&err, SS_ERROR_USAGE, "collection: --%s is not an option of %s", option->name,
                actions[action].name);
        return ss_report(&err);
    }
    bool extra = command->argument_count > 2 || (action == 0 && c.word);
    if (extra) {
        ss_fail(&err, SS_ERROR_USAGE, "collection: %s: unexpected argument '%s'", actions[action].name,
                command->arguments[command->argument_count - 1]);
        return ss_report(&err);
    }
    return actions[action].run(&c, &err);
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, collection_options, output), .value_name = "FOLDER|FILE",
     .help = "build, subset: the folder to write; what build finds there is kept. get: the file.",
     .letter = 'o'},
    {SS_FLAG(CHOICE, collection_options, subset), .default_value = "full", .choices = "full|small",
     .help = "build: all problems, or the small ones for tests and teaching."},
    {SS_FLAG(TEXT, collection_options, where), .value_name = "TEXT",
     .help = "list, subset: only problems for which this holds: columns of the index, < <= > >= = != ~ "
             "(contains), and, or, not, brackets."},
    {SS_FLAG(TEXT, collection_options, from), .value_name = "FOLDER",
     .help = "get: copy from a collection that was built, instead of simulating the recipe."},
    {SS_FLAG(TEXT, collection_options, recipes), .value_name = "FOLDER",
     .help = "Use the *.recipe files of a folder instead of those of the program."},
    {SS_FLAG(TEXT, collection_options, import), .value_name = "FOLDER",
     .help = "build: also the BPMD and FCLIB files (.h5, .hdf5) of a folder, as family 'imported'."},
    {SS_FLAG(TEXT, collection_options, ledger), .value_name = "RESULTS.db",
     .help = "build: the ledger of a campaign on these problems, for the column 'hardness'."},
    {SS_FLAG(BOOL, collection_options, replays),
     .help = "build: also a replay of every sequence (view), which index.html links to; a megabyte each."},
    {SS_FLAG(INT, collection_options, jobs), .default_value = "0", .min = 0, .max = 1024, .value_name = "N",
     .help = "Number of worker processes; 0 = one per core.", .letter = 'j'},
    {SS_FLAG(BOOL, collection_options, rerun),
     .help = "verify: also run the second method of every certificate again, for 'agreed'."},
    {SS_FLAG(BOOL, collection_options, csv), .help = "list: print CSV with all columns."},
    {SS_FLAG(BOOL, collection_options, json), .help = "build, list, verify: print one JSON object."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"collection list", "the families of the recipes"},
    {"collection build --subset small -o small", "the small collection, in less than a minute"},
    {"collection list small --where \"contacts<100 and sliding>0.3\"", "what is in it"},
    {"collection get walls/brick-wall-12x3 -o wall.h5", "one sequence"},
    {"collection build -o full --import ../shared/data/fclib", "all of it, with files of your own"},
    {"collection verify full", "sums, hashes and proofs"},
    {"collection subset full --where \"family=rocks or rank<0.3\" -o hard", "a part, as a folder like it"},
    {0}};

const ss_verb ss_verb_collection = {
    .name = "collection",
    .summary = "build, list and verify the collection of problems",
    .arguments = "build|list|get|verify|subset [FOLDER|ID]",
    .description =
        "The collection is a set of contact problems to cite, as sequences of consecutive frames with "
        "certified answers. It consists of recipes: scene, parameters, seed, steps. build simulates them, "
        "proves an answer to every frame (as certify does), and writes files, an index and checksums; the "
        "same recipes give the same bytes on every machine of a kind. A build that was interrupted, even by "
        "kill -9, continues when the command is repeated.\n\n"
        "list shows the families of the recipes or, of a FOLDER that was built, its problems. get writes one "
        "sequence (FAMILY/SEQUENCE) or one problem (FAMILY/SEQUENCE/N) as a file. verify compares files with "
        "their sums, frames with the hashes of the index and rows of the index with the files, and proves "
        "the stored answers again. subset copies the problems for which --where holds to a folder of their "
        "own.\n\n"
        "docs/collection.md describes recipes, columns and files. The exit code is 3 if a sequence could not "
        "be built or if verify finds a fault.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(collection_options),
    .run = run_collection,
};
