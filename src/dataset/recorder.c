/* Frames from another program: arrays that grow as bodies, joints and contacts arrive, then
 * check and write. */
#include <stickslip/recorder.h>

#include "dataset/writer.h"
#include "frame/fields.h"
#include "linalg/quat.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct recorded_result {
    char *solver;
    ss_answer answer; /* arrays of ours; NULL where not known */
} recorded_result;

struct ss_recorder {
    ss_writer *writer;
    char *path;
    int begun_count; /* frames begun so far, refused ones included */
    bool inside;     /* between begin and end */
    /* its counts say what was added; its arrays have room for more, and stay for the next frame */
    ss_frame frame;
    int room[SS_PER_COUNT]; /* items that the arrays of a kind have room for */
    bool has_tangents, has_restitution, has_rolling, has_spin;
    ss_scenery scenery;
    int scenery_room;
    recorded_result *results;
    int result_count, result_room;
    char *formulation, *with; /* the rules of the engine; NULL: not said */
    ss_error trouble;         /* the first one since begin; code SS_OK: none */
};

/* Keeps the first trouble. Returns false. */
SS_PRINTF(3, 4)
static bool refuse(ss_recorder *recorder, ss_error_code code, const char *format, ...)
{
    if (recorder->trouble.code != SS_OK) return false;
    char text[sizeof recorder->trouble.message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ss_fail(&recorder->trouble, code, "%s", text);
}

/* ---- growing arrays -------------------------------------------------------------------------------- */

/* All arrays of a kind that a recorder fills; the other optional ones stay NULL. */
static bool grow(ss_recorder *recorder, ss_field_per per, int needed)
{
    ss_frame *frame = &recorder->frame;
    int doubled = recorder->room[per] > INT_MAX / 2 ? INT_MAX : 2 * recorder->room[per];
    int room = needed > doubled ? needed : doubled;
    if (room < 64) room = 64;
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        bool extra = strcmp(field->name, "t_u") == 0 || strcmp(field->name, "restitution") == 0 ||
                     strcmp(field->name, "mu_r") == 0 || strcmp(field->name, "mu_t") == 0 ||
                     strcmp(field->name, "spin_coupling") == 0;
        bool filled = strcmp(field->group, "subcontacts") == 0
                          ? strcmp(field->name, "surface_velocities") != 0
                          : !field->optional || field->per == SS_PER_FURTHER;
        if (field->per != per || (!extra && !filled)) continue;

        size_t item = (size_t)field->width * ss_field_element_size(field);
        void *old = ss_field_data(field, frame), *grown = ss_allocate((size_t)room, item);
        if (!grown) return refuse(recorder, SS_ERROR_RESOURCES, "no memory for %d items per frame", room);
        if (old) memcpy(grown, old, (size_t)ss_field_items(field, frame) * item);
        ss_release(old);
        memcpy((char *)frame + field->offset, &grown, sizeof grown);
    }
    recorder->room[per] = room;
    return true;
}

/* Room for `more` items after the `count` that are there. */
static bool make_room(ss_recorder *recorder, ss_field_per per, int count, int more)
{
    if (!recorder->inside) return refuse(recorder, SS_ERROR_USAGE, "something was added outside of a frame");
    if (recorder->trouble.code != SS_OK) return false;
    if (more > INT_MAX - count) return refuse(recorder, SS_ERROR_RESOURCES, "more than %d items", INT_MAX);
    return count + more <= recorder->room[per] || grow(recorder, per, count + more);
}

/* ---- life ------------------------------------------------------------------------------------------ */

ss_recorder *ss_recorder_open_as(const char *path, const ss_manifest *manifest, ss_layout layout, bool append,
                                 ss_error *err)
{
    ss_recorder *recorder = ss_allocate(1, sizeof *recorder);
    char *path_copy = ss_text_copy(path);
    if (!recorder || !path_copy) {
        ss_release(recorder);
        ss_release(path_copy);
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
        return NULL;
    }
    recorder->path = path_copy;
    recorder->writer = ss_writer_open(path, layout, append, err);
    if (recorder->writer && ss_writer_simulation(recorder->writer, manifest, err) &&
        ss_recorder_survive(recorder, SS_RECORDER_SURVIVES, err))
        return recorder;
    ss_writer_discard(recorder->writer);
    ss_release(path_copy);
    ss_release(recorder);
    return NULL;
}

bool ss_recorder_survive(ss_recorder *recorder, double seconds, ss_error *err)
{
    return ss_writer_survive(recorder->writer, seconds, err);
}

bool ss_recorder_configure(ss_recorder *recorder, const char *settings, ss_error *err)
{
    return ss_writer_configure_text(recorder->writer, settings, err);
}

bool ss_recorder_configure_by(ss_recorder *recorder, const ss_recording_options *options, ss_error *err)
{
    return ss_writer_configure(recorder->writer, options, err);
}

bool ss_recorder_trip(ss_recorder *recorder, const char *reason, ss_error *err)
{
    return ss_writer_trip(recorder->writer, reason, err);
}

int ss_recorder_trips(const ss_recorder *recorder)
{
    return ss_writer_trips(recorder->writer);
}

ss_recorder *ss_recorder_open(const char *path, const char *toolkit, ss_error *err)
{
    ss_manifest manifest = {.gravity = {NAN, NAN, NAN}};
    manifest.toolkit = ss_text_copy(toolkit);
    if (toolkit && !manifest.toolkit) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
        return NULL;
    }
    ss_recorder *recorder = ss_recorder_open_as(path, &manifest, SS_LAYOUT_CANONICAL, false, err);
    ss_manifest_free(&manifest);
    return recorder;
}

static void forget_results(ss_recorder *recorder)
{
    for (int r = 0; r < recorder->result_count; r++) {
        ss_answer *answer = &recorder->results[r].answer;
        ss_release(recorder->results[r].solver);
        ss_release(answer->velocity);
        ss_release(answer->row_impulse);
        ss_release(answer->normal_impulse);
        ss_release(answer->friction_impulse);
        ss_release(answer->selection);
        ss_release(answer->sub_normal_impulse);
        ss_release(answer->sub_friction_impulse);
    }
    recorder->result_count = 0;
}

static void forget(ss_recorder *recorder)
{
    forget_results(recorder);
    ss_release(recorder->results);
    ss_scenery_free(&recorder->scenery);
    for (int f = 0; f < ss_field_count; f++) ss_release(ss_field_data(&ss_fields[f], &recorder->frame));
    ss_release(recorder->path);
    ss_release(recorder->formulation);
    ss_release(recorder->with);
    ss_release(recorder);
}

bool ss_recorder_close(ss_recorder *recorder, ss_error *err)
{
    if (!recorder) return true;
    bool ok = ss_writer_close(recorder->writer, err);
    forget(recorder);
    return ok;
}

void ss_recorder_discard(ss_recorder *recorder)
{
    if (!recorder) return;
    ss_writer_discard(recorder->writer);
    forget(recorder);
}

void ss_recorder_begin(ss_recorder *recorder, double time, double h)
{
    bool twice = recorder->inside;
    ss_frame *frame = &recorder->frame;
    frame->time = time;
    frame->h = h;
    frame->bodies.count = frame->contacts.count = 0;
    frame->constraints.count = frame->constraints.row_count = frame->constraints.further_count = 0;
    frame->subcontacts.groups = frame->subcontacts.count = 0;
    recorder->has_tangents = recorder->has_restitution = recorder->has_rolling = recorder->has_spin = false;
    recorder->scenery.count = 0;
    forget_results(recorder);
    recorder->begun_count++;
    recorder->inside = true;
    if (twice) refuse(recorder, SS_ERROR_USAGE, "begun before the previous frame was ended");
}

/* ---- bodies ---------------------------------------------------------------------------------------- */

int ss_recorder_body(ss_recorder *recorder, double mass, const double position[3], const double quaternion[4],
                     const double inertia[9], const double velocity[6], const double force[6])
{
    ss_bodies *bodies = &recorder->frame.bodies;
    int b = bodies->count;
    if (!make_room(recorder, SS_PER_BODY, b, 1)) return b;
    if (!position || !quaternion || !inertia || !velocity || !force) {
        refuse(recorder, SS_ERROR_USAGE, "body %d: an array is NULL", b);
        return b;
    }
    bodies->mass[b] = mass;
    memcpy(bodies->position[b], position, sizeof bodies->position[b]);
    memcpy(bodies->quaternion[b], quaternion, sizeof bodies->quaternion[b]);
    memcpy(bodies->inertia[b], inertia, sizeof bodies->inertia[b]);
    memcpy(bodies->velocity[b], velocity, sizeof bodies->velocity[b]);
    memcpy(bodies->force[b], force, sizeof bodies->force[b]);
    bodies->id[b] = b + 1;
    bodies->state[b] = 1;
    bodies->count++;
    return b;
}

/* R I R'. An unsymmetric tensor stays so, for the check of the frame to find. */
int ss_recorder_body_local(ss_recorder *recorder, double mass, const double position[3],
                           const double quaternion[4], const double inertia[9], const double velocity[6],
                           const double force[6])
{
    double world[9];
    if (quaternion && inertia) {
        ss_mat3 R = ss_quat_to_matrix(ss_quat_load(quaternion)), I = ss_mat3_load(inertia);
        bool symmetric = inertia[1] == inertia[3] && inertia[2] == inertia[6] && inertia[5] == inertia[7];
        ss_mat3 rotated = symmetric ? ss_mat3_rotate_tensor(R, I)
                                    : ss_mat3_multiply(ss_mat3_multiply(R, I), ss_mat3_transpose(R));
        ss_mat3_store(rotated, world);
    }
    return ss_recorder_body(recorder, mass, position, quaternion, quaternion && inertia ? world : NULL,
                            velocity, force);
}

/* ---- joints and contacts --------------------------------------------------------------------------- */

int ss_recorder_joint(ss_recorder *recorder, int a, int b, int rows, const double *jacobian,
                      const double *violation, const double *time_derivative, const double *bounds)
{
    ss_constraints *joints = &recorder->frame.constraints;
    int j = joints->count, first = joints->row_count;
    if (!make_room(recorder, SS_PER_CONSTRAINT, j, 1)) return j;
    if (rows < 1 || !jacobian || !violation) {
        refuse(recorder, SS_ERROR_USAGE, "joint %d: %s", j, rows < 1 ? "it has no row" : "an array is NULL");
        return j;
    }
    if (!make_room(recorder, SS_PER_ROW, first, rows)) return j;
    joints->pair[j][0] = a;
    joints->pair[j][1] = b;
    joints->rows[j] = rows;

    /* Rows that say no more are equations: they do not depend on time and have no bounds. */
    memcpy(joints->jacobian[first], jacobian, (size_t)rows * sizeof joints->jacobian[0]);
    memcpy(&joints->violation[first], violation, (size_t)rows * sizeof(double));
    for (int r = 0; r < rows; r++) {
        joints->time_derivative[first + r] = time_derivative ? time_derivative[r] : 0.0;
        joints->bounds[first + r][0] = bounds ? bounds[2 * r] : -INFINITY;
        joints->bounds[first + r][1] = bounds ? bounds[2 * r + 1] : INFINITY;
    }
    joints->row_count += rows;
    joints->count++;
    return j;
}

void ss_recorder_joint_further(ss_recorder *recorder, int body, const double *jacobian)
{
    ss_constraints *joints = &recorder->frame.constraints;
    int rows = joints->count > 0 ? joints->rows[joints->count - 1] : 0, first = joints->row_count - rows;
    if (!make_room(recorder, SS_PER_FURTHER, joints->further_count, rows)) return;
    if (rows == 0 || !jacobian) {
        refuse(recorder, SS_ERROR_USAGE, "further body %d: %s", body,
               jacobian ? "there is no joint yet" : "an array is NULL");
        return;
    }

    // blocks stand by rising row: those of later rows make room, from the last one down
    int old = joints->further_count;
    joints->further_count += rows;
    for (int r = rows - 1, to = joints->further_count - 1; r >= 0; r--, to--) {
        for (; old > 0 && joints->further_row[old - 1] > first + r; old--, to--) {
            joints->further_row[to] = joints->further_row[old - 1];
            joints->further_body[to] = joints->further_body[old - 1];
            memcpy(joints->further_jacobian[to], joints->further_jacobian[old - 1],
                   sizeof joints->further_jacobian[to]);
        }
        joints->further_row[to] = first + r;
        joints->further_body[to] = body;
        memcpy(joints->further_jacobian[to], jacobian + 6 * r, sizeof joints->further_jacobian[to]);
    }
}

/* What a reader would take for a contact without a tangent of its own. */
static void set_default_tangent(ss_frame *frame, int contact)
{
    ss_frame bare = *frame;
    bare.contacts.tangent = NULL;
    double t_v[3];
    ss_contact_tangents(&bare, contact, frame->contacts.tangent[contact], t_v);
}

int ss_recorder_contact(ss_recorder *recorder, int a, int b, const double point[3], const double normal[3],
                        double gap, double mu)
{
    ss_contacts *contacts = &recorder->frame.contacts;
    int c = contacts->count;
    if (!make_room(recorder, SS_PER_CONTACT, c, 1)) return c;
    if (!point || !normal) {
        refuse(recorder, SS_ERROR_USAGE, "contact %d: an array is NULL", c);
        return c;
    }
    contacts->pair[c][0] = a;
    contacts->pair[c][1] = b;
    memcpy(contacts->point[c], point, sizeof contacts->point[c]);
    memcpy(contacts->normal[c], normal, sizeof contacts->normal[c]);
    contacts->gap[c] = gap;
    contacts->mu[c][0] = contacts->mu[c][1] = mu;
    contacts->restitution[c] = contacts->mu_rolling[c] = contacts->mu_torsion[c] = 0.0;
    contacts->spin_coupling[c] = SS_SPIN_INDEPENDENT;
    recorder->frame.subcontacts.contact_group[c] = -1;
    contacts->count++;
    if (recorder->has_tangents) set_default_tangent(&recorder->frame, c);
    return c;
}

/* Not a number is passed on, so that the check of the frame refuses it. */
static bool is_given(double value)
{
    return !(value < 0);
}

void ss_recorder_contact_extras(ss_recorder *recorder, const double tangent[3], double mu_v,
                                double restitution, double mu_rolling)
{
    ss_contacts *contacts = &recorder->frame.contacts;
    if (recorder->trouble.code != SS_OK) return;
    if (!recorder->inside || contacts->count == 0) {
        refuse(recorder, SS_ERROR_USAGE, "extras without a contact");
        return;
    }

    /* The first tangent of a frame gives one to the contacts before it too. */
    int last = contacts->count - 1;
    if (tangent) {
        for (int c = 0; !recorder->has_tangents && c < contacts->count; c++)
            set_default_tangent(&recorder->frame, c);
        recorder->has_tangents = true;
        memcpy(contacts->tangent[last], tangent, sizeof contacts->tangent[last]);
    }
    if (is_given(mu_v)) contacts->mu[last][1] = mu_v;
    if (is_given(restitution)) contacts->restitution[last] = restitution;
    if (is_given(mu_rolling)) contacts->mu_rolling[last] = mu_rolling;
    recorder->has_restitution |= is_given(restitution);
    recorder->has_rolling |= is_given(mu_rolling);
}

void ss_recorder_contact_spin(ss_recorder *recorder, double mu_torsion, ss_spin_coupling coupling)
{
    ss_contacts *contacts = &recorder->frame.contacts;
    if (recorder->trouble.code != SS_OK) return;
    if (!recorder->inside || contacts->count == 0) {
        refuse(recorder, SS_ERROR_USAGE, "torsional friction without a contact");
        return;
    }
    contacts->mu_torsion[contacts->count - 1] = mu_torsion;
    contacts->spin_coupling[contacts->count - 1] = (uint8_t)coupling;
    recorder->has_spin = true;
}

/* ---- alternatives ----------------------------------------------------------------------------------- */

int ss_recorder_group(ss_recorder *recorder, double cut)
{
    ss_subcontacts *sub = &recorder->frame.subcontacts;
    int g = sub->groups;
    if (!make_room(recorder, SS_PER_GROUP, g, 1)) return g;
    sub->cut[g] = cut;
    sub->groups++;
    return g;
}

static bool is_group(ss_recorder *recorder, int group)
{
    int groups = recorder->frame.subcontacts.groups;
    return (group >= 0 && group < groups) ||
           refuse(recorder, SS_ERROR_USAGE, "group %d: there are %d groups", group, groups);
}

void ss_recorder_contact_group(ss_recorder *recorder, int group)
{
    int contacts = recorder->frame.contacts.count;
    if (recorder->trouble.code != SS_OK) return;
    if (!recorder->inside || contacts == 0)
        refuse(recorder, SS_ERROR_USAGE, "a group without a contact");
    else if (is_group(recorder, group))
        recorder->frame.subcontacts.contact_group[contacts - 1] = group;
}

int ss_recorder_alternative(ss_recorder *recorder, int group, int alternative, ss_row_role role,
                            const double point[3], const double normal[3], double gap)
{
    ss_subcontacts *sub = &recorder->frame.subcontacts;
    int r = sub->count;
    if (!make_room(recorder, SS_PER_SUBCONTACT, r, 1) || !is_group(recorder, group)) return r;
    if (!point || !normal) {
        refuse(recorder, SS_ERROR_USAGE, "point %d of alternatives: an array is NULL", r);
        return r;
    }
    sub->group[r] = group;
    sub->alternative[r] = alternative;
    sub->role[r] = (int32_t)role;
    memcpy(sub->point[r], point, sizeof sub->point[r]);
    memcpy(sub->normal[r], normal, sizeof sub->normal[r]);
    sub->gap[r] = gap;
    sub->count++;
    return r;
}

/* ---- pictures -------------------------------------------------------------------------------------- */

bool ss_recorder_shapes(ss_recorder *recorder, const ss_stored_shape *shapes, int count, ss_error *err)
{
    return ss_writer_shapes(recorder->writer, shapes, count, err);
}

static bool make_scenery_room(ss_recorder *recorder)
{
    ss_scenery *old = &recorder->scenery;
    if (old->count < recorder->scenery_room) return true;
    if (old->count > INT_MAX / 4) return false;
    size_t room = 2 * (size_t)old->count + 4, kept = (size_t)old->count;
    ss_scenery grown = {ss_allocate(room, sizeof *grown.position),
                        ss_allocate(room, sizeof *grown.quaternion), old->count};
    if (!grown.position || !grown.quaternion) {
        ss_scenery_free(&grown);
        return false;
    }
    if (kept) memcpy(grown.position, old->position, kept * sizeof *grown.position);
    if (kept) memcpy(grown.quaternion, old->quaternion, kept * sizeof *grown.quaternion);
    ss_scenery_free(old);
    *old = grown;
    recorder->scenery_room = (int)room;
    return true;
}

int ss_recorder_scenery(ss_recorder *recorder, const double position[3], const double quaternion[4])
{
    ss_scenery *scenery = &recorder->scenery;
    int piece = scenery->count;
    if (!recorder->inside) refuse(recorder, SS_ERROR_USAGE, "something was added outside of a frame");
    if (recorder->trouble.code != SS_OK) return piece;
    bool is_pose = position && quaternion && isfinite(position[0]) && isfinite(position[1]) &&
                   isfinite(position[2]) && fabs(ss_quat_norm(ss_quat_load(quaternion)) - 1.0) <= 1e-6;
    if (!is_pose) {
        refuse(recorder, SS_ERROR_USAGE, "scenery %d: needs a position and a quaternion of length 1", piece);
    } else if (!make_scenery_room(recorder)) {
        refuse(recorder, SS_ERROR_RESOURCES, "no memory for scenery");
    } else {
        memcpy(scenery->position[piece], position, sizeof scenery->position[piece]);
        memcpy(scenery->quaternion[piece], quaternion, sizeof scenery->quaternion[piece]);
        scenery->count++;
    }
    return piece;
}

/* ---- results --------------------------------------------------------------------------------------- */

static bool copy_numbers(const double *from, int items, size_t width, void *to)
{
    if (!from) return true;
    double *copy = ss_allocate((size_t)items * width, sizeof *copy);
    if (copy) memcpy(copy, from, (size_t)items * width * sizeof *copy);
    memcpy(to, &copy, sizeof copy);
    return copy != NULL;
}

void ss_recorder_result(ss_recorder *recorder, const char *solver, const double *velocities,
                        const double *lambda, const double *normal, const double *tangent)
{
    if (recorder->trouble.code != SS_OK) return;
    bool usable = recorder->inside && ss_writer_is_name(solver);
    for (int r = 0; usable && r < recorder->result_count; r++)
        usable = strcmp(recorder->results[r].solver, solver) != 0;
    if (!usable) {
        refuse(recorder, SS_ERROR_USAGE, "a result needs a frame and a solver name that is not used yet");
        return;
    }

    int count = recorder->result_count;
    if (count == recorder->result_room) {
        int room = 2 * count + 1;
        recorded_result *grown = ss_allocate((size_t)room, sizeof *grown);
        if (!grown) {
            refuse(recorder, SS_ERROR_RESOURCES, "no memory for a result");
            return;
        }
        if (recorder->results) memcpy(grown, recorder->results, (size_t)count * sizeof *grown);
        ss_release(recorder->results);
        recorder->results = grown;
        recorder->result_room = room;
    }

    /* Freed with the others, also when incomplete. */
    const ss_frame *frame = &recorder->frame;
    int bodies = frame->bodies.count, rows = frame->constraints.row_count, contacts = frame->contacts.count;
    recorded_result *result = &recorder->results[recorder->result_count++];
    *result = (recorded_result){.solver = ss_text_copy(solver),
                                .answer = {.bodies = bodies, .rows = rows, .contacts = contacts}};
    if (!result->solver || !copy_numbers(velocities, bodies, 6, &result->answer.velocity) ||
        !copy_numbers(lambda, rows, 1, &result->answer.row_impulse) ||
        !copy_numbers(normal, contacts, 1, &result->answer.normal_impulse) ||
        !copy_numbers(tangent, contacts, 3, &result->answer.friction_impulse))
        refuse(recorder, SS_ERROR_RESOURCES, "no memory for a result");
}

void ss_recorder_result_alternatives(ss_recorder *recorder, const int32_t *selection, const double *normal,
                                     const double *tangent)
{
    if (recorder->trouble.code != SS_OK) return;
    const ss_subcontacts *sub = &recorder->frame.subcontacts;
    ss_answer *answer = recorder->result_count ? &recorder->results[recorder->result_count - 1].answer : NULL;
    if (!recorder->inside || !answer || answer->groups > 0 || sub->groups == 0) {
        refuse(recorder, SS_ERROR_USAGE, "alternatives of a result need a result, once, and groups");
        return;
    }
    size_t groups = (size_t)sub->groups;
    answer->groups = sub->groups;
    answer->subcontacts = sub->count;
    answer->selection = ss_allocate(groups, sizeof *answer->selection);
    for (size_t g = 0; answer->selection && g < groups; g++)
        answer->selection[g] = selection ? selection[g] : -1;
    if (!answer->selection || !copy_numbers(normal, sub->count, 1, &answer->sub_normal_impulse) ||
        !copy_numbers(tangent, sub->count, 3, &answer->sub_friction_impulse))
        refuse(recorder, SS_ERROR_RESOURCES, "no memory for a result");
}

bool ss_recorder_rules(ss_recorder *recorder, const char *formulation, const char *with, ss_error *err)
{
    ss_stored_result rules = {.solver = (char *)(uintptr_t) "rules",
                              .formulation = (char *)(uintptr_t)formulation,
                              .with = (char *)(uintptr_t)with};
    ss_step_options step;
    char *copies[2] = {ss_text_copy(formulation), ss_text_copy(with)};
    bool good =
        (copies[0] && (copies[1] || !with)) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for rules");
    if (!good || !ss_stored_result_step(&rules, &step, err)) {
        ss_release(copies[0]);
        ss_release(copies[1]);
        return false;
    }
    ss_release(recorder->formulation);
    ss_release(recorder->with);
    recorder->formulation = copies[0];
    recorder->with = copies[1];
    return true;
}

static bool results_fit(ss_recorder *recorder)
{
    const ss_frame *frame = &recorder->frame;
    for (int r = 0; r < recorder->result_count; r++) {
        const ss_answer *answer = &recorder->results[r].answer;
        if (answer->bodies != frame->bodies.count || answer->rows != frame->constraints.row_count ||
            answer->contacts != frame->contacts.count ||
            (answer->groups > 0 && (answer->groups != frame->subcontacts.groups ||
                                    answer->subcontacts != frame->subcontacts.count)))
            return refuse(recorder, SS_ERROR_USAGE, "something was added after the result of %s",
                          recorder->results[r].solver);
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------------------- */

/* Refuses a faulty frame with its first fault, and says how many more there are. */
static bool check(ss_recorder *recorder, const ss_frame *frame)
{
    ss_findings findings = {.limit = 1};
    bool ok = ss_frame_check(frame, "", &findings);
    if (!ok) {
        size_t more = findings.count_of[SS_FINDING_FAULT] - 1;
        char others[40] = "";
        if (more > 0) snprintf(others, sizeof others, " (and %zu more)", more);
        for (size_t i = 0; i < findings.count; i++)
            if (findings.items[i].kind == SS_FINDING_FAULT)
                refuse(recorder, SS_ERROR_INPUT, "%s: %s%s", findings.items[i].place,
                       findings.items[i].message, others);
        // the first refusal counts
        refuse(recorder, SS_ERROR_RESOURCES, "faulty; out of memory for the details");
    }
    ss_findings_free(&findings);
    return ok;
}

bool ss_recorder_end(ss_recorder *recorder, ss_error *err)
{
    /* The frame as it goes to the file: extras that no contact has are left out. */
    ss_frame view = recorder->frame;
    if (!recorder->has_tangents) view.contacts.tangent = NULL;
    if (!recorder->has_restitution) view.contacts.restitution = NULL;
    if (!recorder->has_rolling) view.contacts.mu_rolling = NULL;
    if (!recorder->has_spin) view.contacts.mu_torsion = NULL, view.contacts.spin_coupling = NULL;
    if (view.subcontacts.groups == 0) view.subcontacts = (ss_subcontacts){0};

    if (!recorder->inside) refuse(recorder, SS_ERROR_USAGE, "ended without a begin");
    bool ok = recorder->trouble.code == SS_OK && results_fit(recorder) && check(recorder, &view);
    ss_error trouble = recorder->trouble;
    recorder->trouble = (ss_error){0};
    recorder->inside = false;

    /* A step that cannot be recorded is what a flight recorder is there for. */
    if (!ok) {
        char reason[200];
        snprintf(reason, sizeof reason, "the next frame was rejected: %.160s", trouble.message);
        if (trouble.code == SS_ERROR_INPUT && !ss_writer_trip(recorder->writer, reason, err)) return false;
        return ss_fail(err, trouble.code, "%s: frame %d: %s", recorder->path, recorder->begun_count,
                       trouble.message);
    }

    /* Frame, scenery and results are one piece of work: nothing is sealed in between. */
    ss_writer_hold(recorder->writer);
    ok = ss_writer_frame(recorder->writer, &view, err) &&
         ss_writer_scenery(recorder->writer, &recorder->scenery, err);
    for (int r = 0; ok && r < recorder->result_count; r++) {
        ss_stored_result result = {.solver = recorder->results[r].solver,
                                   .formulation = recorder->formulation,
                                   .with = recorder->with,
                                   .answer = &recorder->results[r].answer,
                                   .iterations = -1,
                                   .error = NAN,
                                   .seconds = NAN};
        ok = ss_writer_result(recorder->writer, &result, err);
    }
    return ss_writer_let_go(recorder->writer, ok ? err : NULL) && ok;
}
