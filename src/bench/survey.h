/* bench/survey.h - what workers found in files, on the caller's side. */
#ifndef SS_BENCH_SURVEY_H
#define SS_BENCH_SURVEY_H

#include "bench/labour.h"

/* What is in a source: frames begin .. end - 1, or problems of these kinds. */
typedef struct ss_source_contents {
    ss_format format;
    int begin, end;
    ss_fclib_kind kinds[3];
    int kind_count;
    char *fault; /* why it cannot be used at all; NULL = it can */
} ss_source_contents;
bool ss_survey_unpack_source(ss_unpacker *from, ss_source_contents *contents);

/* Hash, place, scene, fault and numbers of an entry; file, format and index are the caller's. */
void ss_survey_pack(const ss_problem_entry *entry, ss_text *to);
/* False when the bytes make no sense; texts are to be cleared in any case. */
bool ss_survey_unpack(ss_unpacker *from, ss_problem_entry *entry);
/* The entry of a problem that a worker died of. */
bool ss_survey_fail(ss_problem_entry *entry, const char *place, const char *path, const char *fault,
                    ss_error *err);
/* The entry of a whole file that cannot be used: place "/", no format. */
bool ss_survey_refuse(ss_problem_entry *entry, const char *path, const char *fault, ss_error *err);
/* What is wrong, without the name of the file in front, which entries have already. */
const char *ss_survey_fault(const ss_error *err, const char *path);
void ss_survey_clear(ss_problem_entry *entry); /* releases the texts that were unpacked */

#endif
