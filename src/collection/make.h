/* collection/make.h - one sequence of a collection, from its recipe to a file with certified answers and the
 * rows of its problems in the index. Done by workers: a file that is imported may crash libhdf5. */
#ifndef SS_COLLECTION_MAKE_H
#define SS_COLLECTION_MAKE_H

#include "campaign/ledger.h"
#include "collection/index.h"
#include "collection/recipe.h"

#define SS_FILE_PATH 4096
#define SS_EXACT_UNKNOWNS 30 /* as certify has it: level exact is tried for at most this many */

/* "walls/brick-wall-12.h5": where it is, below the folder of the collection. */
void ss_sequence_file(const ss_sequence *sequence, char *file, size_t size);

typedef struct ss_making {
    const ss_recipes *recipes;
    const char *folder; /* of the collection; that of the family exists */
    const char *target; /* a file to write instead; NULL: none, and with a picture beside it */
    int only;           /* with `target`: the only frame of the sequence that is wanted; -1: all */
    const volatile int *cancel;
} ss_making;
/* Writes the file and the picture beside it, appends the rows to the CSV. Cancelled: true, and no rows. */
bool ss_sequence_make(const ss_making *making, const ss_sequence *sequence, ss_text *csv, ss_error *err);

/* The columns that a certificate (NULL: no method accepts the problem) and the features of a problem fill. */
void ss_row_certificate(const ss_certificate *own, ss_collection_row *row);
void ss_row_features(const ss_problem_entry *entry, ss_collection_row *row);

#endif
