/* A directory of its own for a test that writes files, and ways to look at what is in it. */
#ifndef STICKSLIP_TEST_SCRATCH_H
#define STICKSLIP_TEST_SCRATCH_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct scratch {
    char directory[256];
    char file[512]; /* the file most tests need: DIRECTORY/frames.h5 */
} scratch;

static inline scratch scratch_open(void)
{
    scratch s = {"", ""};
    const char *parent = getenv("TMPDIR");
    snprintf(s.directory, sizeof s.directory, "%s/stickslip-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(s.directory)) {
        fprintf(stderr, "%s: cannot be created\n", s.directory);
        exit(1);
    }
    snprintf(s.file, sizeof s.file, "%s/frames.h5", s.directory);
    return s;
}

/* How many files there are; removes them if asked to. */
static inline int scratch_files(const scratch *s, bool remove_them)
{
    int count = 0;
    DIR *directory = opendir(s->directory);
    if (!directory) return -1;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", s->directory, entry->d_name);
        if (remove_them) remove(path);
        count++;
    }
    closedir(directory);
    return count;
}

static inline void scratch_close(const scratch *s)
{
    scratch_files(s, true);
    rmdir(s->directory);
}

/* All bytes of a file. Freed with free(); NULL when it cannot be read. */
typedef struct scratch_bytes {
    char *data;
    size_t size;
} scratch_bytes;

static inline scratch_bytes scratch_read(const char *path)
{
    scratch_bytes bytes = {NULL, 0};
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (!file) return bytes;
    if (fstat(fileno(file), &status) == 0) {
        bytes.size = (size_t)status.st_size;
        bytes.data = malloc(bytes.size + 1);
        if (bytes.data && fread(bytes.data, 1, bytes.size, file) != bytes.size) bytes.size = 0;
    }
    fclose(file);
    return bytes;
}

static inline bool scratch_unchanged(const char *path, scratch_bytes before)
{
    scratch_bytes now = scratch_read(path);
    bool same = now.data && now.size == before.size && memcmp(now.data, before.data, now.size) == 0;
    free(now.data);
    return same;
}

#endif
