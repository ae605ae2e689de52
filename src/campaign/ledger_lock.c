#include "campaign/ledger_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define ATTEMPTS 40 // children of a killed writer may live a moment longer than it
#define PAUSE 50000 // us between two of them

static const char suffix[] = ".lock";

static bool parse(int file, ss_lock_holder *holder)
{
    char text[300];
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    *holder = (ss_lock_holder){0};
    if (length <= 0) return false;
    text[length] = '\0';
    char sharing[8] = "";
    int fields = sscanf(text, "%64s %d %7s %d %d %32s", holder->host, &holder->process, sharing,
                        &holder->done, &holder->total, holder->when);
    holder->is_alone = strcmp(sharing, "alone") == 0;
    return fields >= 3;
}

void ss_ledger_lock_tell(ss_ledger_lock *lock)
{
    char text[300];
    const ss_lock_holder *holder = &lock->holder;
    int length = snprintf(text, sizeof text, "%s %d %s %d %d %s", holder->host, holder->process,
                          holder->is_alone ? "alone" : "shares", holder->done, holder->total,
                          holder->when[0] ? holder->when : "-");
    if (lock->file < 0 || length < 0) return;

    // The same length every time, so that a reader never sees the end of an older text. What cannot be
    // written is only news.
    char line[256];
    memset(line, ' ', sizeof line);
    memcpy(line, text, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
    line[sizeof line - 1] = '\n';
    ssize_t written = pwrite(lock->file, line, sizeof line, 0);
    (void)written;
}

/* A lock without locks: the file was made by us, or by one that is dead. Two that find the same dead one at
 * the same moment can both get it; only file systems without locks have this gap. */
static bool is_abandoned(int file, const char *host)
{
    ss_lock_holder holder;
    return parse(file, &holder) && strcmp(holder.host, host) == 0 && holder.process > 0 &&
           kill(holder.process, 0) != 0 && errno == ESRCH;
}

bool ss_ledger_lock_take(ss_ledger_lock *lock, const char *path, ss_error *err)
{
    ss_text name = {0};
    ss_text_appendf(&name, "%s%s", path, suffix);
    *lock = (ss_ledger_lock){.file = -1, .holder.process = (int)getpid()};
    if (!name.out_of_memory) lock->name = ss_text_copy(ss_text_get(&name));
    ss_text_free(&name);
    if (gethostname(lock->holder.host, sizeof lock->holder.host - 1) != 0 || !lock->holder.host[0])
        memcpy(lock->holder.host, "unknown", sizeof "unknown");
    if (!lock->name) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);

    ss_lock_holder other = {0};
    bool unlockable = false;
    for (int attempt = 0; attempt <= ATTEMPTS; attempt++) {
        if (attempt > 0) usleep(PAUSE);
        int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK;
        int file = open(lock->name, flags | O_CREAT | O_EXCL, 0666);
        bool made = file >= 0;
        bool there_was_one = file < 0 && errno == EEXIST;
        if (there_was_one) file = open(lock->name, flags);
        if (there_was_one && file < 0 && errno == ENOENT) continue; // its owner has just left
        if (file < 0)
            return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));

        bool locked = flock(file, LOCK_EX | LOCK_NB) == 0;
        unlockable = !locked && errno != EWOULDBLOCK && errno != EINTR;
        if (unlockable && !made && is_abandoned(file, lock->holder.host)) unlink(lock->name);

        // An owner takes the file away when it leaves: the lock counts if the file still has its name.
        struct stat own, there;
        if ((locked || (unlockable && made)) && fstat(file, &own) == 0 && stat(lock->name, &there) == 0 &&
            own.st_dev == there.st_dev && own.st_ino == there.st_ino) {
            lock->file = file;
            lock->has_none = unlockable;
            ss_ledger_lock_tell(lock);
            return true;
        }
        parse(file, &other);
        close(file);
    }
    ss_release(lock->name);
    lock->name = NULL;
    if (!other.host[0]) return ss_fail(err, SS_ERROR_RESOURCES, "%s: another process is writing to it", path);
    return ss_fail(err, SS_ERROR_RESOURCES, "%s: another process is writing to it: %d on %s%s%s%s", path,
                   other.process, other.host, unlockable ? "; if it is dead, delete " : "",
                   unlockable ? path : "", unlockable ? suffix : "");
}

void ss_ledger_lock_release(ss_ledger_lock *lock)
{
    if (lock->file >= 0) {
        unlink(lock->name);
        flock(lock->file, LOCK_UN); // forked children may hold the same lock
        close(lock->file);
    }
    ss_release(lock->name);
    *lock = (ss_ledger_lock){.file = -1};
}

bool ss_ledger_lock_read(const char *path, ss_lock_holder *holder)
{
    char name[PATH_MAX + sizeof suffix], host[65] = "";
    snprintf(name, sizeof name, "%s%s", path, suffix);
    gethostname(host, sizeof host - 1);
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    bool free_now = flock(file, LOCK_SH | LOCK_NB) == 0;
    if (!free_now && errno != EWOULDBLOCK) free_now = is_abandoned(file, host);
    bool held = !free_now && parse(file, holder);
    close(file);
    return held;
}

bool ss_lacks_locks(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool lacks = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 && errno != EWOULDBLOCK && errno != EINTR;
    if (file >= 0) close(file);
    return lacks;
}

bool ss_is_on_network(const char *path)
{
    // Numbers that the kernel gives to file systems: NFS, Lustre, GPFS, CIFS, SMB 2, Ceph, AFS, BeeGFS,
    // OrangeFS, 9P, GFS2, OCFS2, FUSE (sshfs, GlusterFS, and some that are local), Coda.
    static const unsigned numbers[] = {0x6969,     0x0bd00bd0, 0x47504653, 0xff534d42, 0xfe534d42,
                                       0x00c36400, 0x5346414f, 0x19830326, 0x20030528, 0x01021997,
                                       0x01161970, 0x7461636f, 0x65735546, 0x73757245};
    struct statfs status;
    if (statfs(path, &status) != 0) {
        char folder[PATH_MAX];
        const char *slash = strrchr(path, '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
        if (statfs(folder, &status) != 0) return false;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((unsigned)status.f_type == numbers[i]) return true;
    return false;
}
