/* What a step changes, as bytes: for undoing a failed step and for snapshots. */
#include "sim/state.h"

#include <stddef.h>

#define PASS(bytes, field) ss_byte_stream_pass(bytes, &(field), sizeof(field))

/* Numbers that stand side by side in a struct, from one member to another, pass in one go. */
#define PASS_NUMBERS(bytes, of, first, last, count)                                            \
    do {                                                                                       \
        _Static_assert(offsetof(__typeof__(*(of)), last) + sizeof((of)->last) -                \
                               offsetof(__typeof__(*(of)), first) ==                           \
                           (count) * sizeof(double),                                           \
                       "nothing else stands between these members");                           \
        ss_byte_stream_pass(bytes, (unsigned char *)(of) + offsetof(__typeof__(*(of)), first), \
                            (count) * sizeof(double));                                         \
    } while (0)

static void exchange_body(ss_body *body, ss_byte_stream *bytes)
{
    PASS(bytes, body->kind);
    PASS(bytes, body->disabled);
    PASS_NUMBERS(bytes, body, position, force, 3 + 4 + 6 + 6); // with quaternion and velocity
    PASS_NUMBERS(bytes, body, gravity_scale, angular_damping, 3);
}

static void exchange_law(ss_axis_law *law, ss_byte_stream *bytes)
{
    PASS(bytes, law->limited);
    PASS_NUMBERS(bytes, law, lower, upper, 2);
    PASS(bytes, law->motor);
    PASS_NUMBERS(bytes, law, target, motor_damping, 12); // and all in between
}

ss_world_counts ss_sim_counts(const ss_sim *sim)
{
    return (ss_world_counts){ss_world_body_count(sim->world), ss_world_joint_count(sim->world),
                             ss_world_shape_count(sim->world), sim->controllers.count};
}

void ss_sim_exchange_world(const ss_sim *sim, ss_byte_stream *bytes)
{
    ss_world_counts all = ss_sim_counts(sim);
    ss_sim_exchange_counted(sim, &all, bytes);
}

void ss_sim_exchange_counted(const ss_sim *sim, const ss_world_counts *of, ss_byte_stream *bytes)
{
    ss_world *world = sim->world;
    ss_byte_stream_pass(bytes, ss_world_gravity(world), 3 * sizeof(double));
    for (int b = 0; b < of->bodies; b++) exchange_body(ss_world_body(world, b), bytes);
    for (int j = 0; j < of->joints; j++) {
        ss_joint *joint = ss_world_joint(world, j);
        PASS(bytes, joint->disabled);
        PASS_NUMBERS(bytes, joint, turned, load_direction, 5);
        for (int k = 0; k < 2; k++) exchange_law(&joint->law[k], bytes);
    }
    for (int s = 0; s < of->shapes; s++) {
        ss_shape *shape = ss_world_shape(world, s);
        PASS(bytes, shape->surface_velocity);
        PASS(bytes, shape->ghost);
    }
    for (int c = 0; c < of->controllers; c++) PASS(bytes, sim->controllers.items[c]->sum);
}

void ss_sim_exchange_warm(ss_warm *warm, ss_byte_stream *bytes)
{
    int contacts = warm->contact_count, rows = warm->row_count;
    PASS(bytes, contacts);
    PASS(bytes, rows);
    if (bytes->reading) {
        // numbers of a damaged file: what they count must be there
        size_t left = bytes->size - bytes->at;
        if (bytes->failed || contacts < 0 || rows < 0 || (size_t)contacts > left || (size_t)rows > left ||
            !ss_warm_reserve(warm, contacts, rows)) {
            bytes->failed = true;
            return;
        }
        warm->contact_count = contacts;
        warm->row_count = rows;
    }

    for (int c = 0; c < contacts; c++) {
        ss_warm_contact *contact = &warm->contacts[c];
        PASS(bytes, contact->pair);
        PASS(bytes, contact->key);
        PASS(bytes, contact->point);
        PASS(bytes, contact->impulse);
        PASS(bytes, contact->rolling);
        PASS(bytes, contact->wait);
        PASS(bytes, contact->slides);
    }
    for (int i = 0; i < rows; i++) {
        ss_warm_row *row = &warm->rows[i];
        PASS(bytes, row->joint);
        PASS(bytes, row->index);
        PASS(bytes, row->of);
        PASS(bytes, row->impulse);
    }
}

ss_paces ss_sim_paces(const ss_sim *sim)
{
    ss_paces paces;
    paces.items = (double *)(uintptr_t)ss_free_motion_paces(sim->motion, &paces.count);
    return paces;
}

void ss_sim_exchange_paces(ss_paces *paces, ss_byte_stream *bytes)
{
    PASS(bytes, paces->count);
    if (bytes->reading) {
        size_t left = bytes->size - bytes->at; // numbers of a damaged file
        bool fits = !bytes->failed && paces->count >= 0 && (size_t)paces->count <= left / sizeof(double);
        paces->items = fits ? ss_allocate((size_t)paces->count, sizeof *paces->items) : NULL;
        bytes->failed |= !paces->items;
    }
    if (!bytes->failed) ss_byte_stream_pass(bytes, paces->items, (size_t)paces->count * sizeof *paces->items);
}
