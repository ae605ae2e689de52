#include "diagnosis/diagnose.h"

#include <math.h>
#include <string.h>

#include "problem/bodies_form.h"

/* ---- the list --------------------------------------------------------------------------------------- */

static bool make_room(ss_diagnosis *diagnosis)
{
    if (diagnosis->count < diagnosis->capacity) return true;
    int capacity = diagnosis->capacity ? 2 * diagnosis->capacity : SS_DEFECT_COUNT;
    ss_complaint *items = ss_allocate((size_t)capacity, sizeof *items);
    if (!items) return false;
    if (diagnosis->count) memcpy(items, diagnosis->items, (size_t)diagnosis->count * sizeof *items);
    ss_release(diagnosis->items);
    diagnosis->items = items;
    diagnosis->capacity = capacity;
    return true;
}

void ss_diagnosing_tell(ss_diagnosing *d, ss_severity severity, ss_defect defect, int count, double value,
                        int worst, const char *advice)
{
    ss_diagnosis *to = d->diagnosis;
    const ss_block *block = worst >= 0 ? ss_block_of(d->problem, worst) : NULL;
    ss_complaint item = {.severity = severity,
                         .defect = defect,
                         .count = count,
                         .value = value,
                         .contact = block ? block->contact : -1,
                         .constraint = block ? block->constraint : -1,
                         .unknown = worst,
                         .message = ss_text_copy(ss_text_get(&d->text)),
                         .advice = ss_text_copy(advice)};
    to->out_of_memory |= d->text.out_of_memory;
    ss_text_clear(&d->text);
    if (item.message && item.advice && make_room(to)) {
        to->items[to->count++] = item;
        return;
    }
    to->out_of_memory = true;
    ss_release(item.message);
    ss_release(item.advice);
}

void ss_diagnosis_free(ss_diagnosis *diagnosis)
{
    for (int i = 0; i < diagnosis->count; i++) {
        ss_release(diagnosis->items[i].message);
        ss_release(diagnosis->items[i].advice);
    }
    ss_release(diagnosis->items);
    *diagnosis = (ss_diagnosis){.rank = -1};
}

const ss_complaint *ss_diagnosis_find(const ss_diagnosis *diagnosis, ss_defect defect)
{
    for (int i = 0; i < diagnosis->count; i++) {
        if (diagnosis->items[i].defect == defect) return &diagnosis->items[i];
    }
    return NULL;
}

ss_severity ss_diagnosis_worst(const ss_diagnosis *diagnosis)
{
    ss_severity worst = SS_SEVERITY_NOTE;
    for (int i = 0; i < diagnosis->count; i++) {
        if (diagnosis->items[i].severity > worst) worst = diagnosis->items[i].severity;
    }
    return worst;
}

const char *ss_severity_name(ss_severity severity)
{
    static const char *const names[] = {"note", "warning", "fatal"};
    return names[severity];
}

const char *ss_defect_name(ss_defect defect)
{
    static const char *const names[] = {
#define DEFECT_NAME(code, name) [code] = name,
        SS_DEFECT_LIST(DEFECT_NAME)
#undef DEFECT_NAME
    };
    return names[defect];
}

/* ---- names ------------------------------------------------------------------------------------------ */

const ss_block *ss_block_of(const ss_problem *problem, int unknown)
{
    int low = 0, high = problem->block_count - 1;
    while (low < high) { // the last block that does not begin behind it; empty ones begin where the next does
        int middle = (low + high + 1) / 2;
        if (problem->blocks[middle].first <= unknown)
            low = middle;
        else
            high = middle - 1;
    }
    return &problem->blocks[low];
}

void ss_name_unknown(const ss_problem *problem, int unknown, ss_text *text)
{
    const ss_block *block = ss_block_of(problem, unknown);
    if (block->contact >= 0)
        ss_text_appendf(text, "contact %d", block->contact);
    else if (block->constraint >= 0)
        ss_text_appendf(text, "joint %d", block->constraint);
    else
        ss_text_appendf(text, "unknown %d", unknown);
}

/* Do two unknowns go by the same name? Those of one contact or joint stand side by side. */
static bool same_name(const ss_problem *problem, int i, int j)
{
    const ss_block *a = ss_block_of(problem, i), *b = ss_block_of(problem, j);
    if (a->contact >= 0 || b->contact >= 0) return a->contact == b->contact;
    return a->constraint >= 0 && a->constraint == b->constraint;
}

void ss_name_marked(const ss_problem *problem, const bool *marked, ss_text *text)
{
    enum { NAMED = 4 };
    int named = 0, last = -1;
    for (int i = 0; i < problem->size; i++) {
        if (!marked[i] || (last >= 0 && same_name(problem, i, last))) continue;
        last = i;
        if (named++ >= NAMED) continue;
        if (named > 1) ss_text_append(text, ", ");
        ss_name_unknown(problem, i, text);
    }
    if (named > NAMED) ss_text_appendf(text, " and %d more", named - NAMED);
}

void ss_name_bodies(const ss_diagnosing *d, int unknown, ss_text *text)
{
    const ss_bodies_form *form = d->problem->bodies;
    if (!form) return;
    ss_text_append(text, " (between ");
    for (int side = 0; side < 2; side++) {
        int body = form->pair[unknown][side];
        if (side) ss_text_append(text, " and ");
        if (body < 0)
            ss_text_append(text, "the world");
        else
            ss_text_appendf(text, "body %d", d->options->body ? d->options->body[body] : body);
    }
    ss_text_append(text, ")");
}

void ss_name_count(ss_text *text, int count, const char *noun)
{
    ss_text_appendf(text, "%d %s%s", count, noun, count == 1 ? "" : "s");
}

double ss_entry_of(const ss_problem *problem, int i, int j)
{
    const ss_bodies_form *form = problem->bodies;
    if (!form) return ss_sparse_get(problem->A, i, j);
    double sum = i == j ? form->compliance[i] : 0.0;
    const double *block;
    for (int side = 0, body; ss_bodies_block(form, j, side, &body, &block); side++) {
        if (body < 0) continue;
        double push[6];
        ss_bodies_push_one(form, body, block, push);
        sum += ss_bodies_dot(form, i, body, push);
    }
    return sum;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static bool look(ss_diagnosing *d)
{
    if (!ss_diagnose_numbers(d)) return true; // what follows would only count the damage
    ss_diagnose_units(d);
    ss_diagnose_masses(d);
    ss_diagnose_friction(d);
    // factorising for the rank tells about definiteness, too
    return ss_diagnose_rows(d) && ss_diagnose_rank(d) && ss_diagnose_equations(d) &&
           ss_diagnose_definite(d) && ss_diagnose_ray(d) && ss_diagnose_duplicates(d);
}

bool ss_problem_diagnose(const ss_problem *problem, const ss_diagnosis_options *options,
                         ss_diagnosis *diagnosis, ss_error *err)
{
    static const ss_diagnosis_options usual = {.ray_search = 300};
    *diagnosis = (ss_diagnosis){.unknowns = problem->size, .rank = -1};

    // rows on more than two bodies are looked at in the matrix
    ss_problem of_matrix = *problem;
    if (problem->bodies && problem->bodies->further_start) {
        if (!ss_problem_need_matrix(&of_matrix, err)) return false;
        of_matrix.bodies = NULL;
    }
    ss_diagnosing d = {.problem = &of_matrix, .options = options ? options : &usual, .diagnosis = diagnosis};
    d.is_empty = ss_allocate((size_t)problem->size, sizeof *d.is_empty);
    bool good = d.is_empty && look(&d) && !diagnosis->out_of_memory;

    // In the order of the list of defects, whatever the order of looking was.
    for (int i = 1; i < diagnosis->count; i++) {
        ss_complaint item = diagnosis->items[i];
        int at = i;
        for (; at > 0 && diagnosis->items[at - 1].defect > item.defect; at--)
            diagnosis->items[at] = diagnosis->items[at - 1];
        diagnosis->items[at] = item;
    }

    ss_release(d.is_empty);
    ss_text_free(&d.text);
    if (of_matrix.A != problem->A) ss_sparse_destroy(of_matrix.A);
    return good ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a diagnosis of %d unknowns", problem->size);
}
