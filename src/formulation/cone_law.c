#include "formulation/cone_law.h"

#include "formulation/friction.h"

/* Torsional friction with a row of its own beside the cone. */
static bool spins_alone(const ss_contact_row *contact, const ss_friction *friction)
{
    return contact->mu_torsion > 0.0 && !(friction->spin > 0.0);
}

static int count_unknowns(const ss_contact_row *contact, const void *options, int *blocks)
{
    (void)options;
    ss_friction friction = ss_friction_of(contact);
    int beside = (friction.stuck >= 0) + spins_alone(contact, &friction);
    *blocks = 1 + beside;
    return 1 + friction.count + (friction.spin > 0.0) + (friction.mu_rolling > 0.0 ? 2 : 0) + beside;
}

static void add_sliding_rows(const ss_contact_row *contact, const ss_friction *friction,
                             ss_problem_builder *builder)
{
    if (friction->count == 2 && friction->scale[0] == 1.0 && friction->scale[1] == 1.0) {
        ss_builder_add_contact(builder, contact);
        return;
    }
    ss_builder_add_normal(builder, contact);
    for (int k = 0; k < friction->count; k++)
        ss_builder_add_tangent(builder, contact, ss_friction_direction(contact, friction, k));
}

static void add_under(ss_law law, const ss_contact_row *contact, ss_problem_builder *builder)
{
    ss_friction friction = ss_friction_of(contact);
    int normal = builder->size;
    add_sliding_rows(contact, &friction, builder);
    double row[12];
    if (friction.spin > 0.0) {
        ss_contact_turning_row(contact, ss_vec3_scale(friction.spin, contact->normal), row);
        ss_builder_add(builder, contact->pair, row, 0.0, 0.0);
    }
    for (int k = 0; friction.mu_rolling > 0.0 && k < 2; k++) {
        ss_contact_turning_row(contact, contact->tangent[k], row);
        ss_builder_add(builder, contact->pair, row, 0.0, 0.0);
    }
    ss_block block = {.law = law,
                      .mu = friction.mu,
                      .mu_rolling = friction.mu_rolling,
                      .contact = contact->contact,
                      .constraint = -1};
    ss_builder_close(builder, block);
    if (friction.stuck >= 0) {
        ss_builder_add_tangent(builder, contact, contact->tangent[friction.stuck]);
        ss_builder_close(builder,
                         (ss_block){.law = SS_LAW_FREE, .contact = contact->contact, .constraint = -1});
    }
    if (spins_alone(contact, &friction)) {
        ss_builder_add_spin(builder, contact, normal);
        ss_builder_close(builder,
                         (ss_block){.law = SS_LAW_COUPLED, .contact = contact->contact, .constraint = -1});
    }
}

static void add_coulomb(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                        ss_problem_builder *builder)
{
    (void)rows, (void)options;
    add_under(SS_LAW_CONE, contact, builder);
}

static void add_convex(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                       ss_problem_builder *builder)
{
    (void)rows, (void)options;
    add_under(SS_LAW_CONVEX, contact, builder);
}

static ss_contact_impulse read_contact(const ss_rows *rows, const ss_contact_row *contact,
                                       const void *options, const double *x)
{
    (void)rows, (void)options;
    ss_friction friction = ss_friction_of(contact);
    ss_contact_impulse impulse = {.normal = *x++};
    for (int k = 0; k < friction.count; k++) impulse.tangent[friction.tangent[k]] = friction.scale[k] * *x++;
    if (friction.spin > 0.0) impulse.spin = friction.spin * *x++;
    for (int k = 0; friction.mu_rolling > 0.0 && k < 2; k++) impulse.rolling[k] = *x++;
    if (friction.stuck >= 0) impulse.tangent[friction.stuck] = *x++;
    if (spins_alone(contact, &friction)) impulse.spin = *x++;
    return impulse;
}

static void write_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                          const ss_contact_impulse *impulse, double *x)
{
    (void)rows, (void)options;
    ss_friction friction = ss_friction_of(contact);
    *x++ = impulse->normal;
    for (int k = 0; k < friction.count; k++) *x++ = impulse->tangent[friction.tangent[k]] / friction.scale[k];
    if (friction.spin > 0.0) *x++ = impulse->spin / friction.spin;
    for (int k = 0; friction.mu_rolling > 0.0 && k < 2; k++) *x++ = impulse->rolling[k];
    if (friction.stuck >= 0) *x++ = impulse->tangent[friction.stuck];
    if (spins_alone(contact, &friction)) *x++ = impulse->spin;
}

static bool transform(const ss_frame *frame, ss_problem *problem, const void *options, ss_problem **other,
                      ss_error *err)
{
    if (((const ss_cone_law_options *)options)->form == SS_FORM_REDUCED) return true;
    bool minimal = ((const ss_step_options *)options)->coordinates == SS_MINIMAL;
    *other = (minimal ? ss_problem_to_generalized : ss_problem_to_descriptor)(frame, problem, err);
    return *other != NULL;
}

const ss_contact_model ss_coulomb_model = {.traits = SS_MODELS_FRICTION | SS_MODELS_ROLLING |
                                                     SS_MODELS_TORSION | SS_MODELS_SPIN_COUPLING |
                                                     SS_MODELS_GAPS,
                                           .unknowns = count_unknowns,
                                           .add = add_coulomb,
                                           .read = read_contact,
                                           .write = write_contact,
                                           .transform = transform};

/* ---- all of it in space ----------------------------------------------------------------------------- */

static ss_contact_row in_space(const ss_contact_row *contact)
{
    ss_contact_row spatial = *contact;
    spatial.in_plane[0] = spatial.in_plane[1] = true;
    return spatial;
}

static int count_in_space(const ss_contact_row *contact, const void *options, int *blocks)
{
    ss_contact_row spatial = in_space(contact);
    return count_unknowns(&spatial, options, blocks);
}

static void add_in_space(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                         ss_problem_builder *builder)
{
    ss_contact_row spatial = in_space(contact);
    add_coulomb(rows, &spatial, options, builder);
}

static ss_contact_impulse read_in_space(const ss_rows *rows, const ss_contact_row *contact,
                                        const void *options, const double *x)
{
    ss_contact_row spatial = in_space(contact);
    return read_contact(rows, &spatial, options, x);
}

static void write_in_space(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                           const ss_contact_impulse *impulse, double *x)
{
    ss_contact_row spatial = in_space(contact);
    write_contact(rows, &spatial, options, impulse, x);
}

const ss_contact_model ss_judged_model = {.traits = SS_MODELS_FRICTION | SS_MODELS_ROLLING |
                                                    SS_MODELS_TORSION | SS_MODELS_SPIN_COUPLING |
                                                    SS_MODELS_GAPS,
                                          .unknowns = count_in_space,
                                          .add = add_in_space,
                                          .read = read_in_space,
                                          .write = write_in_space};

const ss_contact_model ss_convex_model = {.traits = SS_MODELS_FRICTION | SS_MODELS_ROLLING |
                                                    SS_MODELS_TORSION | SS_MODELS_SPIN_COUPLING |
                                                    SS_MODELS_GAPS,
                                          .unknowns = count_unknowns,
                                          .add = add_convex,
                                          .read = read_contact,
                                          .write = write_contact,
                                          .transform = transform};
