/* The loop of the BPMD paper: every frame of a file, friction by a polygon of n sides, Lemke's method, pivots
 * and metrics. The page shows the same ten lines for Octave and Python, which print the same numbers from the
 * same file. */
#include "paper/scene_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDES = 4, MOST_FRAMES = 64 };
static const int sides[SIDES] = {4, 8, 16, 32};

/* What the two programs print: frame, pivots, energy error, alignment. */
static const char octave_loop[] =
    "p = load(argv(){1});\n"
    "frames = p.simulation_000001;\n"
    "keys = fieldnames(frames);\n"
    "for k = find(strncmp(keys', 'mbs_frame', 9))\n"
    "  frame = frames.(keys{k});\n"
    "  [A, b] = h5_build_stap_reduced(frame, 8);\n"
    "  solved = ss_solve(struct('A', A, 'b', b), 'lemke', 'stop', 'none');\n"
    "  metrics = coulomb_metrics(frame, solved.x, 8);\n"
    "  printf('%s %d %.9g %.9g\\n', keys{k}, solved.iterations, metrics.energy, metrics.alignment);\n"
    "end\n";
static const char python_loop[] =
    "import sys\n"
    "import stickslip as ss\n"
    "\n"
    "for frame in ss.open(sys.argv[1]):\n"
    "    problem = frame.problem(\"stewart-trinkle\", sides=8)\n"
    "    solved = ss.solve(problem, \"lemke\", stop=\"none\")\n"
    "    metrics = frame.judge(problem.recover(solved.x))\n"
    "    print(frame.place.split(\"/\")[-1], solved.iterations, *(f\"{metrics[name].value:.9g}\" for name "
    "in (\"energy\", \"alignment\")))\n";

typedef struct outcome {
    int contacts, pivots[SIDES], unknowns[SIDES];
    double energy[SIDES], alignment[SIDES], creep[SIDES], penetration[SIDES]; /* J, 1, m/s, m */
    bool solved[SIDES];
} outcome;

static double metric(const ss_result *result, const char *name)
{
    for (int i = 0; i < ss_metric_count(); i++) {
        if (strcmp(ss_metric_at(i)->name, name) == 0) return result->metrics[i].value;
    }
    return NAN;
}

static bool solve(const ss_frame *frame, ss_session *const sessions[SIDES], outcome *to, ss_error *err)
{
    to->contacts = frame->contacts.count;
    for (int k = 0; k < SIDES; k++) {
        const ss_result *result = ss_session_solve(sessions[k], frame, NULL, err);
        if (!result) return false;
        to->pivots[k] = result->run.iterations;
        to->unknowns[k] = result->problem->size;
        to->energy[k] = metric(result, "energy");
        to->alignment[k] = metric(result, "alignment");
        to->creep[k] = metric(result, "creep");
        to->penetration[k] = metric(result, "penetration");
        to->solved[k] = result->run.gauge[SS_GAUGE_RELATIVE_ENERGY] < 1e-8;
    }
    return true;
}

static void judge(ss_paper_report *report, const outcome *of, int frames)
{
    double contacts[MOST_FRAMES], pivots[MOST_FRAMES], side[SIDES], energy[SIDES] = {0};
    int solved = 0, most = 0;
    ss_paper_table *table = ss_paper_add_table(
        report, "frames", "Every frame, 8 sides", "What the two programs below print, and more.",
        "frame|contacts|unknowns|pivots|energy (J)|alignment|creep (m/s)|penetration (m)");

    for (int f = 0; f < frames; f++) {
        const outcome *o = &of[f];
        ss_paper_cell(table, "mbs_frame%06d", f + 1);
        ss_paper_cell(table, "%d", o->contacts);
        ss_paper_cell(table, "%d", o->unknowns[1]);
        ss_paper_cell(table, "%d", o->pivots[1]);
        ss_paper_cell(table, "%.9g", o->energy[1]);
        ss_paper_cell(table, "%.9g", o->alignment[1]);
        ss_paper_cell(table, "%.9g", o->creep[1]);
        ss_paper_cell(table, "%.9g", o->penetration[1]);
        contacts[f] = o->contacts;
        pivots[f] = o->pivots[1];
        most = o->pivots[1] > most ? o->pivots[1] : most;
        for (int k = 0; k < SIDES; k++) {
            solved += o->solved[k];
            energy[k] += o->energy[k];
        }
    }

    ss_paper_reproduces(report, "problems that Lemke's method solves", "1",
                        "the loop of Sec. 4 runs over a file", (double)solved / (SIDES * frames),
                        solved == SIDES * frames,
                        ss_paper_format(report, "%d frames, polygons of 4, 8, 16 and 32 sides", frames));
    ss_paper_number(report, "most pivots, 8 sides", "pivots", NULL, most, NULL);
    for (int k = 0; k < SIDES; k++) side[k] = sides[k];
    ss_paper_number(report, "energy error of the polygon of 8 sides against the cone", "J", NULL, energy[1],
                    "sum over all frames: each LCP is solved exactly; this is what the polygon costs");
    ss_paper_claim(
        report, "energy error against the cone: 32 sides over 4 sides", "1", energy[3] / energy[0],
        energy[3] < energy[0],
        "a slip near a corner of the polygon gains nothing until the corners are closer than it is");

    ss_figure *figure =
        ss_paper_figure(report, "pivots", "Pivots against contacts, 8 sides", "One point for each frame.");
    figure->panel = true;
    figure->x.label = "contacts";
    figure->y.label = "pivots";
    ss_figure_points(figure, NULL, frames, contacts, pivots);

    ss_figure *finer = ss_paper_figure(report, "sides", "Energy error against the cone",
                                       "Sum over all frames, judged by Coulomb's law on cones.");
    finer->panel = true;
    finer->x = (ss_plot_axis){.label = "sides of the polygon", .log = true};
    finer->y = (ss_plot_axis){.label = "J", .log = true};
    ss_figure_line(finer, NULL, SIDES, side, energy);
}

static bool run(ss_paper_report *report, ss_error *err)
{
    const int steps = report->quick ? 100 : 200, from = 10, every = 5;
    static const char *const parameters[] = {"count=8", NULL};
    ss_session *sessions[SIDES] = {NULL};
    outcome *of = ss_allocate(MOST_FRAMES, sizeof *of);
    bool good = of || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    for (int k = 0; good && k < SIDES; k++) {
        char with[32];
        snprintf(with, sizeof with, "directions=%d", sides[k]);
        ss_request request = {.formulation = "stewart-trinkle",
                              .with = with,
                              .solver = "lemke",
                              .iterations = 100000,
                              .stop = "none",
                              .skip_exact = true};
        sessions[k] = ss_session_create(&request, err);
        good = sessions[k] != NULL;
    }

    // the file, then the loop over it; the first steps are in the air
    ss_scene_run scene;
    good = ss_scene_run_open(&scene, report, "log-pile", parameters, NULL, good ? err : NULL) && good;
    for (int n = 0; good && n < from; n++) good = ss_scene_run_step(&scene, err);
    good = good && ss_scene_run_record(&scene, "logs", "Eight logs", every, err);
    int frames = 0;
    for (int n = from; good && n < steps; n++) {
        ss_paper_progress(report, "step", n, steps);
        good = ss_scene_run_step(&scene, err);
        if (good && n % every == 0 && frames < MOST_FRAMES)
            good = solve(ss_sim_frame(scene.sim), sessions, &of[frames++], err);
    }
    good = ss_scene_run_close(&scene, good ? err : NULL) && good;
    for (int k = 0; k < SIDES; k++) ss_session_destroy(sessions[k]);
    if (good) {
        judge(report, of, frames);
        ss_paper_text(report,
                      "In Octave, with the toolbox on its path: octave lemke-loop.m lemke-loop_logs.h5");
        good = ss_paper_listing(report, "lemke-loop.m", octave_loop, err);
        ss_paper_text(report, "In Python, with the package: python3 lemke-loop.py lemke-loop_logs.h5");
        good = good && ss_paper_listing(report, "lemke-loop.py", python_loop, err);
    }
    ss_release(of);
    return good;
}

const ss_paper ss_paper_lemke_loop = {
    .id = "lemke-loop",
    .title = "every frame of a file by Lemke's method, in ten lines",
    .reference = "Lacoursière, Linde, Lu, Trinkle 2015, listing in Sec. 4",
    .about =
        "Frames of eight logs that fall onto a slope. Each becomes the linear complementarity problem of a "
        "friction polygon, is solved "
        "by Lemke's method, and is judged by Coulomb's law. The same loop in Octave and in Python is on the "
        "page.",
    .run = run,
};
