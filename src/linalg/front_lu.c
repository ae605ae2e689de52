#include "linalg/front_lu.h"

#include "base/deadline.h"
#include "linalg/dense.h"
#include "linalg/front_tree.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

struct ss_front_lu {
    ss_front_tree tree;
    bool *active; // what the tree was made for
    bool analysed;
    bool is_symmetric; // L L': only the lower halves of fronts count
    int *place;        // per node: where it is in the front at hand
    int *owner;        // per node: the front at hand, if it is in it
    int *exchange;     // row exchanges of all fronts
    int *waiting;      // fronts whose contributions are on the stack
    int *index;        // rows of a contribution in the parent's front
    double *factor;    // of all fronts
    double *stack;
    double *gathered; // one front's part of a vector
    size_t factor_capacity, stack_capacity;
    int index_capacity;
    double deadline;
    double pace; // s per operation, measured where there is a deadline; 0: not yet
};

/* ---- life ------------------------------------------------------------------------------------------- */

ss_front_lu *ss_front_lu_create(const ss_block_rows *pattern, ss_error *err)
{
    ss_front_lu *lu = ss_allocate(1, sizeof *lu);
    if (!lu) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a factorisation");
        return NULL;
    }
    lu->deadline = INFINITY;
    size_t n = (size_t)pattern->nodes;
    bool good = ss_front_tree_create(pattern, &lu->tree, err);
    if (good) {
        lu->active = ss_allocate(n, sizeof *lu->active);
        lu->place = ss_allocate(n, sizeof *lu->place);
        lu->owner = ss_allocate(n, sizeof *lu->owner);
        lu->waiting = ss_allocate(n, sizeof *lu->waiting);
        lu->exchange = ss_allocate((size_t)pattern->first[n], sizeof *lu->exchange);
        good = lu->active && lu->place && lu->owner && lu->waiting && lu->exchange;
        if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a factorisation");
    }
    if (good) return lu;
    ss_front_lu_destroy(lu);
    return NULL;
}

void ss_front_lu_destroy(ss_front_lu *lu)
{
    if (!lu) return;
    ss_front_tree_free(&lu->tree);
    ss_release(lu->active);
    ss_release(lu->place);
    ss_release(lu->owner);
    ss_release(lu->exchange);
    ss_release(lu->waiting);
    ss_release(lu->index);
    ss_release(lu->factor);
    ss_release(lu->stack);
    ss_release(lu->gathered);
    ss_release(lu);
}

static bool reserve(double **numbers, size_t *capacity, size_t needed)
{
    if (*numbers && needed <= *capacity) return true;
    ss_release(*numbers);
    *capacity = needed + needed / 4;
    *numbers = ss_allocate(*capacity, sizeof **numbers);
    return *numbers != NULL;
}

void ss_front_lu_use_symmetry(ss_front_lu *lu)
{
    lu->is_symmetric = true;
}

void ss_front_lu_set_deadline(ss_front_lu *lu, double deadline)
{
    lu->deadline = deadline;
}

/* A new tree when other nodes are active than last time. */
static bool analyse(ss_front_lu *lu, const bool *active)
{
    int n = lu->tree.pattern->nodes;
    bool same = lu->analysed;
    for (int i = 0; i < n; i++) {
        bool now = !active || active[i];
        same = same && now == lu->active[i];
        lu->active[i] = now;
    }
    if (same) return true;

    lu->analysed = false;
    if (!ss_front_tree_analyse(&lu->tree, lu->active)) return false;
    if (!reserve(&lu->factor, &lu->factor_capacity, lu->tree.factor_size)) return false;
    if (!reserve(&lu->stack, &lu->stack_capacity, lu->tree.stack_size)) return false;

    int rows = lu->tree.largest_rows;
    if (!lu->index || !lu->gathered || rows > lu->index_capacity) {
        ss_release(lu->index);
        ss_release(lu->gathered);
        lu->index_capacity = rows + rows / 4;
        lu->index = ss_allocate((size_t)lu->index_capacity, sizeof *lu->index);
        lu->gathered = ss_allocate((size_t)lu->index_capacity, sizeof *lu->gathered);
    }
    return lu->analysed = lu->index && lu->gathered;
}

/* ---- one front -------------------------------------------------------------------------------------- */

/* While it is worked on, a front is two arrays of whole columns: the pivot columns where their factors stay,
 * and the border columns on top of the stack. */
typedef struct columns {
    double *pivot, *border;
    int rows, pivots;
} columns;

static double *column_of(const columns *front, int j)
{
    size_t rows = (size_t)front->rows;
    return j < front->pivots ? front->pivot + (size_t)j * rows
                             : front->border + (size_t)(j - front->pivots) * rows;
}

static void put_block(const columns *front, const double *block, int row, int rows, int col, int cols)
{
    for (int j = 0; j < cols; j++) {
        double *column = column_of(front, col + j) + row;
        for (int i = 0; i < rows; i++) column[i] = block[i * cols + j];
    }
}

/* The matrix's own blocks in rows and columns of the pivots, into a front that is zero otherwise. Pivots come
 * first, then the border. */
static void assemble(ss_front_lu *lu, const double *values, const ss_front *front, int owner,
                     const columns *to)
{
    const ss_block_rows *pattern = lu->tree.pattern;
    size_t all = (size_t)to->rows, pivots = (size_t)to->pivots, rest = all - pivots;
    memset(to->pivot, 0, all * pivots * sizeof *to->pivot);
    if (!lu->is_symmetric) memset(to->border, 0, all * rest * sizeof *to->border);
    for (size_t j = 0; j < rest && lu->is_symmetric; j++)
        memset(to->border + j * all + pivots + j, 0, (rest - j) * sizeof *to->border);

    int at = 0;
    for (int k = 0; k < front->pivot_count + front->border_count; k++) {
        bool is_pivot = k < front->pivot_count;
        int node = is_pivot ? front->pivot_nodes[k] : front->border_nodes[k - front->pivot_count];
        lu->place[node] = at;
        lu->owner[node] = owner;
        at += ss_block_rows_size(pattern, node);
    }

    for (int p = 0; p < front->pivot_count; p++) {
        int i = front->pivot_nodes[p], rows = ss_block_rows_size(pattern, i);
        for (int k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
            int j = pattern->column[k], cols = ss_block_rows_size(pattern, j);
            if (!lu->active[j] || lu->owner[j] != owner) continue; // eliminated before
            bool is_pivot = lu->place[j] < front->pivots;
            if (is_pivot || !lu->is_symmetric)
                put_block(to, values + pattern->place[k], lu->place[i], rows, lu->place[j], cols);
            if (is_pivot) continue; // its row has its turn
            put_block(to, values + pattern->place[pattern->mirror[k]], lu->place[j], cols, lu->place[i],
                      rows);
        }
    }
}

/* What the elimination of a child left for its border, added to the front of its parent. */
static void add_contribution(ss_front_lu *lu, const ss_front *child, const double *block, const columns *to)
{
    const ss_block_rows *pattern = lu->tree.pattern;
    int rest = child->rows - child->pivots, count = 0, *index = lu->index;
    for (int k = 0; k < child->border_count; k++) {
        int node = child->border_nodes[k];
        for (int i = 0; i < ss_block_rows_size(pattern, node); i++) index[count++] = lu->place[node] + i;
    }
    for (int j = 0; j < rest; j++, block += rest) {
        int col = index[j];
        double *column = column_of(to, col);
        if (!lu->is_symmetric) {
            for (int i = 0; i < rest; i++) column[index[i]] += block[i];
            continue;
        }
        // only the lower half is there, and its rows may come in another order in the front
        for (int i = j; i < rest; i++) {
            if (index[i] >= col)
                column[index[i]] += block[i];
            else
                column_of(to, index[i])[col] += block[i];
        }
    }
}

/* [F11 F12; F21 F22] -> P L11, U11; U12 = L11^-1 P F12; L21 = F21 U11^-1; F22 - L21 U12 */
static bool eliminate(const columns *front, int *exchange)
{
    int rows = front->rows, pivots = front->pivots, rest = rows - pivots;
    if (!ss_dense_lu_columns(pivots, front->pivot, rows, exchange)) return false;
    for (int i = 0; i < pivots; i++) {
        if (!isfinite(front->pivot[(size_t)i * (size_t)rows + (size_t)i])) return false;
    }
    if (rest == 0) return true;
    LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, rest, front->border, rows, 1, pivots, exchange, 1);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, pivots, rest, 1.0,
                front->pivot, rows, front->border, rows);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, rest, pivots, 1.0,
                front->pivot, rows, front->pivot + pivots, rows);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rest, rest, pivots, -1.0, front->pivot + pivots,
                rows, front->border, rows, 1.0, front->border + pivots, rows);
    return true;
}

/* The same of a symmetric front: L11, L21 = F21 L11'^-1, F22 - L21 L21' */
static bool eliminate_symmetric(const columns *front)
{
    int rows = front->rows, pivots = front->pivots, rest = rows - pivots;
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', pivots, front->pivot, rows) != 0) return false;
    if (rest == 0) return true;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rest, pivots, 1.0,
                front->pivot, rows, front->pivot + pivots, rows);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rest, pivots, -1.0, front->pivot + pivots, rows, 1.0,
                front->border + pivots, rows);
    return true;
}

/* ---- deadlines -------------------------------------------------------------------------------------- */

/* BLAS cannot be interrupted: a front is not begun when it would take too long at the pace of those before,
 * which are smaller as a rule. `began`: when the last one did; `operations`: multiplications of that one,
 * pivots (rows^2 - rows pivots + pivots^2 / 3), half of them where it is symmetric. */
static bool is_late_for(ss_front_lu *lu, const ss_front *next, double *began, double *operations)
{
    static const double enough = 1e5; // operations, to tell a pace
    if (!(lu->deadline < INFINITY)) return false;
    double now = ss_clock_seconds(), rows = next->rows, pivots = next->pivots;
    if (*operations > enough) lu->pace = (now - *began) / *operations;
    *began = now;
    *operations =
        pivots * (rows * rows - rows * pivots + pivots * pivots / 3.0) * (lu->is_symmetric ? 0.5 : 1.0);
    return now + lu->pace * *operations >= lu->deadline;
}

/* ---- all fronts ------------------------------------------------------------------------------------- */

ss_linalg_status ss_front_lu_factor(ss_front_lu *lu, const double *values, const bool *active)
{
    /* s: about what the first analysis takes, measured on pyramids of cubes. It cannot be interrupted. */
    static const double per_block = 1.5e-7;
    const ss_front_tree *tree = &lu->tree;
    int nodes = tree->pattern->nodes;
    ss_blas_use_one_thread();
    if (ss_deadline_misses(lu->deadline, lu->analysed ? 0.0 : per_block * tree->pattern->start[nodes]))
        return SS_LINALG_LATE;
    if (!analyse(lu, active)) return SS_LINALG_NO_MEMORY;

    for (int i = 0; i < nodes; i++) lu->owner[i] = -1;
    double *top = lu->stack;
    int waiting = 0;
    double began = 0.0, operations = 0.0;
    for (int f = 0; f < tree->front_count; f++) {
        const ss_front *front = &tree->fronts[f];
        if (is_late_for(lu, front, &began, &operations)) return SS_LINALG_LATE;

        /* The front: blocks of the matrix, and what its children left. */
        columns work = {lu->factor + front->left, top, front->rows, front->pivots};
        assemble(lu, values, front, f, &work);
        for (int c = 0; c < front->children; c++) {
            const ss_front *child = &tree->fronts[lu->waiting[--waiting]];
            size_t side = (size_t)(child->rows - child->pivots);
            top -= side * side;
            add_contribution(lu, child, top, &work);
        }
        bool good =
            lu->is_symmetric ? eliminate_symmetric(&work) : eliminate(&work, lu->exchange + front->exchange);
        if (!good) return SS_LINALG_SINGULAR;

        /* U12 to the factors, the rest down to where the children's contributions were. Of a symmetric front,
         * there is no U12, and of the rest only the lower half. */
        size_t rows = (size_t)front->rows, pivots = (size_t)front->pivots, rest = rows - pivots;
        double *right = lu->factor + front->right;
        for (size_t j = 0; j < rest; j++) {
            const double *column = work.border + j * rows;
            size_t from = lu->is_symmetric ? j : 0;
            if (!lu->is_symmetric) memcpy(right + j * pivots, column, pivots * sizeof *right);
            memmove(top + j * rest + from, column + pivots + from, (rest - from) * sizeof *top);
        }
        lu->waiting[waiting++] = f;
        top += rest * rest;
    }
    return SS_LINALG_OK;
}

/* ---- solving ---------------------------------------------------------------------------------------- */

/* Moves the part of a vector that belongs to a list of nodes. */
static void gather(const ss_block_rows *pattern, const int *nodes, int count, const double *x, double *part)
{
    for (int k = 0; k < count; k++) {
        for (int i = pattern->first[nodes[k]]; i < pattern->first[nodes[k] + 1]; i++) *part++ = x[i];
    }
}

static void scatter(const ss_block_rows *pattern, const int *nodes, int count, const double *part, double *x)
{
    for (int k = 0; k < count; k++) {
        for (int i = pattern->first[nodes[k]]; i < pattern->first[nodes[k] + 1]; i++) x[i] = *part++;
    }
}

static void forward(ss_front_lu *lu, const ss_front *front, double *x)
{
    const ss_block_rows *pattern = lu->tree.pattern;
    const double *left = lu->factor + front->left;
    int pivots = front->pivots, rest = front->rows - pivots, *exchange = lu->exchange + front->exchange;
    double *part = lu->gathered;
    gather(pattern, front->pivot_nodes, front->pivot_count, x, part);
    for (int i = 0; i < pivots && !lu->is_symmetric; i++) {
        double kept = part[i];
        part[i] = part[exchange[i] - 1];
        part[exchange[i] - 1] = kept;
    }
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, lu->is_symmetric ? CblasNonUnit : CblasUnit, pivots,
                left, front->rows, part, 1);
    scatter(pattern, front->pivot_nodes, front->pivot_count, part, x);
    if (rest == 0) return;
    gather(pattern, front->border_nodes, front->border_count, x, part + pivots);
    cblas_dgemv(CblasColMajor, CblasNoTrans, rest, pivots, -1.0, left + pivots, front->rows, part, 1, 1.0,
                part + pivots, 1);
    scatter(pattern, front->border_nodes, front->border_count, part + pivots, x);
}

/* x <- U11^-1 (x - U12 border), or L11'^-1 (x - L21' border) */
static void backward(ss_front_lu *lu, const ss_front *front, double *x)
{
    const ss_block_rows *pattern = lu->tree.pattern;
    int rows = front->rows, pivots = front->pivots, rest = rows - pivots;
    const double *left = lu->factor + front->left, *right = lu->factor + front->right;
    double *part = lu->gathered;
    gather(pattern, front->pivot_nodes, front->pivot_count, x, part);
    gather(pattern, front->border_nodes, front->border_count, x, part + pivots);
    if (rest > 0 && lu->is_symmetric)
        cblas_dgemv(CblasColMajor, CblasTrans, rest, pivots, -1.0, left + pivots, rows, part + pivots, 1, 1.0,
                    part, 1);
    else if (rest > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, pivots, rest, -1.0, right, pivots, part + pivots, 1, 1.0,
                    part, 1);
    if (lu->is_symmetric)
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, pivots, left, rows, part, 1);
    else
        cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, pivots, left, rows, part, 1);
    scatter(pattern, front->pivot_nodes, front->pivot_count, part, x);
}

void ss_front_lu_solve(ss_front_lu *lu, const double *b, double *x)
{
    const ss_front_tree *tree = &lu->tree;
    const ss_block_rows *pattern = tree->pattern;
    for (int node = 0; node < pattern->nodes; node++) {
        if (!lu->active[node]) continue;
        for (int i = pattern->first[node]; i < pattern->first[node + 1]; i++) x[i] = b[i];
    }
    for (int f = 0; f < tree->front_count; f++) forward(lu, &tree->fronts[f], x);
    for (int f = tree->front_count - 1; f >= 0; f--) backward(lu, &tree->fronts[f], x);
}
