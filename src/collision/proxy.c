/* Shapes at their places, their boxes, and the tree of them. */
#include "collision/bounds.h"
#include "collision/pairs.h"
#include "collision/state.h"
#include "linalg/quat.h"
#include "model/geometry.h"

#include <string.h>

#define SS_MARGIN_SHARE 0.01 /* of the smaller shape's size: contacts kept beyond what speed asks for */
#define FAT_SHARE 0.05       /* of twice the radius: how far a shape may move before the tree hears of it */
#define FAT_STEPS 2.0        /* steps of its present velocity that are foreseen */
#define FAT_LIMIT 4.0 /* a fat box with this many times the room that a new one would have is made again */

/* ---- one proxy -------------------------------------------------------------------------------------- */

/* Where the shape is, as numbers that can be compared. */
static void read_state(const ss_shape *shape, const ss_body *body, double state[30])
{
    memset(state, 0, 30 * sizeof *state);
    memcpy(state, shape->position, sizeof shape->position);
    memcpy(state + 3, shape->quaternion, sizeof shape->quaternion);
    memcpy(state + 7, shape->size, sizeof shape->size);
    memcpy(state + 27, shape->surface_velocity, sizeof shape->surface_velocity);
    if (!body) return;
    memcpy(state + 10, body->position, sizeof body->position);
    memcpy(state + 13, body->quaternion, sizeof body->quaternion);
    memcpy(state + 17, body->velocity, sizeof body->velocity);
    state[23] = body->kind;
}

static bool is_zero(const double q[4])
{
    return q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
}

static ss_quat rotation_of(const double q[4])
{
    return is_zero(q) ? ss_quat_identity() : ss_quat_load(q);
}

static void place(ss_proxy *proxy, const ss_shape *shape, const ss_body *body)
{
    ss_vec3 position = ss_vec3_load(shape->position);
    ss_quat turn = rotation_of(shape->quaternion);
    proxy->centre = proxy->linear = proxy->angular = (ss_vec3){0.0, 0.0, 0.0};
    if (body) {
        ss_quat body_turn = rotation_of(body->quaternion);
        proxy->centre = ss_vec3_load(body->position);
        if (body->kind != SS_STATIC) {
            proxy->linear = ss_vec3_load(body->velocity);
            proxy->angular = ss_vec3_load(body->velocity + 3);
        }
        position = ss_vec3_add(proxy->centre, ss_quat_rotate(body_turn, position));
        turn = ss_quat_multiply(body_turn, turn);
    }
    ss_vec3_store(position, proxy->placed.position);
    ss_mat3_store(ss_quat_to_matrix(turn), proxy->placed.rotation);
    proxy->belt = ss_placed_turn(&proxy->placed, ss_vec3_load(shape->surface_velocity));
}

/* Turning about its own axis brings no point of a round shape nearer to anything. */
static double turning_speed(const ss_proxy *proxy)
{
    ss_vec3 w = proxy->angular, axis = ss_placed_axis(&proxy->placed, 2);
    switch (proxy->placed.shape->kind) {
    case SS_SPHERE:
        return 0.0;
    case SS_CAPSULE:
    case SS_CYLINDER:
        w = ss_vec3_add_scaled(w, -ss_vec3_dot(w, axis), axis);
        break;
    default:
        break;
    }
    double speed = ss_vec3_norm(w);
    return speed > 0.0 ? speed * proxy->radius : 0.0;
}

static ss_vec3 origin_velocity(const ss_proxy *proxy)
{
    ss_vec3 arm = ss_vec3_subtract(ss_placed_position(&proxy->placed), proxy->centre);
    return ss_vec3_add(proxy->linear, ss_vec3_cross(proxy->angular, arm));
}

static ss_box enlarged(ss_box box, double by)
{
    ss_vec3 all = {by, by, by};
    return (ss_box){ss_vec3_subtract(box.low, all), ss_vec3_add(box.high, all)};
}

static ss_box moved_along(ss_box box, ss_vec3 by)
{
    box.low = ss_vec3_add(box.low, (ss_vec3){fmin(by.x, 0.0), fmin(by.y, 0.0), fmin(by.z, 0.0)});
    box.high = ss_vec3_add(box.high, (ss_vec3){fmax(by.x, 0.0), fmax(by.y, 0.0), fmax(by.z, 0.0)});
    return box;
}

/* How far beyond the shape contacts are looked for because of it; a pair has the sum of both. */
static double own_margin(const ss_collision *c, const ss_proxy *proxy)
{
    if (c->options.margin > 0.0 && !c->free_velocity) return c->options.margin;
    double speed = proxy->speed + (proxy->dynamic ? c->h * c->gravity : 0.0);
    double margin = c->h * speed + (proxy->dynamic ? SS_MARGIN_SHARE * proxy->size : 0.0);
    return margin + (c->free_velocity ? c->options.margin : 0.0);
}

static bool is_plane(const ss_proxy *proxy)
{
    return proxy->placed.shape->kind == SS_PLANE;
}

/* ---- the tree --------------------------------------------------------------------------------------- */

static void note_moved(ss_collision *c, int number)
{
    if (c->proxies[number].moved) return;
    c->proxies[number].moved = true;
    c->moved[c->moved_count++] = number;
}

static double extent_sum(const ss_box *box)
{
    ss_vec3 d = ss_vec3_subtract(box->high, box->low);
    return d.x + d.y + d.z;
}

static bool fits(const ss_bounds *bounds, const ss_box *wanted)
{
    double room = extent_sum(&bounds->fat) - extent_sum(&bounds->tight);
    return ss_box_holds(&bounds->fat, &bounds->tight) &&
           room <= FAT_LIMIT * (extent_sum(wanted) - extent_sum(&bounds->tight));
}

static void leave_tree(ss_collision *c, ss_proxy *proxy)
{
    if (proxy->leaf >= 0) ss_bvh_remove(&c->tree, proxy->leaf);
    proxy->leaf = -1;
}

static void enter_tree(ss_collision *c, int number)
{
    ss_proxy *proxy = &c->proxies[number];
    ss_bounds *bounds = &c->bounds[number];
    ss_box wanted = enlarged(bounds->tight, proxy->dynamic ? FAT_SHARE * 2.0 * proxy->radius : 0.0);
    wanted = moved_along(wanted, ss_vec3_scale(FAT_STEPS * c->h, origin_velocity(proxy)));
    if (proxy->leaf >= 0 && fits(bounds, &wanted)) return;
    leave_tree(c, proxy);
    bounds->fat = wanted;
    proxy->leaf = ss_bvh_insert(&c->tree, &wanted, number);
    note_moved(c, number);
}

static void take_no_part(ss_collision *c, int number)
{
    static const ss_box nowhere = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    leave_tree(c, &c->proxies[number]);
    note_moved(c, number);
    c->bounds[number].fat = c->bounds[number].tight = nowhere;
}

static void find_bounds(ss_collision *c, int number)
{
    ss_proxy *proxy = &c->proxies[number];
    ss_bounds *bounds = &c->bounds[number];
    proxy->radius = ss_shape_radius(&proxy->placed);
    proxy->size = ss_shape_smallest(&proxy->placed);
    proxy->speed = proxy->margin = 0.0;
    if (!is_plane(proxy)) {
        proxy->speed = ss_vec3_norm(origin_velocity(proxy)) + turning_speed(proxy);
        proxy->margin = own_margin(c, proxy);
    }
    c->balls[number] = (ss_ball){ss_placed_position(&proxy->placed), proxy->radius + proxy->margin};
    bounds->tight = enlarged(ss_placed_box(&proxy->placed), proxy->margin);
}

static void update(ss_collision *c, int number)
{
    ss_proxy *proxy = &c->proxies[number];
    const ss_shape *shape = ss_world_shape(c->world, number);
    const ss_body *body = ss_world_body(c->world, shape->body);
    double state[30];
    bool active = !shape->ghost && !(body && body->disabled);
    proxy->placed.shape = shape; // the world may have moved or rescaled what it holds
    proxy->placed.geometry = ss_world_geometry(c->world, number);
    proxy->body = shape->body;
    proxy->material = shape->material;
    read_state(shape, body, state);
    state[24] = c->h;
    state[25] = c->gravity;
    state[26] = proxy->placed.geometry ? proxy->placed.geometry->high[0] : 0.0;
    if (active == proxy->active && memcmp(state, proxy->state, sizeof state) == 0) return;
    memcpy(proxy->state, state, sizeof state);
    proxy->active = active;
    proxy->dynamic = body && body->kind == SS_DYNAMIC;
    if (!active) {
        take_no_part(c, number);
        return;
    }
    place(proxy, shape, body);
    find_bounds(c, number);
    if (is_plane(proxy)) {
        c->bounds[number].fat = c->bounds[number].tight;
        note_moved(c, number);
    } else {
        enter_tree(c, number);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------ */

static void *grow(const void *old, int count, int capacity, size_t size, ss_error *err)
{
    void *larger = ss_allocate((size_t)capacity, size);
    if (!larger) {
        ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d shapes", capacity);
        return NULL;
    }
    if (count) memcpy(larger, old, (size_t)count * size);
    return larger;
}

static bool make_room(ss_collision *c, int shapes, ss_error *err)
{
    if (shapes <= c->proxy_capacity) return true;
    int capacity = shapes + shapes / 2;
    if (!ss_bvh_reserve(&c->tree, capacity, err)) return false;
    ss_proxy *proxies = grow(c->proxies, c->proxy_count, capacity, sizeof *proxies, err);
    ss_bounds *bounds = grow(c->bounds, c->proxy_count, capacity, sizeof *bounds, err);
    ss_ball *balls = grow(c->balls, c->proxy_count, capacity, sizeof *balls, err);
    int *planes = grow(c->planes, c->plane_count, capacity, sizeof *planes, err);
    int *moved = grow(c->moved, c->moved_count, capacity, sizeof *moved, err);
    if (!proxies || !bounds || !balls || !planes || !moved) {
        ss_release(proxies);
        ss_release(balls);
        ss_release(bounds);
        ss_release(planes);
        ss_release(moved);
        return false;
    }
    ss_release(c->proxies);
    ss_release(c->bounds);
    ss_release(c->balls);
    ss_release(c->planes);
    ss_release(c->moved);
    c->proxies = proxies;
    c->bounds = bounds;
    c->balls = balls;
    c->planes = planes;
    c->moved = moved;
    c->proxy_capacity = capacity;
    return true;
}

static void add_proxy(ss_collision *c)
{
    int number = c->proxy_count++;
    ss_proxy *proxy = &c->proxies[number];
    memset(proxy, 0, sizeof *proxy);
    proxy->active = true;
    proxy->placed.number = number;
    proxy->placed.shape = ss_world_shape(c->world, number);
    proxy->leaf = -1;
    proxy->state[0] = NAN; // unlike any state
    if (is_plane(proxy)) c->planes[c->plane_count++] = number;
}

bool ss_proxies_update(ss_collision *c, ss_error *err)
{
    int shapes = ss_world_shape_count(c->world);
    if (!make_room(c, shapes, err)) return false;
    while (c->proxy_count < shapes) add_proxy(c);
    c->gravity = ss_vec3_norm(ss_vec3_load(ss_world_gravity((ss_world *)c->world)));
    for (int i = 0; i < shapes; i++) update(c, i);
    return true;
}
