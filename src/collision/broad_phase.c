/* Pairs of shapes whose fat boxes meet. They change only where a box was replaced, so that a resting world
 * costs one pass over its pairs. */
#include "collision/pairs.h"
#include "base/memory.h"
#include "collision/state.h"
#include "model/geometry.h"

#include <string.h>

/* ---- lists ------------------------------------------------------------------------------------------ */

static bool reserve(ss_pair_list *list, int count, ss_error *err)
{
    if (count <= list->capacity) return true;
    int capacity = count > INT32_MAX / 2 ? INT32_MAX : 2 * count;
    ss_shape_pair *larger = ss_allocate((size_t)capacity, sizeof *larger);
    if (!larger)
        return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d pairs of shapes", capacity);
    if (list->count) memcpy(larger, list->items, (size_t)list->count * sizeof *larger);
    ss_release(list->items);
    list->items = larger;
    list->capacity = capacity;
    return true;
}

/* By rising pairs: in buckets by the second shape, then, in that order, in buckets by the first. */
static void sort(const ss_collision *c, ss_pair_list *list, ss_pair_list *spare)
{
    for (int half = 0; half < 2; half++) {
        int shift = 32 * half;
        memset(c->buckets, 0, ((size_t)c->proxy_count + 1) * sizeof *c->buckets);
        for (int i = 0; i < list->count; i++) c->buckets[(uint32_t)(list->items[i] >> shift) + 1]++;
        for (int k = 0; k < c->proxy_count; k++) c->buckets[k + 1] += c->buckets[k];
        for (int i = 0; i < list->count; i++)
            spare->items[c->buckets[(uint32_t)(list->items[i] >> shift)]++] = list->items[i];
        spare->count = list->count;
        SS_SWAP(ss_pair_list, *list, *spare);
    }
}

/* ---- who is near whom ------------------------------------------------------------------------------- */

bool ss_box_meets_plane(const ss_box *box, const ss_placed_shape *plane)
{
    ss_vec3 up = ss_placed_axis(plane, 2);
    ss_vec3 lowest = {up.x > 0.0 ? box->low.x : box->high.x, up.y > 0.0 ? box->low.y : box->high.y,
                      up.z > 0.0 ? box->low.z : box->high.z};
    return ss_vec3_dot(up, ss_vec3_subtract(lowest, ss_placed_position(plane))) <= 0.0;
}

static bool is_plane(const ss_collision *c, int number)
{
    return c->balls[number].radius == INFINITY;
}

static bool are_near(const ss_collision *c, int a, int b)
{
    if (!ss_boxes_meet(&c->fat[a], &c->fat[b]) || (is_plane(c, a) && is_plane(c, b))) return false;
    if (is_plane(c, a)) return ss_box_meets_plane(&c->fat[b], &c->proxies[a].placed);
    return !is_plane(c, b) || ss_box_meets_plane(&c->fat[a], &c->proxies[b].placed);
}

static inline bool note(ss_collision *c, int a, int b, ss_error *err)
{
    if (!c->proxies[a].dynamic && !c->proxies[b].dynamic) return true;
    if (c->fresh.count == c->fresh.capacity && !reserve(&c->fresh, c->fresh.count + 1, err)) return false;
    c->fresh.items[c->fresh.count++] = ss_shape_pair_make(a, b);
    return true;
}

/* Pairs of the shape at this leaf with those whose fat boxes meet its own. */
static bool search_tree(ss_collision *c, int leaf, ss_error *err)
{
    const ss_bvh *tree = &c->tree;
    const ss_bvh_node box = tree->nodes[leaf];
    for (int node = ss_bvh_find(tree, &box, 0); node < tree->count; node = ss_bvh_find(tree, &box, node + 1))
        if (node != leaf && !note(c, box.item, tree->nodes[node].item, err)) return false;
    return true;
}

typedef struct noting {
    ss_collision *collision;
    ss_error *err;
} noting;

static bool note_found(int a, int b, void *context)
{
    const noting *with = context;
    return note(with->collision, a, b, with->err);
}

/* All pairs of shapes that moved, as c->fresh: each one once if all have moved, else those of two that moved
 * twice. A plane that moved is compared with everything, everything that moved with all planes. */
static bool search(ss_collision *c, ss_error *err)
{
    bool all = c->moved_count == c->proxy_count;
    c->fresh.count = 0;
    if (all && !ss_bvh_visit_pairs(&c->tree, note_found, &(noting){c, err})) return false;

    for (int i = 0; i < c->moved_count; i++) {
        int number = c->moved[i], leaf = c->places[number].leaf;
        if (!c->proxies[number].active) continue;
        if (!all && leaf >= 0 && !search_tree(c, leaf, err)) return false;
        bool plane = is_plane(c, number);
        int others = !plane ? c->plane_count : all ? 0 : c->proxy_count;
        for (int k = 0; k < others; k++) {
            int other = plane ? k : c->planes[k];
            if (are_near(c, number, other) && !note(c, number, other, err)) return false;
        }
    }
    return true;
}

/* ---- filters ---------------------------------------------------------------------------------------- */

/* What decides, besides places and the shapes themselves, whether two may touch. */
static uint64_t read_joint_filters(const ss_collision *c)
{
    uint64_t sum = (uint64_t)ss_world_separation_count(c->world);
    for (int i = 0; i < ss_world_joint_count(c->world); i++) {
        const ss_joint *joint = ss_world_joint(c->world, i);
        sum = (sum ^ (uint64_t)(joint->disabled << 1 | joint->bodies_collide)) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    return sum;
}

bool ss_pairs_update(ss_collision *c, ss_error *err)
{
    // Other filters: no pair is known, everything counts as moved.
    uint64_t filters = read_joint_filters(c);
    if (c->refiltered || filters != c->joint_filters) {
        c->pairs.count = c->moved_count = 0;
        for (int i = 0; i < c->proxy_count; i++) {
            c->has_moved[i] = true;
            c->moved[c->moved_count++] = i;
        }
    }
    if (c->moved_count > 0) {
        if (!search(c, err) || !reserve(&c->spare, c->pairs.count + c->fresh.count, err)) return false;
        sort(c, &c->fresh, &c->spare);

        // Known pairs stay when neither shape moved or when they were found again; new ones must be allowed.
        const ss_shape_pair *known = c->pairs.items, *known_end = known + c->pairs.count;
        const ss_shape_pair *found = c->fresh.items, *found_end = found + c->fresh.count;
        ss_shape_pair *to = c->spare.items;
        while (known < known_end || found < found_end) {
            bool is_known = known < known_end && (found == found_end || *known <= *found);
            bool is_found = found < found_end && (!is_known || *known == *found);
            ss_shape_pair pair = is_known ? *known : *found;
            int a = ss_shape_pair_a(pair), b = ss_shape_pair_b(pair);
            bool stays = is_known ? is_found || (!c->has_moved[a] && !c->has_moved[b])
                                  : ss_world_may_touch(c->world, a, b);
            if (stays) *to++ = pair;
            known += is_known;
            while (found < found_end && *found == pair) found++;
        }
        c->spare.count = (int)(to - c->spare.items);
        SS_SWAP(ss_pair_list, c->pairs, c->spare);
    }

    for (int i = 0; i < c->moved_count; i++) c->has_moved[c->moved[i]] = false;
    c->moved_count = 0;
    c->joint_filters = filters;
    c->refiltered = false;
    return true;
}
