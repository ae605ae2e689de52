/* Files of others: real problems that are not in the repository, in the folder SS_SHARED_DATA (CTest:
 * ../shared/data beside the clone). A test that needs one is skipped without it; with
 * STICKSLIP_REQUIRE_DATA=1 that is a failure. */
#ifndef STICKSLIP_TEST_SHARED_DATA_H
#define STICKSLIP_TEST_SHARED_DATA_H

#include "kit.h"

#include <unistd.h>

static inline bool shared_path(char *path, size_t size, const char *kind, const char *name,
                               const char *suffix)
{
    const char *data = getenv("SS_SHARED_DATA");
    snprintf(path, size, "%s/%s/%s%s", data && *data ? data : "../shared/data", kind, name, suffix);
    return access(path, R_OK) == 0;
}

/* NEED_SHARED(path, "fclib", "CubeH8", ".hdf5")   fills the array `path`, or ends the test. */
#define NEED_SHARED(path, kind, name, suffix)                                                           \
    do {                                                                                                \
        if (!shared_path(path, sizeof path, kind, name, suffix))                                        \
            SKIP_UNLESS("STICKSLIP_REQUIRE_DATA", "the files of others are not here (SS_SHARED_DATA)"); \
    } while (0)

#endif
