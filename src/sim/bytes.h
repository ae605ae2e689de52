/* sim/bytes.h - a run of bytes that values are written to and read from by the same function, so that the two directions
 * cannot disagree. Lack of memory and of bytes is sticky and looked at once, at the end. */
#ifndef SS_SIM_BYTES_H
#define SS_SIM_BYTES_H

#include <stickslip/base.h>

#include <string.h>

typedef struct ss_bytes {
    unsigned char *data;
    size_t size, capacity;
    size_t at;    /* reading: the next byte */
    bool reading; /* else values are added at the end */
    bool failed;
} ss_bytes;

/* Room for `more` bytes at the end. */
bool ss_bytes_reserve(ss_bytes *bytes, size_t more);
void ss_bytes_free(ss_bytes *bytes);

static inline void ss_bytes_pass(ss_bytes *bytes, void *value, size_t size)
{
    if (bytes->reading) {
        if (bytes->failed || bytes->size - bytes->at < size) {
            bytes->failed = true;
            return;
        }
        memcpy(value, bytes->data + bytes->at, size);
        bytes->at += size;
        return;
    }
    if (bytes->capacity - bytes->size < size && !ss_bytes_reserve(bytes, size)) return;
    memcpy(bytes->data + bytes->size, value, size);
    bytes->size += size;
}

#endif
