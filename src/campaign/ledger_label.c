/* How methods are called: where they start from, and short names, the solver with only what tells two methods
 * apart. */
#include "campaign/ledger_internal.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- the start of a method ---------------------------------------------------------------------- */

static const char start_mark[] = "start=";

const char *ss_start_name(ss_start start)
{
    static const char *const names[] = {
#define START_NAME(code, name) name,
        SS_START_LIST(START_NAME)
#undef START_NAME
    };
    return (unsigned)start < SS_START_COUNT ? names[start] : NULL;
}

ss_start ss_method_start(const ss_method_entry *method)
{
    size_t mark = sizeof start_mark - 1;
    if (!method->set || strncmp(method->set, start_mark, mark) != 0) return SS_START_COLD;
    size_t length = strcspn(method->set + mark, " ");
    for (int start = SS_START_WARM; start < SS_START_COUNT; start++) {
        const char *name = ss_start_name((ss_start)start);
        if (strlen(name) == length && strncmp(method->set + mark, name, length) == 0) return (ss_start)start;
    }
    return SS_START_COLD; // an option of the solver that is called so
}

const char *ss_method_solver_options(const ss_method_entry *method)
{
    if (ss_method_start(method) == SS_START_COLD) return method->set;
    size_t length = strcspn(method->set, " ");
    return method->set + length + (method->set[length] == ' ');
}

bool ss_same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool ss_method_is_alike(const ss_method_entry *a, const ss_method_entry *b)
{
    return ss_same_text(a->formulation, b->formulation) && ss_same_text(a->with, b->with) &&
           ss_same_text(a->solver, b->solver) &&
           ss_same_text(ss_method_solver_options(a), ss_method_solver_options(b)) &&
           ss_same_text(a->stop, b->stop) && ss_same_text(a->keep, b->keep) &&
           a->iterations == b->iterations && a->time_limit == b->time_limit && a->seed == b->seed &&
           ss_same_text(a->reference, b->reference) && ss_same_text(a->limit_by, b->limit_by) &&
           ss_method_counts_processor(a) == ss_method_counts_processor(b);
}

bool ss_run_started_cold(const ss_run_entry *run)
{
    return run->message && strncmp(run->message, SS_STARTED_COLD, sizeof SS_STARTED_COLD - 1) == 0;
}

/* ---- labels ------------------------------------------------------------------------------------- */

typedef struct label {
    ss_text text;  /* as far as it is made */
    bool has_more; /* a parenthesis is open */
    ss_method_entry *method;
} label;

/* What may follow in parentheses, in this order. */
typedef enum detail {
    DETAIL_SET,
    DETAIL_WITH,
    DETAIL_STOP,
    DETAIL_KEEP,
    DETAIL_ITERATIONS,
    DETAIL_TIME_LIMIT,
    DETAIL_CLOCK,
    DETAIL_LIMIT_BY,
    DETAIL_SEED,
    DETAIL_PLUGIN,
    DETAIL_REFERENCE,
    DETAIL_KEY,
    DETAILS
} detail;

/* An empty text adds nothing. */
static void describe(const ss_method_entry *method, detail which, ss_text *text)
{
    static const char usual[] = "relative_energy<"; // as on the command line: --tol 1e-4
    switch (which) {
    case DETAIL_SET:
        ss_text_append(text, method->set);
        break;
    case DETAIL_WITH:
        if (method->with[0]) ss_text_appendf(text, "with %s", method->with);
        break;
    case DETAIL_STOP:
        if (strncmp(method->stop, usual, sizeof usual - 1) == 0)
            ss_text_appendf(text, "tol %s", method->stop + sizeof usual - 1);
        else
            ss_text_appendf(text, "stop %s", method->stop);
        break;
    case DETAIL_KEEP:
        ss_text_appendf(text, "keep %s", method->keep);
        break;
    case DETAIL_ITERATIONS:
        ss_text_appendf(text, "%d iterations", method->iterations);
        break;
    case DETAIL_TIME_LIMIT:
        if (method->time_limit > 0)
            ss_text_appendf(text, "%.15g s", method->time_limit);
        else
            ss_text_append(text, "no time limit");
        break;
    case DETAIL_CLOCK:
        ss_text_appendf(text, "%s clock", ss_method_counts_processor(method) ? "processor" : SS_CLOCK_WALL);
        break;
    case DETAIL_LIMIT_BY:
        if (method->limit_by && *method->limit_by) ss_text_appendf(text, "limit by %s", method->limit_by);
        break;
    case DETAIL_SEED:
        ss_text_appendf(text, "seed %d", method->seed);
        break;
    case DETAIL_PLUGIN:
        ss_text_appendf(text, method->plugin[0] ? "plug-in %.8s" : "built in", method->plugin);
        break;
    case DETAIL_REFERENCE:
        ss_text_appendf(text, method->reference[0] ? "reference %s" : "no reference", method->reference);
        break;
    case DETAIL_KEY:
    case DETAILS:
        ss_text_append(text, method->key);
    }
}

static int by_text(const void *left, const void *right)
{
    const label *a = *(label *const *)left, *b = *(label *const *)right;
    return strcmp(ss_text_get(&a->text), ss_text_get(&b->text));
}

/* Adds a description to the labels of one group, which are equal so far, if it is not the same
 * for all of them. */
static bool tell_apart(label *const *group, size_t count, detail which)
{
    ss_text first = {0}, here = {0};
    bool differ = false, short_of_memory = false;
    describe(group[0]->method, which, &first);
    for (size_t i = 1; i < count && !differ; i++) {
        ss_text_clear(&here);
        describe(group[i]->method, which, &here);
        short_of_memory |= first.out_of_memory || here.out_of_memory;
        differ = strcmp(ss_text_get(&first), ss_text_get(&here)) != 0;
    }

    for (size_t i = 0; i < count && differ; i++) {
        ss_text_clear(&here);
        describe(group[i]->method, which, &here);
        short_of_memory |= here.out_of_memory;
        if (here.length == 0) continue;
        ss_text_appendf(&group[i]->text, "%s%s", group[i]->has_more ? ", " : " (", ss_text_get(&here));
        group[i]->has_more = true;
    }
    ss_text_free(&first);
    ss_text_free(&here);
    return !short_of_memory;
}

bool ss_results_label(ss_results *results)
{
    size_t count = (size_t)results->method_count;
    label *labels = ss_allocate(count, sizeof *labels);
    label **order = ss_allocate(count, sizeof *order);
    bool good = labels && order;

    // Methods are sorted by formulation: if the first and the last have the same, all have.
    bool several =
        count > 0 && strcmp(results->methods[0].formulation, results->methods[count - 1].formulation) != 0;
    for (size_t i = 0; good && i < count; i++) {
        ss_method_entry *method = labels[i].method = &results->methods[i];
        order[i] = &labels[i];
        ss_text_appendf(&labels[i].text, "%s%s%s%s", several ? method->formulation : "", several ? "/" : "",
                        method->solver, ss_method_is_recorded(method) ? " as recorded" : "");
    }

    // Each detail goes to the labels that are still the same.
    for (int which = 0; good && count > 0 && which < DETAILS; which++) {
        qsort(order, count, sizeof *order, by_text);
        for (size_t begin = 0, end; good && begin < count; begin = end) {
            for (end = begin + 1; end < count && by_text(&order[begin], &order[end]) == 0;) end++;
            if (end - begin > 1) good = tell_apart(order + begin, end - begin, (detail)which);
        }
    }

    for (size_t i = 0; labels && i < count; i++) {
        if (labels[i].has_more) ss_text_append(&labels[i].text, ")");
        good = good && !labels[i].text.out_of_memory;
        if (good) labels[i].method->label = ss_text_copy(ss_text_get(&labels[i].text));
        good = good && labels[i].method->label;
        ss_text_free(&labels[i].text);
    }
    ss_release(labels);
    ss_release(order);
    return good;
}
