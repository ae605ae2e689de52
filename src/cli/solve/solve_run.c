/* `stickslip solve`: one run of the solver, with the guard told what is going on. */
#include "cli/solve/solve.h"

#include "base/registry.h"
#include "cli/sandbox.h"
#include "plugin/plugin_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_what_is_done(const ss_solving *solving, const ss_solved *solved)
{
    char doing[400];
    snprintf(doing, sizeof doing, "solving %s with %s", solved->place,
             ss_session_solver(solving->session)->name);
    ss_sandbox_doing(doing);
}

/* The session has its frame or problem. */
static bool run_and_judge(ss_solving *solving, ss_solved *solved, ss_error *err)
{
    ss_session *session = solving->session;
    const ss_solver *solver = ss_session_solver(session);
    double time_limit = ss_session_method(session)->run.time_limit;

    // Code of strangers with a time limit is fenced in: it may never look at it.
    const char *off = getenv("SS_NO_SANDBOX");
    say_what_is_done(solving, solved);
    bool needs_fence = time_limit > 0.0 && ss_is_registered(SS_REGISTERED_SOLVERS, solver) &&
                       !ss_is_solver_command(solver) &&
                       !ss_solver_refusal(solver, ss_session_result(session)->problem) &&
                       !(off && strcmp(off, "1") == 0);
    bool is_ended = false;
    bool good = needs_fence ? ss_solving_run_fenced(session, &is_ended, err) : ss_session_run(session, err);
    good = good && ss_session_finish(session, err);
    ss_sandbox_doing("");
    if (is_ended && !ss_sandbox_interrupted())
        ss_complain("%s: %s: solver %s did not stop within %g s and was ended; the start is judged",
                    solving->in, solved->place, solver->name, ss_solving_patience(time_limit));
    solved->result = good ? ss_session_result(session) : NULL;
    return good || ss_fail_in(err, "solve");
}

bool ss_solving_run_frame(ss_solving *solving, const ss_frame *frame, const ss_answer *guess,
                          ss_solved *solved, ss_error *err)
{
    if (ss_session_selects(solving->session, frame)) {
        say_what_is_done(solving, solved);
        solved->result = ss_session_solve(solving->session, frame, guess, err);
        ss_sandbox_doing("");
        return solved->result || ss_fail_in(err, "solve");
    }
    if (!ss_session_take_frame(solving->session, frame, guess, err)) return ss_fail_in(err, "solve");
    return run_and_judge(solving, solved, err);
}

bool ss_solving_run_problem(ss_solving *solving, ss_problem *problem, const double *x, ss_solved *solved,
                            ss_error *err)
{
    if (!ss_session_take_problem(solving->session, problem, x, err)) return ss_fail_in(err, "solve");
    return run_and_judge(solving, solved, err);
}

bool ss_solving_has_rule(const ss_solving *solving)
{
    const ss_method *method = ss_session_method(solving->session);
    return method->rule.metric >= 0 || method->run.stop.below > 0.0;
}

bool ss_solving_diagnose(ss_solving *solving, const ss_frame *frame, const ss_solved *solved, ss_error *err)
{
    const ss_solve_options *options = solving->options;
    ss_diagnosis_free(&solving->diagnosis);
    solving->is_diagnosed = false;

    // Was it meant to be solved, and was it not?
    ss_status status = solved->result->run.status;
    bool at_limit = status == SS_MAX_ITERATIONS || status == SS_TIME_LIMIT;
    bool is_unsolved = at_limit ? ss_solving_has_rule(solving)
                                : status == SS_STALLED || status == SS_RAY || status == SS_FAILED;
    if (!options->diagnose || !is_unsolved) return true;
    if (solving->diagnosed++ >= SS_DIAGNOSED_AT_MOST && !options->json) return true;

    ss_sandbox_doing("diagnosing the problem");
    if (solved->result->peg) frame = solved->result->peg->plain; // the frame that the problem is of
    bool good =
        ss_diagnose_frame(frame, solved->result->problem, &solved->result->run.ray, &solving->diagnosis, err);
    ss_sandbox_doing("");
    return solving->is_diagnosed = good;
}
