/* base/file.h - whole files in one go. */
#ifndef SS_BASE_FILE_H
#define SS_BASE_FILE_H

#include <stickslip/base.h>

#include "base/inner.h"

/* Writes a temporary file beside `path` and renames it over it: who looks finds the old contents or the new
 * ones, never a part. Refuses a path that is something else than a regular file. */
SS_INNER bool ss_file_replace(const char *path, const void *bytes, size_t size, ss_error *err);
/* The whole contents, followed by a zero byte that does not count; NULL with an error, also for more
 * than `most` bytes. */
SS_INNER unsigned char *ss_file_read(const char *path, size_t most, size_t *size, ss_error *err);
/* Makes a folder, unless it is there. */
SS_INNER bool ss_folder_make(const char *path, ss_error *err);
/* The last part of a path: "wall.h5" of "runs/wall.h5". */
SS_INNER const char *ss_path_name(const char *path);
/* Does the path of a file lead to a place in the folder that it begins at? It is relative, and none of its
 * parts is ".." or empty. */
SS_INNER bool ss_path_is_inside(const char *path);

#endif
