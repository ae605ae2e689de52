/* FCLIB files: real ones of others, every storage of a matrix, round trips, limits, and Matrix Market. */
#include "faults.h"
#include "rigid_frame.h"
#include "kit.h"
#include "known_cone.h"
#include "scratch.h"
#include "shared_data.h"

#include <stickslip/dataset.h>
#include <stickslip/formulation.h>

#include "dataset/fclib.h"

/* ---- real files ----------------------------------------------------------------------------------- */

typedef struct real_file {
    const char *name;
    ss_fclib_kind kind;
    int dimension, contacts, dofs, entries; /* of W, or of H */
    const char *says;                       /* part of a finding, NULL = none */
} real_file;

static const real_file real_files[] = {
    {"Box_Stacks-i0122-82-5", SS_FCLIB_GLOBAL, 3, 82, 450, 1284, "1 of 1 guesses are zero"},
    {"BoxesStack1-i100000-32", SS_FCLIB_LOCAL, 3, 52, 0, 5328, NULL},
    {"Capsules-i101-404", SS_FCLIB_LOCAL, 3, 225, 0, 9099, "unsymmetric"},
    {"Capsules-i125-1213", SS_FCLIB_LOCAL, 3, 286, 0, 11772, "stored r is identically zero"},
    {"Chute-ndof-768-nc-4-3", SS_FCLIB_GLOBAL_ROLLING, 5, 4, 768, 91,
     "the frames of 4 of 4 contacts are not orthonormal"},
    {"Confeti-ex13-Fc3D-SBM", SS_FCLIB_LOCAL, 3, 107, 0, 18171, NULL},
    {"CubeH8", SS_FCLIB_GLOBAL, 3, 1, 162, 45, "M"},
    {"FrictionContact3D_RR_1c", SS_FCLIB_LOCAL, 3, 1, 0, 9, NULL},
    {"FrictionContactProblem00071", SS_FCLIB_LOCAL, 2, 89, 0, 1148, NULL},
    {"GFC3D_Example00_badly_scaled", SS_FCLIB_GLOBAL, 3, 1, 3, 3, NULL},
    {"GFC3D_OneContact", SS_FCLIB_GLOBAL, 3, 1, 39, 117, NULL},
    {"KaplasTower-i1061-4", SS_FCLIB_LOCAL, 3, 570, 0, 116784, NULL},
    {"LMGC_100_PR_PerioBox-i00361-60-03000", SS_FCLIB_LOCAL, 3, 60, 0, 9576, NULL},
    {"NESpheres_30_1", SS_FCLIB_LOCAL, 3, 44, 0, 1384, NULL},
    {"OneObject-i100000-316", SS_FCLIB_LOCAL, 3, 25, 0, 1863, "unsymmetric"},
    {"Rover1040", SS_FCLIB_LOCAL, 3, 5, 0, 225, "unsymmetric"},
    {"Rover4516", SS_FCLIB_LOCAL, 3, 4, 0, 144, "unsymmetric"},
    {"fc2d_granularflowonwall_00667_00000", SS_FCLIB_LOCAL, 2, 667, 0, 3822, NULL},
};
enum { REAL_FILES = sizeof real_files / sizeof *real_files };

static const char *path_of(const real_file *file)
{
    static char path[1000];
    shared_path(path, sizeof path, "fclib", file->name, ".hdf5");
    return path;
}

static bool says(const ss_findings *findings, const char *part)
{
    for (size_t k = 0; k < findings->count; k++) {
        if (strstr(findings->items[k].message, part) || strstr(findings->items[k].place, part)) return true;
    }
    return false;
}

static void check_real_file(const real_file *file)
{
    ss_error err = {0};
    ss_fclib_kind kinds[3];
    ss_findings findings = {0};
    ss_format format;
    ENSURE(ss_format_of_file(path_of(file), &format, &err));
    ENSURE_INT(format, SS_FORMAT_FCLIB);
    ENSURE_INT(ss_fclib_kinds(path_of(file), kinds, &err), 1);
    ENSURE_INT(kinds[0], file->kind);
    ss_fclib *problem = ss_fclib_read(path_of(file), file->kind, NULL, &findings, &err);
    if (!problem) KIT_FAIL("%s", err.message);
    ENSURE(problem);
    const ss_cone *cone = problem->cone;
    ENSURE(ss_cone_check(cone, "", NULL));
    ENSURE_INT(cone->dimension, file->dimension);
    ENSURE_INT(cone->contacts, file->contacts);
    ENSURE_INT(cone->dofs, file->dofs);
    ENSURE_INT(cone->equations, 0);
    ENSURE_INT(ss_sparse_nonzeros(cone->form == SS_CONE_LOCAL ? cone->W : cone->H), file->entries);
    if (file->says ? !says(&findings, file->says) : findings.count > 0)
        KIT_FAIL("%s: %zu findings, wanted %s", file->name, findings.count, file->says ? file->says : "none");
    ss_findings_free(&findings);
    ss_fclib_destroy(problem);
}

TEST(files_of_others_are_read_with_their_published_sizes)
{
    char first[1000];
    NEED_SHARED(first, "fclib", real_files[0].name, ".hdf5");
    for (int k = 0; k < REAL_FILES; k++) check_real_file(&real_files[k]);
}

TEST(stored_solutions_that_are_none_are_found_out)
{
    char first[1000];
    NEED_SHARED(first, "fclib", real_files[0].name, ".hdf5");
    int solutions = 0;
    for (int k = 0; k < REAL_FILES; k++) {
        ss_findings findings = {0};
        ss_fclib *problem = ss_fclib_read(path_of(&real_files[k]), real_files[k].kind, NULL, &findings, NULL);
        ENSURE(problem);
        ENSURE_INT(says(&findings, "/solution/r"), problem->has_solution);
        if (problem->has_solution) {
            ss_cone_residual residual;
            ENSURE(says(&findings, "it does not solve the problem: relative natural map"));
            ENSURE(ss_cone_residual_of(problem->cone, &problem->solution, &residual, NULL));
            ENSURE(residual.natural_map > 5e-4); // r = 0 lets every contact fall
            solutions++;
        }
        ss_findings_free(&findings);
        ss_fclib_destroy(problem);
    }
    ENSURE_INT(solutions, 3);
}

TEST(box_stacks_is_a_mechanism_and_the_others_are_not)
{
    char first[1000];
    NEED_SHARED(first, "fclib", real_files[0].name, ".hdf5");
    int mechanisms = 0;
    for (int k = 0; k < REAL_FILES; k++) {
        ss_error err = {0};
        if (real_files[k].kind == SS_FCLIB_LOCAL) continue;
        ss_fclib *problem = ss_fclib_read(path_of(&real_files[k]), real_files[k].kind, NULL, NULL, &err);
        ENSURE(problem);
        ss_frame *frame = ss_frame_from_cone(problem->cone, 1e-4, NULL, &err);
        if (!frame) ENSURE_INT(err.code, SS_ERROR_INPUT);
        if (frame) {
            mechanisms++;
            ENSURE_TEXT(real_files[k].name, "Box_Stacks-i0122-82-5");
            ENSURE(ss_frame_check(frame, "", NULL));
            conversion options = defaults();
            ss_cone *back = cone_from_frame(frame, &options, "", NULL, &err);
            ENSURE(back);
            ENSURE_NEAR(matrix_difference(back->M, problem->cone->M), 0.0, 1e-15); // rounding
            // lever arms in the file are rigid to 3e-7
            ENSURE_NEAR(matrix_difference(back->H, problem->cone->H), 0.0, 1e-6);
            ENSURE_NEAR(largest_difference(back->f, problem->cone->f, 450), 0.0, 1e-15);
            ss_cone_destroy(back);
            ss_frame_destroy(frame);
        }
        ss_fclib_destroy(problem);
    }
    ENSURE_INT(mechanisms, 1);
}

TEST(local_form_of_a_finite_element_cube_is_its_contact_compliance)
{
    char first[1000];
    NEED_SHARED(first, "fclib", real_files[0].name, ".hdf5");
    ss_error err = {0};
    const real_file *cube = &real_files[6];
    ss_fclib *problem = ss_fclib_read(path_of(cube), cube->kind, NULL, NULL, &err);
    ENSURE(problem);
    ss_cone *local = ss_cone_to_local(problem->cone, true, &err);
    ENSURE(local);
    double r[3] = {1.0, -0.25, 0.5}, u[3];
    ss_cone_point point = {.r = r, .u = u, .v = NULL, .l = NULL};
    ENSURE(ss_cone_point_complete(problem->cone, &point, &err));
    for (int i = 0; i < 3; i++) u[i] -= local->q[i];
    ss_sparse_apply(local->W, r, -1.0, u);
    ENSURE_NEAR(norm_of(u, 3) / norm_of(local->q, 3), 0.0, 1e-12); // rounding through M of 2.6e8
    ss_cone_destroy(local);
    ss_fclib_destroy(problem);
}

/* ---- round trips ---------------------------------------------------------------------------------- */

static bool same_bits(const double *a, const double *b, int count)
{
    return (!a && !b) || (a && b && memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

/* Entries that are zero may be dropped; all others keep every bit. */
static bool same_entries(const ss_sparse *a, const ss_sparse *b)
{
    if (a->rows != b->rows || a->cols != b->cols) return false;
    for (int j = 0; j < a->cols; j++) {
        int k = b->start[j];
        for (int at = a->start[j]; at < a->start[j + 1]; at++) {
            if (a->value[at] == 0.0) continue;
            if (k >= b->start[j + 1] || b->row[k] != a->row[at] || !same_bits(&a->value[at], &b->value[k], 1))
                return false;
            k++;
        }
        if (k != b->start[j + 1]) return false;
    }
    return true;
}

static bool same_cone(const ss_cone *a, const ss_cone *b)
{
    if (a->form != b->form || a->dimension != b->dimension || a->contacts != b->contacts ||
        a->dofs != b->dofs || a->equations != b->equations)
        return false;
    for (const ss_fclib_part *part = ss_fclib_parts; part->name; part++) {
        if (!ss_fclib_has(a, part)) continue;
        bool same = part->cols ? same_entries(*ss_fclib_matrix(part, a), *ss_fclib_matrix(part, b))
                               : same_bits(*ss_fclib_vector(part, a), *ss_fclib_vector(part, b),
                                           ss_fclib_extent(a, part->rows));
        if (!same) return false;
    }
    return true;
}

static bool same_point(const ss_cone *cone, const ss_cone_point *a, const ss_cone_point *b)
{
    int m = ss_fclib_extent(cone, 'm');
    return same_bits(a->u, b->u, m) && same_bits(a->r, b->r, m) && same_bits(a->v, b->v, cone->dofs) &&
           same_bits(a->l, b->l, cone->equations);
}

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same_problem(const ss_fclib *a, const ss_fclib *b)
{
    bool same = same_cone(a->cone, b->cone) && same_text(a->info.title, b->info.title) &&
                same_text(a->info.description, b->info.description) &&
                same_text(a->info.math_info, b->info.math_info) && a->guess_count == b->guess_count &&
                a->has_solution == b->has_solution;
    if (same && a->has_solution) same = same_point(a->cone, &a->solution, &b->solution);
    for (int g = 0; same && g < a->guess_count; g++)
        same = same_point(a->cone, &a->guesses[g], &b->guesses[g]);
    return same;
}

TEST(files_of_others_survive_writing_and_reading_bit_for_bit)
{
    char first[1000];
    NEED_SHARED(first, "fclib", real_files[0].name, ".hdf5");
    scratch s = scratch_open();
    for (int k = 0; k < REAL_FILES; k++) {
        ss_error err = {0};
        ss_fclib *problem = ss_fclib_read(path_of(&real_files[k]), real_files[k].kind, NULL, NULL, &err);
        ENSURE(problem);
        ENSURE(ss_fclib_write(s.file, problem, &err));
        ss_fclib *again = ss_fclib_read(s.file, real_files[k].kind, NULL, NULL, &err);
        ENSURE(again);
        if (!same_problem(problem, again)) KIT_FAIL("%s changed", real_files[k].name);
        ss_fclib_destroy(problem);
        ss_fclib_destroy(again);
    }
    ENSURE_INT(scratch_files(&s, false), 1); // no temporary file stays behind
    scratch_close(&s);
}

static ss_fclib *known_problem(uint64_t seed)
{
    static const int dimensions[3] = {2, 3, 5};
    int dimension = dimensions[seed % 3], equations = seed % 2 ? 3 : 0;
    ss_fclib *problem = ss_allocate(1, sizeof *problem);
    bool global = dimension == 5 || seed % 4 < 2;
    problem->cone = global ? known_global(seed, dimension, 4, 5, equations, &problem->solution)
                           : known_local(seed, dimension, 5, equations, &problem->solution);
    problem->has_solution = true;
    problem->guesses = ss_allocate(2, sizeof *problem->guesses);
    problem->guess_count = 2;
    for (int g = 0; g < 2; g++) {
        if (!ss_cone_point_create(problem->cone, &problem->guesses[g], NULL)) exit(1);
        for (int i = 0; i < 5 * dimension; i++) problem->guesses[g].r[i] = g + 0.1 * i;
        if (problem->guesses[g].l) problem->guesses[g].l[2] = -0.3;
    }
    problem->info.title = ss_text_copy("made backwards");
    problem->info.math_info = ss_text_copy("");
    return problem;
}

TEST(problems_with_joints_rolling_solutions_and_guesses_survive_a_file)
{
    scratch s = scratch_open();
    for (uint64_t seed = 0; seed < 12; seed++) {
        ss_error err = {0};
        ss_findings findings = {0};
        ss_fclib *problem = known_problem(seed);
        ENSURE(ss_fclib_write(s.file, problem, &err));
        ss_fclib *again = ss_fclib_read(s.file, ss_fclib_kind_of(problem->cone), NULL, &findings, &err);
        ENSURE(again);
        ENSURE(same_problem(problem, again));
        ENSURE(!says(&findings, "/solution")); // a right solution is not worth a word
        ss_findings_free(&findings);
        ss_fclib_destroy(problem);
        ss_fclib_destroy(again);
    }
    scratch_close(&s);
}

/* ---- storage of matrices -------------------------------------------------------------------------- */

/* A file with one contact, written piece by piece: W is what the test makes of it. */
typedef struct hand_made {
    ss_h5_session session;
    ss_h5_output output;
    ss_h5_group problem, vectors, W;
} hand_made;

static void put_ints(const ss_h5_group *group, const char *name, int count, const int *values)
{
    ss_error err;
    if (!ss_h5_write(group, name, SS_H5_I32, 1, (uint64_t[]){(uint64_t)count}, values, &err))
        KIT_FAIL("%s", err.message);
}

static void put_reals(const ss_h5_group *group, const char *name, int count, const double *values)
{
    ss_error err;
    if (!ss_h5_write(group, name, SS_H5_F64, 1, (uint64_t[]){(uint64_t)count}, values, &err))
        KIT_FAIL("%s", err.message);
}

static hand_made begin_file(const char *path)
{
    hand_made made;
    ss_h5_enter(&made.session);
    if (!ss_h5_output_open(path, false, 1e9, &made.output, NULL) ||
        !ss_h5_make_group(&made.output.root, "fclib_local", &made.problem, NULL) ||
        !ss_h5_make_group(&made.problem, "vectors", &made.vectors, NULL) ||
        !ss_h5_make_group(&made.problem, "W", &made.W, NULL))
        exit(1);
    put_ints(&made.problem, "spacedim", 1, (int[]){2});
    put_reals(&made.vectors, "q", 2, (double[]){-1.0, 0.5});
    put_reals(&made.vectors, "mu", 1, (double[]){0.5});
    put_ints(&made.W, "m", 1, (int[]){2});
    put_ints(&made.W, "n", 1, (int[]){2});
    return made;
}

static void put_matrix(hand_made *made, int nz, int nzmax, int p_count, const int *p, int count, const int *i,
                       const double *x)
{
    put_ints(&made->W, "nz", 1, &nz);
    put_ints(&made->W, "nzmax", 1, &nzmax);
    put_ints(&made->W, "p", p_count, p);
    put_ints(&made->W, "i", count, i);
    put_reals(&made->W, "x", count, x);
}

static void end_file(hand_made *made)
{
    ss_error err;
    ss_h5_leave_group(&made->W);
    ss_h5_leave_group(&made->vectors);
    ss_h5_leave_group(&made->problem);
    if (!ss_h5_output_commit(&made->output, &err)) KIT_FAIL("%s", err.message);
    ss_h5_leave(&made->session);
}

/* W = [4 1; 2 8] */
static void expect_matrix(const char *path)
{
    ss_error err = {0};
    ss_fclib *problem = ss_fclib_read(path, SS_FCLIB_LOCAL, NULL, NULL, &err);
    if (!problem) KIT_FAIL("%s", err.message);
    ENSURE(problem);
    ENSURE_NEAR(ss_sparse_get(problem->cone->W, 0, 0), 4.0, 0.0);
    ENSURE_NEAR(ss_sparse_get(problem->cone->W, 0, 1), 1.0, 0.0);
    ENSURE_NEAR(ss_sparse_get(problem->cone->W, 1, 0), 2.0, 0.0);
    ENSURE_NEAR(ss_sparse_get(problem->cone->W, 1, 1), 8.0, 0.0);
    ss_fclib_destroy(problem);
}

TEST(triplets_have_rows_in_i_and_columns_in_p)
{
    scratch s = scratch_open();
    hand_made made = begin_file(s.file);
    put_matrix(&made, 4, 4, 4, (int[]){0, 1, 0, 1}, 4, (int[]){0, 0, 1, 1}, (double[]){4, 1, 2, 8});
    end_file(&made);
    expect_matrix(s.file);
    scratch_close(&s);
}

TEST(duplicate_triplets_are_added_and_room_for_more_is_ignored)
{
    scratch s = scratch_open();
    hand_made made = begin_file(s.file); // seven places, five used, one place twice
    put_matrix(&made, 5, 7, 7, (int[]){0, 1, 0, 1, 0, 1, 1}, 7, (int[]){0, 0, 1, 1, 0, 1, 1},
               (double[]){3, 1, 2, 8, 1, 99, 99});
    end_file(&made);
    expect_matrix(s.file);
    scratch_close(&s);
}

TEST(compressed_columns_are_read)
{
    scratch s = scratch_open();
    hand_made made = begin_file(s.file);
    put_matrix(&made, -1, 5, 3, (int[]){0, 2, 4}, 5, (int[]){1, 0, 0, 1, 1}, (double[]){2, 4, 1, 8, 99});
    end_file(&made);
    expect_matrix(s.file);
    scratch_close(&s);
}

TEST(compressed_rows_are_read)
{
    scratch s = scratch_open();
    hand_made made = begin_file(s.file);
    put_matrix(&made, -2, 4, 3, (int[]){0, 2, 4}, 4, (int[]){0, 1, 0, 1}, (double[]){4, 1, 2, 8});
    end_file(&made);
    expect_matrix(s.file);
    scratch_close(&s);
}

TEST(explicit_zeros_are_kept_when_read_and_left_out_when_written)
{
    scratch s = scratch_open();
    ss_error err;
    hand_made made = begin_file(s.file);
    put_matrix(&made, 3, 3, 3, (int[]){0, 1, 1}, 3, (int[]){0, 0, 1}, (double[]){4, 0, 8});
    end_file(&made);
    ss_fclib *problem = ss_fclib_read(s.file, SS_FCLIB_LOCAL, NULL, NULL, &err);
    ENSURE(problem);
    ENSURE_INT(ss_sparse_nonzeros(problem->cone->W), 3);
    ENSURE(ss_fclib_write(s.file, problem, &err));
    ss_fclib_destroy(problem);
    problem = ss_fclib_read(s.file, SS_FCLIB_LOCAL, NULL, NULL, &err);
    ENSURE(problem);
    ENSURE_INT(ss_sparse_nonzeros(problem->cone->W), 2);
    ss_fclib_destroy(problem);
    scratch_close(&s);
}

/* ---- oddities ------------------------------------------------------------------------------------- */

TEST(missing_v_is_a_warning_and_zero_guesses_are_told)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_findings findings = {0};
    ss_fclib *problem = known_problem(0);
    ENSURE(problem->cone->form == SS_CONE_GLOBAL);
    ss_release(problem->solution.v);
    problem->solution.v = NULL;
    memset(problem->guesses[0].r, 0, 10 * sizeof(double));
    ENSURE(ss_fclib_write(s.file, problem, &err));
    ss_fclib *again = ss_fclib_read(s.file, SS_FCLIB_GLOBAL, NULL, &findings, &err);
    ENSURE(again);
    ENSURE(says(&findings, "/solution/v"));
    ENSURE(says(&findings, "1 of 2 guesses are zero"));
    ENSURE_NEAR(norm_of(again->solution.v, again->cone->dofs), 0.0, 0.0);
    ss_findings_free(&findings);
    ss_fclib_destroy(problem);
    ss_fclib_destroy(again);
    scratch_close(&s);
}

TEST(a_spoilt_solution_is_found_out)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_findings findings = {0};
    ss_fclib *problem = known_problem(1);
    problem->solution.r[0] += 1.0;
    problem->solution.l[0] += 1.0;
    ENSURE(ss_fclib_write(s.file, problem, &err));
    ss_fclib *again = ss_fclib_read(s.file, ss_fclib_kind_of(problem->cone), NULL, &findings, &err);
    ENSURE(again);
    ENSURE(says(&findings, "/solution/r"));
    ENSURE(says(&findings, "/solution/l"));
    ENSURE(!says(&findings, "identically zero"));
    ss_findings_free(&findings);
    ss_fclib_destroy(problem);
    ss_fclib_destroy(again);
    scratch_close(&s);
}

/* ---- limits, refusals ----------------------------------------------------------------------------- */

static void expect_limit(const char *path, ss_fclib_kind kind, ss_limits limits, const char *what)
{
    ss_error err = {0};
    ENSURE(!ss_fclib_read(path, kind, &limits, NULL, &err));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE_CONTAINS(err.message, what);
}

TEST(limits_hold_before_memory_is_taken)
{
    scratch s = scratch_open();
    ss_limits limits, tight;
    ss_options_defaults(ss_limits_table, &limits);
    ss_fclib *problem = known_problem(1); // global, dimension 3, 5 contacts, 4 bodies, 3 equations
    ENSURE(ss_fclib_write(s.file, problem, NULL));
    tight = limits, tight.max_contacts = 4;
    expect_limit(s.file, SS_FCLIB_GLOBAL, tight, "/fclib_global/H: 5 contacts, the limit is 4");
    tight = limits, tight.max_bodies = 3;
    expect_limit(s.file, SS_FCLIB_GLOBAL, tight, "/fclib_global/M: 24 dofs, the limit is 18");
    tight = limits, tight.max_rows = 2;
    expect_limit(s.file, SS_FCLIB_GLOBAL, tight, "/fclib_global/G: 3 equations, the limit is 2");
    tight = limits, tight.max_megabytes = 0.002;
    expect_limit(s.file, SS_FCLIB_GLOBAL, tight, "/fclib_global/");
    ss_fclib_destroy(problem);
    scratch_close(&s);
}

TEST(faulty_problems_and_local_rolling_are_not_written)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_fclib *problem = known_problem(1);
    problem->cone->mu[3] = -1.0;
    ENSURE(!ss_fclib_write(s.file, problem, &err));
    ENSURE_CONTAINS(err.message, "/vectors/mu[3]");
    ss_fclib_destroy(problem);

    ss_fclib rolling = {0};
    rolling.cone = known_local(1, 5, 2, 0, &rolling.solution);
    ENSURE(!ss_fclib_write(s.file, &rolling, &err));
    ENSURE_CONTAINS(err.message, "no local form with rolling");
    ss_cone_destroy(rolling.cone);
    ss_cone_point_free(&rolling.solution);
    ENSURE_INT(scratch_files(&s, false), 0);
    scratch_close(&s);
}

TEST(failed_writing_leaves_the_old_file_alone)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_fclib *problem = known_problem(1);
    ENSURE(!ss_fclib_write("/nowhere/at/all.hdf5", problem, &err));
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    ENSURE(ss_fclib_write(s.file, problem, &err));
    scratch_bytes before = scratch_read(s.file);
    problem->cone->f[0] = NAN;
    ENSURE(!ss_fclib_write(s.file, problem, &err));
    ENSURE(scratch_unchanged(s.file, before));
    free(before.data);
    ss_fclib_destroy(problem);
    scratch_close(&s);
}

TEST(a_file_of_neither_format_is_told_with_what_it_holds)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_format format;
    ss_h5_session session;
    ss_h5_output output;
    ss_h5_group group;
    ss_h5_enter(&session);
    ENSURE(ss_h5_output_open(s.file, false, 1e9, &output, &err));
    ENSURE(ss_h5_make_group(&output.root, "weather", &group, &err));
    ss_h5_leave_group(&group);
    ENSURE(ss_h5_output_commit(&output, &err));
    ss_h5_leave(&session);
    ss_fclib_kind kinds[3];
    ENSURE(!ss_format_of_file(s.file, &format, &err));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE_CONTAINS(err.message, "it holds weather");
    ENSURE_INT(ss_fclib_kinds(s.file, kinds, &err), 0);
    ENSURE(!ss_fclib_read(s.file, SS_FCLIB_LOCAL, NULL, NULL, &err));
    ENSURE_CONTAINS(err.message, "/fclib_local: is missing");
    ENSURE(!ss_format_of_file("/nowhere/at/all.hdf5", &format, &err));
    ENSURE_INT(ss_fclib_kinds("/nowhere/at/all.hdf5", kinds, &err), -1);
    scratch_close(&s);
}

TEST(kinds_have_the_names_of_the_format)
{
    ENSURE_TEXT(ss_fclib_kind_name(SS_FCLIB_LOCAL), "local");
    ENSURE_TEXT(ss_fclib_kind_name(SS_FCLIB_GLOBAL), "global");
    ENSURE_TEXT(ss_fclib_kind_name(SS_FCLIB_GLOBAL_ROLLING), "global_rolling");
}

/* ---- memory --------------------------------------------------------------------------------------- */

TEST(lack_of_memory_while_reading_or_writing_is_told_and_nothing_leaks)
{
    scratch s = scratch_open();
    ss_fclib *problem = known_problem(1);
    ENSURE(ss_fclib_write(s.file, problem, NULL));
    for (long n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        ss_fclib *again = ss_fclib_read(s.file, SS_FCLIB_GLOBAL, NULL, NULL, &err);
        bool good = again && ss_fclib_write(s.file, again, &err);
        ss_fclib_destroy(again);
        ENSURE_INT(faults.live, 0);
        if (!faults_stop()) {
            ENSURE(good);
            break;
        }
        if (good) continue; // a loss that does not matter, as the name of a directory to be synced
        ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    }
    ENSURE_INT(scratch_files(&s, false), 1);
    ss_fclib_destroy(problem);
    scratch_close(&s);
}

/* ---- Matrix Market -------------------------------------------------------------------------------- */

static double read_entry(FILE *file, bool coordinate, int *i, int *j)
{
    double value = NAN;
    if (coordinate && fscanf(file, "%d %d", i, j) != 2) return NAN;
    return fscanf(file, "%lf", &value) == 1 ? value : NAN;
}

static void skip_comments(FILE *file, char *first, size_t size)
{
    char line[300];
    if (!fgets(first, (int)size, file)) *first = '\0';
    for (int c = fgetc(file); c == '%'; c = fgetc(file)) {
        if (!fgets(line, sizeof line, file)) return;
        c = fgetc(file);
        ungetc(c, file);
    }
    fseek(file, -1, SEEK_CUR);
}

TEST(matrix_market_files_hold_every_bit)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_cone_point point;
    ss_cone *cone = known_local(3, 3, 4, 2, &point);
    char prefix[600], path[700], head[300];
    snprintf(prefix, sizeof prefix, "%s/problem", s.directory);
    ENSURE(ss_matrix_market_write(prefix, cone, &err));
    ENSURE_INT(scratch_files(&s, false), 6); // W, V, R, q, s, mu
    snprintf(path, sizeof path, "%s_W.mtx", prefix);
    FILE *file = fopen(path, "r");
    ENSURE(file);
    int rows, cols, entries, i, j;
    skip_comments(file, head, sizeof head);
    ENSURE_TEXT(head, "%%MatrixMarket matrix coordinate real general\n");
    ENSURE_INT(fscanf(file, "%d %d %d", &rows, &cols, &entries), 3);
    ENSURE_INT(rows, 12);
    ENSURE_INT(entries, ss_sparse_nonzeros(cone->W));
    for (int k = 0; k < entries; k++) {
        double value = read_entry(file, true, &i, &j), stored = ss_sparse_get(cone->W, i - 1, j - 1);
        ENSURE(same_bits(&value, &stored, 1));
    }
    fclose(file);
    snprintf(path, sizeof path, "%s_q.mtx", prefix);
    file = fopen(path, "r");
    ENSURE(file);
    skip_comments(file, head, sizeof head);
    ENSURE_TEXT(head, "%%MatrixMarket matrix array real general\n");
    ENSURE_INT(fscanf(file, "%d %d", &rows, &cols), 2);
    for (int k = 0; k < rows; k++) {
        double value = read_entry(file, false, &i, &j);
        ENSURE(same_bits(&value, &cone->q[k], 1));
    }
    fclose(file);
    ENSURE(!ss_matrix_market_write("/nowhere/at/all", cone, &err));
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    ENSURE_CONTAINS(err.message, "/nowhere/at/all_W.mtx");
    ss_cone_destroy(cone);
    ss_cone_point_free(&point);
    scratch_close(&s);
}

TEST_MAIN
