/* Who may touch whom, and what two materials do when they meet. */
#include "model/world.h"

#include <string.h>

/* ---- pairs of materials ----------------------------------------------------------------------------- */

/* The place of a key in the sorted pairs: where it is, or where it belongs. */
static int pair_place(const ss_world *world, uint64_t key)
{
    int low = 0, high = world->pair_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (world->pairs[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_pair(const ss_world *world, int place, uint64_t key)
{
    return place < world->pair_count && world->pairs[place].key == key;
}

static bool check_pair(const ss_world *world, int a, int b, const ss_material_pair *pair, ss_error *err)
{
    if (!ss_world_material(world, a) || !ss_world_material(world, b))
        return ss_fail(err, SS_ERROR_USAGE, "unknown material");
    if (!(pair->restitution >= 0.0 && pair->restitution <= 1.0))
        return ss_fail(err, SS_ERROR_USAGE, "restitution: %g, must be from 0 to 1", pair->restitution);
    if ((unsigned)pair->spin_coupling > SS_SPIN_ELLIPSOID)
        return ss_fail(err, SS_ERROR_USAGE, "spin_coupling: unknown coupling %d", (int)pair->spin_coupling);
    if (!(pair->mu_static == 0.0 || (pair->mu_static >= pair->mu && isfinite(pair->mu_static))))
        return ss_fail(err, SS_ERROR_USAGE, "mu_static: %g, must be 0 or at least mu, %g", pair->mu_static,
                       pair->mu);
    const ss_material *of[2] = {ss_world_material(world, a), ss_world_material(world, b)};
    if (pair->mu_across > 0.0 && !ss_material_has_grain(of[0]) && !ss_material_has_grain(of[1]))
        return ss_fail(err, SS_ERROR_USAGE, "mu_across: neither material has a grain");
    if (pair->mu_across > 0.0 && pair->mu == 0.0 && pair->mu_static > 0.0)
        return ss_fail(err, SS_ERROR_USAGE, "mu_static: beside mu_across, mu must not be 0");
    return ss_require_not_negative(pair->mu, "mu", err) &&
           ss_require_not_negative(pair->mu_across, "mu_across", err) &&
           ss_require_not_negative(pair->mu_rolling, "mu_rolling", err) &&
           ss_require_not_negative(pair->mu_torsion, "mu_torsion", err) &&
           ss_require_not_negative(pair->stiffness, "stiffness", err) &&
           ss_require_not_negative(pair->damping, "damping", err) &&
           ss_require_not_negative(pair->adhesion, "adhesion", err);
}

bool ss_world_set_pair(ss_world *world, int material_a, int material_b, const ss_material_pair *pair,
                       ss_error *err)
{
    if (!check_pair(world, material_a, material_b, pair, err))
        return ss_fail_in(err, "materials %d and %d", material_a, material_b);

    /* A pair that is there already is replaced. */
    uint64_t key = ss_pair_key(material_a, material_b);
    int place = pair_place(world, key), count = world->pair_count;
    if (!has_pair(world, place, key)) {
        ss_named_pair *pairs = ss_array_grow(world->pairs, count, &world->pair_capacity, sizeof *pairs);
        if (!pairs)
            return ss_fail(err, SS_ERROR_RESOURCES, "materials %d and %d: out of memory", material_a,
                           material_b);
        world->pairs = pairs;
        memmove(&pairs[place + 1], &pairs[place], (size_t)(count - place) * sizeof *pairs);
        world->pair_count++;
    }
    world->pairs[place] = (ss_named_pair){key, *pair};
    return true;
}

ss_material_pair ss_world_pair(const ss_world *world, int material_a, int material_b)
{
    const ss_material *a = ss_world_material(world, material_a), *b = ss_world_material(world, material_b);
    if (!a || !b) return (ss_material_pair){0};
    uint64_t key = ss_pair_key(material_a, material_b);
    int place = pair_place(world, key);
    if (has_pair(world, place, key)) {
        ss_material_pair pair = world->pairs[place].pair;
        if (pair.mu_static == 0.0) pair.mu_static = pair.mu;
        if (pair.mu_across == 0.0) pair.mu_across = pair.mu;
        return pair;
    }

    /* A pair that was not set: geometric means of the frictions, the livelier restitution. */
    double mu = sqrt(a->mu * b->mu);
    double across_a = a->mu_across > 0.0 ? a->mu_across : a->mu;
    double across_b = b->mu_across > 0.0 ? b->mu_across : b->mu;
    return (ss_material_pair){.mu = mu,
                              .mu_static = mu,
                              .restitution = fmax(a->restitution, b->restitution),
                              .mu_rolling = sqrt(a->mu_rolling * b->mu_rolling),
                              .mu_torsion = sqrt(a->mu_torsion * b->mu_torsion),
                              .spin_coupling =
                                  a->spin_coupling > b->spin_coupling ? a->spin_coupling : b->spin_coupling,
                              .mu_across = sqrt(across_a * across_b)};
}

/* ---- separations ------------------------------------------------------------------------------------ */

/* The first separation that is not before (key, joint). */
static int separation_place(const ss_world *world, uint64_t key, int joint)
{
    int low = 0, high = world->separation_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const ss_separation *item = &world->separations[middle];
        if (item->key < key || (item->key == key && item->joint < joint))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_separation(ss_world *world, uint64_t key, int joint, ss_error *err)
{
    int count = world->separation_count, place = separation_place(world, key, joint);
    const ss_separation *there = place < count ? &world->separations[place] : NULL;
    if (there && there->key == key && there->joint == joint) return true;
    ss_separation *items =
        ss_array_grow(world->separations, count, &world->separation_capacity, sizeof *items);
    if (!items) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    world->separations = items;
    memmove(&items[place + 1], &items[place], (size_t)(count - place) * sizeof *items);
    items[place] = (ss_separation){key, joint};
    world->separation_count++;
    return true;
}

int ss_world_separation_count(const ss_world *world)
{
    return world->separation_count;
}

bool ss_world_separate(ss_world *world, int body_a, int body_b, ss_error *err)
{
    const int bodies[2] = {body_a, body_b};
    for (int k = 0; k < 2; k++)
        if (bodies[k] != SS_WORLD && !ss_world_body(world, bodies[k]))
            return ss_fail(err, SS_ERROR_USAGE, "separate: unknown body %d", bodies[k]);
    return add_separation(world, ss_pair_key(body_a, body_b), -1, err);
}

/* The world is no part of a machine: a door hung into the world may still touch its floor. What couples the
 * coordinates of other joints, and ropes, hold no two bodies side by side. */
bool ss_world_note_joint(ss_world *world, int joint, ss_error *err)
{
    const ss_joint *j = &world->joints[joint];
    bool apart = j->kind == SS_JOINT_COUPLING || j->kind == SS_JOINT_DIFFERENTIAL ||
                 j->kind == SS_JOINT_CONVERTER || j->kind == SS_JOINT_PULLEY;
    if (apart || j->a == SS_WORLD || j->b == SS_WORLD) return true;
    return add_separation(world, ss_pair_key(j->a, j->b), joint, err);
}

static bool moves_freely(const ss_world *world, int body)
{
    return body != SS_WORLD && world->bodies[body].kind == SS_DYNAMIC;
}

static bool takes_part(const ss_world *world, int body)
{
    return body == SS_WORLD || !world->bodies[body].disabled;
}

static bool wants(const ss_shape *a, const ss_shape *b)
{
    uint32_t group = b->group ? b->group : 1;
    return !a->collides_with || (a->collides_with & group);
}

bool ss_world_may_touch(const ss_world *world, int shape_a, int shape_b)
{
    const ss_shape *a = ss_world_shape(world, shape_a), *b = ss_world_shape(world, shape_b);
    if (!a || !b || a->body == b->body || a->ghost || b->ghost) return false;
    if (!moves_freely(world, a->body) && !moves_freely(world, b->body)) return false;
    if (!takes_part(world, a->body) || !takes_part(world, b->body)) return false;
    if (!wants(a, b) || !wants(b, a)) return false;

    /* Bodies that were separated for good, or by a joint that is enabled and does not let them collide. */
    uint64_t key = ss_pair_key(a->body, b->body);
    for (int i = separation_place(world, key, -1); i < world->separation_count; i++) {
        const ss_separation *item = &world->separations[i];
        if (item->key != key) return true;
        if (item->joint < 0) return false;
        const ss_joint *joint = &world->joints[item->joint];
        if (!joint->disabled && !joint->bodies_collide) return false;
    }
    return true;
}
