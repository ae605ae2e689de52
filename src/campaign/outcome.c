#include "campaign/ledger.h"

#include <limits.h>
#include <string.h>

const char *ss_outcome_name(ss_outcome outcome)
{
    switch (outcome) {
#define SS_OUTCOME_CASE(code, name) \
    case code:                      \
        return name;
        SS_OUTCOME_LIST(SS_OUTCOME_CASE)
#undef SS_OUTCOME_CASE
    default:
        return ss_status_name((ss_status)outcome);
    }
}

ss_outcome ss_outcome_named(const char *name)
{
    for (int i = 0; i < SS_OUTCOME_COUNT; i++)
        if (strcmp(ss_outcome_name((ss_outcome)i), name) == 0) return (ss_outcome)i;
    return SS_OUTCOME_COUNT;
}

bool ss_method_is_recorded(const ss_method_entry *method)
{
    return strcmp(method->stop, SS_METHOD_RECORDED) == 0;
}

bool ss_method_counts_processor(const ss_method_entry *method)
{
    return method->clock && strcmp(method->clock, SS_CLOCK_PROCESSOR) == 0;
}

int ss_history_grid(int iteration)
{
    if (iteration < 1) return 1;
    if (iteration < 16) return iteration + 1;
    int octave = 16;
    while (octave <= iteration / 2) octave *= 2;
    int step = octave / 8;
    int next = octave + ((iteration - octave) / step) * step;
    return next > INT_MAX - step ? INT_MAX : next + step;
}
