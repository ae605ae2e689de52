/* `stickslip info` on an FCLIB file. */
#include "cli/info/info.h"

#include <math.h>
#include <string.h>

#define SOLVED 1e-6 /* residuals below this are a solution, ... */
#define ROUGH 1e-2  /* ... below this a rough one */

typedef struct view {
    const ss_info_options *options;
    ss_out *out;
    ss_json json;
} view;

typedef struct named_matrix {
    const char *name;
    const ss_sparse *matrix;
} named_matrix;

typedef struct named_vector {
    const char *name;
    const double *values;
    int count;
} named_vector;

/* ---- the parts of a problem ---------------------------------------------------------------------- */

#define MOST_PARTS 8

static int list_matrices(const ss_cone *cone, named_matrix list[MOST_PARTS])
{
    const named_matrix all[] = {{"W", cone->W}, {"V", cone->V}, {"R", cone->R},
                                {"M", cone->M}, {"H", cone->H}, {"G", cone->G}};
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].matrix) list[count++] = all[i];
    return count;
}

static int list_vectors(const ss_cone *cone, named_vector list[MOST_PARTS])
{
    int m = cone->contacts * cone->dimension, n = cone->dofs, p = cone->equations;
    const named_vector all[] = {{"mu", cone->mu, cone->contacts},
                                {"mu_rolling", cone->mu_rolling, cone->contacts},
                                {"q", cone->q, m},
                                {"s", cone->s, p},
                                {"f", cone->f, n},
                                {"w", cone->w, m},
                                {"b", cone->b, p}};
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].values && all[i].count > 0) list[count++] = all[i];
    return count;
}

static int list_point(const ss_cone *cone, const ss_cone_point *point, named_vector list[MOST_PARTS])
{
    int m = cone->contacts * cone->dimension;
    const named_vector all[] = {{"u", point->u, m},
                                {"r", point->r, m},
                                {"v", point->v, cone->dofs},
                                {"l", point->l, cone->equations}};
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].values && all[i].count > 0) list[count++] = all[i];
    return count;
}

static void find_range(const double *values, int count, double range[2])
{
    range[0] = range[1] = values[0];
    for (int i = 1; i < count; i++) {
        range[0] = fmin(range[0], values[i]);
        range[1] = fmax(range[1], values[i]);
    }
}

/* ---- the stored solution ------------------------------------------------------------------------- */

static const char *verdict_of(const ss_cone_residual *residual)
{
    double worst = fmax(residual->natural_map, fmax(residual->balance, residual->bilateral));
    return worst <= SOLVED ? "a solution" : worst <= ROUGH ? "a rough solution" : "not a solution";
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void put_vectors(ss_json *json, const named_vector *vectors, int count)
{
    ss_json_begin_object(json);
    for (int i = 0; i < count; i++) {
        ss_json_key(json, vectors[i].name);
        ss_json_reals(json, vectors[i].values, (size_t)vectors[i].count);
    }
    ss_json_end_object(json);
}

static void put_everything(view *v, const ss_fclib *problem)
{
    named_matrix matrices[MOST_PARTS];
    named_vector vectors[MOST_PARTS];
    ss_json *json = &v->json;
    int count = list_matrices(problem->cone, matrices);
    ss_json_key(json, "matrices");
    ss_json_begin_object(json);
    for (int i = 0; i < count; i++) {
        const ss_sparse *a = matrices[i].matrix;
        ss_json_key(json, matrices[i].name);
        ss_json_begin_object(json);
        ss_json_key(json, "rows"), ss_json_integer(json, a->rows);
        ss_json_key(json, "cols"), ss_json_integer(json, a->cols);
        ss_json_key(json, "triplets");
        ss_json_begin_array(json);
        for (int j = 0; j < a->cols; j++)
            for (int k = a->start[j]; k < a->start[j + 1]; k++) {
                ss_json_begin_array(json);
                ss_json_integer(json, a->row[k]);
                ss_json_integer(json, j);
                ss_json_real(json, a->value[k]);
                ss_json_end_array(json);
            }
        ss_json_end_array(json);
        ss_json_end_object(json);
        ss_out_drain(v->out);
    }
    ss_json_end_object(json);

    // Only those that the form has.
    ss_json_key(json, "vectors");
    put_vectors(json, vectors, list_vectors(problem->cone, vectors));
    if (!problem->has_solution) return;
    ss_json_key(json, "stored_solution");
    put_vectors(json, vectors, list_point(problem->cone, &problem->solution, vectors));
}

static void put_problem(view *v, ss_fclib_kind kind, const ss_fclib *problem)
{
    const ss_cone *cone = problem->cone;
    ss_json *json = &v->json;
    ss_json_begin_object(json);
    ss_json_key(json, "kind"), ss_json_string(json, ss_fclib_kind_name(kind));
    ss_json_key(json, "dimension"), ss_json_integer(json, cone->dimension);
    ss_json_key(json, "contacts"), ss_json_integer(json, cone->contacts);
    ss_json_key(json, "dofs"), ss_json_integer(json, cone->dofs);
    ss_json_key(json, "equations"), ss_json_integer(json, cone->equations);

    named_matrix matrices[MOST_PARTS];
    int count = list_matrices(cone, matrices);
    ss_json_key(json, "sizes");
    ss_json_begin_object(json);
    for (int i = 0; i < count; i++) {
        const ss_sparse *a = matrices[i].matrix;
        ss_json_key(json, matrices[i].name);
        ss_json_integers(json, (int[]){a->rows, a->cols, ss_sparse_nonzeros(a)}, 3);
    }
    ss_json_end_object(json);

    double range[2];
    ss_json_key(json, "mu");
    if (cone->contacts > 0)
        find_range(cone->mu, cone->contacts, range), ss_json_reals(json, range, 2);
    else
        ss_json_null(json);
    ss_json_key(json, "title"), ss_json_string(json, problem->info.title);
    ss_json_key(json, "description"), ss_json_string(json, problem->info.description);
    ss_json_key(json, "math_info"), ss_json_string(json, problem->info.math_info);
    ss_json_key(json, "guesses"), ss_json_integer(json, problem->guess_count);

    // The stored solution, as judged by the problem.
    ss_cone_residual residual;
    ss_error err;
    ss_json_key(json, "solution");
    if (!problem->has_solution) {
        ss_json_null(json);
    } else {
        ss_json_begin_object(json);
        if (ss_cone_residual_of(cone, &problem->solution, &residual, &err)) {
            ss_json_key(json, "natural_map"), ss_json_real(json, residual.natural_map);
            ss_json_key(json, "balance"), ss_json_real(json, residual.balance);
            ss_json_key(json, "bilateral"), ss_json_real(json, residual.bilateral);
            ss_json_key(json, "velocity"), ss_json_real(json, residual.velocity);
            ss_json_key(json, "worst_contact"), ss_json_integer(json, residual.worst_contact);
            ss_json_key(json, "verdict"), ss_json_string(json, verdict_of(&residual));
        } else {
            ss_json_key(json, "error"), ss_json_string(json, err.message);
        }
        ss_json_end_object(json);
    }
    if (v->options->full) put_everything(v, problem);
    ss_json_end_object(json);
}

/* ---- text ---------------------------------------------------------------------------------------- */

static void print_vector(ss_out *out, const named_vector *vector)
{
    ss_text_append(&out->text, "\n");
    ss_info_heading(out, "%s, %d: index value", vector->name, vector->count);
    for (int i = 0; i < vector->count && ss_out_drain(out); i++)
        ss_text_appendf(&out->text, "  %7d  %.17g\n", i, vector->values[i]);
}

static void print_problem(view *v, ss_fclib_kind kind, const ss_fclib *problem)
{
    const ss_cone *cone = problem->cone;
    ss_out *out = v->out;
    named_matrix matrices[MOST_PARTS];
    double range[2];
    int count = list_matrices(cone, matrices);
    ss_text_append(&out->text, "\n");
    ss_info_heading(out, "Problem %s", ss_fclib_kind_name(kind));
    ss_info_words(out, "title", problem->info.title);
    ss_info_words(out, "description", problem->info.description);
    ss_info_words(out, "math_info", problem->info.math_info);
    ss_info_item(out, "contacts", "%d, dimension %d", cone->contacts, cone->dimension);
    if (cone->form == SS_CONE_GLOBAL) ss_info_item(out, "dofs", "%d", cone->dofs);
    ss_info_item(out, "equations", "%d", cone->equations);
    if (cone->contacts > 0) {
        find_range(cone->mu, cone->contacts, range);
        if (range[0] == range[1])
            ss_info_item(out, "mu", "%g", range[0]);
        else
            ss_info_item(out, "mu", "%g to %g", range[0], range[1]);
    }
    for (int i = 0; i < count; i++)
        ss_info_item(out, matrices[i].name, "%d x %d, %d nonzeros", matrices[i].matrix->rows,
                     matrices[i].matrix->cols, ss_sparse_nonzeros(matrices[i].matrix));
    ss_info_item(out, "guesses", "%d", problem->guess_count);
    ss_cone_residual residual;
    ss_error err;
    if (!problem->has_solution)
        ss_info_item(out, "solution", "none");
    else if (!ss_cone_residual_of(cone, &problem->solution, &residual, &err))
        ss_info_item(out, "solution", "cannot be judged: %s", err.message);
    else
        ss_info_item(out, "solution",
                     "%s: natural map %.3g, balance %.3g, bilateral %.3g, stored u off by %.3g",
                     verdict_of(&residual), residual.natural_map, residual.balance, residual.bilateral,
                     residual.velocity);
    if (!v->options->full) return;

    // Every number.
    for (int i = 0; i < count; i++) {
        const ss_sparse *a = matrices[i].matrix;
        ss_text_append(&out->text, "\n");
        ss_info_heading(out, "%s, %d x %d: row column value", matrices[i].name, a->rows, a->cols);
        for (int j = 0; j < a->cols && ss_out_drain(out); j++)
            for (int k = a->start[j]; k < a->start[j + 1]; k++)
                ss_text_appendf(&out->text, "  %7d %7d  %.17g\n", a->row[k], j, a->value[k]);
    }
    named_vector vectors[MOST_PARTS];
    count = list_vectors(cone, vectors);
    for (int i = 0; i < count; i++) print_vector(out, &vectors[i]);
    count = problem->has_solution ? list_point(cone, &problem->solution, vectors) : 0;
    for (int i = 0; i < count; i++) print_vector(out, &vectors[i]);
}

/* ---- all together -------------------------------------------------------------------------------- */

int ss_info_fclib(const ss_command *command, const ss_info_options *options, ss_error *err)
{
    const char *path = command->arguments[0];
    view v = {.options = options, .out = command->out, .json = {.text = &command->out->text}};
    ss_json *json = &v.json;
    ss_tally tally = {0};
    ss_fclib_kind kinds[3];
    if (options->frame) {
        ss_fail(err, SS_ERROR_USAGE, "info: --frame is for BPMD files; %s is an FCLIB file", path);
        return SS_EXIT_USAGE;
    }
    int count = ss_fclib_kinds(path, kinds, err);
    if (count < 0) return SS_EXIT_DONE; // the caller reports err

    if (options->json) {
        ss_json_begin_object(json);
        ss_json_key(json, "format"), ss_json_string(json, "fclib");
        ss_json_key(json, "file"), ss_json_string(json, path);
        ss_json_key(json, "problems");
        ss_json_begin_array(json);
    } else {
        ss_info_heading(v.out, "%s: FCLIB, %d problem%s", path, count, count == 1 ? "" : "s");
    }

    // One problem at a time: they may be large.
    for (int i = 0; i < count; i++) {
        ss_findings findings = {0};
        ss_fclib *problem = ss_fclib_read(path, kinds[i], &options->source.limits, &findings, err);
        ss_tally_add(&tally, &findings, "", 0);
        ss_findings_free(&findings);
        if (!problem) break;
        if (options->json)
            put_problem(&v, kinds[i], problem);
        else
            print_problem(&v, kinds[i], problem);
        ss_fclib_destroy(problem);
    }
    if (options->json) {
        ss_json_end_array(json);
        ss_tally_json(json, "warnings", &tally, SS_FINDING_WARNING);
        ss_json_end_object(json);
        ss_text_append(&v.out->text, "\n");
    } else {
        ss_tally_print(v.out, "Warnings", &tally, SS_FINDING_WARNING);
    }
    v.out->text.out_of_memory |= tally.out_of_memory;
    ss_tally_free(&tally);
    return SS_EXIT_DONE;
}
