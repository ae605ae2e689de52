#include "sim/byte_stream.h"

bool ss_byte_stream_reserve(ss_byte_stream *bytes, size_t more)
{
    if (bytes->capacity - bytes->size >= more) return !bytes->failed;
    size_t capacity = 2 * bytes->capacity + more;
    unsigned char *larger = bytes->failed ? NULL : ss_allocate(capacity, 1);
    if (!larger) {
        bytes->failed = true;
        return false;
    }
    if (bytes->size) memcpy(larger, bytes->data, bytes->size);
    ss_release(bytes->data);
    bytes->data = larger;
    bytes->capacity = capacity;
    return true;
}

void ss_byte_stream_free(ss_byte_stream *bytes)
{
    ss_release(bytes->data);
    *bytes = (ss_byte_stream){0};
}
