/* sim/byte_stream.h - a run of bytes that values are written to and read from by the same function,
 * so that the two directions cannot disagree. Lack of memory and of bytes is sticky and looked at
 * once, at the end. */
#ifndef SS_SIM_BYTE_STREAM_H
#define SS_SIM_BYTE_STREAM_H

#include <stickslip/base.h>

#include <string.h>

typedef struct ss_byte_stream {
    unsigned char *data;
    size_t size, capacity;
    size_t at;    /* reading: the next byte */
    bool reading; /* else values are added at the end */
    bool failed;
} ss_byte_stream;

/* Room for `more` bytes at the end. */
bool ss_byte_stream_reserve(ss_byte_stream *bytes, size_t more);
void ss_byte_stream_free(ss_byte_stream *bytes);

static inline void ss_byte_stream_pass(ss_byte_stream *bytes, void *value, size_t size)
{
    if (size == 0) return; // memcpy asks for addresses even of nothing
    if (bytes->reading) {
        if (bytes->failed || bytes->size - bytes->at < size) {
            bytes->failed = true;
            return;
        }
        memcpy(value, bytes->data + bytes->at, size);
        bytes->at += size;
        return;
    }
    if (bytes->capacity - bytes->size < size && !ss_byte_stream_reserve(bytes, size)) return;
    memcpy(bytes->data + bytes->size, value, size);
    bytes->size += size;
}

#endif
