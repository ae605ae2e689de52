/* collection/copy.h - problems out of a collection, by their ids or by what holds for them. */
#ifndef SS_COLLECTION_COPY_H
#define SS_COLLECTION_COPY_H

#include "collection/collection.h"
#include "collection/where.h"

/* The same bytes. */
bool ss_file_copy(const char *from, const char *to, ss_error *err);
/* These frames of a BPMD file, in their order, with everything that is stored with them, and the stamp. */
bool ss_frames_copy(const char *from, const char *to, const int *frames, int count, ss_error *err);

typedef struct ss_get_options {
    const char *id;     /* "walls/brick-wall-12" or, with the number of a frame, "walls/brick-wall-12/3" */
    const char *folder; /* of a collection that is built; NULL: made from its recipe */
    const char *output;
} ss_get_options;
/* One sequence or one problem of it as a file. *count: problems. */
bool ss_collection_get(const ss_recipes *recipes, const ss_get_options *options,
                       const ss_collection_hooks *hooks, int *count, ss_error *err);

typedef struct ss_subset_options {
    const char *folder, *output;
    const ss_where *where;
    int jobs;
} ss_subset_options;
/* A folder like that of a collection with the problems for which `where` holds; ids and hashes stay. */
bool ss_collection_subset(const ss_recipes *recipes, const ss_subset_options *options,
                          const ss_collection_hooks *hooks, int *count, ss_error *err);

#endif
