/* Two formulations as a plug-in. A formulation states the law of one contact: its unknowns, impulses along
 * directions of your choice, with bounds. Bodies, joints, velocities and the judging of the answer are the
 * library's.
 *
 * box-before   a friction box whose first tangent points along the slip BEFORE the step
 * springs      no unknowns at all: overlaps are springs, whose impulses are known beforehand
 */
#include <stickslip/plugin.h>

/* ---- a box with tangents of our own ----------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool box(const ss_formulation *formulation, const void *options, const ss_contact_view *contact,
                ss_contact_law *law, ss_error *err)
{
    (void)formulation, (void)options, (void)err;
    double u = dot(contact->tangent[0], contact->velocity), v = dot(contact->tangent[1], contact->velocity);
    double speed = hypot(u, v), c = speed > 0.0 ? u / speed : 1.0, s = speed > 0.0 ? v / speed : 0.0;
    law->count = 3;
    law->unknown[0] =
        (ss_contact_unknown){.upper = INFINITY, .offset = contact->offset, .compliance = contact->compliance};
    for (int k = 1; k < 3; k++)
        law->unknown[k] = (ss_contact_unknown){.law = SS_LAW_COUPLED, .partner = 0, .factor = contact->mu[0]};
    for (int i = 0; i < 3; i++) {
        law->unknown[0].direction[i] = contact->normal[i];
        law->unknown[1].direction[i] = c * contact->tangent[0][i] + s * contact->tangent[1][i];
        law->unknown[2].direction[i] = c * contact->tangent[1][i] - s * contact->tangent[0][i];
    }
    return true;
}

static const ss_formulation box_before = {
    .name = "box-before",
    .summary = "friction box along the slip before the step",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .options = ss_step_option_table,
    .options_size = sizeof(ss_step_options),
    .models = SS_MODELS_FRICTION | SS_MODELS_GAPS,
    .contact = box,
};

/* ---- springs, with an option ------------------------------------------------------------------------ */

typedef struct spring_options {
    ss_step_options step; /* every formulation has these, first */
    double stiffness;
} spring_options;

static const ss_option spring_table[] = {SS_STEP_OPTION_ROWS("preventive", "inf"),
                                         {.name = "stiffness",
                                          .type = SS_OPTION_REAL,
                                          .offset = offsetof(spring_options, stiffness),
                                          .default_value = "1e4",
                                          .min = 0,
                                          .max = 1e12,
                                          .value_name = "N/m",
                                          .help = "stiffness of a contact, in N/m"},
                                         {0}};

static bool push(const ss_formulation *formulation, const void *options, const ss_contact_view *contact,
                 ss_contact_law *law, ss_error *err)
{
    (void)formulation, (void)err;
    double overlap = fmax(-contact->gap, 0.0), k = ((const spring_options *)options)->stiffness;
    for (int i = 0; i < 3; i++) law->impulse[i] = contact->frame->h * k * overlap * contact->normal[i];
    return true;
}

static const ss_formulation springs = {
    .name = "springs",
    .summary = "contacts as springs without friction, explicit in time",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED, /* of joints: there is nothing else */
    .options = spring_table,
    .options_size = sizeof(spring_options),
    .contact = push,
};

static const ss_formulation *const formulations[] = {&box_before, &springs, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .formulations = formulations};
