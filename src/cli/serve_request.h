/* cli/serve_request.h - the head of an HTTP request. */
#ifndef SS_CLI_SERVE_REQUEST_H
#define SS_CLI_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ss_serve_request {
    const char *path; /* without the query, in the text that was read; NULL when that made no sense */
    bool is_head;
} ss_serve_request;

/* Length of the head, up to and with its empty line; 0 when that has not come yet. */
size_t ss_serve_request_end(const char *text, size_t length);
/* Reads a whole head, followed by a zero, and changes it. 200, or the status to refuse it with: 400 for what is no
 * request, 403 for a Host that is not this machine, 405 for other methods. */
int ss_serve_request_read(char *text, size_t length, ss_serve_request *request);

#endif
