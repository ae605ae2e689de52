/* Which equations follow from others, and which contradict others. */
#include "diagnosis/diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis/diagnose_gram.h"
#include "linalg/sparse_search.h"

typedef struct equations {
    int count;
    int *unknown;     /* per equation: of the problem */
    ss_problem *part; /* the equations alone */
} equations;

/* A problem of the equations alone, with its matrix. */
static bool take_part(const ss_problem *problem, equations *of)
{
    const ss_bodies_form *form = problem->bodies;
    ss_problem *part = of->part = ss_problem_create(of->count, 1, form ? form->bodies : -1, NULL);
    if (!part) return false;
    for (int i = 0; i < of->count; i++) {
        part->b[i] = problem->b[of->unknown[i]];
        part->diagonal[i] = problem->diagonal[of->unknown[i]];
    }

    if (form) {
        size_t bodies = (size_t)form->bodies;
        memcpy(part->bodies->inverse_mass, form->inverse_mass, bodies * sizeof *form->inverse_mass);
        memcpy(part->bodies->inverse_inertia, form->inverse_inertia, bodies * sizeof *form->inverse_inertia);
        for (int i = 0; i < of->count; i++) {
            int at = of->unknown[i];
            memcpy(part->bodies->pair[i], form->pair[at], sizeof form->pair[at]);
            memcpy(part->bodies->jacobian[i], form->jacobian[at], sizeof form->jacobian[at]);
            part->bodies->compliance[i] = form->compliance[at];
        }
        return ss_problem_need_matrix(part, NULL);
    }

    part->A = ss_sparse_part(problem->A, of->count, of->unknown, NULL);
    return part->A != NULL;
}

/* The part of b that no impulse can answer, in scaled rows: what is left of b + G x after the proximal point
 * method, whose step takes a direction of eigenvalue e to 1e-10 / (e + 1e-10) of its error. */
static bool unanswered(const equations *of, const ss_gram *G, double *rest)
{
    enum { STEPS = 8 };
    int n = of->count;
    double *x = ss_allocate((size_t)n, sizeof *x), *y = ss_allocate((size_t)n, sizeof *y);
    bool good = x && y;
    for (int step = 0; good && step <= STEPS; step++) {
        for (int i = 0; i < n; i++) rest[i] = of->part->b[i] / G->length[i] - ss_gram_shift * x[i];
        ss_sparse_apply(G->matrix, x, 1.0, rest);
        if (step == STEPS) break;
        good = ss_ldl_solve(G->ldl, rest, y, SS_REFINE_NEVER) == SS_LINALG_OK;
        for (int i = 0; i < n; i++) x[i] -= y[i];
    }

    ss_release(x);
    ss_release(y);
    return good;
}

static int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* As many rows as there are eigenvalues that count as none: those with the smallest pivots. */
static void tell_redundant(ss_diagnosing *d, const equations *of, const ss_gram *G, double *sorted,
                           bool *marked)
{
    int count = G->dependent, first = -1, left = count;
    if (!count) return;
    memcpy(sorted, G->pivots, (size_t)of->count * sizeof *sorted);
    qsort(sorted, (size_t)of->count, sizeof *sorted, compare_reals);
    for (int i = 0; i < of->count && left > 0; i++) {
        if (G->pivots[i] > sorted[count - 1]) continue;
        marked[of->unknown[i]] = true;
        if (first < 0) first = of->unknown[i];
        left--;
    }

    ss_name_count(&d->text, count, "equation");
    ss_text_appendf(&d->text, " of %d depend%s on the others: ", of->count, count == 1 ? "s" : "");
    ss_name_marked(d->problem, marked, &d->text);
    ss_diagnosing_tell(
        d, SS_SEVERITY_NOTE, SS_DEFECT_REDUNDANT, count, count, first,
        "remove them, or give these joints a compliance; otherwise their impulses are not unique");
}

/* Rows in which much is left that no impulse can answer. */
static void tell_inconsistent(ss_diagnosing *d, const equations *of, const ss_gram *G, const double *rest,
                              bool *marked)
{
    static const double goal = 1e-8, hopeless = 1e-6, share = 0.1; // of |b|; of the largest
    double sum = 0.0, load = 0.0, most = 0.0, speed = 0.0;
    int worst = -1, count = 0;
    for (int i = 0; i < of->count; i++) {
        double b = of->part->b[i] / G->length[i];
        sum += rest[i] * rest[i];
        load += b * b;
        if (fabs(rest[i]) > most) most = fabs(rest[i]), worst = i;
    }
    double part = load > 0.0 ? sqrt(sum / load) : 0.0;
    if (!(part > goal)) return;

    memset(marked, 0, (size_t)d->problem->size * sizeof *marked);
    for (int i = 0; i < of->count; i++) {
        if (fabs(rest[i]) < share * most) continue;
        marked[of->unknown[i]] = true;
        speed = fmax(speed, fabs(rest[i]) * G->length[i]);
        count++;
    }
    ss_name_count(&d->text, count, "equation");
    ss_text_append(&d->text, " contradict each other: ");
    ss_name_marked(d->problem, marked, &d->text);
    ss_text_appendf(
        &d->text,
        " require velocities that differ by at least %.2g m/s, whatever the impulses (%.2g of the norm of "
        "b)",
        speed, part);
    ss_diagnosing_tell(d, part > hopeless ? SS_SEVERITY_FATAL : SS_SEVERITY_WARNING, SS_DEFECT_INCONSISTENT,
                       count, speed, of->unknown[worst],
                       "the errors of the joints of a loop are inconsistent: move the bodies into place "
                       "first, correct the drift of only one joint, or give the joints a compliance");
}

bool ss_diagnose_equations(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    equations of = {0};
    ss_gram G = {0};
    // of a matrix that is not semidefinite the pivots tell nothing, and other unknowns might help
    if (!d->is_symmetric || d->has_massless || d->negative_pivots) return true;
    of.unknown = ss_allocate((size_t)problem->size, sizeof *of.unknown);
    if (!of.unknown) return false;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; block->law == SS_LAW_FREE && i < block->first + block->size; i++)
            if (!d->is_empty[i]) of.unknown[of.count++] = i;
    }

    bool good = true;
    if (of.count > 0) {
        double *rest = ss_allocate((size_t)of.count, sizeof *rest);
        bool *marked = ss_allocate((size_t)problem->size, sizeof *marked);
        good = rest && marked && take_part(problem, &of) && ss_gram_make(of.part->A, of.part->diagonal, &G);
        if (good && G.is_known) {
            tell_redundant(d, &of, &G, rest, marked);
            good = unanswered(&of, &G, rest);
            if (good) tell_inconsistent(d, &of, &G, rest, marked);
        }
        ss_release(rest);
        ss_release(marked);
    }
    ss_gram_free(&G);
    ss_problem_destroy(of.part);
    ss_release(of.unknown);
    return good;
}
