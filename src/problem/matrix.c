/* A = J M^-1 J' + C as a sparse matrix. Rows meet only through a common body, so that each body's rows are
 * listed once and a column costs as many products as it has entries. */
#include <stickslip/problem.h>

#include <string.h>

#include "problem/bodies_form.h"

typedef struct rows_of_bodies {
    int *start; /* bodies + 1 */
    int *row;   /* rows touching each body, ascending */
} rows_of_bodies;

static bool list_rows(const ss_problem *problem, rows_of_bodies *lists)
{
    const ss_bodies_form *form = problem->bodies;
    lists->start = ss_allocate((size_t)form->bodies + 2, sizeof *lists->start);
    size_t blocks = 2 * (size_t)problem->size + (size_t)ss_bodies_further(form, 0, problem->size);
    lists->row = ss_allocate(blocks, sizeof *lists->row);
    if (!lists->start || !lists->row) return false;
    int *next = lists->start + 1; // shifted by one, so that filling leaves the starts in place
    const double *block;
    for (int i = 0; i < problem->size; i++) {
        for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
            if (body >= 0) next[body + 1]++;
        }
    }
    for (int body = 0; body < form->bodies; body++) next[body + 1] += next[body];
    for (int i = 0; i < problem->size; i++) {
        for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
            if (body >= 0) lists->row[next[body]++] = i;
        }
    }
    return true;
}

typedef struct triplets {
    int *i, *j;
    double *x;
    int64_t count, capacity;
} triplets;

/* One more entry; the arrays grow by doubling. False when out of memory. */
static bool add(triplets *entries, int row, int column, double value)
{
    if (entries->count == entries->capacity) {
        int64_t capacity = entries->capacity ? 2 * entries->capacity : 1024;
        size_t old = (size_t)entries->count, room = (size_t)capacity;
        int *i = ss_allocate(room, sizeof *i), *j = ss_allocate(room, sizeof *j);
        double *x = ss_allocate(room, sizeof *x);
        if (!i || !j || !x) {
            ss_release(i);
            ss_release(j);
            ss_release(x);
            return false;
        }
        if (old) {
            memcpy(i, entries->i, old * sizeof *i);
            memcpy(j, entries->j, old * sizeof *j);
            memcpy(x, entries->x, old * sizeof *x);
        }
        ss_release(entries->i);
        ss_release(entries->j);
        ss_release(entries->x);
        *entries = (triplets){i, j, x, entries->count, capacity};
    }
    entries->i[entries->count] = row;
    entries->j[entries->count] = column;
    entries->x[entries->count++] = value;
    return true;
}

/* The lower half of column j goes into both halves, which makes A symmetric to the last bit. */
static bool add_column(const ss_problem *problem, const rows_of_bodies *lists, int j, triplets *entries)
{
    const ss_bodies_form *form = problem->bodies;
    if (!add(entries, j, j, form->compliance[j])) return false;
    const double *block;
    for (int side = 0, body; ss_bodies_block(form, j, side, &body, &block); side++) {
        if (body < 0) continue;
        double push[6];
        ss_bodies_push_one(form, body, block, push);
        for (int k = lists->start[body]; k < lists->start[body + 1]; k++) {
            int i = lists->row[k];
            if (i < j || (k > lists->start[body] && lists->row[k - 1] == i)) continue;
            double value = ss_bodies_dot(form, i, body, push);
            if (!add(entries, i, j, value)) return false;
            if (i != j && !add(entries, j, i, value)) return false;
        }
    }
    return true;
}

bool ss_problem_need_matrix(ss_problem *problem, ss_error *err)
{
    if (problem->A) return true;
    rows_of_bodies lists = {0};
    triplets entries = {0};
    bool good = list_rows(problem, &lists);
    for (int j = 0; good && j < problem->size; j++) good = add_column(problem, &lists, j, &entries);
    if (good) {
        problem->A = ss_sparse_from_triplets(problem->size, problem->size, entries.count, entries.i,
                                             entries.j, entries.x, err);
        good = problem->A != NULL;
        if (good) problem->symmetric = true;
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the matrix of %d unknowns", problem->size);
    }
    ss_release(lists.start);
    ss_release(lists.row);
    ss_release(entries.i);
    ss_release(entries.j);
    ss_release(entries.x);
    return good;
}
