#include "linalg/status.h"

const char *ss_linalg_status_text(ss_linalg_status status)
{
    switch (status) {
    case SS_LINALG_OK:
        return "done";
    case SS_LINALG_SINGULAR:
        return "the matrix is singular";
    case SS_LINALG_NOT_POSITIVE:
        return "the matrix is not positive definite";
    case SS_LINALG_NOT_FINITE:
        return "the matrix contains non-finite numbers";
    case SS_LINALG_NO_CONVERGENCE:
        return "the eigenvalues or singular values did not converge";
    case SS_LINALG_NO_MEMORY:
        return "out of memory";
    case SS_LINALG_LATE:
        return "the time was up";
    }
    return "unknown";
}

bool ss_linalg_check(ss_linalg_status status, const char *what, ss_error *err)
{
    if (status == SS_LINALG_OK) return true;
    ss_error_code code = status == SS_LINALG_NO_MEMORY ? SS_ERROR_RESOURCES : SS_ERROR_INPUT;
    return ss_fail(err, code, "%s: %s", what, ss_linalg_status_text(status));
}
