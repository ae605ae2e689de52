/* Sparse matrices and their factorisations. */
#include <stickslip/sparse.h>

#include "linalg/factor.h"
#include "linalg/sparse_search.h"

#include "faults.h"
#include "kit.h"

#include <float.h>
#include <limits.h>

/* ---- helpers: everything is held against dense loops ---------------------------------------------- */

#define MAX_SIZE 40

typedef struct dense {
    int rows, cols;
    double m[MAX_SIZE][MAX_SIZE];
} dense;

static dense to_dense(const ss_sparse *a)
{
    dense d = {.rows = a->rows, .cols = a->cols};
    for (int j = 0; j < a->cols; j++)
        for (int p = a->start[j]; p < a->start[j + 1]; p++) d.m[a->row[p]][j] = a->value[p];
    return d;
}

/* About `count` entries, some of them at the same place; *sum, if given, is what they add up to. */
static ss_sparse *random_sparse(ss_random *random, int rows, int cols, int count, dense *sum)
{
    int i[1000], j[1000];
    double x[1000];
    if (sum) *sum = (dense){.rows = rows, .cols = cols};
    if (rows == 0 || cols == 0) count = 0;
    for (int k = 0; k < count; k++) {
        i[k] = ss_random_below(random, rows);
        j[k] = ss_random_below(random, cols);
        x[k] = ss_random_normal(random);
        if (sum) sum->m[i[k]][j[k]] += x[k];
    }
    return ss_sparse_from_triplets(rows, cols, count, i, j, x, NULL);
}

static double difference(const dense *a, const dense *b)
{
    double worst = a->rows == b->rows && a->cols == b->cols ? 0.0 : INFINITY;
    for (int i = 0; i < a->rows; i++)
        for (int j = 0; j < a->cols; j++) worst = fmax(worst, fabs(a->m[i][j] - b->m[i][j]));
    return worst;
}

/* ---- building ------------------------------------------------------------------------------------- */

TEST(triplets_in_any_order_become_sorted_columns)
{
    int i[] = {2, 0, 1, 2, 0}, j[] = {1, 2, 0, 0, 1};
    double x[] = {5, 4, 1, 2, 3};
    ss_sparse *a = ss_sparse_from_triplets(3, 3, 5, i, j, x, NULL);
    ENSURE(a != NULL && ss_sparse_check(a, NULL));
    int starts[] = {0, 2, 4, 5}, rows[] = {1, 2, 0, 2, 0};
    double values[] = {1, 2, 3, 5, 4};
    ENSURE(memcmp(a->start, starts, sizeof starts) == 0);
    ENSURE(memcmp(a->row, rows, sizeof rows) == 0);
    ENSURE(memcmp(a->value, values, sizeof values) == 0);
    ss_sparse_destroy(a);
    ss_sparse_destroy(NULL);
}

TEST(entries_at_the_same_place_are_added_in_order_and_zeros_stay)
{
    int i[] = {0, 1, 0, 0}, j[] = {0, 0, 0, 0};
    double x[] = {1e16, 0.0, 1.0, -1e16}; // in this order 1e16 + 1 - 1e16 is 0, in another 1
    ss_sparse *a = ss_sparse_from_triplets(2, 1, 4, i, j, x, NULL);
    ENSURE_INT(ss_sparse_nonzeros(a), 2);
    ENSURE(a->value[0] == 0.0 && a->value[1] == 0.0);
    ss_sparse_destroy(a);
}

TEST(random_triplets_add_up)
{
    ss_random random = ss_random_start(1, 0);
    for (int round = 0; round < 200; round++) {
        int rows = ss_random_below(&random, MAX_SIZE), cols = ss_random_below(&random, MAX_SIZE);
        dense expected;
        ss_sparse *a = random_sparse(&random, rows, cols, ss_random_below(&random, 1000), &expected);
        ENSURE(a != NULL && ss_sparse_check(a, NULL));
        dense d = to_dense(a);
        ENSURE(difference(&d, &expected) == 0.0); // same order of additions: same bits
        for (int k = 0; k < 50 && rows && cols; k++) {
            int row = ss_random_below(&random, rows), col = ss_random_below(&random, cols);
            ENSURE(ss_sparse_get(a, row, col) == d.m[row][col]);
        }
        ss_sparse_destroy(a);
    }
}

TEST(an_index_out_of_range_is_named)
{
    int i[] = {0, 3}, j[] = {0, 0}, k[] = {0, -1};
    double x[] = {1, 2};
    ss_error err = {0};
    ENSURE(!ss_sparse_from_triplets(3, 3, 2, i, j, x, &err));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE_TEXT(err.message, "entry 1: row 3, must be in 0..2");
    ENSURE(!ss_sparse_from_triplets(3, 3, 2, j, k, x, &err));
    ENSURE_TEXT(err.message, "entry 1: column -1, must be in 0..2");
}

TEST(sizes_that_32_bits_cannot_count_are_refused)
{
    ss_error err = {0};
    ENSURE(!ss_sparse_create(10, 10, (int64_t)INT_MAX + 1, &err));
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    ENSURE(!ss_sparse_create(10, INT_MAX, 0, &err));
    ENSURE(!ss_sparse_create(INT_MAX, 10, 0, &err));
    ENSURE(!ss_sparse_create(-1, 10, 0, &err));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE(!ss_sparse_create(10, 10, -1, &err));
    ENSURE(!ss_sparse_from_triplets(10, 10, (int64_t)INT_MAX + 1, NULL, NULL, NULL, &err));
    ENSURE_CONTAINS(err.message, "2147483648");
}

TEST(a_product_with_too_many_entries_is_an_error_not_an_overflow)
{
    // A full column times a full row: n^2 entries, 50000^2 > 2^31, while the factors are small.
    enum { n = 50000 };
    int *index = ss_allocate(n, sizeof *index), *zero = ss_allocate(n, sizeof *zero);
    double *x = ss_allocate(n, sizeof *x);
    for (int k = 0; k < n; k++) index[k] = k;
    ss_sparse *column = ss_sparse_from_triplets(n, 1, n, index, zero, x, NULL);
    ss_sparse *row = ss_sparse_from_triplets(1, n, n, zero, index, x, NULL);
    ss_error err = {0};
    ss_sparse *product = ss_sparse_multiply(column, row, &err);
    ss_sparse_destroy(column), ss_sparse_destroy(row);
    ss_release(index), ss_release(zero), ss_release(x);
    ENSURE(!product);
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    ENSURE_CONTAINS(err.message, "2500000000 entries");
}

/* ---- operations ----------------------------------------------------------------------------------- */

TEST(transpose_and_copy_agree_with_dense_loops)
{
    ss_random random = ss_random_start(2, 0);
    for (int round = 0; round < 100; round++) {
        int rows = ss_random_below(&random, MAX_SIZE), cols = ss_random_below(&random, MAX_SIZE);
        ss_sparse *a = random_sparse(&random, rows, cols, 200, NULL);
        ss_sparse *t = ss_sparse_transpose(a, NULL), *c = ss_sparse_copy(a, NULL);
        ENSURE(t && c && ss_sparse_check(t, NULL) && ss_sparse_check(c, NULL));
        dense da = to_dense(a), dt = to_dense(t), dc = to_dense(c), expected = {.rows = cols, .cols = rows};
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) expected.m[j][i] = da.m[i][j];
        ENSURE(difference(&dt, &expected) == 0.0 && difference(&dc, &da) == 0.0);
        ENSURE_INT(ss_sparse_nonzeros(t), ss_sparse_nonzeros(a));
        ss_sparse_destroy(a), ss_sparse_destroy(t), ss_sparse_destroy(c);
    }
}

TEST(products_agree_with_dense_loops)
{
    ss_random random = ss_random_start(3, 0);
    for (int round = 0; round < 100; round++) {
        int m = ss_random_below(&random, MAX_SIZE), k = ss_random_below(&random, MAX_SIZE);
        int n = ss_random_below(&random, MAX_SIZE);
        ss_sparse *a = random_sparse(&random, m, k, 150, NULL), *b = random_sparse(&random, k, n, 150, NULL);
        ss_sparse *c = ss_sparse_multiply(a, b, NULL);
        ENSURE(c && ss_sparse_check(c, NULL));
        dense da = to_dense(a), db = to_dense(b), dc = to_dense(c), expected = {.rows = m, .cols = n};
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l < k; l++) expected.m[i][j] += da.m[i][l] * db.m[l][j];
        ENSURE(difference(&dc, &expected) == 0.0); // same order of additions, zeros change nothing
        ss_sparse_destroy(a), ss_sparse_destroy(b), ss_sparse_destroy(c);
    }
    ss_error err = {0};
    ss_sparse *a = random_sparse(&random, 3, 4, 5, NULL);
    ENSURE(!ss_sparse_multiply(a, a, &err));
    ENSURE_TEXT(err.message, "a 3 x 4 matrix cannot be multiplied by a 3 x 4 one");
    ss_sparse_destroy(a);
}

TEST(application_and_its_transpose_are_adjoint)
{
    ss_random random = ss_random_start(4, 0);
    for (int round = 0; round < 100; round++) {
        int rows = 1 + ss_random_below(&random, MAX_SIZE - 1),
            cols = 1 + ss_random_below(&random, MAX_SIZE - 1);
        ss_sparse *a = random_sparse(&random, rows, cols, 200, NULL);
        dense d = to_dense(a);
        double x[MAX_SIZE], y[MAX_SIZE], ax[MAX_SIZE], expected[MAX_SIZE], aty[MAX_SIZE], left = 0.0,
                                                                                          right = 0.0;
        for (int k = 0; k < MAX_SIZE; k++) {
            x[k] = ss_random_normal(&random), y[k] = ss_random_normal(&random);
            ax[k] = expected[k] = aty[k] = 1.0;
        }
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) expected[i] += -2.0 * d.m[i][j] * x[j];
        ss_sparse_apply(a, x, -2.0, ax);
        ss_sparse_apply_transposed(a, y, -2.0, aty);
        for (int i = 0; i < rows; i++) ENSURE_NEAR(ax[i], expected[i], 1e-13); // rounding of 40 products
        for (int i = 0; i < rows; i++) left += (ax[i] - 1.0) * y[i];
        for (int j = 0; j < cols; j++) right += (aty[j] - 1.0) * x[j];
        ENSURE_NEAR(left, right, 1e-11); // rounding of 200 products of size up to 100
        ss_sparse_destroy(a);
    }
}

/* ---- checks --------------------------------------------------------------------------------------- */

TEST(every_fault_of_structure_is_found_and_named)
{
    int start[] = {0, 2, 3}, row[] = {0, 2, 1};
    double value[] = {1, 2, 3};
    ss_sparse a = {3, 2, start, row, value};
    ss_error err = {0};
    ENSURE(ss_sparse_check(&a, &err));
    start[0] = 1;
    ENSURE(!ss_sparse_check(&a, &err));
    ENSURE_TEXT(err.message, "start[0] = 1, must be 0");
    start[0] = 0, start[1] = 4;
    ENSURE(!ss_sparse_check(&a, &err));
    ENSURE_TEXT(err.message, "start[2] = 3 is below start[1] = 4");
    start[1] = 2, row[2] = 3;
    ENSURE(!ss_sparse_check(&a, &err));
    ENSURE_TEXT(err.message, "row[2] = 3 in column 1, must be in 0..2");
    row[2] = 1, row[1] = 0;
    ENSURE(!ss_sparse_check(&a, &err));
    ENSURE_TEXT(err.message, "row[1] = 0 comes after row 0 in column 0, must ascend");
    row[1] = 2, value[2] = NAN;
    ENSURE(!ss_sparse_check(&a, &err));
    ENSURE_CONTAINS(err.message, "value[2]");
    ENSURE_CONTAINS(err.message, "at (1, 1), must be finite");
    a.cols = -1;
    ENSURE(!ss_sparse_check(&a, &err));
}

TEST(asymmetry_is_measured_relative_to_the_largest_entry)
{
    int i[] = {0, 1, 0, 1}, j[] = {0, 0, 1, 1};
    double x[] = {4, 1, 1, 2};
    ss_sparse *a = ss_sparse_from_triplets(2, 2, 4, i, j, x, NULL);
    ENSURE(ss_sparse_symmetry_error(a) == 0.0);
    a->value[1] = 1.5;
    ENSURE(ss_sparse_symmetry_error(a) == 0.125);
    a->value[1] = NAN;
    ENSURE(isnan(ss_sparse_symmetry_error(a)));
    ss_sparse_destroy(a);
    // the mirrored entry is missing
    ss_sparse *triangle = ss_sparse_from_triplets(2, 2, 1, i + 1, j + 1, x, NULL);
    ENSURE(ss_sparse_symmetry_error(triangle) == 1.0);
    ss_sparse_destroy(triangle);
    ss_sparse *wide = ss_sparse_create(2, 3, 0, NULL), *empty = ss_sparse_create(0, 0, 0, NULL);
    ENSURE(ss_sparse_symmetry_error(wide) == INFINITY && ss_sparse_symmetry_error(empty) == 0.0);
    ss_sparse_destroy(wide), ss_sparse_destroy(empty);
}

TEST(sparse_matrices_survive_every_lack_of_memory)
{
    for (int n = 1;; n++) {
        faults_start(n);
        ss_random random = ss_random_start(5, 0);
        ss_sparse *a = random_sparse(&random, 10, 8, 30, NULL);
        ss_sparse *t = a ? ss_sparse_transpose(a, NULL) : NULL;
        ss_sparse *product = t ? ss_sparse_multiply(a, t, NULL) : NULL;
        ss_sparse *copy = product ? ss_sparse_copy(product, NULL) : NULL;
        bool made = copy != NULL;
        ss_sparse_destroy(a), ss_sparse_destroy(t), ss_sparse_destroy(product), ss_sparse_destroy(copy);
        bool failed = faults_stop();
        ENSURE(made != failed);
        ENSURE_INT(faults.live, 0);
        if (!failed) break;
    }
}

/* ---- factorisations ------------------------------------------------------------------------------- */

typedef struct builder {
    int i[4000], j[4000], count;
    double x[4000];
} builder;

static void put(builder *b, int i, int j, double x)
{
    b->i[b->count] = i;
    b->j[b->count] = j;
    b->x[b->count++] = x;
}

/* [M G'; G -E]: masses, random constraint rows and a little compliance; symmetric quasi-definite. With
 * upper_only the lower triangle is left out. */
static ss_sparse *kkt_matrix(ss_random *random, int bodies, int rows, bool upper_only)
{
    static builder b;
    b.count = 0;
    for (int k = 0; k < bodies; k++) put(&b, k, k, ss_random_between(random, 0.5, 2.0));
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < 4; k++) {
            int body = ss_random_below(random, bodies);
            double x = ss_random_normal(random);
            put(&b, body, bodies + r, x);
            if (!upper_only) put(&b, bodies + r, body, x);
        }
        put(&b, bodies + r, bodies + r, -ss_random_between(random, 0.1, 1.0));
    }
    return ss_sparse_from_triplets(bodies + rows, bodies + rows, b.count, b.i, b.j, b.x, NULL);
}

static double relative_distance(const double *a, const double *b, int n)
{
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
    return size > 0.0 ? worst / size : worst;
}

TEST(ldl_solves_quasi_definite_systems_with_one_analysis)
{
    for (int round = 0; round < 20; round++) {
        ss_random pattern = ss_random_start(6, (uint64_t)round), values = ss_random_start(7, (uint64_t)round);
        int bodies = 30 + round, rows = 10 + round, n = bodies + rows;
        ss_sparse *a = kkt_matrix(&pattern, bodies, rows, false);
        ss_ldl *ldl = ss_ldl_create(a, NULL);
        ENSURE(a && ldl);
        for (int again = 0; again < 3; again++) {
            double x[MAX_SIZE * 3], b[MAX_SIZE * 3] = {0}, found[MAX_SIZE * 3];
            for (int k = 0; k < n; k++) x[k] = ss_random_normal(&values);
            ss_sparse_apply(a, x, 1.0, b);
            ENSURE_INT(ss_ldl_factor(ldl, a), SS_LINALG_OK);
            ENSURE_INT(ss_ldl_solve(ldl, b, found, SS_REFINE_NEVER), SS_LINALG_OK);
            ENSURE(relative_distance(found, x, n) < 1e-12);                    // condition about 100
            ENSURE_INT(ss_ldl_solve(ldl, b, b, SS_REFINE_ONCE), SS_LINALG_OK); // in place
            ENSURE(relative_distance(b, x, n) < 1e-13);
            ENSURE_INT(ss_ldl_pivots(ldl)->negative, rows); // inertia of a quasi-definite matrix
            ENSURE_INT(ss_ldl_pivots(ldl)->tiny, 0);
            for (int p = 0; p < ss_sparse_nonzeros(a); p++) a->value[p] *= 1.5; // other values, same pattern
        }
        ss_ldl_destroy(ldl);
        ss_sparse_destroy(a);
    }
    ss_ldl_destroy(NULL);
}

TEST(ldl_reads_the_upper_triangle_only)
{
    ss_random one = ss_random_start(8, 0), two = one;
    ss_sparse *full = kkt_matrix(&one, 20, 10, false), *upper = kkt_matrix(&two, 20, 10, true);
    double x[30], b[30] = {0}, found[30];
    for (int k = 0; k < 30; k++) x[k] = k;
    ss_sparse_apply(full, x, 1.0, b);
    ss_ldl *ldl = ss_ldl_create(upper, NULL);
    ENSURE_INT(ss_ldl_factor(ldl, upper), SS_LINALG_OK);
    ENSURE_INT(ss_ldl_solve(ldl, b, found, SS_REFINE_ONCE), SS_LINALG_OK);
    ENSURE(relative_distance(found, x, 30) < 1e-13);
    ss_ldl_destroy(ldl);
    ss_sparse_destroy(full), ss_sparse_destroy(upper);
}

/* [1e-8 I, I; I, -T] with T a chain: well conditioned, but the light masses hang on one entry each, so
 * elimination begins with them, and their inverses swamp T. */
static ss_sparse *light_masses_on_a_chain(int count)
{
    static builder b;
    b.count = 0;
    for (int k = 0; k < count; k++) {
        put(&b, k, k, 1e-8);
        put(&b, k, count + k, 1.0);
        put(&b, count + k, k, 1.0);
        put(&b, count + k, count + k, -2.0);
        if (k == 0) continue;
        put(&b, count + k, count + k - 1, 0.7);
        put(&b, count + k - 1, count + k, 0.7);
    }
    return ss_sparse_from_triplets(2 * count, 2 * count, b.count, b.i, b.j, b.x, NULL);
}

TEST(refinement_brings_back_digits_that_tiny_pivots_took)
{
    ss_random random = ss_random_start(9, 0);
    ss_sparse *a = light_masses_on_a_chain(15);
    double x[30], b[30] = {0}, plain[30], refined[30];
    for (int k = 0; k < 30; k++) x[k] = ss_random_normal(&random);
    ss_sparse_apply(a, x, 1.0, b);
    ss_ldl *ldl = ss_ldl_create(a, NULL);
    ENSURE_INT(ss_ldl_factor(ldl, a), SS_LINALG_OK);
    ENSURE_INT(ss_ldl_solve(ldl, b, plain, SS_REFINE_NEVER), SS_LINALG_OK);
    ENSURE_INT(ss_ldl_solve(ldl, b, refined, SS_REFINE_ONCE), SS_LINALG_OK);
    double before = relative_distance(plain, x, 30), after = relative_distance(refined, x, 30);
    ss_ldl_destroy(ldl);
    ss_sparse_destroy(a);
    ENSURE(before > 1e-10); // rounding / 1e-8: there was something to bring back
    ENSURE(after < 1e-14);
}

TEST(ldl_tells_singular_tiny_and_not_finite)
{
    int i[] = {0, 0, 1, 2}, j[] = {0, 1, 1, 2};
    double x[] = {4, 2, 1, 3}; // [4 2; 2 1] is singular
    ss_sparse *a = ss_sparse_from_triplets(3, 3, 4, i, j, x, NULL);
    ss_ldl *ldl = ss_ldl_create(a, NULL);
    ENSURE(ldl != NULL);
    ENSURE_INT(ss_ldl_factor(ldl, a), SS_LINALG_SINGULAR);
    a->value[2] = nextafter(1.0, 2.0); // singular but for one rounding
    ENSURE_INT(ss_ldl_factor(ldl, a), SS_LINALG_OK);
    ENSURE_INT(ss_ldl_pivots(ldl)->tiny, 1);
    ENSURE(ss_ldl_pivots(ldl)->smallest == DBL_EPSILON && ss_ldl_pivots(ldl)->largest == 4.0);
    a->value[2] = INFINITY;
    ENSURE_INT(ss_ldl_factor(ldl, a), SS_LINALG_NOT_FINITE);
    a->value[2] = 2.0; // and it is as good as new
    double b[] = {8, 6, 3};
    ENSURE_INT(ss_ldl_factor(ldl, a), SS_LINALG_OK);
    ENSURE_INT(ss_ldl_solve(ldl, b, b, SS_REFINE_NEVER), SS_LINALG_OK);
    ENSURE_NEAR(b[0], 1.0, 1e-15);
    ENSURE_NEAR(b[1], 2.0, 1e-15);
    ENSURE_NEAR(b[2], 1.0, 1e-15);
    ss_ldl_destroy(ldl);
    ss_sparse_destroy(a);
}

TEST(lu_solves_unsymmetric_systems_with_one_analysis)
{
    for (int round = 0; round < 20; round++) {
        ss_random random = ss_random_start(10, (uint64_t)round);
        static builder b;
        int n = 10 + 5 * round;
        b.count = 0;
        for (int k = 0; k < n; k++) put(&b, (k * 7 + 3) % n, k, 5.0); // a permutation if 7 does not divide n
        for (int k = 0; k < n; k++) put(&b, k, k, 3.0);
        for (int k = 0; k < 3 * n; k++)
            put(&b, ss_random_below(&random, n), ss_random_below(&random, n),
                0.3 * ss_random_normal(&random));
        ss_sparse *a = ss_sparse_from_triplets(n, n, b.count, b.i, b.j, b.x, NULL);
        ss_lu *lu = ss_lu_create(a, NULL);
        ENSURE(a && lu);
        for (int again = 0; again < 2; again++) {
            double x[200], rhs[200] = {0}, found[200];
            for (int k = 0; k < n; k++) x[k] = ss_random_normal(&random);
            ss_sparse_apply(a, x, 1.0, rhs);
            ENSURE_INT(ss_lu_factor(lu, a), SS_LINALG_OK);
            ss_lu_solve(lu, rhs, found, SS_REFINE_NEVER);
            ENSURE(relative_distance(found, x, n) < 1e-11); // condition up to 1000
            ss_lu_solve(lu, rhs, rhs, SS_REFINE_ONCE);
            ENSURE(relative_distance(rhs, x, n) < 1e-11);
            ENSURE_INT(ss_lu_pivots(lu)->tiny, 0);
            for (int p = 0; p < ss_sparse_nonzeros(a); p++) a->value[p] *= -0.7;
        }
        ss_lu_destroy(lu);
        ss_sparse_destroy(a);
    }
    ss_lu_destroy(NULL);
}

TEST(lu_tells_singular_tiny_and_not_finite)
{
    int i[] = {0, 1, 0, 1}, j[] = {0, 0, 1, 1};
    double x[] = {1, 2, 2, 4};
    ss_sparse *a = ss_sparse_from_triplets(2, 2, 4, i, j, x, NULL);
    ss_lu *lu = ss_lu_create(a, NULL);
    ENSURE(lu != NULL);
    ENSURE_INT(ss_lu_factor(lu, a), SS_LINALG_SINGULAR);
    a->value[3] = nextafter(4.0, 5.0);
    ENSURE_INT(ss_lu_factor(lu, a), SS_LINALG_OK);
    ENSURE_INT(ss_lu_pivots(lu)->tiny, 1);
    a->value[0] = NAN;
    ENSURE_INT(ss_lu_factor(lu, a), SS_LINALG_NOT_FINITE);
    a->value[0] = 0.0; // [0 2; 2 4]: needs an exchange of rows
    a->value[3] = 4.0;
    double b[] = {4, 10};
    ENSURE_INT(ss_lu_factor(lu, a), SS_LINALG_OK);
    ss_lu_solve(lu, b, b, SS_REFINE_NEVER);
    ENSURE_NEAR(b[0], 1.0, 1e-15);
    ENSURE_NEAR(b[1], 2.0, 1e-15);
    ss_lu_destroy(lu);
    ss_sparse_destroy(a);
    ss_sparse *hollow = ss_sparse_create(3, 3, 0, NULL); // structurally singular
    lu = ss_lu_create(hollow, NULL);
    ENSURE(lu != NULL);
    ENSURE_INT(ss_lu_factor(lu, hollow), SS_LINALG_SINGULAR);
    ss_lu_destroy(lu);
    ss_sparse_destroy(hollow);
}

TEST(an_empty_system_is_solved_and_a_rectangular_one_refused)
{
    ss_sparse *empty = ss_sparse_create(0, 0, 0, NULL), *wide = ss_sparse_create(2, 3, 0, NULL);
    ss_ldl *ldl = ss_ldl_create(empty, NULL);
    ss_lu *lu = ss_lu_create(empty, NULL);
    ENSURE(ldl && lu);
    ENSURE_INT(ss_ldl_factor(ldl, empty), SS_LINALG_OK);
    ENSURE_INT(ss_lu_factor(lu, empty), SS_LINALG_OK);
    ENSURE_INT(ss_ldl_solve(ldl, NULL, NULL, SS_REFINE_ONCE), SS_LINALG_OK);
    ss_lu_solve(lu, NULL, NULL, SS_REFINE_ONCE);
    ss_error err = {0};
    ENSURE(!ss_ldl_create(wide, &err));
    ENSURE_CONTAINS(err.message, "2 x 3");
    ENSURE(!ss_lu_create(wide, &err));
    ss_ldl_destroy(ldl), ss_lu_destroy(lu);
    ss_sparse_destroy(empty), ss_sparse_destroy(wide);
}

TEST(a_part_of_a_matrix_has_its_entries)
{
    ss_random random = ss_random_start(21, 0);
    int member[] = {1, 4, 5, 11, 19};
    ss_sparse *a = random_sparse(&random, 20, 20, 150, NULL), *part = ss_sparse_part(a, 5, member, NULL);
    ENSURE(part && ss_sparse_check(part, NULL));
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            ENSURE(ss_sparse_get(part, i, j) == ss_sparse_get(a, member[i], member[j]));
    ss_sparse_destroy(a), ss_sparse_destroy(part);
}

TEST(factorisations_survive_every_lack_of_memory_of_ours)
{
    int i[] = {0, 0, 1, 2}, j[] = {0, 1, 1, 2};
    double x[] = {4, 2, 5, 3};
    for (int n = 1;; n++) {
        faults_start(n);
        ss_error err = {0};
        ss_sparse *a = ss_sparse_from_triplets(3, 3, 4, i, j, x, &err);
        ss_ldl *ldl = a ? ss_ldl_create(a, &err) : NULL;
        ss_lu *lu = ldl ? ss_lu_create(a, &err) : NULL;
        bool made = lu != NULL;
        ss_ldl_destroy(ldl), ss_lu_destroy(lu), ss_sparse_destroy(a);
        bool failed = faults_stop();
        ENSURE(made != failed);
        ENSURE(made || err.code == SS_ERROR_RESOURCES);
        ENSURE_INT(faults.live, 0);
        if (!failed) break;
    }
}

TEST_MAIN
