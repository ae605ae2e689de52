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

/* A stored certificate must be what the verifier finds now: at least its level, at most its bounds, the same
 * states. Beyond level backward, and without cones, it is not proved again: certify does that. What is wrong
 * goes to the findings, as does a claim that its own members contradict. False: the verifier could not be
 * run. */
SS_INNER bool ss_stored_certificate_check(const ss_frame *frame, const ss_stored_result *result,
                                          const char *place, ss_findings *findings, ss_error *err);

#endif
