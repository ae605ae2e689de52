/* A frame from arrays that another program loaded. They are put into a file in memory, so that they go
 * through the one reader of frames: the same names, shapes, dialects and repairs. */
#include "dataset/bpmd.h"

#include <stdio.h>
#include <string.h>

#define FRAME "/mbs_frame000001"

enum { MOST_LEVELS = 8 };

/* Splits "bodies/masses" into its parts, in place. Returns their number, 0 if it is not a path. */
static int split(char *path, char *part[MOST_LEVELS])
{
    int count = 0;
    for (char *rest = path; rest; count++) {
        if (count == MOST_LEVELS) return 0;
        part[count] = rest;
        rest = strchr(rest, '/');
        if (rest) *rest++ = '\0';
        if (!part[count][0] || strcmp(part[count], ".") == 0) return 0;
    }
    return count;
}

/* Writes one array, and the groups on its way. */
static bool put(const ss_h5_group *frame, const ss_named_array *array, ss_error *err)
{
    char path[SS_H5_PATH], *part[MOST_LEVELS];
    int length = snprintf(path, sizeof path, "%s", array->path), parts;
    if (length >= (int)sizeof path || !(parts = split(path, part)))
        return ss_fail(err, SS_ERROR_USAGE, "\"%.100s\" is not the path of an array", array->path);
    if (array->rows < 0 || array->columns < 0 || (!array->values && array->rows > 0 && array->columns > 0))
        return ss_fail(err, SS_ERROR_USAGE, "%s: %d x %d numbers", array->path, array->rows, array->columns);

    ss_h5_group group[MOST_LEVELS] = {*frame};
    bool good = true;
    int depth = 0;
    for (; good && depth < parts - 1; depth++)
        good = ss_h5_has(&group[depth], part[depth])
                   ? ss_h5_enter_group(&group[depth], part[depth], &group[depth + 1], err)
                   : ss_h5_make_group(&group[depth], part[depth], &group[depth + 1], err);
    good = good && ss_h5_write_table(&group[depth], part[depth], SS_H5_F64, (uint64_t)array->rows,
                                     (uint64_t)array->columns, array->values, err);
    for (; depth > 0; depth--) ss_h5_leave_group(&group[depth]);
    return good;
}

/* The bytes of a file with one frame, to be released; NULL on failure. */
static void *make_image(const ss_named_array *arrays, int count, size_t *size, ss_error *err)
{
    static unsigned long made; // HDF5 takes two files of one name for one; the lock is held
    char name[40];
    snprintf(name, sizeof name, "arrays %lu", ++made);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, false);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file < 0) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a frame");
        return NULL;
    }

    ss_h5_group root = {.id = H5Gopen2(file, "/", H5P_DEFAULT), .file = "frame"}, frame = {.id = -1};
    bool good = ss_h5_make_group(&root, &FRAME[1], &frame, err);
    for (int i = 0; good && i < count; i++) good = put(&frame, &arrays[i], err);
    ss_h5_leave_group(&frame);
    ss_h5_leave_group(&root);

    ssize_t bytes = good && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : 0;
    void *image = bytes > 0 ? ss_allocate((size_t)bytes, 1) : NULL;
    if (image && H5Fget_file_image(file, image, (size_t)bytes) != bytes) {
        ss_release(image);
        image = NULL;
    }
    if (good && !image) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a frame");
    H5Fclose(file);
    *size = (size_t)bytes;
    return image;
}

ss_frame *ss_frame_from_arrays(const ss_named_array *arrays, int count, const ss_read_options *options,
                               ss_findings *findings, ss_error *err)
{
    size_t size;
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    void *image = make_image(arrays, count, &size, err);
    ss_h5_leave(&session);
    if (!image) return NULL;

    ss_bpmd *file = ss_bpmd_open_image(image, size, NULL, options, err);
    ss_frame *frame = file ? ss_bpmd_read(file, 0, findings, err) : NULL;
    ss_bpmd_close(file);
    ss_release(image);

    /* "image: /mbs_frame000001/bodies/masses: ..." is about an array of the caller, not about a file. */
    static const char place[] = "image: " FRAME;
    char *found = !frame && err ? strstr(err->message, place) : NULL;
    if (found) {
        size_t skip = sizeof place - 1;
        if (found[skip] == '/') skip++;
        bool whole = found[skip] == ':';
        memmove(found + (whole ? strlen("frame") : 0), found + skip, strlen(found + skip) + 1);
        if (whole) memcpy(found, "frame", strlen("frame"));
    }
    return frame;
}
