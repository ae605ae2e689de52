/* cli/view/http_request.h - the head of an HTTP request. */
#ifndef SS_CLI_VIEW_HTTP_REQUEST_H
#define SS_CLI_VIEW_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ss_http_request {
    const char *path; /* without the query, in the text that was read; NULL when that made no sense */
    bool is_head;
} ss_http_request;

/* Length of the head, up to and with its empty line; 0 when that has not come yet. */
size_t ss_http_request_end(const char *text, size_t length);
/* Reads a whole head, followed by a zero, and changes it. 200, or the status to refuse it with: 400 for what
 * is no request, 403 for a Host that is not this machine, 405 for other methods. */
int ss_http_request_read(char *text, size_t length, ss_http_request *request);

#endif
