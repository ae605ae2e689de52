/* Shapes at their places, their boxes, and the tree of them. */
#include "base/team.h"
#include "collision/bounds.h"
#include "collision/pairs.h"
#include "collision/state.h"
#include "linalg/quat.h"
#include "model/geometry.h"

#include <string.h>

#define SS_MARGIN_SHARE 0.01 /* of the smaller shape's size: contacts kept beyond what speed asks for */
#define FAT_SHARE \
    0.1 /* of the size, or a quarter of the radius if that is more: how far a shape may move in its box */
#define FAT_STEPS 3.0 /* steps of its present velocity that are foreseen */
#define FAT_LIMIT 4.0 /* a fat box with this many times the room that a new one would have is made again */
#define FEW 16
#define MANY_SHARE 0.125 /* of the leaves: if more leave their boxes in a step, all get new ones */
#define SHAPES_AT_ONCE 64
#define FOLLOWING_NS 60.0 /* about, of a shape */

/* ---- one proxy -------------------------------------------------------------------------------------- */

/* Everything about a shape that decides where it is and how far contacts are looked for, as numbers that can
 * be compared: what has not changed since the last step is left alone. First what it is, then its motion. */
enum { STATE_OF_SHAPE = 11, STATE_OF_TURN = 19 };

static void read_state(const ss_collision *c, const ss_shape *shape, const ss_body *body,
                       const ss_geometry *geometry, double state[30])
{
    memcpy(state, shape->position, sizeof shape->position);
    memcpy(state + 3, shape->quaternion, sizeof shape->quaternion);
    memcpy(state + 7, shape->size, sizeof shape->size);
    state[10] = geometry ? geometry->high[0] : 0.0; // a geometry may be scaled in place
    memcpy(state + 11, shape->surface_velocity, sizeof shape->surface_velocity);
    state[14] = c->h;
    state[15] = c->gravity;
    if (body) {
        memcpy(state + 16, body->position, sizeof body->position);
        memcpy(state + STATE_OF_TURN, body->quaternion, sizeof body->quaternion);
        memcpy(state + 23, body->velocity, sizeof body->velocity);
        state[29] = body->kind;
    } else {
        memset(state + 16, 0, 14 * sizeof *state);
    }
}

/* A quaternion of zeros, as an untouched struct has it, means no rotation. */
static ss_quat rotation_of(const double q[4])
{
    bool is_zero = q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
    return is_zero ? ss_quat_identity() : ss_quat_load(q);
}

/* Where a shape is in the world: on the body, or by itself. Unless it turned, its rotation is known. */
static void place(const ss_shape *shape, const ss_body *body, bool turned, ss_placed_shape *placed)
{
    ss_vec3 position = ss_vec3_load(shape->position);
    ss_quat body_turn = body ? rotation_of(body->quaternion) : ss_quat_identity();
    if (body) position = ss_vec3_add(ss_vec3_load(body->position), ss_quat_rotate(body_turn, position));
    ss_vec3_store(position, placed->position);
    if (!turned) return;
    ss_quat turn = rotation_of(shape->quaternion);
    if (body) turn = ss_quat_multiply(body_turn, turn);
    ss_mat3_store(ss_quat_to_matrix(turn), placed->rotation);
}

ss_placed_shape ss_shape_place(const ss_world *world, int number, const ss_body *at)
{
    const ss_shape *shape = ss_world_shape(world, number);
    ss_placed_shape placed = {.shape = shape, .geometry = ss_world_geometry(world, number), .number = number};
    place(shape, at, true, &placed);
    return placed;
}

static ss_vec3 velocity_at(const ss_proxy *proxy, ss_vec3 p)
{
    return ss_vec3_add(proxy->linear, ss_vec3_cross(proxy->angular, ss_vec3_subtract(p, proxy->centre)));
}

static ss_vec3 origin_velocity(const ss_proxy *proxy)
{
    return velocity_at(proxy, ss_placed_position(&proxy->placed));
}

static ss_box enlarged(ss_box box, double by)
{
    ss_vec3 all = {by, by, by};
    return (ss_box){ss_vec3_subtract(box.low, all), ss_vec3_add(box.high, all)};
}

static bool is_plane(const ss_proxy *proxy)
{
    return proxy->placed.shape->kind == SS_PLANE;
}

/* How far contacts are looked for because of the shape (a pair has the sum of both at most), and the ball and
 * the box around it, which has this margin. */
static void find_bounds(ss_collision *c, int number)
{
    ss_proxy *proxy = &c->proxies[number];
    proxy->speed = proxy->margin = 0.0;
    ss_ball ball = {
        .centre = ss_placed_position(&proxy->placed), .radius = proxy->radius, .size = proxy->size};
    if (proxy->placed.shape->kind == SS_HULL) {
        ball.centre = ss_placed_to_world(&proxy->placed, proxy->placed.geometry->hull->centre);
        ball.radius = proxy->placed.geometry->hull->radius;
    }

    if (!is_plane(proxy)) {
        // Turning about its own axis brings no point of a round shape nearer to anything.
        ss_vec3 w = proxy->angular, axis = ss_placed_axis(&proxy->placed, 2);
        ss_shape_kind kind = proxy->placed.shape->kind;
        if (kind == SS_CAPSULE || kind == SS_CYLINDER) w = ss_vec3_add_scaled(w, -ss_vec3_dot(w, axis), axis);
        double turning = kind == SS_SPHERE ? 0.0 : ss_vec3_norm(w);
        ss_vec3 velocity = origin_velocity(proxy);
        proxy->speed = ss_vec3_norm(velocity) + (turning > 0.0 ? turning * proxy->radius : 0.0);
        ball.way = ss_vec3_scale(c->h, kind == SS_HULL ? velocity_at(proxy, ball.centre) : velocity);
        ball.turn = c->h * turning;

        // The way it makes in a step, gravity's share included, and a share of its size.
        double speed = proxy->speed + (proxy->dynamic ? c->h * c->gravity : 0.0);
        double margin = c->h * speed + (proxy->dynamic ? SS_MARGIN_SHARE * proxy->size : 0.0);
        bool asked_for = c->options.margin > 0.0 && !c->free_velocity;
        proxy->margin = asked_for ? c->options.margin : margin + (c->free_velocity ? c->options.margin : 0.0);
    }

    ball.margin = proxy->margin;
    c->balls[number] = ball;
    ss_vec3 position = ss_placed_position(&proxy->placed);
    ss_box box = {ss_vec3_add(position, proxy->around.low), ss_vec3_add(position, proxy->around.high)};
    c->tight[number] = enlarged(box, proxy->margin);
}

/* ---- fat boxes --------------------------------------------------------------------------------------- */

static double extent_sum(const ss_box *box)
{
    ss_vec3 d = ss_vec3_subtract(box->high, box->low);
    return d.x + d.y + d.z;
}

/* By how much a new fat box is larger: a share of the shape to all sides, and the way of a few steps. */
static double fat_room(const ss_collision *c, int number, ss_vec3 *way)
{
    const ss_proxy *proxy = &c->proxies[number];
    *way = ss_vec3_scale(FAT_STEPS, c->balls[number].way);
    return proxy->dynamic ? FAT_SHARE * fmax(proxy->size, 0.25 * proxy->radius) : 0.0;
}

static ss_box fat_box(const ss_collision *c, int number)
{
    ss_vec3 by;
    double room = fat_room(c, number, &by);
    ss_box fat = enlarged(c->tight[number], room);
    *(by.x < 0.0 ? &fat.low.x : &fat.high.x) += by.x;
    *(by.y < 0.0 ? &fat.low.y : &fat.high.y) += by.y;
    *(by.z < 0.0 ? &fat.low.z : &fat.high.z) += by.z;
    return fat;
}

/* The fat box does not hold the shape any more, or wastes room. */
static bool leaves_fat_box(const ss_collision *c, int number)
{
    const ss_box *fat = &c->fat[number], *tight = &c->tight[number];
    if (c->places[number].leaf < 0 || !ss_box_holds(fat, tight)) return true;
    ss_vec3 by;
    double new_room = 6.0 * fat_room(c, number, &by);
    new_room += fabs(by.x) + fabs(by.y) + fabs(by.z);
    return extent_sum(fat) - extent_sum(tight) > FAT_LIMIT * new_room;
}

/* ---- following the world ----------------------------------------------------------------------------- */

static uint64_t blend(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

/* Everything about one shape that is its own: the tree, and what is kept for all, have to wait. */
static void follow(ss_collision *c, int number)
{
    static const ss_box nowhere = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    ss_proxy *proxy = &c->proxies[number];
    ss_tree_place *news = &c->places[number];
    const ss_shape *shape = ss_world_shape(c->world, number);
    const ss_body *body = ss_world_body(c->world, shape->body);
    bool active = !shape->ghost && !(body && body->disabled);
    news->reshaped = news->leaves = false;
    proxy->placed.shape = shape; // the world may have moved or rescaled what it holds
    proxy->placed.geometry = ss_world_geometry(c->world, number);
    proxy->body = shape->body;
    proxy->material = shape->material;
    proxy->dynamic = body && body->kind == SS_DYNAMIC;

    uint64_t filter = blend(1, (uint64_t)shape->group << 32 | shape->collides_with);
    filter = blend(filter, (uint64_t)(shape->body + 1) << 2 | proxy->dynamic << 1 | active);
    news->refiltered = filter != proxy->filter;
    proxy->filter = filter;
    if (shape->collides_with && !(shape->collides_with & c->met)) return;

    double state[30];
    read_state(c, shape, body, proxy->placed.geometry, state);
    // What is kept of contacts counts on the shapes as they were; NaN: the shape is new to us.
    bool differs = memcmp(state, proxy->state, STATE_OF_SHAPE * sizeof *state) != 0;
    if (active == proxy->active && !differs &&
        memcmp(state + STATE_OF_SHAPE, proxy->state + STATE_OF_SHAPE,
               sizeof state - STATE_OF_SHAPE * sizeof *state) == 0)
        return;
    news->reshaped = differs && !isnan(proxy->state[0]);
    if (differs) {
        proxy->radius = ss_shape_radius(&proxy->placed);
        proxy->size = ss_shape_smallest(&proxy->placed);
    }
    bool turned = differs || !proxy->active ||
                  memcmp(state + STATE_OF_TURN, proxy->state + STATE_OF_TURN, 4 * sizeof *state) != 0;
    memcpy(proxy->state, state, sizeof state);
    proxy->active = active;
    news->has_leaf = active && shape->kind != SS_PLANE; // planes have no bounded box

    if (!active) {
        c->fat[number] = c->tight[number] = nowhere;
        news->leaves = true;
        return;
    }

    bool moves = body && body->kind != SS_STATIC;
    ss_vec3 none = {0.0, 0.0, 0.0};
    place(shape, body, turned, &proxy->placed);
    if (turned) proxy->around = ss_turned_box(&proxy->placed);
    proxy->centre = body ? ss_vec3_load(body->position) : none;
    proxy->linear = moves ? ss_vec3_load(body->velocity) : none;
    proxy->angular = moves ? ss_vec3_load(body->velocity + 3) : none;
    proxy->belt = ss_placed_turn(&proxy->placed, ss_vec3_load(shape->surface_velocity));
    find_bounds(c, number);
    news->leaves = is_plane(proxy) || leaves_fat_box(c, number);
    if (news->leaves) c->fat[number] = fat_box(c, number);
}

static void follow_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) follow(context, (int)i);
}

/* ---- all of them ------------------------------------------------------------------------------------ */

/* Makes *array hold `capacity` items, `count` of them kept; it stays as it was when there is no memory. */
static bool grow(void **array, int count, int capacity, size_t size, ss_error *err)
{
    void *larger = ss_allocate((size_t)capacity, size);
    if (!larger) return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d shapes", capacity);
    if (count) memcpy(larger, *array, (size_t)count * size);
    ss_release(*array);
    *array = larger;
    return true;
}

bool ss_proxies_update(ss_collision *c, bool all, ss_team *team, ss_error *err)
{
    int shapes = ss_world_shape_count(c->world), count = c->proxy_count;
    if (shapes > c->proxy_capacity) {
        int capacity = shapes + shapes / 2;
        if (!ss_bvh_reserve(&c->tree, capacity, err) ||
            !grow((void **)&c->proxies, count, capacity, sizeof *c->proxies, err) ||
            !grow((void **)&c->places, count, capacity, sizeof *c->places, err) ||
            !grow((void **)&c->fat, count, capacity, sizeof *c->fat, err) ||
            !grow((void **)&c->tight, count, capacity, sizeof *c->tight, err) ||
            !grow((void **)&c->balls, count, capacity, sizeof *c->balls, err) ||
            !grow((void **)&c->planes, c->plane_count, capacity, sizeof *c->planes, err) ||
            !grow((void **)&c->moved, c->moved_count, capacity, sizeof *c->moved, err) ||
            !grow((void **)&c->has_moved, count, capacity, sizeof *c->has_moved, err) ||
            !grow((void **)&c->buckets, 0, capacity + 1, sizeof *c->buckets, err))
            return false;
        c->proxy_capacity = capacity;
    }

    // Shapes that are new to us. Their state is unlike any, so that they are placed below.
    for (; c->proxy_count < shapes; c->proxy_count++) {
        ss_proxy *proxy = &c->proxies[c->proxy_count];
        memset(proxy, 0, sizeof *proxy);
        proxy->active = true;
        proxy->placed.number = c->proxy_count;
        proxy->placed.shape = ss_world_shape(c->world, c->proxy_count);
        proxy->state[0] = NAN;
        c->places[c->proxy_count] = (ss_tree_place){.leaf = -1, .has_leaf = !is_plane(proxy)};
        if (is_plane(proxy)) c->planes[c->plane_count++] = c->proxy_count;
    }

    c->met = all ? UINT32_MAX : 0;
    for (int i = 0; !all && i < shapes; i++) {
        uint32_t group = ss_world_shape(c->world, i)->group;
        c->met |= group ? group : 1; // as ss_world_may_touch has it
    }
    c->gravity = ss_vec3_norm(ss_vec3_load(ss_world_gravity((ss_world *)c->world)));
    ss_parallel_for(ss_team_for_loop(team, shapes, FOLLOWING_NS), shapes, SHAPES_AT_ONCE, follow_range, c);

    // The news: how many left their boxes, and whether the tree gets other leaves.
    int leaving = 0, leaves = 0;
    bool others = false;
    for (int i = 0; i < shapes; i++) {
        const ss_tree_place *news = &c->places[i];
        leaves += news->has_leaf;
        leaving += news->leaves;
        others |= news->has_leaf != (news->leaf >= 0);
        c->refiltered |= news->refiltered;
        if (news->reshaped) c->kept_count = 0;
    }

    // Where many leave in one step the rest would in the next ones: all get new boxes together, and leave
    // together some steps later.
    bool many = leaving > FEW && leaving > MANY_SHARE * leaves;
    for (int i = 0; i < shapes && leaving > 0; i++) {
        const ss_tree_place *news = &c->places[i];
        if (many && !news->leaves && news->has_leaf) c->fat[i] = fat_box(c, i);
        if (!(many || news->leaves) || c->has_moved[i]) continue;
        c->has_moved[i] = true;
        c->moved[c->moved_count++] = i;
    }

    // The tree follows by moving leaves, or is built again.
    if (!many && !others && c->tree.moves + leaving <= leaves) {
        for (int i = 0; i < shapes && leaving > 0; i++)
            if (c->places[i].leaves && c->places[i].leaf >= 0)
                ss_bvh_move(&c->tree, c->places[i].leaf, &c->fat[i]);
        return true;
    }
    c->tree.leaf_count = 0;
    for (int i = 0; i < shapes; i++)
        if (c->places[i].has_leaf)
            c->tree.leaves[c->tree.leaf_count++] = ss_bvh_leaf(&c->fat[i], i);
        else
            c->places[i].leaf = -1;
    ss_bvh_build(&c->tree);
    for (int node = 0; node < c->tree.count; node++)
        if (c->tree.nodes[node].item >= 0) c->places[c->tree.nodes[node].item].leaf = node;
    return true;
}
