/* dataset/shape_list.h - shapes that become known one by one while something is recorded. */
#ifndef SS_DATASET_SHAPE_LIST_H
#define SS_DATASET_SHAPE_LIST_H

#include <stickslip/dataset.h>

#include "base/inner.h"

typedef struct ss_shape_list {
    ss_stored_shape *shapes;
    ss_mesh **meshes; /* theirs; NULL: none */
    int count, room;
    int stored; /* of them, in the file */
} ss_shape_list;

/* The mesh, which may be NULL, belongs to the list from now on, also after a failure. */
SS_INNER bool ss_shape_list_add(ss_shape_list *list, const ss_stored_shape *shape, ss_mesh *mesh,
                                ss_error *err);
/* Puts them in the file, in place of those that are there. A recording has all of them at its end; one that
 * does not get there should have most, so that it is called before every frame, and does something when
 * their number has doubled. all: whenever there are new ones. */
SS_INNER bool ss_shape_list_store(ss_shape_list *list, ss_writer *writer, bool all, ss_error *err);
SS_INNER void ss_shape_list_clear(ss_shape_list *list); /* for a new simulation; frees everything */

#endif
