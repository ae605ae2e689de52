#include "session/prover.h"
#include "session/stages.h"

#include "formulation/model.h"
#include "metrics/truth.h"
#include "problem/answer_store.h"
#include "problem/peg_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The reference goes further than anything it is compared with, and counts as the truth where it
 * gets this far. */
static const ss_stop_rule reference_stop = {SS_GAUGE_NATURAL_MAP, 1e-12, false};
static const double reference_enough = 1e-8;
static const int reference_iterations = 200000;

struct ss_session {
    ss_method method;
    ss_assembly *assembly;
    bool skip_exact;
    ss_team *team;              /* the caller's; NULL = one thread */
    const volatile int *cancel; /* the caller's; NULL = none */
    volatile double *forgiven;  /* the caller's, s; NULL = none */
    const ss_watcher *watcher;  /* the caller's; NULL = none */
    unsigned gauges;            /* that answers are measured by, as bits; 0 = all */
    ss_arena *arena;            /* of solver and judge */
    ss_answer_store answer;
    ss_problem *problem; /* of the assembly, or the caller's */
    bool has_frame;
    double *x;
    int x_room;
    ss_metric_value *metrics;
    int metric_room;
    ss_contact_report *contacts;
    int contact_room;
    ss_findings losses;
    ss_solve_result reference; /* how it went; its arrays are the truth's */
    const ss_frame *peg_frame; /* the caller's, with alternatives; valid while result.peg is there */
    ss_peg_result peg;         /* its selection */
    ss_answer *peg_answer;     /* to it */
    double spent;              /* s, in earlier ordinary frames of the selection that is going on */
    ss_result result;
};

/* ---- life ---------------------------------------------------------------------------------------- */

ss_session *ss_session_open(const ss_request *request, ss_request_fault *fault, ss_error *err)
{
    ss_session *session = ss_allocate(1, sizeof *session);
    if (!session) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a session");
        return NULL;
    }
    session->team = request->team;
    session->skip_exact = request->skip_exact;
    bool good = ss_method_prepare(request, &session->method, fault, err);
    if (good) {
        session->assembly =
            ss_assembly_create(session->method.formulation, session->method.formulation_options, err);
        session->arena = session->assembly ? ss_arena_create(1 << 16, err) : NULL;
        session->metric_room = ss_metric_count();
        session->metrics = ss_allocate((size_t)session->metric_room, sizeof *session->metrics);
        good = session->arena &&
               (session->metrics || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for metrics"));
    }

    if (good) return session;
    ss_session_destroy(session);
    return NULL;
}

ss_session *ss_session_create(const ss_request *request, ss_error *err)
{
    ss_request_fault fault = {0};
    ss_session *session = ss_session_open(request, &fault, err);
    if (!session && fault.member)
        ss_fail_in(err, fault.item[0] ? "request: %s \"%s\"" : "request: %s", fault.member, fault.item);
    return session;
}

void ss_session_destroy(ss_session *session)
{
    if (!session) return;
    ss_solve_result_free(&session->result.run);
    ss_peg_result_free(&session->peg);
    ss_answer_destroy(session->peg_answer);
    ss_findings_free(&session->losses);
    ss_answer_store_free(&session->answer);
    ss_assembly_destroy(session->assembly);
    ss_arena_destroy(session->arena);
    ss_method_free(&session->method);
    ss_release(session->x);
    ss_release(session->metrics);
    ss_release(session->contacts);
    ss_release(session);
}

void ss_session_watch(ss_session *session, const volatile int *cancel)
{
    session->cancel = cancel;
}

void ss_session_count_forgiven(ss_session *session, volatile double *seconds)
{
    session->forgiven = seconds;
}

void ss_session_follow(ss_session *session, const ss_watcher *watcher)
{
    session->watcher = watcher;
}

void ss_session_measure_only(ss_session *session, unsigned gauges)
{
    session->gauges = gauges;
}

void ss_session_limit(ss_session *session, ss_stop_rule stop, double seconds)
{
    session->method.run.stop = stop;
    session->method.run.time_limit = seconds;
}

/* ---- looking at it ------------------------------------------------------------------------------- */

const ss_method *ss_session_method(const ss_session *session)
{
    return &session->method;
}

ss_assembly *ss_session_assembly(ss_session *session)
{
    return session->assembly;
}

const ss_solver *ss_session_solver(const ss_session *session)
{
    return session->method.solver;
}

const ss_result *ss_session_result(const ss_session *session)
{
    return &session->result;
}

static int print_options(const ss_option *table, const void *options, bool all, char *text, size_t size)
{
    static const ss_option none[] = {{0}};
    if (!table) table = none;
    if (all) return ss_options_print(table, options, text, size);
    ss_text differences = {0};
    ss_options_differences(table, options, &differences);
    int length = snprintf(text, size, "%s", ss_text_get(&differences));
    ss_text_free(&differences);
    return length;
}

int ss_session_with(const ss_session *session, bool all, char *text, size_t size)
{
    return print_options(session->method.formulation->options, session->method.formulation_options, all, text,
                         size);
}

int ss_session_set(const ss_session *session, bool all, char *text, size_t size)
{
    return print_options(session->method.solver->options, session->method.solver_options, all, text, size);
}

/* ---- 1. frame or problem ------------------------------------------------------------------------- */

static bool make_room(ss_session *session, int contacts, ss_error *err)
{
    int size = session->problem->size;
    if (!session->x || size > session->x_room) {
        ss_release(session->x);
        session->x_room = size + size / 4;
        session->x = ss_allocate((size_t)session->x_room, sizeof *session->x);
    }
    if (!session->contacts || contacts > session->contact_room) {
        ss_release(session->contacts);
        session->contact_room = contacts + contacts / 4;
        session->contacts = ss_allocate((size_t)session->contact_room, sizeof *session->contacts);
    }
    if (ss_metric_count() > session->metric_room) { // registered since
        ss_release(session->metrics);
        session->metric_room = ss_metric_count();
        session->metrics = ss_allocate((size_t)session->metric_room, sizeof *session->metrics);
    }
    return (session->x && session->contacts && session->metrics) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns and %d contacts", size, contacts);
}

/* Everything that the last frame left behind. */
static void start_result(ss_session *session, int contacts)
{
    ss_solve_result_free(&session->result.run);
    session->result = (ss_result){.answer = session->has_frame ? session->answer.answer : NULL,
                                  .metrics = session->metrics,
                                  .contact_count = contacts,
                                  .contacts = session->contacts,
                                  .losses = &session->losses,
                                  .problem = session->problem,
                                  .x = session->x,
                                  .reference_bound = NAN,
                                  .reference_distance = NAN};
    if (session->problem->size) memset(session->x, 0, (size_t)session->problem->size * sizeof *session->x);
}

bool ss_session_take_frame(ss_session *session, const ss_frame *frame, const ss_answer *guess, ss_error *err)
{
    ss_findings_free(&session->losses);
    session->has_frame = false;
    if (!ss_assemble(session->assembly, frame, &session->losses, err) ||
        !ss_answer_store_take(&session->answer, frame, ss_frame_has_moments(frame), err))
        return false;
    session->problem = ss_assembly_problem(session->assembly);
    session->has_frame = true;
    if (!make_room(session, frame->contacts.count, err)) return false;
    start_result(session, frame->contacts.count);
    if (guess) ss_assembly_guess(session->assembly, guess, session->x);
    return true;
}

bool ss_session_take_problem(ss_session *session, ss_problem *problem, const double *x, ss_error *err)
{
    ss_findings_free(&session->losses);
    session->has_frame = false;
    session->problem = problem;
    int contacts = ss_case_contacts(&(ss_case){.problem = problem});
    if (!make_room(session, contacts, err)) return false;
    start_result(session, contacts);
    if (x && problem->size) memcpy(session->x, x, (size_t)problem->size * sizeof *x);
    return true;
}

/* ---- 2. the run ---------------------------------------------------------------------------------- */

static bool models_alternatives(const ss_session *session)
{
    const struct ss_contact_model *model = session->method.formulation->model;
    return model && model->traits & SS_MODELS_ALTERNATIVES;
}

static bool judge_point(ss_session *session, const double *x, bool skip_exact, const ss_answer *reference,
                        ss_contact_report *contacts, ss_error *err)
{
    if (session->has_frame) ss_assembly_recover(session->assembly, x, session->answer.answer);
    bool alternatives = session->has_frame && models_alternatives(session);
    ss_case what = {.assembly = session->has_frame ? session->assembly : NULL,
                    .frame = alternatives ? ss_assembly_frame(session->assembly) : NULL,
                    .answer = session->answer.answer,
                    .problem = session->problem,
                    .x = x,
                    .reference = reference,
                    .skip_exact = skip_exact,
                    .arena = session->arena};
    return ss_judge(&what, session->metrics, contacts, err);
}

/* A metric that does not apply does not hold: where nothing rests yet, nothing creeps. */
static bool rule_holds(const double *x, void *context)
{
    ss_session *session = context;
    const ss_metric_rule *rule = &session->method.rule;
    bool skip_exact = rule->metric != ss_metric_index("energy_exact");
    if (!judge_point(session, x, skip_exact, NULL, NULL, NULL)) return false;
    const ss_metric_value *value = &session->metrics[rule->metric];
    return value->applies && fabs(value->value) < rule->below;
}

/* Kinetic energy plus the work of the forces of one step, 1/2 sum m (|v| + h |f|/m)^2: the
 * scale of "*scene". */
static double scene_energy(const ss_frame *frame)
{
    double sum = 0.0;
    for (int body = 0; body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        const double *v = frame->bodies.velocity[body], *f = frame->bodies.force[body];
        double mass = frame->bodies.mass[body], speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        speed += frame->h * sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) / mass;
        sum += 0.5 * mass * speed * speed;
    }
    return sum;
}

bool ss_session_run(ss_session *session, ss_error *err)
{
    const ss_method *method = &session->method;
    ss_run_options run = method->run;
    ss_stop_test test = {rule_holds, session};
    if (session->has_frame) run.scene_energy = scene_energy(ss_assembly_frame(session->assembly));

    // The limit is that of a whole selection: when it is over, what is left stops at once.
    if (run.time_limit > 0.0) run.time_limit = fmax(run.time_limit - session->spent, 1e-9);

    session->result.refusal = ss_solver_refusal(method->solver, session->problem);
    ss_solve_request request = {.solver = method->solver,
                                .solver_options = method->solver_options,
                                .problem = session->problem,
                                .run = &run,
                                .test = method->rule.metric >= 0 ? &test : NULL,
                                .team = session->team,
                                .cancel = session->cancel,
                                .arena = session->arena,
                                .gauges = session->gauges,
                                .watcher = session->watcher,
                                .forgiven = session->forgiven};
    return ss_solve(&request, session->x, &session->result.run, err);
}

void ss_session_take_run(ss_session *session, const ss_solve_result *run, const double *x)
{
    ss_solve_result_free(&session->result.run);
    session->result.run = *run;
    if (x != session->x && session->problem->size)
        memcpy(session->x, x, (size_t)session->problem->size * sizeof *x);
}

/* ---- 3. the true answer -------------------------------------------------------------------------- */

/* Solves Coulomb's problem of the frame by one solver, as far as it gets; x is the best of it. */
static bool solve_coulomb(ss_session *session, const ss_solver *solver, ss_problem *problem, double *x,
                          ss_solve_result *result, ss_error *err)
{
    // Relative energy where there is no cone to map to.
    bool cones = ss_problem_laws(problem) & SS_LAW_CONE;
    ss_run_options run = {.max_iterations = reference_iterations,
                          .stop = reference_stop,
                          .keep = {SS_KEEP_BEST, cones ? SS_GAUGE_NATURAL_MAP : SS_GAUGE_RELATIVE_ENERGY},
                          .seed = session->method.run.seed};
    ss_effort effort = ss_effort_for(problem->block_count);
    if (session->method.certified && !effort.compared) {
        run.stop = effort.stop;
        run.max_iterations = effort.iterations;
    }
    if (session->method.run.max_iterations > run.max_iterations)
        run.max_iterations = session->method.run.max_iterations;
    ss_solve_request request = {.solver = solver,
                                .problem = problem,
                                .run = &run,
                                .cancel = session->cancel,
                                .arena = session->arena};
    if (problem->size) memset(x, 0, (size_t)problem->size * sizeof *x);
    return ss_solve(&request, x, result, err);
}

/* Does the answer count as the truth? With a proof where that is asked for, else where it is nearly exact. */
static bool is_true(ss_session *session, ss_truth *truth, bool *found, ss_error *err)
{
    double map = truth->result.gauge[SS_GAUGE_NATURAL_MAP],
           energy = truth->result.gauge[SS_GAUGE_RELATIVE_ENERGY];
    *found = map <= reference_enough || (isnan(map) && energy <= reference_enough);
    if (!session->method.certified) return true;
    *found = false;
    if (!ss_answer_is_complete(truth->answer)) return true;
    ss_certify_options options = {.step = *ss_assembly_step(session->assembly), .law = SS_LAW_CONE};
    ss_certificate *proof = ss_certify(ss_assembly_frame(session->assembly), truth->answer, &options, err);
    if (!proof) return false;
    *found = proof->level >= SS_CERTIFIED_BACKWARD;
    truth->level = proof->level;
    truth->bound = fmax(fmax(proof->bound, proof->spin_speed), proof->joint_bound);
    ss_certificate_destroy(proof);
    return true;
}

bool ss_session_find_truth(ss_session *session, ss_truth *truth, ss_error *err)
{
    // Where a proof is asked for, other families of methods follow one whose answer is not proved.
    static const char *const others[] = {"interior-point", "nsgs", "admm"};
    const ss_frame *frame = ss_assembly_frame(session->assembly);
    ss_problem *problem = ss_assembly_coulomb(session->assembly, err);
    double *x = problem ? ss_allocate((size_t)problem->size, sizeof *x) : NULL;
    *truth = (ss_truth){.bound = NAN};
    if (!x)
        return problem && ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);

    int most = session->method.certified ? (int)(sizeof others / sizeof *others) : 0;
    if (ss_effort_for(problem->block_count).methods == 1) most = 0;
    bool good = true, found = false;
    for (int i = -1; i < most && good && !found; i++) {
        ss_solve_result_free(&truth->result);
        ss_answer_destroy(truth->answer);
        truth->answer = NULL;
        const ss_solver *solver = i < 0 ? session->method.reference : ss_solver_find(others[i]);
        good = solve_coulomb(session, solver, problem, x, &truth->result, err);
        if (!good || truth->result.status == SS_NOT_APPLICABLE) continue;
        truth->answer = ss_answer_create(frame, ss_frame_has_moments(frame), err);
        good = truth->answer != NULL;
        if (good) ss_assembly_recover_coulomb(session->assembly, x, truth->answer);
        good = good && is_true(session, truth, &found, err);
    }
    ss_release(x);
    if (!found) {
        ss_answer_destroy(truth->answer);
        truth->answer = NULL;
    }
    if (!good) ss_truth_free(truth);
    return good;
}

void ss_truth_free(ss_truth *truth)
{
    ss_solve_result_free(&truth->result);
    ss_answer_destroy(truth->answer);
    *truth = (ss_truth){0};
}

/* ---- 4. judging ---------------------------------------------------------------------------------- */

bool ss_session_judge(ss_session *session, const ss_truth *truth, ss_error *err)
{
    ss_metric_value *metrics = session->metrics;

    // Refused: there is no answer, and every metric says why.
    if (session->result.refusal) {
        for (int i = 0; i < ss_metric_count(); i++) {
            metrics[i] = (ss_metric_value){.value = NAN, .worst_contact = -1, .worst_constraint = -1};
            metrics[i].why = session->result.refusal;
        }
        if (session->result.contact_count)
            memset(session->contacts, 0, (size_t)session->result.contact_count * sizeof *session->contacts);
        return true;
    }
    if (session->result.peg) {
        ss_case what = {.assembly = session->assembly,
                        .frame = session->peg_frame,
                        .answer = session->peg_answer,
                        .skip_exact = session->skip_exact};
        return ss_judge(&what, metrics, session->contacts, err);
    }
    if (!judge_point(session, session->x, session->skip_exact, truth ? truth->answer : NULL,
                     session->contacts, err))
        return false;
    if (!truth) return true;

    if (!truth->answer) {
        const char *why = session->method.certified ? "no answer of the frame is proved"
                                                    : "the reference solver did not reach natural_map<1e-8";
        static const char *const against[] = {"distance", "velocity_distance", "trust"};
        for (size_t i = 0; i < sizeof against / sizeof *against; i++)
            metrics[ss_metric_index(against[i])].why = why;
    }
    session->result.reference_level = truth->level;
    session->result.reference_bound = truth->bound;
    session->result.reference_distance =
        truth->answer ? ss_velocity_distance(ss_assembly_frame(session->assembly), session->answer.answer,
                                             truth->answer, NULL)
                      : NAN;
    session->reference = truth->result;
    session->reference.history = (ss_history){0}; // the truth's own, which may be gone tomorrow
    session->reference.ray = (ss_ray){0};
    session->reference.notes = NULL;
    session->result.reference = &session->reference;
    return true;
}

/* ---- 3 and 4 ------------------------------------------------------------------------------------ */

bool ss_session_finish(ss_session *session, ss_error *err)
{
    ss_truth truth = {0};
    bool wants_truth = session->has_frame && session->method.reference && !session->result.refusal &&
                       !session->result.peg; // the truth of one selection is not that of the law
    bool good = (!wants_truth || ss_session_find_truth(session, &truth, err)) &&
                ss_session_judge(session, wants_truth ? &truth : NULL, err);
    ss_truth_free(&truth);
    return good;
}

/* ---- frames with alternatives -------------------------------------------------------------------- */

bool ss_session_selects(const ss_session *session, const ss_frame *frame)
{
    return frame->subcontacts.groups > 0 && session->method.peg != SS_PEG_OFF &&
           !models_alternatives(session);
}

typedef struct peg_context {
    ss_session *session;
    const ss_answer *guess;
    int iterations; /* of all ordinary frames */
    double seconds, elapsed;
} peg_context;

static bool solve_plain(const ss_frame *plain, const int *origin, ss_peg_solved *how, void *context,
                        ss_error *err)
{
    peg_context *of = context;
    ss_session *session = of->session;

    // The part of a guess that an ordinary frame has use for.
    ss_answer *guess = NULL;
    if (of->guess && origin) {
        guess = ss_answer_create(plain, of->guess->rolling_impulse != NULL, err);
        if (!guess) return false;
        ss_peg_gather(of->guess, origin, guess);
    }
    bool good = ss_session_take_frame(session, plain, guess, err) && ss_session_run(session, err);
    ss_answer_destroy(guess);
    if (!good) return false;
    ss_assembly_recover(session->assembly, session->x, session->answer.answer);
    const ss_solve_result *run = &session->result.run;
    double error = run->gauge[SS_GAUGE_RELATIVE_ENERGY];
    bool converged = run->status == SS_CONVERGED || session->result.refusal;
    of->iterations += run->iterations;
    session->spent = of->seconds += run->seconds;
    of->elapsed += run->elapsed;
    *how = (ss_peg_solved){.answer = session->answer.answer,
                           .converged = converged,
                           .ray = run->status == SS_RAY,
                           .error = error >= 0.0 ? error : 0.0};
    return true;
}

bool ss_session_select(ss_session *session, const ss_frame *frame, const ss_answer *guess, ss_error *err)
{
    peg_context context = {.session = session, .guess = guess};
    ss_peg_request request = {
        .frame = frame, .mode = session->method.peg, .solve = solve_plain, .context = &context};
    ss_peg_result_free(&session->peg);
    ss_answer_destroy(session->peg_answer);
    session->peg_answer = NULL;
    bool good = ss_peg_solve(&request, &session->peg, err);
    session->spent = 0.0;
    if (!good) return false;
    session->peg_answer = ss_answer_create(frame, session->answer.answer->rolling_impulse != NULL, err);
    if (!session->peg_answer || !make_room(session, frame->contacts.count, err)) return false;
    ss_peg_expand(&session->peg, session->answer.answer, session->peg_answer);

    // What the selection cost is what all its ordinary frames did; the history is that of the last, which
    // begins when the others are over.
    ss_result *result = &session->result;
    double before = context.seconds - result->run.seconds;
    for (int i = 0; i < result->run.history.count; i++) result->run.history.seconds[i] += before;
    result->run.kept_iteration += context.iterations - result->run.iterations;
    result->run.iterations = context.iterations;
    result->run.seconds = context.seconds;
    result->run.elapsed = context.elapsed;

    session->peg_frame = frame;
    result->answer = session->peg_answer;
    result->contact_count = frame->contacts.count;
    result->contacts = session->contacts;
    result->x = session->x;
    result->peg = &session->peg;
    return true;
}

void ss_session_recover(ss_session *session, ss_answer *answer)
{
    if (session->result.peg)
        ss_peg_expand(&session->peg, session->answer.answer, answer);
    else
        ss_assembly_recover(session->assembly, session->x, answer);
}

/* ---- all of it ----------------------------------------------------------------------------------- */

const ss_result *ss_session_solve(ss_session *session, const ss_frame *frame, const ss_answer *guess,
                                  ss_error *err)
{
    bool solved = ss_session_selects(session, frame)
                      ? ss_session_select(session, frame, guess, err)
                      : ss_session_take_frame(session, frame, guess, err) && ss_session_run(session, err);
    return solved && ss_session_finish(session, err) ? &session->result : NULL;
}

const ss_result *ss_session_solve_problem(ss_session *session, ss_problem *problem, const double *x,
                                          ss_error *err)
{
    bool good = ss_session_take_problem(session, problem, x, err) && ss_session_run(session, err) &&
                ss_session_finish(session, err);
    return good ? &session->result : NULL;
}
