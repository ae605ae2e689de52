/* Packings of bodies made at random, solved by sweeps in batches or otherwise. */
#ifndef STICKSLIP_TEST_BATCHED_KIT_H
#define STICKSLIP_TEST_BATCHED_KIT_H

#include "kit.h"
#include "known_cone.h"
#include "rules.h"

#include <stickslip/solver.h>

#include "problem/bodies_form.h"

/* ---- running ---------------------------------------------------------------------------------------- */

typedef struct way {
    const char *solver, *settings, *stop;
    int iterations;
    ss_team *team;
    bool history;
} way;

/* From x. The history is left in the result for the caller to free. */
static inline ss_solve_result run(way by, ss_problem *problem, double *x)
{
    const ss_solver *solver = ss_solver_find(by.solver);
    ss_error err = {0};
    ss_solve_result result = {.status = SS_FAILED};
    double options[16]; // any option struct of these solvers, well aligned
    char copy[100];
    ss_options_defaults(solver->options, options);
    snprintf(copy, sizeof copy, "%s", by.settings ? by.settings : "");
    for (char *one = strtok(copy, " "); one; one = strtok(NULL, " ")) {
        if (!ss_options_assign(solver->options, options, one, &err)) KIT_FAIL("%s", err.message);
    }
    ss_run_options set = {.max_iterations = by.iterations ? by.iterations : 100000,
                          .stop = stop_rule(by.stop ? by.stop : "relative_energy<1e-12"),
                          .history = by.history};
    if (!ss_solve(&(ss_solve_request){.solver = solver,
                                      .solver_options = options,
                                      .problem = problem,
                                      .run = &set,
                                      .team = by.team},
                  x, &result, &err))
        KIT_FAIL("%s", err.message);
    return result;
}

static inline double *solved(way by, ss_problem *problem)
{
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    ss_solve_result result = run(by, problem, x);
    if (result.status != SS_CONVERGED && !by.iterations)
        KIT_FAIL("%s %s: %s, relative energy %g after %d", by.solver, by.settings ? by.settings : "",
                 ss_status_name(result.status), result.gauge[SS_GAUGE_RELATIVE_ENERGY], result.iterations);
    ss_solve_result_free(&result);
    return x;
}

/* The largest difference in w, relative to the largest b. */
static inline double difference(const ss_problem *problem, const double *x, const double *other)
{
    size_t n = (size_t)problem->size;
    double *w = ss_allocate(n, sizeof *w),
           *scratch = ss_allocate((size_t)ss_problem_scratch(problem), sizeof *w);
    double *w2 = ss_allocate(n, sizeof *w2), worst = 0.0, scale = 0.0;
    ss_problem_apply(problem, x, scratch, w);
    ss_problem_apply(problem, other, scratch, w2);
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(w[i] - w2[i]));
        scale = fmax(scale, fabs(problem->b[i]));
    }
    ss_release(w);
    ss_release(w2);
    ss_release(scratch);
    return worst / scale;
}

static inline bool agrees_with_nsgs(ss_problem *problem, const char *settings)
{
    double *x = solved((way){.solver = "batched-nncg", .settings = settings}, problem);
    double *reference = solved((way){.solver = "nsgs", .settings = "sweep=forward"}, problem);
    double off = difference(problem, x, reference);
    if (!(off <= 1e-8)) fprintf(stderr, "w is off by %g of the load\n", off);
    ss_release(x);
    ss_release(reference);
    return off <= 1e-8;
}

static inline bool same_bits(ss_problem *problem, way one, way other)
{
    double *x = solved(one, problem), *y = solved(other, problem);
    bool same = memcmp(x, y, (size_t)problem->size * sizeof *x) == 0;
    ss_release(x);
    ss_release(y);
    return same;
}

static inline int count_sliding(const ss_problem *problem, const double *x)
{
    int count = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const double *r = x + problem->blocks[k].first;
        count += r[0] > 0.0 && hypot(r[1], r[2]) > 0.999 * problem->blocks[k].mu * r[0];
    }
    return count;
}

/* ---- problems --------------------------------------------------------------------------------------- */

typedef struct packing {
    uint64_t seed;
    int bodies, contacts, size;
    ss_law law;
    int joints;        // of five free rows each
    bool motors;       // a bounded row, and a coupled one that follows it, between bodies
    double compliance; // of every third row
    double mu;         // 0: at random
    bool twisted;      // bodies of a contact are not pushed by opposite impulses
    bool alone;        // contacts with the world only
} packing;

static inline int rows_before_contacts(const packing *from)
{
    return 5 * from->joints + (from->motors ? 2 : 0);
}

static inline int blocks_before_contacts(const packing *from)
{
    return from->joints + (from->motors ? 2 : 0);
}

static inline void set_blocks(const packing *from, ss_random *random, ss_problem *problem)
{
    int k = 0, at = 0;
    for (; k < from->joints; k++, at += 5)
        problem->blocks[k] = (ss_block){.law = SS_LAW_FREE, .first = at, .size = 5, .contact = -1};
    if (from->motors) {
        problem->blocks[k++] = (ss_block){.law = SS_LAW_BOX, .first = at, .size = 1, .contact = -1};
        problem->lower[at] = -0.05;
        problem->upper[at++] = 0.05;
        problem->blocks[k++] = (ss_block){.law = SS_LAW_COUPLED, .first = at, .size = 1, .contact = -1};
        problem->partner[at] = at - 1;
        problem->factor[at++] = 0.5;
    }
    for (int c = 0; c < from->contacts; c++, at += from->size) {
        double mu = from->mu > 0.0 ? from->mu : c % 7 ? ss_random_between(random, 0.1, 0.6) : 0.0;
        problem->blocks[k + c] = (ss_block){
            .law = from->law, .first = at, .size = from->size, .mu = mu, .mu_rolling = 0.1, .contact = c};
    }
}

static inline void set_masses(ss_random *random, ss_bodies_form *form)
{
    for (int b = 0; b < form->bodies; b++) {
        form->inverse_mass[b] = ss_random_between(random, 0.5, 2.0);
        double *inertia = form->inverse_inertia[b];
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3;
            inertia[4 * i] = ss_random_between(random, 2.0, 4.0);
            inertia[3 * i + j] = inertia[3 * j + i] = ss_random_between(random, -0.5, 0.5);
        }
    }
}

static inline void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* A right-handed frame whose first axis is random. */
static inline void random_frame_of(ss_random *random, double axis[3][3])
{
    double other[3];
    random_unit(random, 3, axis[0]);
    random_unit(random, 3, other);
    cross(axis[0], other, axis[1]);
    double length = sqrt(axis[1][0] * axis[1][0] + axis[1][1] * axis[1][1] + axis[1][2] * axis[1][2]);
    for (int i = 0; i < 3; i++) axis[1][i] /= length;
    cross(axis[0], axis[1], axis[2]);
}

/* Rows of one block between a and b: along the axes at a point, then about the second and third. */
static inline void set_rows(const packing *from, ss_random *random, ss_problem *problem,
                            const ss_block *block, int a, int b)
{
    ss_bodies_form *form = problem->bodies;
    double axis[3][3], arm[2][3], moment[3];
    random_frame_of(random, axis);
    for (int side = 0; side < 2; side++) {
        random_unit(random, 3, arm[side]);
        for (int k = 0; k < 3; k++) arm[side][k] *= 0.5;
    }
    for (int i = 0; i < block->size; i++) {
        double *row = form->jacobian[block->first + i];
        form->pair[block->first + i][0] = a;
        form->pair[block->first + i][1] = b;
        for (int side = 0; side < 2; side++) {
            double sign = side ? 1.0 : -1.0, *part = row + 6 * side;
            const double *along = axis[i < 3 ? i : i - 2];
            cross(arm[side], along, moment);
            for (int k = 0; k < 3; k++) {
                part[k] = i < 3 ? sign * along[k] : 0.0;
                part[3 + k] = sign * (i < 3 ? moment[k] : along[k]);
            }
            if (from->twisted) part[0] += 0.1;
        }
    }
}

static inline ss_problem *pack(packing from)
{
    ss_error err;
    ss_random random = ss_random_start(from.seed, 5);
    int size = rows_before_contacts(&from) + from.size * from.contacts;
    ss_problem *problem = known(
        ss_problem_create(size, blocks_before_contacts(&from) + from.contacts, from.bodies, &err), &err);
    ss_bodies_form *form = problem->bodies;
    set_masses(&random, form);
    set_blocks(&from, &random, problem);
    double(*v)[6] = ss_allocate((size_t)from.bodies, sizeof *v);
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        int b = k % from.bodies, a = ss_random_below(&random, from.bodies + 1) - 1;
        if (a == b || from.alone) a = SS_WORLD;
        set_rows(&from, &random, problem, block, a, b);
        for (int i = block->first; i < block->first + block->size; i++) {
            form->compliance[i] = i % 3 ? 0.0 : from.compliance;
            form->offset[i] = problem->b[i] = ss_random_between(&random, -1, i == block->first ? 0.2 : 1.0);
            ss_bodies_push(form, i, 1.0, v);
            problem->diagonal[i] = ss_bodies_row(form, i, v) + form->compliance[i];
            if (a >= 0) memset(v[a], 0, sizeof v[a]);
            memset(v[b], 0, sizeof v[b]);
        }
    }
    problem->symmetric = true;
    ss_release(v);
    return problem;
}

static const packing usual = {.seed = 1, .bodies = 40, .contacts = 60, .size = 3, .law = SS_LAW_CONE};
static const packing large = {.seed = 2, .bodies = 4000, .contacts = 6000, .size = 3, .law = SS_LAW_CONE};

/* One contact of a ball (mass 2, no lever arm in the normal direction) with the world, b as given. */
static inline ss_problem *one_contact(double mu, const double b[3])
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(3, 1, 1, &err), &err);
    ss_bodies_form *form = problem->bodies;
    problem->blocks[0] = (ss_block){.law = SS_LAW_CONE, .size = 3, .mu = mu};
    form->inverse_mass[0] = 0.5;
    for (int i = 0; i < 3; i++) {
        form->inverse_inertia[0][4 * i] = 2.0;
        form->pair[i][1] = 0;
        form->jacobian[i][6 + (i + 2) % 3] = 1.0; // N = z, T1 = x, T2 = y
        problem->b[i] = form->offset[i] = b[i];
    }
    form->jacobian[1][10] = -0.5; // arm (0, 0, -0.5)
    form->jacobian[2][9] = 0.5;
    problem->diagonal[0] = 0.5;
    problem->diagonal[1] = problem->diagonal[2] = 1.0;
    problem->symmetric = true;
    return problem;
}

#endif
