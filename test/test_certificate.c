/* Certificates: arithmetic that encloses, answers that are right, and answers that are wrong. */
#include <stickslip/certificate.h>
#include <stickslip/session.h>

#include "certificate/midrad.h"
#include "kit.h"
#include "scenes.h"

/* ---- arithmetic ------------------------------------------------------------------------------------- */

/* A whole number of up to 100 bits as a double-double: exact. */
static ss_midrad whole(__int128 value)
{
    double high = (double)value;
    return (ss_midrad){high, (double)(value - (__int128)high), 0.0};
}

static __int128 random_whole(ss_random *random, int bits)
{
    __int128 value = (__int128)(ss_random_real(random) * 0x1p52);
    value = value << 48 | (__int128)(ss_random_real(random) * 0x1p48);
    value >>= 100 - bits;
    return ss_random_below(random, 2) ? value : -value;
}

/* Is the whole number in the ball? The difference to the midpoint is exact in 128 bits. */
static bool holds(ss_midrad ball, __int128 value)
{
    __int128 off = value - (__int128)ball.high - (__int128)ball.low;
    return (double)(off < 0 ? -off : off) <= ball.radius * (1.0 + 1e-15);
}

TEST(sums_and_products_of_whole_numbers_are_in_their_balls)
{
    ss_random random = ss_random_start(7, 0);
    int inexact = 0;
    for (int k = 0; k < 100000; k++) {
        __int128 a = random_whole(&random, 1 + ss_random_below(&random, 100));
        __int128 b = random_whole(&random, 1 + ss_random_below(&random, 100));
        ENSURE(holds(ss_midrad_add(whole(a), whole(b)), a + b));
        ENSURE(holds(ss_midrad_subtract(whole(a), whole(b)), a - b));
        a >>= 40; // products of 120 bits
        b >>= 40;
        ss_midrad product = ss_midrad_multiply(whole(a), whole(b));
        ENSURE(holds(product, a * b));
        inexact += (__int128)product.high + (__int128)product.low != a * b;
    }
    ENSURE(inexact > 100); // rounding took place, so that the radius was needed
}

TEST(radii_cover_every_combination_of_ends)
{
    ss_random random = ss_random_start(8, 0);
    for (int k = 0; k < 20000; k++) {
        // whole numbers with whole radii: the ends are exact
        __int128 a = random_whole(&random, 55), b = random_whole(&random, 55);
        long ra = ss_random_below(&random, 1000000), rb = ss_random_below(&random, 1000000);
        ss_midrad A = whole(a), B = whole(b);
        A.radius = (double)ra, B.radius = (double)rb;
        ss_midrad sum = ss_midrad_add(A, B), product = ss_midrad_multiply(A, B);
        for (int end = 0; end < 4; end++) {
            __int128 x = a + (end & 1 ? ra : -ra), y = b + (end & 2 ? rb : -rb);
            ENSURE(holds(sum, x + y));
            ENSURE(holds(product, x * y));
        }
    }
}

TEST(quotients_and_roots_are_where_multiplying_back_says)
{
    ss_random random = ss_random_start(9, 0);
    for (int k = 0; k < 20000; k++) {
        // (n q) / q = n and sqrt(n^2) = n
        __int128 n = random_whole(&random, 50), q = random_whole(&random, 50);
        if (q == 0 || n == 0) continue;
        ss_midrad quotient = ss_midrad_multiply(whole(n * q), ss_midrad_invert(whole(q)));
        ENSURE(holds(quotient, n));
        ENSURE(quotient.radius < 1e-28 * fabs(quotient.high)); // 32 digits less a few operations
        ss_midrad root = ss_midrad_root(whole(n * n));
        ENSURE(holds(root, n < 0 ? -n : n));
        ENSURE(root.radius < 1e-28 * root.high);
    }
    ENSURE(isinf(ss_midrad_invert((ss_midrad){1.0, 0.0, 2.0}).radius));
    ss_midrad around = ss_midrad_root((ss_midrad){0.0, 0.0, 4.0}); // of [-4, 4]: [0, 2]
    ENSURE(ss_midrad_upper(around) >= 2.0 && ss_midrad_lower(around) <= 0.0);
}

TEST(inverses_of_balls_that_all_but_reach_zero_hold_those_of_their_ends)
{
    // 1 - 2^-54 with a radius of 1 - 2^-53: the nearest number to zero is 2^-54, whose inverse is 2^54
    ss_midrad ball = {1.0, -0x1p-54, 1.0 - 0x1p-53};
    ENSURE(ss_midrad_mignitude(ball) <= 0x1p-54);
    ENSURE(ss_midrad_upper(ss_midrad_invert(ball)) >= 0x1p54);
}

TEST(overflow_and_what_follows_it_proves_nothing)
{
    ss_midrad huge = ss_midrad_multiply(ss_midrad_of(1e200), ss_midrad_of(1e200));
    ENSURE(isinf(huge.radius));
    ENSURE(isinf(ss_midrad_subtract(huge, huge).radius));
    ENSURE(isinf(ss_midrad_multiply(huge, ss_midrad_of(1e-300)).radius));
    ENSURE(isinf(ss_midrad_of(NAN).radius));
    ENSURE(isinf(ss_midrad_multiply(huge, ss_midrad_of(0.0)).radius));
    ENSURE(!(ss_midrad_magnitude(huge) <= 1e300));
}

TEST(velocity_that_overflows_is_not_one_that_parts)
{
    // w_1 = x_1 - 1e200 vanishes, w_2 = -1e200 x_1 is -1e400: as far from parting as it gets
    ss_problem *problem = ss_problem_create(2, 2, -1, NULL);
    for (int i = 0; i < 2; i++) {
        problem->lower[i] = 0.0;
        problem->upper[i] = INFINITY;
        problem->diagonal[i] = 1.0;
        problem->blocks[i] =
            (ss_block){.law = SS_LAW_BOX, .first = i, .size = 1, .contact = -1, .constraint = -1};
    }
    problem->A = ss_sparse_from_triplets(2, 2, 4, (int[]){0, 0, 1, 1}, (int[]){0, 1, 0, 1},
                                         (double[]){1, -1e200, -1e200, 1}, NULL);
    problem->b[0] = -1e200;
    const double answers[][2] = {{1e200, 0.0}, {INFINITY, 0.0}};
    for (int k = 0; k < 2; k++) {
        ss_certificate *c =
            ss_certify_problem(problem, answers[k], &(ss_certify_options){.exact_unknowns = 20}, NULL);
        ENSURE_INT(c->level, SS_CERTIFIED_NOT);
        ENSURE_CONTAINS(c->reason, "no finite bound");
        ss_certificate_destroy(c);
    }
    ss_problem_destroy(problem);
}

/* One contact in space with friction 0.5, whose matrix is the identity; b is 0. */
static ss_problem *unit_contact(void)
{
    ss_problem *problem = ss_problem_create(3, 1, -1, NULL);
    problem->blocks[0] =
        (ss_block){.law = SS_LAW_CONE, .first = 0, .size = 3, .mu = 0.5, .contact = 0, .constraint = -1};
    problem->A =
        ss_sparse_from_triplets(3, 3, 3, (int[]){0, 1, 2}, (int[]){0, 1, 2}, (double[]){1, 1, 1}, NULL);
    for (int i = 0; i < 3; i++) problem->diagonal[i] = 1.0;
    return problem;
}

TEST(impulse_that_is_not_a_number_is_not_one_of_a_contact_that_parts)
{
    // w = 1 without any impulse, which is right; NaN is not
    ss_problem *problem = unit_contact();
    problem->b[0] = 1.0;
    ss_certificate *right = ss_certify_problem(problem, (double[]){0.0, 0.0, 0.0}, NULL, NULL);
    ss_certificate *wrong = ss_certify_problem(problem, (double[]){NAN, 0.0, 0.0}, NULL, NULL);
    ENSURE_INT(right->level, SS_CERTIFIED_BACKWARD);
    ENSURE_INT(wrong->level, SS_CERTIFIED_NOT);
    ss_certificate_destroy(right);
    ss_certificate_destroy(wrong);
    ss_problem_destroy(problem);
}

/* ---- answers that are right ------------------------------------------------------------------------- */

typedef struct certified {
    ss_session *session;
    const ss_answer *answer;
    ss_certificate *certificate;
} certified;

/* Solves as accurately as it gets, and certifies. */
static certified certify_with(const ss_frame *frame, const char *formulation, const char *with, ss_law law)
{
    certified to = {0};
    ss_error err = {0};
    ss_request request = {
        .formulation = formulation, .with = with, .stop = "relative_energy<1e-13", .skip_exact = true};
    to.session = ss_session_create(&request, &err);
    const ss_result *result = to.session ? ss_session_solve(to.session, frame, NULL, &err) : NULL;
    if (!result || !result->answer) {
        KIT_FAIL("%s", err.message);
        return to;
    }
    to.answer = result->answer;
    ss_certify_options options = {.step = *ss_assembly_step(ss_session_assembly(to.session)), .law = law};
    to.certificate = ss_certify(frame, to.answer, &options, &err);
    return to;
}

static certified certify(const ss_frame *frame)
{
    return certify_with(frame, "cone", "", SS_LAW_CONE);
}

static void forget(certified *what)
{
    ss_certificate_destroy(what->certificate);
    ss_session_destroy(what->session);
}

TEST(block_that_slides_is_certified_with_its_speed_as_margin)
{
    // 2 kg on a slope of 0.2 rad, mu = 0.1, h as in the recipe: u = speed + h g (sin - mu cos)
    ss_frame *frame = sliding_block(0.2, 0.1, 1.5);
    certified c = certify(frame);
    double u = 1.5 + frame->h * SS_MECHANICS_GRAVITY * (sin(0.2) - 0.1 * cos(0.2));
    ENSURE_INT(c.certificate->level, SS_CERTIFIED_BACKWARD);
    ENSURE_INT(c.certificate->contact[0].state, SS_CERTIFIED_SLIP);
    ENSURE_INT(c.certificate->contact[0].certain, 1);
    ENSURE_NEAR(c.certificate->contact[0].margin, fmin(u, frame->h * SS_MECHANICS_GRAVITY * cos(0.2)), 1e-12);
    ENSURE(c.certificate->bound <= 1e-12 * c.certificate->scale);
    forget(&c);
    ss_frame_destroy(frame);
}

TEST(block_that_sticks_has_the_friction_it_does_not_need_as_margin)
{
    ss_frame *frame = sliding_block(0.2, 0.5, 0.0);
    certified c = certify(frame);
    // impulse m g h cos, share of friction used tan(0.2) / 0.5, inverse mass 1/m
    double margin = (1.0 - tan(0.2) / 0.5) * frame->h * SS_MECHANICS_GRAVITY * cos(0.2);
    ENSURE_INT(c.certificate->contact[0].state, SS_CERTIFIED_STICK);
    ENSURE_NEAR(c.certificate->contact[0].margin, margin, 1e-12); // rounding of a dozen operations
    ENSURE(c.certificate->contact[0].certain);
    forget(&c);
    ss_frame_destroy(frame);
}

/* A tower of everything that a contact can have. */
static ss_frame *rich_towers(uint64_t seed, bool moments)
{
    ss_random random = ss_random_start(seed + 99, 0);
    ss_frame *frame = towers(&(scene_recipe){seed, 3, 4, 3, 0.3, 0.1});
    static const char *const paths[] = {
        "contacts/restitution", "contacts/compliance", "contacts/damping",           "contacts/adhesion",
        "contacts/mu_t",        "contacts/mu_r",       "contacts/surface_velocities"};
    for (int p = 0; p < 7; p++) {
        bool wanted = p == 4 || p == 5 ? moments : ss_random_below(&random, 2);
        if (wanted && !ss_frame_enable(frame, paths[p], NULL)) KIT_FAIL("%s", paths[p]);
    }
    bool coupled = moments && seed % 4 == 3; // one ellipsoid of sliding and spinning
    if (coupled && !ss_frame_enable(frame, "contacts/spin_coupling", NULL)) KIT_FAIL("spin_coupling");
    for (int c = 0; c < frame->contacts.count; c++) {
        ss_contacts *contacts = &frame->contacts;
        contacts->gap[c] = ss_random_between(&random, -1e-4, 1e-4);
        if (contacts->restitution) contacts->restitution[c] = ss_random_between(&random, 0, 1);
        if (contacts->compliance) contacts->compliance[c] = ss_random_between(&random, 0, 1e-3);
        if (contacts->damping) contacts->damping[c] = ss_random_between(&random, 0, 100);
        if (contacts->adhesion) contacts->adhesion[c] = ss_random_between(&random, 0, 2);
        if (contacts->mu_torsion) contacts->mu_torsion[c] = ss_random_between(&random, 0.001, 0.01);
        if (contacts->spin_coupling) contacts->spin_coupling[c] = SS_SPIN_ELLIPSOID;
        if (contacts->mu_rolling) contacts->mu_rolling[c] = ss_random_between(&random, 0.001, 0.01);
        for (int i = 0; contacts->surface_velocity && i < 3; i++)
            contacts->surface_velocity[c][i] = ss_random_between(&random, -0.01, 0.01);
    }
    return frame;
}

TEST(towers_with_everything_that_a_contact_can_have_are_certified)
{
    static const char *const with[] = {"", "gap_term=stabilised gamma=0.3 slop=2e-5", "gap_term=restitution",
                                       "gap_term=paoli-schatzman", "gap_term=zero mu_max=0.2"};
    int solved = 0;
    for (int seed = 0; seed < 10; seed++) {
        ss_frame *frame = rich_towers((uint64_t)seed, seed % 2);
        certified c = certify_with(frame, "cone", with[seed % 5], SS_LAW_CONE);
        ENSURE(c.certificate);
        if (c.certificate->level != SS_CERTIFIED_BACKWARD)
            printf("     seed %d: %s\n", seed, c.certificate->reason);
        solved += c.certificate->level == SS_CERTIFIED_BACKWARD;
        forget(&c);
        ss_frame_destroy(frame);
    }
    ENSURE_INT(solved, 10);
}

TEST(directions_in_single_precision_are_certified_as_well)
{
    // as engines of games have them: normals and tangents of unit length and at right angles to 1e-7
    for (int seed = 0; seed < 8; seed++) {
        ss_frame *frame = rich_towers((uint64_t)seed, true);
        double s = sin(0.3 + seed), k = cos(0.3 + seed);
        double turn[3][3] = {{k, -s * 0.6, s * 0.8}, {s, k * 0.6, -k * 0.8}, {0.0, 0.8, 0.6}};
        ENSURE(turn_frame(frame, (const double(*)[3])turn));
        ENSURE(seed % 2 || ss_frame_enable(frame, "contacts/t_u", NULL));
        for (int c = 0; c < frame->contacts.count; c++) {
            for (int i = 0; i < 3; i++) {
                frame->contacts.normal[c][i] = (float)frame->contacts.normal[c][i];
                if (frame->contacts.tangent)
                    frame->contacts.tangent[c][i] = (float)frame->contacts.tangent[c][i];
            }
        }
        certified c = certify(frame);
        ENSURE_INT(c.certificate->level, SS_CERTIFIED_BACKWARD);
        ENSURE(c.certificate->bound <= 1e-11 * c.certificate->scale);
        forget(&c);
        ss_frame_destroy(frame);
    }
}

TEST(convex_answers_are_certified_by_the_convex_law_alone)
{
    ss_frame *frame = towers(&(scene_recipe){5, 3, 3, 4, 0.5, 0.1});
    certified convex = certify_with(frame, "convex", "", SS_LAW_CONVEX);
    certified wrong = certify_with(frame, "convex", "", SS_LAW_CONE);
    ENSURE_INT(convex.certificate->level, SS_CERTIFIED_BACKWARD);
    ENSURE_INT(wrong.certificate->level, SS_CERTIFIED_NOT); // what slides is lifted: not Coulomb
    ENSURE_CONTAINS(wrong.certificate->reason, "m/s away");
    forget(&convex);
    forget(&wrong);
    ss_frame_destroy(frame);
}

/* ---- how far the exact velocities are ----------------------------------------------------------------- */

static double energy_between(const ss_frame *frame, const ss_answer *a, const ss_answer *b)
{
    double sum = 0.0;
    for (int k = 0; k < frame->bodies.count; k++) {
        double d[6];
        for (int i = 0; i < 6; i++) d[i] = a->velocity[k][i] - b->velocity[k][i];
        for (int i = 0; i < 3; i++) sum += frame->bodies.mass[k] * d[i] * d[i];
        for (int i = 0; i < 9; i++) sum += frame->bodies.inertia[k][i] * d[3 + i / 3] * d[3 + i % 3];
    }
    return 0.5 * sum;
}

/* *proved (J): of an answer that apgd has when it stops by this rule, and no less than it is off. */
static void prove_energy(const ss_frame *frame, const char *stop, double tolerance, const ss_answer *inside,
                         const ss_answer *exact, double *proved)
{
    ss_request request = {.formulation = "convex", .solver = "apgd", .stop = stop, .skip_exact = true};
    ss_session *session = ss_session_create(&request, NULL);
    const ss_answer *answer = ss_session_solve(session, frame, NULL, NULL)->answer;
    ss_certify_options options = {.step = *ss_assembly_step(ss_session_assembly(session)),
                                  .law = SS_LAW_CONVEX,
                                  .tolerance = tolerance,
                                  .inside = inside};
    ss_certificate *c = ss_certify(frame, answer, &options, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_FORWARD);
    ENSURE(c->forward >= energy_between(frame, answer, exact));
    *proved = c->forward;
    ss_certificate_destroy(c);
    ss_session_destroy(session);
}

TEST(exact_velocities_of_the_convex_law_are_within_the_energy_that_was_proved)
{
    for (int seed = 0; seed < 6; seed++) {
        ss_frame *frame = towers(&(scene_recipe){(uint64_t)seed, 2, 3, 3, 0.5, 0.1}),
                 *nearer = ss_frame_copy(frame, NULL);
        if (seed % 2) {
            ENSURE(ss_frame_enable(frame, "contacts/compliance", NULL));
            for (int c = 0; c < frame->contacts.count; c++) frame->contacts.compliance[c] = 1e-4;
            ss_frame_destroy(nearer);
            nearer = ss_frame_copy(frame, NULL);
        }
        ENSURE(ss_frame_enable(nearer, "contacts/surface_velocities", NULL));
        for (int c = 0; c < nearer->contacts.count; c++)
            for (int i = 0; i < 3; i++)
                nearer->contacts.surface_velocity[c][i] = -1e-2 * nearer->contacts.normal[c][i];
        certified exact = certify_with(frame, "convex", "", SS_LAW_CONVEX);
        certified inside = certify_with(nearer, "convex", "", SS_LAW_CONVEX);

        // an answer as accurate as it gets, and one that was stopped early
        static const char *const stops[] = {"relative_energy<1e-13", "relative_energy<1e-5"};
        double proved[2] = {0.0};
        for (int k = 0; k < 2; k++)
            prove_energy(frame, stops[k], 1e-2, inside.answer, exact.answer, &proved[k]);
        ENSURE(proved[0] < 1e-6 * proved[1] || proved[0] < 1e-12); // and it is worth something
        forget(&exact);
        forget(&inside);
        ss_frame_destroy(frame);
        ss_frame_destroy(nearer);
    }
}

TEST(energy_that_was_proved_holds_with_adhesion_springs_and_moments)
{
    for (int seed = 0; seed < 8; seed++) {
        ss_frame *frame =
            rich_towers((uint64_t)seed, seed % 4 == 3); // with moments: one ellipsoid, and rolling
        for (int c = 0; c < frame->contacts.count; c++) frame->contacts.mu[c][1] *= 1.0 + 0.1 * (seed % 3);
        ss_frame *nearer = ss_frame_copy(frame, NULL);
        ENSURE(ss_frame_enable(nearer, "contacts/surface_velocities", NULL));
        for (int c = 0; c < nearer->contacts.count; c++)
            for (int i = 0; i < 3; i++)
                nearer->contacts.surface_velocity[c][i] -= 1e-2 * nearer->contacts.normal[c][i];
        certified exact = certify_with(frame, "convex", "", SS_LAW_CONVEX);
        certified inside = certify_with(nearer, "convex", "", SS_LAW_CONVEX);
        ENSURE_INT(exact.certificate->level, SS_CERTIFIED_BACKWARD);

        // solvers that were stopped at several distances from the answer
        for (int k = 0; k < 4; k++) {
            static const char *const stops[] = {"relative_energy<1e-4", "relative_energy<1e-6",
                                                "relative_energy<1e-8", "relative_energy<1e-13"};
            double proved = 0.0;
            prove_energy(frame, stops[k], 1.0, inside.answer, exact.answer, &proved);
        }
        forget(&exact);
        forget(&inside);
        ss_frame_destroy(frame);
        ss_frame_destroy(nearer);
    }
}

/* ---- exact ------------------------------------------------------------------------------------------ */

/* A = L L' of whole numbers, so that everything is exact in double precision, and b = w - A x. */
static ss_problem *whole_lcp(ss_random *random, int n, double *x)
{
    ss_problem *problem = ss_problem_create(n, n, -1, NULL);
    double L[16][16] = {{0}}, w[16];
    int *row = calloc((size_t)(n * n), sizeof *row), *col = calloc((size_t)(n * n), sizeof *col);
    double *value = calloc((size_t)(n * n), sizeof *value);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            L[i][j] = i == j ? 1 + ss_random_below(random, 3) : ss_random_below(random, 7) - 3;
    for (int i = 0; i < n; i++) {
        bool presses = ss_random_below(random, 2);
        x[i] = presses ? 1 + ss_random_below(random, 9) : 0.0;
        w[i] = presses ? 0.0 : 1 + ss_random_below(random, 9);
        problem->upper[i] = INFINITY;
        problem->lower[i] = 0.0;
        problem->blocks[i] =
            (ss_block){.law = SS_LAW_BOX, .first = i, .size = 1, .contact = -1, .constraint = -1};
    }
    for (int i = 0; i < n; i++) {
        problem->b[i] = w[i];
        for (int j = 0; j < n; j++) {
            row[i * n + j] = i, col[i * n + j] = j;
            for (int k = 0; k < n; k++) value[i * n + j] += L[i][k] * L[j][k];
            problem->b[i] -= value[i * n + j] * x[j];
        }
        problem->diagonal[i] = value[i * n + i];
    }
    problem->A = ss_sparse_from_triplets(n, n, (int64_t)n * n, row, col, value, NULL);
    free(row), free(col), free(value);
    return problem;
}

TEST(small_lcps_of_whole_numbers_have_their_whole_solutions)
{
    ss_random random = ss_random_start(3, 0);
    for (int k = 0; k < 50; k++) {
        double x[16];
        int n = 1 + k % 12;
        ss_problem *problem = whole_lcp(&random, n, x);
        double first = x[0];
        x[0] += x[0] > 0.0
                    ? 1e-9
                    : 0.0; // not quite: states are the same, and the exact solution is found all the same
        ss_certificate *c = ss_certify_problem(problem, x, &(ss_certify_options){.exact_unknowns = 20}, NULL);
        ENSURE_INT(c->level, SS_CERTIFIED_EXACT);
        double largest = 0.0; // w of x is off by the first column of A
        for (int i = 0; i < n; i++)
            largest = fmax(largest, fabs(ss_sparse_get(problem->A, i, 0)) * (x[0] - first));
        ENSURE_NEAR(c->distance, largest, 1e-13);
        ss_certificate_destroy(c);
        ss_problem_destroy(problem);
    }
}

/* The certificate of a frame's assembled problem, level exact if it can be. */
static ss_certificate *certify_assembled(const ss_frame *frame)
{
    ss_error err = {0};
    ss_request request = {.stop = "relative_energy<1e-13", .skip_exact = true};
    ss_session *session = ss_session_create(&request, &err);
    const ss_result *result = ss_session_solve(session, frame, NULL, &err);
    ss_problem *problem = (ss_problem *)(uintptr_t)result->problem;
    ss_certificate *c =
        ss_certify_problem(problem, result->x, &(ss_certify_options){.exact_unknowns = 40}, &err);
    if (!c) KIT_FAIL("%s", err.message);
    ss_session_destroy(session);
    return c;
}

TEST(what_sticks_or_slides_in_a_plane_is_exact_and_what_slides_in_space_is_not)
{
    ss_frame *sticks = sliding_block(0.2, 0.5, 0.0), *slides = sliding_block(0.2, 0.1, 1.0);
    // without friction and on three feet no row is redundant; redundant rows of a rounded matrix contradict
    // each other, and have no exact solution
    ss_frame *stack = towers(&(scene_recipe){3, 1, 4, 3, 0.0, 0.6}), *oblique = sliding_block(0.2, 0.1, 1.0);
    for (int c = 0; c < stack->contacts.count; c++) stack->contacts.mu[c][0] = stack->contacts.mu[c][1] = 0.0;
    oblique->bodies.velocity[0][1] = 0.5;
    const ss_frame *frames[] = {sticks, slides, stack, oblique};
    for (int k = 0; k < 4; k++) {
        ss_certificate *c = certify_assembled(frames[k]);
        ENSURE_INT(c->level, k < 3 ? SS_CERTIFIED_EXACT : SS_CERTIFIED_BACKWARD);
        if (k < 3) ENSURE(c->distance <= 1e-12 * c->scale); // what the solver was asked for
        ss_certificate_destroy(c);
        ss_frame_destroy((ss_frame *)(uintptr_t)frames[k]);
    }
}

TEST(distance_to_the_exact_solution_is_no_less_than_it_is)
{
    // x = (1/3, 0) and w = (0, 1000 + 1000/3), which no double is: 1/3 in double precision is 2^-54/3 too
    // small, and its w_1 2^-54 and its w_2 1000 2^-54/3 off, a part of the last digit of w_2
    ss_problem *problem = ss_problem_create(2, 2, -1, NULL);
    for (int i = 0; i < 2; i++) {
        problem->lower[i] = 0.0;
        problem->upper[i] = INFINITY;
        problem->blocks[i] =
            (ss_block){.law = SS_LAW_BOX, .first = i, .size = 1, .contact = -1, .constraint = -1};
    }
    problem->A = ss_sparse_from_triplets(2, 2, 4, (int[]){0, 0, 1, 1}, (int[]){0, 1, 0, 1},
                                         (double[]){3, 1000, 1000, 1e6}, NULL);
    problem->diagonal[0] = 3.0;
    problem->diagonal[1] = 1e6;
    problem->b[0] = -1.0;
    problem->b[1] = 1000.0;
    ss_certificate *c = ss_certify_problem(problem, (double[]){1.0 / 3.0, 0.0},
                                           &(ss_certify_options){.exact_unknowns = 20}, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_EXACT);
    ENSURE(c->distance >= 1000.0 * 0x1p-54 / 3.0);
    ENSURE_NEAR(c->distance, 1000.0 * 0x1p-54 / 3.0, 1e-27);
    ss_certificate_destroy(c);
    ss_problem_destroy(problem);
}

TEST(state_that_is_wrong_is_not_exact)
{
    // w = x - 1, x >= 0: x = 1. At x = 0, w = -1 says that it must press; at x = 5 it is solved exactly, as 1
    ss_random random = ss_random_start(4, 0);
    double x[16];
    ss_problem *problem = whole_lcp(&random, 1, x);
    problem->b[0] = -problem->diagonal[0];
    x[0] = 5.0;
    ss_certificate *c = ss_certify_problem(problem, x, &(ss_certify_options){.exact_unknowns = 20}, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_EXACT);
    ENSURE_NEAR(c->distance, 4.0 * problem->diagonal[0], 1e-12);
    ss_certificate_destroy(c);

    // without a solution: w = -1 whatever x is
    problem->A->value[0] = problem->diagonal[0] = 0.0;
    problem->b[0] = -1.0;
    c = ss_certify_problem(problem, x, &(ss_certify_options){.exact_unknowns = 20}, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_NOT);
    ss_certificate_destroy(c);
    ss_problem_destroy(problem);
}

TEST(what_spins_beside_a_convex_cone_is_not_lifted)
{
    // a block that spins on its contact with torsional friction: u_N = 0 under either law
    for (int k = 0; k < 6; k++) {
        ss_frame *frame = sliding_block(0.0, k % 3 == 0 ? 0.2 : k % 3 == 1 ? 0.0 : INFINITY, 0.0);
        ENSURE(ss_frame_enable(frame, "contacts/mu_t", NULL) &&
               ss_frame_enable(frame, "contacts/spin_coupling", NULL));
        frame->contacts.mu_torsion[0] = 0.01;
        frame->contacts.spin_coupling[0] = k < 3 ? SS_SPIN_INDEPENDENT : SS_SPIN_ELLIPSOID;
        frame->bodies.velocity[0][5] = 20.0;
        const char *const formulation[] = {"cone", "convex"};
        for (int law = 0; law < 2; law++) {
            certified c = certify_with(frame, formulation[law], "", law ? SS_LAW_CONVEX : SS_LAW_CONE);
            ENSURE_INT(c.certificate->level >= SS_CERTIFIED_BACKWARD, true);
            forget(&c);
        }
        ss_frame_destroy(frame);
    }
}

/* ---- answers that are wrong ------------------------------------------------------------------------- */

TEST(answer_to_a_problem_nearby_is_certified_as_just_that)
{
    // The answer of a frame whose surfaces move by delta is the exact answer to a problem delta away, and for
    // a block that sticks or slides on one contact nothing nearer is possible.
    for (int k = 0; k < 8; k++) {
        double delta = pow(10.0, -k - 1), speed = k % 2 ? 0.0 : 1.0;
        ss_frame *frame = sliding_block(0.1, 0.4, speed), *moved = sliding_block(0.1, 0.4, speed);
        ENSURE(ss_frame_enable(moved, "contacts/surface_velocities", NULL));
        moved->contacts.surface_velocity[0][2] = -delta; // along the normal
        certified c = certify(moved);
        ss_certificate *own = ss_certify(frame, c.answer, NULL, NULL);
        ENSURE_NEAR(own->bound, delta, 1e-12);
        ENSURE(own->bound >= delta - 1e-15); // an upper bound, up to what the answer to the other frame lacks
        ENSURE_INT(own->level == SS_CERTIFIED_BACKWARD, delta <= 1e-8 * own->scale);
        ss_certificate_destroy(own);
        forget(&c);
        ss_frame_destroy(frame);
        ss_frame_destroy(moved);
    }
}

TEST(planted_faults_are_refused)
{
    ss_frame *frame = towers(&(scene_recipe){11, 2, 3, 3, 0.5, 0.1});
    certified right = certify(frame);
    ENSURE_INT(right.certificate->level, SS_CERTIFIED_BACKWARD);
    ss_answer *wrong = (ss_answer *)(uintptr_t)right.answer;
    int c = 0;
    while (right.certificate->contact[c].state != SS_CERTIFIED_SLIP) c++;

    enum { WEAKER, STRONGER, REVERSED, TURNED, PULLS, SMALL, FAULTS };
    for (int fault = 0; fault < FAULTS; fault++) {
        double *normal = &wrong->normal_impulse[c], *friction = wrong->friction_impulse[c];
        double kept = *normal, kept_friction[3] = {friction[0], friction[1], friction[2]};
        if (fault == WEAKER || fault == STRONGER) *normal *= fault == WEAKER ? 0.9 : 1.1;
        for (int i = 0; i < 3 && fault == REVERSED; i++) friction[i] = -friction[i];
        if (fault == TURNED) friction[0] = kept_friction[1], friction[1] = -kept_friction[0];
        if (fault == PULLS) *normal = -*normal;
        if (fault == SMALL) *normal *= 1.0 + 1e-5;
        ss_certificate *certificate = ss_certify(frame, wrong, NULL, NULL);
        ENSURE_INT(certificate->level, fault == SMALL ? SS_CERTIFIED_EXTENDED : SS_CERTIFIED_NOT);
        ENSURE(certificate->bound > 1e-7 * certificate->scale);
        ss_certificate_destroy(certificate);
        *normal = kept;
        memcpy(friction, kept_friction, sizeof kept_friction);
    }

    // friction that the cone does not hold, with the velocities of what it holds
    for (int i = 0; i < 3; i++) wrong->friction_impulse[c][i] *= 2.0;
    ss_certificate *beyond = ss_certify(frame, wrong, NULL, NULL);
    ENSURE_INT(beyond->level, SS_CERTIFIED_NOT);
    ENSURE_CONTAINS(beyond->reason, "the impulses break the laws");
    ss_certificate_destroy(beyond);
    for (int i = 0; i < 3; i++) wrong->friction_impulse[c][i] *= 0.5;

    // impulses without their velocities are no answer
    wrong->velocity[0][1] += 1e-3;
    ss_certificate *certificate = ss_certify(frame, wrong, NULL, NULL);
    ENSURE_NEAR(certificate->velocity_error, 1e-3, 1e-12);
    ENSURE_INT(certificate->level, SS_CERTIFIED_NOT);
    ENSURE_CONTAINS(certificate->reason, "velocities differ");
    wrong->normal_impulse[0] = NAN;
    ss_certificate *incomplete = ss_certify(frame, wrong, NULL, NULL);
    ENSURE_INT(incomplete->level, SS_CERTIFIED_NOT);
    ENSURE_CONTAINS(incomplete->reason, "not complete");
    ss_certificate_destroy(certificate);
    ss_certificate_destroy(incomplete);
    forget(&right);
    ss_frame_destroy(frame);
}

TEST(impulses_that_break_the_laws_are_not_certified_as_those_that_would_obey_them)
{
    // 1 N s of weight and a push of 1 m/s against 1 kg, mu = 0.5: it slides on at 0.5 m/s
    ss_problem *problem = unit_contact();
    problem->b[0] = -1.0;
    problem->b[1] = 1.0;
    const struct {
        double friction;
        ss_certificate_level level;
    } cases[] = {{-0.5, SS_CERTIFIED_BACKWARD},
                 {-0.5 * (1.0 + 1e-10), SS_CERTIFIED_BACKWARD},
                 {-0.5 * (1.0 + 1e-6), SS_CERTIFIED_EXTENDED},
                 {-1.0, SS_CERTIFIED_NOT},
                 {-0.25, SS_CERTIFIED_NOT}};
    for (int k = 0; k < 5; k++) {
        ss_certificate *c = ss_certify_problem(problem, (double[]){1.0, cases[k].friction, 0.0}, NULL, NULL);
        ENSURE_INT(c->level, cases[k].level);
        ENSURE(c->bound <= 1e-15); // of the impulses on the cone
        ss_certificate_destroy(c);
    }

    // the exact solution is found all the same, and the distance to it is that of what was given
    ss_certificate *c = ss_certify_problem(problem, (double[]){1.0, -1.0, 0.0},
                                           &(ss_certify_options){.exact_unknowns = 20}, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_EXACT);
    ENSURE_NEAR(c->distance, 0.5, 1e-15);
    ss_certificate_destroy(c);
    ss_problem_destroy(problem);
}

TEST(cone_is_no_wider_where_squares_of_impulses_underflow)
{
    // 1e-170 N s of weight and as large a push, mu = 0.5: friction that holds it is twice what there is
    ss_problem *problem = unit_contact();
    problem->b[0] = -1e-170;
    problem->b[1] = 1e-170;
    ss_certificate *c = ss_certify_problem(problem, (double[]){1e-170, -1e-170, 0.0}, NULL, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_NOT);
    ss_certificate_destroy(c);
    ss_problem_destroy(problem);
}

/* A ball of 2 kg whose joint has friction along x, by the load of friction along y, by the load of a row that
 * couples x and z. Whole numbers: with impulses 2.5, 5 and 10 it slides at (-1, -1, 1) m/s. */
static ss_frame *friction_of_friction(void)
{
    ss_frame *frame = body_on_joint(3);
    if (!frame || !ss_frame_enable(frame, "constraints/friction_row", NULL) ||
        !ss_frame_enable(frame, "constraints/friction", NULL))
        KIT_FAIL("%s", "friction");
    ss_constraints *joint = &frame->constraints;
    frame->h = 0x1p-7;
    for (int i = 0; i < 2; i++) {
        joint->jacobian[i][6 + i] = 1.0;
        joint->friction[i] = 0.5;
        joint->friction_row[i] = i + 1;
    }
    joint->jacobian[2][6] = joint->jacobian[2][8] = 1.0;
    for (int i = 0; i < 3; i++) frame->bodies.force[0][i] = (double[]){-14.5, -7.0, -8.0}[i] / frame->h;
    return frame;
}

/* The answer with these impulses of the first two rows, and that of the third, which holds x and z as one. */
static ss_answer *slide_on_joint(const ss_frame *frame, double along, double across)
{
    ss_answer *answer = ss_answer_create(frame, false, NULL);
    double held = 0.5 * (22.5 - along), *v = answer->velocity[0];
    answer->row_impulse[0] = along, answer->row_impulse[1] = across, answer->row_impulse[2] = held;
    v[0] = 0.5 * (along + held - 14.5), v[1] = 0.5 * (across - 7.0), v[2] = 0.5 * (held - 8.0);
    return answer;
}

TEST(friction_by_a_load_that_is_friction_is_settled_after_it)
{
    ss_frame *frame = friction_of_friction();
    ss_answer *right = slide_on_joint(frame, 2.5, 5.0);
    ss_certificate *c = ss_certify(frame, right, NULL, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_BACKWARD);
    ENSURE_NEAR(c->joint_bound, 0.0, 1e-15);
    ss_certificate_destroy(c);

    // 1e-9 too much along y and x: both are cut to what the load allows, x to a quarter of 10 - 1.25e-9
    // N s, which changes w of the third row by 2.8125e-9 N s over 2 kg
    double across = 5.0 * (1.0 + 1e-9);
    ss_answer *more = slide_on_joint(frame, 0.5 * across, across);
    c = ss_certify(frame, more, NULL, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_BACKWARD);
    ENSURE_NEAR(c->joint_bound, 1.40625e-9, 1e-14);
    ss_certificate_destroy(c);
    ss_answer_destroy(right);
    ss_answer_destroy(more);
    ss_frame_destroy(frame);
}

TEST(friction_that_is_its_own_load_holds_nothing)
{
    // x by the load of y, and y by the load of x, half of it each: only zero obeys both
    ss_frame *frame = friction_of_friction();
    frame->constraints.friction_row[1] = 0;
    ss_answer *answer = slide_on_joint(frame, 1e-8, 2e-8);
    ss_certificate *c = ss_certify(frame, answer, NULL, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_BACKWARD);
    ENSURE_NEAR(c->joint_bound, 0.5e-8, 1e-14); // of the third row, without friction
    ss_certificate_destroy(c);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

TEST(bounds_that_exclude_each_other_admit_no_answer)
{
    // friction of at most half of 10 N s, and a bound that wants 6 of it
    ss_frame *frame = friction_of_friction();
    frame->constraints.friction_row[1] = -1;
    frame->constraints.friction_row[0] = 2;
    frame->constraints.bounds[0][0] = 6.0 / frame->h;
    ss_answer *answer = slide_on_joint(frame, 4.5, 0.0); // held: 9
    ss_certificate *c = ss_certify(frame, answer, NULL, NULL);
    ENSURE_INT(c->level, SS_CERTIFIED_NOT);
    ENSURE_CONTAINS(c->reason, "exclude each other");
    ss_certificate_destroy(c);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

TEST(impulses_and_velocities_of_what_takes_no_part_are_refused)
{
    // a tower that is awake beside one that sleeps, and a contact of that one with the ground
    ss_frame *frame = towers(&(scene_recipe){11, 2, 1, 3, 0.5, 0.1});
    frame->bodies.state[1] = 0;
    int c = 0;
    while (frame->contacts.pair[c][0] != 1 && frame->contacts.pair[c][1] != 1) c++;
    certified right = certify(frame);
    ss_answer *wrong = (ss_answer *)(uintptr_t)right.answer;
    ENSURE_INT(right.certificate->level, SS_CERTIFIED_BACKWARD);
    ENSURE_INT(right.certificate->contact[c].state, SS_CERTIFIED_LEFT_OUT);

    wrong->normal_impulse[c] = 1.0;
    ss_certificate *pushed = ss_certify(frame, wrong, NULL, NULL);
    wrong->normal_impulse[c] = 0.0;
    wrong->friction_impulse[c][1] = 1.0;
    ss_certificate *rubbed = ss_certify(frame, wrong, NULL, NULL);
    wrong->friction_impulse[c][1] = 0.0;
    wrong->velocity[1][2] += 1.0;
    ss_certificate *moved = ss_certify(frame, wrong, NULL, NULL);
    ENSURE_INT(pushed->level, SS_CERTIFIED_NOT);
    ENSURE_INT(rubbed->level, SS_CERTIFIED_NOT);
    ENSURE_INT(moved->level, SS_CERTIFIED_NOT);
    ENSURE_CONTAINS(pushed->reason, "takes no part");
    ENSURE_CONTAINS(moved->reason, "body 1 takes no part");
    ss_certificate_destroy(pushed);
    ss_certificate_destroy(rubbed);
    ss_certificate_destroy(moved);

    // at rest, or as before the step: engines say either
    memset(wrong->velocity[1], 0, sizeof wrong->velocity[1]);
    ss_certificate *rests = ss_certify(frame, wrong, NULL, NULL);
    ENSURE_INT(rests->level, SS_CERTIFIED_BACKWARD);
    ss_certificate_destroy(rests);
    forget(&right);
    ss_frame_destroy(frame);
}

TEST(motor_that_pushes_harder_than_it_can_is_refused)
{
    // 2 kg on a rail, a motor of at most 1 N that wants 10 m/s: v = h f/m
    ss_frame *frame = body_on_joint(1);
    frame->constraints.jacobian[0][6] = 1.0;
    frame->constraints.bounds[0][0] = -1.0;
    frame->constraints.bounds[0][1] = 1.0;
    frame->constraints.time_derivative[0] = -10.0;
    certified c = certify(frame);
    ENSURE_INT(c.certificate->level, SS_CERTIFIED_BACKWARD);
    ss_answer *wrong = (ss_answer *)(uintptr_t)c.answer;
    ENSURE_NEAR(wrong->row_impulse[0], frame->h, 1e-15);
    for (int k = 0; k < 2; k++) { // with the velocity that the motor can give, and with that of its impulse
        wrong->row_impulse[0] = 5.0 * frame->h;
        if (k) wrong->velocity[0][0] = 5.0 * frame->h / 2.0;
        ss_certificate *own = ss_certify(frame, wrong, NULL, NULL);
        ENSURE_INT(own->level, SS_CERTIFIED_NOT);
        ENSURE_CONTAINS(own->reason, "the impulses break the laws");
        ss_certificate_destroy(own);
    }
    forget(&c);
    ss_frame_destroy(frame);
}

TEST(mass_matrix_that_cannot_be_inverted_for_certain_proves_nothing)
{
    ss_frame *frame = towers(&(scene_recipe){11, 1, 1, 3, 0.5, 0.1});
    certified c = certify(frame);
    memset(frame->bodies.inertia[0], 0, sizeof frame->bodies.inertia[0]);
    ss_certificate *own = ss_certify(frame, c.answer, NULL, NULL);
    ENSURE_INT(own->level, SS_CERTIFIED_NOT);
    ENSURE_CONTAINS(own->reason, "singular");
    ss_certificate_destroy(own);
    forget(&c);
    ss_frame_destroy(frame);
}

TEST_MAIN
