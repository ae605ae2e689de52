#include "campaign/ledger_scratch.h"

#include "base/digest.h"
#include "campaign/ledger_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPY_EVERY 600.0 /* s: what the death of a machine may cost */

/* FOLDER/NAME-DIGEST.db: the digest is of the whole target, so that two campaigns never meet. */
static char *local_path(const char *folder, const char *target)
{
    char parent[PATH_MAX], whole[PATH_MAX];
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - target) + 1 : 1, slash ? target : ".");
    ss_digest digest = ss_digest_start();
    ss_digest_add_text(&digest, realpath(parent, whole) ? whole : parent);
    ss_digest_add_text(&digest, name);
    char text[33];
    ss_digest_print(&digest, text);
    ss_text path = {0};
    ss_text_appendf(&path, "%s/%s-%.8s.db", folder, name, text);
    char *copy = path.out_of_memory ? NULL : ss_text_copy(ss_text_get(&path));
    ss_text_free(&path);
    return copy;
}

bool ss_ledger_scratch_open(ss_ledger_scratch *scratch, const char *folder, const char *target, ss_error *err)
{
    *scratch = (ss_ledger_scratch){.target = target, .lock.file = -1, .brought = ss_clock_seconds()};
    scratch->path = local_path(folder, target);
    if (!scratch->path) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", target);

    // A writer without a scratch folder may have been killed: its journal belongs to the file that is to
    // be replaced, and must be gone by then.
    bool exists = access(target, F_OK) == 0, good = true;
    if (exists) {
        ss_ledger *there = ss_ledger_open(target, err);
        good = there != NULL;
        ss_ledger_close(there);
    }
    good = good && ss_ledger_lock_take(&scratch->lock, target, err);
    scratch->ledger = good ? ss_ledger_open(scratch->path, err) : NULL;
    int added, same, differing;
    good = scratch->ledger &&
           (!exists || ss_ledger_merge(scratch->ledger, target, &added, &same, &differing, NULL, 0, err));
    if (good) return true;
    if (scratch->ledger) ss_ledger_abandon(scratch->ledger);
    ss_ledger_lock_release(&scratch->lock);
    ss_release(scratch->path);
    *scratch = (ss_ledger_scratch){.lock.file = -1};
    return false;
}

static bool sync_path(const char *path, int flags)
{
    int file = open(path, flags | O_CLOEXEC);
    bool good = file >= 0 && fsync(file) == 0;
    if (file >= 0) close(file);
    return good;
}

/* A whole copy beside the target, on the disk, and then in its place. */
static bool bring(ss_ledger_scratch *scratch, ss_error *err)
{
    char part[PATH_MAX + 8], parent[PATH_MAX];
    const char *slash = strrchr(scratch->target, '/');
    snprintf(part, sizeof part, "%s.part", scratch->target);
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - scratch->target) + 1 : 1,
             slash ? scratch->target : ".");
    unlink(part);
    scratch->brought = ss_clock_seconds();

    // One file, which needs no other process and no lock; what came so far is all in it.
    sqlite3 *copy = NULL;
    int code = sqlite3_open_v2(part, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                               "unix-none");
    sqlite3_backup *backup =
        code == SQLITE_OK ? sqlite3_backup_init(copy, "main", scratch->ledger->db, "main") : NULL;
    if (backup) {
        scratch->ledger->operations = 0;
        sqlite3_backup_step(backup, -1);
        code = sqlite3_backup_finish(backup);
    } else if (copy) {
        code = sqlite3_errcode(copy);
    }
    if (code == SQLITE_OK)
        code = sqlite3_exec(copy, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE", NULL, NULL,
                            NULL);
    const char *why = code == SQLITE_OK ? NULL : sqlite3_errstr(code);
    sqlite3_close(copy);

    errno = 0;
    bool good = !why && sync_path(part, O_RDWR) && rename(part, scratch->target) == 0;
    if (good) sync_path(parent, O_RDONLY | O_DIRECTORY); // some file systems cannot
    if (!good) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s; the results are in %s", scratch->target,
                why ? why : strerror(errno), scratch->path);
        unlink(part);
    }
    return good;
}

void ss_ledger_scratch_tick(ss_ledger_scratch *scratch)
{
    if (scratch->ledger && ss_clock_seconds() > scratch->brought + COPY_EVERY) bring(scratch, NULL);
}

bool ss_ledger_scratch_close(ss_ledger_scratch *scratch, ss_error *err)
{
    bool good = bring(scratch, err);
    ss_ledger_close(scratch->ledger);
    if (good) unlink(scratch->path);
    ss_ledger_lock_release(&scratch->lock);
    ss_release(scratch->path);
    *scratch = (ss_ledger_scratch){.lock.file = -1};
    return good;
}
