/* report/replay_internal.h - the parts of a replay.
 *
 *   replay.c         what is shown
 *   replay_chunks.c    the frames that are shown, and their chunks
 *   replay_frame.c   one frame with what its solvers say, as bytes and as numbers of the series
 *   replay_series.c  lists of series
 *   replay_shapes.c  what bodies look like, and what to draw when shapes are unknown
 *   replay_joints.c  where joints are, from their rows
 *   replay_picture.c a still picture
 *   replay_compare.c two recordings in step
 *   replay_json.c    what the page gets of all of it
 */
#ifndef SS_REPORT_REPLAY_INTERNAL_H
#define SS_REPORT_REPLAY_INTERNAL_H

#include "report/replay.h"

#include <stickslip/metrics.h>

/* ---- series ----------------------------------------------------------------------------------------- */

typedef struct ss_replay_series {
    char *name, *unit;
    double *values; /* one per frame that is shown; NaN = none */
} ss_replay_series;

typedef struct ss_replay_series_list {
    ss_replay_series *items;
    int count, capacity;
    int frames;         /* room in every series */
    bool out_of_memory; /* sticky */
} ss_replay_series_list;

/* A series that is not there yet is added. */
void ss_replay_series_set(ss_replay_series_list *list, const char *name, const char *unit, int frame,
                          double value);
void ss_replay_series_free(ss_replay_series_list *list);

/* ---- the replay ------------------------------------------------------------------------------------- */

typedef struct ss_replay_view { /* a frame */
    int index;                  /* in the file */
    double time, h;
    int bodies, scenery, joints, contacts;
    bool alternatives; /* contacts have them */
} ss_replay_view;

typedef struct ss_replay_solver { /* a result */
    char *name;
    bool answers;
    char *rules; /* how gaps and joints are treated when answers are judged, in words; NULL: no answers */
    bool rules_stored; /* ... as the file says of the first answer; false: assumed */
    bool rules_given;  /* by the caller */
    bool rules_differ; /* not for all answers */
    ss_replay_series_list series;
} ss_replay_solver;

typedef struct ss_replay_blob {
    unsigned char *bytes;
    size_t size;
} ss_replay_blob;

struct ss_replay {
    ss_bpmd *file;
    ss_replay_options options;
    char *path, *title;
    ss_manifest manifest;
    ss_shapes shapes;
    bool boxes;         /* the file has none: shapes are boxes made from masses and inertias */
    double shape_bytes; /* that the shapes take in the page, however few frames are shown */
    int total;          /* frames of the simulation */
    ss_replay_view *frames;
    int shown, capacity;
    int *chunk_first; /* index into frames; as many as frames at most */
    int chunk_count;
    ss_replay_blob *packed; /* chunks that are kept; NULL: none are */
    ss_replay_solver solvers[SS_REPLAY_MOST_RESULTS];
    int solver_count;
    ss_replay_series_list series;
    bool decimated;
    bool has_unknown;      /* contacts whose state is unknown */
    bool has_alternatives; /* contacts that were not chosen */
    ss_replay *other;      /* a second recording, drawn as a ghost; NULL: none. Not owned */
};

/* Empties the list of frames, chunks and series, for another walk. */
void ss_replay_forget(ss_replay *replay);
/* Shows frames begin .. end - 1 of the file, as far as the options allow. */
bool ss_replay_read_frames(ss_replay *replay, int begin, int end, ss_findings *findings, ss_error *err);

/* To seven digits, which are more than a curve shows or a graphics card takes, and half as
 * many as there are. */
double ss_replay_rounded(double value);

/* ---- one frame -------------------------------------------------------------------------------------- */

typedef struct ss_replay_answer { /* of one solver for one frame */
    bool stored;                  /* false: the frame has no result of this solver */
    bool complete;                /* there is an answer that can be judged */
    bool judged;                  /* values and reports are known */
    ss_stored_result result;
    ss_metric_value *values;
    ss_contact_report *reports;
    bool *other; /* of each contact: a point of an alternative that was not chosen; NULL: none is */
} ss_replay_answer;

typedef struct ss_replay_joint {
    int pair[2];              /* bodies of the frame, -1 = world */
    double point[3], axis[3]; /* world; the axis is 0 where there is none */
    double error[2]; /* of its rows without bounds: m of those that hold a point, rad of the others */
    int first, rows; /* its rows; a link between more than two bodies has none */
} ss_replay_joint;
/* Where the joints of a frame are, as far as their rows say: those that hold no point are left out. Joints on
 * more than two bodies are links between these. Returns their number, ss_replay_most_joints at most. */
static inline size_t ss_replay_most_joints(const ss_frame *frame)
{
    return 2 * (size_t)frame->constraints.count + (size_t)frame->constraints.further_count;
}
int ss_replay_find_joints(const ss_frame *frame, ss_replay_joint *joints);

typedef struct ss_replay_frame {
    ss_frame *frame;
    ss_scenery scenery;
    ss_replay_joint *joints; /* that have a place */
    int joint_count;
    int contacts; /* that are shown: force points of all alternatives, and test points with impulses */
    /* of each contact: number of its alternative, from 1, and how many its group has; 0 and 0: an ordinary
     * contact. NULL: all are */
    int16_t (*alternative)[2];
    ss_replay_answer answers[SS_REPLAY_MOST_RESULTS];
} ss_replay_frame;

/* A stored result, with the rules that the caller wants it to be judged by. */
bool ss_replay_result(const ss_replay *replay, int frame, int index, ss_stored_result *result, ss_error *err);
/* Reads and checks a frame of the file. Answers are judged where no metrics are stored, and
 * with `states` wherever contacts are shown. */
bool ss_replay_frame_read(const ss_replay *replay, int index, bool states, ss_replay_frame *frame,
                          ss_findings *findings, ss_error *err);
void ss_replay_frame_free(ss_replay_frame *frame);
void ss_replay_frame_info(const ss_replay_frame *frame, int index, ss_replay_view *shown);
/* Enters the frame's numbers as number `at` of all series. */
void ss_replay_frame_measure(ss_replay *replay, const ss_replay_frame *frame, int at);
/* Bytes it takes in a chunk, and these bytes. */
size_t ss_replay_frame_size(const ss_replay *replay, const ss_replay_view *shown);
void ss_replay_frame_encode(const ss_replay *replay, const ss_replay_frame *frame, unsigned char *to);

/* ---- shapes ----------------------------------------------------------------------------------------- */

/* Keys and arrays "shapes" and "meshes". Heightfields become meshes. */
void ss_replay_shapes_json(const ss_shapes *shapes, ss_json *json);

/* Adds boxes with mass and inertia of the frame's bodies that have no shape yet. */
bool ss_replay_add_boxes(ss_replay *replay, const ss_frame *frame, ss_error *err);

/* After those of ss_contact_status: the state of a contact that was not judged, and of a point of an
 * alternative that was not chosen. */
enum { SS_REPLAY_STATE_UNKNOWN = SS_CONTACT_STATUS_COUNT, SS_REPLAY_STATE_OTHER };

#endif
