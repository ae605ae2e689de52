/* cli/info/info.h - the parts of `stickslip info`. */
#ifndef SS_CLI_INFO_INFO_H
#define SS_CLI_INFO_INFO_H

#include "cli/input.h"

typedef struct ss_info_options {
    ss_common_options common;
    bool json, full, all;
    const char *frame; /* path or number, NULL = all */
    ss_input_options source;
} ss_info_options;

/* Each prints the whole answer and returns the exit code; err is set when it could not even start. */
int ss_info_bpmd(const ss_command *command, const ss_info_options *options, ss_error *err);
int ss_info_fclib(const ss_command *command, const ss_info_options *options, ss_error *err);

/* Every array of a frame. */
void ss_info_frame_json(ss_json *json, ss_out *out, const char *path, const ss_frame *frame);
void ss_info_frame_text(ss_out *out, const ss_frame *frame);
/* One element of "results": everything that is stored of a solver. */
void ss_info_result_json(ss_json *json, ss_out *out, const ss_stored_result *result);

/* "  name           value" */
void ss_info_item(ss_out *out, const char *name, const char *format, ...) SS_PRINTF(3, 4);
/* The same for words of a file: blanks around them are left out, and the line when there are none. */
void ss_info_words(ss_out *out, const char *name, const char *words);
void ss_info_heading(ss_out *out, const char *format, ...) SS_PRINTF(2, 3);

#endif
