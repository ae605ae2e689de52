/* The 128-bit name of a problem.
 *
 * What counts: h and every array, but for labels that no solver sees: time and ids are left out, and of a
 * state only whether it is live. An optional array that says the same as its absence (ss_field_default) is
 * left out too, so that a later version may add optional arrays without changing the hash of an older frame.
 *
 * How: numbers become 64-bit words that do not depend on the machine: a double its IEEE bits with -0 as 0 and
 * every NaN as one NaN, a whole number its two's complement. Each array is hashed by itself, starting from
 * its path and its length; the digests are added, so their order does not matter, and the sum is scrambled
 * once more. */
#include "frame/fields.h"

#include "base/digest.h"

static ss_digest digest_start(const char *group, const char *name, size_t length)
{
    ss_digest d = ss_digest_start();
    ss_digest_add_text(&d, group);
    ss_digest_add_text(&d, name);
    ss_digest_add(&d, length);
    return d;
}

static uint64_t word_of_field(const ss_field *field, const void *data, size_t index)
{
    switch (field->type) {
    case SS_FIELD_REAL:
        return ss_digest_word(((const double *)data)[index]);
    case SS_FIELD_INT:
        return (uint64_t)((const int32_t *)data)[index];
    case SS_FIELD_COUNT:
    case SS_FIELD_PAIR:
        return (uint64_t)((const int *)data)[index];
    case SS_FIELD_BYTE:
        return ((const uint8_t *)data)[index];
    }
    return 0;
}

static bool says_nothing(const ss_field *field, const ss_frame *frame, const void *data)
{
    size_t items = (size_t)ss_field_items(field, frame), width = (size_t)field->width;
    double values[SS_FIELD_WIDTH];
    for (size_t i = 0; i < items; i++) {
        ss_field_default(field, frame, (int)i, values);
        for (size_t k = 0; k < width; k++)
            if (ss_digest_word(ss_field_get(field, data, i * width + k)) != ss_digest_word(values[k]))
                return false;
    }
    return true;
}

void ss_frame_hash(const ss_frame *frame, char text[33])
{
    ss_digest total = digest_start("", "timestep", 1);
    ss_digest_add(&total, ss_digest_word(frame->h));
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *data = ss_field_data(field, frame);
        size_t length = (size_t)ss_field_items(field, frame) * (size_t)field->width;
        if (!data || length == 0 || field->offset == offsetof(ss_frame, bodies.id)) continue;
        if (field->optional && says_nothing(field, frame, data)) continue;

        ss_digest d = digest_start(field->group, field->name, length);
        bool is_state = field->offset == offsetof(ss_frame, bodies.state);
        for (size_t i = 0; i < length; i++)
            ss_digest_add(&d, is_state ? ((const int32_t *)data)[i] > 0 : word_of_field(field, data, i));
        total.a += d.a;
        total.b += d.b;
    }
    ss_digest_print(&total, text);
}
