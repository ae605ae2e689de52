/* strnlen is POSIX 2008 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_WORD ((size_t)63) // longer ones are not typing mistakes

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edits between two words: insert, delete, replace, or swap two neighbours, one each (optimal string
 * alignment). */
static int edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int rows[3][LONGEST_WORD + 1];
    int *before = rows[0], *above = rows[1], *here = rows[2];
    for (size_t j = 0; j <= b_length; j++) above[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        here[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int change = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            here[j] = smaller(change, smaller(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                here[j] = smaller(here[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = above;
        above = here;
        here = oldest;
    }
    return above[b_length];
}

ss_nearest ss_nearest_start(const char *word)
{
    int allowed = 1 + (int)(strnlen(word, LONGEST_WORD) / 4);
    return (ss_nearest){.word = word, .distance = allowed + 1};
}

void ss_nearest_offer_part(ss_nearest *nearest, const char *candidate, size_t length)
{
    size_t word_length = strnlen(nearest->word, LONGEST_WORD + 1);
    if (word_length == 0 || word_length > LONGEST_WORD || length > LONGEST_WORD) return;
    int distance = edit_distance(nearest->word, word_length, candidate, length);
    if (distance >= nearest->distance || (size_t)distance >= length) return;
    nearest->best = candidate;
    nearest->best_length = length;
    nearest->distance = distance;
}

void ss_nearest_offer(ss_nearest *nearest, const char *candidate)
{
    ss_nearest_offer_part(nearest, candidate, strlen(candidate));
}

ss_unknown ss_unknown_start(const char *kind, const char *name)
{
    return (ss_unknown){.kind = kind, .nearest = ss_nearest_start(name)};
}

void ss_unknown_offer(ss_unknown *unknown, const char *candidate)
{
    ss_nearest_offer(&unknown->nearest, candidate);
    size_t room = sizeof unknown->names - 1, used = unknown->length < room ? unknown->length : room;
    unknown->length +=
        (size_t)snprintf(unknown->names + used, room - used + 1, "%s%s", used ? ", " : "", candidate);
}

bool ss_unknown_fail(const ss_unknown *unknown, ss_error *err)
{
    const char *kind = unknown->kind, *name = unknown->nearest.word;
    if (unknown->nearest.best)
        return ss_fail(err, SS_ERROR_USAGE, "unknown %s '%.100s'; did you mean %s?", kind, name,
                       unknown->nearest.best);
    if (unknown->length > 0 && unknown->length < sizeof unknown->names)
        return ss_fail(err, SS_ERROR_USAGE, "unknown %s '%.100s'; expected %s", kind, name, unknown->names);
    return ss_fail(err, SS_ERROR_USAGE, "unknown %s '%.100s'", kind, name);
}
