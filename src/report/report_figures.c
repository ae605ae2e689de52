/* Which figures and tables there are, and what they have in common. */
#include "report/report_figures_internal.h"

#include "base/words.h"

#include <stickslip/solver.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const ss_report_figure ss_report_figures[] = {
    {"overview", "The best methods", false, "the cost of the best, and what they leave unsolved", NULL,
     ss_report_overview},
    {"solvers", "Methods", true, "how much each solves, at what cost, how exactly", NULL, ss_report_solvers},
    {"recorded", "Answers as recorded", true, "answers that were stored in the files", NULL,
     ss_report_recorded},
    {"scenes", "Best method by scene", true, "the best method of each scene", NULL, ss_report_scenes},
    {"success-rates", "Success rates", false, "the fraction solved, with 95 % intervals", NULL,
     ss_report_success_rates},
    {"why", "Where methods fail", true, "a feature that parts solved from unsolved", NULL, ss_report_why},
    {"outcomes", "Outcome of every run", false, "one cell for each method and problem", "scene=all|SCENE",
     ss_report_outcomes},
    {"failure-list", "Failures by kind and method", true, "how runs failed, with messages", NULL,
     ss_report_failures},
    {"performance-profile", "Performance profile", false,
     "the fraction solved within a multiple of the best cost", NULL, ss_report_performance_profile},
    {"pairwise-profile", "Two methods compared", false, "the performance profile of two methods alone",
     "first=METHOD second=METHOD", ss_report_pairwise_profile},
    {"data-profile", "Data profile", false, "the fraction solved within an effort",
     "effort=perUnknown|iterations", ss_report_data_profile},
    {"work-precision", "Work and precision", false, "what each tolerance costs", "time=mean|median",
     ss_report_work_precision},
    {"budget-error", "Error at a fixed budget of time", false, "the error after a given time",
     "over=median|high", ss_report_budget_error},
    {"convergence", "Convergence", false, "the error from iteration to iteration",
     "scene=SCENE|all method=METHOD|shown|bands error=GAUGE over=median|mean", ss_report_convergence},
    {"warm-starts", "Warm starts", true, "methods beside themselves from zero", NULL, ss_report_warm_starts},
    {"drift", "Errors along the sequence", false, "the error from frame to frame, by start", "method=METHOD",
     ss_report_drift},
    {"contact-states", "States of contacts", false, "how many contacts stick, slide or are open", NULL,
     ss_report_contact_states},
    {"contact-errors", "Errors contact by contact", false, "the distribution of energy errors",
     "show=above|share", ss_report_contact_errors},
    {"bpmd", "Friction, frame by frame", false, "states of contacts and errors of friction",
     "scene=SCENE method=METHOD beside=METHOD|none x=time|frame", ss_report_bpmd},
    {"scaling", "Time and error against size and difficulty", false, "one mark for each run",
     "x=unknowns|contacts|bodies|massRatio|density|rankRatio y=cost|seconds|iterations|memory|METRIC",
     ss_report_scaling},
    {"unsolved", "Problems that no method solves", true, "with the nearest answer", NULL, ss_report_unsolved},
    {"reproduction", "Runs that do not reproduce", true,
     "other answers or outcomes on another machine with the same version", NULL, ss_report_reproduction},
    {"trust", "How far metrics can be trusted", true,
     "each over the true error that it estimates, where there is a reference", NULL, ss_report_trust},
    {"ledgers", "Ledgers", true, "machines, versions, dates and collections of the runs", NULL,
     ss_report_ledgers},
    {"problems", "Problems", true, "sizes and features of the problems", NULL, ss_report_problems},
    {0}};

const ss_report_figure *ss_report_figure_find(const char *name, ss_error *err)
{
    ss_unknown unknown = ss_unknown_start("figure", name);
    for (const ss_report_figure *figure = ss_report_figures; figure->name; figure++) {
        if (strcmp(figure->name, name) == 0) return figure;
        ss_unknown_offer(&unknown, figure->name);
    }
    ss_unknown_fail(&unknown, err);
    return NULL;
}

/* ---- settings -------------------------------------------------------------------------------------- */

const char *ss_report_setting(const ss_report_request *request, const char *key, const char *fallback)
{
    const char *value = fallback;
    size_t length = strlen(key);
    for (int i = 0; i < request->setting_count; i++)
        if (strncmp(request->settings[i], key, length) == 0 && request->settings[i][length] == '=')
            value = request->settings[i] + length + 1; // the last one holds
    return value;
}

/* "NAME=VALUE" must be one of the figure's "name=a|b|NAME ...". Words in capitals stand for names, which the
 * figure itself looks for. */
static bool check_setting(const ss_report_figure *figure, const char *setting, ss_error *err)
{
    size_t key = strcspn(setting, "=");
    if (!setting[key])
        return ss_fail(err, SS_ERROR_USAGE, "invalid value \"%s\" for --set: expected NAME=VALUE", setting);
    const char *value = setting + key + 1;
    for (const char *at = figure->settings; at && *at;) {
        size_t name = strcspn(at, "="), length = strcspn(at, " ");
        if (name == key && strncmp(at, setting, key) == 0) {
            const char *values = at + name + 1, *end = at + length;
            for (const char *word = values; word < end; word += strcspn(word, "| ") + 1) {
                size_t own = strcspn(word, "| ");
                bool is_name = *word >= 'A' && *word <= 'Z';
                if (is_name || (strlen(value) == own && strncmp(word, value, own) == 0)) return true;
            }
            return ss_fail(err, SS_ERROR_USAGE, "invalid value \"%s\" for %.*s: expected %.*s", value,
                           (int)key, setting, (int)(end - values), values);
        }
        at += length + (at[length] == ' ');
    }
    return figure->settings ? ss_fail(err, SS_ERROR_USAGE, "%s has no setting '%.*s'; it has %s",
                                      figure->name, (int)key, setting, figure->settings)
                            : ss_fail(err, SS_ERROR_USAGE, "%s has no settings", figure->name);
}

/* ---- series ---------------------------------------------------------------------------------------- */

static bool fail_unknown(const ss_report_request *request, const char *label, ss_error *err)
{
    ss_unknown unknown = ss_unknown_start("method", label);
    for (int i = 0; i < request->statistics->series_count; i++)
        ss_unknown_offer(&unknown, request->statistics->series[i].label);
    return ss_unknown_fail(&unknown, err);
}

int ss_report_series_named(const ss_report_request *request, const char *label, ss_error *err)
{
    int found = -1, second = -1;
    for (int i = 0; i < request->statistics->series_count; i++) {
        const char *own = request->statistics->series[i].label;
        if (strcmp(own, label) == 0) return i;
        if (!strstr(own, label)) continue;
        if (found < 0)
            found = i;
        else if (second < 0)
            second = i;
    }
    if (found < 0) fail_unknown(request, label, err);
    if (second >= 0) {
        ss_fail(err, SS_ERROR_USAGE, "'%s' may be %s or %s: write all of it", label,
                request->statistics->series[found].label, request->statistics->series[second].label);
        return -1;
    }
    return found;
}

int ss_report_chosen(const ss_report_request *request, bool in_table, int *shown, ss_error *err)
{
    int total = request->statistics->series_count, count = 0;
    for (int m = 0; m < request->method_count; m++) {
        bool any = false;
        const char *asked = ss_solver_name(request->methods[m]);
        for (int i = 0; i < total && !any; i++) any = strstr(request->statistics->series[i].label, asked);
        if (!any) return fail_unknown(request, request->methods[m], err), -1;
    }

    int most = request->best > 0 ? request->best : in_table || request->method_count > 0 ? total : 8;
    for (int i = 0; i < total && count < most; i++) {
        const char *own = request->statistics->series[i].label;
        bool wanted = request->method_count == 0;
        for (int m = 0; m < request->method_count && !wanted; m++) {
            // a label that one series has as a whole means this one, not all that contain it
            const char *asked = ss_solver_name(request->methods[m]);
            bool exact = false;
            for (int k = 0; k < total && !exact; k++)
                exact = strcmp(request->statistics->series[k].label, asked) == 0;
            wanted = exact ? strcmp(own, asked) == 0 : strstr(own, asked) != NULL;
        }
        if (wanted) shown[count++] = i;
    }
    return count;
}

int *ss_report_shown(const ss_report_request *request, ss_report_exhibit *to, bool in_table, int *count,
                     ss_error *err)
{
    int *shown = ss_report_take(to, (size_t)request->statistics->series_count + 1, sizeof *shown);
    if (!shown) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a figure"), NULL;
    *count = ss_report_chosen(request, in_table, shown, err);
    return *count < 0 ? NULL : shown;
}

int ss_report_series_of(const ss_statistics *statistics, const ss_run_entry *run)
{
    for (int i = 0; i < statistics->series_count; i++)
        if (statistics->series[i].method == run->method && statistics->series[i].machine == run->machine)
            return i;
    return -1;
}

const ss_run_entry *ss_report_run(const ss_report_request *request, int series, int problem)
{
    // runs are sorted by problem, method, machine
    const ss_series *own = &request->statistics->series[series];
    int low = 0, high = request->results->run_count - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        const ss_run_entry *run = &request->results->runs[middle];
        int order = run->problem != problem      ? (run->problem < problem ? -1 : 1)
                    : run->method != own->method ? (run->method < own->method ? -1 : 1)
                                                 : run->machine - own->machine;
        if (order == 0) return run;
        if (order < 0)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return NULL;
}

double ss_report_metric(const ss_run_entry *run, const char *name)
{
    int metric = ss_metric_index(name);
    if (metric < 0 || !run->metrics || !run->metrics[metric].applies) return NAN;
    return ss_report_known(run->metrics[metric].value);
}

/* ---- words ----------------------------------------------------------------------------------------- */

void *ss_report_take(ss_report_exhibit *to, size_t count, size_t size)
{
    void *room = ss_arena_take(to->arena, count ? count : 1, size, "numbers of a figure");
    if (!room) to->out_of_memory = true;
    return room;
}

double *ss_report_numbers(ss_report_exhibit *to, int count)
{
    return ss_report_take(to, (size_t)count, sizeof(double));
}

const char *ss_report_words(ss_report_exhibit *to, const char *format, ...)
{
    char words[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    char *kept = ss_report_take(to, strlen(words) + 1, 1);
    return kept ? memcpy(kept, words, strlen(words) + 1) : "";
}

/* "natural_map" -> "natural map" */
static const char *spaced(ss_report_exhibit *to, const char *name)
{
    char *words = ss_report_take(to, strlen(name) + 1, 1);
    for (size_t i = 0; words && i <= strlen(name); i++) words[i] = name[i] == '_' ? ' ' : name[i];
    return words ? words : "";
}

const char *ss_report_measure(const ss_report_request *request, ss_report_exhibit *to)
{
    const char *name = ss_metric_at(request->statistics->rule.measure)->name;
    return strcmp(name, "relative_energy") == 0 ? "relative energy error" : spaced(to, name);
}

const char *ss_report_with_unit(ss_report_exhibit *to, const char *metric)
{
    int index = ss_metric_index(metric);
    const char *unit = index >= 0 ? ss_metric_at(index)->unit : "", *words = spaced(to, metric);
    bool none = !*unit || strcmp(unit, "1") == 0 || strcmp(unit, "mixed") == 0;
    return none ? words : ss_report_words(to, "%s [%s]", words, unit);
}

void ss_report_look(ss_plot_series *line, int series)
{
    line->tint = series % 8;
    line->look = series + 1;
}

/* ---- making one ------------------------------------------------------------------------------------ */

/* "results.db: 18 problems; solved: relative energy error at most 1e-4; cost: time until solved. stickslip
 * 0.1.0" */
static const char *source_of(const ss_report_request *request, ss_report_exhibit *to, bool with_exponent)
{
    int problems = 0;
    for (int i = 0; i < request->results->problem_count; i++)
        problems += !request->results->problems[i].fault;
    double tolerance = ss_report_tolerance(request), exponent = log10(tolerance);
    char shown[48];
    if (with_exponent && fabs(exponent - round(exponent)) < 1e-9)
        snprintf(shown, sizeof shown, "10" SS_RAISE "%s%.0f" SS_LOWER, exponent < 0 ? "\xe2\x88\x92" : "",
                 fabs(exponent));
    else
        snprintf(shown, sizeof shown, "%.3g", tolerance);
    return ss_report_words(to, "%s: %d problem%s; solved: %s at most %s; cost: %s. stickslip %s",
                           request->ledger, problems, problems == 1 ? "" : "s",
                           ss_report_measure(request, to), shown,
                           request->statistics->rule.whole_call     ? "time of the whole call"
                           : request->statistics->rule.until_solved ? "time until solved"
                                                                    : "time of the whole run",
                           ss_version());
}

bool ss_report_figure_make(const ss_report_figure *figure, const ss_report_request *request,
                           ss_report_exhibit *to, ss_error *err)
{
    *to = (ss_report_exhibit){.arena = ss_arena_create(1 << 16, err)};
    if (!to->arena) return false;
    for (int i = 0; i < request->setting_count; i++)
        if (!check_setting(figure, request->settings[i], err)) return false;
    to->figure = (ss_figure){.name = figure->name,
                             .title = figure->title,
                             .source = source_of(request, to, true),
                             .arena = to->arena,
                             .out_of_memory = &to->out_of_memory};
    to->below = (ss_figure){
        .name = figure->name, .title = "", .arena = to->arena, .out_of_memory = &to->out_of_memory};
    to->table =
        (ss_data_table){.title = figure->title, .source = source_of(request, to, false), .arena = to->arena};
    if (!figure->make(request, to, err)) return false;
    return (!to->out_of_memory && !to->table.out_of_memory) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for figure %s", figure->name);
}

void ss_report_exhibit_free(ss_report_exhibit *exhibit)
{
    ss_arena_destroy(exhibit->arena);
    *exhibit = (ss_report_exhibit){0};
}
