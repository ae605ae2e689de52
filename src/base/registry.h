/* base/registry.h - what has been registered from outside the library, by kind: the part of each list of
 * names that can grow. The lists themselves are in the rooms that they belong to (solver/registry.c ...),
 * where these come after what the library brings.
 *
 * Reading takes no lock and is safe at any time. Changes are made by one thread at a time
 * (plugin/plugin.c has the lock).
 */
#ifndef SS_BASE_REGISTRY_H
#define SS_BASE_REGISTRY_H

#include <stickslip/base.h>

#include "base/inner.h"

typedef enum ss_registered_kind {
    SS_REGISTERED_SOLVERS,
    SS_REGISTERED_FORMULATIONS,
    SS_REGISTERED_METRICS,
    SS_REGISTERED_SCENES,
    SS_REGISTERED_HOOKS,
    SS_REGISTERED_KINDS
} ss_registered_kind;

enum { SS_REGISTERED_MOST = 1000 }; /* of each kind */

SS_INNER int ss_registered_count(ss_registered_kind kind);
const void *ss_registered_at(ss_registered_kind kind, int index); /* NULL beyond the last */

SS_INNER bool ss_is_registered(ss_registered_kind kind, const void *item);

bool ss_registered_add(ss_registered_kind kind, const void *item); /* false when there is no room */
void ss_registered_remove(ss_registered_kind kind, const void *item);

#endif
