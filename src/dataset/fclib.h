/* dataset/fclib.h - the FCLIB layout in one table, from which reading, writing and Matrix Market
 * export follow. */
#ifndef SS_DATASET_FCLIB_H
#define SS_DATASET_FCLIB_H

#include "dataset/h5.h"

/* Sizes are letters: m contact components, c contacts, n dofs, p equations. */
typedef struct ss_fclib_part {
    const char *name;  /* "W"; "q" of the group `vectors` */
    ss_cone_form form; /* which form has it; mu and mu_r are in both */
    bool both_forms;
    char rows, cols; /* cols = 0: a vector */
    size_t offset;   /* of the pointer, in ss_cone */
} ss_fclib_part;

extern const ss_fclib_part ss_fclib_parts[]; /* ends with name = NULL */

int ss_fclib_extent(const ss_cone *cone, char letter);
/* Does a problem of these sizes have the part? V, R, s, G and b only with equations, mu_r
 * only with rolling. */
bool ss_fclib_has(const ss_cone *cone, const ss_fclib_part *part);
ss_sparse **ss_fclib_matrix(const ss_fclib_part *part, const ss_cone *cone);
double **ss_fclib_vector(const ss_fclib_part *part, const ss_cone *cone);

const char *ss_fclib_group_name(ss_fclib_kind kind); /* "fclib_local" */
ss_cone_form ss_fclib_form(ss_fclib_kind kind);
ss_fclib_kind ss_fclib_kind_of(const ss_cone *cone);
/* Solutions and guesses belong to the first of these that a file holds. */
extern const ss_fclib_kind ss_fclib_order[3];

/* Reads from an open file; the caller is inside ss_h5_enter. */
ss_fclib *ss_fclib_read_root(const ss_h5_group *root, ss_fclib_kind kind, const ss_limits *limits,
                             ss_findings *findings, ss_error *err);
/* A file image, for fuzzing and tests. */
ss_fclib *ss_fclib_read_image(const void *bytes, size_t size, ss_fclib_kind kind, const ss_limits *limits,
                              ss_findings *findings, ss_error *err);
/* What is odd about a problem that could be read. */
void ss_fclib_check(const ss_fclib *problem, ss_findings *findings);

#endif
