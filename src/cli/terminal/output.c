#include "cli/terminal/output.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DRAIN_BYTES ((size_t)1 << 16)
#define LEAST_COLUMNS ((size_t)40) /* of sentences */
#define MOST_COLUMNS ((size_t)120)
#define USUAL_COLUMNS ((size_t)79) /* in files, as help has it */

bool ss_is_terminal(int fd)
{
    return isatty(fd) && !getenv("OMPI_COMM_WORLD_RANK");
}

ss_out ss_out_open(int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool colour = ss_is_terminal(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
    return (ss_out){.fd = fd, .colour = colour, .columns = ss_terminal_columns(fd)};
}

/* 0, or the errno of the write that failed. */
static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

bool ss_out_flush(ss_out *out)
{
    if (out->text.out_of_memory && !out->error) out->error = ENOMEM;
    if (!out->error) out->error = write_all(out->fd, ss_text_get(&out->text), out->text.length);
    ss_text_clear(&out->text);
    return out->error == 0;
}

bool ss_out_drain(ss_out *out)
{
    if (out->text.length < DRAIN_BYTES && !out->text.out_of_memory) return out->error == 0;
    return ss_out_flush(out);
}

bool ss_out_finish(ss_out *out)
{
    bool written = ss_out_flush(out);
    ss_text_free(&out->text);
    if (!written && out->error != EPIPE)
        ss_complain("stickslip: cannot write to standard output: %s", strerror(out->error));
    return written;
}

const char *ss_out_style(const ss_out *out, ss_style style)
{
    static const char *const escapes[] = {"\033[0m", "\033[1m", "\033[31m", "\033[33m", "\033[32m"};
    return out->colour ? escapes[style] : "";
}

/* ---- text of strangers --------------------------------------------------------------------------- */

/* Bytes of the printable UTF-8 character at s; 0 for control characters, for those that turn the direction of
 * writing, which make text look like other text, and for what is not UTF-8. */
static size_t printable_length(const unsigned char *s)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7F;
    size_t length = s[0] >= 0xC2 && s[0] <= 0xDF ? 2
                    : (s[0] & 0xF0) == 0xE0      ? 3
                    : (s[0] & 0xF8) == 0xF0      ? 4
                                                 : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;

    // C1 controls; then U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069.
    if (s[0] == 0xC2 && s[1] < 0xA0) return 0;
    if (s[0] == 0xE2 && s[1] == 0x80 && (s[2] == 0x8E || s[2] == 0x8F || (s[2] >= 0xAA && s[2] <= 0xAE)))
        return 0;
    if (s[0] == 0xE2 && s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9) return 0;
    return length;
}

void ss_text_append_clean(ss_text *text, const char *foreign)
{
    const unsigned char *s = (const unsigned char *)foreign;
    while (*s) {
        size_t length = printable_length(s);
        if (length)
            ss_text_append_bytes(text, (const char *)s, length);
        else
            ss_text_append(text, *s == '\n' || *s == '\t' ? " " : "?");
        s += length ? length : 1;
    }
}

size_t ss_text_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++) columns += (*text & 0xC0) != 0x80;
    return columns;
}

/* ---- lines that fit ------------------------------------------------------------------------------ */

size_t ss_terminal_columns(int fd)
{
    struct winsize size;
    return ss_is_terminal(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static size_t line_columns(size_t terminal)
{
    if (terminal == 0) return USUAL_COLUMNS;
    return terminal < LEAST_COLUMNS ? LEAST_COLUMNS : terminal > MOST_COLUMNS ? MOST_COLUMNS : terminal;
}

size_t ss_out_line(const ss_out *out)
{
    return line_columns(out->columns);
}

void ss_text_wrap(ss_text *text, const char *words, size_t length, size_t indent, size_t column,
                  size_t columns)
{
    const char *end = words + length;
    bool at_start = true;
    while (words < end) {
        size_t bytes = 0, width = 0;
        for (; words + bytes < end && words[bytes] != ' ' && words[bytes] != '\n'; bytes++)
            width += (words[bytes] & 0xC0) != 0x80;
        if (!at_start && column + 1 + width > columns) {
            ss_text_appendf(text, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!at_start) {
            ss_text_append(text, " ");
            column++;
        }
        ss_text_append_bytes(text, words, bytes);
        column += width;
        words += bytes;
        while (words < end && (*words == ' ' || *words == '\n')) words++;
        at_start = false;
    }
    ss_text_append(text, "\n");
}

void ss_out_paragraph(ss_out *out, size_t indent, const char *words)
{
    ss_text_appendf(&out->text, "%*s", (int)indent, "");
    ss_text_wrap(&out->text, words, strlen(words), indent, indent,
                 out->columns ? ss_out_line(out) : SIZE_MAX);
}

/* ---- talk ---------------------------------------------------------------------------------------- */

void ss_talk(const char *format, va_list arguments)
{
    char line[2048];
    vsnprintf(line, sizeof line, format, arguments);
    ss_text clean = {0}, fitted = {0};
    size_t columns = ss_terminal_columns(STDERR_FILENO);
    ss_text_append_clean(&clean, line);
    if (columns)
        ss_text_wrap(&fitted, ss_text_get(&clean), clean.length, 2, 0, line_columns(columns));
    else
        ss_text_appendf(&fitted, "%s\n", ss_text_get(&clean));
    if (!clean.out_of_memory && !fitted.out_of_memory) write_all(STDERR_FILENO, fitted.data, fitted.length);
    ss_text_free(&clean);
    ss_text_free(&fitted);
}

void ss_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    ss_talk(format, arguments);
    va_end(arguments);
}

int ss_report(const ss_error *err)
{
    ss_complain("stickslip: %s", err->message);
    return ss_error_exit_code(err->code);
}
