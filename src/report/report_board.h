/* report/report_board.h - what a reader of many ledgers asks: what does no method solve, what does not
 * reproduce, and where do the runs come from. The page and the tables ask here. */
#ifndef SS_REPORT_REPORT_BOARD_H
#define SS_REPORT_REPORT_BOARD_H

#include "base/text.h"
#include "campaign/ledger_source.h"
#include "campaign/statistics.h"

/* A problem that no method solves. Runs are indices into those of the results. */
typedef struct ss_unsolved {
    int problem, tried; /* runs that the problem was accepted by */
    int nearest;        /* the run with the least error; -1: none was judged */
} ss_unsolved;
/* The next one from run *cursor on, which starts with 0; false: no more. */
bool ss_unsolved_next(const ss_results *results, const ss_statistics *statistics, double tolerance,
                      int *cursor, ss_unsolved *found);

/* A run, and the first one of the same method, version and build on the same problem. */
typedef struct ss_repeated {
    int first, run;
    bool same; /* outcome, and answer by its bits */
} ss_repeated;
bool ss_repeated_next(const ss_results *results, int *cursor, ss_repeated *found);

/* The index of a source's machine in the results; -1: none. */
int ss_source_machine(const ss_results *results, const ss_source *source);

/* Keys "ledgers", "unsolved" and "reproduction". */
void ss_report_board(ss_json *json, const ss_results *results, const ss_statistics *statistics,
                     const ss_sources *sources);

#endif
