/* A finding of ours: with the diagonal of A for its masses, as in Eq. 17 of the paper, the energy
 * error of a heavy body on a light one is too small by 1 + their mass ratio; with the exact effective masses
 * it is right.
 *
 * Light mass m on the ground, heavy mass M on top of it, no friction:
 *
 *     A = [ 1/m  -1/m ; -1/m  1/m + 1/M ],    A^-1 = [ m + M  M ; M  M ].
 *
 * If only one row is wrong, by the speed w_i, the kinetic energy of the motion that is wrong is w_i^2
 * (A^-1)_ii / 2; the diagonal gives w_i^2 / (2 A_ii). Both rows have (A^-1)_ii A_ii = 1 + M/m. */
#include "paper/paper.h"

#include <math.h>
#include <string.h>

static const double g = 9.81, h = 0.01, light = 1.0; // m/s^2, s, kg
enum { DECADES = 7, MOST_POINTS = 200 };

/* A column of bodies on the y axis, at rest, the heavy one on top; contact i carries body i. */
static ss_frame *column(int bodies, double heavy, ss_error *err)
{
    ss_frame *frame = ss_frame_create(bodies, 0, 0, bodies, err);
    if (!frame) return NULL;
    frame->h = h;
    for (int b = 0; b < bodies; b++) {
        double mass = b == bodies - 1 ? heavy : light;
        ss_frame_set_planar_body(frame, b, mass, 0.1 * mass, (double[3]){0.0, b + 0.5, 0.0},
                                 (double[3]){0.0, 0.0, 0.0}, (double[3]){0.0, -mass * g, 0.0});
        frame->contacts.pair[b][0] = b - 1; // the world below the first
        frame->contacts.pair[b][1] = b;
        frame->contacts.point[b][1] = b;
        frame->contacts.normal[b][1] = 1.0;
    }
    return frame;
}

typedef struct errors {
    double diagonal, exact, distance; /* J */
} errors;

static double metric(const ss_result *result, const char *name)
{
    for (int i = 0; i < ss_metric_count(); i++) {
        const ss_metric_value *value = &result->metrics[i];
        if (strcmp(ss_metric_at(i)->name, name) == 0) return value->value;
    }
    return NAN;
}

/* Judges `iterations` of PGS from the guess (negative: the guess itself; NULL: from zero). */
static bool judge(const ss_frame *frame, const ss_answer *guess, int iterations, errors *to, ss_error *err)
{
    ss_request request = {.formulation = "frictionless",
                          .solver = "pgs",
                          .set = "sweep=forward",
                          .iterations = iterations,
                          .stop = "none",
                          .keep = "last"};
    ss_session *session = ss_session_create(&request, err);
    const ss_result *result = session ? ss_session_solve(session, frame, guess, err) : NULL;
    if (result) {
        *to = (errors){metric(result, "energy"), metric(result, "energy_exact"), 0.0};
        // the column is at rest and must stay so: whatever moves after the step is the error
        for (int b = 0; b < frame->bodies.count; b++)
            to->distance += 0.5 * frame->bodies.mass[b] * pow(result->answer->velocity[b][1], 2.0);
    }
    ss_session_destroy(session);
    return result != NULL;
}

/* The answer in which row `wrong` has the speed w and the other none: x* + A^-1 w. */
static bool one_row_wrong(const ss_frame *frame, double heavy, int wrong, double w, errors *to, ss_error *err)
{
    ss_answer *guess = ss_answer_create(frame, false, err);
    if (!guess) return false;
    const double inverse[2][2] = {{light + heavy, heavy}, {heavy, heavy}};
    const double load[2] = {(light + heavy) * g * h, heavy * g * h};
    for (int i = 0; i < 2; i++) guess->normal_impulse[i] = load[i] + inverse[i][wrong] * w;
    bool good = judge(frame, guess, -1, to, err);
    ss_answer_destroy(guess);
    return good;
}

/* PGS on the column, judged at every few iterations. */
static bool watch_sweeps(ss_paper_report *report, ss_error *err)
{
    static const double heavies[3] = {1.0, 100.0, 1000.0};
    static const int every[3] = {1, 10, 50};
    const double limit = 1e-6; // J
    ss_paper_table *table = ss_paper_add_table(
        report, "stopping", "When PGS would stop at 1 uJ",
        "Iterations until each measure is below 1e-6 J, and the true energy of the error when the diagonal "
        "says so.",
        "mass ratio|by the diagonal|by exact masses|truly|true energy when the diagonal stops (J)");

    for (int k = 0; k < 3; k++) {
        ss_frame *frame = column(2, heavies[k], err);
        const int count = report->quick ? MOST_POINTS / 2 : MOST_POINTS;
        double at[MOST_POINTS], y[3][MOST_POINTS];
        int stop[3] = {-1, -1, -1};
        bool good = frame != NULL;
        for (int i = 0; good && i < count; i++) {
            errors of;
            at[i] = 1 + i * every[k];
            good = judge(frame, NULL, (int)at[i], &of, err);
            y[0][i] = of.diagonal, y[1][i] = of.exact, y[2][i] = of.distance;
            for (int m = 0; m < 3; m++) stop[m] = stop[m] < 0 && y[m][i] < limit ? i : stop[m];
        }
        ss_frame_destroy(frame);
        if (!good) return false;

        double left = stop[0] >= 0 ? y[2][stop[0]] : NAN;
        ss_paper_cell(table, "%g", heavies[k]);
        for (int m = 0; m < 3; m++) {
            if (stop[m] < 0)
                ss_paper_cell(table, "beyond %g", at[count - 1]);
            else
                ss_paper_cell(table, "%g", at[stop[m]]);
        }
        ss_paper_cell(table, "%.3g", left);
        if (k == 2)
            ss_paper_claim(report, "PGS, mass ratio 1000: true energy over limit where the diagonal stops",
                           "1", left / limit, left > 300.0 * limit,
                           "a stop rule of 1 uJ leaves hundreds of them");

        ss_figure *figure = ss_paper_figure(report, ss_paper_format(report, "pgs-%g", heavies[k]),
                                            ss_paper_format(report, "PGS, mass ratio %g", heavies[k]),
                                            "Energy error by the diagonal, by exact masses, and truly.");
        figure->panel = true;
        figure->x.label = "iteration";
        figure->y = (ss_plot_axis){.label = "J", .log = true, .from = 1e-12, .to = 10};
        ss_figure_line(figure, "diagonal", count, at, y[0]);
        ss_figure_line(figure, "exact masses", count, at, y[1])->width = 3.5;
        ss_plot_series *line = ss_figure_line(figure, "true", count, at, y[2]);
        line->dashed = true;
        line->tint = 7;
    }
    return true;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    double ratio[DECADES], low[2][DECADES], right[2][DECADES], theory[DECADES];
    double worst_diagonal = 0.0, worst_exact = 0.0;
    ss_paper_table *table = ss_paper_add_table(
        report, "one-row", "One row is wrong by -1 mm/s",
        "Heavy on light, nothing else wrong. Energies in J: by the diagonal, by exact effective masses, and "
        "what the "
        "wrong motion truly has.",
        "mass ratio|wrong row|diagonal (J)|exact (J)|true (J)|true over diagonal|1 + ratio");

    ss_frame *frames[DECADES] = {NULL};
    bool good = true;
    for (int k = 0; good && k < DECADES; k++) {
        double heavy = pow(10.0, k - 1);
        ratio[k] = heavy / light;
        theory[k] = 1.0 / (1.0 + ratio[k]);
        frames[k] = column(2, heavy, err);
        good = frames[k] != NULL;
        for (int row = 0; good && row < 2; row++) {
            errors of;
            good = one_row_wrong(frames[k], heavy, row, -1e-3, &of, err);
            low[row][k] = of.diagonal / of.distance;
            right[row][k] = of.exact / of.distance;
            worst_diagonal = fmax(worst_diagonal, fabs(low[row][k] * (1.0 + ratio[k]) - 1.0));
            worst_exact = fmax(worst_exact, fabs(right[row][k] - 1.0));
            ss_paper_cell(table, "%g", ratio[k]);
            ss_paper_cell(table, "%s", row ? "heavy on light" : "light on ground");
            ss_paper_cell(table, "%.4g", of.diagonal);
            ss_paper_cell(table, "%.4g", of.exact);
            ss_paper_cell(table, "%.4g", of.distance);
            ss_paper_cell(table, "%.6g", of.distance / of.diagonal);
            ss_paper_cell(table, "%.6g", 1.0 + ratio[k]);
        }
    }

    good = good &&
           ss_paper_frames(report, "columns", "The columns, mass ratios 0.1 to 1e5", frames, DECADES, err);
    for (int k = 0; k < DECADES; k++) ss_frame_destroy(frames[k]);
    if (!good) return false;

    // the reference is a difference of impulses of M g h, rounded: 1e-16 M g h against M w
    ss_paper_claim(report, "true energy over diagonal energy error, against 1 + M/m", "1", worst_diagonal,
                   worst_diagonal < 1e-6,
                   "largest relative difference, mass ratios 0.1 to 1e5, either row wrong");
    ss_paper_claim(report, "exact energy error over true energy, less 1", "1", worst_exact,
                   worst_exact < 1e-6, "largest, the same cases");
    ss_paper_claim(report, "diagonal energy error over true energy at a mass ratio of 1000", "1", low[0][4],
                   fabs(low[0][4] * 1001.0 - 1.0) < 1e-6, "1 / 1001: a thousandth of what is wrong is seen");

    ss_figure *figure = ss_paper_figure(
        report, "ratio", "Measured energy over true energy",
        "One row wrong, all else right. The diagonal sees 1 / (1 + M/m) of it, whichever row it is.");
    figure->x = (ss_plot_axis){.label = "heavy over light", .log = true};
    figure->y = (ss_plot_axis){.label = "measured over true", .log = true, .from = 1e-6, .to = 10};
    ss_figure_points(figure, "diagonal, light on ground", DECADES, ratio, low[0])->width = 5.5;
    ss_figure_points(figure, "diagonal, heavy on light", DECADES, ratio, low[1]);
    ss_figure_points(figure, "exact effective mass", DECADES, ratio, right[0]);
    ss_figure_line(figure, "1 / (1 + ratio)", DECADES, ratio, theory)->dashed = true;

    ss_paper_text(
        report,
        "Light mass m on the ground, heavy mass M on it: A = [1/m, -1/m; -1/m, 1/m + 1/M], and its inverse "
        "is "
        "[m + M, M; M, M]. A row that is wrong by the speed w sets the mass 1/(A^-1)_ii in motion, not the "
        "mass "
        "1/A_ii that it would have alone: both rows are off by (A^-1)_ii A_ii = 1 + M/m.");
    return watch_sweeps(report, err);
}

const ss_paper ss_paper_mass_ratio = {
    .id = "mass-ratio",
    .title = "the diagonal energy error of a heavy body on a light one",
    .reference = "ours",
    .about =
        "A heavy body on a light one on the ground, at rest, without friction. The energy error with the "
        "diagonal of A for its masses, and with exact effective masses, against the kinetic energy that is "
        "truly wrong.",
    .run = run,
};
