/* A finding of ours: measures that add impulses to velocities rank the same answers differently when
 * kilograms become grams; the energy error does not.
 *
 * In grams, impulses are a thousand times larger numbers and velocities are the same, so that every sum of
 * both weighs them differently. Joints add rows in N m s and rad/s to those in N s and m/s. */
#include "paper/scene_run.h"

#include <math.h>
#include <string.h>

enum { MEASURES = 3 };
static const ss_gauge gauges[MEASURES] = {SS_GAUGE_FISCHER_BURMEISTER, SS_GAUGE_NATURAL_RESIDUAL,
                                          SS_GAUGE_ENERGY};
static const char *const names[MEASURES] = {"Fischer-Burmeister", "natural residual", "energy error"};

/* Solvers and the iterations after which their answers are compared. */
static const struct {
    const char *solver, *set;
} solvers[] = {{"pgs", "sweep=forward"}, {"pgs", "sweep=backward"},
               {"jacobi", NULL},         {"nncg", NULL},
               {"apgd", NULL},           {"admm", NULL}};
static const int budgets[] = {3, 5, 8, 13, 21, 34};
enum {
    SOLVERS = sizeof solvers / sizeof solvers[0],
    BUDGETS = sizeof budgets / sizeof budgets[0],
    CANDIDATES = SOLVERS * BUDGETS,
    UNITS = 3
};
static const struct {
    const char *name;
    double length, mass; /* numbers are larger by this factor */
} units[UNITS] = {{"m, kg", 1.0, 1.0}, {"m, g", 1.0, 1000.0}, {"mm, kg", 1000.0, 1.0}};

/* Rows of joints in rad/s: they have no linear part. */
static bool is_angular(const double jacobian[12])
{
    for (int k = 0; k < 3; k++) {
        if (jacobian[k] != 0.0 || jacobian[6 + k] != 0.0) return false;
    }
    return true;
}

/* The same frame in other units. */
static ss_frame *in_other_units(const ss_frame *frame, double length, double mass, ss_error *err)
{
    ss_frame *to = ss_frame_copy(frame, err);
    if (!to) return NULL;
    for (int b = 0; b < to->bodies.count; b++) {
        to->bodies.mass[b] *= mass;
        for (int k = 0; k < 9; k++) to->bodies.inertia[b][k] *= mass * length * length;
        for (int k = 0; k < 3; k++) {
            to->bodies.position[b][k] *= length;
            to->bodies.velocity[b][k] *= length;
            to->bodies.force[b][k] *= mass * length;
            to->bodies.force[b][3 + k] *= mass * length * length;
        }
    }

    // A row's speed is in m/s or rad/s, and its force in N or N m.
    for (int r = 0; r < to->constraints.row_count; r++) {
        double *jacobian = to->constraints.jacobian[r];
        bool angular = is_angular(jacobian);
        double speed = angular ? 1.0 : length, force = mass * length * length / speed;
        for (int k = 0; k < 3 && !angular; k++) jacobian[3 + k] *= length, jacobian[9 + k] *= length;
        to->constraints.violation[r] *= speed;
        to->constraints.time_derivative[r] *= speed;
        for (int k = 0; k < 2; k++) to->constraints.bounds[r][k] *= force;
        if (to->constraints.regularization) to->constraints.regularization[r] *= speed / force;
    }

    for (int c = 0; c < to->contacts.count; c++) {
        for (int k = 0; k < 3; k++) {
            to->contacts.point[c][k] *= length;
            if (to->contacts.surface_velocity) to->contacts.surface_velocity[c][k] *= length;
        }
        for (int k = 0; k < 6 && to->contacts.lever_arm; k++) to->contacts.lever_arm[c][k] *= length;
        to->contacts.gap[c] *= length;
        if (to->contacts.compliance) to->contacts.compliance[c] /= mass;
    }
    return to;
}

typedef struct readings {
    double start[UNITS][MEASURES]; /* at x = 0 */
    double value[UNITS][MEASURES][CANDIDATES];
    double distance[CANDIDATES]; /* J: from the solution */
} readings;

/* 1/2 d' A d of d = x - solution: the kinetic energy of the difference. Four vectors of scratch. */
static double distance(const ss_problem *problem, const double *x, const double *solution, double *d,
                       double *product, double *scratch)
{
    double sum = 0.0;
    for (int i = 0; i < problem->size; i++) d[i] = x[i] - solution[i];
    ss_problem_apply(problem, d, scratch, product);
    for (int i = 0; i < problem->size; i++) sum += 0.5 * d[i] * (product[i] - problem->b[i]);
    return sum;
}

static bool read_all(const ss_frame *frame, readings *r, ss_error *err)
{
    // the same problem in all units
    ss_frame *frames[UNITS] = {NULL};
    ss_assembly *assemblies[UNITS] = {NULL};
    ss_problem *problems[UNITS] = {NULL};
    bool good = true;
    for (int u = 0; good && u < UNITS; u++) {
        frames[u] = in_other_units(frame, units[u].length, units[u].mass, err);
        assemblies[u] = ss_assembly_create(ss_formulation_find("box"), NULL, err);
        good = frames[u] && assemblies[u] && ss_assemble(assemblies[u], frames[u], NULL, err);
        if (good) problems[u] = ss_assembly_problem(assemblies[u]);
    }
    size_t size = good ? (size_t)problems[0]->size : 0,
           more = good ? (size_t)ss_problem_scratch(problems[0]) : 0;
    double *x = ss_allocate(5 * size + more, sizeof *x), *solution = x + size, *d = x + 2 * size,
           *product = x + 3 * size, *other = x + 4 * size, *scratch = x + 5 * size;
    if (good && !x) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory");

    for (int u = 0; good && u < UNITS; u++) {
        double values[SS_GAUGE_COUNT];
        good = ss_problem_measure(problems[u], other, values, err);
        for (int m = 0; m < MEASURES; m++) r->start[u][m] = values[gauges[m]];
    }

    // the answers, made once, in SI; each is measured in all units
    ss_solve_result result = {0};
    good = good &&
           ss_paper_solve("auto", NULL, 100000, "relative_energy<1e-10", problems[0], solution, &result, err);
    ss_solve_result_free(&result);
    for (int c = 0; good && c < CANDIDATES; c++) {
        memset(x, 0, size * sizeof *x);
        result = (ss_solve_result){0};
        good = ss_paper_solve(solvers[c / BUDGETS].solver, solvers[c / BUDGETS].set, budgets[c % BUDGETS],
                              "none", problems[0], x, &result, err);
        ss_solve_result_free(&result);
        if (good) r->distance[c] = distance(problems[0], x, solution, d, product, scratch);
        for (int u = 0; good && u < UNITS; u++) {
            double values[SS_GAUGE_COUNT];
            for (size_t i = 0; i < size; i++) {
                bool angular = is_angular(problems[0]->bodies->jacobian[i]);
                other[i] = x[i] * units[u].mass * units[u].length * (angular ? units[u].length : 1.0);
            }
            good = ss_problem_measure(problems[u], other, values, err);
            for (int m = 0; m < MEASURES; m++) r->value[u][m][c] = values[gauges[m]];
        }
    }
    ss_release(x);
    for (int u = 0; u < UNITS; u++) {
        ss_assembly_destroy(assemblies[u]);
        ss_frame_destroy(frames[u]);
    }
    return good;
}

typedef struct tally {
    int frames, pairs;
    int flips[UNITS][MEASURES]; /* pairs of answers to one frame whose order is another than in SI */
    int best[UNITS][MEASURES];  /* frames whose best answer is another one than in SI */
    int truth[UNITS][MEASURES]; /* pairs in the order of the true distance */
} tally;

/* Which of two is smaller; 0 if they are equal up to rounding, or both are so small that they count as
 * solved. */
static int order(double a, double b, double solved)
{
    if (fmax(a, b) <= solved) return 0;
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) ? 0 : a < b ? -1 : 1;
}

static void count(const readings *r, tally *t)
{
    t->frames++;
    t->pairs += CANDIDATES * (CANDIDATES - 1) / 2;
    for (int u = 0; u < UNITS; u++) {
        for (int m = 0; m < MEASURES; m++) {
            const double *si = r->value[0][m], *now = r->value[u][m];
            // a millionth of impulses and velocities is solved, and not ranked; the energy error is a square
            double solved = m == MEASURES - 1 ? 1e-12 : 1e-6;
            double low[2] = {solved * r->start[0][m], solved * r->start[u][m]};
            int best_si = 0, best_now = 0;
            for (int i = 0; i < CANDIDATES; i++) {
                if (si[i] < si[best_si]) best_si = i;
                if (now[i] < now[best_now]) best_now = i;
                for (int k = 0; k < i; k++) {
                    t->flips[u][m] += order(si[i], si[k], low[0]) * order(now[i], now[k], low[1]) < 0;
                    t->truth[u][m] +=
                        order(now[i], now[k], low[1]) == order(r->distance[i], r->distance[k], 0.0);
                }
            }
            t->best[u][m] += order(now[best_si], now[best_now], low[1]) != 0;
        }
    }
}

static const struct {
    const char *scene, *parameter, *rows;
    int step, every;
    bool joints;
} places[] = {{"brick-wall", "rows=4", "contacts", 2, 5, false},
              {"spheres125", "edge=3", "contacts", 40, 10, false},
              {"grasped-block", NULL, "contacts, sliders", 2, 4, true},
              {"cart", NULL, "contacts, hinges", 40, 10, true},
              {"gear-train", NULL, "hinges, gears", 10, 10, true},
              {"four-bar", "torque=0", "hinges", 10, 10, true}};
enum { PLACES = sizeof places / sizeof places[0] };

static void judge(ss_paper_report *report, const tally *all)
{
    int energy = 0, pairs = 0, best = 0;
    double flips[UNITS][MEASURES][PLACES];
    static const char *categories[PLACES];
    ss_paper_table *table = ss_paper_add_table(
        report, "flips", "Answers whose order changes with the units",
        "Share of pairs of answers to one frame that are ranked otherwise than in m and kg; frames of 4 "
        "whose best answer "
        "is another one; and share of pairs in the order of their true distance from the solution.",
        "scene|rows|units|pairs|Fischer-Burmeister|natural residual|energy error|best by "
        "Fischer-Burmeister|best by natural "
        "residual|best by energy error|true order by Fischer-Burmeister|true order by natural residual|true "
        "order by "
        "energy error");

    for (int p = 0; p < PLACES; p++) {
        const tally *t = &all[p];
        categories[p] = places[p].scene;
        pairs += (UNITS - 1) * t->pairs;
        for (int u = 0; u < UNITS; u++) {
            energy += t->flips[u][2];
            best += t->best[u][2];
            ss_paper_cell(table, "%s", places[p].scene);
            ss_paper_cell(table, "%s", places[p].rows);
            ss_paper_cell(table, "%s", units[u].name);
            ss_paper_cell(table, "%d", t->pairs);
            for (int m = 0; m < MEASURES; m++) {
                flips[u][m][p] = (double)t->flips[u][m] / t->pairs;
                ss_paper_cell(table, "%.3f", flips[u][m][p]);
            }
            for (int m = 0; m < MEASURES; m++) ss_paper_cell(table, "%d", t->best[u][m]);
            for (int m = 0; m < MEASURES; m++)
                ss_paper_cell(table, "%.3f", (double)t->truth[u][m] / t->pairs);
        }
    }

    ss_paper_claim(report, "energy error: pairs whose order changes", "pairs", energy, energy == 0,
                   ss_paper_format(report, "of %d, in g or mm instead of kg and m, all scenes", pairs));
    ss_paper_claim(report, "energy error: frames whose best answer changes", "frames", best, best == 0, NULL);

    // The measures that mix units: masses concern contacts, lengths concern joints.
    for (int m = 0; m < 2; m++) {
        ss_paper_claim(report, ss_paper_format(report, "%s, kg to g: pairs that flip, brick-wall", names[m]),
                       "1", flips[1][m][0], flips[1][m][0] > 0.05, "impulses weigh a thousand times more");
        ss_paper_claim(report,
                       ss_paper_format(report, "%s, kg to g: pairs that flip, grasped-block", names[m]), "1",
                       flips[1][m][2], flips[1][m][2] > 0.005, "linear and angular rows, and contacts");
        double hinges = flips[1][m][5];
        ss_paper_claim(
            report, ss_paper_format(report, "%s, kg to g: pairs that flip, four-bar", names[m]), "1", hinges,
            hinges == 0.0,
            "joints alone: the residual of an equation is a velocity, which no unit of mass changes");
        double least = 1.0;
        for (int p = 0; p < PLACES; p++) least = places[p].joints ? fmin(least, flips[2][m][p]) : least;
        ss_paper_claim(
            report, ss_paper_format(report, "%s, m to mm: pairs that flip, any scene with joints", names[m]),
            "1", least, least > 0.005, "the least of four: m/s grow, rad/s do not");
    }

    double wall[2] = {(double)all[0].truth[0][1] / all[0].pairs, (double)all[0].truth[1][1] / all[0].pairs};
    ss_paper_claim(report, "natural residual, brick-wall: true order lost from kg to g", "1",
                   wall[0] - wall[1], wall[0] - wall[1] > 0.03,
                   "share of pairs in the order of their true distance");

    ss_figure *figure =
        ss_paper_figure(report, "flip-share", "Pairs of answers that change their order",
                        "The natural residual in g and in mm, against m and kg. The energy error has no bar: "
                        "it changes no order.");
    figure->categories = categories;
    figure->category_count = PLACES;
    figure->y.label = "share of pairs";
    ss_figure_bars(figure, "natural residual, kg to g", PLACES, flips[1][1]);
    ss_figure_bars(figure, "natural residual, m to mm", PLACES, flips[2][1]);
    ss_figure_bars(figure, "energy error, kg to g", PLACES, flips[1][2]);
    ss_figure_bars(figure, "energy error, m to mm", PLACES, flips[2][2]);

    ss_paper_text(
        report,
        "Six solvers (PGS forwards and backwards, Jacobi, NNCG, APGD, ADMM) are stopped after 3, 5, 8, 13, "
        "21 and "
        "34 iterations on the problem of the friction box: 36 answers to each frame, 630 pairs. The answers "
        "are "
        "made once and measured in three systems of units. A measure that adds N s to m/s, or m/s to rad/s, "
        "depends on the units that were chosen; joules are joules. Answers within 1e-6 of the solution are "
        "not "
        "ranked.");
}

static bool run(ss_paper_report *report, ss_error *err)
{
    tally all[PLACES] = {0};
    const int frames = report->quick ? 2 : 4;
    readings *r = ss_allocate(1, sizeof *r);
    bool good = r || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    for (int p = 0; good && p < PLACES; p++) {
        ss_scene_run run;
        const char *parameters[] = {places[p].parameter, NULL};
        ss_paper_progress(report, "scene", p, PLACES);
        good = ss_scene_run_open(&run, report, places[p].scene, parameters, NULL, err) &&
               ss_scene_run_record(&run, places[p].scene,
                                   ss_paper_format(report, "Frames of %s", places[p].scene), 1, err);
        for (int n = 1; good && all[p].frames < frames; n++) {
            good = ss_scene_run_step(&run, err) &&
                   (!run.broke || ss_fail(err, run.why.code, "%s", run.why.message));
            if (!good || n < places[p].step || (n - places[p].step) % places[p].every) continue;
            good = read_all(ss_sim_frame(run.sim), r, err);
            if (good) count(r, &all[p]);
        }
        good = ss_scene_run_close(&run, good ? err : NULL) && good;
    }
    ss_release(r);
    if (good) judge(report, all);
    return good;
}

const ss_paper ss_paper_units = {
    .id = "units",
    .title = "rankings of answers when kilograms become grams",
    .reference = "ours",
    .about = "The same answers to the same frames, in kilograms and in grams, in metres and in millimetres: "
             "which of two is the better one, by three measures and in truth.",
    .run = run,
};
