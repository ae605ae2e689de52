/* PATH itself (Ferris, Munson), where you have it, as a solver of ours in a process of its own
 * (docs/pipe.md):
 *
 *     PATH_LIBRARY=libpath50.so stickslip solve stack.h5 --formulation stewart-trinkle
 *         --solver-command path-ferris=stickslip-path-ferris [--set options=crash_method:none;output:no]
 *
 * PATH is closed source, and no part of it is here: the library is loaded when the program starts, from
 * the file that PATH_LIBRARY names, else libpath.so or libpath50.so. A licence is passed on from
 * PATH_LICENSE_STRING; without one PATH solves up to 300 variables and 2,000 entries, and larger problems
 * are refused before PATH sees them. Options, NAME:VALUE separated by semicolons, go to PATH's option file.
 *
 * Bounds that follow a partner, |x| <= f p with p >= 0, become two rows more, with a, b >= 0:
 *     w - a + b = 0, x free;    0 <= f p + x  perp  a >= 0;    0 <= f p - x  perp  b >= 0
 *
 * The interface is that of PATH 5.0 (C API: License, Options, MCP_Interface, Path). Binaries built for
 * GAMS have one more place in MCP_Interface, for Hessians; it and everything behind it is NULL here, so
 * that both kinds work. PATH is not thread-safe and may end the process: that is why it has one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are sent as they are in memory: this needs a little-endian machine"
#endif

/* ---- PATH ---------------------------------------------------------------------------------------------- */

static const double path_infinity = 1e20;
enum {
    SOLVED = 1,
    NO_PROGRESS,
    MAJOR_LIMIT,
    MINOR_LIMIT,
    TIME_LIMIT,
    INTERRUPTED,
    BOUND_ERROR,
    DOMAIN_ERROR
};
enum { INFEASIBLE = 9, FAILURE, LICENCE_ERROR };

typedef struct output_interface {
    void *data;
    void (*print)(void *data, int mode, char *text);
    void (*flush)(void *data, int mode);
} output_interface;

typedef struct information {
    double residual, distance, steplength, total_time, maximum_distance;
    int major_iterations, minor_iterations, crash_iterations, function_evaluations, jacobian_evaluations;
    int gradient_steps, restarts, generate_output, generated_output;
    unsigned char forward, backtrace, gradient, use_start, use_basics, used_start, used_basics;
    char room[64]; /* should a later version add something */
} information;

static struct path_library {
    int (*License_SetString)(char *); /* may be missing */
    void (*Output_SetInterface)(output_interface *);
    int (*Path_CheckLicense)(int, int);
    void *(*Options_Create)(void);
    void (*Options_Default)(void *);
    void (*Options_Read)(void *, char *);
    void (*Options_Destroy)(void *);
    void (*Path_AddOptions)(void *);
    void *(*MCP_Create)(int, int);
    void (*MCP_Destroy)(void *);
    void (*MCP_SetInterface)(void *, void *);
    void (*MCP_Jacobian_Structure_Constant)(void *, int); /* may be missing */
    double *(*MCP_GetX)(void *);
    int (*Path_Solve)(void *, information *);
} path;

static void fail(const char *format, const char *what)
{
    fprintf(stderr, format, what);
    fputc('\n', stderr);
    exit(1);
}

static void *symbol_of(void *library, const char *name, int needed)
{
    void *symbol = dlsym(library, name);
    if (!symbol && needed) fail("not the library of PATH 5.0: it has no %s", name);
    return symbol;
}

#define LOAD(name, needed) (*(void **)(&path.name) = symbol_of(library, #name, needed))
static void load(void)
{
    const char *named = getenv("PATH_LIBRARY");
    void *library = dlopen(named && *named ? named : "libpath.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library && !(named && *named)) library = dlopen("libpath50.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library) fail("PATH is not here, or PATH_LIBRARY does not name it: %s", dlerror());
    LOAD(License_SetString, 0);
    LOAD(Output_SetInterface, 1);
    LOAD(Path_CheckLicense, 1);
    LOAD(Options_Create, 1);
    LOAD(Options_Default, 1);
    LOAD(Options_Read, 1);
    LOAD(Options_Destroy, 1);
    LOAD(Path_AddOptions, 1);
    LOAD(MCP_Create, 1);
    LOAD(MCP_Destroy, 1);
    LOAD(MCP_SetInterface, 1);
    LOAD(MCP_Jacobian_Structure_Constant, 0);
    LOAD(MCP_GetX, 1);
    LOAD(Path_Solve, 1);
    char *licence = getenv("PATH_LICENSE_STRING");
    if (licence && *licence && path.License_SetString) path.License_SetString(licence);
}

static void print_nothing(void *data, int mode, char *text)
{
    (void)data, (void)mode, (void)text; // standard output belongs to the protocol
}

static void flush_nothing(void *data, int mode)
{
    (void)data, (void)mode;
}

/* ---- the problem
 * ----------------------------------------------------------------------------------------- */

/* By columns, as PATH wants it, indices from 0. */
typedef struct mcp {
    int size, entries;
    int *start, *row;
    double *value, *q, *lower, *upper, *z;
} mcp;

static void *room_for(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block) fail("out of memory%s", "");
    return block;
}

/* Entries in any order, to be sorted by columns. */
typedef struct triplets {
    int *rows, *columns, count;
    double *values;
} triplets;

static void add(triplets *t, int64_t row, int64_t column, double value)
{
    t->rows[t->count] = (int)row;
    t->columns[t->count] = (int)column;
    t->values[t->count++] = value;
}

/* Takes the triplets apart. */
static void sort_by_columns(triplets *t, mcp *m)
{
    for (int e = 0; e < t->count; e++) m->start[t->columns[e] + 1]++;
    for (int c = 0; c < m->size; c++) m->start[c + 1] += m->start[c];
    int *next = room_for((size_t)m->size, sizeof *next);
    for (int e = 0; e < t->count; e++) {
        int spot = m->start[t->columns[e]] + next[t->columns[e]]++;
        m->row[spot] = t->rows[e];
        m->value[spot] = t->values[e];
    }
    free(next);
    free(t->rows);
    free(t->columns);
    free(t->values);
}

static void tell_size(void *data, int *size, int *entries)
{
    const mcp *m = data;
    *size = m->size;
    *entries = m->entries;
}

static void tell_bounds(void *data, int size, double *z, double *lower, double *upper)
{
    const mcp *m = data;
    for (int i = 0; i < size; i++) {
        z[i] = m->z[i];
        lower[i] = fmax(m->lower[i], -path_infinity);
        upper[i] = fmin(m->upper[i], path_infinity);
    }
}

static int evaluate(void *data, int size, double *z, double *f)
{
    const mcp *m = data;
    for (int i = 0; i < size; i++) f[i] = m->q[i];
    for (int j = 0; j < size; j++)
        for (int at = m->start[j]; at < m->start[j + 1]; at++) f[m->row[at]] += m->value[at] * z[j];
    return 0;
}

static int differentiate(void *data, int size, double *z, int wants_f, double *f, int *entries, int *column,
                         int *length, int *row, double *value)
{
    const mcp *m = data;
    if (wants_f) evaluate(data, size, z, f);
    for (int j = 0; j < size; j++) {
        column[j] = m->start[j] + 1; // from 1
        length[j] = m->start[j + 1] - m->start[j];
    }
    for (int at = 0; at < m->entries; at++) {
        row[at] = m->row[at] + 1;
        value[at] = m->value[at];
    }
    *entries = m->entries;
    return 0;
}

/* MCP_Interface: the data and ten functions (nine without a place for Hessians), of which four are needed. */
enum { INTERFACE = 16 };

static int solve(mcp *m, const char *settings, information *info)
{
    void *options = path.Options_Create();
    path.Path_AddOptions(options);
    path.Options_Default(options);
    char name[] = "/tmp/path-ferris-XXXXXX";
    int descriptor = mkstemp(name);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!file) fail("%s: cannot be written", name);
    fputs("* written by stickslip\noutput no\n", file);
    for (const char *c = settings; *c; c++) fputc(*c == ';' ? '\n' : *c == ':' ? ' ' : *c, file);
    fputc('\n', file);
    fclose(file);
    path.Options_Read(options, name);
    unlink(name);

    void *problem = path.MCP_Create(m->size, m->entries + 1);
    void *interface[INTERFACE] = {m, (void *)(uintptr_t)tell_size, (void *)(uintptr_t)tell_bounds,
                                  (void *)(uintptr_t)evaluate, (void *)(uintptr_t)differentiate};
    path.MCP_SetInterface(problem, interface);
    if (path.MCP_Jacobian_Structure_Constant) path.MCP_Jacobian_Structure_Constant(problem, 1);
    *info = (information){.use_start = 1};
    int status = path.Path_Solve(problem, info);
    memcpy(m->z, path.MCP_GetX(problem), (size_t)m->size * sizeof *m->z);
    path.MCP_Destroy(problem);
    path.Options_Destroy(options);
    return status;
}

/* ---- the protocol
 * ---------------------------------------------------------------------------------------- */

enum { WORD = 8 };

static int read_all(void *to, size_t size)
{
    return fread(to, 1, size, stdin) == size;
}

static void send(const char *type, const void *payload, size_t size)
{
    char head[2 * WORD] = "";
    int64_t length = (int64_t)size;
    memcpy(head, type, strlen(type));
    memcpy(head + WORD, &length, sizeof length);
    if (fwrite(head, 1, sizeof head, stdout) != sizeof head || fwrite(payload, 1, size, stdout) != size ||
        fflush(stdout) != 0)
        exit(0); // no one listens
}

static void send_done(int64_t status, const double *x, int64_t n, const char *text)
{
    size_t length = strlen(text), padded = (length + WORD - 1) / WORD * WORD;
    size_t size = WORD + (size_t)n * WORD + WORD + padded;
    char *payload = room_for(size, 1);
    int64_t text_length = (int64_t)length;
    memcpy(payload, &status, WORD);
    memcpy(payload + WORD, x, (size_t)n * WORD);
    memcpy(payload + WORD + (size_t)n * WORD, &text_length, WORD);
    memcpy(payload + 2 * WORD + (size_t)n * WORD, text, length);
    send("DONE", payload, size);
    free(payload);
}

/* Reads numbers off a message. */
static int64_t take_integer(const char **at)
{
    int64_t value;
    memcpy(&value, *at, sizeof value);
    *at += WORD;
    return value;
}

static void serve(const char *message)
{
    const char *at = message;
    int64_t n = take_integer(&at), blocks = take_integer(&at);
    at += WORD; // form: by rows, as asked for
    int64_t k = take_integer(&at);
    at += 4 * WORD; // symmetric, limits, seed
    const double *b = (const double *)at, *lower = b + n, *upper = lower + n;
    const int64_t *partner = (const int64_t *)(upper + n);
    const double *factor = (const double *)(partner + n), *start = factor + n;
    const char *block = (const char *)(start + n);
    const int64_t *row_start = (const int64_t *)(block + 7 * WORD * blocks), *column = row_start + n + 1;
    const double *value = (const double *)(column + k);
    const char *options = (const char *)(value + k);
    int64_t options_length = take_integer(&options);

    // which bounds follow a partner
    int64_t coupled = 0;
    char *follows = room_for((size_t)n, 1);
    for (int64_t c = 0; c < blocks; c++) {
        const char *words = block + 7 * WORD * c;
        int64_t law = take_integer(&words), first = take_integer(&words), size = take_integer(&words);
        for (int64_t i = first; law == 4 && i < first + size; i++) {
            if (isfinite(lower[i]) || isfinite(upper[i]) || lower[partner[i]] < 0) {
                send_done(6, start, n,
                          "bounds that follow a partner that may be negative, or have bounds beside them");
                free(follows);
                return;
            }
            follows[i] = 1;
            coupled++;
        }
    }

    // by columns, with two rows and columns more for each of them
    int64_t size = n + 2 * coupled, entries = k + 6 * coupled, next = n;
    char text[300];
    if (size > INT32_MAX / 2 || entries > INT32_MAX / 2 || !path.Path_CheckLicense((int)size, (int)entries)) {
        snprintf(text, sizeof text,
                 "%lld variables and %lld entries are more than PATH's licence allows (300 and 2000 without "
                 "one); set PATH_LICENSE_STRING",
                 (long long)size, (long long)entries);
        send_done(6, start, n, text);
        free(follows);
        return;
    }
    mcp m = {.size = (int)size, .entries = (int)entries};
    m.start = room_for((size_t)size + 1, sizeof *m.start);
    m.row = room_for((size_t)entries, sizeof *m.row);
    m.value = room_for((size_t)entries, sizeof *m.value);
    double **vectors[] = {&m.q, &m.lower, &m.upper, &m.z};
    for (int v = 0; v < 4; v++) *vectors[v] = room_for((size_t)size, sizeof(double));
    triplets t = {.rows = room_for((size_t)entries, sizeof *t.rows),
                  .columns = room_for((size_t)entries, sizeof *t.columns),
                  .values = room_for((size_t)entries, sizeof *t.values)};
    for (int64_t r = 0; r < n; r++)
        for (int64_t e = row_start[r]; e < row_start[r + 1]; e++) add(&t, r, column[e], value[e]);
    for (int64_t i = 0; i < n; i++) {
        if (!follows[i]) continue;
        add(&t, i, next, -1.0);
        add(&t, i, next + 1, 1.0);
        add(&t, next, partner[i], factor[i]);
        add(&t, next, i, 1.0);
        add(&t, next + 1, partner[i], factor[i]);
        add(&t, next + 1, i, -1.0);
        next += 2;
    }
    sort_by_columns(&t, &m);
    for (int64_t i = 0; i < size; i++) {
        m.q[i] = i < n ? b[i] : 0.0;
        m.lower[i] = i < n ? lower[i] : 0.0;
        m.upper[i] = i < n ? upper[i] : INFINITY;
        m.z[i] = i < n ? start[i] : 0.0;
    }

    char *settings = room_for((size_t)options_length + 1, 1);
    memcpy(settings, options, (size_t)options_length);
    information info;
    int status = solve(&m, settings, &info);
    snprintf(text, sizeof text, "PATH: status %d, %d major and %d minor iterations, residual %.3g", status,
             info.major_iterations, info.minor_iterations, info.residual);
    int64_t ours = status == SOLVED                                 ? 0
                   : status == NO_PROGRESS || status == INFEASIBLE  ? 3
                   : status >= MAJOR_LIMIT && status <= INTERRUPTED ? 1
                   : status == LICENCE_ERROR                        ? 6
                                                                    : 7;
    send_done(ours, m.z, n, text);
    free(settings);
    free(follows);
    free(m.start);
    free(m.row);
    free(m.value);
    for (int v = 0; v < 4; v++) free(*vectors[v]);
}

int main(int argc, char **argv)
{
    if (argc > 1) fail("unknown argument %s", argv[1]);
    load();
    static output_interface silent = {NULL, print_nothing, flush_nothing};
    path.Output_SetInterface(&silent);
    char head[2 * WORD];
    while (read_all(head, sizeof head)) {
        int64_t size;
        memcpy(&size, head + WORD, sizeof size);
        if (size < 0 || size > INT64_C(1) << 40) fail("a message that is none%s", "");
        char *payload = room_for((size_t)size, 1);
        if (!read_all(payload, (size_t)size)) break;
        if (memcmp(head, "HELLO", 6) == 0) {
            const int64_t hello[4] = {1, 1 + 2 + 4, 0,
                                      1}; // version; free, box, coupled; needs nothing; by rows
            send("HELLO", hello, sizeof hello);
        } else if (memcmp(head, "PROBLEM", 8) == 0) {
            serve(payload);
        }
        free(payload);
    }
    return 0;
}
