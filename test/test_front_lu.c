/* LU by dense fronts, held against dense elimination: any pattern, any part of the nodes, any
 * order of solves. */
#include "base/team.h"
#include "linalg/block_rows.h"
#include "linalg/dense.h"
#include "linalg/front_lu.h"

#include "faults.h"
#include "kit.h"

/* ---- helpers -------------------------------------------------------------------------------------- */

enum { MOST = 240 };

typedef struct sample {
    ss_arena *arena;
    ss_sparse *sparse;
    ss_block_rows *rows;
    int size, nodes;
    int *to;
} sample;

static void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "cannot build a sample: %s\n", what);
    exit(1);
}

/* A path or a grid of nodes of sizes 1 to 6, numbered at random: positive definite by its diagonal,
 * not symmetric. */
static sample make_sample(uint64_t seed, int nodes, int width)
{
    ss_random random = ss_random_start(seed, 0);
    sample s = {.arena = ss_arena_create(1 << 16, NULL), .nodes = nodes};
    int first[MOST + 1] = {0}, owner[MOST], shuffled[MOST];
    for (int k = 0; k < nodes; k++) first[k + 1] = first[k] + 1 + ss_random_below(&random, 6);
    s.size = first[nodes];
    must(s.size <= MOST, "too many unknowns");
    for (int k = 0; k < nodes; k++)
        for (int i = first[k]; i < first[k + 1]; i++) owner[i] = k;
    for (int i = 0; i < s.size; i++) shuffled[i] = i;
    for (int i = s.size - 1; i > 0; i--) {
        int other = ss_random_below(&random, i + 1), kept = shuffled[i];
        shuffled[i] = shuffled[other];
        shuffled[other] = kept;
    }
    static int i[MOST * MOST], j[MOST * MOST];
    static double x[MOST * MOST];
    int count = 0;
    for (int a = 0; a < s.size; a++) {
        for (int b = 0; b < s.size; b++) {
            int apart = abs(owner[a] - owner[b]);
            if (apart > 1 && apart != width) continue;
            if (a != b && ss_random_real(&random) < 0.3) continue; // blocks have holes
            i[count] = shuffled[a];
            j[count] = shuffled[b];
            x[count++] = a == b ? 12.0 : ss_random_between(&random, -1, 1);
        }
    }
    s.sparse = ss_sparse_from_triplets(s.size, s.size, count, i, j, x, NULL);
    s.to = ss_arena_take(s.arena, (size_t)s.size, sizeof *s.to, "to");
    double *one = ss_arena_take(s.arena, (size_t)s.size, sizeof *one, "one");
    for (int a = 0; a < s.size; a++) {
        s.to[shuffled[a]] = a;
        one[a] = 1.0;
    }
    s.rows = ss_block_rows_create(s.sparse, nodes, first, s.to, one, one, s.arena);
    must(s.sparse && s.rows, "out of memory");
    return s;
}

static void free_sample(sample *s)
{
    ss_sparse_destroy(s->sparse);
    ss_arena_destroy(s->arena);
}

/* |b - A x| over active rows, relative to |b|; x is zero outside. */
static double residual(const sample *s, const bool *active, const double *b, const double *x)
{
    double y[MOST], sum = 0.0, size = 0.0;
    ss_block_rows_apply(s->rows, x, y);
    for (int k = 0; k < s->nodes; k++) {
        for (int i = s->rows->first[k]; i < s->rows->first[k + 1]; i++) {
            if (active && !active[k]) continue;
            sum += (b[i] - y[i]) * (b[i] - y[i]);
            size += b[i] * b[i];
        }
    }
    return sqrt(sum / size);
}

/* ---- matrices of blocks --------------------------------------------------------------------------- */

TEST(a_matrix_cut_into_nodes_multiplies_like_the_whole)
{
    sample s = make_sample(1, 40, 7);
    ss_random random = ss_random_start(2, 0);
    double x[MOST], numbered[MOST], y[MOST] = {0}, blocks[MOST];
    for (int i = 0; i < s.size; i++) numbered[s.to[i]] = x[i] = ss_random_normal(&random);
    ss_sparse_apply(s.sparse, x, 1.0, y);
    ss_block_rows_apply(s.rows, numbered, blocks);
    // rounding of sums of 20 terms
    for (int i = 0; i < s.size; i++) ENSURE_NEAR(blocks[s.to[i]], y[i], 1e-13);
    free_sample(&s);
}

TEST(the_pattern_is_symmetric_and_every_entry_knows_its_mirror)
{
    sample s = make_sample(3, 30, 5);
    const ss_block_rows *rows = s.rows;
    for (int i = 0; i < rows->nodes; i++) {
        ENSURE_INT(rows->column[rows->diagonal[i]], i);
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            int j = rows->column[k], mirror = rows->mirror[k];
            ENSURE(k == rows->start[i] || rows->column[k - 1] < j);
            ENSURE(mirror >= rows->start[j] && mirror < rows->start[j + 1]);
            ENSURE_INT(rows->column[mirror], i);
            ENSURE_INT(ss_block_rows_find(rows, i, j), k);
        }
    }
    free_sample(&s);
}

TEST(members_of_a_group_meet)
{
    int start[] = {0, 2, 3, 6}, member[] = {0, 3, 1, 3, 2, 1};
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    ss_block_rows *rows = ss_block_rows_of_groups(5, 6, 3, start, member, arena);
    ENSURE(rows != NULL);
    int row_length[] = {2, 3, 3, 4, 1}; // with itself
    for (int i = 0; i < 5; i++) ENSURE_INT(rows->start[i + 1] - rows->start[i], row_length[i]);
    ENSURE_INT(rows->column[ss_block_rows_find(rows, 0, 3)], 3);
    ENSURE_INT(rows->first[5], 30);
    ss_arena_destroy(arena);
}

/* ---- factors -------------------------------------------------------------------------------------- */

TEST(fronts_solve_like_dense_elimination)
{
    for (int width = 2; width <= 40; width += 19) { // a band, a grid, nearly a path
        sample s = make_sample(10 + (uint64_t)width, 50, width);
        ss_random random = ss_random_start(11, 0);
        static double dense[MOST * MOST];
        int pivot[MOST], n = s.size;
        double b[MOST], x[MOST] = {0}, expected[MOST];
        for (int i = 0; i < n; i++) {
            b[s.to[i]] = expected[i] = ss_random_normal(&random);
            for (int j = 0; j < n; j++) dense[i * n + j] = ss_sparse_get(s.sparse, i, j);
        }
        ENSURE_INT(ss_dense_lu(n, dense, pivot), SS_LINALG_OK);
        ss_dense_lu_solve(n, dense, pivot, SS_AS_IS, expected, 1);
        ss_front_lu *lu = ss_front_lu_create(s.rows, NULL);
        ENSURE(lu != NULL);
        ENSURE_INT(ss_front_lu_factor(lu, s.rows->value, NULL), SS_LINALG_OK);
        ss_front_lu_solve(lu, b, x);
        for (int i = 0; i < n; i++) ENSURE_NEAR(x[s.to[i]], expected[i], 1e-12); // condition below 100
        ss_front_lu_destroy(lu);
        free_sample(&s);
    }
}

/* A + A' of a sample, laid out as the pattern is. */
static double *symmetric_values(const sample *s)
{
    const ss_block_rows *rows = s->rows;
    double *values = ss_arena_take(s->arena, rows->place[rows->start[rows->nodes]], sizeof *values, "values");
    must(values, "out of memory");
    for (int node = 0; node < rows->nodes; node++) {
        for (int k = rows->start[node]; k < rows->start[node + 1]; k++) {
            int n = ss_block_rows_size(rows, node), m = ss_block_rows_size(rows, rows->column[k]);
            const double *own = rows->value + rows->place[k];
            const double *other = rows->value + rows->place[rows->mirror[k]];
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    values[rows->place[k] + (size_t)(i * m + j)] = own[i * m + j] + other[j * n + i];
        }
    }
    return values;
}

TEST(a_symmetric_matrix_takes_half_the_work_and_gives_the_same)
{
    for (int width = 2; width <= 40; width += 19) {
        sample s = make_sample(20 + (uint64_t)width, 50, width);
        ss_random random = ss_random_start(12, 0);
        double b[MOST], x[MOST] = {0}, expected[MOST] = {0}, *values = symmetric_values(&s);
        bool active[MOST];
        for (int k = 0; k < s.nodes; k++) active[k] = k % 7 != 3;
        for (int i = 0; i < s.size; i++) b[i] = ss_random_normal(&random);
        ss_front_lu *lu = ss_front_lu_create(s.rows, NULL), *half = ss_front_lu_create(s.rows, NULL);
        ENSURE(lu != NULL && half != NULL);
        ss_front_lu_use_symmetry(half);
        for (int part = 0; part < 2; part++) {
            ENSURE_INT(ss_front_lu_factor(lu, values, part ? active : NULL), SS_LINALG_OK);
            ENSURE_INT(ss_front_lu_factor(half, values, part ? active : NULL), SS_LINALG_OK);
            ss_front_lu_solve(lu, b, expected);
            ss_front_lu_solve(half, b, x);
            for (int i = 0; i < s.size; i++) ENSURE_NEAR(x[i], expected[i], 1e-12); // condition below 100
        }
        for (size_t k = 0; k < s.rows->place[s.rows->start[s.nodes]]; k++) values[k] = -values[k];
        ENSURE_INT(ss_front_lu_factor(half, values, NULL), SS_LINALG_SINGULAR);
        ss_front_lu_destroy(lu);
        ss_front_lu_destroy(half);
        free_sample(&s);
    }
}

TEST(nodes_that_are_not_active_are_left_out_and_left_alone)
{
    sample s = make_sample(20, 45, 9);
    ss_random random = ss_random_start(21, 0);
    ss_front_lu *lu = ss_front_lu_create(s.rows, NULL);
    for (int round = 0; round < 6; round++) {
        bool active[MOST];
        double b[MOST], x[MOST] = {0};
        for (int k = 0; k < s.nodes; k++) active[k] = ss_random_real(&random) < 0.2 * round;
        for (int i = 0; i < s.size; i++) b[i] = ss_random_normal(&random);
        ENSURE_INT(ss_front_lu_factor(lu, s.rows->value, active), SS_LINALG_OK);
        ss_front_lu_solve(lu, b, x);
        if (round > 0) ENSURE_NEAR(residual(&s, active, b, x), 0.0, 1e-13); // rounding, condition below 100
        for (int k = 0; k < s.nodes; k++)
            for (int i = s.rows->first[k]; i < s.rows->first[k + 1]; i++) ENSURE(active[k] || x[i] == 0.0);
    }
    ss_front_lu_destroy(lu);
    free_sample(&s);
}

TEST(one_factor_serves_new_values_and_many_right_hand_sides)
{
    sample s = make_sample(30, 40, 6);
    ss_random random = ss_random_start(31, 0);
    ss_front_lu *lu = ss_front_lu_create(s.rows, NULL);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < s.nodes; i++) {
            int n = ss_block_rows_size(s.rows, i);
            double *block = s.rows->value + s.rows->place[s.rows->diagonal[i]];
            for (int k = 0; k < n; k++) block[k * n + k] += round;
        }
        ENSURE_INT(ss_front_lu_factor(lu, s.rows->value, NULL), SS_LINALG_OK);
        for (int side = 0; side < 3; side++) {
            double b[MOST], x[MOST];
            for (int i = 0; i < s.size; i++) b[i] = x[i] = ss_random_normal(&random);
            ss_front_lu_solve(lu, x, x); // in place
            ENSURE_NEAR(residual(&s, NULL, b, x), 0.0, 1e-13);
        }
    }
    ss_front_lu_destroy(lu);
    free_sample(&s);
}

TEST(a_zero_matrix_is_singular_and_not_a_number_is_no_pivot)
{
    sample s = make_sample(40, 8, 3);
    ss_front_lu *lu = ss_front_lu_create(s.rows, NULL);
    double values[4096] = {0};
    ENSURE(s.rows->place[s.rows->start[8]] <= 4096);
    ENSURE_INT(ss_front_lu_factor(lu, values, NULL), SS_LINALG_SINGULAR);
    values[0] = NAN;
    ENSURE_INT(ss_front_lu_factor(lu, values, NULL), SS_LINALG_SINGULAR);
    ss_front_lu_destroy(lu);
    free_sample(&s);
}

/* Wherever it stands: it reaches a pivot, and no solution is made of it. */
TEST(a_number_that_is_none_is_found_in_symmetric_matrices_of_any_size)
{
    const double planted[] = {NAN, INFINITY, -INFINITY};
    for (int width = 2; width <= 40; width += 19) {
        sample s = make_sample(60 + (uint64_t)width, 50, width);
        const ss_block_rows *rows = s.rows;
        double *values = symmetric_values(&s);
        ss_front_lu *lu = ss_front_lu_create(rows, NULL);
        ENSURE(lu != NULL);
        ss_front_lu_use_symmetry(lu);
        for (int node = 0; node < rows->nodes; node++)
            for (int k = rows->start[node]; k < rows->start[node + 1]; k++) {
                int n = ss_block_rows_size(rows, node), m = ss_block_rows_size(rows, rows->column[k]);
                double *own = values + rows->place[k], *mirror = values + rows->place[rows->mirror[k]];
                double before = own[m - 1], bad = planted[(node + k) % 3];
                own[m - 1] = mirror[(m - 1) * n] = bad; // the last of the first row
                ENSURE_INT(ss_front_lu_factor(lu, values, NULL), SS_LINALG_SINGULAR);
                own[m - 1] = mirror[(m - 1) * n] = before;
            }
        ENSURE_INT(ss_front_lu_factor(lu, values, NULL), SS_LINALG_OK);
        ss_front_lu_destroy(lu);
        free_sample(&s);
    }
}

TEST(an_empty_matrix_is_solved_by_doing_nothing)
{
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    int start[] = {0};
    ss_block_rows *rows = ss_block_rows_of_groups(0, 6, 0, start, NULL, arena);
    ss_front_lu *lu = ss_front_lu_create(rows, NULL);
    ENSURE(lu != NULL);
    ENSURE_INT(ss_front_lu_factor(lu, rows->value, NULL), SS_LINALG_OK);
    ss_front_lu_solve(lu, NULL, NULL);
    ss_front_lu_destroy(lu);
    ss_arena_destroy(arena);
}

/* A square of bodies of six unknowns, each next to four others: symmetric and dominated by its diagonal. Its
 * fronts are so large that threads share them. */
static ss_block_rows *make_square(int edge, ss_arena *arena)
{
    enum { WIDTH = 6 };
    int bodies = edge * edge, groups = 0, members = 0;
    int *start = ss_arena_take(arena, 2 * (size_t)bodies + 1, sizeof *start, "groups");
    int *member = ss_arena_take(arena, 4 * (size_t)bodies, sizeof *member, "groups");
    for (int b = 0; b < bodies; b++) {
        for (int up = 0; up < 2; up++) {
            if ((up ? b / edge : b % edge) == edge - 1) continue;
            start[groups++] = members;
            member[members++] = b;
            member[members++] = b + (up ? edge : 1);
        }
    }
    start[groups] = members;
    ss_block_rows *rows = ss_block_rows_of_groups(bodies, WIDTH, groups, start, member, arena);
    must(rows != NULL, "out of memory");
    ss_random random = ss_random_start(8, 0);
    for (int i = 0; i < bodies; i++) {
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            double *block = rows->value + rows->place[k],
                   *mirror = rows->value + rows->place[rows->mirror[k]];
            for (int a = 0; a < WIDTH; a++) {
                for (int b = 0; b < WIDTH && rows->column[k] >= i; b++)
                    block[WIDTH * a + b] = mirror[WIDTH * b + a] = ss_random_between(&random, -1, 1);
            }
            for (int a = 0; a < WIDTH && rows->column[k] == i; a++) block[(WIDTH + 1) * a] = 30.0;
        }
    }
    return rows;
}

TEST(any_number_of_threads_eliminates_a_large_matrix_to_the_same_bits)
{
    enum { EDGE = 30, SIZE = 6 * EDGE * EDGE };
    static double b[SIZE], x[SIZE], first[SIZE], y[SIZE];
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    ss_block_rows *rows = make_square(EDGE, arena);
    ss_random random = ss_random_start(9, 0);
    for (int i = 0; i < SIZE; i++) b[i] = ss_random_normal(&random);
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        for (int threads = 0; threads < 4; threads++) {
            ss_team_fix_round_trip(0.0); // all that can be shared is
            ss_team *team = threads ? ss_team_create(threads, NULL) : NULL;
            ss_front_lu *lu = ss_front_lu_create(rows, NULL);
            if (symmetric) ss_front_lu_use_symmetry(lu);
            ss_front_lu_set_team(lu, team);
            for (int round = 0; round < 3; round++) {
                ENSURE_INT(ss_front_lu_factor(lu, rows->value, NULL), SS_LINALG_OK);
                ss_front_lu_solve(lu, b, x);
                if (threads == 0 && round == 0) memcpy(first, x, sizeof x);
                ENSURE(memcmp(x, first, sizeof x) == 0);
            }

            double error = 0.0;
            ss_block_rows_apply(rows, x, y);
            for (int i = 0; i < SIZE; i++) error = fmax(error, fabs(y[i] - b[i]));
            ENSURE(error < 1e-12);

            // a pivot that is none is seen by whoever meets it
            double *pivot = rows->value + rows->place[rows->diagonal[EDGE]], kept = *pivot;
            *pivot = symmetric ? -1e9 : NAN;
            ENSURE_INT(ss_front_lu_factor(lu, rows->value, NULL), SS_LINALG_SINGULAR);
            *pivot = kept;
            ss_front_lu_destroy(lu);
            ss_team_destroy(team);
        }
    }
    ss_arena_destroy(arena);
}

static void check_lack_of_memory(const ss_block_rows *rows, ss_team *team)
{
    for (int n = 1;; n++) {
        faults_start(n);
        ss_error err = {0};
        ss_front_lu *lu = ss_front_lu_create(rows, &err);
        if (!lu) ENSURE_INT(err.code, SS_ERROR_RESOURCES);
        if (lu) ss_front_lu_set_team(lu, team);
        if (lu && ss_front_lu_factor(lu, rows->value, NULL) == SS_LINALG_NO_MEMORY) {
            // the next time it may work
            ENSURE_INT(ss_front_lu_factor(lu, rows->value, NULL), SS_LINALG_OK);
        }
        ss_front_lu_destroy(lu);
        long live = faults.live;
        if (!faults_stop()) break;
        ENSURE_INT(live, 0);
    }
}

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
    sample s = make_sample(50, 20, 4);
    check_lack_of_memory(s.rows, NULL);
    free_sample(&s);

    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    ss_team_fix_round_trip(0.0); // all that can be shared is
    ss_team *team = ss_team_create(2, NULL);
    check_lack_of_memory(make_square(20, arena), team);
    ss_team_destroy(team);
    ss_arena_destroy(arena);
}

TEST_MAIN
