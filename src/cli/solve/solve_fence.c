/* `stickslip solve` with a plug-in and a time limit: a stranger's code may never return, so it runs in a
 * process of its own, which is ended when it does not stop; the frames after it are solved all the same. */
#include "cli/solve/solve.h"

#include "base/memory.h"
#include "cli/sandbox.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static const double factor = 2.0, extra = 2.0; // on the time limit; s: the matrix and judging take time, too

/* What comes first; then x, the columns of the history, the ray and the notes. */
typedef struct reply {
    unsigned magic;
    bool good;
    ss_error err;
    ss_solve_result result; /* its pointers mean something to the sender only */
    int notes;              /* bytes; -1: there are none */
} reply;
enum { MAGIC = 0x736c6970 };

/* ---- the process that runs ---------------------------------------------------------------------- */

static bool send_all(int to, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        ssize_t sent = write(to, at, size);
        if (sent < 0 && errno != EINTR) return false;
        if (sent > 0) at += sent, size -= (size_t)sent;
    }
    return true;
}

/* ---- the process that waits --------------------------------------------------------------------- */

/* False when it has closed its end, when the time is up, or when the user wants to stop. */
static bool receive(int from, double deadline, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        double left = deadline - ss_clock_seconds();
        struct pollfd ear = {.fd = from, .events = POLLIN};
        if (!(left > 0.0) || ss_sandbox_interrupted()) return false;
        int ready = poll(&ear, 1, (int)(1e3 * (left < 1.0 ? left : 1.0)) + 1); // a limit may be long
        if (ready <= 0) continue;
        ssize_t got = read(from, at, size);
        if (got == 0 || (got < 0 && errno != EINTR)) return false;
        if (got > 0) at += got, size -= (size_t)got;
    }
    return true;
}

static double *receive_column(int from, double deadline, int count)
{
    double *column = ss_allocate((size_t)count, sizeof *column);
    if (column && receive(from, deadline, column, (size_t)count * sizeof *column)) return column;
    ss_release(column);
    return NULL;
}

/* Everything after the first part. What has been received is in `result`, to be freed in any case. */
static bool receive_rest(int from, double deadline, const reply *first, int size, double *x,
                         ss_solve_result *result)
{
    int rows = first->result.history.count;
    *result = first->result;
    result->history = (ss_history){.count = rows};
    result->ray.impulse = NULL;
    result->notes = NULL;
    bool good = rows >= 0 && receive(from, deadline, x, (size_t)size * sizeof *x);
    if (good && rows > 0) {
        good = (result->history.seconds = receive_column(from, deadline, rows)) != NULL;
        for (int g = 0; good && g < SS_GAUGE_COUNT; g++)
            good = (result->history.gauge[g] = receive_column(from, deadline, rows)) != NULL;
    }
    if (good && first->result.ray.impulse)
        good = (result->ray.impulse = receive_column(from, deadline, size)) != NULL;
    if (good && first->notes >= 0) {
        result->notes = ss_allocate((size_t)first->notes + 1, 1);
        good = result->notes && receive(from, deadline, result->notes, (size_t)first->notes);
    }
    return good;
}

static bool wait_for_reply(ss_session *session, pid_t runner, int from, double patience, bool *is_ended,
                           ss_error *err)
{
    const ss_result *all = ss_session_result(session);
    double began = ss_clock_seconds(), deadline = began + patience;
    int size = all->problem->size, status = 0;
    double *x = ss_allocate((size_t)size + 1, sizeof *x);
    ss_solve_result result = {0};
    reply first = {0};
    bool good = x != NULL && receive(from, deadline, &first, sizeof first) && first.magic == MAGIC;
    bool failed = good && !first.good;
    bool whole = good && first.good && receive_rest(from, deadline, &first, size, x, &result);

    bool is_late = ss_clock_seconds() >= deadline || ss_sandbox_interrupted();
    *is_ended = !whole && !failed && is_late;
    if (*is_ended) kill(runner, SIGKILL);
    while (waitpid(runner, &status, 0) < 0 && errno == EINTR) continue;

    if (failed) {
        *err = first.err;
    } else if (whole) {
        ss_session_take_run(session, &result, x);
    } else {
        ss_solve_result_free(&result);

        // It died before it had answered: as if it had been us, which the sandbox explains.
        if (!is_late) {
            if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
            signal(WTERMSIG(status), SIG_DFL);
            raise(WTERMSIG(status));
        }

        // Nothing came back in time: the answer is the start, which is in the session.
        double seconds = ss_clock_seconds() - began;
        result = (ss_solve_result){.status = ss_sandbox_interrupted() ? SS_CANCELLED : SS_TIME_LIMIT,
                                   .seconds = seconds,
                                   .elapsed = seconds};
        whole = ss_problem_measure(all->problem, all->x, result.gauge, err);
        if (whole) ss_session_take_run(session, &result, all->x);
    }
    ss_release(x);
    return whole;
}

double ss_solving_patience(double time_limit)
{
    return factor * time_limit + extra;
}

bool ss_solving_run_fenced(ss_session *session, bool *is_ended, ss_error *err)
{
    double patience = ss_solving_patience(ss_session_method(session)->run.time_limit);
    int ends[2];
    *is_ended = false;
    if (pipe(ends) != 0) return ss_fail(err, SS_ERROR_RESOURCES, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL); // or it would be printed twice
    pid_t runner = fork();
    if (runner == 0) {
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        close(ends[0]);

        // Sends back how it went, then the arrays that the reply only points to.
        reply first = {.magic = MAGIC};
        first.good = ss_session_run(session, &first.err);
        const ss_result *all = ss_session_result(session);
        const ss_solve_result *run = &all->run;
        size_t n = (size_t)all->problem->size * sizeof *all->x;
        size_t rows = (size_t)run->history.count * sizeof(double);
        first.result = *run;
        first.notes = run->notes ? (int)strlen(run->notes) : -1;
        fflush(NULL); // what the plug-in has printed
        bool good = send_all(ends[1], &first, sizeof first) && first.good;
        good = good && send_all(ends[1], all->x, n) && send_all(ends[1], run->history.seconds, rows);
        for (int g = 0; good && g < SS_GAUGE_COUNT; g++)
            good = send_all(ends[1], run->history.gauge[g], rows);
        if (good && run->ray.impulse) good = send_all(ends[1], run->ray.impulse, n);
        if (good && first.notes > 0) send_all(ends[1], run->notes, (size_t)first.notes);
        _exit(0);
    }

    close(ends[1]);
    bool good = runner > 0 ? wait_for_reply(session, runner, ends[0], patience, is_ended, err)
                           : ss_fail(err, SS_ERROR_RESOURCES, "cannot start a process: %s", strerror(errno));
    close(ends[0]);
    return good;
}
