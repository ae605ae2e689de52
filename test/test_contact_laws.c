/* Torsional friction, adhesion, springs and dampers of contacts: what one ball and one block say about
 * them. */
#include "kit.h"

#include <stickslip/stickslip.h>

#include "mechanics.h"
#include "worlds.h"

/* Answers come from solvers that stop at residuals of 1e-12. */
#define SOLVED 1e-10

static bool enable(ss_frame *frame, const char *field, double **values, double value)
{
    if (!ss_frame_enable(frame, field, NULL)) return false;
    (*values)[0] = value;
    return true;
}

static double metric_of(const ss_frame *frame, const ss_answer *answer, const char *name)
{
    ss_metric_value values[64];
    if (!ss_judge_frame(frame, NULL, answer, values, NULL, NULL)) return NAN;
    for (int i = 0; i < ss_metric_count(); i++)
        if (strcmp(ss_metric_at(i)->name, name) == 0) return values[i].value;
    return NAN;
}

/* ---- torsion ---------------------------------------------------------------------------------------- */

/* I dw = -mu_t nu while it spins, with nu = m g h; what is slower stops. */
TEST(a_spinning_ball_loses_mu_t_times_its_load)
{
    static const char *const formulations[] = {"cone", "box"};
    double mu_t = 0.02, h = 0.01;
    for (int k = 0; k < 2; k++) {
        ss_frame *frame = ball_on_ground(0.3);
        ENSURE(enable(frame, "contacts/mu_t", &frame->contacts.mu_torsion, mu_t));
        double load = frame->bodies.mass[0] * GRAVITY * h, moment = frame->bodies.inertia[0][8];
        double loss = mu_t * load / moment;
        frame->bodies.velocity[0][5] = 3.5 * loss;
        for (int step = 1; step < 6; step++) {
            ENSURE(step_by(formulations[k], frame));
            ENSURE_NEAR(frame->bodies.velocity[0][5], fmax(3.5 - step, 0.0) * loss, SOLVED);
            ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
        }
        ss_frame_destroy(frame);
    }
}

TEST(the_moment_of_spinning_is_part_of_the_answer_and_is_judged)
{
    ss_frame *frame = ball_on_ground(0.3);
    ENSURE(enable(frame, "contacts/mu_t", &frame->contacts.mu_torsion, 0.02));
    frame->bodies.velocity[0][5] = -4.0;
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer && answer->rolling_impulse);
    ENSURE_NEAR(answer->rolling_impulse[0][2], 0.02 * answer->normal_impulse[0], SOLVED);
    ENSURE(metric_of(frame, answer, "relative_energy") < 1e-9);
    ENSURE(metric_of(frame, answer, "momentum") < 1e-18);

    // Half of the moment, with velocities that fit it: momentum is kept, the law is not.
    double less = 0.5 * answer->rolling_impulse[0][2];
    answer->rolling_impulse[0][2] -= less;
    answer->velocity[0][5] -= less / frame->bodies.inertia[0][8];
    ENSURE(metric_of(frame, answer, "momentum") < 1e-18);
    ENSURE(metric_of(frame, answer, "energy") > 1e-8);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* All solvers that take a cone beside a row that follows it. */
TEST(solvers_agree_on_spinning_and_sliding)
{
    ss_frame *frame = ball_on_ground(0.3);
    ENSURE(enable(frame, "contacts/mu_t", &frame->contacts.mu_torsion, 0.02));
    set_vector(frame->bodies.velocity[0], 0.4, -0.1, -0.2);
    set_vector(frame->bodies.velocity[0] + 3, 0.3, 0.5, 2.0);
    method cone = method_of("cone");
    ss_answer *expected = answer_of("cone", frame);
    ENSURE(expected != NULL);
    int took = 0;
    for (int i = 0; i < ss_solver_count(); i++) {
        const ss_solver *solver = ss_solver_at(i);
        ss_assembly *assembly = assembled(&cone, frame, NULL, NULL);
        ENSURE(assembly != NULL);
        ss_problem *problem = ss_assembly_problem(assembly);
        double x[8] = {0};
        ENSURE(problem->size <= 8);
        ss_run_options run = {.max_iterations = 20000, .stop = stop_rule("relative_energy<1e-9"), .seed = 1};
        ss_solve_result result;
        if (!ss_solver_refusal(solver, problem)) {
            ss_answer *answer = ss_answer_create(frame, true, NULL);
            bool good = ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &run}, x,
                                 &result, NULL);
            ss_solve_result_free(&result);
            ENSURE(good && result.status == SS_CONVERGED);
            ss_assembly_recover(assembly, x, answer);
            for (int k = 0; k < 6; k++) ENSURE_NEAR(answer->velocity[0][k], expected->velocity[0][k], 1e-7);
            ss_answer_destroy(answer);
            took++;
        }
        ss_assembly_destroy(assembly);
    }
    ENSURE(took >= 8);
    ss_answer_destroy(expected);
    ss_frame_destroy(frame);
}

TEST(formulations_without_torsion_say_so)
{
    ss_frame *frame = ball_on_ground(0.3);
    ENSURE(enable(frame, "contacts/mu_t", &frame->contacts.mu_torsion, 0.02));
    static const struct {
        const char *name;
        int losses;
    } cases[] = {{"cone", 0}, {"box", 0}, {"stewart-trinkle", 1}, {"frictionless", 1}};
    for (int k = 0; k < 4; k++) {
        method m = method_of(cases[k].name);
        ss_findings notes = {0};
        ss_assembly *assembly = assembled(&m, frame, &notes, NULL);
        ENSURE(assembly != NULL);
        int losses = 0;
        for (size_t i = 0; i < notes.count; i++) losses += strstr(notes.items[i].place, "mu_t") != NULL;
        ENSURE_INT(losses, cases[k].losses);
        ss_findings_free(&notes);
        ss_assembly_destroy(assembly);
    }
    ss_frame_destroy(frame);
}

/* A ball that spins about the vertical stops after t = I w / (mu_t m g); the last step ends at rest. */
TEST(a_spinning_ball_stops_when_it_should)
{
    double h = 1e-3, radius = 0.1, mu_t = 0.01, w = 8.0;
    ss_world *world = empty_world(0, 0, -GRAVITY);
    set_materials(world, (ss_material_pair){.mu = 0.5, .mu_torsion = mu_t});
    add_floor(world);
    int ball = add_ball(world, 0, 0, radius, radius);
    ss_sim_options options = exact_options(h);
    ss_sim *sim = start(world, &options);
    ss_world_body(world, ball)->velocity[5] = w;
    double time = 0.4 * radius * radius * w / (mu_t * GRAVITY); // I = 2/5 m r^2
    run(sim, (int)floor(time / h) - 1);
    ENSURE(body_of(sim, ball)->velocity[5] > 0.0);
    run(sim, 3);
    ENSURE_NEAR(body_of(sim, ball)->velocity[5], 0.0, 1e-9);
    end(sim);
}

/* ---- adhesion --------------------------------------------------------------------------------------- */

/* A block under a ceiling: the normal, from the ceiling to the block, points down. */
static ss_frame *block_under_ceiling(double adhesion)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    frame->contacts.normal[0][2] = -1.0;
    return enable(frame, "contacts/adhesion", &frame->contacts.adhesion, adhesion) ? frame : NULL;
}

TEST(adhesion_holds_what_is_lighter)
{
    ss_frame *frame = block_under_ceiling(30.0);
    double h = frame->h, weight = frame->bodies.mass[0] * GRAVITY;
    static const char *const formulations[] = {"cone", "stewart-trinkle", "box", "frictionless", "convex"};
    for (int k = 0; k < 5; k++) {
        ss_answer *answer = answer_of(formulations[k], frame);
        ENSURE(answer != NULL);
        ENSURE_NEAR(answer->velocity[0][2], 0.0, SOLVED);
        ENSURE_NEAR(answer->normal_impulse[0], -h * weight, SOLVED);
        ENSURE(metric_of(frame, answer, "relative_energy") < 1e-9);
        ENSURE_NEAR(metric_of(frame, answer, "tension"), 0.0, SOLVED);
        ENSURE(metric_of(frame, answer, "momentum") < 1e-18);
        ss_answer_destroy(answer);
    }
    ss_frame_destroy(frame);
}

TEST(what_is_heavier_falls_more_slowly)
{
    double adhesion = 12.0;
    ss_frame *frame = block_under_ceiling(adhesion);
    double h = frame->h, mass = frame->bodies.mass[0];
    ENSURE(mass * GRAVITY > adhesion);
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->velocity[0][2], -h * (GRAVITY - adhesion / mass), SOLVED);
    ENSURE_NEAR(answer->normal_impulse[0], -h * adhesion, SOLVED);
    // pulling harder than the law allows is an error that is seen
    answer->normal_impulse[0] -= 0.1;
    answer->velocity[0][2] += 0.1 / mass;
    ENSURE(metric_of(frame, answer, "tension") > 0.05);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* Friction counts from the apex: |r_T| <= mu (nu + h a). A push between mu m g and mu (m g + a) holds. */
TEST(what_sticks_together_slides_later)
{
    double adhesion = 10.0, mu = 0.5;
    for (int k = 0; k < 2; k++) {
        ss_frame *frame = block_on_ground(0.0, mu);
        double mass = frame->bodies.mass[0], h = frame->h, most = mu * (mass * GRAVITY + adhesion);
        ENSURE(enable(frame, "contacts/adhesion", &frame->contacts.adhesion, adhesion));
        frame->bodies.force[0][0] = most + (k ? 1.0 : -1.0);
        ENSURE(step_by("cone", frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], k ? h / mass : 0.0, SOLVED);
        ss_frame_destroy(frame);
    }
}

/* ---- springs and dampers ---------------------------------------------------------------------------- */

/* m (v+ - v) = -h m g + nu with nu = -h (k (gap + h v+) + d v+): whatever the gap term is. */
TEST(a_spring_and_its_damper_are_implicit_in_time)
{
    static const char *const formulations[] = {"cone", "cone gap_term=stabilised gamma=0.2",
                                               "cone gap_term=zero", "stewart-trinkle", "box"};
    double k = 5e4, d = 300.0, gap = -1e-3, before = -0.2;
    for (int i = 0; i < 5; i++) {
        ss_frame *frame = block_on_ground(0.0, 0.5);
        double h = frame->h, mass = frame->bodies.mass[0];
        ENSURE(enable(frame, "contacts/compliance", &frame->contacts.compliance, 1.0 / (k * h * h)));
        ENSURE(enable(frame, "contacts/damping", &frame->contacts.damping, d));
        frame->contacts.gap[0] = gap;
        frame->bodies.velocity[0][2] = before;
        double after = (mass * before - h * mass * GRAVITY - h * k * gap) / (mass + h * h * k + h * d);
        ss_answer *answer = answer_of(formulations[i], frame);
        ENSURE(answer != NULL);
        ENSURE_NEAR(answer->velocity[0][2], after, SOLVED);
        ENSURE_NEAR(answer->normal_impulse[0], -h * (k * (gap + h * after) + d * after), SOLVED);
        ss_answer_destroy(answer);
        ss_frame_destroy(frame);
    }
}

/* A ball on a spring and damper comes to rest m g / k deep, and swings about it with the frequency and decay
 * of a damped oscillator; the implicit step is of first order. */
TEST(a_ball_on_a_soft_floor_swings_like_an_oscillator)
{
    double radius = 0.1, stiffness = 2e4, damping = 60.0, error[2];
    for (int k = 0; k < 2; k++) {
        double h = 1e-4 / (1 << k), time = 0.1;
        ss_world *world = empty_world(0, 0, -GRAVITY);
        set_materials(world, (ss_material_pair){.mu = 0.5, .stiffness = stiffness, .damping = damping});
        add_floor(world);
        int ball = add_ball(world, 0, 0, radius, radius);
        ss_sim_options options = exact_options(h);
        ss_sim *sim = start(world, &options);
        run(sim, (int)lround(time / h));
        double m = body_of(sim, ball)->mass, rest = -m * GRAVITY / stiffness;
        double decay = damping / (2.0 * m), w = sqrt(stiffness / m - decay * decay);
        double expected = rest - rest * exp(-decay * time) * (cos(w * time) + decay / w * sin(w * time));
        error[k] = fabs(body_of(sim, ball)->position[2] - radius - expected);
        ENSURE(error[k] < 0.02 * fabs(rest));
        end(sim);
    }
    ENSURE(error[1] < 0.6 * error[0]);
}

TEST_MAIN
