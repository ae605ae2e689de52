/* cli/view/http_server.h - a small HTTP/1.1 server for one page and its data, on this machine only.
 *
 * It listens on 127.0.0.1 and answers GET and HEAD alone. The Host header must name this machine, so that no
 * foreign page can read from it through a name that points here. Requests have limits of size and
 * time; several connections are served at once, one thread. */
#ifndef SS_CLI_VIEW_HTTP_SERVER_H
#define SS_CLI_VIEW_HTTP_SERVER_H

#include <stickslip/base.h>

typedef struct ss_http_reply {
    const char *type;     /* of the contents; NULL: there is no such thing */
    unsigned char *bytes; /* released with ss_release when sent, unless borrowed */
    size_t size;
    bool borrowed;
} ss_http_reply;

typedef struct ss_http_server_options {
    int port; /* 0 = any that is free */
    /* Contents of a path ("/chunk/3"). False: something went wrong, and err says what. */
    bool (*answer)(const char *path, ss_http_reply *reply, void *context, ss_error *err);
    void (*ready)(int port, void *context); /* called once it listens */
    void *context;
} ss_http_server_options;

/* Serves until SIGINT or SIGTERM; true then. */
bool ss_http_serve(const ss_http_server_options *options, ss_error *err);

#endif
