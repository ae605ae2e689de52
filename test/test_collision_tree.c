/* From a world to its list of contacts: who is near whom, in which order, with which margins, names
 * and materials. */
#include "base/team.h"
#include "collision_kit.h"
#include "faults.h"

#include "collision/bounds.h"
#include "collision/bvh.h"
#include "collision/ray_cast.h"

static ss_vec3 any_place(ss_random *random, double reach)
{
    return vec(ss_random_between(random, -reach, reach), ss_random_between(random, -reach, reach),
               ss_random_between(random, -reach, reach));
}

static ss_shape any_shape(ss_random *random, double scale)
{
    static const ss_shape_kind kinds[] = {SS_SPHERE,   SS_BOX,    SS_CAPSULE,
                                          SS_CYLINDER, SS_SPHERE, SS_ELLIPSOID};
    ss_shape shape = {.kind = kinds[ss_random_below(random, 6)], .density = 1000.0};
    for (int k = 0; k < 3; k++) shape.size[k] = scale * ss_random_between(random, 0.1, 0.4);
    return shape;
}

static void set_pose(ss_body *body, ss_vec3 at, ss_quat turn)
{
    ss_vec3_store(at, body->position);
    ss_quat_store(turn, body->quaternion);
}

/* Bodies of one random shape each between two walls and on a floor; every fourth has a second shape. */
static ss_world *make_world(int bodies, double reach, uint64_t seed)
{
    ss_random random = ss_random_start(seed, 0);
    ss_world *world = ss_world_create(NULL);
    ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE, .position = {0, 0, -reach}}, NULL);
    ss_quat side = about(vec(0, 1, 0), M_PI / 2);
    ss_shape wall = {.kind = SS_PLANE, .position = {-reach, 0, 0}};
    ss_quat_store(side, wall.quaternion);
    ss_world_add_shape(world, SS_WORLD, &wall, NULL);
    ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_BOX, .size = {reach, reach, 0.1}}, NULL);
    for (int i = 0; i < bodies; i++) {
        ss_body body = {.kind = SS_DYNAMIC};
        set_pose(&body, any_place(&random, reach), any_turn(&random));
        int number = ss_world_add_body(world, &body, NULL);
        ss_shape shape = any_shape(&random, 1.0);
        ss_world_add_shape(world, number, &shape, NULL);
        if (i % 4) continue;
        ss_shape second = any_shape(&random, 1.0);
        second.position[0] = 0.3;
        ss_world_add_shape(world, number, &second, NULL);
    }
    return ss_world_finish(world, NULL) ? world : NULL;
}

static void shake(ss_world *world, ss_random *random, double step, double reach)
{
    for (int b = 0; b < ss_world_body_count(world); b++) {
        ss_body *body = ss_world_body(world, b);
        ss_vec3 at = ss_vec3_add_scaled(ss_vec3_load(body->position), step, any_direction(random));
        if (ss_random_below(random, 500) == 0 || ss_vec3_max_abs(at) > reach) at = any_place(random, reach);
        ss_quat turn = ss_quat_multiply(about(any_direction(random), step), ss_quat_load(body->quaternion));
        set_pose(body, at, ss_quat_normalise(turn));
    }
}

static void place_shape(const ss_world *world, int number, ss_placed_shape *at)
{
    const ss_shape *shape = ss_world_shape(world, number);
    const ss_body *body = ss_world_body(world, shape->body);
    ss_quat turn = ss_quat_load(shape->quaternion);
    ss_vec3 position = ss_vec3_load(shape->position);
    if (ss_quat_norm(turn) == 0.0) turn = ss_quat_identity();
    if (body) {
        position = ss_vec3_add(ss_vec3_load(body->position),
                               ss_quat_rotate(ss_quat_load(body->quaternion), position));
        turn = ss_quat_multiply(ss_quat_load(body->quaternion), turn);
    }
    *at = (ss_placed_shape){.shape = shape, .geometry = ss_world_geometry(world, number), .number = number};
    ss_vec3_store(position, at->position);
    ss_mat3_store(ss_quat_to_matrix(turn), at->rotation);
}

static ss_collision *watch(const ss_world *world, double margin, int reduce)
{
    return ss_collision_create(world, &(ss_collision_options){.margin = margin, .reduce = reduce}, NULL);
}

/* ---- the tree of boxes ------------------------------------------------------------------------------ */

enum { BOXES_MOST = 64 };

typedef struct meetings {
    int count[BOXES_MOST][BOXES_MOST];
    bool is_stranger; // a number that no leaf has
} meetings;

static bool note_meeting(int a, int b, void *context)
{
    meetings *found = context;
    found->is_stranger |= a < 0 || b < 0 || a >= BOXES_MOST || b >= BOXES_MOST;
    if (!found->is_stranger) found->count[a < b ? a : b][a < b ? b : a]++;
    return true;
}

/* Boxes like any others, the same ones again and again, flat ones, and those that hold whatever there is. */
static ss_box any_box(ss_random *random)
{
    ss_vec3 at = any_place(random, 1.0), size = any_place(random, 0.5);
    ss_box box = {at, vec(at.x + fabs(size.x), at.y + fabs(size.y), at.z + fabs(size.z))};
    switch (ss_random_below(random, 8)) {
    case 0:
        return (ss_box){vec(-INFINITY, -INFINITY, -INFINITY), vec(INFINITY, INFINITY, INFINITY)};
    case 1:
        return (ss_box){vec(-1e300, -1e39, -1e200), vec(1e300, 1e39, 1e200)};
    case 2:
        return (ss_box){vec(0.2, 0.2, 0.2), vec(0.3, 0.3, 0.3)};
    case 3:
        box.low.y = NAN;
        return box;
    case 4:
        box.high.z = box.low.z;
        return box;
    default:
        return box;
    }
}

TEST(all_pairs_of_boxes_are_found_once_whatever_numbers_they_are)
{
    ss_random random = ss_random_start(61, 0);
    ss_bvh tree = {0};
    ENSURE(ss_bvh_reserve(&tree, BOXES_MOST, NULL));
    for (int trial = 0; trial < 600; trial++) {
        ss_bvh_node leaf[BOXES_MOST];
        int count = 1 + trial % BOXES_MOST, place[BOXES_MOST];
        for (int i = 0; i < count; i++) {
            ss_box box = any_box(&random);
            tree.leaves[i] = leaf[i] = ss_bvh_leaf(&box, i);
        }
        tree.leaf_count = count;
        ss_bvh_build(&tree);
        for (int node = 0; node < tree.count; node++)
            if (tree.nodes[node].item >= 0) place[tree.nodes[node].item] = node;
        for (int i = 0; i < count; i += 3) { // some move
            ss_box box = any_box(&random);
            leaf[i] = ss_bvh_leaf(&box, i);
            ss_bvh_move(&tree, place[i], &box);
        }

        meetings found = {.is_stranger = false};
        ENSURE(ss_bvh_visit_pairs(&tree, note_meeting, &found));
        ENSURE(!found.is_stranger);
        for (int a = 0; a < count; a++)
            for (int b = a + 1; b < count; b++)
                ENSURE_INT(found.count[a][b], ss_bvh_boxes_meet(&leaf[a], &leaf[b]));
    }
    ss_bvh_free(&tree);
}

/* ---- pairs ------------------------------------------------------------------------------------------ */

/* How fast the gap of a contact opens, m/s. */
static double opening_speed(const ss_world *world, const ss_contact_point *point, int shape_a, int shape_b)
{
    ss_vec3 v[2], at = ss_vec3_load(point->point);
    for (int side = 0; side < 2; side++) {
        const ss_body *body = ss_world_body((ss_world *)(uintptr_t)world,
                                            ss_world_shape(world, side ? shape_b : shape_a)->body);
        v[side] = vec(0, 0, 0);
        if (!body) continue;
        ss_vec3 arm = ss_vec3_subtract(at, ss_vec3_load(body->position));
        v[side] =
            ss_vec3_add(ss_vec3_load(body->velocity), ss_vec3_cross(ss_vec3_load(body->velocity + 3), arm));
    }
    return ss_vec3_dot(ss_vec3_load(point->normal), ss_vec3_subtract(v[1], v[0]));
}

/* Every pair, one after the other, has the contacts of the list: as many, and the deepest of the same gap.
 * With a margin those up to it; without one, h says which of those up to half a metre close, by the rule of
 * docs/collision.md. Counts those that were looked at and those that counted. */
static bool agrees_with_all_pairs(const ss_world *world, const ss_contact_list *list, double margin, double h,
                                  long *all, long *counted)
{
    int at = 0, shapes = ss_world_shape_count(world);
    ss_placed_shape place[64];
    for (int i = 0; i < shapes; i++) place_shape(world, i, &place[i]);
    for (int a = 0; a < shapes; a++)
        for (int b = a + 1; b < shapes; b++) {
            if (!ss_world_may_touch(world, a, b)) continue;
            ss_manifold m;
            ss_collide(&place[a], &place[b], margin > 0.0 ? margin : 0.5, &m);
            double size = fmin(ss_shape_smallest(&place[a]), ss_shape_smallest(&place[b]));
            double least = INFINITY, found = INFINITY;
            int count = 0;
            for (int k = 0; k < m.count; k++) {
                double closes = h * fmax(0.0, -opening_speed(world, &m.points[k], a, b));
                if (!(margin > 0.0) && m.points[k].gap > closes + h * h * 9.81 + 0.01 * size) continue;
                least = fmin(least, m.points[k].gap);
                count++;
            }
            *all += m.count;
            *counted += count;
            for (; at < list->count && list->items[at].shape_a == a && list->items[at].shape_b == b; at++) {
                found = fmin(found, list->items[at].gap);
                count--;
            }
            bool same = least == found || fabs(least - found) < (margin > 0.0 ? 1e-12 : 1e-9);
            if (!same || (margin > 0.0 && count != 0)) return false;
        }
    return at == list->count;
}

static bool has_all_pairs(const ss_world *world, const ss_contact_list *list, double margin)
{
    long all = 0, counted = 0;
    return agrees_with_all_pairs(world, list, margin, 0.0, &all, &counted);
}

TEST(ten_thousand_steps_of_random_walks_never_lose_a_pair)
{
    ss_world *world = make_world(24, 1.0, 31);
    ENSURE(world != NULL);
    ss_collision *collision = watch(world, 0.02, 0);
    ss_random random = ss_random_start(32, 0);
    long contacts = 0;
    for (int step = 0; step < 10000; step++) {
        shake(world, &random, step % 1000 < 500 ? 0.003 : 0.03, 1.2);
        ss_contact_list list;
        ENSURE(ss_collision_find(collision, 0.01, NULL, &list, NULL));
        ENSURE(has_all_pairs(world, &list, 0.02));
        contacts += list.count;
    }
    ENSURE(contacts > 100000);
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

TEST(shapes_that_are_added_disabled_or_filtered_later_are_seen)
{
    ss_world *world = make_world(16, 0.5, 33);
    ENSURE(world != NULL);
    ss_collision *collision = watch(world, 0.02, 0);
    ss_contact_list list;
    ENSURE(ss_collision_find(collision, 0.01, NULL, &list, NULL) && has_all_pairs(world, &list, 0.02));
    int before = list.count;
    ss_world_body(world, 3)->disabled = true;
    ss_world_shape(world, 9)->ghost = true;
    ss_world_shape(world, 12)->group = 2;
    ss_world_shape(world, 13)->collides_with = 1;
    ss_world_separate(world, 0, 5, NULL);
    ENSURE(ss_collision_find(collision, 0.01, NULL, &list, NULL) && has_all_pairs(world, &list, 0.02));
    ENSURE(list.count < before);
    ss_world_body(world, 3)->disabled = false;
    ss_world_shape(world, 9)->ghost = false;
    int added = ss_world_add_body(world, &(ss_body){.kind = SS_DYNAMIC}, NULL);
    ss_world_add_shape(world, added, &(ss_shape){.kind = SS_SPHERE, .size = {0.5}, .density = 1.0}, NULL);
    ENSURE(ss_world_finish(world, NULL));
    ENSURE(ss_collision_find(collision, 0.01, NULL, &list, NULL) && has_all_pairs(world, &list, 0.02));
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

TEST(a_pose_that_is_not_finite_harms_nobody_else)
{
    ss_world *world = make_world(16, 0.5, 43);
    ENSURE(world != NULL);
    ss_collision *collision = watch(world, 0.02, 0);
    ss_contact_list list;
    double held[3], bad[] = {NAN, INFINITY, -1e300};
    memcpy(held, ss_world_body(world, 2)->position, sizeof held);
    for (int k = 0; k < 3; k++) {
        ss_world_body(world, 2)->position[k] = bad[k];
        ENSURE(ss_collision_find(collision, 0.01, NULL, &list, NULL));
        memcpy(ss_world_body(world, 2)->position, held, sizeof held);
        ENSURE(ss_collision_find(collision, 0.01, NULL, &list, NULL) && has_all_pairs(world, &list, 0.02));
    }
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

/* Bit by bit, except for what lies between the members of a struct. */
static bool is_same(const ss_contact *a, const ss_contact *b)
{
    const size_t head = offsetof(ss_contact, material);
    const size_t pair = offsetof(ss_material_pair, spin_coupling) + sizeof a->material.spin_coupling;
    return memcmp(a, b, head) == 0 && memcmp(&a->material, &b->material, pair) == 0 &&
           memcmp(a->surface_velocity, b->surface_velocity, sizeof a->surface_velocity) == 0 &&
           a->key == b->key && a->group == b->group;
}

TEST(the_list_is_the_same_bit_by_bit_for_any_number_of_threads)
{
    ss_world *world = make_world(60, 0.8, 34);
    ENSURE(world != NULL);
    ss_team_fix_round_trip(0.0); // all that can be shared is
    ss_team *team[2] = {ss_team_create(2, NULL), ss_team_create(7, NULL)};
    ss_collision *alone = watch(world, 0.0, 4), *shared[2] = {watch(world, 0.0, 4), watch(world, 0.0, 4)};
    ss_random random = ss_random_start(35, 0);
    for (int step = 0; step < 100; step++) {
        shake(world, &random, 0.01, 1.0);
        ss_contact_list one, other;
        ENSURE(ss_collision_find(alone, 0.01, NULL, &one, NULL));
        ENSURE(one.count > 50);
        for (int k = 0; k < 2; k++) {
            ENSURE(ss_collision_find(shared[k], 0.01, team[k], &other, NULL));
            ENSURE_INT(one.count, other.count);
            for (int c = 0; c < one.count; c++) ENSURE(is_same(&one.items[c], &other.items[c]));
        }
    }
    ss_collision_destroy(alone);
    for (int k = 0; k < 2; k++) {
        ss_collision_destroy(shared[k]);
        ss_team_destroy(team[k]);
    }
    ss_world_destroy(world);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

TEST(a_world_that_has_settled_needs_no_new_memory)
{
    faults_start(0);
    ss_world *world = make_world(40, 0.8, 36);
    ENSURE(world != NULL);
    ss_collision *collision = watch(world, 0.0, 4);
    ss_random random = ss_random_start(37, 0);
    ss_contact_list list;
    for (int step = 0; step < 50; step++) {
        shake(world, &random, 0.001, 1.0);
        ENSURE(ss_collision_find(collision, 0.01, NULL, &list, NULL));
    }
    long before = faults.requests;
    for (int step = 0; step < 50; step++) {
        shake(world, &random, 0.001, 1.0);
        ENSURE(ss_collision_find(collision, 0.01, NULL, &list, NULL));
    }
    ENSURE_INT(faults.requests, before);
    ss_collision_destroy(collision);
    ss_world_destroy(world);
    ENSURE_INT(faults.live, 0);
    faults_stop();
}

TEST(lack_of_memory_is_told_and_leaves_nothing_behind)
{
    ss_world *world = make_world(20, 0.5, 38);
    ENSURE(world != NULL);
    for (int n = 1;; n++) {
        ss_error err = {.code = SS_OK};
        ss_contact_list list;
        faults_start(n);
        ss_collision *collision = ss_collision_create(world, NULL, &err);
        bool found = collision && ss_collision_find(collision, 0.01, NULL, &list, &err);
        ss_collision_destroy(collision);
        long live = faults.live;
        bool reached = faults_stop();
        ENSURE_INT(live, 0);
        ENSURE(found != reached);
        ENSURE_INT(err.code, reached ? SS_ERROR_RESOURCES : SS_OK);
        if (!reached) break;
    }
    ss_world_destroy(world);
}

/* ---- margins ---------------------------------------------------------------------------------------- */

/* Two balls of radius 0.1 with this gap, the upper one with a velocity along z; contacts
 * found for h = 0.01. */
static int contacts_of_balls(double gap, double velocity, double unit)
{
    ss_world *world = ss_world_create(NULL);
    for (int k = 0; k < 3; k++) ss_world_gravity(world)[k] *= unit;
    for (int i = 0; i < 2; i++) {
        ss_body body = {.kind = SS_DYNAMIC,
                        .position = {0, 0, unit * i * (0.2 + gap)},
                        .velocity = {0, 0, unit * i * velocity}};
        ss_shape ball = {.kind = SS_SPHERE, .size = {0.1 * unit}, .density = 1.0};
        ss_world_add_shape(world, ss_world_add_body(world, &body, NULL), &ball, NULL);
    }
    ss_world_finish(world, NULL);
    ss_collision *collision = ss_collision_create(world, NULL, NULL);
    ss_contact_list list;
    ss_collision_find(collision, 0.01, NULL, &list, NULL);
    int count = list.count;
    ss_collision_destroy(collision);
    ss_world_destroy(world);
    return count;
}

TEST(contacts_are_made_when_the_step_may_close_the_gap)
{
    static const double units[] = {1e-3, 1.0, 1e3};
    for (int k = 0; k < 3; k++) {
        ENSURE_INT(contacts_of_balls(0.0019, 0.0, units[k]), 1); // 1 % of the diameter
        ENSURE_INT(contacts_of_balls(0.01, 0.0, units[k]), 0);
        ENSURE_INT(contacts_of_balls(0.01, -1.0, units[k]), 1); // closes 0.01 m in a step
        ENSURE_INT(contacts_of_balls(0.05, -1.0, units[k]), 0);
        ENSURE_INT(contacts_of_balls(0.01, 1.0, units[k]), 0);   // flies away
        ENSURE_INT(contacts_of_balls(-0.001, 1.0, units[k]), 1); // overlap is told whatever the speed
    }
}

TEST(bodies_that_fly_together_have_the_contacts_that_their_own_motion_closes_and_no_others)
{
    const double h = 0.01;
    ss_random random = ss_random_start(44, 0);
    long closing = 0, all = 0;
    for (int round = 0; round < 40; round++) {
        ss_world *world = make_world(30, 0.7, 45 + (uint64_t)round);
        ENSURE(world != NULL);
        ss_vec3 common = ss_vec3_scale(20.0, any_direction(&random));
        for (int b = 0; b < ss_world_body_count(world); b++) {
            ss_body *body = ss_world_body(world, b);
            ss_vec3_store(
                ss_vec3_add_scaled(common, ss_random_between(&random, 0, 3), any_direction(&random)),
                body->velocity);
            ss_vec3_store(ss_vec3_scale(ss_random_between(&random, 0, 20), any_direction(&random)),
                          body->velocity + 3);
        }
        ss_collision *collision = watch(world, 0.0, 0);
        ss_contact_list list;
        ENSURE(ss_collision_find(collision, h, NULL, &list, NULL));

        ENSURE(agrees_with_all_pairs(world, &list, 0.0, h, &all, &closing));
        ss_collision_destroy(collision);
        ss_world_destroy(world);
    }
    ENSURE(closing > 5000 && all > 3 * closing);
}

/* ---- what a contact carries ------------------------------------------------------------------------- */

static ss_contact_list find_once(ss_collision *collision)
{
    ss_contact_list list = {0};
    ss_collision_find(collision, 0.01, NULL, &list, NULL);
    return list;
}

TEST(a_belt_carries_its_surface_velocity_turned_into_the_world)
{
    ss_world *world = ss_world_create(NULL);
    ss_shape belt = {
        .kind = SS_BOX, .size = {2, 1, 0.2}, .surface_velocity = {0.5, 0, 0}, .position = {0, 0, -0.1}};
    ss_quat_store(about(vec(0, 0, 1), M_PI / 2), belt.quaternion);
    ss_world_add_shape(world, SS_WORLD, &belt, NULL);
    int body = ss_world_add_body(world, &(ss_body){.kind = SS_DYNAMIC, .position = {0, 0, 0.1}}, NULL);
    ss_material rubber = {.name = "rubber", .mu = 0.9, .restitution = 0.3};
    int material = ss_world_add_material(world, &rubber, NULL);
    ss_world_add_shape(world, body,
                       &(ss_shape){.kind = SS_SPHERE, .size = {0.1}, .density = 1.0, .material = material},
                       NULL);
    ENSURE(ss_world_finish(world, NULL));
    ss_collision *collision = watch(world, 0.0, 4);
    ss_contact_list list = find_once(collision);
    ENSURE_INT(list.count, 1);
    const ss_contact *contact = &list.items[0];
    ENSURE_INT(contact->body_a, SS_WORLD);
    ENSURE_INT(contact->body_b, body);
    ENSURE_NEAR(contact->normal[2], 1.0, 1e-12); // from the belt, which has the lower number, to the ball
    ENSURE_NEAR(contact->surface_velocity[1], -0.5, 1e-15); // b's minus a's
    ENSURE_NEAR(contact->material.mu, sqrt(0.9 * 0.5), 1e-15);
    ENSURE_NEAR(contact->material.restitution, 0.3, 0.0);
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

TEST(keys_are_unique_and_stay_as_long_as_the_same_features_touch)
{
    ss_world *world = make_world(60, 0.7, 39);
    ENSURE(world != NULL);
    ss_collision *collision = watch(world, 0.01, 0);
    uint64_t keys[2000];
    ss_contact_list list = find_once(collision);
    ENSURE(list.count > 200 && list.count < 2000);
    int count = list.count;
    for (int i = 0; i < count; i++) keys[i] = list.items[i].key;
    list = find_once(collision);
    ENSURE_INT(list.count, count);
    for (int i = 0; i < count; i++) ENSURE(list.items[i].key == keys[i]);
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    for (int i = 1; i < count; i++) ENSURE(keys[i] != keys[i - 1]);
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

static void one_point_above(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                            ss_manifold *manifold, void *context)
{
    (void)margin;
    ++*(int *)context;
    manifold->count = 1;
    manifold->points[0] = (ss_contact_point){.normal = {0, 0, 1}, .gap = -0.25, .feature = 7};
    memcpy(manifold->points[0].point, a->position, sizeof a->position);
    if (a->shape->kind != SS_SPHERE || b->shape->kind != SS_BOX) *(int *)context += 1000;
}

TEST(a_pair_function_of_the_user_takes_the_place_of_ours)
{
    ss_world *world = ss_world_create(NULL);
    ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_BOX, .size = {1, 1, 1}}, NULL);
    int body = ss_world_add_body(world, &(ss_body){.kind = SS_DYNAMIC, .position = {0, 0, 0.6}}, NULL);
    ss_world_add_shape(world, body, &(ss_shape){.kind = SS_SPHERE, .size = {0.2}, .density = 1.0}, NULL);
    ENSURE(ss_world_finish(world, NULL));
    ss_collision *collision = watch(world, 0.0, 4);
    int calls = 0;
    ss_error err;
    ENSURE(ss_collision_replace(collision, SS_SPHERE, SS_BOX, one_point_above, &calls, &err));
    ss_contact_list list = find_once(collision);
    ENSURE(calls > 0 && calls < 1000);
    ENSURE_INT(list.count, 1);
    ENSURE_NEAR(list.items[0].gap, -0.25, 0.0);
    ENSURE_NEAR(list.items[0].normal[2], -1.0, 0.0); // the box is a: seen from it, the other way
    ENSURE(ss_collision_replace(collision, SS_SPHERE, SS_BOX, NULL, NULL, &err));
    list = find_once(collision);
    ENSURE_NEAR(list.items[0].gap, -0.1, 1e-15);
    ENSURE(!ss_collision_replace(collision, SS_BOX, SS_SPHERE, one_point_above, &calls, &err));
    ENSURE_CONTAINS(err.message, "order of ss_shape_kind");
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

TEST(the_work_is_reported)
{
    ss_world *world = make_world(40, 0.6, 40);
    ss_collision *collision = watch(world, 0.0, 4);
    ss_contact_list list = find_once(collision);
    ss_collision_work work = ss_collision_last_work(collision);
    ENSURE_INT(work.contacts, list.count);
    ENSURE(work.pairs_tested >= work.pairs_touching && work.pairs_touching > 0 &&
           work.contacts >= work.pairs_touching);
    ENSURE(work.broad_seconds > 0.0 && work.narrow_seconds > 0.0);
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

/* ---- rays ------------------------------------------------------------------------------------------- */

/* Walks along the ray by the distance that a point has from all shapes, until there is none left: knows
 * nothing of rays. INFINITY when it comes past `most`. */
static double march(const ss_world *world, ss_vec3 origin, ss_vec3 direction, double most, int *shape)
{
    static const double dot = 1e-7;
    ss_shape point = {.kind = SS_SPHERE, .size = {dot}};
    double t = 0.0;
    for (int step = 0; step < 4000; step++) {
        ss_placed_shape at = {.shape = &point, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, other;
        ss_vec3_store(ss_vec3_add_scaled(origin, t, direction), at.position);
        double nearest = most;
        for (int i = 0; i < ss_world_shape_count(world); i++) {
            place_shape(world, i, &other);
            ss_manifold m;
            ss_collide(&at, &other, most, &m);
            if (m.count == 0 || deepest(&m)->gap >= nearest) continue;
            nearest = deepest(&m)->gap;
            *shape = i;
        }
        if (nearest < dot) return t;
        t += nearest;
        if (t > most) break;
    }
    return INFINITY;
}

TEST(rays_hit_what_a_walk_along_them_meets_first)
{
    ss_world *world = make_world(12, 1.0, 41);
    ENSURE(world != NULL);
    ss_collision *collision = watch(world, 0.0, 4);
    ss_random random = ss_random_start(42, 0);
    int hits = 0;
    for (int i = 0; i < 150; i++) {
        ss_vec3 origin = any_place(&random, 0.95), direction = any_direction(&random);
        double o[3], d[3], n[3], distance;
        ss_vec3_store(origin, o);
        ss_vec3_store(direction, d);
        int walked = -1, shape = ss_collision_ray(collision, o, d, 3.0, &distance, n);
        double expected = march(world, origin, direction, 3.0, &walked);
        if (shape < 0) {
            ENSURE(isinf(expected));
            continue;
        }
        // a grazing walk stops 1e-7 off the surface, well before it is hit
        ENSURE_NEAR(distance, expected, 2e-3);
        // inside of several, any is right
        if (distance > 0.0 && fabs(distance - expected) < 1e-6) ENSURE_INT(shape, walked);
        ENSURE(ss_vec3_dot(ss_vec3_load(n), direction) <= 1e-9);
        hits++;
    }
    ENSURE(hits > 80);
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

TEST(rays_see_meshes_from_the_front_and_heightfields_as_solid_ground)
{
    double heights[16];
    for (int i = 0; i < 16; i++) heights[i] = 0.1 * (i % 4); // rises by 0.1 per cell of 0.5 along x
    ss_mesh *block = ss_mesh_block((double[]){1, 1, 1}, NULL);
    ss_world *world = ss_world_create(NULL);
    ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_MESH, .mesh = block, .position = {0, 0, 5}},
                       NULL);
    ss_world_add_shape(
        world, SS_WORLD,
        &(ss_shape){.kind = SS_HEIGHTFIELD, .size = {0.5, 0.5}, .heights = heights, .nx = 4, .ny = 4}, NULL);
    ss_collision *collision = watch(world, 0.0, 4);
    double distance, normal[3];
    ENSURE_INT(
        ss_collision_ray(collision, (double[]){0.1, 0.2, 9}, (double[]){0, 0, -1}, 20, &distance, normal), 0);
    ENSURE_NEAR(distance, 3.5, 1e-14);
    // From inside the block its faces look away: the ground is next.
    ENSURE_INT(
        ss_collision_ray(collision, (double[]){0.1, 0.2, 5}, (double[]){0, 0, -1}, 20, &distance, normal), 1);
    ENSURE_NEAR(distance, 5.0 - 0.17, 1e-14);
    ENSURE_NEAR(normal[0] / normal[2], -0.2, 1e-14);
    // Along x, into the slope: at z = 0.2 it is met where 0.15 + 0.2 x = 0.2.
    ENSURE_INT(
        ss_collision_ray(collision, (double[]){-3, 0.1, 0.2}, (double[]){2, 0, 0}, 20, &distance, normal), 1);
    ENSURE_NEAR(distance, 3.25, 1e-13);
    // Below the ground at the border of the grid.
    ENSURE_INT(
        ss_collision_ray(collision, (double[]){3, 0.1, 0.2}, (double[]){-1, 0, 0}, 20, &distance, normal), 1);
    ENSURE_NEAR(distance, 2.25, 1e-13);
    ENSURE_INT(
        ss_collision_ray(collision, (double[]){3, 3, 0.2}, (double[]){-1, 0, 0}, 20, &distance, normal), -1);
    ss_collision_destroy(collision);
    ss_world_destroy(world);
    ss_mesh_destroy(block);
}

TEST(a_ball_that_can_meet_nothing_is_seen_by_rays_where_it_has_gone_and_touches_once_it_may)
{
    ss_world *world = ss_world_create(NULL);
    ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, NULL);
    int number = ss_world_add_body(world, &(ss_body){.kind = SS_DYNAMIC, .position = {0, 0, 3}}, NULL);
    ss_world_add_shape(
        world, number,
        &(ss_shape){.kind = SS_SPHERE, .size = {0.5}, .density = 1000, .collides_with = 1u << 31}, NULL);
    ENSURE(ss_world_finish(world, NULL));
    ss_collision *collision = ss_collision_create(world, NULL, NULL);
    ss_contact_list contacts;
    ENSURE(ss_collision_find(collision, 0.01, NULL, &contacts, NULL));

    // It falls into the ground, as far as steps are concerned unseen.
    double distance, normal[3];
    ss_world_body(world, number)->position[2] = 0.25;
    ENSURE(ss_collision_find(collision, 0.01, NULL, &contacts, NULL));
    ENSURE_INT(contacts.count, 0);
    ENSURE_INT(ss_collision_ray(collision, (double[]){0, 0, 9}, (double[]){0, 0, -1}, 20, &distance, normal),
               1);
    ENSURE_NEAR(distance, 9.0 - 0.75, 1e-14);

    // Moved once more, it may touch from now on.
    ss_world_body(world, number)->position[2] = 0.375;
    ss_world_shape(world, 1)->collides_with = 1;
    ENSURE(ss_collision_find(collision, 0.01, NULL, &contacts, NULL));
    ENSURE_INT(contacts.count, 1);
    ENSURE_NEAR(contacts.items[0].gap, -0.125, 1e-14);
    ss_collision_destroy(collision);
    ss_world_destroy(world);
}

TEST_MAIN
