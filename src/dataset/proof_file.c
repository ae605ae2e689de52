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

bool ss_stored_certificate_check(const ss_frame *frame, const ss_stored_result *result, const char *place,
                                 ss_findings *findings, ss_error *err)
{
    const ss_certificate *stored = result->certificate;
    bool convex = result->formulation && strcmp(result->formulation, "convex") == 0;
    if (!stored || stored->law == SS_LAW_BOX || stored->level < SS_CERTIFIED_EXTENDED) return true;
    if (!ss_answer_is_complete(result->answer) || convex != (stored->law == SS_LAW_CONVEX)) {
        ss_findings_add(findings, SS_FINDING_FAULT, place, "solver_data/%s/certificate: %s", result->solver,
                        convex != (stored->law == SS_LAW_CONVEX) ? "its law is not that of the formulation"
                                                                 : "the answer is not complete");
        return true;
    }
    ss_certify_options options = {.law = stored->law};
    ss_certificate *own = NULL;
    if (ss_stored_result_step(result, &options.step, err))
        own = ss_certify(frame, result->answer, &options, err);
    if (!own) return false;

    // the last digits may differ where another compiler has made the verifier
    bool more = !(own->bound <= stored->bound * (1.0 + 1e-9)) ||
                !(own->joint_bound <= stored->joint_bound * (1.0 + 1e-9)) ||
                (own->level < SS_CERTIFIED_BACKWARD && stored->level >= SS_CERTIFIED_BACKWARD);
    int other = -1;
    for (int c = 0; c < own->contacts && c < stored->contacts; c++)
        if (own->contact[c].state != stored->contact[c].state ||
            own->contact[c].certain != stored->contact[c].certain)
            other = c;
    if (more)
        ss_findings_add(
            findings, SS_FINDING_FAULT, place,
            "solver_data/%s/certificate: states %s with a bound of %.3g m/s; proved is %s with %.3g "
            "m/s",
            result->solver, ss_certificate_level_name(stored->level), stored->bound,
            ss_certificate_level_name(own->level), own->bound);
    else if (other >= 0)
        ss_findings_add(findings, SS_FINDING_FAULT, place,
                        "solver_data/%s/certificate: states[%d] is not what is proved", result->solver,
                        other);
    ss_certificate_destroy(own);
    return true;
}
