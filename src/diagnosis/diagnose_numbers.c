/* Numbers that no solver should get, and numbers so large or small that measures of an answer fail. */
#include "diagnosis/diagnose.h"

#include <math.h>

#include "problem/laws.h"

/* ---- what is not a number --------------------------------------------------------------------------- */

typedef struct tally {
    int count, first; /* first: unknown, -1 = none yet */
    const char *what;
} tally;

static void note(tally *of, const char *what, int unknown)
{
    if (of->count++ == 0) of->first = unknown, of->what = what;
}

static bool diagnose_finite(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    const ss_bodies_form *form = problem->bodies;
    const ss_sparse *A = problem->A;
    tally bad = {.first = -1};
    for (int i = 0; i < problem->size; i++)
        if (!isfinite(problem->b[i])) note(&bad, "b", i);
    for (int j = 0; A && j < A->cols; j++) {
        bool good = true;
        for (int k = A->start[j]; k < A->start[j + 1]; k++) good &= isfinite(A->value[k]);
        if (!good) note(&bad, "the column of A", j);
    }
    for (int i = 0; form && i < problem->size; i++) {
        bool good = isfinite(form->compliance[i]) && isfinite(form->offset[i]);
        for (int k = 0; k < 12; k++) good &= isfinite(form->jacobian[i][k]);
        for (int side = 0; side < 2; side++) {
            int body = form->pair[i][side];
            if (body < 0) continue;
            good &= isfinite(form->inverse_mass[body]);
            for (int k = 0; k < 9; k++) good &= isfinite(form->inverse_inertia[body][k]);
            for (int k = 0; k < 6; k++) good &= isfinite(form->free_velocity[body][k]);
        }
        if (!good) note(&bad, "the row or the bodies", i);
    }

    if (!bad.count) return true;
    ss_text_appendf(&d->text, "%s of ", bad.what);
    ss_name_unknown(problem, bad.first, &d->text);
    ss_text_append(&d->text, " is not a finite number");
    if (bad.count > 1) {
        ss_text_append(&d->text, ", nor are ");
        ss_name_count(&d->text, bad.count - 1, "other place");
    }
    ss_diagnosing_tell(d, SS_SEVERITY_FATAL, SS_DEFECT_NUMBER, bad.count, NAN, bad.first,
                       "check the positions, velocities and forces of these bodies one step earlier");
    return false;
}

/* ---- bounds and laws -------------------------------------------------------------------------------- */

static bool diagnose_bounds(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    tally bad = {.first = -1};
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->law != SS_LAW_BOX && block->law != SS_LAW_COUPLED) continue;
        for (int i = block->first; i < block->first + block->size; i++) {
            double l = problem->lower[i], u = problem->upper[i];
            if (!(l <= u) || l == INFINITY || u == -INFINITY) note(&bad, "bounds", i);
        }
    }

    if (!bad.count) return true;
    double l = problem->lower[bad.first], u = problem->upper[bad.first];
    ss_text_append(&d->text, "the bounds of ");
    ss_name_unknown(problem, bad.first, &d->text);
    ss_text_appendf(&d->text, " enclose no number: from %g to %g", l, u);
    if (bad.count > 1) ss_text_appendf(&d->text, "; %d in all", bad.count);
    ss_diagnosing_tell(d, SS_SEVERITY_FATAL, SS_DEFECT_BOUNDS, bad.count, l - u, bad.first,
                       "the lower bound must not exceed the upper one: are they swapped?");
    return false;
}

static bool diagnose_laws(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    tally bad = {.first = -1};
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_law_is_cone(block->law) && (!(block->mu >= 0.0) || !(block->mu_rolling >= 0.0)))
            note(&bad, "a friction coefficient that is negative or not a number", block->first);
        for (int i = block->first; block->law == SS_LAW_COUPLED && i < block->first + block->size; i++) {
            int partner = problem->partner[i];
            bool right = partner >= 0 && partner < problem->size && partner != i &&
                         problem->factor[i] >= 0.0 && isfinite(problem->factor[i]) &&
                         ss_block_of(problem, partner)->law != SS_LAW_FREE;
            if (!right) note(&bad, "bounds with an invalid partner or factor", i);
        }
    }

    if (!bad.count) return true;
    ss_name_unknown(problem, bad.first, &d->text);
    ss_text_appendf(&d->text, " has %s", bad.what);
    if (bad.count > 1) ss_text_appendf(&d->text, "; %d in all", bad.count);
    ss_diagnosing_tell(
        d, SS_SEVERITY_FATAL, SS_DEFECT_LAW, bad.count, NAN, bad.first,
        "friction coefficients must be 0 or more, and a partner must be another unknown that is not free");
    return false;
}

bool ss_diagnose_numbers(ss_diagnosing *d)
{
    bool finite = diagnose_finite(d), bounds = diagnose_bounds(d), laws = diagnose_laws(d);
    return finite && bounds && laws;
}

/* ---- units ------------------------------------------------------------------------------------------ */

void ss_diagnose_units(ss_diagnosing *d)
{
    static const double small = 1e-140, large = 1e140; // squares, times some masses, stay in range
    static const double rounding = 1e-13, natural = 1e6;
    const ss_problem *problem = d->problem;
    const ss_bodies_form *form = problem->bodies;
    double load = 0.0; // largest |b|
    double left = 0.0; // largest sum of what b is the difference of, bodies form only
    double mass = 0.0; // geometric mean of a_NN over cones, 0 without any
    for (int i = 0; i < problem->size; i++) {
        load = fmax(load, fabs(problem->b[i]));
        double sum = form ? fabs(form->offset[i]) : 0.0;
        for (int k = 0; form && k < 12; k++) {
            int body = form->pair[i][k / 6];
            if (body >= 0) sum += fabs(form->jacobian[i][k] * form->free_velocity[body][k % 6]);
        }
        left = fmax(left, sum);
    }
    double logs = 0.0;
    int count = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        double a = block->size ? problem->diagonal[block->first] : 0.0;
        if (!ss_law_is_cone(block->law) || !(a > 0.0)) continue;
        logs += log(a);
        count++;
    }
    if (count) mass = exp(logs / count);

    if (load > 0.0 && (load < small || load > large)) {
        ss_text_appendf(&d->text,
                        "the largest velocity in b is %.3g m/s: its square is outside the range of "
                        "floating-point numbers",
                        load);
        ss_diagnosing_tell(d, SS_SEVERITY_WARNING, SS_DEFECT_UNITS, 1, load, -1,
                           "choose units in which velocities are near 1, or look for a body that has "
                           "flown away");
    } else if (load > 0.0 && load < rounding * left) {
        ss_text_appendf(
            &d->text,
            "the largest velocity in b is %.3g m/s, the difference of speeds of %.3g m/s: it is only "
            "rounding error",
            load, left);
        ss_diagnosing_tell(
            d, SS_SEVERITY_WARNING, SS_DEFECT_UNITS, 1, load / left, -1,
            "there is nothing to solve in this step; stop by energy<VALUE, in J, rather than relative to "
            "the start");
    } else if (mass > natural || (mass > 0.0 && mass < 1.0 / natural)) {
        ss_text_appendf(
            &d->text,
            "an impulse of 1 N s changes the velocity of a contact by %.3g m/s: natural_map compares the "
            "numbers of impulses and velocities, and in these units reports %s",
            mass, mass > 1.0 ? "convergence too early" : "errors that are only rounding");
        ss_diagnosing_tell(d, SS_SEVERITY_WARNING, SS_DEFECT_UNITS, 1, mass, -1,
                           "stop by relative_energy, which does not depend on units, or choose units in "
                           "which masses are near 1");
    }
}
