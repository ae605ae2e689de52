#include "cli/run/run.h"

#include "base/file.h"
#include "cli/sandbox.h"
#include "cli/input.h"
#include "report/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PICTURE_WIDTH = 720, PICTURE_HEIGHT = 480 };

/* The scene's world as a model file, for other programs. */
static bool write_model(const ss_running *run, ss_error *err)
{
    const char *path = run->options->write_model;
    if (!path) return true;
    if (!run->scene->model)
        return ss_fail(err, SS_ERROR_USAGE, "run: --write-model: scene %s has no model file",
                       run->scene->name);
    char *text = run->scene->model(run->parameters, err);
    bool good = text && ss_file_replace(path, text, strlen(text), err);
    ss_release(text);
    return good;
}

static void say_files(const ss_running *run, bool drawn)
{
    const ss_run_verb_options *options = run->options;
    if (options->record && options->recording.ring == 0)
        ss_command_say(run->command, "recorded %d frames in %s", run->recorded, options->record);
    if (options->record && options->recording.ring > 0 && run->trips == 0)
        ss_command_say(run->command, "the flight recorder did not trip: %s was not written", options->record);
    if (options->record && run->trips > 0)
        ss_command_say(run->command, "the flight recorder tripped %d %s: frames in %s", run->trips,
                       run->trips == 1 ? "time" : "times", options->record);

    if (options->checkpoint)
        ss_command_say(run->command, "checkpoint after step %lld in %s; continue with --resume",
                       (long long)ss_sim_steps(run->sim), options->checkpoint);
    if (options->trace) ss_command_say(run->command, "trace in %s", options->trace);
    if (options->picture && drawn) ss_command_say(run->command, "picture in %s", options->picture);
    if (options->write_model) ss_command_say(run->command, "model in %s", options->write_model);
}

/* What was simulated before a failure is not lost: recording and checkpoint end with the last good step. */
static int run_run(const ss_command *command)
{
    ss_running run = {.command = command, .options = command->options};
    ss_error err = {0}, late = {0};
    if (run.options->study) return ss_study_run(command, &err) ? SS_EXIT_DONE : ss_report(&err);
    bool ready = ss_running_build(&run, &err) && write_model(&run, &err) && ss_recording_begin(&run, &err);
    bool good = ready;
    if (ready) ss_summary_begin(&run);

    ss_progress_line progress = ss_progress_line_begin(command);
    while (good && ss_sim_steps(run.sim) < run.steps && !ss_sandbox_interrupted()) {
        char doing[64], facts[160];
        snprintf(doing, sizeof doing, "in step %lld", (long long)ss_sim_steps(run.sim) + 1);
        ss_sandbox_doing(doing);
        good = ss_sim_step(run.sim, &err);
        if (!good) break;
        ss_summary_step(&run);
        good = ss_recording_step(&run, &err);
        if (!ss_progress_line_is_due(&progress, ss_sim_steps(run.sim))) continue;
        ss_sim_report r = ss_sim_last(run.sim);
        snprintf(facts, sizeof facts, "%d contacts, %d it, overlap %.2g m, energy %.4g J, %.2g ms a step",
                 r.contacts, r.iterations, r.penetration, r.kinetic + r.potential, 1e3 * r.seconds);
        ss_progress_line_tell(&progress, run.scene->name, ss_sim_steps(run.sim), run.steps, facts);
    }
    if (ready) ss_sandbox_doing("");
    ss_progress_line_end(&progress);

    // A failure trips the flight recorder; one while the files are finished is reported if it is the first.
    if (ready && !good && run.writer && !ss_writer_trip(run.writer, err.message, &late)) ss_report(&late);
    bool kept = ready && ss_recording_end(&run, &late);
    if (ready && !kept && good) {
        err = late;
        good = false;
    }
    if (!ready && run.writer) ss_writer_discard(run.writer);
    if (good && run.options->picture) {
        ss_picture picture;
        good = ss_picture_draw(run.world, &run.scene->camera, PICTURE_WIDTH, PICTURE_HEIGHT, &picture, &err);
        if (good) {
            good = ss_picture_write_png(&picture, run.options->picture, &err);
            ss_picture_free(&picture);
        }
    }

    if (ready) ss_summary_print(&run);
    if (ready && ss_sandbox_interrupted()) ss_out_flush(command->out); // the summary of what was done
    if (kept) say_files(&run, good);
    int code = good ? SS_EXIT_DONE : ss_report(&err);
    ss_running_free(&run);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------------- */

static const ss_option table[] = {
    {SS_FLAG_AS("parameter", LIST, ss_run_verb_options, parameters), .value_name = "NAME=VALUE",
     .help = "Parameter of the scene; repeatable.", .letter = 'p'},
    {SS_FLAG(INT, ss_run_verb_options, steps), .default_value = "0", .min = 0, .max = 2e9, .value_name = "N",
     .help = "Total number of steps; 0 = determined by --time."},
    {SS_FLAG(REAL, ss_run_verb_options, time), .default_value = "0", .min = 0, .max = 1e12,
     .value_name = "seconds", .help = "Simulated time in s; 0 = as the scene suggests."},
    {SS_FLAG(BOOL, ss_run_verb_options, accurate),
     .help = "Solve every step to relative_energy<1e-8 with auto, at any cost; explicit options take "
             "precedence."},
    SS_TOLERANCE_OPTION(.offset = offsetof(ss_run_verb_options, tolerance)),
    {SS_FLAG_AS("call", LIST, ss_run_verb_options, calls), .value_name = "NAME",
     .help =
         "Call the user functions of this name, from a plug-in, at their stages of every step; repeatable, "
         "in this order."},
    {SS_FLAG(TEXT, ss_run_verb_options, collision), .default_value = "ours", .value_name = "NAME",
     .help = "Where contacts come from: ours, or the plug-in of this name (bullet), if it is installed."},
    {SS_FLAG(TEXT, ss_run_verb_options, study), .value_name = "dt",
     .help = "Simulate four times, as asked for and with h, h/2, h/4 solved to 1e-8, and tell how much of "
             "the error is the step's and how much the solver's."},
    {SS_FLAG(BOOL, ss_run_verb_options, json), .help = "Print the summary as one JSON object."},
    {0}};

static const ss_option output_table[] = {
    {SS_FLAG(TEXT, ss_run_verb_options, record), .value_name = "FILE.h5",
     .help = "Record frames with the solver's answer and all metrics (BPMD)."},
    {SS_FLAG(INT, ss_run_verb_options, every), .default_value = "1", .min = 1, .max = 2e9, .value_name = "K",
     .help = "Record only every K-th step, starting with the first."},
    {SS_FLAG(BOOL, ss_run_verb_options, no_metrics), .help = "Record without metrics, which is faster."},
    {SS_FLAG(BOOL, ss_run_verb_options, thumbnail),
     .help = "Store a small picture of the start in the recording; takes up to a second or two."},
    {SS_FLAG(TEXT, ss_run_verb_options, checkpoint), .value_name = "FILE",
     .help = "Save the state periodically, at the end, and on interruption."},
    {SS_FLAG(REAL, ss_run_verb_options, checkpoint_every), .default_value = "60", .min = 0, .max = 1e9,
     .value_name = "seconds", .help = "Wall time between checkpoints, in s."},
    {SS_FLAG(BOOL, ss_run_verb_options, resume),
     .help = "Continue from --checkpoint with the same scene, parameters and options; the result is bit "
             "for bit that of an uninterrupted run."},
    {SS_FLAG(TEXT, ss_run_verb_options, trace), .value_name = "FILE.csv",
     .help = "Write one CSV line per step: contacts, penetration, energies, solver effort, times, values "
             "of the scene."},
    {SS_FLAG(TEXT, ss_run_verb_options, picture), .value_name = "FILE.png",
     .help = "Draw the final state of the world."},
    {SS_FLAG(TEXT, ss_run_verb_options, write_model), .value_name = "FILE.xml",
     .help = "Write the scene as a model file (MJCF) that other programs read: arm, walker, quadruped, "
             "gripper."},
    {0}};

static const ss_option strict_table[] = {
    {SS_FLAG(BOOL, ss_run_verb_options, strict),
     .help = "Refuse a model of which anything is not honoured, appearance included."},
    {SS_FLAG(BOOL, ss_run_verb_options, strict_motion),
     .help = "Refuse a model of which something is not honoured that would change its motion."},
    {0}};

static const ss_option unit_table[] = {
    {SS_FLAG(REAL, ss_run_verb_options, length_unit), .default_value = "1", .min = 1e-12, .max = 1e12,
     .value_name = "FACTOR", .help = "Factor for lengths: 1000 = millimetres."},
    {SS_FLAG(REAL, ss_run_verb_options, mass_unit), .default_value = "1", .min = 1e-12, .max = 1e12,
     .value_name = "FACTOR", .help = "Factor for masses: 1000 = grams."},
    {SS_FLAG(REAL, ss_run_verb_options, time_unit), .default_value = "1", .min = 1e-12, .max = 1e12,
     .value_name = "FACTOR", .help = "Factor for times: 1000 = milliseconds."},
    {0}};

static const ss_option_group groups[] = {
    {"Options", table, 0},
    {"Output files", output_table, 0},
    {"Recording", ss_recording_option_table, offsetof(ss_run_verb_options, recording)},
    SS_SOLVER_EXTENSION_GROUP(ss_run_verb_options, extensions),
    {"Stepping", ss_sim_option_table, offsetof(ss_run_verb_options, sim)},
    {"Contacts", ss_collision_option_table,
     offsetof(ss_run_verb_options, sim) + offsetof(ss_sim_options, collision)},
    {"Model files", strict_table, 0},
    {NULL, ss_model_option_table, offsetof(ss_run_verb_options, model)},
    {"Units: the same world in other units", unit_table, 0},
    SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"run brick-wall", "simulate as long as the scene suggests"},
    {"run brick-wall -p rows=20 --steps 100 --picture wall.png",
     "a higher wall, and a picture of the result"},
    {"run log-pile --steps 200 --record logs.h5 --every 10", "record frames as test problems for solvers"},
    {"run brick-wall --record wall.h5 --ring 200 --trip 'overlap>1e-4'",
     "the last 200 steps before something goes wrong"},
    {"run card-house --accurate --steps 100", "every step to 1e-8"},
    {"run brick-wall --plugin ./my_solver.so -s richardson", "your own solver"},
    {"run robot.urdf --base fixed --record robot.h5", "a robot of a URDF file"},
    {"run scene.xml --key home --strict-motion", "an MJCF file from one of its keyframes, or not at all"},
    {"run log-pile --study dt --time 1", "is it the step or the solver that the error comes from?"},
    {"run massratio -s nsgs --steps 50 --json", "another solver, without a finisher; machine-readable"},
    {0}};

const ss_verb ss_verb_run = {
    .name = "run",
    .summary = "simulate a scene or a model file, record its frames",
    .arguments = "SCENE|FILE",
    .description =
        "Builds a scene and simulates it. Every step is a frame, solved with any formulation and any "
        "solver; the default is fast and uses a physical stop rule. The summary at the end shows "
        "contacts, penetration, drift, energy, solver effort, and where the time went.\n\n"
        "A step that fails (a non-finite number, bodies flying apart) ends the run and names the step and "
        "the body; frames recorded until then are kept. With --ring only the last steps before such a "
        "moment, or one that --trip describes, are written. With --checkpoint, an interrupted run can be "
        "continued with --resume.\n\n"
        "A name that ends in .urdf, .xml, .mjcf, .sdf or .world is a model file (URDF, MJCF, SDF). Every "
        "element and attribute of it that is not honoured is listed with its line; --strict refuses the file "
        "instead.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_run_verb_options),
    .reads_files = true,
    .run = run_run,
};
