/* Solving: a frame (judged by all metrics), or a problem on its own; by a built-in solver, or by an
 * m-function that runs under the same rules. */
#include "toolbox.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Ctrl-C ------------------------------------------------------------------------------------------- */

/* While the library computes, Octave does not look at its own flag. It blocks the signal in this thread and
 * waits for it in another, which would often be the one to get it: here it is let through, because the system
 * prefers the first thread of a process. */
static volatile sig_atomic_t interrupted;
static struct sigaction before;
static sigset_t blocked;

/* Octave's own count (quit.h) of those that came before, as while this file was loaded. MATLAB has none. */
extern volatile sig_atomic_t octave_interrupt_state __attribute__((weak));

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static void watch(void)
{
    struct sigaction ours = {.sa_handler = interrupt};
    sigset_t one;
    sigemptyset(&ours.sa_mask);
    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    interrupted = 0;
    sigaction(SIGINT, &ours, &before);
    pthread_sigmask(SIG_UNBLOCK, &one, &blocked);
    if (&octave_interrupt_state && octave_interrupt_state > 0) interrupted = 1;
}

/* Octave gets its signal after all, so that the loop around this call ends too. */
static void unwatch(void)
{
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    sigaction(SIGINT, &before, NULL);
    if (interrupted) kill(getpid(), SIGINT); // to the process: Octave blocks it in this thread
}

/* ---- m-functions as solvers --------------------------------------------------------------------------- */

/* The one that runs. m-functions may solve other problems on their way, so that calls can be nested. */
typedef struct own {
    const mxArray *function; /* x = function(problem, report) */
    tb_fence *fence;         /* or a plug-in */
    ss_run *run;             /* NULL while the function does not run */
    int size;
    bool ended;       /* report has said stop */
    mxArray *trouble; /* what the function threw: a struct with message, identifier, stack */
    char why[200];    /* its x is not usable */
} own;
static own *current;

static ss_status call_function(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    own *self = current;
    if (self->fence) return tb_fence_solve(self->fence, problem, run, x);
    self->run = run;
    self->size = problem->size;
    mxArray *structure = tb_problem(problem), *report = NULL, *answer = NULL;
    tb_set(structure, "x0", tb_real(problem->size, 1, x));

    // Only Octave can make the function handle that is passed as report. The function is wrapped by
    // ss_solve.m: it throws nothing, but returns what was thrown.
    mxArray *text = tb_text("@(x) stickslip_mex('iterate', x)"), *thrown;
    thrown = mexCallMATLABWithTrap(1, &report, 1, &text, "str2func");
    if (!thrown) {
        mxArray *inputs[] = {(mxArray *)(uintptr_t)self->function, structure, report};
        thrown = mexCallMATLABWithTrap(1, &answer, 3, inputs, "feval");
    }
    if (!thrown && answer && mxIsStruct(answer)) {
        self->trouble = answer;
        answer = NULL;
    }
    current = self; // an error inside a nested call may have left another one
    self->run = NULL;

    ss_error err = {0};
    double *kept = ss_allocate((size_t)problem->size, sizeof *kept);
    bool good = !thrown && !self->trouble && kept &&
                tb_copy(answer, (size_t)problem->size, kept, "x of the solver", &err);
    if (good && problem->size) memcpy(x, kept, (size_t)problem->size * sizeof *x);
    if (!self->trouble && !good)
        snprintf(self->why, sizeof self->why, "%.190s", thrown ? "the solver was interrupted" : err.message);
    ss_release(kept);
    mxDestroyArray(structure);
    mxDestroyArray(text);
    if (report) mxDestroyArray(report);
    if (answer) mxDestroyArray(answer);
    if (!good) return SS_FAILED;
    return self->ended ? ss_run_status(run) : SS_CONVERGED; // the driver checks the claim
}

static const ss_solver own_solver = {.abi = SS_ABI,
                                     .name = "own",
                                     .summary = "an m-function",
                                     .reference = "",
                                     .weakness = "",
                                     .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE |
                                             SS_LAW_CONVEX,
                                     .traits = SS_WARM_STARTS,
                                     .solve = call_function};

bool tb_do_iterate(const tb_call *call, ss_error *err)
{
    if (!current || !current->run)
        return ss_fail(err, SS_ERROR_USAGE, "report(x) was called after the run of its solver had ended");
    double *x = ss_allocate((size_t)current->size, sizeof *x);
    bool good = (x || ss_fail(err, SS_ERROR_RESOURCES, "out of memory")) &&
                tb_copy(call->input[0], (size_t)current->size, x, "x of report", err);
    if (good) {
        bool on = !current->ended && ss_run_iteration(current->run, x, NULL);
        current->ended = !on;
        call->output[0] = mxCreateLogicalScalar(on);
    }
    ss_release(x);
    return good;
}

/* ---- results ------------------------------------------------------------------------------------------ */

static mxArray *show_history(const ss_history *history)
{
    mxArray *s = tb_struct();
    tb_set(s, "seconds", tb_real(history->count, 1, history->seconds));
    for (int g = 0; g < SS_GAUGE_COUNT; g++)
        if (history->gauge[g])
            tb_set(s, ss_gauge_name((ss_gauge)g), tb_real(history->count, 1, history->gauge[g]));
    return s;
}

static void show_run(mxArray *s, const ss_solve_result *run, const double *x, int size)
{
    tb_set(s, "status", tb_text(ss_status_name(run->status)));
    tb_set(s, "converged", mxCreateLogicalScalar(run->status == SS_CONVERGED));
    tb_set(s, "iterations", tb_number(run->iterations));
    tb_set(s, "kept_iteration", tb_number(run->kept_iteration));
    tb_set(s, "time", tb_number(run->seconds));
    tb_set(s, "elapsed", tb_number(run->elapsed));
    tb_set(s, "x", tb_real(size, 1, x));
    tb_set(s, "gauges", tb_gauges(run->gauge));
    if (run->history.count) tb_set(s, "history", show_history(&run->history));
    if (run->ray.impulse) {
        tb_set(s, "ray", tb_real(size, 1, run->ray.impulse));
        tb_set(s, "ray_is_proof", mxCreateLogicalScalar(run->ray.is_proof));
    }
    if (run->notes) tb_set(s, "notes", tb_text(run->notes));
}

/* The fields of an answer beside the others: a result can be judged, stored and used as a guess. */
static void merge(mxArray *s, mxArray *answer)
{
    for (int i = 0; i < mxGetNumberOfFields(answer); i++)
        tb_set(s, mxGetFieldNameByNumber(answer, i), mxDuplicateArray(mxGetFieldByNumber(answer, 0, i)));
    mxDestroyArray(answer);
}

static mxArray *show_result(ss_session *session, const ss_result *result)
{
    mxArray *s = tb_struct();
    if (result->refusal) {
        tb_set(s, "status", tb_text(ss_status_name(SS_NOT_APPLICABLE)));
        tb_set(s, "converged", mxCreateLogicalScalar(false));
        tb_set(s, "iterations", tb_number(0));
        tb_set(s, "notes", tb_text(result->refusal));
        return s;
    }
    show_run(s, &result->run, result->x, result->problem->size);
    if (result->answer) merge(s, tb_answer(result->answer));
    tb_set(s, "metrics", tb_metrics(result->metrics));
    tb_set(s, "contacts", tb_contacts(result->contacts, result->contact_count));
    if (result->answer) {
        char with[SS_RULES_LENGTH];
        ss_assembly *assembly = ss_session_assembly(session);
        const ss_formulation *formulation = ss_assembly_formulation(assembly);
        ss_options_print(formulation->options, ss_assembly_step(assembly), with, sizeof with);
        tb_set(s, "formulation", tb_text(formulation->name));
        tb_set(s, "with", tb_text(with));
    }
    if (result->losses && result->losses->count) tb_set(s, "losses", tb_findings(result->losses));
    return s;
}

/* ---- the command -------------------------------------------------------------------------------------- */

typedef struct texts {
    char *formulation, *with, *solver, *set, *reference, *stop, *keep, *plugin;
} texts;

static bool read_request(const mxArray *given, ss_request *request, texts *t, double *threads, ss_error *err)
{
    double iterations = ss_run_defaults().max_iterations, seed = 0;
    bool good =
        tb_get_option(given, "formulation", &t->formulation, err) &&
        tb_get_option(given, "with", &t->with, err) && tb_get_option(given, "solver", &t->solver, err) &&
        tb_get_option(given, "set", &t->set, err) && tb_get_option(given, "reference", &t->reference, err) &&
        tb_get_option(given, "stop", &t->stop, err) && tb_get_option(given, "keep", &t->keep, err) &&
        tb_get_option(given, "plugin", &t->plugin, err) &&
        tb_get_real(given, "iterations", &iterations, err) && tb_get_real(given, "seed", &seed, err) &&
        tb_get_real(given, "time_limit", &request->time_limit, err) &&
        tb_get_flag(given, "history", &request->history, err) &&
        tb_get_flag(given, "explain", &request->explain, err) &&
        tb_get_flag(given, "skip_exact", &request->skip_exact, err) &&
        tb_get_real(given, "threads", threads, err);
    if (good && !(iterations >= 0 && iterations <= 1e9 && iterations == floor(iterations)))
        good =
            ss_fail(err, SS_ERROR_USAGE, "iterations: %g, expected a whole number from 0 to 1e9", iterations);
    if (good && !(seed >= 0 && seed <= INT_MAX && seed == floor(seed)))
        good = ss_fail(err, SS_ERROR_USAGE, "seed: %g, expected a whole number from 0 to %d", seed, INT_MAX);
    if (good && !(*threads >= 0 && *threads <= 1024 && *threads == floor(*threads)))
        good = ss_fail(err, SS_ERROR_USAGE, "threads: %g, expected a whole number from 0 to 1024", *threads);
    request->formulation = t->formulation;
    request->with = t->with;
    request->solver = t->solver;
    request->set = t->set;
    request->reference = t->reference;
    request->stop = t->stop;
    request->keep = t->keep;
    request->iterations = iterations == 0 ? -1 : (int)iterations; // C: 0 is the default, -1 none at all
    request->seed = (int)seed;
    return good;
}

static void free_texts(texts *t)
{
    char *all[] = {t->formulation, t->with, t->solver, t->set, t->reference, t->stop, t->keep, t->plugin};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mxFree(all[i]);
}

/* The same request for the process of a plug-in. */
static bool fence_off(tb_fence *fence, const texts *t, ss_request *request, ss_error *err)
{
    ss_run_options *run = &fence->run;
    *run = ss_run_defaults();
    *fence = (tb_fence){.path = t->plugin, .solver = t->solver, .set = t->set, .run = *run};
    run->keep = (ss_keep_rule){.which = SS_KEEP_ANSWER};
    run->history = request->history;
    run->explain = request->explain;
    run->seed = request->seed;
    run->time_limit = request->time_limit;
    run->max_iterations = request->iterations > 0 ? request->iterations : 0;
    request->set = NULL;
    request->solver = NULL;
    if (!ss_stop_rule_parse(t->stop ? t->stop : "natural_map<1e-8", &run->stop, err))
        return ss_fail_in(err, "stop, of a plug-in");
    return !t->keep || ss_keep_rule_parse(t->keep, &run->keep, err);
}

/* What the process of the plug-in has to say about the run, which this one has not seen. */
static void show_fence(mxArray *s, const tb_fence *fence)
{
    if (!fence->ran) return;
    tb_set(s, "iterations", tb_number(fence->iterations));
    tb_set(s, "kept_iteration", tb_number(fence->kept_iteration));
    tb_set(s, "time", tb_number(fence->seconds));
    if (fence->history.count) tb_set(s, "history", show_history(&fence->history));
    if (fence->notes[0]) tb_set(s, "notes", tb_text(fence->notes));
    if (fence->status == SS_CONVERGED) return; // this process has checked the claim
    tb_set(s, "status", tb_text(ss_status_name(fence->status)));
    tb_set(s, "converged", mxCreateLogicalScalar(false));
}

/* A frame, from a known answer if there is one. */
static const ss_result *solve_frame(ss_session *session, const mxArray *given, ss_frame *frame, ss_error *err)
{
    const mxArray *start = tb_get(given, "guess");
    ss_answer *guess = start && !mxIsEmpty(start) ? tb_get_answer(start, frame, err) : NULL;
    if (start && !mxIsEmpty(start) && !guess) return NULL;
    const ss_result *result = ss_session_solve(session, frame, guess, err);
    ss_answer_destroy(guess);
    return result;
}

/* A problem, from x0 if there is one. */
static const ss_result *solve_problem(ss_session *session, const mxArray *given, ss_problem *problem,
                                      ss_error *err)
{
    const mxArray *start = tb_get(given, "guess");
    double *x = NULL;
    if (start && !mxIsEmpty(start)) {
        x = ss_allocate((size_t)problem->size, sizeof *x);
        if (!x) ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        if (!x || !tb_copy(start, (size_t)problem->size, x, "guess", err)) {
            ss_release(x);
            return NULL;
        }
    }
    const ss_result *result = ss_session_solve_problem(session, problem, x, err);
    ss_release(x);
    return result;
}

bool tb_do_solve(const tb_call *call, ss_error *err)
{
    const mxArray *subject = call->input[0], *given = call->input[1];
    own self = {.function = call->inputs > 2 ? call->input[2] : NULL}, *outer = current;
    ss_request request = {.own_solver = self.function ? &own_solver : NULL};
    texts t = {0};
    double threads = 1;
    ss_frame *frame = NULL;
    ss_cone *cone = NULL;
    ss_problem *problem = NULL;
    ss_session *session = NULL;
    const ss_result *result = NULL;

    bool good = read_request(given, &request, &t, &threads, err);
    tb_fence fence = {0};
    if (good && t.plugin) {
        good = fence_off(&fence, &t, &request, err);
        request.own_solver = &own_solver;
        self.fence = &fence;
    }
    if (good && threads != 1) good = (request.team = ss_team_create((int)threads, err)) != NULL;
    if (good && tb_is_frame(subject))
        good = (frame = tb_get_frame(subject, NULL, true, err)) != NULL;
    else if (good && tb_is_cone(subject))
        good = (cone = tb_get_cone(subject, err)) && (problem = ss_problem_from_cone(cone, err));
    else if (good)
        good = (problem = tb_get_problem(subject, err)) != NULL;
    good = good && (session = ss_session_create(&request, err)) != NULL;

    // An m-function is interrupted by Octave itself.
    if (good) {
        static const volatile int *flag = (const volatile int *)&interrupted;
        current = request.own_solver ? &self : outer;
        if (!self.function) ss_session_watch(session, flag);
        if (!self.function) watch();
        result =
            frame ? solve_frame(session, given, frame, err) : solve_problem(session, given, problem, err);
        if (!self.function) unwatch();
        current = outer;
        good = result != NULL;
    }
    if (good && self.why[0]) good = ss_fail(err, SS_ERROR_USAGE, "%s", self.why);
    if (good) call->output[0] = show_result(session, result);
    if (good) show_fence(call->output[0], &fence);
    if (good && call->outputs > 1)
        call->output[1] = self.trouble ? self.trouble : mxCreateDoubleMatrix(0, 0, mxREAL);

    ss_session_destroy(session);
    ss_team_destroy(request.team);
    ss_problem_destroy(problem);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
    tb_fence_free(&fence);
    free_texts(&t);
    return good;
}
