#include "problem/answer_store.h"

#include <math.h>
#include <string.h>

bool ss_frame_has_moments(const ss_frame *frame)
{
    return frame->contacts.mu_rolling || frame->contacts.mu_torsion;
}

ss_answer *ss_answer_create(const ss_frame *frame, bool rolling, ss_error *err)
{
    ss_answer *answer = ss_allocate(1, sizeof *answer);
    if (answer) {
        size_t bodies = (size_t)frame->bodies.count, contacts = (size_t)frame->contacts.count;
        answer->bodies = frame->bodies.count;
        answer->rows = frame->constraints.row_count;
        answer->contacts = frame->contacts.count;
        answer->velocity = ss_allocate(bodies, sizeof *answer->velocity);
        answer->row_impulse = ss_allocate((size_t)frame->constraints.row_count, sizeof *answer->row_impulse);
        answer->normal_impulse = ss_allocate(contacts, sizeof *answer->normal_impulse);
        answer->friction_impulse = ss_allocate(contacts, sizeof *answer->friction_impulse);
        if (rolling) answer->rolling_impulse = ss_allocate(contacts, sizeof *answer->rolling_impulse);
        bool good = answer->velocity && answer->row_impulse && answer->normal_impulse &&
                    answer->friction_impulse && (answer->rolling_impulse || !rolling);

        if (frame->subcontacts.groups > 0) {
            size_t groups = (size_t)frame->subcontacts.groups, rows = (size_t)frame->subcontacts.count;
            answer->groups = frame->subcontacts.groups;
            answer->subcontacts = frame->subcontacts.count;
            answer->selection = ss_allocate(groups, sizeof *answer->selection);
            answer->sub_normal_impulse = ss_allocate(rows, sizeof *answer->sub_normal_impulse);
            answer->sub_friction_impulse = ss_allocate(rows, sizeof *answer->sub_friction_impulse);
            if (rolling) answer->sub_rolling_impulse = ss_allocate(rows, sizeof *answer->sub_rolling_impulse);
            good = good && answer->selection && answer->sub_normal_impulse && answer->sub_friction_impulse &&
                   (answer->sub_rolling_impulse || !rolling);
            for (int g = 0; good && g < answer->groups; g++) answer->selection[g] = -1;
        }

        if (frame->generalized.count > 0) {
            answer->coordinates = frame->generalized.count;
            answer->generalized_velocity =
                ss_allocate((size_t)answer->coordinates, sizeof *answer->generalized_velocity);
            good = good && answer->generalized_velocity;
            for (int i = 0; good && i < answer->coordinates; i++) answer->generalized_velocity[i] = NAN;
        }
        if (good) return answer;
    }
    ss_answer_destroy(answer);
    ss_fail(err, SS_ERROR_RESOURCES, "answer: out of memory for %d bodies and %d contacts",
            frame->bodies.count, frame->contacts.count);
    return NULL;
}

void ss_answer_destroy(ss_answer *answer)
{
    if (!answer) return;
    ss_release(answer->velocity);
    ss_release(answer->row_impulse);
    ss_release(answer->normal_impulse);
    ss_release(answer->friction_impulse);
    ss_release(answer->rolling_impulse);
    ss_release(answer->selection);
    ss_release(answer->sub_normal_impulse);
    ss_release(answer->sub_friction_impulse);
    ss_release(answer->sub_rolling_impulse);
    ss_release(answer->generalized_velocity);
    ss_release(answer);
}

/* ---- one after the other ---------------------------------------------------------------------------- */

static void clear(void *array, int count, size_t size)
{
    if (array && count) memset(array, 0, (size_t)count * size);
}

ss_answer *ss_answer_store_take(ss_answer_store *store, const ss_frame *frame, bool rolling, ss_error *err)
{
    int bodies = frame->bodies.count, rows = frame->constraints.row_count, contacts = frame->contacts.count;
    ss_answer *answer = store->answer;
    // answers with alternatives are made to measure
    bool fits = answer && bodies <= store->bodies && rows <= store->rows && contacts <= store->contacts &&
                rolling == (answer->rolling_impulse != NULL) && frame->subcontacts.groups == 0 &&
                answer->groups == 0 && frame->generalized.count == answer->coordinates;
    if (!fits) {
        answer = ss_answer_create(frame, rolling, err); // without memory the old one stays
        if (!answer) return NULL;
        ss_answer_store_free(store);
        store->answer = answer;
        store->bodies = bodies;
        store->rows = rows;
        store->contacts = contacts;
    }

    answer->bodies = bodies;
    answer->rows = rows;
    answer->contacts = contacts;
    clear(answer->velocity, bodies, sizeof *answer->velocity);
    clear(answer->row_impulse, rows, sizeof *answer->row_impulse);
    clear(answer->normal_impulse, contacts, sizeof *answer->normal_impulse);
    clear(answer->friction_impulse, contacts, sizeof *answer->friction_impulse);
    clear(answer->rolling_impulse, contacts, sizeof *answer->rolling_impulse);
    for (int i = 0; i < answer->coordinates; i++) answer->generalized_velocity[i] = NAN;
    return answer;
}

void ss_answer_store_free(ss_answer_store *store)
{
    ss_answer_destroy(store->answer);
    *store = (ss_answer_store){0};
}

static bool all_finite(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

bool ss_answer_is_complete(const ss_answer *answer)
{
    return answer && all_finite(answer->velocity[0], 6 * answer->bodies) &&
           all_finite(answer->normal_impulse, answer->contacts) &&
           all_finite(answer->friction_impulse[0], 3 * answer->contacts) &&
           all_finite(answer->row_impulse, answer->rows) &&
           (answer->subcontacts == 0 ||
            (all_finite(answer->sub_normal_impulse, answer->subcontacts) &&
             all_finite(answer->sub_friction_impulse[0], 3 * answer->subcontacts)));
}
