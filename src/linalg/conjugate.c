#include "linalg/conjugate.h"

#include <math.h>
#include <string.h>

bool ss_conjugate_start(ss_conjugate *cg, ss_arena *arena)
{
    for (int k = 0; k < SS_CONJUGATE_PARTS; k++) {
        ss_conjugate_part *part = &cg->part[k];
        part->last = ss_arena_take(arena, part->size, sizeof(double), "directions");
        part->direction = ss_arena_take(arena, part->size, sizeof(double), "directions");
        if (!part->last || !part->direction) return false;
        if (part->size) memcpy(part->last, part->at, part->size * sizeof(double));
    }
    return true;
}

/* Two numbers at a time. */
void ss_conjugate_extrapolate(double beta, size_t count, double *point, double *last, double *direction)
{
    typedef double pair __attribute__((vector_size(16)));
    size_t at = 0;
    for (; at + 2 <= count; at += 2) {
        pair here, before, step;
        memcpy(&here, point + at, sizeof here);
        memcpy(&before, last + at, sizeof before);
        memcpy(&step, direction + at, sizeof step);
        step *= beta;
        before = step + (here - before);
        here += step;
        memcpy(direction + at, &before, sizeof before);
        memcpy(point + at, &here, sizeof here);
        memcpy(last + at, &here, sizeof here);
    }
    if (at == count) return;
    double step = beta * direction[at];
    direction[at] = step + (point[at] - last[at]);
    last[at] = point[at] += step;
}

/* The weight of the direction, 0: start again. Where friction turns the sweeps round in circles,
 * extrapolating keeps them going: restarts without progress in between are followed by more and more
 * plain sweeps, and changes that grow a little pass a limited number of times. */
static double weight_of(ss_conjugate *cg, double square)
{
    enum { LONGEST = 256 };
    double beta = cg->last_square > 0.0 ? square / cg->last_square : 0.0;
    cg->last_square = square;
    if (cg->waiting > 0) return cg->waiting--, 0.0;
    bool grows = beta > 1.0, passes = beta <= 1.0 + cg->slack && cg->growths > 0;
    if ((!grows || passes) && cg->overlap(cg) > 0.0) {
        cg->growths -= grows;
        return grows ? 1.0 : beta;
    }
    bool progress = square < cg->restart_square || cg->restart_square == 0.0;
    cg->wait = progress ? cg->wait / 2 : cg->wait < LONGEST ? 2 * cg->wait + 1 : LONGEST;
    cg->waiting = cg->wait;
    cg->restart_square = square;
    return 0.0;
}

typedef struct extrapolation {
    const ss_conjugate *cg;
    double beta;
} extrapolation;

static int64_t grains_of(const ss_conjugate_part *part)
{
    return ((int64_t)part->size + SS_CONJUGATE_GRAIN - 1) / SS_CONJUGATE_GRAIN;
}

/* Grains of all parts, one part after the other. */
static void extrapolate_grains(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const extrapolation *of = context;
    for (int64_t grain = begin; grain < end; grain++) {
        const ss_conjugate_part *part = of->cg->part;
        int64_t at = grain;
        while (at >= grains_of(part)) at -= grains_of(part++);
        size_t first = (size_t)at * SS_CONJUGATE_GRAIN, left = part->size - first;
        of->cg->extrapolate(of->beta, left < SS_CONJUGATE_GRAIN ? left : SS_CONJUGATE_GRAIN, part->at + first,
                            part->last + first, part->direction + first);
    }
}

void ss_conjugate_next(ss_conjugate *cg, double square)
{
    extrapolation of = {.cg = cg, .beta = weight_of(cg, square)};
    cg->weight = of.beta;
    int64_t grains = 0;
    for (int k = 0; k < SS_CONJUGATE_PARTS; k++) grains += grains_of(&cg->part[k]);
    ss_parallel_for(cg->team, grains, 1, extrapolate_grains, &of);
}

bool ss_conjugate_drifts(ss_conjugate *cg, double square)
{
    static const double alike = 0.02;
    double whole = 0.0, other = 0.0;
    bool level = fabs(square - cg->last_square) <= alike * square;
    if (!level) cg->steady = 0;
    if (!level || cg->weight != 0.0) return false;

    // After a plain sweep the direction is its change.
    const ss_conjugate_part *part = &cg->part[0];
    for (size_t i = 0; i < part->size; i++) {
        double change = part->at[i] - part->last[i], turn = change - part->direction[i];
        whole += change * change;
        other += turn * turn;
    }
    cg->steady = other <= alike * alike * whole ? cg->steady + 1 : 0;
    return cg->steady > cg->steady_at_least;
}

void ss_conjugate_leap(ss_conjugate *cg, double square, double times)
{
    enum { LONGEST = 256 };
    static const double less = 0.9;
    bool progress = square < less * cg->leap_square || cg->leap_square == 0.0;
    int wait = cg->steady_at_least;
    cg->steady_at_least = progress ? wait / 2 : wait < LONGEST ? 2 * wait + 1 : LONGEST;
    if (progress) cg->leap_square = square;
    for (int k = 0; k < SS_CONJUGATE_PARTS; k++) {
        ss_conjugate_part *part = &cg->part[k];
        for (size_t i = 0; i < part->size; i++) {
            part->at[i] += times * (part->at[i] - part->last[i]);
            part->last[i] = part->at[i];
            part->direction[i] = 0.0;
        }
    }
    cg->last_square = cg->weight = 0.0;
    cg->steady = 0;
}
