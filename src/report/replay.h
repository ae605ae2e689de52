/* report/replay.h - a recorded simulation as data for the 3-D page: a JSON object that says what there is,
 * and chunks of frames in a compact binary form. web/src/view/data.ts describes both to the last byte. */
#ifndef SS_REPORT_REPLAY_H
#define SS_REPORT_REPLAY_H

#include "base/text.h"

#include <stickslip/dataset.h>

enum { SS_REPLAY_MOST_RESULTS = 8, SS_REPLAY_DEFAULT_RESULTS = 4 };

typedef struct ss_replay_options {
    int simulation;
    /* names under solver_data, in this order; none given: all, up to SS_REPLAY_DEFAULT_RESULTS */
    const char *results[SS_REPLAY_MOST_RESULTS];
    int result_count;
    int first, last;   /* frames of the simulation: first .. last - 1; last = 0: all */
    int every;         /* every k-th; 0 = as the size allows */
    double megabytes;  /* most that the chunks as base64 and the JSON may take together; 0 = no limit */
    const char *title; /* NULL: the manifest's, or the name of the file */
    /* rules that answers are judged by in the place of those in the file; NULL: those in the file */
    const char *formulation, *with;
    bool no_contacts;
    const volatile int *cancel;                           /* may be NULL */
    void (*progress)(int done, int total, void *context); /* may be NULL */
    void *context;
} ss_replay_options;

typedef struct ss_replay ss_replay;
/* Reads what the page needs to know of every frame (series of metrics, sizes), and chooses which frames to
 * show. What is wrong with a frame goes to the findings, and the frame is left out. The file stays the
 * caller's, open. With a limit of megabytes the chunks are made at once and kept, without one each is made
 * when it is asked for, and the limit also takes the numbers of contacts and speeds down to 16 bits of
 * mantissa (5 digits), so that they deflate better. */
ss_replay *ss_replay_open(ss_bpmd *file, const char *path, const ss_replay_options *options,
                          ss_findings *findings, ss_error *err);
void ss_replay_close(ss_replay *replay);
/* Shows a second recording with the first, as a ghost, and adds curves of how far bodies are apart. Frames
 * are matched by time, between two frames of the other on the straight line; bodies by their ids, which must
 * be the same in both. The other one stays open as long as the first. */
bool ss_replay_compare(ss_replay *replay, ss_replay *other, ss_error *err);
/* The object `Replay` of data.ts. inside_html as in ss_json. */
void ss_replay_json(const ss_replay *replay, bool inside_html, ss_text *text);
int ss_replay_chunk_count(const ss_replay *replay);
/* One chunk, deflated (zlib format); ss_release frees it. Of a second recording: call it with that one. */
unsigned char *ss_replay_chunk(ss_replay *replay, int chunk, size_t *size, ss_error *err);
/* The k-th solver whose rules are not in the file, and what was assumed; NULL when there are no more. */
const char *ss_replay_assumed(const ss_replay *replay, int k, const char **rules);
int ss_replay_shown(const ss_replay *replay); /* frames that are shown, of ss_replay_total */
int ss_replay_total(const ss_replay *replay);
bool ss_replay_is_decimated(const ss_replay *replay); /* frames were left out to stay within the limit */
/* The page with all of it inside. */
bool ss_replay_write(ss_replay *replay, const char *path, ss_error *err);
/* The first frame that is shown as a PNG, in pixels. */
bool ss_replay_picture(ss_replay *replay, int width, int height, const char *path, ss_error *err);
size_t ss_replay_page_size(void); /* bytes of the page without data */

#endif
