/* collection/hardness.h - how hard problems are, by what a ledger says: the share of solvers that fail. */
#ifndef SS_COLLECTION_HARDNESS_H
#define SS_COLLECTION_HARDNESS_H

#include "collection/index.h"

/* Sets hardness and tried of every problem that the ledger knows, by its hash. A solver solves a problem when
 * one of its methods has an answer whose relative energy error is at most SS_HARDNESS_TOLERANCE; solvers that
 * do not accept it do not count. */
#define SS_HARDNESS_TOLERANCE 1e-6
bool ss_hardness_read(const char *ledger, ss_collection_index *index, ss_error *err);

#endif
