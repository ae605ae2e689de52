/* A rod on two contacts that a torque presses down at one end, with a guess of the contact state that is
 * wrong. The print has a slip of the pen in A and leaves a term out of w: shown are both, what the printed
 * numbers give and what the mechanics gives. */
#include "paper/paper.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

static const double mass = 4.0, length = 1.5, torque = 20.0, h = 0.01, g = 9.81; // kg, m, N m, s, m/s^2
static const double radius = 0.01; // m (ours): the moment about its own axis plays no part

/* ---- the problem, from the mechanics ------------------------------------------------------------- */

typedef struct rod {
    double A[2][2], b[2];
    double inverse[2][2]; /* A^-1: the effective mass matrix */
    double solution[2];   /* of the complementarity problem */
} rod;

/* The problem from the mechanics, its effective mass matrix and its solution. */
static bool make(double turning, rod *r, ss_error *err)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 2, err);
    if (!frame) return false;
    double moment = mass * length * length / 12.0;
    frame->h = h;
    frame->bodies.mass[0] = mass;
    frame->bodies.inertia[0][0] = frame->bodies.inertia[0][8] = moment;
    frame->bodies.inertia[0][4] = 0.5 * mass * radius * radius;
    frame->bodies.force[0][2] = -mass * g;
    frame->bodies.force[0][3] = turning;
    for (int c = 0; c < 2; c++) {
        frame->contacts.pair[c][1] = 0;
        frame->contacts.normal[c][2] = 1.0;
        frame->contacts.point[c][1] = (c == 0 ? -0.5 : 0.5) * length;
    }
    ss_problem *problem = ss_problem_from_frame(frame, ss_formulation_find("frictionless"), NULL, err);
    ss_frame_destroy(frame);
    if (!problem || !ss_problem_need_matrix(problem, err)) {
        ss_problem_destroy(problem);
        return false;
    }

    memset(r, 0, sizeof *r);
    for (int j = 0; j < 2; j++) {
        r->b[j] = problem->b[j];
        r->inverse[j][j] = 1.0;
        for (int k = problem->A->start[j]; k < problem->A->start[j + 1]; k++)
            r->A[problem->A->row[k]][j] = problem->A->value[k];
    }
    double factor[4];
    int pivot[2];
    memcpy(factor, r->A, sizeof factor);
    if (ss_dense_lu(2, factor, pivot) == SS_LINALG_OK)
        ss_dense_lu_solve(2, factor, pivot, SS_AS_IS, r->inverse[0], 2);

    ss_run_options run = {
        .max_iterations = 10000, .stop = {.gauge = SS_GAUGE_NATURAL_RESIDUAL, .below = 1e-15}, .seed = 1};
    ss_solve_result result;
    bool good =
        ss_solve(&(ss_solve_request){.solver = ss_solver_find("nsgs"), .problem = problem, .run = &run},
                 r->solution, &result, err);
    ss_solve_result_free(&result);
    ss_problem_destroy(problem);
    return good;
}

/* ---- measures of a guess ------------------------------------------------------------------------- */

typedef struct guess {
    double x[2], w[2];
} guess;

static const double printed_mass = 1.33; // kg, as the paper rounds it

/* By the library, row by row; mass: the effective masses. */
static ss_gauge_part measure(const guess *at, const double effective_mass[2], int row)
{
    return ss_paper_row(1.0 / effective_mass[row], 0.0, INFINITY, at->x[row], at->w[row]);
}

static double energy(const guess *at, const double effective_mass[2])
{
    return measure(at, effective_mass, 0).energy + measure(at, effective_mass, 1).energy;
}

static const char why_other[] = "follows from w1 = A12 x2 + b1";

/* ---- the comparison ------------------------------------------------------------------------------ */

static void compare_residuals(ss_paper_report *report, const guess *at, const double effective_mass[2],
                              const char *first, const char *second)
{
    ss_paper_number(report, first, "mixed", "0.2981", measure(at, effective_mass, 0).natural_residual,
                    why_other);
    ss_paper_number(report, second, "mixed", "0.1019", measure(at, effective_mass, 1).natural_residual, NULL);
}

/* The printed (x, w) give the printed errors: measure and arithmetic are right, the state is not one. */
static void compare_printed(ss_paper_report *report, const rod *r, const guess *ours)
{
    const guess printed = {{0.0, ours->x[1]}, {r->b[0], 0.0}};
    const double diagonal[2] = {1.0 / r->A[0][0], 1.0 / r->A[1][1]},
                 rounded[2] = {printed_mass, printed_mass};
    ss_paper_number(report, "e1 of the printed state", "J", "4.44e-2", measure(&printed, diagonal, 0).energy,
                    NULL);
    ss_paper_number(report, "e2 of the printed state", "J", "5.2e-3", measure(&printed, diagonal, 1).energy,
                    NULL);
    ss_paper_number(report, "e of the printed state", "J", "4.96e-2", energy(&printed, diagonal), NULL);
    ss_paper_number(report, "e1, effective mass 1.33 kg", "J", "5.91e-2",
                    measure(&printed, rounded, 0).energy, NULL);
    ss_paper_number(report, "e2, effective mass 1.33 kg", "J", "3.9e-3", measure(&printed, rounded, 1).energy,
                    NULL);
    ss_paper_number(report, "e, effective mass 1.33 kg", "J", "6.30e-2", energy(&printed, rounded), NULL);
    compare_residuals(report, &printed, diagonal, "natural residual 1 of the printed state",
                      "natural residual 2 of the printed state");
    ss_paper_number(report, "Fischer-Burmeister 2 of the printed state", "mixed", "0.1019",
                    measure(&printed, diagonal, 1).fischer_burmeister,
                    "phi(x2, 0) is 2 |x2| for a negative x2");
}

static void compare_consistent(ss_paper_report *report, const rod *r, const guess *ours)
{
    const double diagonal[2] = {1.0 / r->A[0][0], 1.0 / r->A[1][1]},
                 exact[2] = {r->inverse[0][0], r->inverse[1][1]};
    ss_gauge_part part[2] = {measure(ours, diagonal, 0), measure(ours, diagonal, 1)};
    ss_paper_number(report, "e1", "J", "4.44e-2", part[0].energy, why_other);
    ss_paper_number(report, "e2", "J", "5.2e-3", part[1].energy, NULL);
    ss_paper_number(report, "e", "J", "4.96e-2", part[0].energy + part[1].energy, why_other);
    ss_paper_number(report, "e1, exact effective mass", "J", "5.91e-2", measure(ours, exact, 0).energy,
                    why_other);
    ss_paper_number(report, "e2, exact effective mass", "J", "3.9e-3", measure(ours, exact, 1).energy, NULL);
    ss_paper_number(report, "e, exact effective mass", "J", "6.30e-2", energy(ours, exact), why_other);
    compare_residuals(report, ours, diagonal, "natural residual 1", "natural residual 2");
    ss_paper_number(report, "Fischer-Burmeister 1", "mixed", "0.2981", part[0].fischer_burmeister, why_other);
    ss_paper_number(report, "Fischer-Burmeister 2", "mixed", "0.1019", part[1].fischer_burmeister,
                    "phi(x2, 0) is 2 |x2| for a negative x2");
}

/* Which wrong guess is the better one depends on the measure. */
static void compare_ranking(ss_paper_report *report, const rod *r, const guess *ours)
{
    const guess nothing = {{0.0, 0.0}, {r->b[0], r->b[1]}};
    const double diagonal[2] = {1.0 / r->A[0][0], 1.0 / r->A[1][1]};
    double better = energy(&nothing, diagonal) - energy(ours, diagonal);
    double residual =
        measure(&nothing, diagonal, 0).natural_residual + measure(&nothing, diagonal, 1).natural_residual -
        measure(ours, diagonal, 0).natural_residual - measure(ours, diagonal, 1).natural_residual;
    ss_paper_claim(report, "energy: no contact minus guess", "J", better, better > 0.0, "prefers the guess");
    ss_paper_claim(report, "natural residual: no contact minus guess", "mixed", residual, residual < 0.0,
                   "prefers no contact: it compares N s with m/s");
}

static bool compare_solution(ss_paper_report *report, const rod *r, ss_error *err)
{
    const double tipping = 0.5 * mass * g * length; // N m
    rod below, above;
    if (!make(tipping * (1.0 - 1e-6), &below, err) || !make(tipping * (1.0 + 1e-6), &above, err))
        return false;
    for (int i = 0; i < 2; i++) {
        double exact = -(r->inverse[i][0] * r->b[0] + r->inverse[i][1] * r->b[1]);
        // both contacts close; a few roundings of numbers below 1
        ss_paper_claim(report, i ? "x2 of the solution" : "x1 of the solution", "N s", r->solution[i],
                       fabs(r->solution[i] - exact) <= 1e-14, "w = 0; not in the paper");
    }
    ss_paper_claim(report, "torque that lifts the second end", "N m", tipping,
                   below.solution[1] > 0.0 && above.solution[1] == 0.0, "m g l/2; not in the paper");
    return true;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    rod r;
    if (!make(torque, &r, err)) return false;
    double x2 = -r.b[1] / r.A[1][1]; // w2 = 0 and x1 = 0 fix the rest
    guess ours = {{0.0, x2}, {r.A[0][1] * x2 + r.b[0], 0.0}};

    ss_paper_number(report, "A11 = A22", "1/kg", "0.1", r.A[0][0],
                    "1/m + (l/2)^2/I = 4/m is 1.0; the energies in the text use 1.0");
    ss_paper_number(report, "A12 = A21", "1/kg", NULL, r.A[0][1], "1/m - (l/2)^2/I = -2/m");
    ss_paper_number(report, "x2", "N s", "-0.1019", ours.x[1], NULL);
    ss_paper_number(report, "w1", "m/s", "-0.2981", ours.w[0],
                    "w1 = A12 x2 + b1; the printed value omits A12 x2 and is b1 = -0.2981");
    ss_paper_number(report, "b1", "m/s", NULL, r.b[0], "printed as w1");
    ss_paper_number(report, "effective mass, diagonal", "kg", "1.33", r.inverse[0][0], NULL);
    ss_paper_number(report, "effective mass, off the diagonal", "kg", "0.66", r.inverse[0][1],
                    "2/3, truncated instead of rounded");
    compare_printed(report, &r, &ours);
    compare_consistent(report, &r, &ours);
    compare_ranking(report, &r, &ours);
    return compare_solution(report, &r, err);
}

const ss_paper ss_paper_rod = {
    .id = "rod",
    .title = "a rod on two contacts, guessed wrong",
    .reference = "Enzenhöfer, Peiret, Teichmann, Kövecses 2019, section 5.1",
    .about = "m = 4 kg, l = 1.5 m, torque 20 N m, h = 0.01 s; the guess is x1 = 0, w2 = 0. The problem is "
             "assembled from a frame by the formulation frictionless, the errors are those of the library.",
    .run = run,
};
