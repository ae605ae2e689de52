#include "linalg/conjugate.h"

#include "base/team.h"

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

/* The change is as large as another one. */
static const double alike = 0.02;

static bool is_level(double square, double other)
{
    return fabs(square - other) <= alike * square;
}

/* Has it started again three times, each a few sweeps after the last, with changes of the same size? One
 * extrapolation goes too far then, and the next sweeps take it back. */
static bool goes_in_circles(ss_conjugate *cg, double square)
{
    enum { SOON = 3, CIRCLES = 3 };
    bool is_circle = cg->since_restart <= SOON && is_level(square, cg->restart_square);
    cg->circles = is_circle ? cg->circles + 1 : 0;
    cg->since_restart = 0;
    return cg->circles >= CIRCLES;
}

/* The weight of the direction, 0: start again. Where friction turns the sweeps round in circles,
 * extrapolating keeps them going: restarts without progress in between are followed by more and more
 * plain sweeps, and changes that grow a little pass a limited number of times. */
static double weight_of(ss_conjugate *cg, double square)
{
    enum { LONGEST = 256 };
    double beta = cg->last_square > 0.0 ? square / cg->last_square : 0.0;
    cg->last_square = square;
    cg->since_restart++;
    if (cg->waiting > 0) return cg->waiting--, 0.0;
    bool grows = beta > 1.0, passes = beta <= 1.0 + cg->slack && cg->growths > 0;
    if ((!grows || passes) && cg->overlap(cg) > 0.0) {
        cg->growths -= grows;
        return grows ? 1.0 : beta;
    }
    bool circles = goes_in_circles(cg, square);
    bool progress = (square < cg->restart_square && !circles) || cg->restart_square == 0.0;
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

static int64_t count_grains(const ss_conjugate *cg)
{
    int64_t grains = 0;
    for (int k = 0; k < SS_CONJUGATE_PARTS; k++) grains += grains_of(&cg->part[k]);
    return grains;
}

/* ns of a number in a loop over them, about. */
static const double number = 0.5;

static ss_team *helpers_for(const ss_conjugate *cg, int64_t grains)
{
    return ss_team_for_loop(cg->team, grains * SS_CONJUGATE_GRAIN, number);
}

/* Grains of all parts, one part after the other. */
static ss_conjugate_part range_of(const ss_conjugate *cg, int64_t grain)
{
    const ss_conjugate_part *part = cg->part;
    while (grain >= grains_of(part)) grain -= grains_of(part++);
    size_t first = (size_t)grain * SS_CONJUGATE_GRAIN, left = part->size - first;
    return ss_conjugate_range(part, first, left < SS_CONJUGATE_GRAIN ? left : SS_CONJUGATE_GRAIN);
}

static void extrapolate_grains(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const extrapolation *of = context;
    for (int64_t grain = begin; grain < end; grain++) {
        ss_conjugate_part range = range_of(of->cg, grain);
        of->cg->extrapolate(of->beta, range.size, range.at, range.last, range.direction);
    }
}

void ss_conjugate_choose(ss_conjugate *cg, double square)
{
    cg->weight = weight_of(cg, square);
    cg->is_due = true;
}

void ss_conjugate_catch_up(ss_conjugate *cg)
{
    extrapolation of = {.cg = cg, .beta = cg->weight};
    int64_t grains = count_grains(cg);
    if (cg->is_due) ss_parallel_for(helpers_for(cg, grains), grains, 1, extrapolate_grains, &of);
    cg->is_due = false;
}

void ss_conjugate_next(ss_conjugate *cg, double square)
{
    ss_conjugate_choose(cg, square);
    ss_conjugate_catch_up(cg);
}

/* Of a grain: the square of how the change has turned, less what it may. After a plain sweep the direction is
 * the change before. Four sums, because each addition waits for the one before. */
static double turn_of_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const ss_conjugate_part *part = context;
    double sum[4] = {0.0};
    for (int64_t at = begin; at < end; at += 4) {
        for (int i = 0; i < 4 && at + i < end; i++) {
            double change = part->at[at + i] - part->last[at + i], turn = change - part->direction[at + i];
            sum[i] += turn * turn - (alike * alike) * (change * change);
        }
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

bool ss_conjugate_drifts(ss_conjugate *cg, double square)
{
    bool level = is_level(square, cg->last_square);
    if (!level) cg->steady = 0;
    if (!level || cg->weight != 0.0) return false;
    ss_conjugate_part *part = &cg->part[0];
    double turn = ss_parallel_sum(helpers_for(cg, grains_of(part)), (int64_t)part->size, SS_CONJUGATE_GRAIN,
                                  turn_of_range, part);
    cg->steady = turn <= 0.0 ? cg->steady + 1 : 0;
    return cg->steady > cg->steady_at_least;
}

/* Grains of all parts, as when extrapolating. */
static void leap_grains(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const extrapolation *of = context;
    for (int64_t grain = begin; grain < end; grain++) {
        ss_conjugate_part range = range_of(of->cg, grain);
        for (size_t i = 0; i < range.size; i++) {
            range.at[i] += of->beta * (range.at[i] - range.last[i]);
            range.last[i] = range.at[i];
            range.direction[i] = 0.0;
        }
    }
}

void ss_conjugate_leap(ss_conjugate *cg, double square, double times)
{
    enum { LONGEST = 256 };
    static const double less = 0.9;
    bool progress = square < less * cg->leap_square || cg->leap_square == 0.0;
    int wait = cg->steady_at_least;
    cg->steady_at_least = progress ? wait / 2 : wait < LONGEST ? 2 * wait + 1 : LONGEST;
    if (progress) cg->leap_square = square;
    extrapolation of = {.cg = cg, .beta = times};
    int64_t grains = count_grains(cg);
    ss_parallel_for(helpers_for(cg, grains), grains, 1, leap_grains, &of);
    cg->last_square = cg->weight = 0.0;
    cg->steady = 0;
}
