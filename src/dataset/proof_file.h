/* dataset/proof_file.h - proofs in files: the certified answer beside its frame, and what is stored there
 * proved again. */
#ifndef SS_DATASET_PROOF_FILE_H
#define SS_DATASET_PROOF_FILE_H

#include <stickslip/dataset.h>

#include "base/inner.h"
#include "session/prover.h"

#define SS_CERTIFIED_RESULT "certified" /* its name under solver_data */

/* The answer of a proof as a result of the frame written last; nothing when no method accepts the problem.
 * timed: with the seconds that it took, so that two files with the same answers differ. */
SS_INNER bool ss_writer_proof(ss_writer *writer, const ss_proof *proof, bool timed, ss_error *err);

/* A stored certificate must be what can be proved now: at least its level, at most its bounds, the same
 * states. What is recorded with it and not proved must be what it was: metrics and the error are measured
 * again, and everything has the digest of when it was stored. rerun: the second method runs again too, for
 * `agreed`; at level agreed, which rests on it, it always does. What is wrong goes to the findings, as does a
 * claim that its own members contradict; what cannot be proved again (laws without cones) is a warning.
 * False: something could not be computed. */
SS_INNER bool ss_stored_certificate_check(const ss_frame *frame, const ss_stored_result *result, bool rerun,
                                          const char *place, ss_findings *findings, ss_error *err);

#endif
