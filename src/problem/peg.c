/* Polyhedral exact geometry by selection.
 *
 * The law is a disjunction. For frictionless contacts, any choice of alternatives that hold now is feasible
 * (standing still satisfies it), and a group that pushes while another of its alternatives ends open can
 * switch to that one without losing feasibility, which strictly lowers 1/2 |v - v*|^2 in the metric of the
 * masses: so switching never repeats a selection, and where it stops the law holds. The least value of all
 * is not the right answer, because it tunnels through thin bodies and climbs steps: the right one is that
 * of the path. Hence the rules for the start, and the test of the path. With friction nothing of this is
 * proved; one step in a thousand ends without a consistent selection, and says so.
 *
 * Each rule below was left out once in a prototype, and what then went wrong is said beside it.
 */
#include <stickslip/peg.h>

#include "frame/alternatives.h"
#include "linalg/mat3.h"

#include <math.h>
#include <string.h>

static const double rounding = 1e-9;    /* of the size: gaps are not known better */
static const double touching = 1e-6;    /* of the size: what is closer rests */
static const double coarsest = 1e-4;    /* of the size: no solver's error makes gaps less known than this */
static const double safety = 10.0;      /* of the solver's error of velocities */
static const double different = 0.9999; /* cosine: alternatives with closer normals do not take turns */
static const double no_impulse = 1e-12; /* of the largest impulse: rounding of a solver */
static const int most_passes = 30;      /* 1 to 3 were seen */
static const double most_selections = 3000.0;

typedef struct state {
    const ss_peg_request *request;
    ss_groups groups;
    double (*free)[6];  /* v*: velocities without contacts */
    double *now, *then; /* of each alternative: smallest gap now, and at the end of the step */
    double *impulse;    /* of each group, by the last solve */
    bool *locked;       /* group: held by the face it was about to cross */
    bool *tied;         /* alternative: was chosen as an equal once */
    int32_t *seen;      /* selections so far, with the number of promoted rows */
    int32_t *solved;    /* selection of the last solve */
    int32_t *first;     /* selection at the start */
    int seen_count;
    double error; /* m/s: of velocities, by the last solve */
    const ss_answer *answer;
    ss_peg_result *result;
} state;

/* ---- gaps ------------------------------------------------------------------------------------------- */

static double tolerance_of(const state *s, int g)
{
    double size = s->groups.size[g], error = safety * s->request->frame->h * s->error;
    return fmin(fmax(rounding * size, error), coarsest * size);
}

static int begin_of(const state *s, int g)
{
    return s->groups.first_alternative[g];
}

static int end_of(const state *s, int g)
{
    return s->groups.first_alternative[g + 1];
}

static void look_ahead(state *s, int g, double (*velocity)[6])
{
    for (int k = begin_of(s, g); k < end_of(s, g); k++)
        s->then[k] = ss_groups_separation_after(&s->groups, k, velocity);
}

static int largest(const state *s, int g, const double *value)
{
    int best = begin_of(s, g);
    for (int k = best + 1; k < end_of(s, g); k++)
        if (value[k] > value[best]) best = k;
    return best;
}

/* How deep the straight path of the step cuts: the least over s in [0, 1] of the best alternative at s, where
 * each moves linearly from now to then; an overlap that is there already does not count. The least is at an
 * end or where two of the lines cross. */
static double path_of(const state *s, int g)
{
    double least = INFINITY, start = s->now[largest(s, g, s->now)];
    for (int i = begin_of(s, g) - 1; i < end_of(s, g); i++) {
        for (int k = i + 1; k < end_of(s, g) + (i < begin_of(s, g)); k++) {
            double at = k == end_of(s, g); // the first round: both ends of the step
            if (i >= begin_of(s, g)) {
                double slope = (s->then[i] - s->now[i]) - (s->then[k] - s->now[k]);
                at = (s->now[k] - s->now[i]) / slope;
                if (!(at > 0.0 && at < 1.0)) continue;
            }
            double best = -INFINITY;
            for (int j = begin_of(s, g); j < end_of(s, g); j++)
                best = fmax(best, s->now[j] + at * (s->then[j] - s->now[j]));
            least = fmin(least, best);
        }
    }
    return least - fmin(0.0, start);
}

/* The face that is hit: of the alternatives that hold now, the one that is given up last. */
static int entry_of(const state *s, int g, double (*velocity)[6])
{
    double latest = -INFINITY, tolerance = tolerance_of(s, g);
    int entry = -1;
    for (int k = begin_of(s, g); k < end_of(s, g); k++) {
        if (s->now[k] < -tolerance) continue;
        double time = INFINITY;
        for (int r = s->groups.first_row[k]; r < s->groups.first_row[k + 1]; r++) {
            double gap = ss_groups_gap(&s->groups, r);
            double closing = gap - ss_groups_gap_after(&s->groups, r, velocity);
            if (closing > 0.0) time = fmin(time, gap / closing);
        }
        if (!(time > latest) && entry >= 0) continue;
        latest = time;
        entry = k;
    }
    return entry >= 0 ? entry : largest(s, g, s->now);
}

/* ---- the start -------------------------------------------------------------------------------------- */

/* v + h M^-1 f. With joints, the velocities that they allow. */
static bool find_free_motion(state *s, ss_error *err)
{
    const ss_frame *frame = s->request->frame;
    const ss_bodies *bodies = &frame->bodies;
    for (int b = 0; b < bodies->count; b++) {
        ss_mat3 inverse;
        if (!ss_frame_is_live(frame, b)) continue;
        if (!ss_mat3_inverse(ss_mat3_load(bodies->inertia[b]), &inverse))
            return ss_fail(err, SS_ERROR_INPUT, "body %d: its inertia is singular", b);
        ss_vec3 spin = ss_mat3_apply(inverse, ss_vec3_load(bodies->force[b] + 3));
        ss_vec3 push = ss_vec3_scale(1.0 / bodies->mass[b], ss_vec3_load(bodies->force[b]));
        ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(bodies->velocity[b]), frame->h, push), s->free[b]);
        ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(bodies->velocity[b] + 3), frame->h, spin),
                      s->free[b] + 3);
    }
    if (frame->constraints.count == 0) return true;

    ss_frame bare = *frame; // the same arrays, but no contact
    bare.contacts.count = 0;
    bare.subcontacts = (ss_subcontacts){0};
    ss_peg_solved how = {0};
    if (!s->request->solve(&bare, NULL, &how, s->request->context, err)) return false;
    s->result->solves++;
    for (int b = 0; how.answer && b < bodies->count; b++)
        if (ss_frame_is_live(frame, b)) memcpy(s->free[b], how.answer->velocity[b], sizeof s->free[b]);
    return true;
}

static void start_group(state *s, int g)
{
    double tolerance = tolerance_of(s, g), touch = touching * s->groups.size[g];
    look_ahead(s, g, s->free);
    int chosen = largest(s, g, s->then), resting = -1;
    bool passes = s->request->skip_path || path_of(s, g) >= -s->request->frame->subcontacts.cut[g];
    // the free motion passes: then it may. Only where the path is clean, and only from faces that hold now:
    // an oversized peg is squeezed by 1e7 N s otherwise
    if (!(passes && s->then[chosen] >= -tolerance)) {
        // what rests stays at rest: without it, boxes catch on the seams of a tiled floor
        for (int k = begin_of(s, g); k < end_of(s, g); k++)
            if (fabs(s->now[k]) <= touch && (resting < 0 || s->then[k] > s->then[resting])) resting = k;
        chosen = resting >= 0 ? resting : entry_of(s, g, s->free);
    }
    s->result->selection[g] = chosen - begin_of(s, g);
}

static void start(state *s)
{
    for (int k = 0; k < s->groups.alternative_count; k++) s->now[k] = ss_groups_separation(&s->groups, k);
    for (int g = 0; g < s->groups.group_count; g++) {
        int given = s->request->start ? s->request->start[g] : -1;
        s->locked[g] = s->request->hold && s->request->hold[g];
        if (given >= 0 && given < ss_groups_alternatives(&s->groups, g))
            s->result->selection[g] = given;
        else if (ss_groups_alternatives(&s->groups, g) > 1)
            start_group(s, g);
    }
}

/* ---- one solve -------------------------------------------------------------------------------------- */

static double fastest(const state *s, double (*velocity)[6])
{
    const ss_frame *frame = s->request->frame;
    double speed = 0.0;
    for (int b = 0; b < frame->bodies.count; b++)
        if (ss_frame_is_live(frame, b)) speed = fmax(speed, ss_vec3_norm(ss_vec3_load(velocity[b])));
    return speed;
}

/* The gap at the end of the step of the worst force point that was selected. */
static bool is_violated(const state *s, const ss_answer *answer)
{
    for (int g = 0; g < s->groups.group_count; g++) {
        int k = begin_of(s, g) + s->result->selection[g];
        for (int r = s->groups.first_row[k]; r < s->groups.first_row[k + 1]; r++) {
            if (ss_groups_is_test(&s->groups, r)) continue;
            double after = ss_groups_gap_after(&s->groups, r, answer->velocity);
            if (!(after >= -touching * s->groups.size[g] - tolerance_of(s, g))) return true;
        }
    }
    return false;
}

static bool solve_plain(state *s, bool *feasible, ss_error *err)
{
    ss_peg_solved how = {0};
    s->result->solves++;
    if (!s->request->solve(s->result->plain, s->result->origin, &how, s->request->context, err)) return false;
    s->answer = how.answer;
    // what a solver says of its error means nothing where there is no solution
    double error = how.converged && !how.ray ? how.error : 0.0;
    s->error = error * fmax(fastest(s, s->free), fastest(s, how.answer->velocity));
    bool selects = s->request->mode == SS_PEG_SELECT || s->request->mode == SS_PEG_ENUMERATE;
    *feasible = !how.ray && (how.converged || !selects || !is_violated(s, how.answer));

    double most = 0.0;
    memset(s->impulse, 0, (size_t)s->groups.group_count * sizeof *s->impulse);
    for (int i = 0; i < s->result->plain->contacts.count; i++) {
        int c = s->result->origin[i], r = c - s->request->frame->contacts.count;
        int g =
            r < 0 ? s->request->frame->subcontacts.contact_group[c] : s->request->frame->subcontacts.group[r];
        most = fmax(most, how.answer->normal_impulse[i]);
        if (g >= 0) s->impulse[g] += how.answer->normal_impulse[i];
    }
    for (int g = 0; g < s->groups.group_count; g++)
        if (s->impulse[g] <= (no_impulse + error * rounding) * most) s->impulse[g] = 0.0;
    return true;
}

static bool take_selection(state *s, ss_error *err)
{
    ss_frame_destroy(s->result->plain);
    s->result->plain =
        ss_frame_select(s->request->frame, s->result->selection, s->result->promoted, s->result->origin, err);
    return s->result->plain != NULL;
}

/* No selection is feasible. Overlaps stay as they are instead of being pushed out, which standing still
 * always satisfies; if friction is in the way even then, it is left out. A ray must never be answered by
 * regularising: that "solves" jammed states with any impulse. */
static bool rescue(state *s, ss_error *err)
{
    ss_contacts *contacts = &s->result->plain->contacts;
    bool feasible;
    s->result->status = SS_PEG_JAMMED;
    for (int i = 0; i < contacts->count; i++) contacts->gap[i] = fmax(contacts->gap[i], 0.0);
    if (!solve_plain(s, &feasible, err)) return false;
    if (feasible || contacts->count == 0) return true;
    for (int i = 0; i < contacts->count; i++) contacts->mu[i][0] = contacts->mu[i][1] = 0.0;
    return solve_plain(s, &feasible, err);
}

/* ---- switching -------------------------------------------------------------------------------------- */

/* Test points of the selected alternative that end below the plane carry force from now on. */
static bool promote(state *s, int g)
{
    int k = begin_of(s, g) + s->result->selection[g], contacts = s->request->frame->contacts.count;
    bool any = false;
    for (int r = s->groups.first_row[k]; r < s->groups.first_row[k + 1]; r++) {
        if (!ss_groups_is_test(&s->groups, r)) continue;
        uint8_t *promoted = &s->result->promoted[s->groups.origin[r] - contacts];
        if (*promoted || ss_groups_gap_after(&s->groups, r, s->answer->velocity) >= -tolerance_of(s, g))
            continue;
        *promoted = 1;
        any = true;
    }
    return any;
}

/* By how much another alternative must be more open to count: between faces of nearly the same normal, which
 * push alike, more than rounding. They take turns otherwise, with friction even without end. */
static double margin_of(const state *s, int g, int selected, int other)
{
    double cosine = ss_vec3_dot(ss_groups_normal(&s->groups, selected), ss_groups_normal(&s->groups, other));
    double tolerance = tolerance_of(s, g);
    return cosine < different ? tolerance : fmax(tolerance, touching * s->groups.size[g]);
}

static bool switch_group(state *s, int g)
{
    double tolerance = tolerance_of(s, g), (*velocity)[6] = s->answer->velocity;
    int begin = begin_of(s, g), selected = begin + s->result->selection[g];
    look_ahead(s, g, velocity);
    if (s->then[largest(s, g, s->then)] < -tolerance) return promote(s, g);
    if (s->locked[g] || end_of(s, g) - begin == 1) return false;

    // the way to where it ends must not lead through the body: a cube at 20 m/s passes a thin plate otherwise
    if (!s->request->skip_path && path_of(s, g) < -s->request->frame->subcontacts.cut[g]) {
        int entry = entry_of(s, g, velocity);
        s->locked[g] = true;
        s->result->selection[g] = entry - begin;
        return entry != selected;
    }
    if (s->impulse[g] == 0.0) return false;

    // it pushes: then no other alternative may end open, nor, once, as good as touching (the seams of tiles)
    int other = -1;
    for (int k = begin; k < end_of(s, g); k++)
        if (k != selected && (other < 0 || s->then[k] > s->then[other])) other = k;
    double force = ss_groups_force_after(&s->groups, selected, velocity);
    double cosine = ss_vec3_dot(ss_groups_normal(&s->groups, selected), ss_groups_normal(&s->groups, other));
    bool open = s->then[other] > force + margin_of(s, g, selected, other);
    bool tie = s->then[other] >= -tolerance && cosine < different && !s->tied[other];
    if (!open && !tie) return false;
    if (!open) s->tied[other] = true;
    s->result->selection[g] = other - begin;
    return true;
}

/* Notes the selection; true if it was there before. */
static bool was_seen(state *s)
{
    int groups = s->groups.group_count, size = groups + 1;
    int32_t *note = s->seen + (size_t)s->seen_count * (size_t)size;
    memcpy(note, s->result->selection, (size_t)groups * sizeof *note);
    note[groups] = 0;
    for (int r = 0; r < s->request->frame->subcontacts.count; r++) note[groups] += s->result->promoted[r];
    for (int i = 0; i < s->seen_count; i++)
        if (memcmp(s->seen + (size_t)i * (size_t)size, note, (size_t)size * sizeof *note) == 0) return true;
    s->seen_count++;
    return false;
}

/* Groups on alternatives that are violated now go to the best one; false if there are none. */
static bool retreat(state *s)
{
    bool any = false;
    for (int g = 0; g < s->groups.group_count; g++) {
        int best = largest(s, g, s->now) - begin_of(s, g);
        if (s->now[begin_of(s, g) + s->result->selection[g]] >= -tolerance_of(s, g)) continue;
        s->locked[g] = true;
        any |= s->result->selection[g] != best;
        s->result->selection[g] = best;
    }
    return any;
}

/* Where the loop has stopped: does a group push along a face although another one is larger at the end? */
static ss_peg_status judge(state *s)
{
    ss_peg_status status = SS_PEG_CONSISTENT;
    for (int g = 0; g < s->groups.group_count; g++) {
        double tolerance = tolerance_of(s, g);
        look_ahead(s, g, s->answer->velocity);
        int selected = begin_of(s, g) + s->result->selection[g];
        double force = ss_groups_force_after(&s->groups, selected, s->answer->velocity);
        bool wrong = s->then[largest(s, g, s->then)] < -tolerance;
        for (int k = begin_of(s, g); s->impulse[g] > 0.0 && k < end_of(s, g); k++)
            wrong |= k != selected && s->then[k] > force + margin_of(s, g, selected, k);
        if (wrong && !s->locked[g]) return SS_PEG_CYCLE;
        if (wrong) status = SS_PEG_HELD;
    }
    return status;
}

static bool select(state *s, ss_error *err)
{
    size_t bytes = (size_t)s->groups.group_count * sizeof *s->result->selection;
    bool feasible = true;
    for (int pass = 0; pass < most_passes; pass++) {
        if (was_seen(s)) { // keep this answer, and the selection it belongs to
            memcpy(s->result->selection, s->solved, bytes);
            break;
        }
        memcpy(s->solved, s->result->selection, bytes);
        if (!take_selection(s, err) || !solve_plain(s, &feasible, err)) return false;
        if (!feasible) {
            if (!retreat(s)) break;
            continue;
        }
        bool changed = false;
        for (int g = 0; g < s->groups.group_count; g++) changed |= switch_group(s, g);
        if (!changed) break;
    }
    if (!feasible) return rescue(s, err);
    memcpy(s->result->selection, s->solved, bytes);
    s->result->status = judge(s);
    return true;
}

/* ---- all selections --------------------------------------------------------------------------------- */

/* 1/2 |v - v*|^2 in the metric of the masses */
static double distance_from_free(const state *s)
{
    const ss_frame *frame = s->request->frame;
    double sum = 0.0;
    for (int b = 0; b < frame->bodies.count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        ss_vec3 d = ss_vec3_subtract(ss_vec3_load(s->answer->velocity[b]), ss_vec3_load(s->free[b]));
        ss_vec3 w = ss_vec3_subtract(ss_vec3_load(s->answer->velocity[b] + 3), ss_vec3_load(s->free[b] + 3));
        sum += 0.5 * frame->bodies.mass[b] * ss_vec3_dot(d, d) +
               0.5 * ss_vec3_dot(w, ss_mat3_apply(ss_mat3_load(frame->bodies.inertia[b]), w));
    }
    return sum;
}

/* One selection, with the test points it needs. */
static bool try_selection(state *s, bool *feasible, ss_error *err)
{
    memset(s->result->promoted, 0, (size_t)s->request->frame->subcontacts.count);
    for (int pass = 0; pass < most_passes; pass++) {
        bool again = false;
        if (!take_selection(s, err) || !solve_plain(s, feasible, err)) return false;
        for (int g = 0; *feasible && g < s->groups.group_count; g++) {
            look_ahead(s, g, s->answer->velocity);
            if (s->then[largest(s, g, s->then)] < -tolerance_of(s, g)) again |= promote(s, g);
        }
        if (!again) return true;
    }
    return true;
}

static bool enumerate(state *s, ss_error *err)
{
    int groups = s->groups.group_count, best_consistent = 0;
    int32_t *selection = s->result->selection, *best = s->seen;
    double product = 1.0, least = INFINITY;
    for (int g = 0; g < groups; g++) product *= ss_groups_alternatives(&s->groups, g);
    if (product > most_selections)
        return ss_fail(err, SS_ERROR_USAGE, "peg=enumerate: %g selections, at most %g are tried", product,
                       most_selections);
    memset(selection, 0, (size_t)groups * sizeof *selection);
    for (;;) {
        bool feasible;
        if (!try_selection(s, &feasible, err)) return false;
        bool consistent = feasible && judge(s) == SS_PEG_CONSISTENT;
        double distance = feasible ? distance_from_free(s) : INFINITY;
        s->result->consistent += consistent;
        if (consistent > best_consistent || (consistent == best_consistent && distance < least)) {
            best_consistent = consistent;
            least = distance;
            memcpy(best, selection, (size_t)groups * sizeof *best);
        }
        int g = 0;
        for (; g < groups; g++) { // the next one, counting like an odometer
            if (++selection[g] < ss_groups_alternatives(&s->groups, g)) break;
            selection[g] = 0;
        }
        if (g == groups) break;
    }
    bool feasible;
    memcpy(selection, best, (size_t)groups * sizeof *best);
    if (!try_selection(s, &feasible, err)) return false;
    if (!feasible) return rescue(s, err);
    s->result->status = judge(s);
    return true;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static bool make_state(state *s, ss_error *err)
{
    const ss_frame *frame = s->request->frame;
    ss_peg_result *result = s->result;
    if (!ss_groups_make(frame, &s->groups, err)) return false;
    size_t groups = (size_t)s->groups.group_count, alternatives = (size_t)s->groups.alternative_count,
           rows = (size_t)frame->subcontacts.count;
    s->free = ss_allocate((size_t)frame->bodies.count, sizeof *s->free);
    s->now = ss_allocate(alternatives, sizeof *s->now);
    s->then = ss_allocate(alternatives, sizeof *s->then);
    s->impulse = ss_allocate(groups, sizeof *s->impulse);
    s->locked = ss_allocate(groups, sizeof *s->locked);
    s->tied = ss_allocate(alternatives, sizeof *s->tied);
    s->seen = ss_allocate(((size_t)most_passes + 2) * (groups + 1), sizeof *s->seen);
    s->solved = s->seen ? s->seen + (size_t)most_passes * (groups + 1) : NULL;
    s->first = s->seen ? s->solved + groups + 1 : NULL;
    result->selection = ss_allocate(groups, sizeof *result->selection);
    result->promoted = ss_allocate(rows, sizeof *result->promoted);
    result->origin = ss_allocate((size_t)frame->contacts.count + rows, sizeof *result->origin);
    return (s->free && s->now && s->then && s->impulse && s->locked && s->tied && s->seen &&
            result->selection && result->promoted && result->origin) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %zu groups of contacts", groups);
}

bool ss_peg_solve(const ss_peg_request *request, ss_peg_result *result, ss_error *err)
{
    *result = (ss_peg_result){0};
    state s = {.request = request, .result = result};
    bool good = make_state(&s, err);
    size_t bytes = (size_t)s.groups.group_count * sizeof *result->selection;
    if (good && (request->mode == SS_PEG_OFF || request->mode == SS_PEG_ALL)) {
        bool feasible;
        result->plain =
            ss_frame_select(request->frame, request->mode == SS_PEG_ALL ? NULL : result->selection, NULL,
                            result->origin, err);
        good = result->plain && solve_plain(&s, &feasible, err);
        for (int g = 0; good && g < s.groups.group_count; g++) result->selection[g] = -1;
    } else if (good) {
        good = find_free_motion(&s, err);
        if (good) start(&s);
        if (good && bytes) memcpy(s.first, result->selection, bytes);
        good = good && (request->mode == SS_PEG_ENUMERATE ? enumerate(&s, err) : select(&s, err));
        for (int g = 0; good && g < s.groups.group_count; g++)
            result->switched += result->selection[g] != s.first[g];
    }
    ss_groups_free(&s.groups);
    ss_release(s.free);
    ss_release(s.now);
    ss_release(s.then);
    ss_release(s.impulse);
    ss_release(s.locked);
    ss_release(s.tied);
    ss_release(s.seen);
    if (!good) ss_peg_result_free(result);
    return good;
}
