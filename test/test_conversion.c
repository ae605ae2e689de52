/* One road from frame to rows: FCLIB's problem is a view of the one that `solve` solves, so that converting a
 * frame and solving the file gives the velocities that solving the frame gives. */
#include <stickslip/stickslip.h>

#include "kit.h"
#include "known_cone.h"
#include "rules.h"
#include "shared_data.h"

#include <math.h>

/* Both are solved far beyond what is asked of the velocities. */
static const char tight[] = "relative_energy<1e-13";
static const double agreed = 1e-9; // of the largest speed in the frame, gravity's in one step included

static const double same = 1e-11; // relative energy that rounding leaves where the two problems are the same
enum { PATH = 600 };

typedef struct tally {
    int compared, unsolved, left_out;
    double worst;
} tally;

static bool solve(ss_problem *problem, double *x)
{
    ss_run_options run = {.max_iterations = 600, .stop = stop_rule(tight), .seed = 1};
    ss_solve_request request = {.solver = ss_solver_find("auto"), .problem = problem, .run = &run};
    ss_solve_result result;
    ss_error err;
    if (!ss_solve(&request, x, &result, &err)) known(NULL, &err);
    ss_solve_result_free(&result);
    return result.status == SS_CONVERGED || result.gauge[SS_GAUGE_RELATIVE_ENERGY] < 1e-11;
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

/* The frame as an FCLIB problem, solved from an answer (NULL: from zero), and read back. False when it is not
 * solved. *residual: relative energy of the start. */
static bool solve_converted(ss_assembly *assembly, ss_cone_form form, const ss_answer *start,
                            double *residual, ss_answer *answer)
{
    ss_error err;
    double gauges[SS_GAUGE_COUNT];
    ss_cone *cone = known(ss_assembly_cone(assembly, &(ss_cone_wish){.form = form}, "", NULL, &err), &err);
    ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
    double *x = known(ss_allocate((size_t)problem->size, sizeof *x), NULL);
    if (start) start_from(assembly, cone, start, x);
    if (!ss_problem_measure(problem, x, gauges, &err)) known(NULL, &err);
    *residual = gauges[SS_GAUGE_RELATIVE_ENERGY];
    bool solved = solve(problem, x);
    int m = cone->contacts * cone->dimension;
    ss_cone_point point = {.r = x, .l = cone->equations ? x + m : NULL};
    if (!ss_assembly_recover_cone(assembly, &point, answer, &err)) known(NULL, &err);
    ss_release(x);
    ss_problem_destroy(problem);
    ss_cone_destroy(cone);
    return solved;
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

/* Coulomb's law may have several answers, and which one a method finds depends on its path: the file is
 * solved from the answer of the frame, which must solve it as it is. Without friction there is one velocity
 * only, and the file is solved from zero. */
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
    bool solved = solve(problem, x);
    ss_assembly_recover(assembly, x, direct);
    for (int form = soft ? SS_CONE_LOCAL : SS_CONE_GLOBAL; form >= 0; form--) {
        double residual;
        bool both =
            solve_converted(assembly, (ss_cone_form)form, friction ? direct : NULL, &residual, converted);
        both &= solved;
        double apart = difference(direct, converted) / speed_of(frame, direct);
        count->compared += both;
        count->unsolved += !both;
        if (both && apart > count->worst) count->worst = apart;
        if (both && friction && !(residual < same))
            KIT_FAIL("%s, %s, %s form: the answer leaves %.2g", name, words, form ? "global" : "local",
                     residual);
        if (both && !(apart <= agreed))
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

static tally compare_scene(const char *name, int steps, int every, void change(ss_frame *frame))
{
    tally count = {0};
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
        if (change) change(frame);
        compare_all(frame, place, &count);
        ss_frame_destroy(frame);
    }
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
    ss_release(parameters);
    report(name, &count);
    return count;
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

TEST_MAIN
