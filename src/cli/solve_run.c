/* `stickslip solve`: one run of the solver, and what its answer is worth. */
#include "cli/solve.h"

#include "cli/guard.h"

#include <math.h>
#include <string.h>

#define REFERENCE_STOP "natural_map<1e-12"
#define REFERENCE_ENOUGH 1e-8 /* natural map up to which an answer may be called the true one */
#define REFERENCE_ITERATIONS 200000

/* ---- judging ------------------------------------------------------------------------------------- */

static const ss_step_options *step_of(const ss_solving *solving)
{
    return solving->formulation_options;
}

static bool recover(const ss_solving *solving, const ss_frame *frame, const ss_problem *problem,
                    const double *x, ss_answer *answer, ss_error *err)
{
    return solving->formulation->recover(frame, solving->formulation_options, problem, x, answer, err);
}

typedef struct watch { /* what a stop rule by metric needs at an iteration */
    const ss_solving *solving;
    const ss_frame *frame;
    const ss_solved *solved;
    ss_answer *answer;
    ss_metric_value *values;
} watch;

/* A metric that does not apply does not hold: where nothing rests yet, nothing creeps. */
static bool rule_holds(const double *x, void *context)
{
    watch *at = context;
    const ss_metric_rule *rule = &at->solving->rule;
    ss_case what = {.frame = at->frame,
                    .answer = at->answer,
                    .step = step_of(at->solving),
                    .problem = at->frame ? NULL : at->solved->problem,
                    .x = x,
                    .skip_exact = strcmp(ss_metric_at(rule->metric)->name, "energy_exact") != 0};
    if (at->frame && !recover(at->solving, at->frame, at->solved->problem, x, at->answer, NULL)) return false;
    if (!ss_judge(&what, at->values, NULL, NULL)) return false;
    const ss_metric_value *value = &at->values[rule->metric];
    return value->applies && fabs(value->value) < rule->below;
}

static void judge_nothing(ss_solved *solved)
{
    for (int i = 0; i < ss_metric_count(); i++) {
        solved->metrics[i] = (ss_metric_value){.value = NAN, .worst_contact = -1, .worst_constraint = -1};
        solved->metrics[i].why = solved->refusal;
    }
}

static bool judge(const ss_solving *solving, const ss_frame *frame, const ss_answer *reference,
                  ss_solved *solved, ss_error *err)
{
    ss_case what = {.frame = frame,
                    .answer = solved->answer,
                    .step = step_of(solving),
                    .problem = frame ? NULL : solved->problem,
                    .x = solved->x,
                    .reference = reference};
    return ss_judge(&what, solved->metrics, solved->contact_energy, err);
}

/* ---- the true answer ----------------------------------------------------------------------------- */

typedef struct truth {
    ss_answer *answer;
    ss_solve_result result;
} truth;

static bool solve_cone(const ss_solving *solving, const ss_frame *frame, ss_problem *problem, double *x,
                       truth *found, ss_error *err)
{
    const ss_formulation *cone = ss_formulation_find("cone");
    ss_run_options run = {.max_iterations = REFERENCE_ITERATIONS,
                          .stop = REFERENCE_STOP,
                          .keep = "best:natural_map",
                          .seed = solving->run.seed};
    if (solving->run.max_iterations > run.max_iterations) run.max_iterations = solving->run.max_iterations;
    if (!(ss_problem_laws(problem) & SS_LAW_CONE)) run.keep = "best:relative_energy";
    if (!ss_solve(solving->reference, NULL, problem, &run, NULL, ss_guard_cancel(), x, &found->result, err))
        return false;
    double map = found->result.gauge[SS_GAUGE_NATURAL_MAP],
           energy = found->result.gauge[SS_GAUGE_RELATIVE_ENERGY];
    if (found->result.status == SS_NOT_APPLICABLE) return true;
    if (!(map <= REFERENCE_ENOUGH) && !(isnan(map) && energy <= REFERENCE_ENOUGH)) return true;
    found->answer = ss_answer_create(frame, frame->contacts.mu_rolling != NULL, err);
    return found->answer && cone->recover(frame, solving->cone_options, problem, x, found->answer, err);
}

/* found->answer stays NULL when the reference solver does not get there. */
static bool find_truth(const ss_solving *solving, const ss_frame *frame, truth *found, ss_error *err)
{
    const ss_formulation *cone = ss_formulation_find("cone");
    ss_problem *problem = cone->assemble(frame, solving->cone_options, NULL, err);
    double *x = problem ? ss_allocate((size_t)problem->size, sizeof *x) : NULL;
    if (problem && !x) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);
    bool good = x && solve_cone(solving, frame, problem, x, found, err);
    ss_release(x);
    ss_problem_destroy(problem);
    return good;
}

static void blame_reference(ss_solved *solved)
{
    static const char *const names[] = {"distance", "trust"};
    for (int i = 0; i < 2; i++)
        solved->metrics[ss_metric_index(names[i])].why =
            "the reference solver did not reach natural_map 1e-8";
}

static bool judge_with_truth(const ss_solving *solving, const ss_frame *frame, ss_solved *solved,
                             ss_error *err)
{
    truth found = {0};
    bool wanted = solving->reference && frame;
    bool good = (!wanted || find_truth(solving, frame, &found, err)) &&
                judge(solving, frame, found.answer, solved, err);
    if (good && wanted && !found.answer) blame_reference(solved);
    if (good && wanted) {
        solved->has_reference = true;
        solved->reference = found.result;
        solved->reference.ray = (ss_ray){0}; // freed here
    }
    ss_solve_result_free(&found.result);
    ss_answer_destroy(found.answer);
    return good;
}

/* ---- the run ------------------------------------------------------------------------------------- */

static bool make_room(const ss_frame *frame, ss_solved *solved, ss_error *err)
{
    solved->contacts = frame ? frame->contacts.count : 0;
    for (int k = 0; !frame && k < solved->problem->block_count; k++) {
        if (solved->problem->blocks[k].contact >= solved->contacts)
            solved->contacts = solved->problem->blocks[k].contact + 1;
    }
    solved->metrics = ss_allocate((size_t)ss_metric_count(), sizeof *solved->metrics);
    solved->contact_energy = ss_allocate((size_t)solved->contacts, sizeof *solved->contact_energy);
    if (frame) solved->answer = ss_answer_create(frame, frame->contacts.mu_rolling != NULL, err);
    if (frame && !solved->answer) return false;
    return (solved->metrics && solved->contact_energy) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the metrics of %d contacts", solved->contacts);
}

/* Kinetic energy plus the work of the forces of one step, 1/2 sum m (|v| + h |f|/m)^2: the scale of "*scene". */
static double scene_energy(const ss_frame *frame)
{
    double sum = 0.0;
    for (int body = 0; frame && body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        const double *v = frame->bodies.velocity[body], *f = frame->bodies.force[body];
        double mass = frame->bodies.mass[body], speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        speed += frame->h * sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) / mass;
        sum += 0.5 * mass * speed * speed;
    }
    return sum;
}

static bool solve(const ss_solving *solving, const ss_frame *frame, ss_solved *solved, ss_error *err)
{
    char doing[400];
    watch at = {solving, frame, solved, solved->answer, solved->metrics};
    ss_stop_test test = {rule_holds, &at};
    ss_run_options run = solving->run;
    run.scene_energy = scene_energy(frame);
    snprintf(doing, sizeof doing, "solving %s with %s", solved->place, solving->solver->name);
    ss_guard_doing(doing);
    bool good = ss_solve_until(solving->solver, solving->solver_options, solved->problem, &run,
                               solving->rule.metric >= 0 ? &test : NULL, NULL, ss_guard_cancel(), solved->x,
                               &solved->result, err);
    ss_guard_doing("");
    return good || ss_fail_in(err, "solve");
}

bool ss_solving_run(ss_solving *solving, const ss_frame *frame, ss_solved *solved, ss_error *err)
{
    if (!make_room(frame, solved, err)) return false;
    solved->refusal = ss_solver_refusal(solving->solver, solved->problem);
    if (!solve(solving, frame, solved, err)) return false;
    if (solved->refusal) {
        judge_nothing(solved);
        return true;
    }
    if (frame && !recover(solving, frame, solved->problem, solved->x, solved->answer, err)) return false;
    return judge_with_truth(solving, frame, solved, err);
}

void ss_solved_free(ss_solved *solved)
{
    ss_problem_destroy(solved->problem);
    ss_answer_destroy(solved->answer);
    ss_solve_result_free(&solved->result);
    ss_release(solved->x);
    ss_release(solved->metrics);
    ss_release(solved->contact_energy);
}
