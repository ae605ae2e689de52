/* `stickslip run --study dt`: is it the step or the solver that the error comes from? The scene is simulated
 * four times over the same time: as asked for, and with h, h/2 and h/4 solved to 1e-8. The distance between
 * the first two is what the solver leaves; the distance of the second from the last is the error of the step,
 * which is of first order: |x_h - x| = 4/3 |x_h - x_(h/4)|. */
#include "cli/run/run.h"

#include "cli/terminal/describe.h"
#include "cli/terminal/progress.h"
#include "cli/sandbox.h"
#include "cli/terminal/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RUNS = 4, SAMPLES = 50 };

/* One of the runs: what it costs, and where the bodies are at the sampled times. */
typedef struct study_run {
    const char *name;
    int refine; /* h is divided by it */
    bool solved;
    int64_t steps;
    double seconds, iterations; /* all steps together */
    double energy;              /* J, at the end */
    double (*position)[3];      /* of all bodies at the first sample, then at the second ... */
    char solver[64];
} study_run;

/* Root mean square of the distances between the bodies of two runs, over samples first..last. */
static double distance(const study_run *a, const study_run *b, int bodies, int first, int last)
{
    double sum = 0.0;
    size_t from = (size_t)first * (size_t)bodies, to = (size_t)(last + 1) * (size_t)bodies;
    for (size_t i = from; i < to; i++)
        for (int k = 0; k < 3; k++) {
            double d = a->position[i][k] - b->position[i][k];
            sum += d * d;
        }
    return to > from ? sqrt(sum / (double)(to - from)) : 0.0;
}

static bool simulate(const ss_command *command, study_run *to, int *bodies, ss_error *err)
{
    ss_running run = {
        .command = command, .options = command->options, .refine = to->refine, .solved = to->solved};
    ss_progress_line progress = ss_progress_line_begin(command);
    bool good = ss_running_build(&run, err);
    if (good) {
        *bodies = ss_world_body_count(run.world);
        to->steps = run.steps;
        snprintf(to->solver, sizeof to->solver, "%s", run.sim_options.solver);
        to->position = ss_allocate((size_t)SAMPLES * (size_t)*bodies, sizeof *to->position);
        if (!to->position) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    }

    // Sample k is taken after the step that ends at (k + 1) / SAMPLES of the time, in all runs the same.
    for (int k = 0; good && k < SAMPLES; k++) {
        int64_t until = run.steps / to->refine * (k + 1) / SAMPLES * to->refine;
        while (good && ss_sim_steps(run.sim) < until) {
            if (ss_sandbox_interrupted()) {
                good = ss_fail(err, SS_ERROR_USAGE, "run: the study was interrupted");
                break;
            }
            good = ss_sim_step(run.sim, err);
            ss_sim_report last = ss_sim_last(run.sim);
            to->seconds += last.seconds;
            to->iterations += last.iterations;
            ss_progress_line_show(&progress, to->name, ss_sim_steps(run.sim), run.steps);
        }
        for (int b = 0; good && b < *bodies; b++)
            memcpy(to->position[(size_t)k * (size_t)*bodies + (size_t)b],
                   ss_world_body(run.world, b)->position, sizeof *to->position);
    }
    if (good) {
        ss_world_energy energy = ss_world_measure(run.world);
        to->energy = energy.kinetic + energy.potential;
    }

    ss_progress_line_end(&progress);
    ss_running_free(&run);
    return good;
}

/* What was found, in m: the errors of the run that was asked for. */
typedef struct study_verdict {
    double step, solver;        /* over the whole time */
    double order;               /* of the step's error; NAN where rounding decides */
    double halving, tightening; /* factors of the cost */
} study_verdict;

static void print(const ss_command *command, const study_run run[RUNS], int bodies, const study_verdict *v)
{
    static const unsigned char expendable[] = {6, 5, 2, 0};
    ss_table table = {.columns = 7, .left = 1, .expendable = expendable};
    ss_out *out = command->out;
    int last = SAMPLES - 1;
    ss_describe_title(out, command->arguments[0], "the error of the step and the error of the solver");
    ss_table_add(&table, "run");
    ss_table_add(&table, "steps");
    ss_table_add(&table, "iterations");
    ss_table_add(&table, "cost [s]");
    ss_table_add(&table, "distance [m]");
    ss_table_add(&table, "at the end [m]");
    ss_table_add(&table, "energy [J]");
    for (int i = 0; i < RUNS; i++) {
        ss_table_add(&table, "%s, %s", run[i].name, run[i].solver);
        ss_table_add(&table, "%lld", (long long)run[i].steps);
        ss_table_add(&table, "%.4g", run[i].iterations);
        ss_table_add(&table, "%.3g", run[i].seconds);
        if (i < RUNS - 1) {
            ss_table_add(&table, "%.3g", distance(&run[i], &run[3], bodies, 0, last));
            ss_table_add(&table, "%.3g", distance(&run[i], &run[3], bodies, last, last));
        } else {
            ss_table_add(&table, "reference");
            ss_table_add(&table, "reference");
        }
        ss_table_add(&table, "%.6g", run[i].energy);
    }
    ss_table_print(&table, out);
    ss_text_append(&out->text, "\n");

    // What to do about it: what decides is three times the other.
    char words[700];
    if (!isnan(v->order)) {
        snprintf(words, sizeof words, "Root mean square over %d bodies at %d times; order of the step %.2f.",
                 bodies, SAMPLES, v->order);
        ss_out_paragraph(out, 2, words);
    }
    if (v->step == 0.0 && v->solver == 0.0)
        snprintf(words, sizeof words, "Nothing differs: neither the step nor the solver matters.");
    else if (v->solver >= 3.0 * v->step)
        snprintf(words, sizeof words,
                 "The solver decides: it leaves %.2g m, the step %.2g m. Solving to 1e-8 (--accurate) saves "
                 "about %.2g m and costs %.2g times as much; a smaller step alone would save nothing.",
                 v->solver, v->step, v->solver, v->tightening);
    else if (v->step >= 3.0 * v->solver)
        snprintf(words, sizeof words,
                 "The step decides: it leaves %.2g m, the solver %.2g m. Halving h saves about %.2g m and "
                 "costs %.2g times as much; solving more accurately saves at most %.2g m.",
                 v->step, v->solver, 0.5 * v->step, v->halving, v->solver);
    else
        snprintf(words, sizeof words,
                 "Both count: the step leaves %.2g m, the solver %.2g m. Halving h costs %.2g times as much, "
                 "solving to 1e-8 %.2g times.",
                 v->step, v->solver, v->halving, v->tightening);
    ss_out_paragraph(out, 2, words);

    // A first-order method halves its error with h. Where contacts are hit at other moments it may not.
    if (v->step > 0.0 && v->solver < 3.0 * v->step && !(v->order > 0.5))
        ss_out_paragraph(
            out, 2,
            "The distances do not shrink with h as those of a first-order method do: contacts are "
            "hit at other moments, or the motion is chaotic. Take the numbers as orders of "
            "magnitude, or shorten the time (--time).");
}

static void print_json(const ss_command *command, const study_run run[RUNS], int bodies,
                       const study_verdict *v)
{
    ss_json json = {.text = &command->out->text};
    ss_json_begin_object(&json);
    ss_json_member_text(&json, "scene", command->arguments[0]);
    ss_json_member_real(&json, "step_error", v->step);
    ss_json_member_real(&json, "solver_error", v->solver);
    ss_json_member_real(&json, "order", v->order);
    ss_json_member_real(&json, "cost_of_halving", v->halving);
    ss_json_member_real(&json, "cost_of_solving", v->tightening);

    // Distances are from the last run, which has the smallest step.
    ss_json_key(&json, "runs");
    ss_json_begin_array(&json);
    for (int i = 0; i < RUNS; i++) {
        ss_json_begin_object(&json);
        ss_json_member_text(&json, "name", run[i].name);
        ss_json_member_text(&json, "solver", run[i].solver);
        ss_json_key(&json, "steps"), ss_json_integer(&json, run[i].steps);
        ss_json_member_real(&json, "iterations", run[i].iterations);
        ss_json_member_real(&json, "seconds", run[i].seconds);
        ss_json_member_real(&json, "distance", distance(&run[i], &run[3], bodies, 0, SAMPLES - 1));
        ss_json_member_real(&json, "energy", run[i].energy);
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

bool ss_study_run(const ss_command *command, ss_error *err)
{
    const ss_run_verb_options *options = command->options;
    if (strcmp(options->study, "dt") != 0)
        return ss_fail(err, SS_ERROR_USAGE, "run: --study %s: unknown study; there is 'dt'", options->study);
    if (options->record || options->checkpoint || options->trace || options->picture)
        return ss_fail(err, SS_ERROR_USAGE,
                       "run: --study simulates four times: it does not go with --record, --checkpoint, "
                       "--trace or --picture");

    study_run run[RUNS] = {{.name = "as asked for", .refine = 1},
                           {.name = "h, 1e-8", .refine = 1, .solved = true},
                           {.name = "h/2, 1e-8", .refine = 2, .solved = true},
                           {.name = "h/4, 1e-8", .refine = 4, .solved = true}};
    int bodies = 0;
    bool good = true;
    for (int i = 0; good && i < RUNS; i++) good = simulate(command, &run[i], &bodies, err);
    if (good) {
        double coarse = distance(&run[1], &run[3], bodies, 0, SAMPLES - 1);
        double fine = distance(&run[2], &run[3], bodies, 0, SAMPLES - 1);
        study_verdict verdict = {
            .step = 4.0 / 3.0 * coarse,
            .solver = distance(&run[0], &run[1], bodies, 0, SAMPLES - 1),
            // |x_h - x_(h/4)| / |x_(h/2) - x_(h/4)| = (4^p - 1) / (2^p - 1) = 2^p + 1
            .order = fine > 0.0 && coarse > fine ? log2(coarse / fine - 1.0) : NAN,
            .halving = run[1].seconds > 0.0 ? run[2].seconds / run[1].seconds : NAN,
            .tightening = run[0].seconds > 0.0 ? run[1].seconds / run[0].seconds : NAN,
        };
        if (options->json)
            print_json(command, run, bodies, &verdict);
        else
            print(command, run, bodies, &verdict);
    }
    for (int i = 0; i < RUNS; i++) ss_release(run[i].position);
    return good;
}
