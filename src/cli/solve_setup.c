/* `stickslip solve` before the first frame: names become a method, and the trace is opened. */
#include "cli/solve.h"

#include <errno.h>
#include <string.h>

static bool check_outputs(const ss_solving *s, ss_error *err)
{
    return (!s->options->output || ss_input_check_target(s->command, s->options->output, err)) &&
           (!s->options->trace || ss_input_check_target(s->command, s->options->trace, err));
}

static bool open_trace(ss_solving *s, ss_error *err)
{
    if (!s->options->trace) return true;
    s->trace = fopen(s->options->trace, "w");
    return s->trace ||
           ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot write: %s", s->options->trace, strerror(errno));
}

static bool prepare_method(ss_solving *s, ss_error *err)
{
    const ss_solve_options *options = s->options;
    ss_run_options run = options->run;
    run.history = options->trace || options->output || options->every_iteration;
    run.explain = options->explain;
    ss_method_words words = {.formulation = options->formulation,
                             .solver = options->solver,
                             .reference = options->reference,
                             .with = &options->with,
                             .set = &options->set,
                             .run = &run};
    return ss_method_prepare(&words, &s->solvers, &s->method, err) || ss_fail_in(err, "solve");
}

bool ss_solving_prepare(ss_solving *s, ss_error *err)
{
    return ss_solver_set_open(&s->options->plugins, &s->solvers, err) && prepare_method(s, err) &&
           check_outputs(s, err) && open_trace(s, err);
}

void ss_solving_free(ss_solving *s)
{
    ss_method_free(&s->method);
    ss_solver_set_close(&s->solvers);
    ss_tally_free(&s->tally);
    ss_findings_free(&s->refused.list);
    ss_text_free(&s->table.cells);
    ss_text_free(&s->details.cells);
    ss_text_free(&s->rays);
    ss_text_free(&s->notes);
    ss_text_free(&s->wrong);
    ss_diagnosis_free(&s->diagnosis);
    if (s->trace) fclose(s->trace);
}
