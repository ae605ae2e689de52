/* From selections to methods: every formulation with every solver and every value of their options. */
#include "campaign/campaign.h"

#include <stickslip/formulation.h>
#include <stickslip/solver.h>

#include <stdio.h>
#include <string.h>

#define MOST_METHODS 100000

typedef struct expansion {
    ss_campaign *campaign;
    const ss_catalogue *catalogue;
    ss_planned_method *methods; /* in memory of its own while it grows */
    int count, capacity;
    const char **stops;
    int stop_count;
    ss_start starts[SS_START_COUNT];
    int start_count;
    ss_text *left_out;
    ss_error *err;
} expansion;

const ss_catalogue_entry *ss_catalogue_find(const ss_catalogue *catalogue, const char *solver)
{
    for (int i = 0; i < catalogue->count; i++)
        if (strcmp(catalogue->entries[i].name, solver) == 0) return &catalogue->entries[i];
    return NULL;
}

static bool add_method(expansion *e, const ss_planned_method *method)
{
    if (e->count == MOST_METHODS)
        return ss_fail(e->err, SS_ERROR_USAGE, "more than %d methods: too many option values", MOST_METHODS);
    if (e->count == e->capacity) {
        int capacity = e->capacity ? 2 * e->capacity : 64;
        ss_planned_method *grown = ss_allocate((size_t)capacity, sizeof *grown);
        if (!grown) return ss_fail(e->err, SS_ERROR_RESOURCES, "out of memory for methods");
        if (e->count) memcpy(grown, e->methods, (size_t)e->count * sizeof *grown);
        ss_release(e->methods);
        e->methods = grown;
        e->capacity = capacity;
    }
    e->methods[e->count++] = *method;
    return true;
}

/* All values of the options from number `at` on, with those before as in `so_far`. Sweeps of the formulation
 * come first, then those of the solver; `at` counts through both. */
static bool take_values(expansion *e, ss_selection *selection, int at, const ss_planned_method *so_far)
{
    // Every option has its value: a method for each stop rule and each start.
    if (at == selection->with_count + selection->set_count) {
        ss_planned_method method = *so_far;
        const ss_catalogue_entry *entry = ss_catalogue_find(e->catalogue, method.solver);
        for (int i = 0; i < e->stop_count * e->start_count; i++) {
            method.stop = e->stops[i / e->start_count];
            method.start = e->starts[i % e->start_count];
            bool ignored = method.start != SS_START_COLD && entry && !entry->starts;
            if (!ignored && !add_method(e, &method)) return false;
        }
        return true;
    }

    // An option of one solver or formulation by name does not concern the others.
    bool is_with = at < selection->with_count;
    ss_option_sweep *sweep = is_with ? &selection->with[at] : &selection->set[at - selection->with_count];
    const char *name = is_with ? so_far->formulation : so_far->solver, *owner = sweep->owner;
    if (owner && !is_with) owner = ss_solver_name(owner);
    if (owner && strcmp(owner, name) != 0) return take_values(e, selection, at + 1, so_far);
    sweep->used = true;

    for (int value = 0; value < sweep->count; value++) {
        ss_planned_method method = *so_far;
        ss_option_list *list = is_with ? &method.with : &method.set;
        size_t length = strlen(sweep->name) + strlen(sweep->values[value]) + 2;
        char *text = ss_campaign_room(e->campaign, length, 1, e->err);
        if (!text) return false;
        if (list->count == SS_OPTION_LIST_MOST)
            return ss_fail(e->err, SS_ERROR_USAGE, "%s: more than %d options", sweep->where,
                           SS_OPTION_LIST_MOST);
        snprintf(text, length, "%s=%s", sweep->name, sweep->values[value]);
        list->items[list->count++] = text;
        if (!take_values(e, selection, at + 1, &method)) return false;
    }
    return true;
}

static bool check_owners(const ss_option_sweep *sweeps, int count, const char *kind, ss_error *err)
{
    for (int i = 0; i < count; i++) {
        if (!sweeps[i].used && sweeps[i].owner)
            return ss_fail(err, SS_ERROR_USAGE, "%s: no %s '%s' in this campaign", sweeps[i].where, kind,
                           sweeps[i].owner);
    }
    return true;
}

/* Every formulation of a selection with every solver of it, except for pairs that never fit: those are named
 * in e->left_out. */
static bool take_selection(expansion *e, ss_selection *selection)
{
    int formulations = selection->all_formulations ? ss_formulation_count() : selection->formulation_count;
    int solvers = selection->all_solvers ? e->catalogue->count : selection->solver_count;

    for (int i = 0; i < formulations; i++) {
        const char *formulation =
            selection->all_formulations ? ss_formulation_at(i)->name : selection->formulations[i];
        int number = 0; // its place in the list of what a solver accepts
        while (number < ss_formulation_count() && strcmp(ss_formulation_at(number)->name, formulation) != 0)
            number++;

        for (int k = 0; k < solvers; k++) {
            const char *solver = selection->all_solvers ? e->catalogue->entries[k].name
                                                        : ss_solver_name(selection->solvers[k]);
            const ss_catalogue_entry *entry = ss_catalogue_find(e->catalogue, solver);
            if (entry && number < (int)strlen(entry->accepts) && entry->accepts[number] == '0') {
                ss_text_appendf(e->left_out, "%s%s with %s", e->left_out->length ? ", " : "", solver,
                                formulation);
                continue;
            }
            // A solver that ignores its start is run from zero only, if that is wanted.
            for (int s = 0; s < e->start_count && entry && !entry->starts; s++)
                if (e->starts[s] != SS_START_COLD)
                    ss_text_appendf(e->left_out, "%s%s with start %s", e->left_out->length ? ", " : "",
                                    solver, ss_start_name(e->starts[s]));
            ss_planned_method method = {.formulation = formulation, .solver = solver, .selection = selection};
            if (!take_values(e, selection, 0, &method)) return false;
        }
    }
    return check_owners(selection->with, selection->with_count, "formulation", e->err) &&
           check_owners(selection->set, selection->set_count, "solver", e->err);
}

bool ss_campaign_expand(ss_campaign *campaign, const ss_catalogue *catalogue, ss_planned_method **methods,
                        int *count, ss_text *left_out, ss_error *err)
{
    expansion e = {.campaign = campaign, .catalogue = catalogue, .left_out = left_out, .err = err};
    e.stops = ss_campaign_stops(campaign, &e.stop_count, err);
    bool good = e.stops != NULL && ss_campaign_starts(campaign, e.starts, &e.start_count, err);
    for (int i = 0; good && i < campaign->selection_count; i++)
        good = take_selection(&e, &campaign->selections[i]);
    if (good && e.count == 0 && !campaign->options.recorded)
        good = ss_fail(err, SS_ERROR_USAGE, "no solver fits a chosen formulation");

    if (!good) {
        ss_release(e.methods);
        e.methods = NULL;
    }
    *methods = e.methods;
    *count = good ? e.count : 0;
    return good;
}
