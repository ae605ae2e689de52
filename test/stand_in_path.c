/* A library with the interface of PATH 5.0 and none of its code, for the glue of bench/path/path_ferris.c:
 * it checks how it is called, and solves small problems by Newton's method on the min map. Without the
 * licence string "stand-in" it has PATH's limits without a licence. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct interface {
    void *data;
    void (*problem_size)(void *, int *, int *);
    void (*bounds)(void *, int, double *, double *, double *);
    int (*function)(void *, int, double *, double *);
    int (*jacobian)(void *, int, double *, int, double *, int *, int *, int *, int *, double *);
    void *rest[6];
} interface;

typedef struct problem {
    int size, entries;
    const interface *calls;
    double *x;
} problem;

static int licensed, options_ready, silent;

static void insist(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "stand-in: called wrongly: %s\n", what);
    exit(9);
}

EXPORT int License_SetString(char *text)
{
    licensed = strcmp(text, "stand-in") == 0;
    return licensed;
}

EXPORT void Output_SetInterface(void *output)
{
    silent = output != NULL;
}

EXPORT int Path_CheckLicense(int size, int entries)
{
    return licensed || (size <= 300 && entries <= 2000);
}

EXPORT void *Options_Create(void)
{
    return calloc(1, 1);
}

EXPORT void Path_AddOptions(void *options)
{
    insist(options != NULL, "Path_AddOptions before Options_Create");
    options_ready = 1;
}

EXPORT void Options_Default(void *options)
{
    insist(options != NULL && options_ready, "Options_Default before Path_AddOptions");
}

static int give_up;

EXPORT void Options_Read(void *options, char *file)
{
    char line[200];
    FILE *stream = fopen(file, "r");
    insist(options && stream, "Options_Read without a file");
    give_up = 0;
    while (fgets(line, sizeof line, stream))
        if (strncmp(line, "give_up yes", 11) == 0) give_up = 1;
    fclose(stream);
}

EXPORT void Options_Destroy(void *options)
{
    free(options);
}

EXPORT void *MCP_Create(int size, int entries)
{
    problem *p = calloc(1, sizeof *p);
    p->size = size;
    p->entries = entries;
    p->x = calloc((size_t)size, sizeof *p->x);
    return p;
}

EXPORT void MCP_Destroy(void *m)
{
    free(((problem *)m)->x);
    free(m);
}

EXPORT void MCP_SetInterface(void *m, void *calls)
{
    for (int i = 0; i < 6; i++) insist(!((interface *)calls)->rest[i], "a function that is not there");
    ((problem *)m)->calls = calls;
}

EXPORT double *MCP_GetX(void *m)
{
    return ((problem *)m)->x;
}

/* Gaussian elimination with row exchange; what is singular is shifted a little. */
static void eliminate(double *matrix, double *rhs, int n)
{
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(matrix[r * n + c]) > fabs(matrix[best * n + c])) best = r;
        for (int k = 0; k < n; k++) {
            double other = matrix[best * n + k];
            matrix[best * n + k] = matrix[c * n + k];
            matrix[c * n + k] = other;
        }
        double other = rhs[best];
        rhs[best] = rhs[c];
        rhs[c] = other;
        if (fabs(matrix[c * n + c]) < 1e-13) matrix[c * n + c] = 1e-13;
        for (int r = c + 1; r < n; r++) {
            double factor = matrix[r * n + c] / matrix[c * n + c];
            for (int k = c; factor != 0 && k < n; k++) matrix[r * n + k] -= factor * matrix[c * n + k];
            rhs[r] -= factor * rhs[c];
        }
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int k = r + 1; k < n; k++) rhs[r] -= matrix[r * n + k] * rhs[k];
        rhs[r] /= matrix[r * n + r];
    }
}

EXPORT int Path_Solve(void *m, void *information)
{
    problem *p = m;
    int n, entries;
    insist(silent, "output was not set");
    p->calls->problem_size(p->calls->data, &n, &entries);
    insist(n == p->size && entries <= p->entries, "other sizes than in MCP_Create");
    size_t big = (size_t)n;
    double *lower = calloc(big, 8), *upper = calloc(big, 8), *f = calloc(big, 8), *step = calloc(big, 8);
    double *dense = calloc(big * big, 8), *system = calloc(big * big, 8),
           *value = calloc((size_t)p->entries, 8);
    int *column = calloc(big, 4), *length = calloc(big, 4), *row = calloc((size_t)p->entries, 4);
    p->calls->bounds(p->calls->data, n, p->x, lower, upper);
    entries = p->entries;
    p->calls->jacobian(p->calls->data, n, p->x, 1, f, &entries, column, length, row, value);
    for (int c = 0; c < n; c++)
        for (int k = column[c] - 1; k < column[c] - 1 + length[c]; k++) {
            insist(row[k] >= 1 && row[k] <= n, "indices are from 1");
            dense[(size_t)(row[k] - 1) * big + (size_t)c] += value[k];
        }
    int status = 2, iterations = 0;
    double error = INFINITY;
    for (; status == 2 && !give_up && iterations < 200; iterations++) {
        p->calls->function(p->calls->data, n, p->x, f);
        error = 0;
        for (int i = 0; i < n; i++) {
            insist(lower[i] >= -1e20 && upper[i] <= 1e20, "infinity is 1e20");
            double target = fmin(fmax(p->x[i] - f[i], lower[i]), upper[i]);
            int inside = target > lower[i] && target < upper[i];
            for (int k = 0; k < n; k++)
                system[(size_t)i * big + (size_t)k] = inside ? dense[(size_t)i * big + (size_t)k] : k == i;
            step[i] = inside ? -f[i] : target - p->x[i];
            error = fmax(error, fabs(p->x[i] - target));
        }
        if (error < 1e-10) {
            status = 1;
            break;
        }
        eliminate(system, step, n);
        for (int i = 0; i < n; i++) p->x[i] += step[i];
    }
    memcpy(information, &error, sizeof error);
    ((int *)((double *)information + 5))[0] = iterations;
    free(lower), free(upper), free(f), free(step), free(dense), free(system), free(value);
    free(column), free(length), free(row);
    return status;
}
