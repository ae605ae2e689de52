/* problem/gauge.h - how far (x, w) is from obeying the laws, block by block, in O(n). */
#ifndef SS_PROBLEM_GAUGE_H
#define SS_PROBLEM_GAUGE_H

#include <stickslip/problem.h>

#include "base/inner.h"

/* What one block contributes. Sums over blocks give the gauges of a problem. */
typedef struct ss_gauge_part {
    double energy;           /* J: 1/2 a (x - P(x - w/a))^2, the identity behind the energy error (Eq. 17) */
    double natural_residual; /* |min(x - l, w+)| ...; cones: |x - P(x - w~)| */
    double fischer_burmeister;  /* |phi(x - l, w+)| ... */
    double natural_map_squared; /* cones only */
} ss_gauge_part;

/* which of them are wanted */
enum {
    SS_WANT_ENERGY = 1,
    SS_WANT_NATURAL_RESIDUAL = 2,
    SS_WANT_FISCHER_BURMEISTER = 4,
    SS_WANT_NATURAL_MAP = 8,
    SS_WANT_ALL = 15,
};

/* `diagonal` are the effective inverse masses to use: problem->diagonal, or exact ones. */
SS_INNER ss_gauge_part ss_gauge_of_block(const ss_problem *problem, const double *diagonal, int block,
                                         const double *x, const double *w, unsigned wanted);
/* Fills values[SS_GAUGE_...] that are wanted by mask of 1 << gauge; the others are NaN. `start_energy` is the
 * energy at x = P(0) for the relative one; `load` is |b| over the cone rows for the natural map. */
typedef struct ss_gauge_scale {
    double start_energy, load;
    /* J: what rounding of b is worth, where the start is small enough for it to matter, else 0. Less energy
     * than that is none, and no start is better. */
    double rounding_energy;
    /* loads or impulses whose squares are out of the range of numbers: no error is small then */
    bool is_beyond;
    const double *inverse_mass; /* per unknown */
    ss_team *team;              /* shares the measuring of large problems; NULL: one thread */
} ss_gauge_scale;
/* The team, if there are enough blocks to be worth a second thread. */
ss_team *ss_gauge_team(const ss_gauge_scale *scale, const ss_problem *problem);
/* sqrt(energy / start energy), 0 where the energy is rounding; where nothing moves and nothing is to be done,
 * sqrt(energy / 1 J). */
double ss_gauge_relative_energy(const ss_gauge_scale *scale, double energy);
/* The other way: the energy at which the relative one is `relative`. */
double ss_gauge_energy_at(const ss_gauge_scale *scale, double relative);
void ss_gauge_measure(const ss_problem *problem, const ss_gauge_scale *scale, const double *x,
                      const double *w, unsigned mask, double *values);
/* Needs two vectors of problem->size, the scratch of ss_problem_apply, and one vector that it fills with
 * the effective inverse masses and that stays with the scale: a_ii; for an unknown without one of its own
 * (the sliding speed in a friction polygon) the largest |A_ij A_ji| / a_jj, which has the same unit and
 * sees its errors. */
ss_gauge_scale ss_gauge_scale_of(const ss_problem *problem, ss_team *team, double *x, double *w,
                                 double *scratch, double *inverse_mass);

#endif
