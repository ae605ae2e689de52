/* Minimal and maximal coordinates beside each other: as the step shrinks, with the number of links, and on
 * machines that touch the ground. MuJoCo's numbers for the same model files are shown if they are in the
 * directory as coordinates_mujoco.csv, which tools/study-coordinates writes. */
#include "paper/scene_run.h"

#include "base/deadline.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_H = 4, SIZES = 6, KINDS = 3, MOST_BODIES = 100 };

static const char *const kinds[KINDS][3] = {{"coordinates=maximal", "bias=midway", "maximal"},
                                            {"coordinates=minimal", "bias=midway", "minimal"},
                                            {"coordinates=minimal", "bias=explicit", "minimal, explicit"}};

/* What a run leaves behind. */
typedef struct outcome {
    int bodies;
    double position[MOST_BODIES][3]; /* m, at the end */
    double joint_error;              /* m or rad, largest */
    double energy_error;             /* largest change of the energy over the largest kinetic energy */
    double seconds;                  /* of a step, processor time: the fastest of ten parts of the run */
    bool broke;
} outcome;

static double processor_seconds(void)
{
    ss_clock_count_processor(true);
    double now = ss_clock_seconds();
    ss_clock_count_processor(false);
    return now;
}

static bool run_scene(ss_paper_report *report, const char *scene, const char *const *parameters,
                      const char *const *kind, double h, double time, outcome *to, ss_error *err)
{
    ss_scene_run run;
    const char *settings[] = {
        kind[0], kind[1], ss_paper_format(report, "dt=%.17g", h), "joint_tolerance=1e-9", "threads=1", NULL};
    int steps = (int)(time / h + 0.5), part = steps / 10 > 0 ? steps / 10 : 1;
    double start = 0.0, kinetic = 0.0, change = 0.0;
    *to = (outcome){.seconds = INFINITY};
    bool good = ss_scene_run_open(&run, report, scene, parameters, settings, err);
    for (int n = 0; good && n < steps; n++) {
        good = ss_scene_run_step(&run, err);
        if (!good || run.broke) break;
        ss_world_energy energy = ss_world_measure(run.world);
        if (n == 0) start = energy.kinetic + energy.potential; // 1e-6 of what follows has changed until then
        kinetic = fmax(kinetic, energy.kinetic);
        change = fmax(change, fabs(energy.kinetic + energy.potential - start));
        for (int j = 0; j < ss_world_joint_count(run.world); j++)
            to->joint_error = fmax(to->joint_error, ss_joint_error(run.world, j));
    }
    to->energy_error = change / kinetic;
    to->broke = run.broke;
    to->bodies = good ? ss_world_body_count(run.world) : 0;
    for (int b = 0; b < to->bodies && b < MOST_BODIES; b++)
        memcpy(to->position[b], ss_world_body(run.world, b)->position, sizeof to->position[b]);
    good = ss_scene_run_close(&run, good ? err : NULL) && good;

    /* Once more for the clock alone, which is looked at between parts: it costs as much as a few links. */
    if (!good) return false;
    good = ss_scene_run_open(&run, report, scene, parameters, settings, err);
    for (int k = 0; good && !run.broke && k < steps / part; k++) {
        double before = processor_seconds();
        for (int n = 0; good && n < part; n++) good = ss_scene_run_step(&run, err);
        to->seconds = fmin(to->seconds, (processor_seconds() - before) / part);
    }
    return ss_scene_run_close(&run, good ? err : NULL) && good;
}

static double apart(const outcome *a, const outcome *b)
{
    double most = 0.0;
    for (int k = 0; k < a->bodies && k < MOST_BODIES; k++) {
        const double *x = a->position[k], *y = b->position[k];
        most = fmax(most, hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]));
    }
    return most;
}

/* ---- as the step shrinks ----------------------------------------------------------------------------- */

static bool shrink_steps(ss_paper_report *report, ss_error *err)
{
    // a chain with a weight at its end is a pendulum of one more link
    static const char *const two[] = {"links=1", "weight=1", NULL}, *const three[] = {"links=2", "weight=1",
                                                                                      NULL};
    static const struct {
        const char *scene, *name;
        const char *const *parameters;
        double h, time;
    } cases[] = {{"hanging-rod", "pendulum", NULL, 0.004, 0.4},
                 {"chain", "double pendulum", two, 0.002, 0.4},
                 {"chain", "triple pendulum", three, 0.002, 0.4},
                 {"four-bar", "closed four-bar", NULL, 0.004, 0.4},
                 {"spinning-top", "spinning top", NULL, 0.0004, 0.1}};
    enum { CASES = sizeof cases / sizeof *cases };
    int count = report->quick ? 2 : STEPS_H;
    ss_figure *figure = ss_paper_figure(
        report, "order", "Both kinds of coordinates tend to one motion as h falls",
        "Largest distance of a body at the end of the run from where it is in minimal coordinates with an "
        "eighth of the shortest step. Both rules are of first order, so the lines have slope 1.");
    figure->x = (ss_plot_axis){.label = "time step, in units of the finest", .log = true, .doubling = true};
    figure->y = (ss_plot_axis){.label = "error (m)", .log = true, .words = SS_TICK_POWER};
    ss_paper_table *table = ss_paper_add_table(
        report, "steps", "As the step shrinks",
        "Errors at the coarsest step, their order, how far both are apart at the finest step, and joint "
        "errors there.",
        "mechanism|h (s)|error, maximal (m)|order|error, minimal (m)|order|apart, finest (m)|joint error, "
        "maximal|joint error, minimal");
    outcome *run = ss_arena_take(report->arena, 3, sizeof *run, "outcomes"), *exact = run + 2;
    if (!run) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    for (int c = 0; c < CASES; c++) {
        double x[STEPS_H], error[2][STEPS_H], order[2];
        for (int i = 0; i < count; i++) x[i] = 1.0 / (1 << (report->quick ? 2 * i : i));
        if (!run_scene(report, cases[c].scene, cases[c].parameters, kinds[1], cases[c].h * x[count - 1] / 8.0,
                       cases[c].time, exact, err))
            return false;
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < 2; k++) {
                if (!run_scene(report, cases[c].scene, cases[c].parameters, kinds[k], cases[c].h * x[i],
                               cases[c].time, &run[k], err))
                    return false;
                error[k][i] = apart(&run[k], exact);
            }
            ss_paper_progress(report, cases[c].name, i + 1, count);
        }
        for (int k = 0; k < 2; k++) {
            order[k] = log(error[k][0] / error[k][count - 1]) / log(x[0] / x[count - 1]);
            ss_paper_claim(report,
                           ss_paper_format(report, "%s: order of the error, %s", cases[c].name, kinds[k][2]),
                           "1", order[k], order[k] > 0.8, "first order in h, or better");
        }
        ss_paper_claim(report, ss_paper_format(report, "%s: joint error, minimal", cases[c].name), "m or rad",
                       run[1].joint_error, c == 3 ? run[1].joint_error < 2e-9 : run[1].joint_error < 1e-14,
                       c == 3 ? "the joint that closes the loop is corrected to 1e-9" : "at rounding");
        double shown[STEPS_H];
        for (int i = 0; i < count; i++) shown[i] = x[i] / x[count - 1];
        ss_figure_line(figure, cases[c].name, count, shown, error[1])->marks = count;
        ss_paper_cell(table, "%s", cases[c].name);
        ss_paper_cell(table, "%g", cases[c].h);
        for (int k = 0; k < 2; k++) {
            ss_paper_cell(table, "%.2e", error[k][0]);
            ss_paper_cell(table, "%.2f", order[k]);
        }
        ss_paper_cell(table, "%.1e", apart(&run[0], &run[1]));
        for (int k = 0; k < 2; k++) ss_paper_cell(table, "%.1e", run[k].joint_error);
    }
    return true;
}

/* ---- with the number of links ------------------------------------------------------------------------ */

/* A line of race_coordinates: MuJoCo beside us with its rule and with ours, in turn in one run. */
typedef struct beside {
    double links, their_cost, their_energy, explicit_cost, explicit_energy, apart, midway_cost, midway_energy;
} beside;

/* Its lines, in the order of the struct; how many. */
static int read_mujoco(ss_paper_report *report, beside *rows)
{
    enum { VALUES = sizeof *rows / sizeof rows->links };
    const char *path = ss_paper_path(report, "coordinates_mujoco.csv");
    size_t size = 0;
    unsigned char *bytes = path ? ss_file_read(path, 1 << 16, &size, NULL) : NULL;
    int count = 0;
    char *text = bytes ? ss_arena_take(report->arena, size + 1, 1, "a table") : NULL;
    if (text) memcpy(text, bytes, size);
    for (char *line = text; line && *line && count < SIZES;) {
        char *end = line;
        double values[VALUES];
        int read = 0;
        for (; read < VALUES; read++) {
            char *from = end;
            values[read] = strtod(from, &end);
            if (end == from) break;
            if (*end == ',') end++;
        }
        if (read == VALUES) memcpy(&rows[count++], values, sizeof values);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    ss_release(bytes);
    return count;
}

/* What a step costs here as a ratio to mj_step. */
static void show_beside(ss_paper_report *report, const beside *rows, int count)
{
    ss_paper_table *table = ss_paper_add_table(
        report, "beside", "Beside MuJoCo on the same model files",
        "Processor time of a step, the fastest of blocks of 20 steps, engines in turn; as a ratio to "
        "mj_step. With explicit forces both have the same rule: bodies are apart by rounding that grows.",
        "links|MuJoCo (us)|explicit (us)|ratio|energy error: MuJoCo|explicit|apart (m)|midway (us)|ratio|"
        "energy error");
    for (int i = 0; i < count; i++) {
        const beside *row = &rows[i];
        ss_paper_cell(table, "%g", row->links);
        ss_paper_cell(table, "%.1f", row->their_cost);
        ss_paper_cell(table, "%.1f", row->explicit_cost);
        ss_paper_cell(table, "%.2f", row->explicit_cost / row->their_cost);
        ss_paper_cell(table, "%.1e", row->their_energy);
        ss_paper_cell(table, "%.1e", row->explicit_energy);
        ss_paper_cell(table, "%.1e", row->apart);
        ss_paper_cell(table, "%.1f", row->midway_cost);
        ss_paper_cell(table, "%.2f", row->midway_cost / row->their_cost);
        ss_paper_cell(table, "%.1e", row->midway_energy);
    }
}

static bool count_links(ss_paper_report *report, ss_error *err)
{
    static const int sizes[SIZES] = {3, 6, 12, 24, 48, 96};
    int count = report->quick ? 2 : SIZES;
    double links[SIZES], cost[KINDS][SIZES], joint[KINDS][SIZES], energy[KINDS][SIZES];
    double their_links[SIZES], their_cost[SIZES], their_energy[SIZES];
    beside rows[SIZES];
    outcome *run = ss_arena_take(report->arena, 1, sizeof *run, "outcomes");
    if (!run) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    for (int i = 0; i < count; i++) {
        const char *parameters[] = {ss_paper_format(report, "links=%d", sizes[i]), "stiffness=0", "damping=0",
                                    "height=3", NULL};
        links[i] = sizes[i];
        for (int k = 0; k < KINDS; k++) {
            if (!run_scene(report, "arm", parameters, kinds[k], 0.0005, 0.5, run, err)) return false;
            cost[k][i] = 1e6 * run->seconds;
            joint[k][i] = run->joint_error;
            energy[k][i] = run->broke ? NAN : run->energy_error;
            ss_paper_progress(report, kinds[k][2], i + 1, count);
        }
    }
    int theirs = read_mujoco(report, rows);
    for (int i = 0; i < theirs; i++) {
        their_links[i] = rows[i].links;
        their_cost[i] = rows[i].their_cost;
        their_energy[i] = rows[i].their_energy;
    }

    ss_figure *figure = ss_paper_figure(
        report, "cost", "What a step costs",
        "An arm that swings freely, by its number of links; processor time of the fastest tenth of the "
        "run, all in one run on one machine. Minimal coordinates without contact are linear in the links.");
    figure->x = (ss_plot_axis){.label = "links", .log = true, .doubling = true};
    figure->y = (ss_plot_axis){.label = "us per step", .log = true};
    for (int k = 0; k < KINDS; k++) ss_figure_line(figure, kinds[k][2], count, links, cost[k])->marks = count;
    if (theirs > 0) ss_figure_line(figure, "MuJoCo", theirs, their_links, their_cost)->marks = theirs;
    figure = ss_paper_figure(
        report, "energy", "What happens to the energy",
        "Largest change of the energy in 0.5 s, as a share of the largest kinetic energy; h = 0.5 ms. "
        "MuJoCo's Euler rule is that of minimal coordinates with explicit forces.");
    figure->x = (ss_plot_axis){.label = "links", .log = true, .doubling = true};
    figure->y = (ss_plot_axis){.label = "energy error", .log = true, .words = SS_TICK_POWER};
    for (int k = 0; k < KINDS; k++)
        ss_figure_line(figure, kinds[k][2], count, links, energy[k])->marks = count;
    if (theirs > 0) ss_figure_line(figure, "MuJoCo", theirs, their_links, their_energy)->marks = theirs;
    figure =
        ss_paper_figure(report, "joints", "What is left in the joints",
                        "Largest error of a joint. In minimal coordinates it does not depend on the step.");
    figure->x = (ss_plot_axis){.label = "links", .log = true, .doubling = true};
    figure->y = (ss_plot_axis){.label = "joint error (m or rad)", .log = true, .words = SS_TICK_POWER};
    for (int k = 0; k < KINDS; k++)
        ss_figure_line(figure, kinds[k][2], count, links, joint[k])->marks = count;

    ss_paper_table *table = ss_paper_add_table(
        report, "links", "With the number of links", "The numbers of the three figures above.",
        "links|maximal: us|joint error|energy error|minimal: us|joint error|energy error|explicit: "
        "us|joint error|energy error|MuJoCo: us|energy error");
    for (int i = 0; i < count; i++) {
        int other = 0;
        while (other < theirs && their_links[other] != links[i]) other++;
        ss_paper_cell(table, "%g", links[i]);
        for (int k = 0; k < KINDS; k++) {
            ss_paper_cell(table, "%.1f", cost[k][i]);
            ss_paper_cell(table, "%.1e", joint[k][i]);
            ss_paper_cell(table, "%.1e", energy[k][i]);
        }
        if (other < theirs) {
            ss_paper_cell(table, "%.1f", their_cost[other]);
            ss_paper_cell(table, "%.1e", their_energy[other]);
        } else {
            ss_paper_cell(table, "-");
            ss_paper_cell(table, "-");
        }
        double rounding = 1e-15 * links[i];
        ss_paper_claim(report, ss_paper_format(report, "arm of %d links: joint error, minimal", sizes[i]),
                       "m or rad", joint[1][i], joint[1][i] < rounding, "rounding: 1e-15 for each link");
    }
    if (theirs > 0) show_beside(report, rows, theirs);
    return true;
}

/* ---- machines ---------------------------------------------------------------------------------------- */

static bool touch_ground(ss_paper_report *report, ss_error *err)
{
    static const struct {
        const char *scene;
        double h, time, most;
    } cases[] = {{"arm", 0.002, 2.5, 1e-2},
                 {"walker", 0.002, 1.5, 1e-3},
                 {"quadruped", 0.002, 1.5, 1e-3},
                 {"gripper", 0.001, 1.0, 1e-3}};
    enum { CASES = sizeof cases / sizeof *cases };
    ss_paper_table *table = ss_paper_add_table(
        report, "machines", "Machines with contacts",
        "Largest errors of joints over the run, processor time of a step, and how far bodies are apart at "
        "the end.",
        "scene|h (s)|joint error, maximal|minimal|us per step, maximal|minimal|apart (m)");
    outcome *run = ss_arena_take(report->arena, 2, sizeof *run, "outcomes");
    if (!run) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    for (int c = 0; c < CASES; c++) {
        for (int k = 0; k < 2; k++)
            if (!run_scene(report, cases[c].scene, NULL, kinds[k], cases[c].h, cases[c].time, &run[k], err))
                return false;
        double distance = apart(&run[0], &run[1]);
        ss_paper_claim(report, ss_paper_format(report, "%s: apart at the end", cases[c].scene), "m", distance,
                       distance < cases[c].most, "two rules of first order, after impacts and sliding");
        ss_paper_cell(table, "%s", cases[c].scene);
        ss_paper_cell(table, "%g", cases[c].h);
        for (int k = 0; k < 2; k++) ss_paper_cell(table, "%.1e", run[k].joint_error);
        for (int k = 0; k < 2; k++) ss_paper_cell(table, "%.0f", 1e6 * run[k].seconds);
        ss_paper_cell(table, "%.1e", distance);
        ss_paper_progress(report, cases[c].scene, c + 1, CASES);
    }
    return true;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    return shrink_steps(report, err) && count_links(report, err) && touch_ground(report, err);
}

const ss_paper ss_paper_coordinates = {
    .id = "coordinates",
    .title = "minimal and maximal coordinates",
    .reference = "ours",
    .about = "Mechanisms in minimal and in maximal coordinates: how they agree as the step shrinks, what a "
             "step of an arm costs and what is left in its joints and of its energy by the number of links, "
             "and machines with contacts. make study-coordinates adds MuJoCo on the same model files.",
    .run = run,
};
