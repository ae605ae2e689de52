#include "collection/index.h"

#include "base/file.h"
#include "base/number.h"
#include "base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_INDEX ((size_t)1 << 30) /* bytes */

#define COLUMN(column, type, symbol, what)                                           \
    {                                                                                \
#column, SS_COLUMN_##type, offsetof(ss_collection_row, column), symbol, what \
    }
const ss_column ss_columns[] = {
    COLUMN(id, TEXT, "", "family, sequence and number of the frame"),
    COLUMN(hash, TEXT, "", "of every number that a solver sees"),
    COLUMN(family, TEXT, "", "what kind of problem it is"),
    COLUMN(sequence, TEXT, "", "consecutive frames of one simulation"),
    COLUMN(scene, TEXT, "", "that was simulated; 'import': a file of the user's"),
    COLUMN(subset, TEXT, "", "small, or full: only in the full release"),
    COLUMN(file, TEXT, "", "below the folder of the collection"),
    COLUMN(place, TEXT, "", "in the file"),
    COLUMN(frame, WHOLE, "", "of the file, from 0; -1: a problem of FCLIB"),
    COLUMN(time, REAL, "s", "of the simulation"),
    COLUMN(h, REAL, "s", "time step"),
    COLUMN(bodies, WHOLE, "", "that can move"),
    COLUMN(joints, WHOLE, "", "joints, limits and motors"),
    COLUMN(rows, WHOLE, "", "of the joints"),
    COLUMN(contacts, WHOLE, "", "contact points"),
    COLUMN(planar, WHOLE, "", "1: nothing leaves a plane"),
    COLUMN(mass_ratio, REAL, "", "largest over smallest mass"),
    COLUMN(density, REAL, "", "contact rows over degrees of freedom"),
    COLUMN(rank, REAL, "", "of contact and joint rows over their number; unknown above 1200 rows"),
    COLUMN(mu_least, REAL, "", "smallest coefficient of friction"),
    COLUMN(mu_most, REAL, "", "largest coefficient of friction"),
    COLUMN(sliding, REAL, "",
           "share of the touching contacts that slide: faster than 1e-6 of the largest free velocity"),
    COLUMN(open, REAL, "", "share of the contacts that part"),
    COLUMN(certain, REAL, "", "share of the contacts whose state is certain"),
    COLUMN(solvable, WHOLE, "", "0: the recipe says that there is no solution"),
    COLUMN(level, LEVEL, "",
           "of the certificate: none, measured, agreed, extended, backward, forward, exact"),
    COLUMN(bound, REAL, "m/s", "proved: how far the free velocities are from those that the answer solves"),
    COLUMN(relative, REAL, "", "the bound over the largest free velocity"),
    COLUMN(solver, TEXT, "", "whose answer is certified"),
    COLUMN(second, TEXT, "", "a method of another family that was compared"),
    COLUMN(agreed, REAL, "m/s", "largest difference of their velocities"),
    COLUMN(reason, TEXT, "", "why the level is not higher"),
    COLUMN(hardness, REAL, "", "share of the solvers in a ledger that do not solve it"),
    COLUMN(tried, WHOLE, "", "solvers in that ledger that accept it"),
    COLUMN(recipe, TEXT, "", "digest of recipe, source of the program and version of the collection"),
    {0}};

const ss_column *ss_column_find(const char *name)
{
    for (const ss_column *column = ss_columns; column->name; column++)
        if (strcmp(column->name, name) == 0) return column;
    return NULL;
}

const char *ss_column_text(const ss_column *column, const ss_collection_row *row)
{
    const char *text = *(const char *const *)((const char *)row + column->offset);
    return text ? text : "";
}

double ss_column_number(const ss_column *column, const ss_collection_row *row)
{
    const char *at = (const char *)row + column->offset;
    if (column->kind == SS_COLUMN_WHOLE) return *(const int *)at;
    if (column->kind == SS_COLUMN_REAL) return *(const double *)at;
    for (int level = 0; column->kind == SS_COLUMN_LEVEL && level < SS_CERTIFICATE_LEVELS; level++)
        if (strcmp(ss_column_text(column, row), ss_certificate_level_name((ss_certificate_level)level)) == 0)
            return level;
    return NAN;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

bool ss_index_create(ss_collection_index *index, ss_error *err)
{
    *index = (ss_collection_index){.arena = ss_arena_create(1 << 16, err)};
    return index->arena != NULL;
}

void ss_index_free(ss_collection_index *index)
{
    ss_arena_destroy(index->arena);
    ss_release(index->rows);
    *index = (ss_collection_index){0};
}

const char *ss_index_keep(ss_collection_index *index, const char *text, size_t length, ss_error *err)
{
    char *kept = ss_arena_take(index->arena, length + 1, 1, "text of the index");
    if (kept)
        memcpy(kept, text, length), kept[length] = 0;
    else
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the index");
    return kept;
}

bool ss_index_add(ss_collection_index *index, const ss_collection_row *row, ss_error *err)
{
    if (index->count == index->capacity) {
        int capacity = index->capacity ? 2 * index->capacity : 256;
        ss_collection_row *rows = ss_allocate((size_t)capacity, sizeof *rows);
        if (!rows) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the index");
        if (index->count) memcpy(rows, index->rows, (size_t)index->count * sizeof *rows);
        ss_release(index->rows);
        index->rows = rows;
        index->capacity = capacity;
    }
    index->rows[index->count++] = *row;
    return true;
}

static int compare(const void *left, const void *right)
{
    const ss_collection_row *a = left, *b = right;
    int order = strcmp(a->family, b->family);
    if (!order) order = strcmp(a->sequence, b->sequence);
    if (!order) order = (a->frame > b->frame) - (a->frame < b->frame);
    return order ? order : strcmp(a->id, b->id);
}

void ss_index_sort(ss_collection_index *index)
{
    if (index->count) qsort(index->rows, (size_t)index->count, sizeof *index->rows, compare);
}

/* ---- writing ---------------------------------------------------------------------------------------- */

void ss_index_csv_head(ss_text *csv)
{
    for (const ss_column *column = ss_columns; column->name; column++)
        ss_text_appendf(csv, "%s%s", column == ss_columns ? "" : ",", column->name);
    ss_text_append(csv, "\n");
}

void ss_index_csv_row(ss_text *csv, const ss_collection_row *row)
{
    for (const ss_column *column = ss_columns; column->name; column++) {
        if (column != ss_columns) ss_text_append(csv, ",");
        if (column->kind == SS_COLUMN_TEXT || column->kind == SS_COLUMN_LEVEL) {
            const char *text = ss_column_text(column, row);
            bool quoted = strpbrk(text, ",\"\r\n") != NULL;
            if (quoted) ss_text_append(csv, "\"");
            for (; *text; text++) {
                if (*text == '"') ss_text_append(csv, "\"");
                ss_text_append_bytes(csv, *text == '\n' || *text == '\r' ? " " : text, 1);
            }
            if (quoted) ss_text_append(csv, "\"");
            continue;
        }
        char number[SS_NUMBER_TEXT];
        double value = ss_column_number(column, row);
        if (isnan(value)) continue;
        int length = column->kind == SS_COLUMN_WHOLE ? ss_integer_write((long long)value, number)
                                                     : ss_number_write(value, number);
        ss_text_append_bytes(csv, number, (size_t)length);
    }
    ss_text_append(csv, "\n");
}

void ss_index_json_row(ss_json *json, const ss_collection_row *row)
{
    ss_json_begin_object(json);
    for (const ss_column *column = ss_columns; column->name; column++) {
        double value = ss_column_number(column, row);
        if (column->kind == SS_COLUMN_TEXT || column->kind == SS_COLUMN_LEVEL)
            ss_json_member_text(json, column->name, ss_column_text(column, row));
        else if (column->kind == SS_COLUMN_WHOLE)
            ss_json_member_integer(json, column->name, (long long)value);
        else
            ss_json_member_known(json, column->name, value);
    }
    ss_json_end_object(json);
}

void ss_index_json(ss_text *text, const ss_collection_index *index, const char *name, const char *version)
{
    ss_json json = {.text = text};
    ss_json_begin_object(&json);
    ss_json_member_text(&json, "collection", name);
    ss_json_member_text(&json, "version", version);
    ss_json_key(&json, "problems");
    ss_json_begin_array(&json);
    for (int i = 0; i < index->count; i++) ss_index_json_row(&json, &index->rows[i]);
    ss_json_end_array(&json);
    ss_json_end_object(&json);
    ss_text_append(text, "\n");
}

/* ---- reading ---------------------------------------------------------------------------------------- */

typedef struct csv_reader {
    ss_collection_index *index;
    const char *path, *at, *end;
    int line;
    ss_text cell;
    ss_error *err;
} csv_reader;

/* The next cell, without its quotes; *last: it ends its line. False at the end of a text that is cut off. */
static bool read_cell(csv_reader *r, bool *last)
{
    bool quoted = r->at < r->end && *r->at == '"';
    ss_text_clear(&r->cell);
    if (quoted) r->at++;
    for (; r->at < r->end; r->at++) {
        if (quoted && *r->at == '"') {
            if (r->at + 1 < r->end && r->at[1] == '"')
                r->at++;
            else {
                quoted = false;
                continue;
            }
        } else if (!quoted && (*r->at == ',' || *r->at == '\n')) {
            *last = *r->at++ == '\n';
            return true;
        } else if (!quoted && *r->at == '\r') {
            continue;
        }
        ss_text_append_bytes(&r->cell, r->at, 1);
    }
    return false;
}

static bool fill(csv_reader *r, const ss_column *column, ss_collection_row *row)
{
    char *to = (char *)row + column->offset;
    const char *cell = ss_text_get(&r->cell);
    bool good = true;
    if (column->kind == SS_COLUMN_TEXT || column->kind == SS_COLUMN_LEVEL) {
        *(const char **)to = ss_index_keep(r->index, cell, strlen(cell), r->err);
        return *(const char **)to != NULL;
    }
    if (column->kind == SS_COLUMN_WHOLE)
        good = !*cell || ss_integer_read(cell, (int *)to);
    else if (*cell)
        good = ss_number_read(cell, (double *)to);
    return good || ss_fail(r->err, SS_ERROR_INPUT, "%s: line %d: %s: \"%.40s\" is not a number", r->path,
                           r->line, column->name, cell);
}

bool ss_index_read(ss_collection_index *index, const char *csv, size_t length, const char *path,
                   ss_error *err)
{
    enum { MOST = 64 };
    const ss_column *columns[MOST];
    int count = 0;
    csv_reader r = {.index = index, .path = path, .at = csv, .end = csv + length, .line = 1, .err = err};
    bool good = true, last = false;

    // The names of the columns, in any order.
    while (good && !last && read_cell(&r, &last)) {
        columns[count] = ss_column_find(ss_text_get(&r.cell));
        if (!columns[count] || count + 1 == MOST) {
            ss_unknown unknown = ss_unknown_start("column", ss_text_get(&r.cell));
            for (const ss_column *known = ss_columns; known->name; known++)
                ss_unknown_offer(&unknown, known->name);
            ss_unknown_fail(&unknown, err);
            if (err) err->code = SS_ERROR_INPUT;
            good = ss_fail_in(err, "%s: line 1", path);
        }
        count++;
    }
    if (good && !last) good = ss_fail(err, SS_ERROR_INPUT, "%s: is not the index of a collection", path);

    while (good && r.at < r.end) {
        ss_collection_row row = {.frame = -1, .solvable = 1};
        for (const ss_column *column = ss_columns; column->name; column++)
            if (column->kind == SS_COLUMN_REAL) *(double *)((char *)&row + column->offset) = NAN;
        r.line++;
        int cells = 0;
        for (last = false; good && !last && read_cell(&r, &last); cells++)
            good = cells < count ? fill(&r, columns[cells], &row) : true;
        index->is_cut_off = good && !last;
        if (!last) break;
        if (good && cells != count)
            good = ss_fail(err, SS_ERROR_INPUT, "%s: line %d: %d cells, expected %d", path, r.line, cells,
                           count);
        if (good && (!row.id || !row.family || !row.sequence || !row.file))
            good = ss_fail(err, SS_ERROR_INPUT, "%s: line %d: id, family, sequence and file must be there",
                           path, r.line);
        if (good && !(ss_path_is_inside(row.file) && ss_path_is_inside(row.family)))
            good = ss_fail(err, SS_ERROR_INPUT,
                           "%s: line %d: file \"%.80s\" of family \"%.80s\" is not a place "
                           "in the folder of a collection",
                           path, r.line, row.file, row.family);
        good = good && ss_index_add(index, &row, err);
    }
    if (good && r.cell.out_of_memory) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the index");
    ss_text_free(&r.cell);
    return good;
}

bool ss_index_read_file(ss_collection_index *index, const char *path, ss_error *err)
{
    size_t size;
    unsigned char *bytes = ss_file_read(path, LARGEST_INDEX, &size, err);
    bool good = bytes && ss_index_read(index, (const char *)bytes, size, path, err);
    ss_release(bytes);
    return good;
}
