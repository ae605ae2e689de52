#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail_system(const char *path, ss_error *err)
{
    return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));
}

static bool write_all(int descriptor, const unsigned char *data, size_t length)
{
    while (length > 0) {
        ssize_t done = write(descriptor, data, length);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        data += done;
        length -= (size_t)done;
    }
    return true;
}

static bool replace(const char *path, const char *temporary, const void *bytes, size_t size, ss_error *err)
{
    unlink(temporary); // left by a killed process of the same number, or laid out for us by another user
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail_system(path, err);
    bool good = write_all(descriptor, bytes, size) && fsync(descriptor) == 0;
    good = close(descriptor) == 0 && good;
    if (good && rename(temporary, path) == 0) return true;
    fail_system(path, err);
    unlink(temporary);
    return false;
}

bool ss_file_replace(const char *path, const void *bytes, size_t size, ss_error *err)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: not a regular file", path);
    ss_text temporary = {0};
    ss_text_appendf(&temporary, "%s.%ld.partial", path, (long)getpid());
    bool good = temporary.out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path)
                                        : replace(path, ss_text_get(&temporary), bytes, size, err);
    ss_text_free(&temporary);
    return good;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static bool read_all(int descriptor, unsigned char *data, size_t length)
{
    while (length > 0) {
        ssize_t done = read(descriptor, data, length);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = EIO; // shorter than it was a moment ago
        if (done <= 0) return false;
        data += done;
        length -= (size_t)done;
    }
    return true;
}

static unsigned char *read_open(const char *path, int descriptor, size_t most, size_t *size, ss_error *err)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        ss_fail(err, SS_ERROR_INPUT, "%s: not a regular file", path);
        return NULL;
    }
    if ((uintmax_t)status.st_size > most) {
        ss_fail(err, SS_ERROR_INPUT, "%s: %lld bytes, more than the limit of %zu", path,
                (long long)status.st_size, most);
        return NULL;
    }
    unsigned char *data = ss_allocate((size_t)status.st_size + 1, 1);
    if (!data) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory for %lld bytes", path, (long long)status.st_size);
        return NULL;
    }
    if (!read_all(descriptor, data, (size_t)status.st_size)) {
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
        ss_release(data);
        return NULL;
    }
    *size = (size_t)status.st_size;
    return data;
}

unsigned char *ss_file_read(const char *path, size_t most, size_t *size, ss_error *err)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    unsigned char *data = read_open(path, descriptor, most, size, err);
    close(descriptor);
    return data;
}
