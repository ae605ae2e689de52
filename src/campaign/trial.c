#include "campaign/trial.h"

#include <math.h>
#include <string.h>

#define REFERENCE_STOP "natural_map<1e-12"
#define REFERENCE_ENOUGH 1e-8 /* natural map up to which an answer may be called the true one */
#define REFERENCE_ITERATIONS 200000

/* ---- judging ------------------------------------------------------------------------------------- */

static const ss_step_options *step_of(const ss_method *method)
{
    return method->formulation_options;
}

static bool recover(const ss_method *method, const ss_frame *frame, const ss_problem *problem,
                    const double *x, ss_answer *answer, ss_error *err)
{
    return method->formulation->recover(frame, method->formulation_options, problem, x, answer, err);
}

typedef struct watch { /* what a stop rule by metric needs at an iteration */
    const ss_method *method;
    const ss_frame *frame;
    const ss_trial *trial;
    ss_answer *answer;
    ss_metric_value *values;
} watch;

/* A metric that does not apply does not hold: where nothing rests yet, nothing creeps. */
static bool rule_holds(const double *x, void *context)
{
    watch *at = context;
    const ss_metric_rule *rule = &at->method->rule;
    ss_case what = {.frame = at->frame,
                    .answer = at->answer,
                    .step = step_of(at->method),
                    .problem = at->frame ? NULL : at->trial->problem,
                    .x = x,
                    .skip_exact = strcmp(ss_metric_at(rule->metric)->name, "energy_exact") != 0};
    if (at->frame && !recover(at->method, at->frame, at->trial->problem, x, at->answer, NULL)) return false;
    if (!ss_judge(&what, at->values, NULL, NULL)) return false;
    const ss_metric_value *value = &at->values[rule->metric];
    return value->applies && fabs(value->value) < rule->below;
}

static void judge_nothing(ss_trial *trial)
{
    for (int i = 0; i < ss_metric_count(); i++) {
        trial->metrics[i] = (ss_metric_value){.value = NAN, .worst_contact = -1, .worst_constraint = -1};
        trial->metrics[i].why = trial->refusal;
    }
}

static bool judge(const ss_method *method, const ss_frame *frame, const ss_answer *reference, ss_trial *trial,
                  ss_error *err)
{
    ss_case what = {.frame = frame,
                    .answer = trial->answer,
                    .step = step_of(method),
                    .problem = frame ? NULL : trial->problem,
                    .x = trial->x,
                    .reference = reference};
    return ss_judge(&what, trial->metrics, trial->contact_energy, err);
}

/* ---- the true answer ----------------------------------------------------------------------------- */

static bool solve_cone(const ss_method *method, const ss_frame *frame, ss_problem *problem,
                       const volatile int *cancel, double *x, ss_truth *found, ss_error *err)
{
    const ss_formulation *cone = ss_formulation_find("cone");
    ss_run_options run = {.max_iterations = REFERENCE_ITERATIONS,
                          .stop = REFERENCE_STOP,
                          .keep = "best:natural_map",
                          .seed = method->run.seed};
    if (method->run.max_iterations > run.max_iterations) run.max_iterations = method->run.max_iterations;
    if (!(ss_problem_laws(problem) & SS_LAW_CONE)) run.keep = "best:relative_energy";
    if (!ss_solve(method->reference, NULL, problem, &run, NULL, cancel, x, &found->result, err)) return false;
    double map = found->result.gauge[SS_GAUGE_NATURAL_MAP],
           energy = found->result.gauge[SS_GAUGE_RELATIVE_ENERGY];
    if (found->result.status == SS_NOT_APPLICABLE) return true;
    if (!(map <= REFERENCE_ENOUGH) && !(isnan(map) && energy <= REFERENCE_ENOUGH)) return true;
    found->answer = ss_answer_create(frame, frame->contacts.mu_rolling != NULL, err);
    return found->answer && cone->recover(frame, method->cone_options, problem, x, found->answer, err);
}

bool ss_truth_find(const ss_method *method, const ss_frame *frame, const volatile int *cancel,
                   ss_truth *found, ss_error *err)
{
    const ss_formulation *cone = ss_formulation_find("cone");
    ss_problem *problem = cone->assemble(frame, method->cone_options, NULL, err);
    double *x = problem ? ss_allocate((size_t)problem->size, sizeof *x) : NULL;
    if (problem && !x) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);
    *found = (ss_truth){0};
    bool good = x && solve_cone(method, frame, problem, cancel, x, found, err);
    ss_release(x);
    ss_problem_destroy(problem);
    if (!good) ss_truth_free(found);
    return good;
}

void ss_truth_free(ss_truth *truth)
{
    ss_solve_result_free(&truth->result);
    ss_answer_destroy(truth->answer);
    *truth = (ss_truth){0};
}

static void blame_reference(ss_trial *trial)
{
    static const char *const names[] = {"distance", "trust"};
    for (int i = 0; i < 2; i++)
        trial->metrics[ss_metric_index(names[i])].why = "the reference solver did not reach natural_map 1e-8";
}

/* ---- the run ------------------------------------------------------------------------------------- */

static bool make_room(const ss_frame *frame, ss_trial *trial, ss_error *err)
{
    trial->contacts = frame ? frame->contacts.count : 0;
    for (int k = 0; !frame && k < trial->problem->block_count; k++) {
        if (trial->problem->blocks[k].contact >= trial->contacts)
            trial->contacts = trial->problem->blocks[k].contact + 1;
    }
    trial->metrics = ss_allocate((size_t)ss_metric_count(), sizeof *trial->metrics);
    trial->contact_energy = ss_allocate((size_t)trial->contacts, sizeof *trial->contact_energy);
    if (frame) trial->answer = ss_answer_create(frame, frame->contacts.mu_rolling != NULL, err);
    if (frame && !trial->answer) return false;
    return (trial->metrics && trial->contact_energy) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the metrics of %d contacts", trial->contacts);
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

bool ss_trial_solve(const ss_method *method, const ss_frame *frame, const volatile int *cancel,
                    ss_trial *trial, ss_error *err)
{
    if (!make_room(frame, trial, err)) return false;
    watch at = {method, frame, trial, trial->answer, trial->metrics};
    ss_stop_test test = {rule_holds, &at};
    ss_run_options run = method->run;
    run.scene_energy = scene_energy(frame);
    trial->refusal = ss_solver_refusal(method->solver, trial->problem);
    return ss_solve_until(method->solver, method->solver_options, trial->problem, &run,
                          method->rule.metric >= 0 ? &test : NULL, NULL, cancel, trial->x, &trial->result,
                          err);
}

bool ss_trial_judge(const ss_method *method, const ss_frame *frame, const ss_truth *truth, ss_trial *trial,
                    ss_error *err)
{
    if (trial->refusal) {
        judge_nothing(trial);
        return true;
    }
    if (frame && !recover(method, frame, trial->problem, trial->x, trial->answer, err)) return false;
    if (!judge(method, frame, truth ? truth->answer : NULL, trial, err)) return false;
    if (truth) {
        if (!truth->answer) blame_reference(trial);
        trial->has_reference = true;
        trial->reference = truth->result;
        trial->reference.ray = (ss_ray){0}; // the truth's own
    }
    return true;
}

void ss_trial_free(ss_trial *trial)
{
    ss_problem_destroy(trial->problem);
    ss_answer_destroy(trial->answer);
    ss_solve_result_free(&trial->result);
    ss_release(trial->x);
    ss_release(trial->metrics);
    ss_release(trial->contact_energy);
}
