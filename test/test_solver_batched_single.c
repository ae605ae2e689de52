/* Sweeps in batches in single precision: the same bits for any kernel and team, how far floats reach, and
 * that units and masses do not matter. */
#include "base/team.h"
#include "batched_kit.h"

TEST(single_precision_gives_the_same_bits_with_any_kernel_and_team)
{
    packing soft = usual;
    soft.compliance = 0.1;
    const packing all[] = {usual, soft, large};
    ss_team_fix_round_trip(0.0); // all that can be shared is
    ss_team *team = known(ss_team_create(3, NULL), NULL);
    for (int k = 0; k < 3; k++) {
        ss_problem *problem = pack(all[k]);
        for (int iterations = 1; iterations <= 64; iterations *= 4) {
            way one = {.solver = "batched-nncg", .settings = "precision=single", .iterations = iterations};
            way other = one, together = one, in_doubles = one;
            other.settings = "precision=single kernel=portable";
            together.team = team;
            in_doubles.settings = "precision=double";
            ENSURE(same_bits(problem, one, other));
            ENSURE(same_bits(problem, one, together));
            ENSURE(!same_bits(problem, one, in_doubles)); // it was not doubles after all
        }
        ss_problem_destroy(problem);
    }
    ss_team_destroy(team);
}

/* Are all numbers of x floats times powers of two, that is, was it left by sweeps in single precision? */
static bool is_single(const ss_problem *problem, const double *x)
{
    for (int i = 0; i < problem->size; i++) {
        if (x[i] != (double)(float)x[i]) return false;
    }
    return true;
}

TEST(single_precision_is_enough_for_one_in_ten_thousand)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        packing from = usual;
        from.seed = seed;
        ss_problem *problem = pack(from);
        way rough = {
            .solver = "batched-nncg", .settings = "precision=single", .stop = "relative_energy<1e-4"};
        double *x = solved(rough, problem), *end = solved((way){.solver = "batched-nncg"}, problem);
        ENSURE(is_single(problem, x));
        ENSURE(difference(problem, x, end) < 1e-2);
        ss_release(x);
        ss_release(end);
        ss_problem_destroy(problem);
    }
}

TEST(single_precision_ends_in_double)
{
    packing soft = usual, jointed = usual;
    soft.compliance = 0.3;
    jointed.seed = 2;
    jointed.joints = 15; // cells: doubles from the start
    const packing all[] = {usual, soft, jointed, large};
    for (int k = 0; k < 4; k++) {
        ss_problem *problem = pack(all[k]);
        ENSURE(agrees_with_nsgs(problem, "precision=single"));
        ENSURE(agrees_with_nsgs(problem, "precision=single sweep=symmetric accelerate=false"));
        ss_problem_destroy(problem);
    }
}

/* Masses times `mass`, lengths of time such that velocities are times `speed`. */
static void change_units(ss_problem *problem, double mass, double speed)
{
    ss_bodies_form *form = problem->bodies;
    for (int b = 0; b < form->bodies; b++) {
        form->inverse_mass[b] /= mass;
        for (int i = 0; i < 9; i++) form->inverse_inertia[b][i] /= mass;
    }
    for (int i = 0; i < problem->size; i++) {
        problem->b[i] *= speed;
        form->offset[i] *= speed;
        form->compliance[i] /= mass;
        problem->diagonal[i] /= mass;
    }
}

/* Powers of two change no digit; 2^100 is 1e30. */
TEST(single_precision_knows_no_units)
{
    static const int powers[][2] = {{30, 0}, {-30, 0}, {0, 60}, {0, -60}, {100, -100}, {-100, 100}};
    way rough = {.solver = "batched-nncg", .settings = "precision=single", .iterations = 8};
    packing soft = usual;
    soft.compliance = 0.1;
    ss_problem *problem = pack(soft);
    double *x = solved(rough, problem);
    ENSURE(is_single(problem, x));
    for (int k = 0; k < 6; k++) {
        ss_problem *other = pack(soft);
        change_units(other, ldexp(1.0, 2 * powers[k][0]), ldexp(1.0, powers[k][1]));
        double *y = solved(rough, other), unit = ldexp(1.0, 2 * powers[k][0] + powers[k][1]);
        for (int i = 0; i < problem->size; i++) ENSURE(y[i] == unit * x[i]);
        ss_release(y);
        ss_problem_destroy(other);
    }
    ss_release(x);
    ss_problem_destroy(problem);
}

/* From 1e-9 to 1e9 kg in one heap: nothing overflows or becomes nothing. */
TEST(single_precision_takes_light_and_heavy_bodies)
{
    ss_problem *problem = pack(usual);
    ss_bodies_form *form = problem->bodies;
    for (int b = 0; b < form->bodies; b++) {
        double mass = pow(10.0, b % 19 - 9);
        form->inverse_mass[b] /= mass;
        for (int i = 0; i < 9; i++) form->inverse_inertia[b][i] /= mass;
    }
    for (int i = 0; i < problem->size; i++) {
        double v[40][6] = {{0}};
        ss_bodies_push(form, i, 1.0, v);
        problem->diagonal[i] = ss_bodies_row(form, i, v);
    }
    way rough = {.solver = "batched-nncg", .settings = "precision=single", .iterations = 3};
    double *x = solved(rough, problem), *exact = solved((way){.solver = "batched-nncg"}, problem);
    ENSURE(is_single(problem, x));
    for (int i = 0; i < problem->size; i++) ENSURE(isfinite(x[i]));
    ss_release(x);
    x = solved((way){.solver = "batched-nncg", .settings = "precision=single"}, problem);
    ENSURE(difference(problem, x, exact) < 1e-6); // an energy does not tell much about the lightest
    ss_release(x);
    ss_release(exact);
    ss_problem_destroy(problem);
}

/* Sweeps that go on long after the end: fading numbers, contacts that hardly touch. */
TEST(single_precision_stays_finite)
{
    static const double mu[] = {1e-12, 1e-5, 1e-3, 0.3};
    for (int k = 0; k < 4; k++) {
        packing from = usual;
        from.mu = mu[k];
        ss_problem *problem = pack(from);
        way rough = {.solver = "batched-nncg", .settings = "precision=single", .iterations = 2000};
        double *x = solved(rough, problem);
        for (int i = 0; i < problem->size; i++) ENSURE(isfinite(x[i]));
        ss_release(x);
        ENSURE(agrees_with_nsgs(problem, "precision=single"));
        ss_problem_destroy(problem);
    }
}

TEST(nothing_to_do_is_soon_done_in_single_precision)
{
    ss_problem *problem = one_contact(0.5, (double[3]){0.0, 0.0, 0.0});
    double *x = solved((way){.solver = "batched-nncg", .settings = "precision=single"}, problem);
    for (int i = 0; i < 3; i++) ENSURE(x[i] == 0.0);
    ss_release(x);
    ss_problem_destroy(problem);
}

TEST_MAIN
