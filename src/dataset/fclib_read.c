/* Reading FCLIB: one path for the local, the global and the rolling problem. Sizes are read first, held
 * against the limits and against each other; only then memory is taken. */
#include "dataset/fclib.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    const ss_h5_group *root;
    ss_h5_group group;   /* /fclib_local ... */
    ss_h5_group vectors; /* .../vectors */
    ss_fclib_kind kind;
    const ss_limits *limits;
    ss_findings *findings;
    double bytes_left; /* of limits->max_megabytes, for the whole problem */
    int stored;        /* components of a contact in the file; 3 in a planar rolling problem, read as 5 */
    ss_fclib *problem;
} reader;

/* Planar rolling (N, T, M) as part of the spatial one (N, T1, T2, M1, M2). */
static const int planar_rolling[3] = {0, 1, 3};

SS_PRINTF(5, 6)
static bool fail_at(const ss_h5_group *group, const char *name, ss_error *err, ss_error_code code,
                    const char *format, ...)
{
    char what[400], path[SS_H5_PATH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (!ss_h5_join(group, name, path)) path[SS_H5_PATH - 1] = '\0';
    return ss_fail(err, code, "%s: %s: %s", group->file, path, what);
}

#define BAD(group, name, ...) fail_at(group, name, err, SS_ERROR_INPUT, __VA_ARGS__)

static bool spend(reader *read, const ss_h5_group *group, const char *name, double bytes, ss_error *err)
{
    read->bytes_left -= bytes;
    return read->bytes_left >= 0.0 ||
           fail_at(group, name, err, SS_ERROR_INPUT, "the problem needs more than the limit of %g MB",
                   read->limits->max_megabytes);
}

/* ---- matrices ------------------------------------------------------------------------------------- */

typedef struct stored_matrix {
    int rows, cols, nz, nzmax;
} stored_matrix;

static bool check_length(const ss_h5_group *group, const char *name, const ss_h5_array *array, int64_t count,
                         ss_error *err)
{
    return array->count >= (uint64_t)count || BAD(group, name, "has %llu numbers, %lld are needed",
                                                  (unsigned long long)array->count, (long long)count);
}

/* Whole numbers in 0..largest. A data set longer than `count` is allowed: old files keep room for more
 * entries than there are. */
static bool read_indices(const ss_h5_group *group, const char *name, int64_t count, int largest,
                         int **indices, ss_error *err)
{
    ss_h5_array array;
    *indices = NULL;
    if (!ss_h5_read(group, name, &array, err)) return false;
    bool good = check_length(group, name, &array, count, err);
    if (good) *indices = ss_allocate((size_t)count, sizeof **indices);
    if (good && !*indices) good = fail_at(group, name, err, SS_ERROR_RESOURCES, "out of memory");
    for (int64_t k = 0; good && k < count; k++) {
        double value = array.values[k];
        good =
            (value >= 0.0 && value <= largest && value == floor(value)) ||
            BAD(group, name, "[%lld] = %.17g, must be a whole number in 0..%d", (long long)k, value, largest);
        if (good) (*indices)[k] = (int)value;
    }
    ss_h5_array_free(&array);
    return good;
}

static bool read_values(const ss_h5_group *group, const char *name, int64_t count, double **values,
                        ss_error *err)
{
    ss_h5_array array;
    *values = NULL;
    if (!ss_h5_read(group, name, &array, err)) return false;
    bool good = check_length(group, name, &array, count, err);
    for (int64_t k = 0; good && k < count; k++) {
        good = isfinite(array.values[k]) ||
               BAD(group, name, "[%lld] = %g, must be finite", (long long)k, array.values[k]);
    }
    if (good)
        *values = array.values;
    else
        ss_h5_array_free(&array);
    return good;
}

static bool read_header(const ss_h5_group *group, stored_matrix *header, ss_error *err)
{
    if (!ss_h5_read_int(group, "m", &header->rows, err) || !ss_h5_read_int(group, "n", &header->cols, err) ||
        !ss_h5_read_int(group, "nz", &header->nz, err) ||
        !ss_h5_read_int(group, "nzmax", &header->nzmax, err))
        return false;
    if (header->rows < 0) return BAD(group, "m", "is %d, must not be negative", header->rows);
    if (header->cols < 0) return BAD(group, "n", "is %d, must not be negative", header->cols);
    if (header->nz < -2)
        return BAD(group, "nz",
                   "is %d; must be the number of triplets, -1 for compressed columns or -2 for rows",
                   header->nz);
    if (header->nzmax < 0 || header->nzmax < header->nz)
        return BAD(group, "nzmax", "is %d, must not be less than nz = %d", header->nzmax, header->nz);
    return true;
}

/* Triplets, whatever the file has. */
typedef struct triplets {
    int count;
    int *row, *column;
    double *value;
} triplets;

/* Out of the pointers of compressed storage: how many entries there are, and the line (column
 * or row) of each. */
static bool read_lines(const ss_h5_group *group, int lines, int nzmax, int *count, int **line_of,
                       ss_error *err)
{
    int *pointers;
    *line_of = NULL;
    bool good = read_indices(group, "p", (int64_t)lines + 1, nzmax, &pointers, err) &&
                (pointers[0] == 0 || BAD(group, "p", "[0] = %d, must be 0", pointers[0]));
    for (int k = 0; good && k < lines; k++)
        good = pointers[k] <= pointers[k + 1] || BAD(group, "p", "[%d] = %d is less than the one before, %d",
                                                     k + 1, pointers[k + 1], pointers[k]);

    if (good) {
        *count = pointers[lines];
        *line_of = ss_allocate((size_t)*count, sizeof **line_of);
        if (!*line_of) good = fail_at(group, "p", err, SS_ERROR_RESOURCES, "out of memory");
    }
    for (int k = 0; good && k < lines; k++) {
        for (int at = pointers[k]; at < pointers[k + 1]; at++) (*line_of)[at] = k;
    }
    ss_release(pointers);
    return good;
}

static ss_sparse *read_matrix_in(reader *read, const ss_h5_group *group, int rows, int cols, ss_error *err)
{
    stored_matrix header;
    if (!read_header(group, &header, err)) return NULL;
    if (header.rows != rows) return BAD(group, "m", "is %d, must be %d", header.rows, rows), NULL;
    if (header.cols != cols) return BAD(group, "n", "is %d, must be %d", header.cols, cols), NULL;
    int count = header.nz >= 0 ? header.nz : header.nzmax;
    double bytes = 16.0 * count + 8.0 * ((double)rows + cols);
    if (!spend(read, group, "x", bytes, err)) return NULL;

    /* i = row and p = column of a triplet, as all real files have it (not as fclib.h says in a comment). */
    triplets list = {.count = header.nz};
    bool good;
    if (header.nz == -1)
        good = read_lines(group, cols, header.nzmax, &list.count, &list.column, err) &&
               read_indices(group, "i", list.count, rows - 1, &list.row, err);
    else if (header.nz == -2)
        good = read_lines(group, rows, header.nzmax, &list.count, &list.row, err) &&
               read_indices(group, "i", list.count, cols - 1, &list.column, err);
    else
        good = read_indices(group, "i", list.count, rows - 1, &list.row, err) &&
               read_indices(group, "p", list.count, cols - 1, &list.column, err);

    ss_sparse *matrix = NULL;
    if (good && read_values(group, "x", list.count, &list.value, err))
        matrix = ss_sparse_from_triplets(rows, cols, list.count, list.row, list.column, list.value, err);
    ss_release(list.row);
    ss_release(list.column);
    ss_release(list.value);
    return matrix;
}

static bool read_matrix(reader *read, const ss_fclib_part *part, ss_error *err)
{
    ss_cone *cone = read->problem->cone;
    ss_sparse **place = ss_fclib_matrix(part, cone);
    ss_h5_group group;
    if (!ss_h5_enter_group(&read->group, part->name, &group, err)) return false;
    bool spread = part->cols == 'm' && read->stored != cone->dimension;
    int cols = spread ? cone->contacts * read->stored : ss_fclib_extent(cone, part->cols);
    *place = read_matrix_in(read, &group, ss_fclib_extent(cone, part->rows), cols, err);
    ss_h5_leave_group(&group);
    if (!*place || !spread) return *place != NULL;

    /* The columns of a planar rolling problem go where the spatial one has them; those between are empty. */
    ss_sparse *planar = *place;
    int count = ss_sparse_nonzeros(planar);
    ss_sparse *spatial = *place = ss_sparse_create(planar->rows, 5 * cone->contacts, count, err);
    if (spatial) {
        memcpy(spatial->row, planar->row, (size_t)count * sizeof *planar->row);
        memcpy(spatial->value, planar->value, (size_t)count * sizeof *planar->value);
    }
    for (int c = 0; spatial && c < cone->contacts; c++) {
        const int *end = planar->start + 3 * c + 1;
        int ends[5] = {end[0], end[1], end[1], end[2], end[2]};
        memcpy(spatial->start + 5 * c + 1, ends, sizeof ends);
    }
    ss_sparse_destroy(planar);
    return spatial != NULL;
}

/* ---- vectors -------------------------------------------------------------------------------------- */

/* Vectors of contact components; in a planar rolling problem with gaps for what the plane does not have. */
static bool read_components(const reader *read, const ss_h5_group *group, const char *name, double *values,
                            ss_error *err)
{
    const ss_cone *cone = read->problem->cone;
    int stored = read->stored * cone->contacts;
    if (!ss_h5_read_exactly(group, name, (uint64_t)stored, values, err)) return false;
    if (read->stored == cone->dimension) return true;
    for (int c = cone->contacts - 1; c >= 0; c--) { // from behind: the room is shared
        double part[5] = {0};
        for (int k = 0; k < 3; k++) part[planar_rolling[k]] = values[3 * c + k];
        memcpy(values + 5 * c, part, sizeof part);
    }
    return true;
}

static bool read_parts(reader *read, ss_error *err)
{
    const ss_cone *cone = read->problem->cone;
    for (const ss_fclib_part *part = ss_fclib_parts; part->name; part++) {
        if (!ss_fclib_has(cone, part)) continue;
        bool good;
        if (part->cols)
            good = read_matrix(read, part, err);
        else if (part->rows == 'm')
            good = read_components(read, &read->vectors, part->name, *ss_fclib_vector(part, cone), err);
        else
            good = ss_h5_read_exactly(&read->vectors, part->name, (uint64_t)ss_fclib_extent(cone, part->rows),
                                      *ss_fclib_vector(part, cone), err);
        if (!good) return false;
    }
    return true;
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

static bool read_matrix_size(const ss_h5_group *parent, const char *name, int *rows, int *cols, ss_error *err)
{
    ss_h5_group group;
    stored_matrix header;
    if (!ss_h5_enter_group(parent, name, &group, err)) return false;
    bool good = read_header(&group, &header, err);
    ss_h5_leave_group(&group);
    if (!good) return false;
    *rows = header.rows;
    *cols = header.cols;
    return true;
}

static bool within(const ss_h5_group *group, const char *name, int size, double limit, const char *what,
                   ss_error *err)
{
    return size <= limit || BAD(group, name, "%d %s, the limit is %.0f", size, what, limit);
}

typedef struct sizes {
    int components, dofs, equations; /* m, n, p */
} sizes;

/* Equations are there when their matrix is: R (and V) in the local form, G in the global one. */
static bool read_sizes(const reader *read, sizes *size, ss_error *err)
{
    bool local = ss_fclib_form(read->kind) == SS_CONE_LOCAL;
    const ss_h5_group *group = &read->group;
    int rows;
    *size = (sizes){0};
    if (!read_matrix_size(group, local ? "W" : "H", &rows, &size->components, err)) return false;
    if (!local && !read_matrix_size(group, "M", &rows, &size->dofs, err)) return false;
    if (local && ss_h5_has(group, "V") != ss_h5_has(group, "R"))
        return BAD(group, ss_h5_has(group, "V") ? "R" : "V", "is missing: V and R come together");
    const char *equations = local ? "R" : "G";
    return !ss_h5_has(group, equations) || read_matrix_size(group, equations, &rows, &size->equations, err);
}

static bool create_cone(reader *read, ss_error *err)
{
    bool rolling = read->kind == SS_FCLIB_GLOBAL_ROLLING;
    bool local = ss_fclib_form(read->kind) == SS_CONE_LOCAL;
    const ss_h5_group *group = &read->group;
    if (!ss_h5_read_int(group, "spacedim", &read->stored, err)) return false;
    if (read->stored != 3 && read->stored != (rolling ? 5 : 2))
        return BAD(group, "spacedim", "is %d, must be %s", read->stored,
                   rolling ? "5, or 3 in the plane" : "2 or 3");

    /* The matrices must fit the contacts, and all of it the limits. */
    sizes size;
    if (!read_sizes(read, &size, err)) return false;
    const ss_limits *limits = read->limits;
    const char *matrix = local ? "W" : "H";
    if (size.components % read->stored != 0)
        return BAD(group, matrix, "%d columns are not %d for each contact", size.components, read->stored);
    int contacts = size.components / read->stored, dimension = rolling ? 5 : read->stored;
    if (!within(group, matrix, contacts, limits->max_contacts, "contacts", err) ||
        !within(group, "M", size.dofs, 6.0 * limits->max_bodies, "dofs", err) ||
        !within(group, local ? "R" : "G", size.equations, limits->max_rows, "equations", err))
        return false;

    read->problem->cone =
        ss_cone_create(ss_fclib_form(read->kind), dimension, contacts, size.dofs, size.equations, err);
    if (read->problem->cone && dimension != read->stored)
        ss_findings_add(read->findings, SS_FINDING_WARNING, group->path,
                        "planar rolling friction (N, T, M) is read as spatial, with empty columns T2 and M2");
    return read->problem->cone != NULL;
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static bool read_optional_text(const ss_h5_group *group, const char *name, char **text, ss_error *err)
{
    return !ss_h5_has(group, name) || ss_h5_read_text(group, name, text, err);
}

static bool read_info(reader *read, ss_error *err)
{
    ss_fclib_info *info = &read->problem->info;
    ss_h5_group group;
    if (!ss_h5_has(&read->group, "info")) return true;
    if (!ss_h5_enter_group(&read->group, "info", &group, err)) return false;
    bool good = read_optional_text(&group, "title", &info->title, err) &&
                read_optional_text(&group, "description", &info->description, err) &&
                read_optional_text(&group, "math_info", &info->math_info, err);
    ss_h5_leave_group(&group);
    return good;
}

/* ---- points --------------------------------------------------------------------------------------- */

/* v and l are missing in some files; u and r never are. */
static bool read_extra(const reader *read, const ss_h5_group *group, const char *name, int count,
                       double *values, ss_error *err)
{
    char place[SS_H5_PATH] = "";
    if (!values) return true;
    if (ss_h5_has(group, name)) return ss_h5_read_exactly(group, name, (uint64_t)count, values, err);
    ss_h5_join(group, name, place);
    ss_findings_add(read->findings, SS_FINDING_WARNING, place, "is missing and taken as zero");
    return true;
}

static bool read_point(const reader *read, const ss_h5_group *parent, const char *name, ss_cone_point *point,
                       ss_error *err)
{
    const ss_cone *cone = read->problem->cone;
    ss_h5_group group;
    if (!ss_h5_enter_group(parent, name, &group, err)) return false;
    bool good = ss_cone_point_create(cone, point, err) && read_components(read, &group, "u", point->u, err) &&
                read_components(read, &group, "r", point->r, err) &&
                read_extra(read, &group, "v", cone->dofs, point->v, err) &&
                read_extra(read, &group, "l", cone->equations, point->l, err);
    ss_h5_leave_group(&group);
    return good;
}

static bool read_guesses_in(reader *read, const ss_h5_group *group, ss_error *err)
{
    ss_fclib *problem = read->problem;
    const ss_cone *cone = problem->cone;
    double point_bytes = 8.0 * (2.0 * ss_fclib_extent(cone, 'm') + cone->dofs + cone->equations + 16.0);
    int count;
    if (!ss_h5_read_int(group, "number_of_guesses", &count, err)) return false;
    if (count < 0) return BAD(group, "number_of_guesses", "is %d, must not be negative", count);
    if (!spend(read, group, "number_of_guesses", count * point_bytes, err)) return false;
    problem->guesses = ss_allocate((size_t)count, sizeof *problem->guesses);
    if (!problem->guesses)
        return fail_at(group, "number_of_guesses", err, SS_ERROR_RESOURCES, "out of memory");
    for (int g = 0; g < count; g++) {
        char name[16];
        snprintf(name, sizeof name, "%d", g + 1);
        problem->guess_count = g + 1; // so that a half-read one is freed
        if (!read_point(read, group, name, &problem->guesses[g], err)) return false;
    }
    return true;
}

static bool read_points(reader *read, ss_error *err)
{
    /* Solution and guesses are those of the first problem of the file, in FCLIB's order. */
    bool has_solution = ss_h5_has(read->root, "solution"), has_guesses = ss_h5_has(read->root, "guesses");
    int first = 0;
    while (first < 2 && ss_fclib_order[first] != read->kind &&
           !ss_h5_has(read->root, ss_fclib_group_name(ss_fclib_order[first])))
        first++;
    if ((has_solution || has_guesses) && ss_fclib_order[first] != read->kind) {
        ss_findings_add(read->findings, SS_FINDING_WARNING, "/solution",
                        "solution and guesses belong to another problem of the file and are not read");
        return true;
    }

    if (has_solution) {
        if (!read_point(read, read->root, "solution", &read->problem->solution, err)) return false;
        read->problem->has_solution = true;
    }
    if (!has_guesses) return true;
    ss_h5_group group;
    if (!ss_h5_enter_group(read->root, "guesses", &group, err)) return false;
    bool good = read_guesses_in(read, &group, err);
    ss_h5_leave_group(&group);
    return good;
}

/* ---- together ------------------------------------------------------------------------------------- */

/* Every fault goes to the findings; the first one is the error. */
static bool check_problem(const reader *read, ss_error *err)
{
    ss_findings faults = {0};
    bool good = ss_cone_check(read->problem->cone, read->group.path, &faults);
    for (size_t k = 0; k < faults.count; k++) {
        ss_findings_add(read->findings, faults.items[k].kind, faults.items[k].place, "%s",
                        faults.items[k].message);
    }
    if (!good && faults.count)
        ss_fail(err, SS_ERROR_INPUT, "%s: %s: %s", read->root->file, faults.items[0].place,
                faults.items[0].message);
    else if (!good)
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", read->root->file);
    ss_findings_free(&faults);
    return good;
}

static bool accept(const char *name, void *context, ss_error *err)
{
    (void)name, (void)context, (void)err;
    return true;
}

/* An optional part behind a link that is not followed must not pass for absent. */
static bool check_links(const ss_h5_group *group, ss_error *err)
{
    return ss_h5_each(group, accept, NULL, err);
}

ss_fclib *ss_fclib_read_root(const ss_h5_group *root, ss_fclib_kind kind, const ss_limits *limits,
                             ss_findings *findings, ss_error *err)
{
    reader read = {.root = root,
                   .group = {.id = -1},
                   .vectors = {.id = -1},
                   .kind = kind,
                   .limits = limits,
                   .findings = findings,
                   .bytes_left = 1e6 * limits->max_megabytes,
                   .problem = ss_allocate(1, sizeof(ss_fclib))};
    if (!read.problem) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", root->file);
        return NULL;
    }

    bool good = check_links(root, err) &&
                ss_h5_enter_group(root, ss_fclib_group_name(kind), &read.group, err) &&
                check_links(&read.group, err) && create_cone(&read, err) &&
                ss_h5_enter_group(&read.group, "vectors", &read.vectors, err) && read_parts(&read, err) &&
                check_problem(&read, err) && read_info(&read, err) && read_points(&read, err);
    ss_h5_leave_group(&read.vectors);
    ss_h5_leave_group(&read.group);
    if (good) return read.problem;
    ss_fclib_destroy(read.problem);
    return NULL;
}
