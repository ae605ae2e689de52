/* dataset/h5_pages.h - pages of a file that are kept aside, so that the file can change at one blow.
 *
 * HDF5 overwrites what is in the file whenever it flushes, and a process that is killed meanwhile leaves a
 * file that cannot be opened. So, once a recording has been sealed (h5_disk.h), what lies before the
 * sealed end is not overwritten: changed pages stay in memory, and only new data goes to the file, behind
 * the end. The next seal appends the changed pages as a journal, then copies them to their places, then
 * cuts the journal off:
 *
 *     | sealed part | new data |                          killed here: the sealed part is a file
 *     | sealed part | new data | journal, tail |          here: sealed part + journal are the new file
 *     | changed .... | new data | journal, tail |         here: the same; copying twice does no harm
 *     | sealed part ............ |                        done
 *
 *     journal:  page number (u64) of every page, their bytes, 48 bytes of tail:
 *               "slipseal", offset of the journal, number of pages, end of the file before it, digest
 *
 * Words are as the machine stores them: a journal is read where it was written. */
#ifndef SS_DATASET_H5_PAGES_H
#define SS_DATASET_H5_PAGES_H

#include <stickslip/base.h>

enum { SS_H5_PAGE = 4096 };

typedef struct ss_h5_pages {
    uint64_t *number;      /* of each page: offset in the file / SS_H5_PAGE */
    unsigned char **bytes; /* of each page */
    int count, capacity;
    int *slots; /* hash table: index + 1 of a page, 0 = free; twice the capacity, a power of two */
} ss_h5_pages;

/* NULL when the page is not kept. */
unsigned char *ss_h5_pages_find(const ss_h5_pages *pages, uint64_t number);
/* Keeps a page that was not kept before, as zeros; NULL for lack of memory. */
unsigned char *ss_h5_pages_add(ss_h5_pages *pages, uint64_t number);
void ss_h5_pages_free(ss_h5_pages *pages); /* empty afterwards */

/* The three steps of a seal; false with errno. `at` is a multiple of SS_H5_PAGE. */
bool ss_h5_pages_append(const ss_h5_pages *pages, int descriptor, uint64_t at, uint64_t end);
bool ss_h5_pages_apply(const ss_h5_pages *pages, int descriptor, uint64_t end);
/* The journal at the end of a file, if there is a whole one; then *end is where the file ends without it.
 * False only for lack of memory. */
bool ss_h5_pages_read(ss_h5_pages *pages, int descriptor, bool *found, uint64_t *end);

#endif
