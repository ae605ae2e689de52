#include "formulation/cone_law.h"

#include "formulation/friction.h"

static int count_unknowns(const ss_contact_row *contact, const void *options, int *blocks)
{
    (void)options;
    ss_friction friction = ss_friction_of(contact);
    *blocks = friction.stuck < 0 ? 1 : 2;
    return 1 + friction.count + (friction.mu_rolling > 0.0 ? 2 : 0) + (friction.stuck < 0 ? 0 : 1);
}

static void add_sliding_rows(const ss_contact_row *contact, const ss_friction *friction,
                             ss_assembly *assembly)
{
    if (friction->count == 2 && friction->scale[0] == 1.0 && friction->scale[1] == 1.0) {
        ss_assembly_add_contact(assembly, contact);
        return;
    }
    ss_assembly_add_normal(assembly, contact);
    for (int k = 0; k < friction->count; k++)
        ss_assembly_add_tangent(assembly, contact, ss_friction_direction(contact, friction, k));
}

static void add_under(ss_law law, const ss_contact_row *contact, ss_assembly *assembly)
{
    ss_friction friction = ss_friction_of(contact);
    add_sliding_rows(contact, &friction, assembly);
    for (int k = 0; friction.mu_rolling > 0.0 && k < 2; k++) {
        double row[12];
        ss_contact_turning_row(contact, contact->tangent[k], row);
        ss_assembly_add(assembly, contact->pair, row, 0.0, 0.0);
    }
    ss_block block = {.law = law,
                      .mu = friction.mu,
                      .mu_rolling = friction.mu_rolling,
                      .contact = contact->contact,
                      .constraint = -1};
    ss_assembly_close(assembly, block);
    if (friction.stuck < 0) return;
    ss_assembly_add_tangent(assembly, contact, contact->tangent[friction.stuck]);
    ss_assembly_close(assembly,
                      (ss_block){.law = SS_LAW_FREE, .contact = contact->contact, .constraint = -1});
}

static void add_coulomb(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                        ss_assembly *assembly)
{
    (void)rows, (void)options;
    add_under(SS_LAW_CONE, contact, assembly);
}

static void add_convex(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                       ss_assembly *assembly)
{
    (void)rows, (void)options;
    add_under(SS_LAW_CONVEX, contact, assembly);
}

static ss_contact_impulse read_contact(const ss_rows *rows, const ss_contact_row *contact,
                                       const void *options, const double *x)
{
    (void)rows, (void)options;
    ss_friction friction = ss_friction_of(contact);
    ss_contact_impulse impulse = {.normal = *x++};
    for (int k = 0; k < friction.count; k++) impulse.tangent[friction.tangent[k]] = friction.scale[k] * *x++;
    for (int k = 0; friction.mu_rolling > 0.0 && k < 2; k++) impulse.rolling[k] = *x++;
    if (friction.stuck >= 0) impulse.tangent[friction.stuck] = *x++;
    return impulse;
}

static void write_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                          const ss_contact_impulse *impulse, double *x)
{
    (void)rows, (void)options;
    ss_friction friction = ss_friction_of(contact);
    *x++ = impulse->normal;
    for (int k = 0; k < friction.count; k++) *x++ = impulse->tangent[friction.tangent[k]] / friction.scale[k];
    for (int k = 0; friction.mu_rolling > 0.0 && k < 2; k++) *x++ = impulse->rolling[k];
    if (friction.stuck >= 0) *x++ = impulse->tangent[friction.stuck];
}

#define MODEL(add_contact)                                                                             \
    {                                                                                                  \
        .traits = SS_MODELS_FRICTION | SS_MODELS_ROLLING | SS_MODELS_GAPS, .unknowns = count_unknowns, \
        .add = add_contact, .read = read_contact, .write = write_contact                               \
    }
static const ss_contact_model coulomb = MODEL(add_coulomb), convex = MODEL(add_convex);

ss_problem *ss_cone_law_assemble(ss_law law, const ss_frame *frame, const void *options, ss_findings *notes,
                                 ss_error *err)
{
    const ss_cone_law_options *set = options;
    ss_problem *problem =
        ss_model_assemble(law == SS_LAW_CONVEX ? &convex : &coulomb, frame, options, notes, err);
    if (!problem || set->form == SS_FORM_REDUCED) return problem;
    ss_problem *descriptor = ss_problem_to_descriptor(frame, problem, err);
    ss_problem_destroy(problem);
    return descriptor;
}

/* The two laws have the same unknowns. */
bool ss_cone_law_recover(const ss_frame *frame, const void *options, const ss_problem *problem,
                         const double *x, ss_answer *answer, ss_error *err)
{
    return ss_model_recover(&coulomb, frame, options, problem, x, answer, err);
}

bool ss_cone_law_guess(const ss_frame *frame, const void *options, const ss_problem *problem,
                       const ss_answer *answer, double *x, ss_error *err)
{
    return ss_model_guess(&coulomb, frame, options, problem, answer, x, err);
}

const ss_contact_model *ss_cone_law_model(const ss_formulation *formulation, const void *options)
{
    bool is_cone = formulation->guess == ss_cone_law_guess;
    if (!is_cone || ((const ss_cone_law_options *)options)->form != SS_FORM_REDUCED) return NULL;
    return formulation->laws & SS_LAW_CONVEX ? &convex : &coulomb;
}
