/* `stickslip solve` on BPMD: frame by frame. */
#include "cli/solve.h"

#include "cli/sandbox.h"

#include <string.h>

typedef struct job {
    ss_solving *solving;
    ss_bpmd *file;
    int begin, end;
    ss_writer *writer; /* NULL without -o */
    int simulation;    /* the one being written, -1 = none yet */
    ss_frame *before;  /* the frame before and its answer, for a warm start */
    ss_answer *answer_before;
    ss_progress_line progress;
} job;

/* ---- results in the file ------------------------------------------------------------------------- */

static bool begin_simulation(job *j, int index, ss_error *err)
{
    int own = ss_bpmd_frame_simulation(j->file, index);
    if (own == j->simulation) return true;
    ss_manifest manifest = {0};
    j->simulation = own;
    bool good = ss_bpmd_manifest(j->file, own, &manifest, err) &&
                ss_writer_simulation(j->writer, &manifest, err) &&
                ss_input_copy_shapes(j->file, own, j->writer, &j->solving->tally, err);
    ss_manifest_free(&manifest);
    return good;
}

/* Results of other solvers stay; the one of this solver is replaced. */
static bool copy_results(job *j, int index, ss_error *err)
{
    int count = ss_bpmd_result_count(j->file, index, err);
    for (int i = 0; i < count; i++) {
        ss_result result = {0};
        bool good = ss_bpmd_result(j->file, index, i, &result, err);
        if (good && strcmp(result.solver, j->solving->method.solver->name) != 0)
            good = ss_writer_result(j->writer, &result, err);
        ss_result_free(&result);
        if (!good) return false;
    }
    return count >= 0;
}

/* The gauge whose history is stored: that of the stop rule, where it is one. */
static ss_gauge gauge_of_rule(const ss_solving *solving)
{
    const char *stop = solving->method.run.stop;
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        const char *name = ss_gauge_name((ss_gauge)g);
        if (strncmp(stop, name, strlen(name)) == 0 && stop[strlen(name)] == '<') return (ss_gauge)g;
    }
    return SS_GAUGE_RELATIVE_ENERGY;
}

/* Metrics that apply, and the energy error of every contact. The names and values stay the caller's. */
static int list_measures(const ss_trial *solved, ss_measure *measures)
{
    int count = 0;
    for (int i = 0; i < ss_metric_count(); i++) {
        if (!solved->metrics[i].applies) continue;
        measures[count++] = (ss_measure){(char *)ss_metric_at(i)->name, &solved->metrics[i].value, 1};
    }
    if (solved->contacts > 0)
        measures[count++] = (ss_measure){(char *)"contact_energy", solved->contact_energy, solved->contacts};
    return count;
}

static bool write_result(job *j, const ss_trial *solved, ss_error *err)
{
    const ss_solve_result *run = &solved->result;
    ss_gauge gauge = gauge_of_rule(j->solving);
    ss_measure *measures = ss_allocate((size_t)ss_metric_count() + 1, sizeof *measures);
    if (!measures) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for results");
    if (gauge == SS_GAUGE_NATURAL_MAP && !(ss_problem_laws(solved->problem) & (SS_LAW_CONE | SS_LAW_CONVEX)))
        gauge = SS_GAUGE_RELATIVE_ENERGY;
    ss_result result = {.solver = (char *)j->solving->method.solver->name,
                        .answer = solved->answer,
                        .errors = run->history.gauge[gauge],
                        .error_count = run->history.count,
                        .iterations = run->iterations,
                        .error = run->gauge[gauge],
                        .seconds = run->seconds,
                        .measures = measures,
                        .measure_count = list_measures(solved, measures)};
    bool written = ss_writer_result(j->writer, &result, err);
    ss_release(measures);
    return written;
}

static bool store(job *j, const ss_frame *frame, const ss_trial *solved, ss_error *err)
{
    if (!j->writer) return true;
    return begin_simulation(j, solved->index, err) && ss_writer_frame(j->writer, frame, err) &&
           ss_input_copy_scenery(j->file, solved->index, j->writer, &j->solving->tally, err) &&
           copy_results(j, solved->index, err) && (solved->refusal || write_result(j, solved, err));
}

/* ---- one frame ----------------------------------------------------------------------------------- */

static bool assemble(job *j, const ss_frame *frame, ss_trial *solved, ss_error *err)
{
    ss_solving *s = j->solving;
    ss_findings notes = {0};
    solved->problem = s->method.formulation->assemble(frame, s->method.formulation_options, &notes, err);
    ss_tally_add(&s->tally, &notes, solved->place, solved->index);
    ss_findings_free(&notes);
    if (!solved->problem) return false;
    solved->x = ss_allocate((size_t)solved->problem->size, sizeof *solved->x);
    if (!solved->x)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", solved->problem->size);
    bool warm = s->options->warm && j->before && s->method.formulation->guess;
    return !warm || ss_warm_start(s, frame, j->before, j->answer_before, solved->problem, solved->x, err);
}

static void remember(job *j, ss_frame *frame, ss_answer *answer)
{
    ss_frame_destroy(j->before);
    ss_answer_destroy(j->answer_before);
    j->before = frame;
    j->answer_before = answer;
}

/* A warm start does not reach over the end of a simulation. */
static bool begins_anew(const job *j, int index)
{
    return index == j->begin ||
           ss_bpmd_frame_simulation(j->file, index) != ss_bpmd_frame_simulation(j->file, index - 1);
}

static bool solve_frame(job *j, int index, const char *place, ss_error *err)
{
    ss_trial solved = {.place = place, .index = index, .formulation = j->solving->method.formulation->name};
    ss_frame *frame = ss_input_read_frame(j->file, index, place, &j->solving->tally, err);
    bool good = frame && assemble(j, frame, &solved, err) && ss_solving_run(j->solving, frame, &solved, err);
    good = good && ss_solving_diagnose(j->solving, frame, &solved, err);
    if (good && !ss_sandbox_interrupted()) {
        ss_solving_tell(j->solving, &solved);
        good = store(j, frame, &solved, err);
    }
    if (good && j->solving->options->warm && !solved.refusal) {
        remember(j, frame, solved.answer);
        solved.answer = NULL;
        frame = NULL;
    }
    ss_trial_free(&solved);
    ss_frame_destroy(frame);
    return good;
}

/* ---- all frames ---------------------------------------------------------------------------------- */

static bool solve_all(job *j, ss_error *err)
{
    for (int i = j->begin; i < j->end && !ss_sandbox_interrupted(); i++) {
        char place[256];
        ss_bpmd_frame_path(j->file, i, place, sizeof place);
        if (begins_anew(j, i)) remember(j, NULL, NULL);
        if (!solve_frame(j, i, place, err)) {
            if (err->code != SS_ERROR_INPUT) return false;
            ss_refuse(&j->solving->refused, place, err);
            remember(j, NULL, NULL);
        }
        ss_progress_line_show(&j->progress, "solving frame", i - j->begin + 1, j->end - j->begin);
        if (!ss_out_drain(j->solving->command->out)) break;
    }
    return true;
}

static bool finish(job *j, bool good, ss_error *err)
{
    if (!j->writer) return good;
    if (!good || j->solving->count == 0 || ss_sandbox_interrupted()) {
        ss_writer_discard(j->writer);
        return good;
    }
    return ss_writer_close(j->writer, err);
}

bool ss_solve_frames(ss_solving *solving, ss_error *err)
{
    const ss_solve_options *options = solving->options;
    job j = {.solving = solving, .simulation = -1, .progress = ss_progress_line_begin(solving->command)};
    j.file = ss_bpmd_open(solving->in, &options->source.limits, &options->source.read, err);
    bool good = j.file && ss_choose_frames(j.file, solving->in, options->frame, &j.begin, &j.end, err);
    if (good && options->output) {
        j.writer = ss_writer_open(options->output, SS_LAYOUT_CANONICAL, false, err);
        good = j.writer != NULL;
    }
    if (good) ss_solving_begin(solving, "bpmd");
    good = good && solve_all(&j, err);
    ss_progress_line_end(&j.progress);
    good = finish(&j, good, err);
    remember(&j, NULL, NULL);
    ss_bpmd_close(j.file);
    return good;
}
