#define _GNU_SOURCE // memmem
/* `stickslip record`: starts a program with a recorder preloaded (recorders/), and writes what the recorder
 * sends through a socket (dataset/capture.h). The program does not wait for the file: one thread takes
 * messages from the socket, another one writes them. */
#include "cli/verb.h"

#include "dataset/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ODE, BULLET, MUJOCO };

typedef struct record_options {
    ss_common_options common;
    int engine;
    char *output;
    int first, every, last;
} record_options;

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

/* ---- the queue between the socket and the file ------------------------------------------------------ */

typedef struct message {
    struct message *next;
    ss_capture_head head;
    char bytes[];
} message;

static const size_t queue_limit = (size_t)1 << 30; // bytes; beyond it the program waits for the file

typedef struct recording {
    const ss_command *command;
    const engine *engine;
    const char *path;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    message *front, *back;
    size_t queued; /* bytes */
    bool finished; /* nothing comes any more */

    ss_writer *writer;
    ss_capture capture;
    ss_stored_shape *shapes;
    ss_mesh **meshes;
    int shape_count, shape_room;
    int simulations, recorded, faulty;
    ss_error trouble;   /* of the file or the stream: recording has ended */
    ss_error fault;     /* the first frame that was left out */
    char refusal[1000]; /* why the recorder recorded nothing */
    int64_t steps;
    bool loaded;
} recording;

/* ---- messages --------------------------------------------------------------------------------------- */

/* Shapes belong to a simulation and are written when it is over and all are known. */
static bool write_shapes(recording *r)
{
    bool good = r->shape_count == 0 || r->simulations == 0 ||
                ss_writer_shapes(r->writer, r->shapes, r->shape_count, &r->trouble);
    for (int i = 0; i < r->shape_count; i++) ss_mesh_destroy(r->meshes[i]);
    r->shape_count = 0;
    return good;
}

static bool begin_simulation(recording *r, const message *m)
{
    ss_capture_hello hello;
    if (m->head.length < sizeof hello + 2 || m->bytes[m->head.length - 1] != '\0')
        return ss_fail(&r->trouble, SS_ERROR_INPUT, "the recorder sent a damaged message");
    memcpy(&hello, m->bytes, sizeof hello);
    if (hello.abi != ss_abi_version())
        return ss_fail(&r->trouble, SS_ERROR_INPUT, "the recorder is of another build than this program");
    const char *toolkit = m->bytes + sizeof hello, *description = toolkit + strlen(toolkit) + 1;
    if (description >= m->bytes + m->head.length) description = "";
    ss_manifest manifest = {.toolkit = (char *)(uintptr_t)toolkit,
                            .description = (char *)(uintptr_t)description,
                            .gravity = {hello.gravity[0], hello.gravity[1], hello.gravity[2]}};
    if (!write_shapes(r)) return false;
    r->simulations++;
    return ss_writer_simulation(r->writer, &manifest, &r->trouble);
}

static bool keep_shape(recording *r, const message *m)
{
    if (r->shape_count == r->shape_room) {
        size_t room = 2 * (size_t)r->shape_room + 64;
        ss_stored_shape *shapes = ss_allocate(room, sizeof *shapes);
        ss_mesh **meshes = ss_allocate(room, sizeof *meshes);
        if (!shapes || !meshes) {
            ss_release(shapes);
            ss_release(meshes);
            return ss_fail(&r->trouble, SS_ERROR_RESOURCES, "out of memory for shapes");
        }
        if (r->shape_count) memcpy(shapes, r->shapes, (size_t)r->shape_count * sizeof *shapes);
        if (r->shape_count) memcpy(meshes, r->meshes, (size_t)r->shape_count * sizeof *meshes);
        ss_release(r->shapes);
        ss_release(r->meshes);
        r->shapes = shapes;
        r->meshes = meshes;
        r->shape_room = (int)room;
    }
    int at = r->shape_count;
    if (ss_capture_unpack_shape(m->bytes, (size_t)m->head.length, &r->shapes[at], &r->meshes[at]))
        r->shape_count++; // one that is not understood is not drawn
    return true;
}

static bool write_frame(recording *r, const message *m)
{
    if (r->simulations == 0 || !ss_capture_unpack(m->bytes, (size_t)m->head.length, &r->capture))
        return ss_fail(&r->trouble, SS_ERROR_INPUT, "the recorder sent a damaged frame");
    ss_error err = {0};
    if (ss_capture_write(&r->capture, r->writer, &err)) {
        r->recorded++;
        return true;
    }
    if (err.code != SS_ERROR_INPUT) {
        r->trouble = err;
        return false;
    }
    if (r->faulty++ == 0) {
        r->fault = err;
        ss_fail_in(&r->fault, "t = %g s", r->capture.frame.time);
    }
    return true;
}

static bool handle(recording *r, const message *m)
{
    size_t length = (size_t)m->head.length;
    bool text = length > 0 && m->bytes[length - 1] == '\0';
    switch (m->head.kind) {
    case SS_MESSAGE_HELLO:
        return begin_simulation(r, m);
    case SS_MESSAGE_SHAPE:
        return keep_shape(r, m);
    case SS_MESSAGE_FRAME:
        return write_frame(r, m);
    case SS_MESSAGE_NOTE:
        if (text) ss_command_say(r->command, "note: %s", m->bytes);
        return true;
    case SS_MESSAGE_REFUSAL:
        if (text) snprintf(r->refusal, sizeof r->refusal, "%s", m->bytes);
        return true;
    case SS_MESSAGE_END: {
        ss_capture_end end;
        if (length != sizeof end) return true;
        memcpy(&end, m->bytes, sizeof end);
        r->steps += end.steps;
        r->loaded |= end.loaded != 0;
        return true;
    }
    default:
        return ss_fail(&r->trouble, SS_ERROR_INPUT, "the recorder sent something unknown");
    }
}

/* After trouble, messages are still taken and dropped, so that the program is not held up. */
static void *write_messages(void *argument)
{
    recording *r = argument;
    for (;;) {
        pthread_mutex_lock(&r->lock);
        while (!r->front && !r->finished) pthread_cond_wait(&r->changed, &r->lock);
        message *m = r->front;
        if (m) {
            r->front = m->next;
            if (!r->front) r->back = NULL;
        }
        pthread_mutex_unlock(&r->lock);
        if (!m) return NULL;
        if (r->trouble.code == SS_OK) handle(r, m);
        pthread_mutex_lock(&r->lock);
        r->queued -= (size_t)m->head.length;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
        free(m);
    }
}

static void enqueue(recording *r, message *m)
{
    pthread_mutex_lock(&r->lock);
    while (r->queued > queue_limit) pthread_cond_wait(&r->changed, &r->lock);
    m->next = NULL;
    if (r->back)
        r->back->next = m;
    else
        r->front = m;
    r->back = m;
    r->queued += (size_t)m->head.length;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* ---- the socket ------------------------------------------------------------------------------------- */

/* Bytes of the program as long as it runs, or as long as some are left. False: the end. */
static bool receive(int socket, pid_t program, int *status, void *to, size_t length)
{
    char *at = to;
    while (length > 0) {
        struct pollfd ready = {.fd = socket, .events = POLLIN};
        int found = poll(&ready, 1, *status < 0 ? 200 : 0);
        if (found < 0 && errno != EINTR) return false;
        if (found <= 0) {
            // A process that the program left behind may hold the socket open: the program's end counts.
            if (*status >= 0) return false;
            int ended;
            if (waitpid(program, &ended, WNOHANG) == program) *status = ended;
            continue;
        }
        ssize_t got = read(socket, at, length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

static void receive_all(recording *r, int socket, pid_t program, int *status)
{
    ss_capture_head head;
    while (receive(socket, program, status, &head, sizeof head)) {
        const uint64_t most = (uint64_t)1 << 32;
        message *m = head.magic == SS_MESSAGE_MAGIC && head.length < most
                         ? malloc(sizeof *m + (size_t)head.length)
                         : NULL;
        if (!m) {
            pthread_mutex_lock(&r->lock);
            ss_fail(
                &r->trouble, SS_ERROR_INPUT,
                "the recorder's messages are mixed up: several processes step at once, or memory is short");
            pthread_mutex_unlock(&r->lock);
            return;
        }
        m->head = head;
        if (!receive(socket, program, status, m->bytes, (size_t)head.length)) {
            free(m); // the program died in the middle of it
            return;
        }
        enqueue(r, m);
    }
}

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

static void become(const ss_command *command, const char *recorder, int socket, int failed)
{
    const record_options *options = command->options;
    char **words = malloc(((size_t)command->argument_count + 1) * sizeof *words);
    char text[128], preload[2 * PATH_MAX];
    const char *others = getenv("LD_PRELOAD");
    snprintf(text, sizeof text, "%d:%d:%d:%d", socket, options->first, options->every, options->last);
    snprintf(preload, sizeof preload, "%s%s%s", recorder, others && *others ? ":" : "", others ? others : "");
    if (words && setenv("STICKSLIP_RECORD", text, 1) == 0 && setenv("LD_PRELOAD", preload, 1) == 0) {
        for (int i = 0; i < command->argument_count; i++) words[i] = (char *)(uintptr_t)command->arguments[i];
        words[command->argument_count] = NULL;
        execvp(words[0], words);
    }
    int why = errno;
    ssize_t ignored = write(failed, &why, sizeof why);
    _exit(ignored < 0 ? 126 : 127);
}

/* The child; -1 with err. *socket is our end. */
static pid_t start(const ss_command *command, const char *recorder, int *socket, ss_error *err)
{
    int ends[2], failed[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        ss_fail(err, SS_ERROR_RESOURCES, "no socket: %s", strerror(errno));
        return -1;
    }
    int room = 4 << 20; // bytes: a few hundred frames before the program has to wait
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (pipe(failed) != 0) {
        close(ends[0]);
        close(ends[1]);
        ss_fail(err, SS_ERROR_RESOURCES, "no pipe: %s", strerror(errno));
        return -1;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(failed[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) become(command, recorder, ends[1], failed[1]);
    close(ends[1]);
    close(failed[1]);
    int why = 0;
    ssize_t said = child < 0 ? 0 : read(failed[0], &why, sizeof why);
    close(failed[0]);
    if (child < 0)
        ss_fail(err, SS_ERROR_RESOURCES, "no process: %s", strerror(errno));
    else if (said == sizeof why)
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be started: %s", command->arguments[0], strerror(why));
    if (child > 0 && said != sizeof why) {
        *socket = ends[0];
        return child;
    }
    if (child > 0) waitpid(child, NULL, 0);
    close(ends[0]);
    return -1;
}

/* Does the file of the program contain the text? */
static bool contains(const char *program, const char *text)
{
    int file = open(program, O_RDONLY | O_CLOEXEC);
    struct stat about;
    bool found = false;
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            found = memmem(bytes, (size_t)about.st_size, text, strlen(text)) != NULL;
            munmap(bytes, (size_t)about.st_size);
        }
    }
    if (file >= 0) close(file);
    return found;
}

static void explain_nothing(const recording *r, ss_error *err)
{
    const engine *e = r->engine;
    const char *program = r->command->arguments[0];
    if (r->refusal[0])
        ss_fail(err, SS_ERROR_INPUT, "%s: not recorded: %s", program, r->refusal);
    else if (r->steps > 0)
        ss_fail(err, SS_ERROR_INPUT, "%s: none of its %lld steps was to be recorded (--first, --last)",
                program, (long long)r->steps);
    else if (!r->loaded && contains(program, e->signature))
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

static void say_how_it_ended(const recording *r, int status)
{
    const char *program = r->command->arguments[0];
    if (WIFSIGNALED(status))
        fprintf(stderr, "stickslip: %s was ended by signal %d (%s)\n", program, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        fprintf(stderr, "stickslip: %s ended with exit code %d\n", program, WEXITSTATUS(status));
}

static int run_record(const ss_command *command)
{
    const record_options *options = command->options;
    ss_error err = {0};
    recording r = {.command = command,
                   .engine = &engines[options->engine],
                   .path = options->output,
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .changed = PTHREAD_COND_INITIALIZER};
    char recorder[PATH_MAX + 128];
    if (!options->output) {
        ss_fail(&err, SS_ERROR_USAGE, "record: no --output given");
        return ss_report(&err);
    }
    if (!find_recorder(r.engine, recorder, sizeof recorder, &err)) return ss_report(&err);

    // The program first: the writer opens files and threads that it should not inherit.
    int socket, status = -1;
    pid_t program = start(command, recorder, &socket, &err);
    if (program < 0) return ss_report(&err);
    signal(SIGINT, SIG_IGN); // the terminal sends it to the program, too; what was recorded is kept
    signal(SIGQUIT, SIG_IGN);
    r.writer = ss_writer_open(options->output, SS_LAYOUT_CANONICAL, false, &r.trouble);
    pthread_t writing;
    bool threaded = pthread_create(&writing, NULL, write_messages, &r) == 0;
    if (threaded) receive_all(&r, socket, program, &status);
    close(socket);
    if (status < 0) waitpid(program, &status, 0);
    pthread_mutex_lock(&r.lock);
    r.finished = true;
    pthread_cond_broadcast(&r.changed);
    pthread_mutex_unlock(&r.lock);
    if (threaded) pthread_join(writing, NULL);

    // What arrived is kept, however the program ended.
    bool kept = r.recorded > 0 && r.writer;
    bool good = r.trouble.code == SS_OK;
    if (kept) {
        ss_error late = {0};
        kept = write_shapes(&r) && ss_writer_close(r.writer, &late);
        if (!kept && good) r.trouble = late, good = false;
    } else {
        if (r.writer) ss_writer_discard(r.writer);
    }
    for (int i = 0; i < r.shape_count; i++) ss_mesh_destroy(r.meshes[i]);
    ss_release(r.shapes);
    ss_release(r.meshes);
    ss_capture_free(&r.capture);

    say_how_it_ended(&r, status);
    if (kept) ss_command_say(command, "recorded %d frames in %s", r.recorded, options->output);
    if (r.faulty > 0)
        fprintf(stderr, "stickslip: %d steps were left out; the first one at %s\n", r.faulty,
                r.fault.message);
    if (!good) return ss_report(&r.trouble);
    if (!kept) {
        explain_nothing(&r, &err);
        return ss_report(&err);
    }
    return r.faulty > 0 || status != 0 ? SS_EXIT_FOUND : SS_EXIT_DONE;
}

/* ---- the verb --------------------------------------------------------------------------------------- */

#define FIELD(member) .offset = offsetof(record_options, member)
static const ss_option table[] = {
    {.name = "engine",
     .type = SS_OPTION_CHOICE,
     FIELD(engine),
     .default_value = "ode",
     .choices = "ode|bullet|mujoco",
     .help = "The engine that the program uses, as a shared library.",
     .letter = 'e'},
    {.name = "output",
     .type = SS_OPTION_TEXT,
     FIELD(output),
     .value_name = "FILE.h5",
     .help = "The recording; required. An existing file is replaced at the end.",
     .letter = 'o'},
    {.name = "first",
     .type = SS_OPTION_INT,
     FIELD(first),
     .default_value = "1",
     .min = 1,
     .max = 2e9,
     .value_name = "N",
     .help = "Start with step N of the program, counted from 1."},
    {.name = "every",
     .type = SS_OPTION_INT,
     FIELD(every),
     .default_value = "1",
     .min = 1,
     .max = 2e9,
     .value_name = "K",
     .help = "Record only every K-th step from there."},
    {.name = "last",
     .type = SS_OPTION_INT,
     FIELD(last),
     .default_value = "0",
     .min = 0,
     .max = 2e9,
     .value_name = "N",
     .help = "End with step N; 0 = with the program."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"record --engine ode -o frames.h5 -- ./program ARGS", "every step of a program that uses ODE"},
    {"record --engine ode -o frames.h5 --first 500 --every 10 -- ./program", "a part of a long run"},
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
        "The exit code is 0 if everything went well, 1 if the program failed or steps had to be left out, "
        "and 3 if nothing could be recorded: the engine is linked statically, has another version, or is "
        "not used.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(record_options),
    .run = run_record,
};
