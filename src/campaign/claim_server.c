/* The process that hands out runs. It has the plan from the first rank, of which it is a child, and keeps for
 * every run who has it. It reads no file and writes no ledger. */
#define _GNU_SOURCE // getrandom, accept4
#include "campaign/claim.h"

#include "campaign/inspect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GREETING 10.0         /* s that all ranks have to say what they have, before anything is handed out */
#define STRANGER_PATIENCE 5.0 /* s for a connection to say the token */
#define STRANGER_BYTES 4096   /* that it may send before that */
#define ALIVE_EVERY 5.0       /* s between two words to a rank that waits */
#define FAREWELL 60.0         /* s after the end for ranks that have not come yet */
#define SHARES 4              /* a rank gets this part of its share of what is left, */
#define LEAST_WORK 200000     /* us for each of its jobs, at least, */
#define MOST_RUNS 100000      /* and this many at most */

enum { FREE = -1, DONE = -2 }; /* who has a run: neither of these: the client */

typedef struct client {
    int socket; /* -1 = the place is free */
    int rank;   /* 0 = a stranger */
    int jobs;
    double heard, spoken;
    int held;     /* runs that it has */
    bool waits;   /* has asked, and has no answer yet */
    bool refused; /* leaves when it has been told why */
    ss_text in, out;
    size_t sent; /* of out */
} client;

typedef struct server {
    const ss_plan *plan;
    const char *token, *digest;
    int ranks, listener;
    ss_deal deal;
    int *first;  /* of a part: its first run; one more for the end */
    int *method; /* of a run */
    int *owner;
    int run_count, done;
    int next;         /* parts before it have nothing free */
    int64_t cost;     /* us: of all runs that are not done */
    uint64_t *sorted; /* words and numbers of runs, sorted by words */
    bool *came;       /* of a rank */
    int came_count;
    client *clients;
    int client_count;
} server;

/* ---- runs --------------------------------------------------------------------------------------------- */

static const ss_deal_part *part_of(const server *s, int run)
{
    int low = 0, high = s->deal.part_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (s->first[middle] <= run)
            low = middle;
        else
            high = middle - 1;
    }
    return &s->deal.parts[low];
}

static int64_t run_cost(const server *s, int run)
{
    return ss_predicted_cost(&s->plan->problems[part_of(s, run)->problem].entry,
                             &s->plan->methods[s->method[run]].entry);
}

static void mark_done(server *s, int64_t run)
{
    if (run < 0 || run >= s->run_count || s->owner[run] == DONE) return;
    if (s->owner[run] >= 0) s->clients[s->owner[run]].held--;
    s->owner[run] = DONE;
    s->done++;
    s->cost -= run_cost(s, (int)run);
}

static int by_word(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return a[0] < b[0] ? -1 : a[0] > b[0];
}

static void mark_words(server *s, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t *found =
            bsearch(&words[i], s->sorted, (size_t)s->run_count, 2 * sizeof *s->sorted, by_word);
        if (found) mark_done(s, (int64_t)found[1]);
    }
}

static bool list_runs(server *s)
{
    const ss_plan *plan = s->plan;
    const ss_problem_entry **problems = ss_allocate((size_t)plan->problem_count, sizeof *problems);
    const ss_method_entry **methods = ss_allocate((size_t)plan->method_count, sizeof *methods);
    bool good = problems && methods;
    for (int i = 0; good && i < plan->problem_count; i++) problems[i] = &plan->problems[i].entry;
    for (int i = 0; good && i < plan->method_count; i++) methods[i] = &plan->methods[i].entry;
    good = good &&
           ss_deal_make(&s->deal, problems, plan->problem_count, methods, plan->method_count, s->ranks, NULL);
    ss_release(problems);
    ss_release(methods);

    size_t most = (size_t)plan->problem_count * (size_t)plan->method_count,
           parts = (size_t)s->deal.part_count;
    good = good && most < INT32_MAX;
    s->first = good ? ss_allocate(parts + 1, sizeof *s->first) : NULL;
    s->method = good ? ss_allocate(most, sizeof *s->method) : NULL;
    if (!s->first || !s->method) return false;
    for (int i = 0; i < s->deal.part_count; i++) {
        int group = s->deal.parts[i].group;
        s->first[i] = s->run_count;
        s->cost += s->deal.parts[i].cost;
        for (int m = 0; m < plan->method_count; m++)
            if (s->deal.group[m] >= 0 && (group < 0 || s->deal.group[m] == group))
                s->method[s->run_count++] = m;
    }
    s->first[parts] = s->run_count;

    s->owner = ss_allocate((size_t)s->run_count, sizeof *s->owner);
    s->sorted = ss_allocate(2 * (size_t)s->run_count, sizeof *s->sorted);
    s->came = ss_allocate((size_t)s->ranks + 1, sizeof *s->came);
    if (!s->owner || !s->sorted || !s->came) return false;
    for (int i = 0, part = 0; i < s->run_count; i++) {
        while (i >= s->first[part + 1]) part++;
        s->owner[i] = FREE;
        s->sorted[2 * (size_t)i] = ss_run_word(&plan->problems[s->deal.parts[part].problem].entry,
                                               &plan->methods[s->method[i]].entry);
        s->sorted[2 * (size_t)i + 1] = (uint64_t)i;
    }
    if (s->run_count > 0) qsort(s->sorted, (size_t)s->run_count, 2 * sizeof *s->sorted, by_word);
    return true;
}

/* ---- clients ------------------------------------------------------------------------------------------ */

static void post(client *c, ss_claim_kind kind, const char *bytes, size_t size)
{
    ss_claim_head head = {SS_CLAIM_MAGIC, kind, (uint32_t)size};
    ss_text_append_bytes(&c->out, (const char *)&head, sizeof head);
    if (size > 0) ss_text_append_bytes(&c->out, bytes, size);
    c->spoken = ss_clock_seconds();
}

/* What it had is free again. */
static void drop(server *s, client *c)
{
    int index = (int)(c - s->clients);
    for (int part = 0; c->held > 0 && part < s->deal.part_count; part++) {
        for (int run = s->first[part]; run < s->first[part + 1]; run++) {
            if (s->owner[run] != index) continue;
            s->owner[run] = FREE;
            c->held--;
            if (part < s->next) s->next = part;
        }
    }
    close(c->socket);
    ss_text_free(&c->in);
    ss_text_free(&c->out);
    *c = (client){.socket = -1};
}

/* Whole parts, dearest first. */
static void answer(server *s, client *c)
{
    if (s->done == s->run_count) {
        post(c, SS_CLAIM_FINISHED, "", 0);
        c->waits = false;
        return;
    }
    int64_t wanted = s->cost / SHARES / s->ranks, least = (int64_t)LEAST_WORK * c->jobs, given = 0;
    int index = (int)(c - s->clients), runs = 0;
    if (wanted < least) wanted = least;
    ss_text work = {0};
    while (s->next < s->deal.part_count && given < wanted && runs < MOST_RUNS) {
        const ss_deal_part *part = &s->deal.parts[s->next];
        const ss_planned_problem *problem = &s->plan->problems[part->problem];
        int free_runs = 0;
        for (int run = s->first[s->next]; run < s->first[s->next + 1]; run++)
            free_runs += s->owner[run] == FREE;
        if (free_runs > 0) {
            ss_text entry = {0};
            ss_problem_entry_pack(&problem->entry, &entry);
            ss_pack_int(&work, problem->source), ss_pack_int(&work, problem->index),
                ss_pack_int(&work, problem->kind), ss_pack_int(&work, problem->has_before);
            ss_pack_int(&work, (int64_t)entry.length);
            ss_text_append_bytes(&work, ss_text_get(&entry), entry.length);
            ss_pack_int(&work, free_runs);
            ss_text_free(&entry);
        }
        for (int run = s->first[s->next]; run < s->first[s->next + 1] && free_runs > 0; run++) {
            if (s->owner[run] != FREE) continue;
            s->owner[run] = index;
            c->held++;
            given += run_cost(s, run);
            runs++;
            ss_pack_int(&work, s->method[run]), ss_pack_int(&work, run);
        }
        s->next++;
    }
    if (runs > 0) {
        if (work.out_of_memory) c->refused = true; // dropped, and its runs with it
        post(c, SS_CLAIM_WORK, ss_text_get(&work), work.length);
        c->waits = false;
    }
    ss_text_free(&work);
}

static void greet(server *s, client *c, ss_unpacker *from)
{
    char *token = ss_unpack_text(from), *digest = ss_unpack_text(from);
    int rank = ss_unpack_within(from, 1, INT32_MAX), ranks = ss_unpack_within(from, 1, INT32_MAX);
    int jobs = ss_unpack_within(from, 1, 1 << 20);
    bool known = !from->bad && token && digest && strcmp(token, s->token) == 0;
    if (!known) {
        c->refused = true; // without a word
    } else if (strcmp(digest, s->digest) != 0 || ranks != s->ranks || rank > ranks) {
        static const char why[] =
            "the campaigns differ: all ranks need the same command, files, plug-ins and "
            "number of ranks";
        post(c, SS_CLAIM_REFUSED, why, sizeof why - 1);
        c->refused = true;
    } else {
        c->rank = rank;
        c->jobs = jobs;
        s->came_count += !s->came[rank];
        s->came[rank] = true;
        post(c, SS_CLAIM_WELCOME, "", 0);
    }
    ss_release(token);
    ss_release(digest);
}

static void take_message(server *s, client *c, const ss_claim_head *head, const char *bytes)
{
    ss_unpacker from = {bytes, bytes + head->size, false};
    if (c->rank == 0 && head->kind == SS_CLAIM_HELLO) {
        greet(s, c, &from);
    } else if (c->rank > 0 && head->kind == SS_CLAIM_ASK) {
        c->waits = true;
    } else if (c->rank > 0 && head->kind == SS_CLAIM_DONE) {
        while (from.at < from.end && !from.bad) mark_done(s, ss_unpack_int(&from));
    } else if (c->rank > 0 && head->kind == SS_CLAIM_HAVE) {
        while (from.at < from.end && !from.bad) {
            uint64_t word = (uint64_t)ss_unpack_int(&from);
            if (!from.bad) mark_words(s, &word, 1);
        }
    } else {
        c->refused = true;
    }
}

/* What has come. False: the client is gone, or talks nonsense. */
static bool listen_to(server *s, client *c)
{
    char bytes[1 << 16];
    ssize_t length = recv(c->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (length <= 0) return false;
    ss_text_append_bytes(&c->in, bytes, (size_t)length);
    c->heard = ss_clock_seconds();
    if (c->in.out_of_memory || (c->rank == 0 && c->in.length > STRANGER_BYTES)) return false;

    size_t at = 0;
    for (ss_claim_head head; c->in.length - at >= sizeof head && !c->refused; at += sizeof head + head.size) {
        memcpy(&head, c->in.data + at, sizeof head);
        if (head.magic != SS_CLAIM_MAGIC || head.size > SS_CLAIM_MOST) return false;
        if (c->in.length - at - sizeof head < head.size) break;
        take_message(s, c, &head, c->in.data + at + sizeof head);
    }
    if (at > 0) { // the rest is the beginning of a message
        memmove(c->in.data, c->in.data + at, c->in.length - at);
        c->in.length -= at;
    }
    return true;
}

/* What it is to hear. False: the client is gone. */
static bool talk_to(client *c)
{
    if (c->out.out_of_memory) return false;
    while (c->sent < c->out.length) {
        ssize_t length =
            send(c->socket, c->out.data + c->sent, c->out.length - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (length < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        if (length <= 0) return false;
        c->sent += (size_t)length;
    }
    ss_text_clear(&c->out);
    c->sent = 0;
    return !c->refused;
}

static void admit(server *s)
{
    int socket = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) return;
    int at = 0;
    while (at < s->client_count && s->clients[at].socket >= 0) at++;
    if (at == s->client_count) {
        int count = s->client_count ? 2 * s->client_count : 16;
        client *grown = ss_allocate((size_t)count, sizeof *grown);
        if (!grown) {
            close(socket);
            return;
        }
        if (s->client_count > 0) memcpy(grown, s->clients, (size_t)s->client_count * sizeof *grown);
        for (int i = s->client_count; i < count; i++) grown[i].socket = -1;
        ss_release(s->clients);
        s->clients = grown;
        s->client_count = count;
    }
    double now = ss_clock_seconds();
    s->clients[at] = (client){.socket = socket, .heard = now, .spoken = now};
}

/* ---- its life ----------------------------------------------------------------------------------------- */

static void serve(server *s, int parent)
{
    double began = ss_clock_seconds(), finished = 0.0;
    struct pollfd *ears = NULL;
    int ear_count = 0;
    for (int connected = 0;;) {
        if (ear_count != s->client_count + 1) {
            ss_release(ears);
            ear_count = s->client_count + 1;
            ears = ss_allocate((size_t)ear_count, sizeof *ears);
            if (!ears) return;
        }
        ears[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
        for (int i = 1; i < ear_count; i++) {
            const client *c = &s->clients[i - 1];
            short events = c->out.length > 0 ? POLLIN | POLLOUT : POLLIN;
            ears[i] = (struct pollfd){.fd = c->socket, .events = events};
        }
        poll(ears, (nfds_t)ear_count, 250);

        // Who says something, who is silent for too long.
        double now = ss_clock_seconds();
        bool begun = s->came_count == s->ranks || now > began + GREETING;
        connected = 0;
        for (int i = 0; i < s->client_count; i++) {
            client *c = &s->clients[i];
            if (c->socket < 0) continue;
            bool good =
                i + 1 >= ear_count || !ears[i + 1].revents || ears[i + 1].fd != c->socket || listen_to(s, c);
            good = good && now - c->heard < (c->rank > 0 ? SS_CLAIM_SILENCE : STRANGER_PATIENCE);
            if (!good) drop(s, c);
        }

        // Who waits gets work, an end, or a sign of life.
        for (int i = 0; i < s->client_count; i++) {
            client *c = &s->clients[i];
            if (c->socket < 0) continue;
            if (c->waits && begun) answer(s, c);
            if (c->waits && now - c->spoken > ALIVE_EVERY) post(c, SS_CLAIM_WAIT, "", 0);
            if (!talk_to(c)) drop(s, c);
            connected += c->socket >= 0;
        }
        if (ears[0].revents) admit(s);

        // The end: all is done, and every rank knows it; or the first rank is dead.
        if (s->done == s->run_count && finished == 0.0) finished = now;
        bool all_came = s->came_count == s->ranks || now > finished + FAREWELL;
        if ((finished > 0.0 && connected == 0 && all_came) || getppid() != parent) return;
    }
}

/* A socket that listens, and the file that says where. */
static bool announce(const char *path, const char *token, int *listener, ss_error *err)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t size = sizeof here;
    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*listener < 0 || bind(*listener, (struct sockaddr *)&here, sizeof here) != 0 ||
        listen(*listener, 4096) != 0 || getsockname(*listener, (struct sockaddr *)&here, &size) != 0)
        return ss_fail(err, SS_ERROR_RESOURCES, "--claim: cannot listen: %s", strerror(errno));

    char host[65] = "unknown";
    gethostname(host, sizeof host - 1);
    ss_text text = {0}, part = {0};
    ss_text_appendf(&text, "stickslip-claim 1 %s %d %s", host, (int)ntohs(here.sin_port), token);
    struct ifaddrs *all = NULL;
    for (struct ifaddrs *at = getifaddrs(&all) == 0 ? all : NULL; at; at = at->ifa_next) {
        char number[INET_ADDRSTRLEN];
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || at->ifa_flags & IFF_LOOPBACK) continue;
        if (inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr, number,
                      sizeof number))
            ss_text_appendf(&text, " %s", number);
    }
    if (all) freeifaddrs(all);
    ss_text_append(&text, "\n");

    // Whole or not at all; for this user alone, since the token is in it.
    ss_text_appendf(&part, "%s.part", path);
    unlink(ss_text_get(&part));
    int file = open(ss_text_get(&part), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = !text.out_of_memory && !part.out_of_memory && file >= 0 &&
                write(file, text.data, text.length) == (ssize_t)text.length && fsync(file) == 0;
    if (file >= 0) close(file);
    good = good && rename(ss_text_get(&part), path) == 0;
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));
    ss_text_free(&text);
    ss_text_free(&part);
    return good;
}

bool ss_claim_serve(ss_claim_server *server_of, const ss_plan *plan, const char *file, const char *digest,
                    int ranks, const uint64_t *words, int word_count, ss_error *err)
{
    unsigned char bytes[16];
    char token[33];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return ss_fail(err, SS_ERROR_RESOURCES, "--claim: the system has no random numbers");
    for (int i = 0; i < 16; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    server s = {.plan = plan, .token = token, .digest = digest, .ranks = ranks, .listener = -1};
    *server_of = (ss_claim_server){.file = file};
    bool good =
        list_runs(&s) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the runs of the campaign");
    if (good) mark_words(&s, words, (size_t)word_count);
    good = good && announce(file, token, &s.listener, err);

    int parent = (int)getpid();
    pid_t child = good ? fork() : -1;
    if (child == 0) {
        struct rlimit files;
        if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
            files.rlim_cur = files.rlim_max;
            setrlimit(RLIMIT_NOFILE, &files);
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_IGN), signal(SIGTERM, SIG_IGN), signal(SIGHUP, SIG_IGN);
        serve(&s, parent);
        unlink(file);
        _exit(0);
    }
    if (good && child < 0)
        good = ss_fail(err, SS_ERROR_RESOURCES, "cannot start a process: %s", strerror(errno));
    if (s.listener >= 0) close(s.listener);
    ss_deal_free(&s.deal);
    ss_release(s.first);
    ss_release(s.method);
    ss_release(s.owner);
    ss_release(s.sorted);
    ss_release(s.came);
    if (good) server_of->process = (int)child;
    return good;
}

void ss_claim_server_end(ss_claim_server *server_of, bool patient, const volatile int *stop)
{
    if (server_of->process <= 0) return;
    bool ended = false;
    while (patient && !ended && !(stop && *stop)) {
        ended = waitpid(server_of->process, NULL, WNOHANG) != 0;
        if (!ended) usleep(20000);
    }
    if (!ended) {
        kill(server_of->process, SIGKILL);
        waitpid(server_of->process, NULL, 0);
        unlink(server_of->file);
    }
    server_of->process = 0;
}
