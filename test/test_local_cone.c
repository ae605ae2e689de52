/* One contact, solved exactly: against the definition, against a search by brute force, and at the ends of
 * the range of friction. */
#include "kit.h"

#include "problem/cone.h"
#include "solver/local/local_cone.h"

enum { MAX = 5 };

static double between(ss_random *random, double low, double high)
{
    return ss_random_between(random, low, high);
}

/* ---- random contacts -------------------------------------------------------------------------------- */

typedef struct sample {
    ss_block block;
    double A[MAX * MAX], q[MAX];
} sample;

/* L L' of a random L, one direction made softer by `softness` squared; rolling rows in their own unit. */
static void random_matrix(ss_random *random, int n, double softness, double unit, double *A)
{
    double L[MAX][MAX], scale = pow(10.0, between(random, -3, 3));
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) L[i][k] = ss_random_normal(random) * (k == 0 ? softness : 1.0);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) sum += L[i][k] * L[j][k];
            A[i * n + j] = sum * scale * (i > 2 ? unit : 1.0) * (j > 2 ? unit : 1.0);
        }
    }
}

/* The smallest pivot of the symmetric part, relative to the diagonal. */
static double definiteness(int n, const double *A)
{
    double S[MAX * MAX], smallest = 1.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) S[i * n + j] = 0.5 * (A[i * n + j] + A[j * n + i]);
    }
    for (int j = 0; j < n; j++) {
        smallest = fmin(smallest, S[j * n + j] / A[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            double factor = S[i * n + j] / S[j * n + j];
            for (int k = j + 1; k < n; k++) S[i * n + k] -= factor * S[j * n + k];
        }
    }
    return smallest;
}

/* mu from 0 to 10, condition numbers up to about 1e10, a skew part of 1e-3 as in files of others. */
static sample random_sample(ss_random *random, ss_law law, int n)
{
    sample contact;
    do {
        double softness = pow(10.0, between(random, -5, 0)), unit = pow(10.0, between(random, -2, 2));
        random_matrix(random, n, softness, unit, contact.A);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n && ss_random_below(random, 2); j++) {
                double size = sqrt(contact.A[i * n + i] * contact.A[j * n + j]);
                if (i != j) contact.A[i * n + j] += 1e-3 * softness * size * between(random, -1, 1);
            }
            contact.q[i] = ss_random_normal(random) * (i > 2 ? unit : 1.0);
        }
        double largest = ss_random_below(random, 3) ? 1.0 : 10.0;
        contact.block =
            (ss_block){.law = law,
                       .size = n,
                       .mu = ss_random_below(random, 20) ? between(random, 0, largest) : 0.0,
                       .mu_rolling = ss_random_below(random, 20) ? between(random, 0, 1) / unit : 0.0};
    } while (definiteness(n, contact.A) < 1e-9);
    return contact;
}

/* ---- the definition --------------------------------------------------------------------------------- */

/* |y - P_K(y - u~)| with everything scaled by the square roots of the diagonal, so that units do not matter,
 * relative to the terms it is made of: what is left is rounding. */
static double violation(const sample *contact, const double *r)
{
    int n = contact->block.size;
    const double *A = contact->A;
    double unit[MAX] = {sqrt(A[0])}, u[MAX], y[MAX], terms = 0.0, sum = 0.0;
    for (int i = 1; i < n; i++) {
        int first = 2 * ((i - 1) / 2) + 1, last = first + 1 < n ? first + 1 : first;
        unit[i] = sqrt(fmax(A[first * n + first], A[last * n + last]));
    }
    ss_friction_cone cone = {n, contact->block.mu * (unit[1] / unit[0]),
                             contact->block.mu_rolling * (unit[3] / unit[0])};
    for (int i = 0; i < n; i++) {
        u[i] = contact->q[i] / unit[i];
        terms += fabs(u[i]) + fabs(r[i] * unit[i]);
        for (int j = 0; j < n; j++) {
            u[i] += A[i * n + j] * r[j] / unit[i];
            terms += fabs(A[i * n + j] * r[j] / unit[i]);
        }
    }
    if (contact->block.law == SS_LAW_CONE) ss_friction_cone_shift(cone, u);
    for (int i = 0; i < n; i++) y[i] = r[i] * unit[i] - u[i];
    ss_friction_cone_project(cone, y);
    for (int i = 0; i < n; i++) sum += pow(r[i] * unit[i] - y[i], 2);
    return sqrt(sum) / (terms * (1.0 + cone.mu + cone.mu_rolling)); // the shift of u~ multiplies rounding
}

static void solve(const sample *contact, ss_arena *arena, double *r)
{
    ss_local_cone cone;
    ss_arena_clear(arena);
    if (ss_local_cone_create(&contact->block, contact->A, 1e-14, arena, &cone))
        cone.solve(cone.data, contact->q, r);
}

static double worst_violation(uint64_t seed, ss_law law, int n, int samples)
{
    ss_random random = ss_random_start(seed, 0);
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    double worst = 0.0;
    for (int k = 0; k < samples; k++) {
        sample contact = random_sample(&random, law, n);
        double r[MAX] = {0};
        solve(&contact, arena, r);
        double error = violation(&contact, r);
        if (!(error <= worst)) worst = error;
    }
    ss_arena_destroy(arena);
    return worst;
}

/* tolerance: rounding of a few small products; the solvers themselves stop at 1e-14 */
static const double exact = 1e-13;

TEST(every_planar_contact_obeys_coulomb)
{
    ENSURE_NEAR(worst_violation(1, SS_LAW_CONE, 2, 100000), 0.0, exact);
}

TEST(every_spatial_contact_obeys_coulomb)
{
    ENSURE_NEAR(worst_violation(2, SS_LAW_CONE, 3, 100000), 0.0, exact);
}

TEST(every_rolling_contact_obeys_coulomb)
{
    ENSURE_NEAR(worst_violation(3, SS_LAW_CONE, 5, 10000), 0.0, exact);
}

TEST(every_planar_contact_obeys_the_convex_law)
{
    ENSURE_NEAR(worst_violation(4, SS_LAW_CONVEX, 2, 100000), 0.0, exact);
}

TEST(every_spatial_contact_obeys_the_convex_law)
{
    ENSURE_NEAR(worst_violation(5, SS_LAW_CONVEX, 3, 100000), 0.0, exact);
}

TEST(every_rolling_contact_obeys_the_convex_law)
{
    ENSURE_NEAR(worst_violation(6, SS_LAW_CONVEX, 5, 10000), 0.0, exact);
}

/* ---- brute force ------------------------------------------------------------------------------------ */

/* Slipping with r_T = mu r_N t and u_N = 0: the component of u_T across t, times what r_N is divided by,
 * which keeps it smooth where r_N has a pole. */
static double slip_across(const sample *contact, double angle)
{
    const double *A = contact->A, *q = contact->q;
    double t[2] = {cos(angle), sin(angle)}, mu = contact->block.mu, u[2];
    double divisor = A[0] + mu * (A[1] * t[0] + A[2] * t[1]);
    for (int i = 0; i < 2; i++) {
        u[i] = divisor * q[1 + i] - q[0] * (A[3 + 3 * i] + mu * (A[4 + 3 * i] * t[0] + A[5 + 3 * i] * t[1]));
    }
    return t[0] * u[1] - t[1] * u[0];
}

/* The impulse, if it pushes and opposes the velocity. */
static bool slip_impulse(const sample *contact, double angle, double *r)
{
    const double *A = contact->A, *q = contact->q;
    double t[2] = {cos(angle), sin(angle)}, mu = contact->block.mu, along = 0.0;
    r[0] = -q[0] / (A[0] + mu * (A[1] * t[0] + A[2] * t[1]));
    r[1] = mu * r[0] * t[0];
    r[2] = mu * r[0] * t[1];
    for (int i = 0; i < 2; i++) {
        along += t[i] * (q[1 + i] + A[3 + 3 * i] * r[0] + A[4 + 3 * i] * r[1] + A[5 + 3 * i] * r[2]);
    }
    return r[0] > 0.0 && along <= 0.0;
}

static double difference(const double *a, const double *b)
{
    double sum = 0.0, size = 0.0;
    for (int i = 0; i < 3; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
        size += a[i] * a[i];
    }
    return sqrt(sum / size);
}

/* All slip solutions by scanning the circle and halving where u_T changes sides: the distance of the nearest
 * from r. */
static double nearest_slip(const sample *contact, const double *r)
{
    enum { SCAN = 720 };
    double turn = 2.0 * acos(-1.0), nearest = INFINITY, trial[3];
    for (int k = 0; k < SCAN; k++) {
        double low = turn * k / SCAN, high = turn * (k + 1) / SCAN, side = slip_across(contact, low);
        if (side * slip_across(contact, high) > 0.0) continue;
        for (int halving = 0; halving < 60; halving++) {
            double middle = 0.5 * (low + high);
            *(side * slip_across(contact, middle) > 0.0 ? &low : &high) = middle;
        }
        if (slip_impulse(contact, low, trial)) nearest = fmin(nearest, difference(trial, r));
    }
    return nearest;
}

/* Friction up to 10. Condition numbers that leave the search its digits; the others are left to the
 * definition above. */
TEST(brute_force_finds_the_same_slip)
{
    ss_random random = ss_random_start(7, 0);
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    int slips = 0, missed = 0;
    for (int k = 0; k < 100000; k++) {
        sample contact = random_sample(&random, SS_LAW_CONE, 3);
        double r[3] = {0}, stick[3] = {-contact.q[0], -contact.q[1], -contact.q[2]}, A[9];
        memcpy(A, contact.A, sizeof A);
        contact.block.mu = fmax(0.01, contact.block.mu);
        solve(&contact, arena, r);
        ENSURE((contact.q[0] >= 0.0) == (r[0] == 0.0));
        ss_small_solve(3, A, 1, stick);
        bool holds = hypot(stick[1], stick[2]) <= contact.block.mu * stick[0];
        if (r[0] == 0.0 || definiteness(3, contact.A) < 1e-4) continue;
        if (holds) ENSURE_NEAR(difference(stick, r), 0.0, 1e-8); // rounding times condition
        if (holds) continue;
        slips++;
        missed += nearest_slip(&contact, r) > 1e-6;
    }
    ss_arena_destroy(arena);
    ENSURE(slips > 15000);
    ENSURE_INT(missed, 0);
}

/* ---- the ends of the range -------------------------------------------------------------------------- */

static const double stiff[9] = {2.0, 0.3, -0.2, 0.3, 1.5, 0.1, -0.2, 0.1, 1.0};

static sample usual(double mu, double q0, double q1, double q2)
{
    sample contact = {.block = {.law = SS_LAW_CONE, .size = 3, .mu = mu}, .q = {q0, q1, q2}};
    memcpy(contact.A, stiff, sizeof stiff);
    return contact;
}

TEST(without_friction_only_the_normal_carries)
{
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    sample contact = usual(0.0, -3.0, 1.0, 1.0);
    double r[3] = {1.0, 1.0, 1.0};
    solve(&contact, arena, r);
    ss_arena_destroy(arena);
    ENSURE_NEAR(r[0], 1.5, 1e-15);
    ENSURE(r[1] == 0.0 && r[2] == 0.0);
}

TEST(infinite_friction_holds_the_tangents_even_when_the_normal_lets_go)
{
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    for (int pulls = 0; pulls < 2; pulls++) {
        sample contact = usual(INFINITY, pulls ? 3.0 : -3.0, 1.0, 1.0);
        double r[3] = {0}, u[3];
        solve(&contact, arena, r);
        for (int i = 0; i < 3; i++) {
            u[i] = contact.q[i] + stiff[3 * i] * r[0] + stiff[3 * i + 1] * r[1] + stiff[3 * i + 2] * r[2];
        }
        ENSURE_NEAR(hypot(u[1], u[2]), 0.0, 1e-14);
        ENSURE_NEAR(fmin(r[0], u[0]), 0.0, 1e-14);
        ENSURE((r[0] > 0.0) == !pulls);
    }
    ss_arena_destroy(arena);
}

/* A wheel whose tyre does not slide but rolls with resistance: mu infinite, mu_r finite, and
 * the other way. */
TEST(one_kind_of_friction_may_be_infinite)
{
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    ss_random random = ss_random_start(8, 0);
    for (int k = 0; k < 1000; k++) {
        sample contact = random_sample(&random, k % 2 ? SS_LAW_CONE : SS_LAW_CONVEX, 5);
        double held[MAX] = {0}, r[MAX] = {0}, u[MAX] = {0};
        int first = k % 3 ? 1 : 3;
        *(first == 1 ? &contact.block.mu : &contact.block.mu_rolling) = INFINITY;
        solve(&contact, arena, r);
        for (int i = 0; i < 5; i++) {
            u[i] = contact.q[i];
            held[i] = fabs(u[i]);
            for (int j = 0; j < 5; j++) u[i] += contact.A[5 * i + j] * r[j];
            for (int j = 0; j < 5; j++) held[i] += fabs(contact.A[5 * i + j] * r[j]);
        }
        // tolerance: two solutions of systems with a definiteness of 1e-9
        for (int i = first; i < first + 2; i++) ENSURE_NEAR(u[i] / held[i], 0.0, 1e-7);
        ENSURE(r[0] >= 0.0);
    }
    ss_arena_destroy(arena);
}

/* Two tangents that are the same direction: A has rank 2, and repeated calls find a solution nevertheless. */
TEST(a_singular_contact_settles_in_a_few_calls)
{
    sample contact = {.block = {.law = SS_LAW_CONE, .size = 3, .mu = 0.7}, .q = {-1.0, 0.4, 0.4}};
    double same[9] = {1.0, 0.2, 0.2, 0.2, 1.0, 1.0, 0.2, 1.0, 1.0}, r[3] = {0};
    memcpy(contact.A, same, sizeof same);
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    ss_local_cone cone;
    ENSURE(ss_local_cone_create(&contact.block, contact.A, 1e-14, arena, &cone));
    for (int call = 0; call < 5; call++) cone.solve(cone.data, contact.q, r);
    ENSURE_NEAR(violation(&contact, r), 0.0, 1e-14);
    ss_arena_destroy(arena);
}

/* The same contact in millimetres, tonnes and so on, all powers of two: the same bits. */
TEST(units_do_not_change_a_bit)
{
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    ss_random random = ss_random_start(9, 0);
    for (int k = 0; k < 3000; k++) {
        int n = k % 3 == 0 ? 2 : k % 3 == 1 ? 3 : 5;
        sample contact = random_sample(&random, k % 2 ? SS_LAW_CONE : SS_LAW_CONVEX, n), other = contact;
        double length = 1024.0, mass = 4096.0, r[MAX] = {0}, s[MAX] = {0};
        for (int i = 0; i < n; i++) { // velocities m/s or rad/s, impulses kg m/s or kg m^2/s
            other.q[i] *= i > 2 ? 1.0 : length;
            for (int j = 0; j < n; j++)
                other.A[i * n + j] /= mass * (i > 2 ? length : 1.0) * (j > 2 ? length : 1.0);
        }
        other.block.mu_rolling *= length;
        solve(&contact, arena, r);
        solve(&other, arena, s);
        for (int i = 0; i < n; i++) ENSURE(s[i] == r[i] * mass * length * (i > 2 ? length : 1.0));
    }
    ss_arena_destroy(arena);
}

TEST_MAIN
