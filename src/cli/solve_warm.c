/* `stickslip solve --warm`: the answer of one frame as a guess for the next. */
#include "cli/solve.h"

#include <string.h>

static int32_t id_of(const ss_frame *frame, int body)
{
    return body == SS_WORLD ? 0 : frame->bodies.id[body]; // ids are positive
}

static bool same_pair(const ss_frame *frame, int contact, const ss_frame *before, int old)
{
    const int *now = frame->contacts.pair[contact], *then = before->contacts.pair[old];
    return id_of(frame, now[0]) == id_of(before, then[0]) && id_of(frame, now[1]) == id_of(before, then[1]);
}

static double distance_squared(const double a[3], const double b[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* The nearest contact of the same bodies that is not taken yet, -1 if there is none. */
static int find_contact(const ss_frame *frame, int contact, const ss_frame *before, const bool *taken)
{
    int best = -1;
    double nearest = 0.0;
    for (int old = 0; old < before->contacts.count; old++) {
        if (taken[old] || !same_pair(frame, contact, before, old)) continue;
        double away = distance_squared(frame->contacts.point[contact], before->contacts.point[old]);
        if (best < 0 || away < nearest) {
            best = old;
            nearest = away;
        }
    }
    return best;
}

static void carry_contacts(const ss_frame *frame, const ss_frame *before, const ss_answer *old, bool *taken,
                           ss_answer *guess)
{
    for (int c = 0; c < frame->contacts.count; c++) {
        int from = find_contact(frame, c, before, taken);
        if (from < 0) continue;
        taken[from] = true;
        guess->normal_impulse[c] = old->normal_impulse[from];
        memcpy(guess->friction_impulse[c], old->friction_impulse[from], sizeof guess->friction_impulse[c]);
        if (guess->rolling_impulse && old->rolling_impulse)
            memcpy(guess->rolling_impulse[c], old->rolling_impulse[from], sizeof guess->rolling_impulse[c]);
    }
}

/* Joints have no names: theirs are carried over when there are as many rows as before. */
static void carry_joints(const ss_frame *frame, const ss_frame *before, const ss_answer *old,
                         ss_answer *guess)
{
    if (frame->constraints.row_count != before->constraints.row_count) return;
    memcpy(guess->row_impulse, old->row_impulse,
           (size_t)frame->constraints.row_count * sizeof *guess->row_impulse);
}

static void carry_velocities(const ss_frame *frame, ss_answer *guess)
{
    memcpy(guess->velocity, frame->bodies.velocity, (size_t)frame->bodies.count * sizeof *guess->velocity);
}

ss_answer *ss_warm_start(const ss_frame *frame, const ss_frame *before, const ss_answer *answer_before,
                         ss_error *err)
{
    ss_answer *guess = ss_answer_create(frame, ss_frame_has_moments(frame), err);
    bool *taken = ss_allocate((size_t)before->contacts.count, sizeof *taken);
    if (guess && taken) {
        carry_contacts(frame, before, answer_before, taken, guess);
        carry_joints(frame, before, answer_before, guess);
        carry_velocities(frame, guess);
    } else {
        if (guess) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", before->contacts.count);
        ss_answer_destroy(guess);
        guess = NULL;
    }
    ss_release(taken);
    return guess;
}
