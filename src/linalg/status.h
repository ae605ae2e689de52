/* linalg/status.h - how a factorisation or decomposition ended. A singular matrix is a numerical outcome, not
 * an error of the outside world: who asked decides what it means. */
#ifndef SS_LINALG_STATUS_H
#define SS_LINALG_STATUS_H

#include <stickslip/base.h>

typedef enum ss_linalg_status {
    SS_LINALG_OK,
    SS_LINALG_SINGULAR,
    SS_LINALG_NOT_POSITIVE,
    SS_LINALG_NOT_FINITE, /* the matrix holds NaN or infinity */
    SS_LINALG_NO_CONVERGENCE,
    SS_LINALG_NO_MEMORY,
    SS_LINALG_LATE, /* given up: it would have ended after its deadline */
} ss_linalg_status;

/* "the matrix is singular" */
const char *ss_linalg_status_text(ss_linalg_status status);
/* For those to whom it is an error after all: true for OK, otherwise fails with "WHAT: the matrix is
 * singular". */
bool ss_linalg_check(ss_linalg_status status, const char *what, ss_error *err);

#endif
