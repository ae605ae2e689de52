/* linalg/front_tree.h - which nodes are eliminated together, and in what order: the symbolic
 * half of front_lu. */
#ifndef SS_LINALG_FRONT_TREE_H
#define SS_LINALG_FRONT_TREE_H

#include "base/task_graph.h"
#include "linalg/block_rows.h"

/* A dense matrix of `rows` unknowns: those of its pivot nodes, then those of its border, which is left over
 * as the contribution to the parent. */
typedef struct ss_front {
    const int *pivot_nodes, *border_nodes;
    int pivot_count, border_count;
    int pivots, rows; /* unknowns */
    int children;     /* they come right before it, each after its own */
    size_t left;      /* where its factors are: rows x pivots */
    size_t right;     /* pivots x (rows - pivots) */
    int exchange;     /* where its row exchanges are */
} ss_front;

/* Fronts begin .. end - 1 of a large tree: a whole subtree, or one front above of those. A task waits for
 * those of the children of its front. */
typedef struct ss_front_task {
    int begin, end;
    size_t stack;  /* where its contributions begin, that of its last front at last */
    size_t border; /* where the border of its last front begins among those of all tasks, unknowns */
} ss_front_task;

/* Multiplications in its elimination, nearly; half of them where it is symmetric. */
static inline double ss_front_work(const ss_front *front)
{
    double rows = front->rows, pivots = front->pivots;
    return pivots * (rows * rows - rows * pivots + pivots * pivots / 3.0);
}

typedef struct ss_front_tree {
    const ss_block_rows *pattern;
    int *order, *rank; /* nodes in order of elimination, and back */
    ss_front *fronts;  /* of the active nodes, children before parents */
    int front_count;
    size_t factor_size; /* numbers in all factors */
    size_t stack_size;  /* numbers waiting for their parents, at most */
    int largest_rows;   /* of a front */
    ss_front_task *tasks;
    int task_count;          /* one in small trees, of all fronts, and then there is no more about tasks */
    size_t task_stack_size;  /* numbers waiting for their parents, each task with a stack of its own */
    size_t task_border_size; /* unknowns in the borders of all tasks */
    ss_task_graph graph;
    ss_arena *arena;     /* of tasks */
    struct group *group; /* work, per node */
    int *mark, *next_pivot, *pivot_nodes, *visit;
    int *border;
    size_t border_count, border_capacity;
} ss_front_tree;

bool ss_front_tree_create(const ss_block_rows *pattern, ss_front_tree *tree, ss_error *err);
void ss_front_tree_free(ss_front_tree *tree);
/* False when out of memory. active = NULL: all nodes. */
bool ss_front_tree_analyse(ss_front_tree *tree, const bool *active);

#endif
