/* Bodies that are wedged in: impulses that can grow without bound and move nothing (ss_ray). A ray comes
 * from a run that ended with one, or a Newton method is asked to look for one. */
#include "diagnosis/diagnose.h"

#include <math.h>
#include <string.h>

/* ---- looking ---------------------------------------------------------------------------------------- */

/* A run on a copy of the struct: the matrix that it may make is dropped again. */
static bool search(ss_diagnosing *d, const ss_solver *solver, ss_solve_result *result)
{
    ss_problem copy = *d->problem;
    double *x = ss_allocate((size_t)copy.size, sizeof *x);
    ss_run_options run = {.max_iterations = d->options->ray_search,
                          .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-8}};
    ss_error err;
    bool good =
        x && ss_solve(&(ss_solve_request){.solver = solver, .problem = &copy, .run = &run}, x, result, &err);
    if (copy.A != d->problem->A) ss_sparse_destroy(copy.A);
    ss_release(x);
    return good;
}

/* Who notices rays, and takes this problem: interior-point does not take coupled bounds. */
static const ss_solver *searcher(const ss_problem *problem)
{
    static const char *const names[] = {"interior-point", "minmap-newton"};
    for (int k = 0; k < 2; k++) {
        const ss_solver *solver = ss_solver_find(names[k]);
        if (solver && !ss_solver_refusal(solver, problem)) return solver;
    }
    return NULL;
}

/* Factorisations of dense matrices get costly soon. */
static bool is_affordable(const ss_problem *problem)
{
    static const int most_of_bodies = 30000, most = 2000;
    return problem->size > 0 && problem->size <= (problem->bodies ? most_of_bodies : most);
}

/* ---- telling ---------------------------------------------------------------------------------------- */

static void name_wedged_bodies(ss_diagnosing *d, const bool *marked)
{
    enum { NAMED = 4 };
    const ss_bodies_form *form = d->problem->bodies;
    bool *touched = form ? ss_allocate((size_t)form->bodies, sizeof *touched) : NULL;
    ss_text *text = &d->text;
    if (!touched) return;
    int named = 0;
    for (int i = 0; i < d->problem->size; i++) {
        for (int side = 0; marked[i] && side < 2; side++) {
            if (form->pair[i][side] >= 0) touched[form->pair[i][side]] = true;
        }
    }
    for (int b = 0; b < form->bodies; b++) {
        if (!touched[b] || named++ >= NAMED) continue;
        ss_text_appendf(text, "%s%d", named == 1 ? " on body " : ", ",
                        d->options->body ? d->options->body[b] : b);
    }
    if (named > NAMED) ss_text_appendf(text, " and %d more", named - NAMED);
    ss_release(touched);
}

static bool tell(ss_diagnosing *d, const ss_ray *ray)
{
    static const double share = 0.01; // of the energy of the ray
    const ss_problem *problem = d->problem;
    bool *marked = ss_allocate((size_t)problem->size, sizeof *marked);
    if (!marked) return false;
    int count = 0, worst = -1;
    double most = 0.0, work = 0.0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        double here = 0.0;
        for (int i = block->first; i < block->first + block->size; i++)
            here += 0.5 * problem->diagonal[i] * ray->impulse[i] * ray->impulse[i];
        if (here > most) most = here, worst = block->first;
        if (!(here > share)) continue;
        marked[block->first] = true;
        count++;
    }
    for (int i = 0; i < problem->size; i++) work -= problem->b[i] * ray->impulse[i];
    ss_text_append(&d->text, ray->is_proof ? "no velocity satisfies all of " : "wedged: ");
    ss_name_marked(problem, marked, &d->text);
    name_wedged_bodies(d, marked);
    ss_text_append(&d->text, "; impulses can grow there without moving anything");
    if (!ray->is_proof)
        ss_text_append(&d->text, ", and only sliding against growing friction could be a solution");
    ss_diagnosing_tell(
        d, ray->is_proof ? SS_SEVERITY_FATAL : SS_SEVERITY_WARNING, SS_DEFECT_WEDGED, count, work, worst,
        ray->is_proof ? "less friction cannot help; look at the gaps, joint errors and prescribed "
                        "velocities of these: ignoring overlaps (gap_term=zero) or joint errors "
                        "(joint_term=zero) helps where they contradict each other"
                      : "less friction (mu_max=1 in the formulation) or ignoring overlaps "
                        "(gap_term=zero) may help, as may moving walls or prescribed bodies apart");
    ss_release(marked);
    return true;
}

bool ss_diagnose_ray(ss_diagnosing *d)
{
    if (d->options->ray) return !d->options->ray->impulse || tell(d, d->options->ray);
    const ss_solver *solver = searcher(d->problem);
    if (d->options->ray_search <= 0 || !d->is_symmetric || !solver || !is_affordable(d->problem)) return true;
    ss_solve_result result = {0};
    bool good = search(d, solver, &result);
    if (good && result.status == SS_RAY && result.ray.impulse) good = tell(d, &result.ray);
    ss_solve_result_free(&result);
    return good;
}
