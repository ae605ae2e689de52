/* Contacts as springs and dampers, explicit in time: a model to compare with, not to rely on.
 *
 *     f_N = k overlap - d u_N, not below zero, while overlapping
 *     k   = 1/(C h^2) where the contact has a compliance
 *     f_T = -mu f_N u_T / max(|u_T|, slip_speed)
 *
 * with the velocities before the step. The impulses h f are known at once, so that only joints are left
 * to solve for. Unstable when h is not well below 2 sqrt(m/k); friction never holds anything, it only
 * creeps slowly. Coefficients that differ slip on an ellipse: f_i = -mu_i f_N (mu_i u_i) / max(|(mu_u
 * u_u, mu_v u_v)|, mu slip_speed), mu the larger one. Infinite friction stops the slip of the contact as
 * if it were alone.
 */
#include "formulation/model.h"

#include "base/option_rows.h"

#include <math.h>

typedef struct penalty_options {
    ss_step_options step;
    double stiffness, damping, slip_speed;
} penalty_options;

static const ss_option options_table[] = {
    SS_STEP_OPTION_ROWS("preventive", "inf"),
    {SS_ROW_OF(SS_OPTION_REAL, penalty_options, stiffness, "1e5"), .min = 0.0, .max = 1e24,
     .value_name = "N/m", .help = "stiffness of every contact without a compliance, in N/m"},
    {SS_ROW_OF(SS_OPTION_REAL, penalty_options, damping, "100"), .min = 0.0, .max = 1e24,
     .value_name = "N s/m", .help = "damping of every contact, in N s/m"},
    {SS_ROW_OF(SS_OPTION_REAL, penalty_options, slip_speed, "0.01"), .min = 1e-12, .max = 1e12,
     .value_name = "m/s", .help = "speed below which friction is proportional to slip, in m/s"},
    {0},
};

static int count_unknowns(const ss_contact_row *contact, const void *options, int *blocks)
{
    (void)contact, (void)options;
    return *blocks = 0;
}

static void add_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                        ss_problem_builder *builder)
{
    (void)rows, (void)contact, (void)options, (void)builder;
}

static ss_contact_impulse read_contact(const ss_rows *rows, const ss_contact_row *contact,
                                       const void *options, const double *x)
{
    (void)x;
    const penalty_options *set = options;
    ss_contact_impulse impulse = {0};
    double gap = rows->frame->contacts.gap[contact->contact], h = rows->frame->h;
    double stiffness = contact->compliance > 0.0 ? 1.0 / (contact->compliance * h * h) : set->stiffness;
    if (gap >= 0.0) return impulse;
    double speed = ss_contact_speed_before(rows, contact, contact->normal);
    impulse.normal = fmax(h * (-stiffness * gap - set->damping * speed), 0.0);
    if (!(impulse.normal > 0.0)) return impulse;

    /* Friction: tangents of infinite friction are stopped one by one, the others slip on the ellipse. */
    double scaled[2], mu = fmax(contact->mu[0], contact->mu[1]);
    for (int k = 0; k < 2; k++) {
        double row[12];
        ss_contact_sliding_row(contact, contact->tangent[k], row);
        double u = ss_contact_speed_before(rows, contact, contact->tangent[k]);
        bool sticks = isinf(contact->mu[k]);
        scaled[k] = sticks ? 0.0 : contact->mu[k] * u;
        impulse.tangent[k] = sticks ? -u / ss_rows_inverse_mass(rows, contact->pair, row) : 0.0;
    }
    if (isinf(mu)) mu = fmin(contact->mu[0], contact->mu[1]);
    double length = isinf(mu) ? 0.0 : fmax(hypot(scaled[0], scaled[1]), mu * set->slip_speed);
    for (int k = 0; length > 0.0 && k < 2; k++) {
        if (!isinf(contact->mu[k]))
            impulse.tangent[k] = -contact->mu[k] * impulse.normal * scaled[k] / length;
    }
    return impulse;
}

static void write_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                          const ss_contact_impulse *impulse, double *x)
{
    (void)rows, (void)contact, (void)options, (void)impulse, (void)x;
}

static const ss_contact_model model = {.traits = SS_MODELS_FRICTION | SS_MODELS_FORCES,
                                       .unknowns = count_unknowns,
                                       .add = add_contact,
                                       .read = read_contact,
                                       .write = write_contact};

const ss_formulation ss_formulation_penalty = {
    .name = "penalty",
    .summary = "contacts as explicit springs and dampers, for comparison; only joints are solved for",
    .reference = "Cundall, Strack 1979",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .options = options_table,
    .options_size = sizeof(penalty_options),
    .model = &model,
};
