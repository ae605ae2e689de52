/* dataset/ring.h - the last N records, each a block of bytes, in memory that is a file: what the process
 * has stored there outlives it, however it ends, without a system call per record.
 *
 *     page 0   "slipring", bytes per slot, slots, a word of the owner's
 *     slots    sequence (from 1; 0 = being written or empty), size, checksum (two words), bytes
 *
 * Record q is in slot q % slots. Words are as the machine stores them: a ring is read where it was
 * written. */
#ifndef SS_DATASET_RING_H
#define SS_DATASET_RING_H

#include <stickslip/base.h>

typedef struct ss_ring {
    char *path; /* NULL: memory of the process, which nothing outlives */
    int slots, wanted;
    double most_bytes; /* of all slots; there are fewer slots than wanted when that is not enough */
    uint64_t word;     /* the owner's */
    size_t slot_bytes, mapped;
    unsigned char *memory;
    uint64_t last; /* sequence of the newest record */
    int count;     /* records */
} ss_ring;

/* Larger records than before move the ring to larger slots. */
bool ss_ring_push(ss_ring *ring, const void *bytes, size_t size, ss_error *err);
/* Record i, from the oldest (0) to the newest (count - 1). */
const unsigned char *ss_ring_at(const ss_ring *ring, int i, size_t *size);
void ss_ring_clear(ss_ring *ring); /* forgets the records */
void ss_ring_free(ss_ring *ring);  /* and removes the file; does not release `path` */

/* A ring that a dead process has left: its whole records, oldest first, in memory of this process. */
bool ss_ring_read(const char *path, ss_ring *ring, ss_error *err);

#endif
