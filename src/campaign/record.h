/* campaign/record.h - what a ledger keeps of a result, and its way from the worker to the ledger. */
#ifndef SS_CAMPAIGN_RECORD_H
#define SS_CAMPAIGN_RECORD_H

#include "campaign/ledger.h"
#include "campaign/wire.h"

#include <stickslip/dataset.h>
#include <stickslip/session.h>

/* Everything but ids and `started`. The history is thinned to the grid, crossings are found in all of it. On
 * failure there is nothing to clear. */
bool ss_record_make(const ss_result *result, ss_run_entry *run, ss_error *err);
/* The same of an answer that was found in a file. metrics NULL: it is incomplete and was not judged. */
bool ss_record_stored(const ss_stored_result *stored, const ss_metric_value *metrics,
                      const ss_contact_report *contacts, ss_run_entry *run, ss_error *err);
void ss_record_clear(ss_run_entry *run);

/* 32 hex digits of the bits of x. */
void ss_record_answer(const double *x, int size, char text[33]);

void ss_record_pack(const ss_run_entry *run, ss_text *to);
/* False when the bytes are not a record, or for lack of memory; nothing to clear then. Where metrics do not
 * apply, `why` belongs to the record: ss_record_clear releases it. */
bool ss_record_unpack(ss_unpacker *from, ss_run_entry *run);

#endif
