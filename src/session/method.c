#include "session/method.h"

#include "base/number.h"
#include "base/words.h"
#include "session/named.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool blame(ss_request_fault *fault, const char *member, const char *item, size_t length)
{
    if (!fault) return false;
    fault->member = member;
    snprintf(fault->item, sizeof fault->item, "%.*s", (int)length, item);
    return false;
}

/* ---- options of solver and formulation ----------------------------------------------------------- */

/* The option struct of a solver or formulation: defaults, then what the user says in a list, "omega=1.3
 * sweep=symmetric". */
static void *make_options(const char *member, const char *owner, const ss_option *table, size_t size,
                          const char *list, ss_request_fault *fault, ss_error *err)
{
    static const char blanks[] = " \t\n";

    // A copy of the list lives behind the struct and is cut up: options that are texts point into it.
    char *options = ss_allocate(1, size + (list ? strlen(list) : 0) + 1), *texts = options + size;
    if (!options) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options");
        return NULL;
    }
    ss_options_defaults(table, options);
    if (list) strcpy(texts, list);
    for (char *at = texts + strspn(texts, blanks), *next; *at; at = next + strspn(next, blanks)) {
        size_t length = strcspn(at, blanks);
        next = at + length;
        if (*next) *next++ = '\0';
        if (ss_options_assign(table, options, at, err)) continue;
        ss_fail_in(err, "%s", owner);
        blame(fault, member, at, length);
        ss_release(options);
        return NULL;
    }
    return options;
}

void ss_option_list_join(const ss_option_list *list, ss_text *text)
{
    for (int i = 0; i < list->count; i++) ss_text_appendf(text, "%s%s", i ? " " : "", list->items[i]);
}

/* ---- rules --------------------------------------------------------------------------------------- */

/* Gauges are left to the driver, which measures them at every iteration. */
static bool parse_stop(const char *text, ss_stop_rule *stop, ss_metric_rule *rule, ss_error *err)
{
    char name[64];
    size_t length = strcspn(text, "<");
    rule->metric = -1;
    bool is_gauge = false;
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        const char *gauge = ss_gauge_name((ss_gauge)g);
        is_gauge |= strlen(gauge) == length && strncmp(gauge, text, length) == 0;
    }
    if (strcmp(text, "none") == 0 || (text[length] && is_gauge)) return ss_stop_rule_parse(text, stop, err);

    // METRIC<VALUE
    *stop = (ss_stop_rule){0};
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    int metric = text[length] ? ss_metric_index(name) : -1;
    if (metric < 0) {
        ss_nearest nearest = ss_nearest_start(name);
        for (int i = 0; i < ss_metric_count(); i++) ss_nearest_offer(&nearest, ss_metric_at(i)->name);
        if (nearest.best && text[length])
            return ss_fail(err, SS_ERROR_USAGE,
                           "invalid stop rule \"%s\": unknown metric '%s'; did you mean %s?", text, name,
                           nearest.best);
        return ss_fail(err, SS_ERROR_USAGE, "invalid stop rule \"%s\": expected METRIC<VALUE or none", text);
    }
    if (!ss_number_read(text + length + 1, &rule->below) || !(rule->below > 0.0))
        return ss_fail(err, SS_ERROR_USAGE, "invalid stop rule \"%s\": expected a positive number after <",
                       text);
    rule->metric = metric;
    return true;
}

bool ss_method_check_stop(const char *text, ss_error *err)
{
    ss_stop_rule stop;
    ss_metric_rule rule;
    return parse_stop(text, &stop, &rule, err);
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static const ss_solver *choose_solver(const ss_solver *own, const char *name, ss_error *err)
{
    return own ? own : ss_solver_named(name, err);
}

/* What it leaves behind when it fails is freed by the caller. */
static bool prepare(const ss_request *request, ss_method *method, ss_request_fault *fault, ss_error *err)
{
    const ss_solver *solver =
        choose_solver(request->own_solver, request->solver ? request->solver : "auto", err);
    if (!solver) return false;
    const ss_formulation *formulation =
        ss_formulation_named(request->formulation ? request->formulation : "cone", err);
    if (!formulation) return false;
    method->solver = solver;
    method->formulation = formulation;
    if (request->reference || request->own_reference) {
        method->certified = !request->own_reference && strcmp(request->reference, "certified") == 0;
        method->reference =
            choose_solver(request->own_reference, method->certified ? "auto" : request->reference, err);
        if (!method->reference) return blame(fault, "reference", "", 0);
    }

    method->solver_options =
        make_options("set", solver->name, solver->options, solver->options_size, request->set, fault, err);
    if (!method->solver_options) return false;
    method->formulation_options = make_options("with", formulation->name, formulation->options,
                                               formulation->options_size, request->with, fault, err);
    if (!method->formulation_options) return false;

    // In a request 0 iterations are the usual number, and a negative number is none.
    int iterations = request->iterations == 0 ? 10000 : request->iterations > 0 ? request->iterations : 0;
    method->run = (ss_run_options){.max_iterations = iterations,
                                   .time_limit = request->time_limit,
                                   .seed = request->seed,
                                   .history = request->history,
                                   .explain = request->explain};
    const char *stop = request->stop ? request->stop : "natural_map<1e-8";
    if (!parse_stop(stop, &method->run.stop, &method->rule, err)) return blame(fault, "stop", "", 0);
    if (!ss_keep_rule_parse(request->keep, &method->run.keep, err)) return blame(fault, "keep", "", 0);
    return ss_peg_mode_find(request->peg ? request->peg : "select", &method->peg, err) ||
           blame(fault, "peg", "", 0);
}

bool ss_method_prepare(const ss_request *request, ss_method *method, ss_request_fault *fault, ss_error *err)
{
    *method = (ss_method){0};
    if (fault) *fault = (ss_request_fault){0};
    if (prepare(request, method, fault, err)) return true;
    ss_method_free(method);
    return false;
}

void ss_method_free(ss_method *method)
{
    ss_release(method->solver_options);
    ss_release(method->formulation_options);
    *method = (ss_method){0};
}

/* ---- what is not as usual ------------------------------------------------------------------------ */

void ss_options_differences(const ss_option *table, const void *options, ss_text *text)
{
    // A struct with the defaults, as large as the table needs.
    size_t size = 0;
    for (const ss_option *option = table; option && option->name; option++) {
        size_t end = option->offset + sizeof(ss_option_list); // the largest kind of field
        if (end > size) size = end;
    }
    void *usual = ss_allocate(1, size);
    if (!usual) text->out_of_memory = true;
    if (usual && size) ss_options_defaults(table, usual);

    for (const ss_option *option = table; usual && option && option->name; option++) {
        char value[256], default_value[256];
        ss_option_print(option, options, value, sizeof value);
        ss_option_print(option, usual, default_value, sizeof default_value);
        if (strcmp(value, default_value) != 0)
            ss_text_appendf(text, "%s%s=%s", text->length ? " " : "", option->name, value);
    }
    ss_release(usual);
}

static void add_option(const ss_step_options *step, const char *name, ss_text *text)
{
    char value[64];
    ss_option_print(ss_options_find(ss_formulation_find("cone")->options, name), step, value, sizeof value);
    ss_text_appendf(text, "%s%s=%s", text->length ? " " : "", name, value);
}

void ss_step_words(const ss_step_options *step, ss_text *text)
{
    bool gentle = step->gap_term == SS_GAP_STABILISED || step->gap_term == SS_GAP_RESTITUTION;
    add_option(step, "gap_term", text);
    if (gentle) add_option(step, "gamma", text);
    if (gentle && step->slop > 0.0) add_option(step, "slop", text);
    if (step->gap_term == SS_GAP_RESTITUTION) add_option(step, "restitution_speed", text);
    if (step->contact_margin < INFINITY) add_option(step, "contact_margin", text);
    if (step->mu_max > 0.0) add_option(step, "mu_max", text);
    add_option(step, "joint_term", text);
    if (step->joint_term == SS_JOINT_STABILISED) add_option(step, "joint_gamma", text);
    if (step->joint_term == SS_JOINT_SPOOK) add_option(step, "joint_relaxation", text);
}
