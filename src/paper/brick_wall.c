/* The wall of the publication: a direct solver drives it, and on the problem of every step projected
 * Gauss-Seidel is watched from zero by three measures.
 *
 * The problem of a step is the paper's Eq. 1, a mixed linear complementarity problem with a friction box: the
 * bounds are mu times the normal impulses of the step before. The print gives neither sizes nor h; ours are
 * those of the scene. */
#include "paper/scene_run.h"

#include "formulation/box.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 100, POINTS = ITERATIONS + 1, MEASURES = 3 };
static const ss_gauge gauges[MEASURES] = {SS_GAUGE_FISCHER_BURMEISTER, SS_GAUGE_NATURAL_RESIDUAL,
                                          SS_GAUGE_ENERGY};
static const char *const names[MEASURES] = {"Fischer-Burmeister", "natural residual", "energy error"};
static const char *const keys[MEASURES] = {"fischer-burmeister", "natural-residual", "energy"};

typedef struct wall {
    ss_assembly *assembly;
    ss_answer *sweeps; /* what PGS leaves behind */
    ss_solve_result swept;
    double *normals; /* of the step before */
    int contacts;
    int steps, done, missed;  /* missed: steps that the direct solver did not solve */
    double *curves[MEASURES]; /* [step][iteration]; iteration 0 is x = 0 */
} wall;

/* ---- one step --------------------------------------------------------------------------------------- */

static bool watch_sweeps(wall *w, ss_problem *problem, double *x, ss_error *err)
{
    double start[SS_GAUGE_COUNT];
    memset(x, 0, (size_t)problem->size * sizeof *x);
    ss_solve_result_free(&w->swept);
    if (!ss_problem_measure(problem, x, start, err) ||
        !ss_paper_solve("pgs", "sweep=forward", ITERATIONS, "none", problem, x, &w->swept, err))
        return false;
    for (int m = 0; m < MEASURES; m++) {
        double *curve = w->curves[m] + (size_t)w->done * POINTS;
        const double *history = w->swept.history.gauge[gauges[m]];
        curve[0] = start[gauges[m]];
        // a solver that ends early, at rounding, stays where it is
        for (int k = 0; k < ITERATIONS; k++)
            curve[k + 1] = k < w->swept.history.count ? history[k] : curve[k];
    }
    return true;
}

/* Solves the step directly, from zero; that answer moves the wall. */
static bool drive(ss_sim *sim, const ss_frame *frame, ss_answer *answer, void *context, ss_error *err)
{
    wall *w = context;
    (void)sim;
    ss_box_options *options = ss_assembly_options(w->assembly);
    options->normal_impulses = w->contacts == frame->contacts.count ? w->normals : NULL;
    if (!ss_assemble(w->assembly, frame, NULL, err)) return false;
    ss_problem *problem = ss_assembly_problem(w->assembly);
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    if (!x) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");

    // the direct solver
    ss_solve_result direct = {0};
    bool good = ss_paper_solve("block-pivot", NULL, 2000, "relative_energy<1e-9", problem, x, &direct, err);
    if (good) {
        ss_assembly_recover(w->assembly, x, answer);
        w->missed += direct.status != SS_CONVERGED;
    }
    ss_solve_result_free(&direct);

    // the sweeps, from zero
    good = good && w->done < w->steps && watch_sweeps(w, problem, x, err);
    if (good) {
        ss_answer_destroy(w->sweeps);
        w->sweeps = ss_answer_create(frame, false, err);
        good = w->sweeps != NULL;
        if (good) ss_assembly_recover(w->assembly, x, w->sweeps);
        w->done++;
    }
    ss_release(x);
    if (!good) return false;

    // bounds of the next step
    ss_release(w->normals);
    w->contacts = frame->contacts.count;
    w->normals = ss_allocate((size_t)w->contacts, sizeof *w->normals);
    if (!w->normals) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    memcpy(w->normals, answer->normal_impulse, (size_t)w->contacts * sizeof *w->normals);
    return true;
}

/* ---- statistics ------------------------------------------------------------------------------------- */

typedef struct statistics {
    double mean[POINTS], low[POINTS], high[POINTS]; /* mean, and mean -+ the standard deviation */
    int peak;                                       /* iteration where the mean is largest */
    double rise;                                    /* mean there over mean at the start */
    double rate;                                    /* decades per iteration */
} statistics;

static void summarise(const wall *w, int measure, statistics *of)
{
    double iteration[POINTS];
    *of = (statistics){0};
    for (int k = 0; k < POINTS; k++) {
        double sum = 0.0, squares = 0.0;
        for (int s = 0; s < w->done; s++) sum += w->curves[measure][s * POINTS + k];
        of->mean[k] = sum / w->done;
        for (int s = 0; s < w->done; s++) squares += pow(w->curves[measure][s * POINTS + k] - of->mean[k], 2);
        double deviation = sqrt(squares / (w->done - 1));
        of->low[k] = of->mean[k] - deviation;
        of->high[k] = of->mean[k] + deviation;
        iteration[k] = k;
        if (of->mean[k] > of->mean[of->peak]) of->peak = k;
    }
    of->rise = of->mean[of->peak] / of->mean[0];
    of->rate = ss_paper_log_slope(ITERATIONS - 20 + 1, iteration + 20, of->mean + 20);
}

static void draw(ss_paper_report *report, const wall *w, const statistics of[MEASURES])
{
    double iteration[POINTS];
    for (int k = 0; k < POINTS; k++) iteration[k] = k;
    for (int part = 0; part < 2; part++) {
        for (int m = 0; m < MEASURES; m++) {
            ss_figure *figure = ss_paper_figure(
                report, ss_paper_format(report, "%s_%s", part ? "all" : "mean", keys[m]),
                ss_paper_format(report, "%s, %s", names[m], part ? "every step" : "mean and deviation"),
                part ? "As the lower row of Fig. 9: one curve for each step."
                     : "As the upper row of Fig. 9: mean over the steps, and its deviation.");
            figure->panel = true;
            figure->x.label = "iteration of PGS";
            figure->y = (ss_plot_axis){.label = m == 2 ? "J" : "mixed units", .log = true};

            if (!part) {
                ss_figure_band(figure, "standard deviation", POINTS, iteration, of[m].low, of[m].high)->tint =
                    m;
                ss_figure_line(figure, "mean", POINTS, iteration, of[m].mean)->tint = m;
                continue;
            }
            for (int s = 0; s < w->done; s++) {
                ss_plot_series *line =
                    ss_figure_line(figure, NULL, POINTS, iteration, w->curves[m] + (size_t)s * POINTS);
                line->tint = m;
                line->width = 0.6;
                line->opacity = 0.35;
            }
        }
    }
}

/* Steps whose curve is higher at some iteration than at x = 0. */
static int rising_steps(const wall *w, int measure)
{
    int count = 0;
    for (int s = 0; s < w->done; s++) {
        const double *curve = w->curves[measure] + (size_t)s * POINTS;
        bool rises = false;
        for (int k = 1; k < POINTS; k++) rises = rises || curve[k] > curve[0];
        count += rises;
    }
    return count;
}

static void judge(ss_paper_report *report, const wall *w)
{
    statistics of[MEASURES];
    for (int m = 0; m < MEASURES; m++) summarise(w, m, &of[m]);
    const statistics *energy = &of[2];
    ss_paper_claim(report, "steps that the direct solver missed", "steps", w->missed, w->missed == 0,
                   "block pivoting to a relative energy error of 1e-9, on every problem");
    for (int m = 0; m < 2; m++) {
        ss_paper_reproduces(report, ss_paper_format(report, "%s: peak of the mean", names[m]), "iteration",
                            "rises in about the first ten iterations", of[m].peak,
                            of[m].peak >= 5 && of[m].peak <= 15, NULL);
        ss_paper_reproduces(report, ss_paper_format(report, "%s: peak over start", names[m]), "1", "rises",
                            of[m].rise, of[m].rise > 1.1, NULL);
        ss_paper_claim(report, ss_paper_format(report, "%s: steps on which it rises", names[m]), "1",
                       (double)rising_steps(w, m) / w->done, rising_steps(w, m) > 0.9 * w->done,
                       "share of all steps");
        int back = of[m].peak;
        while (back < ITERATIONS && of[m].mean[back] > of[m].mean[0]) back++;
        ss_paper_number(report, ss_paper_format(report, "%s: back at its start", names[m]), "iteration", NULL,
                        back, back == ITERATIONS ? "not within 100 iterations" : NULL);
    }

    ss_paper_reproduces(report, "energy error: peak of the mean", "iteration", "does not rise", energy->peak,
                        energy->peak == 0, "the start x = 0 is the worst");
    ss_paper_reproduces(report, "energy error: steps on which it rises", "steps", "does not rise",
                        rising_steps(w, 2), rising_steps(w, 2) == 0, NULL);
    for (int m = 0; m < MEASURES; m++)
        ss_paper_number(report, ss_paper_format(report, "%s: decay", names[m]), "decades/100 it", NULL,
                        100.0 * of[m].rate, "of the mean, least squares over iterations 20 to 100");
    for (int m = 0; m < 2; m++) {
        double ratio = energy->rate / of[m].rate;
        ss_paper_reproduces(
            report, ss_paper_format(report, "decay of the energy error over that of %s", names[m]), "1",
            "about 2", ratio, ratio > 1.8 && ratio < 2.2, "it is a square of what the others measure");
    }

    ss_paper_text(
        report,
        "PGS passes the weight of the wall down one course in each sweep. While impulses grow from zero, "
        "their bounds are not reached and velocities are wrong in more and more rows: measures that add "
        "impulses to velocities rise, although every sweep brings the wall nearer to rest. The energy "
        "error weighs both by the mass that they concern, and falls from the first sweep on.");
    draw(report, w, of);
}

static bool run(ss_paper_report *report, ss_error *err)
{
    wall w = {.steps = report->quick ? 40 : 500};
    static const char *const settings[] = {"solver=block-pivot", "islands=false", NULL};
    ss_scene_run scene;
    const ss_formulation *box = ss_formulation_find("box");
    ss_box_options options;
    ss_options_defaults(box->options, &options);
    options.bound = SS_BOX_PREVIOUS;
    options.normal_impulses = NULL;
    w.assembly = ss_assembly_create(box, &options, err);
    bool good = w.assembly != NULL;

    for (int m = 0; good && m < MEASURES; m++) {
        w.curves[m] = ss_allocate((size_t)w.steps * POINTS, sizeof *w.curves[m]);
        good = w.curves[m] || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    }

    good = ss_scene_run_open(&scene, report, "brick-wall", NULL, settings, good ? err : NULL) && good;
    if (good) ss_sim_replace_dynamics(scene.sim, drive, &w);
    good = good && ss_scene_run_record(&scene, "wall",
                                       "The wall, driven by block pivoting, with the answers of PGS", 1, err);
    for (int s = 0; good && s < w.steps; s++) {
        ss_paper_progress(report, "step", s, w.steps);
        good = ss_scene_run_step(&scene, err) &&
               (!scene.broke || ss_fail(err, scene.why.code, "%s", scene.why.message)) &&
               ss_scene_run_result(&scene, "pgs", w.assembly, w.sweeps, &w.swept, err);
    }

    if (good) judge(report, &w);
    good = ss_scene_run_close(&scene, good ? err : NULL) && good;
    for (int m = 0; m < MEASURES; m++) ss_release(w.curves[m]);
    ss_assembly_destroy(w.assembly);
    ss_answer_destroy(w.sweeps);
    ss_solve_result_free(&w.swept);
    ss_release(w.normals);
    return good;
}

const ss_paper ss_paper_brick_wall = {
    .id = "brick-wall",
    .title = "projected Gauss-Seidel on a wall of 30 bricks, watched by three measures",
    .reference = "Enzenhöfer, Peiret, Teichmann, Kövecses 2019, section 5.2 and Fig. 9",
    .about =
        "Twelve courses of 3 and 2 bricks in turn (0.24 x 0.115 x 0.071 m, ours), small gaps beside them, mu "
        "0.6, h 0.01 s. Block pivoting drives 500 steps; on each step's mixed complementarity problem, "
        "friction "
        "bounds from the step before, projected Gauss-Seidel runs 100 iterations from zero.",
    .run = run,
};
