/* Every matrix and vector of a cone problem as a Matrix Market file: text, 1-based, exact. */
#include "dataset/fclib.h"

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

/* ---- text ----------------------------------------------------------------------------------------- */

static void append_number(ss_text *text, double value)
{
    char digits[SS_NUMBER_TEXT];
    ss_text_append_bytes(text, digits, (size_t)ss_number_write(value, digits));
}

static void append_head(ss_text *text, const char *layout, const ss_cone *cone, const char *name)
{
    bool local = cone->form == SS_CONE_LOCAL;
    ss_text_appendf(text, "%%%%MatrixMarket matrix %s real general\n", layout);
    ss_text_appendf(text, "%% %s of a frictional contact problem, written by stickslip %s\n", name,
                    ss_version());
    ss_text_appendf(text, "%% %s form: %s\n", local ? "local" : "global",
                    local ? "u = W r + V l + q, V' r + R l + s = 0"
                          : "M v = H r + G l + f, G' v + b = 0, u = H' v + w");
    ss_text_appendf(text, "%% %d contacts of %d components, the normal one first; %d dofs, %d equations\n",
                    cone->contacts, cone->dimension, cone->dofs, cone->equations);
}

static void append_matrix(ss_text *text, const ss_sparse *matrix)
{
    ss_text_appendf(text, "%d %d %d\n", matrix->rows, matrix->cols, ss_sparse_nonzeros(matrix));
    for (int column = 0; column < matrix->cols; column++) {
        for (int at = matrix->start[column]; at < matrix->start[column + 1]; at++) {
            ss_text_appendf(text, "%d %d ", matrix->row[at] + 1, column + 1);
            append_number(text, matrix->value[at]);
            ss_text_append(text, "\n");
        }
    }
}

static void append_vector(ss_text *text, const double *values, int count)
{
    ss_text_appendf(text, "%d 1\n", count);
    for (int i = 0; i < count; i++) {
        append_number(text, values[i]);
        ss_text_append(text, "\n");
    }
}

/* ---- file ----------------------------------------------------------------------------------------- */

static bool write_part(const char *prefix, const ss_fclib_part *part, const ss_cone *cone, ss_error *err)
{
    ss_text text = {0}, path = {0};
    append_head(&text, part->cols ? "coordinate" : "array", cone, part->name);
    if (part->cols)
        append_matrix(&text, *ss_fclib_matrix(part, cone));
    else
        append_vector(&text, *ss_fclib_vector(part, cone), ss_fclib_extent(cone, part->rows));
    ss_text_appendf(&path, "%s_%s.mtx", prefix, part->name);
    bool good = !text.out_of_memory && !path.out_of_memory;
    if (good)
        good = ss_file_replace(ss_text_get(&path), ss_text_get(&text), text.length, err);
    else
        ss_fail(err, SS_ERROR_RESOURCES, "%s_%s.mtx: out of memory", prefix, part->name);
    ss_text_free(&text);
    ss_text_free(&path);
    return good;
}

bool ss_matrix_market_write(const char *prefix, const ss_cone *cone, ss_error *err)
{
    for (const ss_fclib_part *part = ss_fclib_parts; part->name; part++) {
        if (ss_fclib_has(cone, part) && !write_part(prefix, part, cone, err)) return false;
    }
    return true;
}
