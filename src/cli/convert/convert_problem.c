/* `stickslip convert` from FCLIB, and the writing of problems for both directions. */
#include "cli/convert/convert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORTH_KEEPING 1e-2 /* largest relative residual of a stored solution that is carried over to BPMD */

static void note(ss_conversion *c, ss_finding_kind kind, const char *place, const char *message)
{
    ss_tally_note(&c->tally, kind, place, message, "", 0);
}

/* ---- writing a problem --------------------------------------------------------------------------- */

/* The local form has no velocities, and no equations either once these are eliminated. */
static void reduce_point(ss_cone_point *point, bool eliminate)
{
    ss_release(point->v);
    point->v = NULL;
    if (!eliminate) return;
    ss_release(point->l);
    point->l = NULL;
}

/* "w.mtx" and "w" both stand for w_W.mtx, w_q.mtx and so on. */
static ss_text prefix_of(const char *path)
{
    ss_text prefix = {0};
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".mtx") == 0) length -= 4;
    ss_text_append_bytes(&prefix, path, length);
    return prefix;
}

bool ss_convert_write_problem(ss_conversion *c, ss_fclib *problem, const char *path, ss_error *err)
{
    if (!ss_input_check_target(c->command, path, err)) return false;

    // The form that is wanted: a global problem can be made local, not the other way round.
    bool is_local = problem->cone->form == SS_CONE_LOCAL, eliminate = c->options->eliminate;
    bool want_local = c->to == SS_TARGET_FCLIB_LOCAL || (c->to == SS_TARGET_MTX && c->options->local);
    if (is_local && c->to == SS_TARGET_FCLIB_GLOBAL)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: a local problem has no masses and no bodies, so it cannot be made global", c->in);
    if (is_local && eliminate && problem->cone->equations > 0)
        return ss_fail(err, SS_ERROR_INPUT, "%s: --eliminate works on a global problem; this one is local",
                       c->in);
    if (!is_local && want_local) {
        ss_cone *local = ss_cone_to_local(problem->cone, eliminate, err);
        if (!local) return ss_fail_in(err, "%s", c->in);
        ss_cone_destroy(problem->cone);
        problem->cone = local;
        if (problem->has_solution) reduce_point(&problem->solution, eliminate);
        for (int i = 0; i < problem->guess_count; i++) reduce_point(&problem->guesses[i], eliminate);
    }

    if (c->to != SS_TARGET_MTX) {
        bool written = ss_fclib_write(path, problem, err);
        if (written) ss_convert_note_file(c, path);
        return written;
    }
    ss_text prefix = prefix_of(path);
    if (problem->has_solution || problem->guess_count > 0)
        note(c, SS_FINDING_LOSS, "", "stored solution and guesses, which Matrix Market output does not hold");
    bool written = prefix.out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "out of memory")
                                        : ss_matrix_market_write(prefix.data, problem->cone, err);
    ss_text_append(&prefix, "_*.mtx");
    if (written) ss_convert_note_file(c, ss_text_get(&prefix));
    ss_text_free(&prefix);
    return written;
}

/* ---- writing the problem of a formulation -------------------------------------------------------- */

bool ss_convert_is_formulated(const ss_conversion *c)
{
    return c->to >= SS_TARGET_LCP || (c->to == SS_TARGET_MTX && c->options->formulation);
}

const char *ss_convert_ending(const ss_conversion *c)
{
    switch (c->to) {
    case SS_TARGET_MTX:
    case SS_TARGET_LCP:
        return "";
    case SS_TARGET_LCP_TEXT:
        return ".lcp";
    case SS_TARGET_GAMS:
        return ".gms";
    case SS_TARGET_CBF:
        return ".cbf";
    default:
        return ".hdf5";
    }
}

/* 0 <= x perp A x + b >= 0 and nothing else. */
static bool check_lcp(const ss_problem *problem, ss_error *err)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; i < block->first + block->size; i++) {
            bool fits = block->law == SS_LAW_BOX && problem->lower[i] == 0.0 && problem->upper[i] == INFINITY;
            if (!fits)
                return ss_fail(
                    err, SS_ERROR_INPUT,
                    "not a linear complementarity problem: the law of unknown %d is not 0 <= x; use --to "
                    "mtx, or --formulation stewart-trinkle, anitescu-potra or frictionless",
                    i);
        }
    }
    return true;
}

static bool write_formulated(ss_conversion *c, ss_problem *problem, const char *path, ss_error *err)
{
    ss_text prefix = prefix_of(path);
    bool written = prefix.out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "out of memory")
                                        : ss_matrix_market_write_problem(prefix.data, problem, err);
    ss_text_append(&prefix, "_*");
    if (written) ss_convert_note_file(c, ss_text_get(&prefix));
    ss_text_free(&prefix);
    return written;
}

bool ss_convert_write_formulated(ss_conversion *c, ss_problem *problem, const char *path, ss_error *err)
{
    if (!ss_input_check_target(c->command, path, err)) return false;
    if (c->to == SS_TARGET_MTX) return write_formulated(c, problem, path, err);

    if (c->to > SS_TARGET_LCP) {
        bool good = c->to == SS_TARGET_GAMS  ? ss_gams_write(path, problem, err)
                    : c->to == SS_TARGET_CBF ? ss_cbf_write(path, problem, err)
                                             : ss_lcp_write(path, problem, err);
        if (good) ss_convert_note_file(c, path);
        return good;
    }

    if (!ss_problem_need_matrix(problem, err)) return false;
    ss_elimination *elimination = ss_problem_eliminate_free(problem, err);
    ss_problem *reduced = (ss_problem *)(uintptr_t)(elimination ? ss_elimination_problem(elimination) : NULL);
    bool written = reduced && check_lcp(reduced, err) && write_formulated(c, reduced, path, err);
    ss_elimination_destroy(elimination);
    return written;
}

/* ---- FCLIB to BPMD ------------------------------------------------------------------------------- */

static bool write_frame(ss_conversion *c, const ss_fclib *problem, const ss_frame *frame, ss_error *err)
{
    // A stored solution becomes a result, unless it is far from being one.
    ss_stored_result result = {.iterations = -1, .error = NAN, .seconds = NAN};
    ss_cone_residual residual = {0};
    bool good =
        !problem->has_solution || ss_cone_residual_of(problem->cone, &problem->solution, &residual, err);
    bool worth = residual.natural_map <= WORTH_KEEPING && residual.balance <= WORTH_KEEPING;
    if (good && problem->has_solution && !worth)
        note(c, SS_FINDING_LOSS, "/solution", "the stored solution, which does not solve the problem");
    if (good && problem->has_solution && worth) {
        result.solver = ss_text_copy("fclib");
        result.answer = ss_answer_create(frame, ss_frame_has_moments(frame), err);
        good = result.answer && ss_assemble(c->assembly, frame, NULL, err) &&
               ss_assembly_recover_cone(c->assembly, &problem->solution, result.answer, err);
    }

    ss_layout layout = c->to == SS_TARGET_BPMD ? SS_LAYOUT_CANONICAL : SS_LAYOUT_FLAT;
    char toolkit[100];
    snprintf(toolkit, sizeof toolkit, "stickslip %s, from FCLIB", ss_version());
    ss_manifest manifest = {.toolkit = toolkit,
                            .title = problem->info.title,
                            .description = problem->info.description,
                            .gravity = {NAN, NAN, NAN}};
    ss_writer *writer = good ? ss_writer_open(c->out, layout, c->options->append, err) : NULL;
    bool written = writer && ss_writer_simulation(writer, &manifest, err) &&
                   ss_writer_frame(writer, frame, err) &&
                   (!result.answer || ss_writer_judged_result(writer, &result, c->assembly, NULL, NULL, err));
    ss_stored_result_free(&result);
    if (!written) {
        ss_writer_discard(writer);
        return false;
    }
    return ss_writer_close(writer, err);
}

static bool to_bpmd(ss_conversion *c, const ss_fclib *problem, ss_error *err)
{
    ss_findings findings = {0}, faults = {.limit = 1};
    if (problem->cone->form == SS_CONE_LOCAL)
        return ss_fail(err, SS_ERROR_INPUT, "%s: a local problem has no bodies, so it cannot become a frame",
                       c->in);
    ss_frame *frame = ss_frame_from_cone(problem->cone, c->options->h, &findings, err);
    if (!frame) ss_fail_in(err, "%s: cannot become a frame of rigid bodies", c->in);
    ss_tally_add(&c->tally, &findings, "", 0);

    bool good = frame && ss_frame_check(frame, c->in, &faults);
    if (frame && !good)
        ss_fail(err, SS_ERROR_INPUT, "%s: %s", faults.count ? faults.items[0].place : c->in,
                faults.count ? faults.items[0].message : "faulty");

    bool written = good && write_frame(c, problem, frame, err);
    if (written) {
        c->frames = 1;
        ss_convert_note_file(c, c->out);
    }
    ss_frame_destroy(frame);
    ss_findings_free(&findings);
    ss_findings_free(&faults);
    return written;
}

/* ---- reading ------------------------------------------------------------------------------------- */

bool ss_convert_problem(ss_conversion *c, ss_error *err)
{
    ss_fclib_kind kind = SS_FCLIB_LOCAL;
    if (!ss_input_choose_problem(c->command, c->options->problem, &kind, err)) return false;
    ss_fclib *problem = ss_input_read_problem(c->in, kind, &c->options->source.limits, &c->tally, err);
    bool done = problem && (ss_convert_is_bpmd(c) ? to_bpmd(c, problem, err)
                                                  : ss_convert_write_problem(c, problem, c->out, err));
    ss_fclib_destroy(problem);
    return done;
}
