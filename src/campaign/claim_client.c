/* A rank that has its runs handed out. */
#include "campaign/claim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BEGIN_PATIENCE 600.0  /* s: the first rank looks at all problems before it serves */
#define CONNECT_PATIENCE 2000 /* ms for one address */
#define TELL_AFTER 0.5        /* s that news may wait */
#define ALIVE_AFTER 10.0      /* s without news */
#define TICK_MS 200           /* between two looks at the flag that stops us */

/* ---- bytes -------------------------------------------------------------------------------------------- */

/* Waits for the socket; false when time is up, or we are to stop. */
static bool wait_for(const ss_claim *claim, short events, double until)
{
    while (!(claim->stop && *claim->stop) && ss_clock_seconds() < until) {
        struct pollfd ear = {.fd = claim->socket, .events = events};
        if (poll(&ear, 1, TICK_MS) > 0) return true;
    }
    return false;
}

static bool send_message(ss_claim *claim, ss_claim_kind kind, const char *bytes, size_t size)
{
    ss_claim_head head = {SS_CLAIM_MAGIC, kind, (uint32_t)size};
    double until = ss_clock_seconds() + SS_CLAIM_SILENCE;
    for (size_t sent = 0; sent < sizeof head + size;) {
        bool in_head = sent < sizeof head;
        const char *from = in_head ? (const char *)&head + sent : bytes + (sent - sizeof head);
        ssize_t length = send(claim->socket, from, (in_head ? sizeof head : sizeof head + size) - sent,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
        if (length > 0)
            sent += (size_t)length;
        else if (length == 0 || (errno != EAGAIN && errno != EINTR) || !wait_for(claim, POLLOUT, until))
            return false;
    }
    claim->last = ss_clock_seconds();
    return true;
}

/* The next message; its bytes stay in the inbox until the next call. KINDS: the server is gone. */
static ss_claim_kind receive(ss_claim *claim)
{
    double until = ss_clock_seconds() + SS_CLAIM_SILENCE;
    ss_claim_head head;
    ss_text_clear(&claim->inbox);
    for (size_t wanted = sizeof head;;) {
        char bytes[1 << 16];
        size_t missing = wanted - claim->inbox.length;
        ssize_t length =
            recv(claim->socket, bytes, missing < sizeof bytes ? missing : sizeof bytes, MSG_DONTWAIT);
        if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) return SS_CLAIM_KINDS;
        if (length < 0 && !wait_for(claim, POLLIN, until)) return SS_CLAIM_KINDS;
        if (length < 0) continue;
        ss_text_append_bytes(&claim->inbox, bytes, (size_t)length);
        if (claim->inbox.out_of_memory) return SS_CLAIM_KINDS;
        if (claim->inbox.length < wanted) continue;
        memcpy(&head, claim->inbox.data, sizeof head);
        if (head.magic != SS_CLAIM_MAGIC || head.kind >= SS_CLAIM_KINDS || head.size > SS_CLAIM_MOST)
            return SS_CLAIM_KINDS;
        if (claim->inbox.length == sizeof head + head.size) return (ss_claim_kind)head.kind;
        wanted = sizeof head + head.size;
    }
}

/* ---- connecting --------------------------------------------------------------------------------------- */

static bool read_address(const char *path, ss_claim_address *address)
{
    char text[1024], *at = text;
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = '\0';
    *address = (ss_claim_address){0};
    int used = 0;
    if (sscanf(text, "stickslip-claim 1 %64s %d %32s%n", address->host, &address->port, address->token,
               &used) != 3)
        return false;
    for (at += used; address->number_count < 8 &&
                     sscanf(at, "%45s%n", address->numbers[address->number_count], &used) == 1;
         at += used)
        address->number_count++;
    return true;
}

static bool try_address(ss_claim *claim, const char *number, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int problem = 0;
    socklen_t size = sizeof problem;
    if (inet_pton(AF_INET, number, &to.sin_addr) != 1) return false;
    claim->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool good = claim->socket >= 0;
    if (good && connect(claim->socket, (struct sockaddr *)&to, sizeof to) != 0) {
        struct pollfd ear = {.fd = claim->socket, .events = POLLOUT};
        good = errno == EINPROGRESS && poll(&ear, 1, CONNECT_PATIENCE) == 1 &&
               getsockopt(claim->socket, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem == 0;
    }
    if (!good && claim->socket >= 0) close(claim->socket);
    if (!good) claim->socket = -1;
    return good;
}

/* Says who we are. False with an empty err: not the server, or not the right one. */
static bool greet(ss_claim *claim, const ss_claim_address *address, const char *digest, int rank, int ranks,
                  int jobs, ss_error *err)
{
    ss_text hello = {0};
    ss_pack_text(&hello, address->token), ss_pack_text(&hello, digest);
    ss_pack_int(&hello, rank), ss_pack_int(&hello, ranks), ss_pack_int(&hello, jobs);
    bool sent = !hello.out_of_memory && send_message(claim, SS_CLAIM_HELLO, hello.data, hello.length);
    ss_text_free(&hello);
    ss_claim_kind kind = sent ? receive(claim) : SS_CLAIM_KINDS;
    if (kind == SS_CLAIM_REFUSED) {
        size_t head = sizeof(ss_claim_head);
        ss_fail(err, SS_ERROR_USAGE, "--claim: refused by rank 1 on %s: %.*s", address->host,
                (int)(claim->inbox.length - head), claim->inbox.data + head);
    }
    return kind == SS_CLAIM_WELCOME;
}

bool ss_claim_connect(ss_claim *claim, const char *file, const char *digest, int rank, int ranks, int jobs,
                      const uint64_t *words, int word_count, ss_error *err)
{
    double until = ss_clock_seconds() + BEGIN_PATIENCE;
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    *claim = (ss_claim){.socket = -1, .stop = claim->stop};
    bool welcome = false;
    ss_error why = {0};
    while (!welcome && !why.code && !(claim->stop && *claim->stop) && ss_clock_seconds() < until) {
        // A file of a server that is dead leads nowhere, until it is replaced.
        ss_claim_address address;
        bool known = read_address(file, &address);
        bool connected =
            known && strcmp(address.host, host) == 0 && try_address(claim, "127.0.0.1", address.port);
        for (int i = 0; known && !connected && i < address.number_count; i++)
            connected = try_address(claim, address.numbers[i], address.port);
        welcome = connected && greet(claim, &address, digest, rank, ranks, jobs, &why);
        if (connected && !welcome) close(claim->socket), claim->socket = -1;
        if (!welcome) usleep(TICK_MS * 1000);
    }

    // What is in the ledger of this rank need not be handed out.
    for (int i = 0; welcome && i < word_count; i += 1 << 16) {
        int count = word_count - i < 1 << 16 ? word_count - i : 1 << 16;
        welcome =
            send_message(claim, SS_CLAIM_HAVE, (const char *)(words + i), (size_t)count * sizeof *words);
    }
    if (welcome) return true;
    ss_claim_close(claim);
    if (claim->stop && *claim->stop) return ss_fail(err, SS_ERROR_RESOURCES, "interrupted");
    if (why.code) return ss_fail(err, why.code, "%s", why.message);
    return ss_fail(err, SS_ERROR_RESOURCES,
                   "--claim: rank 1, which hands out the runs, cannot be reached: see %s", file);
}

/* ---- working ------------------------------------------------------------------------------------------ */

static bool tell_news(ss_claim *claim)
{
    bool good = claim->socket >= 0 && !claim->news.out_of_memory &&
                send_message(claim, SS_CLAIM_DONE, ss_text_get(&claim->news), claim->news.length);
    ss_text_clear(&claim->news);
    return good;
}

ss_claim_kind ss_claim_ask(ss_claim *claim, ss_text *work, ss_error *err)
{
    bool sent = claim->socket >= 0 && tell_news(claim) && send_message(claim, SS_CLAIM_ASK, "", 0);
    ss_claim_kind kind = SS_CLAIM_WAIT;
    while (sent && kind == SS_CLAIM_WAIT) {
        kind = receive(claim);
        if (kind == SS_CLAIM_WAIT) sent = send_message(claim, SS_CLAIM_DONE, "", 0); // we live, too
    }
    if (sent && kind == SS_CLAIM_WORK) {
        *work = claim->inbox;
        claim->inbox = (ss_text){0};
        return kind;
    }
    if (sent && kind == SS_CLAIM_FINISHED) return kind;
    if (claim->socket >= 0) close(claim->socket);
    claim->socket = -1;
    ss_fail(err, SS_ERROR_RESOURCES, "the process of rank 1 that hands out the runs is gone");
    return SS_CLAIM_KINDS;
}

void ss_claim_done(ss_claim *claim, int64_t number)
{
    ss_pack_int(&claim->news, number);
}

void ss_claim_tick(ss_claim *claim)
{
    double waited = ss_clock_seconds() - claim->last;
    if (claim->socket < 0 || waited < (claim->news.length > 0 ? TELL_AFTER : ALIVE_AFTER)) return;
    if (tell_news(claim)) return;
    close(claim->socket); // what we have is solved all the same
    claim->socket = -1;
}

void ss_claim_close(ss_claim *claim)
{
    if (claim->socket >= 0) close(claim->socket);
    claim->socket = -1;
    ss_text_free(&claim->inbox);
    ss_text_free(&claim->news);
}
