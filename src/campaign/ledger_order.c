/* The order of what was loaded: by what things are, never by when they were written; and short
 * names of methods. */
#include "campaign/ledger_internal.h"

#include "base/number.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- order -------------------------------------------------------------------------------------------- */

static int by_number(double a, double b)
{
    return (a > b) - (a < b);
}

/* The first pair of texts that differ. */
static int by_texts(const char *const *a, const char *const *b, size_t count)
{
    int order = 0;
    for (size_t i = 0; i < count && !order; i++) order = strcmp(a[i], b[i]);
    return order;
}

static int by_machine(const void *left, const void *right)
{
    const ss_machine *a = left, *b = right;
    return strcmp(a->key, b->key);
}

static int by_problem(const void *left, const void *right)
{
    const ss_problem_entry *a = left, *b = right;
    int order = by_texts((const char *[]){a->scene, a->file}, (const char *[]){b->scene, b->file}, 2);
    if (!order) order = by_number(a->index, b->index);
    return order ? order
                 : by_texts((const char *[]){a->place, a->hash}, (const char *[]){b->place, b->hash}, 2);
}

static int by_method(const void *left, const void *right)
{
    const ss_method_entry *a = left, *b = right;
    int order = by_texts(
        (const char *[]){a->formulation, a->solver, a->set, a->with, a->stop, a->keep, a->reference},
        (const char *[]){b->formulation, b->solver, b->set, b->with, b->stop, b->keep, b->reference}, 7);
    if (!order) order = by_number(a->iterations, b->iterations);
    if (!order) order = by_number(a->time_limit, b->time_limit);
    if (!order) order = by_number(a->seed, b->seed);
    return order ? order
                 : by_texts((const char *[]){a->plugin, a->key}, (const char *[]){b->plugin, b->key}, 2);
}

static int by_run(const void *left, const void *right)
{
    const ss_run_entry *a = left, *b = right;
    if (a->problem != b->problem) return a->problem < b->problem ? -1 : 1;
    if (a->method != b->method) return a->method < b->method ? -1 : 1;
    return (a->machine > b->machine) - (a->machine < b->machine);
}

static void sort(void *items, int count, size_t size, int (*compare)(const void *, const void *))
{
    if (count > 1) qsort(items, (size_t)count, size, compare);
}

/* ---- from ids to indices ------------------------------------------------------------------------------ */

typedef struct place {
    int64_t id;
    int index;
} place;

static int by_id(const void *left, const void *right)
{
    const place *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Places of items whose first member is their id, sorted by it. */
static place *make_places(const void *items, int count, size_t size)
{
    place *places = ss_allocate((size_t)count, sizeof *places);
    if (!places) return NULL;
    for (int i = 0; i < count; i++) {
        places[i].index = i;
        memcpy(&places[i].id, (const char *)items + (size_t)i * size, sizeof places[i].id);
    }
    sort(places, count, sizeof *places, by_id);
    return places;
}

static int index_of(const place *places, int count, int64_t id)
{
    const place wanted = {.id = id};
    const place *found = count ? bsearch(&wanted, places, (size_t)count, sizeof *places, by_id) : NULL;
    return found ? found->index : -1;
}

_Static_assert(offsetof(ss_machine, id) == 0 && offsetof(ss_problem_entry, id) == 0 &&
                   offsetof(ss_method_entry, id) == 0,
               "make_places takes the id for the first member");

bool ss_results_sort(ss_ledger *ledger, ss_results *results, ss_error *err)
{
    sort(results->machines, results->machine_count, sizeof *results->machines, by_machine);
    sort(results->problems, results->problem_count, sizeof *results->problems, by_problem);
    sort(results->methods, results->method_count, sizeof *results->methods, by_method);

    place *problems = make_places(results->problems, results->problem_count, sizeof *results->problems);
    place *methods = make_places(results->methods, results->method_count, sizeof *results->methods);
    place *machines = make_places(results->machines, results->machine_count, sizeof *results->machines);
    bool good = (problems && methods && machines) || ss_ledger_fail_memory(ledger, err);

    for (int i = 0; good && i < results->run_count; i++) {
        ss_run_entry *run = &results->runs[i];
        run->problem = index_of(problems, results->problem_count, run->problem_id);
        run->method = index_of(methods, results->method_count, run->method_id);
        run->machine = index_of(machines, results->machine_count, run->machine_id);
        if (run->problem < 0 || run->method < 0 || run->machine < 0)
            good = ss_ledger_fail_row(ledger, "a run refers to a missing row", err);
    }

    if (good) sort(results->runs, results->run_count, sizeof *results->runs, by_run);
    ss_release(problems);
    ss_release(methods);
    ss_release(machines);
    return good;
}

/* ---- builds ------------------------------------------------------------------------------------------- */

const char *ss_results_next_build(const ss_results *results, int machine, const char *before, int *runs)
{
    const char *next = NULL;
    *runs = 0;
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        if (machine >= 0 && run->machine != machine) continue;
        if (before && strcmp(run->source, before) <= 0) continue;
        int order = next ? strcmp(run->source, next) : -1;
        if (order > 0) continue;
        if (order < 0) *runs = 0;
        next = run->source;
        ++*runs;
    }
    return next;
}

void ss_results_print_builds(const ss_results *results, int machine, ss_text *text)
{
    int runs, others;
    const char *first = ss_results_next_build(results, machine, NULL, &runs);
    bool alone = first && !ss_results_next_build(results, machine, first, &others);
    for (const char *build = first; build; build = ss_results_next_build(results, machine, build, &runs)) {
        ss_text_append(text, build == first ? "" : ", ");
        ss_text_append(text, *build ? build : "not known");
        if (!alone) ss_text_appendf(text, " (%d run%s)", runs, runs == 1 ? "" : "s");
    }
}

void ss_json_builds(ss_json *json, const char *key, const ss_results *results)
{
    int runs;
    const char *build = ss_results_next_build(results, -1, NULL, &runs);
    ss_json_key(json, key);
    ss_json_begin_object(json);
    for (; build; build = ss_results_next_build(results, -1, build, &runs))
        ss_json_member_integer(json, build, runs);
    ss_json_end_object(json);
}
