/* Momentum and energy of the step. With M v+ = M v + h f + J' x, the change of kinetic energy is exactly the
 * work of all impulses at the mean velocity, (h f + J' x) . (v+ + v) / 2: what is left over was made up. */
#include "metrics/judgement.h"

#include <math.h>

#include "linalg/mat3.h"
#include "linalg/vec3.h"

static void add_at(double (*impulse)[6], int body, ss_vec3 arm, ss_vec3 push, double sign)
{
    if (body == SS_WORLD) return;
    ss_vec3 moment = ss_vec3_cross(arm, push);
    const double parts[6] = {push.x, push.y, push.z, moment.x, moment.y, moment.z};
    for (int i = 0; i < 6; i++) impulse[body][i] += sign * parts[i];
}

static double work(const double impulse[6], const double before[6], const double after[6])
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++) sum += 0.5 * impulse[i] * (before[i] + after[i]);
    return sum;
}

static void joint_speed(ss_judgement *judgement)
{
    const ss_problem *problem = judgement->problem;
    double largest = -1.0;
    int joint = -1;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->contact >= 0) continue; // a tangent of infinite friction
        for (int i = block->first; i < block->first + block->size; i++) {
            // where friction follows the load of a row without bounds, it is a box whose bounds are infinite
            bool is_bilateral =
                block->law == SS_LAW_FREE ||
                (block->law == SS_LAW_BOX && problem->lower[i] == -INFINITY && problem->upper[i] == INFINITY);
            if (!is_bilateral || !(fabs(judgement->w[i]) > largest)) continue;
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
    const ss_bodies *bodies = &frame->bodies;
    double(*impulse)[6] = ss_arena_take(judgement->arena, (size_t)bodies->count, sizeof *impulse, "impulses");
    if (!impulse) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the impulses of the bodies");

    /* J' x on every body of the frame, impulses and their moments: first of the contacts, with their work. */
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
    double contact_work = 0.0;
    for (int b = 0; b < bodies->count; b++)
        if (ss_frame_is_live(frame, b))
            contact_work += work(impulse[b], bodies->velocity[b], answer->velocity[b]);

    /* Then of the joints. */
    const ss_constraints *joints = &frame->constraints;
    for (int k = 0, row = 0; k < joints->count; k++) {
        for (int r = 0; r < joints->rows[k]; r++, row++) {
            for (int side = 0; side < 2; side++) {
                int body = joints->pair[k][side];
                for (int i = 0; body != SS_WORLD && i < 6; i++)
                    impulse[body][i] += joints->jacobian[row][6 * side + i] * answer->row_impulse[row];
            }
        }
    }
    for (int k = 0; k < joints->further_count; k++)
        for (int i = 0; i < 6; i++)
            impulse[joints->further_body[k]][i] +=
                joints->further_jacobian[k][i] * answer->row_impulse[joints->further_row[k]];

    /* Over the bodies. What momentum M (v+ - v) the impulses do not explain is measured as an energy, by
     * M^-1. */
    double momentum = 0.0, gained = 0.0, balance = 0.0;
    for (int b = 0; b < bodies->count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        const double *before = bodies->velocity[b], *after = answer->velocity[b];
        double change[6], push[6];
        for (int i = 0; i < 6; i++) {
            change[i] = after[i] - before[i];
            push[i] = frame->h * bodies->force[b][i] + impulse[b][i];
        }
        ss_mat3 inertia = ss_mat3_load(bodies->inertia[b]), inverse;
        ss_vec3_store(ss_mat3_apply(inertia, ss_vec3_load(change + 3)), change + 3);
        for (int i = 0; i < 3; i++) change[i] *= bodies->mass[b];

        double own = work(change, before, after); // T(v+) - T(v) = M (v+ - v) . (v+ + v) / 2
        gained += own;
        balance += own - work(push, before, after);
        for (int i = 0; i < 6; i++) change[i] -= push[i];
        ss_vec3 linear = ss_vec3_load(change), angular = ss_vec3_load(change + 3);
        momentum += !ss_mat3_inverse(inertia, &inverse)
                        ? NAN
                        : 0.5 * (ss_vec3_dot(linear, linear) / bodies->mass[b] +
                                 ss_vec3_dot(angular, ss_mat3_apply(inverse, angular)));
    }

    ss_metric_set(judgement, SS_METRIC_momentum, momentum, -1, -1);
    ss_metric_set(judgement, SS_METRIC_kinetic_energy_change, gained, -1, -1);
    ss_metric_set(judgement, SS_METRIC_energy_balance, balance, -1, -1);
    if (frame->contacts.count)
        ss_metric_set(judgement, SS_METRIC_contact_work, contact_work, -1, -1);
    else
        ss_metric_refuse(judgement, SS_METRIC_contact_work, "no contacts");
    return true;
}
