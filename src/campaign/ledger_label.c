/* Short names of methods: the solver, and in front and behind it only what tells two methods apart. */
#include "campaign/ledger_internal.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct label {
    ss_text text;  /* as far as it is made */
    bool has_more; /* a parenthesis is open */
    ss_method_entry *method;
} label;

/* What may follow in parentheses, in this order. An empty text adds nothing. */
typedef void describer(const ss_method_entry *method, ss_text *text);

static void describe_set(const ss_method_entry *method, ss_text *text)
{
    ss_text_append(text, method->set);
}

static void describe_with(const ss_method_entry *method, ss_text *text)
{
    if (method->with[0]) ss_text_appendf(text, "with %s", method->with);
}

static void describe_stop(const ss_method_entry *method, ss_text *text)
{
    ss_text_appendf(text, "stop %s", method->stop);
}

static void describe_keep(const ss_method_entry *method, ss_text *text)
{
    ss_text_appendf(text, "keep %s", method->keep);
}

static void describe_iterations(const ss_method_entry *method, ss_text *text)
{
    ss_text_appendf(text, "%d iterations", method->iterations);
}

static void describe_time_limit(const ss_method_entry *method, ss_text *text)
{
    if (method->time_limit > 0)
        ss_text_appendf(text, "%.15g s", method->time_limit);
    else
        ss_text_append(text, "no time limit");
}

static void describe_clock(const ss_method_entry *method, ss_text *text)
{
    ss_text_appendf(text, "%s clock", ss_method_counts_processor(method) ? "processor" : SS_CLOCK_WALL);
}

static void describe_limit_by(const ss_method_entry *method, ss_text *text)
{
    if (method->limit_by && *method->limit_by) ss_text_appendf(text, "limit by %s", method->limit_by);
}

static void describe_seed(const ss_method_entry *method, ss_text *text)
{
    ss_text_appendf(text, "seed %d", method->seed);
}

static void describe_plugin(const ss_method_entry *method, ss_text *text)
{
    ss_text_appendf(text, method->plugin[0] ? "plug-in %.8s" : "built in", method->plugin);
}

static void describe_reference(const ss_method_entry *method, ss_text *text)
{
    ss_text_appendf(text, method->reference[0] ? "reference %s" : "no reference", method->reference);
}

static void describe_key(const ss_method_entry *method, ss_text *text)
{
    ss_text_append(text, method->key);
}

static describer *const describers[] = {describe_set,    describe_with,       describe_stop,
                                        describe_keep,   describe_iterations, describe_time_limit,
                                        describe_clock,  describe_limit_by,   describe_seed,
                                        describe_plugin, describe_reference,  describe_key};

static int by_text(const void *left, const void *right)
{
    const label *a = *(label *const *)left, *b = *(label *const *)right;
    return strcmp(ss_text_get(&a->text), ss_text_get(&b->text));
}

static void extend(label *l, const char *more)
{
    if (!*more) return;
    ss_text_appendf(&l->text, "%s%s", l->has_more ? ", " : " (", more);
    l->has_more = true;
}

/* Adds a description to the labels of one group, which are equal so far, if it is not the same
 * for all of them. */
static bool tell_apart(label *const *group, size_t count, describer *describe)
{
    ss_text first = {0}, here = {0};
    bool differ = false, short_of_memory = false;
    describe(group[0]->method, &first);
    for (size_t i = 1; i < count && !differ; i++) {
        ss_text_clear(&here);
        describe(group[i]->method, &here);
        short_of_memory |= first.out_of_memory || here.out_of_memory;
        differ = strcmp(ss_text_get(&first), ss_text_get(&here)) != 0;
    }
    for (size_t i = 0; i < count && differ; i++) {
        ss_text_clear(&here);
        describe(group[i]->method, &here);
        short_of_memory |= here.out_of_memory;
        extend(group[i], ss_text_get(&here));
    }
    ss_text_free(&first);
    ss_text_free(&here);
    return !short_of_memory;
}

static bool refine(label **labels, size_t count, describer *describe)
{
    qsort(labels, count, sizeof *labels, by_text);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && by_text(&labels[begin], &labels[end]) == 0;) end++;
        if (end - begin > 1 && !tell_apart(labels + begin, end - begin, describe)) return false;
    }
    return true;
}

/* Methods are sorted by formulation. */
static bool has_several_formulations(const ss_results *results)
{
    int last = results->method_count - 1;
    return last > 0 && strcmp(results->methods[0].formulation, results->methods[last].formulation) != 0;
}

static bool make(label *labels, label **order, const ss_results *results)
{
    bool several = has_several_formulations(results);
    size_t count = (size_t)results->method_count;
    for (size_t i = 0; i < count; i++) {
        ss_method_entry *method = labels[i].method = &results->methods[i];
        order[i] = &labels[i];
        ss_text_appendf(&labels[i].text, "%s%s%s%s", several ? method->formulation : "", several ? "/" : "",
                        method->solver, ss_method_is_recorded(method) ? " as recorded" : "");
    }
    for (size_t d = 0; d < sizeof describers / sizeof *describers; d++)
        if (!refine(order, count, describers[d])) return false;
    for (size_t i = 0; i < count; i++) {
        if (labels[i].has_more) ss_text_append(&labels[i].text, ")");
        if (labels[i].text.out_of_memory) return false;
        labels[i].method->label = ss_text_copy(ss_text_get(&labels[i].text));
        if (!labels[i].method->label) return false;
    }
    return true;
}

bool ss_results_label(ss_results *results)
{
    size_t count = (size_t)results->method_count;
    label *labels = ss_allocate(count, sizeof *labels);
    label **order = ss_allocate(count, sizeof *order);
    bool good = labels && order && (count == 0 || make(labels, order, results));
    for (size_t i = 0; labels && i < count; i++) ss_text_free(&labels[i].text);
    ss_release(labels);
    ss_release(order);
    return good;
}
