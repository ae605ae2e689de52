#define _GNU_SOURCE
#include "machine.h"

#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Four doubles side by side; as two registers of two where there is nothing wider. */
#if defined __x86_64__ && defined __GNUC__
#define WIDE __attribute__((target("avx2,fma"), noinline))
#define HAS_WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define WIDE __attribute__((noinline))
#define HAS_WIDE 0
#endif

typedef double four __attribute__((vector_size(32)));
enum { STREAMS = 8 }; // sums that do not wait for each other

/* ---- memory ----------------------------------------------------------------------------------------- */

#define TRIAD(name, attribute)                                                      \
    attribute static void name(size_t count, four *a, const four *b, const four *c) \
    {                                                                               \
        for (size_t i = 0; i < count; i++) a[i] = b[i] + 0.5 * c[i];                \
        __asm__ volatile("" ::: "memory");                                          \
    }
#define READ(name, attribute)                                           \
    attribute static double name(size_t count, const four *a)           \
    {                                                                   \
        four s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                    \
        for (size_t i = 0; i + 4 <= count; i += 4) {                    \
            s0 += a[i], s1 += a[i + 1], s2 += a[i + 2], s3 += a[i + 3]; \
        }                                                               \
        s0 = (s0 + s1) + (s2 + s3);                                     \
        return (s0[0] + s0[1]) + (s0[2] + s0[3]);                       \
    }

TRIAD(triad_wide, WIDE)
TRIAD(triad_plain, __attribute__((noinline)))
READ(read_wide, WIDE)
READ(read_plain, __attribute__((noinline)))

typedef struct arrays {
    size_t count; // of fours, in each
    four *a, *b, *c;
} arrays;

static four *take(size_t count)
{
    four *array = must(aligned_alloc(64, count * sizeof *array));
    for (size_t i = 0; i < count; i++) array[i] = (four){1.0, 1.0, 1.0, 1.0};
    return array;
}

/* GB/s of the best of several rounds, each long enough for the clock. */
static double time_triad(const arrays *of, bool wide)
{
    size_t bytes = 3 * of->count * sizeof(four), repeats = ((size_t)64 << 20) / bytes + 1;
    double best = INFINITY;
    for (int round = 0; round < 8; round++) {
        double start = thread_seconds();
        for (size_t k = 0; k < repeats; k++)
            (wide ? triad_wide : triad_plain)(of->count, of->a, of->b, of->c);
        best = fmin(best, thread_seconds() - start);
    }
    return 1e-9 * (double)(bytes * repeats) / best;
}

static double time_read(const arrays *of, bool wide)
{
    size_t bytes = of->count * sizeof(four), repeats = ((size_t)64 << 20) / bytes + 1;
    double best = INFINITY;
    volatile double sink = 0.0;
    for (int round = 0; round < 8; round++) {
        double start = thread_seconds();
        for (size_t k = 0; k < repeats; k++) sink = sink + (wide ? read_wide : read_plain)(of->count, of->b);
        best = fmin(best, thread_seconds() - start);
    }
    return 1e-9 * (double)(bytes * repeats) / best;
}

typedef struct together {
    arrays *of; // of every worker
    bool triad, wide;
    volatile double sink;
} together;

static void go_through(int64_t begin, int64_t end, int worker, void *context)
{
    together *all = context;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const arrays *of = &all->of[k];
        if (all->triad)
            (all->wide ? triad_wide : triad_plain)(of->count, of->a, of->b, of->c);
        else
            all->sink = (all->wide ? read_wide : read_plain)(of->count, of->b);
    }
}

double bandwidth_together(ss_team *team, bool triad)
{
    int workers = ss_team_size(team);
    size_t count = ((size_t)64 << 20) / sizeof(four);
    together all = {.of = must(calloc((size_t)workers, sizeof *all.of)), .triad = triad, .wide = HAS_WIDE};
    for (int w = 0; w < workers; w++)
        all.of[w] = (arrays){.count = count, .a = take(count), .b = take(count), .c = take(count)};
    double best = INFINITY;
    for (int round = 0; round < 12; round++) {
        double start = ss_clock_seconds();
        ss_parallel_for(team, workers, 1, go_through, &all);
        best = fmin(best, ss_clock_seconds() - start);
    }
    for (int w = 0; w < workers; w++) free(all.of[w].a), free(all.of[w].b), free(all.of[w].c);
    free(all.of);
    return 1e-9 * (double)(workers * (triad ? 3 : 1)) * (double)(count * sizeof(four)) / best;
}

/* ---- arithmetic ------------------------------------------------------------------------------------- */

enum { TURNS = 20000 };

/* The assembler keeps the compiler from joining or removing anything. */
#if defined __x86_64__
#define FUSED(x) __asm__ volatile("vfmadd213pd %2, %1, %0" : "+x"(x) : "x"(m), "x"(n));
#define TIMES(x) __asm__ volatile("vmulpd %1, %0, %0" : "+x"(x) : "x"(m));
#define PLUS(x) __asm__ volatile("vaddpd %1, %0, %0" : "+x"(x) : "x"(n));
WIDE static void spin_fused(void)
{
    four m = {0.9, 0.9, 0.9, 0.9}, n = {0.1, 0.1, 0.1, 0.1};
    four a = n, b = n, c = n, d = n, e = n, f = n, g = n, h = n, i = n, j = n;
    for (int turn = 0; turn < TURNS; turn++) {
        FUSED(a) FUSED(b) FUSED(c) FUSED(d) FUSED(e) FUSED(f) FUSED(g) FUSED(h) FUSED(i) FUSED(j)
    }
}

WIDE static void spin_separate(void)
{
    four m = {0.9, 0.9, 0.9, 0.9}, n = {0.1, 0.1, 0.1, 0.1};
    four a = n, b = n, c = n, d = n, e = n, f = n, g = n, h = n, i = n, j = n, k = n, l = n;
    for (int turn = 0; turn < TURNS; turn++) {
        TIMES(a) PLUS(b) TIMES(c) PLUS(d) TIMES(e) PLUS(f) TIMES(g) PLUS(h) TIMES(i) PLUS(j) TIMES(k) PLUS(l)
    }
}

static double time_flops(void (*spin)(void), double flops)
{
    double best = INFINITY;
    for (int round = 0; round < 200; round++) {
        double start = thread_seconds();
        spin();
        best = fmin(best, thread_seconds() - start);
    }
    return 1e-9 * flops * TURNS / best;
}

static void measure_flops(machine *m)
{
    m->fused = time_flops(spin_fused, 10 * 4 * 2);
    m->separate = time_flops(spin_separate, 12 * 4);
}
#else
static void measure_flops(machine *m)
{
    m->fused = m->separate = NAN; // no loop for this machine yet
}
#endif

/* ---- all of it -------------------------------------------------------------------------------------- */

machine measure_machine(void)
{
    machine m = {.level = {"L1", "L2", "L3", "memory"},
                 .bytes = {(size_t)24 << 10, (size_t)256 << 10, (size_t)6 << 20, (size_t)192 << 20},
                 .fused = NAN,
                 .separate = NAN};
    bool wide = HAS_WIDE;
    for (int i = 0; i < LEVELS; i++) {
        arrays of = {.count = m.bytes[i] / 3 / sizeof(four)};
        of.a = take(of.count), of.b = take(of.count), of.c = take(of.count);
        m.triad[i] = time_triad(&of, wide);
        m.read[i] = time_read(&of, wide);
        free(of.a), free(of.b), free(of.c);
    }
    if (wide) measure_flops(&m);
    return m;
}

double bandwidth_for(const machine *m, double bytes)
{
    int level = 0;
    const double holds[LEVELS - 1] = {28e3, 450e3, 16e6}; // bytes: what is left of usual caches
    while (level < LEVELS - 1 && bytes > holds[level]) level++;
    return m->read[level];
}

void print_machine(const machine *m)
{
    printf("this machine, one thread\n%-8s %12s %12s %12s\n", "level", "arrays KiB", "triad GB/s",
           "read GB/s");
    for (int i = 0; i < LEVELS; i++)
        printf("%-8s %12zu %12.1f %12.1f\n", m->level[i], m->bytes[i] >> 10, m->triad[i], m->read[i]);
    printf("%.1f Gflop/s with fused multiply-add, %.1f with separate instructions, which is what our kernels "
           "use\n"
           "(a fused one rounds once instead of twice, and results would depend on the machine)\n\n",
           m->fused, m->separate);
}
