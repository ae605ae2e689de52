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
    ss_frame *before;  /* the frame before, whose answer the session still has, for a warm start */
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
        ss_stored_result result = {0};
        bool good = ss_bpmd_result(j->file, index, i, &result, err);
        if (good && strcmp(result.solver, ss_session_solver(j->solving->session)->name) != 0)
            good = ss_writer_result(j->writer, &result, err);
        ss_stored_result_free(&result);
        if (!good) return false;
    }
    return count >= 0;
}

/* The gauge whose history is stored: that of the stop rule, where it is one. */
static ss_gauge gauge_of_rule(const ss_solving *solving)
{
    const ss_stop_rule *stop = &ss_session_method(solving->session)->run.stop;
    return stop->below > 0.0 ? stop->gauge : SS_GAUGE_RELATIVE_ENERGY;
}

static bool write_result(job *j, const ss_solved *solved, ss_error *err)
{
    const ss_solve_result *run = &solved->result->run;
    ss_gauge gauge = gauge_of_rule(j->solving);
    if (gauge == SS_GAUGE_NATURAL_MAP &&
        !(ss_problem_laws(solved->result->problem) & (SS_LAW_CONE | SS_LAW_CONVEX)))
        gauge = SS_GAUGE_RELATIVE_ENERGY;
    ss_stored_result result = {.solver = (char *)(uintptr_t)ss_session_solver(j->solving->session)->name,
                               .answer = (ss_answer *)(uintptr_t)solved->result->answer,
                               .errors = run->history.gauge[gauge],
                               .error_count = run->history.count,
                               .iterations = run->iterations,
                               .error = run->gauge[gauge],
                               .seconds = run->seconds};
    return ss_writer_judged_result(j->writer, &result, ss_session_assembly(j->solving->session),
                                   solved->result->metrics, solved->result->contacts, err);
}

static bool store(job *j, const ss_frame *frame, const ss_solved *solved, ss_error *err)
{
    if (!j->writer) return true;
    return begin_simulation(j, solved->index, err) && ss_writer_frame(j->writer, frame, err) &&
           ss_input_copy_scenery(j->file, solved->index, j->writer, &j->solving->tally, err) &&
           copy_results(j, solved->index, err) && (solved->result->refusal || write_result(j, solved, err));
}

/* ---- one frame ----------------------------------------------------------------------------------- */

static void remember(job *j, ss_frame *frame)
{
    ss_frame_destroy(j->before);
    j->before = frame;
}

/* A warm start does not reach over the end of a simulation. */
static bool begins_anew(const job *j, int index)
{
    return index == j->begin ||
           ss_bpmd_frame_simulation(j->file, index) != ss_bpmd_frame_simulation(j->file, index - 1);
}

/* Solves from the answer of the frame before, where that is wanted and there is one. */
static bool run_frame(job *j, const ss_frame *frame, ss_solved *solved, ss_error *err)
{
    ss_solving *s = j->solving;
    const ss_answer *last = ss_session_result(s->session)->answer;
    ss_answer *guess = j->before && last ? ss_warm_start(frame, j->before, last, err) : NULL;
    if (j->before && last && !guess) return false;
    bool good = ss_solving_run_frame(s, frame, guess, solved, err);
    ss_answer_destroy(guess);
    if (good) ss_tally_add(&s->tally, solved->result->losses, solved->place, solved->index);
    return good;
}

static bool solve_frame(job *j, int index, const char *place, ss_error *err)
{
    ss_solving *s = j->solving;
    ss_solved solved = {.place = place,
                        .index = index,
                        .formulation = ss_assembly_formulation(ss_session_assembly(s->session))->name};
    ss_frame *frame = ss_input_read_frame(j->file, index, place, &s->tally, err);
    bool good = frame && run_frame(j, frame, &solved, err) && ss_solving_diagnose(s, frame, &solved, err);
    if (good && !ss_sandbox_interrupted()) {
        ss_solving_tell(s, &solved);
        good = store(j, frame, &solved, err);
    }
    if (good && s->options->warm && !solved.result->refusal) {
        remember(j, frame);
        return true;
    }
    ss_frame_destroy(frame);
    return good;
}

/* ---- all frames ---------------------------------------------------------------------------------- */

static bool solve_all(job *j, ss_error *err)
{
    for (int i = j->begin; i < j->end && !ss_sandbox_interrupted(); i++) {
        char place[256];
        ss_bpmd_frame_path(j->file, i, place, sizeof place);
        if (begins_anew(j, i)) remember(j, NULL);
        if (!solve_frame(j, i, place, err)) {
            if (err->code != SS_ERROR_INPUT) return false;
            ss_refuse(&j->solving->refused, place, err);
            remember(j, NULL);
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
    remember(&j, NULL);
    ss_bpmd_close(j.file);
    return good;
}
