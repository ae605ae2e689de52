/* base/team.h - which work a team shares.
 *
 * A region of work is worth sharing when that is sooner done than by one thread:
 *
 *     shared   work / threads + (start + crossings + late * ahead) * round trip + waking
 *     alone    work
 *
 * work: ns of one thread. crossings: cache lines that one thread has written and another one waits for; lines
 * in a row are fetched in advance and count less. ahead: lines of which many are asked for before the first
 * is needed; late: how much of their way is left then, a tenth where the cores share a cache, all of it where
 * they do not. start: what it takes to post a job, to join it and to leave it. waking: of workers that sleep.
 * The round trip of a line between two cores is 60 ns where they share a cache and 350 ns where they do not,
 * and a virtual machine may be moved from one to the other at any time. So the team measures it, when it is
 * asked and the last time is long ago: some microseconds in 20 ms.
 *
 *     ss_team *helpers = ss_team_for_loop(team, count, 40.0);
 *     ss_parallel_for(helpers, count, grain, body, context);
 *
 * The answer depends on the clock. It may decide who does the work, never what is computed: callers compute
 * the same bits either way, and what belongs together (room that is reserved, the loops that fill it) asks
 * once.
 *
 * Work of many loops with something for one thread in between:
 *
 *     ss_team_hold(team);
 *     ss_parallel_for(team, ...);  what only the caller can do;  ss_parallel_for(team, ...);
 *     ss_team_let_go(team);
 *
 * A worker sleeps after some ten microseconds without work, and to wake it takes nearly as long. Between
 * these two calls, which may be nested, one that is awake stays so for milliseconds; they wake no one.
 */
#ifndef SS_BASE_TEAM_H
#define SS_BASE_TEAM_H

#include <stickslip/base.h>

/* The team, or NULL where one thread is sooner done. For the thread that uses the team; NULL is one thread.
 */
ss_team *ss_team_for(ss_team *team, double work, double crossings, double ahead);

/* The same for a loop over bodies, contacts or shapes, `each` ns. There one line crosses in 400 ns of work:
 * with round trips of 60 ns two threads are 1.5 times as fast as one, with 350 ns 0.7 times. */
static inline ss_team *ss_team_for_loop(ss_team *team, int64_t count, double each)
{
    double work = (double)count * each;
    return ss_team_for(team, work, work / 400.0, 0.0);
}

/* The round trip in ns, measured now: for benchmarks. Infinite where no other thread comes. */
double ss_team_round_trip(ss_team *team);

/* For tests: the round trip of all teams in ns, instead of a measured one; 0: all is shared; less than 0:
 * measured again. */
void ss_team_fix_round_trip(double nanoseconds);

/* team = NULL is one thread: nothing to hold. For the thread that uses the team. */
void ss_team_hold(ss_team *team);
void ss_team_let_go(ss_team *team);

#endif
