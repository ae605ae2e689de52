#define _GNU_SOURCE
#include "counts.h"

#include "kernels.h"
#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS = 2000, SWEEPS = 10, SKIPPED = 77 };

typedef struct piece {
    const char *name;
    iteration of; // solver NULL: assembling
    bool pile, matrix;
} piece;

static const piece pieces[] = {
    {"pgs", {.solver = "pgs"}, false, false},
    {"pgs-pile", {.solver = "pgs"}, true, false},
    {"pgs-forward", {.solver = "pgs", .setting = "sweep=forward"}, false, false},
    {"pgs-matrix", {.solver = "pgs"}, false, true},
    {"nsgs", {.solver = "nsgs"}, false, false},
    {"nsgs-pile", {.solver = "nsgs"}, true, false},
    {"nsgs-forward", {.solver = "nsgs", .setting = "sweep=forward"}, false, false},
    {"nsgs-matrix", {.solver = "nsgs"}, false, true},
    {"batched-nncg", {.solver = "batched-nncg"}, false, false},
    {"batched-nncg-portable", {.solver = "batched-nncg", .setting = "kernel=portable"}, false, false},
    {"nncg", {.solver = "nncg"}, false, false},
    {"apgd", {.solver = "apgd"}, false, false},
    {"admm", {.solver = "admm"}, false, false},
    {"assemble", {0}, false, false},
};
enum { PIECES = sizeof pieces / sizeof *pieces };

/* Everything in here is counted, and nothing else: callgrind gets its name. */
__attribute__((noinline)) void bench_self_counted(const piece *of, const ss_frame *frame, ss_problem *problem,
                                                  double *x);
void bench_self_counted(const piece *of, const ss_frame *frame, ss_problem *problem, double *x)
{
    if (of->of.solver) {
        ss_solve_result result = solve_for(&of->of, problem, SWEEPS, NULL, x);
        ss_solve_result_free(&result);
    } else {
        ss_problem_destroy(assemble(frame));
    }
}

int do_counted(const char *name)
{
    const piece *of = NULL;
    for (int i = 0; i < PIECES; i++) {
        if (strcmp(pieces[i].name, name) == 0) of = &pieces[i];
    }
    if (!of) return 0;
    ss_frame *frame = of->pile ? make_pile(CONTACTS) : make_wall(CONTACTS);
    ss_problem *problem = assemble(frame);
    double *x = must(calloc((size_t)problem->size, sizeof *x));
    ss_bodies_form *bodies = problem->bodies;
    if (of->matrix) {
        if (!ss_problem_need_matrix(problem, NULL)) stop("out of memory");
        problem->bodies = NULL;
    }
    bench_self_counted(of, frame, problem, x);
    problem->bodies = bodies;
    free(x);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
    return 1;
}

/* ---- counting --------------------------------------------------------------------------------------- */

/* Counts repeat to within a few per mille, with the same compiler: what is above this is a change. */
static const double tolerance = 0.03;

/* Millions of instructions; NAN when callgrind says nothing. OpenBLAS would choose its loops by the
 * processor: it gets those that every one has. */
static double count(const char *program, const char *name)
{
    char command[4096], line[512];
    double instructions = NAN;
    snprintf(command, sizeof command,
             "OPENBLAS_CORETYPE=Nehalem OPENBLAS_NUM_THREADS=1 valgrind --tool=callgrind "
             "--callgrind-out-file=/dev/null --collect-atstart=no "
             "--toggle-collect=bench_self_counted '%s' count %s 2>&1",
             program, name);
    FILE *from = popen(command, "r");
    if (!from) return NAN;
    while (fgets(line, sizeof line, from)) {
        const char *found = strstr(line, "Collected :");
        if (found) instructions = strtod(found + strlen("Collected :"), NULL);
    }
    return pclose(from) == 0 ? 1e-6 * instructions : NAN;
}

/* The file is JSON with a name and a number in every line. */
static double look_up(FILE *reference, const char *name)
{
    char line[256], key[128];
    double value;
    rewind(reference);
    while (fgets(line, sizeof line, reference)) {
        if (sscanf(line, " \"%127[^\"]\" : %lf", key, &value) == 2 && strcmp(key, name) == 0) return value;
    }
    return NAN;
}

static void write_counts(const char *path, const double *found)
{
    FILE *to = fopen(path, "w");
    if (!to) stop("the reference cannot be written");
    fprintf(to, "{\n  \"built by\": \"%s\",\n", ss_build());
    for (int i = 0; i < PIECES; i++)
        fprintf(to, "  \"%s\": %.3f%s\n", pieces[i].name, found[i], i + 1 < PIECES ? "," : "");
    fprintf(to, "}\n");
    if (fclose(to) != 0) stop("the reference cannot be written");
}

/* Why counts of this program here cannot be compared with those of the reference; NULL: they can. */
static const char *excuse(FILE *reference)
{
    static char text[300];
    char line[256], build[128] = "";
    rewind(reference);
    while (fgets(line, sizeof line, reference) && sscanf(line, " \"built by\" : \"%127[^\"]\"", build) != 1)
        ;
    snprintf(text, sizeof text, "the reference was built by %s, this program by %s", build, ss_build());
    if (strcmp(build, ss_build()) != 0) return text;
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? NULL : "this processor has no AVX2, so that other loops run";
#else
    return "the reference is of x86-64";
#endif
}

int print_counts(const char *program, const char *path, bool write, bool check)
{
    double found[PIECES];
    int more = 0;
    if (system("valgrind --version >/dev/null 2>&1") != 0) {
        const char *required = getenv("STICKSLIP_REQUIRE_TOOLS");
        printf("no instruction counts: valgrind is not installed (tools/setup bench)\n");
        return !check ? 0 : required && strcmp(required, "1") == 0 ? 1 : SKIPPED;
    }
    FILE *reference = write ? NULL : fopen(path, "r");
    if (!reference && !write) {
        fprintf(stderr, "bench_self: %s: cannot be read (--reference FILE, or --write to make it)\n", path);
        return 3;
    }
    const char *why = reference ? excuse(reference) : NULL;
    if (why) printf("not comparable: %s\n", why);
    if (why && check) return fclose(reference), SKIPPED;

    printf("millions of instructions by callgrind: %d contacts, %d iterations; ratio to %s\n%-20s %10s %10s "
           "%8s\n",
           CONTACTS, SWEEPS, path, "work", "now", "reference", "ratio");
    for (int i = 0; i < PIECES; i++) {
        found[i] = count(program, pieces[i].name);
        if (isnan(found[i])) {
            fprintf(stderr, "bench_self: %s: callgrind counted nothing\n", pieces[i].name);
            if (reference) fclose(reference);
            return 1;
        }
        double before = reference ? look_up(reference, pieces[i].name) : NAN, ratio = found[i] / before;
        bool is_more = ratio > 1.0 + tolerance || (reference && isnan(before));
        printf("%-20s %10.3f %10.3f %8.3f%s\n", pieces[i].name, found[i], before, ratio,
               is_more                   ? "  more"
               : ratio < 1.0 - tolerance ? "  less"
                                         : "");
        fflush(stdout);
        more += is_more;
    }
    if (reference) fclose(reference);
    if (write) write_counts(path, found);
    if (!check || more == 0) return 0;
    fprintf(
        stderr,
        "bench_self: %d piece%s of work take%s more than %g %% more instructions than %s says. If that is "
        "meant: build/release/bench_self counts --write\n",
        more, more == 1 ? "" : "s", more == 1 ? "s" : "", 100.0 * tolerance, path);
    return 1;
}
