/* A file system as SQLite sees it where processes cannot map shared memory, as on most networks: the usual
 * one without these methods. Registered as the default, so that whoever opens a file gets it. */
#ifndef STICKSLIP_TEST_WITHOUT_SHARED_MEMORY_H
#define STICKSLIP_TEST_WITHOUT_SHARED_MEMORY_H

#include <sqlite3.h>
#include <stddef.h>

static sqlite3_vfs *usual_system, poor_system;
/* Journals have methods of their own, which lock nothing. */
static const sqlite3_io_methods *usual_methods[4];
static sqlite3_io_methods poor_methods[4];

static int open_without_shared_memory(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                                      int *got)
{
    (void)vfs;
    int code = usual_system->xOpen(usual_system, name, file, flags, got);
    if (code != SQLITE_OK || !file->pMethods) return code;
    int i = 0;
    while (i < 3 && usual_methods[i] && usual_methods[i] != file->pMethods) i++;
    usual_methods[i] = file->pMethods;
    poor_methods[i] = *file->pMethods;
    poor_methods[i].iVersion = 1; // xShmMap and its friends came with version 2
    file->pMethods = &poor_methods[i];
    return code;
}

static inline void use_files_without_shared_memory(void)
{
    usual_system = sqlite3_vfs_find(NULL);
    poor_system = *usual_system;
    poor_system.zName = "without-shared-memory";
    poor_system.xOpen = open_without_shared_memory;
    poor_system.pNext = NULL;
    sqlite3_vfs_register(&poor_system, 1);
}

static inline void use_the_usual_files(void)
{
    sqlite3_vfs_unregister(&poor_system);
}

#endif
