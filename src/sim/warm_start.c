/* Warm start: the impulses of the last step, found again by contact key and joint row. */
#include "sim/state.h"

#include <math.h>

#include "base/memory.h"
#include "base/team.h"
#include "linalg/vec3.h"

/* ---- keeping ---------------------------------------------------------------------------------------- */

/* The array if it is large enough, else a new one without the old contents; NULL when out of memory. */
static void *with_room(void *array, int *capacity, int count, size_t size)
{
    if (array && count <= *capacity) return array;
    int larger = count + count / 2;
    ss_release(array);
    array = ss_allocate((size_t)larger, size);
    *capacity = array ? larger : 0;
    return array;
}

static ss_warm_pair pair_of(const ss_contact *contact)
{
    return (ss_warm_pair){{contact->shape_a, contact->shape_b}, {contact->body_a, contact->body_b}};
}

static bool same_pair(const ss_warm_pair *a, const ss_warm_pair *b)
{
    return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1] && a->body[0] == b->body[0] &&
           a->body[1] == b->body[1];
}

bool ss_warm_reserve(ss_warm *warm, int contacts, int rows)
{
    warm->contact_count = warm->row_count = warm->slot_count = 0;
    warm->contacts = with_room(warm->contacts, &warm->contact_capacity, contacts, sizeof *warm->contacts);
    warm->rows = with_room(warm->rows, &warm->row_capacity, rows, sizeof *warm->rows);
    return warm->contacts && warm->rows;
}

static int end_of_pair(const ss_warm *warm, int first)
{
    int end = first;
    while (end < warm->contact_count && same_pair(&warm->contacts[end].pair, &warm->contacts[first].pair))
        end++;
    return end;
}

/* A pair slides when its friction as a whole is saturated, |sum f| = sum mu nu. Single contacts say
 * nothing: their shares are not determined, and contacts that hold each other may all be saturated in a
 * block that stands. With a grain the limit is an ellipse, which the smaller coefficient's share of friction
 * is stretched for, to make it a circle. */
static void keep_sliding(const ss_sim *sim, ss_warm *warm)
{
    static const double rounding = 1e-5; // what an interior point method leaves of the distance to the cone
    for (int begin = 0, end; begin < warm->contact_count; begin = end) {
        ss_vec3 friction = {0.0, 0.0, 0.0};
        double most = 0.0;
        end = end_of_pair(warm, begin);
        for (int c = begin; c < end; c++) {
            const double *mu = sim->frame->contacts.mu[c];
            ss_vec3 part = ss_vec3_load(sim->answer->friction_impulse[c]);
            if (mu[0] != mu[1]) {
                double t[2][3];
                int small = mu[1] < mu[0];
                ss_contact_tangents(sim->frame, c, t[0], t[1]);
                ss_vec3 weak = ss_vec3_load(t[small]);
                double stretch = mu[small] > 0.0 ? mu[!small] / mu[small] - 1.0 : 0.0;
                part = ss_vec3_add_scaled(part, stretch * ss_vec3_dot(part, weak), weak);
            }
            friction = ss_vec3_add(friction, part);
            most += fmax(mu[0], mu[1]) * sim->answer->normal_impulse[c];
        }
        bool slides = most > 0.0 && ss_vec3_norm(friction) >= (1.0 - rounding) * most;
        for (int c = begin; c < end; c++) warm->contacts[c].slides = slides;
    }
}

static void keep_contact(ss_sim *sim, int64_t c, const double along[3], const ss_answer *answer)
{
    const ss_contact *contact = &sim->contacts.items[c];
    ss_warm_contact *to = &sim->warm.contacts[c];
    ss_vec3 normal = ss_vec3_load(along), tangent = ss_vec3_load(answer->friction_impulse[c]);
    *to = (ss_warm_contact){.pair = pair_of(contact), .key = contact->key, .wait = sim->wait[c]};
    memcpy(to->point, contact->point, sizeof to->point);
    ss_vec3_store(ss_vec3_add_scaled(tangent, answer->normal_impulse[c], normal), to->impulse);
    if (answer->rolling_impulse) memcpy(to->rolling, answer->rolling_impulse[c], sizeof to->rolling);
}

static void keep_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_sim *sim = context;
    for (int64_t c = begin; c < end; c++) keep_contact(sim, c, sim->frame->contacts.normal[c], sim->answer);
}

bool ss_warm_keep_contacts(ss_sim *sim, const ss_answer *answer)
{
    if (!ss_warm_reserve(&sim->warm, answer->contacts, 0)) return false;
    for (int c = 0; c < answer->contacts; c++) keep_contact(sim, c, sim->contacts.items[c].normal, answer);
    sim->warm.contact_count = answer->contacts;
    return true;
}

bool ss_warm_keep(ss_sim *sim)
{
    ss_warm *warm = &sim->warm;
    const ss_answer *answer = sim->answer;
    int contacts = sim->frame->contacts.count, rows = sim->frame->constraints.row_count;
    if (!ss_warm_reserve(warm, contacts, rows)) return false;

    ss_parallel_for(ss_team_for_loop(sim->team, contacts, 14), contacts, SS_SIM_AT_ONCE, keep_range, sim);
    for (int i = 0; i < rows; i++) {
        const ss_row_origin *origin = &sim->origins[i];
        warm->rows[i] = (ss_warm_row){origin->joint, origin->index, origin->of, answer->row_impulse[i]};
    }

    warm->contact_count = contacts;
    warm->row_count = rows;
    if (sim->frame->contacts.mu_static) keep_sliding(sim, warm);
    return true;
}

void ss_warm_free(ss_warm *warm)
{
    ss_release(warm->contacts);
    ss_release(warm->rows);
    ss_release(warm->slots);
    *warm = (ss_warm){0};
}

/* ---- finding the pair ------------------------------------------------------------------------------- */

static unsigned first_slot(const ss_warm_pair *pair, int slot_count)
{
    uint64_t shapes = (uint64_t)(uint32_t)pair->shape[0] << 32 | (uint32_t)pair->shape[1];
    uint64_t bodies = (uint64_t)(uint32_t)pair->body[0] << 32 | (uint32_t)pair->body[1];
    uint64_t word = (shapes ^ bodies * UINT64_C(0xbf58476d1ce4e5b9)) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(word >> 33) & (unsigned)(slot_count - 1);
}

/* The table of pairs, when their order has changed since the last step. */
static bool make_slots(ss_warm *warm)
{
    int count = 16;
    while (count < 2 * warm->contact_count) count *= 2;
    warm->slots = with_room(warm->slots, &warm->slot_capacity, count, sizeof *warm->slots);
    if (!warm->slots) return false;
    memset(warm->slots, 0, (size_t)count * sizeof *warm->slots);
    warm->slot_count = count;
    for (int c = 0; c < warm->contact_count; c++) {
        const ss_warm_pair *pair = &warm->contacts[c].pair;
        if (c > 0 && same_pair(pair, &warm->contacts[c - 1].pair)) continue;
        unsigned slot = first_slot(pair, count);
        while (warm->slots[slot]) slot = (slot + 1) & (unsigned)(count - 1);
        warm->slots[slot] = c + 1;
    }
    return true;
}

/* Contacts of one pair stand together. *first is where they did in the last step, or `contact_count`. */
static bool find_pair(ss_warm *warm, const ss_warm_pair *pair, int *first)
{
    if (warm->slot_count == 0 && !make_slots(warm)) return false;
    *first = warm->contact_count;
    unsigned slot = first_slot(pair, warm->slot_count);
    for (; warm->slots[slot]; slot = (slot + 1) & (unsigned)(warm->slot_count - 1)) {
        int old = warm->slots[slot] - 1;
        if (!same_pair(pair, &warm->contacts[old].pair)) continue;
        *first = old;
        break;
    }
    return true;
}

/* The same without the table, which one thread has to make; -1 if the pair is not found like this. Pairs come
 * in the same order most often, and few come or go: looks as far as `reach` to either side of where the pair
 * is expected. */
static int find_near(const ss_warm *warm, const ss_warm_pair *pair, int expected, int reach)
{
    const ss_warm_contact *old = warm->contacts;
    for (int away = 0; away <= reach; away++) {
        int at = expected + away;
        if (at >= warm->contact_count || !same_pair(pair, &old[at].pair)) at = expected - away;
        if (at < 0 || at >= warm->contact_count || !same_pair(pair, &old[at].pair)) continue;
        while (at > 0 && same_pair(pair, &old[at - 1].pair)) at--;
        return at;
    }
    return -1;
}

/* Collision detection lists them by the numbers of their shapes: then halving finds what many new pairs have
 * pushed far away. */
static int find_in_order(const ss_warm *warm, const ss_warm_pair *pair)
{
    const ss_warm_contact *old = warm->contacts;
    int low = 0, high = warm->contact_count; // the first that is not before the pair is one of low .. high
    while (low < high) {
        int middle = low + (high - low) / 2;
        const int *shape = old[middle].pair.shape;
        bool is_before = shape[0] != pair->shape[0] ? shape[0] < pair->shape[0] : shape[1] < pair->shape[1];
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low < warm->contact_count && same_pair(pair, &old[low].pair) ? low : -1;
}

/* ---- finding the contact ---------------------------------------------------------------------------- */

/* The one with the same features; `hint` is looked at first. -1 if there is none. */
static int find_key(const ss_warm *warm, int first, int end, int hint, uint64_t key)
{
    if (key == 0) return -1;
    if (hint < end && warm->contacts[hint].key == key) return hint;
    for (int old = first; old < end; old++) {
        if (warm->contacts[old].key == key) return old;
    }
    return -1;
}

bool ss_warm_slides(ss_sim *sim, int c, bool *slides)
{
    ss_warm_pair pair = pair_of(&sim->contacts.items[c]);
    int first = sim->warm.contact_count;
    if (first > 0 && !find_pair(&sim->warm, &pair, &first)) return false;
    *slides = first < sim->warm.contact_count && sim->warm.contacts[first].slides;
    return true;
}

/* ---- the guess -------------------------------------------------------------------------------------- */

static ss_vec3 in_plane(ss_vec3 v, ss_vec3 normal)
{
    return ss_vec3_add_scaled(v, -ss_vec3_dot(v, normal), normal);
}

/* Contact c starts from an old one, whose impulse is a vector of the world: taken apart along the new
 * normal. */
static void take(ss_sim *sim, const ss_frame *frame, int c, int old, ss_answer *guess)
{
    const ss_warm_contact *from = &sim->warm.contacts[old];
    ss_vec3 normal = ss_vec3_load(frame ? frame->contacts.normal[c] : sim->contacts.items[c].normal),
            impulse = ss_vec3_load(from->impulse);
    guess->normal_impulse[c] = fmax(0.0, ss_vec3_dot(impulse, normal));
    ss_vec3_store(in_plane(impulse, normal), guess->friction_impulse[c]);
    if (guess->rolling_impulse)
        ss_vec3_store(in_plane(ss_vec3_load(from->rolling), normal), guess->rolling_impulse[c]);
    sim->wait[c] = from->wait;
}

/* What the loop over the contacts is given. */
typedef struct guessing {
    ss_sim *sim;
    const ss_frame *frame; // NULL: none
    ss_answer *guess;
    int *missed, *misses; // first contacts of pairs that are not where they are expected; how many of a chunk
    _Atomic bool is_short; // of memory
} guessing;

/* Contacts begin .. end - 1 are of one pair, whose old ones begin with `first`. */
static void guess_pair(guessing *with, int begin, int end, int first, int worker)
{
    const ss_contact *contacts = with->sim->contacts.items;
    const ss_warm *warm = &with->sim->warm;
    int last = end_of_pair(warm, first);
    bool missing = false;
    for (int c = begin; c < end; c++) {
        int old = find_key(warm, first, last, first + c - begin, contacts[c].key);
        if (old >= 0) take(with->sim, with->frame, c, old, with->guess);
        missing |= old < 0;
    }
    if (!missing) return;

    /* Features change where two are equally good: then it is the nearest one that is not taken. */
    ss_arena *arena = with->sim->arenas[worker];
    ss_arena_mark mark = ss_arena_get_mark(arena);
    bool *taken = ss_arena_take(arena, (size_t)(last - first), sizeof *taken, "contacts of a pair");
    if (!taken) {
        with->is_short = true;
        return;
    }
    for (int c = begin; c < end; c++) {
        int old = find_key(warm, first, last, first + c - begin, contacts[c].key);
        if (old >= 0) taken[old - first] = true;
    }
    for (int c = begin; c < end; c++) {
        if (find_key(warm, first, last, first + c - begin, contacts[c].key) >= 0) continue;
        int best = -1;
        double nearest = INFINITY;
        for (int old = first; old < last; old++) {
            if (taken[old - first]) continue;
            ss_vec3 away =
                ss_vec3_subtract(ss_vec3_load(contacts[c].point), ss_vec3_load(warm->contacts[old].point));
            double distance_squared = ss_vec3_dot(away, away);
            if (distance_squared < nearest) {
                best = old;
                nearest = distance_squared;
            }
        }
        if (best < 0) continue;
        take(with->sim, with->frame, c, best, with->guess);
        taken[best - first] = true;
    }
    ss_arena_reset(arena, mark);
}

static int end_of_new_pair(const guessing *with, int begin)
{
    const ss_contact *contacts = with->sim->contacts.items;
    ss_warm_pair pair = pair_of(&contacts[begin]);
    int end = begin + 1;
    for (; end < with->guess->contacts; end++) {
        ss_warm_pair other = pair_of(&contacts[end]);
        if (!same_pair(&pair, &other)) break;
    }
    return end;
}

/* Pairs that begin in the range. */
static void guess_range(int64_t begin, int64_t end, int worker, void *context)
{
    enum { NEAR = 8 }; // contacts
    guessing *with = context;
    const ss_warm *warm = &with->sim->warm;
    int c = begin > 0 ? end_of_new_pair(with, (int)begin - 1) : 0;
    int expected = c, misses = 0;
    for (int next; c < end; c = next) {
        ss_warm_pair pair = pair_of(&with->sim->contacts.items[c]);
        next = end_of_new_pair(with, c);
        int first = find_near(warm, &pair, expected, NEAR);
        if (first < 0) first = find_in_order(warm, &pair);
        if (first >= 0) {
            guess_pair(with, c, next, first, worker);
            expected = end_of_pair(warm, first);
        } else {
            with->missed[begin + misses++] = c;
        }
    }
    with->misses[begin / SS_SIM_AT_ONCE] = misses;
}

bool ss_warm_guess(ss_sim *sim, const ss_frame *frame, ss_answer *guess, ss_error *err)
{
    enum { CONTACT = 20 }; // ns
    ss_warm *warm = &sim->warm;
    int count = warm->contact_count > 0 ? guess->contacts : 0;
    int chunks = (count + SS_SIM_AT_ONCE - 1) / SS_SIM_AT_ONCE;
    guessing with = {.sim = sim, .frame = frame, .guess = guess};
    with.missed = ss_arena_take_unset(sim->memory, (size_t)count, sizeof *with.missed, "pairs");
    with.misses = ss_arena_take_unset(sim->memory, (size_t)chunks, sizeof *with.misses, "pairs");
    with.is_short = !with.missed || !with.misses;
    if (!with.is_short)
        ss_parallel_for(ss_team_for_loop(sim->team, count, CONTACT), count, SS_SIM_AT_ONCE, guess_range,
                        &with);

    // Those that are somewhere else, or new.
    for (int chunk = 0; !with.is_short && chunk < chunks; chunk++) {
        for (int k = 0; k < with.misses[chunk]; k++) {
            int begin = with.missed[chunk * SS_SIM_AT_ONCE + k], first;
            ss_warm_pair pair = pair_of(&sim->contacts.items[begin]);
            with.is_short |= !find_pair(warm, &pair, &first);
            if (with.is_short || first == warm->contact_count) continue;
            guess_pair(&with, begin, end_of_new_pair(&with, begin), first, 0);
        }
    }
    if (with.is_short)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", warm->contact_count);

    /* Rows come and go with limits; a joint's own equations are always the first ones. */
    int old = 0;
    for (int i = 0; frame && i < frame->constraints.row_count; i++) {
        const ss_row_origin *origin = &sim->origins[i];
        while (old < warm->row_count &&
               (warm->rows[old].joint < origin->joint ||
                (warm->rows[old].joint == origin->joint && warm->rows[old].index < origin->index)))
            old++;
        if (old == warm->row_count) break;
        const ss_warm_row *row = &warm->rows[old];
        bool same = row->joint == origin->joint && row->index == origin->index;
        const double *bounds = frame->constraints.bounds[i];
        bool equation = bounds[0] == -INFINITY && bounds[1] == INFINITY;
        if (same && (row->of == origin->of || equation)) guess->row_impulse[i] = row->impulse;
    }
    return true;
}
