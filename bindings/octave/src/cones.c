/* Cone problems, as in FCLIB files: a struct with form, dimension, mu and the matrices and vectors of
 * stickslip/cone.h under their names. */
#include "toolbox.h"

#include <limits.h>
#include <string.h>

static const char *const kind_names[] = {"local", "global", "global_rolling"};

/* ---- to Octave ---------------------------------------------------------------------------------------- */

mxArray *tb_cone(const ss_cone *cone)
{
    bool local = cone->form == SS_CONE_LOCAL;
    int m = cone->contacts * cone->dimension, n = cone->dofs, p = cone->equations;
    mxArray *s = tb_struct();
    tb_set(s, "form", tb_text(local ? "local" : "global"));
    tb_set(s, "dimension", tb_number(cone->dimension));
    tb_set(s, "mu", tb_real(cone->contacts, 1, cone->mu));
    if (cone->mu_rolling) tb_set(s, "mu_rolling", tb_real(cone->contacts, 1, cone->mu_rolling));
    tb_set(s, local ? "W" : "M", tb_sparse(local ? cone->W : cone->M));
    if (!local) tb_set(s, "H", tb_sparse(cone->H));
    if (local && p) tb_set(s, "V", tb_sparse(cone->V));
    if (local && p) tb_set(s, "R", tb_sparse(cone->R));
    if (!local && p) tb_set(s, "G", tb_sparse(cone->G));
    if (local) tb_set(s, "q", tb_real(m, 1, cone->q));
    if (local && p) tb_set(s, "s", tb_real(p, 1, cone->s));
    if (!local) tb_set(s, "f", tb_real(n, 1, cone->f));
    if (!local) tb_set(s, "w", tb_real(m, 1, cone->w));
    if (!local && p) tb_set(s, "b", tb_real(p, 1, cone->b));
    return s;
}

static mxArray *show_point(const ss_cone *cone, const ss_cone_point *point)
{
    int m = cone->contacts * cone->dimension;
    mxArray *s = tb_struct();
    if (point->u) tb_set(s, "u", tb_real(m, 1, point->u));
    if (point->r) tb_set(s, "r", tb_real(m, 1, point->r));
    if (point->v) tb_set(s, "v", tb_real(cone->dofs, 1, point->v));
    if (point->l) tb_set(s, "l", tb_real(cone->equations, 1, point->l));
    return s;
}

/* ---- from Octave -------------------------------------------------------------------------------------- */

bool tb_is_cone(const mxArray *structure)
{
    return tb_get(structure, "form") && tb_get(structure, "mu");
}

static int columns_of(const mxArray *structure, const char *name)
{
    const mxArray *value = tb_get(structure, name);
    return value && mxGetN(value) < INT_MAX ? (int)mxGetN(value) : 0;
}

static bool take_matrix(const mxArray *s, const char *name, ss_sparse **matrix, ss_error *err)
{
    const mxArray *value = tb_get(s, name);
    if (!value) return ss_fail(err, SS_ERROR_USAGE, "cone problem: %s is missing", name);
    *matrix = tb_get_sparse(value, name, err);
    return *matrix != NULL;
}

ss_cone *tb_get_cone(const mxArray *s, ss_error *err)
{
    int dimension;
    char *form = tb_get_text(tb_get(s, "form"), "form", err);
    if (!form) return NULL;
    bool local = strcmp(form, "local") == 0, known = local || strcmp(form, "global") == 0;
    if (!known) ss_fail(err, SS_ERROR_USAGE, "invalid value \"%s\" for form: expected local or global", form);
    mxFree(form);
    if (!known || !tb_get_int(tb_get(s, "dimension"), "dimension", 2, 5, &dimension, err)) return NULL;

    // Sizes are those of the matrices.
    int contacts = tb_is_numeric(tb_get(s, "mu")) ? (int)tb_count(tb_get(s, "mu")) : 0;
    int dofs = local ? 0 : columns_of(s, "M"), equations = columns_of(s, local ? "V" : "G");
    size_t m = (size_t)contacts * (size_t)dimension, n = (size_t)dofs, p = (size_t)equations;
    ss_cone *cone =
        ss_cone_create(local ? SS_CONE_LOCAL : SS_CONE_GLOBAL, dimension, contacts, dofs, equations, err);
    if (!cone) return NULL;
    bool good = tb_copy(tb_get(s, "mu"), (size_t)contacts, cone->mu, "mu", err);
    if (good && cone->mu_rolling)
        good = tb_copy(tb_get(s, "mu_rolling"), (size_t)contacts, cone->mu_rolling, "mu_rolling", err);
    if (local)
        good = good && take_matrix(s, "W", &cone->W, err) && tb_copy(tb_get(s, "q"), m, cone->q, "q", err) &&
               (!p || (take_matrix(s, "V", &cone->V, err) && take_matrix(s, "R", &cone->R, err) &&
                       tb_copy(tb_get(s, "s"), p, cone->s, "s", err)));
    else
        good = good && take_matrix(s, "M", &cone->M, err) && take_matrix(s, "H", &cone->H, err) &&
               tb_copy(tb_get(s, "f"), n, cone->f, "f", err) &&
               tb_copy(tb_get(s, "w"), m, cone->w, "w", err) &&
               (!p || (take_matrix(s, "G", &cone->G, err) && tb_copy(tb_get(s, "b"), p, cone->b, "b", err)));

    ss_findings faults = {0};
    if (good && !ss_cone_check(cone, "", &faults)) {
        good = false;
        for (size_t i = 0; i < faults.count; i++)
            if (faults.items[i].kind == SS_FINDING_FAULT) {
                ss_fail(err, SS_ERROR_INPUT, "cone problem: %s: %s", faults.items[i].place,
                        faults.items[i].message);
                break;
            }
    }
    ss_findings_free(&faults);
    if (good) return cone;
    ss_cone_destroy(cone);
    return NULL;
}

/* ---- files -------------------------------------------------------------------------------------------- */

bool tb_do_fclib_kinds(const tb_call *call, ss_error *err)
{
    ss_fclib_kind kinds[3];
    const char *names[3];
    char *path = tb_get_text(call->input[0], "path", err);
    int count = path ? ss_fclib_kinds(path, kinds, err) : -1;
    mxFree(path);
    for (int i = 0; i < count; i++) names[i] = ss_fclib_kind_name(kinds[i]);
    if (count >= 0) call->output[0] = tb_texts(count, names);
    return count >= 0;
}

static bool kind_of(const char *name, ss_fclib_kind *kind, ss_error *err)
{
    for (int k = 0; k < 3; k++)
        if (strcmp(name, kind_names[k]) == 0) {
            *kind = (ss_fclib_kind)k;
            return true;
        }
    return ss_fail(err, SS_ERROR_USAGE,
                   "unknown kind of problem '%s': expected local, global or global_rolling", name);
}

bool tb_do_fclib_read(const tb_call *call, ss_error *err)
{
    ss_fclib_kind kind = SS_FCLIB_LOCAL;
    ss_findings findings = {0};
    char *path = tb_get_text(call->input[0], "path", err),
         *name = path ? tb_get_text(call->input[1], "kind", err) : NULL;
    ss_fclib *file =
        name && kind_of(name, &kind, err) ? ss_fclib_read(path, kind, NULL, &findings, err) : NULL;
    mxFree(path);
    mxFree(name);
    if (file) {
        mxArray *s = tb_cone(file->cone);
        if (file->info.title) tb_set(s, "title", tb_text(file->info.title));
        if (file->info.description) tb_set(s, "description", tb_text(file->info.description));
        if (file->info.math_info) tb_set(s, "math_info", tb_text(file->info.math_info));
        if (file->has_solution) tb_set(s, "solution", show_point(file->cone, &file->solution));
        if (file->guess_count) {
            mxArray *guesses = mxCreateCellMatrix(1, (mwSize)file->guess_count);
            for (int i = 0; i < file->guess_count; i++)
                mxSetCell(guesses, (mwIndex)i, show_point(file->cone, &file->guesses[i]));
            tb_set(s, "guesses", guesses);
        }
        call->output[0] = s;
        if (call->outputs > 1) call->output[1] = tb_findings(&findings);
    }
    ss_findings_free(&findings);
    ss_fclib_destroy(file);
    return file != NULL;
}

/* A point of the user's: r is needed, the rest is computed where it is missing. */
static bool take_point(const ss_cone *cone, const mxArray *given, ss_cone_point *point, ss_error *err)
{
    size_t m = (size_t)cone->contacts * (size_t)cone->dimension;
    if (!tb_copy(tb_get(given, "r"), m, point->r, "solution.r", err)) return false;
    if (point->l && tb_get(given, "l") &&
        !tb_copy(tb_get(given, "l"), (size_t)cone->equations, point->l, "solution.l", err))
        return false;
    bool whole = tb_get(given, "u") && (!point->v || tb_get(given, "v")) && (!point->l || tb_get(given, "l"));
    if (!whole) return ss_cone_point_complete(cone, point, err);
    return tb_copy(tb_get(given, "u"), m, point->u, "solution.u", err) &&
           (!point->v || tb_copy(tb_get(given, "v"), (size_t)cone->dofs, point->v, "solution.v", err));
}

bool tb_do_fclib_write(const tb_call *call, ss_error *err)
{
    const mxArray *s = call->input[1], *solution = tb_get(s, "solution");
    ss_fclib file = {0};
    char *path = tb_get_text(call->input[0], "path", err);
    bool good = path && (file.cone = tb_get_cone(s, err)) &&
                tb_get_option(s, "title", &file.info.title, err) &&
                tb_get_option(s, "description", &file.info.description, err) &&
                tb_get_option(s, "math_info", &file.info.math_info, err);
    if (good && solution) {
        good = ss_cone_point_create(file.cone, &file.solution, err);
        file.has_solution = good;
        good = good && take_point(file.cone, solution, &file.solution, err);
    }
    good = good && ss_fclib_write(path, &file, err);
    ss_cone_point_free(&file.solution);
    ss_cone_destroy(file.cone);
    mxFree(file.info.title);
    mxFree(file.info.description);
    mxFree(file.info.math_info);
    mxFree(path);
    return good;
}

/* ---- conversions -------------------------------------------------------------------------------------- */

bool tb_do_cone_problem(const tb_call *call, ss_error *err)
{
    ss_cone *cone = tb_get_cone(call->input[0], err);
    ss_problem *problem = cone ? ss_problem_from_cone(cone, err) : NULL;
    bool good = problem && ss_problem_need_matrix(problem, err);
    if (good) call->output[0] = tb_problem(problem);
    ss_problem_destroy(problem);
    ss_cone_destroy(cone);
    return good;
}

bool tb_do_cone_local(const tb_call *call, ss_error *err)
{
    int eliminate;
    if (!tb_get_int(call->input[1], "eliminate", 0, 1, &eliminate, err)) return false;
    ss_cone *cone = tb_get_cone(call->input[0], err),
            *local = cone ? ss_cone_to_local(cone, eliminate, err) : NULL;
    if (local) call->output[0] = tb_cone(local);
    ss_cone_destroy(local);
    ss_cone_destroy(cone);
    return local != NULL;
}

bool tb_do_cone_of_frame(const tb_call *call, ss_error *err)
{
    int eliminate;
    if (!tb_get_int(call->input[3], "eliminate", 0, 1, &eliminate, err)) return false;
    ss_findings losses = {0};
    ss_frame *frame = tb_get_frame(call->input[0], NULL, true, err);
    char *with = frame ? tb_get_text(call->input[1], "with", err) : NULL;
    char *form = with ? tb_get_text(call->input[2], "form", err) : NULL;
    ss_assembly *assembly = form ? tb_assemble(frame, "cone", with, &losses, err) : NULL;
    ss_cone_wish wish = {.form = form && strcmp(form, "local") == 0 ? SS_CONE_LOCAL : SS_CONE_GLOBAL,
                         .eliminate = eliminate};
    ss_cone *cone = assembly ? ss_assembly_cone(assembly, &wish, "frame", &losses, err) : NULL;
    if (cone) call->output[0] = tb_cone(cone);
    if (cone && call->outputs > 1) call->output[1] = tb_findings(&losses);
    ss_cone_destroy(cone);
    ss_assembly_destroy(assembly);
    mxFree(form);
    mxFree(with);
    ss_frame_destroy(frame);
    ss_findings_free(&losses);
    return cone != NULL;
}

bool tb_do_frame_of_cone(const tb_call *call, ss_error *err)
{
    double h;
    ss_findings findings = {0};
    if (!tb_get_number(call->input[1], "h", &h, err)) return false;
    ss_cone *cone = tb_get_cone(call->input[0], err);
    ss_frame *frame = cone ? ss_frame_from_cone(cone, h, &findings, err) : NULL;
    if (frame) call->output[0] = tb_frame(frame);
    if (frame && call->outputs > 1) call->output[1] = tb_findings(&findings);
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
    ss_cone_destroy(cone);
    return frame != NULL;
}

bool tb_do_matrix_market(const tb_call *call, ss_error *err)
{
    char *prefix = tb_get_text(call->input[0], "prefix", err);
    bool good = false;
    if (prefix && tb_is_cone(call->input[1])) {
        ss_cone *cone = tb_get_cone(call->input[1], err);
        good = cone && ss_matrix_market_write(prefix, cone, err);
        ss_cone_destroy(cone);
    } else if (prefix) {
        ss_problem *problem = tb_get_problem(call->input[1], err);
        good = problem && ss_matrix_market_write_problem(prefix, problem, err);
        ss_problem_destroy(problem);
    }
    mxFree(prefix);
    return good;
}
