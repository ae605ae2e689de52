/* `stickslip solve`: one run of the solver, with the guard told what is going on. */
#include "cli/solve.h"

#include "cli/sandbox.h"

#include <stdio.h>
#include <string.h>

static bool solve(const ss_solving *solving, const ss_frame *frame, ss_trial *solved, ss_error *err)
{
    char doing[400];
    snprintf(doing, sizeof doing, "solving %s with %s", solved->place, solving->method.solver->name);
    ss_sandbox_doing(doing);
    bool good = ss_trial_solve(&solving->method, frame, ss_sandbox_cancel(), solved, err);
    ss_sandbox_doing("");
    return good || ss_fail_in(err, "solve");
}

/* Was it meant to be solved, and was it not? */
static bool is_unsolved(const ss_solving *solving, const ss_trial *solved)
{
    ss_status status = solved->result.status;
    bool at_limit = status == SS_MAX_ITERATIONS || status == SS_TIME_LIMIT;
    if (at_limit && strcmp(solving->method.run.stop, "none") == 0) return false;
    return at_limit || status == SS_STALLED || status == SS_RAY || status == SS_FAILED;
}

bool ss_solving_diagnose(ss_solving *solving, const ss_frame *frame, const ss_trial *solved, ss_error *err)
{
    const ss_solve_options *options = solving->options;
    ss_diagnosis_free(&solving->diagnosis);
    solving->is_diagnosed = false;
    if (!options->diagnose || !is_unsolved(solving, solved)) return true;
    if (solving->diagnosed++ >= SS_DIAGNOSED_AT_MOST && !options->json) return true;
    ss_sandbox_doing("looking for what is wrong");
    bool good = ss_diagnose_frame(frame, solved->problem, &solved->result.ray, &solving->diagnosis, err);
    ss_sandbox_doing("");
    return solving->is_diagnosed = good;
}

bool ss_solving_run(const ss_solving *solving, const ss_frame *frame, ss_trial *solved, ss_error *err)
{
    const ss_method *method = &solving->method;
    ss_truth truth = {0};
    if (!solve(solving, frame, solved, err)) return false;
    bool wanted = method->reference && frame && !solved->refusal;
    if (wanted && !ss_truth_find(method, frame, ss_sandbox_cancel(), &truth, err)) return false;
    bool good = ss_trial_judge(method, frame, wanted ? &truth : NULL, solved, err);
    ss_truth_free(&truth);
    return good;
}
