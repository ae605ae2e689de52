/* Nodes are eliminated in AMD's order. Eliminating node j joins its later neighbours and the borders of those
 * groups whose first border node is j: these are its children. A child goes into the group of its parent when
 * the zeros that this adds to the front are few, for BLAS prefers one larger matrix. */
#include "linalg/front_tree.h"

#include <amd.h>
#include <string.h>

/* A group of nodes that become one front, named by its last node's number in the order. */
struct group {
    int first_pivot, last_pivot; // nodes, linked by next_pivot
    int pivot_count, pivots;     // nodes, unknowns
    size_t border;               // in tree->border
    int border_count, border_unknowns;
    int first_child, last_child, next_sibling; // groups
    bool is_child;
};
enum { NONE = -1 };

/* ---- life ------------------------------------------------------------------------------------------- */

bool ss_front_tree_create(const ss_block_rows *pattern, ss_front_tree *tree, ss_error *err)
{
    int nodes = pattern->nodes;
    size_t n = (size_t)nodes;
    *tree = (ss_front_tree){.pattern = pattern};
    tree->order = ss_allocate(n, sizeof *tree->order);
    tree->rank = ss_allocate(n, sizeof *tree->rank);
    tree->fronts = ss_allocate(n, sizeof *tree->fronts);
    tree->group = ss_allocate(n, sizeof *tree->group);
    tree->mark = ss_allocate(n, sizeof *tree->mark);
    tree->next_pivot = ss_allocate(n, sizeof *tree->next_pivot);
    tree->pivot_nodes = ss_allocate(n, sizeof *tree->pivot_nodes);
    tree->visit = ss_allocate(n, sizeof *tree->visit);
    if (!tree->order || !tree->rank || !tree->fronts || !tree->group || !tree->mark || !tree->next_pivot ||
        !tree->pivot_nodes || !tree->visit) {
        ss_front_tree_free(tree);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the fronts of %d nodes", nodes);
    }

    double control[AMD_CONTROL];
    amd_defaults(control);
    if (nodes && amd_order(nodes, pattern->start, pattern->column, tree->order, control, NULL) < AMD_OK) {
        ss_front_tree_free(tree);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for ordering unknowns");
    }
    for (int k = 0; k < nodes; k++) tree->rank[tree->order[k]] = k;
    return true;
}

void ss_front_tree_free(ss_front_tree *tree)
{
    ss_release(tree->order);
    ss_release(tree->rank);
    ss_release(tree->fronts);
    ss_release(tree->group);
    ss_release(tree->mark);
    ss_release(tree->next_pivot);
    ss_release(tree->pivot_nodes);
    ss_release(tree->visit);
    ss_release(tree->border);
    ss_arena_destroy(tree->arena);
    *tree = (ss_front_tree){0};
}

/* ---- groups ----------------------------------------------------------------------------------------- */

static void add_border_node(ss_front_tree *tree, struct group *group, int number, int node)
{
    if (tree->mark[node] == number) return;
    tree->mark[node] = number;
    tree->border[tree->border_count++] = node;
    group->border_count++;
    group->border_unknowns += ss_block_rows_size(tree->pattern, node);
}

/* The border of the node with this number: what it meets among later nodes, itself and
 * through its children. */
static bool collect_border(ss_front_tree *tree, int number, const bool *active)
{
    const ss_block_rows *pattern = tree->pattern;
    struct group *group = &tree->group[number];
    int node = tree->order[number];

    /* Room for all of them, if none occurred twice. */
    size_t needed = tree->border_count + (size_t)(pattern->start[node + 1] - pattern->start[node]);
    for (int c = group->first_child; c != NONE; c = tree->group[c].next_sibling)
        needed += (size_t)tree->group[c].border_count;
    if (needed > tree->border_capacity) {
        int *larger = ss_allocate(2 * needed, sizeof *larger);
        if (!larger) return false;
        if (tree->border_count) memcpy(larger, tree->border, tree->border_count * sizeof *larger);
        ss_release(tree->border);
        tree->border = larger;
        tree->border_capacity = 2 * needed;
    }

    group->border = tree->border_count;
    tree->mark[node] = number;
    for (int k = pattern->start[node]; k < pattern->start[node + 1]; k++) {
        int other = pattern->column[k];
        if (tree->rank[other] > number && (!active || active[other]))
            add_border_node(tree, group, number, other);
    }
    for (int c = group->first_child; c != NONE; c = tree->group[c].next_sibling) {
        const struct group *child = &tree->group[c];
        for (int k = 0; k < child->border_count; k++)
            add_border_node(tree, group, number, tree->border[child->border + (size_t)k]);
    }
    return true;
}

static void append_child(ss_front_tree *tree, struct group *group, int child)
{
    tree->group[child].next_sibling = NONE;
    tree->group[child].is_child = true;
    if (group->first_child == NONE)
        group->first_child = child;
    else
        tree->group[group->last_child].next_sibling = child;
    group->last_child = child;
}

/* Small fronts cost calls, not arithmetic; larger ones may grow by an eighth. */
static bool worth_joining(const struct group *parent, const struct group *child)
{
    enum { SMALL = 32 };
    int joined = parent->pivots + parent->border_unknowns + child->pivots;
    int own = child->pivots + child->border_unknowns;
    return joined <= SMALL || joined - own <= own / 8;
}

static void join(ss_front_tree *tree, struct group *parent, const struct group *child)
{
    tree->next_pivot[child->last_pivot] = parent->first_pivot;
    parent->first_pivot = child->first_pivot;
    parent->pivot_count += child->pivot_count;
    parent->pivots += child->pivots;
    for (int c = child->first_child, next; c != NONE; c = next) {
        next = tree->group[c].next_sibling;
        append_child(tree, parent, c);
    }
}

/* The child with the largest front first: mostly it differs from its parent by its own pivots only. */
static void join_children(ss_front_tree *tree, struct group *group)
{
    int largest = NONE, rows = 0;
    for (int c = group->first_child; c != NONE; c = tree->group[c].next_sibling) {
        int own = tree->group[c].pivots + tree->group[c].border_unknowns;
        if (own > rows) largest = c, rows = own;
    }
    int first = group->first_child;
    group->first_child = group->last_child = NONE;
    bool joined = largest != NONE && worth_joining(group, &tree->group[largest]);
    if (joined) join(tree, group, &tree->group[largest]);
    for (int c = first, next; c != NONE; c = next) {
        next = tree->group[c].next_sibling;
        if (c == largest && joined) continue;
        if (worth_joining(group, &tree->group[c]))
            join(tree, group, &tree->group[c]);
        else
            append_child(tree, group, c);
    }
}

static bool make_groups(ss_front_tree *tree, const bool *active)
{
    int n = tree->pattern->nodes;
    tree->border_count = 0;
    for (int number = 0; number < n; number++) {
        int node = tree->order[number];
        tree->mark[number] = NONE;
        tree->next_pivot[node] = NONE;
        tree->group[number] = (struct group){.first_pivot = node,
                                             .last_pivot = node,
                                             .pivot_count = 1,
                                             .pivots = ss_block_rows_size(tree->pattern, node),
                                             .first_child = NONE,
                                             .last_child = NONE,
                                             .next_sibling = NONE};
    }

    /* In the order of elimination. The parent is the first of the border to be eliminated. */
    for (int number = 0; number < n; number++) {
        if (active && !active[tree->order[number]]) continue;
        struct group *group = &tree->group[number];
        if (!collect_border(tree, number, active)) return false;
        int parent = NONE;
        for (int k = 0; k < group->border_count; k++) {
            int rank = tree->rank[tree->border[group->border + (size_t)k]];
            if (parent == NONE || rank < parent) parent = rank;
        }
        join_children(tree, group);
        if (parent != NONE) append_child(tree, &tree->group[parent], number);
    }
    return true;
}

/* ---- fronts ----------------------------------------------------------------------------------------- */

/* The groups of all trees become fronts, children before parents, without recursion: mark[] holds the
 * child of a group to go down to next. */
static void emit_all(ss_front_tree *tree, const bool *active)
{
    int n = tree->pattern->nodes, pivot_place = 0;
    tree->front_count = 0;
    for (int number = 0; number < n; number++) tree->mark[number] = tree->group[number].first_child;
    for (int root = 0; root < n; root++) {
        bool is_root = !tree->group[root].is_child && tree->group[root].border_count == 0;
        if (!is_root || (active && !active[tree->order[root]])) continue;

        int depth = 0;
        tree->visit[depth++] = root;
        while (depth) {
            int number = tree->visit[depth - 1], child = tree->mark[number];
            if (child != NONE) {
                tree->mark[number] = tree->group[child].next_sibling;
                tree->visit[depth++] = child;
                continue;
            }

            const struct group *group = &tree->group[number];
            ss_front *front = &tree->fronts[tree->front_count++];
            *front = (ss_front){.pivot_nodes = tree->pivot_nodes + pivot_place,
                                .border_nodes = tree->border + group->border,
                                .pivot_count = group->pivot_count,
                                .border_count = group->border_count,
                                .pivots = group->pivots,
                                .rows = group->pivots + group->border_unknowns};
            for (int node = group->first_pivot, k = 0; k < group->pivot_count;
                 node = tree->next_pivot[node], k++)
                tree->pivot_nodes[pivot_place++] = node;
            for (int c = group->first_child; c != NONE; c = tree->group[c].next_sibling) front->children++;
            depth--;
        }
    }
}

static size_t left_over(const ss_front *front)
{
    size_t rest = (size_t)(front->rows - front->pivots);
    return rest * rest;
}

/* Places of the factors, and the height of the stack on which contributions wait for their parents. */
static void place_fronts(ss_front_tree *tree)
{
    int exchange = 0, waiting = 0, *stack = tree->visit;
    size_t top = 0;
    tree->factor_size = tree->stack_size = 0;
    tree->largest_rows = 0;
    for (int k = 0; k < tree->front_count; k++) {
        ss_front *front = &tree->fronts[k];
        size_t rows = (size_t)front->rows, pivots = (size_t)front->pivots, rest = rows - pivots;
        front->left = tree->factor_size;
        front->right = front->left + rows * pivots;
        tree->factor_size = front->right + pivots * rest;
        front->exchange = exchange;
        exchange += front->pivots;
        if (front->rows > tree->largest_rows) tree->largest_rows = front->rows;
        if (top + rows * rest > tree->stack_size) tree->stack_size = top + rows * rest;
        for (int c = 0; c < front->children; c++) top -= left_over(&tree->fronts[stack[--waiting]]);
        stack[waiting++] = k;
        top += left_over(front);
    }
}

/* ---- tasks ------------------------------------------------------------------------------------------ */

/* Subtrees of a share of the work or less are tasks, and so is each front above them. What the tasks are
 * depends on the tree alone, for they are summed one by one in solves. */
static bool make_tasks(ss_front_tree *tree)
{
    enum { SHARES = 16, LEAST = 100000 }; // numbers in factors, of which a solve takes 0.1 ms
    int count = tree->front_count, *stack = tree->visit;
    size_t n = (size_t)count;
    tree->task_count = 1;
    tree->task_stack_size = tree->task_border_size = 0;
    if (tree->factor_size < LEAST) return true;
    if (!tree->arena) tree->arena = ss_arena_create(0, NULL);
    if (!tree->arena) return false;
    ss_arena_clear(tree->arena);
    static const double call = 1000.0; // multiplications: what a front costs beside its own
    double *work = ss_arena_take(tree->arena, n, sizeof *work, "work of fronts");
    int *first = ss_arena_take(tree->arena, n, sizeof *first, "subtrees");
    int *parent = ss_arena_take(tree->arena, n, sizeof *parent, "subtrees");
    int *task_of = ss_arena_take(tree->arena, n, sizeof *task_of, "tasks of fronts");
    int(*edge)[2] = ss_arena_take(tree->arena, n, sizeof *edge, "order of tasks");
    tree->tasks = ss_arena_take(tree->arena, n, sizeof *tree->tasks, "tasks of fronts");
    if (!work || !first || !parent || !task_of || !edge || !tree->tasks) return false;

    // Work and first front of every subtree.
    double all = 0.0;
    for (int f = 0, waiting = 0; f < count; f++) {
        const ss_front *front = &tree->fronts[f];
        work[f] = ss_front_work(front) + call;
        all += work[f];
        first[f] = f;
        parent[f] = NONE;
        for (int c = 0; c < front->children; c++) {
            int child = stack[--waiting];
            work[f] += work[child];
            first[f] = first[child];
            parent[child] = f;
        }
        stack[waiting++] = f;
    }

    // Tasks in the order of their last fronts, children before parents.
    int tasks = 0, edges = 0;
    for (int f = 0; f < count; f++) {
        bool above = work[f] > all / SHARES;
        if (!above && parent[f] != NONE && work[parent[f]] <= all / SHARES) continue;
        task_of[f] = tasks;
        tree->tasks[tasks++] = (ss_front_task){.begin = above ? f : first[f], .end = f + 1};
    }
    for (int t = 0; t < tasks; t++) {
        int up = parent[tree->tasks[t].end - 1];
        if (up != NONE) edge[edges][0] = t, edge[edges++][1] = task_of[up];
    }

    // Their stacks and borders.
    tree->task_count = tasks;
    for (int t = 0; t < tasks; t++) {
        ss_front_task *task = &tree->tasks[t];
        size_t top = 0, highest = 0;
        int waiting = 0;
        for (int f = task->begin; f < task->end; f++) {
            const ss_front *front = &tree->fronts[f];
            size_t rows = (size_t)front->rows, rest = rows - (size_t)front->pivots;
            if (top + rows * rest > highest) highest = top + rows * rest;
            for (int c = 0; c < front->children && waiting; c++)
                top -= left_over(&tree->fronts[stack[--waiting]]);
            stack[waiting++] = f;
            top += left_over(front);
        }
        const ss_front *last = &tree->fronts[task->end - 1];
        task->stack = tree->task_stack_size;
        task->border = tree->task_border_size;
        tree->task_stack_size += highest;
        tree->task_border_size += (size_t)(last->rows - last->pivots);
    }
    return ss_task_graph_create(tasks, edges, (const int(*)[2])edge, NULL, tree->arena, &tree->graph);
}

bool ss_front_tree_analyse(ss_front_tree *tree, const bool *active)
{
    if (!make_groups(tree, active)) return false;
    emit_all(tree, active);
    place_fronts(tree);
    return make_tasks(tree);
}
