/* conformance/expected.h - failures that are known, with their reasons. A list is a text, one line each:
 *
 *     # solver | check | problem | reason
 *     pgs | solves | column, mass ratio 1e6 | heavy on light: 1 - 1/ratio is left after an iteration
 *
 * Blank lines and lines that begin with # are skipped. A problem of the check `seeds` is named without its
 * seed; some of them failing is enough. An expected failure that does not fail is a finding, too. */
#ifndef SS_CONFORMANCE_EXPECTED_H
#define SS_CONFORMANCE_EXPECTED_H

#include <stickslip/base.h>

typedef struct ss_expected {
    const char *solver, *check, *problem, *reason;
    int line; /* of its list, from 1 */
} ss_expected;

typedef struct ss_expected_list {
    ss_expected *items;
    int count;
    char *text; /* what the items point into */
} ss_expected_list;

/* `name` is for messages. Unknown checks and problems are errors; solvers are not looked up: a list may serve
 * several plug-ins. */
bool ss_expected_parse(const char *text, const char *name, ss_expected_list *list, ss_error *err);
/* Those of the library's own solvers. */
const char *ss_expected_built_in(void);
void ss_expected_free(ss_expected_list *list);
/* The number of the item; -1: not expected. `problem` may carry ", seed N". */
int ss_expected_find(const ss_expected_list *list, const char *solver, const char *check,
                     const char *problem);

#endif
