/* stickslip solvers NAME --convergence FILE.svg: how the error falls on three problems, for the pages about
 * the methods (docs/solvers). */
#include "base/file.h"
#include "cli/solvers/solvers.h"
#include "conformance/catalogue.h"
#include "conformance/frames.h"
#include "figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEMS = 3, ITERATIONS = 5000, POINTS = 160 };
#define WIDTH_MM 130.0
#define FLOOR 1e-12 /* relative energy below which a curve ends */

static const struct {
    const char *name;
    ss_tower_recipe towers;
    double growth; /* of the masses from one box of a tower to the next */
} problems[PROBLEMS] = {
    {"tower of 8 at rest", {.seed = 61, .towers = 1, .height = 8, .feet = 4, .mu_least = 0.4}, 1.0},
    {"3 towers pushed", {.seed = 62, .towers = 3, .height = 3, .feet = 4, .push = 0.5, .mu_least = 0.2}, 1.0},
    {"heavy on light, 1:125", {.seed = 63, .towers = 1, .height = 4, .feet = 3, .mu_least = 0.4}, 5.0},
};

/* The problem by the first formulation whose problem the solver accepts, from Coulomb's law on. */
static bool make_problem(int index, const ss_solver *solver, ss_known *made, const char **law, ss_error *err)
{
    static const char *const formulations[] = {"cone", "convex", "box", "stewart-trinkle", "frictionless"};
    ss_frame *frame = ss_mechanics_towers(&problems[index].towers, err);
    bool good = frame != NULL;
    for (int b = 0; good && b < frame->bodies.count; b++) {
        double factor = pow(problems[index].growth, b % problems[index].towers.height);
        frame->bodies.mass[b] *= factor;
        for (int i = 0; i < 9; i++) frame->bodies.inertia[b][i] *= factor;
        for (int i = 0; i < 6; i++) frame->bodies.force[b][i] *= factor;
    }

    *law = NULL;
    for (size_t f = 0; good && !*law && f < sizeof formulations / sizeof *formulations; f++) {
        good = ss_known_from_frame(problems[index].name, formulations[f], frame, made, err);
        if (good && !ss_solver_refusal(solver, made->problem))
            *law = formulations[f];
        else if (good)
            ss_known_free(made);
    }
    ss_frame_destroy(frame);
    return good;
}

static bool add_curve(ss_figure *figure, int index, const ss_solver *solver, int *longest, ss_error *err)
{
    ss_known of = {0};
    const char *law;
    if (!make_problem(index, solver, &of, &law, err)) return false;
    if (!law) return true; // too large for it

    ss_run_options run = {.max_iterations = ITERATIONS,
                          .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = FLOOR},
                          .seed = 1,
                          .history = true};
    ss_solve_result result = {0};
    double *x = ss_allocate((size_t)of.problem->size, sizeof *x);
    bool good = x && ss_solve(&(ss_solve_request){.solver = solver, .problem = of.problem, .run = &run}, x,
                              &result, err);
    if (good) {
        // Every iteration up to the floor, or as many points as can be seen, evenly in the logarithm.
        const double *gauge = result.history.gauge[SS_GAUGE_RELATIVE_ENERGY];
        double at[POINTS], error[POINTS];
        int last = 0, count = 0, before = 0;
        while (last < result.history.count && gauge[last] > FLOOR) last++;
        if (last < result.history.count) last++;
        for (int k = 0; k < POINTS && before < last; k++) {
            int iteration = last <= POINTS ? k + 1 : (int)lround(pow(last, (double)k / (POINTS - 1)));
            if (iteration <= before) continue;
            at[count] = before = iteration;
            error[count++] = fmax(gauge[iteration - 1], 0.1 * FLOOR);
        }

        char name[80];
        snprintf(name, sizeof name, "%s (%s)", problems[index].name, law);
        char *kept = ss_arena_take(figure->arena, sizeof name, 1, "legend");
        if (kept) {
            ss_plot_series *line = ss_figure_line(figure, memcpy(kept, name, sizeof name), count, at, error);
            line->tint = index;
            line->look = index + 1; // dashes tell them apart in grey
        }
        if (count > 0) *longest = at[count - 1] > *longest ? (int)at[count - 1] : *longest;
    }
    ss_solve_result_free(&result);
    ss_release(x);
    ss_known_free(&of);
    return good;
}

bool ss_solvers_convergence(const ss_solver *solver, const char *path, ss_error *err)
{
    size_t length = strlen(path);
    if (length < 4 || strcmp(path + length - 4, ".svg") != 0)
        return ss_fail(err, SS_ERROR_USAGE, "solvers: \"%s\": the picture of --convergence is a file .svg",
                       path);
    bool out_of_memory = false;
    int longest = 1;
    ss_arena *arena = ss_arena_create(1 << 16, err);
    ss_figure figure = {.name = "convergence",
                        .title = solver->name,
                        .x = {.label = "iteration"},
                        .y = {.label = "relative energy error", .log = true, .from = FLOOR, .to = 10.0},
                        .arena = arena,
                        .out_of_memory = &out_of_memory};
    bool good = arena != NULL;
    for (int k = 0; good && k < PROBLEMS; k++) good = add_curve(&figure, k, solver, &longest, err);
    if (good && figure.series_count == 0)
        good = ss_fail(err, SS_ERROR_USAGE, "solvers: %s does not accept any of the problems", solver->name);

    // Newton's steps are counted one by one, sweeps in hundreds.
    figure.x.log = longest > 100;
    figure.x.from = figure.x.log ? 1.0 : 0.0;
    figure.x.to = longest;
    ss_text svg = {0};
    if (good) {
        ss_figure_style style = ss_figure_for_print(WIDTH_MM);
        ss_figure_svg(&figure, &style, &svg);
        good = (!svg.out_of_memory && !out_of_memory) ||
               ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the picture");
    }
    good = good && ss_file_replace(path, svg.data, svg.length, err);
    ss_text_free(&svg);
    ss_arena_destroy(arena);
    return good;
}
