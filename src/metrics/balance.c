/* Momentum and energy of the step. With M v+ = M v + h f + J' x, the change of kinetic energy is exactly the
 * work of all impulses at the mean velocity, (h f + J' x) . (v+ + v) / 2: what is left over was made up. */
#include "metrics/judgement.h"

#include <math.h>

#include "linalg/mat3.h"
#include "linalg/vec3.h"

/* J' x on every body of the frame, impulses and their moments. */
static void add_joint_impulses(const ss_frame *frame, const ss_answer *answer, double (*impulse)[6])
{
    const ss_constraints *joints = &frame->constraints;
    for (int k = 0, row = 0; k < joints->count; k++) {
        for (int r = 0; r < joints->rows[k]; r++, row++) {
            for (int side = 0; side < 2; side++) {
                int body = joints->pair[k][side];
                if (body == SS_WORLD) continue;
                for (int i = 0; i < 6; i++) {
                    impulse[body][i] += joints->jacobian[row][6 * side + i] * answer->row_impulse[row];
                }
            }
        }
    }
    for (int k = 0; k < joints->further_count; k++)
        for (int i = 0; i < 6; i++)
            impulse[joints->further_body[k]][i] +=
                joints->further_jacobian[k][i] * answer->row_impulse[joints->further_row[k]];
}

static void add_at(double (*impulse)[6], int body, ss_vec3 arm, ss_vec3 push, double sign)
{
    if (body == SS_WORLD) return;
    ss_vec3 moment = ss_vec3_cross(arm, push);
    const double parts[6] = {push.x, push.y, push.z, moment.x, moment.y, moment.z};
    for (int i = 0; i < 6; i++) impulse[body][i] += sign * parts[i];
}

static void add_contact_impulses(const ss_frame *frame, const ss_answer *answer, double (*impulse)[6])
{
    for (int c = 0; c < frame->contacts.count; c++) {
        double arm_a[3], arm_b[3];
        ss_contact_lever_arms(frame, c, arm_a, arm_b);
        int a = frame->contacts.pair[c][0], b = frame->contacts.pair[c][1];
        ss_vec3 push = ss_vec3_add_scaled(ss_vec3_load(answer->friction_impulse[c]),
                                          answer->normal_impulse[c], ss_vec3_load(frame->contacts.normal[c]));
        add_at(impulse, a, ss_vec3_load(arm_a), push, -1.0);
        add_at(impulse, b, ss_vec3_load(arm_b), push, 1.0);
        for (int i = 0; answer->rolling_impulse && i < 3; i++) {
            if (a != SS_WORLD) impulse[a][3 + i] -= answer->rolling_impulse[c][i];
            if (b != SS_WORLD) impulse[b][3 + i] += answer->rolling_impulse[c][i];
        }
    }
}

static double work(const double impulse[6], const double before[6], const double after[6])
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++) sum += 0.5 * impulse[i] * (before[i] + after[i]);
    return sum;
}

/* M d, in place of d */
static void times_mass(const ss_frame *frame, int body, double d[6])
{
    ss_vec3 turn = ss_mat3_apply(ss_mat3_load(frame->bodies.inertia[body]), ss_vec3_load(d + 3));
    for (int i = 0; i < 3; i++) d[i] *= frame->bodies.mass[body];
    ss_vec3_store(turn, d + 3);
}

static double inverse_mass_energy(const ss_frame *frame, int body, const double p[6])
{
    ss_mat3 inverse;
    if (!ss_mat3_inverse(ss_mat3_load(frame->bodies.inertia[body]), &inverse)) return NAN;
    ss_vec3 moment = ss_vec3_load(p + 3), push = ss_vec3_load(p);
    return 0.5 * (ss_vec3_dot(push, push) / frame->bodies.mass[body] +
                  ss_vec3_dot(moment, ss_mat3_apply(inverse, moment)));
}

typedef struct sums {
    double momentum, gained, balance;
} sums;

static sums over_bodies(const ss_frame *frame, const ss_answer *answer, double (*impulse)[6])
{
    sums total = {0};
    for (int body = 0; body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        const double *before = frame->bodies.velocity[body], *after = answer->velocity[body];
        double change[6], push[6];
        for (int i = 0; i < 6; i++) {
            change[i] = after[i] - before[i];
            push[i] = frame->h * frame->bodies.force[body][i] + impulse[body][i];
        }
        times_mass(frame, body, change);
        double gained = work(change, before, after); // T(v+) - T(v) = M (v+ - v) . (v+ + v) / 2
        total.gained += gained;
        total.balance += gained - work(push, before, after);
        for (int i = 0; i < 6; i++) change[i] -= push[i];
        total.momentum += inverse_mass_energy(frame, body, change);
    }
    return total;
}

static double contact_work(const ss_frame *frame, const ss_answer *answer, double (*impulse)[6])
{
    double sum = 0.0;
    for (int body = 0; body < frame->bodies.count; body++) {
        if (ss_frame_is_live(frame, body)) {
            sum += work(impulse[body], frame->bodies.velocity[body], answer->velocity[body]);
        }
    }
    return sum;
}

/* Rows of joints without bounds. Where friction follows the load of one, it is a box whose bounds are
 * infinite. */
static bool is_bilateral(const ss_problem *problem, const ss_block *block, int i)
{
    if (block->contact >= 0) return false; // a tangent of infinite friction
    return block->law == SS_LAW_FREE ||
           (block->law == SS_LAW_BOX && problem->lower[i] == -INFINITY && problem->upper[i] == INFINITY);
}

static void joint_speed(ss_judgement *judgement)
{
    const ss_problem *problem = judgement->problem;
    double largest = -1.0;
    int joint = -1;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; i < block->first + block->size; i++) {
            if (!is_bilateral(problem, block, i) || !(fabs(judgement->w[i]) > largest)) continue;
            largest = fabs(judgement->w[i]);
            joint = block->constraint;
        }
    }
    if (largest < 0.0)
        ss_metric_refuse(judgement, SS_METRIC_joint_speed, "no bilateral constraints");
    else
        ss_metric_set(judgement, SS_METRIC_joint_speed, largest, -1, joint);
}

bool ss_metrics_balance(ss_judgement *judgement, ss_error *err)
{
    const ss_frame *frame = judgement->frame;
    const ss_answer *answer = judgement->answer;
    joint_speed(judgement);
    if (!frame) {
        static const enum ss_metric_id need_bodies[] = {SS_METRIC_momentum, SS_METRIC_kinetic_energy_change,
                                                        SS_METRIC_contact_work, SS_METRIC_energy_balance};
        for (int i = 0; i < 4; i++)
            ss_metric_refuse(judgement, need_bodies[i], "needs bodies: the file has none");
        return true;
    }
    double(*impulse)[6] =
        ss_arena_take(judgement->arena, (size_t)frame->bodies.count, sizeof *impulse, "impulses");
    if (!impulse) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the impulses of the bodies");
    add_contact_impulses(frame, answer, impulse);
    double of_contacts = contact_work(frame, answer, impulse);
    add_joint_impulses(frame, answer, impulse);
    sums total = over_bodies(frame, answer, impulse);
    ss_metric_set(judgement, SS_METRIC_momentum, total.momentum, -1, -1);
    ss_metric_set(judgement, SS_METRIC_kinetic_energy_change, total.gained, -1, -1);
    ss_metric_set(judgement, SS_METRIC_energy_balance, total.balance, -1, -1);
    if (frame->contacts.count)
        ss_metric_set(judgement, SS_METRIC_contact_work, of_contacts, -1, -1);
    else
        ss_metric_refuse(judgement, SS_METRIC_contact_work, "no contacts");
    return true;
}
