/* Dense algebra over BLAS and LAPACK: problems made backwards from known solutions. */
#include "linalg/dense.h"

#include "faults.h"
#include "kit.h"

#include <float.h>

#define MAX_ORDER 60

static double *random_array(ss_random *random, size_t count)
{
    double *array = ss_allocate(count, sizeof *array);
    for (size_t i = 0; i < count; i++) array[i] = ss_random_normal(random);
    return array;
}

/* The plain triple loop: what every product below is held against. */
static void multiply(int rows, int cols, int inner, const double *a, const double *b, double *c)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            c[i * cols + j] = 0.0;
            for (int k = 0; k < inner; k++) c[i * cols + j] += a[i * inner + k] * b[k * cols + j];
        }
}

static void transpose(int rows, int cols, const double *a, double *b)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) b[j * rows + i] = a[i * cols + j];
}

static double distance(const double *a, const double *b, int count)
{
    double worst = 0.0;
    for (int i = 0; i < count; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

/* B B' + I: positive definite, condition of a few hundred for the orders here */
static double *random_positive(ss_random *random, int n)
{
    double *b = random_array(random, (size_t)(n * n)), *bt = ss_allocate((size_t)(n * n), sizeof *bt);
    double *a = ss_allocate((size_t)(n * n), sizeof *a);
    transpose(n, n, b, bt);
    multiply(n, n, n, b, bt, a);
    for (int i = 0; i < n; i++) a[i * n + i] += 1.0;
    ss_release(b);
    ss_release(bt);
    return a;
}

/* What is above the diagonal must not be read. */
static void spoil_upper_triangle(double *a, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) a[i * n + j] = NAN;
}

/* ---- products ------------------------------------------------------------------------------------------ */

TEST(products_agree_with_the_triple_loop)
{
    ss_random random = ss_random_start(1, 0);
    for (int round = 0; round < 60; round++) {
        int m = ss_random_below(&random, 12), n = ss_random_below(&random, 12),
            k = ss_random_below(&random, 12);
        double a[144], b[144], at[144], bt[144], expected[144], c[144];
        for (int i = 0; i < 144; i++) a[i] = ss_random_normal(&random), b[i] = ss_random_normal(&random);
        transpose(m, k, a, at);
        transpose(k, n, b, bt);
        multiply(m, n, k, a, b, expected);
        for (int how = 0; how < 4; how++) {
            for (int i = 0; i < m * n; i++) c[i] = NAN; // beta = 0: not looked at
            ss_dense_multiply(m, n, k, 1.0, how & 1 ? at : a, how & 1 ? SS_TRANSPOSED : SS_AS_IS,
                              how & 2 ? bt : b, how & 2 ? SS_TRANSPOSED : SS_AS_IS, 0.0, c);
            ENSURE(distance(c, expected, m * n) < 1e-13); // rounding of twelve products
            ss_dense_multiply(m, n, k, -2.0, a, SS_AS_IS, b, SS_AS_IS, 2.0, c);
            ENSURE(distance(c, (double[144]){0}, m * n) < 1e-13);
        }
        multiply(m, 1, k, a, b, expected);
        for (int how = 0; how < 2; how++) {
            for (int i = 0; i < m; i++) c[i] = NAN;
            ss_dense_apply(how ? k : m, how ? m : k, 1.0, how ? at : a, how ? SS_TRANSPOSED : SS_AS_IS, b,
                           0.0, c);
            ENSURE(distance(c, expected, m) < 1e-13);
        }
    }
}

/* ---- factorisations ------------------------------------------------------------------------------- */

TEST(cholesky_gives_back_the_solutions_it_was_made_from)
{
    ss_random random = ss_random_start(2, 0);
    for (int n = 0; n <= MAX_ORDER; n += 5) {
        double *a = random_positive(&random, n), *x = random_array(&random, (size_t)(3 * n));
        double *b = ss_allocate((size_t)(3 * n), sizeof *b);
        for (int k = 0; k < 3; k++) multiply(n, 1, n, a, x + k * n, b + k * n);
        spoil_upper_triangle(a, n);
        ENSURE_INT(ss_dense_cholesky(n, a), SS_LINALG_OK);
        ss_dense_cholesky_solve(n, a, b, 3);
        ENSURE(distance(b, x, 3 * n) < 1e-10); // condition times rounding
        ss_release(a), ss_release(x), ss_release(b);
    }
}

TEST(cholesky_refuses_what_is_not_positive)
{
    double saddle[] = {1, 0, 2, 1}, zero[] = {0}, nan[] = {NAN}, infinite[] = {INFINITY, 0, 1, 1};
    ENSURE_INT(ss_dense_cholesky(2, saddle), SS_LINALG_NOT_POSITIVE);
    ENSURE_INT(ss_dense_cholesky(1, zero), SS_LINALG_NOT_POSITIVE);
    ENSURE_INT(ss_dense_cholesky(1, nan), SS_LINALG_NOT_FINITE);
    ENSURE_INT(ss_dense_cholesky(2, infinite), SS_LINALG_NOT_FINITE);
}

TEST(lu_gives_back_the_solutions_it_was_made_from)
{
    ss_random random = ss_random_start(3, 0);
    for (int n = 0; n <= MAX_ORDER; n += 5) {
        double *a = random_array(&random, (size_t)(n * n)), *x = random_array(&random, (size_t)(2 * n));
        double *b = ss_allocate((size_t)(2 * n), sizeof *b), *at = ss_allocate((size_t)(n * n), sizeof *at);
        int pivot[MAX_ORDER];
        for (int i = 0; i < n; i++) {
            a[i * n + (i + n / 3) % n] += 2.0 * sqrt(n); // keeps the condition low, away from the diagonal
        }
        transpose(n, n, a, at);
        multiply(n, 1, n, a, x, b);
        multiply(n, 1, n, at, x + n, b + n);
        ENSURE_INT(ss_dense_lu(n, a, pivot), SS_LINALG_OK);
        ss_dense_lu_solve(n, a, pivot, SS_AS_IS, b, 1);
        ss_dense_lu_solve(n, a, pivot, SS_TRANSPOSED, b + n, 1);
        ENSURE(distance(b, x, 2 * n) < 1e-11);
        ss_release(a), ss_release(x), ss_release(b), ss_release(at);
    }
}

TEST(lu_tells_singular_and_not_finite)
{
    int pivot[2];
    double singular[] = {1, 2, 2, 4}, nan[] = {1, NAN, 2, 4};
    ENSURE_INT(ss_dense_lu(2, singular, pivot), SS_LINALG_SINGULAR);
    ENSURE_INT(ss_dense_lu(2, nan, pivot), SS_LINALG_NOT_FINITE);
}

TEST(ldl_solves_saddle_points)
{
    ss_random random = ss_random_start(4, 0);
    ss_arena *scratch = ss_arena_create(0, NULL);
    for (int n = 0; n <= MAX_ORDER; n += 4) {
        double *a = random_positive(&random, n), *x = random_array(&random, (size_t)(2 * n));
        double *b = ss_allocate((size_t)(2 * n), sizeof *b);
        int pivot[MAX_ORDER];
        for (int i = n / 2; i < n; i++) // [P G'; G 0]: zero diagonal block, indefinite
            for (int j = n / 2; j < n; j++) a[i * n + j] = 0.0;
        for (int k = 0; k < 2; k++) multiply(n, 1, n, a, x + k * n, b + k * n);
        spoil_upper_triangle(a, n);
        ENSURE_INT(ss_dense_ldl(n, a, pivot, scratch), SS_LINALG_OK);
        ss_dense_ldl_solve(n, a, pivot, b, 2);
        ENSURE(distance(b, x, 2 * n) < 1e-8); // G is a random square matrix, condition up to 1e4
        ENSURE_INT(ss_arena_used(scratch), 0);
        ss_release(a), ss_release(x), ss_release(b);
    }
    int pivot[2];
    double singular[] = {1, 0, 2, 4}, nan[] = {1, 0, NAN, 4};
    ENSURE_INT(ss_dense_ldl(2, singular, pivot, scratch), SS_LINALG_SINGULAR);
    ENSURE_INT(ss_dense_ldl(2, nan, pivot, scratch), SS_LINALG_NOT_FINITE);
    ss_arena_destroy(scratch);
}

/* ---- decompositions ------------------------------------------------------------------------------- */

/* left (rows x rank) times right (rank x cols) */
static double *random_of_rank(ss_random *random, int rows, int cols, int rank)
{
    double *left = random_array(random, (size_t)(rows * rank)),
           *right = random_array(random, (size_t)(rank * cols));
    double *a = ss_allocate((size_t)(rows * cols), sizeof *a);
    multiply(rows, cols, rank, left, right, a);
    ss_release(left);
    ss_release(right);
    return a;
}

TEST(rank_is_found_for_every_shape)
{
    ss_random random = ss_random_start(5, 0);
    ss_arena *scratch = ss_arena_create(0, NULL);
    for (int round = 0; round < 100; round++) {
        int rows = 1 + ss_random_below(&random, 20), cols = 1 + ss_random_below(&random, 20), found;
        int rank = ss_random_below(&random, 1 + (rows < cols ? rows : cols));
        double *a = random_of_rank(&random, rows, cols, rank);
        ENSURE_INT(ss_dense_rank(rows, cols, a, 1e-10, &found, scratch), SS_LINALG_OK);
        ENSURE_INT(found, rank);
        ss_release(a);
    }
    int found = -1;
    ENSURE_INT(ss_dense_rank(0, 5, NULL, -1.0, &found, scratch), SS_LINALG_OK);
    ENSURE_INT(found, 0);
    ENSURE_INT(ss_dense_rank(2, 2, (double[]){1, 0, 0, 1e-17}, -1.0, &found, scratch), SS_LINALG_OK);
    ENSURE_INT(found, 1);
    ss_arena_destroy(scratch);
}

/* Of all x with A'(A x - b) = 0 the shortest is the one in the row space: x = A' y for some y. */
TEST(least_squares_finds_the_shortest_of_the_best)
{
    ss_random random = ss_random_start(6, 0);
    ss_arena *scratch = ss_arena_create(0, NULL);
    for (int round = 0; round < 100; round++) {
        int rows = 1 + ss_random_below(&random, 15), cols = 1 + ss_random_below(&random, 15), found;
        int rank = 1 + ss_random_below(&random, rows < cols ? rows : cols);
        double *a = random_of_rank(&random, rows, cols, rank),
               *at = ss_allocate((size_t)(rows * cols), sizeof *at);
        double y[15], b[15], x[15], expected[15], noise[15], unwanted[15];
        transpose(rows, cols, a, at);
        for (int i = 0; i < 15; i++) y[i] = ss_random_normal(&random), noise[i] = ss_random_normal(&random);
        multiply(cols, 1, rows, at, y, expected); // in the row space
        multiply(rows, 1, cols, a, expected, b);
        // Noise orthogonal to the range of A must not change the answer: n - A (A^+ n).
        ENSURE_INT(ss_dense_least_squares(rows, cols, a, noise, 1e-10, x, NULL, scratch), SS_LINALG_OK);
        multiply(rows, 1, cols, a, x, unwanted);
        for (int i = 0; i < rows; i++) b[i] += noise[i] - unwanted[i];
        ENSURE_INT(ss_dense_least_squares(rows, cols, a, b, 1e-10, x, &found, scratch), SS_LINALG_OK);
        ENSURE_INT(found, rank);
        // condition of A up to 1e4, squared
        ENSURE(distance(x, expected, cols) < 1e-6 * (1.0 + fabs(expected[0])));
        ENSURE_INT(ss_arena_used(scratch), 0);
        ss_release(a), ss_release(at);
    }
    ss_arena_destroy(scratch);
}

/* Regular: the solution it was made from. Of lower rank: the shortest, as by least squares; none where the
 * right-hand side contradicts. */
TEST(elimination_finds_the_smallest_solution_or_the_contradiction)
{
    ss_random random = ss_random_start(8, 0);
    ss_arena *scratch = ss_arena_create(0, NULL);
    for (int round = 0; round < 100; round++) {
        int n = 2 + ss_random_below(&random, 12), rank = round % 2 ? n : 1 + ss_random_below(&random, n - 1);
        double *a = random_of_rank(&random, n, n, rank), y[15], b[15], x[15], shortest[15];
        for (int i = 0; i < n; i++) y[i] = ss_random_normal(&random);
        multiply(n, 1, n, a, y, b);
        ENSURE_INT(ss_dense_solve_smallest(n, a, b, 1e-10, 1e-8, x, scratch), SS_LINALG_OK);
        ENSURE_INT(ss_dense_least_squares(n, n, a, b, 1e-10, shortest, NULL, scratch), SS_LINALG_OK);
        // condition of A up to 1e4, and rounding
        ENSURE(distance(x, rank == n ? y : shortest, n) < 1e-8 * (1.0 + fabs(y[0])));
        for (int i = 0; i < n; i++) b[i] += ss_random_normal(&random);
        bool solves = ss_dense_solve_smallest(n, a, b, 1e-10, 1e-8, x, scratch) == SS_LINALG_OK;
        ENSURE_INT(solves, rank == n);
        ENSURE_INT(ss_arena_used(scratch), 0);
        ss_release(a);
    }
    ss_arena_destroy(scratch);
}

TEST(decompositions_handle_nothing_and_nan)
{
    ss_arena *scratch = ss_arena_create(0, NULL);
    double x[2] = {5, 5}, bad[] = {1, NAN, 0, 1}, good[] = {1, 0, 0, 1}, vectors[4];
    int rank = 7;
    ENSURE_INT(ss_dense_least_squares(0, 2, NULL, NULL, -1.0, x, &rank, scratch), SS_LINALG_OK);
    ENSURE(x[0] == 0.0 && x[1] == 0.0 && rank == 0);
    ENSURE_INT(ss_dense_least_squares(2, 2, bad, x, -1.0, x, &rank, scratch), SS_LINALG_NOT_FINITE);
    ENSURE_INT(ss_dense_least_squares(2, 2, good, bad, -1.0, x, &rank, scratch), SS_LINALG_NOT_FINITE);
    ENSURE_INT(ss_dense_singular_values(2, 2, bad, x, scratch), SS_LINALG_NOT_FINITE);
    ENSURE_INT(ss_dense_singular_values(0, 0, NULL, x, scratch), SS_LINALG_OK);
    ENSURE_INT(ss_dense_symmetric_eigen(0, NULL, NULL, NULL, scratch), SS_LINALG_OK);
    // upper triangle: not read
    ENSURE_INT(ss_dense_symmetric_eigen(2, bad, x, vectors, scratch), SS_LINALG_OK);
    bad[2] = NAN;
    ENSURE_INT(ss_dense_symmetric_eigen(2, bad, x, vectors, scratch), SS_LINALG_NOT_FINITE);
    ss_arena_destroy(scratch);
}

TEST(eigenvalues_of_a_chain_of_springs)
{
    enum { n = 20 }; // 2 on the diagonal, -1 beside it: 4 sin^2(k pi / (2 (n + 1)))
    const double pi = 3.14159265358979323846;
    double a[n * n] = {0}, values[n], only_values[n], vectors[n * n], singular[n];
    for (int i = 0; i < n; i++) a[i * n + i] = 2.0;
    for (int i = 1; i < n; i++) a[i * n + i - 1] = a[(i - 1) * n + i] = -1.0;
    ss_arena *scratch = ss_arena_create(0, NULL);
    ENSURE_INT(ss_dense_symmetric_eigen(n, a, values, vectors, scratch), SS_LINALG_OK);
    ENSURE_INT(ss_dense_symmetric_eigen(n, a, only_values, NULL, scratch), SS_LINALG_OK);
    ENSURE_INT(ss_dense_singular_values(n, n, a, singular, scratch), SS_LINALG_OK);
    for (int k = 0; k < n; k++) {
        double expected = 4.0 * pow(sin((k + 1) * pi / (2 * (n + 1))), 2);
        ENSURE_NEAR(values[k], expected, 1e-14); // backward stable, norm 4
        ENSURE_NEAR(only_values[k], expected, 1e-14);
        ENSURE_NEAR(singular[n - 1 - k], expected, 1e-14); // positive definite: the same, descending
        double moved[n];
        multiply(n, 1, n, a, vectors + k * n, moved);
        for (int i = 0; i < n; i++) ENSURE_NEAR(moved[i], values[k] * vectors[k * n + i], 1e-14);
    }
    ss_arena_destroy(scratch);
}

/* ---- promises ------------------------------------------------------------------------------------- */

static void factor_many(int64_t begin, int64_t end, int worker, void *context)
{
    double *answers = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        ss_random random = ss_random_start(99, (uint64_t)i);
        int n = 20 + (int)i;
        double *a = random_positive(&random, n), *x = random_array(&random, (size_t)n);
        if (ss_dense_cholesky(n, a) == SS_LINALG_OK) ss_dense_cholesky_solve(n, a, x, 1);
        for (int k = 0; k < n; k++) answers[i] += x[k];
        ss_release(a), ss_release(x);
    }
}

TEST(blas_gives_the_same_bits_in_any_number_of_threads)
{
    enum { count = 40 };
    double alone[count] = {0};
    ss_parallel_for(NULL, count, 1, factor_many, alone);
    for (int workers = 2; workers <= 8; workers += 3) {
        double together[count] = {0};
        ss_team *team = ss_team_create(workers, NULL);
        ss_parallel_for(team, count, 1, factor_many, together);
        ss_team_destroy(team);
        ENSURE(memcmp(alone, together, sizeof alone) == 0);
    }
}

extern int openblas_get_num_threads(void) __attribute__((weak));

TEST(blas_runs_one_thread)
{
    if (!openblas_get_num_threads) SKIP("another BLAS than OpenBLAS");
    ss_blas_use_one_thread();
    ENSURE_INT(openblas_get_num_threads(), 1);
}

TEST(decompositions_survive_every_lack_of_memory)
{
    static const double a[] = {4, 1, 0, 1, 3, 1, 0, 1, 2};
    for (int n = 1;; n++) {
        double values[3], vectors[9], x[3], copy[9];
        int rank, pivot[3];
        memcpy(copy, a, sizeof copy);
        faults_start(n);
        ss_arena *scratch = ss_arena_create(0, NULL);
        ss_linalg_status status = scratch ? SS_LINALG_OK : SS_LINALG_NO_MEMORY;
        if (status == SS_LINALG_OK) status = ss_dense_symmetric_eigen(3, a, values, vectors, scratch);
        if (status == SS_LINALG_OK) status = ss_dense_rank(3, 3, a, -1.0, &rank, scratch);
        if (status == SS_LINALG_OK) status = ss_dense_least_squares(3, 3, a, a, -1.0, x, &rank, scratch);
        if (status == SS_LINALG_OK) status = ss_dense_ldl(3, copy, pivot, scratch);
        ss_arena_destroy(scratch);
        bool failed = faults_stop();
        // Blocks that could not be joined after a reset are no failure: the work goes on in the old ones.
        ENSURE(status == SS_LINALG_OK || (failed && status == SS_LINALG_NO_MEMORY));
        ENSURE_INT(faults.live, 0);
        if (!failed) break;
    }
}

TEST(an_outcome_becomes_an_error_for_those_who_need_one)
{
    ss_error err = {0};
    ENSURE(ss_linalg_check(SS_LINALG_OK, "mass matrix", &err));
    ENSURE(!ss_linalg_check(SS_LINALG_SINGULAR, "mass matrix", &err));
    ENSURE_TEXT(err.message, "mass matrix: the matrix is singular");
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE(!ss_linalg_check(SS_LINALG_NO_MEMORY, "mass matrix", &err));
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
}

TEST_MAIN
