#include "formulation/reactions.h"

#include "formulation/rows.h"

#include <math.h>
#include <string.h>

void ss_reactions_free(ss_reactions *reactions)
{
    ss_release(reactions->step);
    ss_release(reactions->lacks);
    ss_release(reactions->first_row);
    *reactions = (ss_reactions){0};
}

/* Takes one body after the other that has a single joint left; what remains at the end is a loop. The sum of
 * the numbers of a body's joints is that of its last one. */
bool ss_reactions_make(const ss_frame *frame, ss_reactions *to, ss_error *err)
{
    const ss_constraints *joints = &frame->constraints;
    int bodies = frame->bodies.count, implied = 0, ends = 0;
    to->count = 0;
    if (joints->count > to->joint_room) {
        ss_release(to->step);
        ss_release(to->first_row);
        to->step = ss_allocate((size_t)joints->count, sizeof *to->step);
        to->first_row = ss_allocate((size_t)joints->count, sizeof *to->first_row);
        to->joint_room = to->step && to->first_row ? joints->count : 0;
    }
    if (bodies > to->body_room) {
        ss_release(to->lacks);
        to->lacks = ss_allocate((size_t)bodies, sizeof *to->lacks);
        to->body_room = to->lacks ? bodies : 0;
    }
    int *degree = ss_allocate(3 * (size_t)bodies, sizeof *degree);
    int *sum = degree ? degree + bodies : NULL, *end = degree ? degree + 2 * bodies : NULL;
    if (!degree || joints->count > to->joint_room || bodies > to->body_room) {
        ss_release(degree);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d joints", joints->count);
    }

    for (int k = 0, row = 0; k < joints->count; row += joints->rows[k++]) {
        to->first_row[k] = row;
        if (!joints->implied || joints->implied[k] != SS_IMPLIED_BY_T) continue;
        implied++;
        for (int side = 0; side < 2; side++) {
            if (!ss_frame_is_live(frame, joints->pair[k][side])) continue;
            degree[joints->pair[k][side]]++;
            sum[joints->pair[k][side]] += k;
        }
    }
    for (int b = 0; b < bodies; b++)
        if (degree[b] == 1) end[ends++] = b;
    for (int i = 0; i < ends; i++) {
        int body = end[i], k = sum[body];
        if (degree[body] != 1) continue; // the last one of a tree that hangs on nothing
        int side = joints->pair[k][1] == body, other = joints->pair[k][1 - side];
        to->step[to->count][0] = k;
        to->step[to->count++][1] = side;
        degree[body] = 0;
        if (!ss_frame_is_live(frame, other)) continue;
        sum[other] -= k;
        if (--degree[other] == 1) end[ends++] = other;
    }
    ss_release(degree);
    return to->count == implied ||
           ss_fail(err, SS_ERROR_INPUT, "constraints/implied: the implied joints form a loop");
}

/* min |J' x - lack| over the rows J of one joint, their blocks on one body: Householder's method. */
static void least_squares(const ss_constraints *joints, int first, int rows, int side, const double lack[6],
                          double *x)
{
    double Q[6][6] = {{0}}, r[6]; // column by column
    int n = rows < 6 ? rows : 6;
    memcpy(r, lack, sizeof r);
    for (int j = 0; j < n; j++) memcpy(Q[j], joints->jacobian[first + j] + 6 * side, sizeof Q[j]);

    // Q R = J', and Q' lack in r
    for (int j = 0; j < n; j++) {
        double norm = 0.0;
        for (int i = j; i < 6; i++) norm += Q[j][i] * Q[j][i];
        norm = sqrt(norm);
        double pivot = Q[j][j] > 0.0 ? -norm : norm, v[6];
        if (norm == 0.0) continue;
        for (int i = j; i < 6; i++) v[i] = Q[j][i];
        v[j] -= pivot;
        double square = 0.0;
        for (int i = j; i < 6; i++) square += v[i] * v[i];
        for (int c = j; c <= n; c++) {
            double *column = c < n ? Q[c] : r, along = 0.0;
            for (int i = j; i < 6; i++) along += v[i] * column[i];
            for (int i = j; i < 6; i++) column[i] -= 2.0 * along / square * v[i];
        }
    }

    for (int j = n - 1; j >= 0; j--) {
        double rest = r[j];
        for (int c = j + 1; c < n; c++) rest -= Q[c][j] * x[c];
        x[j] = Q[j][j] != 0.0 ? rest / Q[j][j] : 0.0;
    }
    for (int j = n; j < rows; j++) x[j] = 0.0;
}

static void take(ss_reactions *reactions, int body, const double block[6], double impulse)
{
    for (int i = 0; i < 6; i++) reactions->lacks[body][i] -= block[i] * impulse;
}

void ss_reactions_find(ss_reactions *reactions, const ss_frame *frame, ss_answer *answer)
{
    const ss_constraints *joints = &frame->constraints;
    for (int b = 0; b < frame->bodies.count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        double change[6], momentum[6];
        ss_mass mass = ss_frame_mass(frame, b);
        for (int i = 0; i < 6; i++) change[i] = answer->velocity[b][i] - frame->bodies.velocity[b][i];
        ss_mass_apply(&mass, change, momentum);
        for (int i = 0; i < 6; i++)
            reactions->lacks[b][i] += momentum[i] - frame->h * frame->bodies.force[b][i];
    }

    // springs, dampers and rotors: x = -(J v + c) / C
    for (int k = 0, row = 0; joints->implied && k < joints->count; row += joints->rows[k++]) {
        if (joints->implied[k] != SS_IMPLIED_BY_MASS) continue;
        for (int i = row; i < row + joints->rows[k]; i++) {
            double rate = joints->time_derivative[i];
            for (int side = 0; side < 2; side++) {
                int body = joints->pair[k][side];
                for (int d = 0; ss_frame_is_live(frame, body) && d < 6; d++)
                    rate += joints->jacobian[i][6 * side + d] * answer->velocity[body][d];
            }
            answer->row_impulse[i] = -rate / joints->regularization[i];
            for (int side = 0; side < 2; side++)
                if (ss_frame_is_live(frame, joints->pair[k][side]))
                    take(reactions, joints->pair[k][side], joints->jacobian[i] + 6 * side,
                         answer->row_impulse[i]);
        }
    }

    for (int s = 0; s < reactions->count; s++) {
        int k = reactions->step[s][0], side = reactions->step[s][1], row = reactions->first_row[k];
        int body = joints->pair[k][side], other = joints->pair[k][1 - side];
        least_squares(joints, row, joints->rows[k], side, reactions->lacks[body], answer->row_impulse + row);
        for (int i = row; ss_frame_is_live(frame, other) && i < row + joints->rows[k]; i++)
            take(reactions, other, joints->jacobian[i] + 6 * (1 - side), answer->row_impulse[i]);
    }
}
