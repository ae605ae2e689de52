/* Problems for solvers, and the judging of answers. */
#include "toolbox.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- to Octave ---------------------------------------------------------------------------------------- */

static bool law_of(const char *name, ss_law *law)
{
    const char *known;
    for (int bit = 1; (known = ss_law_name((ss_law)bit)); bit *= 2)
        if (strcmp(name, known) == 0) {
            *law = (ss_law)bit;
            return true;
        }
    return false;
}

mxArray *tb_problem(const ss_problem *problem)
{
    int n = problem->size, blocks = problem->block_count;
    mxArray *structure = tb_struct(), *partner = tb_real(n, 1, NULL);
    for (int i = 0; i < n; i++) ((double *)mxGetData(partner))[i] = problem->partner[i] + 1;
    tb_set(structure, "A",
           problem->A ? tb_sparse(problem->A) : mxCreateSparse((mwSize)n, (mwSize)n, 1, mxREAL));
    tb_set(structure, "b", tb_real(n, 1, problem->b));
    tb_set(structure, "lower", tb_real(n, 1, problem->lower));
    tb_set(structure, "upper", tb_real(n, 1, problem->upper));
    tb_set(structure, "partner", partner);
    tb_set(structure, "factor", tb_real(n, 1, problem->factor));
    tb_set(structure, "diagonal", tb_real(n, 1, problem->diagonal));
    tb_set(structure, "symmetric", mxCreateLogicalScalar(problem->symmetric));

    // Columns instead of a struct array: thousands of blocks are common.
    mxArray *table = tb_struct(), *law = mxCreateCellMatrix((mwSize)blocks, 1);
    const char *const names[] = {"first", "size", "mu", "mu_rolling", "contact", "constraint"};
    double *column[6];
    tb_set(table, "law", law);
    for (int k = 0; k < 6; k++) {
        mxArray *numbers = tb_real(blocks, 1, NULL);
        column[k] = mxGetData(numbers);
        tb_set(table, names[k], numbers);
    }
    for (int i = 0; i < blocks; i++) {
        const ss_block *block = &problem->blocks[i];
        mxSetCell(law, (mwIndex)i, tb_text(ss_law_name(block->law)));
        column[0][i] = block->first + 1;
        column[1][i] = block->size;
        column[2][i] = block->mu;
        column[3][i] = block->mu_rolling;
        column[4][i] = block->contact + 1;
        column[5][i] = block->constraint + 1;
    }
    tb_set(structure, "blocks", table);
    return structure;
}

mxArray *tb_gauges(const double *values)
{
    mxArray *structure = tb_struct();
    for (int g = 0; g < SS_GAUGE_COUNT; g++)
        tb_set(structure, ss_gauge_name((ss_gauge)g), tb_number(values[g]));
    return structure;
}

mxArray *tb_metrics(const ss_metric_value *values)
{
    mxArray *structure = tb_struct();
    for (int i = 0; i < ss_metric_count(); i++)
        tb_set(structure, ss_metric_at(i)->name, tb_number(values[i].applies ? values[i].value : NAN));
    return structure;
}

mxArray *tb_metric_details(const ss_metric_value *values)
{
    static const char *fields[] = {"name",          "value",           "unit", "applies", "why",
                                   "worst_contact", "worst_constraint"};
    mxArray *list = mxCreateStructMatrix(1, (mwSize)ss_metric_count(), 7, fields);
    for (int i = 0; i < ss_metric_count(); i++) {
        mwIndex k = (mwIndex)i;
        mxSetField(list, k, "name", tb_text(ss_metric_at(i)->name));
        mxSetField(list, k, "value", tb_number(values[i].applies ? values[i].value : NAN));
        mxSetField(list, k, "unit", tb_text(ss_metric_at(i)->unit));
        mxSetField(list, k, "applies", mxCreateLogicalScalar(values[i].applies));
        mxSetField(list, k, "why", tb_text(values[i].applies ? "" : values[i].why));
        mxSetField(list, k, "worst_contact", tb_number(values[i].worst_contact + 1));
        mxSetField(list, k, "worst_constraint", tb_number(values[i].worst_constraint + 1));
    }
    return list;
}

mxArray *tb_contacts(const ss_contact_report *contacts, int count)
{
    mxArray *structure = tb_struct(), *status = mxCreateCellMatrix(1, (mwSize)count);
    mxArray *sliding = tb_real(3, count, NULL), *energy = tb_real(1, count, NULL);
    for (int c = 0; c < count; c++) {
        mxSetCell(status, (mwIndex)c, tb_text(ss_contact_status_name(contacts[c].status)));
        memcpy((double *)mxGetData(sliding) + 3 * c, contacts[c].sliding, sizeof contacts[c].sliding);
        ((double *)mxGetData(energy))[c] = contacts[c].energy;
    }
    tb_set(structure, "status", status);
    tb_set(structure, "sliding", sliding);
    tb_set(structure, "energy", energy);
    return structure;
}

/* ---- from Octave -------------------------------------------------------------------------------------- */

/* The laws as the user gave them. */
static bool take_blocks(ss_problem *problem, const mxArray *table, ss_error *err)
{
    const mxArray *law = tb_get(table, "law");
    const char *const names[] = {"first", "size", "mu", "mu_rolling", "contact", "constraint"};
    const mxArray *column[6];
    for (int k = 0; k < 6; k++) {
        column[k] = tb_get(table, names[k]);
        if (!tb_is_numeric(column[k]) || mxIsSparse(column[k]) ||
            tb_count(column[k]) != (size_t)problem->block_count)
            return ss_fail(err, SS_ERROR_USAGE, "problem.blocks.%s: expected %d numbers", names[k],
                           problem->block_count);
    }
    int next = 0;
    for (int i = 0; i < problem->block_count; i++) {
        char *name = tb_get_text(mxGetCell(law, (mwIndex)i), "problem.blocks.law", err);
        ss_block *block = &problem->blocks[i];
        double first = tb_at(column[0], (size_t)i), size = tb_at(column[1], (size_t)i);
        *block = (ss_block){.first = next,
                            .mu = tb_at(column[2], (size_t)i),
                            .mu_rolling = tb_at(column[3], (size_t)i),
                            .contact = (int)tb_at(column[4], (size_t)i) - 1,
                            .constraint = (int)tb_at(column[5], (size_t)i) - 1};
        bool known = name && law_of(name, &block->law);
        if (name && !known)
            ss_fail(err, SS_ERROR_USAGE, "problem.blocks.law(%d): unknown law '%s'", i + 1, name);
        mxFree(name);
        if (!known) return false;
        bool cone = block->law == SS_LAW_CONE || block->law == SS_LAW_CONVEX;
        if (first != next + 1 || !(size >= 1 && size <= problem->size - next) ||
            (cone && !(size >= 2 && size <= 6)))
            return ss_fail(err, SS_ERROR_USAGE,
                           "problem.blocks(%d): unknowns %g to %g, expected blocks that follow each other%s",
                           i + 1, first, first + size - 1, cone ? ", cones of 2 to 6" : "");
        if (cone && !(block->mu >= 0 && block->mu_rolling >= 0))
            return ss_fail(err, SS_ERROR_USAGE, "problem.blocks.mu(%d): %g, must not be negative", i + 1,
                           block->mu);
        block->size = (int)size;
        next += block->size;
    }
    return next == problem->size ||
           ss_fail(err, SS_ERROR_USAGE, "problem.blocks: cover %d of %d unknowns", next, problem->size);
}

/* Without blocks, the bounds say what the laws are: one block for each run of unknowns under one law. */
static int derive_blocks(ss_problem *problem)
{
    int count = 0;
    for (int i = 0; i < problem->size; i++) {
        ss_law law = problem->partner[i] >= 0                                          ? SS_LAW_COUPLED
                     : problem->lower[i] == -INFINITY && problem->upper[i] == INFINITY ? SS_LAW_FREE
                                                                                       : SS_LAW_BOX;
        if (count && problem->blocks[count - 1].law == law)
            problem->blocks[count - 1].size++;
        else
            problem->blocks[count++] =
                (ss_block){.law = law, .first = i, .size = 1, .contact = -1, .constraint = -1};
    }
    return count;
}

/* A vector of the problem; absent: `otherwise`. */
static bool take_vector(const mxArray *structure, const char *name, int n, double otherwise, double *values,
                        ss_error *err)
{
    const mxArray *value = tb_get(structure, name);
    for (int i = 0; i < n && (!value || mxIsEmpty(value)); i++) values[i] = otherwise;
    return !value || mxIsEmpty(value) || tb_copy(value, (size_t)n, values, name, err);
}

static bool fill(ss_problem *problem, const mxArray *structure, double *scratch, ss_error *err)
{
    int n = problem->size;
    const mxArray *blocks = tb_get(structure, "blocks");
    if (!tb_copy(tb_get(structure, "b"), (size_t)n, problem->b, "b", err) ||
        !take_vector(structure, "lower", n, 0, problem->lower, err) ||
        !take_vector(structure, "upper", n, INFINITY, problem->upper, err) ||
        !take_vector(structure, "factor", n, 0, problem->factor, err) ||
        !take_vector(structure, "partner", n, 0, scratch, err))
        return false;
    for (int i = 0; i < n; i++) {
        if (!(scratch[i] >= 0 && scratch[i] <= n) || scratch[i] != floor(scratch[i]) || scratch[i] == i + 1)
            return ss_fail(err, SS_ERROR_USAGE, "partner(%d): %g, expected another unknown, or 0", i + 1,
                           scratch[i]);
        problem->partner[i] = (int)scratch[i] - 1;
        if (!isfinite(problem->b[i])) return ss_fail(err, SS_ERROR_USAGE, "b(%d): %g", i + 1, problem->b[i]);
    }
    if (!ss_sparse_check(problem->A, err)) return ss_fail_in(err, "A");
    for (int i = 0; i < n; i++) problem->diagonal[i] = ss_sparse_get(problem->A, i, i);
    problem->symmetric = ss_sparse_symmetry_error(problem->A) == 0;
    if (blocks) return take_blocks(problem, blocks, err);
    problem->block_count = derive_blocks(problem);
    return true;
}

ss_problem *tb_get_problem(const mxArray *structure, ss_error *err)
{
    const mxArray *law = tb_get(tb_get(structure, "blocks"), "law");
    if (!tb_get(structure, "A") || !tb_get(structure, "b")) {
        ss_fail(err, SS_ERROR_USAGE,
                "expected a problem: a struct with A, b and, unless it is an LCP, its bounds and laws");
        return NULL;
    }
    ss_sparse *A = tb_get_sparse(tb_get(structure, "A"), "A", err);
    if (!A) return NULL;
    if (A->rows != A->cols || (law && !mxIsCell(law))) {
        ss_fail(err, SS_ERROR_USAGE,
                A->rows != A->cols ? "A: %d x %d, must be square" : "problem.blocks.law: expected cells",
                A->rows, A->cols);
        ss_sparse_destroy(A);
        return NULL;
    }
    int n = A->rows, blocks = law ? (int)tb_count(law) : n > 0 ? n : 1;
    ss_problem *problem = ss_problem_create(n, blocks, -1, err);
    double *scratch = ss_allocate((size_t)n, sizeof *scratch);
    if (problem) problem->A = A;
    bool good = problem && scratch && fill(problem, structure, scratch, err);
    if (problem && !scratch) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", n);
    if (!problem) ss_sparse_destroy(A);
    ss_release(scratch);
    if (good) return problem;
    ss_problem_destroy(problem);
    return NULL;
}

/* ---- assemblies --------------------------------------------------------------------------------------- */

ss_assembly *tb_assemble(const ss_frame *frame, const char *formulation, const char *with,
                         ss_findings *losses, ss_error *err)
{
    const ss_formulation *found = ss_formulation_find(formulation ? formulation : "cone");
    if (!found) {
        ss_fail(err, SS_ERROR_USAGE, "unknown formulation '%s'; ss_formulations lists them", formulation);
        return NULL;
    }
    void *options = ss_allocate(1, found->options_size);
    char *text = ss_text_copy(with ? with : ""), *rest = text;
    bool good = options && text;
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (good) ss_options_defaults(found->options, options);
    for (char *one = good ? strtok_r(text, " ", &rest) : NULL; good && one; one = strtok_r(NULL, " ", &rest))
        good = ss_options_assign(found->options, options, one, err);
    ss_assembly *assembly = good ? ss_assembly_create(found, options, err) : NULL;
    ss_release(options);
    ss_release(text);
    if (assembly && !ss_assemble(assembly, frame, losses, err)) {
        ss_assembly_destroy(assembly);
        assembly = NULL;
    }
    return assembly;
}

/* Inputs 0 to 2 of a call: frame, formulation, options. */
static bool open_assembly(const tb_call *call, ss_frame **frame, ss_assembly **assembly, ss_findings *losses,
                          ss_error *err)
{
    *assembly = NULL;
    *frame = tb_get_frame(call->input[0], NULL, true, err);
    char *formulation = *frame ? tb_get_text(call->input[1], "formulation", err) : NULL;
    char *with = formulation ? tb_get_text(call->input[2], "with", err) : NULL;
    if (with) *assembly = tb_assemble(*frame, formulation, with, losses, err);
    mxFree(formulation);
    mxFree(with);
    return *assembly != NULL;
}

bool tb_do_problem(const tb_call *call, ss_error *err)
{
    ss_frame *frame;
    ss_assembly *assembly;
    ss_findings losses = {0};
    bool good = open_assembly(call, &frame, &assembly, &losses, err) &&
                ss_problem_need_matrix(ss_assembly_problem(assembly), err);
    if (good) {
        char with[SS_RULES_LENGTH];
        const ss_formulation *formulation = ss_assembly_formulation(assembly);
        ss_options_print(formulation->options, ss_assembly_step(assembly), with, sizeof with);
        mxArray *problem = tb_problem(ss_assembly_problem(assembly));
        tb_set(problem, "formulation", tb_text(formulation->name));
        tb_set(problem, "with", tb_text(with));
        call->output[0] = problem;
        if (call->outputs > 1) call->output[1] = tb_findings(&losses);
    }
    ss_findings_free(&losses);
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
    return good;
}

bool tb_do_recover(const tb_call *call, ss_error *err)
{
    ss_frame *frame;
    ss_assembly *assembly;
    ss_answer *answer = NULL;
    double *x = NULL;
    bool good = open_assembly(call, &frame, &assembly, NULL, err);
    if (good) {
        size_t n = (size_t)ss_assembly_problem(assembly)->size;
        x = ss_allocate(n, sizeof *x);
        good = (x || ss_fail(err, SS_ERROR_RESOURCES, "out of memory")) &&
               tb_copy(call->input[3], n, x, "x", err) &&
               (answer = ss_answer_create(frame, ss_frame_has_moments(frame), err));
    }
    if (good) {
        ss_assembly_recover(assembly, x, answer);
        call->output[0] = tb_answer(answer);
    }
    ss_release(x);
    ss_answer_destroy(answer);
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
    return good;
}

bool tb_do_guess(const tb_call *call, ss_error *err)
{
    ss_frame *frame;
    ss_assembly *assembly;
    ss_answer *answer = NULL;
    bool good = open_assembly(call, &frame, &assembly, NULL, err) &&
                (answer = tb_get_answer(call->input[3], frame, err));
    if (good) {
        call->output[0] = tb_real(ss_assembly_problem(assembly)->size, 1, NULL);
        ss_assembly_guess(assembly, answer, mxGetData(call->output[0]));
    }
    ss_answer_destroy(answer);
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
    return good;
}

bool tb_do_judge(const tb_call *call, ss_error *err)
{
    ss_frame *frame;
    ss_assembly *assembly;
    ss_answer *answer = NULL, *reference = NULL;
    ss_metric_value *values = ss_allocate((size_t)ss_metric_count(), sizeof *values);
    ss_contact_report *contacts = NULL;
    bool good = open_assembly(call, &frame, &assembly, NULL, err) &&
                (answer = tb_get_answer(call->input[3], frame, err)) &&
                (mxIsEmpty(call->input[4]) || (reference = tb_get_answer(call->input[4], frame, err)));
    if (good) {
        contacts = ss_allocate((size_t)frame->contacts.count, sizeof *contacts);
        ss_case what = {.assembly = assembly, .answer = answer, .reference = reference};
        good = (values && contacts) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for metrics");
        good = good && ss_judge(&what, values, contacts, err);
    }
    if (good) {
        call->output[0] = tb_metrics(values);
        if (call->outputs > 1) call->output[1] = tb_metric_details(values);
        if (call->outputs > 2) call->output[2] = tb_contacts(contacts, frame->contacts.count);
    }
    ss_release(values);
    ss_release(contacts);
    ss_answer_destroy(reference);
    ss_answer_destroy(answer);
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
    return good;
}

/* ---- problems on their own ---------------------------------------------------------------------------- */

bool tb_do_measure(const tb_call *call, ss_error *err)
{
    double values[SS_GAUGE_COUNT];
    ss_problem *problem = tb_get_problem(call->input[0], err);
    if (!problem) return false;
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    bool good = (x || ss_fail(err, SS_ERROR_RESOURCES, "out of memory")) &&
                tb_copy(call->input[1], (size_t)problem->size, x, "x", err) &&
                ss_problem_measure(problem, x, values, err);
    if (good) call->output[0] = tb_gauges(values);
    ss_release(x);
    ss_problem_destroy(problem);
    return good;
}

bool tb_do_project(const tb_call *call, ss_error *err)
{
    ss_problem *problem = tb_get_problem(call->input[0], err);
    if (!problem) return false;
    mxArray *x = tb_real(problem->size, 1, NULL);
    bool good = tb_copy(call->input[1], (size_t)problem->size, mxGetData(x), "x", err);
    if (good) ss_problem_project(problem, mxGetData(x));
    if (good) call->output[0] = x;
    ss_problem_destroy(problem);
    return good;
}

bool tb_do_diagnose(const tb_call *call, ss_error *err)
{
    static const char *fields[] = {"severity", "defect",     "message", "advice",
                                   "contact",  "constraint", "value"};
    ss_diagnosis diagnosis = {0};
    ss_problem *problem = tb_get_problem(call->input[0], err);
    if (!problem) return false;
    bool good = ss_problem_diagnose(problem, NULL, &diagnosis, err);
    if (good) {
        mxArray *list = mxCreateStructMatrix(1, (mwSize)diagnosis.count, 7, fields);
        for (int i = 0; i < diagnosis.count; i++) {
            const ss_complaint *complaint = &diagnosis.items[i];
            mwIndex k = (mwIndex)i;
            mxSetField(list, k, "severity", tb_text(ss_severity_name(complaint->severity)));
            mxSetField(list, k, "defect", tb_text(ss_defect_name(complaint->defect)));
            mxSetField(list, k, "message", tb_text(complaint->message));
            mxSetField(list, k, "advice", tb_text(complaint->advice));
            mxSetField(list, k, "contact", tb_number(complaint->contact + 1));
            mxSetField(list, k, "constraint", tb_number(complaint->constraint + 1));
            mxSetField(list, k, "value", tb_number(complaint->value));
        }
        call->output[0] = list;
    }
    ss_diagnosis_free(&diagnosis);
    ss_problem_destroy(problem);
    return good;
}
