/* What turning links do to the bodies on them, Coriolis, centrifugal and gyroscopic forces, as forces on the
 * links: in two ways that know how far the links turn within a step. (At constant rates and for short steps
 * they are -m and -I times the accelerations of ss_trees_accelerate, and the gyroscopic torque.)
 *
 * Midway. A step moves the links from q to q + h v. The momenta of this move are P(q, v): mass times the way,
 * inertia halfway times the turn, over h. Lagrange's equations in discrete time (Marsden and West 2001,
 * section 1.3) are
 *
 *     T(q)' (P(q, v+) - P(q - h v, v)) = h T(q)' f,
 *
 * and are solved by M (v' - v+) = T' (P(q - h v, v) + h f - P(q, v+)), again and again. Like all such rules
 * this one is reversible, and its energy error does not add up. An iteration leaves about the angle by which
 * links turn of an error. (Mixing iterates, as Anderson does, converges sooner, but also where links turn by
 * a radian; there the rule gains energy.)
 *
 * Carried. The bodies bring the momenta along that the same rates gave them one step ago: T(q)' (M T(q) v+ -
 * M T(q - h v) v) = h T(q)' f. What T(q) does not allow is lost with its energy, as in a perfectly plastic
 * impact. Forces act as they are at the start of the step, so that links that swing across the tension of a
 * chain faster than a step can follow may gain energy all the same (docs/coordinates.md). */
#include "tree/tree.h"

#include "base/memory.h"
#include "linalg/mat3.h"

#include <math.h>
#include <string.h>

typedef struct momentum {
    ss_vec3 linear, angular;
} momentum;

/* I v of a link as it is now. */
static inline ss_vec3 apply_inertia(const ss_link_mass *of, ss_vec3 v)
{
    const double *I = of->inertia;
    return (ss_vec3){I[0] * v.x + I[1] * v.y + I[2] * v.z, I[3] * v.x + I[4] * v.y + I[5] * v.z,
                     I[6] * v.x + I[7] * v.y + I[8] * v.z};
}

/* ---- midway ----------------------------------------------------------------------------------------- */

/* Of a move by this way and turn within h, from now (sign 1) or to now (-1). The turn's vector t is the same
 * in all frames between start and end, so that the inertia halfway times t is I t as of now, turned by half
 * of it forwards or back. */
static inline momentum of_move(const ss_link_mass *mass, ss_vec3 way, ss_quat turn, double sign, double h)
{
    if (turn.w < 0.0) turn = (ss_quat){-turn.w, -turn.x, -turn.y, -turn.z}; // the short way
    ss_vec3 axis = {turn.x, turn.y, turn.z};
    double stretch = ss_quat_stretch(ss_vec3_norm(axis), turn.w);
    ss_vec3 own = apply_inertia(mass, ss_vec3_scale(stretch / h, axis));
    double norm = sign / sqrt(2.0 * (1.0 + turn.w));
    ss_quat half = {sign * norm * (1.0 + turn.w), norm * turn.x, norm * turn.y, norm * turn.z};
    return (momentum){ss_vec3_scale(mass->mass / h, way), ss_quat_rotate(half, own)};
}

/* M v of a velocity, and its product with another. */
static inline momentum of_velocity(const ss_link_mass *mass, ss_vec3 v, ss_vec3 w)
{
    return (momentum){ss_vec3_scale(mass->mass, v), apply_inertia(mass, w)};
}

static inline double product(momentum p, ss_vec3 v, ss_vec3 w)
{
    return ss_vec3_dot(p.linear, v) + ss_vec3_dot(p.angular, w);
}

/* How the iteration of a tree goes. */
typedef struct midway {
    double velocity;   /* its square by M, twice the kinetic energy, as all squares and products here */
    double step, last; /* squares of the change that the iteration makes, and made before */
    double slowest;    /* square of the largest ratio of two changes in a row */
    bool settled, diverges;
} midway;

bool ss_trees_turn_midway(ss_trees *trees, double h, const ss_link_mass *masses, const double (*force)[6],
                          const ss_link_law *laws, ss_articulated *factored, double *rate,
                          double (*change)[6], ss_arena *scratch, ss_error *err)
{
    static const double enough = 1e-6; // of the velocities, for a change; a tenth of it for what is left
    enum { ITERATIONS_MOST = 12 };
    size_t count = (size_t)trees->count;
    ss_link_pose *reached = ss_arena_take_unset(scratch, count, sizeof *reached, "poses of links");
    momentum *before = ss_arena_take_unset(scratch, count, sizeof *before, "momenta of links");
    double(*all)[6] = ss_arena_take_unset(scratch, count, sizeof *all, "forces of links");
    midway *tree = ss_arena_take(scratch, (size_t)trees->trees, sizeof *tree, "iterations of trees");
    double(*from)[6] = ss_arena_take(scratch, count, sizeof *from, "changes of links");
    if (!reached || !before || !all || !tree || !from)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", trees->count);

    /* The move that led here, and a first guess of the next: at the same rates. */
    ss_trees_reach(trees, NULL, -h, reached);
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        before[l] = of_move(&masses[l], ss_vec3_subtract(link->centre, reached[l].centre),
                            ss_quat_multiply(link->turn, ss_quat_conjugate(reached[l].turn)), -1.0, h);
        for (int i = 0; i < link->count; i++) rate[link->first + i] = link->rate[i];
        memcpy(all[l], force[l], sizeof all[l]);
        if (link->alone || link->tree < 0) continue;
        // an iteration leaves about the angle by which links turn of an error
        tree[link->tree].slowest =
            fmax(tree[link->tree].slowest, h * h * ss_vec3_dot(link->spin, link->spin));
    }

    bool settled = false;
    for (int n = 0; !settled && n < ITERATIONS_MOST; n++) {
        ss_trees_reach(trees, rate, h, reached);
        for (int l = 0; l < trees->count; l++) {
            ss_link *link = &trees->link[l];
            if (link->alone || link->tree < 0) continue;
            momentum after =
                of_move(&masses[l], ss_vec3_subtract(reached[l].centre, link->centre),
                        ss_quat_multiply(reached[l].turn, ss_quat_conjugate(link->turn)), 1.0, h);
            ss_vec3 v = ss_vec3_load(from[l]), w = ss_vec3_load(from[l] + 3);
            ss_vec3 linear =
                ss_vec3_add_scaled(ss_vec3_subtract(before[l].linear, after.linear), masses[l].mass, v);
            ss_vec3 angular =
                ss_vec3_add(ss_vec3_subtract(before[l].angular, after.angular), apply_inertia(&masses[l], w));
            link->force = ss_vec3_scale(1.0 / h, linear);
            link->torque = ss_vec3_scale(1.0 / h, angular);
            ss_vec3_store(ss_vec3_add(ss_vec3_load(force[l]), link->force), all[l]);
            ss_vec3_store(ss_vec3_add(ss_vec3_load(force[l] + 3), link->torque), all[l] + 3);
        }
        ss_trees_solve(trees, factored, h, (const double(*)[6])all, laws, rate, change);

        for (int t = 0; t < trees->trees; t++) {
            tree[t].last = tree[t].step;
            tree[t].step = 0.0;
        }
        for (int l = 0; l < trees->count; l++) {
            const ss_link *link = &trees->link[l];
            if (link->alone || link->tree < 0) continue;
            midway *of = &tree[link->tree];
            ss_vec3 v = ss_vec3_load(change[l]), w = ss_vec3_load(change[l] + 3);
            if (n == 0) {
                ss_vec3 new_v = ss_vec3_add(link->velocity, v), new_w = ss_vec3_add(link->spin, w);
                of->velocity += product(of_velocity(&masses[l], new_v, new_w), new_v, new_w);
            }
            v = ss_vec3_subtract(v, ss_vec3_load(from[l]));
            w = ss_vec3_subtract(w, ss_vec3_load(from[l] + 3));
            of->step += product(of_velocity(&masses[l], v, w), v, w);
            memcpy(from[l], change[l], sizeof from[l]);
        }
        settled = true;
        for (int t = 0; t < trees->trees; t++) {
            midway *of = &tree[t];
            double least = enough * enough * of->velocity;
            if (n > 0) of->slowest = fmax(of->slowest, of->step / of->last);
            double left = fmin(of->slowest, 1.0) * of->step;
            of->settled = of->step <= least || (n > 0 && left <= 0.01 * least);
            of->diverges = n > 0 && !(of->step < of->last);
            settled = settled && (of->settled || of->diverges);
        }
    }
    for (int l = 0; l < trees->count; l++) {
        ss_link *link = &trees->link[l];
        link->has_force = link->tree >= 0 && !link->alone && tree[link->tree].settled;
    }
    return true;
}

/* ---- carried ---------------------------------------------------------------------------------------- */

bool ss_trees_carry(ss_trees *trees, double h, const ss_link_mass *masses, ss_arena *scratch, ss_error *err)
{
    typedef struct back {
        ss_quat turned; /* since now */
        ss_vec3 velocity, spin;
    } back;
    size_t count = (size_t)trees->count;
    ss_link_pose *reached = ss_arena_take_unset(scratch, count, sizeof *reached, "poses of links");
    back *all = ss_arena_take_unset(scratch, count, sizeof *all, "velocities of links");
    if (!reached || !all) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", trees->count);

    // One step back along the joints, at the same rates.
    ss_trees_reach(trees, NULL, -h, reached);
    for (int l = 0; l < trees->count; l++) {
        ss_link *link = &trees->link[l];
        back *own = &all[l];
        own->turned = ss_quat_multiply(reached[l].turn, ss_quat_conjugate(link->turn));
        own->velocity = link->velocity;
        own->spin = link->spin;
        if (link->joint >= 0) {
            /* Axes of the joint turn with a, but the second one of a universal joint with b. */
            const back *base = link->parent < 0 ? NULL : &all[link->parent];
            ss_quat base_turned = base ? base->turned : ss_quat_identity();
            ss_quat of_a = link->side ? base_turned : own->turned,
                    of_b = link->side ? own->turned : base_turned;
            ss_vec3 spin = {0.0, 0.0, 0.0}, slide = spin, second = spin;
            for (int i = 0; i < link->count; i++) {
                bool with_b = link->kind == SS_JOINT_UNIVERSAL && i == 1;
                ss_vec3 *to = with_b ? &second : &spin;
                *to = ss_vec3_add_scaled(*to, link->rate[i], link->joint_spin[i]);
                if (link->slides) slide = ss_vec3_add_scaled(slide, link->rate[i], link->joint_slide[i]);
            }
            spin = ss_quat_rotate(of_a, spin);
            if (link->kind == SS_JOINT_UNIVERSAL) spin = ss_vec3_add(spin, ss_quat_rotate(of_b, second));
            if (link->slides) slide = ss_quat_rotate(of_a, slide);

            /* From b's anchor, which is fixed in b, to the centre. */
            ss_vec3 anchor = link->pose.anchor[1], centre = reached[l].centre;
            if (link->side)
                anchor =
                    ss_vec3_add(centre, ss_quat_rotate(own->turned, ss_vec3_subtract(anchor, link->centre)));
            else if (base)
                anchor = ss_vec3_add(
                    reached[link->parent].centre,
                    ss_quat_rotate(base_turned, ss_vec3_subtract(anchor, trees->link[link->parent].centre)));
            double sign = link->side ? 1.0 : -1.0;
            ss_vec3 rest = ss_vec3_add(slide, ss_vec3_cross(spin, ss_vec3_subtract(centre, anchor)));
            own->spin = ss_vec3_scale(sign, spin);
            own->velocity = ss_vec3_scale(sign, rest);
            if (base) {
                ss_vec3 arm = ss_vec3_subtract(centre, reached[link->parent].centre);
                own->spin = ss_vec3_add(own->spin, base->spin);
                own->velocity =
                    ss_vec3_add(own->velocity, ss_vec3_add(base->velocity, ss_vec3_cross(base->spin, arm)));
            }
        }
        if (link->has_force || link->alone) continue;

        /* m v and I w, then and now. */
        ss_vec3 then = ss_quat_rotate(own->turned,
                                      apply_inertia(&masses[l], ss_quat_rotate_back(own->turned, own->spin)));
        ss_vec3 loss = ss_vec3_subtract(then, apply_inertia(&masses[l], link->spin));
        link->force = ss_vec3_scale(masses[l].mass / h, ss_vec3_subtract(own->velocity, link->velocity));
        link->torque = ss_vec3_scale(1.0 / h, loss);
        link->has_force = true;
    }
    return true;
}
