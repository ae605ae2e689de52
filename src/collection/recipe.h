/* collection/recipe.h - recipes: what a collection consists of, in text files that people write
 * (docs/collection.md has the format). */
#ifndef SS_COLLECTION_RECIPE_H
#define SS_COLLECTION_RECIPE_H

#include "base/text.h"
#include "sim/scene_setup.h"

/* Consecutive frames of one simulation, or an imported file. */
typedef struct ss_sequence {
    const char *family, *name, *id; /* "walls", "brick-wall-12", "walls/brick-wall-12" */
    const char *scene;              /* NULL: imported from `source` */
    const char **parameters;        /* "rows=12", of the scene; end with NULL */
    const char **settings;          /* "h=0.01", of the simulation; end with NULL */
    ss_unit_factors units;
    int seed, from, frames; /* the frames of steps from + 1 ... from + frames */
    bool small;             /* belongs to the subset `small` */
    bool unsolvable;        /* by construction */
    const char *why;        /* ... the reason */
    const char *source;     /* path of an imported file */
    const char *where;      /* "walls.recipe:12", for messages */
    char digest[33];        /* of all the above, of the library's source and the collection's version */
} ss_sequence;

typedef struct ss_family {
    const char *name, *about;
} ss_family;

typedef struct ss_recipes {
    ss_arena *arena;             /* has all texts */
    const char *name, *version;  /* "stickslip", "0.1.0" */
    const char *title, *license; /* may be NULL */
    ss_family *families;
    ss_sequence *sequences;
    int family_count, sequence_count, family_room, sequence_room;
} ss_recipes;

/* folder: *.recipe and collection.recipe, which has name and version; NULL: those that the program was built
 * with. */
bool ss_recipes_read(ss_recipes *recipes, const char *folder, ss_error *err);
void ss_recipes_free(ss_recipes *recipes);
/* Its name ends with .h5 or .hdf5. */
bool ss_is_problem_file(const char *name);
/* Adds every problem file of the folder, as sequences of the family `imported`. */
bool ss_recipes_import(ss_recipes *recipes, const char *folder, ss_error *err);
/* Name and version in one text: "stickslip 0.1.0". */
void ss_recipes_label(const ss_recipes *recipes, char *label, size_t size);

/* The files of collection/, as they were when the program was built; ends with name = NULL. */
typedef struct ss_recipe_file {
    const char *name, *text;
} ss_recipe_file;
extern const ss_recipe_file ss_recipe_files[];

#endif
