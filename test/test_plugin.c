/* Names from outside: solvers, formulations, metrics, scenes and user functions that a program registers. */
#include <stickslip/stickslip.h>

#include "kit.h"
#include "known_cone.h"
#include "mechanics.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* ---- what a user might write ------------------------------------------------------------------------ */

static int context_of_solver = 7, solved;

/* Projected Jacobi on a small dense view of the problem, as in the tutorials. */
static ss_status jacobi(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    solved += *(int *)run->solver->context;
    double *w = ss_arena_take(run->arena, (size_t)problem->size, sizeof *w, "w");
    double *scratch = ss_arena_take(run->arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "s");
    if (!w || !scratch) return ss_run_fail(run, "no memory for %d unknowns", problem->size);
    for (;;) {
        ss_problem_apply(problem, x, scratch, w);
        if (!ss_run_iteration(run, x, w)) return ss_run_status(run);
        for (int k = 0; k < problem->block_count; k++) {
            const ss_block *block = &problem->blocks[k];
            if (ss_block_is_cone(block)) ss_block_dual(block, w + block->first, w + block->first);
        }
        for (int i = 0; i < problem->size; i++) x[i] -= 0.3 * w[i] / problem->diagonal[i];
        ss_problem_project(problem, x);
    }
}

static ss_status give_up(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)x;
    return ss_run_fail(run, "%s does not feel like it", run->solver->name);
}

#define ALL_LAWS (SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX)
static const ss_solver my_solver = {.abi = SS_ABI,
                                    .name = "my-jacobi",
                                    .summary = "projected Jacobi",
                                    .laws = ALL_LAWS,
                                    .solve = jacobi,
                                    .context = &context_of_solver};
static const ss_solver lazy_solver = {
    .abi = SS_ABI, .name = "lazy", .summary = "gives up", .laws = ALL_LAWS, .solve = give_up};

/* Coulomb's cone, once more: what the library's own formulation does, from the public view of a contact. */
static bool cone_law(const ss_formulation *formulation, const void *options, const ss_contact_view *contact,
                     ss_contact_law *law, ss_error *err)
{
    (void)formulation, (void)options, (void)err;
    law->count = 3;
    law->mu = contact->mu[0];
    for (int k = 0; k < 3; k++) {
        law->unknown[k] = (ss_contact_unknown){.law = SS_LAW_CONE};
        memcpy(law->unknown[k].direction, k ? contact->tangent[k - 1] : contact->normal,
               sizeof contact->normal);
    }
    law->unknown[0].offset = contact->offset;
    law->unknown[0].compliance = contact->compliance;
    return true;
}

/* The same as a matrix. */
static ss_problem *cone_matrix(const ss_formulation *formulation, const void *options, const ss_frame *frame,
                               ss_error *err)
{
    (void)formulation;
    ss_problem *theirs = ss_problem_from_frame(frame, ss_formulation_find("cone"), NULL, err);
    (void)options;
    if (!theirs || !ss_problem_need_matrix(theirs, err)) return NULL;
    ss_problem *mine = ss_problem_create(theirs->size, theirs->block_count, -1, err);
    if (!mine) return NULL;
    memcpy(mine->b, theirs->b, (size_t)mine->size * sizeof *mine->b);
    memcpy(mine->blocks, theirs->blocks, (size_t)mine->block_count * sizeof *mine->blocks);
    mine->symmetric = true;
    mine->A = theirs->A;
    theirs->A = NULL;
    ss_problem_destroy(theirs);
    return mine;
}

static void cone_recover(const ss_formulation *formulation, const void *options, const ss_frame *frame,
                         const ss_problem *problem, const double *x, ss_answer *answer)
{
    (void)formulation, (void)options;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        double t[2][3];
        const double *r = x + block->first;
        ss_contact_tangents(frame, block->contact, t[0], t[1]);
        answer->normal_impulse[block->contact] = r[0];
        for (int i = 0; i < 3; i++)
            answer->friction_impulse[block->contact][i] = r[1] * t[0][i] + r[2] * t[1][i];
    }
}

static bool spring_law(const ss_formulation *formulation, const void *options, const ss_contact_view *contact,
                       ss_contact_law *law, ss_error *err)
{
    (void)formulation, (void)options, (void)err;
    for (int i = 0; i < 3; i++) law->impulse[i] = 0.125 * contact->normal[i];
    return true;
}

#define MINE(title, what, ...)                                                                              \
    {                                                                                                       \
        .name = title, .summary = what, .laws = ALL_LAWS, .options = ss_step_option_table,                  \
        .options_size = sizeof(ss_step_options), .models = SS_MODELS_FRICTION | SS_MODELS_GAPS, __VA_ARGS__ \
    }
static const ss_formulation by_contact = MINE("my-cone", "by contact", .contact = cone_law);
static const ss_formulation by_matrix =
    MINE("my-matrix", "by matrix", .assemble = cone_matrix, .recover = cone_recover);
static const ss_formulation springs = MINE("my-springs", "known impulses", .contact = spring_law);

/* A metric that the library has, too: impulses that pull. */
static bool pull(const ss_metric *metric, const ss_case *what, ss_metric_value *value, ss_error *err)
{
    (void)metric, (void)err;
    double sum = 0.0;
    for (int c = 0; c < what->answer->contacts; c++)
        sum += pow(fmin(0.0, what->answer->normal_impulse[c]), 2);
    value->applies = true;
    value->value = sqrt(sum);
    return true;
}

/* It says nothing, so it is not applicable. */
static bool nothing(const ss_metric *metric, const ss_case *what, ss_metric_value *value, ss_error *err)
{
    (void)metric, (void)what, (void)value, (void)err;
    return true;
}

static bool refuse(const ss_metric *metric, const ss_case *what, ss_metric_value *value, ss_error *err)
{
    (void)what, (void)value;
    return ss_fail(err, SS_ERROR_INPUT, "%s is broken", metric->name);
}

static const ss_metric my_metric = {.name = "pull", .unit = "N s", .summary = "pulls", .measure = pull};
static const ss_metric mute_metric = {.name = "mute", .unit = "1", .summary = "none", .measure = nothing};
static const ss_metric bad_metric = {.name = "bad", .unit = "1", .summary = "broken", .measure = refuse};

static bool build_scene(const void *parameters, uint64_t seed, ss_world *world, ss_error *err)
{
    (void)parameters, (void)seed;
    ss_body ball = {.name = "ball", .kind = SS_DYNAMIC, .mass = 1.0, .position = {0.0, 0.0, 0.1}};
    int body = ss_world_add_body(world, &ball, err);
    ss_shape sphere = {.kind = SS_SPHERE, .size = {0.1}, .density = 1.0}, plane = {.kind = SS_PLANE};
    return body >= 0 && ss_world_add_shape(world, body, &sphere, err) >= 0 &&
           ss_world_add_shape(world, SS_WORLD, &plane, err) >= 0;
}
static const ss_scene my_scene = {
    .name = "my-ball", .summary = "a ball", .h = 0.01, .length = 1.0, .build = build_scene};

static int calls[SS_STAGE_COUNT];
static bool count_first(ss_sim *sim, void *context, ss_error *err)
{
    (void)sim, (void)err;
    calls[SS_BEFORE_COLLISION] += *(int *)context;
    return true;
}
static bool count_last(ss_sim *sim, void *context, ss_error *err)
{
    (void)sim, (void)err;
    calls[SS_AFTER_STEP] += *(int *)context;
    return true;
}
static const ss_hook my_hook = {.name = "counting",
                                .summary = "counts",
                                .at = {[SS_BEFORE_COLLISION] = count_first, [SS_AFTER_STEP] = count_last},
                                .context = &context_of_solver};

static const ss_extension everything = {
    .abi = SS_ABI,
    .name = "everything",
    .solvers = (const ss_solver *const[]){&my_solver, &lazy_solver, NULL},
    .formulations = (const ss_formulation *const[]){&by_contact, &by_matrix, &springs, NULL},
    .metrics = (const ss_metric *const[]){&my_metric, &mute_metric, NULL},
    .scenes = (const ss_scene *const[]){&my_scene, NULL},
    .hooks = (const ss_hook *const[]){&my_hook, NULL}};

static void take(const ss_extension *extension)
{
    ss_error err = {0};
    if (!ss_register(extension, &err)) KIT_FAIL("%s", err.message);
}

/* ---- names ------------------------------------------------------------------------------------------ */

TEST(what_is_registered_is_found_after_what_the_library_has_and_gone_when_taken_back)
{
    int solvers = ss_solver_count(), formulations = ss_formulation_count(), metrics = ss_metric_count();
    int scenes = ss_scene_count();
    take(&everything);
    ENSURE_INT(ss_solver_count(), solvers + 2);
    ENSURE(ss_solver_at(solvers) == &my_solver && ss_solver_find("my-jacobi") == &my_solver);
    ENSURE(ss_solver_at(solvers + 2) == NULL && ss_solver_at(-1) == NULL);
    ENSURE(ss_formulation_at(formulations + 1) == &by_matrix &&
           ss_formulation_find("my-cone") == &by_contact);
    ENSURE_INT(ss_metric_index("pull"), metrics);
    ENSURE(ss_metric_at(metrics) == &my_metric);
    ENSURE(ss_scene_at(scenes) == &my_scene && ss_scene_find("my-ball") == &my_scene);
    ENSURE(ss_hook_count() == 1 && ss_hook_find("counting") == &my_hook && !ss_hook_find("other"));
    ENSURE(ss_extension_of(&my_metric) == &everything && ss_extension_of(ss_solver_find("pgs")) == NULL);
    ss_unregister(&everything);
    ss_unregister(&everything); // once more is nothing
    ENSURE_INT(ss_solver_count(), solvers);
    ENSURE_INT(ss_formulation_count(), formulations);
    ENSURE_INT(ss_metric_count(), metrics);
    ENSURE_INT(ss_scene_count(), scenes);
    ENSURE(!ss_solver_find("my-jacobi") && ss_metric_index("pull") == -1 && !ss_extension_of(&my_metric));
}

/* The message of a registration that must fail, and must leave nothing behind. */
static const char *refusal_of(ss_extension extension)
{
    static ss_error err;
    int before = ss_solver_count() + ss_formulation_count() + ss_metric_count() + ss_scene_count();
    if (extension.abi == 0) extension.abi = SS_ABI;
    if (ss_register(&extension, &err)) {
        ss_unregister(&extension);
        return "(it was accepted)";
    }
    int after = ss_solver_count() + ss_formulation_count() + ss_metric_count() + ss_scene_count();
    return before == after ? err.message : "(something was left behind)";
}

#define SOLVERS(...)           \
    (const ss_solver *const[]) \
    {                          \
        __VA_ARGS__, NULL      \
    }
#define FORMULATIONS(...)           \
    (const ss_formulation *const[]) \
    {                               \
        __VA_ARGS__, NULL           \
    }
#define METRICS(...)           \
    (const ss_metric *const[]) \
    {                          \
        __VA_ARGS__, NULL      \
    }

TEST(what_is_wrong_with_an_extension_is_said_and_nothing_of_it_is_kept)
{
    ENSURE_CONTAINS(refusal_of((ss_extension){.abi = 1}), "built for ABI 1");
    ENSURE_CONTAINS(refusal_of((ss_extension){.name = "mine"}), "mine: brings nothing");
    ENSURE_CONTAINS(refusal_of((ss_extension){.solvers = SOLVERS(&my_solver, ss_solver_find("pgs"))}),
                    "solver name 'pgs' is already used by the library");
    ENSURE_CONTAINS(refusal_of((ss_extension){.solvers = SOLVERS(&my_solver, &my_solver)}), "used twice");
    ss_solver solver = my_solver;
    solver.name = "no good";
    ENSURE_CONTAINS(refusal_of((ss_extension){.solvers = SOLVERS(&solver)}), "solver 0 has no valid name");
    solver.name = "good";
    solver.solve = NULL;
    ENSURE_CONTAINS(refusal_of((ss_extension){.solvers = SOLVERS(&solver)}), "solver good has no solve");

    ss_formulation formulation = by_contact;
    formulation.contact = NULL;
    ENSURE_CONTAINS(refusal_of((ss_extension){.formulations = FORMULATIONS(&formulation)}),
                    "contact or assemble");
    formulation = by_matrix;
    formulation.recover = NULL;
    ENSURE_CONTAINS(refusal_of((ss_extension){.formulations = FORMULATIONS(&formulation)}),
                    "no function recover");
    formulation = by_contact;
    formulation.options_size = 8;
    ENSURE_CONTAINS(refusal_of((ss_extension){.formulations = FORMULATIONS(&formulation)}),
                    "ss_step_options");
    formulation = by_contact;
    formulation.name = "cone";
    ENSURE_CONTAINS(refusal_of((ss_extension){.solvers = SOLVERS(&my_solver),
                                              .formulations = FORMULATIONS(&formulation)}),
                    "formulation name 'cone' is already used by the library");

    ss_metric metric = my_metric;
    metric.measure = NULL;
    ENSURE_CONTAINS(refusal_of((ss_extension){.metrics = METRICS(&metric)}), "metric pull has no measure");
    ENSURE_CONTAINS(refusal_of((ss_extension){.metrics = METRICS(ss_metric_at(0))}), "already used");
    ss_hook hook = {.name = "idle"};
    ENSURE_CONTAINS(refusal_of((ss_extension){.hooks = (const ss_hook *const[]){&hook, NULL}}),
                    "hook idle has no function");
    ss_scene scene = my_scene;
    scene.h = 0.0;
    ENSURE_CONTAINS(refusal_of((ss_extension){.scenes = (const ss_scene *const[]){&scene, NULL}}),
                    "scene my-ball has no step h");

    take(&everything);
    ENSURE_CONTAINS(refusal_of((ss_extension){.solvers = SOLVERS(&my_solver)}),
                    "solver name 'my-jacobi' is already used by another plug-in");
    ss_error err;
    ENSURE(
        !ss_register(&everything, &err)); // not a complaint about a name, which sends one looking elsewhere
    ENSURE_CONTAINS(err.message, "is registered already");
    ss_unregister(&everything);
}

/* ---- at work ---------------------------------------------------------------------------------------- */

static const ss_result *solve_with(const char *formulation, const char *solver, const ss_frame *frame,
                                   const ss_answer *guess, ss_session **session)
{
    ss_error err = {0};
    *session = known(ss_session_create(&(ss_request){.formulation = formulation,
                                                     .solver = solver,
                                                     .iterations = 3000,
                                                     .skip_exact = true,
                                                     .stop = "relative_energy<1e-10"},
                                       &err),
                     &err);
    return known((void *)(uintptr_t)ss_session_solve(*session, frame, guess, &err), &err);
}

TEST(an_own_solver_solves_and_one_that_gives_up_says_why)
{
    take(&everything);
    ss_frame *frame = known(block_on_ground(0.6, 0.3), NULL);
    ss_session *session;
    solved = 0;
    const ss_result *result = solve_with("cone", "my-jacobi", frame, NULL, &session);
    ENSURE(result->run.status == SS_CONVERGED);
    ENSURE_INT(solved, context_of_solver);
    ss_session_destroy(session);
    result = solve_with("cone", "lazy", frame, NULL, &session);
    ENSURE(result->run.status == SS_FAILED);
    ENSURE_TEXT(result->run.notes, "lazy does not feel like it");
    ss_session_destroy(session);
    ss_frame_destroy(frame);
    ss_unregister(&everything);
}

/* Four balls, each pressed against the one before and the ground, from random directions. */
static ss_frame *heap(uint64_t seed)
{
    enum { BALLS = 4 };
    ss_random random = ss_random_start(seed, 0);
    ss_frame *frame = known(ss_frame_create(BALLS, 0, 0, 2 * BALLS, NULL), NULL);
    frame->h = 0.01;
    for (int c = 0; c < 2 * BALLS; c++) {
        int body = c / 2;
        double normal[3] = {ss_random_normal(&random), ss_random_normal(&random), 3.0}, length = 0.0;
        set_ball(frame, body, 1.0 + body, 0.1);
        set_vector(frame->bodies.force[body], 0.0, 0.0, -GRAVITY * (1.0 + body));
        for (int i = 0; i < 6; i++) frame->bodies.velocity[body][i] = 0.1 * ss_random_normal(&random);
        for (int i = 0; i < 3; i++) length += normal[i] * normal[i];
        frame->contacts.pair[c][0] = c % 2 ? body - 1 : SS_WORLD;
        frame->contacts.pair[c][1] = body;
        for (int i = 0; i < 3; i++) {
            frame->contacts.normal[c][i] = normal[i] / sqrt(length);
            frame->contacts.point[c][i] = 0.2 * ss_random_normal(&random);
        }
        frame->contacts.gap[c] = ss_random_between(&random, -1e-4, 1e-4);
        frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = ss_random_between(&random, 0.1, 0.9);
    }
    return frame;
}

/* The same problem stated in three ways has the same answers: the same rows, so the same bits but for the
 * order in which a matrix and bodies are added up. */
TEST(a_law_of_ones_own_is_the_librarys_where_it_says_the_same)
{
    take(&everything);
    for (uint64_t seed = 1; seed <= 16; seed++) {
        ss_frame *frame = heap(seed);
        ss_session *session[3];
        const ss_result *result[3];
        static const char *const names[] = {"cone", "my-cone", "my-matrix"};
        for (int k = 0; k < 3; k++) result[k] = solve_with(names[k], "nsgs", frame, NULL, &session[k]);
        ENSURE(result[0]->run.status == SS_CONVERGED);
        for (int k = 1; k < 3; k++) {
            ENSURE_INT(result[k]->problem->size, result[0]->problem->size);
            for (int m = 0; m < ss_metric_index("pull"); m++)
                ENSURE(result[k]->metrics[m].applies == result[0]->metrics[m].applies);
            for (int b = 0; b < frame->bodies.count; b++)
                for (int i = 0; i < 6; i++) // two runs to relative_energy<1e-10 from different roundings
                    ENSURE_NEAR(result[k]->answer->velocity[b][i], result[0]->answer->velocity[b][i], 1e-7);
            double energy = result[k]->metrics[ss_metric_index("momentum")].value;
            ENSURE_NEAR(energy, 0.0, 1e-20); // velocities are computed from the impulses
        }
        // a warm start from the answer is the solution already
        ss_session *again;
        const ss_result *warm = solve_with("my-cone", "my-jacobi", frame, result[1]->answer, &again);
        ENSURE(warm->run.status == SS_CONVERGED && warm->run.iterations <= 1);
        ss_session_destroy(again);
        for (int k = 0; k < 3; k++) ss_session_destroy(session[k]);
        ss_frame_destroy(frame);
    }
    ss_unregister(&everything);
}

TEST(springs_push_without_a_solver)
{
    take(&everything);
    ss_frame *frame = known(block_on_ground(0.0, 0.5), NULL);
    ss_session *session;
    const ss_result *result = solve_with("my-springs", "pgs", frame, NULL, &session);
    ENSURE_INT(result->problem->size, 0);
    ENSURE_NEAR(result->answer->normal_impulse[0], 0.125, 0.0);
    double speed = -GRAVITY * frame->h + 0.125 / 2.0; // 2 kg
    ENSURE_NEAR(result->answer->velocity[0][2], speed, 1e-16);
    ENSURE(result->losses->count_of[SS_FINDING_LOSS] == 0);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
    ss_unregister(&everything);
}

/* What an author's function may say wrongly. */
static ss_contact_law wrong_law;
static bool say_wrong(const ss_formulation *formulation, const void *options, const ss_contact_view *contact,
                      ss_contact_law *law, ss_error *err)
{
    (void)formulation, (void)options, (void)contact, (void)err;
    *law = wrong_law;
    return true;
}
static bool say_no(const ss_formulation *formulation, const void *options, const ss_contact_view *contact,
                   ss_contact_law *law, ss_error *err)
{
    (void)formulation, (void)options, (void)contact, (void)law;
    return ss_fail(err, SS_ERROR_INPUT, "no idea");
}

static const char *fault_of(ss_contact_law law)
{
    static const ss_formulation wrong = {.name = "wrong",
                                         .laws = SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE,
                                         .options = ss_step_option_table,
                                         .options_size = sizeof(ss_step_options),
                                         .contact = say_wrong};
    static ss_error err;
    ss_frame *frame = known(block_on_ground(0.0, 0.5), NULL);
    ss_assembly *assembly = known(ss_assembly_create(&wrong, NULL, &err), &err);
    wrong_law = law;
    bool good = ss_assemble(assembly, frame, NULL, &err);
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
    return good ? "(it was accepted)" : err.message;
}

TEST(a_law_that_cannot_be_is_refused_by_contact_and_unknown)
{
    ss_contact_unknown up = {.direction = {0.0, 0.0, 1.0}, .upper = INFINITY};
    ENSURE_TEXT(fault_of((ss_contact_law){.count = 1, .unknown = {up}}), "(it was accepted)");
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 17}), "has 17 unknowns, must be 0 to 16");
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 1}), "contact 0: unknown 0 has no direction");
    ss_contact_unknown bad = up;
    bad.law = SS_LAW_FREE;
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 1, .unknown = {bad}}), "does not declare");
    bad.law = SS_LAW_BOX | SS_LAW_COUPLED; // both are declared, but it can be under one only
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 1, .unknown = {bad}}), "does not declare");
    bad = up, bad.lower = 1.0, bad.upper = 0.0;
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 1, .unknown = {bad}}), "lower <= upper");
    ss_contact_unknown spin = up; // a moment about the normal is as good as one about a tangent
    spin.turns = true;
    ENSURE_TEXT(fault_of((ss_contact_law){.count = 1, .unknown = {spin}}), "(it was accepted)");
    bad = up, bad.offset = NAN;
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 1, .unknown = {bad}}), "not a number");
    bad = up, bad.law = SS_LAW_COUPLED, bad.partner = 1;
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 1, .unknown = {bad}}), "does not exist");
    bad = up, bad.law = SS_LAW_CONE;
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 1, .unknown = {bad}}), "not of 2 to 6");
    ENSURE_CONTAINS(fault_of((ss_contact_law){.count = 3, .unknown = {bad, up, bad}}), "two cones");
    ENSURE_CONTAINS(fault_of((ss_contact_law){.impulse = {INFINITY}}), "not finite");

    static const ss_formulation refusing = MINE("refusing", "never", .contact = say_no);
    ss_error err;
    ss_frame *frame = known(block_on_ground(0.0, 0.5), NULL);
    ss_assembly *assembly = known(ss_assembly_create(&refusing, NULL, &err), &err);
    ENSURE(!ss_assemble(assembly, frame, NULL, &err));
    ENSURE_TEXT(err.message, "formulation refusing: contact 0: no idea");
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
}

/* One that counts its contacts from 1. */
static ss_problem *counts_from_one(const ss_formulation *formulation, const void *options,
                                   const ss_frame *frame, ss_error *err)
{
    ss_problem *problem = cone_matrix(formulation, options, frame, err);
    for (int k = 0; problem && k < problem->block_count; k++) problem->blocks[k].contact++;
    return problem;
}

TEST(blocks_of_a_contact_that_does_not_exist_are_refused)
{
    static const ss_formulation counting =
        MINE("counting", "from one", .assemble = counts_from_one, .recover = cone_recover);
    ss_error err;
    ss_frame *frame = known(block_on_ground(0.0, 0.5), NULL);
    ss_assembly *assembly = known(ss_assembly_create(&counting, NULL, &err), &err);
    ENSURE(!ss_assemble(assembly, frame, NULL, &err));
    ENSURE_CONTAINS(err.message, "belongs to a contact that the frame does not have");
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
}

TEST(an_own_metric_is_computed_with_the_others)
{
    ss_frame *frame = known(block_on_ground(0.3, 0.5), NULL);
    ss_session *session;
    solve_with("cone", "nsgs", frame, NULL, &session);
    take(&everything); // a session that is there already has room for it at its next frame
    const ss_result *result = ss_session_solve(session, frame, NULL, NULL);
    ENSURE(result);
    ss_answer *answer = (ss_answer *)(uintptr_t)result->answer;
    answer->normal_impulse[0] = -0.25;
    ss_metric_value *values = known(ss_allocate((size_t)ss_metric_count(), sizeof *values), NULL);
    ss_case what = {.assembly = ss_session_assembly(session), .answer = answer, .skip_exact = true};
    ENSURE(ss_judge(&what, values, NULL, NULL));
    ENSURE_NEAR(values[ss_metric_index("pull")].value, values[ss_metric_index("tension")].value, 1e-16);
    ENSURE_NEAR(values[ss_metric_index("pull")].value, 0.25, 1e-16);
    ENSURE(!values[ss_metric_index("mute")].applies && isnan(values[ss_metric_index("mute")].value));
    ENSURE_TEXT(values[ss_metric_index("mute")].why, "not applicable");
    ss_release(values);
    ss_session_destroy(session);

    // a problem without bodies has no frame to show to it
    ss_error err = {0};
    session = known(ss_session_create(&(ss_request){.solver = "nsgs"}, &err), &err);
    ss_problem *problem = known(ss_problem_from_frame(frame, ss_formulation_find("cone"), NULL, NULL), NULL);
    result = ss_session_solve_problem(session, problem, NULL, &err);
    ENSURE(result);
    ENSURE_CONTAINS(result->metrics[ss_metric_index("pull")].why, "needs bodies");
    ss_problem_destroy(problem);
    ss_session_destroy(session);

    // one that fails is an error with its name, and one can be a stop rule
    const ss_extension bad = {.abi = SS_ABI, .metrics = METRICS(&bad_metric)};
    session = known(ss_session_create(&(ss_request){.solver = "my-jacobi", .stop = "pull<1"}, &err), &err);
    result = ss_session_solve(session, frame, NULL, &err);
    ENSURE(result && result->run.status == SS_CONVERGED && result->run.iterations == 1);
    take(&bad);
    ENSURE(!ss_session_solve(session, frame, NULL, &err));
    ENSURE_CONTAINS(err.message, "metric bad: bad is broken");
    ss_unregister(&bad);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
    ss_unregister(&everything);
}

TEST(an_own_scene_runs_with_an_own_solver_formulation_and_user_function)
{
    take(&everything);
    ss_error err = {0};
    const ss_scene *scene = ss_scene_find("my-ball");
    ss_world *world = known(ss_world_create(&err), &err);
    ENSURE(scene->build(NULL, 1, world, &err));
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.h = scene->h;
    options.formulation = "my-cone";
    options.solver = "my-jacobi";
    options.finisher = "none";
    ss_sim *sim = known(ss_sim_create(world, &options, &err), &err);
    memset(calls, 0, sizeof calls);
    ENSURE(ss_sim_call_hook(sim, ss_hook_find("counting"), &err));
    solved = 0;
    for (int i = 0; i < 10; i++) ENSURE(ss_sim_step(sim, &err));
    ENSURE_INT(calls[SS_BEFORE_COLLISION], 10 * context_of_solver);
    ENSURE_INT(calls[SS_AFTER_STEP], 10 * context_of_solver);
    ENSURE(solved >= 9 * context_of_solver);
    ENSURE_NEAR(ss_world_body(world, 0)->position[2], 0.1, 1e-3); // it lies there; slop of the contact
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_unregister(&everything);
}

/* ---- other processes -------------------------------------------------------------------------------- */

/* The status of a run by a command, and what was said about it. */
static ss_status run_command(const char *text, const ss_frame *frame, char *said, size_t size)
{
    ss_error err = {0};
    ss_solver_command *command = known(ss_solver_command_open(text, &err), &err);
    ss_session *session;
    const ss_result *result =
        solve_with("cone", ss_solver_command_solver(command)->name, frame, NULL, &session);
    ss_status status = result->run.status;
    snprintf(said, size, "%s", result->run.notes ? result->run.notes : "");
    ss_session_destroy(session);
    ss_solver_command_close(command);
    return status;
}

TEST(another_process_solves_and_one_that_breaks_the_protocol_is_ended)
{
    const char *source = getenv("SS_SOURCE_DIR");
    ss_frame *frame = known(block_on_ground(0.6, 0.3), NULL);
    int solvers = ss_solver_count();
    char text[1000], said[1000];
    if (source && access("/usr/bin/python3", X_OK) == 0) {
        snprintf(text, sizeof text, "mine=/usr/bin/python3 '%s/examples/pipe/block_pgs.py'", source);
        ENSURE(run_command(text, frame, said, sizeof said) == SS_CONVERGED);
    }
    ENSURE(run_command("mine=echo oh dear >&2; exit 3", frame, said, sizeof said) == SS_FAILED);
    ENSURE_TEXT(said, "mine: ended with exit code 3 before its HELLO: oh dear");
    ENSURE(run_command("cat", frame, said, sizeof said) == SS_FAILED);
    ENSURE_CONTAINS(said, "cat: sent a HELLO "); // an echo of ours, which means something else
    ENSURE_INT(ss_solver_count(), solvers);
    ss_error err;
    ENSURE(!ss_solver_command_open("pgs=./mine", &err));
    ENSURE_CONTAINS(err.message, "already used by the library");
    ss_frame_destroy(frame);
}

typedef struct errand {
    const char *solver;
    const ss_frame *frame;
    ss_status status;
    char said[1000];
} errand;

static void *run_errand(void *at)
{
    errand *e = at;
    ss_session *session;
    const ss_result *result = solve_with("cone", e->solver, e->frame, NULL, &session);
    e->status = result->run.status;
    snprintf(e->said, sizeof e->said, "%s", result->run.notes ? result->run.notes : "");
    ss_session_destroy(session);
    return NULL;
}

TEST(a_process_outlives_the_thread_that_started_it)
{
    const char *source = getenv("SS_SOURCE_DIR");
    if (!source || access("/usr/bin/python3", X_OK) != 0) SKIP("no python3");
    ss_error err = {0};
    ss_frame *frame = known(block_on_ground(0.6, 0.3), NULL);
    char text[1000];
    snprintf(text, sizeof text, "mine=/usr/bin/python3 '%s/examples/pipe/block_pgs.py'", source);
    ss_solver_command *command = known(ss_solver_command_open(text, &err), &err);
    for (int i = 0; i < 3; i++) {
        errand e = {.solver = "mine", .frame = frame};
        pthread_t thread;
        ENSURE(pthread_create(&thread, NULL, run_errand, &e) == 0);
        pthread_join(thread, NULL);
        ENSURE_TEXT(e.said, "");
        ENSURE(e.status == SS_CONVERGED);
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL); // time for it to be killed
    }
    ss_solver_command_close(command);
    ss_frame_destroy(frame);
}

/* ---- threads ---------------------------------------------------------------------------------------- */

static ss_solver crowd[8];
static void *come_and_go(void *at)
{
    ss_solver *mine = at;
    const ss_solver *list[] = {mine, NULL};
    ss_extension extension = {.abi = SS_ABI, .solvers = list};
    for (int i = 0; i < 200; i++) {
        if (!ss_register(&extension, NULL) || ss_solver_find(mine->name) != mine) return NULL;
        ss_unregister(&extension);
    }
    return mine;
}

static void *look_up(void *at)
{
    for (int i = 0; i < 2000; i++) {
        if (!ss_solver_find("auto") || ss_solver_find("nobody") || ss_metric_index("energy") != 0)
            return NULL;
    }
    return at;
}

TEST(threads_register_and_look_up_at_the_same_time)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    pthread_t threads[8];
    int solvers = ss_solver_count();
    for (int i = 0; i < 8; i++) {
        crowd[i] = my_solver;
        crowd[i].name = names[i / 2];
        ENSURE(pthread_create(&threads[i], NULL, i % 2 ? look_up : come_and_go, &crowd[i]) == 0);
    }
    for (int i = 0; i < 8; i++) {
        void *result;
        pthread_join(threads[i], &result);
        ENSURE(result == &crowd[i]);
    }
    ENSURE_INT(ss_solver_count(), solvers);
}

TEST_MAIN
