#include "solver/core/measuring_schedule.h"

/* The first time the method's own word has to do; then it is calibrated by the last measurement. Where
 * convergence crawls just above the goal the pauses grow with the number of iterations; the doubling is for
 * estimates that mean nothing. */
bool ss_measuring_schedule_is_due(ss_measuring_schedule *schedule, int iteration, double estimate,
                                  double goal)
{
    static const double hope = 1.2;
    enum { FIRST = 3, CRAWL = 10 };
    schedule->offered = estimate;
    if (!(estimate > 0.0) || iteration >= (schedule->forced ? schedule->forced : FIRST)) return true;
    if (!(schedule->estimate > 0.0)) return goal == goal ? estimate <= 4.0 * goal : true;
    bool near = schedule->ratio * (estimate / schedule->estimate) <= hope;
    return near && iteration > schedule->measured + 1 + schedule->measured / CRAWL;
}

void ss_measuring_schedule_note(ss_measuring_schedule *schedule, int iteration, double ratio)
{
    schedule->ratio = ratio;
    schedule->estimate = schedule->offered;
    schedule->measured = iteration;
    schedule->forced = 2 * iteration + 16;
}
