/* Where a formulation has one velocity only, every method must find it: on the frames and problems of
 * others, solvers that have nothing in common (pivoting, interior point, Newton) agree to 1e-8 of the
 * speeds in the frame.
 *
 * Unique are the velocities of convex problems: contacts without friction, boxes with fixed bounds, the
 * convex relaxation. Coulomb's law and boxes that follow the normal impulse may have several. */
#include <stickslip/stickslip.h>

#include "faults.h"
#include "rules.h"
#include "kit.h"
#include "known_cone.h"
#include "shared_data.h"
#include "problem/laws.h"

#include <dirent.h>

static const char *const methods[] = {"lemke",          "block-pivot",   "interior-point", "minmap-newton",
                                      "fischer-newton", "alart-curnier", "proximal-point", "convex-newton",
                                      "path",           "morales"};
enum { METHODS = 10, PATH = 600 };

/* Far below what is asked of the velocities, because a body may be held by contacts that are
 * close together. */
static const char tight[] = "relative_energy<1e-13";
static const double agreed = 1e-8;

static ss_solve_result run(const char *method, ss_problem *problem, double *x)
{
    ss_error err;
    ss_solve_result result;
    ss_run_options options = {.max_iterations = 10000, .stop = stop_rule(tight)};
    if (!ss_solve(&(ss_solve_request){.solver = ss_solver_find(method), .problem = problem, .run = &options},
                  x, &result, &err))
        known(NULL, &err);
    return result;
}

/* The larger of both, component by component. */
static double largest(const double *a, const double *b, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(a[i] - (b ? b[i] : 0.0)));
    return most;
}

/* What a run has to show for itself: 1e-8, or a proof that there is nothing to find. */
typedef struct finding {
    bool ray;
    double error; /* relative energy */
} finding;

/* ---- frames --------------------------------------------------------------------------------------- */

typedef struct formulated {
    const ss_formulation *formulation;
    _Alignas(max_align_t) char options[512];
    double agreed; /* of velocities, relative to the speeds in the frame */
} formulated;

static formulated formulate(const char *name, const char *assignments[], int count)
{
    ss_error err;
    formulated with = {.formulation = ss_formulation_find(name), .agreed = agreed};
    ss_options_defaults(with.formulation->options, with.options);
    for (int i = 0; i < count; i++) {
        if (!ss_options_assign(with.formulation->options, with.options, assignments[i], &err))
            known(NULL, &err);
    }
    return with;
}

/* NULL when the method does not take the problem. */
static ss_answer *answer_of(const char *method, const ss_frame *frame, const formulated *with, finding *found)
{
    ss_error err;
    ss_assembly *assembly = known(ss_assembly_create(with->formulation, with->options, &err), &err);
    if (!ss_assemble(assembly, frame, NULL, &err)) known(NULL, &err);
    ss_problem *problem = ss_assembly_problem(assembly);
    ss_answer *answer = NULL;
    if (!ss_solver_refusal(ss_solver_find(method), problem)) {
        double *x = known(ss_allocate((size_t)problem->size, sizeof *x), NULL);
        answer = known(ss_answer_create(frame, ss_frame_has_moments(frame), &err), &err);
        ss_solve_result result = run(method, problem, x);
        *found = (finding){result.status == SS_RAY, result.gauge[SS_GAUGE_RELATIVE_ENERGY]};
        ss_solve_result_free(&result);
        ss_assembly_recover(assembly, x, answer);
        ss_release(x);
    }
    ss_assembly_destroy(assembly);
    return answer;
}

/* m/s and rad/s: what moves before the step, what gravity adds, what moves after it */
static double speed_of(const ss_frame *frame, const ss_answer *answer)
{
    double speed = 0.0;
    for (int body = 0; body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        const double *f = frame->bodies.force[body];
        speed = fmax(speed, largest(frame->bodies.velocity[body], NULL, 6));
        speed = fmax(speed, largest(answer->velocity[body], NULL, 6));
        speed = fmax(speed, frame->h * largest(f, NULL, 3) / frame->bodies.mass[body]);
    }
    return speed > 0.0 ? speed : 1.0;
}

/* Returns how many methods took part; *unsolvable when one of them has shown that there is no solution. */
static int compare_on_frame(const char *place, const ss_frame *frame, const formulated *with,
                            bool *unsolvable)
{
    ss_answer *first = NULL;
    const char *first_name = NULL;
    int count = 0;
    *unsolvable = false;
    for (int m = 0; m < METHODS; m++) {
        finding found;
        ss_answer *answer = answer_of(methods[m], frame, with, &found);
        if (!answer) continue;
        count++;
        *unsolvable |= found.ray;
        if (!*unsolvable && !(found.error < agreed))
            KIT_FAIL("%s, %s, %s: error %g", place, with->formulation->name, methods[m], found.error);
        if (first && !*unsolvable) {
            double apart = largest(answer->velocity[0], first->velocity[0], 6 * answer->bodies);
            if (!(apart <= with->agreed * speed_of(frame, first) * kit_tolerance_scale()))
                KIT_FAIL("%s, %s: %s and %s are %g apart, of %g", place, with->formulation->name, first_name,
                         methods[m], apart, speed_of(frame, first));
        }
        if (first)
            ss_answer_destroy(answer);
        else
            first = answer, first_name = methods[m];
    }
    ss_answer_destroy(first);
    return count;
}

/* Every `every`-th good frame of a file. *unsolvable counts those without a solution. */
static void compare_on_file(const char *name, int every, const formulated *with, int least_methods,
                            int *unsolvable)
{
    ss_error err;
    char path[PATH], place[100];
    *unsolvable = 0;
    NEED_SHARED(path, "bpmd", name, "");
    ss_bpmd *file = known(ss_bpmd_open(path, NULL, NULL, &err), &err);
    for (int i = 0; i < ss_bpmd_frame_count(file); i += every) {
        ss_findings findings = {0};
        ss_frame *frame = known(ss_bpmd_read(file, i, &findings, &err), &err);
        if (!ss_bpmd_frame_path(file, i, place, sizeof place)) place[0] = 0;
        bool none = false;
        if (ss_frame_check(frame, place, &findings)) {
            int count = compare_on_frame(place, frame, with, &none);
            if (count < least_methods) KIT_FAIL("%s: %d methods, expected %d", place, count, least_methods);
        }
        *unsolvable += none;
        ss_findings_free(&findings);
        ss_frame_destroy(frame);
    }
    ss_bpmd_close(file);
}

static const struct {
    const char *name;
    int every; // the stacks of six boxes take the longest
} files[] = {{"chain10_gazebo6.h5", 1},
             {"sphere1_gazebo11.h5", 1},
             {"stack6_gazebo6.h5", 2},
             {"ode_january2013.h5", 1}};
enum { FILES = 4 };

static void compare_on_all(const formulated *with, int least_methods)
{
    for (int i = 0; i < FILES && !kit_skip_reason; i++) {
        int unsolvable;
        compare_on_file(files[i].name, files[i].every, with, least_methods, &unsolvable);
        if (unsolvable) KIT_FAIL("%s: %d frames without a solution", files[i].name, unsolvable);
    }
}

TEST(without_friction_all_methods_find_the_same_motion_in_real_frames)
{
    formulated with = formulate("frictionless", NULL, 0);
    compare_on_all(&with, 5);
}

/* Infinite friction over contacts that touch at nearly one place leaves a matrix of condition 1e9: rounding
 * alone moves velocities by 1e-7. A coefficient of 1 is large enough for everything to stick that can. */
TEST(with_friction_bounds_fixed_all_methods_find_the_same_motion_in_real_frames)
{
    const char *set[] = {"bound=previous", "mu_max=1"};
    formulated with = formulate("box", set, 2);
    compare_on_all(&with, 5);
}

TEST(under_the_convex_law_interior_point_and_newton_find_the_same_motion_in_real_frames)
{
    const char *set[] = {"mu_max=1"};
    formulated with = formulate("convex", set, 1);
    compare_on_all(&with, 3);
}

TEST(bodies_glued_to_what_moves_apart_have_no_motion_and_it_is_said)
{
    formulated with = formulate("convex", NULL, 0);
    with.agreed = 1e-7; // condition 1e9, as above
    int unsolvable;
    compare_on_file("ode_january2013.h5", 1, &with, 3, &unsolvable);
    if (kit_skip_reason) return;
    ENSURE_INT(unsolvable, 6);
}

/* ---- problems of FCLIB ---------------------------------------------------------------------------- */

/* The problem without its tangents: what is left is linear. */
static ss_problem *normal_part(const ss_problem *problem)
{
    ss_error err;
    int *place = known(ss_allocate((size_t)problem->size + 1, sizeof *place), NULL), size = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = 0; i < block->size; i++)
            place[block->first + i] = i == 0 || !ss_block_is_cone(block) ? size++ : -1;
    }
    ss_problem *part = known(ss_problem_create(size, problem->block_count, -1, &err), &err);
    ss_triplets entries;
    if (!ss_triplets_start(&entries, (size_t)ss_sparse_nonzeros(problem->A), &err)) known(NULL, &err);
    for (int j = 0; j < problem->size; j++) {
        for (int k = problem->A->start[j]; place[j] >= 0 && k < problem->A->start[j + 1]; k++) {
            int i = place[problem->A->row[k]];
            if (i >= 0) ss_triplets_add(&entries, i, place[j], problem->A->value[k]);
        }
    }
    part->A = known(ss_triplets_finish(&entries, size, size, &err), &err);
    for (int k = 0; k < problem->block_count; k++) {
        ss_block *block = &part->blocks[k];
        *block = problem->blocks[k];
        block->first = place[block->first];
        if (!ss_block_is_cone(block)) continue;
        block->law = SS_LAW_BOX;
        block->size = 1;
        part->lower[block->first] = 0.0;
    }
    for (int i = 0; i < problem->size; i++) {
        if (place[i] >= 0) part->b[place[i]] = problem->b[i];
    }
    ss_problem_matrix_changed(part);
    ss_release(place);
    return part;
}

/* w = A x + b is the velocity here. */
static void compare_on_problem(const char *name, ss_problem *problem, int least_methods)
{
    ss_error err;
    size_t n = (size_t)problem->size;
    double *x = known(ss_allocate(n, sizeof *x), NULL), *w = known(ss_allocate(n, sizeof *w), NULL);
    double *first = known(ss_allocate(n, sizeof *first), NULL);
    const char *first_name = NULL;
    int count = 0;
    if (!ss_problem_need_matrix(problem, &err)) known(NULL, &err);
    for (int m = 0; m < METHODS; m++) {
        if (ss_solver_refusal(ss_solver_find(methods[m]), problem)) continue;
        memset(x, 0, n * sizeof *x);
        ss_solve_result result = run(methods[m], problem, x);
        double error = result.gauge[SS_GAUGE_RELATIVE_ENERGY];
        ss_solve_result_free(&result);
        ss_problem_apply(problem, x, NULL, w);
        if (!(error < agreed)) KIT_FAIL("%s: %s leaves %g", name, methods[m], error);
        double apart = first_name ? largest(w, first, problem->size) : 0.0,
               speed = largest(problem->b, NULL, problem->size);
        if (!(apart <= agreed * speed * kit_tolerance_scale()))
            KIT_FAIL("%s: %s and %s are %g apart, of %g", name, first_name, methods[m], apart, speed);
        if (!first_name) memcpy(first, w, n * sizeof *w), first_name = methods[m];
        count++;
    }
    if (count < least_methods) KIT_FAIL("%s: %d methods, expected %d", name, count, least_methods);
    ss_release(x);
    ss_release(w);
    ss_release(first);
}

static ss_problem *read_problem(const char *path)
{
    ss_error err;
    ss_fclib_kind kinds[3];
    ss_findings findings = {0};
    if (ss_fclib_kinds(path, kinds, &err) < 1) known(NULL, &err);
    ss_fclib *file = known(ss_fclib_read(path, kinds[0], NULL, &findings, &err), &err);
    ss_problem *problem = known(ss_problem_from_cone(file->cone, &err), &err);
    ss_findings_free(&findings);
    ss_fclib_destroy(file);
    return problem;
}

static void compare_on_folder(void (*compare)(const char *name, ss_problem *problem))
{
    char folder[PATH], path[2 * PATH];
    NEED_SHARED(folder, "fclib", "", "");
    DIR *directory = opendir(folder);
    ENSURE(directory != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strstr(entry->d_name, ".hdf5")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ss_problem *problem = read_problem(path);
        compare(entry->d_name, problem);
        ss_problem_destroy(problem);
        count++;
    }
    closedir(directory);
    ENSURE(count >= 18);
}

static void compare_convex(const char *name, ss_problem *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->blocks[k].law == SS_LAW_CONE) problem->blocks[k].law = SS_LAW_CONVEX;
    }
    compare_on_problem(name, problem, 3);
}

static void compare_frictionless(const char *name, ss_problem *problem)
{
    ss_problem *part = normal_part(problem);
    compare_on_problem(name, part, 5);
    ss_problem_destroy(part);
}

TEST(fclib_problems_under_the_convex_law_have_one_velocity)
{
    compare_on_folder(compare_convex);
}

TEST(fclib_problems_without_friction_have_one_velocity_for_all_methods)
{
    compare_on_folder(compare_frictionless);
}

TEST_MAIN
