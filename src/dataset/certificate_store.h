/* dataset/certificate_store.h - certificates in files: solver_data/<solver>/certificate. */
#ifndef SS_DATASET_CERTIFICATE_STORE_H
#define SS_DATASET_CERTIFICATE_STORE_H

#include "dataset/bpmd.h"

bool ss_writer_put_certificate(const ss_h5_group *solver, const ss_certificate *certificate, ss_error *err);
/* *certificate is NULL where none is stored. contacts: of the frame. */
bool ss_bpmd_read_certificate(const ss_bpmd_place *solver, int contacts, ss_certificate **certificate,
                              ss_error *err);

#endif
