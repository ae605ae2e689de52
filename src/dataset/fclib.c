#include "dataset/fclib.h"

#include <math.h>
#include <stddef.h>

#define MATRIX(letter, in_form, r, c)                                                               \
    {                                                                                               \
        .name = #letter, .form = in_form, .rows = r, .cols = c, .offset = offsetof(ss_cone, letter) \
    }
#define VECTOR(letter, in_form, r)                                                       \
    {                                                                                    \
        .name = #letter, .form = in_form, .rows = r, .offset = offsetof(ss_cone, letter) \
    }

const ss_fclib_part ss_fclib_parts[] = {
    MATRIX(W, SS_CONE_LOCAL, 'm', 'm'),
    MATRIX(V, SS_CONE_LOCAL, 'm', 'p'),
    MATRIX(R, SS_CONE_LOCAL, 'p', 'p'),
    VECTOR(q, SS_CONE_LOCAL, 'm'),
    VECTOR(s, SS_CONE_LOCAL, 'p'),
    MATRIX(M, SS_CONE_GLOBAL, 'n', 'n'),
    MATRIX(H, SS_CONE_GLOBAL, 'n', 'm'),
    MATRIX(G, SS_CONE_GLOBAL, 'n', 'p'),
    VECTOR(f, SS_CONE_GLOBAL, 'n'),
    VECTOR(w, SS_CONE_GLOBAL, 'm'),
    VECTOR(b, SS_CONE_GLOBAL, 'p'),
    {.name = "mu", .both_forms = true, .rows = 'c', .offset = offsetof(ss_cone, mu)},
    {.name = "mu_r", .both_forms = true, .rows = 'c', .offset = offsetof(ss_cone, mu_rolling)},
    {.name = NULL},
};

int ss_fclib_extent(const ss_cone *cone, char letter)
{
    switch (letter) {
    case 'm':
        return cone->contacts * cone->dimension;
    case 'n':
        return cone->dofs;
    case 'p':
        return cone->equations;
    default:
        return cone->contacts;
    }
}

bool ss_fclib_has(const ss_cone *cone, const ss_fclib_part *part)
{
    if (!part->both_forms && part->form != cone->form) return false;
    if (part->offset == offsetof(ss_cone, mu_rolling)) return cone->dimension == 5;
    bool of_equations = part->rows == 'p' || part->cols == 'p';
    return !of_equations || cone->equations > 0;
}

ss_sparse **ss_fclib_matrix(const ss_fclib_part *part, const ss_cone *cone)
{
    return (ss_sparse **)(void *)((char *)(uintptr_t)cone + part->offset);
}

double **ss_fclib_vector(const ss_fclib_part *part, const ss_cone *cone)
{
    return (double **)(void *)((char *)(uintptr_t)cone + part->offset);
}

/* ---- kinds ---------------------------------------------------------------------------------------- */

const ss_fclib_kind ss_fclib_order[3] = {SS_FCLIB_GLOBAL, SS_FCLIB_LOCAL, SS_FCLIB_GLOBAL_ROLLING};

const char *ss_fclib_kind_name(ss_fclib_kind kind)
{
    return ss_fclib_group_name(kind) + sizeof "fclib_" - 1;
}

const char *ss_fclib_group_name(ss_fclib_kind kind)
{
    switch (kind) {
    case SS_FCLIB_LOCAL:
        return "fclib_local";
    case SS_FCLIB_GLOBAL:
        return "fclib_global";
    case SS_FCLIB_GLOBAL_ROLLING:
        break;
    }
    return "fclib_global_rolling";
}

ss_cone_form ss_fclib_form(ss_fclib_kind kind)
{
    return kind == SS_FCLIB_LOCAL ? SS_CONE_LOCAL : SS_CONE_GLOBAL;
}

ss_fclib_kind ss_fclib_kind_of(const ss_cone *cone)
{
    if (cone->form == SS_CONE_LOCAL) return SS_FCLIB_LOCAL;
    return cone->dimension == 5 ? SS_FCLIB_GLOBAL_ROLLING : SS_FCLIB_GLOBAL;
}

int ss_fclib_kinds(const char *path, ss_fclib_kind kinds[3], ss_error *err)
{
    ss_h5_session session;
    ss_h5_enter(&session);
    hid_t file;
    ss_h5_group root;
    int count = -1;
    if (ss_h5_open(path, INFINITY, &file, &root, err)) {
        count = 0;
        for (int k = 0; k < 3; k++) {
            if (ss_h5_has(&root, ss_fclib_group_name(ss_fclib_order[k]))) kinds[count++] = ss_fclib_order[k];
        }
        ss_h5_leave_group(&root);
        ss_h5_close(file);
    }
    ss_h5_leave(&session);
    return count;
}

/* ---- life ----------------------------------------------------------------------------------------- */

void ss_fclib_destroy(ss_fclib *problem)
{
    if (!problem) return;
    for (int g = 0; g < problem->guess_count; g++) ss_cone_point_free(&problem->guesses[g]);
    ss_release(problem->guesses);
    ss_cone_point_free(&problem->solution);
    ss_cone_destroy(problem->cone);
    ss_release(problem->info.title);
    ss_release(problem->info.description);
    ss_release(problem->info.math_info);
    ss_release(problem);
}

/* ---- public reading ------------------------------------------------------------------------------- */

static bool resolve_limits(const ss_limits *given, ss_limits *limits, ss_error *err)
{
    if (!given) {
        ss_options_defaults(ss_limits_table, limits);
        return true;
    }
    *limits = *given;
    return ss_options_check(ss_limits_table, limits, err);
}

/* Inside ss_h5_enter; closes the file. */
static ss_fclib *read_and_close(hid_t file, ss_h5_group *root, ss_fclib_kind kind, const ss_limits *limits,
                                ss_findings *findings, ss_error *err)
{
    ss_fclib *problem = ss_fclib_read_root(root, kind, limits, findings, err);
    ss_h5_leave_group(root);
    ss_h5_close(file);
    return problem;
}

ss_fclib *ss_fclib_read(const char *path, ss_fclib_kind kind, const ss_limits *limits, ss_findings *findings,
                        ss_error *err)
{
    ss_limits used;
    if (!resolve_limits(limits, &used, err)) return NULL;
    ss_h5_session session;
    ss_h5_enter(&session);
    hid_t file;
    ss_h5_group root;
    ss_fclib *problem = NULL;
    if (ss_h5_open(path, 1e6 * used.max_megabytes, &file, &root, err))
        problem = read_and_close(file, &root, kind, &used, findings, err);
    ss_h5_leave(&session);
    if (problem) ss_fclib_check(problem, findings);
    return problem;
}

ss_fclib *ss_fclib_read_image(const void *bytes, size_t size, ss_fclib_kind kind, const ss_limits *limits,
                              ss_findings *findings, ss_error *err)
{
    ss_limits used;
    if (!resolve_limits(limits, &used, err)) return NULL;
    ss_h5_session session;
    ss_h5_enter(&session);
    hid_t file;
    ss_h5_group root;
    ss_fclib *problem = NULL;
    if (ss_h5_open_image(bytes, size, 1e6 * used.max_megabytes, &file, &root, err))
        problem = read_and_close(file, &root, kind, &used, findings, err);
    ss_h5_leave(&session);
    if (problem) ss_fclib_check(problem, findings);
    return problem;
}
