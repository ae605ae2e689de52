/* cli/terminal/output.h - the two streams. Results go to standard output through ss_out, which notices every
 * failed write; everything else is talk and goes to standard error. Text that comes from a file is cleaned
 * of control characters before it reaches a terminal. */
#ifndef SS_CLI_TERMINAL_OUTPUT_H
#define SS_CLI_TERMINAL_OUTPUT_H

#include "base/text.h"

typedef struct ss_out {
    ss_text text; /* what was not written yet; append to it freely, then drain */
    int fd;
    int error; /* errno of the first write that failed, 0 = none */
    bool colour;
    size_t columns; /* of the terminal; 0 = not a terminal, where lines may be of any length */
} ss_out;

/* Colour only on a terminal, and never against NO_COLOR or TERM=dumb. */
ss_out ss_out_open(int fd);
/* Writes when a good amount has gathered. False when the reader is gone or the device is full: stop then. */
bool ss_out_drain(ss_out *out);
/* Writes at once: it is waited for. */
bool ss_out_flush(ss_out *out);
/* Writes the rest and frees the text. False if anything was lost; the reason has been told on standard error,
 * except that of a pipe whose reader had enough. */
bool ss_out_finish(ss_out *out);

/* Appends text of a stranger: control characters and bytes that are not UTF-8 become '?'. */
void ss_text_append_clean(ss_text *text, const char *foreign);
/* Columns the text takes on a terminal, one per character. */
size_t ss_text_columns(const char *text);

/* Does a person look at it? mpirun gives its ranks a terminal whose other end it copies to wherever its own
 * output goes, often a file: that is none. */
bool ss_is_terminal(int fd);
/* Columns of the terminal behind a descriptor, 0 if it is none. */
size_t ss_terminal_columns(int fd);
/* Columns for sentences: those of the terminal, unless it is very narrow or wide; 79 in a file. */
size_t ss_out_line(const ss_out *out);
/* Appends `length` bytes of words in lines of at most `columns`, and ends the last line. The cursor stands at
 * `column`, further lines begin at `indent`. */
void ss_text_wrap(ss_text *text, const char *words, size_t length, size_t indent, size_t column,
                  size_t columns);
/* One paragraph that fits the terminal, all of it indented; in a file, where programs read it, one line. */
void ss_out_paragraph(ss_out *out, size_t indent, const char *words);

typedef enum ss_style {
    SS_STYLE_PLAIN,
    SS_STYLE_HEADING,
    SS_STYLE_BAD,
    SS_STYLE_DOUBT,
    SS_STYLE_GOOD
} ss_style;
/* The escape sequence that starts a style, "" without colour. */
const char *ss_out_style(const ss_out *out, ss_style style);

/* One line on standard error, cleaned. */
void ss_talk(const char *format, va_list arguments);
void ss_complain(const char *format, ...) SS_PRINTF(1, 2);
/* Tells an error as "stickslip: MESSAGE" and returns the exit code it stands for. */
int ss_report(const ss_error *err);

#endif
