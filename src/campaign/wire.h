/* campaign/wire.h - the byte format between the processes of a campaign, all on one machine: values in the
 * order in which they are packed. Packing appends to a text, whose lack of memory is sticky; unpacking never
 * leaves the bytes it was given, and once it has met nonsense it stays `bad`. */
#ifndef SS_CAMPAIGN_WIRE_H
#define SS_CAMPAIGN_WIRE_H

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
