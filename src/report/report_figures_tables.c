/* The tables of the report. For readers they have the columns of the page, otherwise those of its CSV. */
#include "report/report_board.h"
#include "report/report_figures_internal.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* Median of the iterations of the runs that were solved; NaN: none. */
static double median_iterations(const ss_report_request *request, ss_report_exhibit *to, int series)
{
    double *values = ss_report_numbers(to, request->results->problem_count);
    int count = 0;
    for (int p = 0; values && p < request->results->problem_count; p++) {
        const ss_run_entry *run = ss_report_run(request, series, p);
        if (run && isfinite(ss_run_cost(run, &request->statistics->rule, ss_report_tolerance(request))))
            values[count++] = run->iterations;
    }
    if (count > 1) qsort(values, (size_t)count, sizeof *values, by_value);
    return count ? 0.5 * (values[(count - 1) / 2] + values[count / 2]) : NAN;
}

static void add_metric_columns(ss_report_exhibit *to)
{
    for (int m = 0; m < ss_metric_count(); m++) {
        ss_data_add_column(&to->table, ss_report_words(to, "%s median", ss_metric_at(m)->name),
                           SS_CELL_NUMBER);
        ss_data_add_column(&to->table, ss_report_words(to, "%s largest", ss_metric_at(m)->name),
                           SS_CELL_NUMBER);
    }
}

static void add_metrics(ss_report_exhibit *to, const double *median, const double *most)
{
    for (int m = 0; m < ss_metric_count(); m++) {
        ss_data_number(&to->table, ss_report_known(median[m]));
        ss_data_number(&to->table, ss_report_known(most[m]));
    }
}

static double metric_of(const double *values, const char *name)
{
    int metric = ss_metric_index(name);
    return metric < 0 ? NAN : ss_report_known(values[metric]);
}

static void show_solvers(const ss_report_request *request, ss_report_exhibit *to, const int *shown, int count)
{
    ss_data_table *table = &to->table;
    const char *measure = ss_metric_at(request->statistics->rule.measure)->name;
    table->note = "In brackets: over fewer problems than others solve.";
    ss_data_add_column(table, "Method", SS_CELL_NUMBER);
    ss_data_add_column(table, "Solved", SS_CELL_NUMBER);
    ss_data_add_column(table, "Cost", SS_CELL_SECONDS);
    ss_data_add_column(table, "Factor", SS_CELL_NUMBER);
    ss_data_add_column(table, "Error", SS_CELL_NUMBER);
    ss_data_add_column(table, "Iterations", SS_CELL_NUMBER);
    ss_data_add_column(table, "Energy [J], median", SS_CELL_NUMBER);
    ss_data_add_column(table, "largest", SS_CELL_NUMBER);
    ss_data_add_column(table, "Natural map", SS_CELL_NUMBER);
    ss_data_add_column(table, "Creep [m/s]", SS_CELL_NUMBER);
    ss_data_add_column(table, "Overlap [m]", SS_CELL_NUMBER);

    for (int k = 0; k < count; k++) {
        const ss_series *series = &request->statistics->series[shown[k]];
        const ss_score *score = ss_report_score(request, shown[k]);
        ss_data_text(table, series->label);
        ss_data_textf(table, "%d/%d", score->solved,
                      score->solved + score->failed + score->refused + score->missing);
        if (score->solved > 0 && score->solved < score->common)
            ss_data_bracketed(table, ss_report_known(score->cost_solved));
        else
            ss_data_number(table, ss_report_known(score->cost_solved));
        ss_data_number(table, ss_report_known(score->versus.factor));
        ss_data_number(table, metric_of(series->metric_median, measure));
        ss_data_number(table, median_iterations(request, to, shown[k]));
        ss_data_number(table, metric_of(series->metric_median, "energy"));
        ss_data_number(table, metric_of(series->metric_most, "energy"));
        ss_data_number(table, metric_of(series->metric_median, "natural_map"));
        ss_data_number(table, metric_of(series->metric_median, "creep"));
        ss_data_number(table, metric_of(series->metric_median, "penetration"));
    }
}

bool ss_report_solvers(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"rank",
                                          "series",
                                          "tolerance",
                                          "solved",
                                          "not solved",
                                          "not applicable",
                                          "missing",
                                          "rate",
                                          "low",
                                          "high",
                                          "common",
                                          "cost, unsolved penalised [s]",
                                          "cost of what it solved [s]",
                                          "cost median [s]",
                                          "cost largest [s]",
                                          "factor",
                                          "shared",
                                          "faster"};
    int count;
    const int *shown = ss_report_shown(request, to, true, &count, err);
    if (!shown) return false;
    if (request->for_readers) {
        show_solvers(request, to, shown, count);
        return true;
    }

    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);
    add_metric_columns(to);

    for (int k = 0; k < count; k++) {
        const ss_series *series = &request->statistics->series[shown[k]];
        const ss_score *score = ss_report_score(request, shown[k]);
        ss_data_number(&to->table, shown[k] + 1);
        ss_data_text(&to->table, series->label);
        const double values[] = {ss_report_tolerance(request),
                                 score->solved,
                                 score->failed,
                                 score->refused,
                                 score->missing,
                                 score->rate,
                                 score->low,
                                 score->high,
                                 score->common,
                                 score->cost,
                                 score->cost_solved,
                                 score->cost_median,
                                 score->cost_most,
                                 score->versus.factor,
                                 score->versus.shared,
                                 score->versus.faster};
        for (size_t c = 0; c < sizeof values / sizeof *values; c++)
            ss_data_number(&to->table, ss_report_known(values[c]));
        add_metrics(to, series->metric_median, series->metric_most);
    }
    return true;
}

bool ss_report_recorded(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const all[] = {"label",      "formulation", "rules", "answers",
                                      "incomplete", "assumed",     "tried", "within"};
    static const char *const some[] = {"Answers",     "Solved",      "Energy [J], median", "largest",
                                       "Natural map", "Creep [m/s]", "Overlap [m]",        "Judged by"};
    (void)err;
    const ss_statistics *statistics = request->statistics;
    const bool reading = request->for_readers;
    for (size_t c = 0; c < sizeof all / sizeof *all; c++)
        ss_data_add_column(&to->table, (reading ? some : all)[c], SS_CELL_NUMBER);
    if (!reading) add_metric_columns(to);

    for (int i = 0; i < statistics->recorded_count; i++) {
        const ss_recorded *row = &statistics->recorded[i];
        const ss_method_entry *method = &request->results->methods[row->method];
        int within = row->within[statistics->options.main_tolerance];
        ss_data_text(&to->table, method->label);
        if (reading) {
            ss_data_textf(&to->table, "%d/%d", within, row->tried);
            ss_data_number(&to->table, metric_of(row->metric_median, "energy"));
            ss_data_number(&to->table, metric_of(row->metric_most, "energy"));
            ss_data_number(&to->table, metric_of(row->metric_median, "natural_map"));
            ss_data_number(&to->table, metric_of(row->metric_median, "creep"));
            ss_data_number(&to->table, metric_of(row->metric_median, "penetration"));
            ss_data_textf(&to->table, "%s, %s", method->formulation, method->with);
            continue;
        }

        ss_data_text(&to->table, method->formulation);
        ss_data_text(&to->table, method->with);
        const int values[] = {row->answers, row->incomplete, row->assumed, row->tried, within};
        for (size_t c = 0; c < sizeof values / sizeof *values; c++) ss_data_number(&to->table, values[c]);
        add_metrics(to, row->metric_median, row->metric_most);
    }
    return true;
}

bool ss_report_scenes(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    (void)err;
    const ss_statistics *statistics = request->statistics;
    const int main = statistics->options.main_tolerance;
    static const char *const some[] = {"Scene", "Best method",           "Solved",
                                       "Cost",  "The one to use solves", "its cost"};
    static const char *const all[] = {"scene",          "problems", "tolerance",
                                      "best",           "solved",   "cost of what it solved [s]",
                                      "the one to use", "solved",   "cost of what it solved [s]"};
    const bool reading = request->for_readers;
    for (size_t c = 0; c < (reading ? sizeof some / sizeof *some : sizeof all / sizeof *all); c++)
        ss_data_add_column(&to->table, (reading ? some : all)[c], reading ? SS_CELL_SECONDS : SS_CELL_NUMBER);

    for (int i = 0; i < statistics->scene_count; i++) {
        const ss_scene_standing *scene = &statistics->scenes[i];
        const ss_scene_score *scores[2] = {&scene->best[main], &scene->first[main]};
        ss_data_text(&to->table, scene->name);
        if (!reading) {
            ss_data_number(&to->table, scene->problems);
            ss_data_number(&to->table, ss_report_tolerance(request));
        }
        for (int k = 0; k < 2; k++) {
            const ss_scene_score *score = scores[k];
            const char *label = score->series < 0 ? NULL : statistics->series[score->series].label;
            if (!reading || k == 0) ss_data_text(&to->table, reading && !label ? "none" : label);
            if (!reading)
                ss_data_number(&to->table, score->solved);
            else if (label)
                ss_data_textf(&to->table, "%d/%d", score->solved, scene->problems);
            else
                ss_data_number(&to->table, NAN);
            ss_data_number(&to->table, ss_report_known(score->cost_solved));
        }
    }
    return true;
}

bool ss_report_problems(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const all[] = {"scene",    "file",   "format",    "index",   "place",
                                      "hash",     "time",   "h",         "bodies",  "joints",
                                      "contacts", "rows",   "massRatio", "density", "rankRatio",
                                      "muLeast",  "muMost", "fault",     "runs",    "solved"};
    static const char *const some[] = {"Scene",      "Frame",    "Bodies",     "Joints",
                                       "Contacts",   "Rows",     "Mass ratio", "Density",
                                       "Rank ratio", "Friction", "Step [s]",   "Solved by"};
    (void)err;
    const ss_results *results = request->results;
    const bool reading = request->for_readers;
    for (size_t c = 0; c < (reading ? sizeof some / sizeof *some : sizeof all / sizeof *all); c++)
        ss_data_add_column(&to->table, (reading ? some : all)[c], SS_CELL_NUMBER);

    for (int p = 0; p < results->problem_count; p++) {
        const ss_problem_entry *problem = &results->problems[p];
        int runs = 0, solved = 0;
        for (int r = 0; r < results->run_count; r++) {
            const ss_run_entry *run = &results->runs[r];
            if (run->problem != p || ss_report_series_of(request->statistics, run) < 0) continue;
            runs++;
            solved += isfinite(ss_run_cost(run, &request->statistics->rule, ss_report_tolerance(request)));
        }

        ss_data_text(&to->table, problem->scene);
        if (reading) {
            const double values[] = {
                problem->index,      problem->bodies,  problem->joints,     problem->contacts, problem->rows,
                problem->mass_ratio, problem->density, problem->rank_ratio, problem->mu_most,  problem->h};
            for (size_t c = 0; c < sizeof values / sizeof *values; c++)
                ss_data_number(&to->table, c == 0 && values[c] < 0 ? NAN : ss_report_known(values[c]));
            ss_data_textf(&to->table, "%d/%d", solved, runs);
            continue;
        }

        ss_data_text(&to->table, problem->file);
        ss_data_text(&to->table, problem->format);
        ss_data_number(&to->table, problem->index);
        ss_data_text(&to->table, problem->place);
        ss_data_text(&to->table, problem->hash);
        const double values[] = {problem->time,       problem->h,        problem->bodies,
                                 problem->joints,     problem->contacts, problem->rows,
                                 problem->mass_ratio, problem->density,  problem->rank_ratio,
                                 problem->mu_least,   problem->mu_most};
        for (size_t c = 0; c < sizeof values / sizeof *values; c++)
            ss_data_number(&to->table, ss_report_known(values[c]));
        ss_data_text(&to->table, problem->fault);
        ss_data_number(&to->table, runs);
        ss_data_number(&to->table, solved);
    }
    return true;
}

/* Tables of many ledgers, with the numbers of report_board.h. */
static void add_columns(ss_report_exhibit *to, const char *const *columns, size_t count)
{
    for (size_t c = 0; c < count; c++) ss_data_add_column(&to->table, columns[c], SS_CELL_NUMBER);
}
static void add_problem(ss_report_exhibit *to, const ss_problem_entry *problem)
{
    ss_data_text(&to->table, problem->scene);
    ss_data_text(&to->table, problem->file);
    ss_data_number(&to->table, problem->index < 0 ? NAN : problem->index);
}
/* The measure of a run; NaN: not judged. */
static double error_of(const ss_report_request *request, const ss_run_entry *run)
{
    return ss_report_metric(run, ss_metric_at(request->statistics->rule.measure)->name);
}

bool ss_report_unsolved(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"Scene", "File", "Frame", "Contacts", "Runs", "Nearest", "Error"};
    (void)err;
    const ss_results *results = request->results;
    const ss_statistics *statistics = request->statistics;
    add_columns(to, columns, sizeof columns / sizeof *columns);
    ss_unsolved found;
    for (int cursor = 0;
         ss_unsolved_next(results, statistics, ss_report_tolerance(request), &cursor, &found);) {
        const ss_problem_entry *problem = &results->problems[found.problem];
        const ss_run_entry *best = found.nearest < 0 ? NULL : &results->runs[found.nearest];
        add_problem(to, problem);
        ss_data_number(&to->table, problem->contacts);
        ss_data_number(&to->table, found.tried);
        ss_data_text(&to->table,
                     best ? statistics->series[ss_report_series_of(statistics, best)].label : NULL);
        ss_data_number(&to->table, best ? error_of(request, best) : NAN);
    }
    return true;
}

bool ss_report_trust(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"Metric", "Over", "Runs", "Median", "5 %", "95 %", "Below 1"};
    (void)err;
    add_columns(to, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < request->statistics->trust_count; i++) {
        const ss_trust *trust = &request->statistics->trust[i];
        const double numbers[] = {trust->runs, trust->median, trust->low, trust->high, trust->below};
        ss_data_text(&to->table, ss_metric_at(trust->metric)->name);
        ss_data_text(&to->table, ss_metric_at(trust->truth)->name);
        for (int n = 0; n < 5; n++) ss_data_number(&to->table, numbers[n]);
    }
    return true;
}

bool ss_report_reproduction(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"Scene",   "File",  "Frame",   "Method",  "Version", "Machine",
                                          "Outcome", "Error", "Machine", "Outcome", "Error"};
    (void)err;
    const ss_results *results = request->results;
    add_columns(to, columns, sizeof columns / sizeof *columns);
    ss_repeated pair;
    for (int cursor = 0; ss_repeated_next(results, &cursor, &pair);) {
        if (pair.same) continue;
        const ss_run_entry *both[] = {&results->runs[pair.first], &results->runs[pair.run]};
        add_problem(to, &results->problems[both[0]->problem]);
        ss_data_text(&to->table, results->methods[both[0]->method].label);
        ss_data_text(&to->table, results->machines[both[0]->machine].version);
        for (int i = 0; i < 2; i++) {
            ss_data_text(&to->table, request->statistics->machines[both[i]->machine].text);
            ss_data_text(&to->table, ss_outcome_name(both[i]->outcome));
            ss_data_number(&to->table, error_of(request, both[i]));
        }
    }
    return true;
}

bool ss_report_ledgers(const ss_report_request *request, ss_report_exhibit *to, ss_error *err)
{
    static const char *const columns[] = {"Ledger", "Machine", "Processor", "Cores", "System", "Version",
                                          "Build",  "Source",  "First",     "Last",  "Runs",   "Collection"};
    (void)err;
    const ss_results *results = request->results;
    add_columns(to, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < request->sources->count; i++) {
        const ss_source *source = &request->sources->items[i];
        int index = ss_source_machine(results, source);
        if (index < 0) continue;
        const ss_machine *machine = &results->machines[index];
        ss_data_text(&to->table, source->file);
        ss_data_text(&to->table, request->statistics->machines[index].text);
        ss_data_text(&to->table, machine->cpu);
        ss_data_number(&to->table, machine->cores);
        ss_data_text(&to->table, machine->system);
        ss_data_text(&to->table, machine->version);
        ss_data_textf(&to->table, "%s, %s", machine->compiler, machine->build);
        ss_data_text(&to->table, source->builds);
        ss_data_text(&to->table, source->first);
        ss_data_text(&to->table, source->last);
        ss_data_number(&to->table, source->runs);
        ss_data_text(&to->table, source->collections);
    }
    return true;
}
