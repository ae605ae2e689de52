/* A solver that is another process: problems go to its standard input, iterates come from its standard
 * output. docs/pipe.md has the protocol to the byte. The process is not trusted: what it sends is checked
 * before it is used, it never makes us wait beyond the time limit, and when it dies its last line on standard
 * error is part of the message. It is started when its first problem comes, and again after it has died. */
#define _GNU_SOURCE // pipe2, close_range
#include <stickslip/plugin.h>

#include "base/digest.h"

#include "base/option_rows.h"
#include "base/file.h"
#include "base/text.h"
#include "plugin/plugin_set.h"
#include "problem/laws.h"
#include "solver/core/run_state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are sent as they are in memory: this needs a little-endian machine"
#endif

enum { VERSION = 1, WORD = 8, HEAD = 2 * WORD };
enum { FORM_DENSE = 0, FORM_ROWS = 1 };           // of the matrix, as the process wants it
enum { MOST_TEXT = 1 << 16 };                     // bytes of a text that it may send
enum { MOST_DENSE = 8000 };                       // unknowns: 512 MB
static const double start_patience = 60.0;        // s until it has to have said hello
static const double stop_patience = 0.1;          // s that it has to end after the time limit, or after STOP
static const double end_patience = 1.0;           // s to leave when nothing is left to do
static const int look_ms = 5;                     // between two looks at the clock
static const size_t most_file = (size_t)64 << 20; // bytes of a file whose contents distinguish versions

typedef struct command_options {
    const char *options;
} command_options;

static const ss_option options_table[] = {{SS_ROW_OF(SS_OPTION_TEXT, command_options, options, NULL),
                                           .help = "text for the process, passed on with every problem"},
                                          {0}};

struct ss_solver_command {
    char *name, *command, *label, *version;
    char *script; /* the command for the shell: "exec ..." where it is one program */
    ss_solver solver;
    const ss_solver *list[2];
    ss_extension extension;

    pid_t pid;   /* 0: no process */
    pid_t owner; /* of the process: it is not ours in a fork of us */
    int to, from, errors;
    unsigned laws, traits;
    int form;
    char last[512]; /* of its standard error: the last line, or the one that is being written */
    size_t last_length;
    bool line_ended;
};

/* ---- its standard error --------------------------------------------------------------------------- */

/* Keeps the last line. False when it has closed it. */
static bool drain_errors(ss_solver_command *c)
{
    char bytes[4096];
    ssize_t got;
    while ((got = read(c->errors, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            if (bytes[i] == '\n' || bytes[i] == '\r') {
                c->line_ended = true;
                continue;
            }
            if (c->line_ended) c->last_length = 0;
            c->line_ended = false;
            bool printable = (unsigned char)bytes[i] >= ' ' && bytes[i] != 0x7f;
            if (c->last_length < sizeof c->last - 1) c->last[c->last_length++] = printable ? bytes[i] : ' ';
        }
        c->last[c->last_length] = '\0';
        if (got < (ssize_t)sizeof bytes) break; // one that never stops talking must not keep us here
    }
    return got != 0;
}

/* ---- birth and death ------------------------------------------------------------------------------ */

static void forget(ss_solver_command *c)
{
    if (c->pid == 0) return;
    if (c->to >= 0) close(c->to);
    close(c->from);
    close(c->errors);
    c->pid = 0;
}

/* Ends the process, if it has not ended itself within the time, and returns how (waitpid). */
static int end(ss_solver_command *c, double patience)
{
    int status = 0;
    double until = ss_clock_seconds() + patience;
    pid_t gone = 0;
    if (c->pid == 0) return 0;
    while ((gone = waitpid(c->pid, &status, WNOHANG)) == 0 && ss_clock_seconds() < until)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    if (gone == 0) {
        if (kill(-c->pid, SIGKILL) != 0) kill(c->pid, SIGKILL);
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
    }
    drain_errors(c);
    forget(c);
    return status;
}

/* In the new process: only calls that are safe between fork and exec in a program with threads.
 * `bound`: it is killed with the thread that started it, whatever becomes of us. */
static _Noreturn void become(const char *script, int in, int out, int errors, pid_t parent, bool bound)
{
#ifdef __linux__
    if (bound) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
#else
    (void)parent, (void)bound;
#endif

    static const int usual[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t none;
    setpgid(0, 0); // with what it starts itself
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) signal(usual[i], SIG_DFL);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
        _exit(127);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    execl("/bin/sh", "sh", "-c", script, (char *)NULL);
    _exit(127);
}

/* Three pipes, none of which is one of the standard streams: a program that has closed those would mix them
 * up. */
static bool make_pipes(int ends[6])
{
    for (int i = 0; i < 6; i++) ends[i] = -1;
    for (int i = 0; i < 3; i++) {
        if (pipe2(ends + 2 * i, O_CLOEXEC) != 0) return false;
        for (int k = 2 * i; k < 2 * i + 2; k++) {
            if (ends[k] > STDERR_FILENO) continue;
            int other = fcntl(ends[k], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
            close(ends[k]);
            ends[k] = other;
            if (other < 0) return false;
        }
    }
    return true;
}

static bool start(ss_solver_command *c)
{
    int ends[6]; // its input, output and standard error: read, write each
    pid_t parent = getpid(), child = -1;
    bool bound = false;
#ifdef __linux__
    // another thread may end while we work on with the process: then only the end of its input ends it
    bound = gettid() == parent;
#endif
    bool good = make_pipes(ends) && (child = fork()) >= 0;
    if (child == 0) become(c->script, ends[0], ends[3], ends[5], parent, bound);

    const int ours[3] = {ends[1], ends[2], ends[4]}, its[3] = {ends[0], ends[3], ends[5]};
    for (int i = 0; i < 3; i++) {
        if (its[i] >= 0) close(its[i]);
        if (good) fcntl(ours[i], F_SETFL, O_NONBLOCK);
        if (!good && ours[i] >= 0) close(ours[i]);
    }
    if (!good) return false;

    c->pid = child;
    c->owner = parent;
    c->to = ours[0], c->from = ours[1], c->errors = ours[2];
    c->last_length = 0;
    c->last[0] = '\0';
    c->line_ended = false;
    return true;
}

/* ---- words back and forth ------------------------------------------------------------------------- */

typedef enum ending {
    FINE,
    CLOSED, /* it has closed its end */
    LATE,   /* no answer in time */
    SPOKE,  /* it sends before it is asked */
} ending;

/* How long to wait. The time limit is that of the run, once it counts. */
typedef struct patience {
    ss_run *run; /* NULL: there is none yet */
    bool counts; /* the run's own limits: false while the process starts */
    double until;
} patience;

/* Waits until its output can be read or its input written; its standard error is read meanwhile. */
static ending wait_for(ss_solver_command *c, patience *p, bool writing)
{
    bool has_errors = true;
    for (;;) {
        struct pollfd ears[3] = {{.fd = c->from, .events = POLLIN},
                                 {.fd = has_errors ? c->errors : -1, .events = POLLIN},
                                 {.fd = writing ? c->to : -1, .events = POLLOUT}};
        int ready = poll(ears, 3, look_ms);
        if (ready > 0 && ears[1].revents) has_errors = drain_errors(c);
        if (ready > 0 && writing && ears[0].revents & POLLIN) return SPOKE;
        if (ready > 0 && writing && ears[2].revents) return ears[2].revents & POLLOUT ? FINE : CLOSED;
        if (ready > 0 && !writing && ears[0].revents) return FINE; // or its end

        // Once the run is to stop, there is only a moment left.
        double now = ss_clock_seconds();
        const struct ss_run_state *state = p->run ? p->run->state : NULL;
        bool stop = p->counts ? ss_run_late(p->run) : state && state->cancel && *state->cancel;
        if (stop && now + stop_patience < p->until) p->until = now + stop_patience;
        if (now >= p->until) return LATE;
    }
}

static ending receive(ss_solver_command *c, patience *p, void *to, size_t size)
{
    for (char *at = to; size > 0;) {
        ssize_t got = read(c->from, at, size);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return CLOSED;
        if (got > 0) {
            at += got;
            size -= (size_t)got;
            continue;
        }
        ending how = wait_for(c, p, false);
        if (how != FINE) return how;
    }
    return FINE;
}

static ending send_all(ss_solver_command *c, patience *p, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        ssize_t sent = write(c->to, at, size);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) return CLOSED;
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
            continue;
        }
        ending how = wait_for(c, p, true);
        if (how != FINE) return how;
    }
    return FINE;
}

/* A program that uses the library may not have ignored SIGPIPE: a process that is gone must not end it. */
static ending send_quietly(ss_solver_command *c, patience *p, const void *bytes, size_t size)
{
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    ending how = send_all(c, p, bytes, size);
    if (how == CLOSED && !was_pending) sigtimedwait(&pipe_only, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return how;
}

/* A message that is being written: words of 8 bytes. */
typedef struct message {
    unsigned char *bytes;
    size_t size;
} message;

static void put_int(message *m, int64_t value)
{
    memcpy(m->bytes + m->size, &value, WORD);
    m->size += WORD;
}

static void put_real(message *m, double value)
{
    memcpy(m->bytes + m->size, &value, WORD);
    m->size += WORD;
}

static void put_reals(message *m, const double *values, int count)
{
    if (count) memcpy(m->bytes + m->size, values, (size_t)count * WORD);
    m->size += (size_t)count * WORD;
}

static void put_ints(message *m, const int *values, int count)
{
    for (int i = 0; i < count; i++) put_int(m, values[i]);
}

static size_t text_size(const char *text)
{
    return WORD + (strlen(text) + WORD - 1) / WORD * WORD;
}

static void put_text(message *m, const char *text)
{
    size_t length = strlen(text);
    put_int(m, (int64_t)length);
    memset(m->bytes + m->size, 0, text_size(text) - WORD);
    memcpy(m->bytes + m->size, text, length);
    m->size += text_size(text) - WORD;
}

static void begin(message *m, const char *type, size_t payload)
{
    char word[WORD] = {0};
    memcpy(word, type, strlen(type));
    memcpy(m->bytes, word, WORD);
    m->size = WORD;
    put_int(m, (int64_t)payload);
}

/* ---- what can go wrong ---------------------------------------------------------------------------- */

/* The process is ended; a status for the run, with the reason. */
static ss_status SS_PRINTF(4, 5)
    give_up(ss_solver_command *c, ss_run *run, ending how, const char *format, ...)
{
    char what[300], ended[120] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    int status = end(c, how == CLOSED ? end_patience : 0.0);
    if (!run) return SS_FAILED;
    if (how == LATE && (ss_run_late(run) || ss_run_status(run) == SS_CANCELLED)) {
        ss_run_note(run, "%s: killed, it did not stop", c->name);
        return ss_run_status(run);
    }
    if (how == CLOSED && WIFSIGNALED(status))
        snprintf(ended, sizeof ended, "ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (how == CLOSED)
        snprintf(ended, sizeof ended, "ended with exit code %d", WEXITSTATUS(status));
    return ss_run_fail(run, "%s: %s%s%s%s%s", c->name, ended, *ended ? " " : "", what, *c->last ? ": " : "",
                       c->last);
}

/* What it sent in the place of a message, as far as that can be shown. */
static ss_status refuse_bytes(ss_solver_command *c, ss_run *run, const unsigned char head[HEAD])
{
    char shown[HEAD + 1] = {0};
    for (int i = 0; i < HEAD; i++) shown[i] = head[i] >= ' ' && head[i] < 0x7f ? (char)head[i] : '.';
    return give_up(c, run, FINE,
                   "wrote \"%s\" to its standard output, which is no message of the protocol (docs/pipe.md)",
                   shown);
}

/* ---- messages of it ------------------------------------------------------------------------------- */

typedef struct heading {
    unsigned char bytes[HEAD];
    char type[WORD + 1];
    uint64_t size;
} heading;

static ending receive_heading(ss_solver_command *c, patience *p, heading *head)
{
    ending how = receive(c, p, head->bytes, HEAD);
    memcpy(head->type, head->bytes, WORD);
    head->type[WORD] = '\0';
    memcpy(&head->size, head->bytes + WORD, WORD);
    return how;
}

static bool is(const heading *head, const char *type)
{
    return memcmp(head->type, type, strlen(type)) == 0 && strnlen(head->type, WORD) == strlen(type);
}

/* The rest of a message: a text that takes all of `size` bytes, made printable and put into one line. */
static ending receive_text(ss_solver_command *c, patience *p, size_t size, char *text, size_t room,
                           bool *good)
{
    uint64_t length = 0;
    char bytes[1024];
    size_t at = 0;
    ending how = receive(c, p, &length, WORD);
    *good = how == FINE && length <= size - WORD && size - WORD - length < WORD;
    text[0] = '\0';
    if (!*good) return how;
    for (size_t left = size - WORD; left > 0;) {
        size_t part = left < sizeof bytes ? left : sizeof bytes;
        how = receive(c, p, bytes, part);
        if (how != FINE) return how;
        for (size_t i = 0; i < part && at < length && at + 1 < room; i++, at++)
            text[at] = (unsigned char)bytes[i] >= ' ' && bytes[i] != 0x7f ? bytes[i] : ' ';
        left -= part;
    }
    text[at] = '\0';
    return FINE;
}

/* ---- hello ---------------------------------------------------------------------------------------- */

/* SS_CONVERGED: it is ready. */
static ss_status greet(ss_solver_command *c, ss_run *run)
{
    patience p = {.run = run, .until = ss_clock_seconds() + start_patience};
    unsigned char bytes[128];
    char program[64];
    snprintf(program, sizeof program, "stickslip %s", ss_version());

    // We speak first.
    message m = {.bytes = bytes};
    begin(&m, "HELLO", WORD + text_size(program));
    put_int(&m, VERSION);
    put_text(&m, program);
    ending how = send_quietly(c, &p, bytes, m.size);
    heading head;
    if (how == FINE) how = receive_heading(c, &p, &head);
    if (how == LATE) return give_up(c, run, how, "sent no HELLO within %g s", start_patience);
    if (how == SPOKE) return give_up(c, run, how, "spoke before it was spoken to");
    if (how == CLOSED) return give_up(c, run, how, "before its HELLO");
    if (!is(&head, "HELLO")) return refuse_bytes(c, run, head.bytes);

    // Version, laws, traits, form of the matrix.
    int64_t words[4];
    if (head.size != sizeof words)
        return give_up(c, run, FINE, "sent a HELLO of %llu bytes, must be %zu", (unsigned long long)head.size,
                       sizeof words);
    how = receive(c, &p, words, sizeof words);
    if (how != FINE) return give_up(c, run, how, "within its HELLO");
    if (words[0] != VERSION)
        return give_up(c, run, FINE, "speaks version %lld of the protocol, must be %d", (long long)words[0],
                       VERSION);
    unsigned all = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX;
    if (words[1] <= 0 || words[1] & ~(int64_t)all || (words[3] != FORM_DENSE && words[3] != FORM_ROWS))
        return give_up(c, run, FINE, "sent a HELLO with laws %lld and form %lld, which do not exist",
                       (long long)words[1], (long long)words[3]);
    c->laws = (unsigned)words[1];
    c->traits = (unsigned)words[2] & (SS_NEEDS_SYMMETRIC | SS_NEEDS_DIAGONAL | SS_SPINNING_CONES);
    c->form = (int)words[3];
    return SS_CONVERGED;
}

/* ---- a problem ------------------------------------------------------------------------------------ */

/* rows: A' by columns, that is, A by rows. In the memory of the run; NULL bytes without memory. */
static message write_problem(const ss_solver_command *c, const ss_problem *problem, const ss_sparse *rows,
                             const command_options *set, const ss_run *run, const double *x)
{
    enum { NUMBERS = 8, PER_UNKNOWN = 6, PER_BLOCK = 7 };
    int n = problem->size, entries = rows->start[n];
    const char *options = set && set->options ? set->options : "";
    size_t size = n, matrix = c->form == FORM_DENSE ? size * size : size + 1 + 2 * (size_t)entries;
    size_t payload =
        WORD * (NUMBERS + PER_UNKNOWN * size + PER_BLOCK * (size_t)problem->block_count + matrix) +
        text_size(options);
    message m = {.bytes = ss_arena_take(run->arena, HEAD + payload, 1, "message of a problem")};
    if (!m.bytes) return m;

    // The order of docs/pipe.md.
    begin(&m, "PROBLEM", payload);
    put_int(&m, n);
    put_int(&m, problem->block_count);
    put_int(&m, c->form);
    put_int(&m, entries);
    put_int(&m, problem->symmetric);
    put_int(&m, run->max_iterations);
    put_real(&m, run->time_limit);
    put_int(&m, (int64_t)run->seed);
    put_reals(&m, problem->b, n);
    put_reals(&m, problem->lower, n);
    put_reals(&m, problem->upper, n);
    put_ints(&m, problem->partner, n);
    put_reals(&m, problem->factor, n);
    put_reals(&m, x, n);

    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        put_int(&m, block->law), put_int(&m, block->first), put_int(&m, block->size);
        put_real(&m, block->mu), put_real(&m, block->mu_rolling);
        put_int(&m, block->contact), put_int(&m, block->constraint);
    }

    if (c->form == FORM_ROWS) {
        put_ints(&m, rows->start, n + 1);
        put_ints(&m, rows->row, entries);
        put_reals(&m, rows->value, entries);
    } else {
        double *dense = (double *)(void *)(m.bytes + m.size);
        memset(dense, 0, size * size * WORD);
        for (int i = 0; i < n; i++)
            for (int k = rows->start[i]; k < rows->start[i + 1]; k++)
                dense[(size_t)i * size + (size_t)rows->row[k]] = rows->value[k];
        m.size += size * size * WORD;
    }
    put_text(&m, options);
    return m;
}

static ss_status send_problem(ss_solver_command *c, patience *p, const ss_problem *problem,
                              const void *options, const double *x)
{
    ss_error err;
    if (c->form == FORM_DENSE && problem->size > MOST_DENSE)
        return ss_run_fail(p->run, "%s: asks for a dense matrix, at most %d unknowns; the problem has %d",
                           c->name, MOST_DENSE, problem->size);
    ss_sparse *rows = ss_sparse_transpose(problem->A, &err);
    if (!rows) return ss_run_fail(p->run, "%s: %s", c->name, err.message);
    message m = write_problem(c, problem, rows, options, p->run, x);
    ss_sparse_destroy(rows);
    if (!m.bytes)
        return ss_run_fail(p->run, "%s: out of memory for a problem of %d unknowns", c->name, problem->size);
    ending how = send_quietly(c, p, m.bytes, m.size);
    if (how == SPOKE) return give_up(c, p->run, how, "spoke before it had read the problem");
    if (how != FINE) return give_up(c, p->run, how, "while it was sent a problem");
    return SS_CONVERGED;
}

/* ---- iterates ------------------------------------------------------------------------------------- */

/* After it was told to stop, or on its own. last: room for n numbers. */
static ss_status receive_done(ss_solver_command *c, patience *p, uint64_t size, bool stopped, int n,
                              double *last, double *x)
{
    size_t numbers = WORD * (1 + (size_t)n);
    int64_t said = 0;
    char text[600];
    bool good = false;
    if (size < numbers + WORD || size > numbers + MOST_TEXT)
        return give_up(c, p->run, FINE, "sent a DONE of %llu bytes for %d unknowns", (unsigned long long)size,
                       n);
    ending how = receive(c, p, &said, WORD);
    if (how == FINE) how = receive(c, p, last, WORD * (size_t)n);
    if (how == FINE) how = receive_text(c, p, size - numbers, text, sizeof text, &good);
    if (how != FINE) return give_up(c, p->run, how, "within its DONE");
    if (!good) return give_up(c, p->run, FINE, "sent a DONE with a text of an impossible length");
    if (stopped) return ss_run_status(p->run);
    if (n) memcpy(x, last, WORD * (size_t)n);

    // What only the driver can say, such as "time limit", counts as a failure.
    bool may_say = said == SS_CONVERGED || said == SS_MAX_ITERATIONS || said == SS_STALLED ||
                   said == SS_RAY || said == SS_NOT_APPLICABLE;
    ss_status status = may_say ? (ss_status)said : SS_FAILED;
    if (*text && (status == SS_FAILED || status == SS_NOT_APPLICABLE))
        ss_run_fail(p->run, "%s: %s", c->name, text);
    else if (*text)
        ss_run_note(p->run, "%s: %s", c->name, text);
    return status;
}

/* fresh: room for n numbers. x changes only when all of an iterate has arrived. */
static ss_status listen_to(ss_solver_command *c, patience *p, int n, double *fresh, double *x)
{
    ss_run *run = p->run;
    for (bool stopped = false;;) {
        heading head;
        ending how = receive_heading(c, p, &head);
        if (how != FINE)
            return give_up(c, run, how, how == LATE ? "sent nothing" : "in the middle of a problem");
        if (is(&head, "DONE")) return receive_done(c, p, head.size, stopped, n, fresh, x);

        // Words for the user, which cost no iteration.
        if (is(&head, "NOTE")) {
            char text[600];
            bool good = false;
            if (head.size < WORD || head.size > MOST_TEXT)
                return give_up(c, run, FINE, "sent a NOTE of impossible length");
            how = receive_text(c, p, head.size, text, sizeof text, &good);
            if (how != FINE) return give_up(c, run, how, "within a NOTE");
            if (!good) return give_up(c, run, FINE, "sent a NOTE with a text of an impossible length");
            ss_run_note(run, "%s: %s", c->name, text);
            continue;
        }

        // An iterate is taken only when all of it is there.
        if (!is(&head, "ITERATE")) return refuse_bytes(c, run, head.bytes);
        if (head.size != WORD * (uint64_t)n)
            return give_up(c, run, FINE, "sent an ITERATE of %llu bytes, must be %llu for %d unknowns",
                           (unsigned long long)head.size, (unsigned long long)n * WORD, n);
        if (stopped) return give_up(c, run, FINE, "sent another ITERATE after it was told to stop");
        how = receive(c, p, fresh, WORD * (size_t)n);
        if (how != FINE) return give_up(c, run, how, "within an ITERATE");
        if (n) memcpy(x, fresh, WORD * (size_t)n);

        // The driver decides; after STOP the process has a moment to say DONE.
        stopped = !ss_run_iteration(run, x, NULL);
        if (stopped)
            p->until = ss_clock_seconds() + stop_patience + (run->time_limit > 0.0 ? 0.0 : end_patience);
        unsigned char bytes[HEAD];
        message m = {.bytes = bytes};
        begin(&m, stopped ? "STOP" : "CONTINUE", 0);
        how = send_quietly(c, p, bytes, m.size);
        if (how != FINE) return give_up(c, run, how, "instead of waiting for an answer to its ITERATE");
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    ss_solver_command *c = run->solver->context;
    double began = ss_clock_seconds();
    if (c->pid && c->owner != getpid()) forget(c); // that of the process we were forked from
    if (c->pid == 0) {
        if (!start(c)) return ss_run_fail(run, "%s: cannot start a process: %s", c->name, strerror(errno));
        ss_status status = greet(c, run);
        if (status != SS_CONVERGED) return status;
        // an interpreter that starts is not a solver that solves
        ss_run_forgive(run, ss_clock_seconds() - began);
    }
    if (ss_problem_laws(problem) & ~c->laws)
        return ss_run_fail(run, "%s: does not accept these laws", c->name), SS_NOT_APPLICABLE;
    if (c->traits & SS_NEEDS_SYMMETRIC && !problem->symmetric)
        return ss_run_fail(run, "%s: needs a symmetric matrix", c->name), SS_NOT_APPLICABLE;
    for (int k = 0; !(c->traits & SS_SPINNING_CONES) && k < problem->block_count; k++)
        if (ss_block_is_cone(&problem->blocks[k]) && ss_cone_tangents(problem->blocks[k].size) == 3)
            return ss_run_fail(run, "%s: does not accept sliding and spinning in one cone", c->name),
                   SS_NOT_APPLICABLE;
    for (int i = 0; c->traits & SS_NEEDS_DIAGONAL && i < problem->size; i++)
        if (!(problem->diagonal[i] > 0.0))
            return ss_run_fail(run, "%s: needs a positive diagonal", c->name), SS_NOT_APPLICABLE;

    double *fresh = ss_arena_take(run->arena, (size_t)problem->size, sizeof *fresh, "iterate");
    if (!fresh) return ss_run_fail(run, "%s: out of memory for %d unknowns", c->name, problem->size);
    patience p = {.run = run, .counts = true, .until = INFINITY};
    ss_status status = send_problem(c, &p, problem, options, x);
    return status == SS_CONVERGED ? listen_to(c, &p, problem->size, fresh, x) : status;
}

void ss_solver_command_prepare(const ss_solver *solver)
{
    ss_solver_command *c = solver->context;
    if (c->pid && c->owner != getpid()) forget(c);
    if (c->pid == 0 && start(c)) greet(c, NULL); // where that fails it fails again, with a run to say so
}

bool ss_is_solver_command(const ss_solver *solver)
{
    return solver->solve == solve;
}

/* ---- names ---------------------------------------------------------------------------------------- */

static const char blanks[] = " \t";

/* "NAME=COMMAND", or the name of the program without folder and ending. */
static bool read_names(ss_solver_command *c, const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strspn(text, allowed);
    if (length > 0 && text[length] == '=') {
        c->command = ss_text_copy(text + length + 1);
        c->name = ss_text_copy(text);
        if (c->name) c->name[length] = '\0';
        return c->name && c->command;
    }
    c->command = ss_text_copy(text);
    const char *word = text + strspn(text, blanks), *end = word + strcspn(word, blanks), *first = end;
    while (first > word && first[-1] != '/') first--;
    c->name = ss_text_copy(first);
    if (c->name) {
        c->name[end - first] = '\0';
        char *dot = strrchr(c->name, '.');
        if (dot && dot > c->name) *dot = '\0';
    }
    return c->name && c->command;
}

/* The command, and the contents of the files it names: a ledger distinguishes versions by it. */
static char *make_version(const char *command)
{
    ss_digest digest = ss_digest_start();
    ss_digest_add_text(&digest, command);
    for (const char *at = command + strspn(command, blanks); *at; at += strspn(at, blanks)) {
        char word[1024];
        size_t length = strcspn(at, blanks), size = 0;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        unsigned char *bytes = length < sizeof word ? ss_file_read(word, most_file, &size, NULL) : NULL;
        for (size_t i = 0; bytes && i < size; i++) ss_digest_add(&digest, bytes[i]);
        ss_release(bytes);
        at += length;
    }
    char text[33];
    ss_digest_print(&digest, text);
    return ss_text_copy(text);
}

ss_solver_command *ss_solver_command_open(const char *text, ss_error *err)
{
    ss_solver_command *c = ss_allocate(1, sizeof *c);
    ss_text label = {0};
    bool good = c && read_names(c, text);

    if (good) {
        ss_text_appendf(&label, "command:%s=%s", c->name, c->command);
        c->label = ss_text_copy(ss_text_get(&label));
        c->version = make_version(c->command);

        // One program without variables: the shell can become it, and there is one process to watch, not two.
        const char *word = c->command + strspn(c->command, blanks);
        bool is_one = !strpbrk(c->command, ";&|<>()`$\n") && !memchr(word, '=', strcspn(word, blanks));
        ss_text_clear(&label);
        ss_text_appendf(&label, "%s%s", is_one ? "exec " : "", c->command);
        c->script = ss_text_copy(ss_text_get(&label));
        good = !label.out_of_memory && c->label && c->version && c->script;
    }
    ss_text_free(&label);
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a solver command");
    if (good && !c->command[strspn(c->command, blanks)])
        good = ss_fail(err, SS_ERROR_USAGE, "\"%s\": expected COMMAND or NAME=COMMAND", text);
    if (good) {
        c->solver =
            (ss_solver){.abi = SS_ABI,
                        .name = c->name,
                        .summary = c->command,
                        .weakness = "every iterate goes through a pipe",
                        .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
                        .traits = SS_WARM_STARTS | SS_ONE_THREAD | SS_SPINNING_CONES,
                        .options = options_table,
                        .options_size = sizeof(command_options),
                        .solve = solve,
                        .context = c};
        c->list[0] = &c->solver;
        c->extension =
            (ss_extension){.abi = SS_ABI, .name = c->label, .version = c->version, .solvers = c->list};
        good = ss_register(&c->extension, err);
    }
    if (good) return c;
    ss_solver_command_close(c);
    return NULL;
}

const ss_solver *ss_solver_command_solver(const ss_solver_command *command)
{
    return &command->solver;
}

void ss_solver_command_close(ss_solver_command *c)
{
    if (!c) return;
    ss_unregister(&c->extension);
    if (c->pid && c->owner == getpid()) {
        close(c->to); // the end of its input is its end
        c->to = -1;
        end(c, end_patience);
    }
    forget(c);
    ss_release(c->name);
    ss_release(c->command);
    ss_release(c->label);
    ss_release(c->version);
    ss_release(c->script);
    ss_release(c);
}
