#include "cli/solve/solve.h"

#include "cli/sandbox.h"

#include <errno.h>
#include <string.h>

/* Lines from `at` on that say the same of other places; before a line comes its place. */
static int count_equal(const char *at, const char *said, size_t length)
{
    int count = 0;
    for (; *at; at += strcspn(at, "\n") + 1) {
        const char *colon = strstr(at, ": ");
        count += colon && strcspn(colon, "\n") == length && strncmp(colon, said, length) == 0;
    }
    return count;
}

/* Names become a method, and the trace is opened. */
static bool prepare(ss_solving *s, ss_error *err)
{
    const ss_solve_options *options = s->options;
    ss_request request = options->request;
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

    // A fault in the request is named by the flag it came from.
    ss_request_fault fault = {0};
    s->session = ss_session_open(&request, &fault, err);
    ss_text_free(&with);
    ss_text_free(&set);
    if (!s->session) {
        if (fault.member) ss_fail_in(err, fault.item[0] ? "--%s %s" : "--%s", fault.member, fault.item);
        return ss_fail_in(err, "solve");
    }
    ss_session_watch(s->session, ss_sandbox_cancel());

    // No output may replace the input.
    if (options->output && !ss_input_check_target(s->command, options->output, err)) return false;
    if (!options->trace) return true;
    if (!ss_input_check_target(s->command, options->trace, err)) return false;
    s->trace = fopen(options->trace, "w");
    return s->trace ||
           ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot write: %s", options->trace, strerror(errno));
}

/* What belongs to standard error, when all is done. */
static void say_more(const ss_solving *s)
{
    const ss_command *command = s->command;
    ss_tally_say(command, "repaired", &s->tally, SS_FINDING_REPAIR);
    ss_tally_say(command, "warning", &s->tally, SS_FINDING_WARNING);
    ss_tally_say(command, "not modelled", &s->tally, SS_FINDING_LOSS);
    const ss_solver *solver = ss_session_solver(s->session);
    if (s->options->warm && !(solver->traits & SS_WARM_STARTS))
        ss_command_say(command, "note: %s does not start from a guess", solver->name);

    // What is wrong with problems that were not solved; what is said of several frames is said once.
    const char *all = ss_text_get(&s->wrong);
    for (const char *at = all; *at; at += strcspn(at, "\n") + 1) {
        const char *said = strstr(at, ": ");
        size_t length = strcspn(said, "\n");
        int before = count_equal(all, said, length), from_here = count_equal(at, said, length);
        if (before != from_here) continue; // said already
        if (from_here == 1)
            ss_command_say(command, "%.*s", (int)strcspn(at, "\n"), at);
        else
            ss_command_say(command, "%d %ss, first %.*s", from_here, s->thing, (int)strcspn(at, "\n"), at);
    }
    if (s->wrong.length && s->diagnosed > SS_DIAGNOSED_AT_MOST)
        ss_command_say(command, "%d more not solved; stickslip check --problems examines every %s",
                       s->diagnosed - SS_DIAGNOSED_AT_MOST, s->thing);

    if (s->options->output && s->count > 0) ss_command_say(command, "wrote %s", s->options->output);
}

static int run_solve(const ss_command *command)
{
    ss_solving s = {.command = command, .options = command->options, .in = command->arguments[0]};
    ss_error err = {0};
    ss_format format = SS_FORMAT_BPMD;
    s.refused = (ss_refused){.file = s.in, .done = "solved", .list.limit = 10000};
    bool good = prepare(&s, &err) && ss_format_of_file(s.in, &format, &err) &&
                (format == SS_FORMAT_BPMD ? ss_solve_frames : ss_solve_problem)(&s, &err);
    if (s.begun && !ss_sandbox_interrupted()) ss_solving_end(&s);

    // What the file system has to say about the trace comes at the end.
    if (s.trace) {
        bool written = !ferror(s.trace);
        written &= fclose(s.trace) == 0;
        if (good && !written)
            good =
                ss_fail(&err, SS_ERROR_RESOURCES, "%s: cannot write: %s", s.options->trace, strerror(errno));
    }
    if (good && !ss_sandbox_interrupted()) say_more(&s);
    int code = good ? ss_solving_exit_code(&s) : ss_report(&err);

    ss_session_destroy(s.session);
    ss_tally_free(&s.tally);
    ss_findings_free(&s.refused.list);
    ss_text_free(&s.table.cells);
    ss_text_free(&s.details.cells);
    ss_text_free(&s.rays);
    ss_text_free(&s.notes);
    ss_text_free(&s.wrong);
    ss_diagnosis_free(&s.diagnosis);
    return code;
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, ss_solve_options, frame), .value_name = "PATH|N|A:B|all",
     .help = "BPMD: only this frame, by path or by number, counted from 0; or frames A to B-1. Default: "
             "all."},
    {SS_FLAG_AS("formulation", TEXT, ss_solve_options, request.formulation), .default_value = "cone",
     .value_name = "FORMULATION",
     .help = "BPMD: formulation that turns a frame into a problem (see stickslip formulations). FCLIB files "
             "hold problems already.",
     .letter = 'f'},
    {SS_FLAG(LIST, ss_solve_options, with), .value_name = "NAME=VALUE",
     .help = "Option of the formulation; repeatable."},
    {SS_FLAG_AS("solver", TEXT, ss_solve_options, request.solver), .default_value = "auto",
     .value_name = "SOLVER",
     .help = "The solver (see stickslip solvers); auto chooses a method. stickslip solvers --table shows "
             "which formulations each one fits.",
     .letter = 's'},
    {SS_FLAG(LIST, ss_solve_options, set), .value_name = "NAME=VALUE",
     .help = "Option of the solver; repeatable."},
    {SS_FLAG(CHOICE, ss_solve_options, problem), .default_value = "auto", .choices = SS_PROBLEM_CHOICES,
     .help = "FCLIB: the problem to solve. auto = the only one in the file."},
    {SS_FLAG_AS("peg", TEXT, ss_solve_options, request.peg), .default_value = "select",
     .value_name = SS_PEG_MODES,
     .help =
         "BPMD, frames with alternatives (docs/peg.md): select one alternative per group; find it by trying "
         "all; contacts only; all alternatives as contacts."},
    {SS_FLAG(BOOL, ss_solve_options, warm),
     .help = "Start from the answer of the previous frame (BPMD) or from the first guess in the file "
             "(FCLIB) instead of zero."},
    {SS_FLAG_AS("reference", TEXT, ss_solve_options, request.reference), .value_name = "SOLVER|certified",
     .help = "BPMD: compute a reference answer with this solver (formulation cone, natural_map<1e-12) and "
             "measure the distance to it. certified: an answer that is proved, as by certify."},
    {SS_FLAG(TEXT, ss_solve_options, trace), .value_name = "FILE.csv",
     .help = "Write time and all gauges of every iteration as CSV."},
    {SS_FLAG(BOOL, ss_solve_options, every_iteration),
     .help =
         "Measure at every iteration, so that the run ends at the first one that satisfies the stop rule, "
         "as in bench. Otherwise cheap iterations are measured at intervals."},
    {SS_FLAG(TEXT, ss_solve_options, output), .value_name = "OUT.h5",
     .help =
         "Write the frames with the answer under solver_data/SOLVER (BPMD), or the problem with its solution "
         "(FCLIB).",
     .letter = 'o'},
    {SS_FLAG_AS("explain", BOOL, ss_solve_options, request.explain),
     .help = "Print the decisions of the solver and their reasons, one per line, for solvers that make "
             "decisions, such as auto."},
    {SS_FLAG(BOOL, ss_solve_options, diagnose), .default_value = "true",
     .help = "Diagnose problems that are not solved: rank, contradictory equations, wedged bodies, units. "
             "Only the first five are diagnosed; with --json, all."},
    {SS_FLAG(BOOL, ss_solve_options, json), .help = "Print one JSON object with all metrics."},
    {0}};

static const ss_option run_table[] = {
    {SS_FLAG_AS("iterations", INT, ss_solve_options, request.iterations), .default_value = "10000", .min = 0,
     .max = 1e9, .value_name = "N", .help = "Stop after this many iterations."},
    {SS_FLAG_AS("time-limit", REAL, ss_solve_options, request.time_limit), .default_value = "0", .min = 0,
     .max = 1e9, .value_name = "seconds",
     .help = "Stop after this many seconds, measuring "
             "included; a plug-in that does not stop is "
             "ended. 0 = no limit."},
    {SS_FLAG_AS("stop", TEXT, ss_solve_options, request.stop), .default_value = "natural_map<1e-8",
     .value_name = "RULE",
     .help = "Converged if METRIC<VALUE holds, for instance energy<1e-6 "
             "(J); energy<1e-6*scene is relative to the energy scale of "
             "the scene; none = stop only at the limits of iterations "
             "and time."},
    SS_TOLERANCE_OPTION(.offset = offsetof(ss_solve_options, tolerance)),
    {SS_FLAG_AS("keep", TEXT, ss_solve_options, request.keep), .default_value = "answer",
     .value_name = "WHICH",
     .help = "Iterate to return: the solver's own answer, which may be its "
             "best; last, or best:GAUGE."},
    {SS_FLAG_AS("seed", INT, ss_solve_options, request.seed), .default_value = "1", .min = 0,
     .max = 2147483647, .help = "Seed for methods that use random numbers."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0},
                                         {"Limits of a run", run_table, 0},
                                         SS_SOLVER_EXTENSION_GROUP(ss_solve_options, extensions),
                                         SS_INPUT_GROUPS(ss_solve_options, source),
                                         SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"solve stack.h5", "every frame, with Coulomb's law on cones; the method is chosen automatically"},
    {"solve stack.h5 --frame 3 -s pgs --iterations 50 --stop none --json",
     "the best of 50 iterations, with all metrics"},
    {"solve stack.h5 -f stewart-trinkle --with directions=16 -s lemke",
     "a friction polygon, solved by pivoting"},
    {"solve stack.h5 --stop 'energy<1e-6*scene'", "stop at a millionth of the energy of the scene"},
    {"solve stack.h5 --warm --trace history.csv -o solved.h5", "warm starts; histories and answers to files"},
    {"solve problem.hdf5 -s nsgs -o solved.hdf5", "an FCLIB problem; the solution is stored in /solution"},
    {"solve stack.h5 --frame 3 --explain", "what the solver decided, and why"},
    {"solve stack.h5 --plugin ./my_solver.so -s mine", "your own solver"},
    {"solve stack.h5 --solver-command ./mine", "your own solver, in any language, as a process"},
    {0}};

const ss_verb ss_verb_solve = {
    .name = "solve",
    .summary = "solve the frames or problems of a file and judge the answers",
    .arguments = "FILE",
    .description =
        "Turns every frame of a BPMD file into a problem by a formulation, solves it, and turns the "
        "solution back into velocities and impulses; problems of FCLIB files are solved as they are. The "
        "answer is judged by metrics that are computed from it, never taken from the solver.\n\n"
        "A run ends when the stop rule holds, or at a limit. The rule is METRIC<VALUE. The gauges energy, "
        "relative_energy, natural_residual, fischer_burmeister and natural_map are measured at every "
        "iteration, on the problem of the formulation; natural_map covers contacts only, so "
        "relative_energy must also be below the value if a problem has other rows. All other metrics need "
        "the answer itself and are evaluated at intervals.\n\n"
        "The exit code is 0 if everything was solved to the stop rule, 1 if something was not, and 3 if a "
        "frame has faults; such frames are listed and skipped.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_solve_options),
    .reads_files = true,
    .run = run_solve,
};
