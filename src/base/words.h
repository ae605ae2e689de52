/* base/words.h - "did you mean": the candidate nearest to a word that was not found. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stddef.h>

typedef struct ss_nearest {
    const char *word;
    const char *best; /* NULL while nothing is near enough to be a typing mistake */
    size_t best_length;
    int distance;
} ss_nearest;

ss_nearest ss_nearest_start(const char *word);
/* Offers the first `length` characters of a candidate; the earliest of equally near ones wins. */
void ss_nearest_offer_part(ss_nearest *nearest, const char *candidate, size_t length);
void ss_nearest_offer(ss_nearest *nearest, const char *candidate);

#endif
