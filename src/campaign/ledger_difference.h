/* campaign/ledger_difference.h - two ledgers, run by run: what is solved no more, what is gained, what takes
 * longer than the noise explains. For a change of a solver, before and after; and for the same solver on two
 * machines. */
#ifndef SS_CAMPAIGN_LEDGER_DIFFERENCE_H
#define SS_CAMPAIGN_LEDGER_DIFFERENCE_H

#include "campaign/statistics.h"

typedef enum ss_change {
    SS_CHANGE_FAILS,  /* solved before, and now it is not */
    SS_CHANGE_BREAKS, /* not solved before either, but now it crashes, hangs or runs out of memory */
    SS_CHANGE_SOLVED, /* the other way round */
    SS_CHANGE_SLOWER, /* solved in both, beyond the noise */
    SS_CHANGE_FASTER,
    SS_CHANGE_ANSWER, /* other bits, and nothing of the above */
    SS_CHANGE_NONE,
    SS_CHANGE_COUNT
} ss_change;
const char *ss_change_name(ss_change change); /* "fails", "breaks", "solved" ... */

/* A run that both ledgers have: the same problem, the same method. */
typedef struct ss_ledger_difference_row {
    int before, after; /* runs of either ledger */
    ss_change change;
    double ratio; /* of the least times of samples, after over before; NaN = not comparable */
} ss_ledger_difference_row;

typedef struct ss_ledger_difference_options {
    int measure;      /* metric that decides what is solved */
    double tolerance; /* of the measure */
    double slower;    /* a run is slower when its ratio exceeds this, and faster below 1 over it */
} ss_ledger_difference_options;

typedef struct ss_ledger_difference {
    ss_ledger_difference_row *rows; /* worst first: fails, breaks, slower by falling ratio, then the rest */
    int row_count;
    int count[SS_CHANGE_COUNT];
    int only_before, only_after; /* runs that one ledger has alone */
    int timed;                   /* rows with a ratio */
    double mean;                 /* geometric, of the ratios; NaN = none */
    int elsewhere; /* rows whose runs are of different processors: their times are not compared */
} ss_ledger_difference;

/* Methods are the same when all their properties are, the plug-in's file apart, which changes with every
 * build of it; problems when all their numbers are. Fails when out of memory. */
bool ss_ledger_difference_make(const ss_results *before, const ss_results *after,
                               const ss_ledger_difference_options *options, ss_ledger_difference *made,
                               ss_error *err);
void ss_ledger_difference_free(ss_ledger_difference *difference);

#endif
