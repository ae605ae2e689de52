/* Writing FCLIB: scalars as arrays of one, matrices as triplets with i = row and p = column, nzmax = nz and
 * no explicit zeros, because that is what every known reader takes. */
#include "dataset/fclib.h"

#include <math.h>
#include <stdio.h>

static bool write_reals(const ss_h5_group *group, const char *name, int count, const double *values,
                        ss_error *err)
{
    return ss_h5_write(group, name, SS_H5_F64, 1, (uint64_t[]){(uint64_t)count}, values, err);
}

static bool write_ints(const ss_h5_group *group, const char *name, int count, const int *values,
                       ss_error *err)
{
    return ss_h5_write(group, name, SS_H5_I32, 1, (uint64_t[]){(uint64_t)count}, values, err);
}

static bool write_int(const ss_h5_group *group, const char *name, int value, ss_error *err)
{
    return write_ints(group, name, 1, &value, err);
}

/* ---- matrices ------------------------------------------------------------------------------------- */

static bool write_matrix(const ss_h5_group *parent, const char *name, const ss_sparse *matrix, ss_error *err)
{
    size_t room = (size_t)ss_sparse_nonzeros(matrix);
    int count = 0, *row = ss_allocate(room, sizeof *row), *column = ss_allocate(room, sizeof *column);
    double *value = ss_allocate(room, sizeof *value);
    bool good = (row && column && value) ||
                ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %zu entries of a matrix", room);

    for (int c = 0; good && c < matrix->cols; c++) {
        for (int at = matrix->start[c]; at < matrix->start[c + 1]; at++) {
            if (matrix->value[at] == 0.0) continue;
            row[count] = matrix->row[at];
            column[count] = c;
            value[count++] = matrix->value[at];
        }
    }

    ss_h5_group group = {.id = -1};
    good = good && ss_h5_make_group(parent, name, &group, err) && write_int(&group, "m", matrix->rows, err) &&
           write_int(&group, "n", matrix->cols, err) && write_int(&group, "nz", count, err) &&
           write_int(&group, "nzmax", count, err) && write_ints(&group, "p", count, column, err) &&
           write_ints(&group, "i", count, row, err) && write_reals(&group, "x", count, value, err);
    ss_h5_leave_group(&group);
    ss_release(row);
    ss_release(column);
    ss_release(value);
    return good;
}

/* ---- the problem ---------------------------------------------------------------------------------- */

static bool write_text(const ss_h5_group *group, const char *name, const char *text, ss_error *err)
{
    return !text || ss_h5_write_text(group, name, text, err);
}

static bool write_info(const ss_h5_group *parent, const ss_fclib_info *info, ss_error *err)
{
    ss_h5_group group;
    if (!info->title && !info->description && !info->math_info) return true;
    bool good = ss_h5_make_group(parent, "info", &group, err) &&
                write_text(&group, "title", info->title, err) &&
                write_text(&group, "description", info->description, err) &&
                write_text(&group, "math_info", info->math_info, err);
    ss_h5_leave_group(&group);
    return good;
}

static bool write_problem(const ss_h5_group *root, const ss_fclib *problem, ss_error *err)
{
    const ss_cone *cone = problem->cone;
    ss_h5_group group, vectors = {.id = -1};
    bool good = ss_h5_make_group(root, ss_fclib_group_name(ss_fclib_kind_of(cone)), &group, err) &&
                write_int(&group, "spacedim", cone->dimension, err) &&
                ss_h5_make_group(&group, "vectors", &vectors, err);
    for (const ss_fclib_part *part = ss_fclib_parts; good && part->name; part++) {
        if (!ss_fclib_has(cone, part)) continue;
        good = part->cols ? write_matrix(&group, part->name, *ss_fclib_matrix(part, cone), err)
                          : write_reals(&vectors, part->name, ss_fclib_extent(cone, part->rows),
                                        *ss_fclib_vector(part, cone), err);
    }
    good = good && write_info(&group, &problem->info, err);
    ss_h5_leave_group(&vectors);
    ss_h5_leave_group(&group);
    return good;
}

/* ---- points --------------------------------------------------------------------------------------- */

static bool write_point(const ss_h5_group *parent, const char *name, const ss_cone *cone,
                        const ss_cone_point *point, ss_error *err)
{
    ss_h5_group group;
    int m = ss_fclib_extent(cone, 'm');
    bool good = ss_h5_make_group(parent, name, &group, err) && write_reals(&group, "u", m, point->u, err) &&
                write_reals(&group, "r", m, point->r, err) &&
                (!point->v || write_reals(&group, "v", cone->dofs, point->v, err)) &&
                (!point->l || write_reals(&group, "l", cone->equations, point->l, err));
    ss_h5_leave_group(&group);
    return good;
}

static bool write_guesses(const ss_h5_group *root, const ss_fclib *problem, ss_error *err)
{
    ss_h5_group group;
    if (problem->guess_count == 0) return true;
    bool good = ss_h5_make_group(root, "guesses", &group, err) &&
                write_int(&group, "number_of_guesses", problem->guess_count, err);
    for (int g = 0; good && g < problem->guess_count; g++) {
        char name[16];
        snprintf(name, sizeof name, "%d", g + 1);
        good = write_point(&group, name, problem->cone, &problem->guesses[g], err);
    }
    ss_h5_leave_group(&group);
    return good;
}

/* ---- the file ------------------------------------------------------------------------------------- */

/* What no reader would take is not written. */
static bool check(const char *path, const ss_cone *cone, ss_error *err)
{
    if (cone->form == SS_CONE_LOCAL && cone->dimension == 5)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: FCLIB has no local form with rolling friction; write the global one", path);
    ss_findings faults = {.limit = 1};
    bool good = ss_cone_check(cone, "", &faults);
    if (!good)
        ss_fail(err, SS_ERROR_INPUT, "%s: the problem is faulty and is not written: %s: %s", path,
                faults.count ? faults.items[0].place : "", faults.count ? faults.items[0].message : "");
    ss_findings_free(&faults);
    return good;
}

bool ss_fclib_write(const char *path, const ss_fclib *problem, ss_error *err)
{
    if (!check(path, problem->cone, err)) return false;
    ss_h5_session session;
    ss_h5_output output;
    ss_h5_enter_to_write(&session);
    bool good = ss_h5_output_open(path, false, INFINITY, &output, err);
    if (good) {
        good = write_problem(&output.root, problem, err) &&
               (!problem->has_solution ||
                write_point(&output.root, "solution", problem->cone, &problem->solution, err)) &&
               write_guesses(&output.root, problem, err);
        if (good)
            good = ss_h5_output_commit(&output, err);
        else
            ss_h5_output_discard(&output);
    }
    ss_h5_leave(&session);
    return good;
}
