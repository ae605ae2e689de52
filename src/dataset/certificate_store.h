/* dataset/certificate_store.h - certificates in files: solver_data/<solver>/certificate. */
#ifndef SS_DATASET_CERTIFICATE_STORE_H
#define SS_DATASET_CERTIFICATE_STORE_H

#include "dataset/bpmd.h"

/* Of everything that is stored with a certified answer, and of the answer: docs/format.md names the order. */
bool ss_stored_result_digest(const ss_stored_result *result, char digest[33], ss_error *err);
/* With the digest of the result, unless the certificate has one: a change since then stays visible. */
bool ss_writer_put_certificate(const ss_h5_group *solver, const ss_stored_result *result, ss_error *err);
/* *certificate is NULL where none is stored. contacts: of the frame. */
bool ss_bpmd_read_certificate(const ss_bpmd_place *solver, int contacts, ss_certificate **certificate,
                              ss_error *err);

#endif
