/* How good is the automatic choice? Problems and frames of the files given are solved by `auto` and by every
 * other solver; printed are auto's time, that of the best of the others in hindsight, and their ratio, the
 * worst first, and the geometric mean of each folder (in the collection: family).
 *
 *     build/release/bench_auto [-f FORMULATION] [-n LINES] [-e TOLERANCE] [-k EVERY] [-o TIMES] [-r TIMES]
 *                              FILE...
 *
 * Times are processor time of whole calls, set-up and measuring included, the least of some repeats, solvers
 * in turn; so other work on the machine matters little. The rule is natural_map<1e-8, with -e
 * relative_energy<TOLERANCE. -k: every EVERY-th frame of a file, beginning in the middle of the first such
 * run. Others have 1.3 times what the best so far needed. -o keeps all times in a file, and -r runs auto
 * again against those that were close to the best in such a file: minutes become seconds, and both are
 * measured in the same minute. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/deadline.h"

enum { ITERATIONS = 100000, MOST = 4000, NAME = 100, SOLVERS = 64 };

typedef struct outcome {
    char folder[NAME], name[NAME];
    int unknowns;
    ss_status status; /* of auto */
    int iterations;
    double seconds, best; /* best: INFINITY when no other solver got there */
    const char *best_name;
} outcome;

static struct settings {
    const ss_formulation *formulation;
    ss_stop_rule stop;
    int lines, every;
    FILE *times;
} set = {.stop = {.gauge = SS_GAUGE_NATURAL_MAP, .below = 1e-8}, .lines = 20, .every = 1};

static outcome outcomes[MOST];
static int count;

/* ---- an earlier race ---------------------------------------------------------------------------------- */

typedef struct timing {
    char folder[NAME], name[NAME], solver[NAME];
    double seconds;
} timing;

static timing *known;
static int known_count;

static bool read_known(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[4 * NAME];
    int room = 0;
    for (bool good = file != NULL; good && fgets(line, sizeof line, file);) {
        timing at;
        int unknowns;
        if (sscanf(line, "%99[^;];%99[^;];%d;%99[^;];%lf", at.folder, at.name, &unknowns, at.solver,
                   &at.seconds) != 5)
            continue;
        if (known_count == room) {
            room = room ? 2 * room : 1024;
            timing *more = realloc(known, (size_t)room * sizeof *more);
            if (more) known = more;
            good = more != NULL;
        }
        if (good) known[known_count++] = at;
    }
    if (file) fclose(file);
    return known_count > 0;
}

/* Was it, on this problem, close to the best of the others? */
static bool was_close(const outcome *at, const char *solver)
{
    static const double close = 1.25;
    double best = INFINITY, own = INFINITY;
    for (int i = 0; i < known_count; i++) {
        const timing *that = &known[i];
        if (strcmp(that->name, at->name) || strcmp(that->folder, at->folder) || !strcmp(that->solver, "auto"))
            continue;
        best = fmin(best, that->seconds);
        if (strcmp(that->solver, solver) == 0) own = that->seconds;
    }
    return own < close * best;
}

/* ---- one problem -------------------------------------------------------------------------------------- */

static double processor_seconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Time of one run, INFINITY when it does not get there within `limit` seconds. A matrix that the solver needs
 * belongs to it: the next one makes its own. */
static double time_once(const ss_solver *solver, ss_problem *problem, double limit, double *x,
                        ss_solve_result *result)
{
    ss_run_options options = {.max_iterations = ITERATIONS, .time_limit = limit, .stop = set.stop, .seed = 1};
    ss_problem copy = *problem;
    memset(x, 0, (size_t)problem->size * sizeof *x);
    double start = processor_seconds();
    bool good = ss_solve(
        &(ss_solve_request){
            .solver = solver, .problem = &copy, .run = &options, .gauges = 1u << set.stop.gauge},
        x, result, NULL);
    double seconds = processor_seconds() - start;
    ss_solve_result_free(result);
    if (copy.A != problem->A) ss_sparse_destroy(copy.A);
    return good && result->status == SS_CONVERGED ? seconds : INFINITY;
}

static void run(ss_problem *problem, const char *folder, const char *name)
{
    enum { REPEATS = 40 };
    static const double longest = 10.0, shortest = 0.002, enough = 0.02; // s
    static const double hopeless = 1.3;                                  // times the best
    outcome *to = &outcomes[count];
    const ss_solver *racer[SOLVERS] = {ss_solver_find("auto")};
    int iterations[SOLVERS] = {0};
    double least[SOLVERS], sum[SOLVERS] = {0}, *x = calloc((size_t)problem->size + 1, sizeof *x);
    int racers = 1;
    if (count == MOST || !x) {
        free(x);
        return;
    }
    *to = (outcome){.unknowns = problem->size, .best = INFINITY, .best_name = "-"};
    snprintf(to->folder, sizeof to->folder, "%s", folder);
    snprintf(to->name, sizeof to->name, "%s", name);
    for (int s = 0; s < ss_solver_count() && racers < SOLVERS; s++) {
        const ss_solver *solver = ss_solver_at(s);
        if (solver == racer[0] || ss_solver_refusal(solver, problem)) continue;
        if (!known || was_close(to, solver->name)) racer[racers++] = solver;
    }

    // In turn, so that all see the same machine; those that are slow are not asked again.
    for (int i = 0; i < racers; i++) least[i] = INFINITY;
    for (int turn = 0; turn < REPEATS; turn++) {
        bool asked = false;
        for (int i = 0; i < racers; i++) {
            ss_solve_result result;
            double best = INFINITY;
            for (int k = 0; k < racers; k++) best = fmin(best, least[k]);
            if (turn > 0 && (isinf(least[i]) || (i && least[i] > hopeless * best))) continue;
            if (turn > 1 && sum[i] >= enough) continue;
            double limit = i ? fmin(longest, fmax(hopeless * best, shortest)) : longest;
            double seconds = time_once(racer[i], problem, limit, x, &result);
            if (i == 0) to->status = result.status, to->iterations = result.iterations;
            iterations[i] = result.iterations;
            least[i] = fmin(least[i], seconds);
            sum[i] += isfinite(seconds) ? seconds : enough;
            asked = true;
        }
        if (!asked) break;
    }
    to->seconds = least[0];
    for (int i = 0; i < racers; i++) {
        if (i && least[i] < to->best) to->best = least[i], to->best_name = racer[i]->name;
        if (set.times && isfinite(least[i]))
            fprintf(set.times, "%s;%s;%d;%s;%.9g;%d\n", folder, name, problem->size, racer[i]->name, least[i],
                    iterations[i]);
    }
    if (set.times) fflush(set.times);
    count++;
    free(x);
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void run_frames(const char *path, const char *folder, const char *name)
{
    const ss_formulation *formulation = set.formulation;
    void *options = calloc(1, formulation->options_size);
    ss_bpmd *file = options ? ss_bpmd_open(path, NULL, NULL, NULL) : NULL;
    if (file) ss_options_defaults(formulation->options, options);
    for (int i = set.every / 2; file && i < ss_bpmd_frame_count(file); i += set.every) {
        char place[NAME];
        ss_findings findings = {0};
        ss_frame *frame = ss_bpmd_read(file, i, &findings, NULL);
        bool good = frame && ss_frame_check(frame, "", &findings);
        ss_problem *problem = good ? ss_problem_from_frame(frame, formulation, options, NULL) : NULL;
        snprintf(place, sizeof place, "%s, frame %d", name, i);
        if (problem) run(problem, folder, place);
        ss_problem_destroy(problem);
        ss_frame_destroy(frame);
        ss_findings_free(&findings);
    }
    ss_bpmd_close(file);
    free(options);
}

static void run_problem(const char *path, const char *folder, const char *name)
{
    ss_fclib_kind kinds[3];
    ss_findings findings = {0};
    ss_fclib *file =
        ss_fclib_kinds(path, kinds, NULL) > 0 ? ss_fclib_read(path, kinds[0], NULL, &findings, NULL) : NULL;
    ss_problem *problem = file ? ss_problem_from_cone(file->cone, NULL) : NULL;
    if (problem) run(problem, folder, name);
    ss_problem_destroy(problem);
    ss_findings_free(&findings);
    ss_fclib_destroy(file);
}

static void run_file(const char *path)
{
    ss_format format;
    char folder[4 * NAME];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    const char *last = strrchr(folder, '/');
    last = last ? last + 1 : folder;
    if (!ss_format_of_file(path, &format, NULL)) return;
    if (format == SS_FORMAT_BPMD)
        run_frames(path, last, name);
    else
        run_problem(path, last, name);
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

/* Geometric mean, worst and number above 3, of those of one folder (NULL: all) whose best took so long. */
static void print_mean(const char *folder, double least)
{
    double sum = 0.0, worst = 0.0;
    int raced = 0, above = 0;
    for (int i = 0; i < count; i++) {
        const outcome *at = &outcomes[i];
        double ratio = ratio_of(at);
        if ((folder && strcmp(folder, at->folder)) || !(ratio > 0.0 && isfinite(ratio)) ||
            !(at->best > least))
            continue;
        sum += log(ratio);
        worst = fmax(worst, ratio);
        above += ratio > 3.0;
        raced++;
    }
    if (raced)
        printf("| %s%s | %d | %.3f | %.2f | %d |\n", folder ? folder : "all",
               least > 0.0 ? ", best above 0.1 ms" : "", raced, exp(sum / raced), worst, above);
}

static void print_table(int lines)
{
    int solved = 0;
    qsort(outcomes, (size_t)count, sizeof *outcomes, by_ratio);
    printf("| problem | unknowns | auto | iterations | ms | best other | ms | ratio |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < count; i++) {
        const outcome *at = &outcomes[i];
        solved += at->status == SS_CONVERGED;
        if (i < lines || at->status != SS_CONVERGED)
            printf("| %s/%s | %d | %s | %d | %.3g | %s | %.3g | %.2f |\n", at->folder, at->name, at->unknowns,
                   ss_status_name(at->status), at->iterations, 1e3 * at->seconds, at->best_name,
                   1e3 * at->best, ratio_of(at));
    }
    printf("\n%d problems, %d solved by auto\n\n| folder | problems | geometric mean | worst | above 3 |\n"
           "|---|---|---|---|---|\n",
           count, solved);
    for (int i = 0; i < count; i++) {
        bool is_told = false;
        for (int k = 0; k < i; k++) is_told |= strcmp(outcomes[k].folder, outcomes[i].folder) == 0;
        if (!is_told) print_mean(outcomes[i].folder, 0.0);
    }
    print_mean(NULL, 0.0);
    print_mean(NULL, 1e-4);
}

int main(int argc, char **argv)
{
    bool good = true;
    ss_clock_count_processor(true);
    set.formulation = ss_formulation_find("cone");
    for (int i = 1; i < argc && good; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1] && i + 1 < argc;
        const char *value = is_option ? argv[i + 1] : NULL;
        switch (is_option ? argv[i++][1] : 0) {
        case 'f':
            good = (set.formulation = ss_formulation_find(value)) != NULL;
            break;
        case 'n':
            set.lines = atoi(value);
            break;
        case 'e':
            set.stop = (ss_stop_rule){.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = strtod(value, NULL)};
            break;
        case 'k':
            good = (set.every = atoi(value)) > 0;
            break;
        case 'o':
            good = (set.times = fopen(value, "w")) != NULL;
            break;
        case 'r':
            good = read_known(value);
            break;
        case 0:
            run_file(argv[i]);
            break;
        default:
            good = false;
        }
    }
    if (set.times) fclose(set.times);
    free(known);
    if (!good || count == 0) {
        fprintf(stderr, "usage: bench_auto [-f FORMULATION] [-n LINES] [-e TOLERANCE] [-k EVERY] [-o TIMES] "
                        "[-r TIMES] FILE...\n");
        return 2;
    }
    print_table(set.lines);
    return 0;
}
