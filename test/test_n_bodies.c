/* Rows on more than two bodies, from the frame through files, formulations and solvers to metrics. */
#include <stickslip/stickslip.h>

#include "kit.h"
#include "known_cone.h"
#include "linalg/quat.h"
#include "mechanics.h"
#include "problem/islands.h"
#include "scratch.h"

#include <string.h>

enum { CAR = 4, FEET = 3 }; // bodies of a car; contacts of each with the ground

/* ---- frames ----------------------------------------------------------------------------------------- */

static void random_block(ss_random *random, double block[6])
{
    for (int i = 0; i < 6; i++) block[i] = ss_random_between(random, -1, 1);
}

/* Cars of four bodies on the ground. Of each: a ball joint between the first two bodies, a row on all four (a
 * differential), and a bounded row on three of them (a winch with a limited force). */
static ss_frame *make_cars(int cars, uint64_t seed)
{
    ss_random random = ss_random_start(seed, 0);
    ss_frame *frame = known(ss_frame_create(CAR * cars, 3 * cars, 5 * cars, FEET * CAR * cars, NULL), NULL);
    if (!ss_frame_add_further(frame, 3 * cars, NULL)) known(NULL, NULL);
    frame->h = 0.01;
    for (int b = 0; b < frame->bodies.count; b++) {
        double mass = ss_random_between(&random, 1, 3);
        frame->bodies.mass[b] = mass;
        frame->bodies.force[b][2] = -9.81 * mass;
        frame->bodies.position[b][0] = 3.0 * b;
        frame->bodies.position[b][2] = 0.5;
        for (int i = 0; i < 3; i++)
            frame->bodies.inertia[b][4 * i] = mass * ss_random_between(&random, 0.2, 0.3);
        for (int i = 0; i < 6; i++) frame->bodies.velocity[b][i] = ss_random_between(&random, -1, 1);
        for (int k = 0; k < FEET; k++) {
            ss_contacts *contacts = &frame->contacts;
            int c = FEET * b + k;
            contacts->pair[c][1] = b;
            contacts->normal[c][2] = 1.0;
            contacts->mu[c][0] = contacts->mu[c][1] = 0.2;
            contacts->point[c][0] = 3.0 * b + 0.5 * cos(2.1 * k);
            contacts->point[c][1] = 0.5 * sin(2.1 * k);
        }
    }
    ss_constraints *joints = &frame->constraints;
    for (int car = 0, block = 0; car < cars; car++) {
        int first = CAR * car, joint = 3 * car, row = 5 * car;
        joints->rows[joint] = 3, joints->rows[joint + 1] = joints->rows[joint + 2] = 1;
        for (int k = 0; k < 3; k++) {
            joints->pair[joint + k][0] = first;
            joints->pair[joint + k][1] = first + 1;
        }
        for (int r = row; r < row + 5; r++) {
            random_block(&random, joints->jacobian[r]);
            random_block(&random, joints->jacobian[r] + 6);
            joints->violation[r] = ss_random_between(&random, -1e-3, 1e-3);
        }
        joints->bounds[row + 4][0] = -1.0;
        joints->bounds[row + 4][1] = 2.0;
        for (int k = 0; k < 3; k++, block++) {
            joints->further_row[block] = row + 3 + (k == 2);
            joints->further_body[block] = first + 2 + k % 2;
            random_block(&random, joints->further_jacobian[block]);
        }
    }
    return frame;
}

/* J of the frame as a full matrix, rows x 6 bodies: the plain reading of the format. */
static double *full_jacobian(const ss_frame *frame)
{
    const ss_constraints *joints = &frame->constraints;
    size_t columns = 6 * (size_t)frame->bodies.count;
    double *J = known(ss_allocate((size_t)joints->row_count * columns, sizeof *J), NULL);
    for (int k = 0, row = 0; k < joints->count; k++)
        for (int r = 0; r < joints->rows[k]; r++, row++)
            for (int side = 0; side < 2; side++)
                for (int i = 0; joints->pair[k][side] != SS_WORLD && i < 6; i++)
                    J[(size_t)row * columns + 6 * (size_t)joints->pair[k][side] + (size_t)i] =
                        joints->jacobian[row][6 * side + i];
    for (int k = 0; k < joints->further_count; k++)
        for (int i = 0; i < 6; i++)
            J[(size_t)joints->further_row[k] * columns + 6 * (size_t)joints->further_body[k] + (size_t)i] =
                joints->further_jacobian[k][i];
    return J;
}

static double inverse_mass(const ss_frame *frame, int column)
{
    int body = column / 6, i = column % 6;
    return 1.0 / (i < 3 ? frame->bodies.mass[body] : frame->bodies.inertia[body][4 * (i - 3)]);
}

/* ---- the frame -------------------------------------------------------------------------------------- */

TEST(a_frame_with_further_blocks_is_good_copied_and_told_apart)
{
    ss_frame *frame = make_cars(1, 1), *copy = known(ss_frame_copy(frame, NULL), NULL);
    ss_findings findings = {0};
    char hash[33], other[33];
    ENSURE(ss_frame_check(frame, "", &findings));
    ENSURE_INT((int)findings.count, 0);
    ENSURE(ss_frame_equal(frame, copy));
    ss_frame_hash(frame, hash);
    ss_frame_hash(copy, other);
    ENSURE_TEXT(hash, other);
    copy->constraints.further_jacobian[2][5] += 1e-9;
    ss_frame_hash(copy, other);
    ENSURE(!ss_frame_equal(frame, copy) && strcmp(hash, other) != 0);
    ss_frame_destroy(copy);
    ss_frame_destroy(frame);
}

static void ensure_fault(ss_frame *frame, const char *words)
{
    ss_findings findings = {0};
    ENSURE(!ss_frame_check(frame, "", &findings));
    ENSURE(findings.count > 0);
    if (findings.count) ENSURE_CONTAINS(findings.items[0].message, words);
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
}

TEST(faults_of_further_blocks_are_found)
{
    ss_frame *frame = make_cars(1, 1);
    frame->constraints.further_row[2] = 5;
    ensure_fault(frame, "there are 5 rows");
    frame = make_cars(1, 1);
    frame->constraints.further_row[2] = 2;
    ensure_fault(frame, "must not fall");
    frame = make_cars(1, 1);
    frame->constraints.further_body[1] = SS_WORLD;
    ensure_fault(frame, "not the world");
    frame = make_cars(1, 1);
    frame->constraints.further_body[1] = 1;
    ensure_fault(frame, "occurs twice in row 3");
    frame = make_cars(1, 1);
    frame->constraints.further_body[1] = 2;
    ensure_fault(frame, "occurs twice in row 3");
    frame = make_cars(1, 1);
    frame->constraints.further_jacobian[1][4] = NAN;
    ensure_fault(frame, "must be finite");
}

TEST(a_further_block_out_of_the_plane_makes_a_frame_spatial)
{
    ss_frame *frame = known(ss_frame_create(3, 1, 1, 0, NULL), NULL);
    double pose[3] = {0};
    for (int b = 0; b < 3; b++) ss_frame_set_planar_body(frame, b, 1, 1, pose, pose, pose);
    ENSURE(ss_frame_add_further(frame, 1, NULL));
    frame->constraints.pair[0][0] = 0, frame->constraints.pair[0][1] = 1;
    frame->constraints.jacobian[0][5] = frame->constraints.jacobian[0][11] = 1.0;
    frame->constraints.further_body[0] = 2;
    frame->constraints.further_jacobian[0][5] = 1.0;
    ENSURE(ss_frame_is_planar(frame));
    frame->constraints.further_jacobian[0][4] = 1.0;
    ENSURE(!ss_frame_is_planar(frame));
    ss_frame_destroy(frame);
}

/* ---- files ------------------------------------------------------------------------------------------ */

static ss_frame *there_and_back(const ss_frame *frame, const char *path)
{
    ss_error err = {0};
    ss_writer *writer = known(ss_writer_open(path, SS_LAYOUT_CANONICAL, false, &err), &err);
    if (!ss_writer_simulation(writer, NULL, &err) || !ss_writer_frame(writer, frame, &err) ||
        !ss_writer_close(writer, &err))
        known(NULL, &err);
    ss_bpmd *file = known(ss_bpmd_open(path, NULL, NULL, &err), &err);
    ss_frame *read = known(ss_bpmd_read(file, 0, NULL, &err), &err);
    ss_bpmd_close(file);
    return read;
}

TEST(further_blocks_return_from_a_file_bit_for_bit)
{
    scratch room = scratch_open();
    char path[600];
    snprintf(path, sizeof path, "%s/cars.h5", room.directory);
    ss_frame *frame = make_cars(3, 7);
    frame->bodies.id[0] = 40; // ids are not indices
    frame->constraints.further_jacobian[0][0] = -0.0;
    frame->constraints.further_jacobian[0][1] = 1.0 / 3.0;
    ss_frame *read = there_and_back(frame, path);
    ENSURE(ss_frame_equal(frame, read));
    ss_frame_destroy(read);
    ss_frame_destroy(frame);
    scratch_close(&room);
}

TEST(the_flat_layout_refuses_what_it_cannot_hold)
{
    scratch room = scratch_open();
    char path[600];
    snprintf(path, sizeof path, "%s/flat.h5", room.directory);
    ss_error err = {0};
    ss_frame *frame = make_cars(1, 7);
    ss_writer *writer = known(ss_writer_open(path, SS_LAYOUT_FLAT, false, &err), &err);
    ENSURE(!ss_writer_frame(writer, frame, &err));
    ENSURE_CONTAINS(err.message, "cannot hold rows on more than two bodies");
    ss_writer_discard(writer);
    ss_frame_destroy(frame);
    scratch_close(&room);
}

TEST(a_recorder_takes_further_bodies_one_after_the_other)
{
    scratch room = scratch_open();
    char path[600];
    snprintf(path, sizeof path, "%s/recorded.h5", room.directory);
    ss_error err = {0};
    static const double origin[3], upright[4] = {1}, unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, still[6];
    double pair[2][12] = {{1}, {0, 2}}, violation[2] = {0}, third[2][6] = {{3}, {0, 4}},
           fourth[2][6] = {{5}, {0, 6}};
    ss_recorder *recorder = known(ss_recorder_open(path, "test", &err), &err);
    ss_recorder_begin(recorder, 0.0, 0.01);
    for (int b = 0; b < 4; b++) ss_recorder_body(recorder, 1.0, origin, upright, unit, still, still);
    ss_recorder_joint(recorder, 0, 1, 2, pair[0], violation, NULL, NULL);
    ss_recorder_joint_further(recorder, 2, third[0]);
    ss_recorder_joint_further(recorder, 3, fourth[0]);
    if (!ss_recorder_end(recorder, &err) || !ss_recorder_close(recorder, &err)) known(NULL, &err);

    ss_bpmd *file = known(ss_bpmd_open(path, NULL, NULL, &err), &err);
    ss_frame *frame = known(ss_bpmd_read(file, 0, NULL, &err), &err);
    const ss_constraints *joints = &frame->constraints;
    static const int rows[4] = {0, 0, 1, 1}, bodies[4] = {2, 3, 2, 3};
    static const double entries[4] = {3, 5, 4, 6};
    ENSURE_INT(joints->further_count, 4);
    for (int k = 0; k < 4 && joints->further_count == 4; k++) {
        ENSURE_INT(joints->further_row[k], rows[k]);
        ENSURE_INT(joints->further_body[k], bodies[k]);
        ENSURE_NEAR(joints->further_jacobian[k][rows[k]], entries[k], 0.0);
    }
    ss_frame_destroy(frame);
    ss_bpmd_close(file);
    scratch_close(&room);
}

/* ---- problems --------------------------------------------------------------------------------------- */

TEST(the_matrix_of_joints_is_the_product_of_their_full_rows)
{
    ss_frame *frame = make_cars(2, 3);
    method m = method_of("frictionless joint_gamma=0");
    ss_problem *problem = known(assemble(&m, frame), NULL);
    double *J = full_jacobian(frame);
    int columns = 6 * frame->bodies.count, rows = frame->constraints.row_count;
    ENSURE(ss_problem_need_matrix(problem, NULL));
    for (int i = 0; i < rows; i++) {
        double b = 0.0;
        for (int c = 0; c < columns; c++) {
            double v = frame->bodies.velocity[c / 6][c % 6] +
                       frame->h * frame->bodies.force[c / 6][c % 6] * inverse_mass(frame, c);
            b += J[i * columns + c] * v;
        }
        ENSURE_NEAR(problem->b[i], b, 1e-13); // numbers of about 1, added in another order
        for (int j = 0; j < rows; j++) {
            double a = 0.0;
            for (int c = 0; c < columns; c++)
                a += J[i * columns + c] * J[j * columns + c] * inverse_mass(frame, c);
            ENSURE_NEAR(ss_sparse_get(problem->A, i, j), a, 1e-13);
            if (i == j) ENSURE_NEAR(problem->diagonal[i], a, 1e-13);
        }
    }
    ss_release(J);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

TEST(the_bodies_and_the_matrix_give_the_same_product)
{
    ss_frame *frame = make_cars(2, 4);
    method m = method_of("cone");
    ss_problem *problem = known(assemble(&m, frame), NULL);
    int n = problem->size, room = ss_problem_scratch(problem);
    double *x = known(ss_allocate((size_t)(3 * n + room), sizeof *x), NULL);
    for (int i = 0; i < n; i++) x[i] = cos(i);
    ss_problem_apply(problem, x, x + 3 * n, x + n);
    ENSURE(ss_problem_need_matrix(problem, NULL));
    ss_problem_apply(problem, x, x + 3 * n, x + 2 * n);
    for (int i = 0; i < n; i++) ENSURE_NEAR(x[n + i], x[2 * n + i], 1e-12); // rounding of sums of about 10
    ss_release(x);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

TEST(a_row_on_four_bodies_makes_them_one_island)
{
    ss_frame *frame = make_cars(3, 5);
    method m = method_of("cone");
    ss_problem *problem = known(assemble(&m, frame), NULL);
    ss_arena *arena = known(ss_arena_create(1 << 20, NULL), NULL);
    ss_islands islands;
    ENSURE(ss_islands_split(problem, NULL, arena, &islands, NULL));
    ENSURE_INT(islands.count, 3);
    for (int k = 0; islands.problems && k < islands.count; k++) {
        ss_problem *island = &islands.problems[k];
        ENSURE_INT(island->bodies->bodies, CAR);
        ENSURE(ss_problem_need_matrix(island, NULL) && ss_problem_need_matrix(problem, NULL));
        for (int i = 0; i < island->size; i++)
            for (int j = 0; j < island->size; j++)
                ENSURE_NEAR(ss_sparse_get(island->A, i, j),
                            ss_sparse_get(problem->A, islands.order[islands.first[k] + i],
                                          islands.order[islands.first[k] + j]),
                            1e-15);
    }
    ss_islands_release(&islands);
    ss_arena_destroy(arena);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

/* ---- solvers ---------------------------------------------------------------------------------------- */

/* Not solved: the solver does not accept the problem, or does not reach the rule. */
static bool solve_by(const ss_frame *frame, const char *words, const ss_solver *solver, ss_answer *answer)
{
    method m = method_of(words);
    ss_assembly *assembly = known(assembled(&m, frame, NULL, NULL), NULL);
    ss_problem *problem = ss_assembly_problem(assembly);
    double *x = known(ss_allocate((size_t)problem->size, sizeof *x), NULL);
    ss_run_options run = {.max_iterations = 50000, .stop = stop_rule("relative_energy<1e-12"), .seed = 1};
    ss_solve_result result;
    bool good =
        !ss_solver_refusal(solver, problem) &&
        ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &run}, x, &result, NULL);
    if (good) ss_assembly_recover(assembly, x, answer);
    good = good && result.gauge[SS_GAUGE_RELATIVE_ENERGY] < 1e-9;
    ss_release(x);
    ss_assembly_destroy(assembly);
    return good;
}

/* Formulations whose velocities are unique; solvers have to agree on them to 1e-8, by a stop rule of 1e-12
 * and problems of about unit condition. Those that stop far from a solution take no part
 * (first-order methods on equations): at least `least` remain. */
static void solvers_agree(const ss_frame *frame, const char *words, int least)
{
    ss_answer *first = known(ss_answer_create(frame, false, NULL), NULL);
    ss_answer *other = known(ss_answer_create(frame, false, NULL), NULL);
    int count = 0;
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        ss_answer *answer = count ? other : first;
        if (!solve_by(frame, words, solver, answer)) continue;
        for (int i = 0; count && i < 6 * frame->bodies.count; i++) {
            double apart = fabs(answer->velocity[i / 6][i % 6] - first->velocity[i / 6][i % 6]);
            if (!(apart <= 1e-8 * kit_tolerance_scale()))
                KIT_FAIL("%s, %s: velocity %d is %g apart", words, solver->name, i, apart);
        }
        count++;
    }
    if (count < least) KIT_FAIL("%s: %d solvers took part, at least %d should", words, count, least);
    ss_answer_destroy(first);
    ss_answer_destroy(other);
}

TEST(solvers_agree_on_rows_of_many_bodies)
{
    ss_frame *frame = make_cars(2, 6);
    solvers_agree(frame, "frictionless", 20);
    solvers_agree(frame, "convex", 15);
    solvers_agree(frame, "box", 15);
    solvers_agree(frame, "cone", 14);
    solvers_agree(frame, "stewart-trinkle", 8);
    solvers_agree(frame, "frictionless joint_term=spook", 20);
    ss_frame_destroy(frame);
}

/* More contacts than batches need: sweeps that take four contacts at a time, and the full space of Newton's
 * methods is left behind. */
TEST(solvers_agree_on_many_cars)
{
    static const char *const names[] = {"auto", "batched-nncg", "nsgs", "nncg", "alart-curnier", "admm"};
    ss_frame *frame = make_cars(12, 8);
    ss_answer *answer[6];
    for (int s = 0; s < 6; s++) {
        answer[s] = known(ss_answer_create(frame, false, NULL), NULL);
        if (!solve_by(frame, "cone", ss_solver_find(names[s]), answer[s]))
            KIT_FAIL("%s: not solved", names[s]);
        for (int i = 0; i < 6 * frame->bodies.count; i++)
            ENSURE_NEAR(answer[s]->velocity[i / 6][i % 6], answer[0]->velocity[i / 6][i % 6], 1e-8);
    }
    for (int s = 0; s < 6; s++) ss_answer_destroy(answer[s]);
    ss_frame_destroy(frame);
}

TEST(every_formulation_conserves_momentum_over_many_bodies)
{
    ss_frame *frame = make_cars(1, 9);
    static const char *const words[] = {"cone",
                                        "stewart-trinkle form=mixed",
                                        "convex",
                                        "box",
                                        "stewart-trinkle",
                                        "anitescu-potra",
                                        "frictionless",
                                        "penalty"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        ss_answer *answer = known(ss_answer_create(frame, false, NULL), NULL);
        method m = method_of(words[k]);
        ss_assembly *assembly = known(assembled(&m, frame, NULL, NULL), NULL);
        ss_problem *problem = ss_assembly_problem(assembly);
        double *x = known(ss_allocate((size_t)problem->size, sizeof *x), NULL);
        ss_metric_value values[64];
        if (!solve_problem(problem, x)) KIT_FAIL("%s: not solved", words[k]);
        ss_assembly_recover(assembly, x, answer);
        ENSURE(ss_judge(&(ss_case){.assembly = assembly, .answer = answer}, values, NULL, NULL));
        ENSURE_NEAR(values[ss_metric_index("momentum")].value, 0.0, 1e-24); // J: squares of rounding

        // the equation on four bodies holds: J v + gamma g / h = 0
        double *J = full_jacobian(frame), rate = 0.0;
        for (int c = 0; c < 6 * CAR; c++) rate += J[3 * 6 * CAR + c] * answer->velocity[c / 6][c % 6];
        const ss_step_options *step = ss_assembly_step(assembly);
        ENSURE_NEAR(rate, -step->joint_gamma * frame->constraints.violation[3] / frame->h, 1e-7);
        ss_release(J);
        ss_release(x);
        ss_assembly_destroy(assembly);
        ss_answer_destroy(answer);
    }
    ss_frame_destroy(frame);
}

/* ---- who takes part --------------------------------------------------------------------------------- */

/* A body that is asleep counts as the world, wherever it stands in a row. */
TEST(a_row_whose_pair_sleeps_moves_its_further_bodies)
{
    ss_frame *frame = make_cars(1, 11), *awake;
    frame->bodies.state[0] = frame->bodies.state[1] = 0;
    memset(frame->bodies.velocity[0], 0, sizeof frame->bodies.velocity[0]);
    memset(frame->bodies.velocity[1], 0, sizeof frame->bodies.velocity[1]);
    awake = known(ss_frame_create(CAR, 2, 2, frame->contacts.count, NULL), NULL);
    awake->h = frame->h;
    const ss_constraints *from = &frame->constraints;
    ss_constraints *to = &awake->constraints;
    memcpy(awake->bodies.mass, frame->bodies.mass, CAR * sizeof(double));
    memcpy(awake->bodies.position, frame->bodies.position, CAR * sizeof(double[3]));
    memcpy(awake->bodies.inertia, frame->bodies.inertia, CAR * sizeof(double[9]));
    memcpy(awake->bodies.velocity, frame->bodies.velocity, CAR * sizeof(double[6]));
    memcpy(awake->bodies.force, frame->bodies.force, CAR * sizeof(double[6]));
    memcpy(awake->bodies.state, frame->bodies.state, CAR * sizeof(int32_t));
    for (int c = 0; c < frame->contacts.count; c++) {
        memcpy(awake->contacts.pair[c], frame->contacts.pair[c], sizeof(int[2]));
        memcpy(awake->contacts.point[c], frame->contacts.point[c], sizeof(double[3]));
        memcpy(awake->contacts.normal[c], frame->contacts.normal[c], sizeof(double[3]));
        memcpy(awake->contacts.mu[c], frame->contacts.mu[c], sizeof(double[2]));
    }
    to->pair[0][0] = 2, to->pair[0][1] = 3, to->pair[1][0] = 2; // rows 3 and 4 without the sleepers
    memcpy(to->jacobian[0], from->further_jacobian[0], sizeof(double[6]));
    memcpy(to->jacobian[0] + 6, from->further_jacobian[1], sizeof(double[6]));
    memcpy(to->jacobian[1], from->further_jacobian[2], sizeof(double[6]));
    for (int r = 0; r < 2; r++) {
        to->violation[r] = from->violation[3 + r];
        memcpy(to->bounds[r], from->bounds[3 + r], sizeof(double[2]));
    }
    ss_answer *a = known(ss_answer_create(frame, false, NULL), NULL);
    ss_answer *b = known(ss_answer_create(awake, false, NULL), NULL);
    ENSURE(solve_by(frame, "cone", ss_solver_find("nsgs"), a));
    ENSURE(solve_by(awake, "cone", ss_solver_find("nsgs"), b));
    for (int i = 0; i < 6 * CAR; i++)
        ENSURE_NEAR(a->velocity[i / 6][i % 6], b->velocity[i / 6][i % 6], 1e-10);
    ENSURE_NEAR(a->row_impulse[3], b->row_impulse[0], 1e-10);
    ss_answer_destroy(a);
    ss_answer_destroy(b);
    ss_frame_destroy(awake);
    ss_frame_destroy(frame);
}

/* ---- what must not matter --------------------------------------------------------------------------- */

static void turn(ss_quat q, double *vector)
{
    ss_vec3_store(ss_quat_rotate(q, ss_vec3_load(vector)), vector);
}

static void turn_cars(ss_quat q, ss_frame *frame)
{
    ss_constraints *joints = &frame->constraints;
    for (int b = 0; b < frame->bodies.count; b++) {
        turn(q, frame->bodies.position[b]);
        for (int k = 0; k < 2; k++) turn(q, frame->bodies.velocity[b] + 3 * k);
        for (int k = 0; k < 2; k++) turn(q, frame->bodies.force[b] + 3 * k);
        ss_mat3_store(ss_mat3_rotate_tensor(ss_quat_to_matrix(q), ss_mat3_load(frame->bodies.inertia[b])),
                      frame->bodies.inertia[b]);
    }
    for (int r = 0; r < joints->row_count; r++)
        for (int k = 0; k < 4; k++) turn(q, joints->jacobian[r] + 3 * k);
    for (int i = 0; i < joints->further_count; i++)
        for (int k = 0; k < 2; k++) turn(q, joints->further_jacobian[i] + 3 * k);
    for (int c = 0; c < frame->contacts.count; c++) {
        turn(q, frame->contacts.point[c]);
        turn(q, frame->contacts.normal[c]);
    }
}

TEST(a_turned_frame_has_the_turned_answer)
{
    ss_quat q = ss_quat_normalise((ss_quat){0.3, -0.5, 0.7, 0.2});
    ss_frame *frame = make_cars(1, 12), *turned = make_cars(1, 12);
    turn_cars(q, turned);
    ss_answer *a = known(ss_answer_create(frame, false, NULL), NULL);
    ss_answer *b = known(ss_answer_create(turned, false, NULL), NULL);
    ENSURE(solve_by(frame, "cone", ss_solver_find("nsgs"), a));
    ENSURE(solve_by(turned, "cone", ss_solver_find("nsgs"), b));
    for (int body = 0; body < CAR; body++) {
        for (int k = 0; k < 2; k++) turn(q, a->velocity[body] + 3 * k);
        for (int i = 0; i < 6; i++) ENSURE_NEAR(a->velocity[body][i], b->velocity[body][i], 1e-9);
    }
    ENSURE_NEAR(a->row_impulse[3], b->row_impulse[3], 1e-9);
    ss_answer_destroy(a);
    ss_answer_destroy(b);
    ss_frame_destroy(frame);
    ss_frame_destroy(turned);
}

/* In mm, g and ms. A row's unit stays that of a length, so that angular blocks are lengths. */
TEST(other_units_change_nothing_but_the_numbers)
{
    static const double L = 1e3, M = 1e3, T = 1e3;
    ss_frame *frame = make_cars(1, 13), *small = make_cars(1, 13);
    small->h *= T;
    for (int b = 0; b < CAR; b++) {
        small->bodies.mass[b] *= M;
        for (int i = 0; i < 9; i++) small->bodies.inertia[b][i] *= M * L * L;
        for (int i = 0; i < 3; i++) {
            small->bodies.position[b][i] *= L;
            small->bodies.velocity[b][i] *= L / T;
            small->bodies.velocity[b][3 + i] /= T;
            small->bodies.force[b][i] *= M * L / (T * T);
            small->bodies.force[b][3 + i] *= M * L * L / (T * T);
        }
    }
    ss_constraints *joints = &small->constraints;
    for (int r = 0; r < joints->row_count; r++) {
        for (int side = 0; side < 2; side++)
            for (int i = 3; i < 6; i++) joints->jacobian[r][6 * side + i] *= L;
        joints->violation[r] *= L;
        for (int k = 0; k < 2; k++) joints->bounds[r][k] *= M * L / (T * T);
    }
    for (int k = 0; k < joints->further_count; k++)
        for (int i = 3; i < 6; i++) joints->further_jacobian[k][i] *= L;
    for (int c = 0; c < small->contacts.count; c++)
        for (int i = 0; i < 3; i++) small->contacts.point[c][i] *= L;
    ss_answer *a = known(ss_answer_create(frame, false, NULL), NULL);
    ss_answer *b = known(ss_answer_create(small, false, NULL), NULL);
    ENSURE(solve_by(frame, "cone", ss_solver_find("nsgs"), a));
    ENSURE(solve_by(small, "cone", ss_solver_find("nsgs"), b));
    for (int body = 0; body < CAR; body++)
        for (int i = 0; i < 6; i++)
            ENSURE_NEAR(a->velocity[body][i], b->velocity[body][i] * T / (i < 3 ? L : 1.0), 1e-9);
    ENSURE_NEAR(a->row_impulse[3], b->row_impulse[3] * T / (M * L), 1e-9);
    ss_answer_destroy(a);
    ss_answer_destroy(b);
    ss_frame_destroy(frame);
    ss_frame_destroy(small);
}

/* ---- FCLIB and diagnosis ---------------------------------------------------------------------------- */

TEST(an_fclib_problem_has_all_bodies_of_a_row)
{
    ss_frame *frame = make_cars(1, 14);
    ss_error err = {0};
    method m = method_of("cone");
    ss_assembly *assembly = known(assembled(&m, frame, NULL, &err), &err);
    ss_cone *cone =
        known(ss_assembly_cone(assembly, &(ss_cone_wish){.form = SS_CONE_GLOBAL}, "", NULL, &err), &err);
    double *J = full_jacobian(frame);
    ENSURE(cone->G != NULL);
    for (int e = 0; cone->G && e < 4; e++)
        for (int dof = 0; dof < 6 * CAR; dof++)
            ENSURE_NEAR(ss_sparse_get(cone->G, dof, e), J[e * 6 * CAR + dof], 1e-15);
    ss_release(J);
    ss_cone_destroy(cone);
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
}

TEST(a_diagnosis_looks_at_rows_of_many_bodies)
{
    ss_frame *frame = make_cars(1, 15);
    method m = method_of("frictionless");
    ss_problem *problem = known(assemble(&m, frame), NULL);
    ss_diagnosis diagnosis;
    ENSURE(ss_problem_diagnose(problem, NULL, &diagnosis, NULL));
    ENSURE_INT(diagnosis.unknowns, problem->size);
    ENSURE_INT(diagnosis.rank, problem->size); // five rows of joints and three feet of each of four bodies
    ss_diagnosis_free(&diagnosis);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

TEST_MAIN
