#include "solver/splitting/safeguarded_anderson.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

bool ss_safeguarded_anderson_create(int size, int memory, ss_arena *arena, ss_safeguarded_anderson *m)
{
    *m = (ss_safeguarded_anderson){.size = size, .shortest = INFINITY, .first = INFINITY};
    if (memory <= 0) return true;
    m->plain = ss_arena_take_unset(arena, (size_t)size, sizeof *m->plain, "mixing");
    m->anderson = ss_anderson_create(size, memory, arena);
    return m->plain && m->anderson;
}

void ss_safeguarded_anderson_forget(ss_safeguarded_anderson *m)
{
    if (m->anderson) ss_anderson_forget(m->anderson);
    m->shortest = m->first = INFINITY;
    m->tired = 0;
}

static double distance(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static const double astray = 2.0; // a step so much longer than the shortest

/* True when the last extrapolation should be mixed on from. */
static bool goes_well(ss_safeguarded_anderson *m, double length)
{
    static const double clearly = 0.9, worth_it = 0.5;
    enum { PATIENCE = 8, LONGEST = 64 };
    if (length < clearly * m->shortest)
        m->shortest = length, m->tired = 0;
    else
        m->tired++;
    if (isinf(m->first)) m->first = length;
    if (m->tired <= PATIENCE && length <= astray * m->shortest) return true;
    if (m->shortest < worth_it * m->first) m->wait /= 2;
    m->wait = m->wait < LONGEST ? 2 * m->wait + 1 : LONGEST;
    m->waiting = m->wait;
    return false;
}

void ss_safeguarded_anderson_next(ss_safeguarded_anderson *m, const double *y, double *image)
{
    if (!m->anderson) return;
    size_t bytes = (size_t)m->size * sizeof *image;
    double length = distance(m->size, image, y);
    if (m->waiting > 0) {
        if (--m->waiting > 0) return;
        ss_anderson_forget(m->anderson);
        memcpy(m->plain, image, bytes);
        m->shortest = m->first = length;
        m->tired = 0;
        return;
    }
    double before = m->shortest;
    if (goes_well(m, length)) {
        memcpy(m->plain, image, bytes);
        ss_anderson_next(m->anderson, y, image);
    } else if (length > astray * before) {
        memcpy(image, m->plain, bytes);
    }
}
