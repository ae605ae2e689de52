#define _GNU_SOURCE // sched_setaffinity, close_range
#include "campaign/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#define CRASH_STACK ((size_t)64 * 1024)
#define GROWN 0.5 /* share of the limit by which a worker may grow before it is replaced */

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
static const int parents_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

bool ss_worker_limits_space(void)
{
    return !SANITIZED;
}

/* ---- size ---------------------------------------------------------------------------------------- */

/* Runs inside a signal handler as well: no library calls that are not safe there. */
bool ss_process_size(pid_t pid, double *space, double *resident)
{
    // "/proc/self/statm" or "/proc/123/statm"
    char path[48] = "/proc/", digits[16];
    int count = 0;
    if (pid == 0) strcat(path, "self");
    for (; pid > 0; pid /= 10) digits[count++] = (char)('0' + pid % 10);
    for (char *at = path + strlen(path); count > 0; *at = '\0') *at++ = digits[--count];
    strcat(path, "/statm");
    char text[128];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);

    // Two numbers of pages.
    double pages[2] = {0}, page = (double)sysconf(_SC_PAGESIZE) / 1e6;
    const char *at = text, *end = text + (length > 0 ? length : 0);
    for (int i = 0; i < 2; i++, at++)
        for (; at < end && *at >= '0' && *at <= '9'; at++) pages[i] = 10 * pages[i] + (*at - '0');
    *space = pages[0] * page;
    *resident = pages[1] * page;
    return length > 0;
}

double ss_process_seconds(pid_t pid)
{
    clockid_t clock;
    struct timespec now;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) return NAN;
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- last words ---------------------------------------------------------------------------------- */

static ss_worker_page *dying_page; // of this process, for the handler

/* A solver that gets no memory and does not look dies of a null pointer: how much it had tells
 * the two apart. */
static void note_size(int number)
{
    double space = 0.0, resident = 0.0;
    if (ss_process_size(0, &space, &resident)) dying_page->crash_megabytes = space;
    signal(number, SIG_DFL);
    raise(number);
}

/* What a new worker does before its first task. */
static void settle(const ss_pool *pool, ss_worker *worker, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0); // it died before we asked to be told
    // A terminal signals everyone; the parent decides what becomes of us.
    for (size_t i = 0; i < COUNT_OF(parents_signals); i++) signal(parents_signals[i], SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});

    // Locks and connections of the parent are not ours to hold.
    int socket = worker->socket;
    if (socket > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, (unsigned)socket - 1, 0);
    close_range((unsigned)socket + 1, ~0U, 0);

    // Solvers of plug-ins print: not into our results.
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        if (!SANITIZED) dup2(nothing, STDERR_FILENO);
        if (nothing > STDERR_FILENO) close(nothing);
    }

    // Where it may not be pinned, times are what they are.
    if (pool->core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)pool->core, &set);
        sched_setaffinity(0, sizeof set, &set);
    }

    // Its last words. A sanitizer has handlers of its own; the stack is kept for life.
    dying_page = worker->page;
    dying_page->crash_megabytes = 0.0;
    stack_t stack = {.ss_sp = SANITIZED ? NULL : malloc(CRASH_STACK), .ss_size = CRASH_STACK};
    if (stack.ss_sp && sigaltstack(&stack, NULL) == 0) {
        struct sigaction action = {.sa_handler = note_size, .sa_flags = SA_ONSTACK | SA_NODEFER};
        sigemptyset(&action.sa_mask);
        for (size_t i = 0; i < COUNT_OF(crash_signals); i++) sigaction(crash_signals[i], &action, NULL);
    }
    double resident;
    ss_process_size(0, &worker->start_megabytes, &resident);
}

/* ---- tasks --------------------------------------------------------------------------------------- */

void ss_worker_phase(ss_worker *worker, ss_phase phase)
{
    worker->page->cancel = 0;
    worker->page->since = ss_clock_seconds();
    worker->page->since_processor = ss_process_seconds(0);
    worker->page->forgiven = 0.0;
    worker->page->phase = phase;
}

volatile double *ss_worker_forgiven(ss_worker *worker)
{
    return &worker->page->forgiven;
}

const volatile int *ss_worker_cancel(const ss_worker *worker)
{
    return &worker->page->cancel;
}

static bool receive(int socket, void *bytes, size_t size)
{
    for (size_t got = 0; got < size;) {
        ssize_t now = read(socket, (char *)bytes + got, size - got);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) return false;
        got += (size_t)now;
    }
    return true;
}

static bool send_all(int socket, const void *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        ssize_t now = send(socket, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return false;
        sent += (size_t)now;
    }
    return true;
}

_Noreturn void ss_worker_live(const ss_pool *pool, ss_worker_page *page, int socket, pid_t parent)
{
    ss_worker worker = {.page = page, .socket = socket};
    settle(pool, &worker, parent);
    ss_worker_request request;
    ss_text reply = {0};
    void *state = pool->begin ? pool->begin(pool->context, &worker) : pool->context;
    double space, resident, most = pool->max_megabytes;
    while (receive(socket, &request, sizeof request)) {
        // What a task may take comes on top of what is there already.
        ss_text_clear(&reply);
        if (!SANITIZED && most > 0 && ss_process_size(0, &space, &resident)) {
            struct rlimit limit = {0};
            getrlimit(RLIMIT_AS, &limit);
            limit.rlim_cur = (rlim_t)((space + most) * 1e6);
            if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max)
                limit.rlim_cur = limit.rlim_max;
            setrlimit(RLIMIT_AS, &limit);
        }
        ss_worker_phase(&worker, SS_PHASE_READING);
        pool->work(state, &request.task, &reply);

        // One that has grown much is replaced before its next task.
        ss_worker_phase(&worker, SS_PHASE_REPLYING);
        if (most > 0 && ss_process_size(0, &space, &resident)) {
            double grown = SANITIZED ? resident : space - worker.start_megabytes;
            if (grown > GROWN * most) page->retire = 1;
        }
        ss_message_head head = {SS_MESSAGE_MAGIC, request.serial, reply.length};
        if (reply.out_of_memory) head.size = 0;
        if (!send_all(socket, &head, sizeof head) || !send_all(socket, ss_text_get(&reply), head.size)) break;
    }
    _exit(0); // without the clean-up of libraries, which a plug-in may have broken
}
