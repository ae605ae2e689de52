/* What turning links do to the bodies on them, Coriolis, centrifugal and gyroscopic forces, as forces on the
 * links: in two ways that know how far the links turn within a step. (At constant rates and for short steps
 * they are -m and -I times the accelerations of ss_trees_spread, and the gyroscopic torque.)
 *
 * Midway. A step moves the links from q to q + h v. The momenta of this move are P(q, v): mass times the way,
 * inertia halfway times the turn, over h. Lagrange's equations in discrete time (Marsden and West 2001,
 * section 1.3) are
 *
 *     T(q)' (P(q, v+) - P(q - h v, v)) = h T(q)' f,
 *
 * and are solved by M (v' - v+) = T' (P(q - h v, v) + h f - P(q, v+)), again and again. Like all such rules
 * this one is reversible, and its energy error does not add up.
 *
 * Carried. The bodies bring the momenta along that the same rates gave them one step ago: T(q)' (M T(q) v+ -
 * M T(q - h v) v) = h T(q)' f. What T(q) does not allow is lost with its energy, as in a perfectly plastic
 * impact, so that nothing can blow up, however far the links turn. */
#include "tree/tree.h"

#include "base/memory.h"
#include "linalg/mat3.h"

#include <math.h>
#include <string.h>

/* ---- poses ------------------------------------------------------------------------------------------ */

typedef struct pose {
    double position[3], quaternion[4], velocity[6];
} pose;

static void keep(const ss_trees *trees, const ss_world *world, pose *poses)
{
    for (int l = 0; l < trees->count; l++) {
        const ss_body *body = ss_world_body(world, trees->link[l].body);
        memcpy(poses[l].position, body->position, sizeof body->position);
        memcpy(poses[l].quaternion, body->quaternion, sizeof body->quaternion);
        memcpy(poses[l].velocity, body->velocity, sizeof body->velocity);
    }
}

static void put_back(const ss_trees *trees, const pose *poses, ss_world *world)
{
    for (int l = 0; l < trees->count; l++) {
        ss_body *body = ss_world_body(world, trees->link[l].body);
        memcpy(body->position, poses[l].position, sizeof body->position);
        memcpy(body->quaternion, poses[l].quaternion, sizeof body->quaternion);
        memcpy(body->velocity, poses[l].velocity, sizeof body->velocity);
    }
}

/* ---- midway ----------------------------------------------------------------------------------------- */

typedef struct momentum {
    ss_vec3 linear, angular;
} momentum;

/* Of the move from one pose to another within h. */
static momentum of_move(const ss_body *body, const double from[3], const double from_turn[4],
                        const double to[3], const double to_turn[4], double h)
{
    ss_vec3 way = ss_vec3_subtract(ss_vec3_load(to), ss_vec3_load(from));
    ss_quat start = ss_quat_load(from_turn);
    ss_vec3 turn = ss_quat_between(start, ss_quat_load(to_turn));
    ss_quat middle = ss_quat_multiply(ss_quat_exponential(ss_vec3_scale(0.5, turn)), start);
    ss_vec3 own = ss_mat3_apply(ss_mat3_load(body->inertia), ss_quat_rotate_back(middle, turn));
    return (momentum){ss_vec3_scale(body->mass / h, way),
                      ss_vec3_scale(1.0 / h, ss_quat_rotate(middle, own))};
}

/* Twice the kinetic energy of a velocity of a link. */
static double size_of(const ss_link_load *load, ss_vec3 v, ss_vec3 w)
{
    return load->mass * ss_vec3_dot(v, v) + ss_vec3_dot(w, ss_mat3_apply(ss_mat3_load(load->inertia), w));
}

bool ss_trees_turn_midway(ss_trees *trees, ss_world *world, double h, const ss_link_load *loads,
                          const ss_link_law *laws, ss_articulated *factored, ss_arena *scratch, ss_error *err)
{
    static const double enough = 1e-6; // of the velocities: the square of it is left in the energy
    enum { ITERATIONS_MOST = 12 };
    size_t count = (size_t)trees->count, coordinates = (size_t)trees->coordinates;
    pose *now = ss_arena_take_unset(scratch, count, sizeof *now, "poses of links");
    momentum *before = ss_arena_take_unset(scratch, count, sizeof *before, "momenta of links");
    double(*change)[6] = ss_arena_take(scratch, count, sizeof *change, "changes of links");
    double(*next)[6] = ss_arena_take_unset(scratch, count, sizeof *next, "changes of links");
    ss_link_load *all = ss_arena_take_unset(scratch, count, sizeof *all, "loads of links");
    double *rates = ss_arena_take_unset(scratch, coordinates, sizeof *rates, "rates of links");
    double(*size)[3] = ss_arena_take(scratch, (size_t)trees->trees + 1, sizeof *size, "sizes of trees");
    if (!now || !before || !change || !next || !all || !rates || !size)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", trees->count);

    /* The move that led here, and a first guess of the next: at the same rates. */
    keep(trees, world, now);
    ss_trees_place(trees, NULL, -h, world);
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        const ss_body *body = ss_world_body(world, link->body);
        before[l] = of_move(body, body->position, body->quaternion, now[l].position, now[l].quaternion, h);
        for (int i = 0; i < link->count; i++) rates[link->first + i] = link->rate[i];
    }
    put_back(trees, now, world);

    /* size: of the last change of a tree, of the one before, of its velocities. */
    bool settled = false;
    for (int t = 0; t <= trees->trees; t++) size[t][0] = INFINITY;
    for (int n = 0; !settled && n < ITERATIONS_MOST; n++) {
        memcpy(all, loads, count * sizeof *all);
        ss_trees_place(trees, rates, h, world);
        for (int l = 0; l < trees->count; l++) {
            ss_link *link = &trees->link[l];
            const ss_body *body = ss_world_body(world, link->body);
            if (link->alone || link->tree < 0) continue;
            momentum after =
                of_move(body, now[l].position, now[l].quaternion, body->position, body->quaternion, h);
            ss_vec3 v = ss_vec3_load(change[l]), w = ss_vec3_load(change[l] + 3);
            ss_vec3 force =
                ss_vec3_add_scaled(ss_vec3_subtract(before[l].linear, after.linear), loads[l].mass, v);
            ss_vec3 torque = ss_vec3_add(ss_vec3_subtract(before[l].angular, after.angular),
                                         ss_mat3_apply(ss_mat3_load(loads[l].inertia), w));
            link->force = ss_vec3_scale(1.0 / h, force);
            link->torque = ss_vec3_scale(1.0 / h, torque);
            ss_vec3_store(ss_vec3_add(ss_vec3_load(all[l].force), link->force), all[l].force);
            ss_vec3_store(ss_vec3_add(ss_vec3_load(all[l].force + 3), link->torque), all[l].force + 3);
        }
        put_back(trees, now, world);
        ss_trees_solve(trees, factored, h, all, laws, rates, next);

        for (int t = 0; t <= trees->trees; t++) {
            size[t][1] = size[t][0];
            size[t][0] = size[t][2] = 0.0;
        }
        for (int l = 0; l < trees->count; l++) {
            const ss_link *link = &trees->link[l];
            double *of = size[link->tree < 0 || link->alone ? trees->trees : link->tree];
            ss_vec3 v = ss_vec3_load(next[l]), w = ss_vec3_load(next[l] + 3);
            of[2] += size_of(&loads[l], ss_vec3_add(link->velocity, v), ss_vec3_add(link->spin, w));
            of[0] += size_of(&loads[l], ss_vec3_subtract(v, ss_vec3_load(change[l])),
                             ss_vec3_subtract(w, ss_vec3_load(change[l] + 3)));
            memcpy(change[l], next[l], sizeof change[l]);
        }
        settled = true;
        for (int t = 0; t < trees->trees; t++) {
            bool grows = !(size[t][0] < size[t][1]);
            settled = settled && (size[t][0] <= enough * enough * size[t][2] || grows);
        }
    }
    for (int l = 0; l < trees->count; l++) {
        ss_link *link = &trees->link[l];
        const double *of = link->tree < 0 ? NULL : size[link->tree];
        link->has_force = of && !link->alone && of[0] <= enough * enough * of[2];
    }
    return true;
}

/* ---- carried ---------------------------------------------------------------------------------------- */

/* m v and I w of a link as it is now, in the world. */
static momentum of_link(const ss_link *link, const ss_body *body)
{
    ss_mat3 turn = ss_quat_to_matrix(ss_quat_load(body->quaternion));
    ss_mat3 inertia = ss_mat3_rotate_tensor(turn, ss_mat3_load(body->inertia));
    return (momentum){ss_vec3_scale(body->mass, link->velocity), ss_mat3_apply(inertia, link->spin)};
}

bool ss_trees_carry(ss_trees *trees, ss_trees *back, ss_world *world, double h, ss_arena *scratch,
                    ss_error *err)
{
    pose *now = ss_arena_take_unset(scratch, (size_t)trees->count, sizeof *now, "poses of links");
    if (!now) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", trees->count);
    if (!ss_trees_copy(trees, back, err)) return false;

    // Now, and one step back along the joints, at the same rates.
    keep(trees, world, now);
    ss_trees_move(back, world, -h);
    for (int l = 0; l < trees->count; l++) {
        ss_link *link = &trees->link[l];
        ss_body *body = ss_world_body(world, link->body);
        momentum before = of_link(&back->link[l], body);
        memcpy(body->quaternion, now[l].quaternion, sizeof body->quaternion);
        momentum after = of_link(link, body);
        if (link->has_force || link->alone) continue;
        link->force = ss_vec3_scale(1.0 / h, ss_vec3_subtract(before.linear, after.linear));
        link->torque = ss_vec3_scale(1.0 / h, ss_vec3_subtract(before.angular, after.angular));
        link->has_force = true;
    }
    put_back(trees, now, world);
    return true;
}
