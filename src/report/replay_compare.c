/* Two recordings of the same bodies, matched by time: how far their bodies are apart, frame by frame. */
#include "report/replay_internal.h"

#include "linalg/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The frames of the other recording around a time. They are asked for in the order of time: two are kept. */
typedef struct neighbours {
    ss_replay *replay;
    ss_frame *frame[2];
    int at[2]; /* number among the frames that are shown; -1 = none */
} neighbours;

static const ss_frame *neighbour(neighbours *n, int at, ss_error *err)
{
    for (int k = 0; k < 2; k++)
        if (n->at[k] == at) return n->frame[k];
    int oldest = n->at[0] < n->at[1] ? 0 : 1;
    ss_frame_destroy(n->frame[oldest]);
    n->at[oldest] = -1;
    n->frame[oldest] = ss_bpmd_read(n->replay->file, n->replay->frames[at].index, NULL, err);
    if (n->frame[oldest]) n->at[oldest] = at;
    return n->frame[oldest];
}

static int compare_ids(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The ids of the bodies of the first frame, rising; the caller frees them. */
static int *sorted_ids(const ss_replay *replay, int *count, ss_error *err)
{
    ss_frame *frame = ss_bpmd_read(replay->file, replay->frames[0].index, NULL, err);
    if (!frame) return NULL;
    *count = frame->bodies.count;
    int *ids = ss_allocate((size_t)*count + 1, sizeof *ids);
    if (ids && *count) {
        for (int b = 0; b < *count; b++) ids[b] = frame->bodies.id[b];
        qsort(ids, (size_t)*count, sizeof *ids, compare_ids);
    } else if (!ids) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", *count);
    }
    ss_frame_destroy(frame);
    return ids;
}

/* Bodies are known by their ids, which must be the same in both. */
static bool same_bodies(const ss_replay *replay, const ss_replay *other, ss_error *err)
{
    int counts[2] = {0, 0}, i = 0;
    int *mine = sorted_ids(replay, &counts[0], err);
    int *theirs = mine ? sorted_ids(other, &counts[1], err) : NULL;
    bool good = mine && theirs;
    while (good && i < counts[0] && i < counts[1] && mine[i] == theirs[i]) i++;

    // The first id that only one has.
    if (good && (i < counts[0] || i < counts[1])) {
        bool first = i < counts[0] && (i >= counts[1] || mine[i] < theirs[i]);
        good = ss_fail(err, SS_ERROR_INPUT,
                       "%s and %s do not show the same bodies (%d and %d, matched by their ids): body %d is "
                       "only in %s",
                       replay->path, other->path, counts[0], counts[1], first ? mine[i] : theirs[i],
                       first ? replay->path : other->path);
    }
    ss_release(mine);
    ss_release(theirs);
    return good;
}

/* Index of a body; bodies nearly always have the same order in both. */
static int find_body(const ss_bodies *bodies, int id, int likely)
{
    if (likely < bodies->count && bodies->id[likely] == id) return likely;
    for (int b = 0; b < bodies->count; b++)
        if (bodies->id[b] == id) return b;
    return -1;
}

/* Largest and root mean square distance of the bodies of a frame from where the other recording has them: at
 * `share` of the way from its frame a to its frame b. */
static bool measure(const ss_frame *frame, const ss_frame *a, const ss_frame *b, double share,
                    double *largest, double *rms)
{
    double sum = 0.0;
    int count = 0;
    *largest = 0.0;
    for (int i = 0; i < frame->bodies.count; i++) {
        int id = frame->bodies.id[i], k = find_body(&a->bodies, id, i), l = find_body(&b->bodies, id, i);
        if (k < 0 || l < 0) continue;
        ss_vec3 from = ss_vec3_load(a->bodies.position[k]), to = ss_vec3_load(b->bodies.position[l]);
        ss_vec3 place = ss_vec3_add(ss_vec3_scale(1.0 - share, from), ss_vec3_scale(share, to));
        double apart = ss_vec3_norm(ss_vec3_subtract(ss_vec3_load(frame->bodies.position[i]), place));
        *largest = fmax(*largest, apart);
        sum += apart * apart;
        count++;
    }
    if (count) *rms = sqrt(sum / count);
    return count > 0;
}

bool ss_replay_compare(ss_replay *replay, ss_replay *other, ss_error *err)
{
    const ss_replay *both[2] = {replay, other};
    for (int i = 0; i < 2; i++) {
        bool rising = both[i]->shown > 0;
        for (int k = 0; k < both[i]->shown; k++) {
            double time = both[i]->frames[k].time;
            rising &= isfinite(time) && (k == 0 || time > both[i]->frames[k - 1].time);
        }
        if (!rising)
            return ss_fail(err, SS_ERROR_INPUT,
                           "%s: its frames have no rising times, by which two recordings are matched",
                           both[i]->path);
    }

    double begin = other->frames[0].time, end = other->frames[other->shown - 1].time;
    if (replay->frames[replay->shown - 1].time < begin || replay->frames[0].time > end)
        return ss_fail(err, SS_ERROR_INPUT, "%s lasts from %g to %g s, %s from %g to %g s: no common time",
                       replay->path, replay->frames[0].time, replay->frames[replay->shown - 1].time,
                       other->path, begin, end);
    if (!same_bodies(replay, other, err)) return false;

    neighbours near = {.replay = other, .at = {-1, -1}};
    bool good = true;
    for (int i = 0, k = 0; good && i < replay->shown; i++) {
        // between frames k and k + 1 of the other; beyond its end there is nothing to compare with
        double time = replay->frames[i].time;
        if (time < begin || time > end) continue;
        while (k + 1 < other->shown && other->frames[k + 1].time <= time) k++;
        int next = k + 1 < other->shown ? k + 1 : k;
        double step = other->frames[next].time - other->frames[k].time;
        double share = next > k ? (time - other->frames[k].time) / step : 0.0, largest = 0.0, rms = 0.0;
        const ss_frame *a = neighbour(&near, k, err), *b = a ? neighbour(&near, next, err) : NULL;
        ss_frame *frame = b ? ss_bpmd_read(replay->file, replay->frames[i].index, NULL, err) : NULL;
        good = frame != NULL;
        if (good && measure(frame, a, b, share, &largest, &rms)) {
            ss_replay_series_set(&replay->series, "largest distance of bodies", "m", i, largest);
            ss_replay_series_set(&replay->series, "rms distance of bodies", "m", i, rms);
        }
        ss_frame_destroy(frame);
    }

    for (int k = 0; k < 2; k++) ss_frame_destroy(near.frame[k]);
    if (good && replay->series.out_of_memory)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for series");
    if (good) replay->other = other;
    return good;
}
