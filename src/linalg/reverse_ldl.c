#include "linalg/reverse_ldl.h"

#include <stdlib.h>
#include <string.h>

static bool make_entries(ss_reverse_ldl *to, int used, int more)
{
    if (used + more <= to->entry_room) return true;
    int room = 2 * to->entry_room > used + more ? 2 * to->entry_room : used + more;
    int *column = ss_allocate((size_t)room, sizeof *column);
    double *value = ss_allocate((size_t)room, sizeof *value);
    if (!column || !value) {
        ss_release(column);
        ss_release(value);
        return false;
    }
    if (used) memcpy(column, to->column, (size_t)used * sizeof *column);
    ss_release(to->column);
    ss_release(to->value);
    to->column = column;
    to->value = value;
    to->entry_room = room;
    return true;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Which entries L has: a row those of M and of all rows whose last entry is in it. Rows are stored from the
 * last to the first, so that a row's list is complete before the next one needs it; `mark` links each row to
 * the rows that end in it, first as a list, then as a stamp. */
static bool find_pattern(int size, const int32_t *start, const int32_t *column, ss_reverse_ldl *to)
{
    int *child = ss_allocate(2 * (size_t)size, sizeof *child), *next = child ? child + size : NULL;
    int used = 0;
    bool good = child != NULL;
    for (int k = 0; good && k < size; k++) child[k] = next[k] = to->mark[k] = -1;
    for (int k = size - 1; good && k >= 0; k--) {
        int most = start[k + 1] - start[k] - 1;
        for (int c = child[k]; c >= 0; c = next[c]) most += to->end[c] - to->first[c] - 1;
        if (most > k) most = k;
        good = make_entries(to, used, most);
        if (!good) break;

        int from = used;
        bool sorted = true;
        for (int e = start[k]; e < start[k + 1] - 1; e++) {
            to->mark[column[e]] = k;
            to->column[used++] = column[e];
        }
        for (int c = child[k]; c >= 0; c = next[c]) {
            for (int e = to->first[c]; e < to->end[c]; e++) {
                int j = to->column[e];
                if (j == k || to->mark[j] == k) continue;
                to->mark[j] = k;
                to->column[used++] = j;
                sorted = false;
            }
        }
        if (!sorted) qsort(to->column + from, (size_t)(used - from), sizeof *to->column, compare);
        to->first[k] = from;
        to->end[k] = used;
        if (used > from) {
            int parent = to->column[used - 1];
            next[k] = child[parent];
            child[parent] = k;
        }
    }
    ss_release(child);
    return good;
}

int ss_reverse_ldl_make(int size, const int32_t *start, const int32_t *column, const double *value,
                        ss_reverse_ldl *to)
{
    to->size = size;
    if (size > to->row_room) {
        ss_release(to->first);
        ss_release(to->end);
        ss_release(to->mark);
        ss_release(to->pivot);
        size_t n = (size_t)size;
        to->first = ss_allocate(n, sizeof *to->first);
        to->end = ss_allocate(n, sizeof *to->end);
        to->mark = ss_allocate(n, sizeof *to->mark);
        to->pivot = ss_allocate(n, sizeof *to->pivot);
        to->row_room = to->first && to->end && to->mark && to->pivot ? size : 0;
    }
    if (size > to->row_room || !find_pattern(size, start, column, to)) return -2;

    // the numbers of M into the pattern
    for (int k = 0; k < size; k++) {
        int at = to->first[k];
        to->pivot[k] = value[start[k + 1] - 1];
        for (int e = start[k]; e < start[k + 1] - 1; e++) {
            while (to->column[at] != column[e]) to->value[at++] = 0.0;
            to->value[at++] = value[e];
        }
        while (at < to->end[k]) to->value[at++] = 0.0;
    }

    // row by row from the last: M_ji -= M_kj M_ki / D_k
    for (int k = size - 1; k >= 0; k--) {
        if (!(to->pivot[k] > 0.0)) return k;
        int first = to->first[k], end = to->end[k];
        double inverse = 1.0 / to->pivot[k];
        for (int e = end - 1; e >= first; e--) {
            int j = to->column[e], below = e - first;
            double factor = to->value[e] * inverse;
            to->pivot[j] -= factor * to->value[e];
            double *row = to->value + to->first[j];
            if (to->end[j] - to->first[j] == below) { // the same columns: the usual case in a tree
                for (int i = 0; i < below; i++) row[i] -= factor * to->value[first + i];
            } else {
                const int *columns = to->column + to->first[j];
                for (int i = 0, at = 0; i < below; i++) {
                    while (columns[at] != to->column[first + i]) at++;
                    row[at] -= factor * to->value[first + i];
                }
            }
            to->value[e] = factor;
        }
    }
    return -1;
}

void ss_reverse_ldl_free(ss_reverse_ldl *ldl)
{
    ss_release(ldl->first);
    ss_release(ldl->end);
    ss_release(ldl->mark);
    ss_release(ldl->pivot);
    ss_release(ldl->column);
    ss_release(ldl->value);
    *ldl = (ss_reverse_ldl){0};
}

void ss_reverse_ldl_back(const ss_reverse_ldl *ldl, int last, double *x)
{
    for (int k = last; k >= 0; k--) {
        if (x[k] == 0.0) continue;
        for (int e = ldl->first[k]; e < ldl->end[k]; e++) x[ldl->column[e]] -= ldl->value[e] * x[k];
    }
}

void ss_reverse_ldl_solve(const ss_reverse_ldl *ldl, double *x)
{
    ss_reverse_ldl_back(ldl, ldl->size - 1, x);
    for (int k = 0; k < ldl->size; k++) {
        x[k] /= ldl->pivot[k];
        for (int e = ldl->first[k]; e < ldl->end[k]; e++) x[k] -= ldl->value[e] * x[ldl->column[e]];
    }
}

void ss_reverse_ldl_multiply(const ss_reverse_ldl *ldl, double *x)
{
    for (int k = ldl->size - 1; k >= 0; k--) {
        for (int e = ldl->first[k]; e < ldl->end[k]; e++) x[k] += ldl->value[e] * x[ldl->column[e]];
    }
}
