/* What `stickslip run` leaves behind: recorded frames with answers and metrics, checkpoints, a trace.
 *
 * A checkpoint is written when the recording up to it is safe on disk. A run that died between the two has a
 * recording that is ahead of its checkpoint; since the same steps give the same bits, resuming just does not
 * write those frames a second time. */
#include "cli/run/run.h"

#include "base/file.h"
#include "base/text.h"
#include "cli/sandbox.h"
#include "dataset/writer_hold.h"
#include "report/picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PICTURE_WIDTH = 480, PICTURE_HEIGHT = 320 };

/* ---- frames --------------------------------------------------------------------------------------- */

static void describe(const ss_running *run, ss_text *text)
{
    char options[2000];
    static const ss_option none[] = {{0}};
    const ss_option *table = run->scene->parameters ? run->scene->parameters : none;
    ss_options_print(table, run->parameters, options, sizeof options);
    ss_text_appendf(text, "scene %s: %s. Parameters: %s. ", run->scene->name, run->scene->summary, options);

    ss_sim_options sim = run->sim_options;
    sim.threads = 0; // no bit of the result depends on them
    ss_options_print(ss_sim_option_table, &sim, options, sizeof options);
    ss_text_appendf(text, "Simulation: %s", options);
    ss_options_print(ss_collision_option_table, &sim.collision, options, sizeof options);
    ss_text_appendf(text, ". Contacts: %s", options);
}

static bool open_writer(ss_running *run, bool go_on, ss_error *err)
{
    run->writer = ss_writer_open(run->options->record, SS_LAYOUT_CANONICAL, go_on, err);
    if (!run->writer || !ss_writer_configure(run->writer, &run->options->recording, err)) return false;
    if (go_on) return ss_writer_go_on(run->writer, &run->recorded, err);

    // A new recording begins with what was simulated, in words, shapes and a picture.
    ss_text text = {0};
    char toolkit[80];
    describe(run, &text);
    snprintf(toolkit, sizeof toolkit, "stickslip %s", ss_version());
    ss_picture picture = {0};
    const double *gravity = ss_world_gravity(run->world);
    bool good = !run->options->thumbnail || ss_picture_draw(run->world, &run->scene->camera, PICTURE_WIDTH,
                                                            PICTURE_HEIGHT, &picture, err);
    ss_manifest manifest = {.toolkit = toolkit,
                            .description = (char *)(uintptr_t)ss_text_get(&text),
                            .keywords = (char *)(uintptr_t)run->scene->name,
                            .gravity = {gravity[0], gravity[1], gravity[2]},
                            .image_width = picture.width,
                            .image_height = picture.height,
                            .image = picture.rgb};
    good = good && ss_writer_simulation(run->writer, &manifest, err) &&
           ss_writer_world(run->writer, run->world, err);
    ss_picture_free(&picture);
    ss_text_free(&text);
    return good;
}

static bool write_result(ss_running *run, const ss_frame *frame, ss_error *err)
{
    ss_sim_report report = ss_sim_last(run->sim);
    bool judged = !run->options->no_metrics;
    ss_assembly *assembly = ss_sim_assembly(run->sim);
    ss_metric_value *metrics = ss_allocate((size_t)ss_metric_count(), sizeof *metrics);
    ss_contact_report *contacts = ss_allocate((size_t)frame->contacts.count, sizeof *contacts);
    bool good = (metrics && contacts) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for metrics");

    ss_case what = {
        .assembly = assembly, .frame = frame, .answer = ss_sim_answer(run->sim), .skip_exact = true};
    good = good && (!judged || ss_judge(&what, metrics, contacts, err));

    const char *solver = run->sim_options.fast ? "real-time" : run->sim_options.solver;
    ss_stored_result result = {.solver = (char *)(uintptr_t)solver,
                               .answer = (ss_answer *)(uintptr_t)ss_sim_answer(run->sim),
                               .iterations = report.iterations,
                               .error = report.relative_energy,
                               .seconds = report.solve};
    good = good &&
           ss_writer_judged_result(run->writer, &result, assembly, judged ? metrics : NULL, contacts, err);
    ss_release(metrics);
    ss_release(contacts);
    return good;
}

/* ---- checkpoints ---------------------------------------------------------------------------------- */

/* The run in words: a checkpoint fits only the same scene, parameters and options. */
static void identify(const ss_running *run, ss_text *text)
{
    ss_text_appendf(text, "stickslip checkpoint 1\n");
    describe(run, text);
    ss_text_appendf(text, "\nunits %.17g %.17g %.17g\n", run->options->length_unit, run->options->mass_unit,
                    run->options->time_unit);
}

static bool write_checkpoint(ss_running *run, ss_error *err)
{
    ss_snapshot snapshot = {0};
    ss_text text = {0};
    identify(run, &text);
    ss_text_appendf(&text, "recorded %d\n", run->recorded - run->skip); // up to this step, not ahead of it
    bool good = ss_sim_save(run->sim, &snapshot, err);
    if (good) ss_text_append_bytes(&text, (const char *)snapshot.bytes, snapshot.size);
    if (good && text.out_of_memory) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a checkpoint");
    good = good && ss_file_replace(run->options->checkpoint, ss_text_get(&text), text.length, err);
    ss_snapshot_free(&snapshot);
    ss_text_free(&text);
    return good;
}

static bool read_checkpoint(ss_running *run, ss_error *err)
{
    size_t size;
    unsigned char *bytes = ss_file_read(run->options->checkpoint, SIZE_MAX / 2, &size, err);
    if (!bytes) return false;

    // The words of this run must be its first bytes.
    ss_text text = {0};
    identify(run, &text);
    int recorded = 0, used = 0;
    const char *rest = (const char *)bytes + (size > text.length ? text.length : size);
    bool good = size > text.length && memcmp(bytes, ss_text_get(&text), text.length) == 0 &&
                sscanf(rest, "recorded %d%n", &recorded, &used) == 1 && rest[used] == '\n';

    if (good) {
        rest += used + 1;
        size_t left = size - (size_t)(rest - (const char *)bytes);
        ss_snapshot snapshot = {left, (unsigned char *)(uintptr_t)rest};
        good = ss_sim_restore(run->sim, &snapshot, err) || ss_fail_in(err, "%s", run->options->checkpoint);
        run->recorded = recorded;
    } else {
        bool ours = strncmp((const char *)bytes, "stickslip checkpoint", 20) == 0;
        ss_fail(err, SS_ERROR_INPUT, "%s: %s", run->options->checkpoint,
                ours ? "belongs to another scene, or to other parameters or options" : "is not a checkpoint");
    }
    ss_text_free(&text);
    ss_release(bytes);
    return good;
}

/* First the recording, then the checkpoint that counts on it. */
static bool save(ss_running *run, bool reopen, ss_error *err)
{
    if (run->writer) {
        ss_writer *writer = run->writer;
        run->writer = NULL;
        run->trips = ss_writer_trips(writer);
        if (!ss_writer_close(writer, err)) return false;
    }

    if (run->options->checkpoint && !write_checkpoint(run, err)) return false;
    return !reopen || !run->options->record || open_writer(run, true, err);
}

/* ---- together ------------------------------------------------------------------------------------- */

bool ss_recording_begin(ss_running *run, ss_error *err)
{
    const ss_run_verb_options *options = run->options;

    // One file cannot be two things: the one that is written last would win.
    const char *flag[] = {"--record", "--checkpoint", "--trace", "--picture"};
    const char *path[] = {options->record, options->checkpoint, options->trace, options->picture};
    for (int i = 0; i < 4; i++)
        for (int k = 0; path[i] && k < i; k++)
            if (path[k] && strcmp(path[i], path[k]) == 0)
                return ss_fail(err, SS_ERROR_USAGE, "run: %s and %s are the same file %s", flag[k], flag[i],
                               path[i]);
    if (options->record && run->sim_options.integrator == SS_INTEGRATOR_RUNGE_KUTTA)
        return ss_fail(
            err, SS_ERROR_USAGE,
            "run: --record does not go with integrator=runge-kutta: a step of it is no incremental "
            "problem, and has no frame");
    if (options->recording.ring > 0 && (!options->record || options->checkpoint))
        return ss_fail(err, SS_ERROR_USAGE,
                       "run: --ring needs --record FILE, and does not go with --checkpoint");
    if (options->resume && !options->checkpoint)
        return ss_fail(err, SS_ERROR_USAGE, "run: --resume needs --checkpoint FILE");

    if (options->resume && !read_checkpoint(run, err)) return false;
    run->next_checkpoint = ss_clock_seconds() + options->checkpoint_every;
    int expected = run->recorded;
    if (options->record) {
        if (!open_writer(run, options->resume && expected > 0, err)) return false;
        if (options->resume && run->recorded < expected)
            return ss_fail(err, SS_ERROR_INPUT, "%s: holds %d frames, but the checkpoint expects %d",
                           options->record, run->recorded, expected);
        run->skip = options->resume && expected > 0 ? run->recorded - expected : 0;
    }
    // a first checkpoint at once: a place that cannot be written to is reported now and not after an hour
    if (options->checkpoint && !options->resume && !write_checkpoint(run, err)) return false;

    if (!options->trace) return true;
    run->trace = fopen(options->trace, options->resume ? "a" : "w");
    if (!run->trace)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot write: %s", options->trace, strerror(errno));
    if (options->resume) return true; // the head is there already
    fprintf(
        run->trace,
        "step,time,contacts,touching,rows,islands,iterations,status,relative_energy,energy_error,penetration,"
        "joint_error,kinetic,potential,seconds,broad,narrow,assembly,solve,integration");
    ss_scene_result figures[SS_SCENE_FIGURES];
    int count = ss_running_figures(run, figures);
    for (int i = 0; i < count; i++) fprintf(run->trace, ",%s", figures[i].name);
    fputc('\n', run->trace);
    return true;
}

bool ss_recording_step(ss_running *run, ss_error *err)
{
    const ss_run_verb_options *options = run->options;
    if (run->trace) {
        ss_sim_report r = ss_sim_last(run->sim);
        fprintf(run->trace,
                "%lld,%.17g,%d,%d,%d,%d,%d,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%g,%g,%g,%g,%g,%g",
                (long long)ss_sim_steps(run->sim), ss_sim_time(run->sim), r.contacts, r.touching, r.rows,
                r.islands, r.iterations, ss_status_name(r.status), r.relative_energy, r.energy_error,
                r.penetration, r.joint_error, r.kinetic, r.potential, r.seconds, r.broad, r.narrow,
                r.assembly, r.solve, r.integration);
        ss_scene_result figures[SS_SCENE_FIGURES];
        int count = ss_running_figures(run, figures);
        for (int i = 0; i < count; i++) fprintf(run->trace, ",%.17g", figures[i].value);
        fputc('\n', run->trace);
    }

    // Frames that a resumed recording holds already are not written again.
    const ss_frame *frame = run->writer ? ss_sim_frame(run->sim) : NULL; // made when someone looks
    bool is_due = frame && (ss_sim_steps(run->sim) - 1) % options->every == 0;
    if (is_due && run->skip > 0) {
        run->skip--;
    } else if (is_due) {
        run->recorded++;
        ss_writer_hold(run->writer);
        bool good = ss_writer_frame(run->writer, frame, err) &&
                    ss_writer_scenery(run->writer, ss_sim_scenery(run->sim), err) &&
                    write_result(run, frame, err);
        if (!ss_writer_let_go(run->writer, good ? err : NULL) || !good) return false;
    }

    if (!options->checkpoint || ss_clock_seconds() < run->next_checkpoint) return true;
    run->next_checkpoint = ss_clock_seconds() + options->checkpoint_every;
    return save(run, true, err);
}

bool ss_recording_end(ss_running *run, ss_error *err)
{
    bool good = save(run, false, err);
    if (!run->trace) return good;
    bool written = !ferror((FILE *)run->trace);
    written = fclose(run->trace) == 0 && written;
    run->trace = NULL;
    if (good && !written) return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot write", run->options->trace);
    return good && written;
}
