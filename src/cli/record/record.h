/* cli/record/record.h - what arrives from a program that `stickslip record` has started, on its way to the
 * file. */
#ifndef SS_CLI_RECORD_RECORD_H
#define SS_CLI_RECORD_RECORD_H

#include "cli/verb.h"

#include "dataset/capture.h"
#include "dataset/capture_rows.h"
#include "dataset/shape_list.h"

#include <pthread.h>

typedef struct ss_record_options {
    ss_common_options common;
    int engine;
    char *output;
    int first, every, last;
    ss_recording_options recording;
} ss_record_options;

typedef struct ss_incoming {
    const ss_command *command;
    const ss_record_options *options;
    /* messages that wait to be written */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    ss_message *front, *back;
    size_t queued; /* bytes */
    bool finished; /* nothing comes any more */

    /* of the thread that writes */
    ss_writer *writer;
    ss_capture capture;
    ss_rows_notes notes; /* that were printed */
    ss_shape_list shapes;
    uint32_t sender; /* the process whose steps these are */
    int simulations, recorded, faulty, trips;
    ss_error trouble;   /* of the file or the messages: recording has ended */
    ss_error fault;     /* the first frame that was left out */
    char refusal[1000]; /* why the recorder recorded nothing */
    int64_t steps;
    bool loaded;
} ss_incoming;

/* Takes the message; waits when the file is far behind. */
void ss_incoming_add(ss_incoming *in, ss_message *message);
/* A thread: writes messages until `finished`. After trouble they are taken and dropped, so that the program
 * is not held up. argument: ss_incoming */
void *ss_incoming_write(void *argument);
/* The end: `crash` says why the program ended, NULL if it ended well. True: there is a recording. */
bool ss_incoming_end(ss_incoming *in, const char *crash);

#endif
