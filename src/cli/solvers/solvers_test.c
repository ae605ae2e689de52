/* stickslip solvers NAME --test: the conformance suite for the authors of solvers. */
#include "base/file.h"
#include "campaign/machine.h"
#include "cli/interrupt.h"
#include "cli/terminal/progress.h"
#include "cli/solvers/solvers.h"
#include "cli/terminal/table.h"
#include "conformance/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 5 };                        /* failures of one check that are printed */
#define LARGEST_LIST ((size_t)1024 * 1024) /* bytes of a list of expected failures */

/* ---- what to do ------------------------------------------------------------------------------------- */

/* "solves,team" or all of them. */
static bool choose_checks(const char *names, ss_suite *suite, ss_error *err)
{
    _Static_assert(SS_SUITE_MOST_CHECKS >= 32, "there is room for all checks");
    bool all = strcmp(names, "all") == 0;
    for (int c = 0; c < ss_check_count(); c++) suite->wanted[c] = all;
    for (const char *at = names; !all && *at;) {
        char name[64];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        int check = ss_check_find(name);
        if (check < 0) {
            ss_text known = {0};
            for (int c = 0; c < ss_check_count(); c++)
                ss_text_appendf(&known, "%s%s", c ? ", " : "", ss_check_at(c)->name);
            ss_fail(err, SS_ERROR_USAGE, "solvers: unknown check '%s'; there are %s", name,
                    ss_text_get(&known));
            ss_text_free(&known);
            return false;
        }
        suite->wanted[check] = true;
        at += length + (at[length] == ',');
    }
    return true;
}

bool ss_solvers_test_fits(const ss_command *command, ss_error *err)
{
    const ss_solvers_options *options = command->options;
    for (int i = 0; i < command->given_count && !options->test.test; i++) {
        for (const ss_option *option = ss_solvers_test_option_table; option->name; option++) {
            char flag[64];
            if (command->given[i].option != option) continue;
            ss_option_flag(option, flag, sizeof flag);
            return ss_fail(err, SS_ERROR_USAGE, "solvers: --%s needs --test", flag);
        }
    }
    if (options->test.test && options->table)
        return ss_fail(err, SS_ERROR_USAGE, "solvers: --table and --test exclude each other");
    return true;
}

/* ---- tables ----------------------------------------------------------------------------------------- */

static void add_count(ss_table *table, int count, ss_style style)
{
    table->style = count > 0 ? style : SS_STYLE_PLAIN;
    ss_table_add(table, "%d", count);
    table->style = SS_STYLE_PLAIN;
}

static void print_failures(const ss_suite *suite, ss_out *out)
{
    bool lessons[SS_SUITE_MOST_CHECKS] = {false};
    ss_table table;
    for (int s = 0; s < suite->solver_count; s++) {
        if (ss_suite_count(suite, s, -1).failed == 0) continue;
        ss_text_appendf(&out->text, "\n%s failed:\n", suite->solvers[s]->name);
        table = (ss_table){.columns = 3, .left = 3};
        ss_table_add(&table, "check"), ss_table_add(&table, "problem"), ss_table_add(&table, "what is wrong");

        // Of each check at most SHOWN.
        for (int c = 0; c < ss_check_count(); c++) {
            const char *check = ss_check_at(c)->name;
            int count = 0;
            lessons[c] |= ss_suite_count(suite, s, c).failed > 0;
            for (int k = 0; k < suite->case_count; k++) {
                const ss_suite_case *item = &suite->cases[k];
                char name[SS_CHECK_CASE_NAME];
                if (item->solver != s || item->check != c || item->state != SS_CASE_DONE ||
                    item->result.outcome != SS_CHECK_FAILED || item->expected || count++ >= SHOWN)
                    continue;
                ss_check_case_name(c, &suite->setup, item->index, name);
                ss_table_add(&table, "%s", check);
                ss_table_add(&table, "%s", name);
                ss_table_add(&table, "%s", item->result.message);
            }
            if (count <= SHOWN) continue;
            ss_table_add(&table, "%s", check);
            ss_table_add(&table, "%d more", count - SHOWN);
            ss_table_add(&table, "%s", "--json and -o show all");
        }
        ss_table_print(&table, out);
    }

    int at = 0, surprises = 0;
    for (const ss_expected *item; (item = ss_suite_surprise(suite, &at)); surprises++) {
        if (surprises == 0) {
            ss_text_append(&out->text, "\nExpected to fail, but passed (take it off the list):\n");
            table = (ss_table){.columns = 4, .left = 4};
            ss_table_add(&table, "solver"), ss_table_add(&table, "check"), ss_table_add(&table, "problem");
            ss_table_add(&table, "reason given");
        }
        ss_table_add(&table, "%s", item->solver), ss_table_add(&table, "%s", item->check);
        ss_table_add(&table, "%s", item->problem), ss_table_add(&table, "%s", item->reason);
    }
    if (surprises > 0) ss_table_print(&table, out);

    // What the checks that failed are about.
    for (int c = 0; c < ss_check_count(); c++) {
        if (!lessons[c]) continue;
        ss_text_appendf(&out->text, "\n%s:\n", ss_check_at(c)->name);
        ss_out_paragraph(out, 2, ss_check_at(c)->lesson);
    }
}

static void print(const ss_suite *suite, ss_out *out)
{
    // One solver by checks, several by solvers.
    ss_suite_tally all = ss_suite_count(suite, -1, -1);
    bool one = suite->solver_count == 1, skipped = all.skipped > 0;
    ss_table table = {.columns = 5 + one + skipped, .left = 1 + one};
    ss_table_add(&table, "%s", one ? "check" : "solver");
    if (one) ss_table_add(&table, "what has to hold");
    ss_table_add(&table, "passed"), ss_table_add(&table, "failed"), ss_table_add(&table, "expected");
    ss_table_add(&table, "n/a");
    if (skipped) ss_table_add(&table, "skipped");
    for (int i = 0; i < (one ? ss_check_count() : suite->solver_count); i++) {
        if (one && !suite->wanted[i]) continue;
        ss_suite_tally tally = one ? ss_suite_count(suite, -1, i) : ss_suite_count(suite, i, -1);
        ss_table_add(&table, "%s", one ? ss_check_at(i)->name : suite->solvers[i]->name);
        if (one) ss_table_add(&table, "%s", ss_check_at(i)->asks);
        add_count(&table, tally.passed, SS_STYLE_PLAIN);
        add_count(&table, tally.failed, SS_STYLE_BAD);
        add_count(&table, tally.expected, SS_STYLE_DOUBT);
        add_count(&table, tally.not_applicable, SS_STYLE_PLAIN);
        if (skipped) add_count(&table, tally.skipped, SS_STYLE_BAD);
    }
    ss_table_print(&table, out);

    if (all.expected > 0) {
        ss_text_append(&out->text, "\nFailed as expected:\n");
        table = (ss_table){.columns = 4, .left = 4};
        ss_table_add(&table, "solver"), ss_table_add(&table, "check"), ss_table_add(&table, "problem");
        ss_table_add(&table, "reason");
        for (int k = 0; k < suite->case_count; k++) {
            const ss_suite_case *item = &suite->cases[k];
            char name[SS_CHECK_CASE_NAME];
            if (item->state != SS_CASE_DONE || item->result.outcome != SS_CHECK_FAILED || !item->expected)
                continue;
            ss_check_case_name(item->check, &suite->setup, item->index, name);
            ss_table_add(&table, "%s", suite->solvers[item->solver]->name);
            ss_table_add(&table, "%s", ss_check_at(item->check)->name);
            ss_table_add(&table, "%s", name);
            ss_table_add(&table, "%s", item->expected->reason);
        }
        ss_table_print(&table, out);
    }
    print_failures(suite, out);

    ss_style style = ss_suite_findings(suite) > 0 ? SS_STYLE_BAD : SS_STYLE_GOOD;
    ss_text_append(&out->text, "\n");
    if (one) ss_text_appendf(&out->text, "%s: ", suite->solvers[0]->name);
    ss_text_appendf(&out->text, "%d passed, %s%d failed%s, %d expected to fail, %d not applicable",
                    all.passed, ss_out_style(out, style), all.failed,
                    out->colour ? ss_out_style(out, SS_STYLE_PLAIN) : "", all.expected, all.not_applicable);
    if (skipped)
        ss_text_appendf(
            &out->text,
            ".\n%d skipped: the solver hung or was too slow on that problem, or hung several times",
            all.skipped);
    ss_text_append(&out->text, ".\n");
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void put_tally(ss_json *json, const ss_suite_tally *tally)
{
    ss_json_member_integer(json, "passed", tally->passed);
    ss_json_member_integer(json, "failed", tally->failed);
    ss_json_member_integer(json, "expected", tally->expected);
    ss_json_member_integer(json, "not_applicable", tally->not_applicable);
    ss_json_member_integer(json, "skipped", tally->skipped);
}

static void put_cases(const ss_suite *suite, int solver, ss_json *json)
{
    static const char *const names[] = {[SS_CHECK_PASSED] = "passed",
                                        [SS_CHECK_FAILED] = "failed",
                                        [SS_CHECK_NOT_APPLICABLE] = "not applicable"};
    ss_json_key(json, "results");
    ss_json_begin_array(json);
    for (int k = 0; k < suite->case_count; k++) {
        const ss_suite_case *item = &suite->cases[k];
        char name[SS_CHECK_CASE_NAME];
        bool is_skipped = item->state == SS_CASE_SKIPPED, is_done = item->state == SS_CASE_DONE;
        if (item->solver != solver || !(is_done || is_skipped) || item->result.outcome == SS_CHECK_NOTHING)
            continue;

        // A case that was never run has no status.
        bool is_expected = item->result.outcome == SS_CHECK_FAILED && item->expected;
        bool ran = is_done && item->result.iterations >= 0;
        ss_check_case_name(item->check, &suite->setup, item->index, name);
        ss_json_begin_object(json);
        ss_json_member_text(json, "check", ss_check_at(item->check)->name);
        ss_json_member_text(json, "problem", name);
        ss_json_member_text(json, "outcome",
                            is_skipped    ? "skipped"
                            : is_expected ? "expected"
                                          : names[item->result.outcome]);
        ss_json_member_text(json, "status", ran ? ss_status_name(item->result.status) : NULL);
        ss_json_member_index(json, "iterations", item->result.iterations);
        ss_json_member_known(json, "error", item->result.error);
        ss_json_member_text(json, "message", item->result.message[0] ? item->result.message : NULL);
        ss_json_member_text(json, "reason", item->expected ? item->expected->reason : NULL);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}

static void put(const ss_suite *suite, ss_out *out)
{
    ss_json json = {.text = &out->text};
    int at = 0;
    ss_json_begin_object(&json);
    ss_json_member_integer(&json, "findings", ss_suite_findings(suite));
    ss_json_key(&json, "interrupted"), ss_json_bool(&json, suite->interrupted);
    ss_json_key(&json, "solvers");
    ss_json_begin_array(&json);
    for (int s = 0; s < suite->solver_count; s++) {
        ss_suite_tally tally = ss_suite_count(suite, s, -1);
        ss_json_begin_object(&json);
        ss_json_member_text(&json, "name", suite->solvers[s]->name);
        put_tally(&json, &tally);

        // By check, then case by case.
        ss_json_key(&json, "checks");
        ss_json_begin_array(&json);
        for (int c = 0; c < ss_check_count(); c++) {
            if (!suite->wanted[c]) continue;
            tally = ss_suite_count(suite, s, c);
            ss_json_begin_object(&json);
            ss_json_member_text(&json, "name", ss_check_at(c)->name);
            ss_json_member_text(&json, "asks", ss_check_at(c)->asks);
            ss_json_member_text(&json, "lesson", ss_check_at(c)->lesson);
            put_tally(&json, &tally);
            ss_json_end_object(&json);
        }
        ss_json_end_array(&json);
        put_cases(suite, s, &json);
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);

    // Expected failures that did not fail, so that the list stays true.
    ss_json_key(&json, "passed_unexpectedly");
    ss_json_begin_array(&json);
    for (const ss_expected *item; (item = ss_suite_surprise(suite, &at));) {
        ss_json_begin_object(&json);
        ss_json_member_text(&json, "solver", item->solver);
        ss_json_member_text(&json, "check", item->check);
        ss_json_member_text(&json, "problem", item->problem);
        ss_json_member_text(&json, "reason", item->reason);
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

/* ---- the page --------------------------------------------------------------------------------------- */

static bool write_page(const ss_command *command, const ss_suite *suite, const ss_solver *only, ss_error *err)
{
    const ss_solvers_options *options = command->options;
    ss_text again = {0}, page = {0};
    ss_text_append(&again, "stickslip solvers");
    if (only) ss_text_appendf(&again, " %s", only->name);
    ss_text_append(&again, " --test");
    for (int i = 0; i < command->given_count; i++) {
        const ss_given *given = &command->given[i];
        char flag[64];
        bool ours = strcmp(given->option->name, "test") == 0 || strcmp(given->option->name, "quiet") == 0 ||
                    strcmp(given->option->name, "json") == 0 || strcmp(given->option->name, "jobs") == 0;
        if (ours) continue;
        ss_option_flag(given->option, flag, sizeof flag);
        ss_text_appendf(&again, " --%s", flag);
        if (given->option->type != SS_OPTION_BOOL) ss_text_appendf(&again, " %s", given->value);
    }
    ss_suite_page(suite, ss_text_get(&again), &page);
    bool good = !page.out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the page");
    good = good && ss_file_replace(options->test.output, page.data, page.length, err);
    ss_text_free(&again);
    ss_text_free(&page);
    return good;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

typedef struct watching {
    const ss_command *command;
    ss_progress_line line;
} watching;

static void show_progress(void *context, int done, int total, const char *solver, const char *check)
{
    watching *w = context;
    char facts[160];
    snprintf(facts, sizeof facts, "%.64s, %.64s", solver, check);
    ss_progress_line_tell(&w->line, "checking", done, total, facts);
}

int ss_solvers_test(const ss_command *command, const ss_solver *only)
{
    const ss_solvers_options *options = command->options;
    const ss_solvers_test_options *test = &options->test;
    ss_error err = {0};
    ss_expected_list expected[2] = {{0}, {0}};
    watching w = {command, ss_progress_line_begin(command)};
    const ss_solver **solvers = ss_allocate((size_t)ss_solver_count(), sizeof *solvers);
    ss_suite suite = {
        .solvers = solvers,
        .setup = {.iterations = test->iterations, .quick = test->quick, .seed = (uint64_t)test->seed},
        .time_limit = test->time_limit,
        .jobs = test->jobs > 0 ? test->jobs : ss_core_count(),
        .expected = expected,
        .expected_count = test->expect ? 2 : 1,
        .stop = ss_interrupt_flag(),
        .progress = show_progress,
        .context = &w};

    // One solver, or those of plug-ins and commands, or else all.
    bool own = false;
    for (int i = 0; i < ss_solver_count(); i++) own |= ss_extension_of(ss_solver_at(i)) != NULL;
    for (int i = 0; solvers && i < ss_solver_count(); i++) {
        const ss_solver *solver = ss_solver_at(i);
        bool wanted = only ? solver == only : !own || ss_extension_of(solver) != NULL;
        if (wanted) solvers[suite.solver_count++] = solver;
    }
    bool good =
        solvers && (suite.solver_count > 0 || ss_fail(&err, SS_ERROR_USAGE, "solvers: no solver to test"));
    good = good && choose_checks(test->checks, &suite, &err) &&
           ss_expected_parse(ss_expected_built_in(), "built in", &expected[0], &err);
    if (good && test->expect) {
        size_t size;
        unsigned char *bytes = ss_file_read(test->expect, LARGEST_LIST, &size, &err);
        good = bytes && ss_expected_parse((const char *)bytes, test->expect, &expected[1], &err);
        ss_release(bytes);
    }

    if (good) {
        ss_interrupt_listen();
        good = ss_suite_run(&suite, &err);
        ss_progress_line_end(&w.line);
    }

    int code = SS_EXIT_DONE;
    if (good) {
        if (options->json)
            put(&suite, command->out);
        else
            print(&suite, command->out);
        if (test->output) good = write_page(command, &suite, only, &err);
        if (ss_suite_findings(&suite) > 0) code = SS_EXIT_FOUND;
    }
    bool interrupted = good && suite.interrupted;
    int done = suite.done, count = suite.case_count;
    ss_suite_free(&suite);
    for (int l = 0; l < 2; l++) ss_expected_free(&expected[l]);
    ss_release(solvers);
    if (interrupted) {
        ss_out_flush(command->out);
        ss_complain("stickslip: interrupted: %d of %d checks were made", done, count);
        ss_interrupt_die();
    }
    return good ? code : ss_report(&err);
}

const ss_option ss_solvers_test_option_table[] = {
    {SS_FLAG(BOOL, ss_solvers_test_options, test),
     .help =
         "Run the conformance suite on SOLVER; without SOLVER, on those of --plugin and --solver-command, or "
         "else on all. Exit code 0: all as expected, 1: problems were found."},
    {SS_FLAG_AS("check", TEXT, ss_solvers_test_options, checks), .default_value = "all",
     .value_name = "CHECK,...|all", .help = "Only these checks, by their names in the table."},
    {SS_FLAG(TEXT, ss_solvers_test_options, expect), .value_name = "FILE",
     .help =
         "A list of failures that are known, a line for each: solver | check | problem | reason. One that "
         "does not fail is reported, too."},
    {SS_FLAG(TEXT, ss_solvers_test_options, output), .value_name = "FILE.md",
     .help = "Also write what the solver accepts, passes and solves as a page in Markdown.", .letter = 'o'},
    {SS_FLAG(BOOL, ss_solvers_test_options, quick), .help = "A tenth of the random problems."},
    {SS_FLAG(INT, ss_solvers_test_options, seed), .default_value = "1000", .min = 0, .max = 2147483647,
     .help = "First seed of the random problems; each uses the next one."},
    {SS_FLAG(INT, ss_solvers_test_options, iterations), .default_value = "20000", .min = 1, .max = 1e9,
     .value_name = "N", .help = "Limit within which a problem has to be solved."},
    {SS_FLAG(REAL, ss_solvers_test_options, time_limit), .default_value = "10", .min = 0, .max = 1e9,
     .value_name = "seconds",
     .help =
         "Limit of one check on one problem; a solver that does not respond is killed soon after it. 0 = no "
         "limit."},
    {SS_FLAG(INT, ss_solvers_test_options, jobs), .default_value = "0", .min = 0, .max = 1024,
     .value_name = "N", .help = "Number of worker processes; 0 = one per core.", .letter = 'j'},
    {0}};
