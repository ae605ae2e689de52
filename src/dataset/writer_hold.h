/* dataset/writer_hold.h - a frame that is written in several calls reaches the disk whole
 * (ss_writer_survive). */
#ifndef SS_DATASET_WRITER_HOLD_H
#define SS_DATASET_WRITER_HOLD_H

#include <stickslip/dataset.h>

#include "base/inner.h"

/* Before the first call for a frame, and after the last one. */
SS_INNER void ss_writer_hold(ss_writer *writer);
SS_INNER bool ss_writer_let_go(ss_writer *writer, ss_error *err);

#endif
