#include "campaign/wire.h"

#include <string.h>

void ss_pack_int(ss_text *to, int64_t value)
{
    ss_text_append_bytes(to, (const char *)&value, sizeof value);
}

void ss_pack_real(ss_text *to, double value)
{
    ss_text_append_bytes(to, (const char *)&value, sizeof value);
}

void ss_pack_text(ss_text *to, const char *text)
{
    ss_pack_int(to, text ? (int64_t)strlen(text) : -1);
    if (text) ss_text_append_bytes(to, text, strlen(text));
}

static void take(ss_unpacker *from, void *value, size_t size)
{
    memset(value, 0, size);
    if (from->bad || (size_t)(from->end - from->at) < size) {
        from->bad = true;
        return;
    }
    memcpy(value, from->at, size);
    from->at += size;
}

int64_t ss_unpack_int(ss_unpacker *from)
{
    int64_t value;
    take(from, &value, sizeof value);
    return value;
}

int ss_unpack_within(ss_unpacker *from, int low, int high)
{
    int64_t value = ss_unpack_int(from);
    if (value >= low && value <= high) return (int)value;
    from->bad = true;
    return low;
}

double ss_unpack_real(ss_unpacker *from)
{
    double value;
    take(from, &value, sizeof value);
    return value;
}

char *ss_unpack_text(ss_unpacker *from)
{
    int64_t length = ss_unpack_int(from);
    if (length < 0 || from->bad) return NULL;
    if (length > from->end - from->at) {
        from->bad = true;
        return NULL;
    }
    char *text = ss_allocate((size_t)length + 1, 1);
    if (!text)
        from->bad = true;
    else
        take(from, text, (size_t)length);
    return text;
}
