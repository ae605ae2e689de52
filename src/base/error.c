#include <stickslip/base.h>

#include <stdio.h>
#include <string.h>

/* Formats into a buffer of its own first, because the arguments may point into err->message. */
static void set_message(ss_error *err, const char *tail, const char *format, va_list arguments)
{
    char text[sizeof err->message];
    int length = vsnprintf(text, sizeof text, format, arguments);
    // an encoding error of the C library: better no text than garbage
    if (length < 0) text[length = 0] = '\0';
    size_t used = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    if (tail) snprintf(text + used, sizeof text - used, ": %s", tail);
    memcpy(err->message, text, sizeof text);
}

bool ss_fail(ss_error *err, ss_error_code code, const char *format, ...)
{
    if (!err) return false;
    va_list arguments;
    va_start(arguments, format);
    set_message(err, NULL, format, arguments);
    va_end(arguments);
    err->code = code;
    return false;
}

bool ss_fail_in(ss_error *err, const char *format, ...)
{
    if (!err) return false;
    va_list arguments;
    va_start(arguments, format);
    set_message(err, err->message, format, arguments);
    va_end(arguments);
    return false;
}

const char *ss_error_name(ss_error_code code)
{
    switch (code) {
#define ERROR_NAME(error_code, exit_code, name) \
    case error_code:                            \
        return name;
        SS_ERROR_LIST(ERROR_NAME)
#undef ERROR_NAME
    }
    return "unknown";
}

int ss_error_exit_code(ss_error_code code)
{
    switch (code) {
#define ERROR_EXIT_CODE(error_code, exit_code, name) \
    case error_code:                                 \
        return exit_code;
        SS_ERROR_LIST(ERROR_EXIT_CODE)
#undef ERROR_EXIT_CODE
    }
    return ss_error_exit_code(SS_ERROR_RESOURCES);
}
