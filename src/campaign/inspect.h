/* campaign/inspect.h - what is in input files: found by workers (SS_TASK_OPEN, SS_TASK_INSPECT), unpacked by
 * the process that runs the campaign. */
#ifndef SS_CAMPAIGN_INSPECT_H
#define SS_CAMPAIGN_INSPECT_H

#include "campaign/worker_tasks.h"

/* What is in a source: frames begin .. end - 1, or problems of these kinds. */
typedef struct ss_source_contents {
    ss_format format;
    int begin, end;
    ss_fclib_kind kinds[3];
    int kind_count;
    char *fault; /* why it cannot be used at all; NULL = it can */
} ss_source_contents;
bool ss_source_contents_unpack(ss_unpacker *from, ss_source_contents *contents);

/* Hash, place, scene, fault and numbers of an entry; file, format and index are the caller's. */
void ss_problem_entry_pack(const ss_problem_entry *entry, ss_text *to);
/* False when the bytes make no sense; texts are to be cleared in any case. */
bool ss_problem_entry_unpack(ss_unpacker *from, ss_problem_entry *entry);
/* The entry of a problem that a worker died of. */
bool ss_problem_entry_fail(ss_problem_entry *entry, const char *place, const char *path, const char *fault,
                           ss_error *err);
/* The entry of a whole file that cannot be used: place "/", no format. */
bool ss_problem_entry_refuse(ss_problem_entry *entry, const char *path, const char *fault, ss_error *err);
/* What is wrong, without the name of the file in front, which entries have already. */
const char *ss_fault_without_path(const ss_error *err, const char *path);
void ss_problem_entry_clear(ss_problem_entry *entry); /* releases the texts that were unpacked */

#endif
