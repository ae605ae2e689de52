/* Pairs of shapes whose fat boxes meet. They change only where a box was replaced, so that a resting world
 * costs one pass over its pairs. */
#include "collision/pairs.h"
#include "base/digest.h"
#include "base/memory.h"
#include "collision/meeting.h"
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

/* Merges two sorted runs. */
static void merge(const ss_shape_pair *a, int count_a, const ss_shape_pair *b, int count_b, ss_shape_pair *to)
{
    int i = 0, j = 0;
    while (i < count_a || j < count_b)
        if (j >= count_b || (i < count_a && a[i] <= b[j]))
            *to++ = a[i++];
        else
            *to++ = b[j++];
}

/* Merge sort from short runs to long ones, between the list and the spare one. */
static void sort(ss_pair_list *list, ss_pair_list *spare)
{
    for (int run = 1; run < list->count; run *= 2) {
        for (int start = 0; start < list->count; start += 2 * run) {
            int left = list->count - start, first = left < run ? left : run;
            int second = left - first < run ? left - first : run;
            const ss_shape_pair *from = list->items + start;
            merge(from, first, from + first, second, spare->items + start);
        }
        spare->count = list->count;
        SS_SWAP(ss_pair_list, *list, *spare);
    }
}

/* ---- who is near whom ------------------------------------------------------------------------------- */

/* Does the box reach into the half-space? */
static bool box_meets_plane(const ss_box *box, const ss_placed_shape *plane)
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
    if (!ss_boxes_meet(&c->bounds[a].fat, &c->bounds[b].fat) || (is_plane(c, a) && is_plane(c, b)))
        return false;
    if (is_plane(c, a)) return box_meets_plane(&c->bounds[b].fat, &c->proxies[a].placed);
    return !is_plane(c, b) || box_meets_plane(&c->bounds[a].fat, &c->proxies[b].placed);
}

static bool consider(ss_collision *c, int a, int b, ss_error *err)
{
    // Two that both moved find each other twice: it counts when the first asks.
    if (a == b || (c->proxies[b].moved && b < a)) return true;
    if (!c->proxies[a].dynamic && !c->proxies[b].dynamic) return true;

    // A pair that is known already, found by bisection?
    ss_shape_pair pair = ss_shape_pair_make(a, b);
    int low = 0, high = c->pairs.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (c->pairs.items[middle] < pair)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < c->pairs.count && c->pairs.items[low] == pair) return true;

    if (!ss_world_may_touch(c->world, a, b)) return true;
    if (!reserve(&c->fresh, c->fresh.count + 1, err)) return false;
    c->fresh.items[c->fresh.count++] = pair;
    return true;
}

/* Pairs of a shape that moved with all whose fat boxes meet its own. A plane that moved is compared with
 * everything, everything that moved with all planes; the rest by the tree. */
static bool search_around(ss_collision *c, int number, ss_error *err)
{
    const ss_box *box = &c->bounds[number].fat;
    for (int node = c->proxies[number].leaf >= 0 ? ss_bvh_first(&c->tree) : -1; node >= 0;) {
        const ss_bvh_node *n = &c->tree.nodes[node];
        bool meets = ss_boxes_meet(&n->box, box);
        if (meets && n->item >= 0 && !consider(c, number, n->item, err)) return false;
        node = ss_bvh_next(&c->tree, node, meets);
    }

    bool plane = is_plane(c, number);
    int others = plane ? c->proxy_count : c->plane_count;
    for (int k = 0; k < others; k++) {
        int other = plane ? k : c->planes[k];
        if (are_near(c, number, other) && !consider(c, number, other, err)) return false;
    }
    return true;
}

/* ---- filters ---------------------------------------------------------------------------------------- */

static uint64_t blend(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

/* What decides, besides places, whether two shapes may touch: when it changes, all pairs are found again. */
static uint64_t read_filters(const ss_collision *c)
{
    uint64_t sum = (uint64_t)ss_world_separation_count(c->world);
    for (int i = 0; i < c->proxy_count; i++) {
        const ss_shape *shape = c->proxies[i].placed.shape;
        sum = blend(sum, (uint64_t)shape->group << 32 | shape->collides_with);
        sum = blend(sum, (uint64_t)(c->proxies[i].body + 1) << 2 | c->proxies[i].dynamic << 1 |
                             c->proxies[i].active);
    }
    for (int i = 0; i < ss_world_joint_count(c->world); i++) {
        const ss_joint *joint = ss_world_joint(c->world, i);
        sum = blend(sum, joint->disabled << 1 | joint->bodies_collide);
    }
    return sum;
}

bool ss_pairs_update(ss_collision *c, ss_error *err)
{
    // Other filters: no pair is known, everything counts as moved.
    uint64_t filters = read_filters(c);
    if (filters != c->filters) {
        c->pairs.count = c->moved_count = 0;
        c->pairs_changed = true;
        for (int i = 0; i < c->proxy_count; i++) {
            c->proxies[i].moved = true;
            c->moved[c->moved_count++] = i;
        }
    }

    // Pairs that are no longer near go.
    int kept = 0;
    for (int i = 0; i < c->pairs.count && c->moved_count > 0; i++) {
        ss_shape_pair pair = c->pairs.items[i];
        if (are_near(c, ss_shape_pair_a(pair), ss_shape_pair_b(pair))) c->pairs.items[kept++] = pair;
    }
    if (c->moved_count > 0) {
        c->pairs_changed |= kept < c->pairs.count;
        c->pairs.count = kept;
    }

    // New pairs, around what moved.
    c->fresh.count = 0;
    for (int i = 0; i < c->moved_count; i++)
        if (c->proxies[c->moved[i]].active && !search_around(c, c->moved[i], err)) return false;
    int all = c->pairs.count + c->fresh.count;
    if (!reserve(&c->spare, all, err)) return false;
    c->pairs_changed |= c->fresh.count > 0;
    if (c->fresh.count > 0) {
        // Sorting may swap the two lists' memory: both must hold what either one needs.
        if (!reserve(&c->fresh, all, err)) return false;
        sort(&c->fresh, &c->spare);
        merge(c->pairs.items, c->pairs.count, c->fresh.items, c->fresh.count, c->spare.items);
        c->spare.count = all;
        SS_SWAP(ss_pair_list, c->pairs, c->spare);
    }

    for (int i = 0; i < c->moved_count; i++) c->proxies[c->moved[i]].moved = false;
    c->moved_count = 0;
    c->filters = filters;
    return true;
}

/* Looked at again when something that decides it has changed. */
bool ss_collision_has_pairs(ss_collision *c)
{
    enum { FEW = 64 };
    int shapes = ss_world_shape_count(c->world);
    if (shapes > FEW) return true;
    ss_digest digest = ss_digest_start();
    ss_digest_add(&digest, (uint64_t)ss_world_separation_count(c->world));
    for (int i = 0; i < shapes; i++) {
        const ss_shape *shape = ss_world_shape(c->world, i);
        const ss_body *body = ss_world_body(c->world, shape->body);
        ss_digest_add(&digest, (uint64_t)shape->group << 32 | shape->collides_with);
        ss_digest_add(&digest, (uint64_t)(shape->body + 1) << 4 |
                                   (uint64_t)(body ? body->kind : SS_STATIC) << 2 |
                                   (uint64_t)(body && body->disabled) << 1 | (uint64_t)shape->ghost);
    }
    for (int i = 0; i < ss_world_joint_count(c->world); i++) {
        const ss_joint *joint = ss_world_joint(c->world, i);
        ss_digest_add(&digest, (uint64_t)joint->disabled << 1 | (uint64_t)joint->bodies_collide);
    }
    if (c->meeting_is_known && c->meeting[0] == digest.a && c->meeting[1] == digest.b) return c->may_meet;

    c->meeting_is_known = true;
    c->meeting[0] = digest.a;
    c->meeting[1] = digest.b;
    c->may_meet = false;
    for (int a = 0; a < shapes && !c->may_meet; a++)
        for (int b = 0; b < a && !c->may_meet; b++) c->may_meet = ss_world_may_touch(c->world, a, b);
    return c->may_meet;
}
