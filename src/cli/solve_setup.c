/* `stickslip solve` before the first frame: names become a method, and the trace is opened. */
#include "cli/solve.h"

#include "cli/sandbox.h"

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

/* A fault in the request is named by the flag it came from. */
static bool fail_request(const ss_request_fault *fault, ss_error *err)
{
    if (fault->member) ss_fail_in(err, fault->item[0] ? "--%s %s" : "--%s", fault->member, fault->item);
    return ss_fail_in(err, "solve");
}

static bool prepare_session(ss_solving *s, ss_error *err)
{
    const ss_solve_options *options = s->options;
    ss_request request = options->request;
    ss_request_fault fault = {0};
    ss_text with = {0}, set = {0};
    if (options->tolerance > 0.0) request.stop = ss_tolerance_rule(options->tolerance, s->tolerance_rule);
    s->stop = request.stop;
    if (ss_extension_solver(s->command)) request.solver = ss_extension_solver(s->command);
    ss_option_list_join(&options->with, &with);
    ss_option_list_join(&options->set, &set);
    request.with = ss_text_get(&with);
    request.set = ss_text_get(&set);
    request.history = options->trace || options->output || options->every_iteration;
    if (request.iterations == 0) request.iterations = -1; // on the command line 0 means none
    s->session = ss_session_open(&request, &fault, err);
    ss_text_free(&with);
    ss_text_free(&set);
    if (!s->session) return fail_request(&fault, err);
    ss_session_watch(s->session, ss_sandbox_cancel());
    return true;
}

bool ss_solving_prepare(ss_solving *s, ss_error *err)
{
    return prepare_session(s, err) && check_outputs(s, err) && open_trace(s, err);
}

void ss_solving_free(ss_solving *s)
{
    ss_session_destroy(s->session);
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
