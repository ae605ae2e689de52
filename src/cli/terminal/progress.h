/* cli/terminal/progress.h - signs of life of long work: on a terminal a line with a bar that is overwritten
 * and never longer than the terminal is wide; in a file a line every ten seconds. Neither with --quiet. */
#ifndef SS_CLI_TERMINAL_PROGRESS_H
#define SS_CLI_TERMINAL_PROGRESS_H

#include "cli/verb.h"

typedef struct ss_progress_line {
    bool on, terminal, shown;
    double next;        /* clock time of the next sign of life, s */
    double began;       /* clock time of the stage's first call, s; 0 before it */
    int64_t begun_with; /* what was done then: a resumed run does not begin with nothing */
    int64_t done;       /* at the last call; less than that begins a new stage, with a pace of its own */
} ss_progress_line;

ss_progress_line ss_progress_line_begin(const ss_command *command);
/* "checking frame [####....] 12/30, 4 s left". */
void ss_progress_line_show(ss_progress_line *progress, const char *what, int64_t done, int64_t total);
/* The same with facts after it, "144 contacts, 3 iterations", of which the last ones are left out where the
 * terminal is narrow. */
void ss_progress_line_tell(ss_progress_line *progress, const char *what, int64_t done, int64_t total,
                           const char *facts);
/* Is it time for a sign of life? Spares the caller the making of facts that are not shown. */
bool ss_progress_line_is_due(ss_progress_line *progress, int64_t done);
/* Wipes the line, at the end or before something else is said. */
void ss_progress_line_end(ss_progress_line *progress);

#endif
