/* A step with polyhedral exact geometry: frame with alternatives -> selection -> audit -> refinement.
 *
 * The rows of a frame are linear, and bodies turn: an error of h^2 w^2 r / 2. So the separation of every pair
 * is computed exactly at the pose that the answer leads to. A group that left its best face and overlaps
 * there goes back to it (the audit: an edge that the rotation uncovers). Then, if the error is more than
 * what can be neglected, alternatives are found at that pose and carried back to the start of the step,
 * with gaps such that the prediction is exact at that answer, and the step is solved again (the
 * refinement). The Jacobians stay those of the start, so that momentum is conserved exactly. Ordinary
 * contacts are not refined.
 */
#include "sim/state.h"

#include "collision/alternatives.h"
#include "formulation/model.h"
#include "frame/alternatives.h"
#include "linalg/quat.h"

#include <math.h>

static const double audit_share = 1e-3; /* of the size: overlaps beyond the prediction by more are undone */
/* Of the size: smaller errors are left alone. A wedge gets contradictory rows from overlaps of 1e-6. */
static const double refine_share = 1e-9;
/* Of the size: closer than this is touching, and no reason to halve a step. */
static const double touching_share = 1e-6;

/* The formulation is that of the published problem, which needs no selection and knows one point per
 * alternative. */
bool ss_sim_models_alternatives(const ss_sim *sim)
{
    const ss_contact_model *model = ss_assembly_formulation(sim->assembly)->model;
    return model && model->traits & SS_MODELS_ALTERNATIVES;
}

/* ---- before contacts are looked for ----------------------------------------------------------------- */

/* Velocities at the end of the step without contacts and joints, by which collision knows how far to look. */
bool ss_sim_foresee(ss_sim *sim, ss_error *err)
{
    int bodies = ss_world_body_count(sim->world);
    if (sim->options.peg == SS_PEG_OFF) return true;
    if (bodies > sim->peg.velocity_room || !sim->peg.velocity) {
        ss_release(sim->peg.velocity);
        sim->peg.velocity = ss_allocate((size_t)bodies + 1, sizeof *sim->peg.velocity);
        sim->peg.velocity_room = sim->peg.velocity ? bodies : 0;
        if (!sim->peg.velocity)
            return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", bodies);
    }
    ss_collision_use_alternatives(sim->collision, sim->peg.velocity, ss_sim_models_alternatives(sim));

    for (int b = 0; b < bodies; b++) {
        const ss_body *body = ss_world_body(sim->world, b);
        double *v = sim->peg.velocity[b];
        memset(v, 0, sizeof *sim->peg.velocity);
        if (body->kind == SS_STATIC || body->disabled) continue;
        memcpy(v, body->velocity, sizeof body->velocity);
        if (body->kind != SS_DYNAMIC) continue;

        double wrench[6];
        ss_mat3 inverse;
        ss_sim_force(sim, body, wrench);
        ss_quat q = ss_quat_load(body->quaternion);
        ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(v), sim->h / body->mass, ss_vec3_load(wrench)), v);
        if (!ss_mat3_inverse(ss_mat3_load(body->inertia), &inverse)) continue;
        ss_vec3 torque = ss_quat_rotate_back(q, ss_vec3_load(wrench + 3));
        ss_vec3 spin = ss_quat_rotate(q, ss_mat3_apply(inverse, torque));
        ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(v + 3), sim->h, spin), v + 3);
    }
    return true;
}

/* ---- alternatives in the frame ---------------------------------------------------------------------- */

static bool is_row(const ss_contact_group *group, int k, const ss_alternative_point *point)
{
    return k > group->first || point->test;
}

bool ss_sim_add_alternatives(ss_sim *sim, ss_error *err)
{
    const ss_group_list *list = sim->peg.list;
    if (!list || list->count == 0) return true;

    /* Groups of the list of which a contact is left are numbered in the order of their first contacts. */
    int groups = 0, rows = 0;
    int *number = ss_arena_take(sim->memory, (size_t)list->count + 1, sizeof *number, "groups");
    if (!number) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d groups", list->count);
    for (int g = 0; g < list->count; g++) number[g] = -1;
    for (int c = 0; c < sim->contacts.count; c++) {
        int g = sim->contacts.items[c].group - 1;
        if (g >= 0 && g < list->count && number[g] < 0) number[g] = groups++;
    }
    if (groups == 0) return true;

    for (int g = 0; g < list->count; g++) {
        const ss_contact_group *group = &list->groups[g];
        for (int k = group->first; number[g] >= 0 && k < group->first + group->count; k++) {
            const ss_alternative *of = &list->alternatives[k];
            for (int i = of->first; i < of->first + of->count; i++)
                rows += is_row(group, k, &list->points[i]);
        }
    }

    ss_subcontacts *sub = &sim->frame->subcontacts;
    bool moving = sim->frame->contacts.surface_velocity != NULL;
    sim->peg.origin = ss_arena_take(sim->memory, (size_t)rows + 1, sizeof *sim->peg.origin, "rows");
    sim->peg.group = ss_arena_take(sim->memory, (size_t)groups, sizeof *sim->peg.group, "groups");
    if (!sim->peg.origin || !sim->peg.group)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d points of alternatives", rows);
    if (!ss_frame_add_alternatives(sim->frame, groups, rows, err) ||
        (moving && !ss_frame_enable(sim->frame, "subcontacts/surface_velocities", err)))
        return false;

    for (int c = 0; c < sim->contacts.count; c++) {
        int g = sim->contacts.items[c].group - 1;
        if (g >= 0 && g < list->count) sub->contact_group[c] = number[g];
    }
    int r = 0;
    for (int g = 0; g < list->count; g++) {
        const ss_contact_group *group = &list->groups[g];
        if (number[g] < 0) continue;
        sub->cut[number[g]] = group->cut;
        sim->peg.group[number[g]] = g;
        for (int k = group->first; k < group->first + group->count; k++) {
            const ss_alternative *of = &list->alternatives[k];
            for (int i = of->first; i < of->first + of->count; i++) {
                const ss_alternative_point *point = &list->points[i];
                if (!is_row(group, k, point)) continue;
                sub->group[r] = number[g];
                sub->alternative[r] = k - group->first;
                sub->role[r] = point->test ? SS_ROW_TEST : SS_ROW_FORCE;
                memcpy(sub->point[r], point->point, sizeof sub->point[r]);
                memcpy(sub->normal[r], of->normal, sizeof sub->normal[r]);
                sub->gap[r] = point->gap;
                if (moving)
                    ss_sim_surface_velocity(sim, group->body, group->surface_velocity, point->point,
                                            sub->surface_velocity[r]);
                sim->peg.origin[r++] = i;
            }
        }
    }
    return true;
}

/* ---- solving a choice ------------------------------------------------------------------------------- */

/* One try at the step: frame with alternatives, the choice that was solved, and what came of it. */
typedef struct attempt {
    ss_frame *frame;
    ss_contact_list contacts; /* of the frame */
    const ss_group_list *list;
    int *origin, *group;
    ss_peg_result result;
    ss_contact_list plain; /* contacts of the choice */
    int *wait;
    ss_answer *answer; /* of the choice; a copy */
    ss_sim_report report;
    double error; /* of the worst pair, relative to its size */
    bool too_far; /* a pair overlaps by more than what the rotation within the step explains */
} attempt;

typedef struct solving {
    ss_sim *sim;
    const attempt *of;
    ss_sim_report before;
} solving;

/* The contacts of the ordinary frame, with the keys that warm starts need. */
static bool list_plain(ss_sim *sim, const attempt *of, const ss_frame *plain, const int *origin,
                       ss_contact_list *list, ss_error *err)
{
    int count = plain->contacts.count;
    list->count = origin ? count : 0;
    list->items = ss_arena_take(sim->memory, (size_t)count + 1, sizeof *list->items, "contacts");
    if (!list->items) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", count);
    for (int i = 0; i < list->count; i++) {
        int r = origin[i] - of->frame->contacts.count;
        if (r < 0) {
            list->items[i] = of->contacts.items[origin[i]];
            continue;
        }
        const ss_contact_group *group = &of->list->groups[of->group[of->frame->subcontacts.group[r]]];
        ss_contact *to = &list->items[i];
        *to = (ss_contact){.shape_a = group->shape[0],
                           .shape_b = group->shape[1],
                           .body_a = group->body[0],
                           .body_b = group->body[1],
                           .gap = plain->contacts.gap[i],
                           .material = group->material,
                           .key = of->list->points[of->origin[r]].key,
                           .group = of->group[of->frame->subcontacts.group[r]] + 1};
        memcpy(to->point, plain->contacts.point[i], sizeof to->point);
        memcpy(to->normal, plain->contacts.normal[i], sizeof to->normal);
        memcpy(to->surface_velocity, group->surface_velocity, sizeof to->surface_velocity);
    }
    return true;
}

/* Times add up over the tries of a step; all else is that of the last one. */
ss_sim_report ss_sim_with_times(ss_sim_report report, const ss_sim_report *of)
{
    report.broad = of->broad;
    report.narrow = of->narrow;
    report.assembly = of->assembly;
    report.solve = of->solve;
    return report;
}

static bool solve_choice(const ss_frame *plain, const int *origin, ss_peg_solved *how, void *context,
                         ss_error *err)
{
    solving *s = context;
    ss_sim *sim = s->sim;
    ss_frame *frame = (ss_frame *)(uintptr_t)plain;
    if (!list_plain(sim, s->of, plain, origin, &sim->contacts, err)) return false;
    sim->frame = frame;
    sim->report = ss_sim_with_times(s->before, &sim->report);
    ss_status before = sim->report.status;
    sim->report.status = SS_CONVERGED;
    if (!ss_sim_solve(sim, err)) return false;
    ss_status status = sim->report.status;
    if (before > status) sim->report.status = before;
    *how = (ss_peg_solved){.answer = sim->answer,
                           .converged = status == SS_CONVERGED,
                           .ray = status == SS_RAY,
                           .error = sim->report.relative_energy};
    return true;
}

/* Solves the frame that sim->frame is now; it becomes the attempt's, also on failure. */
static bool solve_attempt(ss_sim *sim, const int32_t *start, const uint8_t *hold, bool skip_path, attempt *to,
                          ss_error *err)
{
    solving s = {.sim = sim, .of = to, .before = sim->report};
    ss_peg_request request = {.frame = to->frame,
                              .mode = (ss_peg_mode)sim->options.peg,
                              .solve = solve_choice,
                              .context = &s,
                              .start = start,
                              .hold = hold,
                              .skip_path = skip_path};
    ss_peg_result_free(&to->result);
    ss_answer_destroy(to->answer);
    to->answer = NULL;
    if (!ss_peg_solve(&request, &to->result, err)) return false;
    to->plain = sim->contacts;
    to->wait = sim->wait;
    to->report = sim->report;
    sim->peg.solves += to->result.solves;
    to->answer = ss_answer_create(to->result.plain, sim->answer->rolling_impulse != NULL, err);
    if (to->answer) ss_sim_copy_answer(sim->answer, to->answer);
    return to->answer != NULL;
}

static void free_attempt(attempt *of)
{
    ss_frame_destroy(of->frame);
    ss_peg_result_free(&of->result);
    ss_answer_destroy(of->answer);
    *of = (attempt){0};
}

/* ---- the pose that an answer leads to --------------------------------------------------------------- */

typedef struct outlook {
    ss_sim *sim;
    ss_body *bodies; /* of the world, at the end of the step */
} outlook;

static bool look_at_end(ss_sim *sim, double (*velocity)[6], outlook *to, ss_error *err)
{
    int count = ss_world_body_count(sim->world);
    to->sim = sim;
    to->bodies = ss_arena_take(sim->memory, (size_t)count + 1, sizeof *to->bodies, "bodies at the end");
    if (!to->bodies) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", count);
    for (int b = 0; b < count; b++) {
        int place = sim->body_place[b];
        to->bodies[b] = *ss_world_body(sim->world, b);
        ss_sim_predict(sim, place >= 0 ? velocity[place] : NULL, &to->bodies[b]);
    }
    return true;
}

static ss_placed_shape place_at_end(const outlook *at, int shape)
{
    int body = ss_world_shape(at->sim->world, shape)->body;
    return ss_shape_place(at->sim->world, shape, body == SS_WORLD ? NULL : &at->bodies[body]);
}

/* N s: what the group of the frame carries. */
static double impulse_of(const attempt *of, int g)
{
    double sum = 0.0;
    const ss_subcontacts *sub = &of->frame->subcontacts;
    for (int i = 0; i < of->answer->contacts; i++) {
        int c = of->result.origin[i], r = c - of->frame->contacts.count;
        if ((r < 0 ? sub->contact_group[c] : sub->group[r]) == g) sum += of->answer->normal_impulse[i];
    }
    return sum;
}

/* The exact error of the attempt, relative to sizes: overlap, and separation of what pushes. Also which
 * groups the audit sends back. */
static bool measure(ss_sim *sim, attempt *of, uint8_t *hold, int32_t *start, bool *sent, ss_error *err)
{
    outlook at;
    ss_groups groups;
    *sent = false;
    of->error = 0.0;
    of->too_far = false;
    if (!look_at_end(sim, of->answer->velocity, &at, err) || !ss_groups_make(of->frame, &groups, err))
        return false;
    for (int g = 0; g < groups.group_count; g++) {
        const ss_contact_group *group = &of->list->groups[of->group[g]];
        ss_placed_shape a = place_at_end(&at, group->shape[0]), b = place_at_end(&at, group->shape[1]);
        double separation = ss_polyhedra_separation(&a, &b), wrong = fmax(0.0, -separation);
        if (separation > 0.0 && impulse_of(of, g) > 0.0) wrong = separation;
        of->error = fmax(of->error, wrong / group->size);

        /* m: what linear rows may be wrong by. A point at r that turns by the angle t is r t^2 / 2 from where
         * its tangent leads, at most: |R r - r - t x r| <= r t^2 / 2. */
        double sum = 0.0;
        for (int side = 0; side < 2; side++) {
            if (group->body[side] == SS_WORLD) continue;
            double turn = sim->h * ss_vec3_norm(ss_vec3_load(at.bodies[group->body[side]].velocity + 3));
            sum += 0.5 * turn * turn * group->radius[side];
        }
        of->too_far |= -separation > fmax(sum, touching_share * group->size);

        if (!hold) continue;
        // the best alternative now is 0, up to rounding
        int best = 0, first = groups.first_alternative[g];
        for (int k = 1; k < ss_groups_alternatives(&groups, g); k++)
            if (ss_groups_separation(&groups, first + k) > ss_groups_separation(&groups, first + best))
                best = k;
        double predicted = ss_groups_best_after(&groups, g, of->answer->velocity, NULL);
        start[g] = of->result.selection[g];
        hold[g] = start[g] != best && separation < fmin(0.0, predicted) - audit_share * group->size;
        if (!hold[g]) continue;
        start[g] = best;
        *sent = true;
    }
    ss_groups_free(&groups);
    return true;
}

/* ---- refinement ------------------------------------------------------------------------------------- */

/* From where a body will be to where it is: of points and of directions. */
static ss_vec3 carry(const outlook *at, int body, ss_vec3 v, bool point)
{
    if (body == SS_WORLD) return v;
    const ss_body *end = &at->bodies[body], *now = ss_world_body(at->sim->world, body);
    if (point) v = ss_vec3_subtract(v, ss_vec3_load(end->position));
    v = ss_quat_rotate(ss_quat_load(now->quaternion), ss_quat_rotate_back(ss_quat_load(end->quaternion), v));
    return point ? ss_vec3_add(v, ss_vec3_load(now->position)) : v;
}

typedef struct search {
    ss_sim *sim;
    const outlook *at;
    const ss_group_list *from;
} search;

static bool find_again(int g, ss_group_list *to, void *context, ss_error *err)
{
    const search *s = context;
    const outlook *at = s->at;
    ss_contact_group group = s->from->groups[g];
    const ss_body *body[2] = {NULL, NULL};
    for (int side = 0; side < 2; side++) {
        if (group.body[side] == SS_WORLD) continue;
        body[side] = &at->bodies[group.body[side]];
        memcpy(group.centre[side], body[side]->position, sizeof group.centre[side]);
    }
    ss_group_reach(&group, s->sim->h, body[0] ? body[0]->velocity : NULL, body[1] ? body[1]->velocity : NULL);
    ss_placed_shape a = place_at_end(at, group.shape[0]), b = place_at_end(at, group.shape[1]);
    return ss_group_find(&a, &b, &group, s->sim->options.collision.reduce, to, err);
}

/* Ordinary contacts stay; groups bring theirs. */
static bool list_contacts(ss_sim *sim, const attempt *last, const ss_group_list *list, ss_error *err)
{
    ss_contact_list *made = &sim->contacts;
    int most = last->contacts.count + list->point_count;
    made->count = 0;
    made->items = ss_arena_take(sim->memory, (size_t)most + 1, sizeof *made->items, "contacts");
    if (!made->items) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", most);
    for (int c = 0; c < last->contacts.count; c++)
        if (last->contacts.items[c].group == 0) made->items[made->count++] = last->contacts.items[c];
    ss_collision_list_groups(list, made);
    return true;
}

/* The alternative of the last try, as the nearest thing in this one: the best within a right angle of its
 * normal, or thin plates would be passed. */
static void start_from(const attempt *last, const attempt *next, const ss_groups *now, const uint8_t *freed,
                       int32_t *start)
{
    for (int g = 0; g < now->group_count; g++) {
        const ss_contact_group *group = &next->list->groups[next->group[g]];
        const int *pair = now->frame->contacts.pair[now->contact[g]];
        start[g] = 0;
        if (freed && freed[pair[0] < 0 ? pair[1] : pair[0]]) continue; // what passes may pass on either side
        for (int old = 0; old < last->frame->subcontacts.groups; old++) {
            const ss_contact_group *other = &last->list->groups[last->group[old]];
            if (other->shape[0] != group->shape[0] || other->shape[1] != group->shape[1]) continue;
            ss_vec3 normal =
                ss_vec3_load(last->list->alternatives[other->first + last->result.selection[old]].normal);
            for (int k = ss_groups_alternatives(now, g) - 1; k >= 0; k--)
                if (ss_vec3_dot(normal, ss_groups_normal(now, now->first_alternative[g] + k)) > 0.0)
                    start[g] = k;
            break;
        }
    }
}

/* Another try, from the pose that these velocities lead to. */
static bool refine(ss_sim *sim, const attempt *last, double (*velocity)[6], const uint8_t *freed,
                   ss_group_list *list, attempt *next, ss_error *err)
{
    outlook at;
    search s = {.sim = sim, .at = &at, .from = last->list};
    if (!look_at_end(sim, velocity, &at, err)) return false;
    if (!ss_group_list_fill(list, last->list->count, sim->team, find_again, &s, err)) return false;

    /* Normals go with the body that owns the face, points with the one that has the vertex; edges with a. */
    for (int g = 0; g < list->count; g++) {
        const ss_contact_group *group = &list->groups[g];
        for (int k = group->first; k < group->first + group->count; k++) {
            ss_alternative *of = &list->alternatives[k];
            int owner = group->body[of->kind == SS_AXIS_FACE_B],
                with = group->body[of->kind == SS_AXIS_FACE_A];
            double length;
            ss_vec3 normal = carry(&at, owner, ss_vec3_load(of->normal), false);
            ss_vec3_store(ss_vec3_normalise(normal, &length), of->normal);
            for (int i = of->first; i < of->first + of->count; i++)
                ss_vec3_store(carry(&at, with, ss_vec3_load(list->points[i].point), true),
                              list->points[i].point);
        }
    }

    sim->frame = NULL;
    if (!list_contacts(sim, last, list, err)) return false;
    sim->peg.list = list;
    if (!ss_sim_build_frame(sim, err)) {
        ss_frame_destroy(sim->frame);
        return false;
    }
    *next = (attempt){.frame = sim->frame,
                      .contacts = sim->contacts,
                      .list = list,
                      .origin = sim->peg.origin,
                      .group = sim->peg.group};

    /* gap := gap at the end - h (J v + c), so that the prediction is exact at v. */
    ss_groups groups;
    if (!ss_groups_make(next->frame, &groups, err)) return false;
    double *gap = next->frame->contacts.gap;
    int contacts = next->frame->contacts.count;
    for (int r = 0; r < groups.row_count; r++) {
        int i = groups.origin[r];
        double at_end = ss_groups_gap(&groups, r), moved = ss_groups_gap_after(&groups, r, velocity) - at_end;
        *(i < contacts ? &gap[i] : &next->frame->subcontacts.gap[i - contacts]) = at_end - moved;
    }
    for (int c = 0; c < contacts; c++) next->contacts.items[c].gap = gap[c];

    int32_t *start = ss_arena_take(sim->memory, (size_t)groups.group_count + 1, sizeof *start, "start");
    bool good = start || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d groups", groups.group_count);
    if (good) start_from(last, next, &groups, freed, start);
    ss_groups_free(&groups);
    return good && solve_attempt(sim, start, NULL, true, next, err);
}

/* ---- what passes freely ----------------------------------------------------------------------------- */

/* Poses on the way to the end of the step that are looked at. */
enum { WAYPOINTS = 8 };

/* The bodies between start and end of the step: positions on a straight line, rotation about a fixed axis. */
static void look_between(const outlook *end, double share, outlook *to)
{
    int count = ss_world_body_count(end->sim->world);
    for (int b = 0; b < count; b++) {
        const ss_body *from = ss_world_body(end->sim->world, b), *until = &end->bodies[b];
        to->bodies[b] = *until;
        for (int i = 0; i < 3; i++)
            to->bodies[b].position[i] = from->position[i] + share * (until->position[i] - from->position[i]);
        ss_quat q = ss_quat_load(from->quaternion);
        ss_vec3 turn = ss_quat_between(q, ss_quat_load(until->quaternion));
        ss_quat_store(ss_quat_integrate(q, turn, share), to->bodies[b].quaternion);
    }
}

/* Islands that push although their free motion passes, by exact geometry: they end apart, and do not cut
 * through each other on the way. Linear rows do not know that when bodies turn. Their velocities become the
 * free ones. Joints and ordinary contacts have to do with the free motion, too: such islands are left as they
 * are. */
static bool free_islands(ss_sim *sim, const attempt *of, double (*velocity)[6], uint8_t *freed, bool *any,
                         ss_error *err)
{
    const ss_frame *frame = of->frame;
    ss_groups groups;
    *any = false;
    if (!ss_groups_make(frame, &groups, err)) return false;
    size_t islands = (size_t)groups.island_count, world = (size_t)ss_world_body_count(sim->world);
    uint8_t *passes = ss_arena_take(sim->memory, islands + 1, sizeof *passes, "islands");
    double(*free)[6] =
        ss_arena_take(sim->memory, (size_t)frame->bodies.count + 1, sizeof *free, "velocities");
    outlook end, between = {.sim = sim};
    between.bodies = ss_arena_take(sim->memory, world + 1, sizeof *between.bodies, "bodies on the way");
    bool good = (passes && free && between.bodies) ||
                ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %zu islands", islands);

    // only islands that push, by nothing but alternatives
    for (int g = 0; good && g < groups.group_count; g++)
        if (impulse_of(of, g) > 0.0) passes[groups.island[g]] = 1;
    for (int c = 0; good && c < frame->contacts.count + frame->constraints.count; c++) {
        bool joint = c >= frame->contacts.count;
        if (!joint && frame->subcontacts.contact_group[c] >= 0) continue;
        const int *pair =
            joint ? frame->constraints.pair[c - frame->contacts.count] : frame->contacts.pair[c];
        for (int side = 0; side < 2; side++) {
            int island = ss_frame_is_live(frame, pair[side]) ? groups.body_island[pair[side]] : -1;
            if (island >= 0) passes[island] = 0;
        }
    }

    // the end first: it settles nearly all
    for (int b = 0; good && b < frame->bodies.count; b++)
        memcpy(free[b], sim->peg.velocity[sim->frame_body[b]], sizeof free[b]);
    good = good && look_at_end(sim, free, &end, err);
    for (int part = WAYPOINTS; good && part > 0; part--) {
        bool left = false;
        for (size_t i = 0; i < islands; i++) left |= passes[i];
        if (!left) break;
        if (part < WAYPOINTS) look_between(&end, (double)part / WAYPOINTS, &between);
        for (int g = 0; g < groups.group_count; g++) {
            const ss_contact_group *group = &of->list->groups[of->group[g]];
            if (!passes[groups.island[g]]) continue;
            double least = part == WAYPOINTS ? 0.0 : -group->cut;
            const outlook *at = part == WAYPOINTS ? &end : &between;
            ss_placed_shape a = place_at_end(at, group->shape[0]), b = place_at_end(at, group->shape[1]);
            if (ss_polyhedra_separation(&a, &b) < least) passes[groups.island[g]] = 0;
        }
    }
    for (int b = 0; good && b < frame->bodies.count; b++) {
        freed[b] = groups.body_island[b] >= 0 && passes[groups.body_island[b]];
        if (freed[b]) memcpy(velocity[b], free[b], sizeof free[b]);
        *any |= freed[b];
    }
    ss_groups_free(&groups);
    return good;
}

/* ---- together --------------------------------------------------------------------------------------- */

/* How deep the groups overlap at the start of the step. */
static double depth_of(const attempt *of)
{
    double depth = 0.0;
    for (int g = 0; g < of->frame->subcontacts.groups; g++) {
        const ss_contact_group *group = &of->list->groups[of->group[g]];
        double best = -INFINITY;
        for (int k = group->first; k < group->first + group->count; k++)
            best = fmax(best, of->list->alternatives[k].separation);
        depth = fmax(depth, -best);
    }
    return depth;
}

/* The attempt becomes the step. Everything after works on the ordinary frame; the frame with its
 * alternatives is what is seen from outside. */
static bool adopt(ss_sim *sim, attempt *of, double depth, ss_error *err)
{
    ss_answer *answer = ss_answer_create(of->frame, of->answer->rolling_impulse != NULL, err);
    if (!answer) return false;
    ss_peg_expand(&of->result, of->answer, answer);
    sim->peg.frame = of->frame;
    sim->peg.answer = answer;
    sim->peg.contacts = of->contacts;
    sim->peg.status = of->result.status;
    sim->frame = of->result.plain;
    sim->contacts = of->plain;
    sim->wait = of->wait;
    of->frame = of->result.plain = NULL;

    sim->answer =
        ss_answer_store_take(&sim->answer_store, sim->frame, of->answer->rolling_impulse != NULL, err);
    bool assembled = ss_assembly_frame(sim->assembly) == sim->frame; // the last try was the best one
    if (!sim->answer || (!assembled && !ss_assemble(sim->assembly, sim->frame, NULL, err))) return false;
    ss_sim_copy_answer(of->answer, sim->answer);

    sim->report = ss_sim_with_times(of->report, &sim->report);
    sim->report.peg_solves += sim->peg.solves;
    if (of->result.status > sim->report.peg_status) sim->report.peg_status = of->result.status;
    sim->report.peg_error = fmax(sim->report.peg_error, of->error);
    sim->report.penetration = fmax(sim->report.penetration, depth);
    return true;
}

bool ss_sim_solve_peg(ss_sim *sim, ss_error *err)
{
    attempt best = {.frame = sim->frame,
                    .contacts = sim->contacts,
                    .list = sim->peg.list,
                    .origin = sim->peg.origin,
                    .group = sim->peg.group};
    attempt last = {0};
    size_t groups = (size_t)best.frame->subcontacts.groups;
    bool selects = sim->options.peg == SS_PEG_SELECT || sim->options.peg == SS_PEG_ENUMERATE, sent = false;
    double depth = depth_of(&best);
    sim->frame = NULL;
    sim->peg.solves = 0;
    uint8_t *hold = ss_arena_take(sim->memory, groups, sizeof *hold, "held groups");
    int32_t *start = ss_arena_take(sim->memory, groups, sizeof *start, "start");
    bool good = (hold && start) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %zu groups", groups);
    good = good && solve_attempt(sim, NULL, NULL, false, &best, err);

    /* The audit. */
    good = good && (!selects || measure(sim, &best, hold, start, &sent, err));
    if (good && sent)
        good =
            solve_attempt(sim, start, hold, true, &best, err) && measure(sim, &best, NULL, NULL, &sent, err);

    /* Refinement, from one try to the next; the best one counts. Contacts that a user function made or
     * changed cannot be found again at another pose. */
    bool ours =
        !sim->source && sim->calls[SS_AFTER_CONTACTS].count == 0 && sim->calls[SS_BEFORE_SOLVE].count == 0;
    int refinements = selects && ours ? sim->options.refine : 0, bodies = best.frame->bodies.count;
    double(*velocity)[6] = ss_arena_take(sim->memory, (size_t)bodies + 1, sizeof *velocity, "velocities");
    uint8_t *freed = ss_arena_take(sim->memory, (size_t)bodies + 1, sizeof *freed, "free bodies");
    bool any_free = false;
    good = good &&
           ((velocity && freed) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", bodies));
    if (good && bodies) memcpy(velocity, best.answer->velocity, (size_t)bodies * sizeof *velocity);
    if (good && refinements > 0) good = free_islands(sim, &best, velocity, freed, &any_free, err);
    const attempt *from = &best;
    for (int r = 0; good && r < refinements && (any_free || best.error > refine_share); r++) {
        attempt next = {0};
        ss_group_list *list = sim->peg.refined;
        while (list == from->list || list == best.list) list++;
        good = refine(sim, from, velocity, any_free ? freed : NULL, list, &next, err) &&
               measure(sim, &next, NULL, NULL, &sent, err);
        if (from == &last) free_attempt(&last);
        if (!good) {
            free_attempt(&next);
            break;
        }

        // two tries may lead to each other, without end: then the next one is from halfway between them
        bool better = any_free || next.error < best.error;
        double share = any_free || next.error < 0.5 * best.error ? 1.0 : 0.5;
        for (int b = 0; b < bodies; b++)
            for (int i = 0; i < 6; i++)
                velocity[b][i] =
                    share * next.answer->velocity[b][i] + (1.0 - share) * best.answer->velocity[b][i];
        any_free = false;

        if (better) {
            free_attempt(&best);
            best = next;
            from = &best;
        } else {
            last = next;
            from = &last;
        }
    }

    sim->peg.too_far = refinements > 0 && best.too_far;
    free_attempt(&last);
    sim->frame = NULL; // it is one of the attempts'
    good = good && adopt(sim, &best, depth, err);
    free_attempt(&best);
    return good;
}

void ss_sim_forget_peg(ss_sim *sim)
{
    ss_frame_destroy(sim->peg.frame);
    ss_answer_destroy(sim->peg.answer);
    sim->peg.frame = NULL;
    sim->peg.answer = NULL;
    sim->peg.list = NULL;
}

void ss_sim_free_peg(ss_sim *sim)
{
    ss_sim_forget_peg(sim);
    for (int i = 0; i < 3; i++) ss_group_list_free(&sim->peg.refined[i]);
    ss_release(sim->peg.velocity);
}
