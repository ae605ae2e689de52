#include "dataset/packet.h"

#include "frame/fields.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { FRAME = 1, SCENERY, RESULT, NOTE };
static const uint64_t ABSENT = UINT64_MAX;

/* ---- in ----------------------------------------------------------------------------------------------- */

void ss_packet_clear(ss_packet *packet)
{
    packet->size = 0;
    packet->out_of_memory = false;
}

void ss_packet_free(ss_packet *packet)
{
    ss_release(packet->bytes);
    *packet = (ss_packet){0};
}

static void put(ss_packet *packet, const void *bytes, size_t size)
{
    if (size > packet->capacity - packet->size) {
        size_t room = 2 * packet->capacity + size + 4096;
        unsigned char *grown = ss_allocate(room, 1);
        if (!grown) {
            packet->out_of_memory = true;
            return;
        }
        if (packet->size) memcpy(grown, packet->bytes, packet->size);
        ss_release(packet->bytes);
        packet->bytes = grown;
        packet->capacity = room;
    }
    if (size) memcpy(packet->bytes + packet->size, bytes, size);
    packet->size += size;
}

static void put_word(ss_packet *packet, uint64_t word)
{
    put(packet, &word, sizeof word);
}

static void put_real(ss_packet *packet, double value)
{
    put(packet, &value, sizeof value);
}

static void put_array(ss_packet *packet, const void *array, size_t count, size_t size)
{
    put_word(packet, array ? (uint64_t)(count * size) : ABSENT);
    if (array) put(packet, array, count * size);
}

static void put_text(ss_packet *packet, const char *text)
{
    put_array(packet, text, text ? strlen(text) : 0, 1);
}

/* The size of a part is known when it ends. */
static size_t begin_part(ss_packet *packet, uint64_t kind)
{
    put_word(packet, kind);
    put_word(packet, 0);
    return packet->size;
}

static void end_part(ss_packet *packet, size_t start)
{
    uint64_t size = packet->size - start;
    if (!packet->out_of_memory) memcpy(packet->bytes + start - sizeof size, &size, sizeof size);
}

enum { FRAME_COUNTS = 11, ANSWER_ARRAYS = 9 };

void ss_packet_add_frame(ss_packet *packet, const ss_frame *frame)
{
    size_t start = begin_part(packet, FRAME);
    put_real(packet, frame->h);
    put_real(packet, frame->time);
    const ss_generalized *coordinates = &frame->generalized;
    const int counts[FRAME_COUNTS] = {frame->bodies.count,
                                      frame->constraints.count,
                                      frame->constraints.row_count,
                                      frame->contacts.count,
                                      frame->subcontacts.groups,
                                      frame->subcontacts.count,
                                      frame->constraints.further_count,
                                      coordinates->trees,
                                      coordinates->count,
                                      coordinates->map_count,
                                      coordinates->mass_count};
    for (int i = 0; i < FRAME_COUNTS; i++) put_word(packet, (uint64_t)counts[i]);
    for (int f = 0; f < ss_field_count; f++)
        put_array(packet, ss_field_data(&ss_fields[f], frame), (size_t)ss_field_items(&ss_fields[f], frame),
                  (size_t)ss_fields[f].width * ss_field_element_size(&ss_fields[f]));
    end_part(packet, start);
}

void ss_packet_add_scenery(ss_packet *packet, const ss_scenery *scenery)
{
    size_t start = begin_part(packet, SCENERY), count = (size_t)scenery->count;
    put_word(packet, count);
    put_array(packet, scenery->position, count, sizeof *scenery->position);
    put_array(packet, scenery->quaternion, count, sizeof *scenery->quaternion);
    end_part(packet, start);
}

/* The arrays of an answer: where they are, and how many numbers of what size they hold. */
typedef struct answer_array {
    void *slot; /* of the pointer */
    int count;
    size_t size;
} answer_array;
static void list_arrays(ss_answer *a, answer_array list[ANSWER_ARRAYS])
{
    const answer_array all[ANSWER_ARRAYS] = {
        {&a->velocity, a->bodies, sizeof *a->velocity},
        {&a->row_impulse, a->rows, sizeof *a->row_impulse},
        {&a->normal_impulse, a->contacts, sizeof *a->normal_impulse},
        {&a->friction_impulse, a->contacts, sizeof *a->friction_impulse},
        {&a->rolling_impulse, a->contacts, sizeof *a->rolling_impulse},
        {&a->selection, a->groups, sizeof *a->selection},
        {&a->sub_normal_impulse, a->subcontacts, sizeof *a->sub_normal_impulse},
        {&a->sub_friction_impulse, a->subcontacts, sizeof *a->sub_friction_impulse},
        {&a->generalized_velocity, a->coordinates, sizeof *a->generalized_velocity},
    };
    memcpy(list, all, sizeof all);
}

void ss_packet_add_result(ss_packet *packet, const ss_stored_result *result)
{
    size_t start = begin_part(packet, RESULT);
    put_text(packet, result->solver);
    put_text(packet, result->formulation);
    put_text(packet, result->with);
    put_word(packet, (uint64_t)(int64_t)result->iterations);
    put_real(packet, result->error);
    put_real(packet, result->seconds);
    put_array(packet, result->errors, (size_t)result->error_count, sizeof(double));

    put_word(packet, (uint64_t)result->measure_count);
    for (int m = 0; m < result->measure_count; m++) {
        put_text(packet, result->measures[m].name);
        put_array(packet, result->measures[m].values, (size_t)result->measures[m].count, sizeof(double));
    }

    put_word(packet, result->answer ? 1 : 0);
    if (result->answer) {
        ss_answer answer = *result->answer;
        answer_array list[ANSWER_ARRAYS];
        list_arrays(&answer, list);
        put_word(packet, (uint64_t)answer.groups);
        put_word(packet, (uint64_t)answer.subcontacts);
        for (int i = 0; i < ANSWER_ARRAYS; i++) {
            void *array;
            memcpy(&array, list[i].slot, sizeof array);
            put_array(packet, array, (size_t)list[i].count, list[i].size);
        }
    }
    end_part(packet, start);
}

void ss_packet_add_note(ss_packet *packet, const char *text)
{
    size_t start = begin_part(packet, NOTE);
    put_text(packet, text);
    end_part(packet, start);
}

/* ---- out ---------------------------------------------------------------------------------------------- */

/* What is left of a part; `bad` once something did not fit. */
typedef struct reading {
    const unsigned char *at;
    size_t left;
    bool bad, out_of_memory;
} reading;

static void get(reading *r, void *to, size_t size)
{
    if (size > r->left) r->bad = true;
    if (r->bad) {
        memset(to, 0, size);
        return;
    }
    memcpy(to, r->at, size);
    r->at += size;
    r->left -= size;
}

static uint64_t get_word(reading *r)
{
    uint64_t word;
    get(r, &word, sizeof word);
    return word;
}

static double get_real(reading *r)
{
    double value;
    get(r, &value, sizeof value);
    return value;
}

/* A number of items, each of which takes at least a byte of what is left. */
static int get_count(reading *r)
{
    uint64_t count = get_word(r);
    if (count > r->left || count > INT_MAX) r->bad = true;
    return r->bad ? 0 : (int)count;
}

/* An array into new memory with a zero byte behind it; NULL when it is absent. *bytes is its size. */
static void *get_array(reading *r, size_t *bytes)
{
    uint64_t size = get_word(r);
    *bytes = 0;
    if (r->bad || size == ABSENT) return NULL;
    if (size > r->left) r->bad = true;
    unsigned char *array = r->bad ? NULL : ss_allocate((size_t)size + 1, 1);
    r->out_of_memory |= !r->bad && !array;
    r->bad |= !array;
    if (!array) return NULL;
    get(r, array, (size_t)size);
    *bytes = (size_t)size;
    return array;
}

/* One of exactly this size, or absent. */
static void *get_exactly(reading *r, size_t count, size_t size)
{
    size_t bytes;
    void *array = get_array(r, &bytes);
    if (array && bytes != count * size) {
        r->bad = true;
        ss_release(array);
        return NULL;
    }
    return array;
}

static ss_frame *get_frame(reading *r)
{
    double h = get_real(r), time = get_real(r);
    int count[FRAME_COUNTS];
    for (int i = 0; i < FRAME_COUNTS; i++) count[i] = get_count(r);

    ss_frame *frame = r->bad ? NULL : ss_frame_create(count[0], count[1], count[2], count[3], NULL);
    r->out_of_memory |= !r->bad && !frame;
    if (frame && count[4] + count[5] > 0 && !ss_frame_add_alternatives(frame, count[4], count[5], NULL))
        r->out_of_memory = true;
    if (frame && count[6] > 0 && !ss_frame_add_further(frame, count[6], NULL)) r->out_of_memory = true;
    if (frame && count[8] > 0 &&
        !ss_frame_add_generalized(frame, count[7], count[8], count[9], count[10], NULL))
        r->out_of_memory = true;

    /* Arrays are in the order of the field table, each with its size before it. */
    for (int f = 0; frame && !r->bad && !r->out_of_memory && f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        char path[64];
        size_t bytes =
            (size_t)ss_field_items(field, frame) * (size_t)field->width * ss_field_element_size(field);
        uint64_t stored = get_word(r);
        if (stored == ABSENT) continue;
        snprintf(path, sizeof path, "%s/%s", field->group, field->name);
        if (stored != bytes) r->bad = true;
        if (!ss_field_data(field, frame) && !ss_frame_enable(frame, path, NULL)) r->out_of_memory = true;
        if (!r->bad && !r->out_of_memory) get(r, ss_field_data(field, frame), bytes);
    }

    if (frame) {
        frame->h = h;
        frame->time = time;
    }
    if (frame && !r->bad && !r->out_of_memory) return frame;
    r->bad = true;
    ss_frame_destroy(frame);
    return NULL;
}

static ss_scenery *get_scenery(reading *r)
{
    ss_scenery *scenery = ss_allocate(1, sizeof *scenery);
    r->out_of_memory |= !scenery;
    if (!scenery) return NULL;
    scenery->count = get_count(r);
    scenery->position = get_exactly(r, (size_t)scenery->count, sizeof *scenery->position);
    scenery->quaternion = get_exactly(r, (size_t)scenery->count, sizeof *scenery->quaternion);
    r->bad |= !scenery->position || !scenery->quaternion;
    return scenery;
}

static ss_stored_result *get_result(reading *r, const ss_frame *frame)
{
    size_t bytes;
    ss_stored_result *result = ss_allocate(1, sizeof *result);
    r->out_of_memory |= !result;
    if (!result) return NULL;
    result->solver = get_array(r, &bytes);
    result->formulation = get_array(r, &bytes);
    result->with = get_array(r, &bytes);
    result->iterations = (int)(int64_t)get_word(r);
    result->error = get_real(r);
    result->seconds = get_real(r);
    result->errors = get_array(r, &bytes);
    result->error_count = (int)(bytes / sizeof(double));

    int measures = get_count(r);
    result->measures = ss_allocate((size_t)measures, sizeof *result->measures);
    r->out_of_memory |= !result->measures;
    for (int m = 0; result->measures && !r->bad && m < measures; m++) {
        ss_measure *measure = &result->measures[result->measure_count++];
        measure->name = get_array(r, &bytes);
        measure->values = get_array(r, &bytes);
        measure->count = (int)(bytes / sizeof(double));
    }

    /* The answer, which is as large as the frame before it. */
    if (get_word(r) != 1 || r->bad) return result;
    result->answer = ss_allocate(1, sizeof *result->answer);
    r->out_of_memory |= !result->answer;
    if (!result->answer) return result;
    ss_answer *answer = result->answer;
    answer->bodies = frame->bodies.count;
    answer->rows = frame->constraints.row_count;
    answer->contacts = frame->contacts.count;
    answer->coordinates = frame->generalized.count;
    answer->groups = get_count(r);
    answer->subcontacts = get_count(r);
    r->bad |= answer->groups > frame->subcontacts.groups || answer->subcontacts > frame->subcontacts.count;

    answer_array list[ANSWER_ARRAYS];
    list_arrays(answer, list);
    for (int i = 0; !r->bad && i < ANSWER_ARRAYS; i++) {
        void *array = get_exactly(r, (size_t)list[i].count, list[i].size);
        memcpy(list[i].slot, &array, sizeof array);
    }
    r->bad |= (answer->groups > 0 && !answer->selection) ||
              (answer->subcontacts > 0 && (!answer->sub_normal_impulse || !answer->sub_friction_impulse)) ||
              (answer->coordinates > 0 && !answer->generalized_velocity);
    return result;
}

bool ss_packet_next(const unsigned char *bytes, size_t size, size_t *at, const ss_frame *frame,
                    ss_packet_part *part, ss_error *err)
{
    *part = (ss_packet_part){0};
    if (*at >= size) return false;
    reading r = {.at = bytes + *at, .left = size - *at};
    uint64_t kind = get_word(&r), length = get_word(&r);
    r.bad |= length > r.left;

    if (!r.bad) {
        r.left = (size_t)length;
        *at = (size_t)(r.at - bytes) + (size_t)length;
        size_t unused;
        if (kind == FRAME)
            part->frame = get_frame(&r);
        else if (kind == SCENERY)
            part->scenery = get_scenery(&r);
        else if (kind == RESULT && frame)
            part->result = get_result(&r, frame);
        else if (kind == NOTE)
            part->note = get_array(&r, &unused);
        else
            r.bad = true;
    }

    if (!r.bad && !r.out_of_memory) return true;
    ss_packet_part_free(part);
    return r.out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "flight recorder: out of memory for a step")
                           : ss_fail(err, SS_ERROR_INPUT, "flight recorder: a damaged step");
}

void ss_packet_part_free(ss_packet_part *part)
{
    ss_frame_destroy(part->frame);
    if (part->scenery) ss_scenery_free(part->scenery);
    if (part->result) ss_stored_result_free(part->result);
    ss_release(part->scenery);
    ss_release(part->result);
    ss_release(part->note);
    *part = (ss_packet_part){0};
}
