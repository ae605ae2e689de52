/* A start for one frame from the answer to another: warm starts along a sequence of frames.
 *
 * Frames have no names for contacts. What two frames have in common are the ids of bodies and the points: a
 * contact is found again as the nearest one between the same two bodies. */
#include <stickslip/answer.h>

#include <stdlib.h>
#include <string.h>

static int32_t id_of(const ss_frame *frame, int body)
{
    return body == SS_WORLD ? 0 : frame->bodies.id[body]; // ids are positive
}

/* A contact of the frame before, by the ids of its bodies. */
typedef struct known {
    int32_t a, b;
    int index;
} known;

static int by_bodies(const void *left, const void *right)
{
    const known *x = left, *y = right;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return x->index - y->index;
}

/* from[c]: the contact before that contact c starts from, -1 = none. Contacts choose in their order: the
 * nearest one of the same bodies that is not taken. */
static bool match(const ss_frame *before, const ss_frame *frame, int *from)
{
    int count = before->contacts.count;
    known *sorted = ss_allocate((size_t)count, sizeof *sorted);
    bool *taken = ss_allocate((size_t)count, sizeof *taken);
    if (!sorted || !taken) {
        ss_release(sorted);
        ss_release(taken);
        return false;
    }
    for (int c = 0; c < count; c++) {
        const int *pair = before->contacts.pair[c];
        sorted[c] = (known){id_of(before, pair[0]), id_of(before, pair[1]), c};
    }
    if (count) qsort(sorted, (size_t)count, sizeof *sorted, by_bodies);

    for (int c = 0; c < frame->contacts.count; c++) {
        // The first contact before of these bodies.
        const int *pair = frame->contacts.pair[c];
        known wanted = {id_of(frame, pair[0]), id_of(frame, pair[1]), -1};
        int low = 0, high = count;
        while (low < high) {
            int middle = low + (high - low) / 2;
            if (by_bodies(&sorted[middle], &wanted) < 0)
                low = middle + 1;
            else
                high = middle;
        }

        double nearest = 0.0; // m^2
        from[c] = -1;
        for (; low < count && sorted[low].a == wanted.a && sorted[low].b == wanted.b; low++) {
            int old = sorted[low].index;
            if (taken[old]) continue;
            const double *p = frame->contacts.point[c], *q = before->contacts.point[old];
            double away = 0.0;
            for (int i = 0; i < 3; i++) away += (p[i] - q[i]) * (p[i] - q[i]);
            if (from[c] < 0 || away < nearest) from[c] = old, nearest = away;
        }
        if (from[c] >= 0) taken[from[c]] = true;
    }
    ss_release(sorted);
    ss_release(taken);
    return true;
}

ss_answer *ss_answer_carry(const ss_frame *before, const ss_answer *answer, const ss_frame *frame,
                           ss_carry how, ss_error *err)
{
    ss_answer *guess = ss_answer_create(frame, ss_frame_has_moments(frame), err);
    int *from = guess ? ss_allocate((size_t)frame->contacts.count, sizeof *from) : NULL;
    bool good = from != NULL;
    if (good && how == SS_CARRY_BY_PLACE)
        for (int c = 0; c < frame->contacts.count; c++) from[c] = c < before->contacts.count ? c : -1;
    else
        good = good && match(before, frame, from);
    if (!good) {
        if (guess) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", frame->contacts.count);
        ss_answer_destroy(guess);
        ss_release(from);
        return NULL;
    }

    for (int c = 0; c < frame->contacts.count; c++) {
        int old = from[c];
        if (old < 0) continue;
        guess->normal_impulse[c] = answer->normal_impulse[old];
        memcpy(guess->friction_impulse[c], answer->friction_impulse[old], sizeof guess->friction_impulse[c]);
        if (guess->rolling_impulse && answer->rolling_impulse)
            memcpy(guess->rolling_impulse[c], answer->rolling_impulse[old], sizeof guess->rolling_impulse[c]);
    }
    ss_release(from);

    // Joints have no names: theirs are carried over if there are as many rows as before.
    int rows = frame->constraints.row_count;
    if (rows > 0 && rows == before->constraints.row_count)
        memcpy(guess->row_impulse, answer->row_impulse, (size_t)rows * sizeof *guess->row_impulse);
    if (frame->bodies.count)
        memcpy(guess->velocity, frame->bodies.velocity,
               (size_t)frame->bodies.count * sizeof *guess->velocity);
    return guess;
}
