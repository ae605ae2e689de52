/* One data set of a frame: the names it may have, and the orientations its numbers may come in. */
#include "dataset/bpmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------ */

/* Names of the same thing in files of 2013, in the order of preference after the field's own. */
typedef struct alias {
    const char *field, *name;
    double factor;
} alias;

static const alias aliases[] = {
    {"bodies/masses", "mass", 1},
    {"bodies/world_inertia_tensors", "inertia_tensors", 1},
    {"bodies/world_inertia_tensors", "inertia_tensor", 1},
    {"bodies/world_inertia_tensors", "inertia", 1},
    {"constraints/pairs", "constraint_pairs", 1},
    {"constraints/Jacobian", "jacobian", 1},
    {"constraints/Jacobian", "jacobians", 1},
    {"constraints/violations", "violation", 1},
    {"contacts/pairs", "contact_pairs", 1},
    {"contacts/gaps", "gap", 1},
    {"contacts/gaps", "PSI", 1},
    {"contacts/gaps", "depth", -1}, // penetration counts as positive
    {"contacts/mu_k", "mu", 1},
    {"contacts/mu_k", "mu_s", 1}, // as the authors' readers do when there is no other
};
enum { ALIAS_COUNT = sizeof aliases / sizeof aliases[0] };

static bool names_field(const alias *a, const ss_field *field)
{
    size_t length = strlen(field->group);
    return strncmp(a->field, field->group, length) == 0 && a->field[length] == '/' &&
           strcmp(a->field + length + 1, field->name) == 0;
}

const char *ss_bpmd_name_of(const ss_bpmd_place *place, const ss_field *field, bool exact, double *factor)
{
    if (factor) *factor = 1;
    const char *slash = strrchr(field->name, '/'), *own = slash ? slash + 1 : field->name;
    if (ss_bpmd_has(place, own)) return own;
    for (int i = 0; !exact && i < ALIAS_COUNT; i++)
        if (names_field(&aliases[i], field) && ss_bpmd_has(place, aliases[i].name)) {
            if (factor) *factor = aliases[i].factor;
            return aliases[i].name;
        }
    return NULL;
}

void ss_bpmd_accepted_names(const ss_field *field, bool exact, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", field->name);
    for (int i = 0; !exact && i < ALIAS_COUNT; i++)
        if (names_field(&aliases[i], field) && used >= 0 && (size_t)used < size)
            used += snprintf(text + used, size - (size_t)used, " or %s", aliases[i].name);
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

/* "(5, 3)", or "one number". */
static void write_shape(const ss_h5_array *array, char text[80])
{
    if (array->rank == 0) {
        strcpy(text, "one number");
        return;
    }
    int used = 0;
    for (int i = 0; i < array->rank && used < 60; i++)
        used += snprintf(text + used, 80 - (size_t)used, "%s%" PRIu64, i ? ", " : "(", array->extent[i]);
    snprintf(text + used, 80 - (size_t)used, ")");
}

bool ss_bpmd_count_of(const ss_h5_group *group, const char *name, const ss_h5_array *array, uint64_t *count,
                      ss_error *err)
{
    *count = array->count;
    bool is_list = array->rank <= 1 || (array->rank == 2 && (array->extent[0] <= 1 || array->extent[1] <= 1));
    if (is_list) return true;
    char found[80];
    write_shape(array, found);
    return ss_bpmd_refuse(group, name, err, ": shape %s, expected a list of numbers, (n, 1)", found);
}

static bool fits(const ss_h5_array *array, uint64_t rows, uint64_t columns)
{
    return array->extent[0] == rows && array->extent[1] == columns;
}

typedef enum orientation { WRONG, IN_ORDER, ROWS, COLUMNS } orientation;

/* A list, or a table in the file's own layout, is in order. Otherwise one row, or one column, per item; when
 * both are possible because the table is square, the dialect decides. */
static orientation find_orientation(const ss_bpmd_shape *shape, const ss_h5_array *array)
{
    uint64_t n = shape->items, width = (uint64_t)shape->width, columns = (uint64_t)shape->columns;
    if (array->rank > 2 || array->count != n * width) return WRONG;
    if (array->count == 0 || array->rank < 2 || array->extent[0] == 1 || array->extent[1] == 1)
        return IN_ORDER;
    if (n == width && fits(array, n, n) && shape->square_transposed) return COLUMNS;
    if (n == columns && fits(array, n, width) && shape->square_transposed) return COLUMNS; // (3, 9) tensors
    if (fits(array, n * width / columns, columns)) return width == columns ? ROWS : IN_ORDER;
    if (fits(array, n, width)) return ROWS;
    if (fits(array, width, n) || fits(array, columns, n * width / columns)) return COLUMNS;
    return WRONG;
}

bool ss_bpmd_order(const ss_h5_group *group, const char *name, const ss_bpmd_shape *shape, ss_h5_array *array,
                   ss_bpmd_turn *turn, ss_error *err)
{
    orientation found = find_orientation(shape, array);
    if (turn)
        *turn = found == ROWS ? SS_TURN_ROW_PER_ITEM : found == COLUMNS ? SS_TURN_TRANSPOSED : SS_TURN_NONE;
    if (found == WRONG) {
        char text[80];
        write_shape(array, text);
        uint64_t rows = shape->items * (uint64_t)shape->width / (uint64_t)shape->columns;
        return ss_bpmd_refuse(group, name, err, ": shape %s, expected (%" PRIu64 ", %d) for %" PRIu64 " %s",
                              text, rows, shape->columns, shape->items, shape->noun);
    }
    if (found != COLUMNS) return true;

    /* Items in columns become items in rows. */
    uint64_t rows = array->extent[0], columns = array->extent[1];
    double *turned = ss_allocate(array->count, sizeof *turned);
    if (!turned) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", group->file);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < columns; j++) turned[j * rows + i] = array->values[i * columns + j];
    ss_release(array->values);
    array->values = turned;
    return true;
}

bool ss_bpmd_read_items(const ss_h5_group *group, const char *name, const ss_bpmd_shape *shape,
                        double **values, ss_bpmd_turn *turn, ss_error *err)
{
    ss_h5_array array;
    *values = NULL;
    if (!ss_h5_read(group, name, &array, err)) return false;
    bool good = ss_bpmd_order(group, name, shape, &array, turn, err);
    if (good)
        *values = array.values;
    else
        ss_h5_array_free(&array);
    return good;
}
