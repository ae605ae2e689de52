/* Prints docs/real-problems.md: every solver on every problem and frame of the files given.
 *
 *     build/release/bench_real_problems ../shared/data/fclib/NAME.hdf5 ... ../shared/data/bpmd/NAME.h5 ...
 *
 * Iterations are limited, not seconds, so that the page is the same on every machine. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 10000, TEXT = 600 };
static const double solved_below = 1e-8;

typedef struct score {
    int taken, solved, rays;
    double worst; /* of those not solved: natural map, or relative energy where there are no cones */
} score;

typedef struct table {
    const char *formulation, *option; /* option "" = defaults */
    const char *title, *text;
} table;

static const table tables[] = {
    {"cone", "", "Coulomb's law",
     "FCLIB problems as they are; frames by the formulation `cone` with default options, that is, overlaps "
     "are to be removed within the step."},
    {"cone", "gap_term=zero", "Coulomb's law, velocity level",
     "The same with overlaps left alone; frames only."},
    {"convex", "mu_max=1", "Convex relaxation",
     "Frames by the formulation `convex`, friction coefficients at most 1."},
    {"frictionless", "", "Without friction",
     "Frames by the formulation `frictionless`: what pivoting methods are for."},
};
enum { TABLES = sizeof tables / sizeof *tables };

/* ---- one problem ------------------------------------------------------------------------------------ */

static void run(const ss_solver *solver, ss_problem *problem, score *to)
{
    double *x = calloc((size_t)problem->size + 1, sizeof *x);
    ss_run_options options = {
        .max_iterations = ITERATIONS, .stop = {.gauge = SS_GAUGE_NATURAL_MAP, .below = 1e-8}, .seed = 1};
    ss_solve_result result = {0};
    if (!x || ss_solver_refusal(solver, problem)) {
        free(x);
        return;
    }
    to->taken++;
    if (ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &options}, x, &result,
                 NULL) &&
        result.status == SS_CONVERGED) {
        to->solved++;
    } else {
        double map = result.gauge[SS_GAUGE_NATURAL_MAP], energy = result.gauge[SS_GAUGE_RELATIVE_ENERGY];
        double left = map >= solved_below ? map : energy;
        to->rays += result.status == SS_RAY;
        if (result.status != SS_RAY) to->worst = fmax(to->worst, left);
    }
    ss_solve_result_free(&result);
    free(x);
}

static ss_problem *read_fclib(const char *path)
{
    ss_fclib_kind kinds[3];
    ss_findings findings = {0};
    ss_fclib *file =
        ss_fclib_kinds(path, kinds, NULL) > 0 ? ss_fclib_read(path, kinds[0], NULL, &findings, NULL) : NULL;
    ss_problem *problem = file ? ss_problem_from_cone(file->cone, NULL) : NULL;
    ss_findings_free(&findings);
    ss_fclib_destroy(file);
    return problem;
}

/* ---- files ------------------------------------------------------------------------------------------ */

typedef struct line {
    char name[TEXT];
    int problems, refused;
    score *scores; /* of every solver */
} line;

static void run_all(ss_problem *problem, line *to)
{
    to->problems++;
    for (int s = 0; s < ss_solver_count(); s++) run(ss_solver_at(s), problem, &to->scores[s]);
}

static void run_frames(const char *path, const table *of, line *to)
{
    const ss_formulation *formulation = ss_formulation_find(of->formulation);
    void *options = calloc(1, formulation->options_size);
    ss_bpmd *file = options ? ss_bpmd_open(path, NULL, NULL, NULL) : NULL;
    if (file) ss_options_defaults(formulation->options, options);
    if (file && of->option[0]) ss_options_assign(formulation->options, options, of->option, NULL);
    for (int i = 0; file && i < ss_bpmd_frame_count(file); i++) {
        ss_findings findings = {0};
        ss_frame *frame = ss_bpmd_read(file, i, &findings, NULL);
        bool good = frame && ss_frame_check(frame, "", &findings);
        ss_problem *problem = good ? ss_problem_from_frame(frame, formulation, options, NULL) : NULL;
        if (problem)
            run_all(problem, to);
        else
            to->refused++;
        ss_problem_destroy(problem);
        ss_frame_destroy(frame);
        ss_findings_free(&findings);
    }
    ss_bpmd_close(file);
    free(options);
}

static void run_file(const char *path, const table *of, line *to)
{
    ss_format format;
    const char *slash = strrchr(path, '/');
    snprintf(to->name, sizeof to->name, "%s", slash ? slash + 1 : path);
    if (!ss_format_of_file(path, &format, NULL)) return;
    if (format == SS_FORMAT_BPMD) {
        run_frames(path, of, to);
        return;
    }
    ss_problem *problem = of == &tables[0] ? read_fclib(path) : NULL;
    if (problem) run_all(problem, to);
    ss_problem_destroy(problem);
}

/* ---- the page --------------------------------------------------------------------------------------- */

static void print_score(const score *at, int problems)
{
    if (at->taken == 0) {
        printf(" |");
        return;
    }
    bool all = at->solved == problems;
    if (problems == 1)
        printf(all ? " yes |" : at->rays ? " ray |" : " %.0e |", at->worst);
    else if (all)
        printf(" **%d** |", at->solved);
    else {
        printf(" %d", at->solved);
        if (at->rays) printf(", %d rays", at->rays);
        if (at->taken > at->solved + at->rays) printf(", %.0e", at->worst);
        if (at->taken < problems) printf(", %d refused", problems - at->taken);
        printf(" |");
    }
}

static bool takes_any(const line *lines, int count, int solver)
{
    for (int i = 0; i < count; i++) {
        if (lines[i].scores[solver].taken) return true;
    }
    return false;
}

static void print_table(const table *of, const line *lines, int count)
{
    printf("\n## %s\n\n%s\n\n| problem | count |", of->title, of->text);
    for (int s = 0; s < ss_solver_count(); s++) {
        if (takes_any(lines, count, s)) printf(" %s |", ss_solver_at(s)->name);
    }
    printf("\n| --- | --- |");
    for (int s = 0; s < ss_solver_count(); s++) {
        if (takes_any(lines, count, s)) printf(" --- |");
    }
    printf("\n");
    for (int i = 0; i < count; i++) {
        if (!lines[i].problems) continue;
        printf("| %s | %d", lines[i].name, lines[i].problems);
        printf(lines[i].refused ? " (%d more have faults) |" : " |", lines[i].refused);
        for (int s = 0; s < ss_solver_count(); s++) {
            if (takes_any(lines, count, s)) print_score(&lines[i].scores[s], lines[i].problems);
        }
        printf("\n");
    }
}

static const char head[] =
    "# Which solver solves which real problem\n"
    "\n"
    "Problems of the FCLIB collection and frames written by other simulators. This page is printed by\n"
    "\n"
    "    build/release/bench_real_problems FILE...\n"
    "\n"
    "Every solver with its default options, from a cold start, with at most 10000 iterations, to "
    "`natural_map<1e-8` (with joints, limits or no cones, also `relative_energy<1e-8`). A cell shows the "
    "number of problems solved, in bold if that is all of them; *rays*: those where the solver showed that "
    "impulses can grow without bound, so that there is no solution (see [solving.md](solving.md)); then "
    "the largest error among the rest. For a file with one problem: *yes*, or the remaining error. Empty: "
    "the solver does not accept such problems.\n";

static const char tail[] =
    "\n"
    "## What is behind the numbers\n"
    "\n"
    "- **Tables on four feet.** In `chain10_gazebo6` and `stack6_gazebo6` more contacts are closed than "
    "the bodies can satisfy at once, and the velocities they require disagree slightly. In frame 24 of the "
    "chain this leaves a push of 8e-8, constant over 200 proximal steps, along impulses that move nothing, "
    "while the solution is about 1.5 units of impulse away: every method whose steps are proportional to "
    "the error creeps. The Newton methods and the interior-point method solve a sequence of proximal "
    "problems with ever smaller regularisation there, and converge.\n"
    "- **Wedges.** In frames 37 to 40 of `ode_january2013` balls overlap the walls of a groove by 4 to 6 "
    "cm and have to leave them within one step, while a friction coefficient of 10 (above 1 / tan 10 "
    "degrees = 5.7, given by the slope of the groove) holds them. Impulses along the line between the two "
    "contacts of a ball move nothing and grow without bound. In frames 37 and 39, where every ball has two "
    "contacts, all combinations of open, sticking and sliding contacts were searched, with sliding "
    "directions in steps of a quarter of a degree: in none with positive normal impulses is the sliding "
    "opposed by friction, so there is no solution. For frames 38 and 40, 2000 random starts each did not "
    "find one either.\n"
    "- **Glue.** In frames 3218 and 3689 friction is infinite at all contacts. A contact with infinite "
    "friction may not slide, whether it is pressed or not (K is a half-space, see "
    "[formulations.md](formulations.md)); the overlaps require the bodies to move apart, and the glue does "
    "not let them. The rays prove that no velocity satisfies both.\n"
    "- All six have solutions with `--with gap_term=zero` or with `--with mu_max=1`.\n";

static bool run_table(const table *of, char **paths, int count)
{
    line *lines = calloc((size_t)count, sizeof *lines);
    bool good = lines != NULL;
    for (int i = 0; good && i < count; i++) {
        lines[i].scores = calloc((size_t)ss_solver_count(), sizeof *lines[i].scores);
        good = lines[i].scores != NULL;
        if (good) run_file(paths[i], of, &lines[i]);
    }
    if (good) print_table(of, lines, count);
    for (int i = 0; lines && i < count; i++) free(lines[i].scores);
    free(lines);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "real_problems: give files of FCLIB problems and BPMD frames\n");
        return 0; // `make bench` has none
    }
    fputs(head, stdout);
    for (int t = 0; t < TABLES; t++) {
        if (!run_table(&tables[t], argv + 1, argc - 1)) return 4;
    }
    fputs(tail, stdout);
    return 0;
}
