/* dataset/h5_disk.h - how HDF5 reaches the disk.
 *
 * HDF5 does not survive a failed write: a file that cannot be flushed cannot be closed, and the leftovers
 * crash the process when it ends (seen with 1.10). A full disk must not do that to the program we serve. So
 * HDF5 writes through a driver of ours, which keeps the first failure to itself: HDF5 finishes in good order,
 * and the owner of the file asks for the trouble and throws the file away.
 *
 * When we read, every open file has a descriptor of its own. HDF5's own driver opens a file once per process
 * and then shares it, also with files that a forked process has from its parent, and campaigns close those.
 */
#ifndef SS_DATASET_H5_DISK_H
#define SS_DATASET_H5_DISK_H

#include "dataset/h5_pages.h"

#include <hdf5.h>
#include <stdbool.h>

typedef struct ss_h5_disk {
    int descriptor;    /* open for reading and writing; the driver does not close it */
    int trouble;       /* errno of the first write that failed; 0 = all went well */
    haddr_t allocated; /* end of what HDF5 has given out */
    haddr_t guarded;   /* what lies before is not overwritten until the next seal; 0 = never sealed */
    ss_h5_pages pages; /* as they will be after it */
} ss_h5_disk;

/* After H5Fflush: makes the file on disk a whole one, which it stays, however the process ends, until the
 * next seal: what HDF5 writes meanwhile is kept aside or behind its end (h5_pages.h). Failures are
 * `trouble`, and leave the file as it was sealed before. */
void ss_h5_disk_seal(ss_h5_disk *disk);
/* For a process that has died: does what is left of the last seal. False with errno. */
bool ss_h5_disk_mend(int descriptor);
void ss_h5_disk_free(ss_h5_disk *disk); /* the pages */

/* Makes an access list use the driver. The name given to H5Fcreate or H5Fopen then has no meaning, and `disk`
 * must outlive the file. */
bool ss_h5_disk_use(hid_t access, ss_h5_disk *disk);
/* The same for reading: H5Fopen opens the file of the given name. *out_of_memory must live as long as that
 * call, and says why it failed. */
bool ss_h5_disk_read(hid_t access, bool *out_of_memory);

#endif
