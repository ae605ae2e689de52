/* Contacts without friction:  0 <= x_N  perp  u_N + c >= 0. A linear complementarity problem with a symmetric matrix,
 * the smallest there is, and often the first thing to look at when a problem with friction does not solve.
 */
#include "formulation/model.h"

typedef struct frictionless_options {
    ss_step_options step;
} frictionless_options;

static const ss_option options_table[] = {SS_STEP_OPTION_ROWS("preventive", "inf"), {0}};

static int count_unknowns(const ss_contact_row *contact, const void *options, int *blocks)
{
    (void)contact, (void)options;
    return *blocks = 1;
}

static void add_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                        ss_assembly *assembly)
{
    (void)rows, (void)options;
    int i = ss_assembly_add_normal(assembly, contact);
    assembly->problem->lower[i] = 0.0;
    ss_assembly_close(assembly, (ss_block){.law = SS_LAW_BOX, .contact = contact->contact, .constraint = -1});
}

static ss_contact_impulse read_contact(const ss_rows *rows, const ss_contact_row *contact,
                                       const void *options, const double *x)
{
    (void)rows, (void)contact, (void)options;
    return (ss_contact_impulse){.normal = x[0]};
}

static void write_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                          const ss_contact_impulse *impulse, double *x)
{
    (void)rows, (void)contact, (void)options;
    x[0] = impulse->normal;
}

static const ss_contact_model model = {.traits = SS_MODELS_GAPS,
                                       .unknowns = count_unknowns,
                                       .add = add_contact,
                                       .read = read_contact,
                                       .write = write_contact};

static ss_problem *assemble(const ss_frame *frame, const void *options, ss_findings *notes, ss_error *err)
{
    return ss_model_assemble(&model, frame, options, notes, err);
}

static bool recover(const ss_frame *frame, const void *options, const ss_problem *problem, const double *x,
                    ss_answer *answer, ss_error *err)
{
    return ss_model_recover(&model, frame, options, problem, x, answer, err);
}

static bool guess(const ss_frame *frame, const void *options, const ss_problem *problem,
                  const ss_answer *answer, double *x, ss_error *err)
{
    return ss_model_guess(&model, frame, options, problem, answer, x, err);
}

const ss_formulation ss_formulation_frictionless = {
    .name = "frictionless",
    .summary = "contacts without friction: a symmetric linear complementarity problem",
    .reference = "Loetstedt 1982",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .options = options_table,
    .options_size = sizeof(frictionless_options),
    .assemble = assemble,
    .recover = recover,
    .guess = guess,
};
