/* solver/core/names.h - solvers that were renamed: what is stored or typed under an old name stays theirs. */
#ifndef SS_SOLVER_CORE_NAMES_H
#define SS_SOLVER_CORE_NAMES_H

#include <stickslip/solver.h>

#include "base/inner.h"

/* Do both name the same solver, or the same result of one? */
SS_INNER bool ss_solver_same(const char *one, const char *other);
/* The name under which a solver was first known: keys of ledgers are made of it, so that they stay. */
SS_INNER const char *ss_solver_former_name(const char *name);

#endif
