/* Some rows of a problem alone. */
#include "linalg/sparse_search.h"
#include "problem/laws.h"

#include <stickslip/problem.h>

ss_problem *ss_problem_part(const ss_problem *problem, int count, const int *member)
{
    ss_problem *part = ss_problem_create(count, 1, -1, NULL);
    if (!part) return NULL;
    part->A = ss_sparse_part(problem->A, count, member, NULL);
    if (!part->A) {
        ss_problem_destroy(part);
        return NULL;
    }
    part->blocks[0] = (ss_block){.law = SS_LAW_BOX, .size = count, .contact = -1, .constraint = -1};
    part->symmetric = problem->symmetric;
    for (int k = 0, b = 0; k < count; k++) {
        int i = member[k];
        while (i >= problem->blocks[b].first + problem->blocks[b].size) b++;
        bool is_cone = ss_law_is_cone(problem->blocks[b].law), is_normal = i == problem->blocks[b].first;
        part->lower[k] = !is_cone ? problem->lower[i] : is_normal ? 0.0 : -INFINITY;
        part->upper[k] = is_cone ? INFINITY : problem->upper[i];
        part->diagonal[k] = problem->diagonal[i];
        part->b[k] = problem->b[i];
    }
    return part;
}
