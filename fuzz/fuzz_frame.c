/* Frames in memory, without a file: sizes, optional arrays and values come from the input. Whatever they
 * are, a frame can be checked, hashed, summarised and copied; and a frame without faults becomes a
 * problem of every formulation, or is refused with a reason. */
#include "fuzz.h"

#include "frame/fields.h"

#include <stickslip/formulation.h>

/* Most frames have to get through the check, or nothing behind it is tried: values begin as those of a
 * frame that is good, and the input changes some. */
static void begin(ss_frame *frame)
{
    for (int b = 0; b < frame->bodies.count; b++) {
        frame->bodies.id[b] = b + 1;
        frame->bodies.mass[b] = 1;
        frame->bodies.quaternion[b][0] = 1;
        for (int k = 0; k < 3; k++) frame->bodies.inertia[b][4 * k] = 0.1;
    }
    for (int c = 0; c < frame->contacts.count; c++) {
        frame->contacts.pair[c][0] = -1;
        frame->contacts.pair[c][1] = c % frame->bodies.count;
        frame->contacts.normal[c][2] = 1;
    }
    for (int j = 0; j < frame->constraints.count; j++) {
        frame->constraints.pair[j][0] = -1;
        frame->constraints.pair[j][1] = j % frame->bodies.count;
        frame->constraints.rows[j] = 1;
    }
    for (int r = 0; r < frame->constraints.row_count; r++) frame->constraints.jacobian[r][6] = 1;
    frame->h = 0.01;
}

static void change(program *p, ss_frame *frame)
{
    const ss_field *field = &ss_fields[below(p, (unsigned)ss_field_count)];
    char path[64];
    snprintf(path, sizeof path, "%s/%s", field->group, field->name);
    if (field->optional && below(p, 4) == 0) ss_frame_enable(frame, path, NULL);
    void *data = ss_field_data(field, frame);
    int count = ss_field_items(field, frame) * field->width;
    if (!data || count == 0) return;
    double value = any_number(p);
    if (field->type != SS_FIELD_REAL) value = (int)below(p, 12) - (field->type == SS_FIELD_BYTE ? 0 : 4);
    ss_field_set(field, data, below(p, 256) % (size_t)count, value);
}

static void look_at(const ss_frame *frame)
{
    ss_error err = {0};
    ss_findings findings = {.limit = 50};
    char hash[33], again[33];
    bool good = ss_frame_check(frame, "fuzz", &findings);
    must(good == (findings.count_of[SS_FINDING_FAULT] == 0), "a frame is bad if and only if it has faults");
    ss_findings_free(&findings);
    ss_frame_hash(frame, hash);
    ss_frame_hash(frame, again);
    must(strcmp(hash, again) == 0, "a hash does not change");
    must(ss_frame_equal(frame, frame), "a frame is equal to itself");
    if (!good) return;
    ss_frame_summarise(frame);
    for (int f = 0; f < ss_formulation_count(); f++) {
        err = (ss_error){0};
        ss_problem *problem = ss_problem_from_frame(frame, ss_formulation_at(f), NULL, &err);
        must(problem || err.message[0], "a frame that is refused has a reason");
        ss_problem_destroy(problem);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    program p = {data, size};
    int bodies = 1 + (int)below(&p, 4), joints = (int)below(&p, 3), contacts = (int)below(&p, 5);
    ss_frame *frame = ss_frame_create(bodies, joints, joints, contacts, NULL);
    if (!frame) return 0;
    begin(frame);
    for (int i = 0; i < 40 && p.left > 0; i++) change(&p, frame);
    if (below(&p, 8) == 1) frame->h = any_number(&p);
    look_at(frame);
    ss_frame_destroy(frame);
    return 0;
}
