/* Numbers, texts and structs of Octave. */
#include "toolbox.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- structs ------------------------------------------------------------------------------------------ */

const mxArray *tb_get(const mxArray *structure, const char *field)
{
    return structure && mxIsStruct(structure) && mxGetNumberOfElements(structure) == 1
               ? mxGetField(structure, 0, field)
               : NULL;
}

void tb_set(mxArray *structure, const char *field, mxArray *value)
{
    int number = mxGetFieldNumber(structure, field);
    if (number < 0) number = mxAddField(structure, field);
    mxArray *old = mxGetFieldByNumber(structure, 0, number);
    if (old) mxDestroyArray(old);
    mxSetFieldByNumber(structure, 0, number, value);
}

mxArray *tb_struct(void)
{
    return mxCreateStructMatrix(1, 1, 0, NULL);
}

void tb_field_name(const char *text, char name[64])
{
    int length = snprintf(name, 64, "%s%s", isalpha((unsigned char)text[0]) ? "" : "x", text);
    for (int i = 0; i < length && i < 63; i++)
        if (!isalnum((unsigned char)name[i])) name[i] = '_';
}

/* ---- to Octave ---------------------------------------------------------------------------------------- */

mxArray *tb_real(int rows, int columns, const double *values)
{
    mxArray *array = mxCreateDoubleMatrix((mwSize)rows, (mwSize)columns, mxREAL);
    size_t count = (size_t)rows * (size_t)columns;
    if (values && count) memcpy(mxGetData(array), values, count * sizeof *values);
    return array;
}

mxArray *tb_number(double value)
{
    return mxCreateDoubleScalar(value);
}

mxArray *tb_text(const char *text)
{
    return mxCreateString(text ? text : "");
}

mxArray *tb_texts(int count, const char *const *texts)
{
    mxArray *cells = mxCreateCellMatrix((mwSize)count, 1);
    for (int i = 0; i < count; i++) mxSetCell(cells, (mwIndex)i, tb_text(texts[i]));
    return cells;
}

mxArray *tb_sparse(const ss_sparse *matrix)
{
    int count = matrix->start[matrix->cols];
    mxArray *array =
        mxCreateSparse((mwSize)matrix->rows, (mwSize)matrix->cols, (mwSize)(count ? count : 1), mxREAL);
    mwIndex *start = mxGetJc(array), *row = mxGetIr(array);
    for (int j = 0; j <= matrix->cols; j++) start[j] = (mwIndex)matrix->start[j];
    for (int k = 0; k < count; k++) row[k] = (mwIndex)matrix->row[k];
    if (count) memcpy(mxGetData(array), matrix->value, (size_t)count * sizeof *matrix->value);
    return array;
}

mxArray *tb_findings(const ss_findings *findings)
{
    static const char *fields[] = {"kind", "place", "message"};
    mxArray *list = mxCreateStructMatrix(1, (mwSize)findings->count, 3, fields);
    for (size_t i = 0; i < findings->count; i++) {
        mxSetField(list, i, "kind", tb_text(ss_finding_kind_name(findings->items[i].kind)));
        mxSetField(list, i, "place", tb_text(findings->items[i].place));
        mxSetField(list, i, "message", tb_text(findings->items[i].message));
    }
    return list;
}

mxArray *tb_options(const ss_option *table)
{
    static const char *fields[] = {"name", "default", "help"};
    int count = 0;
    while (table && table[count].name) count++;
    mxArray *list = mxCreateStructMatrix(1, (mwSize)count, 3, fields);
    for (int i = 0; i < count; i++) {
        mxSetField(list, (mwIndex)i, "name", tb_text(table[i].name));
        mxSetField(list, (mwIndex)i, "default", tb_text(table[i].default_value));
        mxSetField(list, (mwIndex)i, "help", tb_text(table[i].help));
    }
    return list;
}

/* ---- from Octave -------------------------------------------------------------------------------------- */

bool tb_is_numeric(const mxArray *value)
{
    return value && (mxIsNumeric(value) || mxIsLogical(value)) && !mxIsComplex(value);
}

size_t tb_count(const mxArray *value)
{
    return mxGetNumberOfElements(value);
}

double tb_at(const mxArray *value, size_t i)
{
    const void *data = mxGetData(value);
    if (mxIsSparse(value)) { // the data are the stored entries alone
        const mwIndex *start = mxGetJc(value), *row = mxGetIr(value);
        size_t rows = mxGetM(value), column = i / rows;
        mwIndex k = start[column], end = start[column + 1];
        while (k < end && row[k] != (mwIndex)(i % rows)) k++;
        if (k == end) return 0;
        i = (size_t)k;
    }
    switch (mxGetClassID(value)) {
    case mxDOUBLE_CLASS:
        return ((const double *)data)[i];
    case mxSINGLE_CLASS:
        return (double)((const float *)data)[i];
    case mxINT8_CLASS:
        return ((const int8_t *)data)[i];
    case mxUINT8_CLASS:
        return ((const uint8_t *)data)[i];
    case mxINT16_CLASS:
        return ((const int16_t *)data)[i];
    case mxUINT16_CLASS:
        return ((const uint16_t *)data)[i];
    case mxINT32_CLASS:
        return ((const int32_t *)data)[i];
    case mxUINT32_CLASS:
        return ((const uint32_t *)data)[i];
    case mxINT64_CLASS:
        return (double)((const int64_t *)data)[i];
    case mxUINT64_CLASS:
        return (double)((const uint64_t *)data)[i];
    case mxLOGICAL_CLASS:
        return ((const mxLogical *)data)[i] ? 1 : 0;
    default:
        return NAN;
    }
}

bool tb_copy(const mxArray *value, size_t count, double *values, const char *what, ss_error *err)
{
    if (!tb_is_numeric(value))
        return ss_fail(err, SS_ERROR_USAGE, "%s: expected %zu real numbers", what, count);
    if (tb_count(value) != count)
        return ss_fail(err, SS_ERROR_USAGE, "%s: %zu numbers, expected %zu", what, tb_count(value), count);
    if (!mxIsSparse(value)) {
        for (size_t i = 0; i < count; i++) values[i] = tb_at(value, i);
        return true;
    }

    // A sparse vector, as A \ b makes it when both are sparse.
    memset(values, 0, count * sizeof *values);
    const mwIndex *start = mxGetJc(value), *row = mxGetIr(value);
    const double *entry = mxGetData(value);
    size_t rows = mxGetM(value);
    if (mxIsLogical(value))
        return ss_fail(err, SS_ERROR_USAGE, "%s: expected numbers, not a sparse logical", what);
    for (size_t j = 0; j < mxGetN(value); j++)
        for (mwIndex k = start[j]; k < start[j + 1]; k++) values[j * rows + row[k]] = entry[k];
    return true;
}

bool tb_get_number(const mxArray *value, const char *what, double *number, ss_error *err)
{
    if (!tb_is_numeric(value) || tb_count(value) != 1)
        return ss_fail(err, SS_ERROR_USAGE, "%s: expected one number", what);
    return tb_copy(value, 1, number, what, err);
}

bool tb_get_int(const mxArray *value, const char *what, int low, int high, int *number, ss_error *err)
{
    double real;
    if (!tb_get_number(value, what, &real, err)) return false;
    if (!(real >= low && real <= high && real == floor(real)))
        return ss_fail(err, SS_ERROR_USAGE, "%s: %g, expected a whole number from %d to %d", what, real, low,
                       high);
    *number = (int)real;
    return true;
}

char *tb_get_text(const mxArray *value, const char *what, ss_error *err)
{
    char *text = value && mxIsChar(value) && mxGetM(value) <= 1 ? mxArrayToString(value) : NULL;
    if (!text) ss_fail(err, SS_ERROR_USAGE, "%s: expected a text", what);
    return text;
}

bool tb_get_option(const mxArray *structure, const char *field, char **text, ss_error *err)
{
    const mxArray *value = tb_get(structure, field);
    *text = NULL;
    if (!value || mxIsEmpty(value)) return true;
    *text = tb_get_text(value, field, err);
    return *text != NULL;
}

bool tb_get_real(const mxArray *structure, const char *field, double *number, ss_error *err)
{
    const mxArray *value = tb_get(structure, field);
    return !value || mxIsEmpty(value) || tb_get_number(value, field, number, err);
}

bool tb_get_flag(const mxArray *structure, const char *field, bool *flag, ss_error *err)
{
    double number = *flag;
    if (!tb_get_real(structure, field, &number, err)) return false;
    *flag = number != 0;
    return true;
}

ss_sparse *tb_get_sparse(const mxArray *value, const char *what, ss_error *err)
{
    if (!tb_is_numeric(value) || mxGetNumberOfDimensions(value) != 2 || mxGetM(value) > INT32_MAX / 2 ||
        mxGetN(value) > INT32_MAX / 2 || (mxIsSparse(value) && mxIsLogical(value))) {
        ss_fail(err, SS_ERROR_USAGE, "%s: expected a real matrix", what);
        return NULL;
    }
    int rows = (int)mxGetM(value), columns = (int)mxGetN(value);
    const mwIndex *start = mxIsSparse(value) ? mxGetJc(value) : NULL;
    const mwIndex *row = mxIsSparse(value) ? mxGetIr(value) : NULL;
    int64_t count = 0;
    if (start)
        count = (int64_t)start[columns];
    else
        for (size_t i = 0; i < tb_count(value); i++) count += tb_at(value, i) != 0;
    if (count > INT32_MAX) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: more than %d entries", what, INT32_MAX);
        return NULL;
    }

    ss_sparse *matrix = ss_sparse_create(rows, columns, count, err);
    if (!matrix) return NULL;
    int k = 0;
    for (int j = 0; j < columns; j++) {
        if (start)
            for (mwIndex i = start[j]; i < start[j + 1]; i++, k++) {
                matrix->row[k] = (int)row[i];
                matrix->value[k] = ((const double *)mxGetData(value))[i];
            }
        else
            for (int i = 0; i < rows; i++) {
                double entry = tb_at(value, (size_t)j * (size_t)rows + (size_t)i);
                if (entry == 0) continue;
                matrix->row[k] = i;
                matrix->value[k++] = entry;
            }
        matrix->start[j + 1] = k;
    }
    return matrix;
}
