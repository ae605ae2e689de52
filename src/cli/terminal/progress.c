#include "cli/terminal/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_SIGN 0.5  // s, on a terminal
#define SIGN_EVERY 0.1  // s
#define LINE_EVERY 10.0 // s, in a log
#define BAR_COLUMNS 24
#define LINE_BYTES 512

ss_progress_line ss_progress_line_begin(const ss_command *command)
{
    bool terminal = ss_is_terminal(STDERR_FILENO);
    return (ss_progress_line){.on = !ss_command_is_quiet(command),
                              .terminal = terminal,
                              .next = ss_clock_seconds() + (terminal ? FIRST_SIGN : LINE_EVERY)};
}

bool ss_progress_line_is_due(ss_progress_line *progress, int64_t done)
{
    if (!progress->on) return false;
    double now = ss_clock_seconds();
    if (progress->began == 0.0 || done < progress->done) {
        progress->began = now;
        progress->begun_with = done;
    }
    progress->done = done;
    return now >= progress->next;
}

static void put(const char *line)
{
    if (write(STDERR_FILENO, line, strlen(line)) < 0) return; // the terminal is gone
}

void ss_progress_line_tell(ss_progress_line *progress, const char *what, int64_t done, int64_t total,
                           const char *facts)
{
    if (!ss_progress_line_is_due(progress, done)) return;
    char bar[BAR_COLUMNS + 4] = "", left[64] = "", line[LINE_BYTES];
    int filled = total > 0 ? (int)((double)BAR_COLUMNS * (double)done / (double)total) : 0;
    if (progress->terminal) {
        bar[0] = ' ', bar[1] = '[';
        for (int i = 0; i < BAR_COLUMNS; i++) bar[2 + i] = i < filled ? '#' : '.';
        memcpy(bar + 2 + BAR_COLUMNS, "]", 2);
    }

    // "4 s left", "12 min left", "3.5 h left" at the pace of this stage; nothing where that is not known.
    double passed = ss_clock_seconds() - progress->began;
    double pace = passed > 0.0 ? (double)(done - progress->begun_with) / passed : 0.0;
    if (pace > 0.0 && done < total) {
        double seconds = (double)(total - done) / pace;
        if (seconds < 100)
            snprintf(left, sizeof left, ", %.0f s left", seconds);
        else if (seconds < 6000)
            snprintf(left, sizeof left, ", %.0f min left", seconds / 60);
        else
            snprintf(left, sizeof left, ", %.1f h left", seconds / 3600);
    }
    int head =
        snprintf(line, sizeof line, "%s%s %lld/%lld%s", what, bar, (long long)done, (long long)total, left);
    if (*facts && head > 0 && (size_t)head < sizeof line)
        snprintf(line + head, sizeof line - (size_t)head, ", %s", facts);

    // Facts are left out from the last one on until the line fits. One as wide as the terminal would already
    // wrap on some.
    size_t columns = ss_terminal_columns(STDERR_FILENO);
    if (columns) {
        size_t least = head > 0 ? (size_t)head : 0;
        while (strlen(line) > columns - 1) {
            char *comma = strrchr(line, ',');
            if (!comma || (size_t)(comma - line) < least) break;
            *comma = '\0';
        }
        if (strlen(line) > columns - 1) line[columns - 1] = '\0';
    }

    put(progress->terminal ? "\r\033[K" : "");
    put(line);
    if (!progress->terminal) put("\n");
    progress->shown = progress->terminal;
    progress->next = ss_clock_seconds() + (progress->terminal ? SIGN_EVERY : LINE_EVERY);
}

void ss_progress_line_show(ss_progress_line *progress, const char *what, int64_t done, int64_t total)
{
    ss_progress_line_tell(progress, what, done, total, "");
}

void ss_progress_line_end(ss_progress_line *progress)
{
    if (progress->shown) put("\r\033[K");
    progress->shown = false;
}
