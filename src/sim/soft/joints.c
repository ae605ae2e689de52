/* Joints in real-time steps: rows in the scaled space of soft.h, swept before the manifolds.
 *
 * Jacobians, errors and laws are those of the step's frame. They stay within it like those of contacts,
 * errors following the displacements, g = g0 + J d, unless bodies turn far. A joint's own equations are
 * solved together, by the inverse of J M^-1 J'; its limits, motors, springs and friction one by one, along
 * Jacobians that are orthogonal to them, so that what acts along a coordinate does not tear at the joint.
 *
 * The pass with bias fades a joint's own impulses as it does those of contacts (soft.c). Without that, chains
 * for which a sweep is a small part of the solution (a share p of it, p < rate h / 6) gain energy: their
 * errors, velocities and impulses are integrated one from the other faster than the sweep damps them.
 *
 * Springs and compliance resist as in the frame, u + r x + b = 0 with x the impulse of the whole step:
 * with equal forces in n small steps that is u + (n r) x_k + b = 0. A rotor resists each change of its rate
 * from one small step to the next.
 */
#include "sim/soft/soft.h"

#include "base/memory.h"
#include "linalg/quat.h"
#include "model/joint_rows.h"
#include "sim/state.h"

#include <math.h>

enum { OWN_MOST = 6 }; // equations of a joint itself

typedef struct ss_soft_joint_row {
    float j[SS_JOINT_BODIES][8]; /* J L of each body; linear and angular, with zeros as in ss_soft_row */
    float mass;                  /* 1 / (J M^-1 J' + regularisation) */
    float impulse, total;        /* of the small step, of the step */
    float error;                 /* g at the start of the step */
    float target;                /* u + target = 0, besides what follows from the error */
    float regularisation;        /* of the impulse of a small step */
    float low, high;             /* bounds of it */
    float friction;              /* |impulse| <= friction |impulse of row `load`| */
    float allowed;               /* speed of approach that only reaches the limit */
    float share[OWN_MOST];       /* of its impulse that the joint's own equations take back, within j */
    int load;                    /* -1: none */
    bool holonomic, one_sided, rotor;
} ss_soft_joint_row;

typedef struct ss_soft_joint {
    int joint, bodies, row[SS_JOINT_BODIES]; /* rows of bodies, 0: does not move */
    int first, count, own;                   /* rows; own: that many of them are solved together */
    bool gives;                              /* the own ones, under load, as contacts do */
    float inverse[OWN_MOST][OWN_MOST];
} ss_soft_joint;

struct ss_soft_joints {
    int count, capacity, row_count, row_capacity;
    ss_soft_joint *items;
    ss_soft_joint_row *rows;
};

typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

/* In this order on every machine. */
static inline float sum_of(four v)
{
    return (v[0] + v[2]) + (v[1] + v[3]);
}

/* ---- preparing -------------------------------------------------------------------------------------- */

static bool reserve(struct ss_soft_joints *all, int joints, ss_error *err)
{
    if (joints <= all->capacity) return true;
    ss_release(all->items);
    ss_release(all->rows);
    all->items = ss_allocate((size_t)joints, sizeof *all->items);
    all->rows = ss_allocate((size_t)joints * SS_JOINT_EQUATIONS_MOST, sizeof *all->rows);
    all->capacity = all->items && all->rows ? joints : 0;
    return all->capacity > 0 || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d joints", joints);
}

/* Rows of bodies that do not move are 0. */
static inline float product(const ss_soft_joint *joint, const ss_soft_joint_row *a,
                            const ss_soft_joint_row *b)
{
    four sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < joint->bodies; k++) {
        const four *one = (const four *)a->j[k], *other = (const four *)b->j[k];
        sum += one[0] * other[0];
        sum += one[1] * other[1];
    }
    return sum_of(sum);
}

/* The inverse of J M^-1 J' of the joint's own equations, by Gauss and Jordan, in place: column p holds what
 * becomes of the unit vector from pivot p on. An equation that follows from the others is left out. */
static inline __attribute__((always_inline)) void invert(ss_soft_joint *joint, int n,
                                                         const ss_soft_joint_row *rows)
{
    double a[OWN_MOST][OWN_MOST], own[OWN_MOST];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= i; k++) a[i][k] = a[k][i] = (double)product(joint, &rows[i], &rows[k]);
        own[i] = a[i][i];
        a[i][i] += (double)rows[i].regularisation;
    }
    for (int p = 0; p < n; p++) {
        double pivot = a[p][p];
        bool good = pivot > 1e-6 * own[p]; // floats have no more digits
        double inverse = good ? 1.0 / pivot : 0.0;
        a[p][p] = 1.0;
        for (int k = 0; k < n; k++) a[p][k] *= inverse;
        for (int i = 0; i < n; i++) {
            double factor = a[i][p];
            if (i == p) continue;
            a[i][p] = 0.0;
            for (int k = 0; k < n; k++) a[i][k] -= factor * a[p][k]; // of zeros if it is left out
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) joint->inverse[i][k] = (float)a[i][k];
}

static void fill_row(ss_sim *sim, const ss_soft_joint *joint, const ss_joint_equation *from, double h,
                     int steps, ss_soft_joint_row *to)
{
    const ss_soft *soft = sim->soft;
    const ss_joint *of = ss_world_joint(sim->world, joint->joint);
    double target = from->time_derivative;
    *to = (ss_soft_joint_row){.error = (float)from->violation,
                              .regularisation = (float)(from->regularization * (from->rotor < 0 ? steps : 1)),
                              .low = (float)(h * from->bounds[0]),
                              .high = (float)(h * from->bounds[1]),
                              .friction = (float)from->friction,
                              .load = from->load,
                              .holonomic = from->holonomic,
                              .one_sided = from->holonomic && from->bounds[0] == 0.0,
                              .rotor = from->rotor >= 0};
    for (int k = 0; k < joint->bodies; k++) {
        const double *j = from->jacobian + 6 * k;
        int body = ss_joint_body(of, k), r = joint->row[k];
        if (r) {
            const ss_soft_frame *frame = &soft->frames[r];
            for (int i = 0; i < 3; i++) {
                const float *turn = frame->turn[i];
                to->j[k][i] = (float)j[i] * frame->root;
                to->j[k][4 + i] = turn[0] * (float)j[3] + turn[1] * (float)j[4] + turn[2] * (float)j[5];
            }
        } else if (body != SS_WORLD && ss_world_body(sim->world, body)->kind == SS_KINEMATIC) {
            for (int i = 0; i < 6; i++) target += j[i] * ss_world_body(sim->world, body)->velocity[i];
        }
    }
    to->target = (float)target;
}

static void find_mass(const ss_soft_joint *joint, ss_soft_joint_row *law)
{
    float own = product(joint, law, law) + law->regularisation;
    law->mass = own > 0.0f ? 1.0f / own : 0.0f;
}

/* The part of a law's Jacobian that a rigid joint leaves: j - A_lo A_oo^-1 j_o; and its mass. */
static void leave_own(const ss_soft_joint *joint, const ss_soft_joint_row *own, ss_soft_joint_row *law)
{
    find_mass(joint, law);
    for (int m = 0; m < joint->own; m++)
        if (own[m].regularisation > 0.0f) return;
    float along[OWN_MOST];
    for (int m = 0; m < joint->own; m++) along[m] = product(joint, law, &own[m]);
    for (int m = 0; m < joint->own; m++) {
        for (int i = 0; i < joint->own; i++) law->share[m] += joint->inverse[m][i] * along[i];
        for (int k = 0; k < joint->bodies; k++)
            for (int i = 0; i < 8; i++) law->j[k][i] -= law->share[m] * own[m].j[k][i];
        law->target -= law->share[m] * own[m].target;
    }
    find_mass(joint, law);
}

/* Rows of one joint, from the world as it is. */
static void fill_joint(ss_sim *sim, ss_soft_joint *joint, const ss_joint_equation *from, double h, int steps,
                       ss_soft_joint_row *rows)
{
    for (int i = 0; i < joint->count; i++) {
        fill_row(sim, joint, &from[i], h, steps, &rows[i]);
        bool free = from[i].bounds[0] == -INFINITY && from[i].bounds[1] == INFINITY && from[i].load < 0;
        if (i == joint->own && i < OWN_MOST && from[i].block == 0 && free && from[i].rotor < 0) joint->own++;
    }
    if (joint->own == 3)
        invert(joint, 3, rows);
    else if (joint->own == 5)
        invert(joint, 5, rows);
    else
        invert(joint, joint->own, rows);
    joint->gives = true;
    for (int i = 0; i < joint->own; i++) joint->gives &= rows[i].holonomic && rows[i].regularisation == 0.0f;
    for (int i = joint->own; i < joint->count; i++) leave_own(joint, rows, &rows[i]);
}

bool ss_soft_prepare_joints(ss_sim *sim, double h, int steps, ss_error *err)
{
    ss_soft *soft = sim->soft;
    int joints = ss_world_joint_count(sim->world), old = 0;
    if (joints == 0 && !soft->joints) return true;
    if (!soft->joints) soft->joints = ss_allocate(1, sizeof *soft->joints);
    struct ss_soft_joints *all = soft->joints;
    if (!all) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d joints", joints);
    if (!reserve(all, joints, err)) return false;
    all->count = all->row_count = 0;
    for (int number = 0; number < joints; number++) {
        ss_joint_equation from[SS_JOINT_EQUATIONS_MOST];
        const ss_joint *of = ss_world_joint(sim->world, number);
        int count = ss_joint_equations(sim->world, number, sim->h, from);
        if (count == 0) continue;
        ss_soft_joint *joint = &all->items[all->count++];
        ss_soft_joint_row *rows = &all->rows[all->row_count];
        *joint = (ss_soft_joint){
            .joint = number, .bodies = of->body_count, .first = all->row_count, .count = count};
        all->row_count += count;
        for (int k = 0; k < of->body_count; k++) {
            int body = ss_joint_body(of, k), r = body == SS_WORLD ? 0 : soft->row_of[body];
            joint->row[k] = r;
            soft->touched[r] = true;
        }
        for (int i = 0; i < count; i++) // as in the frame: a rotor had the rate of the poses one step ago
            if (from[i].rotor >= 0 && of->kind != SS_JOINT_REVOLUTE)
                from[i].time_derivative = -ss_joint_rate_before(sim->world, number, from[i].rotor, sim->h);
        fill_joint(sim, joint, from, h, steps, rows);

        /* Impulses of the step before, of rows that it had as well. */
        const ss_warm *warm = &sim->warm;
        for (int i = 0; i < count && sim->options.warm_start; i++) {
            while (old < warm->row_count && (warm->rows[old].joint < number ||
                                             (warm->rows[old].joint == number && warm->rows[old].index < i)))
                old++;
            if (old == warm->row_count) break;
            const ss_warm_row *row = &warm->rows[old];
            if (row->joint == number && row->index == i && (row->of == count || i < joint->own))
                rows[i].impulse = (float)row->impulse;
        }
    }
    return true;
}

bool ss_soft_keep_joints(ss_sim *sim, ss_error *err)
{
    const struct ss_soft_joints *all = sim->soft->joints;
    int rows = all ? all->row_count : 0;
    if (rows == 0 && sim->warm.row_count == 0) return true;
    if (!ss_warm_reserve(&sim->warm, 0, rows))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for warm starts");
    for (int k = 0; k < all->count; k++) {
        const ss_soft_joint *joint = &all->items[k];
        for (int i = 0; i < joint->count; i++)
            sim->warm.rows[joint->first + i] =
                (ss_warm_row){joint->joint, i, joint->count, (double)all->rows[joint->first + i].impulse};
    }
    sim->warm.row_count = rows;
    return true;
}

void ss_soft_joints_free(struct ss_soft_joints *all)
{
    if (!all) return;
    ss_release(all->items);
    ss_release(all->rows);
    ss_release(all);
}

/* ---- sweeping --------------------------------------------------------------------------------------- */

static float speed_of(const ss_soft *soft, const ss_soft_joint *joint, const ss_soft_joint_row *row)
{
    four sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < joint->bodies; k++) {
        const four *y = (const four *)soft->rows[joint->row[k]].y, *j = (const four *)row->j[k];
        sum += j[0] * y[0];
        sum += j[1] * y[1];
    }
    return sum_of(sum);
}

static float error_of(const ss_soft *soft, const ss_soft_joint *joint, const ss_soft_joint_row *row)
{
    four sum = {row->error, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < joint->bodies; k++) {
        const four *d = (const four *)soft->rows[joint->row[k]].d, *j = (const four *)row->j[k];
        sum += j[0] * d[0];
        sum += j[1] * d[1];
    }
    return sum_of(sum);
}

static void push(const ss_soft *soft, const ss_soft_joint *joint, const ss_soft_joint_row *row, float impulse)
{
    for (int k = 0; k < joint->bodies; k++) {
        four *y = (four *)soft->rows[joint->row[k]].y;
        const four *j = (const four *)row->j[k];
        if (!joint->row[k]) continue;
        y[0] += j[0] * impulse;
        y[1] += j[1] * impulse;
    }
}

/* Joints of bodies that have turned too far for the Jacobians of the step's start get new ones, and their
 * true errors, from the poses that the displacements lead to. The world is there meanwhile. */
static const double far_turned = 0.02; // rad

/* How far the Jacobian of a joint has turned with one of its bodies, in rad. Wheels turn fast, but a hinge
 * whose axis goes through the centre of mass looks the same for any turn about it: of a hinge counts only
 * what turns its axis, or the arm from the centre to it. */
static double jacobian_turn(const ss_soft *soft, const ss_joint *of, int side, int row)
{
    static const double no_arm = 1e-6; // of the arm of the other side: it is rounding
    ss_vec3 turn = ss_soft_turn(soft, row);
    if (of->kind != SS_JOINT_REVOLUTE) return ss_vec3_norm(turn);
    ss_mat3 rotation = soft->start[soft->body_of[row]].rotation;
    ss_vec3 arm = ss_vec3_load(of->local_anchor[side]), z = {0.0, 0.0, 1.0};
    ss_vec3 axis = ss_mat3_apply(rotation, ss_quat_rotate(ss_quat_load(of->local_frame[side]), z));
    double length = ss_vec3_norm(arm), other = ss_vec3_norm(ss_vec3_load(of->local_anchor[!side]));
    double of_axis = ss_vec3_norm(ss_vec3_cross(turn, axis));
    if (length <= no_arm * other) return of_axis;
    return fmax(of_axis, ss_vec3_norm(ss_vec3_cross(turn, ss_mat3_apply(rotation, arm))) / length);
}

void ss_soft_refresh_joints(ss_sim *sim, double h, int steps)
{
    ss_soft *soft = sim->soft;
    struct ss_soft_joints *all = soft->joints;
    for (int n = 0; all && n < all->count; n++) {
        ss_soft_joint *joint = &all->items[n];
        ss_soft_joint_row *rows = &all->rows[joint->first], before[SS_JOINT_EQUATIONS_MOST];
        const ss_joint *of = ss_world_joint(sim->world, joint->joint);
        double turned = 0.0;
        for (int k = 0; k < joint->bodies; k++)
            if (joint->row[k]) turned = fmax(turned, jacobian_turn(soft, of, k, joint->row[k]));
        if (turned < far_turned) continue;
        for (int k = 0; k < joint->bodies; k++)
            if (joint->row[k]) ss_soft_place(sim, joint->row[k], true);
        ss_joint_equation from[SS_JOINT_EQUATIONS_MOST];
        int count = ss_joint_equations(sim->world, joint->joint, sim->h, from);
        for (int k = 0; k < joint->bodies; k++)
            if (joint->row[k]) ss_soft_place(sim, joint->row[k], false);
        if (count != joint->count) continue; // a limit comes or goes: with the next step

        memcpy(before, rows, (size_t)count * sizeof *rows);
        joint->own = 0;
        fill_joint(sim, joint, from, h, steps, rows);
        for (int i = 0; i < count; i++) {
            rows[i].impulse = before[i].impulse; // which was given to the bodies along the old Jacobian
            push(soft, joint, &before[i], -before[i].impulse);
            push(soft, joint, &rows[i], rows[i].impulse);
            rows[i].total = before[i].total;
            if (rows[i].rotor) rows[i].target = before[i].target;
            rows[i].error -= error_of(soft, joint, &rows[i]) - rows[i].error; // it is that of the start
        }
    }
}

void ss_soft_push_joints(ss_soft *soft)
{
    const struct ss_soft_joints *all = soft->joints;
    for (int k = 0; all && k < all->count; k++) {
        const ss_soft_joint *joint = &all->items[k];
        for (int i = 0; i < joint->count; i++)
            push(soft, joint, &all->rows[joint->first + i], all->rows[joint->first + i].impulse);
    }
}

/* Rotors resist changes of the rate that they have now. */
void ss_soft_note_rates(ss_soft *soft)
{
    const struct ss_soft_joints *all = soft->joints;
    for (int k = 0; all && k < all->count; k++) {
        const ss_soft_joint *joint = &all->items[k];
        for (int i = 0; i < joint->count; i++) {
            ss_soft_joint_row *row = &all->rows[joint->first + i];
            if (row->rotor) row->target = -speed_of(soft, joint, row);
        }
    }
}

/* The joint's own equations together. In w = y + rate d, the bias against their errors is that of the
 * velocities: rate (g0 + J d) + J y = rate g0 + J w. */
static inline __attribute__((always_inline)) void sweep_own(ss_soft *soft, const ss_soft_joint *joint,
                                                            int bodies, int own, ss_soft_joint_row *rows,
                                                            const ss_soft_pace *pace, bool is_soft)
{
    float residual[OWN_MOST];
    float scale = is_soft && joint->gives ? pace->mass_scale : 1.0f;
    float fade = is_soft && joint->gives ? pace->impulse_scale : 0.0f;
    four w[SS_JOINT_BODIES][2];
    for (int k = 0; k < bodies; k++)
        for (int i = 0; i < 2; i++) {
            const ss_soft_row *body = &soft->rows[joint->row[k]];
            w[k][i] = ((const four *)body->y)[i];
            if (is_soft) w[k][i] += pace->rate * ((const four *)body->d)[i];
        }
    for (int i = 0; i < own; i++) {
        ss_soft_joint_row *row = &rows[i];
        residual[i] = row->target + row->regularisation * row->impulse;
        if (is_soft && !row->holonomic) {
            residual[i] += speed_of(soft, joint, row); // and does not give
            continue;
        }
        four sum = {is_soft ? pace->rate * row->error : 0.0f, 0.0f, 0.0f, 0.0f};
        for (int k = 0; k < bodies; k++) {
            const four *j = (const four *)row->j[k];
            sum += j[0] * w[k][0];
            sum += j[1] * w[k][1];
        }
        residual[i] = scale * (residual[i] + sum_of(sum));
    }

    /* All impulses, then what they do to each body. */
    float change[OWN_MOST];
    for (int i = 0; i < own; i++) {
        ss_soft_joint_row *row = &rows[i];
        change[i] = -fade * row->impulse;
        for (int k = 0; k < own; k++) change[i] -= joint->inverse[i][k] * residual[k];
        row->impulse += change[i];
        if (!is_soft) row->total += row->impulse;
    }
    for (int k = 0; k < bodies; k++) {
        four *y = (four *)soft->rows[joint->row[k]].y, first = y[0], second = y[1];
        if (!joint->row[k]) continue;
        for (int i = 0; i < own; i++) {
            const four *j = (const four *)rows[i].j[k];
            first += j[0] * change[i];
            second += j[1] * change[i];
        }
        y[0] = first;
        y[1] = second;
    }
}

/* The impulse of a row along its own Jacobian. */
static float load_of(const ss_soft_joint *joint, const ss_soft_joint_row *rows, int i)
{
    float impulse = rows[i].impulse;
    for (int law = joint->own; i < joint->own && law < joint->count; law++)
        impulse -= rows[law].share[i] * rows[law].impulse;
    return impulse;
}

static void sweep_law(ss_soft *soft, const ss_soft_joint *joint, ss_soft_joint_row *rows, int i,
                      const ss_soft_pace *pace, bool is_soft)
{
    ss_soft_joint_row *row = &rows[i];
    float residual = speed_of(soft, joint, row) + row->target + row->regularisation * row->impulse;
    float scale = 1.0f, fade = 0.0f;
    if (is_soft && row->holonomic) {
        float error = error_of(soft, joint, row);
        bool open = row->one_sided && error > 0.0f;
        row->allowed = open ? error * pace->inverse_h : 0.0f;
        if (!open) residual += pace->rate * error;
        scale = open ? 1.0f : pace->mass_scale;
        fade = open ? 0.0f : pace->impulse_scale;
    }
    float after = row->impulse - (row->mass * scale * (residual + row->allowed) + fade * row->impulse);
    float low = row->low, high = row->high;
    if (row->load >= 0) {
        high = row->friction * fabsf(load_of(joint, rows, row->load));
        low = -high;
    }
    after = after < low ? low : after > high ? high : after;
    float change = after - row->impulse;
    push(soft, joint, row, change);
    row->impulse = after;
    if (is_soft) return;
    row->total += after;
    for (int m = 0; m < joint->own; m++) rows[m].total -= row->share[m] * after;
}

void ss_soft_sweep_joints(ss_soft *soft, const ss_soft_pace *pace, bool is_soft)
{
    const struct ss_soft_joints *all = soft->joints;
    for (int k = 0; all && k < all->count; k++) {
        const ss_soft_joint *joint = &all->items[k];
        ss_soft_joint_row *rows = &all->rows[joint->first];
        for (int i = joint->own; i < joint->count; i++) sweep_law(soft, joint, rows, i, pace, is_soft);
        if (joint->bodies == 2 && joint->own == 3)
            sweep_own(soft, joint, 2, 3, rows, pace, is_soft);
        else if (joint->bodies == 2 && joint->own == 5)
            sweep_own(soft, joint, 2, 5, rows, pace, is_soft);
        else
            sweep_own(soft, joint, joint->bodies, joint->own, rows, pace, is_soft);
    }
}

/* ---- what became of it ------------------------------------------------------------------------------ */

int ss_soft_joint_rows(const ss_soft *soft)
{
    return soft->joints ? soft->joints->row_count : 0;
}

double ss_soft_joint_impulse(const ss_soft *soft, int row)
{
    return (double)soft->joints->rows[row].total;
}

void ss_soft_note_loads(ss_sim *sim)
{
    const struct ss_soft_joints *all = sim->soft->joints;
    for (int k = 0; all && k < all->count; k++) {
        const ss_soft_joint *joint = &all->items[k];
        double impulse[SS_JOINT_EQUATIONS_MOST];
        for (int i = 0; i < joint->count; i++) impulse[i] = (double)all->rows[joint->first + i].total;
        ss_joint_note_load(sim->world, joint->joint, impulse);
    }
}
