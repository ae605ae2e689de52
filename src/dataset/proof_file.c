#include "dataset/proof_file.h"

#include "dataset/certificate_store.h"
#include "session/method.h"

#include <stickslip/metrics.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ss_writer_proof(ss_writer *writer, const ss_proof *proof, bool timed, ss_error *err)
{
    const ss_result *result = proof->result;
    if (!proof->certificate) return true;
    ss_stored_result own = {.solver = (char *)(uintptr_t)SS_CERTIFIED_RESULT,
                            .answer = (ss_answer *)(uintptr_t)result->answer,
                            .iterations = result->run.iterations,
                            .error = result->run.gauge[SS_GAUGE_RELATIVE_ENERGY],
                            .seconds = timed ? result->run.seconds : NAN,
                            .certificate = (ss_certificate *)(uintptr_t)proof->certificate};
    return ss_writer_judged_result(writer, &own, proof->assembly, result->metrics, result->contacts, err);
}

/* ---- what is stored, looked at again ----------------------------------------------------------------- */

typedef struct check {
    const ss_frame *frame;
    const ss_stored_result *result;
    const char *place;
    ss_findings *findings;
} check;

__attribute__((format(printf, 2, 3))) static void complain(const check *c, const char *format, ...)
{
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    ss_findings_add(c->findings, SS_FINDING_FAULT, c->place, "solver_data/%s/%s", c->result->solver, what);
}

/* A number that is claimed may be larger than the proved one, which is an upper bound, but not smaller. The
 * last digits may differ where another compiler has made the verifier. */
static bool is_at_least(double claimed, double proved)
{
    return proved <= claimed + 1e-9 * fabs(claimed); // margins of contacts that are all but open are negative
}

/* What a proved level promises of the numbers beside it, as in ss_certificate_conclude: they are finite, the
 * bounds are within the share of the scale that the level allows, and no contact's exceeds that of all. An
 * answer under another formulation is exact without them: that is shown of the problem by itself. */
static const char *broken_promise(const ss_certificate *stored, bool of_frame)
{
    if (stored->level == SS_CERTIFIED_EXACT && !of_frame) return NULL;
    double share = stored->level == SS_CERTIFIED_EXTENDED ? sqrt(stored->tolerance) : stored->tolerance;
    double limit = share * stored->scale;
    if (!(stored->bound <= limit && stored->spin_speed <= limit && stored->joint_bound <= limit))
        return "a bound exceeds what its level allows, or is missing";
    if (!(stored->spin_bound < INFINITY && stored->velocity_error < INFINITY &&
          stored->spin_error < INFINITY && stored->scale < INFINITY))
        return "a number is missing or infinite";
    for (int k = 0; k < stored->contacts; k++)
        if (!(stored->contact[k].bound <= stored->bound))
            return "the bound of a contact exceeds that of all, or is missing";
    return NULL;
}

/* What the certificate claims although its own members contradict it; NULL: nothing. */
static const char *contradiction(const ss_stored_result *result)
{
    const ss_certificate *stored = result->certificate;
    const char *formulation = result->formulation ? result->formulation : "cone";
    bool convex = strcmp(formulation, "convex") == 0, cone = strcmp(formulation, "cone") == 0;
    if (convex != (stored->law == SS_LAW_CONVEX) || (cone && stored->law != SS_LAW_CONE))
        return "its law is not that of the formulation";
    if (stored->level == SS_CERTIFIED_FORWARD && !(convex && stored->forward >= 0.0))
        return "level forward needs the convex law, and a bound in `forward`";
    if (stored->level == SS_CERTIFIED_EXACT && !(stored->distance >= 0.0 && stored->distance < INFINITY))
        return "level exact needs the `distance` of the answer";
    if (stored->level == SS_CERTIFIED_AGREED &&
        !(stored->second[0] && stored->agreed <= SS_AGREED_SHARE * stored->scale))
        return "level agreed needs a second method with the same velocities";
    if (stored->second[0] ? !(stored->agreed >= 0.0) : stored->agreed < 0.0)
        return "its distance to the second method is negative or missing";
    if (!(stored->tolerance >= 0.0 && stored->tolerance <= 1.0)) return "its tolerance is not a share";
    if (!ss_answer_is_complete(result->answer)) return "the answer is not complete";
    return stored->level >= SS_CERTIFIED_EXTENDED ? broken_promise(stored, convex || cone) : NULL;
}

/* Numbers and states against those that are proved now. */
static void compare_proof(const check *c, const ss_certificate *own)
{
    const ss_certificate *stored = c->result->certificate;
    const struct {
        const char *name;
        double claimed, proved;
    } numbers[] = {{"spin_bound", stored->spin_bound, own->spin_bound},
                   {"spin_speed", stored->spin_speed, own->spin_speed},
                   {"velocity_error", stored->velocity_error, own->velocity_error},
                   {"spin_error", stored->spin_error, own->spin_error},
                   {"scale", stored->scale, own->scale},
                   {"scale", own->scale, stored->scale}};
    // Nothing is claimed below level extended, and a bound that is not finite is not stored.
    bool proved = stored->level >= SS_CERTIFIED_EXTENDED;
    if (!proved && !(own->bound < INFINITY && own->spin_bound < INFINITY && own->joint_bound < INFINITY))
        return;
    bool more = !is_at_least(stored->bound, own->bound) ||
                !is_at_least(stored->joint_bound, own->joint_bound) || (proved && own->level < stored->level);
    const char *number = NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !number; i++)
        if (!is_at_least(numbers[i].claimed, numbers[i].proved)) number = numbers[i].name;

    // The distance is that of unknowns which are made of the answer again, to the last digit but one; inner
    // points are found again to the accuracy of a solver.
    if (!number && stored->level == SS_CERTIFIED_EXACT &&
        !(own->distance <= stored->distance * (1.0 + 1e-9) + 1e-13 * own->scale))
        number = "distance";
    if (!number && stored->level == SS_CERTIFIED_FORWARD && !(own->forward <= 1.01 * stored->forward))
        number = "forward";

    // Those of its contacts: a margin must not be larger than the proved one.
    const char *column = NULL;
    int other = 0;
    for (int k = 0; k < own->contacts && k < stored->contacts && !column; k++) {
        const ss_certified_contact *proof = &own->contact[k], *claimed = &stored->contact[k];
        other = k;
        if (proof->state != claimed->state || proof->certain != claimed->certain)
            column = "states";
        else if (!is_at_least(claimed->bound, proof->bound))
            column = "bounds";
        else if (!is_at_least(proof->margin, claimed->margin))
            column = "margins";
    }

    if (more)
        complain(c, "certificate: states %s with a bound of %.3g m/s; proved is %s with %.3g m/s%s%s",
                 ss_certificate_level_name(stored->level), stored->bound,
                 ss_certificate_level_name(own->level), own->bound, own->reason[0] ? ": " : "", own->reason);
    else if (column)
        complain(c, "certificate: %s[%d] is not what is proved", column, other);
    else if (number)
        complain(c, "certificate: %s is not what is proved", number);
}

/* ---- what is recorded -------------------------------------------------------------------------------- */

/* All that can be measured of an answer: metrics, then the relative energy as solvers gauge it, then the
 * energy of each contact. */
typedef struct measured {
    ss_metric_value *metrics;
    ss_contact_report *contacts;
    double error;
} measured;

static bool measure(ss_assembly *assembly, const ss_frame *frame, const ss_answer *answer, double *x,
                    measured *to, ss_error *err)
{
    bool alternatives = frame->subcontacts.groups > 0;
    ss_case what = {
        .assembly = assembly, .answer = answer, .frame = alternatives ? frame : NULL, .skip_exact = true};
    double gauges[SS_GAUGE_COUNT];
    ss_problem *problem = ss_assembly_problem(assembly);
    ss_assembly_guess(assembly, answer, x);
    if (!ss_judge(&what, to->metrics, to->contacts, err) || !ss_problem_measure(problem, x, gauges, err))
        return false;
    to->error = alternatives ? NAN : gauges[SS_GAUGE_RELATIVE_ENERGY]; // of the frame that was selected
    return true;
}

/* A copy of the answer, each number off by a few units of its last digits. */
static ss_answer *nudge(const ss_frame *frame, const ss_answer *from, uint64_t stream, ss_error *err)
{
    ss_answer *to = ss_answer_create(frame, from->rolling_impulse != NULL, err);
    if (!to) return NULL;
    ss_random random = ss_random_start(1, stream);
    const struct {
        double *to;
        const double *from;
        size_t count;
    } parts[] = {
        {(double *)to->velocity, (const double *)from->velocity, 6 * (size_t)to->bodies},
        {to->row_impulse, from->row_impulse, (size_t)to->rows},
        {to->normal_impulse, from->normal_impulse, (size_t)to->contacts},
        {(double *)to->friction_impulse, (const double *)from->friction_impulse, 3 * (size_t)to->contacts},
        {(double *)to->rolling_impulse, (const double *)from->rolling_impulse,
         to->rolling_impulse ? 3 * (size_t)to->contacts : 0},
        {to->sub_normal_impulse, from->sub_normal_impulse, (size_t)to->subcontacts},
        {(double *)to->sub_friction_impulse, (const double *)from->sub_friction_impulse,
         3 * (size_t)to->subcontacts},
        {(double *)to->sub_rolling_impulse, (const double *)from->sub_rolling_impulse,
         to->sub_rolling_impulse && from->sub_rolling_impulse ? 3 * (size_t)to->subcontacts : 0},
        {to->generalized_velocity, from->generalized_velocity, (size_t)to->coordinates}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (size_t i = 0; i < parts[p].count; i++)
            parts[p].to[i] = parts[p].from[i] * (1.0 + ss_random_between(&random, -0x1p-47, 0x1p-47));
    for (int g = 0; g < to->groups; g++) to->selection[g] = from->selection[g];
    return to;
}

enum { NUDGES = 3 };
#define NUDGE_SHARE 8.0 /* of what nudges change: other compilers order sums in another way */

/* Is the stored number the measured one, as far as rounding lets it be known? `noise`: the largest change by
 * a nudge. */
static bool is_as_measured(double stored, double own, double noise)
{
    return fabs(stored - own) <= 1e-9 * fabs(own) + NUDGE_SHARE * noise;
}

static double difference(double a, double b)
{
    double off = fabs(a - b);
    return isnan(off) ? 0.0 : off;
}

/* Metrics, error and energies of contacts, measured again. Answers that are nearly exact have errors that are
 * nothing but rounding: how far these can be from each other is seen from answers next to the stored one. */
static bool check_recorded(const check *c, const ss_method *method, ss_error *err)
{
    const ss_stored_result *result = c->result;
    int contacts = c->frame->contacts.count, metrics = ss_metric_count();
    ss_assembly *assembly = ss_assembly_create(method->formulation, method->formulation_options, err);
    bool good = assembly && ss_assemble(assembly, c->frame, NULL, err);
    measured own = {0}, other = {0};
    double *x = NULL, *noise = NULL, error_noise = 0.0, contact_noise = 0.0;
    if (good) {
        x = ss_allocate((size_t)ss_assembly_problem(assembly)->size, sizeof *x);
        noise = ss_allocate((size_t)metrics, sizeof *noise);
        own.metrics = ss_allocate(2 * (size_t)metrics, sizeof *own.metrics);
        own.contacts = ss_allocate(2 * (size_t)contacts, sizeof *own.contacts);
        good = (x && noise && own.metrics && own.contacts) ||
               ss_fail(err, SS_ERROR_RESOURCES, "out of memory for metrics");
    }
    if (good) {
        other = (measured){.metrics = own.metrics + metrics, .contacts = own.contacts + contacts};
        good = measure(assembly, c->frame, result->answer, x, &own, err);
    }
    for (uint64_t n = 0; good && n < NUDGES; n++) {
        ss_answer *near = nudge(c->frame, result->answer, n, err);
        good = near && measure(assembly, c->frame, near, x, &other, err);
        for (int i = 0; good && i < metrics; i++)
            noise[i] = fmax(noise[i], difference(own.metrics[i].value, other.metrics[i].value));
        for (int k = 0; good && k < contacts; k++)
            contact_noise = fmax(contact_noise, difference(own.contacts[k].energy, other.contacts[k].energy));
        if (good) error_noise = fmax(error_noise, difference(own.error, other.error));
        ss_answer_destroy(near);
    }

    // Metrics that need more than the answer (a reference, a plug-in) have the digest alone.
    for (int m = 0; good && m < result->measure_count; m++) {
        const ss_measure *measure = &result->measures[m];
        int i = ss_metric_index(measure->name);
        if (i >= 0 && own.metrics[i].applies && measure->count == 1 &&
            !is_as_measured(measure->values[0], own.metrics[i].value, noise[i]))
            complain(c, "metrics/%s: is %.11g, measured is %.11g", measure->name, measure->values[0],
                     own.metrics[i].value);
        bool energies = strcmp(measure->name, "contact_energy") == 0 && measure->count == contacts;
        for (int k = 0; energies && k < contacts; k++) {
            if (is_as_measured(measure->values[k], own.contacts[k].energy, contact_noise)) continue;
            complain(c, "metrics/contact_energy[%d]: is %.11g, measured is %.11g", k, measure->values[k],
                     own.contacts[k].energy);
            break;
        }
    }
    if (good && !isnan(own.error) && !isnan(result->error) &&
        !is_as_measured(result->error, own.error, error_noise))
        complain(c, "error: is %.11g, measured is %.11g", result->error, own.error);
    if (good && result->certificate->level == SS_CERTIFIED_MEASURED && own.error >= SS_MEASURED_ERROR)
        complain(c, "certificate: level measured, but the relative energy error is %.3g", own.error);

    ss_release(x);
    ss_release(noise);
    ss_release(own.metrics);
    ss_release(own.contacts);
    ss_assembly_destroy(assembly);
    return good;
}

/* Nothing has changed since it was stored. */
static bool check_digest(const check *c, ss_error *err)
{
    const ss_certificate *stored = c->result->certificate;
    char digest[33];
    if (!ss_stored_result_digest(c->result, digest, err)) return false;
    if (!stored->digest[0])
        ss_findings_add(c->findings, SS_FINDING_WARNING, c->place,
                        "solver_data/%s/certificate: has no digest: what is only recorded (agreed, solvers, "
                        "iterations) may have been changed",
                        c->result->solver);
    else if (strcmp(digest, stored->digest) != 0)
        complain(c, "certificate: something has changed since it was stored: its digest is another one");
    return true;
}

/* The second method, once more. Where there are several answers another compiler may lead it to another one,
 * but not a second run of the same program. */
static bool check_second(const check *c, const ss_prover_options *rules, ss_error *err)
{
    const ss_certificate *stored = c->result->certificate;
    double agreed;
    if (!stored->second[0]) return true;
    if (!ss_prover_compare(rules, stored->second, c->frame, c->result->answer, &agreed, err)) return false;
    if (!(agreed <= stored->agreed * (1.0 + 1e-6) + 1e-9 * stored->scale))
        complain(c, "certificate: agreed with %s to %.3g m/s; run again it is %.3g m/s away", stored->second,
                 stored->agreed, agreed);
    return true;
}

bool ss_stored_certificate_check(const ss_frame *frame, const ss_stored_result *result, bool rerun,
                                 const char *place, ss_findings *findings, ss_error *err)
{
    const ss_certificate *stored = result->certificate;
    check c = {frame, result, place, findings};
    if (!stored) return true;
    const char *wrong = contradiction(result);
    if (wrong) complain(&c, "certificate: %s", wrong);
    if (wrong) return true;
    if (!check_digest(&c, err)) return false;
    if (stored->law != SS_LAW_CONE && stored->law != SS_LAW_CONVEX) {
        ss_findings_add(
            findings, SS_FINDING_WARNING, place,
            "solver_data/%s/certificate: under formulation %s it is not proved again: certify does",
            result->solver, result->formulation ? result->formulation : "cone");
        return true;
    }

    ss_request request = {.formulation = result->formulation, .with = result->with};
    ss_prover_options rules = {
        .formulation = result->formulation, .with = result->with, .tolerance = stored->tolerance};
    ss_method method;
    if (!ss_method_prepare(&request, &method, NULL, err))
        return ss_fail_in(err, "result %s", result->solver ? result->solver : "");
    ss_certificate *own = ss_prove_answer(&rules, frame, result->answer, stored->level, err);
    bool good = own != NULL;
    if (good) compare_proof(&c, own);
    good = good && check_recorded(&c, &method, err);
    if (good && (rerun || stored->level == SS_CERTIFIED_AGREED)) good = check_second(&c, &rules, err);
    ss_certificate_destroy(own);
    ss_method_free(&method);
    return good;
}
