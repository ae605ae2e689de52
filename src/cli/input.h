/* cli/input.h - what all verbs that read files share: their options, progress, and findings gathered over
 * frames. */
#ifndef SS_CLI_INPUT_H
#define SS_CLI_INPUT_H

#include "campaign/read_input.h"
#include "cli/terminal/progress.h"

/* ---- options of reading -------------------------------------------------------------------------- */

typedef struct ss_input_options {
    double max_memory; /* MB, 0 = no limit */
    double max_time;   /* s, 0 = no limit */
    ss_read_options read;
    ss_limits limits;
} ss_input_options;

extern const ss_option ss_input_option_table[];
#define SS_INPUT_GROUPS(type, member)                                                            \
    {"Reading options", ss_input_option_table, offsetof(type, member)},                          \
        {NULL, ss_read_option_table, offsetof(type, member) + offsetof(ss_input_options, read)}, \
    {                                                                                            \
        NULL, ss_limits_table, offsetof(type, member) + offsetof(ss_input_options, limits)       \
    }

/* NULL for verbs without them. */
const ss_input_options *ss_input_options_of(const ss_command *command);

/* The library's messages read "FILE: /place: what is wrong". Returns what follows the file name; when a
 * place comes first it is copied to `place` and skipped as well, otherwise `place` is left as it is. */
const char *ss_input_split(const char *message, const char *path, char *place, size_t size);

/* Fails when `path` is the input file, by whatever name. */
bool ss_input_check_target(const ss_command *command, const char *path, ss_error *err);

/* ---- the same finding in many frames ------------------------------------------------------------- */

/* Findings that differ only in frame and numbers count as one. */
typedef struct ss_tally_item {
    ss_finding_kind kind;
    char *key;   /* what, with numbers taken out */
    char *what;  /* place inside the frame and message, of the first one */
    char *first; /* frame */
    int frames, last_frame;
} ss_tally_item;

typedef struct ss_tally {
    ss_tally_item *items;
    size_t count, capacity;
    bool out_of_memory;
} ss_tally;

/* `frame` is the frame's path ("" for a file without frames), `number` any number that is its own. */
void ss_tally_add(ss_tally *tally, const ss_findings *findings, const char *frame, int number);
/* One finding of its own. */
void ss_tally_note(ss_tally *tally, ss_finding_kind kind, const char *place, const char *message,
                   const char *frame, int number);
void ss_tally_free(ss_tally *tally);
/* Key and array: "repairs": [{"what", "frames", "first"}]. */
void ss_tally_json(ss_json *json, const char *key, const ss_tally *tally, ss_finding_kind kind);
/* A heading and a line for each, nothing when there are none. */
void ss_tally_print(ss_out *out, const char *title, const ss_tally *tally, ss_finding_kind kind);
/* The same as talk, one line each: "lost: ... (3 frames, first /mbs_frame000001)". */
void ss_tally_say(const ss_command *command, const char *word, const ss_tally *tally, ss_finding_kind kind);

/* ---- what is read, and what is refused ----------------------------------------------------------- */

/* Frames or problems that were not worked on, and why: the others go on. */
typedef struct ss_refused {
    const char *file, *done; /* "converted": what did not happen to them */
    ss_findings list;
    int exit_code; /* the worst so far */
} ss_refused;

/* Tells it on standard error, but not a thousand times, and notes it. `around` is its place when the message
 * does not begin with a better one. */
void ss_refuse(ss_refused *refused, const char *around, const ss_error *err);
/* Key and array: "refused": [{"place", "message"}]. */
void ss_refused_json(ss_json *json, const ss_refused *refused);

/* Reads and checks a frame. NULL when it must not be used: the message begins with the place of its first
 * fault. What the reader has to say goes to the tally. */
ss_frame *ss_input_read_frame(ss_bpmd *file, int index, const char *place, ss_tally *tally, ss_error *err);

/* What only pictures need, from one file to another: shapes when a simulation was begun, scenery when a frame
 * was written. What cannot be read is counted in the tally and left out. */
bool ss_input_copy_shapes(ss_bpmd *file, int simulation, ss_writer *writer, ss_tally *tally, ss_error *err);
bool ss_input_copy_scenery(ss_bpmd *file, int frame, ss_writer *writer, ss_tally *tally, ss_error *err);

/* The choices of --problem, whose value is 0 or 1 + ss_fclib_kind. */
#define SS_PROBLEM_CHOICES "auto|local|global|global_rolling"
bool ss_input_choose_problem(const ss_command *command, int wanted, ss_fclib_kind *kind, ss_error *err);
/* Reads and checks a problem. */
ss_fclib *ss_input_read_problem(const char *path, ss_fclib_kind kind, const ss_limits *limits,
                                ss_tally *tally, ss_error *err);

/* ---- the rules of stored answers, as the command line gives them ---------------------------------- */

/* Checks --formulation (NULL: cone) and --with before any frame is read, so that a wrong name is a usage
 * error, and joins the options in `joined`. */
bool ss_rules_read(const char *verb, const char *formulation, const ss_option_list *with, ss_text *joined,
                   ss_error *err);

#endif
