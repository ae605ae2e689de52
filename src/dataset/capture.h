/* dataset/capture.h - one step of another engine while it is being recorded, and its way to the file.
 *
 * The recorders (recorders/) fill a capture: what the engine is about to solve, then its own answer. A
 * capture goes to a file (ss_capture_write), or as bytes through shared memory (ss_capture_send) to a
 * process that writes it: `stickslip record`. The recorded program then needs no HDF5, hardly waits, and
 * may die at any moment without taking the recording along. capture.c, capture_stream.c and channel.c need
 * only src/base and src/frame/fields.c; both ends are one build of this library, so that the bytes are
 * those in memory.
 *
 *     ss_capture_begin(c, time, h);
 *     int b = ss_capture_body(c, id);           then fill c->frame.bodies.xxx[b]
 *     int j = ss_capture_joint(c, a, b, rows);  then fill the rows from c->frame.constraints.row_count - rows
 *     int k = ss_capture_contact(c, a, b);      then fill c->frame.contacts.xxx[k]
 *     ... the engine's step; the arrays of c->answer have the sizes of the frame
 */
#ifndef SS_DATASET_CAPTURE_H
#define SS_DATASET_CAPTURE_H

#include <stickslip/dataset.h>

#include "base/inner.h"
#include "dataset/channel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What ODE's rules make of a plain contact: one that has only a point, a normal, a gap and friction, between
 * bodies that are not kinematic. Its tangent, compliance and surface velocity are computed where the frame is
 * written (ss_capture_complete), not in the program that is recorded. */
typedef struct ss_capture_plain {
    bool used; /* contacts without a tangent are plain ones */
    bool only; /* there are no others: their arrays are as they were */
    double erp, cfm, layer, max_speed;
    double gamma; /* the ERP as the rules have it, 0 to 1 */
} ss_capture_plain;

typedef struct ss_capture {
    ss_frame frame;   /* every array is there except mu_static, damping, adhesion and those of lists */
    ss_answer answer; /* of the engine's own solver; no alternatives */
    bool has_rolling; /* answer.rolling_impulse counts */
    bool has_arms;    /* frame.contacts.lever_arm counts */
    /* frame.generalized, constraints.implied and answer.generalized_velocity count */
    bool has_coordinates;
    ss_scenery scenery;
    ss_capture_plain plain;
    int dirty_contacts; /* the first of them may hold other values than the defaults */
    int body_room, joint_room, row_room, contact_room, scenery_room;
    int tree_room, coordinate_room, map_row_room, map_room, mass_room;
    bool out_of_memory; /* something is missing: the frame must not be written */
    char solver[64];    /* "ODE_quickstep": the group of the result */
    /* the rules of the engine's solver, as in ss_stored_result */
    char formulation[32], with[256];
    int iterations; /* -1: not known */
} ss_capture;

/* Arrays are kept from step to step; ss_capture_free leaves an empty capture. */
SS_INNER void ss_capture_begin(ss_capture *capture, double time, double h);
SS_INNER void ss_capture_free(ss_capture *capture);
/* Each returns the number of the new item, whose arrays hold the defaults of frame.h, or -1 when out of
 * memory. Contacts have no tangent until one is set. */
SS_INNER int ss_capture_body(ss_capture *capture, int id);
SS_INNER int ss_capture_joint(ss_capture *capture, int a, int b, int rows);
SS_INNER int ss_capture_contact(ss_capture *capture, int a, int b);
SS_INNER int ss_capture_scenery(ss_capture *capture, const double position[3], const double quaternion[4]);
/* Room for generalised coordinates of the bodies so far, whose arrays are then to be filled; the counts
 * may be made smaller. False when out of memory. */
SS_INNER bool ss_capture_coordinates(ss_capture *capture, int trees, int coordinates, int map_entries,
                                     int mass_entries);
/* Computes what was left for later; nothing if nothing was. */
SS_INNER void ss_capture_complete(ss_capture *capture);
/* The term of gap_term=stabilised, m/s. */
SS_INNER double ss_capture_gap_term(double gap, double gamma, double slop, double h);
/* The first tangent that ODE takes without fdir1. */
SS_INNER void ss_capture_first_tangent(const double normal[3], double tangent[3]);
/* The frame without the optional arrays that only hold their defaults. Its arrays are the capture's. */
SS_INNER ss_frame ss_capture_view(const ss_capture *capture);

/* ---- to a file ---------------------------------------------------------------------------------------- */

/* Checks the frame and writes it with the engine's answer. A frame with faults is not written: false, with
 * code SS_ERROR_INPUT and the first fault; the writer is fine then. */
SS_INNER bool ss_capture_write(const ss_capture *capture, ss_writer *writer, ss_error *err);

/* ---- to another process ----------------------------------------------------------------------------- */

typedef enum ss_capture_kind {
    SS_MESSAGE_HELLO = 1, /* ss_capture_hello, then two texts: toolkit and description */
    SS_MESSAGE_FRAME,     /* a capture */
    SS_MESSAGE_ROWS,      /* a step as its solver had it: dataset/capture_rows.h */
    SS_MESSAGE_SHAPE,     /* ss_stored_shape, the size of its mesh, vertices, triangles */
    SS_MESSAGE_NOTE,      /* a text for the person who records */
    SS_MESSAGE_REFUSAL,   /* a text: why nothing is recorded */
    SS_MESSAGE_END,       /* ss_capture_end, of every process that the program consists of */
} ss_capture_kind;

typedef struct ss_capture_hello {
    int32_t abi;       /* SS_ABI of the sender */
    int32_t head_size; /* sizeof(ss_frame_head), so that two builds never misunderstand each other */
    double gravity[3]; /* m/s^2 */
} ss_capture_hello;

typedef struct ss_capture_end {
    int64_t steps;  /* of this process */
    int64_t loaded; /* 1: the engine's shared library was there */
} ss_capture_end;

/* All false: the other end is gone. */
bool ss_capture_send_hello(ss_channel *channel, const double gravity[3], const char *toolkit,
                           const char *description);
bool ss_capture_send(ss_channel *channel, const ss_capture *capture);
bool ss_capture_send_bytes(ss_channel *channel, ss_capture_kind kind, const void *bytes, size_t length);
bool ss_capture_send_shape(ss_channel *channel, const ss_stored_shape *shape);
bool ss_capture_send_text(ss_channel *channel, ss_capture_kind kind, const char *text);
bool ss_capture_send_end(ss_channel *channel, int64_t steps, bool loaded);

/* The message of a frame, unpacked into `capture`; false: the bytes are not a frame. */
SS_INNER bool ss_capture_unpack(const char *bytes, size_t length, ss_capture *capture);
/* The message of a shape; its mesh (may be NULL) is the caller's to destroy. */
SS_INNER bool ss_capture_unpack_shape(const char *bytes, size_t length, ss_stored_shape *shape,
                                      ss_mesh **mesh);

#ifdef __cplusplus
}
#endif
#endif
