#define _GNU_SOURCE // ppoll, accept4
#include "cli/view/http_server.h"
#include "cli/view/http_request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 32, HEAD_BYTES = 8192, REPLY_BYTES = 512 };
static const double seconds_to_ask = 5.0;   // for a whole request
static const double seconds_to_take = 30.0; // for the next part of a reply
static const double seconds_to_leave = 1.0; // for the other side to close

typedef enum phase { READING, WRITING, LEAVING } phase;

typedef struct connection {
    int fd; /* -1 = free */
    phase phase;
    double deadline;
    size_t got, sent;
    char head[HEAD_BYTES + 1]; /* of the request */
    char reply[REPLY_BYTES];   /* head of the reply */
    size_t reply_size;
    ss_http_reply body; /* not sent to HEAD: size 0 then */
} connection;

typedef struct server {
    const ss_http_server_options *options;
    int listener;
    connection *connections;
} server;

static volatile sig_atomic_t stop;

static void note_stop(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

/* ---- replies ------------------------------------------------------------------------------------- */

static const char *reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 431:
        return "Request Header Fields Too Large";
    default:
        return "Internal Server Error";
    }
}

static void drop_body(connection *c)
{
    if (!c->body.borrowed) ss_release(c->body.bytes);
    c->body = (ss_http_reply){0};
}

static void begin_reply(connection *c, int status, bool is_head)
{
    if (!c->body.type) {
        const char *reason = reason_of(status);
        c->body = (ss_http_reply){.type = "text/plain; charset=utf-8",
                                  .bytes = (unsigned char *)(uintptr_t)reason,
                                  .size = strlen(reason),
                                  .borrowed = true};
    }
    c->reply_size = (size_t)snprintf(c->reply, sizeof c->reply,
                                     "HTTP/1.1 %d %s\r\n"
                                     "Content-Type: %s\r\n"
                                     "Content-Length: %zu\r\n"
                                     "Cache-Control: no-store\r\n"
                                     "X-Content-Type-Options: nosniff\r\n"
                                     "Cross-Origin-Resource-Policy: same-origin\r\n"
                                     "Referrer-Policy: no-referrer\r\n"
                                     "%sConnection: close\r\n\r\n",
                                     status, reason_of(status), c->body.type, c->body.size,
                                     status == 405 ? "Allow: GET, HEAD\r\n" : "");
    if (is_head) drop_body(c);
    c->phase = WRITING;
    c->sent = 0;
    c->deadline = ss_clock_seconds() + seconds_to_take;
}

/* ---- connections --------------------------------------------------------------------------------- */

static void hang_up(connection *c)
{
    close(c->fd);
    c->fd = -1;
    drop_body(c);
}

static bool must_wait(ssize_t result)
{
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static void read_more(server *s, connection *c)
{
    ssize_t got = recv(c->fd, c->head + c->got, HEAD_BYTES - c->got, 0);
    if (must_wait(got)) return;
    if (got <= 0) {
        hang_up(c);
        return;
    }
    c->got += (size_t)got;
    size_t length = ss_http_request_end(c->head, c->got);
    if (length == 0 && c->got == HEAD_BYTES) begin_reply(c, 431, false);
    if (length == 0) return;

    ss_http_request request;
    c->head[length] = '\0';
    int status = ss_http_request_read(c->head, length, &request);
    ss_error err = {0};
    bool good = status != 200 || s->options->answer(request.path, &c->body, s->options->context, &err);
    if (status == 200 && good && !c->body.type) status = 404;

    // What went wrong is the body of the reply.
    if (!good) {
        size_t size = strlen(err.message);
        status = 500;
        drop_body(c);
        c->body.bytes = ss_allocate(size + 1, 1);
        if (c->body.bytes) {
            memcpy(c->body.bytes, err.message, size);
            c->body.type = "text/plain; charset=utf-8";
            c->body.size = size;
        }
    }
    begin_reply(c, status, request.is_head);
}

static void write_more(connection *c)
{
    // First the head of the reply, then its body.
    while (c->sent < c->reply_size + c->body.size) {
        bool in_head = c->sent < c->reply_size;
        const void *from = in_head ? (const void *)(c->reply + c->sent)
                                   : (const void *)(c->body.bytes + (c->sent - c->reply_size));
        size_t size = in_head ? c->reply_size - c->sent : c->reply_size + c->body.size - c->sent;
        ssize_t sent = send(c->fd, from, size, MSG_NOSIGNAL);
        if (must_wait(sent)) return;
        if (sent < 0) {
            hang_up(c);
            return;
        }
        c->sent += (size_t)sent;
        c->deadline = ss_clock_seconds() + seconds_to_take;
    }

    // A reply is lost when the socket is closed while something of the other side is unread: it goes first.
    drop_body(c);
    shutdown(c->fd, SHUT_WR);
    c->phase = LEAVING;
    c->deadline = ss_clock_seconds() + seconds_to_leave;
}

static connection *free_connection(server *s)
{
    for (int i = 0; i < CONNECTIONS; i++)
        if (s->connections[i].fd < 0) return &s->connections[i];
    return NULL;
}

/* ---- the loop ------------------------------------------------------------------------------------ */

static void serve_round(server *s, const sigset_t *while_waiting)
{
    struct pollfd polls[CONNECTIONS + 1];
    connection *whose[CONNECTIONS + 1]; // NULL: the listener
    nfds_t count = 0;
    double now = ss_clock_seconds(), next = now + 60.0;

    // The listener, as long as there is a place for one more, and all connections.
    if (free_connection(s)) {
        whose[count] = NULL;
        polls[count++] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        connection *c = &s->connections[i];
        if (c->fd < 0) continue;
        if (c->deadline < next) next = c->deadline;
        whose[count] = c;
        polls[count++] = (struct pollfd){.fd = c->fd, .events = c->phase == WRITING ? POLLOUT : POLLIN};
    }
    double wait = next > now ? next - now : 0.0;
    struct timespec limit = {(time_t)wait, (long)(1e9 * (wait - (double)(time_t)wait))};
    if (ppoll(polls, count, &limit, while_waiting) < 0) return; // a signal: the caller looks

    now = ss_clock_seconds(); // before the work below, which may take long and is no fault of those who wait
    for (nfds_t i = 0; i < count; i++) {
        if (!polls[i].revents) continue;
        connection *c = whose[i];
        if (c && c->phase == READING) {
            read_more(s, c);
        } else if (c && c->phase == LEAVING) {
            char nothing[4096];
            ssize_t got = recv(c->fd, nothing, sizeof nothing, 0);
            if (got <= 0 && !must_wait(got)) hang_up(c);
        }
        if (c && c->fd >= 0 && c->phase == WRITING) write_more(c);
        if (c) continue;

        // A new one.
        c = free_connection(s);
        int fd = c ? accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC) : -1;
        if (fd < 0) continue;
        memset(c, 0, sizeof *c);
        c->fd = fd;
        c->deadline = ss_clock_seconds() + seconds_to_ask;
    }

    // A request that was begun and does not end gets an answer that says so; a silent connection gets none.
    for (int i = 0; i < CONNECTIONS; i++) {
        connection *c = &s->connections[i];
        if (c->fd < 0 || c->deadline > now) continue;
        if (c->phase == READING && c->got > 0) {
            begin_reply(c, 408, false);
            write_more(c);
        } else {
            hang_up(c);
        }
    }
}

bool ss_http_serve(const ss_http_server_options *options, ss_error *err)
{
    server s = {.options = options, .listener = -1};
    s.connections = ss_allocate(CONNECTIONS, sizeof *s.connections);
    if (!s.connections) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for connections");
    for (int i = 0; i < CONNECTIONS; i++) s.connections[i].fd = -1;

    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)options->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    s.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;
    bool good = s.listener >= 0 && setsockopt(s.listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                bind(s.listener, (struct sockaddr *)&address, size) == 0 && listen(s.listener, 64) == 0 &&
                getsockname(s.listener, (struct sockaddr *)&address, &size) == 0;
    if (!good)
        ss_fail(err, SS_ERROR_RESOURCES, "127.0.0.1:%d: cannot listen: %s; try another --port", options->port,
                strerror(errno));

    if (good) {
        // Signals come only while the loop waits, so that none slips in between looking and waiting.
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
        struct sigaction action = {.sa_handler = note_stop};
        sigset_t held, before;
        sigemptyset(&action.sa_mask);
        sigemptyset(&held);
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
            struct sigaction old;
            sigaction(signals[i], NULL, &old);
            if (old.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL); // nohup stays nohup
            sigaddset(&held, signals[i]);
        }
        sigprocmask(SIG_BLOCK, &held, &before);
        options->ready(ntohs(address.sin_port), options->context);
        while (!stop) serve_round(&s, &before);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    for (int i = 0; i < CONNECTIONS; i++)
        if (s.connections[i].fd >= 0) hang_up(&s.connections[i]);
    if (s.listener >= 0) close(s.listener);
    ss_release(s.connections);
    return good;
}
