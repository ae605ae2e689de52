/* Contacts without friction: 0 <= x_N perp u_N + c >= 0. A linear complementarity problem with a symmetric
 * matrix, the smallest there is, and often the first thing to look at when a problem with friction does not
 * solve.
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
                        ss_problem_builder *builder)
{
    (void)rows, (void)options;
    int i = ss_builder_add_normal(builder, contact);
    builder->problem->lower[i] = 0.0;
    ss_builder_close(builder, (ss_block){.law = SS_LAW_BOX, .contact = contact->contact, .constraint = -1});
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

const ss_formulation ss_formulation_frictionless = {
    .name = "frictionless",
    .summary = "contacts without friction: a symmetric linear complementarity problem",
    .reference = "Loetstedt 1982",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .options = options_table,
    .options_size = sizeof(frictionless_options),
    .model = &model,
};
