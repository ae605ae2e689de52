/* cli/terminal/diagnose.h - what is wrong with a problem, as solve and check print it. */
#ifndef SS_CLI_TERMINAL_DIAGNOSE_H
#define SS_CLI_TERMINAL_DIAGNOSE_H

#include <stickslip/diagnosis.h>

#include "base/text.h"

/* A diagnosis that calls bodies by their numbers in the frame; frame: NULL for a problem of FCLIB. ray: of a
 * run that ended with one; NULL: it is searched for. */
bool ss_diagnose_frame(const ss_frame *frame, const ss_problem *problem, const ss_ray *ray,
                       ss_diagnosis *diagnosis, ss_error *err);
/* The key "diagnosis": unknowns, rank, and a list of complaints. */
void ss_diagnosis_json(ss_json *json, const ss_diagnosis *diagnosis);
/* "MESSAGE: ADVICE" */
void ss_complaint_print(const ss_complaint *complaint, ss_text *text);

#endif
