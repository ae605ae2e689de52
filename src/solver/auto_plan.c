#include "solver/auto_plan.h"

#include <limits.h>
#include <math.h>

#include "problem/laws.h"

extern const ss_solver ss_solver_admm, ss_solver_block_pivot, ss_solver_coloured, ss_solver_dantzig,
    ss_solver_fischer_newton, ss_solver_interior_point, ss_solver_lemke, ss_solver_minmap_newton,
    ss_solver_nncg;

/* ---- features --------------------------------------------------------------------------------------- */

/* Measured on the problems of docs/solving.md; decisions use the costs in sweeps, and seconds are for notes only. A step of
 * Newton's method: 10 sweeps on 9 unknowns, 30 to 60 on 100, 90 on 400, 100 to 140 on 1200, with bodies and without. Factors
 * of the bodies' matrix fill with the number of bodies in a packing, while a structure has many contacts per body. */
ss_auto_features ss_auto_look(const ss_problem *problem)
{
    static const double per_entry = 0.7e-9, per_call = 0.3e-6; // s
    double n = problem->size;
    ss_auto_features f = {.unknowns = problem->size,
                          .contacts = ss_problem_contacts(problem),
                          .bodies = problem->bodies ? problem->bodies->bodies : 0,
                          .laws = ss_problem_laws(problem)};
    double entries = problem->bodies ? 12.0 * n : problem->A ? (double)problem->A->start[problem->size] : 0.0;
    f.sweep = per_call + per_entry * entries;
    f.factorise = 4.0 * sqrt(n);
    f.split = 6.0 + 24.0 * f.bodies * cbrt(f.bodies) / fmax(n, 1.0);
    return f;
}

/* ---- the plan --------------------------------------------------------------------------------------- */

static const ss_newton_start from_iterate = {.sweeps = 0, .regularization = 0.01};

static bool add(const ss_problem *problem, ss_auto_plan *plan, ss_auto_choice choice)
{
    if (plan->count == SS_AUTO_CHOICES || ss_solver_refusal(choice.solver, problem)) return false;
    plan->at[plan->count++] = choice;
    return true;
}

static ss_auto_choice sweeps(const ss_solver *solver)
{
    return (ss_auto_choice){
        .solver = solver, .watch = SS_WATCH_RATE, .budget = INT_MAX, .per_iteration = 1.0};
}

/* Boxes on boxes have several contacts in every face, and many per body. */
static ss_auto_choice splitting(const ss_auto_features *f)
{
    bool structure = f->bodies && f->contacts >= 5 * f->bodies;
    return (ss_auto_choice){.solver = &ss_solver_admm,
                            .watch = SS_WATCH_RATE,
                            .budget = 400,
                            .least = 20,
                            .per_iteration = f->split,
                            .cost = (structure ? 12.0 : 20.0) * f->split + f->factorise,
                            .from_start = true};
}

static ss_auto_choice newton(const ss_solver *solver, ss_auto_watch watch, const ss_auto_features *f)
{
    return (ss_auto_choice){.solver = solver,
                            .options = &from_iterate,
                            .watch = watch,
                            .budget = watch == SS_WATCH_STEPS ? 30 : INT_MAX,
                            .fall = 4.0,
                            .per_iteration = f->factorise,
                            .cost = 8.0 * f->factorise,
                            .is_judge = true};
}

static ss_auto_choice interior(const ss_auto_features *f)
{
    return (ss_auto_choice){.solver = &ss_solver_interior_point,
                            .watch = SS_WATCH_NOTHING,
                            .budget = INT_MAX,
                            .per_iteration = 1.3 * f->factorise,
                            .cost = 15.0 * f->factorise,
                            .is_judge = true};
}

static ss_auto_choice pivots(const ss_solver *solver, const ss_auto_features *f)
{
    return (ss_auto_choice){.solver = solver,
                            .watch = SS_WATCH_NOTHING,
                            .budget = INT_MAX,
                            .per_iteration = f->factorise,
                            .cost = 5.0 * f->factorise};
}

void ss_auto_plan_sweeps(const ss_problem *problem, ss_auto_plan *plan)
{
    if (!add(problem, plan, sweeps(&ss_solver_coloured))) add(problem, plan, sweeps(&ss_solver_nncg));
}

/* Linear complementarity: a few exchanges of many unknowns at once, or one by one where that has no proof. */
static void plan_boxes(const ss_problem *problem, const ss_auto_features *f, ss_auto_plan *plan)
{
    enum { FEW = 2000, VERY_FEW = 150 };
    bool few = f->unknowns <= FEW;
    if (f->laws & SS_LAW_COUPLED) {
        if (f->bodies) add(problem, plan, splitting(f));
        add(problem, plan, newton(&ss_solver_minmap_newton, SS_WATCH_STEPS, f));
        if (f->unknowns <= VERY_FEW) add(problem, plan, pivots(&ss_solver_dantzig, f));
        return;
    }
    bool one_by_one = problem->symmetric ? f->unknowns <= VERY_FEW : few;
    ss_auto_choice blocks = pivots(&ss_solver_block_pivot, f);
    if (one_by_one) blocks.budget = 12; // a few exchanges do, or it goes back and forth
    if (problem->symmetric) add(problem, plan, blocks);
    if (one_by_one) add(problem, plan, pivots(&ss_solver_lemke, f));
    add(problem, plan, newton(&ss_solver_minmap_newton, SS_WATCH_STEPS, f));
    add(problem, plan, interior(f));
    if (!one_by_one) add(problem, plan, pivots(&ss_solver_lemke, f));
}

static void plan_cones(const ss_problem *problem, const ss_auto_features *f, ss_auto_plan *plan)
{
    enum { FEW = 48 }; // unknowns: then matrices are full, and Newton steps cost next to nothing
    bool joints = f->laws & SS_LAW_FREE; // where they repeat each other both creep
    if (!f->bodies || f->unknowns <= FEW)
        add(problem, plan, newton(&ss_solver_minmap_newton, SS_WATCH_STEPS, f));
    else if (!joints)
        add(problem, plan, splitting(f));
    add(problem, plan, interior(f));
}

void ss_auto_plan_others(const ss_problem *problem, const ss_auto_features *f, ss_auto_plan *plan)
{
    bool cones = f->laws & (SS_LAW_CONE | SS_LAW_CONVEX);
    (cones ? plan_cones : plan_boxes)(problem, f, plan);
    add(problem, plan, newton(&ss_solver_fischer_newton, SS_WATCH_NOTHING, f));
    add(problem, plan, newton(&ss_solver_minmap_newton, SS_WATCH_NOTHING, f));
    ss_auto_choice patient = splitting(f);
    patient.watch = SS_WATCH_NOTHING, patient.budget = INT_MAX;
    add(problem, plan, patient);
}
