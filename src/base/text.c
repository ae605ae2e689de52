#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* Room for `more` bytes and a final zero. */
static bool reserve(ss_text *text, size_t more)
{
    if (text->out_of_memory) return false;
    if (text->capacity - text->length > more) return true;
    size_t needed, doubled = 2 * text->capacity;
    char *data = NULL;
    if (!__builtin_add_overflow(text->length, more + 1, &needed) && needed > text->length) {
        size_t capacity = needed < 128 ? 128 : needed > doubled ? needed : doubled;
        data = ss_allocate(capacity, 1);
        if (data) text->capacity = capacity;
    }
    if (!data) {
        text->out_of_memory = true;
        return false;
    }
    if (text->length) memcpy(data, text->data, text->length);
    ss_release(text->data);
    text->data = data;
    return true;
}

void ss_text_append_bytes(ss_text *text, const char *more, size_t length)
{
    if (!reserve(text, length)) return;
    if (length) memcpy(text->data + text->length, more, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void ss_text_append(ss_text *text, const char *more)
{
    ss_text_append_bytes(text, more, strlen(more));
}

void ss_text_appendf(ss_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(text, (size_t)length)) return;
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void ss_text_append_word(ss_text *text, const char *word, size_t length)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=_:,.+/-";
    ss_text_append(text, " ");
    if (length > 0 && strspn(word, plain) >= length) {
        ss_text_append_bytes(text, word, length);
        return;
    }
    ss_text_append(text, "'");
    for (size_t i = 0; i < length; i++) {
        if (word[i] == '\'')
            ss_text_append(text, "'\\''");
        else
            ss_text_append_bytes(text, &word[i], 1);
    }
    ss_text_append(text, "'");
}

const char *ss_text_get(const ss_text *text)
{
    return text->data ? text->data : "";
}

void ss_text_clear(ss_text *text)
{
    text->length = 0;
    text->out_of_memory = false;
    if (text->data) text->data[0] = '\0';
}

void ss_text_free(ss_text *text)
{
    ss_release(text->data);
    *text = (ss_text){0};
}
