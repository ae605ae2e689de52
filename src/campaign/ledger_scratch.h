/* campaign/ledger_scratch.h - a ledger that is written on a disk of this machine and brought to its place at
 * the end, for network file systems that are slow or far away. Its place is filled in one go by a whole
 * file, so that whatever happens, one of the two has all that was stored. */
#ifndef SS_CAMPAIGN_LEDGER_SCRATCH_H
#define SS_CAMPAIGN_LEDGER_SCRATCH_H

#include "campaign/ledger.h"
#include "campaign/ledger_lock.h"

typedef struct ss_ledger_scratch {
    ss_ledger *ledger;   /* in the scratch folder */
    char *path;          /* of that */
    const char *target;  /* where it belongs */
    ss_ledger_lock lock; /* of the target */
    double brought;      /* s: when it was last brought there */
} ss_ledger_scratch;

/* Goes on with what is at the target, and with what a process that was killed left in the folder. */
bool ss_ledger_scratch_open(ss_ledger_scratch *scratch, const char *folder, const char *target,
                            ss_error *err);
/* Now and then, between two transactions: every ten minutes it brings a copy. A failure is only reported at
 * the end, when it still lasts. */
void ss_ledger_scratch_tick(ss_ledger_scratch *scratch);
/* Brings it to the target and removes it from the folder. On failure it stays there, and err says where.
 * An empty ledger is not brought. */
bool ss_ledger_scratch_close(ss_ledger_scratch *scratch, ss_error *err);

#endif
