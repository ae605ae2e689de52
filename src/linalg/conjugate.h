/* linalg/conjugate.h - nonlinear conjugate gradients around sweeps, with the change of a sweep in the
 * place of the gradient (Silcowitz-Hansen, Niebe, Erleben 2010):
 *
 *     r1 = sweep(r),  g = r1 - r,  beta = |g|^2 / |g_before|^2,  r <- r1 + beta p,  p <- beta p + g
 *
 * It starts again when beta > 1 (by more than `slack`, where something disturbs it) or a sweep turns back,
 * and sweeps plainly for a while where that leads nowhere. A sweep works on several arrays (impulses, the
 * velocities they make); all are extrapolated alike, so that they go on belonging together. With single
 * precision a double of a part stands for two floats, which `overlap` and `extrapolate` know.
 */
#ifndef SS_LINALG_CONJUGATE_H
#define SS_LINALG_CONJUGATE_H

#include <stickslip/base.h>

enum { SS_CONJUGATE_PARTS = 3 };
enum { SS_CONJUGATE_GRAIN = 2048 }; /* numbers that a thread does at once; a multiple of any register */

typedef struct ss_conjugate_part {
    size_t size;
    double *at; /* where the sweeps work; NULL: no such part */
    double *last, *direction;
} ss_conjugate_part;

typedef struct ss_conjugate {
    ss_conjugate_part part[SS_CONJUGATE_PARTS]; /* size and at are for the caller to set */
    /* (at - last) . direction, by an inner product in which all have one unit */
    double (*overlap)(struct ss_conjugate *conjugate);
    const void *context; /* for overlap */
    /* direction <- beta direction + (point - last),  point <- last <- point + beta direction (as it was) */
    void (*extrapolate)(double beta, size_t count, double *point, double *last, double *direction);
    double slack; /* beta up to 1 + slack counts as 1, */
    int growths;  /* as often as this */
    double last_square, restart_square;
    double weight;               /* of the direction in the last extrapolation, or in the one that is due */
    bool is_due;                 /* chosen, but not made yet */
    double leap_square;          /* at the last leap */
    int steady, steady_at_least; /* sweeps in a row that made the same change; before a leap */
    ss_team *team;               /* shares extrapolation and overlap; NULL: one thread */
    int since_restart, circles;  /* sweeps; restarts in a row that led nowhere */
    int wait, waiting; /* plain sweeps after a restart that came without progress; those still to do */
} ss_conjugate;

/* The plain one, of doubles. */
void ss_conjugate_extrapolate(double beta, size_t count, double *point, double *last, double *direction);

/* Takes memory, and the parts as they are now for the start. False when out of memory. */
bool ss_conjugate_start(ss_conjugate *conjugate, ss_arena *arena);
/* `square`: of the change of the sweep that was just made, in the metric of the energy. */
void ss_conjugate_next(ss_conjugate *conjugate, double square);
/* The same in two steps: the weight, and the extrapolation, unless a sweep makes it on its way. */
void ss_conjugate_choose(ss_conjugate *conjugate, double square);
void ss_conjugate_catch_up(ss_conjugate *conjugate);

/* A range of a part. */
static inline ss_conjugate_part ss_conjugate_range(const ss_conjugate_part *part, size_t first, size_t size)
{
    return (ss_conjugate_part){.size = size,
                               .at = part->at + first,
                               .last = part->last + first,
                               .direction = part->direction + first};
}

/* Has the last sweep made the same change as the one before? Then sweeps drift along a line. Leaps without
 * progress in between are followed by more and more sweeps that have to drift before the next. */
bool ss_conjugate_drifts(ss_conjugate *conjugate, double square);
/* In the place of ss_conjugate_next: `times` the change of the last sweep at once, all parts alike. */
void ss_conjugate_leap(ss_conjugate *conjugate, double square, double times);

#endif
