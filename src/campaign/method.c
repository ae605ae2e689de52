#include "campaign/method.h"

#include "base/number.h"
#include "base/words.h"

#include <stdio.h>
#include <string.h>

/* ---- options of solver and formulation ----------------------------------------------------------- */

static bool assign_all(const char *flag, const char *owner, const ss_option *table,
                       const ss_option_list *list, void *options, ss_error *err)
{
    for (int i = 0; i < list->count; i++) {
        if (!ss_options_assign(table, options, list->items[i], err)) {
            return ss_fail_in(err, "%s %s: %s", flag, list->items[i], owner);
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
static void *make_cone_options(const ss_method *method, ss_error *err)
{
    const ss_formulation *cone = ss_formulation_find("cone");
    void *options =
        make_options("--with", cone->name, cone->options, cone->options_size, &(ss_option_list){0}, err);
    if (options)
        memcpy(options, method->formulation_options, sizeof(ss_step_options)); // every one begins with it
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
        return ss_fail(err, SS_ERROR_USAGE, "--stop %s: there is no metric '%s'; did you mean %s?", text,
                       name, nearest.best);
    return ss_fail(err, SS_ERROR_USAGE,
                   "--stop %s: must be METRIC<VALUE or none; stickslip metrics lists the metrics", text);
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
        return ss_fail(err, SS_ERROR_USAGE, "--stop %s: the value must be a positive number", text);
    rule->metric = metric;
    return true;
}

static ss_status do_nothing(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    return SS_CONVERGED;
}

/* What the driver thinks of the rules, found out on a problem without unknowns before any file is touched. */
static bool check_run(const ss_method *method, ss_error *err)
{
    static const ss_solver nothing = {.abi = SS_ABI, .name = "nothing", .laws = ~0u, .solve = do_nothing};
    ss_problem *problem = ss_problem_create(0, 0, -1, err);
    ss_run_options run = method->run;
    ss_solve_result result;
    double x = 0.0;
    if (!problem) return false;
    if (method->rule.metric >= 0) run.stop = "none"; // not the driver's
    problem->A = ss_sparse_from_triplets(0, 0, 0, NULL, NULL, NULL, err);
    bool good = problem->A && ss_solve(&nothing, NULL, problem, &run, NULL, NULL, &x, &result, err);
    if (good) ss_solve_result_free(&result);
    ss_problem_destroy(problem);
    return good;
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static bool choose(const ss_method_words *words, const ss_solver_set *solvers, ss_method *method,
                   ss_error *err)
{
    method->solver = ss_solver_set_find(solvers, words->solver, err);
    method->formulation = method->solver ? ss_formulation_named(words->formulation, err) : NULL;
    if (!method->formulation) return false;
    if (!words->reference) return true;
    method->reference = ss_solver_set_find(solvers, words->reference, err);
    return method->reference || ss_fail_in(err, "--reference");
}

static bool set_options(const ss_method_words *words, ss_method *method, ss_error *err)
{
    const ss_solver *solver = method->solver;
    const ss_formulation *formulation = method->formulation;
    method->solver_options =
        make_options("--set", solver->name, solver->options, solver->options_size, words->set, err);
    method->formulation_options = method->solver_options
                                      ? make_options("--with", formulation->name, formulation->options,
                                                     formulation->options_size, words->with, err)
                                      : NULL;
    method->cone_options = method->formulation_options ? make_cone_options(method, err) : NULL;
    return method->cone_options != NULL;
}

bool ss_method_prepare(const ss_method_words *words, const ss_solver_set *solvers, ss_method *method,
                       ss_error *err)
{
    *method = (ss_method){.run = *words->run};
    if (choose(words, solvers, method, err) && set_options(words, method, err) &&
        parse_rule(method->run.stop, &method->rule, err) && check_run(method, err))
        return true;
    ss_method_free(method);
    return false;
}

void ss_method_free(ss_method *method)
{
    ss_release(method->solver_options);
    ss_release(method->formulation_options);
    ss_release(method->cone_options);
    *method = (ss_method){0};
}

/* ---- what is not as usual ------------------------------------------------------------------------ */

static void add_difference(const ss_option *option, const void *options, const void *usual, ss_text *text)
{
    char value[256], default_value[256];
    ss_option_print(option, options, value, sizeof value);
    ss_option_print(option, usual, default_value, sizeof default_value);
    if (strcmp(value, default_value) != 0)
        ss_text_appendf(text, "%s%s=%s", text->length ? " " : "", option->name, value);
}

void ss_options_differences(const ss_option *table, const void *options, ss_text *text)
{
    size_t size = 0;
    for (const ss_option *option = table; option && option->name; option++) {
        size_t end = option->offset + sizeof(ss_option_list); // the largest kind of field
        if (end > size) size = end;
    }
    void *usual = ss_allocate(1, size);
    if (!usual) text->out_of_memory = true;
    if (usual && size) ss_options_defaults(table, usual);
    for (const ss_option *option = table; usual && option && option->name; option++)
        add_difference(option, options, usual, text);
    ss_release(usual);
}
