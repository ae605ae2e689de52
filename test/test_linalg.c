/* Small algebra of space: vectors, tensors, rotations, masses. */
#include <stickslip/base.h>

#include "linalg/block_ldl.h"
#include "linalg/mat3.h"
#include "linalg/mat6.h"
#include "linalg/quat.h"
#include "linalg/vec3.h"

#include "kit.h"

#include <float.h>

static ss_vec3 random_vector(ss_random *random)
{
    ss_vec3 v;
    v.x = ss_random_normal(random);
    v.y = ss_random_normal(random);
    v.z = ss_random_normal(random);
    return v;
}

static ss_vec3 random_direction(ss_random *random)
{
    return ss_vec3_normalise(random_vector(random), NULL);
}

static ss_quat random_rotation(ss_random *random)
{
    ss_quat q;
    q.w = ss_random_normal(random);
    q.x = ss_random_normal(random);
    q.y = ss_random_normal(random);
    q.z = ss_random_normal(random);
    return ss_quat_normalise(q);
}

static ss_mat3 random_matrix(ss_random *random)
{
    ss_mat3 a;
    for (int i = 0; i < 9; i++) a.m[i / 3][i % 3] = ss_random_normal(random);
    return a;
}

static double distance(ss_vec3 a, ss_vec3 b)
{
    return ss_vec3_norm(ss_vec3_subtract(a, b));
}

static double difference(ss_mat3 a, ss_mat3 b)
{
    return ss_mat3_max_abs(ss_mat3_add_scaled(a, -1.0, b));
}

/* ---- vectors ------------------------------------------------------------------------------------------- */

TEST(cross_product_is_right_handed_and_orthogonal)
{
    ss_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    ENSURE(distance(ss_vec3_cross(x, y), z) == 0.0);
    ss_random random = ss_random_start(1, 0);
    for (int i = 0; i < 100; i++) {
        ss_vec3 a = random_vector(&random), b = random_vector(&random), c = ss_vec3_cross(a, b);
        ENSURE_NEAR(ss_vec3_dot(a, c), 0.0, 1e-14 * ss_vec3_dot(a, a) * ss_vec3_norm(b)); // rounding
        ENSURE_NEAR(ss_vec3_dot(c, c) + pow(ss_vec3_dot(a, b), 2), ss_vec3_dot(a, a) * ss_vec3_dot(b, b),
                    1e-14 * ss_vec3_dot(a, a) * ss_vec3_dot(b, b)); // Lagrange's identity
    }
}

TEST(a_direction_is_found_for_vectors_of_any_length)
{
    static const double lengths[] = {5e-324, 1e-310, 1e-200, 1.0, 1e200, 3e307};
    for (int i = 0; i < 6; i++) {
        double length;
        ss_vec3 v = {3.0 * lengths[i], 0.0, -4.0 * lengths[i]};
        ss_vec3 unit = ss_vec3_normalise(v, &length);
        ENSURE_NEAR(ss_vec3_norm(unit), 1.0, 4 * DBL_EPSILON); // a few roundings
        if (i > 1) ENSURE_NEAR(unit.x, 0.6, 4 * DBL_EPSILON);
        if (i > 1) ENSURE_NEAR(length / lengths[i], 5.0, 1e-14);
    }
    double length = 1.0;
    ss_vec3 none = ss_vec3_normalise((ss_vec3){0, 0, 0}, &length);
    ENSURE(length == 0.0 && ss_vec3_norm(none) == 0.0);
}

TEST(tangents_complete_a_right_handed_frame)
{
    ss_random random = ss_random_start(2, 0);
    for (int i = 0; i < 1000; i++) {
        ss_vec3 n = random_direction(&random), t1, t2;
        if (i < 3) n = ss_mat3_row(&(ss_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, i);
        if (i == 3) n = ss_vec3_normalise((ss_vec3){1, 1, 1}, NULL);
        ss_vec3_tangents(n, &t1, &t2);
        ss_mat3 frame = ss_mat3_from_rows(n, t1, t2);
        // orthonormal and right-handed to a few roundings
        ENSURE(difference(ss_mat3_multiply(frame, ss_mat3_transpose(frame)), ss_mat3_identity()) <
               8 * DBL_EPSILON);
        ENSURE_NEAR(ss_mat3_determinant(frame), 1.0, 16 * DBL_EPSILON);
    }
}

TEST(tangents_of_the_ground_are_always_the_same)
{
    ss_vec3 t1, t2;
    // smallest component: x, the first of equals; z cross x = y
    ss_vec3_tangents((ss_vec3){0, 0, 1}, &t1, &t2);
    ENSURE(distance(t1, (ss_vec3){0, 1, 0}) == 0.0);
    ENSURE(distance(t2, (ss_vec3){-1, 0, 0}) == 0.0);
}

/* ---- matrices ------------------------------------------------------------------------------------------ */

TEST(skew_is_the_matrix_of_the_cross_product)
{
    ss_random random = ss_random_start(3, 0);
    for (int i = 0; i < 100; i++) {
        ss_vec3 a = random_vector(&random), b = random_vector(&random);
        ENSURE(distance(ss_mat3_apply(ss_mat3_skew(a), b), ss_vec3_cross(a, b)) < 1e-14); // rounding
        ENSURE(distance(ss_mat3_apply_transposed(ss_mat3_skew(a), b), ss_vec3_cross(b, a)) < 1e-14);
        ENSURE(distance(ss_mat3_apply(ss_mat3_outer(a, b), b), ss_vec3_scale(ss_vec3_dot(b, b), a)) < 1e-13);
    }
}

TEST(the_inverse_undoes_the_matrix_in_any_unit)
{
    static const double units[] = {1e-150, 1e-6, 1.0, 1e6, 1e150};
    ss_random random = ss_random_start(4, 0);
    for (int i = 0; i < 500; i++) {
        ss_mat3 a = random_matrix(&random), inverse;
        if (fabs(ss_mat3_determinant(a)) < 0.05) continue; // condition below about 1000
        a = ss_mat3_scale(units[i % 5], a);
        ENSURE(ss_mat3_inverse(a, &inverse));
        ENSURE(difference(ss_mat3_multiply(a, inverse), ss_mat3_identity()) < 1e-11); // 1000 roundings
        ENSURE(difference(ss_mat3_multiply(inverse, a), ss_mat3_identity()) < 1e-11);
    }
}

TEST(cramers_rule_finds_what_the_matrix_was_applied_to)
{
    ss_random random = ss_random_start(5, 0);
    ss_vec3 x = {1.5, -2.0, 0.25}, found;
    for (int i = 0; i < 100; i++) {
        ss_mat3 a = random_matrix(&random);
        if (fabs(ss_mat3_determinant(a)) < 0.05) continue; // condition below about 1000
        ENSURE(ss_mat3_solve(a, ss_mat3_apply(a, x), &found));
        ENSURE(distance(found, x) < 1e-11); // 1000 roundings
    }
    ENSURE(!ss_mat3_solve(ss_mat3_diagonal(1, 0, 1), x, &found));
    ENSURE(!ss_mat3_solve(ss_mat3_diagonal(1, NAN, 1), x, &found));
}

TEST(a_singular_matrix_has_no_inverse)
{
    ss_mat3 inverse = ss_mat3_identity();
    ss_mat3 flat = {{{1, 2, 3}, {2, 4, 6}, {0, 1, 1}}};
    ENSURE(!ss_mat3_inverse(flat, &inverse));
    ENSURE(!ss_mat3_inverse(ss_mat3_diagonal(0, 0, 0), &inverse));
    ENSURE(!ss_mat3_inverse(ss_mat3_diagonal(1, NAN, 1), &inverse));
    ENSURE(!ss_mat3_inverse(ss_mat3_diagonal(1, INFINITY, 1), &inverse));
    ENSURE(difference(inverse, ss_mat3_identity()) == 0.0);
}

TEST(an_inertia_tensor_is_positive_a_saddle_is_not)
{
    ENSURE(ss_mat3_is_positive(ss_mat3_diagonal(1e-12, 1.0, 1e12)));
    ENSURE(!ss_mat3_is_positive(ss_mat3_diagonal(1.0, 0.0, 1.0)));
    ENSURE(!ss_mat3_is_positive(ss_mat3_diagonal(1.0, 1.0, -1e-300)));
    ENSURE(!ss_mat3_is_positive(ss_mat3_diagonal(1.0, NAN, 1.0)));
    ENSURE(!ss_mat3_is_positive(ss_mat3_diagonal(INFINITY, 1.0, 1.0)));
    ss_mat3 saddle = {{{1, 2, 0}, {2, 1, 0}, {0, 0, 1}}};
    ENSURE(!ss_mat3_is_positive(saddle));
    ss_random random = ss_random_start(5, 0);
    for (int i = 0; i < 100; i++) {
        ss_mat3 r = ss_quat_to_matrix(random_rotation(&random));
        ENSURE(ss_mat3_is_positive(ss_mat3_rotate_tensor(r, ss_mat3_diagonal(0.1, 2.0, 30.0))));
        ENSURE(!ss_mat3_is_positive(ss_mat3_rotate_tensor(r, ss_mat3_diagonal(-0.1, 2.0, 30.0))));
    }
}

/* max |A v - lambda v| over the three pairs */
static double eigen_residual(ss_mat3 a, const double values[3], ss_mat3 vectors)
{
    double worst = 0.0;
    for (int k = 0; k < 3; k++) {
        ss_vec3 v = ss_mat3_column(&vectors, k);
        ss_vec3 residual = ss_vec3_subtract(ss_mat3_apply(a, v), ss_vec3_scale(values[k], v));
        worst = fmax(worst, ss_vec3_max_abs(residual));
    }
    return worst;
}

TEST(principal_moments_come_back_from_a_rotated_inertia)
{
    static const double moments[][3] = {{1, 2, 3},
                                        {-2, 0, 5},
                                        {1, 1, 1},
                                        {1, 1, 2},
                                        {1, 1 + 1e-15, 2},
                                        {1e-9, 1, 1e9},
                                        {0, 0, 1},
                                        {0, 0, 0},
                                        {-1e-300, 0, 1e-300},
                                        {1e300, 2e300, 3e300},
                                        {-1, -1, 1},
                                        {1e-16, 1, 1}};
    ss_random random = ss_random_start(6, 0);
    for (int i = 0; i < 1200; i++) {
        const double *expected = moments[i % 12];
        ss_mat3 r = ss_quat_to_matrix(random_rotation(&random)), vectors;
        ss_mat3 a = ss_mat3_rotate_tensor(r, ss_mat3_diagonal(expected[0], expected[1], expected[2]));
        double values[3], size = fmax(fabs(expected[0]), fabs(expected[2]));
        ss_mat3_eigen(a, values, &vectors);
        // backward stable
        for (int k = 0; k < 3; k++) ENSURE_NEAR(values[k], expected[k], 20 * DBL_EPSILON * size);
        ENSURE(eigen_residual(a, values, vectors) <= 20 * DBL_EPSILON * size);
        ENSURE_NEAR(ss_mat3_determinant(vectors), 1.0, 32 * DBL_EPSILON); // right-handed
        ENSURE(values[0] <= values[1] && values[1] <= values[2]);
    }
}

TEST(eigenvalues_of_a_graded_tensor_are_accurate_each)
{
    // Entries of very different size: Jacobi keeps the digits of the small ones, formulas lose them.
    ss_mat3 a = {{{1e20, 1e9, 1e-1}, {1e9, 1.0, 1e-11}, {1e-1, 1e-11, 1e-20}}};
    double values[3];
    ss_mat3_eigen(a, values, NULL);
    ENSURE_NEAR(values[2] / 1e20, 1.0, 1e-15); // each relative to itself; references computed with 60 digits
    ENSURE_NEAR(values[1] / 0.99, 1.0, 1e-15);
    ENSURE_NEAR(values[0] / 9.8181818181818181818e-21, 1.0, 1e-14);
}

TEST(a_tensor_with_nan_has_no_eigenvalues)
{
    ss_mat3 a = ss_mat3_identity();
    a.m[2][0] = NAN;
    double values[3] = {1, 1, 1};
    ss_mat3_eigen(a, values, NULL);
    for (int k = 0; k < 3; k++) ENSURE(isnan(values[k]));
}

/* ---- rotations ----------------------------------------------------------------------------------------- */

TEST(matrix_and_quaternion_rotate_alike)
{
    ss_random random = ss_random_start(7, 0);
    for (int i = 0; i < 500; i++) {
        ss_quat p = random_rotation(&random), q = random_rotation(&random);
        ss_mat3 rp = ss_quat_to_matrix(p), rq = ss_quat_to_matrix(q);
        ss_vec3 v = random_vector(&random);
        ENSURE(distance(ss_quat_rotate(q, v), ss_mat3_apply(rq, v)) < 1e-14); // rounding
        ENSURE(distance(ss_quat_rotate_back(q, ss_quat_rotate(q, v)), v) < 1e-14);
        ENSURE(difference(ss_quat_to_matrix(ss_quat_multiply(p, q)), ss_mat3_multiply(rp, rq)) < 1e-14);
        ENSURE_NEAR(ss_mat3_determinant(rq), 1.0, 1e-14);
    }
}

TEST(a_quaternion_comes_back_from_its_matrix_up_to_sign)
{
    ss_random random = ss_random_start(8, 0);
    for (int i = 0; i < 1000; i++) {
        ss_quat q = random_rotation(&random);
        if (i < 4) q = (ss_quat){i == 0, i == 1, i == 2, i == 3}; // half turns: the scalar part is zero
        ss_quat back = ss_quat_from_matrix(ss_quat_to_matrix(q));
        double cosine = q.w * back.w + q.x * back.x + q.y * back.y + q.z * back.z;
        ENSURE_NEAR(fabs(cosine), 1.0, 1e-14);
    }
}

TEST(a_body_turning_about_z_for_a_quarter_turn)
{
    const double pi = 3.14159265358979323846;
    ss_quat q = ss_quat_identity();
    for (int i = 0; i < 100; i++) q = ss_quat_integrate(q, (ss_vec3){0, 0, pi / 2}, 0.01);
    ENSURE(distance(ss_quat_rotate(q, (ss_vec3){1, 0, 0}), (ss_vec3){0, 1, 0}) < 1e-14); // 100 roundings
}

TEST(the_exponential_map_is_smooth_through_zero_and_exact_for_large_angles)
{
    ss_random random = ss_random_start(9, 0);
    for (int i = 0; i < 500; i++) {
        double angle = pow(10.0, ss_random_between(&random, -20.0, 1.0));
        if (i < 20) angle = 2e-3 * (1.0 + (i - 10) * 1e-9); // on both sides of where the series takes over
        ss_vec3 axis = random_direction(&random);
        ss_quat q = ss_quat_exponential(ss_vec3_scale(angle, axis));
        ENSURE_NEAR(ss_quat_norm(q), 1.0, 4 * DBL_EPSILON);
        ss_vec3 u = {q.x, q.y, q.z};
        // relative accuracy for small angles
        ENSURE_NEAR(ss_vec3_dot(u, axis), sin(angle / 2), 4 * DBL_EPSILON * angle);
    }
    ss_quat none = ss_quat_exponential((ss_vec3){0, 0, 0});
    ENSURE(none.w == 1.0 && none.x == 0.0);
    ss_quat lost = ss_quat_normalise((ss_quat){0, 0, 0, 0});
    ENSURE(lost.w == 1.0);
}

/* ---- masses --------------------------------------------------------------------------------------- */

TEST(impulse_divided_by_mass_is_velocity)
{
    ss_random random = ss_random_start(10, 0);
    for (int i = 0; i < 100; i++) {
        ss_mat3 r = ss_quat_to_matrix(random_rotation(&random));
        ss_mass mass = {ss_random_between(&random, 0.1, 10.0),
                        ss_mat3_rotate_tensor(r, ss_mat3_diagonal(0.1, 0.5, 2.0))};
        ss_mass inverse;
        ENSURE(ss_mass_inverse(&mass, &inverse));
        double v[6], p[6];
        for (int k = 0; k < 6; k++) v[k] = ss_random_normal(&random);
        ss_mass_apply(&mass, v, p);
        ss_mass_apply(&inverse, p, p);                              // in place
        for (int k = 0; k < 6; k++) ENSURE_NEAR(p[k], v[k], 1e-13); // condition 20
    }
    ss_mass none = {0.0, ss_mat3_identity()}, inverse;
    ENSURE(!ss_mass_inverse(&none, &inverse));
}

TEST(a_six_by_six_system_gives_back_the_solution_it_was_made_from)
{
    ss_random random = ss_random_start(11, 0);
    for (int round = 0; round < 100; round++) {
        ss_mat6 b, a = {{{0}}};
        double x[6], rhs[6];
        for (int i = 0; i < 36; i++) b.m[i / 6][i % 6] = ss_random_normal(&random);
        for (int i = 0; i < 6; i++) {
            x[i] = ss_random_normal(&random);
            a.m[i][i] = 1.0; // keeps the condition below about 100
            for (int j = 0; j < 6; j++)
                for (int k = 0; k < 6; k++) a.m[i][j] += b.m[i][k] * b.m[j][k];
        }
        ss_mat6_apply(&a, x, rhs);
        ENSURE(ss_mat6_cholesky(&a));
        ss_mat6_cholesky_solve(&a, rhs);
        for (int i = 0; i < 6; i++) ENSURE_NEAR(rhs[i], x[i], 1e-12);
    }
    ss_mat6 indefinite = {{{1}}};
    ENSURE(!ss_mat6_cholesky(&indefinite));
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

/* A = B'B + 1, with B of random numbers where the graph has links. */
TEST(blocks_of_trees_and_of_loops_are_eliminated)
{
    enum { BLOCKS = 9, MOST = 6 * BLOCKS };
    static const int parents[3][BLOCKS] = {
        {-1, 0, 1, 2, 3, 4, 5, 6, 7}, {-1, 0, 0, 1, 1, 2, 2, 4, 4}, {-1, -1, -1, 0, 1, 2, 3, 4, 5}};
    ss_random random = ss_random_start(3, 0);
    for (int kind = 0; kind < 6; kind++) {
        int first[BLOCKS], rows[BLOCKS], start[BLOCKS + 1] = {0}, neighbour[3 * BLOCKS], n = 0, count = 0;
        bool loops = kind >= 3;
        for (int i = 0; i < BLOCKS; i++) {
            int parent = parents[kind % 3][i];
            first[i] = n;
            n += rows[i] = kind % 3 == 0 ? 3 : 1 + (i * 5) % 6;
            if (parent >= 0) neighbour[count++] = parent;
            if (loops && i > 3 && parent != i - 4) neighbour[count++] = i - 4;
            start[i + 1] = count;
        }

        /* Diagonally dominant, so that it is positive whatever its pattern. */
        static double A[MOST][MOST];
        memset(A, 0, sizeof A);
        for (int i = 0; i < BLOCKS; i++)
            for (int p = start[i]; p <= start[i + 1]; p++) {
                int j = p < start[i + 1] ? neighbour[p] : i;
                for (int r = first[i]; r < first[i] + rows[i]; r++)
                    for (int c = first[j]; c < first[j] + rows[j]; c++)
                        A[r][c] = A[c][r] = ss_random_normal(&random);
            }
        for (int r = 0; r < n; r++) {
            A[r][r] = 1.0;
            for (int c = 0; c < n; c++) A[r][r] += c != r ? fabs(A[r][c]) : 0.0;
        }

        ss_block_ldl *ldl;
        ss_error err = {0};
        ENSURE(
            ss_block_ldl_create(&(ss_block_graph){BLOCKS, first, rows, start, neighbour}, 1e9, &ldl, &err));
        ENSURE(ldl != NULL);
        ss_block_ldl_clear(ldl);
        for (int i = 0; i < BLOCKS; i++)
            for (int p = start[i]; p <= start[i + 1]; p++) {
                int j = p < start[i + 1] ? neighbour[p] : i;
                bool transposed;
                double *to = ss_block_ldl_at(ldl, i, j, &transposed);
                for (int r = 0; r < rows[i]; r++)
                    for (int c = 0; c < rows[j]; c++)
                        to[transposed ? c * rows[i] + r : r * rows[j] + c] = A[first[i] + r][first[j] + c];
            }
        ENSURE(ss_block_ldl_factor(ldl));

        double x[MOST], b[MOST];
        for (int r = 0; r < n; r++) x[r] = ss_random_normal(&random);
        for (int r = 0; r < n; r++) {
            b[r] = 0.0;
            for (int c = 0; c < n; c++) b[r] += A[r][c] * x[c];
        }
        ss_block_ldl_solve(ldl, b);
        for (int r = 0; r < n; r++) ENSURE_NEAR(b[r], x[r], 1e-13);

        /* Indefinite, and too much work. */
        bool transposed;
        ss_block_ldl_clear(ldl);
        ss_block_ldl_at(ldl, 0, 0, &transposed)[0] = -1.0;
        ENSURE(!ss_block_ldl_factor(ldl));
        ss_block_ldl_destroy(ldl);
        ENSURE(ss_block_ldl_create(&(ss_block_graph){BLOCKS, first, rows, start, neighbour}, 10, &ldl, &err));
        ENSURE(ldl == NULL);
    }
}

TEST_MAIN
