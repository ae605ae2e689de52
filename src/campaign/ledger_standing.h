/* campaign/ledger_standing.h - how far the campaigns of ledgers have got. Ledgers are only read; other
 * processes may be writing to them. */
#ifndef SS_CAMPAIGN_LEDGER_STANDING_H
#define SS_CAMPAIGN_LEDGER_STANDING_H

#include "campaign/ledger.h"
#include "campaign/ledger_lock.h"

/* Pairs of a problem and a method. A pair is done when there is a run of it on any machine. */
typedef struct ss_standing {
    long long done, missing;
    long long failed; /* of those done: crashed, hung, out of memory or broken on a machine */
} ss_standing;

/* What one ledger says. */
typedef struct ss_ledger_standing {
    ss_results results; /* without what hangs on runs */
    /* That all its campaigns were; 1 of 1 when they were not of one shard, 0 of 0: runs were handed out. */
    int shard, shards;
    char last[33]; /* UTC, ISO 8601: when its latest run or campaign was started; "" = never */
    bool begun;    /* has methods and problems without a fault: otherwise what is missing is not known */
    ss_standing standing;
    /* process > 0: it writes where nothing can be read meanwhile, and this is all that is known */
    ss_lock_holder holder;
} ss_ledger_standing;

/* What is missing: every method of the ledger on every problem without a fault, as far as it belongs to the
 * shard of a campaign of all these problems and methods. Methods of stored answers count where there is an
 * answer. Free it also after a failure. */
bool ss_ledger_standing_read(const char *path, ss_ledger_standing *ledger, ss_error *err);
void ss_ledger_standing_free(ss_ledger_standing *ledger);

/* Of all together: what one ledger has is not missing in another. Shards do not matter here, so that
 * a shard without a ledger is missing. */
bool ss_ledger_standing_unite(const ss_ledger_standing *ledgers, int count, ss_standing *standing,
                              ss_error *err);

#endif
