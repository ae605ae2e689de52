/* bench/packing.h - plain values as bytes, for pipes between processes of one machine. Writing appends to a text, whose
 * lack of memory is sticky; reading never leaves the bytes it was given, and a reader that met nonsense stays `bad`. */
#ifndef SS_BENCH_PACKING_H
#define SS_BENCH_PACKING_H

#include "base/text.h"

void ss_pack_int(ss_text *to, int64_t value);
void ss_pack_real(ss_text *to, double value);
void ss_pack_text(ss_text *to, const char *text); /* NULL stays NULL */

typedef struct ss_unpacker {
    const char *at, *end;
    bool bad;
} ss_unpacker;

int64_t ss_unpack_int(ss_unpacker *from);
/* One of low .. high, or bad. */
int ss_unpack_within(ss_unpacker *from, int low, int high);
double ss_unpack_real(ss_unpacker *from);
/* A copy to be released; NULL was packed as such, or bad. */
char *ss_unpack_text(ss_unpacker *from);

#endif
