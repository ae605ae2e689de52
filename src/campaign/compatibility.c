#include "campaign/compatibility.h"

#include "base/registry.h"

/* ---- frames to ask with -------------------------------------------------------------------------- */

/* Two unit masses with a contact each, and rows that hold body 0: row k along axis k. The first is an
 * equation, the second a limit, the third its joint friction. */
static ss_frame *make_frame(int joints, ss_error *err)
{
    ss_frame *frame = ss_frame_create(2, joints, joints, 2, err);
    if (!frame) return NULL;
    frame->h = 0.01;

    for (int body = 0; body < 2; body++) {
        frame->bodies.mass[body] = 1.0;
        for (int i = 0; i < 3; i++) frame->bodies.inertia[body][4 * i] = 1.0;
        frame->bodies.force[body][2] = -9.81;
        frame->contacts.pair[body][1] = body;
        frame->contacts.normal[body][2] = 1.0;
        frame->contacts.point[body][0] = 1.0; // off the centre, so that normal and tangents act on each other
        frame->contacts.point[body][2] = -1.0;
        for (int k = 0; k < 2; k++) frame->contacts.mu[body][k] = 0.5;
    }

    for (int k = 0; k < joints; k++) {
        frame->constraints.pair[k][1] = 0;
        frame->constraints.jacobian[k][6 + k] = 1.0;
    }
    if (joints < 3) return frame;
    frame->constraints.bounds[1][0] = 0.0;
    if (ss_frame_enable(frame, "constraints/friction", err) &&
        ss_frame_enable(frame, "constraints/friction_row", err)) {
        frame->constraints.friction[2] = 0.1;
        frame->constraints.friction_row[2] = 0;
        return frame;
    }
    ss_frame_destroy(frame);
    return NULL;
}

/* ---- asking -------------------------------------------------------------------------------------- */

bool ss_probes_make(ss_probes *probes, ss_error *err)
{
    static const int joints[SS_COMPATIBILITY_PROBES] = {0, 1, 3};
    probes->count = ss_formulation_count() - ss_registered_count(SS_REGISTERED_FORMULATIONS);
    probes->problems = ss_allocate((size_t)probes->count, sizeof *probes->problems);
    bool good = probes->problems || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for probes");
    for (int k = 0; good && k < SS_COMPATIBILITY_PROBES; k++) {
        ss_frame *frame = make_frame(joints[k], err);
        good = frame != NULL;
        for (int f = 0; good && f < probes->count; f++) {
            probes->problems[f][k] = ss_problem_from_frame(frame, ss_formulation_at(f), NULL, err);
            good = probes->problems[f][k] != NULL;
        }
        ss_frame_destroy(frame);
    }
    if (!good) ss_probes_free(probes);
    return good;
}

void ss_probes_free(ss_probes *probes)
{
    for (int f = 0; probes->problems && f < probes->count; f++) {
        for (int k = 0; k < SS_COMPATIBILITY_PROBES; k++) ss_problem_destroy(probes->problems[f][k]);
    }
    ss_release(probes->problems);
    probes->problems = NULL;
}

ss_compatibility ss_compatibility_of(const ss_probes *probes, const ss_solver *solver, int formulation,
                                     const char **why)
{
    // Formulations of plug-ins are not called to find out: what they declare counts.
    *why = NULL;
    if (formulation >= probes->count) {
        unsigned missing = ss_formulation_at(formulation)->laws & ~solver->laws;
        if (!missing) return SS_COMPATIBLE_ALL;
        bool only_free = !(missing & ~(unsigned)SS_LAW_FREE);
        *why = only_free ? "does not accept free unknowns" : "does not accept a law of the formulation";
        return only_free ? SS_COMPATIBLE_CONTACTS : SS_COMPATIBLE_NONE;
    }

    // The own ones are asked with problems that need more each: the first that is refused says how far.
    for (int k = 0; k < SS_COMPATIBILITY_PROBES; k++) {
        *why = ss_solver_refusal(solver, probes->problems[formulation][k]);
        if (*why) return (ss_compatibility)k;
    }
    return SS_COMPATIBLE_ALL;
}

const char *ss_compatibility_name(ss_compatibility compatible)
{
    static const char *const names[] = {"-", "contacts", "joints", "all"};
    return names[compatible];
}
