/* The data of web/src/collection: columns, families, sequences with their pictures, and a row per problem as
 * an array in the order of the columns. */
#include "collection/page.h"

#include "base/file.h"
#include "collection/make.h"
#include "report/base64.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_PICTURE ((size_t)1 << 22) /* bytes */

static void put_columns(ss_json *json)
{
    static const char *const kinds[] = {[SS_COLUMN_TEXT] = "text",
                                        [SS_COLUMN_WHOLE] = "whole",
                                        [SS_COLUMN_REAL] = "real",
                                        [SS_COLUMN_LEVEL] = "level"};
    ss_json_key(json, "levels");
    ss_json_begin_array(json);
    for (int level = 0; level < SS_CERTIFICATE_LEVELS; level++)
        ss_json_string(json, ss_certificate_level_name((ss_certificate_level)level));
    ss_json_end_array(json);
    ss_json_key(json, "columns");
    ss_json_begin_array(json);
    for (const ss_column *column = ss_columns; column->name; column++) {
        ss_json_begin_object(json);
        ss_json_member_text(json, "name", column->name);
        ss_json_member_text(json, "kind", kinds[column->kind]);
        ss_json_member_text(json, "unit", column->unit);
        ss_json_member_text(json, "meaning", column->meaning);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}

/* What lies beside the file of a sequence: its picture, and its replay if there is one. */
static void put_sequence(ss_json *json, const ss_edition *edition, const ss_collection_row *row)
{
    char stem[SS_FILE_PATH], path[2 * SS_FILE_PATH + 8];
    const char *dot = strrchr(row->file, '.');
    snprintf(stem, sizeof stem, "%.*s", dot ? (int)(dot - row->file) : 0, row->file);
    ss_json_begin_object(json);
    ss_json_member_text(json, "file", row->file);
    snprintf(path, sizeof path, "%s/%s.png", edition->folder, stem);
    size_t size;
    unsigned char *bytes = access(path, R_OK) == 0 ? ss_file_read(path, LARGEST_PICTURE, &size, NULL) : NULL;
    if (bytes) {
        ss_text address = {0};
        ss_text_append(&address, "data:image/png;base64,");
        ss_base64(&address, bytes, size);
        ss_json_member_text(json, "picture", ss_text_get(&address));
        json->text->out_of_memory |= address.out_of_memory;
        ss_text_free(&address);
        ss_release(bytes);
    }
    snprintf(path, sizeof path, "%s/%s.html", edition->folder, stem);
    if (edition->replays && access(path, R_OK) == 0) {
        snprintf(path, sizeof path, "%s.html", stem);
        ss_json_member_text(json, "replay", path);
    }
    ss_json_end_object(json);
}

static void put_row(ss_json *json, const ss_collection_row *row)
{
    ss_json_begin_array(json);
    for (const ss_column *column = ss_columns; column->name; column++) {
        double value = ss_column_number(column, row);
        if (column->kind == SS_COLUMN_TEXT || column->kind == SS_COLUMN_LEVEL)
            ss_json_string(json, ss_column_text(column, row));
        else if (isnan(value))
            ss_json_null(json);
        else if (column->kind == SS_COLUMN_WHOLE)
            ss_json_integer(json, (long long)value);
        else
            ss_json_real(json, value);
    }
    ss_json_end_array(json);
}

bool ss_collection_page(const ss_edition *edition, const ss_collection_index *index, ss_error *err)
{
    ss_text text = {0}, blocks = {0};
    ss_json json = {.text = &text, .inside_html = true};
    ss_json_begin_object(&json);
    ss_json_member_text(&json, "collection", edition->name);
    ss_json_member_text(&json, "version", edition->version);
    ss_json_member_text(&json, "title", edition->title ? edition->title : edition->name);
    ss_json_member_text(&json, "part", edition->part ? edition->part : "");
    put_columns(&json);
    ss_json_key(&json, "families");
    ss_json_begin_array(&json);
    for (int f = 0; f < edition->family_count; f++) {
        ss_json_begin_object(&json);
        ss_json_member_text(&json, "name", edition->families[f].name);
        ss_json_member_text(&json, "about", edition->families[f].about);
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);

    ss_json_key(&json, "sequences");
    ss_json_begin_array(&json);
    const char *last = "";
    for (int i = 0; i < index->count; i++) {
        if (strcmp(index->rows[i].file, last) != 0) put_sequence(&json, edition, &index->rows[i]);
        last = index->rows[i].file;
    }
    ss_json_end_array(&json);
    ss_json_key(&json, "problems");
    ss_json_begin_array(&json);
    for (int i = 0; i < index->count; i++) put_row(&json, &index->rows[i]);
    ss_json_end_array(&json);
    ss_json_end_object(&json);

    char path[2 * SS_FILE_PATH];
    snprintf(path, sizeof path, "%s/index.html", edition->folder);
    ss_page_block(&blocks, "application/json", "collection", ss_text_get(&text), text.length);
    blocks.out_of_memory |= text.out_of_memory;
    bool good = ss_page_write(&ss_page_collection, &blocks, path, err);
    ss_text_free(&text);
    ss_text_free(&blocks);
    return good;
}
