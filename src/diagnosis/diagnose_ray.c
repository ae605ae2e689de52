/* Bodies that are wedged in: impulses that can grow without bound and move nothing (ss_ray). A ray comes
 * from a run that ended with one, or a Newton method is asked to look for one. */
#include "diagnosis/diagnose.h"

#include <math.h>
#include <string.h>

static bool tell(ss_diagnosing *d, const ss_ray *ray)
{
    enum { NAMED = 4 };
    static const double share = 0.01; // of the energy of the ray
    const ss_problem *problem = d->problem;
    const ss_bodies_form *form = problem->bodies;
    bool *marked = ss_allocate((size_t)problem->size, sizeof *marked);
    bool *touched = form ? ss_allocate((size_t)form->bodies, sizeof *touched) : NULL;
    if (!marked || (form && !touched)) {
        ss_release(marked);
        ss_release(touched);
        return false;
    }

    // Blocks with a share in it, by energy.
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

    // The bodies that these act on.
    int named = 0;
    for (int i = 0; form && i < problem->size; i++)
        for (int side = 0; marked[i] && side < 2; side++)
            if (form->pair[i][side] >= 0) touched[form->pair[i][side]] = true;
    for (int b = 0; form && b < form->bodies; b++) {
        if (!touched[b] || named++ >= NAMED) continue;
        ss_text_appendf(&d->text, "%s%d", named == 1 ? " on body " : ", ",
                        d->options->body ? d->options->body[b] : b);
    }
    if (named > NAMED) ss_text_appendf(&d->text, " and %d more", named - NAMED);
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
    ss_release(touched);
    return true;
}

bool ss_diagnose_ray(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    if (d->options->ray) return !d->options->ray->impulse || tell(d, d->options->ray);

    // A solver that notices rays and accepts this problem: interior-point does not accept coupled bounds.
    static const char *const names[] = {"interior-point", "minmap-newton"};
    const ss_solver *solver = NULL;
    for (int k = 0; k < 2 && !solver; k++) {
        const ss_solver *one = ss_solver_find(names[k]);
        if (one && !ss_solver_refusal(one, problem)) solver = one;
    }

    // Factorisations of dense matrices get costly soon.
    static const int most_of_bodies = 30000, most = 2000;
    bool affordable = problem->size > 0 && problem->size <= (problem->bodies ? most_of_bodies : most);
    if (d->options->ray_search <= 0 || !d->is_symmetric || !solver || !affordable) return true;

    // A run on a copy of the struct: the matrix that it may make is dropped again.
    ss_problem copy = *problem;
    double *x = ss_allocate((size_t)copy.size, sizeof *x);
    ss_run_options run = {.max_iterations = d->options->ray_search,
                          .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-8}};
    ss_solve_result result = {0};
    ss_error err;
    bool good =
        x && ss_solve(&(ss_solve_request){.solver = solver, .problem = &copy, .run = &run}, x, &result, &err);
    if (copy.A != problem->A) ss_sparse_destroy(copy.A);
    ss_release(x);
    if (good && result.status == SS_RAY && result.ray.impulse) good = tell(d, &result.ray);
    ss_solve_result_free(&result);
    return good;
}
