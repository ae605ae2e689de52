/* `stickslip solve`: one run of the solver, with the guard told what is going on. */
#include "cli/solve.h"

#include "cli/sandbox.h"

#include <stdio.h>
#include <string.h>

static void say_what_is_done(const ss_solving *solving, const ss_solved *solved)
{
    char doing[400];
    snprintf(doing, sizeof doing, "solving %s with %s", solved->place,
             ss_session_solver(solving->session)->name);
    ss_sandbox_doing(doing);
}

static bool take_result(const ss_result *result, ss_solved *solved, ss_error *err)
{
    ss_sandbox_doing("");
    solved->result = result;
    return result || ss_fail_in(err, "solve");
}

bool ss_solving_run_frame(ss_solving *solving, const ss_frame *frame, const ss_answer *guess,
                          ss_solved *solved, ss_error *err)
{
    say_what_is_done(solving, solved);
    return take_result(ss_session_solve(solving->session, frame, guess, err), solved, err);
}

bool ss_solving_run_problem(ss_solving *solving, ss_problem *problem, const double *x, ss_solved *solved,
                            ss_error *err)
{
    say_what_is_done(solving, solved);
    return take_result(ss_session_solve_problem(solving->session, problem, x, err), solved, err);
}

bool ss_solving_has_rule(const ss_solving *solving)
{
    const ss_method *method = ss_session_method(solving->session);
    return method->rule.metric >= 0 || method->run.stop.below > 0.0;
}

/* Was it meant to be solved, and was it not? */
static bool is_unsolved(const ss_solving *solving, const ss_solved *solved)
{
    ss_status status = solved->result->run.status;
    bool at_limit = status == SS_MAX_ITERATIONS || status == SS_TIME_LIMIT;
    if (at_limit && !ss_solving_has_rule(solving)) return false;
    return at_limit || status == SS_STALLED || status == SS_RAY || status == SS_FAILED;
}

bool ss_solving_diagnose(ss_solving *solving, const ss_frame *frame, const ss_solved *solved, ss_error *err)
{
    const ss_solve_options *options = solving->options;
    ss_diagnosis_free(&solving->diagnosis);
    solving->is_diagnosed = false;
    if (!options->diagnose || !is_unsolved(solving, solved)) return true;
    if (solving->diagnosed++ >= SS_DIAGNOSED_AT_MOST && !options->json) return true;
    ss_sandbox_doing("diagnosing the problem");
    bool good =
        ss_diagnose_frame(frame, solved->result->problem, &solved->result->run.ray, &solving->diagnosis, err);
    ss_sandbox_doing("");
    return solving->is_diagnosed = good;
}
