/* cli/convert/convert.h - the parts of `stickslip convert`. */
#ifndef SS_CLI_CONVERT_CONVERT_H
#define SS_CLI_CONVERT_CONVERT_H

#include "cli/extensions.h"
#include "cli/input.h"

typedef enum ss_target {
    SS_TARGET_BY_NAME, /* .mtx means mtx, .gms gams, .cbf cbf, .lcp lcp-text */
    SS_TARGET_BPMD,
    SS_TARGET_BPMD_FLAT,
    SS_TARGET_FCLIB_LOCAL,
    SS_TARGET_FCLIB_GLOBAL,
    SS_TARGET_MTX,
    SS_TARGET_LCP, /* Matrix Market, too */
    SS_TARGET_LCP_TEXT,
    SS_TARGET_GAMS,
    SS_TARGET_CBF,
} ss_target;

typedef struct ss_convert_options {
    ss_common_options common;
    int to;            /* ss_target */
    const char *frame; /* path, number or "all" */
    bool append, eliminate, local, json;
    double h;                /* s, for FCLIB to BPMD */
    const char *solver;      /* whose stored result becomes /solution */
    int problem;             /* 0 = the only one, else 1 + ss_fclib_kind */
    const char *formulation; /* NULL: none was named */
    ss_option_list with;
    int bounded_rows; /* 0: as contacts, 1: refuse */
    ss_extension_options extensions;
    ss_input_options source;
} ss_convert_options;

typedef struct ss_conversion {
    const ss_command *command;
    const ss_convert_options *options;
    const char *in, *out;
    ss_target to;
    ss_assembly *assembly; /* the formulation at work, with the options of the user */
    ss_json json;          /* used with --json: the result, written as it comes about */
    ss_tally tally;        /* losses, repairs, warnings over all frames */
    ss_refused refused;    /* what was not converted, and why */
    int files, frames;     /* written */
    ss_text last_file;     /* its name */
} ss_conversion;

/* BPMD to anything, FCLIB to anything. False with err when the run has to stop; what is wrong with one
 * frame only goes to `refused` and the run goes on. */
bool ss_convert_frames(ss_conversion *conversion, ss_error *err);
bool ss_convert_problem(ss_conversion *conversion, ss_error *err);

/* ---- used by both -------------------------------------------------------------------------------- */

bool ss_convert_is_bpmd(const ss_conversion *conversion); /* the target */
void ss_convert_note_file(ss_conversion *conversion, const char *path);
/* Writes the problem of a formulation (--to mtx --formulation F, --to lcp); `path` as given by the user. */
bool ss_convert_write_formulated(ss_conversion *conversion, ss_problem *problem, const char *path,
                                 ss_error *err);
/* What the names of several files end with. */
const char *ss_convert_ending(const ss_conversion *conversion);
/* Is it the problem of a formulation that is wanted, not FCLIB's? */
bool ss_convert_is_formulated(const ss_conversion *conversion);
/* Writes a problem as FCLIB or Matrix Market, reduced to the local form where that is wanted; `path` as
 * given by the user. The problem may be changed on the way. */
bool ss_convert_write_problem(ss_conversion *conversion, ss_fclib *problem, const char *path, ss_error *err);

#endif
