/* sim/soft/kernel.h - the passes over batches, included by one file per kind of machine, which defines
 *
 *     KERNEL_NAME   portable, avx2
 *     KERNEL        attribute of every function
 *     KERNEL_ROOT   square roots of a register
 *
 * A register holds one number of each of eight manifolds. */
#define KERNEL_SINGLE
#define KERNEL_WIDTH 8
#include "linalg/lanes.h"
#include "sim/soft/soft.h"

typedef float quad __attribute__((vector_size(16)));

INLINE vec larger(vec a, vec b)
{
    return choose(a > b, a, b);
}

INLINE vec smaller(vec a, vec b)
{
    return choose(a < b, a, b);
}

INLINE vec all(float value)
{
    return (vec){value, value, value, value, value, value, value, value};
}

INLINE void cross(const vec a[3], const vec b[3], vec to[3])
{
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

INLINE void load_three(float from[3][SS_SOFT_LANES], vec to[3])
{
    UNROLL for (int i = 0; i < 3; i++) to[i] = load(from[i]);
}

INLINE void store_three(float to[3][SS_SOFT_LANES], const vec from[3])
{
    UNROLL for (int i = 0; i < 3; i++) store(to[i], from[i]);
}

/* ---- from and to the bodies ------------------------------------------------------------------------- */

/* Four neighbouring numbers of every lane, from its own place. */
INLINE void gather(const float *const from[SS_SOFT_LANES], vec to[4])
{
    vec rows[4];
    UNROLL for (int i = 0; i < 4; i++)
    {
        quad low, high;
        memcpy(&low, from[i], sizeof low);
        memcpy(&high, from[i + 4], sizeof high);
        rows[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    turn_quads(rows, to);
}

INLINE void scatter(const vec from[4], float *const to[SS_SOFT_LANES])
{
    vec rows[4];
    turn_quads(from, rows);
    UNROLL for (int i = 0; i < 4; i++)
    {
        quad low = __builtin_shufflevector(rows[i], rows[i], 0, 1, 2, 3);
        quad high = __builtin_shufflevector(rows[i], rows[i], 4, 5, 6, 7);
        memcpy(to[i], &low, sizeof low);
        memcpy(to[i + 4], &high, sizeof high);
    }
}

/* y (which = 0) or d (which = 1) of the bodies of all lanes: six numbers, and two that mean nothing. */
INLINE void read_bodies(const ss_soft_batch *batch, const ss_soft_row *rows, int which, vec y[2][8])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        UNROLL for (int half = 0; half < 2; half++)
        {
            const float *from[SS_SOFT_LANES];
            UNROLL for (int lane = 0; lane < SS_SOFT_LANES; lane++)
            {
                const ss_soft_row *row = &rows[batch->body[side][lane]];
                from[lane] = (which ? row->d : row->y) + 4 * half;
            }
            gather(from, y[side] + 4 * half);
        }
    }
}

INLINE void write_bodies(const ss_soft_batch *batch, ss_soft_row *rows, vec y[2][8])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        UNROLL for (int half = 0; half < 2; half++)
        {
            float *to[SS_SOFT_LANES];
            UNROLL for (int lane = 0; lane < SS_SOFT_LANES; lane++) to[lane] =
                rows[batch->body[side][lane]].y + 4 * half;
            scatter(y[side] + 4 * half, to);
        }
    }
}

/* ---- filling ---------------------------------------------------------------------------------------- */

/* t <- L' R' (arm x direction) */
INLINE void lever_of(vec frame[3][4], const vec arm[3], const vec direction[3], vec t[3])
{
    vec moment[3];
    cross(arm, direction, moment);
    UNROLL for (int i = 0; i < 3; i++) t[i] = dot(frame[i], moment);
}

INLINE vec reciprocal(vec a)
{
    return where(a > all(0.0f), all(1.0f) / a);
}

INLINE void fill_batch(ss_soft_batch *batch, ss_soft_point *points, int count, const ss_soft_frame *frames)
{
    vec frame[2][3][4], root[2], normal[3], tangent[2][3];
    UNROLL for (int side = 0; side < 2; side++)
    {
        UNROLL for (int i = 0; i < 3; i++)
        {
            const float *from[SS_SOFT_LANES];
            UNROLL for (int lane = 0; lane < SS_SOFT_LANES; lane++) from[lane] =
                frames[batch->body[side][lane]].turn[i];
            gather(from, frame[side][i]);
        }
        float roots[SS_SOFT_LANES];
        UNROLL for (int lane = 0; lane < SS_SOFT_LANES; lane++) roots[lane] =
            frames[batch->body[side][lane]].root;
        root[side] = load(roots);
        store(batch->root[side], root[side]);
    }
    vec weight = root[0] * root[0] + root[1] * root[1];

    /* Tangents: along the axis that the normal has least of, and across. */
    load_three(batch->normal, normal);
    vec zero = all(0.0f), one = all(1.0f);
    vec size[3], axis[3];
    UNROLL for (int i = 0; i < 3; i++) size[i] = larger(normal[i], -normal[i]);
    mask x = (size[0] <= size[1]) & (size[0] <= size[2]), y = ~x & (size[1] <= size[2]);
    axis[0] = where(x, one);
    axis[1] = where(y, one);
    axis[2] = where(~(x | y), one);
    cross(normal, axis, tangent[0]);
    vec length = KERNEL_ROOT(dot(tangent[0], tangent[0]));
    vec shrink = reciprocal(length);
    UNROLL for (int i = 0; i < 3; i++) tangent[0][i] *= shrink;
    cross(normal, tangent[0], tangent[1]);
    store_three(batch->tangent[0], tangent[0]);
    store_three(batch->tangent[1], tangent[1]);

    /* The middle of the points; those that are not used have neither mass nor arms. */
    vec middle[2][3] = {{zero, zero, zero}, {zero, zero, zero}}, used = zero;
    for (int k = 0; k < count; k++) {
        vec is = load(points[k].mass);
        used += is;
        UNROLL for (int side = 0; side < 2; side++) UNROLL for (int i = 0; i < 3; i++) middle[side][i] +=
            is * load(points[k].turn[side][i]);
    }
    vec share = reciprocal(used);
    UNROLL for (int side = 0; side < 2; side++) UNROLL for (int i = 0; i < 3; i++) middle[side][i] *= share;

    /* Normal rows. */
    for (int k = 0; k < count; k++) {
        vec arm[2][3], t[2][3], away[3], is = load(points[k].mass);
        load_three(points[k].turn[0], arm[0]);
        load_three(points[k].turn[1], arm[1]);
        UNROLL for (int i = 0; i < 3; i++) away[i] = arm[1][i] - middle[1][i];
        store(points[k].lever, is * KERNEL_ROOT(dot(away, away)));
        lever_of(frame[0], arm[0], normal, t[0]);
        lever_of(frame[1], arm[1], normal, t[1]);
        UNROLL for (int i = 0; i < 3; i++) t[0][i] = -t[0][i];
        store(points[k].mass, is * reciprocal(weight + dot(t[0], t[0]) + dot(t[1], t[1])));
        store_three(points[k].turn[0], t[0]);
        store_three(points[k].turn[1], t[1]);
    }

    /* Friction in the middle, and turning about the normal. */
    vec slide[2][2][3], twist[2][3];
    UNROLL for (int j = 0; j < 2; j++)
    {
        lever_of(frame[0], middle[0], tangent[j], slide[j][0]);
        lever_of(frame[1], middle[1], tangent[j], slide[j][1]);
        UNROLL for (int i = 0; i < 3; i++) slide[j][0][i] = -slide[j][0][i];
        store_three(batch->slide[j][0], slide[j][0]);
        store_three(batch->slide[j][1], slide[j][1]);
    }
    vec a = weight + dot(slide[0][0], slide[0][0]) + dot(slide[0][1], slide[0][1]);
    vec b = dot(slide[0][0], slide[1][0]) + dot(slide[0][1], slide[1][1]);
    vec c = weight + dot(slide[1][0], slide[1][0]) + dot(slide[1][1], slide[1][1]);
    vec inverse = reciprocal(a * c - b * b);
    store(batch->slide_mass[0], c * inverse);
    store(batch->slide_mass[1], -b * inverse);
    store(batch->slide_mass[2], a * inverse);
    UNROLL for (int side = 0; side < 2; side++)
    {
        UNROLL for (int i = 0; i < 3; i++) twist[side][i] = dot(frame[side][i], normal);
        if (side == 0) UNROLL for (int i = 0; i < 3; i++) twist[0][i] = -twist[0][i];
        store_three(batch->twist[side], twist[side]);
    }
    store(batch->twist_mass, reciprocal(dot(twist[0], twist[0]) + dot(twist[1], twist[1])));

    /* The friction of the step before is a vector of the world. */
    vec before[3] = {load(batch->total[0]), load(batch->total[1]), load(batch->total[2])};
    store(batch->friction[0], dot(tangent[0], before));
    store(batch->friction[1], dot(tangent[1], before));
    vec told[3] = {load(batch->load[0]), load(batch->load[1]), load(batch->load[2])};
    store(batch->load[0], dot(tangent[0], told));
    store(batch->load[1], dot(tangent[1], told));
    UNROLL for (int i = 0; i < 3; i++) store(batch->total[i], zero);
}

KERNEL static void fill(ss_soft_batch *batch, ss_soft_point *points, const ss_soft_frame *frames)
{
    points += batch->first;
    if (batch->points == 1)
        fill_batch(batch, points, 1, frames);
    else if (batch->points == 2)
        fill_batch(batch, points, 2, frames);
    else
        fill_batch(batch, points, SS_SOFT_POINTS, frames);
}

/* ---- passes over a batch ---------------------------------------------------------------------------- */

INLINE void relative_of(const ss_soft_batch *batch, vec y[2][8], vec relative[3])
{
    vec root[2] = {load(batch->root[0]), load(batch->root[1])};
    UNROLL for (int i = 0; i < 3; i++) relative[i] = root[1] * y[1][i] - root[0] * y[0][i];
}

INLINE void add_linear(const ss_soft_batch *batch, vec along_normal, const vec along[2], vec y[2][8])
{
    vec root[2] = {load(batch->root[0]), load(batch->root[1])};
    UNROLL for (int i = 0; i < 3; i++)
    {
        vec push = load(batch->normal[i]) * along_normal + load(batch->tangent[0][i]) * along[0] +
                   load(batch->tangent[1][i]) * along[1];
        y[0][i] -= root[0] * push;
        y[1][i] += root[1] * push;
    }
}

INLINE void add_turn(float turn[3][SS_SOFT_LANES], vec impulse, vec y[8])
{
    UNROLL for (int i = 0; i < 3; i++) y[4 + i] += load(turn[i]) * impulse;
}

INLINE void add_angular(float turn[2][3][SS_SOFT_LANES], vec impulse, vec y[2][8])
{
    add_turn(turn[0], impulse, y[0]);
    add_turn(turn[1], impulse, y[1]);
}

INLINE vec angular(float turn[2][3][SS_SOFT_LANES], vec y[2][8])
{
    vec t[2][3];
    load_three(turn[0], t[0]);
    load_three(turn[1], t[1]);
    return dot(t[0], y[0] + 4) + dot(t[1], y[1] + 4);
}

INLINE void sweep_batch(ss_soft_batch *batch, ss_soft_point *points, int count, ss_soft_row *rows,
                        const ss_soft_pace *pace, bool soft)
{
    vec y[2][8], d[2][8], relative[3], normal[3], zero = all(0.0f), moved = zero;
    read_bodies(batch, rows, 0, y);
    load_three(batch->normal, normal);
    relative_of(batch, y, relative);
    if (soft) {
        vec way[3];
        read_bodies(batch, rows, 1, d);
        relative_of(batch, d, way);
        moved = dot(normal, way);
    }
    vec root[2] = {load(batch->root[0]), load(batch->root[1])};
    vec weight = root[0] * root[0] + root[1] * root[1];
    vec closing = dot(normal, relative); // the part of the bodies' centres
    vec push = zero, sum = zero, levers = zero;

    /* Normal impulses, point by point. Where the gap is open, it may close, and no more; an overlap is a
     * damped spring in the pass with bias, and held at its speed in the other one. The two visit the points
     * in opposite order, or bodies would creep to one side. */
    UNROLL for (int k = 0; k < count; k++)
    {
        ss_soft_point *point = &points[soft ? k : count - 1 - k];
        vec speed = closing + angular(point->turn, y) + load(point->load);
        vec before = load(point->impulse), mass = load(point->mass), after;
        if (soft) {
            vec gap =
                load(point->gap) + moved + angular(point->turn, d) + load(point->load) * all(pace->time);
            mask open = gap > zero;
            vec allowed = where(open, gap * all(pace->inverse_h));
            vec bias = larger(all(pace->rate) * smaller(gap, zero), all(-pace->push));
            vec scale = choose(open, all(1.0f), all(pace->mass_scale));
            vec fade = where(~open, all(pace->impulse_scale));
            after = before - (mass * scale * (speed + bias + allowed) + fade * before);
            store(point->allowed, allowed);
        } else {
            after = before - mass * (speed + load(point->allowed));
        }
        after = larger(after, zero);
        store(point->impulse, after);
        if (!soft) store(point->total, load(point->total) + after);
        vec change = after - before;
        closing += weight * change;
        push += change;
        sum += after;
        levers += load(point->lever) * after;
        add_angular(point->turn, change, y);
    }

    /* Friction: one force, in a disc. */
    vec tangent[2][3], slip[2], force[2], change[2];
    UNROLL for (int j = 0; j < 2; j++)
    {
        load_three(batch->tangent[j], tangent[j]);
        slip[j] = dot(tangent[j], relative) + angular(batch->slide[j], y) + load(batch->load[j]);
        force[j] = load(batch->friction[j]);
        change[j] = force[j];
    }
    vec a = load(batch->slide_mass[0]), b = load(batch->slide_mass[1]), c = load(batch->slide_mass[2]);
    force[0] -= a * slip[0] + b * slip[1];
    force[1] -= b * slip[0] + c * slip[1];
    vec most = load(batch->mu) * sum, size = force[0] * force[0] + force[1] * force[1];
    vec shrink = choose(size > most * most, most / KERNEL_ROOT(size), all(1.0f));
    UNROLL for (int j = 0; j < 2; j++)
    {
        force[j] *= shrink;
        change[j] = force[j] - change[j];
        store(batch->friction[j], force[j]);
        if (!soft) store(batch->total[j], load(batch->total[j]) + force[j]);
        add_angular(batch->slide[j], change[j], y);
    }
    add_linear(batch, push, change, y);

    /* And one torque about the normal. */
    if (count > 1) {
        vec turning = angular(batch->twist, y) + load(batch->load[2]);
        vec spin = load(batch->spin), bound = load(batch->mu) * levers + load(batch->torsion) * sum;
        vec wanted = smaller(larger(spin - load(batch->twist_mass) * turning, -bound), bound);
        store(batch->spin, wanted);
        if (!soft) store(batch->total[2], load(batch->total[2]) + wanted);
        add_angular(batch->twist, wanted - spin, y);
    }
    write_bodies(batch, rows, y);
}

KERNEL static void sweep_soft(ss_soft_batch *batch, ss_soft_point *points, ss_soft_row *rows,
                              const ss_soft_pace *pace)
{
    if (batch->points == 1)
        sweep_batch(batch, points, 1, rows, pace, true);
    else if (batch->points == 2)
        sweep_batch(batch, points, 2, rows, pace, true);
    else
        sweep_batch(batch, points, SS_SOFT_POINTS, rows, pace, true);
}

KERNEL static void sweep_rigid(ss_soft_batch *batch, ss_soft_point *points, ss_soft_row *rows,
                               const ss_soft_pace *pace)
{
    if (batch->points == 1)
        sweep_batch(batch, points, 1, rows, pace, false);
    else if (batch->points == 2)
        sweep_batch(batch, points, 2, rows, pace, false);
    else
        sweep_batch(batch, points, SS_SOFT_POINTS, rows, pace, false);
}

KERNEL static void sweep(ss_soft_batch *batches, ss_soft_point *points, int begin, int end, ss_soft_row *rows,
                         const ss_soft_pace *pace, bool soft)
{
    KERNEL_FLUSH;
    for (int k = begin; k < end; k++) {
        if (soft)
            sweep_soft(&batches[k], points + batches[k].first, rows, pace);
        else
            sweep_rigid(&batches[k], points + batches[k].first, rows, pace);
    }
    KERNEL_UNFLUSH;
}

KERNEL static void look(ss_soft_batch *batches, ss_soft_point *points, int begin, int end, ss_soft_row *rows)
{
    for (int k = begin; k < end; k++) {
        ss_soft_batch *batch = &batches[k];
        vec y[2][8], relative[3], normal[3];
        read_bodies(batch, rows, 0, y);
        load_three(batch->normal, normal);
        relative_of(batch, y, relative);
        for (int i = 0; i < batch->points; i++) {
            ss_soft_point *point = &points[batch->first + i];
            store(point->approach, dot(normal, relative) + angular(point->turn, y) + load(point->load));
        }
    }
}

KERNEL static void push(ss_soft_batch *batches, ss_soft_point *points, int begin, int end, ss_soft_row *rows)
{
    KERNEL_FLUSH;
    for (int k = begin; k < end; k++) {
        ss_soft_batch *batch = &batches[k];
        vec y[2][8], sum = all(0.0f), along[2] = {load(batch->friction[0]), load(batch->friction[1])};
        read_bodies(batch, rows, 0, y);
        for (int i = 0; i < batch->points; i++) {
            ss_soft_point *point = &points[batch->first + i];
            vec impulse = load(point->impulse);
            sum += impulse;
            add_angular(point->turn, impulse, y);
        }
        add_angular(batch->slide[0], along[0], y);
        add_angular(batch->slide[1], along[1], y);
        add_angular(batch->twist, load(batch->spin), y);
        add_linear(batch, sum, along, y);
        write_bodies(batch, rows, y);
    }
    KERNEL_UNFLUSH;
}

/* Newton's law for what was hit in this step: the speed of approach at its start, reversed and reduced. */
KERNEL static void bounce(ss_soft_batch *batches, ss_soft_point *points, int begin, int end,
                          ss_soft_row *rows, const ss_soft_pace *pace)
{
    for (int k = begin; k < end; k++) {
        ss_soft_batch *batch = &batches[k];
        vec y[2][8], relative[3], normal[3], restitution = load(batch->restitution), zero = all(0.0f);
        read_bodies(batch, rows, 0, y);
        load_three(batch->normal, normal);
        for (int i = 0; i < batch->points; i++) {
            ss_soft_point *point = &points[batch->first + i];
            vec approach = load(point->approach), before = load(point->total), mass = load(point->mass);
            mask bounces = (approach < all(-pace->slow)) & (before > zero) & (restitution > zero);
            relative_of(batch, y, relative);
            vec speed = dot(normal, relative) + angular(point->turn, y) + load(point->load);
            vec after = larger(before - mass * (speed + restitution * approach), zero);
            vec change = where(bounces, after - before), none[2] = {zero, zero};
            store(point->total, before + change);
            add_angular(point->turn, change, y);
            add_linear(batch, change, none, y);
        }
        write_bodies(batch, rows, y);
    }
}

#define SS_JOIN(a, b) a##b
#define SS_NAMED(name) SS_JOIN(ss_soft_kernel_, name)
const ss_soft_kernel SS_NAMED(KERNEL_NAME) = {fill, look, push, sweep, bounce};
