/* recorders/sink.h - where a recorder's steps go, and what all recorders share.
 *
 * A recorder looks at its engine before and after a step and fills sink->capture. The sink is a file, for a
 * program that calls the recorder itself, or a channel to `stickslip record`, for a preloaded recorder.
 */
#ifndef SS_RECORDERS_SINK_H
#define SS_RECORDERS_SINK_H

#include "dataset/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_sink ss_sink;
struct ss_sink {
    ss_capture capture;
    int64_t steps;    /* of the program so far */
    int64_t recorded; /* of them */
    /* where to; each may fail for good, and recording ends then */
    bool (*begin)(ss_sink *sink, const double gravity[3], const char *toolkit, const char *description);
    bool (*shape)(ss_sink *sink, const ss_stored_shape *shape);
    bool (*note)(ss_sink *sink, const char *text);
    bool (*step)(ss_sink *sink);
    /* instead of a step: what dataset/capture_rows.h makes a capture of */
    bool (*rows)(ss_sink *sink, const void *bytes, size_t length);
    void *target;               /* of the file */
    int64_t first, every, last; /* which steps, from 1; last 0: to the end */
    bool begun, broken;
    ss_error err; /* why it broke, or the fault of a step that was left out */
};

/* The number of the step that begins now is counted; true: it is to be recorded. */
bool ss_sink_wants(ss_sink *sink);

/* ---- a file (sink_file.c) --------------------------------------------------------------------------- */

bool ss_sink_open_file(ss_sink *sink, const char *path, ss_error *err);
/* As ss_recorder_configure and ss_recorder_trip. */
bool ss_sink_configure(ss_sink *sink, const char *settings, ss_error *err);
bool ss_sink_trip(ss_sink *sink, const char *reason, ss_error *err);
/* Notes so far, one per line; never NULL. */
const char *ss_sink_notes(const ss_sink *sink);
bool ss_sink_close_file(ss_sink *sink, ss_error *err);

/* ---- the channel to `stickslip record` (sink_channel.c) --------------------------------------------- */

/* When the recorder is loaded: reads STICKSLIP_RECORD = FILE:FIRST:EVERY:LAST. library: how the name of the
 * engine's shared library begins. */
void ss_sink_attend(const char *library);
/* The sink of this program. NULL: not started by `stickslip record`, or a child process, which is not
 * recorded. It ends with the program. */
ss_sink *ss_sink_of_program(void);
/* Tells the person who records why nothing can be; the sink wants nothing from then on. */
void ss_sink_refuse(ss_sink *sink, const char *format, ...) SS_PRINTF(2, 3);

/* ---- small things ----------------------------------------------------------------------------------- */

/* Numbers 1, 2, 3 ... for pointers, in the order in which they were first asked for. */
typedef struct ss_numbers {
    const void **key;
    int *number;
    int count, room;
} ss_numbers;
/* 0: out of memory. *fresh (may be NULL): it was not known before. */
int ss_number_of(ss_numbers *numbers, const void *key, bool *fresh);
/* The number, 0 if it has none. */
int ss_number_find(const ss_numbers *numbers, const void *key);
void ss_numbers_clear(ss_numbers *numbers); /* keeps the memory */
void ss_numbers_free(ss_numbers *numbers);

void ss_quaternion_to_matrix(const double q[4], double R[9]);
/* R I R', symmetric to the last bit */
void ss_rotate_tensor(const double R[9], const double I[9], double world[9]);
/* A y = b by elimination with pivots; false: singular. A and b are overwritten, b becomes y. */
bool ss_solve_3(double A[9], double b[3]);
/* The shortest x with J' x = f for `rows` rows of 12 numbers, where one exists; nearest otherwise. Rows that
 * depend on earlier ones get 0. */
void ss_row_impulses(int rows, const double (*J)[12], const double f[12], double *x);

#ifdef __cplusplus
}
#endif
#endif
