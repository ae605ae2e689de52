/* Manifolds that are kept, see kept.h. */
#include "collision/kept.h"
#include "base/memory.h"
#include "collision/pairs.h"
#include "collision/polyhedron.h"
#include "collision/state.h"

#include <string.h>

/* Of the smaller shape's size: how much wider than asked for the margin is. Half of what is always kept. */
#define RESERVE_SHARE (0.5 * SS_MARGIN_SHARE)

void ss_collision_keep(ss_collision *collision)
{
    collision->keeps = true;
}

const ss_kept_manifold *ss_collision_kept(const ss_collision *collision, int *count)
{
    *count = collision->kept_count;
    return collision->kept;
}

static bool reserve(ss_kept_manifold **items, int *capacity, int count)
{
    if (count <= *capacity) return true;
    int larger = count + count / 2 + 16;
    ss_kept_manifold *room = ss_allocate((size_t)larger, sizeof *room);
    if (!room) return false;
    ss_release(*items);
    *items = room;
    *capacity = larger;
    return true;
}

bool ss_collision_take_kept(ss_collision *c, const ss_kept_manifold *items, int count)
{
    if (!reserve(&c->kept, &c->kept_capacity, count)) return false;
    if (count) memcpy(c->kept, items, (size_t)count * sizeof *items);
    c->kept_count = count;
    return true;
}

/* Shapes whose contacts cost more than a look at what was kept, and do not roll. */
static bool is_worth_it(const ss_collision *c, int number)
{
    ss_shape_kind kind = c->proxies[number].placed.shape->kind;
    return kind == SS_BOX || kind == SS_HULL;
}

/* By rising pairs, as what is kept. If the pairs are those of the last step, manifolds stay where they are;
 * else they go to the other one of two arrays. */
bool ss_kept_follow_pairs(ss_collision *c, ss_error *err)
{
    if (!c->keeps) return true;
    int count = 0, old = 0, found = 0;
    if (!reserve(&c->kept_next, &c->kept_next_capacity, c->near_count))
        return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d pairs", c->near_count);
    for (int i = 0; i < c->near_count; i++) {
        ss_shape_pair pair = c->pairs.items[c->near[i]];
        c->slots[i] = (ss_kept_slot){NULL, NULL};
        if (!is_worth_it(c, ss_shape_pair_a(pair)) || !is_worth_it(c, ss_shape_pair_b(pair))) continue;
        while (old < c->kept_count && c->kept[old].pair < pair) old++;
        if (old < c->kept_count && c->kept[old].pair == pair) {
            c->slots[i].from = &c->kept[old];
            found++;
        }
        c->slots[i].to = &c->kept_next[count++];
    }

    bool same = found == count && count == c->kept_count;
    for (int i = 0; i < c->near_count; i++) {
        ss_kept_slot *slot = &c->slots[i];
        if (!slot->to) continue;
        if (same) {
            slot->to = slot->from;
        } else {
            slot->to->pair = c->pairs.items[c->near[i]];
            slot->to->count = SS_KEPT_NOTHING;
        }
    }
    if (same) return true;
    SS_SWAP(ss_kept_manifold *, c->kept, c->kept_next);
    SS_SWAP(int, c->kept_capacity, c->kept_next_capacity);
    c->kept_count = count;
    return true;
}

/* ---- one pair --------------------------------------------------------------------------------------- */

double ss_kept_reserve(const ss_proxy *a, const ss_proxy *b)
{
    return RESERVE_SHARE * fmin(a->size, b->size);
}

/* The other shape seen from the base. */
static void relative_pose(const ss_proxy *base, const ss_proxy *other, double shift[3], double turn[9])
{
    ss_vec3 apart = ss_vec3_subtract(ss_placed_position(&other->placed), ss_placed_position(&base->placed));
    ss_vec3_store(ss_placed_turn_back(&base->placed, apart), shift);
    const double *r = base->placed.rotation, *q = other->placed.rotation;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) turn[3 * i + j] = r[i] * q[j] + r[3 + i] * q[3 + j] + r[6 + i] * q[6 + j];
}

bool ss_kept_holds(const ss_kept_manifold *kept, const ss_proxy *a, const ss_proxy *b, double margin)
{
    if (kept->count == SS_KEPT_NOTHING || !(margin < kept->margin)) return false;
    const ss_proxy *base = kept->base ? b : a, *other = kept->base ? a : b;
    double shift[3], turn[9], moved = 0.0, turned = 0.0;
    relative_pose(base, other, shift, turn);
    for (int i = 0; i < 3; i++) moved += (shift[i] - kept->shift[i]) * (shift[i] - kept->shift[i]);
    for (int i = 0; i < 9; i++) turned += (turn[i] - kept->turn[i]) * (turn[i] - kept->turn[i]);
    return margin + sqrt(moved) + sqrt(turned) * other->radius <= kept->margin;
}

void ss_kept_fill(const ss_manifold *manifold, const ss_proxy *a, const ss_proxy *b, double margin,
                  ss_kept_manifold *kept)
{
    kept->count = SS_KEPT_NOTHING;
    if (manifold->count > SS_KEPT_POINTS) return;
    for (int i = 1; i < manifold->count; i++) // one normal for all
        if (memcmp(manifold->points[i].normal, manifold->points[0].normal, sizeof kept->normal) != 0) return;

    kept->base = b->radius > a->radius;
    const ss_proxy *base = kept->base ? b : a, *other = kept->base ? a : b;
    relative_pose(base, other, kept->shift, kept->turn);
    kept->margin = margin;
    kept->count = manifold->count;
    memset(kept->normal, 0, sizeof kept->normal);
    if (manifold->count == 0) return;
    ss_vec3 normal = ss_vec3_load(manifold->points[0].normal);
    ss_vec3_store(ss_placed_turn_back(&base->placed, normal), kept->normal);
    for (int i = 0; i < manifold->count; i++) {
        const ss_contact_point *from = &manifold->points[i];
        ss_vec3 point = ss_vec3_load(from->point);
        ss_vec3 on_a = ss_vec3_add_scaled(point, -0.5 * from->gap, normal),
                on_b = ss_vec3_add_scaled(point, 0.5 * from->gap, normal);
        ss_vec3_store(ss_placed_to_local(&a->placed, on_a), kept->on[0][i]);
        ss_vec3_store(ss_placed_to_local(&b->placed, on_b), kept->on[1][i]);
        kept->feature[i] = from->feature;
    }
}

void ss_kept_part(const ss_proxy *a, const ss_proxy *b, double separation, ss_vec3 axis,
                  ss_kept_manifold *kept)
{
    kept->count = 0;
    kept->base = b->radius > a->radius;
    const ss_proxy *base = kept->base ? b : a, *other = kept->base ? a : b;
    relative_pose(base, other, kept->shift, kept->turn);
    kept->margin = separation;
    ss_vec3_store(ss_placed_turn_back(&base->placed, axis), kept->normal);
    kept->feature[0] = kept->feature[1] = 0;
}

/* How much farther along an axis a turning hull reaches from its centre at the end of the step than at its
 * beginning, when vertex `top` is outermost. In the frame of the hull the axis turns the other way; what
 * the first order in the angle leaves out is below half its square. In between, the reach is no larger than
 * at one of the two ends, as it is a convex function of the direction. */
static double reach_gained(const ss_proxy *proxy, ss_vec3 own, ss_vec3 axis, ss_vec3 turn, int top)
{
    const ss_hull *hull = proxy->placed.geometry->hull;
    ss_vec3 turned = ss_vec3_subtract(axis, ss_vec3_cross(turn, axis));
    ss_vec3 then = ss_placed_turn_back(&proxy->placed, turned);
    int farthest = ss_hull_support(hull, then, top);
    return ss_vec3_dot(then, ss_vec3_subtract(hull->vertex[farthest], hull->centre)) -
           ss_vec3_dot(own, ss_vec3_subtract(hull->vertex[top], hull->centre)) +
           0.5 * ss_vec3_dot(turn, turn) * hull->radius;
}

/* The separation along an axis is a lower bound of the distance whatever the axis is. It is found from the
 * vertices that were the outermost ones the last time. */
bool ss_kept_are_apart(const ss_kept_manifold *kept, const ss_proxy *a, const ss_proxy *b,
                       const ss_approach *approach, ss_kept_manifold *to)
{
    ss_vec3 own = ss_vec3_load(kept->normal);
    if (kept->count != 0 || (own.x == 0.0 && own.y == 0.0 && own.z == 0.0)) return false;
    ss_vec3 axis = ss_placed_turn(&(kept->base ? b : a)->placed, own);
    const ss_hull *hull_a = a->placed.geometry->hull, *hull_b = b->placed.geometry->hull;
    if (kept->feature[0] >= (uint32_t)hull_a->vertex_count ||
        kept->feature[1] >= (uint32_t)hull_b->vertex_count)
        return false; // of a damaged file
    ss_vec3 out = ss_placed_turn_back(&a->placed, axis);
    ss_vec3 back = ss_vec3_negate(ss_placed_turn_back(&b->placed, axis));
    int top = ss_hull_support(hull_a, out, (int)kept->feature[0]);
    int bottom = ss_hull_support(hull_b, back, (int)kept->feature[1]);
    ss_vec3 between = ss_vec3_subtract(ss_placed_position(&b->placed), ss_placed_position(&a->placed));
    double separation = ss_vec3_dot(axis, between) - ss_vec3_dot(out, hull_a->vertex[top]) -
                        ss_vec3_dot(back, hull_b->vertex[bottom]);

    /* The axis is a unit vector to rounding. */
    separation -= 1e-12 * (fabs(separation) + a->radius + b->radius);
    if (!(separation > ss_approach_along(approach, axis))) {
        double least = separation + ss_vec3_dot(axis, approach->way);
        if (!(separation > approach->rest && least > approach->rest)) return false;
        least -= reach_gained(a, out, axis, approach->turn[0], top);
        least -= reach_gained(b, back, ss_vec3_negate(axis), approach->turn[1], bottom);
        if (!(least > approach->rest)) return false;
    }
    uint32_t features[2] = {(uint32_t)top, (uint32_t)bottom};
    ss_kept_part(a, b, separation, axis, to);
    memcpy(to->feature, features, sizeof features);
    return true;
}

void ss_kept_read(const ss_kept_manifold *kept, const ss_proxy *a, const ss_proxy *b, ss_manifold *manifold)
{
    manifold->count = kept->count;
    if (kept->count == 0) return;
    ss_vec3 normal = ss_placed_turn(&(kept->base ? b : a)->placed, ss_vec3_load(kept->normal));
    normal = ss_vec3_scale(1.0 / ss_vec3_norm(normal), normal);
    for (int i = 0; i < kept->count; i++) {
        ss_contact_point *to = &manifold->points[i];
        ss_vec3 on_a = ss_placed_to_world(&a->placed, ss_vec3_load(kept->on[0][i])),
                on_b = ss_placed_to_world(&b->placed, ss_vec3_load(kept->on[1][i]));
        ss_vec3_store(ss_vec3_scale(0.5, ss_vec3_add(on_a, on_b)), to->point);
        ss_vec3_store(normal, to->normal);
        to->gap = ss_vec3_dot(normal, ss_vec3_subtract(on_b, on_a));
        to->feature = kept->feature[i];
    }
}
