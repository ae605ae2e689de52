/* One road from frame to rows: FCLIB's problem is a view of the one that `solve` solves, so that converting a
 * frame and solving the file gives the velocities that solving the frame gives. */
#include <stickslip/stickslip.h>

#include "kit.h"
#include "known_cone.h"
#include "rules.h"
#include "shared_data.h"

#include <math.h>

static const double tight = 1e-13;  // relative energy, far beyond what is asked of the velocities
static const double solved = 1e-11; // and where limits end a run, still beyond it
static const double agreed = 1e-9;  // of the largest speed in the frame, gravity's in one step included
/* One point has the same relative energy on both problems, up to this factor: each rounds A and b in its own
 * way, and ellipses of friction become circles, which changes lengths. */
static const double same = 2.0;
enum { PATH = 600 };

typedef struct tally {
    int compared, unsolved, left_out;
    double worst;
} tally;

/* From x, until the relative energy is below `goal`. Returns what is left of it. */
static double solve_by(const char *solver, ss_problem *problem, double goal, double *x)
{
    ss_stop_rule stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = goal};
    ss_run_options run = {.max_iterations = 600, .stop = stop, .seed = 1};
    ss_solve_request request = {.solver = ss_solver_find(solver), .problem = problem, .run = &run};
    ss_solve_result result;
    ss_error err;
    if (!ss_solve(&request, x, &result, &err)) known(NULL, &err);
    ss_solve_result_free(&result);
    return result.gauge[SS_GAUGE_RELATIVE_ENERGY];
}

static double solve(ss_problem *problem, double goal, double *x)
{
    return solve_by("auto", problem, goal, x);
}

/* The largest speed, so that differences mean something: velocities before and after, and what forces add. */
static double speed_of(const ss_frame *frame, const ss_answer *answer)
{
    double most = 0.0;
    for (int b = 0; b < frame->bodies.count; b++) {
        for (int i = 0; i < 3; i++) {
            most = fmax(most, fmax(fabs(frame->bodies.velocity[b][i]), fabs(answer->velocity[b][i])));
            most = fmax(most, frame->h * fabs(frame->bodies.force[b][i]) / frame->bodies.mass[b]);
        }
    }
    return most;
}

static double difference(const ss_answer *a, const ss_answer *b)
{
    double most = 0.0;
    for (int body = 0; body < a->bodies; body++)
        for (int i = 0; i < 6; i++) most = fmax(most, fabs(a->velocity[body][i] - b->velocity[body][i]));
    return most;
}

/* The answer as a start of FCLIB's problem: x = (r, l). */
static void start_from(ss_assembly *assembly, const ss_cone *cone, const ss_answer *answer, double *x)
{
    ss_error err;
    ss_cone_point point;
    size_t m = (size_t)(cone->contacts * cone->dimension);
    if (!ss_assembly_cone_point(assembly, cone, answer, &point, &err)) known(NULL, &err);
    memcpy(x, point.r, m * sizeof *x);
    if (cone->equations) memcpy(x + m, point.l, (size_t)cone->equations * sizeof *x);
    ss_cone_point_free(&point);
}

/* The frame as an FCLIB problem, solved from an answer (NULL: from zero), and read back. Returns what is left
 * of the relative energy; *at_start: what the start leaves. */
static double solve_converted(ss_assembly *assembly, ss_cone_form form, const ss_answer *start, double goal,
                              double *at_start, ss_answer *answer)
{
    ss_error err;
    double gauges[SS_GAUGE_COUNT];
    ss_cone *cone = known(ss_assembly_cone(assembly, &(ss_cone_wish){.form = form}, "", NULL, &err), &err);
    ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
    double *x = known(ss_allocate((size_t)problem->size, sizeof *x), NULL);
    if (start) start_from(assembly, cone, start, x);
    if (!ss_problem_measure(problem, x, gauges, &err)) known(NULL, &err);
    *at_start = gauges[SS_GAUGE_RELATIVE_ENERGY];
    double left = solve(problem, goal, x);
    int m = cone->contacts * cone->dimension;
    ss_cone_point point = {.r = x, .l = cone->equations ? x + m : NULL};
    if (!ss_assembly_recover_cone(assembly, &point, answer, &err)) known(NULL, &err);
    ss_release(x);
    ss_problem_destroy(problem);
    ss_cone_destroy(cone);
    return left;
}

/* Can a cone problem hold all of the frame? Motors and joint friction it cannot; compliance in
 * the local form. */
static bool fits(ss_assembly *assembly, bool *soft)
{
    const ss_problem *problem = known(ss_assembly_coulomb(assembly, NULL), NULL);
    *soft = false;
    for (int i = 0; i < problem->size; i++) *soft |= problem->bodies->compliance[i] != 0.0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; i < block->first + block->size; i++) {
            double lower = problem->lower[i], upper = problem->upper[i];
            bool limit = (lower == 0.0 && upper == INFINITY) || (lower == -INFINITY && upper == 0.0);
            if (block->law == SS_LAW_COUPLED || isinf(block->mu)) return false;
            if (block->law == SS_LAW_BOX && !limit && !(lower == -INFINITY && upper == INFINITY))
                return false;
        }
    }
    return true;
}

/* Coulomb's law may have several velocities, not only several impulses: see the cart below. Which of them a
 * method finds depends on its path, so the file is solved from the answer of the frame and to what that
 * leaves: it solves the file as well as it solves the frame, however well that is, and nothing moves it.
 * Without friction there is one velocity only, and the file is solved from zero. */
static void compare(const ss_frame *frame, bool friction, const char *words, const char *name, tally *count)
{
    ss_error err;
    ss_request request = {.with = words};
    ss_session *session = known(ss_session_create(&request, &err), &err);
    ss_assembly *assembly = ss_session_assembly(session);
    if (!ss_assemble(assembly, frame, NULL, &err)) known(NULL, &err);
    bool soft;
    if (!fits(assembly, &soft)) {
        count->left_out++;
        ss_session_destroy(session);
        return;
    }

    ss_problem *problem = ss_assembly_problem(assembly);
    double *x = known(ss_allocate((size_t)problem->size, sizeof *x), NULL);
    ss_answer *direct = known(ss_answer_create(frame, ss_frame_has_moments(frame), &err), &err);
    ss_answer *converted = known(ss_answer_create(frame, ss_frame_has_moments(frame), &err), &err);
    double left = solve(problem, tight, x);
    ss_assembly_recover(assembly, x, direct);
    for (int form = soft ? SS_CONE_LOCAL : SS_CONE_GLOBAL; form >= 0; form--) {
        double at_start, goal = friction ? same * fmax(left, tight) : tight;
        double left_there = solve_converted(assembly, (ss_cone_form)form, friction ? direct : NULL, goal,
                                            &at_start, converted);
        double apart = difference(direct, converted) / speed_of(frame, direct);
        bool counts = friction || (left < solved && left_there < solved);
        count->compared += counts;
        count->unsolved += !counts;
        if (counts && apart > count->worst) count->worst = apart;
        if (friction && !(at_start < goal))
            KIT_FAIL("%s, %s, %s form: the answer leaves %.2g, of the frame %.2g", name, words,
                     form ? "global" : "local", at_start, left);
        if (counts && !(apart <= agreed))
            KIT_FAIL("%s, %s, %s form: %.2g apart", name, words, form ? "global" : "local", apart);
    }
    ss_answer_destroy(converted);
    ss_answer_destroy(direct);
    ss_release(x);
    ss_session_destroy(session);
}

/* With every gap term; two of them without friction as well. The frame loses its friction. */
static void compare_all(ss_frame *frame, const char *name, tally *count)
{
    static const char *const rules[] = {"gap_term=preventive", "gap_term=zero joint_term=zero mu_max=1",
                                        "gap_term=stabilised gamma=0.2 joint_gamma=0.2 slop=1e-4 mu_max=1",
                                        "gap_term=restitution joint_term=spook mu_max=0.5"};
    for (int friction = 1; friction >= 0; friction--) {
        for (int c = 0; !friction && c < frame->contacts.count; c++) {
            frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.0;
            if (frame->contacts.mu_rolling) frame->contacts.mu_rolling[c] = 0.0;
        }
        for (int k = 0; k < 4; k += friction ? 1 : 3) compare(frame, friction, rules[k], name, count);
    }
}

/* ---- the frames of others --------------------------------------------------------------------------- */

static void report(const char *name, const tally *count)
{
    printf("    %s: %d compared, worst %.1e; %d not solved, %d with motors or infinite friction\n", name,
           count->compared, count->worst, count->unsolved, count->left_out);
}

static tally compare_file(const char *name)
{
    char path[PATH];
    tally count = {0};
    ss_error err;
    if (!shared_path(path, sizeof path, "bpmd", name, ".h5")) return count;
    ss_bpmd *file = known(ss_bpmd_open(path, NULL, NULL, &err), &err);
    for (int i = 0; i < ss_bpmd_frame_count(file); i++) {
        ss_frame *frame = known(ss_bpmd_read(file, i, NULL, &err), &err);
        char place[64];
        snprintf(place, sizeof place, "%s frame %d", name, i);
        if (ss_frame_check(frame, "", NULL)) compare_all(frame, place, &count);
        ss_frame_destroy(frame);
    }
    ss_bpmd_close(file);
    report(name, &count);
    return count;
}

TEST(real_frames_converted_and_solved_have_the_same_velocities)
{
    static const char *const names[] = {"chain10_gazebo6", "sphere1_gazebo11", "stack6_gazebo6",
                                        "ode_january2013"};
    char path[PATH];
    NEED_SHARED(path, "bpmd", names[0], ".h5");
    for (int i = 0; i < 4; i++) ENSURE(compare_file(names[i]).compared > 0);
}

/* ---- our own scenes --------------------------------------------------------------------------------- */

typedef void visit_frame(ss_frame *frame, const char *place, void *context);

/* Every `every`-th frame of a scene with its default parameters. */
static void visit_scene(const char *name, int steps, int every, visit_frame *visit, void *context)
{
    ss_error err = {0};
    const ss_scene *scene = ss_scene_find(name);
    if (!scene) known(NULL, NULL);
    void *parameters = known(ss_allocate(1, scene->parameters_size), NULL);
    void *state = NULL;
    if (scene->parameters) ss_options_defaults(scene->parameters, parameters);
    ss_world *world = known(ss_world_create(&err), &err);
    if (!scene->build(parameters, 1, world, &err)) known(NULL, &err);
    ss_sim_options options = {0};
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.h = scene->h;
    options.threads = 1;
    if (scene->options) scene->options(parameters, &options);
    ss_sim *sim = known(ss_sim_create(world, &options, &err), &err);
    if (scene->begin && !scene->begin(parameters, sim, &state, &err)) known(NULL, &err);
    for (int step = 1; step <= steps; step++) {
        if (!ss_sim_step(sim, &err)) known(NULL, &err);
        if (step % every != 0) continue;
        char place[64];
        snprintf(place, sizeof place, "%s step %d", name, step);
        ss_frame *frame = known(ss_frame_copy(ss_sim_frame(sim), &err), &err);
        visit(frame, place, context);
        ss_frame_destroy(frame);
    }
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
    ss_release(parameters);
}

typedef struct comparison {
    void (*change)(ss_frame *frame);
    tally count;
} comparison;

static void compare_visited(ss_frame *frame, const char *place, void *context)
{
    comparison *of = context;
    if (of->change) of->change(frame);
    compare_all(frame, place, &of->count);
}

static tally compare_scene(const char *name, int steps, int every, void change(ss_frame *frame))
{
    comparison of = {.change = change};
    visit_scene(name, steps, every, compare_visited, &of);
    report(name, &of.count);
    return of.count;
}

/* Stacks, piles, balls that bounce, joints, a belt, rolling wheels. */
TEST(recorded_scenes_converted_and_solved_have_the_same_velocities)
{
    static const struct {
        const char *name;
        int steps, every;
    } scenes[] = {{"brick-wall", 20, 20}, {"card-house", 20, 20}, {"rock-pile", 60, 60},
                  {"ten-balls", 120, 40}, {"chain", 40, 20},      {"newtons-cradle", 80, 20},
                  {"belt", 40, 20},       {"cart", 60, 20}};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        ENSURE(compare_scene(scenes[i].name, scenes[i].steps, scenes[i].every, NULL).compared > 0);
}

/* Everything a contact can have, on top of what the scene gives it. */
static void decorate(ss_frame *frame)
{
    ss_error err;
    static const char *const arrays[] = {"contacts/mu_r", "contacts/restitution"};
    for (int i = 0; i < 2; i++)
        if (!ss_frame_enable(frame, arrays[i], &err)) known(NULL, &err);
    for (int c = 0; c < frame->contacts.count; c++) {
        frame->contacts.mu[c][0] = c % 3 == 0 ? 0.0 : 0.3;
        frame->contacts.mu[c][1] = c % 3 == 1 ? 0.3 : 0.6; // round, elliptic, and without friction one way
        frame->contacts.mu_rolling[c] = c % 3 == 0 ? 0.0 : 0.02;
        frame->contacts.restitution[c] = 0.5;
    }
}

static void soften(ss_frame *frame)
{
    ss_error err;
    decorate(frame);
    if (!ss_frame_enable(frame, "contacts/compliance", &err)) known(NULL, &err);
    for (int c = 0; c < frame->contacts.count; c++) frame->contacts.compliance[c] = 1e-3;
}

TEST(ellipses_rolling_friction_restitution_and_compliance_survive_the_conversion)
{
    ENSURE(compare_scene("spheres125", 60, 60, decorate).compared > 0);
    ENSURE(compare_scene("brick-wall", 10, 10, decorate).compared > 0);
    ENSURE(compare_scene("brick-wall", 10, 10, soften).compared > 0); // the local form only
}

/* ---- why the file is solved from the answer of the frame ---------------------------------------------- */

/* Wheels that stick sideways on the ground and are to keep the place that their axles give them: both cannot
 * be, by the gaps of a simulation, so some slide, by some 1e-8 m/s. Which ones depends on the loads of the
 * wheels, which eight contacts leave open, and the loads depend on the friction: with mu = 1 one answer rests
 * on all four wheels, and another one lifts one of them by 14 mm/s. Both are exact to rounding, so velocities
 * that differ say nothing against a conversion, nor against a solver. */
static void find_two_velocities(ss_frame *frame, const char *place, void *context)
{
    static const char *const solvers[] = {"interior-point", "proximal-point"};
    static const double far_apart = 1e-2; // of the largest speed
    ss_error err;
    ss_request request = {.with = "gap_term=stabilised gamma=0.2 joint_gamma=0.2 slop=1e-4 mu_max=1"};
    ss_session *session = known(ss_session_create(&request, &err), &err);
    ss_assembly *assembly = ss_session_assembly(session);
    ss_answer *answers[2];
    (void)context;
    if (!ss_assemble(assembly, frame, NULL, &err)) known(NULL, &err);
    ss_problem *problem = ss_assembly_problem(assembly);
    for (int i = 0; i < 2; i++) {
        double *x = known(ss_allocate((size_t)problem->size, sizeof *x), NULL);
        answers[i] = known(ss_answer_create(frame, false, &err), &err);
        double left = solve_by(solvers[i], problem, tight, x);
        if (!(left < solved)) KIT_FAIL("%s: %s leaves %.2g", place, solvers[i], left);
        ss_assembly_recover(assembly, x, answers[i]);
        ss_release(x);
    }
    double apart = difference(answers[0], answers[1]) / speed_of(frame, answers[0]);
    if (!(apart > far_apart)) KIT_FAIL("%s: %.2g apart", place, apart);
    for (int i = 0; i < 2; i++) ss_answer_destroy(answers[i]);
    ss_session_destroy(session);
}

TEST(wheels_that_stick_sideways_have_several_velocities_by_coulombs_law)
{
    visit_scene("cart", 40, 40, find_two_velocities, NULL);
}

TEST_MAIN
