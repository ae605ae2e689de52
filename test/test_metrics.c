/* Every metric against errors that were planted: a block of mass m on the ground, hit through its centre of
 * mass, so that the contact's inverse mass is 1/m in all directions and every number can be written down. */
#include <stickslip/metrics.h>
#include <stickslip/stickslip.h>

#include "kit.h"

static const double mass = 2.0, step = 0.01, gravity = 9.81, friction = 0.5;

typedef struct scene {
    ss_frame *frame;
    ss_answer *answer, *reference;
    ss_metric_value value[64];
    ss_error err;
} scene;

/* The block slides along x at `speed`; in the right answer gravity is balanced and friction is against x. */
static scene sliding_block(double speed)
{
    scene s = {0};
    s.frame = ss_frame_create(1, 0, 0, 1, &s.err);
    s.frame->h = step;
    s.frame->bodies.mass[0] = mass;
    for (int i = 0; i < 3; i++) s.frame->bodies.inertia[0][4 * i] = 0.4;
    s.frame->bodies.velocity[0][0] = speed;
    s.frame->bodies.force[0][2] = -mass * gravity;
    s.frame->contacts.pair[0][1] = 0;
    s.frame->contacts.normal[0][2] = 1.0;
    s.frame->contacts.mu[0][0] = s.frame->contacts.mu[0][1] = friction;
    s.answer = ss_answer_create(s.frame, false, &s.err);
    s.answer->normal_impulse[0] = mass * gravity * step;
    s.answer->friction_impulse[0][0] = -friction * s.answer->normal_impulse[0];
    s.answer->velocity[0][0] = speed - friction * gravity * step;
    return s;
}

/* mu_max: as in ss_step_options. */
static bool judge_capped(scene *s, double mu_max)
{
    ss_assembly *assembly = ss_assembly_create(ss_formulation_find("cone"), NULL, &s->err);
    if (assembly) ((ss_step_options *)ss_assembly_options(assembly))->mu_max = mu_max;
    ss_case what = {.assembly = assembly, .answer = s->answer, .reference = s->reference};
    bool good = assembly && ss_assemble(assembly, s->frame, NULL, &s->err) &&
                ss_judge(&what, s->value, NULL, &s->err);
    ss_assembly_destroy(assembly);
    return good;
}

static bool judge(scene *s)
{
    return judge_capped(s, 0.0);
}

static double read(const scene *s, const char *name)
{
    int index = ss_metric_index(name);
    return index < 0 ? NAN : s->value[index].value;
}

static bool applies(const scene *s, const char *name)
{
    return s->value[ss_metric_index(name)].applies;
}

static void drop(scene *s)
{
    ss_answer_destroy(s->answer);
    ss_answer_destroy(s->reference);
    ss_frame_destroy(s->frame);
}

/* Rounding of a handful of operations on numbers of order one. */
static const double rounding = 1e-14;

TEST(the_right_answer_has_no_error)
{
    scene s = sliding_block(1.0);
    ENSURE(judge(&s));
    static const char *const zero[] = {
        "energy",         "energy_exact",       "relative_energy", "fischer_burmeister",
        "cone",           "anomalous_friction", "alignment",       "natural_residual",
        "tension",        "dissipation_gap",    "complementarity", "natural_map",
        "momentum",       "energy_balance",     "penetration",     "anomalous_contacts",
        "penetration_max"};
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
        ENSURE(applies(&s, zero[i]));
        ENSURE_NEAR(read(&s, zero[i]), 0.0, 1e-8 * (strcmp(zero[i], "alignment") == 0 ? 1.0 : 1e-6));
    }
    ENSURE_NEAR(read(&s, "resting"), 1.0, 0.0);
    ENSURE_NEAR(read(&s, "sliding"), 1.0, 0.0);
    ENSURE_NEAR(read(&s, "sticking"), 0.0, 0.0);
    ENSURE(!applies(&s, "creep"));
    ENSURE(!applies(&s, "distance"));
    ENSURE(!applies(&s, "joint_speed"));
    drop(&s);
}

TEST(friction_of_the_sliding_block_takes_the_energy_it_should)
{
    scene s = sliding_block(1.0);
    ENSURE(judge(&s));
    double after = 1.0 - friction * gravity * step, gained = 0.5 * mass * (after * after - 1.0);
    ENSURE_NEAR(read(&s, "kinetic_energy_change"), gained, rounding);
    ENSURE_NEAR(read(&s, "contact_work"), gained, rounding); // gravity does no work on a flat floor
    drop(&s);
}

TEST(a_creep_of_three_millimetres_a_second_reads_three_millimetres_a_second)
{
    scene s = sliding_block(1.0);
    double nu = s.answer->normal_impulse[0], pull = 0.1 * friction * nu;
    s.answer->velocity[0][0] = 0.003;
    s.answer->friction_impulse[0][0] = -pull;
    s.frame->bodies.velocity[0][0] = 0.003 + pull / mass;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "sticking"), 1.0, 0.0);
    ENSURE_NEAR(read(&s, "creep"), 0.003, rounding);
    ENSURE_NEAR(read(&s, "creep_max"), 0.003, rounding);
    ENSURE_INT(s.value[ss_metric_index("creep_max")].worst_contact, 0);
    ENSURE_NEAR(read(&s, "momentum"), 0.0, rounding);
    drop(&s);
}

TEST(friction_across_the_motion_is_misaligned_by_one_and_along_it_by_two)
{
    scene s = sliding_block(1.0);
    double limit = friction * s.answer->normal_impulse[0];
    s.answer->friction_impulse[0][0] = 0.0;
    s.answer->friction_impulse[0][1] = limit;
    s.answer->velocity[0][1] = 0.0;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "alignment"), 1.0, rounding);
    s.answer->friction_impulse[0][0] = limit;
    s.answer->friction_impulse[0][1] = 0.0;
    ENSURE(judge(&s));
    double speed = s.answer->velocity[0][0];
    ENSURE_NEAR(read(&s, "alignment"), 2.0, rounding);
    ENSURE_NEAR(read(&s, "anomalous_friction"), limit * speed, rounding);
    ENSURE_NEAR(read(&s, "anomalous_contacts"), 1.0, 0.0);
    ENSURE_NEAR(read(&s, "dissipation_gap"), 2.0 * limit * speed, rounding);
    drop(&s);
}

TEST(friction_a_fifth_too_large_leaves_the_cone_by_that)
{
    scene s = sliding_block(1.0);
    double limit = friction * s.answer->normal_impulse[0];
    s.answer->friction_impulse[0][0] = -1.2 * limit;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 0.2 * limit, rounding);
    drop(&s);
}

TEST(an_elliptic_cone_counts_along_the_direction_of_friction)
{
    scene s = sliding_block(1.0);
    double nu = s.answer->normal_impulse[0];
    ENSURE(ss_frame_enable(s.frame, "contacts/t_u", &s.err));
    memcpy(s.frame->contacts.tangent[0], (double[3]){1.0, 0.0, 0.0}, 3 * sizeof(double));
    s.frame->contacts.mu[0][1] = 0.25;
    s.answer->friction_impulse[0][0] = 0.0;
    s.answer->friction_impulse[0][1] = -0.30 * nu; // 0.05 nu outside along v, well inside if mu = 0.5 counted
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 0.05 * nu, rounding);
    drop(&s);
}

TEST(a_normal_impulse_that_pulls_is_tension)
{
    scene s = sliding_block(1.0);
    s.answer->normal_impulse[0] = -0.1;
    s.answer->friction_impulse[0][0] = 0.0;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "tension"), 0.1, rounding);
    ENSURE_NEAR(read(&s, "resting"), 0.0, 0.0);
    drop(&s);
}

TEST(penetration_is_the_gap_at_the_end_of_the_step)
{
    scene s = sliding_block(1.0);
    s.frame->contacts.gap[0] = -1e-3;
    s.answer->velocity[0][2] = -0.05;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "penetration"), 1e-3 + 0.05 * step, rounding);
    ENSURE_NEAR(read(&s, "penetration_max"), 1e-3 + 0.05 * step, rounding);
    drop(&s);
}

TEST(no_impulse_at_all_costs_the_energy_of_one_step_of_free_fall)
{
    scene s = sliding_block(0.0);
    s.answer->normal_impulse[0] = s.answer->friction_impulse[0][0] = s.answer->velocity[0][0] = 0.0;
    s.answer->velocity[0][2] = -gravity * step;
    ENSURE(judge(&s));
    double fall = 0.5 * mass * gravity * gravity * step * step;
    ENSURE_NEAR(read(&s, "energy"), fall, 1e-12 * fall);
    ENSURE_NEAR(read(&s, "relative_energy"), 1.0, rounding);
    ENSURE_NEAR(read(&s, "momentum"), 0.0, rounding);
    ENSURE_INT(s.value[ss_metric_index("energy")].worst_contact, 0);
    s.reference = ss_answer_create(s.frame, false, &s.err); // the truth: it rests
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "distance"), fall, 1e-12 * fall);
    ENSURE_NEAR(read(&s, "trust"), 1.0, 1e-12);
    ENSURE_NEAR(read(&s, "velocity_distance"), gravity * step, 1e-12);
    ENSURE_INT(s.value[ss_metric_index("velocity_distance")].worst_contact, 0);
    drop(&s);
}

TEST(momentum_out_of_nowhere_is_told_as_its_energy)
{
    scene s = sliding_block(1.0);
    s.answer->velocity[0][1] += 0.3;
    s.answer->velocity[0][5] += 0.2;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "momentum"), 0.5 * (mass * 0.09 + 0.4 * 0.04), rounding);
    ENSURE_NEAR(read(&s, "energy_balance"), 0.5 * (mass * 0.09 + 0.4 * 0.04), rounding);
    drop(&s);
}

TEST(the_error_in_joule_follows_the_units_and_the_relative_one_does_not)
{
    scene s = sliding_block(1.0);
    s.answer->normal_impulse[0] *= 0.9;
    s.answer->friction_impulse[0][1] = 0.05;
    ENSURE(judge(&s));
    double energy = read(&s, "energy"), relative = read(&s, "relative_energy");
    double natural = read(&s, "natural_residual");
    const double kg = 1000.0, m = 1000.0; // now in grams and millimetres
    s.frame->bodies.mass[0] *= kg;
    for (int i = 0; i < 9; i++) s.frame->bodies.inertia[0][i] *= kg * m * m;
    for (int i = 0; i < 3; i++) {
        s.frame->bodies.velocity[0][i] *= m;
        s.answer->velocity[0][i] *= m;
        s.frame->bodies.force[0][i] *= kg * m;
        s.answer->friction_impulse[0][i] *= kg * m;
    }
    s.answer->normal_impulse[0] *= kg * m;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "energy"), energy * kg * m * m, 1e-10 * energy * kg * m * m);
    ENSURE_NEAR(read(&s, "relative_energy"), relative, 1e-12);
    // the natural residual mixes impulses and velocities: no factor makes it the same number
    double as_impulse = natural * kg * m, as_velocity = natural * m;
    ENSURE(fabs(read(&s, "natural_residual") - as_impulse) > 1e-3 * as_impulse ||
           fabs(read(&s, "natural_residual") - as_velocity) > 1e-3 * as_velocity);
    drop(&s);
}

TEST(what_a_contact_does_is_what_the_metrics_count)
{
    static const double share[] = {1.0, -0.5, -1.0, 1.0}; // of the largest friction, along x
    static const ss_contact_status status[] = {SS_CONTACT_OPEN, SS_CONTACT_STICK, SS_CONTACT_SLIP,
                                               SS_CONTACT_NEGATIVE_FRICTION};
    for (int i = 0; i < 4; i++) {
        scene s = sliding_block(1.0);
        s.answer->friction_impulse[0][0] = share[i] * friction * s.answer->normal_impulse[0];
        if (i == 0) s.answer->normal_impulse[0] = 0.0; // friction alone does not make a contact rest
        ss_contact_report report = {.status = SS_CONTACT_STATUS_COUNT, .energy = 7.0};
        ENSURE(ss_judge_frame(s.frame, NULL, s.answer, s.value, &report, &s.err));
        ENSURE_INT(report.status, status[i]);
        ENSURE_NEAR(report.energy, read(&s, "energy"), 0.0); // there is no other contact
        ENSURE_NEAR(report.sliding[0], s.answer->velocity[0][0], rounding);
        ENSURE_NEAR(read(&s, "resting"), i > 0, 0.0);
        ENSURE_NEAR(read(&s, "sticking"), i == 1, 0.0);
        ENSURE_NEAR(read(&s, "sliding"), i > 1, 0.0);
        ENSURE_NEAR(read(&s, "anomalous_contacts"), i == 3, 0.0);
        drop(&s);
    }
}

/* A contact about to slide moves by rounding, in any direction: its friction drives nothing. */
TEST(negative_friction_begins_at_the_speed_that_counts)
{
    const double v_tol = 1e-4 * gravity * step;
    for (int i = 0; i < 2; i++) {
        scene s = sliding_block(1.0);
        s.answer->velocity[0][0] = (i == 0 ? 0.5 : 2.0) * v_tol;
        s.answer->friction_impulse[0][0] = friction * s.answer->normal_impulse[0];
        ENSURE(judge(&s));
        ENSURE_NEAR(read(&s, "sliding"), 1.0, 0.0);
        ENSURE_NEAR(read(&s, "anomalous_contacts"), i, 0.0);
        ENSURE(read(&s, "anomalous_friction") > 0.0);
        drop(&s);
    }
}

/* ---- friction that differs between contacts and directions ------------------------------------------- */

static void set_friction(scene *s, double along_x, double along_y)
{
    ENSURE(ss_frame_enable(s->frame, "contacts/t_u", &s->err));
    memcpy(s->frame->contacts.tangent[0], (double[3]){1.0, 0.0, 0.0}, 3 * sizeof(double));
    s->frame->contacts.mu[0][0] = along_x;
    s->frame->contacts.mu[0][1] = along_y;
}

TEST(a_block_on_ice_slides_and_does_not_creep)
{
    scene s = sliding_block(1.0);
    set_friction(&s, 0.0, 0.0);
    s.answer->friction_impulse[0][0] = 0.0;
    s.answer->velocity[0][0] = 1.0;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "sliding"), 1.0, 0.0);
    ENSURE_NEAR(read(&s, "sticking"), 0.0, 0.0);
    ENSURE(!applies(&s, "creep") && !applies(&s, "creep_max"));
    ENSURE(!applies(&s, "alignment"));
    ENSURE_TEXT(s.value[ss_metric_index("alignment")].why, "nothing slides against friction");
    ENSURE_NEAR(read(&s, "energy"), 0.0, rounding);
    drop(&s);
}

TEST(a_skate_does_not_creep_along_its_blade)
{
    scene s = sliding_block(1.0);
    set_friction(&s, 0.0, friction); // the blade lies along x and grips along y
    s.answer->friction_impulse[0][0] = 0.0;
    s.answer->friction_impulse[0][1] = 0.1 * friction * s.answer->normal_impulse[0];
    s.answer->velocity[0][0] = 1.0;
    s.answer->velocity[0][1] = 0.003;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "sticking"), 1.0, 0.0);
    ENSURE_NEAR(read(&s, "creep"), 0.003, rounding);
    drop(&s);
}

/* The smooth tangent along which the answer's vector has a component of rounding size: the contact holds. */
TEST(rounding_along_a_smooth_tangent_is_no_friction_there)
{
    scene s = sliding_block(0.0);
    ss_error err;
    ENSURE(ss_frame_enable(s.frame, "contacts/t_u", &err));
    const double c = cos(0.3), sine = sin(0.3), f = 0.1 * s.answer->normal_impulse[0];
    s.frame->contacts.tangent[0][0] = c, s.frame->contacts.tangent[0][1] = sine;
    s.frame->contacts.tangent[0][2] = 0.0;
    s.frame->contacts.mu[0][0] = 0.0; // along t_u
    s.answer->velocity[0][0] = 0.0;
    s.answer->friction_impulse[0][0] = -f * sine + 1e-16 * f;
    s.answer->friction_impulse[0][1] = f * c;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 0.0, rounding);
    ENSURE_NEAR(read(&s, "sticking"), 1.0, 0.0);
    // far more than rounding: friction where there is none, and no more of it than there is
    s.answer->friction_impulse[0][0] += 1e-9 * f * c;
    s.answer->friction_impulse[0][1] += 1e-9 * f * sine;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 1e-9 * f, 1e-15 * f);
    ENSURE_NEAR(read(&s, "sticking"), 1.0, 0.0);
    drop(&s);
}

/* Impulses are stored along the axes of the world: along a blade that is not one of them rounding is left,
 * and must not be taken for friction without a coefficient. */
TEST(rounding_along_a_blade_is_no_friction_outside_the_cone)
{
    scene s = sliding_block(1.0);
    set_friction(&s, 0.0, friction);
    double limit = friction * s.answer->normal_impulse[0];
    s.answer->friction_impulse[0][0] = 1e-17 * limit;
    s.answer->friction_impulse[0][1] = 0.1 * limit;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 0.0, 1e-16 * limit);
    ENSURE_NEAR(read(&s, "sticking"), 1.0, 0.0);
    // what is no rounding is outside in full, and what grips too hard by what is too much
    s.answer->friction_impulse[0][0] = 0.4 * limit;
    s.answer->friction_impulse[0][1] = 1.3 * limit;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), hypot(0.4, 0.3) * limit, rounding);
    // endless friction beside none: as much as it likes of the one
    set_friction(&s, 0.0, INFINITY);
    s.answer->friction_impulse[0][0] = 1e-17 * limit;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 0.0, 1e-16 * limit);
    ENSURE_NEAR(read(&s, "sticking"), 1.0, 0.0);
    drop(&s);
}

/* The law of largest dissipation on an ellipse: f = -nu (mu_u^2 v_u, mu_v^2 v_v) / |(mu_u v_u, mu_v v_v)|. It
 * is not opposite to the sliding, and takes nu |(mu_u v_u, mu_v v_v)|. */
TEST(friction_on_an_ellipse_that_obeys_the_law_has_no_error)
{
    scene s = sliding_block(0.0);
    set_friction(&s, 0.5, 0.25);
    double nu = s.answer->normal_impulse[0], v[2] = {0.8, 0.6};
    double size = hypot(0.5 * v[0], 0.25 * v[1]);
    for (int i = 0; i < 2; i++) {
        double mu = s.frame->contacts.mu[0][i], f = -nu * mu * mu * v[i] / size;
        s.answer->friction_impulse[0][i] = f;
        s.answer->velocity[0][i] = v[i];
        s.frame->bodies.velocity[0][i] = v[i] - f / mass;
    }
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "energy"), 0.0, rounding);
    ENSURE_NEAR(read(&s, "dissipation_gap"), 0.0, rounding);
    ENSURE_NEAR(read(&s, "alignment"), 0.0, rounding);
    // friction straight against the sliding, as large as the ellipse allows, takes less than that
    double reach = nu / hypot(v[0] / 0.5, v[1] / 0.25);
    for (int i = 0; i < 2; i++) s.answer->friction_impulse[0][i] = -reach * v[i];
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 0.0, rounding);
    ENSURE_NEAR(read(&s, "dissipation_gap"), nu * size - reach, rounding);
    ENSURE(read(&s, "dissipation_gap") > 0.01 && read(&s, "alignment") > 0.05);
    drop(&s);
}

TEST(dissipation_is_missed_at_contacts_that_do_not_rest_as_well)
{
    scene s = sliding_block(1.0);
    s.answer->normal_impulse[0] = 0.0; // and friction all the same
    double f = s.answer->friction_impulse[0][0];
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "dissipation_gap"), f * s.answer->velocity[0][0], rounding);
    drop(&s);
}

TEST(friction_that_pushes_does_work_before_it_is_saturated)
{
    scene s = sliding_block(1.0);
    double push = 0.3 * friction * s.answer->normal_impulse[0];
    s.answer->friction_impulse[0][0] = push;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "sticking"), 1.0, 0.0);
    ENSURE_NEAR(read(&s, "anomalous_friction"), push * s.answer->velocity[0][0], rounding);
    ENSURE_INT(s.value[ss_metric_index("anomalous_friction")].worst_contact, 0);
    ENSURE_NEAR(read(&s, "anomalous_contacts"), 0.0, 0.0);
    drop(&s);
}

/* What is judged is the law that was solved. */
TEST(less_friction_by_mu_max_counts_in_every_metric)
{
    scene s = sliding_block(1.0), with_less = sliding_block(1.0);
    double capped = 0.6 * friction, f = -capped * s.answer->normal_impulse[0];
    s.answer->friction_impulse[0][0] = with_less.answer->friction_impulse[0][0] = f;
    s.answer->velocity[0][0] = with_less.answer->velocity[0][0] = 1.0 + f / mass;
    with_less.frame->contacts.mu[0][0] = with_less.frame->contacts.mu[0][1] = capped;
    ENSURE(judge_capped(&s, capped) && judge(&with_less));
    ENSURE_NEAR(read(&s, "sliding"), 1.0, 0.0);
    for (int i = 0; i < ss_metric_count(); i++) {
        ENSURE_INT(s.value[i].applies, with_less.value[i].applies);
        if (s.value[i].applies) ENSURE_NEAR(s.value[i].value, with_less.value[i].value, 0.0);
    }
    drop(&s);
    drop(&with_less);
}

/* Endless friction along y says nothing about x. */
TEST(friction_is_limited_in_one_direction_and_endless_in_the_other)
{
    scene s = sliding_block(1.0);
    set_friction(&s, friction, INFINITY);
    double limit = friction * s.answer->normal_impulse[0], v = s.answer->velocity[0][0];
    s.answer->friction_impulse[0][0] = -1.5 * limit;
    s.answer->friction_impulse[0][1] = 7.0 * limit;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 0.5 * limit, rounding);
    ENSURE_NEAR(read(&s, "dissipation_gap"), -0.5 * limit * v, rounding);
    s.answer->friction_impulse[0][0] = 0.5 * limit;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "cone"), 0.0, 0.0);
    ENSURE_NEAR(read(&s, "dissipation_gap"), 1.5 * limit * v, rounding);
    drop(&s);
}

/* ---- contacts without friction ----------------------------------------------------------------------- */

/* The rod of Enzenhoefer et al. 2019, section 5.1: 4 kg, 1.5 m, on two supports without friction, turned by
 * 20 N m, with the guess x = (0, -0.1019) N s. The numbers are the paper's, its slips put right (`stickslip
 * paper rod`). */
static scene rod(void)
{
    static const double heavy = 4.0, inertia = 0.75, arm = 0.75, torque = 20.0, pull = -0.1019;
    scene s = {0};
    s.frame = ss_frame_create(1, 0, 0, 2, &s.err);
    s.frame->h = step;
    s.frame->bodies.mass[0] = heavy;
    for (int i = 0; i < 3; i++) s.frame->bodies.inertia[0][4 * i] = inertia;
    s.frame->bodies.force[0][2] = -heavy * gravity;
    s.frame->bodies.force[0][3] = torque;
    for (int c = 0; c < 2; c++) {
        s.frame->contacts.pair[c][1] = 0;
        s.frame->contacts.point[c][1] = c == 0 ? -arm : arm;
        s.frame->contacts.normal[c][2] = 1.0;
    }
    s.answer = ss_answer_create(s.frame, false, &s.err);
    s.answer->normal_impulse[1] = pull;
    s.answer->velocity[0][2] = -step * gravity + pull / heavy;
    s.answer->velocity[0][3] = (step * torque + arm * pull) / inertia;
    return s;
}

TEST(the_rod_of_the_paper_has_the_errors_of_the_paper)
{
    scene s = rod();
    const double w = 0.24715, x = 0.1019;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "energy"), 0.5 * (w * w + x * x), 1e-12);
    ENSURE_NEAR(read(&s, "energy_exact"), 0.5 * (w * w / 0.75 + 0.75 * x * x), 1e-13);
    ENSURE_NEAR(read(&s, "fischer_burmeister"), w + 2.0 * x, 1e-12);
    ENSURE_NEAR(read(&s, "natural_residual"), w + x, 1e-12);
    drop(&s);
}

TEST(without_friction_gauges_of_cones_and_rows_and_metrics_are_one)
{
    static const char *const names[] = {"energy", "relative_energy", "natural_residual",
                                        "fischer_burmeister"};
    static const ss_gauge gauges[] = {SS_GAUGE_ENERGY, SS_GAUGE_RELATIVE_ENERGY, SS_GAUGE_NATURAL_RESIDUAL,
                                      SS_GAUGE_FISCHER_BURMEISTER};
    scene s = rod();
    ENSURE(judge(&s));
    static const char *const formulations[] = {"cone", "frictionless", "convex"};
    for (int f = 0; f < 3; f++) {
        ss_assembly *assembly = ss_assembly_create(ss_formulation_find(formulations[f]), NULL, &s.err);
        double x[6] = {0}, values[SS_GAUGE_COUNT];
        ENSURE(assembly && ss_assemble(assembly, s.frame, NULL, &s.err));
        ss_assembly_guess(assembly, s.answer, x);
        ENSURE(ss_problem_measure(ss_assembly_problem(assembly), x, values, &s.err));
        for (int i = 0; i < 4; i++) ENSURE_NEAR(values[gauges[i]], read(&s, names[i]), 1e-14);
        ss_assembly_destroy(assembly);
    }
    drop(&s);
}

/* Friction where there is none: the energy that it would take to make up for it. */
TEST(friction_on_ice_is_worth_its_energy)
{
    scene s = sliding_block(0.0);
    set_friction(&s, 0.0, 0.0);
    double f = s.answer->friction_impulse[0][0];
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "energy"), 0.5 * f * f / mass, rounding);
    ENSURE_NEAR(read(&s, "cone"), -f, rounding);
    drop(&s);
}

/* ---- exact masses ------------------------------------------------------------------------------------ */

/* A block on four corners has more normal rows than it can move: no impulse at one of them alone can be told
 * from one spread over the others, and "the" effective mass of a row is rounding. */
TEST(exact_masses_of_redundant_contacts_are_not_made_up)
{
    scene s = {0};
    s.frame = ss_frame_create(1, 0, 0, 4, &s.err);
    s.frame->h = step;
    s.frame->bodies.mass[0] = mass;
    for (int i = 0; i < 3; i++) s.frame->bodies.inertia[0][4 * i] = 0.4;
    s.frame->bodies.force[0][2] = -mass * gravity;
    for (int c = 0; c < 4; c++) {
        s.frame->contacts.pair[c][1] = 0;
        s.frame->contacts.normal[c][2] = 1.0;
        s.frame->contacts.point[c][0] = c % 2 ? 0.3 : -0.3;
        s.frame->contacts.point[c][1] = c / 2 ? 0.7 : -0.7;
    }
    s.answer = ss_answer_create(s.frame, false, &s.err);
    s.answer->velocity[0][2] = -gravity * step;
    ENSURE(judge(&s));
    ENSURE(applies(&s, "energy"));
    ENSURE(!applies(&s, "energy_exact"));
    ENSURE_TEXT(s.value[ss_metric_index("energy_exact")].why,
                "redundant rows: exact effective masses are not defined");
    s.frame->contacts.count = 3; // three corners are not redundant
    ENSURE(judge(&s));
    ENSURE(applies(&s, "energy_exact"));
    ENSURE(read(&s, "energy_exact") > read(&s, "energy")); // an exact mass is larger
    s.frame->contacts.count = 4;
    drop(&s);
}

/* ---- units and digits -------------------------------------------------------------------------------- */

/* A ball that slides and rolls at once, with an answer that is wrong in every component; the unit of length
 * is 1 m / per_metre. */
static scene rolling_ball(double per_metre, double mu)
{
    scene s = {0};
    double m = per_metre, radius = 0.1 * m;
    s.frame = ss_frame_create(1, 0, 0, 1, &s.err);
    if (!ss_frame_enable(s.frame, "contacts/t_u", &s.err) ||
        !ss_frame_enable(s.frame, "contacts/mu_r", &s.err))
        return s; // which judging refuses
    s.frame->h = step;
    s.frame->bodies.mass[0] = mass;
    for (int i = 0; i < 3; i++) s.frame->bodies.inertia[0][4 * i] = 0.4 * mass * radius * radius;
    s.frame->bodies.position[0][2] = radius;
    memcpy(s.frame->bodies.velocity[0], (double[6]){m, 0.3 * m, 0.0, 0.0, 5.0, 2.0}, 6 * sizeof(double));
    s.frame->bodies.force[0][2] = -mass * gravity * m;
    s.frame->contacts.pair[0][1] = 0;
    s.frame->contacts.normal[0][2] = 1.0;
    s.frame->contacts.tangent[0][0] = 1.0;
    s.frame->contacts.mu[0][0] = s.frame->contacts.mu[0][1] = mu;
    s.frame->contacts.mu_rolling[0] = 0.02 * m;
    s.answer = ss_answer_create(s.frame, true, &s.err);
    s.answer->normal_impulse[0] = 0.7 * mass * gravity * step * m;
    s.answer->friction_impulse[0][0] = -0.05 * m;
    s.answer->friction_impulse[0][1] = 0.02 * m;
    s.answer->rolling_impulse[0][0] = 0.004 * m * m;
    s.answer->rolling_impulse[0][1] = -0.003 * m * m;
    memcpy(s.answer->velocity[0], (double[6]){0.9 * m, 0.3 * m, -0.02 * m, 1.0, 4.0, 2.0},
           6 * sizeof(double));
    return s;
}

TEST(joules_of_rolling_friction_do_not_depend_on_the_unit_of_length)
{
    static const double per_metre = 1024.0, mu[] = {0.5, 0.0, INFINITY};
    for (int i = 0; i < 3; i++) {
        scene s = rolling_ball(1.0, mu[i]), in_other_units = rolling_ball(per_metre, mu[i]);
        ENSURE(judge(&s) && judge(&in_other_units));
        double energy = read(&s, "energy"), joule = per_metre * per_metre;
        ENSURE(energy > 1e-3);
        ENSURE_NEAR(read(&in_other_units, "energy"), energy * joule, 1e-13 * energy * joule);
        ENSURE_NEAR(read(&in_other_units, "relative_energy"), read(&s, "relative_energy"), 1e-13);
        drop(&s);
        drop(&in_other_units);
    }
}

/* 100 kg that slide at 1e-8 m/s: an exact answer, of which the smaller eigenvalue of Fischer-Burmeister's
 * square is 1e-17 of the larger one. */
TEST(fischer_burmeister_has_all_its_digits_where_sliding_is_slow)
{
    static const double speeds[] = {1.0, 1e-4, 1e-8, 1e-12, 0.0}, heavy = 100.0, mu = 0.3;
    for (int i = 0; i < 5; i++) {
        scene s = sliding_block(0.0);
        set_friction(&s, mu, mu);
        double nu = heavy * gravity * step, v[2] = {0.6 * speeds[i], 0.8 * speeds[i]};
        s.frame->bodies.mass[0] = heavy;
        s.answer->normal_impulse[0] = nu;
        for (int k = 0; k < 2; k++) {
            s.answer->friction_impulse[0][k] = -mu * nu * (k == 0 ? 0.6 : 0.8);
            s.answer->velocity[0][k] = v[k];
        }
        ENSURE(judge(&s));
        ENSURE_NEAR(read(&s, "fischer_burmeister"), 0.0, 1e-15 * nu);
        drop(&s);
    }
}

/* x + y - sqrt(x o x + y o y) on the Lorentz cone where it can be done by hand: r and u along one direction
 * have eigenvalues x0 +- x1 and y0 +- y1, and phi acts on each pair as on numbers. */
TEST(fischer_burmeister_of_a_cone_is_that_of_its_eigenvalues)
{
    static const double mu = 0.5, cases[][4] = {{1.0, 0.5, 0.25, 0.5}, // r_N, r_T, u_N, u_T
                                                {2.0, -1.0, -0.5, 3.0},
                                                {-1.0, 0.5, 0.25, -0.5},
                                                {1.0, 0.5, 1e-9, 1e-9},
                                                {1e-120, 5e-121, 1e-121, 3e-120}};
    for (int i = 0; i < 5; i++) {
        const double *c = cases[i];
        double x0 = mu * c[0], y0 = (c[2] + mu * fabs(c[3])) / mu, phi[2];
        for (int k = 0; k < 2; k++) {
            double side = k == 0 ? 1.0 : -1.0, x = x0 + side * c[1], y = y0 + side * c[3], root = hypot(x, y);
            phi[k] = x > 0.0 && y > 0.0 ? 2.0 * x * y / (x + y + root) : x + y - root;
        }
        double by_hand = sqrt(0.5) * hypot(phi[0], phi[1]);
        ss_error err;
        ss_problem *problem = ss_problem_create(3, 1, 1, &err);
        ENSURE(problem);
        problem->blocks[0] = (ss_block){.law = SS_LAW_CONE, .size = 3, .mu = mu, .constraint = -1};
        memcpy(problem->b, (double[3]){c[2], 0.6 * c[3], 0.8 * c[3]}, 3 * sizeof(double));
        double x[3] = {c[0], 0.6 * c[1], 0.8 * c[1]}, values[SS_GAUGE_COUNT];
        for (int k = 0; k < 3; k++) problem->bodies->pair[k][0] = problem->bodies->pair[k][1] = -1;
        ENSURE(ss_problem_measure(problem, x, values, &err));
        ENSURE_NEAR(values[SS_GAUGE_FISCHER_BURMEISTER], by_hand,
                    1e-15 * hypot(hypot(x0, c[1]), hypot(y0, c[3])));
        ss_problem_destroy(problem);
    }
}

/* A block that glides along an inclined floor, without weight: no impulse is right, and what the normal
 * velocity is off by is rounding. Another right answer, as a solver finds it, is off by other rounding. */
static scene gliding_block(double tilt, double metre)
{
    scene s = sliding_block(0.0);
    double c = cos(tilt), sine = sin(tilt), *v = s.frame->bodies.velocity[0], *u = s.answer->velocity[0];
    memset(s.frame->bodies.force[0], 0, 6 * sizeof(double));
    memcpy(s.frame->contacts.normal[0], (double[3]){-sine, 0.0, c}, 3 * sizeof(double));
    s.answer->normal_impulse[0] = s.answer->friction_impulse[0][0] = 0.0;
    v[0] = 3.0 * c * metre, v[2] = 3.0 * sine * metre;
    u[0] = v[0], u[2] = v[2];
    return s;
}

TEST(where_nothing_is_to_be_done_doing_nothing_has_no_relative_error)
{
    for (int i = 1; i < 40; i++) {
        scene s = gliding_block(0.03 * i, 1.0);
        ENSURE(judge(&s));
        ENSURE_NEAR(read(&s, "relative_energy"), 0.0, 0.0);
        s.answer->normal_impulse[0] = 1e-16 * mass;
        s.answer->velocity[0][2] += 1e-16;
        ENSURE(judge(&s));
        ENSURE_NEAR(read(&s, "relative_energy"), 0.0, 0.0);
        drop(&s);
    }
}

TEST(a_wrong_answer_where_nothing_is_to_be_done_is_wrong_in_any_unit)
{
    double relative[2];
    for (int i = 0; i < 2; i++) {
        double metre = i == 0 ? 1.0 : 1024.0;
        scene s = gliding_block(0.3, metre);
        s.answer->normal_impulse[0] = 1e-3 * mass * metre;
        s.answer->velocity[0][0] -= 1e-3 * sin(0.3) * metre;
        s.answer->velocity[0][2] += 1e-3 * cos(0.3) * metre;
        ENSURE(judge(&s));
        relative[i] = read(&s, "relative_energy");
        drop(&s);
    }
    ENSURE(relative[0] > 1.0);
    ENSURE_NEAR(relative[1], relative[0], 1e-12 * relative[0]);
}

/* A rolling moment without anything to roll on is worth the energy of the spin that it makes. */
TEST(a_moment_too_much_is_worth_the_spin_that_it_makes)
{
    scene s = rolling_ball(1.0, 0.5);
    const double moment = 0.003, inertia = s.frame->bodies.inertia[0][0];
    s.frame->contacts.mu_rolling[0] = 1e-12;
    s.answer->normal_impulse[0] = mass * gravity * step;
    s.answer->friction_impulse[0][0] = s.answer->friction_impulse[0][1] = s.answer->rolling_impulse[0][1] =
        0.0;
    s.answer->rolling_impulse[0][0] = moment;
    memset(s.answer->velocity, 0, 6 * sizeof(double));
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "energy"), 0.5 * moment * moment / inertia, 1e-9);
    drop(&s);
}

/* ---- several answers --------------------------------------------------------------------------------- */

/* Painleve's rod: its end slides over rough ground so that friction presses it down, 2 A_NT > A_NN. Moving up
 * at 0.04 m/s it may fly off, or jam with an impulse of 0.01 N s: Coulomb's law allows both. */
static scene painleve_rod(void)
{
    scene s = {0};
    s.frame = ss_frame_create(1, 0, 0, 1, &s.err);
    s.frame->h = step;
    s.frame->bodies.mass[0] = 1.0;
    for (int i = 0; i < 3; i++) s.frame->bodies.inertia[0][4 * i] = 0.05;
    s.frame->bodies.velocity[0][0] = 1.0;
    s.frame->bodies.velocity[0][2] = 0.04;
    s.frame->contacts.pair[0][1] = 0;
    s.frame->contacts.point[0][0] = 0.5; // A_NN = 6, A_NT = 5, A_TT = 6
    s.frame->contacts.point[0][2] = -0.5;
    s.frame->contacts.normal[0][2] = 1.0;
    s.frame->contacts.mu[0][0] = s.frame->contacts.mu[0][1] = 2.0;
    s.answer = ss_answer_create(s.frame, false, &s.err);
    memcpy(s.answer->velocity[0], s.frame->bodies.velocity[0], 6 * sizeof(double)); // flies off
    s.reference = ss_answer_create(s.frame, false, &s.err);
    s.reference->normal_impulse[0] = 0.01; // jams
    s.reference->friction_impulse[0][0] = -0.02;
    memcpy(s.reference->velocity[0], (double[6]){0.98, 0.0, 0.05, 0.0, (0.01 - 0.005) / 0.05, 0.0},
           6 * sizeof(double));
    return s;
}

TEST(a_reference_that_is_one_of_several_answers_is_no_yardstick)
{
    scene s = painleve_rod();
    ss_answer *flies = s.answer, *jams = s.reference;
    s.answer = jams;
    ENSURE(judge(&s)); // both obey the laws
    ENSURE_NEAR(read(&s, "energy"), 0.0, rounding);
    ENSURE_NEAR(read(&s, "momentum"), 0.0, rounding);
    s.answer = flies;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "energy"), 0.0, rounding);
    ENSURE(!applies(&s, "distance") && !applies(&s, "velocity_distance") && !applies(&s, "trust"));
    ENSURE_TEXT(s.value[ss_metric_index("trust")].why,
                "answer and reference both obey the laws: there are several");
    s.answer->velocity[0][2] = -0.01; // a wrong answer has its distance
    ENSURE(judge(&s));
    ENSURE(applies(&s, "distance") && applies(&s, "trust"));
    drop(&s);
}

TEST(the_reference_itself_has_no_distance)
{
    scene s = painleve_rod();
    memcpy(s.reference->velocity[0], s.answer->velocity[0], 6 * sizeof(double));
    s.reference->normal_impulse[0] = s.reference->friction_impulse[0][0] = 0.0;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "distance"), 0.0, 0.0);
    ENSURE(!applies(&s, "trust"));
    drop(&s);
}

/* ---- joints ------------------------------------------------------------------------------------------ */

/* A slider on a rail along x: a row that carries, z, and one of friction that follows its load. */
TEST(a_bilateral_row_that_loads_friction_is_still_bilateral)
{
    scene s = {0};
    s.frame = ss_frame_create(1, 1, 2, 0, &s.err);
    s.frame->h = step;
    s.frame->bodies.mass[0] = mass;
    for (int i = 0; i < 3; i++) s.frame->bodies.inertia[0][4 * i] = 0.4;
    ENSURE(ss_frame_enable(s.frame, "constraints/friction", &s.err));
    ENSURE(ss_frame_enable(s.frame, "constraints/friction_row", &s.err));
    ss_constraints *rail = &s.frame->constraints;
    rail->pair[0][1] = 0;
    rail->rows[0] = 2;
    rail->jacobian[0][6 + 2] = rail->jacobian[1][6 + 0] = 1.0;
    rail->violation[0] = 1e-3;
    for (int r = 0; r < 2; r++) rail->bounds[r][0] = -INFINITY, rail->bounds[r][1] = INFINITY;
    rail->friction[1] = 0.3;
    rail->friction_row[0] = -1;
    rail->friction_row[1] = 0;
    s.answer = ss_answer_create(s.frame, false, &s.err);
    s.answer->velocity[0][0] = 0.7; // along the rail: no error of the joint
    s.answer->velocity[0][2] = 0.2;
    ENSURE(judge(&s));
    ENSURE(applies(&s, "joint_speed"));
    ENSURE_NEAR(read(&s, "joint_speed"), 0.2 + 1e-3 / step, rounding);
    ENSURE_INT(s.value[ss_metric_index("joint_speed")].worst_constraint, 0);
    drop(&s);
}

TEST(a_direction_of_endless_friction_is_no_joint)
{
    scene s = sliding_block(1.0);
    set_friction(&s, friction, INFINITY);
    ENSURE(judge(&s));
    ENSURE(!applies(&s, "joint_speed"));
    drop(&s);
}

/* ---- contacts that a formulation leaves out ---------------------------------------------------------- */

TEST(penetration_counts_at_contacts_beyond_the_margin)
{
    scene s = sliding_block(1.0);
    s.frame->contacts.gap[0] = 1e-3;
    s.answer->normal_impulse[0] = s.answer->friction_impulse[0][0] = 0.0;
    s.answer->velocity[0][2] = -1.0;
    const ss_step_options near = {.contact_margin = 1e-6};
    ENSURE(ss_judge_frame(s.frame, &near, s.answer, s.value, NULL, &s.err));
    ENSURE_NEAR(read(&s, "penetration"), step - 1e-3, rounding);
    ENSURE_NEAR(read(&s, "penetration_max"), step - 1e-3, rounding);
    ENSURE_INT(s.value[ss_metric_index("penetration_max")].worst_contact, 0);
    drop(&s);
}

/* A skate at 1 m/s whose grip is just used up, with rounding across the blade: it is not driven. */
TEST(what_glides_along_its_smooth_tangent_is_not_driven_across_it)
{
    scene s = sliding_block(1.0);
    set_friction(&s, 0.0, friction);
    s.answer->friction_impulse[0][0] = 0.0;
    s.answer->friction_impulse[0][1] = friction * s.answer->normal_impulse[0];
    s.answer->velocity[0][1] = 1e-15;
    ENSURE(judge(&s));
    ENSURE_NEAR(read(&s, "sliding"), 1.0, 0.0);
    ENSURE_NEAR(read(&s, "anomalous_contacts"), 0.0, 0.0);
    drop(&s);
}

TEST(without_contacts_contact_metrics_do_not_apply)
{
    scene s = {0};
    s.frame = ss_frame_create(1, 0, 0, 0, &s.err);
    s.frame->bodies.mass[0] = 1.0;
    for (int i = 0; i < 3; i++) s.frame->bodies.inertia[0][4 * i] = 1.0;
    s.answer = ss_answer_create(s.frame, false, &s.err);
    ENSURE(judge(&s));
    ENSURE(!applies(&s, "creep") && !applies(&s, "natural_map") && !applies(&s, "resting"));
    ENSURE(applies(&s, "momentum") && applies(&s, "energy"));
    ENSURE_TEXT(s.value[ss_metric_index("creep")].why, "no contacts");
    drop(&s);
}

TEST(every_metric_has_a_name_a_unit_and_a_definition)
{
    for (int i = 0; i < ss_metric_count(); i++) {
        const ss_metric *metric = ss_metric_at(i);
        ENSURE(metric->name[0] && metric->unit[0] && metric->summary[0] && metric->definition[0]);
        ENSURE_INT(ss_metric_index(metric->name), i);
    }
    ENSURE_INT(ss_metric_index("no such metric"), -1);
}

TEST_MAIN
