/* Contacts to manifolds, manifolds to batches, and the impulses of the step before to where they belong. */
#include "sim/soft/soft.h"

#include "base/memory.h"
#include "base/parallel_any.h"
#include "base/team.h"
#include "sim/state.h"

#include <math.h>
#include <stdatomic.h>

/* Points of one pair belong to one manifold when their normals differ by less than this angle, squared. */
static const double same_normal = 1e-6;

/* ---- manifolds -------------------------------------------------------------------------------------- */

/* The array if it is large enough, else a new one without the old contents; NULL when out of memory. */
static void *grown(void *array, int *capacity, int count, size_t size)
{
    if (count <= *capacity) return array;
    int larger = count + count / 2 + 16;
    void *room = ss_allocate((size_t)larger, size);
    if (!room) return NULL;
    ss_release(array);
    *capacity = larger;
    return room;
}

static bool belongs(const ss_contact *first, const ss_contact *c)
{
    if (first->shape_a != c->shape_a || first->shape_b != c->shape_b || first->body_a != c->body_a ||
        first->body_b != c->body_b)
        return false;
    ss_vec3 apart = ss_vec3_subtract(ss_vec3_load(first->normal), ss_vec3_load(c->normal));
    return ss_vec3_dot(apart, apart) <= same_normal;
}

static int row_of(const ss_soft *soft, int body)
{
    return body == SS_WORLD ? 0 : soft->row_of[body];
}

/* Contacts that touch nothing dynamic are dropped. */
bool ss_soft_find_manifolds(ss_sim *sim, ss_error *err)
{
    ss_soft *soft = sim->soft;
    memset(soft->touched, 0, (size_t)soft->row_count * sizeof *soft->touched);
    ss_contact_list *list = &sim->contacts;
    SS_SWAP(ss_soft_manifold *, soft->manifolds, soft->old);
    SS_SWAP(int, soft->manifold_capacity, soft->old_capacity);
    soft->old_count = soft->manifold_count;
    soft->manifold_count = 0;

    ss_soft_manifold *room =
        grown(soft->manifolds, &soft->manifold_capacity, list->count, sizeof *soft->manifolds);
    if (!room && list->count) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for contacts");
    soft->manifolds = room;
    int kept = 0;
    ss_soft_manifold *last = NULL;
    for (int c = 0; c < list->count; c++) {
        const ss_contact *contact = &list->items[c];
        int a = row_of(soft, contact->body_a), b = row_of(soft, contact->body_b);
        if (a == 0 && b == 0) continue;
        soft->touched[a] = soft->touched[b] = true;
        if (kept != c) list->items[kept] = *contact;
        contact = &list->items[kept];
        if (last && last->count < SS_SOFT_POINTS && belongs(&list->items[last->first], contact)) {
            last->count++;
        } else {
            last = &soft->manifolds[soft->manifold_count++];
            *last = (ss_soft_manifold){.shape = {contact->shape_a, contact->shape_b},
                                       .body = {contact->body_a, contact->body_b},
                                       .row = {a, b},
                                       .first = kept,
                                       .count = 1};
        }
        kept++;
    }
    list->count = kept;
    return true;
}

/* ---- batches ---------------------------------------------------------------------------------------- */

/* Slots that a manifold takes: 1, 2 or 4. What spins against friction needs a row for that, and has two. */
static int slots_of(const ss_sim *sim, const ss_soft_manifold *m)
{
    bool spins = sim->contacts.items[m->first].material.mu_torsion > 0.0;
    return m->count > 2 ? SS_SOFT_POINTS : m->count == 2 || spins ? 2 : 1;
}

/* Slots of all; and does any have other rows or slots than the one at its place in the last step? If none
 * has, the batches are the same as well. */
static unsigned find_slots(int64_t begin, int64_t end, const void *context)
{
    const ss_sim *sim = context;
    const ss_soft *soft = sim->soft;
    bool differ = false;
    for (int64_t i = begin; i < end; i++) {
        ss_soft_manifold *m = &soft->manifolds[i];
        m->slots = slots_of(sim, m);
        const ss_soft_manifold *o = i < soft->old_count ? &soft->old[i] : NULL;
        differ |= !o || m->row[0] != o->row[0] || m->row[1] != o->row[1] || m->slots != o->slots;
    }
    return differ;
}

static bool is_same_graph(const ss_sim *sim)
{
    enum { MANIFOLD = 12 }; // ns
    const ss_soft *soft = sim->soft;
    int count = soft->manifold_count;
    bool differ =
        ss_parallel_any(ss_team_for_loop(sim->team, count, MANIFOLD), count, SS_SIM_AT_ONCE, find_slots, sim);
    return !differ && count == soft->old_count && soft->batched_capacity == soft->body_capacity;
}

/* Where the manifolds of a batch are in the order of the colours, and what else is known of it before. */
typedef struct batch_plan {
    int begin, lanes;
    int slots, first; // points
    int world;        // row
} batch_plan;

typedef struct layout {
    ss_soft *soft;
    const int *order;
    const batch_plan *plans;
} layout;

static void lay_out(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const layout *with = context;
    ss_soft *soft = with->soft;
    for (int64_t k = begin; k < end; k++) {
        const batch_plan *plan = &with->plans[k];
        ss_soft_batch *batch = &soft->batches[k];
        memset(batch, 0, sizeof *batch);
        memset(soft->points + plan->first, 0, (size_t)plan->slots * sizeof *soft->points);
        batch->points = plan->slots;
        batch->first = plan->first;
        for (int lane = 0; lane < SS_SOFT_LANES; lane++) {
            ss_soft_manifold *m =
                lane < plan->lanes ? &soft->manifolds[with->order[plan->begin + lane]] : NULL;
            if (m) m->batch = (int)k, m->lane = lane;
            for (int side = 0; side < 2; side++)
                batch->body[side][lane] = m && m->row[side] ? m->row[side] : plan->world;
        }
    }
}

/* Colours: manifolds of one colour share no body that moves. The first colour that neither body has yet;
 * the last one is for what finds none, and its manifolds have batches of their own. Batches are made colour
 * by colour, lanes are filled in the order of the list. */
static bool make_batches(ss_sim *sim, ss_error *err)
{
    ss_soft *soft = sim->soft;
    int count = soft->manifold_count;
    memset(soft->used, 0, (size_t)soft->row_count * sizeof *soft->used);
    int *colour = ss_arena_take_unset(sim->memory, (size_t)count, sizeof *colour, "colours");
    int *order = ss_arena_take_unset(sim->memory, (size_t)count, sizeof *order, "order of manifolds");
    if (count && (!colour || !order)) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for contacts");

    enum { KINDS = 3, LAST = SS_SOFT_COLOURS - 1, CLASSES = KINDS * SS_SOFT_COLOURS };
    enum { BATCHES_AT_ONCE = 16, BATCH = 100 }; // ns
    int number[CLASSES + 1] = {0};
    for (int i = 0; i < count; i++) {
        const ss_soft_manifold *m = &soft->manifolds[i];
        uint64_t taken = 0;
        if (m->row[0]) taken |= soft->used[m->row[0]];
        if (m->row[1]) taken |= soft->used[m->row[1]];
        taken &= ~(UINT64_C(1) << LAST); // which is always free
        int c = __builtin_ctzll(~taken);
        for (int side = 0; side < 2; side++)
            if (m->row[side]) soft->used[m->row[side]] |= UINT64_C(1) << c;
        colour[i] = KINDS * c + m->slots / 2;
        number[colour[i] + 1]++;
    }
    for (int k = 0; k < CLASSES; k++) number[k + 1] += number[k];
    int at[CLASSES];
    memcpy(at, number, sizeof at);
    for (int i = 0; i < count; i++) order[at[colour[i]]++] = i;

    // The batches of every colour and kind, and where their points begin.
    batch_plan *plans = ss_arena_take_unset(sim->memory, (size_t)count, sizeof *plans, "plans of batches");
    if (!plans) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for contacts");
    soft->batch_count = soft->point_count = 0;
    for (int k = 0; k < CLASSES; k++) {
        int c = k / KINDS, slots = 1 << k % KINDS, most = c == LAST ? 1 : SS_SOFT_LANES;
        if (k % KINDS == 0) soft->colour_start[c] = soft->batch_count;
        for (int i = number[k]; i < number[k + 1]; i += most) {
            int left = number[k + 1] - i;
            plans[soft->batch_count++] =
                (batch_plan){i, left < most ? left : most, slots, soft->point_count, 0};
            soft->point_count += slots;
        }
        soft->colour_start[c + 1] = soft->batch_count;
    }
    void *batches = grown(soft->batches, &soft->batch_capacity, soft->batch_count, sizeof *soft->batches);
    if (batches) soft->batches = batches;
    void *points = grown(soft->points, &soft->point_capacity, soft->point_count, sizeof *soft->points);
    if (points) soft->points = points;
    if (count && (!batches || !points)) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for contacts");

    /* Each slice of a shared colour has a row of the world to itself: kernels write to it. */
    for (int c = 0; c < SS_SOFT_COLOURS && ss_team_size(sim->team) > 1; c++) {
        for (int slice = ss_soft_is_shared(soft, c) ? 0 : SS_SOFT_SLICES; slice < SS_SOFT_SLICES; slice++) {
            int end = ss_soft_slice(soft, c, slice + 1);
            for (int k = ss_soft_slice(soft, c, slice); k < end; k++)
                plans[k].world = soft->body_capacity + 1 + slice;
        }
    }
    layout with = {soft, order, plans};
    ss_parallel_for(ss_team_for_loop(sim->team, soft->batch_count, BATCH), soft->batch_count, BATCHES_AT_ONCE,
                    lay_out, &with);
    soft->batched_capacity = soft->body_capacity;
    return true;
}

/* ---- filling ---------------------------------------------------------------------------------------- */

/* What a manifold has no row for. */
static bool check_material(const ss_sim *sim, const ss_contact *contact, ss_error *err)
{
    const ss_material_pair *of = &contact->material;
    bool grain = of->mu_across > 0.0 && of->mu_across != of->mu;
    const char *what = of->mu_rolling > 0.0     ? "rolling friction"
                       : of->stiffness > 0.0    ? "a stiffness"
                       : of->adhesion > 0.0     ? "adhesion"
                       : of->mu_static > of->mu ? "static friction of its own"
                       : grain                  ? "friction with a grain"
                                                : NULL;
    if (!what) return true;
    int body = contact->body_b == SS_WORLD ? contact->body_a : contact->body_b;
    return ss_fail(err, SS_ERROR_USAGE, "%s: its contact has %s, which real-time steps do not model",
                   ss_sim_body_label(sim, body).text, what);
}

static const ss_soft_memory *find_memory(const ss_soft_list *memory, const ss_soft_manifold *m, int *next)
{
    /* Both lists have the order of pairs, and so they are walked together. */
    for (int i = *next; i < memory->count; i++) {
        const ss_soft_memory *of = &memory->items[i];
        if (of->shape[0] == m->shape[0] && of->shape[1] == m->shape[1] && of->body[0] == m->body[0] &&
            of->body[1] == m->body[1]) {
            *next = i + 1;
            return of;
        }
        bool passed =
            of->shape[0] > m->shape[0] || (of->shape[0] == m->shape[0] && of->shape[1] > m->shape[1]);
        if (passed) break;
        *next = i + 1;
    }
    return NULL;
}

/* Impulses by feature. What belonged to features that are gone is shared by those that are new. */
static void recall(const ss_soft *soft, const ss_soft_manifold *m, const ss_contact *contacts,
                   const ss_soft_memory *old)
{
    ss_soft_batch *batch = &soft->batches[m->batch];
    float *impulse[SS_SOFT_POINTS], lost = 0.0f;
    unsigned found = 0;
    for (int k = 0; k < m->count; k++) {
        impulse[k] = &soft->points[batch->first + k].impulse[m->lane];
        *impulse[k] = NAN;
    }
    for (int j = 0; j < old->count; j++) {
        bool same = false;
        for (int k = 0; k < m->count && !same; k++) {
            int guess = k == 0 ? (j < m->count ? j : 0) : (k <= j ? k - 1 : k); // the same place first
            same = contacts[guess].key == old->key[j];
            if (same) *impulse[guess] = old->impulse[j];
            found += same;
        }
        if (!same) lost += old->impulse[j];
    }
    for (int k = 0; k < m->count; k++)
        if (isnan(*impulse[k])) *impulse[k] = lost / (float)(m->count - (int)found);
    for (int i = 0; i < 3; i++) batch->total[i][m->lane] = old->friction[i];
    if (batch->points > 1) batch->spin[m->lane] = old->spin; // a single point has no row for it
}

static void fill_batches(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const ss_soft *soft = context;
    for (int64_t k = begin; k < end; k++) soft->kernel->fill(&soft->batches[k], soft->points, soft->frames);
}

/* Arms, gaps, material and impulses of one manifold to its lane. False when its material has no row. */
static bool fill_manifold(const ss_sim *sim, const ss_soft_manifold *m, const ss_soft_memory *old)
{
    const ss_soft *soft = sim->soft;
    const ss_contact *contacts = &sim->contacts.items[m->first];
    ss_soft_batch *batch = &soft->batches[m->batch];
    int lane = m->lane;
    const double *centre[2];
    static const double origin[3] = {0.0, 0.0, 0.0};
    for (int side = 0; side < 2; side++) {
        int body = side ? contacts->body_b : contacts->body_a;
        centre[side] = m->row[side] ? ss_world_body(sim->world, body)->position : origin;
    }

    /* Points: arms and gaps. Unused ones have no mass. */
    for (int k = 0; k < batch->points; k++) {
        ss_soft_point *point = &soft->points[batch->first + k];
        const ss_contact *c = &contacts[k < m->count ? k : 0];
        for (int side = 0; side < 2; side++)
            for (int j = 0; j < 3; j++)
                point->turn[side][j][lane] = m->row[side] ? (float)(c->point[j] - centre[side][j]) : 0.0f;
        point->gap[lane] = (float)c->gap;
        point->mass[lane] = k < m->count ? 1.0f : 0.0f;
        point->impulse[lane] = point->total[lane] = 0.0f;
    }
    const ss_material_pair *material = &contacts->material;
    if (!check_material(sim, contacts, NULL)) return false;
    for (int j = 0; j < 3; j++) {
        batch->normal[j][lane] = (float)contacts->normal[j];
        batch->total[j][lane] = 0.0f;
    }
    batch->spin[lane] = 0.0f;
    batch->mu[lane] = (float)material->mu;
    batch->torsion[lane] = (float)material->mu_torsion;
    batch->restitution[lane] = (float)material->restitution;

    /* Surfaces that move as told. */
    const double *belt = contacts->surface_velocity;
    bool moves = soft->told || belt[0] != 0.0 || belt[1] != 0.0 || belt[2] != 0.0;
    for (int j = 0; j < 3; j++) batch->load[j][lane] = 0.0f;
    for (int k = 0; k < batch->points; k++) soft->points[batch->first + k].load[lane] = 0.0f;
    for (int k = 0; k < m->count && moves; k++) {
        double v[3];
        ss_sim_surface_velocity(sim, (const int[2]){contacts->body_a, contacts->body_b},
                                contacts[k].surface_velocity, contacts[k].point, v);
        soft->points[batch->first + k].load[lane] =
            (float)ss_vec3_dot(ss_vec3_load(v), ss_vec3_load(contacts->normal));
        for (int j = 0; j < 3; j++) batch->load[j][lane] += (float)(v[j] / m->count);
    }
    if (old) recall(soft, m, contacts, old);
    return true;
}

static bool comes_before(const int a[2], const int b[2])
{
    return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
}

/* Both lists by shapes, as our collision detection has them; a user's source need not. */
static bool is_sorted(const ss_soft *soft)
{
    for (int i = 1; i < soft->manifold_count; i++)
        if (comes_before(soft->manifolds[i].shape, soft->manifolds[i - 1].shape)) return false;
    for (int i = 1; i < soft->memory.count; i++)
        if (comes_before(soft->memory.items[i].shape, soft->memory.items[i - 1].shape)) return false;
    return true;
}

/* Manifolds of one pair are not torn apart: the first one from `at` on that is of another pair than those
 * before it. */
static int pair_start(const ss_soft *soft, int at)
{
    const ss_soft_manifold *m = soft->manifolds;
    while (at > 0 && at < soft->manifold_count && !comes_before(m[at - 1].shape, m[at].shape)) at++;
    return at;
}

/* The first of the memory that does not come before a pair. */
static int memory_start(const ss_soft_list *memory, const int shape[2])
{
    int low = 0, high = memory->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        bool before = comes_before(memory->items[middle].shape, shape);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

typedef struct gathering {
    ss_sim *sim;
    _Atomic bool bad, bounces;
} gathering;

static void gather_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    gathering *with = context;
    const ss_sim *sim = with->sim;
    const ss_soft *soft = sim->soft;
    int first = pair_start(soft, (int)begin), last = pair_start(soft, (int)end);
    int next = first > 0 && first < last ? memory_start(&soft->memory, soft->manifolds[first].shape) : 0;
    bool bounces = false, good = true;
    for (int i = first; i < last; i++) {
        const ss_soft_manifold *m = &soft->manifolds[i];
        const ss_soft_memory *old = sim->options.warm_start ? find_memory(&soft->memory, m, &next) : NULL;
        good &= fill_manifold(sim, m, old);
        bounces |= sim->contacts.items[m->first].material.restitution > 0.0;
    }
    if (!good) with->bad = true;
    if (bounces) with->bounces = true;
}

bool ss_soft_gather(ss_sim *sim, ss_error *err)
{
    enum { MANIFOLDS_AT_ONCE = 256, BATCHES_AT_ONCE = 16 };
    ss_soft *soft = sim->soft;
    int count = soft->manifold_count;
    if (is_same_graph(sim)) {
        for (int i = 0; i < count; i++) {
            soft->manifolds[i].batch = soft->old[i].batch;
            soft->manifolds[i].lane = soft->old[i].lane;
        }
    } else if (!make_batches(sim, err)) {
        return false;
    }

    /* In the order of the list, or in chunks of it. */
    ss_team *team = ss_team_for_loop(sim->team, count, 60);
    if (ss_team_size(team) > 1 && !is_sorted(soft)) team = NULL;
    gathering with = {.sim = sim};
    ss_parallel_for(team, count, ss_team_size(team) > 1 ? MANIFOLDS_AT_ONCE : count + 1, gather_range, &with);
    soft->bounces = with.bounces;
    for (int i = 0; with.bad && i < count; i++) {
        if (!check_material(sim, &sim->contacts.items[soft->manifolds[i].first], err)) return false;
    }
    ss_parallel_for(ss_team_for_loop(sim->team, soft->batch_count, 200), soft->batch_count, BATCHES_AT_ONCE,
                    fill_batches, soft);
    return true;
}

/* ---- keeping ---------------------------------------------------------------------------------------- */

static void keep_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const ss_sim *sim = context;
    const ss_soft *soft = sim->soft;
    for (int64_t i = begin; i < end; i++) {
        const ss_soft_manifold *m = &soft->manifolds[i];
        const ss_soft_batch *batch = &soft->batches[m->batch];
        const ss_contact *contacts = &sim->contacts.items[m->first];
        ss_soft_memory *keep = &soft->next.items[i];
        int lane = m->lane;
        memcpy(keep->shape, m->shape, sizeof keep->shape);
        memcpy(keep->body, m->body, sizeof keep->body);
        keep->count = m->count;
        for (int k = 0; k < m->count; k++) {
            keep->key[k] = contacts[k].key;
            keep->impulse[k] = soft->points[batch->first + k].impulse[lane];
        }
        for (int j = 0; j < 3; j++)
            keep->friction[j] = batch->friction[0][lane] * batch->tangent[0][j][lane] +
                                batch->friction[1][lane] * batch->tangent[1][j][lane];
        keep->spin = batch->spin[lane];
    }
}

bool ss_soft_keep(ss_sim *sim, ss_error *err)
{
    ss_soft *soft = sim->soft;
    ss_soft_list *to = &soft->next;
    int count = soft->manifold_count;
    void *room = grown(to->items, &to->capacity, count, sizeof *to->items);
    if (!room && count) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for warm starts");
    to->items = room;
    to->count = count;
    ss_parallel_for(ss_team_for_loop(sim->team, count, 20), count, SS_SIM_AT_ONCE, keep_range, sim);
    ss_soft_list held = soft->memory;
    soft->memory = soft->next;
    soft->next = held;
    soft->kept = true;
    return true;
}

static void exchange_memory(ss_soft_memory *of, ss_byte_stream *bytes)
{
    ss_byte_stream_pass(bytes, of->shape, sizeof of->shape);
    ss_byte_stream_pass(bytes, of->body, sizeof of->body);
    ss_byte_stream_pass(bytes, &of->count, sizeof of->count);
    if (bytes->reading && (of->count < 0 || of->count > SS_SOFT_POINTS)) bytes->failed = true;
    for (int k = 0; k < of->count && !bytes->failed; k++) {
        ss_byte_stream_pass(bytes, &of->key[k], sizeof of->key[k]);
        ss_byte_stream_pass(bytes, &of->impulse[k], sizeof of->impulse[k]);
    }
    ss_byte_stream_pass(bytes, of->friction, sizeof of->friction);
    ss_byte_stream_pass(bytes, &of->spin, sizeof of->spin);
}

void ss_soft_exchange(ss_soft_state *state, ss_byte_stream *bytes)
{
    int count = state->memory.count, kept = 0;
    for (int i = 0; i < state->kept_count; i++) kept += state->kept[i].count != SS_KEPT_NOTHING;
    ss_byte_stream_pass(bytes, &count, sizeof count);
    ss_byte_stream_pass(bytes, &kept, sizeof kept);
    if (bytes->reading) {
        // numbers of a damaged file: what they count must be there
        size_t left = bytes->size - bytes->at;
        bool fits =
            !bytes->failed && count >= 0 && kept >= 0 && (size_t)count <= left && (size_t)kept <= left;
        state->memory.items = fits ? ss_allocate((size_t)count, sizeof *state->memory.items) : NULL;
        state->kept = fits ? ss_allocate((size_t)kept, sizeof *state->kept) : NULL;
        bytes->failed |= !state->memory.items || !state->kept;
        if (bytes->failed) return;
        state->memory.count = state->memory.capacity = count;
        state->kept_count = kept;
    }
    for (int i = 0; i < count && !bytes->failed; i++) exchange_memory(&state->memory.items[i], bytes);
    for (int i = 0; i < state->kept_count && !bytes->failed; i++) {
        ss_kept_manifold *of = &state->kept[i];
        if (!bytes->reading && of->count == SS_KEPT_NOTHING) continue;
        ss_byte_stream_pass(bytes, of, sizeof *of);
        if (of->count < 0 || of->count > SS_KEPT_POINTS) bytes->failed = true;
    }
}

void ss_soft_state_free(ss_soft_state *state)
{
    ss_release(state->memory.items);
    ss_release(state->kept);
}
