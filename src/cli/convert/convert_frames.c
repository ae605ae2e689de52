/* `stickslip convert` from BPMD: frame by frame. */
#include "cli/convert/convert.h"

#include "base/file.h"
#include "cli/sandbox.h"
#include "solver/core/names.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

typedef struct job {
    ss_conversion *conversion;
    ss_bpmd *file;
    int begin, end; /* frames that were asked for */
    ss_progress_line progress;
} job;

typedef struct frame_at {
    int index;
    char place[256];
    ss_frame *frame;
} frame_at;

/* ---- reading ------------------------------------------------------------------------------------- */

/* Reads and checks a frame. False, with the reason noted, when it must not be converted. */
static bool read_frame(job *j, int index, frame_at *at)
{
    ss_error err;
    *at = (frame_at){.index = index};
    ss_bpmd_frame_path(j->file, index, at->place, sizeof at->place);
    at->frame = ss_input_read_frame(j->file, index, at->place, &j->conversion->tally, &err);
    if (!at->frame) ss_refuse(&j->conversion->refused, at->place, &err);
    ss_progress_line_show(&j->progress, "converting frame", index - j->begin + 1, j->end - j->begin);
    return at->frame != NULL;
}

static void note(job *j, const frame_at *at, ss_finding_kind kind, const char *place, const char *message)
{
    ss_tally_note(&j->conversion->tally, kind, place, message, at->place, at->index);
}

/* ---- to BPMD ------------------------------------------------------------------------------------- */

static bool begin_simulation(job *j, ss_writer *writer, int simulation, ss_error *err)
{
    const char *path = ss_bpmd_simulation_path(j->file, simulation);
    ss_manifest manifest = {0};
    ss_error trouble;
    bool has_manifest = ss_bpmd_manifest(j->file, simulation, &manifest, &trouble);
    if (!has_manifest) ss_refuse(&j->conversion->refused, path, &trouble);

    // What the flat layout cannot hold. Shapes that cannot be read are reported when they are copied.
    if (j->conversion->to == SS_TARGET_BPMD_FLAT) {
        frame_at none = {.index = -1 - simulation};
        ss_shapes shapes;
        if (manifest.toolkit || manifest.title || manifest.description)
            note(j, &none, SS_FINDING_LOSS, path, "the manifest, which the flat layout cannot hold");
        if (ss_bpmd_shapes(j->file, simulation, &shapes, NULL, &trouble)) {
            if (shapes.count > 0)
                note(j, &none, SS_FINDING_LOSS, path,
                     "the shapes of bodies, which the flat layout cannot hold");
            ss_shapes_free(&shapes);
        }
    }
    bool begun = ss_writer_simulation(writer, has_manifest ? &manifest : NULL, err) &&
                 ss_input_copy_shapes(j->file, simulation, writer, &j->conversion->tally, err);
    ss_manifest_free(&manifest);
    return begun;
}

static bool to_bpmd(job *j, ss_error *err)
{
    ss_conversion *c = j->conversion;
    ss_layout layout = c->to == SS_TARGET_BPMD ? SS_LAYOUT_CANONICAL : SS_LAYOUT_FLAT;
    ss_writer *writer = ss_writer_open(c->out, layout, c->options->append, err);
    bool going_on = writer != NULL;
    int simulation = -1;
    for (int i = j->begin; i < j->end && going_on && !ss_sandbox_interrupted(); i++) {
        int own = ss_bpmd_frame_simulation(j->file, i);
        char remark[1000];
        frame_at at;
        ss_error trouble;
        if (!read_frame(j, i, &at)) continue;
        if (at.frame->subcontacts.groups > 0 && c->to != SS_TARGET_BPMD)
            note(j, &at, SS_FINDING_LOSS, "subcontacts", "alternatives of contacts, and impulses at them");

        /* Without its coordinates, a frame is the same problem in bodies and joints. */
        ss_frame plain = *at.frame;
        bool drops = plain.generalized.count > 0 && c->to != SS_TARGET_BPMD;
        if (drops) {
            note(j, &at, SS_FINDING_LOSS, "generalized",
                 "generalised coordinates, which the flat layout cannot hold");
            plain.generalized = (ss_generalized){0};
            plain.constraints.implied = NULL;
        }
        bool copied = own == simulation || begin_simulation(j, writer, own, err);
        simulation = own;
        copied = copied && ss_writer_frame(writer, &plain, err) &&
                 (!ss_bpmd_note(j->file, i, remark, sizeof remark) || ss_writer_note(writer, remark, err)) &&
                 ss_input_copy_scenery(j->file, i, writer, &c->tally, err);

        // Stored results go along; one that cannot be read is no reason to lose the others.
        int count = copied ? ss_bpmd_result_count(j->file, i, &trouble) : 0;
        if (count < 0) ss_refuse(&c->refused, at.place, &trouble);
        for (int k = 0; copied && k < count; k++) {
            ss_stored_result result = {0};
            if (ss_bpmd_result(j->file, i, k, &result, &trouble)) {
                if (drops && result.answer) result.answer->coordinates = 0;
                copied = ss_writer_result(writer, &result, err);
            } else
                ss_refuse(&c->refused, at.place, &trouble);
            ss_stored_result_free(&result);
        }
        ss_frame_destroy(at.frame);
        c->frames += copied;
        going_on = copied;
    }
    if (!going_on || c->frames == 0 || ss_sandbox_interrupted()) {
        ss_writer_discard(writer);
        return going_on;
    }
    if (!ss_writer_close(writer, err)) return false;
    ss_convert_note_file(c, c->out);
    return true;
}

/* ---- to a problem: which stored result goes along ------------------------------------------------ */

/* The answer of the wanted solver, or of the only one; the problem has no solution without one. */
static bool add_solution(job *j, const frame_at *at, ss_fclib *problem, ss_error *err)
{
    const char *wanted = j->conversion->options->solver;
    ss_stored_result chosen = {0};
    ss_error trouble;
    int candidates = 0, count = ss_bpmd_result_count(j->file, at->index, &trouble);
    for (int i = 0; i < count; i++) {
        ss_stored_result result = {0};
        if (!ss_bpmd_result(j->file, at->index, i, &result, &trouble)) continue;
        bool fits = result.answer && (!wanted || ss_solver_same(wanted, result.solver));
        candidates += fits;
        if (fits && candidates == 1) {
            chosen = result;
            continue;
        }
        note(j, at, SS_FINDING_LOSS, "solver_data", "results of other solvers, and histories");
        ss_stored_result_free(&result);
    }

    // Several answers and no choice: none is stored.
    if (candidates > 1)
        note(j, at, SS_FINDING_WARNING, "solver_data",
             "several results; choose the one to store with --solver NAME");
    else if (wanted && candidates == 0)
        note(j, at, SS_FINDING_WARNING, "solver_data", "no result of the solver named by --solver");

    bool added = true;
    if (candidates == 1) {
        added = ss_assembly_cone_point(j->conversion->assembly, problem->cone, chosen.answer,
                                       &problem->solution, err);
        problem->has_solution = added;
    }
    ss_stored_result_free(&chosen);
    return added;
}

/* ---- to a problem: what it says about itself ----------------------------------------------------- */

static char *take(ss_text *text)
{
    if (text->out_of_memory) return NULL;
    return text->data;
}

static bool describe(job *j, const frame_at *at, ss_fclib_info *info, ss_error *err)
{
    const ss_frame *frame = at->frame;
    int simulation = ss_bpmd_frame_simulation(j->file, at->index);
    ss_manifest manifest = {0};
    ss_text title = {0}, description = {0}, math = {0};
    ss_error ignored;
    char model[SS_RULES_LENGTH];
    ss_bpmd_manifest(j->file, simulation, &manifest, &ignored);
    ss_assembly *assembly = j->conversion->assembly;
    ss_options_print(ss_assembly_formulation(assembly)->options, ss_assembly_options(assembly), model,
                     sizeof model);

    if (manifest.toolkit) ss_text_appendf(&title, "%s ", manifest.toolkit);
    ss_text_append(&title, ss_path_name(at->place));
    ss_text_appendf(&description, "file %s, simulation %s, frame %s, h = %.17g s, %s",
                    ss_path_name(j->conversion->in), ss_bpmd_simulation_path(j->file, simulation), at->place,
                    frame->h, model);
    ss_text_appendf(&math, "bodies %d, contacts %d, constraint rows %d", ss_frame_summarise(frame).bodies,
                    frame->contacts.count, frame->constraints.row_count);
    ss_manifest_free(&manifest);
    *info = (ss_fclib_info){take(&title), take(&description), take(&math)};
    return (info->title && info->description && info->math_info) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
}

/* ---- to a problem: where it goes ----------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat status;
    size_t length = strlen(path);
    return (length && path[length - 1] == '/') || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

/* OUT itself for one frame; a file named after the frame in the directory OUT for several. */
static bool name_target(const job *j, const frame_at *at, ss_text *path, ss_error *err)
{
    const ss_conversion *c = j->conversion;
    size_t length = strlen(c->out);
    ss_text_append(path, c->out);
    if (j->end - j->begin > 1 || is_directory(c->out)) {
        if (mkdir(c->out, 0777) != 0 && errno != EEXIST)
            return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot make the directory: %s", c->out,
                           strerror(errno));
        ss_text_append(path, c->out[length - 1] == '/' ? "" : "/");
        const char *simulation =
            ss_bpmd_simulation_path(j->file, ss_bpmd_frame_simulation(j->file, at->index));
        if (ss_bpmd_simulation_count(j->file) > 1 && simulation[1])
            ss_text_appendf(path, "%s_", ss_path_name(simulation));
        ss_text_appendf(path, "%s%s", ss_path_name(at->place), ss_convert_ending(c));
    }
    return !path->out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
}

/* ---- to a problem -------------------------------------------------------------------------------- */

/* The problem of the formulation as it is. */
static bool write_formulated(job *j, const frame_at *at, ss_error *err)
{
    ss_conversion *c = j->conversion;
    ss_findings losses = {0};
    ss_text path = {0};
    bool written = ss_assemble(c->assembly, at->frame, &losses, err) && name_target(j, at, &path, err) &&
                   ss_convert_write_formulated(c, ss_assembly_problem(c->assembly), ss_text_get(&path), err);

    ss_tally_add(&c->tally, &losses, at->place, at->index);
    ss_findings_free(&losses);
    ss_text_free(&path);
    c->frames += written;
    return written;
}

/* FCLIB's problem of the frame, with a title and a solution. */
static bool make_and_write(job *j, const frame_at *at, ss_error *err)
{
    ss_conversion *c = j->conversion;
    ss_findings losses = {0};
    ss_fclib *problem = ss_allocate(1, sizeof *problem);
    if (!problem) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    bool local = c->to == SS_TARGET_FCLIB_LOCAL || c->options->local;
    ss_cone_wish wish = {.form = local ? SS_CONE_LOCAL : SS_CONE_GLOBAL,
                         .eliminate = c->options->eliminate,
                         .refuse_bounds = c->options->bounded_rows == 1};
    if (ss_assemble(c->assembly, at->frame, NULL, err))
        problem->cone = ss_assembly_cone(c->assembly, &wish, at->place, &losses, err);
    ss_tally_add(&c->tally, &losses, at->place, at->index);
    ss_findings_free(&losses);

    ss_text path = {0};
    bool written = problem->cone && describe(j, at, &problem->info, err) &&
                   add_solution(j, at, problem, err) && name_target(j, at, &path, err) &&
                   ss_convert_write_problem(c, problem, ss_text_get(&path), err);
    c->frames += written;
    ss_text_free(&path);
    ss_fclib_destroy(problem);
    return written;
}

/* What is wrong with one frame is noted; lack of room, or an OUT that cannot be, ends the run. */
static bool to_problems(job *j, ss_error *err)
{
    for (int i = j->begin; i < j->end && !ss_sandbox_interrupted(); i++) {
        frame_at at;
        if (!read_frame(j, i, &at)) continue;
        bool written =
            (ss_convert_is_formulated(j->conversion) ? write_formulated : make_and_write)(j, &at, err);
        ss_frame_destroy(at.frame);
        if (!written && err->code != SS_ERROR_INPUT) return false;
        if (!written) ss_refuse(&j->conversion->refused, at.place, err);
    }
    return true;
}

bool ss_convert_frames(ss_conversion *conversion, ss_error *err)
{
    static const char *const endings[] = {".h5", ".hdf5", ".mtx", ".gms", ".cbf", ".lcp"};
    job j = {.conversion = conversion, .progress = ss_progress_line_begin(conversion->command)};
    const ss_input_options *source = &conversion->options->source;
    const char *out = conversion->out;
    j.file = ss_bpmd_open(conversion->in, &source->limits, &source->read, err);
    bool good =
        j.file && ss_choose_frames(j.file, conversion->in, conversion->options->frame, &j.begin, &j.end, err);

    // A recording goes to a file; several problems go to a directory, which no one would call "x.mtx".
    bool to_file = ss_convert_is_bpmd(conversion), directory = is_directory(out), named_as_file = false;
    const char *dot = strrchr(ss_path_name(out), '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        named_as_file |= strcmp(dot, endings[i]) == 0;
    if (good && to_file && directory) good = ss_fail(err, SS_ERROR_USAGE, "convert: %s is a directory", out);
    if (good && !to_file && j.end - j.begin > 1 && !directory && named_as_file)
        good = ss_fail(err, SS_ERROR_USAGE,
                       "convert: %s has %d frames: OUT must be a directory, or choose one with --frame N",
                       conversion->in, j.end - j.begin);

    good = good && (to_file ? to_bpmd : to_problems)(&j, err);
    ss_progress_line_end(&j.progress);
    ss_bpmd_close(j.file);
    return good;
}
