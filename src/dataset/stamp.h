/* dataset/stamp.h - to which collection a file belongs: the attribute `collection` of its root, "NAME
 * VERSION", in BPMD and FCLIB files alike. */
#ifndef SS_DATASET_STAMP_H
#define SS_DATASET_STAMP_H

#include <stickslip/dataset.h>

#include "base/inner.h"

/* Replaces the file in one go by one with the stamp. */
SS_INNER bool ss_stamp_write(const char *path, const char *collection, ss_error *err);
/* "" where there is none, or where it does not fit. False when it is no HDF5 file. */
SS_INNER bool ss_stamp_read(const char *path, char *collection, size_t size, ss_error *err);

#endif
