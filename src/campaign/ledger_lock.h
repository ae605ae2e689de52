/* campaign/ledger_lock.h - one writer per ledger, on local and on network file systems.
 *
 * The lock is on a file beside the ledger, RESULTS.db.lock, never on the ledger itself: on NFS a lock of the
 * whole file would be in the way of SQLite's own. The file says who writes, so that others can be told, and
 * how far the writer has got where nothing can be read meanwhile. */
#ifndef SS_CAMPAIGN_LEDGER_LOCK_H
#define SS_CAMPAIGN_LEDGER_LOCK_H

#include "base/text.h"

/* What the file of a lock says. */
typedef struct ss_lock_holder {
    char host[65];
    int process;
    bool is_alone;   /* others cannot read while it writes */
    int done, total; /* runs, as it last said; total 0 = it has not said anything */
    char when[33];   /* UTC, ISO 8601: when it said so */
} ss_lock_holder;

typedef struct ss_ledger_lock {
    int file;      /* -1: nothing is locked */
    char *name;    /* of that file */
    bool has_none; /* the file system has no locks: it is there or not, that is all */
    ss_lock_holder holder;
} ss_ledger_lock;

/* Waits a moment for a writer that is about to end. False with err, which names the ledger `path` and its
 * writer, when another process has it. */
bool ss_ledger_lock_take(ss_ledger_lock *lock, const char *path, ss_error *err);
/* Writes lock->holder into the file, for others to read. */
void ss_ledger_lock_tell(ss_ledger_lock *lock);
void ss_ledger_lock_release(ss_ledger_lock *lock);

/* Who holds the lock of a ledger. False: no process does; one that was killed may have left the file. */
bool ss_ledger_lock_read(const char *path, ss_lock_holder *holder);

/* Is the file where nothing can be locked? Not to be asked of a file that SQLite has open: the locks of a
 * process on a file end when it closes any descriptor of it. */
bool ss_lacks_locks(const char *path);

/* Is the file, or the folder it is to be in, on a file system that several machines may have mounted? There,
 * memory that processes map from a file is not shared by all of them, which SQLite's WAL mode relies on. */
bool ss_is_on_network(const char *path);

#endif
