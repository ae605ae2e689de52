#define _GNU_SOURCE
#include "dataset/h5.h"
#include "dataset/h5_disk.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail_write(const ss_h5_group *group, const char *name, ss_error *err)
{
    char path[SS_H5_PATH];
    bool whole = ss_h5_join(group, name, path);
    return ss_fail(err, SS_ERROR_RESOURCES, "%s: %s%s: cannot be written (does it exist already?)",
                   group->file, path, whole ? "" : "...");
}

bool ss_h5_make_group(const ss_h5_group *parent, const char *name, ss_h5_group *group, ss_error *err)
{
    *group = (ss_h5_group){.id = -1, .file = parent->file, .max_bytes = parent->max_bytes};
    if (!ss_h5_join(parent, name, group->path)) return fail_write(parent, name, err);
    group->id = H5Gcreate2(parent->id, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return group->id >= 0 || fail_write(parent, name, err);
}

/* Without the time of its making, so that the same data give the same bytes. */
static hid_t create_dataset(const ss_h5_group *group, const char *name, hid_t type, hid_t space)
{
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, false);
    hid_t dataset = H5Dcreate2(group->id, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    return dataset;
}

bool ss_h5_write(const ss_h5_group *group, const char *name, ss_h5_type type, int rank,
                 const uint64_t *extent, const void *values, ss_error *err)
{
    /* Files are little-endian, whatever the machine is. */
    const hid_t in_memory[] = {[SS_H5_F64] = H5T_NATIVE_DOUBLE,
                               [SS_H5_I32] = H5T_NATIVE_INT32,
                               [SS_H5_U64] = H5T_NATIVE_UINT64,
                               [SS_H5_U8] = H5T_NATIVE_UINT8};
    const hid_t in_file[] = {[SS_H5_F64] = H5T_IEEE_F64LE,
                             [SS_H5_I32] = H5T_STD_I32LE,
                             [SS_H5_U64] = H5T_STD_U64LE,
                             [SS_H5_U8] = H5T_STD_U8LE};
    hsize_t dimensions[8];
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        dimensions[i] = extent[i];
        empty = empty || extent[i] == 0;
    }

    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dimensions, NULL);
    hid_t dataset = create_dataset(group, name, in_file[type], space);
    bool good = dataset >= 0 &&
                (empty || H5Dwrite(dataset, in_memory[type], H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (dataset >= 0) good = H5Dclose(dataset) >= 0 && good;
    H5Sclose(space);
    return good || fail_write(group, name, err);
}

bool ss_h5_write_table(const ss_h5_group *group, const char *name, ss_h5_type type, uint64_t rows,
                       uint64_t columns, const void *values, ss_error *err)
{
    int rank = rows * columns == 1 ? 0 : 2;
    return ss_h5_write(group, name, type, rank, (uint64_t[]){rows, columns}, values, err);
}

/* Never labelled as UTF-8, whatever the text: Octave's load gives up on the whole file when it
 * meets that label. */
static hid_t text_type(const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_strpad(type, H5T_STR_NULLTERM);
    return type;
}

bool ss_h5_write_text(const ss_h5_group *group, const char *name, const char *text, ss_error *err)
{
    hid_t type = text_type(text), space = H5Screate(H5S_SCALAR);
    hid_t dataset = create_dataset(group, name, type, space);
    bool good = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (dataset >= 0) good = H5Dclose(dataset) >= 0 && good;
    H5Sclose(space);
    H5Tclose(type);
    return good || fail_write(group, name, err);
}

static bool write_attribute(hid_t object, const char *name, const char *text)
{
    hid_t type = text_type(text), space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    if (attribute >= 0) good = H5Aclose(attribute) >= 0 && good;
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

bool ss_h5_write_text_attribute(const ss_h5_group *group, const char *name, const char *text, ss_error *err)
{
    return write_attribute(group->id, name, text) || fail_write(group, name, err);
}

bool ss_h5_mark(const ss_h5_group *group, const char *dataset, const char *attribute, const char *text,
                ss_error *err)
{
    hid_t id = H5Dopen2(group->id, dataset, H5P_DEFAULT);
    bool good = id >= 0 && write_attribute(id, attribute, text);
    if (id >= 0) H5Dclose(id);
    return good || fail_write(group, dataset, err);
}

/* ---- replacing a file safely ------------------------------------------------------------------------ */

static bool fail_system(const char *file, const char *what, ss_error *err)
{
    return ss_fail(err, SS_ERROR_RESOURCES, "%s: %s: %s", file, what, strerror(errno));
}

static bool copy_bytes(int from, int to)
{
    static const size_t whole = (size_t)1 << 30;
    for (;;) {
        ssize_t moved = copy_file_range(from, NULL, to, NULL, whole, 0);
        if (moved == 0) return true;
        if (moved < 0) break;
    }
    if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return false;
    char buffer[1 << 16];
    for (;;) {
        ssize_t got = read(from, buffer, sizeof buffer);
        if (got <= 0) return got == 0;
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(to, buffer + done, (size_t)(got - done));
            if (put < 0) return false;
            done += put;
        }
    }
}

/* Fills the temporary file with what the target holds; a target that does not exist yet is fine. */
static bool copy_target(ss_h5_output *output, ss_error *err)
{
    int from = open(output->target, O_RDONLY | O_CLOEXEC);
    if (from < 0) return errno == ENOENT || fail_system(output->target, "cannot be read", err);
    bool good = (fstat(from, &output->origin) == 0 && copy_bytes(from, output->disk->descriptor)) ||
                fail_system(output->target, "cannot be copied", err);
    output->is_copy = good;
    close(from);
    return good;
}

static bool target_is_unchanged(const ss_h5_output *output)
{
    const struct stat *then = &output->origin;
    struct stat now;
    if (stat(output->target, &now) != 0) return !output->is_copy;
    return output->is_copy && now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
           now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

enum { NAME_ROOM = 40, NAME_ATTEMPTS = 1000 };

/* Process and attempt number. Leftovers of a killed process only cost an attempt. */
static void name_beside(const char *target, int attempt, char *name)
{
    snprintf(name, strlen(target) + NAME_ROOM, "%s.%ld-%d.partial", target, (long)getpid(), attempt);
}

char *ss_h5_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = ss_text_copy(slash ? path : ".");
    if (slash && directory) directory[slash == path ? 1 : slash - path] = '\0';
    return directory;
}

#ifdef O_TMPFILE
static void name_of_descriptor(int descriptor, char name[32])
{
    snprintf(name, 32, "/proc/self/fd/%d", descriptor);
}
#endif

/* A file without a name: it disappears with the process, however that ends. -1 where the system has none;
 * then the file gets a name at once. */
static int create_nameless(const char *directory)
{
#ifdef O_TMPFILE
    char name[32];
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor < 0) return -1;
    name_of_descriptor(descriptor, name);
    if (access(name, F_OK) == 0) return descriptor;
    close(descriptor); // without /proc it could never get a name
#else
    (void)directory;
#endif
    return -1;
}

/* Gives the temporary file a name, if it has none yet, so that it can replace the target. */
static bool give_name(ss_h5_output *output, ss_error *err)
{
    if (output->temporary) return true;
#ifdef O_TMPFILE
    char from[32], *name = ss_allocate(strlen(output->target) + NAME_ROOM, 1);
    if (!name) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", output->target);
    name_of_descriptor(output->disk->descriptor, from);
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        name_beside(output->target, attempt, name);
        if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            output->temporary = name;
            return true;
        }
        if (errno != EEXIST) break;
    }
    ss_release(name);
#endif
    return fail_system(output->target, "cannot be written", err);
}

static bool make_temporary(const char *target, bool copy_existing, ss_h5_output *output, ss_error *err)
{
    /* A device, a pipe or a socket must not give its place to a file. */
    struct stat status;
    bool exists = stat(target, &status) == 0;
    if (exists && !S_ISREG(status.st_mode))
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: is not a regular file and will not be replaced", target);

    output->target = ss_text_copy(target);
    output->disk = ss_allocate(1, sizeof *output->disk);
    if (output->disk) output->disk->descriptor = -1;
    char *directory = ss_h5_directory_of(target);
    if (!output->target || !output->disk || !directory) {
        ss_release(directory);
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", target);
    }
    int descriptor = create_nameless(directory);
    ss_release(directory);

    /* Otherwise a new file under a name that is not in use yet. */
    if (descriptor < 0) {
        char *name = ss_allocate(strlen(target) + NAME_ROOM, 1);
        if (!name) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", target);
        for (int attempt = 0; descriptor < 0 && attempt < NAME_ATTEMPTS; attempt++) {
            name_beside(target, attempt, name);
            descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (descriptor < 0 && errno != EEXIST) break;
        }
        if (descriptor < 0) {
            fail_system(target, "cannot be created", err);
            ss_release(name);
            return false;
        }
        output->temporary = name;
    }
    output->disk->descriptor = descriptor;

    /* The file that takes the place of another stays as readable as that one was. */
    if (exists) (void)!fchmod(descriptor, status.st_mode & 0777);
    return !copy_existing || copy_target(output, err);
}

static hid_t output_access(ss_h5_disk *disk)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    H5Pset_file_locking(access, false, true);
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
    H5Pset_meta_block_size(access, 1 << 16); // many small objects: fewer, larger metadata writes
    H5Pset_sieve_buf_size(access, 1);        // data sets are written whole
    if (ss_h5_disk_use(access, disk)) return access;
    H5Pclose(access);
    return -1;
}

bool ss_h5_output_open(const char *target, bool copy_existing, double max_bytes, ss_h5_output *output,
                       ss_error *err)
{
    *output = (ss_h5_output){.file_id = -1, .root = {.id = -1}};
    output->appends = copy_existing;

    bool good = make_temporary(target, copy_existing, output, err);

    if (good) {
        bool copied = output->is_copy;
        hid_t access = output_access(output->disk);
        output->file_id = access < 0 ? -1
                          : copied   ? H5Fopen(target, H5F_ACC_RDWR, access)
                                     : H5Fcreate(target, H5F_ACC_TRUNC, H5P_DEFAULT, access);
        if (access >= 0) H5Pclose(access);
        good = output->file_id >= 0 ||
               ss_fail(err, copied ? SS_ERROR_INPUT : SS_ERROR_RESOURCES, "%s: %s", target,
                       copied ? "not an HDF5 file, cannot append to it" : "cannot be created");
    }

    if (good) {
        output->root = (ss_h5_group){.id = H5Gopen2(output->file_id, "/", H5P_DEFAULT),
                                     .file = output->target,
                                     .max_bytes = max_bytes};
        strcpy(output->root.path, "/");
        good =
            output->root.id >= 0 || ss_fail(err, SS_ERROR_INPUT, "%s: damaged, cannot append to it", target);
    }

    if (!good) ss_h5_output_discard(output);
    return good;
}

/* Best effort: some file systems refuse it, and the file itself is safe already. */
void ss_h5_sync_directory_of(const char *path)
{
    char *directory = ss_h5_directory_of(path);
    int descriptor = directory ? open(directory, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        (void)!fsync(descriptor);
        close(descriptor);
    }
    ss_release(directory);
}

bool ss_h5_output_check(const ss_h5_output *output, ss_error *err)
{
    errno = output->disk->trouble;
    return errno == 0 || fail_system(output->target, "cannot be written", err);
}

static void forget_output(ss_h5_output *output)
{
    if (output->disk && output->disk->descriptor >= 0) close(output->disk->descriptor);
    if (output->disk) ss_h5_disk_free(output->disk);
    ss_release(output->disk);
    ss_release(output->target);
    ss_release(output->temporary);
    *output = (ss_h5_output){.file_id = -1, .root = {.id = -1}};
}

bool ss_h5_output_commit(ss_h5_output *output, ss_error *err)
{
    bool good = H5Fflush(output->file_id, H5F_SCOPE_GLOBAL) >= 0;
    good = H5Fclose(output->file_id) >= 0 && good;
    output->file_id = -1;
    output->root.id = -1;
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be completed", output->target);
    if (good && output->sealed) ss_h5_disk_seal(output->disk);

    good = good && ss_h5_output_check(output, err);
    good = good &&
           (fsync(output->disk->descriptor) == 0 || fail_system(output->target, "cannot be written", err)) &&
           give_name(output, err);

    /* What was appended to must still be what the target is. */
    if (good && output->appends && !target_is_unchanged(output)) {
        ss_fail(err, SS_ERROR_RESOURCES,
                "%s: was changed by another process in the meantime; the additions are in %s", output->target,
                output->temporary);
        forget_output(output);
        return false;
    }

    if (good && rename(output->temporary, output->target) != 0)
        good = fail_system(output->target, "cannot be written", err);
    if (good) {
        ss_h5_sync_directory_of(output->target);
        forget_output(output);
    } else {
        ss_h5_output_abandon(output);
    }
    return good;
}

void ss_h5_output_discard(ss_h5_output *output)
{
    if (output->file_id >= 0) H5Fclose(output->file_id);
    if (output->temporary) unlink(output->temporary);
    forget_output(output);
}

bool ss_h5_output_seal(ss_h5_output *output, ss_error *err)
{
    if (H5Fflush(output->file_id, H5F_SCOPE_GLOBAL) < 0)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be flushed", output->target);
    ss_h5_disk_seal(output->disk);
    if (!ss_h5_output_check(output, err)) return false;
    if (output->sealed) return true;
    (void)!flock(output->disk->descriptor, LOCK_EX | LOCK_NB); // where there are no locks, the number must do
    if (!give_name(output, err)) return false;
    ss_h5_sync_directory_of(output->target);
    output->sealed = true;
    return true;
}

void ss_h5_output_abandon(ss_h5_output *output)
{
    if (!output->sealed) {
        ss_h5_output_discard(output);
        return;
    }
    if (output->disk->trouble == 0) output->disk->trouble = EIO; // nothing more reaches the file
    if (output->file_id >= 0) H5Fclose(output->file_id);
    forget_output(output);
}

/* ---- leftovers -------------------------------------------------------------------------------------- */

long ss_h5_partial_process(const char *name, size_t *length)
{
    static const char ending[] = ".partial";
    size_t size = strlen(name), last = sizeof ending - 1;
    if (size <= last || strcmp(name + size - last, ending) != 0) return 0;
    const char *c = name + size - last;
    while (c > name && isdigit((unsigned char)c[-1])) c--;
    if (c == name || c[-1] != '-' || c == name + size - last) return 0;
    const char *number = --c;
    while (number > name && isdigit((unsigned char)number[-1])) number--;
    if (number == c || number - name < 2 || number[-1] != '.') return 0;
    if (length) *length = (size_t)(number - 1 - name);
    return strtol(number, NULL, 10);
}

char *ss_h5_ring_of(const char *partial)
{
    char *name = ss_text_copy(partial);
    if (name) strcpy(name + strlen(name) - strlen("partial"), "ring");
    return name;
}

bool ss_h5_partial_mend(const char *path, int *descriptor, ss_error *err)
{
    *descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (*descriptor < 0) return fail_system(path, "cannot be opened", err);
    bool good = flock(*descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (!good)
        ss_fail(err, SS_ERROR_INPUT, "%s: is still being written, by process %ld", path,
                ss_h5_partial_process(path, NULL));

    good = good && (ss_h5_disk_mend(*descriptor) || fail_system(path, "cannot be completed", err));
    if (good) {
        // cuts off what was written after the last seal, and forgets that the file was open for writing
        ss_h5_disk disk = {.descriptor = *descriptor};
        hid_t access = output_access(&disk);
        bool clear = true;
        if (access >= 0 && H5Pexist(access, "clear_status_flags") > 0)
            H5Pset(access, "clear_status_flags", &clear);
        hid_t file = access >= 0 ? H5Fopen(path, H5F_ACC_RDWR, access) : -1;
        if (access >= 0) H5Pclose(access);
        good = (file >= 0 && H5Fclose(file) >= 0) ||
               ss_fail(err, SS_ERROR_INPUT, "%s: holds nothing that could be recovered", path);
        ss_h5_disk_free(&disk);
        errno = disk.trouble;
        if (good && disk.trouble) good = fail_system(path, "cannot be completed", err);
        good = good && (fsync(*descriptor) == 0 || fail_system(path, "cannot be completed", err));
    }

    if (good) return true;
    close(*descriptor);
    *descriptor = -1;
    return false;
}
