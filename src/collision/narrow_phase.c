/* Contacts of all pairs. Workers put the points they find into stores of their own and note for each
 * pair where they are. Then each pair gets its place in the list, in the order of the pairs, so that the
 * list does not depend on who found what, and the workers copy the contacts there. */
#include "base/memory.h"
#include "base/team.h"
#include "collision/pairs.h"
#include "collision/polyhedron.h"
#include "collision/reduce.h"
#include "collision/state.h"

#include <string.h>

#define PAIRS_AT_ONCE 32
#define LOOKS_AT_ONCE 1024
#define LOOKING_NS 20.0   /* about, of a pair: whether it is near */
#define FINDING_NS 200.0  /* its points: 100 between spheres, 500 between boxes */
#define LISTING_NS 40.0   /* its contacts */
#define POINTS_EXPECTED 4 /* of a pair, on average at most: more is found out on the way */

/* ---- one pair --------------------------------------------------------------------------------------- */

static ss_vec3 velocity_at(const ss_proxy *proxy, ss_vec3 p)
{
    return ss_vec3_add(proxy->linear, ss_vec3_cross(proxy->angular, ss_vec3_subtract(p, proxy->centre)));
}

/* Contacts beyond this gap are kept only if they close within the step. */
static double margin_at_rest(const ss_collision *c, double size_a, double size_b)
{
    return c->h * c->h * c->gravity + SS_MARGIN_SHARE * (size_a < size_b ? size_a : size_b);
}

/* m: no point of either comes nearer to the other by turning about the centre of its ball. */
static double turning_of(const ss_ball *a, const ss_ball *b)
{
    return (a->turn > 0.0 ? a->turn * a->radius : 0.0) + (b->turn > 0.0 ? b->turn * b->radius : 0.0);
}

/* No contact with a larger gap is kept: at rest, and what the step may close. No point within the radius of
 * its ball, or half a gap beyond it, approaches the other shape faster than the centre and the turning bring
 * it: g <= rest + |way| + turn_a (r_a + g/2) + turn_b (r_b + g/2), solved for g with 1/(1 - t/2) <= 1 + t. */
static double pair_margin(const ss_collision *c, int number_a, int number_b)
{
    const ss_ball *a = &c->balls[number_a], *b = &c->balls[number_b];
    double most = a->margin + b->margin, turn = a->turn + b->turn;
    if (c->options.margin > 0.0 || !(turn < 1.0)) return c->options.margin > 0.0 ? c->options.margin : most;
    double way = ss_vec3_norm(ss_vec3_subtract(b->way, a->way)) + turning_of(a, b);
    double margin = (margin_at_rest(c, a->size, b->size) + way) * (1.0 + turn);
    return margin < most ? margin : most;
}

/* The same along each axis: apart along an axis by more than this, two shapes do not come nearer to each
 * other within the step than the margin at rest. */
static ss_approach pair_approach(const ss_collision *c, int number_a, int number_b)
{
    const ss_ball *a = &c->balls[number_a], *b = &c->balls[number_b];
    if (c->options.margin > 0.0) return (ss_approach){.rest = c->options.margin};
    return (ss_approach){.rest = margin_at_rest(c, a->size, b->size),
                         .way = ss_vec3_subtract(b->way, a->way),
                         .turning = turning_of(a, b),
                         .turn = {ss_vec3_scale(c->h, c->proxies[number_a].angular),
                                  ss_vec3_scale(c->h, c->proxies[number_b].angular)}};
}

/* One of the two is a plane, and the box of the other does not reach it. */
static bool misses_plane(const ss_collision *c, int plane, int other)
{
    return c->balls[plane].radius == INFINITY &&
           !ss_box_meets_plane(&c->tight[other], &c->proxies[plane].placed);
}

/* The margin of a pair if balls and boxes with it meet, else -1. */
static double margin_if_near(const ss_collision *c, int number_a, int number_b)
{
    const ss_ball *a = &c->balls[number_a], *b = &c->balls[number_b];
    ss_vec3 apart = ss_vec3_subtract(b->centre, a->centre);
    double square = ss_vec3_dot(apart, apart), most = a->margin + b->margin;
    double reach = a->radius + b->radius + most;
    if (square > reach * reach || !ss_boxes_meet(&c->tight[number_a], &c->tight[number_b])) return -1.0;
    double margin = pair_margin(c, number_a, number_b);
    reach = a->radius + b->radius + margin;
    if (square > reach * reach || misses_plane(c, number_a, number_b) || misses_plane(c, number_b, number_a))
        return -1.0;

    // Boxes have the margins of both shapes already.
    double more = margin - most;
    const ss_box *p = &c->tight[number_a], *q = &c->tight[number_b];
    bool meet = p->low.x <= q->high.x + more && q->low.x <= p->high.x + more &&
                p->low.y <= q->high.y + more && q->low.y <= p->high.y + more &&
                p->low.z <= q->high.z + more && q->low.z <= p->high.z + more;
    return meet ? margin : -1.0;
}

/* The contact points of a pair, by rising feature. */
static void find_points(const ss_collision *c, ss_shape_pair pair, double margin, const ss_kept_slot *slot,
                        ss_manifold *manifold)
{
    int number_a = ss_shape_pair_a(pair), number_b = ss_shape_pair_b(pair);
    const ss_proxy *a = &c->proxies[number_a], *b = &c->proxies[number_b];
    ss_kept_manifold *kept = slot ? slot->to : NULL;
    if (kept && slot->from && ss_kept_holds(slot->from, a, b, margin)) {
        if (slot->from != kept) *kept = *slot->from;
        ss_kept_read(kept, a, b, manifold);
        return;
    }
    manifold->count = 0;
    ss_shape_kind kind_a = a->placed.shape->kind, kind_b = b->placed.shape->kind;
    bool swapped = kind_a > kind_b;
    const ss_replacement *own = swapped ? &c->replaced[kind_b][kind_a] : &c->replaced[kind_a][kind_b];
    bool may_part = kept && kind_a == SS_HULL && kind_b == SS_HULL && !own->function; // by an axis
    ss_approach approach;
    if (may_part) approach = pair_approach(c, number_a, number_b);
    if (may_part && slot->from && ss_kept_are_apart(slot->from, a, b, &approach, kept)) return;
    if (kept) margin += ss_kept_reserve(a, b);

    // Our own function for the two kinds, or the user's, who knows them in rising order only.
    if (own->function) {
        const ss_placed_shape *low = swapped ? &b->placed : &a->placed,
                              *high = swapped ? &a->placed : &b->placed;
        own->function(low, high, margin, manifold, own->context);
        if (swapped) ss_manifold_flip(manifold);
    } else if (may_part) {
        ss_vec3 axis;
        double separation =
            ss_collide_hulls_or_part(&a->placed, &b->placed, margin, approach, manifold, &axis);
        if (separation > 0.0) {
            ss_kept_part(a, b, separation, axis, kept);
            return;
        }
    } else {
        ss_collide(&a->placed, &b->placed, margin, manifold);
    }
    if (manifold->count == 0) {
        if (kept) ss_kept_fill(manifold, a, b, margin, kept);
        return;
    }

    // The margin allows for any direction of the velocities. Now that the normal is known, contacts that do
    // not close within the step are dropped, but for the share of the size that is always kept.
    ss_contact_point *p = manifold->points;
    double left_out = margin; // the smallest gap of those, and its normal
    ss_vec3 parted = {0.0, 0.0, 0.0};
    if (!(c->options.margin > 0.0)) {
        double always = margin_at_rest(c, a->size, b->size);
        int left = 0;
        for (int i = 0; i < manifold->count; i++) {
            ss_vec3 at = ss_vec3_load(p[i].point);
            ss_vec3 relative = ss_vec3_subtract(velocity_at(b, at), velocity_at(a, at));
            double opening = ss_vec3_dot(ss_vec3_load(p[i].normal), relative);
            if (p[i].gap <= always + c->h * fmax(0.0, -opening))
                p[left++] = p[i];
            else if (p[i].gap < left_out) {
                left_out = p[i].gap;
                parted = ss_vec3_load(p[i].normal);
            }
        }
        manifold->count = left;
    }
    if (may_part && manifold->count == 0) {
        ss_kept_part(a, b, left_out, parted, kept);
        return;
    }
    if (c->options.reduce > 0 && manifold->count > c->options.reduce)
        ss_manifold_reduce(manifold, c->options.reduce);

    // By rising feature, each feature once: two points of one name would share a key.
    for (int i = 1; i < manifold->count; i++) {
        ss_contact_point held = p[i];
        int j = i;
        for (; j > 0 && p[j - 1].feature > held.feature; j--) p[j] = p[j - 1];
        p[j] = held;
    }
    for (int i = 1; i < manifold->count; i++)
        if (p[i].feature <= p[i - 1].feature) p[i].feature = p[i - 1].feature + 1;

    // Read back, so that finding the same contacts a second time gives the same bits. What was left out may
    // be wanted at other velocities: it bounds the margin in which nothing is missing.
    if (kept) ss_kept_fill(manifold, a, b, left_out, kept);
    if (kept && kept->count != SS_KEPT_NOTHING) ss_kept_read(kept, a, b, manifold);
}

/* ---- all pairs -------------------------------------------------------------------------------------- */

static void look_at_pairs(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_collision *c = context;
    for (int64_t i = begin; i < end; i++) {
        ss_shape_pair pair = c->pairs.items[i];
        bool left = c->free_velocity && ss_collision_has_alternatives(c, pair);
        c->margins[i] = left ? -1.0 : margin_if_near(c, ss_shape_pair_a(pair), ss_shape_pair_b(pair));
    }
}

static void work(int64_t begin, int64_t end, int worker, void *context)
{
    ss_collision *c = context;
    ss_point_store *store = &c->stores[worker];
    ss_manifold manifold;
    int wanted = store->wanted; // stores of two workers may lie in one cache line
    for (int64_t i = begin; i < end; i++) {
        find_points(c, c->pairs.items[c->near[i]], c->margins[c->near[i]], c->keeps ? &c->slots[i] : NULL,
                    &manifold);
        c->results[i] = (ss_pair_result){.worker = worker, .first = wanted, .count = manifold.count};
        wanted += manifold.count;
        if (wanted <= store->capacity)
            memcpy(store->items + c->results[i].first, manifold.points,
                   (size_t)manifold.count * sizeof *manifold.points);
    }
    store->wanted = wanted;
}

/* Room in every store for all points, and then some: which worker gets which pairs is not known. */
static bool grow_stores(ss_collision *c, int points, ss_error *err)
{
    int capacity = points + points / 2 + 64;
    for (int w = 0; w < c->store_count; w++) {
        if (c->stores[w].capacity >= points) continue;
        ss_contact_point *items = ss_allocate_unset((size_t)capacity * sizeof *items);
        if (!items) return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d contacts", capacity);
        ss_release(c->stores[w].items);
        c->stores[w].items = items;
        c->stores[w].capacity = capacity;
    }
    return true;
}

static bool has_room(ss_collision *c, ss_error *err)
{
    if (c->pairs.count <= c->pair_capacity) return true;
    size_t capacity = (size_t)c->pairs.capacity;
    c->pair_capacity = 0;
    ss_release(c->near);
    ss_release(c->margins);
    ss_release(c->results);
    ss_release(c->slots);
    c->near = ss_allocate(capacity, sizeof *c->near);
    c->margins = ss_allocate(capacity, sizeof *c->margins);
    c->results = ss_allocate(capacity, sizeof *c->results);
    c->slots = ss_allocate(capacity, sizeof *c->slots);
    if (!c->near || !c->margins || !c->results || !c->slots)
        return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d pairs of shapes",
                       c->pairs.capacity);
    c->pair_capacity = c->pairs.capacity;
    return true;
}

/* Points of all pairs, in the workers' stores; *points is their number. */
static bool find_all(ss_collision *c, ss_team *team, int *points, ss_error *err)
{
    // Which pairs to look at.
    if (!has_room(c, err)) return false;
    ss_parallel_for(ss_team_for_loop(team, c->pairs.count, LOOKING_NS), c->pairs.count, LOOKS_AT_ONCE,
                    look_at_pairs, c);
    c->near_count = 0;
    for (int i = 0; i < c->pairs.count; i++)
        if (c->margins[i] >= 0.0) c->near[c->near_count++] = i;

    // A store for each worker, a place for what is kept.
    int workers = ss_team_size(team);
    if (workers > c->store_count) {
        ss_point_store *stores = ss_allocate((size_t)workers, sizeof *stores);
        if (!stores) return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d workers", workers);
        if (c->store_count) memcpy(stores, c->stores, (size_t)c->store_count * sizeof *stores);
        ss_release(c->stores);
        c->stores = stores;
        c->store_count = workers;
    }
    if (!grow_stores(c, POINTS_EXPECTED * c->near_count, err) || !ss_kept_follow_pairs(c, err)) return false;

    ss_team *helpers = ss_team_for_loop(team, c->near_count, FINDING_NS);

    // Once more with more room when a store was too small: now and then, as a world fills up.
    for (bool overfull = true; overfull;) {
        for (int w = 0; w < c->store_count; w++) c->stores[w].wanted = 0;
        ss_parallel_for(helpers, c->near_count, PAIRS_AT_ONCE, work, c);

        overfull = false;
        *points = 0;
        for (int w = 0; w < c->store_count; w++) {
            *points += c->stores[w].wanted;
            overfull |= c->stores[w].wanted > c->stores[w].capacity;
        }
        if (overfull && !grow_stores(c, *points, err)) return false;
    }
    return true;
}

/* ---- the list --------------------------------------------------------------------------------------- */

/* Spreads every bit of x over the result (the finaliser of splitmix64). */
static uint64_t scatter(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The contacts of pairs that were found, each at its place in the list. */
static void list_pairs(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_collision *c = context;
    ss_material_pair material = {0};
    int of[2] = {-1, -1}; // whose pair it is: most often the next one has the same
    for (int64_t i = begin; i < end; i++) {
        ss_pair_result result = c->results[i];
        if (result.count == 0) continue;
        ss_shape_pair pair = c->pairs.items[c->near[i]];
        const ss_contact_point *points = c->stores[result.worker].items + result.first;
        int a = ss_shape_pair_a(pair), b = ss_shape_pair_b(pair);
        const ss_proxy *first = &c->proxies[a], *second = &c->proxies[b];
        if (first->material != of[0] || second->material != of[1]) {
            of[0] = first->material, of[1] = second->material;
            material = ss_world_pair(c->world, of[0], of[1]);
        }
        ss_vec3 belt = ss_vec3_subtract(second->belt, first->belt);
        uint64_t pair_hash = scatter(pair);
        for (int k = 0; k < result.count; k++) {
            ss_contact *to = &c->contacts.items[result.place + k];
            to->shape_a = a;
            to->shape_b = b;
            to->body_a = first->body;
            to->body_b = second->body;
            memcpy(to->point, points[k].point, sizeof to->point);
            memcpy(to->normal, points[k].normal, sizeof to->normal);
            to->gap = points[k].gap;
            to->material = material;
            ss_vec3_store(belt, to->surface_velocity);
            // Two contacts of a step share a key with a chance of about n^2 / 2^65.
            to->key = scatter(pair_hash + points[k].feature * 0x9e3779b97f4a7c15u);
            to->group = 0;
        }
    }
}

bool ss_contacts_find(ss_collision *c, ss_team *team, ss_error *err)
{
    int points = 0;
    c->work.pairs_tested = c->pairs.count;
    c->work.pairs_touching = c->work.contacts = c->contacts.count = 0;
    if (!find_all(c, team, &points, err) || !ss_collision_find_groups(c, team, err)) return false;

    int contacts = points + c->groups.point_count;
    if (contacts > c->contact_capacity) {
        int capacity = contacts + contacts / 2;
        ss_contact *items = ss_allocate((size_t)capacity, sizeof *items);
        if (!items) return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d contacts", capacity);
        ss_release(c->contacts.items);
        c->contacts.items = items;
        c->contact_capacity = capacity;
    }

    // In the order of the pairs, not of the workers that found the points; groups of alternatives last.
    for (int i = 0; i < c->near_count; i++) {
        c->results[i].place = c->contacts.count;
        c->contacts.count += c->results[i].count;
        c->work.pairs_touching += c->results[i].count > 0;
    }
    ss_parallel_for(ss_team_for_loop(team, c->near_count, LISTING_NS), c->near_count, PAIRS_AT_ONCE,
                    list_pairs, c);
    ss_collision_list_groups(&c->groups, &c->contacts);
    c->work.pairs_touching += c->groups.count;
    c->work.contacts = c->contacts.count;
    return true;
}
