/* `stickslip solve` on BPMD: frame by frame. */
#include "cli/solve/solve.h"

#include "cli/sandbox.h"
#include "solver/core/names.h"

#include <string.h>

typedef struct job {
    ss_solving *solving;
    ss_bpmd *file;
    ss_writer *writer; /* NULL without -o */
    int simulation;    /* the one being written, -1 = none yet */
    ss_frame *before;  /* the frame before, whose answer the session still has, for a warm start */
    ss_progress_line progress;
} job;

/* ---- results in the file ------------------------------------------------------------------------- */

/* The frame as it was, with the answer. */
static bool store(job *j, const ss_frame *frame, const ss_solved *solved, ss_error *err)
{
    ss_session *session = j->solving->session;
    const char *solver = ss_session_solver(session)->name;

    // The first frame of a simulation comes after what describes it.
    int simulation = ss_bpmd_frame_simulation(j->file, solved->index);
    bool good = true;
    if (simulation != j->simulation) {
        ss_manifest manifest = {0};
        j->simulation = simulation;
        good = ss_bpmd_manifest(j->file, simulation, &manifest, err) &&
               ss_writer_simulation(j->writer, &manifest, err) &&
               ss_input_copy_shapes(j->file, simulation, j->writer, &j->solving->tally, err);
        ss_manifest_free(&manifest);
    }

    if (!good || !ss_writer_frame(j->writer, frame, err) ||
        !ss_input_copy_scenery(j->file, solved->index, j->writer, &j->solving->tally, err))
        return false;

    // Results of other solvers stay; the one of this solver is replaced.
    int count = ss_bpmd_result_count(j->file, solved->index, err);
    good = count >= 0;
    for (int i = 0; good && i < count; i++) {
        ss_stored_result other = {0};
        good = ss_bpmd_result(j->file, solved->index, i, &other, err);
        if (good && !ss_solver_same(other.solver, solver)) good = ss_writer_result(j->writer, &other, err);
        ss_stored_result_free(&other);
    }
    if (!good || solved->result->refusal) return good;

    // The gauge whose history is stored: that of the stop rule, where it is one and the problem has it.
    const ss_solve_result *run = &solved->result->run;
    const ss_stop_rule *stop = &ss_session_method(session)->run.stop;
    bool has_map = ss_problem_laws(solved->result->problem) & (SS_LAW_CONE | SS_LAW_CONVEX);
    ss_gauge gauge = stop->below > 0.0 ? stop->gauge : SS_GAUGE_RELATIVE_ENERGY;
    if (gauge == SS_GAUGE_NATURAL_MAP && !has_map) gauge = SS_GAUGE_RELATIVE_ENERGY;
    ss_stored_result result = {.solver = (char *)(uintptr_t)solver,
                               .answer = (ss_answer *)(uintptr_t)solved->result->answer,
                               .errors = run->history.gauge[gauge],
                               .error_count = run->history.count,
                               .iterations = run->iterations,
                               .error = run->gauge[gauge],
                               .seconds = run->seconds};
    return ss_writer_judged_result(j->writer, &result, ss_session_assembly(session), solved->result->metrics,
                                   solved->result->contacts, err);
}

/* ---- one frame ----------------------------------------------------------------------------------- */

static void remember(job *j, ss_frame *frame)
{
    ss_frame_destroy(j->before);
    j->before = frame;
}

static bool solve_frame(job *j, int index, const char *place, ss_error *err)
{
    ss_solving *s = j->solving;
    ss_solved solved = {.place = place,
                        .index = index,
                        .formulation = ss_assembly_formulation(ss_session_assembly(s->session))->name};
    ss_frame *frame = ss_input_read_frame(j->file, index, place, &s->tally, err);
    bool good = frame != NULL;

    // From the answer of the frame before, where that is wanted and there is one.
    const ss_answer *last = ss_session_result(s->session)->answer;
    ss_answer *guess = NULL;
    if (good && j->before && last) {
        guess = ss_answer_carry(j->before, last, frame, SS_CARRY_MATCHED, err);
        good = guess != NULL;
    }
    good = good && ss_solving_run_frame(s, frame, guess, &solved, err);
    ss_answer_destroy(guess);
    if (good) ss_tally_add(&s->tally, solved.result->losses, place, index);
    good = good && ss_solving_diagnose(s, frame, &solved, err);

    if (good && !ss_sandbox_interrupted()) {
        ss_solving_tell(s, &solved);
        good = !j->writer || store(j, frame, &solved, err);
    }
    if (good && s->options->warm && !solved.result->refusal) {
        remember(j, frame);
        return true;
    }
    ss_frame_destroy(frame);
    return good;
}

/* ---- all frames ---------------------------------------------------------------------------------- */

bool ss_solve_frames(ss_solving *solving, ss_error *err)
{
    const ss_solve_options *options = solving->options;
    job j = {.solving = solving, .simulation = -1, .progress = ss_progress_line_begin(solving->command)};
    int begin = 0, end = 0;
    j.file = ss_bpmd_open(solving->in, &options->source.limits, &options->source.read, err);
    bool good = j.file && ss_choose_frames(j.file, solving->in, options->frame, &begin, &end, err);
    if (good && options->output) {
        j.writer = ss_writer_open(options->output, SS_LAYOUT_CANONICAL, false, err);
        good = j.writer != NULL;
    }
    if (good) ss_solving_begin(solving, "bpmd");

    for (int i = begin; good && i < end && !ss_sandbox_interrupted(); i++) {
        char place[256];
        ss_bpmd_frame_path(j.file, i, place, sizeof place);

        // A warm start does not reach over the end of a simulation, nor over a frame with faults.
        if (i == begin || ss_bpmd_frame_simulation(j.file, i) != ss_bpmd_frame_simulation(j.file, i - 1))
            remember(&j, NULL);
        if (!solve_frame(&j, i, place, err)) {
            good = err->code == SS_ERROR_INPUT;
            if (!good) break;
            ss_refuse(&solving->refused, place, err);
            remember(&j, NULL);
        }
        ss_progress_line_show(&j.progress, "solving frame", i - begin + 1, end - begin);
        if (!ss_out_drain(solving->command->out)) break;
    }
    ss_progress_line_end(&j.progress);

    if (j.writer && good && solving->count > 0 && !ss_sandbox_interrupted())
        good = ss_writer_close(j.writer, err);
    else if (j.writer)
        ss_writer_discard(j.writer);
    remember(&j, NULL);
    ss_bpmd_close(j.file);
    return good;
}
