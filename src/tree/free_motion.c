/* Accelerations of trees and their integration.
 *
 * The state of a link is the free motion of its joint: of a ball, the turn of the body as a quaternion and
 * its spin, both in the world; of a free root position and velocity of its centre as well; of all other kinds
 * how far their coordinates have moved since the start of the step, and their rates. So whatever is added up,
 * joints stay closed.
 *
 * Accelerations are those of articulated bodies (Featherstone 2008, section 7.3), each link about the anchor
 * of its own joint, not about its centre of mass. There a ball hands up a force and no torque: of its inertia
 *
 *     ( A  B )
 *     ( B' C )    only  A - B C^-1 B'
 *
 * goes to the parent, three by three, a third of the work of six by six.
 *
 * The rule is that of Bogacki and Shampine (1989), of third order with an error of second order beside it;
 * its last stage is the first of the next piece. Each tree has pieces of its own, so that what one does is
 * not felt by another, and begins a step with pieces as long as the last one of the step before. */
#include "tree/free_motion.h"

#include "base/memory.h"
#include "linalg/mat3.h"
#include "linalg/sym3.h"
#include "model/joint_rows.h"
#include "model/world.h"

#include <math.h>
#include <string.h>

enum { FREE = -1, STAGES = 4, COLUMNS_MOST = 2, STATE_MOST = 13 };

/* What the world says of a link for a step. */
typedef struct given {
    double mass, inertia[9], drag, curl; /* drag, curl: 1/s, damping */
    ss_vec3 force, torque;               /* N, N m */
    /* own anchor from the parent's own, seen from the parent; that of a root and its frame in the world */
    ss_vec3 arm;
    ss_quat mount;
} given;

/* And what follows from it. */
typedef struct member {
    given given;
    int kind; /* ss_joint_kind, or FREE */
    int parent, side;
    int at, positions, rates; /* of its state: first, how many of each */
    bool is_diagonal;
    ss_mat3 inertia;
    ss_vec3 centre;  /* of mass, from the own anchor, seen from the link */
    ss_vec3 axis[2]; /* z of the joint's frame at the parent, and at the link, seen from them */
    ss_quat foot;    /* the inverse of that frame at the link */
} member;

/* A link at one moment, all in the world. */
typedef struct moving {
    ss_quat turn; /* of any length */
    ss_mat3 rotation;
    ss_vec3 arm, centre; /* from the parent's anchor to the own one, and from there to the centre of mass */
    ss_vec3 slip;        /* m/s: along the slide */
    ss_vec3 velocity;    /* m/s: of the anchor */
    ss_vec3 spin;
    ss_vec3 bias, curl; /* m/s^2 and rad/s^2 beyond those of the parent, at constant rates */
    /* with all that hangs on it */
    ss_sym3 A, C;
    ss_mat3 B;
    ss_vec3 force, torque;
    /* of a ball: C^-1, B C^-1, C^-1 torque */
    ss_sym3 inverse;
    ss_mat3 lever;
    /* of the other kinds: their axes S, I S, the inverse of S' I S and what the forces do */
    ss_link_axis S[COLUMNS_MOST], U[COLUMNS_MOST];
    double D[COLUMNS_MOST][COLUMNS_MOST], u[COLUMNS_MOST];
    ss_vec3 acceleration, angular; /* of the anchor */
} moving;

struct ss_free_motion {
    ss_trees trees;        /* links; where they are is found of hinges and slides alone */
    int count, room, size; /* links; numbers of the state */
    bool attached;         /* the members are those of the links */
    bool gyroscopic;
    member *members;
    moving *now;
    int *end;        /* of each tree: the link after its last, at its first */
    double *numbers; /* memory of the following */
    double *y, *trial, *weight, *ease, *k[STAGES];
    bool known; /* k[0] is the last stage of the step before, and belongs to members and y */
    /* s: how long the pieces of each tree may be, at its first link, 0 if that is not known: at the start of
     * the step, and at its end, which counts once the step does */
    double *pace, *then;
    int paces; /* links that these are for */
};

static void release_room(ss_free_motion *motion)
{
    ss_release(motion->members);
    ss_release(motion->now);
    ss_release(motion->end);
    ss_release(motion->numbers);
}

void ss_free_motion_destroy(ss_free_motion *motion)
{
    if (!motion) return;
    ss_trees_free(&motion->trees);
    release_room(motion);
    ss_release(motion->pace);
    ss_release(motion->then);
    ss_release(motion);
}

/* ---- the state at the start ------------------------------------------------------------------------- */

static bool make_room(ss_free_motion *motion, int links)
{
    if (motion->room >= links) return true;
    release_room(motion);
    size_t count = (size_t)links, numbers = STATE_MOST * count;
    motion->members = ss_allocate(count, sizeof *motion->members);
    motion->now = ss_allocate(count, sizeof *motion->now);
    motion->end = ss_allocate(count, sizeof *motion->end);
    motion->numbers = ss_allocate((4 + STAGES) * numbers, sizeof *motion->numbers);
    bool good = motion->members && motion->now && motion->end && motion->numbers;
    motion->room = good ? links : 0;
    motion->attached = false;
    if (!good) return false;
    motion->y = motion->numbers;
    motion->trial = motion->y + numbers;
    motion->weight = motion->trial + numbers;
    motion->ease = motion->weight + numbers;
    for (int i = 0; i < STAGES; i++) motion->k[i] = motion->ease + (size_t)(i + 1) * numbers;
    return true;
}

/* Of other links nothing is known. */
static bool make_paces(ss_free_motion *motion, int links)
{
    if (motion->paces == links) return true;
    ss_release(motion->pace);
    ss_release(motion->then);
    motion->pace = ss_allocate((size_t)links, sizeof *motion->pace);
    motion->then = ss_allocate((size_t)links, sizeof *motion->then);
    bool good = motion->pace && motion->then;
    motion->paces = good ? links : 0;
    return good;
}

static void count_state(member *of, int *size)
{
    switch (of->kind) {
    case FREE:
        of->positions = 7;
        of->rates = 6;
        break;
    case SS_JOINT_BALL:
        of->positions = 4;
        of->rates = 3;
        break;
    case SS_JOINT_FIXED:
        of->positions = of->rates = 0;
        break;
    default:
        of->positions = of->rates =
            of->kind == SS_JOINT_UNIVERSAL || of->kind == SS_JOINT_CYLINDRICAL ? 2 : 1;
    }
    of->at = *size;
    *size += of->positions + of->rates;
}

static void find_given(const ss_world *world, const ss_link *link, const ss_body *body, given *of)
{
    of->mass = body->mass;
    memcpy(of->inertia, body->inertia, sizeof of->inertia);
    of->drag = body->linear_damping;
    of->curl = body->angular_damping;
    of->force = ss_vec3_add_scaled(ss_vec3_load(body->force), body->mass * ss_body_gravity_scale(body),
                                   ss_vec3_load(world->gravity));
    of->torque = ss_vec3_load(body->force + 3);
    if (link->joint < 0 || link->parent >= 0) return;

    const ss_joint *joint = ss_world_joint(world, link->joint);
    int ground = link->side ? joint->a : joint->b;
    of->arm = ss_vec3_load(link->local_anchor[1 - link->side]);
    of->mount = ss_quat_load(link->local_frame[1 - link->side]);
    if (ground == SS_WORLD) return;
    const ss_body *base = ss_world_body(world, ground);
    ss_quat turn = ss_quat_load(base->quaternion);
    of->arm = ss_vec3_add(ss_vec3_load(base->position), ss_quat_rotate(turn, of->arm));
    of->mount = ss_quat_multiply(turn, of->mount);
}

/* What is the same as long as the links are. */
static void attach(const ss_link *link, const member *all, member *of)
{
    int side = link->side;
    *of = (member){.kind = link->joint < 0 ? FREE : (int)link->kind, .parent = link->parent, .side = side};
    if (of->kind == FREE) return;
    of->centre = ss_vec3_scale(-1.0, ss_vec3_load(link->local_anchor[side]));
    of->foot = ss_quat_conjugate(ss_quat_load(link->local_frame[side]));
    if (link->parent < 0) return;
    of->given.arm = ss_vec3_add(ss_vec3_load(link->local_anchor[1 - side]), all[link->parent].centre);
    of->given.mount = ss_quat_load(link->local_frame[1 - side]);
}

static void derive(member *of)
{
    ss_vec3 z = {0.0, 0.0, 1.0};
    of->inertia = ss_mat3_load(of->given.inertia);
    const double(*I)[3] = of->inertia.m;
    of->is_diagonal = I[0][1] == 0.0 && I[0][2] == 0.0 && I[1][0] == 0.0 && I[1][2] == 0.0 &&
                      I[2][0] == 0.0 && I[2][1] == 0.0;
    of->axis[0] = ss_quat_rotate(of->given.mount, z);
    of->axis[1] = ss_quat_rotate_back(of->foot, z);
}

/* How much an error of each rate counts: about twice its kinetic energy, of the link alone. */
static void weigh(const member *of, double *weight, double *ease)
{
    double turning = 0.5 * ss_mat3_trace(of->inertia) + of->given.mass * ss_vec3_dot(of->centre, of->centre);
    double *w = weight + of->at, *e = ease + of->at;
    for (int i = 0; i < of->positions; i++) *w++ = *e++ = 0.0;
    for (int i = 0; i < of->rates; i++) {
        bool is_slide = of->kind == SS_JOINT_PRISMATIC || (of->kind == SS_JOINT_CYLINDRICAL && i == 1) ||
                        (of->kind == FREE && i < 3);
        *w++ = is_slide ? of->given.mass : turning;
        *e++ = of->kind == FREE && i < 3 ? 0.0
               : is_slide                ? of->given.mass
                                         : turning; // who flies fast is no better
    }
}

/* The state of a link in the world. */
static void read_state(const member *of, const ss_body *body, ss_trees *trees, int l, const ss_world *world,
                       double *y)
{
    bool is_free = of->kind == FREE;
    if (is_free || of->kind == SS_JOINT_BALL) {
        if (is_free) memcpy(y, body->position, sizeof body->position);
        if (is_free) y += 3;
        memcpy(y, body->quaternion, sizeof body->quaternion);
        int from = is_free ? 0 : 3;
        memcpy(y + 4, body->velocity + from, (size_t)(6 - from) * sizeof *y);
        return;
    }
    ss_trees_read_link(trees, l, world);
    for (int i = 0; i < of->positions; i++) y[i] = 0.0;
    for (int i = 0; i < of->rates; i++) y[of->positions + i] = trees->link[l].rate[i];
}

/* Members, state and weights as the world has them. k[0] stays known if nothing differs from where the last
 * step has left. */
static void gather(ss_free_motion *motion, const ss_world *world, bool gyroscopic)
{
    ss_trees *trees = &motion->trees;
    bool other = !motion->attached, same = motion->known && !other && motion->gyroscopic == gyroscopic;
    motion->gyroscopic = gyroscopic;
    if (other) {
        int size = 0, first = 0;
        for (int l = 0; l < trees->count; l++) {
            attach(&trees->link[l], motion->members, &motion->members[l]);
            count_state(&motion->members[l], &size);
            if (l > 0 && trees->link[l].parent < 0) {
                motion->end[first] = l;
                first = l;
            }
        }
        motion->count = motion->end[first] = trees->count;
        motion->size = size;
        motion->attached = true;
    }
    for (int l = 0; l < trees->count; l++) {
        member *of = &motion->members[l];
        const ss_body *body = ss_world_body(world, trees->link[l].body);
        given now = of->given;
        double *y = motion->y + of->at, state[STATE_MOST];
        size_t bytes = (size_t)(of->positions + of->rates) * sizeof *y;
        find_given(world, &trees->link[l], body, &now);
        if (other || memcmp(&now, &of->given, sizeof now) != 0) {
            of->given = now;
            derive(of);
            weigh(of, motion->weight, motion->ease);
            same = false;
        }
        read_state(of, body, trees, l, world, state);
        same = same && (of->kind == FREE || of->kind == SS_JOINT_BALL) && memcmp(state, y, bytes) == 0;
        memcpy(y, state, bytes);
    }
    motion->known = same;
}

/* ---- accelerations ---------------------------------------------------------------------------------- */

static inline ss_mat3 rotation_of(ss_quat q)
{
    double s = 2.0 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    double xx = s * q.x * q.x, yy = s * q.y * q.y, zz = s * q.z * q.z;
    double xy = s * q.x * q.y, xz = s * q.x * q.z, yz = s * q.y * q.z;
    double wx = s * q.w * q.x, wy = s * q.w * q.y, wz = s * q.w * q.z;
    return (ss_mat3){{{1.0 - yy - zz, xy - wz, xz + wy},
                      {xy + wz, 1.0 - xx - zz, yz - wx},
                      {xz - wy, yz + wx, 1.0 - xx - yy}}};
}

/* I in the world. With x x' + y y' + z z' = 1, a diagonal one is Ix + (Iy - Ix) y y' + (Iz - Ix) z z'. */
static inline ss_sym3 turned_inertia(const member *of, const ss_mat3 *R)
{
    if (!of->is_diagonal) {
        ss_mat3 I = ss_mat3_rotate_tensor(*R, of->inertia);
        return (ss_sym3){I.m[0][0], I.m[0][1], I.m[0][2], I.m[1][1], I.m[1][2], I.m[2][2]};
    }
    double all = of->inertia.m[0][0];
    ss_sym3 I = {all, 0.0, 0.0, all, 0.0, all};
    ss_sym3_add_square(&I, of->inertia.m[1][1] - all, ss_mat3_column(R, 1));
    ss_sym3_add_square(&I, of->inertia.m[2][2] - all, ss_mat3_column(R, 2));
    return I;
}

/* The joint of a link that is neither free nor on a ball: its turn, axes, slide and bias. */
static void move_joint(const ss_link *link, const member *of, const moving *base, const double *y, moving *to)
{
    static const ss_vec3 none = {0.0, 0.0, 0.0};
    double sign = of->side ? 1.0 : -1.0;
    const double *rate = y + of->positions;
    ss_quat turn;
    ss_vec3 slide;
    ss_link_advance(link, y, 1.0, &turn, &slide);
    ss_quat joint = ss_quat_multiply(of->given.mount, of->side ? turn : ss_quat_conjugate(turn));
    to->turn = ss_quat_multiply(joint, of->foot);
    if (base) to->turn = ss_quat_multiply(base->turn, to->turn);
    to->rotation = rotation_of(to->turn);
    ss_vec3 axis = base ? ss_mat3_apply(base->rotation, of->axis[0]) : of->axis[0];
    ss_vec3 z = ss_vec3_scale(sign, axis), base_spin = base ? base->spin : none;
    to->slip = to->curl = none;
    to->spin = base_spin;
    to->arm = ss_vec3_add_scaled(to->arm, slide.z, z);
    for (int i = 0; i < of->rates; i++) to->S[i] = (ss_link_axis){none, none};
    switch (of->kind) {
    case SS_JOINT_FIXED:
        return;
    case SS_JOINT_PRISMATIC:
        to->S[0].linear = z;
        break;
    case SS_JOINT_CYLINDRICAL:
        to->S[0].angular = z;
        to->S[1].linear = z;
        break;
    case SS_JOINT_SCREW:
        to->S[0].angular = z;
        to->S[0].linear = ss_vec3_scale(link->ratio, z);
        break;
    case SS_JOINT_UNIVERSAL: { // the first axis is that of a, and turns with it
        ss_vec3 own = ss_vec3_scale(sign, ss_mat3_apply(to->rotation, of->axis[1]));
        to->S[0].angular = of->side ? z : own;
        to->S[1].angular = of->side ? own : z;
        break;
    }
    default:
        to->S[0].angular = z;
    }

    /* Axes turn with the parent, but the own one of a universal joint. */
    for (int i = 0; i < of->rates; i++) {
        to->spin = ss_vec3_add_scaled(to->spin, rate[i], to->S[i].angular);
        to->slip = ss_vec3_add_scaled(to->slip, rate[i], to->S[i].linear);
    }
    for (int i = 0; i < of->rates; i++) {
        bool own = of->kind == SS_JOINT_UNIVERSAL && i == of->side;
        ss_vec3 turning = ss_vec3_cross(own ? to->spin : base_spin, to->S[i].angular);
        to->curl = ss_vec3_add_scaled(to->curl, rate[i], turning);
    }
}

/* Where a link is and how it moves, its inertia and the forces on it. */
__attribute__((always_inline)) static inline void place(const ss_free_motion *motion, const ss_link *link,
                                                        const member *of, const moving *base, const double *y,
                                                        moving *to)
{
    const double m = of->given.mass;
    to->arm = base ? ss_mat3_apply(base->rotation, of->given.arm) : of->given.arm;
    to->velocity = (ss_vec3){0.0, 0.0, 0.0};
    if (of->kind == SS_JOINT_BALL) {
        to->turn = ss_quat_load(y);
        to->spin = ss_vec3_load(y + 4);
        to->rotation = rotation_of(to->turn);
        to->slip = to->velocity;
    } else if (of->kind == FREE) {
        to->arm = ss_vec3_load(y);
        to->turn = ss_quat_load(y + 3);
        to->slip = ss_vec3_load(y + 7);
        to->spin = ss_vec3_load(y + 10);
        to->rotation = rotation_of(to->turn);
    } else {
        move_joint(link, of, base, y, to);
    }
    to->bias = to->velocity;
    if (base) {
        ss_vec3 carried = ss_vec3_cross(base->spin, to->arm);
        to->velocity = ss_vec3_add(base->velocity, carried);
        to->bias = ss_vec3_cross(base->spin, ss_vec3_add_scaled(carried, 2.0, to->slip));
    }
    to->velocity = ss_vec3_add(to->velocity, to->slip);

    ss_vec3 w = to->spin, c = ss_mat3_apply(to->rotation, of->centre);
    ss_vec3 turning = ss_vec3_cross(w, c);
    ss_sym3 I = turned_inertia(of, &to->rotation);
    ss_vec3 momentum = ss_sym3_apply(&I, w), torque = of->given.torque;
    ss_vec3 force = ss_vec3_add_scaled(of->given.force, -m, ss_vec3_cross(w, turning));
    if (motion->gyroscopic) torque = ss_vec3_add(torque, ss_vec3_cross(momentum, w));
    if (of->given.drag != 0.0)
        force = ss_vec3_add_scaled(force, -m * of->given.drag, ss_vec3_add(to->velocity, turning));
    if (of->given.curl != 0.0) torque = ss_vec3_add_scaled(torque, -of->given.curl, momentum);
    to->centre = c;
    to->force = force;
    to->torque = ss_vec3_add(torque, ss_vec3_cross(c, force));

    /* About the anchor: B w = m w x c, and C gains m (c.c - c c'). */
    double cc = m * ss_vec3_dot(c, c);
    to->A = (ss_sym3){m, 0.0, 0.0, m, 0.0, m};
    to->B = (ss_mat3){{{0.0, m * c.z, -m * c.y}, {-m * c.z, 0.0, m * c.x}, {m * c.y, -m * c.x, 0.0}}};
    to->C = I;
    ss_sym3_add_square(&to->C, -m, c);
    to->C.xx += cc, to->C.yy += cc, to->C.zz += cc;
}

/* A - Y B', Y = B C^-1. */
static inline ss_sym3 reduced(const ss_sym3 *A, const ss_mat3 *Y, const ss_mat3 *B)
{
    ss_vec3 y[3], b[3];
    for (int i = 0; i < 3; i++) {
        y[i] = ss_mat3_row(Y, i);
        b[i] = ss_mat3_row(B, i);
    }
    return (ss_sym3){A->xx - ss_vec3_dot(y[0], b[0]), A->xy - ss_vec3_dot(y[0], b[1]),
                     A->xz - ss_vec3_dot(y[0], b[2]), A->yy - ss_vec3_dot(y[1], b[1]),
                     A->yz - ss_vec3_dot(y[1], b[2]), A->zz - ss_vec3_dot(y[2], b[2])};
}

/* A force and the inertia A of it at the end of an arm. */
__attribute__((always_inline)) static inline void pull(const ss_sym3 *A, ss_vec3 force, ss_vec3 r,
                                                       moving *base)
{
    ss_vec3 b0 = ss_vec3_cross(r, (ss_vec3){A->xx, A->xy, A->xz}),
            b1 = ss_vec3_cross(r, (ss_vec3){A->xy, A->yy, A->yz}),
            b2 = ss_vec3_cross(r, (ss_vec3){A->xz, A->yz, A->zz});
    ss_sym3_add(&base->A, A);
    base->B = ss_mat3_add_scaled(base->B, 1.0, ss_mat3_from_rows(b0, b1, b2));
    ss_vec3 c0 = ss_vec3_cross(r, (ss_vec3){b0.x, b1.x, b2.x}),
            c1 = ss_vec3_cross(r, (ss_vec3){b0.y, b1.y, b2.y}),
            c2 = ss_vec3_cross(r, (ss_vec3){b0.z, b1.z, b2.z});
    ss_sym3_add(&base->C, &(ss_sym3){c0.x, c1.x, c2.x, c1.y, c2.y, c2.z});
    base->force = ss_vec3_add(base->force, force);
    base->torque = ss_vec3_add(base->torque, ss_vec3_cross(r, force));
}

/* A ball or a free root; false: the inertia is not that of a body. */
__attribute__((always_inline)) static inline bool give_way(bool hands_up, moving *of, moving *base)
{
    if (!ss_sym3_inverse(&of->C, &of->inverse)) return false;
    of->torque = ss_sym3_apply(&of->inverse, of->torque);
    if (!hands_up) return true;
    of->lever = ss_mat3_from_rows(ss_sym3_apply(&of->inverse, ss_mat3_row(&of->B, 0)),
                                  ss_sym3_apply(&of->inverse, ss_mat3_row(&of->B, 1)),
                                  ss_sym3_apply(&of->inverse, ss_mat3_row(&of->B, 2)));
    ss_sym3 A = reduced(&of->A, &of->lever, &of->B);
    ss_vec3 force = ss_vec3_subtract(of->force, ss_mat3_apply(of->B, of->torque));
    if (base) {
        pull(&A, ss_vec3_subtract(force, ss_sym3_apply(&A, of->bias)), of->arm, base);
        return true;
    }
    ss_sym3 inverse; // a free root: nothing holds it
    if (!ss_sym3_inverse(&A, &inverse)) return false;
    of->acceleration = ss_sym3_apply(&inverse, force);
    return true;
}

/* Any other joint. */
static bool give_way_along(int count, moving *of, moving *base)
{
    ss_vec3 force = ss_vec3_add(ss_sym3_apply(&of->A, of->bias), ss_mat3_apply(of->B, of->curl));
    ss_vec3 torque = ss_vec3_add(ss_mat3_apply_transposed(of->B, of->bias), ss_sym3_apply(&of->C, of->curl));
    force = ss_vec3_subtract(of->force, force);
    torque = ss_vec3_subtract(of->torque, torque);
    for (int i = 0; i < count; i++) {
        ss_vec3 v = of->S[i].linear, w = of->S[i].angular;
        of->U[i].linear = ss_vec3_add(ss_sym3_apply(&of->A, v), ss_mat3_apply(of->B, w));
        of->U[i].angular = ss_vec3_add(ss_mat3_apply_transposed(of->B, v), ss_sym3_apply(&of->C, w));
        of->u[i] = ss_vec3_dot(v, force) + ss_vec3_dot(w, torque);
        for (int k = 0; k <= i; k++)
            of->D[i][k] = of->D[k][i] = ss_vec3_dot(of->U[i].linear, of->S[k].linear) +
                                        ss_vec3_dot(of->U[i].angular, of->S[k].angular);
    }
    if (count == 1) {
        if (!(of->D[0][0] > 0.0)) return false;
        of->D[0][0] = 1.0 / of->D[0][0];
        of->u[0] *= of->D[0][0];
    } else if (count == 2) {
        double a = of->D[0][0], b = of->D[0][1], c = of->D[1][1], det = a * c - b * b;
        if (!(a > 0.0 && det > 0.0)) return false;
        of->D[0][0] = c / det;
        of->D[0][1] = of->D[1][0] = -b / det;
        of->D[1][1] = a / det;
        double first = of->u[0], second = of->u[1];
        of->u[0] = of->D[0][0] * first + of->D[0][1] * second;
        of->u[1] = of->D[1][0] * first + of->D[1][1] * second;
    }
    if (!base) return true;

    /* I - U D^-1 U' and what the coordinates leave of the forces, about the parent's anchor: C gains
     * r x of B's columns twice, once for the force there and once for the speed there. */
    ss_sym3 A = of->A, C = of->C;
    ss_mat3 B = of->B;
    for (int i = 0; i < count; i++) {
        ss_vec3 v = {0.0, 0.0, 0.0}, w = v;
        for (int k = 0; k < count; k++) {
            v = ss_vec3_add_scaled(v, of->D[i][k], of->U[k].linear);
            w = ss_vec3_add_scaled(w, of->D[i][k], of->U[k].angular);
        }
        ss_vec3 p = of->U[i].linear, q = of->U[i].angular;
        ss_sym3_add(&A, &(ss_sym3){-p.x * v.x, -p.x * v.y, -p.x * v.z, -p.y * v.y, -p.y * v.z, -p.z * v.z});
        ss_sym3_add(&C, &(ss_sym3){-q.x * w.x, -q.x * w.y, -q.x * w.z, -q.y * w.y, -q.y * w.z, -q.z * w.z});
        B = ss_mat3_add_scaled(B, -1.0, ss_mat3_outer(p, w));
        force = ss_vec3_add_scaled(force, -of->u[i], p);
        torque = ss_vec3_add_scaled(torque, -of->u[i], q);
    }
    ss_vec3 r = of->arm, t0 = ss_vec3_cross(r, ss_mat3_column(&B, 0)),
            t1 = ss_vec3_cross(r, ss_mat3_column(&B, 1)), t2 = ss_vec3_cross(r, ss_mat3_column(&B, 2));
    pull(&A, force, r, base);
    base->B = ss_mat3_add_scaled(base->B, 1.0, B);
    ss_sym3_add(&base->C, &C);
    ss_sym3_add(&base->C,
                &(ss_sym3){2.0 * t0.x, t0.y + t1.x, t0.z + t2.x, 2.0 * t1.y, t1.z + t2.y, 2.0 * t2.z});
    base->torque = ss_vec3_add(base->torque, torque);
    return true;
}

/* dy/dt of the tree of links `begin` to `end` - 1; false where a mass or inertia is not that of a body. */
__attribute__((always_inline)) static inline bool accelerate_links(const ss_free_motion *motion, int begin,
                                                                   int end, const double *y, double *rate)
{
    moving *now = motion->now;
    for (int l = begin; l < end; l++) {
        const member *of = &motion->members[l];
        place(motion, &motion->trees.link[l], of, of->parent < 0 ? NULL : &now[of->parent], y + of->at,
              &now[l]);
    }
    for (int l = end - 1; l >= begin; l--) {
        const member *of = &motion->members[l];
        moving *base = of->parent < 0 ? NULL : &now[of->parent];
        bool plain = of->kind == FREE || of->kind == SS_JOINT_BALL;
        if (!(plain ? give_way(base || of->kind == FREE, &now[l], base)
                    : give_way_along(of->rates, &now[l], base)))
            return false;
    }
    for (int l = begin; l < end; l++) {
        const member *of = &motion->members[l];
        const moving *base = of->parent < 0 ? NULL : &now[of->parent];
        const double *own = y + of->at;
        double *to = rate + of->at;
        moving *link = &now[l];
        ss_vec3 a = {0.0, 0.0, 0.0}, alpha = a;
        if (base) {
            alpha = base->angular;
            a = ss_vec3_add(base->acceleration, ss_vec3_cross(alpha, link->arm));
        }
        if (of->kind == SS_JOINT_BALL || of->kind == FREE) {
            alpha = link->torque;
            if (of->kind == FREE) {
                a = link->acceleration;
                ss_vec3_store(link->slip, to);
                ss_vec3_store(a, to + 7);
                to += 3;
            }
            a = ss_vec3_add(a, link->bias);
            if (base || of->kind == FREE)
                alpha = ss_vec3_subtract(alpha, ss_mat3_apply_transposed(link->lever, a));
            ss_vec3 w = link->spin;
            ss_quat q = ss_quat_multiply((ss_quat){0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z}, link->turn);
            ss_quat_store(q, to);
            ss_vec3_store(alpha, to + (of->kind == FREE ? 7 : 4));
        } else {
            ss_vec3 v = a, w = alpha;
            a = ss_vec3_add(a, link->bias);
            alpha = ss_vec3_add(alpha, link->curl);
            for (int i = 0; i < of->rates; i++) {
                double rest = link->u[i];
                for (int k = 0; k < of->rates; k++)
                    rest -= link->D[i][k] *
                            (ss_vec3_dot(link->U[k].linear, v) + ss_vec3_dot(link->U[k].angular, w));
                a = ss_vec3_add_scaled(a, rest, link->S[i].linear);
                alpha = ss_vec3_add_scaled(alpha, rest, link->S[i].angular);
                to[i] = own[of->positions + i];
                to[of->positions + i] = rest;
            }
        }
        link->acceleration = a;
        link->angular = alpha;
    }
    return true;
}

static bool accelerate_portable(const ss_free_motion *motion, int begin, int end, const double *y,
                                double *rate)
{
    return accelerate_links(motion, begin, end, y, rate);
}

/* With instructions of three operands, a sixth fewer; to the same bits. */
#ifdef __x86_64__
__attribute__((target("avx2"))) static bool accelerate_avx2(const ss_free_motion *motion, int begin, int end,
                                                            const double *y, double *rate)
{
    return accelerate_links(motion, begin, end, y, rate);
}
#endif

static bool accelerate(const ss_free_motion *motion, int begin, int end, const double *y, double *rate)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return accelerate_avx2(motion, begin, end, y, rate);
#endif
    return accelerate_portable(motion, begin, end, y, rate);
}

/* ---- the rule --------------------------------------------------------------------------------------- */

/* Lengths drift from one by what the rule leaves of an error. */
static void normalise(const ss_free_motion *motion, int begin, int end, double *y)
{
    for (int l = begin; l < end; l++) {
        const member *of = &motion->members[l];
        if (of->kind != SS_JOINT_BALL && of->kind != FREE) continue;
        double *q = y + of->at + (of->kind == FREE ? 3 : 0);
        ss_quat_store(ss_quat_normalise(ss_quat_load(q)), q);
    }
}

/* One tree, in pieces that are as long as the tolerance allows. */
static bool run_tree(ss_free_motion *motion, int begin, int end, const ss_free_motion_request *request,
                     bool known)
{
    enum { TRIES_MOST = 1000 };
    static const double safety = 0.9, longer = 4.0, shorter = 0.2, rounding = 1e-9;
    int first = motion->members[begin].at;
    int last = end < motion->count ? motion->members[end].at : motion->size;
    double *y = motion->y, *trial = motion->trial, **k = motion->k;
    const double *weight = motion->weight, *ease = motion->ease;
    double left = request->h, pace = motion->pace[begin], piece = pace > 0.0 ? fmin(pace, left) : left;
    motion->then[begin] = pace;
    if (last == first) return accelerate(motion, begin, end, y, k[0]); // it only is somewhere
    if (!known && !accelerate(motion, begin, end, y, k[0])) return false;
    for (int tries = 0; left > 0.0; tries++) {
        if (tries == TRIES_MOST) return false;
        double pieces = ceil((1.0 - rounding) * left / piece), h = pieces > 1.0 ? left / pieces : left;
        for (int i = first; i < last; i++) trial[i] = y[i] + 0.5 * h * k[0][i];
        bool good = accelerate(motion, begin, end, trial, k[1]);
        for (int i = first; i < last; i++) trial[i] = y[i] + 0.75 * h * k[1][i];
        good = good && accelerate(motion, begin, end, trial, k[2]);
        for (int i = first; i < last; i++)
            trial[i] = y[i] + h * (2.0 / 9.0 * k[0][i] + 1.0 / 3.0 * k[1][i] + 4.0 / 9.0 * k[2][i]);
        normalise(motion, begin, end, trial);
        good = good && accelerate(motion, begin, end, trial, k[3]);

        /* Third order minus second, squared and weighed. */
        double error = 0.0, scale = 0.0;
        for (int i = first; i < last; i++) {
            double e = h * (-5.0 / 72.0 * k[0][i] + 1.0 / 12.0 * k[1][i] + 1.0 / 9.0 * k[2][i] -
                            1.0 / 8.0 * k[3][i]);
            error += weight[i] * e * e;
            scale +=
                weight[i] * (h * k[0][i]) * (h * k[0][i]) + ease[i] * fmax(y[i] * y[i], trial[i] * trial[i]);
        }
        double ratio = error > 0.0 ? error / (request->tolerance * request->tolerance * scale) : 0.0;
        bool usable = good && isfinite(ratio) && isfinite(scale);
        double change = !usable ? shorter : ratio > 0.0 ? safety / cbrt(sqrt(ratio)) : longer;
        piece = h * fmin(fmax(change, shorter), longer);
        if (!usable || ratio > 1.0) continue;
        for (int i = first; i < last; i++) {
            y[i] = trial[i];
            k[0][i] = k[3][i];
        }
        left = pieces > 1.0 ? left - h : 0.0;
    }
    motion->then[begin] = piece;
    return true;
}

bool ss_free_motion_run(ss_free_motion **of, const ss_world *world, const ss_free_motion_request *request,
                        bool *done, ss_error *err)
{
    *done = false;
    if (!*of) *of = ss_allocate(1, sizeof **of);
    ss_free_motion *motion = *of;
    bool other;
    if (!motion) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the motion of trees");
    if (!ss_trees_find(&motion->trees, world, &other, err)) return false;
    const ss_trees *trees = &motion->trees;
    motion->attached = motion->attached && !other;
    for (int l = 0; l < trees->count; l++)
        if (trees->link[l].joint >= 0 && trees->link[l].kind == SS_JOINT_PLANAR) return true;
    for (int j = 0; j < trees->joints; j++)
        if (trees->of_joint[j] < 0 && ss_joint_is_active(world, ss_world_joint(world, j))) return true;
    if (trees->coordinates == 0) return true;
    if (!make_room(motion, trees->count) || !make_paces(motion, trees->count))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the motion of %d links", trees->count);

    gather(motion, world, request->gyroscopic);
    bool known = motion->known, good = true;
    for (int l = 0; good && l < motion->count; l = motion->end[l])
        good = run_tree(motion, l, motion->end[l], request, known);
    motion->known = *done = good;
    return true;
}

/* ---- what came of it -------------------------------------------------------------------------------- */

int ss_free_motion_count(const ss_free_motion *motion)
{
    return motion->count;
}

void ss_free_motion_velocity(const ss_free_motion *motion, int link, double velocity[6])
{
    const moving *now = &motion->now[link];
    ss_vec3_store(ss_vec3_add(now->velocity, ss_vec3_cross(now->spin, now->centre)), velocity);
    ss_vec3_store(now->spin, velocity + 3);
}

const double *ss_free_motion_paces(const ss_free_motion *motion, int *count)
{
    *count = motion ? motion->paces : 0;
    return motion ? motion->pace : NULL;
}

bool ss_free_motion_take_paces(ss_free_motion **of, const double *paces, int count)
{
    if (!*of && count == 0) return true;
    if (!*of) *of = ss_allocate(1, sizeof **of);
    if (!*of || !make_paces(*of, count)) return false;
    for (int l = 0; l < count; l++) (*of)->pace[l] = paces[l];
    return true;
}

void ss_free_motion_write(ss_free_motion *motion, ss_world *world)
{
    for (int l = 0; l < motion->count; l = motion->end[l]) motion->pace[l] = motion->then[l];
    for (int l = 0; l < motion->count; l++) {
        const member *of = &motion->members[l];
        moving *now = &motion->now[l]; // the last evaluation was at the end
        ss_body *body = ss_world_body(world, motion->trees.link[l].body);
        if (of->parent >= 0) now->arm = ss_vec3_add(motion->now[of->parent].arm, now->arm); // from the origin
        ss_vec3_store(ss_vec3_add(now->arm, now->centre), body->position);
        if (of->kind == FREE || of->kind == SS_JOINT_BALL)
            memcpy(body->quaternion, motion->y + of->at + (of->kind == FREE ? 3 : 0),
                   sizeof body->quaternion);
        else
            ss_quat_store(ss_quat_normalise(now->turn), body->quaternion);
        ss_free_motion_velocity(motion, l, body->velocity);
    }
}
