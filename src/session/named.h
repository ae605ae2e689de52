/* session/named.h - solvers and formulations by name, with a helpful message where there is no such name. */
#ifndef SS_SESSION_NAMED_H
#define SS_SESSION_NAMED_H

#include <stickslip/formulation.h>
#include <stickslip/solver.h>

#include "base/inner.h"

/* Both fail with what was probably meant. */
SS_INNER const ss_solver *ss_solver_named(const char *name, ss_error *err);
SS_INNER const ss_formulation *ss_formulation_named(const char *name, ss_error *err);

#endif
