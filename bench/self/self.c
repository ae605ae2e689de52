/* Our own loops against what this machine can do, and against themselves as they were.
 *
 *     bench_self [PART]... [--contacts N] [--reference FILE] [--write]
 *
 * Parts: machine, iterations, threads, stages, counts; all unless told. Problems go up to N contacts (200000).
 * counts compares instructions with the reference file, bench/self_counts.json; --write makes that file. Times are
 * processor time of the thread, the smallest of several runs, and fail nothing: docs/speed.md says how to read them.
 */
#include "counts.h"
#include "kernels.h"
#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct wishes {
    bool machine, iterations, threads, stages, counts, write;
    int contacts;
    const char *reference;
} wishes;

_Noreturn static void refuse(const char *what)
{
    fprintf(stderr,
            "bench_self: %s is not known; parts are machine, iterations, threads, stages and counts\n", what);
    exit(2);
}

static bool *part(wishes *of, const char *name)
{
    return strcmp(name, "machine") == 0      ? &of->machine
           : strcmp(name, "iterations") == 0 ? &of->iterations
           : strcmp(name, "threads") == 0    ? &of->threads
           : strcmp(name, "stages") == 0     ? &of->stages
           : strcmp(name, "counts") == 0     ? &of->counts
           : strcmp(name, "--write") == 0    ? &of->write
                                             : NULL;
}

static wishes read_wishes(int argc, char **argv)
{
    wishes of = {.contacts = 200000, .reference = "bench/self_counts.json"};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc, *asked = part(&of, argv[i]);
        if (asked)
            *asked = true;
        else if (has_value && strcmp(argv[i], "--contacts") == 0)
            of.contacts = atoi(argv[++i]);
        else if (has_value && strcmp(argv[i], "--reference") == 0)
            of.reference = argv[++i];
        else
            refuse(argv[i]);
    }
    if (!of.machine && !of.iterations && !of.threads && !of.stages && !of.counts)
        of.machine = of.iterations = of.threads = of.stages = of.counts = true;
    return of;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "count") == 0) return do_counted(argv[2]) ? 0 : 2;
    wishes of = read_wishes(argc, argv);
    machine m = {0};
    if (of.machine || of.iterations || of.stages) m = measure_machine();
    if (of.machine) print_machine(&m);
    if (of.iterations) print_iterations(&m, of.contacts);
    if (of.threads) print_threads(of.contacts);
    if (of.stages) print_stages(&m);
    return of.counts ? print_counts(argv[0], of.reference, of.write) : 0;
}
