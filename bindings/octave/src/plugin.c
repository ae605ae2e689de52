#define _GNU_SOURCE // dladdr, strsignal
/* Solvers of plug-ins, each run in a process of its own: their code is from elsewhere, and a crash of it must
 * not end Octave. The child loads the shared object, solves, and sends the outcome through a pipe. */
#include "toolbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What comes through the pipe first; then x, then the columns of the history, then the text. */
typedef struct outcome {
    ss_status status;
    int iterations, kept_iteration, history, text;
    double seconds;
} outcome;

/* ---- the child ---------------------------------------------------------------------------------------- */

static bool send(int pipe, const void *bytes, size_t count)
{
    for (const char *rest = bytes; count > 0;) {
        ssize_t sent = write(pipe, rest, count);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        rest += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* Plug-ins take the library's functions from the program that loads them; Octave has loaded the library
 * for this MEX alone. */
static void share_library(void)
{
    Dl_info info;
    union {
        const char *(*function)(void);
        void *address;
    } any = {.function = ss_version};
    if (dladdr(any.address, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

static const ss_solver *find_solver(const ss_extension *plugin, const char *name, ss_error *err)
{
    const ss_solver *first = plugin->solvers ? plugin->solvers[0] : NULL;
    for (int i = 0; first && plugin->solvers[i]; i++)
        if (!name || !*name || strcmp(name, plugin->solvers[i]->name) == 0) return plugin->solvers[i];
    if (first)
        ss_fail(err, SS_ERROR_USAGE, "the plug-in has no solver '%s'; its first one is '%s'", name,
                first->name);
    else
        ss_fail(err, SS_ERROR_USAGE, "the plug-in brings no solvers");
    return NULL;
}

static void *read_options(const ss_solver *solver, const char *set, ss_error *err)
{
    static const ss_option none[] = {{0}};
    const ss_option *table = solver->options ? solver->options : none;
    void *options = ss_allocate(1, solver->options_size);
    char *text = ss_text_copy(set ? set : ""), *rest = text;
    bool good = (options && text) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (good) ss_options_defaults(table, options);
    for (char *one = good ? strtok_r(text, " ", &rest) : NULL; good && one; one = strtok_r(NULL, " ", &rest))
        good = ss_options_assign(table, options, one, err);
    ss_release(text);
    if (good) return options;
    ss_release(options);
    return NULL;
}

static void work(const tb_fence *fence, const ss_problem *problem, double *x, int pipe)
{
    ss_error err = {0};
    ss_solve_result result = {0};
    outcome out = {.status = SS_FAILED};
    const char *text = NULL;

    share_library();
    ss_plugin_file *file = ss_plugin_open(fence->path, &err);
    const ss_solver *solver = file ? find_solver(ss_plugin_contents(file), fence->solver, &err) : NULL;
    void *options = solver ? read_options(solver, fence->set, &err) : NULL;
    const char *refusal = options ? ss_solver_refusal(solver, problem) : NULL;
    if (refusal) {
        out.status = SS_NOT_APPLICABLE;
        text = refusal;
    } else if (options) {
        ss_solve_request request = {.solver = solver,
                                    .solver_options = options,
                                    .problem = (ss_problem *)(uintptr_t)problem, // has its matrix already
                                    .run = &fence->run};
        if (ss_solve(&request, x, &result, &err)) {
            out = (outcome){.status = result.status,
                            .iterations = result.iterations,
                            .kept_iteration = result.kept_iteration,
                            .history = result.history.count,
                            .seconds = result.seconds};
            text = result.notes;
        }
    }
    if (!text) text = err.message;
    out.text = (int)strlen(text);

    size_t rows = (size_t)out.history * sizeof(double);
    bool good = send(pipe, &out, sizeof out) && send(pipe, x, (size_t)problem->size * sizeof *x);
    if (out.history) {
        good = good && send(pipe, result.history.seconds, rows);
        for (int g = 0; good && g < SS_GAUGE_COUNT; g++) good = send(pipe, result.history.gauge[g], rows);
    }
    if (good) send(pipe, text, (size_t)out.text);
}

/* ---- the parent --------------------------------------------------------------------------------------- */

/* Everything until the end of the pipe; false when the run has to end before. */
static bool receive(int pipe, ss_run *run, double deadline, char **bytes, size_t *count)
{
    size_t room = 0;
    *bytes = NULL;
    *count = 0;
    while (true) {
        struct pollfd look = {.fd = pipe, .events = POLLIN};
        int ready = poll(&look, 1, 20);
        if (ss_run_late(run) && (deadline <= 0 || ss_clock_seconds() > deadline)) return false;
        if (ready <= 0) continue;
        if (room - *count < 1 << 16) {
            char *grown = realloc(*bytes, room = 2 * room + (1 << 17));
            if (!grown) return false;
            *bytes = grown;
        }
        ssize_t got = read(pipe, *bytes + *count, room - *count);
        if (got < 0 && errno != EINTR) return false;
        if (got == 0) return true;
        if (got > 0) *count += (size_t)got;
    }
}

/* Takes `count` bytes from the front. */
static bool take(char **rest, size_t *left, void *to, size_t count)
{
    if (*left < count) return false;
    if (count) memcpy(to, *rest, count);
    *rest += count;
    *left -= count;
    return true;
}

static bool unpack(tb_fence *fence, const ss_problem *problem, double *x, char *bytes, size_t count,
                   ss_status *status)
{
    outcome out;
    if (!take(&bytes, &count, &out, sizeof out) || out.history < 0 || out.text < 0 ||
        !take(&bytes, &count, x, (size_t)problem->size * sizeof *x))
        return false;
    *status = out.status;
    fence->iterations = out.iterations;
    fence->kept_iteration = out.kept_iteration;
    fence->seconds = out.seconds;
    if (out.history) {
        size_t rows = (size_t)out.history * sizeof(double);
        fence->history.count = out.history;
        bool good = (fence->history.seconds = ss_allocate((size_t)out.history, sizeof(double))) != NULL &&
                    take(&bytes, &count, fence->history.seconds, rows);
        for (int g = 0; good && g < SS_GAUGE_COUNT; g++)
            good = (fence->history.gauge[g] = ss_allocate((size_t)out.history, sizeof(double))) != NULL &&
                   take(&bytes, &count, fence->history.gauge[g], rows);
        if (!good) return false;
    }
    size_t length = (size_t)out.text < sizeof fence->notes ? (size_t)out.text : sizeof fence->notes - 1;
    return take(&bytes, &count, fence->notes, length);
}

ss_status tb_fence_solve(tb_fence *fence, const ss_problem *problem, ss_run *run, double *x)
{
    int ends[2], how = 0;
    pid_t child;
    if (pipe(ends) != 0) {
        snprintf(fence->notes, sizeof fence->notes, "no pipe for the plug-in: %s", strerror(errno));
        return SS_FAILED;
    }
    double start = ss_clock_seconds();
    if ((child = fork()) == 0) {
        static const int ours[] = {SIGINT, SIGTERM, SIGHUP,  SIGSEGV, SIGBUS,
                                   SIGFPE, SIGILL,  SIGABRT, SIGPIPE};
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) signal(ours[i], SIG_DFL); // not Octave's
        close(ends[0]);
        work(fence, problem, x, ends[1]);
        _exit(0); // nothing of Octave's is to be flushed or called twice
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        snprintf(fence->notes, sizeof fence->notes, "no process for the plug-in: %s", strerror(errno));
        return SS_FAILED;
    }

    // The child watches the time limit itself; it is killed a second later, or when the user wants to stop.
    char *bytes;
    size_t count;
    ss_status status = SS_FAILED;
    double limit = fence->run.time_limit;
    bool whole = receive(ends[0], run, limit > 0 ? start + limit + 1 : 0, &bytes, &count);
    if (!whole) kill(child, SIGKILL);
    close(ends[0]);
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    fence->ran = true;
    if (!whole) {
        status = ss_run_status(run) == SS_CANCELLED ? SS_CANCELLED : SS_TIME_LIMIT;
        snprintf(fence->notes, sizeof fence->notes, "the plug-in did not stop by itself");
    } else if (!WIFEXITED(how) || WEXITSTATUS(how) != 0 ||
               !unpack(fence, problem, x, bytes, count, &status)) {
        status = SS_FAILED;
        if (WIFSIGNALED(how))
            snprintf(fence->notes, sizeof fence->notes, "the plug-in crashed: %s", strsignal(WTERMSIG(how)));
        else
            snprintf(fence->notes, sizeof fence->notes, "the plug-in ended without an answer");
    }
    free(bytes);
    fence->status = status;
    return status;
}

void tb_fence_free(tb_fence *fence)
{
    ss_release(fence->history.seconds);
    for (int g = 0; g < SS_GAUGE_COUNT; g++) ss_release(fence->history.gauge[g]);
}
