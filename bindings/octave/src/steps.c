/* Simulation of a world: start, steps, looking at it, recording. */
#include "worlds.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- start -------------------------------------------------------------------------------------------- */

enum { OPTIONS_MOST = 64 };

static bool assign(ss_sim_options *options, const char *text, ss_error *err)
{
    char name[64];
    const char *equals = strchr(text, '=');
    if (!equals || equals - text >= (int)sizeof name)
        return ss_fail(err, SS_ERROR_USAGE, "option '%.60s': expected name=value", text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    if (ss_options_find(ss_collision_option_table, name))
        return ss_options_set(ss_collision_option_table, &options->collision, name, equals + 1, err);
    return ss_options_set(ss_sim_option_table, options, name, equals + 1, err);
}

/* m-functions run in the thread of Octave, and see a step as a whole, not island by island. */
static void suit_functions(const tb_world *w, ss_sim_options *options)
{
    if (!w->solve && !w->dynamics) return;
    options->threads = 1;
    options->islands = false;
    options->finisher = "none";
}

bool tb_do_world_options(const tb_call *call, ss_error *err)
{
    (void)err;
    call->output[0] = tb_options(ss_sim_option_table);
    if (call->outputs > 1) call->output[1] = tb_options(ss_collision_option_table);
    return true;
}

bool tb_do_world_start(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    const mxArray *given = call->input[1];
    if (!w) return false;
    if (w->sim) return ss_fail(err, SS_ERROR_USAGE, "the simulation of this world has begun already");
    if (!mxIsCell(given) || tb_count(given) > OPTIONS_MOST)
        return ss_fail(err, SS_ERROR_USAGE, "expected up to %d options as cells of texts", OPTIONS_MOST);

    // Defaults, then those of the scene, then the user's. The texts must live until the simulation is made.
    ss_sim_options options;
    char *texts[OPTIONS_MOST] = {0};
    bool good = true;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    if (w->scene) options.h = w->scene->h;
    if (w->scene && w->scene->options) w->scene->options(w->parameters, &options);
    for (size_t i = 0; good && i < tb_count(given); i++) {
        texts[i] = tb_get_text(mxGetCell(given, (mwIndex)i), "option", err);
        good = texts[i] && assign(&options, texts[i], err);
    }
    suit_functions(w, &options);
    snprintf(w->solver, sizeof w->solver, "%s", w->solve ? "m-function" : options.solver);
    good = good && (w->sim = ss_sim_create(w->world, &options, err)) &&
           (!w->scene || !w->scene->begin || w->scene->begin(w->parameters, w->sim, &w->state, err)) &&
           tb_hooks_connect(w, err);
    if (!good) {
        ss_sim_destroy(w->sim);
        w->sim = NULL;
    }
    for (int i = 0; i < OPTIONS_MOST; i++) mxFree(texts[i]);
    return good;
}

static tb_world *running(const mxArray *handle, ss_error *err)
{
    tb_world *w = tb_get_world(handle, err);
    if (!w || w->sim) return w;
    ss_fail(err, SS_ERROR_USAGE, "the simulation of this world has not begun");
    return NULL;
}

/* ---- recording ---------------------------------------------------------------------------------------- */

static bool begin_record(tb_world *w, const char *path, const char *settings, ss_error *err)
{
    char toolkit[80];
    const double *g = ss_world_gravity(w->world);
    snprintf(toolkit, sizeof toolkit, "stickslip %s (Octave toolbox)", ss_version());
    ss_manifest manifest = {.toolkit = toolkit,
                            .keywords = w->scene ? (char *)(uintptr_t)w->scene->name : NULL,
                            .gravity = {g[0], g[1], g[2]}};
    w->writer = ss_writer_open(path, SS_LAYOUT_CANONICAL, false, err);
    if (w->writer && ss_writer_configure_text(w->writer, settings, err) &&
        ss_writer_simulation(w->writer, &manifest, err) && ss_writer_world(w->writer, w->world, err))
        return true;
    ss_writer_discard(w->writer);
    w->writer = NULL;
    return false;
}

bool tb_do_world_record(const tb_call *call, ss_error *err)
{
    tb_world *w = running(call->input[0], err);
    if (!w) return false;
    if (call->inputs == 1) {
        ss_writer *writer = w->writer;
        w->writer = NULL;
        return !writer || ss_writer_close(writer, err);
    }
    if (w->writer) return ss_fail(err, SS_ERROR_USAGE, "a recording is under way already");
    w->every = 1;
    if (call->inputs > 2 && !tb_get_int(call->input[2], "every", 1, INT_MAX, &w->every, err)) return false;
    char *path = tb_get_text(call->input[1], "path", err), *settings = NULL;
    bool good = path != NULL;
    if (good && call->inputs > 3) good = (settings = tb_get_text(call->input[3], "settings", err)) != NULL;
    good = good && begin_record(w, path, settings ? settings : "", err);
    mxFree(path);
    mxFree(settings);
    return good;
}

static bool judge(const tb_world *w, ss_metric_value **metrics, ss_contact_report **contacts, ss_error *err)
{
    const ss_frame *frame = ss_sim_frame(w->sim);
    *metrics = ss_allocate((size_t)ss_metric_count(), sizeof **metrics);
    *contacts = ss_allocate((size_t)frame->contacts.count, sizeof **contacts);
    if (!*metrics || !*contacts) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for metrics");
    ss_case what = {.assembly = ss_sim_assembly(w->sim),
                    .frame = ss_sim_frame(w->sim),
                    .answer = ss_sim_answer(w->sim),
                    .skip_exact = true};
    return ss_judge(&what, *metrics, *contacts, err);
}

/* The frame and, where impulses are known, the answer with its metrics. */
static bool record(tb_world *w, ss_error *err)
{
    const ss_frame *frame = ss_sim_frame(w->sim);
    if (!w->writer || (ss_sim_steps(w->sim) - 1) % w->every != 0) return true;
    if (!ss_writer_frame(w->writer, frame, err) || !ss_writer_scenery(w->writer, ss_sim_scenery(w->sim), err))
        return false;
    if (w->dynamics) return ss_writer_end_frame(w->writer, err);
    ss_sim_report report = ss_sim_last(w->sim);
    ss_metric_value *metrics;
    ss_contact_report *contacts;
    ss_stored_result result = {.solver = w->solver,
                               .answer = (ss_answer *)(uintptr_t)ss_sim_answer(w->sim),
                               .iterations = report.iterations,
                               .error = report.relative_energy,
                               .seconds = report.solve};
    bool good =
        judge(w, &metrics, &contacts, err) &&
        ss_writer_judged_result(w->writer, &result, ss_sim_assembly(w->sim), metrics, contacts, err) &&
        ss_writer_end_frame(w->writer, err);
    ss_release(metrics);
    ss_release(contacts);
    return good;
}

/* ---- steps -------------------------------------------------------------------------------------------- */

static mxArray *show_report(const tb_world *w, int done)
{
    ss_sim_report r = ss_sim_last(w->sim);
    mxArray *s = tb_struct();
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"done", done},
                   {"time", ss_sim_time(w->sim)},
                   {"steps", (double)ss_sim_steps(w->sim)},
                   {"contacts", r.contacts},
                   {"rows", r.rows},
                   {"islands", r.islands},
                   {"touching", r.touching},
                   {"iterations", r.iterations},
                   {"finished", r.finished},
                   {"relative_energy", w->dynamics ? NAN : r.relative_energy},
                   {"energy_error", w->dynamics ? NAN : r.energy_error},
                   {"penetration", r.penetration},
                   {"worst_contact", r.worst_contact + 1},
                   {"joint_error", r.joint_error},
                   {"kinetic", r.kinetic},
                   {"potential", r.potential},
                   {"seconds", r.seconds},
                   {"solve_seconds", r.solve}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tb_set(s, numbers[i].name, tb_number(numbers[i].value));
    tb_set(s, "status", tb_text(ss_status_name(r.status)));
    return s;
}

/* What a run of many steps leaves behind, one column per step. */
typedef struct history {
    double *poses, *joint_error, *joint_speed_error, *contacts, *error;
} history;

static bool make_history(const tb_world *w, int steps, history *h, ss_error *err)
{
    size_t n = (size_t)steps, bodies = (size_t)ss_world_body_count(w->world),
           joints = (size_t)ss_world_joint_count(w->world);
    h->poses = ss_allocate(7 * bodies * n, sizeof(double));
    h->joint_error = ss_allocate(joints * n, sizeof(double));
    h->joint_speed_error = ss_allocate(joints * n, sizeof(double));
    h->contacts = ss_allocate(n, sizeof(double));
    h->error = ss_allocate(n, sizeof(double));
    return (h->poses && h->joint_error && h->joint_speed_error && h->contacts && h->error) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the history of %d steps", steps);
}

static void note(const tb_world *w, history *h, int step)
{
    int bodies = ss_world_body_count(w->world), joints = ss_world_joint_count(w->world);
    for (int b = 0; b < bodies; b++) {
        const ss_body *body = ss_world_body(w->world, b);
        double *to = h->poses + 7 * ((size_t)step * (size_t)bodies + (size_t)b);
        memcpy(to, body->position, sizeof body->position);
        memcpy(to + 3, body->quaternion, sizeof body->quaternion);
    }
    for (int j = 0; j < joints; j++) {
        size_t at = (size_t)step * (size_t)joints + (size_t)j;
        h->joint_error[at] = ss_joint_error(w->world, j);
        h->joint_speed_error[at] = ss_joint_speed_error(w->world, j);
    }
    h->contacts[step] = ss_sim_frame(w->sim)->contacts.count;
    h->error[step] = w->dynamics ? NAN : ss_sim_last(w->sim).relative_energy;
}

static mxArray *show_history(const tb_world *w, const history *h, int steps)
{
    int bodies = ss_world_body_count(w->world), joints = ss_world_joint_count(w->world);
    mxArray *s = tb_struct();
    tb_set(s, "poses", tb_real(7 * bodies, steps, h->poses));
    tb_set(s, "joint_error", tb_real(joints, steps, h->joint_error));
    tb_set(s, "joint_speed_error", tb_real(joints, steps, h->joint_speed_error));
    tb_set(s, "contacts", tb_real(1, steps, h->contacts));
    tb_set(s, "error", tb_real(1, steps, h->error));
    return s;
}

static void free_history(history *h)
{
    ss_release(h->poses);
    ss_release(h->joint_error);
    ss_release(h->joint_speed_error);
    ss_release(h->contacts);
    ss_release(h->error);
}

/* Thrown again, now that nothing of ours is on the stack. */
static bool throw_again(tb_world *w, ss_error *err)
{
    mxArray *trouble = w->trouble;
    w->trouble = NULL;
    mexCallMATLAB(0, NULL, 1, &trouble, "rethrow");
    return ss_fail(err, SS_ERROR_USAGE, "an m-function failed");
}

/* Up to `steps` steps, at least one, for about a fifth of a second: report.done says how many. So Octave can
 * be interrupted between two calls. */
bool tb_do_world_step(const tb_call *call, ss_error *err)
{
    static const double enough = 0.2; // s
    tb_world *w = running(call->input[0], err);
    int steps, done = 0;
    history h = {0};
    if (!w || !tb_get_int(call->input[1], "steps", 1, INT_MAX, &steps, err)) return false;
    if (w->stepping) return ss_fail(err, SS_ERROR_USAGE, "a world cannot step from inside its own step");
    bool wants_history = call->outputs > 1, good = !wants_history || make_history(w, steps, &h, err);

    double start = ss_clock_seconds();
    w->stepping = true;
    while (good && done < steps && (done == 0 || ss_clock_seconds() - start < enough)) {
        good = ss_sim_step(w->sim, err) && record(w, err);
        if (good && wants_history) note(w, &h, done);
        done += good;
    }
    w->stepping = false;
    if (good) call->output[0] = show_report(w, done);
    if (good && wants_history) call->output[1] = show_history(w, &h, done);
    free_history(&h);
    return good || (w->trouble && throw_again(w, err));
}

bool tb_do_world_prepare(const tb_call *call, ss_error *err)
{
    tb_world *w = running(call->input[0], err);
    if (!w) return false;
    if (w->stepping) return ss_fail(err, SS_ERROR_USAGE, "a world cannot step from inside its own step");
    w->stepping = true;
    bool good = ss_sim_prepare(w->sim, err) && !w->trouble;
    w->stepping = false;
    if (good) call->output[0] = show_report(w, 0);
    return good || (w->trouble && throw_again(w, err));
}

/* ---- looking at it ------------------------------------------------------------------------------------ */

bool tb_do_world_detect(const tb_call *call, ss_error *err)
{
    tb_world *w = running(call->input[0], err);
    const ss_frame *frame = w ? ss_sim_frame(w->sim) : NULL;
    ss_contact_list list = {0};
    if (!w || !ss_collision_find(ss_sim_collision(w->sim), frame ? frame->h : 0.0, NULL, &list, err))
        return false;
    call->output[0] = tb_contact_list(&list, NULL);
    return true;
}

typedef struct state_field {
    const char *name;
    size_t offset;
    int rows;
} state_field;
static const state_field state_fields[] = {
    {"positions", offsetof(ss_body, position), 3},  {"quaternions", offsetof(ss_body, quaternion), 4},
    {"velocities", offsetof(ss_body, velocity), 6}, {"forces", offsetof(ss_body, force), 6},
    {"masses", offsetof(ss_body, mass), 1},         {"inertias", offsetof(ss_body, inertia), 9},
    {"centres", offsetof(ss_body, centre), 3}};
enum { STATE_FIELDS = sizeof state_fields / sizeof *state_fields, SETTABLE = 4 };

bool tb_do_world_state(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    if (!w) return false;
    int bodies = ss_world_body_count(w->world);
    mxArray *s = tb_struct();
    tb_set(s, "time", tb_number(w->sim ? ss_sim_time(w->sim) : 0.0));
    for (int f = 0; f < STATE_FIELDS; f++) {
        const state_field *field = &state_fields[f];
        mxArray *matrix = tb_real(field->rows, bodies, NULL);
        double *to = mxGetData(matrix);
        for (int b = 0; b < bodies; b++)
            memcpy(to + b * field->rows, (const char *)ss_world_body(w->world, b) + field->offset,
                   (size_t)field->rows * sizeof *to);
        tb_set(s, field->name, matrix);
    }
    call->output[0] = s;
    return true;
}

static bool set_field(tb_world *w, const mxArray *name_of, const mxArray *given, ss_error *err)
{
    char *name = tb_get_text(name_of, "field", err);
    if (!name) return false;
    int f = 0, bodies = ss_world_body_count(w->world);
    while (f < SETTABLE && strcmp(name, state_fields[f].name) != 0) f++;
    if (f == SETTABLE)
        ss_fail(err, SS_ERROR_USAGE,
                "cannot set '%.60s'; positions, quaternions, velocities and forces can be", name);
    mxFree(name);
    if (f == SETTABLE) return false;

    const state_field *field = &state_fields[f];
    size_t count = (size_t)field->rows * (size_t)bodies;
    double *values = ss_allocate(count, sizeof *values);
    bool good = (values || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", bodies)) &&
                tb_copy(given, count, values, field->name, err);
    for (size_t i = 0; good && i < count; i++) {
        if (!isfinite(values[i]))
            good = ss_fail(err, SS_ERROR_USAGE, "%s: body %zu: not a finite number", field->name,
                           i / (size_t)field->rows + 1);
    }
    for (int b = 0; good && b < bodies; b++)
        memcpy((char *)ss_world_body(w->world, b) + field->offset, values + b * field->rows,
               (size_t)field->rows * sizeof *values);
    ss_release(values);
    return good;
}

bool tb_do_world_set(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    for (int i = 1; w && i + 1 < call->inputs; i += 2) {
        if (!set_field(w, call->input[i], call->input[i + 1], err)) return false;
    }
    return w && (call->inputs % 2 == 1 || ss_fail(err, SS_ERROR_USAGE, "expected names and values in pairs"));
}

bool tb_do_world_joints(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    if (!w) return false;
    int joints = ss_world_joint_count(w->world);
    mxArray *s = tb_struct(), *error = tb_real(1, joints, NULL), *speed_error = tb_real(1, joints, NULL),
            *coordinates = tb_real(2, joints, NULL), *rates = tb_real(2, joints, NULL);
    double *e = mxGetData(error), *d = mxGetData(speed_error), *q = mxGetData(coordinates),
           *v = mxGetData(rates);
    for (int j = 0; j < joints; j++) {
        e[j] = ss_joint_error(w->world, j);
        d[j] = ss_joint_speed_error(w->world, j);
        for (int k = 0; k < 2; k++) {
            q[2 * j + k] = v[2 * j + k] = NAN;
            ss_joint_coordinate(w->world, j, k, &q[2 * j + k], &v[2 * j + k]);
        }
    }
    tb_set(s, "error", error);
    tb_set(s, "speed_error", speed_error);
    tb_set(s, "coordinates", coordinates);
    tb_set(s, "rates", rates);
    call->output[0] = s;
    return true;
}

/* After a step, or inside one. */
static tb_world *with_frame(const mxArray *handle, ss_error *err)
{
    tb_world *w = running(handle, err);
    if (!w || ss_sim_frame(w->sim)) return w;
    ss_fail(err, SS_ERROR_USAGE, "there was no step yet");
    return NULL;
}

bool tb_do_world_contacts(const tb_call *call, ss_error *err)
{
    tb_world *w = with_frame(call->input[0], err);
    if (!w) return false;
    call->output[0] = tb_contact_list(ss_sim_contacts(w->sim), w->stepping ? NULL : ss_sim_answer(w->sim));
    return true;
}

bool tb_do_world_frame(const tb_call *call, ss_error *err)
{
    tb_world *w = with_frame(call->input[0], err);
    if (!w) return false;
    call->output[0] = tb_frame(ss_sim_frame(w->sim));
    if (call->outputs > 1) call->output[1] = tb_answer(ss_sim_answer(w->sim));
    return true;
}

bool tb_do_world_judge(const tb_call *call, ss_error *err)
{
    tb_world *w = with_frame(call->input[0], err);
    if (!w) return false;
    if (w->stepping) return ss_fail(err, SS_ERROR_USAGE, "a step can be judged when it is over");
    ss_metric_value *metrics;
    ss_contact_report *contacts;
    bool good = judge(w, &metrics, &contacts, err);
    if (good) call->output[0] = tb_metrics(metrics);
    if (good && call->outputs > 1) call->output[1] = tb_metric_details(metrics);
    ss_release(metrics);
    ss_release(contacts);
    return good;
}

bool tb_do_world_figures(const tb_call *call, ss_error *err)
{
    tb_world *w = running(call->input[0], err);
    if (!w) return false;
    ss_scene_result figures[SS_SCENE_FIGURES];
    bool has = w->scene && w->scene->figures;
    int count = has ? w->scene->figures(w->parameters, w->sim, w->state, figures) : 0;
    mxArray *s = tb_struct();
    for (int i = 0; i < count; i++) {
        char name[64];
        tb_field_name(figures[i].name, name);
        tb_set(s, name, tb_number(figures[i].value));
    }
    call->output[0] = s;
    return true;
}
