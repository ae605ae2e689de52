#include "dataset/proof_file.h"

#include <math.h>
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

/* A number that is claimed may be larger than the proved one, which is an upper bound, but not smaller. The
 * last digits may differ where another compiler has made the verifier. */
static bool is_at_least(double claimed, double proved)
{
    return proved <= claimed * (1.0 + 1e-9);
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
    if (stored->level == SS_CERTIFIED_EXACT && !(stored->distance >= 0.0))
        return "level exact needs the `distance` of the answer";
    return NULL;
}

bool ss_stored_certificate_check(const ss_frame *frame, const ss_stored_result *result, const char *place,
                                 ss_findings *findings, ss_error *err)
{
    const ss_certificate *stored = result->certificate;
    if (!stored || stored->level < SS_CERTIFIED_EXTENDED) return true;
    const char *wrong = contradiction(result);
    if (!wrong && !ss_answer_is_complete(result->answer)) wrong = "the answer is not complete";
    if (wrong)
        ss_findings_add(findings, SS_FINDING_FAULT, place, "solver_data/%s/certificate: %s", result->solver,
                        wrong);
    if (wrong || (stored->law != SS_LAW_CONE && stored->law != SS_LAW_CONVEX)) return true;
    ss_certify_options options = {.law = stored->law};
    ss_certificate *own = NULL;
    if (ss_stored_result_step(result, &options.step, err))
        own = ss_certify(frame, result->answer, &options, err);
    if (!own) return false;

    // The level and the numbers of the whole.
    const struct {
        const char *name;
        double claimed, proved;
    } numbers[] = {{"spin_bound", stored->spin_bound, own->spin_bound},
                   {"spin_speed", stored->spin_speed, own->spin_speed},
                   {"velocity_error", stored->velocity_error, own->velocity_error},
                   {"spin_error", stored->spin_error, own->spin_error},
                   {"scale", stored->scale, own->scale},
                   {"scale", own->scale, stored->scale}};
    bool more = !is_at_least(stored->bound, own->bound) ||
                !is_at_least(stored->joint_bound, own->joint_bound) ||
                (own->level < SS_CERTIFIED_BACKWARD && stored->level >= SS_CERTIFIED_BACKWARD);
    const char *number = NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !number; i++)
        if (!is_at_least(numbers[i].claimed, numbers[i].proved)) number = numbers[i].name;

    // Those of its contacts: a margin must not be larger than the proved one.
    const char *column = NULL;
    int other = 0;
    for (int c = 0; c < own->contacts && c < stored->contacts && !column; c++) {
        const ss_certified_contact *proved = &own->contact[c], *claimed = &stored->contact[c];
        other = c;
        if (proved->state != claimed->state || proved->certain != claimed->certain)
            column = "states";
        else if (!is_at_least(claimed->bound, proved->bound))
            column = "bounds";
        else if (!is_at_least(proved->margin, claimed->margin))
            column = "margins";
    }

    if (more)
        ss_findings_add(
            findings, SS_FINDING_FAULT, place,
            "solver_data/%s/certificate: states %s with a bound of %.3g m/s; proved is %s with %.3g "
            "m/s",
            result->solver, ss_certificate_level_name(stored->level), stored->bound,
            ss_certificate_level_name(own->level), own->bound);
    else if (column)
        ss_findings_add(findings, SS_FINDING_FAULT, place,
                        "solver_data/%s/certificate: %s[%d] is not what is proved", result->solver, column,
                        other);
    else if (number)
        ss_findings_add(findings, SS_FINDING_FAULT, place,
                        "solver_data/%s/certificate: %s is not what is proved", result->solver, number);
    ss_certificate_destroy(own);
    return true;
}
