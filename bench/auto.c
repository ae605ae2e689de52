/* How good is the automatic choice? Every problem and frame of the files given is solved by `auto` and by
 * every other solver; printed are auto's time, that of the best of the others in hindsight, and their ratio,
 * the worst first.
 *
 *     build/release/bench_auto [-f FORMULATION] [-n LINES] FILE...
 *
 * Times are processor time of whole calls, set-up and measuring included, the least of some repeats; so other
 * work on the machine matters little. Others have ten times what the best so far needed. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITERATIONS = 100000, MOST = 4000, NAME = 100 };

typedef struct outcome {
    char name[NAME];
    int unknowns;
    ss_status status; /* of auto */
    int iterations;
    double seconds, best; /* best: INFINITY when no other solver got there */
    const char *best_name;
} outcome;

static outcome outcomes[MOST];
static int count;

static double processor_seconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Least time of some runs, INFINITY when it does not get there within `limit` seconds. */
static double race(const ss_solver *solver, ss_problem *problem, double limit, ss_solve_result *last)
{
    enum { MOST_REPEATS = 60 };
    static const double enough = 0.03; // s: then no more repeats
    ss_run_options options = {.max_iterations = ITERATIONS,
                              .time_limit = limit,
                              .stop = {.gauge = SS_GAUGE_NATURAL_MAP, .below = 1e-8},
                              .seed = 1};
    double least = INFINITY, sum = 0.0, *x = calloc((size_t)problem->size + 1, sizeof *x);
    for (int i = 0; x && i < MOST_REPEATS && (i < 2 || sum < enough); i++) {
        memset(x, 0, (size_t)problem->size * sizeof *x);
        double start = processor_seconds();
        bool good = ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &options}, x,
                             last, NULL);
        double seconds = processor_seconds() - start;
        ss_solve_result_free(last);
        sum += seconds;
        if (!good || last->status != SS_CONVERGED) break;
        least = fmin(least, seconds);
    }
    free(x);
    return least;
}

static void run(ss_problem *problem, const char *name)
{
    static const double longest = 20.0, shortest = 0.005; // s
    outcome *to = &outcomes[count];
    const ss_solver *automatic = ss_solver_find("auto");
    ss_solve_result result;
    if (count == MOST) return;
    count++;
    *to = (outcome){.unknowns = problem->size, .best = INFINITY, .best_name = "-"};
    snprintf(to->name, sizeof to->name, "%s", name);
    to->seconds = race(automatic, problem, longest, &result);
    to->status = result.status;
    to->iterations = result.iterations;
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        if (solver == automatic || ss_solver_refusal(solver, problem)) continue;
        double limit = fmin(longest, fmax(10.0 * fmin(to->seconds, to->best), shortest));
        double seconds = race(solver, problem, limit, &result);
        if (seconds < to->best) to->best = seconds, to->best_name = solver->name;
    }
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void run_frames(const char *path, const char *name, const ss_formulation *formulation)
{
    void *options = calloc(1, formulation->options_size);
    ss_bpmd *file = options ? ss_bpmd_open(path, NULL, NULL, NULL) : NULL;
    if (file) ss_options_defaults(formulation->options, options);
    for (int i = 0; file && i < ss_bpmd_frame_count(file); i++) {
        char place[NAME];
        ss_findings findings = {0};
        ss_frame *frame = ss_bpmd_read(file, i, &findings, NULL);
        bool good = frame && ss_frame_check(frame, "", &findings);
        ss_problem *problem = good ? ss_problem_from_frame(frame, formulation, options, NULL) : NULL;
        snprintf(place, sizeof place, "%s, frame %d", name, i);
        if (problem) run(problem, place);
        ss_problem_destroy(problem);
        ss_frame_destroy(frame);
        ss_findings_free(&findings);
    }
    ss_bpmd_close(file);
    free(options);
}

static void run_problem(const char *path, const char *name)
{
    ss_fclib_kind kinds[3];
    ss_findings findings = {0};
    ss_fclib *file =
        ss_fclib_kinds(path, kinds, NULL) > 0 ? ss_fclib_read(path, kinds[0], NULL, &findings, NULL) : NULL;
    ss_problem *problem = file ? ss_problem_from_cone(file->cone, NULL) : NULL;
    if (problem) run(problem, name);
    ss_problem_destroy(problem);
    ss_findings_free(&findings);
    ss_fclib_destroy(file);
}

static void run_file(const char *path, const ss_formulation *formulation)
{
    ss_format format;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!ss_format_of_file(path, &format, NULL)) return;
    if (format == SS_FORMAT_BPMD)
        run_frames(path, name, formulation);
    else
        run_problem(path, name);
}

/* ---- the table -------------------------------------------------------------------------------------- */

static double ratio_of(const outcome *at)
{
    return at->seconds / at->best;
}

/* Worst first; what no method solved last. */
static int by_ratio(const void *left, const void *right)
{
    double a = ratio_of(left), b = ratio_of(right);
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

static void print_table(int lines)
{
    double sum = 0.0;
    int raced = 0, solved = 0;
    qsort(outcomes, (size_t)count, sizeof *outcomes, by_ratio);
    printf("| problem | unknowns | auto | iterations | ms | best other | ms | ratio |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < count; i++) {
        const outcome *at = &outcomes[i];
        double ratio = ratio_of(at);
        solved += at->status == SS_CONVERGED;
        if (isfinite(ratio) && ratio > 0.0) sum += log(ratio), raced++;
        if (i < lines || at->status != SS_CONVERGED)
            printf("| %s | %d | %s | %d | %.3g | %s | %.3g | %.2f |\n", at->name, at->unknowns,
                   ss_status_name(at->status), at->iterations, 1e3 * at->seconds, at->best_name,
                   1e3 * at->best, ratio);
    }
    printf("\n%d problems, %d solved by auto; ratio: geometric mean %.2f, worst %.2f\n", count, solved,
           exp(sum / fmax(raced, 1)), count ? ratio_of(&outcomes[0]) : 0.0);
}

int main(int argc, char **argv)
{
    const ss_formulation *formulation = ss_formulation_find("cone");
    int lines = 20;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-f") == 0 && i + 1 < argc)
            formulation = ss_formulation_find(argv[++i]);
        else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
            lines = atoi(argv[++i]);
        else if (formulation)
            run_file(argv[i], formulation);
    }
    if (!formulation || count == 0) {
        fprintf(stderr, "usage: bench_auto [-f FORMULATION] [-n LINES] FILE...\n");
        return 2;
    }
    print_table(lines);
    return 0;
}
