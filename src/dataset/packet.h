/* dataset/packet.h - a step as one block of bytes: what the flight recorder keeps of it, and gives back.
 *
 *     parts: kind (u64: frame, scenery, result, note), size of the rest (u64), the rest
 *
 * Arrays are as in memory, each after a word that says how many bytes follow, or that it is absent. */
#ifndef SS_DATASET_PACKET_H
#define SS_DATASET_PACKET_H

#include <stickslip/dataset.h>

typedef struct ss_packet {
    unsigned char *bytes;
    size_t size, capacity;
    bool out_of_memory; /* something is missing; stays until the packet is cleared */
} ss_packet;

void ss_packet_clear(ss_packet *packet);
void ss_packet_free(ss_packet *packet);
void ss_packet_add_frame(ss_packet *packet, const ss_frame *frame);
void ss_packet_add_scenery(ss_packet *packet, const ss_scenery *scenery);
void ss_packet_add_result(ss_packet *packet, const ss_stored_result *result);
void ss_packet_add_note(ss_packet *packet, const char *text);

/* One part after the other. Nothing is believed: the bytes may come from a file. Exactly one of the
 * members is set, and belongs to the part: ss_part_free. */
typedef struct ss_packet_part {
    ss_frame *frame;
    ss_scenery *scenery;
    ss_stored_result *result;
    char *note;
} ss_packet_part;
/* Goes on at *at, 0 at first; false at the end, or with err->code set. `frame` is that of the step, which
 * results need; NULL at first. */
bool ss_packet_next(const unsigned char *bytes, size_t size, size_t *at, const ss_frame *frame,
                    ss_packet_part *part, ss_error *err);
void ss_packet_part_free(ss_packet_part *part);

#endif
