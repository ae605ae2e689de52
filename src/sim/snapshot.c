/* The state of a simulation as bytes: in memory, in a file, and as a hash.
 *
 *     header    magic, version, byte order, sizes of the world, its make, size and digest of the rest
 *     clock     time, steps, and the step length they were made with
 *     warm      impulses that the next step starts from; and the manifolds of real-time steps
 *     paces     pieces that the next integrated step begins with
 *     world     poses, velocities, forces, joint laws, controllers
 */
#include "sim/state.h"

#include "base/digest.h"
#include "base/file.h"
#include "sim/soft/soft.h"

static const char magic[8] = "SSSTATE";
#define VERSION 6u
#define BYTE_ORDER 0x01020304u

typedef struct header {
    char magic[8];
    uint32_t version, byte_order;
    int32_t bodies, joints, shapes, controllers;
    uint64_t make; // of the world: masses, shapes, joints
    uint64_t size; // bytes after the header
    uint64_t digest;
} header;

/* ---- digests ---------------------------------------------------------------------------------------- */

static uint64_t digest_of_bytes(const unsigned char *data, size_t size)
{
    ss_digest digest = ss_digest_start();
    uint64_t word;
    for (; size >= sizeof word; data += sizeof word, size -= sizeof word) {
        memcpy(&word, data, sizeof word);
        ss_digest_add(&digest, word);
    }
    word = 0;
    if (size) memcpy(&word, data, size);
    ss_digest_add(&digest, word);
    return digest.a ^ digest.b;
}

/* What a snapshot does not carry but relies on. */
static uint64_t make_of(const ss_world *world)
{
    ss_digest digest = ss_digest_start();
    for (int b = 0; b < ss_world_body_count(world); b++) {
        const ss_body *body = ss_world_body(world, b);
        ss_digest_add_reals(&digest, &body->mass, 1);
        ss_digest_add_reals(&digest, body->inertia, 9);
    }
    for (int s = 0; s < ss_world_shape_count(world); s++) {
        const ss_shape *shape = ss_world_shape(world, s);
        ss_digest_add(&digest, (uint64_t)shape->kind);
        ss_digest_add(&digest, (uint64_t)(int64_t)shape->body);
        ss_digest_add_reals(&digest, shape->size, 3);
        ss_digest_add_reals(&digest, shape->position, 3);
        ss_digest_add_reals(&digest, shape->quaternion, 4);
    }
    for (int j = 0; j < ss_world_joint_count(world); j++) {
        const ss_joint *joint = ss_world_joint(world, j);
        ss_digest_add(&digest, (uint64_t)joint->kind);
        ss_digest_add(&digest, (uint64_t)(int64_t)joint->a);
        ss_digest_add(&digest, (uint64_t)(int64_t)joint->b);
        ss_digest_add_reals(&digest, joint->local_anchor[0], 6);
        ss_digest_add_reals(&digest, joint->local_frame[0], 8);
        for (int k = 2; k < joint->body_count; k++)
            ss_digest_add(&digest, (uint64_t)(int64_t)joint->bodies[k]);
        for (int t = 0; t < joint->terms; t++) {
            ss_digest_add(&digest, (uint64_t)(int64_t)joint->term[t].joint);
            ss_digest_add_reals(&digest, &joint->term[t].factor, 1);
        }
        if (joint->kind == SS_JOINT_PULLEY) ss_digest_add_reals(&digest, joint->local_sheave[0], 6);
    }
    return digest.a ^ digest.b;
}

void ss_sim_hash(const ss_sim *sim, char text[33])
{
    ss_digest digest = ss_digest_start();
    ss_digest_add_reals(&digest, &sim->time, 1);
    for (int b = 0; b < ss_world_body_count(sim->world); b++) {
        const ss_body *body = ss_world_body(sim->world, b);
        ss_digest_add_reals(&digest, body->position, 3);
        ss_digest_add_reals(&digest, body->quaternion, 4);
        ss_digest_add_reals(&digest, body->velocity, 6);
    }
    ss_digest_print(&digest, text);
}

/* ---- save ------------------------------------------------------------------------------------------- */

typedef struct clock_state {
    double time, base_time, h;
    int64_t steps, base_steps;
} clock_state;

static header header_of(const ss_sim *sim)
{
    header head = {.version = VERSION,
                   .byte_order = BYTE_ORDER,
                   .bodies = ss_world_body_count(sim->world),
                   .joints = ss_world_joint_count(sim->world),
                   .shapes = ss_world_shape_count(sim->world),
                   .controllers = sim->controllers.count,
                   .make = make_of(sim->world)};
    memcpy(head.magic, magic, sizeof head.magic);
    return head;
}

bool ss_sim_save(const ss_sim *sim, ss_snapshot *snapshot, ss_error *err)
{
    *snapshot = (ss_snapshot){0};
    header head = header_of(sim);
    clock_state clock = {sim->time, sim->base_time, sim->options.h, sim->steps, sim->base_steps};
    ss_byte_stream bytes = {0};
    ss_warm warm = sim->warm; // only read
    ss_byte_stream_pass(&bytes, &head, sizeof head);
    ss_byte_stream_pass(&bytes, &clock, sizeof clock);
    ss_sim_exchange_warm(&warm, &bytes);
    ss_soft_state soft = {0}; // only read
    if (sim->soft) soft.memory = sim->soft->memory;
    if (sim->soft)
        soft.kept = (ss_kept_manifold *)(uintptr_t)ss_collision_kept(sim->collision, &soft.kept_count);
    ss_soft_exchange(&soft, &bytes);
    ss_paces paces = ss_sim_paces(sim); // only read
    ss_sim_exchange_paces(&paces, &bytes);
    ss_sim_exchange_world(sim, &bytes);
    if (bytes.failed) {
        ss_byte_stream_free(&bytes);
        return ss_fail(err, SS_ERROR_RESOURCES, "snapshot: out of memory");
    }
    head.size = bytes.size - sizeof head;
    head.digest = digest_of_bytes(bytes.data + sizeof head, head.size);
    memcpy(bytes.data, &head, sizeof head);
    *snapshot = (ss_snapshot){bytes.size, bytes.data};
    return true;
}

void ss_snapshot_free(ss_snapshot *snapshot)
{
    ss_release(snapshot->bytes);
    *snapshot = (ss_snapshot){0};
}

/* ---- restore ---------------------------------------------------------------------------------------- */

/* Whole and undamaged, whatever world it belongs to. */
static bool check_bytes(const ss_snapshot *snapshot, header *head, ss_error *err)
{
    if (snapshot->size < sizeof *head)
        return ss_fail(err, SS_ERROR_INPUT, "snapshot: too short (%zu bytes)", snapshot->size);
    memcpy(head, snapshot->bytes, sizeof *head);
    if (memcmp(head->magic, magic, sizeof magic) != 0)
        return ss_fail(err, SS_ERROR_INPUT, "snapshot: not a snapshot");
    if (head->version != VERSION || head->byte_order != BYTE_ORDER)
        return ss_fail(err, SS_ERROR_INPUT, "snapshot: from another version (%u) or another kind of machine",
                       head->version);
    if (head->size != snapshot->size - sizeof *head ||
        head->digest != digest_of_bytes(snapshot->bytes + sizeof *head, head->size))
        return ss_fail(err, SS_ERROR_INPUT, "snapshot: damaged");
    return true;
}

bool ss_sim_restore(ss_sim *sim, const ss_snapshot *snapshot, ss_error *err)
{
    header head;
    clock_state clock;
    ss_warm warm = {0};

    if (sim->is_stepping && !sim->is_done)
        return ss_fail(
            err, SS_ERROR_USAGE,
            "snapshot: a step is under way: a state can be put back before or after it, not within it");

    /* The world must be the one the snapshot was made of. */
    if (!check_bytes(snapshot, &head, err)) return false;
    header own = header_of(sim);
    if (head.bodies != own.bodies || head.joints != own.joints || head.shapes != own.shapes ||
        head.controllers != own.controllers)
        return ss_fail(
            err, SS_ERROR_INPUT,
            "snapshot: from a world with %d bodies, %d joints, %d shapes and %d controllers, but this one "
            "has %d, %d, %d and %d",
            head.bodies, head.joints, head.shapes, head.controllers, own.bodies, own.joints, own.shapes,
            own.controllers);
    if (head.make != own.make)
        return ss_fail(err, SS_ERROR_INPUT, "snapshot: from a world with other masses, shapes or joints");

    /* Warm starts vary in number, the world does not: what is left must be as long as the world would be.
     * Only then anything is changed. */
    ss_byte_stream bytes = {
        .data = snapshot->bytes, .size = snapshot->size, .at = sizeof head, .reading = true};
    ss_byte_stream_pass(&bytes, &clock, sizeof clock);
    ss_sim_exchange_warm(&warm, &bytes);
    ss_soft_state soft = {0};
    ss_soft_exchange(&soft, &bytes);
    ss_paces paces = {0};
    ss_sim_exchange_paces(&paces, &bytes);
    ss_byte_stream world = {0};
    ss_sim_exchange_world(sim, &world);
    bool fits = !bytes.failed && bytes.size - bytes.at == (world.failed ? 0 : world.size);
    ss_byte_stream_free(&world);
    fits = fits && ss_free_motion_take_paces(&sim->motion, paces.items, paces.count);
    ss_release(paces.items);
    if (fits && sim->soft) fits = ss_collision_take_kept(sim->collision, soft.kept, soft.kept_count);
    if (!fits) {
        ss_warm_free(&warm);
        ss_soft_state_free(&soft);
        return ss_fail(err, SS_ERROR_INPUT, "snapshot: damaged, or out of memory");
    }
    ss_sim_exchange_world(sim, &bytes);
    ss_warm_free(&sim->warm);
    sim->warm = warm;
    if (sim->soft) {
        ss_release(sim->soft->memory.items);
        sim->soft->memory = soft.memory;
        sim->soft->waits = false;
        soft.memory.items = NULL;
    }
    ss_soft_state_free(&soft);

    /* With another step length, time is counted from here. */
    bool same = clock.h == sim->options.h;
    sim->time = clock.time;
    sim->steps = clock.steps;
    sim->base_time = same ? clock.base_time : clock.time;
    sim->base_steps = same ? clock.base_steps : clock.steps;

    ss_sim_forget_peg(sim);
    ss_frame_destroy(sim->frame);
    sim->frame = NULL;
    sim->frame_waits = sim->is_solved_by_trees = sim->is_solved_by_mechanisms = sim->coordinates_wait = false;
    sim->answer = NULL;
    sim->contacts = (ss_contact_list){0};
    sim->report = (ss_sim_report){.worst_contact = -1};
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------ */

bool ss_snapshot_write(const ss_snapshot *snapshot, const char *path, ss_error *err)
{
    return ss_file_replace(path, snapshot->bytes, snapshot->size, err);
}

bool ss_snapshot_read(const char *path, ss_snapshot *snapshot, ss_error *err)
{
    header head;
    *snapshot = (ss_snapshot){0};
    ss_snapshot read = {.bytes = ss_file_read(path, PTRDIFF_MAX, &read.size, err)};
    if (!read.bytes) return false;
    if (!check_bytes(&read, &head, err)) {
        ss_snapshot_free(&read);
        return ss_fail_in(err, "%s", path);
    }
    *snapshot = read;
    return true;
}
