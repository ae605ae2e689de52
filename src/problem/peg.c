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
 * Islands select independently of each other. They are solved together as long as that works: when a solver
 * finds a contradiction it does not say where, and each island is then solved without the contacts of others.
 *
 * Each rule below was left out once in a prototype, and what then went wrong is said beside it.
 */
#include <stickslip/peg.h>

#include "frame/alternatives.h"
#include "linalg/mat3.h"

#include <math.h>
#include <string.h>

static const double rounding = 1e-12;   /* of the size: gaps are not known better */
static const double negligible = 1e-9;  /* of the size: an answer that misses the law by less is consistent */
static const double touching = 1e-6;    /* of the size: what is closer rests */
static const double coarsest = 1e-4;    /* of the size: no solver's error makes gaps less known than this */
static const double safety = 10.0;      /* of the solver's error of velocities */
static const double different = 0.9999; /* cosine: alternatives with closer normals do not take turns */
static const double no_impulse = 1e-12; /* of the largest impulse: rounding of a solver */
static const int most_passes = 30;      /* 1 to 3 were seen */
static const double most_selections = 3000.0;

typedef struct island {
    bool done;     /* its selection is final */
    bool jammed;   /* no selection of it is feasible */
    double speed;  /* m/s: of its fastest body, by the last solve */
    double defect; /* m: by which the best selection so far misses the law */
} island;

typedef struct state {
    const ss_peg_request *request;
    ss_groups groups;
    island *islands;
    double (*free)[6];  /* v*: velocities without contacts */
    double *now, *then; /* of each alternative: smallest gap now, and at the end of the step */
    double *impulse;    /* of each group, by the last solve */
    bool *locked;       /* group: held by the face it was about to cross */
    bool *tied;         /* alternative: was chosen as an equal once */
    int32_t *seen;      /* pass by pass: selection of groups, then number of promoted rows of islands */
    int32_t *solved;    /* selection of the last solve */
    int32_t *first;     /* selection at the start */
    int32_t *best;      /* selection with the least defect, of each island */
    uint8_t *best_promoted;
    double error; /* of velocities, relative to the fastest body, by the last solve */
    const ss_answer *answer;
    ss_peg_result *result;
} state;

/* ---- gaps ------------------------------------------------------------------------------------------- */

static double tolerance_of(const state *s, int g)
{
    double size = s->groups.size[g], speed = s->islands[s->groups.island[g]].speed;
    double error = safety * s->request->frame->h * s->error * speed;
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

static void start(state *s)
{
    for (int k = 0; k < s->groups.alternative_count; k++) s->now[k] = ss_groups_separation(&s->groups, k);
    for (int g = 0; g < s->groups.group_count; g++) {
        int given = s->request->start ? s->request->start[g] : -1,
            count = ss_groups_alternatives(&s->groups, g);
        s->locked[g] = s->request->hold && s->request->hold[g];
        if (given >= 0 && given < count) s->result->selection[g] = given;
        if ((given >= 0 && given < count) || count <= 1) continue;

        // the free motion passes: then it may. Only where the path is clean, and only from faces that hold
        // now: an oversized peg is squeezed by 1e7 N s otherwise
        double tolerance = tolerance_of(s, g), touch = touching * s->groups.size[g];
        look_ahead(s, g, s->free);
        int chosen = largest(s, g, s->then), resting = -1;
        bool passes = s->request->skip_path || path_of(s, g) >= -s->request->frame->subcontacts.cut[g];
        if (!(passes && s->then[chosen] >= -tolerance)) {
            // what rests stays at rest: without it, boxes catch on the seams of a tiled floor
            for (int k = begin_of(s, g); k < end_of(s, g); k++)
                if (fabs(s->now[k]) <= touch && (resting < 0 || s->then[k] > s->then[resting])) resting = k;
            chosen = resting >= 0 ? resting : entry_of(s, g, s->free);
        }
        s->result->selection[g] = chosen - begin_of(s, g);
    }
}

/* ---- one solve -------------------------------------------------------------------------------------- */

/* Does a selected force point of the island end below its plane? */
static bool is_violated(const state *s, int of)
{
    for (int g = 0; g < s->groups.group_count; g++) {
        int k = begin_of(s, g) + s->result->selection[g];
        for (int r = s->groups.first_row[k]; s->groups.island[g] == of && r < s->groups.first_row[k + 1];
             r++) {
            if (ss_groups_is_test(&s->groups, r)) continue;
            double after = ss_groups_gap_after(&s->groups, r, s->answer->velocity);
            if (!(after >= -touching * s->groups.size[g] - tolerance_of(s, g))) return true;
        }
    }
    return false;
}

/* Solves the ordinary frame that is there. only: the island whose contacts it has, -1 = all. */
static bool solve_plain(state *s, int only, bool *feasible, ss_error *err)
{
    const ss_frame *frame = s->request->frame;
    ss_peg_solved how = {0};
    s->result->solves++;
    if (!s->request->solve(s->result->plain, s->result->origin, &how, s->request->context, err)) return false;
    s->answer = how.answer;
    // what a solver says of its error means nothing where there is no solution
    s->error = how.converged && !how.ray ? how.error : 0.0;
    for (int i = 0; i < s->groups.island_count; i++) s->islands[i].speed = 0.0;
    for (int b = 0; b < frame->bodies.count; b++) {
        if (s->groups.body_island[b] < 0) continue;
        island *of = &s->islands[s->groups.body_island[b]];
        of->speed = fmax(of->speed, ss_vec3_norm(ss_vec3_load(s->free[b])));
        of->speed = fmax(of->speed, ss_vec3_norm(ss_vec3_load(how.answer->velocity[b])));
    }

    // a solver that missed its rule may have done well enough
    bool selects = s->request->mode == SS_PEG_SELECT || s->request->mode == SS_PEG_ENUMERATE;
    *feasible = !how.ray;
    for (int i = 0; i < s->groups.island_count && *feasible && selects && !how.converged; i++)
        if (only < 0 || only == i) *feasible = !is_violated(s, i);

    double most = 0.0;
    memset(s->impulse, 0, (size_t)s->groups.group_count * sizeof *s->impulse);
    for (int i = 0; i < s->result->plain->contacts.count; i++) {
        int c = s->result->origin[i], r = c - frame->contacts.count;
        int g = r < 0 ? frame->subcontacts.contact_group[c] : frame->subcontacts.group[r];
        most = fmax(most, how.answer->normal_impulse[i]);
        if (g >= 0) s->impulse[g] += how.answer->normal_impulse[i];
    }
    for (int g = 0; g < s->groups.group_count; g++)
        if (s->impulse[g] <= (no_impulse + s->error * negligible) * most) s->impulse[g] = 0.0;
    return true;
}

/* The island of a contact of the ordinary frame; -1: it has nothing to do with groups. */
static int island_of(const state *s, int contact)
{
    const ss_frame *plain = s->result->plain;
    const int *pair = plain->contacts.pair[contact];
    int body = ss_frame_is_live(plain, pair[0]) ? pair[0] : pair[1];
    return ss_frame_is_live(plain, body) ? s->groups.body_island[body] : -1;
}

static bool take_selection(state *s, int only, ss_error *err)
{
    ss_frame_destroy(s->result->plain);
    s->result->plain =
        ss_frame_select(s->request->frame, s->result->selection, s->result->promoted, s->result->origin, err);
    if (!s->result->plain || only < 0) return s->result->plain != NULL;
    int kept = 0;
    for (int i = 0; i < s->result->plain->contacts.count; i++) {
        if (island_of(s, i) != only) continue;
        ss_frame_move_contact(s->result->plain, i, kept);
        s->result->origin[kept++] = s->result->origin[i];
    }
    s->result->plain->contacts.count = kept;
    return true;
}

/* Islands of which no selection is feasible. Overlaps stay as they are instead of being pushed out, which
 * standing still always satisfies; if friction is in the way even then, it is left out. A ray must never be
 * answered by regularising: that "solves" jammed states with any impulse. */
static bool rescue(state *s, ss_error *err)
{
    ss_contacts *contacts = &s->result->plain->contacts;
    bool feasible;
    for (int i = 0; i < contacts->count; i++)
        if (island_of(s, i) >= 0 && s->islands[island_of(s, i)].jammed)
            contacts->gap[i] = fmax(contacts->gap[i], 0.0);
    if (!solve_plain(s, -1, &feasible, err)) return false;
    if (feasible || contacts->count == 0) return true;
    for (int i = 0; i < contacts->count; i++)
        if (island_of(s, i) >= 0 && s->islands[island_of(s, i)].jammed)
            contacts->mu[i][0] = contacts->mu[i][1] = 0.0;
    return solve_plain(s, -1, &feasible, err);
}

/* m: the smallest gap at the end of the step of what pushes or may push: force points, and promoted ones. */
static double pushing_gap(const state *s, int g)
{
    int k = begin_of(s, g) + s->result->selection[g], contacts = s->request->frame->contacts.count;
    double least = INFINITY;
    for (int r = s->groups.first_row[k]; r < s->groups.first_row[k + 1]; r++) {
        if (ss_groups_is_test(&s->groups, r) && !s->result->promoted[s->groups.origin[r] - contacts])
            continue;
        least = fmin(least, ss_groups_gap_after(&s->groups, r, s->answer->velocity));
    }
    return least;
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

/* By how much another alternative may be more open than the one that pushes where no selection is better:
 * between faces of nearly the same normal, which push alike, more than rounding. */
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
    double force = pushing_gap(s, g);
    double cosine = ss_vec3_dot(ss_groups_normal(&s->groups, selected), ss_groups_normal(&s->groups, other));
    // faces of nearly the same normal push alike, and with friction they may take turns without end: then the
    // one that misses the law least counts
    bool open = s->then[other] > force + tolerance;
    bool tie = s->then[other] >= -tolerance && cosine < different && !s->tied[other];
    if (!open && !tie) return false;
    if (!open) s->tied[other] = true;
    s->result->selection[g] = other - begin;
    return true;
}

/* Notes the selection of the island in this pass; true if it was there before. */
static bool was_seen(state *s, int of, int pass)
{
    int groups = s->groups.group_count, size = groups + s->groups.island_count;
    int32_t *note = s->seen + (size_t)pass * (size_t)size;
    for (int g = 0; g < groups; g++)
        if (s->groups.island[g] == of) note[g] = s->result->selection[g];
    note[groups + of] = 0; // rows of the island that were promoted
    for (int r = 0; r < s->request->frame->subcontacts.count; r++)
        if (s->groups.island[s->request->frame->subcontacts.group[r]] == of)
            note[groups + of] += s->result->promoted[r] != 0;

    for (int i = 0; i < pass; i++) {
        const int32_t *other = s->seen + (size_t)i * (size_t)size;
        bool same = other[groups + of] == note[groups + of];
        for (int g = 0; same && g < groups; g++)
            if (s->groups.island[g] == of) same = other[g] == note[g];
        if (same) return true;
    }
    return false;
}

/* Groups on alternatives that are violated now go to the best one; false if there are none. */
static bool retreat(state *s, int of)
{
    bool any = false;
    for (int g = 0; g < s->groups.group_count; g++) {
        int best = largest(s, g, s->now) - begin_of(s, g);
        if (s->groups.island[g] != of) continue;
        if (s->now[begin_of(s, g) + s->result->selection[g]] >= -tolerance_of(s, g)) continue;
        s->locked[g] = true;
        any |= s->result->selection[g] != best;
        s->result->selection[g] = best;
    }
    return any;
}

/* m: by how much a group misses the law: its overlap, or how much another face is larger than the one that
 * pushes. *other: of which normal that face is. */
static double defect_of(state *s, int g, int *other)
{
    look_ahead(s, g, s->answer->velocity);
    int selected = begin_of(s, g) + s->result->selection[g], best = largest(s, g, s->then);
    double defect = fmax(0.0, -s->then[best]);
    *other = selected;
    if (!(s->impulse[g] > 0.0)) return defect;
    double force = pushing_gap(s, g);
    for (int k = begin_of(s, g); k < end_of(s, g); k++) {
        if (k == selected || s->then[k] - force <= defect) continue;
        defect = s->then[k] - force;
        *other = k;
    }
    return defect;
}

/* Keeps the selection of the island, if it is the best one so far. */
static void note_best(state *s, int of)
{
    double defect = 0.0;
    int other;
    for (int g = 0; g < s->groups.group_count; g++)
        if (s->groups.island[g] == of) defect = fmax(defect, defect_of(s, g, &other));
    if (!(defect < s->islands[of].defect)) return;
    s->islands[of].defect = defect;
    for (int g = 0; g < s->groups.group_count; g++)
        if (s->groups.island[g] == of) s->best[g] = s->result->selection[g];
    for (int r = 0; r < s->request->frame->subcontacts.count; r++)
        if (s->groups.island[s->request->frame->subcontacts.group[r]] == of)
            s->best_promoted[r] = s->result->promoted[r];
}

static void take_best(state *s, int of)
{
    if (!isfinite(s->islands[of].defect)) return;
    for (int g = 0; g < s->groups.group_count; g++)
        if (s->groups.island[g] == of) s->result->selection[g] = s->best[g];
    for (int r = 0; r < s->request->frame->subcontacts.count; r++)
        if (s->groups.island[s->request->frame->subcontacts.group[r]] == of)
            s->result->promoted[r] = s->best_promoted[r];
}

/* Where the loop has stopped: does a group push along a face although another one is larger at the end? */
static ss_peg_status judge(state *s, int of)
{
    ss_peg_status status = SS_PEG_CONSISTENT;
    for (int g = 0; g < s->groups.group_count; g++) {
        int other, selected = begin_of(s, g) + s->result->selection[g];
        if (s->groups.island[g] != of) continue;
        double defect = defect_of(s, g, &other);
        double most = fmax(tolerance_of(s, g), negligible * s->groups.size[g]);
        if (other != selected) most = fmax(most, margin_of(s, g, selected, other));
        bool wrong = defect > most;
        if (wrong && !s->locked[g]) return SS_PEG_CYCLE;
        if (wrong) status = SS_PEG_HELD;
    }
    return status;
}

/* Solves and switches until every island is done. only: one island, without the contacts of others; -1 = all
 * together, which ends with *contradiction as soon as more than one may be to blame. */
static bool select_islands(state *s, int only, bool *contradiction, ss_error *err)
{
    int first = only < 0 ? 0 : only, end = only < 0 ? s->groups.island_count : only + 1;
    bool stale = true; // nothing was solved yet
    *contradiction = false;
    for (int pass = 0; pass <= most_passes; pass++) {
        // what has come back to an earlier selection ends with the best one that it had
        int left = 0, last = first;
        for (int i = first; i < end; i++) {
            if (s->islands[i].done) continue;
            if (pass < most_passes && !was_seen(s, i, pass)) {
                left++;
                last = i;
                continue;
            }
            s->islands[i].done = true;
            take_best(s, i);
        }

        size_t bytes = (size_t)s->groups.group_count * sizeof *s->solved;
        stale = pass == 0 || left > 0 || memcmp(s->solved, s->result->selection, bytes) != 0;
        if (!stale) break;
        memcpy(s->solved, s->result->selection, bytes);
        bool feasible;
        if (!take_selection(s, only, err) || !solve_plain(s, only, &feasible, err)) return false;
        if (left == 0) break;
        if (!feasible && left > 1) {
            *contradiction = true;
            return true;
        }

        /* The only one left is to blame for a contradiction; the others switch. */
        for (int i = first; i < end; i++) {
            if (s->islands[i].done) continue;
            if (!feasible && i == last) {
                s->islands[i].jammed = s->islands[i].done = !retreat(s, i);
                continue;
            }
            bool changed = false;
            note_best(s, i);
            for (int g = 0; g < s->groups.group_count; g++)
                if (s->groups.island[g] == i) changed |= switch_group(s, g);
            s->islands[i].done = !changed;
        }
    }
    return true;
}

/* The answer to all islands with the selections that they ended with. */
static bool conclude(state *s, bool solve_again, ss_error *err)
{
    bool jammed = false, feasible;
    for (int i = 0; i < s->groups.island_count; i++) jammed |= s->islands[i].jammed;
    if (solve_again && !take_selection(s, -1, err)) return false;
    if (jammed) {
        if (!rescue(s, err)) return false;
    } else if (solve_again && !solve_plain(s, -1, &feasible, err)) {
        return false;
    }
    for (int i = 0; i < s->groups.island_count; i++) {
        ss_peg_status status = s->islands[i].jammed ? SS_PEG_JAMMED : judge(s, i);
        if (status > s->result->status) s->result->status = status;
    }
    return true;
}

static void forget(state *s)
{
    for (int i = 0; i < s->groups.island_count; i++) s->islands[i] = (island){.defect = INFINITY};
    memset(s->result->promoted, 0, (size_t)s->request->frame->subcontacts.count);
    for (int g = 0; g < s->groups.group_count; g++) {
        s->result->selection[g] = s->first[g];
        s->locked[g] = s->request->hold && s->request->hold[g];
        for (int k = begin_of(s, g); k < end_of(s, g); k++) s->tied[k] = false;
    }
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
static bool try_selection(state *s, int of, bool *feasible, ss_error *err)
{
    for (int r = 0; r < s->request->frame->subcontacts.count; r++)
        if (s->groups.island[s->request->frame->subcontacts.group[r]] == of) s->result->promoted[r] = 0;
    for (int pass = 0; pass < most_passes; pass++) {
        bool again = false;
        if (!take_selection(s, of, err) || !solve_plain(s, of, feasible, err)) return false;
        for (int g = 0; *feasible && g < s->groups.group_count; g++) {
            if (s->groups.island[g] != of) continue;
            look_ahead(s, g, s->answer->velocity);
            if (s->then[largest(s, g, s->then)] < -tolerance_of(s, g)) again |= promote(s, g);
        }
        if (!again) return true;
    }
    return true;
}

/* All selections of one island. */
static bool enumerate_island(state *s, int of, ss_error *err)
{
    int groups = s->groups.group_count, best_consistent = -1;
    int32_t *selection = s->result->selection;
    double product = 1.0, least = INFINITY;
    for (int g = 0; g < groups; g++) {
        if (s->groups.island[g] != of) continue;
        product *= ss_groups_alternatives(&s->groups, g);
        selection[g] = 0;
    }
    if (product > most_selections)
        return ss_fail(err, SS_ERROR_USAGE,
                       "peg=enumerate: %g selections of one island, at most %g are tried", product,
                       most_selections);

    /* The best one is consistent, and then nearest to the free motion. */
    for (;;) {
        bool feasible;
        if (!try_selection(s, of, &feasible, err)) return false;
        int consistent = feasible && judge(s, of) == SS_PEG_CONSISTENT;
        double distance = feasible ? distance_from_free(s) : INFINITY;
        s->result->consistent += consistent;
        if (feasible &&
            (consistent > best_consistent || (consistent == best_consistent && distance < least))) {
            best_consistent = consistent;
            least = distance;
            s->islands[of].defect = INFINITY;
            note_best(s, of);
        }

        int g = 0;
        for (; g < groups; g++) { // the next one, counting like an odometer
            if (s->groups.island[g] != of) continue;
            if (++selection[g] < ss_groups_alternatives(&s->groups, g)) break;
            selection[g] = 0;
        }
        if (g == groups) break;
    }
    s->islands[of].jammed = best_consistent < 0;
    take_best(s, of);
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
    size_t islands = (size_t)s->groups.island_count, notes = (size_t)most_passes * (groups + islands);
    s->islands = ss_allocate(islands, sizeof *s->islands);
    s->seen = ss_allocate(notes + 3 * groups, sizeof *s->seen);
    s->solved = s->seen ? s->seen + notes : NULL;
    s->first = s->seen ? s->solved + groups : NULL;
    s->best = s->seen ? s->first + groups : NULL;
    s->best_promoted = ss_allocate(rows, sizeof *s->best_promoted);
    result->selection = ss_allocate(groups, sizeof *result->selection);
    result->promoted = ss_allocate(rows, sizeof *result->promoted);
    result->origin = ss_allocate((size_t)frame->contacts.count + rows, sizeof *result->origin);
    for (size_t i = 0; s->islands && i < islands; i++) s->islands[i].defect = INFINITY;
    return (s->free && s->now && s->then && s->impulse && s->locked && s->tied && s->seen && s->islands &&
            s->best_promoted && result->selection && result->promoted && result->origin) ||
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
        good = result->plain && solve_plain(&s, -1, &feasible, err);
        for (int g = 0; good && g < s.groups.group_count; g++) result->selection[g] = -1;
    } else if (good) {
        good = find_free_motion(&s, err);
        if (good) start(&s);
        if (good && bytes) memcpy(s.first, result->selection, bytes);

        /* All islands together as long as that works; else one by one, and so for all selections. */
        bool one_by_one = request->mode == SS_PEG_ENUMERATE, alone;
        if (good && !one_by_one) good = select_islands(&s, -1, &one_by_one, err);
        if (good && one_by_one) forget(&s);
        for (int i = 0; good && one_by_one && i < s.groups.island_count; i++)
            good = request->mode == SS_PEG_ENUMERATE ? enumerate_island(&s, i, err)
                                                     : select_islands(&s, i, &alone, err);
        good = good && conclude(&s, one_by_one, err);
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
    ss_release(s.islands);
    ss_release(s.best_promoted);
    if (!good) ss_peg_result_free(result);
    return good;
}
