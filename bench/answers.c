/* Does a change to the solvers change their answers, or what they cost? Every solver, with its defaults and
 * with every choice of its options, on problems and frames of files, cold and warm, on one thread and on two:
 *
 *     build/release/bench_answers [--frames N] [--iterations N] [--solver NAME] [--formulation NAME]
 *                                 [--quick] FILE... > before
 *
 * prints one line each: problem, solver, setting, start, threads, then status, iterations and a hash of the
 * bits of the answer. Two builds that give the same lines give the same answers (diff before after). --quick
 * is defaults from a cold start only. Under callgrind the instructions of every line are dumped under its
 * name; tools/answers compares two builds by both. */
#include <stickslip/stickslip.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS (void)0
#define CALLGRIND_DUMP_STATS_AT(name) (void)(name)
#endif

enum { TEXT = 300 };

typedef struct extent {
    int frames, iterations;
    bool quick;
    const char *solver, *formulation; /* NULL: all */
    ss_team *team;
} extent;

/* FNV-1a over the bytes: any bit counts. */
static uint64_t hash_of(const double *x, int count)
{
    const unsigned char *byte = (const unsigned char *)x;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < (size_t)count * sizeof *x; i++) hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

/* A start that obeys the laws, and that any of our machines makes alike. */
static void start_warm(const ss_problem *problem, double *x)
{
    ss_random random = ss_random_start(5, 0);
    for (int i = 0; i < problem->size; i++) {
        double a = problem->diagonal[i] > 0.0 ? problem->diagonal[i] : 1.0;
        x[i] = ss_random_between(&random, 0.0, 1.0) * -problem->b[i] / a;
    }
    ss_problem_project(problem, x);
}

/* Where a problem comes from: a frame by a formulation, or cones of a file. */
typedef struct source {
    char name[TEXT];
    const ss_cone *cone; /* or else: */
    const ss_frame *frame;
    const ss_formulation *formulation;
    const void *options;
} source;

static ss_problem *problem_of(const source *from)
{
    return from->cone ? ss_problem_from_cone(from->cone, NULL)
                      : ss_problem_from_frame(from->frame, from->formulation, from->options, NULL);
}

/* On a problem of its own: a run neither finds nor leaves anything that a problem keeps. */
static void run(const extent *how, const source *from, const ss_solver *solver, const char *setting,
                bool warm, ss_team *team)
{
    char line[2 * TEXT];
    ss_problem *problem = problem_of(from);
    if (!problem) exit(4);
    double *x = calloc((size_t)problem->size + 1, sizeof *x);
    void *options = calloc(1, solver->options_size + 1);
    if (!x || !options) exit(4);
    if (solver->options) ss_options_defaults(solver->options, options);
    if (setting && !ss_options_assign(solver->options, options, setting, NULL)) exit(2);
    if (warm) start_warm(problem, x);

    ss_run_options limits = ss_run_defaults();
    limits.max_iterations = how->iterations;
    ss_solve_request request = {
        .solver = solver, .solver_options = options, .problem = problem, .run = &limits, .team = team};
    ss_solve_result result = {0};
    snprintf(line, sizeof line, "%s %s %s %s %d", from->name, solver->name, setting ? setting : "-",
             warm ? "warm" : "cold", ss_team_size(team));
    CALLGRIND_ZERO_STATS;
    bool good = ss_solve(&request, x, &result, NULL);
    CALLGRIND_DUMP_STATS_AT(line);
    printf("%s: %s, %d, %016" PRIx64 "\n", line, good ? ss_status_name(result.status) : "error",
           result.iterations, hash_of(x, problem->size));
    ss_solve_result_free(&result);
    ss_problem_destroy(problem);
    free(options);
    free(x);
}

/* Each value of each option that has few of them. */
static void run_settings(const extent *how, const source *from, const ss_solver *solver)
{
    for (const ss_option *option = solver->options; option && option->name; option++) {
        char choices[TEXT], setting[2 * TEXT];
        if (option->type != SS_OPTION_CHOICE && option->type != SS_OPTION_BOOL) continue;
        snprintf(choices, sizeof choices, "%s",
                 option->type == SS_OPTION_BOOL ? "true|false" : option->choices);
        for (const char *value = strtok(choices, "|"); value; value = strtok(NULL, "|")) {
            if (strcmp(value, option->default_value) == 0) continue;
            snprintf(setting, sizeof setting, "%s=%s", option->name, value);
            run(how, from, solver, setting, false, NULL);
        }
    }
}

static void run_all(const extent *how, const source *from)
{
    ss_problem *problem = problem_of(from); /* only to ask who accepts it */
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        if (how->solver && strcmp(how->solver, solver->name) != 0) continue;
        if (!problem || ss_solver_refusal(solver, problem)) continue;
        run(how, from, solver, NULL, false, NULL);
        if (how->quick) continue;
        run(how, from, solver, NULL, false, how->team);
        run(how, from, solver, NULL, true, NULL);
        run_settings(how, from, solver);
    }
    ss_problem_destroy(problem);
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void run_fclib(const extent *how, const char *path, const char *file_name)
{
    ss_fclib_kind kinds[3];
    ss_findings findings = {0};
    ss_fclib *file =
        ss_fclib_kinds(path, kinds, NULL) > 0 ? ss_fclib_read(path, kinds[0], NULL, &findings, NULL) : NULL;
    source from = {.cone = file ? file->cone : NULL};
    snprintf(from.name, sizeof from.name, "%s", file_name);
    if (file) run_all(how, &from);
    ss_findings_free(&findings);
    ss_fclib_destroy(file);
}

/* `frames` of them, evenly spaced, by every formulation. */
static void run_frames(const extent *how, const char *path, const char *file_name)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, NULL);
    int count = file ? ss_bpmd_frame_count(file) : 0, frames = count < how->frames ? count : how->frames;
    for (int k = 0; k < frames; k++) {
        int i = (int)((2 * (int64_t)k + 1) * count / (2 * (int64_t)frames));
        ss_findings findings = {0};
        ss_frame *frame = ss_bpmd_read(file, i, &findings, NULL);
        for (int f = 0; frame && ss_formulation_at(f); f++) {
            const ss_formulation *formulation = ss_formulation_at(f);
            if (how->formulation && strcmp(how->formulation, formulation->name) != 0) continue;
            void *options = calloc(1, formulation->options_size + 1);
            if (!options) exit(4);
            ss_options_defaults(formulation->options, options);
            source from = {.frame = frame, .formulation = formulation, .options = options};
            snprintf(from.name, sizeof from.name, "%s#%d %s", file_name, i, formulation->name);
            run_all(how, &from);
            free(options);
        }
        ss_frame_destroy(frame);
        ss_findings_free(&findings);
    }
    ss_bpmd_close(file);
}

int main(int argc, char **argv)
{
    extent how = {.frames = 2, .iterations = 300, .team = ss_team_create(2, NULL)};
    for (int i = 1; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/'), *name = slash ? slash + 1 : argv[i];
        ss_format format;
        if (strcmp(argv[i], "--quick") == 0)
            how.quick = true;
        else if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc)
            how.frames = atoi(argv[++i]);
        else if (strcmp(argv[i], "--iterations") == 0 && i + 1 < argc)
            how.iterations = atoi(argv[++i]);
        else if (strcmp(argv[i], "--solver") == 0 && i + 1 < argc)
            how.solver = argv[++i];
        else if (strcmp(argv[i], "--formulation") == 0 && i + 1 < argc)
            how.formulation = argv[++i];
        else if (!ss_format_of_file(argv[i], &format, NULL))
            return fprintf(stderr, "bench_answers: %s: neither FCLIB nor BPMD\n", argv[i]), 3;
        else if (format == SS_FORMAT_BPMD)
            run_frames(&how, argv[i], name);
        else
            run_fclib(&how, argv[i], name);
    }
    ss_team_destroy(how.team);
    return 0;
}
