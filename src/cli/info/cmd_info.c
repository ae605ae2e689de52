#include "cli/info/info.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_COLUMNS 16

void ss_info_item(ss_out *out, const char *name, const char *format, ...)
{
    char value[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    ss_text clean = {0};
    ss_text_append_clean(&clean, value);
    ss_text_appendf(&out->text, "  %-*s ", LABEL_COLUMNS, name);
    ss_text_wrap(&out->text, ss_text_get(&clean), clean.length, 3 + LABEL_COLUMNS, 3 + LABEL_COLUMNS,
                 out->columns ? ss_out_line(out) : SIZE_MAX);
    out->text.out_of_memory |= clean.out_of_memory;
    ss_text_free(&clean);
}

void ss_info_words(ss_out *out, const char *name, const char *words)
{
    static const char blanks[] = " \t\r\n";
    if (!words) return;
    words += strspn(words, blanks);
    size_t length = strlen(words);
    while (length > 0 && strchr(blanks, words[length - 1])) length--;
    if (length > 0) ss_info_item(out, name, "%.*s", (int)length, words);
}

void ss_info_heading(ss_out *out, const char *format, ...)
{
    char title[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(title, sizeof title, format, arguments);
    va_end(arguments);
    ss_text_append(&out->text, ss_out_style(out, SS_STYLE_HEADING));
    ss_text_append_clean(&out->text, title);
    ss_text_appendf(&out->text, "%s\n", ss_out_style(out, SS_STYLE_PLAIN));
}

static int run_info(const ss_command *command)
{
    const ss_info_options *options = command->options;
    ss_error err = {0};
    ss_format format;
    if (!ss_format_of_file(command->arguments[0], &format, &err)) return ss_report(&err);
    int code = format == SS_FORMAT_BPMD ? ss_info_bpmd(command, options, &err)
                                        : ss_info_fclib(command, options, &err);
    return err.code ? ss_report(&err) : code;
}

static const ss_option table[] = {
    {SS_FLAG(BOOL, ss_info_options, json),
     .help = "Print one JSON object. Infinite numbers are the strings \"inf\" and \"-inf\"; all numbers "
             "can be read back exactly."},
    {SS_FLAG(TEXT, ss_info_options, frame), .value_name = "PATH|N",
     .help = "BPMD: only this frame, by path or by number, counted from 0."},
    {SS_FLAG(BOOL, ss_info_options, full),
     .help = "Print every number: all arrays of the frame chosen with --frame, with --json also the results "
             "stored beside it; or all vectors and matrices of FCLIB problems."},
    {SS_FLAG(BOOL, ss_info_options, all),
     .help = "List every frame; otherwise a long table is shortened (--json is always complete)."},
    {0}};

static const ss_option_group groups[] = {
    {"Options", table, 0}, SS_INPUT_GROUPS(ss_info_options, source), SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"info stack.h5", "the contents of the file, frame by frame"},
    {"info stack.h5 --json", "the same, machine-readable, with all frames"},
    {"info stack.h5 --frame 3", "one frame in more detail"},
    {"info stack.h5 --frame /mbs_frame000004 --full --json", "every array of that frame"},
    {"info problem.hdf5", "an FCLIB problem, and whether its stored solution is valid"},
    {0}};

const ss_verb ss_verb_info = {
    .name = "info",
    .summary = "show the contents of a file",
    .arguments = "FILE",
    .description =
        "FILE is a BPMD file (frames: bodies, joints, contacts) or an FCLIB file (matrices of one "
        "problem); the format is recognised by its contents.\n\n"
        "For a BPMD file, shows the simulations with their manifests, and for each frame its size, time "
        "step, mass, kinetic energy and gaps. Sleeping bodies are not counted. Known defects of the "
        "program that wrote the file are repaired while reading and listed under Repairs.\n\n"
        "For an FCLIB file, shows each problem with its sizes. A stored solution is judged by residuals "
        "computed from the problem, because many published files hold a solution that does not solve "
        "it.\n\n"
        "A frame that cannot be read is listed with the reason, the others are still shown, and the exit "
        "code is 3.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_info_options),
    .reads_files = true,
    .run = run_info,
};
