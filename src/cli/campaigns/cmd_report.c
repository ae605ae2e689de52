#include "cli/campaigns/against.h"
#include "cli/extensions.h"
#include "cli/input.h"
#include "cli/campaigns/ranking.h"
#include "cli/campaigns/report_figure.h"
#include "cli/campaigns/report_replays.h"

#include "base/file.h"
#include "base/number.h"
#include "base/words.h"
#include "report/page.h"
#include "report/references.h"
#include "report/report.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <stdio.h>
#include <math.h>
#include <string.h>
#include <time.h>

typedef struct report_options {
    ss_common_options common;
    const char *output, *title, *measure;
    ss_option_list tolerances;
    const char *against, *best_of;
    double main; /* 0 = not given */
    bool json, whole_call;
    ss_figure_options figure;
    ss_replays_options replays;
    ss_extension_options extensions;
} report_options;

/* What -o asks for. */
typedef struct report_target {
    ss_report_format format;
    const ss_report_figure *figure; /* NULL: the page, or all numbers */
} report_target;

/* ---- tolerances -------------------------------------------------------------------------------------- */

static bool add_tolerance(ss_statistics_options *by, double tolerance, ss_error *err)
{
    const int most = (int)(sizeof by->tolerances / sizeof by->tolerances[0]);
    return ss_statistics_add_tolerance(by, tolerance) ||
           ss_fail(err, SS_ERROR_USAGE, "report: --tolerance: expected at most %d values", most);
}

/* What is said here comes before what the campaign asked for. */
static bool choose_tolerances(const report_options *options, const ss_results *results,
                              ss_statistics_options *by, ss_error *err)
{
    const ss_option_list *list = &options->tolerances;
    *by = ss_statistics_defaults();
    double usual = by->tolerances[by->main_tolerance];
    if (list->count > 0) by->tolerance_count = 0;
    for (int i = 0; i < list->count; i++) {
        double tolerance;
        if (!ss_number_read(list->items[i], &tolerance) || !(tolerance > 0.0) || !isfinite(tolerance))
            return ss_fail(err, SS_ERROR_USAGE,
                           "report: invalid value \"%s\" for --tolerance: expected a positive number, for "
                           "instance 1e-4",
                           list->items[i]);
        if (!add_tolerance(by, tolerance, err)) return false;
    }

    const char *measure = options->measure;
    if (measure) by->measure = ss_metric_index(measure);
    if (by->measure < 0) {
        ss_nearest nearest = ss_nearest_start(measure);
        for (int i = 0; i < ss_metric_count(); i++) ss_nearest_offer(&nearest, ss_metric_at(i)->name);
        return ss_fail(err, SS_ERROR_USAGE, "report: --measure %s: unknown metric%s%s; see stickslip metrics",
                       measure, nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "");
    }

    // Of tolerances that were listed none is added but by --main.
    double asked = ss_statistics_asked_tolerance(results, by->measure);
    double wanted = options->main > 0.0 ? options->main : asked > 0.0 ? asked : usual;
    bool is_new = options->main > 0.0 || list->count == 0;
    if (is_new && !add_tolerance(by, wanted, err)) return false;
    if (list->count == 0) ss_statistics_add_rungs(by, results); // those for which there is room
    by->whole_call = options->whole_call;
    by->main_tolerance = ss_statistics_nearest_tolerance(by, wanted);
    return true;
}

/* ---- output ------------------------------------------------------------------------------------------ */

/* The page, all numbers, or what to cite. */
static bool write_all(const report_options *options, ss_report_format format, ss_report_options *how,
                      const ss_results *results, const ss_statistics *statistics, ss_error *err)
{
    ss_text text = {0};
    how->inside_html = format == SS_REPORT_HTML;
    if (format == SS_REPORT_BIB)
        ss_references_bibtex(results, statistics, &text);
    else
        ss_report_json(results, statistics, how, &text);

    bool good;
    if (format == SS_REPORT_HTML) {
        ss_text blocks = {0};
        ss_page_json_block(&blocks, "report", &text);
        good = ss_page_write(&ss_page_report, &blocks, options->output, err);
        ss_text_free(&blocks);
    } else {
        if (format != SS_REPORT_BIB) ss_text_append(&text, "\n");
        good = text.out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", options->output)
                                  : ss_file_replace(options->output, ss_text_get(&text), text.length, err);
    }
    ss_text_free(&text);
    return good;
}

static bool show(const ss_command *command, const report_target *target, const ss_results *results,
                 const ss_sources *sources, const ss_statistics *statistics, ss_error *err)
{
    const report_options *options = command->options;
    ss_against against;
    if (options->best_of && !options->against)
        return ss_fail(err, SS_ERROR_USAGE, "report: --best-of needs --against METHODS");
    if (options->against &&
        !ss_against_make(results, statistics, options->against, options->best_of, &against, err))
        return ss_fail_in(err, "report: --against");

    char created[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    const char *name = ss_path_name(command->arguments[0]);
    char several[300];
    if (command->argument_count > 1) {
        snprintf(several, sizeof several, "%.256s and %d more", name, command->argument_count - 1);
        name = several;
    }
    ss_report_options how = {.title = options->title ? options->title : name,
                             .ledger = command->arguments[0],
                             .sources = sources,
                             .created = created,
                             .against = options->against ? &against : NULL};

    // Replays first: the page links to them.
    ss_report_links links = {0};
    if (options->replays.directory) {
        if (!ss_replays_write(command, &options->replays, options->output, results, statistics, &links,
                              err)) {
            ss_replays_free(&links);
            return false;
        }
        how.links = &links;
    }

    bool good = true;
    if (options->output) {
        ss_report_request request = {
            .results = results, .statistics = statistics, .ledger = name, .sources = sources};
        good = target->figure ? ss_figure_write(target->figure, &options->figure, &request, target->format,
                                                options->output, err)
                              : write_all(options, target->format, &how, results, statistics, err);
        if (good) ss_command_say(command, "wrote %s", options->output);
        how.inside_html = false;
    }

    if (good && options->json) {
        ss_report_json(results, statistics, &how, &command->out->text);
        ss_text_append(&command->out->text, "\n");
    } else if (good && options->against) {
        ss_against_print(command->out, results, statistics, &against);
    } else if (good && !options->output) {
        ss_ranking_print(command->out, results, statistics);
    }
    ss_replays_free(&links);
    return good;
}

/* ---- ledgers ----------------------------------------------------------------------------------------- */

/* One ledger as it is. Several are merged in a folder of their own, which is removed again: a report is about
 * one ledger. */
static bool load(const ss_command *command, ss_results *results, ss_sources *sources, ss_error *err)
{
    for (int i = 0; i < command->argument_count; i++)
        if (!ss_sources_add(sources, command->arguments[i], err)) return false;
    if (command->argument_count == 1) {
        ss_ledger *ledger = ss_ledger_read(command->arguments[0], err);
        bool good = ledger && ss_ledger_load(ledger, results, err);
        ss_ledger_close(ledger);
        return good;
    }

    const char *temporary = getenv("TMPDIR");
    char folder[512], path[560], which[600];
    snprintf(folder, sizeof folder, "%s/stickslip-report-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be made: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/merged.db", folder);
    ss_ledger *ledger = ss_ledger_open(path, err);
    bool good = ledger != NULL;
    for (int i = 0; good && i < command->argument_count; i++) {
        int added, there, differing;
        good = ss_ledger_merge(ledger, command->arguments[i], &added, &there, &differing, which, sizeof which,
                               err);
        if (good && differing > 0)
            ss_command_say(
                command,
                "%s: %d of its runs have other answers than the same runs before, which are kept: %s",
                command->arguments[i], differing, which);
    }
    good = good && ss_ledger_load(ledger, results, err);
    ss_ledger_close(ledger);

    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s/%.40s", folder, entry->d_name);
        unlink(path);
    }
    if (directory) closedir(directory);
    rmdir(folder);
    return good;
}

/* ---- the verb ---------------------------------------------------------------------------------------- */

static int run_report(const ss_command *command)
{
    const report_options *options = command->options;
    if (options->figure.figure && strcmp(options->figure.figure, "list") == 0) {
        ss_figure_list(command->out);
        return SS_EXIT_DONE;
    }

    // What can be said without the ledger.
    report_target target = {0};
    ss_error err = {0};
    bool good = command->argument_count > 0 || ss_fail(&err, SS_ERROR_USAGE, "report: no RESULTS.db given");
    if (good && options->output)
        good = ss_input_check_target(command, options->output, &err) &&
               ss_report_format_of(options->output, &target.format, &err);
    if (good && options->replays.directory && (!options->output || target.format != SS_REPORT_HTML))
        good = ss_fail(&err, SS_ERROR_USAGE,
                       "report: --replays %s: expected -o FILE.html, the page that links to them",
                       options->replays.directory);
    if (good && (options->output || options->figure.figure))
        good = ss_figure_check(&options->figure, options->output, target.format, &target.figure, &err);

    ss_statistics_options by;
    ss_statistics statistics = {0};
    ss_results results = {0};
    ss_sources sources = {0};
    good = good && load(command, &results, &sources, &err) &&
           choose_tolerances(options, &results, &by, &err) &&
           ss_statistics_make(&results, &by, &statistics, &err) &&
           show(command, &target, &results, &sources, &statistics, &err);
    ss_statistics_free(&statistics);
    ss_sources_free(&sources);
    ss_results_free(&results);
    return good ? SS_EXIT_DONE : ss_report(&err);
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, report_options, output), .value_name = "FILE",
     .help = "FILE.html: write the report as one self-contained page. FILE.json: all statistics. FILE.bib: "
             "what to cite, as BibTeX. FILE.svg, "
             ".pdf, .png, .csv, .tex or .md: a figure or table of it, see --figure.",
     .letter = 'o'},
    {SS_FLAG(TEXT, report_options, title), .value_name = "TEXT",
     .help = "Title of the report. Default: the file name."},
    {SS_FLAG_AS("tolerance", LIST, report_options, tolerances), .value_name = "T",
     .help = "A problem is solved if the measure is at most this. Repeatable; replaces 1e-2, 1e-4, 1e-6 and "
             "1e-8."},
    {SS_FLAG(REAL, report_options, main), .min = 0, .max = 1e9, .value_name = "T",
     .help = "The tolerance for summary, ranking and recommendation. Default: that of the campaign's stop "
             "rule, or 1e-4."},
    {SS_FLAG(TEXT, report_options, measure), .value_name = "METRIC",
     .help = "The metric that decides what is solved, for instance natural_map as in the FCLIB literature. "
             "Default: relative_energy."},
    {SS_FLAG(TEXT, report_options, against), .value_name = "METHODS",
     .help =
         "Compare these methods, problem by problem, with the best of others in hindsight, instead of "
         "ranking all. Names of solvers or labels with * and ?, separated by commas; !NAME takes one out."},
    {SS_FLAG(TEXT, report_options, best_of), .value_name = "METHODS",
     .help = "The others of --against. Default: all that are not named there."},
    {SS_FLAG(BOOL, report_options, whole_call),
     .help = "The cost of a run is the time of the whole call of the solver, with what its stop rule "
             "measures on the way, instead of the time until the tolerance was reached."},
    {SS_FLAG(BOOL, report_options, json), .help = "Print everything as one JSON object."},
    {0}};
static const ss_option_group groups[] = {{"Options", table, 0},
                                         SS_FIGURE_GROUP(report_options, figure),
                                         SS_REPLAYS_GROUP(report_options, replays),
                                         SS_EXTENSION_GROUP(report_options, extensions),
                                         SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"report results.db", "how many problems each method solved, and at what cost"},
    {"report results.db -o report.html", "all figures, as a page for the browser"},
    {"report results.db --figure performance-profile -o profile.pdf", "one figure, for a column of a paper"},
    {"report results.db --figure solvers --best 10 -o solvers.tex",
     "the table of methods for LaTeX, with booktabs"},
    {"report results.db -o report.html --replays replays", "and replays that its runs open"},
    {"report results.db -o references.bib", "BibTeX of the methods, and of stickslip"},
    {"report --figure list", "which figures and tables there are"},
    {"report results.db --main 1e-6", "with a stricter tolerance"},
    {"report results.db --measure natural_map", "judged by another metric"},
    {"report results.db --against auto --best-of 'siconos*'",
     "how much faster auto is than the best method of Siconos for each problem"},
    {"report results.db --json", "all statistics, machine-readable"},
    {0}};

const ss_verb ss_verb_report = {
    .name = "report",
    .summary = "summarise a campaign as a table, a page, figures, or JSON",
    .arguments = "[RESULTS.db...]",
    .description =
        "Reads the ledger that stickslip bench wrote and computes success rates with intervals, costs, "
        "performance and data profiles, convergence bands, errors at budgets of time, contact states, and "
        "how cost grows with the problem. docs/report.md defines all of them.\n\n"
        "-o writes what the ending of the file asks for: the page, or one figure or table of it for a "
        "paper.\n\n"
        "Without -o and --json, prints a table, best method first, and a recommendation in a few "
        "sentences. The ledger is only read; a running campaign may be writing to it.\n\n"
        "Several ledgers are merged for the report, and are not changed: a leaderboard of all machines.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(report_options),
    .reads_files = true,
    .run = run_report,
};
