/* Our own loops against what this machine can do, and against themselves as they were.
 *
 *     bench_self [PART]... [--contacts N] [--only TEXT] [--seconds S] [--reference FILE] [--write]
 *
 * Parts: machine, iterations, threads, stages, scale, growth, counts; all but scale and growth unless told.
 * Problems go up to N contacts (200000; scale: a million). counts compares instructions with the reference
 * file, bench/self_counts.json; --write makes that file. Times are processor time of the thread, the
 * smallest of several runs, and fail nothing: docs/speed.md says how to read them.
 */
#include "counts.h"
#include "kernels.h"
#include "scenes.h"
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct wishes {
    bool machine, iterations, threads, stages, scale, growth, counts, write, check;
    int contacts;
    double seconds;
    const char *only, *reference;
} wishes;

static const char usage[] =
    "usage: bench_self [PART]... [OPTION]...\n"
    "parts (default: all but scale and growth):\n"
    "  machine           bandwidth of every cache and of memory, flops\n"
    "  iterations        our loops, ns per contact, beside what the machine allows\n"
    "  threads           one thread and two: memory, whole steps by stages, single solves\n"
    "  stages            what is done once per step: assembling, making the matrix, collision\n"
    "  scale             memory, stages and sweeps up to a million contacts; a few minutes, 3 GB\n"
    "  growth            accurate methods on walls and piles up to 50,000 contacts; many minutes\n"
    "  counts            instructions by callgrind, beside those of the reference\n"
    "options:\n"
    "  --contacts N      no problem with more contacts (default 200000; scale: a million)\n"
    "  --only TEXT       threads: only rows whose scene or loop contains this; scale: only such scenes\n"
    "  --seconds S       growth: processor time of a run, at most (default 20)\n"
    "  --reference FILE  counts to compare with (default bench/self_counts.json)\n"
    "  --write           make that file\n"
    "  --check           exit with 1 if there are more instructions than the reference allows,\n"
    "                    with 77 if the two cannot be compared\n"
    "  --help            this text\n";

_Noreturn static void refuse(const char *what, const char *why)
{
    fprintf(stderr, "bench_self: %s %s\n%s", what, why, usage);
    exit(2);
}

static int read_number(const char *option, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < 1 || number > 100000000) refuse(option, "needs a positive number");
    return (int)number;
}

static bool *part(wishes *of, const char *name)
{
    return strcmp(name, "machine") == 0      ? &of->machine
           : strcmp(name, "iterations") == 0 ? &of->iterations
           : strcmp(name, "threads") == 0    ? &of->threads
           : strcmp(name, "stages") == 0     ? &of->stages
           : strcmp(name, "scale") == 0      ? &of->scale
           : strcmp(name, "growth") == 0     ? &of->growth
           : strcmp(name, "counts") == 0     ? &of->counts
           : strcmp(name, "--write") == 0    ? &of->write
           : strcmp(name, "--check") == 0    ? &of->check
                                             : NULL;
}

static wishes read_wishes(int argc, char **argv)
{
    wishes of = {.seconds = 20.0, .only = "", .reference = "bench/self_counts.json"};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc, *asked = part(&of, argv[i]);
        if (asked)
            *asked = true;
        else if (has_value && strcmp(argv[i], "--contacts") == 0)
            of.contacts = read_number("--contacts", argv[++i]);
        else if (has_value && strcmp(argv[i], "--only") == 0)
            of.only = argv[++i];
        else if (has_value && strcmp(argv[i], "--seconds") == 0)
            of.seconds = read_number("--seconds", argv[++i]);
        else if (has_value && strcmp(argv[i], "--reference") == 0)
            of.reference = argv[++i];
        else if (strcmp(argv[i], "--help") == 0)
            exit(fputs(usage, stdout) < 0);
        else if (strcmp(argv[i], "--contacts") == 0 || strcmp(argv[i], "--seconds") == 0 ||
                 strcmp(argv[i], "--only") == 0 || strcmp(argv[i], "--reference") == 0)
            refuse(argv[i], "needs a value");
        else
            refuse(argv[i], "is not known");
    }
    if (!of.machine && !of.iterations && !of.threads && !of.stages && !of.scale && !of.growth && !of.counts)
        of.machine = of.iterations = of.threads = of.stages = of.counts = true;
    if (of.contacts == 0) of.contacts = of.scale ? 1000000 : 200000;
    return of;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "count") == 0) return do_counted(argv[2]) ? 0 : 2;
    wishes of = read_wishes(argc, argv);
    machine m = {0};
    if (of.machine || of.iterations || of.stages || of.scale) m = measure_machine();
    if (of.machine) print_machine(&m);
    if (of.iterations) print_iterations(&m, of.contacts);
    if (of.threads) print_threads(of.contacts, of.only);
    if (of.stages) print_stages(&m);
    if (of.scale) print_scale(&m, of.contacts, of.only);
    if (of.growth) print_growth(of.contacts, of.seconds);
    return of.counts ? print_counts(argv[0], of.reference, of.write, of.check) : 0;
}
