#include "sim/bytes.h"

bool ss_bytes_reserve(ss_bytes *bytes, size_t more)
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

void ss_bytes_free(ss_bytes *bytes)
{
    ss_release(bytes->data);
    *bytes = (ss_bytes){0};
}
