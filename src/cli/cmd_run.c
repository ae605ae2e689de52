#include "cli/run.h"

#include "cli/sandbox.h"
#include "cli/input.h"
#include "report/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PICTURE_WIDTH = 720, PICTURE_HEIGHT = 480, BAR = 24 };

/* ---- progress ------------------------------------------------------------------------------------- */

typedef struct live {
    bool on, shown;
    double next;
} live;

static void show(live *l, const ss_running *run)
{
    double now = ss_clock_seconds();
    if (!l->on || now < l->next) return;
    l->next = now + 0.2;
    l->shown = true;
    ss_sim_report r = ss_sim_last(run->sim);
    int64_t done = ss_sim_steps(run->sim);
    char bar[BAR + 1];
    int filled = run->steps > 0 ? (int)(BAR * (double)done / (double)run->steps) : BAR;
    for (int i = 0; i < BAR; i++) bar[i] = i < filled ? '#' : '.';
    bar[BAR] = '\0';
    fprintf(stderr,
            "\r\033[K[%s] %lld/%lld  t %.3g s  %d contacts  depth %.2g m  energy %.4g J  %d it  %.2f ms", bar,
            (long long)done, (long long)run->steps, ss_sim_time(run->sim), r.contacts, r.penetration,
            r.kinetic + r.potential, r.iterations, 1e3 * r.seconds);
    fflush(stderr);
}

static void wipe(const live *l)
{
    if (l->shown) fputs("\r\033[K", stderr);
}

/* ---- the loop ------------------------------------------------------------------------------------- */

static bool step_on(ss_running *run, ss_error *err)
{
    live l = {.on = isatty(STDERR_FILENO) && !ss_command_is_quiet(run->command),
              .next = ss_clock_seconds() + 0.5};
    bool good = true;
    while (good && ss_sim_steps(run->sim) < run->steps && !ss_sandbox_interrupted()) {
        char doing[64];
        snprintf(doing, sizeof doing, "doing step %lld", (long long)ss_sim_steps(run->sim) + 1);
        ss_sandbox_doing(doing);
        good = ss_sim_step(run->sim, err);
        if (!good) break;
        ss_summary_step(run);
        good = ss_recording_step(run, err);
        show(&l, run);
    }
    ss_sandbox_doing("");
    wipe(&l);
    return good;
}

static bool draw(const ss_running *run, ss_error *err)
{
    if (!run->options->picture) return true;
    ss_picture picture;
    if (!ss_picture_draw(run->world, &run->scene->camera, PICTURE_WIDTH, PICTURE_HEIGHT, &picture, err))
        return false;
    bool good = ss_picture_write_png(&picture, run->options->picture, err);
    ss_picture_free(&picture);
    return good;
}

static void say_files(const ss_running *run, bool drawn)
{
    const ss_run_verb_options *options = run->options;
    if (options->record)
        ss_command_say(run->command, "recorded %d frames in %s", run->recorded, options->record);
    if (options->checkpoint)
        ss_command_say(run->command, "checkpoint after step %lld in %s: go on with --resume",
                       (long long)ss_sim_steps(run->sim), options->checkpoint);
    if (options->trace) ss_command_say(run->command, "trace in %s", options->trace);
    if (options->picture && drawn) ss_command_say(run->command, "picture in %s", options->picture);
}

/* What was simulated before a failure is not lost: recording and checkpoint end with the last good step. */
static int run_run(const ss_command *command)
{
    ss_running run = {.command = command, .options = command->options};
    ss_error err = {0}, late = {0};
    bool ready = ss_running_build(&run, &err) && ss_recording_begin(&run, &err);
    if (ready) ss_summary_begin(&run);
    bool good = ready && step_on(&run, &err);
    bool kept = ready && ss_recording_end(&run, &late);
    if (ready && !kept && good) {
        err = late;
        good = false;
    }
    if (!ready && run.writer) ss_writer_discard(run.writer);
    good = good && draw(&run, &err);
    if (ready && !ss_sandbox_interrupted()) ss_summary_print(&run);
    if (kept) say_files(&run, good);
    int code = good ? SS_EXIT_DONE : ss_report(&err);
    ss_running_free(&run);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------------- */

#define FIELD(member) .offset = offsetof(ss_run_verb_options, member)
static const ss_option table[] = {
    {.name = "parameter",
     .type = SS_OPTION_LIST,
     FIELD(parameters),
     .value_name = "NAME=VALUE",
     .help = "A parameter of the scene; may be given several times.",
     .letter = 'p'},
    {.name = "steps",
     .type = SS_OPTION_INT,
     FIELD(steps),
     .default_value = "0",
     .min = 0,
     .max = 2e9,
     .value_name = "N",
     .help = "Steps to do in all; 0 = by --time."},
    {.name = "time",
     .type = SS_OPTION_REAL,
     FIELD(time),
     .default_value = "0",
     .min = 0,
     .max = 1e12,
     .value_name = "seconds",
     .help = "How long to simulate; 0 = as long as the scene suggests."},
    {.name = "accurate",
     .type = SS_OPTION_BOOL,
     FIELD(accurate),
     .help = "Solve every step to relative_energy<1e-8 with auto, whatever it takes; options given beside it "
             "win."},
    {.name = "json", .type = SS_OPTION_BOOL, FIELD(json), .help = "Print the summary as one JSON object."},
    {0}};

static const ss_option output_table[] = {
    {.name = "record",
     .type = SS_OPTION_TEXT,
     FIELD(record),
     .value_name = "FILE.h5",
     .help = "Store frames with the solver's answer and all metrics (BPMD)."},
    {.name = "every",
     .type = SS_OPTION_INT,
     FIELD(every),
     .default_value = "1",
     .min = 1,
     .max = 2e9,
     .value_name = "K",
     .help = "Record every K-th step only, beginning with the first."},
    {.name = "no_metrics",
     .type = SS_OPTION_BOOL,
     FIELD(no_metrics),
     .help = "Record without metrics, which is faster."},
    {.name = "checkpoint",
     .type = SS_OPTION_TEXT,
     FIELD(checkpoint),
     .value_name = "FILE",
     .help = "Save the state now and then, at the end, and when interrupted."},
    {.name = "checkpoint_every",
     .type = SS_OPTION_REAL,
     FIELD(checkpoint_every),
     .default_value = "60",
     .min = 0,
     .max = 1e9,
     .value_name = "seconds",
     .help = "Wall time between two checkpoints."},
    {.name = "resume",
     .type = SS_OPTION_BOOL,
     FIELD(resume),
     .help = "Go on from --checkpoint, with the same scene, parameters and options: to the same bits as "
             "without a break."},
    {.name = "trace",
     .type = SS_OPTION_TEXT,
     FIELD(trace),
     .value_name = "FILE.csv",
     .help = "Write one line per step: contacts, penetration, energies, solver effort, times, the scene's "
             "own numbers."},
    {.name = "picture",
     .type = SS_OPTION_TEXT,
     FIELD(picture),
     .value_name = "FILE.png",
     .help = "Draw the world as it is at the end."},
    {0}};

static const ss_option unit_table[] = {{.name = "length_unit",
                                        .type = SS_OPTION_REAL,
                                        FIELD(length_unit),
                                        .default_value = "1",
                                        .min = 1e-12,
                                        .max = 1e12,
                                        .value_name = "FACTOR",
                                        .help = "Multiply lengths: 1000 is millimetres."},
                                       {.name = "mass_unit",
                                        .type = SS_OPTION_REAL,
                                        FIELD(mass_unit),
                                        .default_value = "1",
                                        .min = 1e-12,
                                        .max = 1e12,
                                        .value_name = "FACTOR",
                                        .help = "Multiply masses: 1000 is grammes."},
                                       {.name = "time_unit",
                                        .type = SS_OPTION_REAL,
                                        FIELD(time_unit),
                                        .default_value = "1",
                                        .min = 1e-12,
                                        .max = 1e12,
                                        .value_name = "FACTOR",
                                        .help = "Multiply times: 1000 is milliseconds."},
                                       {0}};

static const ss_option_group groups[] = {
    {"Options", table, 0},
    {"What is kept", output_table, 0},
    {"Stepping", ss_sim_option_table, offsetof(ss_run_verb_options, sim)},
    {"Contacts", ss_collision_option_table,
     offsetof(ss_run_verb_options, sim) + offsetof(ss_sim_options, collision)},
    {"Units: the same world in other numbers", unit_table, 0},
    SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"run brick-wall", "simulate as long as the scene suggests"},
    {"run brick-wall -p rows=20 --steps 100 --picture wall.png",
     "a higher wall, and how it looks afterwards"},
    {"run log-pile --steps 200 --record logs.h5 --every 10", "frames for solvers to chew on"},
    {"run card-house --accurate --steps 100", "every step to 1e-8"},
    {"run massratio --solver nsgs --finisher none --steps 50 --json",
     "one solver alone, numbers for a script"},
    {0}};

const ss_verb ss_verb_run = {
    .name = "run",
    .summary = "simulate a scene, watch its errors, record its frames",
    .arguments = "SCENE",
    .description =
        "Builds a scene and simulates it. Every step is a frame, solved by any formulation and any solver; "
        "the default is fast and stops on a physical rule. At the end it tells what became of the scene: "
        "contacts, penetration, drift, energy, what the solver had to do, and where the time went.\n\n"
        "A step that fails (a number that is not finite, bodies that fly apart) ends the run with the step "
        "and the body named; what was recorded until then is kept. With --checkpoint an interrupted run goes "
        "on with --resume.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_run_verb_options),
    .reads_files = true,
    .run = run_run,
};
