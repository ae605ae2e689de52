/* dataset/bpmd.h - the parts of the BPMD reader (docs/format.md tells the rules in words).
 *
 *   bpmd_open.c         the index of a file: simulations and frames, by name only
 *   bpmd_array.c        one data set: its names, its shape, its orientation
 *   bpmd_stored.c       a frame as it is stored: groups, sizes, what names tell about the writer
 *   bpmd_fields.c       ... and its arrays, nothing repaired but shapes
 *   bpmd_dialect.c      who wrote it, judged by the contents
 *   bpmd_repair.c       from the stored frame to the conventions of frame.h
 *   bpmd_joints.c       ... the defects of ODE's constraint rows
 *   bpmd_bounds.c       ... and where its bounds went
 *   bpmd_rpisim.c       ... the state before the step, from files that hold the one after it
 *   bpmd_timestep.c     the step, and where to look when a frame has none
 *   bpmd_read.c         the public reading functions
 *   bpmd_arrays.c       ... and the one for arrays in memory
 *   bpmd_result.c       what solvers left beside a frame
 *   bpmd_shapes.c       what its bodies look like, and where moving scenery is
 *   bpmd_manifest.c     what a simulation says about itself
 *   bpmd_options.c      what a user may ask of the reader
 *
 * All but the public functions expect to be inside the lock of HDF5 (ss_h5_enter).
 */
#ifndef SS_DATASET_BPMD_H
#define SS_DATASET_BPMD_H

#include "dataset/h5.h"
#include "frame/fields.h"

/* ---- a file ----------------------------------------------------------------------------------------- */

typedef struct ss_bpmd_entry { /* one frame of the index; 16 bytes, files have many */
    uint64_t number;
    uint32_t simulation;
    uint8_t digits; /* of the number in the name, with leading zeros */
    uint8_t has_timestep;
} ss_bpmd_entry;
enum { SS_TIMESTEP_UNKNOWN, SS_TIMESTEP_THERE, SS_TIMESTEP_MISSING };

typedef struct ss_bpmd_simulation {
    char name[40]; /* "simulation_000001"; "" for the root */
    char path[41]; /* "/simulation_000001" or "/" */
    uint64_t number;
    int first, count; /* its frames in the index */
    char manifest[9]; /* the name of its manifest in the file, "" = none */
    bool is_ours;     /* carries our writer's mark */
    bool asked[2];    /* the next are set, for frames of the flat and of the ODE family */
    int evidence[2];  /* ss_bpmd_evidence, of the first frames that have any */
} ss_bpmd_simulation;

struct ss_bpmd {
    hid_t id;
    ss_h5_group root;
    char *name;       /* of the file, for messages */
    char manifest[9]; /* the name of the one in the root, "" = none */
    ss_limits limits;
    ss_read_options options;
    ss_bpmd_simulation *simulations;
    int simulation_count;
    ss_bpmd_entry *entries;
    int frame_count;
    int judged; /* frame whose dialect was judged last; -1 = none */
    ss_dialect judgement;
    int listed;          /* frame whose results were listed last; -1 = none */
    ss_h5_names results; /* their names */
};

ss_bpmd *ss_bpmd_open_image(const void *bytes, size_t size, const ss_limits *limits,
                            const ss_read_options *options, ss_error *err); /* for fuzzing and tests */

/* A group that may be missing, with the names of its members; every link in it was seen to be hard. */
typedef struct ss_bpmd_place {
    bool exists;
    ss_h5_group group;
    ss_h5_names names;
} ss_bpmd_place;
bool ss_bpmd_enter(const ss_h5_group *parent, const char *name, ss_bpmd_place *place, ss_error *err);
bool ss_bpmd_enter_member(const ss_bpmd_place *parent, const char *name, ss_bpmd_place *place, ss_error *err);
void ss_bpmd_leave(ss_bpmd_place *place); /* safe on a zeroed one */
/* Data sets of the place may take no more memory than that many items of that many numbers need. */
void ss_bpmd_tighten(ss_bpmd_place *place, int items, int width);
bool ss_bpmd_has(const ss_bpmd_place *place, const char *name);
/* The group a simulation's frames are in. */
bool ss_bpmd_enter_simulation(const ss_bpmd *file, int simulation, ss_h5_group *group, ss_error *err);
bool ss_bpmd_enter_frame(const ss_bpmd *file, int frame, ss_bpmd_place *place, ss_error *err);

/* ---- one data set ----------------------------------------------------------------------------------- */

/* Which name a field has here: its own, or (unless exact) the first of its older names. NULL if none.
 * factor is -1 for `depth`, which counts penetration as positive; it may be NULL. */
const char *ss_bpmd_name_of(const ss_bpmd_place *place, const ss_field *field, bool exact, double *factor);
/* "masses or mass", for the message that none is there. */
void ss_bpmd_accepted_names(const ss_field *field, bool exact, char *text, size_t size);

typedef struct ss_bpmd_shape {
    uint64_t items;
    int width, columns;     /* numbers per item; columns the file should have */
    bool square_transposed; /* a square array has items as columns */
    const char *noun;       /* "bodies", for messages */
} ss_bpmd_shape;
typedef enum ss_bpmd_turn { SS_TURN_NONE, SS_TURN_TRANSPOSED, SS_TURN_ROW_PER_ITEM } ss_bpmd_turn;
/* Reads items x width numbers, item by item, whatever their orientation in the file. `turn` tells what was
 * found: one row per item, the same transposed, or one long list. */
bool ss_bpmd_read_items(const ss_h5_group *group, const char *name, const ss_bpmd_shape *shape,
                        double **values, ss_bpmd_turn *turn, ss_error *err);
/* Puts an array that was read already into that order. */
bool ss_bpmd_order(const ss_h5_group *group, const char *name, const ss_bpmd_shape *shape, ss_h5_array *array,
                   ss_bpmd_turn *turn, ss_error *err);
/* A list of single numbers: how many, or an error for a table. */
bool ss_bpmd_count_of(const ss_h5_group *group, const char *name, const ss_h5_array *array, uint64_t *count,
                      ss_error *err);

/* ---- a frame as stored ------------------------------------------------------------------------------ */

/* What the names alone tell. */
typedef enum ss_bpmd_family {
    SS_FAMILY_OURS,  /* marked by our writer: taken literally */
    SS_FAMILY_NAMED, /* simulation group or manifest: the paper's layout */
    SS_FAMILY_FLAT,  /* the layout of Gazebo, and of others who write flat files */
    SS_FAMILY_ODE,   /* names of 2013, before Gazebo */
    SS_FAMILY_RPISIM,
} ss_bpmd_family;

typedef struct ss_bpmd_label {
    int32_t id;
    int body;
} ss_bpmd_label;

/* How the tables of a frame are stored that are not square: one row per item, or one column. */
typedef enum ss_bpmd_tables { SS_TABLES_UNKNOWN, SS_TABLES_STRAIGHT, SS_TABLES_TRANSPOSED } ss_bpmd_tables;

typedef struct ss_bpmd_stored {
    ss_bpmd *file;
    int index; /* of the frame in the file */
    ss_bpmd_place place, bodies, constraints, contacts, subcontacts, settings;
    ss_bpmd_place generalized, map, mass; /* the last two are groups in the first */
    ss_bpmd_family family;
    bool old_rpisim; /* RPI-sim before `inertia`: lever arms in the body's frame, squares transposed */
    ss_bpmd_tables tables;
    ss_frame *frame;
    int joints, rows;                      /* in the file, before disabled ones were dropped */
    int *joint_rows;                       /* rows of each joint in the file */
    ss_h5_array masses, gaps, jacobian;    /* read early, because they tell the sizes */
    ss_h5_array cuts, sub_gaps;            /* the same of alternatives */
    ss_h5_array further_rows;              /* the same of further blocks */
    ss_bpmd_label *labels;                 /* bodies by id; NULL: id = index + 1 */
    int friction_columns;                  /* of mu_k; 0 = there are no contacts */
    bool has_mu_s, has_mu_k;               /* by their own names */
    bool split_velocity, split_force;      /* stored as one list, so that they may be split */
    bool world_is_zero, world_is_negative; /* ids seen for the world */
    char block_order[32];                  /* attribute of constraints; "" = none */
    bool over_limit; /* reading failed because a limit was set too low, not for lack of memory */
    ss_findings *findings;
} ss_bpmd_stored;

/* Opens the groups, names the family. */
bool ss_bpmd_stored_open(ss_bpmd *file, int frame, ss_bpmd_stored *stored, ss_error *err);
/* Fills stored->frame, h excepted. */
bool ss_bpmd_stored_read(ss_bpmd_stored *stored, ss_error *err);
void ss_bpmd_stored_close(ss_bpmd_stored *stored); /* with the frame, unless it was taken */
/* Another frame of the file, to compare with. *found stays false when it cannot be read; only lack of memory
 * is a failure. To be closed in any case. */
bool ss_bpmd_stored_try(ss_bpmd *file, int frame, ss_bpmd_stored *stored, bool *found, ss_error *err);

typedef struct ss_bpmd_sizes {
    int bodies, joints, rows, contacts; /* of the frame, without disabled joints */
    int groups, subcontacts;            /* of alternatives */
    int further;                        /* blocks of rows on more than two bodies */
    int trees, coordinates, map_entries, mass_entries;
} ss_bpmd_sizes;
/* block_order of constraints with rows on more than two bodies, and of those that generalised coordinates
 * imply: "pairs", "pairs, further", "pairs, implied" or both. Readers before them refuse it. */
const char *ss_bpmd_order_name(bool further, bool implied);
bool ss_bpmd_stored_count(ss_bpmd_stored *stored, ss_bpmd_sizes *sizes, ss_error *err);
/* Reads the Jacobian, which may have more rows than the joints together: stored->rows. */
bool ss_bpmd_stored_rows(ss_bpmd_stored *stored, int needed, ss_error *err);

bool ss_bpmd_is_exact(const ss_bpmd_stored *stored); /* our own: nothing is guessed */
const ss_bpmd_place *ss_bpmd_place_of(const ss_bpmd_stored *stored, const ss_field *field);
/* "FILE: /path/name" and what follows: ": is wrong", or "[3]: is wrong". */
bool ss_bpmd_refuse(const ss_h5_group *group, const char *name, ss_error *err, const char *format, ...)
    SS_PRINTF(4, 5);
bool ss_bpmd_refuse_missing(const ss_bpmd_stored *stored, const ss_field *field, ss_error *err);

/* Says something about a data set of the frame: "bodies", "velocities" (group NULL: of the frame itself). */
void ss_bpmd_say(const ss_bpmd_stored *stored, ss_finding_kind kind, const char *group, const char *name,
                 const char *format, ...) SS_PRINTF(5, 6);

/* ---- the step --------------------------------------------------------------------------------------- */

bool ss_bpmd_timestep(ss_bpmd_stored *stored, double *h, ss_error *err);

/* ---- who wrote it ----------------------------------------------------------------------------------- */

typedef enum ss_bpmd_evidence { SS_EVIDENCE_NONE, SS_EVIDENCE_OLD, SS_EVIDENCE_PLAIN } ss_bpmd_evidence;
/* OLD: the writer the family is named after (Gazebo's, or ODE's of January 2013); PLAIN: another program.
 * Needs the stored frame; without evidence of its own, the other frames of the simulation are asked.
 * Fails only for lack of memory. */
bool ss_bpmd_judge(ss_bpmd_stored *stored, ss_dialect *dialect, ss_error *err);

typedef enum ss_block_order { SS_BLOCKS_UNKNOWN, SS_BLOCKS_STRAIGHT, SS_BLOCKS_REVERSED } ss_block_order;
/* From the contents alone: joints with the world, then speeds. `how` says which told, for the message. */
ss_block_order ss_bpmd_block_order(const ss_frame *frame, const char **how);

/* ---- repairs ---------------------------------------------------------------------------------------- */

bool ss_bpmd_repair(ss_bpmd_stored *stored, ss_dialect dialect, ss_error *err);
/* Order of the Jacobian's blocks, ODE's right-hand sides, misplaced bounds. */
bool ss_bpmd_repair_joints(ss_bpmd_stored *stored, ss_dialect dialect, ss_error *err);
bool ss_bpmd_repair_rpisim(ss_bpmd_stored *stored, ss_error *err);

typedef struct ss_bounds_story { /* what was found in the bounds of all joints */
    int moved;                   /* joints with a bound that stood in the wrong place */
    int deduced;                 /* rows whose upper bound was overwritten but follows from the lower one */
    int doubtful;                /* rows that could not be told; they are -inf, inf now */
} ss_bounds_story;
/* Gazebo's writer puts bound r of a joint at places r and r + 1 of the joint's list instead of 2 r and 2 r +
 * 1. This puts the bounds of one joint back, and adds to the story. */
void ss_bpmd_sort_bounds(double (*bounds)[2], int rows, ss_bounds_story *story);
enum { SS_ODE_ROWS = 16 }; /* no joint of ODE has more */

#endif
