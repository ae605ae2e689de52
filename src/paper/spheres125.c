/* 125 spheres fall apart from a cube: how Newton-type solvers converge on 50 of 400 steps. The paper plots
 * Fischer-Newton on the complementarity problem of the friction polygon by the natural merit function; ours
 * is every Newton-type solver, on that problem, on friction cones and on the convex relaxation. */
#include "paper/scene_run.h"

#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 60, MOST_SAMPLES = 50, POINTS = MOST_ITERATIONS + 1 };
static const double target = 1e-8; // of the merit at the start

typedef struct method {
    const char *solver, *formulation;
    int samples, solved;
    double curve[MOST_SAMPLES][POINTS]; /* merit over merit at x = 0; NaN after the end */
    int steps[MOST_SAMPLES];            /* iterations to the target; MOST_ITERATIONS + 1: not reached */
    int unknowns;                       /* of the largest problem */
    int fast;                           /* solved samples whose last step is superlinear */
} method;

static const char *const formulations[] = {"stewart-trinkle", "cone", "convex"};
static const char *const problem_words[] = {"LCP of the friction polygon", "friction cones", "convex cones"};

static bool sample(method *m, const ss_frame *frame, ss_assembly *assembly, ss_error *err)
{
    if (!ss_assemble(assembly, frame, NULL, err)) return false;
    ss_problem *problem = ss_assembly_problem(assembly);
    double *x = ss_allocate((size_t)problem->size, sizeof *x), start[SS_GAUGE_COUNT];
    bool cones = strcmp(m->formulation, "stewart-trinkle") != 0;
    ss_solve_result result = {0};
    bool good = x || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    good = good && ss_problem_measure(problem, x, start, err) &&
           ss_paper_solve(m->solver, NULL, MOST_ITERATIONS,
                          cones ? "natural_map<1e-12" : "relative_energy<1e-12", problem, x, &result, err);
    if (good) {
        // Natural merit: on the polygon, whose rows are all x >= 0, w >= 0, the sum of |min(x, w)|; on cones
        // the natural map takes its place.
        ss_gauge gauge = cones ? SS_GAUGE_NATURAL_MAP : SS_GAUGE_NATURAL_RESIDUAL;
        const double *merit = result.history.gauge[gauge];
        double first = start[gauge];
        double *curve = m->curve[m->samples];
        int *steps = &m->steps[m->samples];
        *steps = MOST_ITERATIONS + 1;
        for (int k = 0; k < POINTS; k++) {
            curve[k] = k == 0 ? 1.0 : k <= result.history.count ? merit[k - 1] / first : NAN;
            if (*steps > MOST_ITERATIONS && curve[k] <= target) *steps = k;
        }
        m->solved += *steps <= MOST_ITERATIONS;

        // superlinear: the step that reaches the target gains more decades than the one before, or two at
        // once
        if (*steps >= 2 && *steps <= MOST_ITERATIONS) {
            double last = log10(curve[*steps - 1] / fmax(curve[*steps], 1e-16)),
                   before = log10(curve[*steps - 2] / curve[*steps - 1]);
            m->fast += last > before || last >= 2.0;
        } else {
            m->fast += *steps <= 1;
        }
        m->unknowns = problem->size > m->unknowns ? problem->size : m->unknowns;
        m->samples++;
    }
    ss_solve_result_free(&result);
    ss_release(x);
    return good;
}

static int median(const method *m)
{
    for (int k = 0; k <= MOST_ITERATIONS; k++) {
        int below = 0;
        for (int i = 0; i < m->samples; i++) below += m->steps[i] <= k;
        if (2 * below >= m->samples) return k;
    }
    return MOST_ITERATIONS + 1;
}

static void draw(ss_paper_report *report, const method *m)
{
    double iteration[POINTS];
    int longest = 1;
    for (int i = 0; i < m->samples; i++) {
        for (int k = 0; k < POINTS; k++) longest = isfinite(m->curve[i][k]) && k > longest ? k : longest;
    }
    for (int k = 0; k < POINTS; k++) iteration[k] = k;
    int f = strcmp(m->formulation, "cone") == 0 ? 1 : strcmp(m->formulation, "convex") == 0 ? 2 : 0;
    ss_figure *figure =
        ss_paper_figure(report, ss_paper_format(report, "%s_%s", m->solver, m->formulation),
                        ss_paper_format(report, "%s, %s", m->solver, problem_words[f]),
                        ss_paper_format(report, "%d of %d samples fall below 1e-8; median %d iterations.",
                                        m->solved, m->samples, median(m)));
    figure->panel = true;
    figure->x = (ss_plot_axis){.label = "iteration", .from = 0, .to = longest};
    figure->y = (ss_plot_axis){.label = "merit over start", .log = true, .from = 1e-16, .to = 1e2};
    for (int i = 0; i < m->samples; i++) {
        ss_plot_series *line = ss_figure_line(figure, NULL, longest + 1, iteration, m->curve[i]);
        line->tint = f;
        line->width = 0.8;
        line->opacity = 0.55;
    }
}

static bool run(ss_paper_report *report, ss_error *err)
{
    static const struct {
        const char *solver;
        int formulation;
    } which[] = {{"fischer-newton", 0}, {"minmap-newton", 0},  {"alart-curnier", 0}, {"interior-point", 0},
                 {"proximal-point", 0}, {"fischer-newton", 1}, {"minmap-newton", 1}, {"alart-curnier", 1},
                 {"interior-point", 1}, {"proximal-point", 1}, {"convex-newton", 2}};
    enum { METHODS = sizeof which / sizeof which[0] };
    const int steps = report->quick ? 80 : 400, every = report->quick ? 10 : 8;
    const char *parameters[] = {report->quick ? "edge=3" : "edge=5", NULL};
    static const char *const settings[] = {"solver=auto", "finisher=none", "stop=relative_energy<1e-8",
                                           "iterations=100000", NULL};
    method *methods = ss_allocate(METHODS, sizeof *methods);
    ss_assembly *assemblies[3] = {NULL};
    bool good = methods || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    for (int f = 0; good && f < 3; f++) {
        const ss_formulation *formulation = ss_formulation_find(formulations[f]);
        assemblies[f] = ss_assembly_create(formulation, NULL, err);
        good = assemblies[f] &&
               (f > 0 || ss_options_set(formulation->options, ss_assembly_options(assemblies[f]),
                                        "directions", "4", err));
    }
    for (int m = 0; good && m < METHODS; m++)
        methods[m] = (method){.solver = which[m].solver, .formulation = formulations[which[m].formulation]};

    // the run, and every solver on its samples
    ss_scene_run scene;
    good = ss_scene_run_open(&scene, report, "spheres125", parameters, settings, good ? err : NULL) && good;
    good =
        good && ss_scene_run_record(&scene, "spheres", "The spheres, every sample of the study", every, err);
    int samples = 0;
    for (int n = 1; good && n <= steps; n++) {
        ss_paper_progress(report, "step", n, steps);
        good = ss_scene_run_step(&scene, err) &&
               (!scene.broke || ss_fail(err, scene.why.code, "%s", scene.why.message));
        // a step without contacts has nothing to converge
        if (!good || (n - 1) % every != 0 || ss_sim_frame(scene.sim)->contacts.count == 0) continue;
        samples++;
        for (int m = 0; good && m < METHODS; m++)
            good = sample(&methods[m], ss_sim_frame(scene.sim), assemblies[which[m].formulation], err);
    }
    good = ss_scene_run_close(&scene, good ? err : NULL) && good;

    if (good) {
        ss_paper_reproduces(report, "samples", "1", "50 samples of 400 steps", samples,
                            samples == (report->quick ? 8 : 50),
                            report->quick ? "reduced: 27 spheres, 80 steps" : NULL);
        for (int m = 0; m < METHODS; m++) {
            const method *now = &methods[m];
            const char *problem = problem_words[which[m].formulation];
            bool printed = m == 0;
            const char *name = ss_paper_format(report, "%s, %s: samples that converge", now->solver, problem);
            if (printed)
                ss_paper_reproduces(report, name, "1", "converges by the natural merit function",
                                    (double)now->solved / samples, now->solved >= 0.98 * samples,
                                    "merit below 1e-8 of its start within 60 iterations");
            else
                ss_paper_claim(report, name, "1", (double)now->solved / samples, now->solved >= 0.9 * samples,
                               NULL);
            ss_paper_number(report,
                            ss_paper_format(report, "%s, %s: median iterations", now->solver, problem), "1",
                            NULL, median(now), NULL);
            if (printed)
                ss_paper_claim(
                    report, ss_paper_format(report, "%s, %s: superlinear at the end", now->solver, problem),
                    "1", (double)now->fast / samples, now->fast >= 0.9 * samples,
                    "share of samples whose last step gains more decades than the one before, or two");
        }
        ss_paper_text(
            report,
            "Each curve is one step, from x = 0. On the polygon's LCP the merit is the natural residual, the "
            "sum of |min(x, w)|, relative to its start; on cones it is De Saxcé's natural map. The problems "
            "have up to %d unknowns in the LCP and %d on cones.",
            methods[0].unknowns, methods[5].unknowns);
        for (int m = 0; m < METHODS; m++) draw(report, &methods[m]);
    }
    for (int f = 0; f < 3; f++) ss_assembly_destroy(assemblies[f]);
    ss_release(methods);
    return good;
}

const ss_paper ss_paper_spheres125 = {
    .id = "spheres125",
    .title = "how Newton-type solvers converge on 125 spheres",
    .reference = "Williams, Lu, Niebe, Andersen, Erleben, Trinkle 2013, Fig. 9b",
    .about =
        "125 spheres of 0.1 m in a cube, h = 0.01 s, 400 steps; on every eighth, each solver starts from "
        "zero, and "
        "its merit is recorded at every iteration.",
    .run = run,
};
