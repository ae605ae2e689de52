/* The pendulum on which joint correction is shown: a rod swings on a ball joint for a minute, with and
 * without the impulses that remove position and velocity errors of the joint. */
#include "paper/scene_run.h"

#include <math.h>

static const double h = 0.01;         // s, as printed
static const double amplitude = 36.0; // degrees, ours
static const double length = 0.5;     // m, ours
static const double printed_bound = 1e-5;

typedef struct swing {
    int count;
    double *time, *position, *velocity, *angle; /* after every step: s, m, m/s, rad */
    double position_most, velocity_most;
    double period;       /* s: mean time between passages through the vertical in one direction */
    double early_period; /* s: of the first five */
    double first_amplitude, last_amplitude; /* rad: largest angle of the first and of the last two periods */
    bool broke;
} swing;

static bool run_rod(ss_paper_report *report, const char *joints, const char *step, const char *record,
                    const char *title, int steps, swing *to, ss_error *err)
{
    ss_scene_run run;
    const char *settings[] = {joints, step, NULL};
    *to = (swing){0};
    double **columns[] = {&to->time, &to->position, &to->velocity, &to->angle};
    bool good = true;
    for (int i = 0; i < 4; i++) {
        *columns[i] = ss_arena_take(report->arena, (size_t)steps, sizeof **columns[i], "a swing");
        good = good && *columns[i];
    }

    good = good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    good = ss_scene_run_open(&run, report, "hanging-rod", NULL, settings, good ? err : NULL) && good;
    good = good && (!record || ss_scene_run_record(&run, record, title, 2, err));

    double first = NAN, last = NAN;
    int passages = 0;
    for (int n = 0; good && n < steps && !run.broke; n++) {
        good = ss_scene_run_step(&run, err);
        if (!good || run.broke) break;
        double t = ss_sim_time(run.sim), angle = ss_scene_run_figure(&run, "angle");
        to->time[n] = t;
        to->angle[n] = angle;
        to->position[n] = ss_scene_run_figure(&run, "position_error");
        to->velocity[n] = ss_scene_run_figure(&run, "velocity_error");
        to->position_most = fmax(to->position_most, to->position[n]);
        to->velocity_most = fmax(to->velocity_most, to->velocity[n]);
        to->count = n + 1;

        if (t <= 2.5) to->first_amplitude = fmax(to->first_amplitude, fabs(angle));
        if (t >= steps * h - 2.5) to->last_amplitude = fmax(to->last_amplitude, fabs(angle));
        // upwards through the vertical, the moment by a straight line between two steps
        if (n > 0 && to->angle[n - 1] < 0.0 && angle >= 0.0) {
            last = t - h * angle / (angle - to->angle[n - 1]);
            if (isnan(first))
                first = last;
            else
                passages++;
            if (passages == 5) to->early_period = (last - first) / 5.0;
        }
        if (n % 500 == 0) ss_paper_progress(report, title, n, steps);
    }

    to->period = (last - first) / passages;
    to->broke = run.broke;
    return ss_scene_run_close(&run, good ? err : NULL) && good;
}

/* Of a physical pendulum: T = 2 pi sqrt(I / (m g d)) / agm(1, cos(amplitude / 2)), with the
 * arithmetic-geometric mean; a cylinder of radius length / 20 about its end. */
static double exact_period(double angle)
{
    double radius = 0.05 * length, d = 0.5 * length;
    double inertia = length * length / 12.0 + radius * radius / 4.0 + d * d; // of 1 kg
    double a = 1.0, b = cos(0.5 * angle);
    for (int i = 0; i < 20; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 2.0 * 3.14159265358979323846 * sqrt(inertia / (9.81 * d)) / a;
}

static void draw(ss_paper_report *report, const swing *without, const swing *with, bool velocity)
{
    ss_figure *figure = ss_paper_figure(
        report, velocity ? "velocity" : "position",
        velocity ? "Velocity error of the joint" : "Position error of the joint",
        velocity ? "As Fig. 4: |G v| after each step."
                 : "As Fig. 4: without correction the error drifts, with it it stays below the bound.");
    figure->x.label = "time (s)";
    figure->y = (ss_plot_axis){.label = velocity ? "m/s" : "m", .log = true, .from = 1e-18, .to = 1.0};
    const swing *swings[2] = {without, with};
    const char *words[2] = {"without correction", "with correction"};
    for (int i = 0; i < 2; i++)
        ss_figure_line(figure, words[i], swings[i]->count, swings[i]->time,
                       velocity ? swings[i]->velocity : swings[i]->position)
            ->width = 0.9;
    const double ends[2] = {0.0, with->time[with->count - 1]}, bound[2] = {printed_bound, printed_bound};
    ss_plot_series *line = ss_figure_line(figure, "printed bound 1e-5", 2, ends, bound);
    line->dashed = true;
    line->tint = 7;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    const int steps = report->quick ? 1000 : 6000;
    swing without, with, fine, other[3];
    static const char *const kinds[3][2] = {{"joints=baumgarte", "Baumgarte, 0.2 per step"},
                                            {"joints=spook", "SPOOK, relaxation 2 h"},
                                            {"joints=projection", "position projection"}};
    if (!run_rod(report, "joints=none", "dt=0.01", "without", "Without correction", steps, &without, err) ||
        !run_rod(report, "joints=impulse", "dt=0.01", "with", "With correction", steps, &with, err) ||
        !run_rod(report, "joints=none", "dt=0.005", NULL, "Without correction, h/2", 2000, &fine, err))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!run_rod(report, kinds[i][0], "dt=0.01", NULL, kinds[i][1], steps, &other[i], err)) return false;
    }

    double minute = steps * h, exact = exact_period(amplitude * 3.14159265358979323846 / 180.0);
    ss_paper_reproduces(report, "without correction: position error at the end", "m", "errors drift",
                        without.position[steps - 1],
                        without.position[steps - 1] > 0.3 * minute * without.position[99],
                        "grows with time: more than 0.3 times the seconds times that after 1 s");

    // A velocity error that accumulated would be larger in the last 2.5 s than in the first.
    double first = 0.0, last = 0.0;
    for (int i = 0; i < 250; i++) {
        first = fmax(first, without.velocity[i]);
        last = fmax(last, without.velocity[steps - 1 - i]);
    }
    ss_paper_differs(
        report, "without correction: velocity error, last over first 2.5 s", "1", "errors drift",
        last / first, last < 1.2 * first && fabs(without.velocity_most / fine.velocity_most - 2.0) < 0.2,
        "each step solves the velocity equation of the joint again, with the lever arm of its beginning: "
        "the error is that of one step, in proportion to h (see below), and does not accumulate");

    ss_paper_claim(report, "without correction: velocity error, h = 0.01 s over h = 0.005 s", "1",
                   without.velocity_most / fine.velocity_most,
                   fabs(without.velocity_most / fine.velocity_most - 2.0) < 0.2, "first order in h");

    ss_paper_reproduces(report, "with correction: largest position error", "m", "bounded by 1e-5",
                        with.position_most, with.position_most <= printed_bound,
                        ss_paper_format(report, "for %g s", minute));
    ss_paper_reproduces(report, "with correction: largest velocity error", "m/s", "bounded by 1e-5",
                        with.velocity_most, with.velocity_most <= printed_bound,
                        ss_paper_format(report, "for %g s", minute));

    double early = with.early_period / without.early_period - 1.0;
    // the uncorrected swing has lost a tenth of its amplitude by then, which is worth half a per cent
    ss_paper_reproduces(report, "period with over without correction, less 1", "1", "same period", early,
                        fabs(early) < 0.005, "of the first five swings");
    ss_paper_claim(report, "period with correction over the exact one, less 1", "1",
                   with.period / exact - 1.0, fabs(with.period / exact - 1.0) < 1e-3,
                   "elliptic integral, amplitude 36 degrees");
    ss_paper_claim(report, "with correction: amplitude lost", "1",
                   1.0 - with.last_amplitude / with.first_amplitude,
                   fabs(1.0 - with.last_amplitude / with.first_amplitude) < 1e-3,
                   ss_paper_format(report, "in %g s", minute));
    ss_paper_claim(report, "without correction: amplitude lost", "1",
                   1.0 - without.last_amplitude / without.first_amplitude,
                   without.last_amplitude < without.first_amplitude,
                   "the joint gives way outwards in every swing, and the rod swings faster for it");

    draw(report, &without, &with, false);
    draw(report, &without, &with, true);
    ss_paper_table *table = ss_paper_add_table(
        report, "corrections", "Every way to correct",
        "Largest errors of the joint, mean period, and the largest angle in the first and the last 2.5 s. "
        "Exact period: 1.18856 s.",
        "correction|position error (m)|velocity error (m/s)|period (s)|amplitude at first (rad)|amplitude "
        "at last (rad)");

    const swing *rows[5] = {&without, &with, &other[0], &other[1], &other[2]};
    const char *words[5] = {"none", "impulses", kinds[0][1], kinds[1][1], kinds[2][1]};
    for (int i = 0; i < 5; i++) {
        ss_paper_cell(table, "%s", words[i]);
        ss_paper_cell(table, "%.3g", rows[i]->position_most);
        ss_paper_cell(table, "%.3g", rows[i]->velocity_most);
        ss_paper_cell(table, "%.6g", rows[i]->period);
        ss_paper_cell(table, "%.6g", rows[i]->first_amplitude);
        ss_paper_cell(table, "%.6g", rows[i]->last_amplitude);
    }
    return true;
}

const ss_paper ss_paper_pendulum_joint_error = {
    .id = "pendulum-joint-error",
    .title = "joint errors of a pendulum, with and without correction",
    .reference = "Williams, Lu, Niebe, Andersen, Erleben, Trinkle 2013, section 2.4 and Fig. 4",
    .about =
        "A rod of 0.5 m (ours) swings from 36 degrees on a ball joint for 60 s, h = 0.01 s, without "
        "correction and with position and velocity correction by impulses (Bender and Schmitt). Other ways "
        "to correct are in the table.",
    .run = run,
};
