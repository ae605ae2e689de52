/* campaign/claim.h - runs that are handed out. One process of the first rank serves over TCP; every rank, the
 * first one too, asks it for work, solves, stores the results in its own ledger, and says what is done.
 *
 *     runs/%s.db -> runs/claim.db.address: host, port, token and addresses, readable by the user alone
 *
 * A rank that dies is noticed by the end of its connection, or by a minute of silence; what it had is handed
 * out again. When the server dies, the others end with what they have. Nothing waits without a limit. */
#ifndef SS_CAMPAIGN_CLAIM_H
#define SS_CAMPAIGN_CLAIM_H

#include "campaign/deal.h"
#include "campaign/worker_tasks.h"

/* Words (ss_run_word) of all runs of a ledger, on whichever machine they were made, to be released; and how
 * many of them another build of the program made. */
bool ss_ledger_words(ss_ledger *ledger, uint64_t **words, int *count, int *outdated, ss_error *err);

/* ---- messages ----------------------------------------------------------------------------------------- */

typedef enum ss_claim_kind {
    SS_CLAIM_HELLO,   /* token, digest of the campaign, rank, ranks, jobs */
    SS_CLAIM_HAVE,    /* words of runs that are in the ledger of this rank */
    SS_CLAIM_ASK,     /* for work */
    SS_CLAIM_DONE,    /* numbers of runs that are stored; none: still alive */
    SS_CLAIM_WELCOME, /* from here on: of the server */
    SS_CLAIM_REFUSED, /* why */
    SS_CLAIM_WORK,    /* problems, each with its methods and the numbers of these runs */
    SS_CLAIM_WAIT,    /* nothing at the moment; still alive */
    SS_CLAIM_FINISHED,
    SS_CLAIM_KINDS
} ss_claim_kind;

typedef struct ss_claim_head {
    uint32_t magic, kind, size; /* bytes that follow */
} ss_claim_head;
#define SS_CLAIM_MAGIC 0x736c6331u /* "slc1": also tells machines of another byte order apart */
#define SS_CLAIM_MOST (64u << 20)  /* bytes of a message */
#define SS_CLAIM_SILENCE 60.0      /* s after which the other side is dead */

/* Where the server is. */
typedef struct ss_claim_address {
    char host[65], token[33];
    int port;
    char numbers[8][46]; /* its IPv4 addresses */
    int number_count;
} ss_claim_address;

/* ---- the server --------------------------------------------------------------------------------------- */

typedef struct ss_claim_server {
    int process; /* 0 = none */
    const char *file;
} ss_claim_server;

/* Starts the process that hands out the runs of the plan to `ranks` ranks, except those in `words`.
 * `digest`: of the campaign, which all must have in common. */
bool ss_claim_serve(ss_claim_server *server, const ss_plan *plan, const char *file, const char *digest,
                    int ranks, const uint64_t *words, int word_count, ss_error *err);
/* patient: waits until all ranks have heard that it is over, as long as *stop is zero. */
void ss_claim_server_end(ss_claim_server *server, bool patient, const volatile int *stop);

/* ---- a rank ------------------------------------------------------------------------------------------- */

typedef struct ss_claim {
    int socket; /* -1 = not connected */
    const volatile int *stop;
    double last;   /* when the server last heard of us */
    ss_text inbox; /* what has come of a message */
    ss_text news;  /* numbers of runs that it has not been told yet */
} ss_claim;

/* Waits for the server as long as it may need to begin. */
bool ss_claim_connect(ss_claim *claim, const char *file, const char *digest, int rank, int ranks, int jobs,
                      const uint64_t *words, int word_count, ss_error *err);
/* WORK with the message in `work`, to be freed; FINISHED; or KINDS with err: the server is gone, or *stop. */
ss_claim_kind ss_claim_ask(ss_claim *claim, ss_text *work, ss_error *err);
/* A run is stored. */
void ss_claim_done(ss_claim *claim, int64_t number);
/* Now and then: says what is done, and that we live. */
void ss_claim_tick(ss_claim *claim);
void ss_claim_close(ss_claim *claim);

#endif
