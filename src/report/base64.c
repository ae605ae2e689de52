#include "report/base64.h"

void ss_base64(ss_text *text, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4096];
    size_t filled = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        line[filled++] = digits[three >> 18];
        line[filled++] = digits[three >> 12 & 63];
        line[filled++] = left > 1 ? digits[three >> 6 & 63] : '=';
        line[filled++] = left > 2 ? digits[three & 63] : '=';
        if (filled == sizeof line) {
            ss_text_append_bytes(text, line, filled);
            filled = 0;
        }
    }
    ss_text_append_bytes(text, line, filled);
}
