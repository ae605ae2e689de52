/* dataset/h5.h - the only door to HDF5. Everything that opens, lists, reads or writes goes through here, so
 * that the rules for strangers' files stand in one place:
 *   - files are opened read-only, without file locks; the error stack is silenced and HDF5's global
 *     settings are put back as they were (ss_h5_enter, ss_h5_leave around every public function; one lock
 *     for the library)
 *   - only hard links, only single names: no soft, external or user-defined link is ever followed
 *   - data sets: numeric (integer or float) or text; no external or virtual storage; no filter but
 *     deflate, shuffle and fletcher32; extents, products and chunk sizes checked against the limit before
 *     memory is taken
 * Every failing function fills err with the full place, "FILE: /group/name: what is wrong".
 */
#ifndef SS_DATASET_H5_H
#define SS_DATASET_H5_H

#include <hdf5.h>
#include <stickslip/dataset.h>
#include <sys/stat.h>

typedef struct ss_h5_session {
    H5E_auto2_t report;
    void *report_context;
    unsigned plugins;
} ss_h5_session;
/* Not recursive: public functions enter, to read or to write, and internal ones expect to be inside. */
void ss_h5_enter(ss_h5_session *session);
void ss_h5_enter_to_write(ss_h5_session *session);
void ss_h5_leave(ss_h5_session *session);

enum { SS_H5_PATH = 256 };

/* A place in a file: an open group and what to call it in messages. */
typedef struct ss_h5_group {
    hid_t id;
    const char *file;      /* name of the file, for messages */
    char path[SS_H5_PATH]; /* "/mbs_frame000001/bodies" */
    double max_bytes;      /* of one data set in memory */
    bool all_hard;         /* its links were listed and are all hard: they need not be looked at again */
} ss_h5_group;

/* Opens FILE read-only and its root group; false with SS_ERROR_INPUT when it is missing or no HDF5 file. */
bool ss_h5_open(const char *file, double max_bytes, hid_t *file_id, ss_h5_group *root, ss_error *err);
/* Opens the file image for fuzzing and tests, without a file system. */
bool ss_h5_open_image(const void *bytes, size_t size, double max_bytes, hid_t *file_id, ss_h5_group *root,
                      ss_error *err);
void ss_h5_close(hid_t file_id); /* with everything still open in it; < 0 is allowed */

/* Child names of a group in alphabetical order. Fails on any link that is not hard, naming it. */
typedef struct ss_h5_names {
    char **names;
    int count;
} ss_h5_names;
bool ss_h5_list(const ss_h5_group *group, int max_names, ss_h5_names *names, ss_error *err);
/* Adds a copy; capacity is the caller's, 0 at first. False for lack of memory. */
bool ss_h5_names_add(ss_h5_names *names, int *capacity, const char *name);
bool ss_h5_names_have(const ss_h5_names *names, const char *name);
void ss_h5_names_free(ss_h5_names *names);
/* The same without keeping names: calls visit for every child. A visit that returns false
 * stops with its err. */
typedef bool ss_h5_visit(const char *name, void *context, ss_error *err);
bool ss_h5_each(const ss_h5_group *group, ss_h5_visit *visit, void *context, ss_error *err);

/* "/group/name"; false (and cut off) when that is too long. */
bool ss_h5_join(const ss_h5_group *parent, const char *name, char path[SS_H5_PATH]);

bool ss_h5_has(const ss_h5_group *group, const char *name); /* a hard link of that name exists */
bool ss_h5_is_group(const ss_h5_group *group, const char *name);
/* Opens a child group after checking that the link is hard. */
bool ss_h5_enter_group(const ss_h5_group *parent, const char *name, ss_h5_group *group, ss_error *err);
void ss_h5_leave_group(ss_h5_group *group); /* safe on a zeroed or closed one */

/* ---- reading ---------------------------------------------------------------------------------------- */

/* A numeric data set of any integer or float type and any rank up to 8, as doubles in file order. 64-bit
 * integers beyond 2^53 lose their last bits, which no field of either format can tell. */
typedef struct ss_h5_array {
    double *values; /* ss_release; never NULL on success, even when empty */
    int rank;
    uint64_t extent[8];
    uint64_t count; /* product of the extents, 1 for rank 0 */
    bool is_float;  /* class in the file */
} ss_h5_array;
bool ss_h5_read(const ss_h5_group *group, const char *name, ss_h5_array *array, ss_error *err);
void ss_h5_array_free(ss_h5_array *array);
/* Reads exactly `count` numbers into memory of the caller; false with a message naming both
 * counts otherwise. */
bool ss_h5_read_exactly(const ss_h5_group *group, const char *name, uint64_t count, double *values,
                        ss_error *err);
/* Exactly one number. */
bool ss_h5_read_scalar(const ss_h5_group *group, const char *name, double *value, ss_error *err);
/* One integer in int range; fails on fractions. */
bool ss_h5_read_int(const ss_h5_group *group, const char *name, int *value, ss_error *err);
/* `count` integers in int range (any numeric class in the file; fractions and overflow are errors with
 * index). */
bool ss_h5_read_ints(const ss_h5_group *group, const char *name, uint64_t count, int *values, ss_error *err);
/* Fixed or variable-length string, rank 0 or one element, at most max_bytes. *text is released
 * by the caller. */
bool ss_h5_read_text(const ss_h5_group *group, const char *name, char **text, ss_error *err);
/* Unsigned bytes of the given rank (pictures). */
bool ss_h5_read_bytes(const ss_h5_group *group, const char *name, uint8_t **bytes, uint64_t extent[3],
                      int rank, ss_error *err);
/* Text attribute of a group into a buffer; false when absent (no error is set). */
bool ss_h5_text_attribute(const ss_h5_group *group, const char *name, char *text, size_t size);
/* The same of a data set of the group. */
bool ss_h5_text_attribute_of(const ss_h5_group *group, const char *dataset, const char *name, char *text,
                             size_t size);

/* ---- writing ---------------------------------------------------------------------------------------- */

bool ss_h5_make_group(const ss_h5_group *parent, const char *name, ss_h5_group *group, ss_error *err);
typedef enum ss_h5_type { SS_H5_F64, SS_H5_I32, SS_H5_U64, SS_H5_U8 } ss_h5_type;
/* Contiguous, little-endian in the file. rank 0: a scalar. `values` are native double, int32_t, uint64_t,
 * uint8_t. */
bool ss_h5_write(const ss_h5_group *group, const char *name, ss_h5_type type, int rank,
                 const uint64_t *extent, const void *values, ss_error *err);
/* BPMD's rule for arrays: one number -> scalar, otherwise always rank 2. */
bool ss_h5_write_table(const ss_h5_group *group, const char *name, ss_h5_type type, uint64_t rows,
                       uint64_t columns, const void *values, ss_error *err);
/* Fixed-length, null-terminated, rank 0. */
bool ss_h5_write_text(const ss_h5_group *group, const char *name, const char *text, ss_error *err);
bool ss_h5_write_text_attribute(const ss_h5_group *group, const char *name, const char *text, ss_error *err);
/* Text attribute on a data set of the group. */
bool ss_h5_mark(const ss_h5_group *group, const char *dataset, const char *attribute, const char *text,
                ss_error *err);

/* ---- replacing a file safely ------------------------------------------------------------------------ */

/* A temporary file in the directory of the target, created fresh (or as a copy of the target), which
 * commit renames over it. Where the system allows it, the file has no name until it is sealed or
 * committed, so that nothing useless is left behind by a process that is killed. */
typedef struct ss_h5_output {
    hid_t file_id;
    struct ss_h5_disk *disk;  /* what HDF5 writes through: h5_disk.h */
    char *target, *temporary; /* temporary: NULL while it has no name */
    bool appends, is_copy;    /* to a target that may be there, of one that was */
    struct stat origin;       /* the target when it was copied */
    bool sealed;              /* the temporary file is a whole one, and worth keeping when all else fails */
    ss_h5_group root;
} ss_h5_output;
bool ss_h5_output_open(const char *target, bool copy_existing, double max_bytes, ss_h5_output *output,
                       ss_error *err);
/* False when the disk has refused anything so far: HDF5 itself does not learn of it. Ask after every piece of
 * work. */
bool ss_h5_output_check(const ss_h5_output *output, ss_error *err);
/* Flush, close, fsync, rename, fsync of the directory. On failure the temporary file is removed. When the
 * target is no longer what was copied, what another process has added would be lost: that is a failure, and
 * the temporary file stays, under the name that the message tells. */
bool ss_h5_output_commit(ss_h5_output *output, ss_error *err);
void ss_h5_output_discard(ss_h5_output *output);
/* Everything written so far survives the process from now on: the temporary file has a name, and is a
 * whole HDF5 file. It is locked (flock), so that a recovery leaves it alone while the process lives. */
bool ss_h5_output_seal(ss_h5_output *output, ss_error *err);
/* Gives the file up as it was sealed last; one that was never sealed is removed. */
void ss_h5_output_abandon(ss_h5_output *output);

/* Leftovers of dead processes: the temporary files of a target. */
/* The number of the process in "TARGET.PROCESS-ATTEMPT.partial"; 0 for another name. *length is that of the
 * target (may be NULL). */
long ss_h5_partial_process(const char *name, size_t *length);
/* The name of the flight recorder's ring that goes with one, to be released; NULL for lack of memory. */
char *ss_h5_ring_of(const char *partial);
/* Opens one and makes a whole file of it; false when its process lives. *descriptor is locked, and the
 * caller's. */
bool ss_h5_partial_mend(const char *path, int *descriptor, ss_error *err);
/* The directory of a path, to be released; NULL for lack of memory. */
char *ss_h5_directory_of(const char *path);
void ss_h5_sync_directory_of(const char *path);

#endif
