/* solver/core/measuring_schedule.h - when is it worth to measure? Measuring an iterate may cost more than
 * making it, so a method that can say for next to nothing how much it still changes is measured only when
 * the stop rule may hold. */
#ifndef SS_SOLVER_CORE_MEASURING_SCHEDULE_H
#define SS_SOLVER_CORE_MEASURING_SCHEDULE_H

#include <stdbool.h>

/* Zeroed at the start. Ratios are squared values of a gauge over the squared value of the rule,
 * as energies are. */
typedef struct ss_measuring_schedule {
    double ratio, estimate; /* at the last measurement; estimate 0: none yet */
    double offered;         /* what the method said last */
    int measured, forced;   /* iterations: of the last measurement, of the next whatever the method says */
} ss_measuring_schedule;

/* `estimate`: anything that falls like the square of the gauge; `goal`: its value where the rule should hold,
 * NAN when it is unknown. True when iteration number `iteration` should be measured. */
bool ss_measuring_schedule_is_due(ss_measuring_schedule *schedule, int iteration, double estimate,
                                  double goal);
/* What the measurement said. */
void ss_measuring_schedule_note(ss_measuring_schedule *schedule, int iteration, double ratio);

#endif
