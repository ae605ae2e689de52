#include "conformance/checks.h"

#include "conformance/catalogue.h"
#include "conformance/faults.h"
#include "plugin/plugin_set.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 30, MIXTURES = 200, QUICK = 10 };

/* One case while it is examined. */
typedef struct trial {
    const ss_check_setup *setup;
    int problem;  /* of the catalogue; -1: none */
    ss_known *of; /* NULL: the check needs none */
    ss_check_result *result;
} trial;

/* ---- what comes of it ------------------------------------------------------------------------------- */

/* The first fault counts. Returns false, so that a check ends with `return fail(...)`. */
static bool SS_PRINTF(3, 4) fail(trial *t, double error, const char *format, ...)
{
    if (t->result->outcome == SS_CHECK_FAILED) return false;
    va_list words;
    t->result->outcome = SS_CHECK_FAILED;
    t->result->error = error;
    va_start(words, format);
    vsnprintf(t->result->message, sizeof t->result->message, format, words);
    va_end(words);
    return false;
}

static bool nothing(trial *t)
{
    t->result->outcome = SS_CHECK_NOTHING;
    return false;
}

static ss_run_options usual(const trial *t)
{
    ss_run_options run = ss_attempt_run(t->of);
    run.max_iterations = t->setup->iterations;
    return run;
}

/* A run whose answer must not be wrong; `when` says what was special about it. False: go no further. */
static bool attempt(trial *t, const ss_run_options *run, const void *options, double *x, const char *when,
                    ss_attempt *a)
{
    *a = ss_attempt_make(t->setup, t->of, run, options, x);
    t->result->status = a->result.status;
    t->result->iterations = a->result.iterations;
    t->result->error = a->verdict.worst;

    if (a->end == SS_ATTEMPT_REFUSED) {
        t->result->outcome = SS_CHECK_NOT_APPLICABLE;
        snprintf(t->result->message, sizeof t->result->message, "%s", a->note);
        return false;
    }
    if (a->result.status == SS_CANCELLED && t->setup->cancel && *t->setup->cancel) {
        t->result->late = true;
        return fail(t, NAN, "%stoo slow: stopped after %d iterations", when, a->result.iterations);
    }

    // In the order of their weight: the first fault counts.
    if (a->end == SS_ATTEMPT_BROKEN)
        return fail(t, NAN, "%sthe call failed, or x is not finite: %s", when, a->note);
    if ((unsigned)a->said > SS_FAILED)
        return fail(t, NAN, "%sreturned status %d, which does not exist", when, (int)a->said);
    if (a->end == SS_ATTEMPT_LIED)
        return fail(t, a->verdict.worst, "%ssays converged, but %s at unknown %d, by %.2g of the load", when,
                    t->of->unsolvable ? "no solution exists" : a->verdict.what, a->verdict.unknown,
                    a->verdict.worst);
    if (a->said == SS_CONVERGED && t->of->unsolvable)
        return fail(t, a->verdict.worst, "%sreturns converged, but no solution exists", when);
    if (a->no_ray) return fail(t, NAN, "%ssays ray, but its ray %s", when, a->no_ray);
    return true;
}

static bool give_up(trial *t, const ss_attempt *a, const char *when)
{
    return fail(t, a->verdict.worst, "%s%s after %d iterations, %s at unknown %d, by %.2g of the load%s%s",
                when, ss_status_name(a->result.status), a->result.iterations, a->verdict.what,
                a->verdict.unknown, a->verdict.worst, a->note[0] ? ": " : "", a->note);
}

static double *room_for_x(trial *t)
{
    double *x = ss_allocate((size_t)t->of->problem->size, sizeof *x);
    if (!x) fail(t, NAN, "out of memory");
    return x;
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static bool check_solves(trial *t)
{
    ss_attempt a;
    ss_run_options run = usual(t);
    if (!attempt(t, &run, NULL, NULL, "", &a)) return false;
    if (a.said == SS_CONVERGED && !(a.verdict.worst <= SS_CHECK_HONEST))
        return fail(t, a.verdict.worst, "returns converged, but %s at unknown %d, by %.2g of the load",
                    a.verdict.what, a.verdict.unknown, a.verdict.worst);
    if (a.end == SS_ATTEMPT_GAVE_UP && !t->of->unsolvable && !t->of->any_end) return give_up(t, &a, "");
    return true;
}

static bool check_agrees(trial *t)
{
    if (!(t->of->agreement > 0.0)) return nothing(t);

    ss_attempt a;
    ss_run_options run = usual(t);
    double *x = room_for_x(t);
    long double *w = x ? ss_allocate((size_t)t->of->problem->size, sizeof *w) : NULL;
    if (w && attempt(t, &run, NULL, x, "", &a)) {
        ss_independent_w(t->of->problem, x, w);
        long double scale = ss_independent_load(t->of->problem);
        for (int i = 0; a.end == SS_ATTEMPT_SOLVED && i < t->of->problem->size; i++) {
            long double root = sqrtl(ss_independent_inverse_mass(t->of->problem, i));
            double off = (double)(fabsl(w[i] - t->of->w[i]) / root / scale);
            if (!(off <= t->of->agreement))
                fail(t, off, "w[%d] differs from the only one that is right, by %.2g of the load", i, off);
        }

        if (a.end != SS_ATTEMPT_SOLVED) nothing(t); // the check before has said so
    }
    ss_release(x);
    ss_release(w);
    return true;
}

/* Few iterations: a method that does not converge is not blamed, one that claims to is. Methods that end on
 * their own have to solve what is well conditioned; a fixed point of coupled bounds need not be reached. */
static bool check_claims(trial *t)
{
    ss_attempt a;
    ss_run_options run = usual(t);
    run.max_iterations = 1000;
    if (!attempt(t, &run, NULL, NULL, "", &a)) return false;
    bool must = t->setup->solver->traits & SS_EXACT && !(ss_problem_laws(t->of->problem) & SS_LAW_COUPLED);
    if (a.end == SS_ATTEMPT_GAVE_UP && must) return give_up(t, &a, "");
    return true;
}

/* ---- starts ----------------------------------------------------------------------------------------- */

/* Some methods look only after the first step, and coupled bounds may be looked at twice. */
static bool check_warm_start(trial *t)
{
    enum { MOST = 3 };
    if (!(t->setup->solver->traits & SS_WARM_STARTS) || !t->of->x) return nothing(t);
    ss_attempt a;
    ss_run_options run = usual(t);
    double *x = room_for_x(t);
    if (x && t->of->problem->size > 0) memcpy(x, t->of->x, (size_t)t->of->problem->size * sizeof *x);
    if (x && attempt(t, &run, NULL, x, "from the solution: ", &a)) {
        if (a.end != SS_ATTEMPT_SOLVED) give_up(t, &a, "from the solution: ");
        if (a.result.iterations > MOST)
            fail(t, a.verdict.worst, "%d iterations from the solution", a.result.iterations);
    }
    ss_release(x);
    return true;
}

static bool check_far_start(trial *t)
{
    ss_attempt a;
    ss_random random = ss_random_start(99, 0);
    ss_run_options run = usual(t);
    run.max_iterations = 500;
    double *x = room_for_x(t);
    for (int i = 0; x && i < t->of->problem->size; i++) x[i] = 1e6 * ss_random_normal(&random);
    if (x) attempt(t, &run, NULL, x, "from far away: ", &a);
    ss_release(x);
    return true;
}

/* ---- ends ------------------------------------------------------------------------------------------- */

static bool check_iteration_limit(trial *t)
{
    static const int limits[] = {0, 1, 3};
    for (int k = 0; k < 3; k++) {
        ss_attempt a;
        ss_run_options run = usual(t);
        run.max_iterations = limits[k];
        if (!attempt(t, &run, NULL, NULL, "few iterations: ", &a)) return false;
        // one call more is how a method learns that a limit of zero is zero
        if (a.result.iterations > (limits[k] ? limits[k] : 1))
            return fail(t, NAN, "limit of %d iterations, took %d", limits[k], a.result.iterations);
    }
    return true;
}

/* A rule that never holds: only the limit can end it, or the method on its own. A second is what a loaded
 * machine may take away from one iteration; where it takes more, the second try is another chance. */
static bool check_time_limit(trial *t)
{
    ss_attempt a;
    ss_run_options run = {.max_iterations = 1000000000, .time_limit = 1e-3, .seed = 1};
    double took = INFINITY;
    for (int try = 0; try < 2 && !(took < 1.0); try++) {
        double began = ss_clock_seconds();
        if (!attempt(t, &run, NULL, NULL, "time limit of 1 ms: ", &a)) return false;
        took = ss_clock_seconds() - began;
    }
    return took < 1.0 || fail(t, NAN, "time limit of 1 ms, took %.2g s", took);
}

static bool check_cancel(trial *t)
{
    static const volatile int now = 1;
    ss_check_setup setup = *t->setup;
    setup.cancel = &now;
    ss_run_options run = {.max_iterations = 1000000, .seed = 1};
    ss_attempt a = ss_attempt_make(&setup, t->of, &run, NULL, NULL);
    t->result->status = a.result.status;
    t->result->iterations = a.result.iterations;
    if (a.end == SS_ATTEMPT_REFUSED) {
        t->result->outcome = SS_CHECK_NOT_APPLICABLE;
        return false;
    }

    if (a.end == SS_ATTEMPT_BROKEN) return fail(t, NAN, "cancelled: the call failed, or x is not finite");
    if (a.result.iterations > 1)
        return fail(t, NAN, "cancelled, but made %d iterations more", a.result.iterations);

    bool ended_by_itself = a.result.iterations == 0 || t->setup->solver->traits & SS_EXACT;
    if (a.result.status != SS_CANCELLED && !ended_by_itself)
        return fail(t, NAN, "cancelled, but says %s", ss_status_name(a.result.status));
    return true;
}

/* De Saxce's map sees contacts only: where there are other rows, what is best by it is so by the relative
 * energy, too. */
static double kept_by(const trial *t, int gauge, const double *values)
{
    bool has_others = ss_problem_laws(t->of->problem) & ~(unsigned)(SS_LAW_CONE | SS_LAW_CONVEX);
    bool both = gauge == SS_GAUGE_NATURAL_MAP && has_others;
    return both ? fmax(values[gauge], values[SS_GAUGE_RELATIVE_ENERGY]) : values[gauge];
}

/* The solver's own w may differ from A x + b by rounding. */
static bool check_best_iterate(trial *t)
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        ss_attempt last, best;
        ss_run_options run = {.max_iterations = 7, .seed = 1};
        if (!attempt(t, &run, NULL, NULL, "", &last)) return false;
        run.keep = (ss_keep_rule){SS_KEEP_BEST, (ss_gauge)g};
        if (!attempt(t, &run, NULL, NULL, "", &best)) return false;
        double before = kept_by(t, g, last.result.gauge), after = kept_by(t, g, best.result.gauge);
        if (after > before * (1.0 + 1e-6) + 1e-12)
            return fail(t, NAN, "the best iterate has %s %.6g, the last one had %.6g",
                        ss_gauge_name((ss_gauge)g), after, before);
    }
    return true;
}

/* ---- the same question, the same answer ------------------------------------------------------------- */

static bool check_repeatable(trial *t)
{
    ss_attempt one, two;
    ss_run_options run = usual(t);
    run.max_iterations = 100;
    double *first = room_for_x(t), *second = first ? room_for_x(t) : NULL;
    if (second && attempt(t, &run, NULL, first, "", &one) && attempt(t, &run, NULL, second, "", &two)) {
        for (int i = 0; i < t->of->problem->size; i++) {
            if (memcmp(&first[i], &second[i], sizeof *first) != 0)
                fail(t, fabs(first[i] - second[i]), "two equal runs differ: x[%d] by %.2g", i,
                     fabs(first[i] - second[i]));
        }
        if (one.result.iterations != two.result.iterations || one.result.status != two.result.status)
            fail(t, NAN, "two equal runs differ: %d iterations and %d", one.result.iterations,
                 two.result.iterations);
    }

    ss_release(first);
    ss_release(second);
    return true;
}

static bool solve_by_team(trial *t, ss_team *team, double *x)
{
    ss_run_options run = usual(t);
    run.max_iterations = 50;
    ss_solve_result result = {0};
    ss_error err = {0};
    bool good = ss_solve(&(ss_solve_request){.solver = t->setup->solver,
                                             .problem = t->of->problem,
                                             .run = &run,
                                             .team = team,
                                             .cancel = t->setup->cancel},
                         x, &result, &err);
    t->result->status = result.status;
    t->result->iterations = result.iterations;
    if (good && result.status == SS_NOT_APPLICABLE) t->result->outcome = SS_CHECK_NOT_APPLICABLE;
    if (!good) fail(t, NAN, "%s", err.message);
    ss_solve_result_free(&result);
    return good && t->result->outcome == SS_CHECK_PASSED;
}

static bool check_team(trial *t)
{
    double *alone = room_for_x(t), *shared = alone ? room_for_x(t) : NULL;
    ss_team *team = shared ? ss_team_create(2, NULL) : NULL;
    if (team && solve_by_team(t, NULL, alone) && solve_by_team(t, team, shared) &&
        memcmp(alone, shared, (size_t)t->of->problem->size * sizeof *alone) != 0)
        fail(t, NAN, "a team of two gives a different answer from one thread");
    ss_team_destroy(team);
    ss_release(alone);
    ss_release(shared);
    return true;
}

/* Several runs of one solver at once, as simulations make them for their islands. */
typedef struct crowd {
    trial *of;
    const double *expected;
    int wrong[4];
} crowd;

static void solve_in_crowd(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    crowd *c = context;
    for (int64_t k = begin; k < end; k++) {
        ss_check_result result = {.outcome = SS_CHECK_PASSED};
        trial own = {c->of->setup, c->of->problem, c->of->of, &result};
        double *x = room_for_x(&own);
        c->wrong[k] = !x || !solve_by_team(&own, NULL, x) ||
                      memcmp(x, c->expected, (size_t)own.of->problem->size * sizeof *x) != 0;
        ss_release(x);
    }
}

static bool check_concurrent(trial *t)
{
    if (t->setup->solver->traits & SS_ONE_THREAD) return nothing(t);
    double *alone = room_for_x(t);
    ss_team *team = alone ? ss_team_create(2, NULL) : NULL;
    if (team && solve_by_team(t, NULL, alone)) { // which also makes the matrix
        crowd c = {.of = t, .expected = alone};
        ss_parallel_for(team, 4, 1, solve_in_crowd, &c);
        if (c.wrong[0] || c.wrong[1] || c.wrong[2] || c.wrong[3])
            fail(t, NAN, "two threads that solve at once get a different answer from one");
    }
    ss_team_destroy(team);
    ss_release(alone);
    return true;
}

/* ---- other observers, other units ------------------------------------------------------------------- */

static bool check_turned(trial *t)
{
    bool there;
    ss_known turned;
    ss_attempt plain, other;
    ss_error err;
    if (!ss_known_make_turned(t->problem, &there, &turned, &err)) return fail(t, NAN, "%s", err.message);
    if (!there) return nothing(t);

    ss_run_options run = usual(t);
    double *x = room_for_x(t), *y = x ? room_for_x(t) : NULL;
    ss_known *kept = t->of;
    if (y && attempt(t, &run, NULL, x, "", &plain)) {
        t->of = &turned;
        if (plain.end != SS_ATTEMPT_SOLVED)
            nothing(t);
        else if (attempt(t, &run, NULL, y, "turned: ", &other) && other.end != SS_ATTEMPT_SOLVED)
            give_up(t, &other, "turned: ");

        // One contact is solved in one way only: two runs to 1e-8 each may differ by 1e-5.
        double most = 0.0;
        for (int i = 0; i < kept->problem->size; i++) most = fmax(most, fabs(x[i]));
        for (int i = 0;
             t->result->outcome == SS_CHECK_PASSED && kept->problem->size <= 3 && i < kept->problem->size;
             i++) {
            if (!(fabs(x[i] - y[i]) <= 1e-5 * most))
                fail(t, fabs(x[i] - y[i]) / most, "turned: x[%d] is %.9g, was %.9g", i, y[i], x[i]);
        }
        t->of = kept;
    }
    ss_known_free(&turned);
    ss_release(x);
    ss_release(y);
    return true;
}

static void scale(double *values, size_t count, double factor)
{
    for (size_t i = 0; i < count; i++) values[i] *= factor;
}

/* The same problem in other units: velocities times `speed`, inverse masses times `lightness`. */
static void change_units(ss_problem *problem, double speed, double lightness)
{
    size_t n = (size_t)problem->size;
    scale(problem->b, n, speed);
    scale(problem->lower, n, speed / lightness);
    scale(problem->upper, n, speed / lightness);
    scale(problem->diagonal, n, lightness);
    if (problem->A) scale(problem->A->value, (size_t)problem->A->start[n], lightness);
    ss_bodies_form *form = problem->bodies;
    if (!form) return;
    scale(form->inverse_mass, (size_t)form->bodies, lightness);
    scale(form->compliance, n, lightness);
    scale(form->offset, n, speed);
    for (int b = 0; b < form->bodies; b++) {
        scale(form->inverse_inertia[b], 9, lightness);
        scale(form->free_velocity[b], 6, speed);
    }
}

static bool is_relative(const ss_known *of)
{
    return strcmp(of->stop, SS_KNOWN_STOP) == 0;
}

/* Powers of two change no digit of the problem. */
static bool check_units(trial *t)
{
    static const double units[][2] = {{0x1p20, 1.0}, {0x1p-20, 1.0}, {1.0, 0x1p20}, {1.0, 0x1p-20}};
    if (!is_relative(t->of)) return nothing(t); // an absolute rule knows no other units
    ss_attempt a;
    ss_run_options run = usual(t);
    if (!attempt(t, &run, NULL, NULL, "", &a)) return false;
    if (a.end != SS_ATTEMPT_SOLVED) return nothing(t);

    int before = a.result.iterations;
    for (int k = 0; k < 4; k++) {
        char when[80];
        snprintf(when, sizeof when, "%s times 2^%s: ", k < 2 ? "velocities" : "inverse masses",
                 k % 2 ? "-20" : "20");
        change_units(t->of->problem, units[k][0], units[k][1]);
        bool good = attempt(t, &run, NULL, NULL, when, &a);
        change_units(t->of->problem, 1.0 / units[k][0], 1.0 / units[k][1]);
        if (!good) return false;
        if (a.end != SS_ATTEMPT_SOLVED) return give_up(t, &a, when);
    }
    t->result->iterations = before;
    return true;
}

/* Squares of these stay in range. */
static bool check_loads(trial *t)
{
    static const double factors[] = {0x1p-300, 0x1p300};
    if (!is_relative(t->of)) return nothing(t);
    for (int k = 0; k < 2; k++) {
        ss_attempt a;
        ss_run_options run = usual(t);
        run.max_iterations = 100;
        scale(t->of->problem->b, (size_t)t->of->problem->size, factors[k]);
        bool good = attempt(t, &run, NULL, NULL, k ? "load times 2^300: " : "load times 2^-300: ", &a);
        scale(t->of->problem->b, (size_t)t->of->problem->size, 1.0 / factors[k]);
        if (!good) return false;
    }
    return true;
}

static bool check_massless(trial *t)
{
    if (is_relative(t->of)) return nothing(t);
    ss_attempt a;
    ss_run_options run = usual(t);
    ss_stop_rule_parse(SS_KNOWN_STOP, &run.stop, NULL);
    return attempt(t, &run, NULL, NULL, "stopped by energy: ", &a);
}

static bool check_not_a_number(trial *t)
{
    if (t->of->problem->size == 0) return nothing(t);
    double kept = t->of->problem->b[0];
    ss_run_options run = usual(t);
    run.max_iterations = 100;
    t->of->problem->b[0] = NAN;
    ss_attempt a = ss_attempt_make(t->setup, t->of, &run, NULL, NULL);
    t->of->problem->b[0] = kept;
    t->result->status = a.result.status;
    t->result->iterations = a.result.iterations;
    if (a.end == SS_ATTEMPT_REFUSED) t->result->outcome = SS_CHECK_NOT_APPLICABLE;
    if (a.result.status == SS_CONVERGED) return fail(t, NAN, "converged on a load that is not a number");
    return true;
}

/* ---- its place in the program ----------------------------------------------------------------------- */

static bool is_sample(int problem)
{
    static const char *const samples[] = {"mlcp of bodies",        "lcp unsymmetric", "coupled",
                                          "cone redundant",        "convex rolling",  "every law",
                                          "block, Stewart-Trinkle"};
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        if (strcmp(samples[k], ss_known_name(problem)) == 0) return true;
    }
    return false;
}

/* Fails each request in turn. A problem without its matrix is made again, so that making it can fail, too. */
static bool check_memory(trial *t)
{
    if (!is_sample(t->problem) || ss_is_solver_command(t->setup->solver)) return nothing(t);
    if (ss_solver_refusal(t->setup->solver, t->of->problem)) {
        t->result->outcome = SS_CHECK_NOT_APPLICABLE;
        return false;
    }

    // The n-th request for memory fails, until a run makes fewer.
    for (long n = 1; n < 1000 && !(t->setup->cancel && *t->setup->cancel); n++) {
        ss_known of;
        ss_error err = {0};
        if (!ss_known_make(t->problem, &of, &err)) return fail(t, NAN, "%s", err.message);
        double *x = room_for_x(t);
        ss_sparse *A = of.problem->A;
        ss_run_options run = usual(t);
        run.max_iterations = 50;
        ss_solve_result result = {0};

        faults_start(n);
        bool good = x && ss_solve(&(ss_solve_request){.solver = t->setup->solver,
                                                      .problem = of.problem,
                                                      .run = &run,
                                                      .cancel = t->setup->cancel},
                                  x, &result, &err);
        ss_solve_result_free(&result);
        long left = faults.live - (of.problem->A != A ? 4 : 0); // a matrix is four blocks
        bool reached = faults_stop();
        t->result->status = result.status;
        t->result->iterations = result.iterations;

        // Nothing may be left behind, and nothing may be claimed that does not hold.
        if (left != 0) fail(t, NAN, "request %ld for memory failed: %ld blocks are left behind", n, left);
        if (!good && !err.code) fail(t, NAN, "request %ld for memory failed: no reason given", n);
        for (int i = 0; x && i < of.problem->size; i++)
            if (!isfinite(x[i])) fail(t, NAN, "request %ld for memory failed: x is not finite", n);
        if (good && result.status == SS_CONVERGED &&
            !(ss_independent_judge(of.problem, x).worst <= SS_CHECK_HONEST))
            fail(t, NAN, "request %ld for memory failed: says converged", n);

        ss_release(x);
        ss_known_free(&of);
        if (!reached || t->result->outcome == SS_CHECK_FAILED) break;
    }
    return true;
}

/* One option at an end of its range, or one of its choices. */
static bool try_option(trial *t, const ss_option *option, const char *value, void *options)
{
    ss_attempt a;
    char when[100];
    const ss_option *table = t->setup->solver->options;
    ss_run_options run = usual(t);
    run.max_iterations = 100;
    run.time_limit = 0.2; // s: ends of ranges may be work without end, and are not asked to solve anything
    ss_options_defaults(table, options);
    if (!ss_options_set(table, options, option->name, value, NULL)) return true;
    snprintf(when, sizeof when, "%.40s=%.40s: ", option->name, value);
    return attempt(t, &run, options, NULL, when, &a);
}

static bool check_options(trial *t)
{
    const ss_solver *solver = t->setup->solver;
    if (!is_sample(t->problem) || !solver->options || !solver->options->name) return nothing(t);
    void *options = ss_allocate(1, solver->options_size);
    bool good = options != NULL;

    // Both ends of each range, and every choice.
    for (const ss_option *option = solver->options; good && option->name; option++) {
        char value[64];
        switch (option->type) {
        case SS_OPTION_BOOL:
            good = try_option(t, option, "true", options) && try_option(t, option, "false", options);
            break;
        case SS_OPTION_INT:
        case SS_OPTION_REAL:
            if (option->min == 0.0 && option->max == 0.0) break; // any value: there is no end to try
            snprintf(value, sizeof value, "%.17g", option->min);
            good = try_option(t, option, value, options);
            snprintf(value, sizeof value, "%.17g", option->max);
            good = good && try_option(t, option, value, options);
            break;
        case SS_OPTION_CHOICE:
            for (const char *at = option->choices; good && at;) {
                size_t length = strcspn(at, "|");
                snprintf(value, sizeof value, "%.*s", (int)length, at);
                good = try_option(t, option, value, options);
                at = at[length] ? at + length + 1 : NULL;
            }
            break;
        case SS_OPTION_TEXT:
        case SS_OPTION_LIST:
            break;
        }
    }

    ss_release(options);
    return good;
}

static bool check_inside(trial *t)
{
    ss_run_options run = usual(t);
    run.max_iterations = 5;
    ss_attempt a = ss_attempt_make(t->setup, t->of, &run, NULL, NULL);
    t->result->status = a.result.status;
    t->result->iterations = a.result.iterations;
    if (a.end == SS_ATTEMPT_REFUSED) t->result->outcome = SS_CHECK_NOT_APPLICABLE;
    if (a.outside > 0)
        return fail(t, NAN, "writes outside x: %d numbers before its first or after its last", a.outside);
    if (a.touched) return fail(t, NAN, "changes the problem, which is not its own");
    return true;
}

static bool is_empty(const char *text)
{
    return !text || !*text;
}

static bool check_descriptor(trial *t)
{
    const ss_solver *solver = t->setup->solver;
    const unsigned known = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX;
    if (is_empty(solver->summary)) return fail(t, NAN, "no summary: what is it?");
    if (strchr(solver->summary, '\n')) return fail(t, NAN, "the summary has more than one line");
    if (is_empty(solver->weakness)) return fail(t, NAN, "no weakness: when does it fail?");
    if (!(solver->laws & known) || solver->laws & ~known)
        return fail(t, NAN, "laws are %u: none, or one that does not exist", solver->laws);

    void *options = solver->options ? ss_allocate(1, solver->options_size) : NULL;
    ss_error err = {0};
    for (const ss_option *option = solver->options; option && option->name; option++) {
        if (is_empty(option->help)) fail(t, NAN, "option %s has no help", option->name);
        if (option->offset >= solver->options_size)
            fail(t, NAN, "option %s is outside its struct (options_size)", option->name);
    }

    if (options && t->result->outcome == SS_CHECK_PASSED) {
        ss_options_defaults(solver->options, options);
        if (!ss_options_check(solver->options, options, &err)) fail(t, NAN, "defaults: %s", err.message);
    }
    ss_release(options);
    return true;
}

/* ---- the list --------------------------------------------------------------------------------------- */

typedef enum scope { CATALOGUE, OTHER_SEEDS, OTHER_MIXTURES, ONCE } scope;

static const struct {
    ss_check check;
    scope scope;
    bool (*run)(trial *t);
} checks[] = {
    {{"solves", "right, or admitted not to be",
      "The answer is judged by a residual that shares no code with any solver: bounds, signs, "
      "complementarity, cones. Problems without a solution must not be called solved, and a ray must "
      "be one. Returning converged with a wrong answer is the worst fault of all; not converging is "
      "honest, and goes into the list of expected failures with its reason."},
     CATALOGUE,
     check_solves},
    {{"agrees", "unique velocities are found",
      "Where only one w solves the problem the answer is known, by hand or because it was planted. A "
      "difference means that another problem was solved: a wrong law, a dropped block, a wrong sign."},
     CATALOGUE,
     check_agrees},
    {{"seeds", "the same with other numbers",
      "Other seeds of every kind of problem, 1000 iterations. Methods with the trait exact have to "
      "solve them, others only have to be honest. A failure that depends on the seed is often a pivot, a "
      "division or a degenerate contact."},
     OTHER_SEEDS,
     check_claims},
    {{"mixtures", "the same with mixed laws",
      "Random laws side by side on random matrices, friction from 0 to infinite. Finds blocks that are "
      "handled in the wrong order or at the wrong offset."},
     OTHER_MIXTURES,
     check_claims},
    {{"warm-start", "ends at once at the solution",
      "Only with the trait warm starts. A failure means that the start is ignored or disturbed, or that "
      "the first look at the stop rule comes too late: simulations pay for that at every step."},
     CATALOGUE,
     check_warm_start},
    {{"far-start", "a start of 1e6 is survived",
      "A bad guess may cost iterations. It must not end in overflow, or in a claim."},
     CATALOGUE,
     check_far_start},
    {{"iteration-limit", "no iteration too many",
      "ss_run_iteration returned false: the method has to return then. One that has inner loops calls it "
      "in the outer one, once per iteration."},
     CATALOGUE,
     check_iteration_limit},
    {{"time-limit", "a limit of 1 ms is kept",
      "Long iterations ask ss_run_late in the middle. Simulators in real time and campaigns depend on it."},
     CATALOGUE,
     check_time_limit},
    {{"cancel", "ends soon when cancelled",
      "Ctrl-C, watchers and time limits of campaigns come as a cancellation."},
     CATALOGUE,
     check_cancel},
    {{"best-iterate", "best is no worse than last",
      "With --keep best:GAUGE the driver keeps what ss_run_iteration was shown. A failure means that "
      "the x shown or its w is not the one of that iteration."},
     CATALOGUE,
     check_best_iterate},
    {{"repeatable", "two equal runs, equal bits",
      "A solver is a function of problem, options, start and seed. Globals, memory that is not set, "
      "clocks and random numbers without the run's seed break that, and with it every comparison."},
     CATALOGUE,
     check_repeatable},
    {{"team", "two threads, equal bits",
      "run->team may be NULL or of any size. Sums in an order that depends on the number of threads "
      "fail here."},
     CATALOGUE,
     check_team},
    {{"concurrent", "runs at once do not disturb",
      "Simulations solve islands on several threads. A solver with globals needs the trait SS_ONE_THREAD."},
     CATALOGUE,
     check_concurrent},
    {{"turned", "a turned world moves alike",
      "The same bodies seen by another observer. A failure means that an axis of the world is preferred."},
     CATALOGUE,
     check_turned},
    {{"units", "other units change nothing",
      "Powers of two change no digit. A failure means a constant with a unit in the code: 1e-8 m/s, "
      "1e-12 kg, a regularisation that does not scale with the diagonal."},
     CATALOGUE,
     check_units},
    {{"loads", "extreme loads are survived",
      "b times 2^300 and 2^-300: squares stay in range, fourth powers do not."},
     CATALOGUE,
     check_loads},
    {{"massless", "rows without mass are seen",
      "The sliding speeds of Stewart and Trinkle have a zero on the diagonal: dividing by it, or leaving "
      "such rows out of the error, fails here."},
     CATALOGUE,
     check_massless},
    {{"not-a-number", "NaN is not called solved",
      "Comparisons with NaN are false: a loop that runs while an error is above a limit ends at once, and "
      "claims success."},
     CATALOGUE,
     check_not_a_number},
    {{"memory", "lack of memory is reported",
      "Every request fails once. ss_arena_take returns NULL then: the method returns SS_FAILED, and "
      "takes memory from its arena only, so that nothing is left behind."},
     CATALOGUE,
     check_memory},
    {{"options", "ends of ranges do no harm",
      "Each option at its least and greatest value and at each of its choices. What cannot work should "
      "be out of range."},
     CATALOGUE,
     check_options},
    {{"inside", "writes to x and nowhere else",
      "Numbers before and after x are watched, and the arrays of the problem compared. Under valgrind or the "
      "address sanitizer more is found."},
     CATALOGUE,
     check_inside},
    {{"descriptor", "says what it is and needs",
      "Summary, weakness, laws, and options with help and valid defaults: they are the help, the lists "
      "and the reports."},
     ONCE,
     check_descriptor},
};

int ss_check_count(void)
{
    return sizeof checks / sizeof *checks;
}

const ss_check *ss_check_at(int index)
{
    return &checks[index].check;
}

int ss_check_find(const char *name)
{
    for (int i = 0; i < ss_check_count(); i++) {
        if (strcmp(checks[i].check.name, name) == 0) return i;
    }
    return -1;
}

/* ---- cases ------------------------------------------------------------------------------------------ */

int ss_check_cases(int check, const ss_check_setup *setup)
{
    int share = setup->quick ? QUICK : 1;
    switch (checks[check].scope) {
    case CATALOGUE:
        return ss_known_count();
    case OTHER_SEEDS:
        return ss_known_recipes() * (SEEDS / share);
    case OTHER_MIXTURES:
        return MIXTURES / share;
    case ONCE:
        break;
    }
    return 1;
}

int ss_check_case_problem(int check, const ss_check_setup *setup, int index)
{
    switch (checks[check].scope) {
    case CATALOGUE:
        return index;
    case OTHER_SEEDS:
        return index / (setup->quick ? SEEDS / QUICK : SEEDS);
    case OTHER_MIXTURES:
    case ONCE:
        break;
    }
    return -1;
}

/* The recipe of a case with another seed; letters: room for the name of a mixture. */
static ss_recipe other_recipe(int check, const ss_check_setup *setup, int index, char letters[16])
{
    if (checks[check].scope == OTHER_MIXTURES)
        return ss_known_mixture(setup->seed + (uint64_t)index, letters);
    int seeds = setup->quick ? SEEDS / QUICK : SEEDS;
    ss_recipe recipe = *ss_known_recipe(index / seeds);
    recipe.seed = setup->seed + (uint64_t)(index % seeds);
    return recipe;
}

void ss_check_case_name(int check, const ss_check_setup *setup, int index, char name[SS_CHECK_CASE_NAME])
{
    char letters[16];
    switch (checks[check].scope) {
    case CATALOGUE:
        snprintf(name, SS_CHECK_CASE_NAME, "%s", ss_known_name(index));
        break;
    case OTHER_SEEDS:
    case OTHER_MIXTURES: {
        ss_recipe recipe = other_recipe(check, setup, index, letters);
        snprintf(name, SS_CHECK_CASE_NAME, "%s, seed %llu", recipe.name, (unsigned long long)recipe.seed);
        break;
    }
    case ONCE:
        snprintf(name, SS_CHECK_CASE_NAME, "(the solver itself)");
        break;
    }
}

void ss_check_run(int check, const ss_check_setup *setup, int index, ss_check_result *result)
{
    char letters[16];
    ss_known of = {0};
    ss_error err = {0};
    *result = (ss_check_result){.outcome = SS_CHECK_PASSED, .iterations = -1, .error = NAN};
    trial t = {setup, ss_check_case_problem(check, setup, index), &of, result};

    bool good = true;
    if (checks[check].scope == CATALOGUE) {
        good = ss_known_make(index, &of, &err);
    } else if (checks[check].scope != ONCE) {
        ss_recipe recipe = other_recipe(check, setup, index, letters);
        good = ss_known_from_recipe(&recipe, &of, &err);
    }

    if (good)
        checks[check].run(&t);
    else
        fail(&t, NAN, "%s", err.message);
    ss_known_free(&of);
}
