#include "dataset/h5_pages.h"

#include "base/digest.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct tail {
    char magic[8];
    uint64_t at, count, end, digest[2];
} tail;
static const char magic[8] = {'s', 'l', 'i', 'p', 's', 'e', 'a', 'l'};

/* ---- pages in memory -------------------------------------------------------------------------------- */

static size_t slot_of(const ss_h5_pages *pages, uint64_t number)
{
    size_t mask = 2 * (size_t)pages->capacity - 1;
    size_t slot = (size_t)ss_digest_scramble(number, SS_ROOT_2, SS_ROOT_3) & mask;
    while (pages->slots[slot] && pages->number[pages->slots[slot] - 1] != number) slot = (slot + 1) & mask;
    return slot;
}

unsigned char *ss_h5_pages_find(const ss_h5_pages *pages, uint64_t number)
{
    if (pages->count == 0) return NULL;
    int found = pages->slots[slot_of(pages, number)];
    return found ? pages->bytes[found - 1] : NULL;
}

static bool grow(ss_h5_pages *pages)
{
    if (pages->capacity > INT_MAX / 4) return false;
    size_t room = pages->capacity ? 2 * (size_t)pages->capacity : 64;
    ss_h5_pages grown = {.number = ss_allocate(room, sizeof *grown.number),
                         .bytes = ss_allocate(room, sizeof *grown.bytes),
                         .slots = ss_allocate(2 * room, sizeof *grown.slots),
                         .count = pages->count,
                         .capacity = (int)room};
    bool good = grown.number && grown.bytes && grown.slots;
    for (int p = 0; good && p < pages->count; p++) {
        grown.number[p] = pages->number[p];
        grown.bytes[p] = pages->bytes[p];
    }
    ss_h5_pages *old = good ? pages : &grown;
    ss_release(old->number);
    ss_release(old->bytes);
    ss_release(old->slots);
    if (!good) return false;

    *pages = grown;
    for (int p = 0; p < pages->count; p++) pages->slots[slot_of(pages, pages->number[p])] = p + 1;
    return true;
}

unsigned char *ss_h5_pages_add(ss_h5_pages *pages, uint64_t number)
{
    if (pages->count == pages->capacity && !grow(pages)) return NULL;
    unsigned char *bytes = ss_allocate(SS_H5_PAGE, 1);
    if (!bytes) return NULL;
    size_t slot = slot_of(pages, number);
    pages->number[pages->count] = number;
    pages->bytes[pages->count] = bytes;
    pages->slots[slot] = ++pages->count;
    return bytes;
}

void ss_h5_pages_free(ss_h5_pages *pages)
{
    for (int p = 0; p < pages->count; p++) ss_release(pages->bytes[p]);
    ss_release(pages->number);
    ss_release(pages->bytes);
    ss_release(pages->slots);
    *pages = (ss_h5_pages){0};
}

/* ---- on disk ---------------------------------------------------------------------------------------- */

static bool write_at(int descriptor, const void *bytes, size_t size, uint64_t offset)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t put = pwrite(descriptor, from, size, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = EIO;
        if (put <= 0) return false;
        from += put;
        offset += (uint64_t)put;
        size -= (size_t)put;
    }
    return true;
}

static bool read_at(int descriptor, void *bytes, size_t size, uint64_t offset)
{
    char *to = bytes;
    while (size > 0) {
        ssize_t got = pread(descriptor, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

static void add_words(ss_digest *digest, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + i, sizeof word);
        ss_digest_add(digest, word);
    }
}

static void sign(const ss_h5_pages *pages, tail *t)
{
    ss_digest digest = ss_digest_start();
    add_words(&digest, t, offsetof(tail, digest));
    for (int p = 0; p < pages->count; p++) {
        ss_digest_add(&digest, pages->number[p]);
        add_words(&digest, pages->bytes[p], SS_H5_PAGE);
    }
    t->digest[0] = digest.a;
    t->digest[1] = digest.b;
}

bool ss_h5_pages_append(const ss_h5_pages *pages, int descriptor, uint64_t at, uint64_t end)
{
    tail t = {.at = at, .count = (uint64_t)pages->count, .end = end};
    memcpy(t.magic, magic, sizeof magic);
    sign(pages, &t);
    size_t numbers = (size_t)pages->count * sizeof *pages->number;
    bool good = write_at(descriptor, pages->number, numbers, at);
    at += numbers;
    for (int p = 0; good && p < pages->count; p++, at += SS_H5_PAGE)
        good = write_at(descriptor, pages->bytes[p], SS_H5_PAGE, at);
    return good && write_at(descriptor, &t, sizeof t, at);
}

bool ss_h5_pages_apply(const ss_h5_pages *pages, int descriptor, uint64_t end)
{
    for (int p = 0; p < pages->count; p++) {
        uint64_t offset = pages->number[p] * SS_H5_PAGE;
        size_t size = offset >= end ? 0 : end - offset < SS_H5_PAGE ? (size_t)(end - offset) : SS_H5_PAGE;
        if (!write_at(descriptor, pages->bytes[p], size, offset)) return false;
    }
    return true;
}

bool ss_h5_pages_read(ss_h5_pages *pages, int descriptor, bool *found, uint64_t *end)
{
    *found = false;
    struct stat status;
    tail t, expected;
    if (fstat(descriptor, &status) != 0 || status.st_size < (off_t)sizeof t) return true;
    uint64_t size = (uint64_t)status.st_size;
    if (!read_at(descriptor, &t, sizeof t, size - sizeof t) || memcmp(t.magic, magic, sizeof magic) != 0)
        return true;

    // nothing is believed before it is known to fit: the file may come from anywhere
    const uint64_t each = sizeof(uint64_t) + SS_H5_PAGE;
    if (t.count > size / each || t.at > size || t.end > t.at || t.at + t.count * each + sizeof t != size)
        return true;

    for (uint64_t p = 0; p < t.count; p++) {
        uint64_t number;
        if (!read_at(descriptor, &number, sizeof number, t.at + p * sizeof number) ||
            number > t.at / SS_H5_PAGE || ss_h5_pages_find(pages, number)) {
            ss_h5_pages_free(pages);
            return true;
        }
        unsigned char *bytes = ss_h5_pages_add(pages, number);
        if (!bytes) {
            ss_h5_pages_free(pages);
            return false;
        }
        if (!read_at(descriptor, bytes, SS_H5_PAGE, t.at + t.count * sizeof number + p * SS_H5_PAGE)) {
            ss_h5_pages_free(pages);
            return true;
        }
    }
    expected = t;
    sign(pages, &expected);
    *found = memcmp(&t, &expected, sizeof t) == 0;
    if (*found)
        *end = t.end;
    else
        ss_h5_pages_free(pages);
    return true;
}
