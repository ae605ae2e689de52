/* The log pile of the BPMD paper solved by proximal Gauss-Seidel to a small global error, and the errors by
 * kind that are in it. */
#include "paper/census.h"

#include <math.h>

static const ss_census_method methods[] = {
    {"prox, to a global error of 1e-5", "cone", "projected-fixed-point", NULL, "natural_map<1e-5", 20000,
     "prox"},
    {"auto, to a global error of 1e-12", "cone", "auto", NULL, "natural_map<1e-12", 100000, "ours"},
    {"prox, to a global error of 1e-2", "cone", "projected-fixed-point", NULL, "natural_map<1e-2", 20000,
     NULL},
    {"prox, to a global error of 1e-3", "cone", "projected-fixed-point", NULL, "natural_map<1e-3", 20000,
     NULL},
    {"prox, to a global error of 1e-4", "cone", "projected-fixed-point", NULL, "natural_map<1e-4", 20000,
     NULL},
};
enum { METHODS = sizeof methods / sizeof methods[0], PROX = 0, OURS = 1, LOOSE = 2 };

/* One kind of error, and what it is compared with. */
typedef struct kind {
    const char *name, *unit, *colour;
    size_t offset; /* in ss_census_entry */
} kind;
static const kind kinds[] = {
    {"penetration", "m", "#2343c8", offsetof(ss_census_entry, penetration)},
    {"dissipation deviation", "J", "#2b8a3e", offsetof(ss_census_entry, dissipation)},
    {"residual tangential velocity", "m/s", "#22b8b0", offsetof(ss_census_entry, creep)},
    {"global error", "1", "#666666", offsetof(ss_census_entry, natural_map)},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], PENETRATION = 0, DISSIPATION = 1, VELOCITY = 2, GLOBAL = 3 };

static double error_of(const ss_census *census, int method, int frame, int kind_of)
{
    return fabs(*(const double *)((const char *)ss_census_at(census, method, frame) + kinds[kind_of].offset));
}

static double worst(const ss_census *census, int method, int kind_of)
{
    double most = 0.0;
    for (int n = 0; n < census->frame_count; n++) most = fmax(most, error_of(census, method, n, kind_of));
    return most;
}

/* Deviation of the dissipation over the work of all contacts in the frame, worst frame. */
static double worst_share(const ss_census *census, int method)
{
    double most = 0.0;
    for (int n = 0; n < census->frame_count; n++) {
        double work = fabs(ss_census_at(census, method, n)->work);
        if (work > 0.0) most = fmax(most, error_of(census, method, n, DISSIPATION) / work);
    }
    return most;
}

static void draw(ss_paper_report *report, const ss_census *census, int method, const char *name,
                 const char *caption)
{
    ss_figure *figure = ss_paper_figure(report, name, census->methods[method].name, caption);
    figure->x.label = "time, s", figure->y.label = "error, in its own unit";
    figure->y.log = true, figure->y.from = 1e-16, figure->y.to = 1.0;
    int count = census->frame_count;
    for (int k = 0; k < KINDS; k++) {
        double *y = ss_arena_take(report->arena, (size_t)count + 1, sizeof *y, "a figure");
        if (!y) return;
        for (int n = 0; n < count; n++) y[n] = fmax(1e-16, error_of(census, method, n, k));
        ss_plot_series *line = ss_figure_line(
            figure, ss_paper_format(report, "%s, %s", kinds[k].name, kinds[k].unit), count, census->time, y);
        line->colour = kinds[k].colour;
        line->dashed = k == GLOBAL;
    }
}

static bool judge(ss_paper_report *report, const ss_census *census, double speed, ss_error *err)
{
    /* how the errors by kind fall with the global one */
    ss_paper_table *table =
        ss_paper_add_table(report, "tolerances", "Errors by kind against the global error",
                           "Worst frame. The speed is relative to what gravity gives in one step, the "
                           "dissipation to the work of all contacts.",
                           "method|solved|global error|tangential velocity, m/s|relative|dissipation, J|"
                           "relative|penetration, m|ms per frame");
    static const int order[METHODS] = {2, 3, 4, PROX, OURS};
    for (int i = 0; i < METHODS; i++) {
        int m = order[i];
        ss_census_sum sum;
        if (!ss_census_total(census, m, &sum, err)) return false;
        ss_paper_cell(table, "%s", methods[m].name);
        ss_paper_cell(table, "%d of %d", sum.solved, census->frame_count);
        double of[] = {
            worst(census, m, GLOBAL),      worst(census, m, VELOCITY), worst(census, m, VELOCITY) / speed,
            worst(census, m, DISSIPATION), worst_share(census, m),     worst(census, m, PENETRATION)};
        for (int k = 0; k < 6; k++) ss_paper_cell(table, "%.1e", of[k]);
        ss_paper_cell(table, "%.1f", 1e3 * sum.seconds);
    }

    double global = worst(census, PROX, GLOBAL), relative = worst(census, PROX, VELOCITY) / speed,
           loose = worst(census, LOOSE, VELOCITY), share = worst_share(census, PROX);
    ss_paper_reproduces(report, "prox: global error, worst frame", "1", "about 1e-5", global, global < 2e-5,
                        "De Saxcé's natural map, relative to the right-hand side");
    ss_paper_reproduces(
        report, "prox: residual tangential velocity over the global error", "1", "the split errors are bad",
        relative / global, relative > 10.0 * global,
        "contacts that stick, relative to the speed that gravity gives in one step, worst frame");
    ss_paper_reproduces(report, "prox: deviation of the dissipation over the global error", "1",
                        "the split errors are bad", share / global, share > global,
                        "relative to the work of all contacts, worst frame");
    ss_paper_claim(
        report, "prox: tangential velocity at 1e-2 over that at 1e-5", "1", loose / (relative * speed),
        loose > 100.0 * relative * speed,
        "the errors by kind fall with the global one: it is not blind to them, it only has another scale");
    ss_paper_claim(report, "auto: residual tangential velocity, worst frame", "m/s",
                   worst(census, OURS, VELOCITY), worst(census, OURS, VELOCITY) < 1e-9,
                   "to a global error of 1e-12");
    ss_paper_claim(report, "auto: dissipation deviation, worst frame", "J", worst(census, OURS, DISSIPATION),
                   worst(census, OURS, DISSIPATION) < 1e-6, "to a global error of 1e-12");
    return true;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    int steps = report->quick ? 120 : 500, every = report->quick ? 20 : 8;
    static const char *const settings[] = {"solver=auto", "finisher=none", "iterations=100000",
                                           "stop=relative_energy<1e-8", NULL};
    ss_paper_text(
        report,
        "The frames of the log pile, solved from zero by the proximal iteration, contact after contact, "
        "until De Saxcé's natural map, the global error, is below 1e-5 of the right-hand side. The "
        "figure shows what is in it: penetration (blue), deviation of the dissipation from what "
        "Coulomb's law demands (green), tangential velocity of contacts that should stick (turquoise).");

    ss_scene_run run;
    ss_census census = {0};
    bool good =
        ss_scene_run_open(&run, report, "log-pile", NULL, settings, err) &&
        ss_scene_run_record(&run, "frames", "Log pile, with the answers of prox and auto", every, err) &&
        ss_census_open(&census, report, methods, METHODS, steps / every + 1, err);

    for (int n = 0; good && n < steps && !run.broke; n++) {
        good = ss_scene_run_step(&run, err);
        if (good && n % every == 0) good = ss_census_take(&census, &run, err);
        if (n % 20 == 0) ss_paper_progress(report, "frames", n, steps);
    }

    if (good) {
        draw(report, &census, PROX, "prox",
             "The plot of the paper: one number of 1e-5 stands for all of these.");
        draw(report, &census, OURS, "ours", "The same frames, solved as far as rounding allows.");
        good = judge(report, &census, run.setup.options.h * 9.81, err);
    }
    ss_census_close(&census);
    return ss_scene_run_close(&run, err) && good;
}

const ss_paper ss_paper_log_pile_pgs = {
    .id = "log-pile-pgs",
    .title = "logs on a slope: a small global error, and what is in it",
    .reference = "Lacoursière, Linde, Lu, Trinkle 2015, Fig. 1b of the abstract",
    .about =
        "Every frame of the log pile is solved by proximal Gauss-Seidel to a global error of 1e-5. Split "
        "by kind, the same answers still creep and dissipate wrongly.",
    .run = run,
};
