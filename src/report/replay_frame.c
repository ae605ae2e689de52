/* One frame of a replay: what a file and its solvers say about it, as bytes of a chunk and as
 * numbers of series. */
#include "report/replay_internal.h"

#include "campaign/read_input.h"
#include "linalg/vec3.h"
#include "problem/peg_answer.h"

#include <math.h>
#include <string.h>

/* ---- reading ---------------------------------------------------------------------------------------- */

bool ss_replay_result(const ss_replay *replay, int frame, int index, ss_stored_result *result, ss_error *err)
{
    const ss_replay_options *options = &replay->options;
    if (!ss_bpmd_result(replay->file, frame, index, result, err)) return false;
    if (!options->formulation) return true;

    // Other rules than those it was stored with: what was measured by those does not count.
    for (int m = 0; m < result->measure_count; m++) {
        ss_release(result->measures[m].name);
        ss_release(result->measures[m].values);
    }
    result->measure_count = 0;
    ss_release(result->formulation);
    ss_release(result->with);
    result->formulation = ss_text_copy(options->formulation);
    result->with = ss_text_copy(options->with);
    if (result->formulation && (result->with || !options->with)) return true;
    ss_stored_result_free(result);
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for rules");
}

/* Of a solver that is shown; the first of each counts. Judged by the rules it was made by, where no metrics
 * are stored or contacts are shown with their states. */
static bool read_answer(const ss_replay *replay, int index, int result, bool states, ss_replay_frame *frame,
                        ss_error *err)
{
    ss_stored_result stored = {0};
    if (!ss_replay_result(replay, index, result, &stored, err)) return false;
    int solver = 0;
    while (solver < replay->solver_count && strcmp(replay->solvers[solver].name, stored.solver) != 0)
        solver++;
    if (solver == replay->solver_count || frame->answers[solver].stored) {
        ss_stored_result_free(&stored);
        return true;
    }
    ss_replay_answer *answer = &frame->answers[solver];
    *answer = (ss_replay_answer){.stored = true, .result = stored};
    answer->complete = ss_answer_is_complete(stored.answer);
    bool wanted = (states && frame->contacts > 0) || stored.measure_count == 0;
    if (!wanted || !replay->solvers[solver].answers || !answer->complete) return true;

    int contacts = frame->frame->contacts.count;
    ss_step_options step;
    answer->values = ss_allocate((size_t)ss_metric_count(), sizeof *answer->values);
    answer->reports = ss_allocate((size_t)contacts, sizeof *answer->reports);
    if (!answer->values || !answer->reports)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for judging an answer");
    answer->judged = ss_stored_result_step(&stored, &step, err) &&
                     ss_judge_frame(frame->frame, &step, stored.answer, answer->values, answer->reports, err);
    if (!answer->judged) return false;

    // The energy error of every contact as it was measured when the answer was found, which knows how gaps
    // were treated.
    for (int m = 0; m < stored.measure_count; m++) {
        const ss_measure *measure = &stored.measures[m];
        if (strcmp(measure->name, "contact_energy") != 0 || measure->count != contacts) continue;
        for (int c = 0; c < measure->count; c++) answer->reports[c].energy = measure->values[c];
    }
    return true;
}

/* A result that cannot be read is reported, and the frame is shown without it. */
static bool read_answers(const ss_replay *replay, int index, const char *place, bool states,
                         ss_replay_frame *frame, ss_findings *findings, ss_error *err)
{
    ss_error trouble = {0};
    int count = replay->solver_count ? ss_bpmd_result_count(replay->file, index, &trouble) : 0;
    if (count < 0) ss_findings_add(findings, SS_FINDING_WARNING, place, "%s", trouble.message);
    for (int i = 0; i < count; i++) {
        if (read_answer(replay, index, i, states, frame, &trouble)) continue;
        if (trouble.code == SS_ERROR_RESOURCES) {
            if (err) *err = trouble;
            return false;
        }
        ss_findings_add(findings, SS_FINDING_WARNING, place, "a result is skipped: %s", trouble.message);
    }
    return true;
}

/* ---- alternatives ----------------------------------------------------------------------------------- */

/* The answer to the frame in which every alternative is an ordinary contact: the chosen ones carry what they
 * carry, the others are open. */
static bool spread_answer(const ss_frame *from, const ss_frame *plain, const int *origin,
                          ss_replay_answer *answer, ss_error *err)
{
    ss_answer *old = answer->result.answer;
    ss_answer *made = ss_answer_create(plain, old->rolling_impulse != NULL, err);
    ss_contact_report *reports = ss_allocate((size_t)plain->contacts.count, sizeof *reports);
    int *first = ss_allocate((size_t)from->subcontacts.groups, sizeof *first); // contact of each group
    bool *other = ss_allocate((size_t)plain->contacts.count, sizeof *other);
    if (!made || !reports || !first || !other) {
        ss_answer_destroy(made);
        ss_release(reports);
        ss_release(first);
        ss_release(other);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for alternatives");
    }

    for (int c = from->contacts.count - 1; c >= 0; c--)
        if (from->subcontacts.contact_group[c] >= 0) first[from->subcontacts.contact_group[c]] = c;
    ss_peg_gather(old, origin, made);

    for (int i = 0; i < made->contacts; i++) {
        int c = origin[i], r = c - from->contacts.count;
        int group = r < 0 ? from->subcontacts.contact_group[c] : from->subcontacts.group[r];
        bool open = group >= 0 && made->normal_impulse[i] == 0.0;
        if (answer->reports && !open) reports[i] = answer->reports[r < 0 ? c : first[group]];
        int selected = group >= 0 && group < old->groups ? old->selection[group] : -1;
        other[i] = open && selected >= 0 && selected != (r < 0 ? 0 : from->subcontacts.alternative[r]);
    }

    if (answer->reports) {
        ss_release(answer->reports);
        answer->reports = reports;
        reports = NULL;
    }
    ss_release(reports);
    ss_release(first);
    ss_answer_destroy(old);
    answer->result.answer = made;
    answer->other = other;
    return true;
}

/* The number of its alternative for each contact of the frame that shows all, and how many there are. */
static bool number_alternatives(ss_replay_frame *frame, const ss_frame *plain, const int *origin)
{
    const ss_frame *from = frame->frame;
    const ss_subcontacts *sub = &from->subcontacts;
    int *most = ss_allocate((size_t)sub->groups, sizeof *most);
    frame->alternative = ss_allocate((size_t)plain->contacts.count, sizeof *frame->alternative);
    for (int r = 0; most && r < sub->count; r++)
        if (sub->alternative[r] > most[sub->group[r]]) most[sub->group[r]] = sub->alternative[r];
    for (int i = 0; most && frame->alternative && i < plain->contacts.count; i++) {
        int r = origin[i] - from->contacts.count;
        int group = r < 0 ? sub->contact_group[origin[i]] : sub->group[r];
        if (group < 0) continue;
        int number = r < 0 ? 1 : 1 + sub->alternative[r], of = 1 + most[group];
        frame->alternative[i][0] = (int16_t)(number < INT16_MAX ? number : INT16_MAX);
        frame->alternative[i][1] = (int16_t)(of < INT16_MAX ? of : INT16_MAX);
    }
    ss_release(most);
    return most && frame->alternative;
}

/* Chosen and other alternatives are shown as contacts, and told apart by their state. */
static bool show_alternatives(const ss_replay *replay, ss_replay_frame *frame, ss_error *err)
{
    const ss_subcontacts *sub = &frame->frame->subcontacts;
    if (sub->groups == 0 || frame->contacts == 0) return true;

    // Test points that carry impulses, in any answer.
    uint8_t *promoted = ss_allocate((size_t)sub->count, 1);
    for (int s = 0; promoted && s < replay->solver_count; s++) {
        const ss_answer *answer = frame->answers[s].stored ? frame->answers[s].result.answer : NULL;
        for (int r = 0; answer && answer->subcontacts == sub->count && r < sub->count; r++)
            promoted[r] |= sub->role[r] == SS_ROW_TEST && answer->sub_normal_impulse[r] != 0.0;
    }

    int *origin = ss_allocate((size_t)frame->contacts + (size_t)sub->count, sizeof *origin);
    ss_frame *plain = origin && promoted ? ss_frame_select(frame->frame, NULL, promoted, origin, err) : NULL;
    bool good = (plain && number_alternatives(frame, plain, origin)) ||
                ss_fail(err, SS_ERROR_RESOURCES, "out of memory for alternatives");
    for (int s = 0; good && s < replay->solver_count; s++)
        if (frame->answers[s].stored && frame->answers[s].result.answer)
            good = spread_answer(frame->frame, plain, origin, &frame->answers[s], err);
    ss_release(origin);
    ss_release(promoted);
    if (!good) {
        ss_frame_destroy(plain);
        return false;
    }
    ss_frame_destroy(frame->frame);
    frame->frame = plain;
    frame->contacts = plain->contacts.count;
    return true;
}

bool ss_replay_frame_read(const ss_replay *replay, int index, bool states, ss_replay_frame *frame,
                          ss_findings *findings, ss_error *err)
{
    char place[256];
    *frame = (ss_replay_frame){0};
    ss_bpmd_frame_path(replay->file, index, place, sizeof place);
    frame->frame = ss_read_checked_frame(replay->file, index, place, NULL, err);
    bool good = frame->frame != NULL;
    if (good) {
        // Scenery that cannot be read is reported, and the frame is shown without it.
        ss_error trouble;
        frame->contacts = replay->options.no_contacts ? 0 : frame->frame->contacts.count;
        if (!ss_bpmd_scenery(replay->file, index, &frame->scenery, &trouble))
            ss_findings_add(findings, SS_FINDING_WARNING, place, "%s", trouble.message);
        frame->joints = ss_allocate(ss_replay_most_joints(frame->frame), sizeof *frame->joints);
        good = frame->joints || frame->frame->constraints.count == 0 ||
               ss_fail(err, SS_ERROR_RESOURCES, "out of memory for joints");
        if (good) frame->joint_count = ss_replay_find_joints(frame->frame, frame->joints);
        good = good && read_answers(replay, index, place, states, frame, findings, err) &&
               show_alternatives(replay, frame, err);
    }
    if (!good) ss_replay_frame_free(frame);
    return good;
}

void ss_replay_frame_free(ss_replay_frame *frame)
{
    for (int s = 0; s < SS_REPLAY_MOST_RESULTS; s++) {
        ss_replay_answer *answer = &frame->answers[s];
        if (answer->stored) ss_stored_result_free(&answer->result);
        ss_release(answer->values);
        ss_release(answer->reports);
        ss_release(answer->other);
    }
    ss_release(frame->alternative);
    ss_scenery_free(&frame->scenery);
    ss_release(frame->joints);
    ss_frame_destroy(frame->frame);
    *frame = (ss_replay_frame){0};
}

void ss_replay_frame_info(const ss_replay_frame *frame, int index, ss_replay_view *shown)
{
    *shown = (ss_replay_view){.index = index,
                              .time = frame->frame->time,
                              .h = frame->frame->h,
                              .bodies = frame->frame->bodies.count,
                              .scenery = frame->scenery.count,
                              .joints = frame->joint_count,
                              .contacts = frame->contacts,
                              .alternatives = frame->alternative != NULL};
}

/* ---- series ----------------------------------------------------------------------------------------- */

void ss_replay_frame_measure(ss_replay *replay, const ss_replay_frame *shown, int at)
{
    // What bodies do.
    const ss_frame *frame = shown->frame;
    const double *gravity = replay->manifest.gravity;
    ss_frame_summary summary = ss_frame_summarise(frame);
    double potential = 0.0, sum = 0.0, largest = 0.0;
    for (int b = 0; b < frame->bodies.count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        double speed = ss_vec3_norm(ss_vec3_load(frame->bodies.velocity[b]));
        ss_vec3 position = ss_vec3_load(frame->bodies.position[b]);
        potential -= frame->bodies.mass[b] * ss_vec3_dot(ss_vec3_load(gravity), position);
        sum += speed;
        largest = fmax(largest, speed);
    }

    ss_replay_series_list *list = &replay->series;
    ss_replay_series_set(list, "kinetic energy", "J", at, summary.kinetic_energy);
    if (isfinite(gravity[0]) && isfinite(gravity[1]) && isfinite(gravity[2]))
        ss_replay_series_set(list, "potential energy", "J", at, potential);
    ss_replay_series_set(list, "contacts", "1", at, frame->contacts.count);
    ss_replay_series_set(list, "deepest overlap", "m", at, summary.max_penetration);
    ss_replay_series_set(list, "mean speed", "m/s", at, summary.bodies ? sum / summary.bodies : 0.0);
    ss_replay_series_set(list, "largest speed", "m/s", at, largest);

    // What solvers say, in measures that are stored, or else as judged.
    replay->has_alternatives |= shown->alternative != NULL;
    for (int s = 0; s < replay->solver_count; s++) {
        const ss_replay_answer *answer = &shown->answers[s];
        const ss_stored_result *result = &answer->result;
        list = &replay->solvers[s].series;
        if (replay->solvers[s].answers && shown->contacts > 0 && !answer->complete)
            replay->has_unknown = true;
        if (!answer->stored) continue;
        for (int m = 0; m < result->measure_count; m++) {
            const ss_measure *measure = &result->measures[m];
            int known = ss_metric_index(measure->name);
            if (measure->count != 1) continue;
            ss_replay_series_set(list, measure->name, known < 0 ? "" : ss_metric_at(known)->unit, at,
                                 measure->values[0]);
        }
        for (int i = 0; result->measure_count == 0 && answer->judged && i < ss_metric_count(); i++)
            if (answer->values[i].applies)
                ss_replay_series_set(list, ss_metric_at(i)->name, ss_metric_at(i)->unit, at,
                                     answer->values[i].value);
        if (result->iterations >= 0) ss_replay_series_set(list, "iterations", "1", at, result->iterations);
        if (!isnan(result->seconds)) ss_replay_series_set(list, "seconds", "s", at, result->seconds);
        if (!isnan(result->error)) ss_replay_series_set(list, "error", "", at, result->error);
    }
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

/* Numbers of a body: id, position, quaternion, mass, velocity; of scenery: pose; of a joint; of a contact;
 * of its answer. */
enum { BODY_BYTES = 4 + 12 + 8 + 4 + 24, SCENERY_BYTES = 12 + 8, JOINT_BYTES = 8 + 12 + 12 + 8 };
enum { CONTACT_BYTES = 8 + 12 + 12 + 4 + 4 };
enum { ALTERNATIVE_BYTES = 2 + 2, ANSWER_BYTES = 4 + 12 + 12 + 4, JOINT_ANSWER_BYTES = 12 };

static size_t padded(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

size_t ss_replay_frame_size(const ss_replay *replay, const ss_replay_view *shown)
{
    size_t answers = 0, contacts = (size_t)shown->contacts;
    for (int s = 0; s < replay->solver_count; s++) answers += replay->solvers[s].answers;
    return (size_t)shown->bodies * BODY_BYTES + (size_t)shown->scenery * SCENERY_BYTES +
           (size_t)shown->joints * JOINT_BYTES +
           contacts * (CONTACT_BYTES + (shown->alternatives ? ALTERNATIVE_BYTES : 0)) +
           answers *
               (contacts * ANSWER_BYTES + padded(contacts) + (size_t)shown->joints * JOINT_ANSWER_BYTES);
}

typedef struct writer {
    unsigned char *to;
    bool trim; /* takes floats down to 16 bits of mantissa, so that they deflate */
} writer;

static void put_int(writer *w, int32_t value)
{
    uint32_t bits = (uint32_t)value;
    for (int i = 0; i < 4; i++) *w->to++ = (unsigned char)(bits >> 8 * i);
}

static void put_short(writer *w, int16_t value)
{
    uint16_t bits = (uint16_t)value;
    *w->to++ = (unsigned char)bits;
    *w->to++ = (unsigned char)(bits >> 8);
}

/* Finite numbers stay finite, whatever their size; NaN becomes 0. Trimmed to the nearest one whose
 * last byte is zero. */
static void put_float(writer *w, double value, bool trim)
{
    static const double most = 3.4e38;
    float single = isnan(value) ? 0.0F : (float)(isinf(value) ? value : fmax(-most, fmin(most, value)));
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (trim) bits = (bits + 0x80) & ~(uint32_t)0xff;
    put_int(w, (int32_t)bits);
}

static void put_floats(writer *w, const double *values, size_t count, bool trim)
{
    for (size_t i = 0; i < count; i++) put_float(w, values[i], trim);
}

static void put_quaternions(writer *w, const double (*q)[4], int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) put_short(w, (int16_t)lrint(fmax(-1.0, fmin(1.0, q[i][k])) * 32767.0));
}

static void put_zeros(writer *w, size_t count)
{
    memset(w->to, 0, 4 * count);
    w->to += 4 * count;
}

void ss_replay_frame_encode(const ss_replay *replay, const ss_replay_frame *frame, unsigned char *to)
{
    writer *w = &(writer){to, replay->options.megabytes > 0.0};
    const ss_bodies *bodies = &frame->frame->bodies;
    const ss_contacts *contacts = &frame->frame->contacts;
    const ss_constraints *rows = &frame->frame->constraints;
    size_t count = (size_t)bodies->count;
    for (size_t b = 0; b < count; b++) put_int(w, bodies->id[b]);
    if (count > 0) {
        put_floats(w, bodies->position[0], 3 * count, false);
        put_quaternions(w, (const double(*)[4])bodies->quaternion, bodies->count);
        put_floats(w, bodies->mass, count, false);
        put_floats(w, bodies->velocity[0], 6 * count, w->trim);
    }
    if (frame->scenery.count > 0) {
        put_floats(w, frame->scenery.position[0], 3 * (size_t)frame->scenery.count, false);
        put_quaternions(w, (const double(*)[4])frame->scenery.quaternion, frame->scenery.count);
    }

    for (int j = 0; j < frame->joint_count; j++) {
        put_int(w, frame->joints[j].pair[0]);
        put_int(w, frame->joints[j].pair[1]);
    }
    for (int j = 0; j < frame->joint_count; j++) put_floats(w, frame->joints[j].point, 3, false);
    for (int j = 0; j < frame->joint_count; j++) put_floats(w, frame->joints[j].axis, 3, w->trim);
    for (int j = 0; j < frame->joint_count; j++) put_floats(w, frame->joints[j].error, 2, w->trim);

    count = (size_t)frame->contacts;
    for (size_t c = 0; c < count; c++) {
        put_int(w, contacts->pair[c][0]);
        put_int(w, contacts->pair[c][1]);
    }
    if (count > 0) {
        put_floats(w, contacts->point[0], 3 * count, w->trim);
        put_floats(w, contacts->normal[0], 3 * count, w->trim);
        put_floats(w, contacts->gap, count, false);
    }
    for (size_t c = 0; c < count; c++) put_float(w, fmax(contacts->mu[c][0], contacts->mu[c][1]), w->trim);
    for (size_t c = 0; frame->alternative && c < count; c++) {
        put_short(w, frame->alternative[c][0]);
        put_short(w, frame->alternative[c][1]);
    }

    // Of each solver impulses, sliding velocities, energies and states of contacts; zeros where they are
    // unknown.
    for (int s = 0; s < replay->solver_count; s++) {
        if (!replay->solvers[s].answers) continue;
        const ss_replay_answer *answer = &frame->answers[s];
        const ss_answer *impulses = answer->stored ? answer->result.answer : NULL;
        if (count > 0 && impulses) {
            put_floats(w, impulses->normal_impulse, count, w->trim);
            put_floats(w, impulses->friction_impulse[0], 3 * count, w->trim);
        } else {
            put_zeros(w, 4 * count);
        }
        if (answer->judged) {
            for (size_t c = 0; c < count; c++) put_floats(w, answer->reports[c].sliding, 3, w->trim);
            for (size_t c = 0; c < count; c++) put_float(w, answer->reports[c].energy, w->trim);
        } else {
            put_zeros(w, 4 * count);
        }
        for (size_t c = 0; c < count; c++)
            *w->to++ = answer->other && answer->other[c] ? SS_REPLAY_STATE_OTHER
                       : answer->judged                  ? (unsigned char)answer->reports[c].status
                                                         : SS_REPLAY_STATE_UNKNOWN;
        for (size_t c = count; c < padded(count); c++) *w->to++ = 0;

        // The impulse of each joint on its second body, or against its first one where that is the world.
        for (int j = 0; j < frame->joint_count; j++) {
            const ss_replay_joint *joint = &frame->joints[j];
            int side = joint->pair[1] >= 0 ? 1 : 0;
            double sum[3] = {0.0, 0.0, 0.0};
            for (int i = joint->first; impulses && i < joint->first + joint->rows && i < impulses->rows; i++)
                for (int k = 0; k < 3; k++)
                    sum[k] +=
                        (side ? 1.0 : -1.0) * impulses->row_impulse[i] * rows->jacobian[i][6 * side + k];
            put_floats(w, sum, 3, w->trim);
        }
    }
}
