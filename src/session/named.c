#include "session/named.h"

#include "base/words.h"

const ss_solver *ss_solver_named(const char *name, ss_error *err)
{
    const ss_solver *found = ss_solver_find(name), *other;
    if (found) return found;
    ss_unknown unknown = ss_unknown_start("solver", name);
    for (int i = 0; (other = ss_solver_at(i)); i++) ss_unknown_offer(&unknown, other->name);
    ss_unknown_fail(&unknown, err);
    return NULL;
}

const ss_formulation *ss_formulation_named(const char *name, ss_error *err)
{
    const ss_formulation *found = ss_formulation_find(name), *other;
    if (found) return found;
    ss_unknown unknown = ss_unknown_start("formulation", name);
    for (int i = 0; (other = ss_formulation_at(i)); i++) ss_unknown_offer(&unknown, other->name);
    ss_unknown_fail(&unknown, err);
    return NULL;
}
