#include "linalg/block_ldl.h"

#include "base/memory.h"

#include <string.h>

/* Blocks in the order of their elimination. Column k has the diagonal block and, of each block `at` that is
 * eliminated later and coupled to it, rows of that block times columns of k: first its entries of A, then
 * Y = A L_k^-T, and beside them B = Y D_k^-1, which is the block of the factor. */
typedef struct column {
    int block; /* its number in the graph */
    int first; /* row of x */
    int rows;
    int diagonal;   /* in `numbers`: L below ones, D inverted */
    int begin, end; /* of its blocks below the diagonal */
} column;

typedef struct below {
    int at;     /* column */
    int number; /* in `numbers`: Y; B is at `number + rows of both` */
} below;

struct ss_block_ldl {
    int count;
    column *columns;
    int *place; /* of a block of the graph: its column */
    below *belows;
    /* in `numbers`, of each column and each pair of its blocks: what their product is taken off */
    int *targets;
    double *numbers;
    size_t number_count;
    bool fills;  /* there are blocks that the graph does not have */
    bool threes; /* all blocks have three rows */
};

void ss_block_ldl_destroy(ss_block_ldl *ldl)
{
    if (!ldl) return;
    ss_release(ldl->columns);
    ss_release(ldl->place);
    ss_release(ldl->belows);
    ss_release(ldl->targets);
    ss_release(ldl->numbers);
    ss_release(ldl);
}

/* ---- order and pattern ------------------------------------------------------------------------------ */

/* The graph both ways, and its blocks in the order in which a search by breadth finds them: eliminated from
 * the last one to the first, the joints of a tree have only those of one body before them, which are coupled
 * to each other already. */
static void order_blocks(const ss_block_graph *graph, int *start, int *list, int *order)
{
    int n = graph->blocks, found = 0;
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    for (int i = 0; i < n; i++)
        for (int p = graph->start[i]; p < graph->start[i + 1]; p++) start[i]++, start[graph->neighbour[p]]++;
    for (int i = 0, sum = 0; i <= n; i++) sum += start[i], start[i] = sum;
    for (int i = n - 1; i >= 0; i--)
        for (int p = graph->start[i]; p < graph->start[i + 1]; p++) {
            int j = graph->neighbour[p];
            list[--start[i]] = j;
            list[--start[j]] = i;
        }

    int *seen = order + n; // the second half is work
    memset(seen, 0, (size_t)n * sizeof *seen);
    for (int root = 0, next = 0; root < n; root++) {
        if (seen[root]) continue;
        seen[root] = 1;
        order[found++] = root;
        for (; next < found; next++)
            for (int p = start[order[next]]; p < start[order[next] + 1]; p++) {
                if (seen[list[p]]) continue;
                seen[list[p]] = 1;
                order[found++] = list[p];
            }
    }
}

/* The blocks below the diagonal of column k: those of the graph, and those of the columns whose first block
 * below is k, which fill it. Ascending. Returns their number. */
static int list_below(const ss_block_ldl *ldl, const int *start, const int *list, const int *child,
                      const int *sibling, int k, int *mark, int *to)
{
    int count = 0, block = ldl->columns[k].block;
    mark[k] = k + 1;
    for (int p = start[block]; p < start[block + 1]; p++) {
        int at = ldl->place[list[p]];
        if (at > k && mark[at] != k + 1) mark[at] = k + 1, to[count++] = at;
    }
    for (int c = child[k]; c >= 0; c = sibling[c])
        for (int p = ldl->columns[c].begin; p < ldl->columns[c].end; p++) {
            int at = ldl->belows[p].at;
            if (mark[at] != k + 1) mark[at] = k + 1, to[count++] = at;
        }
    for (int i = 1; i < count; i++) // few
        for (int j = i; j > 0 && to[j] < to[j - 1]; j--) SS_SWAP(int, to[j], to[j - 1]);
    return count;
}

/* Of column `at`, its block at row block `row`, which the pattern has. */
static int find_below(const ss_block_ldl *ldl, int at, int row)
{
    int p = ldl->columns[at].begin;
    while (ldl->belows[p].at != row) p++;
    return p;
}

bool ss_block_ldl_create(const ss_block_graph *graph, double most, ss_block_ldl **made, ss_error *err)
{
    size_t n = (size_t)graph->blocks, links = (size_t)graph->start[graph->blocks];
    size_t room = 4 * links + 16, targets = 0;
    *made = NULL;
    ss_block_ldl *ldl = ss_allocate(1, sizeof *ldl);
    int *start = ss_allocate(n + 1, sizeof *start), *list = ss_allocate(2 * links, sizeof *list);
    int *order = ss_allocate(2 * n, sizeof *order), *child = ss_allocate(n, sizeof *child);
    int *sibling = ss_allocate(n, sizeof *sibling), *mark = ss_allocate(n, sizeof *mark);
    int *found = ss_allocate(n, sizeof *found);
    bool good = ldl && start && list && order && child && sibling && mark && found, few = true;
    if (good) {
        ldl->count = graph->blocks;
        ldl->columns = ss_allocate(n, sizeof *ldl->columns);
        ldl->place = ss_allocate(n, sizeof *ldl->place);
        ldl->belows = ss_allocate(room, sizeof *ldl->belows);
        good = ldl->columns && ldl->place && ldl->belows;
    }

    /* Columns in the order of elimination, each with what is below its diagonal. */
    if (good) order_blocks(graph, start, list, order);
    for (int k = 0; good && k < ldl->count; k++) {
        int block = order[ldl->count - 1 - k];
        ldl->columns[k] = (column){.block = block, .first = graph->first[block], .rows = graph->rows[block]};
        ldl->place[block] = k;
        child[k] = sibling[k] = -1;
    }
    size_t numbers = 0, used = 0;
    double operations = 0.0;
    for (int k = 0; good && few && k < ldl->count; k++) {
        column *of = &ldl->columns[k];
        int count = list_below(ldl, start, list, child, sibling, k, mark, found), height = 0;
        if (used + (size_t)count > room) {
            few = false; // more has filled in than what is worth it
            break;
        }
        of->diagonal = (int)numbers;
        numbers += (size_t)(of->rows * of->rows);
        of->begin = (int)used;
        for (int i = 0; i < count; i++) {
            int rows = ldl->columns[found[i]].rows;
            ldl->belows[used++] = (below){.at = found[i], .number = (int)numbers};
            numbers += (size_t)(2 * rows * of->rows);
            height += rows;
        }
        of->end = (int)used;
        if (count > 0) {
            sibling[k] = child[found[0]];
            child[found[0]] = k;
        }
        targets += (size_t)count * (size_t)(count + 1) / 2;
        operations += 0.5 * of->rows * (double)(height + of->rows) * (double)(height + of->rows);
        few = operations <= most;
    }

    /* Where the product of each two blocks of a column goes: numbers of the later one's rows. */
    if (good && few) {
        ldl->targets = ss_allocate(targets, sizeof *ldl->targets);
        ldl->numbers = ss_allocate(numbers, sizeof *ldl->numbers);
        ldl->number_count = numbers;
        ldl->fills = used > links;
        ldl->threes = true;
        for (int k = 0; k < ldl->count; k++) ldl->threes &= ldl->columns[k].rows == 3;
        good = ldl->targets && ldl->numbers;
    }
    int *target = ldl ? ldl->targets : NULL;
    for (int k = 0; good && few && k < ldl->count; k++)
        for (int p = ldl->columns[k].begin; p < ldl->columns[k].end; p++)
            for (int q = ldl->columns[k].begin; q <= p; q++) {
                int i = ldl->belows[p].at, j = ldl->belows[q].at;
                *target++ = i == j ? ldl->columns[i].diagonal : ldl->belows[find_below(ldl, j, i)].number;
            }

    void *work[] = {start, list, order, child, sibling, mark, found};
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) ss_release(work[i]);
    if (good && few) {
        *made = ldl;
        return true;
    }
    ss_block_ldl_destroy(ldl);
    return good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for factors of %d blocks", graph->blocks);
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

double *ss_block_ldl_at(ss_block_ldl *ldl, int i, int j, bool *transposed)
{
    int a = ldl->place[i], b = ldl->place[j];
    *transposed = a < b;
    if (a == b) return ldl->numbers + ldl->columns[a].diagonal;
    return ldl->numbers + ldl->belows[a < b ? find_below(ldl, a, b) : find_below(ldl, b, a)].number;
}

void ss_block_ldl_clear(ss_block_ldl *ldl)
{
    if (ldl->fills) memset(ldl->numbers, 0, ldl->number_count * sizeof *ldl->numbers);
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A diagonal block, in its lower triangle: A = L D L'. D is left inverted. */
ALWAYS_INLINE bool factor_diagonal(int n, double *a)
{
    for (int j = 0; j < n; j++) {
        double pivot = a[n * j + j];
        if (!(pivot > 0.0)) return false;
        double inverse = a[n * j + j] = 1.0 / pivot;
        for (int i = j + 1; i < n; i++) {
            double l = a[n * i + j] * inverse;
            for (int k = j + 1; k <= i; k++) a[n * i + k] -= l * a[n * k + j];
            a[n * j + i] = l; // for now above the diagonal: the rows below need what is still there
        }
        for (int i = j + 1; i < n; i++) a[n * i + j] = a[n * j + i];
    }
    return true;
}

/* m rows below it: Y = A L^-T in place, and B = Y D^-1. */
ALWAYS_INLINE void factor_below(int m, int n, const double *diagonal, double *y, double *b)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = y[n * i + j];
            for (int k = 0; k < j; k++) sum -= y[n * i + k] * diagonal[n * j + k];
            y[n * i + j] = sum;
            b[n * i + j] = sum * diagonal[n * j + j];
        }
}

/* to -= B Y' of two blocks with `n` columns: m rows of the one, l of the other. */
ALWAYS_INLINE void take_off(int m, int l, int n, const double *b, const double *y, double *to)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < l; j++) {
            double sum = b[n * i] * y[n * j];
            for (int k = 1; k < n; k++) sum += b[n * i + k] * y[n * j + k];
            to[l * i + j] -= sum;
        }
}

bool ss_block_ldl_factor(ss_block_ldl *ldl)
{
    const int *target = ldl->targets;
    for (int k = 0; k < ldl->count; k++) {
        const column *of = &ldl->columns[k];
        double *diagonal = ldl->numbers + of->diagonal;
        int n = of->rows;
        if (!(n == 3 ? factor_diagonal(3, diagonal) : factor_diagonal(n, diagonal))) return false;
        for (int p = of->begin; p < of->end; p++) {
            int m = ldl->columns[ldl->belows[p].at].rows;
            double *y = ldl->numbers + ldl->belows[p].number, *b = y + m * n;
            if (m == 3 && n == 3)
                factor_below(3, 3, diagonal, y, b);
            else
                factor_below(m, n, diagonal, y, b);
            for (int q = of->begin; q <= p; q++) {
                int l = ldl->columns[ldl->belows[q].at].rows;
                double *to = ldl->numbers + *target++;
                if (m == 3 && l == 3 && n == 3)
                    take_off(3, 3, 3, b, ldl->numbers + ldl->belows[q].number, to);
                else
                    take_off(m, l, n, b, ldl->numbers + ldl->belows[q].number, to);
            }
        }
    }
    return true;
}

/* L z = x from the first column to the last, then D and L'. The number of rows is known where it is the
 * same for all. */
ALWAYS_INLINE void solve(const ss_block_ldl *ldl, int same, double *x)
{
    for (int k = 0; k < ldl->count; k++) {
        const column *of = &ldl->columns[k];
        const double *diagonal = ldl->numbers + of->diagonal;
        double *z = x + of->first;
        int n = same ? same : of->rows;
        for (int i = 1; i < n; i++)
            for (int j = 0; j < i; j++) z[i] -= diagonal[n * i + j] * z[j];
        for (int p = of->begin; p < of->end; p++) {
            const column *later = &ldl->columns[ldl->belows[p].at];
            int m = same ? same : later->rows;
            const double *b = ldl->numbers + ldl->belows[p].number + m * n;
            double *to = x + later->first;
            for (int i = 0; i < m; i++) {
                double sum = b[n * i] * z[0];
                for (int j = 1; j < n; j++) sum += b[n * i + j] * z[j];
                to[i] -= sum;
            }
        }
    }
    for (int k = ldl->count - 1; k >= 0; k--) {
        const column *of = &ldl->columns[k];
        const double *diagonal = ldl->numbers + of->diagonal;
        int n = same ? same : of->rows;
        double z[SS_BLOCK_MOST];
        for (int i = 0; i < n; i++) z[i] = x[of->first + i] * diagonal[n * i + i];
        for (int p = of->begin; p < of->end; p++) {
            const column *later = &ldl->columns[ldl->belows[p].at];
            int m = same ? same : later->rows;
            const double *b = ldl->numbers + ldl->belows[p].number + m * n, *from = x + later->first;
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) z[j] -= b[n * i + j] * from[i];
        }
        for (int i = n - 1; i > 0; i--)
            for (int j = 0; j < i; j++) z[j] -= diagonal[n * i + j] * z[i];
        for (int i = 0; i < n; i++) x[of->first + i] = z[i];
    }
}

void ss_block_ldl_solve(const ss_block_ldl *ldl, double *x)
{
    if (ldl->threes)
        solve(ldl, 3, x);
    else
        solve(ldl, 0, x);
}
