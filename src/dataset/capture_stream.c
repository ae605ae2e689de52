/* A captured step as bytes: a head with the counts, then the arrays in the order of fields.def, scenery and
 * answer, each as it is in memory. Only the two ends of one build on one machine speak to each other
 * (ss_capture_hello); the receiver trusts no length all the same, because the program that is recorded may
 * have written over the sender's memory. */
#include "dataset/capture.h"

#include "frame/fields.h"

#include <string.h>
#include <sys/uio.h>

typedef struct ss_frame_head {
    double h, time;
    int32_t bodies, joints, rows, contacts, scenery, iterations;
    int32_t trees, coordinates, map_entries, mass_entries;
    uint64_t present; /* bit f: field f of the frame follows */
    int32_t has_rolling;
    ss_capture_plain plain;
    char solver[64], formulation[32], with[256];
} ss_frame_head;

enum { PARTS = 96 }; /* arrays of one message, at most */

typedef struct parcel {
    struct iovec part[PARTS];
    int count;
} parcel;

static void put(parcel *p, const void *bytes, size_t length)
{
    if (length > 0) p->part[p->count++] = (struct iovec){(void *)(uintptr_t)bytes, length};
}

static bool deliver(ss_channel *channel, ss_capture_kind kind, const parcel *p)
{
    return ss_channel_send(channel, (uint32_t)kind, p->part, p->count, 0.0);
}

bool ss_capture_send_hello(ss_channel *channel, const double gravity[3], const char *toolkit,
                           const char *description)
{
    ss_capture_hello hello = {SS_ABI, (int32_t)sizeof(ss_frame_head), {gravity[0], gravity[1], gravity[2]}};
    parcel p;
    p.count = 0;
    put(&p, &hello, sizeof hello);
    put(&p, toolkit, strlen(toolkit) + 1);
    put(&p, description, strlen(description) + 1);
    return deliver(channel, SS_MESSAGE_HELLO, &p);
}

bool ss_capture_send_bytes(ss_channel *channel, ss_capture_kind kind, const void *bytes, size_t length)
{
    parcel p;
    p.count = 0;
    put(&p, bytes, length);
    return deliver(channel, kind, &p);
}

bool ss_capture_send_text(ss_channel *channel, ss_capture_kind kind, const char *text)
{
    return ss_capture_send_bytes(channel, kind, text, strlen(text) + 1);
}

bool ss_capture_send_end(ss_channel *channel, int64_t steps, bool loaded)
{
    ss_capture_end end = {steps, loaded};
    parcel p;
    p.count = 0;
    put(&p, &end, sizeof end);
    return ss_channel_send(channel, SS_MESSAGE_END, p.part, p.count,
                           1.0); // a program that ends waits a second
}

bool ss_capture_send_shape(ss_channel *channel, const ss_stored_shape *shape)
{
    const ss_mesh *mesh = shape->shape.mesh;
    int32_t size[2] = {mesh ? mesh->vertex_count : 0, mesh ? mesh->face_count : 0};
    parcel p;
    p.count = 0;
    put(&p, shape, sizeof *shape);
    put(&p, size, sizeof size);
    if (mesh) put(&p, mesh->vertex, (size_t)size[0] * sizeof *mesh->vertex);
    if (mesh) put(&p, mesh->face, (size_t)size[1] * sizeof *mesh->face);
    return deliver(channel, SS_MESSAGE_SHAPE, &p);
}

bool ss_capture_send(ss_channel *channel, const ss_capture *c)
{
    if (c->out_of_memory) return true; // this step is lost, the others are not
    ss_frame view = ss_capture_view(c);
    ss_frame_head head = {.h = view.h,
                          .time = view.time,
                          .bodies = view.bodies.count,
                          .joints = view.constraints.count,
                          .rows = view.constraints.row_count,
                          .contacts = view.contacts.count,
                          .scenery = c->scenery.count,
                          .iterations = c->iterations,
                          .trees = view.generalized.trees,
                          .coordinates = view.generalized.count,
                          .map_entries = view.generalized.map_count,
                          .mass_entries = view.generalized.mass_count,
                          .has_rolling = c->has_rolling,
                          .plain = c->plain};
    memcpy(head.solver, c->solver, sizeof head.solver);
    memcpy(head.formulation, c->formulation, sizeof head.formulation);
    memcpy(head.with, c->with, sizeof head.with);
    parcel p;
    p.count = 0;
    put(&p, &head, sizeof head);
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *data = ss_field_data(field, &view);
        if (!data) continue;
        head.present |= (uint64_t)1 << f;
        put(&p, data,
            (size_t)ss_field_items(field, &view) * (size_t)field->width * ss_field_element_size(field));
    }
    put(&p, c->scenery.position, (size_t)head.scenery * sizeof *c->scenery.position);
    put(&p, c->scenery.quaternion, (size_t)head.scenery * sizeof *c->scenery.quaternion);
    const ss_answer *answer = &c->answer;
    put(&p, answer->velocity, (size_t)head.bodies * sizeof *answer->velocity);
    put(&p, answer->row_impulse, (size_t)head.rows * sizeof *answer->row_impulse);
    put(&p, answer->normal_impulse, (size_t)head.contacts * sizeof *answer->normal_impulse);
    put(&p, answer->friction_impulse, (size_t)head.contacts * sizeof *answer->friction_impulse);
    if (c->has_rolling)
        put(&p, answer->rolling_impulse, (size_t)head.contacts * sizeof *answer->rolling_impulse);
    if (head.coordinates)
        put(&p, answer->generalized_velocity,
            (size_t)head.coordinates * sizeof *answer->generalized_velocity);
    return deliver(channel, SS_MESSAGE_FRAME, &p);
}

/* ---- the receiver ----------------------------------------------------------------------------------- */

typedef struct reader {
    const char *at;
    size_t left;
    bool bad;
} reader;

static void take(reader *r, void *to, size_t length)
{
    if (r->bad || length > r->left) {
        r->bad = true;
        return;
    }
    if (length) memcpy(to, r->at, length);
    r->at += length;
    r->left -= length;
}

bool ss_capture_unpack(const char *bytes, size_t length, ss_capture *c)
{
    reader r = {bytes, length, false};
    ss_frame_head head;
    take(&r, &head, sizeof head);
    const int most = 100000000; // items; the bytes must be there for them, too
    if (r.bad || head.bodies < 0 || head.bodies > most || head.joints < 0 || head.joints > head.rows ||
        head.rows < 0 || head.rows > most || head.contacts < 0 || head.contacts > most || head.scenery < 0 ||
        head.scenery > most || head.trees < 0 || head.trees > head.coordinates || head.coordinates < 0 ||
        head.coordinates > most || head.map_entries < 0 || head.map_entries > most || head.mass_entries < 0 ||
        head.mass_entries > most)
        return false;
    size_t needed = (size_t)head.bodies * sizeof(double[6]) + (size_t)head.rows * sizeof(double[12]) +
                    (size_t)head.contacts * sizeof(double[9]) + (size_t)head.scenery * sizeof(double[7]) +
                    (size_t)head.coordinates * sizeof(double[3]) +
                    ((size_t)head.map_entries + (size_t)head.mass_entries) * sizeof(double);
    if (needed > length) return false;

    // Room and defaults for everything, then the arrays that were sent over them.
    ss_capture_begin(c, head.time, head.h);
    for (int b = 0; b < head.bodies; b++) ss_capture_body(c, b + 1);
    for (int j = 0; j < head.joints; j++) ss_capture_joint(c, SS_WORLD, SS_WORLD, 1);
    if (head.rows > head.joints) {
        ss_capture_joint(c, SS_WORLD, SS_WORLD, head.rows - head.joints);
        c->frame.constraints.count--;
    }
    for (int k = 0; k < head.contacts; k++) ss_capture_contact(c, SS_WORLD, SS_WORLD);
    const double nowhere[7] = {0, 0, 0, 1, 0, 0, 0};
    for (int s = 0; s < head.scenery; s++) ss_capture_scenery(c, nowhere, nowhere + 3);
    if (head.coordinates > 0)
        ss_capture_coordinates(c, head.trees, head.coordinates, head.map_entries, head.mass_entries);
    if (c->out_of_memory) return false;
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        if (!(head.present >> f & 1)) continue;
        void *data = ss_field_data(field, &c->frame);
        if (!data || (strcmp(field->group, "generalized") == 0 && !c->has_coordinates)) return false;
        c->has_arms |= data == c->frame.contacts.lever_arm;
        take(&r, data,
             (size_t)ss_field_items(field, &c->frame) * (size_t)field->width * ss_field_element_size(field));
    }
    take(&r, c->scenery.position, (size_t)head.scenery * sizeof *c->scenery.position);
    take(&r, c->scenery.quaternion, (size_t)head.scenery * sizeof *c->scenery.quaternion);
    take(&r, c->answer.velocity, (size_t)head.bodies * sizeof *c->answer.velocity);
    take(&r, c->answer.row_impulse, (size_t)head.rows * sizeof *c->answer.row_impulse);
    take(&r, c->answer.normal_impulse, (size_t)head.contacts * sizeof *c->answer.normal_impulse);
    take(&r, c->answer.friction_impulse, (size_t)head.contacts * sizeof *c->answer.friction_impulse);
    c->has_rolling = head.has_rolling != 0;
    if (c->has_rolling)
        take(&r, c->answer.rolling_impulse, (size_t)head.contacts * sizeof *c->answer.rolling_impulse);
    if (c->has_coordinates)
        take(&r, c->answer.generalized_velocity,
             (size_t)head.coordinates * sizeof *c->answer.generalized_velocity);
    c->iterations = head.iterations;
    memcpy(c->solver, head.solver, sizeof c->solver);
    memcpy(c->formulation, head.formulation, sizeof c->formulation);
    memcpy(c->with, head.with, sizeof c->with);
    c->solver[sizeof c->solver - 1] = c->formulation[sizeof c->formulation - 1] =
        c->with[sizeof c->with - 1] = '\0';

    c->plain = head.plain;
    ss_capture_complete(c);

    // Equations of the joints: what the sender counted must be what it sent.
    int64_t rows = 0;
    for (int j = 0; !r.bad && j < head.joints; j++) {
        r.bad = c->frame.constraints.rows[j] < 1;
        rows += c->frame.constraints.rows[j];
    }
    return !r.bad && r.left == 0 && rows == head.rows;
}

bool ss_capture_unpack_shape(const char *bytes, size_t length, ss_stored_shape *shape, ss_mesh **mesh)
{
    reader r = {bytes, length, false};
    int32_t size[2];
    *mesh = NULL;
    take(&r, shape, sizeof *shape);
    take(&r, size, sizeof size);
    if (r.bad || size[0] < 0 || size[1] < 0) return false;
    if (r.left != (size_t)size[0] * sizeof *(*mesh)->vertex + (size_t)size[1] * sizeof *(*mesh)->face)
        return false;
    shape->shape.mesh = NULL; // pointers of another process
    shape->shape.heights = NULL;
    if (size[0] == 0) return shape->shape.kind < SS_HULL;
    *mesh = ss_mesh_create(size[0], size[1], NULL);
    if (!*mesh) return false;
    take(&r, (*mesh)->vertex, (size_t)size[0] * sizeof *(*mesh)->vertex);
    take(&r, (*mesh)->face, (size_t)size[1] * sizeof *(*mesh)->face);
    shape->shape.mesh = *mesh;
    return true;
}
