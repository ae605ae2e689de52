/* Reference data for stick-slip transition, isotropy and creep, which the publication of BPMD announces: four
 * small scenes with answers in closed form, each with a solver that is right and settings that are not. */
#include "paper/scene_run.h"

#include <math.h>
#include <string.h>

static const double g = 9.81, pi = 3.14159265358979323846;

/* Settings of one way to solve every step. */
typedef struct way {
    const char *name;
    const char *settings[6]; /* ends with NULL */
} way;

/* ---- a block on a plane that tilts ------------------------------------------------------------------ */

static const double tilt_rate = 2.0; // degrees per second

typedef struct tilting {
    double angle; /* degrees: when the block has moved by 0.2 mm */
    double moved; /* m: half a degree before it may move */
    int count;
    double angles[1024], along[1024]; /* degrees, m: its way down the plane, every fifth step */
} tilting;

static bool tilt(ss_paper_report *report, const way *how, const char *mu, bool record, tilting *to,
                 ss_error *err)
{
    ss_scene_run run;
    const char *parameters[] = {mu, "rate=2", NULL};
    *to = (tilting){.angle = NAN, .moved = NAN};
    bool good = ss_scene_run_open(&run, report, "tilting-plane", parameters, how->settings, err);
    good = good && (!record || ss_scene_run_record(&run, "tilt", "A block on a plane that tilts", 10, err));
    double coulomb = good ? ss_scene_run_figure(&run, "coulomb") : 0.0;
    for (int n = 0; good && !run.broke && tilt_rate * ss_sim_time(run.sim) < coulomb + 1.0; n++) {
        good = ss_scene_run_step(&run, err);
        if (!good || run.broke) break;
        const ss_body *block = ss_world_body(run.world, ss_world_find_body(run.world, "block"));
        const ss_body *plane = ss_world_body(run.world, ss_world_find_body(run.world, "table"));
        double tilted = 2.0 * atan2(plane->quaternion[2], plane->quaternion[0]);
        double along = cos(tilted) * block->position[0] - sin(tilted) * block->position[2];
        to->angle = ss_scene_run_figure(&run, "slips_at");
        if (tilted * 180.0 / pi <= coulomb - 0.5) to->moved = along;
        if (n % 5 == 0 && to->count < 1024) {
            to->angles[to->count] = tilted * 180.0 / pi;
            to->along[to->count++] = fabs(along);
        }
    }
    return ss_scene_run_close(&run, good ? err : NULL) && good;
}

/* From rest at Coulomb's angle phi the block accelerates by g / cos(phi) times the angle beyond it: it has
 * moved by s after (6 s cos(phi) / (g rate))^(1/3). */
static double expected_delay(double mu)
{
    double rate = tilt_rate * pi / 180.0, moved = 2e-4; // m: the scene's threshold
    return tilt_rate * cbrt(6.0 * moved * cos(atan(mu)) / (g * rate));
}

static bool study_tilt(ss_paper_report *report, ss_error *err)
{
    static const way ways[] = {
        {"auto to 1e-10",
         {"solver=auto", "finisher=none", "stop=relative_energy<1e-10", "iterations=100000"}},
        {"default of run", {NULL}},
        {"PGS, 5 iterations, no warm start",
         {"solver=pgs", "iterations=5", "finisher=none", "warm_start=false"}},
    };
    static const char *const mus[] = {"mu=0.2", "mu=0.5", "mu=0.8"};
    static const double values[] = {0.2, 0.5, 0.8};
    const int shown = report->quick ? 0 : 1; // which mu is drawn
    tilting *now = ss_allocate(1, sizeof *now);
    if (!now) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");

    ss_figure *figure = ss_paper_figure(
        report, "tilt-way", ss_paper_format(report, "Way down the plane, mu = %g", values[shown]),
        "Up to atan mu the block sticks: what it moves is the error of the solver. Beyond, it slides.");
    figure->x.label = "tilt (degrees)";
    figure->y = (ss_plot_axis){.label = "moved (m)", .log = true, .from = 1e-14, .to = 1.0};
    ss_paper_table *table = ss_paper_add_table(
        report, "tilt-angles", "A block on a plane that tilts by 2 degrees per second",
        "Angle at which the block has moved by 0.2 mm, less atan mu, against what Newton's law gives for "
        "that way; "
        "and how far it had moved half a degree before it may.",
        "solver|mu|slips at (deg)|less atan mu (deg)|expected (deg)|moved before (m)");

    bool good = true;
    double worst = 0.0, most = 0.0, weak = NAN;
    for (int w = 0; good && w < 3; w++) {
        for (int k = 0; good && k < 3; k++) {
            if (report->quick && k != shown) continue;
            double coulomb = atan(values[k]) * 180.0 / pi, expected = expected_delay(values[k]);
            good = tilt(report, &ways[w], mus[k], w == 0 && k == shown, now, err);
            if (w == 0) {
                worst = fmax(worst, fabs(now->angle - coulomb - expected));
                most = fmax(most, fabs(now->moved));
            }
            if (w == 2 && k == shown) weak = (now->angle - coulomb) / coulomb;
            if (k == shown)
                ss_figure_line(figure, ways[w].name, now->count, now->angles, now->along)->tint = w;

            ss_paper_cell(table, "%s", ways[w].name);
            ss_paper_cell(table, "%g", values[k]);
            ss_paper_cell(table, "%.3f", now->angle);
            ss_paper_cell(table, "%.3f", now->angle - coulomb);
            ss_paper_cell(table, "%.3f", expected);
            ss_paper_cell(table, "%.2g", now->moved);
        }
    }

    ss_release(now);
    // a step is 0.02 degrees, and the way of the first step beyond atan mu depends on where it begins
    ss_paper_claim(report, "tilting plane: slips at atan mu, error", "deg", worst, worst <= 0.02,
                   "auto to 1e-10; one step is 0.02 degrees");
    ss_paper_claim(report, "tilting plane: moved before it may", "m", most, most < 1e-8,
                   "auto to 1e-10, half a degree before atan mu");
    ss_paper_claim(report, "tilting plane: PGS with 5 iterations, slips at atan mu, relative error", "1",
                   weak, weak < -0.5, "creep moves the block long before Coulomb's law does");
    return good;
}

/* ---- pucks in 64 directions ------------------------------------------------------------------------- */

enum { MOST_PUCKS = 64 };

/* Sliding steps of a puck that starts with speed v: v - mu g h is the speed after the first, and it is at
 * rest when the next one would turn it around. */
static double slide_length(double speed, double mu, double h)
{
    double steps = floor(speed / (mu * g * h));
    return h * (steps * speed - 0.5 * mu * g * h * steps * (steps + 1.0));
}

static bool study_isotropy(ss_paper_report *report, ss_error *err)
{
    static const way ways[] = {
        {"cone", {"formulation=cone", "solver=nsgs", "stop=relative_energy<1e-10", "iterations=2000"}},
        {"box, tangents of the frame",
         {"formulation=box", "with=tangents=frame", "solver=pgs", "stop=relative_energy<1e-10",
          "iterations=5000"}},
        {"box, tangents along the slip",
         {"formulation=box", "with=tangents=slip", "solver=pgs", "stop=relative_energy<1e-10",
          "iterations=5000"}},
        {"polygon of 4 sides",
         {"formulation=stewart-trinkle", "with=directions=4", "solver=lemke", "iterations=5000"}},
        {"polygon of 8 sides",
         {"formulation=stewart-trinkle", "with=directions=8", "solver=lemke", "iterations=5000"}},
    };
    const int pucks = report->quick ? 16 : MOST_PUCKS;
    const char *parameters[] = {ss_paper_format(report, "count=%d", pucks), NULL};
    const double expected = slide_length(1.0, 0.3, 0.01);

    double least[5], most[5], direction[MOST_PUCKS + 1], gone[MOST_PUCKS + 1];
    ss_figure *figure = ss_paper_figure(
        report, "rose", ss_paper_format(report, "How far pucks slide in %d directions", pucks),
        "1 m/s, mu = 0.3. Coulomb's law has no preferred direction; boxes and polygons have.");
    figure->x = (ss_plot_axis){.label = "direction (degrees)", .from = 0.0, .to = 360.0};
    figure->y.label = "distance over exact";
    ss_paper_table *table =
        ss_paper_add_table(report, "rose-spread", "Sliding distance over all directions",
                           "Relative to the exact one of the time-stepping scheme, 0.1647 m.",
                           "friction|shortest|longest|sideways (m)");

    bool good = true;
    for (int w = 0; good && w < 5; w++) {
        ss_scene_run run;
        good = ss_scene_run_open(&run, report, "isotropy", parameters, ways[w].settings, err);
        good =
            good && (w != 0 || ss_scene_run_record(&run, "rose", "Pucks pushed in all directions", 1, err));
        for (int n = 0; good && n < 50 && !run.broke; n++) good = ss_scene_run_step(&run, err);
        least[w] = INFINITY;
        most[w] = 0.0;

        double sideways = good ? ss_scene_run_figure(&run, "sideways") : NAN;
        for (int k = 0; good && k <= pucks; k++) {
            const ss_body *puck = ss_world_body(run.world, k % pucks);
            double angle = 2.0 * pi * k / pucks, ring = 0.03 * pucks;
            direction[k] = 360.0 * k / pucks;
            gone[k] = ((puck->position[0] - ring * cos(angle)) * cos(angle) +
                       (puck->position[1] - ring * sin(angle)) * sin(angle)) /
                      expected;
            least[w] = fmin(least[w], gone[k]);
            most[w] = fmax(most[w], gone[k]);
        }

        good = ss_scene_run_close(&run, good ? err : NULL) && good;
        if (!good) break;
        ss_figure_line(figure, ways[w].name, pucks + 1, direction, gone);
        ss_paper_cell(table, "%s", ways[w].name);
        ss_paper_cell(table, "%.4f", least[w]);
        ss_paper_cell(table, "%.4f", most[w]);
        ss_paper_cell(table, "%.2g", sideways);
    }

    if (!good) return false;
    double spread = fmax(fabs(most[0] - 1.0), fabs(least[0] - 1.0));
    ss_paper_claim(report, "isotropy, cone: distance, worst error", "1", spread, spread < 1e-6,
                   "of all directions, against h (N v - mu g h N (N + 1) / 2)");
    // boxes brake by up to sqrt 2 along a corner; a slide of 34 steps ends on a whole one
    ss_paper_claim(report, "isotropy, box: shortest distance", "1", least[1],
                   fabs(least[1] * sqrt(2.0) - 1.0) < 0.05,
                   "1 / sqrt 2: a corner of the box holds sqrt 2 mu");
    ss_paper_claim(report, "isotropy, polygon of 4 sides: longest distance", "1", most[3],
                   fabs(most[3] / sqrt(2.0) - 1.0) < 0.05,
                   "sqrt 2: between its corners it holds mu / sqrt 2");
    ss_paper_claim(report, "isotropy, polygon of 8 sides: longest distance", "1", most[4],
                   fabs(most[4] * cos(pi / 8.0) - 1.0) < 0.05, "1 / cos(pi / 8)");
    return true;
}

/* ---- a block on a belt ------------------------------------------------------------------------------ */

static bool study_belt(ss_paper_report *report, ss_error *err)
{
    ss_scene_run run;
    const char *settings[] = {"solver=auto", "finisher=none", "stop=relative_energy<1e-10",
                              "iterations=100000", NULL};
    const int steps = report->quick ? 1250 : 2500;
    double *time = ss_arena_take(report->arena, (size_t)steps, sizeof *time, "time");
    double *stretch = ss_arena_take(report->arena, (size_t)steps, sizeof *stretch, "stretch");
    if (!time || !stretch) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    bool good = ss_scene_run_open(&run, report, "belt", NULL, settings, err) &&
                ss_scene_run_record(&run, "belt", "A block on a belt, held by a spring", 10, err);

    for (int n = 0; good && n < steps && !run.broke; n++) {
        good = ss_scene_run_step(&run, err);
        time[n] = ss_sim_time(run.sim);
        stretch[n] = ss_scene_run_figure(&run, "stretch");
    }

    double at[5] = {0};
    static const char *const figures[5] = {"slip_stretch", "expected_stretch", "period", "expected_period",
                                           NULL};
    for (int i = 0; good && figures[i]; i++) at[i] = ss_scene_run_figure(&run, figures[i]);
    good = ss_scene_run_close(&run, good ? err : NULL) && good;
    if (!good) return false;

    ss_figure *figure =
        ss_paper_figure(report, "belt-stretch", "A block on a belt, held by a spring",
                        "Carried along by static friction, it slips back when the spring pulls harder.");
    figure->x.label = "time (s)";
    figure->y.label = "stretch of the spring (m)";
    ss_figure_line(figure, "block", steps, time, stretch);
    const double ends[2] = {0.0, time[steps - 1]}, bound[2] = {at[1], at[1]};
    ss_plot_series *line = ss_figure_line(figure, "mu_static m g / k", 2, ends, bound);
    line->dashed = true;

    // one step of the belt is 0.2 mm, one step of time 2 ms
    ss_paper_claim(report, "belt: stretch at which it slips, over mu_static m g / k", "1", at[0] / at[1],
                   fabs(at[0] - at[1]) < 2.0 * 0.1 * 0.002, "within two steps of the belt");
    ss_paper_claim(report, "belt: period over the closed form", "1", at[2] / at[3],
                   fabs(at[2] / at[3] - 1.0) < 0.02, "2 D / v + (2 / w) (pi - atan(D w / v)), h = 2 ms");
    return true;
}

/* ---- a block between two plates --------------------------------------------------------------------- */

static bool study_grasp(ss_paper_report *report, ss_error *err)
{
    static const way ways[] = {
        {"auto to 1e-10",
         {"solver=auto", "finisher=none", "stop=relative_energy<1e-10", "iterations=100000"}},
        {"default of run", {NULL}},
        {"NSGS, 20 iterations", {"solver=nsgs", "iterations=20", "finisher=none", "stop=none"}},
        {"PGS, 20 iterations", {"solver=pgs", "iterations=20", "finisher=none", "stop=none"}},
        {"PGS, 20 iterations, no warm start",
         {"solver=pgs", "iterations=20", "finisher=none", "stop=none", "warm_start=false"}},
        {"PGS, 5 iterations, no warm start",
         {"solver=pgs", "iterations=5", "finisher=none", "stop=none", "warm_start=false"}},
    };
    enum { WAYS = sizeof ways / sizeof ways[0] };
    ss_paper_table *table =
        ss_paper_add_table(report, "grasp-creep", "A block of 2 kg held between two plates",
                           "Friction holds 40 N, the block weighs 19.62 N: it must not sink at all.",
                           "solver|sunk (m)|creep (um/s)|held (s)");

    double creep[WAYS];
    bool good = true;
    const int steps = report->quick ? 100 : 1000;
    for (int w = 0; good && w < WAYS; w++) {
        ss_scene_run run;
        int held = 0;
        good = ss_scene_run_open(&run, report, "grasped-block", NULL, ways[w].settings, err);
        good =
            good && (w != WAYS - 1 ||
                     ss_scene_run_record(&run, "grasp", "A grasped block creeps, PGS, 5 iterations", 5, err));
        for (int n = 0; good && n < steps && !run.broke; n++) {
            good = ss_scene_run_step(&run, err);
            // out of the plates when it has sunk by its own height
            held += good && ss_scene_run_figure(&run, "sunk") < 0.1;
        }

        double sunk = good ? ss_scene_run_figure(&run, "sunk") : NAN;
        creep[w] = good ? ss_scene_run_figure(&run, "creep") : NAN;
        good = ss_scene_run_close(&run, good ? err : NULL) && good;
        ss_paper_cell(table, "%s", ways[w].name);
        ss_paper_cell(table, "%.3g", sunk);
        ss_paper_cell(table, "%.3g", 1e6 * creep[w]);
        ss_paper_cell(table, held == steps ? "%.2f, to the end" : "%.2f", 0.01 * held);
    }

    ss_paper_claim(report, "grasped block: creep", "um/s", 1e6 * creep[0], fabs(creep[0]) < 1e-8,
                   "auto to 1e-10; less than 0.01 um/s");
    ss_paper_claim(report, "grasped block: creep by PGS, 5 iterations, no warm start", "um/s",
                   1e6 * creep[WAYS - 1], creep[WAYS - 1] > 1e3 * fabs(creep[0]),
                   "what a weak setting loses");
    return good;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    return study_tilt(report, err) && study_isotropy(report, err) && study_belt(report, err) &&
           study_grasp(report, err);
}

const ss_paper ss_paper_stick_slip = {
    .id = "stick-slip",
    .title = "stick-slip transition, isotropy and creep against closed forms",
    .reference = "Lacoursière, Linde, Lu, Trinkle 2015 (announced as reference data)",
    .about =
        "A block on a slowly tilting plane sticks to atan mu; pucks pushed in 64 directions slide equally "
        "far; a block on a belt sticks and slips with a known period; a grasped block does not creep. Each "
        "with an accurate solver and with settings that fail.",
    .run = run,
};
