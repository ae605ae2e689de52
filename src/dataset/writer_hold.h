/* dataset/writer_hold.h - for those who record while something runs: a frame that is written in several calls
 * reaches the disk whole (ss_writer_survive), and shapes that become known one after the other. */
#ifndef SS_DATASET_WRITER_HOLD_H
#define SS_DATASET_WRITER_HOLD_H

#include <stickslip/dataset.h>

#include "base/inner.h"

/* Before the first call for a frame, and after the last one. */
SS_INNER void ss_writer_hold(ss_writer *writer);
SS_INNER bool ss_writer_let_go(ss_writer *writer, ss_error *err);
/* As ss_writer_shapes, any number of times: the later ones replace the earlier ones. */
SS_INNER bool ss_writer_replace_shapes(ss_writer *writer, const ss_stored_shape *shapes, int count,
                                       ss_error *err);

#endif
