#include "campaign/worker.h"

#include "linalg/dense.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 25                       /* between two looks at sizes and clocks */
#define MOST_REPLY ((uint64_t)256 << 20) /* bytes: more is nonsense */
#define LONGEST_SLEEP 60.0               /* s of wall time that need not be processor time, and */
#define SLEEPS_FACTOR 40.0               /* s of wall time for each of processor time after that */
#define CRASHED_FOR_SPACE 0.75           /* share of the limit that makes a crash a lack of memory */

typedef struct slot { /* a place for a worker */
    pid_t pid;        /* 0 = none */
    int socket;
    ss_worker_page *page;
    bool busy;
    ss_worker_request request;
    bool has_last;
    ss_task last;
    int served; /* tasks that this process was given */
    char started[32];
    double start_space, start_resident; /* MB, when the task began */
    ss_ending verdict;                  /* why we killed it; outcome 0 = we did not */
    bool condemned;
    ss_text inbox;
} slot;

typedef struct run {
    const ss_pool *pool;
    slot *slots;
    uint64_t serial;
    ss_error *err;
    bool failed;
} run;

static bool is_stopped(const run *r)
{
    return r->failed || (r->pool->stop && *r->pool->stop);
}

/* ---- birth and death ----------------------------------------------------------------------------- */

/* Forks the worker of a slot. */
static bool start_worker(run *r, slot *s)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    *s->page = (ss_worker_page){.since = ss_clock_seconds()};
    pid_t parent = getpid(), child = fork();

    if (child == 0) {
        for (int i = 0; i < r->pool->workers; i++)
            if (r->slots[i].pid > 0) close(r->slots[i].socket);
        close(ends[0]);
        ss_worker_live(r->pool, s->page, ends[1], parent);
    }

    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return false;
    }
    s->pid = child;
    s->socket = ends[0];
    s->has_last = s->condemned = false;
    s->served = 0;
    ss_text_clear(&s->inbox);
    return true;
}

/* Ends the worker, if it has not ended itself, and returns how (waitpid). */
static int end_worker(slot *s)
{
    int status = 0;
    close(s->socket); // one that waits for a task leaves now
    if (s->condemned) kill(s->pid, SIGKILL);
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR) {
    }
    s->pid = 0;
    s->busy = false;
    return status;
}

static void SS_PRINTF(3, 4) condemn(slot *s, ss_outcome outcome, const char *format, ...)
{
    va_list numbers;
    s->condemned = true;
    s->verdict = (ss_ending){.outcome = outcome};
    va_start(numbers, format);
    vsnprintf(s->verdict.message, sizeof s->verdict.message, format, numbers);
    va_end(numbers);
}

static bool is_at_its_limit(const run *r, const slot *s, double space)
{
    double most = r->pool->max_megabytes;
    return most > 0 && ss_worker_limits_space() && space > s->start_space + CRASHED_FOR_SPACE * most;
}

/* The page is within reach of whatever the worker runs. */
static ss_phase phase_of(const slot *s)
{
    int phase = s->page->phase;
    return phase >= 0 && phase < SS_PHASES ? (ss_phase)phase : SS_PHASE_IDLE;
}

/* ---- tasks --------------------------------------------------------------------------------------- */

void ss_pool_time(char text[32])
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, 32 - length, ".%03ldZ", now.tv_nsec / 1000000);
}

/* False when there is nothing to do, or no process can be started for it (r->failed). */
static bool give_task(run *r, slot *s)
{
    ss_task task;
    if (is_stopped(r) || !r->pool->next(r->pool->context, s->has_last ? &s->last : NULL, &task)) return false;
    if (s->pid > 0 && (s->page->retire || (task.fresh && s->served > 0))) end_worker(s);
    if (s->pid == 0 && !start_worker(r, s)) {
        r->failed = true;
        return ss_fail(r->err, SS_ERROR_RESOURCES, "cannot start a process: %s", strerror(errno));
    }

    s->request = (ss_worker_request){++r->serial, task};
    s->page->since = ss_clock_seconds();
    s->page->forgiven = 0.0;
    s->page->phase = SS_PHASE_IDLE;
    ss_pool_time(s->started);
    ss_process_size(s->pid, &s->start_space, &s->start_resident);
    s->busy = true;
    s->served++;
    s->has_last = true;
    s->last = task;
    send(s->socket, &s->request, sizeof s->request, MSG_NOSIGNAL); // one that is dead is found by its silence
    return true;
}

static void hand_over(run *r, const ss_task *task, const ss_ending *ending, const char *reply, size_t size)
{
    if (is_stopped(r)) return; // the signal that stopped us may have killed it as well
    if (!r->pool->done(r->pool->context, task, ending, reply, size, r->err)) r->failed = true;
}

/* Ends a worker that owes a reply, finds out why it does, and reports that as the end of its task. */
static void bury(run *r, slot *s)
{
    ss_task task = s->request.task;
    int status = end_worker(s);
    ss_ending ending = {.outcome = SS_OUTCOME_CRASHED};
    if (s->condemned) {
        ending = s->verdict;
    } else if (!WIFSIGNALED(status)) {
        snprintf(ending.message, sizeof ending.message, "called exit(%d)", WEXITSTATUS(status));
    } else if (is_at_its_limit(r, s, s->page->crash_megabytes)) {
        ending.outcome = SS_OUTCOME_OUT_OF_MEMORY;
        snprintf(ending.message, sizeof ending.message, "needs more than %g MB", r->pool->max_megabytes);
    } else if (WTERMSIG(status) == SIGKILL) { // not by us: the kernel does so when memory runs out
        ending.outcome = SS_OUTCOME_OUT_OF_MEMORY;
        snprintf(ending.message, sizeof ending.message, "killed, probably by the system for lack of memory");
    } else {
        int number = WTERMSIG(status);
        snprintf(ending.message, sizeof ending.message, "signal %d (%s)", number, strsignal(number));
    }
    ending.phase = phase_of(s);
    ending.fresh = s->served == 1;
    memcpy(ending.started, s->started, sizeof ending.started);

    // A signal to the whole group may reach the worker first: our own end is near, and nothing is stored.
    if (!s->condemned && ending.outcome == SS_OUTCOME_OUT_OF_MEMORY && WTERMSIG(status) == SIGKILL)
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    hand_over(r, &task, &ending, NULL, 0);
}

/* ---- replies ------------------------------------------------------------------------------------- */

/* The next task goes out before the reply is looked at: no worker waits for the ledger. */
static void take_reply(run *r, slot *s)
{
    ss_ending ending = {.replied = true, .fresh = s->served == 1};
    ss_task task = s->request.task;
    ss_text reply = s->inbox;
    memcpy(ending.started, s->started, sizeof ending.started);
    s->inbox = (ss_text){0};
    s->busy = false;
    if (reply.length == sizeof(ss_message_head)) {
        ending.replied = false;
        ending.outcome = SS_OUTCOME_OUT_OF_MEMORY;
        snprintf(ending.message, sizeof ending.message, "needs more than %g MB", r->pool->max_megabytes);
        s->page->retire = 1;
    }
    give_task(r, s);
    hand_over(r, &task, &ending, reply.data + sizeof(ss_message_head),
              reply.length - sizeof(ss_message_head));
    ss_text_free(&reply);
}

/* Takes what has come from a worker, and the reply when it is whole. */
static void listen_to(run *r, slot *s)
{
    char bytes[1 << 16];
    ssize_t length = recv(s->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (length <= 0) {
        bury(r, s);
        return;
    }
    ss_text_append_bytes(&s->inbox, bytes, (size_t)length);

    ss_message_head head;
    bool nonsense = s->inbox.out_of_memory;
    if (!nonsense && s->inbox.length < sizeof head) return; // not even its head is whole
    if (!nonsense) {
        memcpy(&head, s->inbox.data, sizeof head);
        nonsense = head.magic != SS_MESSAGE_MAGIC || head.serial != s->request.serial ||
                   head.size > MOST_REPLY || s->inbox.length > sizeof head + head.size;
    }
    if (nonsense) {
        condemn(s, SS_OUTCOME_BROKEN, "invalid reply from its process");
        bury(r, s);
    } else if (s->inbox.length == sizeof head + head.size) {
        take_reply(r, s);
    }
}

/* ---- patience ------------------------------------------------------------------------------------ */

/* s that the phase has taken. One that sleeps, or forgives itself everything, takes time all the same. */
static double time_taken(const run *r, const slot *s, ss_phase phase)
{
    double wall = ss_clock_seconds() - s->page->since, forgiven = s->page->forgiven, taken = wall;
    if (phase != SS_PHASE_SOLVING) return wall;
    if (r->pool->by_processor) {
        double processor = ss_process_seconds(s->pid) - s->page->since_processor;
        if (isfinite(processor)) taken = processor;
    }
    if (isfinite(forgiven) && forgiven > 0.0) taken -= forgiven;
    return fmax(taken, (wall - LONGEST_SLEEP) / SLEEPS_FACTOR);
}

/* Condemns one that is too slow or too large. */
static void watch_worker(const run *r, slot *s)
{
    double space = 0.0, resident = 0.0, most = r->pool->max_megabytes;
    ss_process_size(s->pid, &space, &resident);
    ss_phase phase = phase_of(s);
    const ss_patience *patience = &r->pool->patience[phase], *own = &s->request.task.patience;
    if (phase == SS_PHASE_SOLVING && (own->soft > 0 || own->hard > 0)) patience = own;
    double waited = time_taken(r, s, phase);
    if (patience->soft > 0 && waited > patience->soft) s->page->cancel = 1;

    // One that waits for memory it will not get is not called hung.
    bool is_late = patience->hard > 0 && waited > patience->hard;
    if ((most > 0 && resident > s->start_resident + most) || (is_late && is_at_its_limit(r, s, space)))
        condemn(s, SS_OUTCOME_OUT_OF_MEMORY, "needs more than %g MB", most);
    else if (is_late)
        condemn(s, SS_OUTCOME_HUNG, "did not stop within %g s", patience->hard);
}

/* ---- the run ------------------------------------------------------------------------------------- */

bool ss_pool_run(const ss_pool *pool, ss_error *err)
{
    run r = {.pool = pool, .err = err};
    // workers get it with the rest of our memory; taken by a worker it would be a part of what its task takes
    if (pool->max_megabytes > 0) ss_blas_take_buffer();
    r.slots = ss_allocate((size_t)pool->workers, sizeof *r.slots);
    struct pollfd *ears = ss_allocate((size_t)pool->workers, sizeof *ears);
    r.failed = !ears || !r.slots;
    for (int i = 0; !r.failed && i < pool->workers; i++) {
        void *page =
            mmap(NULL, sizeof(ss_worker_page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        r.failed = page == MAP_FAILED;
        r.slots[i].page = r.failed ? NULL : page;
    }
    if (r.failed) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for workers");

    for (double next_look = 0.0; !is_stopped(&r);) {
        // A task for every worker that has none.
        bool busy = false;
        for (int i = 0; i < pool->workers; i++) busy |= r.slots[i].busy || give_task(&r, &r.slots[i]);
        if (!busy || is_stopped(&r)) break;

        // Those that have something to say are heard; one that is buried meanwhile is busy no more.
        for (int i = 0; i < pool->workers; i++)
            ears[i] = (struct pollfd){.fd = r.slots[i].busy ? r.slots[i].socket : -1, .events = POLLIN};
        int ready = poll(ears, (nfds_t)pool->workers, TICK_MS);
        for (int i = 0; ready > 0 && i < pool->workers; i++)
            if (ears[i].fd >= 0 && ears[i].revents && r.slots[i].busy) listen_to(&r, &r.slots[i]);
        if (ss_clock_seconds() < next_look) continue;

        // Now and then a look at all of them. The socket of one that is dead may be kept open by processes
        // that a solver has started.
        next_look = ss_clock_seconds() + TICK_MS * 1e-3;
        for (int i = 0; i < pool->workers; i++) {
            slot *s = &r.slots[i];
            if (!s->busy) continue;
            watch_worker(&r, s);
            siginfo_t info = {0};
            int waited = waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT);
            if (s->condemned || (waited == 0 && info.si_pid == s->pid)) bury(&r, s);
        }
        if (pool->idle) pool->idle(pool->context);
    }

    for (int i = 0; r.slots && i < pool->workers; i++) {
        slot *s = &r.slots[i];
        if (s->busy) s->condemned = true;
        if (s->pid > 0) end_worker(s);
        ss_text_free(&s->inbox);
        if (s->page) munmap(s->page, sizeof *s->page);
    }
    ss_release(r.slots);
    ss_release(ears);
    return !r.failed;
}
