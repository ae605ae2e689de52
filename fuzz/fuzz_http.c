/* Heads of HTTP requests. A path that is accepted begins with '/' and lies in the text. */
#include "fuzz.h"

#include "cli/view/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length = ss_http_request_end((const char *)data, size);
    must(length <= size, "a head ends within the text");
    if (length == 0) return 0;
    char *text = malloc(length + 1);
    if (!text) return 0;
    memcpy(text, data, length);
    text[length] = '\0';
    ss_http_request request;
    int status = ss_http_request_read(text, length, &request);
    must(status == 200 || status == 400 || status == 403 || status == 405, "a status is one of four");
    if (status == 200) {
        must(request.path >= text && request.path < text + length, "a path lies in the text");
        must(request.path[0] == '/' && !strpbrk(request.path, "?# \r\n"), "a path is one");
    }
    free(text);
    return 0;
}
