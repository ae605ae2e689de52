/* Every matrix and vector of a cone problem as a Matrix Market file: text, 1-based, exact. */
#include "dataset/fclib.h"

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

#include <stdio.h>

/* ---- text ----------------------------------------------------------------------------------------- */

static void append_number(ss_text *text, double value)
{
    char digits[SS_NUMBER_TEXT];
    ss_text_append_bytes(text, digits, (size_t)ss_number_write(value, digits));
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

static bool write_file(const char *prefix, const char *name, const ss_text *text, ss_error *err)
{
    ss_text path = {0};
    ss_text_appendf(&path, "%s_%s", prefix, name);
    bool good = !text->out_of_memory && !path.out_of_memory
                    ? ss_file_replace(ss_text_get(&path), ss_text_get(text), text->length, err)
                    : ss_fail(err, SS_ERROR_RESOURCES, "%s_%s: out of memory", prefix, name);
    ss_text_free(&path);
    return good;
}

bool ss_matrix_market_write(const char *prefix, const ss_cone *cone, ss_error *err)
{
    bool local = cone->form == SS_CONE_LOCAL;
    for (const ss_fclib_part *part = ss_fclib_parts; part->name; part++) {
        if (!ss_fclib_has(cone, part)) continue;
        ss_text text = {0};
        char name[32];
        ss_text_appendf(&text, "%%%%MatrixMarket matrix %s real general\n",
                        part->cols ? "coordinate" : "array");
        ss_text_appendf(&text, "%% %s of a frictional contact problem, written by stickslip %s\n", part->name,
                        ss_version());
        ss_text_appendf(&text, "%% %s form: %s\n", local ? "local" : "global",
                        local ? "u = W r + V l + q, V' r + R l + s = 0"
                              : "M v = H r + G l + f, G' v + b = 0, u = H' v + w");
        ss_text_appendf(&text,
                        "%% %d contacts of %d components, the normal one first; %d dofs, %d equations\n",
                        cone->contacts, cone->dimension, cone->dofs, cone->equations);
        if (part->cols)
            append_matrix(&text, *ss_fclib_matrix(part, cone));
        else
            append_vector(&text, *ss_fclib_vector(part, cone), ss_fclib_extent(cone, part->rows));

        snprintf(name, sizeof name, "%s.mtx", part->name);
        bool good = write_file(prefix, name, &text, err);
        ss_text_free(&text);
        if (!good) return false;
    }
    return true;
}

/* ---- problems of solvers -------------------------------------------------------------------------- */

/* One line per unknown, counted from 0: block, law, bounds, and where it comes from. Empty where it
 * does not apply. */
static void append_unknowns(ss_text *text, const ss_problem *problem)
{
    ss_text_append(text, "unknown,block,law,lower,upper,partner,factor,mu,mu_rolling,contact,constraint\n");
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool cone = ss_block_is_cone(block), coupled = block->law == SS_LAW_COUPLED;
        for (int i = block->first; i < block->first + block->size; i++) {
            ss_text_appendf(text, "%d,%d,%s,", i, k, ss_law_name(block->law));
            if (!cone) append_number(text, problem->lower[i]);
            ss_text_append(text, ",");
            if (!cone) append_number(text, problem->upper[i]);
            ss_text_append(text, ",");
            if (coupled) ss_text_appendf(text, "%d", problem->partner[i]);
            ss_text_append(text, ",");
            if (coupled) append_number(text, problem->factor[i]);
            ss_text_append(text, ",");
            if (cone) append_number(text, block->mu);
            ss_text_append(text, ",");
            if (cone) append_number(text, block->mu_rolling);
            ss_text_append(text, ",");
            if (block->contact >= 0) ss_text_appendf(text, "%d", block->contact);
            ss_text_append(text, ",");
            if (block->constraint >= 0) ss_text_appendf(text, "%d", block->constraint);
            ss_text_append(text, "\n");
        }
    }
}

static void append_problem_head(ss_text *text, const char *layout, const char *name)
{
    ss_text_appendf(text, "%%%%MatrixMarket matrix %s real general\n", layout);
    ss_text_appendf(
        text,
        "%% %s of w = A x + b, written by stickslip %s; laws and bounds are in the file _unknowns.csv\n",
        name, ss_version());
}

bool ss_matrix_market_write_problem(const char *prefix, ss_problem *problem, ss_error *err)
{
    ss_text A = {0}, b = {0}, unknowns = {0};
    if (!ss_problem_need_matrix(problem, err)) return false;
    append_problem_head(&A, "coordinate", "A");
    append_matrix(&A, problem->A);
    append_problem_head(&b, "array", "b");
    append_vector(&b, problem->b, problem->size);
    append_unknowns(&unknowns, problem);
    bool good = write_file(prefix, "A.mtx", &A, err) && write_file(prefix, "b.mtx", &b, err) &&
                write_file(prefix, "unknowns.csv", &unknowns, err);
    ss_text_free(&A);
    ss_text_free(&b);
    ss_text_free(&unknowns);
    return good;
}
