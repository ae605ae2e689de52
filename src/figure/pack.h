/* figure/pack.h - bytes in the order of files that are written by hand, and their compression. */
#ifndef SS_FIGURE_PACK_H
#define SS_FIGURE_PACK_H

#include "base/text.h"

/* The largest byte first, as PNG and TrueType have it. */
static inline void ss_pack_16(ss_text *to, unsigned value)
{
    char bytes[2] = {(char)(value >> 8), (char)value};
    ss_text_append_bytes(to, bytes, sizeof bytes);
}
static inline void ss_pack_32(ss_text *to, uint32_t value)
{
    ss_pack_16(to, value >> 16);
    ss_pack_16(to, value & 0xffff);
}
/* Appends the bytes deflated, in the format of zlib. */
void ss_pack_deflated(ss_text *to, const void *bytes, size_t size);

#endif
