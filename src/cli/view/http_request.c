/* What a request says, and whether it may be answered (RFC 9112, the part that GET and HEAD need). */
#include "cli/view/http_request.h"

#include <string.h>
#include <strings.h>

static size_t token_length(const char *text)
{
    size_t length = 0;
    for (;; length++) {
        char c = text[length];
        bool is_token = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
        if (!is_token) return length;
    }
}

/* Cuts the next line off, without its end. NULL after the last one. */
static char *next_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');
    if (!end) return NULL;
    *rest = end + 1;
    if (end > line && end[-1] == '\r') end--;
    *end = '\0';
    return line;
}

/* METHOD SP PATH[?QUERY] SP HTTP/1.x */
static int read_first_line(char *line, ss_http_request *request)
{
    size_t length = token_length(line);
    char *target = line + length + 1, *space;
    if (length == 0 || line[length] != ' ' || target[0] != '/') return 400;
    space = strchr(target, ' ');
    if (!space || (strcmp(space + 1, "HTTP/1.1") != 0 && strcmp(space + 1, "HTTP/1.0") != 0)) return 400;
    *space = '\0';
    line[length] = '\0';
    for (const char *c = target; *c; c++)
        if (*c < '!' || *c > '~') return 400;
    target[strcspn(target, "?#")] = '\0';
    request->path = target;
    request->is_head = strcmp(line, "HEAD") == 0;
    return request->is_head || strcmp(line, "GET") == 0 ? 200 : 405;
}

/* This machine, with or without a port: over a tunnel the port may be another one. */
static bool names_this_machine(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1"};
    size_t length = strcspn(host, ":");
    const char *port = host + length;
    if (*port && (port[1] == '\0' || strspn(port + 1, "0123456789") != strlen(port + 1))) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncasecmp(host, names[i], length) == 0) return true;
    return false;
}

/* Every line is NAME: VALUE; of all of them only Host matters, and there must be just one. */
static int read_headers(char *rest)
{
    char *host = NULL, *line;
    while ((line = next_line(&rest)) && *line) {
        size_t length = token_length(line);
        if (length == 0 || line[length] != ':') return 400;
        line[length] = '\0';
        if (strcasecmp(line, "host") != 0) continue;
        if (host) return 400;

        // Blanks around the value do not belong to it.
        host = line + length + 1;
        host += strspn(host, " \t");
        length = strlen(host);
        while (length > 0 && (host[length - 1] == ' ' || host[length - 1] == '\t')) host[--length] = '\0';
    }
    if (!line || !host) return 400;
    return names_this_machine(host) ? 200 : 403;
}

int ss_http_request_read(char *text, size_t length, ss_http_request *request)
{
    *request = (ss_http_request){0};
    if (memchr(text, '\0', length)) return 400;
    char *rest = text, *line = next_line(&rest);
    int first = line ? read_first_line(line, request) : 400;
    if (first == 400) return 400;
    int headers = read_headers(rest);
    return headers == 200 ? first : headers;
}

size_t ss_http_request_end(const char *text, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        if (text[i] != '\n') continue;
        if (text[i + 1] == '\n') return i + 2;
        if (text[i + 1] == '\r' && i + 2 < length && text[i + 2] == '\n') return i + 3;
    }
    return 0;
}
