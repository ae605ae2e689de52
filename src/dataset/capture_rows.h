/* dataset/capture_rows.h - a step as a solver by sequential impulses had it (Bullet), in single precision.
 *
 * The recorder only copies numbers of the engine into these records, one after the other; the frame is
 * computed from them by the process that writes it. For each body with inverse mass 1/m and inverse inertia
 * I^-1 and for each row J = (linear a, angular a, linear b, angular b) with the impulse x the engine solves
 *
 *     v+ = v + push + M^-1 J' x,    J (v+ - v - push) + (cfm / D) x = rhs / D,    lower <= x <= upper
 *
 * A message is a head and then records, each of which begins with its kind; bodies come before the rows that
 * name them by their number in the frame, 0, 1, 2 ... in the order of their records; -1 is the world.
 */
#ifndef SS_DATASET_CAPTURE_ROWS_H
#define SS_DATASET_CAPTURE_ROWS_H

#include "dataset/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_rows_head {
    double time, h;
    double gamma, joint_gamma; /* shares of an overlap or joint error that a step removes */
    int64_t iterations;
    char solver[64];
} ss_rows_head;

enum { SS_ROWS_BODY = 1, SS_ROWS_JOINT, SS_ROWS_CONTACT, SS_ROWS_SCENERY };
enum { SS_ROWS_ASLEEP = 1, SS_ROWS_HELD = 2 }; /* flags of a body; held: it does not move in some direction */

typedef struct ss_rows_body {
    int32_t kind, id, flags;
    float inverse_mass, position[3], rotation[9], inverse_inertia[9]; /* matrices row by row */
    float velocity[6], push[6], change[6]; /* before; by loads; by the impulses: v+ = v + push + change */
} ss_rows_body;

typedef struct ss_rows_joint { /* then `rows` of these below */
    int32_t kind, rows, a, b;
} ss_rows_joint;
typedef struct ss_rows_joint_row {
    float jacobian[12];
    float impulse, D, rhs, cfm, lower, upper; /* bounds are impulses */
} ss_rows_joint_row;

/* The normal is the direction of the first row and points from b to a. */
typedef struct ss_rows_contact { /* then a normal row, `frictions` (to 2) and `rollings` (to 3) rows */
    int32_t kind, frictions, rollings, a, b;
    float on_a[3], on_b[3], gap; /* the two points of the contact, world */
} ss_rows_contact;
typedef struct ss_rows_contact_row { /* J = (direction, turn_a, -direction, turn_b) */
    float direction[3], turn_a[3], turn_b[3];
    float impulse, friction, D, rhs, cfm;
} ss_rows_contact_row;

typedef struct ss_rows_scenery {
    int32_t kind, number;
    float position[3], rotation[9];
} ss_rows_scenery;

/* What cannot be in a frame as it is: a set of bits, and what to say of each. */
typedef unsigned ss_rows_notes;
enum { SS_ROWS_NOTES = 3 };
SS_INNER const char *ss_rows_note(int bit);

/* False: the bytes are not such a step. */
SS_INNER bool ss_capture_from_rows(const char *bytes, size_t length, ss_capture *capture,
                                   ss_rows_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
