/* A recording as a replay: which of its frames, whose answers. */
#include "report/replay_internal.h"

#include "session/method.h"
#include "solver/core/names.h"

#include <string.h>

enum { LOOKS = 6 }; /* frames that are asked whose answers they hold */

/* ---- life ------------------------------------------------------------------------------------------- */

void ss_replay_forget(ss_replay *replay)
{
    for (int k = 0; replay->packed && k < replay->chunk_count; k++) ss_release(replay->packed[k].bytes);
    replay->shown = replay->chunk_count = 0;
    replay->has_unknown = false;
    replay->has_alternatives = false;
    ss_replay_series_free(&replay->series);
    for (int s = 0; s < replay->solver_count; s++) ss_replay_series_free(&replay->solvers[s].series);
}

void ss_replay_close(ss_replay *replay)
{
    if (!replay) return;
    ss_replay_forget(replay);
    for (int s = 0; s < replay->solver_count; s++) {
        ss_release(replay->solvers[s].name);
        ss_release(replay->solvers[s].rules);
    }
    ss_release(replay->packed);
    ss_release(replay->frames);
    ss_release(replay->chunk_first);
    ss_manifest_free(&replay->manifest);
    ss_shapes_free(&replay->shapes);
    ss_release(replay->title);
    ss_release(replay->path);
    ss_release(replay);
}

/* ---- results ---------------------------------------------------------------------------------------- */

static ss_replay_solver *find_solver(ss_replay *replay, const char *name)
{
    for (int s = 0; s < replay->solver_count; s++)
        if (strcmp(replay->solvers[s].name, name) == 0) return &replay->solvers[s];
    return NULL;
}

/* One that is wanted and new is added, and the rules of its answer are noted: rules that are not known are
 * reported when the answer is judged. */
static bool note_solver(ss_replay *replay, const ss_stored_result *result, ss_error *err)
{
    const ss_replay_options *options = &replay->options;
    bool wanted = options->result_count == 0 && replay->solver_count < SS_REPLAY_DEFAULT_RESULTS;
    for (int i = 0; i < options->result_count; i++)
        wanted |= ss_solver_same(options->results[i], result->solver);
    ss_replay_solver *solver = find_solver(replay, result->solver);
    if (!solver && wanted && replay->solver_count < SS_REPLAY_MOST_RESULTS) {
        char *name = ss_text_copy(result->solver);
        if (!name) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        solver = &replay->solvers[replay->solver_count++];
        *solver = (ss_replay_solver){.name = name};
    }
    if (!solver || !result->answer) return true;
    solver->answers = true;

    ss_step_options step;
    ss_text words = {0};
    if (!ss_stored_result_step(result, &step, NULL)) return true;
    ss_step_words(&step, &words);
    bool stored = result->formulation != NULL;
    solver->rules_given = options->formulation != NULL;
    if (!solver->rules) {
        solver->rules = ss_text_copy(ss_text_get(&words));
        solver->rules_stored = stored;
    } else {
        solver->rules_differ |=
            stored != solver->rules_stored || strcmp(solver->rules, ss_text_get(&words)) != 0;
    }
    bool good = solver->rules && !words.out_of_memory;
    ss_text_free(&words);
    return good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
}

/* Looks at a few frames: all have results of the same solvers, unless some were added by hand. What cannot be
 * read here is reported with its frame. */
static bool find_solvers(ss_replay *replay, int first, int last, ss_error *err)
{
    int count = last - first, looks = count < LOOKS ? count : LOOKS;
    for (int i = 0; i < looks; i++) {
        int frame = looks > 1 ? first + (int)((long long)(count - 1) * i / (looks - 1)) : first;
        ss_error trouble;
        int results = ss_bpmd_result_count(replay->file, frame, &trouble);
        for (int k = 0; k < results; k++) {
            ss_stored_result result = {0};
            bool good =
                !ss_replay_result(replay, frame, k, &result, &trouble) || note_solver(replay, &result, err);
            ss_stored_result_free(&result);
            if (!good) return false;
        }
    }

    // In the order the caller asked for.
    const char *missing = NULL;
    for (int i = 0, next = 0; i < replay->options.result_count; i++) {
        const char *wanted = replay->options.results[i];
        ss_replay_solver *found = find_solver(replay, wanted);
        for (int s = next; !found && s < replay->solver_count; s++)
            if (ss_solver_same(replay->solvers[s].name, wanted)) found = &replay->solvers[s];
        if (!found && !missing) missing = wanted;
        if (!found) continue;
        ss_replay_solver one = *found;
        *found = replay->solvers[next];
        replay->solvers[next++] = one;
    }
    return !missing || ss_fail(err, SS_ERROR_INPUT, "%s: none of the frames read has a result '%s'",
                               replay->path, missing);
}

/* ---- opening ---------------------------------------------------------------------------------------- */

/* Path, manifest and title of the simulation, and its frames, which are neighbours in the file: those to show
 * begin at `begin` and end before `end`. */
static bool describe(ss_replay *replay, const char *path, int *begin, int *end, ss_error *err)
{
    const ss_replay_options *options = &replay->options;
    int simulations = ss_bpmd_simulation_count(replay->file), number = options->simulation;
    replay->path = ss_text_copy(path);
    if (!replay->path) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (number < 0 || number >= simulations)
        return ss_fail(err, SS_ERROR_USAGE, "%s: unknown simulation %d; the file has %d", path, number + 1,
                       simulations);
    if (!ss_bpmd_manifest(replay->file, number, &replay->manifest, err)) return false;

    // Without a title the first sentence of the description, if it is short enough: of "scene wall: bricks.
    // Parameters: ..." that is "wall: bricks". Otherwise the name of the file.
    enum { LONGEST = 120 };
    const char *title = options->title ? options->title : replay->manifest.title;
    const char *told = title ? NULL : replay->manifest.description, *slash = strrchr(path, '/');
    if (told) {
        if (strncmp(told, "scene ", 6) == 0) told += 6;
        const char *stop = strstr(told, ". ");
        size_t length = stop ? (size_t)(stop - told) : strlen(told);
        if (length > 0 && length <= LONGEST && !memchr(told, '\n', length)) {
            if (told[length - 1] == '.') length--;
            replay->title = ss_allocate(length + 1, 1);
            if (replay->title) memcpy(replay->title, told, length);
        }
    }
    if (!replay->title) replay->title = ss_text_copy(title ? title : slash ? slash + 1 : path);
    if (!replay->title) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");

    int first = -1;
    for (int i = 0; i < ss_bpmd_frame_count(replay->file); i++) {
        if (ss_bpmd_frame_simulation(replay->file, i) != number) continue;
        if (first < 0) first = i;
        replay->total++;
    }
    if (replay->total == 0)
        return ss_fail(err, SS_ERROR_INPUT, "%s: simulation %d has no frames", path, number + 1);
    int last = options->last > 0 ? options->last : replay->total;
    if (options->first < 0 || options->first >= last || last > replay->total)
        return ss_fail(err, SS_ERROR_USAGE, "frames %d:%d do not exist; simulation %d has %d", options->first,
                       last, number + 1, replay->total);
    *begin = first + options->first;
    *end = first + last;
    return true;
}

/* Boxes for the bodies of one frame, unless they have one; what is wrong with the frame is reported
 * when it is shown. */
static bool add_boxes(ss_replay *replay, int index, ss_error *err)
{
    ss_findings faults = {.limit = 1};
    ss_frame *frame = ss_bpmd_read(replay->file, index, NULL, NULL);
    bool sound = frame && ss_frame_check(frame, "", &faults);
    bool good = !sound || ss_replay_add_boxes(replay, frame, err);
    ss_findings_free(&faults);
    ss_frame_destroy(frame);
    return good;
}

static double shape_bytes(const ss_replay *replay)
{
    ss_text text = {0};
    ss_json json = {.text = &text, .inside_html = true};
    ss_json_begin_object(&json);
    ss_replay_shapes_json(&replay->shapes, &json);
    ss_json_end_object(&json);
    double bytes = (double)text.length;
    ss_text_free(&text);
    return bytes;
}

/* Shapes that cannot be read are reported, and bodies drawn as boxes. */
static bool read_shapes(ss_replay *replay, int begin, int end, ss_findings *findings, ss_error *err)
{
    ss_error trouble;
    int simulation = replay->options.simulation;
    const char *place = ss_bpmd_simulation_path(replay->file, simulation);
    if (!ss_bpmd_shapes(replay->file, simulation, &replay->shapes, findings, &trouble))
        ss_findings_add(findings, SS_FINDING_WARNING, place, "%s", trouble.message);

    // Shapes may take half of a page, or frames would have no room.
    bool limited = replay->options.megabytes > 0.0;
    double megabytes = limited ? 1e-6 * shape_bytes(replay) : 0.0;
    if (limited && megabytes > 0.5 * replay->options.megabytes) {
        ss_findings_add(
            findings, SS_FINDING_WARNING, place,
            "the shapes would need %.1f MB, so bodies are drawn as boxes; --max-size MB or --serve shows the "
            "shapes",
            megabytes);
        ss_shapes_free(&replay->shapes);
        replay->shapes = (ss_shapes){0};
    }

    // Bodies that only the last frame has get a box as well.
    replay->boxes = replay->shapes.count == 0;
    if (replay->boxes && end > begin && !(add_boxes(replay, begin, err) && add_boxes(replay, end - 1, err)))
        return false;
    if (limited) replay->shape_bytes = shape_bytes(replay);
    return true;
}

static bool build(ss_replay *replay, const char *path, ss_findings *findings, ss_error *err)
{
    int begin = 0, end = 0;
    if (!describe(replay, path, &begin, &end, err) || !find_solvers(replay, begin, end, err)) return false;

    // Chunks are kept only where the size of the page is limited.
    bool limited = replay->options.megabytes > 0.0;
    int frames = replay->capacity = replay->series.frames = end - begin;
    for (int s = 0; s < replay->solver_count; s++) replay->solvers[s].series.frames = frames;
    replay->frames = ss_allocate((size_t)frames, sizeof *replay->frames);
    replay->chunk_first = ss_allocate((size_t)frames, sizeof *replay->chunk_first);
    if (limited) replay->packed = ss_allocate((size_t)frames, sizeof *replay->packed);
    if (!replay->frames || !replay->chunk_first || (limited && !replay->packed))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a list of %d frames", frames);

    return read_shapes(replay, begin, end, findings, err) &&
           ss_replay_read_frames(replay, begin, end, findings, err) &&
           (replay->shown > 0 || ss_fail(err, SS_ERROR_INPUT, "%s: none of its frames can be shown", path));
}

ss_replay *ss_replay_open(ss_bpmd *file, const char *path, const ss_replay_options *options,
                          ss_findings *findings, ss_error *err)
{
    ss_replay *replay = ss_allocate(1, sizeof *replay);
    if (!replay) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        return NULL;
    }
    replay->file = file;
    replay->options = *options;
    if (build(replay, path, findings, err)) return replay;
    ss_replay_close(replay);
    return NULL;
}

/* ---- looking at it ---------------------------------------------------------------------------------- */

int ss_replay_chunk_count(const ss_replay *replay)
{
    return replay->chunk_count;
}

int ss_replay_shown(const ss_replay *replay)
{
    return replay->shown;
}

int ss_replay_total(const ss_replay *replay)
{
    return replay->total;
}

bool ss_replay_is_decimated(const ss_replay *replay)
{
    return replay->decimated;
}

const char *ss_replay_assumed(const ss_replay *replay, int k, const char **rules)
{
    for (int s = 0; s < replay->solver_count; s++) {
        const ss_replay_solver *solver = &replay->solvers[s];
        if (!solver->rules || solver->rules_stored || k-- > 0) continue;
        *rules = solver->rules;
        return solver->name;
    }
    return NULL;
}
