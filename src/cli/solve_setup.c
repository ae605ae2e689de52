/* `stickslip solve` before the first frame: names become solvers, formulations, options and rules. */
#include "cli/solve.h"

#include "base/number.h"
#include "base/words.h"

#include <errno.h>
#include <string.h>

/* ---- options of solver and formulation ----------------------------------------------------------- */

static bool assign_all(const char *flag, const char *owner, const ss_option *table,
                       const ss_option_list *list, void *options, ss_error *err)
{
    for (int i = 0; i < list->count; i++) {
        if (!ss_options_assign(table, options, list->items[i], err)) {
            return ss_fail_in(err, "solve: %s %s: %s", flag, list->items[i], owner);
        }
    }
    return true;
}

/* The option struct of a solver or formulation: defaults, then what the user says. */
static void *make_options(const char *flag, const char *owner, const ss_option *table, size_t size,
                          const ss_option_list *list, ss_error *err)
{
    void *options = ss_allocate(1, size);
    if (!options) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options");
        return NULL;
    }
    ss_options_defaults(table, options);
    if (assign_all(flag, owner, table, list, options, err)) return options;
    ss_release(options);
    return NULL;
}

/* The true Coulomb problem of the same step: what the reference solves. */
static void *make_cone_options(const ss_solving *solving, ss_error *err)
{
    const ss_formulation *cone = ss_formulation_find("cone");
    void *options =
        make_options("--with", cone->name, cone->options, cone->options_size, &(ss_option_list){0}, err);
    if (options)
        memcpy(options, solving->formulation_options, sizeof(ss_step_options)); // every one begins with it
    return options;
}

/* ---- the stop rule ------------------------------------------------------------------------------- */

static bool is_gauge(const char *name, size_t length)
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        const char *gauge = ss_gauge_name((ss_gauge)g);
        if (strlen(gauge) == length && strncmp(gauge, name, length) == 0) return true;
    }
    return false;
}

static bool fail_rule(const char *text, const char *name, ss_error *err)
{
    ss_nearest nearest = ss_nearest_start(name);
    for (int i = 0; i < ss_metric_count(); i++) ss_nearest_offer(&nearest, ss_metric_at(i)->name);
    if (nearest.best && strchr(text, '<'))
        return ss_fail(err, SS_ERROR_USAGE, "solve: --stop %s: there is no metric '%s'; did you mean %s?",
                       text, name, nearest.best);
    return ss_fail(err, SS_ERROR_USAGE,
                   "solve: --stop %s: must be METRIC<VALUE or none; stickslip metrics lists the metrics",
                   text);
}

/* Gauges are left to the driver, which measures them at every iteration. */
static bool parse_rule(const char *text, ss_metric_rule *rule, ss_error *err)
{
    char name[64];
    size_t length = strcspn(text, "<");
    rule->metric = -1;
    if (strcmp(text, "none") == 0 || (text[length] && is_gauge(text, length))) return true;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    int metric = text[length] ? ss_metric_index(name) : -1;
    if (metric < 0) return fail_rule(text, name, err);
    if (!ss_number_read(text + length + 1, &rule->below) || !(rule->below > 0.0))
        return ss_fail(err, SS_ERROR_USAGE, "solve: --stop %s: the value must be a positive number", text);
    rule->metric = metric;
    return true;
}

static ss_status do_nothing(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    return SS_CONVERGED;
}

/* What the driver thinks of the rules, found out on a problem without unknowns before any file is touched. */
static bool check_run(const ss_solving *s, ss_error *err)
{
    static const ss_solver nothing = {.abi = SS_ABI, .name = "nothing", .laws = ~0u, .solve = do_nothing};
    ss_problem *problem = ss_problem_create(0, 0, -1, err);
    ss_run_options run = s->run;
    ss_solve_result result;
    double x = 0.0;
    if (!problem) return false;
    if (s->rule.metric >= 0) run.stop = "none"; // not the driver's
    problem->A = ss_sparse_from_triplets(0, 0, 0, NULL, NULL, NULL, err);
    bool good = problem->A && ss_solve(&nothing, NULL, problem, &run, NULL, NULL, &x, &result, err);
    if (good) ss_solve_result_free(&result);
    ss_problem_destroy(problem);
    return good || ss_fail_in(err, "solve");
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static bool choose_methods(ss_solving *s, ss_error *err)
{
    const ss_solve_options *options = s->options;
    s->solver = ss_solver_set_find(&s->solvers, options->solver, err);
    s->formulation = s->solver ? ss_formulation_named(options->formulation, err) : NULL;
    if (!s->formulation) return ss_fail_in(err, "solve");
    if (!options->reference) return true;
    s->reference = ss_solver_set_find(&s->solvers, options->reference, err);
    return s->reference || ss_fail_in(err, "solve: --reference");
}

static bool set_options(ss_solving *s, ss_error *err)
{
    const ss_solver *solver = s->solver;
    const ss_formulation *formulation = s->formulation;
    s->solver_options =
        make_options("--set", solver->name, solver->options, solver->options_size, &s->options->set, err);
    s->formulation_options = s->solver_options
                                 ? make_options("--with", formulation->name, formulation->options,
                                                formulation->options_size, &s->options->with, err)
                                 : NULL;
    s->cone_options = s->formulation_options ? make_cone_options(s, err) : NULL;
    return s->cone_options != NULL;
}

static bool check_outputs(const ss_solving *s, ss_error *err)
{
    return (!s->options->output || ss_source_check_target(s->command, s->options->output, err)) &&
           (!s->options->trace || ss_source_check_target(s->command, s->options->trace, err));
}

static bool open_trace(ss_solving *s, ss_error *err)
{
    if (!s->options->trace) return true;
    s->trace = fopen(s->options->trace, "w");
    return s->trace ||
           ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot write: %s", s->options->trace, strerror(errno));
}

bool ss_solving_prepare(ss_solving *s, ss_error *err)
{
    s->run = s->options->run;
    s->run.history = s->options->trace || s->options->output;
    return ss_solver_set_open(&s->options->plugins, &s->solvers, err) && choose_methods(s, err) &&
           set_options(s, err) && parse_rule(s->run.stop, &s->rule, err) && check_run(s, err) &&
           check_outputs(s, err) && open_trace(s, err);
}

void ss_solving_free(ss_solving *s)
{
    ss_release(s->solver_options);
    ss_release(s->formulation_options);
    ss_release(s->cone_options);
    ss_solver_set_close(&s->solvers);
    ss_tally_free(&s->tally);
    ss_findings_free(&s->refused.list);
    ss_text_free(&s->table.cells);
    ss_text_free(&s->details.cells);
    ss_text_free(&s->rays);
    if (s->trace) fclose(s->trace);
}
