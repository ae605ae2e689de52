/* Cone problems: the cone itself, known solutions, planted errors, both forms, and what is refused. */
#include "faults.h"
#include "kit.h"
#include "known_cone.h"

#include "problem/cone.h"

/* ---- the friction cone ---------------------------------------------------------------------------- */

typedef struct optimality {
    double outside;      /* how far the projection is from K */
    double outside_dual; /* how far projection - y is from K* */
    double product;      /* projection . (projection - y) */
} optimality;

static double part_norm(const double *y, int from, int count)
{
    return count > 0 ? norm_of(y + from, count) : 0.0;
}

/* x = P_K(y) exactly when x is in K, x - y in K* = { w_N >= mu |w_T| + rho |w_M| }, and they
 * are orthogonal. */
static optimality judge(ss_friction_cone cone, const double *y, const double *x)
{
    double w[5], product = 0.0;
    int tangents = cone.dimension == 2 ? 1 : 2, moments = cone.dimension == 5 ? 2 : 0;
    for (int i = 0; i < cone.dimension; i++) {
        w[i] = x[i] - y[i];
        product += x[i] * w[i];
    }
    double out_t = part_norm(x, 1, tangents) - cone.mu * x[0];
    double out_m = moments ? part_norm(x, 3, 2) - cone.mu_rolling * x[0] : 0.0;
    double dual = cone.mu * part_norm(w, 1, tangents) + cone.mu_rolling * part_norm(w, 3, moments) - w[0];
    return (optimality){fmax(fmax(out_t, out_m), -x[0]), dual, fabs(product)};
}

static void project_random_points(int dimension, uint64_t seed)
{
    ss_random random = ss_random_start(seed, 0);
    for (int k = 0; k < 20000; k++) {
        double y[5], x[5];
        ss_friction_cone cone = {dimension,
                                 ss_random_below(&random, 8) ? ss_random_between(&random, 0, 2) : 0.0, 0.0};
        if (dimension == 5 && ss_random_below(&random, 8)) cone.mu_rolling = ss_random_between(&random, 0, 2);
        for (int i = 0; i < dimension; i++)
            x[i] = y[i] = ss_random_below(&random, 10) ? ss_random_normal(&random) : 0.0;
        ss_friction_cone_project(cone, x);
        optimality found = judge(cone, y, x);
        // tolerance: a few roundings of numbers below 10
        ENSURE_NEAR(fmax(found.outside, 0.0), 0.0, 1e-15 * 10);
        ENSURE_NEAR(fmax(found.outside_dual, 0.0), 0.0, 1e-15 * 20);
        ENSURE_NEAR(found.product, 0.0, 1e-15 * 40);
    }
}

TEST(projection_is_the_nearest_point_of_a_planar_cone)
{
    project_random_points(2, 1);
}

TEST(projection_is_the_nearest_point_of_a_spatial_cone)
{
    project_random_points(3, 2);
}

TEST(projection_is_the_nearest_point_of_a_rolling_cone)
{
    project_random_points(5, 3);
}

TEST(projection_leaves_the_cone_and_finds_the_apex)
{
    ss_friction_cone cone = {5, 0.5, 0.1};
    double inside[5] = {1.0, 0.3, -0.2, 0.05, 0.05}, polar[5] = {-1.0, 0.5, 0.5, 0.1, 0.0};
    double before[5];
    memcpy(before, inside, sizeof before);
    ss_friction_cone_project(cone, inside);
    ENSURE(memcmp(before, inside, sizeof before) == 0);
    ss_friction_cone_project(cone, polar);
    for (int i = 0; i < 5; i++) ENSURE_NEAR(polar[i], 0.0, 0.0);
}

TEST(projection_without_friction_keeps_only_the_normal_part)
{
    double y[3] = {2.0, 5.0, -7.0};
    ss_friction_cone_project((ss_friction_cone){3, 0.0, 0.0}, y);
    ENSURE_NEAR(y[0], 2.0, 0.0);
    ENSURE_NEAR(y[1], 0.0, 0.0);
    ENSURE_NEAR(y[2], 0.0, 0.0);
}

TEST(sliding_shifts_the_normal_velocity_by_mu_times_speed)
{
    double u[5] = {0.5, 3.0, 4.0, 0.6, 0.8};
    ss_friction_cone_shift((ss_friction_cone){5, 0.2, 0.1}, u);
    ENSURE_NEAR(u[0], 0.5 + 0.2 * 5.0 + 0.1 * 1.0, 1e-15); // one rounding
}

/* ---- factorisation -------------------------------------------------------------------------------- */

TEST(block_lu_solves_matrices_of_blocks_and_full_ones)
{
    ss_error err;
    ss_random random = ss_random_start(4, 0);
    for (int n = 1; n <= 40; n += 3) {
        // diagonally heavy but unsymmetric, so that it is regular; sparse ones fall into blocks
        ss_sparse *A = random_matrix(&random, n, n, n % 2 ? 0.05 : 0.5);
        double *diagonal = calloc((size_t)n, sizeof *diagonal), *x = calloc((size_t)n, sizeof *x);
        for (int i = 0; i < n; i++) diagonal[i] = i % 3 ? 3.0 : -20.0;
        ss_sparse *B = ss_cone_add_diagonal(A, diagonal, &err);
        ENSURE(B);
        int deficient;
        ss_block_lu *lu = ss_block_lu_factor(B, 1e-15, &deficient, &err);
        ENSURE(lu);
        double *b = calloc((size_t)n, sizeof *b);
        for (int i = 0; i < n; i++) b[i] = x[i] = ss_random_between(&random, -1, 1);
        ENSURE(ss_block_lu_solve(lu, x, &err));
        ss_sparse_apply(B, x, -1.0, b);
        ENSURE_NEAR(norm_of(b, n), 0.0, 1e-13); // rounding of n <= 40 terms, condition below 100

        ss_sparse *right = random_matrix(&random, n, 7, 0.2);
        ss_sparse *solution = ss_block_lu_solve_sparse(lu, right, &err);
        ENSURE(solution);
        ss_sparse *product = ss_sparse_multiply(B, solution, &err);
        ENSURE(ss_sparse_check(solution, &err));
        ENSURE_NEAR(matrix_difference(product, right), 0.0, 1e-13); // as above
        ss_block_lu_destroy(lu);
        ss_sparse_destroy(A), ss_sparse_destroy(B);
        ss_sparse_destroy(right), ss_sparse_destroy(solution), ss_sparse_destroy(product);
        free(diagonal), free(x), free(b);
    }
}

TEST(block_lu_exchanges_rows_where_the_diagonal_is_zero)
{
    ss_error err;
    int deficient;
    ss_sparse *A =
        ss_sparse_from_triplets(3, 3, 3, (int[]){1, 2, 0}, (int[]){0, 1, 2}, (double[]){2, 4, 8}, &err);
    ss_block_lu *lu = ss_block_lu_factor(A, 1e-15, &deficient, &err);
    ENSURE(lu);
    double x[3] = {8, 2, 4};
    ENSURE(ss_block_lu_solve(lu, x, &err));
    for (int i = 0; i < 3; i++) ENSURE_NEAR(x[i], 1.0, 0.0);
    ss_block_lu_destroy(lu);
    ss_sparse_destroy(A);
}

TEST(block_lu_names_the_column_that_depends_on_others)
{
    ss_error err;
    int deficient = -2;
    ss_sparse *A = ss_sparse_from_triplets(3, 3, 5, (int[]){0, 1, 1, 2, 2}, (int[]){0, 1, 2, 1, 2},
                                           (double[]){5, 1, 2, 3, 6}, &err);
    ENSURE(!ss_block_lu_factor(A, 1e-15, &deficient, &err));
    ENSURE(deficient == 1 || deficient == 2);
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ss_sparse_destroy(A);
}

/* ---- known solutions ------------------------------------------------------------------------------ */

static const int dimensions[3] = {2, 3, 5};

static void check_known(const ss_cone *cone, const ss_cone_point *point)
{
    ss_cone_residual residual;
    ss_error err;
    ss_findings findings = {0};
    ENSURE(ss_cone_check(cone, "", &findings));
    ENSURE_INT(findings.count, 0);
    ENSURE(ss_cone_residual_of(cone, point, &residual, &err));
    // tolerance: rounding of some hundred terms, condition number of W and R below 1e3
    ENSURE_NEAR(residual.natural_map, 0.0, 1e-12);
    ENSURE_NEAR(residual.velocity, 0.0, 1e-12);
    ENSURE_NEAR(residual.balance, 0.0, 1e-12);
    ENSURE_NEAR(residual.bilateral, 0.0, 1e-12);
    ENSURE(residual.worst_contact >= 0 && residual.worst_contact < cone->contacts);
}

TEST(sticking_slipping_rolling_and_open_contacts_solve_a_local_problem)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        ss_cone_point point;
        ss_cone *cone = known_local(seed, dimensions[seed % 3], 12, seed % 2 ? 5 : 0, &point);
        check_known(cone, &point);
        ss_cone_point_free(&point);
        ss_cone_destroy(cone);
    }
}

TEST(sticking_slipping_rolling_and_open_contacts_solve_a_global_problem)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        ss_cone_point point;
        ss_cone *cone = known_global(seed, dimensions[seed % 3], 8, 12, seed % 2 ? 5 : 0, &point);
        check_known(cone, &point);
        ss_cone_point_free(&point);
        ss_cone_destroy(cone);
    }
}

/* ---- planted errors ------------------------------------------------------------------------------- */

/* One contact with W = 1: u = r + q. */
static ss_cone *unit_contact(double mu, const double q[3])
{
    ss_error err;
    ss_cone *cone = known(ss_cone_create(SS_CONE_LOCAL, 3, 1, 0, 0, &err), &err);
    cone->W =
        known(ss_sparse_from_triplets(3, 3, 3, (int[]){0, 1, 2}, (int[]){0, 1, 2}, (double[]){1, 1, 1}, &err),
              &err);
    cone->mu[0] = mu;
    memcpy(cone->q, q, 3 * sizeof *q);
    return cone;
}

static double natural_map_at(const ss_cone *cone, double n, double t1, double t2)
{
    double r[3] = {n, t1, t2};
    ss_cone_residual residual;
    ss_cone_point point = {.r = r};
    return ss_cone_residual_of(cone, &point, &residual, NULL) ? residual.natural_map : NAN;
}

TEST(pushing_an_open_contact_with_3_mNs_reads_3_mNs)
{
    ss_cone *cone = unit_contact(0.5, (double[]){1.0, 0.0, 0.0});
    ENSURE_NEAR(natural_map_at(cone, 0.0, 0.0, 0.0), 0.0, 0.0);
    ENSURE_NEAR(natural_map_at(cone, 0.003, 0.0, 0.0), 0.003, 1e-17); // |q| = 1; one rounding
    ss_cone_destroy(cone);
}

TEST(creep_of_3_mm_per_s_at_a_sticking_contact_reads_its_size)
{
    // sticks at r = (2, 0, 0); with r_T = 0.003 it creeps at 3 mm/s, and De Saxce's term adds mu times that
    double mu = 0.5, creep = 0.003, q = 2.0;
    ss_cone *cone = unit_contact(mu, (double[]){-q, 0.0, 0.0});
    ENSURE_NEAR(natural_map_at(cone, 2.0, 0.0, 0.0), 0.0, 0.0);
    ENSURE_NEAR(natural_map_at(cone, 2.0, creep, 0.0), creep * sqrt(1.0 + mu * mu) / q, 1e-16); // rounding
    ss_cone_destroy(cone);
}

TEST(penetration_velocity_of_an_unloaded_contact_reads_its_size)
{
    ss_cone *cone = unit_contact(0.0, (double[]){-0.25, 0.0, 0.0});
    ENSURE_NEAR(natural_map_at(cone, 0.0, 0.0, 0.0), 1.0, 0.0); // |u_N| / |q|
    ss_cone_destroy(cone);
}

TEST(wrong_stored_velocities_and_multipliers_are_told_apart)
{
    ss_cone_point point;
    ss_cone *cone = known_global(7, 3, 6, 8, 4, &point);
    ss_cone *local = ss_cone_to_local(cone, false, NULL);
    ENSURE(local);
    double q = norm_of(local->q, 24), f = norm_of(cone->f, 36);
    double column = 0.0;
    for (int at = cone->M->start[0]; at < cone->M->start[1]; at++) column = hypot(column, cone->M->value[at]);
    ss_cone_residual residual;
    point.u[5] += 0.01;
    point.v[0] += 0.02;
    ENSURE(ss_cone_residual_of(cone, &point, &residual, NULL));
    // tolerances: rounding of the known solution
    ENSURE_NEAR(residual.velocity, 0.01 / q, 1e-13);
    ENSURE_NEAR(residual.balance, 0.02 * column / f, 1e-13);
    ENSURE_NEAR(residual.natural_map, 0.0, 1e-13); // does not trust u and v
    ENSURE_NEAR(residual.bilateral, 0.0, 1e-12);
    point.l[2] += 0.03;
    ENSURE(ss_cone_residual_of(cone, &point, &residual, NULL));
    double change[4] = {0};
    for (int at = local->R->start[2]; at < local->R->start[3]; at++)
        change[local->R->row[at]] = 0.03 * local->R->value[at];
    ENSURE_NEAR(residual.bilateral, norm_of(change, 4) / norm_of(cone->b, 4), 1e-12);
    ss_cone_destroy(local);
    ss_cone_destroy(cone);
    ss_cone_point_free(&point);
}

TEST(worst_contact_is_the_one_that_was_spoilt)
{
    for (int spoilt = 0; spoilt < 6; spoilt++) {
        ss_cone_point point;
        ss_cone *cone = known_local(11, 3, 6, 0, &point);
        // along W's diagonal, so that this contact's own velocity changes most
        point.r[3 * spoilt] += 1e-3;
        for (int c = 0; c < 6; c++) { // the others must not notice: cut them off
            for (int i = 0; i < 3; i++) cone->q[3 * c + i] = point.u[3 * c + i];
        }
        ss_sparse_destroy(cone->W);
        cone->W = ss_sparse_from_triplets(18, 18, 1, (int[]){3 * spoilt}, (int[]){3 * spoilt},
                                          (double[]){1e3}, NULL);
        cone->q[3 * spoilt] -= 1e3 * point.r[3 * spoilt];
        cone->q[3 * spoilt] += 5.0;
        ss_cone_residual residual;
        ENSURE(ss_cone_residual_of(cone, &point, &residual, NULL));
        ENSURE_INT(residual.worst_contact, spoilt);
        ss_cone_destroy(cone);
        ss_cone_point_free(&point);
    }
}

TEST(not_a_number_is_never_a_solution)
{
    ss_cone_point point;
    ss_cone *cone = known_local(12, 3, 4, 0, &point);
    point.r[4] = NAN;
    ss_cone_residual residual;
    ENSURE(ss_cone_residual_of(cone, &point, &residual, NULL));
    ENSURE(!(residual.natural_map <= 1e300));
    ss_cone_destroy(cone);
    ss_cone_point_free(&point);
}

/* ---- both forms ----------------------------------------------------------------------------------- */

TEST(local_form_equals_global_form)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        ss_cone_point point;
        ss_cone_residual of_global, of_local;
        ss_cone *global = known_global(seed, dimensions[seed % 3], 7, 9, seed % 2 ? 4 : 0, &point);
        ss_cone *local = ss_cone_to_local(global, false, NULL);
        ENSURE(local);
        ENSURE(ss_cone_check(local, "", NULL));
        ENSURE_NEAR(ss_sparse_symmetry_error(local->W), 0.0, 0.0);
        if (local->R) ENSURE_NEAR(ss_sparse_symmetry_error(local->R), 0.0, 0.0);
        ss_cone_point at = {.u = point.u, .r = point.r, .l = point.l};
        for (int spoil = 0; spoil < 2; spoil++) {
            ENSURE(ss_cone_residual_of(global, &point, &of_global, NULL));
            ENSURE(ss_cone_residual_of(local, &at, &of_local, NULL));
            // tolerance: rounding through M^-1 on one side and W on the other
            ENSURE_NEAR(of_local.natural_map, of_global.natural_map, 1e-12);
            ENSURE_NEAR(of_local.velocity, of_global.velocity, 1e-12);
            // relative to |s| instead of |b|
            double scale = local->equations ? norm_of(global->b, 4) / norm_of(local->s, 4) : 0.0;
            ENSURE_NEAR(of_local.bilateral, of_global.bilateral * scale, 1e-12);
            for (int i = 0; i < 9; i++) point.r[i] += 0.1 * (i + 1);
        }
        ss_cone_destroy(global);
        ss_cone_destroy(local);
        ss_cone_point_free(&point);
    }
}

TEST(point_is_completed_from_r_alone)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        ss_cone_point point, copy;
        ss_cone *cone =
            seed % 2 ? known_global(seed, 3, 7, 9, 4, &point) : known_local(seed, 3, 9, 4, &point);
        ENSURE(ss_cone_point_create(cone, &copy, NULL));
        memcpy(copy.r, point.r, 27 * sizeof *copy.r);
        ENSURE(ss_cone_point_complete(cone, &copy, NULL));
        // tolerance: rounding times the condition number of R, below 1e4
        ENSURE_NEAR(largest_difference(copy.u, point.u, 27), 0.0, 1e-11);
        ENSURE_NEAR(largest_difference(copy.l, point.l, 4), 0.0, 1e-11);
        if (copy.v) ENSURE_NEAR(largest_difference(copy.v, point.v, 42), 0.0, 1e-11);
        ss_cone_destroy(cone);
        ss_cone_point_free(&point);
        ss_cone_point_free(&copy);
    }
}

TEST(eliminating_joints_keeps_the_solution)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        ss_cone_point point;
        ss_cone *cone =
            seed % 2 ? known_global(seed, 3, 7, 9, 4, &point) : known_local(seed, 3, 9, 4, &point);
        ss_cone *reduced = ss_cone_to_local(cone, true, NULL);
        ENSURE(reduced);
        ENSURE_INT(reduced->equations, 0);
        ENSURE(!reduced->V && !reduced->R);
        ENSURE_NEAR(ss_sparse_symmetry_error(reduced->W), 0.0, 0.0);
        ss_cone_point at = {.u = point.u, .r = point.r};
        ss_cone_residual residual;
        ENSURE(ss_cone_residual_of(reduced, &at, &residual, NULL));
        ENSURE_NEAR(residual.natural_map, 0.0, 1e-11); // rounding times the condition number of R, below 1e4
        ENSURE_NEAR(residual.velocity, 0.0, 1e-11);
        ss_cone_destroy(cone);
        ss_cone_destroy(reduced);
        ss_cone_point_free(&point);
    }
}

TEST(redundant_joints_are_refused_by_name_and_kept_on_request)
{
    ss_error err;
    ss_cone_point point;
    ss_cone *cone = known_global(3, 3, 7, 9, 4, &point);
    ss_sparse *G = cone->G; // equation 3 becomes a copy of equation 1, but for drift
    ss_triplets twice;
    ENSURE(ss_triplets_start(&twice, 2 * (size_t)ss_sparse_nonzeros(G), &err));
    for (int j = 0; j < 4; j++) {
        int from = j == 3 ? 1 : j;
        for (int at = G->start[from]; at < G->start[from + 1]; at++)
            ss_triplets_add(&twice, G->row[at], j, G->value[at] * (1.0 + (j == 3) * 1e-6 * at));
    }
    cone->G = ss_triplets_finish(&twice, G->rows, 4, &err);
    ss_sparse_destroy(G);
    ENSURE(!ss_cone_to_local(cone, true, &err));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE(strstr(err.message, "equation 1 depends") || strstr(err.message, "equation 3 depends"));
    ss_cone *local = ss_cone_to_local(cone, false, &err);
    ENSURE(local);
    ENSURE_INT(local->equations, 4);
    ss_cone_destroy(local);
    ss_cone_destroy(cone);
    ss_cone_point_free(&point);
}

TEST(singular_mass_is_refused)
{
    ss_error err;
    ss_cone_point point;
    ss_cone_residual residual;
    ss_cone *cone = known_global(5, 3, 3, 2, 0, &point);
    for (int at = 0; at < ss_sparse_nonzeros(cone->M); at++) { // body 1 loses its mass
        if (cone->M->row[at] == 7) cone->M->value[at] = 0.0;
    }
    ENSURE(!ss_cone_to_local(cone, false, &err));
    ENSURE_CONTAINS(err.message, "M is singular: its column 7");
    ENSURE(!ss_cone_residual_of(cone, &point, &residual, &err));
    ENSURE_CONTAINS(err.message, "M is singular");
    ss_cone_destroy(cone);
    ss_cone_point_free(&point);
}

TEST(unsymmetric_mass_is_taken_as_it_is)
{
    ss_error err;
    ss_cone *cone = ss_cone_create(SS_CONE_GLOBAL, 2, 1, 2, 0, &err);
    ENSURE(cone);
    // M = [2 1; 0 4], H = 1: W = M^-1 = [1/2 -1/8; 0 1/4]
    cone->M = ss_sparse_from_triplets(2, 2, 3, (int[]){0, 0, 1}, (int[]){0, 1, 1}, (double[]){2, 1, 4}, &err);
    cone->H = ss_sparse_from_triplets(2, 2, 2, (int[]){0, 1}, (int[]){0, 1}, (double[]){1, 1}, &err);
    ss_cone *local = ss_cone_to_local(cone, false, &err);
    ENSURE(local);
    ENSURE_NEAR(ss_sparse_get(local->W, 0, 0), 0.5, 0.0);
    ENSURE_NEAR(ss_sparse_get(local->W, 0, 1), -0.125, 0.0);
    ENSURE_NEAR(ss_sparse_get(local->W, 1, 0), 0.0, 0.0);
    ENSURE_NEAR(ss_sparse_get(local->W, 1, 1), 0.25, 0.0);
    ss_cone_destroy(cone);
    ss_cone_destroy(local);
}

TEST(thousands_of_bodies_and_hundreds_of_contacts_reduce_within_a_second)
{
    ss_cone_point point;
    ss_cone *cone = known_global(21, 3, 2000, 356, 60, &point);
    double start = ss_clock_seconds();
    ss_cone *local = ss_cone_to_local(cone, true, NULL);
    double seconds = ss_clock_seconds() - start;
    ENSURE(local);
    ENSURE(seconds < 1.0); // takes a few ms; column by column through all of M would take minutes
    ss_cone_destroy(cone);
    ss_cone_destroy(local);
    ss_cone_point_free(&point);
}

TEST(problem_without_contacts_or_bodies_is_a_problem)
{
    ss_error err;
    ss_cone *cone = ss_cone_create(SS_CONE_GLOBAL, 3, 0, 0, 0, &err);
    ENSURE(cone);
    cone->M = ss_sparse_create(0, 0, 0, &err);
    cone->H = ss_sparse_create(0, 0, 0, &err);
    ENSURE(ss_cone_check(cone, "", NULL));
    ss_cone *local = ss_cone_to_local(cone, true, &err);
    ENSURE(local);
    ss_cone_point point;
    ss_cone_residual residual;
    ENSURE(ss_cone_point_create(cone, &point, &err));
    ENSURE(ss_cone_residual_of(cone, &point, &residual, &err));
    ENSURE_NEAR(residual.natural_map, 0.0, 0.0);
    ENSURE_INT(residual.worst_contact, -1);
    ss_cone_point_free(&point);
    ss_cone_destroy(local);
    ss_cone_destroy(cone);
}

/* ---- faults --------------------------------------------------------------------------------------- */

static bool has_fault_at(const ss_findings *findings, const char *place)
{
    for (size_t k = 0; k < findings->count; k++) {
        if (findings->items[k].kind == SS_FINDING_FAULT && strcmp(findings->items[k].place, place) == 0)
            return true;
    }
    return false;
}

TEST(every_fault_is_told_with_its_place)
{
    ss_cone_point point;
    ss_findings findings = {0};
    ss_cone *cone = known_local(1, 5, 4, 2, &point);
    cone->mu[1] = -0.1;
    cone->mu[2] = INFINITY;
    cone->mu_rolling[3] = NAN;
    cone->q[7] = NAN;
    cone->s[1] = INFINITY;
    cone->W->value[3] = NAN;
    ss_sparse_destroy(cone->V);
    cone->V = NULL;
    cone->R->cols = 1;
    ENSURE(!ss_cone_check(cone, "/fclib_local", &findings));
    ENSURE(has_fault_at(&findings, "/fclib_local/vectors/mu[1]"));
    ENSURE(has_fault_at(&findings, "/fclib_local/vectors/mu[2]"));
    ENSURE(has_fault_at(&findings, "/fclib_local/vectors/mu_r[3]"));
    ENSURE(has_fault_at(&findings, "/fclib_local/vectors/q[7]"));
    ENSURE(has_fault_at(&findings, "/fclib_local/vectors/s[1]"));
    ENSURE(has_fault_at(&findings, "/fclib_local/W"));
    ENSURE(has_fault_at(&findings, "/fclib_local/V"));
    ENSURE(has_fault_at(&findings, "/fclib_local/R"));
    ENSURE_INT(findings.count, 8);
    ss_findings_free(&findings);
    cone->R->cols = 2;
    ss_cone_destroy(cone);
    ss_cone_point_free(&point);
}

TEST(index_out_of_range_and_parts_of_the_other_form_are_faults)
{
    ss_cone_point point;
    ss_findings findings = {0};
    ss_cone *cone = known_global(1, 3, 3, 4, 0, &point);
    cone->H->row[2] = 18;
    cone->f[0] = NAN;
    cone->w[11] = -INFINITY;
    cone->mu_rolling = ss_allocate(4, sizeof(double));
    cone->G = ss_sparse_create(18, 0, 0, NULL);
    ENSURE(!ss_cone_check(cone, "here", &findings));
    ENSURE(has_fault_at(&findings, "here/H"));
    ENSURE(has_fault_at(&findings, "here/vectors/f[0]"));
    ENSURE(has_fault_at(&findings, "here/vectors/w[11]"));
    ENSURE(has_fault_at(&findings, "here/vectors/mu_r"));
    ENSURE(has_fault_at(&findings, "here/G"));
    ENSURE_INT(findings.count, 5);
    ss_findings_free(&findings);
    ss_cone_destroy(cone);
    ss_cone_point_free(&point);
}

TEST(impossible_sizes_are_refused)
{
    ss_error err;
    ENSURE(!ss_cone_create(SS_CONE_LOCAL, 4, 1, 0, 0, &err));
    ENSURE_CONTAINS(err.message, "dimension 4");
    ENSURE(!ss_cone_create(SS_CONE_LOCAL, 3, -1, 0, 0, &err));
    ENSURE(!ss_cone_create(SS_CONE_LOCAL, 3, 1, 6, 0, &err));
    ENSURE(!ss_cone_create(SS_CONE_GLOBAL, 5, 2000000000, 6, 0, &err));
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
}

static bool reduce_and_judge(const ss_cone *cone, const ss_cone_point *solution, ss_error *err)
{
    ss_cone_point point = {0};
    ss_cone_residual residual;
    ss_cone *local = ss_cone_to_local(cone, true, err);
    bool good = local && ss_cone_residual_of(cone, solution, &residual, err) &&
                ss_cone_point_create(cone, &point, err) && ss_cone_point_complete(cone, &point, err);
    ss_cone_point_free(&point);
    ss_cone_destroy(local);
    return good;
}

TEST(lack_of_memory_anywhere_is_told_and_nothing_leaks)
{
    ss_cone_point point;
    ss_cone *cone = known_global(9, 3, 4, 3, 2, &point);
    for (long n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        bool good = reduce_and_judge(cone, &point, &err);
        ENSURE_INT(faults.live, 0);
        if (!faults_stop()) {
            ENSURE(good);
            break;
        }
        ENSURE(!good);
        ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    }
    ss_cone_destroy(cone);
    ss_cone_point_free(&point);
}

TEST(answer_has_room_for_every_body_row_and_contact)
{
    ss_error err;
    ss_frame *frame = ss_frame_create(3, 2, 2, 4, &err);
    ss_answer *answer = ss_answer_create(frame, true, &err);
    ENSURE(answer);
    ENSURE_INT(answer->bodies, 3);
    ENSURE_INT(answer->rows, 2);
    ENSURE_INT(answer->contacts, 4);
    ENSURE_NEAR(answer->rolling_impulse[3][2] + answer->friction_impulse[3][2] + answer->velocity[2][5], 0.0,
                0.0);
    ss_answer_destroy(answer);
    answer = ss_answer_create(frame, false, &err);
    ENSURE(answer && !answer->rolling_impulse);
    ss_answer_destroy(answer);
    ss_answer_destroy(NULL);
    ss_frame_destroy(frame);
}

TEST_MAIN
