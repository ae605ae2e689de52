/* `stickslip solve`: why there is no solution, in words. */
#include "cli/solve.h"

/* The share of one block in the energy of the ray. */
static double share_of(const ss_problem *problem, const double *y, int k)
{
    const ss_block *block = &problem->blocks[k];
    double sum = 0.0;
    for (int i = block->first; i < block->first + block->size; i++)
        sum += 0.5 * problem->diagonal[i] * y[i] * y[i];
    return sum;
}

static void name_block(const ss_block *block, ss_text *text)
{
    if (block->contact >= 0)
        ss_text_appendf(text, "contact %d", block->contact);
    else if (block->constraint >= 0)
        ss_text_appendf(text, "joint %d", block->constraint);
    else
        ss_text_appendf(text, "unknown %d", block->first);
}

/* The block with the largest share after that of `after`, which is -1 at first; -1 when only small
 * ones are left. */
static int next_worst(const ss_problem *problem, const double *y, int after)
{
    static const double small = 0.01;
    double limit = after >= 0 ? share_of(problem, y, after) : 2.0, most = small;
    int next = -1;
    for (int k = 0; k < problem->block_count; k++) {
        double share = share_of(problem, y, k);
        bool is_left = share < limit || (share == limit && k > after);
        if (is_left && share > most) most = share, next = k;
    }
    return next;
}

static void name_worst(const ss_problem *problem, const double *y, ss_text *text)
{
    enum { NAMED = 4 };
    int k = next_worst(problem, y, -1);
    for (int named = 0; k >= 0 && named < NAMED; named++, k = next_worst(problem, y, k)) {
        if (named) ss_text_append(text, ", ");
        name_block(&problem->blocks[k], text);
    }
    if (k >= 0) ss_text_append(text, " ...");
}

void ss_solved_explain(const ss_solved *solved, ss_text *text)
{
    const ss_ray *ray = &solved->result->run.ray;
    if (!ray->impulse) {
        ss_text_append(text, "the path ended on an unbounded edge: no solution was found");
        return;
    }
    ss_text_append(text, ray->is_proof ? "no velocity satisfies all of " : "wedged: ");
    name_worst(solved->result->problem, ray->impulse, text);
    ss_text_append(text, ray->is_proof
                             ? "; impulses can grow there without moving anything"
                             : "; impulses can grow there without moving anything, and no solution was "
                               "found");
}
