/* collection/index.h - the index of a collection: a row per problem, and one table of columns from which CSV,
 * JSON, the words of --where and the page come. */
#ifndef SS_COLLECTION_INDEX_H
#define SS_COLLECTION_INDEX_H

#include "base/text.h"

#include <stickslip/certificate.h>

/* One problem: a frame of a sequence, or an imported problem. Texts are in the arena of the index; NaN: not
 * known. */
typedef struct ss_collection_row {
    const char *id;   /* "walls/brick-wall-12/3": family, sequence, number of the frame */
    const char *hash; /* of every number that a solver sees */
    const char *family, *sequence, *scene, *subset;
    const char *file, *place; /* below the folder of the collection; inside the file */
    int frame;                /* of the file, from 0; -1: FCLIB */
    double time, h;           /* s */
    int bodies, joints, rows, contacts;
    int planar; /* 0, 1 */
    double mass_ratio, density, rank, mu_least, mu_most;
    double sliding, open, certain; /* shares: of touching contacts, of all contacts, of states */
    int solvable;                  /* 0: known to have no solution */
    const char *level;             /* ss_certificate_level_name */
    double bound, relative;        /* m/s; over the scale of the frame */
    const char *solver, *second;
    double agreed; /* m/s */
    const char *reason;
    double hardness; /* share of solvers that do not solve it */
    int tried;       /* solvers in the ledger that accept it */
    const char *recipe;
} ss_collection_row;

typedef enum ss_column_kind {
    SS_COLUMN_TEXT,
    SS_COLUMN_WHOLE,
    SS_COLUMN_REAL,
    SS_COLUMN_LEVEL
} ss_column_kind;
typedef struct ss_column {
    const char *name;
    ss_column_kind kind;
    size_t offset; /* in ss_collection_row */
    const char *unit, *meaning;
} ss_column;
extern const ss_column ss_columns[]; /* ends with name = NULL */
const ss_column *ss_column_find(const char *name);
const char *ss_column_text(const ss_column *column,
                           const ss_collection_row *row); /* TEXT, LEVEL; never NULL */
/* WHOLE, REAL: the value; LEVEL: its place on the ladder; TEXT: NaN */
double ss_column_number(const ss_column *column, const ss_collection_row *row);

typedef struct ss_collection_index {
    ss_arena *arena;
    ss_collection_row *rows;
    int count, capacity;
    bool is_cut_off; /* what was read ends within a row, which is left out: its writer was killed */
} ss_collection_index;
bool ss_index_create(ss_collection_index *index, ss_error *err);
void ss_index_free(ss_collection_index *index);
/* A copy of the text that lives as long as the index; NULL with err. */
const char *ss_index_keep(ss_collection_index *index, const char *text, size_t length, ss_error *err);
/* Texts of the row are not copied. */
bool ss_index_add(ss_collection_index *index, const ss_collection_row *row, ss_error *err);
/* By family, sequence and frame. */
void ss_index_sort(ss_collection_index *index);

void ss_index_csv_head(ss_text *csv);
void ss_index_csv_row(ss_text *csv, const ss_collection_row *row);
void ss_index_json_row(ss_json *json, const ss_collection_row *row); /* an object */
/* The file index.json of a collection of this name and version. */
void ss_index_json(ss_text *text, const ss_collection_index *index, const char *name, const char *version);
/* Adds the rows of a CSV text with a line of names: names that are not columns are an error, missing ones are
 * not known. `path` is for messages, which name the line. A last line that is cut off is left out. */
bool ss_index_read(ss_collection_index *index, const char *csv, size_t length, const char *path,
                   ss_error *err);
bool ss_index_read_file(ss_collection_index *index, const char *path, ss_error *err);

#endif
