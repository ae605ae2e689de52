#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ss_file_replace(const char *path, const void *bytes, size_t size, ss_error *err)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: not a regular file", path);
    ss_text temporary = {0};
    ss_text_appendf(&temporary, "%s.%ld.partial", path, (long)getpid());
    if (temporary.out_of_memory) {
        ss_text_free(&temporary);
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    }
    unlink(temporary.data); // left by a killed process of the same number, or laid out for us by another user

    // On disk first, then under its name.
    int descriptor = open(temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool made = descriptor >= 0, good = made;
    const char *data = bytes;
    while (good && size > 0) {
        ssize_t done = write(descriptor, data, size);
        if (done < 0 && errno == EINTR) continue;
        good = done >= 0;
        if (good) data += done, size -= (size_t)done;
    }
    good = good && fsync(descriptor) == 0;
    if (made) good = close(descriptor) == 0 && good;
    good = good && rename(temporary.data, path) == 0;

    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));
    if (made && !good) unlink(temporary.data);
    ss_text_free(&temporary);
    return good;
}

unsigned char *ss_file_read(const char *path, size_t most, size_t *size, ss_error *err)
{
    struct stat status;
    unsigned char *data = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        ss_fail(err, SS_ERROR_INPUT, "%s: not a regular file", path);
    else if ((uintmax_t)status.st_size > most)
        ss_fail(err, SS_ERROR_INPUT, "%s: %lld bytes, more than the limit of %zu", path,
                (long long)status.st_size, most);
    else if (!(data = ss_allocate((size_t)status.st_size + 1, 1)))
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory for %lld bytes", path, (long long)status.st_size);

    size_t got = 0, whole = data ? (size_t)status.st_size : 0;
    while (got < whole) {
        ssize_t done = read(descriptor, data + got, whole - got);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = EIO; // shorter than it was a moment ago
        if (done <= 0) break;
        got += (size_t)done;
    }
    if (got < whole) {
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
        ss_release(data);
        data = NULL;
    }
    if (data) *size = whole;
    close(descriptor);
    return data;
}

const char *ss_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool ss_path_is_inside(const char *path)
{
    for (const char *part = path;; part++) {
        size_t length = strcspn(part, "/");
        if (length == 0 || (length == 2 && strncmp(part, "..", 2) == 0)) return false;
        part += length;
        if (!*part) return true;
    }
}

bool ss_folder_make(const char *path, ss_error *err)
{
    struct stat what;
    if (mkdir(path, 0777) == 0) return true;
    if (errno != EEXIST) return ss_fail(err, SS_ERROR_RESOURCES, "%s: %s", path, strerror(errno));
    return (stat(path, &what) == 0 && S_ISDIR(what.st_mode)) ||
           ss_fail(err, SS_ERROR_USAGE, "%s: exists, and is not a folder", path);
}
