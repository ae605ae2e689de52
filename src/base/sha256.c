#include "base/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void take_block(ss_sha256 *sum, const unsigned char *block)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);

    memcpy(s, sum->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t first = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                         constants[i] + w[i];
        uint32_t second =
            (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++) sum->state[i] += s[i];
}

ss_sha256 ss_sha256_start(void)
{
    return (ss_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                                 0x1f83d9ab, 0x5be0cd19}};
}

void ss_sha256_add(ss_sha256 *sum, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        size_t there = (size_t)(sum->bytes % 64), room = 64 - there, part = count < room ? count : room;
        memcpy(sum->waiting + there, at, part);
        sum->bytes += part;
        at += part;
        count -= part;
        if (there + part == 64) take_block(sum, sum->waiting);
    }
}

void ss_sha256_print(ss_sha256 *sum, char text[65])
{
    // A one, zeros, and the number of bits fill the last block.
    unsigned char length[8];
    uint64_t bits = 8 * sum->bytes;
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    ss_sha256_add(sum, "\x80", 1);
    while (sum->bytes % 64 != 56) ss_sha256_add(sum, "", 1);
    ss_sha256_add(sum, length, 8);
    for (int i = 0; i < 8; i++) snprintf(text + 8 * i, 9, "%08x", (unsigned)sum->state[i]);
}

bool ss_sha256_file(const char *path, char text[65], ss_error *err)
{
    unsigned char bytes[65536];
    ss_sha256 sum = ss_sha256_start();
    FILE *file = fopen(path, "rb");
    if (!file) return ss_fail(err, SS_ERROR_INPUT, "%s: %s", path, strerror(errno));
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, file)) > 0;) ss_sha256_add(&sum, bytes, count);
    bool good = !ferror(file) || ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read", path);
    fclose(file);
    ss_sha256_print(&sum, text);
    return good;
}
