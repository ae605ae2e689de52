/* collection/collection.h - a collection on disk: built from recipes, listed, verified, cut down.
 *
 *     FOLDER/FAMILY/SEQUENCE.h5    consecutive frames with certified answers
 *     FOLDER/FAMILY/SEQUENCE.png   its first frame
 *     FOLDER/index.csv, index.json a row per problem (index.h)
 *     FOLDER/index.html            the same to browse
 *     FOLDER/collection.recipe     name and version
 *     FOLDER/SHA256SUMS            of everything else; README.md, CITATION.cff
 */
#ifndef SS_COLLECTION_COLLECTION_H
#define SS_COLLECTION_COLLECTION_H

#include "collection/index.h"
#include "collection/recipe.h"

/* What long work says on the way. */
typedef struct ss_collection_hooks {
    void *context;
    void (*progress)(void *context, const char *what, int done, int total); /* problems */
    void (*complain)(void *context, const char *line);
    const volatile int *stop;
} ss_collection_hooks;

typedef struct ss_build_options {
    const char *folder;
    bool small;         /* the subset `small` only */
    const char *ledger; /* for the hardness; NULL: none */
    bool replays;       /* a page per sequence that replays it */
    int jobs;
} ss_build_options;

typedef struct ss_build_summary {
    int sequences, reused, failed, problems;
    int outdated;         /* sequences made again: there was one of another recipe, or of another program */
    int solvable, proved; /* of the problems; proved: of the solvable ones, backward or better */
    double megabytes;
    bool interrupted;
} ss_build_summary;

/* Builds what is not there yet, then writes index, sums and texts. A sequence that fails is complained about,
 * and the others continue. */
bool ss_collection_build(const ss_recipes *recipes, const ss_build_options *options,
                         const ss_collection_hooks *hooks, ss_build_summary *summary, ss_error *err);

typedef struct ss_verify_summary {
    int files, problems, faults;
    bool interrupted;
} ss_verify_summary;
/* Sums of all files, hashes of all problems against the index, certificates proved again, rows of the index
 * against the files. rerun: also the second method of every certificate. */
bool ss_collection_verify(const char *folder, int jobs, bool rerun, const ss_collection_hooks *hooks,
                          ss_verify_summary *summary, ss_error *err);

/* index.csv of the folder. */
bool ss_collection_open(const char *folder, ss_collection_index *index, ss_error *err);

/* Index, page, sums and texts for the files that are there. */
typedef struct ss_edition {
    const char *folder;
    const char *name, *version, *title, *license;
    const ss_family *families;
    int family_count;
    const char *part; /* "subset small"; NULL: all of it */
    bool replays;     /* pages beside the files */
} ss_edition;
bool ss_edition_write(const ss_edition *edition, ss_collection_index *index, ss_error *err);

#endif
