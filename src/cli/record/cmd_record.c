#define _GNU_SOURCE // memmem
/* `stickslip record`: starts a program with a recorder preloaded (recorders/), and writes what the recorder
 * sends through shared memory (dataset/capture.h). The program does not wait for the file: this thread takes
 * messages from the channel, another one writes them (record_write.c). */
#include "cli/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ODE, BULLET, MUJOCO };
// Some hundred steps, if this process has to wait for a processor; more would be slower to write, because
// processors know the places of a few thousand pages at a time.
enum { CHANNEL_BYTES = 8 << 20 };

typedef struct engine {
    const char *name, *title;
    const char *step;      /* what the recorder waits for */
    const char *signature; /* a text that is in the program when the engine is linked statically */
} engine;

static const engine engines[] = {
    [ODE] = {"ode", "ODE", "dWorldStep or dWorldQuickStep", "LCP internal error, s <= 0"},
    [BULLET] = {"bullet", "Bullet", "btDiscreteDynamicsWorld::stepSimulation",
                "35btSequentialImpulseConstraintSolver"},
    [MUJOCO] = {"mujoco", "MuJoCo", "mj_step", "Pre-allocated constraint buffer is full"},
};

/* ---- the program ------------------------------------------------------------------------------------ */

/* libstickslip_record_ode.so: beside the program in a build, in lib/stickslip when installed. */
static bool find_recorder(const engine *e, char *path, size_t size, ss_error *err)
{
    char here[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash = length > 0 ? strrchr(here, '/') : NULL;
    if (slash) *slash = '\0';
    const char *set = getenv("STICKSLIP_RECORDERS");
    char places[3][PATH_MAX + 64];
    snprintf(places[0], sizeof places[0], "%s", set ? set : "");
    snprintf(places[1], sizeof places[1], "%s/recorders", here);
    snprintf(places[2], sizeof places[2], "%s/../%s", here, SS_RECORDER_DIRECTORY);
    for (int i = set ? 0 : 1; i < 3; i++) {
        int needed = snprintf(path, size, "%s/libstickslip_record_%s.so", places[i], e->name);
        if (needed > 0 && (size_t)needed < size && access(path, R_OK) == 0) return true;
    }
    return ss_fail(err, SS_ERROR_INPUT,
                   "the recorder for %s is not installed: it is built where the development files of %s are "
                   "(docs/recording.md)",
                   e->title, e->title);
}

/* The child, which becomes the program; -1 with err. */
static pid_t start(const ss_command *command, const char *recorder, int channel, ss_error *err)
{
    const ss_record_options *options = command->options;
    int failed[2], count = command->argument_count;
    if (pipe(failed) != 0) {
        ss_fail(err, SS_ERROR_RESOURCES, "no pipe: %s", strerror(errno));
        return -1;
    }
    fcntl(failed[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        char **words = malloc(((size_t)count + 1) * sizeof *words);
        char text[128], preload[2 * PATH_MAX];
        const char *others = getenv("LD_PRELOAD");
        snprintf(text, sizeof text, "%d:%d:%d:%d", channel, options->first, options->every, options->last);
        snprintf(preload, sizeof preload, "%s%s%s", recorder, others && *others ? ":" : "",
                 others ? others : "");
        if (words && setenv("STICKSLIP_RECORD", text, 1) == 0 && setenv("LD_PRELOAD", preload, 1) == 0) {
            for (int i = 0; i < count; i++) words[i] = (char *)(uintptr_t)command->arguments[i];
            words[count] = NULL;
            execvp(words[0], words);
        }
        int why = errno;
        ssize_t ignored = write(failed[1], &why, sizeof why);
        _exit(ignored < 0 ? 126 : 127);
    }

    // The pipe closes with exec; what comes out of it is the reason why there was none.
    close(failed[1]);
    int why = 0;
    ssize_t said = child < 0 ? 0 : read(failed[0], &why, sizeof why);
    close(failed[0]);
    if (child < 0)
        ss_fail(err, SS_ERROR_RESOURCES, "no process: %s", strerror(errno));
    else if (said == sizeof why)
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be started: %s", command->arguments[0], strerror(why));
    if (child > 0 && said != sizeof why) return child;
    if (child > 0) waitpid(child, NULL, 0);
    return -1;
}

/* Signals that are meant for the program, too. Those of the terminal reach it anyway. */
static volatile sig_atomic_t running;

static void pass_on(int number)
{
    if (running > 0) kill((pid_t)running, number);
}

/* Messages as long as the program runs, and what is left after it. False: they are damaged. */
static bool receive_all(ss_incoming *in, ss_channel *channel, pid_t program, int *status)
{
    long pause = 0;
    for (;;) {
        bool bad, over = *status >= 0;
        ss_message *m = ss_channel_receive(channel, &bad);
        if (bad) return false;
        if (m) {
            ss_incoming_add(in, m);
            pause = 0;
            continue;
        }

        // Nothing there: a program that has ended sends nothing any more, others are asked a little later.
        if (over) return true;
        int ended;
        if (waitpid(program, &ended, WNOHANG) == program) *status = ended;
        pause = pause ? (pause < 1000000 ? 2 * pause : 2000000) : 100000; // ns; the ring lasts for longer
        if (*status < 0) nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
}

static void explain_nothing(const ss_incoming *r, ss_error *err)
{
    const engine *e = &engines[r->options->engine];
    const char *program = r->command->arguments[0];

    // An engine that is linked statically leaves its texts in the file of the program.
    int file = open(program, O_RDONLY | O_CLOEXEC);
    struct stat about;
    bool is_static = false;
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            is_static = memmem(bytes, (size_t)about.st_size, e->signature, strlen(e->signature)) != NULL;
            munmap(bytes, (size_t)about.st_size);
        }
    }
    if (file >= 0) close(file);

    if (r->refusal[0])
        ss_fail(err, SS_ERROR_INPUT, "%s: not recorded: %s", program, r->refusal);
    else if (r->steps > 0)
        ss_fail(err, SS_ERROR_INPUT, "%s: none of its %lld steps was to be recorded (--first, --last)",
                program, (long long)r->steps);
    else if (!r->loaded && is_static)
        ss_fail(
            err, SS_ERROR_INPUT,
            "%s: not recorded: %s is linked into the program statically; link its shared library, or call "
            "the recorder from the program",
            program, e->title);
    else if (!r->loaded)
        ss_fail(err, SS_ERROR_INPUT, "%s: not recorded: it never loaded the shared library of %s", program,
                e->title);
    else
        ss_fail(err, SS_ERROR_INPUT, "%s: not recorded: it loaded %s but never called %s", program, e->title,
                e->step);
}

static int run_record(const ss_command *command)
{
    const ss_record_options *options = command->options;
    ss_error err = {0};
    ss_incoming in = {.command = command,
                      .options = options,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .changed = PTHREAD_COND_INITIALIZER};
    char recorder[PATH_MAX + 128];
    if (!options->output) {
        ss_fail(&err, SS_ERROR_USAGE, "record: no --output given");
        return ss_report(&err);
    }
    if (!find_recorder(&engines[options->engine], recorder, sizeof recorder, &err)) return ss_report(&err);

    // A writer by way of trial: settings that are wrong are reported before the program is started.
    ss_writer *trial = ss_writer_open(options->output, SS_LAYOUT_CANONICAL, false, &err);
    bool fine = trial && ss_writer_configure(trial, &options->recording, &err);
    ss_writer_discard(trial);
    if (!fine) return ss_report(&err);

    // The program first: the writer opens files and threads that it should not inherit.
    ss_channel channel;
    int status = -1;
    if (!ss_channel_create(&channel, CHANNEL_BYTES, &err)) return ss_report(&err);
    pid_t program = start(command, recorder, channel.file, &err);
    if (program < 0) {
        ss_channel_free(&channel);
        return ss_report(&err);
    }
    signal(SIGINT, SIG_IGN); // the terminal sends it to the program, too; what was recorded is kept
    signal(SIGQUIT, SIG_IGN);
    running = (sig_atomic_t)program;
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);

    // One thread writes, this one takes messages from the channel.
    in.writer = ss_writer_open(options->output, SS_LAYOUT_CANONICAL, false, &in.trouble);
    if (in.writer && !ss_writer_configure(in.writer, &options->recording, &in.trouble)) {
        ss_writer_discard(in.writer);
        in.writer = NULL;
    }
    pthread_t writing;
    bool threaded = pthread_create(&writing, NULL, ss_incoming_write, &in) == 0, whole = true;
    if (threaded) whole = receive_all(&in, &channel, program, &status);
    ss_channel_free(&channel);
    if (status < 0) waitpid(program, &status, 0);
    running = 0;
    pthread_mutex_lock(&in.lock);
    in.finished = true;
    pthread_cond_broadcast(&in.changed);
    pthread_mutex_unlock(&in.lock);
    if (threaded) pthread_join(writing, NULL);
    if (!whole && in.trouble.code == SS_OK)
        ss_fail(&in.trouble, SS_ERROR_INPUT, "what the recorder sent is damaged, or memory is short");

    // How it ended: "was ended by signal 11 (Segmentation fault)"; "" if it ended well. A flight recorder
    // writes after a crash, not when the user wanted the end.
    char end[200] = "", crash[220];
    int cause = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool was_asked = cause == SIGINT || cause == SIGTERM || cause == SIGHUP;
    if (cause)
        snprintf(end, sizeof end, "was ended by signal %d (%s)", cause, strsignal(cause));
    else if (WEXITSTATUS(status) != 0)
        snprintf(end, sizeof end, "ended with exit code %d", WEXITSTATUS(status));
    snprintf(crash, sizeof crash, "the program %s", end);
    bool kept = ss_incoming_end(&in, end[0] && !was_asked ? crash : NULL);

    if (end[0]) fprintf(stderr, "stickslip: %s %s\n", command->arguments[0], end);
    if (kept && options->recording.ring == 0)
        ss_command_say(command, "recorded %d frames in %s", in.recorded, options->output);
    else if (kept && in.trips == 0)
        ss_command_say(command, "the flight recorder did not trip: %s was not written", options->output);
    else if (kept)
        ss_command_say(command, "the flight recorder tripped %d %s: frames in %s", in.trips,
                       in.trips == 1 ? "time" : "times", options->output);
    if (in.faulty > 0)
        fprintf(stderr, "stickslip: %d %s left out; the first one at %s\n", in.faulty,
                in.faulty == 1 ? "step was" : "steps were", in.fault.message);
    if (in.trouble.code != SS_OK) return ss_report(&in.trouble);
    if (!kept) {
        explain_nothing(&in, &err);
        return ss_report(&err);
    }
    return in.faulty > 0 || status != 0 ? SS_EXIT_FOUND : SS_EXIT_DONE;
}

/* ---- the verb --------------------------------------------------------------------------------------- */

static const ss_option table[] = {
    {SS_FLAG(CHOICE, ss_record_options, engine), .default_value = "ode", .choices = "ode|bullet|mujoco",
     .help = "The engine that the program uses, as a shared library.", .letter = 'e'},
    {SS_FLAG(TEXT, ss_record_options, output), .value_name = "FILE.h5",
     .help = "The recording; required. An existing file is replaced at the end.", .letter = 'o'},
    {SS_FLAG(INT, ss_record_options, first), .default_value = "1", .min = 1, .max = 2e9, .value_name = "N",
     .help = "Start with step N of the program, counted from 1."},
    {SS_FLAG(INT, ss_record_options, every), .default_value = "1", .min = 1, .max = 2e9, .value_name = "K",
     .help = "Record only every K-th step from there."},
    {SS_FLAG(INT, ss_record_options, last), .default_value = "0", .min = 0, .max = 2e9, .value_name = "N",
     .help = "End with step N; 0 = with the program."},
    {0}};

static const ss_option_group groups[] = {
    {"Options", table, 0},
    {"Recording", ss_recording_option_table, offsetof(ss_record_options, recording)},
    SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"record --engine ode -o frames.h5 -- ./program ARGS", "every step of a program that uses ODE"},
    {"record --engine ode -o frames.h5 --first 500 --every 10 -- ./program", "a part of a long run"},
    {"record -e bullet -o bad.h5 --ring 200 --trip nan -- ./program",
     "only the last 200 steps before something goes wrong, or the program crashes"},
    {0}};

const ss_verb ss_verb_record = {
    .name = "record",
    .summary = "record the steps of a program that uses another engine",
    .arguments = "PROGRAM...",
    .description =
        "Starts a program that uses ODE, Bullet or MuJoCo as a shared library and records what the engine "
        "has to solve in each step, with the engine's own answer: bodies, joints, contacts, shapes. The "
        "program need not be changed or compiled again, and computes the same numbers as without.\n\n"
        "Frames are written by this process while the program runs. If the program crashes or is killed, "
        "what it recorded until then is kept. Put -- before the program, so that its options are its own.\n\n"
        "With --ring only the last steps are kept, and written when --trip says so, when a step is faulty, "
        "or when the program crashes or fails. Signals for --trip-signal go to this process.\n\n"
        "The exit code is 0 if everything went well, 1 if the program failed or steps had to be left out, "
        "and 3 if nothing could be recorded: the engine is linked statically, has another version, or is "
        "not used.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_record_options),
    .run = run_record,
};
