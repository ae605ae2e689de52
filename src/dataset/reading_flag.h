/* dataset/reading_flag.h - a flag that is 1 while HDF5 reads a file, in memory that another process sees:
 * when this one dies, the other knows whether the file is to blame. */
#ifndef SS_DATASET_READING_FLAG_H
#define SS_DATASET_READING_FLAG_H

#include "base/inner.h"

/* To be called before the first file is opened. NULL: there is no such flag. */
SS_INNER void ss_dataset_set_reading_flag(volatile int *flag);

#endif
