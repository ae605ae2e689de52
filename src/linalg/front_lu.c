#include "linalg/front_lu.h"

#include "base/deadline.h"
#include "base/team.h"
#include "linalg/dense.h"
#include "linalg/front_tree.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* What a thread needs for itself. */
typedef struct scratch {
    int *place;       // per node: where it is in the front at hand
    int *owner;       // per node: the front at hand, if it is in it
    int *waiting;     // fronts whose contributions are on the stack
    int *index;       // rows of a contribution in the parent's front
    double *gathered; // one front's part of a vector
    double *x;        // solutions of a task, all unknowns
    double pace;      // s per operation, measured where there is a deadline; 0: not yet
} scratch;

struct ss_front_lu {
    ss_front_tree tree;
    bool *active; // what the tree was made for
    bool analysed;
    bool is_symmetric; // L L': only the lower halves of fronts count
    ss_team *team;
    scratch *own;   // of each thread
    int own_count;  // threads
    int *exchange;  // row exchanges of all fronts
    double *factor; // of all fronts
    double *stack;
    double *passed; // what tasks pass on to the one above them in a solve
    size_t factor_capacity, stack_capacity, passed_capacity;
    int index_capacity;
    double deadline;
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
        lu->exchange = ss_allocate((size_t)pattern->first[n], sizeof *lu->exchange);
        good = lu->active && lu->exchange;
        if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a factorisation");
    }
    if (good) return lu;
    ss_front_lu_destroy(lu);
    return NULL;
}

static void free_scratch(ss_front_lu *lu)
{
    for (int w = 0; w < lu->own_count; w++) {
        scratch *own = &lu->own[w];
        ss_release(own->place);
        ss_release(own->owner);
        ss_release(own->waiting);
        ss_release(own->index);
        ss_release(own->gathered);
        ss_release(own->x);
    }
    ss_release(lu->own);
    lu->own = NULL;
    lu->own_count = 0;
}

void ss_front_lu_destroy(ss_front_lu *lu)
{
    if (!lu) return;
    free_scratch(lu);
    ss_front_tree_free(&lu->tree);
    ss_release(lu->active);
    ss_release(lu->exchange);
    ss_release(lu->factor);
    ss_release(lu->stack);
    ss_release(lu->passed);
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

void ss_front_lu_set_team(ss_front_lu *lu, ss_team *team)
{
    if (team != lu->team) lu->analysed = false; // stacks are another size
    lu->team = team;
}

/* Threads that share the tasks: one, where the stacks of all would take several times the memory of one. */
static ss_team *helpers_of(const ss_front_lu *lu)
{
    enum { MOST_TIMES = 8 };
    const ss_front_tree *tree = &lu->tree;
    bool too_large = tree->task_stack_size > MOST_TIMES * tree->stack_size;
    return tree->task_count == 1 || too_large ? NULL : lu->team;
}

/* ns of a number of the factors, about; a solve reads it twice. */
static const double factor_each = 10.0, solve_each = 0.5;

/* Lines of eight numbers, which tasks leave to those above them. */
static double crossings_of(const ss_front_tree *tree)
{
    return (double)tree->task_border_size / 8.0;
}

static bool make_scratch(ss_front_lu *lu)
{
    const ss_block_rows *pattern = lu->tree.pattern;
    int threads = ss_team_size(helpers_of(lu)), rows = lu->tree.largest_rows;
    size_t n = (size_t)pattern->nodes, unknowns = (size_t)pattern->first[n];
    bool by_tasks = lu->tree.task_count > 1;
    if (lu->own_count >= threads && rows <= lu->index_capacity && (lu->own[0].x || !by_tasks)) return true;
    free_scratch(lu);
    lu->index_capacity = rows + rows / 4;
    lu->own = ss_allocate((size_t)threads, sizeof *lu->own);
    if (!lu->own) return false;
    lu->own_count = threads;
    for (int w = 0; w < threads; w++) {
        scratch *own = &lu->own[w];
        own->place = ss_allocate(n, sizeof *own->place);
        own->owner = ss_allocate(n, sizeof *own->owner);
        own->waiting = ss_allocate(n, sizeof *own->waiting);
        own->index = ss_allocate((size_t)lu->index_capacity, sizeof *own->index);
        own->gathered = ss_allocate((size_t)lu->index_capacity, sizeof *own->gathered);
        if (by_tasks) own->x = ss_allocate(unknowns, sizeof *own->x);
        bool good = own->place && own->owner && own->waiting && own->index && own->gathered;
        if (good && (own->x || !by_tasks)) continue;
        free_scratch(lu);
        return false;
    }
    return true;
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
    size_t stack = helpers_of(lu) ? lu->tree.task_stack_size : lu->tree.stack_size;
    if (!reserve(&lu->stack, &lu->stack_capacity, stack)) return false;
    if (!reserve(&lu->passed, &lu->passed_capacity, lu->tree.task_border_size)) return false;
    return lu->analysed = make_scratch(lu);
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
static void assemble(const ss_front_lu *lu, scratch *own, const double *values, const ss_front *front,
                     int owner, const columns *to)
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
        own->place[node] = at;
        own->owner[node] = owner;
        at += ss_block_rows_size(pattern, node);
    }

    for (int p = 0; p < front->pivot_count; p++) {
        int i = front->pivot_nodes[p], rows = ss_block_rows_size(pattern, i);
        for (int k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
            int j = pattern->column[k], cols = ss_block_rows_size(pattern, j);
            if (!lu->active[j] || own->owner[j] != owner) continue; // eliminated before
            bool is_pivot = own->place[j] < front->pivots;
            if (is_pivot || !lu->is_symmetric)
                put_block(to, values + pattern->place[k], own->place[i], rows, own->place[j], cols);
            if (is_pivot) continue; // its row has its turn
            put_block(to, values + pattern->place[pattern->mirror[k]], own->place[j], cols, own->place[i],
                      rows);
        }
    }
}

/* What the elimination of a child left for its border, added to the front of its parent. */
static void add_contribution(const ss_front_lu *lu, scratch *own, const ss_front *child, const double *block,
                             const columns *to)
{
    const ss_block_rows *pattern = lu->tree.pattern;
    int rest = child->rows - child->pivots, count = 0, *index = own->index;
    for (int k = 0; k < child->border_count; k++) {
        int node = child->border_nodes[k];
        for (int i = 0; i < ss_block_rows_size(pattern, node); i++) index[count++] = own->place[node] + i;
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

/* LAPACK may take a NaN for a pivot like any other: OpenBLAS asks only whether one is zero or negative. What
 * is not finite elsewhere in the pivot columns has reached a diagonal by the last front. */
static bool has_finite_pivots(const columns *front)
{
    for (int i = 0; i < front->pivots; i++)
        if (!isfinite(front->pivot[(size_t)i * (size_t)front->rows + (size_t)i])) return false;
    return true;
}

/* [F11 F12; F21 F22] -> P L11, U11; U12 = L11^-1 P F12; L21 = F21 U11^-1; F22 - L21 U12 */
static bool eliminate(const columns *front, int *exchange)
{
    int rows = front->rows, pivots = front->pivots, rest = rows - pivots;
    if (!ss_dense_lu_columns(pivots, front->pivot, rows, exchange) || !has_finite_pivots(front)) return false;
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
    if (!has_finite_pivots(front)) return false;
    if (rest == 0) return true;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rest, pivots, 1.0,
                front->pivot, rows, front->pivot + pivots, rows);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rest, pivots, -1.0, front->pivot + pivots, rows, 1.0,
                front->border + pivots, rows);
    return true;
}

/* ---- deadlines -------------------------------------------------------------------------------------- */

/* BLAS cannot be interrupted: a front is not begun when it would take too long at the pace of those before,
 * which are smaller as a rule. `began`: when the last one did; `operations`: multiplications of that one. */
static bool is_late_for(const ss_front_lu *lu, scratch *own, const ss_front *next, double *began,
                        double *operations)
{
    static const double enough = 1e5; // operations, to tell a pace
    if (!(lu->deadline < INFINITY)) return false;
    double now = ss_clock_seconds();
    if (*operations > enough) own->pace = (now - *began) / *operations;
    *began = now;
    *operations = ss_front_work(next) * (lu->is_symmetric ? 0.5 : 1.0);
    return now + own->pace * *operations >= lu->deadline;
}

/* ---- all fronts ------------------------------------------------------------------------------------- */

/* Fronts begin .. end - 1. What their children left is on the stack or, of children that are not among them,
 * with the tasks `child`, of which the last one comes first, as on a stack. */
static ss_linalg_status factor_fronts(ss_front_lu *lu, scratch *own, const double *values, int begin, int end,
                                      double *stack, const int *child, int child_count)
{
    const ss_front_tree *tree = &lu->tree;
    double *top = stack, began = 0.0, operations = 0.0;
    int waiting = 0;
    for (int f = begin; f < end; f++) {
        const ss_front *front = &tree->fronts[f];
        if (is_late_for(lu, own, front, &began, &operations)) return SS_LINALG_LATE;

        /* The front: blocks of the matrix, and what its children left. */
        columns work = {lu->factor + front->left, top, front->rows, front->pivots};
        assemble(lu, own, values, front, f, &work);
        for (int c = 0; c < front->children; c++) {
            if (waiting == 0) {
                const ss_front_task *task = &tree->tasks[child[--child_count]];
                add_contribution(lu, own, &tree->fronts[task->end - 1], lu->stack + task->stack, &work);
                continue;
            }
            const ss_front *last = &tree->fronts[own->waiting[--waiting]];
            size_t side = (size_t)(last->rows - last->pivots);
            top -= side * side;
            add_contribution(lu, own, last, top, &work);
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
        own->waiting[waiting++] = f;
        top += rest * rest;
    }
    return SS_LINALG_OK;
}

typedef struct factoring {
    ss_front_lu *lu;
    const double *values;
    _Atomic bool is_singular, is_late;
} factoring;

static void factor_task(int t, int worker, void *context)
{
    factoring *of = context;
    const ss_front_tree *tree = &of->lu->tree;
    const ss_front_task *task = &tree->tasks[t];
    const int *start = tree->graph.start[1] + t;
    if (of->is_singular || of->is_late) return;
    ss_linalg_status status =
        factor_fronts(of->lu, &of->lu->own[worker], of->values, task->begin, task->end,
                      of->lu->stack + task->stack, tree->graph.other[1] + start[0], start[1] - start[0]);
    if (status == SS_LINALG_SINGULAR) of->is_singular = true;
    if (status == SS_LINALG_LATE) of->is_late = true;
}

ss_linalg_status ss_front_lu_factor(ss_front_lu *lu, const double *values, const bool *active)
{
    /* s: about what the first analysis takes, measured on pyramids of cubes. It cannot be interrupted. */
    static const double per_block = 1.5e-7;
    ss_front_tree *tree = &lu->tree;
    int nodes = tree->pattern->nodes;
    ss_blas_use_one_thread();
    if (ss_deadline_misses(lu->deadline, lu->analysed ? 0.0 : per_block * tree->pattern->start[nodes]))
        return SS_LINALG_LATE;
    if (!analyse(lu, active)) return SS_LINALG_NO_MEMORY;

    for (int w = 0; w < lu->own_count; w++) {
        for (int i = 0; i < nodes; i++) lu->own[w].owner[i] = -1;
    }
    if (!helpers_of(lu))
        return factor_fronts(lu, &lu->own[0], values, 0, tree->front_count, lu->stack, NULL, 0);
    factoring of = {.lu = lu, .values = values};
    ss_parallel_tasks(ss_team_for(lu->team, factor_each * (double)tree->factor_size, crossings_of(tree), 0.0),
                      &tree->graph, false, factor_task, &of);
    return of.is_singular ? SS_LINALG_SINGULAR : of.is_late ? SS_LINALG_LATE : SS_LINALG_OK;
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

static void forward(const ss_front_lu *lu, scratch *own, const ss_front *front, double *x)
{
    const ss_block_rows *pattern = lu->tree.pattern;
    const double *left = lu->factor + front->left;
    int pivots = front->pivots, rest = front->rows - pivots, *exchange = lu->exchange + front->exchange;
    double *part = own->gathered;
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
static void backward(const ss_front_lu *lu, scratch *own, const ss_front *front, double *x)
{
    const ss_block_rows *pattern = lu->tree.pattern;
    int rows = front->rows, pivots = front->pivots, rest = rows - pivots;
    const double *left = lu->factor + front->left, *right = lu->factor + front->right;
    double *part = own->gathered;
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

typedef struct solving {
    ss_front_lu *lu;
    double *x;
} solving;

static void copy_pivots(const ss_front_tree *tree, const ss_front_task *task, const double *from, double *to)
{
    for (int f = task->begin; f < task->end; f++) {
        for (int k = 0; k < tree->fronts[f].pivot_count; k++) {
            int node = tree->fronts[f].pivot_nodes[k];
            for (int i = tree->pattern->first[node]; i < tree->pattern->first[node + 1]; i++) to[i] = from[i];
        }
    }
}

/* A task works on a copy of its own unknowns, with zeros in the border of its last front, and passes on what
 * it has added to these: tasks at the same time may have the same border. */
static void forward_task(int t, int worker, void *context)
{
    const solving *of = context;
    ss_front_lu *lu = of->lu;
    const ss_front_tree *tree = &lu->tree;
    const ss_block_rows *pattern = tree->pattern;
    const ss_front_task *task = &tree->tasks[t];
    const ss_front *last = &tree->fronts[task->end - 1];
    scratch *own = &lu->own[worker];
    copy_pivots(tree, task, of->x, own->x);
    for (int k = 0; k < last->border_count; k++) {
        int node = last->border_nodes[k];
        for (int i = pattern->first[node]; i < pattern->first[node + 1]; i++) own->x[i] = 0.0;
    }
    for (int c = tree->graph.start[1][t]; c < tree->graph.start[1][t + 1]; c++) {
        const ss_front_task *child = &tree->tasks[tree->graph.other[1][c]];
        const ss_front *from = &tree->fronts[child->end - 1];
        const double *passed = lu->passed + child->border;
        for (int k = 0; k < from->border_count; k++) {
            int node = from->border_nodes[k];
            for (int i = pattern->first[node]; i < pattern->first[node + 1]; i++) own->x[i] += *passed++;
        }
    }

    for (int f = task->begin; f < task->end; f++) forward(lu, own, &tree->fronts[f], own->x);
    copy_pivots(tree, task, own->x, of->x);
    gather(pattern, last->border_nodes, last->border_count, own->x, lu->passed + task->border);
}

static void backward_task(int t, int worker, void *context)
{
    const solving *of = context;
    const ss_front_tree *tree = &of->lu->tree;
    for (int f = tree->tasks[t].end - 1; f >= tree->tasks[t].begin; f--)
        backward(of->lu, &of->lu->own[worker], &tree->fronts[f], of->x);
}

void ss_front_lu_solve(ss_front_lu *lu, const double *b, double *x)
{
    ss_front_tree *tree = &lu->tree;
    const ss_block_rows *pattern = tree->pattern;
    for (int node = 0; node < pattern->nodes; node++) {
        if (!lu->active[node]) continue;
        for (int i = pattern->first[node]; i < pattern->first[node + 1]; i++) x[i] = b[i];
    }
    if (tree->task_count == 1) {
        for (int f = 0; f < tree->front_count; f++) forward(lu, &lu->own[0], &tree->fronts[f], x);
        for (int f = tree->front_count - 1; f >= 0; f--) backward(lu, &lu->own[0], &tree->fronts[f], x);
        return;
    }
    solving of = {lu, x};
    ss_team *team =
        ss_team_for(helpers_of(lu), solve_each * (double)tree->factor_size, crossings_of(tree), 0.0);
    ss_parallel_tasks(team, &tree->graph, false, forward_task, &of);
    ss_parallel_tasks(team, &tree->graph, true, backward_task, &of);
}
