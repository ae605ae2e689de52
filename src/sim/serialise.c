/* What a step changes, as bytes: for undoing a failed step and for snapshots. */
#include "sim/state.h"

#define PASS(bytes, field) ss_byte_stream_pass(bytes, &(field), sizeof(field))

static void exchange_body(ss_body *body, ss_byte_stream *bytes)
{
    PASS(bytes, body->kind);
    PASS(bytes, body->disabled);
    PASS(bytes, body->position);
    PASS(bytes, body->quaternion);
    PASS(bytes, body->velocity);
    PASS(bytes, body->force);
    PASS(bytes, body->gravity_scale);
    PASS(bytes, body->linear_damping);
    PASS(bytes, body->angular_damping);
}

static void exchange_law(ss_axis_law *law, ss_byte_stream *bytes)
{
    PASS(bytes, law->limited);
    PASS(bytes, law->lower);
    PASS(bytes, law->upper);
    PASS(bytes, law->motor);
    PASS(bytes, law->target);
    PASS(bytes, law->target_speed);
    PASS(bytes, law->max_force);
    PASS(bytes, law->stiffness);
    PASS(bytes, law->damping);
    PASS(bytes, law->rest);
    PASS(bytes, law->force);
    PASS(bytes, law->friction);
    PASS(bytes, law->load_friction);
    PASS(bytes, law->armature);
    PASS(bytes, law->motor_stiffness);
    PASS(bytes, law->motor_damping);
}

void ss_sim_exchange_world(const ss_sim *sim, ss_byte_stream *bytes)
{
    ss_world *world = sim->world;
    ss_byte_stream_pass(bytes, ss_world_gravity(world), 3 * sizeof(double));
    for (int b = 0; b < ss_world_body_count(world); b++) exchange_body(ss_world_body(world, b), bytes);
    for (int j = 0; j < ss_world_joint_count(world); j++) {
        ss_joint *joint = ss_world_joint(world, j);
        PASS(bytes, joint->disabled);
        PASS(bytes, joint->turned);
        PASS(bytes, joint->load_direction);
        for (int k = 0; k < 2; k++) exchange_law(&joint->law[k], bytes);
    }
    for (int s = 0; s < ss_world_shape_count(world); s++) {
        ss_shape *shape = ss_world_shape(world, s);
        PASS(bytes, shape->surface_velocity);
        PASS(bytes, shape->ghost);
    }
    for (int c = 0; c < sim->controllers.count; c++) PASS(bytes, sim->controllers.items[c]->sum);
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
