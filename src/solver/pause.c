#include "solver/pause.h"

/* The first time the method's own word has to do; then it is calibrated by the last measurement. Where convergence
 * crawls just above the goal the pauses grow with the number of iterations; the doubling is for estimates that mean
 * nothing. */
bool ss_pause_ends(ss_pause *pause, int iteration, double estimate, double goal)
{
    static const double hope = 1.2;
    enum { FIRST = 3, CRAWL = 10 };
    pause->offered = estimate;
    if (!(estimate > 0.0) || iteration >= (pause->forced ? pause->forced : FIRST)) return true;
    if (!(pause->estimate > 0.0)) return goal == goal ? estimate <= 4.0 * goal : true;
    bool near = pause->ratio * (estimate / pause->estimate) <= hope;
    return near && iteration > pause->measured + 1 + pause->measured / CRAWL;
}

void ss_pause_note(ss_pause *pause, int iteration, double ratio)
{
    pause->ratio = ratio;
    pause->estimate = pause->offered;
    pause->measured = iteration;
    pause->forced = 2 * iteration + 16;
}
