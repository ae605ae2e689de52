/* The other end of `--solver-command` (docs/pipe.md): problems come in on standard input, iterates go out on
 * standard output. Words of 8 bytes, little-endian; messages of a type, a size and a payload. */
#include "toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 1, BY_ROWS = 1 };
static const int64_t largest = (int64_t)1 << 40; // bytes of a message: more is not a message

/* The pipe, moved away from where Octave reads and prints; -1: not open. */
static int from = -1, to = -1;
static int unknowns; /* of the problem that is being solved; -1: none */

/* ---- messages ----------------------------------------------------------------------------------------- */

/* False at the end of the input, and when it breaks off. */
static bool get_bytes(void *bytes, size_t count)
{
    for (char *rest = bytes; count > 0;) {
        ssize_t got = read(from, rest, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        rest += got;
        count -= (size_t)got;
    }
    return true;
}

static bool put_bytes(const void *bytes, size_t count, ss_error *err)
{
    for (const char *rest = bytes; count > 0;) {
        ssize_t sent = write(to, rest, count);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return ss_fail(err, SS_ERROR_RESOURCES, "the pipe to stickslip is closed");
        rest += sent;
        count -= (size_t)sent;
    }
    return true;
}

static bool put_header(const char *type, size_t size, ss_error *err)
{
    char head[16] = {0};
    int64_t bytes = (int64_t)size;
    memcpy(head, type, strlen(type));
    memcpy(head + 8, &bytes, sizeof bytes);
    return put_bytes(head, sizeof head, err);
}

typedef struct message {
    char type[9];
    char *payload; /* ss_release */
    size_t size, at;
} message;

/* *end: nothing comes any more. */
static bool get_message(message *m, bool *end, ss_error *err)
{
    char head[16];
    int64_t size;
    *m = (message){0};
    *end = !get_bytes(head, sizeof head);
    if (*end) return true;
    memcpy(m->type, head, 8);
    memcpy(&size, head + 8, sizeof size);
    if (size < 0 || size > largest || size % 8 != 0)
        return ss_fail(err, SS_ERROR_INPUT, "not a message of stickslip: docs/pipe.md has the protocol");
    m->size = (size_t)size;
    m->payload = ss_allocate(m->size, 1);
    if (!m->payload)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a problem of %zu bytes", m->size);
    if (get_bytes(m->payload, m->size)) return true;
    ss_release(m->payload);
    m->payload = NULL;
    return ss_fail(err, SS_ERROR_INPUT, "the pipe ends in the middle of a message");
}

/* ---- words -------------------------------------------------------------------------------------------- */

/* `count` words of the payload; NULL beyond its end. */
static const void *take(message *m, int64_t count)
{
    if (count < 0 || (size_t)count > (m->size - m->at) / 8) return NULL;
    const void *words = m->payload + m->at;
    m->at += 8 * (size_t)count;
    return words;
}

static bool take_reals(message *m, int count, double *values)
{
    const void *words = take(m, count);
    if (words && count) memcpy(values, words, 8 * (size_t)count);
    return words != NULL;
}

static bool take_ints(message *m, int count, int low, int high, int *values)
{
    const char *words = take(m, count);
    for (int i = 0; words && i < count; i++) {
        int64_t value;
        memcpy(&value, words + 8 * i, sizeof value);
        if (value < low || value > high) return false;
        values[i] = (int)value;
    }
    return words != NULL;
}

static bool take_blocks(message *m, ss_problem *p)
{
    int next = 0;
    for (int i = 0; i < p->block_count; i++) {
        int law[3], origin[2];
        double mu[2];
        if (!take_ints(m, 3, 0, INT_MAX, law) || !take_reals(m, 2, mu) ||
            !take_ints(m, 2, -1, INT_MAX, origin))
            return false;
        if (law[1] != next || law[2] < 1 || law[2] > p->size - next) return false;
        p->blocks[i] = (ss_block){.law = (ss_law)law[0],
                                  .first = law[1],
                                  .size = law[2],
                                  .mu = mu[0],
                                  .mu_rolling = mu[1],
                                  .contact = origin[0],
                                  .constraint = origin[1]};
        next += law[2];
    }
    return next == p->size;
}

/* A comes by rows, which are the columns of its transpose. */
static bool take_matrix(message *m, ss_problem *p, int entries, ss_error *err)
{
    ss_sparse *rows = ss_sparse_create(p->size, p->size, entries, err);
    bool good = rows && take_ints(m, p->size + 1, 0, entries, rows->start) &&
                take_ints(m, entries, 0, p->size - 1, rows->row) && take_reals(m, entries, rows->value) &&
                ss_sparse_check(rows, err) && (p->A = ss_sparse_transpose(rows, err)) != NULL;
    ss_sparse_destroy(rows);
    for (int i = 0; good && i < p->size; i++) p->diagonal[i] = ss_sparse_get(p->A, i, i);
    return good;
}

/* The payload of PROBLEM. */
static mxArray *read_problem(message *m, ss_error *err)
{
    int count[8];
    int64_t seed;
    double limit;
    const void *words;
    if (!take_ints(m, 1, 0, INT_MAX - 1, &count[0]) || !take_ints(m, 1, 0, INT_MAX, &count[1]) ||
        !take_ints(m, 1, BY_ROWS, BY_ROWS, &count[2]) || !take_ints(m, 1, 0, INT_MAX, &count[3]) ||
        !take_ints(m, 1, 0, 1, &count[4]) || !(words = take(m, 1)) || !take_reals(m, 1, &limit)) {
        ss_fail(err, SS_ERROR_INPUT, "the problem from stickslip cannot be read");
        return NULL;
    }
    int64_t iterations;
    memcpy(&iterations, words, sizeof iterations);
    if (!(words = take(m, 1)))
        return ss_fail(err, SS_ERROR_INPUT, "the problem from stickslip breaks off"), NULL;
    memcpy(&seed, words, sizeof seed);

    // Sizes are believed only as far as the payload goes: each unknown and each block has words in it.
    int n = count[0], blocks = count[1];
    mxArray *result = NULL;
    if ((size_t)n > m->size / 8 || (size_t)blocks > m->size / 8 || (size_t)count[3] > m->size / 8)
        return ss_fail(err, SS_ERROR_INPUT, "the problem from stickslip breaks off"), NULL;
    ss_problem *p = ss_problem_create(n, blocks, -1, err);
    double *x = ss_allocate((size_t)n, sizeof *x);
    bool good = p && x && take_reals(m, n, p->b) && take_reals(m, n, p->lower) &&
                take_reals(m, n, p->upper) && take_ints(m, n, -1, n - 1, p->partner) &&
                take_reals(m, n, p->factor) && take_reals(m, n, x) && take_blocks(m, p) &&
                take_matrix(m, p, count[3], err);
    if (good) {
        int64_t length = 0;
        char *text = NULL;
        p->symmetric = count[4] != 0;
        if ((words = take(m, 1))) memcpy(&length, words, sizeof length);
        if (length >= 0 && (size_t)length <= m->size - m->at) text = ss_allocate((size_t)length + 1, 1);
        if (text && length) memcpy(text, m->payload + m->at, (size_t)length);
        result = tb_problem(p);
        tb_set(result, "x0", tb_real(n, 1, x));
        tb_set(result, "iterations", tb_number((double)iterations));
        tb_set(result, "time_limit", tb_number(limit));
        tb_set(result, "seed", tb_number((double)seed));
        tb_set(result, "options", tb_text(text));
        ss_release(text);
        unknowns = n;
    } else if (err && err->code == SS_OK) {
        ss_fail(err, SS_ERROR_INPUT, "the problem from stickslip cannot be read");
    }
    ss_release(x);
    ss_problem_destroy(p);
    return result;
}

/* ---- commands ----------------------------------------------------------------------------------------- */

/* laws and needs, added up -> the text of stickslip's greeting */
bool tb_do_serve_open(const tb_call *call, ss_error *err)
{
    int laws, needs;
    if (!tb_get_int(call->input[0], "laws", 1, 31, &laws, err) ||
        !tb_get_int(call->input[1], "needs", 0, 6, &needs, err))
        return false;
    if (from >= 0) return ss_fail(err, SS_ERROR_USAGE, "ss_serve is running already");
    if (isatty(0) || isatty(1))
        return ss_fail(err, SS_ERROR_USAGE,
                       "ss_serve is to be started by stickslip --solver-command, not at a terminal");

    // What the solver prints goes to standard error, so that it cannot get among the messages.
    from = fcntl(0, F_DUPFD_CLOEXEC, 3);
    to = fcntl(1, F_DUPFD_CLOEXEC, 3);
    int nothing = open("/dev/null", O_RDONLY);
    if (from < 0 || to < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(2, 1) < 0)
        return ss_fail(err, SS_ERROR_RESOURCES, "standard input and output cannot be taken over: %s",
                       strerror(errno));
    close(nothing);

    bool end;
    message hello;
    unknowns = -1;
    if (!get_message(&hello, &end, err)) return false;
    int version = 0;
    bool good = !end && strcmp(hello.type, "HELLO") == 0 && take_ints(&hello, 1, 1, INT_MAX, &version);
    ss_release(hello.payload);
    if (!good)
        return ss_fail(err, SS_ERROR_INPUT, "no greeting from stickslip: docs/pipe.md has the protocol");
    int64_t answer[4] = {VERSION, laws, needs, BY_ROWS};
    return put_header("HELLO", sizeof answer, err) && put_bytes(answer, sizeof answer, err);
}

/* -> problem; [] at the end */
bool tb_do_serve_next(const tb_call *call, ss_error *err)
{
    bool end;
    message m;
    if (from < 0) return ss_fail(err, SS_ERROR_USAGE, "ss_serve is not running");
    if (!get_message(&m, &end, err)) return false;
    if (end) {
        close(from);
        close(to);
        from = to = -1;
        call->output[0] = mxCreateDoubleMatrix(0, 0, mxREAL);
        return true;
    }
    mxArray *problem = NULL;
    if (strcmp(m.type, "PROBLEM") == 0)
        problem = read_problem(&m, err);
    else
        ss_fail(err, SS_ERROR_INPUT, "stickslip says %s, expected PROBLEM", m.type);
    ss_release(m.payload);
    if (problem) call->output[0] = problem;
    return problem != NULL;
}

/* x -> continue */
bool tb_do_serve_iterate(const tb_call *call, ss_error *err)
{
    bool end;
    message m;
    if (from < 0 || unknowns < 0)
        return ss_fail(err, SS_ERROR_USAGE, "report(x) was called after the run of its solver had ended");
    double *x = ss_allocate((size_t)unknowns, sizeof *x);
    bool good = (x || ss_fail(err, SS_ERROR_RESOURCES, "out of memory")) &&
                tb_copy(call->input[0], (size_t)unknowns, x, "x of report", err) &&
                put_header("ITERATE", (size_t)unknowns * sizeof *x, err) &&
                put_bytes(x, (size_t)unknowns * sizeof *x, err) && get_message(&m, &end, err);
    ss_release(x);
    if (!good) return false;
    if (end) return ss_fail(err, SS_ERROR_INPUT, "the pipe from stickslip was closed during a run");
    bool on = strcmp(m.type, "CONTINUE") == 0;
    good = on || strcmp(m.type, "STOP") == 0 ||
           ss_fail(err, SS_ERROR_INPUT, "stickslip says %s, expected CONTINUE or STOP", m.type);
    ss_release(m.payload);
    if (good) call->output[0] = mxCreateLogicalScalar(on);
    return good;
}

/* status, x, text */
bool tb_do_serve_done(const tb_call *call, ss_error *err)
{
    int status;
    if (from < 0 || unknowns < 0) return ss_fail(err, SS_ERROR_USAGE, "ss_serve has no problem to end");
    if (!tb_get_int(call->input[0], "status", 0, 7, &status, err)) return false;
    char *text = tb_get_text(call->input[2], "text", err);
    if (!text) return false;
    double *x = ss_allocate((size_t)unknowns, sizeof *x);
    bool good = (x || ss_fail(err, SS_ERROR_RESOURCES, "out of memory")) &&
                tb_copy(call->input[1], (size_t)unknowns, x, "x of the solver", err);
    if (good) {
        int64_t word = status, length = (int64_t)strlen(text);
        size_t padded = ((size_t)length + 7) / 8 * 8, numbers = (size_t)unknowns * sizeof *x;
        static const char zeros[8];
        good = put_header("DONE", 8 + numbers + 8 + padded, err) && put_bytes(&word, 8, err) &&
               put_bytes(x, numbers, err) && put_bytes(&length, 8, err) &&
               put_bytes(text, (size_t)length, err) && put_bytes(zeros, padded - (size_t)length, err);
        unknowns = -1;
    }
    ss_release(x);
    mxFree(text);
    return good;
}
