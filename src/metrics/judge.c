#include "metrics/judgement.h"

#include <math.h>
#include <string.h>

#include "base/registry.h"
#include "formulation/assembly.h"
#include "formulation/friction.h"
#include "linalg/vec3.h"
#include "problem/bodies_form.h"
#include "problem/cone.h"

/* ---- the registry --------------------------------------------------------------------------------- */

static const ss_metric metrics[] = {
#define SS_METRIC(id, title, in, line, formula) \
    {.name = title, .unit = in, .summary = line, .definition = formula},
#include "metrics/metrics.def"
#undef SS_METRIC
};

int ss_metric_count(void)
{
    return SS_METRIC_COUNT + ss_registered_count(SS_REGISTERED_METRICS);
}

const ss_metric *ss_metric_at(int index)
{
    if (index >= SS_METRIC_COUNT) return ss_registered_at(SS_REGISTERED_METRICS, index - SS_METRIC_COUNT);
    return index >= 0 ? &metrics[index] : NULL;
}

int ss_metric_index(const char *name)
{
    const ss_metric *metric;
    for (int i = 0; (metric = ss_metric_at(i)); i++) {
        if (strcmp(metric->name, name) == 0) return i;
    }
    return -1;
}

void ss_metric_set(ss_judgement *judgement, enum ss_metric_id id, double value, int contact, int constraint)
{
    judgement->values[id] = (ss_metric_value){true, value, contact, constraint, NULL};
}

void ss_metric_refuse(ss_judgement *judgement, enum ss_metric_id id, const char *why)
{
    judgement->values[id] = (ss_metric_value){false, NAN, -1, -1, why};
}

/* ---- what the contacts do ------------------------------------------------------------------------- */

void ss_velocity_after(const ss_judgement *judgement, int body, double velocity[6])
{
    if (ss_frame_is_live(judgement->frame, body))
        memcpy(velocity, judgement->answer->velocity[body], 6 * sizeof *velocity);
    else
        memset(velocity, 0, 6 * sizeof *velocity);
}

/* Velocity of b relative to a at the contact point, end of step. */
static ss_vec3 relative_velocity(const ss_judgement *judgement, int contact)
{
    const ss_frame *frame = judgement->frame;
    double arm[2][3];
    ss_contact_lever_arms(frame, contact, arm[0], arm[1]);
    const double still[3] = {0.0, 0.0, 0.0};
    ss_vec3 relative =
        ss_vec3_load(frame->contacts.surface_velocity ? frame->contacts.surface_velocity[contact] : still);
    for (int side = 0; side < 2; side++) {
        double v[6];
        ss_velocity_after(judgement, frame->contacts.pair[contact][side], v);
        ss_vec3 at =
            ss_vec3_add(ss_vec3_load(v), ss_vec3_cross(ss_vec3_load(v + 3), ss_vec3_load(arm[side])));
        relative = ss_vec3_add_scaled(relative, side ? 1.0 : -1.0, at);
    }
    return relative;
}

double ss_contact_gap_after(const ss_judgement *judgement, int contact)
{
    const ss_frame *frame = judgement->frame;
    ss_vec3 normal = ss_vec3_load(frame->contacts.normal[contact]);
    return frame->contacts.gap[contact] +
           frame->h * ss_vec3_dot(normal, relative_velocity(judgement, contact));
}

/* Each contact that takes part has one cone, in the order of the rows. */
static void describe_contacts(ss_judgement *judgement)
{
    static const double few_roundings = 1e-15;
    const ss_problem *problem = judgement->problem;
    const ss_answer *answer = judgement->answer;
    const ss_contact_row *rows =
        judgement->frame ? ss_assembly_judged_rows(judgement->what->assembly)->contact : NULL;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block)) continue;
        int index = judgement->contact_count++;
        ss_contact_state *state = &judgement->contacts[index];
        state->contact = block->contact;
        state->speed = judgement->w[block->first];
        state->inverse_mass = problem->diagonal[block->first];

        /* Without a frame, from the unknowns of the problem. */
        if (!rows) {
            const double *r = judgement->x + block->first, *u = judgement->w + block->first;
            state->normal = r[0];
            for (int i = 0; i < ss_cone_tangents(block->size); i++) {
                state->mu[i] = block->mu;
                state->friction[i] = r[1 + i];
                state->slip[i] = u[1 + i];
                if (i < 2) state->sliding[i] = u[1 + i];
            }
            continue;
        }

        /* With one, from impulses and velocities. What a few roundings of the friction leave along a tangent
         * counts as nothing: along one without friction it would be friction outside the cone. */
        const ss_contact_row *row = &rows[index];
        ss_vec3 relative = relative_velocity(judgement, row->contact);
        ss_vec3 sliding = ss_vec3_add_scaled(relative, -ss_vec3_dot(row->normal, relative), row->normal);
        ss_vec3 friction = ss_vec3_load(answer->friction_impulse[row->contact]);
        double along[3];
        ss_vec3_components(friction, row->normal, row->tangent[0], row->tangent[1], along);
        state->normal = answer->normal_impulse[row->contact] + row->pull;
        ss_vec3_store(sliding, state->sliding);
        for (int i = 0; i < 2; i++) {
            state->mu[i] = row->mu[i];
            state->friction[i] = fabs(along[i]) > few_roundings * ss_vec3_norm(friction) ? along[i] : 0.0;
            state->slip[i] = ss_vec3_dot(sliding, row->tangent[i]);
        }

        /* In one ellipsoid with sliding, spinning in m/s at the lever that makes it round. */
        ss_friction all = ss_friction_of(row);
        if (!(all.spin > 0.0)) continue;
        const int *pair = judgement->frame->contacts.pair[row->contact];
        double v[2][6], moment[3] = {0.0};
        for (int side = 0; side < 2; side++) ss_velocity_after(judgement, pair[side], v[side]);
        if (answer->rolling_impulse)
            ss_vec3_components(ss_vec3_load(answer->rolling_impulse[row->contact]), row->normal,
                               row->tangent[0], row->tangent[1], moment);
        ss_vec3 turning = ss_vec3_subtract(ss_vec3_load(v[1] + 3), ss_vec3_load(v[0] + 3));
        state->mu[2] = all.mu;
        state->friction[2] = moment[2] / all.spin;
        state->slip[2] = all.spin * ss_vec3_dot(row->normal, turning);
    }
}

/* A ten-thousandth of what gravity, or whatever drives the scene, gives a body in one step. */
static double slow_speed(const ss_judgement *judgement)
{
    const ss_frame *frame = judgement->frame;
    double speed = 0.0;
    for (int body = 0; frame && body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        double push = ss_vec3_norm(ss_vec3_load(frame->bodies.force[body]));
        speed = fmax(speed, 1e-4 * frame->h * push / frame->bodies.mass[body]);
    }
    for (int i = 0; speed == 0.0 && i < judgement->problem->size; i++) {
        speed = fmax(speed, 1e-6 * fabs(judgement->problem->b[i]));
    }
    return speed;
}

/* ---- preparing ------------------------------------------------------------------------------------ */

bool ss_judgement_point(const ss_judgement *judgement, const ss_answer *answer, double *x, double *w)
{
    const ss_frame *frame = judgement->frame;
    const ss_bodies_form *form = judgement->problem->bodies;
    double(*v)[6] = ss_arena_take(judgement->arena, (size_t)form->bodies, sizeof *v, "velocities");
    if (!v) return false;
    for (int body = 0, live = 0; body < frame->bodies.count; body++) {
        if (ss_frame_is_live(frame, body)) memcpy(v[live++], answer->velocity[body], sizeof *v);
    }
    ss_assembly_guess_judged(judgement->what->assembly, answer, x);
    for (int i = 0; i < judgement->problem->size; i++)
        w[i] = ss_bodies_row(form, i, v) + form->compliance[i] * x[i] + form->offset[i];
    return true;
}

/* x and w of the true Coulomb problem, and what its contacts do. */
static bool prepare(ss_judgement *judgement, ss_error *err)
{
    const ss_case *what = judgement->what;
    judgement->problem = what->assembly ? ss_assembly_judged(what->assembly, err) : what->problem;
    if (!judgement->problem) return false;
    size_t n = (size_t)judgement->problem->size, scratch = (size_t)ss_problem_scratch(judgement->problem);
    judgement->x = ss_arena_take(judgement->arena, n, sizeof *judgement->x, "x");
    judgement->w = ss_arena_take(judgement->arena, n, sizeof *judgement->w, "w");
    judgement->scratch = ss_arena_take(judgement->arena, scratch, sizeof *judgement->scratch, "scratch");
    judgement->contacts = ss_arena_take(judgement->arena, (size_t)judgement->problem->block_count,
                                        sizeof *judgement->contacts, "contacts");

    bool good = judgement->x && judgement->w && judgement->scratch && judgement->contacts;
    if (good && judgement->frame) {
        good = ss_judgement_point(judgement, judgement->answer, judgement->x, judgement->w);
    } else if (good && n) {
        memcpy(judgement->x, what->x, n * sizeof *judgement->x);
        ss_problem_apply(judgement->problem, judgement->x, judgement->scratch, judgement->w);
    }
    if (!good) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for judging %zu unknowns", n);
    judgement->slow = slow_speed(judgement);
    describe_contacts(judgement);
    return true;
}

/* Those that were registered: judged by their authors' functions, as far as there is something to judge. */
static bool measure_registered(const ss_judgement *judgement, int count, ss_error *err)
{
    for (int i = 0; i < count; i++) {
        const ss_metric *metric = ss_registered_at(SS_REGISTERED_METRICS, i);
        ss_metric_value value = {.value = NAN, .worst_contact = -1, .worst_constraint = -1};
        if (!metric) break;
        if (!judgement->frame && !metric->without_bodies)
            value.why = "needs bodies: the file has none";
        else if (!metric->measure(metric, judgement->what, &value, err))
            return ss_fail_in(err, "metric %s", metric->name);
        if (!value.applies) {
            value.value = NAN;
            if (!value.why) value.why = "not applicable";
        }
        judgement->values[SS_METRIC_COUNT + i] = value;
    }
    return true;
}

int ss_case_contacts(const ss_case *what)
{
    if (what->frame) return what->frame->contacts.count;
    if (what->assembly) return ss_assembly_frame(what->assembly)->contacts.count;
    int count = 0;
    for (int k = 0; k < what->problem->block_count; k++) {
        int contact = what->problem->blocks[k].contact;
        if (contact >= count) count = contact + 1;
    }
    return count;
}

bool ss_judge(const ss_case *what, ss_metric_value *values, ss_contact_report *contacts, ss_error *err)
{
    if (what->frame && what->frame->subcontacts.groups > 0)
        return ss_judge_alternatives(what->frame, ss_assembly_step(what->assembly), what->answer,
                                     what->skip_exact, values, contacts, err);
    ss_arena *arena = what->arena ? what->arena : ss_arena_create(1 << 12, err);
    if (!arena) return false;
    ss_arena_mark mark = ss_arena_get_mark(arena);
    int count = ss_case_contacts(what), registered = ss_registered_count(SS_REGISTERED_METRICS);
    if (contacts && count > 0) memset(contacts, 0, (size_t)count * sizeof *contacts);
    ss_judgement judgement = {.what = what,
                              .frame = what->assembly ? ss_assembly_frame(what->assembly) : NULL,
                              .answer = what->answer,
                              .arena = arena,
                              .values = values,
                              .reports = contacts};

    bool good = prepare(&judgement, err) && ss_metrics_rows(&judgement, err);
    if (good) ss_metrics_coulomb(&judgement);
    if (good) ss_metrics_no_alternatives(&judgement);
    good = good && ss_metrics_balance(&judgement, err) && ss_metrics_distance(&judgement, err);
    for (int k = 0; good && contacts && k < judgement.contact_count; k++) {
        const ss_contact_state *state = &judgement.contacts[k];
        ss_contact_report *report = &contacts[state->contact];
        report->status = ss_contact_status_of(&judgement, state);
        memcpy(report->sliding, state->sliding, sizeof report->sliding);
    }
    good = good && measure_registered(&judgement, registered, err);

    ss_arena_reset(arena, mark);
    if (!what->arena) ss_arena_destroy(arena);
    return good;
}

static bool judge_frame(const ss_frame *frame, const ss_step_options *step, const ss_answer *answer,
                        bool skip_exact, ss_metric_value *values, ss_contact_report *contacts, ss_error *err)
{
    if (frame->subcontacts.groups > 0)
        return ss_judge_alternatives(frame, step, answer, skip_exact, values, contacts, err);
    ss_assembly *assembly = ss_assembly_create(ss_formulation_find("cone"), NULL, err);
    if (!assembly) return false;
    if (step) memcpy(ss_assembly_options(assembly), step, sizeof *step); // every option struct begins with it
    bool good = ss_assemble(assembly, frame, NULL, err) &&
                ss_judge(&(ss_case){.assembly = assembly, .answer = answer, .skip_exact = skip_exact}, values,
                         contacts, err);
    ss_assembly_destroy(assembly);
    return good;
}

bool ss_judge_frame(const ss_frame *frame, const ss_step_options *step, const ss_answer *answer,
                    ss_metric_value *values, ss_contact_report *contacts, ss_error *err)
{
    return judge_frame(frame, step, answer, true, values, contacts, err);
}

bool ss_judge_frame_exactly(const ss_frame *frame, const ss_step_options *step, const ss_answer *answer,
                            ss_metric_value *values, ss_contact_report *contacts, ss_error *err)
{
    return judge_frame(frame, step, answer, false, values, contacts, err);
}
