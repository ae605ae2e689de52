/* What is wrong with a problem: every defect is planted once and has to be found, by name and number; and
 * problems without any have nothing to complain about. */
#include <stickslip/diagnosis.h>

#include "faults.h"
#include "kit.h"
#include "problem/bodies_form.h"
#include "problems.h"
#include "scenes.h"

static ss_diagnosis diagnose(const ss_problem *problem)
{
    ss_error err;
    ss_diagnosis diagnosis;
    if (!ss_problem_diagnose(problem, NULL, &diagnosis, &err)) known(NULL, &err);
    return diagnosis;
}

/* The one complaint about a defect, of a severity; says what came instead. */
static const ss_complaint *expect(const ss_diagnosis *diagnosis, ss_defect defect, ss_severity severity)
{
    const ss_complaint *found = ss_diagnosis_find(diagnosis, defect);
    for (int i = 0; i < diagnosis->count && (!found || found->severity != severity); i++)
        fprintf(stderr, "  %s %s: %s\n", ss_severity_name(diagnosis->items[i].severity),
                ss_defect_name(diagnosis->items[i].defect), diagnosis->items[i].message);
    return found && found->severity == severity ? found : NULL;
}

/* Spheres of 1 kg that stand side by side on the ground, each on one contact: nothing is wrong with them. */
static ss_problem *spheres(int count, double mu)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(3 * count, count, count, &err), &err);
    ss_bodies_form *form = problem->bodies;
    for (int b = 0; b < count; b++) {
        form->inverse_mass[b] = 1.0;
        for (int k = 0; k < 3; k++) form->inverse_inertia[b][4 * k] = 2.5;
        form->free_velocity[b][2] = -0.1;
        form->free_velocity[b][0] = 0.3;
        problem->blocks[b] = (ss_block){
            .law = SS_LAW_CONE, .first = 3 * b, .size = 3, .mu = mu, .contact = b, .constraint = -1};
        for (int k = 0; k < 3; k++) form->pair[3 * b + k][1] = b;
        form->jacobian[3 * b][6 + 2] = 1.0;
        form->jacobian[3 * b + 1][6 + 0] = form->jacobian[3 * b + 2][6 + 1] = 1.0;
        form->jacobian[3 * b + 1][6 + 4] = -1.0;
        form->jacobian[3 * b + 2][6 + 3] = 1.0;
    }
    for (int i = 0; i < 3 * count; i++) {
        problem->diagonal[i] = i % 3 == 0 ? 1.0 : 3.5;
        problem->b[i] = i % 3 == 0 ? -0.1 : i % 3 == 1 ? 0.3 : 0.0;
    }
    return problem;
}

/* A point of 1 kg that `count` equations hold: rows of J, each 3 long; w = J J' x + b. */
static ss_problem *held_point(int count, const double *J, const double *b)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(count, count, 1, &err), &err);
    problem->bodies->inverse_mass[0] = 1.0;
    for (int i = 0; i < count; i++) {
        problem->blocks[i] =
            (ss_block){.law = SS_LAW_FREE, .first = i, .size = 1, .contact = -1, .constraint = i};
        problem->bodies->pair[i][1] = 0;
        problem->b[i] = problem->bodies->offset[i] = b[i];
        for (int k = 0; k < 3; k++) {
            problem->bodies->jacobian[i][6 + k] = J[3 * i + k];
            problem->diagonal[i] += J[3 * i + k] * J[3 * i + k];
        }
    }
    return problem;
}

static void make_explicit(ss_problem *problem)
{
    ss_error err;
    if (!ss_problem_need_matrix(problem, &err)) known(NULL, &err);
    ss_bodies_form_destroy(problem->bodies);
    problem->bodies = NULL;
    ss_problem_matrix_changed(problem);
}

/* ---- nothing wrong ---------------------------------------------------------------------------------- */

TEST(spheres_on_the_ground_have_nothing_to_complain_about)
{
    for (int explicit = 0; explicit < 2; explicit ++) {
        ss_problem *problem = spheres(5, 0.5);
        if (explicit) make_explicit(problem);
        ss_diagnosis of = diagnose(problem);
        for (int i = 0; i < of.count; i++) KIT_FAIL("%s", of.items[i].message);
        ENSURE_INT(of.unknowns, 15);
        ENSURE_INT(of.rank, 15);
        ss_diagnosis_free(&of);
        ss_problem_destroy(problem);
    }
}

TEST(a_problem_without_unknowns_is_all_right)
{
    known_problem of = problem_named("no unknowns");
    ss_diagnosis found = diagnose(of.problem);
    ENSURE_INT(found.count, 0);
    ENSURE_INT(found.rank, 0);
    ss_diagnosis_free(&found);
    known_problem_free(&of);
}

/* Formulations make no problems of ordinary frames that would be worth a warning. */
TEST(ordinary_frames_are_given_no_warning_in_any_formulation)
{
    static const char *const words[] = {
        "cone",         "convex",         "box",     "stewart-trinkle",
        "frictionless", "anitescu-potra", "penalty", "stewart-trinkle form=mixed"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        known_problem of = formulated(words[k], words[k], sliding_block(0.3, 0.5, 0.0));
        ss_diagnosis found = diagnose(of.problem);
        for (int i = 0; i < found.count; i++) {
            if (found.items[i].severity > SS_SEVERITY_NOTE)
                KIT_FAIL("%s: %s", words[k], found.items[i].message);
        }
        ss_diagnosis_free(&found);
        known_problem_free(&of);
    }
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

TEST(what_is_not_a_number_is_found_wherever_it_is)
{
    for (int where = 0; where < 4; where++) {
        ss_problem *problem = spheres(3, 0.5);
        if (where == 3) make_explicit(problem);
        if (where == 0) problem->b[4] = NAN;
        if (where == 1) problem->bodies->jacobian[4][7] = INFINITY;
        if (where == 2) problem->bodies->inverse_mass[1] = NAN;
        if (where == 3) problem->A->value[problem->A->start[4]] = -INFINITY;
        ss_diagnosis of = diagnose(problem);
        const ss_complaint *found = expect(&of, SS_DEFECT_NUMBER, SS_SEVERITY_FATAL);
        ENSURE(found != NULL);
        ENSURE_CONTAINS(found->message, "contact 1");
        ENSURE_INT(found->contact, 1);
        ENSURE_INT(of.rank, -1);
        ss_diagnosis_free(&of);
        ss_problem_destroy(problem);
    }
}

TEST(bounds_the_wrong_way_round_are_found)
{
    known_problem of = problem_named("one row");
    of.problem->lower[0] = 2.0;
    of.problem->upper[0] = 1.0;
    ss_diagnosis found = diagnose(of.problem);
    const ss_complaint *bounds = expect(&found, SS_DEFECT_BOUNDS, SS_SEVERITY_FATAL);
    ENSURE(bounds != NULL);
    ENSURE_NEAR(bounds->value, 1.0, 0.0);
    ENSURE_CONTAINS(bounds->message, "from 2 to 1");
    ss_diagnosis_free(&found);
    known_problem_free(&of);
}

TEST(negative_friction_and_partners_that_cannot_be_are_found)
{
    ss_problem *cone = spheres(2, 0.5);
    cone->blocks[1].mu = -0.1;
    ss_diagnosis of = diagnose(cone);
    const ss_complaint *found = expect(&of, SS_DEFECT_LAW, SS_SEVERITY_FATAL);
    ENSURE(found != NULL);
    ENSURE_INT(found->contact, 1);
    ss_diagnosis_free(&of);
    ss_problem_destroy(cone);
    static const recipe coupled = {.name = "coupled", .letters = "cc", .seed = 3};
    known_problem boxes = cook(&coupled);
    boxes.problem->partner[5] = 99;
    of = diagnose(boxes.problem);
    found = expect(&of, SS_DEFECT_LAW, SS_SEVERITY_FATAL);
    ENSURE(found != NULL);
    ENSURE_INT(found->unknown, 5);
    ss_diagnosis_free(&of);
    known_problem_free(&boxes);
}

TEST(units_that_measures_cannot_bear_are_found)
{
    static const double loads[] = {1e150, 1e-150, 1e-300};
    for (int k = 0; k < 3; k++) {
        ss_problem *problem = spheres(2, 0.5);
        make_explicit(problem);
        for (int i = 0; i < problem->size; i++) problem->b[i] *= loads[k];
        ss_diagnosis of = diagnose(problem);
        const ss_complaint *found = expect(&of, SS_DEFECT_UNITS, SS_SEVERITY_WARNING);
        ENSURE(found != NULL);
        ENSURE_CONTAINS(found->message, "range of floating-point numbers");
        ss_diagnosis_free(&of);
        ss_problem_destroy(problem);
    }
    static const double masses[] = {1e-9, 1e9}; // 1/kg
    for (int k = 0; k < 2; k++) {
        ss_problem *problem = spheres(2, 0.5);
        make_explicit(problem);
        for (int i = 0; i < ss_sparse_nonzeros(problem->A); i++) problem->A->value[i] *= masses[k];
        ss_problem_matrix_changed(problem);
        ss_diagnosis of = diagnose(problem);
        const ss_complaint *found = expect(&of, SS_DEFECT_UNITS, SS_SEVERITY_WARNING);
        ENSURE(found != NULL);
        ENSURE_CONTAINS(found->message, "natural_map");
        ENSURE_NEAR(found->value, masses[k], 1e-9 * masses[k]); // all normal rows are the same
        ss_diagnosis_free(&of);
        ss_problem_destroy(problem);
    }
}

/* Two trains at 100 m/s, side by side: what differs is the last bit. */
TEST(loads_that_are_only_rounding_are_found)
{
    ss_problem *problem = spheres(1, 0.5);
    problem->bodies->free_velocity[0][2] = -100.0;
    problem->bodies->offset[0] = 100.0;
    for (int i = 0; i < 3; i++) problem->b[i] = 0.0;
    problem->b[0] = -1.4e-14;
    ss_diagnosis of = diagnose(problem);
    const ss_complaint *found = expect(&of, SS_DEFECT_UNITS, SS_SEVERITY_WARNING);
    ENSURE(found != NULL);
    ENSURE_CONTAINS(found->message, "only rounding error");
    ss_diagnosis_free(&of);
    ss_problem_destroy(problem);
}

/* ---- the matrix ------------------------------------------------------------------------------------- */

TEST(contacts_between_immovable_bodies_are_named)
{
    for (int closing = 0; closing < 2; closing++) {
        ss_problem *problem = spheres(4, 0.5);
        for (int i = 6; i < 9; i++) problem->bodies->pair[i][1] = -1, problem->diagonal[i] = 0.0;
        problem->b[6] = closing ? -0.25 : 0.25;
        ss_diagnosis of = diagnose(problem);
        const ss_complaint *found =
            expect(&of, SS_DEFECT_IMMOVABLE, closing ? SS_SEVERITY_FATAL : SS_SEVERITY_NOTE);
        ENSURE(found != NULL);
        ENSURE_INT(found->count, 1);
        ENSURE_INT(found->contact, 2);
        if (closing) ENSURE_NEAR(found->value, 0.25, 0.0);
        ss_diagnosis_free(&of);
        ss_problem_destroy(problem);
    }
    known_problem zero = problem_named("immovable bodies");
    ss_diagnosis of = diagnose(zero.problem);
    ENSURE_INT(expect(&of, SS_DEFECT_IMMOVABLE, SS_SEVERITY_NOTE)->count, 1); // one block of three rows
    ENSURE_INT(of.rank, 0);
    ss_diagnosis_free(&of);
    known_problem_free(&zero);
}

static ss_diagnosis of_matrix(int n, const double *A)
{
    double b[4] = {-1, -1, -1, -1};
    known_problem of = lcp_of("", n, A, b);
    ss_diagnosis diagnosis = diagnose(of.problem);
    known_problem_free(&of);
    return diagnosis;
}

TEST(a_diagonal_that_is_not_positive_is_found)
{
    ss_diagnosis negative = of_matrix(2, (double[]){-2, 0, 0, 1}),
                 zero = of_matrix(2, (double[]){0, 1, 1, 1}), speeds = of_matrix(2, (double[]){1, 1, -1, 0});
    const ss_complaint *found = expect(&negative, SS_DEFECT_DIAGONAL, SS_SEVERITY_FATAL);
    ENSURE(found != NULL);
    ENSURE_NEAR(found->value, -2.0, 0.0);
    ENSURE(expect(&zero, SS_DEFECT_DIAGONAL, SS_SEVERITY_WARNING) != NULL);
    // as in Stewart's and Trinkle's LCP
    ENSURE(expect(&speeds, SS_DEFECT_DIAGONAL, SS_SEVERITY_NOTE) != NULL);
    ENSURE(ss_diagnosis_find(&speeds, SS_DEFECT_INDEFINITE) == NULL);
    ss_diagnosis_free(&negative);
    ss_diagnosis_free(&zero);
    ss_diagnosis_free(&speeds);
}

TEST(how_unsymmetric_a_matrix_is_is_told)
{
    ss_problem *problem = spheres(2, 0.5);
    make_explicit(problem);
    ss_sparse_destroy(problem->A);
    double A[36] = {0};
    for (int i = 0; i < 6; i++) A[7 * i] = 2.0;
    A[1] = 0.5;
    A[6] = 0.3;
    problem->A = sparse_of_dense(6, A);
    ss_problem_matrix_changed(problem);
    ss_diagnosis of = diagnose(problem);
    const ss_complaint *found = expect(&of, SS_DEFECT_UNSYMMETRIC, SS_SEVERITY_WARNING);
    ENSURE(found != NULL);
    ENSURE_NEAR(found->value, 0.1, 1e-15); // 0.2 of 2
    ss_diagnosis_free(&of);
    ss_problem_destroy(problem);
    ss_diagnosis rows = of_matrix(2, (double[]){2, 0.5, 0.3, 2});
    ENSURE(expect(&rows, SS_DEFECT_UNSYMMETRIC, SS_SEVERITY_NOTE) != NULL); // LCPs often are
    ss_diagnosis_free(&rows);
}

TEST(a_negative_eigenvalue_is_proved_and_bounded)
{
    ss_diagnosis of = of_matrix(2, (double[]){1, 3, 3, 1}); // -2 and 4
    const ss_complaint *found = expect(&of, SS_DEFECT_INDEFINITE, SS_SEVERITY_WARNING);
    ENSURE(found != NULL);
    ENSURE_NEAR(found->value, -2.0, 1e-12); // two Lanczos steps are exact
    ENSURE_INT(found->count, 1);
    ss_diagnosis_free(&of);
    ss_problem *problem = spheres(2, 0.5);
    problem->bodies->inverse_inertia[1][4] = -2.5;
    problem->diagonal[4] = -1.5;
    of = diagnose(problem);
    found = expect(&of, SS_DEFECT_INDEFINITE, SS_SEVERITY_FATAL);
    ENSURE(found != NULL);
    ENSURE_CONTAINS(found->message, "body 1");
    ss_diagnosis_free(&of);
    ss_problem_destroy(problem);
}

/* ---- rank and equations ----------------------------------------------------------------------------- */

/* Four feet: 12 unknowns, 6 directions of motion. */
TEST(the_rank_of_a_box_on_four_feet_is_six_in_every_form)
{
    static const scene_recipe one = {.seed = 4, .towers = 1, .height = 1, .feet = 4, .mu_least = 0.4};
    for (int explicit = 0; explicit < 2; explicit ++) {
        known_problem box = formulated("box", "cone", towers(&one));
        if (explicit) make_explicit(box.problem);
        ss_diagnosis of = diagnose(box.problem);
        const ss_complaint *found = expect(&of, SS_DEFECT_RANK, SS_SEVERITY_NOTE);
        ENSURE(found != NULL);
        ENSURE_INT(of.rank, 6);
        ENSURE_INT(found->count, 6);
        ss_diagnosis_free(&of);
        known_problem_free(&box);
    }
}

TEST(the_rank_of_an_unsymmetric_matrix_is_found_by_its_columns)
{
    // the third column is the sum of the others
    ss_diagnosis of = of_matrix(3, (double[]){1, 2, 3, 0, 1, 1, 1, 1, 2});
    ENSURE_INT(of.rank, 2);
    ss_diagnosis_free(&of);
}

TEST(compliance_makes_rows_independent)
{
    ss_problem *problem =
        held_point(4, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}, (double[]){1, 1, 1, 1});
    ss_diagnosis stiff = diagnose(problem);
    ENSURE_INT(stiff.rank, 3);
    problem->bodies->compliance[3] = 0.1;
    problem->diagonal[3] += 0.1;
    ss_diagnosis soft = diagnose(problem);
    ENSURE_INT(soft.rank, 4);
    ENSURE(ss_diagnosis_find(&soft, SS_DEFECT_REDUNDANT) == NULL);
    ENSURE(ss_diagnosis_find(&soft, SS_DEFECT_INCONSISTENT) == NULL);
    ss_diagnosis_free(&stiff);
    ss_diagnosis_free(&soft);
    ss_problem_destroy(problem);
}

/* The fourth equation is the sum of the others; joint 4 has nothing to do with them. */
static const double loop[] = {1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1};

TEST(redundant_joints_that_agree_are_a_note)
{
    ss_problem *problem = held_point(4, loop, (double[]){1, 2, 3, 4});
    for (int explicit = 0; explicit < 2; explicit ++) {
        if (explicit) make_explicit(problem);
        ss_diagnosis of = diagnose(problem);
        const ss_complaint *found = expect(&of, SS_DEFECT_REDUNDANT, SS_SEVERITY_NOTE);
        ENSURE(found != NULL);
        ENSURE_INT(found->count, 1);
        ENSURE(found->constraint >= 0 && found->constraint < 3); // one of the loop
        ENSURE(ss_diagnosis_find(&of, SS_DEFECT_INCONSISTENT) == NULL);
        ENSURE(ss_diagnosis_worst(&of) == SS_SEVERITY_NOTE);
        ss_diagnosis_free(&of);
    }
    ss_problem_destroy(problem);
}

/* 1 + 2 is not 3.3; the nearest velocities miss each of the three by 0.1. */
TEST(equations_that_contradict_each_other_are_named_with_their_distance)
{
    ss_problem *problem = held_point(4, loop, (double[]){1, 2, 3.3, 4});
    for (int explicit = 0; explicit < 2; explicit ++) {
        if (explicit) make_explicit(problem);
        ss_diagnosis of = diagnose(problem);
        const ss_complaint *found = expect(&of, SS_DEFECT_INCONSISTENT, SS_SEVERITY_FATAL);
        ENSURE(found != NULL);
        ENSURE_INT(found->count, 3);
        ENSURE_CONTAINS(found->message, "joint 0, joint 1, joint 2 ");
        // rows are scaled to unit length: b = (1, 2, 3.3 / sqrt 2), null vector (1, 1, -sqrt 2) / 2; the rest
        // is 0.075 times (1, 1, -sqrt 2), and that of the third counts sqrt 2 of it
        ENSURE_NEAR(found->value, 0.15, 1e-5); // impulses of 0.15 / 1e-10 stand behind it
        ss_diagnosis_free(&of);
    }
    ss_problem_destroy(problem);
}

/* ---- wedged ----------------------------------------------------------------------------------------- */

/* A ball of 1 kg between two walls that close. */
TEST(a_ball_between_closing_walls_is_found_with_its_contacts_and_its_body)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(2, 2, 8, &err), &err);
    for (int k = 0; k < 2; k++) {
        problem->blocks[k] =
            (ss_block){.law = SS_LAW_BOX, .first = k, .size = 1, .contact = 10 + k, .constraint = -1};
        problem->lower[k] = 0.0;
        problem->bodies->pair[k][1] = 7;
        problem->bodies->jacobian[k][6] = k ? -1.0 : 1.0;
        problem->bodies->offset[k] = problem->b[k] = -1.0;
        problem->diagonal[k] = 1.0;
    }
    problem->bodies->inverse_mass[7] = 1.0;
    ss_diagnosis of = diagnose(problem);
    const ss_complaint *found = expect(&of, SS_DEFECT_WEDGED, SS_SEVERITY_FATAL);
    ENSURE(found != NULL);
    ENSURE_INT(found->count, 2);
    ENSURE_CONTAINS(found->message, "contact 10, contact 11 on body 7");
    ss_diagnosis_free(&of);
    static const int names[] = {0, 1, 2, 3, 4, 5, 6, 42};
    ss_diagnosis_options options = {.ray_search = 100, .body = names};
    ENSURE(ss_problem_diagnose(problem, &options, &of, &err));
    ENSURE_CONTAINS(ss_diagnosis_find(&of, SS_DEFECT_WEDGED)->message, "on body 42");
    ss_diagnosis_free(&of);
    options.ray_search = 0;
    ENSURE(ss_problem_diagnose(problem, &options, &of, &err));
    ENSURE(ss_diagnosis_find(&of, SS_DEFECT_WEDGED) == NULL);
    ss_diagnosis_free(&of);
    ss_problem_destroy(problem);
}

/* ---- contacts --------------------------------------------------------------------------------------- */

TEST(a_heavy_body_on_a_light_one_is_named)
{
    for (int order = 0; order < 2; order++) {
        ss_problem *problem = spheres(2, 0.5);
        problem->bodies->inverse_mass[order] = 1e-6;
        for (int i = 3; i < 6; i++) problem->bodies->pair[i][0] = 0;
        ss_diagnosis of = diagnose(problem);
        const ss_complaint *found = expect(&of, SS_DEFECT_MASSES, SS_SEVERITY_WARNING);
        ENSURE(found != NULL);
        ENSURE_NEAR(found->value, 1e6, 1e-3);
        ENSURE_CONTAINS(found->message, "contact 1 (between body 0 and body 1)");
        ss_diagnosis_free(&of);
        ss_problem_destroy(problem);
    }
}

TEST(friction_above_one_and_without_end_is_told)
{
    ss_problem *problem = spheres(3, 0.5);
    problem->blocks[1].mu = 3.0;
    problem->blocks[2].mu = INFINITY;
    ss_diagnosis of = diagnose(problem);
    const ss_complaint *large = expect(&of, SS_DEFECT_FRICTION, SS_SEVERITY_NOTE),
                       *glue = expect(&of, SS_DEFECT_GLUE, SS_SEVERITY_NOTE);
    ENSURE(large && glue);
    ENSURE_NEAR(large->value, 3.0, 0.0);
    ENSURE_INT(large->contact, 1);
    ENSURE_INT(glue->contact, 2);
    ENSURE_INT(of.count, 2);
    ss_diagnosis_free(&of);
    ss_problem_destroy(problem);
}

TEST(the_rod_of_painleve_is_found_and_its_critical_friction_told)
{
    known_problem below = formulated("rod", "cone", sliding_rod(1.2)),
                  beyond = formulated("rod", "cone", sliding_rod(2.0));
    ss_diagnosis calm = diagnose(below.problem), jams = diagnose(beyond.problem);
    ENSURE(ss_diagnosis_find(&calm, SS_DEFECT_PAINLEVE) == NULL);
    const ss_complaint *found = expect(&jams, SS_DEFECT_PAINLEVE, SS_SEVERITY_WARNING);
    ENSURE(found != NULL);
    ENSURE(found->value > 1.2 && found->value < 2.0);
    ss_diagnosis_free(&calm);
    ss_diagnosis_free(&jams);
    known_problem_free(&below);
    known_problem_free(&beyond);
}

TEST(contacts_that_are_there_many_times_are_counted)
{
    for (int explicit = 0; explicit < 2; explicit ++) {
        ss_problem *problem = spheres(200, 0.5);
        ss_bodies_form *form = problem->bodies;
        for (int i = 0; i < 600; i++) form->pair[i][1] = 0;
        if (explicit) make_explicit(problem);
        ss_diagnosis of = diagnose(problem);
        const ss_complaint *found = expect(&of, SS_DEFECT_DUPLICATES, SS_SEVERITY_WARNING);
        ENSURE(found != NULL);
        ENSURE_INT(found->count, 199);
        ENSURE_NEAR(found->value, 200.0, 0.0);
        ENSURE_INT(of.rank, 3);
        ss_diagnosis_free(&of);
        ss_problem_destroy(problem);
    }
}

/* ---- as a whole ------------------------------------------------------------------------------------- */

TEST(a_diagnosis_is_the_same_every_time_and_leaves_the_problem_alone)
{
    static const scene_recipe two = {.seed = 4, .towers = 2, .height = 3, .feet = 4, .mu_least = 0.4};
    known_problem of = formulated("towers", "cone", towers(&two));
    ss_diagnosis one = diagnose(of.problem), other = diagnose(of.problem);
    ENSURE(of.problem->A == NULL);
    ENSURE_INT(one.count, other.count);
    for (int i = 0; i < one.count; i++) {
        ENSURE_TEXT(one.items[i].message, other.items[i].message);
        if (i) ENSURE(one.items[i].defect > one.items[i - 1].defect);
    }
    ss_diagnosis_free(&one);
    ss_diagnosis_free(&other);
    known_problem_free(&of);
}

TEST(lack_of_memory_is_told_and_nothing_is_left_behind)
{
    ss_problem *problem = held_point(4, loop, (double[]){1, 2, 3.3, 4});
    bool reached = true;
    for (long n = 1; reached && n < 1000; n++) {
        ss_diagnosis of;
        ss_error err = {0};
        faults_start(n);
        bool good = ss_problem_diagnose(problem, NULL, &of, &err);
        ss_diagnosis_free(&of);
        long left = faults.live;
        reached = faults_stop();
        ENSURE_INT(left, 0);
        ENSURE(good || err.code == SS_ERROR_RESOURCES);
        ENSURE(good || reached);
    }
    ss_problem_destroy(problem);
}

TEST_MAIN
