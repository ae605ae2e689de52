/* campaign/features.h - what kind of problem it is: numbers that times and errors are held against. */
#ifndef SS_CAMPAIGN_FEATURES_H
#define SS_CAMPAIGN_FEATURES_H

#include "campaign/ledger.h"

#include <stickslip/frame.h>

/* 128-bit hash of every number of the problem, as ss_frame_hash is of a frame. */
void ss_cone_hash(const ss_cone *cone, char text[33]);

/* Counts, ratios and friction; texts are left alone. */
bool ss_features_of_frame(const ss_frame *frame, ss_problem_entry *entry, ss_error *err);
/* `problem` was made from the cone. */
bool ss_features_of_cone(const ss_cone *cone, const ss_problem *problem, ss_problem_entry *entry,
                         ss_error *err);

/* Rank over size of a symmetric, positive semidefinite matrix, whose diagonal is scaled to 1; NaN when it is
 * empty or larger than SS_MOST_RANK_ROWS. */
#define SS_MOST_RANK_ROWS 1200
bool ss_rank_ratio(const ss_sparse *matrix, double *ratio, ss_error *err);

#endif
