/* Frames that no physics would make, for round trips: every array holds numbers that a careless copy would
 * change. */
#ifndef STICKSLIP_TEST_RANDOM_FRAME_H
#define STICKSLIP_TEST_RANDOM_FRAME_H

#include <stickslip/frame.h>

#include "frame/fields.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Alternatives, further blocks of rows and generalised coordinates, with the joints that these imply, come
 * all at once or not at all. */
static inline bool random_frame_chooses(const ss_field *field)
{
    bool alone = strcmp(field->group, "subcontacts") != 0 && strcmp(field->group, "generalized") != 0 &&
                 strcmp(field->name, "implied") != 0 && field->per != SS_PER_FURTHER;
    return field->optional && alone;
}

static inline int random_frame_optional_count(void)
{
    int count = 0;
    for (int f = 0; f < ss_field_count; f++) count += random_frame_chooses(&ss_fields[f]);
    return count;
}

/* Any number; one in three is a special one. */
static inline double random_frame_number(ss_random *random)
{
    static const double special[] = {NAN,           0.0,     -0.0,    INFINITY, -INFINITY, DBL_TRUE_MIN,
                                     -DBL_TRUE_MIN, DBL_MIN, DBL_MAX, -1e308,   1.0 / 3.0, DBL_EPSILON};
    const int count = sizeof special / sizeof special[0];
    if (ss_random_below(random, 3) == 0) return special[ss_random_below(random, count)];
    return ldexp(ss_random_between(random, -1, 1), ss_random_below(random, 200) - 100);
}

static inline void random_frame_fill(ss_random *random, const ss_field *field, ss_frame *frame)
{
    void *data = ss_field_data(field, frame);
    int items = ss_field_items(field, frame), count = items * field->width;
    for (int i = 0; data && i < count; i++) {
        double value = random_frame_number(random);
        if (field->type == SS_FIELD_PAIR) value = ss_random_below(random, frame->bodies.count + 1) - 1;
        if (field->type == SS_FIELD_INT) value = ss_random_below(random, 2001) - 1000;
        if (field->type == SS_FIELD_BYTE) value = ss_random_below(random, 2);
        if (field->type == SS_FIELD_COUNT) continue; // has to fit the rows
        ss_field_set(field, data, (size_t)i, value);
    }
}

/* Ids in no order, unique, > 0. */
static inline void random_frame_ids(ss_random *random, ss_bodies *bodies)
{
    for (int b = 0; b < bodies->count; b++) bodies->id[b] = 1 + 7 * b;
    for (int b = bodies->count - 1; b > 0; b--) {
        int other = ss_random_below(random, b + 1);
        int32_t id = bodies->id[b];
        bodies->id[b] = bodies->id[other];
        bodies->id[other] = id;
    }
}

/* Bit k of `optional` says whether the k-th optional array is there, if it has any items: a file does not
 * keep empty groups. NULL when out of memory. */
static inline ss_frame *random_frame_create(ss_random *random, int bodies, int joints, int contacts,
                                            unsigned optional)
{
    int rows = joints ? joints + ss_random_below(random, 4) : 0;
    ss_frame *frame = ss_frame_create(bodies, joints, rows, contacts, NULL);
    if (!frame) return NULL;
    // alternatives come all at once, in every second frame
    bool alternatives = contacts > 0 && (optional ^ optional >> 5) & 1;
    if (alternatives &&
        (!ss_frame_add_alternatives(frame, 1 + (int)(optional % 3), (int)(optional % 4), NULL) ||
         (optional % 8 > 4 && optional % 4 > 0 &&
          !ss_frame_enable(frame, "subcontacts/surface_velocities", NULL)))) {
        ss_frame_destroy(frame);
        return NULL;
    }
    int bit = 0;
    for (int f = 0; f < ss_field_count; f++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", ss_fields[f].group, ss_fields[f].name);
        bool wanted = random_frame_chooses(&ss_fields[f]) && (optional >> bit++ & 1);
        if (wanted && ss_field_items(&ss_fields[f], frame) > 0) ss_frame_enable(frame, path, NULL);
        random_frame_fill(random, &ss_fields[f], frame);
    }
    random_frame_ids(random, &frame->bodies);
    for (int j = 0; j < joints; j++) frame->constraints.rows[j] = 1;
    if (joints) frame->constraints.rows[joints - 1] += rows - joints;
    frame->h = ldexp(ss_random_between(random, 1, 2), -8);
    frame->time = ss_random_below(random, 2) ? ss_random_real(random) : NAN;
    return frame;
}

#endif
