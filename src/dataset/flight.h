/* dataset/flight.h - the flight recorder of a writer: a ring of packed steps, and when to write it. */
#ifndef SS_DATASET_FLIGHT_H
#define SS_DATASET_FLIGHT_H

#include "dataset/packet.h"
#include "dataset/ring.h"

enum { SS_TRIPS = SS_OPTION_LIST_MOST, SS_REASON = 200 };

typedef struct ss_trip {
    int quantity; /* of flight.c; metrics come after those */
    bool below;   /* trips below `limit`, not above */
    double limit;
} ss_trip;

typedef struct ss_flight {
    ss_ring ring;
    ss_trip trip[SS_TRIPS];
    int trip_count;
    int after, most_trips;
    int signal_number; /* 0: none */
    int signals_seen;

    ss_packet step;         /* being added to */
    const ss_frame *frame;  /* of that step; NULL: none */
    int results;            /* added to it so far */
    char reason[SS_REASON]; /* why it trips; "" = it does not */
    int trips;              /* so far */
    int steps_to_dump;      /* -1: none is due */
    int steps_to_rest;      /* steps before it may trip again */
} ss_flight;

/* path: of the ring's file, kept; NULL: none. Fails on trips that are not known. */
ss_flight *ss_flight_create(const ss_recording_options *options, char *path, uint64_t word, ss_error *err);
void ss_flight_destroy(ss_flight *flight); /* with its file; NULL is allowed */

void ss_flight_frame(ss_flight *flight, const ss_frame *frame);
bool ss_flight_result(ss_flight *flight, const ss_stored_result *result, ss_error *err);
/* Ends the step, if one was begun; *due says that the ring has to be written. */
bool ss_flight_end_step(ss_flight *flight, bool *due, ss_error *err);

#endif
