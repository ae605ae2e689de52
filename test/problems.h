/* Problems with a known answer (conformance/planted.h, conformance/catalogue.h), for tests, where nothing may
 * fail. */
#ifndef STICKSLIP_TEST_PROBLEMS_H
#define STICKSLIP_TEST_PROBLEMS_H

#include <stickslip/solver.h>

#include "conformance/catalogue.h"
#include "known_cone.h"
#include "problem/laws.h"
#include "scenes.h"

#include <string.h>

typedef ss_recipe recipe;
typedef ss_known known_problem;

#define usual_stop SS_KNOWN_STOP

static inline void known_problem_free(known_problem *of)
{
    ss_known_free(of);
}

/* Zeroed, to be freed by free: what belongs to the test. */
static inline double *numbers(int count)
{
    return known(calloc((size_t)count + 1, sizeof(double)), NULL);
}

/* Zeroed: what belongs to a problem. */
static inline double *problem_numbers(int count)
{
    return known(ss_allocate((size_t)count, sizeof(double)), NULL);
}

/* What was made, or the end of the test program. */
static inline known_problem ensure_known(bool made, const known_problem *of, const ss_error *err)
{
    if (!made) known(NULL, err);
    return *of;
}

static inline known_problem cook(const recipe *from)
{
    ss_error err;
    known_problem made;
    return ensure_known(ss_known_from_recipe(from, &made, &err), &made, &err);
}

static inline known_problem lcp_of(const char *name, int n, const double *A, const double *b)
{
    ss_error err;
    known_problem made;
    return ensure_known(ss_known_from_matrix(name, n, A, b, &made, &err), &made, &err);
}

static inline known_problem column(const char *name, int n, double growth)
{
    ss_error err;
    known_problem made;
    return ensure_known(ss_known_column(name, n, growth, &made, &err), &made, &err);
}

/* The frame is used up. */
static inline known_problem formulated(const char *name, const char *words, ss_frame *frame)
{
    ss_error err;
    known_problem made;
    bool good = ss_known_from_frame(name, words, frame, &made, &err);
    ss_frame_destroy(frame);
    return ensure_known(good, &made, &err);
}

static inline known_problem problem_at(int index)
{
    ss_error err;
    known_problem made;
    return ensure_known(ss_known_make(index, &made, &err), &made, &err);
}

/* "one row", "immovable bodies", "contradiction": those of the catalogue by name. */
static inline known_problem problem_named(const char *name)
{
    int index = ss_known_find(name);
    if (index < 0) known(NULL, NULL);
    return problem_at(index);
}

static inline ss_sparse *sparse_of_dense(int n, const double *dense)
{
    ss_error err;
    return known(ss_planted_sparse(n, dense, &err), &err);
}

#endif
