/* The object `Replay` of web/src/view/data.ts. */
#include "report/replay_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_real(ss_json *json, double value)
{
    if (isfinite(value))
        ss_json_real(json, value);
    else
        ss_json_null(json);
}

double ss_replay_rounded(double value)
{
    char digits[32];
    if (!isfinite(value)) return value;
    snprintf(digits, sizeof digits, "%.7g", value);
    return strtod(digits, NULL);
}

static void put_series(ss_json *json, const ss_replay_series_list *list, int frames)
{
    ss_json_key(json, "series");
    ss_json_begin_array(json);
    for (int s = 0; s < list->count; s++) {
        ss_json_begin_object(json);
        ss_json_member_text(json, "name", list->items[s].name);
        ss_json_member_text(json, "unit", list->items[s].unit);
        ss_json_key(json, "values");
        ss_json_begin_array(json);
        for (int i = 0; i < frames; i++) put_real(json, ss_replay_rounded(list->items[s].values[i]));
        ss_json_end_array(json);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}

static void put_replay(ss_json *json, const ss_replay *replay)
{
    const char *slash = strrchr(replay->path, '/');
    const double *gravity = replay->manifest.gravity;
    ss_json_begin_object(json);
    ss_json_member_text(json, "stickslip", ss_version());
    ss_json_member_text(json, "title", replay->title);
    ss_json_member_text(json, "file", slash ? slash + 1 : replay->path);
    ss_json_member_text(json, "simulation",
                        ss_bpmd_simulation_path(replay->file, replay->options.simulation));
    ss_json_member_text(json, "toolkit", replay->manifest.toolkit);
    ss_json_member_text(json, "description", replay->manifest.description);
    ss_json_key(json, "gravity");
    if (isfinite(gravity[0]) && isfinite(gravity[1]) && isfinite(gravity[2]))
        ss_json_reals(json, gravity, 3);
    else
        ss_json_null(json);
    ss_json_member_integer(json, "total", replay->total);

    ss_json_key(json, "frames");
    ss_json_begin_array(json);
    for (int i = 0; i < replay->shown; i++) {
        const ss_replay_view *shown = &replay->frames[i];
        char path[256] = "";
        ss_bpmd_frame_path(replay->file, shown->index, path, sizeof path);
        ss_json_begin_object(json);
        ss_json_member_text(json, "path", path);
        ss_json_key(json, "time"), put_real(json, shown->time);
        ss_json_key(json, "h"), put_real(json, shown->h);
        ss_json_member_integer(json, "bodies", shown->bodies);
        ss_json_member_integer(json, "scenery", shown->scenery);
        if (shown->joints) ss_json_member_integer(json, "joints", shown->joints);
        ss_json_member_integer(json, "contacts", shown->contacts);
        if (shown->alternatives) ss_json_key(json, "alternatives"), ss_json_bool(json, true);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_key(json, "chunks");
    ss_json_integers(json, replay->chunk_first, (size_t)replay->chunk_count);
    ss_replay_shapes_json(&replay->shapes, json);
    ss_json_key(json, "boxes"), ss_json_bool(json, replay->boxes);

    ss_json_key(json, "results");
    ss_json_begin_array(json);
    for (int s = 0; s < replay->solver_count; s++) {
        const ss_replay_solver *solver = &replay->solvers[s];
        ss_json_begin_object(json);
        ss_json_member_text(json, "solver", solver->name);
        ss_json_key(json, "answers"), ss_json_bool(json, solver->answers);
        ss_json_member_text(json, "rules", solver->rules);
        ss_json_key(json, "rulesStored"), ss_json_bool(json, solver->rules_stored);
        ss_json_key(json, "rulesGiven"), ss_json_bool(json, solver->rules_given);
        ss_json_key(json, "rulesDiffer"), ss_json_bool(json, solver->rules_differ);
        put_series(json, &solver->series, replay->shown);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    put_series(json, &replay->series, replay->shown);

    // States as the metrics and the report call them; those after them only where they occur.
    static const char *const names[SS_CONTACT_STATUS_COUNT] = {[SS_CONTACT_OPEN] = "open",
                                                               [SS_CONTACT_STICK] = "sticking",
                                                               [SS_CONTACT_SLIP] = "sliding",
                                                               [SS_CONTACT_NEGATIVE_FRICTION] =
                                                                   "driving friction"};
    ss_json_key(json, "states");
    ss_json_begin_array(json);
    for (int i = 0; i < SS_CONTACT_STATUS_COUNT; i++) ss_json_string(json, names[i]);
    if (replay->has_unknown || replay->has_alternatives) ss_json_string(json, "unknown");
    if (replay->has_alternatives) ss_json_string(json, "not chosen");
    ss_json_end_array(json);
    ss_json_key(json, "decimated"), ss_json_bool(json, replay->decimated);
    if (replay->other) {
        ss_json_key(json, "other");
        put_replay(json, replay->other);
    }
    ss_json_end_object(json);
}

void ss_replay_json(const ss_replay *replay, bool inside_html, ss_text *text)
{
    ss_json json = {.text = text, .inside_html = inside_html};
    put_replay(&json, replay);
}
