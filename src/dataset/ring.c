#define _GNU_SOURCE
#include "dataset/ring.h"

#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 4096, SLOT_HEAD = 32 };
static const char magic[8] = {'s', 'l', 'i', 'p', 'r', 'i', 'n', 'g'};

typedef struct ring_head {
    char magic[8];
    uint64_t slot_bytes, slots, word;
} ring_head;
typedef struct slot_head {
    uint64_t sequence, size, check[2];
} slot_head;

/* Four independent chains, so that it costs little more than reading. */
static void checksum(uint64_t sequence, const unsigned char *bytes, size_t size, uint64_t check[2])
{
    uint64_t lane[4] = {sequence, size, SS_ROOT_2, SS_ROOT_3};
    size_t i = 0;
    for (; i + 32 <= size; i += 32) {
        uint64_t word[4];
        memcpy(word, bytes + i, sizeof word);
        for (int k = 0; k < 4; k++) {
            lane[k] = (lane[k] ^ word[k]) * SS_ROOT_5;
            lane[k] ^= lane[k] >> 29;
        }
    }
    for (; i < size; i++) lane[i % 4] = (lane[i % 4] ^ bytes[i]) * SS_ROOT_7;
    ss_digest digest = ss_digest_start();
    for (int k = 0; k < 4; k++) ss_digest_add(&digest, lane[k]);
    check[0] = digest.a;
    check[1] = digest.b;
}

static unsigned char *slot_of(const ss_ring *ring, uint64_t sequence)
{
    return ring->memory + HEAD + (size_t)(sequence % (uint64_t)ring->slots) * ring->slot_bytes;
}

static void store(ss_ring *ring, uint64_t sequence, const void *bytes, size_t size)
{
    unsigned char *slot = slot_of(ring, sequence);
    slot_head head = {.size = size}, none = {0};
    // a process that dies here leaves a slot that says so
    memcpy(slot, &none, sizeof none);
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(slot + SLOT_HEAD, bytes, size);
    checksum(sequence, bytes, size, head.check);
    memcpy(slot, &head, sizeof head);
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(slot, &sequence, sizeof sequence);
}

const unsigned char *ss_ring_at(const ss_ring *ring, int i, size_t *size)
{
    const unsigned char *slot = slot_of(ring, ring->last - (uint64_t)(ring->count - 1 - i));
    slot_head head;
    memcpy(&head, slot, sizeof head);
    *size = (size_t)head.size;
    return slot + SLOT_HEAD;
}

void ss_ring_clear(ss_ring *ring)
{
    const slot_head none = {0};
    for (int i = 0; ring->memory && i < ring->slots; i++)
        memcpy(ring->memory + HEAD + (size_t)i * ring->slot_bytes, &none, sizeof none);
    ring->count = 0;
}

/* The disk must have room for all of it before it is memory: a page without would be a fatal signal. */
static unsigned char *map_file(const char *path, size_t bytes)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return NULL;
    int failure = posix_fallocate(descriptor, 0, (off_t)bytes);
    void *memory =
        failure ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (!failure) failure = errno;
    close(descriptor);
    if (memory != MAP_FAILED) return memory;
    unlink(path);
    errno = failure;
    return NULL;
}

/* Larger slots. The old file stays until the new one holds everything. */
static bool resize(ss_ring *ring, size_t size, ss_error *err)
{
    ss_ring grown = *ring;
    size_t needed = size + size / 4 + SLOT_HEAD;
    grown.slot_bytes = (needed + 63) / 64 * 64;
    double affordable = ring->most_bytes / (double)grown.slot_bytes;
    grown.slots = affordable < ring->wanted ? (int)affordable : ring->wanted;
    if (grown.slots < 1)
        return ss_fail(err, SS_ERROR_RESOURCES, "flight recorder: a step of %zu bytes is more than the limit",
                       size);
    grown.mapped = HEAD + (size_t)grown.slots * grown.slot_bytes;
    char other[PATH_MAX];
    if (ring->path && snprintf(other, sizeof other, "%s.new", ring->path) >= (int)sizeof other)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: the name is too long", ring->path);
    if (ring->path) {
        grown.memory = map_file(other, grown.mapped);
    } else {
        void *memory = mmap(NULL, grown.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        grown.memory = memory == MAP_FAILED ? NULL : memory;
    }
    if (!grown.memory)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: no room for %d steps of the flight recorder: %s",
                       ring->path ? other : "memory", grown.slots, strerror(errno));

    ring_head head = {.slot_bytes = grown.slot_bytes, .slots = (uint64_t)grown.slots, .word = ring->word};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(grown.memory, &head, sizeof head);
    if (grown.count > grown.slots) grown.count = grown.slots;
    for (int i = ring->count - grown.count; i < ring->count; i++) {
        size_t bytes;
        const unsigned char *record = ss_ring_at(ring, i, &bytes);
        store(&grown, ring->last - (uint64_t)(ring->count - 1 - i), record, bytes);
    }
    if (ring->path && rename(other, ring->path) != 0) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s", ring->path, strerror(errno));
        munmap(grown.memory, grown.mapped);
        unlink(other);
        return false;
    }
    if (ring->memory) munmap(ring->memory, ring->mapped);
    *ring = grown;
    return true;
}

bool ss_ring_push(ss_ring *ring, const void *bytes, size_t size, ss_error *err)
{
    if ((!ring->memory || size + SLOT_HEAD > ring->slot_bytes) && !resize(ring, size, err)) return false;
    store(ring, ++ring->last, bytes, size);
    if (ring->count < ring->slots) ring->count++;
    return true;
}

void ss_ring_free(ss_ring *ring)
{
    if (ring->memory) munmap(ring->memory, ring->mapped);
    if (ring->memory && ring->path) unlink(ring->path);
    ring->memory = NULL;
    ring->count = 0;
}

/* ---- what a dead process has left --------------------------------------------------------------------- */

static bool is_whole(const unsigned char *slot, size_t room, slot_head *head)
{
    uint64_t check[2];
    memcpy(head, slot, sizeof *head);
    if (head->sequence == 0 || head->size > room - SLOT_HEAD) return false;
    checksum(head->sequence, slot + SLOT_HEAD, (size_t)head->size, check);
    return check[0] == head->check[0] && check[1] == head->check[1];
}

bool ss_ring_read(const char *path, ss_ring *ring, ss_error *err)
{
    *ring = (ss_ring){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read", path);
        if (descriptor >= 0) close(descriptor);
        return false;
    }
    size_t size = (size_t)status.st_size;
    void *memory =
        size < HEAD ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    ring_head head = {0};
    if (memory != MAP_FAILED) memcpy(&head, memory, sizeof head);
    bool good = memory != MAP_FAILED && memcmp(head.magic, magic, sizeof magic) == 0 &&
                head.slot_bytes > SLOT_HEAD && head.slot_bytes < size && head.slots >= 1 &&
                head.slots < INT_MAX && head.slots <= (size - HEAD) / head.slot_bytes;
    if (!good) {
        if (memory != MAP_FAILED) munmap(memory, size);
        return ss_fail(err, SS_ERROR_INPUT, "%s: not a flight recorder's memory, or damaged", path);
    }
    *ring = (ss_ring){.slots = (int)head.slots,
                      .slot_bytes = (size_t)head.slot_bytes,
                      .word = head.word,
                      .memory = memory,
                      .mapped = size};

    // the newest whole record, and those before it without a break
    slot_head slot;
    for (int i = 0; i < ring->slots; i++)
        if (is_whole(ring->memory + HEAD + (size_t)i * ring->slot_bytes, ring->slot_bytes, &slot) &&
            slot.sequence % head.slots == (uint64_t)i && slot.sequence > ring->last)
            ring->last = slot.sequence;
    while (ring->count < ring->slots && (uint64_t)ring->count < ring->last &&
           is_whole(slot_of(ring, ring->last - (uint64_t)ring->count), ring->slot_bytes, &slot) &&
           slot.sequence == ring->last - (uint64_t)ring->count)
        ring->count++;
    return true;
}
