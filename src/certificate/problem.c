/* The backward certificate of a problem without bodies: w = A x + b in balls, with A and b taken as exact;
 * then as for frames (verify.c). */
#include "certificate/conclusion.h"
#include "certificate/exact.h"

/* w = A x + b */
static void apply(const ss_problem *problem, const ss_midrad *x, ss_midrad *w)
{
    const ss_sparse *A = problem->A;
    for (int i = 0; i < problem->size; i++) w[i] = ss_midrad_of(problem->b[i]);
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            ss_midrad part = ss_midrad_multiply(ss_midrad_of(A->value[k]), x[j]);
            w[A->row[k]] = ss_midrad_add(w[A->row[k]], part);
        }
    }
}

/* Which component the k-th unknown of a cone is: with sizes 4 and 6 the fourth one spins, with 5 and 6 the
 * last two roll. */
static int component_of(const ss_block *block, int k)
{
    bool spins = block->size == 4 || block->size == 6;
    return spins && k == 3 ? SS_SPIN : spins && k > 3 ? k - 1 : k;
}

static ss_block_case case_of(const ss_problem *problem, const ss_block *block, const ss_midrad *x)
{
    ss_block_case to = {.convex = block->law == SS_LAW_CONVEX,
                        .ellipsoid = block->size == 4 || block->size == 6};
    for (int k = 0; k < block->size; k++) {
        int component = component_of(block, k), i = block->first + k;
        to.mu[component] = k == 0                                    ? 0.0
                           : block->size > 4 && k >= block->size - 2 ? block->mu_rolling
                                                                     : block->mu;
        to.inverse_mass[component] = problem->diagonal[i];
        to.x[component] = x[i];
    }
    return to;
}

static void velocity_of(const ss_block *block, const ss_midrad *w, ss_midrad to[SS_COMPONENTS])
{
    for (int k = 0; k < SS_COMPONENTS; k++) to[k] = ss_midrad_of(0.0);
    for (int k = 0; k < block->size; k++) to[component_of(block, k)] = w[block->first + k];
}

/* The bounds of a row: its own, and those that follow its partner. */
static void bounds_of(const ss_problem *problem, const ss_midrad *x, const int *place, int i,
                      ss_midrad *lower, ss_midrad *upper)
{
    *lower = (ss_midrad){problem->lower[i], 0.0, 0.0};
    *upper = (ss_midrad){problem->upper[i], 0.0, 0.0};
    int partner = problem->partner[i];
    if (partner < 0) return;
    ss_midrad load = x[partner], reach = ss_midrad_of(0.0); // in a circle the first one has nothing to follow
    if (place[partner] < place[i])
        reach = ss_midrad_multiply(ss_midrad_of(problem->factor[i]),
                                   load.high < 0.0 ? ss_midrad_negate(load) : load);
    if (reach.high < upper->high) *upper = reach;
    if (-reach.high > lower->high) *lower = ss_midrad_negate(reach);
}

/* Returns by how much x of the row was changed. */
static double settle_row(const ss_problem *problem, ss_midrad *x, const ss_midrad *w, const int *place, int i,
                         int *at)
{
    ss_midrad lower, upper, given = x[i];
    bounds_of(problem, x, place, i, &lower, &upper);
    at[i] = ss_row_settle(&x[i], lower, upper, problem->diagonal[i], w[i].high);
    return ss_adjustment(given, x[i], problem->diagonal[i]);
}

/* at, order and place: one number for each unknown. */
static void certify_backward(const ss_problem *problem, ss_midrad *x, ss_midrad *w, ss_block_case *cases,
                             int *at, int *order, int *place, double tolerance, ss_certificate *to)
{
    double adjusted = 0.0;
    for (int i = 0; i < problem->size; i++)
        if (isfinite(problem->b[i])) to->scale = fmax(to->scale, fabs(problem->b[i]));

    // states from the solution as it is; coupled rows last, each after the one that its bounds follow
    apply(problem, x, w);
    for (int b = 0; b < problem->block_count; b++) {
        const ss_block *block = &problem->blocks[b];
        if (ss_block_is_cone(block)) {
            ss_midrad own[SS_COMPONENTS];
            velocity_of(block, w, own);
            cases[b] = case_of(problem, block, x);
            ss_block_settle(&cases[b], own);
            adjusted = fmax(adjusted, cases[b].adjusted);
            for (int k = 0; k < block->size; k++) x[block->first + k] = cases[b].x[component_of(block, k)];
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++)
            if (problem->partner[i] < 0) adjusted = fmax(adjusted, settle_row(problem, x, w, place, i, at));
    }
    ss_order_by_load(problem->partner, problem->size, order, place);
    for (int n = 0; n < problem->size; n++)
        if (problem->partner[order[n]] >= 0)
            adjusted = fmax(adjusted, settle_row(problem, x, w, place, order[n], at));

    apply(problem, x, w);
    for (int b = 0; b < problem->block_count; b++) {
        const ss_block *block = &problem->blocks[b];
        if (ss_block_is_cone(block)) {
            ss_midrad own[SS_COMPONENTS];
            velocity_of(block, w, own);
            ss_certificate_add(to, block->contact, cases[b].state, ss_block_distance(&cases[b], own));
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++)
            ss_certificate_add_row(to, i, ss_row_distance(w[i], at[i]));
    }
    ss_certificate_conclude(to, adjusted, tolerance);
}

/* With the states of the backward certificate. distance: of the contact velocities w of x as it was given. */
static void certify_exact(const ss_problem *problem, const double *x, const ss_block_case *cases,
                          const int *at, int most, ss_certificate *to)
{
    // rational numbers know neither infinity nor NaN
    bool finite = to->bound < INFINITY && to->spin_bound < INFINITY && to->joint_bound < INFINITY;
    for (int i = 0; i < problem->size; i++) finite &= isfinite(x[i]) != 0;
    if (!finite || !ss_solve_exactly(problem, x, cases, at, most, &to->distance)) return;
    to->level = SS_CERTIFIED_EXACT;
    to->reason[0] = '\0';
}

ss_certificate *ss_certify_problem(ss_problem *problem, const double *x, const ss_certify_options *options,
                                   ss_error *err)
{
    if (!ss_problem_need_matrix(problem, err)) return NULL;
    size_t size = (size_t)problem->size;
    int contacts = 0;
    for (int b = 0; b < problem->block_count; b++)
        if (problem->blocks[b].contact >= contacts) contacts = problem->blocks[b].contact + 1;
    ss_midrad *own = ss_allocate(size, sizeof *own), *w = ss_allocate(size, sizeof *w);
    ss_block_case *cases = ss_allocate((size_t)problem->block_count, sizeof *cases);
    int *at = ss_allocate(3 * size, sizeof *at);
    ss_certificate *to = own && w && cases && at ? ss_certificate_create(contacts, err) : NULL;
    if (to) {
        unsigned laws = ss_problem_laws(problem);
        to->law = laws & SS_LAW_CONVEX ? SS_LAW_CONVEX : laws & SS_LAW_CONE ? SS_LAW_CONE : SS_LAW_BOX;
        for (size_t i = 0; i < size; i++) own[i] = ss_midrad_of(x[i]);
        certify_backward(problem, own, w, cases, at, at + size, at + 2 * size,
                         options ? options->tolerance : 0.0, to);
        if (options && options->exact_unknowns > 0)
            certify_exact(problem, x, cases, at, options->exact_unknowns, to);
    } else if (!own || !w || !cases || !at) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a certificate of %zu unknowns", size);
    }
    ss_release(own);
    ss_release(w);
    ss_release(cases);
    ss_release(at);
    return to;
}
