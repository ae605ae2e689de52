/* base/task_graph.h - tasks that wait for others, shared by a team without a common pause in between.
 *
 *     ss_task_graph_create(count, edges, edge, arena, &graph)      once
 *     ss_parallel_tasks(team, &graph, false, body, context);       again and again
 *
 * A task runs when all before it along the edges are done. Tasks without an edge between them must not touch
 * the same data unless a path of edges orders them: then the results are those of one thread that does the
 * tasks by their numbers, for any number of threads.
 */
#ifndef SS_BASE_TASK_GRAPH_H
#define SS_BASE_TASK_GRAPH_H

#include <stickslip/base.h>

#include <stdatomic.h>

/* The last runs in which a task was begun and done, by their numbers, in a cache line of its own. */
typedef struct ss_task_state {
    _Alignas(64) _Atomic unsigned begun, done;
} ss_task_state;

typedef struct ss_task_graph {
    int count;
    /* [0]: tasks that wait for a task, [1]: those it waits for; those of task t from start[t] on */
    int *start[2], *other[2];
    float *place;  /* of every task, 0 to 1: a thread prefers those near its own */
    unsigned runs; /* so far */
    ss_task_state *state;
} ss_task_graph;

/* Every edge from a task to one of a higher number. Threads have equal shares of the places from 0 to 1 and
 * begin with tasks in their own, whose data they had the last time, too; NULL: in the order of their numbers.
 * False when out of memory. */
bool ss_task_graph_create(int count, int edges, const int (*edge)[2], const float *place, ss_arena *arena,
                          ss_task_graph *graph);

typedef void ss_task_body(int task, int worker, void *context);
/* All tasks, or all of them in the opposite order with every edge turned round. As with ss_parallel_for, a
 * body must not use the same team again. */
void ss_parallel_tasks(ss_team *team, ss_task_graph *graph, bool backward, ss_task_body *body, void *context);

#endif
