/* campaign/ledger_source.h - where the runs of a report of several ledgers come from, which
 * is no longer known once they are merged. */
#ifndef SS_CAMPAIGN_LEDGER_SOURCE_H
#define SS_CAMPAIGN_LEDGER_SOURCE_H

#include "campaign/ledger.h"

/* What one ledger has of one machine. */
typedef struct ss_source {
    const char *file; /* the caller's */
    char machine[33]; /* key */
    int runs;
    char first[33], last[33]; /* UTC, ISO 8601: when its first and last run were started; "" = not known */
    char *builds;             /* of the program, that made them (ss_results_print_builds) */
    char *collections;        /* names and versions of those its problems are of, with commas; "" = of none */
} ss_source;
typedef struct ss_sources {
    ss_source *items;
    int count;
} ss_sources;

/* Adds what is in the ledger, which is only read. Free the list also after a failure. */
bool ss_sources_add(ss_sources *sources, const char *file, ss_error *err);
void ss_sources_free(ss_sources *sources);

#endif
