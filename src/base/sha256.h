/* base/sha256.h - SHA-256 (FIPS 180-4): the checksums that sha256sum prints and checks. */
#ifndef SS_BASE_SHA256_H
#define SS_BASE_SHA256_H

#include <stickslip/base.h>

#include "base/inner.h"

typedef struct ss_sha256 {
    uint32_t state[8];
    uint64_t bytes;            /* taken so far */
    unsigned char waiting[64]; /* bytes % 64 of them: the block that is not full yet */
} ss_sha256;

SS_INNER ss_sha256 ss_sha256_start(void);
SS_INNER void ss_sha256_add(ss_sha256 *sum, const void *bytes, size_t count);
/* 64 hex digits and a final zero. Nothing can be added afterwards. */
SS_INNER void ss_sha256_print(ss_sha256 *sum, char text[65]);
/* Of a whole file, read piece by piece. */
SS_INNER bool ss_sha256_file(const char *path, char text[65], ss_error *err);

#endif
