#include "session/prover.h"

#include "session/method.h"
#include "session/stages.h"
#include "solver/core/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Methods by family: what one of them has got wrong another one finds. The first is the user's, or auto,
 * which belongs to whatever family it has chosen; sweeps and pivoting share no code but the problem. */
static const char *const methods[] = {NULL, "interior-point", "nsgs", "admm", "lemke", "minmap-newton"};
enum { METHODS = sizeof methods / sizeof *methods };

/* Small ones as far as double precision goes. Large ones stop a little above rounding, which sweeps reach
 * only by and by, while a proof needs 1e-8; first the comparison becomes too expensive, then the methods
 * that factorise. */
enum { MOST_COMPARED = 2000, MOST_TRIED = 10000, MOST_ITERATIONS = 20000 };

ss_effort ss_effort_for(int contacts)
{
    bool small = contacts <= MOST_COMPARED;
    return (ss_effort){.methods = contacts > MOST_TRIED ? 1 : METHODS,
                       .compared = small,
                       .stop = {SS_GAUGE_RELATIVE_ENERGY, small ? 1e-13 : 1e-11, false},
                       .iterations = MOST_ITERATIONS};
}

struct ss_prover {
    ss_prover_options options;
    ss_session *session[METHODS];
    ss_effort effort; /* for the frame or problem at hand */
    double deadline;  /* for it: clock time, s; infinite: none */
    ss_proof proof;
    ss_certificate *certificate;
};

static ss_session *open_session(const ss_prover_options *options, const char *solver, ss_error *err)
{
    ss_request request = {.formulation = options->formulation,
                          .with = options->with,
                          .solver = solver,
                          .iterations = MOST_ITERATIONS,
                          .skip_exact = true};
    return ss_session_create(&request, err);
}

ss_prover *ss_prover_create(const ss_prover_options *options, ss_error *err)
{
    ss_prover *prover = ss_allocate(1, sizeof *prover);
    if (!prover) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a proof");
        return NULL;
    }
    prover->options = *options;
    for (int m = 0; m < METHODS; m++) {
        prover->session[m] = open_session(options, m ? methods[m] : options->solver, err);
        if (!prover->session[m]) {
            ss_prover_destroy(prover);
            return NULL;
        }
    }
    return prover;
}

void ss_prover_destroy(ss_prover *prover)
{
    if (!prover) return;
    for (int m = 0; m < METHODS; m++) ss_session_destroy(prover->session[m]);
    ss_certificate_destroy(prover->certificate);
    ss_release(prover);
}

void ss_prover_watch(ss_prover *prover, const volatile int *cancel)
{
    for (int m = 0; m < METHODS; m++) ss_session_watch(prover->session[m], cancel);
}

/* What is proved: a frame, or a problem without bodies. */
typedef struct claim {
    const ss_frame *frame;
    ss_problem *problem;
} claim;

static int contacts_of(const claim *what)
{
    return what->frame ? what->frame->contacts.count : what->problem->block_count;
}

static bool is_late(const ss_prover *prover)
{
    return ss_clock_seconds() >= prover->deadline;
}

/* Later runs of the session have what the effort and the time limit leave them. */
static void limit(const ss_prover *prover, ss_session *session)
{
    double left = prover->deadline - ss_clock_seconds();
    ss_session_limit(session, prover->effort.stop, isinf(left) ? 0.0 : fmax(left, 1e-9));
}

static const ss_result *solve(ss_prover *prover, int m, const claim *what, ss_error *err)
{
    if (prover->options.begin)
        prover->options.begin(ss_session_solver(prover->session[m])->name, contacts_of(what),
                              prover->options.context);
    limit(prover, prover->session[m]);
    return what->frame ? ss_session_solve(prover->session[m], what->frame, NULL, err)
                       : ss_session_solve_problem(prover->session[m], what->problem, NULL, err);
}

/* Under the convex law: velocities that keep all contacts apart, from the frame with surfaces that approach
 * by a thousandth of their speed. NULL with a message when out of memory. */
static ss_answer *go_inside(const ss_prover *prover, const ss_frame *frame, double speed, ss_error *err)
{
    ss_frame *nearer = ss_frame_copy(frame, err);
    ss_session *session = nearer ? open_session(&prover->options, prover->options.solver, err) : NULL;
    ss_answer *to = NULL;
    if (session) limit(prover, session);
    if (session && ss_frame_enable(nearer, "contacts/surface_velocities", err)) {
        for (int c = 0; c < nearer->contacts.count; c++)
            for (int i = 0; i < 3; i++)
                nearer->contacts.surface_velocity[c][i] -= 1e-3 * speed * nearer->contacts.normal[c][i];
        const ss_result *result = ss_session_solve(session, nearer, NULL, err);
        if (result && result->answer) to = ss_answer_create(frame, ss_frame_has_moments(frame), err);
        if (to) {
            memcpy(to->velocity, result->answer->velocity, (size_t)to->bodies * sizeof *to->velocity);
            if (to->contacts)
                memcpy(to->normal_impulse, result->answer->normal_impulse,
                       (size_t)to->contacts * sizeof *to->normal_impulse);
        }
    }
    ss_session_destroy(session);
    ss_frame_destroy(nearer);
    return to;
}

/* Unknowns of a problem over those that are left once states are known; the latter, as certify allows. */
enum { EXACT_SHARE = 4, MOST_EXACT = 200 };

/* The certificate of an answer under the law of formulation cone or convex, up to `level`. problem and x:
 * what the formulation made of the frame, for level exact; NULL: not tried. */
static ss_certificate *certify_frame(const ss_prover *prover, const ss_frame *frame, const ss_answer *answer,
                                     const ss_step_options *step, bool convex, ss_problem *problem,
                                     const double *x, ss_certificate_level level, ss_error *err)
{
    ss_certify_options options = {.tolerance = prover->options.tolerance,
                                  .exact_unknowns = prover->options.exact_unknowns,
                                  .step = *step,
                                  .law = convex ? SS_LAW_CONVEX : SS_LAW_CONE};
    ss_certificate *own = ss_certify(frame, answer, &options, err);
    if (own && convex && own->level == SS_CERTIFIED_BACKWARD && level >= SS_CERTIFIED_FORWARD) {
        ss_answer *inside = go_inside(prover, frame, own->scale, err);
        options.inside = inside;
        ss_certificate_destroy(own);
        own = inside ? ss_certify(frame, answer, &options, err) : NULL;
        ss_answer_destroy(inside);
    }

    // small ones also exactly, as the problem that was assembled
    bool small = options.exact_unknowns > 0 && problem && !convex &&
                 problem->size <= EXACT_SHARE * options.exact_unknowns;
    if (own && own->level == SS_CERTIFIED_BACKWARD && small && level >= SS_CERTIFIED_EXACT) {
        ss_certificate *exact = ss_certify_problem(problem, x, &options, err);
        if (exact && exact->level == SS_CERTIFIED_EXACT) {
            own->level = SS_CERTIFIED_EXACT;
            own->distance = exact->distance;
        } else if (!exact) {
            ss_certificate_destroy(own);
            own = NULL;
        }
        ss_certificate_destroy(exact);
    }
    return own;
}

/* The certificate of one result: of the frame where the law is Coulomb's or convex, else of the assembled
 * problem, whose laws are lines and boxes. */
static ss_certificate *certify(const ss_prover *prover, int m, const claim *what, const ss_result *result,
                               ss_error *err)
{
    ss_problem *problem = (ss_problem *)(uintptr_t)result->problem;
    ss_assembly *assembly = what->frame ? ss_session_assembly(prover->session[m]) : NULL;
    const char *name = assembly ? ss_assembly_formulation(assembly)->name : "";
    bool convex = strcmp(name, "convex") == 0;
    if (convex || strcmp(name, "cone") == 0)
        return certify_frame(prover, what->frame, result->answer, ss_assembly_step(assembly), convex,
                             result->peg ? NULL : problem, result->x, SS_CERTIFIED_EXACT, err);
    ss_certify_options options = {.tolerance = prover->options.tolerance,
                                  .exact_unknowns = prover->options.exact_unknowns};
    return ss_certify_problem(problem, result->x, &options, err);
}

/* The largest difference of velocities between two answers to a frame, m/s and rad/s. */
static double velocity_difference(const ss_answer *a, const ss_answer *b)
{
    double largest = 0.0;
    for (int k = 0; k < a->bodies; k++)
        for (int i = 0; i < 6; i++) largest = fmax(largest, fabs(a->velocity[k][i] - b->velocity[k][i]));
    return largest;
}

/* The same of two results; without bodies of w = A x + b, which is A times the difference of x. */
static double difference(const claim *what, const ss_result *a, const ss_result *b)
{
    if (what->frame) return velocity_difference(a->answer, b->answer);
    double largest = 0.0;
    const ss_sparse *A = a->problem->A;
    double *w = A ? ss_allocate((size_t)A->rows, sizeof *w) : NULL;
    if (!w) return NAN;
    ss_sparse_apply(A, a->x, 1.0, w);
    ss_sparse_apply(A, b->x, -1.0, w);
    for (int i = 0; i < A->rows; i++) largest = fmax(largest, fabs(w[i]));
    ss_release(w);
    return largest;
}

static const ss_proof *prove(ss_prover *prover, const claim *what, ss_error *err)
{
    ss_proof *proof = &prover->proof;
    ss_certificate_destroy(prover->certificate);
    prover->certificate = NULL;
    *proof = (ss_proof){0};
    prover->effort = ss_effort_for(prover->options.thorough ? 0 : contacts_of(what));
    prover->deadline =
        prover->options.time_limit > 0.0 ? ss_clock_seconds() + prover->options.time_limit : INFINITY;

    // one method after the other, until one is certified; the smallest bound is kept
    int best = -1;
    for (int m = 0; m < prover->effort.methods &&
                    (best < 0 || prover->certificate->level < SS_CERTIFIED_BACKWARD) && !proof->late;
         m++) {
        const ss_result *result = solve(prover, m, what, err);
        if (!result) return NULL;
        if (result->refusal) continue;
        ss_certificate *own = certify(prover, m, what, result, err);
        if (!own) return NULL;
        bool better = best < 0 || own->level > prover->certificate->level ||
                      fmax(own->bound, own->joint_bound) <
                          fmax(prover->certificate->bound, prover->certificate->joint_bound);
        if (better) {
            ss_certificate_destroy(prover->certificate);
            prover->certificate = own;
            proof->result = result;
            proof->assembly = what->frame ? ss_session_assembly(prover->session[m]) : NULL;
            best = m;
        } else {
            ss_certificate_destroy(own);
        }
        proof->late = is_late(prover);
    }
    if (best < 0) return proof;
    const char *solver = ss_session_solver(prover->session[best])->name;
    snprintf(prover->certificate->solver, sizeof prover->certificate->solver, "%s", solver);
    proof->certificate = prover->certificate;

    // the first method of another family that solves it
    ss_certificate *own = prover->certificate;
    bool compared = prover->effort.compared && !prover->options.alone;
    for (int m = 1; compared && m < METHODS && !own->second[0] && !proof->late; m++) {
        const ss_solver *other = ss_session_solver(prover->session[m]);
        if (m == best || ss_solver_same(other->name, solver)) continue;
        const ss_result *result = solve(prover, m, what, err);
        if (!result) return NULL;
        proof->late = is_late(prover);
        if (result->refusal || !(result->run.gauge[SS_GAUGE_RELATIVE_ENERGY] < 1e-6)) continue;
        snprintf(own->second, sizeof own->second, "%s", other->name);
        own->agreed = difference(what, proof->result, result);
    }
    if (own->level < SS_CERTIFIED_AGREED && own->agreed <= SS_AGREED_SHARE * own->scale)
        own->level = SS_CERTIFIED_AGREED;
    if (own->level < SS_CERTIFIED_MEASURED &&
        proof->result->run.gauge[SS_GAUGE_RELATIVE_ENERGY] < SS_MEASURED_ERROR)
        own->level = SS_CERTIFIED_MEASURED;
    return proof;
}

const ss_proof *ss_prove_frame(ss_prover *prover, const ss_frame *frame, ss_error *err)
{
    return prove(prover, &(claim){.frame = frame}, err);
}

const ss_proof *ss_prove_problem(ss_prover *prover, ss_problem *problem, ss_error *err)
{
    return prove(prover, &(claim){.problem = problem}, err);
}

/* ---- answers from elsewhere -------------------------------------------------------------------------- */

ss_certificate *ss_prove_answer(const ss_prover_options *options, const ss_frame *frame,
                                const ss_answer *answer, ss_certificate_level level, ss_error *err)
{
    ss_prover prover = {.options = {.formulation = options->formulation,
                                    .with = options->with,
                                    .tolerance = options->tolerance},
                        .effort = ss_effort_for(frame->contacts.count),
                        .deadline = INFINITY};
    ss_request request = {.formulation = options->formulation, .with = options->with};
    ss_method method;
    if (!ss_method_prepare(&request, &method, NULL, err)) return NULL;
    ss_assembly *assembly = ss_assembly_create(method.formulation, method.formulation_options, err);
    bool convex = strcmp(method.formulation->name, "convex") == 0;

    // rational numbers need the problem, and the unknowns that the answer was made of
    ss_problem *problem = NULL;
    double *x = NULL;
    bool good = assembly != NULL;
    if (good && level == SS_CERTIFIED_EXACT && !convex) {
        good = ss_assemble(assembly, frame, NULL, err);
        problem = good ? ss_assembly_problem(assembly) : NULL;
        x = problem ? ss_allocate((size_t)problem->size, sizeof *x) : NULL;
        if (problem && !x) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a proof");
        if (x) ss_assembly_guess(assembly, answer, x);
        prover.options.exact_unknowns = MOST_EXACT;
    }
    ss_certificate *own = good ? certify_frame(&prover, frame, answer, ss_assembly_step(assembly), convex,
                                               problem, x, level, err)
                               : NULL;
    ss_release(x);
    ss_assembly_destroy(assembly);
    ss_method_free(&method);
    return own;
}

bool ss_prover_compare(const ss_prover_options *options, const char *solver, const ss_frame *frame,
                       const ss_answer *answer, double *agreed, ss_error *err)
{
    ss_session *session = open_session(options, solver, err);
    if (!session) return false;
    ss_session_limit(session, ss_effort_for(0).stop, 0.0);
    const ss_result *result = ss_session_solve(session, frame, NULL, err);
    bool good = result != NULL;
    *agreed = good && !result->refusal ? velocity_difference(answer, result->answer) : NAN;
    ss_session_destroy(session);
    return good;
}
