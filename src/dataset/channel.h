/* dataset/channel.h - messages from a program to the process that records it, through memory that both see.
 *
 * A ring of bytes in a file without a name (memfd), mapped by both. The sender copies a message into it and
 * moves a counter: no system call, no waiting, unless the ring is full. A message counts when it is there
 * as a whole, so that a sender that dies in the middle of one leaves all earlier ones. Messages that do not
 * fit are sent in parts. Senders take turns: the programs that a script starts share one ring.
 *
 *     page 0   the counters           then the bytes, which are mapped twice in a row: no message is cut
 */
#ifndef SS_DATASET_CHANNEL_H
#define SS_DATASET_CHANNEL_H

#include <stickslip/base.h>

#include "base/inner.h"

#ifdef __cplusplus
extern "C" {
#endif

struct iovec;
struct ss_channel_page;

typedef struct ss_channel_head {
    uint32_t magic;  /* SS_MESSAGE_MAGIC */
    uint32_t kind;   /* ss_capture_kind */
    uint32_t sender; /* its process */
    uint32_t part;   /* 0, 1, 2 ... of a message in parts */
    uint64_t more;   /* 1: further parts follow */
    uint64_t length; /* bytes that follow, and then up to 7 until the next multiple of 8 */
} ss_channel_head;
#define SS_MESSAGE_MAGIC 0x70696c73u

/* One that has arrived. */
typedef struct ss_message {
    struct ss_message *next; /* the receiver's */
    ss_channel_head head;
    char bytes[];
} ss_message;

typedef struct ss_channel {
    int file;
    int process; /* this one */
    bool receives;
    size_t capacity; /* bytes */
    struct ss_channel_page *page;
    unsigned char *bytes;
    uint64_t taken;       /* by the receiver so far: its own count, which no sender can damage */
    ss_message *fragment; /* of a message in parts */
} ss_channel;

/* The end that receives; capacity in bytes is rounded up to whole pages. The file is inherited by programs
 * that this process starts. */
SS_INNER bool ss_channel_create(ss_channel *channel, size_t capacity, ss_error *err);
/* The end that sends, in another process. False: `file` is not a channel of this build. */
SS_INNER bool ss_channel_attach(ss_channel *channel, int file);
/* Asks for all of its memory now, so that it costs the first messages nothing. */
SS_INNER void ss_channel_touch(ss_channel *channel);
SS_INNER void ss_channel_free(ss_channel *channel); /* closes the file */

/* Copies the parts into the ring. False: the receiver is gone, or, with `patience` seconds (0: without
 * limit), the ring stayed full or another sender held it. */
SS_INNER bool ss_channel_send(ss_channel *channel, uint32_t kind, const struct iovec *part, int count,
                              double patience);

/* The next message, for ss_release, its parts put together; NULL: none is there now. *bad: what is there is
 * not a message, or memory is short. Of a message whose sender is gone halfway nothing is left. */
SS_INNER ss_message *ss_channel_receive(ss_channel *channel, bool *bad);

#ifdef __cplusplus
}
#endif
#endif
