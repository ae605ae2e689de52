/* `stickslip solve`: one run of the solver, with the guard told what is going on. */
#include "cli/solve.h"

#include "cli/guard.h"

#include <stdio.h>

static bool solve(const ss_solving *solving, const ss_frame *frame, ss_trial *solved, ss_error *err)
{
    char doing[400];
    snprintf(doing, sizeof doing, "solving %s with %s", solved->place, solving->method.solver->name);
    ss_guard_doing(doing);
    bool good = ss_trial_solve(&solving->method, frame, ss_guard_cancel(), solved, err);
    ss_guard_doing("");
    return good || ss_fail_in(err, "solve");
}

bool ss_solving_run(const ss_solving *solving, const ss_frame *frame, ss_trial *solved, ss_error *err)
{
    const ss_method *method = &solving->method;
    ss_truth truth = {0};
    if (!solve(solving, frame, solved, err)) return false;
    bool wanted = method->reference && frame && !solved->refusal;
    if (wanted && !ss_truth_find(method, frame, ss_guard_cancel(), &truth, err)) return false;
    bool good = ss_trial_judge(method, frame, wanted ? &truth : NULL, solved, err);
    ss_truth_free(&truth);
    return good;
}
