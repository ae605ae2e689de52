/* base/team_hold.h - work of many loops with something for one thread in between.
 *
 *     ss_team_hold(team);
 *     ss_parallel_for(team, ...);  what only the caller can do;  ss_parallel_for(team, ...);
 *     ss_team_let_go(team);
 *
 * A worker sleeps after some ten microseconds without work, and to wake it takes nearly as long. Between
 * these two calls, which may be nested, one that is awake stays so for milliseconds; nobody is woken by them.
 */
#ifndef SS_BASE_TEAM_HOLD_H
#define SS_BASE_TEAM_HOLD_H

#include <stickslip/base.h>

/* team = NULL is one thread: nothing to hold. For the thread that uses the team. */
void ss_team_hold(ss_team *team);
void ss_team_let_go(ss_team *team);
/* Nobody has to be woken for a loop: then shorter ones are worth sharing. */
bool ss_team_is_awake(const ss_team *team);

#endif
