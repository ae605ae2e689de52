#include <stickslip/problem.h>

#include <math.h>
#include <string.h>

#include "linalg/sparse_search.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"
#include "problem/store.h"

/* ---- life ------------------------------------------------------------------------------------------- */

void ss_bodies_form_forget_further(ss_bodies_form *form)
{
    ss_release(form->further_start);
    ss_release(form->further_body);
    ss_release(form->further_jacobian);
    form->further_start = form->further_body = NULL;
    form->further_jacobian = NULL;
}

void ss_bodies_form_destroy(ss_bodies_form *form)
{
    if (!form) return;
    ss_release(form->inverse_mass);
    ss_release(form->inverse_inertia);
    ss_release(form->free_velocity);
    ss_release(form->pair);
    ss_release(form->jacobian);
    ss_release(form->compliance);
    ss_release(form->offset);
    ss_bodies_form_forget_further(form);
    ss_release(form);
}

bool ss_bodies_form_add_further(ss_bodies_form *form, int size, int blocks)
{
    ss_bodies_form_forget_further(form);
    form->further_start = ss_allocate((size_t)size + 1, sizeof *form->further_start);
    form->further_body = ss_allocate((size_t)blocks, sizeof *form->further_body);
    form->further_jacobian = ss_allocate((size_t)blocks, sizeof *form->further_jacobian);
    return form->further_start && form->further_body && form->further_jacobian;
}

static ss_bodies_form *create_bodies(int size, int bodies)
{
    size_t n = (size_t)size, nb = (size_t)bodies;
    ss_bodies_form *form = ss_allocate(1, sizeof *form);
    if (!form) return NULL;
    form->bodies = bodies;
    form->inverse_mass = ss_allocate(nb, sizeof *form->inverse_mass);
    form->inverse_inertia = ss_allocate(nb, sizeof *form->inverse_inertia);
    form->free_velocity = ss_allocate(nb, sizeof *form->free_velocity);
    form->pair = ss_allocate(n, sizeof *form->pair);
    form->jacobian = ss_allocate(n, sizeof *form->jacobian);
    form->compliance = ss_allocate(n, sizeof *form->compliance);
    form->offset = ss_allocate(n, sizeof *form->offset);
    if (form->inverse_mass && form->inverse_inertia && form->free_velocity && form->pair && form->jacobian &&
        form->compliance && form->offset) {
        return form;
    }
    ss_bodies_form_destroy(form);
    return NULL;
}

static void start_rows(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_problem *problem = context;
    for (int64_t i = begin; i < end; i++) {
        problem->lower[i] = -INFINITY;
        problem->upper[i] = INFINITY;
        problem->partner[i] = -1;
        if (problem->bodies) problem->bodies->pair[i][0] = problem->bodies->pair[i][1] = -1;
    }
}

static void start_blocks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_problem *problem = context;
    for (int64_t k = begin; k < end; k++)
        problem->blocks[k] = (ss_block){.law = SS_LAW_FREE, .contact = -1, .constraint = -1};
}

/* No laws, no bounds, no bodies. */
static void start(ss_problem *problem, int size, int blocks, ss_team *team)
{
    enum { ROWS_AT_ONCE = 3072, BLOCKS_AT_ONCE = 1024 };
    problem->size = size;
    problem->block_count = blocks;
    ss_parallel_for(team, size, ROWS_AT_ONCE, start_rows, problem);
    ss_parallel_for(team, blocks, BLOCKS_AT_ONCE, start_blocks, problem);
}

ss_problem *ss_problem_create(int size, int blocks, int bodies, ss_error *err)
{
    size_t n = (size_t)size;
    ss_problem *problem = ss_allocate(1, sizeof *problem);
    bool good = problem != NULL;
    if (good) {
        problem->b = ss_allocate(n, sizeof *problem->b);
        problem->lower = ss_allocate(n, sizeof *problem->lower);
        problem->upper = ss_allocate(n, sizeof *problem->upper);
        problem->partner = ss_allocate(n, sizeof *problem->partner);
        problem->factor = ss_allocate(n, sizeof *problem->factor);
        problem->diagonal = ss_allocate(n, sizeof *problem->diagonal);
        problem->blocks = ss_allocate((size_t)blocks, sizeof *problem->blocks);
        good = problem->b && problem->lower && problem->upper && problem->partner && problem->factor &&
               problem->diagonal && problem->blocks;
    }
    if (good && bodies >= 0) good = (problem->bodies = create_bodies(size, bodies)) != NULL;
    if (!good) {
        ss_problem_destroy(problem);
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a problem of %d unknowns", size);
        return NULL;
    }
    start(problem, size, blocks, NULL);
    return problem;
}

void ss_problem_destroy(ss_problem *problem)
{
    if (!problem) return;
    ss_release(problem->b);
    ss_release(problem->lower);
    ss_release(problem->upper);
    ss_release(problem->partner);
    ss_release(problem->factor);
    ss_release(problem->diagonal);
    ss_release(problem->blocks);
    ss_sparse_destroy(problem->A);
    ss_bodies_form_destroy(problem->bodies);
    ss_release(problem);
}

/* ---- memory used again ------------------------------------------------------------------------------- */

ss_problem *ss_problem_store_take(ss_problem_store *store, int size, int blocks, int bodies, ss_team *team,
                                  ss_error *err)
{
    ss_problem *problem = store->problem;
    if (!problem || size > store->size || blocks > store->blocks || bodies > store->bodies) {
        bool grows = problem != NULL; // who grows once grows again; many problems are the only one
        ss_problem_store_free(store);
        *store = (ss_problem_store){.size = grows ? size + size / 4 : size,
                                    .blocks = grows ? blocks + blocks / 4 : blocks,
                                    .bodies = bodies};
        problem = store->problem = ss_problem_create(store->size, store->blocks, bodies, err);
        if (!problem) return NULL;
        problem->size = size; // the rest is room
        problem->block_count = blocks;
        return problem;
    }
    ss_sparse_destroy(problem->A);
    problem->A = NULL;
    problem->bodies->bodies = bodies;
    ss_bodies_form_forget_further(problem->bodies);
    start(problem, size, blocks, team);
    return problem;
}

void ss_problem_store_free(ss_problem_store *store)
{
    ss_problem_destroy(store->problem);
    *store = (ss_problem_store){0};
}

/* ---- looking at it ---------------------------------------------------------------------------------- */

const char *ss_law_name(ss_law law)
{
    switch (law) {
    case SS_LAW_FREE:
        return "free";
    case SS_LAW_BOX:
        return "box";
    case SS_LAW_COUPLED:
        return "coupled";
    case SS_LAW_CONE:
        return "cone";
    case SS_LAW_CONVEX:
        return "convex";
    }
    return NULL;
}

unsigned ss_problem_laws(const ss_problem *problem)
{
    unsigned laws = 0;
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->blocks[k].size > 0) laws |= (unsigned)problem->blocks[k].law;
    }
    return laws;
}

int ss_problem_contacts(const ss_problem *problem)
{
    int count = 0, last = -1;
    for (int k = 0; k < problem->block_count; k++) {
        int contact = problem->blocks[k].contact;
        count += contact >= 0 && contact != last;
        if (contact >= 0) last = contact;
    }
    return count;
}

bool ss_block_is_cone(const ss_block *block)
{
    return ss_law_is_cone(block->law);
}

void ss_problem_bounds(const ss_problem *problem, const double *x, int i, double *lower, double *upper)
{
    ss_row_bounds(problem, x, i, lower, upper);
}

void ss_block_project(const ss_problem *problem, const ss_block *block, double *x)
{
    if (ss_law_is_cone(block->law)) {
        ss_friction_cone_project(ss_block_cone(block), x + block->first);
        return;
    }
    for (int i = block->first; i < block->first + block->size; i++) {
        double lower, upper;
        ss_row_bounds(problem, x, i, &lower, &upper);
        x[i] = fmin(fmax(x[i], lower), upper);
    }
}

void ss_block_matrix(const ss_problem *problem, const ss_block *block, double *own)
{
    const ss_sparse *A = problem->A;
    int first = block->first, size = block->size;
    memset(own, 0, (size_t)size * (size_t)size * sizeof *own);
    for (int j = 0; j < size; j++) {
        int end = A->start[first + j + 1];
        for (int e = ss_sparse_first_entry(A, first + j, first); e < end && A->row[e] < first + size; e++)
            own[size * (A->row[e] - first) + j] = A->value[e];
    }
}

typedef struct projection {
    const ss_problem *problem;
    double *x;
    _Atomic bool any_coupled;
} projection;

static void project_blocks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    projection *of = context;
    bool any_coupled = false;
    for (int64_t k = begin; k < end; k++) {
        const ss_block *block = &of->problem->blocks[k];
        bool coupled = block->law == SS_LAW_COUPLED;
        any_coupled |= coupled;
        if (!coupled) ss_block_project(of->problem, block, of->x);
    }
    if (any_coupled) of->any_coupled = true;
}

void ss_problem_project_by(const ss_problem *problem, ss_team *team, double *x)
{
    enum { BLOCKS_AT_ONCE = 256 };
    projection of = {.problem = problem, .x = x};
    ss_parallel_for(team, problem->block_count, BLOCKS_AT_ONCE, project_blocks, &of);
    for (int k = 0; of.any_coupled && k < problem->block_count; k++) { // its bounds follow projected values
        const ss_block *block = &problem->blocks[k];
        if (block->law == SS_LAW_COUPLED) ss_block_project(problem, block, x);
    }
}

void ss_problem_project(const ss_problem *problem, double *x)
{
    ss_problem_project_by(problem, NULL, x);
}

/* ---- w = A x + b ------------------------------------------------------------------------------------ */

/* Two numbers at a time. */
static inline void add_impulse(const double block[6], double impulse, double momentum[6])
{
    typedef double two __attribute__((vector_size(16)));
    two sum[3], row[3];
    memcpy(sum, momentum, sizeof sum);
    memcpy(row, block, sizeof row);
    for (int k = 0; k < 3; k++) sum[k] += impulse * row[k];
    memcpy(momentum, sum, sizeof sum);
}

int ss_problem_scratch(const ss_problem *problem)
{
    return problem->A ? 0 : 6 * problem->bodies->bodies;
}

/* Through the bodies: momenta J' x, velocities M^-1 J' x, then J v. The mass is used once per body, not per
 * row. */
typedef struct product {
    const ss_problem *problem;
    const double *x;
    double (*v)[6];
    double *w;
} product;

/* Velocities of some bodies: each thread goes through all rows, so that the sums of a body are
 * in one order. */
static void push_bodies(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const product *of = context;
    const ss_bodies_form *form = of->problem->bodies;
    int first = (int)begin;
    unsigned count = (unsigned)(end - begin);
    memset(of->v + begin, 0, count * sizeof *of->v);
    for (int i = 0; i < of->problem->size; i++) {
        int a = form->pair[i][0], b = form->pair[i][1];
        if ((unsigned)(a - first) < count) add_impulse(form->jacobian[i], of->x[i], of->v[a]);
        if ((unsigned)(b - first) < count) add_impulse(form->jacobian[i] + 6, of->x[i], of->v[b]);
        for (int k = 0; k < ss_bodies_further(form, i, i + 1); k++) {
            int at = form->further_start[i] + k, body = form->further_body[at];
            if ((unsigned)(body - first) < count)
                add_impulse(form->further_jacobian[at], of->x[i], of->v[body]);
        }
    }
    for (int64_t body = begin; body < end; body++) {
        double momentum[6];
        memcpy(momentum, of->v[body], sizeof momentum);
        ss_bodies_push_one(form, (int)body, momentum, of->v[body]);
    }
}

static void pull_rows(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const product *of = context;
    const ss_problem *problem = of->problem;
    const ss_bodies_form *form = problem->bodies;
    for (int i = (int)begin; i < end; i++) {
        int a = form->pair[i][0], b = form->pair[i][1];
        double sum = problem->b[i] + form->compliance[i] * of->x[i];
        if (a >= 0) sum += ss_bodies_product(form->jacobian[i], of->v[a]);
        if (b >= 0) sum += ss_bodies_product(form->jacobian[i] + 6, of->v[b]);
        for (int k = 0; k < ss_bodies_further(form, i, i + 1); k++) {
            int at = form->further_start[i] + k;
            sum += ss_bodies_product(form->further_jacobian[at], of->v[form->further_body[at]]);
        }
        of->w[i] = sum;
    }
}

void ss_problem_apply_by(const ss_problem *problem, ss_team *team, const double *x, double *scratch,
                         double *w)
{
    enum { ROWS_AT_ONCE = 768 };
    if (problem->A) {
        memcpy(w, problem->b, (size_t)problem->size * sizeof *w);
        ss_sparse_apply(problem->A, x, 1.0, w);
        return;
    }
    int bodies = problem->bodies->bodies, shares = ss_team_size(team);
    product of = {.problem = problem, .x = x, .v = (double(*)[6])scratch, .w = w};
    ss_parallel_for(team, bodies, bodies / shares + 1, push_bodies, &of);
    ss_parallel_for(team, problem->size, ROWS_AT_ONCE, pull_rows, &of);
}

void ss_problem_apply(const ss_problem *problem, const double *x, double *scratch, double *w)
{
    ss_problem_apply_by(problem, NULL, x, scratch, w);
}

void ss_problem_matrix_changed(ss_problem *problem)
{
    // Files carry rounding in the last digits; a matrix is taken as symmetric when only that is in it.
    static const double rounding = 1e-12;
    for (int i = 0; i < problem->size; i++) problem->diagonal[i] = ss_sparse_get(problem->A, i, i);
    problem->symmetric = ss_sparse_symmetry_error(problem->A) <= rounding;
}
