/* Minimal coordinates in problems: the factor of M, frames that hold trees, problems and answers in both
 * kinds of coordinates, and files with them. */
#include "tree_worlds.h"

#include "linalg/reverse_ldl.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* ---- the factor ------------------------------------------------------------------------------------- */

/* A random symmetric positive definite matrix, lower half by rows: M = sum of random rows' products, where a
 * row has entries on a path to the root of a random tree, so that M has the pattern of a tree; or on random
 * places. */
static void check_factor(uint64_t seed, bool of_tree)
{
    enum { N = 12 };
    ss_random random = ss_random_start(seed, 0);
    double M[N][N] = {{0}}, value[N * N], x[N], b[N];
    int32_t start[N + 1] = {0}, column[N * N];
    int parent[N], count = 0;
    for (int i = 0; i < N; i++) {
        double row[N] = {0};
        parent[i] = i == 0 ? -1 : (int)ss_random_between(&random, 0, i - 1e-9);
        for (int k = i; k >= 0; k = parent[k]) row[k] = ss_random_between(&random, -1, 1);
        if (!of_tree && i > 2) row[(i * 5) % i] = 1.0;
        row[i] = 2.0;
        for (int a = 0; a < N; a++)
            for (int c = 0; c < N; c++) M[a][c] += row[a] * row[c];
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            if (M[i][j] == 0.0) continue;
            column[count] = j;
            value[count++] = M[i][j];
        }
        start[i + 1] = count;
    }
    ss_reverse_ldl ldl = {0};
    ENSURE_INT(ss_reverse_ldl_make(N, start, column, value, &ldl), -1);
    int entries = 0;
    for (int i = 0; i < N; i++) entries += ldl.end[i] - ldl.first[i];
    if (of_tree) ENSURE_INT(entries, count - N); // no fill
    for (int i = 0; i < N; i++) x[i] = ss_random_between(&random, -1, 1);
    for (int i = 0; i < N; i++) {
        b[i] = 0.0;
        for (int j = 0; j < N; j++) b[i] += M[i][j] * x[j];
    }
    ss_reverse_ldl_solve(&ldl, b);
    ENSURE_NEAR(largest_difference(b, x, N), 0.0, 1e-9); // conditions of these matrices are below 1e5
    ss_reverse_ldl_free(&ldl);
}

TEST(a_mass_matrix_of_a_tree_is_factored_without_fill_and_any_other_with_it)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        check_factor(seed, true);
        check_factor(seed, false);
    }
    ss_reverse_ldl ldl = {0};
    const int32_t start[] = {0, 1, 3}, column[] = {0, 0, 1};
    ENSURE_INT(ss_reverse_ldl_make(2, start, column, (const double[]){1.0, 2.0, 3.0}, &ldl), 0);
    ss_reverse_ldl_free(&ldl);
}

/* ---- one frame, two kinds of coordinates ------------------------------------------------------------ */

static ss_session *session_of(const char *with, const char *solver)
{
    ss_error err = {0};
    ss_request request = {.with = with, .solver = solver, .stop = "natural_map<1e-12", .skip_exact = true};
    return known(ss_session_create(&request, &err), &err);
}

/* Solves every `every`th of `frames` frames in both; their body velocities are the same. */
static void compare_frames(const char *name, ss_sim *sim, int frames, int every, const char *solver)
{
    ss_error err = {0};
    ss_session *maximal = session_of(NULL, solver), *minimal = session_of("coordinates=minimal", solver);
    for (int i = 0; i < frames; i++) {
        run(sim, every);
        const ss_frame *frame = ss_sim_frame(sim);
        ENSURE(frame->generalized.count > 0);
        // Coulomb's law may have several answers: the second solver starts from the first one's
        const ss_result *a = known((void *)(uintptr_t)ss_session_solve(maximal, frame, NULL, &err), &err);
        const ss_result *b =
            known((void *)(uintptr_t)ss_session_solve(minimal, frame, a->answer, &err), &err);
        double difference =
            largest_difference(a->answer->velocity[0], b->answer->velocity[0], 6 * frame->bodies.count);
        if (difference > 1e-8)
            KIT_FAIL("%s, frame %d: velocities differ by %.3g, %s and %s", name, i, difference,
                     ss_status_name(a->run.status), ss_status_name(b->run.status));

        // metrics judge bodies, joints and contacts, whatever coordinates the answer was found in
        ss_metric_value *values = known(ss_allocate((size_t)ss_metric_count(), sizeof *values), NULL);
        ss_step_options step = *ss_assembly_step(ss_session_assembly(minimal));
        step.coordinates = SS_MAXIMAL;
        if (!ss_judge_frame(frame, &step, b->answer, values, NULL, &err)) known(NULL, &err);
        for (int m = 0; m < ss_metric_count(); m++) {
            bool same = values[m].applies == b->metrics[m].applies &&
                        (!values[m].applies || values[m].value == b->metrics[m].value);
            bool left_out = strcmp(ss_metric_at(m)->name, "energy_exact") == 0;
            if (!same && !left_out)
                KIT_FAIL("%s: %s is %g by the minimal session, %g by the maximal rows", name,
                         ss_metric_at(m)->name, b->metrics[m].value, values[m].value);
        }
        int balance = ss_metric_index("momentum_balance");
        if (balance >= 0 && values[balance].applies) ENSURE_NEAR(values[balance].value, 0.0, 1e-8);
        ss_release(values);
    }
    ss_session_destroy(maximal);
    ss_session_destroy(minimal);
}

static void compare_solutions(const char *name, int frames, int every, const char *solver)
{
    ss_world *world;
    void *state;
    ss_sim *sim = scene_sim(name, SS_MINIMAL, 0.0, &world, &state);
    compare_frames(name, sim, frames, every, solver);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
}

/* A beam on three balls, each on a hinge, sent off sliding and spinning: adhesion, springs, rolling friction
 * and both couplings of torsional friction act on a tree. */
static ss_world *make_trolley(ss_material_pair pair)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    if (!ss_world_set_pair(world, 0, 0, &pair, &err)) known(NULL, &err);
    ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, &err);
    int beam = add_body(world, 0.0, 0.0, 0.3, 4.0);
    for (int i = 0; i < 3; i++) {
        double x = i < 2 ? -0.3 : 0.4, y = i == 0 ? -0.3 : i == 1 ? 0.3 : 0.0;
        int ball = add_body(world, x, y, 0.1, 1.0);
        if (ss_world_add_shape(world, ball, &(ss_shape){.kind = SS_SPHERE, .size = {0.1}}, &err) < 0)
            known(NULL, &err);
        add_joint(world, &(ss_joint){.kind = i == 2 ? SS_JOINT_BALL : SS_JOINT_REVOLUTE,
                                     .a = beam,
                                     .b = ball,
                                     .anchor = {x, y, 0.1},
                                     .axis = {0, 1, 0}});
    }
    for (int b = 0; b < 4; b++) {
        const double v[6] = {1.0, 0.4, 0.0, 0.0, 0.0, 0.0};
        memcpy(ss_world_body(world, b)->velocity, v, sizeof v);
    }
    ss_world_body(world, 3)->velocity[5] = 15.0; // the ball on the ball joint spins
    return world;
}

TEST(adhesion_springs_rolling_and_torsional_friction_act_on_trees_as_on_bodies)
{
    const ss_material_pair pairs[] = {{.mu = 0.4, .mu_rolling = 0.004, .mu_torsion = 0.01},
                                      {.mu = 0.4, .mu_torsion = 0.01, .spin_coupling = SS_SPIN_ELLIPSOID},
                                      {.mu = 0.4,
                                       .mu_rolling = 0.004,
                                       .mu_torsion = 0.01,
                                       .spin_coupling = SS_SPIN_ELLIPSOID,
                                       .adhesion = 8.0},
                                      {.mu = 0.4, .adhesion = 8.0, .stiffness = 2e4, .damping = 50.0}};
    for (int k = 0; k < 4; k++) {
        ss_world *world = make_trolley(pairs[k]);
        ss_sim *sim = start(world, SS_MINIMAL, 2e-3);
        compare_frames("trolley", sim, 6, 10, "auto");
        const ss_contacts *contacts = &ss_sim_frame(sim)->contacts;
        ENSURE(contacts->count == 3 && (contacts->mu_torsion != NULL) == (k < 3) &&
               (contacts->adhesion != NULL) == (k > 1) && (contacts->damping != NULL) == (k == 3));
        double left = ss_world_body(world, 3)->velocity[5]; // I w' = -mu_t nu at most: it has lost some
        if (k < 3) ENSURE(left < 14.9);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
}

TEST(thirty_frames_of_four_scenes_have_the_same_velocities_in_both_coordinates)
{
    static const char *const scenes[] = {"powerball-grasp", "mass-ratio-grasp", "cart", "four-bar"};
    for (int i = 0; i < 4; i++) compare_solutions(scenes[i], 30, 10, "auto");
}

TEST(solvers_agree_between_the_two_kinds_on_machines_that_touch_the_ground)
{
    static const char *const scenes[] = {"walker", "quadruped", "gripper", "arm"};
    static const char *const solvers[] = {"interior-point", "alart-curnier"};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) compare_solutions(scenes[i], 3, 150, solvers[k]);
}

TEST(an_answer_in_minimal_coordinates_does_not_depend_on_the_solver_or_the_form)
{
    ss_error err = {0};
    ss_world *world;
    void *state;
    ss_sim *sim = scene_sim("cart", SS_MINIMAL, 0.0, &world, &state);
    run(sim, 60);
    const ss_frame *frame = ss_sim_frame(sim);
    ss_session *first = session_of("coordinates=minimal", "auto");
    const ss_result *best = known((void *)(uintptr_t)ss_session_solve(first, frame, NULL, &err), &err);
    ENSURE(frame->contacts.count > 0);
    static const char *const others[][2] = {
        {"coordinates=minimal", "nsgs"},           {"coordinates=minimal", "batched-nncg"},
        {"coordinates=minimal", "interior-point"}, {"coordinates=minimal", "alart-curnier"},
        {"coordinates=minimal", "admm"},           {"coordinates=minimal", "pgs"},
        {"coordinates=minimal", "proximal-point"}, {"coordinates=minimal form=descriptor", "alart-curnier"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ss_session *other = session_of(others[i][0], others[i][1]);
        const ss_result *found = known((void *)(uintptr_t)ss_session_solve(other, frame, NULL, &err), &err);
        double difference = largest_difference(found->answer->velocity[0], best->answer->velocity[0],
                                               6 * frame->bodies.count);
        if (!(difference < 1e-7))
            KIT_FAIL("%s %s: %s, %.3g apart", others[i][1], others[i][0], ss_status_name(found->run.status),
                     difference);
        ss_session_destroy(other);
    }
    ss_session_destroy(first);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
}

/* ---- files ------------------------------------------------------------------------------------------ */

TEST(frames_with_trees_and_their_answers_come_back_from_files_bit_for_bit)
{
    ss_error err = {0};
    ss_world *world;
    void *state;
    scratch folder = scratch_open();
    char path[300], flat[300];
    snprintf(path, sizeof path, "%s/trees.h5", folder.directory);
    snprintf(flat, sizeof flat, "%s/flat.h5", folder.directory);
    ss_sim *sim = scene_sim("cart", SS_MINIMAL, 0.0, &world, &state);
    run(sim, 30);
    ss_writer *writer = known(ss_writer_open(path, SS_LAYOUT_CANONICAL, false, &err), &err);
    ss_stored_result result = {.solver = (char *)(uintptr_t) "ours",
                               .answer = (ss_answer *)(uintptr_t)ss_sim_answer(sim),
                               .iterations = -1,
                               .error = NAN,
                               .seconds = NAN};
    ENSURE(ss_writer_simulation(writer, NULL, &err) && ss_writer_frame(writer, ss_sim_frame(sim), &err) &&
           ss_writer_result(writer, &result, &err) && ss_writer_close(writer, &err));

    ss_bpmd *file = known(ss_bpmd_open(path, NULL, NULL, &err), &err);
    ss_findings findings = {0};
    ss_frame *frame = known(ss_bpmd_read(file, 0, &findings, &err), &err);
    ENSURE_INT((int)findings.count, 0);
    ENSURE(ss_frame_equal(frame, ss_sim_frame(sim)));
    ss_stored_result back;
    ENSURE(ss_bpmd_result(file, 0, 0, &back, &err));
    ENSURE_INT(back.answer->coordinates, frame->generalized.count);
    ENSURE(memcmp(back.answer->generalized_velocity, ss_sim_answer(sim)->generalized_velocity,
                  (size_t)frame->generalized.count * sizeof(double)) == 0);
    ss_stored_result_free(&back);
    ss_bpmd_close(file);

    // the authors' layout has no place for them, and says so
    writer = known(ss_writer_open(flat, SS_LAYOUT_FLAT, false, &err), &err);
    ENSURE(ss_writer_simulation(writer, NULL, &err));
    ENSURE(!ss_writer_frame(writer, frame, &err));
    ENSURE_CONTAINS(err.message, "generalised coordinates");
    ss_writer_discard(writer);
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
    scratch_close(&folder);
}

TEST(an_fclib_problem_in_minimal_coordinates_holds_the_answer_to_rounding)
{
    ss_error err = {0};
    ss_world *world;
    void *state;
    ss_sim *sim = scene_sim("cart", SS_MINIMAL, 0.0, &world, &state);
    run(sim, 60);
    ss_session *session = session_of("coordinates=minimal", "auto");
    const ss_result *best =
        known((void *)(uintptr_t)ss_session_solve(session, ss_sim_frame(sim), NULL, &err), &err);
    ss_assembly *assembly = ss_session_assembly(session);
    ss_cone *cone =
        known(ss_assembly_cone(assembly, &(ss_cone_wish){.form = SS_CONE_GLOBAL}, "", NULL, &err), &err);
    ENSURE_INT(cone->dofs, ss_sim_frame(sim)->generalized.count);
    ss_cone_point point;
    ENSURE(ss_assembly_cone_point(assembly, cone, best->answer, &point, &err));

    // M v = f + H r + G l
    double *left = known(ss_allocate(2 * (size_t)cone->dofs, sizeof *left), NULL), *right = left + cone->dofs;
    ss_sparse_apply(cone->M, point.v, 1.0, left);
    memcpy(right, cone->f, (size_t)cone->dofs * sizeof *right);
    ss_sparse_apply(cone->H, point.r, 1.0, right);
    if (cone->G) ss_sparse_apply(cone->G, point.l, 1.0, right);
    ENSURE_NEAR(largest_difference(left, right, cone->dofs) / norm_of(left, cone->dofs), 0.0, 1e-13);
    ss_release(left);
    ss_cone_point_free(&point);
    ss_cone_destroy(cone);
    ss_session_destroy(session);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
}

/* ---- checks ----------------------------------------------------------------------------------------- */

static void plant(ss_frame *frame, const char *what)
{
    ss_findings findings = {0};
    bool good = ss_frame_check(frame, "F", &findings);
    bool found = false;
    for (size_t i = 0; i < findings.count; i++) found |= strstr(findings.items[i].place, what) != NULL;
    if (good || !found) KIT_FAIL("%s was not found", what);
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
}

TEST(what_does_not_fit_in_generalised_coordinates_is_found)
{
    ss_world *world = make_pair(SS_JOINT_UNIVERSAL, false, false);
    ss_sim *sim = start(world, SS_MINIMAL, 0.005);
    run(sim, 10);
    const ss_frame *good = ss_sim_frame(sim);
    ss_frame *frame = ss_frame_copy(good, NULL);
    frame->generalized.velocity[1] += 1e-3;
    plant(frame, "F/bodies/velocities");
    frame = ss_frame_copy(good, NULL);
    frame->generalized.map[0] *= 1.001;
    plant(frame, "F/constraints/implied");
    frame = ss_frame_copy(good, NULL);
    frame->generalized.mass[0] = -frame->generalized.mass[0];
    plant(frame, "F/generalized/mass/values");
    frame = ss_frame_copy(good, NULL);
    frame->generalized.map_column[0] = 99;
    plant(frame, "F/generalized/map/indices");
    frame = ss_frame_copy(good, NULL);
    frame->generalized.tree[0][1] = 1;
    plant(frame, "F/generalized/trees");
    frame = ss_frame_copy(good, NULL);
    frame->generalized.mass_start[2] = 0;
    plant(frame, "F/generalized/mass/indptr");

    // other masses and forces than the bodies' are a warning: flexible bodies have them
    frame = ss_frame_copy(good, NULL);
    ss_findings findings = {0};
    frame->generalized.mass[0] *= 2.0;
    frame->generalized.force[0] += 1.0;
    ENSURE(ss_frame_check(frame, "F", &findings));
    ENSURE_INT((int)findings.count, 2);
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
}

TEST(a_frame_without_coordinates_cannot_be_solved_in_minimal_ones)
{
    ss_error err = {0};
    ss_frame *frame = known(ss_frame_create(1, 0, 0, 0, &err), &err);
    frame->bodies.mass[0] = 1.0;
    for (int i = 0; i < 3; i++) frame->bodies.inertia[0][4 * i] = 1.0;
    ss_session *session = session_of("coordinates=minimal", "auto");
    ENSURE(!ss_session_solve(session, frame, NULL, &err));
    ENSURE_CONTAINS(err.message, "no generalised coordinates");
    ss_session_destroy(session);
    ss_frame_destroy(frame);
}

TEST_MAIN
