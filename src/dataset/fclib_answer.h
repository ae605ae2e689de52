/* dataset/fclib_answer.h - our answers to problems of FCLIB, in the place of the stored solution. */
#ifndef SS_DATASET_FCLIB_ANSWER_H
#define SS_DATASET_FCLIB_ANSWER_H

#include <stickslip/dataset.h>

#include "base/inner.h"

/* x = (r, l) of ss_problem_from_cone becomes the solution; u and v follow from it. */
SS_INNER bool ss_fclib_answer(ss_fclib *file, const double *x, ss_error *err);

#endif
