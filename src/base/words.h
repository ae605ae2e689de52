/* base/words.h - "did you mean": the candidate nearest to a word that was not found. */
#ifndef SS_BASE_WORDS_H
#define SS_BASE_WORDS_H

#include <stickslip/base.h>

#include "base/inner.h"

typedef struct ss_nearest {
    const char *word;
    const char *best; /* NULL while nothing is near enough to be a typing mistake */
    size_t best_length;
    int distance;
} ss_nearest;

SS_INNER ss_nearest ss_nearest_start(const char *word);
/* Offers the first `length` characters of a candidate; the earliest of equally near ones wins. */
void ss_nearest_offer_part(ss_nearest *nearest, const char *candidate, size_t length);
SS_INNER void ss_nearest_offer(ss_nearest *nearest, const char *candidate);

/* A name that was not found: offer every known name, then fail with the nearest one, or with all of them
 * where they fit. */
typedef struct ss_unknown {
    const char *kind; /* "solver" */
    ss_nearest nearest;
    char names[512];
    size_t length; /* of all names; if they do not fit, none is printed */
} ss_unknown;

SS_INNER ss_unknown ss_unknown_start(const char *kind, const char *name);
SS_INNER void ss_unknown_offer(ss_unknown *unknown, const char *candidate);
/* "unknown solver 'pgz'; did you mean pgs?". Returns false. */
SS_INNER bool ss_unknown_fail(const ss_unknown *unknown, ss_error *err);

#endif
