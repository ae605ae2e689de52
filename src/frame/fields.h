/* frame/fields.h - the one table of what a frame consists of. Creation, copying, comparison, hashing,
 * checking, reading, writing, printing and docs/format.md all follow it; a new optional array is one line in
 * fields.def. */
#ifndef SS_FRAME_FIELDS_H
#define SS_FRAME_FIELDS_H

#include <stickslip/frame.h>

#include "base/inner.h"

typedef enum ss_field_type {
    SS_FIELD_REAL,  /* double */
    SS_FIELD_INT,   /* int32_t */
    SS_FIELD_COUNT, /* int in memory, unsigned 64 bit in the file (constraints/rows) */
    SS_FIELD_BYTE,  /* uint8_t */
    SS_FIELD_PAIR, /* int body indices in memory, body ids in the file; two in pairs, one in further blocks */
} ss_field_type;

typedef enum ss_field_per { /* one item per ... */
                            SS_PER_BODY,
                            SS_PER_CONSTRAINT,
                            SS_PER_ROW,
                            SS_PER_FURTHER, /* a further block of a row */
                            SS_PER_CONTACT,
                            SS_PER_GROUP,      /* of alternatives */
                            SS_PER_SUBCONTACT, /* a further point of an alternative */
                            SS_PER_TREE, /* generalised coordinates: trees, rows and entries of T and M */
                            SS_PER_MAP_ROW,
                            SS_PER_MAP_ENTRY,
                            SS_PER_MASS_ROW,
                            SS_PER_MASS_ENTRY,
                            SS_PER_COORDINATE,
                            SS_PER_COUNT
} ss_field_per;

typedef struct ss_field {
    const char *group; /* "bodies" */
    const char *name;  /* "positions"; "map/values" is one of a group in the group */
    ss_field_type type;
    ss_field_per per;
    int width;           /* numbers per item in memory */
    int file_columns;    /* columns in the file: velocities are (6 n, 1), inertias (3 n, 3) */
    bool optional;       /* the pointer may be NULL */
    double fallback;     /* value of every number when absent or just created; see ss_field_default */
    size_t offset;       /* of the pointer, in ss_frame */
    const char *unit;    /* "m", "kg m^2", "1" */
    const char *meaning; /* one line for docs and printing */
} ss_field;

extern SS_INNER const ss_field ss_fields[];
extern SS_INNER const int ss_field_count;

/* Finds "bodies/positions"; NULL if there is none. */
const ss_field *ss_field_find(const char *path);
/* Items of a list that most frames do not have: alternatives, further blocks, generalised coordinates. */
bool ss_field_is_of_list(const ss_field *field);
size_t ss_field_element_size(const ss_field *field); /* bytes of one number in memory */
SS_INNER int ss_field_items(const ss_field *field, const ss_frame *frame);
/* The array itself, NULL when an optional one is absent. */
SS_INNER void *ss_field_data(const ss_field *field, const ss_frame *frame);
void **ss_field_slot(const ss_field *field, ss_frame *frame);

/* One number of the array, whatever its type; index counts numbers, not items. Integers of 32
 * bits are exact. */
double ss_field_get(const ss_field *field, const void *data, size_t index);
void ss_field_set(const ss_field *field, void *data, size_t index, double value);

#define SS_FIELD_WIDTH 12 /* the widest field */
/* What one item holds when the array is absent or just created: `width` numbers. This is `fallback`, but for
 * quaternions, ids, bounds and rows, and for optional arrays that follow from others (mu_s, t_u, lever_arms).
 * Returns whether another item may hold something else. */
bool ss_field_default(const ss_field *field, const ss_frame *frame, int item, double values[SS_FIELD_WIDTH]);

#endif
