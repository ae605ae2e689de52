/* The three measures over the x-w plane, for a contact (0 <= x) and a friction row
 * (-1 <= x <= 1), a_ii = 1. */
#include "paper/paper.h"

#include "figure/figure.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 129, LEVELS = 8 }; // on each axis; odd, so that the axes themselves are among them
static const double reach = 2.0;   // the plane is -reach <= x, w <= reach
static const double a = 1.0;       // a_ii, 1/kg

typedef enum measure_id { FISCHER_BURMEISTER, NATURAL_RESIDUAL, ENERGY, MEASURES } measure_id;
static const char *const measure_name[MEASURES] = {"fischer_burmeister", "natural_residual", "energy"};

typedef struct row_kind {
    const char *name, *words;
    double lower, upper;
} row_kind;
static const row_kind kinds[] = {{"contact", "contact, 0 <= x", 0.0, INFINITY},
                                 {"friction", "friction, -1 <= x <= 1", -1.0, 1.0}};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Steps of the grid are powers of two: every coordinate is exact. */
static double coordinate(int i)
{
    return reach * (2.0 * i / (POINTS - 1) - 1.0);
}

static double measure(const row_kind *kind, measure_id id, double x, double w)
{
    ss_gauge_part part = ss_paper_row(a, kind->lower, kind->upper, x, w);
    return id == ENERGY             ? part.energy
           : id == NATURAL_RESIDUAL ? part.natural_residual
                                    : part.fischer_burmeister;
}

typedef struct plane {
    double value[POINTS * POINTS]; /* w by w, x fastest */
} plane;

static void claim(const row_kind *kind, measure_id id, const plane *on, ss_paper_report *report)
{
    static const char *const zero_names[KINDS][MEASURES] = {
        {"contact, Fischer-Burmeister: wrong zeros", "contact, natural residual: wrong zeros",
         "contact, energy error: wrong zeros"},
        {"friction, Fischer-Burmeister: wrong zeros", "friction, natural residual: wrong zeros",
         "friction, energy error: wrong zeros"}};
    static const char *const bend_names[KINDS] = {"contact, energy error: second difference",
                                                  "friction, energy error: second difference"};
    size_t k = (size_t)(kind - kinds);

    // A wrong zero is an error on the solution line, or none beside it. There x obeys its bounds, and w is
    // zero or pushes against the bound that x is at.
    int wrong = 0;
    for (int j = 0; j < POINTS; j++) {
        for (int i = 0; i < POINTS; i++) {
            double x = coordinate(i), w = coordinate(j);
            bool inside = x >= kind->lower && x <= kind->upper;
            bool solution =
                inside && (w == 0.0 || (x == kind->lower && w > 0.0) || (x == kind->upper && w < 0.0));
            wrong += (on->value[j * POINTS + i] == 0.0) != solution;
        }
    }
    ss_paper_reproduces(report, zero_names[k][id], "points", "zero set is the solution line", wrong,
                        wrong == 0, "exactly zero on the solution line and nowhere else");
    if (id != ENERGY) return;

    // Second differences along lines of slope a, divided by the square of the step: smallest and largest.
    double step = coordinate(1) - coordinate(0), least = INFINITY, most = -INFINITY;
    for (int j = 1; j + 1 < POINTS; j++) {
        for (int i = 1; i + 1 < POINTS; i++) {
            const double *at = &on->value[j * POINTS + i];
            double second = (at[POINTS + 1] - 2.0 * at[0] + at[-POINTS - 1]) / (step * step);
            least = fmin(least, second);
            most = fmax(most, second);
        }
    }
    ss_paper_reproduces(report, bend_names[k], "1/kg", "quadratic along slope a_ii", most,
                        least == a && most == a,
                        "equal to a_ii along every line of slope a_ii: the error is quadratic there");
}

static void draw(const row_kind *kind, measure_id id, const plane *on, ss_paper_report *report)
{
    static const char *const titles[MEASURES] = {"Fischer-Burmeister error", "natural residual",
                                                 "energy error"};
    static const char *const captions[MEASURES] = {
        "As in Fig. 1 of the paper. Red: where the measure is zero, the solutions.",
        "As in Fig. 2 of the paper. Corners where the smaller of impulse and velocity changes.",
        "As in Fig. 4 of the paper. Along a line of slope a_ii (dashed) the error grows with the square."};
    ss_figure *figure =
        ss_paper_figure(report, ss_paper_format(report, "%s_%s", kind->name, measure_name[id]),
                        ss_paper_format(report, "%s: %s", titles[id], kind->words), captions[id]);
    figure->x = (ss_plot_axis){.label = "impulse x", .from = -reach, .to = reach};
    figure->y = (ss_plot_axis){.label = "velocity w", .from = -reach, .to = reach};
    figure->panel = true;
    figure->table = ss_paper_format(report, "isolines_%s.csv", kind->name);

    // Light to dark blue. Energies are spaced so that the lines are as far apart as those of the other
    // measures along slope a.
    for (int level = 0; level < LEVELS; level++) {
        double distance = 0.25 * (level + 1), t = (double)level / (LEVELS - 1);
        double value = id == ENERGY ? 0.5 * a * distance * distance : distance;
        ss_plot_series *line =
            ss_figure_contour(figure, ss_paper_format(report, id == ENERGY ? "%.4g J" : "%.2f", value),
                              on->value, POINTS, POINTS, value);
        line->colour = ss_paper_format(report, "#%02x%02x%02x", (int)(158 - 150 * t), (int)(202 - 154 * t),
                                       (int)(225 - 118 * t));
        line->width = 1.6;
    }

    // the solutions, and for the energy the line along which it is quadratic
    const double upper = fmin(kind->upper, reach);
    const double x[4] = {kind->lower, kind->lower, upper, upper}, w[4] = {reach, 0.0, 0.0, -reach};
    ss_plot_series *solutions = ss_figure_line(figure, "0: solutions", isinf(kind->upper) ? 3 : 4, x, w);
    solutions->colour = "#d62728";
    solutions->width = 3.0;
    if (id != ENERGY) return;
    const double ends[2] = {-reach, reach}, sloped[2] = {-reach * a, reach * a};
    ss_plot_series *slope = ss_figure_line(figure, "slope a_ii = 1", 2, ends, sloped);
    slope->colour = "#777777";
    slope->width = 1.2;
    slope->dashed = true;
}

/* Every second point of the grid, all measures. */
static bool write_grid(const row_kind *kind, ss_paper_report *report, ss_error *err)
{
    ss_text csv = {0};
    char name[64];
    if (!report->directory) return true;
    snprintf(name, sizeof name, "isolines_%s.csv", kind->name);
    ss_text_append(&csv, "x,w,fischer_burmeister,natural_residual,energy\n");
    for (int j = 0; j < POINTS; j += 2) {
        for (int i = 0; i < POINTS; i += 2) {
            ss_text_appendf(&csv, "%.10g,%.10g", coordinate(i), coordinate(j));
            for (int id = 0; id < MEASURES; id++)
                ss_text_appendf(&csv, ",%.10g", measure(kind, (measure_id)id, coordinate(i), coordinate(j)));
            ss_text_append(&csv, "\n");
        }
    }
    bool good = ss_paper_write(report, name, &csv, err);
    ss_text_free(&csv);
    return good;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    plane *on = ss_allocate(1, sizeof *on);
    if (!on) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a plane");
    bool good = true;
    for (size_t k = 0; k < KINDS; k++) {
        for (int id = 0; good && id < MEASURES; id++) {
            for (int j = 0; j < POINTS; j++)
                for (int i = 0; i < POINTS; i++)
                    on->value[j * POINTS + i] =
                        measure(&kinds[k], (measure_id)id, coordinate(i), coordinate(j));
            claim(&kinds[k], (measure_id)id, on, report);
            draw(&kinds[k], (measure_id)id, on, report);
        }
        good = good && write_grid(&kinds[k], report, err);
    }
    ss_release(on);
    return good;
}

const ss_paper ss_paper_isolines = {
    .id = "isolines",
    .title = "isolines of three error measures over impulse and velocity",
    .reference = "Enzenhöfer, Peiret, Teichmann, Kövecses 2019, Figs. 1, 2 and 4",
    .about = "One row with a_ii = 1, as a contact and as friction, on a grid of 129 x 129 points over -2 <= "
             "x, w <= 2. The numbers beside the figures are every second point (65 x 65).",
    .run = run,
};
