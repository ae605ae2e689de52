/* Files of frames: reading and writing. */
#include "toolbox.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool tb_do_format(const tb_call *call, ss_error *err)
{
    ss_format format;
    char *path = tb_get_text(call->input[0], "path", err);
    bool good = path && ss_format_of_file(path, &format, err);
    mxFree(path);
    if (good) call->output[0] = tb_text(format == SS_FORMAT_BPMD ? "bpmd" : "fclib");
    return good;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static void close_file(void *file)
{
    ss_bpmd_close(file);
}

bool tb_do_file_open(const tb_call *call, ss_error *err)
{
    ss_read_options options;
    ss_options_defaults(ss_read_option_table, &options);
    char *path = tb_get_text(call->input[0], "path", err);
    char *text = path && call->inputs > 1 ? tb_get_text(call->input[1], "options", err) : NULL;
    bool good = path && (call->inputs < 2 || text);
    char *rest = text;
    for (char *one = text ? strtok_r(text, " ", &rest) : NULL; good && one; one = strtok_r(NULL, " ", &rest))
        good = ss_options_assign(ss_read_option_table, &options, one, err);
    ss_bpmd *file = good ? ss_bpmd_open(path, NULL, &options, err) : NULL;
    mxFree(path);
    mxFree(text);
    if (!file) return false;
    call->output[0] = tb_keep(TB_FILE, file, close_file, err);
    if (!call->output[0]) ss_bpmd_close(file);
    return call->output[0] != NULL;
}

bool tb_do_file_close(const tb_call *call, ss_error *err)
{
    (void)err;
    tb_drop(TB_FILE, call->input[0], true);
    return true;
}

/* frames: their paths; simulation: of each frame, from 1; simulations: their paths. */
bool tb_do_file_index(const tb_call *call, ss_error *err)
{
    ss_bpmd *file = tb_find(TB_FILE, call->input[0], err);
    if (!file) return false;
    int frames = ss_bpmd_frame_count(file), simulations = ss_bpmd_simulation_count(file);
    mxArray *index = tb_struct(), *paths = mxCreateCellMatrix((mwSize)frames, 1);
    mxArray *owner = tb_real(frames, 1, NULL), *groups = mxCreateCellMatrix((mwSize)simulations, 1);
    for (int i = 0; i < frames; i++) {
        char path[256];
        ss_bpmd_frame_path(file, i, path, sizeof path);
        mxSetCell(paths, (mwIndex)i, tb_text(path));
        ((double *)mxGetData(owner))[i] = ss_bpmd_frame_simulation(file, i) + 1;
    }
    for (int i = 0; i < simulations; i++)
        mxSetCell(groups, (mwIndex)i, tb_text(ss_bpmd_simulation_path(file, i)));
    tb_set(index, "frames", paths);
    tb_set(index, "simulation", owner);
    tb_set(index, "simulations", groups);
    call->output[0] = index;
    return true;
}

bool tb_do_file_find(const tb_call *call, ss_error *err)
{
    ss_bpmd *file = tb_find(TB_FILE, call->input[0], err);
    char *path = file ? tb_get_text(call->input[1], "frame", err) : NULL;
    if (path) call->output[0] = tb_number(ss_bpmd_find_frame(file, path) + 1);
    mxFree(path);
    return path != NULL;
}

static mxArray *show_result(const ss_stored_result *result)
{
    mxArray *structure = result->answer ? tb_answer(result->answer) : tb_struct();
    if (result->error_count) tb_set(structure, "errors", tb_real(1, result->error_count, result->errors));
    if (result->iterations >= 0) {
        mxArray *iterations = mxCreateNumericMatrix(1, 1, mxINT32_CLASS, mxREAL);
        *(int32_t *)mxGetData(iterations) = result->iterations;
        tb_set(structure, "iterations", iterations);
    }
    if (!isnan(result->error)) tb_set(structure, "error", tb_number(result->error));
    if (!isnan(result->seconds)) tb_set(structure, "time", tb_number(result->seconds));
    for (int m = 0; m < result->measure_count; m++) {
        const ss_measure *measure = &result->measures[m];
        char name[64];
        tb_field_name(measure->name, name);
        if (!tb_get(structure, "metrics")) tb_set(structure, "metrics", tb_struct());
        tb_set(mxGetField(structure, 0, "metrics"), name, tb_real(1, measure->count, measure->values));
    }

    // Attributes of the file, which load does not show.
    if (result->formulation) tb_set(structure, "formulation", tb_text(result->formulation));
    if (result->with) tb_set(structure, "with", tb_text(result->with));
    return structure;
}

static bool show_results(ss_bpmd *file, int index, mxArray *frame, ss_error *err)
{
    int count = ss_bpmd_result_count(file, index, err);
    for (int i = 0; i < count; i++) {
        ss_stored_result result = {0};
        if (!ss_bpmd_result(file, index, i, &result, err)) return false;
        char name[64];
        tb_field_name(result.solver, name);
        if (!tb_get(frame, "solver_data")) tb_set(frame, "solver_data", tb_struct());
        tb_set(mxGetField(frame, 0, "solver_data"), name, show_result(&result));
        ss_stored_result_free(&result);
    }
    return count >= 0;
}

bool tb_do_file_frame(const tb_call *call, ss_error *err)
{
    int index, results = 1;
    ss_bpmd *file = tb_find(TB_FILE, call->input[0], err);
    if (!file) return false;
    if (ss_bpmd_frame_count(file) == 0) return ss_fail(err, SS_ERROR_INPUT, "the file has no frames");
    if (!tb_get_int(call->input[1], "frame", 1, ss_bpmd_frame_count(file), &index, err)) return false;
    if (call->inputs > 2 && !tb_get_int(call->input[2], "results", 0, 1, &results, err)) return false;

    ss_findings findings = {0};
    ss_frame *frame = ss_bpmd_read(file, index - 1, &findings, err);
    bool good = frame != NULL;
    if (good) {
        char path[256];
        ss_bpmd_frame_path(file, index - 1, path, sizeof path);
        if (call->outputs > 1) ss_frame_check(frame, path, &findings);
        call->output[0] = tb_frame(frame);
        good = !results || show_results(file, index - 1, call->output[0], err);
    }
    if (good && call->outputs > 1) call->output[1] = tb_findings(&findings);
    if (good && call->outputs > 2)
        call->output[2] = tb_text(ss_dialect_name(ss_bpmd_dialect(file, index - 1, err)));
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
    return good;
}

bool tb_do_file_manifest(const tb_call *call, ss_error *err)
{
    int simulation;
    ss_manifest manifest = {0};
    ss_bpmd *file = tb_find(TB_FILE, call->input[0], err);
    if (!file ||
        !tb_get_int(call->input[1], "simulation", 1, ss_bpmd_simulation_count(file), &simulation, err) ||
        !ss_bpmd_manifest(file, simulation - 1, &manifest, err))
        return false;
    const char *names[] = {"toolkit", "title", "description", "author", "date", "url", "keywords"};
    const char *texts[] = {manifest.toolkit, manifest.title, manifest.description, manifest.author,
                           manifest.date,    manifest.url,   manifest.keywords};
    mxArray *structure = tb_struct();
    for (int i = 0; i < 7; i++)
        if (texts[i]) tb_set(structure, names[i], tb_text(texts[i]));
    if (!isnan(manifest.gravity[0])) tb_set(structure, "gravity", tb_real(1, 3, manifest.gravity));
    if (manifest.image) { // (height, width, 3) in the file, seen from its last index
        mwSize extent[] = {3, (mwSize)manifest.image_width, (mwSize)manifest.image_height};
        mxArray *image = mxCreateNumericArray(3, extent, mxUINT8_CLASS, mxREAL);
        memcpy(mxGetData(image), manifest.image,
               (size_t)3 * (size_t)manifest.image_width * (size_t)manifest.image_height);
        tb_set(structure, "image", image);
    }
    ss_manifest_free(&manifest);
    call->output[0] = structure;
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static void discard_writer(void *writer)
{
    ss_writer_discard(writer);
}

bool tb_do_writer_open(const tb_call *call, ss_error *err)
{
    int append = 0;
    char *path = tb_get_text(call->input[0], "path", err);
    char *layout = path ? tb_get_text(call->input[1], "layout", err) : NULL;
    bool good = layout && tb_get_int(call->input[2], "append", 0, 1, &append, err);
    bool flat = layout && strcmp(layout, "flat") == 0;
    if (good && !flat && strcmp(layout, "canonical") != 0)
        good = ss_fail(err, SS_ERROR_USAGE, "invalid value \"%s\" for layout: expected canonical or flat",
                       layout);
    ss_writer *writer =
        good ? ss_writer_open(path, flat ? SS_LAYOUT_FLAT : SS_LAYOUT_CANONICAL, append, err) : NULL;
    mxFree(path);
    mxFree(layout);
    if (!writer) return false;
    call->output[0] = tb_keep(TB_WRITER, writer, discard_writer, err);
    if (!call->output[0]) ss_writer_discard(writer);
    return call->output[0] != NULL;
}

bool tb_do_writer_simulation(const tb_call *call, ss_error *err)
{
    ss_writer *writer = tb_find(TB_WRITER, call->input[0], err);
    if (!writer) return false;
    const mxArray *given = call->input[1];
    ss_manifest manifest = {.gravity = {NAN, NAN, NAN}};
    bool good = tb_get_option(given, "toolkit", &manifest.toolkit, err) &&
                tb_get_option(given, "title", &manifest.title, err) &&
                tb_get_option(given, "description", &manifest.description, err) &&
                tb_get_option(given, "author", &manifest.author, err) &&
                tb_get_option(given, "date", &manifest.date, err) &&
                tb_get_option(given, "url", &manifest.url, err) &&
                tb_get_option(given, "keywords", &manifest.keywords, err);
    if (good && tb_get(given, "gravity"))
        good = tb_copy(tb_get(given, "gravity"), 3, manifest.gravity, "manifest.gravity", err);
    const mxArray *image = tb_get(given, "image");
    if (good && image && mxIsUint8(image) && mxGetNumberOfDimensions(image) == 3 &&
        mxGetDimensions(image)[0] == 3) {
        manifest.image = mxGetData(image);
        manifest.image_width = (int)mxGetDimensions(image)[1];
        manifest.image_height = (int)mxGetDimensions(image)[2];
    }
    good = good && ss_writer_simulation(writer, &manifest, err);
    char *texts[] = {manifest.toolkit, manifest.title, manifest.description, manifest.author,
                     manifest.date,    manifest.url,   manifest.keywords};
    for (int i = 0; i < 7; i++) mxFree(texts[i]);
    return good;
}

bool tb_do_writer_frame(const tb_call *call, ss_error *err)
{
    int check = 1;
    ss_writer *writer = tb_find(TB_WRITER, call->input[0], err);
    if (!writer || (call->inputs > 2 && !tb_get_int(call->input[2], "check", 0, 1, &check, err)))
        return false;
    ss_frame *frame = tb_get_frame(call->input[1], NULL, check, err);
    bool good = frame && ss_writer_frame(writer, frame, err);
    ss_frame_destroy(frame);
    return good;
}

/* A result of ss_solve, or a field of solver_data. */
bool tb_do_writer_result(const tb_call *call, ss_error *err)
{
    ss_writer *writer = tb_find(TB_WRITER, call->input[0], err);
    ss_frame *frame = writer ? tb_get_frame(call->input[1], NULL, false, err) : NULL;
    if (!frame) return false;
    const mxArray *given = call->input[3], *metrics = tb_get(given, "metrics"),
                  *errors = tb_get(given, "errors");
    ss_stored_result result = {.iterations = -1, .error = NAN, .seconds = NAN};
    double iterations = -1;
    bool good = (result.solver = tb_get_text(call->input[2], "solver", err)) != NULL &&
                tb_get_option(given, "formulation", &result.formulation, err) &&
                tb_get_option(given, "with", &result.with, err) &&
                tb_get_real(given, "iterations", &iterations, err) &&
                tb_get_real(given, "error", &result.error, err) &&
                tb_get_real(given, "time", &result.seconds, err);
    result.iterations = iterations >= 0 && iterations <= INT_MAX ? (int)iterations : -1;
    if (good && tb_get(given, "velocities"))
        good = (result.answer = tb_get_answer(given, frame, err)) != NULL;
    if (good && errors && tb_count(errors) < INT_MAX) {
        result.error_count = (int)tb_count(errors);
        result.errors = ss_allocate(tb_count(errors), sizeof *result.errors);
        good = (result.errors || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for errors")) &&
               tb_copy(errors, tb_count(errors), result.errors, "errors", err);
    }

    // Metrics that do not apply are NaN here, and not written.
    int count = metrics && mxIsStruct(metrics) ? mxGetNumberOfFields(metrics) : 0;
    result.measures = ss_allocate((size_t)count, sizeof *result.measures);
    if (good && !result.measures) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for metrics");
    for (int i = 0; good && i < count; i++) {
        const mxArray *value = mxGetFieldByNumber(metrics, 0, i);
        const char *name = mxGetFieldNameByNumber(metrics, i);
        if (!tb_is_numeric(value) || mxIsEmpty(value) || (tb_count(value) == 1 && isnan(tb_at(value, 0))))
            continue;
        ss_measure *measure = &result.measures[result.measure_count];
        *measure = (ss_measure){.name = (char *)(uintptr_t)name, .count = (int)tb_count(value)};
        measure->values = ss_allocate(tb_count(value), sizeof(double));
        if (!measure->values) {
            good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for metrics");
            break;
        }
        result.measure_count++;
        good = tb_copy(value, tb_count(value), measure->values, name, err);
    }
    good = good && ss_writer_result(writer, &result, err);

    for (int i = 0; i < result.measure_count; i++) ss_release(result.measures[i].values);
    ss_release(result.measures);
    ss_release(result.errors);
    ss_answer_destroy(result.answer);
    mxFree(result.solver);
    mxFree(result.formulation);
    mxFree(result.with);
    ss_frame_destroy(frame);
    return good;
}

bool tb_do_writer_close(const tb_call *call, ss_error *err)
{
    ss_writer *writer = tb_find(TB_WRITER, call->input[0], err);
    if (!writer) return false;
    tb_drop(TB_WRITER, call->input[0], false);
    return ss_writer_close(writer, err);
}

bool tb_do_writer_discard(const tb_call *call, ss_error *err)
{
    (void)err;
    tb_drop(TB_WRITER, call->input[0], true);
    return true;
}
